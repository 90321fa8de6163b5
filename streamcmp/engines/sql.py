"""The count as one SQL statement: ledger, guards, duplicates and families.

What a side's columns mean is settled before, as expressions (`SideQuery`); what becomes of rows and pairs is
settled here, for every dialect alike. No comparison can meet a null: each says what null means. Its result is
the table of a tally's rows (see tally_file.py), with the rule in one further column.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from sqlglot import exp

from streamcmp.comparison import SIDES
from streamcmp.ledger import LEDGER_FIELDS
from streamcmp.logs.model import CORRECT, MISSING, WRONG
from streamcmp.tally import COUNTERS, OVERALL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from streamcmp.comparison import Rule, SideName

    Refusal = Callable[[exp.Expr, exp.Expr], tuple[exp.Expr, exp.Expr] | None]

    Term = tuple[exp.Expr, ...]

_CELL = {
    "both_correct": (CORRECT, CORRECT),
    "n_ab": (CORRECT, WRONG),
    "n_ba": (WRONG, CORRECT),
    "both_wrong": (WRONG, WRONG),
}
_NUMBERS = tuple(dict.fromkeys((*COUNTERS, *LEDGER_FIELDS)))
_UNPAIRED = ("filtered", "duplicate", "unmatched")
_MATCHED = ("guard_mismatch", "unscored", "paired")
# No table of a user's is called so.
ROWS, IDS, FATES, UNPAIRED, PAIRS, COUNTED, MATCHED = (
    f"streamcmp_{name}" for name in ("rows", "ids", "fates", "unpaired", "pairs", "counted", "matched")
)


@dataclass(frozen=True)
class SideQuery:
    """What one side's columns mean, as expressions over its table.

    `outcome` is WRONG, CORRECT or MISSING, `excluded` true or false, neither ever null. `families` has, per
    `--by` term, one expression per column; None where this side does not carry the term.
    """

    source: exp.Expr
    ids: Term
    outcome: exp.Expr
    excluded: exp.Expr | None
    guards: Term
    families: tuple[Term | None, ...]
    # Per guard, of its two values: when they cannot be compared, and what fails then. Side a's count.
    refusals: tuple[Refusal, ...] = ()


def statement(
    sides: Mapping[SideName, SideQuery], rule: Rule, labels: Sequence[Sequence[str]], rule_text: str | None
) -> exp.Query:
    """The whole count.

    Args:
        sides: both sides. A term of `by` is carried by at least one.
        rule: for families, guards, and what becomes of missing outcomes and differing guards.
        labels: per family, what its columns are called in the result.
        rule_text: what stands in the column `rule` of the ledger rows; none where there is no such column.
    """
    head = _Head(labels, rule_text)
    branches = [head.types(), head.family(OVERALL, None), *head.families(rule)]
    branches += [head.ledger(side) for side in SIDES]
    whole: exp.Query = branches[0]
    for branch in branches[1:]:
        whole = exp.union(whole, branch, distinct=False, copy=False)
    return with_tables(whole, sides, rule)


def with_tables(query: exp.Query, sides: Mapping[SideName, SideQuery], rule: Rule) -> exp.Query:
    """A query over the tables that the count goes through: rows, ids, fates, pairs, and what they add."""
    width = len(sides["a"].ids)
    for name, table in (
        *((f"{ROWS}_{side}", _rows(sides[side])) for side in SIDES),
        (IDS, _ids(width)),
        (FATES, _fates(width)),
        (UNPAIRED, _unpaired()),
        (PAIRS, _pairs(sides, width)),
        (COUNTED, _counted(sides, rule)),
        (MATCHED, _matched()),
        *((f"{ROWS}_{side}_total", _rows_total(side, width)) for side in SIDES),
    ):
        query = query.with_(_name(name), as_=table, copy=False)
    return query


def _rows(side: SideQuery) -> exp.Select:
    """One side's rows, read: id, outcome, whether `--where` excludes it, guards, slices."""
    excluded = number(0) if side.excluded is None else flag(side.excluded)
    columns = [
        *(value.as_(f"id{index}", quoted=True) for index, value in enumerate(side.ids)),
        side.outcome.as_("outcome", quoted=True),
        excluded.as_("filtered", quoted=True),
        *(value.as_(f"guard{index}", quoted=True) for index, value in enumerate(side.guards)),
    ]
    for term, values in enumerate(side.families):
        columns += [value.as_(_slice(term, index), quoted=True) for index, value in enumerate(values or ())]
    return exp.select(*columns).from_(side.source)


