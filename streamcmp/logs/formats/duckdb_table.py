"""A table or view of a DuckDB database file, named `file.duckdb::table` or `file.duckdb::schema.table`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from streamcmp.errors import DataError, UsageError
from streamcmp.extras import needs
from streamcmp.logs.formats.base import BaseShard, conform

_NAMED = re.compile(r"(?P<path>.+)::(?P<table>[^:]+)", re.DOTALL)
_BATCH_ROWS = 131_072


def named_table(source: str) -> tuple[Path, str] | None:
    """The file and the table that a text names; None where it is a path like any other."""
    found = _NAMED.fullmatch(source)
    return None if found is None or Path(source).exists() else (Path(found["path"]), found["table"])


class DuckdbTable(BaseShard):
    """One table, read in the order in which it is stored. Every pass has a connection of its own."""

    format_name = "duckdb"

    def __init__(self, path: Path, table: str, option: str) -> None:
        """Look at the schema and count the rows.

        Raises UsageError where there is no such file or table, DataError where the file is damaged.
        """
        needs("duckdb", "duckdb", f"{option} {path}::{table}")
        self.label = f"{path}::{table}"
        if not path.is_file():
            raise UsageError(f"{option} {self.label}: there is no file {path}")
        self.size = path.stat().st_size
        self._path = path
        self._table = ".".join(map(_quoted, table.split(".")))
        import duckdb

        try:
            with self._connected() as connection:
                empty = connection.sql(f"SELECT * FROM {self._table} LIMIT 0").to_arrow_table()
                (self.rows,) = connection.execute(f"SELECT COUNT(*) FROM {self._table}").fetchone()
        except duckdb.CatalogException as problem:
            said = str(problem).splitlines()[0]
            raise UsageError(f"{option} {self.label}: {said}") from None
        except duckdb.Error as problem:
            raise DataError(f"{self.label}: cannot be read: {str(problem).splitlines()[0]}") from None
        self._schema = dict(pl.DataFrame(empty).schema)

    def _connected(self) -> Any:
        import duckdb

        # One thread: the order of rows is the table's.
        return duckdb.connect(str(self._path), read_only=True, config={"threads": 1})

    def schema(self, *, complete: bool = False) -> Mapping[str, pl.DataType]:  # noqa: ARG002 - the catalog is complete
        """Columns and types, from the catalog."""
        return self._schema

    def batches(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The named columns, in batches."""
        wanted = [name for name in dict.fromkeys(columns) if name in self._schema] or list(self._schema)[:1]
        with self._connected() as connection:
            query = f"SELECT {', '.join(map(_quoted, wanted))} FROM {self._table}"
            for batch in connection.sql(query).to_arrow_reader(_BATCH_ROWS):
                yield conform(pl.DataFrame(batch), columns)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
