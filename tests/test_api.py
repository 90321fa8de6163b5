"""The Python API: expected values of classical exercises, options, names, merging and finalizing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import streamcmp
from streamcmp.comparison import IdShard
from streamcmp.errors import DataError, UsageError
from streamcmp.options import CompareOptions, CountOptions, FinalizeOptions
from streamcmp.parts import check_complete
from streamcmp.request import display_names, policies
from streamcmp.results import finalize as finalize_tally
from streamcmp.tally import Part
from streamcmp.terms import names, split_term, terms

LEFT = pl.DataFrame(
    {"id": [1, 2, 3, 4, 5], "domain": ["law", "law", "art", "art", None], "correct": [1, 0, 0, 0, 1]}
)
RIGHT = LEFT.with_columns(correct=pl.Series([1, 1, 1, 0, 0]))


def test_compare_two_frames() -> None:
    report = streamcmp.compare(LEFT, RIGHT, by="domain")
    overall = report.overall
    assert [overall[name] for name in ("both_correct", "n_ab", "n_ba", "both_wrong")] == [1, 1, 2, 1]
    assert overall["gain"] == pytest.approx(0.2)
    assert report.names == ("left", "right")
    assert [family.family for family in report.families] == ["overall", "domain"]


@pytest.mark.parametrize(
    "convert",
    [pl.DataFrame.to_arrow, pl.DataFrame.to_pandas, pl.DataFrame.lazy],
    ids=lambda kind: kind.__name__,
)
def test_any_frame_will_do(convert: Any) -> None:
    expected = streamcmp.compare(LEFT, RIGHT, on="id").to_dict()
    assert streamcmp.compare(convert(LEFT), convert(RIGHT), on="id").to_dict() == expected


def test_compare_is_count_then_finalize(tmp_path: Path) -> None:
    whole = streamcmp.compare(LEFT, RIGHT, by=["domain"], test="mid-p", confidence=0.9).to_dict()
    tally = streamcmp.count(LEFT, RIGHT, by=["domain"])
    tally.save(tmp_path / "x.tally")
    assert streamcmp.finalize(tally, test="mid-p", confidence=0.9).to_dict() == whole
    assert streamcmp.finalize(tmp_path / "x.tally", test="mid-p", confidence=0.9).to_dict() == whole


def test_merge_adds_disjoint_logs_in_any_number_and_order(tmp_path: Path) -> None:
    parts = []
    for rows in ([0, 1], [2], [3, 4]):
        paths = tmp_path / f"left-{rows[0]}.parquet", tmp_path / f"right-{rows[0]}.parquet"
        LEFT[rows].write_parquet(paths[0])
        RIGHT[rows].write_parquet(paths[1])
        parts.append(streamcmp.count(*paths, by=["domain"]))
    whole = streamcmp.count(LEFT, RIGHT, by=["domain"])
    assert streamcmp.merge(*parts) == whole
    assert streamcmp.merge(reversed(parts)) == whole
    assert streamcmp.merge(parts[0], iter(parts[1:])) == whole
    assert streamcmp.merge() == streamcmp.Tally.zero()


def test_merge_refuses_plain_counts(tmp_path: Path) -> None:
    path = tmp_path / "counts.parquet"
    streamcmp.count(LEFT, RIGHT).save(path)
    pl.read_parquet(path).write_parquet(path)  # the header goes
    assert streamcmp.finalize(path).overall["n"] == 5
    with pytest.raises(UsageError, match="no header"):
        streamcmp.merge(path)


def test_an_option_for_both_sides_a_pair_and_one_side_only() -> None:
    left, right = LEFT.rename({"correct": "x"}), RIGHT.rename({"correct": "y"})
    expected = streamcmp.compare(LEFT, RIGHT).overall
    assert streamcmp.compare(left, right, correct=("x", "y")).overall == expected
    assert streamcmp.compare(left, right, correct="x", right_options={"correct": "y"}).overall == expected
    wide = left.with_columns(y=right["y"])
    assert streamcmp.compare(wide, wide, correct=("x", "y")).overall == expected


def test_on_and_by_of_one_side() -> None:
    right = RIGHT.rename({"id": "key", "domain": "area"})
    report = streamcmp.compare(
        LEFT, right, on="id", by="domain", right_options={"on": "key", "by": "area"}, correct="correct"
    )
    assert report.to_dict()["results"] == streamcmp.compare(LEFT, RIGHT, by="domain").to_dict()["results"]


def test_names_come_from_options_else_from_paths(tmp_path: Path) -> None:
    for name, log in (("cnn", LEFT), ("lstm", RIGHT)):
        log.write_parquet(tmp_path / f"{name}.parquet")
    paths = tmp_path / "cnn.parquet", str(tmp_path / "lstm.parquet")
    assert streamcmp.compare(*paths).names == ("cnn", "lstm")
    assert streamcmp.compare(*paths, left_name="old").names == ("old", "lstm")
    assert streamcmp.compare(*paths, right_options={"name": "new"}).names == ("cnn", "new")
    assert streamcmp.finalize(streamcmp.count(*paths)).names == ("cnn", "lstm")
    assert display_names([paths[0], "x"], [paths[1]], None, None) == ("cnn", "lstm")
    assert display_names(LEFT, paths[1], None, None) == ("left", "right")
    with pytest.raises(UsageError, match="both models would be called 'a'"):
        display_names(*paths, "a", "a")


def test_callbacks_hear_what_was_detected_and_what_was_dropped() -> None:
    notes: list[str] = []
    ids: dict[str, Any] = {}
    doubled = pl.concat([LEFT, LEFT[:1]])
    streamcmp.compare(doubled, RIGHT, duplicates="drop", on_note=notes.append, on_examples=ids.update)
    assert any("id" in note for note in notes)
    assert list(ids["duplicate_a"]) == ["1"]


def test_a_policy_acts_after_the_pass_with_ids() -> None:
    doubled = pl.concat([LEFT, LEFT[:1]])
    with pytest.raises(DataError, match="left: 1"):
        streamcmp.compare(doubled, RIGHT)
    tally = streamcmp.count(doubled, RIGHT)
    with pytest.raises(DataError, match="streamcmp run"):
        streamcmp.finalize(tally)
    assert streamcmp.finalize(tally, duplicates="drop").overall["n"] == 4


@pytest.mark.parametrize(("option", "value"), [("missing", "wrong"), ("mismatch", "ignore")])
def test_what_acts_while_counting_cannot_be_asked_for_afterwards(option: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"--{option} {value} acts while counting"):
        streamcmp.finalize(streamcmp.count(LEFT, RIGHT), **{option: value})  # type: ignore[arg-type]
    counted = streamcmp.count(LEFT, RIGHT, **{option: value})  # type: ignore[arg-type]
    assert streamcmp.finalize(counted, **{option: value}).overall["n"] == 5  # type: ignore[arg-type]


def test_strict_is_an_error_for_everything_and_excludes_anything_else() -> None:
    with pytest.raises(DataError, match="without a partner"):
        streamcmp.compare(LEFT, RIGHT[:4], strict=True)
    assert set(policies({"strict": True}).__class__.__slots__) == {
        "duplicates", "mismatch", "unmatched", "missing", "null_ids",
    }  # fmt: skip
    assert policies({"strict": True, "missing": "error"}).null_ids == "error"
    with pytest.raises(UsageError, match="excludes --missing drop"):
        policies({"strict": True, "missing": "drop"})


def test_an_unknown_option_is_a_type_error_that_names_the_nearest() -> None:
    with pytest.raises(TypeError, match="did you mean 'tolerance'"):
        streamcmp.compare(LEFT, RIGHT, tolerence=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"left_options.*'tset'"):
        streamcmp.compare(LEFT, RIGHT, left_options={"tset": 1})  # type: ignore[arg-type]
    for options in (CompareOptions, CountOptions, FinalizeOptions):
        documented = streamcmp.compare.__doc__ or ""
        assert [name for name in options.__annotations__ if f"`{name}" not in documented] == []


def test_memory_is_a_number_or_a_text() -> None:
    for memory in (2**28, "256MiB"):
        assert streamcmp.compare(LEFT, RIGHT, memory=memory, threads=1).overall["n"] == 5
    with pytest.raises(UsageError, match="not a size"):
        streamcmp.compare(LEFT, RIGHT, memory="much")


def test_the_function_stays_the_function_after_the_module_of_its_name_is_loaded() -> None:
    assert streamcmp.finalize is not finalize_tally
    assert callable(streamcmp.finalize)
    fresh = "import streamcmp; streamcmp.mcnemar(1, 2); assert callable(streamcmp.finalize)"
    subprocess.run([sys.executable, "-c", fresh], check=True)
    assert set(streamcmp.__all__) <= set(dir(streamcmp))
    with pytest.raises(AttributeError):
        streamcmp.nothing  # noqa: B018


@pytest.mark.parametrize(
    ("shards", "missing"),
    [
        (["0/1"], None),
        (["1/3", "0/3", "2/3"], None),
        (["0/3", "2/3"], "shard 1/3 is missing"),
        (["0/9"], r"shards 1/9, .* 5/9 and 3 more are missing"),
        (["0/2", "1/4", "3/4"], None),
        (["0/2", "1/4"], "shard 3/4 is missing"),
        (["0/999983", "0/999979"], "shards with 100.0% of the hashes are missing"),
    ],
)
def test_an_incomplete_set_of_shards_is_named(shards: list[str], missing: str | None) -> None:
    parts = [Part({"a": {"paths": ("x",)}}, IdShard.parse(shard)) for shard in shards]
    if missing is None:
        check_complete([*parts, Part({"a": {"paths": ("another",)}})])
    else:
        with pytest.raises(UsageError, match=missing):
            check_complete(parts)


def test_terms_split_at_commas_outside_brackets_and_quotes() -> None:
    assert split_term("domain,class", "--by") == ("domain", "class")
    assert split_term(' "a,b" , c', "--by") == ("a,b", "c")
    assert split_term("score[0,1],f(x,{1,2})", "--by") == ("score[0,1]", "f(x,{1,2})")
    assert split_term("don't,won't", "--by") == ("don't", "won't")
    assert terms(["a", "b,c", ("d,e",)], "--by") == (("a",), ("b", "c"), ("d,e",))
    assert names(["a,b", "c"], "--on") == ("a", "b", "c")
    assert names(None, "--on") == ()
    assert terms(None, "--by") == ()
    for wrong in ("", "a,,b", "f[a", '"a', "a,"):
        with pytest.raises(UsageError, match="--by"):
            split_term(wrong, "--by")


# Counts and predictions in hand.


def test_the_classical_exercise() -> None:
    y, a, b = [1, 0, 1, 1, 0, 1], [1, 0, 0, 1, 0, 1], [1, 1, 1, 0, 0, 1]
    result = streamcmp.mcnemar_from_predictions(y, a, b)
    assert (result.n_ab, result.n_ba, result.both_correct, result.both_wrong, result.n) == (2, 1, 3, 0, 6)
    assert result.p == 1
    assert streamcmp.mcnemar_from_predictions(y, a, a).p == 1


@pytest.mark.parametrize(
    ("won", "lost", "p"),
    [(5, 0, 0.0625), (14, 4, 0.0308837890625), (18, 8, 0.07551869750022888), (0, 0, 1), (5, 5, 1), (1, 0, 1),
     (0, 10, 0.001953125), (11, 1, 0.00634765625), (5, 3, 0.7265625), (6, 16, 0.0524787902832)],
)  # fmt: skip
def test_exact_p_of_counts(won: int, lost: int, p: float) -> None:
    assert streamcmp.mcnemar(lost, won).p == pytest.approx(p, rel=1e-12)
    assert streamcmp.mcnemar(won, lost).p_exact == streamcmp.mcnemar(lost, won).p_exact


def test_the_other_tests_of_counts() -> None:
    tie = streamcmp.mcnemar(5, 5)
    assert (tie.p_mid, tie.p_chi2, tie.p_chi2_corrected) == (0.876953125, 1, 1)
    assert streamcmp.mcnemar(16, 6).p_mid == pytest.approx(0.0346896648407, rel=1e-12)
    assert streamcmp.mcnemar(0, 2000).log10_p_exact == pytest.approx(-601.758961, abs=1e-6)
    assert streamcmp.mcnemar(0, 2000).p > 0
    assert streamcmp.mcnemar(50_010_000, 50_000_000).p == pytest.approx(0.3173831002899, rel=1e-12)
    assert streamcmp.mcnemar(2, 9, test="auto").test == "exact"
    assert streamcmp.mcnemar(20, 9, test="auto").test == "chi2-corrected"
    better = streamcmp.mcnemar(0, 5, alternative="better")
    assert (better.p, better.p_exact) == (1 / 32, 1 / 16)


def test_gain_needs_n() -> None:
    unknown = streamcmp.mcnemar(4, 14)
    assert (unknown.n, unknown.gain, unknown.gain_low, unknown.gain_high) == (None, None, None, None)
    known = streamcmp.mcnemar(4, 14, 100)
    assert known.gain == pytest.approx(0.1)
    assert known.gain_low is not None
    assert known.gain_low < 0.1
    assert streamcmp.mcnemar(0, 0, 0).gain is None
    assert streamcmp.mcnemar(4, 14, 100, ci="newcombe").gain_low is None
    assert json.loads(json.dumps(known.to_dict()))["n_ba"] == 14


def test_numpy_counts_are_whole_numbers_too() -> None:
    assert streamcmp.mcnemar(np.uint8(4), np.int32(14)) == streamcmp.mcnemar(4, 14)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("counts", "message"),
    [((-1, 2), "n_ab must be"), ((1, 2.5), "n_ba must be"), ((True, 2), "n_ab"), ((2**63, 0), "n_ab"),
     ((3, 4, 6), "n is 6, but 7"), (("3", 4), "n_ab")],
)  # fmt: skip
def test_what_is_no_count_is_refused(counts: tuple[Any, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        streamcmp.mcnemar(*counts)


def test_two_different_wrong_answers_are_both_wrong() -> None:
    result = streamcmp.mcnemar_from_predictions(["x", "x", "y"], ["y", "x", "y"], ["z", "z", "y"])
    assert (result.both_wrong, result.n_ab, result.n_ba, result.both_correct) == (1, 1, 0, 1)


@pytest.mark.parametrize(
    "kind", [list, tuple, iter, np.array, pl.Series, pd.Series, pa.array], ids=lambda kind: kind.__name__
)
def test_predictions_of_any_array_kind(kind: Any) -> None:
    y, a, b = ([1, 0, 2], [1, 1, 1], [1, 0, 0])
    result = streamcmp.mcnemar_from_predictions(kind(y), kind(a), kind(b))
    assert (result.n_ab, result.n_ba, result.both_correct, result.both_wrong) == (0, 1, 1, 1)


def test_missing_predictions_are_left_out_and_counted() -> None:
    result = streamcmp.mcnemar_from_predictions(
        [1, 0, None, 1], [1, 0, 0, float("nan")], [True, None, True, True]
    )
    assert (result.n, result.missing, result.both_correct) == (1, 3, 1)
    nothing = streamcmp.mcnemar_from_predictions([None], [1], [1])
    assert (nothing.n, nothing.missing, nothing.p, nothing.gain) == (0, 1, 1, None)
    assert streamcmp.mcnemar_from_predictions([], [], []).p == 1


@pytest.mark.parametrize(
    ("y", "a", "b", "message"),
    [([1, 2], [1], [1, 2], "one length; they have 2, 1, 2"), ([1], ["1"], [1], "one kind.*a is text"),
     ([[1]], [[1]], [[1]], "one-dimensional"), ([1, "x"], [1, 2], [1, 2], "y cannot be read")],
)  # fmt: skip
def test_predictions_that_cannot_be_compared(y: Any, a: Any, b: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        streamcmp.mcnemar_from_predictions(y, a, b)


def test_regression_by_name_with_tolerance(tmp_path: Path) -> None:
    """Hits and misses by name; the last row is counted, names without partner are reported."""
    left, right = tmp_path / "ridge.csv", tmp_path / "forest.csv"
    left.write_text("name,truth,prediction\na,1.0,1.2\nb,2.0,2.6\nc,3.0,3.5\nonly-left,1,1\nd,4.0,9")
    right.write_text("name,truth,prediction\nd,4.0,4.1\nc,3.0,2.4\nb,2.0,2.1\na,1.0,1.5\nonly-right,1,1")
    report = streamcmp.compare(left, right, on="name", prediction="prediction", label="truth", tolerance=0.5)
    overall = report.overall
    assert [overall[name] for name in ("both_correct", "n_ab", "n_ba", "both_wrong")] == [1, 1, 2, 0]
    assert report.ledger is not None
    assert (report.ledger.a.unmatched, report.ledger.b.unmatched) == (1, 1)
    assert [warning.code for warning in report.warnings] == ["unmatched"]


def test_more_slices_than_memory_are_announced() -> None:
    log = pl.select(id=pl.int_range(70_000), correct=1, user=pl.int_range(70_000))
    for memory, expected in (("64MiB", 1), ("100MB", 0)):
        notes: list[str] = []
        streamcmp.compare(log, log.clone(), by="user", memory=memory, on_note=notes.append)
        said = [
            note
            for note in notes
            if note.startswith("the results of 70,001 slices take about 70 MB, more than")
        ]
        assert len(said) == expected
