"""Inspect: logs of `inspect eval`, `.eval` (a zip archive of JSON) and `.json`.

One row per sample and epoch. A sample that ended in an error, or that a scorer did not score, has no outcome.
Ids are text: an integer as its digits, and a text that looks like one in quotes, since the sample 0 and the
sample "0" are two. `target` is cut after 1000 characters and lists are written as JSON: that is how it stands
in summaries.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from streamcmp import interrupt
from streamcmp.errors import DataError, UsageError
from streamcmp.logs.formats.base import BaseShard, Format, WithConstants, conform
from streamcmp.logs.formats.inspect_samples import Samples, open_samples
from streamcmp.logs.formats.json_fields import Fields
from streamcmp.logs.formats.json_values import columns_of, learn
from streamcmp.logs.formats.text import read_head
from streamcmp.logs.model import Shard
from streamcmp.logs.profile import Profile

_FEW_SAMPLES, _FEW_SUMMARIES = 5, 1000
_LONGEST_IN_SUMMARY = 1000  # texts of this length may have been cut
_NUMBER = re.compile(r'-?\d+|".*', re.DOTALL)
_START = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"(status|eval)"\s*:')


class SampleShard(BaseShard):
    """The samples of one log as a table."""

    def __init__(self, path: Path) -> None:
        self.label = str(path)
        self.size = path.stat().st_size
        self.samples: Samples = open_samples(path, read_head(path, 4))
        if self.samples.count == 0 and not self.samples.summarised:
            self.rows = 0
        self._schemas: dict[bool, Mapping[str, pl.DataType]] = {}
        self._scores: dict[bool, dict[str, list[str]]] = {}

    def schema(self, *, complete: bool = False) -> Mapping[str, pl.DataType]:
        """Fields and types of the first samples, or of all."""
        if complete not in self._schemas:
            whole: dict[str, pl.DataType] = {}
            scores: dict[str, list[str]] = {}
            for rows in self._first_whole(None if complete else _FEW_SAMPLES):
                learn(whole, rows)
                _learn_scores(scores, rows)
            found = {**whole, **self._of_summaries(complete=complete, scores=scores)}
            if found:
                found |= {"id": pl.String(), "target": pl.String()}
            self._schemas[complete], self._scores[complete] = found, scores
        return self._schemas[complete]

    def _first_whole(self, limit: int | None) -> Iterator[list[Any]]:
        few = _FEW_SAMPLES if limit is not None else None
        return _first(self.samples.whole(Fields(None), few), limit)

    def _of_summaries(self, *, complete: bool, scores: dict[str, list[str]]) -> dict[str, pl.DataType]:
        found: dict[str, pl.DataType] = {}
        if self.samples.summarised:
            for rows in _first(self.samples.summaries(Fields(None)), None if complete else _FEW_SUMMARIES):
                learn(found, rows)
                _learn_scores(scores, rows)
        self._summarised = frozenset(found)
        return found

    def scorers(self) -> dict[str, list[str]]:
        """Scorer -> the parts of its value, if that is an object; of all samples if the first have none."""
        self.schema()
        if not self._scores[False]:
            self.schema(complete=True)
            return self._scores[True]
        return self._scores[False]

    def batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The named fields in batches; see `Shard`. From the summaries where they hold them.

        Raises:
            DataError: naming the sample or summary that is damaged, or whose value in a needed field is an
                object or a list.
        """
        names = list(dict.fromkeys(columns))
        fields = Fields(list(dict.fromkeys([*names, "id", "epoch", "error"])))
        short = self._suffices(names)
        before = 0
        for rows in self.samples.summaries(fields) if short else self.samples.whole(fields):
            interrupt.check()
            if not rows:
                continue

            def at(row: int, what: str, before: int = before) -> DataError:
                return DataError(f"{self.label}: sample {before + row + 1:,} {what}")

            before += len(rows)
            if not names:
                yield pl.DataFrame(height=len(rows))
                continue
            values = [self._values(fields, rows, name, short=short) for name in names]
            for frame in columns_of(names, values, at):
                yield conform(frame, columns)

    def _suffices(self, names: Sequence[str]) -> bool:
        """Whether the summaries hold all these fields."""
        if not self.samples.summarised:
            return False
        self.schema()
        return all(
            name in ("id", "epoch", "target", "error")
            or name.startswith("scores.")
            or name in self._summarised
            for name in names
        )

    def _values(self, fields: Fields, rows: list[Any], name: str, *, short: bool) -> list[Any]:
        found = fields.values(rows, name)
        if name == "id":
            return [shown_id(value) for value in found]
        if name == "target":
            return [_target(value) for value in found]
        if name.startswith("scores."):
            # An error leaves what was scored so far; it is no result.
            errors = fields.values(rows, "error")
            return [None if error is not None else value for value, error in zip(found, errors, strict=True)]
        if short:
            return [
                self._uncut(fields, row, name, value)
                if isinstance(value, str) and len(value) >= _LONGEST_IN_SUMMARY
                else value
                for row, value in zip(rows, found, strict=True)
            ]
        return found

    def _uncut(self, fields: Fields, row: Any, name: str, value: Any) -> Any:
        """A text that a summary may have cut, from the sample itself."""
        (identity,), (epoch,) = fields.values([row], "id"), fields.values([row], "epoch")
        whole = self.samples.one(identity, epoch, fields)
        return value if whole is None else fields.values([whole], name)[0]


