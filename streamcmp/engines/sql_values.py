"""What a column of a table means, in SQL: ids, outcomes, NaN, by the rules of `logs`.

The table's types are not known here, so every expression holds whatever the type is. A value that is neither
correct, wrong nor missing makes the statement fail with that value in the message; where a dialect has null
instead, the row is counted nowhere, the ledger does not balance, and finalizing refuses it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from streamcmp.engines.sql import choose, column, flag, number, text
from streamcmp.logs.model import CORRECT, MISSING, WRONG
from streamcmp.logs.outcome import FALSE_WORDS, TRUE_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamcmp.comparison import LabelType
    from streamcmp.logs.outcome import OutcomeSpec

# Numbers as engines spell them. Brackets, not backslashes, which not every dialect takes for a backslash.
_ONE = "^[+]?0*1([.]0*)?(e[+-]?0+)?$"
_ZERO = "^[+-]?(0+([.]0*)?|[.]0+)(e[+-]?[0-9]+)?$"
_NAN = "^[+-]?nan$"
_DIGITS = "^[+-]?[0-9]+$"
_WHOLE = "^[+-]?[0-9]+[.]0*(e[+]?0+)?$"
_NUMERIC = "^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)(e[+-]?[0-9]+)?$"
_EXACT = 2**53  # from here on a double is no longer the integer that it was made of

# What tells the type of a value, and the float types by the names that it gives them, in lower case. BigQuery
# has no such function, Redshift nothing at all.
_TYPE_OF = {
    "duckdb": ("TYPEOF", ("double", "float")),
    "spark": ("TYPEOF", ("double", "float")),
    "databricks": ("TYPEOF", ("double", "float")),
    "trino": ("TYPEOF", ("double", "real")),
    "postgres": ("PG_TYPEOF", ("double precision", "real")),
    "snowflake": ("SYSTEM$TYPEOF", ("float[double]", "float", "double")),
    "clickhouse": ("toTypeName", ("float64", "float32", "nullable(float64)", "nullable(float32)")),
}
# Of these, those of 32 bits.
_NARROW = ("float", "real", "float32", "nullable(float32)")
# Where the text of a float is not its shortest one, or no float is narrower than a double.
_NOT_BY_TEXT = ("snowflake", "redshift", "bigquery")


@dataclass(frozen=True)
class Meaning:
    """Expressions over one table in one dialect. `excluded`: the rows of which nothing is demanded."""

    dialect: str
    excluded: exp.Expr | None

    def plain(self, name: str) -> exp.Expr:
        """The value in its own type; null where it is NaN."""
        nan = self._is_nan(name)
        return column(name) if nan is None else exp.case().when(nan, exp.null()).else_(column(name))

    def text_id(self, name: str) -> exp.Expr:
        """The text of an id, as it stands; null where it is null or NaN."""
        nan = self._is_nan(name)
        return _text(name) if nan is None else exp.case().when(nan, exp.null()).else_(_text(name))

    def label(self, name: str, label_type: LabelType | None) -> exp.Expr:
        """A label, so that "1" is the 1.0 of another table where labels are numbers; null where it is NaN."""
        if label_type == "number":
            return self._number(name)
        return self.text_id(name) if label_type == "text" else self.plain(name)

    def guard_refusal(self, one: exp.Expr, other: exp.Expr, *, name: str) -> tuple[exp.Expr, exp.Expr] | None:
        """When two guards cannot be compared, and what fails then: floats of two widths that are not equal.

        They would have to meet at the narrower, which has other names in every dialect.
        """
        if self.dialect not in _TYPE_OF or self.dialect in _NOT_BY_TEXT:
            return None
        _, floats = _TYPE_OF[self.dialect]
        typed = (self._has_type(each, floats) for each in (one, other))
        narrow = (flag(self._has_type(each, _NARROW)) for each in (one, other))
        differ = _unequal(one.copy(), other.copy())
        problem = "a guard is a float of 32 bits in one table and of 64 in the other, so give both one type"
        return exp.and_(*typed, _unequal(*narrow), differ), _refuse_of(problem, name, one)

    def label_refusal(
        self, one: exp.Expr, other: exp.Expr, *, name: str, label_type: LabelType | None
    ) -> tuple[exp.Expr, exp.Expr] | None:
        """The same for labels. As texts, a boolean is spelled by the engine: another's True would differ."""
        if label_type == "number":
            return None
        if label_type != "text":
            return self.guard_refusal(one, other, name=name)
        lower = [exp.Lower(this=each.copy()) for each in (one, other)]
        alike = exp.EQ(this=lower[0], expression=lower[1])
        logical = exp.and_(alike, _among(lower[0].copy(), ("true", "false")))
        problem = "a label in another case than the other table's, or a boolean"
        return exp.and_(_unequal(one.copy(), other.copy()), logical), _refuse_of(problem, name, one)

    def _number(self, name: str) -> exp.Expr:
        """As a double, null where it is NaN; those that a double cannot tell apart are refused."""
        found = exp.case().when(exp.or_(_is_null(name), _matches(_lower(name), _NAN)), exp.null())
        if self.excluded is not None:
            found = found.when(self.excluded.copy(), exp.null())
        return _refuse_large(found, name, self._double(name)).else_(self._double(name))

    def whole_id(self, name: str) -> exp.Expr:
        """An id as a 64-bit integer, from whatever spells a whole number."""
        missing = exp.or_(_is_null(name), _matches(_lower(name), _NAN))
        number_ = exp.cast(_text(name), "DOUBLE")
        exact = exp.LT(this=exp.Abs(this=number_), expression=_constant(float(_EXACT)))
        found = (
            exp.case()
            .when(missing, exp.null())
            .when(_matches(_text(name), _DIGITS), exp.cast(_text(name), "BIGINT"))
            .when(_both(_matches(_lower(name), _WHOLE), exact), exp.cast(number_.copy(), "BIGINT"))
        )
        if self.excluded is not None:
            found = found.when(self.excluded.copy(), exp.null())
        return found.else_(_refuse("--id-type int, but this id is no whole number", name))

    def outcome(self, spec: OutcomeSpec) -> exp.Expr:
        """WRONG, CORRECT or MISSING; rows that are excluded have none."""
        found = exp.case()
        if self.excluded is not None:
            found = found.when(self.excluded.copy(), number(MISSING))
        if spec.label is None:
            found = found.when(_is_null(spec.value), number(MISSING))
            return self._verdict(found, spec) if spec.threshold is None else self._above(found, spec)
        found = found.when(exp.or_(_is_null(spec.value), _is_null(spec.label)), number(MISSING))
        if spec.kind == "equal" and spec.label_type == "text":
            return self._equal_text(found, spec.value, spec.label)
        return self._close(found, spec.value, spec.label, spec.tolerance)

    def _verdict(self, found: exp.Case, spec: OutcomeSpec) -> exp.Expr:
        words = exp.Trim(this=_lower(spec.value))
        for code, spelled, pattern in ((CORRECT, TRUE_WORDS, _ONE), (WRONG, FALSE_WORDS, _ZERO)):
            says = exp.or_(_among(words.copy(), spelled), _matches(words.copy(), pattern))
            found = found.when(says, number(code))
        found = found.when(_matches(words.copy(), _NAN), number(MISSING))
        return found.else_(_refuse("neither correct nor wrong (true, false, 1, 0, ...)", spec.value))

    def _above(self, found: exp.Case, spec: OutcomeSpec) -> exp.Expr:
        score, cut = self._double(spec.value), _constant(spec.threshold or 0.0)
        return (
            found.when(_matches(_lower(spec.value), _NAN), number(MISSING))
            .when(exp.GTE(this=score, expression=cut), number(CORRECT))
            .when(exp.LT(this=score.copy(), expression=cut.copy()), number(WRONG))
            .else_(_refuse("no score", spec.value))
        )

    def _close(self, found: exp.Case, value: str, label: str, tolerance: float | None) -> exp.Expr:
        """As numbers: equal, or within the tolerance. Those that a double cannot tell apart are refused."""
        for name in (value, label):
            found = found.when(_matches(_lower(name), _NAN), number(MISSING))
        p, q = self._double(value), self._double(label)
        for name, each in ((value, p), (label, q)):
            found = _refuse_large(found, name, each)
        if tolerance is None:
            near: exp.Expr = exp.EQ(this=p, expression=q)
            far: exp.Expr = exp.NEQ(this=p.copy(), expression=q.copy())
        else:
            apart = exp.Abs(this=exp.Sub(this=p, expression=q))
            near = exp.LTE(this=apart, expression=_constant(tolerance))
            far = exp.GT(this=apart.copy(), expression=_constant(tolerance))
        found = found.when(near, number(CORRECT)).when(far, number(WRONG))
        return found.else_(_refuse("no number", value))

    def _equal_text(self, found: exp.Case, value: str, label: str) -> exp.Expr:
        for name in (value, label):
            nan = self._is_nan(name)
            found = found if nan is None else found.when(nan, number(MISSING))
        found = found.when(exp.EQ(this=_text(value), expression=_text(label)), number(CORRECT))
        # A boolean is spelled by the engine: another's True would be called wrong.
        alike = exp.EQ(this=_lower(value), expression=_lower(label))
        logical = exp.and_(alike, _among(_lower(value), ("true", "false")))
        found = found.when(
            logical, _refuse("a label in another case than the prediction, or a boolean", value)
        )
        floats = [self._is_float(name) for name in (value, label)]
        if floats[0] is not None and floats[1] is not None:
            numbers = exp.and_(_matches(_lower(value), _NUMERIC), _matches(_lower(label), _NUMERIC))
            agree = exp.EQ(this=self._double(value), expression=self._double(label))
            spelled = exp.and_(exp.or_(*floats), _both(numbers, agree))
            problem = "as texts prediction and label differ, as numbers they agree; say --label-type number"
            found = found.when(spelled, _refuse(problem, value))
        return found.else_(number(WRONG))

    def _double(self, name: str) -> exp.Expr:
        """The number as a double: by its text where that is the shortest, so that a narrow 0.7 is 0.7."""
        return exp.cast(column(name) if self.dialect in _NOT_BY_TEXT else _text(name), "DOUBLE")

    def _is_nan(self, name: str) -> exp.Expr | None:
        """Whether the column is of a float type and the value is NaN. None where a dialect cannot tell."""
        if self.dialect == "bigquery":
            spelled = exp.Anonymous(this="FORMAT", expressions=[text("%T"), column(name)])
            return exp.EQ(this=spelled, expression=text('CAST("nan" AS FLOAT64)'))
        of_float = self._is_float(name)
        return (
            None
            if of_float is None
            else exp.and_(of_float, exp.EQ(this=_lower(name), expression=text("nan")))
        )

    def _is_float(self, name: str) -> exp.Expr | None:
        if self.dialect not in _TYPE_OF:
            return None
        return self._has_type(column(name), _TYPE_OF[self.dialect][1])

    def _has_type(self, value: exp.Expr, names: Sequence[str]) -> exp.Expr:
        """Whether a value's type has one of these names, in a dialect that can tell."""
        function, _ = _TYPE_OF[self.dialect]
        type_name = exp.cast(exp.Anonymous(this=function, expressions=[value.copy()]), "VARCHAR")
        return _among(exp.Lower(this=type_name), names)


