"""Real model logs against counts and p-values worked out elsewhere (exact rationals, rounded once).

The logs are not part of the project; where they are absent these tests skip.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from streamcmp.analysis import Analysis
from streamcmp.comparison import Comparison, LogRequest, Policies
from streamcmp.engines.local import count
from streamcmp.resources import Resources, Strategy
from streamcmp.results import finalize
from tests.conftest import REFERENCE_DATA

PAIRS = sorted((REFERENCE_DATA / "pairs").glob("*")) if REFERENCE_DATA.is_dir() else []
pytestmark = pytest.mark.skipif(not PAIRS, reason="the reference logs are not beside this checkout")


@pytest.mark.parametrize("strategy", ["auto", "buckets"])
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("folder", PAIRS, ids=lambda path: path.name[:40])
def test_ledger_counts_and_p_values_are_those_expected(folder: Path, ending: str, strategy: Strategy) -> None:
    expected = json.loads((folder / "expected.json").read_text())
    comparison = Comparison(
        a=LogRequest(folder / f"left.{ending}"),
        b=LogRequest(folder / f"right.{ending}"),
        by=tuple((name,) for name in expected["slices"]),
        policies=Policies(),
    )
    tally = count(comparison, Resources(strategy=strategy)).tally

    ledger = tally.ledger
    assert ledger is not None
    assert (ledger.a.rows, ledger.b.rows) == (expected["left_rows"], expected["right_rows"])
    assert (ledger.a.unmatched, ledger.b.unmatched) == (expected["left_only"], expected["right_only"])
    assert ledger.a.matched == ledger.b.matched == expected["matched"]
    assert ledger.a.unscored == expected["matched_missing_outcome"]

    report = finalize(tally, Analysis(), ("left", "right"))
    wanted = {("overall", None): expected["overall"]} | {
        (family, value): counts
        for family, slices in expected["slices"].items()
        for value, counts in slices.items()
    }
    seen = set()
    for row in report.results.iter_rows(named=True):
        key = (row["family"], None if row["family"] == "overall" else str(row[f"slice.{row['family']}"]))
        seen.add(key)
        counts = wanted[key]
        assert (row["both_correct"], row["n_ab"], row["n_ba"], row["both_wrong"], row["n"]) == tuple(
            counts[name] for name in ("both_right", "n_ab", "n_ba", "both_wrong", "n")
        )
        assert math.isclose(row["p_exact"], counts["p_exact"], rel_tol=1e-13)
        mid_p = counts["p_midp_fagerland"] if counts["n_ab"] + counts["n_ba"] else 1.0
        assert math.isclose(row["p_mid"], mid_p, rel_tol=1e-13)
    assert seen == wanted.keys()
