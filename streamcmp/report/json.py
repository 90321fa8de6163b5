"""A report as JSON, the contract: fixed order of keys, floats by repr, one result per line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from streamcmp.report.model import Report


def render(report: Report) -> str:
    """The report as JSON text, ending in a newline. `json.loads` of it equals `report.to_dict()`.

    Every value that does not exist is null; there is no NaN and no infinity. Whole numbers are exact at any
    size.
    """
    return "".join(pieces(report))


def pieces(report: Report) -> Iterator[str]:
    """The text of `render`, piece by piece: as text, a million slices take 0.8 GB."""
    before = "{\n"
    for key, value in report.frame_dict().items():
        yield f"{before}{_text(key)}: "
        before = ",\n"
        # A line per result, family and warning: readable, and a diff shows which slice changed.
        if key == "results":
            yield from _lines(report.result_dicts())
        elif key in ("families", "warnings"):
            yield from _lines(value)
        else:
            yield _text(value)
    yield "\n}\n"


def _lines(items: Iterable[Any]) -> Iterator[str]:
    before = "[\n  "
    for item in items:
        yield before + _text(item)
        before = ",\n  "
    yield "\n]" if before.startswith(",") else "[]"


# One encoder for all results: json.dumps makes a new one for every call.
_text = json.JSONEncoder(allow_nan=False, ensure_ascii=False).encode
