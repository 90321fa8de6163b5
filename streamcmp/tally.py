"""The tally: all that finalizing needs. Per family a table of slices with what was added up, plus the ledger.

A tally is a value. `+` means "the tally of both sets of examples together", `Tally.zero()` changes nothing
under it, and nothing is ever mutated. Derived numbers (n, accuracies, p-values) are never stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from streamcmp.comparison import ALL_PAIRS, IdShard
from streamcmp.errors import UsageError
from streamcmp.ledger import Ledger
from streamcmp.parts import joined
from streamcmp.slicing import overlapping
from streamcmp.terms import split_term

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    from streamcmp.comparison import Rule
    from streamcmp.sketch import IdSketch

CELLS = ("both_correct", "n_ab", "n_ba", "both_wrong")
NOTED = ("guard_mismatch", "unscored", "slice_differs")
COUNTERS = (*CELLS, *NOTED)
SLICE_PREFIX = "slice."
OVERALL = ALL_PAIRS
WHOLE = IdShard()
ABSENT = "(absent)"  # the slice of ids that a slices file lacks; its column is text then


def family_name(columns: Sequence[str]) -> str:
    """`domain`, or `domain,class` where the columns are crossed; `overall` for none."""
    return ",".join(columns) or OVERALL


def named_columns(family: str) -> tuple[str, ...]:
    """The columns that the name of a family tells of; one with a comma of its own is taken for two."""
    try:
        return split_term(family, "the family")
    except UsageError:
        return tuple(family.split(","))


def as_text(values: pl.Series) -> pl.Series:
    """Slice values as text, null as null; those of lists one by one."""
    if isinstance(values.dtype, pl.List):
        return pl.select(pl.lit(values).list.eval(_text(pl.element(), values.dtype.inner))).to_series()
    return pl.select(_text(pl.lit(values), values.dtype)).to_series()


def _text(value: pl.Expr, dtype: object) -> pl.Expr:
    return value.bin.encode("hex") if dtype == pl.Binary else value.cast(pl.String)


def filed_by_id(rule: Rule) -> list[str]:
    """The columns of `by` that come from a slices file, in which ids may be absent."""
    return [name for name, about in rule.slices.items() if about.get("file") == "by id"]


def slice_columns(table: pl.DataFrame) -> list[str]:
    """The `slice.` columns of a family's table."""
    return [name for name in table.columns if name.startswith(SLICE_PREFIX)]


def family_columns(table: pl.DataFrame) -> list[str]:
    """What cuts a family, by the names of the report."""
    return [name.removeprefix(SLICE_PREFIX) for name in slice_columns(table)]


def sorted_table(table: pl.DataFrame) -> pl.DataFrame:
    """A family's table in its one order: slice values ascending, null last."""
    keys = slice_columns(table)
    return table.sort(keys, nulls_last=True, maintain_order=True) if keys else table


@dataclass(frozen=True, slots=True)
class Counts:
    """The counters of one slice: a view of one row of a family's table."""

    both_correct: int
    n_ab: int
    n_ba: int
    both_wrong: int
    guard_mismatch: int = 0
    unscored: int = 0
    slice_differs: int = 0

    @property
    def n(self) -> int:
        """Pairs with both outcomes."""
        return self.both_correct + self.n_ab + self.n_ba + self.both_wrong


