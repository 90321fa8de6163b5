"""Laws that hold for all counts."""

from __future__ import annotations

from fractions import Fraction
from math import comb, inf, log10, nan
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streamcmp import stats
from streamcmp.stats import small_tails
from streamcmp.stats.normal import two_sided_z
from tests.stats import oracle

TESTS = (stats.exact, stats.mid_p, stats.chi2, stats.chi2_corrected)

# As likely a handful as a million million.
counts = st.integers(0, 40).flatmap(lambda bits: st.integers(0, 2**bits))
small_counts = st.integers(0, 40)
# Around the number of discordant pairs where one algorithm hands over to the other.
border_counts = st.tuples(st.integers(1015, 1035), st.integers(0, 1035)).map(
    lambda t: (min(t), t[0] - min(t))
)
pairs = st.one_of(st.tuples(counts, counts), st.tuples(small_counts, small_counts), border_counts)
cells = st.tuples(pairs, counts, counts).map(lambda t: (t[1], *t[0], t[2]))
levels = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999999])
alternatives = st.sampled_from(stats.ALTERNATIVES)
logs = st.lists(st.floats(-1000, 0), max_size=60).map(np.array)


@given(pairs, alternatives)
def test_p_is_a_probability_and_log10_its_logarithm(
    pair: tuple[int, int], alternative: stats.Alternative
) -> None:
    for function in TESTS:
        (p,), (log10_p,) = function(*pair, alternative)
        assert stats.SMALLEST_P <= p <= 1
        assert -inf < log10_p <= 0
        assert log10(p) == pytest.approx(max(log10_p, log10(stats.SMALLEST_P)), rel=1e-13, abs=1e-13)


@given(pairs)
def test_swapping_sides(pair: tuple[int, int]) -> None:
    lost, won = pair
    for function in TESTS:
        assert function(lost, won) == function(won, lost)
        assert function(lost, won, "better") == function(won, lost, "worse")
    n = max(lost + won, 1)
    assert stats.gain(lost, won, n)[0] == -stats.gain(won, lost, n)[0]


@given(cells, levels)
def test_swapping_sides_mirrors_every_interval(cell: tuple[int, int, int, int], level: float) -> None:
    both, lost, won, _ = cell
    n = sum(cell)
    for function in stats.INTERVALS.values():
        interval = function(stats.Cells(lost, won, n, both), level)
        mirror = function(stats.Cells(won, lost, n, both), level)
        np.testing.assert_allclose([-mirror.high, -mirror.low], interval, rtol=0, atol=1e-15)


@given(cells, levels)
def test_an_interval_holds_its_estimate(cell: tuple[int, int, int, int], level: float) -> None:
    both, lost, won, _ = cell
    n = sum(cell)
    for name, function in stats.INTERVALS.items():
        (low,), (high,) = function(stats.Cells(lost, won, n, both), level)
        if n == 0:
            assert np.isnan([low, high]).all()
        else:
            assert -1 <= low <= high <= 1
            centre = (won - lost) / (n + 2 if name in {"bonett-price", "agresti-min"} else n)
            assert low - 1e-15 <= centre <= high + 1e-15


@given(pairs, counts, levels)
def test_a_higher_confidence_gives_a_longer_interval(pair: tuple[int, int], rest: int, level: float) -> None:
    n = sum(pair) + rest
    for name in ("tango", "wald", "bonett-price", "agresti-min"):
        (low,), (high,) = stats.INTERVALS[name](stats.Cells(*pair, n), level)
        (lower,), (higher,) = stats.INTERVALS[name](stats.Cells(*pair, n), 1 - (1 - level) / 2)
        assert n == 0 or (lower <= low + 1e-15 and high <= higher + 1e-15)


