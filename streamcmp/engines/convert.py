"""Any log to canonical Parquet, sorted by id, in bounded memory.

Batches are sorted in runs that fit the budget, which go to files if there are several; ranges of ids are then
taken from all runs, sorted, and written one after the other. A comparison of two such files reads in step.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import polars as pl

from streamcmp import interrupt
from streamcmp.comparison import Comparison, IdShard
from streamcmp.errors import EmptyLog, InternalError, UsageError
from streamcmp.logs.export import SORT_KEY, open_export
from streamcmp.logs.formats.parquet import LOG_KEY
from streamcmp.output import check_new, new_folder, replacing
from streamcmp.resources import Resources
from streamcmp.stable_hash import shards_of
from streamcmp.target import check_parquet

_CHUNK_ROWS, _GROUP_ROWS = 65_536, 500_000
_LARGEST_RUN = 256 << 20
MOST_SHARDS = 500  # all of them are open at once
_SHARE = 12  # of the memory budget, for a run: sorting holds it a few times


@dataclass(frozen=True)
class Converted:
    """What was written: rows, columns, and sentences about what was detected."""

    rows: int
    columns: tuple[str, ...]
    notes: tuple[str, ...]


def convert(
    comparison: Comparison,
    resources: Resources,
    output: str | PathLike[str],
    shards: int | None = None,
) -> Converted:
    """Write the log of side a to `output`: a file, or a folder with a file for each of so many shards.

    Raises:
        UsageError, DataError: as for a comparison; the log has no row.
    """
    if shards is not None:
        if not 1 <= shards <= MOST_SHARDS:
            raise UsageError(f"--shards must be 1 to {MOST_SHARDS}, not {shards}")
        check_new(_local(output))
    else:
        check_parquet(output, "a converted log", ".parquet")
    export = open_export(comparison)
    budget = min(_LARGEST_RUN, resources.memory // _SHARE)
    with tempfile.TemporaryDirectory(prefix="streamcmp-", dir=resources.spill_dir) as folder:
        runs = _runs(export.batches(resources.chunk_rows or _CHUNK_ROWS), budget, Path(folder))
        if not runs:
            raise EmptyLog(export.log.cook.parts[0].label)
        rows = sum(_height(run) for run in runs)
        if shards is None:
            with replacing(output) as temporary:
                written, columns = _write(_merged(runs, rows), [temporary], export.about)
        else:
            with new_folder(_local(output)) as temporary:
                files = [temporary / f"{number}-of-{shards}.parquet" for number in range(shards)]
                written, columns = _write(_merged(runs, rows), files, export.about)
    if written != rows:
        raise InternalError(f"{rows:,} rows were read, {written:,} written")
    return Converted(rows, columns, export.notes)


def _local(output: str | PathLike[str]) -> Path:
    if "://" in fspath(output):
        raise UsageError(f"--output {output}: with --shards it is a folder on this machine; copy that there")
    return Path(output)


Run = pl.DataFrame | Path


def _runs(batches: Iterator[pl.DataFrame], budget: int, folder: Path) -> list[Run]:
    """Sorted runs: the only one in memory, several as files."""
    runs: list[Run] = []
    held: list[pl.DataFrame] = []
    size = 0.0
    for batch in batches:
        interrupt.check()
        if not batch.height:
            continue
        held.append(batch)
        size += batch.estimated_size()
        if size > budget:
            runs.append(_spilled(held, folder / f"{len(runs)}.arrow"))
            held, size = [], 0
    if held and not runs:
        return [_sorted(held)]
    return [*runs, _spilled(held, folder / f"{len(runs)}.arrow")] if held else runs


def _sorted(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(frames, how="vertical_relaxed").sort(SORT_KEY, nulls_last=True, maintain_order=True)


def _spilled(frames: Sequence[pl.DataFrame], path: Path) -> Path:
    _sorted(frames).write_ipc(path)
    return path


def _height(run: Run) -> int:
    return (
        run.height
        if isinstance(run, pl.DataFrame)
        else int(pl.scan_ipc(run).select(pl.len()).collect().item())
    )


def _merged(runs: Sequence[Run], rows: int) -> Iterator[pl.DataFrame]:
    """All rows in order."""
    if isinstance(runs[0], pl.DataFrame):
        yield runs[0]
        return
    paths = [run for run in runs if isinstance(run, Path)]
    ids = [pl.scan_ipc(path).select(SORT_KEY) for path in paths]
    # Boundaries from every so many-th id of each run: a range holds about as many rows as a run.
    step = max(1, rows // (len(paths) * 64))
    sample = pl.concat([frame.gather_every(step).collect() for frame in ids]).to_series().drop_nulls().sort()
    cuts = (
        [sample[len(sample) * number // len(paths)] for number in range(1, len(paths))] if len(sample) else []
    )
    starts = [0] * len(paths)
    for cut in [*cuts, None]:
        interrupt.check()
        pieces = []
        for index, path in enumerate(paths):
            end = _position(ids[index], cut)
            pieces.append(pl.scan_ipc(path).slice(starts[index], end - starts[index]).collect())
            starts[index] = end
        yield _sorted(pieces)


def _position(ids: pl.LazyFrame, cut: Any) -> int:
    """How many ids of a sorted run are smaller than `cut`; all, nulls too, without one."""
    if cut is None:
        return int(ids.select(pl.len()).collect().item())
    return int(ids.select((pl.col(SORT_KEY) < cut).sum().cast(pl.Int64)).collect().item())


def _write(
    frames: Iterator[pl.DataFrame], paths: Sequence[Path], about: Mapping[str, Any]
) -> tuple[int, tuple[str, ...]]:
    """A Parquet file of all frames, which have the same columns, or one of each shard.

    Types are those of the first frame.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = 0
    first = next(frames)
    written = first.drop(SORT_KEY).schema
    schema = first.drop(SORT_KEY).to_arrow().schema
    with ExitStack() as stack:
        writers = []
        for number, path in enumerate(paths):
            said = about if len(paths) == 1 else {**about, "shard": str(IdShard(number, len(paths)))}
            own = schema.with_metadata({LOG_KEY: json.dumps(said, ensure_ascii=False)})
            writers.append(stack.enter_context(pq.ParquetWriter(path, own, compression="zstd")))
        for frame in chain([first], frames):
            interrupt.check()
            rows += frame.height
            for writer, part in zip(writers, _parts(frame, len(paths)), strict=True):
                table: pa.Table = part.drop(SORT_KEY).cast(written).to_arrow().cast(writer.schema)
                writer.write_table(table, row_group_size=_GROUP_ROWS)
    return rows, tuple(written)


def _parts(frame: pl.DataFrame, shards: int) -> Iterator[pl.DataFrame]:
    """The rows of each shard, in order."""
    if shards == 1:
        yield frame
        return
    places = pl.Series(shards_of(frame[SORT_KEY], shards))
    for number in range(shards):
        yield frame.filter(places == number)
