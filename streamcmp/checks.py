"""The laws of a tally, checked on every run before any p-value: nothing was lost or counted twice."""

from __future__ import annotations

from typing import NoReturn

import polars as pl

from streamcmp.errors import DataError, InternalError, UsageError
from streamcmp.ledger import Ledger
from streamcmp.tally import COUNTERS, OVERALL, Tally


def check(tally: Tally) -> None:
    """Verify the ledger, the roll-up of every family, and that both tell of the same pairs.

    Raises:
        InternalError: one of the laws is broken.
        DataError: likewise, where the counts were not made by streamcmp (the tally has no rule).
        UsageError: the tally holds no counts at all.
    """
    if OVERALL not in tally.families:
        raise UsageError("this tally is empty: nothing was counted into it")
    _check_roll_up(tally)
    if tally.ledger is not None:
        _check_balance(tally, tally.ledger)
        _check_against_ledger(tally)


def _check_balance(tally: Tally, ledger: Ledger) -> None:
    try:
        ledger.verify()
    except InternalError as problem:
        if tally.rule is not None:
            raise
        raise DataError(f"the counts do not add up: {problem.problem}") from None


def _check_roll_up(tally: Tally) -> None:
    whole = _totals(tally.families[OVERALL])
    tables = {name: table for name, table in tally.families.items() if name != OVERALL}
    sums = {name: _totals(table) for name, table in tables.items()}
    for family, parts in sums.items():
        if family in tally.overlapping:
            _check_overlapping(tally, family, whole, parts)
            continue
        for counter, total in whole.items():
            if counter != "slice_differs" and parts.get(counter, total) != total:
                more = (parts[counter] or 0) > (total or 0) and tally.rule is None
                _broken(
                    tally,
                    f"{counter} of family {family} is {_number(parts[counter])}, of overall {_number(total)}"
                    + (
                        "; slices that overlap are known as such in reports in JSON and Parquet"
                        if more
                        else ""
                    ),
                )
    # A pair may differ in several families at once, and counts once in overall.
    differing = [parts["slice_differs"] or 0 for parts in sums.values() if "slice_differs" in parts]
    least = [
        (_largest(tables[name]) if name in tally.overlapping else parts).get("slice_differs") or 0
        for name, parts in sums.items()
    ]
    total = whole.get("slice_differs") or 0
    if differing and not max(least) <= total <= sum(differing):
        _broken(
            tally,
            f"slice_differs of the families is {', '.join(map(_number, differing))}, of overall {total:,}",
        )


def _check_overlapping(
    tally: Tally, family: str, whole: dict[str, int | None], parts: dict[str, int | None]
) -> None:
    """Every pair is in some slice, and at most once in each."""
    largest = _largest(tally.families[family])
    for counter, total in whole.items():
        total_of_parts, most = parts.get(counter), largest.get(counter)
        if counter == "slice_differs" or total is None or total_of_parts is None:
            continue
        if not (most or 0) <= total <= total_of_parts:
            _broken(
                tally,
                f"{counter} of the overlapping family {family} is {total_of_parts:,}, at most "
                f"{most or 0:,} in a slice, of overall {total:,}",
            )


def _largest(table: pl.DataFrame) -> dict[str, int | None]:
    """Each counter's largest value in a slice."""
    return table.select(pl.col(name).max() for name in COUNTERS if name in table.columns).row(0, named=True)


def _totals(table: pl.DataFrame) -> dict[str, int | None]:
    """Each counter's sum over the slices; null where a slice does not know it."""
    present = [name for name in (*COUNTERS, "n") if name in table.columns]
    sums = table.select(
        pl.when(pl.col(name).null_count() == 0).then(pl.col(name).sum()).alias(name) for name in present
    )
    return sums.row(0, named=True)


def _check_against_ledger(tally: Tally) -> None:
    assert tally.ledger is not None
    whole, ledger = _totals(tally.families[OVERALL]), tally.ledger.a
    cells = [whole[name] for name in ("both_correct", "n_ab", "n_ba", "both_wrong")]
    counted = whole.get("n") if None in cells else sum(cell or 0 for cell in cells)
    _check_equal(tally, "paired", ledger.paired, counted)
    _check_equal(tally, "unscored", ledger.unscored, whole["unscored"])
    # Ignored mismatches are counted per slice, but no row is excluded for them.
    if tally.rule is not None or ledger.guard_mismatch:
        ignored = tally.rule is not None and tally.rule.mismatch == "ignore"
        _check_equal(
            tally, "guard_mismatch", ledger.guard_mismatch, 0 if ignored else whole["guard_mismatch"]
        )


def _check_equal(tally: Tally, what: str, in_ledger: int, in_overall: int | None) -> None:
    if in_overall is not None and in_ledger != in_overall:
        _broken(tally, f"the ledger has {in_ledger:,} {what} pairs, overall {in_overall:,}")


def _number(count: int | None) -> str:
    return "nothing" if count is None else f"{count:,}"


def _broken(tally: Tally, problem: str) -> NoReturn:
    if tally.rule is None:
        raise DataError(f"the counts do not add up: {problem}")
    raise InternalError(problem)
