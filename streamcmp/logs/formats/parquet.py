"""Parquet files."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from streamcmp.errors import DataError
from streamcmp.logs.formats.base import Format, LazyShard
from streamcmp.logs.stream import unreadable

_MAGIC = b"PAR1"


def scan(source: str) -> pl.LazyFrame:
    """A scan that believes only the data: statistics in the footer have been wrong and dropped rows."""
    return pl.scan_parquet(source, hive_partitioning=False, use_statistics=False, glob="://" in source)


def open_parquet(path: Path, columns: tuple[str, ...] = ()) -> LazyShard:  # noqa: ARG001 - no names to give
    """A Parquet file, its footer read and believed for the number of rows.

    Raises:
        DataError: the file is empty, truncated or not Parquet.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    label, size = str(path), path.stat().st_size
    if size == 0:
        raise DataError(f"{label}: is empty (0 bytes): not a Parquet file, not even one without rows")
    try:
        rows = pq.read_metadata(path).num_rows
    except (OSError, pa.ArrowException) as error:
        raise unreadable(label, _plainer(path, error)) from error
    return LazyShard(label, scan(label), size=size, rows=rows)


def _plainer(path: Path, error: Exception) -> Exception:
    """What a person would say: to pyarrow a truncated file is one without magic bytes in its footer."""
    with path.open("rb") as file:
        head = file.read(len(_MAGIC))
        file.seek(max(0, path.stat().st_size - len(_MAGIC)))
        tail = file.read()
    if head == _MAGIC and tail != _MAGIC:
        return ValueError("the Parquet file is truncated: its footer is missing")
    return ValueError("it is not a Parquet file") if head != _MAGIC else error


FORMAT = Format(
    name="parquet",
    endings=(".parquet", ".pq", ".parq"),
    open=open_parquet,
    sniff=lambda head: head.startswith(_MAGIC),
    scan=scan,
)
