"""What became of the gates, and what changed since another report: values that renderers read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class GateOutcome:
    """One gate. `fired`: its condition holds, so that it failed.

    `says`: the numbers behind it. `named`: the rows of `Report.results` that it is about, if it fired.
    `absent`: what the condition compares that does not exist in this report, so that it cannot hold there.
    """

    expression: str
    fired: bool
    says: str
    named: Sequence[int] = ()
    absent: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; `slices`: how many results it is about."""
        return {
            "expression": self.expression,
            "fired": self.fired,
            "says": self.says,
            "slices": len(self.named),
            "absent": list(self.absent),
        }


@dataclass(frozen=True, slots=True)
class Before:
    """What the other report says of a slice."""

    n: int | None
    gain: float | None
    verdict: str


@dataclass(frozen=True, slots=True)
class Change:
    """One slice then (None: it is new) and now (None: it is gone). `slice`: column -> JSON-ready value."""

    family: str
    slice: dict[str, Any]
    before: Before | None
    now: Before | None

    @property
    def kind(self) -> str:
        """new, gone, verdict (another one), or numbers (the same verdict)."""
        if self.before is None:
            return "new"
        if self.now is None:
            return "gone"
        return "verdict" if self.before.verdict != self.now.verdict else "numbers"

    @property
    def moved(self) -> float | None:
        """The gain's change; None where there are not two gains."""
        if self.before is None or self.now is None or self.before.gain is None or self.now.gain is None:
            return None
        return self.now.gain - self.before.gain

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: the numbers of both."""
        fields = ("n", "gain", "verdict")
        return {
            "family": self.family,
            "slice": self.slice,
            "change": self.kind,
            "gain_change": self.moved,
            **{f"{name}_before": getattr(self.before, name, None) for name in fields},
            **{name: getattr(self.now, name, None) for name in fields},
        }


@dataclass(frozen=True, slots=True)
class Changes:
    """This report beside an earlier one.

    `slices`: those that are new, gone, or have other numbers, the most telling first; `unchanged` counts the
    rest. `families_new`, `families_gone`: whole families that only one report has; their slices are not
    listed. `differences`: what was asked otherwise, so that the numbers do not compare as they stand.
    """

    overall: Change
    slices: tuple[Change, ...]
    unchanged: int
    families_new: tuple[str, ...]
    families_gone: tuple[str, ...]
    differences: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "overall": self.overall.to_dict(),
            "slices": [one.to_dict() for one in self.slices],
            "unchanged": self.unchanged,
            "families_new": list(self.families_new),
            "families_gone": list(self.families_gone),
            "differences": list(self.differences),
        }
