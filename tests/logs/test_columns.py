from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from streamcmp.errors import AmbiguousColumn, EmptyLog, NoColumn, ShardLacksColumn, UnknownColumn, UsageError
from tests.logs.opened import ids, opened, outcomes

FILL: dict[str, Any] = {"id": 1, "correct": True, "prediction": "x", "label": "x", "score": 1.0}


def log(*names: str) -> pl.DataFrame:
    """One row with these columns, in this order."""
    kind = {
        **dict.fromkeys(
            ("prediction", "pred", "predicted", "label", "target", "truth", "gold", "answer"), "x"
        ),
        **dict.fromkeys(("correct", "is_correct", "outcome"), True),
        **dict.fromkeys(("acc", "exact_match", "score"), 1.0),
    }
    return pl.DataFrame({name: [kind.get(name.lower(), 1)] for name in names})


def described(frame: pl.DataFrame, **options: Any) -> dict[str, Any]:
    """The outcome rule detected for a log."""
    return opened(frame, frame, **options).rule.outcome["a"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("key", "uid", "doc_id", "id", "sample_id", "example_id"), "example_id"),
        (("key", "uid", "doc_id", "id", "sample_id"), "sample_id"),
        (("key", "uid", "doc_id", "ID"), "ID"),
        (("key", "uid", "doc_id"), "doc_id"),
        (("key", "uid"), "uid"),
        (("Key",), "Key"),
    ],
)
def test_ids_are_detected_in_order(names: tuple[str, ...], expected: str) -> None:
    frame = log(*names, "correct")
    pair = opened(frame, frame)
    assert pair.rule.on == (expected,)
    assert any(repr(expected) in note for note in pair.notes)


def test_ids_prefer_a_name_of_both_logs() -> None:
    pair = opened(log("example_id", "id", "correct"), log("id", "correct"))
    assert pair.rule.on == ("id",)
    pair = opened(log("example_id", "correct"), log("doc_id", "correct"))
    assert any("'doc_id'" in note for note in pair.notes)
    assert ids(pair.a) == ids(pair.b) == [1]


def test_two_candidates_of_one_rank_are_an_error() -> None:
    for names, option in (
        (("ID", "id", "correct"), "--on"),
        (("id", "correct", "Correct"), "--correct"),
        (("id", "prediction", "pred", "label"), "--prediction"),
        (("id", "pred", "label", "answer"), "--label"),
        (("id", "acc", "ACC"), "--score"),
    ):
        frame = log(*names)
        with pytest.raises(AmbiguousColumn, match=option):
            opened(frame, frame)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (
            ("correct", "is_correct", "outcome", "pred", "label", "acc"),
            {"kind": "correct", "correct": "correct"},
        ),
        (("is_correct", "outcome"), {"kind": "correct", "correct": "is_correct"}),
        (("Outcome", "pred", "label"), {"kind": "correct", "correct": "Outcome"}),
        (("pred", "gold", "acc"), {"kind": "equal", "prediction": "pred", "label": "gold"}),
        (("predicted", "answer"), {"kind": "equal", "prediction": "predicted", "label": "answer"}),
        (("pred", "acc", "exact_match", "score"), {"kind": "score", "score": "acc"}),
        (("label", "exact_match", "score"), {"kind": "score", "score": "exact_match"}),
        (("score",), {"kind": "score", "score": "score"}),
    ],
)
def test_outcomes_are_detected_in_order(names: tuple[str, ...], expected: dict[str, Any]) -> None:
    frame = log("id", *names)
    assert described(frame) == expected


def test_options_win_over_detection() -> None:
    frame = log("id", "correct", "pred", "label", "score")
    assert described(frame, prediction="pred") == {"kind": "equal", "prediction": "pred", "label": "label"}
    assert described(frame, label="label") == {"kind": "equal", "prediction": "pred", "label": "label"}
    assert described(frame, score="score") == {"kind": "score", "score": "score"}
    assert described(frame, threshold=0.5) == {"kind": "score", "score": "score", "threshold": 0.5}
    numbers = frame.with_columns(pred=1.0, label=1.5)
    expected = {"kind": "within", "prediction": "pred", "label": "label", "tolerance": 0.5}
    assert described(numbers, tolerance=0.5) == expected
    pair = opened(frame, frame, left={"correct": "correct"}, right={"score": "score"})
    assert [pair.rule.outcome[side]["kind"] for side in ("a", "b")] == ["correct", "score"]


def test_a_label_alone_guards_logs_that_say_what_is_correct() -> None:
    frame = log("id", "correct", "lab")
    pair = opened(frame, frame, label="lab")
    assert pair.rule.outcome["a"] == {"kind": "correct", "correct": "correct"}
    assert pair.guards == ("lab",)


def test_unknown_columns_list_the_columns_and_the_nearest() -> None:
    frame = log("id", "correct", "label")
    cases: list[dict[str, Any]] = [
        {"on": ("idd",)},
        {"correct": "corect"},
        {"prediction": "correct", "label": "lable"},
        {"guards": ("lable",)},
        {"where": "lable = 'x'"},
    ]
    for options in cases:
        with pytest.raises(UnknownColumn, match="did you mean") as error:
            opened(frame, frame, **options)
        assert "id, correct, label" in str(error.value)


