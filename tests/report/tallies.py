"""Tallies that every format is tested with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import polars as pl

from streamcmp.comparison import Rule
from streamcmp.ledger import Ledger, SideLedger
from streamcmp.tally import CELLS, COUNTERS, OVERALL, SLICE_PREFIX, Tally

Rows = Sequence[tuple[Any, ...]]

RULE = Rule(
    on=("id",),
    id_type="int",
    outcome={
        "a": {"kind": "correct", "correct": "correct"},
        "b": {"kind": "equal", "prediction": "pred", "label": "label"},
    },
    where=None,
    by=(("label",),),
    guards=("label",),
    missing="exclude",
    mismatch="exclude",
)


def rule(**changes: Any) -> Rule:
    return replace(RULE, **changes)


def table(columns: Sequence[str], rows: Rows, dtypes: Mapping[str, Any] | None = None) -> pl.DataFrame:
    """Slice values, then the seven counters; those left out are 0."""
    names = [*(SLICE_PREFIX + column for column in columns), *COUNTERS]
    filled = [(*row, *(0,) * (len(names) - len(row))) for row in rows]
    own = {SLICE_PREFIX + name: dtype for name, dtype in (dtypes or {}).items()}
    schema = {name: pl.Int64 if name in COUNTERS else own.get(name, pl.String) for name in names}
    return pl.DataFrame(filled, schema=schema, orient="row")


def tally(
    families: Mapping[str, pl.DataFrame],
    a: SideLedger | None = None,
    b: SideLedger | None = None,
    rule: Rule | None = RULE,
) -> Tally:
    """A tally of families, with `overall` as their sum; ledgers as the counters say, plus `a` and `b`."""
    first = next(iter(families.values()))
    overall = families.get(OVERALL, first.select(pl.col(*COUNTERS).sum()))
    counts = overall.row(0, named=True)
    counted = SideLedger(
        paired=sum(counts[name] for name in CELLS),
        unscored=counts["unscored"],
        guard_mismatch=0 if rule is not None and rule.mismatch == "ignore" else counts["guard_mismatch"],
    )
    sides = [counted + (extra or SideLedger()) for extra in (a, b)]
    balanced = [replace(side, rows=side.accounted) for side in sides]
    return Tally({OVERALL: overall, **families}, Ledger(*balanced), rule)


def of_counts(*cells: int, **kwargs: Any) -> Tally:
    """A tally of overall alone: both_correct, n_ab, n_ba, both_wrong, guard_mismatch, unscored."""
    return tally({OVERALL: table([], [cells])}, **kwargs)


def plain(rows: Rows, columns: Sequence[str] = ()) -> Tally:
    """A table of n, n_ab, n_ba only; n may be None."""
    names = [*(SLICE_PREFIX + column for column in columns), "n", "n_ab", "n_ba"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    frame = frame.with_columns(
        pl.col("n").cast(pl.Int64),
        *(pl.lit(None, pl.Int64).alias(name) for name in ("both_correct", "both_wrong")),
        *(pl.lit(0, pl.Int64).alias(name) for name in COUNTERS[4:]),
    )
    overall = frame.select(pl.col("n", *COUNTERS).sum()).with_columns(
        pl.lit(None, pl.Int64).alias(name) for name in ("both_correct", "both_wrong")
    )
    if frame["n"].null_count():
        overall = overall.with_columns(n=pl.lit(None, pl.Int64))
    return Tally({OVERALL: overall, **({",".join(columns): frame} if columns else {})}, None)


def sst2() -> Tally:
    """Two real sentiment classifiers, by label."""
    return tally({"label": table(["label"], [("negative", 746, 18, 66, 82), ("positive", 756, 41, 35, 77)])})


HOSTILE = (
    "line\nbreak\r\ttab",
    "\x1b[31mred\x1b[0m\x07",
    "[red]markup[/red]",
    "=cmd()",
    "<script>alert(1)</script>",
    'quote " and , comma',
    "pi|pe ` tick `` ticks",
    "**bold** _it_ @someone #1 https://x.y",
    "right \u202eto left",
    "\u05e9\u05dc\u05d5\u05dd",
    "\U0001f600 emoji",
    "",
    " spaces ",
    "(null)",
    "-",
    "long " * 2000,
    None,
)


def hostile() -> Tally:
    """Slice names that want to be something else, one pair lost by each."""
    return tally({"name": table(["name"], [(name, 5 + at, at, 0, 1) for at, name in enumerate(HOSTILE)])})


def troubled() -> Tally:
    """Families of several types, nulls, an empty slice, and every kind of row in the ledger."""
    return tally(
        {
            "domain": table(
                ["domain"],
                [
                    ("law", 10, 0, 5, 2, 1, 2, 0),
                    ("medicine", 30_000, 5_000, 7_000, 1_000, 0, 0, 3),
                    ("physics", 0, 0, 0, 0, 0, 4, 0),
                    (None, 4, 1, 1, 4, 0, 0, 0),
                ],
            ),
            "year,day": table(
                ["year", "day"],
                [
                    (2023, None, 30_000, 5_000, 7_000, 1_000, 0, 0, 0),
                    (2024, date(2024, 2, 29), 14, 1, 6, 6, 1, 6, 0),
                ],
                {"year": pl.Int64, "day": pl.Date},
            ),
            "flag": table(["flag"], [(False, 30_014, 5_001, 7_006, 1_006, 1, 6, 0)], {"flag": pl.Boolean}),
        },
        SideLedger(filtered=7, null_id=1, duplicate=4, unmatched=12, missing=5),
        SideLedger(filtered=9, duplicate=3, missing=2),
    )
