"""What the tails share: squares without rounding, polynomials, integrals of falling exponentials."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from streamcmp.stats.counts import Floats

# What lies beyond exp(-NEGLIGIBLE) of an integrand's start is smaller than half a unit in the last place.
NEGLIGIBLE: Final = 38.5
_MOST_REST: Final = 500.0
_SPLITTER: Final = 134_217_729.0  # 2^27 + 1

# The 22-point Gauss-Legendre rule on [-1, 1], its positive half: (node, weight), correctly rounded. numpy's
# leggauss has weights that are off by up to 6e-14 at the ends, where these integrands are largest.
_HALF_RULE: Final = (
    (0.0697392733197222212, 0.139251872855631993),
    (0.207860426688221285, 0.136541498346015171),
    (0.341935820892084225, 0.131173504787062371),
    (0.469355837986757026, 0.123252376810512424),
    (0.587640403506911593, 0.112932296080539218),
    (0.69448726318668278, 0.100414144442880965),
    (0.787816805979208162, 0.0859416062170677274),
    (0.865812577720300137, 0.0697964684245204881),
    (0.926956772187174001, 0.0522933351526832859),
    (0.970060497835428727, 0.0337749015848141548),
    (0.994294585482399292, 0.0146279952982722007),
)
# The whole rule on [0, 1].
RULE: Final = tuple(
    (0.5 + 0.5 * side * node, 0.5 * weight) for side in (-1.0, 1.0) for node, weight in _HALF_RULE
)


def two_product(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The product x * y as an unevaluated sum of two doubles, exactly (Dekker 1971)."""
    product = x * y
    x_high, x_low = _split(x)
    y_high, y_low = _split(y)
    error = ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low
    return product, error


def _split(x: Floats) -> tuple[Floats, Floats]:
    scaled = _SPLITTER * x
    high = scaled - (scaled - x)
    return high, x - high


def half_square_over(x: Floats, n: Floats) -> tuple[Floats, Floats]:
    """x^2 / (2 n) as a sum of two doubles, good to about 32 digits; n > 0.

    This is the exponent of every tail here, up to 710 while p is still a double, so that its own rounding
    alone would cost p three digits.
    """
    square, square_error = two_product(x, x)
    twice = 2.0 * n
    quotient = square / twice
    back, back_error = two_product(quotient, twice)
    rest = (((square - back) - back_error) + square_error) / twice
    # Past 1e18 a last digit is worth more than an exponential can take; there it makes no difference.
    return quotient, np.clip(rest, -_MOST_REST, _MOST_REST)


def polynomial(coefficients: Sequence[float], x: Floats) -> Floats:
    """coefficients[0] + coefficients[1] x + ... by Horner's rule, in place."""
    value = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value *= x
        value += coefficient
    return value


def falling_integral(exponent: Callable[[Floats], Floats], reach: Floats) -> Floats:
    """The integral of exp(-exponent(t)) over t in [0, reach].

    `exponent` rises smoothly from 0 to about NEGLIGIBLE at `reach`. For exponents between a straight line and
    a parabola, which is all we have, 22 nodes reach the last digit (20 leave 5e-14).
    """
    total = np.zeros_like(reach)
    for node, weight in RULE:
        total += weight * np.exp(-exponent(node * reach))
    return reach * total


def scaled_erfc(x: Floats) -> Floats:
    """exp(x^2) erfc(x) for x >= 0: 2/sqrt(pi) times the integral of exp(-t^2 - 2 x t) over t > 0."""
    twice = 2.0 * x
    reach = NEGLIGIBLE / (x + np.sqrt(x * x + NEGLIGIBLE))
    return (2.0 / math.sqrt(math.pi)) * falling_integral(lambda t: t * (t + twice), reach)
