"""`--truth FILE` and `--slices FILE` with `--on row`: a third file's columns stand beside the log's rows.

Both are in the same order. The two become one shard with more columns, so that all else is as if they had
been in the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from streamcmp.comparison import SIDES, Comparison, SideName
from streamcmp.errors import DataError, NoColumn, UsageError
from streamcmp.logs.columns import LABEL_RANKS, NO_LABEL, detect, names_of
from streamcmp.logs.families import named_columns
from streamcmp.logs.formats.base import BaseShard, conform
from streamcmp.logs.model import Shard
from streamcmp.logs.source import open_shards
from streamcmp.logs.view import View

NO_BY = "--slices brings columns for --by; name those to slice by with --by"
Logs = Mapping[SideName, Sequence[Shard]]


def with_labels(comparison: Comparison, shards: Logs) -> tuple[Comparison, Logs]:
    """The request without a truth file, and the logs with its labels as a column of their own.

    Raises:
        UsageError: the truth file has no label column, or its name is taken by a log's own column; or a log's
            files are of formats with types and without.
    """
    truth = open_shards(comparison.truth, option="--truth", columns=comparison.truth_columns)
    columns = list(dict.fromkeys(name for shard in truth for name in shard.schema()))
    where = truth[0].label
    label = comparison.a.label or comparison.b.label
    label = label or detect(columns, LABEL_RANKS, role="label", where=where, option="--label")
    if label is None or label not in columns:
        raise NoColumn("label", where=where, columns=columns, tried=names_of(LABEL_RANKS), option=NO_LABEL)
    for log in shards.values():
        if any(label in shard.schema() for shard in log):
            raise UsageError(
                f"--truth {where} and {log[0].label} both have a column {label!r}; --label names another"
            )
    sides = [replace(log, label=label) for log in (comparison.a, comparison.b)]
    asked = replace(comparison, a=sides[0], b=sides[1], truth=None)
    return asked, _beside(shards, truth, [label], "truth")


def with_slices(
    comparison: Comparison, shards: Logs
) -> tuple[Comparison, Logs, tuple[str, ...], tuple[str, ...]]:
    """The request without a slices file, and the logs with its columns of `--by` as their own.

    Also the names of those, and a note on where they come from. The logs' own columns go before them.

    Raises:
        UsageError: there is no `--by`, or the file has none of its columns; or a log's files are of formats
            with types and without.
    """
    if not comparison.by:
        raise UsageError(NO_BY)
    slices = open_shards(comparison.slices, option="--slices", columns=comparison.slices_columns)
    view = View.of("a", slices, "slices").completed()
    logs = [View.of(side, shards[side]).completed() for side in SIDES]
    asked = dict.fromkeys(named_columns(comparison, view))
    names = tuple(name for name in asked if view.has(name) and not any(log.has(name) for log in logs))
    if not names:
        raise UsageError(
            f"--slices {view.label} has no column that --by names and the logs lack\n"
            f"its columns: {', '.join(view.columns)}"
        )
    note = f"--by {', '.join(names)}: from {view.label}, by position"
    return replace(comparison, slices=None), _beside(shards, slices, names, "slices"), names, (note,)


def _beside(shards: Logs, third: Sequence[Shard], names: Sequence[str], what: str) -> Logs:
    for log in shards.values():
        if len({shard.untyped for shard in log}) > 1:
            raise UsageError(f"--{what} with --on row: the log's files are of different formats")
    return {side: [BesideShard(log, third, names, what)] for side, log in shards.items()}


class BesideShard(BaseShard):
    """A log and columns of a third file, row by row."""

    def __init__(self, log: Sequence[Shard], third: Sequence[Shard], names: Sequence[str], what: str) -> None:
        """`what`: messages speak of the truth file or the slices file."""
        self.label = log[0].label if len(log) == 1 else f"{log[0].label} and {len(log) - 1} more"
        self.size = sum(shard.size or 0 for shard in log)
        self.untyped = all(shard.untyped for shard in (*log, *third))
        self._log = log
        self._third = third
        self._names = names
        self._what = what

    def schema(self, *, complete: bool = False) -> Mapping[str, pl.DataType]:
        """The log's columns, and those of the third file."""
        found = {
            name: dtype for shard in self._log for name, dtype in shard.schema(complete=complete).items()
        }
        beside = self._third[0].schema(complete=complete)
        return {**found, **{name: beside.get(name, pl.Null()) for name in self._names}}

    def batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The named columns in batches; see `Shard`.

        Raises:
            DataError: the log and the third file have not as many rows.
        """
        own = [name for name in columns if name not in self._names]
        asked = [name for name in self._names if name in columns] or list(self._names[:1])
        others = _rows(self._third, asked)
        held, before = pl.DataFrame({name: [] for name in asked}), 0
        for batch in _rows(self._log, own):
            while held.height < batch.height:
                more = next(others, None)
                if more is None:
                    raise self._unequal("more", before + held.height)
                held = more if not held.height else pl.concat([held, more], how="vertical_relaxed")
            beside = held.head(batch.height)
            held, before = held.slice(batch.height), before + batch.height
            yield conform(batch.with_columns(beside.get_columns()), columns)
        if held.height or next(others, None) is not None:
            raise self._unequal("fewer", before)

    def _unequal(self, how: str, rows: int) -> DataError:
        paired = "labels" if self._what == "truth" else "slices"
        return DataError(
            f"--on row pairs {paired} by position, but {self.label} has {how} rows than the {self._what} "
            f"file {self._third[0].label} (the shorter one ends after {rows:,})"
        )


def _rows(shards: Sequence[Shard], columns: Sequence[str]) -> Iterator[pl.DataFrame]:
    for shard in shards:
        for batch in shard.batches(columns):
            if batch.height:
                yield batch