def _ids(width: int) -> exp.Select:
    """Per id, how many rows of each side are kept and how many filtered."""
    keys = [column(f"id{index}") for index in range(width)]
    counts = [f"{side}_{what}" for side in SIDES for what in ("kept", "filtered")]
    parts = []
    for side in SIDES:
        own = {
            f"{side}_kept": exp.Sub(this=number(1), expression=column("filtered")),
            f"{side}_filtered": column("filtered"),
        }
        values = [own.get(name, number(0)).as_(_one(name), quoted=True) for name in counts]
        parts.append(
            exp.select(*_copies(keys), *values).from_(_table(f"{ROWS}_{side}")).where(_has_id(width))
        )
    both = exp.union(*parts, distinct=False).subquery(exp.to_identifier("streamcmp_both", quoted=True))
    sums = [exp.Sum(this=column(_one(name))).as_(name, quoted=True) for name in counts]
    return exp.select(*_copies(keys), *sums).from_(both).group_by(*_copies(keys))


def _fates(width: int) -> exp.Select:
    """Per id, what becomes of its kept rows; docs/design.md has the order of these conditions in words."""
    fate = exp.case().when(exp.and_(equals("a_kept", 1), equals("b_kept", 1)), text("pair"))
    partner_gone = exp.or_(
        *(exp.and_(equals(f"{side}_kept", 0), exp.GT(this=column(f"{side}_filtered"), expression=number(0)))
          for side in SIDES)
    )  # fmt: skip
    fate = fate.when(partner_gone, text("filtered"))
    several = exp.or_(*(exp.GT(this=column(f"{side}_kept"), expression=number(1)) for side in SIDES))
    fate = fate.when(several, text("duplicate")).else_(text("unmatched"))
    kept = [column(name) for name in (*(f"id{index}" for index in range(width)), "a_kept", "b_kept")]
    single = flag(exp.and_(equals("a_kept", 1), equals("b_kept", 1))).as_("single", quoted=True)
    return exp.select(*kept, single, fate.as_("fate", quoted=True)).from_(_table(IDS))


def _unpaired() -> exp.Select:
    sums = [
        total(choose(exp.EQ(this=column("fate"), expression=text(fate)), column(f"{side}_kept"))).as_(
            f"{side}_{fate}", quoted=True
        )
        for side, fate in product(SIDES, _UNPAIRED)
    ]
    return exp.select(*sums).from_(_table(FATES))


def _pairs(sides: Mapping[SideName, SideQuery], width: int) -> exp.Select:
    """Partners side by side. An id in here is kept once on either side, so no row can come twice.

    Rows are chosen by `<>`: PostgreSQL takes equality with something computed for rare, expects one row, and
    would compare every row with every other (12,000 rows: a minute instead of a tenth of a second).
    """
    columns: list[exp.Expr] = [column(f"id{index}", "a") for index in range(width)]
    columns += [column("outcome", side).as_(f"{side}_outcome", quoted=True) for side in SIDES]
    for index in range(len(sides["a"].guards)):
        one, other = (column(f"guard{index}", side) for side in SIDES)
        differs = _differ(one, other)
        if sides["a"].refusals and (refused := sides["a"].refusals[index](one, other)) is not None:
            differs = exp.case().when(*refused).else_(differs)
        columns.append(differs.as_(f"guard{index}", quoted=True))
    for term, (left, right) in enumerate(zip(sides["a"].families, sides["b"].families, strict=True)):
        names = [_slice(term, index) for index in range(len(left or right or ()))]
        columns += [column(name, "b" if left is None else "a").as_(name, quoted=True) for name in names]
        both = names if left is not None and right is not None else []
        columns.append(
            _any(*(_differ(column(name, "a"), column(name, "b")) for name in both)).as_(
                _differs(term), quoted=True
            )
        )
    query = exp.select(*columns).from_(_table(FATES, "fates"))
    for side in SIDES:
        condition = exp.and_(
            *(
                exp.EQ(this=column(f"id{index}", side), expression=column(f"id{index}", "fates"))
                for index in range(width)
            ),
            exp.NEQ(this=column("filtered", side), expression=number(1)),
        )
        query = query.join(_table(f"{ROWS}_{side}", side), on=condition, join_type="inner")
    return query.where(exp.NEQ(this=column("single", "fates"), expression=number(0)))


