"""What sort of value a column holds, and the canonical form in which values of one sort are compared.

Everything here is pure: from names and dtypes to one expression. Ids, labels, guards and slices share these
forms, so that "equal" means the same thing wherever values meet.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

import polars as pl
from polars.selectors import by_name

Kind = Literal[
    "int", "float", "decimal", "text", "untyped", "bool", "date", "datetime", "zoned datetime", "time",
    "binary", "null", "other",
]  # fmt: skip
NUMBERS: frozenset[Kind] = frozenset({"int", "float", "decimal"})
TEXTS: frozenset[Kind] = frozenset({"text", "untyped"})
# Kinds that only ever meet their own kind, and then compare by one text form.
PLAIN: frozenset[Kind] = frozenset({"bool", "date", "datetime", "zoned datetime", "time", "binary"})

SMALL_INTS = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)  # those that fit Int64
UNSIGNED = (pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
UNITS = ("ms", "us", "ns")
DECIMAL_DIGITS = 38


@dataclass(frozen=True, slots=True)
class Check:
    """A condition that no row may meet (filtered rows excepted), and what to say when one does.

    `columns` are shown with their values; `problem` follows them.
    """

    bad: pl.Expr
    columns: tuple[str, ...]
    problem: str


@dataclass(frozen=True, slots=True)
class Column:
    """A column as one shard types it. `untyped`: the file has no types, so that text may mean anything.

    `made`: how the values are made of other columns, and their names, where they are not read.
    """

    name: str
    dtype: pl.DataType
    untyped: bool = False
    made: tuple[pl.Expr, tuple[str, ...]] | None = field(default=None, compare=False, repr=False)

    @property
    def kind(self) -> Kind:
        """The sort of its values."""
        return "untyped" if self.untyped and self.dtype == pl.String else kind_of(self.dtype)

    @property
    def expr(self) -> pl.Expr:
        """The raw values. Not `pl.col`, which takes the names `*` and `^...$` for patterns."""
        return by_name(self.name).as_expr() if self.made is None else self.made[0]

    @property
    def read(self) -> tuple[str, ...]:
        """The columns of the log that are behind it: what messages about a value show."""
        return (self.name,) if self.made is None else self.made[1]

    @property
    def type_name(self) -> str:
        """The type in words, for messages."""
        if self.kind == "untyped":
            return "text without a type"
        return str(self.dtype) if self.kind == "other" else f"{IN_WORDS[self.kind]} ({self.dtype})"


IN_WORDS: dict[Kind, str] = {
    "int": "integer", "float": "float", "decimal": "decimal", "text": "text", "untyped": "text",
    "bool": "boolean", "date": "date", "datetime": "datetime", "zoned datetime": "datetime with zone",
    "time": "time", "binary": "binary", "null": "null", "other": "nested",
}  # fmt: skip


def kind_of(dtype: pl.DataType) -> Kind:
    """The sort of values a dtype holds. Dictionary, categorical and every string type are text."""
    if dtype.is_integer():
        return "int"
    if dtype.is_float():
        return "float"
    if isinstance(dtype, pl.Datetime):
        return "datetime" if dtype.time_zone is None else "zoned datetime"
    kinds: tuple[tuple[type[pl.DataType] | tuple[type[pl.DataType], ...], Kind], ...] = (
        ((pl.String, pl.Categorical, pl.Enum), "text"),
        (pl.Boolean, "bool"),
        (pl.Decimal, "decimal"),
        (pl.Date, "date"),
        (pl.Time, "time"),
        (pl.Binary, "binary"),
        (pl.Null, "null"),
    )
    return next((kind for types, kind in kinds if isinstance(dtype, types)), "other")


def finest(dtypes: Iterable[pl.DataType]) -> pl.DataType | None:
    """The Datetime type of the finest unit among `dtypes`, in UTC where they have zones; None without one."""
    stamps = [dtype for dtype in dtypes if isinstance(dtype, pl.Datetime)]
    if not stamps:
        return None
    unit = max((stamp.time_unit for stamp in stamps), key=UNITS.index)
    return pl.Datetime(unit, "UTC" if stamps[0].time_zone is not None else None)


def narrowest(dtypes: Iterable[pl.DataType]) -> pl.DataType:
    """The float type of the fewest bits."""
    return min(dtypes, key=lambda dtype: int(str(dtype).removeprefix("Float")))


def plain_text(column: Column, stamp: pl.DataType | None = None) -> pl.Expr:
    """The text of a value of kind text or of a PLAIN kind; datetimes in the unit (and zone) of `stamp`."""
    if column.kind == "binary":
        return column.expr.bin.encode("hex")
    if isinstance(stamp, pl.Datetime) and column.kind in {"datetime", "zoned datetime"}:
        moved = column.expr if stamp.time_zone is None else column.expr.dt.convert_time_zone(stamp.time_zone)
        return moved.cast(stamp).cast(pl.String)
    return column.expr.cast(pl.String)


def declared_text(column: Column, stamp: pl.DataType | None = None) -> pl.Expr:
    """The text of any single value, where the user declares that text is meant. Bytes are read as UTF-8."""
    return column.expr.cast(pl.String) if column.kind == "binary" else plain_text(column, stamp)


def decimal_text(column: Column) -> pl.Expr:
    """The shortest digits of an integer or decimal: equal exactly where the numbers are, at any width."""
    digits = column.expr.cast(pl.String)
    if not (isinstance(column.dtype, pl.Decimal) and column.dtype.scale):
        return digits
    return digits.str.strip_chars_end("0").str.strip_chars_end(".")


def missing(column: Column) -> pl.Expr:
    """Whether a value is null or NaN."""
    null = column.expr.is_null()
    return null | column.expr.is_nan().fill_null(value=False) if column.kind == "float" else null


def unsigned_zero(number: pl.Expr) -> pl.Expr:
    """-0.0 as 0.0. Adding 0.0 would do, but Polars optimises that away."""
    return pl.when(number == 0).then(pl.lit(0.0, pl.Float64)).otherwise(number)


def everywhere(column: Column, value: object, dtype: pl.DataType) -> pl.Expr:
    """One value in every row of the column. A bare literal would make a batch of literals one row high."""
    literal = pl.lit(value, dtype)
    return pl.when(column.expr.is_null()).then(literal).otherwise(literal)


def integral(column: Column) -> pl.Expr:
    """Whether a float or decimal is a whole number that its type represents exactly. Null for null."""
    if column.kind == "decimal":
        whole = column.expr.cast(pl.Int128, strict=False)
        return whole.cast(column.dtype, strict=False).eq(column.expr)
    digits = 53 if column.dtype == pl.Float64 else 24 if column.dtype == pl.Float32 else 11
    return (column.expr.floor() == column.expr) & (column.expr.abs() < 2.0**digits)


@dataclass(frozen=True, slots=True)
class Number:
    """A number in two forms: exact, where it is an integer, and as Float64. Both null where it is none."""

    exact: pl.Expr
    float: pl.Expr

    @classmethod
    def of(cls, column: Column) -> Number:
        """The numbers of a column of a numeric kind, or those that its text spells."""
        if column.kind == "int":
            # The few integers above 2^127 have no exact form here; their Float64 form stands.
            return cls(column.expr.cast(pl.Int128, strict=False), column.expr.cast(pl.Float64))
        if column.kind in TEXTS:
            text = column.expr.cast(pl.String).str.strip_chars()
            return cls(text.cast(pl.Int128, strict=False), text.cast(pl.Float64, strict=False))
        return cls(pl.lit(None, pl.Int128), column.expr.cast(pl.Float64))

    def is_number(self) -> pl.Expr:
        """Whether there is a number, NaN excepted."""
        return self.float.is_not_nan().fill_null(value=False)

    def equals(self, other: Number) -> pl.Expr:
        """Numeric equality, exact: an integer equals a float only if the float is that very integer."""
        same = self.float == other.float
        return (
            pl.when(self.exact.is_not_null() & other.exact.is_not_null())
            .then(self.exact == other.exact)
            .when(self.exact.is_not_null())
            .then(same & (other.float.cast(pl.Int128, strict=False) == self.exact).fill_null(value=False))
            .when(other.exact.is_not_null())
            .then(same & (self.float.cast(pl.Int128, strict=False) == other.exact).fill_null(value=False))
            .otherwise(same)
        )
