"""Slices as small integers: one dictionary per column, shared by both sides, every batch and every thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from streamcmp.comparison import SideName
from streamcmp.errors import ChangedType, TypeConflict, UnusableType
from streamcmp.logs.crossing import Crossing
from streamcmp.logs.dictionary import NULL_CODE, Dictionary, Span
from streamcmp.logs.text_values import from_text, readable
from streamcmp.logs.values import (
    DECIMAL_DIGITS,
    NUMBERS,
    SMALL_INTS,
    TEXTS,
    UNSIGNED,
    Check,
    Column,
    Kind,
    everywhere,
    finest,
    kind_of,
    unsigned_zero,
)
from streamcmp.tally import SLICE_PREFIX

Seen = Sequence[tuple[str, Column]]
UNTYPED = "untyped"
# Numbers stand for moments, and the same number for others in other kinds: noon anywhere is not noon in UTC.
_TAGS: dict[Kind, str] = {"date": "d", "time": "c", "datetime": "t", "zoned datetime": "z"}
_WIDEST_SPAN = 2**20  # whole numbers of a wider range go by text: counts are kept for all of a range
_LOWEST = -(2**63)  # of Int64; a span reckons from one below its own lowest


@dataclass(frozen=True)
class SliceColumn:
    """A column that slices: its name in the report, its dictionary, and the type of its values.

    `dtypes` gives the type per side where the column exists; text of files without types has been given the
    other side's type, where that is known. `span`: the range of whole numbers, where metadata tell one that
    is narrow; they need no dictionary then, and cost a tenth.
    """

    name: str
    dtypes: Mapping[SideName, pl.DataType]
    dictionary: Dictionary = field(default_factory=Dictionary, compare=False)
    span: Span | None = None
    overlapping: ClassVar[bool] = False

    def encode(self, column: Column, side: SideName, *, where: str) -> tuple[pl.Expr, list[Check]]:
        """The code of each value of a side's column; `where` names the shard or batch in errors."""
        if column.kind == "null":
            return everywhere(column, NULL_CODE, pl.UInt32()), []
        dtype = self.dtypes[side]
        if not admits(dtype, column):
            expected = Column(self.name, dtype).type_name
            advice = "a column that slices holds one type"
            raise ChangedType(
                column.name, where=where, type_name=column.type_name, expected=expected, advice=advice
            )
        if self.span is not None:
            problem = (
                f"this slice value is outside {self.span.low} to {self.span.high}, all that the metadata of "
                "the files know of; write the files anew"
            )
            return self.span.encode(column.expr), [
                Check(self.span.outside(column.expr), column.read, problem)
            ]
        if self.dictionary.own is not None:
            return self.dictionary.encode(column.expr), []
        text, checks = spell(column, dtype)
        return self.dictionary.encode(text), checks

    def decode(self, codes: pl.Series, side: SideName) -> pl.Series:
        """The value of each UInt32 code, in the type of a side."""
        if self.span is not None:
            return self.span.decode(codes).cast(self.dtypes[side])
        return unspell(self.dictionary.decode(codes), self.dtypes[side])

    values = decode


class Coded(Protocol):
    """A column that slices, whichever way: values to codes of UInt32, 0 for null, and back."""

    @property
    def name(self) -> str:
        """What the report calls it."""
        ...

    @property
    def overlapping(self) -> bool:
        """Whether one row may be in several slices. `decode` gives lists then, none of them empty."""
        ...

    def encode(self, column: Column, side: SideName, *, where: str) -> tuple[pl.Expr, list[Check]]:
        """The code of each value of a side's column; `where` names the shard or batch in errors."""
        ...

    def decode(self, codes: pl.Series, side: SideName) -> pl.Series:
        """The slice of each UInt32 code, in the type of a side."""
        ...

    def values(self, codes: pl.Series, side: SideName) -> pl.Series:
        """What stood in the log; where a slice is a value, that."""
        ...


class FamilyCodec:
    """The codes of one family: of its only column, or of the combinations that occur of several."""

    def __init__(self, columns: Sequence[Coded], side: SideName = "a") -> None:
        """`side`: whose types the values keep; a wherever a carries the family."""
        self.columns = tuple(columns)
        self._side = side
        self._crossed = Crossing(len(self.columns)) if len(self.columns) > 1 else None

    @property
    def overlapping(self) -> tuple[str, ...]:
        """The columns of `decode` that hold lists: a row is in the slice of each value."""
        return tuple(SLICE_PREFIX + column.name for column in self.columns if column.overlapping)

    def encode(self, codes: Sequence[pl.Expr]) -> pl.Expr:
        """The family's UInt32 code, from the codes of its columns."""
        if self._crossed is None:
            return codes[0]
        return self._crossed.encode(codes)

    def values(self, codes: pl.Series) -> pl.Series:
        """The values of the family's only column, lists as such."""
        (column,) = self.columns
        return column.values(codes, self._side)

    def decode(self, codes: npt.NDArray[np.integer[Any]] | Sequence[int]) -> pl.DataFrame:
        """One row per code; a column `slice.<name>` per column of the family, in that column's own type."""
        wanted = pl.Series(np.asarray(codes, dtype=np.uint32))
        parts = [wanted] if self._crossed is None else self._crossed.decode(wanted)
        return pl.DataFrame(
            [
                column.decode(part, self._side).alias(SLICE_PREFIX + column.name)
                for column, part in zip(self.columns, parts, strict=True)
            ]
        )


