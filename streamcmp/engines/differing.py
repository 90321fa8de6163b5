"""What the guards hold where they differ: the two values side by side, for the first few ids that are named.

Pairing keeps only fingerprints of guards, so the logs are read once more, as far as these ids.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

import polars as pl

from streamcmp.comparison import OPTION_OF_SIDE, SIDES
from streamcmp.logs.hashed import HashedPair
from streamcmp.logs.model import FILTERED, ID, guard_column
from streamcmp.logs.shown import sides
from streamcmp.logs.stream import CHUNK_ROWS
from streamcmp.report.values import inert, json_ready, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamcmp.comparison import SideName
    from streamcmp.logs.model import LogPair
    from streamcmp.logs.reading import ShardedLog

_SHOWN = 3  # ids
_GUARDS = 3  # of each
_ID_WIDTH = 60
_LONGEST = 60  # characters of a value; a longer one is cut around where the two first differ
_BEFORE = 20  # of them before that
_CHUNK_BYTES, _LEAST_ROWS = 16 << 20, 2_000
_Row = tuple[list[int | None], list[Any]]  # fingerprints, values


def differing(pair: LogPair, ids: pl.Series) -> list[str]:
    """`id 7: label is 'B ' on the left, 'B' on the right`, for the first of these canonical ids.

    Each is of one kept row per side. An id that is no longer there is left out.
    """
    opened, *logs = sides(pair.whole if isinstance(pair, HashedPair) else pair)
    if opened.positional or not all(log.recipe.shows_id for log in logs):
        return []
    wanted = ids.cast(opened.id_dtype).head(_SHOWN)
    a, b = (_found(log, wanted) for log in logs)
    guards = [guard for guard in logs[0].recipe.guards if not guard.advisory]
    said = []
    for one in wanted.to_list():
        if one not in a or one not in b:
            continue
        (marks_a, values_a), (marks_b, values_b) = a[one], b[one]
        unequal = [
            f"{inert(guard.name)} is {side_by_side(values_a[index], values_b[index])}"
            for index, guard in enumerate(guards)
            if marks_a[index] != marks_b[index]
        ]
        more = [f"{len(unequal) - _GUARDS} more differ"] if len(unequal) > _GUARDS else []
        said.append(f"id {shorten(inert(opened.show_id(one)), _ID_WIDTH)}: "
                    f"{'; '.join([*unequal[:_GUARDS], *more])}")  # fmt: skip
    return said


def _found(log: ShardedLog, wanted: pl.Series) -> Mapping[Any, _Row]:
    """Of each id its guards, by one pass that ends with the last of them."""
    guards = [guard for guard in log.recipe.guards if not guard.advisory]
    marks = [guard_column(index) for index in range(len(guards))]
    names = [guard.columns[log.side] for guard in guards]
    found: dict[Any, _Row] = {}
    for raw, canonical in log.cook.side_by_side(_chunk_rows(log)):
        here = canonical[ID].is_in(wanted.implode())
        if FILTERED in canonical.columns:
            here &= ~canonical[FILTERED]
        for row in here.fill_null(value=False).arg_true().to_list():
            found[canonical[ID][row]] = (
                [canonical[name][row] for name in marks],
                [raw[name][row] for name in names],
            )
        if len(found) == len(wanted):
            break
    return found


def _chunk_rows(log: ShardedLog) -> int:
    """So many rows that they take some 16 MB, by the size of the files: guards may be long texts."""
    size = sum(part.shard.size or 0 for part in log.cook.parts)
    per_row = 4 * size // max(1, log.estimated_rows)  # compressed to a quarter
    return min(CHUNK_ROWS, max(_LEAST_ROWS, _CHUNK_BYTES // max(1, per_row)))


def side_by_side(left: Any, right: Any) -> str:
    """Two values that differ, in such a way that one sees in what.

    Text stands in quotes, with escapes for what has no shape; and for all that is not ASCII where the two
    would look alike. What is cut off is `...`, outside of the quotes.
    """
    values: dict[SideName, Any] = {"a": left, "b": right}
    texts = [value for value in values.values() if isinstance(value, str)]
    first = _first_difference(*texts) if len(texts) == len(SIDES) else 0
    quote = ascii if len(texts) == len(SIDES) and _alike(*(_cut(text, first)[1] for text in texts)) else repr
    return ", ".join(
        f"{_quoted(value, first, quote)} on the {OPTION_OF_SIDE[side]}" for side, value in values.items()
    )


def _quoted(value: Any, first: int, quote: Any) -> str:
    if isinstance(value, str):
        before, kept, after = _cut(value, first)
        return f"{before}{inert(quote(kept))}{after}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return shorten(inert(str(json_ready(value))), _LONGEST)


def _cut(text: str, first: int) -> tuple[str, str, str]:
    """The part of a text around its character number `first`, and the marks of what is left out."""
    if len(text) <= _LONGEST:
        return "", text, ""
    start = min(max(0, first - _BEFORE), len(text) - 1)
    end = start + _LONGEST
    return "..." * (start > 0), text[start:end], "..." * (end < len(text))


def _first_difference(one: str, other: str) -> int:
    """Where they differ first; the shorter one's length if it begins the other."""
    low, high = 0, min(len(one), len(other))
    while low < high:  # slices compare at memory's speed, characters do not
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def _alike(one: str, other: str) -> bool:
    return unicodedata.normalize("NFKC", one) == unicodedata.normalize("NFKC", other)
