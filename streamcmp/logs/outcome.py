"""The one outcome rule: correct, wrong or missing, as a pure expression over a shard's columns.

Whatever cannot be read as one of the three is a Check, never silently wrong: the error names the value, the
row and the option that would declare what was meant. Null, NaN and absent are missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from streamcmp.comparison import LabelType
from streamcmp.errors import UnusableType
from streamcmp.logs.equality import Read, equal, is_nan, unparsed, verdict, within
from streamcmp.logs.model import MISSING
from streamcmp.logs.values import (
    NUMBERS,
    TEXTS,
    Check,
    Column,
    Number,
    everywhere,
    missing,
)

TRUE_WORDS = ("true", "yes", "correct", "c", "1", "1.0")
FALSE_WORDS = ("false", "no", "incorrect", "i", "0", "0.0")
GRADES = {**dict.fromkeys(TRUE_WORDS, 1.0), **dict.fromkeys(FALSE_WORDS, 0.0), "n": 0.0, "p": 0.5}
NO_GRADE = (
    "that is neither correct (C) nor wrong (I, N); to cut partial credit (P is 0.5) and scores "
    "between 0 and 1 say where with --threshold"
)
_NO_VERDICT = "that is neither correct nor wrong (true/false, yes/no, correct/incorrect, C/I or 1/0); "
NEITHER = (
    f"{_NO_VERDICT}for scores from 0 to 1 name the column with --score and say where to cut with --threshold"
)
UNCUT = "that is neither 0 nor 1: say with --threshold from which score on an answer is correct"
NO_WORD = f"{_NO_VERDICT}to compare predictions with labels name both with --prediction and --label"


@dataclass(frozen=True, slots=True)
class OutcomeSpec:
    """How one side's outcome is read. `value` is the column with the verdict, the prediction or the score.

    `equal` and `within` compare it with `label`, or with the truth file's label where `truth`. `nothing`: all
    are missing; `settled`: the column has the codes.
    """

    kind: Literal["correct", "equal", "within", "score", "nothing", "settled"]
    value: str
    label: str | None = None
    tolerance: float | None = None
    threshold: float | None = None
    label_type: LabelType | None = None
    truth: bool = False
    grades: bool = False  # texts are grades: C correct, I and N wrong, P half

    def describe(self) -> dict[str, Any]:
        """What a tally's rule records."""
        role = {"correct": "correct", "score": "score"}.get(self.kind, "prediction")
        optional = {
            "label": self.label,
            "tolerance": self.tolerance,
            "threshold": self.threshold,
            "label_type": self.label_type,
            "truth": self.truth or None,
            "grades": self.grades or None,
        }
        kept = {name: value for name, value in optional.items() if value is not None}
        return {"kind": self.kind, role: self.value, **kept}

    def in_words(self) -> str:
        """For notes: `correct where 'pred' equals 'label'`."""
        if self.kind == "correct":
            return f"correct where column {self.value!r} says so"
        if self.kind == "score":
            yes, no = ("C or 1", "I, N or 0") if self.grades else ("1", "0")
            cut = (
                f"{yes} (and wrong where it is {no})"
                if self.threshold is None
                else f"at least {self.threshold}"
            )
            return f"correct where column {self.value!r} is {cut}"
        other = "the truth file's label" if self.truth else f"column {self.label!r}"
        relation = "equals" if self.kind == "equal" else f"is within {self.tolerance} of"
        return f"correct where column {self.value!r} {relation} {other}"

    def read(self, value: Column, label: Column | None, *, where: str) -> Read:
        """The outcome of one shard (or batch) whose columns have these types. `where` names it in errors."""
        if self.kind == "settled":
            return value.expr, []
        if label is not None:
            if "null" in {value.kind, label.kind}:
                return everywhere(value, MISSING, pl.UInt8()), []
            for column in (value, label):
                _refuse_nested(column, where)
            if self.kind == "within":
                assert self.tolerance is not None
                return within(value, label, self.tolerance, self.label_type, where)
            return equal(value, label, self.label_type, where)
        if value.kind == "null" or self.kind == "nothing":
            return everywhere(value, MISSING, pl.UInt8()), []
        _refuse_nested(value, where)
        if self.grades and value.kind in {"text", "bool"}:
            return _graded(value, self.threshold)
        if self.threshold is not None:
            return _above(value, self.threshold, where)
        return _flag(value, where, UNCUT if self.kind == "score" else NEITHER)


def _flag(column: Column, where: str, no_flag: str) -> Read:
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
    neither = ~absent & ~one & ~zero
    if column.kind in NUMBERS:
        return verdict(absent, one), [Check(neither, (column.name,), no_flag)]
    score = number.is_not_null()
    return verdict(absent, one), [
        Check(neither & score, (column.name,), no_flag),
        Check(neither & ~score, (column.name,), NO_WORD),
    ]


def _graded(column: Column, threshold: float | None) -> Read:
    """A harness's grade, or a word or number as text, as a number between 0 and 1; cut there or 0 and 1."""
    text = column.expr.cast(pl.String).str.strip_chars()
    known = text.str.to_lowercase().replace_strict(GRADES, default=None, return_dtype=pl.Float64)
    number = pl.coalesce(known, text.cast(pl.Float64, strict=False))
    absent = text.is_null() | is_nan(number)
    if threshold is None:
        bad = ~absent & ~number.is_in([0.0, 1.0]).fill_null(value=False)
        return verdict(absent, number == 1), [Check(bad, (column.name,), NO_GRADE)]
    bad = ~absent & number.is_null()
    return verdict(absent, number >= threshold), [
        Check(bad, (column.name,), "that is no grade and no number")
    ]


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
    return verdict(column.expr.is_null() | nan, score >= cut), unparsed(column)


def _refuse_nested(column: Column, where: str) -> None:
    if column.kind == "other":
        raise UnusableType(
            f"column {column.name!r}",
            where=where,
            type_name=column.type_name,
            advice="a single value per row is needed",
        )
