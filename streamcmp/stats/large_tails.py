"""Tails of Bin(n, 1/2) for large n: Loader's saddle point for one term, an integral for their sum.

The point probability follows Loader, "Fast and accurate computation of binomial probabilities" (2000):

    P(X = k) = sqrt(n / (2 pi k (n-k))) exp(s(n) - s(k) - s(n-k)) exp(-D),
    D = k log(2k/n) + (n-k) log(2(n-k)/n),      s = the error of Stirling's formula,

with D as a sum of two doubles. The tail is the point times

    S = P(X <= k) / P(X = k) = (n-k) * integral over t > 0 of exp(-d t) sech(t)^(n+1),   d = n - 1 - 2k,

which is the incomplete beta integral of the binomial distribution function after x = 1/(1 + exp(2t)).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from streamcmp.stats.counts import Floats, Ints
from streamcmp.stats.numeric import NEGLIGIBLE, falling_integral, half_square_over, polynomial

# s(0) ... s(15), where the series below is not good enough yet; s(0) is never used and 0.
_STIRLING_SMALL: Final = np.array(
    [
        0.0,
        0.0810614667953272582,
        0.0413406959554092941,
        0.0276779256849983391,
        0.0207906721037650931,
        0.0166446911898211922,
        0.0138761288230707480,
        0.0118967099458917701,
        0.0104112652619720965,
        0.00925546218271273292,
        0.00833056343336287126,
        0.00757367548795184079,
        0.00694284010720952987,
        0.00640899418800420707,
        0.00595137011275884774,
        0.00555473355196280137,
    ]
)
_STIRLING_SERIES: Final = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)

# D = e^2/(2n) (1 + x/6 + x^2/15 + ...) with e = n - 2k and x = (e/n)^2: the terms after the 1, divided by x.
_DEVIANCE_SERIES: Final = tuple(1 / (j * (2 * j - 1)) for j in range(2, 36))
_SERIES_REACHES: Final = 0.6  # the largest e/n at which 34 terms are enough

# log(cosh t) = t^2 times this series in t^2; the integral needs t up to 0.28.
_LOG_COSH_SERIES: Final = (
    1 / 2, -1 / 12, 1 / 45, -17 / 2520, 31 / 14175, -691 / 935550, 10922 / 42567525, -929569 / 10216206000,
)  # fmt: skip


def doubled_tails(k: Ints, n: Ints) -> tuple[Floats, Floats, Floats]:
    """(upto, below, log_scale): 2 P(X <= k) = upto exp(log_scale), 2 P(X < k) = below exp(log_scale).

    X ~ Bin(n, 1/2), 0 <= 2 k <= n, n > 1023. At the centre, n - 2k <= 1, log_scale is 0. Relative error a few
    1e-16 while the probability is a double, later that of its logarithm. Counts are exact up to 2^53.
    """
    losses, size, excess = k.astype(np.float64), n.astype(np.float64), (n - 2 * k).astype(np.float64)
    point, log_scale = _point(losses, size, excess)
    ratio = np.maximum(_tail_ratio(losses, size), 1.0)
    upto, below = 2.0 * point * ratio, 2.0 * point * (ratio - 1.0)

    # At the centre the tails are known, but for the point itself, by symmetry.
    centre = excess <= 1
    if centre.any():
        tie = excess[centre] == 0
        middle = point[centre] * np.exp(log_scale[centre])
        upto[centre] = np.where(tie, 1.0 + middle, 1.0)
        below[centre] = np.where(tie, 1.0 - middle, 1.0 - 2.0 * middle)
        log_scale[centre] = 0.0
    return upto, below, log_scale


def _point(k: Floats, n: Floats, excess: Floats) -> tuple[Floats, Floats]:
    """P(X = k) as factor * exp(log_scale)."""
    none = k == 0
    positive = np.where(none, 1.0, k)
    others = n - positive
    stirling = _stirling_error(n) - _stirling_error(positive) - _stirling_error(others)
    factor = np.sqrt(n / (2.0 * math.pi * positive * others)) * np.exp(stirling)
    high, low = _deviance(positive, n, excess)
    factor *= np.exp(-low)
    # No losses: 2^-n. At this n it is below every double, so its logarithm is all that counts.
    return np.where(none, 1.0, factor), np.where(none, n * -math.log(2.0), -high)


def _stirling_error(n: Floats) -> Floats:
    large = np.maximum(n, 16.0)
    series = polynomial(_STIRLING_SERIES, 1.0 / (large * large)) / large
    small = n < 16
    if small.any():
        series[small] = _STIRLING_SMALL[n[small].astype(np.intp)]
    return series


def _deviance(k: Floats, n: Floats, excess: Floats) -> tuple[Floats, Floats]:
    """D as high + low, |low| no more than a rounding error of high; 0 < k <= n/2."""
    leading, low = half_square_over(excess, n)
    share = excess / n
    square = share * share
    rest = leading * square * polynomial(_DEVIANCE_SERIES, square) + low
    far = share > _SERIES_REACHES
    if far.any():
        leading[far] = k[far] * np.log(2.0 * k[far] / n[far]) + (n[far] - k[far]) * np.log1p(share[far])
        rest[far] = 0.0
    high = leading + rest
    return high, rest - (high - leading)


def _tail_ratio(k: Floats, n: Floats) -> Floats:
    slope, power = n - 1.0 - 2.0 * k, n + 1.0

    def exponent(t: Floats) -> Floats:
        square = t * t
        return power * square * polynomial(_LOG_COSH_SERIES, square) + slope * t

    steepness = np.maximum(slope, 0.0)  # -1 at a tie, whose tails are not taken from here
    reach = 2.0 * NEGLIGIBLE / (steepness + np.sqrt(steepness * steepness + 2.0 * NEGLIGIBLE * power))
    return (n - k) * falling_integral(exponent, reach)
