"""A table in pieces, to a file: Parquet, Arrow IPC, CSV or JSON lines. Types are those of the first piece.

What a format cannot hold is written as text that says the same: objects and lists in CSV as JSON, bytes in
hex, dates and times as in ISO 8601.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import polars as pl

from streamcmp.ahead import ahead
from streamcmp.errors import UsageError
from streamcmp.json_text import JSON, ready, text_of, unmark

if TYPE_CHECKING:
    import pyarrow as pa

    Write = Callable[[pl.DataFrame], None]

FORMAT_OF_ENDING = {
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_WORDS = (pl.String, pl.Boolean)


def form_of(path: Path) -> str:
    """The format that a file's ending says. Raises UsageError where it says none."""
    ending = path.suffix.lower()
    if ending not in FORMAT_OF_ENDING:
        raise UsageError(
            f"--output {path}: the ending {ending or '(none)'} does not say a format; "
            f"use one of {' '.join(FORMAT_OF_ENDING)}"
        )
    return FORMAT_OF_ENDING[ending]


def write_tables(path: Path, form: str, tables: Iterable[pl.DataFrame]) -> int:
    """Write all pieces, of which there is one at least; how many rows they are. Equal pieces, equal bytes."""
    with ExitStack() as closing:
        write: Write | None = None

        def written(table: pl.DataFrame) -> int:
            nonlocal write
            write = write or _WRITERS[form](path, table, closing)
            write(table)
            return table.height

        # Beside the making of the next piece, which waits for reading most of the time.
        pool = closing.enter_context(ThreadPoolExecutor(1))
        return sum(ahead(pool, written, tables, 2))


def plain(table: pl.DataFrame) -> pl.DataFrame:
    """The table with JSON as text."""
    return pl.DataFrame([unmark(one) if one.dtype == JSON else one for one in table.iter_columns()])


def _parquet(path: Path, first: pl.DataFrame, closing: ExitStack) -> Write:
    import pyarrow.parquet as pq

    schema = _arrow(first).schema
    writer = closing.enter_context(pq.ParquetWriter(path, schema, compression="zstd"))
    return lambda table: writer.write_table(_arrow(table).cast(schema)) if table.height else None


def _ipc(path: Path, first: pl.DataFrame, closing: ExitStack) -> Write:
    import pyarrow as pa

    schema = _arrow(first).schema
    writer = closing.enter_context(pa.ipc.new_file(path, schema))
    return lambda table: writer.write_table(_arrow(table).cast(schema)) if table.height else None


def _arrow(table: pl.DataFrame) -> pa.Table:
    numbered = dict(zip(table.columns, map(str, range(table.width)), strict=True))
    # A name with a NUL in it would end Polars' thread on its way to Arrow.
    return plain(table).rechunk().rename(numbered).to_arrow().rename_columns(table.columns)


def _csv(path: Path, first: pl.DataFrame, closing: ExitStack) -> Write:
    file = closing.enter_context(path.open("wb"))
    _flat(first.clear()).write_csv(file)
    return lambda table: _flat(table).write_csv(file, include_header=False)


def _flat(table: pl.DataFrame) -> pl.DataFrame:
    """The table with single values only, in types that CSV has."""
    return pl.DataFrame([_single(column) for column in plain(table).iter_columns()])


def _single(column: pl.Series) -> pl.Series:
    dtype = column.dtype
    if dtype in _WORDS or dtype.is_numeric():
        return column
    nested = dtype.is_nested()
    texts = [
        value if value is None else text_of(value) if nested else str(ready(value))
        for value in column.to_list()
    ]
    return pl.Series(column.name, texts, pl.String)


def _jsonl(path: Path, _first: pl.DataFrame, closing: ExitStack) -> Write:
    file = closing.enter_context(path.open("wb"))

    def write(table: pl.DataFrame) -> None:
        if all(map(_is_plain_json, table.iter_columns())):
            table.write_ndjson(file)
        else:
            _write_objects(table, file)

    return write


def _is_plain_json(column: pl.Series) -> bool:
    """Whether Polars writes the values as JSON has them; to NaN and infinities it gives no value."""
    if column.dtype == pl.Float64:
        return bool(column.is_finite().all())
    return column.dtype in _WORDS or column.dtype.is_integer()


def _write_objects(table: pl.DataFrame, file: BinaryIO) -> None:
    import msgspec

    encode = msgspec.json.Encoder().encode
    columns = [list(_json_values(column)) for column in table.iter_columns()]
    for values in zip(*columns, strict=True):
        file.write(encode(dict(zip(table.columns, values, strict=True))) + b"\n")


def _json_values(column: pl.Series) -> Iterator[Any]:
    if column.dtype == JSON:
        import msgspec

        for text in unmark(column).to_list():
            yield None if text is None else msgspec.Raw(text.encode())
        return
    yield from map(ready, column.to_list())


_WRITERS: dict[str, Callable[[Path, pl.DataFrame, ExitStack], Write]] = {
    "parquet": _parquet,
    "arrow": _ipc,
    "csv": _csv,
    "jsonl": _jsonl,
}
