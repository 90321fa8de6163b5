"""The laws, on random logs.

Every strategy, order, shard, chunk and bucket size counts what the row-by-row oracle counts.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from streamcmp.comparison import Comparison, LogRequest, Policies
from streamcmp.engines.local import count
from streamcmp.resources import Resources, Strategy
from streamcmp.tally import Tally, family_name
from tests import oracle

BIG = 2**63
SHAPES = ("independent", "same order", "unique same order", "shuffled", "sorted")
CANNOT_HOLD: dict[str, list[pl.DataType]] = {
    "parquet": [pl.Int128()],
    "ipc": [pl.Int128()],
    "ndjson": [pl.Int128(), pl.Categorical()],
}
IDS: dict[str, tuple[st.SearchStrategy[Any], pl.DataType]] = {
    "small int": (st.integers(-3, 12), pl.Int64()),
    "int32": (st.integers(-3, 12), pl.Int32()),
    "any int": (st.integers(-BIG, BIG - 1) | st.sampled_from([0, -1, BIG - 1, -BIG]), pl.Int64()),
    "uint64": (st.integers(0, 2 * BIG - 1) | st.sampled_from([BIG - 1, BIG, 2 * BIG - 1]), pl.UInt64()),
    "int128": (st.integers(-(2**100), 2**100), pl.Int128()),
    "text": (
        st.sampled_from(["", "7", "007", "é", "e\u0301", "a b", "x\x1fy", "null", "NaN", "A", "a"])
        | st.text(max_size=3),
        pl.String(),
    ),
    "category": (st.sampled_from(["x", "y", "z", "w", "v"]), pl.Categorical()),
    "float": (st.integers(-3, 12).map(float) | st.just(float("nan")), pl.Float64()),
}
DOMAIN = st.sampled_from(["law", "art", "", "(null)", None])
LEVEL = st.sampled_from([1, 2, 10, None])
LABEL = st.sampled_from(["x", "y", None])


@st.composite
def logs(
    draw: st.DrawFn,
    kinds: Sequence[str] = tuple(sorted(IDS)),
    shapes: Sequence[str] = SHAPES,
    *,
    plain: bool = False,
) -> dict[str, Any]:
    """Two logs as rows, with what the comparison is to do with them.

    plain: one id column, and at most one family.
    """
    values, dtype = IDS[draw(st.sampled_from(kinds))]
    compound = not plain and draw(st.booleans())
    pool = draw(st.lists(values, min_size=1, max_size=12))
    ids = st.sampled_from(pool) | st.none() if draw(st.booleans()) else st.sampled_from(pool)

    def row(identity: tuple[Any, Any]) -> dict[str, Any]:
        return {
            "id": identity[0],
            "epoch": identity[1],
            "correct": draw(st.sampled_from([True, False, None])),
            "domain": draw(DOMAIN),
            "level": draw(LEVEL),
            "gold": draw(LABEL),
            "keep": draw(st.sampled_from([1, 1, 1, 0, None])),
        }

    identities = st.tuples(ids, st.integers(0, 1))
    shape = draw(st.sampled_from(shapes))
    left = draw(
        st.lists(
            identities, min_size=1, max_size=14, unique_by=repr if shape == "unique same order" else None
        )
    )
    right = draw(st.lists(identities, min_size=1, max_size=14)) if shape == "independent" else list(left)
    if shape == "shuffled":
        right = draw(st.permutations(right))
    if shape == "sorted":
        left, right = (rising(draw(st.lists(identities, min_size=1, max_size=14)), dtype) for _ in "ab")
    a = [row(identity) for identity in left]
    b = [
        row(identity)
        if draw(st.booleans()) or shape == "independent"
        else {**a[at % len(a)], "id": identity[0], "epoch": identity[1]}
        for at, identity in enumerate(right)
    ]
    carried = draw(st.sampled_from([("a", "b"), ("a",), ("b",)]))
    terms = [
        (),
        (("domain",),),
        (("domain", "level"),),
        (("level",), ("domain",)),
        (("domain", "level"), ("level",)),
    ]
    by = draw(st.sampled_from(terms[: 3 if plain else None]))
    return {
        "a": a,
        "b": b,
        "shape": shape,
        "dtype": dtype,
        "on": ("id", "epoch") if compound else ("id",),
        "by": by,
        "carried": carried,
        "guards": draw(st.sampled_from([(), ("gold",)])),
        "where": draw(st.booleans()),
        "missing": draw(st.sampled_from(["drop", "wrong"])),
        "mismatch": draw(st.sampled_from(["drop", "ignore"])),
    }


def rising(identities: list[tuple[Any, Any]], dtype: pl.DataType) -> list[tuple[Any, Any]]:
    """Each identity once, those without an id anywhere, the others in the order of canonical ids."""
    found = {repr(identity[0]): identity for identity in identities}.values()
    text = isinstance(dtype, pl.String | pl.Categorical | pl.Int128)
    absent = [one for one in found if one[0] is None or one[0] != one[0]]
    present = [one for one in found if one[0] is not None and one[0] == one[0]]
    return absent + sorted(present, key=lambda one: str(one[0]).encode() if text else one[0])


def frame(rows: list[dict[str, Any]], dtype: pl.DataType) -> pl.DataFrame:
    schema = {
        "id": dtype,
        "epoch": pl.Int64(),
        "correct": pl.Boolean(),
        "domain": pl.String(),
        "level": pl.Int64(),
        "gold": pl.String(),
        "keep": pl.Int64(),
    }
    return pl.DataFrame(
        rows, schema={name: dtype for name, dtype in schema.items() if not rows or name in rows[0]}
    )


def rows_of(case: dict[str, Any], side: str) -> list[dict[str, Any]]:
    """A side's rows, without the slice columns it does not carry."""
    keep = side in case["carried"]
    return [
        row if keep else {name: value for name, value in row.items() if name not in ("domain", "level")}
        for row in case[side]
    ]


