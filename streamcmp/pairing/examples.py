"""The five smallest ids of each kind that an error or a note may name.

Ids that can be read back from their keys are reduced to five at once. Of text ids only the hashes are known
while pairing; `resolve` finds the ids behind them in one more pass over the logs, and only when something
must be named.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from streamcmp import interrupt
from streamcmp.logs.model import FILTERED, ID
from streamcmp.pairing.keys import ids_of, is_exact, keys_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from streamcmp.logs.model import CanonicalLog, LogPair
    from streamcmp.pairing.batch import ExampleKind

SHOWN = 5
_KEPT_KEYS = 1_000_000  # per kind, the smallest; beyond that the five ids named are the smallest among these
_PASS_ROWS = 500_000


class Examples:
    """Collects ids worth naming. Thread-safe."""

    def __init__(self) -> None:
        self._ids: dict[ExampleKind, pl.Series] = {}
        self._keys: dict[ExampleKind, npt.NDArray[np.uint64]] = {}
        self._lock = Lock()

    def add_ids(self, kind: ExampleKind, ids: pl.Series) -> None:
        """Ids in hand."""
        with self._lock:
            known = self._ids.get(kind)
            self._ids[kind] = _smallest(ids if known is None else pl.concat([known, ids]))

    def add_keys(self, kind: ExampleKind, keys: npt.NDArray[np.uint64], dtype: pl.DataType) -> None:
        """Keys of ids of `dtype`."""
        if not len(keys):
            return
        if is_exact(dtype):
            self.add_ids(kind, ids_of(keys, dtype))
            return
        with self._lock:
            known = self._keys.get(kind)
            merged = np.unique(keys if known is None else np.concatenate([known, keys]))
            self._keys[kind] = merged[:_KEPT_KEYS]

    def resolve(self, pair: LogPair) -> dict[str, list[str]]:
        """Kind -> up to five ids as text, smallest first.

        Reads the logs again where only hashes are known.
        """
        found: dict[ExampleKind, pl.Series] = dict(self._ids)
        on_b: tuple[ExampleKind, ...] = ("duplicate_b", "unmatched_b")
        for log, kinds in (
            (pair.a, [kind for kind in self._keys if kind not in on_b]),
            (pair.b, [kind for kind in self._keys if kind in on_b]),
        ):
            if kinds:
                found.update(self._find(log, kinds))
        return {kind: [pair.show_id(value) for value in ids.to_list()] for kind, ids in found.items()}

    def _find(self, log: CanonicalLog, kinds: Sequence[ExampleKind]) -> dict[ExampleKind, pl.Series]:
        found: dict[ExampleKind, pl.Series] = {}
        for frame in log.batches(_PASS_ROWS):
            interrupt.check()
            ids = frame[ID] if FILTERED not in frame.columns else frame.filter(~pl.col(FILTERED))[ID]
            ids = ids.drop_nulls()
            keys = keys_of(ids)
            for kind in kinds:
                wanted = self._keys[kind]
                at = np.minimum(np.searchsorted(wanted, keys), len(wanted) - 1)
                hits = ids.filter(pl.Series(wanted[at] == keys))
                known = found.get(kind)
                found[kind] = _smallest(hits if known is None else pl.concat([known, hits]))
        return found


def first_ids(log: CanonicalLog) -> pl.Series:
    """The smallest ids of a log, for saying what it looks like."""
    smallest: pl.Series | None = None
    for frame in log.batches(_PASS_ROWS):
        interrupt.check()
        ids = frame[ID].drop_nulls()
        smallest = _smallest(ids if smallest is None else pl.concat([smallest, ids]))
    return smallest if smallest is not None else pl.Series([], dtype=pl.String)


def _smallest(ids: pl.Series) -> pl.Series:
    return ids.unique().bottom_k(SHOWN).sort()