@given(pairs, counts, levels)
@example((6, 16), 139, 0.95)
def test_tango_excludes_no_gain_exactly_where_chi2_is_significant(
    pair: tuple[int, int], rest: int, level: float
) -> None:
    lost, won = pair
    n = lost + won + rest
    z = abs(won - lost) / max(lost + won, 1) ** 0.5
    if n == 0 or z == pytest.approx(two_sided_z(level), rel=1e-9):
        return
    (low,), (high,) = stats.tango(lost, won, n, level)
    assert (low > 0 or high < 0) == (z > two_sided_z(level))


@given(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6)), levels)
def test_tango_limits_solve_the_score_equation(counts_of: tuple[int, int, int], level: float) -> None:
    """Checked at 60 digits, from Tango's own form of the restricted estimate."""
    lost, won, rest = counts_of
    n = lost + won + rest
    if n == 0 or n in {lost, won} or lost + won == 0:
        return
    with mpmath.workdps(60):
        z = mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf(level))

        def statistic(delta: Any) -> Any:
            b = -lost - won + (2 * n - won + lost) * delta
            c = -lost * delta * (1 - delta)
            q = (mpmath.sqrt(b * b - 8 * n * c) - b) / (4 * n)
            return (won - lost - n * delta) / mpmath.sqrt(n * (2 * q + delta * (1 - delta)))

        (low,), (high,) = stats.tango(lost, won, n, level)
        for limit, sign in ((low, 1), (high, -1)):
            step = mpmath.mpf(high - low) * mpmath.mpf("1e-12") + mpmath.mpf("4e-16")
            inside, outside = mpmath.mpf(float(limit)) + sign * step, mpmath.mpf(float(limit)) - sign * step
            assert sign * statistic(inside) < z
            assert abs(outside) >= 1 or sign * statistic(outside) > z


@given(pairs)
def test_mid_p_is_at_most_exact(pair: tuple[int, int]) -> None:
    for alternative in stats.ALTERNATIVES:
        both = stats.exact_and_mid_p(*pair, alternative)
        assert both.mid_p.p[0] <= both.exact.p[0]
        assert both.mid_p.log10_p[0] <= both.exact.log10_p[0]


@given(pairs)
def test_one_sided_mid_p_of_both_sides_is_one(pair: tuple[int, int]) -> None:
    assert stats.mid_p(*pair, "better").p[0] + stats.mid_p(*pair, "worse").p[0] == pytest.approx(1, abs=1e-15)


@given(small_counts, small_counts)
def test_exact_and_mid_p_are_the_nearest_doubles(lost: int, won: int) -> None:
    n, more = lost + won, max(lost, won)
    point = Fraction(comb(n, won), 2**n)
    two_sided = min(Fraction(1), 2 * oracle.exact_tail(more, n))
    middle = two_sided - point if lost != won else 1 - point / 2
    assert stats.exact(lost, won).p[0] == float(two_sided)
    assert stats.mid_p(lost, won).p[0] == pytest.approx(float(middle) if n else 1.0, rel=3e-16)
    better = oracle.exact_tail(won, n)
    assert stats.exact(lost, won, "better").p[0] == pytest.approx(float(better), rel=3e-16)
    assert stats.mid_p(lost, won, "better").p[0] == pytest.approx(float(better - point / 2), rel=3e-16)


