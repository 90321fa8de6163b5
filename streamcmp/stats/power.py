"""Planning: how many pairs a comparison needs, and which gain it can show.

A pair is lost with probability p_lost and won with p_won; psi = p_lost + p_won is the share of discordant
pairs. The normal approximation is Connor's (Biometrics 43, 1987), the power of McNemar's uncorrected
chi-square:

    power = Phi((|gain| sqrt(n) - z_alpha sqrt(psi)) / sqrt(psi - gain^2)),

counting rejections in the direction of the true gain only. `exact_power` enumerates instead.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Final

import numpy as np
import numpy.typing as npt

from streamcmp.stats.binomial_theta import lower_tail, point
from streamcmp.stats.choose import Test, chosen
from streamcmp.stats.counts import Floats, Ints, as_counts
from streamcmp.stats.normal import upper_tail

# Beyond so many, enumerating takes long, and Connor's formula is good to three digits of a probability.
MOST_ENUMERATED: Final = 10**7

_UNLIKELY: Final = 1e-15


def minimum_detectable_gain(
    n: npt.ArrayLike, psi: npt.ArrayLike, alpha: float = 0.05, power: float = 0.8, *, sides: int = 2
) -> Floats:
    """The smallest |gain| that `n` pairs show with probability `power`: Connor's, solved for it.

    Args:
        n: pairs, whole numbers, shape (n_slices,).
        psi: shares of discordant pairs, each in [0, 1], same shape.
        alpha: level of the test, strictly between 0 and 1.
        power: strictly between 0 and 1.
        sides: 2, or 1 for a one-sided test.

    Returns:
        Array of shape (n_slices,); NaN where no gain that psi allows (|gain| <= psi) can be shown, so for n =
        0 or psi = 0.

    Raises:
        ValueError: n is no count, or an argument is out of range.
    """
    z_alpha, z_power = _quantiles(alpha, power, sides)
    (pairs,) = as_counts(n)
    share = np.atleast_1d(np.asarray(psi, np.float64))
    if share.shape != pairs.shape or not ((share >= 0) & (share <= 1) | np.isnan(share)).all():
        raise ValueError("psi must be shares between 0 and 1, as many as n")
    total = pairs.astype(np.float64)
    more = total + (z_power * z_power - z_alpha * z_alpha)
    # Solving squares the formula. Where both quantiles have one sign, fewer pairs than z_alpha^2 solve it
    # with the wrong sign: its two sides agree in sign where (n - z_alpha^2)(n + z_power^2) >= 0.
    kept = total >= z_alpha * z_alpha if z_alpha * z_power > 0.0 else True
    reach = np.sqrt(share) * (z_alpha * np.sqrt(total) + z_power * np.sqrt(np.maximum(more, 0.0)))
    gain = reach / (total + z_power * z_power)
    shown = kept & (more >= 0) & (gain <= share) & (share > 0) & (gain > 0)
    return np.where(shown, gain, np.nan)


def sample_size(
    p_lost: float, p_won: float, alpha: float = 0.05, power: float = 0.8, *, sides: int = 2
) -> float:
    """Pairs needed to show the difference with probability `power`; not rounded.

    Args:
        p_lost: the chance that a pair is lost, in [0, 1].
        p_won: that it is won, in [0, 1 - p_lost], and not p_lost.
        alpha: level of the test, strictly between 0 and 1.
        power: strictly between 0 and 1.
        sides: 2, or 1 for a one-sided test.

    Raises:
        ValueError: an argument is out of range.
    """
    z_alpha, z_power = _quantiles(alpha, power, sides)
    psi, gain = _checked(p_lost, p_won)
    if gain == 0.0:
        raise ValueError("no number of pairs shows a gain of 0")
    return ((z_alpha * math.sqrt(psi) + z_power * math.sqrt(psi - gain * gain)) / gain) ** 2


def normal_power(n: int, p_lost: float, p_won: float, alpha: float = 0.05, *, sides: int = 2) -> float:
    """The chance that `n` pairs show the difference, by Connor's formula. Arguments as `sample_size`."""
    z_alpha, _ = _quantiles(alpha, 0.5, sides)
    psi, gain = _checked(p_lost, p_won)
    spread = math.sqrt(max(psi - gain * gain, 0.0))
    ahead = gain * math.sqrt(n) - z_alpha * math.sqrt(psi)
    if spread == 0.0:
        return float(ahead >= 0.0 and psi > 0.0)
    return float(upper_tail(np.array([-ahead / spread])).p[0])


