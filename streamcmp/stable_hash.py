"""A hash of ids that is the same in every version, on every machine and for every type: XXH64 of their text.

Shards are cut by it (`count --shard`), so it may never change; the hashes of Polars, which pairing uses, are
stable within a version of Polars only. XXH64 is specified by Yann Collet (xxHash, doc/xxhash_spec.md), passes
SMHasher, and is at hand in most languages and engines, so that others can cut the same shards.

What is hashed are the UTF-8 bytes of an id's canonical text: text as it stands after the edits of ids,
integers as decimal digits with a minus sign where negative (no plus, no leading zeros), compound ids as
their parts' texts joined by U+001F, within which U+001E stands as U+001E "0" and U+001F as U+001E "1".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    Bytes = npt.NDArray[np.uint8]
    Words = npt.NDArray[np.uint64]
    Indices = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

_P1, _P2, _P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_P4, _P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
_MODULUS = 2**64
_STRIPE, _WORD = 32, 8
_BLOCK_ROWS = 8_192  # whose numbers stay in a core's own cache: twice as fast as all rows at once (measured)


def shards_of(ids: pl.Series, shards: int) -> npt.NDArray[np.int64]:
    """The shard of each id, 0 to shards - 1: its hash modulo `shards`. Null ids are in shard 0.

    `ids`: canonical ids, integers or text. Raises TypeError for any other type.
    """
    if not ids.null_count():
        return (stable_hash(ids) % np.uint64(shards)).astype(np.int64)
    found = np.zeros(len(ids), np.int64)
    found[ids.is_not_null().to_numpy()] = shards_of(ids.drop_nulls(), shards)
    return found


def stable_hash(ids: pl.Series, seed: int = 0) -> npt.NDArray[np.uint64]:
    """XXH64 of the text of each id.

    Args:
        ids: text, or integers of any width, which are hashed as their decimal digits; without nulls.
        seed: from 0 to 2^64 - 1. Shards use 0.

    Returns:
        uint64, one per id. Equal ids have equal hashes, whatever type they came in.

    Raises:
        TypeError: ids of another type.
        ValueError: an id is null.
    """
    if not (ids.dtype.is_integer() or ids.dtype == pl.String):
        raise TypeError(f"ids are text or integers, not {ids.dtype}")
    if ids.null_count():
        raise ValueError("null has no hash")
    text = ids.cast(pl.String)
    hashes = np.empty(len(text), np.uint64)
    done = 0
    for data, lengths in _blocks(text):
        hashes[done : done + len(lengths)] = _xxh64(data, lengths, seed)
        done += len(lengths)
    return hashes


def _blocks(text: pl.Series) -> Iterator[tuple[Bytes, Indices]]:
    """The bytes and the lengths of some texts at a time; eight more bytes follow the last text's."""
    lengths = text.str.len_bytes().to_numpy().astype(np.int64)
    joined = text.cast(pl.Binary).cast(pl.List(pl.UInt8)).explode(empty_as_null=False)
    data, begin = joined.to_numpy(), 0
    for first in range(0, len(lengths), _BLOCK_ROWS):
        block = lengths[first : first + _BLOCK_ROWS]
        size = int(block.sum())
        padded = np.zeros(size + _WORD, np.uint8)
        padded[:size] = data[begin : begin + size]
        begin += size
        yield padded, block


def _xxh64(data: Bytes, lengths: Indices, seed: int) -> Words:
    if lengths[0] == lengths[-1] and (lengths == lengths[0]).all():
        return _of_one_length(data, int(lengths[0]), len(lengths), seed)
    words: Words = np.ndarray((len(data) - _WORD + 1,), "<u8", data, 0, (1,))  # one begins at each byte
    at = np.cumsum(lengths) - lengths
    hashes = np.full(len(lengths), (seed + _P5) % _MODULUS, np.uint64)
    _stripes(hashes, words, at, lengths, seed)
    hashes += lengths.view(np.uint64)
    rest = lengths & (_STRIPE - 1)
    at += lengths - rest
    for size, mix in _REST:
        rows = rest >= size
        if rows.all():
            mix(hashes, words[at])
        elif rows.any():
            chosen = np.flatnonzero(rows)
            part = hashes[chosen]
            mix(part, words[at[chosen]])
            hashes[chosen] = part
        step = rows * size
        at += step
        rest -= step
    return _avalanche(hashes)


