"""`streamcmp sql`: the statement that counts tables where they are, in the warehouse's own dialect."""

from __future__ import annotations

import json
import math
import re
import shlex
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, NoReturn

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from streamcmp.comparison import OPTION_OF_SIDE, SIDES, Comparison, Rule, SideName, check_choice
from streamcmp.engines.sql import SideQuery, statement
from streamcmp.engines.sql_values import Meaning
from streamcmp.errors import InternalError, UsageError
from streamcmp.logs.outcome import OutcomeSpec
from streamcmp.slicing import parse_part
from streamcmp.tally import SLICE_PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Dialect = Literal[
    "spark", "duckdb", "postgres", "bigquery", "snowflake", "trino", "clickhouse", "databricks", "redshift"
]
Carried = Literal["both", "left", "right"]

_ADVICE = "a table's columns are not known here, so that they must be named"
_FOLDED = re.compile(r"[a-z_][a-z0-9_$]*")
_BIGQUERY_RESULT = re.compile(r"[A-Za-z0-9_]+")
_BIGQUERY_NEVER = re.compile(r"""[!"$()*,./;?@\[\]^`{}~\\]""")  # by its rules for flexible column names
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_MANY_ROWS = (exp.AggFunc, exp.Window, exp.Query, exp.Subquery)
_REMARKS = {
    "redshift": "In Redshift a boolean has no text, and NaN no sign that it is one: give outcomes as numbers "
    "or texts, and NaN as null, in a view if need be.",
    "bigquery": "BigQuery's names hold no dots: slices are called slice_x, which finalize reads as slice.x.",
}


@dataclass(frozen=True)
class Tables:
    """Which side's table has the columns of `--by`, and of `--where`."""

    slices: Carried = "both"
    where: Carried = "both"

    def __post_init__(self) -> None:
        for option, value in (("--slices-in", self.slices), ("--where-in", self.where)):
            check_choice(option, value, ("both", "left", "right"))


def build(comparison: Comparison, dialect: str, tables: Tables) -> tuple[exp.Expr, Rule]:
    """The statement, and the rule by which it counts.

    Raises:
        UsageError: something is not named that must be; or cannot be said in SQL.
    """
    comparison = _complete(comparison)
    outcomes = {side: _outcome(comparison, side) for side in SIDES}
    named: list[dict[SideName, str]] = [{"a": name, "b": name} for name in dict.fromkeys(comparison.guards)]
    label = _label_guard(comparison, outcomes, named)
    guards = [*named, *label]
    rule = Rule(
        on=_ids(comparison, "a"),
        id_type=",".join([comparison.id_type or ""] * len(comparison.on)),
        outcome={side: outcomes[side].describe() for side in SIDES},
        where=comparison.where,
        by=comparison.by,
        guards=tuple(guard["a"] for guard in guards),
        missing="wrong" if comparison.policies.missing == "wrong" else "exclude",
        mismatch="ignore" if comparison.policies.mismatch == "ignore" else "exclude",
    )
    # Labels are compared as their outcomes compare them: a tolerance is one between numbers.
    label_type = "number" if comparison.tolerance is not None else comparison.label_type
    sides: dict[SideName, SideQuery] = {}
    for side in SIDES:
        own = OPTION_OF_SIDE[side]
        excluded = _excluded(comparison.where, dialect) if tables.where in ("both", own) else None
        meaning = Meaning(dialect, excluded)
        read_id = meaning.whole_id if comparison.id_type == "int" else meaning.text_id
        terms = comparison.log(side).by or comparison.by
        carried = tables.slices in ("both", own)
        fold = _Folding(dialect)
        spec = outcomes[side]
        spec = replace(spec, value=fold(spec.value), label=None if spec.label is None else fold(spec.label))
        sides[side] = SideQuery(
            _table(comparison.log(side).source, own, dialect),
            tuple(read_id(fold(name)) for name in _ids(comparison, side)),
            meaning.outcome(spec),
            excluded,
            (
                *(meaning.plain(fold(guard[side])) for guard in named),
                *(meaning.label(fold(guard[side]), label_type) for guard in label),
            ),
            tuple(tuple(meaning.plain(fold(name)) for name in term) if carried else None for term in terms),
            (
                *(partial(meaning.guard_refusal, name=guard["a"]) for guard in named),
                *(partial(meaning.label_refusal, name=guard["a"], label_type=label_type) for guard in label),
            ),
        )
    labels = [[_label(name, dialect) for name in term] for term in comparison.by]
    return statement(sides, rule, labels, json.dumps(rule.to_dict())), rule


