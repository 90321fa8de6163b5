"""Blocks of JSON lines to Python objects: fast where all is well, line by line where it is not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

from streamcmp.errors import DataError
from streamcmp.logs.formats.text import shorten

# What JSON must escape.
_ESCAPED = re.compile(r'[\\"\x00-\x1f]')
# Builds the error for a line of a block, counted from 0, and what is wrong with it.
Bad = Callable[[int, str], DataError]


class LineReader:
    """Decodes the named keys of every object, or, with None, whole objects as dicts."""

    def __init__(self, names: Sequence[str] | None) -> None:
        self._names = names

    @cached_property
    def _attributes(self) -> dict[str, str] | None:
        """Key -> attribute of the decoded object; None where objects are dicts."""
        if self._names is None or any(_ESCAPED.search(name) for name in self._names):
            return None  # msgspec cannot rename a field to such a name
        return {name: f"f{index}" for index, name in enumerate(self._names)}

    @cached_property
    def _decoder(self) -> Any:
        import msgspec

        if self._attributes is None:
            return msgspec.json.Decoder(dict[str, Any])
        fields = [(attribute, Any, None) for attribute in self._attributes.values()]
        # gc=False: the collector need not visit rows, which hold no cycles.
        row = msgspec.defstruct("Row", fields, rename={a: n for n, a in self._attributes.items()}, gc=False)
        return msgspec.json.Decoder(row)

    def rows(self, block: bytes, bad: Bad) -> list[Any]:
        """One decoded object per line that is not blank; raises what `bad` builds for the first bad line."""
        import msgspec

        try:
            rows: list[Any] = self._decoder.decode_lines(block)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return self._one_by_one(block, bad)
        # The decoder takes any sequence of objects, also two on one line or one on two.
        lines = block.count(b"\n") + (not block.endswith(b"\n"))
        if len(rows) != lines and len(rows) != sum(1 for line in block.split(b"\n") if line.strip()):
            return self._one_by_one(block, bad)
        return rows

    def _one_by_one(self, block: bytes, bad: Bad) -> list[Any]:
        import msgspec

        rows = []
        for number, line in enumerate(block.split(b"\n")):
            if not line.strip():
                continue
            try:
                rows.append(self._decoder.decode(line))
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                rows.append(self._leniently(line, number, bad))
        return rows

    def _leniently(self, line: bytes, number: int, bad: Bad) -> Any:
        """A line by Python's own parser: it takes NaN, Infinity, and bad text in columns nobody needs."""
        text = line.decode(errors="surrogateescape")
        try:
            found = json.loads(text)
        except RecursionError as error:
            raise bad(number, "is nested too deeply to read") from error
        except json.JSONDecodeError as error:
            what = f"is not one JSON object: {shorten(text)} ({error.msg}, column {error.colno})"
            raise bad(number, what) from error
        except ValueError as error:
            raise bad(number, "holds an integer of thousands of digits") from error
        if not isinstance(found, dict):
            raise bad(number, f"holds {kind(found)} instead of an object: {shorten(text.strip())}")
        if self._attributes is None:
            return found
        row = self._decoder.decode(b"{}")
        for name, attribute in self._attributes.items():
            setattr(row, attribute, found.get(name))
        return row

    def values(self, rows: list[Any], name: str) -> list[Any]:
        """The values of one key."""
        if self._attributes is None:
            return [row.get(name) for row in rows]
        return list(map(attrgetter(self._attributes[name]), rows))


def line_of_row(block: bytes, row: int) -> int:
    """The line, counted from 0, of the block's `row`-th object."""
    full = (number for number, line in enumerate(block.split(b"\n")) if line.strip())
    return next(number for index, number in enumerate(full) if index == row)


def kind(value: object) -> str:
    """What a JSON value is, with its article."""
    names = {dict: "an object", list: "a list", str: "text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
