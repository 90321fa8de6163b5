"""What was looked up for the rows of a log, waiting in a file in the log's order until a pass asks for it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from weakref import finalize

import numpy as np
import numpy.typing as npt
import polars as pl

from streamcmp.errors import DataError
from streamcmp.logs.lookup import Ids
from streamcmp.logs.reading import Attach
from streamcmp.logs.values import Column
from streamcmp.usage import size

Values = npt.NDArray[Any]


class Plane:
    """A number per row, in a file without a name: the system removes it with the process."""

    def __init__(self, folder: Path, dtype: npt.DTypeLike, unknown: int) -> None:
        """`unknown` is what rows have that nothing was found for."""
        self._folder = folder
        self._dtype = np.dtype(dtype)
        self._unknown = unknown
        with tempfile.TemporaryFile(dir=folder, prefix="streamcmp-") as file:
            self._file = os.dup(file.fileno())
        finalize(self, os.close, self._file)
        self._rows = 0

    def read(self, at: int, count: int) -> Values:
        """The numbers of some rows.

        Raises:
            DataError: the file has become shorter.
        """
        values = np.empty(count, self._dtype)
        view, place = values.view(np.uint8).data, at * self._dtype.itemsize
        while view.nbytes:
            got = os.preadv(self._file, [view], place)
            if got <= 0:
                raise DataError(f"a spill file in {self._folder} became shorter while it was read")
            view, place = view[got:], place + got
        return values

    def settle(self, at: int, values: Values) -> None:
        """Take over what is known now. Rows come in order, any number of times.

        Raises:
            DataError: the folder has no more room.
        """
        values = np.ascontiguousarray(values, self._dtype)
        if at == self._rows:
            self._rows += len(values)
        else:
            new = values != self._unknown
            if not new.any():
                return
            values = np.where(new, values, self.read(at, len(values)))
        view, place = values.view(np.uint8).data, at * self._dtype.itemsize
        try:
            while view.nbytes:
                written = os.pwrite(self._file, view, place)
                view, place = view[written:], place + written
        except OSError as error:
            raise DataError(
                f"cannot spill to {self._folder}: {error.strerror or error} after {size(place)}; "
                "give a folder with more room with --spill-dir, or more --memory"
            ) from None


class Waiting:
    """Planes as columns that a pass attaches to the rows of a log."""

    def __init__(self, planes: Mapping[str, Plane], columns: Mapping[str, Column]) -> None:
        self.columns = columns
        self._planes = planes

    def reader(self) -> Attach:
        """What attaches the columns to one batch after the other, from the first row on."""
        rows = 0

        def attach(batch: pl.DataFrame, _ids: Ids) -> pl.DataFrame:
            nonlocal rows
            at, rows = rows, rows + batch.height
            return batch.with_columns(
                pl.Series(name, plane.read(at, batch.height)) for name, plane in self._planes.items()
            )

        return attach
