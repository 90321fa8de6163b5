"""Comparisons over frames, counted by printed SQL on engines that are at hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from streamcmp.comparison import Comparison
from streamcmp.counts_table import from_frame
from streamcmp.engines.warehouse import Dialect, Tables, build, text
from streamcmp.tally import Tally
from tests.engines import postgres

LEFT, RIGHT = "left log", "right"  # names that need their quotes


def printed(comparison: Comparison, dialect: Dialect, tables: Tables | None = None) -> str:
    """The statement for tables called LEFT and RIGHT."""
    return text(_named(comparison), dialect, tables or Tables())


def _named(comparison: Comparison) -> Comparison:
    return replace(
        comparison,
        a=replace(comparison.a, source=f'"{LEFT}"'),
        b=replace(comparison.b, source=f'"{RIGHT}"'),
    )


def _built(comparison: Comparison, dialect: Dialect, tables: Tables | None) -> str:
    """The same without layout, and not read back, which takes most of the time."""
    return build(_named(comparison), dialect, tables or Tables())[0].sql(dialect=dialect)


def on_duckdb(comparison: Comparison, tables: Tables | None = None) -> Tally:
    """The tally that DuckDB's result is read as. The logs are frames."""
    import duckdb

    with duckdb.connect() as connection:
        for name, frame in ((LEFT, comparison.a.source), (RIGHT, comparison.b.source)):
            connection.register(name, frame.to_arrow())
        result = connection.sql(_built(comparison, "duckdb", tables)).to_arrow_table()
        return from_frame(pl.DataFrame(result), "the result")


def on_postgres(connection: Any, comparison: Comparison, tables: Tables | None = None) -> Tally:
    """The same on PostgreSQL, in a transaction that leaves nothing behind."""
    with connection.transaction(force_rollback=True):
        for name, frame in ((LEFT, comparison.a.source), (RIGHT, comparison.b.source)):
            postgres.load(connection, name, frame)
        result = postgres.query(connection, _built(comparison, "postgres", tables))
    return from_frame(result, "the result")
