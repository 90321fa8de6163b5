"""A tree on a report: which value each part has. The slices of a family are looked at all at once."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import polars as pl
from polars import selectors

from streamcmp.earlier import slice_key
from streamcmp.gates.scope import BASELINE, SLICE, Kind, Scope
from streamcmp.gates.syntax import (
    Call,
    Chain,
    Comparison,
    Junction,
    Name,
    Negative,
    Node,
    Not,
    Number,
    Text,
    Truth,
)
from streamcmp.ledger import LEDGER_FIELDS
from streamcmp.report.model import Family, Report, result_schema, slice_dicts
from streamcmp.report.outcomes import Before
from streamcmp.report.values import plain_slices
from streamcmp.tally import OVERALL, SLICE_PREFIX

FAMILY_FIELDS: Final[Mapping[str, Kind]] = {
    "slices": "whole",
    "tested": "whole",
    **dict.fromkeys(("micro_gain", "macro_gain", "macro_gain_low", "macro_gain_high"), "number"),
    **dict.fromkeys(("heterogeneity.p", "heterogeneity.log10_p", "heterogeneity.p_both_ways"), "number"),
    **dict.fromkeys(("heterogeneity.slices_won", "heterogeneity.slices_lost"), "whole"),
    "overlapping": "truth",
}
_BEFORE: Final = ("n", "gain", "verdict")
_SIGNS: Final[Mapping[str, Callable[[pl.Expr, pl.Expr], pl.Expr]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def fields(analysis: Mapping[str, Any]) -> dict[str, Kind]:
    """The fields of a result of this analysis (its `to_dict`), and their kinds."""
    return {name: _kind(dtype) for name, dtype in result_schema(analysis).items()}


def _kind(dtype: Any) -> Kind:
    if dtype == pl.Boolean:
        return "truth"
    if dtype == pl.Int64:
        return "whole"
    return "number" if dtype.is_numeric() and not dtype.is_decimal() else "text"


def expected(
    analysis: Mapping[str, Any], families: Mapping[str, tuple[str, ...]], *, earlier: bool = False
) -> Scope:
    """The scope of a report that is to come; `families`: their names and columns."""
    any_kind: Kind = "any"
    columns = {name: dict.fromkeys(own, any_kind) for name, own in {OVERALL: (), **families}.items()}
    return _scope(analysis, columns, earlier=earlier)


def _scope(
    analysis: Mapping[str, Any], families: Mapping[str, Mapping[str, Kind]], *, earlier: bool
) -> Scope:
    part: Kind = "part"
    return Scope(fields(analysis), dict.fromkeys(LEDGER_FIELDS, part), families, FAMILY_FIELDS, earlier)


@dataclass(frozen=True)
class Slices:
    """The slices for which a quantifier's condition holds: `mask`, a row per slice from row `start` on."""

    family: Family
    start: int
    frame: pl.DataFrame
    mask: pl.Series

    @property
    def holding(self) -> int:
        """How many they are."""
        return int(self.mask.sum())


