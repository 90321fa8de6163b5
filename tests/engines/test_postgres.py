"""The printed SQL on a real PostgreSQL: by CSV into finalize, hostile names, values it must refuse."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from streamcmp import engines
from streamcmp.comparison import Comparison, LogRequest, Policies
from streamcmp.counts_table import read
from streamcmp.resources import Resources
from streamcmp.terms import Plain
from tests.engines import postgres
from tests.engines.statements import LEFT, RIGHT, on_postgres, printed

FRAME = pl.DataFrame({
    "id": [1, 2, 3, 4], "correct": [True, False, None, True],
    "domain": ["law", "", None, "it's"], "level": [1, None, 2, 2], "share": [0.5, float("nan"), None, 0.5],
})  # fmt: skip


def comparison(left: pl.DataFrame, right: pl.DataFrame, **more: Any) -> Comparison:
    given: dict[str, Any] = {"on": ("id",), "id_type": "int", **more}
    return Comparison(a=LogRequest(left, correct="correct"), b=LogRequest(right, correct="correct"), **given)


def test_without_a_server_tests_skip_and_say_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "binaries", lambda: None)
    monkeypatch.delenv("STREAMCMP_REQUIRE_POSTGRES", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt-get install postgresql"):
        postgres.programs()
    monkeypatch.setenv("STREAMCMP_REQUIRE_POSTGRES", "1")
    with pytest.raises(pytest.fail.Exception, match="apt-get install postgresql"):
        postgres.programs()


def test_its_csv_goes_into_finalize_with_nulls_and_empty_texts_apart(connection: Any, tmp_path: Path) -> None:
    asked = comparison(FRAME, FRAME, by=(("domain",), ("level",), ("domain", "level")), guards=("share",))
    for name in (LEFT, RIGHT):
        postgres.load(connection, name, FRAME)
    path = tmp_path / "counts.csv"
    wrapped = f"COPY (\n{printed(asked, 'postgres')}) TO STDOUT WITH (FORMAT csv, HEADER)"
    with connection.cursor() as cursor, cursor.copy(wrapped) as rows:
        path.write_bytes(b"".join(map(bytes, rows)))
    assert read(path) == engines.count(asked, Resources()).tally
    assert read(path).families["domain"]["slice.domain"].to_list() == ["", "it's", "law", None]


def test_hostile_names_and_types_of_every_kind(connection: Any) -> None:
    name = "x\"; DROP TABLE y; -- '"
    frame = FRAME.rename({"domain": name}).with_columns(
        flag=pl.col("correct"), narrow=pl.col("share").cast(pl.Float32), day=pl.date(2024, 1, pl.col("id"))
    )
    by = ((Plain(name),), ("flag",), ("narrow",), ("day",))
    asked = comparison(frame, frame, by=by, guards=("day", "flag", name), policies=Policies(missing="wrong"))
    assert on_postgres(connection, asked) == engines.count(asked, Resources()).tally


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (pl.DataFrame({"id": ["1", "x"], "correct": [1, 1]}), "no whole number; id is x"),
        (pl.DataFrame({"id": [1, 2], "correct": ["C", "P"]}), "neither correct nor wrong.*correct is P"),
    ],
)
def test_a_value_that_is_none_of_them_fails_with_the_value(
    connection: Any, frame: pl.DataFrame, said: str
) -> None:
    import psycopg

    with pytest.raises(psycopg.Error, match=said):
        on_postgres(connection, comparison(frame, frame))


def test_narrow_scores_and_numbers_spelled_as_text(connection: Any) -> None:
    frame = pl.DataFrame(
        {"id": [1, 2, 3], "score": [0.7, 0.6, float("nan")], "p": ["1.0", "2", "nan"], "l": [1.0, 3.0, 1.0]},
        schema_overrides={"score": pl.Float32},
    )
    asked = comparison(frame, frame)
    for log in (LogRequest(frame, score="score"), LogRequest(frame, prediction="p", label="l")):
        given = {"threshold": 0.7} if log.score else {"label_type": "number"}
        one = replace(asked, a=log, b=log, **given)
        assert on_postgres(connection, one) == engines.count(one, Resources()).tally