def _first(rows: Iterator[list[Any]], limit: int | None) -> Iterator[list[Any]]:
    """The rows up to about `limit`."""
    seen = 0
    for some in rows:
        interrupt.check()
        yield some if limit is None else some[:limit]
        seen += len(some)
        if limit is not None and seen >= limit:
            return


def _learn_scores(scores: dict[str, list[str]], rows: Sequence[dict[str, Any]]) -> None:
    for row in rows:
        found = row.get("scores")
        if not isinstance(found, dict):
            continue
        for scorer, score in found.items():
            value = score.get("value") if isinstance(score, dict) else None
            parts = scores.setdefault(scorer, [])
            parts += [part for part in value if part not in parts] if isinstance(value, dict) else []


def shown_id(value: Any) -> str | None:
    """The id as text, the sample 0 apart from the sample "0"."""
    if value is None or isinstance(value, str):
        return value if value is None or not _NUMBER.fullmatch(value) else json.dumps(value)
    return str(value) if type(value) is int else json.dumps(value)


def _target(value: Any) -> str | None:
    if isinstance(value, list):
        value = json.dumps([str(each)[:_LONGEST_IN_SUMMARY] for each in value])
    return None if value is None else str(value)[:_LONGEST_IN_SUMMARY]


class InspectShard(WithConstants):
    """One log of Inspect, with the columns `task` and `model` from its header."""

    def __init__(self, path: Path) -> None:
        self._table = SampleShard(path)
        header = self._table.samples.header
        said = header.get("eval")
        said = said if isinstance(said, dict) else {}
        self.task, self.model, self.created = (
            str(said.get(key) or "") for key in ("task", "model", "created")
        )
        self.status = str(header.get("status") or "unfinished")
        self._said = said
        super().__init__(self._table, {"task": self.task, "model": self.model})

    @cached_property
    def profile(self) -> Profile:
        """The key, the guard, and the scorers."""
        config = self._said.get("config")
        config = config if isinstance(config, dict) else {}
        outcomes: dict[str, str] = {}
        for scorer, parts in self._table.scorers().items():
            column = f"scores.{scorer}.value"
            outcomes |= {f"{scorer}.{part}": f"{column}.{part}" for part in parts} or {scorer: column}
        limit = config.get("limit")
        epochs = config.get("epochs")
        return Profile(
            "Inspect",
            ids=("task", "id", "epoch"),
            guards=("target",),
            outcomes=outcomes,
            what="scorer",
            grades=True,
            silence=f"holds no score at all: {self._silence()}",
            about=f"task {self.task} by {self.model}" + (f", limit {limit}" if limit is not None else ""),
            repeats="epoch" if isinstance(epochs, int) and epochs > 1 else None,
        )

    def _silence(self) -> str:
        count = self._table.samples.count
        scorers = self._said.get("scorers")
        named = [str(each.get("name")) for each in scorers or () if isinstance(each, dict)]
        who = f" by {' and '.join(named)}, which it names as scorer" if named else ""
        every = "samples" if count is None else f"{count:,} samples"
        return f"none of its {every} was scored{who}. `inspect score FILE` adds scores to a log"


def is_inspect(path: Path) -> bool:
    """Whether a JSON file begins as Inspect's logs do."""
    try:
        return bool(_START.match(read_head(path, 4096)))
    except DataError:
        return False


def open_inspect(path: Path, columns: tuple[str, ...] = ()) -> InspectShard:  # noqa: ARG001 - keys are names
    """A log of Inspect.

    Raises:
        DataError: it is none, or damaged.
    """
    return InspectShard(path)


def newest(shards: Sequence[Shard], option: str) -> tuple[list[Shard], list[str]]:
    """The newest log of each task, and notes on what was passed over or is not finished.

    Raises:
        UsageError: the logs are of several models.
    """
    logs = [shard for shard in shards if isinstance(shard, InspectShard)]
    models = sorted({log.model for log in logs})
    if len(models) > 1:
        raise UsageError(
            f"{option}: the logs are of {len(models)} models ({', '.join(models[:5])}); a log is one "
            "model's: name the files of one"
        )
    kept: list[Shard] = []
    notes: list[str] = []
    for task in dict.fromkeys(log.task for log in logs):
        runs = sorted((log for log in logs if log.task == task), key=lambda log: log.created)
        last = runs[-1]
        kept.append(last)
        if len(runs) > 1:
            notes.append(f"{task} was run {len(runs)} times; the newest counts, {last.label}")
        if last.status != "success":
            notes.append(f"{last.label} is not a finished run: its status is {last.status!r}")
    return kept, notes


FORMAT = Format(
    name="inspect",
    about="Inspect: logs of inspect eval, .eval or .json",
    endings=(".eval",),
    open=open_inspect,
    sniff=lambda head: head.startswith(b"PK\x03\x04"),
    refines="ndjson",
    detect=is_inspect,
    choose=newest,
)
