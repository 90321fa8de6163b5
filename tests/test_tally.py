"""Laws of the tally and the ledger.

Zero, associative and commutative +, nothing mutated; save and load are inverse.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcmp.comparison import IdShard, Rule
from streamcmp.errors import DataError, InternalError, UsageError
from streamcmp.ledger import LEDGER_FIELDS, Ledger, SideLedger
from streamcmp.tally import COUNTERS, Part, Tally, sorted_table

RULE = Rule(
    on=("id",),
    id_type="int",
    outcome={"a": {"kind": "correct", "correct": "ok"}, "b": {"kind": "correct", "correct": "ok"}},
    where=None,
    by=(("domain",), ("level", "domain")),
    guards=(),
    missing="exclude",
    mismatch="exclude",
)
COUNT = st.integers(0, 2**40)  # sums pass 2^32
DOMAIN = st.sampled_from(["law", "", "a,b", "é", None])
LEVEL = st.sampled_from([0, -5, 2**40, None])


def counters(rows: int) -> st.SearchStrategy[dict[str, list[int]]]:
    return st.fixed_dictionaries({name: st.lists(COUNT, min_size=rows, max_size=rows) for name in COUNTERS})


@st.composite
def tables(
    draw: st.DrawFn, columns: dict[str, st.SearchStrategy[object]], types: dict[str, pl.DataType]
) -> pl.DataFrame:
    keys = draw(st.lists(st.tuples(*columns.values()), unique=True, max_size=4))
    data = {f"slice.{name}": [key[at] for key in keys] for at, name in enumerate(columns)}
    schema = {f"slice.{name}": dtype for name, dtype in types.items()} | dict.fromkeys(COUNTERS, pl.Int64)
    return sorted_table(pl.DataFrame(data | draw(counters(len(keys))), schema=schema))


side_ledgers = st.builds(SideLedger, *(COUNT for _ in LEDGER_FIELDS))
ledgers = st.builds(Ledger, side_ledgers, side_ledgers)


@st.composite
def tallies(draw: st.DrawFn) -> Tally:
    return Tally(
        families={
            "overall": pl.DataFrame(draw(counters(1)), schema=dict.fromkeys(COUNTERS, pl.Int64)),
            "domain": draw(tables({"domain": DOMAIN}, {"domain": pl.String()})),
            "level,domain": draw(
                tables({"level": LEVEL, "domain": DOMAIN}, {"level": pl.Int64(), "domain": pl.String()})
            ),
        },
        ledger=draw(ledgers),
        rule=RULE,
        parts=(Part({"a": {"paths": [draw(st.text())]}}, IdShard()),) if draw(st.booleans()) else (),
    )


def plain(tally: Tally) -> Tally:
    """Without parts, so that any two can be added."""
    return Tally(tally.families, tally.ledger, tally.rule)


@given(tallies().map(plain), tallies().map(plain), tallies().map(plain))
def test_addition_is_associative_and_commutative_and_has_a_zero(one: Tally, two: Tally, three: Tally) -> None:
    assert one + two == two + one
    assert (one + two) + three == one + (two + three)
    assert one + Tally.zero() == one == Tally.zero() + one
    assert sum([one, two, three], Tally.zero()) == one + two + three


@given(tallies().map(plain), tallies().map(plain))
def test_addition_adds_every_counter_and_mutates_nothing(one: Tally, two: Tally) -> None:
    before = {name: table.clone() for name, table in one.families.items()}
    total = one + two
    for name in COUNTERS:
        assert total.families["overall"][name].item() == (
            one.families["overall"][name].item() + two.families["overall"][name].item()
        )
    for family in ("domain", "level,domain"):
        expected: dict[object, list[int]] = {}
        for tally in (one, two):
            for row in tally.families[family].iter_rows():
                key, values = row[: -len(COUNTERS)], row[-len(COUNTERS) :]
                expected[key] = [
                    a + b for a, b in zip(expected.get(key, [0] * len(COUNTERS)), values, strict=True)
                ]
        got = {
            row[: -len(COUNTERS)]: list(row[-len(COUNTERS) :]) for row in total.families[family].iter_rows()
        }
        assert got == expected
    assert all(one.families[name].equals(table) for name, table in before.items())


@given(tally=tallies())
def test_save_and_load_are_inverse(tally: Tally, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("tally") / "t.tally"
    tally.save(path)
    again = Tally.load(path)
    assert again == tally
    assert again.parts == tally.parts
    assert [table.schema for table in again.families.values()] == [
        table.schema for table in tally.families.values()
    ]


@pytest.mark.parametrize(
    "values",
    [
        [True, False, None],
        [1.5, float("nan"), None],
        [dt.date(2026, 1, 2), None],
        ["x", "y"],
        [None, None],
        [dt.datetime.fromisoformat("2026-01-02T03:04:05.678901")],
    ],
)
def test_slice_values_of_every_type_survive_the_file(values: list[Any], tmp_path: Path) -> None:
    table = sorted_table(
        pl.DataFrame({"slice.domain": values}).with_columns(pl.lit(1, pl.Int64).alias(c) for c in COUNTERS)
    )
    rule = Rule(**{**RULE.to_dict(), "by": (("domain",),)})
    overall = table.select(pl.col(*COUNTERS).sum())
    tally = Tally({"overall": overall, "domain": table}, Ledger(), rule)
    tally.save(tmp_path / "t.tally")
    assert Tally.load(tmp_path / "t.tally") == tally


def test_case_7_counters_past_2_to_the_32() -> None:
    big = 2**33 + 1
    row = pl.DataFrame({name: [big] for name in COUNTERS}, schema=dict.fromkeys(COUNTERS, pl.Int64))
    tally = Tally(
        {"overall": row},
        Ledger(SideLedger(rows=big), SideLedger(rows=big)),
        Rule(**{**RULE.to_dict(), "by": ()}),
    )
    total = sum([tally] * 3, Tally.zero())
    assert total.families["overall"].row(0) == (3 * big,) * len(COUNTERS)
    assert total.ledger is not None
    assert total.ledger.a.rows == 3 * big


def test_tallies_of_different_rules_do_not_add_up() -> None:
    tally = Tally({"overall": pl.DataFrame({name: [0] for name in COUNTERS})}, Ledger(), RULE)
    other = Tally(tally.families, tally.ledger, Rule(**{**RULE.to_dict(), "where": "x > 1"}))
    with pytest.raises(UsageError, match="where is nothing in one and x > 1 in the other"):
        tally + other


def test_the_same_examples_are_not_counted_twice() -> None:
    overall = {"overall": pl.DataFrame({name: [0] for name in COUNTERS})}
    inputs = {"a": {"paths": ["x"], "bytes": 9}, "b": {"paths": ["y"], "bytes": 9}}
    whole = Tally(overall, Ledger(), RULE, (Part(inputs),))
    shard = Tally(overall, Ledger(), RULE, (Part(inputs, IdShard(2, 3)),))
    for other in (whole, shard):
        with pytest.raises(UsageError, match="cover the same examples"):
            whole + other
    frames = {side: {"paths": ["frame"], "bytes": None} for side in "ab"}  # any two frames look alike
    assert (
        len(
            (
                Tally(overall, Ledger(), RULE, (Part(frames),))
                + Tally(overall, Ledger(), RULE, (Part(frames),))
            ).parts
        )
        == 2
    )
    assert len((shard + Tally(overall, Ledger(), RULE, (Part(inputs, IdShard(1, 3)),))).parts) == 2


@pytest.mark.parametrize("content", [b"", b"PAR1", b"n_ab,n_ba\n1,2\n"])
def test_a_file_that_is_no_tally_is_named(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.tally"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"x\.tally is not a tally"):
        Tally.load(path)


def test_an_unbalanced_ledger_shows_both_sums() -> None:
    with pytest.raises(InternalError, match="side a: 10 rows were read but 9 accounted for"):
        Ledger(SideLedger(rows=10, paired=9), SideLedger(rows=9, paired=9)).verify()
    with pytest.raises(InternalError, match="paired is 9 on side a but 8 on side b"):
        Ledger(SideLedger(rows=9, paired=9), SideLedger(rows=8, paired=8)).verify()
