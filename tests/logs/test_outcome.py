from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from streamcmp.errors import BadValue, StreamcmpError, TypeConflict, UnusableType
from streamcmp.logs.model import CORRECT, MISSING, WRONG
from streamcmp.logs.outcome import OutcomeSpec
from streamcmp.logs.values import Column
from tests.logs.opened import opened, outcomes

C, W, M = CORRECT, WRONG, MISSING
MOMENT = dt.datetime(2024, 1, 1)  # noqa: DTZ001 - a column without a zone
NAN, INF = float("nan"), float("inf")


def verdicts(spec: OutcomeSpec, frame: pl.DataFrame, *, untyped: bool = False) -> list[int]:
    """The outcomes of a frame; a failing check raises its problem."""
    columns = {name: Column(name, dtype, untyped) for name, dtype in frame.schema.items()}
    label = columns.get(spec.label) if spec.label is not None else None
    expr, checks = spec.read(columns[spec.value], label, where="log")
    for check in checks:
        bad = frame.filter(check.bad)
        if bad.height:
            shown = [(name, bad[name][0]) for name in check.columns]
            raise BadValue(where="log", values=shown, problem=check.problem)
    result = frame.select(expr.alias("outcome"))["outcome"]
    assert result.dtype == pl.UInt8
    return result.to_list()


def flags(values: Any, dtype: Any = None, *, untyped: bool = False, **spec: Any) -> list[int]:
    frame = pl.DataFrame({"v": pl.Series(values, dtype=dtype)})
    return verdicts(OutcomeSpec(spec.pop("kind", "correct"), "v", **spec), frame, untyped=untyped)


def equal(
    p: Any, q: Any, p_type: Any = None, q_type: Any = None, *, untyped: bool = False, **spec: Any
) -> list[int]:
    frame = pl.DataFrame({"p": pl.Series(p, dtype=p_type), "q": pl.Series(q, dtype=q_type)})
    return verdicts(OutcomeSpec(spec.pop("kind", "equal"), "p", label="q", **spec), frame, untyped=untyped)


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([True, False, None], pl.Boolean, [C, W, M]),
        ([1, 0, None], pl.Int64, [C, W, M]),
        ([1, 0, None], pl.UInt8, [C, W, M]),
        ([1, 0, None], pl.Int128, [C, W, M]),
        ([1.0, 0.0, None, NAN, -0.0], pl.Float64, [C, W, M, M, W]),
        ([1.0, 0.0, NAN], pl.Float32, [C, W, M]),
        ([Decimal(1), Decimal(0), None], pl.Decimal(10, 2), [C, W, M]),
        (["true", "False", "TRUE", None], pl.String, [C, W, C, M]),
        (["yes", "No"], pl.String, [C, W]),
        (["correct", "INCORRECT"], pl.String, [C, W]),
        (["C", "I", "c", "i"], pl.String, [C, W, C, W]),
        (["1", "0", "1.0", "0.0", "1.00", "1e0"], pl.String, [C, W, C, W, C, C]),
        (["nan", "NaN", " true "], pl.String, [M, M, C]),
        (["true", "no", None], pl.Categorical, [C, W, M]),
        (["C", "I"], pl.Enum(["C", "I"]), [C, W]),
        ([None, None], pl.Null, [M, M]),
    ],
)
def test_correct_column_cases_18_19_20(values: Any, dtype: Any, expected: list[int]) -> None:
    assert flags(values, dtype) == expected
    if dtype == pl.String:
        assert flags(values, dtype, untyped=True) == expected


