"""What every interval function returns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from streamcmp.stats.counts import Floats, Ints


class Interval(NamedTuple):
    """Confidence limits, low <= high, each of shape (n_slices,); NaN where there is no estimate."""

    low: Floats
    high: Floats


def divisor(n: Ints) -> Floats:
    """N as a float to divide by: NaN for 0, so that what does not exist comes out NaN, without a warning."""
    return np.where(n > 0, n, np.nan)
