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
from streamcmp.stats.numeric import NEGLIGIBLE, falling_integral, polynomial
from streamcmp.stats.saddle_point import half_deviance, stirling_error

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
    ratio = np.maximum(tail_ratio(losses, size), 1.0)
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
    stirling = stirling_error(n) - stirling_error(positive) - stirling_error(others)
    factor = np.sqrt(n / (2.0 * math.pi * positive * others)) * np.exp(stirling)
    high, low = half_deviance(positive, n, excess)
    factor *= np.exp(-low)
    # No losses: 2^-n. At this n it is below every double, so its logarithm is all that counts.
    return np.where(none, 1.0, factor), np.where(none, n * -math.log(2.0), -high)


def tail_ratio(k: Floats, n: Floats) -> Floats:
    """S = P(X <= k) / P(X = k), X ~ Bin(n, 1/2), 0 <= 2k < n, n > LARGEST_N of the small tails."""
    slope, power = n - 1.0 - 2.0 * k, n + 1.0

    def exponent(t: Floats) -> Floats:
        square = t * t
        return power * square * polynomial(_LOG_COSH_SERIES, square) + slope * t

    steepness = np.maximum(slope, 0.0)  # -1 at a tie, whose tails are not taken from here
    reach = 2.0 * NEGLIGIBLE / (steepness + np.sqrt(steepness * steepness + 2.0 * NEGLIGIBLE * power))
    return (n - k) * falling_integral(exponent, reach)
