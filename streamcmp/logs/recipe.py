"""The recipe of one side: from the types of a shard's columns to the expressions of a canonical batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from streamcmp.comparison import SideName
from streamcmp.logs.families import Family
from streamcmp.logs.guards import Guard
from streamcmp.logs.ids import IdRule
from streamcmp.logs.model import FILTERED, ID, OUTCOME, family_column, guard_column
from streamcmp.logs.outcome import OutcomeSpec
from streamcmp.logs.truth import LABEL
from streamcmp.logs.values import Check, Column
from streamcmp.logs.where import Where

BAD = "bad"  # which check a row fails: 0 none, else its number in `Canonical.checks`


@dataclass(frozen=True, slots=True)
class Canonical:
    """The expressions of one shard or batch, BAD the last."""

    exprs: tuple[pl.Expr, ...]
    checks: tuple[Check, ...]


@dataclass(frozen=True)
class Recipe:
    """Everything that was decided about one side. `ids` is None where pairs need none (by position)."""

    side: SideName
    id_names: tuple[str, ...]
    ids: IdRule | None
    outcome: OutcomeSpec
    where: Where | None
    guards: tuple[Guard, ...]
    families: tuple[Family, ...]
    shows_id: bool  # batches carry ID; False where ids only serve to look things up
    attached: frozenset[str] = frozenset()  # columns that are not read from the log, but looked up
    _built: dict[tuple[str | Column, ...], Canonical] = field(default_factory=dict, compare=False, repr=False)

    @property
    def filters(self) -> bool:
        """Whether batches carry FILTERED."""
        return self.where is not None and self.side in self.where.sides

    def columns(self) -> list[str]:
        """The raw columns that are read."""
        names = [*(self.id_names if self.ids is not None else ()), self.outcome.value]
        names += [self.outcome.label] if self.outcome.label is not None else []
        names += self.where.roots if self.where is not None and self.filters else ()
        names += [guard.columns[self.side] for guard in self.guards]
        names += [name for family in self.families for _, source in family.columns for name in source.roots]
        return [name for name in dict.fromkeys(names) if name not in self.attached]

    def slices_by(self, name: str) -> bool:
        """Whether a column's values make slices."""
        return any(name in source.roots for family in self.families for _, source in family.columns)

    def sql(self) -> list[str]:
        """The options whose SQL is evaluated, as they were given."""
        texts = [f"--where {self.where.text!r}"] if self.where is not None and self.filters else []
        return texts + [
            f"--by {source.expression!r}"
            for family in self.families
            for _, source in family.columns
            if source.expression is not None
        ]

    def identify(self, columns: Mapping[str, Column], where: str) -> tuple[pl.Expr, list[Check]]:
        """The canonical id and its checks."""
        assert self.ids is not None
        return self.ids.read([columns[name] for name in self.id_names], where=where)

    def build(self, columns: Mapping[str, Column], where: str, *, prefix: str = "") -> Canonical:
        """The canonical batch from columns of these types. `where` names the shard (or rows) in errors.

        `columns` holds those that are attached, too. Made once per set of types: a log may have thousands of
        shards.
        """
        key: tuple[str | Column, ...] = (prefix, *columns.values())
        made = self._built.get(key)
        if made is None:
            made = self._built[key] = self._build(columns, where, prefix)
        return made

    def _build(self, columns: Mapping[str, Column], where: str, prefix: str) -> Canonical:
        exprs: dict[str, pl.Expr] = {}
        checks: list[Check] = []
        if self.shows_id:
            exprs[ID], found = self.identify(columns, where)
            checks += found
        name = LABEL if self.outcome.truth else self.outcome.label
        label = columns[name] if name is not None else None
        exprs[OUTCOME], found = self.outcome.read(columns[self.outcome.value], label, where=where)
        checks += found
        for index, guard in enumerate(self.guards):
            exprs[guard_column(index)] = guard.read(columns[guard.columns[self.side]])
        for family in self.families:
            exprs[family_column(family.index)], found = self._family(family, columns, where)
            checks += found
        excluded = self._excluded(columns, where)
        if excluded is not None:
            exprs[FILTERED] = excluded
        exprs[BAD] = number_of_first(checks, excluded)
        return Canonical(tuple(expr.alias(prefix + name) for name, expr in exprs.items()), tuple(checks))

    def _family(
        self, family: Family, columns: Mapping[str, Column], where: str
    ) -> tuple[pl.Expr, list[Check]]:
        codes, checks = [], []
        for column, source in family.columns:
            code, found = column.encode(source.column(columns, where), self.side, where=where)
            codes.append(code)
            checks += found
        return family.codec.encode(codes), checks

    def _excluded(self, columns: Mapping[str, Column], where: str) -> pl.Expr | None:
        if self.where is None or not self.filters:
            return None
        dtypes = {name: columns[name].dtype for name in self.where.roots}
        untyped = any(columns[name].untyped for name in self.where.roots)
        return self.where.excluded(dtypes, where=where, untyped=untyped)


def number_of_first(checks: Sequence[Check], excluded: pl.Expr | None) -> pl.Expr:
    """UInt8: the 1-based number of the first check a row fails, 0 if none. Filtered rows fail none."""
    failing = pl.lit(0, pl.UInt8)
    if not checks:
        return failing
    for number, check in reversed(list(enumerate(checks, start=1))):
        failing = pl.when(check.bad).then(pl.lit(number, pl.UInt8)).otherwise(failing)
    return failing if excluded is None else pl.when(excluded).then(pl.lit(0, pl.UInt8)).otherwise(failing)
