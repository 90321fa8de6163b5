"""Slices of every kind obey the laws: they count what the row-by-row oracle counts, in any company."""

from __future__ import annotations

import bisect
import math
import random
from collections import Counter
from dataclasses import replace
from itertools import product
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import streamcmp
from streamcmp.comparison import Comparison, LogRequest
from streamcmp.engines.local import count
from streamcmp.errors import DataError, InternalError, UsageError
from streamcmp.logs.quantiles import find_edges
from streamcmp.resources import Resources
from streamcmp.slicing import EMPTY, OTHER, intervals
from streamcmp.tally import SLICE_PREFIX, Tally
from tests import oracle
from tests.test_laws import RESOURCES, observed, same

SCHEMA = {
    "id": pl.Int64(),
    "correct": pl.Boolean(),
    "length": pl.Float64(),
    "user": pl.String(),
    "skills": pl.List(pl.String()),
    "gold": pl.Int64(),
}
TERMS = (
    ("length:bins(0,10)",),
    ("length:quantiles(3)",),
    ("user:top(2)",),
    ("skills",),
    ("class",),
    ("length + gold AS total",),
    ("user", "length:bins(0,10)"),
    ("skills", "class"),
    ("skills", "length:quantiles(2)"),
)
Rows = list[dict[str, Any]]
# Several counts an example: a fifth of the examples, whatever the profile.
FEW = settings(max_examples=settings().max_examples // 5)


@st.composite
def rows(draw: st.DrawFn, least: int = 1) -> tuple[Rows, Rows]:
    def row(identity: int) -> dict[str, Any]:
        return {
            "id": identity,
            "correct": draw(st.sampled_from([True, False, None])),
            "length": draw(st.sampled_from([None, float("nan"), -0.0, -5.0, 0.0, 9.5, 10.0, 99.0])),
            "user": draw(st.sampled_from(["ann", "bob", "cy", "", None])),
            "skills": draw(st.none() | st.lists(st.sampled_from(["a", "b", "", None]), max_size=3)),
            "gold": draw(st.sampled_from([1, 2, None])),
        }

    sides = []
    for _ in "ab":
        ids = draw(st.lists(st.integers(0, 12), min_size=least, max_size=12, unique=True))
        sides.append([row(identity) for identity in ids])
    return sides[0], sides[1]


def absent(value: float | None) -> bool:
    return value is None or math.isnan(value)


def quantile_edges(values: list[float | None], parts: int) -> list[float]:
    """The definition, by sorting."""
    ordered = sorted(value + 0.0 for value in values if value is not None and not absent(value))
    if not ordered:
        return []
    return sorted({ordered[part * len(ordered) // parts] for part in range(1, parts)})


def between(value: float | None, edges: list[float]) -> str | None:
    if value is None or absent(value):
        return None
    return intervals([f"{edge:.10g}" for edge in edges])[bisect.bisect_right(edges, value)]


def derived(a: Rows, side: Rows) -> Rows:
    """Rows with what the terms make of them; a's values decide the quantiles."""
    lengths = [row["length"] for row in a]
    made = []
    for row in side:
        length, gold = row["length"], row["gold"]
        missing = absent(length) or gold is None
        skills = row["skills"] if row["skills"] is not None else [None]
        made.append(
            row
            | {
                "length:bins(0,10)": between(length, [0, 10]),
                "length:quantiles(3)": between(length, quantile_edges(lengths, 3)),
                "length:quantiles(2)": between(length, quantile_edges(lengths, 2)),
                "user:top(2)": row["user"],
                "skills": frozenset(skills) if skills else frozenset([EMPTY]),
                "class": gold,
                "total": None if missing else length + gold,
            }
        )
    return made


def names(term: tuple[str, ...]) -> tuple[str, ...]:
    return tuple("total" if " AS " in part else part for part in term)


def request(a: Rows, b: Rows, by: tuple[tuple[str, ...], ...], **options: Any) -> Comparison:
    left, right = (LogRequest(pl.DataFrame(side, schema=SCHEMA), correct="correct") for side in (a, b))
    return Comparison(left, right, on=("id",), by=by, **options)


def expected(a: Rows, b: Rows, by: tuple[tuple[str, ...], ...], **options: Any) -> tuple[Any, Any]:
    ledger, families = oracle.count(
        derived(a, a), derived(a, b), by=[names(term) for term in by], guards=("gold",), ignore_mismatch=True
    )
    return ledger, {
        ",".join(term) or "overall": {key: +counts for key, counts in slices.items()}
        for term, slices in families.items()
    }


def tally_of(a: Rows, b: Rows, by: tuple[tuple[str, ...], ...], resources: Resources | None = None) -> Tally:
    comparison = request(a, b, by)
    comparison = replace(comparison, policies=replace(comparison.policies, mismatch="ignore"))
    return count(comparison, resources or Resources()).tally


@given(rows(), st.lists(st.sampled_from(TERMS), min_size=1, max_size=4, unique=True), RESOURCES)
def test_every_kind_of_slice_counts_what_the_oracle_counts(
    sides: tuple[Rows, Rows], terms: list[tuple[str, ...]], resources: Resources
) -> None:
    tally = tally_of(*sides, tuple(terms), resources)
    same(observed(tally), expected(*sides, tuple(terms)))


@given(rows(), st.lists(st.sampled_from(TERMS), min_size=2, max_size=5, unique=True))
@FEW
def test_families_of_one_run_equal_each_alone(sides: tuple[Rows, Rows], terms: list[tuple[str, ...]]) -> None:
    together = tally_of(*sides, tuple(terms))
    for term in terms:
        alone = tally_of(*sides, (term,))
        (_, family) = alone.families
        assert alone.families[family].equals(together.families[family])
        assert together.rule is not None
        assert alone.rule is not None
        assert alone.rule.slices.items() <= together.rule.slices.items()


@given(rows())
@FEW
def test_crossed_families_roll_up_to_their_parts(sides: tuple[Rows, Rows]) -> None:
    tally = tally_of(*sides, (("user", "length:bins(0,10)"), ("user",), ("length:bins(0,10)",), ("class",)))
    for part in ("user", "length:bins(0,10)"):
        crossed = tally.families["user,length:bins(0,10)"]
        key = SLICE_PREFIX + part
        counters = pl.col("both_correct", "n_ab", "n_ba", "both_wrong", "unscored", "guard_mismatch")
        summed = crossed.group_by(key).agg(counters.sum()).sort(key, nulls_last=True)
        assert summed.equals(tally.families[part].select(key, counters))


@given(rows(), st.integers(2, 3))
@FEW
def test_tallies_of_disjoint_examples_add_up(sides: tuple[Rows, Rows], shards: int) -> None:
    """All but quantiles, whose edges are those of each log."""
    terms = tuple(term for term in TERMS if not any("quantiles" in part for part in term))
    parts = []
    for shard in range(shards):
        a, b = ([row for row in side if row["id"] % shards == shard] for side in sides)
        if a and b:
            parts.append((a, b))
    if not parts:
        return
    whole = [[row for part in parts for row in part[side]] for side in (0, 1)]
    total = sum((replace(tally_of(a, b, terms), parts=()) for a, b in parts), Tally.zero())
    assert total == replace(tally_of(whole[0], whole[1], terms), parts=())


@given(rows(least=3), st.integers(2, 5), st.randoms(use_true_random=False), st.sampled_from([0, 1, 3]))
@FEW
def test_quantiles_do_not_depend_on_order_or_memory(
    sides: tuple[Rows, Rows], parts: int, rng: random.Random, held: int
) -> None:
    by = ((f"length:quantiles({parts})",),)
    once = tally_of(*sides, by)
    shuffled = [list(side) for side in sides]
    for side in shuffled:
        rng.shuffle(side)
    defaults = find_edges.__defaults__
    try:
        find_edges.__defaults__ = (held,)
        again = tally_of(shuffled[0], shuffled[1], by, Resources(chunk_rows=2, threads=1))
    finally:
        find_edges.__defaults__ = defaults
    assert again == once


@given(rows(), st.integers(1, 3))
@FEW
def test_top_folds_all_but_the_largest(sides: tuple[Rows, Rows], most: int) -> None:
    """Against a count over rows: of the values by pairs, the first `most` stay; null stays beside them."""
    term = f"user:top({most})"
    a, b = sides
    tally = tally_of(a, b, ((term,), (term, "class")))
    _, families = oracle.count(a, b, by=[("user",), ("user", "gold")], guards=("gold",), ignore_mismatch=True)
    totals = Counter(
        {
            user: sum(v for c, v in counts.items() if c in CELLS)
            for (user,), counts in families["user",].items()
        }
    )
    values = sorted(
        (value for value in totals if value is not None), key=lambda value: (-totals[value], value)
    )
    kept = {None, *values[:most]}
    report = streamcmp.finalize(tally) if sum(totals.values()) else None
    if report is None:
        return
    for family, columns in ((term, ("user",)), (f"{term},class", ("user", "gold"))):
        wanted: dict[tuple[Any, ...], int] = {}
        for (user, *rest), counts in families[columns].items():
            key = (user if user in kept or len(values) <= most else OTHER, *rest)
            wanted[key] = wanted.get(key, 0) + sum(v for c, v in counts.items() if c in CELLS)
        rows_of = [row for row in report.to_dict()["results"] if row["family"] == family]
        assert {tuple(row["slice"].values()): row["n"] for row in rows_of} == wanted


CELLS = ("both_correct", "n_ab", "n_ba", "both_wrong")


def log(n: int = 6, **columns: Any) -> pl.DataFrame:
    return pl.DataFrame({"id": range(n), "correct": [at % 2 == 0 for at in range(n)]} | columns)


def test_an_example_with_two_elements_counts_in_both() -> None:
    frame = log(4, skills=[["a", "b"], ["a", "a"], [], None])
    report = streamcmp.compare(frame, frame.with_columns(correct=True), by=["skills"])
    found = {row["slice"]["skills"]: row["n"] for row in report.to_dict()["results"][1:]}
    assert found == {"a": 2, "b": 1, EMPTY: 1, None: 1}
    family = report.families[1]
    assert family.overlapping
    assert (family.micro_gain, family.macro_gain, family.heterogeneity) == (None, None, None)
    assert "slices overlap" in streamcmp_text(report)


def streamcmp_text(report: Any) -> str:
    from streamcmp.report import markdown, terminal

    shown = terminal.render(report, width=100)
    for text in (shown, markdown.render(report)):
        assert "skills: 4 slices, overlapping" in text
        assert "slices overlap: a pair counts in each slice that it belongs to" in text.replace("\n", " ")
    return shown


def test_a_broken_overlapping_family_is_seen() -> None:
    frame = log(4, skills=[["a", "b"], ["a"], ["b"], ["a"]])
    tally = streamcmp.count(frame, frame, by=["skills"])
    table = tally.families["skills"]
    for broken in (table.with_columns(pl.col("both_correct") * 5), table.head(1).with_columns(both_wrong=0)):
        with pytest.raises(InternalError, match="of the overlapping family skills is"):
            streamcmp.finalize(replace(tally, families={**tally.families, "skills": broken}))


def test_tallies_with_other_edges_refuse_to_merge() -> None:
    one, two = log(length=[1, 2, 3, 4, 5, 6]), log(length=[1, 2, 3, 40, 50, 60])
    left, right = (
        streamcmp.count(frame, frame, by=["length:quantiles(2)", "length:bins(3)"]) for frame in (one, two)
    )
    with pytest.raises(UsageError) as error:
        left + right
    assert (
        "length:quantiles(2) cuts at 4 in one and at 40 in the other, the quantiles of each; count with the "
        'same edges: --by "length:bins(4)"'
    ) in str(error.value)
    other = streamcmp.count(one, one, by=["length + 1 AS length:bins(3)"])
    with pytest.raises(
        UsageError, match=r"length:bins\(3\) is of length, cut bins, edges 3 in one and of length \+ 1"
    ):
        streamcmp.count(one, one, by=["length:bins(3)"]) + other


def test_a_value_called_other() -> None:
    frame = log(user=["x", "x", "y", "(other)", "z", "x"])
    tally = streamcmp.count(frame, frame, by=["user:top(1)"])
    with pytest.raises(
        DataError, match=r"'\(other\)' itself.*REPLACE\(user, '\(other\)', 'other'\) AS renamed:top"
    ):
        streamcmp.finalize(tally)
    assert len(streamcmp.finalize(streamcmp.count(frame, frame, by=["user:top(4)"])).results) == 5


def test_absent_stays_beside_the_largest() -> None:
    meta = pl.DataFrame({"id": range(5), "level": [1, 1, 2, 3, None]})
    for levels, wanted in ((1, {"1": 2, OTHER: 2, None: 1, "(absent)": 3}), (3, {"1": 2, "2": 1, "3": 1})):
        report = streamcmp.compare(log(8), log(8), by=[f"level:top({levels})"], slices=meta)
        found = {row["slice"][f"level:top({levels})"]: row["n"] for row in report.to_dict()["results"][1:]}
        assert found == {None: 1, "(absent)": 3} | wanted


def test_top_of_numbers_is_text_only_where_there_is_other() -> None:
    frame = log(level=[1, 1, 2, 3, None, 1])
    few = streamcmp.compare(frame, frame, by=["level:top(1)"])
    assert {row["slice"]["level:top(1)"] for row in few.to_dict()["results"][1:]} == {"1", OTHER, None}
    all_of_them = streamcmp.compare(frame, frame, by=["level:top(3)"])
    assert {row["slice"]["level:top(3)"] for row in all_of_them.to_dict()["results"][1:]} == {1, 2, 3, None}


def test_saving_and_loading_every_kind(tmp_path: Any) -> None:
    frame = log(
        length=[1, 2, None, 4, 5, 6],
        skills=[["a", "b"], [], None, [""], ["a"], ["b"]],
        user=["u", "v", None, "", "u", "w"],
    )
    terms = [
        "length:quantiles(3)",
        "length:bins(0,3)",
        "skills",
        "user:top(1)",
        "skills,length:bins(2)",
        "length * 2 AS x",
    ]
    tally = streamcmp.count(frame, frame, by=terms)
    tally.save(tmp_path / "x.tally")
    loaded = Tally.load(tmp_path / "x.tally")
    assert loaded == tally
    assert loaded.overlapping == {"skills", "skills,length:bins(2)"}
    assert loaded.families["length:bins(0,3)"].schema["slice.length:bins(0,3)"] == pl.Enum(
        ["< 0", "[0, 3)", ">= 3"]
    )
    assert streamcmp.finalize(tmp_path / "x.tally").to_dict() == streamcmp.finalize(tally).to_dict()
    assert (tally + replace(loaded, parts=())).families["skills"]["both_correct"].sum() == 2 * (
        tally.families["skills"]["both_correct"].sum()
    )


def test_null_empty_and_the_empty_list_in_every_format(tmp_path: Any) -> None:
    from streamcmp.report import csv, json, markdown, terminal

    frame = log(4, skills=[[""], [], None, ["a"]])
    report = streamcmp.compare(frame, frame, by=["skills"])
    for text in (terminal.render(report, width=100), markdown.render(report)):
        assert all(word in text for word in ("(null)", "(empty)", '""'))
    rows_of = [line.split(",")[:2] for line in csv.render(report).splitlines()]
    assert sorted(row[1] for row in rows_of if row[0] == "skills") == ["", '""', EMPTY, "a"]
    for value in ("null", '""', '"(empty)"'):
        assert f'"slice":{{"skills":{value}}}' in json.render(report)
    assert '"overlapping":true' in json.render(report)


def test_gates_know_the_families() -> None:
    frame = log(length=[1, 2, 3, 4, 5, 6], skills=[["a"], ["b"], ["a", "b"], [], None, ["a"]])
    by = ["length:bins(0, 4)", "skills", "length * 2 AS double"]
    expressions = [
        "any('length:bins(0,4)', n > 2)",
        "any('length:bins(0,4)', slice.'length:bins(0,4)' == '>= 4')",
        "families.skills.overlapping",
        "any(double, double > 10)",
        "families.'length:bins(0,4)'.slices == 2",
    ]
    from streamcmp.api import check_gates

    check_gates(expressions, by)
    report = streamcmp.gate(streamcmp.compare(frame, frame, by=by), expressions)
    assert [gate.fired for gate in report.gates] == [True] * 5
    with pytest.raises(UsageError, match=r"did you mean length:bins\(0,4\)"):
        check_gates(["any('length:bins(0,5)', n > 2)"], by)


def test_the_product_of_two_lists() -> None:
    """Crossed lists: a pair is in each combination of their elements."""
    frame = log(2, x=[["a", "b"], ["a"]], y=[["p", "q"], []])
    tally = streamcmp.count(frame, frame, by=["x,y"])
    wanted = Counter([*product("ab", "pq"), ("a", EMPTY)])
    found = {tuple(cut.values()): counts.n for cut, counts in tally.counts("x,y")}
    assert found == wanted
