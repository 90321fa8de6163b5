"""Numbers and moments cut at edges: `length:bins(0,100)`, and quantiles once their edges are found.

Whatever the column's type, its values become 64-bit integers or floats (`measure`), and the edges numbers
of the same kind, so that a value is compared exactly with the edge that was written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from streamcmp.comparison import SideName
from streamcmp.errors import ChangedType, DataError, TypeConflict, UnusableType
from streamcmp.logs.derived import Source
from streamcmp.logs.dictionary import NULL_CODE
from streamcmp.logs.slices import Seen, common_type
from streamcmp.logs.text_values import from_text
from streamcmp.logs.values import (
    DECIMAL_DIGITS,
    NUMBERS,
    SMALL_INTS,
    Check,
    Column,
    everywhere,
    finest,
    unsigned_zero,
)
from streamcmp.slicing import Cut, Moment, edge_value, intervals, plain_number

_FEW = 16  # so many edges are compared one by one, which is quicker than a search (measured)
_PER_SECOND = {"ms": 10**3, "us": 10**6, "ns": 10**9}
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - naive, as edges are
_ADVICE = "it can be cut as a float: --by 'CAST({name} AS DOUBLE) AS {name}:{cut}'"


@dataclass(frozen=True)
class Measure:
    """Values as Int64, UInt64 or Float64, null for null and NaN. `dtype`: the type that they stand for."""

    expr: pl.Expr
    physical: pl.DataType
    dtype: pl.DataType
    checks: tuple[Check, ...] = ()


def measure(column: Column, cut: Cut, *, where: str, dtype: pl.DataType | None = None) -> Measure:
    """A column's values as numbers that can be compared with edges.

    Args:
        column: numbers, dates, datetimes (with a zone: in UTC), or text of a file without types.
        cut: for messages, and to know whether untyped text holds dates.
        where: names the shard in errors.
        dtype: the type to read the values in, of the column's own kind; None is its own.

    Raises:
        UnusableType: the column holds something else.
    """
    expr, own = column.expr, dtype or column.dtype
    if column.kind == "untyped":
        return _measured_text(column, cut)
    if own.is_float():
        number = unsigned_zero(expr.cast(pl.Float64)).fill_nan(None)
        return Measure(number, pl.Float64(), own)
    if isinstance(own, pl.Decimal):
        digits = expr.cast(pl.Decimal(DECIMAL_DIGITS, own.scale)).to_physical()
        return _narrow(digits, own, column, cut)
    if own.is_integer():
        if isinstance(column.dtype, SMALL_INTS):
            return Measure(expr.cast(pl.Int64), pl.Int64(), own)
        if isinstance(own, pl.UInt64):
            return Measure(expr.cast(pl.UInt64), pl.UInt64(), own)
        return _narrow(expr, own, column, cut)
    if isinstance(own, pl.Date | pl.Datetime):
        return Measure(expr.cast(own).to_physical().cast(pl.Int64), pl.Int64(), own)
    raise UnusableType(
        f"the slice column {column.name!r}",
        where=where,
        type_name=column.type_name,
        advice=f"{cut.kind} cuts numbers and dates; "
        + _ADVICE.format(name=column.name, cut=cut).replace("it can", "text that spells numbers can"),
    )


def _narrow(number: pl.Expr, dtype: pl.DataType, column: Column, cut: Cut) -> Measure:
    small = number.cast(pl.Int64, strict=False)
    problem = f"{cut.kind} cuts numbers of at most 64 bits; " + _ADVICE.format(name=column.name, cut=cut)
    return Measure(
        small, pl.Int64(), dtype, (Check(number.is_not_null() & small.is_null(), column.read, problem),)
    )


def _measured_text(column: Column, cut: Cut) -> Measure:
    """Text of a file without types: dates where the edges are dates, else 64-bit floats."""
    text = column.expr.str.strip_chars()
    if cut.kind == "bins" and isinstance(edge_value(cut.numbers[0]), Moment):
        stamp = pl.Datetime("us")
        moment = pl.coalesce(from_text(text, stamp), from_text(text, pl.Date()).cast(stamp))
        bad, what = column.expr.is_not_null() & moment.is_null(), "date such as 2024-01-31"
        read = Measure(moment.to_physical(), pl.Int64(), stamp)
    else:
        number = text.cast(pl.Float64, strict=False)
        bad, what = column.expr.is_not_null() & number.is_null(), "number"
        read = Measure(unsigned_zero(number).fill_nan(None), pl.Float64(), pl.Float64())
    problem = f"{cut.kind} cuts by size, and this slice value is no {what}"
    return Measure(read.expr, read.physical, read.dtype, (Check(bad, column.read, problem),))


def joint_type(name: str, seen: Seen) -> pl.DataType:
    """The type in which all values of a log's column can be compared with one another.

    Raises TypeConflict where some are numbers and others dates.
    """
    kinds = {column.kind for _, column in seen}
    if "untyped" in kinds:
        return pl.Float64()
    if len(kinds) > 1 and not kinds <= NUMBERS:
        first = seen[0]
        where, other = next((label, column) for label, column in seen if column.kind != first[1].kind)
        raise TypeConflict(
            f"the slice column {name!r} has different types in one log",
            f"{first[1].type_name} in {first[0]}",
            f"{other.type_name} in {where}",
            "store one type in all files",
        )
    dtypes = [column.dtype for _, column in seen]
    if all(isinstance(dtype, SMALL_INTS) for dtype in dtypes):
        return pl.Int64()
    if all(dtype.is_float() for dtype in dtypes):
        # In the widest type a number has other digits than those it was written with.
        return dtypes[0] if len(set(dtypes)) == 1 else pl.Float64()
    return finest(dtypes) or common_type(dtypes)


def edge_text(value: int | float, dtype: pl.DataType) -> str:
    """A value that `measure` gave, of a column of this type, as an edge is written."""
    if isinstance(dtype, pl.Decimal):
        return plain_number(str(Decimal(int(value)).scaleb(-dtype.scale)))
    if isinstance(dtype, pl.Date | pl.Datetime):
        return _moment_text(int(value), dtype)
    if isinstance(value, int):
        return str(value)
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    short = str(np.float32(value)) if isinstance(dtype, pl.Float32) else repr(float(value))
    return plain_number(short)


def _moment_text(value: int, dtype: pl.Date | pl.Datetime) -> str:
    unit = _PER_SECOND[dtype.time_unit] if isinstance(dtype, pl.Datetime) else 0
    seconds, rest = divmod(value, unit) if unit else (86_400 * value, 0)
    try:
        moment = _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        raise DataError("a date outside the years 1 to 9999 cannot be the edge of a slice") from None
    if isinstance(dtype, pl.Date):
        return moment.date().isoformat()
    return moment.isoformat() + (f".{rest:0{len(str(unit)) - 1}d}" if rest else "")


@dataclass
class CutColumn:
    """A column cut at edges. Codes count up from 1 with the slices; 0 is null.

    edges: as text, rising. Those of quantiles are found before the pass, and are none until then.
    """

    name: str
    cut: Cut
    edges: tuple[str, ...]
    overlapping: ClassVar[bool] = False

    def encode(self, column: Column, side: SideName, *, where: str) -> tuple[pl.Expr, list[Check]]:  # noqa: ARG002 - both sides are cut alike
        """The code of each value of a side's column; `where` names the shard or batch in errors."""
        if column.kind == "null":
            return everywhere(column, NULL_CODE, pl.UInt32()), []
        found = measure(column, self.cut, where=where)
        edges = self._numbers(found, column, where)
        codes = found.expr.map_batches(_counting(edges), return_dtype=pl.UInt32(), is_elementwise=True)
        return codes, list(found.checks)

    def decode(self, codes: pl.Series, side: SideName) -> pl.Series:  # noqa: ARG002 - as encode
        """The slice of each code, of an Enum in the order of the edges."""
        names = intervals(self.edges)
        texts = pl.Series([None, *names], dtype=pl.Enum(names))
        return texts.gather(codes)

    values = decode

    def _numbers(self, found: Measure, column: Column, where: str) -> npt.NDArray[Any]:
        """The edges as numbers to compare the column's with; those that none reaches are left out."""
        moments = isinstance(found.dtype, pl.Date | pl.Datetime)
        if self.edges and moments != isinstance(_value(self.edges[0]), Moment):
            raise UnusableType(
                f"the slice column {self.name!r}",
                where=where,
                type_name=column.type_name,
                advice=f"its edges are {'numbers' if moments else 'dates'}",
            )
        values = [_value(edge) for edge in self.edges]
        if isinstance(found.physical, pl.Float64):
            floats = [float(value) for value in values if isinstance(value, Decimal)]
            if isinstance(column.dtype, pl.Float32):
                floats = [float(np.float32(value)) for value in floats]
            return np.array(floats, np.float64)
        limits = np.iinfo(np.uint64 if isinstance(found.physical, pl.UInt64) else np.int64)
        whole = [_ceiling(value, found.dtype) for value in values]
        reached = [max(edge, int(limits.min)) for edge in whole if edge <= int(limits.max)]
        return np.array(reached, limits.dtype)


