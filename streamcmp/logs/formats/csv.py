"""CSV and TSV files, plain or compressed.

pyarrow reads them, because it raises on a row with the wrong number of fields where Polars fills in null.
Every column is text. An empty field is null, a quoted empty field is the empty string.

Blank lines: with several columns a blank line is no row (it cannot be one). In a file of one column it is a
row whose value is null; to skip it would shift all rows after it against the other log. TSV is quoted like
CSV, as spreadsheets and data frames write it.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from weakref import ref

import polars as pl

from streamcmp import interrupt
from streamcmp.errors import DataError
from streamcmp.logs.formats.base import BaseShard, Format, conform
from streamcmp.logs.formats.text import open_bytes, read_head, reading, shorten

# pyarrow keeps about 50 blocks' worth of memory: 2 MB cost 0.12 GB, 16 MB 0.33 GB, at one speed (measured). A
# row must fit a block; only where one does not, the file is read again with the next size.
_BLOCKS = (2 << 20, 16 << 20, 128 << 20)
_HEADS = (1 << 16, 1 << 20, 1 << 24)
# One more row, fed behind the file's end. If it does not come out as the last row, a quote was never closed.
_END = "\0end of file\0"
_PATIENCE = 1.0  # seconds


class _RowTooLong(Exception):
    """A row does not fit the block. Caught by `CsvShard.batches`, which takes a larger one."""


class CsvShard(BaseShard):
    """One CSV or TSV file. Without `names` its first row is the header."""

    untyped = True

    def __init__(self, path: Path, delimiter: str, names: tuple[str, ...]) -> None:
        self.label = str(path)
        self.size = path.stat().st_size
        self._path = path
        self._delimiter = delimiter
        self._names = names
        header, blank = ((), 0) if names else _header(path, delimiter)
        self._fields = header or (names if read_head(path, 1) else ())
        # Lines to pass over before the header: where blank lines are rows, pyarrow takes them for the header.
        self._skip = blank if len(self._fields) == 1 else 0
        self._before = self._skip + (not names)  # rows before the first data row
        if not self._fields:
            self.rows = 0

    def schema(self, *, complete: bool = False) -> Mapping[str, pl.DataType]:  # noqa: ARG002 - the header is all
        """The header's names, all text."""
        return dict.fromkeys(self._fields, pl.String())

    def batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The named columns in batches; see `Shard`.

        Raises:
            DataError: a row with too few or too many fields, an open quote, invalid UTF-8, a truncated
                archive, or a column needed here whose name stands in the header twice.
        """
        for name in columns:
            if self._fields.count(name) > 1:
                times = self._fields.count(name)
                raise DataError(f"{self.label}: column {name!r} stands in the header {times} times")
        if not self._fields:
            return
        wanted = [name for name in dict.fromkeys(columns) if name in self._fields] or list(self._fields[:1])
        done = 0
        for block in _BLOCKS:
            try:
                for batch in _after(done, self._read(wanted, block)):
                    done += batch.height
                    yield conform(batch, columns)
                return
            except _RowTooLong:
                continue
        raise DataError(
            f"{self.label}: row {done + 1:,}{self._line(done)} or one soon after is longer than "
            f"{_BLOCKS[-1] >> 20} MB; is a quote never closed?"
        )

    def _read(self, wanted: list[str], block: int) -> Iterator[pl.DataFrame]:
        """Frames of the wanted columns, without the end row."""
        import pyarrow as pa

        held: pl.DataFrame | None = None
        done = 0
        bad: list[Any] = []
        try:
            with reading(self.label), open_bytes(self._path) as source:
                for batch in self._reader(source, wanted, block, pa.string(), bad.append):
                    interrupt.check()
                    if held is not None:
                        done += held.height
                        yield held
                    held = pl.DataFrame(batch)
        except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
            interrupt.check()
            raise self._explain(error, bad, wanted, block) from error
        if held is None or not held.height or held.item(-1, 0) != _END:
            row = done + (0 if held is None else held.height)
            raise self._open_quote(row)
        if held.height > 1:
            yield held.head(-1)

    def _reader(
        self, source: Any, wanted: list[str], block: int, dtype: Any, on_bad: Callable[[Any], object]
    ) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.csv as pc

        end = self._delimiter.join([_END] * len(self._fields)) + "\n"
        lent: list[Any] = [_WithEnd(source, end.encode()), _row_handler(on_bad)]
        alive = [ref(one) for one in lent]
        try:
            yield from pc.open_csv(
                pa.PythonFile(lent[0], mode="r"),
                # Threads are no faster here, and cost the row numbers in messages.
                read_options=pc.ReadOptions(
                    block_size=block,
                    use_threads=False,
                    column_names=self._names or None,
                    skip_rows=self._skip,
                ),
                parse_options=pc.ParseOptions(
                    delimiter=self._delimiter,
                    newlines_in_values=True,
                    invalid_row_handler=lent[1],
                    ignore_empty_lines=len(self._fields) > 1,
                ),
                convert_options=pc.ConvertOptions(
                    include_columns=wanted,
                    column_types=dict.fromkeys(wanted, dtype),
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            )
        finally:
            # A thread of pyarrow's may still hold what we lent it. If it let go of that after Python has
            # begun to shut down, it would abort the process.
            lent.clear()
            _wait_until_gone(alive)

    def _explain(self, error: Exception, bad: list[Any], wanted: list[str], block: int) -> Exception:
        """The error to raise for what pyarrow said."""
        if bad:
            row = bad[-1].number - self._before
            if _END in bad[-1].text:
                return self._open_quote(row)
            names = "--columns names" if self._names else "the header has"
            count = bad[-1].actual_columns
            return DataError(
                f"{self.label}: row {row:,}{self._line(row)} has {count} field{'s' * (count != 1)} where "
                f"{names} {len(self._fields)}: {shorten(bad[-1].text)}"
            )
        if "straddl" in str(error):
            return _RowTooLong()
        if "UTF8" in str(error):
            return self._bad_text(wanted, block)
        return DataError(f"{self.label}: cannot be read as CSV: {error}")

    def _bad_text(self, wanted: list[str], block: int) -> DataError:
        """Reads again, as bytes, for the row and the column that are not UTF-8."""
        import pyarrow as pa

        row = 0
        with open_bytes(self._path) as source, suppress(pa.ArrowInvalid):
            for batch in self._reader(source, wanted, block, pa.binary(), lambda row: row):
                for values in zip(*(batch.column(name).to_pylist() for name in wanted), strict=True):
                    row += 1
                    for name, value in zip(wanted, values, strict=True):
                        text = (value or b"").decode(errors="replace")
                        if text.encode() != (value or b""):
                            where = f"row {row:,}{self._line(row)}, column {name!r}"
                            return DataError(f"{self.label}: {where} is not valid UTF-8: {shorten(text)}")
        return DataError(f"{self.label}: is not valid UTF-8")

    def _open_quote(self, row: int) -> DataError:
        return DataError(
            f"{self.label}: a quote opened in row {row:,}{self._line(row)} is never closed; "
            "the file may be truncated"
        )

    def _line(self, row: int) -> str:
        """The text " (line N)" for a 1-based row, by reading again; empty far into a large file."""
        if not 0 < row <= 2_000_000:
            return ""
        with open_bytes(self._path) as source:
            text = io.TextIOWrapper(source, encoding="utf-8", errors="replace", newline="")
            rows = csv.reader(text, delimiter=self._delimiter)
            left = row + self._before
            start = 1
            try:
                for fields in rows:
                    left -= bool(fields) or len(self._fields) == 1
                    if left == 0:
                        return f" (line {start:,})"
                    start = rows.line_num + 1
            except csv.Error:
                pass
        return ""


def _row_handler(on_bad: Callable[[Any], object]) -> Callable[[Any], str]:
    """What pyarrow calls for a row with another number of fields."""

    def handler(row: Any) -> str:
        on_bad(row)
        return "error"

    return handler


def _wait_until_gone(alive: Sequence[ref[Any]]) -> None:
    """Wait until nobody holds these objects any more; not for long, should somebody keep them."""
    patience = time.monotonic() + _PATIENCE
    while any(one() is not None for one in alive) and time.monotonic() < patience:
        time.sleep(0.0001)


class _WithEnd(io.RawIOBase):
    """A stream with one more line behind its end."""

    def __init__(self, source: Any, end: bytes) -> None:
        super().__init__()
        self._source = source
        self._end = end
        self._last = b"\n"
        self._ahead = b""

    def readable(self) -> bool:
        """True."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """`size` bytes; fewer only at the very end."""
        data = self._ahead or self._source.read(size)
        self._ahead = b""
        # A short read is the file's end: the end row must come in one block with a header without newline.
        while len(data) < size and self._end:
            more: bytes = self._source.read(size - len(data))
            if not more:
                last = data[-1:] or self._last
                more, self._end = self._end if last in b"\r\n" else b"\n" + self._end, b""
            data += more
        self._last = data[-1:]
        self._ahead = data[size:]
        return data[:size]


def _after(skip: int, batches: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The batches without their first `skip` rows."""
    for batch in batches:
        if skip >= batch.height:
            skip -= batch.height
            continue
        yield batch[skip:] if skip else batch
        skip = 0


