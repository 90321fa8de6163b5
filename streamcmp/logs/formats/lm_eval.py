"""lm-evaluation-harness: `samples_TASK_DATE.jsonl`, one file per task and run, as `--log_samples` writes it.

NDJSON with one object per document and filter. The task stands only in the file's name and becomes the column
`task`. Of several runs of one task in a folder the newest counts, and a note says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from streamcmp.errors import UsageError
from streamcmp.logs.formats.base import Format, WithConstants
from streamcmp.logs.formats.ndjson import NdjsonShard, first_object
from streamcmp.logs.formats.text import COMPRESSED_ENDINGS
from streamcmp.logs.model import Shard
from streamcmp.logs.profile import Profile

_NAME = re.compile(r"samples_(?P<task>.+?)(?:_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?))?\.jsonl")
# What the harness writes into every row beside the metrics.
_FIXED = frozenset((
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash",
    "prompt_hash", "target_hash", "task", "task_name", "model_name", "idx", "schema",
))  # fmt: skip
_VERDICTS = frozenset(("true", "false", "1", "0", "1.0", "0.0", "nan"))


class LmEvalShard(WithConstants):
    """One file of samples."""

    def __init__(self, path: Path) -> None:
        named = _NAME.fullmatch(_plain(path.name))
        self.task = named["task"] if named else None
        self.date = (named["date"] if named else None) or ""
        self.folder = path.parent
        self._rows = NdjsonShard(path)
        super().__init__(self._rows, {"task": self.task} if self.task is not None else {})

    @cached_property
    def profile(self) -> Profile:
        """The key, the guards, and the metrics of the first rows."""
        rows = self._rows.sample()
        return Profile(
            "lm-evaluation-harness",
            ids=("task", "doc_id", "filter"),
            guards=("doc_hash", "target_hash"),
            advisory=("prompt_hash",),
            outcomes={name: name for name in _metrics(rows)},
            silence="holds no metric: neither a list of metrics nor a key whose values say right or wrong",
            repeats="filter" if len({str(row.get("filter")) for row in rows}) > 1 else None,
            about=f"task {self.task}" + (f" of {self.date}" if self.date else "") if self.task else "",
        )


def _plain(name: str) -> str:
    for ending in COMPRESSED_ENDINGS:
        name = name.removesuffix(ending)
    return name


def _metrics(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The metrics that these rows hold: those they list, or, in older logs, all keys that fit."""
    listed = dict.fromkeys(
        name
        for row in rows
        if isinstance(row.get("metrics"), list)
        for name in row["metrics"]
        if isinstance(name, str)
    )
    if listed:
        return [name for name in listed if any(name in row for row in rows)]
    return [
        name
        for name in dict.fromkeys(name for row in rows for name in row)
        if name not in _FIXED and all(_is_verdict(row.get(name)) for row in rows)
    ]


def _is_verdict(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float) or str(value).lower() in _VERDICTS


def is_lm_eval(path: Path) -> bool:
    """Whether the first line is a sample of the harness."""
    first = first_object(path) or {}
    return "doc_id" in first and bool({"resps", "filtered_resps", "doc_hash"} & first.keys())


def open_lm_eval(path: Path, columns: tuple[str, ...] = ()) -> LmEvalShard:  # noqa: ARG001 - keys are names
    """A file of samples."""
    return LmEvalShard(path)


def newest(shards: Sequence[Shard], option: str) -> tuple[list[Shard], list[str]]:
    """The newest run of each task, and notes on what was passed over.

    Raises:
        UsageError: one task stands in several folders: those of several models, as a rule.
    """
    runs: dict[str, list[LmEvalShard]] = {}
    for shard in shards:
        if isinstance(shard, LmEvalShard) and shard.task is not None:
            runs.setdefault(shard.task, []).append(shard)
    old: set[int] = set()
    for task, files in runs.items():
        folders = sorted({str(file.folder) for file in files})
        if len(folders) > 1:
            raise UsageError(
                f"{option}: samples of task {task} lie in {len(folders)} folders ({', '.join(folders[:5])}); "
                "a log is one model's: name the folder of one"
            )
        last = max(file.date for file in files)
        old |= {id(file) for file in files if file.date < last}
    kept = [shard for shard in shards if id(shard) not in old]
    notes = [
        f"{task} was run {len(files)} times; the newest counts, {max(file.date for file in files)}"
        for task, files in runs.items()
        if len(files) > 1
    ]
    return kept, notes


FORMAT = Format(
    name="lm-eval",
    about="lm-evaluation-harness: samples_TASK_DATE.jsonl, a file or a folder",
    endings=(".jsonl",),
    open=open_lm_eval,
    text=True,
    refines="ndjson",
    detect=is_lm_eval,
    choose=newest,
)