def decide_slice(
    name: str, seen: Mapping[SideName, Seen], spans: Sequence[tuple[int, int] | None] = ()
) -> SliceColumn:
    """The column's type per side that has it. Shards of one log that disagree in kind are an error.

    `spans`: the range on each of those sides by metadata, where the column holds whole numbers.
    """
    own = {side: _one_type(name, columns) for side, columns in seen.items()}
    typed = [dtype for dtype, untyped in own.values() if not untyped and dtype != pl.Null]
    dtypes: dict[SideName, pl.DataType] = {}
    for side, (dtype, untyped) in own.items():
        adopted = untyped and typed and _spellable(typed[0])
        dtypes[side] = _roomy(typed[0]) if adopted or (dtype == pl.Null and typed) else dtype
    if len(dtypes) == 2:
        dtypes = _unify(dtypes)
    return SliceColumn(
        name,
        {side: pl.String() if dtype == pl.Null else dtype for side, dtype in dtypes.items()},
        Dictionary(_own_dictionary(seen)),
        _span(spans),
    )


def whole_numbers(seen: Mapping[SideName, Seen]) -> bool:
    """Whether all columns hold integers that fit Int64."""
    columns = [column for columns in seen.values() for _, column in columns]
    return bool(columns) and all(isinstance(column.dtype, SMALL_INTS) for column in columns)


def _span(spans: Sequence[tuple[int, int] | None]) -> Span | None:
    """The range of a column of whole numbers, where it is known and narrow."""
    known = [span for span in spans if span is not None]
    if not known or len(known) < len(spans):
        return None
    low, high = min(low for low, _ in known), max(high for _, high in known)
    return Span(low, high) if 0 <= high - low < _WIDEST_SPAN and low > _LOWEST else None


def _own_dictionary(seen: Mapping[SideName, Seen]) -> pl.Categorical | pl.Enum | None:
    """The dictionary type that every file of both sides has, if there is one."""
    dtypes = [column.dtype for columns in seen.values() for _, column in columns]
    first = dtypes[0] if dtypes else None  # a column of nothing but nulls has no type
    if isinstance(first, pl.Categorical | pl.Enum) and all(dtype == first for dtype in dtypes):
        return first
    return None


def admits(dtype: pl.DataType, column: Column) -> bool:
    """Whether values of `column` can enter a dictionary of type `dtype`."""
    wanted = kind_of(dtype)
    if column.kind == wanted or (column.kind == UNTYPED and (wanted == "text" or _spellable(dtype))):
        return True
    return column.kind in NUMBERS and (wanted == "float" or {column.kind, wanted} == {"int", "decimal"})


def spell(column: Column, dtype: pl.DataType) -> tuple[pl.Expr, list[Check]]:
    """The text under which values of `column` enter the dictionary of a `dtype` column. NaN is null."""
    value = column.expr
    if dtype.is_integer():
        if column.kind != UNTYPED:
            return value.cast(pl.String), _fits(column, dtype)
        number = value.cast(pl.Int128, strict=False).cast(dtype, strict=False)
        return _parsed(column, number.cast(pl.String), dtype)
    if dtype.is_float():
        number = value.cast(pl.Float64, strict=column.kind != UNTYPED)
        number = unsigned_zero(number.cast(dtype).cast(pl.Float64))
        text = pl.when(number.is_nan()).then(None).otherwise(number.cast(pl.String))
        return _parsed(column, text, dtype) if column.kind == UNTYPED else (text, [])
    if dtype == pl.Boolean and column.kind == UNTYPED:
        word = value.str.to_lowercase()
        return _parsed(column, pl.when(word.is_in(["true", "false"])).then(word), dtype)
    if dtype == pl.Binary:
        return value.bin.encode("hex"), []
    if column.kind == UNTYPED and readable(dtype):
        value = from_text(value, dtype)
    if dtype.is_temporal():
        zoned = isinstance(dtype, pl.Datetime) and dtype.time_zone is not None
        moved = value.dt.convert_time_zone("UTC") if zoned else value
        text = pl.concat_str(pl.lit(_TAGS[kind_of(dtype)]), moved.cast(dtype).to_physical().cast(pl.String))
    elif dtype.is_decimal():
        text = value.cast(dtype).cast(pl.String)
    else:
        return value.cast(pl.String), []
    return _parsed(column, text, dtype) if column.kind == UNTYPED else (text, [])


