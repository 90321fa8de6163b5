"""Inputs that broke other tools, each end to end: two logs in; the right number, or the right message, out.

`test_case_NN` is one kind of input. The logs are as small as the kind allows; most come in several variants.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import streamcmp
from streamcmp.cli import main
from streamcmp.errors import StreamcmpError
from streamcmp.logs.formats.parquet import open_parquet
from streamcmp.report import RENDERERS
from streamcmp.tally import COUNTERS, OVERALL, Part, Tally
from tests.logs.shards import COMPRESS, write
from tests.peak import peak

STRATEGIES: tuple[Literal["auto", "buckets"], ...] = ("auto", "buckets")
WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    "csv": lambda frame, path: frame.write_csv(path),
    "tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "jsonl": lambda frame, path: frame.write_ndjson(path),
    "parquet": lambda frame, path: frame.write_parquet(path),
    "arrow": lambda frame, path: frame.write_ipc(path),
    "arrows": lambda frame, path: frame.write_ipc_stream(path),
}
P_FIELDS = ("p_exact", "p_mid", "p_chi2", "p_chi2_corrected", "p", "p_adjusted")


def log(ids: Sequence[Any], correct: Sequence[Any] | None = None, **columns: Any) -> pl.DataFrame:
    """A log with these ids; every example correct unless said otherwise."""
    return pl.DataFrame({"id": ids, "correct": [1] * len(ids) if correct is None else correct, **columns})


def four_cells(both_correct: int, n_ab: int, n_ba: int, both_wrong: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two logs with these counts."""
    cells = [(1, 1)] * both_correct + [(1, 0)] * n_ab + [(0, 1)] * n_ba + [(0, 0)] * both_wrong
    ids = list(range(len(cells)))
    return log(ids, [a for a, _ in cells]), log(ids, [b for _, b in cells])


def compared(left: Any, right: Any, **options: Any) -> dict[str, Any]:
    """The report, which must be the same under every strategy."""
    reports = [streamcmp.compare(left, right, strategy=each, **options).to_dict() for each in STRATEGIES]
    assert reports[0] == reports[1]
    return reports[0]


def overall(left: Any, right: Any, **options: Any) -> dict[str, Any]:
    """The first result."""
    first: dict[str, Any] = compared(left, right, **options)["results"][0]
    return first


def cells(left: Any, right: Any, **options: Any) -> tuple[int, ...]:
    """The four cells of `overall`."""
    found = overall(left, right, **options)
    return tuple(found[name] for name in ("both_correct", "n_ab", "n_ba", "both_wrong"))


def refusal(left: Any, right: Any, **options: Any) -> str:
    """The message with which two logs are refused, the same under every strategy."""
    messages = set()
    for strategy in STRATEGIES:
        with pytest.raises(StreamcmpError) as caught:
            streamcmp.compare(left, right, strategy=strategy, **options)
        assert caught.value.exit_code == 2
        messages.add(str(caught.value))
    assert len(messages) == 1
    return messages.pop()


def says(message: str, *parts: object) -> None:
    """Every part stands in the message."""
    for part in parts:
        assert str(part) in message, message


