"""Values as text spells them in files without types, read as the type that the other log gives them."""

from __future__ import annotations

import polars as pl

from streamcmp.logs.values import DECIMAL_DIGITS

_FINER = 12  # further digits that are looked at, so that 1.505 is not read as 1.50


def readable(dtype: pl.DataType) -> bool:
    """Whether `from_text` reads this type."""
    return isinstance(dtype, (pl.Date, pl.Time, pl.Datetime, pl.Decimal))


def from_text(text: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Dates and times as ISO 8601 writes them, decimals as digits; null where the text is none."""
    if isinstance(dtype, pl.Date):
        return text.str.to_date("%Y-%m-%d", strict=False)
    if isinstance(dtype, pl.Time):
        return text.str.to_time("%H:%M:%S%.f", strict=False)
    if isinstance(dtype, pl.Datetime):
        if dtype.time_zone is not None:
            moment = text.str.to_datetime("%+", time_unit=dtype.time_unit, time_zone="UTC", strict=False)
            return moment.dt.convert_time_zone(dtype.time_zone)
        plain = text.str.replace("T", " ", literal=True)
        return plain.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit=dtype.time_unit, strict=False)
    assert isinstance(dtype, pl.Decimal)
    number = text.cast(pl.Decimal(DECIMAL_DIGITS, dtype.scale), strict=False)
    finer = pl.Decimal(DECIMAL_DIGITS, min(DECIMAL_DIGITS, dtype.scale + _FINER))
    return pl.when(text.cast(finer, strict=False) == number.cast(finer, strict=False)).then(number)
