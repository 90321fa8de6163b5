"""Buckets whose rows are one 64-bit word each: the key and a code of the payload.

The bucket tells the highest bits of a key; the code takes their place. So a bucket is matched by sorting
plain numbers: partners end up side by side, a's row first. Text ids keep their check beside the word, and are
sorted by the highest bits of the key with the row's number below them.

Sides are told apart by their codes: a's count up from 1, b's down from the highest. Whatever is odd, an id
twice or a clash of hashes, is settled bucket by bucket as if there were no codes. More payloads than a word
has room for raise `OutOfStep`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from streamcmp.logs.model import ID
from streamcmp.pairing.buckets import Settler, in_groups, joined, new_spills, scatter
from streamcmp.pairing.codes import Meetings, Payloads, TooManyPayloads
from streamcmp.pairing.keys import checks_of, is_exact, keys_of
from streamcmp.pairing.lockstep import OutOfStep
from streamcmp.pairing.rows import RowLayout
from streamcmp.pairing.spill import bucket_bits

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt
    import polars as pl

    from streamcmp.comparison import SideName
    from streamcmp.logs.model import LogPair
    from streamcmp.pairing.batch import Outcome, PairBatch
    from streamcmp.pairing.examples import Examples
    from streamcmp.pairing.rows import Planes
    from streamcmp.pairing.spill import Spill
    from streamcmp.resources import Resources

    Indices = npt.NDArray[np.int64]
    Keys = npt.NDArray[np.uint64]
    Words = npt.NDArray[np.uint64]

_LEAST_BITS = 10  # room for about a thousand payloads
_FEWEST_BITS = 4  # that may be asked for
_LEAST_ROWS = 2_000_000  # of both sides: fewer are not worth a thousand buckets


def suits(pair: LogPair, resources: Resources) -> bool:
    """Whether there are rows enough to try."""
    if resources.bucket_bits is not None:
        return resources.bucket_bits >= _FEWEST_BITS
    return pair.a.estimated_rows + pair.b.estimated_rows >= _LEAST_ROWS


def row_bytes(pair: LogPair) -> int:
    """What one row takes."""
    return sum(plane.itemsize for plane in _planes(pair))


def _planes(pair: LogPair) -> list[np.dtype[np.generic]]:
    return [np.dtype(np.uint64), *([] if is_exact(pair.id_dtype) else [np.dtype(np.uint32)])]


def pairs(pair: LogPair, resources: Resources, outcome: Outcome, examples: Examples) -> Iterator[PairBatch]:
    """Yield the pairs of odd buckets, then those of all others as one batch of weighted entries.

    Fill `outcome` and `examples`. Raises OutOfStep before it yields anything.
    """
    expected = pair.a.estimated_rows + pair.b.estimated_rows
    bits = resources.bucket_bits or max(_LEAST_BITS, bucket_bits(expected))
    coding = _Coding(pair, bits)
    spills = new_spills(_planes(pair), bits, expected, resources)
    try:
        try:
            scatter(pair, spills, coding.pack, resources, outcome)
            meetings = Meetings(coding.a, coding.b)
        except TooManyPayloads:
            raise OutOfStep from None
        settler = Settler(RowLayout(pair, checked=False), bits, outcome, examples)
        work = _Matcher(coding, meetings, meetings.unequal() if pair.guards else None, settler, spills)
        yield from in_groups(work, spills, resources, outcome)
    finally:
        for spill in spills:
            spill.close()
    yield meetings.conclude(outcome)


class _Coding:
    """What a row becomes, and what of it can be read back. Thread-safe."""

    def __init__(self, pair: LogPair, bits: int) -> None:
        layout = RowLayout(pair, checked=False)
        self.bits = bits
        self.mask = np.uint64((1 << bits) - 1)
        self.checked = not is_exact(pair.id_dtype)
        self.id_dtype = pair.id_dtype
        self.a, self.b = Payloads(layout, int(self.mask)), Payloads(layout, int(self.mask))

    def pack(self, side: SideName, frame: pl.DataFrame) -> tuple[Keys, Planes]:
        """The keys of a batch, and its rows as words, with checks beside them where ids are text."""
        keys = keys_of(frame[ID])
        words = keys << np.uint64(self.bits)
        if side == "a":
            words |= self.a.encode(frame)
        else:
            words |= self.mask - self.b.encode(frame)
        if len(self.a) + len(self.b) >= self.mask:
            raise TooManyPayloads
        return keys, [words, checks_of(frame[ID])] if self.checked else [words]

    def codes(self, words: Words) -> Indices:
        """What stands in the key's place."""
        return (words & self.mask).view(np.int64)

    def of_b(self, codes: Indices) -> npt.NDArray[np.bool_]:
        """Whose rows have these."""
        return codes > len(self.a)

    def codes_b(self, codes: Indices) -> Indices:
        """The codes of b behind these."""
        return int(self.mask) - codes

    def keys(self, words: Words, bucket: int) -> Keys:
        """The keys of words of a bucket."""
        return (words >> np.uint64(self.bits)) | np.uint64(bucket << (64 - self.bits))

    def planes(self, words: Words, bucket: int) -> Planes:
        """The rows as the layout without checks has them."""
        codes = self.codes(words)
        of_b = self.of_b(codes)
        codes[of_b] = self.codes_b(codes[of_b])
        payload = [
            np.where(of_b, of_side_b[np.where(of_b, codes, 0)], of_side_a[np.where(of_b, 0, codes)])
            for of_side_a, of_side_b in zip(self.a.planes[1:], self.b.planes[1:], strict=True)
        ]
        return [self.keys(words, bucket), *payload]