def test_nothing_to_detect() -> None:
    with pytest.raises(NoColumn, match="example_id, sample_id") as error:
        opened(log("row", "correct"), log("id", "correct"))
    assert "row, correct" in str(error.value)
    with pytest.raises(NoColumn, match="outcome"):
        opened(log("id", "label"), log("id", "correct"))
    with pytest.raises(NoColumn, match="--label"):
        opened(log("id", "pred"), log("id", "correct"), left={"prediction": "pred"})
    with pytest.raises(UsageError, match="both the prediction and the label"):
        opened(log("id", "pred"), log("id", "pred"), prediction="pred", label="pred")


def test_names_per_side() -> None:
    pair = opened(log("id", "correct"), log("nr", "correct"), on=("id",), right={"on": ("nr",)})
    assert ids(pair.a) == ids(pair.b) == [1]
    with pytest.raises(UnknownColumn, match="--right-on"):
        opened(log("id", "correct"), log("nr", "correct"), on=("id",), right={"on": ("nrr",)})


def test_truth_and_a_verdict_exclude_each_other() -> None:
    frame = log("id", "correct", "pred")
    for options in ({"correct": "correct"}, {"score": "correct"}, {"threshold": 0.5}):
        with pytest.raises(UsageError, match="--truth"):
            opened(frame, frame, truth=log("id", "label"), **options)


def test_unused_columns_of_shards_never_matter_case_23(tmp_path: Path) -> None:
    log("id", "correct", "example_id").write_parquet(tmp_path / "1.parquet")
    log("correct", "id", "outcome").write_parquet(tmp_path / "2.parquet")
    pair = opened(tmp_path, log("id", "correct"))
    assert ids(pair.a) == [1, 1]


def test_a_needed_column_that_one_file_lacks(tmp_path: Path) -> None:
    log("id", "correct").write_parquet(tmp_path / "1.parquet")
    log("id", "score").write_parquet(tmp_path / "2.parquet")
    with pytest.raises(ShardLacksColumn) as error:
        opened(tmp_path, log("id", "correct"), correct="correct")
    assert "2.parquet has no column 'correct'" in str(error.value)
    assert "1.parquet" in str(error.value)


def test_empty_parts_are_fine_and_empty_logs_are_not_case_26(tmp_path: Path) -> None:
    frame = log("id", "correct")
    frame.write_parquet(tmp_path / "1.parquet")
    frame.clear().write_parquet(tmp_path / "2.parquet")
    pl.DataFrame().write_parquet(tmp_path / "3.parquet")
    assert ids(opened(tmp_path, frame).a) == [1]
    with pytest.raises(EmptyLog, match=r"2\.parquet"):
        opened(tmp_path / "2.parquet", frame)
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(EmptyLog, match=r"empty\.csv"):
        opened(frame, tmp_path / "empty.csv")


def test_ndjson_keys_first_seen_late_case_22(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [f'{{"id": {n}}}' for n in range(2000)] + [
        f'{{"id": {n}, "correct": true}}' for n in range(2000, 2010)
    ]
    path.write_text("\n".join(lines))
    other = pl.DataFrame({"id": [1], "correct": [True]})
    found = outcomes(opened(path, other).a)
    assert (found.count(2), found.count(1)) == (2000, 10)
    late = tmp_path / "b.jsonl"
    late.write_text("\n".join(['{"x": 1, "correct": 1}'] * 2000 + ['{"id": 7, "correct": 1}']))
    assert ids(opened(late, other).a)[-1] == 7
    nulls = tmp_path / "c.jsonl"
    nulls.write_text("\n".join(['{"id": null, "correct": 1}'] * 2000 + ['{"id": "7", "correct": 1}']))
    pair = opened(nulls, pl.DataFrame({"id": ["7"], "correct": [True]}))
    assert ids(pair.a)[-1] == "7"


def test_a_message_names_so_many_columns_and_counts_the_rest() -> None:
    frame = pl.DataFrame({"id": [1], "correct": [1]} | {f"c{index}": [1] for index in range(100)})
    with pytest.raises(UnknownColumn) as caught:
        opened(frame, frame.clone(), by=(("nothing",),))
    assert "c57 and 42 more" in str(caught.value)


@pytest.mark.parametrize(
    ("header", "advice"),
    [
        ("id;label;prediction", "if ';' separates several, write the file with commas"),
        ("id\tlabel\tprediction", "give --input-format tsv"),
        ("id|label|prediction", r"if '|' separates several"),
    ],
)
def test_a_header_with_other_separators_is_told(tmp_path: Path, header: str, advice: str) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"{header}\n{header.replace('id', '1')}\n")
    with pytest.raises(NoColumn) as detected:
        opened(path, pl.DataFrame({"id": ["1"], "correct": [1]}))
    assert advice in str(detected.value)
    assert "--on row" in str(detected.value)
    with pytest.raises(UnknownColumn) as named:
        opened(path, pl.DataFrame({"id": ["1"], "correct": [1]}), on=("id",))
    assert advice in str(named.value)


@pytest.mark.parametrize("on", [("id",), ("row",)])
def test_the_first_row_of_a_truth_without_a_header_is_told(tmp_path: Path, on: tuple[str, ...]) -> None:
    path = tmp_path / "truth.csv"
    path.write_text("1,cat\n2,dog\n")
    log = pl.DataFrame({"id": [1], "prediction": ["cat"]})
    with pytest.raises(NoColumn, match="--truth-columns"):
        opened(log, log.clone(), on=on, truth=path)