def _counted(sides: Mapping[SideName, SideQuery], rule: Rule) -> exp.Select:
    """Per pair, a 1 or 0 for everything it adds to."""
    terms = [
        left or right or () for left, right in zip(sides["a"].families, sides["b"].families, strict=True)
    ]
    slices = [
        column(_slice(term, index)) for term, values in enumerate(terms) for index in range(len(values))
    ]
    differs = [column(_differs(term)) for term in range(len(terms))]
    mismatch = _any(*(column(f"guard{index}") for index in range(len(rule.guards))))
    out = {
        side: choose(equals(f"{side}_outcome", MISSING), number(WRONG), column(f"{side}_outcome"))
        if rule.missing == "wrong"
        else column(f"{side}_outcome")
        for side in SIDES
    }
    unscored = exp.or_(*(exp.EQ(this=out[side].copy(), expression=number(MISSING)) for side in SIDES))
    counts = exp.EQ(this=mismatch.copy(), expression=number(0)) if rule.mismatch != "ignore" else exp.true()
    cells = {
        cell: exp.and_(
            counts.copy(),
            *(
                exp.EQ(this=out[side].copy(), expression=number(code))
                for side, code in zip(SIDES, codes, strict=True)
            ),
        )
        for cell, codes in _CELL.items()
    }
    flags = {
        **cells,
        "unscored": exp.and_(counts.copy(), unscored.copy()),
        "paired": exp.and_(counts.copy(), exp.not_(exp.paren(unscored.copy()))),
        "dropped": exp.not_(exp.paren(counts.copy())),
        **{f"{side}_missing": equals(f"{side}_outcome", MISSING) for side in SIDES},
    }
    return exp.select(
        *slices,
        *differs,
        *(flag(condition).as_(_one(name), quoted=True) for name, condition in flags.items()),
        mismatch.as_(_one("guard_mismatch"), quoted=True),
        _any(*_copies(differs)).as_(_one("slice_differs"), quoted=True),
    ).from_(_table(PAIRS))


def _matched() -> exp.Select:
    names = {"dropped": "guard_mismatch", "unscored": "unscored", "paired": "paired"}
    names |= {f"{side}_missing": f"{side}_missing" for side in SIDES}
    return exp.select(
        *(total(column(_one(own))).as_(name, quoted=True) for own, name in names.items())
    ).from_(_table(COUNTED))  # fmt: skip


def _rows_total(side: SideName, width: int) -> exp.Select:
    unidentified = exp.and_(equals("filtered", 0), exp.not_(exp.paren(_has_id(width))))
    counts = {
        "rows": total(number(1)),
        "excluded": total(column("filtered")),
        "null_id": total(flag(unidentified)),
    }
    return exp.select(*(count.as_(name, quoted=True) for name, count in counts.items())).from_(
        _table(f"{ROWS}_{side}")
    )


class _Head:
    """The result's columns, and its rows of either kind."""

    def __init__(self, labels: Sequence[Sequence[str]], rule_text: str | None) -> None:
        self._labels = labels
        # Each label with the first column that fills it, which gives the result's column its type.
        self._slices: dict[str, exp.Expr] = {}
        for term, names in enumerate(labels):
            for index, name in enumerate(names):
                self._slices.setdefault(name, column(_slice(term, index)))
        self._rule = rule_text

    def types(self) -> exp.Select:
        """No row at all: it gives the columns their types, as a column of nulls would not."""
        numbers = {name: _big(number(0)) for name in _NUMBERS}
        return self._row("count", None, OVERALL, self._slices, numbers).from_(_table(COUNTED)).where(
            exp.EQ(this=number(1), expression=number(0))
        )  # fmt: skip

    def families(self, rule: Rule) -> list[exp.Select]:
        return [self.family(",".join(names), term) for term, names in enumerate(rule.by)]

    def family(self, name: str, term: int | None) -> exp.Select:
        """One row per slice; nulls are a slice of their own, as GROUP BY has it in every dialect."""
        labels = [] if term is None else self._labels[term]
        own = {label: column(_slice(term or 0, index)) for index, label in enumerate(labels)}
        counts = {counter: total(column(_one(counter))) for counter in COUNTERS}
        if term is not None:
            counts["slice_differs"] = total(column(_differs(term)))
        row = self._row("count", None, name, own, counts).from_(_table(COUNTED))
        return row.group_by(*_copies(own.values())) if own else row

    def ledger(self, side: SideName) -> exp.Select:
        """One row."""
        counts: dict[str, exp.Expr] = {
            **{name: column(name, "matched") for name in _MATCHED},
            **{name: column(f"{side}_{name}", "unpaired") for name in _UNPAIRED},
            "rows": column("rows", "totals"),
            "null_id": column("null_id", "totals"),
            "missing": column(f"{side}_missing", "matched"),
        }
        counts["filtered"] = exp.Add(this=column("excluded", "totals"), expression=counts["filtered"])
        row = self._row("ledger", side, None, {}, counts).from_(_table(f"{ROWS}_{side}_total", "totals"))
        for name, alias in ((UNPAIRED, "unpaired"), (MATCHED, "matched")):
            row = row.join(_table(name, alias), join_type="cross")
        return row

    def _row(
        self,
        record: str,
        side: str | None,
        family: str | None,
        slices: Mapping[str, exp.Expr],
        numbers: Mapping[str, exp.Expr],
    ) -> exp.Select:
        columns = {
            "record": text(record),
            "side": _text_or_null(side),
            "family": _text_or_null(family),
            **{label: slices.get(label, exp.null()).copy() for label in self._slices},
            **{name: numbers.get(name, exp.null()).copy() for name in _NUMBERS},
        }
        if self._rule is not None:
            columns["rule"] = _text_or_null(self._rule if record == "ledger" else None)
        return exp.select(*(value.as_(name, quoted=True) for name, value in columns.items()))


