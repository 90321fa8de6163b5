"""Identities across methods: each was computed in two unlike ways, and both must meet."""

from __future__ import annotations

from math import comb, inf, log, sqrt

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from streamcmp import stats
from streamcmp.stats import binomial_theta
from streamcmp.stats.chi_square import chi_square_tails
from tests.stats import oracle

scipy_stats = pytest.importorskip("scipy.stats")
scipy_special = pytest.importorskip("scipy.special")
contingency = pytest.importorskip("statsmodels.stats.contingency_tables")

small = st.integers(0, 60)
counts = st.integers(0, 40).flatmap(lambda bits: st.integers(0, 2**bits))
levels = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
families = st.lists(st.tuples(counts, counts, counts), min_size=1, max_size=30).map(np.array)


# --- tests and their intervals


@given(small, small, small, small)
def test_chi2_is_cochrans_q_of_two_models(both: int, lost: int, won: int, neither: int) -> None:
    if lost + won == 0:
        return
    rows = [[1, 1]] * both + [[1, 0]] * lost + [[0, 1]] * won + [[0, 0]] * neither
    q = contingency.cochrans_q(np.array(rows))
    assert stats.chi2_statistic(lost, won)[0] == pytest.approx(q.statistic, rel=1e-12)
    assert stats.chi2(lost, won).p[0] == pytest.approx(q.pvalue, rel=1e-10)


@given(small, small, levels)
def test_exact_p_and_clopper_pearson_exclude_one_half_together(lost: int, won: int, level: float) -> None:
    (low,), (high,) = stats.odds_interval(lost, won, level)
    p = float(oracle.exact_tail(max(lost, won), lost + won)) * 2
    if p == pytest.approx(1 - level, rel=1e-9):
        return
    assert (low > 1 or high < 1) == (stats.exact(lost, won).p[0] < 1 - level)


@given(small, small, levels)
def test_mid_p_and_its_interval_exclude_one_half_together(lost: int, won: int, level: float) -> None:
    p = stats.mid_p(lost, won).p[0]
    if lost + won == 0 or p == pytest.approx(1 - level, rel=1e-9):
        return
    (low,), (high,) = stats.odds_interval(lost, won, level, "mid-p")
    assert (low > 1 or high < 1) == (p < 1 - level)


@given(counts, counts, levels)
def test_chi2_and_wilson_exclude_one_half_together(lost: int, won: int, level: float) -> None:
    p = stats.chi2(lost, won).p[0]
    if lost + won == 0 or p == pytest.approx(1 - level, rel=1e-6):
        return
    (low,), (high,) = stats.odds_interval(lost, won, level, "wilson")
    assert (low > 1 or high < 1) == (p < 1 - level)


@given(counts, counts, counts, st.sampled_from([0.001, 0.01, 0.05, 0.3]), levels)
def test_a_margin_is_kept_where_tangos_interval_says_so(
    lost: int, won: int, rest: int, margin: float, level: float
) -> None:
    n = lost + won + rest
    assume(n > 0)
    alpha = (1 - level) / 2
    kept, within = stats.noninferior(lost, won, n, margin).p[0], stats.equivalent(lost, won, n, margin).p[0]
    assume(kept != pytest.approx(alpha, rel=1e-6))
    assume(within != pytest.approx(alpha, rel=1e-6))
    (low,), (high,) = stats.tango(lost, won, n, level)
    assert (kept < alpha) == (low > -margin)
    assert (within < alpha) == (-margin < low and high < margin)


@given(counts, counts, counts)
def test_a_tiny_margin_is_mcnemars_test(lost: int, won: int, rest: int) -> None:
    n = lost + won + rest
    assume(lost + won > 0)
    margin = 1e-13 / n
    assert stats.noninferior(lost, won, n, margin).log10_p[0] == pytest.approx(
        stats.chi2(lost, won, "better").log10_p[0], rel=1e-6, abs=1e-6
    )


@given(counts, counts, counts, st.floats(1e-6, 0.999))
def test_equivalence_is_the_harder_of_two_questions_and_has_no_sides(
    lost: int, won: int, rest: int, margin: float
) -> None:
    n = lost + won + rest
    both = stats.equivalent(lost, won, n, margin)
    assert both == stats.equivalent(won, lost, n, margin)
    one, other = stats.noninferior(lost, won, n, margin), stats.noninferior(won, lost, n, margin)
    assert both.log10_p[0] == max(one.log10_p[0], other.log10_p[0])
    assert both.p[0] == max(one.p[0], other.p[0])


# --- odds