@dataclass(frozen=True, slots=True)
class Part:
    """What one count covered: the inputs of both sides, and which shard of their ids."""

    inputs: Mapping[str, Any]
    shard: IdShard = WHOLE


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts per family and slice, and the ledger.

    `families`: family name -> table with one row per slice, sorted by slice values (null last): the
    family's `slice.<column>` columns, then COUNTERS as Int64. The first is `overall`: one row, no slice
    columns. A table of plain counts may hold nulls in both_correct and both_wrong and then carries a column
    `n`. `rule` is None for such tables, `ledger` too where nothing is known of it. Two tallies are equal
    when their rules, ledgers and rows are; where the rows came from (`parts`), what a report that was read
    back called the models (`names`), which ids there were (`sketch`) and about how many of them were counted
    by two of the tallies that this one is the sum of (`overlap`) does not matter. `marked` is for tables
    without a rule: see `overlapping`.
    """

    families: Mapping[str, pl.DataFrame]
    ledger: Ledger | None
    rule: Rule | None = None
    parts: tuple[Part, ...] = field(default=())
    names: tuple[str, str] | None = None
    sketch: IdSketch | None = None
    overlap: int = 0
    marked: frozenset[str] = frozenset()

    @property
    def overlapping(self) -> frozenset[str]:
        """The families in which a pair may count in several slices: they do not add up to `overall`."""
        if self.rule is None:
            return self.marked
        return overlapping(self.rule.by, self.rule.slices)

    @classmethod
    def zero(cls) -> Tally:
        """The tally of no examples under any rule: `zero + t == t == t + zero`."""
        return cls(families={}, ledger=Ledger())

    def __add__(self, other: Tally) -> Tally:
        """The tally of both sets of examples. Raises UsageError where the two cannot be added."""
        if not self.families:
            return other
        if not other.families:
            return self
        if self.rule is None or other.rule is None or self.ledger is None or other.ledger is None:
            raise UsageError(
                "a plain table of counts has no rule to compare, so it cannot be merged; finalize it alone"
            )
        _check_same_rule(self.rule, other.rule)
        parts = joined(self.parts, other.parts)
        sketch, overlap = None, self.overlap + other.overlap
        if self.sketch is not None and other.sketch is not None:
            sketch, overlap = self.sketch + other.sketch, overlap + round(self.sketch.shared(other.sketch))
        return Tally(
            families={
                name: _add_tables(name, *_alike(table, other.families[name], filed_by_id(self.rule)))
                for name, table in self.families.items()
            },
            ledger=self.ledger + other.ledger,
            rule=self.rule,
            parts=parts,
            sketch=sketch,
            overlap=overlap,
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Tally)
            and self.rule == other.rule
            and self.ledger == other.ledger
            and self.families.keys() == other.families.keys()
            and all(table.equals(other.families[name]) for name, table in self.families.items())
        )

    __hash__ = None  # type: ignore[assignment] # holds frames

    def counts(self, family: str = OVERALL) -> Iterator[tuple[dict[str, Any], Counts]]:
        """Slice values and counters, row by row, in the table's order."""
        table = self.families[family]
        keys = slice_columns(table)
        for row in table.iter_rows(named=True):
            yield (
                {key.removeprefix(SLICE_PREFIX): row[key] for key in keys},
                Counts(*(row[name] for name in COUNTERS)),
            )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the tally file (Parquet), atomically. Raises UsageError where the path cannot be written."""
        from streamcmp.tally_file import save

        save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Tally:
        """Read a tally file, or a table in its shape without a header. Raises UsageError or DataError."""
        from streamcmp.tally_file import load

        return load(path)


def _alike(
    left: pl.DataFrame, right: pl.DataFrame, filed: Sequence[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The tables with a column of a slices file as text in both, if one says there which ids are absent."""
    for name in filed:
        key = SLICE_PREFIX + name
        tables = [left, right]
        if key not in left.columns or left.schema[key] == right.schema[key]:
            continue
        if any(table.schema[key] == pl.String and (table[key] == ABSENT).any() for table in tables):
            left, right = (table.with_columns(as_text(table[key]).alias(key)) for table in tables)
    return left, right


def _add_tables(name: str, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
    keys = slice_columns(left)
    if left.schema != right.schema:
        if not left.height or not right.height:
            return right if not left.height else left
        raise UsageError(
            f"family {name}: slice types differ: {_types(left)} and {_types(right)}; "
            "the two tallies were counted from logs whose columns have different types"
        )
    both = pl.concat([left, right])
    if not keys:
        return both.sum()
    return sorted_table(both.group_by(keys).agg(pl.col(*COUNTERS).sum()))


def _types(table: pl.DataFrame) -> str:
    return ", ".join(f"{key.removeprefix(SLICE_PREFIX)} {table.schema[key]}" for key in slice_columns(table))


def _check_same_rule(left: Rule, right: Rule) -> None:
    if left == right:
        return
    one, two = left.to_dict(), right.to_dict()
    differing = [
        f"{key} is {_in_words(one[key])} in one and {_in_words(two[key])} in the other"
        for key in one
        if key != "slices" and one[key] != two[key]
    ]
    raise UsageError(
        "these tallies were counted by different rules and do not add up: "
        + "; ".join(differing or _differing_slices(left.slices, right.slices))
    )


def _differing_slices(one: Mapping[str, Any], two: Mapping[str, Any]) -> Iterator[str]:
    """Which columns of the same names are not cut alike, and what to do about it."""
    for name in sorted({*one, *two}):
        left, right = one.get(name, {}), two.get(name, {})
        if left == right:
            continue
        if left.get("cut") == right.get("cut") == "quantiles" and left.get("of") == right.get("of"):
            edges = [",".join(each["edges"]) for each in (left, right)]
            column = name.rpartition(":")[0]
            yield (
                f"{name} cuts at {edges[0]} in one and at {edges[1]} in the other, the quantiles of each; "
                f'count with the same edges: --by "{column}:bins({edges[0]})"'
            )
        else:
            yield f"{name} is {_about_slice(left)} in one and {_about_slice(right)} in the other"


def _about_slice(about: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {_in_words(value)}" for key, value in about.items()) or "a plain column"


def _in_words(value: Any) -> str:
    """What a rule says, as a person would: `domain and task,doc_id`, not a tuple of tuples."""
    if isinstance(value, dict):
        sides = {"a": "left", "b": "right"}
        return ", ".join(f"{sides.get(key, key)} {_in_words(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return " and ".join(part if isinstance(part, str) else ",".join(part) for part in value) or "nothing"
    return "nothing" if value is None else str(value)
