"""Non-inferiority and equivalence: is B worse than A by less than a margin, or as good within one?

Tango's score test (Statistics in Medicine 17, 1998) of a gain other than 0: with g = (n_ba - n_ab)/N and V
the variance of one pair's difference under the best-fitting model whose gain is -margin,

    z = (g + margin) / sqrt(V / N).

It rejects at level alpha exactly where Tango's interval at confidence 1 - 2 alpha lies above -margin.
Equivalence is two such tests (TOST: Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987),
each one-sided at alpha.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from streamcmp.stats.counts import Floats, Ints, as_counts
from streamcmp.stats.normal import upper_tail
from streamcmp.stats.tail import TailP


def noninferior(n_ab: npt.ArrayLike, n_ba: npt.ArrayLike, n: npt.ArrayLike, margin: float) -> TailP:
    """One-sided p-values of "the gain is -margin or less" against "it is more".

    Args:
        n_ab: pairs that B lost (A correct, B wrong), shape (n_slices,), whole numbers of any width.
        n_ba: pairs that B won, same shape.
        n: all pairs, n >= n_ab + n_ba, same shape.
        margin: the difference of accuracies that would just matter, strictly between 0 and 1.

    Returns:
        TailP of shape (n_slices,), relative error below 1e-12. n = 0: 1.

    Raises:
        ValueError: the counts are no counts, differ in length, more are discordant than there are pairs, or
            margin is out of range.
    """
    lost, won, pairs = _checked(n_ab, n_ba, n, margin)
    return _p(_score(lost, won, pairs, margin), pairs)


def equivalent(n_ab: npt.ArrayLike, n_ba: npt.ArrayLike, n: npt.ArrayLike, margin: float) -> TailP:
    """P-values of "the gain is outside (-margin, margin)" against "it is inside": the larger of two tests.

    Arguments, errors and accuracy as `noninferior`. n = 0: 1. The same for both ways round of the sides.
    """
    lost, won, pairs = _checked(n_ab, n_ba, n, margin)
    # The smaller z belongs to the larger p.
    z = np.minimum(_score(lost, won, pairs, margin), _score(won, lost, pairs, margin))
    return _p(z, pairs)


def _checked(
    n_ab: npt.ArrayLike, n_ba: npt.ArrayLike, n: npt.ArrayLike, margin: float
) -> tuple[Ints, Ints, Ints]:
    if not 0.0 < margin < 1.0:
        raise ValueError(f"margin must lie between 0 and 1, not {margin!r}")
    lost, won, pairs = as_counts(n_ab, n_ba, n)
    if (lost + won > pairs).any():
        raise ValueError("more discordant pairs than pairs")
    return lost, won, pairs


def _p(z: Floats, pairs: Ints) -> TailP:
    tail = upper_tail(z)
    nothing = pairs == 0
    return TailP(np.where(nothing, 1.0, tail.p), np.where(nothing, 0.0, tail.log10_p))


def _score(lost: Ints, won: Ints, pairs: Ints, margin: float) -> Floats:
    """The z of the gain -margin; 0 where there are no pairs.

    V = 2q + margin (1 - margin), q the restricted estimate of the share won: the larger root of 2q^2 + Bq -
    C, B = 2 (1 - lost/N) margin - (lost + won)/N (1 - margin), C = won/N margin (1 - margin).
    """
    total = np.maximum(pairs, 1).astype(np.float64)
    room = 1.0 - margin
    linear = 2.0 * ((pairs - lost) / total) * margin - ((lost + won) / total) * room
    constant = (won / total) * margin * room
    spread = np.sqrt(linear * linear + 8.0 * constant)
    # Of two forms of the root, the one in which nothing cancels. linear = spread = 0 cannot be: margin > 0.
    positive = linear > 0
    share = np.where(
        positive, 2.0 * constant / np.where(positive, spread + linear, 1.0), 0.25 * (spread - linear)
    )
    excess = (won - lost) + total * margin
    return np.where(pairs > 0, excess / np.sqrt(total * (2.0 * share + margin * room)), 0.0)
