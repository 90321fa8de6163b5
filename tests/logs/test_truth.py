from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from streamcmp.comparison import Comparison, LogRequest
from streamcmp.errors import DataError, NoColumn, TypeConflict, UsageError
from streamcmp.logs import open_pair
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
        opened(PREDICTIONS, PREDICTIONS, truth=truth)


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


def test_positions_have_no_truth() -> None:
    with pytest.raises(UsageError, match="--on row"):
        opened(PREDICTIONS, PREDICTIONS, truth=TRUTH, on=("row",))


def test_the_budget(tmp_path: Path) -> None:
    path = tmp_path / "truth.csv"
    TRUTH.write_csv(path)
    for source in (path, TRUTH):
        request: Any = Comparison(LogRequest(PREDICTIONS), LogRequest(PREDICTIONS), truth=source)
        with pytest.raises(DataError, match="--truth must fit"):
            open_pair(request, memory_budget=10)
        assert open_pair(request, memory_budget=10_000).rule.id_type == "int"
