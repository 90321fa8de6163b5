"""Kinds of evaluation logs that break tools, each end to end, as `test_cases.py` has the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import streamcmp
from streamcmp import api
from streamcmp.errors import StreamcmpError
from tests.logs.harness import inspect_eval, inspect_json, inspect_sample, lm_eval, sample
from tests.logs.shards import write

STRATEGIES: tuple[Any, ...] = ("auto", "buckets")


def compared(left: Any, right: Any, **options: Any) -> dict[str, Any]:
    """The report, which must be the same under every strategy."""
    reports = [streamcmp.compare(left, right, strategy=each, **options).to_dict() for each in STRATEGIES]
    assert reports[0] == reports[1]
    return reports[0]


def cells(report: dict[str, Any]) -> tuple[int, ...]:
    return tuple(report["results"][0][name] for name in ("both_correct", "n_ab", "n_ba", "both_wrong"))


def refusal(left: Any, right: Any, **options: Any) -> str:
    """The message with which two logs are refused, the same under every strategy."""
    messages = set()
    for strategy in STRATEGIES:
        with pytest.raises(StreamcmpError) as caught:
            streamcmp.compare(left, right, strategy=strategy, **options)
        assert caught.value.exit_code == 2
        messages.add(str(caught.value))
    assert len(messages) == 1
    return messages.pop()


@pytest.mark.parametrize("form", ["lm-eval", "ndjson", "parquet"])
def test_case_30_one_row_per_document_and_filter(tmp_path: Path, form: str) -> None:
    rows = [
        sample(i, float(i), filter=name) for i in range(2) for name in ("strict-match", "flexible-extract")
    ]
    sides: list[Any] = [lm_eval(tmp_path / side, rows, "gsm8k") for side in "lr"]
    options: dict[str, Any] = {"on": "doc_id"}
    if form == "ndjson":
        options["input_format"] = "ndjson"
        del options["on"]  # detected: doc_id
    elif form == "parquet":
        sides = [
            pl.DataFrame([{k: row[k] for k in ("doc_id", "filter", "acc")} for row in rows]) for _ in "lr"
        ]
    message = refusal(*sides, **options)
    assert "duplicate ids: 4 rows of the left log and 4 rows of the right log" in message
    assert "filter: if it tells these rows apart, add it to --on" in message
    assert cells(compared(*sides, **options | {"on": "doc_id,filter"})) == (2, 0, 0, 2)
    if form == "lm-eval":
        assert cells(compared(*sides)) == (2, 0, 0, 2)  # known of the harness


@pytest.mark.parametrize("guard", ["doc_hash", "target_hash"])
def test_case_31_same_number_other_document(tmp_path: Path, guard: str) -> None:
    lm_eval(tmp_path / "l", [sample(i) for i in range(5)])
    lm_eval(
        tmp_path / "r",
        [sample(i, 0.0, prompt_hash="p", **({guard: "other"} if i < 2 else {})) for i in range(5)],
    )
    message = refusal(tmp_path / "l", tmp_path / "r")
    assert (
        "differs between the logs in 2 pairs (ids: (task=arc, doc_id=0, filter=none), (task=arc, doc_id=1"
        in message
    )
    assert "--mismatch drop" in message
    report = compared(tmp_path / "l", tmp_path / "r", mismatch="drop")
    assert cells(report) == (0, 3, 0, 0)
    pairs = {each["code"]: each["pairs"] for each in report["warnings"] if "pairs" in each}
    assert pairs == {"guard_mismatch": 2, "prompts_differ": 5}


def test_case_31_same_number_other_label(tmp_path: Path) -> None:
    left = inspect_json(tmp_path / "l.json", [inspect_sample(i) for i in range(3)])
    right = inspect_json(
        tmp_path / "r.json", [inspect_sample(i, target="B" if i == 1 else "A") for i in range(3)]
    )
    assert "target differs between the logs in 1 pair (ids: (task=arc, id=1, epoch=1))" in refusal(
        left, right
    )
    assert cells(compared(left, right, mismatch="ignore")) == (3, 0, 0, 0)


def test_case_31_a_changed_prompt_only_warns(tmp_path: Path) -> None:
    lm_eval(tmp_path / "l", [sample(i) for i in range(5)])
    lm_eval(tmp_path / "r", [sample(i, prompt_hash=f"p{i % 2}") for i in range(5)])
    report = compared(tmp_path / "l", tmp_path / "r", mismatch="error")
    assert cells(report) == (5, 0, 0, 0)
    (warning,) = report["warnings"]
    assert warning["message"].startswith("prompt_hash differs in 3 pairs")


@pytest.mark.parametrize("ending", ["eval", "json"])
def test_case_32_different_limits(tmp_path: Path, ending: str) -> None:
    writer = {"eval": inspect_eval, "json": inspect_json}[ending]
    left = writer(
        tmp_path / f"l.{ending}", [inspect_sample(i) for i in range(3)], eval={"config": {"limit": 3}}
    )
    right = writer(
        tmp_path / f"r.{ending}", [inspect_sample(i) for i in range(5)], eval={"config": {"limit": 5}}
    )
    report = compared(left, right)
    assert cells(report) == (3, 0, 0, 0)
    assert report["ledger"]["b"]["unmatched"] == 2
    assert any(
        "2 rows of the right log dropped: without a partner" in each["message"] for each in report["warnings"]
    )
    (hint,) = api.check(left, right).hints
    assert "which has 2 more: was the left run cut short by a limit" in hint.text
    assert "limit 3" in hint.text


@pytest.mark.parametrize("ending", ["eval", "json"])
@pytest.mark.parametrize("how", ["error", "no score", "null score", "nan"])
def test_case_33_errored_and_unscored_samples(tmp_path: Path, ending: str, how: str) -> None:
    kinds: dict[str, dict[str, Any]] = {
        "error": {"error": {"message": "killed"}}, "no score": {"scores": {}}, "null score": {"scores": None},
        "nan": {"scores": {"match": {"value": float("nan")}}},
    }  # fmt: skip
    odd = kinds[how]
    writer = {"eval": inspect_eval, "json": inspect_json}[ending]
    left = writer(tmp_path / f"l.{ending}", [inspect_sample(0, **odd), inspect_sample(1)])
    right = writer(tmp_path / f"r.{ending}", [inspect_sample(0), inspect_sample(1)])
    report = compared(left, right)
    assert cells(report) == (1, 0, 0, 0)
    assert report["ledger"]["a"]["missing"] == 1
    assert any(each["code"] == "unscored" for each in report["warnings"])
    assert cells(compared(left, right, missing="wrong")) == (1, 0, 1, 0)
    assert "missing outcomes: 1 row of the left log" in refusal(left, right, missing="error")


@pytest.mark.parametrize("ending", ["eval", "json"])
def test_case_34_two_scorers(tmp_path: Path, ending: str) -> None:
    writer = {"eval": inspect_eval, "json": inspect_json}[ending]
    scores = {"match": {"value": "C"}, "model_graded": {"value": "I"}}
    path = writer(tmp_path / f"l.{ending}", [inspect_sample(0, scores=scores)])
    other = writer(tmp_path / f"r.{ending}", [inspect_sample(0)])
    message = refusal(path, other)
    assert (
        "has 2 scorers: match, model_graded; name the one that says what is correct with --metric" in message
    )
    assert cells(compared(path, other, left_options={"metric": "match"})) == (1, 0, 0, 0)
    assert cells(compared(path, other, left_options={"metric": "model_graded"})) == (0, 0, 1, 0)


@pytest.mark.parametrize("form", ["eval", "json", "csv"])
def test_case_35_epochs(tmp_path: Path, form: str) -> None:
    rows = [(i, epoch, epoch == 1) for i in range(2) for epoch in (1, 2)]
    paths = []
    for side in "lr":
        path = tmp_path / f"{side}.{form}"
        if form == "csv":
            write(path, "id,epoch,correct\n" + "".join(f"{i},{e},{int(ok)}\n" for i, e, ok in rows))
        else:
            writer = {"eval": inspect_eval, "json": inspect_json}[form]
            samples = [inspect_sample(i, ok, epoch) for i, epoch, ok in rows]
            writer(path, samples, eval={"config": {"epochs": 2}})
        paths.append(path)
    message = refusal(*paths, on="id")
    assert "epoch: if it tells these rows apart, add it to --on" in message
    notes: list[str] = []
    options: dict[str, Any] = {"on": "id,epoch"} if form == "csv" else {}
    report = streamcmp.compare(*paths, on_note=notes.append, **options).to_dict()
    assert cells(report) == (2, 0, 0, 2)
    assert any("pairs of one example that differ in epoch are not independent" in note for note in notes)


def test_case_35_perturbed_copies(tmp_path: Path) -> None:
    rows = [
        {"id": i, "perturbation": kind, "correct": kind == "none"}
        for i in range(3)
        for kind in ("none", "typos")
    ]
    frame = pl.DataFrame(rows)
    assert "perturbation: if it tells these rows apart, add it to --on" in refusal(
        frame, frame.clone(), on="id"
    )
    assert cells(compared(frame, frame.clone(), on="id,perturbation")) == (3, 0, 0, 3)
    assert cells(compared(frame, frame.clone(), where="perturbation = 'none'")) == (3, 0, 0, 0)


@pytest.mark.parametrize("form", ["jsonl", "parquet", "csv"])
def test_case_36_order_is_the_only_key(tmp_path: Path, form: str) -> None:
    left = pl.DataFrame({"metrics.acc": [1.0, 0.0, 1.0, 1.0], "text": list("abcd")})
    right = left.with_columns(pl.Series("metrics.acc", [1.0, 1.0, 0.0, 1.0]))
    paths = []
    for side, frame in (("l", left), ("r", right), ("short", right.head(3))):
        path = tmp_path / f"{side}.{form}"
        if form == "jsonl":  # as lighteval's details have it: an object of metrics per row
            lines = [{"metrics": {"acc": acc}, "text": text} for acc, text in frame.iter_rows()]
            write(path, "".join(json.dumps(line) + "\n" for line in lines))
        elif form == "parquet":
            frame.select(
                pl.struct(pl.col("metrics.acc").alias("acc")).alias("metrics"), "text"
            ).write_parquet(path)
        else:
            frame.write_csv(path)
        paths.append(path)
    options: dict[str, Any] = {"score": "metrics.acc", "on": "row"}
    report = streamcmp.compare(*paths[:2], **options).to_dict()
    assert cells(report) == (2, 1, 1, 0)
    with pytest.raises(StreamcmpError, match="left log has more rows than the right one"):
        streamcmp.compare(paths[0], paths[2], **options)


def test_case_37_the_task_is_only_in_the_file_s_name(tmp_path: Path) -> None:
    for side, wrong in (("l", "arc"), ("r", "gsm8k")):
        for task in ("arc", "gsm8k"):
            lm_eval(tmp_path / side, [sample(i, float(task != wrong)) for i in range(2)], task)
    report = compared(tmp_path / "l", tmp_path / "r", by=["task"])
    slices = {row["slice"]["task"]: (row["n_ab"], row["n_ba"]) for row in report["results"] if row["slice"]}
    assert slices == {"arc": (0, 2), "gsm8k": (2, 0)}
    assert report["comparison"]["rule"]["on"][0] == "task"
