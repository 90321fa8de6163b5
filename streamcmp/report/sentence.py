"""The plain sentence that every format opens with: a verdict, the numbers behind it, and what it hides.

The verdict on all pairs is the first of these that applies, for b (the candidate) beside a:

| case | words |
|---|---|
| no pair | a and b cannot be compared |
| better, worse | b is better than a; with a margin that it is shown to keep: , but by less than 1 point |
| equivalent | a and b are equivalent within 1 point |
| no pair is discordant | no pair tells a and b apart |
| inconclusive, one direction asked | b is not shown to be better than a |
| inconclusive | no clear difference between a and b |
| the last three, b not inferior at the margin | ..., but b is not worse by 1 point or more |

None ever says that two models are equal. The numbers follow, then what must not be overlooked: many rows that
were not counted, many missing outcomes counted as wrong, many pairs whose guards differ, slices that point
both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

import polars as pl

from streamcmp.comparison import SIDES
from streamcmp.report.model import Report
from streamcmp.report.numbers import (
    counted,
    decimals,
    interval,
    p_equation,
    percent,
    points,
    size_in_points,
    whole,
)
from streamcmp.report.values import shown

Mark = Callable[[str], str]  # how a name is set apart from the words around it

NAME_WIDTH: Final = 60
BUCKETS: Final = {
    "paired": "paired",
    "filtered": "filtered",
    "null_id": "without id",
    "duplicate": "duplicate",
    "unmatched": "unmatched",
    "guard_mismatch": "guard mismatch",
    "unscored": "unscored",
}
_MANY: Final = 20  # more than one in so many must be told in the sentence
_MOST_DECIMALS: Final = 9  # a sentence has the room to tell what a table rounds to 0
_FAMILIES_NAMED: Final = 2
_OF_A_LINE: Final = (
    "verdict", "n", "n_ab", "n_ba", "accuracy_a", "accuracy_b", "gain", "gain_low", "gain_high",
    "p_adjusted", "log10_p_adjusted",
)  # fmt: skip


def display_names(report: Report, mark: Mark = str) -> tuple[str, str]:
    """The models' names (a, b), fit to stand in a sentence; with their sides where they look alike."""
    a, b = (shown(name, NAME_WIDTH) for name in report.names)
    return (mark(a), mark(b)) if a != b else (f"{mark(a)} (left)", f"{mark(b)} (right)")


def sentence(report: Report, mark: Mark = str) -> str:
    """One plain sentence, true to the numbers, on one line."""
    return f"{headline(report, mark)}: {evidence(report, mark)}"


def headline(report: Report, mark: Mark = str) -> str:
    """The verdict on all pairs, as `lstm is better than cnn`; see the table above."""
    a, b = display_names(report, mark)
    overall, analysis = report.overall, report.comparison["analysis"]
    size = "" if analysis["margin"] is None else size_in_points(analysis["margin"])
    if overall["n"] == 0:
        return f"{a} and {b} cannot be compared"
    if overall["verdict"] == "equivalent":
        return f"{a} and {b} are equivalent within {size}"
    if overall["verdict"] in ("better", "worse"):
        kept = "p_noninferior" if overall["verdict"] == "worse" else "p_equivalent"
        but = f", but by less than {size}" if _shown_at_margin(report, kept) else ""
        return f"{b} is {overall['verdict']} than {a}{but}"
    but = f", but {b} is not worse by {size} or more" if _shown_at_margin(report, "p_noninferior") else ""
    if overall["n_discordant"] == 0:
        return f"no pair tells {a} and {b} apart{but}"
    if analysis["alternative"] != "two-sided":
        return f"{b} is not shown to be {analysis['alternative']} than {a}{but}"
    return f"no clear difference between {a} and {b}{but}"


def _shown_at_margin(report: Report, question: str) -> bool:
    analysis = report.comparison["analysis"]
    p = report.overall[f"{question}_adjusted"] if analysis["margin"] is not None else None
    return p is not None and p <= analysis["alpha"]


def evidence(report: Report, mark: Mark = str) -> str:
    """The numbers behind `headline`: accuracies, gain, pairs, p; then what must not be overlooked.

    Accuracies go from a to b; what was won and lost is b's.
    """
    overall, analysis = report.overall, report.comparison["analysis"]
    if overall["n"] == 0:
        return f"no pair could be counted{_reasons(report, mark)}"
    b = display_names(report, mark)[1]
    one_sided = "" if analysis["alternative"] == "two-sided" else "one-sided "
    parts = [
        _change(overall),
        f"{b} won {whole(overall['n_ba'])} and lost {whole(overall['n_ab'])}{_of_pairs(overall['n'])}",
        one_sided + p_equation(overall["p"], overall["log10_p"], analysis["alpha"]),
        *_margins(overall, analysis),
    ]
    if analysis["anytime"]:
        parts.append(
            "any-time " + p_equation(overall["p_anytime"], overall["log10_p_anytime"], analysis["alpha"])
        )
    return "; ".join([*filter(None, parts), *caveats(report, mark)])


