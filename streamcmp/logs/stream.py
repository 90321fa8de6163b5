"""Batches of a lazy frame: the one place that knows Polars' unstable iterator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
from polars.exceptions import PanicException, PolarsError

from streamcmp import interrupt
from streamcmp.addresses import is_address, reason
from streamcmp.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK_ROWS = 131_072


def stream(
    frame: pl.LazyFrame, chunk_rows: int = CHUNK_ROWS, *, rows: int | None = None, label: str = "the log"
) -> Iterator[pl.DataFrame]:
    """The rows of `frame` in order, in batches of exactly `chunk_rows` but the last; none if empty.

    `rows` is how many the metadata promised: any other number raises DataError. Damaged files have fewer, and
    Polars has ended a pass in silence when a signal interrupted it. What Polars cannot read raises DataError
    naming `label`.
    """
    seen = 0
    try:
        for batch in frame.collect_batches(chunk_size=chunk_rows, maintain_order=True):
            interrupt.check()
            seen += batch.height
            yield batch
    except (PolarsError, PanicException, OSError) as error:
        interrupt.check()
        raise unreadable(label, error) from error
    interrupt.check()
    if rows is not None and seen != rows:
        raise ended_early(label, rows, seen)


def ended_early(label: str, rows: int, seen: int) -> DataError:
    """The error for a file that has not the rows that its metadata promised."""
    return DataError(
        f"{label} holds {rows:,} rows by its metadata, but {seen:,} came out of the reader: the file is "
        "damaged"
    )


def unreadable(label: str, error: BaseException) -> DataError:
    """The error for a file that its own library cannot read, with the first line of what the library says."""
    if is_address(label):
        return DataError(f"{label}: {reason(error, label)}")
    said = str(error).strip().splitlines()
    return DataError(f"{label}: cannot be read: {said[0] if said else type(error).__name__}")
