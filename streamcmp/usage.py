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
