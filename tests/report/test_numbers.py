from __future__ import annotations

from typing import Any

import pytest

from streamcmp.report.numbers import counted, decimals, p_equation, p_value, percent, points, whole


@pytest.mark.parametrize(
    ("p", "log10_p", "text"),
    [
        (1.0, 0.0, "1"),
        (0.5665734423986847, -0.2467, "0.57"),
        (0.001122905196234038, -2.9497, "0.0011"),
        (0.00012345, -3.9, "0.00012"),
        (1.3328736909323258e-07, -6.875, "1.3e-07"),
        (0.998, -0.0009, "0.998"),
        (0.99999999, -1e-9, "> 0.9999"),
        (2.2250738585072014e-308, -601.758961, "10^-601.8"),
        (2.2250738585072014e-308, -1_234_567.89, "10^-1234567.9"),
        (0.0503, -1.298, "0.0503"),  # 0.050 would be on the other side of alpha
        (0.0498, -1.303, "0.050"),
        (0.05, -1.301, "0.050"),
        (None, None, "-"),
    ],
)
def test_p_values(p: float | None, log10_p: float | None, text: str) -> None:
    assert p_value(p, log10_p) == text


def test_p_in_a_sentence() -> None:
    assert p_equation(0.001122905, -2.95) == "p = 0.0011"
    assert p_equation(2.2250738585072014e-308, -601.758961) == "p < 2.3e-308 (10^-601.8)"
    assert p_equation(0.99999999, -1e-9) == "p > 0.9999"


def test_alpha_decides_how_many_digits_p_needs() -> None:
    assert p_value(0.0104, -1.98, alpha=0.01) == "0.0104"
    assert p_value(0.0104, -1.98, alpha=0.05) == "0.010"


def test_counts() -> None:
    assert (whole(1821), whole(0), whole(None)) == ("1,821", "0", "-")
    assert (counted(1, "row"), counted(0, "row"), counted(1821, "row")) == ("1 row", "0 rows", "1,821 rows")


def test_percentages() -> None:
    assert (percent(0.857221), percent(1.0), percent(-0.0001), percent(None)) == ("85.7", "100.0", "0.0", "-")
    assert (points(0.023), points(-0.023), points(0.0), points(0.0001), points(None)) == (
        "+2.3", "-2.3", "0.0", "0.0", "-",
    )  # fmt: skip


def row(
    a: float | None, b: float | None, gain: float, low: float | None, high: float | None
) -> dict[str, Any]:
    return {"accuracy_a": a, "accuracy_b": b, "gain": gain, "gain_low": low, "gain_high": high}


@pytest.mark.parametrize(
    ("result", "places"),
    [
        (row(0.857, 0.880, 0.023, 0.010, 0.037), 1),
        (row(0.9991, 0.9994, 0.0003, -0.002, 0.003), 2),  # +0.0 points would be no gain
        (row(0.8571, 0.8574, 0.02, 0.01, 0.03), 2),  # accuracies would look alike
        (row(0.8, 0.9, 0.1, 0.0002, 0.2), 2),  # a limit of 0.0 would include 0
        (row(0.8, 0.9, 0.1, 0.09991, 0.09994), 3),  # limits would look alike
        (row(0.8, 0.8, 0.0, 0.0, 0.0), 1),
        (row(None, None, 0.1, None, None), 1),
        (row(0.8, 0.8 + 1e-9, 1e-9, 0.0, 1e-8), 4),  # there is an end to it
    ],
)
def test_as_many_decimals_as_the_truth_needs(result: dict[str, Any], places: int) -> None:
    assert decimals(result) == places
