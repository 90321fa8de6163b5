"""A report in words: gates, changes, titles of families, the ledger in one line, how it was computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import polars as pl

from streamcmp.comparison import OPTION_OF_SIDE, SIDES
from streamcmp.report.model import VERDICTS, Family, Report
from streamcmp.report.numbers import counted, decimals, interval, p_equation, percent, points, size_in_points
from streamcmp.report.outcomes import Change, Changes
from streamcmp.report.sentence import BUCKETS, NAME_WIDTH, Mark, display_names
from streamcmp.report.values import inert, shorten, shown
from streamcmp.tally import OVERALL

_GATE_WIDTH = 200
_CHANGES = {"verdict": "with another verdict", "numbers": "with other numbers", "new": "new", "gone": "gone"}
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
_ODDS = {"clopper-pearson": "Clopper-Pearson", "mid-p": "mid-p", "wilson": "Wilson"}
_INTERVALS = {
    "tango": "Tango",
    "newcombe": "Newcombe",
    "bonett-price": "Bonett-Price",
    "agresti-min": "Agresti-Min",
    "wald": "Wald",
}


def gate_lines(report: Report) -> list[tuple[str, str, str]]:
    """Per gate: `failed` or `passed`, the expression, and the numbers behind it."""
    return [
        ("failed" if gate.fired else "passed", shorten(inert(gate.expression), _GATE_WIDTH), gate.says)
        for gate in report.gates
    ]


def gates_title(report: Report) -> str:
    """`gates: 1 of 3 failed`, or `gates: 3 of 3 passed`."""
    fired, of = sum(gate.fired for gate in report.gates), len(report.gates)
    return f"gates: {fired:,} of {of:,} failed" if fired else f"gates: {of:,} of {of:,} passed"


def slice_name(cut: Mapping[str, Any], width: int = NAME_WIDTH) -> str:
    """`domain=law, class=3`, on one line; each name and value at most `width` cells wide."""
    pairs = [f"{shorten(inert(name), width)}={shown(value, width)}" for name, value in cut.items()]
    return ", ".join(pairs) or OVERALL


def changes_title(changes: Changes) -> str:
    """`since the baseline report: ...`, of all pairs, and how many slices changed in which way."""
    counts = Counter(one.kind for one in changes.slices)
    kinds = [f"{counts[kind]:,} {words}" for kind, words in _CHANGES.items() if counts[kind]]
    slices = [*kinds, *([f"{changes.unchanged:,} unchanged"] if changes.unchanged else [])]
    parts = [
        f"all pairs: {change_words(changes.overall)}",
        f"slices: {', '.join(slices)}" if slices else "",
        *(f"new family {shorten(inert(name), NAME_WIDTH)}" for name in changes.families_new),
        *(f"no longer a family {shorten(inert(name), NAME_WIDTH)}" for name in changes.families_gone),
    ]
    return f"since the baseline report: {'; '.join(part for part in parts if part)}"


def differences_line(changes: Changes) -> str | None:
    """What was asked otherwise, or None."""
    if not changes.differences:
        return None
    return inert(f"not the same question: {'; '.join(changes.differences)}")


def change_lines(report: Report, top: int) -> list[str]:
    """What changed since an earlier report: a sentence, a line for each of the first `top` slices."""
    if report.changes is None:
        return []
    slices = report.changes.slices
    lines = [changes_title(report.changes)]
    lines += [f"  {slice_name(one.slice)}: {change_words(one)}" for one in slices[:top]]
    if len(slices) > top:
        lines.append(f"  ... and {len(slices) - top:,} more")
    differ = differences_line(report.changes)
    return [*lines, *([differ] if differ else []), ""]


def change_words(change: Change) -> str:
    """`better -> inconclusive, gain +2.3 -> +1.1 points (-1.2)`."""
    if change.before is None or change.now is None:
        one = change.now or change.before
        gain = "" if one is None or one.gain is None else f", gain {points(one.gain)} points"
        return f"{change.kind}: {'' if one is None else one.verdict}{gain}"
    then, now = change.before, change.now
    verdict = now.verdict if then.verdict == now.verdict else f"{then.verdict} -> {now.verdict}"
    if change.moved is None:
        return verdict
    before, after, by = moved_points(change)
    if change.moved == 0:
        return f"{verdict}, gain {after} points as before"
    return f"{verdict}, gain {before} -> {after} points ({by})"


def moved_points(change: Change) -> tuple[str, str, str]:
    """The gain before, now, and the difference, with as many decimals as show it, at most 4."""
    gains = [one.gain if one is not None else None for one in (change.before, change.now)]
    places = next((at for at in range(1, 4) if not change.moved or float(percent(change.moved, at))), 4)
    return points(gains[0], places), points(gains[1], places), points(change.moved, places)


def heterogeneity_line(report: Report, family: Family) -> str | None:
    """Whether a family's slices are alike, and both means of their gains; or None."""
    if family.overlapping:
        return (
            "slices overlap: a pair counts in each slice that it belongs to, so that their gains are not "
            "averaged, nor asked whether they are alike"
        )
    found, parts = family.heterogeneity, []
    if found is not None:
        statistic = (
            f"Tarone's z = {found['z_tarone']:.3g}, as they are too sparse for chi2"
            if found["test"] == "tarone"
            else f"chi2 = {found['chi2']:.4g} on {found['df']:,} df"
        )
        alpha = report.comparison["analysis"]["alpha"]
        differ = "the slices differ" if found["p"] <= alpha else "nothing shows that the slices differ"
        parts.append(f"{differ}: {p_equation(found['p'], found['log10_p'], alpha)} ({statistic})")
    if family.columns and family.slices > 1 and family.macro_gain is not None:
        limits = {"gain_low": family.macro_gain_low, "gain_high": family.macro_gain_high}
        row = {"gain": family.macro_gain, **limits, "accuracy_a": None, "accuracy_b": None}
        at = decimals(row)
        parts.append(
            f"mean of the slices' gains {points(family.macro_gain, at)} points{interval(row, at)}, "
            f"gain of all pairs {points(family.micro_gain, at)}"
        )
    return "; ".join(parts) or None


