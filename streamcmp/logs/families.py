"""The families of `--by`: which log carries which, under which names, with one set of codes for both."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from streamcmp.comparison import ALL_PAIRS, OPTION_OF_SIDE, SIDES, Comparison, SideName
from streamcmp.errors import StreamcmpError, UsageError
from streamcmp.logs.columns import GUARD_LABELS, Roles, candidates
from streamcmp.logs.cuts import CutColumn, Quantiles, quantiles
from streamcmp.logs.derived import Source, parse_expression
from streamcmp.logs.lookup import ThirdFile
from streamcmp.logs.sets import decide_set, holds_lists
from streamcmp.logs.slices import Coded, FamilyCodec, Seen, decide_slice, whole_numbers
from streamcmp.logs.slices_file import FiledSlice
from streamcmp.logs.truth import LABEL, Labels
from streamcmp.logs.view import View, refuse_unknown
from streamcmp.slicing import Part, is_cut, parse_part, without_as
from streamcmp.tally import family_name
from streamcmp.terms import Plain

CLASS = "class"  # means the label, where no column is called so


@dataclass(frozen=True, slots=True)
class Family:
    """A family as one side carries it: its codec, and its columns with where this side finds their values."""

    index: int
    codec: FamilyCodec
    columns: tuple[tuple[Coded, Source], ...]


@dataclass(frozen=True)
class Families:
    """All families. `by`: per family its columns' names in the report; `about`: see `Rule.slices`."""

    by: tuple[tuple[str, ...], ...] = ()
    codecs: tuple[FamilyCodec, ...] = ()
    sides: Mapping[SideName, tuple[Family, ...]] | None = None
    parts: Mapping[str, Part] | None = None
    labels: frozenset[str] = frozenset()
    waiting: Mapping[SideName, tuple[Quantiles, ...]] | None = None
    filed: tuple[FiledSlice, ...] = ()
    filed_waiting: tuple[Quantiles, ...] = ()  # of the slices file's rows
    filed_notes: tuple[str, ...] = ()

    def of(self, side: SideName) -> tuple[Family, ...]:
        """What a side carries."""
        return (self.sides or {}).get(side, ())

    def notes(self) -> tuple[str, ...]:
        """What `class` was taken for, and what is of the slices file."""
        if not self.labels:
            return self.filed_notes
        names = dict.fromkeys(
            "the truth file's" if source.roots == (LABEL,) else repr(source.name)
            for families in (self.sides or {}).values()
            for family in families
            for column, source in family.columns
            if column.name in self.labels
        )
        means = f"--by {CLASS} means the label ({', '.join(names)}), as no column has that name"
        return (means, *self.filed_notes)

    def to_find(self, side: SideName) -> tuple[Quantiles, ...]:
        """The columns whose edges a side's values decide."""
        return (self.waiting or {}).get(side, ())

    def describe(self, beside: Collection[str] = ()) -> dict[str, Any]:
        """What makes slices comparable that are not plain columns; the edges as far as they are known.

        `beside`: columns of the logs that are those of a slices file, by position.
        """
        found: dict[str, Any] = {}
        for family in (family for side in SIDES for family in self.of(side)):
            for column, source in family.columns:
                about = _about(column, (self.parts or {})[column.name], label=column.name in self.labels)
                if isinstance(column, FiledSlice):
                    about["file"] = "by id"
                elif not set(source.roots).isdisjoint(beside):
                    about["file"] = "by position"
                if about:
                    found[column.name] = about
        return found


def _about(column: Coded, part: Part, *, label: bool) -> dict[str, Any]:
    about: dict[str, Any] = {"label": True} if label else {}
    if part.expression is not None or part.cut is not None:
        about["of"] = part.expression or part.column
    if part.cut is not None:
        about["cut"] = part.cut.kind
        if part.cut.kind != "bins":
            about["count"] = part.cut.count
    cut = column.inner if isinstance(column, FiledSlice) else column
    if isinstance(cut, CutColumn):
        about["edges"] = list(cut.edges)
    return about | ({"overlapping": True} if column.overlapping else {})


