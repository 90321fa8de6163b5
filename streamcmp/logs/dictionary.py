"""Text to small integers, in native code and consistently over batches, threads and both sides."""

from __future__ import annotations

import polars as pl

NULL_CODE = 0


class Dictionary:
    """Text to code and back. Code 0 is null; the others count up from 1 in order of appearance.

    It is a Polars Categories object of our own: casting text to it assigns codes in native code (20 million
    values in 0.2 to 0.4 s, measured), the same code for the same text wherever and whenever. Polars forgets
    it as soon as no column of that type is alive, so one is kept.
    """

    def __init__(self) -> None:
        self._categories = pl.Categories.random()
        self._dtype = pl.Categorical(self._categories)
        self._keep_alive = pl.Series([None], dtype=self._dtype)

    def encode(self, text: pl.Expr) -> pl.Expr:
        """The UInt32 code of each text."""
        return (text.cast(self._dtype).to_physical().cast(pl.UInt32) + 1).fill_null(NULL_CODE)

    def texts(self) -> pl.Series:
        """The text of every code so far; null first."""
        known = self._categories.to_series().cast(pl.String)
        return pl.concat([pl.Series(known.name, [None], dtype=pl.String), known])