def column(name: str, table: str | None = None) -> exp.Column:
    """A column, its name in quotes."""
    return exp.column(exp.to_identifier(name, quoted=True), exp.to_identifier(table, quoted=True))


def text(value: str) -> exp.Literal:
    """A text."""
    return exp.Literal.string(value)


def number(value: int) -> exp.Expr:
    """A whole number."""
    return exp.Literal.number(value)


def flag(condition: exp.Expr) -> exp.Case:
    """1 where the condition holds, 0 where it does not or is null."""
    return choose(condition, number(1))


def choose(condition: exp.Expr, then: exp.Expr, other: exp.Expr | None = None) -> exp.Case:
    """One value where the condition holds, another (0) where it does not or is null."""
    return exp.case().when(condition, then).else_(number(0) if other is None else other)


def equals(name: str, value: int) -> exp.EQ:
    """Whether a column is this number."""
    return exp.EQ(this=column(name), expression=number(value))


def total(value: exp.Expr) -> exp.Expr:
    """The sum as a 64-bit integer; 0 of no rows."""
    return _big(exp.Coalesce(this=exp.Sum(this=value), expressions=[number(0)]))


def _big(value: exp.Expr) -> exp.Cast:
    return exp.cast(value, "BIGINT")


def _text_or_null(value: str | None) -> exp.Expr:
    return exp.cast(exp.null() if value is None else text(value), "VARCHAR")


def _differ(left: exp.Expr, right: exp.Expr) -> exp.Case:
    """1 where two values differ; null equals null, and nothing else."""
    both_null = exp.and_(*(exp.Is(this=each.copy(), expression=exp.null()) for each in (left, right)))
    same = exp.case().when(exp.EQ(this=left.copy(), expression=right.copy()), number(0))
    return same.when(both_null, number(0)).else_(number(1))


def _any(*flags: exp.Expr) -> exp.Expr:
    """1 where one of them is."""
    if len(flags) < 2:
        return flags[0] if flags else number(0)
    return flag(exp.or_(*(exp.EQ(this=each, expression=number(1)) for each in flags)))


def _has_id(width: int) -> exp.Expr:
    return exp.and_(
        *(exp.not_(exp.Is(this=column(f"id{index}"), expression=exp.null())) for index in range(width))
    )


def _one(name: str) -> str:
    """What a single row or pair adds to a sum: ClickHouse takes a name for the alias before the column."""
    return f"one_{name}"


def _slice(term: int, index: int) -> str:
    return f"slice{term}_{index}"


def _differs(term: int) -> str:
    return f"differs{term}"


def _table(name: str, alias: str | None = None) -> exp.Expr:
    table = exp.to_table(name)
    # In quotes, as the columns are that name it: some dialects fold names without.
    return table if alias is None else exp.alias_(table, alias, table=True, quoted=True)


def _name(name: str) -> exp.Identifier:
    return exp.to_identifier(name)


def _copies(values: object) -> list[exp.Expr]:
    return [value.copy() for value in values]  # type: ignore[attr-defined]
