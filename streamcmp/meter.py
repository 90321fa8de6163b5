"""How far a run is: written by whoever does the work, read by whoever shows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from time import monotonic


@dataclass
class Meter:
    """The phase at work and how much of it is done, in `unit`s; `total` is None where nobody knows."""

    phase: str = "opening the logs"
    unit: str = "rows"
    done: int = 0
    total: int | None = None
    since: float = field(default_factory=monotonic)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def begin(self, phase: str, total: int | None, unit: str = "rows") -> None:
        """Start a phase."""
        with self._lock:
            self.phase, self.total, self.unit = phase, total, unit
            self.done, self.since = 0, monotonic()

    @property
    def seconds(self) -> float:
        """How long the phase has been at work."""
        return monotonic() - self.since

    @property
    def rate(self) -> float:
        """Units a second."""
        return self.done / max(self.seconds, 1e-9)

    def add(self, count: int) -> None:
        """Some more of the phase is done. From any thread."""
        with self._lock:
            self.done += count