def decide_families(
    comparison: Comparison,
    views: Mapping[SideName, View],
    roles: Mapping[SideName, Roles],
    truth: ThirdFile | None,
    slices: View | None = None,
) -> Families:
    """One codec per `--by` term, and what each side carries of it.

    What neither log has comes from the slices file, if there is one; what that alone tells, side a carries.
    """
    finder = _Finder(comparison, views, roles, truth, slices)
    columns: dict[str, Coded] = {}
    codecs: list[FamilyCodec] = []
    by: list[tuple[str, ...]] = []
    carried: dict[SideName, list[Family]] = {side: [] for side in SIDES}
    waiting: dict[SideName, list[Quantiles]] = {side: [] for side in SIDES}
    for index, texts in enumerate(comparison.by):
        parts = [finder.part(text) for text in texts]
        sources = {side: finder.sources(side, index, parts) for side in SIDES}
        carriers = [side for side in SIDES if all(source is not None for source in sources[side])]
        if not carriers:
            finder.refuse(parts)
        if all(part.name in finder.filed for part in parts):
            carriers = carriers[:1]
        for at, part in enumerate(parts):
            if part.name in finder.filed:
                columns[part.name] = finder.filed[part.name]
            elif part.name not in columns:
                own = {side: source for side in SIDES if (source := sources[side][at]) is not None}
                seen = {side: finder.typed(side, source) for side, source in own.items()}
                columns[part.name] = column = decide(part, seen, finder.spans(own, seen))
                if isinstance(column, CutColumn) and part.cut is not None and part.cut.kind == "quantiles":
                    first = next(iter(own))
                    waiting[first].append(quantiles(column, own[first], seen[first]))
        codec = FamilyCodec([columns[part.name] for part in parts], carriers[0])
        codecs.append(codec)
        by.append(tuple(part.name for part in parts))
        for side in carriers:
            pairs = zip(codec.columns, sources[side], strict=True)
            carried[side].append(
                Family(
                    index, codec, tuple((column, source) for column, source in pairs if source is not None)
                )
            )
    _check_names(by)
    return Families(
        tuple(by),
        tuple(codecs),
        {side: tuple(families) for side, families in carried.items()},
        finder.parts,
        frozenset(finder.labels),
        {side: tuple(found) for side, found in waiting.items()},
        tuple(finder.filed.values()),
        tuple(finder.filed_waiting),
        finder.notes(),
    )


def named_columns(comparison: Comparison, view: View) -> list[str]:
    """The columns of a log that `--by` names, as far as they can be told before they are looked for."""
    found: list[str] = []
    for term in comparison.log(view.side).by or comparison.by:
        for text in term:
            try:
                part = Part(text) if isinstance(text, Plain) or view.has(text) else parse_part(text)
                found += parse_expression(part.expression) if part.expression else [part.column]
            except UsageError:  # said when the family is decided
                continue
    return found


def _check_names(by: list[tuple[str, ...]]) -> None:
    """Texts that differ may have one name: `bins(0,1)` and `bins(0, 1)`."""
    for term in by:
        if len(set(term)) < len(term):
            raise UsageError(f"--by {family_name(term)} names the same column twice")
        if by.count(term) > 1:
            raise UsageError(f"--by names the family {family_name(term)} twice")
        if family_name(term) == ALL_PAIRS:
            raise UsageError(f"--by: the family of all pairs is called {ALL_PAIRS}; use another name")


