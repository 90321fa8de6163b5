"""The row-by-row oracle: what a comparison means, over plain dicts, written to be read rather than to be
fast.

A row is a dict with the id under each name in `on`, `correct` (True, False or None), and any slice and
guard columns. `keep(row)` plays `--where`.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import product
from typing import TYPE_CHECKING, Any

from streamcmp.ledger import LEDGER_FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Row = dict[str, Any]
_CELL = {
    (True, True): "both_correct",
    (True, False): "n_ab",
    (False, True): "n_ba",
    (False, False): "both_wrong",
}


def count(
    a: Sequence[Row],
    b: Sequence[Row],
    *,
    on: Sequence[str] = ("id",),
    by: Sequence[Sequence[str]] = (),
    guards: Sequence[str] = (),
    keep: Callable[[Row], bool] = lambda _row: True,
    missing_is_wrong: bool = False,
    ignore_mismatch: bool = False,
    pairs: list[tuple[Row, Row, str]] | None = None,
) -> tuple[dict[str, dict[str, int]], dict[tuple[str, ...], dict[tuple[Any, ...], Counter[str]]]]:
    """The ledger and, per family and slice, the counters. `pairs` gets each pair, and what it counts for."""
    ledger: dict[str, Counter[str]] = {side: Counter(rows=len(rows)) for side, rows in (("a", a), ("b", b))}
    families: dict[tuple[str, ...], dict[tuple[Any, ...], Counter[str]]] = {
        tuple(term): defaultdict(Counter) for term in ((), *by)
    }
    kept: dict[str, dict[Any, list[Row]]] = {"a": defaultdict(list), "b": defaultdict(list)}
    gone: dict[str, set[Any]] = {"a": set(), "b": set()}
    for side, rows in (("a", a), ("b", b)):
        for row in rows:
            key = tuple(row[name] for name in on)
            null = any(value is None or (isinstance(value, float) and math.isnan(value)) for value in key)
            if not keep(row):
                ledger[side]["filtered"] += 1
                gone[side] |= set() if null else {key}
            elif null:
                ledger[side]["null_id"] += 1
            else:
                kept[side][key].append(row)
    for key in kept["a"].keys() | kept["b"].keys():
        here = {side: kept[side].get(key, []) for side in "ab"}
        if all(len(rows) == 1 for rows in here.values()):
            fate = _pair(
                here["a"][0],
                here["b"][0],
                families,
                guards,
                ledger,
                missing_is_wrong=missing_is_wrong,
                ignore_mismatch=ignore_mismatch,
                pairs=pairs,
            )
        elif (not here["a"] and key in gone["a"]) or (not here["b"] and key in gone["b"]):
            fate = "filtered"
        elif max(map(len, here.values())) > 1:
            fate = "duplicate"
        else:
            fate = "unmatched"
        for side in "ab":
            ledger[side][fate] += len(here[side])
    return ({side: {name: ledger[side][name] for name in LEDGER_FIELDS} for side in "ab"}, families)


def _pair(
    a: Row,
    b: Row,
    families: dict[Any, Any],
    guards: Sequence[str],
    ledger: dict[str, Counter[str]],
    *,
    missing_is_wrong: bool,
    ignore_mismatch: bool,
    pairs: list[tuple[Row, Row, str]] | None,
) -> str:
    outcomes = {"a": a["correct"], "b": b["correct"]}
    for side, outcome in outcomes.items():
        ledger[side]["missing"] += outcome is None
    mismatch = any(a[name] != b[name] for name in guards)
    if missing_is_wrong:
        outcomes = {side: bool(outcome) for side, outcome in outcomes.items()}
    if mismatch and not ignore_mismatch:
        fate = "guard_mismatch"
    else:
        fate = "unscored" if None in outcomes.values() else "paired"
    counter = _CELL[outcomes["a"], outcomes["b"]] if fate == "paired" else fate
    if pairs is not None:
        pairs.append((a, b, counter))
    differing = False
    for columns, slices in families.items():
        source = a if all(name in a for name in columns) else b
        both = all(name in a and name in b for name in columns)
        differs = both and any(a[name] != b[name] for name in columns)
        differing |= differs
        # A frozenset is a list-valued column: the pair is in the slice of each element.
        values = [source[name] for name in columns]
        for key in product(*(one if isinstance(one, frozenset) else (one,) for one in values)):
            counts = slices[key]
            counts[counter] += 1
            counts["guard_mismatch"] += mismatch and ignore_mismatch
            counts["slice_differs"] += differs
    families[()][()]["slice_differs"] += differing
    return fate
