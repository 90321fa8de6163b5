"""The tally file: one Parquet table, with a header in its metadata. save and load are inverse to each other.

Rows are `record` = "count" (one per family and slice) or "ledger" (one per side). An SQL engine's result
has the same columns and no header: it loads too, with `rule` None.
"""

from __future__ import annotations

import io
import json
from dataclasses import replace
from os import fspath
from typing import TYPE_CHECKING, Any

import polars as pl

from streamcmp.addresses import shown
from streamcmp.comparison import SIDES, IdShard, Rule
from streamcmp.errors import DataError, UsageError
from streamcmp.ledger import LEDGER_FIELDS, Ledger
from streamcmp.output import contents, write_atomic
from streamcmp.slicing import intervals
from streamcmp.tally import (
    ABSENT,
    COUNTERS,
    OVERALL,
    SLICE_PREFIX,
    Part,
    Tally,
    family_name,
    named_columns,
    slice_columns,
    sorted_table,
)
from streamcmp.target import TALLY, check_parquet
from streamcmp.whole_numbers import whole_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from streamcmp.sketch import IdSketch

TALLY_VERSION = 2  # 1 had no sketch, and counted shards from 1 on
_HEADER = b"streamcmp.tally"
_TEXTS = ("record", "side", "family")
_NUMBERS = tuple(dict.fromkeys((*COUNTERS, *LEDGER_FIELDS)))  # two counters are in both
# Integers that other readers of Parquet do not know: written as text, with their type in the header.
_WIDE: dict[str, pl.DataType] = {str(dtype): dtype for dtype in (pl.Int128(), pl.UInt128())}


def save(tally: Tally, path: str | PathLike[str]) -> None:
    """Write `tally` to `path`, atomically."""
    import pyarrow.parquet as pq  # slow to load: only those who write tallies pay

    check_parquet(path, *TALLY)
    if tally.rule is None or tally.ledger is None:
        raise UsageError("a plain table of counts is not saved as a tally: it has no rule and no ledger")
    rows = [
        table.select(
            pl.lit("count").alias("record"),
            pl.lit(None, pl.String).alias("side"),
            pl.lit(name).alias("family"),
            pl.all(),
        )
        for name, table in tally.families.items()
    ]
    rows += [
        pl.DataFrame({"record": ["ledger"], "side": [side]}).with_columns(
            pl.lit(count, pl.Int64).alias(name) for name, count in tally.ledger.side(side).to_dict().items()
        )
        for side in SIDES
    ]
    frame = pl.concat(rows, how="diagonal")
    slices = sorted(slice_columns(frame))
    wide = {name: str(frame.schema[name]) for name in slices if str(frame.schema[name]) in _WIDE}
    header = {
        "version": TALLY_VERSION,
        "rule": tally.rule.to_dict(),
        **_parts_to_header(tally.parts),
        "sketch": None if tally.sketch is None else tally.sketch.to_dict(),
        "overlap": tally.overlap,
        "wide": wide,
    }
    enums = [name for name in slices if isinstance(frame.schema[name], pl.Enum)]
    plain = frame.with_columns(pl.col(name).cast(pl.String) for name in (*wide, *enums))
    table = plain.select(*_TEXTS, *slices, *_NUMBERS).to_arrow()
    table = table.replace_schema_metadata({_HEADER: json.dumps(header).encode()})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    write_atomic(fspath(path), buffer.getvalue())


