"""How often B wins a discordant pair: the share theta = n_ba/n, and the odds n_ba/n_ab, with intervals.

Given the number n of discordant pairs, the number won is Bin(n, theta). Clopper and Pearson, Biometrika 26
(1934): the exact interval; mid-p: outcomes as extreme as the observed one count half (Berry and Armitage, The
Statistician 44, 1995; Fagerland, Lydersen and Laake, Statistics in Medicine 33, 2014); Wilson: the score
interval.

An exact or mid-p upper limit solves P(X <= k) = (1 - confidence)/2 by Newton's steps in log odds, in which
the log of the tail is concave and its slope -theta (n-k)/S (S as in binomial_theta.py). Lower limits are
upper ones with the sides swapped.
"""

from __future__ import annotations

import math
from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from streamcmp.stats.binomial_theta import log_constant, log_point, tail_integral
from streamcmp.stats.counts import Floats, Ints, as_counts, chunks
from streamcmp.stats.interval import Interval
from streamcmp.stats.proportion import wilson

OddsInterval = Literal["clopper-pearson", "mid-p", "wilson"]
ODDS_INTERVALS: Final[tuple[OddsInterval, ...]] = get_args(OddsInterval)

_STEPS: Final = 60
_CLOSE: Final = 1e-7  # in log odds; the error after a Newton step is about the square of the step
_MANY: Final = 2**31  # pairs (n_ab, n_ba) below it are told apart as one 64-bit number


def odds(n_ab: npt.ArrayLike, n_ba: npt.ArrayLike) -> Floats:
    """n_ba/n_ab, shape (n_slices,); infinite where only n_ab is 0, NaN where both are."""
    lost, won = as_counts(n_ab, n_ba)
    with np.errstate(divide="ignore", invalid="ignore"):
        return won / lost


def share_won(n_ab: npt.ArrayLike, n_ba: npt.ArrayLike) -> Floats:
    """The share n_ba/(n_ab + n_ba), shape (n_slices,); NaN where no pair is discordant."""
    lost, won = as_counts(n_ab, n_ba)
    n = lost + won
    return won / np.where(n > 0, n, np.nan)


def odds_interval(
    n_ab: npt.ArrayLike,
    n_ba: npt.ArrayLike,
    confidence: float = 0.95,
    method: OddsInterval = "clopper-pearson",
) -> Interval:
    """Limits of the odds that a discordant pair is won.

    Args:
        n_ab: pairs that B lost (A correct, B wrong), shape (n_slices,), whole numbers of any width.
        n_ba: pairs that B won, same shape.
        confidence: strictly between 0 and 1.
        method: "clopper-pearson", "mid-p" or "wilson".

    Returns:
        Interval within [0, inf], relative error below 1e-9. None won: low is 0;
        none lost: high is infinite; no discordant pair: (0, inf).

    Raises:
        ValueError: the counts are no counts, differ in length, confidence is out of range or the method
        unknown.
    """
    if method not in ODDS_INTERVALS:
        raise ValueError(f"method must be one of {', '.join(ODDS_INTERVALS)}, not {method!r}")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence!r}")
    lost, won = as_counts(n_ab, n_ba)
    lost, won, back = _distinct(lost, won)
    if method == "wilson":
        low, high = _wilson_odds(lost, won, confidence)
    else:
        low = _reciprocal(_upper_odds(lost, won, confidence, mid=method == "mid-p"))
        high = _upper_odds(won, lost, confidence, mid=method == "mid-p")
    return Interval(low[back], high[back])


def share_interval(odds_limits: Interval) -> Interval:
    """The same limits as shares theta = odds/(1 + odds), within [0, 1]."""
    with np.errstate(divide="ignore"):
        low, high = (1.0 / (1.0 + 1.0 / limit) for limit in odds_limits)
    return Interval(low, high)


def _distinct(lost: Ints, won: Ints) -> tuple[Ints, Ints, npt.NDArray[np.intp]]:
    """Every pair of counts once, and where each row finds its own: small slices repeat one another."""
    if not len(lost) or max(lost.max(), won.max()) >= _MANY:
        return lost, won, np.arange(len(lost))
    _, first, back = np.unique(lost * _MANY + won, return_index=True, return_inverse=True)
    return lost[first], won[first], back


def _reciprocal(values: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return 1.0 / values


def _wilson_odds(lost: Ints, won: Ints, confidence: float) -> tuple[Floats, Floats]:
    of_won, of_lost = wilson(won, lost + won, confidence), wilson(lost, lost + won, confidence)
    with np.errstate(divide="ignore"):
        low, high = of_won.low / of_lost.high, of_won.high / of_lost.low
    nothing = lost + won == 0
    return np.where(nothing, 0.0, low), np.where(nothing, np.inf, high)


def _upper_odds(hits: Ints, misses: Ints, confidence: float, *, mid: bool) -> Floats:
    """The upper limit of the odds hits : misses."""
    beyond = 0.5 * (1.0 - confidence)
    upper = np.full(len(hits), np.inf)
    none = (hits == 0) & (misses > 0)
    upper[none] = np.expm1(-math.log(2.0 * beyond if mid else beyond) / misses[none])
    ordinary = np.flatnonzero((hits > 0) & (misses > 0))
    start = wilson(hits[ordinary] + 1, (hits + misses)[ordinary] + 1, confidence)
    other = wilson(misses[ordinary], (hits + misses)[ordinary] + 1, confidence)
    first_guess = np.log(start.high / other.low)
    for rows in chunks(len(ordinary)):
        here = ordinary[rows]
        solved = _solve(hits[here], misses[here], first_guess[rows], math.log(beyond), mid=mid)
        upper[here] = np.exp(solved)
    return upper


def _solve(hits: Ints, misses: Ints, guess: Floats, target: float, *, mid: bool) -> Floats:
    """The log odds at which the log of the lower tail is `target`, from a guess above them."""
    k, others, log_odds = hits.astype(np.float64), misses.astype(np.float64), guess
    constant = log_constant(k, others)
    found, rows = np.empty_like(k), np.arange(len(k))
    half = 0.5 if mid else 0.0
    for _ in range(_STEPS):
        odds = np.exp(log_odds)
        rest = 1.0 / (1.0 + odds)
        share = odds * rest
        # n theta - k, without the rounding of n theta.
        ahead = (others * odds - k) / (1.0 + odds)
        ratio = others * tail_integral(k, others, odds)
        slope = -(share * others - half * ahead) / (ratio - half)
        tail = log_point(constant, k, others, (share, rest), ahead) + np.log(ratio - half)
        step = (tail - target) / slope
        log_odds = log_odds - step
        found[rows] = log_odds
        going = np.abs(step) > _CLOSE
        if not going.any():
            break
        rows, k, others = rows[going], k[going], others[going]
        log_odds, constant = log_odds[going], constant[going]
    return found
