"""Writing small logs and reading shards back, for the tests of formats and sources."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from streamcmp.logs.model import Shard
from streamcmp.logs.source import open_shards

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": lambda raw: pa.compress(raw, "zstd", asbytes=True),
    ".bz2": bz2.compress,
}


def write(path: Path, content: str | bytes) -> Path:
    """Writes the content, compressed if the name says so."""
    raw = content.encode() if isinstance(content, str) else content
    path.write_bytes(COMPRESS.get(path.suffix, bytes)(raw))
    return path


def open_one(source: Any, **options: Any) -> Shard:
    """The one shard of a source."""
    (shard,) = open_shards(source, **options)
    return shard


def read(shard: Shard, *columns: str) -> list[tuple[Any, ...]]:
    """All rows of the named columns."""
    return [row for batch in shard.batches(columns) for row in batch.rows()]


def types(shard: Shard, column: str) -> list[pl.DataType]:
    """The type of a column, batch by batch."""
    return [batch.schema[column] for batch in shard.batches([column])]


def heights(shard: Shard, columns: Sequence[str] = ()) -> int:
    """The number of rows that come with these columns."""
    return sum(batch.height for batch in shard.batches(columns))
