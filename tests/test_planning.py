"""Sample sizes, power and detectable gains: what the command and the API say."""

from __future__ import annotations

from math import comb
from typing import Any

import polars as pl
import pytest

import streamcmp
from streamcmp import stats
from streamcmp.errors import DataError, UsageError
from tests.report.tallies import plain, sst2


def test_pairs_that_a_gain_needs() -> None:
    plan = streamcmp.power(gain=0.02, psi=0.1)
    assert (plan.pairs, plan.n, plan.mde, plan.power_exact) == (1960, None, None, None)
    assert plan.pairs_exact is not None
    lost, won = 0.04, 0.06
    assert stats.exact_power(plan.pairs_exact, lost, won) >= 0.8
    assert stats.exact_power(plan.pairs_exact - 1, lost, won) < 0.8
    # The exact test is cautious, and needs more.
    assert plan.pairs_exact > 1960


@pytest.mark.parametrize("test", stats.TESTS)
@pytest.mark.parametrize(("psi", "gain"), [(0.1, 0.05), (0.4, 0.1), (0.02, 0.02), (1.0, 1.0)])
def test_pairs_needed_are_where_power_steps_over(test: stats.Test, psi: float, gain: float) -> None:
    plan = streamcmp.power(gain=gain, psi=psi, test=test, power=0.9, alternative="better")
    assert plan.pairs_exact is not None
    lost, won = (psi - gain) / 2, (psi + gain) / 2
    powers = [
        stats.exact_power(n, lost, won, 0.05, test, sides=1) for n in (plan.pairs_exact - 1, plan.pairs_exact)
    ]
    assert powers[0] < 0.9 <= powers[1]


def test_what_so_many_pairs_can_show() -> None:
    plan = streamcmp.power(n=5000, psi=0.1, gain=0.01, alternative="better", confidence=0.9)
    assert plan.alpha == 0.1
    assert plan.mde == stats.minimum_detectable_gain([5000], [0.1], 0.1, 0.8, sides=1)[0]
    expected = stats.normal_power(5000, 0.045, 0.055, 0.1, sides=1)
    assert plan.power_normal == pytest.approx(expected, rel=1e-14)
    assert plan.power_exact == pytest.approx(plan.power_normal, abs=0.02)


def test_nothing_is_detectable_in_a_few_pairs() -> None:
    assert streamcmp.power(n=3, psi=0.1).mde is None


def test_psi_of_a_tally() -> None:
    plan = streamcmp.power(sst2(), gain=0.02)
    assert (plan.psi, plan.n) == (160 / 1821, 1821)
    assert streamcmp.power(sst2(), gain=0.02, n=100, psi=0.5).n == 100
    assert streamcmp.power(plain([(50, 4, 14)])).psi == 18 / 50
    assert (
        streamcmp.power(pl.DataFrame({"d": ["a", "b"], "n_ab": [4, 6], "n_ba": [14, 9], "n": [200, 100]})).n
        == 300
    )


def test_large_plans_go_by_the_formula() -> None:
    plan = streamcmp.power(gain=1e-6, psi=0.1, n=10**12)
    assert plan.pairs is not None
    assert plan.pairs > stats.MOST_ENUMERATED
    assert plan.pairs_exact is plan.power_exact is None
    assert plan.power_normal is not None


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "--psi"),
        ({"psi": 0.1}, "--gain"),
        ({"psi": 0.1, "gain": 0.2}, "more than --psi"),
        ({"psi": 1.5, "gain": 0.2}, "--psi must be"),
        ({"psi": 0.1, "gain": 0.0}, "--gain must be"),
        ({"psi": 0.1, "gain": True}, "--gain must be"),
        ({"psi": 0.1, "gain": float("nan")}, "--gain must be"),
        ({"psi": 0.1, "n": 0}, "--n must be"),
        ({"psi": 0.1, "n": 2.5}, "--n must be"),
        ({"psi": 0.1, "n": True}, "--n must be"),
        ({"psi": 0.1, "n": 10, "power": 1.0}, "--power must be"),
        ({"psi": 0.1, "n": 10, "test": "t"}, "--test must be"),
    ],
)
def test_mistakes_name_their_option(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        streamcmp.power(**options)


@pytest.mark.parametrize(
    ("row", "says"), [((None, 4, 14), "all pairs is not known"), ((9, 0, 0), "discordant")]
)
def test_counts_that_say_nothing_of_psi(row: tuple[int | None, int, int], says: str) -> None:
    with pytest.raises(DataError, match=says):
        streamcmp.power(plain([row]), gain=0.1)


def test_power_by_enumeration_is_the_sum_over_every_outcome() -> None:
    """All outcomes of 30 pairs, one by one, for every test."""
    n, lost, won = 30, 0.1, 0.3
    for test in stats.TESTS:
        total = 0.0
        for b in range(n + 1):
            for c in range(b, n + 1 - b):
                p = stats.chosen(test, [b], [c], "better").tail.p[0]
                if p <= 0.025:
                    ways = _multinomial(n, b, c)
                    total += ways * lost**b * won**c * (1 - lost - won) ** (n - b - c)
        assert stats.exact_power(n, lost, won, 0.05, test) == pytest.approx(total, rel=1e-11)


def _multinomial(n: int, b: int, c: int) -> int:
    return comb(n, b) * comb(n - b, c)
