"""Two accuracies compared as if their examples were not the same: what not to use for a pair of models.

Shown beside the paired test so that the two can be told apart: the pooled z test ignores that the same
examples were answered, and so is too cautious wherever two models tend to be right together. It is the right
test only of samples that have nothing in common.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from streamcmp.stats.counts import Floats, Ints, as_counts
from streamcmp.stats.interval import Interval, divisor
from streamcmp.stats.normal import two_sided_z, two_tails
from streamcmp.stats.proportion import wilson
from streamcmp.stats.tail import TailP


class TwoProportions(NamedTuple):
    """The z of second share minus first, and its two-sided p; NaN and 1 where a sample is empty."""

    z: Floats
    tail: TailP


def two_proportions(
    hits_a: npt.ArrayLike, n_a: npt.ArrayLike, hits_b: npt.ArrayLike, n_b: npt.ArrayLike
) -> TwoProportions:
    """The pooled z test of hits_b/n_b - hits_a/n_a, two independent samples.

    Args:
        hits_a: successes of the first sample, shape (n_slices,), whole numbers.
        n_a: its size, same shape.
        hits_b: successes of the second sample, same shape.
        n_b: its size, same shape.

    Returns:
        TwoProportions, arrays of shape (n_slices,), relative error below 1e-12. All hits or none in both: z
        0, p 1.

    Raises:
        ValueError: the counts are no counts, differ in length, or there are more hits than trials.
    """
    a, of_a, b, of_b = _checked(hits_a, n_a, hits_b, n_b)
    size_a, size_b = divisor(of_a), divisor(of_b)
    misses_a, misses_b = of_a - a, of_b - b
    pooled = (a + b) / (size_a + size_b) * ((misses_a + misses_b) / (size_a + size_b))
    spread = np.sqrt(pooled * (1.0 / size_a + 1.0 / size_b))
    # (b/n_b - a/n_a) as b misses_a - a misses_b over both sizes: whole numbers up to 2^53.
    difference = b * (misses_a / size_a) - a.astype(np.float64) * (misses_b / size_a)
    z = np.where(spread > 0, difference / size_b / np.where(spread > 0, spread, 1.0), 0.0)
    exists = (of_a > 0) & (of_b > 0)
    tail = two_tails(np.where(exists, z, 0.0))
    return TwoProportions(np.where(exists, z, np.nan), tail)


def wald(
    hits_a: npt.ArrayLike,
    n_a: npt.ArrayLike,
    hits_b: npt.ArrayLike,
    n_b: npt.ArrayLike,
    confidence: float = 0.95,
) -> Interval:
    """Wald's interval of the difference, clipped to [-1, 1]; arguments and errors as `two_proportions`."""
    return _normal(_checked(hits_a, n_a, hits_b, n_b), confidence, added=0)


def agresti_caffo(
    hits_a: npt.ArrayLike,
    n_a: npt.ArrayLike,
    hits_b: npt.ArrayLike,
    n_b: npt.ArrayLike,
    confidence: float = 0.95,
) -> Interval:
    """Agresti and Caffo's (The American Statistician 54, 2000): Wald's, a hit and a miss added to each."""
    return _normal(_checked(hits_a, n_a, hits_b, n_b), confidence, added=1)


def newcombe(
    hits_a: npt.ArrayLike,
    n_a: npt.ArrayLike,
    hits_b: npt.ArrayLike,
    n_b: npt.ArrayLike,
    confidence: float = 0.95,
) -> Interval:
    """Newcombe's (Statistics in Medicine 17, 1998, page 873, method 10), from both Wilson intervals."""
    a, of_a, b, of_b = _checked(hits_a, n_a, hits_b, n_b)
    share_a, share_b = a / divisor(of_a), b / divisor(of_b)
    limits_a, limits_b = wilson(a, of_a, confidence), wilson(b, of_b, confidence)
    difference = share_b - share_a
    return Interval(
        difference - np.hypot(share_b - limits_b.low, limits_a.high - share_a),
        difference + np.hypot(limits_b.high - share_b, share_a - limits_a.low),
    )


def _checked(
    hits_a: npt.ArrayLike, n_a: npt.ArrayLike, hits_b: npt.ArrayLike, n_b: npt.ArrayLike
) -> tuple[Ints, Ints, Ints, Ints]:
    a, of_a, b, of_b = as_counts(hits_a, n_a, hits_b, n_b)
    if (a > of_a).any() or (b > of_b).any():
        raise ValueError("more hits than trials")
    return a, of_a, b, of_b


def _normal(counts: tuple[Ints, Ints, Ints, Ints], confidence: float, *, added: int) -> Interval:
    z = two_sided_z(confidence)
    a, of_a, b, of_b = counts
    size_a, size_b = divisor(of_a) + 2 * added, divisor(of_b) + 2 * added
    share_a, share_b = (a + added) / size_a, (b + added) / size_b
    miss_a, miss_b = (of_a - a + added) / size_a, (of_b - b + added) / size_b
    reach = z * np.sqrt(share_a * miss_a / size_a + share_b * miss_b / size_b)
    difference = share_b - share_a
    return Interval(np.maximum(difference - reach, -1.0), np.minimum(difference + reach, 1.0))
