"""The statistics of paired outcomes: arrays of counts in, arrays out, one entry per slice.

n_ab are the pairs that the candidate B lost (A correct, B wrong), n_ba those it won, n all pairs of a slice.
docs/statistics.md says what each number means to the reader.
"""

from streamcmp.stats.adjust import ADJUSTMENTS, Adjustment, adjust, adjust_tails
from streamcmp.stats.binomial import ExactAndMidP, exact, exact_and_mid_p, mid_p
from streamcmp.stats.chi2 import chi2, chi2_corrected, chi2_corrected_statistic, chi2_statistic
from streamcmp.stats.choose import AUTO_FROM, TESTS, Chosen, Test, chosen
from streamcmp.stats.gain import (
    INTERVALS,
    NEED_AGREEMENT,
    Cells,
    agresti_min,
    bonett_price,
    gain,
    newcombe,
    wald,
)
from streamcmp.stats.interval import Interval
from streamcmp.stats.proportion import wilson
from streamcmp.stats.tail import ALTERNATIVES, SMALLEST_P, Alternative, TailP
from streamcmp.stats.tango import tango

__all__ = [
    "ADJUSTMENTS",
    "ALTERNATIVES",
    "AUTO_FROM",
    "INTERVALS",
    "NEED_AGREEMENT",
    "SMALLEST_P",
    "TESTS",
    "Adjustment",
    "Alternative",
    "Cells",
    "Chosen",
    "ExactAndMidP",
    "Interval",
    "TailP",
    "Test",
    "adjust",
    "adjust_tails",
    "agresti_min",
    "bonett_price",
    "chi2",
    "chi2_corrected",
    "chi2_corrected_statistic",
    "chi2_statistic",
    "chosen",
    "exact",
    "exact_and_mid_p",
    "gain",
    "mid_p",
    "newcombe",
    "tango",
    "wald",
    "wilson",
]
