"""Numbers as people read them: never rounded into a different statement."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

NOTHING = "-"  # a number that does not exist
_SMALLEST = 2.2250738585072014e-308  # at and below it p is an upper bound, and log10 p tells the truth
_MOST_DECIMALS = 4
_MOST_DIGITS = 6
_SEEN = 0.00101  # shares that differ by more differ in their first decimal as percentages


def whole(count: int | None) -> str:
    """1821 -> 1,821."""
    return NOTHING if count is None else f"{count:,}"


def counted(count: int, noun: str) -> str:
    """1 -> 1 row; 1821 -> 1,821 rows."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def decimals(row: Mapping[str, Any], most: int = _MOST_DECIMALS) -> int:
    """How many decimals one result's percentages need: 1, or more where 1 would tell a lie.

    Accuracies that differ must look different, and neither a gain nor a limit of its interval may look like
    0, nor both limits alike, unless they are. At most `most`.
    """
    pairs = ((row["accuracy_a"], row["accuracy_b"]), (row["gain_low"], row["gain_high"]))
    signed = [value for value in (row["gain"], *pairs[1]) if value]
    apart = [pair for pair in pairs if None not in pair and pair[0] != pair[1]]
    smallest = min([1.0, *map(abs, signed), *(abs(one - other) for one, other in apart)])
    if smallest > _SEEN:
        return 1
    # With fewer decimals it could not be seen; a million rows have no time to try them all.
    for places in range(max(1, math.floor(-math.log10(200 * smallest))), most):
        told_apart = all(percent(one, places) != percent(other, places) for one, other in apart)
        if told_apart and all(float(percent(value, places)) for value in signed):
            return places
    return most


def interval(row: Mapping[str, Any], places: int) -> str:
    """` [1.0, 3.7]`, or nothing where there is no interval."""
    if row["gain_low"] is None or row["gain_high"] is None:
        return ""
    return f" [{percent(row['gain_low'], places)}, {percent(row['gain_high'], places)}]"


def percent(share: float | None, places: int = 1) -> str:
    """0.857 -> 85.7; without the sign, and never -0.0."""
    if share is None:
        return NOTHING
    text = f"{100 * share:.{places}f}"
    return text[1:] if text[0] == "-" and not text.strip("-0.") else text


def points(gain: float | None, places: int = 1) -> str:
    """A gain in percentage points, with its sign: 0.023 -> +2.3."""
    text = percent(gain, places)
    return f"+{text}" if gain is not None and gain > 0 and float(text) != 0 else text


def p_value(p: float | None, log10_p: float | None, alpha: float = 0.05) -> str:
    """A p-value: 0.0011, 1.3e-07, 1; or 10^-601.8 where no float holds it.

    Two digits, and more where two would move it across alpha or make it 1.
    """
    if p is None or log10_p is None:
        return NOTHING
    if p <= _SMALLEST:
        return f"10^{log10_p:.1f}"
    if p == 1:
        return "1"
    for digits in range(2, _MOST_DIGITS):
        rounded = float(f"{p:.{digits - 1}e}")
        if rounded < 1 and (rounded <= alpha) == (p <= alpha):
            return _plain(p, digits)
    return "> 0.9999" if p > 0.9999 else _plain(p, _MOST_DIGITS)


def _plain(p: float, digits: int) -> str:
    if p < 1e-4:
        return f"{p:.{digits - 1}e}"
    return f"{p:#.{digits}g}"


def size_in_points(gain: float) -> str:
    """0.01 -> 1 point; 0.0234 -> 2.34 points: three digits, or as many as were given."""
    number = f"{100 * gain:.10g}"
    if len(number.replace(".", "").lstrip("0")) > 3:
        number = f"{100 * gain:.3g}"
    return f"{number} point" if number == "1" else f"{number} points"


def share_in_percent(share: float) -> str:
    """0.1 -> 10 %; 0.01234567 -> 1.235 %."""
    return f"{100 * share:.4g} %"


def chance(p: float) -> str:
    """A probability that is not tested: 0.812, > 0.9999, < 0.0001, 0."""
    if p == 0:
        return "0"
    if p < 1e-4:
        return "< 0.0001"
    return "> 0.9999" if p > 0.9999 else f"{p:.3f}" if 0.0005 <= p < 0.9995 else f"{p:.4f}"


def ratio(value: float) -> str:
    """Odds: three digits, 0.0012, 5.50, 1.2e+04."""
    return "0" if value == 0 else f"{value:#.3g}".rstrip(".")


def e_value(log10_e: float) -> str:
    """An e-value from its logarithm: 0.21, 17.3, 10^12.4. Cut, not rounded: it never claims more."""
    if not -4 < log10_e < 4:
        return f"10^{math.floor(log10_e * 10) / 10:.1f}"
    value = 10**log10_e
    digits = 2 - math.floor(math.log10(value))
    step = 10.0**-digits
    return f"{math.floor(value / step * (1 + 1e-12)) * step:#.3g}".rstrip(".")


def p_equation(p: float, log10_p: float, alpha: float = 0.05) -> str:
    """`p = 0.0011`; `p < 2.3e-308 (10^-601.8)`: to be put in a sentence."""
    text = p_value(p, log10_p, alpha)
    if p <= _SMALLEST:
        return f"p < 2.3e-308 ({text})"
    return f"p {text}" if text.startswith(">") else f"p = {text}"
