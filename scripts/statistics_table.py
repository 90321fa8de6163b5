"""The numbers in docs/statistics.md.

python scripts/statistics_table.py            the table: where the four tests agree
python scripts/statistics_table.py accuracy   errors against 50-digit arithmetic (needs mpmath; half a minute)
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from streamcmp import stats

SIZES = (10, 15, 20, 24, 25, 30, 50, 100, 200, 500, 1_000, 10_000, 100_000, 1_000_000)
TESTS: dict[str, Callable[..., stats.TailP]] = {
    "exact": stats.exact,
    "mid-p": stats.mid_p,
    "chi2": stats.chi2,
    "chi2-corrected": stats.chi2_corrected,
}


def table() -> str:
    """Where the tests agree, as Markdown.

    For every split of n discordant pairs whose exact p lies between .01 and .10: the p farthest from the
    exact one, as a ratio. And, if the models are equal, the true chance that p <= .05.
    """
    others = list(TESTS)[1:]
    heads = [
        "n_discordant",
        *(f"{name} / exact" for name in others),
        *(f"{name}: false claims" for name in TESTS),
    ]
    lines = [f"| {' | '.join(heads)} |", f"|{'---:|' * len(heads)}"]
    for n in SIZES:
        fewer = np.arange(n // 2 + 1)
        p = {name: test(fewer, n - fewer).p for name, test in TESTS.items()}
        near = (p["exact"] >= 0.01) & (p["exact"] <= 0.10)
        ratios = (p[name][near] / p["exact"][near] for name in others)
        worst = (f"{ratio[np.argmax(np.abs(np.log(ratio)))]:.3f}" for ratio in ratios)
        claims = (f"{p['exact'][p[name] <= 0.05].max(initial=0.0):.4f}" for name in TESTS)
        lines.append(f"| {n:,} | {' | '.join([*worst, *claims])} |")
    return "\n".join(lines)


def accuracy() -> str:
    """The worst relative errors over 600 random tables, by the size of n_discordant."""
    lines = ["| n_discordant | exact p | mid-p | their log10 |", "|---|---:|---:|---:|"]
    rng = np.random.default_rng(20)
    for smallest, largest in ((1, 1_023), (1_024, 4_000), (4_001, 10**7), (10**7, 10**12)):
        worst = [0.0, 0.0, 0.0]
        for _ in range(150):
            n = int(np.exp(rng.uniform(np.log(smallest), np.log(largest))))
            # From the centre to where p leaves the doubles; every fifth table anywhere.
            z = rng.uniform(0, 37)
            fewer = max(int(n / 2 - z * n**0.5 / 2), 0)
            if rng.uniform() < 0.2:
                fewer = int(rng.integers(0, n // 2 + 1))
            worst = np.maximum(worst, _errors(fewer, n)).tolist()
        lines.append(f"| {smallest:,} to {largest:,} | {' | '.join(f'{error:.0e}' for error in worst)} |")
    return "\n".join(lines)


def _errors(fewer: int, n: int) -> list[float]:
    import mpmath as mp

    with mp.workdps(50):
        point, tail = _point_and_tail(fewer, n)
        capped = mp.mpf(1) if n - 2 * fewer <= 1 else 2 * tail
        truths = capped, capped - point / (2 if n == 2 * fewer else 1)
        ours = stats.exact_and_mid_p(fewer, n - fewer)
        relative, logs = [], []
        for truth, (p, log10_p) in zip(truths, ours, strict=True):
            relative.append(float(abs(p[0] / truth - 1)) if truth >= stats.SMALLEST_P else 0.0)
            logs.append(float(abs(log10_p[0] - mp.log10(truth)) / max(1, abs(mp.log10(truth)))))
    return [*relative, max(logs)]


def _point_and_tail(k: int, n: int) -> tuple[Any, Any]:
    """P(X = k) and P(X <= k), X ~ Bin(n, 1/2), 2k <= n: by a sum, for large k by an integral."""
    import mpmath as mp

    point = mp.exp(mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1) - n * mp.log(2))
    if 2 * k == n:
        return point, (1 + point) / 2
    if k <= 3_000:
        term = ratio = mp.mpf(1)
        for j in range(k):
            term = term * (k - j) / (n - k + j + 1)
            ratio += term
        return point, point * ratio
    m, digits = n - k - 1, 130
    end = min(mp.mpf(1), 4 * digits / ((m - k) + mp.sqrt((m - k) ** 2 + 2 * digits * (m + k))))
    integral = mp.quad(lambda w: mp.exp(m * mp.log1p(-w) + k * mp.log1p(w)), mp.linspace(0, end, 9))
    return point, point * (n - k) * integral


if __name__ == "__main__":
    print({"table": table, "accuracy": accuracy}[(sys.argv[1:] or ["table"])[0]]())
