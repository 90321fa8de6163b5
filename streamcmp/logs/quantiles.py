"""`length:quantiles(10)`: where to cut, found from the whole column before the pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from streamcmp import interrupt
from streamcmp.logs.cuts import CutColumn, Quantiles, edge_text
from streamcmp.logs.judged import looked_up
from streamcmp.logs.lookup import Lookup
from streamcmp.logs.reading import Cook
from streamcmp.logs.recipe import BAD, Canonical, Recipe, number_of_first
from streamcmp.logs.selection import HELD, Selection, keys_of, number_of
from streamcmp.logs.stream import CHUNK_ROWS
from streamcmp.logs.values import Check, Column
from streamcmp.logs.view import View

_SHOWN = 5
_PER_KEY = 200  # bytes of memory for each number held: they are held three times while they are sorted


@dataclass(frozen=True)
class _Measuring(Recipe):
    """A recipe that yields the numbers of some columns, null for rows that `--where` excludes."""

    wanted: tuple[Quantiles, ...] = ()

    def columns(self) -> list[str]:
        """The raw columns that are read."""
        names = [name for one in self.wanted for name in one.source.roots]
        names += self.where.roots if self.where is not None and self.filters else ()
        names += self.id_names if self.attached else ()
        return [name for name in dict.fromkeys(names) if name not in self.attached]

    def slices_by(self, name: str) -> bool:
        """Whether a column is measured."""
        return any(name in one.source.roots for one in self.wanted)

    def sql(self) -> list[str]:
        """The options whose SQL is evaluated."""
        return super().sql() + [
            f"--by {e!r}" for one in self.wanted if (e := one.source.expression) is not None
        ]

    def _build(self, columns: Mapping[str, Column], where: str, prefix: str) -> Canonical:
        found = [one.numbers(columns, where) for one in self.wanted]
        checks: list[Check] = [check for one in found for check in one.checks]
        excluded = self._excluded(columns, where)
        exprs = {
            f"key{index}": one.expr if excluded is None else pl.when(~excluded).then(one.expr)
            for index, one in enumerate(found)
        }
        exprs[BAD] = number_of_first(checks, excluded)
        return Canonical(tuple(expr.alias(prefix + name) for name, expr in exprs.items()), tuple(checks))


def find_edges(
    view: View,
    recipe: Recipe,
    wanted: Sequence[Quantiles],
    memory: int | None,
    held: int = HELD,
    *,
    lookups: Sequence[Lookup] = (),
) -> Iterator[str]:
    """Set the edges of all columns, which one log carries, and say what they are, a sentence each.

    Args:
        view: the log.
        recipe: whose `where` is to be applied.
        wanted: the columns.
        memory: bytes that the run may take; None for no limit.
        held: how many numbers may be held, of all columns together.
        lookups: third files that columns may need.

    Raises:
        DataError: a value is no number, or does not fit 64 bits.
    """
    if memory is not None:
        held = min(held, memory // _PER_KEY)
    selections = {id(one): Selection(one.column.cut.count, held // len(wanted)) for one in wanted}
    kinds: dict[int, np.dtype[Any]] = {}
    while todo := [one for one in wanted if selections[id(one)].edges is None]:
        needed = [
            one for one in lookups if any(name in one.columns for each in todo for name in each.source.roots)
        ]
        attached = frozenset(name for one in needed for name in one.columns)
        measuring = _measuring(recipe, todo, attached)
        cook = looked_up(Cook.of(view.parts, {"": measuring}, memory), needed)
        for batch in cook.batches(CHUNK_ROWS):
            interrupt.check()
            for index, one in enumerate(todo):
                numbers = batch[f"key{index}"].drop_nulls()
                if len(numbers):
                    kinds[id(one)] = numbers.to_numpy().dtype
                    selections[id(one)].feed(keys_of(numbers.to_numpy()))
        for one in todo:
            selections[id(one)].end()
    for one in wanted:
        selection = selections[id(one)]
        edges = selection.edges or []
        texts = tuple(edge_text(number_of(key, kinds[id(one)]), one.dtype) for key in edges)
        one.column.edges = texts
        yield _said(one.column, len(edges) + (bool(edges) and edges[0] != selection.smallest))


def _measuring(recipe: Recipe, wanted: Sequence[Quantiles], attached: frozenset[str]) -> _Measuring:
    return _Measuring(
        recipe.side,
        recipe.id_names,
        recipe.ids,
        recipe.outcome,
        recipe.where,
        (),
        (),
        shows_id=True,  # rows need not stay in order here, which is what this would be for
        attached=attached,
        wanted=tuple(wanted),
    )


def _said(column: CutColumn, slices: int) -> str:
    edges = column.edges
    if not edges:
        return f"{column.name}: no value to cut; all is null"
    shown = ", ".join(edges[:_SHOWN]) + (f", ... {edges[-1]}" if len(edges) > _SHOWN else "")
    fewer = ""
    if slices < column.cut.count:
        fewer = f"; {slices:,} slices, as one value makes up several of the {column.cut.count:,}"
    return f"{column.name} cuts at {shown}{fewer}"
