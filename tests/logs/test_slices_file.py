from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import streamcmp
from streamcmp.comparison import Comparison, LogRequest
from streamcmp.errors import DataError, StreamcmpError, TypeConflict, UnknownColumn, UsageError
from streamcmp.logs import lookup as lookup_module
from streamcmp.logs import open_pair
from streamcmp.logs.model import LogPair, family_column
from streamcmp.tally import ABSENT, Tally
from tests.logs.opened import opened, read

LOG = pl.DataFrame({"id": [1, 2, 3, 4, 5], "correct": [1, 0, 1, 0, 1], "own": ["x", "y", "x", "y", "x"]})
META = pl.DataFrame({"id": [5, 3, 2, 1, 9], "domain": ["a", "", None, "b", "z"], "n": [7, 8, None, 7, 1]})


def slices(pair: LogPair, side: Any = "a", family: int = 0) -> list[tuple[Any, ...]]:
    """The slice of each row of a log."""
    log = pair.a if side == "a" else pair.b
    codes = read(log)[family_column(family)].to_numpy()
    return pair.codecs[family].decode(codes).rows()


def table(*arguments: Any, family: str = "domain", **options: Any) -> dict[Any, tuple[int, ...]]:
    """What a count says of a family: slice -> its cells."""
    tally = streamcmp.count(*arguments, **options)
    return {
        tuple(values.values()): (counts.both_correct, counts.n_ab, counts.n_ba, counts.both_wrong)
        for values, counts in tally.counts(family)
    }


def test_slices_are_found_by_id() -> None:
    pair = opened(LOG, LOG.reverse(), slices=META, by=(("domain",), ("n",), ("domain", "own")))
    assert slices(pair) == [("b",), (None,), ("",), (ABSENT,), ("a",)]
    assert slices(pair, family=1) == [("7",), (None,), ("8",), (ABSENT,), ("7",)]
    assert slices(pair, family=2)[3:] == [(ABSENT, "y"), ("a", "x")]
    assert pair.a.families == (True, True, True)
    assert pair.b.families == (False, False, True)  # what the file alone tells is looked up once
    assert pair.rule.slices == {"domain": {"file": "by id"}, "n": {"file": "by id"}}


def test_values_keep_their_type_where_no_id_is_absent() -> None:
    logs = LOG.filter(pl.col("id") != 4)
    pair = opened(logs, logs, slices=META, by=(("n",),))
    assert slices(pair) == [(7,), (None,), (8,), (7,)]


def test_counts_are_those_of_columns_in_the_log() -> None:
    other = LOG.with_columns(correct=pl.Series([1, 1, 0, 0, 1])).sample(fraction=1, shuffle=True, seed=1)
    joined = LOG.join(META, on="id", how="left").with_columns(
        domain=pl.when(pl.col("id") == 4).then(pl.lit(ABSENT)).otherwise("domain")
    )
    expected = table(joined, other, by=["domain"])
    assert table(LOG, other, slices=META, by=["domain"]) == expected
    assert table(LOG.lazy(), other, slices=META.lazy(), by="domain", memory="64MiB") == expected


def test_a_wide_log() -> None:
    wide = LOG.with_columns(other=pl.Series([1, 1, 0, 0, 1]))
    expected = {("a",): (1, 0, 0, 0), ("b",): (1, 0, 0, 0), ("",): (0, 1, 0, 0), (None,): (0, 0, 1, 0)}
    for on in (None, "id"):
        counts = table(wide, wide, correct=("correct", "other"), slices=META, by="domain", on=on)
        assert counts == {**expected, (ABSENT,): (0, 0, 0, 1)}


def test_by_position() -> None:
    assert table(LOG, LOG, on="row", slices=META.drop("id"), by="domain")["b",] == (0, 0, 0, 1)
    assert table(LOG, LOG, on="row", slices=META, by="own,n", family="own,n")["y", 8] == (0, 0, 0, 1)
    with pytest.raises(DataError, match="has more rows than the slices file"):
        table(LOG, LOG, on="row", slices=META.head(3), by="domain")
    with pytest.raises(UsageError, match="no column that --by names and the logs lack"):
        table(LOG, LOG, on="row", slices=META, by="own")
    report = streamcmp.compare(
        LOG, LOG, on="row", slices=META.with_columns(domain=pl.lit(ABSENT)), by="domain"
    )
    assert "slices_absent" not in {warning.code for warning in report.warnings}


