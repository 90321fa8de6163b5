"""Text with one value a line and no header: one column, `text` unless `--columns` names it.

Every line is a row. A blank line is null: it has no value, but still counts, so that rows keep their
positions. Only a newline at the very end opens no further row. Nothing is trimmed but the carriage return of
CRLF.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from streamcmp import interrupt
from streamcmp.errors import DataError, UsageError
from streamcmp.logs.formats.base import BaseShard, Format, conform
from streamcmp.logs.formats.text import line_blocks, read_head

_LONGEST_VALUE = 16 << 20  # as text and as a column it is held several times


class LinesShard(BaseShard):
    """One text file, a value a line."""

    untyped = True

    def __init__(self, path: Path, column: str) -> None:
        self.label = str(path)
        self.size = path.stat().st_size
        self._path = path
        self._column = column
        if not read_head(path, 1):
            self.rows = 0

    def schema(self, *, complete: bool = False) -> Mapping[str, pl.DataType]:  # noqa: ARG002 - there is one column
        """The one column."""
        return {} if self.rows == 0 else {self._column: pl.String()}

    def batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The named columns in batches; see `Shard`."""
        for first, block in line_blocks(self._path, longest=_LONGEST_VALUE):
            interrupt.check()
            try:
                text = block.decode()
            except UnicodeDecodeError as error:
                line = first + block.count(b"\n", 0, error.start)
                raise DataError(f"{self.label}: line {line:,} is not valid UTF-8") from error
            values = pl.Series(self._column, text.removesuffix("\n").split("\n"), dtype=pl.String)
            values = values.str.strip_suffix("\r")
            yield conform(values.replace("", None).to_frame(), columns)


def open_lines(path: Path, columns: tuple[str, ...] = ()) -> LinesShard:
    """A file of lines; `columns` may name its one column."""
    if len(columns) > 1:
        raise UsageError(
            f"--input-format lines has one column, but --columns names {len(columns)}: "
            f"{', '.join(columns)}; for several use --input-format csv or tsv"
        )
    return LinesShard(path, columns[0] if columns else "text")


FORMAT = Format(
    name="lines",
    about="text without a header: one value a line",
    endings=(),
    open=open_lines,
    text=True,
    headerless=True,
)
