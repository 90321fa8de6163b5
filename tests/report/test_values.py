from __future__ import annotations

import math
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from streamcmp.report.values import inert, json_ready_values, plain_slices, shorten, shown


@pytest.mark.parametrize(
    ("values", "dtype", "ready"),
    [
        (["a", None, ""], pl.String, ["a", None, ""]),
        ([1, None, 2**62], pl.Int64, [1, None, 2**62]),
        ([2**63], pl.UInt64, [2**63]),
        ([True, None], pl.Boolean, [True, None]),
        ([1.5, math.nan, math.inf, -math.inf], pl.Float64, [1.5, "NaN", "Infinity", "-Infinity"]),
        ([date(2024, 2, 29), None], pl.Date, ["2024-02-29", None]),
        (
            [datetime(2024, 2, 29, 1, tzinfo=UTC)],
            pl.Datetime("us", "UTC"),
            ["2024-02-29T01:00:00.000000+00:00"],
        ),
        ([time(1, 2)], pl.Time, ["01:02:00"]),
        ([timedelta(hours=30)], pl.Duration("us"), ["P1DT6H"]),
        ([Decimal("1.50")], pl.Decimal(10, 2), ["1.50"]),
        (["x", None], pl.Categorical(), ["x", None]),
        ([b"\x00\xff"], pl.Binary, ["00ff"]),
        ([[1, None], []], pl.List(pl.Int64), [[1, None], []]),
        ([{"k": date(2024, 1, 1)}], pl.Struct({"k": pl.Date}), [{"k": "2024-01-01"}]),
    ],
)
def test_values_as_json_has_them(values: list[Any], dtype: Any, ready: list[Any]) -> None:
    column = pl.Series("slice.x", values, dtype=dtype)
    assert json_ready_values(column) == ready
    text = plain_slices(pl.DataFrame([column])).write_csv()
    assert len(text.splitlines()) == len(values) + 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "(null)"),
        ("(null)", '"(null)"'),
        ("", '""'),
        (" x", '" x"'),
        ("a\nb\t\x1b[0m", "a\\nb\\t\\x1b[0m"),
        ("\u202eabc\u2028", "\\u202eabc\\u2028"),
        ("héé", "héé"),
        (7, "7"),
        (True, "true"),
        (1.5, "1.5"),
        ([1, None], "[1, null]"),
    ],
)
def test_values_as_people_read_them(value: object, text: str) -> None:
    assert shown(value) == text


@given(st.text(), st.integers(3, 40))
def test_text_is_inert_and_fits(text: str, width: int) -> None:
    assert inert(text).isprintable() or "\xa0" in text or any(char.isspace() for char in inert(text))
    assert not set(inert(text)) & set("\n\r\t\x1b\x00\x7f\x9b\u2028\u202e\u200b")
    assert cell_len(shorten(inert(text), width)) <= width


def test_long_names_keep_both_ends() -> None:
    assert shorten("the-first-part-of-a-name-and-its-end", 16) == "the-first...-end"
    assert shorten("the-first-part-of-a-name-and-its-end", 8) == "the-fi.."
    assert shorten("漢字" * 100, 9) == "漢字漢.."
