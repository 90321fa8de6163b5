"""The tally file: one Parquet table, with a header in its metadata. save and load are inverse to each other.

Rows are `record` = "count" (one per family and slice) or "ledger" (one per side). An SQL engine's result
has the same columns and no header: it loads too, with `rule` None.
"""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from streamcmp.comparison import SIDES, Rule
from streamcmp.errors import DataError, UsageError
from streamcmp.ledger import LEDGER_FIELDS, Ledger
from streamcmp.output import write_atomic
from streamcmp.tally import (
    COUNTERS,
    OVERALL,
    SLICE_PREFIX,
    Part,
    Tally,
    family_name,
    slice_columns,
    sorted_table,
)

if TYPE_CHECKING:
    from os import PathLike

TALLY_VERSION = 1
_HEADER = b"streamcmp.tally"
# Integers that other readers of Parquet do not know: written as text, with their type in the header.
_WIDE: dict[str, pl.DataType] = {str(dtype): dtype for dtype in (pl.Int128(), pl.UInt128())}


def save(tally: Tally, path: str | PathLike[str]) -> None:
    """Write `tally` to `path`, atomically."""
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
    counters = dict.fromkeys((*COUNTERS, *LEDGER_FIELDS))
    wide = {name: str(frame.schema[name]) for name in slices if str(frame.schema[name]) in _WIDE}
    header = {
        "version": TALLY_VERSION,
        "rule": tally.rule.to_dict(),
        "parts": [{"inputs": part.inputs, "shard": part.shard} for part in tally.parts],
        "wide": wide,
    }
    plain = frame.with_columns(pl.col(name).cast(pl.String) for name in wide)
    table = plain.select("record", "side", "family", *slices, *counters).to_arrow()
    table = table.replace_schema_metadata({_HEADER: json.dumps(header).encode()})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    write_atomic(Path(path), buffer.getvalue())


def load(path: str | PathLike[str]) -> Tally:
    """Read a tally file. Raises UsageError where it is none, DataError where it is damaged."""
    try:
        table = pq.read_table(pa.BufferReader(Path(path).read_bytes()))
    except OSError as error:
        raise UsageError(f"cannot read the tally {path}: {error.strerror or error}") from None
    except pa.ArrowInvalid:
        raise DataError(f"{path} is not a tally file: not Parquet, or truncated") from None
    header = (table.schema.metadata or {}).get(_HEADER)
    frame = pl.DataFrame(table)
    if header is None:
        return from_rows(frame, str(path))
    fields = json.loads(header)
    if fields["version"] > TALLY_VERSION:
        raise UsageError(
            f"{path} was written by a newer streamcmp (tally version {fields['version']}); upgrade to read it"
        )
    frame = frame.with_columns(pl.col(name).cast(_WIDE[dtype]) for name, dtype in fields["wide"].items())
    rule = Rule.from_dict(fields["rule"])
    parts = tuple(Part(part["inputs"], part["shard"]) for part in fields["parts"])
    return from_rows(frame, str(path), rule, parts)


def from_rows(
    frame: pl.DataFrame, where: str, rule: Rule | None = None, parts: tuple[Part, ...] = ()
) -> Tally:
    """A tally from a table in the file's shape; without a rule the families are those the rows name."""
    needed = ("record", "side", "family", *COUNTERS, *LEDGER_FIELDS)
    absent = [name for name in needed if name not in frame.columns]
    if absent:
        raise UsageError(f"{where} is not a tally: it has no column {', '.join(absent)}")
    counts = frame.filter(pl.col("record") == "count")
    columns = _families(counts, rule)
    families: dict[str, pl.DataFrame] = {}
    for name, keys in columns.items():
        rows = counts.filter(pl.col("family") == name)
        families[name] = sorted_table(
            rows.select(*(SLICE_PREFIX + key for key in keys), pl.col(*COUNTERS).cast(pl.Int64))
        )
    if families.get(OVERALL, pl.DataFrame()).height != 1:
        raise DataError(f"{where}: a tally has exactly one row of the family {OVERALL}")
    return Tally(families, _ledger(frame, where), rule, parts)


def _families(counts: pl.DataFrame, rule: Rule | None) -> dict[str, tuple[str, ...]]:
    if rule is not None:
        return {OVERALL: (), **{family_name(term): term for term in rule.by}}
    names = counts["family"].unique(maintain_order=True).to_list()
    names.sort(key=lambda name: name != OVERALL)
    return {name: () if name == OVERALL else tuple(name.split(",")) for name in names}


def _ledger(frame: pl.DataFrame, where: str) -> Ledger:
    sides: dict[str, dict[str, int]] = {}
    for side in SIDES:
        rows: list[dict[str, Any]] = (
            frame.filter(pl.col("record") == "ledger", pl.col("side") == side)
            .select(pl.col(*LEDGER_FIELDS).cast(pl.Int64))
            .to_dicts()
        )
        if len(rows) != 1:
            raise DataError(f"{where}: a tally has one ledger row for side {side}; this one has {len(rows)}")
        sides[side] = rows[0]
    return Ledger.from_dict(sides)
