"""Parquet files."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import polars as pl
from polars.exceptions import PanicException, PolarsError

from streamcmp.comparison import IdShard
from streamcmp.errors import DataError, UsageError
from streamcmp.logs.formats.base import Format, LazyShard
from streamcmp.logs.formats.row_groups import RowGroupShard, decoded_bytes
from streamcmp.logs.model import Shard
from streamcmp.logs.profile import Profile
from streamcmp.logs.stream import unreadable

_MAGIC = b"PAR1"
_TRAILER = 8  # the footer's length in 4 bytes, and the magic
_PARSED = 12  # so many times its length a footer takes in memory, parsed by either library (measured)
LOG_KEY = "streamcmp.log"  # in the metadata of a converted log: JSON of what its columns are


def scan(source: str, *, glob: bool = False, **options: Any) -> pl.LazyFrame:
    """A scan that believes only the data: statistics in the footer have been wrong and dropped rows."""
    return pl.scan_parquet(source, hive_partitioning=False, use_statistics=False, glob=glob, **options)


class ParquetShard(LazyShard):
    """A Parquet file. One that `streamcmp convert` wrote says what its columns are."""

    def __init__(self, path: Path, frame: pl.LazyFrame, rows: int) -> None:
        super().__init__(str(path), frame, size=path.stat().st_size, rows=rows, bounds=partial(_bounds, path))
        self._path = path

    @cached_property
    def profile(self) -> Profile | None:
        """From the file's metadata."""
        return profile_from(self.label)

    def sparing(self, columns: Sequence[str], most: int) -> Shard:
        """Itself, or a reader of pages where row groups of the columns would take more than `most` bytes."""
        assert self.size is not None
        assert self.rows is not None
        # pyarrow takes 0.1 s to load, so the footer is looked at only where a group may be too large: where
        # not even the whole file is small. Ids of text take 64 bytes, and compress to an eighth (measured).
        if 64 * self.rows * len(columns) <= most and 8 * self.size <= most:
            return self
        if parsed_footer(self._path) > most:
            return self  # a footer of this length tells of many groups, not of large ones
        giant = decoded_bytes(self._path, columns) > most
        return RowGroupShard(self, self._path) if giant else self


def profile_from(source: str) -> Profile | None:
    """What `streamcmp convert` wrote about the columns of a Parquet file; None for any other file."""
    try:
        said = json.loads(pl.read_parquet_metadata(source).get(LOG_KEY, "null"))
        ids, guards, advisory = (tuple(said[name]) for name in ("ids", "guards", "advisory"))
        harness = str(said["harness"])
        shard = IdShard.parse(said.get("shard", "0/1"))
        id_type = str(said.get("id_type", ""))
    except (PolarsError, OSError, ValueError, TypeError, KeyError, UsageError):
        return None
    return Profile(
        harness,
        ids,
        guards,
        advisory,
        outcomes={"correct": "correct"},
        about="converted",
        what="outcome",
        shard=shard,
        id_type=id_type,
    )


def parsed_footer(path: Path) -> int:
    """What a Parquet file's footer takes in memory: it describes every column of every row group.

    0 for a file that has none.
    """
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        if end < _TRAILER:
            return 0
        file.seek(end - _TRAILER)
        length, magic = int.from_bytes(file.read(4), "little"), file.read(4)
        return _PARSED * min(end, length) if magic == _MAGIC else 0


def open_parquet(path: Path, columns: tuple[str, ...] = ()) -> ParquetShard:  # noqa: ARG001 - no names to give
    """A Parquet file, its footer read and believed for the number of rows.

    Raises:
        DataError: the file is empty, truncated or not Parquet.
    """
    label = str(path)
    if path.stat().st_size == 0:
        raise DataError(f"{label}: is empty (0 bytes): not a Parquet file, not even one without rows")
    frame = scan(label)
    try:
        rows = frame.select(pl.len()).collect().item()  # from the footer
    except (PolarsError, PanicException, OSError) as error:
        raise unreadable(label, _plainer(path, error)) from error
    return ParquetShard(path, frame, rows)


def _bounds(path: Path, column: str) -> tuple[int, int] | None:
    """The range of an integer column by the footer's statistics. A hint: whoever uses it verifies it."""
    import pyarrow.parquet as pq  # slow to load, and only shuffled logs ask

    footer = pq.read_metadata(path)
    names = [footer.schema.column(index).path for index in range(footer.num_columns)]
    if column not in names:
        return None
    index, low, high = names.index(column), [], []
    for group in range(footer.num_row_groups):
        statistics = footer.row_group(group).column(index).statistics
        if statistics is None or not statistics.has_min_max or not isinstance(statistics.min, int):
            return None
        low.append(statistics.min)
        high.append(statistics.max)
    return (min(low), max(high)) if low else None


def _plainer(path: Path, error: BaseException) -> BaseException:
    """What a person would say: to a reader a truncated file is one without magic bytes in its footer."""
    with path.open("rb") as file:
        head = file.read(len(_MAGIC))
        file.seek(max(0, path.stat().st_size - len(_MAGIC)))
        tail = file.read()
    if head == _MAGIC and tail != _MAGIC:
        return ValueError("the Parquet file is truncated: its footer is missing")
    return ValueError("it is not a Parquet file") if head != _MAGIC else error


FORMAT = Format(
    name="parquet",
    about="Apache Parquet",
    endings=(".parquet", ".pq", ".parq"),
    open=open_parquet,
    sniff=lambda head: head.startswith(_MAGIC),
    scan=scan,
    opening=parsed_footer,
)
