"""Type I error, power and coverage in docs/statistics.md, by enumeration: no random numbers.

python -m scripts.operating_characteristics            all tables
python -m scripts.operating_characteristics tests      how often each test claims a difference
python -m scripts.operating_characteristics intervals  how often each interval holds the true gain
python -m scripts.operating_characteristics margin     how often a margin is claimed to be kept

n pairs are lost with chance (psi - gain)/2, won with (psi + gain)/2; of the others 80 % are right by both.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from streamcmp import stats

Floats = npt.NDArray[np.float64]
_BOTH: Final = 0.8
_TESTS: Final[tuple[stats.Test, ...]] = ("exact", "mid-p", "chi2", "chi2-corrected", "auto")
# (n, psi): few and many pairs, few and many of them discordant.
DESIGNS: Final = ((50, 0.1), (50, 0.4), (200, 0.1), (200, 0.4), (1000, 0.02), (1000, 0.1))
_GAINS: Final = {50: 0.1, 200: 0.05, 1000: 0.02}
_MARGIN: Final = 0.05


@cache
def outcomes(n: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Every (n_ab, n_ba) of n pairs."""
    lost = np.repeat(np.arange(n + 1), np.arange(n + 1, 0, -1))
    won = np.concatenate([np.arange(n + 1 - k) for k in range(n + 1)])
    return lost, won


def chances(n: int, p_lost: float, p_won: float) -> Floats:
    """The chance of each outcome."""
    lost, won = outcomes(n)
    discordant = lost + won
    psi = p_lost + p_won
    of_discordant = stats.binomial_theta.point(discordant, np.full_like(discordant, n), psi)
    return of_discordant * stats.binomial_theta.point(won, discordant, p_won / psi)


def tests() -> str:
    """Per design and test: the chance of p <= .05 with equal models, and with a gain."""
    lines = _head(["n", "psi", "gain", *_TESTS])
    for n, psi in DESIGNS:
        lost, won = outcomes(n)
        claimed = {test: stats.chosen(test, lost, won).tail.p <= 0.05 for test in _TESTS}
        for gain in (0.0, min(_GAINS[n], psi)):
            weights = chances(n, (psi - gain) / 2, (psi + gain) / 2)
            rates = (float(weights[claimed[test]].sum()) for test in _TESTS)
            lines.append(_row([f"{n:,}", f"{psi:g}", f"{gain:g}", *(f"{rate:.4f}" for rate in rates)]))
    return "\n".join(lines)


def intervals() -> str:
    """Per design and interval: the chance that the 95 % interval holds the gain, and its mean width."""
    lines = _head(["n", "psi", "gain", *stats.INTERVALS])
    for n, psi in DESIGNS:
        lost, won = outcomes(n)
        for gain in (0.0, min(_GAINS[n], psi)):
            weights = chances(n, (psi - gain) / 2, (psi + gain) / 2)
            # Outcomes too unlikely to show in four digits are left out.
            likely = weights > 1e-10
            table = (lost[likely], won[likely], weights[likely])
            cells = [_coverage(name, n, gain, *table) for name in stats.INTERVALS]
            lines.append(_row([f"{n:,}", f"{psi:g}", f"{gain:g}", *cells]))
    return "\n".join(lines)


def _coverage(name: str, n: int, gain: float, *table: npt.NDArray[Any]) -> str:
    """Of a `table` of n_ab, n_ba and chances; Newcombe's interval needs the agreement cells too."""
    lost, won, weights = table
    both = None
    if name in stats.NEED_AGREEMENT:
        parts = [_middle(int(same)) for same in n - lost - won]
        sizes = np.array([len(part[0]) for part in parts])
        both = np.concatenate([part[0] for part in parts])
        weights = np.repeat(weights, sizes) * np.concatenate([part[1] for part in parts])
        lost, won = np.repeat(lost, sizes), np.repeat(won, sizes)
    low, high = stats.INTERVALS[name](stats.Cells(lost, won, np.full_like(lost, n), both), 0.95)
    holds = (low <= gain + 1e-12) & (gain - 1e-12 <= high)
    width = float(weights @ (high - low)) * 100
    return f"{float(weights[holds].sum()):.4f} ({width:.1f})"


@cache
def _middle(same: int) -> tuple[npt.NDArray[np.int64], Floats]:
    """both_correct among `same` pairs, and its chances, thinned to 40 values."""
    both = np.arange(same + 1, dtype=np.int64)
    weights = stats.binomial_theta.point(both, np.full_like(both, same), _BOTH)
    likely = weights > 1e-6
    step = max(int(likely.sum()) // 40, 1)
    both, weights = both[likely][::step], weights[likely][::step]
    return both, weights / weights.sum()


def margin() -> str:
    """Per design: the chance of claiming non-inferiority and equivalence, at their borders and within."""
    lines = _head(["n", "psi", "gain", "not worse by 5 points", "equivalent within 5 points"])
    for n, psi in DESIGNS:
        if psi <= _MARGIN:
            continue
        lost, won = outcomes(n)
        pairs = np.full_like(lost, n)
        claims = [
            function(lost, won, pairs, _MARGIN).p <= 0.05
            for function in (stats.noninferior, stats.equivalent)
        ]
        for gain in (-_MARGIN, 0.0, _MARGIN):
            weights = chances(n, (psi - gain) / 2, (psi + gain) / 2)
            rates = (f"{float(weights[claimed].sum()):.4f}" for claimed in claims)
            lines.append(_row([f"{n:,}", f"{psi:g}", f"{gain:g}", *rates]))
    return "\n".join(lines)


def _head(columns: Iterable[str]) -> list[str]:
    names = list(columns)
    return [_row(names), f"|{'---:|' * len(names)}"]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


TABLES: Final = {"tests": tests, "intervals": intervals, "margin": margin}

if __name__ == "__main__":
    for name in sys.argv[1:] or TABLES:
        print(f"{TABLES[name]()}\n")
