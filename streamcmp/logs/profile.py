"""What the log of an evaluation harness is known to mean: its key, its guards, where its outcomes are.

A shard of such a format carries a `Profile`. What the user names goes before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamcmp.comparison import IdShard

# Types of ids whose text is the same whatever they are compared with, and that no edit of ids has changed.
_AS_WRITTEN = {"int", "text"}


@dataclass(frozen=True)
class Profile:
    """One file of a harness.

    harness: its name in messages. ids: the columns that identify a sample; those that both logs have are
    used. guards: columns that must be equal in a pair; advisory: columns that should be, else a warning says
    so. outcomes: name of a metric (or scorer) -> the column that holds it, for every one the file has; what:
    which of the two words the harness uses. grades: whether texts C, I, N, P are grades. silence: what is
    said of a file without outcomes. about: the file in a few words. repeats: whether a sample was run
    several times, told apart by the column named here. shard: which ids the file holds, if not all, as it was
    written; id_type: as which they were hashed.
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
    shard: IdShard | None = None
    id_type: str = ""

    def lacks(self, shard: IdShard, ids: tuple[str, ...], id_type: str) -> bool:
        """Whether the file surely has no id of `shard`: it was cut by the same text of the same columns."""
        same = self.ids == ids and self.id_type == id_type and set(id_type.split(",")) <= _AS_WRITTEN
        return same and self.shard is not None and not self.shard.overlaps(shard)

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