def text(comparison: Comparison, dialect: Dialect, tables: Tables) -> str:
    """The statement as text, with what to do with its result in a comment. Raises as `build` does."""
    tree, _ = build(comparison, dialect, tables)
    query = tree.sql(dialect=dialect, pretty=True)
    _check_reads_back(query, dialect)
    named = [
        f"--{OPTION_OF_SIDE[side]}-name {shlex.quote(name)}"
        for side in SIDES
        if (name := comparison.log(side).name or str(comparison.log(side).source))
    ]
    remarks = [
        f"streamcmp: {comparison.a.source} (left) against {comparison.b.source} (right), for {dialect}.",
        "Write the result as Parquet, or as CSV with a header (null empty, an empty text in quotes);",
        "then:",
        f"  streamcmp finalize counts.csv {' '.join(named)}",
        *([_REMARKS[dialect]] if dialect in _REMARKS else []),
    ]
    head = "".join(f"-- {_CONTROL.sub(' ', remark)}\n" for remark in remarks)
    return f"{head}{query}\n"


def _check_reads_back(query: str, dialect: str) -> None:
    """A name or literal that broke out of its quotes would make another statement."""
    try:
        again = sqlglot.parse_one(query, dialect=dialect).sql(dialect=dialect, pretty=True)
    except SqlglotError as problem:
        raise InternalError(f"the statement is no {dialect}: {problem}") from None
    if again != query:
        raise InternalError(f"the statement does not survive a reader of {dialect}")


def _complete(comparison: Comparison) -> Comparison:
    """The request, if SQL can carry it out."""
    for given, option in (
        (comparison.truth, "--truth"),
        (comparison.slices, "--slices"),
        (comparison.a.input_format or comparison.b.input_format, "--input-format"),
        (comparison.a.columns or comparison.b.columns, "--columns"),
        (comparison.model_column, "--model-column"),
        (comparison.id_normalize, "--id-normalize"),
        (comparison.id_strip_prefix, "--id-strip-prefix"),
        (comparison.id_regex, "--id-regex"),
        (comparison.a.metric or comparison.b.metric, "--metric"),
    ):
        if given:
            raise UsageError(f"{option} is not written as SQL; make a view that has what it makes")
    if not comparison.on:
        _demand("--on ID")
    if comparison.by_position:
        raise UsageError("--on row pairs by position, and the rows of a table have none; name an id column")
    for term in comparison.by:
        for name in term:
            part = parse_part(name)
            if part.cut is not None or part.expression is not None:
                raise UsageError(f"--by {name} is not written as SQL; make a view that has it as a column")
    if comparison.id_type is None:
        _demand("--id-type text|int", "ids are compared as one type, never by a dialect's own conversion")
    return comparison


def _demand(option: str, why: str = _ADVICE) -> NoReturn:
    raise UsageError(f"give {option}: {why}")


def _ids(comparison: Comparison, side: SideName) -> tuple[str, ...]:
    return comparison.log(side).on or comparison.on


