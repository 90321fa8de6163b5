"""Evidence about the discordant coin that may be looked at as often as one likes.

Each discordant pair is won with probability theta; without a difference, 1/2. The e-value is a wager against
1/2: the probability of the observed sequence under a mixture of thetas, over that under 1/2. Without a
difference its chance of ever reaching 1/alpha is at most alpha (Ville 1939), however often one looks. The
confidence sequence holds every theta that such a wager has not yet refuted (Robbins, Annals of Mathematical
Statistics 41, 1970; Howard, Ramdas, McAuliffe and Sekhon, Annals of Statistics 49, 2021).

With x = n_ba, y = n_ab, n = x + y and the mixture Beta(a, a), log e = D + r, where D is the deviance of x/n
from 1/2 and r a sum of Stirling errors: nothing cancels. The confidence sequence is {theta: D(theta) <=
log(1/alpha) - r}.
"""

from __future__ import annotations

import math
from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from streamcmp.stats.binomial import exact
from streamcmp.stats.counts import Floats, Ints, as_counts, chunks
from streamcmp.stats.interval import Interval
from streamcmp.stats.large_tails import tail_ratio
from streamcmp.stats.saddle_point import half_deviance, half_integer_error, stirling_error
from streamcmp.stats.small_tails import LARGEST_N
from streamcmp.stats.tail import SMALLEST_P, Alternative, TailP, check_alternative

Mixture = Literal["uniform", "jeffreys"]
MIXTURES: Final[tuple[Mixture, ...]] = get_args(Mixture)

_LN2: Final = math.log(2.0)
_LN10: Final = math.log(10.0)
_STEPS: Final = 100
_CLOSE: Final = 1e-9  # relative; the error after a Newton step is about the square of the step
_ALIKE: Final = 1e-15  # v is the logarithm of what is sought: a smaller step changes no digit of it


def log10_e(
    n_ab: npt.ArrayLike,
    n_ba: npt.ArrayLike,
    alternative: Alternative = "two-sided",
    mixture: Mixture = "uniform",
) -> Floats:
    """log10 of the e-value against theta = 1/2 (one-sided: against theta on the other side of it, too).

    Args:
        n_ab: pairs that B lost (A correct, B wrong), shape (n_slices,), whole numbers of any width.
        n_ba: pairs that B won, same shape.
        alternative: "two-sided", "better" or "worse"; one-sided wagers are on that half of the thetas only.
        mixture: "uniform", Beta(1, 1): 1/((n + 1) P(X = n_ba)), X ~ Bin(n, 1/2); or "jeffreys", Beta(1/2,
            1/2), two-sided only.

    Returns:
        Array of shape (n_slices,), relative error below 1e-12. No discordant pair: 0, an e-value of 1.

    Raises:
        ValueError: the counts are no counts, differ in length, or there is no such wager.
    """
    _check(alternative, mixture)
    lost, won = as_counts(n_ab, n_ba)
    logs = np.empty(len(lost))
    for rows in chunks(len(lost)):
        few, many = np.minimum(lost[rows], won[rows]), np.maximum(lost[rows], won[rows])
        logs[rows] = (_mixture_term(few, many, mixture) + _half_deviance(few, many)) / _LN10
    if alternative == "two-sided":
        return logs
    right, wrong = (won, lost) if alternative == "better" else (lost, won)
    # The posterior chance of that half, over its prior 1/2: P(Beta(won + 1, lost + 1) > 1/2) is a binomial
    # tail.
    logs += exact(right, wrong + 1, "better").log10_p + math.log10(2.0)
    # Where far more are lost than won, these two all but cancel. What is left is the tail's ratio to its
    # point.
    against = np.flatnonzero((right < wrong) & (right + wrong > LARGEST_N))
    for rows in chunks(len(against)):
        x, n = (column[against[rows]].astype(np.float64) for column in (right, right + wrong))
        logs[against[rows]] = np.log10(tail_ratio(x, n + 1.0) / (n + 1.0 - x))
    return logs


def anytime_p(log10_e_value: Floats) -> TailP:
    """min(1, 1/e): a p-value that holds at any time, and every time one looks."""
    log10_p = np.minimum(-log10_e_value, 0.0) + 0.0
    with np.errstate(under="ignore"):
        return TailP(np.clip(np.power(10.0, log10_p), SMALLEST_P, 1.0), log10_p)