@dataclass(frozen=True)
class _Matcher:
    """Matches one group of buckets after another. Called from several threads."""

    coding: _Coding
    meetings: Meetings
    unequal: npt.NDArray[np.bool_] | None  # which meetings are of guards that differ
    settler: Settler
    spills: tuple[Spill, Spill]

    def __call__(self, buckets: range) -> list[PairBatch]:
        groups = (self.spills[0].read(buckets), self.spills[1].read(buckets))
        odd = []
        for bucket in buckets:
            planes, rows_a = joined(groups, bucket, 1 + self.coding.checked)
            words, checks = planes[0], planes[1] if self.coding.checked else None
            if len(words) and not self._usual(words, checks, bucket):
                odd.append(self.settler.settle(self.coding.planes(words, bucket), checks, rows_a))
        return odd

    def _usual(self, words: Words, checks: npt.NDArray[np.uint32] | None, bucket: int) -> bool:
        """Count a bucket where no id occurs twice on a side; False, and nothing done, for any other."""
        coding = self.coding
        if checks is None:
            ordered = np.sort(words)
            first = np.flatnonzero((ordered[1:] ^ ordered[:-1]) <= coding.mask)
            of_a, of_b = ordered[first], ordered[first + 1]
        else:
            rows, first = _neighbours(words, coding.bits)
            row_a, row_b = rows[first], rows[first + 1]
            of_a, of_b = words[row_a], words[row_b]
            if ((of_a ^ of_b) > coding.mask).any() or (checks[row_a] != checks[row_b]).any():
                return False
            ordered = words
        codes_a, codes_b = coding.codes(of_a), coding.codes(of_b)
        if coding.of_b(codes_a).any() or not coding.of_b(codes_b).all():
            return False
        places = self.meetings.add(codes_a, coding.codes_b(codes_b))
        if self.unequal is not None:
            differs = self.unequal.reshape(-1)[places]
            if differs.any():
                keys = coding.keys(of_a[differs], bucket)
                self.settler.examples.add_keys("guard_mismatch", keys, coding.id_dtype)
        if 2 * len(first) < len(words):
            alone = np.ones(len(words), np.bool_)
            if checks is None:
                alone[first] = alone[first + 1] = False
            else:
                alone[row_a] = alone[row_b] = False
            self._alone(ordered[alone], bucket)
        return True

    def _alone(self, words: Words, bucket: int) -> None:
        coding, examples = self.coding, self.settler.examples
        codes = coding.codes(words)
        from_b = coding.of_b(codes)
        of_a, of_b = codes[~from_b], coding.codes_b(codes[from_b])
        self.meetings.add_alone("a", of_a)
        self.meetings.add_alone("b", of_b)
        keys = coding.keys(words, bucket)
        examples.add_keys("unmatched_a", keys[~from_b][~coding.a.filtered[of_a]], coding.id_dtype)
        examples.add_keys("unmatched_b", keys[from_b][~coding.b.filtered[of_b]], coding.id_dtype)


def _neighbours(words: Words, code_bits: int) -> tuple[Indices, Indices]:
    """Rows in the order of the highest bits of their words, and which of those are as the one after it."""
    below = np.uint64(max(code_bits, len(words).bit_length()))
    ordered = words >> below
    ordered <<= below
    ordered |= np.arange(len(words), dtype=np.uint64)
    ordered.sort()
    first = np.flatnonzero((ordered[1:] ^ ordered[:-1]) >> below == 0)
    ordered &= np.uint64((1 << int(below)) - 1)
    return ordered.view(np.int64), first
