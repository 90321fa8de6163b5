"""What there is to show of a pair of rows besides its counts: the columns of both logs, and the answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from streamcmp.comparison import OPTION_OF_SIDE, ROW, SIDES, LabelType, SideName
from streamcmp.errors import AmbiguousColumn, UnknownColumn, UsageError
from streamcmp.logs.canonical import OpenedPair
from streamcmp.logs.columns import GUARD_LABELS, PREDICTION_RANKS, detect
from streamcmp.logs.guards import Guard, agree
from streamcmp.logs.judged import labels_of
from streamcmp.logs.model import LogPair
from streamcmp.logs.reading import Cook, ShardedLog
from streamcmp.logs.recipe import Recipe
from streamcmp.logs.view import Part, View
from streamcmp.tally import SLICE_PREFIX

KIND = "kind"
TRUTH = "truth."
_OWN = "log."  # before a column whose name is taken


@dataclass(frozen=True)
class Shown:
    """What a row of the result holds, in order: ids, slices, kind, the truth's label, columns of the logs.

    ids: name in the result -> a's column (none where rows pair by position: there it is their number).
    columns: name in the result -> its side and its name there. answers: the names in the result of what the
    models said, where that is known, and labels, those of the true labels.
    """

    ids: Mapping[str, str]
    truth: str | None
    columns: Mapping[str, tuple[SideName, str]]
    answers: Mapping[SideName, str]
    labels: tuple[str, ...]

    def of(self, side: SideName) -> list[str]:
        """The raw columns of a side to read, the ids of a among them."""
        ids = list(self.ids.values()) if side == "a" else []
        return list(dict.fromkeys([*ids, *(name for own, name in self.columns.values() if own == side)]))


def sides(pair: LogPair) -> tuple[OpenedPair, ShardedLog, ShardedLog]:
    """The pair and its logs as what they are where files are read on this machine."""
    assert isinstance(pair, OpenedPair)
    assert isinstance(pair.a, ShardedLog)
    assert isinstance(pair.b, ShardedLog)
    return pair, pair.a, pair.b


def located(pair: LogPair, answers: Mapping[SideName, str] | None, label_type: LabelType | None) -> LogPair:
    """The pair, its batches with the numbers of their rows.

    With `answers` (a column per side) the only guard that warns tells whether these differ.

    Raises:
        UsageError: the answers' types cannot be compared.
    """
    opened, *logs = sides(pair)
    recipes: dict[SideName, Recipe] = {log.side: log.recipe for log in logs}
    advisory, guards = opened.advisory, opened.guards
    if answers is not None:
        views: dict[SideName, View] = {
            log.side: View(log.side, f"the {OPTION_OF_SIDE[log.side]} log", log.cook.parts) for log in logs
        }
        guard = Guard(answers["a"], answers, automatic=True, advisory=True, what="answer")
        guard = agree(guard, views, label_type)
        strict = tuple(one for one in recipes["a"].guards if not one.advisory)
        recipes = {
            side: replace(recipe, guards=(*strict, guard), _built={}) for side, recipe in recipes.items()
        }
        advisory, guards = (guard.name,), (*(one.name for one in strict), guard.name)
    a, b = (
        replace(log, recipe=recipes[log.side], cook=_numbered(log.cook, {"": recipes[log.side]}))
        for log in logs
    )
    both = opened.both
    if both is not None:
        both = _numbered(both, {f"{side}.": recipes[side] for side in SIDES})
    return replace(opened, a=a, b=b, both=both, guards=guards, advisory=advisory, located=True)


def _numbered(cook: Cook, recipes: Mapping[str, Recipe]) -> Cook:
    return replace(cook, recipes=recipes, numbered=True)


def answers_of(pair: LogPair, given: Mapping[SideName, str | None]) -> dict[SideName, str]:
    """What each model said: the column named, else the prediction, else one that is likely to hold it.

    Raises:
        UnknownColumn: a log lacks the column named.
    """
    _, *logs = sides(pair)
    found: dict[SideName, str] = {}
    for log in logs:
        columns, name = pair.sides[log.side].columns, given[log.side]
        if name is not None:
            if not any(name in part.schema for part in log.cook.parts):
                where = f"the {OPTION_OF_SIDE[log.side]} log"
                raise UnknownColumn(name, where=where, columns=columns, option="--answer")
            found[log.side] = name
        elif log.recipe.outcome.kind in ("equal", "within"):
            found[log.side] = log.recipe.outcome.value
        elif (name := _likely(log, columns)) is not None:
            found[log.side] = name
    return found


def _likely(log: ShardedLog, columns: Sequence[str]) -> str | None:
    """A column that holds answers by its name: where evaluation harnesses put them, or a prediction's."""
    beside = f"{log.recipe.outcome.value.removesuffix('.value')}.answer"
    for name in (beside, "filtered_resps"):
        if name in columns:
            return name
    try:
        return detect(columns, PREDICTION_RANKS, role="answer", where="", option="")
    except AmbiguousColumn:
        return None


