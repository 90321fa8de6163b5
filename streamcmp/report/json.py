"""A report as JSON, the contract: fixed order of keys, floats by repr, one result per line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from streamcmp.report.model import Report


def render(report: Report) -> str:
    """The report as JSON text, ending in a newline. `json.loads` of it equals `report.to_dict()`.

    Every value that does not exist is null; there is no NaN and no infinity. Whole numbers are exact at any
    size.
    """
    parts = [f"{_text(key)}: {_block(key, value, report)}" for key, value in report.frame_dict().items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _block(key: str, value: Any, report: Report) -> str:
    # A line per result, family and warning: readable, and a diff shows which slice changed.
    if key == "results":
        return _lines(map(_text, report.result_dicts()))
    if key in ("families", "warnings"):
        return _lines(map(_text, value))
    return _text(value)


def _lines(items: Iterable[str]) -> str:
    joined = ",\n  ".join(items)
    return f"[\n  {joined}\n]" if joined else "[]"


# One encoder for all results: json.dumps makes a new one for every call.
_text = json.JSONEncoder(allow_nan=False, ensure_ascii=False).encode