def exact_power(
    n: int, p_lost: float, p_won: float, alpha: float = 0.05, test: Test = "exact", *, sides: int = 2
) -> float:
    """The chance that `n` pairs show the difference, by enumeration of the outcomes.

    Args:
        n: pairs, at least 0; time and memory grow with sqrt(n) (0.1 s at 1e9).
        p_lost: as in `sample_size`, as all further arguments.
        p_won: see p_lost.
        alpha: see p_lost.
        test: as in `chosen`.
        sides: see p_lost.

    Returns:
        A probability, absolute error below 1e-12.

    Raises:
        ValueError: an argument is out of range.
    """
    _quantiles(alpha, 0.5, sides)
    psi, _ = _checked(p_lost, p_won)
    if n == 0 or psi == 0.0:
        return 0.0
    discordant = _likely(n, psi)
    chance = point(discordant, np.full_like(discordant, n), psi)
    few = _most_losses(discordant, alpha / sides, test)
    found = few >= 0
    share_lost = min(p_lost, p_won) / psi
    rejected = lower_tail(few[found], discordant[found], share_lost)
    return min(float(chance[found] @ rejected), 1.0)


def exact_sample_size(
    p_lost: float,
    p_won: float,
    alpha: float = 0.05,
    power: float = 0.8,
    test: Test = "exact",
    *,
    sides: int = 2,
) -> int:
    """The number of pairs from which `exact_power` is `power`. Arguments and errors as `sample_size`.

    Power rises with n in small steps up and smaller ones down; this is a place where it steps over `power`.
    """
    start = sample_size(p_lost, p_won, alpha, power, sides=sides)
    if start > MOST_ENUMERATED:
        raise ValueError(f"more than {MOST_ENUMERATED:,} pairs would be needed")
    # The discrete test needs about 2/gain more than the formula says, or somewhat fewer.
    step = math.ceil(2.0 / abs(p_won - p_lost))
    low = high = max(math.ceil(start), 1)
    while exact_power(high, p_lost, p_won, alpha, test, sides=sides) < power:
        low, high, step = high, high + step, 2 * step
    while low > 0 and exact_power(low, p_lost, p_won, alpha, test, sides=sides) >= power:
        low, high, step = max(low - step, 0), low, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        if exact_power(middle, p_lost, p_won, alpha, test, sides=sides) < power:
            low = middle
        else:
            high = middle
    return high


def _quantiles(alpha: float, power: float, sides: int) -> tuple[float, float]:
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha must lie between 0 and 1, not {alpha!r}")
    if not 0.0 < power < 1.0:
        raise ValueError(f"power must lie between 0 and 1, not {power!r}")
    if sides not in (1, 2):
        raise ValueError(f"sides must be 1 or 2, not {sides!r}")
    return -NormalDist().inv_cdf(alpha / sides), NormalDist().inv_cdf(power)


def _checked(p_lost: float, p_won: float) -> tuple[float, float]:
    """The pair (psi, |gain|)."""
    psi = p_lost + p_won
    if not (p_lost >= 0.0 and p_won >= 0.0 and psi <= 1.0 + 1e-12):
        raise ValueError(
            f"p_lost and p_won must be chances that add up to 1 at most, not {p_lost!r}, {p_won!r}"
        )
    return min(psi, 1.0), abs(p_won - p_lost)


def _likely(n: int, psi: float) -> Ints:
    """The numbers of discordant pairs that are not too unlikely: Bernstein's bound."""
    far = math.log(2.0 / _UNLIKELY)
    reach = math.sqrt(2.0 * far * n * psi * (1.0 - psi)) + far
    first, last = max(math.floor(n * psi - reach), 1), min(math.ceil(n * psi + reach), n)
    return np.arange(first, last + 1, dtype=np.int64)


def _most_losses(n: Ints, level: float, test: Test) -> Ints:
    """The largest number of pairs lost whose one-sided p is at most `level`; -1 where there is none."""
    low, high = np.full(len(n), -1, np.int64), n // 2 + 1
    while True:
        going = high - low > 1
        if not going.any():
            return low
        middle = (low[going] + high[going]) // 2
        enough = chosen(test, middle, n[going] - middle, "better").tail.p <= level
        low[going], high[going] = np.where(enough, middle, low[going]), np.where(enough, high[going], middle)
