"""What comes of looking at a growing log again and again: the table in docs/statistics.md.

python -m scripts.peeking [--runs 20000] [--seed 1]

Many comparisons of two equal models grow pair by pair, up to 10,000 discordant ones. After each 100 somebody
looks, and stops at the first sign of a difference. Printed is the share of comparisons stopped by then, which
is the share of false claims; and beside it, how many comparisons of a model that wins 53 % of its discordant
pairs are stopped.
"""

from __future__ import annotations

import argparse
from typing import Final

import numpy as np

from streamcmp import stats

EVERY, LAST = 100, 10_000
_SHOWN: Final = (100, 500, 1_000, 2_000, 5_000, 10_000)
_ALPHA: Final = 0.05


def stopped(theta: float, runs: int, seed: int) -> dict[str, dict[int, float]]:
    """Rule -> number of discordant pairs -> share of runs stopped by then."""
    rng = np.random.default_rng(seed)
    looks = np.arange(EVERY, LAST + 1, EVERY)
    won = np.cumsum(rng.binomial(EVERY, theta, (runs, len(looks))), axis=1)
    going = {rule: np.ones(runs, np.bool_) for rule in ("exact p", "mid-p", "e-value")}
    found: dict[str, dict[int, float]] = {rule: {} for rule in going}
    for at, n in enumerate(looks.tolist()):
        wins = won[:, at]
        exact, mid = stats.exact_and_mid_p(n - wins, wins)
        enough = stats.log10_e(n - wins, wins) >= -np.log10(_ALPHA)
        for rule, now in (("exact p", exact.p <= _ALPHA), ("mid-p", mid.p <= _ALPHA), ("e-value", enough)):
            going[rule] &= ~now
            if n in _SHOWN:
                found[rule][n] = 1.0 - float(going[rule].mean())
    return found


def table(runs: int, seed: int) -> str:
    """Both shares as Markdown."""
    equal, better = stopped(0.5, runs, seed), stopped(0.53, runs, seed + 1)
    heads = [f"{rule} <= .05: {what}" if rule != "e-value" else f"e-value >= 20: {what}"
             for what in ("equal", "53 % won") for rule in equal]  # fmt: skip
    lines = [f"| discordant pairs | {' | '.join(heads)} |", f"|{'---:|' * (len(heads) + 1)}"]
    for n in _SHOWN:
        shares = [found[rule][n] for found in (equal, better) for rule in found]
        lines.append(f"| {n:,} | {' | '.join(f'{share:.3f}' for share in shares)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(table(given.runs, given.seed))


if __name__ == "__main__":
    main()
