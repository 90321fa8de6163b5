"""Long tables: rows of several models in one file, told apart by a column. A log is those of one model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from streamcmp import interrupt
from streamcmp.errors import UnknownColumn, UsageError
from streamcmp.logs.formats.base import BaseShard, LazyShard, conform, exactly, profile_of
from streamcmp.logs.model import Shard
from streamcmp.logs.profile import Profile

_NAMED = 20  # models that a message lists


def rows_of_model(shards: Sequence[Shard], column: str, model: str, option: str) -> list[Shard]:
    """The shards with the rows of one model only. Reads the column once, to count them.

    Raises:
        UnknownColumn: no shard has the column.
        UsageError: no row is of this model; lists those that there are.
    """
    found: list[Shard] = []
    models: set[str] = set()
    for shard in shards:
        schema = shard.schema()
        if column not in schema and (shard.untyped or shard.lazy() is not None):
            raise UnknownColumn(column, where=shard.label, columns=list(schema), option="--model-column")
        rows = 0
        for batch in shard.batches([column]):
            interrupt.check()
            names = batch[column].cast(pl.String)
            rows += int((names == model).sum())
            models.update(names.drop_nulls().unique().head(_NAMED).to_list())
        found.append(_narrowed(shard, column, model, rows))
    if not any(shard.rows for shard in found):
        some = ", ".join(sorted(models)[:_NAMED]) or "none at all"
        raise UsageError(f"{option} {model}: no row has it in column {column!r}, which names {some}")
    return found


def _narrowed(shard: Shard, column: str, model: str, rows: int) -> Shard:
    label = f"{shard.label} (rows of {model})"
    frame = shard.lazy()
    made: BaseShard
    if frame is None:
        made = ModelShard(shard, column, model, rows, label)
    else:
        mine = exactly([column]).as_expr().cast(pl.String) == model
        made = LazyShard(label, frame.filter(mine), size=shard.size, rows=rows)
    made.format_name = getattr(shard, "format_name", made.format_name)
    return made


class ModelShard(BaseShard):
    """The rows of one model."""

    def __init__(self, shard: Shard, column: str, model: str, rows: int, label: str) -> None:
        self.label = label
        self.size = shard.size
        self.rows = rows
        self.untyped = shard.untyped
        self._shard = shard
        self._column = column
        self._model = model

    @property
    def profile(self) -> Profile | None:
        """The file's."""
        return profile_of(self._shard)

    def schema(self, *, complete: bool = False) -> Mapping[str, pl.DataType]:
        """The file's columns, also those that only other models' rows have."""
        return self._shard.schema(complete=complete)

    def batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The named columns in batches; see `Shard`."""
        for batch in self._shard.batches([*columns, *([] if self._column in columns else [self._column])]):
            mine = batch.filter(batch[self._column].cast(pl.String) == self._model)
            if mine.height:
                yield conform(mine, columns)
