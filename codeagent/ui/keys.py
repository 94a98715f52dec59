"""Which key does what in the input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.vi_state import InputMode
from prompt_toolkit.keys import Keys

from codeagent.core.display import plain
from codeagent.ui.screen import Screen

KEYS = (
    ("Enter", "send; while it works: say it at the next safe place; empty: try a request again without waiting"),
    ("Ctrl-J, Alt-Enter, \\ Enter", "new line"),
    ("Alt-Enter while it works", "send it when the turn is over"),
    ("!command, !!command", "run it: the model sees it with your next words, or not at all"),
    ("Esc", "interrupt; twice: clear the input, or go back to an earlier turn when it is empty"),
    ("Ctrl-C", "interrupt, clear, leave"),
    ("Ctrl-D", "leave, on an empty line"),
    ("Up, Down", "earlier and later input"),
    ("Ctrl-R", "search earlier input"),
    ("Tab", "complete /commands and @files"),
    ("Shift-Tab", "next permission mode"),
    ("Ctrl-B", "let the running command go on in the background; /tasks looks after it"),
    ("Ctrl-O", "the whole of the last tool output"),
    ("Ctrl-T", "fold the todo list, unfold it"),
    ("Ctrl-G, Ctrl-X Ctrl-E", "write in your editor"),
    ("Ctrl-V", "attach the picture in the clipboard"),
    ("Ctrl-L, Ctrl-Z", "clear the screen, suspend"),
)


class Actions(Protocol):
    """What the keys set in motion."""

    @property
    def busy(self) -> bool:
        """Whether something runs that can be interrupted."""
        ...

    def send(self, text: str, *, later: bool) -> None: ...
    def interrupt(self) -> None: ...
    def hurry(self) -> None: ...
    def expand(self) -> None: ...
    def fold_todos(self) -> None: ...
    def to_background(self) -> None: ...
    def cycle_mode(self) -> None: ...
    def show_keys(self) -> None: ...
    def edit_draft(self) -> None: ...
    def paste_picture(self) -> None: ...
    def leave(self) -> None: ...


class Hint:
    """A word in the status line that makes the next press of a key mean more; any other key takes it back."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._armed = ""

    def press(self, event: KeyPressEvent, text: str) -> bool:
        """Whether this is the second press of a key in a row; the first shows `text`."""
        key = event.key_sequence[0].key
        second = event.is_repeat and self._armed == key
        self._armed = "" if second else key
        self._say("" if second else text)
        return second


def bind(screen: Screen, actions: Actions) -> None:
    """Give the screen its keys."""

    def say(text: str) -> None:
        screen.hint = text
        screen.changed()

    hint = Hint(say)
    screen.app.key_processor.before_key_press += lambda _: say("") if screen.hint else None
    _bind_everywhere(screen, actions, hint)
    _bind_sending(screen.draft, screen.draft_keys, actions)
    _bind_draft(screen, actions, hint)


def _bind_everywhere(screen: Screen, actions: Actions, hint: Hint) -> None:
    on = screen.keys.add

    @on("c-c")
    @on(Keys.SIGINT)
    def _(event: KeyPressEvent) -> None:
        if screen.dialog is not None:
            screen.dialog.leave()
        if actions.busy:
            actions.interrupt()
        elif screen.dialog is None and screen.draft.text:
            screen.draft.reset(append_to_history=True)
        elif screen.dialog is None and hint.press(event, "Ctrl-C again leaves"):
            actions.leave()

    @on("c-z")
    def _(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    @on("c-l")
    def _(event: KeyPressEvent) -> None:
        screen.clear()

    @on("c-o")
    def _(event: KeyPressEvent) -> None:
        if screen.dialog is not None:
            screen.dialog.expand()
        else:
            actions.expand()

    @on("c-t")
    def _(event: KeyPressEvent) -> None:
        actions.fold_todos()

    @on("c-b", filter=Condition(lambda: actions.busy))
    def _(event: KeyPressEvent) -> None:
        actions.to_background()

    @on("s-tab")
    def _(event: KeyPressEvent) -> None:
        actions.cycle_mode()


def _bind_sending(draft: Buffer, keys: KeyBindings, actions: Actions) -> None:
    on = keys.add

    @on("enter")
    def _(event: KeyPressEvent) -> None:
        if draft.complete_state is not None and _complete(draft):
            return
        if draft.document.current_line_before_cursor.endswith("\\") and draft.document.is_cursor_at_the_end_of_line:
            draft.delete_before_cursor()
            draft.insert_text("\n")
            return
        _send(draft, actions, later=False)

    @on("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        if actions.busy:
            _send(draft, actions, later=True)
        else:
            draft.insert_text("\n")

    @on("c-j")
    def _(event: KeyPressEvent) -> None:
        draft.insert_text("\n")


def _send(draft: Buffer, actions: Actions, *, later: bool) -> None:
    text = draft.text.strip()
    if text:
        draft.reset(append_to_history=True)
        actions.send(text, later=later)
    else:
        actions.hurry()


def _complete(draft: Buffer) -> bool:
    """Put in the selected completion, or the first; whether Enter has done its work by that."""
    state = draft.complete_state
    if state is None or not state.completions:
        return False
    chosen = state.completions[state.complete_index or 0]
    if state.complete_index is None and state.original_document.text_before_cursor.endswith(chosen.text.rstrip()):
        return False
    draft.go_to_completion(state.complete_index or 0)
    draft.complete_state = None
    return not draft.text.startswith("/") or draft.text.endswith(" ")


def _bind_draft(screen: Screen, actions: Actions, hint: Hint) -> None:
    on, draft = screen.draft_keys.add, screen.draft

    @Condition
    def escape_is_ours() -> bool:
        """Vi takes Escape while one types, unless there is only a turn that it can mean."""
        app = screen.app
        inserting = app.editing_mode == EditingMode.VI and app.vi_state.input_mode != InputMode.NAVIGATION
        return not inserting or (actions.busy and not draft.text)

    @on("escape", filter=escape_is_ours)
    def _(event: KeyPressEvent) -> None:
        if draft.complete_state is not None:
            draft.cancel_completion()
        elif actions.busy:
            actions.interrupt()
        elif draft.text:
            if hint.press(event, "Esc again clears the input"):
                draft.reset(append_to_history=True)
        elif hint.press(event, "Esc again goes back to an earlier turn"):
            actions.send("/rewind", later=False)

    empty = Condition(lambda: not draft.text)

    @on("c-d", filter=empty)
    def _(event: KeyPressEvent) -> None:
        actions.leave()

    @on("?", filter=empty)
    def _(event: KeyPressEvent) -> None:
        actions.show_keys()

    @on("c-g")
    @on("c-x", "c-e")
    def _(event: KeyPressEvent) -> None:
        actions.edit_draft()

    @on("c-v")
    def _(event: KeyPressEvent) -> None:
        actions.paste_picture()

    @on(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> None:
        draft.insert_text(plain(event.data.replace("\r\n", "\n").replace("\r", "\n")))