def test_together_with_a_truth() -> None:
    logs = LOG.select("id", prediction="own")
    truth = pl.DataFrame({"id": [1, 2, 3, 5], "label": ["x", "x", "x", "x"]})
    options: dict[str, Any] = {"truth": truth, "slices": META, "by": "domain"}
    counts = table(logs, logs, **options)
    assert counts == {("a",): (1, 0, 0, 0), ("b",): (1, 0, 0, 0), ("",): (1, 0, 0, 0),
                      (None,): (0, 0, 0, 1), (ABSENT,): (0, 0, 0, 0)}  # fmt: skip
    with patch.object(lookup_module, "_SHARE", 2**22):
        assert table(logs, logs, memory="64MiB", **options) == counts
    assert table(
        logs, logs, on="row", by="domain", slices=META, truth=pl.Series("label", ["x"] * 5).to_frame()
    )


def test_the_logs_columns_go_first() -> None:
    said: list[str] = []
    meta = META.with_columns(own=pl.lit("file"))
    tally = streamcmp.count(LOG, LOG.drop("own"), slices=meta, by=["own", "domain"], on_note=said.append)
    assert [values["own"] for values, _ in tally.counts("own")] == ["x", "y"]
    assert "--by own: the left log has it, too, and counts, not the slices frame" in said
    assert "--by domain: from the slices frame" in said
    assert tally.rule is not None
    assert tally.rule.slices == {"domain": {"file": "by id"}}
    own_names = {"left_options": {"by": "own"}, "right_options": {"by": "own"}}
    with pytest.raises(UsageError, match="no column that --by names"):
        streamcmp.count(LOG, LOG, slices=meta, by="domain", **own_names)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("meta", "said"),
    [
        (pl.DataFrame({"id": [1, 2, 1], "domain": ["a", "b", "a"]}), "id 1 occurs more than once; a slices"),
        (pl.DataFrame({"id": [1, None], "domain": ["a", "b"]}), "row 2: 'id' is None; every row of a slices"),
        (pl.DataFrame({"id": [1, 2], "domain": ["a", ABSENT]}), r"row 2: 'domain' is '\(absent\)'; that st"),
        (pl.DataFrame({"id": [1.0, 1.5], "domain": ["a", "b"]}), "'id' is 1.5"),
    ],
)
def test_rows_that_cannot_be_looked_up(meta: pl.DataFrame, said: str) -> None:
    for share in (1, 2**23):
        with patch.object(lookup_module, "_SHARE", share), pytest.raises(DataError, match=said):
            table(LOG, LOG, slices=meta, by="domain", memory="64MiB")


def test_requests_that_do_not_fit() -> None:
    with pytest.raises(UsageError, match="--slices brings columns for --by"):
        opened(LOG, LOG, slices=META)
    with pytest.raises(UsageError, match="the slices frame has no column that --by names"):
        opened(LOG, LOG, slices=META, by=(("own",),))
    with pytest.raises(UnknownColumn, match="columns of the slices frame: id, domain, n"):
        opened(LOG, LOG, slices=META, by=(("domain",), ("nowhere",)))
    with pytest.raises(UsageError, match="a slices file needs the logs' id columns"):
        opened(LOG, LOG, slices=META.rename({"id": "nr"}), by=(("domain",),))
    with pytest.raises(TypeConflict, match="--id-type"):
        opened(LOG, LOG, slices=META.cast({"id": pl.String}), by=(("domain",),))


def test_ids_of_every_kind(tmp_path: Path) -> None:
    expected = [("b",), (None,), ("",), (ABSENT,), ("a",)]
    path = tmp_path / "meta.csv"
    META.with_columns(pl.format("00{}", "id").alias("id")).write_csv(path)
    spelled = opened(LOG, LOG, slices=path, by=(("domain",),), id_type="int")
    assert slices(spelled) == [*expected[:2], *expected[2:]]
    text = LOG.with_columns(pl.format("p-{}", "id").alias("id"))
    meta = META.cast({"id": pl.String})
    edited = opened(text, text, slices=meta, by=(("domain",),), id_strip_prefix=("p-",))
    assert slices(edited) == expected
    compound = LOG.with_columns(task=pl.lit("t"))
    pair = opened(
        compound, compound, slices=META.with_columns(task=pl.lit("t")), by=(("domain",),), on=("task", "id")
    )
    assert slices(pair) == expected
    nulls = LOG.with_columns(id=pl.when(pl.col("id") != 5).then("id"))
    assert slices(opened(nulls, nulls, slices=META, by=(("domain",),)))[4] == (ABSENT,)


