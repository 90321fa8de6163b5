from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import streamcmp
from streamcmp.errors import DataError, UsageError
from streamcmp.logs.formats.lm_eval import LmEvalShard
from streamcmp.logs.source import open_shards
from tests.logs.harness import lm_eval, sample
from tests.logs.shards import read


def compared(left: Path, right: Path, **options: Any) -> tuple[dict[str, Any], list[str]]:
    """The report and the notes."""
    notes: list[str] = []
    return streamcmp.compare(left, right, on_note=notes.append, **options).to_dict(), notes


def cells(report: dict[str, Any]) -> tuple[int, ...]:
    return tuple(report["results"][0][name] for name in ("both_correct", "n_ab", "n_ba", "both_wrong"))


def test_a_folder_of_tasks_pairs_by_task_doc_and_filter(tmp_path: Path) -> None:
    for side, wrong in (("l", 0), ("r", 2)):
        lm_eval(tmp_path / side, [sample(i, float(i != wrong)) for i in range(3)])
        lm_eval(
            tmp_path / side, [sample(i, i == wrong, filter=f) for i in range(3) for f in ("x", "y")], "gsm8k"
        )
        (tmp_path / side / "results_2025-09-09T13-42-42.857006.json").write_text('{\n "results": {}\n}')
    report, notes = compared(tmp_path / "l", tmp_path / "r", by=["task", "doc.category", "filter"])
    assert cells(report) == (1, 3, 3, 2)
    tasks = {row["slice"]["task"]: row["n"] for row in report["results"] if row["family"] == "task"}
    assert tasks == {"arc": 3, "gsm8k": 6}
    assert {row["family"]: 0 for row in report["results"]}.keys() == {
        "overall",
        "task",
        "doc.category",
        "filter",
    }
    assert report["comparison"]["rule"]["on"] == ["task", "doc_id", "filter"]
    assert report["comparison"]["rule"]["guards"] == ["doc_hash", "target_hash"]
    assert any("passed over what is no log of lm-eval: results_2025" in note for note in notes)
    assert any("pairs of one example that differ in filter are not independent" in note for note in notes)
    _, notes = compared(tmp_path / "l" / "samples_arc*", tmp_path / "r" / "samples_arc*")
    assert not any("not independent" in note for note in notes)


@pytest.mark.parametrize("value", [True, 1, 1.0, "True", "1.0"])
def test_verdicts_of_every_spelling(tmp_path: Path, value: Any) -> None:
    lm_eval(tmp_path / "l", [sample(0, value), sample(1, 0)])
    lm_eval(tmp_path / "r", [sample(0, 0), sample(1, False)])
    assert cells(compared(tmp_path / "l", tmp_path / "r")[0]) == (0, 1, 0, 1)


def test_bare_nan_is_missing(tmp_path: Path) -> None:
    lm_eval(tmp_path / "l", [sample(0, float("nan")), sample(1, 0)])
    assert "NaN" in next((tmp_path / "l").iterdir()).read_text()
    lm_eval(tmp_path / "r", [sample(0, 1), sample(1, 1)])
    report, _ = compared(tmp_path / "l", tmp_path / "r")
    assert cells(report) == (0, 0, 1, 0)
    assert report["ledger"]["a"]["missing"] == 1


def test_several_metrics_one_must_be_named(tmp_path: Path) -> None:
    both = {"metrics": ["acc", "acc_norm"], "acc_norm": 0.0}
    lm_eval(tmp_path / "l", [sample(0, **both)])
    lm_eval(tmp_path / "r", [sample(0, **both | {"acc_norm": 1.0})])
    with pytest.raises(UsageError, match=r"has 2 metrics: acc, acc_norm; name the one .* --metric"):
        compared(tmp_path / "l", tmp_path / "r")
    with pytest.raises(UsageError, match="has no metric f1; it has acc, acc_norm"):
        compared(tmp_path / "l", tmp_path / "r", metric="f1")
    assert cells(compared(tmp_path / "l", tmp_path / "r", metric="acc_norm")[0]) == (0, 0, 1, 0)
    assert cells(compared(tmp_path / "l", tmp_path / "r", metric="acc")[0]) == (1, 0, 0, 0)
    apart, _ = compared(tmp_path / "l", tmp_path / "r", left_options={"metric": "acc_norm"}, metric="acc")
    assert cells(apart) == (0, 0, 1, 0)


def test_tasks_may_have_different_metrics(tmp_path: Path) -> None:
    for side, value in (("l", 1.0), ("r", 0.0)):
        lm_eval(tmp_path / side, [sample(0, value)])
        lm_eval(tmp_path / side, [sample(0, value, metric="exact_match")], "gsm8k")
    report, _ = compared(tmp_path / "l", tmp_path / "r")
    assert cells(report) == (0, 2, 0, 0)
    assert report["comparison"]["rule"]["outcome"]["a"] == {"kind": "score", "score": "acc,exact_match"}
    assert cells(compared(tmp_path / "l", tmp_path / "r", metric="exact_match,acc")[0]) == (0, 2, 0, 0)
    with pytest.raises(UsageError, match=r"samples_gsm8k_.* has no metric acc; it has exact_match"):
        compared(tmp_path / "l", tmp_path / "r", metric="acc")


