"""Tango's score interval of the gain.

Tango, "Equivalence test and confidence interval for the difference in proportions for the paired-sample
design", Statistics in Medicine 17 (1998). The interval holds every delta that the score test does not reject:
with g = (n_ba - n_ab)/N and V(delta) the variance of one pair's difference under the best-fitting model whose
gain is delta,

    (g - delta)^2 = z^2 V(delta) / N.

The limits are found as delta = g + w z/sqrt(N) with w^2 = V(delta). Unlike delta itself, w stays of the order
of the square root of the discordant share, so that nothing cancels however large N is. (The equation is a
quartic in delta, but its roots, taken directly, keep only three digits of the interval at N = 1e8.)
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from streamcmp.stats.counts import Floats, Ints, as_counts, chunks
from streamcmp.stats.interval import Interval
from streamcmp.stats.normal import two_sided_z

_STEPS: Final = 100  # Newton needs about 5; bisection alone would need 60
_CLOSE: Final = 1e-11  # relative; the error after a Newton step is about the square of the step


def tango(n_ab: npt.ArrayLike, n_ba: npt.ArrayLike, n: npt.ArrayLike, confidence: float = 0.95) -> Interval:
    """Tango's asymptotic score interval of the gain (n_ba - n_ab)/n.

    It excludes 0 exactly where McNemar's uncorrected chi-square is significant at 1 - confidence.

    Args:
        n_ab: pairs that B lost (A correct, B wrong), shape (n_slices,), whole numbers of any width.
        n_ba: pairs that B won, same shape.
        n: all pairs, n >= n_ab + n_ba, same shape.
        confidence: strictly between 0 and 1.

    Returns:
        Interval within [-1, 1], each limit within 1e-12 of the width (plus 4e-16). n = 0: NaN. No discordant
        pair: +-z^2/(n + z^2). All pairs won: ((n - z^2)/(n + z^2), 1); all lost: the mirror image.

    Raises:
        ValueError: the counts are no counts, differ in length, more are discordant than there are pairs, or
            confidence is out of range.
    """
    z = two_sided_z(confidence)
    lost, won, pairs = as_counts(n_ab, n_ba, n)
    if (lost + won > pairs).any():
        raise ValueError("more discordant pairs than pairs")
    low, high = np.full(len(pairs), np.nan), np.full(len(pairs), np.nan)
    for rows in chunks(len(pairs)):
        here = np.flatnonzero(pairs[rows] > 0) + rows.start
        # Swapping the sides mirrors the interval: one upper limit serves for both.
        low[here] = -_upper(won[here], lost[here], pairs[here], z)
        high[here] = _upper(lost[here], won[here], pairs[here], z)
    return Interval(low, high)


class _Shares(NamedTuple):
    """One row per limit to be found: shares of all pairs, each divided once, from exact whole numbers."""

    lost: Floats  # n_ab / N
    won: Floats  # n_ba / N
    not_lost: Floats  # 1 - n_ab / N
    not_won: Floats
    gain: Floats
    below_one: Floats  # 1 - gain
    above_minus_one: Floats  # 1 + gain
    unit: Floats  # z / sqrt(N)

    def take(self, rows: npt.NDArray[np.bool_]) -> _Shares:
        return _Shares(*(column[rows] for column in self))


def _upper(lost: Ints, won: Ints, pairs: Ints, z: float) -> Floats:
    n = pairs.astype(np.float64)
    shares = _Shares(
        lost=lost / n,
        won=won / n,
        not_lost=(pairs - lost) / n,
        not_won=(pairs - won) / n,
        gain=(won - lost) / n,
        below_one=(pairs - won + lost) / n,
        above_minus_one=(pairs + won - lost) / n,
        unit=z / np.sqrt(n),
    )
    square = z * z
    limit = np.empty_like(n)
    # Where all pairs have one outcome, V(g) = 0 and the equation has a closed solution beside the one at g.
    alike, all_won, all_lost = lost + won == 0, won == pairs, lost == pairs
    limit[alike] = square / (n[alike] + square)
    limit[all_won] = 1.0
    limit[all_lost] = (square - n[all_lost]) / (square + n[all_lost])
    ordinary = ~(alike | all_won | all_lost)
    if ordinary.any():
        part = shares.take(ordinary)
        limit[ordinary] = np.minimum(part.gain + _solve(part) * part.unit, 1.0)
    return limit


def _solve(shares: _Shares) -> Floats:
    """The w > 0 with w^2 = V(gain + w unit): Newton's steps, by halves of the bracket where they leave it."""
    root = np.empty_like(shares.gain)
    rows = np.arange(len(root))
    low, high = np.zeros_like(root), shares.below_one / shares.unit
    variance, slope = _variance(np.zeros_like(root), shares)
    w = np.minimum(0.5 * slope + np.sqrt(variance + 0.25 * slope * slope), high)  # V as a straight line
    for _ in range(_STEPS):
        variance, slope = _variance(w, shares)
        excess = w * w - variance
        low, high = np.where(excess < 0, w, low), np.where(excess < 0, high, w)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = w - excess / (2.0 * w - slope)
        done = (np.abs(newton - w) <= _CLOSE * w) | (high - low <= _CLOSE * high)
        w = np.where((newton > low) & (newton < high), newton, np.where(done, w, 0.5 * (low + high)))
        root[rows] = w
        if done.all():
            break
        going = ~done
        rows, low, high, w, shares = rows[going], low[going], high[going], w[going], shares.take(going)
    return root


def _variance(w: Floats, shares: _Shares) -> tuple[Floats, Floats]:
    """V at delta = gain + w unit, and its derivative by w.

    V = 2q + |delta| (1 - |delta|), where q is the restricted estimate of the rarer discordant outcome's
    share: the larger root of 2q^2 + Bq - C, B = 2 (1 - commoner) |delta| - (lost + won)(1 - |delta|), C =
    rarer |delta| (1 - |delta|) (Tango's equation with the sign of delta folded in). All terms of V are >= 0.
    """
    step = w * shares.unit
    delta = shares.gain + step
    negative = delta < 0
    size = np.abs(delta)
    room = np.maximum(np.where(negative, shares.above_minus_one + step, shares.below_one - step), 0.0)
    rarer = np.where(negative, shares.won, shares.lost)
    not_commoner = np.where(negative, shares.not_lost, shares.not_won)
    discordant = shares.lost + shares.won

    linear = 2.0 * not_commoner * size - discordant * room
    constant = rarer * size * room
    spread = np.sqrt(linear * linear + 8.0 * constant)
    with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 at the kink of a one-sided table: q = 0
        q = np.where(linear > 0, 2.0 * constant / (spread + linear), 0.25 * (spread - linear))
        q_slope = (rarer * (room - size) - (2.0 * not_commoner + discordant) * q) / spread
    slope = (2.0 * np.where(spread > 0, q_slope, 0.0) + room - size) * shares.unit
    return 2.0 * q + size * room, np.where(negative, -slope, slope)
