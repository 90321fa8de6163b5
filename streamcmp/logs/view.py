"""One side's log before any row is read: its shards and what their schemas say together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NoReturn

import polars as pl

from streamcmp.comparison import OPTION_OF_SIDE, SideName
from streamcmp.errors import EmptyLog, ShardLacksColumn, UnknownColumn
from streamcmp.logs.formats.base import profile_of
from streamcmp.logs.model import Shard
from streamcmp.logs.profile import Profile
from streamcmp.logs.values import Column, Kind

SPAN_ROWS = 5_000_000  # a log of fewer rows is compared before the reader of its metadata is loaded


@dataclass(frozen=True)
class Part:
    """A shard with its schema. `sparse`: rows may lack keys, and the schema is a sample until completed."""

    shard: Shard
    schema: Mapping[str, pl.DataType]
    sparse: bool
    label: str  # the file; for a frame also the side

    def column(self, name: str) -> Column:
        """The named column; all null where a sparse shard lacks it."""
        return Column(name, self.schema.get(name, pl.Null()), self.shard.untyped)


@dataclass(frozen=True)
class View:
    """One side. `columns` are those that every shard has (a sparse shard lacks none)."""

    side: SideName
    label: str
    parts: tuple[Part, ...]
    complete: bool = False
    metric: str | None = None  # the column of a harness's log that says what is correct; see metric.py

    @classmethod
    def of(cls, side: SideName, shards: Sequence[Shard], name: str | None = None) -> View:
        """Read the schemas. Shards known to be empty do not count; a log of nothing else is an error.

        `name` is what messages call the log; the side's, if left out.
        """
        name = name or OPTION_OF_SIDE[side]
        labels = [label_of(shard, name) for shard in shards]
        label = labels[0] if len(shards) == 1 else f"the {name} log ({labels[0]}, ...)"
        parts = [
            Part(shard, shard.schema(), is_sparse(shard), own)
            for shard, own in zip(shards, labels, strict=True)
            if shard.rows != 0
        ]
        parts = [part for part in parts if part.schema]
        if not parts:
            raise EmptyLog(label)
        return cls(side, label, tuple(parts))

    @property
    def profile(self) -> Profile | None:
        """What its harness's logs are known to mean; None unless all files are of one harness."""
        profiles = [profile_of(part.shard) for part in self.parts]
        first = profiles[0]
        same = all(
            each is not None and first is not None and each.harness == first.harness for each in profiles
        )
        return first if same else None

    def completed(self) -> View:
        """The same with schemas that have seen every row."""
        if self.complete:
            return self
        parts = [
            replace(part, schema=part.shard.schema(complete=True)) if part.sparse else part
            for part in self.parts
        ]
        return replace(self, parts=tuple(parts), complete=True)

    def sparing(self, names: Sequence[str], most: int) -> View:
        """The same, of which one file takes about `most` bytes at a time to read these columns."""
        return replace(
            self, parts=tuple(replace(part, shard=part.shard.sparing(names, most)) for part in self.parts)
        )

    @property
    def can_learn(self) -> bool:
        """Whether reading whole files could reveal further columns or types."""
        return not self.complete and any(part.sparse for part in self.parts)

    @cached_property
    def columns(self) -> list[str]:
        """Names of usable columns, in file order."""
        seen = dict.fromkeys(name for part in self.parts for name in part.schema)
        return [name for name in seen if all(part.sparse or name in part.schema for part in self.parts)]

    def has(self, name: str) -> bool:
        """Whether the column is usable."""
        return name in self.columns

    def require(self, name: str, option: str | None = None) -> str:
        """The name itself, or an error that lists the columns, or the file that lacks it."""
        if self.has(name):
            return name
        having = [part.label for part in self.parts if name in part.schema]
        if not having:
            raise UnknownColumn(name, where=self.label, columns=self.columns, option=option)
        without = next(part.label for part in self.parts if not part.sparse and name not in part.schema)
        raise ShardLacksColumn(name, without=without, having=having[0])

    def typed(self, name: str) -> list[tuple[str, Column]]:
        """(shard label, column) of each shard in which the column holds anything."""
        columns = ((part.label, part.column(name)) for part in self.parts)
        return [(label, column) for label, column in columns if column.kind != "null"]

    def span(self, name: str) -> tuple[int, int] | None:
        """The range of an integer column by all files' metadata: a hint. None where unknown, or no use."""
        if sum(part.shard.rows or 0 for part in self.parts) < SPAN_ROWS:
            return None
        spans = [part.shard.bounds(name) for part in self.parts if part.column(name).kind != "null"]
        known = [span for span in spans if span is not None]
        if not known or len(known) < len(spans):
            return None
        return min(low for low, _ in known), max(high for _, high in known)

    def kinds(self, name: str) -> set[Kind]:
        """The kinds of value the column holds."""
        return {column.kind for _, column in self.typed(name)}


def refuse_unknown(
    name: str, views: Mapping[SideName, View], option: str, advice: str | None = None
) -> NoReturn:
    """Raise the error for a column that neither side has in all its shards."""
    for view in views.values():
        if any(name in part.schema for part in view.parts):
            view.require(name, option)
    columns = dict.fromkeys(column for view in views.values() for column in view.columns)
    raise UnknownColumn(name, where=None, columns=list(columns), option=option, advice=advice)


def label_of(shard: Shard, name: str) -> str:
    """What messages call a shard: its path; frames have none, so the log's name tells them apart."""
    return f"the {name} {shard.label}" if shard.label.startswith("frame") else shard.label


def is_sparse(shard: Shard) -> bool:
    """Whether rows of this shard may lack keys (NDJSON and its like)."""
    return not shard.untyped and shard.lazy() is None