def unpaired_line(report: Report, mark: Mark = str) -> str | None:
    """Each accuracy alone, and the test of unrelated samples, told apart from the paired one; or None."""
    if report.unpaired is None:
        return None
    overall, at = report.overall, decimals(report.overall)
    alone = [
        f"{name} {percent(overall[f'accuracy_{side}'], at)} % "
        f"[{percent(overall[f'accuracy_{side}_low'], at)}, {percent(overall[f'accuracy_{side}_high'], at)}]"
        for side, name in zip(SIDES, display_names(report, mark), strict=True)
    ]
    differ = p_equation(
        report.unpaired["p"], report.unpaired["log10_p"], report.comparison["analysis"]["alpha"]
    )
    return (
        f"each alone, by Wilson: {', '.join(alone)}; taken for unrelated samples, z = "
        f"{report.unpaired['z']:.3g}, {differ}: not to be used, as both answered the same examples"
    )


def verdict_counts(rows: pl.DataFrame) -> str:
    """`3 better, 1 worse, 51 inconclusive`: the verdicts that occur, in a fixed order."""
    counts = dict(rows["verdict"].value_counts().iter_rows())
    return ", ".join(f"{counts[verdict]:,} {verdict}" for verdict in VERDICTS if verdict in counts)


def family_title(family: Family, rows: pl.DataFrame) -> str:
    """`domain: 57 slices (3 better, 54 inconclusive)`; just `overall` for that."""
    if not family.columns:
        return family.family
    name = shorten(inert(family.family), NAME_WIDTH)
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
        went = " + ".join(f"{one[name]:,} {words}" for name, words in BUCKETS.items() if one[name])
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
    untested += _asked(analysis)
    interval_name = f"{confidence} {_INTERVALS[analysis['ci']]} interval, not adjusted"
    return f"{test}; {adjusted}{untested}; accuracies in %, gain in points with {interval_name}"


def _asked(analysis: Mapping[str, Any]) -> str:
    """What else was asked, and by which method."""
    parts = []
    if analysis["margin"] is not None:
        parts.append(f"margin {size_in_points(analysis['margin'])} by Tango's score, one-sided")
    if analysis["odds"] is not None:
        parts.append(f"odds and share by {_ODDS[analysis['odds']]}")
    if analysis["mde"]:
        parts.append(f"gain detectable with power {analysis['power']:.10g} by Connor's formula, not adjusted")
    if analysis["anytime"]:
        parts.append("e-value of the uniform mixture, not adjusted")
    return "".join(f"; {part}" for part in parts)
