"""How a tally is judged: test, alternative, interval, level and adjustment. Frozen; imports nothing heavy."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, Literal, get_args

from streamcmp.comparison import check_choice
from streamcmp.errors import UsageError

Test = Literal["exact", "mid-p", "chi2", "chi2-corrected", "auto"]
Alternative = Literal["two-sided", "better", "worse"]
GainInterval = Literal["tango", "newcombe", "bonett-price", "agresti-min", "wald"]
OddsInterval = Literal["clopper-pearson", "mid-p", "wilson"]
Adjust = Literal["holm", "none", "bonferroni", "hochberg", "bh", "by"]


@dataclass(frozen=True, slots=True)
class Analysis:
    """The choices of one analysis; the first value of each option is its default.

    `test`: which p-value decides; `auto` is exact below 25 discordant pairs and chi2-corrected from there on.
    `alternative`: "better" asks whether b is better than a, "worse" whether it is worse.
    `ci`: the interval of the gain, two-sided at `confidence`, whatever the alternative.
    `confidence`: between 0 and 1, exclusive; alpha is 1 - confidence everywhere.
    `adjust`: how p-values are adjusted within one family.
    `min_discordant`: slices with fewer discordant pairs are shown but not tested; overall is exempt.
    `margin`: the difference of accuracies that would just matter, such as 0.01; adds non-inferiority and
    equivalence. None: neither is asked.
    `odds`: an interval of the odds of winning a discordant pair, and of its share; None: not asked.
    `mde`: whether to add the minimum detectable gain, at `power`.
    `power`: the chance of showing that gain, between 0 and 1, exclusive.
    `anytime`: whether to add an e-value and a confidence sequence, for logs that still grow.

    Raises:
        UsageError: an option has a value that it cannot take; the message names the option.
    """

    test: Test = "exact"
    alternative: Alternative = "two-sided"
    ci: GainInterval = "tango"
    confidence: float = 0.95
    adjust: Adjust = "holm"
    min_discordant: int = 0
    margin: float | None = None
    odds: OddsInterval | None = None
    mde: bool = False
    power: float = 0.8
    anytime: bool = False

    def __post_init__(self) -> None:
        choices = {"test": Test, "alternative": Alternative, "ci": GainInterval, "adjust": Adjust}
        for name, choice in choices.items():
            check_choice(f"--{name}", getattr(self, name), get_args(choice))
        if self.odds is not None:
            check_choice("--odds", self.odds, get_args(OddsInterval))
        _check_share("--confidence", self.confidence, "0.95")
        _check_share("--power", self.power, "0.8")
        if self.margin is not None:
            _check_share("--margin", self.margin, "0.01 for one point of accuracy")
        for name in ("mde", "anytime"):
            if not isinstance(getattr(self, name), bool):
                raise UsageError(f"--{name} is on or off, not {getattr(self, name)!r}")
        if isinstance(self.min_discordant, bool) or not isinstance(self.min_discordant, int):
            raise UsageError(f"--min-discordant must be a whole number, not {self.min_discordant!r}")
        if self.min_discordant < 0:
            raise UsageError(f"--min-discordant must be 0 or more, not {self.min_discordant}")

    @property
    def alpha(self) -> float:
        """1 - confidence, taken in decimal: 0.05, not 0.050000000000000044."""
        return float(1 - Decimal(repr(self.confidence)))

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy."""
        return asdict(self)


def _check_share(option: str, value: object, example: str) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1:
        raise UsageError(f"{option} must be a number between 0 and 1, such as {example}; not {value!r}")