def command(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of the command."""
    capsys.readouterr()
    code = main([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


def ledger(left: Any, right: Any, **options: Any) -> dict[str, dict[str, int]]:
    """Per side the buckets that hold rows."""
    found = compared(left, right, **options)["ledger"]
    return {side: {name: count for name, count in one.items() if count} for side, one in found.items()}


# Statistics


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("correct", [[1, 0, 1, 0], [1, 1, 1, 1], [0, 0, 0, 0]], ids=str)
def test_case_01_a_file_against_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str, correct: list[int]
) -> None:
    path = tmp_path / f"log.{ending}"
    WRITERS[ending](log([1, 2, 3, 4], correct, domain=["x", "x", "y", None]), path)
    both = ("--left", path, "--right", path, "--by", "domain")
    code, out, _ = command(capsys, "run", *both, "--format", "json")
    assert code == 0
    results = json.loads(out)["results"]
    assert len(results) == 4
    for row in results:
        assert (row["n_ab"], row["n_ba"], row["gain"]) == (0, 0, 0)
        assert [row[name] for name in P_FIELDS] == [1] * len(P_FIELDS)
        assert math.copysign(1, row["gain"]) == math.copysign(1, row["log10_p"]) == 1


def test_case_01_a_frame_against_itself() -> None:
    frame = log([1, 2], [1, 0])
    found = overall(frame, frame)
    assert (found["n"], found["n_ab"], found["n_ba"], found["gain"], found["p"]) == (2, 0, 0, 0, 1)


@pytest.mark.parametrize(("k", "mid_p"), [(5, 0.876953125), (1, 0.75), (2, 0.8125), (50, None)])
def test_case_02_a_tie(capsys: pytest.CaptureFixture[str], k: int, mid_p: float | None) -> None:
    if mid_p is None:
        mid_p = float(1 - Fraction(math.comb(2 * k, k), 2 ** (2 * k + 1)))
    in_hand = streamcmp.mcnemar(k, k).to_dict()
    code, out, _ = command(capsys, "test", "--won", k, "--lost", k, "--format", "json")
    assert code == 0
    for found in (overall(*four_cells(3, k, k, 1)), in_hand, json.loads(out)):
        assert (found["p_exact"], found["p_chi2"], found["p_chi2_corrected"]) == (1, 1, 1)
        assert found["p_mid"] == pytest.approx(mid_p, rel=1e-14)


@pytest.mark.parametrize(("lost", "won"), [(0, 2000), (2000, 0)])
def test_case_03_underflow(tmp_path: Path, capsys: pytest.CaptureFixture[str], lost: int, won: int) -> None:
    from_logs = overall(*four_cells(0, lost, won, 0))
    for found in (from_logs, streamcmp.mcnemar(lost, won).to_dict()):
        assert found["log10_p_exact"] == pytest.approx(-601.758961, abs=5e-7)
        assert found["log10_p"] == found["log10_p_exact"]
        assert 0 < found["p"] == found["p_exact"] < 2.3e-308
    counts = tmp_path / "counts.csv"
    pl.DataFrame({"n_ab": [lost], "n_ba": [won]}).write_csv(counts)
    for form in ("table", "markdown", "csv", "json"):
        code, out, _ = command(capsys, "finalize", counts, "--format", form)
        assert code == 0
        assert not any(zero in out for zero in ("p = 0", "p=0", '"p": 0', "-inf", "nan"))
    assert "10^-601.8" in command(capsys, "test", "--won", won, "--lost", lost)[1]


@pytest.mark.parametrize(
    ("n_ab", "n_ba", "p"),
    [(1, 0, 1), (0, 10, 0.001953125), (11, 1, 0.00634765625), (5, 3, 0.7265625), (6, 16, 0.0524787902832)],
)
def test_case_04_small_n(n_ab: int, n_ba: int, p: float) -> None:
    for a, b in ((n_ab, n_ba), (n_ba, n_ab)):
        for found in (overall(*four_cells(1, a, b, 2)), streamcmp.mcnemar(a, b).to_dict()):
            assert found["p_exact"] == pytest.approx(p, rel=1e-12)
    found = overall(*four_cells(0, 6, 16, 0))
    assert found["p_mid"] == pytest.approx(0.0346896648407, rel=1e-12)


def test_case_05_huge_n(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    won, lost = 50_010_000, 50_000_000
    table = pl.DataFrame({"n_ab": [lost], "n_ba": [won]})
    table.write_csv(tmp_path / "counts.csv")
    _, out, _ = command(capsys, "test", "--won", won, "--lost", lost, "--format", "json")
    for found in (
        streamcmp.finalize(table).to_dict()["results"][0],
        streamcmp.finalize(tmp_path / "counts.csv").to_dict()["results"][0],
        streamcmp.mcnemar(lost, won).to_dict(),
        streamcmp.mcnemar(won, lost).to_dict(),
        json.loads(out),
    ):
        assert found["p_exact"] == pytest.approx(0.3173831002899, abs=5e-14)


@pytest.mark.parametrize(
    "counts", [(3, 2, 0, 0), (3, 0, 2, 0), (5, 0, 0, 0), (0, 0, 2, 3), (0, 2, 0, 3), (0, 0, 0, 5)], ids=str
)
def test_case_06_one_side_always_the_same(counts: tuple[int, int, int, int]) -> None:
    found = overall(*four_cells(*counts))
    assert tuple(found[name] for name in ("both_correct", "n_ab", "n_ba", "both_wrong")) == counts
    assert found["n"] == 5
    assert found["accuracy_a"] == (counts[0] + counts[1]) / 5
    assert found["accuracy_b"] == (counts[0] + counts[2]) / 5


def enlarged(tally: Tally, factor: int, source: str) -> Tally:
    """The tally of as many times the examples, from another source."""
    assert tally.ledger is not None
    grown = {
        side: {name: count * factor for name, count in one.items()}
        for side, one in tally.ledger.to_dict().items()
    }
    families = {
        name: table.with_columns(pl.col(*COUNTERS) * factor) for name, table in tally.families.items()
    }
    return replace(
        tally,
        families=families,
        ledger=type(tally.ledger).from_dict(grown),
        parts=(Part({side: {"paths": [f"{side}/{source}"]} for side in grown}),),
    )


def test_case_07_counters_past_2_to_the_32(tmp_path: Path) -> None:
    left, right = four_cells(3, 1, 2, 1)
    left = left.with_columns(domain=pl.Series(list("xxxyyyy")))
    one = streamcmp.count(left, right, by=["domain"])
    factors = [2**31, 2**32 + 1, 2**40]
    paths = []
    for number, factor in enumerate(factors):
        paths.append(tmp_path / f"{number}.tally")
        enlarged(one, factor, str(number)).save(paths[-1])
    total = streamcmp.merge(paths)
    factor = sum(factors)
    overall_row = next(iter(total.counts(OVERALL)))[1]
    counted = (overall_row.both_correct, overall_row.n_ab, overall_row.n_ba, overall_row.both_wrong)
    assert counted == (3 * factor, factor, 2 * factor, factor)
    report = streamcmp.finalize(total).to_dict()
    assert report["ledger"]["a"]["paired"] == report["results"][0]["n"] == 7 * factor
    assert sum(row["n"] for row in report["results"][1:]) == 7 * factor


# Ids


def test_case_08_text_against_integer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, integer = log(["1", "2"]), log([1, 2])
    for left, right in ((text, integer), (integer, text)):
        says(refusal(left, right), "text", "integer", "--id-type text", "--id-type int")
        for declared in ("text", "int"):
            assert overall(left, right, id_type=declared)["n"] == 2
    text.write_parquet(tmp_path / "l.parquet")
    integer.write_ndjson(tmp_path / "r.jsonl")
    code, out, err = command(capsys, "run", "--left", tmp_path / "l.parquet", "--right", tmp_path / "r.jsonl")
    assert (code, out) == (2, "")
    says(err, "text", "integer", "--id-type", "l.parquet", "r.jsonl")


@pytest.mark.parametrize("dtype", [pl.Categorical(), pl.Enum(["1", "2"])])
@pytest.mark.parametrize("other", [pl.Int8(), pl.UInt64(), pl.Float64(), pl.Int128()])
def test_case_08_any_text_against_any_number(dtype: pl.DataType, other: pl.DataType) -> None:
    text = log(["1", "2"]).with_columns(pl.col("id").cast(dtype))
    number = log([1, 2]).with_columns(pl.col("id").cast(other))
    says(refusal(text, number), "text", "--id-type")
    assert overall(text, number, id_type="int")["n"] == 2


def test_case_08_a_component_of_a_compound_id() -> None:
    left = log(["1", "2"], task=["x", "x"])
    right = log([1, 2], task=["x", "x"])
    says(refusal(left, right, on="task,id"), "text", "integer", "--id-type text")
    assert overall(left, right, on="task,id", id_type="text")["n"] == 2


def test_case_08_text_within_one_log(tmp_path: Path) -> None:
    write(tmp_path / "l.jsonl", '{"id": 1, "correct": 1}\n{"id": "2", "correct": 1}\n')
    says(refusal(tmp_path / "l.jsonl", log([1, 2])), "integer", "text", "--id-type")
    assert overall(tmp_path / "l.jsonl", log([1, 2]), id_type="text")["n"] == 2


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_case_09_leading_zeros(tmp_path: Path, ending: str) -> None:
    csv = write(tmp_path / f"l.csv{ending}", "id,correct\n007,1\n010,0\n")
    text = log(["007", "010"], [1, 1])
    assert cells(csv, text) == (1, 0, 1, 0)
    assert cells(csv, csv) == (1, 0, 0, 1)
    says(refusal(csv, log(["7", "10"])), "0 of 2 ids match", "007", "7")
    says(refusal(csv, log([7, 10])), "'007'", "row 1", "round trip", "--id-type text", "--id-type int")
    assert overall(csv, log([7, 10]), id_type="int")["n"] == 2


@pytest.mark.parametrize("bad", ["+7", " 7", "7 ", "7.0", "-0", "7e0", "99999999999999999999", "x"])
def test_case_09_only_text_that_survives_a_round_trip_is_a_number(tmp_path: Path, bad: str) -> None:
    csv = write(tmp_path / "l.csv", f"id,correct\n1,1\n{bad},1\n")
    for ids in (pl.Int64(), pl.UInt64(), pl.Float64()):
        right = log([1, 7]).with_columns(pl.col("id").cast(ids))
        if ids == pl.UInt64() and bad.isdigit():
            continue
        says(refusal(csv, right), repr(bad), "row 2", "--id-type")


NULL_IDS: dict[str, tuple[list[Any], pl.DataType]] = {
    "float": ([1.0, None, None, math.nan], pl.Float64()),
    "float32": ([1.0, None, None, math.nan], pl.Float32()),
    "int": ([1, None, None, None], pl.Int64()),
    "text": (["1", None, None, None], pl.String()),
    "category": (["1", None, None, None], pl.Categorical()),
}


@pytest.mark.parametrize("kind", NULL_IDS)
def test_case_10_null_and_nan_ids_never_pair(kind: str) -> None:
    values, dtype = NULL_IDS[kind]
    frame = log(values).with_columns(pl.Series("id", values, dtype=dtype))
    expected = {"rows": 4, "null_id": 3, "paired": 1}
    assert ledger(frame, frame.clone()) == {"a": expected, "b": expected}
    report = compared(frame, frame.clone())
    assert "null_ids" in {warning["code"] for warning in report["warnings"]}
    says(refusal(frame, frame.clone(), null_ids="error"), "3 rows of the left log", "no id")


def test_case_10_null_ids_in_files(tmp_path: Path) -> None:
    csv = write(tmp_path / "l.csv", "id,correct\n1,1\n,1\n,1\n,0\n")
    ndjson = write(
        tmp_path / "r.jsonl",
        '{"id": 1, "correct": 1}\n{"id": null, "correct": 1}\n{"correct": 1}\n{"id": NaN, "correct": 1}\n',
    )
    expected = {"rows": 4, "null_id": 3, "paired": 1}
    assert ledger(csv, ndjson) == {"a": expected, "b": expected}
    assert ledger(ndjson, csv) == {"a": expected, "b": expected}


def test_case_10_a_null_in_any_component() -> None:
    frame = log([1, 1, None, None], task=["x", None, "x", None])
    expected = {"rows": 4, "null_id": 3, "paired": 1}
    assert ledger(frame, frame.clone(), on="task,id") == {"a": expected, "b": expected}


def test_case_10_no_id_at_all() -> None:
    nothing = log([None, None])
    says(refusal(nothing, log([1, 2])), "no row of the left log has an id")
    says(refusal(nothing, nothing.clone()), "no row of the left log has an id", "right log")


@pytest.mark.parametrize("ids", [["foo"], [7], [7.0]], ids=str)
def test_case_11_many_to_many(ids: list[Any]) -> None:
    many = log(ids * 1000)
    says(
        refusal(many, many.clone()), "duplicate", "1,000 rows of the left log", "1,000 rows of the right log"
    )
    assert str(int(ids[0]) if ids != ["foo"] else "foo") in refusal(many, many.clone())
    with_others = pl.concat([many, log([ids[0] * 2])])
    expected = {"rows": 1001, "duplicate": 1000, "paired": 1}
    assert ledger(with_others, with_others.clone(), duplicates="drop") == {"a": expected, "b": expected}


def test_case_11_many_to_many_forms_no_pairs() -> None:
    """A quadratic join would need hours here."""
    many = log(["foo"] * 200_000)
    says(refusal(many, many.clone()), "200,000 rows of the left log", "foo")


def test_case_12_one_to_many() -> None:
    twice, once = log(["foo", "foo", "bar"]), log(["foo", "bar"])
    says(refusal(twice, once), "duplicate", "left: foo")
    assert ledger(twice, once, duplicates="drop") == {
        "a": {"rows": 3, "duplicate": 2, "paired": 1},
        "b": {"rows": 2, "duplicate": 1, "paired": 1},
    }
    mirrored = refusal(once, twice)
    says(mirrored, "duplicate", "right: foo", "2 rows of the right log")


def test_case_12_twice_on_one_side_and_absent_on_the_other() -> None:
    says(refusal(log(["foo", "foo", "bar"]), log(["bar"])), "duplicate", "left: foo")


TEXTS = {
    "string": pa.string(),
    "large_string": pa.large_string(),
    "string_view": pa.string_view(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
    "dictionary of large strings": pa.dictionary(pa.int8(), pa.large_string()),
}
NUMBERS = {
    "int8": pa.int8(), "int32": pa.int32(), "int64": pa.int64(), "uint8": pa.uint8(), "uint32": pa.uint32(),
    "uint64": pa.uint64(), "float32": pa.float32(), "float64": pa.float64(), "decimal": pa.decimal128(30, 2),
}  # fmt: skip


def arrow(values: Sequence[Any], dtype: pa.DataType) -> pa.Table:
    """A log whose ids have this Arrow type."""
    if pa.types.is_dictionary(dtype):
        ids = pa.array(values, dtype.value_type).dictionary_encode().cast(dtype)
    elif pa.types.is_decimal(dtype):
        ids = pa.array(values, pa.int64()).cast(dtype)
    else:
        ids = pa.array(values, dtype)
    return pa.table({"id": ids, "correct": [True, False, True]})


@pytest.mark.parametrize("form", ["table", "parquet", "arrow"])
@pytest.mark.parametrize("types", [TEXTS, NUMBERS], ids=["text", "number"])
def test_case_13_same_value_other_arrow_type(tmp_path: Path, types: Mapping[str, Any], form: str) -> None:
    values: Sequence[Any] = ["b", "", "007"] if types is TEXTS else [3, 1, 100]
    logs: dict[str, Any] = {}
    for name, dtype in types.items():
        table = logs[name] = arrow(values, dtype)
        if form == "parquet":
            logs[name] = tmp_path / f"{name}.parquet"
            pq.write_table(table, logs[name])
        elif form == "arrow":
            logs[name] = tmp_path / f"{name}.arrow"
            with pa.ipc.new_file(logs[name], table.schema) as sink:
                sink.write_table(table)
    for one, other in product(logs, repeat=2):
        if one != other:
            found = streamcmp.compare(logs[one], logs[other]).to_dict()["results"][0]
            assert (found["both_correct"], found["both_wrong"]) == (2, 1), (one, other)


def integers(values: Sequence[int], dtype: pl.DataType) -> pl.DataFrame:
    """A log whose ids have this type."""
    return log([str(value) for value in values]).with_columns(pl.col("id").cast(dtype))


@pytest.mark.parametrize("value", [2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**100, -(2**63), -1])
def test_case_13_wide_integers_are_exact(value: int) -> None:
    ranges = (
        (pl.Int64(), -(2**63), 2**63 - 1), (pl.UInt64(), 0, 2**64 - 1), (pl.Int128(), -(2**127), 2**127 - 1),
    )  # fmt: skip
    near = value - 1 if value > 0 else value + 1
    dtypes = [dtype for dtype, low, high in ranges if low <= min(value, near, 1) and max(value, near) <= high]
    for one, two in product(dtypes, repeat=2):
        assert overall(integers([1, value], one), integers([1, value], two))["n"] == 2
        expected = {"rows": 2, "unmatched": 1, "paired": 1}
        if near != 1:
            assert ledger(integers([1, value], one), integers([1, near], two))["a"] == expected


def test_case_14_nothing_in_common(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left = write(tmp_path / "l.csv", "id,correct\n1,1\n2,1\n3,1\n")
    right = write(tmp_path / "r.csv", "id,correct\na,1\nb,1\nc,1\n")
    says(refusal(left, right), "0 of 3 ids match", "left: 1, 2, 3", "right: a, b, c", "--on")
    says(refusal(log([1, 2]), log([3, 4])), "0 of 2 ids match", "left: 1, 2", "right: 3, 4")
    says(refusal(log([1, 2]), log([3, 4, 5])), "0 of 2 ids match", "right log has 3")
    code, out, err = command(capsys, "run", "--left", left, "--right", right)
    assert (code, out) == (2, "")
    says(err, "0 of 3 ids match", "1, 2, 3", "a, b, c")
    says(refusal(log([1, 2], task=["x", "x"]), log([1, 2], task=["y", "y"]), on="task,id"), "(task=x, id=1)")


ACCENTS = {
    "é": ("caf\u00e9", "cafe\u0301"),
    "ü": ("\u00fcber", "u\u0308ber"),
    "각": ("\uac01", "\u1100\u1161\u11a8"),
}


@pytest.mark.parametrize("word", ACCENTS)
@pytest.mark.parametrize("ending", ["frame", "csv", "jsonl", "parquet"])
def test_case_15_composed_and_decomposed_accents(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], word: str, ending: str
) -> None:
    composed, decomposed = ACCENTS[word]
    hint = "Only Unicode normalisation separates some of them"
    for more in (0, 1, 500):  # ids that sort before and after, on both sides
        rest = [f"{letter}{number}" for letter in "az" for number in range(more)]
        logs: list[Any] = [
            log([composed, *(f"{i}l" for i in rest)]),
            log([*(f"{i}r" for i in rest), decomposed]),
        ]
        if ending != "frame":
            for number, frame in enumerate(list(logs)):
                logs[number] = tmp_path / f"{number}.{ending}"
                WRITERS[ending](frame, logs[number])
        says(refusal(*logs), f"0 of {2 * more + 1:,} ids match", hint, composed)
    says(refusal(log([composed, "x"]), log([decomposed, "x"]), unmatched="error"), hint)
    expected = {"rows": 2, "unmatched": 1, "paired": 1}
    assert ledger(log([composed, "x"]), log([decomposed, "x"])) == {"a": expected, "b": expected}
    assert hint not in refusal(log(["é"]), log(["è"]))
    log([composed, "x"]).write_csv(tmp_path / "l.csv")
    log([decomposed, "x"]).write_csv(tmp_path / "r.csv")
    code, _, err = command(capsys, "run", "--left", tmp_path / "l.csv", "--right", tmp_path / "r.csv")
    assert code == 0
    says(err, "only Unicode normalisation separates", composed)


@pytest.mark.parametrize("ending", WRITERS)
def test_case_16_order_makes_no_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    rng = random.Random(ending)
    ids = [f"q{number}" for number in range(300)]
    left, right = (
        log(ids, [rng.randrange(2) for _ in ids], domain=[rng.choice("xyz") for _ in ids]) for _ in range(2)
    )
    outputs = set()
    for order in ("same", "shuffled", "reversed"):
        folder = tmp_path / order
        folder.mkdir()
        shuffled = {
            "same": right,
            "shuffled": right.sample(fraction=1, shuffle=True, seed=1),
            "reversed": right.reverse(),
        }[order]
        WRITERS[ending](left, folder / f"left.{ending}")
        (folder / "right").mkdir()
        for number, start in enumerate((200, 0, 100) if order == "shuffled" else (0, 100, 200)):
            WRITERS[ending](shuffled[start : start + 100], folder / "right" / f"{number}.{ending}")
        for strategy, right_files in product(STRATEGIES, ("right", f"right/*.{ending}")):
            code, out, _ = command(
                capsys, "run", "--left", folder / f"left.{ending}", "--right", folder / right_files,
                "--by", "domain", "--format", "json", "--strategy", strategy,
                "--left-name", "l", "--right-name", "r",
            )  # fmt: skip
            assert code == 0
            outputs.add(out)
    assert len(outputs) == 1


COMPOUND = {
    "text and int": (["gsm8k", "gsm8k", "arc", "arc"], [1, 2, 1, 2]),
    "int and int": ([1, 1, 11, 11], [11, 1, 1, 11]),
    "separators": (["a\x1fb", "a", "a\x1e", "a\x1e1"], ["c", "b\x1fc", "\x1f", "\x1f"]),
    "commas": (["a,b", "a", "", "a,"], ["c", "b,c", "a,b,c", "b,c"]),
    "empty": (["", "", "a", "aa"], ["aa", "a", "a", ""]),
}


@pytest.mark.parametrize("kind", COMPOUND)
@pytest.mark.parametrize("ending", ["parquet", "jsonl", "csv"])
def test_case_17_compound_ids_pair_on_all_components(tmp_path: Path, kind: str, ending: str) -> None:
    tasks, numbers = COMPOUND[kind]
    left = pl.DataFrame({"task": tasks, "doc_id": numbers, "correct": [1, 1, 0, 0]})
    right = left.with_columns(correct=pl.Series([1, 0, 1, 0])).reverse()
    WRITERS[ending](left, tmp_path / f"l.{ending}")
    WRITERS[ending](right, tmp_path / f"r.{ending}")
    for on in ("task,doc_id", ["doc_id", "task"]):
        assert cells(tmp_path / f"l.{ending}", tmp_path / f"r.{ending}", on=on) == (1, 1, 1, 1)


def test_case_17_one_component_alone_is_a_duplicate() -> None:
    frame = log([1, 1, 2, 2], epoch=[1, 2, 1, 2])
    says(refusal(frame, frame.clone(), on="id"), "duplicate", "--on")
    assert overall(frame, frame.clone(), on="id,epoch")["n"] == 4


# Outcomes


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("value", ["P", "maybe", "", "0.5", "2", "-1", "truee"])
def test_case_18_a_third_value(tmp_path: Path, ending: str, value: str) -> None:
    path = tmp_path / f"l.{ending}"
    frame = log([1, 2, 3], ["C", "I", value])
    WRITERS[ending](frame, path)
    says(refusal(path, frame[:2]), repr(value), "row 3", str(path))
    if value == "P":
        frame[:2].write_parquet(tmp_path / "r.parquet")
        says(refusal(tmp_path / "r.parquet", path), "'P'", "row 3", "--prediction", "--label")


@pytest.mark.parametrize("value", [2, -1, 0.5, 1.0000001, float("inf")])
def test_case_18_a_third_number(value: float) -> None:
    good = log([1, 2, 3], [1, 0, 1])
    for dtype in (pl.Float64(), pl.Int64()) if isinstance(value, int) else (pl.Float64(),):
        bad = good.with_columns(pl.Series("correct", [1, 0, value], dtype=dtype))
        says(refusal(good, bad), value, "row 3", "right")


CORRECT_WORDS = ("True", "true", "TRUE", "yes", "Yes", "correct", "Correct", "C", "c", "1", "1.0")
WRONG_WORDS = ("False", "false", "No", "no", "NO", "incorrect", "I", "i", "0", "0.0")


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "arrow"])
def test_case_19_text_truth(tmp_path: Path, ending: str) -> None:
    words = [*CORRECT_WORDS, *WRONG_WORDS]
    ids = list(range(len(words)))
    WRITERS[ending](log(ids, words), tmp_path / f"l.{ending}")
    right = log(ids, [True] * len(CORRECT_WORDS) + [False] * len(WRONG_WORDS))
    expected = (len(CORRECT_WORDS), 0, 0, len(WRONG_WORDS))
    assert cells(tmp_path / f"l.{ending}", right) == expected
    for dtype in (pl.Int8(), pl.UInt64(), pl.Float32(), pl.Decimal(5, 2), pl.Boolean()):
        typed = right.with_columns(pl.col("correct").cast(pl.Int8).cast(dtype))
        assert cells(tmp_path / f"l.{ending}", typed) == expected


def test_case_19_a_score_needs_a_threshold(tmp_path: Path) -> None:
    csv = write(tmp_path / "l.csv", "id,score\n1,0.6666667\n2,1.0\n3,0.2\n")
    right = pl.DataFrame({"id": [1, 2, 3], "score": [0.9, 0.1, 0.2]})
    says(refusal(csv, csv), "'0.6666667'", "row 1", "--threshold")
    assert cells(csv, right, threshold=0.5) == (1, 1, 0, 1)
    assert cells(csv, right, threshold=0.6666667) == (1, 1, 0, 1)


MISSING: dict[str, tuple[str, str]] = {
    "NaN": ("jsonl", '{"id": 1, "acc": 1.0}\n{"id": 2, "acc": NaN}\n{"id": 3, "acc": 0.0}\n'),
    "null": ("jsonl", '{"id": 1, "acc": 1.0}\n{"id": 2, "acc": null}\n{"id": 3, "acc": 0.0}\n'),
    "absent": ("jsonl", '{"id": 1, "acc": 1.0}\n{"id": 2}\n{"id": 3, "acc": 0}\n'),
    "empty": ("csv", "id,acc\n1,1\n2,\n3,0\n"),
    "nan in csv": ("csv", "id,acc\n1,1\n2,nan\n3,0\n"),
    "NaN of bools": ("jsonl", '{"id": 1, "acc": true}\n{"id": 2, "acc": NaN}\n{"id": 3, "acc": false}\n'),
}


@pytest.mark.parametrize("kind", MISSING)
def test_case_20_nan_null_and_absent_are_missing(tmp_path: Path, kind: str) -> None:
    ending, text = MISSING[kind]
    path = write(tmp_path / f"l.{ending}", text)
    right = pl.DataFrame({"id": [1, 2, 3], "acc": [1.0, 1.0, 1.0]})
    expected = {"rows": 3, "unscored": 1, "paired": 2}
    assert ledger(path, right) == {"a": {**expected, "missing": 1}, "b": expected}
    assert cells(path, right) == (1, 0, 1, 0)
    assert cells(path, right, missing="wrong") == (1, 0, 2, 0)
    says(refusal(path, right, missing="error"), "missing", "1 row of the left log")
    assert "unscored" in {warning["code"] for warning in compared(path, right)["warnings"]}


@pytest.mark.parametrize("dtype", [pl.Float32(), pl.Float64(), pl.Boolean(), pl.String(), pl.Decimal(3, 1)])
def test_case_20_null_of_every_type(dtype: pl.DataType) -> None:
    left = log([1, 2]).with_columns(pl.Series("correct", [1, None]).cast(dtype))
    if dtype.is_float():
        left = pl.concat(
            [left, left.select(pl.lit(3, pl.Int64).alias("id"), pl.lit(math.nan, dtype).alias("correct"))[:1]]
        )
    right = log(left["id"].to_list())
    assert ledger(left, right)["a"] == {
        "rows": left.height, "unscored": left.height - 1, "paired": 1, "missing": left.height - 1
    }  # fmt: skip


def test_case_20_a_side_without_any_outcome() -> None:
    nothing = log([1, 2], [None, None])
    for frame in (nothing, nothing.with_columns(pl.col("correct").cast(pl.Float64))):
        says(refusal(frame, log([1, 2])), "left log has no outcome at all", "2")
        says(refusal(log([1, 2]), frame), "right log has no outcome at all", "2")


@pytest.mark.parametrize(
    ("labels", "predictions"),
    [
        (["1", "2"], [1, 2]),
        ([1, 2], ["1", "2"]),
        (["1", "2"], [1.0, 2.0]),
        (["true", "false"], [True, False]),
    ],
    ids=str,
)
def test_case_21_a_label_type_that_differs(labels: list[Any], predictions: list[Any]) -> None:
    frame = pl.DataFrame({"id": [1, 2], "label": labels, "prediction": predictions})
    message = refusal(frame, frame.clone())
    says(message, "text", "--label-type", "label", "prediction")
    declared = "text" if isinstance(predictions[0], bool) else "number"
    assert cells(frame, frame.clone(), label_type=declared) == (2, 0, 0, 0)


def test_case_21_in_files(tmp_path: Path) -> None:
    typed = write(
        tmp_path / "l.jsonl", '{"id": 1, "label": "1", "pred": 1}\n{"id": 2, "label": "0", "pred": 1}\n'
    )
    says(refusal(typed, typed), "text", "integer", "--label-type")
    assert cells(typed, typed, label_type="number") == cells(typed, typed, label_type="text") == (1, 0, 0, 1)
    untyped = write(tmp_path / "l.csv", "id,label,pred\n1,1,1.0\n2,2,2\n")
    says(refusal(untyped, untyped), "'1'", "'1.0'", "row 1", "--label-type")
    assert cells(untyped, untyped, label_type="number") == (2, 0, 0, 0)
    assert cells(untyped, untyped, label_type="text") == (1, 0, 0, 1)


# Files


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
@pytest.mark.parametrize("late", [200, 1, 299])
def test_case_22_an_ndjson_key_first_seen_late(tmp_path: Path, late: int, ending: str) -> None:
    rows = [
        {"id": number} | ({"correct": True, "domain": "x"} if number >= late else {}) for number in range(300)
    ]
    path = write(tmp_path / f"l.jsonl{ending}", "".join(json.dumps(row) + "\n" for row in rows))
    right = log(list(range(300)))
    found = ledger(path, right, by=["domain"])
    assert found["a"] == {"rows": 300, "unscored": late, "paired": 300 - late, "missing": late}
    # Polars infers from 100 rows, we look at 1000.
    many = "".join(json.dumps({"id": -1 - number}) + "\n" for number in range(2000))
    path = write(tmp_path / f"m.jsonl{ending}", many + "".join(json.dumps(row) + "\n" for row in rows))
    found = ledger(path, right, by=["domain"])
    assert found["a"] == {
        "rows": 2300, "unmatched": 2000, "unscored": late, "paired": 300 - late, "missing": late
    }  # fmt: skip


@pytest.mark.parametrize("value", [7, True, 1.5, "x"], ids=repr)
@pytest.mark.parametrize("before", [{}, {"level": None}], ids=["absent", "null"])
def test_case_22_a_slice_first_seen_late(tmp_path: Path, value: Any, before: dict[str, None]) -> None:
    rows = [{"id": number, "correct": 1, **before} for number in range(1500)]
    rows += [{"id": number, "correct": 1, "level": value} for number in range(1500, 2000)]
    path = write(tmp_path / "l.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    plain = log(list(range(2000)))
    other = plain.with_columns(level=pl.lit(value))
    for left, right in ((path, plain), (plain, path), (path, path), (path, other)):
        report = compared(left, right, by=["level"])
        assert sorted((row["n"], row["slice"]["level"]) for row in report["results"][1:]) == [
            (500, value),
            (1500, None),
        ]
        differing = [warning["pairs"] for warning in report["warnings"] if warning["code"] == "slice_differs"]
        assert differing == ([1500] if right is other else [])


@pytest.mark.parametrize("slices", [(1, 1.5), (None, 0.5)], ids=repr)
def test_case_22_a_slice_whose_type_changes_late(tmp_path: Path, slices: tuple[Any, Any]) -> None:
    """After the first thousand rows as within them."""
    right = log(list(range(2000)))
    reports = []
    for late in (500, 1500):
        rows = [{"id": n, "correct": 1, "level": slices[n % 2000 >= late]} for n in range(2000)]
        path = write(tmp_path / f"{late}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        results = compared(path, right, by=["level"])["results"][1:]
        assert {row["slice"]["level"]: row["n"] for row in results} == {
            slices[0]: late,
            slices[1]: 2000 - late,
        }
        reports.append({type(row["slice"]["level"]) for row in results})
    assert reports[0] == reports[1]


def shards(folder: Path, *frames: pl.DataFrame, ending: str = "parquet") -> Path:
    """A folder of files."""
    folder.mkdir()
    for number, frame in enumerate(frames):
        WRITERS[ending](frame, folder / f"{number}.{ending}")
    return folder


OUTCOME_SHARDS: dict[str, list[Any]] = {
    "bool": [True, False],
    "int": [1, 0],
    "float": [1.0, 0.0],
    "text": ["yes", "No"],
    "null": [None, None],
}


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "csv"])
@pytest.mark.parametrize(("one", "two"), [*product(OUTCOME_SHARDS, repeat=2)])
def test_case_23_shards_whose_outcomes_differ_in_type(
    tmp_path: Path, one: str, two: str, ending: str
) -> None:
    folder = shards(
        tmp_path / "l", log([1, 2], OUTCOME_SHARDS[one]), log([3, 4], OUTCOME_SHARDS[two]), ending=ending
    )
    right = log([1, 2, 3, 4], [1, 1, 0, 0])
    missing = 2 * [one, two].count("null")
    if missing == 4:
        says(refusal(folder, right), "left log has no outcome at all")
        return
    expected = (one != "null", two != "null", one != "null", two != "null")
    assert cells(folder, right) == expected
    assert ledger(folder, right)["a"].get("missing", 0) == missing


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "arrow", "csv"])
def test_case_23_a_shard_with_a_third_value_is_refused(tmp_path: Path, ending: str) -> None:
    folder = shards(tmp_path / "l", log([1, 2], [1, 0]), log([3, 4], [1.0, 0.5]), ending=ending)
    says(refusal(folder, log([1, 2, 3, 4])), "0.5", f"1.{ending}", "row 2")


def test_case_23_shards_of_text_and_dictionaries(tmp_path: Path) -> None:
    text = pl.DataFrame({"id": ["a", "b"], "correct": [1, 0], "domain": ["x", "y"]})
    other = text.with_columns(pl.Series("id", ["c", "d"]))
    category = other.with_columns(pl.col("id", "domain").cast(pl.Categorical))
    enum = other.with_columns(pl.col("domain").cast(pl.Enum(["y", "x"])))
    right = pl.DataFrame({"id": list("abcd"), "correct": [1, 1, 1, 1]})
    for number, second in enumerate((other, category, enum)):
        for place, frames in enumerate(((text, second), (second, text))):
            folder = shards(tmp_path / f"{number}{place}", *frames)
            report = compared(folder, right, by=["domain"])
            assert [(row["slice"], row["n"]) for row in report["results"]] == [
                ({}, 4), ({"domain": "y"}, 2), ({"domain": "x"}, 2),
            ]  # fmt: skip


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "arrow", "csv"])
def test_case_23_unused_columns_never_matter(tmp_path: Path, ending: str) -> None:
    left = shards(
        tmp_path / "l",
        log([1], note=["x"]),
        log([2], note=[7]),
        log([3]),
        log([4], more=[1.5], note=[True]).select("more", "note", "correct", "id"),
        ending=ending,
    )
    assert overall(left, log([1, 2, 3, 4]))["n"] == 4


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_case_23_a_needed_column_that_one_shard_lacks(tmp_path: Path, ending: str) -> None:
    left = shards(tmp_path / "l", log([1], domain=["x"]), log([2]), ending=ending)
    says(refusal(left, log([1, 2]), by=["domain"]), f"1.{ending}", f"0.{ending}", "'domain'")


def test_case_23_shards_that_disagree_on_a_slice_s_type(tmp_path: Path) -> None:
    left = shards(tmp_path / "l", log([1], domain=["x"]), log([2], domain=[7]))
    says(refusal(left, log([1, 2]), by=["domain"]), "'domain'", "text", "integer", "0.parquet", "1.parquet")


def test_case_23_shards_that_disagree_on_an_id_s_type(tmp_path: Path) -> None:
    left = shards(tmp_path / "l", log([1]), log(["2"]))
    says(refusal(left, log([1, 2])), "integer", "text", "--id-type")
    wide = shards(
        tmp_path / "w", log([1]), log([2**63]).cast({"id": pl.UInt64}), log([3]).cast({"id": pl.Int8})
    )
    assert overall(wide, log([1, 3]))["n"] == 2


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("how", ["half", "all but a byte", "nothing", "its magic only"])
def test_case_24_a_damaged_file_among_good_ones(tmp_path: Path, ending: str, how: str) -> None:
    ids = list(range(1000))
    folder = shards(
        tmp_path / "l", *(log([i + 1000 * part for i in ids]) for part in range(3)), ending=ending
    )
    bad = folder / f"1.{ending}"
    data = bad.read_bytes()
    bad.write_bytes(
        {"half": data[: len(data) // 2], "all but a byte": data[:-1], "nothing": b""}.get(how, data[:8])
    )
    says(refusal(folder, log(ids)), bad)


def test_case_24_nothing_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = shards(tmp_path / "l", log([1]), log([2]))
    (folder / "1.parquet").write_bytes(b"")
    log([1, 2]).write_parquet(tmp_path / "r.parquet")
    for name, output in (("run", "out.json"), ("count", "out.tally")):
        code, out, err = command(
            capsys, name, "--left", folder, "--right", tmp_path / "r.parquet", "--output", tmp_path / output
        )
        assert (code, out) == (2, "")
        says(err, folder / "1.parquet", "0 bytes")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["l", "r.parquet"]


def test_case_24_damage_within_a_column(tmp_path: Path) -> None:
    """A footer in order, and pages that are not."""
    ids = list(range(50_000))
    path = tmp_path / "l.parquet"
    log(ids).write_parquet(path, compression="zstd")
    data = bytearray(path.read_bytes())
    data[4:1000] = bytes(996)
    path.write_bytes(data)
    says(refusal(path, log(ids)), path)


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["2", "2,true,x", "2,true,x,y"])
def test_case_25_a_row_with_the_wrong_number_of_fields(
    tmp_path: Path, ending: str, newline: str, last: str
) -> None:
    good = newline.join(["id,correct", "1,true", "2,true", "3,false"])
    for text, line in ((good + newline + last, 5), (good + newline + last + newline, 5)):
        path = write(tmp_path / f"l.csv{ending}", text)
        says(refusal(path, log([1, 2, 3])), path, f"line {line}", f"{last.count(',') + 1} field", "has 2")
        says(refusal(log([1, 2, 3]), path), path, f"line {line}")


@pytest.mark.parametrize("cut", [1, 5, 12, 21])
@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_case_25_a_truncated_last_ndjson_line(tmp_path: Path, ending: str, cut: int) -> None:
    line = '{"id": 2, "correct": true}'
    path = write(tmp_path / f"l.jsonl{ending}", '{"id": 1, "correct": true}\n\n' + line[:-cut])
    says(refusal(path, log([1, 2])), path, "line 3")


@pytest.mark.parametrize("ending", [".csv", ".jsonl"])
def test_case_25_a_truncated_archive(tmp_path: Path, ending: str) -> None:
    rng = random.Random(1)
    rows = [(number, rng.random()) for number in range(5000)]
    if ending == ".csv":
        text = "id,acc,x\n" + "".join(f"{number},1,{x}\n" for number, x in rows)
    else:
        text = "".join(json.dumps({"id": number, "acc": 1, "x": x}) + "\n" for number, x in rows)
    for archive in (".gz", ".zst"):
        path = write(tmp_path / f"l{ending}{archive}", text)
        whole = path.read_bytes()
        for size in (len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:size])
            says(refusal(path, pl.DataFrame({"id": [number for number, _ in rows], "acc": 1})), path)


def test_case_25_an_open_quote(tmp_path: Path) -> None:
    path = write(tmp_path / "l.csv", 'id,correct,note\n1,1,a\n2,1,"b\n')
    says(refusal(path, log([1, 2])), path, "quote", "line 3")


@pytest.mark.parametrize("ending", WRITERS)
def test_case_26_an_empty_part_and_an_empty_log(tmp_path: Path, ending: str) -> None:
    full = log([1, 2], domain=["x", "y"])
    folder = shards(tmp_path / "l", full[:1], full[:0], full[1:], ending=ending)
    assert overall(folder, full, by=["domain"])["n"] == 2
    empty = shards(tmp_path / "e", full[:0], full[:0], ending=ending)
    for strategy in STRATEGIES:
        for left, right in ((empty, full), (full, empty), (empty / f"0.{ending}", full)):
            with pytest.raises(StreamcmpError, match="no rows") as caught:
                streamcmp.compare(left, right, strategy=strategy)
            says(str(caught.value), f"0.{ending}")


@pytest.mark.parametrize("text", ["", "\n", "\r\n", "\ufeff"])
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".csv.gz", ".jsonl.zst"])
def test_case_26_a_file_of_nothing(tmp_path: Path, ending: str, text: str) -> None:
    (tmp_path / "l").mkdir()
    write(tmp_path / "l" / f"0{ending}", text)
    says(refusal(tmp_path / "l", log([1])), "no rows", f"0{ending}")
    plain = ending.split(".")[1]
    WRITERS[plain](log([1, 2]), tmp_path / "l" / f"1.{plain}")
    assert overall(tmp_path / "l", log([1, 2]))["n"] == 2


def test_case_26_an_empty_parquet_file_is_corrupt(tmp_path: Path) -> None:
    folder = shards(tmp_path / "l", log([1]), log([2]))
    (folder / "2.parquet").write_bytes(b"")
    says(refusal(folder, log([1, 2])), folder / "2.parquet", "0 bytes")


def test_case_26_empty_frames() -> None:
    says(refusal(log([1])[:0], log([1])), "no rows", "left")
    says(refusal(log([1]), log([1])[:0]), "no rows", "right")


OTHER_FILES = {
    "_SUCCESS": b"", "_metadata": b"PAR1xxxxPAR1", ".part-0.parquet.crc": b"crc",
    "part-0.parquet.crc": b"crc",
    "README": b"how these were made", "README.md": b"# how", ".DS_Store": b"\0\0", "_started_123": b"",
    "notes.txt": b"a note",
}  # fmt: skip


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl", "arrow"])
def test_case_27_other_files_in_the_folder(tmp_path: Path, ending: str) -> None:
    folder = shards(tmp_path / "l", log([1]), log([2]), ending=ending)
    for name, content in OTHER_FILES.items():
        (folder / name).write_bytes(content)
    (folder / "_temporary").mkdir()
    (folder / ".hidden").mkdir()
    WRITERS[ending](log([3]), folder / "_temporary" / f"2.{ending}")
    WRITERS[ending](log([4]), folder / ".hidden" / f"3.{ending}")
    expected = {"rows": 2, "paired": 2}
    for source in (folder, str(folder) + "/*", str(folder) + f"/*.{ending}", str(tmp_path) + "/**"):
        assert ledger(source, log([1, 2])) == {"a": expected, "b": expected}, source


@pytest.mark.parametrize("compression", COMPRESS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("end", [True, False])
def test_case_28_text_files_are_read_as_meant(
    tmp_path: Path, bom: str, newline: str, compression: str, *, end: bool
) -> None:
    last = newline if end else ""
    csv_lines = ["id,correct,domain", 'q1,1,"a\nb"', 'q2,0,"say ""x"", or y"', '"q\n3",1,x', "q4,0,"]
    csv = write(tmp_path / f"l.csv{compression}", bom + newline.join(csv_lines) + last)
    tsv = write(tmp_path / f"l.tsv{compression}", bom + newline.join(csv_lines).replace(",", "\t") + last)
    domains = ["a\nb", 'say "x", or y', "x", None]
    rows = zip(["q1", "q2", "q\n3", "q4"], [1, 0, 1, 0], domains, strict=True)
    objects = [json.dumps({"id": i, "correct": c, "domain": d}, ensure_ascii=False) for i, c, d in rows]
    ndjson = write(tmp_path / f"l.jsonl{compression}", bom + newline.join(objects) + last)
    right = log(["q1", "q2", "q\n3", "q4"], [1, 1, 0, 0])
    for path in (csv, ndjson):
        assert cells(path, right) == (1, 1, 1, 1)
        report = compared(path, right, by=["domain"])
        assert {row["slice"].get("domain") for row in report["results"][1:]} == set(domains)
    assert compared(tsv, csv)["results"][0]["n"] == 4


def one_sort_of_groups(folder: Path, rows: int, group: int) -> tuple[Path, Path]:
    """Two logs of `rows` rows in row groups of `group`; the right one is wrong at every tenth of a's."""
    folder.mkdir()
    for name, every in (("l", 7), ("r", 10)):
        pl.select(
            id=pl.int_range(rows),
            correct=pl.int_range(rows) % every != 0,
            label=pl.int_range(rows) % 10,
            domain=pl.format("domain {}", pl.int_range(rows) % 3),
        ).lazy().sink_parquet(folder / f"{name}.parquet", row_group_size=group)
    return folder / "l.parquet", folder / "r.parquet"


@pytest.mark.parametrize("group", [1, 3000])
@pytest.mark.parametrize("options", [{}, {"on": "row"}, {"where": "label < 5"}], ids=repr)
def test_case_29_row_groups_of_any_size(tmp_path: Path, group: int, options: dict[str, Any]) -> None:
    usual = compared(*one_sort_of_groups(tmp_path / "usual", 3000, 500), by=["domain"], **options)
    paths = one_sort_of_groups(tmp_path / "odd", 3000, group)
    assert [pq.read_metadata(path).num_row_groups for path in paths] == [3000 // group] * 2
    assert compared(*paths, by=["domain"], **options) == usual


@pytest.mark.parametrize("strategy", ["lockstep", "merge", "direct", "buckets"])
def test_case_29_a_group_beyond_the_memory_gives_the_same_bytes(tmp_path: Path, strategy: Any) -> None:
    rows = 700_000
    paths = one_sort_of_groups(tmp_path / "giant", rows, rows)
    small, large = (
        streamcmp.compare(*paths, by="domain", strategy=strategy, memory=memory)
        for memory in ("64MiB", "8GB")
    )
    shards = [open_parquet(path) for path in paths]
    assert {shard.sparing(["id", "correct", "domain"], (64 << 20) // 3) is shard for shard in shards} == {
        False
    }
    assert RENDERERS["json"](small) == RENDERERS["json"](large)
    assert small.overall["n"] == rows


def test_case_29_one_giant_group_within_the_memory(tmp_path: Path) -> None:
    rows = 6_000_000
    left, right = one_sort_of_groups(tmp_path / "giant", rows, rows)
    run = ("run", "--left", left, "--right", right, "--by", "domain", "--format", "json", "--quiet")
    whole, much = peak(*run, "--memory", "8GB")
    paged, little = peak(*run, "--memory", "100MB")
    # Of 3 million rows both peak at 270 to 360 MB; of 6 million, whole groups take 550 MB, pages still 270.
    assert whole == paged
    assert little < 350e6 < much


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["auto", "buckets"])
def test_case_29_twenty_million_rows_in_one_group(tmp_path: Path, strategy: str) -> None:
    rows = 20_000_000
    left, right = one_sort_of_groups(tmp_path / "giant", rows, rows)
    run = ("run", "--left", left, "--right", right, "--by", "domain", "--format", "json", "--quiet")
    printed, most = peak(*run, "--memory", "500MB", "--strategy", strategy)
    assert json.loads(printed)["results"][0]["n"] == rows
    assert most < 600e6


@pytest.mark.slow
def test_case_29_a_hundred_thousand_groups(tmp_path: Path) -> None:
    paths = one_sort_of_groups(tmp_path / "tiny", 200_000, 2)
    assert pq.read_metadata(paths[0]).num_row_groups == 100_000
    run = ("run", "--left", paths[0], "--right", paths[1], "--by", "domain", "--format", "json", "--quiet")
    printed, most = peak(*run, "--memory", "1GB")
    assert json.loads(printed)["results"][0]["n"] == 200_000
    assert most < 1.1e9
    says(refusal(*paths, memory="700MB"), "metadata", "--memory", paths[0])