def result_lines(report: Report, rows: pl.DataFrame) -> Iterator[str]:
    """Each result in a line: verdict, accuracies, gain with interval, pairs won and lost, adjusted p.

    Slices with the same counts, as most of a million small ones have, are put in words once.
    """
    alpha = report.comparison["analysis"]["alpha"]

    @lru_cache(maxsize=1 << 16)
    def line(*values: Any) -> str:
        row = dict(zip(_OF_A_LINE, values, strict=True))
        adjusted, log10_p = row["p_adjusted"], row["log10_p_adjusted"]
        parts = [
            _change(row),
            f"won {whole(row['n_ba'])}, lost {whole(row['n_ab'])}{_of_pairs(row['n'])}",
            "" if adjusted is None else f"adjusted {p_equation(adjusted, log10_p, alpha)}",
        ]
        return f"{row['verdict']}: {'; '.join(filter(None, parts))}"

    for values in rows.select(_OF_A_LINE).iter_rows():
        yield line(*values)


def _change(row: Mapping[str, Any]) -> str:
    """`accuracy 85.7 % -> 88.0 %, gain +2.3 points [1.0, 3.7]`, as far as it is known."""
    places = decimals(row, _MOST_DECIMALS)
    parts = []
    if row["accuracy_a"] is not None:
        a, b = (percent(row[name], places) for name in ("accuracy_a", "accuracy_b"))
        parts.append(f"accuracy {a} % {'each' if row['gain'] == 0 else f'-> {b} %'}")
    if row["gain"] is not None:
        parts.append(f"gain {points(row['gain'], places)} points{interval(row, places)}")
    return ", ".join(parts)


def _of_pairs(n: int | None) -> str:
    return "" if n is None else f" of {counted(n, 'pair')}"


def _margins(row: Mapping[str, Any], analysis: Mapping[str, Any]) -> Iterator[str]:
    """`not worse by 1 point: p = 0.003` and `within 1 point: p = 0.04`, where a margin was given."""
    if analysis["margin"] is None or row["p_noninferior"] is None:
        return
    size = size_in_points(analysis["margin"])
    for question, name in (("not worse by", "p_noninferior"), ("within", "p_equivalent")):
        yield f"{question} {size}: {p_equation(row[name], row[f'log10_{name}'], analysis['alpha'])}"


def caveats(report: Report, mark: Mark = str) -> list[str]:
    """`but only 620 of 1,000 rows of cnn were counted (380 unmatched)`: what a reader must not overlook.

    More than one row or pair in twenty is many.
    """
    found = [
        *_counted_twice(report),
        *_not_counted(report, mark),
        *_counted_as_wrong(report, mark),
        *_other_guards(report),
    ]
    ways = [
        mark(shown(one.details["family"], NAME_WIDTH)) for one in _warnings(report, "slices_point_both_ways")
    ]
    if ways:
        rest = len(ways) - _FAMILIES_NAMED
        more = [counted(rest, "more family").replace("familys", "families")] if rest > 0 else []
        found.append(f"slices of {_joined([*ways[:_FAMILIES_NAMED], *more])} point both ways")
    return [f"but {words}" if at == 0 else words for at, words in enumerate(found)]


def _counted_twice(report: Report) -> Iterator[str]:
    for warning in _warnings(report, "parts_overlap"):
        ids, n = warning.details["ids"], report.overall["n"]
        if n is not None and ids * _MANY > n:
            yield f"about {counted(ids, 'id')} may count twice, in tallies that were merged"


def _not_counted(report: Report, mark: Mark) -> Iterator[str]:
    if report.ledger is None:
        return
    sides = []
    for side, name in zip(SIDES, display_names(report, mark), strict=True):
        one = report.ledger.side(side)
        asked = one.rows - one.filtered
        if (asked - one.paired) * _MANY > asked:
            rows = counted(asked, f"{'unfiltered ' if one.filtered else ''}row")
            sides.append(f"{one.paired:,} of {rows} of {name} ({_uncounted(one.to_dict())})")
    if sides:
        yield f"only {_joined(sides)} were counted"


def _uncounted(side: Mapping[str, int], *, filtered: bool = False) -> str:
    left_out = [name for name in BUCKETS if name != "paired" and (filtered or name != "filtered")]
    return " + ".join(f"{side[name]:,} {BUCKETS[name]}" for name in left_out if side[name])


def _reasons(report: Report, mark: Mark) -> str:
    """Why there is no pair: ` (cnn: 8 unscored; lstm: 3 filtered + 8 unscored)`."""
    if report.ledger is None:
        return ""
    sides = [
        f"{name}: {_uncounted(report.ledger.side(side).to_dict(), filtered=True) or '0 rows'}"
        for side, name in zip(SIDES, display_names(report, mark), strict=True)
    ]
    return f" ({'; '.join(sides)})"


def _counted_as_wrong(report: Report, mark: Mark) -> Iterator[str]:
    if report.ledger is None or not any(_warnings(report, "missing_counted_as_wrong")):
        return
    many = []
    for side, name in zip(SIDES, display_names(report, mark), strict=True):
        one = report.ledger.side(side)
        if one.missing * _MANY > one.paired:
            many.append(f"{one.missing:,} of {name}")
    if many:
        yield f"missing outcomes count as wrong: {_joined(many)}"


def _other_guards(report: Report) -> Iterator[str]:
    for warning in _warnings(report, "guard_mismatch"):
        pairs, n = warning.details["pairs"], report.overall["n"]
        if warning.details["treatment"] == "counted" and n is not None and pairs * _MANY > n:
            yield f"in {counted(pairs, 'pair')} the logs disagree on a guard"


def _warnings(report: Report, code: str) -> Iterable[Any]:
    return (one for one in report.warnings if one.code == code)


def _joined(parts: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
