"""Tail probabilities that may be far smaller than a float can hold.

Inside this room a probability is a pair: `factor * exp(log_scale)`, the scale <= 0 carrying the size. A pair
never underflows; `to_tail` turns pairs into what a report prints.
"""

from __future__ import annotations

import math
from typing import Final, Literal, NamedTuple, get_args

import numpy as np

from streamcmp.stats.counts import Bools, Floats

Alternative = Literal["two-sided", "better", "worse"]
ALTERNATIVES: Final[tuple[Alternative, ...]] = get_args(Alternative)

# The smallest normal double. Below it p is not known to its last digit any more, and soon is 0.
SMALLEST_P: Final = 2.2250738585072014e-308
_LN10: Final = math.log(10.0)


class TailP(NamedTuple):
    """P-values of many slices.

    `p` lies in [SMALLEST_P, 1]: a smaller one is replaced by that upper bound. `log10_p` (<= 0, finite) is
    always the truth. Both have shape (n_slices,).
    """

    p: Floats
    log10_p: Floats


def check_alternative(alternative: str) -> None:
    """Raise ValueError unless `alternative` is one of ALTERNATIVES."""
    if alternative not in ALTERNATIVES:
        raise ValueError(f"alternative must be one of {', '.join(ALTERNATIVES)}, not {alternative!r}")


def to_tail(factor: Floats, log_scale: Floats, complement: Bools | None = None) -> TailP:
    """P-values `factor * exp(log_scale)`; where `complement` is true, 1 minus that.

    The exponential is taken in two halves: exp(log_scale) alone leaves the normal doubles, and with them
    loses digits, slightly before its product with the factor does.
    """
    with np.errstate(
        under="ignore", divide="ignore"
    ):  # an empty tail, log 0, is there to take its complement
        half = np.exp(0.5 * log_scale)
        p = factor * half * half
        log10_p = np.log10(factor) + log_scale / _LN10
    if complement is not None and complement.any():
        rest = np.minimum(p[complement], 1.0)
        p[complement] = 1.0 - rest
        log10_p[complement] = np.log1p(-rest) / _LN10
    return TailP(np.clip(p, SMALLEST_P, 1.0), np.minimum(log10_p, 0.0))


def concatenate(parts: list[TailP]) -> TailP:
    """The p-values of several chunks, one after the other; of none, empty arrays."""
    if not parts:
        return TailP(np.empty(0), np.empty(0))
    return TailP(np.concatenate([part.p for part in parts]), np.concatenate([part.log10_p for part in parts]))