def request(case: dict[str, Any], left: Any, right: Any) -> Comparison:
    return Comparison(
        a=LogRequest(left, correct="correct"),
        b=LogRequest(right, correct="correct"),
        on=case["on"],
        by=case["by"],
        where="keep = 1" if case["where"] else None,
        guards=case["guards"],
        policies=Policies(missing=case["missing"], mismatch=case["mismatch"]),
    )


def expected(case: dict[str, Any]) -> tuple[Any, Any]:
    ledger, families = oracle.count(
        rows_of(case, "a"),
        rows_of(case, "b"),
        on=case["on"],
        by=case["by"],
        guards=("gold",),
        keep=(lambda row: row["keep"] == 1) if case["where"] else lambda _row: True,
        missing_is_wrong=case["missing"] == "wrong",
        ignore_mismatch=case["mismatch"] == "ignore",
    )
    return ledger, {
        family_name(term): {key: +counts for key, counts in slices.items()}
        for term, slices in families.items()
    }


def observed(tally: Tally) -> tuple[Any, Any]:
    assert tally.ledger is not None
    return tally.ledger.to_dict(), {
        family: {
            tuple(values.values()): {
                name: getattr(counts, name) for name in counts.__slots__ if getattr(counts, name)
            }
            for values, counts in tally.counts(family)
        }
        for family in tally.families
    }


def same(got: tuple[Any, Any], want: tuple[Any, Any]) -> None:
    assert got[0] == want[0]
    overall = want[1]["overall"] or {(): {}}
    assert got[1] == {**want[1], "overall": overall}


RESOURCES = st.builds(
    Resources,
    memory=st.just(2**28),
    threads=st.sampled_from([1, 2]),
    strategy=st.sampled_from(["auto", "buckets"]),
    chunk_rows=st.sampled_from([1, 2, 3, 7, 1000]),
    bucket_bits=st.sampled_from([0, 1, 3, 4, 8, 12]),
)


@given(logs(), RESOURCES)
def test_every_strategy_counts_what_the_oracle_counts(case: dict[str, Any], resources: Resources) -> None:
    left, right = (frame(rows_of(case, side), case["dtype"]) for side in ("a", "b"))
    same(observed(count(request(case, left, right), resources).tally), expected(case))


