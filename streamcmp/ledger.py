"""The ledger: where every input row went, per side. It adds, and it balances."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from streamcmp.comparison import SIDES, SideName
from streamcmp.errors import InternalError


@dataclass(frozen=True, slots=True)
class SideLedger:
    """One side's rows: each is in the first of seven buckets that holds; `missing` stands beside them.

    filtered: excluded by `--where`, here or at the partner. null_id: no id. duplicate: the id occurs twice
    on either side. unmatched: no partner. guard_mismatch: partner differs in a guard. unscored: an outcome
    of the pair is missing. paired: counted. missing: own missing outcomes among matched rows (the last
    three buckets).
    """

    rows: int = 0
    filtered: int = 0
    null_id: int = 0
    duplicate: int = 0
    unmatched: int = 0
    guard_mismatch: int = 0
    unscored: int = 0
    paired: int = 0
    missing: int = 0

    def __add__(self, other: SideLedger) -> SideLedger:
        return SideLedger(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def matched(self) -> int:
        """Rows that found exactly one partner."""
        return self.guard_mismatch + self.unscored + self.paired

    @property
    def accounted(self) -> int:
        """The sum of the seven buckets; equals `rows` when the ledger balances."""
        return self.filtered + self.null_id + self.duplicate + self.unmatched + self.matched

    def to_dict(self) -> dict[str, int]:
        """Field name to count, in ledger order."""
        return asdict(self)


LEDGER_FIELDS: tuple[str, ...] = tuple(f.name for f in fields(SideLedger))


@dataclass(frozen=True, slots=True)
class Ledger:
    """Both sides' ledgers. `Ledger()` is the zero; `+` adds rows of disjoint examples."""

    a: SideLedger = SideLedger()
    b: SideLedger = SideLedger()

    def __add__(self, other: Ledger) -> Ledger:
        return Ledger(self.a + other.a, self.b + other.b)

    def side(self, side: SideName) -> SideLedger:
        """The ledger of one side."""
        return self.a if side == "a" else self.b

    def to_dict(self) -> dict[str, dict[str, int]]:
        """{"a": {...}, "b": {...}}, as in the report."""
        return {"a": self.a.to_dict(), "b": self.b.to_dict()}

    @classmethod
    def from_dict(cls, raw: dict[str, dict[str, int]]) -> Ledger:
        """The inverse of `to_dict`."""
        return cls(SideLedger(**raw["a"]), SideLedger(**raw["b"]))

    def verify(self) -> None:
        """Raise InternalError unless both sides balance and agree on what was matched."""
        for side in SIDES:
            one = self.side(side)
            if one.accounted != one.rows:
                raise InternalError(
                    f"side {side}: {one.rows:,} rows were read but {one.accounted:,} accounted for"
                )
        for bucket in ("guard_mismatch", "unscored", "paired"):
            left, right = getattr(self.a, bucket), getattr(self.b, bucket)
            if left != right:
                raise InternalError(f"{bucket} is {left:,} on side a but {right:,} on side b")
