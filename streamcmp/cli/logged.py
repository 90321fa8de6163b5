"""Progress for programs: a message every few seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from threading import Event, Thread
from typing import TYPE_CHECKING

from streamcmp.cli.stderr import say

if TYPE_CHECKING:
    from streamcmp.meter import Meter

EVERY = 5.0  # seconds


@contextmanager
def beside(watch: Callable[[Event], None]) -> Iterator[None]:
    """Have a thread `watch` until the block ends; it ends soon after its event is set."""
    over = Event()
    watcher = Thread(target=watch, args=(over,), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def logged(meter: Meter) -> AbstractContextManager[None]:
    """Say how far `meter` is, until the block ends."""
    return beside(partial(_watch, meter))


def _watch(meter: Meter, over: Event) -> None:
    while not over.wait(EVERY):
        per_second = round(meter.rate)
        say(
            "note",
            f"{meter.phase}: {meter.done:,} {meter.unit}, {per_second:,}/s",
            "progress",
            phase=meter.phase,
            unit=meter.unit,
            done=meter.done,
            total=meter.total,
            per_second=per_second,
        )
