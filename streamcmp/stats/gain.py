"""The gain, accuracy of B minus accuracy of A, and its confidence intervals (but Tango's: tango.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from streamcmp.stats.counts import Floats, as_counts
from streamcmp.stats.interval import Interval, divisor
from streamcmp.stats.normal import two_sided_z
from streamcmp.stats.tango import tango


def gain(n_ab: npt.ArrayLike, n_ba: npt.ArrayLike, n: npt.ArrayLike) -> Floats:
    """(n_ba - n_ab)/n, in [-1, 1], positive when B is better; NaN where n = 0.

    Args:
        n_ab: pairs that B lost (A correct, B wrong), shape (n_slices,), whole numbers of any width.
        n_ba: pairs that B won, same shape.
        n: all pairs, same shape.

    Raises:
        ValueError: the counts are no counts, differ in length, or more are discordant than there are pairs.
    """
    lost, won, pairs = as_counts(n_ab, n_ba, n)
    _check_total(lost + won, pairs)
    return (won - lost) / divisor(pairs)


def wald(n_ab: npt.ArrayLike, n_ba: npt.ArrayLike, n: npt.ArrayLike, confidence: float = 0.95) -> Interval:
    """Wald's interval: gain -+ z sqrt((psi - gain^2)/n), psi the discordant share; clipped to [-1, 1].

    The textbook interval; too short for small slices, and of no length at all where no pair is discordant.
    Arguments and errors as `gain`, and ValueError for a confidence outside (0, 1). NaN where n = 0.
    """
    return _wald(n_ab, n_ba, n, confidence, per_outcome=0.0, pseudo_pairs=0)


def bonett_price(
    n_ab: npt.ArrayLike, n_ba: npt.ArrayLike, n: npt.ArrayLike, confidence: float = 0.95
) -> Interval:
    """Bonett and Price's interval (Journal of Educational and Behavioral Statistics 37, 2012).

    Wald's after one pair is added to each discordant outcome: centred on (n_ba - n_ab)/(n + 2), not on the
    gain; clipped to [-1, 1]. Arguments and errors as `wald`. NaN where n = 0.
    """
    return _wald(n_ab, n_ba, n, confidence, per_outcome=1.0, pseudo_pairs=2)


def agresti_min(
    n_ab: npt.ArrayLike, n_ba: npt.ArrayLike, n: npt.ArrayLike, confidence: float = 0.95
) -> Interval:
    """Agresti and Min's interval (Statistics in Medicine 24, 2005), clipped to [-1, 1].

    Wald's after half a pair is added to each of the four cells. Arguments and errors as `wald`. NaN where n =
    0.
    """
    return _wald(n_ab, n_ba, n, confidence, per_outcome=0.5, pseudo_pairs=2)


def newcombe(
    both_correct: npt.ArrayLike,
    n_ab: npt.ArrayLike,
    n_ba: npt.ArrayLike,
    both_wrong: npt.ArrayLike,
    confidence: float = 0.95,
) -> Interval:
    """Newcombe's interval of the gain (Statistics in Medicine 17, 1998, method 10).

    The Wilson limits of both accuracies, squared and added with the correlation phi of the two models, whose
    numerator A = both_correct both_wrong - n_ab n_ba is corrected to max(A - n/2, 0) where A >= 0; phi = 0
    where a margin is empty.

    Args:
        both_correct: pairs that both models got right, shape (n_slices,), whole numbers of any width.
        n_ab: pairs that B lost (A correct, B wrong), same shape.
        n_ba: pairs that B won, same shape.
        both_wrong: pairs that both got wrong, same shape.
        confidence: strictly between 0 and 1.

    Returns:
        Interval within [-1, 1]; NaN where all four cells are 0.

    Raises:
        ValueError: the counts are no counts, differ in length, or confidence is out of range.
    """
    z = two_sided_z(confidence)
    right, lost, won, wrong = as_counts(both_correct, n_ab, n_ba, both_wrong)
    n = divisor(right + lost + won + wrong)
    b_right, b_wrong, a_right, a_wrong = (
        x.astype(np.float64) for x in (right + won, lost + wrong, right + lost, won + wrong)
    )
    association = right.astype(np.float64) * wrong - lost.astype(np.float64) * won
    corrected = np.where(association >= 0, np.maximum(association - 0.5 * n, 0.0), association)
    margins = np.sqrt(b_right) * np.sqrt(b_wrong) * np.sqrt(a_right) * np.sqrt(a_wrong)
    phi = np.where(margins > 0, corrected / np.where(margins > 0, margins, 1.0), 0.0)

    b_down, b_up = _wilson_reach(b_right, b_wrong, n, z)
    a_down, a_up = _wilson_reach(a_right, a_wrong, n, z)
    centre = (won - lost) / n
    low = centre - np.sqrt(np.maximum(b_down**2 - 2.0 * phi * b_down * a_up + a_up**2, 0.0))
    high = centre + np.sqrt(np.maximum(a_down**2 - 2.0 * phi * a_down * b_up + b_up**2, 0.0))
    return Interval(np.maximum(low, -1.0), np.minimum(high, 1.0))


@dataclass(frozen=True)
class Cells:
    """The counts an interval of the gain may need, each of shape (n_slices,).

    `both_correct` is None where only n, n_ab and n_ba are known; an interval that needs it then raises.
    """

    n_ab: npt.ArrayLike
    n_ba: npt.ArrayLike
    n: npt.ArrayLike
    both_correct: npt.ArrayLike | None = None


def _newcombe_of_cells(cells: Cells, confidence: float) -> Interval:
    if cells.both_correct is None:
        raise ValueError("newcombe needs the agreement cells: both_correct is unknown")
    lost, won, pairs, right = as_counts(cells.n_ab, cells.n_ba, cells.n, cells.both_correct)
    _check_total(right + lost + won, pairs)
    return newcombe(right, lost, won, pairs - right - lost - won, confidence)


# What --ci chooses from: name -> function of (cells, confidence).
INTERVALS: Final = MappingProxyType[str, Callable[[Cells, float], Interval]](
    {
        "tango": lambda cells, confidence: tango(cells.n_ab, cells.n_ba, cells.n, confidence),
        "newcombe": _newcombe_of_cells,
        "bonett-price": lambda cells, confidence: bonett_price(cells.n_ab, cells.n_ba, cells.n, confidence),
        "agresti-min": lambda cells, confidence: agresti_min(cells.n_ab, cells.n_ba, cells.n, confidence),
        "wald": lambda cells, confidence: wald(cells.n_ab, cells.n_ba, cells.n, confidence),
    }
)
# Those that cannot be computed from n, n_ab and n_ba alone.
NEED_AGREEMENT: Final = frozenset({"newcombe"})


def _check_total(part: npt.NDArray[np.int64], whole: npt.NDArray[np.int64]) -> None:
    if (part > whole).any():
        raise ValueError("the cells of a slice add up to more than its pairs")


def _wald(
    n_ab: npt.ArrayLike,
    n_ba: npt.ArrayLike,
    n: npt.ArrayLike,
    confidence: float,
    *,
    per_outcome: float,
    pseudo_pairs: int,
) -> Interval:
    """Wald's interval after `per_outcome` is added to each discordant outcome and `pseudo_pairs` to n."""
    z = two_sided_z(confidence)
    lost, won, pairs = as_counts(n_ab, n_ba, n)
    _check_total(lost + won, pairs)
    total = divisor(pairs) + pseudo_pairs
    concordant = (pairs - lost - won) + (pseudo_pairs - 2.0 * per_outcome)
    p_lost, p_won, p_concordant = (
        (lost + per_outcome) / total,
        (won + per_outcome) / total,
        concordant / total,
    )
    # psi - gain^2 without its cancellation where nearly all pairs have one outcome.
    variance = (p_lost + p_won) * p_concordant + 4.0 * p_lost * p_won
    centre = (won - lost) / total
    reach = z * np.sqrt(variance / total)
    return Interval(np.maximum(centre - reach, -1.0), np.minimum(centre + reach, 1.0))


def _wilson_reach(hits: Floats, misses: Floats, n: Floats, z: float) -> tuple[Floats, Floats]:
    """How far Wilson's limits lie below and above hits/n, formed without subtracting them from it."""
    square = z * z
    spread = z * np.sqrt(hits * (misses / n) + 0.25 * square)
    shift = 0.5 * square * ((misses - hits) / n)
    return (spread - shift) / (n + square), (spread + shift) / (n + square)
