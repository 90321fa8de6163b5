"""NDJSON (JSON Lines), plain or compressed: one object a line.

msgspec decodes blocks of lines, only the fields needed, as fast as Polars does (measured), and keeps each
value's own type: no schema is guessed from the first rows, so a key first seen late is not lost. Of a key
that stands twice in one object the last value counts. Blank lines are no rows, but count in line numbers. NaN
and Infinity are accepted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from streamcmp import interrupt
from streamcmp.errors import DataError
from streamcmp.logs.formats.base import BaseShard, Format, conform
from streamcmp.logs.formats.json_fields import Fields
from streamcmp.logs.formats.json_lines import Bad, LineReader, decode_one, line_of_row
from streamcmp.logs.formats.json_values import columns_of, learn
from streamcmp.logs.formats.text import line_blocks, read_head

_SAMPLE_BYTES = 1 << 20
_SAMPLE_LINES = 1000
_OBJECT = "'.', or '.KEY[]' if a list of it, KEY, holds the rows"


class NdjsonShard(BaseShard):
    """One NDJSON file."""

    def __init__(self, path: Path) -> None:
        self.label = str(path)
        self.size = path.stat().st_size
        self._path = path
        head = read_head(path, 4096)
        if not head:
            self.rows = 0
        start = head.lstrip()
        if start.startswith(b"[") or start.partition(b"\n")[0].rstrip() == b"{":
            what, jq = (
                ("array", "'.[]'") if start.startswith(b"[") else ("object over several lines", _OBJECT)
            )
            raise DataError(
                f"{path}: holds one JSON {what}, not one object a line; convert it to "
                f"JSON lines, e.g. with: jq -c {jq}"
            )
        self._sample: Mapping[str, pl.DataType] | None = None
        self._complete: Mapping[str, pl.DataType] | None = None

    def schema(self, *, complete: bool = False) -> Mapping[str, pl.DataType]:
        """Keys and types of the first 1000 rows or 1 MB, or of all rows.

        A key whose values mix types has the type of its first value that is not null (text or numbers);
        integers and floats together are Float64. A key that holds objects or lists is a Struct or a List.
        """
        if complete:
            if self._complete is None:
                self._complete = self._look(None)
            return self._complete
        if self._sample is None:
            self._sample = self._look(_SAMPLE_LINES)
        return self._sample

    def sample(self) -> list[dict[str, Any]]:
        """The first rows, whole: at most 1000, or 1 MB of them."""
        for first, block in line_blocks(self._path, _SAMPLE_BYTES):
            some = b"\n".join(block.split(b"\n")[:_SAMPLE_LINES])
            return LineReader(None).rows(some, self._bad(first))
        return []

    def _look(self, limit: int | None) -> Mapping[str, pl.DataType]:
        """The types of the keys in the first block's first `limit` rows, or in all rows."""
        reader = LineReader(None)
        found: dict[str, pl.DataType] = {}
        for first, block in line_blocks(self._path, _SAMPLE_BYTES):
            interrupt.check()
            # A bad line behind the sample is for the pass to find.
            some = block if limit is None else b"\n".join(block.split(b"\n")[:limit])
            rows = reader.rows(some, self._bad(first))
            learn(found, rows)
            if limit is not None:
                break
        return found

    def _bad(self, first: int) -> Bad:
        """Builds the error for a line, counted from 0 in a block that begins at line `first`."""
        return lambda line, what: DataError(f"{self.label}: line {first + line:,} {what}")

    def batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The named columns in batches of one type per column; see `Shard`.

        Raises:
            DataError: naming the line that is not one JSON object, or whose value in a needed column is an
                object, an integer beyond 128 bits or invalid text, or a list that holds such.
        """
        names = list(dict.fromkeys(columns))
        reader = LineReader(names)
        for first, block in line_blocks(self._path):
            interrupt.check()
            bad = self._bad(first)
            rows = reader.rows(block, bad)
            if not rows:
                continue

            def at(row: int, what: str, block: bytes = block, bad: Bad = bad) -> DataError:
                return bad(line_of_row(block, row), what)

            if not names:
                yield pl.DataFrame(height=len(rows))
                continue
            for frame in columns_of(names, [reader.values(rows, name) for name in names], at):
                yield conform(frame, columns)


def first_object(path: Path) -> dict[str, Any] | None:
    """The object in a file's first line that is not blank; None where it holds no object."""
    try:
        for _, block in line_blocks(path, _SAMPLE_BYTES):
            line = next((line for line in block.split(b"\n") if line.strip()), b"")
            if line:
                found: dict[str, Any] = decode_one(Fields(None), line, DataError)
                return found
    except DataError:
        pass
    return None


def open_ndjson(path: Path, columns: tuple[str, ...] = ()) -> NdjsonShard:  # noqa: ARG001 - keys are names
    """An NDJSON file; raises DataError if it is one JSON array."""
    return NdjsonShard(path)


FORMAT = Format(
    name="ndjson",
    about="JSON lines: one object a line",
    endings=(".jsonl", ".ndjson", ".json"),
    open=open_ndjson,
    text=True,
)
