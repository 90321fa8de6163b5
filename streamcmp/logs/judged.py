"""Logs some of whose columns are looked up in third files.

Where such a file does not fit the memory, all is looked up beforehand, part by part of it: of labels the
outcomes that they make, a byte a row, of slices their codes, four bytes a row. What was found waits in a file
in the order of the log's rows, and the passes that pair rows take it from there, so that all strategies work
as ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from streamcmp import interrupt
from streamcmp.errors import BadValue, DataError
from streamcmp.logs.lookup import Ids, Lookup, Table
from streamcmp.logs.model import MISSING, OUTCOME
from streamcmp.logs.outcome import OutcomeSpec
from streamcmp.logs.reading import Attach, Cook
from streamcmp.logs.truth import LABEL
from streamcmp.logs.values import Column
from streamcmp.logs.waiting import Plane, Waiting

_CHUNK_ROWS = 200_000
BadRow = tuple[tuple[int, int], DataError]  # where its batch begins and its number there; the error


class Held:
    """A table in memory, as columns that a pass attaches to the rows of a log."""

    def __init__(self, table: Table, columns: Mapping[str, Column]) -> None:
        self.columns = columns
        self._table = table

    def reader(self) -> Attach:
        """What attaches the columns to a batch."""
        return self._attach

    def _attach(self, batch: pl.DataFrame, ids: Ids) -> pl.DataFrame:
        return self._table.attach(batch, ids)


class Unknown:
    """Columns that nothing was looked up for: enough to see ids."""

    def __init__(self, lookup: Lookup) -> None:
        self.columns = lookup.columns
        self._nothing = lookup.file.brings.nothing

    def reader(self) -> Attach:
        """What attaches the columns to a batch."""
        return self._attach

    def _attach(self, batch: pl.DataFrame, _ids: Ids) -> pl.DataFrame:
        return batch.with_columns(
            pl.lit(self._nothing, column.dtype).alias(name) for name, column in self.columns.items()
        )


def looked_up(cook: Cook, lookups: Sequence[Lookup]) -> Cook:
    """The scan with columns from third files; slices before labels."""
    return JudgedCook(cook.parts, cook.recipes, (), tuple(lookups)) if lookups else cook


def labels_of(cook: Cook) -> Table | None:
    """The labels of a truth file, where there is one that is held whole."""
    lookups = cook.lookups if isinstance(cook, JudgedCook) else ()
    return next((lookup.whole() for lookup in lookups if LABEL in lookup.columns), None)


@dataclass(frozen=True)
class JudgedCook(Cook):
    """A scan that first looks up what its recipes lack."""

    lookups: tuple[Lookup, ...] = ()
    _ready: list[Cook] = field(default_factory=list, init=False, compare=False, repr=False)

    def head(self, rows: int) -> pl.DataFrame | None:
        """At most the first rows, unchecked, with what is read from the log alone: nothing is looked up."""
        return Cook(self.parts, self.recipes, tuple(map(Unknown, self.lookups))).head(rows)

    def batches(self, chunk_rows: int) -> Iterator[pl.DataFrame]:
        """Canonical batches of exactly `chunk_rows` rows, the last one shorter."""
        yield from self.ready().batches(chunk_rows)

    def ready(self) -> Cook:
        """The scan with all that is to be looked up at hand; the first to ask waits for it."""
        with self.lookups[0].lock:
            if not self._ready:
                self._ready.append(self._prepare())
        return self._ready[0]

    def _prepare(self) -> Cook:
        cook = Cook(self.parts, self.recipes, numbered=self.numbered)
        for lookup in self.lookups:
            table = lookup.whole()
            with lookup.lock:
                if table is not None:
                    cook = replace(cook, attached=(*cook.attached, Held(table, lookup.columns)))
                elif LABEL in lookup.columns:
                    cook = _with_outcomes(cook, lookup)
                else:
                    cook = _with_values(cook, lookup)
        return cook


def _with_values(cook: Cook, lookup: Lookup) -> Cook:
    """The scan with columns of small numbers that were looked up part by part."""
    nothing = lookup.file.brings.nothing
    assert isinstance(nothing, int)
    planes = {name: Plane(lookup.folder, np.uint32, nothing) for name in lookup.columns}
    for table in lookup.tables():
        at = 0
        for ids in cook.identities():
            interrupt.check()
            places, found = table.find(ids)
            for name, plane in planes.items():
                values = np.full(len(ids), nothing, np.uint32)
                values[found] = table.values[name].to_numpy()[places[found]]
                plane.settle(at, values)
            at += len(ids)
    return replace(cook, attached=(*cook.attached, Waiting(planes, lookup.columns)))


def _with_outcomes(cook: Cook, lookup: Lookup) -> Cook:
    """The scan with outcomes that were worked out part by part of the labels.

    Raises what a pass with all labels in memory would raise: for the first bad row, whichever part finds it;
    and before that, for an id that occurs twice among the labels.
    """
    if any(recipe.slices_by(LABEL) for recipe in cook.recipes.values()):
        raise DataError(
            f"{lookup.file.view.label} is too large for the memory, and --by class needs its labels at hand; "
            "raise --memory, or name the file with --slices, too, and slice by its column"
        )
    planes = {prefix: Plane(lookup.folder, np.uint8, MISSING) for prefix in cook.recipes}
    first: BadRow | None = None
    for number, table in enumerate(lookup.tables()):
        if number == 0 or table.values.height:
            held = replace(cook, attached=(*cook.attached, Held(table, lookup.columns)))
            first = _judge(held, planes, first)
    if first is not None:
        raise first[1]
    names = {prefix: f"\0{prefix}{OUTCOME}" for prefix in cook.recipes}
    columns = {name: Column(name, pl.UInt8()) for name in names.values()}
    recipes = {
        prefix: replace(
            recipe,
            outcome=OutcomeSpec("settled", names[prefix]),
            attached=recipe.attached - {LABEL} | {names[prefix]},
            _built={},
        )
        for prefix, recipe in cook.recipes.items()
    }
    waiting = Waiting({names[prefix]: plane for prefix, plane in planes.items()}, columns)
    return replace(cook, recipes=recipes, attached=(*cook.attached, waiting))


def _judge(cook: Cook, planes: Mapping[str, Plane], first: BadRow | None) -> BadRow | None:
    """Settle the outcomes that this part of the labels tells, up to the first bad row known; that row."""
    at = 0
    try:
        for piece in cook.pieces(_CHUNK_ROWS):
            interrupt.check()
            for prefix, plane in planes.items():
                plane.settle(at, piece[prefix + OUTCOME].to_numpy())
            at += piece.height
            if first is not None and at > first[0][0]:
                break
    except DataError as error:
        here = (at, error.row if isinstance(error, BadValue) else -1)
        return (here, error) if first is None or here < first[0] else first
    return first