def _unequal(one: exp.Expr, other: exp.Expr) -> exp.NEQ:
    return exp.NEQ(this=one, expression=other)


def _both(first: exp.Expr, second: exp.Expr) -> exp.EQ:
    """Whether both hold; the second is not looked at where the first does not."""
    return exp.EQ(this=choose(first, choose(second, number(1))), expression=number(1))


def _text(name: str) -> exp.Cast:
    return exp.cast(column(name), "VARCHAR")


def _lower(name: str) -> exp.Lower:
    return exp.Lower(this=_text(name))


def _is_null(name: str) -> exp.Is:
    return exp.Is(this=column(name), expression=exp.null())


def _among(value: exp.Expr, words: Sequence[str]) -> exp.In:
    return exp.In(this=value, expressions=[text(word) for word in words])


def _matches(value: exp.Expr, pattern: str) -> exp.RegexpLike:
    return exp.RegexpLike(this=value, expression=text(pattern))


def _constant(value: float) -> exp.Cast:
    return exp.cast(exp.Literal.number(repr(value)), "DOUBLE")


def _refuse_large(found: exp.Case, name: str, value: exp.Expr) -> exp.Case:
    large = exp.GTE(this=exp.Abs(this=value.copy()), expression=_constant(float(_EXACT)))
    return found.when(large, _refuse("a number of 2^53 or more, which SQL compares inexactly", name))


def _refuse(problem: str, name: str) -> exp.Cast:
    """Fails, with problem, column and value in the message: a text that begins so is no integer."""
    return _refuse_of(problem, name, column(name))


def _refuse_of(problem: str, what: str, value: exp.Expr) -> exp.Cast:
    spelled = exp.cast(value.copy(), "VARCHAR")
    said = exp.Concat(
        expressions=[text(f"streamcmp: {problem}; {what} is "), spelled], safe=False, coalesce=False
    )
    return exp.cast(said, "INT")
