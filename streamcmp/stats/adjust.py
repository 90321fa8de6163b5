"""P-values adjusted for the number of slices tested together, computed on their logarithms.

Holm 1979 and Bonferroni control the chance of any false claim in the family, under any dependence; Hochberg
1988 the same when slices are independent; Benjamini and Hochberg 1995 (bh) and Benjamini and Yekutieli 2001
(by, under any dependence) the expected share of false claims among the claims.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from streamcmp.stats.counts import Floats
from streamcmp.stats.tail import SMALLEST_P, TailP

Adjustment = Literal["none", "bonferroni", "holm", "hochberg", "bh", "by"]
ADJUSTMENTS: Final[tuple[Adjustment, ...]] = get_args(Adjustment)

# Below this log10, products of p itself are not believed: a p may be the upper bound SMALLEST_P instead of
# the truth, and times the number of slices it comes to no more than this.
_TRUST_P_ABOVE: Final = -290.0


def adjust(log10_p: npt.ArrayLike, method: Adjustment) -> Floats:
    """Adjusted log10 p-values of one family.

    Args:
        log10_p: log10 of the p-values of all tested slices, shape (m,), each <= 0 (-inf allowed). NaN marks a
            slice that was not tested: it stays NaN and is not counted.
        method: "none", "bonferroni", "holm", "hochberg", "bh" or "by".

    Returns:
        Array of shape (m,), at most 0 (p = 1), in the order of the input. A larger p never gets a smaller
        adjusted p, and equal ones get equal ones. Of no slices: empty.

    Raises:
        ValueError: the method is unknown, the input not one-dimensional, or a value above 0.
    """
    logs = _checked(log10_p, method)
    order = _tested_in_order(logs)
    return _adjusted(logs, order, method)


def adjust_tails(tails: TailP, method: Adjustment) -> TailP:
    """Adjusted p and log10 p of one family; see `adjust`.

    p is adjusted beside its logarithm, not raised from it, so that a family of one keeps its p to the last
    digit. A slice that was not tested has NaN in `tails.log10_p`, and in both results.
    """
    logs = _checked(tails.log10_p, method)
    order = _tested_in_order(logs)
    adjusted = _adjusted(logs, order, method)
    p = _settle(tails.p[order] * _factors(method, len(order)), order, len(logs), method, one=1.0)
    tiny = adjusted < _TRUST_P_ABOVE
    with np.errstate(under="ignore"):
        # A power of ten loses digits that p itself still has; an adjusted p is never below p.
        p[tiny] = np.maximum(np.power(10.0, adjusted[tiny]), np.maximum(tails.p[tiny], SMALLEST_P))
    return TailP(p, adjusted)


def _checked(log10_p: npt.ArrayLike, method: str) -> Floats:
    if method not in ADJUSTMENTS:
        raise ValueError(f"adjustment must be one of {', '.join(ADJUSTMENTS)}, not {method!r}")
    logs = np.asarray(log10_p, np.float64)
    if logs.ndim != 1:
        raise ValueError(f"p-values must be one-dimensional, not {logs.ndim}-dimensional")
    if (logs > 0).any():
        raise ValueError(f"log10 p above 0: {logs[logs > 0][0]}")
    return logs


def _tested_in_order(logs: Floats) -> npt.NDArray[np.intp]:
    """Where the tested slices are, smallest p first."""
    order = np.argsort(logs, kind="stable")
    return order[: np.count_nonzero(~np.isnan(logs))]  # NaN sorts last


def _adjusted(logs: Floats, order: npt.NDArray[np.intp], method: Adjustment) -> Floats:
    raw = logs[order] + np.log10(_factors(method, len(order)))
    return _settle(raw, order, len(logs), method, one=0.0)


def _settle(raw: Floats, order: npt.NDArray[np.intp], size: int, method: Adjustment, *, one: float) -> Floats:
    """Products in order of p, made monotone and at most `one`, each put where it belongs."""
    if method == "holm":
        raw = np.maximum.accumulate(raw)
    elif method in {"hochberg", "bh", "by"}:
        raw = np.minimum.accumulate(raw[::-1])[::-1]
    settled = np.full(size, np.nan)
    settled[order] = np.minimum(raw, one)
    return settled


def _factors(method: Adjustment, m: int) -> Floats:
    """What each p is multiplied by, smallest p first."""
    if method == "none" or m == 0:
        return np.ones(m)
    if method == "bonferroni":
        return np.full(m, float(m))
    rank = np.arange(1.0, m + 1.0)
    if method in {"holm", "hochberg"}:
        return m + 1.0 - rank
    if method == "bh":
        return m / rank
    return float(np.sum(1.0 / rank)) * m / rank
