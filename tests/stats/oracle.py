"""What the stored reference values say: 62 tables to 20 digits, and several hundred printed numbers.

They were made outside this repository with mpmath at 50 digits, from the definitions; tests/data/cases.json
says how close one must come.
"""

from __future__ import annotations

import functools
import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

DATA = Path(__file__).parent.parent / "data"
SMALLEST = Decimal("2.2250738585072014e-308")


@functools.cache
def document() -> dict[str, Any]:
    """cases.json, whole."""
    content: dict[str, Any] = json.loads((DATA / "cases.json").read_text())
    return content


@functools.cache
def printed_values() -> list[dict[str, Any]]:
    """reference_values.json without the values known to be wrong in print, or differing by convention."""
    rows: list[dict[str, Any]] = json.loads((DATA / "reference_values.json").read_text())
    return [row for row in rows if not row.get("known_disagreement")]


def column(name: str) -> npt.NDArray[np.int64]:
    """A column of counts of all tables: n11, n_ab, n_ba, n00, or N for all pairs."""
    cases = document()["cases"]
    if name == "N":
        return np.array([case["n11"] + case["n_ab"] + case["n_ba"] + case["n00"] for case in cases])
    return np.array([case[name] for case in cases])


def expected(quantity: str) -> list[Decimal | None]:
    """One quantity of all tables; None where the file does not hold it (large tables lack the dear ones)."""
    values = (case["q"].get(quantity) for case in document()["cases"])
    return [None if value is None else Decimal(value) for value in values]


def off_relative(computed: npt.NDArray[np.float64], quantity: str) -> float:
    """The largest relative error over all tables; NaN meets NaN, and p below the doubles the smallest one."""
    worst = Decimal(0)
    for ours, truth in zip(computed.tolist(), expected(quantity), strict=True):
        if truth is None:
            continue
        if truth.is_nan() or truth == 0:
            assert str(ours) == ("nan" if truth.is_nan() else "0.0"), (quantity, ours, truth)
        elif quantity.startswith("p_") and truth < SMALLEST:
            assert ours == float(SMALLEST), (quantity, ours, truth)
        else:
            worst = max(worst, abs(Decimal(ours) / truth - 1))
    return float(worst)


def off_log(computed: npt.NDArray[np.float64], quantity: str) -> float:
    """The largest error of a log10 p, in units of max(1, |log10 p|)."""
    pairs = zip(computed.tolist(), expected(quantity), strict=True)
    return float(max(abs(Decimal(a) - b) / max(Decimal(1), abs(b)) for a, b in pairs if b is not None))


def exact_tail(wins: int, n: int) -> Fraction:
    """P(X >= wins), X ~ Bin(n, 1/2), as a fraction."""
    ways, at_least = 1, 0  # C(n, k), and its sum over k = n ... wins
    for k in range(n, wins - 1, -1):
        at_least += ways
        ways = ways * k // (n - k + 1)
    return Fraction(at_least, 2**n)
