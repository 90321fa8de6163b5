"""What a run took, for people: time and memory."""

from __future__ import annotations

import resource
import sys
import time
from contextlib import suppress
from pathlib import Path


def size(count: int) -> str:
    """Bytes as a person says them."""
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.0f} MB"


def usage(started: float) -> str:
    """One sentence: seconds since `started` (of time.perf_counter), and the most memory this process had."""
    seconds = time.perf_counter() - started
    return f"took {seconds:.1f} s; peak memory {peak_memory() / 1e9:.2f} GB"


def peak_memory() -> int:
    """The most bytes of memory that this process had."""
    # getrusage may tell of the process that started this one: what that had counts until exec (Linux).
    with suppress(OSError, StopIteration), Path("/proc/self/status").open(encoding="utf-8") as status:
        return 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
