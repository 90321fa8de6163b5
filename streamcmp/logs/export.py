"""One log, canonical but readable: ids, outcome, guards and slices as values under their own names.

What is exported has the same checks and the same meaning as what is compared: it is read by the same recipe.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import polars as pl

from streamcmp.comparison import Comparison
from streamcmp.errors import UsageError
from streamcmp.logs.canonical import open_pair
from streamcmp.logs.guards import Guard
from streamcmp.logs.model import CORRECT, FILTERED, ID, MISSING, OUTCOME, family_column
from streamcmp.logs.reading import Cook, ShardedLog
from streamcmp.logs.recipe import Canonical, Recipe
from streamcmp.logs.slices import FamilyCodec
from streamcmp.logs.values import Column, declared_text

OUTCOME_NAME = "correct"


@dataclass(frozen=True)
class _Exporting(Recipe):
    """A recipe that also yields the parts of the id and the values of guards."""

    def _build(self, columns: Mapping[str, Column], where: str, prefix: str) -> Canonical:
        built = super()._build(columns, where, prefix)
        assert self.ids is not None
        extra = [
            component.read(columns[name], where)[0].alias(f"part{index}")
            for index, (component, name) in enumerate(zip(self.ids.components, self.id_names, strict=True))
        ]
        extra += [
            _guard_value(guard, columns[guard.columns["a"]]).alias(f"value{index}")
            for index, guard in enumerate(self.guards)
        ]
        return Canonical((*extra, *built.exprs), built.checks)


def _guard_value(guard: Guard, column: Column) -> pl.Expr:
    """The value in the type in which it compares; other types as text."""
    dtype = {"int": pl.Int64(), "float": pl.Float64(), "bool": pl.Boolean()}.get(guard.kind)
    if column.kind == "null":
        return pl.when(column.expr.is_null()).then(None).otherwise(None).cast(dtype or pl.String())
    return declared_text(column, guard.dtype) if dtype is None else column.expr.cast(dtype)


@dataclass(frozen=True)
class Export:
    """One log for writing. `names`: the columns it will have; `about` what a reader must know of them."""

    log: ShardedLog
    cook: Cook
    ids: tuple[str, ...]
    guards: tuple[Guard, ...]
    codecs: tuple[FamilyCodec, ...]
    about: Mapping[str, Any]
    notes: tuple[str, ...]

    def batches(self, rows: int) -> Iterator[pl.DataFrame]:
        """Batches of about `rows` rows: the column ID to sort by, then those that are written."""
        for batch in self.cook.batches(rows):
            kept = batch.filter(~pl.col(FILTERED)) if FILTERED in batch.columns else batch
            yield self._readable(kept)

    def _readable(self, batch: pl.DataFrame) -> pl.DataFrame:
        outcome = batch[OUTCOME]
        columns = {f"part{index}": name for index, name in enumerate(self.ids)}
        columns |= {f"value{index}": guard.name for index, guard in enumerate(self.guards)}
        found = batch.select(
            pl.col(ID).alias(f"\0{ID}"), *(pl.col(old).alias(new) for old, new in columns.items())
        )
        correct = pl.Series(OUTCOME_NAME, outcome == CORRECT).set(outcome == MISSING, None)
        slices = [
            codec.values(batch[family_column(index)]).alias(codec.columns[0].name)
            for index, codec in enumerate(self.codecs)
        ]
        return found.with_columns(correct, *(each for each in slices if each.name not in found.columns))


SORT_KEY = f"\0{ID}"


def open_export(comparison: Comparison) -> Export:
    """The log that side a of a request names, with a family per column.

    Raises:
        UsageError, DataError: as for a comparison; rows pair by position, or two columns would have one name.
    """
    if comparison.by_position:
        raise UsageError("a log that is sorted by id needs ids; --on row has none")
    pair = open_pair(comparison, scan=False)
    cut = next((name for name, about in pair.rule.slices.items() if "cut" in about), None)
    if cut is not None:
        column = pair.rule.slices[cut]["of"]
        raise UsageError(
            f"--by {cut}: what is converted keeps values, so that they can be cut in any way later; "
            f"name the column: --by {column}"
        )
    log = pair.a
    assert isinstance(log, ShardedLog)
    recipe = log.recipe
    values = {field.name: getattr(recipe, field.name) for field in fields(Recipe) if field.init}
    values.pop("_built")
    exporting = _Exporting(**values)
    names = [*recipe.id_names, *(guard.name for guard in recipe.guards), OUTCOME_NAME]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"two columns of the result would be called {twice!r}; rename one in the log")
    advisory = [guard.name for guard in recipe.guards if guard.advisory]
    about = {
        "ids": list(recipe.id_names),
        "id_type": pair.rule.id_type,
        "guards": [guard.name for guard in recipe.guards if not guard.advisory],
        "advisory": advisory,
        "harness": pair.sides["a"].format,
        "outcome": recipe.outcome.describe(),
    }
    return Export(
        log,
        replace(log.cook, recipes={"": exporting}),
        recipe.id_names,
        recipe.guards,
        pair.codecs,
        about,
        pair.notes,
    )