class _Finder:
    """Looks for what `--by` names."""

    def __init__(
        self,
        comparison: Comparison,
        views: Mapping[SideName, View],
        roles: Mapping[SideName, Roles],
        truth: ThirdFile | None,
        third: View | None,
    ) -> None:
        self._comparison, self._views, self._roles, self._truth = comparison, views, roles, truth
        self._third = third
        self._outdone: dict[str, str] = {}  # names that a log has, and the slices file, too
        self.filed: dict[str, FiledSlice] = {}
        self.filed_waiting: list[Quantiles] = []
        self._own: dict[tuple[SideName, str], str] = {}
        self.parts: dict[str, Part] = {}
        self.labels: set[str] = set()

    def part(self, text: str) -> Part:
        """What a text asks for: a column of this name, whatever it looks like, goes before all else."""
        part = Part(str(text)) if self._is_column(text) else parse_part(text)
        if self.parts.setdefault(part.name, part) != part:
            raise UsageError(f"--by gives the name {part.name!r} to two different columns; rename one")
        return part

    def _is_column(self, text: str) -> bool:
        views = [*self._views.values(), *([self._third] if self._third is not None else [])]
        return isinstance(text, Plain) or any(view.has(text) for view in views)

    def sources(self, side: SideName, term: int, parts: list[Part]) -> list[Source | None]:
        """Where a side finds each part; None where it does not have it."""
        own_terms = self._comparison.log(side).by
        if not own_terms:
            return [self._source(side, part) or self._filed(part) for part in parts]
        option = f"--{OPTION_OF_SIDE[side]}-by"
        return [
            self._named(side, part, text, option) for part, text in zip(parts, own_terms[term], strict=True)
        ]

    def _named(self, side: SideName, part: Part, text: str, option: str) -> Source:
        """What `--left-by` or `--right-by` says of a part: a column, or another expression."""
        view = self._views[side]
        own = Part(str(text)) if isinstance(text, Plain) or view.has(text) else parse_part(text, option)
        if own.cut is not None and own.cut != part.cut:
            raise UsageError(f"{option} cuts {text!r} otherwise than --by does; name the column only")
        if self._own.setdefault((side, part.name), str(text)) != text:
            first = self._own[side, part.name]
            raise UsageError(
                f"{option} gives {part.name!r} two columns, {first!r} and {str(text)!r}; name one"
            )
        if own.expression is None:
            return Source((view.require(own.column, option),), own.column)
        roots = tuple(view.require(name, option) for name in parse_expression(own.expression))
        return Source(roots, part.column, own.expression)

    def _source(self, side: SideName, part: Part) -> Source | None:
        view = self._views[side]
        if part.expression is not None:
            roots = parse_expression(part.expression)
            return Source(roots, part.column, part.expression) if all(map(view.has, roots)) else None
        if view.has(part.column):
            return Source((part.column,), part.column)
        if part.column == CLASS and not self._is_column(CLASS):
            label = self._label(side)
            if label is not None:
                self.labels.add(part.name)
                return Source((label,), label)
        return None

    def _filed(self, part: Part) -> Source | None:
        """Where a log finds a part that the slices file brings: its codes, once they are looked up."""
        third = self._third
        if third is None:
            return None
        roots = parse_expression(part.expression) if part.expression else (part.column,)
        if not all(map(third.has, roots)):
            return None
        owners = [side for side in SIDES if self._comparison.log(side).by or self._source(side, part)]
        if owners:
            whose = f"the {OPTION_OF_SIDE[owners[0]]} log" if len(owners) == 1 else "the logs"
            self._outdone[part.name] = whose
            return None
        if part.name not in self.filed:
            raw = Source(roots, part.column, part.expression)
            seen = dict.fromkeys(SIDES, _typed(third, raw))
            whole = whole_numbers(seen) and part.expression is None
            column = decide(part, seen, [third.span(roots[0])] if whole else [])
            self.filed[part.name] = FiledSlice(column, raw)
            if isinstance(column, CutColumn) and part.cut is not None and part.cut.kind == "quantiles":
                self.filed_waiting.append(quantiles(column, raw, seen["a"]))
        attached = self.filed[part.name].attached
        return Source((attached,), attached)

    def _label(self, side: SideName) -> str | None:
        """The column of the label: the outcome's, else the one named, else the only one called so."""
        if self._truth is not None:
            return LABEL
        view, outcome = self._views[side], self._roles[side].outcome
        named = outcome.label or self._comparison.log(side).label
        if named is not None:
            return named if view.has(named) else None
        found = candidates(view.columns, GUARD_LABELS)
        return found[0] if len(found) == 1 else None

    def typed(self, side: SideName, source: Source) -> Seen:
        """The values as each shard types them, where it holds any."""
        if self._truth is not None and source.roots == (LABEL,):
            assert isinstance(self._truth.brings, Labels)
            return self._truth.view.typed(self._truth.brings.name)
        return _typed(self._views[side], source)

    def spans(
        self, own: Mapping[SideName, Source], seen: Mapping[SideName, Seen]
    ) -> list[tuple[int, int] | None]:
        """The range of a column of whole numbers on each side that has values, by metadata."""
        if not whole_numbers(seen):
            return []
        return [
            self._views[side].span(source.roots[0])
            for side, source in own.items()
            if seen[side] and source.expression is None and source.roots != (LABEL,)
        ]

    def notes(self) -> tuple[str, ...]:
        """Where names come from, if there is a slices file.

        Raises UsageError if it has none of them.
        """
        if self._third is None:
            return ()
        label = self._third.label
        both = [
            f"--by {name}: {whose} has it, too, and counts, not {label}"
            for name, whose in self._outdone.items()
        ]
        if not self.filed and not both:
            listed = f"its columns: {', '.join(self._third.columns)}"
            raise UsageError(f"--slices {label} has no column that --by names\n{listed}")
        return (*both, *([f"--by {', '.join(self.filed)}: from {label}"] if self.filed else []))

    def refuse(self, parts: list[Part]) -> NoReturn:
        """Raise the error for a term that no side carries."""
        views = [*self._views.values(), *([self._third] if self._third is not None else [])]
        for part in parts:
            for name in parse_expression(part.expression) if part.expression else (part.column,):
                known = self._source("a", part) or self._source("b", part)
                if known is None and not any(view.has(name) for view in views):
                    self._unknown(name, part)
        raise UsageError(
            f"--by {family_name([part.name for part in parts])}: no log has all of these columns; crossed "
            "slices come from one log\n"
            + "\n".join(f"columns of {view.label}: {', '.join(view.columns)}" for view in views)
        )

    def _unknown(self, name: str, part: Part) -> NoReturn:
        try:
            third = self._third
            listed = None if third is None else f"columns of {third.label}: {', '.join(third.columns)}"
            refuse_unknown(name, self._views, "--by", listed)
        except StreamcmpError as error:
            advice = list(_advice(name, part))
            if not advice:
                raise
            error.args = (f"{error}\n{advice[0]}",)
            raise


