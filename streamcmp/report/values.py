"""Slice values and other people's text, as data for machines and as words for people."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import date, time
from typing import Any

import polars as pl
from rich.cells import cell_len, chop_cells

NULL = "(null)"
# Days from 1970-01-01 that Polars can write: years -262143 to 262142, but for a day at each end, for zones.
_DAYS = (-96_465_291, 95_026_235)
_A_DAY = {"days": 1, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_ROOM_FOR_ENDS = 12  # below this many cells, only the beginning of a long name is kept
# Characters without a shape: controls, format and direction marks, surrogates, private use, unassigned, line
# and paragraph separators. Written out, they can neither move the cursor nor reorder or break a line.
_SHAPELESS = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
# What is written out: those; marks that would join what stands before the text; and marks upon four others,
# which would rise over the lines above.
_TO_ESCAPE = re.compile("x+|^m+|(?<=mmmm)m+")
_MOST_KINDS = 1 << 16  # characters whose kind is remembered


class _Kinds(dict[int, str]):
    """Code point -> x (no shape), m (a mark upon another character) or `.`, found when first asked for."""

    def __missing__(self, code: int) -> str:
        category = unicodedata.category(chr(code))
        kind = "x" if category in _SHAPELESS else "m" if category in ("Mn", "Me") else "."
        if len(self) < _MOST_KINDS:
            self[code] = kind
        return kind


_KINDS = _Kinds()


def native_json_values(column: pl.Series) -> pl.Series | None:
    """The values of a slice column as JSON has them, dates and times as ISO text.

    None where one type does not hold them: floats with NaN or infinities, decimals, bytes.
    """
    if column.dtype.is_temporal():
        return _iso(column)
    if column.dtype.is_float():  # Float64, as narrower ones are written with the digits that they need
        return column.cast(pl.Float64) if column.is_finite().all() else None
    if isinstance(column.dtype, pl.Enum | pl.Categorical):
        return column.cast(pl.String)
    plain = isinstance(column.dtype, pl.String | pl.Boolean) or column.dtype.is_integer()
    return column if plain else None


def _iso(column: pl.Series) -> pl.Series:
    """Dates and times as ISO text; a day that no calendar of Polars reaches as how far it is from 1970."""
    unit = column.dtype.time_unit if isinstance(column.dtype, pl.Datetime) else "days"
    days = column.to_physical() // _A_DAY[unit]
    beyond = ~days.is_between(*_DAYS).fill_null(value=True)
    if not (beyond.any() and isinstance(column.dtype, pl.Datetime | pl.Date)):
        return column.dt.to_string("iso:strict")
    distance = column.to_physical().cast(pl.String) + f" {unit} from 1970-01-01"
    return distance.zip_with(beyond, column.set(beyond, None).dt.to_string("iso:strict"))


def json_ready_values(column: pl.Series) -> list[Any]:
    """The values of a slice column as JSON has them: dates and times as ISO text, null as None."""
    native = native_json_values(column)
    if native is not None:
        return native.to_list()
    return [json_ready(value) for value in column.to_list()]


def json_ready(value: Any) -> Any:
    """`value` in terms of JSON; a number that JSON lacks, and whatever else, as text."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Mapping):
        return {str(key): json_ready(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [json_ready(item) for item in value]
    return str(value)


def shown(value: Any, width: int | None = None) -> str:
    """A JSON-ready slice value on one line for people, at most `width` cells wide.

    Null is (null); text that could be taken for it, is empty, or begins or ends with a space stands in
    quotes.
    """
    if value is None:
        return NULL
    if isinstance(value, str):
        text = inert(value)
        if text in ("", NULL) or text != text.strip():
            text = f'"{text}"'
    else:
        text = inert(json.dumps(value, ensure_ascii=False))
    return text if width is None else shorten(text, width)


def inert(text: str) -> str:
    """`text` on one line, with every character that has no shape of its own written as an escape."""
    if text.isascii() and text.isprintable():
        return text
    kinds = text.translate(_KINDS)
    found, at = [], 0
    for match in _TO_ESCAPE.finditer(kinds):
        found += [text[at : match.start()], *map(_escaped, text[match.start() : match.end()])]
        at = match.end()
    return "".join([*found, text[at:]]) if found else text


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def shorten(text: str, width: int) -> str:
    """`text` in at most `width` terminal cells. The middle goes, as long names often differ at their ends."""
    if len(text) <= width and (text.isascii() or cell_len(text) <= width):
        return text
    if width < _ROOM_FOR_ENDS:
        return chop_cells(text[:width], max(width - 2, 1))[0] + ".."
    tail_width = (width - 3) // 3
    head = chop_cells(text[:width], width - 3 - tail_width)[0]
    # Reversed, so that what is kept of the tail is measured from its end.
    tail = chop_cells(text[-width:][::-1], tail_width)[0][::-1]
    return f"{head}...{tail}"


def plain_slices(results: pl.DataFrame) -> pl.DataFrame:
    """`results` with slice columns of numbers, booleans and text only; others are text, as JSON has them."""
    return results.with_columns(
        pl.Series(name, _as_text(results[name]), dtype=pl.String)
        for name, dtype in results.schema.items()
        if not (dtype.is_numeric() or dtype in (pl.String, pl.Boolean)) or dtype.is_decimal()
    )


def _as_text(column: pl.Series) -> list[str | None]:
    return [
        value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for value in json_ready_values(column)
    ]
