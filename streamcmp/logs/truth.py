"""`--truth FILE`: labels from a third file, looked up by id.

Held in memory where a quarter of the budget is enough; else in parts, one at a time (`judged.py`): a part is
the ids whose hashes leave one remainder, so that equal ids are in one part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from streamcmp.comparison import Comparison, SideName
from streamcmp.errors import BadValue, DataError, NoColumn, TypeConflict, UsageError
from streamcmp.logs.columns import ID_RANKS, LABEL_RANKS, Roles, detect, names_of
from streamcmp.logs.ids import IdRule, Seen
from streamcmp.logs.model import ID, Shard
from streamcmp.logs.slices import common_type
from streamcmp.logs.values import IN_WORDS, NUMBERS, TEXTS, Check, Column
from streamcmp.logs.view import View
from streamcmp.usage import size

_SHARE = 4  # of the memory may be labels held
_MOST_PARTS = 4096
_SEED = 3
LABEL = "label of the truth file"  # the column's name beside a log's own columns, and in messages


@dataclass(frozen=True)
class TruthColumns:
    """The truth file before its rows are read: where ids and labels are."""

    view: View
    ids: tuple[str, ...]
    label: str

    def id_columns(self) -> list[Seen]:
        """Per id component the columns of all shards, for the joint decision on ids."""
        return [self.view.typed(name) for name in self.ids]

    def load(self, ids: IdRule, *, memory_budget: int | None) -> tuple[Truth, int]:
        """The first part, and how many there are: as few (a power of two) as let one fit the budget.

        Raises:
            DataError: no part fits the budget, an id is null or occurs twice, or a value is bad.
        """
        most = None if memory_budget is None else memory_budget // _SHARE
        parts = 1
        while (truth := self.read(ids, 0, parts, most=most)) is None:
            parts *= 2
            if parts > _MOST_PARTS:
                raise DataError(
                    f"{self.view.label} is too large for the memory: not even its {parts:,}th part fits "
                    f"{size(most or 0)}; raise --memory"
                )
        if parts == 1:
            self.refuse_repeated(ids, truth.repeated)
        return truth, parts

    def refuse_repeated(self, ids: IdRule, repeated: Any) -> None:
        """Raise the error for an id that occurs twice; None is none."""
        if repeated is not None:
            raise DataError(
                f"{self.view.label}: id {ids.show(repeated)} occurs more than once; "
                "a truth file has one label per id"
            )

    def read(self, ids: IdRule, index: int, parts: int, *, most: int | None = None) -> Truth | None:
        """One of so many parts; None once it takes more than `most` bytes.

        Raises:
            DataError: an id is null, or a value is bad, in any part.
        """
        held = 0
        wanted = list(dict.fromkeys([*self.ids, self.label]))
        frames, columns = [], []
        for part in self.view.parts:
            rows_before = 0
            for batch in part.shard.batches(wanted):
                typed = {name: Column(name, batch.schema[name], part.shard.untyped) for name in wanted}
                where = f"{part.label}, from row {rows_before + 1:,} on"
                expr, checks = ids.read([typed[name] for name in self.ids], where=where)
                checks.append(Check(expr.is_null(), self.ids, "every row of a truth file needs an id"))
                for check in checks:
                    bad = batch.select(check.bad.fill_null(value=False)).to_series()
                    if bad.any():
                        row = int(bad.arg_max() or 0)
                        values = [(name, batch[name][row]) for name in check.columns]
                        where = f"{part.label}, row {rows_before + row + 1:,}"
                        raise BadValue(where=where, values=values, problem=check.problem)
                frame = batch.select(expr.alias(ID), typed[self.label].expr.alias(LABEL))
                if parts > 1:
                    frame = frame.filter(pl.col(ID).hash(_SEED) % parts == index)
                frames.append(frame)
                columns.append(typed[self.label])
                held += int(frame.estimated_size())
                if most is not None and held > most:
                    return None
                rows_before += batch.height
        if not frames:
            raise DataError(f"{self.view.label} holds no rows; --truth brings an id and a label per row")
        table = self._table(frames, columns).sort(ID).rechunk()
        twice = table.filter(pl.col(ID) == pl.col(ID).shift())
        untyped = all(column.kind in {"untyped", "null"} for column in columns)
        return Truth(table, untyped, twice[ID][0] if twice.height else None)

    def _table(self, frames: Sequence[pl.DataFrame], columns: Sequence[Column]) -> pl.DataFrame:
        dtypes = [column.dtype for column in columns if column.kind != "null"]
        kinds = {column.kind for column in columns} - {"null"}
        if len(kinds) > 1 and not (kinds <= NUMBERS or kinds <= TEXTS):
            first, second = sorted(kinds)[:2]
            raise TypeConflict(
                f"{self.view.label}: column {self.label!r} holds several types",
                IN_WORDS[first],
                IN_WORDS[second],
                "store one type",
            )
        dtype = common_type(dtypes) if dtypes else pl.Null()
        return pl.concat([frame.with_columns(pl.col(LABEL).cast(dtype)) for frame in frames])


@dataclass(frozen=True)
class Truth:
    """Labels by canonical id.

    `table` is sorted by ID; `repeated` is the smallest id that occurs twice, or None.
    """

    table: pl.DataFrame
    untyped: bool
    repeated: Any = None

    def sample(self) -> Truth:
        """At most one label: enough to tell the column's type."""
        return Truth(self.table.head(1), self.untyped)

    @property
    def column(self) -> Column:
        """The label as a column."""
        return Column(LABEL, self.table.schema[LABEL], self.untyped)

    def attach(self, batch: pl.DataFrame, ids: pl.Expr) -> pl.DataFrame:
        """The batch with each row's label beside it; null where the truth file does not know the id."""
        if not self.table.height:
            return batch.with_columns(pl.lit(None, self.table.schema[LABEL]).alias(LABEL))
        keys = batch.select(ids.alias(ID))[ID]
        # A join would hash the whole table for every batch: 0.6 s at ten million labels, this 0.006 to 0.3 s.
        near = self.table[self.table[ID].search_sorted(keys).clip(upper_bound=self.table.height - 1)]
        return batch.with_columns(
            pl.when((near[ID] == keys).fill_null(value=False)).then(near[LABEL]).alias(LABEL)
        )


def resolve_truth(
    comparison: Comparison, roles: Mapping[SideName, Roles], shards: Sequence[Shard]
) -> TruthColumns:
    """Find the truth file's id columns (side a's names, else the well-known ones) and its label."""
    view = View.of("a", shards, "truth").completed()
    label = comparison.a.label or comparison.b.label
    if label is None:
        label = detect(view.columns, LABEL_RANKS, role="label", where=view.label, option="--label")
    else:
        view.require(label, "--label")
    if label is None:
        raise NoColumn(
            "label", where=view.label, columns=view.columns, tried=names_of(LABEL_RANKS), option="--label"
        )
    ids = next(
        (roles[side].ids for side in ("a", "b") if all(view.has(name) for name in roles[side].ids)), None
    )
    if ids is None and len(roles["a"].ids) == 1 and not comparison.on:
        found = detect(view.columns, ID_RANKS, role="id", where=view.label, option="--on")
        ids = None if found is None else (found,)
    if ids is None:
        raise UsageError(
            f"{view.label}: a truth file needs the logs' id columns ({', '.join(roles['a'].ids)})\n"
            f"its columns: {', '.join(view.columns)}"
        )
    return TruthColumns(view, ids, label)
