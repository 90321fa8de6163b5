"""The benchmark's logs.

Every column of a row is a function of the example's number, so that any part of a log can be made alone, in
any order, in constant memory.

`python -m scripts.bench_data FOLDER DATA` writes one pair of logs; DATA is the JSON of a `Data`.
"""

import json
import math
import shutil
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from scripts.bench_workloads import ID, Data
from scripts.make_logs import CLASSES, DOMAINS, LANGUAGES

CHUNK = 1_000_000
SOURCES = tuple(f"source-{number:02d}" for number in range(57))
TOPICS = 1_000_000
PREFIX = "mmlu/test/"  # 10 bytes, and 19 digits: an id of 29 bytes

# What is drawn per example, each a stream of hashes of its number.
_DRAWN, _ID, _ABSENT_A, _ABSENT_B, _WIDE, _TOPIC, _SHUFFLE_A, _SHUFFLE_B = range(8)

U64 = NDArray[np.uint64]


def mix(numbers: U64, stream: int) -> U64:
    """Hash 64 bits to 64, a bijection for each stream (the finalizer of splitmix64)."""
    x = numbers + np.uint64(0x9E3779B97F4A7C15 * (2 * stream + 1) % 2**64)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: U64 = x ^ (x >> np.uint64(31))
    return mixed


def permute(numbers: U64, size: int, stream: int) -> U64:
    """Map 0..size-1 onto itself at random, number by number.

    A Feistel network on two digits of base sqrt(size), rounded up; what falls outside the range is mapped on
    until it is back inside, so that the whole stays a bijection.
    """
    base = np.uint64(math.isqrt(max(size - 1, 0)) + 1)

    def turn(x: U64) -> U64:
        high, low = x // base, x % base
        for step in range(4):
            high, low = low, (high + (mix(low, 1000 * stream + step) >> np.uint64(32))) % base
        turned: U64 = high * base + low
        return turned

    x = turn(numbers)
    outside = np.flatnonzero(x >= np.uint64(size))
    while len(outside):
        x[outside] = turn(x[outside])
        outside = outside[x[outside] >= np.uint64(size)]
    return x


def examples(data: Data, side: str, start: int, stop: int) -> U64:
    """Return the numbers of the examples in rows start..stop-1 of a log; absent ones are left out."""
    numbers = np.arange(start, stop, dtype=np.uint64)
    streams = 10 * data.seed
    match data.order:
        case "same":
            return numbers
        case "gaps":
            absent = mix(numbers, streams + (_ABSENT_A if side == "a" else _ABSENT_B))
            present: U64 = numbers[absent % np.uint64(100) != 0]
            return present
        case "unsorted":
            return permute(numbers, data.rows, streams + _SHUFFLE_A)
        case "shuffled":
            return permute(numbers, data.rows, streams + (_SHUFFLE_A if side == "a" else _SHUFFLE_B))