@dataclass(frozen=True)
class Quantiles:
    """A column whose edges are to be found, on the side whose values count."""

    column: CutColumn
    source: Source
    dtype: pl.DataType  # in which its values are compared
    seen: Seen

    def numbers(self, columns: Mapping[str, Column], where: str) -> Measure:
        """The values of a batch; ChangedType where they are of another kind than those seen before."""
        column = self.source.column(columns, where)
        if column.kind == "null":
            return Measure(pl.when(column.expr.is_null()).then(None), pl.Null(), self.dtype)
        kinds = {each.kind for _, each in self.seen}
        found = measure(column, self.column.cut, where=where, dtype=self._in(column))
        fits = column.kind in kinds or (column.kind in NUMBERS and self.dtype.is_float())
        if kinds and not fits:
            raise ChangedType(
                column.name,
                where=where,
                type_name=column.type_name,
                expected=self.seen[0][1].type_name,
                advice="a column that is cut holds one type",
            )
        return found

    def _in(self, column: Column) -> pl.DataType | None:
        """The type to read in: the joint one, but for text, which has its own."""
        return None if column.kind == "untyped" else self.dtype


def quantiles(column: CutColumn, source: Source, seen: Seen) -> Quantiles:
    """What is to be found. `seen`: the column as each shard of the log types it."""
    dtype = joint_type(column.name, seen) if seen else pl.Int64()
    return Quantiles(column, source, dtype, seen)


