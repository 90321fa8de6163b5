"""Do the slices of a family tell one story? Tests of that, and the mean of the slices' gains."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from streamcmp.stats.binomial_theta import point
from streamcmp.stats.chi_square import chi_square_tail, chi_square_tails
from streamcmp.stats.counts import Floats, Ints, as_counts
from streamcmp.stats.normal import two_sided_z, upper_tail
from streamcmp.stats.numeric import two_product
from streamcmp.stats.saddle_point import deviance
from streamcmp.stats.tail import SMALLEST_P


class Statistic(NamedTuple):
    """A statistic, its degrees of freedom (None: it is standard normal), p and its log10."""

    value: float
    df: int | None
    p: float
    log10_p: float


class OfTheta(NamedTuple):
    """Do all slices share one theta, the chance that a discordant pair is won?

    `chi2`, `g2`: Pearson's and the likelihood ratio statistic of the table slices x (n_ab, n_ba) (Breslow and
    Day, Statistical Methods in Cancer Research I, 1980, 5.3). `tarone`: for many sparse slices, where those
    two do not follow their distribution (Tarone, Biometrika 66, 1979); one-sided, against more variation than
    one theta gives. `sparse`: whether the chi-square is not to be trusted by Cochran's rule: an expected
    count is below 1, or more than a fifth of them below 5.
    """

    chi2: Statistic
    g2: Statistic
    tarone: Statistic
    sparse: bool


class OfGain(NamedTuple):
    """Do all slices share one gain? Cochran's Q with weights 1/variance, I^2, and the gain so pooled.

    Cochran, Biometrics 10 (1954); DerSimonian and Laird, Controlled Clinical Trials 7 (1986). Each variance
    is Bonett and Price's, of counts with a pair added to each discordant outcome, so that none is 0.
    """

    q: Statistic
    i2: float
    pooled: float


class MacroGain(NamedTuple):
    """The plain mean of the slices' gains, its standard error, and a normal interval; NaN without slices."""

    gain: float
    se: float
    low: float
    high: float


_NOTHING = Statistic(0.0, 0, 1.0, 0.0)


def of_theta(n_ab: npt.ArrayLike, n_ba: npt.ArrayLike) -> OfTheta:
    """Tests that all slices share one theta.

    Args:
        n_ab: pairs that B lost (A correct, B wrong), shape (n_slices,), whole numbers of any width.
        n_ba: pairs that B won, same shape. Slices without a discordant pair say nothing, and are left out.

    Returns:
        OfTheta, relative error below 1e-12. Fewer than two slices, or all pairs won, or all lost: statistic
        0, p 1.

    Raises:
        ValueError: the counts are no counts or differ in length.
    """
    lost, won = as_counts(n_ab, n_ba)
    some = lost + won > 0
    lost, won = lost[some], won[some]
    all_lost, all_won, df = int(lost.sum()), int(won.sum()), max(len(lost) - 1, 0)
    if df == 0 or all_lost == 0 or all_won == 0:
        nothing = Statistic(0.0, df, 1.0, 0.0)
        return OfTheta(nothing, nothing, Statistic(0.0, None, 1.0, 0.0), sparse=False)
    n, total = (lost + won).astype(np.float64), all_lost + all_won
    share, other = all_won / total, all_lost / total
    excess = _excess(lost, won, all_lost, all_won)
    pearson = excess * (excess / n) / (share * other)
    expected = np.concatenate([n * share, n * other])
    g2 = 2.0 * (
        np.sum(deviance(won.astype(np.float64), n * share, excess))
        + np.sum(deviance(lost.astype(np.float64), n * other, -excess))
    )
    sparse = bool(expected.min() < 1.0 or (expected < 5.0).mean() > 0.2)
    return OfTheta(
        _chi_square(float(np.sum(pearson)), df),
        _chi_square(float(g2), df),
        _tarone(n, pearson),
        sparse=sparse,
    )


def both_ways(n_ab: npt.ArrayLike, n_ba: npt.ArrayLike) -> float:
    """P-value of "no slice gains, or no slice loses": the test of a qualitative interaction.

    Gail and Simon, Biometrics 41 (1985): the smaller of the sums of (n_ba - n_ab)^2/(n_ab + n_ba) over the
    slices that gain and over those that lose, against its least favourable distribution, a mixture of
    chi-squares.

    Args:
        n_ab: pairs that B lost (A correct, B wrong), shape (n_slices,), whole numbers of any width.
        n_ba: pairs that B won, same shape. Slices without a discordant pair are left out.

    Returns:
        A p-value, absolute error about 1e-12, at least SMALLEST_P. All slices on one side: 1.

    Raises:
        ValueError: the counts are no counts or differ in length.
    """
    lost, won = as_counts(n_ab, n_ba)
    n = lost + won
    lost, won, n = lost[n > 0], won[n > 0], n[n > 0]
    squares = (won - lost) * ((won - lost) / n)
    smaller = min(float(np.sum(squares[won > lost])), float(np.sum(squares[won < lost])))
    m = len(n) - 1
    if smaller == 0.0 or m < 1:
        return 1.0
    # Of K slices, 1 + Bin(K - 1, 1/2) or so could be on the losing side: those too unlikely to matter are
    # left out.
    reach = 6.0 * math.sqrt(m) + 40.0
    first, last = max(math.floor(0.5 * m - reach), 1), min(math.ceil(0.5 * m + reach), m)
    sides = np.arange(first, last + 1, dtype=np.int64)
    weights = point(sides, np.full_like(sides, m), 0.5)
    return float(np.clip(weights @ chi_square_tails(smaller, first, last), SMALLEST_P, 1.0))


