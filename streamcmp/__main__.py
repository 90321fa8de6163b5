"""The command as a process: `streamcmp`, and `python -m streamcmp`."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

from streamcmp import tuning
from streamcmp.errors import Interrupted


def process() -> NoReturn:
    """Run the command line and end the process with its exit code.

    At once, without Python's own shutdown: a thread of Polars or pyarrow that comes back to Python during
    that aborts the process, after everything was said (measured: more than half of the runs that end at an
    unclosed quote).
    """
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open to the end
    if "--verbose" not in sys.argv:
        warnings.simplefilter("ignore")  # what libraries say to programmers
    tuning.before_imports()
    try:
        signal.signal(signal.SIGTERM, _stop)
        from streamcmp.cli import main

        code = main()
    except KeyboardInterrupt as stop:  # before the command line was there
        stop = stop if isinstance(stop, Interrupted) else Interrupted(signal.SIGINT)
        sys.stderr.write(f"streamcmp: {stop}\n")
        code = stop.exit_code
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # too late: all is written
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # full, closed by us, closed before us
            stream.flush()
    os._exit(code)


def _stop(number: int, _frame: FrameType | None) -> None:
    raise Interrupted(number)


if __name__ == "__main__":
    process()
