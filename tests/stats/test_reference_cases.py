"""Every quantity of the 62 reference tables, within the tolerances their file demands."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pytest

from streamcmp import stats
from tests.stats import oracle

P_TOLERANCE = LOG_TOLERANCE = 1e-12

N_AB, N_BA, N = oracle.column("n_ab"), oracle.column("n_ba"), oracle.column("N")
BOTH_CORRECT, BOTH_WRONG = oracle.column("n11"), oracle.column("n00")


@pytest.mark.parametrize(
    ("name", "function", "alternative"),
    [
        ("exact", stats.exact, "two-sided"),
        ("exact_b_better", stats.exact, "better"),
        ("exact_a_better", stats.exact, "worse"),
        ("midp", stats.mid_p, "two-sided"),
        ("midp_b_better", stats.mid_p, "better"),
        ("midp_a_better", stats.mid_p, "worse"),
        ("chi2", stats.chi2, "two-sided"),
        ("z_b_better", stats.chi2, "better"),
        ("z_a_better", stats.chi2, "worse"),
        ("chi2_cc", stats.chi2_corrected, "two-sided"),
    ],
)
def test_p_values(name: str, function: Callable[..., stats.TailP], alternative: stats.Alternative) -> None:
    p, log10_p = function(N_AB, N_BA, alternative)
    assert oracle.off_relative(p, f"p_{name}") < P_TOLERANCE
    assert oracle.off_log(log10_p, f"log10_p_{name}") < LOG_TOLERANCE


@pytest.mark.parametrize(
    ("name", "function"), [("chi2", stats.chi2_statistic), ("chi2_cc", stats.chi2_corrected_statistic)]
)
def test_statistics(name: str, function: Callable[..., np.ndarray[tuple[int], np.dtype[np.float64]]]) -> None:
    assert oracle.off_relative(function(N_AB, N_BA), name) < 1e-15


def test_z() -> None:
    z = np.sign(N_BA - N_AB) * np.sqrt(stats.chi2_statistic(N_AB, N_BA))
    assert oracle.off_relative(z + 0.0, "z") < 1e-15


def test_gain() -> None:
    assert oracle.off_relative(stats.gain(N_AB, N_BA, N), "gain") < 1e-15


@pytest.mark.parametrize("percent", [90, 95, 99])
@pytest.mark.parametrize("name", stats.INTERVALS)
def test_gain_intervals(name: str, percent: int) -> None:
    interval = stats.INTERVALS[name](stats.Cells(N_AB, N_BA, N, BOTH_CORRECT), percent / 100)
    quantity = f"gain_{name.replace('-', '_')}_{percent}"
    truths = zip(oracle.expected(f"{quantity}_lo"), oracle.expected(f"{quantity}_hi"), strict=True)
    for low, high, (low_truth, high_truth) in zip(*map(np.ndarray.tolist, interval), truths, strict=True):
        if low_truth is None or high_truth is None:
            continue
        if low_truth.is_nan():
            assert np.isnan([low, high]).all()
            continue
        tolerance = Decimal("1e-12") * (high_truth - low_truth) + Decimal("4e-16")
        assert abs(Decimal(low) - low_truth) <= tolerance
        assert abs(Decimal(high) - high_truth) <= tolerance


@pytest.mark.parametrize("percent", [90, 95, 99])
@pytest.mark.parametrize("side", ["a", "b"])
def test_accuracy_intervals(side: str, percent: int) -> None:
    correct = BOTH_CORRECT + (N_AB if side == "a" else N_BA)
    low, high = stats.wilson(correct, N, percent / 100)
    assert oracle.off_relative(low, f"acc_{side}_wilson_{percent}_lo") < 1e-12
    assert oracle.off_relative(high, f"acc_{side}_wilson_{percent}_hi") < 1e-12


def test_newcombe_takes_four_cells_too() -> None:
    cells = stats.INTERVALS["newcombe"](stats.Cells(N_AB, N_BA, N, BOTH_CORRECT), 0.95)
    direct = stats.newcombe(BOTH_CORRECT, N_AB, N_BA, BOTH_WRONG, 0.95)
    np.testing.assert_array_equal(cells.low, direct.low)
    np.testing.assert_array_equal(cells.high, direct.high)


@pytest.mark.parametrize("method", ["bonferroni", "holm", "hochberg", "bh", "by"])
@pytest.mark.parametrize("family", range(len(oracle.document()["adjust"])))
def test_adjusted_p(method: stats.Adjustment, family: int) -> None:
    section = oracle.document()["adjust"][family]
    logs = np.array([_log10(text) for text in section["p"]])
    adjusted = stats.adjust(logs, method)
    truth = np.array([_log10(text) for text in section[method]])
    np.testing.assert_allclose(adjusted, truth, rtol=1e-14, atol=1e-15)


def _log10(text: str) -> float:
    number = Decimal(text)
    if number.is_nan():
        return float("nan")
    return float(number.log10()) if number else float("-inf")