@pytest.mark.parametrize(
    ("values", "dtype", "named"),
    [
        (["C", "I", "P"], pl.String, "'P'"),
        (["True", "0.6666667"], pl.String, "'0.6666667'"),
        (["true", ""], pl.String, "''"),
        ([1.0, 0.5], pl.Float64, "0.5"),
        ([1, 2], pl.Int64, "2"),
        ([0, -1], pl.Int64, "-1"),
        ([1.0, INF], pl.Float64, "inf"),
        ([Decimal("0.5")], pl.Decimal(10, 2), "0.5"),
    ],
)
def test_third_values_are_refused_cases_18_19(values: Any, dtype: Any, named: str) -> None:
    with pytest.raises(BadValue, match="neither correct nor wrong") as error:
        flags(values, dtype)
    assert named in str(error.value)
    assert ("--threshold" in str(error.value)) == (
        named not in {"'P'", "''"}
    )  # to advise it for text is no help
    assert ("--prediction" in str(error.value)) == (named in {"'P'", "''"})


def test_a_score_without_a_threshold_asks_for_one() -> None:
    assert flags([0.0, 1.0], kind="score") == [W, C]
    with pytest.raises(BadValue, match="say with --threshold from which score on") as error:
        flags([0.5], kind="score")
    assert "name the column with --score" not in str(error.value)


@pytest.mark.parametrize("dtype", [pl.Date, pl.Binary, pl.List(pl.Int64), pl.Struct({"x": pl.Int64})])
def test_columns_that_cannot_be_verdicts(dtype: Any) -> None:
    with pytest.raises(UnusableType, match="'v'"):
        flags([], dtype)


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([0.69, 0.7, 0.71, None, NAN, INF], pl.Float64, [W, C, C, M, M, C]),
        ([0.69, 0.7, NAN], pl.Float32, [W, C, M]),  # 0.7 as Float32 is below 0.7 as Float64
        ([0, 1, None], pl.Int64, [W, C, M]),
        ([Decimal("0.69"), Decimal("0.70")], pl.Decimal(10, 2), [W, C]),
    ],
)
def test_threshold(values: Any, dtype: Any, expected: list[int]) -> None:
    assert flags(values, dtype, kind="score", threshold=0.7) == expected


def test_threshold_on_text_without_types() -> None:
    assert flags(["0.7", "0.1", None, "nan"], untyped=True, kind="score", threshold=0.7) == [C, W, M, M]
    with pytest.raises(BadValue, match="'high'"):
        flags(["0.7", "high"], untyped=True, kind="score", threshold=0.7)
    with pytest.raises(UnusableType, match="numbers"):
        flags(["0.7"], kind="score", threshold=0.7)
    with pytest.raises(UnusableType, match="numbers"):
        flags([True], kind="score", threshold=0.7)


@pytest.mark.parametrize(
    ("p", "q", "p_type", "q_type", "expected"),
    [
        ([1, 2, None], [1, 3, 1], pl.Int64, pl.Int64, [C, W, M]),
        ([1, 2, 3], [1, 3, None], pl.Int8, pl.UInt64, [C, W, M]),
        ([2**64 - 1, 5], [-1, 5], pl.UInt64, pl.Int64, [W, C]),
        ([1, 2, 3], [1.0, 2.5, NAN], pl.Int64, pl.Float64, [C, W, M]),
        ([2**53 + 1, 2**53], [2.0**53, 2.0**53], pl.Int64, pl.Float64, [W, C]),
        ([1.5, NAN, -0.0, INF], [1.5, NAN, 0.0, INF], pl.Float64, pl.Float64, [C, M, C, C]),
        ([1.0, 2.0], [1.0, 3.0], pl.Float32, pl.Float64, [C, W]),
        (
            [Decimal("1.50"), Decimal(2)],
            [Decimal("1.5"), Decimal(3)],
            pl.Decimal(9, 2),
            pl.Decimal(9, 1),
            [C, W],
        ),
        ([Decimal("2.00"), Decimal("2.50")], [2, 2], pl.Decimal(9, 2), pl.Int64, [C, W]),
        ([Decimal("9" * 36 + ".50")], [10**37], pl.Decimal(38, 2), pl.Int128, [W]),
        ([Decimal("0.00")], [0], pl.Decimal(9, 2), pl.Int64, [C]),
        ([Decimal("0.10"), None], [0.1, 0.1], pl.Decimal(9, 2), pl.Float64, [C, M]),
        (["a", "B", None, "1"], ["a", "b", "c", "1.0"], pl.String, pl.String, [C, W, M, W]),
        (["a", "b"], ["a", "a"], pl.Categorical, pl.String, [C, W]),
        (["a", "b"], ["a", "a"], pl.Enum(["a", "b"]), pl.Categorical, [C, W]),
        ([True, False, None], [True, True, True], pl.Boolean, pl.Boolean, [C, W, M]),
        ([dt.date(2024, 1, 1)], [dt.date(2024, 1, 1)], pl.Date, pl.Date, [C]),
        ([MOMENT], [MOMENT], pl.Datetime("ms"), pl.Datetime("ns"), [C]),
        ([b"\x00\xff", b"a"], [b"\x00\xff", b"b"], pl.Binary, pl.Binary, [C, W]),
        ([None, None], ["a", "b"], pl.Null, pl.String, [M, M]),
    ],
)
def test_prediction_equals_label(p: Any, q: Any, p_type: Any, q_type: Any, expected: list[int]) -> None:
    assert equal(p, q, p_type, q_type) == expected
    assert equal(q, p, q_type, p_type) == expected


