"""Flips: exactly the pairs that are counted, whatever the order, format, strategy and size of pieces."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import streamcmp
from streamcmp.engines import gathered
from streamcmp.engines.flips import FlipRows, Question, find
from streamcmp.errors import DataError, InternalError, UsageError
from streamcmp.pairing.located import Located
from streamcmp.resources import Resources
from streamcmp.stable_hash import stable_hash
from streamcmp.table_file import plain
from tests import oracle
from tests.test_laws import CANNOT_HOLD, IDS, RESOURCES, frame, logs, request, rows_of

KINDS = {"both": {"n_ab": "lost", "n_ba": "won"}, "lost": {"n_ab": "lost"}, "won": {"n_ba": "won"},
         "churn": {"both_wrong": "churn"}}  # fmt: skip
SAID = st.sampled_from(["x", "y", "", None])


@st.composite
def cases(
    draw: st.DrawFn, kinds: Sequence[str] = tuple(sorted(IDS)), *, plain: bool = False
) -> dict[str, Any]:
    """Logs of the laws, with what each model said, and which flips are wanted."""
    case = draw(logs(kinds, plain=plain))
    for side in "ab":
        for number, row in enumerate(case[side]):
            row["said"], row["text"] = draw(SAID), f"{side}{number}"
    return {**case, "kind": draw(st.sampled_from(sorted(KINDS)))}


def table(case: dict[str, Any], side: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    more = pl.DataFrame(
        {name: [row[name] for row in rows] for name in ("said", "text")},
        schema={"said": pl.String, "text": pl.String},
    )
    return frame(rows_of({**case, side: rows}, side), case["dtype"]).hstack(more)


def expected(case: dict[str, Any]) -> list[tuple[str, str, str]]:
    """(kind, text of a, text of b) of each flip, by a's order."""
    pairs: list[tuple[Any, Any, str]] = []
    oracle.count(
        rows_of(case, "a"), rows_of(case, "b"), on=case["on"], by=case["by"], guards=("gold",),
        keep=(lambda row: row["keep"] == 1) if case["where"] else lambda _row: True,
        missing_is_wrong=case["missing"] == "wrong", ignore_mismatch=case["mismatch"] == "ignore",
        pairs=pairs,
    )  # fmt: skip
    kinds = KINDS[case["kind"]]
    found = [
        (kinds[counter], a["text"], b["text"])
        for a, b, counter in pairs
        if counter in kinds and (case["kind"] != "churn" or a["said"] != b["said"])
    ]
    order = {row["text"]: number for number, row in enumerate(case["a"])}
    return sorted(found, key=lambda row: order[row[1]])


def given_rows(
    case: dict[str, Any], left: Any, right: Any, resources: Resources, **question: Any
) -> pl.DataFrame:
    asked = Question(kind=case["kind"], answer={"a": "said", "b": "said"}, **question)
    with find(request(case, left, right), resources, asked) as found:
        return pl.concat([plain(one) for one in found.tables()])


def check(case: dict[str, Any], rows: pl.DataFrame) -> None:
    assert rows.select("kind", "left.text", "right.text").rows() == expected(case)
    of = {side: {row["text"]: row for row in case[side]} for side in "ab"}
    for row in rows.iter_rows(named=True):
        a, b = of["a"][row["left.text"]], of["b"][row["right.text"]]
        assert (row["left.said"], row["right.said"]) == (a["said"], b["said"])
        source = a if "a" in case["carried"] else b
        for name in {name for term in case["by"] for name in term}:
            assert row[f"slice.{name}"] == source[name]
        if "epoch" in case["on"]:
            assert row["epoch"] == a["epoch"]


@given(cases(), RESOURCES)
def test_they_are_the_pairs_that_the_oracle_counts(case: dict[str, Any], resources: Resources) -> None:
    left, right = (table(case, side, case[side]) for side in ("a", "b"))
    check(case, given_rows(case, left, right, resources))


