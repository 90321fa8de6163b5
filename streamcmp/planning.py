"""How many pairs a comparison needs, which gain so many can show, and with which chance."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from operator import index
from os import PathLike
from typing import TYPE_CHECKING, Any

from streamcmp import counts_table, stats
from streamcmp.analysis import Alternative, Analysis, Test
from streamcmp.errors import DataError, UsageError
from streamcmp.tally import OVERALL, Tally

if TYPE_CHECKING:
    from streamcmp.options import Countable


@dataclass(frozen=True, slots=True)
class PowerPlan:
    """What was asked, and what it comes to. What was neither given nor asked is None.

    `psi`: the share of discordant pairs, in (0, 1]; `gain`: the true gain, its size only; `n`: pairs.
    `pairs`: needed to show the gain with chance `power`, by Connor's formula, and `pairs_exact` with the test
    itself, enumerated. `power_normal`, `power_exact`: the chance that n pairs show the gain. `mde`: the
    smallest gain that n pairs show with chance `power`; None where they show none that psi allows. Nothing is
    enumerated beyond 1e7 pairs.
    """

    psi: float
    gain: float | None
    n: int | None
    power: float
    alpha: float
    alternative: Alternative
    test: Test
    pairs: int | None = None
    pairs_exact: int | None = None
    power_normal: float | None = None
    power_exact: float | None = None
    mde: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Field name to value, JSON-ready."""
        return asdict(self)


def power(
    counts: Countable | None = None,
    *,
    gain: float | None = None,
    psi: float | None = None,
    n: int | None = None,
    power: float = 0.8,
    test: Test = "exact",
    alternative: Alternative = "two-sided",
    confidence: float = 0.95,
) -> PowerPlan:
    """Plan a comparison.

    Args:
        counts: a Tally, a tally file, or a table of counts that knows n: psi is its share of discordant
            pairs, and n its pairs, unless they are given. Or None.
        gain: the true gain that shall be shown, in (0, psi]; 0.02 is two points. A loss is as easily shown.
        psi: the share of discordant pairs to expect, in (0, 1]: of earlier comparisons of such models.
        n: pairs.
        power: the chance of showing it, between 0 and 1.
        test: as in `mcnemar`.
        alternative: "two-sided"; "better" and "worse" need fewer pairs.
        confidence: alpha is 1 - confidence.

    Returns:
        PowerPlan: with a gain, the pairs needed; with n, the gain detectable; with both, the power too.

    Raises:
        UsageError: neither gain nor n is known, or psi is not; or a value is out of range.
        DataError: the counts do not know n, or have no discordant pair.

    Reference:
        Connor, R. J. (1987). Biometrics 43, 207-211.
    """
    analysis = Analysis(test=test, alternative=alternative, confidence=confidence, power=power)
    if counts is not None:
        own_psi, own_n = _of_counts(counts)
        psi, n = own_psi if psi is None else psi, own_n if n is None else n
    if psi is None:
        raise UsageError("give --psi, the share of discordant pairs, or a tally or table of counts")
    if gain is None and n is None:
        raise UsageError("give --gain for the pairs it needs, or --n for the gain that so many can show")
    psi, gain, n = _share("--psi", psi), None if gain is None else _share("--gain", gain), _pairs(n)
    if gain is not None and gain > psi:
        raise UsageError(f"--gain {gain:g} is more than --psi {psi:g}: gains are won in discordant pairs")
    return _plan(psi, gain, n, analysis)


def _plan(psi: float, gain: float | None, n: int | None, analysis: Analysis) -> PowerPlan:
    alpha, wanted, test = analysis.alpha, analysis.power, analysis.test
    sides = 2 if analysis.alternative == "two-sided" else 1
    found: dict[str, Any] = {}
    if n is not None:
        mde = float(stats.minimum_detectable_gain([n], [psi], alpha, wanted, sides=sides)[0])
        found["mde"] = mde if math.isfinite(mde) else None
    if gain is not None:
        lost, won = (psi - gain) / 2, (psi + gain) / 2
        found["pairs"] = math.ceil(stats.sample_size(lost, won, alpha, wanted, sides=sides))
        if found["pairs"] <= stats.MOST_ENUMERATED:
            found["pairs_exact"] = stats.exact_sample_size(lost, won, alpha, wanted, test, sides=sides)
        if n is not None:
            found["power_normal"] = stats.normal_power(n, lost, won, alpha, sides=sides)
        if n is not None and n <= stats.MOST_ENUMERATED:
            found["power_exact"] = stats.exact_power(n, lost, won, alpha, test, sides=sides)
    return PowerPlan(psi, gain, n, wanted, alpha, analysis.alternative, test, **found)


def _of_counts(counts: Countable) -> tuple[float, int]:
    """Psi and n of all pairs."""
    tally = counts if isinstance(counts, Tally) else counts_table.read(counts)
    where = counts if isinstance(counts, str | PathLike) else "the counts"
    row = tally.families[OVERALL].row(0, named=True)
    agreement = (row["both_correct"], row["both_wrong"])
    discordant = row["n_ab"] + row["n_ba"]
    n = row.get("n") if None in agreement else sum(agreement) + discordant
    if n is None:
        raise DataError(f"{where}: the number of all pairs is not known; give --psi instead")
    if not discordant:
        raise DataError(f"{where}: no pair is discordant, so it says nothing of psi; give --psi instead")
    return discordant / n, n


def _share(option: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 1:
        raise UsageError(f"{option} must be a number above 0 and at most 1, such as 0.1; not {value!r}")
    return float(value)


def _pairs(value: object) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise UsageError(f"--n must be a whole number, not {value!r}")
    number = index(value)
    if not 0 < number < 2**62:
        raise UsageError(f"--n must be a whole number from 1 to 2^62 - 1, not {value!r}")
    return number
