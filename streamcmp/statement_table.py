"""What the statement of `streamcmp sql` results in: a tally's rows, with the rule in a column."""

from __future__ import annotations

import json

import polars as pl

from streamcmp.checks import check
from streamcmp.comparison import Rule
from streamcmp.errors import DataError, InternalError
from streamcmp.tally import SLICE_PREFIX, Tally, slice_columns
from streamcmp.tally_file import from_rows

RULE = "rule"
_PLAIN_PREFIX = "slice_"  # where a dialect's names hold no dots


def from_statement(frame: pl.DataFrame, where: str) -> Tally:
    """The tally in a table with the column `rule`. `where` is what messages call it.

    Names of slice columns may have lost their dot or their case, as in some dialects. Whole decimals, which
    some have instead of integers, are integers again.

    Raises:
        DataError: the rule is damaged, a slice comes twice, or the counts do not add up.
        UsageError: a column is missing.
    """
    rule = _rule(frame, where)
    frame = _named(frame.drop(RULE), rule)
    frame = frame.with_columns(
        _integers(column) for column in frame.iter_columns() if column.dtype == pl.Decimal(38, 0)
    )
    # Engines group -0.0 with 0.0 and print either; logs read here have 0.0.
    frame = frame.with_columns(
        pl.when(pl.col(name) == 0).then(0.0).otherwise(pl.col(name)).cast(frame.schema[name]).alias(name)
        for name in slice_columns(frame)
        if frame.schema[name].is_float()
    )
    tally = from_rows(frame, where, rule)
    for name, table in tally.families.items():
        keys = slice_columns(table)
        if keys and table.select(keys).is_duplicated().any():
            raise DataError(
                f"{where}: a slice of the family {name} comes twice. Were nulls and empty texts written "
                "alike? In CSV a null is an empty field, an empty text is in quotes; Parquet keeps them apart"
            )
    try:
        check(tally)
    except InternalError as problem:
        raise DataError(
            f"{where}: the counts do not add up: {problem.problem}. An outcome or id that is none (not true "
            "or false, 1 or 0, a whole number) is counted nowhere where a database makes null of it"
        ) from None
    return tally


def _integers(column: pl.Series) -> pl.Series:
    """In 64 bits where all fit: a slice may be any whole number."""
    found = column.cast(pl.Int64, strict=False)
    return found if found.null_count() == column.null_count() else column.cast(pl.Int128)


def _rule(frame: pl.DataFrame, where: str) -> Rule:
    texts = frame[RULE].drop_nulls().unique().to_list()
    try:
        (text,) = texts
        return Rule.from_dict(json.loads(text))
    except (ValueError, LookupError, TypeError, AttributeError):
        raise DataError(f"{where}: the column rule does not hold one rule; run the statement again") from None


def _named(frame: pl.DataFrame, rule: Rule) -> pl.DataFrame:
    """With `slice.<name>` for each column of the rule's families."""
    renamed: dict[str, str] = {}
    for name in dict.fromkeys(name for term in rule.by for name in term):
        wanted = SLICE_PREFIX + name
        if wanted not in frame.columns:
            forms = {wanted.lower(), f"{_PLAIN_PREFIX}{name}".lower()}
            alike = [column for column in frame.columns if column.lower() in forms]
            renamed |= {column: wanted for column in alike if len(alike) == 1}
    return frame.rename(renamed)
