"""A long JSON array of objects, read in blocks of whole elements: memory does not grow with the array.

numpy finds where elements end (quotes, escapes, brackets); msgspec decodes a block of them at once and sees
to it that they are JSON. No element may be longer than `LONGEST`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from streamcmp.errors import DataError
from streamcmp.logs.formats.json_fields import Fields
from streamcmp.logs.formats.json_lines import decode_one

LONGEST = 256 << 20
_BLOCK = _PIECE = 1 << 19  # in the processor's cache: twice as fast as 8 MB (measured)
# Whatever reads so many bytes, or fewer only at the end.
Read = Callable[[int], bytes]
# Builds the error for an element, counted from 0 (None: the array as a whole), and what is wrong with it.
Bad = Callable[[int | None, str], DataError]

_QUOTE, _BACKSLASH, _OPEN, _CLOSE = 0x22, 0x5C, 0x7B, 0x7D
_SPACE = b" \t\r\n"


@dataclass(frozen=True)
class Structure:
    """Where the brackets of a text stand, those within strings left out, and the depth behind each."""

    positions: npt.NDArray[np.int64]
    depths: npt.NDArray[np.int64]

    @classmethod
    def of(cls, text: bytes) -> Structure:
        """Of a text that begins outside a string, at depth 0. Looked at in pieces, to need little memory."""
        positions: list[npt.NDArray[np.int64]] = []
        steps: list[npt.NDArray[np.int64]] = []
        start = quotes = 0
        while start < len(text):
            end = min(start + _PIECE, len(text))
            while end < len(text) and text[end - 1] == _BACKSLASH:  # what it escapes belongs to it
                end += 1
            found, opens, inside = _brackets(np.frombuffer(text, np.uint8, end - start, start), quotes)
            positions.append(found + start)
            steps.append(np.where(opens, 1, -1))
            start, quotes = end, inside
        if not positions:
            return cls(np.empty(0, np.int64), np.empty(0, np.int64))
        return cls(np.concatenate(positions), np.cumsum(np.concatenate(steps)))


def _brackets(
    codes: npt.NDArray[np.uint8], quotes_before: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_], int]:
    """Where brackets outside strings stand, which of them open, and how many quotes there are so far."""
    quotes = np.flatnonzero(codes == _QUOTE)
    slashes = np.flatnonzero(codes == _BACKSLASH)
    if len(slashes):
        begins = np.flatnonzero(np.diff(slashes, prepend=-2) != 1)
        lengths = np.diff(np.append(begins, len(slashes)))
        # An odd run of backslashes escapes what follows it.
        escaped = (slashes[begins] + lengths)[lengths % 2 == 1]
        quotes = quotes[~np.isin(quotes, escaped, assume_unique=True)]
    folded = codes | 0x20  # [ as {, ] as }
    opens = folded == _OPEN
    positions = np.flatnonzero(opens | (folded == _CLOSE))
    outside = (np.searchsorted(quotes, positions) + quotes_before) % 2 == 0
    positions = positions[outside]
    return positions, opens[positions], quotes_before + len(quotes)


@dataclass(frozen=True)
class Block:
    """Whole elements as they stand, commas between them; where each ends; the number of the first."""

    text: bytes
    ends: npt.NDArray[np.int64]
    first: int

    def rows(self, fields: Fields, decoder: Any, bad: Bad) -> list[Any]:
        """The elements decoded; `decoder` is of `fields`, for several."""
        import msgspec

        try:
            rows: list[Any] = decoder.decode(b"[%b]" % self.text)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return list(self._one_by_one(fields, bad))
        if len(rows) != len(self.ends):
            raise bad(self.first, "or one soon after is no object")
        return rows

    def _one_by_one(self, fields: Fields, bad: Bad) -> Iterator[Any]:
        start = 0
        for index, end in enumerate(self.ends.tolist()):
            element = self.text[start:end].lstrip(_SPACE)
            if index:
                if not element.startswith(b","):
                    raise bad(self.first + index, "is not separated from the one before it by a comma")
                element = element[1:]
            number = self.first + index
            yield decode_one(fields, element, lambda what, number=number: bad(number, what))  # type: ignore[misc]
            start = end


def blocks(read: Read, bad: Bad, *, before: bytes = b"", size: int = _BLOCK) -> Iterator[Block | bytes]:
    """Blocks of the array whose bytes, behind its opening bracket, are `before` and what `read` gives.

    The last thing yielded is what follows the array's closing bracket, as far as it has been read.

    Raises:
        DataError: built by `bad` if the array is never closed, an element is too long, or it is no array.
    """
    held, first = before, 0
    while True:
        more = read(max(size, len(held)))
        held += more
        structure = Structure.of(held)
        ended = np.flatnonzero(structure.depths < 0)
        last = int(ended[0]) if len(ended) else len(structure.positions)
        ends = structure.positions[:last][structure.depths[:last] == 0] + 1
        if len(ends):
            cut = int(ends[-1])
            yield Block(_without_comma(held[:cut], first, bad), ends - _comma(held, first), first)
            first += len(ends)
        else:
            cut = 0
        if len(ended):
            close = int(structure.positions[last])
            between = held[cut:close].strip(_SPACE)
            if between or held[close : close + 1] != b"]":
                raise bad(
                    first, f"is no object: {between[:60]!r}" if between else "is not closed as it opened"
                )
            yield held[close + 1 :]
            return
        held = held[cut:]
        if not more:
            raise bad(None, "end unfinished: the file is truncated")
        if len(held) > LONGEST:
            raise bad(first, f"is longer than {LONGEST >> 20} MB")


def _comma(held: bytes, first: int) -> int:
    """The bytes before the first element of a block: spaces, and a comma unless it is the array's first."""
    rest = held.lstrip(_SPACE)
    return len(held) - len(rest) + bool(first)


def _without_comma(text: bytes, first: int, bad: Bad) -> bytes:
    rest = text.lstrip(_SPACE)
    if not first:
        return rest
    if not rest.startswith(b","):
        raise bad(first, "is not separated from the one before it by a comma")
    return rest[1:]