class Facts:
    """A report, as gates see it."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.overall = report.overall

    @cached_property
    def families(self) -> dict[str, tuple[Family, int, pl.DataFrame]]:
        """Each family, the number of its first row in the results, and its rows."""
        found, start = {}, 0
        for family, rows in self.report.by_family():
            own = [SLICE_PREFIX + column for column in family.columns]
            frame = plain_slices(rows.select(*own, *self.report.fields))
            if self.report.changes is not None:
                frame = frame.hstack(self._before(family, rows))
            # NaN, as a slice, is no number to be compared.
            found[family.family] = (family, start, frame.with_columns(selectors.float().fill_nan(None)))
            start += rows.height
        return found

    def _before(self, family: Family, rows: pl.DataFrame) -> pl.DataFrame:
        """What the earlier report says of each slice: itself, but where it changed; null where it is new."""
        assert self.report.changes is not None
        own = rows.select(_BEFORE).rename({name: f"{BASELINE}.{name}" for name in _BEFORE})
        if family.family in self.report.changes.families_new:
            return own.clear(rows.height)
        changed = {
            slice_key(one.family, one.slice): one.before
            for one in self.report.changes.slices
            if one.now is not None and one.family == family.family
        }
        if not changed:
            return own
        then: list[tuple[Any, ...]] = own.rows()
        for at, cut in enumerate(slice_dicts(family, rows)):
            key = slice_key(family.family, cut)
            if key in changed:
                before = changed[key]
                then[at] = (None,) * 3 if before is None else _numbers(before)
        return pl.DataFrame(then, schema=own.schema, orient="row")

    @property
    def scope(self) -> Scope:
        """What can be named."""
        columns: dict[str, dict[str, Kind]] = {
            name: {
                column: "number" if (kind := _kind(frame.schema[SLICE_PREFIX + column])) == "whole" else kind
                for column in family.columns
            }
            for name, (family, _, frame) in self.families.items()
        }
        earlier = self.report.changes is not None
        return _scope(self.report.comparison["analysis"], columns, earlier=earlier)

    def value(self, name: Name) -> Any:
        """What a name outside a quantifier stands for; None where it does not exist."""
        first, *rest = name.parts
        if first == "overall":
            return self.overall[rest[0]]
        if first == "ledger":
            ledger = self.report.ledger
            return None if ledger is None else ledger.to_dict()[rest[0]][rest[1]]
        if first == BASELINE:
            before = None if self.report.changes is None else self.report.changes.overall.before
            return None if before is None else getattr(before, rest[-1])
        value: Any = self.families[rest[0]][0].to_dict()
        for key in rest[1:]:
            value = None if value is None else value.get(key)
        return value

    def rows_of(self, name: Name) -> int | None:
        """All rows of the ledger's side that `name` counts some of."""
        ledger = self.report.ledger
        return None if ledger is None else ledger.to_dict()[name.parts[1]]["rows"]

    def truth(self, node: Node) -> bool:
        """Whether a condition outside a quantifier holds."""
        return bool(pl.select(_known(self._expression(node, None))).item())

    def slices(self, call: Call) -> Iterator[Slices]:
        """The slices that a quantifier is about, family by family."""
        for name, (family, start, frame) in self.families.items():
            if name == call.family or (call.family is None and name != OVERALL):
                condition = call.condition or Truth(call.place, value=True)
                # Beside a column, a condition that names no field of the slice has a value for each of them.
                held = frame.select(_known(self._expression(condition, family)).alias("holds"), pl.col("n"))
                yield Slices(family, start, frame, held["holds"])

    def number(self, call: Call) -> tuple[int, int]:
        """How many slices hold, and of how many."""
        parts = list(self.slices(call))
        return sum(part.holding for part in parts), sum(part.mask.len() for part in parts)

    def _expression(self, node: Node, family: Family | None) -> pl.Expr:
        def inner(part: Node) -> pl.Expr:
            return self._expression(part, family)

        match node:
            case Number() | Text() | Truth():
                return _literal(node.value)
            case Name():
                return self._name(node, family)
            case Call():
                holding, of = self.number(node)
                return _literal({"any": holding > 0, "all": holding == of, "count": holding}[node.quantifier])
            case Negative():
                return -inner(node.term).cast(pl.Float64)
            case Chain():
                total = inner(node.terms[0]).cast(pl.Float64)
                for sign, term in zip(node.signs[1:], node.terms[1:], strict=True):
                    total = _SIGNS[sign](total, inner(term).cast(pl.Float64))
                # Divided by 0, or too large: a number that does not exist.
                return pl.when(total.is_finite()).then(total)
            case Comparison():
                return self._comparison(node, family)
            case Not():
                return ~_known(inner(node.part))
            case Junction():
                joined = pl.all_horizontal if node.word == "and" else pl.any_horizontal
                return joined([_known(inner(part)) for part in node.parts])

    def _comparison(self, node: Comparison, family: Family | None) -> pl.Expr:
        sides = [self._expression(part, family) for part in (node.left, node.right)]
        for at, other in ((0, node.right), (1, node.left)):
            if isinstance(other, Number) and other.percent:
                share = self.share((node.left, node.right)[at])
                sides[at] = sides[at] if share is None else share
        return _known(_SIGNS[node.sign](*sides))

    def share(self, node: Node) -> pl.Expr | None:
        """The part of all that a count is, if it is one of which a percentage can be taken."""
        if isinstance(node, Call) and node.quantifier == "count":
            part, whole = self.number(node)
        elif isinstance(node, Name) and node.parts[0] == "ledger":
            part, whole = self.value(node), self.rows_of(node) or 0
        else:
            return None
        return _literal(part / whole if whole else None)

    def column(self, name: Name) -> str | None:
        """The column of `Slices.frame` that a name within a quantifier stands for; None if it is none."""
        first, *rest = name.parts
        if first == SLICE and rest:
            return SLICE_PREFIX + ".".join(rest)
        if first == BASELINE and len(rest) == 1:
            return f"{BASELINE}.{rest[0]}"
        if rest:
            return None
        return first if first in self.report.fields else SLICE_PREFIX + first

    def _name(self, node: Name, family: Family | None) -> pl.Expr:
        column = None if family is None else self.column(node)
        return _literal(self.value(node)) if column is None else pl.col(column)


def _numbers(before: Before) -> tuple[Any, ...]:
    return tuple(getattr(before, name) for name in _BEFORE)


def _literal(value: Any) -> pl.Expr:
    if value is None:
        return pl.lit(None, pl.Null)
    fits = not isinstance(value, int) or isinstance(value, bool) or -(2**63) <= value < 2**63
    return pl.lit(value if fits else float(value))


def _known(condition: pl.Expr) -> pl.Expr:
    """A condition on a value that does not exist does not hold."""
    return condition.cast(pl.Boolean).fill_null(value=False)