@given(
    cases(),
    RESOURCES,
    st.tuples(st.sampled_from(["parquet", "ndjson", "ipc"]), st.integers(1, 4)),
    st.randoms(use_true_random=False),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_files_and_order(
    tmp_path_factory: pytest.TempPathFactory,
    case: dict[str, Any],
    resources: Resources,
    form_and_shards: tuple[str, int],
    rng: random.Random,
) -> None:
    form, shards = form_and_shards
    if case["dtype"] in CANNOT_HOLD[form]:
        form = "frame"
    folder = tmp_path_factory.mktemp("shards")
    sources: list[Any] = []
    for side in ("a", "b"):
        rng.shuffle(case[side])
        whole = table(case, side, case[side])
        cuts = sorted(rng.randrange(whole.height + 1) for _ in range(shards - 1))
        parts = [
            whole.slice(start, stop - start)
            for start, stop in zip([0, *cuts], [*cuts, whole.height], strict=True)
        ]
        sources.append(whole if form == "frame" else files(parts, folder / side, form))
    check(case, given_rows(case, sources[0], sources[1], resources))


def files(parts: list[pl.DataFrame], folder: Path, form: str) -> Path:
    folder.mkdir()
    for at, part in enumerate(parts):
        path = folder / f"part-{at}.{form}"
        if form == "parquet":
            part.write_parquet(path, row_group_size=3)
        elif form == "ipc":
            part.write_ipc(path)
        else:
            part.write_ndjson(path)
    return folder


@given(cases(kinds=["small int", "text"], plain=True), RESOURCES, st.integers(1, 3), st.integers(0, 5),
       st.randoms(use_true_random=False))  # fmt: skip
@settings(max_examples=settings().max_examples // 3)  # three comparisons each
def test_a_sample_depends_on_ids_and_seed_alone(
    case: dict[str, Any], resources: Resources, most: int, seed: int, rng: random.Random
) -> None:
    left, right = (table(case, side, case[side]) for side in ("a", "b"))
    every = given_rows(case, left, right, resources)
    sampled = given_rows(case, left, right, resources, sample=most, seed=seed)
    assert sampled.height <= every.height
    if every.height:
        hashes = every.with_columns(hash=pl.Series(stable_hash(every["id"], seed)))
        slices = [name for name in every.columns if name.startswith("slice.")]
        ranks = hashes.with_columns(rank=pl.col("hash").rank("ordinal").over([*slices, "kind"]))
        want = ranks.filter(pl.col("rank") <= most)
        assert sampled.equals(want.drop("hash", "rank"))
    for side in "ab":
        rng.shuffle(case[side])
    left, right = (table(case, side, case[side]) for side in ("a", "b"))
    other = given_rows(case, left, right, replace(resources, strategy="buckets"), sample=most, seed=seed)
    assert sorted(other.rows(), key=repr) == sorted(sampled.rows(), key=repr)


LEFT = pl.DataFrame({
    "id": [1, 2, 3, 4, 5, 6],
    "pred": ["x", "y", "x", "y", "z", None],
    "label": ["x", "x", "x", "x", "x", "x"],
    "domain": ["law", "law", "art", None, "art", "art"],
    "prompt": ["p1", "p2", "p3", "p4", "p5", "p6"],
})  # fmt: skip
RIGHT = LEFT.with_columns(pred=pl.Series(["y", "x", "x", "z", "z", "w"])).reverse()


def test_columns_stand_side_by_side() -> None:
    found = streamcmp.flips(LEFT, RIGHT, by=["domain"], select="prompt,pred")
    assert found.table is not None
    assert found.table.rows() == [
        (1, "law", "lost", "p1", "p1", "x", "y"), (2, "law", "won", "p2", "p2", "y", "x")
    ]  # fmt: skip
    names = ["left.prompt", "right.prompt", "left.pred", "right.pred"]
    assert found.columns == ("id", "slice.domain", "kind", *names)
    assert (found.kinds, found.rows, found.available) == ({"lost": 1, "won": 1}, 2, 2)
    every = streamcmp.flips(LEFT, RIGHT).columns
    others = [f"{side}.{name}" for name in LEFT.columns[1:] for side in ("left", "right")]
    assert every == ("id", "kind", *others)


def test_churn_is_two_different_wrong_answers() -> None:
    with_missing = streamcmp.flips(LEFT, RIGHT, kind="churn", missing="wrong", select="pred")
    assert with_missing.table is not None
    assert with_missing.table.rows() == [(4, "churn", "y", "z"), (6, "churn", None, "w")]
    dropped = streamcmp.flips(LEFT, RIGHT, kind="churn", select="pred").table
    assert dropped is not None
    assert dropped["id"].to_list() == [4]


def test_churn_needs_answers_that_can_be_compared() -> None:
    bare = [one.select("id", correct=pl.col("pred") == "x", said="pred") for one in (LEFT, RIGHT)]
    with pytest.raises(UsageError, match="the left log only says what is correct where column 'correct'"):
        streamcmp.flips(*bare, kind="churn")
    named = streamcmp.flips(*bare, kind="churn", answer="said").table
    assert named is not None
    assert named["id"].to_list() == [4]
    with pytest.raises(UsageError, match=r"the right log has no column 'y' .named by --answer"):
        streamcmp.flips(*bare, kind="churn", answer=("said", "y"))
    lists = [one.with_columns(said=pl.concat_list("said")) for one in bare]
    with pytest.raises(UsageError, match=r"the answer 'said' is List.*answers are single values"):
        streamcmp.flips(*lists, kind="churn", answer="said")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"select": "promt"}, "neither log has a column 'promt' .named by --select.; did you mean 'prompt'"),
        ({"kind": "gained"}, "--kind must be one of both, lost, won, churn"),
        ({"sample": 0}, "--sample must be at least 1"),
        ({"limit": -1}, "--limit must be at least 0"),
        ({"seed": -1}, "--seed must be from 0"),
        ({"output": "flips.txt"}, "the ending .txt does not say a format"),
    ],
)
def test_mistakes_are_said_before_rows_are_read(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        streamcmp.flips(LEFT, RIGHT, **options)


def test_policies_hold_as_in_a_comparison(tmp_path: Path) -> None:
    twice = pl.concat([RIGHT, RIGHT.head(1)])
    with pytest.raises(DataError, match="duplicate ids"):
        streamcmp.flips(LEFT, twice, output=tmp_path / "flips.parquet")
    assert not list(tmp_path.iterdir())
    found = streamcmp.flips(LEFT, twice, duplicates="drop")
    assert [warning.code for warning in found.warnings] == ["duplicates"]


def test_rows_paired_by_position_are_known_by_their_number() -> None:
    right = RIGHT.reverse()
    found = streamcmp.flips(LEFT, right, on="row", by=["domain"], select="id")
    assert found.table is not None
    assert found.table.rows() == [(1, "law", "lost", 1, 1), (2, "law", "won", 2, 2)]
    assert found.head == ("row", "slice.domain")


def test_columns_of_a_wide_log_stand_once() -> None:
    wide = pl.DataFrame({"id": [7, 8, 9], "x": [1, 0, 1], "y": [0, 0, 1], "kind": ["k", "l", "m"]})
    for on in (None, "id"):
        table = streamcmp.flips(wide, wide, correct=("x", "y"), on=on).table
        assert table is not None
        assert table.drop("row", strict=False).to_dicts() == [
            {"id": 7, "kind": "lost", "x": 1, "y": 0, "log.kind": "k"}
        ]


@pytest.mark.parametrize(
    ("on", "others"),
    [
        (["kind", "id.kind"], ["x"]),
        (["left.x", "right.x"], ["x"]),
        (["left.x", "log.left.x"], ["x", "right.x"]),
        (["slice.d", "id.slice.d"], ["d"]),
        (["truth.label"], ["x"]),
    ],
)
def test_no_column_is_lost_to_another_of_its_name(on: list[str], others: list[str]) -> None:
    names = [*on, *others]
    left, right = (
        pl.DataFrame({name: [name if name in on else side + name] for name in names} | {"correct": [right]})
        for side, right in (("left", 1), ("right", 0))
    )
    truth = left.select(*on, label="correct")
    by = ["d"] if "d" in others else None
    options: dict[str, Any] = {"truth": truth, "prediction": "correct"} if "truth.label" in on else {}
    table = streamcmp.flips(left, right, on=on, by=by, select=others, **options).table
    assert table is not None
    wanted = {*on, *(side + name for side in ("left", "right") for name in others), *([1] if options else [])}
    assert wanted <= {value for row in table.rows() for value in row}


def test_the_truth_stands_beside() -> None:
    truth = pl.DataFrame({"id": [6, 5, 4, 3, 2, 1], "gold": ["x"] * 6, "note": ["n"] * 6})
    sides = [one.drop("label") for one in (LEFT, RIGHT)]
    table = streamcmp.flips(*sides, truth=truth, select="pred").table
    assert table is not None
    assert table.columns == ["id", "kind", "truth.label", "left.pred", "right.pred"]
    assert table.rows() == [(1, "lost", "x", "x", "y"), (2, "won", "x", "y", "x")]


def test_an_edited_id_is_shown_as_each_log_has_it() -> None:
    right = RIGHT.with_columns(pl.format("q-{}", "id").alias("id"))
    left = LEFT.with_columns(pl.col("id").cast(pl.String))
    table = streamcmp.flips(left, right, id_strip_prefix="q-", select="pred,id").table
    assert table is not None
    assert table.select("id", "right.id").rows() == [("1", "q-1"), ("2", "q-2")]


NESTED = pl.DataFrame({
    "id": [1, 2, 3],
    "correct": [1, 0, 1],
    "turns": [[{"role": "user", "text": "é\n\"q\""}], [], None],
    "blob": [b"\xff", None, b""],
    "score": [float("nan"), 0.5, None],
    "kind_of": pl.Series(["u", "v", None], dtype=pl.Categorical),
    "huge": pl.Series([2**100, 1, None], dtype=pl.Int128),
    "none": [None, None, None],
})  # fmt: skip
SHOWN: dict[str, list[Any]] = {
    "turns": [[{"role": "user", "text": 'é\n"q"'}], []],
    "blob": ["ff", None],
    "score": ["NaN", 0.5],
    "kind_of": ["u", "v"],
    "huge": [str(2**100), "1"],
    "none": [None, None],
}


@pytest.mark.parametrize("ending", ["parquet", "arrow", "jsonl", "csv"])
def test_any_type_passes_through(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"flips.{ending}"
    streamcmp.flips(NESTED, NESTED.with_columns(correct=pl.Series([0, 1, 1])), output=path)
    if ending in ("parquet", "arrow"):
        found = pl.read_parquet(path) if ending == "parquet" else pl.read_ipc(path)
        want = NESTED.head(2).with_columns(pl.col("kind_of", "huge", "none").cast(pl.String))
        for side in ("left", "right"):
            assert_frame_equal(
                found.select(pl.col(f"{side}.{name}").alias(name) for name in SHOWN), want.select(*SHOWN)
            )
        return
    rows = (
        [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        if ending == "jsonl"
        else pl.read_csv(path, infer_schema=False).to_dicts()
    )
    for name, values in SHOWN.items():
        shown = [row[f"left.{name}"] for row in rows]
        if ending == "csv":
            values = [None if value is None else str(value) for value in values]  # noqa: PLW2901
            shown = [str(json.loads(value)) for value in shown] if name == "turns" else shown
        assert shown == values, name


def test_json_lines_of_any_shape_pass_through(tmp_path: Path) -> None:
    left: list[dict[str, Any]] = [
        {"id": "a", "correct": 1, "said": [{"text": "é"}], "n": 1, "m": 2},
        {"id": "b", "correct": 1, "said": "text", "n": 2.5, "m": "x"},
        {"id": "c", "correct": 1, "said": {"deep": {"er": None}}, "n": 2**53 + 1, "m": None},
        {"id": "d", "correct": 1, "late": True},
    ]
    for name, rows in (("l", left), ("r", [{"id": row["id"], "correct": 0} for row in left[::-1]])):
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    out = tmp_path / "flips.jsonl"
    streamcmp.flips(tmp_path / "l.jsonl", tmp_path / "r.jsonl", output=out)
    got = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    for row, want in zip(got, left, strict=True):
        assert {name: row[f"left.{name}"] for name in ("correct", "said", "n", "m", "late")} == {
            name: want.get(name) for name in ("correct", "said", "n", "m", "late")
        }
    streamcmp.flips(tmp_path / "l.jsonl", tmp_path / "r.jsonl", output=tmp_path / "flips.parquet")
    said = pl.read_parquet(tmp_path / "flips.parquet")["left.said"].to_list()
    assert [None if text is None else json.loads(text) for text in said] == [row.get("said") for row in left]


def test_files_of_several_types_become_one(tmp_path: Path) -> None:
    for side, correct in (("l", [1, 1]), ("r", [0, 0])):
        (tmp_path / side).mkdir()
        first = pl.DataFrame({"id": [1, 2], "correct": correct, "x": [1, 2], "y": [1, 2], "z": ["a", "b"]})
        first.cast({"x": pl.Int8}).write_parquet(tmp_path / side / "1.parquet")
        second = first.with_columns(pl.col("id") + 2, x=pl.lit(0.5), y=pl.lit("t")).drop("z")
        second.write_parquet(tmp_path / side / "2.parquet")
    table = streamcmp.flips(tmp_path / "l", tmp_path / "r").table
    assert table is not None
    assert table["left.x"].to_list() == [1.0, 2.0, 0.5, 0.5]
    assert table["left.y"].to_list() == ["1", "2", '"t"', '"t"']  # JSON, as no one type holds them
    assert table["left.z"].to_list() == ["a", "b", None, None]


@pytest.mark.parametrize("ending", ["parquet", "arrow", "jsonl", "csv"])
def test_the_bytes_do_not_depend_on_how(tmp_path: Path, ending: str) -> None:
    rows = 30_000
    left = pl.select(
        id=pl.int_range(rows), correct=pl.int_range(rows).hash(1) % 5 > 0,
        text=pl.int_range(rows).cast(pl.String).repeat_by(20).list.join(" "),
    )  # fmt: skip
    right = left.with_columns(correct=pl.int_range(rows).hash(2) % 5 > 0)
    left.write_parquet(tmp_path / "l.parquet")
    right.write_parquet(tmp_path / "r.parquet")
    found = set()
    for options in ({}, {"strategy": "buckets"}, {"strategy": "merge", "threads": 1}, {"memory": "64MiB"}):
        path = tmp_path / f"flips.{ending}"
        streamcmp.flips(tmp_path / "l.parquet", tmp_path / "r.parquet", output=path, **options)
        found.add(path.read_bytes())
    assert len(found) == 1


def test_a_lost_row_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    append = Located.append
    monkeypatch.setattr(Located, "append", lambda self, planes: append(self, [one[1:] for one in planes]))
    with pytest.raises(InternalError, match="flips are kept of"):
        streamcmp.flips(LEFT, RIGHT)


def test_rows_that_do_not_belong_together_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    by_b = FlipRows._by_b

    def turned(self: FlipRows) -> Any:
        found = by_b(self)
        pieces = [[rows, places[::-1]] for rows, places in found.windows()]
        monkeypatch.setattr(found, "windows", lambda: iter(pieces))
        return found

    monkeypatch.setattr(FlipRows, "_by_b", turned)
    with pytest.raises(InternalError, match="different ids"):
        streamcmp.flips(LEFT, RIGHT)


def test_what_no_memory_holds_waits_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a log in any order, spilled after every batch."""
    monkeypatch.setattr(gathered, "_HELD_SHARE", 2**60)
    rows = 2_000
    left = pl.select(id=pl.int_range(rows), correct=pl.lit(1), text=pl.int_range(rows).cast(pl.String))
    right = left.with_columns(correct=pl.lit(0)).sample(fraction=1, shuffle=True, seed=1)
    table = streamcmp.flips(left, right).table
    assert table is not None
    assert table["id"].to_list() == list(range(rows))
    assert table["left.text"].equals(table["right.text"].alias("left.text"))


def test_a_sample_takes_so_many_of_every_slice_of_every_family() -> None:
    rows = 400
    number = pl.int_range(rows)
    left = pl.select(
        id=number, correct=number % 2 == 0, level=number % 3,
        skills=pl.concat_list(number % 5, 10 + number % 2), text=pl.format("{}", number),
    )  # fmt: skip
    right = left.with_columns(~pl.col("correct"))
    every = streamcmp.flips(left, right, by=["level", "skills"]).table
    found = streamcmp.flips(left, right, by=["level", "skills"], sample=2, seed=7, select="text").table
    assert every is not None
    assert found is not None
    assert every.height == rows
    hashed = every.with_columns(hash=pl.Series(stable_hash(every["id"], 7)))
    chosen: set[int] = set()
    for name in ("slice.level", "slice.skills"):
        flat = hashed.explode(name) if name == "slice.skills" else hashed
        best = flat.sort("hash").group_by(name, "kind").head(2)
        chosen |= set(best["id"])
    assert found["id"].to_list() == sorted(chosen)
    assert found["left.text"].to_list() == [str(one) for one in sorted(chosen)]
    assert streamcmp.flips(left, right, by=["level", "skills"], sample=2, seed=8).table is not None


def test_a_truth_file_that_does_not_fit_is_said(tmp_path: Path) -> None:
    number = pl.int_range(1_500_000)
    pl.select(id=number, label=number % 7).write_parquet(tmp_path / "truth.parquet")
    left = pl.select(id=number, pred=number % 7)
    notes: list[str] = []
    found = streamcmp.flips(
        left,
        left.with_columns(pred=pl.when(pl.col("id") % 500_000 == 3).then(9).otherwise("pred")).reverse(),
        truth=tmp_path / "truth.parquet", memory="64MiB", on_note=notes.append,
    )  # fmt: skip
    assert found.table is not None
    assert found.table["id"].to_list() == [3, 500_003, 1_000_003]
    assert notes[-1] == "the truth file does not fit the memory: its labels do not stand beside the flips"


def test_answers_in_the_logs_of_harnesses_are_known() -> None:
    harness = Path(__file__).parent.parent / "examples" / "harness"
    for log, answer in (("lm_eval/{}", "filtered_resps"), ("inspect/{}.eval", "scores.choice.answer")):
        sides = [harness / log.format(name) for name in ("base", "tuned")]
        found = streamcmp.flips(*sides, answers_only=True)
        assert {f"left.{answer}", f"right.{answer}"} <= set(found.columns)
        assert found.rows == sum(found.kinds.values()) > 0


def test_a_limit_takes_the_first_of_what_there_is() -> None:
    every = streamcmp.flips(LEFT, RIGHT).table
    assert every is not None
    for limit in (0, 1, 2, 9):
        found = streamcmp.flips(LEFT, RIGHT, limit=limit)
        assert found.table is not None
        assert found.table.equals(every.head(limit))
        assert found.table.schema == every.schema
        assert (found.rows, found.available) == (min(limit, 2), 2)


def test_a_sample_of_rows_paired_by_position_goes_by_their_numbers() -> None:
    left = pl.select(correct=pl.int_range(50) % 2)
    found = streamcmp.flips(
        left, left.select(correct=1 - pl.col("correct")), on="row", sample=3, seed=4
    ).table
    assert found is not None
    numbers = pl.DataFrame({"row": range(1, 51), "hash": stable_hash(pl.Series(range(1, 51)), 4)})
    best = numbers.sort("hash").group_by((pl.col("row") % 2).alias("odd")).head(3)
    assert found["row"].to_list() == sorted(best["row"])


def test_slices_from_a_third_file_stand_beside() -> None:
    third = LEFT.select("id", topic=pl.format("t{}", "id")).reverse()
    table = streamcmp.flips(LEFT, RIGHT, slices=third, by=["topic"], select="pred").table
    assert table is not None
    assert table.select("id", "slice.topic", "kind").rows() == [(1, "t1", "lost"), (2, "t2", "won")]


def test_no_input_is_overwritten(tmp_path: Path) -> None:
    left, right = tmp_path / "left.parquet", tmp_path / "right.parquet"
    LEFT.write_parquet(left)
    RIGHT.write_parquet(right)
    before = left.read_bytes(), right.read_bytes()
    wrong: list[tuple[Any, dict[str, Any]]] = [
        (right, {}),
        (str(left), {}),
        (left, {"slices": left}),
        (tmp_path / "nowhere" / "x.parquet", {}),
    ]
    for output, options in wrong:
        with pytest.raises(UsageError, match=r"is also an input|there is no folder"):
            streamcmp.flips([left], right, output=output, **options)
    with pytest.raises(UsageError, match="is also an input"):
        streamcmp.convert(left, left)
    assert (left.read_bytes(), right.read_bytes()) == before
