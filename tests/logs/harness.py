"""Small logs as evaluation harnesses write them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

DATE = "2025-09-09T13-42-42.857006"


def sample(doc_id: int, acc: Any = 1.0, **more: Any) -> dict[str, Any]:
    """A row of lm-evaluation-harness; `metric` names what it is scored by."""
    metric = more.pop("metric", "acc")
    return {
        "doc_id": doc_id,
        "doc": {"question": f"q{doc_id}", "category": "odd" if doc_id % 2 else "even"},
        "target": str(doc_id),
        "arguments": {"gen_args_0": {"arg_0": f"Q: q{doc_id}"}},
        "resps": [["x"]],
        "filtered_resps": ["x"],
        "filter": "none",
        "metrics": [metric],
        "doc_hash": f"d{doc_id}",
        "prompt_hash": f"p{doc_id}",
        "target_hash": f"t{doc_id}",
        metric: acc,
    } | more


def lm_eval(folder: Path, rows: Iterable[Mapping[str, Any]], task: str = "arc", date: str = DATE) -> Path:
    """A file of samples in `folder`, which is returned."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_{task}_{date}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def inspect_sample(identity: int | str, value: Any = "C", epoch: int = 1, **more: Any) -> dict[str, Any]:
    """A sample of Inspect, scored by `match`."""
    return {
        "id": identity,
        "epoch": epoch,
        "input": f"q{identity}",
        "target": "A",
        "messages": [{"role": "user", "content": 'a "quoted" [text] {of} brackets \\\\'}],
        "scores": {"match": {"value": value, "answer": "x"}},
        "metadata": {"topic": "odd"},
    } | more


def header(task: str = "arc", model: str = "m/one", **more: Any) -> dict[str, Any]:
    """All of a log but its samples."""
    said = {"task": task, "model": model, "created": "2025-01-01T00:00:00", "config": {}} | more.pop(
        "eval", {}
    )
    return {"version": 2, "status": "success", "eval": said, "plan": {}, "results": {}} | more


def inspect_json(path: Path, samples: Iterable[Mapping[str, Any]], **more: Any) -> Path:
    """A `.json` log."""
    path.write_text(json.dumps(header(**more) | {"samples": list(samples), "reductions": []}, indent=1))
    return path


def inspect_eval(
    path: Path,
    samples: Iterable[Mapping[str, Any]],
    *,
    summaries: Iterable[dict[str, Any]] | None = None,
    journal: bool = False,
    method: int = zipfile.ZIP_DEFLATED,
    **more: Any,
) -> Path:
    """An `.eval` log, its summaries those of the samples if not given. `journal`: it was cut off."""
    samples = list(samples)
    short = [{k: v for k, v in each.items() if k not in ("messages", "metadata")} for each in samples]
    short = list(short if summaries is None else summaries)
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("_journal/start.json", json.dumps(header(**more)))
        for each in samples:
            archive.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each, indent=2))
        half = len(short) // 2
        for number, some in enumerate((short[:half], short[half:]), start=1):
            archive.writestr(f"_journal/summaries/{number}.json", json.dumps(some))
        if not journal:
            archive.writestr("summaries.json", json.dumps(short))
            archive.writestr("header.json", json.dumps(header(**more)))
    return path
