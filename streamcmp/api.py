"""The Python API: where the rooms meet. The command line calls it, and adds nothing to the numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from streamcmp import engines, request
from streamcmp.errors import UsageError
from streamcmp.extras import needs
from streamcmp.interrupt import stoppable
from streamcmp.notices import overlap_words
from streamcmp.options import CompareOptions, ConvertOptions, CountOptions, FinalizeOptions, TallyOptions
from streamcmp.parts import check_complete
from streamcmp.policies import judge
from streamcmp.report.model import ReportWarning
from streamcmp.report.numbers import counted as counted_words
from streamcmp.results import finalize as _finalize
from streamcmp.slicing import named
from streamcmp.tally import Tally, family_columns
from streamcmp.terms import names as names_of
from streamcmp.terms import terms
from streamcmp.usage import size

if TYPE_CHECKING:
    import polars as pl

    from streamcmp.comparison import Policies
    from streamcmp.earlier import Earlier
    from streamcmp.engines.check import Check
    from streamcmp.engines.convert import Converted
    from streamcmp.engines.flips import Kind
    from streamcmp.engines.formats import FormatInfo
    from streamcmp.engines.local import Counted
    from streamcmp.engines.warehouse import Carried, Dialect
    from streamcmp.flipped import Flips
    from streamcmp.options import AnyOptions, Countable, Log, Names, PerSide, Terms
    from streamcmp.report.model import Report
    from streamcmp.resources import Step

_RESULT_BYTES = 1000  # what one result takes while it is computed (measured, a million of them)

__all__ = [
    "changes",
    "check",
    "check_gates",
    "compare",
    "convert",
    "count",
    "finalize",
    "flips",
    "formats",
    "gate",
    "merge",
    "sql",
]


def compare(
    left: Log,
    right: Log,
    *,
    on: Names | None = None,
    by: Terms | None = None,
    **options: Unpack[CompareOptions],
) -> Report:
    """Compare two prediction logs: pair them by id, count per slice, test.

    Args:
        left: the baseline's log: a file, glob, folder or address (Parquet, Arrow IPC, CSV, TSV, NDJSON, plain
            or compressed), a list of those, or any frame with an Arrow C stream (polars, pandas, pyarrow,
            ...). Logs are read more than once: pipes and one-shot streams are refused.
        right: the candidate's log. The same object twice, with `correct=("x", "y")`, is one wide log.
        on: the id column, or several (a list, or "task,doc_id"); "row" pairs by position. Detected if left
        out.
        by: one family of slices per entry; "domain,class" or ("domain", "class") crosses two columns.
        **options: all optional.

            *Reading.* Each of `correct`, `prediction`, `label`, `score` and `input_format` is one value for
            both sides, or a tuple (left, right): `correct`: a column of outcomes (bool, 0/1, true/false,
            yes/no, ...); `prediction`, `label`: correct where they are equal, or differ by at most
            `tolerance` (>= 0); `score`, `threshold`: correct where score >= threshold; `metric`: which metric
            or scorer of an evaluation harness's log counts, or several, of which the first that a file has.
            Outcome columns are detected if not named. `label_type`: "text" or "number", how prediction and
            label are compared where their types differ. `id_type`: "text" or "int", how ids are compared
            where their types differ. `id_normalize` ("nfc", "lower", "trim"), `id_strip_prefix`, `id_regex`:
            how text ids are edited before they are compared. `truth_columns`: names for that file's columns
            if it has no header. `truth`: a third log with the columns id and label. `slices`: a third log
            with id and columns for `by` that neither log has; ids that it lacks are the slice "(absent)";
            `slices_columns`: as `truth_columns`. `where`: a Polars SQL condition; rows for which it does not
            hold count as filtered. `guards`: columns that must be equal on both sides of a pair.
            `model_column`, `left_model`, `right_model`: for a table of several
            models: which column names them, and whose rows each log is. `input_format`: "parquet", "csv",
            "tsv", "ndjson", ... where the name does not tell; `columns`: names for files that have no header.
            `left_name`, `right_name`: what the report calls the models; else what tells the paths apart.
            `left_options`, `right_options`: dicts with any of name, on, by, correct, prediction, label,
            score, metric, input_format, columns, for that side only.

            *Rows that cannot simply be counted* (first value: default). `duplicates`: "error", "drop";
            `mismatch` (of a guard): "error", "drop", "ignore"; `unmatched`: "drop", "error"; `missing` (no
            outcome): "drop", "wrong", "error"; `null_ids`: "drop", "error"; `strict=True`: all of them are
            errors. What was dropped is in the report's ledger and warnings.

            *Statistics.* `test`: "exact", "mid-p", "chi2", "chi2-corrected", "auto"; `alternative`:
            "two-sided", "better", "worse" (of the right log); `ci`: "tango", "newcombe", "bonett-price",
            "agresti-min", "wald", for the gain; `confidence`: 0.95, alpha being 1 - confidence; `adjust`:
            "holm", "none", "bonferroni", "hochberg", "bh", "by", within one family; `min_discordant`: 0,
            slices with fewer discordant pairs are not tested. Further fields on request: `margin`: 0.01 asks
            whether the right log is worse by less than one point, and whether both are equivalent within it;
            `odds`: "clopper-pearson", "mid-p", "wilson", the odds of winning a discordant pair; `mde=True`:
            the gain detectable with `power` (0.8); `anytime=True`: an e-value and a confidence sequence, for
            logs that grow while they are looked at. docs/statistics.md has definitions and sources.

            *The pass.* `memory`: bytes, or text such as "2GB" (default: half of what there is); `spill_dir`;
            `threads`; `strategy`: "auto", "lockstep", "merge", "direct", "buckets"; `engine`: "local" or
            "duckdb" (the extra of that name), what pairs and counts; `verify`: "5%" has that share of the ids
            counted again by DuckDB, and stops where it disagrees. None of these changes a result. `on_note`
            is called with a sentence for each thing detected, `on_examples` with ids of rows that were not
            counted (kind -> the five smallest, as text; "guard_values" -> what guards that differ hold,
            where `mismatch` lets them pass); `meter`, a `streamcmp.meter.Meter`, tells another thread how
            far the pass is.

    Returns:
        Report: `results` has one row per slice, accuracies and gain as shares in [-1, 1], `overall` first.

    Raises:
        UsageError: the options contradict each other, or name a file or column that does not exist.
        DataError: the logs hold something that cannot be compared; or a policy says "error", after the whole
            pass, with full counts.
        TypeError: an option that does not exist.
        Interrupted: SIGINT or SIGTERM arrived.

    Reference:
        McNemar, Q. (1947). Psychometrika 12, 153-157.
    """
    request.check_options("compare", options, CompareOptions)
    analysis = request.analysis(options)
    names = _names(left, right, options)
    counted = _count(left, right, on, by, options)
    judge(counted.tally, request.policies(options), counted.examples, counted.tell_apart)
    _announce_many_slices(counted.tally, request.resources(options).memory, options.get("on_note"))
    report = _finalize(counted.tally, analysis, names)
    return replace(report, warnings=(*report.warnings, *_advice(counted)))


def count(
    left: Log,
    right: Log,
    *,
    on: Names | None = None,
    by: Terms | None = None,
    **options: Unpack[TallyOptions],
) -> Tally:
    """Count two logs without judging: the first half of `compare`, to be saved, merged, finalized elsewhere.

    Arguments, options of reading and of the pass, and errors of reading are those of `compare`. Of the
    policies, `missing="wrong"` and `mismatch="ignore"` act here and belong to the tally; the others act in
    `finalize`. `shard`: "3/16" counts the ids only whose hash (streamcmp.stable_hash) is 3 modulo 16, and
    rows without an id in shard 0; with on="row", the rows whose number, from 0 on, is. The tallies of all 16
    add up to that of the whole.

    Returns:
        Tally: counts per family and slice, and the ledger. `Tally.save` writes it, `+` and `merge` add.
    """
    request.check_options("count", options, TallyOptions)
    counted = _count(left, right, on, by, options, sketched=True)
    for warning in _advice(counted):
        if on_note := options.get("on_note"):
            on_note(warning.message)
    return counted.tally


def merge(
    *tallies: Tally | str | PathLike[str] | Iterable[Tally | str | PathLike[str]],
    on_warning: Callable[[str], None] | None = None,
) -> Tally:
    """The tally of all examples together.

    Args:
        *tallies: tallies or paths of tally files, or iterables of those; any number, in any order. None at
            all gives the zero.
        on_warning: called with a sentence where a tally seems to hold ids of those before it: each has a
            sketch of its ids (streamcmp.sketch). The report says so too, of all of them together.

    Raises:
        UsageError: two were counted by different rules (says what differs), cover the same examples (the same
            shard, or overlapping ones, of the same files), or one is a plain table of counts.
        DataError: a file is damaged.
    """
    total = Tally.zero()
    for given in tallies:
        several = [given] if isinstance(given, Tally | str | PathLike) else given
        for one in several:
            if isinstance(one, Tally):
                total, before = total + one, total.overlap + one.overlap
            else:
                total, before = _added(total, one)
            if on_warning is not None and total.overlap > before:
                where = "a tally" if isinstance(one, Tally) else fspath(one)
                on_warning(f"{where} and the tallies before it {overlap_words(total.overlap - before)}")
    return total


def _added(total: Tally, path: str | PathLike[str]) -> tuple[Tally, int]:
    """The sum of both, and the overlap that they had each."""
    tally = _with_rule(path)
    try:
        return total + tally, total.overlap + tally.overlap
    except UsageError as problem:
        raise UsageError(f"{fspath(path)}: {problem}") from None


def _with_rule(path: str | PathLike[str]) -> Tally:
    tally = Tally.load(path)
    if tally.rule is None:
        raise UsageError(
            f"{fspath(path)} has no header that says how it was counted, so it cannot be merged; "
            "finalize it alone"
        )
    return tally


def finalize(counts: Countable, **options: Unpack[FinalizeOptions]) -> Report:
    """Turn counts into a report: the second half of `compare`.

    Args:
        counts: a Tally; a path of a tally file; or a plain table of counts (a CSV, Parquet or JSON file, or a
            frame) with n_ab and n_ba, optionally both_correct and both_wrong, or n, `family`, and slice
            columns.
        **options: `left_name`, `right_name`, the policies and the statistics of `compare`.

    Raises:
        UsageError: the file is none of these, a policy contradicts how the tally was counted, or a set of
            shards is incomplete (names what is missing).
        DataError: a policy says "error", or a count is impossible.
        TypeError: an option that does not exist.
    """
    request.check_options("finalize", options, FinalizeOptions)
    analysis, policies = request.analysis(options), request.policies(options)
    if isinstance(counts, Tally):
        tally = counts
    else:
        from streamcmp import counts_table

        tally = counts_table.read(counts)
    check_complete(tally.parts)
    names = _names(*_paths(tally), options, tally.names)
    _check_counted_so(tally, policies)
    judge(tally, policies, None)
    return _finalize(tally, analysis, names)


def gate(report: Report, expressions: str | Iterable[str]) -> Report:
    """The report with the outcome of gates in `Report.gates`: conditions that a pipeline acts on.

    Args:
        report: what `compare` or `finalize` returned.
        expressions: conditions such as "overall.verdict == 'worse'"; docs/gates.md has the language. A gate
            fires where its condition holds. A comparison with a value that does not exist does not hold;
            `GateOutcome.absent` names such values.

    Raises:
        UsageError: an expression is no condition, or names what the report does not have; points at the
            character.
    """
    from streamcmp.gates.judge import judge as judge_gates

    given = [expressions] if isinstance(expressions, str) else list(expressions)
    return replace(report, gates=(*report.gates, *judge_gates(report, given)))


def changes(report: Report, earlier: Earlier) -> Report:
    """The report with what changed since an earlier one in `Report.changes`.

    Args:
        report: what `compare` or `finalize` returned.
        earlier: a report; one as `to_dict` gives it; or the path of one in JSON.

    Raises:
        UsageError: `earlier` is no such report.
    """
    from streamcmp.earlier import changes as found

    return replace(report, changes=found(report, earlier))


def check_gates(
    expressions: Iterable[str],
    by: Terms | None = None,
    *,
    earlier: bool = False,
    **options: Unpack[CompareOptions],
) -> None:
    """Raise what `gate` would raise, as far as it can be told before the logs are read.

    `earlier`: whether there will be an earlier report to compare with. `by` and `options` are those of
    `compare`, of which only the statistics matter.
    """
    from streamcmp.gates.judge import check_early

    # A column may be called as its text is, whatever that looks like: both names will do until it is known.
    asked = terms(by, "--by")
    families = {",".join(term): term for term in (*asked, *map(named, asked))}
    check_early(expressions, request.analysis(options).to_dict(), families, earlier=earlier)


def _check_counted_so(tally: Tally, policies: Policies) -> None:
    """Two policies act while counting: asking for them afterwards is too late."""
    if tally.rule is None:
        return
    for option, asked, counted in (
        ("missing", policies.missing == "wrong", tally.rule.missing == "wrong"),
        ("mismatch", policies.mismatch == "ignore", tally.rule.mismatch == "ignore"),
    ):
        if asked and not counted:
            value = getattr(policies, option)
            raise UsageError(
                f"--{option} {value} acts while counting, and this tally was counted without it; "
                f"count again with --{option} {value}"
            )


def check(
    left: Log,
    right: Log,
    *,
    on: Names | None = None,
    by: Terms | None = None,
    **options: Unpack[CountOptions],
) -> Check:
    """Can two logs be compared? What each is, what pairs, what does not and why, with hints.

    Takes what `count` takes. Ids are paired and guards compared over all rows; outcomes are not read, so that
    logs without any can be looked at, too. Hints come from samples and change nothing.

    Raises:
        UsageError, DataError: as `compare`, for what must be right before ids can be paired.
    """
    from streamcmp.engines.check import check as checked

    request.check_options("check", options, CountOptions)
    comparison = request.comparison(left, right, on, by, options)
    with stoppable():
        return checked(comparison, request.resources(options))


def convert(
    log: Log,
    output: str | PathLike[str],
    *,
    on: Names | None = None,
    by: Names | None = None,
    model: str | None = None,
    shards: int | None = None,
    **options: Unpack[ConvertOptions],
) -> Converted:
    """Write any log as Parquet, sorted by id: a stable baseline that is compared at reading speed ever after.

    Args:
        log: what `compare` takes for one side.
        output: the file to write, or an address in an object store; whole or not at all. With `shards`
            a folder on this machine that is not there yet.
        on: the id columns.
        by: columns to keep for slicing.
        model: whose rows to take, of a table of several models (with `model_column`).
        shards: write a file for each of so many shards of the ids, at most 500. `count(shard="3/16")` of such
            folders reads only those of their files that may have ids of shard 3.
        **options: those of `compare` that say how a log is read; one value each.

    Returns:
        Converted: `rows`, the names of the `columns`, and `notes` on what was detected. The columns are those
        of the id, of the guards, `correct` (true, false, or null where the outcome is missing), and those of
        `by`. The file knows its id and guards, so that `compare` needs no options.

    Raises:
        UsageError, DataError: as `compare` does for a log that cannot be read.
    """
    from streamcmp.engines.convert import convert as written

    request.check_options("convert", options, ConvertOptions)
    if shards is None:
        _check_apart(output, log, None, options)
    both = {**options, "left_model": model, "right_model": model}
    terms = tuple((name,) for name in names_of(by, "--by"))
    comparison = request.comparison(log, log, on, terms, both)
    with stoppable():
        return written(comparison, request.resources(options), output, shards)


def flips(
    left: Log,
    right: Log,
    *,
    on: Names | None = None,
    by: Terms | None = None,
    output: str | PathLike[str] | None = None,
    kind: Kind = "both",
    select: Names | None = None,
    answer: PerSide = None,
    sample: int | None = None,
    seed: int = 0,
    limit: int | None = None,
    answers_only: bool = False,
    **options: Unpack[CountOptions],
) -> Flips:
    """The rows behind the counts: the pairs on which the models differ, with the columns of both logs.

    Logs are paired and counted as by `compare`, with the same options, policies and errors: a flip is a pair
    that `compare` counts in n_ab, n_ba or both_wrong. Then each log is read once more for these rows.

    Args:
        left: the baseline's log.
        right: the candidate's.
        on: the id column, or several.
        by: families of slices, whose values stand beside each row; all four as of `compare`.
        output: a file to write, whole or not at all: .parquet, .arrow, .csv or .jsonl. Else the rows come
            back as a table, which must fit the memory.
        kind: "lost" (left correct, right wrong), "won" (the reverse), "both" of these, or "churn": both
            wrong, and different answers. A missing answer is an answer of its own there.
        select: columns of either log; all if left out. Ids, slices and `kind` are always there.
        answer: the column with each model's answer where the outcome is no comparison of predictions, or a
            tuple (left, right); `churn` needs it.
        sample: so many of each kind and of every slice of `by` (of any family), at random.
        seed: of the sample, 0 to 2^64 - 1; it depends on that and the ids alone, not on the order of rows.
        limit: the first so many, by the left log's order.
        answers_only: with no `select`, only the columns with answers and labels.
        **options: those of `count`.

    Returns:
        Flips: how many there are, and the `table`, by the left log's order. Its columns: the id under its own
        name (`row`, from 1 on, where rows pair by position), `slice.NAME` per slice column, `kind`,
        `truth.LABEL` where a truth file brings the label, then `left.NAME` and `right.NAME` of the logs;
        those of a wide log under their own names.

    Raises:
        UsageError, DataError: as `compare`; a column does not exist; the answers cannot be compared.
        InternalError: the rows found are not as many as were counted.
    """
    from streamcmp.checks import check as check_laws
    from streamcmp.engines.flips import Question, find
    from streamcmp.flipped import Flips
    from streamcmp.notices import of_rows
    from streamcmp.table_file import form_of

    request.check_options("flips", options, CountOptions)
    if output is not None:
        _check_apart(output, left, right, options)
        form_of(Path(output))
    sides = answer if isinstance(answer, tuple) else (answer, answer)
    question = Question(
        kind=kind,
        select=names_of(select, "--select"),
        answers_only=answers_only,
        answer={"a": sides[0], "b": sides[1]},
        sample=sample,
        seed=seed,
        limit=limit,
    )
    names = _names(left, right, options)
    comparison = request.comparison(left, right, on, by, options)
    given = (options.get("on_note"), options.get("meter"))
    with stoppable(), find(comparison, request.resources(options), question, *given) as found:
        if on_examples := options.get("on_examples"):
            on_examples(_to_name(found.counted, options))
        tally = found.counted.tally
        check_laws(tally)
        judge(tally, request.policies(options), found.counted.examples, found.counted.tell_apart)
        table, columns = _written(found.tables(), None if output is None else Path(output))
        return Flips(
            found.kinds,
            found.rows,
            found.available,
            columns,
            table,
            tally,
            names,
            found.head,
            of_rows(tally),
        )


def _written(
    tables: Iterator[pl.DataFrame], output: Path | None
) -> tuple[pl.DataFrame | None, tuple[str, ...]]:
    """The tables as one, or in a file; and their columns."""
    from itertools import chain

    import polars as pl

    from streamcmp import table_file
    from streamcmp.output import replacing

    if output is None:
        joined = pl.concat([table_file.plain(table) for table in tables])
        return joined, tuple(joined.columns)
    form = table_file.form_of(output)
    first = next(tables)
    with replacing(output) as temporary:
        table_file.write_tables(temporary, form, chain([first], tables))
    return None, tuple(first.columns)


def sql(
    left: str,
    right: str,
    *,
    dialect: Dialect,
    on: Names | None = None,
    by: Terms | None = None,
    slices_in: Carried = "both",
    where_in: Carried = "both",
    **options: Unpack[CountOptions],
) -> str:
    """The count of two tables as one SQL statement, to be run where they are. `finalize` reads its result.

    Args:
        left: the baseline's table or view, as one writes its name in that dialect.
        right: the candidate's.
        dialect: "spark", "duckdb", "postgres", "bigquery", "snowflake", "trino", "clickhouse", "databricks"
            or "redshift".
        on: the id columns.
        by: as in `compare`.
        slices_in: which tables have the columns of `by`: "both", "left" or "right".
        where_in: which tables `where` filters; it is in that dialect.
        **options: those of `compare` that say what columns mean, and `missing="wrong"` and
            `mismatch="ignore"`, which act while counting. A table's columns are not known here: the id, its
            type (`id_type`) and the outcome must be named, and `label_type` where predictions are compared.

    Raises:
        UsageError: one of these is not given, or cannot be said in SQL.
        TypeError: an option that does not exist.
    """
    needs("sqlglot", "sql", "streamcmp sql")
    from streamcmp.engines import warehouse

    request.check_options("sql", options, CountOptions)
    return warehouse.text(
        request.comparison(left, right, on, by, options), dialect, warehouse.Tables(slices_in, where_in)
    )


def formats() -> list[FormatInfo]:
    """The formats of logs that can be read, with those that other installed packages add."""
    from streamcmp.engines.formats import known

    return known()


def explain(
    left: Log,
    right: Log,
    *,
    on: Names | None = None,
    by: Terms | None = None,
    **options: Unpack[CompareOptions],
) -> list[Step]:
    """How `compare` would pair these logs: the strategies in the order tried, what each needs, and why.

    Takes what `compare` takes, reads metadata only, and raises what `compare` raises before it reads rows.
    """
    request.check_options("explain", options, CompareOptions)
    from streamcmp.engines import local

    comparison = request.comparison(left, right, on, by, options)
    return local.explain(comparison, request.resources(options), options.get("on_note"))


def _check_apart(output: str | PathLike[str], left: object, right: object, options: AnyOptions) -> None:
    """Raise UsageError where `output` cannot be written, or one of the files that are read would be lost."""
    from streamcmp.target import check_target

    given = [left, right, options.get("truth"), options.get("slices")]
    several = [one if isinstance(one, (list, tuple)) else [one] for one in given]
    paths = [fspath(path) for some in several for path in some if isinstance(path, (str, PathLike))]
    check_target(fspath(output), paths)


def _count(
    left: object,
    right: object,
    on: Names | None,
    by: Terms | None,
    options: AnyOptions,
    *,
    sketched: bool = False,
) -> Counted:
    comparison = request.comparison(left, right, on, by, options)
    resources = request.resources(options)
    with stoppable():
        counted = engines.count(
            comparison, resources, options.get("on_note"), options.get("meter"), sketched=sketched
        )
    if on_examples := options.get("on_examples"):
        on_examples(_to_name(counted, options))
    return counted


def _to_name(counted: Counted, options: AnyOptions) -> Mapping[str, Sequence[str]]:
    """Ids worth a note. What guards hold is in the error, where there will be one."""
    if request.policies(options).mismatch != "error":
        return counted.examples
    return {kind: ids for kind, ids in counted.examples.items() if kind != "guard_values"}


def _announce_many_slices(tally: Tally, memory: int, on_note: Callable[[str], None] | None) -> None:
    """Results are held whole: where they outgrow the memory, say so before they do."""
    tops = {name for name, about in (tally.rule.slices if tally.rule else {}).items() if "count" in about}
    slices = sum(table.height for table in tally.families.values() if not tops & set(family_columns(table)))
    needed = slices * _RESULT_BYTES
    if on_note is not None and needed > memory:
        on_note(
            f"the results of {slices:,} slices take about {size(needed)}, more than the memory of "
            f"{size(memory)}; fewer --by, or coarser slices, take less"
        )


def _advice(counted: Counted) -> tuple[ReportWarning, ...]:
    """Warnings that depend on the logs, not on the tally."""
    pairs, guards = counted.advised.pairs, counted.advised.guards
    if not pairs:
        return ()
    message = (
        f"{' or '.join(guards)} differs in {counted_words(pairs, 'pair')}: the models were not asked in "
        "the same words (examples in the prompt, a chat template, an instruction); they count all the same"
    )
    return (ReportWarning("prompts_differ", message, {"pairs": pairs, "guards": list(guards)}),)


def _names(
    left: object, right: object, options: AnyOptions, known: tuple[str, str] | None = None
) -> tuple[str, str]:
    own = [(options.get(f"{side}_options") or {}).get("name") for side in ("left", "right")]
    given = [
        name or options.get(f"{side}_name") or options.get(f"{side}_model")
        for name, side in zip(own, ("left", "right"), strict=True)
    ]
    given = [name or before for name, before in zip(given, known or (None, None), strict=True)]
    return request.display_names(left, right, given[0], given[1])


def _paths(tally: Tally) -> tuple[list[str], list[str]]:
    """The paths of the first part, where the tally knows any."""
    if not tally.parts:
        return [], []
    left, right = (list(tally.parts[0].inputs.get(side, {}).get("paths", ())) for side in ("a", "b"))
    return left, right