@pytest.mark.parametrize(
    ("p_type", "q_type"),
    [
        (pl.Int64, pl.String),
        (pl.Float64, pl.String),
        (pl.Boolean, pl.Int64),
        (pl.Boolean, pl.String),
        (pl.Date, pl.String),
        (pl.Date, pl.Datetime("us")),
    ],
)
def test_kinds_that_differ_are_an_error_case_21(p_type: Any, q_type: Any) -> None:
    for one, other in ((p_type, q_type), (q_type, p_type)):
        with pytest.raises(TypeConflict, match="--label-type") as error:
            equal([], [], one, other)
        assert str(one) in str(error.value)
        assert str(other) in str(error.value)


def test_floats_of_two_widths_need_a_tolerance() -> None:
    with pytest.raises(BadValue, match="--tolerance"):
        equal([0.1], [0.1], pl.Float32, pl.Float64)


def test_label_type_text() -> None:
    assert equal([1, 2], ["1", "1"], label_type="text") == [C, W]
    assert equal([True, False, True], ["True", "FALSE", "no"], label_type="text") == [C, C, W]
    assert equal([b"a", b"b", None], ["a", "a", "a"], label_type="text") == [C, W, M]
    assert equal(["1", "2"], ["1.0", "2"], untyped=True, label_type="text") == [W, C]
    with pytest.raises(BadValue, match="--label-type number"):
        equal([1.0], ["1"], label_type="text")  # what pandas makes of integers with gaps


def test_label_type_number() -> None:
    assert equal([1, 2, 3, 4], ["1", "1.0", "3.0", None], label_type="number") == [C, W, C, M]
    assert equal(["1", "01"], ["1.0", "1"], untyped=True, label_type="number") == [C, C]
    big = 2**100
    assert equal([str(big), str(big + 1)], [str(big)] * 2, label_type="number") == [C, W]
    assert equal(["nan"], ["1"], label_type="number") == [M]
    with pytest.raises(BadValue, match="'one'"):
        equal(["one"], ["1"], label_type="number")
    with pytest.raises(UnusableType):
        equal([True], ["1"], label_type="number")


def test_two_untyped_columns() -> None:
    assert equal(["a", "b", None, "7"], ["a", "c", "c", "7"], untyped=True) == [C, W, M, C]
    assert equal(["nan", "nan", "nan"], ["nan", "cat", "1"], untyped=True) == [C, W, M]
    assert equal(["12345678901234567890"], ["12345678901234567891"], untyped=True) == [W]  # one Float64
    for p, q in (("1", "1.0"), ("01", "1"), ("1e3", "1000")):
        with pytest.raises(BadValue, match=r"--label-type number or --label-type text"):
            equal([p], [q], untyped=True)


