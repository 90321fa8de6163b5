"""Frames in memory: Polars', and whatever gives an Arrow C stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl
from polars.exceptions import PolarsError

from streamcmp import interrupt
from streamcmp.errors import DataError, UsageError
from streamcmp.logs.formats.base import BaseShard, LazyShard, conform
from streamcmp.logs.nested import expanded
from streamcmp.logs.stream import CHUNK_ROWS


class FrameShard(BaseShard):
    """A Polars frame in memory."""

    def __init__(self, label: str, frame: pl.DataFrame) -> None:
        self.label = label
        self.rows = frame.height
        self._frame = frame.with_columns(expr for _, expr in expanded(frame.schema).values())

    def schema(self, *, complete: bool = False) -> Mapping[str, pl.DataType]:  # noqa: ARG002 - a frame is complete
        """Columns and types."""
        return dict(self._frame.schema)

    def lazy(self) -> pl.LazyFrame:
        """The frame, lazily."""
        return self._frame.lazy()

    def bounds(self, column: str) -> tuple[int, int] | None:
        """The smallest and the largest value of an integer column."""
        values = self._frame[column]
        low, high = (values.min(), values.max()) if values.dtype.is_integer() else (None, None)
        return (low, high) if isinstance(low, int) and isinstance(high, int) else None

    def batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The named columns, in slices of the frame."""
        for batch in conform(self._frame, columns).iter_slices(CHUNK_ROWS):
            interrupt.check()
            yield batch


def open_frame(source: Any, label: str, option: str) -> BaseShard:
    """A frame as a shard; what is not Polars' is converted once, so that it can be read as often as needed.

    Raises:
        UsageError: it is no frame, or a stream that can be read only once.
        DataError: it is one, but Arrow or Polars cannot represent it.
    """
    if isinstance(source, pl.LazyFrame):
        return LazyShard(label, source)
    if isinstance(source, pl.DataFrame):
        return FrameShard(label, source)
    if _one_shot(source):
        raise UsageError(
            f"{option}: a {type(source).__name__} can be read only once, but logs are read "
            "more than once; make it a table first (e.g. reader.read_all()) or write it to a file"
        )
    if not hasattr(source, "__arrow_c_stream__"):
        raise UsageError(
            f"{option}: cannot read a log from {type(source).__name__}; give a path, or a frame of "
            "Polars, pandas, pyarrow or whatever else offers __arrow_c_stream__"
        )
    try:
        return FrameShard(label, pl.DataFrame(source))
    except (PolarsError, ValueError, TypeError) as error:  # pyarrow's errors are ValueError and TypeError
        raise DataError(f"{option}: the {type(source).__name__} cannot be converted: {error}") from error


def _one_shot(source: Any) -> bool:
    """Streams, readers, iterators, open files: a C stream does not say whether there is a second one."""
    once = ("__next__", "read_next_batch", "read")
    return any(hasattr(source, name) for name in once) or type(source).__name__.endswith(("Reader", "Stream"))
