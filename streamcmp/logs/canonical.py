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
from streamcmp.errors import DataError, NoColumn, ShardLacksColumn, UnknownColumn
from streamcmp.logs.beside import with_labels
from streamcmp.logs.columns import Roles, repeat_notes, resolve_roles
from streamcmp.logs.families import CLASS, Families, decide_families, named_columns
from streamcmp.logs.formats.base import profile_of
from streamcmp.logs.guards import Guard, guard_notes, resolve_guards
from streamcmp.logs.id_edit import IdEdit
from streamcmp.logs.ids import IdRule, decide_ids
from streamcmp.logs.judged import PartedTruth, judged
from streamcmp.logs.metric import with_metric
from streamcmp.logs.model import Description, LogPair, Shard
from streamcmp.logs.one_model import rows_of_model
from streamcmp.logs.quantiles import find_edges
from streamcmp.logs.reading import Cook, ShardedLog
from streamcmp.logs.recipe import Recipe
from streamcmp.logs.source import inputs, open_shards
from streamcmp.logs.truth import Truth, TruthColumns, resolve_truth
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

    Of rows, reads NDJSON samples, the truth file, and columns of which quantiles are wanted.

    Args:
        comparison: the request.
        memory_budget: bytes that the run may take; None for no limit.
        complete: look at all rows of files that do not tell their types (NDJSON), not at the first ones only.
        scan: look for quantiles; without, slices are not the ones that were asked for.
        spill_dir: where outcomes wait if the truth file does not fit; None for the system's temporary folder.

    Raises:
        UsageError: a column, option or type that does not fit; the message lists what is there.
        DataError: an empty log, or a truth file that cannot be used.
    """
    shards = {side: _shards(comparison, side, memory_budget) for side in SIDES}
    if comparison.truth is not None and comparison.by_position and not is_wide(comparison):
        comparison, shards = with_labels(comparison, shards)
    views = {side: with_metric(View.of(side, shards[side]), comparison) for side in SIDES}
    if complete:
        views = {side: view.completed() for side, view in views.items()}
    wide = is_wide(comparison)
    try:
        plan = _Plan.of(comparison, views, wide=wide)
    except (NoColumn, UnknownColumn, ShardLacksColumn):
        # A key may appear late in an NDJSON file: look at all of it before giving up.
        if not any(view.can_learn for view in views.values()):
            raise
        plan = _Plan.of(comparison, {side: view.completed() for side, view in views.items()}, wide=wide)
    truth, parted = plan.labels(memory_budget, spill_dir)
    edges = plan.find_edges(truth, memory_budget) if scan else ()
    logs = plan.logs(truth, parted, memory_budget)
    both = None
    if wide:
        recipes = {f"{side}.": logs[side].recipe for side in SIDES}
        both = judged(Cook.of(plan.views["a"].parts, recipes, memory_budget), parted)
    return OpenedPair(
        a=logs["a"],
        b=logs["b"],
        rule=plan.rule(),
        inputs={side: inputs(shards[side]) for side in SIDES},
        codecs=plan.families.codecs,
        guards=tuple(guard.name for guard in plan.guards),
        id_dtype=plan.ids.dtype if plan.ids is not None and plan.pairs_by_id else pl.String(),
        positional=not plan.pairs_by_id,
        wide=wide,
        notes=(*_opening_notes(shards), *plan.notes(), *edges),
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
    truth: TruthColumns | None
    where: Where | None
    guards: tuple[Guard, ...]
    families: Families

    @classmethod
    def of(cls, comparison: Comparison, views: Mapping[SideName, View], *, wide: bool) -> _Plan:
        """Decide. Raises a UsageError for whatever does not fit."""
        if comparison.where is not None:
            roots = parse_where(comparison.where)
            views = {
                side: view if all(view.has(name) for name in roots) else view.completed()
                for side, view in views.items()
            }  # fmt: skip
        pairs_by_id = not comparison.by_position and (not wide or bool(comparison.on))
        needs_ids = pairs_by_id or comparison.truth is not None
        roles = resolve_roles(comparison, views, ids=needs_ids)
        views = _informed(comparison, views, roles)
        truth = None
        if comparison.truth is not None:
            found = open_shards(comparison.truth, option="--truth", columns=comparison.truth_columns)
            truth = resolve_truth(comparison, roles, found)
        return cls(
            comparison,
            views,
            roles,
            pairs_by_id,
            _ids(comparison, views, roles, truth) if needs_ids else None,
            truth,
            resolve_where(comparison.where, views),
            tuple(resolve_guards(comparison, views, roles, wide=wide)),
            decide_families(comparison, views, roles, truth),
        )

    def labels(
        self, memory_budget: int | None, spill_dir: Path | None
    ) -> tuple[Truth | None, PartedTruth | None]:
        """What the truth file holds; a sample and the parts it comes in where it does not fit."""
        if self.truth is None or self.ids is None:
            return None, None
        truth, parts = self.truth.load(self.ids, memory_budget=memory_budget)
        if parts == 1:
            return truth, None
        if self.families.labels:
            raise DataError(
                f"{self.truth.view.label} is too large for the memory, and --by {CLASS} needs its labels at "
                "hand; raise --memory, or store the label in a log"
            )
        folder = spill_dir or Path(tempfile.gettempdir())
        return truth.sample(), PartedTruth(self.truth, self.ids, parts, folder)

    def find_edges(self, truth: Truth | None, memory_budget: int | None) -> tuple[str, ...]:
        """Find the quantiles that are wanted; what they are, in sentences."""
        notes: list[str] = []
        for side in SIDES:
            wanted, roles = self.families.to_find(side), self.roles[side]
            if wanted:
                recipe = Recipe(
                    side,
                    roles.ids,
                    self.ids,
                    roles.outcome,
                    truth,
                    self.where,
                    (),
                    (),
                    shows_id=self.pairs_by_id,
                )
                notes += find_edges(self.views[side], recipe, wanted, memory_budget)
        return tuple(notes)

    def logs(
        self, truth: Truth | None, parted: PartedTruth | None, memory_budget: int | None
    ) -> dict[SideName, ShardedLog]:
        """The canonical logs."""
        made = {}
        for side in SIDES:
            roles = self.roles[side]
            recipe = Recipe(
                side, roles.ids, self.ids, roles.outcome, truth, self.where, self.guards,
                self.families.of(side), shows_id=self.pairs_by_id,
            )  # fmt: skip
            recipe_check(recipe, self.views[side])
            log = ShardedLog.of(self.views[side], recipe, len(self.families.codecs), memory_budget)
            made[side] = replace(log, cook=judged(log.cook, parted))
        return made

    def rule(self) -> Rule:
        """What makes the counts comparable with others."""
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
            slices=self.families.describe(),
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


def recipe_check(recipe: Recipe, view: View) -> None:
    """Build every shard's expressions once: types that do not fit are an error before rows are read."""
    for part in view.parts:
        columns = {name: part.column(name) for name in recipe.columns()}
        if recipe.truth is not None:
            columns[recipe.truth.column.name] = recipe.truth.column
        recipe.build(columns, part.label)


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
    truth: TruthColumns | None,
) -> IdRule:
    seen = [
        [entry for side in SIDES for entry in views[side].typed(roles[side].ids[index])]
        + (list(truth.id_columns()[index]) if truth is not None else [])
        for index in range(len(roles["a"].ids))
    ]
    return decide_ids(roles["a"].ids, seen, comparison.id_type, IdEdit.of(comparison))
