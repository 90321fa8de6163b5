"""What the log of an evaluation harness is known to mean: its key, its guards, where its outcomes are.

A shard of such a format carries a `Profile`. What the user names goes before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Profile:
    """One file of a harness.

    harness: its name in messages. ids: the columns that identify a sample; those that both logs have are
    used. guards: columns that must be equal in a pair; advisory: columns that should be, else a warning says
    so. outcomes: name of a metric (or scorer) -> the column that holds it, for every one the file has; what:
    which of the two words the harness uses. grades: whether texts C, I, N, P are grades. silence: what is
    said of a file without outcomes. about: the file in a few words. repeats: whether a sample was run
    several times, told apart by the column named here.
    """

    harness: str
    ids: tuple[str, ...]
    guards: tuple[str, ...] = ()
    advisory: tuple[str, ...] = ()
    outcomes: Mapping[str, str] = field(default_factory=dict)
    what: str = "metric"
    grades: bool = False
    silence: str = "holds no metric"
    about: str = ""
    repeats: str | None = None

    def column(self, name: str) -> str | None:
        """The column of a metric. `scorer.part` names a part of a scorer whose value is an object."""
        if name in self.outcomes:
            return self.outcomes[name]
        head, _, rest = name.rpartition(".")
        while head:
            if head in self.outcomes:
                return f"{self.outcomes[head]}.{rest}"
            head, _, more = head.rpartition(".")
            rest = f"{more}.{rest}"
        return None
