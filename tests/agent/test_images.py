"""Pictures in a conversation: from a tool or from the person, before a model that sees and one that does not."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path

import pytest

from codeagent.agent.calls import IMAGES
from codeagent.agent.session import Session
from codeagent.core.events import Compacted, Notice, Replied, ToolFinished, TurnEnded
from codeagent.core.images import Image, data_url
from codeagent.core.messages import AssistantMessage, ToolMessage, UserMessage, blind, has_images
from codeagent.llm.providers.scripted import call, calls, say, summary
from tests.agent._world import World, check_valid, events, happens, messages
from tests.laws.requests import extends
from tests.pictures import drawn, png

SHOT = png(30, 20)


def archived(session: Session) -> list[Path]:
    return sorted(session.history.path.with_suffix("").iterdir())


def image(session: Session, name: str, about: str, data: bytes, kept: str) -> Image:
    folder = session.history.path.with_suffix("")
    kind = kept.rpartition(".")[2]
    return Image(f"[image {name}: {about}, {len(data)} bytes; kept in {folder / kept}]", data_url(kind, data))


async def test_what_tools_show_stands_in_one_message_behind_all_results(world: World) -> None:
    world.file("a.png", SHOT)
    world.file("图/b.gif", drawn("GIF"))
    reads = calls(call("read_file", path="a.png"), call("glob", pattern="*.gif"), call("read_file", path="图/b.gif"))
    session = world.begin([reads, say("Two pictures.")])
    seen = await happens(session.run_turn("Look."))
    first = image(session, "a.png", "PNG, 30x20", SHOT, "a.png")
    second = image(session, "图/b.gif", "GIF, 40x30", drawn("GIF"), archived(session)[1].name)
    assert [type(message) for message in messages(session)[1:]] == [
        AssistantMessage, *[ToolMessage] * 3, UserMessage, AssistantMessage,
    ]  # fmt: skip
    assert messages(session)[5] == UserMessage(IMAGES, (first, second))
    assert [path.read_bytes() for path in archived(session)] == [SHOT, drawn("GIF")]
    results = [event.result for event in seen if isinstance(event, ToolFinished)]
    assert [(result.summary, result.failed) for result in results] == [
        ("image", False), ("1 file", False), ("image", False),
    ]  # fmt: skip
    assert [has_images(data) for data in world.requests[1].messages[-2:]] == [False, True]
    assert extends(world.requests[1].messages, world.requests[0].messages)
    check_valid(session)
    await world.close()


async def test_a_session_goes_on_with_the_very_same_pictures(world: World) -> None:
    world.file("a.png", SHOT)
    session = world.begin([call("read_file", path="a.png"), say("Black.")])
    await events(session.run_turn("Look."))
    before = [*session.history.wire()[1:]]
    (world.top / "a.png").unlink()
    session = await world.resume(session, [say("Still black.")])
    await events(session.run_turn("And now?"))
    assert [*world.requests[-1].messages[1 : len(before) + 1]] == before
    check_valid(session)
    await world.close()


async def test_a_model_that_sees_nothing_is_told_what_there_is(world: World) -> None:
    world.file("a.png", SHOT)
    session = world.begin([call("read_file", path="a.png"), say("I cannot see it.")])
    session.agent.model = replace(session.model, sees=False)
    context = session.agent.calls.context
    session.agent.calls = replace(session.agent.calls, world=lambda: replace(context(), sees=False))
    seen = await happens(session.run_turn("Look at @a.png please."))
    (result,) = (event.result for event in seen if isinstance(event, ToolFinished))
    assert (result.text, result.failed, result.images) == (
        f"Image a.png: PNG, 30x20, {len(SHOT)} bytes. This model is not shown images.", False, (),
    )  # fmt: skip
    (notice,) = (event for event in seen if isinstance(event, Notice))
    assert str(notice) == "a.png is attached, but the model is told its name alone."
    await world.close()


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("What is in @a.png?", ["a.png"]),
        ("@a.png", ["a.png"]),
        ('比较 @"my shot.png" 和 @a.png，谢谢', ["my shot.png", "a.png"]),
        ("@a.png and @./a.png again", ["a.png"]),
        ("看@a.png怎么样。", ["a.png"]),
        ("@a.png.", ["a.png"]),
        ("@a.png.bak, @a.png/x and @a.pngs", []),
        ("Mail me@a.png, see @notes.txt", []),
    ],
)
async def test_pictures_that_are_named_are_attached(world: World, said: str, names: list[str]) -> None:
    world.file("a.png", SHOT)
    world.file("my shot.png", png(9, 9))
    world.file("notes.txt", "text")
    (world.top / "folder.png").mkdir()
    session = world.begin([say("Ok.")])
    seen = await happens(session.run_turn(said))
    message = messages(session)[0]
    assert isinstance(message, UserMessage)
    assert (message.text, session.history.entries[0].said) == (said, said)
    assert [one.caption.split(":")[0] for one in message.images] == [f"[image {name}" for name in names]
    assert [str(event) for event in seen if isinstance(event, Notice)] == [f"Attached {name}." for name in names]
    assert "base64" not in "".join(str(event) for event in seen)
    check_valid(session)
    await world.close()


async def test_what_is_no_picture_is_not_attached_and_the_person_hears_why(world: World) -> None:
    world.file("a.png", "no picture")
    (world.top / "folder.png").mkdir()
    session = world.begin([say("Ok.")])
    seen = await happens(session.run_turn("Look at @a.png, @gone.png and @folder.png"))
    assert messages(session)[0] == UserMessage("Look at @a.png, @gone.png and @folder.png")
    first, *others = (str(event) for event in seen if isinstance(event, Notice))
    assert first.startswith("a.png is not attached: a.png: PNG, 10 bytes")
    assert others == [f"There is no file {name}, so none is attached." for name in ("gone.png", "folder.png")]
    await world.close()


async def test_a_picture_comes_with_what_is_typed_during_the_turn(world: World) -> None:
    world.file("a.png", SHOT)
    session = world.begin([call("glob", pattern="*"), say("Black.")])
    async for event in session.run_turn("Go."):
        if isinstance(event, Replied):
            session.steer("Look at @a.png")
    steered = messages(session)[3]
    assert isinstance(steered, UserMessage) and (steered.text, len(steered.images)) == ("Look at @a.png", 1)
    check_valid(session)
    await world.close()


async def test_a_summary_is_made_without_the_bytes_and_the_note_tells_where_they_are(world: World) -> None:
    world.file("a.png", SHOT)
    session = world.begin([call("read_file", path="a.png"), say("Black."), summary("A black picture was looked at.")])
    await events(session.run_turn("Never touch vendor/, and look at @a.png"))
    kept = archived(session)[0]
    told = [event async for event in session.compact() if isinstance(event, Compacted)]
    (asked,) = (request for request in world.requests if request.purpose == "summary")
    letters = base64.b64encode(SHOT)
    assert [letters in data for data in asked.messages] == [False] * len(asked.messages)
    assert [letters in data for data in session.history.wire()] == [False] * len(session.history.wire())
    text = messages(session)[0].text
    assert (len(told), "Never touch vendor/" in text, f"kept in {kept}" in text) == (1, True, True)
    await session.undo_compaction()
    assert sum(map(has_images, session.history.wire())) == 2
    check_valid(session)
    await world.close()


async def test_found_again_by_its_name(world: World) -> None:
    world.file("diagram.png", SHOT)
    script = [call("read_file", path="diagram.png"), say("Black."), call("recall", id="m4"), say("There it was.")]
    session = world.begin(script)
    await events(session.run_turn("Look."))
    seen = await happens(session.run_turn("Which picture was it?"))
    (result,) = (event.result.text for event in seen if isinstance(event, ToolFinished))
    assert "diagram.png: PNG, 30x20" in result and "base64" not in result
    await world.close()


def test_the_blind_form_of_a_message_is_always_the_same() -> None:
    message = json.dumps({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]})
    data = message.replace(" ", "").encode()
    assert blind(data) == blind(data) != data


async def test_names_that_no_disk_takes_are_no_trouble(world: World) -> None:
    session = world.begin([say("Ok.")])
    seen = await happens(session.run_turn(f"@{'x' * 290}.png {'@' * 50_000} @{'y/' * 5_000}.png"))
    (notice,) = (str(event) for event in seen if isinstance(event, Notice))
    assert "is not attached: " in notice
    assert isinstance(seen[-1], TurnEnded) and seen[-1].reason == "done"
    await world.close()


async def test_what_is_kept_can_be_looked_at_again(world: World) -> None:
    world.file("a.png", SHOT)
    session = world.begin([say("Ok.")])
    await events(session.run_turn("@a.png"))
    (kept,) = archived(session)
    world.play(call("read_file", path=str(kept)), say("Black."))
    await events(session.run_turn("Look at it again."))
    shown = messages(session)[-2]
    assert isinstance(shown, UserMessage)
    assert (archived(session), [one.caption.endswith(f"kept in {kept}]") for one in shown.images]) == ([kept], [True])
    await world.close()


async def test_a_pasted_picture_is_kept_and_named_by_its_name_alone(world: World) -> None:
    session = world.begin([say("Black."), say("Black too.")])
    assert [session.keep_picture(SHOT), session.keep_picture(drawn("GIF"))] == ["@pasted.png", "@pasted.gif"]
    await events(session.run_turn("看看 @pasted.png"))
    folder = session.history.path.with_suffix("")
    name = str(folder / "pasted.png")
    assert messages(session)[0] == UserMessage(
        "看看 @pasted.png", (image(session, name, "PNG, 30x20", SHOT, "pasted.png"),)
    )
    world.file("pasted.gif", SHOT)
    await events(session.run_turn("@pasted.gif"))
    (own,) = [message.images for message in messages(session)[2:] if isinstance(message, UserMessage)]
    assert own[0].caption.startswith("[image pasted.gif: PNG")
    await world.close()
