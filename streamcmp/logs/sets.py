"""List-valued slice columns: the whole list, as a set, is one value with one code through all pairing.

Only when tables are made does a set become its elements. A list enters a dictionary as text: each element
with a mark before it, and a separator that no element holds between them. Sorting the elements of every row
would take half of all time (measured), so only lists not seen before are made sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from streamcmp.comparison import SideName
from streamcmp.errors import ChangedType, DataError
from streamcmp.logs.dictionary import NULL_CODE, Dictionary
from streamcmp.logs.slices import Seen, SliceColumn, admits, decide_slice, spell, unspell
from streamcmp.logs.values import Check, Column, everywhere
from streamcmp.slicing import EMPTY

_NULL, _VALUE = "0", "1"  # what an element's text begins with
_BETWEEN = "\x1f"
_UNKNOWN = 2**32 - 1
_ESCAPES = (("\x1e", "\x1e0"), (_BETWEEN, "\x1e1"))


def holds_lists(column: Column) -> bool:
    """Whether each value is a list of any length."""
    return isinstance(column.dtype, pl.List | pl.Array)


def decide_set(name: str, seen: Mapping[SideName, Seen]) -> SetColumn:
    """The column of sets, where some files hold lists. A single value is a list of one.

    Raises UnusableType where an element is itself nested, TypeConflict where elements differ in kind.
    """
    inner: dict[SideName, Seen] = {
        side: [(where, each) for where, column in columns if (each := _element(column)).kind != "null"]
        for side, columns in seen.items()
    }
    return SetColumn(name, decide_slice(name, inner))


class Sets:
    """Joined texts of lists to the codes of their sets, and back. Thread-safe."""

    def __init__(self) -> None:
        self._lists, self._sets = Dictionary(), Dictionary()
        self._lock = Lock()
        self._table = np.full(16, _UNKNOWN, np.uint32)  # code of a list -> code of its set
        self._table[NULL_CODE] = NULL_CODE

    def encode(self, text: pl.Expr) -> pl.Expr:
        """The UInt32 code of each list's set; lists of nothing but null are null."""
        return self._lists.encode(text).map_batches(
            self._encode, return_dtype=pl.UInt32(), is_elementwise=True
        )

    def decode(self, codes: pl.Series) -> pl.Series:
        """The joined text of each set."""
        return self._sets.decode(codes)

    def _encode(self, lists: pl.Series) -> pl.Series:
        codes = lists.to_numpy()
        table = self._table
        if len(codes) and (int(codes.max()) >= len(table) or (table[codes] == _UNKNOWN).any()):
            with self._lock:
                table = self._learn(np.unique(codes))
        return pl.Series(table[codes])

    def _learn(self, codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        table = self._table
        if int(codes[-1]) >= len(table):
            grown = np.full(max(int(codes[-1]) + 1, 2 * len(table)), _UNKNOWN, np.uint32)
            grown[: len(table)] = table
            self._table = table = grown
        new = codes[table[codes] == _UNKNOWN]
        text = self._lists.decode(pl.Series(new)).str.split(_BETWEEN).list.unique().list.sort()
        joined = pl.when(pl.lit(text).list.join(_BETWEEN) != _NULL).then(pl.lit(text).list.join(_BETWEEN))
        table[new] = pl.select(self._sets.encode(joined)).to_series().to_numpy()
        return table


@dataclass(frozen=True)
class SetColumn:
    """A column of lists. `elements`: what the elements of both sides have in common."""

    name: str
    elements: SliceColumn
    sets: Sets = field(default_factory=Sets, compare=False)
    overlapping: ClassVar[bool] = True

    def encode(self, column: Column, side: SideName, *, where: str) -> tuple[pl.Expr, list[Check]]:
        """The code of each list as a set. A list of nothing but null is null, as is NaN within one."""
        if column.kind == "null":
            return everywhere(column, NULL_CODE, pl.UInt32()), []
        element, dtype = _element(column), self.elements.dtypes[side]
        checks: list[Check] = []
        text = everywhere(element, None, pl.String())
        if element.kind != "null":
            if not admits(dtype, element):
                expected = Column(self.name, dtype).type_name
                raise ChangedType(
                    column.name,
                    where=where,
                    type_name=f"a list of {element.type_name}",
                    expected=f"one of {expected}",
                    advice="a column that slices holds one type",
                )
            text, found = spell(element, dtype)
            checks = [
                replace(check, bad=_lists(column).list.eval(check.bad).list.any(), columns=column.read)
                for check in found
            ]
        if dtype == pl.String:
            for plain, escaped in _ESCAPES:
                text = text.str.replace_all(plain, escaped, literal=True)
        marked = pl.when(text.is_null()).then(pl.lit(_NULL)).otherwise(pl.lit(_VALUE) + text)
        return self.sets.encode(_lists(column).list.eval(marked).list.join(_BETWEEN)), checks

    def decode(self, codes: pl.Series, side: SideName) -> pl.Series:
        """Per code the slices that it counts in, as text: never an empty list.

        Raises DataError where an element is called as the slice of empty lists is, and there are such.
        """
        flat = self._elements(codes, side)
        empty = flat["text"] == ""
        words = _as_text(flat["value"])
        if empty.any() and (words == EMPTY).any():
            raise DataError(
                f"the slice column {self.name!r} has lists that are empty, which make the slice {EMPTY}, and "
                f"lists with the element {EMPTY!r}; rename the element"
            )
        named = flat.with_columns(pl.when(empty).then(pl.lit(EMPTY)).otherwise(words).alias("value"))
        return _regrouped(named)

    def values(self, codes: pl.Series, side: SideName) -> pl.Series:
        """The sets themselves, as lists of the elements' own type; null where there is none."""
        flat = self._elements(codes, side)
        lists = _regrouped(flat.filter(pl.col("text").is_null() | (pl.col("text") != "")), len(codes))
        kinds = self.sets.decode(codes)
        empty = pl.Series([[]], dtype=lists.dtype)
        blank = lists.zip_with(kinds.is_not_null(), pl.Series([None], dtype=lists.dtype))
        return blank.zip_with((kinds != "").fill_null(value=True), empty)

    def _elements(self, codes: pl.Series, side: SideName) -> pl.DataFrame:
        """A row per element: `row`, its marked `text` ("" stands for an empty list), its `value`."""
        texts = self.sets.decode(codes)
        flat = (
            pl.DataFrame({"row": pl.int_range(len(codes), eager=True), "text": texts.str.split(_BETWEEN)})
            .explode("text")
            .with_columns(
                word=pl.when(pl.col("text").str.starts_with(_VALUE)).then(pl.col("text").str.slice(1))
            )
        )
        words = flat["word"]
        for plain, escaped in reversed(_ESCAPES):
            words = words.str.replace_all(escaped, plain, literal=True)
        return flat.select("row", "text", unspell(words, self.elements.dtypes[side]).alias("value"))


def _regrouped(flat: pl.DataFrame, rows: int | None = None) -> pl.Series:
    """The values of each row as a list, in the order of rows; rows that have none get an empty list."""
    lists = flat.group_by("row", maintain_order=True).agg(pl.col("value"))
    if rows is not None:
        lists = pl.DataFrame({"row": pl.int_range(rows, eager=True)}).join(
            lists, on="row", how="left", maintain_order="left"
        )
    return lists["value"]


def _as_text(values: pl.Series) -> pl.Series:
    if values.dtype.is_temporal():
        return values.dt.to_string("iso:strict")
    return values.bin.encode("hex") if values.dtype == pl.Binary else values.cast(pl.String)


def _lists(column: Column) -> pl.Expr:
    if isinstance(column.dtype, pl.Array):
        return column.expr.arr.to_list()
    if isinstance(column.dtype, pl.List):
        return column.expr
    return pl.when(column.expr.is_not_null()).then(pl.concat_list(column.expr))


def _element(column: Column) -> Column:
    """What a list holds, as a column within the list."""
    dtype = column.dtype
    if isinstance(dtype, pl.List | pl.Array):
        inner = dtype.inner if isinstance(dtype.inner, pl.DataType) else dtype.inner()
        return Column(column.name, inner, made=(pl.element(), column.read))
    return Column(column.name, dtype, column.untyped, made=(pl.element(), column.read))