def test_untyped_text_against_a_typed_label() -> None:
    frame = pl.DataFrame({"p": ["1", "2.0", None, "3"], "q": [1, 2, 3, 4]})
    spec = OutcomeSpec("equal", "p", label="q")

    def read(frame: pl.DataFrame) -> list[int]:
        typed = {"p": Column("p", frame.schema["p"], untyped=True), "q": Column("q", frame.schema["q"])}
        expr, checks = spec.read(typed["p"], typed["q"], where="log")
        for check in checks:
            if frame.select(check.bad.any()).item():
                raise BadValue(where="log", values=[], problem=check.problem)
        return frame.select(expr).to_series().to_list()

    assert read(frame) == [C, C, M, W]
    assert read(pl.DataFrame({"p": ["True", "false"], "q": [True, True]})) == [C, W]
    for p, q in (("x", 1), ("yes", True)):
        with pytest.raises(BadValue, match=r"--label-type"):
            read(pl.DataFrame({"p": [p], "q": [q]}))


def test_tolerance() -> None:
    p = [1.0, 1.6, INF, -INF, NAN, None, INF]
    q = [1.5, 1.0, INF, INF, 1.0, 1.0, 1.0]
    assert equal(p, q, kind="within", tolerance=0.5) == [C, W, C, W, M, M, W]
    assert equal([1, 3], [1.5, 2.0], kind="within", tolerance=0.5) == [C, W]
    assert equal(["1", "2", "nan"], ["1.4", "1", "1"], untyped=True, kind="within", tolerance=0.5) == [
        C,
        W,
        M,
    ]
    assert equal([1.0], [1.0], kind="within", tolerance=0.0) == [C]
    with pytest.raises(BadValue, match="not a number"):
        equal(["x"], ["1"], untyped=True, kind="within", tolerance=0.5)
    with pytest.raises(UnusableType, match="--label-type number"):
        equal(["1"], ["1"], kind="within", tolerance=0.5)
    assert equal(["1"], ["1.1"], kind="within", tolerance=0.5, label_type="number") == [C]
    with pytest.raises(UnusableType):
        equal([True], [1], kind="within", tolerance=0.5)


@pytest.mark.parametrize("kind", ["correct", "equal"])
def test_lists_are_no_outcome(kind: Any) -> None:
    with pytest.raises(UnusableType):
        equal([[1]], [[1]]) if kind == "equal" else flags([[1]])


def test_errors_name_file_row_and_column_case_18(tmp_path: Any) -> None:
    path = tmp_path / "log.csv"
    path.write_text("id,correct\nx,C\ny,I\nz,P\n")
    frame = pl.DataFrame({"id": ["x", "y", "z"], "correct": ["C", "I", "P"]})
    good = pl.DataFrame({"id": ["x", "y"], "correct": [True, False]})
    for source, label in ((path, str(path)), (frame, "the left frame")):
        with pytest.raises(BadValue) as error:
            outcomes(opened(source, good).a)
        assert str(error.value).startswith(f"{label}, row 3: 'correct' is 'P'")


def test_filtered_rows_are_never_bad() -> None:
    frame = pl.DataFrame({"id": [1, 2], "correct": ["C", "P"]})
    pair = opened(frame, frame, where="id < 2")
    assert outcomes(pair.a)[0] == C
    with pytest.raises(StreamcmpError):
        outcomes(opened(frame, frame).a)


def test_shards_may_spell_outcomes_differently_case_23() -> None:
    shards = [
        pl.DataFrame({"id": [1], "correct": [True]}),
        pl.DataFrame({"extra": [0], "correct": [0], "id": [2]}),
        pl.DataFrame({"id": [3, 4], "correct": ["yes", None]}),
    ]
    pair = opened(shards, shards[0])
    assert outcomes(pair.a) == [C, W, C, M]
    halves = [shards[0], pl.DataFrame({"id": [2], "correct": [0.5]})]
    with pytest.raises(BadValue, match=r"0\.5"):
        outcomes(opened(halves, shards[0]).a)
