"""What a run took, for people: time and memory."""

from __future__ import annotations

import resource
import sys
import time


def size(count: int) -> str:
    """Bytes as a person says them."""
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.0f} MB"


def usage(started: float) -> str:
    """One sentence: seconds since `started` (of time.perf_counter), and the most memory this process had."""
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB; bytes on macOS
    gigabytes = peak / 1e9 if sys.platform == "darwin" else peak * 1024 / 1e9
    return f"took {seconds:.1f} s; peak memory {gigabytes:.2f} GB"


def keep_freed_memory() -> None:
    """Let the C library keep what it freed, up to 256 MB, for the next batch.

    Every batch needs arrays of the same sizes; having them mapped afresh each time costs a tenth of a run
    (measured). Only glibc has the switch; elsewhere nothing happens.
    """
    if not sys.platform.startswith("linux"):
        return
    from ctypes import CDLL

    mmap_threshold, trim_threshold, kept = -3, -1, 256 * 2**20
    mallopt = getattr(CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(mmap_threshold, kept)
        mallopt(trim_threshold, kept)
