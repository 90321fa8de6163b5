"""Picking rows by their numbers: the rows that a gather of the whole log would give, from any files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamcmp.errors import DataError, InternalError
from streamcmp.logs.formats.parquet import open_parquet
from streamcmp.logs.model import LogPair
from streamcmp.logs.picking import Pick, Wanted, _beside, in_turn, picked
from streamcmp.logs.shown import sides
from streamcmp.logs.view import Part
from streamcmp.meter import Meter
from tests.logs.opened import opened

ROWS = 400


def log_of(rows: int, start: int = 0) -> pl.DataFrame:
    numbers = pl.int_range(start, start + rows, eager=True)
    text = pl.Series([f"{number} " * (number % 5) for number in numbers])
    return pl.DataFrame({"id": numbers, "correct": numbers % 2 == 0, "text": text})


def write(frame: pl.DataFrame, path: Path, group: int) -> Path:
    if path.suffix == ".parquet":
        frame.write_parquet(path, row_group_size=group)
    elif path.suffix == ".arrow":
        frame.write_ipc(path)
    elif path.suffix == ".csv":
        frame.write_csv(path)
    else:
        frame.write_ndjson(path)
    return path


def pick(pair: LogPair, wanted: Iterator[Wanted], last: int, meter: Meter | None = None) -> pl.DataFrame:
    """All that is picked: the columns, and where each row belongs."""
    _, a, _ = sides(pair)
    found = picked(a.cook, Pick(["text", "id"], 7, 1 << 30), wanted, last, meter or Meter())
    pieces = [some.rows.with_columns(at=pl.Series(some.places, dtype=pl.Int64)) for some in found]
    return pl.concat(pieces) if pieces else pl.DataFrame()


@given(
    heights=st.lists(st.integers(1, ROWS), min_size=1, max_size=3),
    ending=st.sampled_from([".parquet", ".arrow", ".csv", ".jsonl"]),
    group=st.integers(1, 150),
    share=st.sampled_from([0.0, 0.01, 0.2, 1.0]),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=60, deadline=None)
def test_rows_are_those_of_a_gather(
    heights: list[int], ending: str, group: int, share: float, seed: int
) -> None:
    total = sum(heights)
    random = np.random.default_rng(seed)
    rows = np.union1d(np.flatnonzero(random.random(total) < share), random.integers(total, size=1))
    windows = int(random.integers(1, 90))
    places = random.permutation(len(rows)).astype(np.int64)
    pieces = (
        Wanted(rows[start : start + windows], places[start : start + windows])
        for start in range(0, len(rows), windows)
    )
    with TemporaryDirectory() as folder:
        start = 0
        for number, height in enumerate(heights):
            write(log_of(height, start), Path(folder, f"{number}{ending}"), group)
            start += height
        meter = Meter()
        found = pick(opened(folder, folder), pieces, int(rows[-1]), meter)
    whole = log_of(total)
    assert found["id"].cast(pl.Int64).to_list() == rows.tolist()
    assert found["at"].to_list() == places.tolist()
    assert found["text"].to_list() == whole["text"].gather(rows).to_list()
    assert meter.done <= total


def test_no_more_is_read_than_up_to_the_last_row(tmp_path: Path) -> None:
    path = write(log_of(ROWS), tmp_path / "log.parquet", 50)
    meter = Meter()
    found = pick(opened(path, path), in_turn([[np.array([3, 60])]]), 60, meter)
    assert found["id"].to_list() == [3, 60]
    assert meter.done == 61


def test_texts_of_other_rows_are_not_decoded(tmp_path: Path) -> None:
    # Polars hands the filter down to the reader only where nothing stands between them.
    path = write(log_of(ROWS), tmp_path / "log.parquet", 50)
    number, beside = pl.col("number"), pl.col("id")
    kept = pl.map_batches(
        [number, beside], lambda columns: columns[0] > 0, return_dtype=pl.Boolean, is_elementwise=True
    )
    plan = open_parquet(path).lazy().with_row_index("number").head(9).filter(kept).explain(engine="streaming")
    assert plan.startswith("Parquet SCAN")


def test_the_filter_looks_at_a_short_column(tmp_path: Path) -> None:
    texts = log_of(9).select("text", id="text", more="text")
    for frame, names, beside in (
        (log_of(9).select("text", "correct", "id"), ["text", "id"], ["id"]),
        (log_of(9).select("text", "correct"), ["text"], ["correct"]),
        (texts, ["more", "id"], ["id"]),
        (pl.DataFrame({"list": [[1]]}), ["list"], []),
    ):
        path = write(frame, tmp_path / "log.parquet", 50)
        shard = open_parquet(path)
        assert _beside(Part(shard, shard.schema(), sparse=False, label="log"), names) == beside


def test_a_row_that_is_not_there_is_seen(tmp_path: Path) -> None:
    for ending in (".parquet", ".csv"):
        path = write(log_of(9), tmp_path / f"log{ending}", 50)
        with pytest.raises(InternalError, match="ended before the last row"):
            pick(opened(path, path), in_turn([[np.array([2, 9])]]), 9)


def test_rows_in_another_order_are_seen(tmp_path: Path) -> None:
    path = write(log_of(9), tmp_path / "log.parquet", 50)
    with pytest.raises(InternalError, match="were not the next ones wanted"):
        pick(opened(path, path), in_turn([[np.array([5])], [np.array([2])]]), 5)


def test_what_stops_the_wanted_rows_stops_the_pass(tmp_path: Path) -> None:
    path = write(log_of(ROWS), tmp_path / "log.parquet", 50)

    def wanted() -> Iterator[Wanted]:
        yield Wanted(np.array([1]), np.array([0]))
        raise DataError("the disk is gone")

    with pytest.raises(DataError, match="the disk is gone"):
        pick(opened(path, path), wanted(), ROWS - 1)


def test_a_damaged_file_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(log_of(ROWS), tmp_path / "log.parquet", 50)
    pair = opened(path, path)
    _, a, _ = sides(pair)
    shard = a.cook.parts[0].shard
    monkeypatch.setattr(shard, "_frame", pl.scan_parquet(path).head(100))
    with pytest.raises(DataError, match="400 rows by its metadata, but 100 came out of the reader"):
        pick(pair, in_turn([[np.array([1, 300])]]), 300)
