"""A PostgreSQL server for tests of what SQL counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.engines import postgres


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a server."""
    with postgres.server(postgres.programs()) as address:
        yield address


@pytest.fixture
def connection(postgres_server: str) -> Iterator[Any]:
    """A session of its own: temporary tables are gone after it."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres_server) as made:
        yield made
        made.rollback()