@given(
    logs(),
    RESOURCES,
    st.tuples(st.sampled_from(["parquet", "ndjson", "ipc"]), st.integers(1, 4)),
    st.randoms(use_true_random=False),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_files_shards_and_order_give_the_same_tally(
    tmp_path_factory: pytest.TempPathFactory,
    case: dict[str, Any],
    resources: Resources,
    form_and_shards: tuple[str, int],
    rng: random.Random,
) -> None:
    folder = tmp_path_factory.mktemp("shards")
    form, shards = form_and_shards
    if case["dtype"] in CANNOT_HOLD[form]:
        form = "frame"
    sources = []
    for side in ("a", "b"):
        rows = rows_of(case, side)
        rng.shuffle(rows)
        cuts = sorted(rng.randrange(len(rows) + 1) for _ in range(shards - 1))
        parts = [rows[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
        sources.append(write(parts, folder / side, form, case["dtype"], rows[0]))
    same(observed(count(request(case, *sources), resources).tally), expected(case))


def write(
    parts: list[list[dict[str, Any]]], folder: Path, form: str, dtype: pl.DataType, sample: dict[str, Any]
) -> Any:
    """Shards as files of a folder; frames where the format cannot hold the ids."""
    schema = frame([sample], dtype).schema
    frames = [pl.DataFrame(part, schema=schema) for part in parts]
    if form == "frame":
        return pl.concat(frames)
    folder.mkdir()
    for at, part in enumerate(frames):
        path = folder / f"part-{at}.{form}"
        if form == "parquet":
            part.write_parquet(path, row_group_size=3)
        elif form == "ipc":
            part.write_ipc(path)
        else:
            part.write_ndjson(path)
    return folder


@given(logs(shapes=["sorted"], plain=True), RESOURCES)
def test_sorted_logs_with_gaps_are_merged(case: dict[str, Any], resources: Resources) -> None:
    left, right = (frame(rows_of(case, side), case["dtype"]) for side in ("a", "b"))
    forced = replace(resources, strategy="merge")
    same(observed(count(request(case, left, right), forced).tally), expected(case))


@given(logs(["small int", "int32"], ["sorted"], plain=True), RESOURCES, st.randoms(use_true_random=False))
def test_compact_ids_in_any_order_are_addressed_directly(
    case: dict[str, Any], resources: Resources, rng: random.Random
) -> None:
    assume(all(any(row["id"] is not None for row in case[side]) for side in "ab"))
    for side in "ab":
        rng.shuffle(case[side])
    left, right = (frame(rows_of(case, side), case["dtype"]) for side in ("a", "b"))
    forced = replace(resources, strategy="direct")
    same(observed(count(request(case, left, right), forced).tally), expected(case))


@given(logs(), st.integers(2, 4))
def test_tallies_of_disjoint_examples_add_up_to_the_whole(case: dict[str, Any], shards: int) -> None:
    """Splitting by id is splitting by example: the tallies of the parts sum to that of the whole."""
    case = {**case, "guards": ()}
    parts = []
    for shard in range(shards):
        split = {
            side: [row for row in rows_of(case, side) if _shard(row, case["on"], shards) == shard]
            for side in ("a", "b")
        }
        if not (split["a"] and split["b"]):
            continue
        parts.append(
            (
                split,
                count(
                    request(case, *(frame(split[side], case["dtype"]) for side in ("a", "b"))), Resources()
                ).tally,
            )
        )
    if not parts:
        return
    joined = {
        **case,
        "a": [row for split, _ in parts for row in split["a"]],
        "b": [row for split, _ in parts for row in split["b"]],
        "carried": ("a", "b"),
    }
    total = sum((replace(tally, parts=()) for _, tally in parts), Tally.zero())
    same(observed(total), expected(joined | {"carried": ("a", "b")}))


def _shard(row: dict[str, Any], on: tuple[str, ...], shards: int) -> int:
    return random.Random(repr([row[name] for name in on])).randrange(shards)


@given(logs())
def test_swapping_sides_mirrors_the_tally(case: dict[str, Any]) -> None:
    mirrored = {**case, "a": case["b"], "b": case["a"], "carried": ("a", "b")}
    case = {**case, "carried": ("a", "b"), "by": ()}
    mirrored["by"] = ()
    one = count(
        request(case, frame(case["a"], case["dtype"]), frame(case["b"], case["dtype"])), Resources()
    ).tally
    two = count(
        request(mirrored, frame(case["b"], case["dtype"]), frame(case["a"], case["dtype"])), Resources()
    ).tally
    (_, forward), (_, backward) = next(iter(one.counts())), next(iter(two.counts()))
    assert (forward.n_ab, forward.n_ba) == (backward.n_ba, backward.n_ab)
    assert (forward.both_correct, forward.both_wrong) == (backward.both_correct, backward.both_wrong)
    assert one.ledger is not None
    assert two.ledger is not None
    assert (one.ledger.a, one.ledger.b) == (two.ledger.b, two.ledger.a)


@pytest.mark.parametrize("strategy", ["auto", "buckets"])
@pytest.mark.parametrize("hold", [64 * 2**20])
def test_spilled_to_disk_or_held_in_memory_makes_no_difference(
    tmp_path: Path, strategy: Strategy, hold: int
) -> None:
    """More rows than the share of the budget that is held: the rest goes to disk, and nothing stays there."""
    size = 3_000_000
    ids = pl.DataFrame({"id": range(size)})
    left = ids.with_columns(correct=pl.col("id") % 3 != 0, domain=(pl.col("id") % 5).cast(pl.String))
    right = ids.with_columns(correct=pl.col("id") % 4 != 0).sample(fraction=1.0, shuffle=True, seed=1)
    left.write_parquet(tmp_path / "l.parquet")
    right.write_parquet(tmp_path / "r.parquet")
    spill = tmp_path / "spill"
    spill.mkdir()
    comparison = Comparison(
        a=LogRequest(tmp_path / "l.parquet"), b=LogRequest(tmp_path / "r.parquet"), by=(("domain",),)
    )
    tally = count(comparison, Resources(memory=hold, spill_dir=spill, strategy=strategy)).tally
    counts = next(iter(tally.counts()))[1]
    numbers = range(size)
    assert counts.n_ab == sum(n % 3 != 0 and n % 4 == 0 for n in numbers)
    assert counts.n_ba == sum(n % 3 == 0 and n % 4 != 0 for n in numbers)
    assert counts.n == size
    assert [slices["domain"] for slices, _ in tally.counts("domain")] == list("01234")
    assert list(spill.iterdir()) == []