@given(counts, counts, levels, st.sampled_from(stats.ODDS_INTERVALS))
def test_odds_limits_are_mirrored_by_swapping_sides(
    lost: int, won: int, level: float, method: stats.OddsInterval
) -> None:
    (low,), (high,) = stats.odds_interval(lost, won, level, method)
    (other_low,), (other_high,) = stats.odds_interval(won, lost, level, method)
    assert 0 <= low <= high <= inf
    assert low == pytest.approx(1 / other_high if other_high else inf, rel=1e-11)
    assert other_low == pytest.approx(1 / high if high else inf, rel=1e-11)
    if lost and won:
        assert low < won / lost < high
    share = stats.share_interval(stats.Interval(np.array([low]), np.array([high])))
    assert 0 <= share.low[0] <= share.high[0] <= 1


@given(st.integers(0, 10**6), st.integers(0, 10**6), levels)
def test_clopper_pearson_agrees_with_scipy(lost: int, won: int, level: float) -> None:
    share = stats.share_interval(stats.odds_interval(lost, won, level))
    alpha = (1 - level) / 2
    low = scipy_special.betaincinv(won, lost + 1, alpha) if won else 0.0
    high = scipy_special.betaincinv(won + 1, lost, 1 - alpha) if lost else 1.0
    assert share.low[0] == pytest.approx(low, rel=1e-9)
    assert share.high[0] == pytest.approx(high, rel=1e-9)


def test_wilson_of_the_share_is_wilson() -> None:
    lost, won = np.array([0, 3, 10**6, 7]), np.array([5, 4, 10**6 + 7, 0])
    share = stats.share_interval(stats.odds_interval(lost, won, 0.95, "wilson"))
    low, high = stats.wilson(won, lost + won)
    np.testing.assert_allclose(share.low, low, rtol=1e-13)
    np.testing.assert_allclose(share.high, high, rtol=1e-13)


def test_many_slices_of_few_kinds_are_computed_once() -> None:
    lost, won = np.random.default_rng(1).poisson(3, (2, 20_000))
    many = stats.odds_interval(lost, won, 0.95, "mid-p")
    for at in range(0, 20_000, 997):
        (low,), (high,) = stats.odds_interval(lost[at], won[at], 0.95, "mid-p")
        assert (many.low[at], many.high[at]) == (low, high)


# --- anytime


@given(st.integers(0, 400), st.integers(0, 400))
def test_the_e_value_is_the_mixture_over_one_half(lost: int, won: int) -> None:
    n = lost + won
    truth = n * log(2) - log((n + 1) * comb(n, won))
    assert stats.log10_e(lost, won)[0] * log(10) == pytest.approx(truth, rel=1e-12, abs=1e-12)
    jeffreys = scipy_special.betaln(won + 0.5, lost + 0.5) - scipy_special.betaln(0.5, 0.5) + n * log(2)
    assert stats.log10_e(lost, won, "two-sided", "jeffreys")[0] * log(10) == pytest.approx(
        jeffreys, rel=1e-9, abs=1e-9
    )


@given(counts, counts)
def test_one_sided_e_values_add_up(lost: int, won: int) -> None:
    """The mixture over all thetas is the mean of that over the upper ones and that over the lower."""
    two, better, worse = (
        stats.log10_e(lost, won, alternative)[0] for alternative in ("two-sided", "better", "worse")
    )
    assert better == stats.log10_e(won, lost, "worse")[0]
    assert two == stats.log10_e(won, lost)[0]
    top = max(better, worse)
    mean = top + np.log10(0.5 * (10.0 ** (better - top) + 10.0 ** (worse - top)))
    assert mean == pytest.approx(two, rel=1e-11, abs=1e-11)


@given(counts, counts, levels, st.sampled_from(stats.MIXTURES))
def test_the_sequence_excludes_one_half_where_the_e_value_says_so(
    lost: int, won: int, level: float, mixture: stats.Mixture
) -> None:
    (low,), (high,) = stats.confidence_sequence(lost, won, level, mixture)
    assert 0 <= low < high <= 1
    if lost + won:
        assert low <= won / (lost + won) <= high
    logs, bound = stats.log10_e(lost, won, "two-sided", mixture)[0], -np.log10(1 - level)
    assume(logs != pytest.approx(bound, rel=1e-9))
    assert (low > 0.5 or high < 0.5) == (logs > bound)