def _outcome(comparison: Comparison, side: SideName) -> OutcomeSpec:
    log, own = comparison.log(side), OPTION_OF_SIDE[side]
    if log.correct is not None:
        return OutcomeSpec("correct", log.correct)
    if log.score is not None:
        threshold = comparison.threshold
        if threshold is not None and not math.isfinite(threshold):
            raise UsageError(f"--threshold {threshold} is no number that SQL can write")
        return OutcomeSpec("score", log.score, threshold=threshold)
    if log.prediction is None:
        _demand(f"--correct COLUMN, --prediction and --label, or --score (for the {own} table)")
    if log.label is None:
        _demand("--label COLUMN: with what the prediction is compared")
    if comparison.tolerance is not None:
        return OutcomeSpec(
            "within",
            log.prediction,
            log.label,
            tolerance=comparison.tolerance,
            label_type=comparison.label_type,
        )
    if comparison.label_type is None:
        _demand("--label-type text|number", "what a prediction equals depends on it")
    return OutcomeSpec("equal", log.prediction, log.label, label_type=comparison.label_type)


def _label_guard(
    comparison: Comparison, outcomes: dict[SideName, OutcomeSpec], named: Sequence[dict[SideName, str]]
) -> list[dict[SideName, str]]:
    """The label, where both outcomes have one and it is no guard already."""
    a, b = (outcomes[side].label or comparison.log(side).label for side in SIDES)
    if a is None or b is None or {"a": a, "b": b} in named:
        return []
    return [{"a": a, "b": b}]


def _excluded(where: str | None, dialect: str) -> exp.Expr | None:
    """Whether a row is filtered out: the condition is false or null."""
    if where is None:
        return None
    try:
        condition = exp.condition(where, dialect=dialect)
    except SqlglotError as problem:
        said = str(problem).splitlines()[0]
        raise UsageError(f"--where {where!r} is not a condition in {dialect}'s SQL: {said}") from None
    for node in condition.walk():
        node.pop_comments()
        if isinstance(node, _MANY_ROWS):
            raise UsageError(
                f"--where {where!r} looks at several rows; only a condition on single rows filters a log"
            )
    return exp.not_(exp.Coalesce(this=exp.paren(condition), expressions=[exp.false()]))


def _table(source: object, option: str, dialect: str) -> exp.Expr:
    """A table's name, as one writes it in this dialect."""
    try:
        table = sqlglot.parse_one(str(source), into=exp.Table, dialect=dialect)
    except SqlglotError as problem:
        said = str(problem).splitlines()[0]
        raise UsageError(f"--{option} {source!s}: no name of a table in {dialect}: {said}") from None
    parts = {name for name, value in table.args.items() if value}
    names = [table.args.get(part) for part in ("this", "db", "catalog")]
    if not parts <= {"this", "db", "catalog"} or not all(
        name is None or isinstance(name, exp.Identifier) for name in names
    ):
        raise UsageError(
            f"--{option} {source!s}: only the name of a table or view; make a view of anything else"
        )
    for node in table.walk():
        node.pop_comments()
    return table


@dataclass(frozen=True)
class _Folding:
    """Column names as a dialect stores what is written without quotes, since ours are in quotes."""

    dialect: str

    def __call__(self, name: str) -> str:
        _check_name(name, self.dialect)
        return name.upper() if self.dialect == "snowflake" and _FOLDED.fullmatch(name) else name


def _check_name(name: str, dialect: str) -> None:
    if _CONTROL.search(name):
        raise UsageError(f"the column name {name!r} holds a control character; give it another in a view")
    if dialect == "bigquery" and _BIGQUERY_NEVER.search(name):
        raise UsageError(f"BigQuery has no columns called {name!r}: the name holds a sign that it refuses")


def _label(name: str, dialect: str) -> str:
    """What a slice column is called in the result."""
    _check_name(name, dialect)
    if dialect != "bigquery":
        return SLICE_PREFIX + name
    if not _BIGQUERY_RESULT.fullmatch(name):
        raise UsageError(
            f"--by {name}: the result's column would have a name that BigQuery refuses; use a view"
        )
    return f"slice_{name}"


def names_of_dialects() -> Iterable[str]:
    """All of them."""
    from typing import get_args

    return get_args(Dialect)