@given(st.integers(1024, 4000), st.floats(0, 1))
def test_large_tails_against_whole_numbers(n: int, share: float) -> None:
    k = int(share * (n // 2))
    truth = oracle.exact_tail(n - k, n)
    p, log10_p = stats.exact(k, n - k, "better")
    logarithm = log10(truth.numerator) - log10(truth.denominator)
    assert log10_p[0] == pytest.approx(logarithm, rel=1e-12, abs=1e-12)
    if truth >= stats.SMALLEST_P:
        assert abs(Fraction(p[0]) / truth - 1) < Fraction(1, 10**12)


@given(st.integers(0, small_tails.LARGEST_N), st.floats(0, 1))
def test_small_tails_are_whole_numbers_rounded(n: int, share: float) -> None:
    k = int(share * (n // 2))
    upto, below = small_tails.doubled_tails(np.array([k]), np.array([n]))
    assert upto[0] == float(2 * oracle.exact_tail(n - k, n))
    assert below[0] == float(2 * oracle.exact_tail(n - k + 1, n))


@given(st.lists(pairs, max_size=30), alternatives, st.sampled_from(stats.TESTS))
def test_a_column_is_its_rows(rows: list[tuple[int, int]], how: stats.Alternative, test: stats.Test) -> None:
    lost, won = [a for a, _ in rows], [b for _, b in rows]
    names, tail = stats.chosen(test, lost, won, how)
    alone = [stats.chosen(test, a, b, how) for a, b in rows]
    assert names.tolist() == [one.test[0] for one in alone]
    np.testing.assert_array_equal(tail.p, [one.tail.p[0] for one in alone])
    np.testing.assert_array_equal(tail.log10_p, [one.tail.log10_p[0] for one in alone])


@given(logs, st.sampled_from(stats.ADJUSTMENTS))
def test_adjusting_keeps_the_order_and_never_lowers(log10_p: np.ndarray, method: stats.Adjustment) -> None:
    adjusted = stats.adjust(log10_p, method)
    order = np.argsort(log10_p)
    assert (np.diff(adjusted[order]) >= 0).all()
    assert (adjusted >= log10_p - 1e-12).all()
    assert (adjusted <= 0).all()
    assert (adjusted[np.argsort(-log10_p)][::-1] == adjusted[order]).all()  # equal p, equal adjusted p


@given(logs, st.sampled_from(stats.ADJUSTMENTS))
def test_adjusted_p_and_its_logarithm_agree(log10_p: np.ndarray, method: stats.Adjustment) -> None:
    p = np.maximum(10.0**log10_p, stats.SMALLEST_P)
    adjusted = stats.adjust_tails(stats.TailP(p, log10_p), method)
    np.testing.assert_array_equal(adjusted.log10_p, stats.adjust(log10_p, method))
    expected = np.maximum(adjusted.log10_p, log10(stats.SMALLEST_P))
    np.testing.assert_allclose(np.log10(adjusted.p), expected, rtol=1e-13, atol=1e-13)


@given(logs)
def test_adjustments_are_ordered(log10_p: np.ndarray) -> None:
    by_method: dict[str, np.ndarray] = {method: stats.adjust(log10_p, method) for method in stats.ADJUSTMENTS}
    for less, more in (
        ("none", "bh"),
        ("bh", "hochberg"),
        ("hochberg", "holm"),
        ("holm", "bonferroni"),
        ("bh", "by"),
    ):
        assert (by_method[less] <= by_method[more] + 1e-12).all()


@given(counts, counts, levels)
def test_wilson_solves_its_equation(hits: int, misses: int, level: float) -> None:
    """At each limit p: (hits - n p)^2 = z^2 n p (1 - p), in whole fractions."""
    n = hits + misses
    if n == 0:
        return
    square = Fraction(two_sided_z(level)) ** 2
    (low,), (high,) = stats.wilson(hits, n, level)
    assert 0 <= low <= hits / n <= high <= 1

    def inside(p: Fraction) -> bool:
        return (hits - n * p) ** 2 < square * n * p * (1 - p)

    nudge = Fraction(1, 10**13)
    if hits:
        assert inside(Fraction(low) * (1 + nudge))
        assert not inside(Fraction(low) * (1 - nudge))
    if misses:
        assert inside(Fraction(high) * (1 - nudge))
        assert not inside(Fraction(high) * (1 + nudge))


def test_slices_that_were_not_tested_stay_out() -> None:
    with_gap = np.array([-3.0, nan, -2.0])
    for method in stats.ADJUSTMENTS:
        adjusted = stats.adjust(with_gap, method)
        assert np.isnan(adjusted[1])
        np.testing.assert_array_equal(adjusted[[0, 2]], stats.adjust(with_gap[[0, 2]], method))
        tails = stats.adjust_tails(stats.TailP(10.0**with_gap, with_gap), method)
        assert np.isnan(tails.p[1])
