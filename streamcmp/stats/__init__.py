"""The statistics of paired outcomes: arrays of counts in, arrays out, one entry per slice.

n_ab are the pairs that the candidate B lost (A correct, B wrong), n_ba those it won, n all pairs of a slice.
docs/statistics.md says what each number means to the reader.
"""

from streamcmp.stats import binomial_theta, heterogeneity, unpaired
from streamcmp.stats.adjust import ADJUSTMENTS, Adjustment, adjust, adjust_tails
from streamcmp.stats.anytime import MIXTURES, Mixture, anytime_p, confidence_sequence, log10_e
from streamcmp.stats.binomial import ExactAndMidP, exact, exact_and_mid_p, mid_p
from streamcmp.stats.chi2 import chi2, chi2_corrected, chi2_corrected_statistic, chi2_statistic
from streamcmp.stats.chi_square import chi_square_tail
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
from streamcmp.stats.margin import equivalent, noninferior
from streamcmp.stats.odds import (
    ODDS_INTERVALS,
    OddsInterval,
    odds,
    odds_interval,
    share_interval,
    share_won,
)
from streamcmp.stats.power import (
    MOST_ENUMERATED,
    exact_power,
    exact_sample_size,
    minimum_detectable_gain,
    normal_power,
    sample_size,
)
from streamcmp.stats.proportion import wilson
from streamcmp.stats.tail import ALTERNATIVES, SMALLEST_P, Alternative, TailP
from streamcmp.stats.tango import tango

__all__ = [
    "ADJUSTMENTS",
    "ALTERNATIVES",
    "AUTO_FROM",
    "INTERVALS",
    "MIXTURES",
    "MOST_ENUMERATED",
    "NEED_AGREEMENT",
    "ODDS_INTERVALS",
    "SMALLEST_P",
    "TESTS",
    "Adjustment",
    "Alternative",
    "Cells",
    "Chosen",
    "ExactAndMidP",
    "Interval",
    "Mixture",
    "OddsInterval",
    "TailP",
    "Test",
    "adjust",
    "adjust_tails",
    "agresti_min",
    "anytime_p",
    "binomial_theta",
    "bonett_price",
    "chi2",
    "chi2_corrected",
    "chi2_corrected_statistic",
    "chi2_statistic",
    "chi_square_tail",
    "chosen",
    "confidence_sequence",
    "equivalent",
    "exact",
    "exact_and_mid_p",
    "exact_power",
    "exact_sample_size",
    "gain",
    "heterogeneity",
    "log10_e",
    "mid_p",
    "minimum_detectable_gain",
    "newcombe",
    "noninferior",
    "normal_power",
    "odds",
    "odds_interval",
    "sample_size",
    "share_interval",
    "share_won",
    "tango",
    "unpaired",
    "wald",
    "wilson",
]