def _of_one_length(data: Bytes, length: int, rows: int, seed: int) -> Words:
    """The same without a place of its own for each text: half the time, and the usual case."""

    def word(at: int) -> Words:
        return np.ndarray((rows,), "<u8", data, at, (length,)).copy()

    whole = length - length % _STRIPE
    lanes = _lanes(seed, rows if whole else 0)
    for at in range(0, whole, _WORD):
        _round(lanes[at // _WORD % len(lanes)], word(at))
    hashes = _converged(lanes) if whole else np.full(rows, (seed + _P5) % _MODULUS, np.uint64)
    hashes += np.uint64(length)
    for size, mix in _REST:
        if length - whole >= size:
            mix(hashes, word(whole))
            whole += size
    return _avalanche(hashes)


def _stripes(hashes: Words, words: Words, at: Indices, lengths: Indices, seed: int) -> None:
    """Replace the hashes of texts of 32 bytes or more by what their whole stripes make."""
    rows = np.flatnonzero(lengths >= _STRIPE)
    at, left = at[rows], lengths[rows] // _STRIPE
    lanes = _lanes(seed, len(rows))
    while len(rows):
        for lane in lanes:
            _round(lane, words[at])
            at += _WORD
        left -= 1
        if left.all():
            continue
        done, more = left == 0, left > 0
        hashes[rows[done]] = _converged([lane[done] for lane in lanes])
        rows, at, left = rows[more], at[more], left[more]
        lanes = [lane[more] for lane in lanes]


def _lanes(seed: int, rows: int) -> list[Words]:
    starts = (seed + _P1 + _P2, seed + _P2, seed, seed - _P1)
    return [np.full(rows, start % _MODULUS, np.uint64) for start in starts]


def _converged(lanes: list[Words]) -> Words:
    total = np.zeros(len(lanes[0]), np.uint64)
    for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True):
        part = lane.copy()
        _rotate(part, bits)
        total += part
    for lane in lanes:
        part = np.zeros(len(lane), np.uint64)
        _round(part, lane)
        total ^= part
        total *= np.uint64(_P1)
        total += np.uint64(_P4)
    return total


# All of these change their first argument; numpy's 64-bit arithmetic wraps, as the specification demands.


def _rotate(values: Words, bits: int) -> None:
    low = values >> np.uint64(64 - bits)
    values <<= np.uint64(bits)
    values |= low


def _round(lane: Words, word: Words) -> None:
    lane += word * np.uint64(_P2)
    _rotate(lane, 31)
    lane *= np.uint64(_P1)


def _mix_word(hashes: Words, word: Words) -> None:
    word *= np.uint64(_P2)
    _rotate(word, 31)
    word *= np.uint64(_P1)
    hashes ^= word
    _rotate(hashes, 27)
    hashes *= np.uint64(_P1)
    hashes += np.uint64(_P4)


def _mix_half(hashes: Words, word: Words) -> None:
    word &= np.uint64(0xFFFFFFFF)
    word *= np.uint64(_P1)
    hashes ^= word
    _rotate(hashes, 23)
    hashes *= np.uint64(_P2)
    hashes += np.uint64(_P3)


def _mix_byte(hashes: Words, word: Words) -> None:
    word &= np.uint64(0xFF)
    word *= np.uint64(_P5)
    hashes ^= word
    _rotate(hashes, 11)
    hashes *= np.uint64(_P1)


def _avalanche(hashes: Words) -> Words:
    for bits, prime in ((33, _P2), (29, _P3)):
        hashes ^= hashes >> np.uint64(bits)
        hashes *= np.uint64(prime)
    hashes ^= hashes >> np.uint64(32)
    return hashes


# What the bytes behind the last whole stripe are taken as: up to three words, a half, three bytes.
_REST = (*[(8, _mix_word)] * 3, (4, _mix_half), *[(1, _mix_byte)] * 3)
