"""The model behind docs/scale.md: its tables are the page's, and its bytes are those of real runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import scale_check
from scripts.scale_model import (
    COSTS,
    ORDERS,
    Assumptions,
    Order,
    plan,
    processor_seconds,
    spilled_bytes,
    tables,
)

PAGE = Path(__file__).resolve().parent.parent / "docs" / "scale.md"


def test_the_page_shows_what_the_script_prints() -> None:
    assert tables(Assumptions(), [1, 16, 64, 256]) in PAGE.read_text(encoding="utf-8")
    for (ids, order), cost in COSTS.items():
        row = f"| {ids} | {order} | {cost.start:.2f} | {cost.skipped:.0f} | {cost.counted:.0f} |"
        assert row in PAGE.read_text(encoding="utf-8")


def test_more_shards_read_more_and_spill_less() -> None:
    given = Assumptions()
    for ids, order in COSTS:
        plans = [plan(ids, order, shards, given) for shards in (1, 2, 4)]
        assert [one.read for one in plans] == [4e12, 8e12, 16e12]
        assert [one.spilled * one.shards for one in plans] == [plans[0].spilled] * 3
        own = [plan(ids, order, shards, given, own_files=True) for shards in (1, 2, 4)]
        assert [one.read for one in own] == [4e12] * 3
        assert own[2].hours == pytest.approx(own[0].hours / 4, rel=1e-3)
    assert spilled_bytes("int", "any", 1e9, 4) == 4e9
    assert spilled_bytes("text", "any", 1e9, 4, held=1e9) == 5e9
    assert spilled_bytes("text", "same", 1e9, 4) == 0


def test_a_row_counts_for_every_shard_that_reads_it() -> None:
    cost = COSTS["int", "any"]
    whole = processor_seconds(cost, 1e6, 1) - cost.start
    halves = 2 * (processor_seconds(cost, 1e6, 2) - cost.start)
    own = 2 * (processor_seconds(cost, 1e6, 2, own_files=True) - cost.start)
    assert own == pytest.approx(whole)
    assert halves == pytest.approx(whole + 2e6 * cost.skipped / 1e9)


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ["int", "text"])
def test_bytes_are_those_of_real_runs(kind: str, order: Order, tmp_path: Path) -> None:
    """Counted by the system: they do not depend on what else the machine does."""
    rows = 1_500_000
    logs = scale_check.write_logs(tmp_path, rows, kind, order)
    *_, read, has_read, spilled, has_spilled = scale_check.volume(logs, (kind, order), rows, "0/1", tmp_path)
    assert float(has_read) == pytest.approx(float(read), rel=0.1, abs=1)
    assert float(has_spilled) == pytest.approx(float(spilled), rel=0.02, abs=0.3)