def _value(edge: str) -> Decimal | Moment:
    return Decimal(edge) if edge.endswith("inf") else edge_value(edge)


def _ceiling(value: Decimal | Moment, dtype: pl.DataType) -> int:
    """The smallest whole number, as `measure` gives them, that is not below an edge."""
    if isinstance(value, Moment):
        unit = 86_400 * 10**9
        if isinstance(dtype, pl.Datetime):
            unit = 10**9 // _PER_SECOND[dtype.time_unit]
        return -(-value.nanoseconds // unit)
    if value.is_infinite():
        return -(2**200) if value < 0 else 2**200
    scale = dtype.scale if isinstance(dtype, pl.Decimal) else 0
    numerator, denominator = value.as_integer_ratio()
    return -(-numerator * int(10**scale) // denominator)


def _counting(edges: npt.NDArray[Any]) -> Callable[[pl.Series], pl.Series]:
    """How many edges a value reaches, and one more; NULL_CODE for null.

    Nulls are seen to in here: within when/then Polars may hand a function nulls in place of what it was to be
    given, and numpy has integers with nulls as floats, which are not exact.
    """

    def few(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        codes = np.ones(len(numbers), np.uint8)
        for edge in edges:
            codes += numbers >= edge
        return codes.astype(np.uint32)

    def many(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return (np.searchsorted(edges, numbers, side="right") + 1).astype(np.uint32)

    count = few if len(edges) <= _FEW else many

    def codes_of(values: pl.Series) -> pl.Series:
        codes = count(values.fill_null(0).to_numpy())
        if values.null_count():
            codes[values.is_null().to_numpy()] = NULL_CODE
        return pl.Series(codes)

    return codes_of