def test_ndjson_and_shards(tmp_path: Path) -> None:
    META.head(2).write_parquet(tmp_path / "1.parquet")
    META.tail(3).write_parquet(tmp_path / "2.parquet")
    expected = table(LOG, LOG, slices=META, by="n", family="n")
    assert table(LOG, LOG, slices=str(tmp_path), by="n", family="n") == expected
    META.write_ndjson(tmp_path / "m.jsonl")
    LOG.drop("own").write_ndjson(tmp_path / "l.jsonl")
    log = tmp_path / "l.jsonl"
    assert table(log, log, slices=tmp_path / "m.jsonl", by="n", family="n") == expected


def test_planning_reads_no_rows(tmp_path: Path) -> None:
    META.write_parquet(tmp_path / "m.parquet")
    truth = LOG.select("id", label="own")
    logs = LOG.select("id", prediction="own")
    with patch.object(lookup_module.Lookup, "_read", side_effect=AssertionError("rows are read")):
        steps = streamcmp.api.explain(logs, logs, slices=tmp_path / "m.parquet", truth=truth, by=["domain"])
    assert steps


def test_tallies_of_parts_add_up_to_that_of_all() -> None:
    """An id that is absent in one part only makes the other part's numbers text, too."""
    whole = streamcmp.count(LOG, LOG, slices=META, by=["n", "domain"])
    parts = [
        streamcmp.count(LOG.filter(mine), LOG.filter(mine), slices=META, by=["n", "domain"])
        for mine in (pl.col("id") == 4, pl.col("id") < 3, pl.col("id").is_in([3, 5]))
    ]
    assert [part.families["n"]["slice.n"].dtype for part in parts] == [pl.String, pl.Int64, pl.Int64]
    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2)):
        assert sum((parts[index] for index in order), Tally.zero()) == whole
    assert parts[0] + (parts[1] + parts[2]) == whole


def test_other_types_still_do_not_add_up() -> None:
    text = META.cast({"n": pl.String})
    logs = LOG.filter(pl.col("id") != 4)
    one, two = (streamcmp.count(logs, logs, slices=meta, by="n") for meta in (META, text))
    with pytest.raises(UsageError, match="slice types differ"):
        one + two
    with pytest.raises(UsageError, match="n is a plain column in one and file by id in the other"):
        streamcmp.count(logs.join(META, on="id"), logs, by="n") + one


def test_a_tally_is_saved_and_says_what_is_absent(tmp_path: Path) -> None:
    tally = streamcmp.count(LOG, LOG, slices=META, by=["domain", "n,own"])
    tally.save(tmp_path / "x.tally")
    assert Tally.load(tmp_path / "x.tally") == tally
    report = streamcmp.finalize(tmp_path / "x.tally")
    (warning,) = [each for each in report.warnings if each.code == "slices_absent"]
    assert warning.message == ("1 pair without a row in the slices file: the slice (absent) of domain and n")
    assert "slices_absent" not in {each.code for each in streamcmp.compare(
        LOG.head(3), LOG.head(3), slices=META, by="domain").warnings}  # fmt: skip


