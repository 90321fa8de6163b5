"""The warnings of a report: what a reader must know before believing its numbers.

They hold counts and slice values, never ids, so that they do not depend on how the tally was made.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from streamcmp import stats
from streamcmp.analysis import Analysis
from streamcmp.comparison import OPTION_OF_SIDE, SIDES
from streamcmp.report.model import Family, ReportWarning, slice_dicts
from streamcmp.report.numbers import counted, p_equation
from streamcmp.report.values import shown
from streamcmp.report.words import slice_name
from streamcmp.tally import ABSENT, CELLS, OVERALL, SLICE_PREFIX, Tally, filed_by_id

_SHOWN_SLICES = 3
_WON, _LOST = pl.col("n_ba"), pl.col("n_ab")
_WIDTH = 40  # cells of a name or value
_SHOW_IDS = "`streamcmp run` names some ids, on stderr"


def notices(
    tally: Tally, analysis: Analysis, families: Sequence[Family], results: pl.DataFrame
) -> tuple[ReportWarning, ...]:
    """The warnings of one report, in a fixed order: rows first, then slices, then numbers."""
    return (
        *_of_parts(tally),
        *of_rows(tally),
        *_unknown_intervals(analysis, results),
        *_disagreements(analysis, families, results),
        *_both_ways(analysis, families, results),
    )


def _of_parts(tally: Tally) -> Iterator[ReportWarning]:
    if tally.overlap:
        yield ReportWarning(
            "parts_overlap",
            f"tallies that were merged {overlap_words(tally.overlap)}",
            {"ids": tally.overlap},
        )


def overlap_words(ids: int) -> str:
    """What becomes of ids that two tallies have in common."""
    some = counted(ids, "id")
    return f"share about {some}, by their sketches: if those are the same examples, they count twice"


def of_rows(tally: Tally) -> tuple[ReportWarning, ...]:
    """The warnings on rows that were not simply counted."""
    return (*_of_ledger(tally), *_of_slices(tally), *_of_absent(tally))


def _of_ledger(tally: Tally) -> Iterator[ReportWarning]:
    if tally.ledger is None:
        yield ReportWarning(
            "no_ledger", "only counts were given: which rows of the logs they leave out is not known", {}
        )
        yield from _of_guards(tally)
        return
    a, b = tally.ledger.a, tally.ledger.b
    if a.duplicate or b.duplicate:
        yield _per_side(
            "duplicates",
            a.duplicate,
            b.duplicate,
            "dropped: their ids occur more than once on a side",
            _SHOW_IDS,
        )
    yield from _of_guards(tally)
    if a.unmatched or b.unmatched:
        yield _per_side("unmatched", a.unmatched, b.unmatched, "dropped: without a partner", _SHOW_IDS)
    missing = {"missing_a": a.missing, "missing_b": b.missing}
    of_sides = f"(left log: {a.missing:,}, right log: {b.missing:,})"
    if tally.rule is not None and tally.rule.missing == "wrong":
        if a.missing or b.missing:
            yield ReportWarning(
                "missing_counted_as_wrong", f"missing outcomes were counted as wrong {of_sides}", missing
            )
    elif a.unscored:
        yield ReportWarning(
            "unscored",
            f"{counted(a.unscored, 'pair')} dropped: an outcome is missing {of_sides}",
            {"pairs": a.unscored, **missing},
        )
    if a.null_id or b.null_id:
        yield _per_side("null_ids", a.null_id, b.null_id, "dropped: without an id")


def _per_side(code: str, a: int, b: int, what: str, more: str = "") -> ReportWarning:
    sides = " and ".join(
        f"{counted(count, 'row')} of the {OPTION_OF_SIDE[side]} log"
        for side, count in zip(SIDES, (a, b), strict=True)
        if count
    )
    return ReportWarning(code, f"{sides} {what}" + (f"; {more}" if more else ""), {"a": a, "b": b})


def _of_guards(tally: Tally) -> Iterator[ReportWarning]:
    pairs = _total(tally, OVERALL, "guard_mismatch")
    if not pairs:
        return
    ignored = tally.rule is not None and tally.rule.mismatch == "ignore"
    guards = list(tally.rule.guards) if tally.rule is not None else []
    named = (
        f"the logs disagree on {' or '.join(shown(guard, _WIDTH) for guard in guards)}"
        if guards
        else "a guard differs"
    )
    fate = "counted all the same" if ignored else "dropped"
    yield ReportWarning(
        "guard_mismatch",
        f"{counted(pairs, 'pair')} {fate}: {named}, so the evaluation set has changed; {_SHOW_IDS}",
        {"pairs": pairs, "treatment": "counted" if ignored else "dropped", "guards": guards},
    )


def _of_slices(tally: Tally) -> Iterator[ReportWarning]:
    for family in tally.families:
        pairs = _total(tally, family, "slice_differs") if family != OVERALL else 0
        if pairs:
            yield ReportWarning(
                "slice_differs",
                f"the logs disagree on {shown(family, _WIDTH)} in {counted(pairs, 'pair')}; "
                "the left log's value counts",
                {"family": family, "pairs": pairs},
            )


def _of_absent(tally: Tally) -> Iterator[ReportWarning]:
    """Pairs whose ids a slices file lacks: the same in every family that has a column of it."""
    names = [] if tally.rule is None else filed_by_id(tally.rule)
    if tally.rule is None or not names:
        return
    keys = [SLICE_PREFIX + name for name in names]
    fates = [*CELLS, "unscored"]
    if tally.rule.mismatch != "ignore":  # ignored ones are in the cells
        fates.append("guard_mismatch")
    for table in tally.families.values():
        own = [key for key in keys if key in table.columns]
        if not own:
            continue
        texts = [pl.col(key).cast(pl.String) for key in own if table.schema[key] in (pl.String, pl.Enum)]
        lacking = (
            table.filter(pl.any_horizontal(text == ABSENT for text in texts)) if texts else table.clear()
        )
        pairs = sum(int(lacking[fate].sum()) for fate in fates)
        if pairs:
            yield ReportWarning(
                "slices_absent",
                f"{counted(pairs, 'pair')} without a row in the slices file: the slice {ABSENT} of "
                f"{' and '.join(map(shown, names))}",
                {"pairs": pairs, "columns": names},
            )
        return


def _total(tally: Tally, family: str, counter: str) -> int:
    table = tally.families[family]
    return int(table[counter].sum()) if counter in table.columns else 0


def _unknown_intervals(analysis: Analysis, results: pl.DataFrame) -> Iterator[ReportWarning]:
    if analysis.ci not in stats.NEED_AGREEMENT:
        return
    unknown = results.filter((pl.col("n") > 0) & pl.col("gain_low").is_null()).height
    if unknown:
        yield ReportWarning(
            "interval_unknown",
            f"no {analysis.ci} interval in {counted(unknown, 'result')}: it needs both_correct and "
            "both_wrong; --ci tango does not",
            {"results": unknown},
        )


def _disagreements(
    analysis: Analysis, families: Sequence[Family], results: pl.DataFrame
) -> Iterator[ReportWarning]:
    """Where the interval excludes 0 and the test does not, or the other way round.

    Compared with the p of the slice alone, as intervals are not adjusted either; a one-sided p has no
    business with a two-sided interval.
    """
    if analysis.alternative != "two-sided":
        return
    excludes_0 = (pl.col("gain_low") > 0) | (pl.col("gain_high") < 0)
    disagree = pl.col("tested") & (excludes_0 != (pl.col("p") <= analysis.alpha))
    rows = results.with_row_index("row").filter(disagree)
    if rows.is_empty():
        return
    where = _where(families, rows.head(_SHOWN_SLICES))
    names = ", ".join(slice_name(one["slice"], _WIDTH) for one in where)
    rest = f" and {rows.height - len(where):,} more" if rows.height > len(where) else ""
    yield ReportWarning(
        "interval_and_test_disagree",
        f"the {analysis.ci} interval of the gain and the {analysis.test} test disagree about 0 in "
        f"{counted(rows.height, 'result')} ({names}{rest}); the verdict follows the test's adjusted p",
        {"results": rows.height, "first": where},
    )


def _both_ways(
    analysis: Analysis, families: Sequence[Family], results: pl.DataFrame
) -> Iterator[ReportWarning]:
    """Families whose slices contradict one another: the overall gain is no summary of those.

    Either verdicts of both kinds, or gains of both signs that chance does not explain; where slices overlap
    there is no test of the latter.
    """
    for family in families:
        if not family.columns:
            continue
        rows = results.filter(pl.col("family") == family.family)
        better, worse = (int((rows["verdict"] == verdict).sum()) for verdict in ("better", "worse"))
        gains, losses = (int(rows.select(one).sum().item()) for one in (_WON > _LOST, _WON < _LOST))
        told = [f"{better:,} better, {worse:,} worse"] if better and worse else []
        p = None if family.heterogeneity is None else family.heterogeneity["p_both_ways"]
        if p is not None and p <= analysis.alpha:
            differ = p_equation(p, math.log10(p), analysis.alpha)
            told.append(f"{gains:,} with a gain, {losses:,} with a loss, more than chance explains: {differ}")
        if told:
            yield ReportWarning(
                "slices_point_both_ways",
                f"slices of {shown(family.family, _WIDTH)} point both ways ({'; '.join(told)}): "
                "the overall gain hides that",
                {
                    "family": family.family,
                    "better": better,
                    "worse": worse,
                    "gains": gains,
                    "losses": losses,
                    "p": p,
                },
            )


def _where(families: Sequence[Family], rows: pl.DataFrame) -> list[dict[str, Any]]:
    """Family and slice of each row."""
    found: list[dict[str, Any]] = []
    by_name = {family.family: family for family in families}
    for row in rows.iter_slices(1):
        family = by_name[row["family"].item()]
        found.append({"family": family.family, "slice": slice_dicts(family, row)[0]})
    return found
