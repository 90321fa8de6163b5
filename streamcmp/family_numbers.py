"""What the slices of one family say together: do they tell one story, and what is their mean gain?"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import polars as pl

from streamcmp import stats
from streamcmp.analysis import Analysis


class Gains(NamedTuple):
    """The fields of a family of these names; see `report.model.Family`."""

    micro_gain: float | None = None
    macro_gain: float | None = None
    macro_gain_low: float | None = None
    macro_gain_high: float | None = None


def gains(counts: pl.DataFrame, analysis: Analysis) -> Gains:
    """The gain of all pairs, and the mean of the slices'; None where an n is unknown, or no pair."""
    if counts["n"].null_count() or not counts["n"].sum():
        return Gains()
    lost, won, n = (counts[name].to_numpy() for name in ("n_ab", "n_ba", "n"))
    macro = stats.heterogeneity.macro_gain(lost, won, n, analysis.confidence)
    micro = (int(won.sum()) - int(lost.sum())) / int(n.sum())
    low, high = (None if math.isnan(limit) else limit for limit in (macro.low, macro.high))
    return Gains(micro, macro.gain, low, high)


def heterogeneity(counts: pl.DataFrame) -> dict[str, Any] | None:
    """The tests of docs/statistics.md, JSON-ready; None where fewer than two slices have a discordant pair.

    `test` and `p` are the one to go by: chi2, or Tarone's where the slices are too sparse for it.
    """
    lost, won = counts["n_ab"].to_numpy(), counts["n_ba"].to_numpy()
    theta = stats.heterogeneity.of_theta(lost, won)
    if not theta.chi2.df:
        return None
    deciding = theta.tarone if theta.sparse else theta.chi2
    found: dict[str, Any] = {
        "test": "tarone" if theta.sparse else "chi2",
        "p": deciding.p,
        "log10_p": deciding.log10_p,
        "df": theta.chi2.df,
        "chi2": theta.chi2.value,
        "p_chi2": theta.chi2.p,
        "log10_p_chi2": theta.chi2.log10_p,
        "g2": theta.g2.value,
        "p_g2": theta.g2.p,
        "log10_p_g2": theta.g2.log10_p,
        "z_tarone": theta.tarone.value,
        "p_tarone": theta.tarone.p,
        "log10_p_tarone": theta.tarone.log10_p,
        "slices_won": int((won > lost).sum()),
        "slices_lost": int((won < lost).sum()),
        "p_both_ways": stats.heterogeneity.both_ways(lost, won),
    }
    if not counts["n"].null_count():
        gain = stats.heterogeneity.of_gain(lost, won, counts["n"].to_numpy())
        found |= {
            "q_gain": gain.q.value,
            "df_gain": gain.q.df,
            "p_gain": gain.q.p,
            "log10_p_gain": gain.q.log10_p,
            "i2_gain": gain.i2,
            "pooled_gain": gain.pooled,
        }
    return {key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in found.items()}  # fmt: skip
