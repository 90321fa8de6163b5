"""A table or view of a DuckDB database file, named `file.duckdb::table` or `file.duckdb::schema.table`.

A name that holds a dot or a colon stands in double quotes, as in SQL: `file.duckdb::"a.b"`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from streamcmp.addresses import names_of_table, split_table
from streamcmp.errors import DataError, UsageError
from streamcmp.extras import needs
from streamcmp.logs.formats.base import BaseShard, conform

_MAGIC = (8, b"DUCK")  # where in a database file it stands
_LISTED = 10  # tables, where the one that was named is not there
_BATCH_ROWS = 131_072


def named_table(source: str) -> tuple[Path, str] | None:
    """The file and the table that a text names; None where it is a path like any other."""
    found = split_table(source)
    return None if found is None or Path(source).exists() else (Path(found[0]), found[1])


class DuckdbTable(BaseShard):
    """One table, read in the order in which it is stored. Every pass has a connection of its own."""

    format_name = "duckdb"

    def __init__(self, path: Path, table: str, option: str) -> None:
        """Look at the schema and count the rows.

        Raises UsageError where there is no such file or table, DataError where the file is damaged.
        """
        self.label = f"{path}::{table}"
        if not path.is_file():
            raise UsageError(f"{option} {self.label}: there is no file {path}")
        self.size = path.stat().st_size
        self._path = path
        names = names_of_table(table)
        if names is None:
            raise UsageError(
                f"{option} {self.label}: {table} is no name of a table: names are separated by dots, and one "
                'that holds a dot, a colon or a quote stands in double quotes, as in "a.b" or main."a.b"'
            )
        if not _is_database(path):
            raise DataError(
                f"{option} {self.label}: {path} cannot be read as a DuckDB database: it is none, and "
                f"::{table} names a table of one; to read the file itself, write {option} {path}"
            )
        needs("duckdb", "duckdb", f"{option} {self.label}")
        self._table = ".".join(map(_quoted, names))
        import duckdb

        try:
            with self._connected() as connection:
                empty = connection.sql(f"SELECT * FROM {self._table} LIMIT 0").to_arrow_table()
                (self.rows,) = connection.execute(f"SELECT COUNT(*) FROM {self._table}").fetchone()
        except (duckdb.CatalogException, duckdb.BinderException) as problem:
            said = str(problem).splitlines()[0]
            raise UsageError(f"{option} {self.label}: {said}\nits tables: {self._listed()}") from None
        except duckdb.Error as problem:
            raise DataError(f"{self.label}: cannot be read: {str(problem).splitlines()[0]}") from None
        self._schema = dict(pl.DataFrame(empty).schema)

    def _connected(self) -> Any:
        import duckdb

        # One thread: the order of rows is the table's.
        return duckdb.connect(str(self._path), read_only=True, config={"threads": 1})

    def _listed(self) -> str:
        """The tables there are, as they are named behind `::`."""
        with self._connected() as connection:
            query = "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL"
            found = connection.execute(f"{query} LIMIT {_LISTED + 1}").fetchall()
        texts = [".".join(map(_plain, one if one[0] != "main" else one[1:])) for one in found[:_LISTED]]
        return ", ".join([*texts, *(["..."] if len(found) > _LISTED else [])]) or "none"

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


def _plain(name: str) -> str:
    """As it is written behind `::`."""
    return _quoted(name) if re.search('[".:]', name) else name


def _is_database(path: Path) -> bool:
    start, magic = _MAGIC
    with path.open("rb") as file:
        return file.read(start + len(magic))[start:] == magic
