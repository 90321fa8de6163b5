"""The families of `--by`: which log carries which, under which names, with one set of codes for both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from streamcmp.comparison import OPTION_OF_SIDE, SIDES, Comparison, SideName
from streamcmp.errors import UsageError
from streamcmp.logs.slices import FamilyCodec, SliceColumn, decide_slice, whole_numbers
from streamcmp.logs.view import View, refuse_unknown
from streamcmp.tally import family_name


@dataclass(frozen=True, slots=True)
class Family:
    """A family as one side carries it: its codec, and its columns with this side's names for them."""

    index: int
    codec: FamilyCodec
    columns: tuple[tuple[SliceColumn, str], ...]


def decide_families(
    comparison: Comparison, views: Mapping[SideName, View]
) -> tuple[tuple[FamilyCodec, ...], dict[SideName, tuple[Family, ...]]]:
    """One codec per `--by` term, and what each side carries of it."""
    names: dict[SideName, dict[str, str]] = {side: _own_names(comparison, views[side]) for side in SIDES}
    columns: dict[str, SliceColumn] = {}
    codecs: list[FamilyCodec] = []
    carried: dict[SideName, list[Family]] = {side: [] for side in SIDES}
    for index, term in enumerate(comparison.by):
        carriers = [side for side in SIDES if all(name in names[side] for name in term)]
        if not carriers:
            _refuse(term, names, views)
        for name in term:
            if name not in columns:
                own = {side: names[side][name] for side in SIDES if name in names[side]}
                seen = {side: views[side].typed(column) for side, column in own.items()}
                whole = whole_numbers(seen)
                spans = [views[side].span(column) for side, column in own.items() if whole and seen[side]]
                columns[name] = decide_slice(name, seen, spans)
        codec = FamilyCodec([columns[name] for name in term], carriers[0])
        codecs.append(codec)
        for side in carriers:
            parts = tuple((columns[name], names[side][name]) for name in term)
            carried[side].append(Family(index, codec, parts))
    return tuple(codecs), {side: tuple(families) for side, families in carried.items()}


def _own_names(comparison: Comparison, view: View) -> dict[str, str]:
    """The `--by` columns that a side has: name in the report -> name on this side."""
    log = comparison.log(view.side)
    if not log.by:
        return {name: name for term in comparison.by for name in term if view.has(name)}
    option = f"--{OPTION_OF_SIDE[view.side]}-by"
    names: dict[str, str] = {}
    for term, own_term in zip(comparison.by, log.by, strict=True):
        for name, own in zip(term, own_term, strict=True):
            if names.setdefault(name, view.require(own, option)) != own:
                raise UsageError(
                    f"{option} gives {name!r} two columns, {names[name]!r} and {own!r}; name one"
                )
    return names


def _refuse(
    term: tuple[str, ...], names: Mapping[SideName, Mapping[str, str]], views: Mapping[SideName, View]
) -> NoReturn:
    """Raise the error for a term that no side carries."""
    for name in term:
        if not any(name in names[side] for side in SIDES):
            refuse_unknown(name, views, "--by")
    raise UsageError(
        f"--by {family_name(term)}: no log has all of these columns; crossed slices come from one log\n"
        + "\n".join(f"columns of {view.label}: {', '.join(view.columns)}" for view in views.values())
    )
