from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import streamcmp
from streamcmp.comparison import Comparison, LogRequest
from streamcmp.errors import DataError, NoColumn, StreamcmpError, TypeConflict, UsageError
from streamcmp.logs import lookup as lookup_module
from streamcmp.logs import open_pair
from streamcmp.logs.canonical import OpenedPair
from streamcmp.logs.judged import Held, JudgedCook
from streamcmp.logs.model import LogPair, family_column
from streamcmp.logs.reading import ShardedLog
from streamcmp.logs.waiting import Waiting
from tests.logs.opened import opened, outcomes, read

PREDICTIONS = pl.DataFrame({"id": [1, 2, 3, 4], "pred": ["a", "b", None, "d"], "s": ["x", "y", "x", "y"]})
TRUTH = pl.DataFrame({"id": [4, 3, 2, 1], "label": [None, "c", "x", "a"]})


def test_labels_are_found_by_id() -> None:
    pair = opened(PREDICTIONS, PREDICTIONS.reverse(), truth=TRUTH, by=(("s",),))
    assert outcomes(pair.a) == [1, 0, 2, 2]
    assert outcomes(pair.b) == [2, 2, 0, 1]
    assert pair.rule.outcome["a"] == {"kind": "equal", "prediction": "pred", "truth": True}
    assert read(pair.a, 3).columns == ["id", "outcome", "family0"]
    assert [batch.height for batch in pair.a.batches(3)] == [3, 1]


def test_an_absent_id_is_missing() -> None:
    assert outcomes(opened(PREDICTIONS, PREDICTIONS, truth=TRUTH.filter(pl.col("id") != 1)).a) == [2, 0, 2, 2]


def test_null_ids_find_no_label() -> None:
    logs = pl.DataFrame({"id": [None, float("nan"), 1.0, 9.0], "pred": ["a"] * 4})
    assert outcomes(opened(logs, logs, truth=TRUTH).a) == [2, 2, 1, 2]


def test_own_columns_and_shards(tmp_path: Path) -> None:
    folder = tmp_path / "truth"
    folder.mkdir()
    TRUTH.head(2).rename({"id": "Doc_ID", "label": "gold"}).write_parquet(folder / "1.parquet")
    TRUTH.tail(2).rename({"id": "Doc_ID", "label": "gold"}).write_parquet(folder / "2.parquet")
    assert outcomes(opened(PREDICTIONS, PREDICTIONS, truth=folder).a) == [1, 0, 2, 2]
    with pytest.raises(UsageError, match="id columns"):
        opened(PREDICTIONS, PREDICTIONS, truth=TRUTH.rename({"id": "nr"}))
    with pytest.raises(NoColumn, match="label"):
        opened(PREDICTIONS, PREDICTIONS, truth=TRUTH.rename({"label": "l"}))
    named = opened(PREDICTIONS, PREDICTIONS, truth=TRUTH.rename({"label": "l"}), label="l")
    assert outcomes(named.a) == [1, 0, 2, 2]


def test_compound_and_filtered() -> None:
    logs = PREDICTIONS.rename({"s": "task"})
    truth = TRUTH.join(logs.select("id", "task"), on="id")
    pair = opened(logs, logs, truth=truth, on=("task", "id"), where="id < 4")
    assert outcomes(pair.a) == [1, 0, 2, 2]
    assert read(pair.a)["filtered"].to_list() == [False, False, False, True]


@pytest.mark.parametrize(
    ("truth", "said"),
    [
        (pl.DataFrame({"id": [1, 2, 1], "label": ["a", "b", "a"]}), "id 1 occurs more than once"),
        (pl.DataFrame({"id": [1, None], "label": ["a", "b"]}), "'id' is None"),
        (pl.DataFrame({"id": [1.0, 1.5], "label": ["a", "b"]}), "'id' is 1.5"),
    ],
)
def test_ids_that_cannot_be_looked_up(truth: pl.DataFrame, said: str) -> None:
    with pytest.raises(DataError, match=said):
        outcomes(opened(PREDICTIONS, PREDICTIONS, truth=truth).a)