def test_bins_expressions_lists_and_quantiles(tmp_path: Path) -> None:
    meta = pl.DataFrame(
        {
            "id": [5, 3, 2, 1],
            "n": [7, 8, None, 70],
            "skills": [["a", "b"], [], None, ["b"]],
            "own": [1, 2, 3, 4],
        }
    )
    by = ["n:bins(0,8)", "n * 2 AS double", "skills", "n:top(1)", "n:quantiles(2)", "n:bins(0,8),own", "own"]
    tally = streamcmp.count(LOG, LOG, slices=meta, by=by)
    found = {
        family: {tuple(values.values()): counts.n for values, counts in tally.counts(family)}
        for family in tally.families
    }
    assert found["n:bins(0,8)"] == {("[0, 8)",): 1, (">= 8",): 2, (ABSENT,): 1, (None,): 1}
    assert found["double"] == {("14",): 1, ("16",): 1, ("140",): 1, (ABSENT,): 1, (None,): 1}
    assert found["skills"] == {("a",): 1, ("b",): 2, ("(empty)",): 1, (ABSENT,): 1, (None,): 1}
    assert found["n:quantiles(2)"] == {("< 8",): 1, (">= 8",): 2, (ABSENT,): 1, (None,): 1}
    assert found["n:bins(0,8),own"][ABSENT, "y"] == 1
    assert found["own"] == {("x",): 3, ("y",): 2}  # the logs' own column
    assert tally.overlapping == {"skills"}
    tally.save(tmp_path / "x.tally")
    assert Tally.load(tmp_path / "x.tally") == tally
    parts = [
        streamcmp.count(LOG.filter(mine), LOG.filter(mine), slices=meta, by=by)
        for mine in (pl.col("id") == 4, pl.col("id") != 4)
    ]
    assert parts[0] + parts[1] == tally
    with patch.object(lookup_module, "_SHARE", 2**22):
        assert streamcmp.count(LOG, LOG, slices=meta, by=by, memory="64MiB") == tally
    report = streamcmp.finalize(tally)
    (warning,) = [each for each in report.warnings if each.code == "slices_absent"]
    assert warning.details["pairs"] == 1
    with pytest.raises(DataError, match=r"'skills' is .*that stands for ids"):
        streamcmp.count(LOG, LOG, slices=meta.with_columns(skills=pl.Series([[ABSENT]] * 4)), by="skills")


def test_flips_show_the_slices() -> None:
    other = LOG.with_columns(correct=1 - pl.col("correct"))
    for share in (8, 2**23):
        with patch.object(lookup_module, "_SHARE", share):
            flips = streamcmp.flips(LOG, other, slices=META, by=["n", "domain"], memory="64MiB").table
        assert flips is not None
        assert flips["slice.n"].to_list() == ["7", None, "8", ABSENT, "7"]
        assert flips["slice.domain"].to_list() == ["b", None, "", ABSENT, "a"]
    known = LOG.filter(pl.col("id") != 4)
    flips = streamcmp.flips(known, other, slices=META, by="n").table
    assert flips is not None
    assert flips["slice.n"].dtype == pl.String


def test_class_is_the_slices_files_before_it_is_the_label() -> None:
    logs = LOG.select("id", prediction="own", label=pl.lit("x"))
    meta = META.select("id", **{"class": "domain"})
    tally = streamcmp.count(logs, logs, slices=meta, by="class")
    assert [values["class"] for values, _ in tally.counts("class")] == ["", ABSENT, "a", "b", None]


def test_the_label_of_a_truth_in_parts_makes_no_slices() -> None:
    logs, truth = LOG.select("id", prediction="own"), LOG.select("id", label="own")
    assert set(table(logs, logs, truth=truth, by="class", family="class")) == {("x",), ("y",)}
    with (
        patch.object(lookup_module, "_SHARE", 2**23),
        pytest.raises(DataError, match="--by class needs its labels at hand"),
    ):
        table(logs, logs, truth=truth, by="class", family="class", memory="64MiB")


