"""The interval of one proportion, such as a model's accuracy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from streamcmp.stats.counts import as_counts
from streamcmp.stats.interval import Interval, divisor
from streamcmp.stats.normal import two_sided_z


def wilson(successes: npt.ArrayLike, n: npt.ArrayLike, confidence: float = 0.95) -> Interval:
    """Wilson's score interval of successes/n (Journal of the American Statistical Association 22, 1927).

    Args:
        successes: whole numbers, 0 <= successes <= n, shape (n_slices,).
        n: trials, same shape.
        confidence: strictly between 0 and 1.

    Returns:
        Interval within [0, 1], relative error below 1e-14. No success: low is exactly 0; no failure: high is
        exactly 1; n = 0: NaN.

    Raises:
        ValueError: the counts are no counts, differ in length, exceed n, or confidence is out of range.
    """
    z = two_sided_z(confidence)
    hits, trials = as_counts(successes, n)
    if (hits > trials).any():
        raise ValueError("more successes than trials")
    total = divisor(trials)
    square = z * z
    spread = z * np.sqrt(hits * ((trials - hits) / total) + 0.25 * square)
    # The smaller root through the product of both: their plain difference loses the digits of rare successes.
    larger = hits + 0.5 * square + spread
    low = hits * (hits / total) / larger
    high = np.where(hits == trials, 1.0, larger / (total + square))
    return Interval(low, np.where(trials > 0, high, np.nan))
