"""Agreement with scipy and statsmodels, where those are right."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamcmp import stats

scipy_stats = pytest.importorskip("scipy.stats")
multitest = pytest.importorskip("statsmodels.stats.multitest")


@settings(max_examples=20)
@given(st.lists(st.floats(1e-300, 1), min_size=1, max_size=60).map(np.array))
def test_adjusted_p_agrees_with_statsmodels(p: np.ndarray) -> None:
    names: dict[stats.Adjustment, str] = {
        "bonferroni": "bonferroni",
        "holm": "holm",
        "hochberg": "simes-hochberg",
        "bh": "fdr_bh",
        "by": "fdr_by",
    }
    for ours, theirs in names.items():
        adjusted = stats.adjust_tails(stats.TailP(p, np.log10(p)), ours)
        np.testing.assert_allclose(adjusted.p, multitest.multipletests(p, method=theirs)[1], rtol=1e-12)


@given(st.integers(1, 1000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_exact_agrees_with_scipy(wins: tuple[int, int]) -> None:
    won, n = wins
    names: dict[stats.Alternative, str] = {"two-sided": "two-sided", "better": "greater", "worse": "less"}
    for ours, theirs in names.items():
        truth = scipy_stats.binomtest(won, n, alternative=theirs).pvalue
        assert stats.exact(n - won, won, ours).p[0] == pytest.approx(truth, rel=1e-10)


@given(st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)).filter(lambda pair: sum(pair) > 0))
def test_chi2_agrees_with_scipy(pair: tuple[int, int]) -> None:
    for statistic, p_value in (
        (stats.chi2_statistic, stats.chi2),
        (stats.chi2_corrected_statistic, stats.chi2_corrected),
    ):
        truth = float(scipy_stats.chi2.sf(statistic(*pair)[0], 1))
        assert p_value(*pair).p[0] == pytest.approx(max(truth, stats.SMALLEST_P), rel=1e-11)
