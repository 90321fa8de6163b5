"""Shards of ids: each counted alone, they add up to the whole, and a set that is not whole is refused."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import streamcmp
from streamcmp.comparison import Comparison, IdShard, LogRequest
from streamcmp.engines.local import count
from streamcmp.errors import DataError, UsageError
from streamcmp.resources import Resources
from streamcmp.stable_hash import shards_of
from streamcmp.tally import Tally
from tests.cli.conftest import Cli
from tests.test_laws import (
    CANNOT_HOLD,
    RESOURCES,
    expected,
    frame,
    logs,
    observed,
    request,
    rows_of,
    same,
    write,
)

SHARDS = st.sampled_from([1, 2, 3, 5])


def fewer(share: int) -> settings:
    """Each example counts several shards: so many times fewer of them."""
    return settings(
        max_examples=settings.default.max_examples // share,  # type: ignore[union-attr]
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


def shards(comparison: Comparison, resources: Resources, of: int) -> list[Tally]:
    return [
        count(replace(comparison, shard=IdShard(number, of)), resources, sketched=number % 2 == 0).tally
        for number in range(of)
    ]


@given(logs(), RESOURCES, SHARDS)
@fewer(4)
def test_shards_add_up_to_the_whole(case: dict[str, Any], resources: Resources, of: int) -> None:
    left, right = (frame(rows_of(case, side), case["dtype"]) for side in ("a", "b"))
    same(observed(streamcmp.merge(shards(request(case, left, right), resources, of))), expected(case))


@given(logs(), RESOURCES, SHARDS, st.sampled_from(["parquet", "ndjson", "ipc"]))
@fewer(10)
def test_shards_of_files_add_up_to_the_whole(
    tmp_path_factory: pytest.TempPathFactory, case: dict[str, Any], resources: Resources, of: int, form: str
) -> None:
    folder = tmp_path_factory.mktemp("files")
    form = "frame" if case["dtype"] in CANNOT_HOLD[form] else form
    files = [
        write([rows_of(case, side)], folder / side, form, case["dtype"], rows_of(case, side)[0])
        for side in ("a", "b")
    ]
    parts = shards(request(case, *files), resources, of)
    random.Random(of).shuffle(parts)
    total = streamcmp.merge(parts)
    same(observed(total), expected(case))
    if form != "frame":
        assert [str(part.shard) for part in total.parts] == ["0/1"]


@given(logs(["small int", "text"], ["same order"]), SHARDS, st.booleans())
@fewer(4)
def test_by_position_and_in_wide_logs(case: dict[str, Any], of: int, wide: bool) -> None:
    case = {**case, "carried": ("a", "b"), "by": (("domain",),), "guards": ()}
    left, right = (frame(rows_of(case, side), case["dtype"]) for side in ("a", "b"))
    if wide:
        table = left.with_columns(other=right["correct"])
        asked = Comparison(
            LogRequest(table, correct="correct"), LogRequest(table, correct="other"), by=(("domain",),)
        )
    else:
        asked = replace(request(case, left, right), on=("row",))
    whole = count(asked, Resources(chunk_rows=3)).tally
    parts = shards(asked, Resources(chunk_rows=3), of)
    assert streamcmp.merge(parts) == whole
    assert [part.ledger and part.ledger.a.rows for part in parts] == [
        len(range(number, left.height, of)) for number in range(of)
    ]


@given(st.integers(1, 30), st.integers(1, 30), st.data())
def test_shards_overlap_where_a_hash_is_in_both(one: int, two: int, data: st.DataObject) -> None:
    first = IdShard(data.draw(st.integers(0, one - 1)), one)
    second = IdShard(data.draw(st.integers(0, two - 1)), two)
    in_both = any(value % one == first.number and value % two == second.number for value in range(one * two))
    assert first.overlaps(second) == in_both


@pytest.mark.parametrize(
    "text", ["", "3", "16/16", "-1/16", "3/0", "0/0", "a/b", "3/16/2", "0/1000001", "1.5/2", "٣/٤"]
)
def test_what_is_no_shard(text: str) -> None:
    with pytest.raises(UsageError, match="--shard"):
        IdShard.parse(text)


LEFT = pl.DataFrame({"id": [*range(40), None], "correct": [number % 3 > 0 for number in range(41)]})
RIGHT = LEFT.with_columns(correct=pl.Series([number % 4 > 0 for number in range(41)]))


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    LEFT.write_parquet("left.parquet")
    RIGHT.sample(fraction=1, shuffle=True, seed=1).write_parquet("right.parquet")
    return tmp_path


BOTH = ("--left", "left.parquet", "--right", "right.parquet")


@pytest.mark.usefixtures("files")
def test_a_shard_holds_the_ids_whose_hash_it_names() -> None:
    place = shards_of(LEFT["id"], 4)
    for number in range(4):
        ledger = streamcmp.count("left.parquet", "right.parquet", shard=f"{number}/4").ledger
        assert ledger is not None
        assert ledger.a.rows == ledger.b.rows == (place == number).sum()
        assert ledger.a.null_id == (number == 0)


@pytest.mark.usefixtures("files")
def test_the_command_counts_merges_and_finalizes_shards(cli: Cli) -> None:
    whole = cli("run", *BOTH, "--format", "json")
    for number in range(3):
        assert cli("count", *BOTH, "--shard", f"{number}/3", "--output", f"{number}.tally").code == 0
    assert cli("merge", "2.tally", "0.tally", "--output", "some.tally").code == 0
    incomplete = cli("finalize", "some.tally")
    assert incomplete.code == 2
    assert "the tally is incomplete: of its inputs shard 1/3 is missing" in incomplete.err
    twice = cli("merge", "some.tally", "0.tally", "--output", "x.tally")
    assert twice.code == 2
    assert "0.tally: two of these tallies cover the same examples (shard 0/3 of the same inputs)" in twice.err
    merged = cli("merge", "some.tally", "1.tally", "--output", "all.tally")
    assert merged.code == 0
    assert "warning" not in merged.err
    assert json.loads(cli("finalize", "all.tally", "--format", "json").out) == json.loads(whole.out)
    again = cli("merge", "all.tally", "1.tally", "--output", "x.tally")
    assert "(shards 0/1 and 1/3 of the same inputs)" in again.err


@pytest.mark.usefixtures("files")
def test_shards_of_other_numbers_and_of_other_inputs(cli: Cli) -> None:
    LEFT.with_columns(pl.col("id") + 100).write_parquet("left2.parquet")
    RIGHT.with_columns(pl.col("id") + 100).write_parquet("right2.parquet")
    halves = [
        streamcmp.count("left.parquet", "right.parquet", shard=shard) for shard in ("0/2", "1/4", "3/4")
    ]
    another = [streamcmp.count("left2.parquet", "right2.parquet", shard=shard) for shard in ("1/2", "0/2")]
    for one, two in product(halves, another):
        assert len((one + two).parts) == 2
    total = streamcmp.merge(halves, another)
    assert len(total.parts) == 2
    assert total == streamcmp.merge(
        streamcmp.count("left.parquet", "right.parquet"), streamcmp.count("left2.parquet", "right2.parquet")
    )
    with pytest.raises(UsageError, match=r"shards 1/4 and 1/2 of the same inputs"):
        streamcmp.merge(halves[1], streamcmp.count("left.parquet", "right.parquet", shard="1/2"))
    assert "incomplete" in cli("finalize", _saved(streamcmp.merge(halves, another[0]))).err


def _saved(tally: Tally) -> Path:
    tally.save("saved.tally")
    return Path("saved.tally")


@pytest.mark.usefixtures("files")
def test_logs_that_differ_in_length_by_position_fail_in_every_shard() -> None:
    LEFT.head(7).write_parquet("left.parquet")
    for number in range(3):
        with pytest.raises(DataError, match=r"the right log has more rows .*ends after 7"):
            streamcmp.count("left.parquet", "right.parquet", on="row", shard=f"{number}/3")


def test_a_shard_without_rows_counts_nothing() -> None:
    one = LEFT.head(1)
    parts = [streamcmp.count(one, one, shard=f"{number}/5") for number in range(5)]
    assert sorted(part.ledger.a.rows for part in parts if part.ledger) == [0, 0, 0, 0, 1]
    assert streamcmp.merge(parts) == streamcmp.count(one, one)


@pytest.mark.usefixtures("files")
def test_tallies_of_the_first_version_are_read() -> None:
    streamcmp.count("left.parquet", "right.parquet").save("new.tally")
    table = pq.read_table("new.tally")
    fields = json.loads(table.schema.metadata[b"streamcmp.tally"])
    old = {name: fields[name] for name in ("rule", "wide")}
    old |= {"version": 1, "parts": [{"inputs": fields["inputs"][0], "shard": "1/1"}]}
    pq.write_table(table.replace_schema_metadata({b"streamcmp.tally": json.dumps(old).encode()}), "old.tally")
    new, loaded = Tally.load("new.tally"), Tally.load("old.tally")
    assert loaded == new
    assert loaded.parts == new.parts
    assert loaded.sketch is None


# What days have in common.


def test_overlapping_parts_are_announced(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for day, first in enumerate((0, 100, 150)):
        log = pl.DataFrame({"id": range(first, first + 100), "correct": [True, False] * 50})
        log.write_parquet(f"{day}.parquet")
        counted = cli(
            "count", "--left", f"{day}.parquet", "--right", f"{day}.parquet", "--output", f"{day}.tally"
        )
        assert counted.code == 0
    apart = cli("merge", "0.tally", "1.tally", "--output", "x.tally")
    assert "warning" not in apart.err
    assert "parts_overlap" not in cli("finalize", "x.tally", "--format", "json").out
    merged = cli("merge", "0.tally", "1.tally", "2.tally", "--output", "x.tally")
    assert merged.code == 0
    assert "warning: 2.tally and the tallies before it share about 50 ids" in merged.err
    report = json.loads(cli("finalize", "x.tally", "--format", "json").out)
    (warning,) = [one for one in report["warnings"] if one["code"] == "parts_overlap"]
    assert warning["ids"] == 50
    said: list[str] = []
    streamcmp.merge(Tally.load("1.tally"), "2.tally", on_warning=said.append)
    assert len(said) == 1
