"""Gains and their intervals as lines of characters, one row of a table each."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from streamcmp.report.numbers import points

Limits = tuple[float | None, float | None, float | None]  # low, gain, high
Charset = Literal["unicode", "ascii"]

# A few very wide intervals must not squeeze all others: where they would make the scale more than twice as
# long as three quarters of the rows need, they run over its end.
_MOST_WITHIN: Final = 0.75
_STRETCH: Final = 2
_SMALLEST_SPAN: Final = 0.001


@dataclass(frozen=True, slots=True)
class Marks:
    """What a plot is drawn with: each is one cell wide."""

    line: str
    low: str
    high: str
    gain: str
    zero: str
    crossing: str  # the interval over 0
    beyond_low: str
    beyond_high: str


MARKS: Final[dict[Charset, Marks]] = {
    "unicode": Marks("─", "├", "┤", "●", "│", "┼", "◂", "▸"),
    "ascii": Marks("-", "[", "]", "o", ":", "+", "<", ">"),
}


def charset(encoding: str | None) -> Charset:
    """`unicode`, or `ascii` where `encoding` (None: unknown) lacks a mark."""
    marks = MARKS["unicode"]
    try:
        "".join(getattr(marks, name) for name in Marks.__slots__).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return "ascii"
    return "unicode"


@dataclass(frozen=True, slots=True)
class Scale:
    """Gains from `low` to `high` (shares in [-1, 1]) on `width` cells."""

    low: float
    high: float
    width: int

    def cell(self, gain: float) -> int:
        """The cell of a gain; beyond the ends it is negative, or `width` and more."""
        return round((gain - self.low) / (self.high - self.low) * (self.width - 1))


def scale(rows: Iterable[Limits], width: int) -> Scale:
    """A scale with 0, every gain, and every interval, but for a few that are far wider than the rest."""
    known = [row for row in rows if row[1] is not None]
    ends = [0.0, *(gain for _, gain, _ in known if gain is not None)]
    lows = sorted((low for low, _, _ in known if low is not None), reverse=True)
    highs = sorted(high for _, _, high in known if high is not None)
    most = math.ceil(len(lows) * _MOST_WITHIN)
    inner, outer = (
        (min([*ends, *lows[:count]]), max([*ends, *highs[:count]])) for count in (most, len(lows))
    )
    low, high = outer if outer[1] - outer[0] <= _STRETCH * (inner[1] - inner[0]) else inner
    if high - low < _SMALLEST_SPAN:
        low, high = low - _SMALLEST_SPAN / 2, high + _SMALLEST_SPAN / 2
    return Scale(low, high, width)


def drawn(row: Limits, on: Scale, marks: Marks) -> str:
    """`  ├──●──┤  │   `: the interval, the gain in it, and 0. Blank but for 0 where there is no gain."""
    low, gain, high = row
    cells = [" "] * on.width
    cells[on.cell(0)] = marks.zero
    if gain is None:
        return "".join(cells)
    if low is not None and high is not None:
        first, last = on.cell(low), on.cell(high)
        start, end = max(first, 0), min(last, on.width - 1)
        cells[start : end + 1] = marks.line * (end + 1 - start)
        if start < on.cell(0) < end:
            cells[on.cell(0)] = marks.crossing
        cells[start] = marks.low if first >= 0 else marks.beyond_low
        cells[end] = marks.high if last < on.width else marks.beyond_high
    cells[on.cell(gain)] = marks.gain
    return "".join(cells)


def axis(on: Scale) -> str:
    """The numbers at both ends, in points, and 0 where it stands, where there is room."""
    ends = (points(on.low), points(on.high))
    text = f"{ends[0]}{ends[1]:>{on.width - len(ends[0])}}"
    zero = on.cell(0)
    if text[max(zero - 1, 0) : zero + 2] == "   ":
        text = f"{text[:zero]}0{text[zero + 1 :]}"
    return text
