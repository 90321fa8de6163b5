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
_KEPT_FORMS = 100_000  # likewise, of unmatched ids with accents and the like
_PASS_ROWS = 500_000
_UNMATCHED: tuple[ExampleKind, ExampleKind] = ("unmatched_a", "unmatched_b")


class Examples:
    """Collects ids worth naming. Thread-safe."""

    def __init__(self) -> None:
        self._ids: dict[str, pl.Series] = {}
        self._keys: dict[ExampleKind, list[npt.NDArray[np.uint64]]] = {}
        self._composed: dict[ExampleKind, pl.Series] = {}
        self._lock = Lock()

    def add_ids(self, kind: ExampleKind, ids: pl.Series) -> None:
        """Ids in hand."""
        with self._lock:
            self._compose(kind, ids)
            known = self._ids.get(kind)
            if known is not None and len(known) == SHOWN:
                ids = ids.filter(ids < known.last())  # mostly none are left, and sorting is dear
            if not len(ids):
                return
            self._ids[kind] = _smallest(ids if known is None else pl.concat([known, ids]))

    def add_keys(self, kind: ExampleKind, keys: npt.NDArray[np.uint64], dtype: pl.DataType) -> None:
        """Keys of ids of `dtype`."""
        if not len(keys):
            return
        if is_exact(dtype):
            self.add_ids(kind, ids_of(keys, dtype))
            return
        with self._lock:
            known = self._keys.setdefault(kind, [])
            known.append(keys)
            if sum(map(len, known)) > 2 * _KEPT_KEYS:  # seldom, as sorting is dear
                self._keys[kind] = [_smallest_keys(known)]

    def resolve(self, pair: LogPair) -> dict[str, pl.Series]:
        """Kind -> up to five canonical ids, smallest first.

        Reads the logs again where only hashes are known.
        """
        found = dict(self._ids)
        on_b: tuple[ExampleKind, ...] = ("duplicate_b", "unmatched_b")
        for log, kinds in (
            (pair.a, [kind for kind in self._keys if kind not in on_b]),
            (pair.b, [kind for kind in self._keys if kind in on_b]),
        ):
            if kinds:
                found |= self._find(log, kinds)
        alike = self._apart_by_normalization()
        if len(alike):
            found["normalization"] = _smallest(alike)
        return found

    def _find(self, log: CanonicalLog, kinds: Sequence[ExampleKind]) -> dict[str, pl.Series]:
        found: dict[str, pl.Series] = {}
        sought = {kind: _smallest_keys(self._keys[kind]) for kind in kinds}
        for frame in log.batches(_PASS_ROWS):
            interrupt.check()
            ids = frame[ID] if FILTERED not in frame.columns else frame.filter(~pl.col(FILTERED))[ID]
            ids = ids.drop_nulls()
            keys = keys_of(ids)
            for kind, wanted in sought.items():
                at = np.minimum(np.searchsorted(wanted, keys), len(wanted) - 1)
                hits = ids.filter(pl.Series(wanted[at] == keys))
                known = found.get(kind)
                found[kind] = _smallest(hits if known is None else pl.concat([known, hits]))
                self._compose(kind, hits)
        return found

    def _compose(self, kind: ExampleKind, ids: pl.Series) -> None:
        """Keep the composed form (NFC) of unmatched ids that are more than ASCII."""
        if kind not in _UNMATCHED or is_exact(ids.dtype):
            return
        if "".join(ids.to_list()).isascii():
            return
        forms = ids.filter(ids.str.len_bytes() != ids.str.len_chars()).str.normalize("NFC")
        known = self._composed.get(kind)
        forms = forms if known is None else pl.concat([known, forms])
        self._composed[kind] = forms.unique().bottom_k(_KEPT_FORMS)

    def _apart_by_normalization(self) -> pl.Series:
        """Composed forms of unmatched ids that both sides have: the same words, spelled in other bytes."""
        a, b = (self._composed.get(kind, pl.Series([], dtype=pl.String)) for kind in _UNMATCHED)
        return a.filter(a.is_in(b.implode()))


def first_ids(log: CanonicalLog) -> pl.Series:
    """The smallest ids of a log, for saying what it looks like."""
    smallest: pl.Series | None = None
    for frame in log.batches(_PASS_ROWS):
        interrupt.check()
        ids = frame[ID].drop_nulls()
        smallest = _smallest(ids if smallest is None else pl.concat([smallest, ids]))
    return smallest if smallest is not None else pl.Series([], dtype=pl.String)


def _smallest_keys(keys: Sequence[npt.NDArray[np.uint64]]) -> npt.NDArray[np.uint64]:
    return np.unique(np.concatenate(keys))[:_KEPT_KEYS]


def _smallest(ids: pl.Series) -> pl.Series:
    return ids.unique().bottom_k(SHOWN).sort()
