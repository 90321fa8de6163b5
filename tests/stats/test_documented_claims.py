"""What docs/statistics.md tells the reader, worked out again by enumeration."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from scripts import operating_characteristics, peeking, statistics_table
from streamcmp import stats

PAGE = Path(__file__).parent.parent.parent / "docs" / "statistics.md"


def test_the_table_on_the_page_is_the_scripts() -> None:
    begin, end = "<!-- statistics_table: begin -->\n", "\n<!-- statistics_table: end -->"
    shown = PAGE.read_text().partition(begin)[2].partition(end)[0]
    assert shown == statistics_table.table()


def shown(name: str) -> str:
    """What the page has between the marks of that name."""
    begin, end = f"<!-- {name}: begin -->\n", f"\n<!-- {name}: end -->"
    return PAGE.read_text().partition(begin)[2].partition(end)[0]


@pytest.mark.parametrize("name", operating_characteristics.TABLES)
def test_the_operating_characteristics_on_the_page_are_the_scripts(name: str) -> None:
    assert shown(f"operating_characteristics {name}") == operating_characteristics.TABLES[name]()


def test_the_page_on_peeking_is_the_script_s() -> None:
    assert shown("peeking") == peeking.table(20_000, 1)


def test_peeking_comes_to_what_enumeration_gives() -> None:
    """The simulation against the exact chance of having stopped by 1,000 discordant pairs."""
    runs = 20_000
    simulated = peeking.stopped(0.5, runs, seed=5)
    hundred = binomial(100, 0.5)
    for rule, stops in (
        ("mid-p", lambda n, won: stats.mid_p(n - won, won).p <= 0.05),
        ("exact p", lambda n, won: stats.exact(n - won, won).p <= 0.05),
        ("e-value", lambda n, won: stats.log10_e(n - won, won) >= np.log10(20)),
    ):
        going = np.ones(1)
        for n in range(100, 1_001, 100):
            going = np.convolve(going, hundred)
            going[stops(n, np.arange(n + 1))] = 0.0
        share = 1 - going.sum()
        assert abs(simulated[rule][1_000] - share) < 4 * np.sqrt(share * (1 - share) / runs)


def binomial(n: int, share: float) -> npt.NDArray[np.float64]:
    """P(X = 0 ... n), X ~ Bin(n, share), by convolution."""
    distribution = np.ones(1)
    for _ in range(n):
        distribution = np.convolve(distribution, [1 - share, share])
    return distribution


def rejection_rate(test: stats.Test, pairs: int, p_lost: float, p_won: float) -> float:
    """The chance that p <= .05 among `pairs` pairs, each lost or won with the given probabilities."""
    discordant = p_lost + p_won
    rate = 0.0
    for n, chance in enumerate(binomial(pairs, discordant)):
        won = np.arange(n + 1)
        rejected = stats.chosen(test, n - won, won).tail.p <= 0.05
        rate += chance * binomial(n, p_won / discordant)[rejected].sum()
    return rate


@pytest.mark.parametrize(
    ("test", "null", "power"), [("exact", 0.029, 0.54), ("mid-p", 0.046, 0.62), ("chi2", 0.052, None)]
)
def test_level_and_power_at_200_pairs(test: stats.Test, null: float, power: float | None) -> None:
    assert rejection_rate(test, 200, 0.05, 0.05) == pytest.approx(null, abs=5e-4)
    if power is not None:
        assert rejection_rate(test, 200, 0.025, 0.075) == pytest.approx(power, abs=5e-3)


def test_looking_again_and_again() -> None:
    """Two equal models, a look every 100 discordant pairs up to 10,000, stopping at mid-p <= .05."""
    going = np.ones(1)  # P(X = x and not stopped yet)
    hundred = binomial(100, 0.5)
    for n in range(100, 10_001, 100):
        going = np.convolve(going, hundred)
        won = np.arange(n + 1)
        going[stats.mid_p(n - won, won).p <= 0.05] = 0.0
    assert 1 - going.sum() == pytest.approx(0.38, abs=5e-3)


def test_bonferroni_over_a_million_slices() -> None:
    def smallest_adjusted(n: int) -> float:
        logs = np.full(10**6, stats.exact(0, n).log10_p[0])
        return float(10 ** stats.adjust(logs, "bonferroni")[0])

    assert smallest_adjusted(25) > 0.05 > smallest_adjusted(26)


def test_the_corrected_chi2_is_close_to_exact_and_cautious() -> None:
    for n in range(25, 1_000):
        fewer = np.arange(n // 2 + 1)
        exact = stats.exact(fewer, n - fewer).p
        near = (exact >= 0.01) & (exact <= 0.10)
        ratio = stats.chi2_corrected(fewer, n - fewer).p[near] / exact[near]
        assert ratio.min() > 1
        assert ratio.max() < (1.02 if n >= 200 else 1.125)


def test_where_the_interval_and_the_exact_test_disagree() -> None:
    assert stats.exact(16, 30).p[0] == pytest.approx(0.054, abs=5e-4)
    assert stats.tango(16, 30, 231).low[0] > 0


def test_the_overall_gain_is_the_weighted_mean_of_the_gains() -> None:
    lost, won, n = np.array([3, 40, 0]), np.array([9, 12, 1]), np.array([50, 700, 2])
    overall = stats.gain(lost.sum(), won.sum(), n.sum())[0]
    assert overall == pytest.approx((stats.gain(lost, won, n) * n).sum() / n.sum(), rel=1e-15)
