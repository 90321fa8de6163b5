"""Original logs of evaluation harnesses, straight from the folders: the counts worked out elsewhere.

The logs are not part of the project; where they are absent these tests skip.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import streamcmp
from streamcmp.errors import DataError
from tests.conftest import REFERENCE_DATA

LOGS, PAIRS = REFERENCE_DATA / "logs", REFERENCE_DATA / "pairs"
pytestmark = pytest.mark.skipif(not LOGS.is_dir(), reason="the reference logs are not beside this checkout")


def check(pair: str, left: Any, right: Any, **options: Any) -> None:
    """Ledger, cells of overall and of every slice are those expected."""
    expected = json.loads((PAIRS / pair / "expected.json").read_text())
    by = {family for (family,) in options.get("by", ())}
    for strategy in ("auto", "buckets"):
        wanted = {("overall", None): expected["overall"]} | {
            (family, value): counts
            for family, slices in expected["slices"].items()
            if family in by
            for value, counts in slices.items()
        }
        report = streamcmp.compare(left, right, strategy=strategy, **options).to_dict()
        a, b = report["ledger"]["a"], report["ledger"]["b"]
        assert (a["rows"], b["rows"]) == (expected["left_rows"], expected["right_rows"])
        assert (a["unmatched"], b["unmatched"]) == (expected["left_only"], expected["right_only"])
        assert a["unscored"] == expected["matched_missing_outcome"]
        for row in report["results"]:
            counts = wanted.pop((row["family"], row["slice"].get(row["family"])))
            assert [row[name] for name in ("both_correct", "n_ab", "n_ba", "both_wrong", "n")] == [
                counts[name] for name in ("both_right", "n_ab", "n_ba", "both_wrong", "n")
            ]
        assert not wanted


@pytest.mark.parametrize("what", ["gsm8k", "mmlu_pro_plus"])
def test_lm_eval_folders(what: str) -> None:
    tuned, base = (LOGS / "lm_eval" / side / f"samples_{what}*" for side in ("tuned", "base"))
    check(f"lmeval_{what}__tuned__vs__base", tuned, base, by=[("task",)])


def test_lm_eval_whole_folders() -> None:
    report = streamcmp.compare(LOGS / "lm_eval" / "tuned", LOGS / "lm_eval" / "base").to_dict()
    assert report["ledger"]["a"]["paired"] == 12
    overall = report["results"][0]
    assert [overall[name] for name in ("both_correct", "n_ab", "n_ba", "both_wrong")] == [4, 0, 4, 4]


@pytest.mark.parametrize(
    ("left", "right"), [("175b_finetuning", "175b_verification"), ("6b_verification", "175b_finetuning")]
)
def test_both_models_in_one_file_of_nested_objects(left: str, right: str) -> None:
    path = LOGS / "gsm8k_wide" / "example_model_solutions.jsonl"
    check(
        f"gsm8k__{left}__vs__{right}",
        path,
        path,
        correct=(f"{left}.is_correct", f"{right}.is_correct"),
        left_name="left",
        right_name="right",
    )


def test_labels_in_one_file_and_predictions_in_two() -> None:
    """One line per example in all three: the predictions have no header, the true labels neither."""
    folder = LOGS / "sst2"
    check(
        "sst2__cnn__vs__lstm",
        folder / "sst2-cnn-output.txt",
        folder / "sst2-lstm-output.txt",
        input_format="lines",
        columns="prediction",
        truth=folder / "sst2-dataset.tsv",
        truth_columns="text,label",
        on="row",
        by=[("label",)],
    )


def test_inspect_json() -> None:
    folder = LOGS / "inspect"
    pair = "inspect_arc__qwen2.5-0.5b__vs__sonnet-4"
    check(pair, folder / "data_arc_qwen.json", folder / "data_arc_sonnet.json")


def test_inspect_eval_without_any_score() -> None:
    unscored, scored = sorted((LOGS / "inspect").glob("2025-*.eval"))
    with pytest.raises(DataError, match="holds no score at all: none of its 10 samples was scored by match"):
        streamcmp.compare(unscored, scored)
    report = streamcmp.compare(scored, scored.parent / "2025-02-11T15-18*", left_name="a").to_dict()
    overall = report["results"][0]
    assert [overall[name] for name in ("both_correct", "n_ab", "n_ba", "both_wrong")] == [8, 0, 0, 2]


def test_one_log_of_inspect_in_both_of_its_formats() -> None:
    report = streamcmp.compare(LOGS / "inspect" / "log_formats.eval", LOGS / "inspect" / "log_formats.json")
    assert report.to_dict()["ledger"]["a"]["paired"] == 1
