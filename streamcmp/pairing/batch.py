"""What a pairing strategy yields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class PairBatch:
    """Matched pairs, in any order. All arrays have one entry per pair.

    outcome_a, outcome_b: uint8, WRONG/CORRECT/MISSING.
    slices: per family the slice code (uint32) of a, or of b where a does not carry it.
    differs: per family whether both sides carry it and disagree (bool), or None where only one carries it.
    mismatch: whether any guard differs (bool), or None where there are no guards.
    """

    outcome_a: npt.NDArray[np.uint8]
    outcome_b: npt.NDArray[np.uint8]
    slices: tuple[npt.NDArray[np.uint32], ...] = ()
    differs: tuple[npt.NDArray[np.bool_] | None, ...] = ()
    mismatch: npt.NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.outcome_a)