def need_answers(pair: LogPair, answers: Mapping[SideName, str]) -> None:
    """Raise UsageError where a side's answers are not known."""
    for side in SIDES:
        if side not in answers:
            raise UsageError(
                f"churn is two different wrong answers, and the {OPTION_OF_SIDE[side]} log only says what is "
                f"{pair.sides[side].outcome}; name the column with the model's answers with --answer "
                f"(or --{OPTION_OF_SIDE[side]}-answer)\nits columns: {', '.join(pair.sides[side].columns)}"
            )


def shown(pair: LogPair, select: Sequence[str], answers: Mapping[SideName, str]) -> Shown:
    """The columns of a result: all, or those selected of either log. Ids always are.

    Raises:
        UnknownColumn: a column selected is in neither log.
    """
    opened, a, b = sides(pair)
    wide = opened.both is not None
    # Labels that come in parts come and go with them.
    label = None if labels_of(a.cook) is None else TRUTH + (a.recipe.outcome.label or "label")
    taken = {KIND, *(SLICE_PREFIX + column.name for codec in pair.codecs for column in codec.columns)}
    taken |= {label} if label is not None else set()
    ids = _ids(pair, a, taken)
    logs = (a,) if wide else (a, b)
    having = {log.side: _columns(log, select) for log in logs}
    names = list(dict.fromkeys(name for found in having.values() for name in found))
    for name in select:
        if name not in names:
            every = dict.fromkeys(column for side in SIDES for column in pair.sides[side].columns)
            raise UnknownColumn(name, where=None, columns=list(every), option="--select")
    edited = opened.ids is not None and opened.ids.components[0].edit is not None
    columns: dict[str, tuple[SideName, str]] = {}
    for name in names:
        for log in logs:
            own_id = name in log.recipe.id_names and not pair.positional
            if name in having[log.side] and (not own_id or (edited and log.side == "b")):
                prefix = "" if wide else f"{OPTION_OF_SIDE[log.side]}."
                columns[_free(prefix + name, _OWN, taken)] = (log.side, name)
    return Shown(ids, label, columns, *_roles(columns, answers, (a, b), label, wide=wide))


def _ids(pair: LogPair, a: ShardedLog, taken: set[str]) -> dict[str, str]:
    """Under their own names, or as `id.NAME` where those are taken; of rows paired by position none."""
    if pair.positional:
        taken.add(ROW)
        return {}
    return {_free(name, "id.", taken): name for name in a.recipe.id_names}


def _free(name: str, prefix: str, taken: set[str]) -> str:
    """The name, after as many prefixes as it takes to be no other's; it is taken from now on."""
    while name in taken:
        name = prefix + name
    taken.add(name)
    return name


def _roles(
    columns: Mapping[str, tuple[SideName, str]],
    answers: Mapping[SideName, str],
    logs: tuple[ShardedLog, ShardedLog],
    truth: str | None,
    *,
    wide: bool,
) -> tuple[dict[SideName, str], tuple[str, ...]]:
    """Where in the result answers and labels are."""
    places = {(side, name): result for result, (side, name) in columns.items()}
    said: dict[SideName, str] = {}
    labels: list[str] = [truth] if truth is not None else []
    for log in logs:
        side: SideName = "a" if wide else log.side
        answer = answers.get(log.side, log.recipe.outcome.value)
        if (side, answer) in places:
            said[log.side] = places[side, answer]
        label = label_of(log)
        if label is not None and (side, label) in places:
            labels.append(places[side, label])
    return said, tuple(dict.fromkeys(labels))


def label_of(log: ShardedLog) -> str | None:
    """The column with a log's labels: that of its outcome, else the one that guards its pairs."""
    guards = (
        guard.columns[log.side] for guard in log.recipe.guards if guard.automatic and not guard.advisory
    )
    return log.recipe.outcome.label or next((name for name in guards if name.lower() in GUARD_LABELS), None)


def _columns(log: ShardedLog, select: Sequence[str]) -> list[str]:
    """The columns of any file of a log, without the fields of objects; or the selected ones that it has."""
    schemas = [_schema(part, select) for part in log.cook.parts]
    if select:
        return [name for name in select if any(name in schema for schema in schemas)]
    return list(dict.fromkeys(name for schema in schemas for name in _whole(schema)))


def _schema(part: Part, select: Sequence[str]) -> Mapping[str, pl.DataType]:
    """A part's columns; of one whose rows may lack keys all of them, as far as they matter."""
    if not part.sparse or (select and all(name in part.schema for name in select)):
        return part.schema
    return part.shard.schema(complete=True)


def _whole(schema: Mapping[str, pl.DataType]) -> Iterator[str]:
    for name in schema:
        above = (name[:at] for at, letter in enumerate(name) if letter == ".")
        if not any(isinstance(schema.get(outer), pl.Struct) for outer in above):
            yield name
