"""Values of any shape as JSON text, marked as such: what has no single type still passes through a table.

Objects and lists of JSON lines have no type that all rows share, so they travel as their text. The mark, a
struct of one field, tells such text from a text that merely looks like it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date, time, timedelta
from typing import Any

import polars as pl

_FIELD = "\0json"  # no field of a log is called so
JSON = pl.Struct({_FIELD: pl.String()})


class AsText(str):
    """The name of a column that is read to be shown, not compared: objects and lists in it come as JSON."""

    __slots__ = ()


def marked(name: str, values: list[Any]) -> pl.Series:
    """A JSON column of Python values; None is null."""
    texts = [None if value is None else text_of(value) for value in values]
    return mark(pl.Series(name, texts, pl.String))


def mark(texts: pl.Series) -> pl.Series:
    """A JSON column of texts that are JSON."""
    return texts.to_frame(_FIELD).to_struct(texts.name).set(texts.is_null(), None)


def unmark(column: pl.Series) -> pl.Series:
    """The texts of a JSON column."""
    return column.struct.field(_FIELD).alias(column.name)


def to_json(column: pl.Series) -> pl.Series:
    """Any column as a JSON column."""
    return column if column.dtype == JSON else marked(column.name, column.to_list())


def text_of(value: Any) -> str:
    """The JSON text of a value."""
    return json.dumps(ready(value), ensure_ascii=False)


def ready(value: Any) -> Any:
    """`value` in terms of JSON: what JSON lacks as text, bytes in hex, dates and times as in ISO 8601."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Mapping):
        return {str(key): ready(item) for key, item in value.items()}
    if isinstance(value, list | tuple | pl.Series):
        return [ready(item) for item in value]
    return str(value)
