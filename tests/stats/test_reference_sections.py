"""The reference file on odds, anytime evidence, margins, heterogeneity, power and unpaired samples."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from streamcmp import stats
from tests.stats import oracle

N_AB, N_BA, N = oracle.column("n_ab"), oracle.column("n_ba"), oracle.column("N")
LN10 = math.log(10)


def off(ours: float, truth: str) -> float:
    """The relative error; of 0 the absolute one."""
    true = Decimal(truth)
    return float(abs(Decimal(ours) - true) / (abs(true) or 1))


def section(name: str) -> list[Any]:
    rows: list[Any] = oracle.document()[name]
    return rows


@pytest.mark.parametrize("percent", [90, 95, 99])
@pytest.mark.parametrize("method", stats.ODDS_INTERVALS)
def test_odds_intervals(method: stats.OddsInterval, percent: int) -> None:
    name = {"clopper-pearson": "exact", "mid-p": "midp", "wilson": "wilson"}[method]
    low, high = stats.odds_interval(N_AB, N_BA, percent / 100, method)
    for limits, end in ((low, "lo"), (high, "hi")):
        for ours, truth in zip(limits, oracle.expected(f"or_{name}_{percent}_{end}"), strict=True):
            if truth is None:
                continue
            if truth == 0 or not truth.is_finite():
                assert ours == float(truth)
            else:
                # The file asks for 2e-8.
                assert off(ours, str(truth)) < 1e-11


def test_odds() -> None:
    for ours, truth in zip(stats.odds(N_AB, N_BA), oracle.expected("odds_ratio"), strict=True):
        assert truth is not None
        assert str(ours) == str(float(truth)) or off(ours, str(truth)) < 1e-15


@pytest.mark.parametrize(
    ("quantity", "alternative", "mixture"),
    [
        ("ln_e_uniform", "two-sided", "uniform"),
        ("ln_e_jeffreys", "two-sided", "jeffreys"),
        ("ln_e_uniform_b_better", "better", "uniform"),
    ],
)
def test_e_values(quantity: str, alternative: stats.Alternative, mixture: stats.Mixture) -> None:
    logs = stats.log10_e(N_AB, N_BA, alternative, mixture) * LN10
    for ours, truth in zip(logs, oracle.expected(quantity), strict=True):
        # 50 digits leave 1e-55 where the truth is 0.
        assert truth is not None
        assert abs(Decimal(ours) - truth) <= Decimal("1e-12") * abs(truth) + Decimal("1e-15")


@pytest.mark.parametrize("percent", [90, 95, 99])
def test_confidence_sequences(percent: int) -> None:
    low, high = stats.confidence_sequence(N_AB, N_BA, percent / 100)
    assert oracle.off_relative(low, f"theta_cs_uniform_{percent}_lo") < 1e-12
    assert oracle.off_relative(high, f"theta_cs_uniform_{percent}_hi") < 1e-12


@pytest.mark.parametrize("row", section("anytime_coin"))
def test_anytime(row: dict[str, Any]) -> None:
    counts = (row["n_ab"], row["n_ba"])
    for mixture in stats.MIXTURES:
        assert off(stats.log10_e(*counts, "two-sided", mixture)[0] * LN10, row[f"ln_e_{mixture}"]) < 1e-12
        limits = stats.confidence_sequence(*counts, 0.99, mixture)
        for ours, truth in zip(limits, row[f"theta_cs_0.01_{mixture}"], strict=True):
            assert off(ours[0], truth) < 1e-12
    assert off(stats.log10_e(*counts, "better")[0] * LN10, row["ln_e_uniform_b_better"]) < 1e-12
    assert off(stats.log10_e(*counts, "worse")[0] * LN10, row["ln_e_uniform_a_better"]) < 1e-12


def test_noninferiority_of_the_main_cases() -> None:
    p, log10_p = stats.noninferior(N_AB, N_BA, N, 0.01)
    truths = oracle.expected("p_noninferior_0.01")
    for ours, log, truth in zip(p, log10_p, truths, strict=True):
        assert truth is not None
        check_p(ours, log, str(truth))


@pytest.mark.parametrize("row", section("tango_noninferiority"))
def test_noninferiority(row: dict[str, Any]) -> None:
    n = row["n11"] + row["n_ab"] + row["n_ba"] + row["n00"]
    (p,), (log10_p,) = stats.noninferior(row["n_ab"], row["n_ba"], n, float(row["margin"]))
    check_p(p, log10_p, row["p"])


def check_p(p: float, log10_p: float, truth: str) -> None:
    true = Decimal(truth)
    if true > Decimal("1e-300"):
        assert off(p, truth) < 1e-12
    else:
        assert p == pytest.approx(max(float(true), stats.SMALLEST_P), rel=1e-12)
    log = true.log10()
    assert abs(Decimal(log10_p) - log) <= Decimal("1e-12") * max(Decimal(1), abs(log))


@pytest.mark.parametrize("row", section("homogeneity"))
def test_heterogeneity(row: dict[str, Any]) -> None:
    cells = np.array(row["slices"])
    lost, won, n = cells[:, 1], cells[:, 2], cells.sum(axis=1)
    theta = stats.heterogeneity.of_theta(lost, won)
    truth = row["homogeneity_or"]
    assert theta.chi2.df == theta.g2.df == truth["df"]
    for ours, key in ((theta.chi2, "chi2"), (theta.g2, "g2")):
        assert off(ours.value, truth[key]) < 1e-12
        assert off(ours.p, truth[f"p_{key}"]) < 1e-12
    assert off(theta.tarone.value, row["tarone"]["z"]) < 1e-12
    assert off(theta.tarone.p, row["tarone"]["p"]) < 1e-12
    gain, truth = stats.heterogeneity.of_gain(lost, won, n), row["homogeneity_gain"]
    assert gain.q.df == truth["df"]
    for number, key in ((gain.q.value, "q"), (gain.q.p, "p"), (gain.i2, "i2"), (gain.pooled, "pooled")):
        assert off(number, truth[key]) < 1e-12
    macro = stats.heterogeneity.macro_gain(lost, won, n)
    assert off(macro.gain, row["macro_gain"]["gain"]) < 1e-12
    assert off(macro.se, row["macro_gain"]["se"]) < 1e-12


@pytest.mark.parametrize("row", section("power"))
def test_power(row: dict[str, Any]) -> None:
    lost, won, alpha, power = (float(row[name]) for name in ("p_ab", "p_ba", "alpha", "power"))
    sides = row["sides"]
    assert off(stats.sample_size(lost, won, alpha, power, sides=sides), row["sample_size"]) < 1e-12
    assert off(stats.normal_power(row["N"], lost, won, alpha, sides=sides), row["power_normal"]) < 1e-12
    detectable = stats.minimum_detectable_gain([row["N"]], [lost + won], alpha, power, sides=sides)[0]
    assert off(detectable, row["mde"]) < 1e-12
    tests: dict[stats.Test, str] = {"exact": "power_exact", "mid-p": "power_midp"}
    for test, key in tests.items():
        ours = stats.exact_power(row["N_exact"], lost, won, alpha, test, sides=sides)
        assert off(ours, row[key]) < 1e-12


@pytest.mark.parametrize("row", section("two_proportions"))
def test_two_proportions(row: dict[str, Any]) -> None:
    counts = (row["x2"], row["n2"], row["x1"], row["n1"])
    z, tail = stats.unpaired.two_proportions(*counts)
    assert off(z[0], row["z"]) < 1e-12
    check_p(tail.p[0], tail.log10_p[0], row["p"])
    for function in (stats.unpaired.wald, stats.unpaired.agresti_caffo, stats.unpaired.newcombe):
        for ours, truth in zip(function(*counts), row[function.__name__], strict=True):
            assert off(ours[0], truth) < 1e-12