def test_logs_without_a_list_of_metrics(tmp_path: Path) -> None:
    rows = [{k: v for k, v in sample(0, note="x").items() if k != "metrics"}]
    for side in "lr":
        lm_eval(tmp_path / side, rows)
    assert cells(compared(tmp_path / "l", tmp_path / "r")[0]) == (1, 0, 0, 0)
    for side in "lr":
        lm_eval(tmp_path / side, [{k: v for k, v in row.items() if k != "acc"} for row in rows])
    with pytest.raises(DataError, match="holds no metric: neither a list"):
        compared(tmp_path / "l", tmp_path / "r")


def test_the_newest_run_of_a_task_counts_and_a_note_says_so(tmp_path: Path) -> None:
    lm_eval(tmp_path / "l", [sample(0, 0.0)], date="2025-01-01T00-00-00.000001")
    lm_eval(tmp_path / "l", [sample(0, 1.0)], date="2025-01-02T00-00-00.000001")
    lm_eval(tmp_path / "r", [sample(0, 0.0)])
    for left in (tmp_path / "l", tmp_path / "l" / "samples_arc_*.jsonl"):
        report, notes = compared(left, tmp_path / "r")
        assert cells(report) == (0, 1, 0, 0)
        assert "left: arc was run 2 times; the newest counts, 2025-01-02T00-00-00.000001" in notes


def test_two_models_in_one_folder_are_refused(tmp_path: Path) -> None:
    for model in ("m1", "m2"):
        lm_eval(tmp_path / "l" / model, [sample(0)])
    with pytest.raises(UsageError, match=r"samples of task arc lie in 2 folders .*; a log is one model's"):
        open_shards(tmp_path / "l")


def test_a_changed_document_is_a_mismatch_and_a_changed_prompt_a_warning(tmp_path: Path) -> None:
    lm_eval(tmp_path / "l", [sample(i) for i in range(4)])
    lm_eval(
        tmp_path / "r",
        [sample(i, 0.0, prompt_hash="other") for i in range(3)] + [sample(3, doc_hash="other")],
    )
    with pytest.raises(
        DataError, match=r"doc_hash, target_hash differs .* in 1 pair \(ids: \(task=arc, doc_id=3"
    ):
        compared(tmp_path / "l", tmp_path / "r")
    for strategy in ("auto", "buckets"):
        report, _ = compared(tmp_path / "l", tmp_path / "r", mismatch="drop", strategy=strategy)
        assert cells(report) == (0, 3, 0, 0)
        (warning,) = [each for each in report["warnings"] if each["code"] == "prompts_differ"]
        assert warning["pairs"] == 3
    notes: list[str] = []
    streamcmp.count(tmp_path / "l", tmp_path / "r", on_note=notes.append)
    assert any(note.startswith("prompt_hash differs in 3 pairs") for note in notes)
    report, _ = compared(tmp_path / "l", tmp_path / "l" / "samples_*")
    assert "prompts_differ" not in {each["code"] for each in report["warnings"]}


def test_detected_from_content_under_any_name_and_compressed(tmp_path: Path) -> None:
    line = json.dumps(sample(0)) + "\n"
    (tmp_path / "x.jsonl").write_text("\n" + line)
    (tmp_path / "samples_a_b_2025-09-09T13-42-42.857006.jsonl.gz").write_bytes(gzip.compress(line.encode()))
    (plain,) = open_shards(tmp_path / "x.jsonl")
    (packed,) = open_shards(tmp_path / "samples_a_b_2025-09-09T13-42-42.857006.jsonl.gz")
    assert isinstance(plain, LmEvalShard)
    assert isinstance(packed, LmEvalShard)
    assert plain.task is None
    assert "task" not in plain.schema()
    assert read(packed, "task", "doc_id", "doc.question", "arguments.gen_args_0.arg_0") == [
        ("a_b", 0, "q0", "Q: q0")
    ]
    (table,) = open_shards(tmp_path / "x.jsonl", input_format="ndjson")
    assert not isinstance(table, LmEvalShard)


def test_what_only_looks_like_it_is_a_table(tmp_path: Path) -> None:
    (tmp_path / "samples_a_2025-09-09T13-42-42.857006.jsonl").write_text('{"id": 1, "correct": true}\n')
    (shard,) = open_shards(tmp_path)
    assert not isinstance(shard, LmEvalShard)
    with pytest.raises(UsageError, match="is no log of an evaluation harness"):
        compared(tmp_path, tmp_path, metric="acc")