@given(counts, counts, levels)
def test_the_sequence_is_wider_than_a_single_interval(lost: int, won: int, level: float) -> None:
    (low,), (high,) = stats.confidence_sequence(lost, won, level)
    single = stats.share_interval(stats.odds_interval(lost, won, level, "wilson"))
    assert low <= single.low[0] + 1e-12
    assert single.high[0] - 1e-12 <= high


def test_an_e_value_is_1_on_average_without_a_difference() -> None:
    for n in (1, 10, 100, 1_000):
        won = np.arange(n + 1)
        chances = binomial_theta.point(won, np.full(n + 1, n), 0.5)
        for alternative in stats.ALTERNATIVES:
            mean = float(chances @ 10 ** stats.log10_e(n - won, won, alternative))
            assert mean == pytest.approx(1.0, rel=1e-10)


@pytest.mark.parametrize(
    "row", [row for row in oracle.printed_values() if row["quantity"].startswith("beta-binomial CS")]
)
def test_published_sequences_come_from_the_same_e_value(row: dict[str, str]) -> None:
    """Howard and others' sequence has a mixture of its own per theta, Beta(r/(1-theta), r/theta).

    Its printed limits are where that mixture's log e-value reaches log(1/alpha); for theta = 1/2 the mixture
    is a Beta(2r, 2r), of which ours are two: the e-value is checked at their parameters, and the limits by
    it.
    """
    given_numbers = dict(part.split("=") for part in row["inputs"].split(","))
    x, n, t = (int(given_numbers[name]) for name in ("x", "n", "t_opt"))
    alpha = float(given_numbers["alpha"])

    def log_e(theta: float) -> float:
        variance = theta * (1 - theta)
        best = variance * t / (2 * log(20) + log(1 + 2 * log(20)))
        r = max(best - variance, 1e-3 * variance)
        a, b = r / (1 - theta), r / theta
        evidence = scipy_special.betaln(a + x, b + n - x) - scipy_special.betaln(a, b)
        return float(evidence - x * log(theta) - (n - x) * log(1 - theta))

    printed = float(row["value"])
    wide = 10.0 ** -(len(row["value"]) - 2)
    inward = wide if "lower" in row["quantity"] else -wide
    assert log_e(printed - 1.01 * inward) > log(1 / alpha) > log_e(printed + 1.01 * inward)
    uniform = scipy_special.betaln(1 + x, 1 + n - x) + n * log(2)
    assert stats.log10_e(n - x, x)[0] * log(10) == pytest.approx(uniform, rel=1e-9)


# --- heterogeneity


@given(families)
def test_heterogeneity_agrees_with_scipy(rows: np.ndarray) -> None:
    lost, won = rows[:, 0] % 10_000, rows[:, 1] % 10_000
    some = lost + won > 0
    assume(some.sum() > 1)
    assume(lost.sum() > 0)
    assume(won.sum() > 0)
    ours = stats.heterogeneity.of_theta(lost, won)
    for lambda_, statistic in (("pearson", ours.chi2), ("log-likelihood", ours.g2)):
        theirs = scipy_stats.chi2_contingency(
            np.stack([lost[some], won[some]], axis=1), correction=False, lambda_=lambda_
        )
        assert statistic.df == theirs.dof
        assert statistic.value == pytest.approx(theirs.statistic, rel=1e-9, abs=1e-9)
        assert statistic.p == pytest.approx(max(theirs.pvalue, stats.SMALLEST_P), rel=1e-6)


@given(families)
def test_sides_and_order_do_not_matter_to_heterogeneity(rows: np.ndarray) -> None:
    lost, won = rows[:, 0], rows[:, 1]
    n = rows.sum(axis=1)
    one, two = stats.heterogeneity.of_theta(lost, won), stats.heterogeneity.of_theta(won[::-1], lost[::-1])
    for ours, theirs in zip(one[:3], two[:3], strict=True):
        assert ours.value == pytest.approx(theirs.value, rel=1e-9, abs=1e-9)
    assert stats.heterogeneity.both_ways(lost, won) == pytest.approx(
        stats.heterogeneity.both_ways(won[::-1], lost[::-1]), rel=1e-9
    )
    gain, mirror = stats.heterogeneity.of_gain(lost, won, n), stats.heterogeneity.of_gain(won, lost, n)
    if n.any():
        assert gain.pooled == pytest.approx(-mirror.pooled, rel=1e-9, abs=1e-12)
        macro = stats.heterogeneity.macro_gain(lost, won, n)
        assert macro.gain == pytest.approx(((won - lost)[n > 0] / n[n > 0]).mean(), rel=1e-9, abs=1e-12)
        assert (
            np.isnan([macro.low, macro.high]).all()
            if macro.se == 0
            else macro.low <= macro.gain <= macro.high
        )


