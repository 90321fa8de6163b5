"""Blocks of JSON lines to Python objects: fast where all is well, line by line where it is not."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from streamcmp.errors import DataError
from streamcmp.logs.formats.json_fields import Fields
from streamcmp.logs.formats.text import shorten

# From this average length on lines are decoded one by one. That costs nothing then, and millions of objects
# on one line are refused at the second.
_LONG_LINES = 1 << 16

# Builds the error for a line of a block, counted from 0, and what is wrong with it.
Bad = Callable[[int, str], DataError]


class LineReader:
    """Decodes the named fields of every object, or, with None, whole objects as dicts."""

    def __init__(self, names: Sequence[str] | None) -> None:
        self._fields = Fields(names)

    def rows(self, block: bytes, bad: Bad) -> list[Any]:
        """One decoded object per line that is not blank; raises what `bad` builds for the first bad line."""
        import msgspec

        if len(block) > _LONG_LINES * (1 + block.count(b"\n")):
            return self._one_by_one(block, bad)
        try:
            rows: list[Any] = self._fields.decoder.decode_lines(block)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return self._one_by_one(block, bad)
        # The decoder takes any sequence of objects, also two on one line or one on two.
        lines = block.count(b"\n") + (not block.endswith(b"\n"))
        if len(rows) != lines and len(rows) != sum(1 for line in block.split(b"\n") if line.strip()):
            return self._one_by_one(block, bad)
        return rows

    def _one_by_one(self, block: bytes, bad: Bad) -> list[Any]:
        return [
            decode_one(self._fields, line, lambda what, number=number: bad(number, what))  # type: ignore[misc]
            for number, line in enumerate(block.split(b"\n"))
            if line.strip()
        ]

    def values(self, rows: list[Any], name: str) -> list[Any]:
        """The values of one field."""
        return self._fields.values(rows, name)


def decode_one(fields: Fields, line: bytes, bad: Callable[[str], DataError]) -> Any:
    """One object from its text; raises what `bad` builds if it is none."""
    import msgspec

    try:
        return fields.decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return fields.of(_leniently(line, bad))


def _leniently(line: bytes, bad: Callable[[str], DataError]) -> dict[str, Any]:
    """An object by Python's own parser: it takes NaN, Infinity, and bad text in columns nobody needs."""
    text = line.decode(errors="surrogateescape")
    try:
        found = json.loads(text)
    except RecursionError as error:
        raise bad("is nested too deeply to read") from error
    except json.JSONDecodeError as error:
        what = f"is not one JSON object: {shorten(text)} ({error.msg}, column {error.colno})"
        raise bad(what) from error
    except ValueError as error:
        raise bad("holds an integer of thousands of digits") from error
    if not isinstance(found, dict):
        raise bad(f"holds {kind(found)} instead of an object: {shorten(text.strip())}")
    return found


def line_of_row(block: bytes, row: int) -> int:
    """The line, counted from 0, of the block's `row`-th object."""
    full = (number for number, line in enumerate(block.split(b"\n")) if line.strip())
    return next(number for index, number in enumerate(full) if index == row)


def kind(value: object) -> str:
    """What a JSON value is, with its article."""
    names = {dict: "an object", list: "a list", str: "text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