def load(path: str | PathLike[str]) -> Tally:
    """Read a tally file. Raises UsageError where it is none, DataError where it is damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = contents(path, "the tally ")
    path = shown(fspath(path))
    try:
        # Without threads, which would still be at it when a short process ends.
        with pq.ParquetFile(pa.BufferReader(data)) as file:
            table, metadata = file.read(use_threads=False), file.metadata.metadata
    except pa.ArrowInvalid:
        raise DataError(f"{path} is not a tally file: not Parquet, or truncated") from None
    except (pa.ArrowException, OSError) as problem:
        raise DataError(f"{path} is damaged: {problem}; write it again") from None
    header = (metadata or {}).get(_HEADER)  # the file's: another writer's schema has none
    frame = pl.DataFrame(table.replace_schema_metadata())  # Polars panics at metadata that is no text
    if header is None:
        return from_rows(frame, str(path))
    try:
        fields = json.loads(header)
        rule, parts, wide = _read_header(fields, path)
        sketch, overlap = _read_sketch(fields)
        wide |= {
            SLICE_PREFIX + name: pl.Enum(
                intervals(about["edges"]) + ([ABSENT] if about.get("file") == "by id" else [])
            )
            for name, about in rule.slices.items()
            if "edges" in about
        }
        frame = frame.with_columns(pl.col(name).cast(dtype) for name, dtype in wide.items())
    except (LookupError, TypeError, ValueError, AttributeError, pl.exceptions.PolarsError) as problem:
        raise DataError(f"{path}: the header of this tally is damaged ({problem!r}); count again") from None
    return replace(from_rows(frame, str(path), rule, parts), sketch=sketch, overlap=overlap)


def _parts_to_header(parts: Sequence[Part]) -> dict[str, Any]:
    """Inputs once each, as the shards of a merged tally have them in common."""
    inputs = {json.dumps(part.inputs, sort_keys=True, default=str): part.inputs for part in parts}
    places = {text: place for place, text in enumerate(inputs)}
    return {
        "inputs": list(inputs.values()),
        "parts": [
            [places[json.dumps(part.inputs, sort_keys=True, default=str)], str(part.shard)] for part in parts
        ],
    }


def _read_header(
    fields: dict[str, Any], path: str | PathLike[str]
) -> tuple[Rule, tuple[Part, ...], dict[str, pl.DataType]]:
    """Rule, parts, and the types of slices that are written as text."""
    if fields["version"] > TALLY_VERSION:
        raise UsageError(
            f"{path} was written by a newer streamcmp (tally version {fields['version']}); upgrade to read it"
        )
    rule = Rule.from_dict(fields["rule"])
    if fields["version"] == 1:
        parts = tuple(Part(dict(part["inputs"]), _from_1(part["shard"])) for part in fields["parts"])
    else:
        inputs = [dict(each) for each in fields["inputs"]]
        parts = tuple(Part(inputs[place], _shard(*_pair(shard))) for place, shard in fields["parts"])
    return rule, parts, {name: _WIDE[dtype] for name, dtype in fields["wide"].items()}


def _read_sketch(fields: dict[str, Any]) -> tuple[IdSketch | None, int]:
    overlap = int(fields.get("overlap", 0))
    if fields.get("sketch") is None:
        return None, overlap
    from streamcmp.sketch import IdSketch

    return IdSketch.from_dict(fields["sketch"]), overlap


def _pair(text: str) -> tuple[int, int]:
    number, of = map(int, text.split("/"))
    return number, of


def _from_1(text: str) -> IdShard:
    number, of = _pair(text)
    return _shard(number - 1, of)


def _shard(number: int, of: int) -> IdShard:
    if not 0 <= number < of:
        raise ValueError(f"there is no shard {number}/{of}")
    return IdShard(number, of)


def from_rows(
    frame: pl.DataFrame, where: str, rule: Rule | None = None, parts: tuple[Part, ...] = ()
) -> Tally:
    """A tally from a table in the file's shape; without a rule the families are those the rows name."""
    absent = [name for name in (*_TEXTS, *_NUMBERS) if name not in frame.columns]
    if absent:
        raise UsageError(f"{where} is not a tally: it has no column {', '.join(absent)}")
    _check_texts(frame, where)
    frame = frame.with_columns(whole_numbers(frame[name], where) for name in _NUMBERS)
    counts = _complete(frame.filter(pl.col("record") == "count"), ("family", *COUNTERS), where)
    columns = _families(counts, rule)
    families: dict[str, pl.DataFrame] = {}
    for name, keys in columns.items():
        for key in keys:
            if SLICE_PREFIX + key not in frame.columns:
                raise DataError(f"{where}: the family {name} has no column {SLICE_PREFIX}{key}")
        rows = counts.filter(pl.col("family") == name)
        families[name] = sorted_table(rows.select(*(SLICE_PREFIX + key for key in keys), *COUNTERS))
    if families.get(OVERALL, pl.DataFrame()).height != 1:
        raise DataError(f"{where}: a tally has exactly one row of the family {OVERALL}")
    return Tally(families, _ledger(frame, where), rule, parts)


def _check_texts(frame: pl.DataFrame, where: str) -> None:
    for name in _TEXTS:
        if not isinstance(frame.schema[name], pl.String | pl.Categorical | pl.Enum | pl.Null):
            raise DataError(f"{where} is not a tally: the column {name} is {frame.schema[name]}, not text")
    odd = frame.filter(
        pl.col("record").cast(pl.String).is_in(("count", "ledger")).not_().fill_null(value=True)
    )
    if odd.height:
        raise DataError(f"{where}: record is {odd['record'][0]!r}; in a tally it is 'count' or 'ledger'")


def _complete(rows: pl.DataFrame, columns: Iterable[str], where: str) -> pl.DataFrame:
    """`rows`, which hold all of `columns`."""
    for name in columns:
        if rows[name].null_count():
            raise DataError(f"{where}: {name} is missing in a row of this tally")
    return rows


def _families(counts: pl.DataFrame, rule: Rule | None) -> dict[str, tuple[str, ...]]:
    if rule is not None:
        return {OVERALL: (), **{family_name(term): term for term in rule.by}}
    names = counts["family"].unique(maintain_order=True).to_list()
    names.sort(key=lambda name: name != OVERALL)
    return {name: () if name == OVERALL else named_columns(name) for name in names}


def _ledger(frame: pl.DataFrame, where: str) -> Ledger:
    sides: dict[str, dict[str, int]] = {}
    for side in SIDES:
        rows: list[dict[str, Any]] = (
            _complete(
                frame.filter(pl.col("record") == "ledger", pl.col("side") == side), LEDGER_FIELDS, where
            )
            .select(LEDGER_FIELDS)
            .to_dicts()
        )
        if len(rows) != 1:
            raise DataError(f"{where}: a tally has one ledger row for side {side}; this one has {len(rows)}")
        sides[side] = rows[0]
    return Ledger.from_dict(sides)
