"""The printed statement: what it says in every dialect, and what it counts on DuckDB."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import duckdb
import polars as pl
import pytest
import sqlglot
from sqlglot import exp

from streamcmp import api
from streamcmp.cli.app import main
from streamcmp.cli.sql import Carried as CliCarried
from streamcmp.cli.sql import Dialect as CliDialect
from streamcmp.comparison import Comparison, LogRequest, Policies
from streamcmp.counts_table import read
from streamcmp.engines.local import count
from streamcmp.engines.warehouse import Carried, Dialect, Tables, text
from streamcmp.errors import DataError, StreamcmpError, UsageError
from streamcmp.resources import Resources
from streamcmp.terms import Plain
from tests.engines.statements import on_duckdb, printed

DIALECTS: tuple[Dialect, ...] = get_args(Dialect)
HOSTILE = (
    'a"b',
    "it's",
    "x; DROP TABLE y; --",
    "back`tick",
    "back\\slash",
    "/* no comment */",
    "slice.x",
    "é ü",
)

LEFT = pl.DataFrame(
    {
        "id": [1, 2, 3, 4, 4, None],
        "correct": [True, False, None, True, True, True],
        "domain": ["law", "", None, "art", "art", "law"],
        "level": [1, None, 2, 3, 3, 1],
        "mark": ["x", "y", "z", "x", "x", "x"],
    }
)
RIGHT = pl.DataFrame(
    {
        "id": [3, 2, 1, 5, 4],
        "correct": [True, True, False, True, None],
        "domain": ["law", "", "law", "art", "art"],
        "level": [2, None, 1, 1, 1],
        "mark": ["z", None, "x", "x", "x"],
    }
)


def comparison(left: Any = LEFT, right: Any = RIGHT, **more: Any) -> Comparison:
    outcome = {name: more.pop(name) for name in ("correct", "prediction", "label", "score") if name in more}
    outcome = outcome or {"correct": "correct"}
    given: dict[str, Any] = {"on": ("id",), "id_type": "int", **more}
    return Comparison(a=LogRequest(left, **outcome), b=LogRequest(right, **outcome), **given)


def test_the_command_line_offers_what_there_is() -> None:
    assert get_args(CliDialect) == get_args(Dialect)
    assert get_args(CliCarried) == get_args(Carried)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_statement_reads_back_as_it_was_written(dialect: Dialect) -> None:
    full = Comparison(
        a=LogRequest("runs.a", correct="correct"),
        b=LogRequest("runs.b", prediction="p", label="l"),
        on=("id", "epoch"),
        by=(("domain",), ("domain", "level")),
        guards=("mark",),
        where="level > 1",
        id_type="int",
        label_type="number",
        policies=Policies(missing="wrong", mismatch="ignore"),
    )
    small = Comparison(
        a=LogRequest("a", prediction="p", label="l"),
        b=LogRequest("b", score="s"),
        on=("id",),
        id_type="text",
        label_type="text",
    )
    labelled = replace(small, b=replace(small.a, source="b"), label_type="number", where="level > 1")
    for asked in (full, small, labelled):
        query = text(asked, dialect, Tables())
        tree = sqlglot.parse_one(query, dialect=dialect)
        assert isinstance(tree, exp.Union)
        assert sqlglot.parse_one(tree.sql(dialect=dialect), dialect=dialect) == tree
        tables = {table.name for table in tree.find_all(exp.Table) if not table.name.startswith("streamcmp_")}
        assert tables == {"a", "b"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_hostile_names_and_texts_stay_names_and_texts(dialect: Dialect) -> None:
    names: tuple[str, ...] = HOSTILE
    if dialect == "bigquery":
        names = tuple(name for name in HOSTILE if name in ("it's", "é ü"))
        for name in set(HOSTILE) - set(names):
            with pytest.raises(UsageError, match="BigQuery has no columns"):
                text(comparison("a", "b", on=(name,)), dialect, Tables())
    asked = comparison("a", "b", on=names, correct=names[0], guards=names)
    tree = sqlglot.parse_one(text(asked, dialect, Tables()), dialect=dialect)
    assert isinstance(tree, exp.Union)
    assert {column.name for column in tree.find_all(exp.Column)} >= set(names)
    texts = [literal.name for literal in tree.find_all(exp.Literal) if literal.is_string]
    for name in names:
        assert any(name in value for value in texts)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_count_on_a_real_engine(name: str) -> None:
    frames = [
        frame.rename({"id": "an id", "domain": name}).with_columns(id=pl.col("an id"))
        for frame in (LEFT, RIGHT)
    ]
    asked = comparison(*frames, by=((Plain(name),),), guards=(name,), policies=Policies(mismatch="drop"))
    assert on_duckdb(asked) == count(asked, Resources()).tally


def test_a_name_in_the_comment_stays_in_the_comment() -> None:
    asked = comparison("a", "b")
    asked = replace(asked, a=replace(asked.a, name="x\nDROP TABLE y; --"))
    head, _, rest = text(asked, "postgres", Tables()).partition("WITH ")
    assert all(line.startswith("-- ") for line in head.splitlines())
    assert "DROP TABLE" not in rest


@pytest.mark.parametrize(
    ("table", "dialect"),
    [
        ("a; DROP TABLE b", "postgres"),
        ("(SELECT 1)", "spark"),
        ("read_csv('x')", "duckdb"),
        ("a JOIN b", "trino"),
        ("a AS b", "postgres"),
        ("", "postgres"),
    ],
)
def test_a_table_is_a_name(table: str, dialect: Dialect) -> None:
    with pytest.raises(UsageError, match="name of a table"):
        text(comparison(table, "b"), dialect, Tables())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"on": ()}, "give --on"),
        ({"on": ("row",)}, "pairs by position"),
        ({"id_type": None}, "give --id-type"),
        ({"correct": None}, "give --correct COLUMN"),
        ({"prediction": "p"}, "give --label"),
        ({"prediction": "p", "label": "l"}, "give --label-type"),
        ({"truth": "t.csv"}, "--truth is not written as SQL"),
        ({"slices": "m.csv", "by": (("domain",),)}, "--slices is not written as SQL"),
        ({"id_regex": "x"}, "--id-regex is not written as SQL"),
        ({"by": (("level:bins(0)",),)}, "is not written as SQL"),
        ({"where": "SUM(x) > 1"}, "looks at several rows"),
        ({"where": "x IN (SELECT 1)"}, "looks at several rows"),
        ({"where": "1 = 1) UNION SELECT 1 --"}, "not a condition"),
        ({"score": "s", "threshold": float("inf")}, "no number that SQL can write"),
        ({"on": ("a\nb",)}, "control character"),
    ],
)
def test_what_must_be_named_is_demanded(more: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        text(comparison("a", "b", **more), "postgres", Tables())


def test_names_that_a_dialect_cannot_have() -> None:
    with pytest.raises(UsageError, match="BigQuery refuses"):
        text(comparison("a", "b", by=(("a b",),)), "bigquery", Tables())
    assert '"ID"' in text(comparison("a", "b"), "snowflake", Tables())
    assert '"iD"' in text(comparison("a", "b", on=("iD",)), "snowflake", Tables())


POLICIES = [
    Policies(missing=missing, mismatch=mismatch)
    for missing in ("drop", "wrong")
    for mismatch in ("drop", "ignore")
]


@pytest.mark.parametrize("policies", POLICIES, ids=str)
@pytest.mark.parametrize("where", [None, "level > 1", "mark = 'x' OR domain IS NULL"])
def test_it_counts_what_the_local_engine_counts(policies: Policies, where: str | None) -> None:
    asked = comparison(
        by=(("domain",), ("level", "domain")), guards=("mark",), where=where, policies=policies
    )
    assert on_duckdb(asked) == count(asked, Resources()).tally


@pytest.mark.parametrize(("slices_in", "where_in"), [("left", "both"), ("right", "left"), ("both", "right")])
def test_columns_that_one_table_has(slices_in: Carried, where_in: Carried) -> None:
    left, right = LEFT, RIGHT
    left = left if slices_in != "right" else left.drop("domain")
    right = right if slices_in != "left" else right.drop("domain")
    left = left if where_in != "right" else left.drop("level")
    right = right if where_in != "left" else right.drop("level")
    asked = comparison(left, right, by=(("domain",),), where="level > 1")
    assert on_duckdb(asked, Tables(slices_in, where_in)) == count(asked, Resources()).tally


NAN = float("nan")


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64])
def test_nan_is_null_in_ids_guards_slices_and_outcomes(dtype: Any) -> None:
    types = dict.fromkeys(("id", "correct", "guard", "slice"), dtype)
    left = pl.DataFrame(
        {
            "id": [1.0, 2.0, 3.0, NAN],
            "correct": [1.0, NAN, 0.0, 1.0],
            "guard": [NAN, 1.5, None, 0.0],
            "slice": [NAN, None, 0.5, 0.5],
        },
        schema=types,
    )
    right = pl.DataFrame(
        {
            "id": [1.0, 2.0, 3.0, None],
            "correct": [1.0, 1.0, 1.0, 1.0],
            "guard": [None, 1.5, NAN, 0.0],
            "slice": [NAN, NAN, 0.5, 0.5],
        },
        schema=types,
    )
    asked = comparison(left, right, by=(("slice",),), guards=("guard",))
    local = count(asked, Resources()).tally
    assert local.ledger is not None
    assert (local.ledger.a.null_id, local.ledger.a.guard_mismatch) == (1, 0)
    assert on_duckdb(asked) == local


def test_texts_that_spell_nan_or_null_are_texts() -> None:
    ids = ["nan", "NaN", "null", "", "007", "7"]
    frame = pl.DataFrame(
        {"id": ids, "correct": ["yes", "C", "1.0", "NO", "i", "0"], "domain": ids, "mark": ids}
    )
    asked = comparison(frame, frame, id_type="text", by=(("domain",),), guards=("mark",))
    local = count(asked, Resources()).tally
    assert local.ledger is not None
    assert local.ledger.a.paired == len(ids)
    assert on_duckdb(asked) == local


OUTCOMES: dict[str, tuple[dict[str, Any], list[Any], list[Any]]] = {
    "words": (
        {"correct": "p"},
        [
            "true",
            " Yes ",
            "Correct",
            "c",
            "1",
            "1.0",
            "1e0",
            "false",
            "NO",
            "incorrect",
            "I",
            "0.00",
            None,
            "nan",
        ],
        [],
    ),
    "integers": ({"correct": "p"}, [0, 1, None, 1], []),
    "floats": ({"correct": "p"}, [0.0, 1.0, NAN, None], []),
    "score alone": ({"score": "p"}, [0.0, 1.0, NAN, None], []),
    "threshold": ({"score": "p", "threshold": 0.7}, [0.7, 0.69999, NAN, None, 1e300], []),
    "text labels": (
        {"prediction": "p", "label": "l", "label_type": "text"},
        ["a", "A", "", "nan", None, "x"],
        ["a", "a", "", "nan", "x", None],
    ),
    "integer labels": ({"prediction": "p", "label": "l", "label_type": "text"}, [1, 2, None], [1, 3, 4]),
    "numbers": (
        {"prediction": "p", "label": "l", "label_type": "number"},
        [1.0, 2.5, NAN, None, -0.0],
        [1.0, 2.0, 1.0, 1.0, 0.0],
    ),
    "spelled numbers": (
        {"prediction": "p", "label": "l", "label_type": "number"},
        ["1.0", "2", "nan", None],
        ["1", "3", "1", "1"],
    ),
    "tolerance": (
        {"prediction": "p", "label": "l", "tolerance": 0.5},
        [1.0, 2.0, NAN, 3.0],
        [1.5, 2.6, 1.0, None],
    ),
}


@pytest.mark.parametrize("case", OUTCOMES)
def test_outcomes_mean_what_they_mean_everywhere(case: str) -> None:
    options, values, labels = OUTCOMES[case]
    frame = pl.DataFrame({"id": range(len(values)), "p": values, **({"l": labels} if labels else {})})
    asked = comparison(frame, frame, **options)
    assert on_duckdb(asked) == count(asked, Resources()).tally


def test_a_narrow_score_is_compared_by_its_digits() -> None:
    frame = pl.DataFrame({"id": [1, 2], "p": [0.7, 0.6]}, schema={"id": pl.Int64, "p": pl.Float32})
    asked = comparison(frame, frame, score="p", threshold=0.7)
    tally = on_duckdb(asked)
    assert tally == count(asked, Resources()).tally
    assert next(iter(tally.counts()))[1].both_correct == 1


REFUSED: dict[str, tuple[dict[str, Any], dict[str, list[Any]]]] = {
    "a third value": ({"correct": "p"}, {"p": ["C", "P"]}),
    "a share": ({"correct": "p"}, {"p": [1.0, 0.667]}),
    "no number": (
        {"prediction": "p", "label": "l", "label_type": "number"},
        {"p": ["1", "x"], "l": ["1", "2"]},
    ),
    "a large number": (
        {"prediction": "p", "label": "l", "label_type": "number"},
        {"p": [1, 2**53 + 1], "l": [1, 2**53]},
    ),
    "a boolean beside text": (
        {"prediction": "p", "label": "l", "label_type": "text"},
        {"p": [True, False], "l": ["True", "false"]},
    ),
    "a float beside an integer": (
        {"prediction": "p", "label": "l", "label_type": "text"},
        {"p": [1.0, 2.0], "l": [1, 2]},
    ),
    "an id that is none": ({"correct": "p"}, {"id": ["1", "1.5"], "p": [1, 1]}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_value_that_is_none_of_them_fails_with_the_value(case: str) -> None:
    options, columns = REFUSED[case]
    frame = pl.DataFrame({"id": [1, 2], **columns})
    with pytest.raises(duckdb.Error, match=r"streamcmp: |Could not convert string 'x'"):
        on_duckdb(comparison(frame, frame, **options))


def test_filtered_rows_may_hold_anything() -> None:
    frame = pl.DataFrame({"id": ["1", "x"], "p": ["C", "P"], "keep": [True, False]})
    tally = on_duckdb(comparison(frame, frame, correct="p", where="keep"))
    assert tally.ledger is not None
    assert (tally.ledger.a.filtered, tally.ledger.a.paired) == (1, 1)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_result_goes_straight_into_finalize(tmp_path: Path, ending: str) -> None:
    asked = comparison(by=(("domain",), ("level",), ("domain", "level")), policies=Policies(missing="wrong"))
    path = tmp_path / f"counts.{ending}"
    with duckdb.connect() as connection:
        for name, frame in (("left log", LEFT), ("right", RIGHT)):
            connection.register(name, frame.to_arrow())
        connection.execute(f"COPY ({printed(asked, 'duckdb')}) TO '{path}'")
    local = count(asked, Resources()).tally
    assert read(path) == local
    options: dict[str, Any] = {"duplicates": "drop", "left_name": "x"}
    assert api.finalize(path, **options).to_dict() == api.finalize(local, **options).to_dict()
    with pytest.raises(StreamcmpError, match=r"no header|not a tally file"):
        api.merge(path)


WIDE: dict[str, Any] = {"level": pl.UInt64}


def result(**more: Any) -> pl.DataFrame:
    asked = comparison(by=(("domain",),), **more)
    with duckdb.connect() as connection:
        for name, frame in (("left log", LEFT), ("right", RIGHT)):
            connection.register(name, frame.to_arrow())
        return pl.DataFrame(connection.sql(printed(asked, "duckdb")).to_arrow_table())


def test_names_without_dots_or_case_and_whole_decimals_are_read() -> None:
    table = result()
    for other in (
        table.rename({"slice.domain": "slice_domain"}),
        table.rename({"slice.domain": "SLICE.DOMAIN"}),
        table.with_columns(pl.col(pl.Int64).cast(pl.Decimal(38, 0))),
    ):
        assert (
            api.finalize(other, duplicates="drop").to_dict()
            == api.finalize(table, duplicates="drop").to_dict()
        )


def test_whole_decimals_beyond_64_bits_are_no_nulls() -> None:
    large = 2**63 + 5
    sides = [
        pl.DataFrame({"id": [1, 2, 3], "correct": correct, "level": [large, 7, None]}, schema_overrides=WIDE)
        for correct in ([1, 0, 1], [0, 1, 1])
    ]
    asked = comparison(*sides, by=(("level",),))
    with duckdb.connect() as connection:
        for name, frame in zip(("left log", "right"), sides, strict=True):
            connection.register(name, frame.to_arrow())
        table = pl.DataFrame(connection.sql(printed(asked, "duckdb")).to_arrow_table())
    found = api.finalize(table.with_columns(pl.col(pl.UInt64, pl.Int64).cast(pl.Decimal(38, 0))))
    assert found.to_dict()["results"] == api.finalize(count(asked, Resources()).tally).to_dict()["results"]
    assert large in [one["slice"].get("level") for one in found.to_dict()["results"]]


def test_a_csv_that_lost_its_nulls_is_refused() -> None:
    table = result()
    lost = table.with_columns(pl.col("slice.domain").replace("", None))
    with pytest.raises(DataError, match="nulls and empty texts written alike"):
        api.finalize(lost)


def test_counts_that_do_not_add_up_are_refused() -> None:
    table = result()
    with pytest.raises(DataError, match=r"do not add up.*An outcome or id that is none"):
        api.finalize(table.with_columns(pl.col("rows") + 1))
    with pytest.raises(DataError, match="does not hold one rule"):
        api.finalize(table.with_columns(rule=pl.lit("{}")))


def test_the_command_prints_the_statement(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = [
        "sql",
        "--dialect",
        "postgres",
        "--left",
        "a",
        "--right",
        "b",
        "--on",
        "id",
        "--id-type",
        "int",
        "--correct",
        "correct",
        "--left-name",
        "old",
    ]
    assert main(arguments) == 0
    out = capsys.readouterr().out
    assert "--   streamcmp finalize counts.csv --left-name old --right-name b\n" in out
    assert "streamcmp_pairs" in out
    assert main([*arguments, "--output", str(tmp_path / "count.sql")]) == 0
    assert (tmp_path / "count.sql").read_text() == out
    assert main([*arguments, "--right", "c"]) == 2
    assert "names one table" in capsys.readouterr().err


def test_without_sqlglot_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamcmp.extras.find_spec", lambda _name: None)
    with pytest.raises(UsageError, match=r"pip install 'streamcmp\[sql\]'"):
        api.sql("a", "b", dialect="postgres")


FLOATS = (pl.Series([0.1, 0.5], dtype=pl.Float32), pl.Series([0.1, 0.5]))


@pytest.mark.parametrize(
    ("left", "right", "asked", "says"),
    [
        (
            pl.Series([True, False]),
            pl.Series(["True", "False"]),
            {"label_type": "text"},
            "label in another case",
        ),
        (pl.Series(["A", "True"]), pl.Series(["A", "true"]), {"label_type": "text"}, "a label in"),
        (*FLOATS, {"correct": "ok", "guards": ("v",)}, "v is 0.1"),
        (*FLOATS[::-1], {"correct": "ok", "guards": ("v",)}, "a guard is a float of 32 bits in one table"),
        (pl.Series([True, False]), pl.Series(["true", "false"]), {"label_type": "text"}, None),
        (pl.Series(["A", "b"]), pl.Series(["A", "B"]), {"label_type": "text"}, None),
        (FLOATS[0][1:], FLOATS[1][1:], {"correct": "ok", "guards": ("v",)}, None),
        (FLOATS[0], FLOATS[0], {"correct": "ok", "guards": ("v",)}, None),
        (*FLOATS, {"label_type": "number"}, None),
        (*FLOATS, {"label_type": "text"}, None),
    ],
)
def test_guards_differ_where_they_do_for_the_local_engine_or_are_refused(
    left: pl.Series, right: pl.Series, asked: dict[str, Any], says: str | None
) -> None:
    frames = [
        pl.DataFrame({"id": range(len(values)), "ok": [True] * len(values), "p": values, "v": values})
        for values in (left, right)
    ]
    outcome: dict[str, Any] = {} if "correct" in asked else {"prediction": "p", "label": "v"}
    full = comparison(frames[0], frames[1], policies=Policies(mismatch="drop"), **outcome, **asked)
    if says is not None:
        with pytest.raises(duckdb.Error, match=says):
            on_duckdb(full)
    else:
        assert on_duckdb(full).ledger == count(full, Resources()).tally.ledger
