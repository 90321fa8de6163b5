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

    Raises:
        UsageError: an option has a value that it cannot take; the message names the option.
    """

    test: Test = "exact"
    alternative: Alternative = "two-sided"
    ci: GainInterval = "tango"
    confidence: float = 0.95
    adjust: Adjust = "holm"
    min_discordant: int = 0

    def __post_init__(self) -> None:
        choices = {"test": Test, "alternative": Alternative, "ci": GainInterval, "adjust": Adjust}
        for name, choice in choices.items():
            check_choice(f"--{name}", getattr(self, name), get_args(choice))
        if not isinstance(self.confidence, (int, float)) or not 0 < self.confidence < 1:
            raise UsageError(
                f"--confidence must be a number between 0 and 1, such as 0.95; not {self.confidence!r}"
            )
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
