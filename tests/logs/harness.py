"""Small logs as evaluation harnesses write them."""

from __future__ import annotations

import json
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