def _header(path: Path, delimiter: str) -> tuple[tuple[str, ...], int]:
    """The names in the first row (empty for a file without any), and how many blank lines stand before it."""
    for size in _HEADS:
        head = read_head(path, size)
        start = len(head) - len(head.lstrip(b"\r\n"))
        cut = head.find(b"\n", start)
        while cut >= 0 and head.count(b'"', start, cut) % 2:  # this newline stands inside quotes
            cut = head.find(b"\n", cut + 1)
        if cut >= 0 or len(head) < size:
            break
    else:
        raise DataError(f"{path}: the header is longer than {_HEADS[-1] >> 20} MB; is it a CSV file?")
    try:
        text = head[start : cut if cut >= 0 else None].decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: the header is not valid UTF-8") from error
    try:
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
    except csv.Error as error:
        raise DataError(f"{path}: the header cannot be read: {error}; is it a CSV file?") from error
    return tuple(names), head.count(b"\n", 0, start)


def _open(path: Path, columns: tuple[str, ...], delimiter: str) -> CsvShard:
    return CsvShard(path, delimiter, columns)


CSV = Format(
    name="csv",
    about="comma-separated values, with a header or --columns",
    endings=(".csv",),
    open=partial(_open, delimiter=","),
    text=True,
    headerless=True,
)
TSV = Format(
    name="tsv",
    about="tab-separated values, likewise",
    endings=(".tsv", ".tab"),
    open=partial(_open, delimiter="\t"),
    text=True,
    headerless=True,
)