def test_id_types_are_decided_with_the_logs(tmp_path: Path) -> None:
    with pytest.raises(TypeConflict, match="--id-type"):
        opened(PREDICTIONS, PREDICTIONS, truth=TRUTH.cast({"id": pl.String}))
    path = tmp_path / "truth.csv"
    TRUTH.write_csv(path)
    assert outcomes(opened(PREDICTIONS, PREDICTIONS, truth=path).a) == [1, 0, 2, 2]
    TRUTH.with_columns(pl.format("00{}", "id").alias("id")).write_csv(path)
    assert outcomes(opened(PREDICTIONS, PREDICTIONS, truth=path, id_type="int").a) == [1, 0, 2, 2]


def test_label_types(tmp_path: Path) -> None:
    logs = pl.DataFrame({"id": [1, 2], "pred": [1, 2]})
    truth = pl.DataFrame({"id": [1, 2], "label": ["1", "3"]})
    with pytest.raises(TypeConflict, match="--label-type"):
        opened(logs, logs, truth=truth)
    assert outcomes(opened(logs, logs, truth=truth, label_type="number").a) == [1, 0]
    path = tmp_path / "truth.csv"
    truth.write_csv(path)
    assert outcomes(opened(logs, logs, truth=path).a) == [1, 0]
    numbers = pl.DataFrame({"id": [1, 2], "label": [1.4, 3.0]})
    assert outcomes(opened(logs, logs, truth=numbers, tolerance=0.5).a) == [1, 0]
    pl.DataFrame({"id": [1, 2], "pred": ["1", "x"]}).write_csv(path)
    with pytest.raises(DataError, match="row 2: 'pred' is 'x'"):
        outcomes(opened(path, logs, truth=numbers).a)


def test_a_truth_that_fits_is_held(tmp_path: Path) -> None:
    path = tmp_path / "truth.csv"
    TRUTH.write_csv(path)
    for source in (path, TRUTH):
        request = Comparison(LogRequest(PREDICTIONS), LogRequest(PREDICTIONS), truth=source)
        for budget, kind in ((None, Held), (10_000, Held), (100, Waiting)):
            pair = open_pair(request, memory_budget=budget)
            assert isinstance(pair.a, ShardedLog)
            assert outcomes(pair.a) == [1, 0, 2, 2]
            assert isinstance(pair.a.cook, JudgedCook)
            assert [type(each) for each in pair.a.cook.ready().attached] == [kind]


def test_a_truth_of_which_no_part_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup_module, "_MOST_PARTS", 2)
    many = pl.select(id=pl.int_range(1000), label=pl.lit("x"))
    pair = open_pair(
        Comparison(LogRequest(PREDICTIONS), LogRequest(PREDICTIONS), truth=many), memory_budget=1000
    )
    with pytest.raises(
        DataError, match="too large for the memory: not even its 4th part fits 0 MB; raise --memory"
    ):
        outcomes(pair.a)


def frames(
    columns: dict[str, st.SearchStrategy[Any]], dtypes: dict[str, Any]
) -> st.SearchStrategy[pl.DataFrame]:
    """Frames of up to 30 rows with these values."""
    row = st.fixed_dictionaries(columns)
    return st.lists(row, min_size=1, max_size=30).map(lambda rows: pl.DataFrame(rows, schema=dtypes))


def decoded(pair: LogPair, rows: pl.DataFrame) -> list[tuple[Any, ...]]:
    """Canonical rows with slices for codes, which are given in the order in which threads come to them."""
    cuts = [
        pair.codecs[index].decode(rows.drop_in_place(family_column(index)).to_numpy())
        for index in range(len(pair.codecs))
    ]
    return rows.hstack([column for cut in cuts for column in cut.get_columns()]).rows()


