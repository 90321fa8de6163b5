"""Predictions against labels: equal, or within a tolerance, for every pair of types that may meet.

Types that differ are an error, and so are values whose text says one thing and whose number another: which of
the two was meant is for the user to declare, because a guess would call right answers wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl

from streamcmp.comparison import LabelType
from streamcmp.errors import TypeConflict, UnusableType
from streamcmp.logs.model import CORRECT, MISSING, WRONG
from streamcmp.logs.values import (
    NUMBERS,
    TEXTS,
    Check,
    Column,
    Number,
    decimal_text,
    declared_text,
    finest,
    missing,
    narrowest,
    plain_text,
)

Read = tuple[pl.Expr, list[Check]]  # the outcome, and what no row may hold

DECLARE_LABEL = "say --label-type text or --label-type number to declare how they compare"


def verdict(absent: pl.Expr, correct: pl.Expr) -> pl.Expr:
    """The outcome code, from whether it is absent and whether it is correct (null counts as not)."""
    missing_, correct_, wrong = (pl.lit(code, pl.UInt8) for code in (MISSING, CORRECT, WRONG))
    return pl.when(absent).then(missing_).when(correct).then(correct_).otherwise(wrong)


def within(value: Column, label: Column, tolerance: float, declared: LabelType | None, where: str) -> Read:
    """`|prediction - label| <= tolerance`; two equal infinities are within any tolerance."""
    for column in (value, label):
        if column.kind not in NUMBERS | {"untyped"} and not (column.kind == "text" and declared == "number"):
            hint = "; --label-type number reads text as such" if column.kind == "text" else ""
            advice = f"--tolerance needs numbers{hint}"
            raise UnusableType(
                f"column {column.name!r}", where=where, type_name=column.type_name, advice=advice
            )
    if value.kind == label.kind == "int" and tolerance < 2**53:
        # Exact: as floats, 2^53 + 1 and 2^53 would be one number.
        apart = (Number.of(value).exact - Number.of(label).exact).abs()
        return verdict(_absent(value, label), apart <= math.floor(tolerance)), []
    p, q = Number.of(value).float, Number.of(label).float
    absent = _absent(value, label) | is_nan(p) | is_nan(q)
    return verdict(absent, (p == q) | ((p - q).abs() <= tolerance)), unparsed(value) + unparsed(label)


def equal(value: Column, label: Column, declared: LabelType | None, where: str) -> Read:
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
        return verdict(_absent(value, label), plain_text(value, stamp) == plain_text(label, stamp)), []
    raise TypeConflict(
        f"{where}: prediction and label have different types",
        f"{value.name!r} is {value.type_name}",
        f"{label.name!r} is {label.type_name}",
        DECLARE_LABEL,
    )


def _equal_typed_numbers(value: Column, label: Column) -> Read:
    """Numeric types, compared exactly. Floats of two widths that agree only when rounded are an error."""
    if value.dtype == label.dtype:
        return verdict(missing(value) | missing(label), value.expr == label.expr), []
    if {value.kind, label.kind} == {"float"}:
        narrow = narrowest((value.dtype, label.dtype))
        p, q = value.expr.cast(pl.Float64), label.expr.cast(pl.Float64)
        rounded = (p != q) & (value.expr.cast(narrow) == label.expr.cast(narrow))
        problem = (
            f"equal only when both are rounded to {narrow}; say --tolerance to declare how close is right"
        )
        absent = missing(value) | missing(label)
        return verdict(absent, p == q), [Check(rounded & ~absent, (value.name, label.name), problem)]
    if "decimal" in {value.kind, label.kind} and "float" not in {value.kind, label.kind}:
        return verdict(_absent(value, label), decimal_text(value) == decimal_text(label)), []
    return _equal_numbers(value, label)


def _equal_numbers(value: Column, label: Column) -> Read:
    """Numbers, some of them spelled as text; text that spells none is an error."""
    p, q = Number.of(value), Number.of(label)
    absent = _absent(value, label) | is_nan(p.float) | is_nan(q.float)
    return verdict(absent, p.equals(q)), unparsed(value) + unparsed(label)


def _equal_text(value: Column, label: Column) -> Read:
    """The texts of both values. A boolean is true or false in any case.

    A float that would differ only in its spelling ("1.0" and "1") is an error.
    """
    texts, checks = [declared_text(value), declared_text(label)], list[Check]()
    if "bool" in {value.kind, label.kind}:
        texts = [text.str.to_lowercase() for text in texts]
    absent = missing(value) | missing(label)
    if "float" in {value.kind, label.kind}:
        spelled = (texts[0] != texts[1]) & (Number.of(value).float == Number.of(label).float)
        problem = "as texts these differ, as numbers they agree; say --label-type number"
        checks.append(Check(spelled & ~absent, (value.name, label.name), problem))
    if {value.kind, label.kind} == {"bool", "untyped"}:
        column, text = (value, texts[0]) if value.kind == "untyped" else (label, texts[1])
        problem = f"the other column is boolean; {DECLARE_LABEL}"
        checks.append(Check(~text.is_in(["true", "false"]), (column.name,), problem))
    return verdict(absent, texts[0] == texts[1]), checks


def _equal_untyped(value: Column, label: Column) -> Read:
    """Two columns of a file without types: text, unless the numbers they spell would tell another story."""
    p, q = Number.of(value), Number.of(label)
    # A spelled NaN beside a number is a failed prediction or label; beside a word it may be the class "nan".
    absent = _absent(value, label) | (is_nan(p.float) & q.is_number()) | (is_nan(q.float) & p.is_number())
    differs = (value.expr != label.expr) & p.equals(q)
    problem = "as texts these differ, as numbers they agree; say --label-type number or --label-type text"
    return verdict(absent, value.expr == label.expr), [
        Check(differs & ~absent, (value.name, label.name), problem)
    ]


def _absent(*columns: Column) -> pl.Expr:
    return pl.any_horizontal(missing(column) for column in columns)


def is_nan(number: pl.Expr) -> pl.Expr:
    """Whether a number is NaN; false for null."""
    return number.is_nan().fill_null(value=False)


def unparsed(column: Column) -> list[Check]:
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
