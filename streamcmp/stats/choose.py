"""Which test a report uses."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from streamcmp.stats.binomial import exact, mid_p
from streamcmp.stats.chi2 import chi2, chi2_corrected
from streamcmp.stats.counts import as_counts
from streamcmp.stats.tail import Alternative, TailP

Test = Literal["exact", "mid-p", "chi2", "chi2-corrected", "auto"]
TESTS: Final[tuple[Test, ...]] = get_args(Test)

# `auto` takes the corrected chi-square from this many discordant pairs on, the exact test below.
AUTO_FROM: Final = 25

_FUNCTIONS: Final = MappingProxyType[str, Callable[[npt.ArrayLike, npt.ArrayLike, Alternative], TailP]](
    {"exact": exact, "mid-p": mid_p, "chi2": chi2, "chi2-corrected": chi2_corrected}
)


class Chosen(NamedTuple):
    """The test used per slice, an object array of names from TESTS without "auto", and its p-values."""

    test: npt.NDArray[Any]
    tail: TailP


def chosen(
    test: Test, n_ab: npt.ArrayLike, n_ba: npt.ArrayLike, alternative: Alternative = "two-sided"
) -> Chosen:
    """P-values by the test of that name.

    Args:
        test: "exact", "mid-p", "chi2", "chi2-corrected", or "auto": exact below 25 discordant pairs,
            chi2-corrected from 25 on.
        n_ab: pairs that B lost (A correct, B wrong), shape (n_slices,), whole numbers of any width.
        n_ba: pairs that B won, same shape.
        alternative: "two-sided", "better" or "worse".

    Returns:
        Chosen, with arrays of shape (n_slices,).

    Raises:
        ValueError: the test or the alternative is unknown, or the counts are no counts.
    """
    if test not in TESTS:
        raise ValueError(f"test must be one of {', '.join(TESTS)}, not {test!r}")
    lost, won = as_counts(n_ab, n_ba)
    names = np.full(len(lost), test, dtype=object)
    if test != "auto":
        return Chosen(names, _FUNCTIONS[test](lost, won, alternative))
    tail = TailP(np.empty(len(lost)), np.empty(len(lost)))
    enough = lost + won >= AUTO_FROM
    for name, rows in (("exact", ~enough), ("chi2-corrected", enough)):
        names[rows] = name
        tail.p[rows], tail.log10_p[rows] = _FUNCTIONS[name](lost[rows], won[rows], alternative)
    return Chosen(names, tail)
