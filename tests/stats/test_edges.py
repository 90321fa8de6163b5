"""Empty columns, refused input, chunks, and the numbers the algorithms stand on."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import lgamma, log, pi

import numpy as np
import pytest

from streamcmp import stats
from streamcmp.stats import counts, saddle_point
from streamcmp.stats.normal import two_sided_z
from streamcmp.stats.numeric import RULE


def test_no_slices() -> None:
    for function in (stats.exact, stats.mid_p, stats.chi2, stats.chi2_corrected):
        assert [len(column) for column in function([], [])] == [0, 0]
    for interval in stats.INTERVALS.values():
        assert [len(limit) for limit in interval(stats.Cells([], [], [], []), 0.95)] == [0, 0]
    assert len(stats.gain([], [], [])) == len(stats.wilson([], []).low) == 0
    for test in stats.TESTS:
        names, tail = stats.chosen(test, [], [])
        assert len(names) == len(tail.p) == 0
    for method in stats.ADJUSTMENTS:
        assert len(stats.adjust([], method)) == 0
        assert len(stats.adjust_tails(stats.TailP(np.empty(0), np.empty(0)), method).p) == 0


def test_no_pairs() -> None:
    assert np.isnan(stats.gain(0, 0, 0)).all()
    for interval in stats.INTERVALS.values():
        assert (
            np.isnan(interval(stats.Cells([0, 1], [0, 2], [0, 9], [0, 3]), 0.95)).tolist()
            == [[True, False]] * 2
        )
    assert np.isnan(stats.wilson(0, 0)).all()
    assert stats.exact(0, 0, "better").p[0] == 1
    assert stats.mid_p(0, 0, "worse").p[0] == 0.5
    assert stats.chi2(0, 0, "better").p[0] == stats.chi2_corrected(0, 0, "worse").p[0] == 0.5


def test_tango_where_all_pairs_agree_or_none_does() -> None:
    square = two_sided_z(0.95) ** 2
    low, high = stats.tango([0, 0, 7], [0, 7, 0], [7, 7, 7])
    assert high[0] == -low[0] == pytest.approx(square / (7 + square), rel=1e-15)
    assert low[1] == -high[2] == pytest.approx((7 - square) / (7 + square), rel=1e-15)
    assert high[1] == -low[2] == 1.0


def test_auto_names_the_test_of_each_row() -> None:
    names, tail = stats.chosen("auto", [4, 10, 10], [20, 15, 16])
    assert names.tolist() == ["exact", "chi2-corrected", "chi2-corrected"]
    assert tail.p[0] == stats.exact(4, 20).p[0]
    assert tail.p[2] == stats.chi2_corrected(10, 16).p[0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stats.exact([1, 2], [3]), "different lengths"),
        (lambda: stats.exact([-1], [3]), "negative"),
        (lambda: stats.exact([1.5], [3]), "whole numbers"),
        (lambda: stats.exact([True], [3]), "whole numbers"),
        (lambda: stats.exact([[1]], [[3]]), "one-dimensional"),
        (lambda: stats.exact(np.array([2**63], np.uint64), [3]), "2\\^63"),
        (lambda: stats.exact(1, 2, "less"), "alternative"),  # type: ignore[arg-type]
        (lambda: stats.chi2(1, 2, "less"), "alternative"),  # type: ignore[arg-type]
        (lambda: stats.chosen("fisher", 1, 2), "test must be"),  # type: ignore[arg-type]
        (lambda: stats.adjust([-1.0], "sidak"), "adjustment"),  # type: ignore[arg-type]
        (lambda: stats.adjust([0.05], "holm"), "above 0"),
        (lambda: stats.adjust([[-1.0]], "holm"), "one-dimensional"),
        (lambda: stats.gain(3, 4, 6), "more than its pairs"),
        (lambda: stats.wald(3, 4, 6), "more than its pairs"),
        (lambda: stats.tango(3, 4, 6), "more discordant"),
        (lambda: stats.wilson(3, 2), "successes"),
        (lambda: stats.tango(3, 4, 9, 95), "confidence"),
        (lambda: stats.wilson(3, 4, 1.0), "confidence"),
        (lambda: stats.INTERVALS["newcombe"](stats.Cells(1, 2, 9), 0.95), "both_correct is unknown"),
        (lambda: stats.INTERVALS["newcombe"](stats.Cells(1, 2, 9, 7), 0.95), "more than its pairs"),
    ],
)
def test_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_the_intervals_that_need_agreement_are_named() -> None:
    for name, interval in stats.INTERVALS.items():
        if name in stats.NEED_AGREEMENT:
            with pytest.raises(ValueError, match=name):
                interval(stats.Cells(1, 2, 9), 0.95)
        else:
            assert np.isfinite(interval(stats.Cells(1, 2, 9), 0.95)).all()


def test_chunks_do_not_show() -> None:
    rng = np.random.default_rng(5)
    n = rng.integers(0, 3000, 2 * counts.CHUNK + 7)
    won = rng.binomial(n, 0.5)
    whole = stats.exact(n - won, won)
    picked = rng.choice(len(n), 500)
    np.testing.assert_array_equal(whole.p[picked], stats.exact((n - won)[picked], won[picked]).p)
    interval, part = (
        stats.tango(n - won, won, n + 9),
        stats.tango((n - won)[picked], won[picked], n[picked] + 9),
    )
    np.testing.assert_array_equal(interval.low[picked], part.low)
    np.testing.assert_array_equal(interval.high[picked], part.high)


def test_the_input_is_left_alone() -> None:
    lost, won = np.array([3, 2000, 0]), np.array([5, 2100, 0])
    before = lost.copy(), won.copy()
    for function in (stats.exact, stats.mid_p, stats.chi2, stats.chi2_corrected):
        function(lost, won)
    stats.tango(lost, won, lost + won + 1)
    log10_p = np.array([-1.0, -3.0, -2.0])
    stats.adjust(log10_p, "holm")
    assert (lost == before[0]).all()
    assert (won == before[1]).all()
    assert log10_p.tolist() == [-1.0, -3.0, -2.0]


def test_the_quadrature_rule_integrates_polynomials() -> None:
    """A 22-point Gauss rule is exact up to degree 43."""
    for degree in range(44):
        integral = sum(Fraction(weight) * Fraction(node) ** degree for node, weight in RULE)
        assert float(integral) == pytest.approx(1 / (degree + 1), rel=1e-15)


def test_stirling_errors() -> None:
    n = np.arange(1.0, 40.0)
    truth = [lgamma(x + 1) - (x + 0.5) * log(x) + x - 0.5 * log(2 * pi) for x in n]
    np.testing.assert_allclose(saddle_point.stirling_error(n), truth, atol=3e-14)
    # The table and the series meet: their product over neighbours follows the recursion of n!.
    step = saddle_point.stirling_error(n[:-1]) - saddle_point.stirling_error(n[1:])
    np.testing.assert_allclose(step, (n[:-1] + 0.5) * np.log1p(1 / n[:-1]) - 1, atol=2e-15)


@pytest.mark.parametrize("method", stats.ADJUSTMENTS)
def test_an_adjusted_p_near_the_smallest_number_is_not_below_p(method: stats.Adjustment) -> None:
    """Raised from its logarithm alone, the last of these would lose a digit and fall below its own p."""
    tails = stats.chi2_corrected([2208, 2207, 1664], [15, 17, 2565], "worse")
    assert (stats.adjust_tails(tails, method).p >= tails.p).all()
