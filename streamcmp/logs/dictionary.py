"""Text to small integers, in native code and consistently over batches, threads and both sides."""

from __future__ import annotations

import polars as pl

NULL_CODE = 0


class Dictionary:
    """Text to code and back. Code 0 is null; the others count up from 1 in order of appearance.

    It is a Polars Categories object of our own: casting text to it assigns codes in native code (14 to 28 ns
    a value, measured), the same code for the same text wherever and whenever. Polars forgets it as soon as no
    column of that type is alive, so one is kept. A column that has one dictionary in all files keeps that as
    `own`; its codes are there already and cost nothing.
    """

    def __init__(self, own: pl.Categorical | pl.Enum | None = None) -> None:
        self.own = own
        self._dtype = own if own is not None else pl.Categorical(pl.Categories.random())
        self._keep_alive = pl.Series([None], dtype=self._dtype)

    def encode(self, value: pl.Expr) -> pl.Expr:
        """The UInt32 code of each text, or of each value of the dictionary's own type."""
        known = value if self.own is not None else value.cast(self._dtype)
        return (known.to_physical().cast(pl.UInt32) + 1).fill_null(NULL_CODE)

    def texts(self) -> pl.Series:
        """The text of every code so far; null first."""
        found = self._dtype.categories
        known = (found if isinstance(found, pl.Series) else found.to_series()).cast(pl.String)
        return pl.concat([pl.Series(known.name, [None], dtype=pl.String), known])
