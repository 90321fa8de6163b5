"""How the command sets up its own process to be quick. No setting changes a result.

The library leaves its user's process alone.
"""

from __future__ import annotations

import gc
import os
import sys
from functools import cache
from pathlib import Path

from streamcmp.errors import UsageError
from streamcmp.resources import default_memory, parse_size

_CPU = Path("/proc/cpuinfo")
_TIGHT = 10**9
_ZEN_4 = ("AuthenticAMD", "25")  # Zen 3, too, which has no AVX-512 to switch off


def before_imports() -> None:
    """To be called before numpy and Polars are loaded; variables that are set already are respected."""
    # Importing makes many objects and no garbage: a tenth of the start is spent looking for some (measured).
    gc.set_threshold(500_000)
    if _tight():
        # Freed pages go back at once, and Polars has fewer rows in flight: half the memory (measured).
        os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:0,muzzy_decay_ms:0")
        os.environ.setdefault("POLARS_IDEAL_MORSEL_SIZE", "20000")
        os.environ.setdefault("POLARS_ROW_GROUP_PREFETCH_SIZE", "1")
        # Pages that pyarrow decodes in one thread are freed in others: its own pool keeps 200 MB of such for
        # later, by chance up to 1.5 GB (measured); the C library gives them back, see below.
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    else:
        # Batches come and go: the pages of one are kept for the next. To fault them in again takes 5 % of a
        # run (measured).
        os.environ.setdefault("_RJEM_MALLOC_CONF", "dirty_decay_ms:-1,muzzy_decay_ms:-1")
    # We multiply no matrices: no threads for that.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Fewer row groups in flight: a quarter less memory at the same speed (measured).
    os.environ.setdefault("POLARS_ROW_GROUP_PREFETCH_SIZE", "2")
    # So are computed columns that wait for their turn: up to a third less (measured).
    os.environ.setdefault("POLARS_DEFAULT_LINEARIZER_BUFFER_SIZE", "1")
    os.environ.setdefault("POLARS_DEFAULT_DISTRIBUTOR_BUFFER_SIZE", "1")
    if _processor() == _ZEN_4:
        # Numpy sorts 64-bit numbers with AVX-512 in 44 ns each there, without it in 10 (numpy 2.4, measured):
        # the processor takes long over the one instruction, compress, which that sort lives on.
        os.environ.setdefault("NPY_DISABLE_CPU_FEATURES", "X86_V4 AVX512_ICL")


@cache
def _tight() -> bool:
    """Whether the run has less than 1 GB, by the command line, the environment or the machine."""
    words = iter(sys.argv)
    asked = [os.environ.get("STREAMCMP_MEMORY", "")]
    for word in words:
        name, _, value = word.partition("=")
        if name == "--memory":
            asked.append(value or next(words, ""))
    try:
        return (parse_size(asked[-1]) if asked[-1] else default_memory()) < _TIGHT
    except UsageError:  # said where options are read
        return False


def _processor() -> tuple[str, str] | None:
    """The vendor and the family of the processor, where Linux tells them."""
    try:
        with _CPU.open(encoding="utf-8", errors="replace") as file:
            first = dict(line.split(":", 1) for line in file.read(512).splitlines() if ":" in line)
    except OSError:
        return None
    found = {name.strip(): value.strip() for name, value in first.items()}
    return found.get("vendor_id", ""), found.get("cpu family", "")


def settle_freed_memory() -> None:
    """Let the C library keep what it freed, up to 256 MB, for the next batch; where memory is tight, 1 MB.

    Every batch needs arrays of the same sizes; having them mapped afresh each time costs a tenth of a run
    (measured). Only glibc has the switch; elsewhere nothing happens.
    """
    if not sys.platform.startswith("linux"):
        return
    from ctypes import CDLL

    mmap_threshold, trim_threshold, kept = -3, -1, (1 if _tight() else 256) * 2**20
    mallopt = getattr(CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(mmap_threshold, kept)
        mallopt(trim_threshold, kept)
