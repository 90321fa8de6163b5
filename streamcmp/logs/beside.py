"""`--truth FILE --on row`: the truth file's labels stand beside the log's rows, in the same order.

The two become one shard with one more column, so that all else is as if the label had been in the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from streamcmp.comparison import Comparison, SideName
from streamcmp.errors import DataError, NoColumn, UsageError
from streamcmp.logs.columns import LABEL_RANKS, detect, names_of
from streamcmp.logs.formats.base import BaseShard, conform
from streamcmp.logs.model import Shard
from streamcmp.logs.source import open_shards


def with_labels(
    comparison: Comparison, shards: Mapping[SideName, Sequence[Shard]]
) -> tuple[Comparison, dict[SideName, Sequence[Shard]]]:
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
        raise NoColumn("label", where=where, columns=columns, tried=names_of(LABEL_RANKS), option="--label")
    for log in shards.values():
        if len({shard.untyped for shard in log}) > 1:
            raise UsageError("--truth with --on row: the log's files are of different formats")
        if any(label in shard.schema() for shard in log):
            raise UsageError(
                f"--truth {where} and {log[0].label} both have a column {label!r}; --label names another"
            )
    sides = [replace(log, label=label) for log in (comparison.a, comparison.b)]
    asked = replace(comparison, a=sides[0], b=sides[1], truth=None)
    return asked, {side: [BesideShard(log, truth, label)] for side, log in shards.items()}


class BesideShard(BaseShard):
    """A log and labels, row by row."""

    def __init__(self, log: Sequence[Shard], truth: Sequence[Shard], label: str) -> None:
        self.label = log[0].label if len(log) == 1 else f"{log[0].label} and {len(log) - 1} more"
        self.size = sum(shard.size or 0 for shard in log)
        self.untyped = all(shard.untyped for shard in (*log, *truth))
        self._log = log
        self._truth = truth
        self._label = label

    def schema(self, *, complete: bool = False) -> Mapping[str, pl.DataType]:
        """The log's columns, and the label."""
        found = {
            name: dtype for shard in self._log for name, dtype in shard.schema(complete=complete).items()
        }
        labels = [shard.schema(complete=complete).get(self._label, pl.Null()) for shard in self._truth]
        return {**found, self._label: labels[0]}

    def batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The named columns in batches; see `Shard`.

        Raises:
            DataError: the log and the truth file have not as many rows.
        """
        own = [name for name in columns if name != self._label]
        labels = _rows(self._truth, [self._label])
        held, before = pl.DataFrame({self._label: []}), 0
        for batch in _rows(self._log, own):
            while held.height < batch.height:
                more = next(labels, None)
                if more is None:
                    raise self._unequal("more", before + held.height)
                held = more if not held.height else pl.concat([held, more], how="vertical_relaxed")
            beside = held[self._label].head(batch.height)
            held, before = held.slice(batch.height), before + batch.height
            yield conform(batch.with_columns(beside), columns)
        if held.height or next(labels, None) is not None:
            raise self._unequal("fewer", before)

    def _unequal(self, how: str, rows: int) -> DataError:
        truth = self._truth[0].label
        return DataError(
            f"--on row pairs labels by position, but {self.label} has {how} rows than the truth file {truth} "
            f"(the shorter one ends after {rows:,})"
        )


def _rows(shards: Sequence[Shard], columns: Sequence[str]) -> Iterator[pl.DataFrame]:
    for shard in shards:
        for batch in shard.batches(columns):
            if batch.height:
                yield batch