def _typed(view: View, source: Source) -> Seen:
    made = (
        (part.label, source.column({name: part.column(name) for name in source.roots}, part.label))
        for part in view.parts
    )
    return [(label, column) for label, column in made if column.kind != "null"]


def decide(part: Part, seen: Mapping[SideName, Seen], spans: Sequence[tuple[int, int] | None]) -> Coded:
    """How the values of a part become slices."""
    lists = any(holds_lists(column) for columns in seen.values() for _, column in columns)
    if lists and part.cut is not None:
        raise UsageError(
            f"--by {part.name}: {part.column} holds lists, and {part.cut.kind} cuts single values; "
            f"--by {part.column} makes a slice of each element"
        )
    if part.cut is not None and part.cut.kind != "top":
        return CutColumn(part.name, part.cut, part.cut.numbers if part.cut.kind == "bins" else ())
    return decide_set(part.name, seen) if lists else decide_slice(part.name, seen, spans)


def _advice(name: str, part: Part) -> Iterator[str]:
    if name == CLASS:
        yield "without a column of this name, class is the label, and no log has one; --label names it"
    elif part.cut is not None and is_cut(name):
        yield "a column is cut once; --by for each cut makes a family of each"
    elif part.expression is None and not name.replace("_", "").replace(".", "").isalnum():
        yield f"an expression needs a name: --by {without_as(name) + ' AS name'!r}"
