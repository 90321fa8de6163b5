"""What tests of the canonical log share: opening two frames, and reading everything."""

from __future__ import annotations

from typing import Any

import polars as pl

from streamcmp.comparison import Comparison, LogRequest
from streamcmp.logs import open_pair
from streamcmp.logs.model import CanonicalLog, LogPair

SIDE_OPTIONS = ("correct", "prediction", "label", "score")


def request(source: Any, **options: Any) -> LogRequest:
    """One side's request; `columns` as in the command line."""
    return LogRequest(source, **options)


def opened(a: Any, b: Any, *, left: Any = None, right: Any = None, **options: Any) -> LogPair:
    """Open two sources. Outcome options go to both sides; `left` and `right` are one side's own options."""
    both = {name: options.pop(name) for name in SIDE_OPTIONS if name in options}
    return open_pair(
        Comparison(
            a=request(a, **{**both, **(left or {})}), b=request(b, **{**both, **(right or {})}), **options
        )
    )


def read(log: CanonicalLog, chunk_rows: int = 1000) -> pl.DataFrame:
    """All rows of a canonical log."""
    return pl.concat(list(log.batches(chunk_rows)))


def outcomes(log: CanonicalLog) -> list[int]:
    """All outcome codes."""
    return read(log)["outcome"].to_list()


def ids(log: CanonicalLog) -> list[Any]:
    """All canonical ids."""
    return read(log)["id"].to_list()
