"""The one outcome rule: correct, wrong or missing, as a pure expression over a shard's columns.

Whatever cannot be read as one of the three is a Check, never silently wrong: the error names the value, the
row and the option that would declare what was meant. Null, NaN and absent are missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from streamcmp.comparison import LabelType
from streamcmp.errors import TypeConflict, UnusableType
from streamcmp.logs.model import CORRECT, MISSING, WRONG
from streamcmp.logs.values import NUMBERS, TEXTS, Check, Column, Number, everywhere, finest, missing, plain_text

Read = tuple[pl.Expr, list[Check]]

TRUE_WORDS = ("true", "yes", "correct", "c", "1", "1.0")
FALSE_WORDS = ("false", "no", "incorrect", "i", "0", "0.0")
NEITHER = (
    "that is neither correct nor wrong (true/false, yes/no, correct/incorrect, C/I or 1/0); "
    "for scores between 0 and 1 name the column with --score and say where to cut with --threshold"
)
DECLARE_LABEL = "say --label-type text or --label-type number to declare how they compare"


@dataclass(frozen=True, slots=True)
class OutcomeSpec:
    """How one side's outcome is read. `value` is the column with the verdict, the prediction or the score.

    `equal` and `within` compare it with `label`, or with the truth file's label where `truth`.
    """

    kind: Literal["correct", "equal", "within", "score"]
    value: str
    label: str | None = None
    tolerance: float | None = None
    threshold: float | None = None
    label_type: LabelType | None = None
    truth: bool = False

    def describe(self) -> dict[str, Any]:
        """What a tally's rule records."""
        role = {"correct": "correct", "score": "score"}.get(self.kind, "prediction")
        optional = {
            "label": self.label,
            "tolerance": self.tolerance,
            "threshold": self.threshold,
            "label_type": self.label_type,
            "truth": self.truth or None,
        }
        kept = {name: value for name, value in optional.items() if value is not None}
        return {"kind": self.kind, role: self.value, **kept}

    def in_words(self) -> str:
        """For notes: `correct where 'pred' equals 'label'`."""
        if self.kind == "correct":
            return f"correct where column {self.value!r} says so"
        if self.kind == "score":
            cut = "1 (and wrong where it is 0)" if self.threshold is None else f"at least {self.threshold}"
            return f"correct where column {self.value!r} is {cut}"
        other = "the truth file's label" if self.truth else f"column {self.label!r}"
        relation = "equals" if self.kind == "equal" else f"is within {self.tolerance} of"
        return f"correct where column {self.value!r} {relation} {other}"

    def read(self, value: Column, label: Column | None, *, where: str) -> Read:
        """The outcome of one shard (or batch) whose columns have these types. `where` names it in errors."""
        if label is not None:
            if "null" in {value.kind, label.kind}:
                return everywhere(value, MISSING, pl.UInt8()), []
            for column in (value, label):
                _refuse_nested(column, where)
            if self.kind == "within":
                assert self.tolerance is not None
                return _within(value, label, self.tolerance, self.label_type, where)
            return _equal(value, label, self.label_type, where)
        if value.kind == "null":
            return everywhere(value, MISSING, pl.UInt8()), []
        _refuse_nested(value, where)
        if self.threshold is not None:
            return _above(value, self.threshold, where)
        return _flag(value, where)


def _code(absent: pl.Expr, correct: pl.Expr) -> pl.Expr:
    codes = {name: pl.lit(code, pl.UInt8) for name, code in (("m", MISSING), ("c", CORRECT), ("w", WRONG))}
    return pl.when(absent).then(codes["m"]).when(correct).then(codes["c"]).otherwise(codes["w"])


