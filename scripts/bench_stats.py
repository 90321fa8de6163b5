"""How long the statistics of a million slices take, beside scipy and statsmodels.

python -m scripts.bench_stats [--slices 1000000] [--repeat 3] [--cpu]

Three kinds of families: slices like users (n about 58, 7 discordant pairs), like labels (200 to 20,000
discordant pairs) and huge ones (to 1e11). Seconds, the best of `repeat`; with --cpu of processor time, all
threads together, for machines that do other things too. numpy works on one thread, Polars on all it finds.
`the report` is all that `finalize` does: p-values by four tests, Tango's and Wilson's intervals, Holm,
heterogeneity, verdicts, warnings and the order of rows. statsmodels works slice by slice: it is timed on a
thousand slices, and the time multiplied.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from streamcmp import stats
from streamcmp.analysis import Analysis
from streamcmp.results import finalize
from streamcmp.tally import NOTED, OVERALL, Tally

Counts = npt.NDArray[np.int64]
_SAMPLE = 1_000
ALL_ASKED = Analysis(margin=0.01, odds="mid-p", mde=True, anytime=True)


def families(slices: int, seed: int = 1) -> dict[str, Tally]:
    """Kind -> a tally of `slices` slices, 12 % of whose pairs are discordant."""
    rng = np.random.default_rng(seed)
    sizes = {
        "like users": rng.poisson(7 / 0.12, slices),
        "like labels": rng.integers(200, 20_000, slices) * 25 // 3,
        "huge": (10 ** rng.uniform(4, 11.9, slices)).astype(np.int64),
    }
    return {kind: _tally(n, rng) for kind, n in sizes.items()}


def _tally(n: Counts, rng: np.random.Generator) -> Tally:
    lost = rng.binomial(n, 0.06)
    won = rng.binomial(n - lost, 0.06 / 0.94)
    both = rng.binomial(n - lost - won, 0.8)
    cells = {"both_correct": both, "n_ab": lost, "n_ba": won, "both_wrong": n - lost - won - both}
    table = pl.DataFrame(
        {"slice.k": np.arange(len(n)), **cells, **dict.fromkeys(NOTED, np.zeros(len(n), np.int64))}
    )
    return Tally({OVERALL: table.drop("slice.k").sum(), "k": table}, None)


def _statsmodels(lost: Counts, won: Counts, clock: Callable[[], float]) -> float:
    """Seconds for all slices, from some of them."""
    from statsmodels.stats.contingency_tables import mcnemar

    tables = [[[0, b], [c, 0]] for b, c in zip(lost[:_SAMPLE].tolist(), won[:_SAMPLE].tolist(), strict=True)]
    work = lambda: [mcnemar(table, exact=True) for table in tables]  # noqa: E731 - one of many such
    return _seconds(work, 1, clock) * len(lost) / len(tables)


def _seconds(work: Callable[[], Any], repeat: int, clock: Callable[[], float]) -> float:
    best = float("inf")
    for _ in range(repeat):
        start = clock()
        work()
        best = min(best, clock() - start)
    return best


def measure(tally: Tally, repeat: int, clock: Callable[[], float] = time.perf_counter) -> dict[str, float]:
    """What was measured -> seconds, for one family."""
    from scipy import special
    from scipy import stats as scipy_stats

    table = tally.families["k"]
    lost, won = (table[name].to_numpy() for name in ("n_ab", "n_ba"))
    n = table.select(pl.sum_horizontal("both_correct", "n_ab", "n_ba", "both_wrong")).to_series().to_numpy()
    fewer, discordant = np.minimum(lost, won), lost + won

    work: dict[str, Callable[[], Any]] = {
        "the report": lambda: finalize(tally),
        "the report, all asked": lambda: finalize(tally, ALL_ASKED),
        "exact p and mid-p": lambda: stats.exact_and_mid_p(lost, won),
        "exact p: scipy binom.cdf": lambda: np.minimum(1, 2 * scipy_stats.binom.cdf(fewer, discordant, 0.5)),
        "chi2 p": lambda: stats.chi2(lost, won),
        "chi2 p: scipy chi2.sf": lambda: scipy_stats.chi2.sf(
            (won - lost) ** 2 / np.maximum(discordant, 1), 1
        ),
        "Tango": lambda: stats.tango(lost, won, n),
        "odds, mid-p": lambda: stats.odds_interval(lost, won, 0.95, "mid-p"),
        "odds, Clopper-Pearson": lambda: stats.odds_interval(lost, won),
        "Clopper-Pearson: scipy betaincinv": lambda: (
            special.betaincinv(won + 1, np.maximum(lost, 1), 0.975),
            special.betaincinv(np.maximum(won, 1), lost + 1, 0.025),
        ),
        "non-inferiority and equivalence": lambda: (
            stats.noninferior(lost, won, n, 0.01),
            stats.equivalent(lost, won, n, 0.01),
        ),
        "e-value and confidence sequence": lambda: (
            stats.log10_e(lost, won),
            stats.confidence_sequence(lost, won),
        ),
        "heterogeneity": lambda: stats.heterogeneity.of_theta(lost, won),
    }
    found = {name: _seconds(one, repeat, clock) for name, one in work.items()}
    found["exact p: statsmodels mcnemar"] = _statsmodels(lost, won, clock)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--slices", type=int, default=10**6)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--cpu", action="store_true")
    given = parser.parse_args()
    clock = time.process_time if given.cpu else time.perf_counter
    columns = {kind: measure(tally, given.repeat, clock) for kind, tally in families(given.slices).items()}
    print(f"| seconds for {given.slices:,} slices | {' | '.join(columns)} |")
    print(f"|---|{'---:|' * len(columns)}")
    for name in sorted(next(iter(columns.values())), key=_place):
        print(f"| {name} | {' | '.join(f'{found[name]:.2f}' for found in columns.values())} |")


def _place(name: str) -> tuple[bool, str]:
    return not name.startswith("the report"), name.lower()


if __name__ == "__main__":
    main()
