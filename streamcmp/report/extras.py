"""The further columns of a table: margin, odds, detectable gain, e-value, where the analysis was asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from streamcmp.report.numbers import NOTHING, e_value, p_value, percent, ratio

Result = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Extra:
    """One further column: its header in two lines, and the text of a result."""

    header: tuple[str, str]
    text: Callable[[Result], str]


def extras(analysis: Mapping[str, Any]) -> list[Extra]:
    """The further columns of an analysis (its `to_dict` with alpha), in the order of the fields."""
    alpha = analysis["alpha"]
    level = f"[{100 * analysis['confidence']:.10g} %]"
    columns = []
    if analysis["margin"] is not None:
        columns += [
            Extra(("not worse", "adj. p"), _p("p_noninferior_adjusted", alpha)),
            Extra(("equivalent", "adj. p"), _p("p_equivalent_adjusted", alpha)),
        ]
    if analysis["odds"] is not None:
        columns += [
            Extra(("odds won", level), _odds),
            Extra(("share won,", f"% {level}"), _share("share_won", "share_won_low", "share_won_high")),
        ]
    if analysis["mde"]:
        columns.append(Extra(("detectable", "points"), _detectable))
    if analysis["anytime"]:
        low, high = "share_won_anytime_low", "share_won_anytime_high"
        columns += [
            Extra(("", "e-value"), lambda row: e_value(row["log10_e"])),
            Extra(("any-time", "p"), _p("p_anytime", alpha)),
            Extra(("share won,", "% any time"), _share(None, low, high)),
        ]
    return columns


def _p(field: str, alpha: float) -> Callable[[Result], str]:
    return lambda row: p_value(row[field], row[f"log10_{field}"], alpha)


def _odds(row: Result) -> str:
    if row["n_discordant"] == 0:
        return NOTHING
    none_lost = row["odds"] is None
    high = "inf" if row["odds_high"] is None else ratio(row["odds_high"])
    return f"{'inf' if none_lost else ratio(row['odds'])} [{ratio(row['odds_low'])}, {high}]"


def _share(estimate: str | None, low: str, high: str) -> Callable[[Result], str]:
    def text(row: Result) -> str:
        if row["n_discordant"] == 0:
            return NOTHING
        limits = f"[{percent(row[low])}, {percent(row[high])}]"
        return limits if estimate is None else f"{percent(row[estimate])} {limits}"

    return text


def _detectable(row: Result) -> str:
    if row["mde"] is None:
        return NOTHING
    places = next((at for at in range(1, 4) if float(percent(row["mde"], at))), 4)
    return percent(row["mde"], places)
