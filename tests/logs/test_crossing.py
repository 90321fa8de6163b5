from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl
import pytest

from streamcmp.logs import crossing
from streamcmp.logs.crossing import Crossing


def codes_of(crossed: Crossing, frame: pl.DataFrame) -> pl.Series:
    """The codes of a frame's rows."""
    return frame.select(crossed.encode([pl.col(name) for name in frame.columns]).alias("code"))["code"]


def random_codes(width: int, highest: int, rows: int = 2000) -> pl.DataFrame:
    """Random column codes."""
    draw = np.random.default_rng(highest + width)
    return pl.DataFrame(
        {f"c{n}": draw.integers(0, highest + 1, rows).astype(np.uint32) for n in range(width)}
    )


@pytest.mark.parametrize("table_bits", [24, 12, 4])
@pytest.mark.parametrize("width", [2, 3])
def test_codes_mean_their_combination_while_columns_grow(
    monkeypatch: pytest.MonkeyPatch, table_bits: int, width: int
) -> None:
    monkeypatch.setattr(crossing, "TABLE_BITS", table_bits)
    crossed = Crossing(width)
    seen: dict[int, tuple[int, ...]] = {}
    for highest in (0, 1, 3, 2, 60, 7, 5000, 1):
        frame = random_codes(width, highest)
        codes = codes_of(crossed, frame)
        assert codes.dtype == pl.UInt32
        for code, row in zip(codes.to_list(), frame.rows(), strict=True):
            assert seen.setdefault(code, row) == row
    assert sorted(seen) == list(range(1, len(seen) + 1))
    assert len(set(seen.values())) == len(seen)
    decoded = crossed.decode(pl.Series(list(seen), dtype=pl.UInt32))
    assert list(zip(*(part.to_list() for part in decoded), strict=True)) == list(seen.values())


def test_threads_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crossing, "TABLE_BITS", 14)
    crossed = Crossing(2)
    frames = [random_codes(2, highest) for highest in (3, 30, 90, 100, 200, 300)] * 4
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda frame: codes_of(crossed, frame), frames))
    for frame, codes in zip(frames, made, strict=True):
        assert codes_of(crossed, frame).equals(codes)
        assert [part.to_list() for part in crossed.decode(codes)] == [
            frame[name].to_list() for name in frame.columns
        ]


def test_no_rows() -> None:
    crossed = Crossing(2)
    assert codes_of(crossed, random_codes(2, 3, rows=0)).len() == 0
    assert [part.len() for part in crossed.decode(pl.Series([], dtype=pl.UInt32))] == [0, 0]
