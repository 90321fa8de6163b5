"""`streamcmp check`: what pairs, what does not, and hints at why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import streamcmp
from streamcmp import api
from streamcmp.cli import main
from streamcmp.engines.check import Check
from streamcmp.errors import UsageError
from tests.logs.harness import inspect_eval, inspect_sample, lm_eval, sample


def log(ids: list[Any], **more: Any) -> pl.DataFrame:
    return pl.DataFrame({"id": ids, "correct": [1] * len(ids)} | more)


def codes(found: Check) -> list[str]:
    return [hint.code for hint in found.hints]


NUMBERS = [f"{number}" for number in range(30)]


@pytest.mark.parametrize(
    ("code", "left", "right", "options"),
    [
        ("prefix", [f"arc-{n}" for n in NUMBERS], NUMBERS, {"id_strip_prefix": "arc-"}),
        ("prefix", NUMBERS, [f"test/{n}" for n in NUMBERS], {"id_strip_prefix": "test/"}),
        ("prefix", NUMBERS, [f"item{n}" for n in NUMBERS], {"id_strip_prefix": "item"}),
        ("suffix", [f"{n}_v2" for n in NUMBERS], [f"q{n}" for n in NUMBERS], None),
        (
            "suffix",
            [f"x{n}.json" for n in NUMBERS],
            [f"x{n}" for n in NUMBERS],
            {"id_regex": r"^(.*)\.json$"},
        ),
        ("normalization", ["cafe\u0301", "b"], ["caf\u00e9", "b"], {"id_normalize": "nfc"}),
        ("case", ["Abc", "b"], ["aBC", "b"], {"id_normalize": "lower"}),
        ("whitespace", ["abc ", "b"], ["abc", "b"], {"id_normalize": ["trim"]}),
        ("leading_zeros", ["007", "x08"], ["7", "x9"], None),
        (
            "path",
            [f"data/{n}/x{n}" for n in NUMBERS],
            [f"x{n}" for n in NUMBERS],
            {"id_regex": r"([^/\\]+)$"},
        ),
    ],
)
def test_a_hint_says_what_keeps_ids_apart_and_its_option_joins_them(
    code: str, left: list[str], right: list[str], options: dict[str, Any] | None
) -> None:
    found = api.check(log(left), log(right))
    if (
        code == "suffix" and options is None
    ):  # both sides are spelled in their own way: no single hint joins them
        assert "suffix" not in codes(found)
        return
    assert code in codes(found)
    assert found.comparable == bool(set(left) & set(right))
    if options is not None:
        joined = api.check(log(left), log(right), **options)
        assert joined.comparable
        assert joined.pairs == len(left)
        assert not joined.hints
        (hint,) = [each for each in found.hints if each.code == code]
        assert hint.option is not None
        name = next(iter(options)).replace("_", "-")
        assert hint.option.startswith(f"--{name} ")
        report = streamcmp.compare(log(left), log(right), **options).to_dict()
        assert report["ledger"]["a"]["paired"] == len(left)
        assert "(" in report["comparison"]["rule"]["id_type"]


def test_ids_that_pair_need_no_hint() -> None:
    found = api.check(log([1, 2, 3]), log([3, 1, 2]))
    assert (found.comparable, found.pairs, found.hints, found.problems) == (True, 3, [], [])


def test_a_limit() -> None:
    found = api.check(log([1, 2, 3]), log([1, 2, 3, 4, 5]))
    assert codes(found) == ["limit"]
    assert "the right log, which has 2 more" in found.hints[0].text
    assert found.examples["unmatched_b"] == ["4", "5"]


def test_another_split_under_the_same_numbers(tmp_path: Path) -> None:
    lm_eval(tmp_path / "l", [sample(i) for i in range(4)])
    lm_eval(tmp_path / "l", [sample(i) for i in range(4)], "gsm8k")
    lm_eval(tmp_path / "r", [sample(i, doc_hash=f"other{i}", prompt_hash="p") for i in range(4)])
    lm_eval(tmp_path / "r", [sample(i) for i in range(4)], "gsm8k")
    found = api.check(tmp_path / "l", tmp_path / "r")
    assert not found.comparable
    assert found.problems == ["doc_hash or target_hash differs in 4 pairs: the evaluation set has changed"]
    assert found.guards == [{"slice": "task=arc", "differ": 4, "pairs": 4}]
    assert found.examples["guard_mismatch"][0] == "(task=arc, doc_id=0, filter=none)"
    assert codes(found) == []
    found = api.check(tmp_path / "l" / "samples_arc*", tmp_path / "r" / "samples_arc*")
    assert codes(found) == ["other_split"]
    assert found.advised == 4


def test_other_tasks_and_another_filter(tmp_path: Path) -> None:
    for side, task, name in (("l", "arc", "strict"), ("r", "arc_easy", "strict"), ("f", "arc", "loose")):
        lm_eval(tmp_path / side, [sample(i, filter=name) for i in range(3)], task)
    found = api.check(tmp_path / "l", tmp_path / "r")
    assert not found.comparable
    (text,) = [hint.text for hint in found.hints if hint.code == "other_values"]
    assert text.startswith("task: only the left log has arc and only the right log has arc_easy; to pair")
    assert text.endswith("without it: --on doc_id,filter")
    found = api.check(tmp_path / "l", tmp_path / "f")
    (hint,) = [hint for hint in found.hints if hint.code == "other_values"]
    assert hint.text.startswith("filter: only the left log has strict and only the right log has loose")
    assert api.check(tmp_path / "l", tmp_path / "f", on="task,doc_id").comparable


def test_logs_without_scores_can_be_looked_at(tmp_path: Path) -> None:
    left = inspect_eval(tmp_path / "l.eval", [inspect_sample(i, scores={}) for i in range(3)])
    right = inspect_eval(tmp_path / "r.eval", [inspect_sample(i) for i in range(3)])
    found = api.check(left, right)
    assert not found.comparable
    assert found.pairs == 3
    assert "holds no score at all" in found.problems[0]


def test_duplicates_and_types_that_do_not_meet() -> None:
    found = api.check(log([1, 1, 2]), log([1, 2, 3]))
    assert found.problems == ["2 rows of the left log have ids that occur more than once",
                              "1 row of the right log have ids that occur more than once"]  # fmt: skip
    with pytest.raises(UsageError, match="--id-type"):
        api.check(log(["1"]), log([1]))
    assert api.check(log(["n1"]), log([1]), id_strip_prefix="n", id_type="int").comparable


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"id_regex": "("}, "no regular expression"),
        ({"id_normalize": "nfd"}, "must be one of nfc, lower, trim"),
    ],
)
def test_edits_that_are_none(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        api.check(log(["1"]), log(["1"]), **options)


def test_edits_of_compound_ids_and_duplicates_they_make() -> None:
    left = log(["a1", "a2"], task=["x", "y"])
    right = log(["1", "2"], task=["x", "y"])
    assert api.check(left, right, on="task,id", id_strip_prefix="a").pairs == 2
    found = api.check(log(["a1", "1"]), log(["1", "2"]), id_strip_prefix=["a"])
    assert found.problems[0].startswith("2 rows of the left log have ids that occur more than once")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, ids in (("l", "a-1 a-2 a-3"), ("r", "1 2 3")):
        (tmp_path / f"{name}.csv").write_text("id,correct\n" + "".join(f"{each},1\n" for each in ids.split()))
    options = ["check", "--left", str(tmp_path / "l.csv"), "--right", str(tmp_path / "r.csv")]
    assert main(options) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("These logs cannot be compared as they are: 1 problem, below.\n")
    assert "hint: the left log's ids begin with 'a-' (3 of 3 sampled ids" in shown
    assert ": --id-strip-prefix a-\n" in shown
    assert main([*options, "--id-strip-prefix", "a-"]) == 0
    assert capsys.readouterr().out.startswith("These logs can be compared: 3 pairs.\n")
    assert main([*options, "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["hints"][0]["code"] == "prefix"


def test_the_rows_of_one_model_are_of_their_files_format(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("model,id,correct\nbase,1,1\ntuned,1,0\n")
    found = streamcmp.check(path, path, model_column="model", left_model="base", right_model="tuned")
    assert [found.to_dict()[side]["format"] for side in ("left", "right")] == ["csv", "csv"]
