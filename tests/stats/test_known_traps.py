"""Inputs that other programs get wrong, by the number of their row in the list of cases."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from streamcmp import stats


def test_case_01_a_file_against_itself() -> None:
    for function in (stats.exact, stats.mid_p, stats.chi2, stats.chi2_corrected):
        p, log10_p = function(0, 0)
        assert (p[0], log10_p[0]) == (1.0, 0.0)
    assert stats.gain(0, 0, 1000)[0] == 0.0
    low, high = stats.tango(0, 0, 1000)
    assert low[0] == -high[0] < 0


def test_case_02_a_tie() -> None:
    assert stats.exact(5, 5).p[0] == 1.0
    assert stats.mid_p(5, 5).p[0] == 0.876953125
    assert stats.chi2_corrected(5, 5).p[0] == 1.0
    assert stats.chi2_corrected_statistic(5, 5)[0] == 0.0


def test_case_03_underflow() -> None:
    p, log10_p = stats.exact(0, 2000)
    assert p[0] == stats.SMALLEST_P
    assert log10_p[0] == pytest.approx(-601.758961, abs=5e-7)
    for function in (stats.mid_p, stats.chi2, stats.chi2_corrected):
        p, log10_p = function(0, 10**12)
        assert p[0] == stats.SMALLEST_P
        assert -1e12 < log10_p[0] < -1e11


def test_case_04_small_n() -> None:
    p = stats.exact([1, 0, 11, 5, 6], [0, 10, 1, 3, 16]).p
    assert p[:4].tolist() == [1.0, 0.001953125, 0.00634765625, 0.7265625]
    assert p[4] == pytest.approx(0.0524787902832, abs=5e-14)
    assert stats.mid_p(6, 16).p[0] == pytest.approx(0.0346896648407, abs=5e-14)


def test_case_05_huge_n() -> None:
    assert stats.exact(50_000_000, 50_010_000).p[0] == pytest.approx(0.3173831002899, abs=5e-14)


def test_case_06_one_side_always_correct() -> None:
    """A never wrong: 40 pairs lost, none won."""
    assert stats.exact(40, 0).p[0] == pytest.approx(2.0**-39, rel=1e-15)
    low, high = stats.newcombe(60, 40, 0, 0)
    assert -1 < low[0] < -0.4 < high[0] < 0


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint32, np.int32, np.uint64, np.int64])
def test_narrow_and_unsigned_counts_do_not_wrap(dtype: type[np.integer]) -> None:
    lost, won, n = (np.array([value], dtype) for value in (100, 20, 120))
    assert stats.exact(lost, won).p[0] == stats.exact(100, 20).p[0] < 1e-10
    assert stats.chi2_statistic(lost, won)[0] == pytest.approx(6400 / 120, rel=1e-15)
    assert stats.gain(lost, won, n)[0] == -80 / 120
    assert stats.tango(lost, won, n).high[0] < 0
    assert stats.wilson(won, n).low[0] == stats.wilson(20, 120).low[0]


def test_counts_past_32_bits() -> None:
    half = np.array([2**40], np.int64)
    assert stats.exact(half, half + 2**21).p[0] == pytest.approx(
        stats.chi2_corrected(half, half + 2**21).p[0], rel=1e-5
    )


def test_the_statistics_need_no_scipy() -> None:
    """It would double the time until the first result."""
    code = "stats.exact(3, 2000); stats.chi2(3, 9); stats.tango(3, 9, 20); sys.exit('scipy' in sys.modules)"
    command = [sys.executable, "-c", f"import sys; from streamcmp import stats; {code}"]
    assert subprocess.run(command, check=False).returncode == 0
