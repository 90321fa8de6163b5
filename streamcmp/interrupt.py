"""Stopping on SIGINT and SIGTERM without believing a truncated read.

Polars ends a batch iterator in silence when Python's own SIGINT handler fires inside it. So while a pass
runs our handler only records the signal, and whoever loops over batches calls `check()`, which raises.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from streamcmp.errors import Interrupted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_received: int | None = None


def _record(number: int, _frame: FrameType | None) -> None:
    global _received  # noqa: PLW0603 - a signal is process-wide, so is its record
    if _received is not None:  # asked twice: whatever is running does not come back to check()
        raise Interrupted(number)
    _received = number


@contextmanager
def stoppable() -> Iterator[None]:
    """While inside, SIGINT and SIGTERM are recorded for `check()`. Does nothing outside the main thread."""
    global _received  # noqa: PLW0603
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    _received = None
    try:
        for number in _SIGNALS:
            signal.signal(number, _record)
        yield
        check()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _received = None


def check() -> None:
    """Raise Interrupted if a signal arrived since the pass began."""
    if _received is not None:
        raise Interrupted(_received)