VALUES = st.sampled_from(["a", "b", "", None])


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
@pytest.mark.parametrize("kind", ["int", "text", "compound"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
@given(data=st.data())
def test_parts_tell_what_the_whole_tells(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, ending: str, kind: str
) -> None:
    """The same slices row by row as a dictionary would find, whether the file fits or comes in parts."""
    known = data.draw(st.dictionaries(st.integers(0, 40), st.tuples(VALUES, st.integers(0, 3)), min_size=1))
    seen = data.draw(st.lists(st.integers(0, 45), min_size=1, max_size=40, unique=True))
    meta = pl.DataFrame(
        [(key, *values) for key, values in known.items()],
        schema={"id": pl.Int64, "s": pl.String, "n": pl.Int64}, orient="row",
    )  # fmt: skip
    log = pl.DataFrame({"id": seen}, schema={"id": pl.Int64}).with_columns(correct=pl.lit(1), c=pl.lit("c"))
    on: tuple[str, ...] = ("id",)
    if kind == "text":
        meta, log = (each.with_columns(pl.format("sample-{}", "id").alias("id")) for each in (meta, log))
    if kind == "compound":
        meta, log, on = meta.with_columns(t=pl.lit("t")), log.with_columns(t=pl.lit("t")), ("t", "id")
    folder = tmp_path_factory.mktemp("logs")
    for name, frame in (("log", log), ("meta", meta)):
        path = folder / f"{name}.{ending}"
        write: dict[str, Any] = {
            "parquet": frame.write_parquet, "csv": frame.write_csv, "jsonl": frame.write_ndjson
        }  # fmt: skip
        write[ending](path)
    source = LogRequest(folder / f"log.{ending}")
    by = (("s",), ("n", "c"), ("s", "n"))
    request = Comparison(source, source, slices=folder / f"meta.{ending}", by=by, on=on)

    def told(held: int, chunk_rows: int) -> object:
        try:
            with patch.object(lookup_module, "_SHARE", 10**9 // held):
                pair = open_pair(request, memory_budget=10**9)
                rows = read(pair.a, chunk_rows)
            return [
                pair.codecs[family].decode(rows[family_column(family)].to_numpy()).rows()
                for family in range(len(by))
            ]
        except StreamcmpError as error:
            return str(error)

    whole = told(10**9, 7)
    assert told(100, 7) == whole
    assert told(300, 3) == whole
    expected = [known.get(key, (ABSENT, ABSENT)) for key in seen]
    assert isinstance(whole, list)
    assert [row[0] for row in whole[0]] == [text for text, _ in expected]
    assert [str(row[0]) for row in whole[1]] == [str(number) for _, number in expected]


@pytest.mark.parametrize("strategy", ["auto", "lockstep", "merge", "direct", "buckets"])
def test_every_strategy_with_slices_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strategy: Any
) -> None:
    rows = 150_000
    log = pl.select(id=pl.int_range(rows), correct=pl.int_range(rows) % 7 == 0)
    other = log.with_columns(correct=pl.col("id") % 5 == 0)
    meta = pl.select(id=pl.int_range(0, rows, 2)).with_columns(
        s=pl.col("id") % 5, t=pl.format("t{}", pl.col("id") % 3)
    )
    for name, frame in (("l", log), ("r", other), ("m", meta.sample(fraction=1, shuffle=True, seed=1))):
        frame.write_parquet(tmp_path / f"{name}.parquet")
    spill = tmp_path / "spill"
    spill.mkdir()

    def report() -> object:
        return streamcmp.compare(
            tmp_path / "l.parquet", tmp_path / "r.parquet", slices=tmp_path / "m.parquet", by=["s", "s,t"],
            strategy=strategy, memory="64MiB", spill_dir=spill,
        ).to_dict()  # fmt: skip

    whole = report()
    monkeypatch.setattr(lookup_module, "_SHARE", 256)
    assert report() == whole
    assert not list(spill.iterdir())


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("streamcmp.logs.waiting.os.pwrite", full)
    monkeypatch.setattr(lookup_module, "_SHARE", 2**23)
    with pytest.raises(DataError, match=r"cannot spill to .*No space left.*--spill-dir"):
        table(LOG, LOG, slices=META, by="domain", memory="64MiB", spill_dir=tmp_path)
    assert not list(tmp_path.iterdir())


def test_texts_of_one_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two ids whose 64 bits agree are told apart by their check, on either side."""
    real = pl.DataFrame.hash_rows

    def clashing(frame: pl.DataFrame, seed: int = 0) -> pl.Series:
        hashes = real(frame, seed)
        return hashes % 3 if seed == lookup_module._SEED else hashes

    monkeypatch.setattr(pl.DataFrame, "hash_rows", clashing)
    ids = pl.select(id=pl.format("i{}", pl.int_range(40)))
    meta = ids.head(30).with_columns(s=pl.col("id") + "!").sample(fraction=1, shuffle=True, seed=2)
    table_ = lookup_module._sorted(
        [(numbers := lookup_module.Ids.of(meta["id"])).keys],
        [numbers.checks] if numbers.checks is not None else [],
        [meta.select("s")],
        None,
    )
    assert table_.repeated is None
    found = table_.attach(ids, lookup_module.Ids.of(ids["id"]))
    assert found["s"].to_list() == [f"i{index}!" if index < 30 else None for index in range(40)]
