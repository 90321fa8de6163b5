"""What guards hold where they differ: seen in every character, for the rows that count as mismatches."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest

import streamcmp
from streamcmp.engines.differing import side_by_side
from streamcmp.errors import DataError
from streamcmp.resources import Strategy

IDS = [3, 1, 2, 4]
WRITERS: dict[str, Callable[[pl.DataFrame, str], Any]] = {
    "csv": pl.DataFrame.write_csv,
    "jsonl": pl.DataFrame.write_ndjson,
    "parquet": pl.DataFrame.write_parquet,
}


def log(guards: list[str], ids: list[Any] = IDS, name: str = "label") -> pl.DataFrame:
    return pl.DataFrame({"id": ids, "correct": [1] * len(ids), name: guards})


def refusal(left: Any, right: Any, **options: Any) -> list[str]:
    """The lines of the error after its first."""
    with pytest.raises(DataError) as caught:
        streamcmp.compare(left, right, **options)
    return str(caught.value).splitlines()[1:]


@pytest.mark.parametrize(
    ("left", "right", "text"),
    [
        ("yes ", "yes", "'yes ' on the left, 'yes' on the right"),
        ("a\0", "a", r"'a\x00' on the left, 'a' on the right"),
        ("a\n\x1b[2J", "a", r"'a\n\x1b[2J' on the left, 'a' on the right"),
        ("a\u202e", "a\xa0", r"'a\u202e' on the left, 'a\xa0' on the right"),
        ("\xe9", "e\u0301", r"'\xe9' on the left, 'e\u0301' on the right"),
        ("\u5b57", "\u6587", "'\u5b57' on the left, '\u6587' on the right"),
        ("it's", 'a "b"', """"it's" on the left, 'a "b"' on the right"""),
        ("null", None, "'null' on the left, null on the right"),
        (1, 2.5, "1 on the left, 2.5 on the right"),
        (True, date(2026, 1, 2), "true on the left, 2026-01-02 on the right"),
        ("", "x", "'' on the left, 'x' on the right"),
        ("x" * 99, "x" * 99 + " ", f"...'{'x' * 20}' on the left, ...'{'x' * 20} ' on the right"),
        ("x" * 99, "y", f"'{'x' * 60}'... on the left, 'y' on the right"),
        (
            "q" * 500 + "a" + "r" * 500,
            "q" * 500 + "b" + "r" * 500,
            f"...'{'q' * 20}a{'r' * 39}'... on the left, ...'{'q' * 20}b{'r' * 39}'... on the right",
        ),
    ],
)
def test_one_sees_in_what_two_values_differ(left: Any, right: Any, text: str) -> None:
    assert side_by_side(left, right) == text


@pytest.mark.parametrize("strategy", get_args(Strategy))
@pytest.mark.parametrize("cast", [pl.Int64, pl.String])
def test_every_strategy_names_the_values(strategy: str, cast: Any) -> None:
    left, right = (log(guards).cast({"id": cast}) for guards in (list("ABCD"), ["A", "B ", "D", "D"]))
    if strategy == "merge":
        left, right = left.sort("id"), right.sort("id")
    if strategy == "direct" and cast == pl.String:
        pytest.skip("for integers only")
    assert refusal(left, right, strategy=strategy) == [
        "  id 1: label is 'B' on the left, 'B ' on the right",
        "  id 2: label is 'C' on the left, 'D' on the right",
    ]


def test_only_three_ids_and_the_guards_that_differ() -> None:
    left = log(list("ABCD")).with_columns(same=pl.lit(1), doc=pl.lit("x"))
    right = left.with_columns(label=pl.lit("E"), doc=pl.col("label"))
    lines = refusal(left, right, guards=["same", "doc"])
    assert lines == [
        f"  id {number}: doc is 'x' on the left, '{letter}' on the right; "
        f"label is '{letter}' on the left, 'E' on the right"
        for number, letter in ((1, "B"), (2, "C"), (3, "A"))
    ]


def test_a_filtered_row_of_the_same_id_is_another() -> None:
    left = log(list("ABCDZ"), [*IDS, 1]).with_columns(keep=pl.Series([1, 1, 1, 1, 0]))
    right = log(["A", "b", "C", "D"]).with_columns(keep=1)
    assert refusal(left, right, where="keep = 1") == ["  id 1: label is 'B' on the left, 'b' on the right"]


def test_two_models_in_one_file(tmp_path: Path) -> None:
    one = pl.DataFrame({"id": [1, 2], "a": [1, 1], "b": [1, 0], "x": ["p", "q"], "y": ["p", "q "]})
    one.write_csv(tmp_path / "both.csv")
    path = str(tmp_path / "both.csv")
    sides = [{"correct": correct, "label": label} for correct, label in (("a", "x"), ("b", "y"))]
    lines = refusal(path, path, on="id", left_options=sides[0], right_options=sides[1])
    assert lines == ["  id 2: x is 'q' on the left, 'q ' on the right"]


@pytest.mark.parametrize("ending", WRITERS)
def test_files_of_every_kind_and_a_shard_of_them(tmp_path: Path, ending: str) -> None:
    paths = []
    for name, guards in (("left", list("ABCD")), ("right", ["A", "B", "C", "\u200bD"])):
        paths.append(str(tmp_path / f"{name}.{ending}"))
        WRITERS[ending](log(guards), paths[-1])
    said = [r"id 4: label is 'D' on the left, '\u200bD' on the right"]
    assert refusal(*paths) == [f"  {one}" for one in said]
    # Where mismatches pass, they are told with the ids; where they do not, the error tells them.
    told: dict[str, Any] = {}
    streamcmp.compare(*paths, mismatch="drop", on_examples=told.update)
    assert told == {"guard_mismatch": ["4"], "guard_values": said}
    told.clear()
    assert refusal(*paths, on_examples=told.update)
    assert told == {"guard_mismatch": ["4"]}
    tallies = [streamcmp.count(*paths, shard=f"{number}/2") for number in range(2)]
    assert streamcmp.finalize(streamcmp.merge(tallies), mismatch="drop").warnings[0].code == "guard_mismatch"


def test_rows_that_pair_by_position_have_no_ids() -> None:
    assert refusal(log(list("AB"), [1, 2]), log(["A", "C"], [1, 2]), on="row") == []
