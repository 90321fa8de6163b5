"""The normal quantile that intervals are built with."""

from __future__ import annotations

from statistics import NormalDist


def two_sided_z(confidence: float) -> float:
    """The z with P(|Z| <= z) = confidence, Z standard normal.

    The standard library's quantile (Wichura's AS 241) is good to about 1e-15 relative, and 1 - confidence is
    exact for confidence >= 1/2.

    Raises:
        ValueError: confidence is not strictly between 0 and 1.
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence!r}")
    return -NormalDist().inv_cdf(0.5 * (1.0 - confidence))
