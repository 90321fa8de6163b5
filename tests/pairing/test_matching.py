"""One bucket: what sorting finds is what counting rows per id finds."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from streamcmp.pairing.matching import match

ROW = st.tuples(st.integers(0, 6), st.integers(0, 1), st.booleans())


@given(
    st.lists(ROW, max_size=30),
    st.lists(ROW, max_size=30),
    st.booleans(),
    st.sampled_from([0, 1, 8]),
    st.sampled_from(["low", "high", "same"]),
)
def test_every_row_has_the_fate_that_its_ids_counts_give(
    a: list[tuple[int, int, bool]],
    b: list[tuple[int, int, bool]],
    checked: bool,
    shared_bits: int,
    where: str,
) -> None:
    """Keys that differ only in bits that the packed sort drops included, and checks under equal keys."""
    rows = [*a, *b]
    keys = np.array([{"low": key, "high": key << 50, "same": 5}[where] for key, _, _ in rows], np.uint64)
    keys &= np.uint64(2 ** (64 - shared_bits) - 1)
    checks = (
        np.array([check + (10 * key if where == "same" else 0) for key, check, _ in rows], np.uint32)
        if checked
        else None
    )
    filtered = np.array([gone for *_, gone in rows], np.bool_)
    identity = list(
        zip(keys.tolist(), checks.tolist() if checks is not None else [0] * len(rows), strict=True)
    )
    kept: list[Counter[tuple[int, int]]] = [Counter(), Counter()]
    gone: list[Counter[tuple[int, int]]] = [Counter(), Counter()]
    for row, one in enumerate(identity):
        (gone if filtered[row] else kept)[row >= len(a)][one] += 1

    def fate(row: int) -> str:
        one, b_side = identity[row], row >= len(a)
        if filtered[row]:
            return "filtered"
        if kept[0][one] == kept[1][one] == 1:
            return "pair"
        if not kept[not b_side][one] and gone[not b_side][one]:
            return "filtered"
        return "duplicate" if max(kept[0][one], kept[1][one]) > 1 else "unmatched"

    found = match(keys, checks, filtered, len(a), shared_bits)

    got = {int(row): name for name in ("filtered", "duplicate", "unmatched") for row in getattr(found, name)}
    got |= {int(row): "pair" for row in (*found.pair_a, *found.pair_b)}
    assert got == {row: fate(row) for row in range(len(rows))}
    for left, right in zip(found.pair_a, found.pair_b, strict=True):
        assert left < len(a) <= right
        assert identity[left] == identity[right]


def test_case_11_many_to_many_forms_no_pairs() -> None:
    keys = np.full(2000, 7, np.uint64)
    found = match(keys, None, None, 1000, 0)
    assert len(found.pair_a) == 0
    assert len(found.duplicate) == 2000
