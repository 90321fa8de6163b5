"""The rows behind the counts: pairs on which the models differ, with any columns of both logs.

First the logs are paired and counted as ever, by strategies that know rows by their number, and the numbers
of the pairs wanted are kept. Then each log is read once more, columns to be shown only, for those rows.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import polars as pl

from streamcmp import interrupt
from streamcmp.accumulate import cells_of_events, events_of
from streamcmp.comparison import ROW, check_choice
from streamcmp.engines import local
from streamcmp.engines.gathered import IDENTITY, LABEL, Gathered
from streamcmp.engines.sampling import sample
from streamcmp.errors import ChangedType, InternalError, UsageError
from streamcmp.logs.picking import Wanted, in_turn
from streamcmp.logs.shown import KIND, Shown, answers_of, label_of, located, need_answers, shown, sides
from streamcmp.meter import Meter
from streamcmp.pairing.located import Located, evenly
from streamcmp.pairing.spill import hold_bytes
from streamcmp.tally import CELLS, OVERALL, SLICE_PREFIX, as_text, filed_by_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from streamcmp.comparison import Comparison, SideName
    from streamcmp.engines.local import Counted
    from streamcmp.logs.model import LogPair
    from streamcmp.pairing.batch import PairBatch
    from streamcmp.resources import Resources

    Planes = list[npt.NDArray[Any]]

Kind = Literal["both", "lost", "won", "churn"]
LOST, WON, CHURN = 1, 2, 3
_NAMES = ("", "lost", "won", "churn")
_KINDS: dict[str, tuple[int, ...]] = {"both": (LOST, WON), "lost": (LOST,), "won": (WON,), "churn": (CHURN,)}
_CELL_KINDS = {"n_ab": LOST, "n_ba": WON, "both_wrong": CHURN}
_WINDOW_BYTES, _LEAST_WINDOW, _MOST_WINDOW = 16 << 20, 100, 50_000


@dataclass(frozen=True)
class Question:
    """What is wanted: which flips, which of their columns, and how many.

    select: columns of either log; empty means all. answer: the column with each model's answer, where it is
    not the prediction. sample: so many of every slice and kind, chosen by `seed`. limit: the first so many.
    """

    kind: Kind = "both"
    select: tuple[str, ...] = ()
    answers_only: bool = False
    answer: Mapping[SideName, str | None] = field(default_factory=lambda: {"a": None, "b": None})
    sample: int | None = None
    seed: int = 0
    limit: int | None = None


class FlipRows:
    """The flips of one comparison. Close it, or use it in a `with`: rows may wait in files without names.

    counted: the tally of the same pass, to be judged before rows are read. kinds: name -> how many pairs are
    of it, of the kinds wanted. rows: how many are given. notes: what was decided for the user.
    """

    def __init__(
        self,
        pair: LogPair,
        resources: Resources,
        meter: Meter,
        question: Question,
        answers: Mapping[Any, str],
    ) -> None:
        self._pair, self._resources, self._meter = pair, resources, meter
        self._question = question
        self._closing = ExitStack()
        self._found: Located | None = None
        self.shown: Shown = shown(pair, _selected(pair, question, answers), answers)
        try:
            self.counted = local.counted(pair, resources, meter, self._watcher)
            self.kinds = self._verified(self.counted)
        except BaseException:
            self.close()
            raise

    @property
    def available(self) -> int:
        """How many flips there are; after `tables` has begun, how many of the sample."""
        assert self._found is not None
        return self._found.entries

    @property
    def rows(self) -> int:
        """How many of them are given."""
        most = self._question.limit
        return self.available if most is None else min(most, self.available)

    @property
    def head(self) -> tuple[str, ...]:
        """The columns that say which example a row is of, and its slices."""
        slices = (SLICE_PREFIX + column.name for codec in self._pair.codecs for column in codec.columns)
        return (*(self.shown.ids or (ROW,)), *dict.fromkeys(slices))

    def _watcher(self) -> Callable[[PairBatch], None]:
        self._closing.close()
        self._found = self._new()
        self._met = np.zeros(len(_NAMES), np.int64)
        cells = cells_of_events(self._pair.rule)
        kinds = np.array([_CELL_KINDS.get(CELLS[cell], 0) if cell >= 0 else 0 for cell in cells], np.uint8)
        wanted = np.isin(np.arange(len(_NAMES)), _KINDS[self._question.kind])
        store = self._found

        def watch(batch: PairBatch) -> None:
            assert batch.rows_a is not None
            assert batch.rows_b is not None
            kind = kinds[events_of(batch)]
            self._met += np.bincount(kind, minlength=len(_NAMES))
            keep = wanted[kind]
            if wanted[CHURN]:
                assert batch.advised is not None
                keep &= batch.advised
            at = np.flatnonzero(keep)
            store.append(
                [batch.rows_a[at], batch.rows_b[at], kind[at], *(codes[at] for codes in batch.slices)]
            )

        return watch

    def _new(self) -> Located:
        made = Located(self._types(), self._resources.spill_dir, hold_bytes(self._resources))
        self._closing.callback(made.close)
        return made

    def _verified(self, counted: Counted) -> dict[str, int]:
        """How many of each kind; they are as many as the tally has."""
        assert self._found is not None
        cells = dict(zip(CELLS, counted.tally.families[OVERALL].select(CELLS).row(0), strict=True))
        for cell, kind in _CELL_KINDS.items():
            if int(self._met[kind]) != cells[cell]:
                raise InternalError(
                    f"{self._met[kind]:,} rows were found for {cell}, of {cells[cell]:,} counted"
                )
        wanted = _KINDS[self._question.kind]
        kinds = {_NAMES[kind]: int(self._met[kind]) for kind in wanted}
        if wanted == (CHURN,):
            kinds = {_NAMES[CHURN]: self._found.entries}
        if sum(kinds.values()) != self._found.entries:
            raise InternalError(f"{self._found.entries:,} flips are kept of {sum(kinds.values()):,}")
        return kinds

    def tables(self) -> Iterator[pl.DataFrame]:
        """The rows, by the left log's order, in tables of one schema; at least one, if without rows."""
        self._choose()
        pair, a, b = sides(self._pair)
        window = self._window_rows()
        identify = not pair.positional
        shows = self.shown
        left = Gathered(
            a, shows.of("a"), window, self._resources, identify=identify, label=shows.truth is not None
        )
        made = [left]
        if pair.both is None:
            made.append(Gathered(b, shows.of("b"), window, self._resources, identify=identify, label=False))
        for gathered in made:
            self._closing.callback(gathered.close)
        if not self.rows:
            yield self._table(
                [np.empty(0, plane) for plane in self._types()], [one.nothing() for one in made]
            )
            return
        self._meter.begin("reading flips", sum(log.estimated_rows for log in (a, b)[: len(made)]))
        for right in made[1:]:
            by_b = self._by_b()
            right.take((Wanted(*entries) for entries in by_b.windows()), by_b.last, self._meter)
        windows = [
            left.in_order(in_turn(self._windows()), self._last_of_a(), self._meter),
            *(right.windows() for right in made[1:]),
        ]
        for planes, *rows in zip(evenly(self._windows(), window), *windows, strict=True):
            interrupt.check()
            yield self._table(planes, rows)

    def _types(self) -> list[np.dtype[Any]]:
        """Of what is kept of a flip: its rows, its kind, its slices."""
        families = [np.dtype(np.uint32)] * len(self._pair.codecs)
        return [np.dtype(np.int64), np.dtype(np.int64), np.dtype(np.uint8), *families]

    def _choose(self) -> None:
        """Leave out what the sample does not hold."""
        question, found = self._question, self._found
        assert found is not None
        if question.sample is None or not found.entries:
            return
        chosen = sample(self._pair, found, (question.sample, question.seed), self._resources, self._meter)
        fewer, done = self._new(), 0
        for planes in found.windows():
            here = (
                chosen[np.searchsorted(chosen, done) : np.searchsorted(chosen, done + len(planes[0]))] - done
            )
            fewer.append([plane[here] for plane in planes])
            done += len(planes[0])
        self._found = fewer

    def _windows(self) -> Iterator[Planes]:
        """The flips that are given, by a's rows."""
        assert self._found is not None
        left = self.rows
        for planes in self._found.windows():
            if left <= 0:
                return
            yield [plane[:left] for plane in planes]
            left -= len(planes[0])

    def _by_b(self) -> Located:
        """The flips that are given, by b's rows, each with its place."""
        turned = Located([np.dtype(np.int64)] * 2, self._resources.spill_dir, hold_bytes(self._resources))
        self._closing.callback(turned.close)
        place = 0
        for planes in self._windows():
            turned.append([planes[1], np.arange(place, place + len(planes[1]))])
            place += len(planes[1])
        return turned

    def _last_of_a(self) -> int:
        """The last row of a that is given."""
        assert self._found is not None
        if self.rows == self._found.entries:
            return self._found.last
        return max(int(planes[0][-1]) for planes in self._windows())

    def _window_rows(self) -> int:
        """How many rows make a table: so many that they take 16 MB, by the size of the files alone."""
        pair, *logs = sides(self._pair)
        per_row = 0
        for log in logs[: 1 if pair.both is not None else 2]:
            known = sum(part.shard.size or 0 for part in log.cook.parts)
            rows = self.counted.tally.ledger.side(log.side).rows if self.counted.tally.ledger else 1
            per_row += 4 * known // max(1, rows) + 16 * len(self.shown.of(log.side))
        return min(_MOST_WINDOW, max(_LEAST_WINDOW, _WINDOW_BYTES // max(1, per_row)))

    def _table(self, planes: Planes, gathered: Sequence[pl.DataFrame]) -> pl.DataFrame:
        """One table of the result."""
        given = self.shown
        ids = [one[IDENTITY] for one in gathered if IDENTITY in one.columns]
        if ids and not ids[0].equals(ids[-1]):
            raise InternalError("rows that were paired have different ids")
        of: dict[SideName, pl.DataFrame] = {"a": gathered[0], "b": gathered[-1]}
        columns = [of["a"][name].alias(result) for result, name in given.ids.items()]
        if self._pair.positional:
            columns.append(pl.Series(ROW, planes[0] + 1))
        found: dict[str, pl.Series] = {}
        filed = {SLICE_PREFIX + name for name in filed_by_id(self._pair.rule)}
        for codec, codes in zip(self._pair.codecs, planes[3:], strict=True):
            for column in codec.decode(codes).get_columns():
                # What ids may lack is text in every table, whether one is lacking there or not.
                text = column.name in filed and column.dtype != pl.Enum
                found.setdefault(column.name, as_text(column) if text else column)
        kinds = pl.Series(KIND, _NAMES, pl.String).gather(planes[2])
        columns += [*found.values(), kinds]
        if given.truth is not None:
            columns.append(of["a"][LABEL].alias(given.truth))
        columns += [of[side][name].alias(result) for result, (side, name) in given.columns.items()]
        return pl.DataFrame(columns)

    def close(self) -> None:
        """Free memory and disk."""
        self._closing.close()

    def __enter__(self) -> FlipRows:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _selected(pair: LogPair, question: Question, answers: Mapping[Any, str]) -> tuple[str, ...]:
    """The columns asked for; with `answers_only` those with answers and labels."""
    if question.select or not question.answers_only:
        return question.select
    _, *logs = sides(pair)
    names: dict[str, None] = {}
    for log in logs:
        wanted = (answers.get(log.side), log.recipe.outcome.value, label_of(log))
        names |= dict.fromkeys(name for name in wanted if name is not None)
    return tuple(names)


def find(
    comparison: Comparison,
    resources: Resources,
    question: Question,
    on_note: Callable[[str], None] | None = None,
    meter: Meter | None = None,
) -> FlipRows:
    """Pair, count, and keep where the flips are.

    Raises:
        UsageError: as for a comparison; a column selected does not exist; or churn is asked for of logs that
            do not tell what the models answered.
        DataError: as for a comparison.
    """
    check_choice("--kind", question.kind, get_args(Kind))
    for name, value, least in (("sample", question.sample, 1), ("limit", question.limit, 0)):
        if value is not None and value < least:
            raise UsageError(f"--{name} must be at least {least}, not {value}")
    if not 0 <= question.seed < 2**64:
        raise UsageError(f"--seed must be from 0 to 2^64 - 1, not {question.seed}")
    pair = local.opened(comparison, resources)
    for note in pair.notes:
        if on_note is not None:
            on_note(note)
    try:
        found = _found(comparison, pair, resources, question, meter or Meter())
    except ChangedType:
        pair = local.opened(comparison, resources, complete=True)
        found = _found(comparison, pair, resources, question, meter or Meter())
    if comparison.truth is not None and not pair.positional and found.shown.truth is None and on_note:
        on_note("the truth file does not fit the memory: its labels do not stand beside the flips")
    return found


def _found(
    comparison: Comparison, pair: LogPair, resources: Resources, question: Question, meter: Meter
) -> FlipRows:
    answers = answers_of(pair, question.answer)
    if question.kind == "churn":
        need_answers(pair, answers)
    pair = located(pair, answers if question.kind == "churn" else None, comparison.label_type)
    return FlipRows(pair, resources, meter, replace(question), answers)
