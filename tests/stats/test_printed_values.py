"""Values printed in papers, manuals and other packages' tests, at the digits they were printed with.

tests/data/reference_values.json gives the source of each. Textbooks have B in the rows: their difference
p1+ - p+1 = (n12 - n21)/N is our gain with n_ba = n12 and n_ab = n21. Left out are quantities that other
functions give (odds, clusters, power, ...) and inputs that are not counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from streamcmp import stats
from tests.stats import oracle

INTERVAL = re.compile(
    r"(Tango|Newcombe|Newcombe method 10|Bonett-Price|Agresti-Min|Wald) (90|95)% CI"
    r"(?: of p\(\+1\)-p\(1\+\))? (lower|upper)"
)
NAMES = {"Newcombe method 10": "newcombe"}
# Sources that print n21 - n12.
REVERSED = ("f00,f01,f10,f11=12,4,26,6", "794,150,86,570")
SHORT = {"n12=3,N=3": (0, 3, 0, 0), "n21=3,N=3": (0, 0, 3, 0)}

P_VALUES: dict[str, Callable[[int, int], stats.TailP]] = {
    "exact p": stats.exact,
    "exact McNemar p": stats.exact,
    "exact conditional p": stats.exact,
    "mid-p": stats.mid_p,
    "chi2 p": stats.chi2,
    "McNemar chi2 p": stats.chi2,
    "chi2 CC p": stats.chi2_corrected,
    "McNemar chi2 CC p": stats.chi2_corrected,
    "McNemar CC p": stats.chi2_corrected,
}
STATISTICS: dict[str, Callable[[int, int], np.ndarray[Any, np.dtype[np.float64]]]] = {
    "chi2": stats.chi2_statistic,
    "McNemar chi2": stats.chi2_statistic,
    "chi2 CC": stats.chi2_corrected_statistic,
    "McNemar |Z| with CC": lambda b, c: np.sqrt(stats.chi2_corrected_statistic(b, c)),
    "McNemar z with CC": lambda b, c: np.sqrt(stats.chi2_corrected_statistic(b, c)),
}


def integers(text: str) -> tuple[int, ...]:
    """The counts in an input such as "n11,n12,n21,n22=1,1,7,12" or "150,86 (n21-n12)"."""
    if text in SHORT:
        return SHORT[text]
    listed = re.sub(r" .*", "", text.rsplit("=", maxsplit=1)[-1])
    return tuple(map(int, listed.split(","))) if re.fullmatch(r"\d+(,\d+)+", listed) else ()


def computed(row: dict[str, Any]) -> float | None:
    """Our value of a printed quantity; None if these functions do not give it."""
    quantity, counts = row["quantity"], integers(row["inputs"])
    if not counts:
        return None
    both_correct, n_ba, n_ab, both_wrong = counts if len(counts) == 4 else (0, *counts, 0)
    if quantity in P_VALUES:
        return float(P_VALUES[quantity](n_ba, n_ab).p[0])
    if quantity in STATISTICS:
        return float(STATISTICS[quantity](n_ba, n_ab)[0])
    n = both_correct + n_ba + n_ab + both_wrong
    if quantity == "difference":
        return float(stats.gain(n_ab, n_ba, n)[0])
    matched = INTERVAL.fullmatch(quantity)
    if not matched:
        return None
    if row["inputs"] in REVERSED:
        n_ab, n_ba = n_ba, n_ab
    name = NAMES.get(matched[1], matched[1].lower())
    low, high = stats.INTERVALS[name](stats.Cells(n_ab, n_ba, n, both_correct), int(matched[2]) / 100)
    return float((low if matched[3] == "lower" else high)[0])


COVERED = [(row, ours) for row in oracle.printed_values() if (ours := computed(row)) is not None]


@pytest.mark.parametrize(("row", "ours"), COVERED, ids=lambda x: x["quantity"] if isinstance(x, dict) else "")
def test_printed_value(row: dict[str, Any], ours: float) -> None:
    printed = Decimal(row["value"])
    half_a_digit = Decimal("0.5001") * Decimal(10) ** int(printed.as_tuple().exponent)
    double_precision = max(Decimal("1e-14") * abs(printed), Decimal("4e-16"))
    # R's contingencytables prints 15 digits of a root that it found to 8.
    solver = Decimal("3e-8" if "Tango" in row["quantity"] and "contingencytables" in row["source"] else 0)
    assert abs(Decimal(ours) - printed) <= max(half_a_digit, double_precision, solver), row["source"]


def test_most_printed_values_are_covered() -> None:
    assert len(COVERED) >= 450


@pytest.mark.parametrize(
    ("x", "printed"), [(10**7, 0.5000892), (10**8, 0.5000282), (10**9, 0.5000089), (10**10, 0.5000028)]
)
def test_a_huge_tie_one_sided(x: int, printed: float) -> None:
    """R's binom.test; several programs fail here."""
    assert stats.exact(x, x, "better").p[0] == pytest.approx(printed, abs=5e-8)


# The ten p-values that R's multtest and statsmodels print adjusted.
MULTTEST = (
    0.838541367553, 0.642193923795, 0.680845947633, 0.967833824309, 0.71626938238,
    0.177096952723, 5.23656777208e-005, 0.0202732688798, 0.00028140506198, 0.0149877310796,
)  # fmt: skip
ADJUSTED = [row for row in oracle.printed_values() if "test_multi.pval0" in row["inputs"]]


@pytest.mark.parametrize("row", ADJUSTED, ids=lambda row: row["quantity"])
def test_printed_adjusted_p(row: dict[str, Any]) -> None:
    method = row["quantity"].rpartition(" ")[2]
    at = MULTTEST.index(float(row["inputs"].split()[0].removeprefix("p=")))
    p = np.array(MULTTEST)
    adjusted = stats.adjust_tails(stats.TailP(p, np.log10(p)), method)
    assert adjusted.p[at] == pytest.approx(float(row["value"]), rel=1e-14)
    assert 10 ** adjusted.log10_p[at] == pytest.approx(float(row["value"]), rel=1e-14)
