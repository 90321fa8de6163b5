"""`user:top(50)`: counted are all slices, so that tallies add up; here all but the largest become one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from streamcmp.errors import DataError
from streamcmp.report.values import json_ready_values
from streamcmp.slicing import OTHER
from streamcmp.tally import (
    ABSENT,
    CELLS,
    COUNTERS,
    SLICE_PREFIX,
    Tally,
    family_columns,
    filed_by_id,
    slice_columns,
    sorted_table,
)


def folded(tally: Tally) -> Tally:
    """The tally with the slices of `top` families that do not have most pairs in one slice `(other)`.

    Of a column the values with most pairs stay, over all slices of the family; of those with as many, the
    first in order. Null and `(absent)` always stay, and take no value's place. A column that has an
    `(other)` is text.

    Raises DataError where a value is itself called `(other)`.
    """
    if tally.rule is None:
        return tally
    slices = tally.rule.slices
    tops = {name: about["count"] for name, about in slices.items() if about.get("cut") == "top"}
    if not tops:
        return tally
    filed = filed_by_id(tally.rule)
    families = {name: _folded(table, tops, filed) for name, table in tally.families.items()}
    return replace(tally, families=families)


def _folded(table: pl.DataFrame, tops: dict[str, int], filed: Sequence[str]) -> pl.DataFrame:
    keys = slice_columns(table)
    cut = [(SLICE_PREFIX + name, name) for name in family_columns(table) if name in tops]
    columns = [
        (key, named)
        for key, name in cut
        if (named := _named(table, key, tops[name], (ABSENT,) if name in filed else ())) is not None
    ]
    if not columns:
        return table
    renamed = table.with_columns(named.alias(key) for key, named in columns)
    return sorted_table(renamed.group_by(keys).agg(pl.col(*COUNTERS).sum()))


def _named(table: pl.DataFrame, key: str, most: int, beside: Sequence[str]) -> pl.Series | None:
    """The column with `(other)` in the place of the smaller slices; None where there are none.

    `beside`: texts that stay as they are, as null does.
    """
    stays = pl.col(key).is_null() | pl.col(key).cast(pl.String).is_in(beside)
    pairs = (
        table.filter(~stays)
        .group_by(key)
        .agg(pl.sum_horizontal(pl.col(*CELLS).sum()).alias("pairs"))
        .sort("pairs", key, descending=[True, False])
    )
    if pairs.height <= most:
        return None
    kept = pairs[key].head(most)
    words = pl.DataFrame({key: kept, "word": _as_text(kept)})
    if pairs[key].dtype == pl.String and (pairs[key] == OTHER).any():
        name = key.removeprefix(SLICE_PREFIX)
        column, _, cut = name.rpartition(":")
        raise DataError(
            f"{name}: a value of the column is {OTHER!r} itself, as the smaller slices together are called; "
            f"rename it: --by \"REPLACE({column}, '{OTHER}', 'other') AS renamed:{cut}\""
        )
    found = table.select(key).join(words, on=key, how="left", maintain_order="left")
    return found.select(
        pl.when(stays).then(pl.col(key).cast(pl.String)).otherwise(pl.col("word").fill_null(OTHER)).alias(key)
    )[key]


def _as_text(values: pl.Series) -> pl.Series:
    """As the values stand in a report."""
    texts = [
        one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)
        for one in json_ready_values(values)
    ]
    return pl.Series(texts, dtype=pl.String)