def _flag(column: Column, where: str) -> Read:
    """A verdict: bool, 0/1, or one of the known words."""
    if column.kind == "bool":
        return column.expr.cast(pl.UInt8).fill_null(MISSING), []
    if column.kind in NUMBERS:
        one, zero, absent = column.expr == 1, column.expr == 0, missing(column)
    elif column.kind in TEXTS:
        text = column.expr.cast(pl.String).str.strip_chars().str.to_lowercase()
        number = text.cast(pl.Float64, strict=False)  # 1.00 and 1e0 are 1, nan is missing
        one = text.is_in(TRUE_WORDS) | (number == 1).fill_null(value=False)
        zero = text.is_in(FALSE_WORDS) | (number == 0).fill_null(value=False)
        absent = text.is_null() | number.is_nan().fill_null(value=False)
    else:
        raise UnusableType(
            f"the outcome column {column.name!r}",
            where=where,
            type_name=column.type_name,
            advice="a boolean, 0/1 or a word such as true/false is needed",
        )
    return _code(absent, one), [Check(~absent & ~one & ~zero, (column.name,), NEITHER)]


def _above(column: Column, threshold: float, where: str) -> Read:
    """`score >= threshold`, for a Float32 score as Float32: 0.7 is stored there as 0.699999988."""
    if column.kind not in NUMBERS | {"untyped"}:
        raise UnusableType(
            f"the score column {column.name!r}",
            where=where,
            type_name=column.type_name,
            advice="--threshold needs numbers; name another column with --score",
        )
    if column.kind == "untyped":
        score = Number.of(column).float
    else:
        score = column.expr if column.kind == "float" else column.expr.cast(pl.Float64)
    cut = pl.lit(threshold, column.dtype if column.kind == "float" else pl.Float64())
    nan = score.is_nan().fill_null(value=False)  # Polars orders NaN above every number
    return _code(column.expr.is_null() | nan, score >= cut), _unparsed(column)


def _within(value: Column, label: Column, tolerance: float, declared: LabelType | None, where: str) -> Read:
    """`|prediction - label| <= tolerance`; two equal infinities are within any tolerance."""
    for column in (value, label):
        if column.kind not in NUMBERS | {"untyped"} and not (column.kind == "text" and declared == "number"):
            raise UnusableType(
                f"column {column.name!r}",
                where=where,
                type_name=column.type_name,
                advice="--tolerance needs numbers"
                + ("; --label-type number reads text as such" * (column.kind == "text")),
            )
    p, q = Number.of(value).float, Number.of(label).float
    absent = _absent(value, label) | _nan(p) | _nan(q)
    return _code(absent, (p == q) | ((p - q).abs() <= tolerance)), _unparsed(value) + _unparsed(label)


def _equal(value: Column, label: Column, declared: LabelType | None, where: str) -> Read:
    """`prediction == label` for values of one kind."""
    kinds = {value.kind, label.kind}
    if declared == "text":
        return _equal_text(value, label)
    if declared == "number":
        _demand_numbers((value, label), where)
        return _equal_numbers(value, label)
    if kinds <= NUMBERS:
        return _equal_typed_numbers(value, label)
    if kinds <= NUMBERS | {"untyped"} and kinds & NUMBERS:
        return _equal_numbers(value, label)
    if kinds == {"untyped"}:
        return _equal_untyped(value, label)
    if kinds <= TEXTS or kinds <= {"bool", "untyped"}:
        return _equal_text(value, label)
    if len(kinds) == 1:
        stamp = finest((value.dtype, label.dtype))
        return _code(_absent(value, label), plain_text(value, stamp) == plain_text(label, stamp)), []
    raise TypeConflict(
        f"{where}: prediction and label have different types",
        f"{value.name!r} is {value.type_name}",
        f"{label.name!r} is {label.type_name}",
        DECLARE_LABEL,
    )