def unspell(texts: pl.Series, dtype: pl.DataType) -> pl.Series:
    """The inverse of `spell`."""
    if dtype == pl.String:
        return texts
    if dtype == pl.Boolean:
        return texts == "true"
    if dtype == pl.Binary:
        return texts.str.decode("hex")
    if dtype.is_temporal():
        physical = pl.Int32 if dtype == pl.Date else pl.Int64
        return texts.str.slice(1).cast(physical, strict=False).cast(dtype)
    # Not strict: the other side's values may be of another kind; they are in the dictionary, never decoded.
    return (
        texts.cast(pl.Float64, strict=False).cast(dtype)
        if dtype.is_float()
        else texts.cast(dtype, strict=False)
    )


def _parsed(column: Column, text: pl.Expr, dtype: pl.DataType) -> tuple[pl.Expr, list[Check]]:
    nan = column.expr.cast(pl.Float64, strict=False).is_nan().fill_null(value=False)
    bad = text.is_null() & column.expr.is_not_null() & (~nan if dtype.is_float() else pl.lit(value=True))
    problem = f"this slice value is not {dtype}, which the column is in the other log; store one type in both"
    return text, [Check(bad, column.read, problem)]


def _fits(column: Column, dtype: pl.DataType) -> list[Check]:
    """Integers wider than was known when the type was decided (NDJSON) must fit, or could not be shown."""
    if common_type([column.dtype, dtype]) == dtype:
        return []
    bad = column.expr.is_not_null() & column.expr.cast(dtype, strict=False).is_null()
    return [Check(bad, column.read, f"this slice value does not fit {dtype}, as those before it do")]


def _roomy(dtype: pl.DataType) -> pl.DataType:
    """The type that values not seen yet are given if the other log has `dtype`."""
    return pl.Int64() if isinstance(dtype, SMALL_INTS) else dtype


def _spellable(dtype: pl.DataType) -> bool:
    """Types whose values text without a type can spell."""
    return dtype.is_integer() or dtype.is_float() or dtype == pl.Boolean or readable(dtype)


def _one_type(name: str, seen: Seen) -> tuple[pl.DataType, bool]:
    """The type of a column over the shards of one log, and whether all of them are untyped text."""
    if not seen:
        return pl.Null(), False
    where, first = seen[0]
    for other_where, other in seen:
        if other.kind == "other":
            raise UnusableType(
                f"the slice column {name!r}",
                where=other_where,
                type_name=other.type_name,
                advice="a slice is a single value, or a list of single values; name a field of an object: "
                f"--by {name}.field",
            )
        if not (
            first.kind == other.kind
            or {first.kind, other.kind} <= NUMBERS
            or {first.kind, other.kind} <= TEXTS
        ):
            raise TypeConflict(
                f"the slice column {name!r} has different types in one log",
                f"{first.type_name} in {where}",
                f"{other.type_name} in {other_where}",
                "store one type in all files",
            )
    return common_type([column.dtype for _, column in seen]), all(
        column.kind == UNTYPED for _, column in seen
    )


def common_type(dtypes: Sequence[pl.DataType]) -> pl.DataType:
    """The narrowest of our types that holds values of all `dtypes`, which are of one kind."""
    first = dtypes[0]
    if all(dtype == first for dtype in dtypes):
        return pl.String() if isinstance(first, (pl.Categorical, pl.Enum)) else first
    if all(dtype.is_integer() for dtype in dtypes):
        if all(isinstance(dtype, SMALL_INTS) for dtype in dtypes):
            return pl.Int64()
        return pl.UInt64() if all(isinstance(dtype, UNSIGNED) for dtype in dtypes) else pl.Int128()
    if any(dtype.is_float() for dtype in dtypes):
        return pl.Float64()
    if any(dtype.is_decimal() for dtype in dtypes):
        scale = max(dtype.scale for dtype in dtypes if isinstance(dtype, pl.Decimal))
        return pl.Decimal(DECIMAL_DIGITS, scale)
    return finest(dtypes) or pl.String()


def _unify(dtypes: dict[SideName, pl.DataType]) -> dict[SideName, pl.DataType]:
    """One type for both sides where their kinds agree; else each keeps its own and they compare by text."""
    a, b = (Column("", dtype).kind for dtype in dtypes.values())
    if a == b or {a, b} <= NUMBERS:
        common = common_type(list(dtypes.values()))
        return dict.fromkeys(dtypes, common)
    return dtypes
