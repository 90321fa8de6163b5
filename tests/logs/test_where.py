from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from streamcmp.errors import DataError, UnknownColumn, UsageError
from tests.logs.opened import opened, read

LOG = pl.DataFrame(
    {"id": [1, 2, 3], "correct": [True, True, False], "year": [2020, 2021, None], "175b.x": ["a", "b", "c"]}
)
BARE = LOG.select("id", "correct")


@pytest.mark.parametrize(
    ("where", "excluded"),
    [
        ("year > 2020", [True, False, True]),
        ("year IN (2020, 2021)", [False, False, True]),
        ("year IS NULL OR year = 2020", [False, True, False]),
        ("upper(\"175b.x\") = 'B' AND correct", [True, False, True]),
        ("correct", [False, False, True]),
        ("\"175b.x\" LIKE 'a%'", [False, True, True]),
    ],
)
def test_rows_that_do_not_hold_are_marked(where: str, excluded: list[bool]) -> None:
    pair = opened(LOG, LOG, where=where)
    assert read(pair.a)["filtered"].to_list() == excluded
    assert pair.a.filters
    assert pair.b.filters
    assert pair.rule.where == where


def test_only_sides_with_the_columns_filter() -> None:
    pair = opened(BARE, LOG, where="year > 2020")
    assert (pair.a.filters, pair.b.filters) == (False, True)
    assert "filtered" not in read(pair.a).columns
    assert any("right log only" in note for note in pair.notes)
    with pytest.raises(UnknownColumn, match="did you mean 'year'"):
        opened(BARE, LOG, where="yeer > 2020")


@pytest.mark.parametrize(
    "where",
    [
        "year >",
        "nofunction(year)",
        "avg(year) > 3",
        "row_number() OVER (ORDER BY year) = 1",
        "COUNT(*) > 1",
        "1 = 1",
        "year",
        "year + 1",
        "year > (SELECT 1)",
    ],
)
def test_what_is_no_condition_on_a_row(where: str) -> None:
    with pytest.raises(UsageError, match="--where"):
        opened(LOG, LOG, where=where)


def test_types_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    LOG.write_csv(path)
    with pytest.raises(UsageError, match=r"CAST\(column AS INT\)"):
        opened(path, LOG, where="year > 2020")
    pair = opened(path, path, where="CAST(year AS INT) > 2020")
    assert read(pair.a)["filtered"].to_list() == [True, False, True]
    with pytest.raises(DataError, match=r"log\.csv, from row 1 on"):
        read(opened(path, path, where='CAST("175b.x" AS INT) > 2020').a)
    with pytest.raises(DataError, match=r"--where .* fails: conversion"):
        read(opened(LOG, LOG, where='CAST("175b.x" AS INT) > 2020').a)
    with pytest.raises(UsageError, match="string with numeric"):
        opened(LOG, LOG, where='"175b.x" > 1')


def test_ndjson_keys_first_seen_late(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [f'{{"id": {n}, "correct": 1}}' for n in range(2000)] + [
        '{"id": 5000, "correct": 1, "year": 2021}'
    ]
    path.write_text("\n".join(lines))
    found = read(opened(path, LOG, where="year > 2020").a)["filtered"]
    assert found.sum() == 2000
    assert found[-1] is False