def _equal_typed_numbers(value: Column, label: Column) -> Read:
    """Numeric types, compared exactly. Floats of two widths that agree only when rounded are an error."""
    if value.dtype == label.dtype:
        return _code(missing(value) | missing(label), value.expr == label.expr), []
    if {value.kind, label.kind} == {"float"}:
        narrow = min(value.dtype, label.dtype, key=lambda dtype: int(str(dtype).removeprefix("Float")))
        p, q = value.expr.cast(pl.Float64), label.expr.cast(pl.Float64)
        rounded = (p != q) & (value.expr.cast(narrow) == label.expr.cast(narrow))
        problem = (
            f"equal only when both are rounded to {narrow}; say --tolerance to declare how close is right"
        )
        absent = missing(value) | missing(label)
        return _code(absent, p == q), [Check(rounded & ~absent, (value.name, label.name), problem)]
    if "decimal" in {value.kind, label.kind} and "float" not in {value.kind, label.kind}:
        scale = max(column.dtype.scale for column in (value, label) if isinstance(column.dtype, pl.Decimal))
        p, q = (column.expr.cast(pl.Decimal(38, scale), strict=False) for column in (value, label))
        return _code(_absent(value, label), (p == q).fill_null(value=False)), []
    return _equal_numbers(value, label)


def _equal_numbers(value: Column, label: Column) -> Read:
    """Numbers, some of them spelled as text; text that spells none is an error."""
    p, q = Number.of(value), Number.of(label)
    absent = _absent(value, label) | _nan(p.float) | _nan(q.float)
    return _code(absent, p.equals(q)), _unparsed(value) + _unparsed(label)


def _equal_text(value: Column, label: Column) -> Read:
    """The texts of both values. A boolean is true or false in any case.

    A float that would differ only in its spelling ("1.0" and "1") is an error.
    """
    texts = [
        column.expr.cast(pl.String) if column.kind != "binary" else plain_text(column)
        for column in (value, label)
    ]
    if "bool" in {value.kind, label.kind}:
        texts = [text.str.to_lowercase() for text in texts]
    absent = missing(value) | missing(label)
    checks = []
    if "float" in {value.kind, label.kind}:
        spelled = (texts[0] != texts[1]) & (Number.of(value).float == Number.of(label).float)
        problem = "as texts these differ, as numbers they agree; say --label-type number"
        checks = [Check(spelled & ~absent, (value.name, label.name), problem)]
    if {value.kind, label.kind} == {"bool", "untyped"}:
        plain, text = (column if column.kind == "untyped" else None for column in (value, label)), texts
        checks += [
            Check(
                ~one.is_in(["true", "false"]), (column.name,), f"the other column is boolean; {DECLARE_LABEL}"
            )
            for column, one in zip(plain, text, strict=True)
            if column is not None
        ]
    return _code(absent, texts[0] == texts[1]), checks


def _equal_untyped(value: Column, label: Column) -> Read:
    """Two columns of a file without types: text, unless the numbers they spell would tell another story."""
    p, q = Number.of(value).float, Number.of(label).float
    # A spelled NaN beside a number is a failed prediction or label; beside a word it may be the class "nan".
    spelled_nan = (_nan(p) & q.is_not_nan().fill_null(value=False)) | (
        _nan(q) & p.is_not_nan().fill_null(value=False)
    )
    absent = _absent(value, label) | spelled_nan
    differs = (value.expr != label.expr) & (p == q)
    problem = "as texts these differ, as numbers they agree; say --label-type number or --label-type text"
    return _code(absent, value.expr == label.expr), [
        Check(differs & ~absent, (value.name, label.name), problem)
    ]


def _absent(*columns: Column) -> pl.Expr:
    return pl.any_horizontal(missing(column) for column in columns)


def _nan(number: pl.Expr) -> pl.Expr:
    return number.is_nan().fill_null(value=False)


def _unparsed(column: Column) -> list[Check]:
    """Text that was to be read as a number and spells none."""
    if column.kind not in TEXTS:
        return []
    bad = column.expr.is_not_null() & Number.of(column).float.is_null()
    return [Check(bad, (column.name,), "that is not a number; say --label-type text if words were meant")]


def _demand_numbers(columns: Sequence[Column], where: str) -> None:
    for column in columns:
        if column.kind not in NUMBERS | TEXTS:
            raise UnusableType(
                f"column {column.name!r}",
                where=where,
                type_name=column.type_name,
                advice="--label-type number reads numbers and text",
            )


def _refuse_nested(column: Column, where: str) -> None:
    if column.kind == "other":
        raise UnusableType(
            f"column {column.name!r}",
            where=where,
            type_name=column.type_name,
            advice="a single value per row is needed",
        )
