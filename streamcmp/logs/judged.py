"""Logs whose truth file does not fit the memory: outcomes are worked out beforehand, part by part of it.

For each part both the truth and the log are read once. A row's outcome is settled by the part that holds its
id and missing by all others. Outcomes wait in a file, a byte a row, and the passes that pair rows take them
from there: the rows keep their order, so that all strategies work as ever.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import finalize

import numpy as np
import numpy.typing as npt
import polars as pl

from streamcmp import interrupt
from streamcmp.errors import BadValue, DataError
from streamcmp.logs.ids import IdRule
from streamcmp.logs.model import MISSING, OUTCOME
from streamcmp.logs.reading import Cook, rechunk
from streamcmp.logs.truth import Truth, TruthColumns
from streamcmp.usage import size

Codes = npt.NDArray[np.uint8]
_CHUNK_ROWS = 200_000


@dataclass(frozen=True)
class PartedTruth:
    """A truth file in parts, of which one is in memory at a time, whoever asks."""

    columns: TruthColumns
    ids: IdRule
    parts: int
    folder: Path
    lock: Lock = field(default_factory=Lock)


def judged(cook: Cook, truth: PartedTruth | None) -> Cook:
    """The scan, its outcomes worked out beforehand where the truth is in parts."""
    return cook if truth is None else JudgedCook(cook.parts, cook.recipes, truth)


@dataclass(frozen=True)
class JudgedCook(Cook):
    """A scan whose outcomes are worked out at the first pass. The recipes hold a piece of the truth."""

    truth: PartedTruth
    _judged: dict[str, _Bytes] = field(default_factory=dict, compare=False, repr=False)

    def head(self, rows: int) -> pl.DataFrame | None:  # noqa: ARG002 - as of any scan
        """None: only a pass tells outcomes."""
        return None

    def batches(self, chunk_rows: int) -> Iterator[pl.DataFrame]:
        """Canonical batches of exactly `chunk_rows` rows, the last one shorter."""
        with self.truth.lock:
            if not self._judged:
                self._judged.update(self._judge())
        yield from rechunk(self._with_outcomes(chunk_rows), chunk_rows)

    def _with_outcomes(self, chunk_rows: int) -> Iterator[pl.DataFrame]:
        at = 0
        for piece in self._pieces(chunk_rows):
            yield piece.with_columns(
                pl.Series(prefix + OUTCOME, self._judged[prefix].read(at, piece.height))
                for prefix in self.recipes
            )
            at += piece.height

    def _judge(self) -> dict[str, _Bytes]:
        """The outcomes of all rows.

        Raises what a pass with the whole truth in memory would raise: for the first bad row, whichever part
        finds it; and before that, for an id that occurs twice in the truth.
        """
        found = {prefix: _Bytes(self.truth.folder) for prefix in self.recipes}
        repeated: list[Any] = []
        first: tuple[tuple[int, int], DataError] | None = None
        for index in range(self.truth.parts):
            truth = self.truth.columns.read(self.truth.ids, index, self.truth.parts)
            assert truth is not None, "without a limit a part is read"
            if truth.repeated is not None:
                repeated.append(truth.repeated)
            if not repeated and (index == 0 or truth.table.height):
                first = self._pass(truth, found, first)
        if repeated:
            self.truth.columns.refuse_repeated(self.truth.ids, min(repeated))
        if first is not None:
            raise first[1]
        return found

    def _pass(
        self, truth: Truth, found: dict[str, _Bytes], first: tuple[tuple[int, int], DataError] | None
    ) -> tuple[tuple[int, int], DataError] | None:
        """Settle the rows whose ids are in this part, up to the first bad row known.

        Returns the first bad row that is known now: where its batch begins and its number, and the error.
        """
        cook = Cook(self.parts, {name: replace(one, truth=truth) for name, one in self.recipes.items()})
        at = 0
        try:
            for piece in cook._pieces(_CHUNK_ROWS):  # noqa: SLF001 - of its own kind
                interrupt.check()
                for prefix, outcomes in found.items():
                    outcomes.settle(at, piece[prefix + OUTCOME].to_numpy())
                at += piece.height
                if first is not None and at > first[0][0]:
                    break
        except DataError as error:
            here = (at, error.row if isinstance(error, BadValue) else -1)
            return (here, error) if first is None or here < first[0] else first
        return first


class _Bytes:
    """A byte per row, in a file without a name: the system removes it with the process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with tempfile.TemporaryFile(dir=folder, prefix="streamcmp-") as file:
            self._file = os.dup(file.fileno())
        finalize(self, os.close, self._file)
        self._rows = 0

    def read(self, at: int, count: int) -> Codes:
        """The bytes of some rows."""
        return np.frombuffer(os.pread(self._file, count, at), np.uint8)

    def settle(self, at: int, outcomes: Codes) -> None:
        """Take over what is not missing."""
        if at == self._rows:
            self._rows += len(outcomes)
        else:
            known = self.read(at, len(outcomes))
            outcomes = np.where(outcomes == MISSING, known, outcomes)
        view = np.ascontiguousarray(outcomes).data
        try:
            while view.nbytes:
                written = os.pwrite(self._file, view, at)
                view, at = view[written:], at + written
        except OSError as error:
            raise DataError(
                f"cannot spill to {self._folder}: {error.strerror or error} after {size(at)}; "
                "give a folder with more room with --spill-dir, or more --memory"
            ) from None
