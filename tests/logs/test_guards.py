from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from streamcmp.errors import TypeConflict, UnknownColumn, UnusableType
from streamcmp.logs.model import LogPair
from tests.logs.opened import opened, read

MOMENT = dt.datetime(2024, 1, 1)  # noqa: DTZ001 - a column without a zone
NAN = float("nan")


def log(values: Any, dtype: Any = None, name: str = "g") -> pl.DataFrame:
    """A log with this guard column."""
    frame = pl.DataFrame({name: pl.Series(values, dtype=dtype, strict=False)})
    return frame.with_columns(id=pl.int_range(frame.height), correct=pl.lit(value=True))


def agreement(pair: LogPair) -> list[bool]:
    """Row by row: is the first guard's fingerprint the same?"""
    left, right = read(pair.a)["guard0"], read(pair.b)["guard0"]
    assert left.dtype == right.dtype == pl.UInt32
    return (left == right).to_list()


@pytest.mark.parametrize(
    ("a", "b", "a_type", "b_type", "expected"),
    [
        (["x", "x", None, None], ["x", "y", None, "x"], pl.String, pl.String, [1, 0, 1, 0]),
        (["x", "y"], ["x", "x"], pl.Categorical, pl.String, [1, 0]),
        (["x", "y"], ["x", "x"], pl.Enum(["y", "x"]), pl.Categorical, [1, 0]),
        ([-1, 2, None], [-1, 3, None], pl.Int8, pl.Int64, [1, 0, 1]),
        ([-1, 200], [1, 200], pl.Int32, pl.UInt64, [0, 1]),
        ([2**64 - 1], [-1], pl.UInt64, pl.Int64, [0]),
        ([1, 2, 2**53 + 1], [1.0, 2.5, 2.0**53], pl.Int64, pl.Float64, [1, 0, 0]),
        ([0.0, NAN, NAN, 0.5], [-0.0, NAN, None, 0.5], pl.Float64, pl.Float64, [1, 1, 1, 1]),
        ([0.1, 1.0], [0.1, 2.0], pl.Float32, pl.Float64, [1, 0]),
        (
            [Decimal("1.50"), Decimal(2)],
            [Decimal("1.5"), Decimal(3)],
            pl.Decimal(9, 2),
            pl.Decimal(9, 1),
            [1, 0],
        ),
        ([Decimal("2.00")], [2], pl.Decimal(9, 2), pl.Int64, [1]),
        ([True, False], [True, True], pl.Boolean, pl.Boolean, [1, 0]),
        ([dt.date(2024, 1, 1)], [dt.date(2024, 1, 1)], pl.Date, pl.Date, [1]),
        ([MOMENT], [MOMENT], pl.Datetime("ms"), pl.Datetime("ns"), [1]),
        ([b"\xff", b"a"], [b"\xff", b"b"], pl.Binary, pl.Binary, [1, 0]),
        ([None, None], ["x", None], pl.Null, pl.String, [0, 1]),
    ],
)
def test_values_agree_exactly_when_they_are_equal(
    a: Any, b: Any, a_type: Any, b_type: Any, expected: list[int]
) -> None:
    assert agreement(opened(log(a, a_type), log(b, b_type), guards=("g",))) == [bool(one) for one in expected]
    assert agreement(opened(log(b, b_type), log(a, a_type), guards=("g",))) == [bool(one) for one in expected]


def test_null_is_nothing_but_null() -> None:
    values = read(opened(log(list(range(10_000))), log([1]), guards=("g",)).a, 10_000)["guard0"]
    assert values.min() != 0
    assert read(opened(log([None, 1]), log([1]), guards=("g",)).a)["guard0"][0] == 0


def test_untyped_text(tmp_path: Path) -> None:
    path, other = tmp_path / "a.csv", tmp_path / "b.csv"
    path.write_text("id,correct,g\n0,1,1\n1,1,1.0\n2,1,x\n3,1,\n")
    other.write_text("id,correct,g\n0,1,1.0\n1,1,1.0\n2,1,x\n3,1,\n")
    assert agreement(opened(path, log([1, 1, 1, None]), guards=("g",))) == [True, True, False, True]
    assert agreement(opened(path, log([1.0, 1.5, 1, None]), guards=("g",))) == [True, False, False, True]
    assert agreement(opened(path, other, guards=("g",))) == [False, True, True, True]


def test_booleans_beside_text(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,correct,label\n0,1,True\n1,1,false\n2,1,no\n")
    booleans = log([True, True, True], name="label")
    assert agreement(opened(path, booleans)) == [True, False, False]
    texts = log(["True", "FALSE", "x"], name="label")
    with pytest.raises(TypeConflict, match="--label-type"):
        opened(texts, booleans)
    assert agreement(opened(texts, booleans, label_type="text")) == [True, False, False]


def test_types_that_differ_are_an_error() -> None:
    with pytest.raises(TypeConflict, match=r"'g'.*text \(String\).*integer \(Int64\)"):
        opened(log(["1"]), log([1]), guards=("g",))
    with pytest.raises(UnusableType):
        opened(log([[1]]), log([[1]]), guards=("g",))


def test_a_guard_must_be_in_both_logs() -> None:
    with pytest.raises(UnknownColumn, match="--guard"):
        opened(log([1]), log([1], name="h"), guards=("g",))


def both(*names: str, **values: Any) -> pl.DataFrame:
    """A one-row log with these label-like columns."""
    return pl.DataFrame({"id": [0], **{name: ["x"] for name in names}, **values})


def test_the_label_is_a_guard_when_both_logs_carry_it() -> None:
    compared = both("pred", "label")
    pair = opened(compared, compared)
    assert pair.guards == ("label",)
    assert pair.notes[-1] == (
        "the label (label) is in both logs and compared in every pair: where it differs, "
        "the evaluation set has changed (--mismatch says what then)"
    )
    named = opened(both("pred", "target"), both("pred", "gold"))
    assert named.guards == ("target",)
    judged = both("label", correct=[True])
    assert opened(judged, judged).guards == ("label",)
    assert opened(judged, compared).guards == ("label",)
    assert opened(judged, both("gold", correct=[True])).guards == ()
    answered = both("answer", correct=[True])
    assert opened(answered, answered).guards == ()
    odd = both("lab", correct=[True])
    assert opened(odd, odd, correct="correct", label="lab").guards == ("lab",)
    assert opened(judged, judged, guards=("label",)).guards == ("label",)
    assert opened(judged, both(correct=[True])).guards == ()
    many = both("label", "gold", correct=[True])
    assert opened(many, many).guards == ()


def test_labels_of_two_types() -> None:
    text, number = both("label", correct=[True]), both(correct=[True]).with_columns(label=1)
    with pytest.raises(TypeConflict, match="--label-type"):
        opened(text, number)
    pair = opened(text.with_columns(label=pl.lit("1.0")), number, label_type="number")
    assert agreement(pair) == [True]
    assert agreement(opened(text.with_columns(label=pl.lit("1")), number, label_type="text")) == [True]


def test_a_truth_file_supplies_the_labels() -> None:
    frame = both("pred", "label")
    assert opened(frame, frame, truth=both("label")).guards == ()


def test_labels_that_are_numbers_meet_at_the_narrower_float() -> None:
    left, right = (
        pl.DataFrame({"id": [1, 2], "prediction": values, "label": values})
        for values in (pl.Series([0.1, 0.5], dtype=pl.Float32), pl.Series([0.1, 0.7]))
    )
    for declared in (None, "number"):
        assert agreement(opened(left, right, label_type=declared)) == [True, False]
