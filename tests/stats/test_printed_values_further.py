"""Printed values of odds, shares, power, sample sizes and unrelated samples; see test_printed_values.py.

Left out of both are values of other subjects: more than two models, clusters, scores, partly overlapping
samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from streamcmp import stats
from tests.stats import oracle
from tests.stats.test_printed_values import ADJUSTED, COVERED

Z = 1.959963984540054


def odds(n_ba: int, n_ab: int, method: stats.OddsInterval, end: str) -> float:
    limits = stats.odds_interval(n_ab, n_ba, 0.95, method)
    return float((limits.low if end == "lower" else limits.high)[0])


def bonett_price(end: str) -> float:
    """statpsych's table f00, f01, f10, f11 = 12, 4, 26, 6: its difference is won - lost with 26 won."""
    low, high = (limit[0] for limit in stats.bonett_price(4, 26, 48))
    return float((low + high) / 2 if end == "estimate" else (high - low) / (2 * Z))


def _limit(end: str) -> str:
    return "low" if end == "lower" else "high"


def z(n_ba: int, n_ab: int) -> float:
    return float(math.copysign(math.sqrt(stats.chi2_statistic(n_ab, n_ba)[0]), n_ba - n_ab))


def ends(make: Callable[[str], float], quantity: str, inputs: str) -> dict[tuple[str, str], float]:
    return {(f"{quantity} {end}", inputs): make(end) for end in ("lower", "upper")}


# (quantity, inputs) -> ours. The odds ratio of a source is n12/n21, its first count over its second.
COMPUTED: dict[tuple[str, str], float] = {
    **ends(lambda end: odds(1, 7, "clopper-pearson", end), "OR Clopper-Pearson 95% CI", "n12,n21=1,7"),
    **ends(lambda end: odds(25, 2, "clopper-pearson", end), "OR Clopper-Pearson 95% CI", "25,2"),
    **ends(lambda end: odds(1, 7, "mid-p", end), "OR mid-p 95% CI", "1,7"),
    **ends(lambda end: odds(25, 2, "mid-p", end), "OR mid-p 95% CI", "25,2"),
    **ends(lambda end: odds(1, 7, "wilson", end), "OR Wilson 95% CI", "1,7"),
    **ends(lambda end: odds(6, 16, "wilson", end), "OR Wilson 95% CI", "6,16"),
    **ends(lambda end: odds(2, 9, "clopper-pearson", end), "OR exact central 95% CI", "b=2,c=9"),
    **ends(lambda end: odds(12, 2, "clopper-pearson", end), "OR exact 95% CI", "12/2"),
    **ends(
        lambda end: 1 - 1 / (1 + odds(35, 28, "clopper-pearson", end)),
        "theta Clopper-Pearson 95% CI",
        "35/63",
    ),
    ("odds ratio", "2/9"): float(stats.odds(9, 2)[0]),
    ("McNemar Z (n12-n21)/sqrt(n)", "6,16"): z(6, 16),
    ("McNemar z", "150,86 (n21-n12)"): z(86, 150),
    ("Bonett-Price adjusted estimate", "12,4,26,6"): bonett_price("estimate"),
    ("Bonett-Price SE", "12,4,26,6"): bonett_price("se"),
    ("power exact McNemar", "pb=.5,pc=.3,N=100,alpha=.05 two-sided, right direction only"): stats.exact_power(
        100, 0.3, 0.5
    ),
    ("exact power", "N=144,paid=.25,p=.45,alpha=.025 one-sided"): stats.exact_power(
        144, 0.25, 0.45, 0.025, sides=1
    ),
    ("sample size (ceil)", "p01=.45,p10=.05,alpha=.05,power=.8"): math.ceil(stats.sample_size(0.05, 0.45)),
    ("sample size (ceil)", "p01/p10=0.2/0.5, sum .7, alpha .05, power .8"): math.ceil(
        stats.sample_size(0.2, 0.5)
    ),
    ("sample size (round)", "paid=.05,psi=9,power=.8"): round(stats.sample_size(0.05, 0.45)),
    ("sample size one-sided (round)", "paid=.05,psi=9,power=.8"): round(
        stats.sample_size(0.05, 0.45, sides=1)
    ),
    **ends(
        lambda end: float(getattr(stats.unpaired.agresti_caffo(15, 100, 57, 100), _limit(end))[0]),
        "Agresti-Caffo 95% CI",
        "57/100 v 15/100",
    ),
    **ends(
        lambda end: float(getattr(stats.unpaired.newcombe(0, 29, 5, 56), _limit(end))[0]),
        "Newcombe independent 95% CI",
        "5/56 v 0/29",
    ),
}
# Found by their sources to fewer digits than they print: R's uniroot stops at 1e-8 of the share, exact2x2 at
# 1e-6.
SOLVED = {("OR mid-p 95% CI lower", "25,2"): 1e-5, ("OR mid-p 95% CI upper", "25,2"): 1e-4}
SOLVED |= {key: 1e-6 for key in COMPUTED if key[0] == "power exact McNemar"}


PRINTED = {(row["quantity"], row["inputs"]): row for row in oracle.printed_values()}


@pytest.mark.parametrize("key", COMPUTED, ids=" ".join)
def test_printed_value(key: tuple[str, str]) -> None:
    for row in (one for one in oracle.printed_values() if (one["quantity"], one["inputs"]) == key):
        printed = Decimal(row["value"])
        half_a_digit = Decimal("0.5001") * Decimal(10) ** int(printed.as_tuple().exponent)
        tolerance = max(half_a_digit, Decimal(SOLVED.get(key, 0)), Decimal("1e-14") * abs(printed))
        assert abs(Decimal(COMPUTED[key]) - printed) <= tolerance, row["source"]
    assert key in PRINTED


def test_benjamini_hochberg_of_17_events() -> None:
    """R's c212 prints five p-values adjusted; the others follow from them, or matter to none."""
    p = np.array([0.001, 0.0013, 0.0023, 0.005, 0.0109, 0.011, 0.011, 0.016, *[1.0] * 9])
    adjusted = stats.adjust_tails(stats.TailP(p, np.log10(p)), "bh").p
    rows = [row for row in oracle.printed_values() if "c212" in row["inputs"]]
    assert len(rows) == 5
    for row in rows:
        (own,) = np.flatnonzero(p == float(row["inputs"].removeprefix("p=").split()[0]))
        assert adjusted[own] == pytest.approx(float(row["value"]), rel=5e-7)


# Subjects that this room does not have, by what their quantities begin with.
ELSEWHERE = (
    "Cochran Q", "Obuchowski", "Durkalski", "Yang", "McNemar chi2 (ignoring clusters)", "clustered SE", "W+",
    "W-", "z normal", "p normal", "T (pratt)", "partially overlapping",
)  # fmt: skip
# The test of two models behind mlxtend's Cochran's Q; their counts are not printed.
NO_INPUTS = ("mlxtend classifiers 1,2",)


def test_every_printed_value_that_concerns_counts_is_covered() -> None:
    known: list[dict[str, Any]] = [*(row for row, _ in COVERED), *ADJUSTED]
    left = [
        row
        for row in oracle.printed_values()
        if row not in known
        and (row["quantity"], row["inputs"]) not in COMPUTED
        and "c212" not in row["inputs"]
        and not row["quantity"].startswith(("beta-binomial CS", "P(X>=x)"))  # identities; huge ties
    ]
    for row in left:
        assert row["quantity"].startswith(ELSEWHERE) or row["inputs"] in NO_INPUTS, row