def of_gain(n_ab: npt.ArrayLike, n_ba: npt.ArrayLike, n: npt.ArrayLike) -> OfGain:
    """Cochran's Q of the gains.

    Args:
        n_ab: pairs that B lost, shape (n_slices,), whole numbers of any width.
        n_ba: pairs that B won, same shape.
        n: all pairs, n >= n_ab + n_ba, same shape. Slices with n = 0 are left out.

    Returns:
        OfGain, relative error below 1e-12. One slice: Q 0, p 1, I^2 0 and its own gain; none: the gain NaN.

    Raises:
        ValueError: the counts are no counts, differ in length, or more are discordant than there are pairs.
    """
    lost, won, pairs = _with_pairs(n_ab, n_ba, n)
    if not len(pairs):
        return OfGain(_NOTHING, 0.0, math.nan)
    gains = (won - lost) / pairs
    if len(pairs) == 1:
        return OfGain(_NOTHING, 0.0, float(gains[0]))
    total = pairs + 2.0
    p_won, p_lost, p_same = (won + 1) / total, (lost + 1) / total, (pairs - lost - won) / total
    # psi - gain^2, without its cancellation where nearly all pairs have one outcome.
    weights = total / ((p_won + p_lost) * p_same + 4.0 * p_won * p_lost)
    pooled = float(np.sum(weights * gains)) / float(np.sum(weights))
    q = _chi_square(float(np.sum(weights * (gains - pooled) ** 2)), len(pairs) - 1)
    i2 = max(0.0, (q.value - (len(pairs) - 1)) / q.value) if q.value > 0 else 0.0
    return OfGain(q, i2, pooled)


def macro_gain(
    n_ab: npt.ArrayLike, n_ba: npt.ArrayLike, n: npt.ArrayLike, confidence: float = 0.95
) -> MacroGain:
    """The mean of the slices' gains, every slice counting the same however large it is.

    Arguments and errors as `of_gain`, and ValueError for a confidence outside (0, 1). The standard error is
    that of independent slices, sqrt(sum of (psi - gain^2)/n)/K; the interval is clipped to [-1, 1], and NaN
    where that is 0.
    """
    z = two_sided_z(confidence)
    lost, won, pairs = _with_pairs(n_ab, n_ba, n)
    if not len(pairs):
        return MacroGain(math.nan, math.nan, math.nan, math.nan)
    gains = (won - lost) / pairs
    p_won, p_lost, p_same = won / pairs, lost / pairs, (pairs - lost - won) / pairs
    variances = ((p_won + p_lost) * p_same + 4.0 * p_won * p_lost) / pairs
    mean = float(np.sum(gains)) / len(pairs)
    se = math.sqrt(float(np.sum(variances))) / len(pairs)
    if se == 0.0:
        return MacroGain(mean, se, math.nan, math.nan)
    return MacroGain(mean, se, max(mean - z * se, -1.0), min(mean + z * se, 1.0))


def _with_pairs(n_ab: npt.ArrayLike, n_ba: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Ints, Ints, Ints]:
    lost, won, pairs = as_counts(n_ab, n_ba, n)
    if (lost + won > pairs).any():
        raise ValueError("more discordant pairs than pairs")
    some = pairs > 0
    return lost[some], won[some], pairs[some]


def _excess(lost: Ints, won: Ints, all_lost: int, all_won: int) -> Floats:
    """What is won beyond the shared theta, that carried to 32 digits: in large slices little is left."""
    total = all_lost + all_won
    high = all_won / total
    # The remainder of that division, exactly, in Python's integers.
    numerator, denominator = high.as_integer_ratio()
    low = (all_won * denominator - numerator * total) / (total * denominator)
    n = (lost + won).astype(np.float64)
    product, error = two_product(n, np.full_like(n, high))
    return (won - product) - error - n * low


def _tarone(n: Floats, pearson: Floats) -> Statistic:
    """(S - sum n)/sqrt(2 sum n (n - 1)), S = sum n pearson; slices with one discordant pair cannot tell."""
    spread = 2.0 * float(np.sum(n * (n - 1.0)))
    if spread == 0.0:
        return Statistic(0.0, None, 1.0, 0.0)
    z = float(np.sum(n * (pearson - 1.0))) / math.sqrt(spread)
    tail = upper_tail(np.array([z]))
    return Statistic(z, None, float(tail.p[0]), float(tail.log10_p[0]))


def _chi_square(statistic: float, df: int) -> Statistic:
    tail = chi_square_tail(statistic, df)
    return Statistic(statistic, df, float(tail.p[0]), float(tail.log10_p[0]))