@pytest.mark.parametrize(("slices", "critical"), [(2, 2.71), (3, 4.23), (4, 5.43), (5, 6.50)])
def test_gail_and_simons_critical_values(slices: int, critical: float) -> None:
    """The printed 5 % points, Biometrics 41 (1985), table 1: slices whose smaller side just reaches them."""
    pieces = [comb(slices - 1, h) / 2 ** (slices - 1) * p
              for h, p in enumerate(chi_square_tails(critical, 1, slices - 1), start=1)]  # fmt: skip
    assert sum(pieces) == pytest.approx(0.05, abs=3e-4)
    n = 10**8
    off = round(sqrt(critical * n))
    lost = np.array([n // 2 - off // 2] + [n // 2 + 10**6] * (slices - 1))
    won = np.array([n // 2 + off // 2] + [n // 2 - 10**6] * (slices - 1))
    assert stats.heterogeneity.both_ways(lost, won) == pytest.approx(0.05, abs=3e-4)


@pytest.mark.parametrize(("first", "last"), [(1, 1), (1, 12), (7, 40), (999, 1_030), (40_000, 40_300)])
def test_chi_square_tails_agree_with_scipy(first: int, last: int) -> None:
    for x in (0.5 * first, 0.99 * first, 1.0 * last, 1.1 * last + 3):
        truth = scipy_stats.chi2.sf(x, np.arange(first, last + 1))
        np.testing.assert_allclose(chi_square_tails(x, first, last), truth, rtol=1e-9, atol=1e-12)


@given(st.integers(1, 10**6), st.floats(-6, 12))
def test_chi_square_tail_agrees_with_scipy(df: int, away: float) -> None:
    x = max(df + away * sqrt(2 * df), 1e-3)
    ours = stats.chi_square_tail(x, df)
    truth = float(scipy_stats.chi2.sf(x, df))
    assert ours.p[0] == pytest.approx(truth, rel=1e-8)
    assert ours.log10_p[0] == pytest.approx(scipy_stats.chi2.logsf(x, df) / log(10), rel=1e-7, abs=1e-8)


def test_chi_square_tail_of_one_is_mcnemars() -> None:
    for lost, won in ((3, 9), (0, 50), (400, 600), (0, 5_000)):
        (statistic,) = stats.chi2_statistic(lost, won)
        ours, theirs = stats.chi_square_tail(statistic, 1), stats.chi2(lost, won)
        assert ours.p[0] == pytest.approx(theirs.p[0], rel=1e-12)
        assert ours.log10_p[0] == pytest.approx(theirs.log10_p[0], rel=1e-12)


# --- the binomial distribution with any theta, and power


@given(
    st.integers(0, 3_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.floats(1e-6, 1 - 1e-6),
)
def test_binomial_tails_agree_with_exact_sums(k_of_n: tuple[int, int], theta: float) -> None:
    """Not with scipy, whose tail of 20 of 2,148 at 0.28125 is off by 1.6e-8 (scipy 1.17, by this sum)."""
    k, n = k_of_n
    with mpmath.workdps(40):
        odds = (1 - mpmath.mpf(theta)) / mpmath.mpf(theta)
        term = exact_point = mpmath.binomial(n, k) * mpmath.mpf(theta) ** n * odds ** (n - k)
        exact_tail = term
        for i in range(k, 0, -1):
            term *= odds * i / (n - i + 1)
            exact_tail += term
    k_array, n_array = np.array([k]), np.array([n])
    for ours, expected in (
        (binomial_theta.lower_tail(k_array, n_array, theta)[0], float(exact_tail)),
        (binomial_theta.point(k_array, n_array, theta)[0], float(exact_point)),
    ):
        assert ours == pytest.approx(expected, rel=1e-11, abs=1e-290)


def test_power_rises_with_gain_and_pairs() -> None:
    for function in (stats.normal_power, stats.exact_power):
        by_gain = [function(500, 0.05 - d, 0.05 + d) for d in (0.0, 0.005, 0.01, 0.02, 0.04)]
        by_pairs = [function(n, 0.04, 0.06) for n in (100, 300, 1_000, 3_000, 10_000)]
        assert by_gain == sorted(by_gain)
        assert by_pairs == sorted(by_pairs)


@given(
    st.integers(1, 100) | st.integers(1, 10**9),
    st.floats(0.001, 1),
    st.sampled_from([0.2, 0.5, 0.8, 0.95]),
    st.sampled_from([1, 2]),
)
@example(1, 1.0, 0.95, 1)  # the formula, squared, has a solution there that is none
def test_detectable_gain_sample_size_and_power_invert_one_another(
    n: int, psi: float, power: float, sides: int
) -> None:
    (gain,) = stats.minimum_detectable_gain([n], [psi], 0.05, power, sides=sides)
    if np.isnan(gain):
        # Not even all discordant pairs on one side show it.
        assert stats.normal_power(n, 0.0, psi, 0.05, sides=sides) < power * (1 + 1e-9)
        return
    assert 0 < gain <= psi
    lost, won = (psi - gain) / 2, (psi + gain) / 2
    assume(psi - gain * gain > 1e-6)  # where nothing varies, n is lost in the rounding of the gain
    assert stats.sample_size(lost, won, 0.05, power, sides=sides) == pytest.approx(n, rel=1e-6)
    assert stats.normal_power(n, lost, won, 0.05, sides=sides) == pytest.approx(power, rel=1e-6)


def test_exact_power_at_no_difference_is_half_the_level() -> None:
    """Rejections in one direction only are counted: half of the type I error."""
    won = np.arange(201)
    chances = np.zeros(201)
    for n in range(201):
        weight = float(binomial_theta.point(np.array([n]), np.array([200]), 0.1)[0])
        rejected = stats.exact(n - won[: n + 1], won[: n + 1]).p <= 0.05
        chances[n] = weight * sum(comb(n, int(k)) for k in won[: n + 1][rejected]) / 2.0**n
    assert 2 * stats.exact_power(200, 0.05, 0.05) == pytest.approx(chances.sum(), rel=1e-10)


# --- unpaired


@given(small, small, small, small)
def test_the_unpaired_z_agrees_with_statsmodels(a: int, b: int, more_a: int, more_b: int) -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    n_a, n_b = a + more_a + 1, b + more_b + 1
    if a + b == 0 or (a, b) == (n_a, n_b):
        return
    z, p = proportion.proportions_ztest([b, a], [n_b, n_a])
    ours = stats.unpaired.two_proportions(a, n_a, b, n_b)
    assert ours.z[0] == pytest.approx(z, rel=1e-10, abs=1e-12)
    assert ours.tail.p[0] == pytest.approx(p, rel=1e-9)


def test_unpaired_edges() -> None:
    z, tail = stats.unpaired.two_proportions([0, 5, 5, 0], [0, 5, 5, 3], [0, 5, 0, 0], [3, 5, 5, 9])
    np.testing.assert_array_equal(np.isnan(z), [True, False, False, False])
    assert z[1] == z[3] == 0
    assert z[2] < -3
    np.testing.assert_array_equal(tail.p[[0, 1, 3]], 1)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: stats.noninferior([1], [1], [2], 0.0), "margin"),
        (lambda: stats.equivalent([1], [1], [2], 1.0), "margin"),
        (lambda: stats.noninferior([2], [1], [2], 0.1), "more discordant"),
        (lambda: stats.odds_interval([1], [1], 1.0), "confidence"),
        (lambda: stats.odds_interval([1], [1], 0.9, "exact"), "method"),  # type: ignore[arg-type]
        (lambda: stats.confidence_sequence([1], [1], 0.0), "confidence"),
        (lambda: stats.log10_e([1], [1], "better", "jeffreys"), "mixture"),
        (lambda: stats.log10_e([1], [1], "two-sided", "beta"), "mixture"),  # type: ignore[arg-type]
        (lambda: stats.minimum_detectable_gain([1], [1.5]), "psi"),
        (lambda: stats.minimum_detectable_gain([1, 2], [0.5]), "psi"),
        (lambda: stats.sample_size(0.1, 0.1), "gain of 0"),
        (lambda: stats.sample_size(0.6, 0.7), "add up"),
        (lambda: stats.sample_size(0.1, 0.2, alpha=0.0), "alpha"),
        (lambda: stats.sample_size(0.1, 0.2, power=1.0), "power"),
        (lambda: stats.sample_size(0.1, 0.2, sides=3), "sides"),
        (lambda: stats.exact_sample_size(0.1, 0.1 + 1e-9), "more than"),
        (lambda: stats.heterogeneity.of_gain([2], [1], [2]), "more discordant"),
        (lambda: stats.heterogeneity.macro_gain([2], [1], [2]), "more discordant"),
        (lambda: stats.unpaired.two_proportions([3], [2], [1], [1]), "more hits"),
    ],
)
def test_what_cannot_be_computed_says_so(call: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()  # type: ignore[operator]
