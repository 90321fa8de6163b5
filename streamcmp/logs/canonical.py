"""Two logs, made comparable: all decisions that concern both sides are taken here, before a row is read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import polars as pl

from streamcmp.comparison import OPTION_OF_SIDE, ROW, SIDES, Comparison, Rule, SideName
from streamcmp.errors import NoColumn, ShardLacksColumn, UnknownColumn, UsageError
from streamcmp.logs.beside import NO_BY, with_labels, with_slices
from streamcmp.logs.columns import Roles, repeat_notes, resolve_roles
from streamcmp.logs.families import Families, decide_families, named_columns
from streamcmp.logs.formats.base import profile_of
from streamcmp.logs.guards import Guard, guard_notes, resolve_guards
from streamcmp.logs.id_edit import IdEdit
from streamcmp.logs.ids import IdRule, decide_ids
from streamcmp.logs.judged import looked_up
from streamcmp.logs.lookup import Lookup, ThirdFile
from streamcmp.logs.metric import with_metric
from streamcmp.logs.model import Description, LogPair, Shard
from streamcmp.logs.one_model import rows_of_model
from streamcmp.logs.quantiles import find_edges
from streamcmp.logs.reading import Cook, ShardedLog
from streamcmp.logs.recipe import Recipe
from streamcmp.logs.slices_file import SliceColumns
from streamcmp.logs.source import inputs, open_shards
from streamcmp.logs.truth import LABEL, ids_of_third, resolve_truth
from streamcmp.logs.values import Column
from streamcmp.logs.view import View
from streamcmp.logs.where import Where, parse_where, resolve_where


def open_pair(
    comparison: Comparison,
    *,
    memory_budget: int | None = None,
    spill_dir: Path | None = None,
    complete: bool = False,
    scan: bool = True,
) -> LogPair:
    """Resolve a request into two canonical logs.

    Of rows, reads no more than NDJSON tells its types by (samples of the logs, all of a truth or slices file)
    and columns of which quantiles are wanted.

    Args:
        comparison: the request.
        memory_budget: bytes that the run may take; None for no limit.
        complete: look at all rows of files that do not tell their types (NDJSON), not at the first ones only.
        scan: look for quantiles, and at all rows of truth and slices files that do not tell their types;
            without, slices are not the ones that were asked for.
        spill_dir: where waits what is looked up in a truth or slices file that does not fit; None for the
            system's temporary folder.

    Raises:
        UsageError: a column, option or type that does not fit; the message lists what is there.
        DataError: an empty log, or truth or slices file.
    """
    shards: Mapping[SideName, Sequence[Shard]]
    shards = {side: _shards(comparison, side, memory_budget) for side in SIDES}
    if comparison.truth is not None and comparison.by_position and not is_wide(comparison):
        comparison, shards = with_labels(comparison, shards)
    beside: tuple[str, ...] = ()
    more_notes: tuple[str, ...] = ()
    if comparison.slices is not None and comparison.by_position:
        comparison, shards, beside, more_notes = with_slices(comparison, shards)
    views = {side: with_metric(View.of(side, shards[side]), comparison) for side in SIDES}
    if complete:
        views = {side: view.completed() for side, view in views.items()}
    wide, sample = is_wide(comparison), not scan and not complete
    try:
        plan = _Plan.of(comparison, views, wide=wide, sample=sample)
    except (NoColumn, UnknownColumn, ShardLacksColumn):
        # A key may appear late in an NDJSON file: look at all of it before giving up.
        if not any(view.can_learn for view in views.values()):
            raise
        plan = _Plan.of(
            comparison, {side: view.completed() for side, view in views.items()}, wide=wide, sample=sample
        )
    lookups = plan.lookups(memory_budget, spill_dir)
    edges = plan.find_edges(lookups, memory_budget) if scan else ()
    logs = plan.logs(lookups, memory_budget)
    both = None
    if wide:
        recipes = {f"{side}.": logs[side].recipe for side in SIDES}
        both = looked_up(Cook.of(plan.views["a"].parts, recipes, memory_budget), lookups)
    return OpenedPair(
        a=logs["a"],
        b=logs["b"],
        rule=plan.rule(beside),
        inputs={side: inputs(shards[side]) for side in SIDES},
        codecs=plan.families.codecs,
        guards=tuple(guard.name for guard in plan.guards),
        id_dtype=plan.ids.dtype if plan.ids is not None and plan.pairs_by_id else pl.String(),
        positional=not plan.pairs_by_id,
        wide=wide,
        notes=(*_opening_notes(shards), *plan.notes(), *more_notes, *edges),
        sides={side: plan.describe(side, shards[side]) for side in SIDES},
        advisory=tuple(guard.name for guard in plan.guards if guard.advisory),
        ids=plan.ids,
        both=both,
    )


def _shards(comparison: Comparison, side: SideName, memory: int | None) -> Sequence[Shard]:
    log = comparison.log(side)
    option = f"--{OPTION_OF_SIDE[side]}"
    shards = open_shards(
        log.source, option=option, input_format=log.input_format, columns=log.columns, memory=memory
    )
    if comparison.model_column is not None and log.model is not None:
        shards = rows_of_model(shards, comparison.model_column, log.model, f"{option}-model")
    return shards


def _opening_notes(shards: Mapping[SideName, Sequence[Shard]]) -> Iterator[str]:
    for side in SIDES:
        for shard in shards[side]:
            for note in getattr(shard, "notes", ()):
                yield f"{OPTION_OF_SIDE[side]}: {note}"


def is_wide(comparison: Comparison) -> bool:
    """Whether both requests read one source and differ in which columns hold the outcome."""
    a, b = comparison.a, comparison.b
    outcomes = [(log.correct, log.prediction, log.label, log.score, log.metric) for log in (a, b)]
    if a.model is not None:
        return False
    return _same_source(a.source, b.source) and outcomes[0] != outcomes[1] and not (a.on or b.on)


def _same_source(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, (str, Path)) and isinstance(b, (str, Path)):
        return str(a) == str(b) or Path(a).absolute() == Path(b).absolute()
    return isinstance(a, (list, tuple)) and type(a) is type(b) and len(a) == len(b) and all(
        _same_source(one, other) for one, other in zip(a, b, strict=True)
    )  # fmt: skip


@dataclass(frozen=True)
class OpenedPair(LogPair):
    """A LogPair that knows how to read both sides at once and how to show an id."""

    ids: IdRule | None = None
    both: Cook | None = None

    def together(self, chunk_rows: int) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        """Batches side by side: one scan for a wide log, else one of each side in step."""
        if self.both is not None:
            for batch in self.both.batches(chunk_rows):
                yield _part(batch, "a."), _part(batch, "b.")
            return
        one, other = self.a.batches(chunk_rows), self.b.batches(chunk_rows)
        for a, b in zip_longest(one, other, fillvalue=pl.DataFrame()):
            yield a, b
            if a.height != b.height:
                return

    def show_id(self, canonical: Any) -> str:
        """A canonical id as a person writes it."""
        return str(canonical) if self.ids is None else self.ids.show(canonical)


def _part(batch: pl.DataFrame, prefix: str) -> pl.DataFrame:
    return batch.select(
        pl.col(name).alias(name.removeprefix(prefix)) for name in batch.columns if name.startswith(prefix)
    )


@dataclass(frozen=True)
class _Plan:
    """All joint decisions."""

    comparison: Comparison
    views: Mapping[SideName, View]
    roles: Mapping[SideName, Roles]
    pairs_by_id: bool
    ids: IdRule | None
    truth: ThirdFile | None
    slices: ThirdFile | None
    where: Where | None
    guards: tuple[Guard, ...]
    families: Families

    @classmethod
    def of(cls, comparison: Comparison, views: Mapping[SideName, View], *, wide: bool, sample: bool) -> _Plan:
        """Decide. Raises a UsageError for whatever does not fit."""
        if comparison.where is not None:
            roots = parse_where(comparison.where)
            views = {
                side: view if all(view.has(name) for name in roots) else view.completed()
                for side, view in views.items()
            }  # fmt: skip
        pairs_by_id = not comparison.by_position and (not wide or bool(comparison.on))
        if comparison.slices is not None and not comparison.by:
            raise UsageError(NO_BY)
        third = comparison.truth, comparison.slices
        needs_ids = pairs_by_id or any(each is not None for each in third)
        roles = resolve_roles(comparison, views, ids=needs_ids)
        views = _informed(comparison, views, roles)
        truth, filed = (_third(comparison, what, sample=sample) for what in ("truth", "slices"))
        labels = None if truth is None else resolve_truth(comparison, roles, truth)
        families = decide_families(comparison, views, roles, labels, filed)
        slices = None
        if filed is not None:
            ids = ids_of_third(comparison, roles, filed, SliceColumns.kind)
            slices = ThirdFile(filed, ids, SliceColumns(families.filed))
        files = [each for each in (slices, labels) if each is not None]
        return cls(
            comparison,
            views,
            roles,
            pairs_by_id,
            _ids(comparison, views, roles, files) if needs_ids else None,
            labels,
            slices,
            resolve_where(comparison.where, views),
            tuple(resolve_guards(comparison, views, roles, wide=wide)),
            families,
        )

    def lookups(self, memory_budget: int | None, spill_dir: Path | None) -> list[Lookup]:
        """The third files, the slices file first; none of their rows is read yet."""
        found = [file for file in (self.slices, self.truth) if file is not None]
        folder = spill_dir or Path(tempfile.gettempdir())
        assert self.ids is not None or not found, "what is looked up needs ids"
        return [Lookup(file, self.ids, memory_budget, folder, len(found)) for file in found if self.ids]

    def find_edges(self, lookups: Sequence[Lookup], memory_budget: int | None) -> tuple[str, ...]:
        """Find the quantiles that are wanted; what they are, in sentences."""
        notes: list[str] = []
        for side in SIDES:
            wanted, roles = self.families.to_find(side), self.roles[side]
            if wanted:
                recipe = Recipe(
                    side, roles.ids, self.ids, roles.outcome, self.where, (), (), shows_id=self.pairs_by_id
                )
                notes += find_edges(self.views[side], recipe, wanted, memory_budget, lookups=lookups)
        if self.slices is not None and self.families.filed_waiting:
            recipe = Recipe("a", (), None, self.roles["a"].outcome, None, (), (), shows_id=False)
            notes += find_edges(self.slices.view, recipe, self.families.filed_waiting, memory_budget)
        return tuple(notes)

    def logs(self, lookups: Sequence[Lookup], memory_budget: int | None) -> dict[SideName, ShardedLog]:
        """The canonical logs."""
        made = {}
        for side in SIDES:
            roles = self.roles[side]
            wanted = {
                name for family in self.families.of(side) for _, one in family.columns for name in one.roots
            }
            wanted |= {LABEL} if roles.outcome.truth else set()
            own = [lookup for lookup in lookups if not wanted.isdisjoint(lookup.columns)]
            attached = {name: column for lookup in own for name, column in lookup.columns.items()}
            recipe = Recipe(
                side, roles.ids, self.ids, roles.outcome, self.where, self.guards, self.families.of(side),
                shows_id=self.pairs_by_id, attached=frozenset(attached),
            )  # fmt: skip
            recipe_check(recipe, self.views[side], attached)
            log = ShardedLog.of(self._holding(side), recipe, len(self.families.codecs), memory_budget)
            made[side] = replace(log, cook=looked_up(log.cook, own))
        return made

    def _holding(self, side: SideName) -> View:
        """The log without files that surely have no id of the shard that is asked for."""
        view, shard = self.views[side], self.comparison.shard
        if shard.of == 1 or not self.pairs_by_id or self.ids is None:
            return view
        ids, id_type = self.roles[side].ids, self.ids.id_type
        kept = [
            part
            for part in view.parts
            if (profile := profile_of(part.shard)) is None or not profile.lacks(shard, ids, id_type)
        ]
        return replace(view, parts=tuple(kept or view.parts[:1]))

    def rule(self, beside: tuple[str, ...]) -> Rule:
        """What makes the counts comparable with others. `beside`: slices of a file, by position."""
        policies = self.comparison.policies
        by_id = self.ids is not None and self.pairs_by_id
        return Rule(
            on=self.roles["a"].ids if by_id else (ROW,),
            id_type=self.ids.id_type if self.ids is not None and by_id else ROW,
            outcome={side: self.roles[side].outcome.describe() for side in SIDES},
            where=self.comparison.where,
            by=self.families.by,
            guards=tuple(guard.name for guard in self.guards if not guard.advisory),
            missing="wrong" if policies.missing == "wrong" else "exclude",
            mismatch="ignore" if policies.mismatch == "ignore" else "exclude",
            slices=self.families.describe(beside),
        )

    def describe(self, side: SideName, shards: Sequence[Shard]) -> Description:
        """What the log of a side is."""
        view, roles = self.views[side], self.roles[side]
        profiles = [profile for part in view.parts if (profile := profile_of(part.shard)) is not None]
        kinds = dict.fromkeys(getattr(shard, "format_name", "a table") for shard in shards)
        return Description(
            files=tuple(shard.label for shard in shards),
            format=profiles[0].harness if profiles else ", ".join(kinds),
            about=tuple(dict.fromkeys(profile.about for profile in profiles if profile.about))[:5],
            ids=roles.ids if self.pairs_by_id else (),
            outcome=roles.outcome.in_words(),
            columns=tuple(view.columns),
        )

    def notes(self) -> tuple[str, ...]:
        """What was detected, and what applies to one side only."""
        notes = [note for side in SIDES for note in self.roles[side].notes]
        notes += guard_notes(self.guards)
        notes += repeat_notes(self.views, self.roles)
        notes += self.families.notes()
        if self.comparison.by_position and any(view.has(ROW) for view in self.views.values()):
            notes.append(f"--on {ROW} pairs rows by their position, not by the column {ROW!r}")
        if self.where is not None and len(self.where.sides) == 1:
            (side,) = self.where.sides
            notes.append(f"--where filters the {OPTION_OF_SIDE[side]} log only: the other lacks its columns")
        return tuple(notes)


def recipe_check(recipe: Recipe, view: View, attached: Mapping[str, Column]) -> None:
    """Build every shard's expressions once: types that do not fit are an error before rows are read."""
    for part in view.parts:
        columns = {name: part.column(name) for name in recipe.columns()}
        recipe.build({**columns, **attached}, part.label)


