"""A PostgreSQL server and a DuckDB connection for tests of what SQL counts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.engines import postgres


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a server; skips where there is none, unless STREAMCMP_REQUIRE_POSTGRES is set."""
    programs = postgres.binaries()
    if programs is None:
        if os.environ.get("STREAMCMP_REQUIRE_POSTGRES"):
            pytest.fail(postgres.HOW_TO_GET_IT)
        pytest.skip(postgres.HOW_TO_GET_IT)
    with postgres.server(programs) as address:
        yield address


@pytest.fixture
def connection(postgres_server: str) -> Iterator[Any]:
    """A session of its own: temporary tables are gone after it."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres_server) as made:
        yield made
        made.rollback()
