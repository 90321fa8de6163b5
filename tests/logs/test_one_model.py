"""Long tables (a column names the model) and wide ones (a column per model)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import streamcmp
from streamcmp.cli import main
from streamcmp.errors import UnknownColumn, UsageError
from tests.logs.shards import write

ROWS = [
    {"id": i, "model": model, "correct": bool((i + (model == "llama")) % 3), "meta": {"topic": "ab"[i % 2]}}
    for i in range(6)
    for model in ("gpt", "llama", "other")
]


def table(folder: Path, ending: str) -> Any:
    frame = pl.DataFrame(ROWS).unnest("meta")
    path = folder / f"long.{ending}"
    if ending == "frame":
        return frame
    if ending == "jsonl":
        return write(path, "".join(json.dumps(row) + "\n" for row in ROWS))
    if ending == "csv":
        frame.write_csv(path)
    else:
        frame.write_parquet(path)
    return path


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "frame"])
@pytest.mark.parametrize("strategy", ["auto", "buckets"])
def test_a_long_table_gives_what_two_tables_give(tmp_path: Path, ending: str, strategy: Any) -> None:
    source = table(tmp_path, ending)
    apart = [pl.DataFrame(ROWS).filter(pl.col("model") == model) for model in ("gpt", "llama")]
    wanted_report = streamcmp.compare(*apart, left_name="gpt", right_name="llama")
    wanted = wanted_report.to_dict()
    found = streamcmp.compare(
        source, source, model_column="model", left_model="gpt", right_model="llama", strategy=strategy
    )
    assert found.to_dict()["results"] == wanted["results"]
    assert found.to_dict()["ledger"] == wanted["ledger"]
    assert found.names == wanted_report.names == ("gpt", "llama")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(table(tmp_path, "csv"))
    options = ["--model-column", "model", "--left-model", "gpt", "--right-model", "llama"]
    assert main(["run", "--left", path, "--right", path, "--by", "topic", *options]) == 0
    assert "llama" in capsys.readouterr().out
    assert main(["run", "--left", path, "--right", path, "--by", "topic", *options[2:]]) == 2
    assert "--left-model needs --model-column" in capsys.readouterr().err
    assert main(["run", "--left", path, "--right", path, "--by", "topic", *options[:2]]) == 2
    assert "--model-column needs --left-model or --right-model" in capsys.readouterr().err
    other = str(write(tmp_path / "plain.csv", "id,correct\n" + "".join(f"{i},1\n" for i in range(6))))
    assert main(["run", "--left", path, "--right", other, *options[:4]]) == 0
    assert "right log: 0" not in capsys.readouterr().out


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "frame"])
def test_a_model_or_a_column_that_is_not_there(tmp_path: Path, ending: str) -> None:
    source = table(tmp_path, ending)
    with pytest.raises(
        UsageError, match=r"--left-model gpd: no row has it in column 'model', .* gpt, llama, other"
    ):
        streamcmp.compare(source, source, model_column="model", left_model="gpd", right_model="llama")
    expected = UsageError if ending == "jsonl" else UnknownColumn  # a key may be in no row
    with pytest.raises(expected, match="modell"):
        streamcmp.compare(source, source, model_column="modell", left_model="gpt", right_model="llama")


def test_a_bad_value_is_named_with_the_model_whose_row_it_is(tmp_path: Path) -> None:
    source = write(tmp_path / "x.csv", "id,model,correct\n1,a,1\n1,b,1\n2,a,maybe\n2,b,1\n")
    with pytest.raises(streamcmp.DataError, match=r"x\.csv \(rows of a\), row 2: 'correct' is 'maybe'"):
        streamcmp.compare(source, source, model_column="model", left_model="a", right_model="b")


@pytest.mark.parametrize("ending", ["jsonl", "parquet", "frame"])
def test_wide_tables_of_nested_objects(tmp_path: Path, ending: str) -> None:
    rows = [
        {"id": i, "m1": {"ok": i < 3}, "m2": {"ok": i > 1}, "meta": {"topic": "ab"[i % 2]}} for i in range(5)
    ]
    source: Any = tmp_path / f"wide.{ending}"
    frame = pl.DataFrame(rows)
    if ending == "frame":
        source = frame
    elif ending == "parquet":
        frame.write_parquet(source)
    else:
        frame.write_ndjson(source)
    report = streamcmp.compare(
        source, source, correct=("m1.ok", "m2.ok"), by=["meta.topic"], left_name="m1", right_name="m2",
        where="meta.topic <> 'c' AND id < 10",
    ).to_dict()  # fmt: skip
    overall = report["results"][0]
    assert [overall[name] for name in ("both_correct", "n_ab", "n_ba", "both_wrong")] == [1, 2, 2, 0]
    assert {row["slice"]["meta.topic"]: row["n"] for row in report["results"] if row["slice"]} == {
        "a": 3,
        "b": 2,
    }


def test_a_column_s_own_name_goes_before_a_field(tmp_path: Path) -> None:
    path = write(
        tmp_path / "x.jsonl", '{"id": 1, "m.ok": true, "m": {"ok": false}}\n{"id": 2, "m": {"ok": true}}\n'
    )
    report = streamcmp.compare(path, path, correct=("m.ok", "m.ok"), left_name="a", right_name="b", on="id")
    assert report.to_dict()["results"][0]["both_correct"] == 2
    frame = pl.DataFrame({"id": [1], "m.ok": [True], "m": [{"ok": False, "deep.er": {"x": 1}}]})
    report = streamcmp.compare(frame, frame.clone(), correct="m.ok", by=["m.deep.er.x"])
    assert report.to_dict()["results"][1]["slice"] == {"m.deep.er.x": 1}
    assert report.to_dict()["results"][0]["both_correct"] == 1
