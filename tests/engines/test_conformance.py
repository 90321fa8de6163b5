"""One suite over every engine: the same tally, and `ledger`, `results` and `warnings` to the byte.

Engines: local strategies, shards merged, DuckDB, the printed SQL on DuckDB and on a real PostgreSQL. What SQL
has to be told (a table's columns are not known) is taken from the rule by which the local engine counted.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from streamcmp import engines
from streamcmp.analysis import Analysis
from streamcmp.comparison import Comparison, IdShard, LogRequest, Rule
from streamcmp.engines.warehouse import Tables
from streamcmp.errors import DataError
from streamcmp.resources import Resources
from streamcmp.results import finalize
from streamcmp.tally import Tally
from tests.conftest import REFERENCE_DATA
from tests.engines.generated import cases
from tests.engines.statements import on_duckdb, on_postgres

Count = Callable[[Comparison, Tables], Tally]
PAIRS = sorted((REFERENCE_DATA / "pairs").glob("*")) if REFERENCE_DATA.is_dir() else []


def by(**resources: Any) -> Count:
    """An engine that reads logs."""
    return lambda comparison, _tables: engines.count(comparison, Resources(**resources)).tally


def merged(comparison: Comparison, _tables: Tables) -> Tally:
    """Three shards, added up."""
    parts = [
        engines.count(replace(comparison, shard=IdShard(number, 3)), Resources()).tally for number in range(3)
    ]
    return sum(parts, Tally.zero())


ENGINES: dict[str, Count] = {
    "local": by(),
    "buckets": by(strategy="buckets", chunk_rows=7, bucket_bits=2),
    "shards merged": merged,
    "DuckDB": by(engine="duckdb"),
    "verified": by(verify=0.3),
    "SQL on DuckDB": on_duckdb,
}


# Those that add least run with the slow tests.
LATER = {"buckets", "verified", "SQL on DuckDB"}
PARAMETERS = [
    pytest.param(name, marks=pytest.mark.slow) if name in LATER else name
    for name in (*ENGINES, "SQL on PostgreSQL")
]


@pytest.fixture(params=PARAMETERS)
def count(request: pytest.FixtureRequest) -> Count:
    """Each engine in turn."""
    if request.param in ENGINES:
        return ENGINES[request.param]
    connection = request.getfixturevalue("connection")
    return lambda comparison, tables: on_postgres(connection, comparison, tables)


def reported(tally: Tally) -> bytes:
    """What must be the same to the byte."""
    report = finalize(tally, Analysis(min_discordant=1)).to_dict()
    return json.dumps([report[part] for part in ("ledger", "results", "warnings")], indent=1).encode()


def check_same(found: Tally, wanted: Tally) -> None:
    """The types of integer slices may be wider; rule, ledger and every value may not differ."""
    assert found.rule == wanted.rule
    assert found.ledger == wanted.ledger
    assert found.families.keys() == wanted.families.keys()
    for name, table in wanted.families.items():
        assert found.families[name].columns == table.columns
        assert found.families[name].rows() == table.rows()
    assert reported(found) == reported(wanted)


@pytest.mark.parametrize("number", [5, pytest.param(50, marks=pytest.mark.slow)])
def test_generated_logs(count: Count, number: int) -> None:
    seen = set()
    for case in cases(number):
        wanted = engines.count(case.comparison, Resources()).tally
        check_same(count(case.comparison, case.tables), wanted)
        seen.add(reported(wanted))
    assert len(seen) > 0.8 * number


ROWS = 30
TEXT_IDS = pl.Series("id", [f"{number:03}" for number in range(ROWS)])
OUTCOMES = pl.Series("correct", [number % 3 == 0 for number in range(ROWS)])


def log(**columns: list[Any]) -> pl.DataFrame:
    """A log of these columns beside the usual ones."""
    return pl.DataFrame({"id": TEXT_IDS, "correct": OUTCOMES, **columns})


def table(**columns: list[Any]) -> pl.DataFrame:
    """A log of these columns and no others."""
    return pl.DataFrame(columns)


# Of the kinds of input that break tools like this one, those that a table can hold.
KINDS: dict[str, tuple[pl.DataFrame, pl.DataFrame, dict[str, Any]]] = {
    "a file against itself": (log(), log(), {}),
    "one side always correct": (log(), log().with_columns(correct=pl.lit(value=True)), {}),
    "leading zeros": (
        table(id=["007", "010"], correct=[1, 0]),
        table(id=["007", "010", "7"], correct=[1, 1, 1]),
        {},
    ),
    "null and NaN ids": (
        table(id=[1.0, None, None, float("nan")], correct=[1, 1, 1, 1]),
        table(id=[1.0, None, float("nan"), float("nan")], correct=[0, 1, 1, 1]),
        {"id_type": "int"},
    ),
    "many-to-many": (
        table(id=["x"] * 1000 + ["y"], correct=[1] * 1001),
        table(id=["x"] * 1000 + ["y"], correct=[0] * 1001),
        {},
    ),
    "one-to-many": (
        table(id=["foo", "foo", "y"], correct=[1, 1, 1]),
        table(id=["foo", "y"], correct=[1, 0]),
        {},
    ),
    "integers of two widths": (
        table(id=[1, 2, 3], correct=[1, 0, 1]).cast({"id": pl.Int32}),
        table(id=[3, 2, 4], correct=[1, 1, 1]),
        {"id_type": "int"},
    ),
    "composed and decomposed accents": (
        table(id=["\u00e9", "y"], correct=[1, 1]),
        table(id=["e\u0301", "y"], correct=[1, 0]),
        {},
    ),
    "another order": (log(), log().reverse(), {}),
    "compound ids": (
        table(task=["a", "a", "b"], doc=["1", "2", "1"], correct=[1, 0, 1]),
        table(task=["b", "a", "a"], doc=["1", "1", "3"], correct=[1, 1, 1]),
        {"on": ("task", "doc")},
    ),
    "text truth": (
        table(id=["1", "2", "3", "4"], correct=["True", "yes", "No", "1.0"]),
        table(id=["1", "2", "3", "4"], correct=["C", "I", "correct", "0"]),
        {},
    ),
    "missing outcomes": (
        table(id=["1", "2", "3"], correct=[1.0, float("nan"), None]),
        table(id=["1", "2", "3"], correct=[0.0, 1.0, 1.0]),
        {"by": (("id",),)},
    ),
    "a changed label": (
        table(id=["1", "2", "3"], correct=[1, 0, 1], gold=["x", "y", None]),
        table(id=["1", "2", "3"], correct=[1, 1, 1], gold=["x", "z", None]),
        {"guards": ("gold",)},
    ),
    "predictions and labels": (
        table(id=["1", "2", "3"], p=["x", "y", None], gold=["x", "x", "z"]),
        table(id=["1", "2", "3"], p=["y", "x", "z"], gold=["x", "x", "z"]),
        {"prediction": "p", "label": "gold", "label_type": "text"},
    ),
    "one number as a label in two spellings": (
        table(id=["1", "2", "3", "4"], p=["1", "2", None, "0"], gold=["1.0", "2", "3", "-0"]),
        table(id=["1", "2", "3", "4"], p=[1.0, 3.0, 3.0, 0.0], gold=[1.0, 2.0, 4.0, 0.0]),
        {"prediction": "p", "label": "gold", "label_type": "number"},
    ),
    "one text as a label of two types": (
        table(id=["1", "2"], p=["1", "2"], gold=["1", "02"]),
        table(id=["1", "2"], p=[1, 3], gold=[1, 2]),
        {"prediction": "p", "label": "gold", "label_type": "text"},
    ),
    "zeros of either sign": (
        table(id=["1", "2", "3"], correct=[1, 0, 1], level=[-0.0, 1.5, None]),
        table(id=["1", "2", "3"], correct=[1, 1, 1], level=[0.0, 1.5, None]),
        {"by": (("level",),), "guards": ("level",)},
    ),
    "several rows of an example, one picked": (
        table(id=["1", "1", "2", "2"], filter=["strict", "loose"] * 2, correct=[1, 0, 0, 1]),
        table(id=["1", "1", "2", "2"], filter=["strict", "loose"] * 2, correct=[0, 1, 0, 1]),
        {"where": "filter = 'strict'"},
    ),
    "slices that differ": (
        table(id=["1", "2", "3"], correct=[1, 0, 1], domain=["law", None, "art"]),
        table(id=["1", "2", "3"], correct=[0, 0, 1], domain=["law", "", None]),
        {"by": (("domain",),)},
    ),
}


def asked(left: pl.DataFrame, right: pl.DataFrame, options: dict[str, Any]) -> Comparison:
    """A comparison in which everything is named that SQL must be told."""
    outcome: dict[str, Any] = {
        name: options[name] for name in ("prediction", "label") if name in options
    } or {"correct": "correct"}
    rest = {name: value for name, value in options.items() if name not in outcome}
    given: dict[str, Any] = {"on": ("id",), "id_type": "text", **rest}
    return Comparison(a=LogRequest(left, **outcome), b=LogRequest(right, **outcome), **given)


def test_kinds_of_input_that_break_tools_like_this_one(count: Count) -> None:
    for left, right, options in KINDS.values():
        comparison = asked(left, right, options)
        check_same(count(comparison, Tables()), engines.count(comparison, Resources()).tally)


def test_no_engine_takes_a_third_value_for_one_of_two(count: Count) -> None:
    with pytest.raises(Exception, match="neither correct nor wrong") as caught:
        count(asked(log(), table(id=["000", "001"], correct=["C", "P"]), {}), Tables())
    assert "P" in str(caught.value)


@pytest.mark.slow
def test_engines_that_read_logs_name_the_same_ids() -> None:
    for left, right, options in KINDS.values():
        one, other = (
            engines.count(asked(left, right, options), Resources(engine=engine))
            for engine in ("local", "duckdb")
        )
        assert one.examples == other.examples
        assert one.advised == other.advised


@pytest.mark.parametrize("name", ["local", "DuckDB"])
def test_rows_by_position(name: str) -> None:
    count = ENGINES[name]
    left, right = log(domain=["a", "b", "c"] * 10), log().reverse()
    comparison = Comparison(
        a=LogRequest(left), b=LogRequest(right), on=("row",), by=(("domain",),), where="domain <> 'c'"
    )
    check_same(count(comparison, Tables()), engines.count(comparison, Resources()).tally)
    with pytest.raises(DataError, match="pairs by position"):
        count(replace(comparison, b=LogRequest(right.head(5))), Tables())


def told(rule: Rule, comparison: Comparison) -> Comparison:
    """The comparison with everything named that was detected."""
    named: dict[str, LogRequest] = {}
    for side, outcome in rule.outcome.items():
        log = comparison.a if side == "a" else comparison.b
        roles = {
            role: outcome[role] for role in ("correct", "prediction", "label", "score") if role in outcome
        }
        named[side] = replace(log, **roles)
    label_type: Any = None
    if any(outcome["kind"] == "equal" for outcome in rule.outcome.values()):
        label_type = "text"
    id_type: Any = "int" if rule.id_type == "int" else "text"
    return replace(
        comparison,
        a=named["a"],
        b=named["b"],
        on=rule.on,
        guards=rule.guards,
        id_type=id_type,
        label_type=label_type,
    )


@pytest.mark.skipif(not PAIRS, reason="the reference logs are not beside this checkout")
@pytest.mark.slow
def test_real_logs(count: Count) -> None:
    for folder in PAIRS:
        expected = json.loads((folder / "expected.json").read_text())
        left, right = (pl.read_parquet(folder / f"{side}.parquet") for side in ("left", "right"))
        detected = Comparison(
            a=LogRequest(left), b=LogRequest(right), by=tuple((name,) for name in expected["slices"])
        )
        rule = engines.count(detected, Resources()).tally.rule
        assert rule is not None
        comparison = told(rule, detected)
        wanted = engines.count(comparison, Resources()).tally
        assert wanted.ledger is not None
        assert wanted.ledger.a.matched == expected["matched"]
        check_same(count(comparison, Tables()), wanted)
