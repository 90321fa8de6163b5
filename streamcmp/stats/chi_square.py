"""The upper tail of the chi-square distribution with any number of degrees of freedom, and its logarithm.

With a = df/2 and y = x/2 it is the regularised incomplete gamma function Q(a, y): Loader's Poisson-like point
y^a exp(-y)/gamma(a + 1) times the series of the lower tail, or the continued fraction of the upper one.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from streamcmp.stats.counts import Floats
from streamcmp.stats.saddle_point import deviance, half_integer_error, stirling_error
from streamcmp.stats.tail import TailP, to_tail

_TINY: Final = 1e-300
_PRECISE: Final = 1e-17


def chi_square_tail(x: float, df: int) -> TailP:
    """P(X >= x), X chi-square with df degrees of freedom; one value, arrays of shape (1,).

    Args:
        x: the statistic, finite, >= 0.
        df: whole, >= 1; time grows with its root, 10 ms at 1e6.

    Returns:
        TailP, relative error below 1e-12 while p is a double; log10_p to 1e-14 of itself. x = 0: 1.
    """
    a, y = 0.5 * df, 0.5 * x
    if y <= 0.0:
        return TailP(np.ones(1), np.zeros(1))
    log_point, factor = _point(a, y)
    if y < a + 1.0:
        lower = factor * math.exp(log_point) * _series(a, y)
        return to_tail(np.array([lower]), np.zeros(1), np.array([True]))
    return to_tail(np.array([factor * a * _fraction(a, y)]), np.array([log_point]))


def _point(a: float, y: float) -> tuple[float, float]:
    """y^a exp(-y)/gamma(a + 1) as (logarithm, factor), a a multiple of 1/2."""
    half = np.array([math.floor(a)], dtype=np.float64)
    if a == half[0]:
        error = float(stirling_error(half)[0])  # of gamma(a + 1) = a!
    else:
        # gamma(a + 1) = a gamma(a), and a = half + 1/2: brought to the form of Stirling's formula at a.
        whole = float(half[0])
        shift = whole * math.log1p(-0.5 / a) if whole else 0.0
        error = float(half_integer_error(half)[0]) + (shift + 0.5)
    leading = deviance(np.array([a]), np.array([y]), np.array([a - y]))
    return -float(leading[0]), math.exp(-error) / math.sqrt(2.0 * math.pi * a)


def _series(a: float, y: float) -> float:
    """P(a, y) over the point: 1 + y/(a+1) + y^2/((a+1)(a+2)) + ..."""
    total = term = 1.0
    while term > _PRECISE * total:
        a += 1.0
        term *= y / a
        total += term
    return total


def _fraction(a: float, y: float) -> float:
    """Q(a, y) over a times the point: Legendre's continued fraction, by Lentz's method."""
    b = y + 1.0 - a
    c, d = 1.0 / _TINY, 1.0 / b
    value = d
    for i in range(1, 1_000_000):
        an = -i * (i - a)
        b += 2.0
        d, c = an * d + b, b + an / c
        d, c = 1.0 / (d if abs(d) > _TINY else _TINY), c if abs(c) > _TINY else _TINY
        value *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return value


def chi_square_tails(x: float, first: int, last: int) -> Floats:
    """P(X >= x) for every number of degrees of freedom from `first` (at least 1) to `last`, x > 0.

    Absolute error about 1e-13: sums of the points that separate df from df + 2.
    """
    a = 0.5 * np.arange(first, last + 1, dtype=np.float64)
    whole, half = np.floor(a), a != np.floor(a)
    # log gamma(a + 1) less a log a - a + log(2 pi a)/2; for halves from gamma(a), as in `_point`.
    shift = np.where(whole > 0, whole * np.log1p(-0.5 / np.maximum(a, 1.0)), 0.0) + 0.5
    error = np.where(half, half_integer_error(whole) + shift, stirling_error(whole))
    y = 0.5 * x
    with np.errstate(under="ignore"):
        steps = np.exp(-deviance(a, np.full_like(a, y), a - y) - error) / np.sqrt(2.0 * math.pi * a)
    tails = np.empty_like(a)
    for parity in range(min(2, len(a))):
        start = chi_square_tail(x, first + parity).p[0]
        tails[parity::2] = start + np.concatenate([[0.0], np.cumsum(steps[parity::2])[:-1]])
    return np.minimum(tails, 1.0)
