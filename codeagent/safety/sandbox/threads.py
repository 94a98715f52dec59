"""A thread that has given up rights for good, and does what must be done without them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Bound:
    """A thread that has run `give_up`. The kernel confines threads one by one, and what a thread starts (programs and
    other threads) is confined like it: so no code need run between the fork and the start of a program.

    Raises:
        OSError: `give_up` failed.
    """

    def __init__(self, give_up: Callable[[], None], within: Bound | None = None) -> None:
        """`within` is a thread whose bounds hold for this one, too."""
        self._wanted: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        thread = threading.Thread(target=self._serve, name="sandbox", daemon=True)
        if within is None:
            thread.start()
        else:
            within.run(thread.start)
        try:
            self.run(give_up)
        except BaseException:
            self.close()
            raise

    def run(self, wanted: Callable[[], T]) -> T:
        """What `wanted` gives, or raises, in that thread; its caller waits."""
        result: Future[T] = Future()

        def work() -> None:
            try:
                result.set_result(wanted())
            except BaseException as error:
                result.set_exception(error)

        self._wanted.put(work)
        return result.result()

    def close(self) -> None:
        self._wanted.put(None)

    def _serve(self) -> Any:
        while (work := self._wanted.get()) is not None:
            work()
