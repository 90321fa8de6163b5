"""What Loader's saddle point is made of: the errors of Stirling's formula, and deviances.

Loader, "Fast and accurate computation of binomial probabilities" (2000). A binomial or Poisson probability is
the normal density's constant, times exp of Stirling errors, times exp(-deviance); each is small or computed
without cancellation, however large the counts are.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from streamcmp.stats.counts import Floats
from streamcmp.stats.numeric import half_square_over, polynomial

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

# The same for gamma at half-integers: each term is -(1 - 2^(1-2j)) times Stirling's.
_HALF_SERIES: Final = tuple(
    -(1 - 2.0 ** (1 - 2 * j)) * term for j, term in enumerate(_STIRLING_SERIES, start=1)
)
_HALF_LOG_2PI: Final = 0.5 * math.log(2.0 * math.pi)
_HALF_SMALL: Final = np.array(
    [math.lgamma(x + 0.5) - ((x * math.log(x) - x) if x else 0.0) - _HALF_LOG_2PI for x in range(16)]
)
_SERIES_TERMS: Final = tuple(1.0 / (2 * j + 1) for j in range(1, 9))
_NEAR: Final = 0.1  # below this |x - mean| / (x + mean), 8 terms are enough


def stirling_error(n: Floats) -> Floats:
    """s(n) = log n! - (n + 1/2) log n + n - log(2 pi)/2 for whole n >= 1, and 0 for n = 0."""
    large = np.maximum(n, 16.0)
    series = polynomial(_STIRLING_SERIES, 1.0 / (large * large)) / large
    small = n < 16
    if small.any():
        series[small] = _STIRLING_SMALL[n[small].astype(np.intp)]
    return series


def half_deviance(k: Floats, n: Floats, excess: Floats) -> tuple[Floats, Floats]:
    """D = k log(2k/n) + (n-k) log(2(n-k)/n) as high + low, |low| no more than a rounding error of high.

    0 < k <= n/2, and excess = n - 2k, exact.
    """
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


def half_integer_error(n: Floats) -> Floats:
    """The error log gamma(n + 1/2) - n log n + n - log(2 pi)/2, n whole, >= 0; 0 log 0 = 0."""
    large = np.maximum(n, 16.0)
    series = polynomial(_HALF_SERIES, 1.0 / (large * large)) / large
    small = n < 16
    series[small] = _HALF_SMALL[n[small].astype(np.intp)]
    return series


def deviance(x: Floats, mean: Floats, excess: Floats) -> Floats:
    """The deviance x log(x/mean) - (x - mean), >= 0; x >= 0, mean > 0 or both 0, 0 log 0 = 0.

    excess = x - mean, which the caller knows better than x and mean tell.
    """
    total = x + mean
    share = excess / np.where(total > 0, total, 1.0)
    square = share * share
    near = excess * share + 2.0 * x * share * square * polynomial(_SERIES_TERMS, square)
    far = np.abs(share) >= _NEAR
    if far.any():
        some, about = x[far], mean[far]
        ratio = np.where(some > 0, some, about) / about
        near[far] = some * np.log(ratio) - excess[far]
    return near
