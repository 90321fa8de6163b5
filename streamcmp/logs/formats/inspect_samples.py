"""Where the samples of an Inspect log are: in a zip archive (`.eval`) or in one JSON document (`.json`).

Both give the log's header and its samples, decoded in lists of rows; an archive also gives short summaries of
the samples, which are what a comparison needs as a rule and a thousandth of the bytes.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from streamcmp.errors import DataError
from streamcmp.logs.formats.json_array import Bad, Block, Read, Structure, blocks
from streamcmp.logs.formats.json_fields import Fields
from streamcmp.logs.formats.json_lines import decode_one
from streamcmp.logs.formats.text import BLOCK_BYTES, open_bytes, reading
from streamcmp.logs.formats.zip_members import Member, directory, reader, whole

_LARGEST_HEADER = 64 << 20
_LARGEST_SAMPLE = 256 << 20
_ROWS = 1000  # samples of an archive that are decoded before they are handed on
_SAMPLE = re.compile(r"samples/(.+)_epoch_(\d+)\.json")
_JOURNAL = re.compile(r"_journal/summaries/(\d+)\.json")
_SAMPLES = re.compile(rb'"samples"\s*:\s*\Z')

Rows = Iterator[list[Any]]


class Samples(ABC):
    """The samples of one log. `header` is all else that the log says."""

    header: dict[str, Any]
    count: int | None = None  # of samples, where it is known without reading them

    @property
    def summarised(self) -> bool:
        """Whether there are summaries."""
        return False

    @abstractmethod
    def whole(self, fields: Fields, several: int | None = None) -> Rows:
        """The samples in lists of rows; of at most `several`, as far as that saves work."""

    def summaries(self, fields: Fields) -> Rows:
        """The summaries in lists of rows; where there are none, the samples."""
        return self.whole(fields)

    def one(self, identity: object, epoch: object, fields: Fields) -> Any:  # noqa: ARG002 - for archives
        """One whole sample; None where it cannot be looked up."""
        return None


class Archive(Samples):
    """An `.eval` file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        members = directory(path)
        start = members.get("header.json") or members.get("_journal/start.json")
        if start is None:
            raise DataError(f"{path}: is a zip archive, but no log of Inspect: it holds no header.json")
        name = "header.json" if "header.json" in members else "_journal/start.json"
        with path.open("rb") as file:
            text = whole(path, file, name, start, _LARGEST_HEADER)
        self.header = decode_one(Fields(None), text, lambda what: DataError(f"{path}: {name} {what}"))
        samples = [member for name, member in members.items() if _SAMPLE.fullmatch(name)]
        self._samples = np.array(samples, np.uint64).reshape(-1, len(Member._fields))
        self.count = len(samples)
        # A log that was cut off has only the batches of its journal.
        journal = sorted((int(found[1]), name) for name in members if (found := _JOURNAL.fullmatch(name)))
        names = ["summaries.json"] if "summaries.json" in members else [name for _, name in journal]
        self._summaries = [(name, members[name]) for name in names]

    @property
    def summarised(self) -> bool:
        """Whether there are summaries."""
        return bool(self._summaries)

    def summaries(self, fields: Fields) -> Rows:
        """The summaries in lists of rows."""
        decoder = fields.decoder_of(several=True)
        first = 0
        with self._path.open("rb") as file:
            for name, member in self._summaries:
                bad = _bad(f"{self._path}: {name}", "summary", first)
                for rows in _array(reader(self._path, file, name, member), fields, decoder, bad):
                    yield rows
                    first += len(rows)

    def whole(self, fields: Fields, several: int | None = None) -> Rows:
        """The samples in lists of rows, in the order of the archive's directory."""
        rows: list[Any] = []
        with self._path.open("rb") as file:
            for number, member in enumerate(self._samples, start=1):
                rows.append(self._decoded(file, f"sample {number:,}", Member(*member.tolist()), fields))
                if len(rows) == (several or _ROWS):
                    yield rows
                    rows = []
        if rows:
            yield rows

    def one(self, identity: object, epoch: object, fields: Fields) -> Any:
        """One whole sample."""
        name = f"samples/{identity}_epoch_{epoch}.json"
        member = directory(self._path).get(name)
        if member is None:
            return None
        with self._path.open("rb") as file:
            return self._decoded(file, name, member, fields)

    def _decoded(self, file: Any, name: str, member: Member, fields: Fields) -> Any:
        text = whole(self._path, file, name, member, _LARGEST_SAMPLE)
        return decode_one(fields, text, lambda what: DataError(f"{self._path}: {name} {what}"))


class Document(Samples):
    """A `.json` file: one object, the samples one of its fields. All before them is the header."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with reading(str(path)), open_bytes(path) as source:
            head, _ = self._head(source.read)
        closed = head + (b"[]}" if head.endswith(b":") else b"}" if not head.endswith(b"}") else b"")
        self.header = decode_one(Fields(None), closed, lambda what: DataError(f"{path}: {what}"))

    def _head(self, read: Read) -> tuple[bytes, bytes | None]:
        """All before the bracket that opens the samples, and what was read behind it; None without any."""
        held = b""
        while True:
            more = read(BLOCK_BYTES)
            held += more
            structure = Structure.of(held)
            for position in structure.positions[structure.depths == 2].tolist():
                if held[position : position + 1] == b"[" and _SAMPLES.search(
                    held, max(0, position - 64), position
                ):
                    return held[:position].rstrip(), held[position + 1 :]
            if not more:
                return held.rstrip(), None
            if len(held) > _LARGEST_HEADER:
                raise DataError(f"{self._path}: no samples in the first {_LARGEST_HEADER >> 20} MB")

    def whole(self, fields: Fields, several: int | None = None) -> Rows:  # noqa: ARG002 - comes in blocks
        """The samples in lists of rows."""
        with reading(str(self._path)), open_bytes(self._path) as source:
            _, rest = self._head(source.read)
            if rest is None:
                return
            bad = _bad(str(self._path), "sample")
            for found in blocks(source.read, bad, before=rest):
                if isinstance(found, Block):
                    yield found.rows(fields, fields.decoder_of(several=True), bad)
                else:
                    _check_end(found, source.read, bad)


def _array(read: Read, fields: Fields, decoder: Any, bad: Bad) -> Rows:
    """The rows of a text that is one array."""
    start = read(4096).lstrip()
    if not start.startswith(b"["):
        raise bad(None, "are no list")
    for found in blocks(read, bad, before=start[1:]):
        if isinstance(found, Block):
            yield found.rows(fields, decoder, bad)
        elif (found + read(1 << 16)).strip():
            raise bad(None, "go on behind their end")


def _check_end(rest: bytes, read: Read, bad: Bad) -> None:
    """What stands behind the samples ends as an object does."""
    last = rest
    while more := read(BLOCK_BYTES):
        last = last[-64:] + more
    if not last.rstrip().endswith(b"}"):
        raise bad(None, "are followed by an unfinished text: the file is truncated")


def _bad(where: str, what: str, before: int = 0) -> Bad:
    def build(number: int | None, problem: str) -> DataError:
        name = "the samples" if number is None else f"{what} {before + number + 1:,}"
        return DataError(f"{where}: {name} {problem}")

    return build


def open_samples(path: Path, head: bytes) -> Samples:
    """The samples of a log whose first bytes are `head`."""
    return Archive(path) if head.startswith(b"PK") else Document(path)
