"""Flips for people: one a block, each value cut where it is long, with how much was cut."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.cells import cell_len, chop_cells

from streamcmp.report.numbers import counted
from streamcmp.report.values import inert, shorten, shown

_MOST_CHARACTERS, _MOST_LINES = 1_000, 8
_LEFT, _RIGHT, _SLICE = "left.", "right.", "slice."
_NAME_CELLS, _LEAST_CELLS = 24, 20


def render(
    rows: Sequence[Mapping[str, Any]],
    *,
    kinds: Mapping[str, int],
    pairs: int,
    total: int,
    names: tuple[str, str],
    head: Sequence[str],
    width: int,
) -> Iterator[str]:
    """Lines: a sentence, then a block per row.

    Args:
        rows: JSON-ready values by column; `kind` is one of them.
        kinds: how many pairs there are of each kind asked for.
        pairs: how many were counted.
        total: how many flips there are, of which `rows` are the first.
        names: of the models.
        head: the columns that stand in a block's first line.
        width: cells of a line.
    """
    yield _sentence(kinds, pairs, names)
    if len(rows) < total:
        yield f"the first {len(rows):,} of {total:,}; --limit shows more, --output FILE writes all"
    for number, row in enumerate(rows, start=1):
        yield ""
        yield from _block(number, row, head, width)


def _sentence(kinds: Mapping[str, int], pairs: int, names: tuple[str, str]) -> str:
    left, right = map(inert, names)
    of = f"of {counted(pairs, 'pair')}"
    if "churn" in kinds:
        return f"{left} and {right} gave different wrong answers in {kinds['churn']:,} {of}"
    parts = [f"{word} {kinds[word]:,}" for word in ("won", "lost") if word in kinds]
    return f"{right} {' and '.join(parts)} {of} against {left}"


def _block(number: int, row: Mapping[str, Any], head: Sequence[str], width: int) -> Iterator[str]:
    named = [
        f"{inert(name.removeprefix(_SLICE))}={shown(row[name], max(_LEAST_CELLS, width // 3))}"
        for name in head
    ]
    yield f"{number}. {row['kind']}  {'  '.join(named)}".rstrip()
    others = _merged({name: value for name, value in row.items() if name not in head and name != "kind"})
    names = {name: shorten(inert(name), _NAME_CELLS) for name in others}
    indent = max(map(cell_len, names.values()), default=0)
    for name, value in others.items():
        room = max(_LEAST_CELLS, width - indent - 5)
        for index, line in enumerate(_lines(value, room)):
            label = names[name] if not index else ""
            yield f"   {label}{' ' * (indent - cell_len(label))}  {line}".rstrip()


def _merged(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row whose values that are the same in both logs stand once, without a side."""
    merged: dict[str, Any] = {}
    for name, value in row.items():
        bare = name.removeprefix(_LEFT)
        other = f"{_RIGHT}{bare}"
        if name.startswith(_LEFT) and bare not in row and other in row and _same(value, row[other]):
            merged[bare] = value
        elif not (name.startswith(_RIGHT) and name.removeprefix(_RIGHT) in merged):
            merged[name] = value
    return merged


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _lines(value: Any, room: int) -> list[str]:
    """A value on lines of at most so many cells. Its own line ends are kept; other controls are inert."""
    if not isinstance(value, str):
        text = "(null)" if value is None else json.dumps(value, ensure_ascii=False)
    else:
        text = value if value.strip() and value != "(null)" else f'"{value}"'
    kept = text[:_MOST_CHARACTERS]
    lines: list[str] = []
    taken = 0
    for line in kept.split("\n"):
        clean = line.rstrip("\r")
        pieces = chop_cells(inert(clean), room) or [""]
        space = _MOST_LINES - len(lines)
        if len(pieces) > space:
            lines += pieces[:space]
            taken += _characters(clean, "".join(pieces[:space]))
            break
        lines += pieces
        taken += len(line) + 1
    left = len(text) - min(taken, len(kept))
    return [*lines, f"... ({counted(left, 'more character')})"] if left > 0 else lines


def _characters(text: str, escaped: str) -> int:
    """How many characters of a text its escaped beginning covers."""
    length = done = 0
    for character in text:
        length += len(inert(f"x{character}")) - 1  # a mark, too, stands upon something
        if length > len(escaped):
            break
        done += 1
    return done
