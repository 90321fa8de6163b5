"""A pair of logs whose ids are hashed as they are read: to keep one shard of them, and to sketch them.

Both stand between the logs and whoever pairs them, so that all strategies work as ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import polars as pl

from streamcmp.comparison import SIDES, IdShard, SideName
from streamcmp.errors import UnequalRows
from streamcmp.logs.model import FILTERED, ID, CanonicalLog, LogPair
from streamcmp.logs.reading import rechunk
from streamcmp.sketch import SketchOf
from streamcmp.stable_hash import shards_of


@dataclass(frozen=True)
class HashedLog:
    """One side: the rows of a shard, a `CanonicalLog` again. Their ids go to `sketch`, if there is one.

    `others`: the rows of all other shards instead. `all_rows`: of the log with the files that have no row of
    the shard, or 0 where nobody knows.
    """

    whole: CanonicalLog
    shard: IdShard
    positional: bool
    sketch: SketchOf | None = None
    others: bool = False
    all_rows: int = 0

    @property
    def side(self) -> SideName:
        """Whose log it is."""
        return self.whole.side

    @property
    def rows(self) -> int | None:
        """None for a part of the rows: nobody knows before they are read."""
        return self.whole.rows if self.shard.of == 1 else None

    @property
    def estimated_rows(self) -> int:
        """For planning only: shards are even."""
        read = self.whole.estimated_rows
        return read if self.others else min(read, -(-max(read, self.all_rows) // self.shard.of))

    @property
    def bounds(self) -> tuple[int, int] | None:
        """The range of all ids."""
        return self.whole.bounds

    @property
    def filters(self) -> bool:
        """Whether batches carry FILTERED."""
        return self.whole.filters

    @property
    def families(self) -> tuple[bool, ...]:
        """Which family columns the batches carry."""
        return self.whole.families

    def head(self, rows: int) -> pl.DataFrame | None:
        """The first rows of the log, whatever their shard: they tell in which order it is."""
        return self.whole.head(rows)

    def batches(self, chunk_rows: int) -> Iterator[pl.DataFrame]:
        """Batches of exactly `chunk_rows` rows of the shard, the last one shorter."""
        yield from rechunk(self._kept(chunk_rows), chunk_rows)

    def _kept(self, chunk_rows: int) -> Iterator[pl.DataFrame]:
        row = 0
        for batch in self.whole.batches(chunk_rows):
            kept = self.keep(batch, self.members(batch, row))
            row += batch.height
            if kept.height:
                yield kept

    def members(self, batch: pl.DataFrame, row: int) -> pl.Series | None:
        """Which rows of a batch, the first of them the log's row `row`, are in the shard; None for all."""
        if self.shard.of == 1:
            return None
        if self.positional:
            place = np.arange(row, row + batch.height) % self.shard.of
        else:
            place = shards_of(batch[ID], self.shard.of)
        return pl.Series((place == self.shard.number) != self.others)

    def keep(self, batch: pl.DataFrame, members: pl.Series | None) -> pl.DataFrame:
        """The rows that are in the shard; the sketch learns of them."""
        kept = batch if members is None else batch.filter(members)
        if self.sketch is not None:
            ids = kept[ID] if FILTERED not in kept.columns else kept[ID].filter(~kept[FILTERED])
            self.sketch.add(ids.drop_nulls())
        return kept


@dataclass(frozen=True)
class HashedPair(LogPair):
    """Both sides, a shard of each."""

    whole: LogPair
    logs: tuple[HashedLog, HashedLog]

    @classmethod
    def of(
        cls, pair: LogPair, shard: IdShard, sketch: SketchOf | None = None, *, others: bool = False
    ) -> HashedPair:
        """The shard's part of two logs; the left log's ids go to `sketch`, where rows pair by ids.

        `others`: what the shard leaves out; it must not be the whole.
        """
        learning = None if pair.positional else sketch
        rows = {side: pair.inputs[side].rows or 0 for side in SIDES}
        logs = (
            HashedLog(pair.a, shard, pair.positional, learning, others, rows["a"]),
            HashedLog(pair.b, shard, pair.positional, None, others, rows["b"]),
        )
        same = {field.name: getattr(pair, field.name) for field in fields(LogPair)}
        return cls(**{**same, "a": logs[0], "b": logs[1]}, whole=pair, logs=logs)

    @property
    def shard(self) -> IdShard:
        """Which ids the logs hold."""
        return self.logs[0].shard

    def together(self, chunk_rows: int) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """Batches side by side while the logs themselves are in step; then what shows that they are not.

        Raises UnequalRows where rows pair by position and one log ends before the other.
        """
        row, log_a, log_b = 0, *self.logs
        for a, b in self.whole.together(chunk_rows):
            if a.height != b.height and self.positional:
                raise UnequalRows(row + a.height, row + b.height)
            if a.height != b.height or not (self.positional or a[ID].equals(b[ID], null_equal=True)):
                yield a, b
                return
            members = log_a.members(a, row)
            row += a.height
            yield log_a.keep(a, members), log_b.keep(b, members)

    def show_id(self, canonical: Any) -> str:
        """A canonical id as a person writes it."""
        return self.whole.show_id(canonical)
