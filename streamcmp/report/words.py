"""A report in words: the opening sentence, a family's title, the ledger in one line, how it was computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from streamcmp.comparison import OPTION_OF_SIDE, SIDES
from streamcmp.report.model import VERDICTS, Family, Report
from streamcmp.report.numbers import counted, decimals, p_equation, percent, points, whole
from streamcmp.report.values import inert, shorten

_NAME_WIDTH = 60
_BUCKETS = {
    "paired": "paired",
    "filtered": "filtered",
    "null_id": "without id",
    "duplicate": "duplicate",
    "unmatched": "unmatched",
    "guard_mismatch": "guard mismatch",
    "unscored": "unscored",
}
_TESTS = {
    "exact": "exact McNemar test",
    "mid-p": "mid-p McNemar test",
    "chi2": "McNemar's chi-square without correction",
    "chi2-corrected": "McNemar's chi-square with Edwards' correction",
    "auto": "exact McNemar test below 25 discordant pairs, corrected chi-square from 25 on",
}
_ALTERNATIVES = {"two-sided": "two-sided", "better": "one-sided (better)", "worse": "one-sided (worse)"}
_ADJUSTMENTS = {
    "none": "not adjusted for the number of slices",
    "bonferroni": "Bonferroni",
    "holm": "Holm",
    "hochberg": "Hochberg",
    "bh": "Benjamini-Hochberg",
    "by": "Benjamini-Yekutieli",
}
_INTERVALS = {
    "tango": "Tango",
    "newcombe": "Newcombe",
    "bonett-price": "Bonett-Price",
    "agresti-min": "Agresti-Min",
    "wald": "Wald",
}


def display_names(report: Report) -> tuple[str, str]:
    """The models' names, fit to stand in a sentence."""
    a, b = (shorten(inert(name), _NAME_WIDTH) for name in report.names)
    return a, b


def headline(report: Report, names: tuple[str, str] | None = None) -> str:
    """The verdict on all pairs alone, as `lstm is better than cnn`. Never claims that two are equal."""
    a, b = names or display_names(report)
    overall = report.overall
    if overall["verdict"] in ("better", "worse"):
        return f"{b} is {overall['verdict']} than {a}"
    if overall["n"] == 0:
        return f"{b} and {a} cannot be compared"
    asked = report.comparison["analysis"]["alternative"]
    if asked != "two-sided":
        return f"{b} is not shown to be {asked} than {a}"
    return f"no clear difference between {b} and {a}"


def evidence(report: Report) -> str:
    """The numbers behind `headline`: accuracies, gain with interval, pairs won and lost, p."""
    overall = report.overall
    if overall["n"] == 0:
        return "no pair has an outcome on both sides"
    return "; ".join(part for part in (_change(overall), _pairs(overall), _p(report, overall)) if part)


def sentence(report: Report) -> str:
    """One plain sentence, true to the numbers."""
    return f"{headline(report)}: {evidence(report)}"


def _change(row: Mapping[str, Any]) -> str:
    places = decimals(row)
    a, b = (percent(row[name], places) for name in ("accuracy_a", "accuracy_b"))
    accuracies = f"{a} % each" if row["accuracy_a"] == row["accuracy_b"] else f"{a} % -> {b} %"
    parts = [
        accuracies if row["accuracy_a"] is not None else "",
        f"{points(row['gain'], places)} points{interval(row, places)}" if row["gain"] is not None else "",
    ]
    return ", ".join(part for part in parts if part)


def interval(row: Mapping[str, Any], places: int) -> str:
    """` [1.0, 3.7]`, or nothing where there is no interval."""
    if row["gain_low"] is None or row["gain_high"] is None:
        return ""
    return f" [{percent(row['gain_low'], places)}, {percent(row['gain_high'], places)}]"


def _pairs(row: Mapping[str, Any]) -> str:
    of_pairs = "" if row["n"] is None else f" of {counted(row['n'], 'pair')}"
    return f"won {whole(row['n_ba'])}, lost {whole(row['n_ab'])}{of_pairs}"


def _p(report: Report, row: Mapping[str, Any]) -> str:
    analysis = report.comparison["analysis"]
    one_sided = "" if analysis["alternative"] == "two-sided" else "one-sided "
    return one_sided + p_equation(row["p"], row["log10_p"], analysis["alpha"])


def verdict_counts(rows: pl.DataFrame) -> str:
    """`3 better, 1 worse, 51 inconclusive`: the verdicts that occur, in a fixed order."""
    counts = dict(rows["verdict"].value_counts().iter_rows())
    return ", ".join(f"{counts[verdict]:,} {verdict}" for verdict in VERDICTS if verdict in counts)


def family_title(family: Family, rows: pl.DataFrame) -> str:
    """`domain: 57 slices (3 better, 54 inconclusive)`; just `overall` for that."""
    if not family.columns:
        return family.family
    name = shorten(inert(family.family), _NAME_WIDTH)
    slices = counted(family.slices, "slice")
    overlapping = ", overlapping" if family.overlapping else ""
    counts = verdict_counts(rows)
    return f"{name}: {slices}{overlapping}" + (f" ({counts})" if counts else "")


def rest_line(rows: pl.DataFrame, top: int) -> str | None:
    """What the first `top` rows of a family leave out, or None."""
    rest = rows.slice(min(top, rows.height))
    if rest.is_empty():
        return None
    return f"... and {rest.height:,} more: {verdict_counts(rest)}"


def ledger_line(report: Report) -> str:
    """Where the rows of both sides went, only what is not 0."""
    if report.ledger is None:
        return "ledger: none; only counts were given"
    sides = []
    for side in SIDES:
        one = report.ledger.side(side).to_dict()
        went = " + ".join(f"{one[name]:,} {words}" for name, words in _BUCKETS.items() if one[name])
        sides.append(f"{OPTION_OF_SIDE[side]} {counted(one['rows'], 'row')} = {went or '0 paired'}")
    return f"ledger: {'; '.join(sides)}"


def method_line(report: Report) -> str:
    """Which test, adjustment and interval the numbers come from."""
    analysis = report.comparison["analysis"]
    adjusted = _ADJUSTMENTS[analysis["adjust"]]
    if analysis["adjust"] != "none":
        adjusted = f"adjusted p by {adjusted} within a family"
    confidence = f"{100 * analysis['confidence']:.10g} %"
    floor = analysis["min_discordant"]
    untested = f"; slices with fewer than {counted(floor, 'discordant pair')} are not tested" if floor else ""
    test = f"{_TESTS[analysis['test']]}, {_ALTERNATIVES[analysis['alternative']]}"
    interval_name = f"{confidence} {_INTERVALS[analysis['ci']]} interval, not adjusted"
    return f"{test}; {adjusted}{untested}; accuracies in %, gain in points with {interval_name}"
