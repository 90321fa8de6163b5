"""The binomial distribution with any chance theta: one probability, and the tail below it.

Loader's saddle point, as for theta = 1/2 (large_tails.py), with D the deviances of k from n theta and of n -
k from n (1 - theta). The tail is the point times

    S = P(X <= k) / P(X = k) = (n-k) * integral over s > 0 of exp(-(n-k) s) (1 + (1 - exp(-s))/odds)^k,

odds = theta/(1 - theta), the incomplete beta integral after x = (1 - theta) exp(-s).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from streamcmp.stats.counts import Floats, Ints, chunks
from streamcmp.stats.numeric import NEGLIGIBLE, falling_integral
from streamcmp.stats.saddle_point import deviance, stirling_error

_BEND: Final = 0.3  # of the reach; measured: 1e-13, where the 22 nodes of one part alone leave 1e-7

_Chances = tuple[Floats, Floats] | tuple[float, float]  # theta, 1 - theta


def log_constant(k: Floats, others: Floats) -> Floats:
    """The part of log P(X = k) that theta has no part in; others = n - k. 0 where k or others is 0."""
    ends = (k == 0) | (others == 0)
    one, two = np.where(ends, 1.0, k), np.where(ends, 1.0, others)
    n = one + two
    errors = stirling_error(n) - stirling_error(one) - stirling_error(two)
    return np.where(ends, 0.0, 0.5 * np.log(n / (2.0 * math.pi * one * two)) + errors)


def log_point(constant: Floats, k: Floats, others: Floats, chances: _Chances, ahead: Floats) -> Floats:
    """The log of P(X = k), from `log_constant`, (theta, 1 - theta) and ahead = n theta - k.

    The caller knows the last two best: of a theta near 1, only 1 - theta says how near.
    """
    n, (theta, rest) = k + others, chances
    return constant - deviance(k, n * theta, -ahead) - deviance(others, n * rest, ahead)


def point(k: Ints, n: Ints, theta: float) -> Floats:
    """P(X = k), 0 <= k <= n, shape (n_slices,); relative error about 1e-15 times (1 - log P)."""
    if theta <= 0.0 or theta >= 1.0:
        return np.where(k == (0 if theta <= 0.0 else n), 1.0, 0.0)
    hits, others, rest = k.astype(np.float64), (n - k).astype(np.float64), 1.0 - theta
    ahead = others * theta - hits * rest
    with np.errstate(under="ignore"):
        return np.exp(log_point(log_constant(hits, others), hits, others, (theta, rest), ahead))


def lower_tail(k: Ints, n: Ints, theta: float) -> Floats:
    """P(X <= k), X ~ Bin(n, theta), 0 <= k <= n, shape (n_slices,); relative error below 1e-12."""
    upper = np.ones(len(k))
    if theta <= 0.0:
        return upper
    if theta >= 1.0:
        return np.where(k < n, 0.0, upper)
    below = (k < n) & (k <= n * theta)
    upper[below] = _tail(k[below], n[below], theta, 1.0 - theta)
    above = (k < n) & ~below
    # Past the mean, through P(X <= k) = 1 - P(n - X <= n - k - 1).
    upper[above] = 1.0 - _tail(n[above] - k[above] - 1, n[above], 1.0 - theta, theta)
    return upper


def _tail(k: Ints, n: Ints, theta: float, rest: float) -> Floats:
    tail = np.empty(len(k))
    for rows in chunks(len(k)):
        hits, others = k[rows].astype(np.float64), (n[rows] - k[rows]).astype(np.float64)
        ahead = others * theta - hits * rest
        ratio = others * tail_integral(hits, others, np.full_like(hits, theta / rest))
        with np.errstate(under="ignore"):
            constant = log_constant(hits, others)
            tail[rows] = np.exp(log_point(constant, hits, others, (theta, rest), ahead)) * ratio
    return tail


def tail_integral(k: Floats, others: Floats, odds: Floats) -> Floats:
    """The integral in S, others = n - k. Its exponent is convex, with a slope >= 0 at 0."""
    per_odds = 1.0 / odds

    def exponent(s: Floats) -> Floats:
        return others * s - k * np.log1p(-per_odds * np.expm1(-s))

    # The parabola at 0 ends too early. Newton's first step from there overshoots, the next ones come back.
    slope, curvature = np.maximum(others - k * per_odds, 0.0), k * per_odds * (1.0 + per_odds)
    reach = 2.0 * NEGLIGIBLE / (slope + np.sqrt(slope * slope + 2.0 * NEGLIGIBLE * curvature))
    for _ in range(3):
        fallen = np.exp(-reach)
        rise = others - k * per_odds * fallen / (1.0 - per_odds * np.expm1(-reach))
        reach = reach - (exponent(reach) - NEGLIGIBLE) / rise
    # The exponent may bend within a small part of its reach: that part has its own nodes.
    bend = _BEND * reach
    at_bend = exponent(bend)
    rest = falling_integral(lambda s: exponent(bend + s) - at_bend, reach - bend)
    return falling_integral(exponent, bend) + np.exp(-at_bend) * rest
