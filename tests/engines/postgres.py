"""A real PostgreSQL server for tests: on loopback, with a folder of its own, both gone after."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

HOW_TO_GET_IT = "there is no PostgreSQL server on this machine: apt-get install postgresql"
_OWNERS = ("postgres", "nobody")  # the server refuses to run as root
_PATIENCE = 60.0
_TYPES: Mapping[Any, str] = {
    pl.Boolean: "boolean",
    pl.Int8: "smallint",
    pl.Int16: "smallint",
    pl.Int32: "integer",
    pl.Int64: "bigint",
    pl.UInt64: "numeric(20)",
    pl.Int128: "numeric(39)",
    pl.Float32: "real",
    pl.Float64: "double precision",
    pl.String: "text",
    pl.Date: "date",
    pl.Datetime: "timestamp",
    pl.Null: "text",
}
# By the number that PostgreSQL gives a type.
_DTYPES: Mapping[int, Any] = {
    16: pl.Boolean,
    21: pl.Int16,
    23: pl.Int32,
    20: pl.Int64,
    700: pl.Float32,
    701: pl.Float64,
    25: pl.String,
    1043: pl.String,
    1082: pl.Date,
    1114: pl.Datetime("us"),
    1700: pl.Decimal(38, 0),
}


def binaries() -> Path | None:
    """The folder of the server's programs; None where it is not installed."""
    folders = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name.split(".")[0])
    )
    candidates = [*reversed(folders), *(Path(found).parent for found in [shutil.which("initdb")] if found)]
    return next(
        (each for each in candidates if (each / "postgres").exists() and (each / "initdb").exists()), None
    )


def programs() -> Path:
    """That folder; skips where there is none, and fails if STREAMCMP_REQUIRE_POSTGRES is set."""
    found = binaries()
    if found is None:
        if os.environ.get("STREAMCMP_REQUIRE_POSTGRES"):
            pytest.fail(HOW_TO_GET_IT)
        pytest.skip(HOW_TO_GET_IT)
    return found


@contextmanager
def server(programs: Path) -> Iterator[str]:
    """A running server; yields what psycopg connects with."""
    owner = _owner()
    folder = Path(tempfile.mkdtemp(prefix="streamcmp-postgres-"))
    try:
        if owner is not None:
            shutil.chown(folder, owner)
        data = folder / "data"
        initdb = [programs / "initdb", "-D", data, "-U", "tests", "-A", "trust", "-E", "UTF8", "--no-sync"]
        subprocess.run(
            [*map(str, initdb), "--locale=C"], check=True, capture_output=True, user=owner, cwd=folder
        )
        port = _free_port()
        settings = ("listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", f"port={port}")
        command = [str(programs / "postgres"), "-D", str(data), *(f"--{each}" for each in settings)]
        log = folder / "log"
        with log.open("wb") as said:
            process = subprocess.Popen(command, stdout=said, stderr=said, user=owner, cwd=folder)
        try:
            address = f"host=127.0.0.1 port={port} user=tests dbname=postgres"
            _await(address, process, log)
            yield address
        finally:
            process.send_signal(signal.SIGINT)  # PostgreSQL's fast shutdown
            process.wait(timeout=_PATIENCE)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _owner() -> str | None:
    """Whom the server runs as, if not as whoever runs the tests."""
    if os.geteuid() != 0:
        return None
    import pwd

    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in _OWNERS if name in known)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _await(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    import psycopg

    end = time.monotonic() + _PATIENCE
    while True:
        try:
            psycopg.connect(address, connect_timeout=5).close()
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"PostgreSQL did not start: {log.read_text()}") from None
            time.sleep(0.05)
        else:
            return


def load(connection: Any, name: str, frame: pl.DataFrame) -> None:
    """Make a temporary table of a frame."""
    from psycopg import sql

    columns = sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(column), sql.SQL(_TYPES[dtype.base_type()]))
        for column, dtype in frame.schema.items()
    )
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("CREATE TEMP TABLE {} ({})").format(sql.Identifier(name), columns))
        with cursor.copy(sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(name))) as copy:
            for row in frame.iter_rows():
                copy.write_row(row)


def query(connection: Any, statement: str) -> pl.DataFrame:
    """A statement's result, with the types that it has in the database."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
        schema = {each.name: _DTYPES[each.type_code] for each in cursor.description}
        return pl.DataFrame(cursor.fetchall(), schema=schema, orient="row")
