"""What a run may use: memory, threads, spill. None of it changes a result."""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from streamcmp.comparison import check_choice
from streamcmp.errors import UsageError

Strategy = Literal["auto", "lockstep", "merge", "direct", "buckets"]
Engine = Literal["local", "duckdb"]

_UNITS = {
    "": 1,
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
    "TIB": 2**40,
}
_TOO_MUCH = 2**63
_FEWEST_ROWS = 10_000
_BYTES_IN_FLIGHT = (
    5_000  # for a row read at a time: both logs, text ids, several batches on their way (measured)
)
MAX_BUCKET_BITS = 12  # what is kept per bucket and chunk of rows grows with their number
_CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def default_memory() -> int:
    """Half of what the machine, or the cgroup this process is confined to, has."""
    available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in _CGROUP_LIMITS:
        try:
            text = path.read_text().strip()
        except OSError:
            continue
        if text.isdigit():
            available = min(available, int(text))
    return max(available // 2, 64 * 2**20)


@dataclass(frozen=True, slots=True)
class Resources:
    """Limits of one run.

    memory: bytes the run plans with. spill_dir: where bucket files go (the system's temporary folder by
    default); they have no name there, so the system removes them with the process, however it ends.
    engine: what pairs and counts. verify: the share of ids that a second engine recounts; 0 for none.
    chunk_rows and bucket_bits override what the plan would choose (tests do).
    """

    memory: int = field(default_factory=default_memory)
    spill_dir: Path = field(default_factory=lambda: Path(tempfile.gettempdir()))
    threads: int = field(default_factory=lambda: min(4, os.cpu_count() or 1))
    strategy: Strategy = "auto"
    engine: Engine = "local"
    verify: float = 0.0
    chunk_rows: int | None = None
    bucket_bits: int | None = None

    def __post_init__(self) -> None:
        check_choice("--strategy", self.strategy, get_args(Strategy))
        check_choice("--engine", self.engine, get_args(Engine))
        if not 0 <= self.verify <= 1:
            raise UsageError(f"--verify is a share of the ids, such as 5%, up to 100%; not {self.verify:g}")
        if self.memory < 64 * 2**20:
            raise UsageError(f"--memory must be at least 64MiB, not {self.memory:,} bytes")
        if self.threads < 1:
            raise UsageError(f"--threads must be at least 1, not {self.threads}")
        if os.environ.get("POLARS_MAX_THREADS", "").strip() == "0":
            # Polars would panic, at the first query.
            raise UsageError("POLARS_MAX_THREADS is 0 in the environment; unset it, or make it 1 or more")
        if self.chunk_rows is not None and self.chunk_rows < 1:
            raise UsageError(f"chunk_rows must be at least 1, not {self.chunk_rows}")
        if self.bucket_bits is not None and not 0 <= self.bucket_bits <= MAX_BUCKET_BITS:
            raise UsageError(f"bucket_bits must be 0 to {MAX_BUCKET_BITS}, not {self.bucket_bits}")
        if not self.spill_dir.is_dir():
            raise UsageError(f"--spill-dir {self.spill_dir} is not a folder")

    def rows_at_a_time(self, usual: int) -> int:
        """How many rows of a log to read at a time where `usual` many are best; fewer in little memory."""
        return self.chunk_rows or min(usual, max(_FEWEST_ROWS, self.memory // _BYTES_IN_FLIGHT))


@dataclass(frozen=True, slots=True)
class Step:
    """One strategy to try: why, and the bytes of memory and spill it is expected to take."""

    strategy: str
    why: str
    memory: int
    spill: int = 0


def number_of(text: str) -> float:
    """The number in '0.02' or '2%'. Raises ValueError where there is none."""
    plain = text.strip()
    digits = plain.removesuffix("%").rstrip()
    if digits == plain:
        return float(plain)
    # Through the decimal point, as 0.3 / 100 is not 0.003.
    return float(digits) / 100 if "e" in digits.lower() else float(f"{digits}e-2")


def parse_share(text: str) -> float:
    """The number in '5%' or '0.05'. Raises UsageError where there is none, or none above 0."""
    try:
        share = number_of(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise UsageError(f"--verify: {text!r} is no share of the ids; write for example 5%")
    return share


def parse_size(text: str) -> int:
    """Bytes in '2GB', '512MiB', '1e9'. Decimal units are powers of 1000, binary ones of 1024."""
    match = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([A-Za-z]*)\s*", text)
    unit = match and _UNITS.get(match[2].upper())
    try:
        size = int(float(match[1]) * unit) if match and unit else None
    except (ValueError, OverflowError):
        size = None
    if size is None or size >= _TOO_MUCH:
        raise UsageError(f"--memory: {text!r} is not a size; write for example 2GB or 512MiB")
    return size
