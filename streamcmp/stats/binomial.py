"""McNemar's test from the binomial distribution: exact and mid-p.

Under the null hypothesis each discordant pair is a fair coin: the number of pairs that B won is X ~ Bin(n,
1/2), n = n_ab + n_ba. The sources are McNemar 1947 and, for mid-p, Fagerland, Lydersen and Laake, BMC Medical
Research Methodology 13:91 (2013).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from streamcmp.stats import large_tails, small_tails
from streamcmp.stats.counts import Bools, Floats, Ints, as_counts, chunks
from streamcmp.stats.tail import Alternative, TailP, check_alternative, concatenate, to_tail


class ExactAndMidP(NamedTuple):
    """The two p-values of the same slices."""

    exact: TailP
    mid_p: TailP


def exact(n_ab: npt.ArrayLike, n_ba: npt.ArrayLike, alternative: Alternative = "two-sided") -> TailP:
    """Exact McNemar p-values, never above their nominal level.

    two-sided: min(1, 2 P(X <= min(n_ab, n_ba))); better (B is better): P(X >= n_ba); worse: P(X >= n_ab).

    Args:
        n_ab: pairs that B lost (A correct, B wrong), shape (n_slices,), whole numbers of any width.
        n_ba: pairs that B won, same shape.
        alternative: "two-sided", "better" or "worse".

    Returns:
        TailP of shape (n_slices,). Correctly rounded up to 1023 discordant pairs; beyond, relative error
        below 1e-12 (measured: see docs/statistics.md) up to 1e12. No discordant pair: 1. |n_ab - n_ba| <= 1,
        two-sided: 1.

    Raises:
        ValueError: the counts are no counts, differ in length, or the alternative is unknown.
    """
    return _all(n_ab, n_ba, alternative, ("exact",)).exact


def mid_p(n_ab: npt.ArrayLike, n_ba: npt.ArrayLike, alternative: Alternative = "two-sided") -> TailP:
    """Mid-p McNemar p-values: outcomes as extreme as the observed one count half.

    two-sided: the exact p minus P(X = n_ba), at a tie 1 - P(X = n_ba)/2; better: P(X > n_ba) + P(X = n_ba)/2;
    worse: the same of n_ab. Arguments, errors and accuracy as `exact`. No discordant pair: 1 two-sided, by
    convention (the bare formula says 1/2), and 1/2 one-sided.
    """
    return _all(n_ab, n_ba, alternative, ("mid_p",)).mid_p


def exact_and_mid_p(
    n_ab: npt.ArrayLike, n_ba: npt.ArrayLike, alternative: Alternative = "two-sided"
) -> ExactAndMidP:
    """Both p-values, for the price of one; see `exact` and `mid_p`."""
    return _all(n_ab, n_ba, alternative, ExactAndMidP._fields)


def _all(
    n_ab: npt.ArrayLike, n_ba: npt.ArrayLike, alternative: Alternative, wanted: Sequence[str]
) -> ExactAndMidP:
    """Both, but for the one that is not wanted: that comes out empty."""
    check_alternative(alternative)
    lost, won = as_counts(n_ab, n_ba)
    parts = [_chunk(lost[rows], won[rows], alternative, wanted) for rows in chunks(len(lost))]
    return ExactAndMidP(
        concatenate([part.exact for part in parts]), concatenate([part.mid_p for part in parts])
    )


class _DoubledTails(NamedTuple):
    """2 P(X <= k) = upto exp(log_scale) and 2 P(X < k) = below exp(log_scale), k = min(n_ab, n_ba)."""

    upto: Floats
    below: Floats
    log_scale: Floats


def _chunk(lost: Ints, won: Ints, alternative: Alternative, wanted: Sequence[str]) -> ExactAndMidP:
    n = lost + won
    tails = _doubled_tails(np.minimum(lost, won), n)
    against = None
    if alternative == "two-sided":
        factors = _two_sided(tails, n, np.abs(won - lost))
    else:
        # The counts point away from the alternative, and p is the other tail's complement.
        against = won < lost if alternative == "better" else lost < won
        factors = _one_sided(tails, against)
    return ExactAndMidP(
        *(
            to_tail(factor, tails.log_scale, against) if name in wanted else TailP(np.empty(0), np.empty(0))
            for name, factor in zip(ExactAndMidP._fields, factors, strict=True)
        )
    )


def _two_sided(tails: _DoubledTails, n: Ints, difference: Ints) -> tuple[Floats, Floats]:
    # Around the centre both tails overlap in the observed outcome, which counts once. log_scale is 0 there.
    upto = np.where(difference <= 1, 1.0, tails.upto)
    return upto, np.where(n == 0, 1.0, 0.5 * (upto + tails.below))


def _one_sided(tails: _DoubledTails, against: Bools) -> tuple[Floats, Floats]:
    return np.where(against, 0.5 * tails.below, 0.5 * tails.upto), 0.25 * (tails.upto + tails.below)


def _doubled_tails(k: Ints, n: Ints) -> _DoubledTails:
    tails = _DoubledTails(np.empty(len(k)), np.empty(len(k)), np.zeros(len(k)))
    small = n <= small_tails.LARGEST_N
    if small.any():
        tails.upto[small], tails.below[small] = small_tails.doubled_tails(k[small], n[small])
    if not small.all():
        large = ~small
        tails.upto[large], tails.below[large], tails.log_scale[large] = large_tails.doubled_tails(
            k[large], n[large]
        )
    return tails