def confidence_sequence(
    n_ab: npt.ArrayLike, n_ba: npt.ArrayLike, confidence: float = 0.95, mixture: Mixture = "uniform"
) -> Interval:
    """Limits of theta, the share of discordant pairs that B wins, that hold at all times together.

    They exclude 1/2 exactly where the two-sided e-value has reached 1/(1 - confidence).

    Args:
        n_ab: pairs that B lost, shape (n_slices,), whole numbers of any width.
        n_ba: pairs that B won, same shape.
        confidence: strictly between 0 and 1.
        mixture: as in `log10_e`.

    Returns:
        Interval within [0, 1], relative error below 1e-12. No discordant pair: (0, 1); none lost: high is 1,
        none won: low is 0.

    Raises:
        ValueError: the counts are no counts, differ in length, or confidence is out of range.
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence!r}")
    _check("two-sided", mixture)
    lost, won = as_counts(n_ab, n_ba)
    low, high = np.empty(len(lost)), np.empty(len(lost))
    for rows in chunks(len(lost)):
        x, y = won[rows], lost[rows]
        reach = -math.log1p(-confidence) - _mixture_term(x, y, mixture)
        low[rows], high[rows] = _limit(x, y, reach, -1.0), _limit(x, y, reach, 1.0)
    return Interval(low, high)


def _check(alternative: Alternative, mixture: Mixture) -> None:
    check_alternative(alternative)
    if mixture not in MIXTURES:
        raise ValueError(f"mixture must be one of {', '.join(MIXTURES)}, not {mixture!r}")
    if mixture != "uniform" and alternative != "two-sided":
        raise ValueError("one-sided e-values have the uniform mixture")


def _half_deviance(few: Ints, many: Ints) -> Floats:
    """D from 1/2; n log 2 where all pairs fell on one side."""
    x, n = np.maximum(few, 1).astype(np.float64), (few + many).astype(np.float64)
    high, low = half_deviance(x, np.maximum(n, 2.0), (many - few).astype(np.float64))
    return np.where(few == 0, n * _LN2, high + low)


def _mixture_term(x: Ints, y: Ints, mixture: Mixture) -> Floats:
    """The r above: log(B(a + x, a + y)/B(a, a)) + n log n - x log x - y log y."""
    n = (x + y).astype(np.float64)
    won, lost = x.astype(np.float64), y.astype(np.float64)
    whole = np.maximum(n, 1.0)
    if mixture == "jeffreys":
        errors = half_integer_error(won) + half_integer_error(lost) - stirling_error(whole)
        return np.where(n == 0, 0.0, 0.5 * np.log(2.0 / (math.pi * whole)) + errors)
    one, other = np.maximum(won, 1.0), np.maximum(lost, 1.0)
    errors = stirling_error(one) + stirling_error(other) - stirling_error(whole)
    middle = 0.5 * np.log(2.0 * math.pi * one * (other / whole)) + errors
    return np.where((x == 0) | (y == 0), 0.0, middle) - np.log1p(n)


def _limit(x: Ints, y: Ints, reach: Floats, side: float) -> Floats:
    """The theta below (side -1) or above x/n with D(theta) = reach."""
    n = np.maximum(x + y, 1).astype(np.float64)
    limit = np.full(len(n), 0.0 if side < 0 else 1.0)
    if side < 0:
        full = (y == 0) & (x > 0)
        limit[full] = np.exp(-reach[full] / n[full])
    else:
        none = (x == 0) & (y > 0)
        limit[none] = -np.expm1(-reach[none] / n[none])
    inside = (x > 0) & (y > 0)
    if inside.any():
        limit[inside] = _solve(
            x[inside].astype(np.float64), y[inside].astype(np.float64), reach[inside], side
        )
    return limit


def _solve(x: Floats, y: Floats, reach: Floats, side: float) -> Floats:
    """x/n exp(v), where D = -x v - y log(1 - x/y (exp(v) - 1)) is convex in v and 0 at 0.

    In v the limit keeps its relative precision even where it is far below x/n. Newton's steps on sqrt(D),
    which is nearly straight, within a bracket.
    """
    n, ratio = x + y, x / y
    x_over_n = x / n
    # Below 0, D >= -x v - x; above, it is infinite where theta = 1.
    inner, outer = np.zeros_like(x), -(reach / x + 1.0) if side < 0 else np.log1p(1.0 / ratio)
    goal = np.sqrt(reach)
    v = side * goal * np.sqrt(2.0 * y / (x * n))
    v = np.where(np.abs(v) < np.abs(outer), v, 0.5 * outer)
    found, rows = np.empty_like(x), np.arange(len(x))
    for _ in range(_STEPS):
        grown = ratio * np.expm1(v)
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(np.maximum(-x * v - y * np.log1p(-grown), 0.0))
            slope = x * ((1.0 + ratio) * np.expm1(v) / (1.0 - grown)) / (2.0 * root)
            newton = v - (root - goal) / slope
        beyond = ~(root <= goal)
        inner, outer = np.where(beyond, inner, v), np.where(beyond, v, outer)
        within = (np.minimum(inner, outer) < newton) & (newton < np.maximum(inner, outer))
        # A step out of the bracket by rounding has arrived, too: v is at the bracket's inner end then.
        done = np.abs(newton - v) <= _CLOSE * np.abs(v) + _ALIKE
        v = np.where(within, newton, np.where(done, v, 0.5 * (inner + outer)))
        found[rows] = v
        if done.all():
            break
        going = ~done
        rows, x, y, ratio, goal = rows[going], x[going], y[going], ratio[going], goal[going]
        inner, outer, v = inner[going], outer[going], v[going]
    return x_over_n * np.exp(found)
