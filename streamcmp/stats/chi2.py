"""McNemar's test from the chi-square distribution with one degree of freedom, plain and corrected.

McNemar, Psychometrika 12 (1947); the continuity correction is Edwards', Psychometrika 13 (1948).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from streamcmp.stats.counts import Floats, Ints, as_counts, chunks
from streamcmp.stats.numeric import half_square_over, scaled_erfc
from streamcmp.stats.tail import Alternative, TailP, check_alternative, concatenate, to_tail


def chi2(n_ab: npt.ArrayLike, n_ba: npt.ArrayLike, alternative: Alternative = "two-sided") -> TailP:
    """P-values of McNemar's chi-square, (n_ba - n_ab)^2 / (n_ab + n_ba), without correction.

    An approximation that may exceed its level; one-sided through its signed root z, positive when B is
    better.

    Args:
        n_ab: pairs that B lost (A correct, B wrong), shape (n_slices,), whole numbers of any width.
        n_ba: pairs that B won, same shape.
        alternative: "two-sided", "better" or "worse".

    Returns:
        TailP of shape (n_slices,), relative error below 1e-14. No discordant pair or a tie: 1 two-sided, 1/2
        one-sided.

    Raises:
        ValueError: the counts are no counts, differ in length, or the alternative is unknown.
    """
    return _p(n_ab, n_ba, alternative, correction=0)


def chi2_corrected(n_ab: npt.ArrayLike, n_ba: npt.ArrayLike, alternative: Alternative = "two-sided") -> TailP:
    """P-values of Edwards' corrected chi-square, max(|n_ba - n_ab| - 1, 0)^2 / (n_ab + n_ba).

    It follows the exact test closely from some 25 discordant pairs on. One-sided through the signed root, as
    R's prop.test does. Arguments, errors and edge cases as `chi2`; a difference of one pair counts as a tie.
    """
    return _p(n_ab, n_ba, alternative, correction=1)


def chi2_statistic(n_ab: npt.ArrayLike, n_ba: npt.ArrayLike) -> Floats:
    """(n_ba - n_ab)^2 / (n_ab + n_ba), shape (n_slices,); 0 where there is no discordant pair."""
    return _statistic(n_ab, n_ba, correction=0)


def chi2_corrected_statistic(n_ab: npt.ArrayLike, n_ba: npt.ArrayLike) -> Floats:
    """max(|n_ba - n_ab| - 1, 0)^2 / (n_ab + n_ba), shape (n_slices,); 0 where there is no discordant pair."""
    return _statistic(n_ab, n_ba, correction=1)


def _statistic(n_ab: npt.ArrayLike, n_ba: npt.ArrayLike, correction: int) -> Floats:
    lost, won = as_counts(n_ab, n_ba)
    distance, n = _distance(lost, won, correction)
    return distance * (distance / n)


def _distance(lost: Ints, won: Ints, correction: int) -> tuple[Floats, Floats]:
    """The corrected |n_ba - n_ab|, and n, at least 1 so that it can divide."""
    distance = np.maximum(np.abs(won - lost) - correction, 0)
    return distance.astype(np.float64), np.maximum(lost + won, 1).astype(np.float64)


def _p(n_ab: npt.ArrayLike, n_ba: npt.ArrayLike, alternative: Alternative, correction: int) -> TailP:
    check_alternative(alternative)
    lost, won = as_counts(n_ab, n_ba)
    return concatenate([_chunk(lost[rows], won[rows], alternative, correction) for rows in chunks(len(lost))])


def _chunk(lost: Ints, won: Ints, alternative: Alternative, correction: int) -> TailP:
    distance, n = _distance(lost, won, correction)
    high, low = half_square_over(distance, n)  # z^2 / 2
    two_sided = scaled_erfc(np.sqrt(high)) * np.exp(-low)
    two_sided[distance == 0] = 1.0
    if alternative == "two-sided":
        return to_tail(two_sided, -high)
    against = won < lost if alternative == "better" else lost < won
    return to_tail(0.5 * two_sided, -high, against)