def _ids(data: Data, numbers: U64) -> pa.Array:
    if data.ids == "compact":
        return pa.array(numbers.view(np.int64))
    # One id in each of `rows` equal parts of the 63-bit range, anywhere in it: they rise with the number.
    part = np.uint64(2**63 // data.rows)
    sparse = (numbers * part + mix(numbers, 10 * data.seed + _ID) % part).view(np.int64)
    if data.ids == "sparse":
        return pa.array(sparse)
    text = pl.Series(sparse).cast(pl.String).str.zfill(19)
    return pa.array((PREFIX + text).to_arrow())


def _named(codes: U64, names: tuple[str, ...]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(codes.astype(np.int32), list(names))


def _wide(data: Data, numbers: U64) -> dict[str, pa.Array]:
    drawn = mix(numbers, 10 * data.seed + _WIDE)
    fields = [(drawn >> np.uint64(shift)) & np.uint64(0xFFFF) for shift in (0, 16, 32, 48)]
    return {
        "language": _named(fields[0] % np.uint64(len(LANGUAGES)), LANGUAGES),
        "difficulty": pa.array((fields[1] % np.uint64(5) + np.uint64(1)).astype(np.int8)),
        "source": _named(fields[2] % np.uint64(len(SOURCES)), SOURCES),
        "year": pa.array((fields[3] % np.uint64(10) + np.uint64(2017)).astype(np.int64)),
        "topic": pa.array((mix(numbers, 10 * data.seed + _TOPIC) % np.uint64(TOPICS)).view(np.int64)),
    }


def table(data: Data, side: str, numbers: U64) -> pa.Table:
    """Make the rows of these examples: id, prediction, label; slices on the left only."""
    drawn = mix(numbers, 10 * data.seed + _DRAWN)
    shares = np.cumsum([domain.share for domain in DOMAINS])
    domain = np.searchsorted(shares[:-1] / shares[-1], (drawn & np.uint64(0xFFFF)) / 2**16, side="right")
    label = (drawn >> np.uint64(16) & np.uint64(0xFF)) % np.uint64(CLASSES)
    off = (drawn >> np.uint64(24 if side == "a" else 32) & np.uint64(0xFF)) % np.uint64(CLASSES - 1)
    # One draw decides the pair's cell: [both correct | only a | only b | both wrong].
    cell = (drawn >> np.uint64(40)) / 2**24
    both, lost, won = (
        np.array(values)[domain]
        for values in zip(*((d.accuracy_a - d.lost, d.lost, d.won) for d in DOMAINS), strict=True)
    )
    alone = cell < both + lost if side == "a" else (cell >= both + lost) & (cell < both + lost + won)
    correct = (cell < both) | alone
    prediction = np.where(correct, label, (label + off + np.uint64(1)) % np.uint64(CLASSES))
    columns = {
        ID: _ids(data, numbers),
        "prediction": pa.array(prediction.astype(np.int64)),
        "label": pa.array(label.astype(np.int64)),
    }
    if side == "a":
        columns["domain"] = _named(domain.astype(np.uint64), tuple(d.name for d in DOMAINS))
        columns |= _wide(data, numbers) if data.wide else {}
    return pa.table(columns)


def _chunks(data: Data, side: str, start: int, stop: int) -> Iterator[pa.Table]:
    for first in range(start, stop, CHUNK):
        yield table(data, side, examples(data, side, first, min(first + CHUNK, stop)))


def _write_parquet(data: Data, side: str, start: int, stop: int, path: Path) -> None:
    """Pyarrow's defaults, but for the size of row groups. Holds one row group, or a chunk, in memory."""
    writer: Any = None
    rows = max(CHUNK // data.group_rows, 1) * data.group_rows
    for first in range(start, stop, rows):
        part = pa.concat_tables(_chunks(data, side, first, min(first + rows, stop)))
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part, row_group_size=data.group_rows)
    writer.close()


def _write_ndjson(data: Data, side: str, start: int, stop: int, path: Path) -> None:
    with path.open("wb") as file:
        for part in _chunks(data, side, start, stop):
            frame = pl.from_arrow(part)
            assert isinstance(frame, pl.DataFrame)
            frame.write_ndjson(file)


def write(data: Data, folder: Path) -> None:
    """Write the two logs into the folder. It appears when both are whole."""
    unfinished = folder.with_name(folder.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    one = _write_parquet if data.form == "parquet" else _write_ndjson
    for side, name in zip("ab", data.logs(), strict=True):
        if data.shards == 1:
            one(data, side, 0, data.rows, unfinished / name)
            continue
        (unfinished / name).mkdir()
        cuts = [data.rows * shard // data.shards for shard in range(data.shards + 1)]
        for shard, (start, stop) in enumerate(pairwise(cuts)):
            one(data, side, start, stop, unfinished / name / f"part-{shard:05d}.{data.form}")
    unfinished.rename(folder)


def main() -> None:
    folder, text = sys.argv[1:]
    write(Data(**json.loads(text)), Path(folder))


if __name__ == "__main__":
    main()