IDS = st.one_of(st.none(), st.integers(0, 40))
LABELS = st.sampled_from(["1", "2", "1.0", "x", "", None])


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
@pytest.mark.parametrize(
    "options",
    [{}, {"where": "id > 5"}, {"label_type": "number"}, {"tolerance": 0.5}, {"by": (("s",),)}],
    ids=repr,
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
@given(data=st.data())
def test_parts_tell_what_the_whole_tells(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, ending: str, options: dict[str, Any]
) -> None:
    """The same outcomes row by row, or the same error."""
    log = {"id": pl.Int64, "pred": pl.String, "s": pl.String}
    logs = frames({"id": IDS, "pred": LABELS, "s": LABELS}, log)
    truth = data.draw(
        frames({"id": IDS if data.draw(st.integers(0, 9)) == 0 else st.integers(0, 40), "label": LABELS},
               {"id": pl.Int64, "label": pl.String})
    )  # fmt: skip
    if data.draw(st.booleans()):
        truth = truth.unique("id", maintain_order=True)
    folder = tmp_path_factory.mktemp("logs")
    paths = {}
    for name, frame in (("l", data.draw(logs)), ("r", data.draw(logs)), ("t", truth)):
        paths[name] = folder / f"{name}.{ending}"
        write: dict[str, Any] = {
            "parquet": frame.write_parquet, "csv": frame.write_csv, "jsonl": frame.write_ndjson
        }  # fmt: skip
        write[ending](paths[name])
    request = Comparison(LogRequest(paths["l"]), LogRequest(paths["r"]), truth=paths["t"], **options)

    def told(held: int, chunk_rows: int) -> object:
        try:
            with patch.object(lookup_module, "_SHARE", 10**9 // held):
                pair = open_pair(request, memory_budget=10**9)
            return [decoded(pair, read(log, chunk_rows)) for log in (pair.a, pair.b)]
        except StreamcmpError as error:
            return str(error)

    whole = told(10**9, 7)
    for parts in (told(100, 7), told(500, 3)):
        # Text where numbers are needed, and a truth with an id twice: each way meets another one first.
        both = "needs numbers" in str(parts) and "occurs more than once" in str(whole)
        assert parts == whole or both


@pytest.mark.parametrize("strategy", ["auto", "lockstep", "merge", "direct", "buckets"])
def test_every_strategy_with_a_truth_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strategy: Any
) -> None:
    rows = 300_000
    log = pl.select(id=pl.int_range(rows), pred=pl.int_range(rows) % 7, s=pl.int_range(rows) % 3)
    other = log.with_columns(pred=pl.col("pred") * 3 % 7)
    truth = pl.select(id=pl.int_range(0, rows + 1000, 2), label=pl.int_range(0, rows + 1000, 2) % 5)
    for name, frame in (("l", log), ("r", other), ("t", truth.sample(fraction=1, shuffle=True, seed=1))):
        frame.write_parquet(tmp_path / f"{name}.parquet")
    spill = tmp_path / "spill"
    spill.mkdir()

    def report() -> object:
        return streamcmp.compare(
            tmp_path / "l.parquet", tmp_path / "r.parquet", truth=tmp_path / "t.parquet", by="s",
            strategy=strategy, memory="64MiB", spill_dir=spill,
        ).to_dict()  # fmt: skip

    whole = report()
    monkeypatch.setattr(lookup_module, "_SHARE", 64)
    assert report() == whole
    assert not list(spill.iterdir())


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_first_bad_row_is_named_whichever_part_finds_it(tmp_path: Path, side: str) -> None:
    """Text that differs while the numbers agree is refused; the part of the truth that tells comes late."""
    rows = 50
    good = pl.select(id=pl.int_range(rows), pred=pl.lit("1"))
    bad = good.with_columns(
        pred=pl.when(pl.col("id").is_in([7, 20, 33])).then(pl.lit("1.0")).otherwise("pred")
    )
    for name, frame in (("good", good), ("bad", bad), ("t", good.rename({"pred": "label"}))):
        frame.write_csv(tmp_path / f"{name}.csv")
    paths = [tmp_path / "bad.csv", tmp_path / "good.csv"][:: 1 if side == "left" else -1]
    left, right = map(LogRequest, paths)
    pair = open_pair(Comparison(left, right, truth=tmp_path / "t.csv"), memory_budget=400)
    with pytest.raises(DataError, match=r"row 8: 'pred' is '1\.0'"):
        outcomes(pair.a if side == "left" else pair.b)


def test_a_wide_log_and_its_truth_in_parts() -> None:
    wide = pl.select(id=pl.int_range(100), x=pl.int_range(100) % 3, y=pl.int_range(100) % 4)
    truth = pl.select(id=pl.int_range(90), label=pl.int_range(90) % 5)
    options: dict[str, Any] = {"truth": truth, "on": ("id",)}
    a, b = LogRequest(wide, prediction="x"), LogRequest(wide, prediction="y")
    whole, parts = (open_pair(Comparison(a, b, **options), memory_budget=each) for each in (None, 500))
    assert isinstance(parts, OpenedPair)
    assert isinstance(parts.both, JudgedCook)
    for one, two in zip(whole.together(30), parts.together(30), strict=True):
        assert [frame.rows() for frame in one] == [frame.rows() for frame in two]
