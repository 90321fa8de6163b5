"""`streamcmp sql`: the count as one statement, for tables where they are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from streamcmp.cli.config import terms_of_environment
from streamcmp.cli.groups import grouped
from streamcmp.cli.options import LOGS, SHOW, Logs, Names, RowPolicies, Talk, Texts, choice, option
from streamcmp.cli.output import write
from streamcmp.cli.reading import reading
from streamcmp.cli.stderr import Notes
from streamcmp.errors import UsageError
from streamcmp.target import check_target

# As in engines/warehouse.py, which loads too much for --help.
Dialect = Literal[
    "spark", "duckdb", "postgres", "bigquery", "snowflake", "trino", "clickhouse", "databricks", "redshift"
]
Carried = Literal["both", "left", "right"]


@dataclass(frozen=True, kw_only=True)
class Statement:
    """Of the statement."""

    dialect: Annotated[Dialect, choice("--dialect", "whose SQL", Dialect, LOGS, default=False)]
    slices_in: Annotated[
        Carried | None, choice("--slices-in", "which tables have the columns of --by", Carried, LOGS)
    ] = None
    where_in: Annotated[
        Carried | None, choice("--where-in", "which tables --where filters", Carried, LOGS)
    ] = None
    output: Annotated[Path | None, option("--output", "write it to this file", SHOW)] = None


@dataclass(frozen=True, kw_only=True)
class Tables(Logs):
    """As the logs of other commands, but for what is named, and without what only files have."""

    refused: ClassVar[tuple[str, ...]] = (
        "metric", "left_metric", "right_metric", "truth", "truth_columns", "slices", "slices_columns",
        "model_column", "left_model", "right_model", "id_normalize", "id_strip_prefix", "id_regex",
        "input_format", "left_input_format", "right_input_format", "columns", "left_columns", "right_columns",
    )  # fmt: skip
    left: Annotated[
        list[str], option("--left", "the baseline's table or view, as the dialect names it", LOGS)
    ]
    right: Annotated[list[str], option("--right", "the candidate's table, likewise", LOGS)]
    on: Annotated[Texts, option("--on", "id columns (a, or a,b)", LOGS)] = None
    by: Annotated[
        Texts,
        option(
            "--by",
            "a family of slices: a column, as it is; a,b crosses two; repeat for more",
            LOGS,
            callback=terms_of_environment,
        ),
    ] = None


@grouped
def sql(statement: Statement, logs: Tables, names: Names, rows: RowPolicies, talk: Talk) -> None:
    """Print the count of two tables as one SQL statement; --left and --right name the tables."""
    from streamcmp import api

    check_target(statement.output, [])
    options = reading(logs)
    for side in ("left", "right"):
        if not isinstance(options[side], str):
            raise UsageError(f"--{side} names one table; make a view of several")
    printed = api.sql(
        **options,
        **vars(names),
        **vars(rows),
        dialect=statement.dialect,
        slices_in=statement.slices_in or "both",
        where_in=statement.where_in or "both",
    )
    write([printed.encode()], statement.output, Notes(quiet=talk.quiet, verbose=talk.verbose))