def _third(comparison: Comparison, what: str, *, sample: bool) -> View | None:
    """The truth file or the slices file, if there is one. `sample`: do not look at all rows for its types."""
    source, columns = comparison.truth, comparison.truth_columns
    if what == "slices":
        source, columns = comparison.slices, comparison.slices_columns
    if source is None:
        return None
    view = View.of("a", open_shards(source, option=f"--{what}", columns=columns), what)
    return view if sample else view.completed()


def _informed(
    comparison: Comparison, views: Mapping[SideName, View], roles: Mapping[SideName, Roles]
) -> dict[SideName, View]:
    """A view whose id or slice column has shown nothing so far looks at all rows: it may come late."""
    informed = {}
    for side, view in views.items():
        slices = named_columns(comparison, view)
        silent = any(not view.kinds(name) for name in (*roles[side].ids, *slices))
        informed[side] = view.completed() if silent else view
    return informed


def _ids(
    comparison: Comparison,
    views: Mapping[SideName, View],
    roles: Mapping[SideName, Roles],
    third: Sequence[ThirdFile],
) -> IdRule:
    seen = [
        [entry for side in SIDES for entry in views[side].typed(roles[side].ids[index])]
        + [entry for file in third for entry in file.id_columns()[index]]
        for index in range(len(roles["a"].ids))
    ]
    return decide_ids(roles["a"].ids, seen, comparison.id_type, IdEdit.of(comparison))
