"""Lists of column names as people write them: `task,doc_id`, `"a,b"`, `score[0,1]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamcmp.errors import UsageError, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable

_CLOSING = {"[": "]", "(": ")", "{": "}"}
_QUOTES = "\"'"
_BEFORE, _AFTER = 60, 30  # characters shown around a mistake


class Plain(str):
    """A name that stood in quotes: a column, whatever it looks like. Equal to the same text without."""

    __slots__ = ()


def split_term(text: str, option: str) -> tuple[str, ...]:
    """The names in `text`, split at commas outside brackets and quotes.

    Spaces around a name are dropped, and so are quotes around a whole name: that is how a name with a comma
    is written. Raises UsageError, naming `option`, for an empty name or a bracket or quote that is never
    closed.
    """
    parts, start = [], 0
    for position in _commas(text, option):
        parts.append(text[start:position])
        start = position + 1
    parts.append(text[start:])
    names = tuple(unquoted(part.strip()) for part in parts)
    if not all(names):
        empty = next(index for index, name in enumerate(names) if not name)
        at = sum(len(part) + 1 for part in parts[:empty])
        raise pointed(option, text, at, "a column name is empty")
    return names


def names(value: str | Iterable[str] | None, option: str) -> tuple[str, ...]:
    """One flat list of column names, from one text or several; each may hold several, separated by commas.

    Raises UsageError, naming `option`, for a name that comes twice, and as `split_term` does.
    """
    if value is None:
        return ()
    texts = (value,) if isinstance(value, str) else value
    found = tuple(str(name) for text in texts for name in split_term(text, option))
    for name in found:
        if found.count(name) > 1:
            raise UsageError(f"{option} names {name!r} twice")
    return found


def terms(value: str | Iterable[str | tuple[str, ...]] | None, option: str) -> tuple[tuple[str, ...], ...]:
    """One tuple of texts per family: several in one text, or a tuple of them, are crossed.

    A tuple's texts are taken as they stand, without looking for commas. What stood in quotes is `Plain`.
    """
    if value is None:
        return ()
    given = (value,) if isinstance(value, str) else value
    return tuple(term if isinstance(term, tuple) else split_term(term, option) for term in given)


def unquoted(name: str) -> str:
    """A name without the quotes around all of it, as `Plain`; any other text as it is."""
    if len(name) > 1 and name[0] in _QUOTES and name.find(name[0], 1) == len(name) - 1:
        return Plain(name[1:-1])
    return name


def pointed(option: str, text: str, at: int, problem: str) -> UsageError:
    """The error for a text that is wrong at a character (from 0), with a mark below it."""
    from rich.cells import cell_len  # some characters are two cells wide

    start, end = max(at - _BEFORE, 0), at + _AFTER
    line = "".join(char if char.isprintable() else " " for char in text)
    before = ("..." if start else "") + line[start:at]
    after = line[at:end] + ("..." if end < len(line) else "")
    mark = " " * cell_len(before)
    return UsageError(
        f"{option} {shortened(text)}, character {at + 1}: {problem}\n  {before}{after}\n  {mark}^"
    )


def _commas(text: str, option: str) -> list[int]:
    """Positions of the commas that separate."""
    positions: list[int] = []
    expected: list[tuple[str, int]] = []  # closing brackets still to come, and where they were opened
    quote, opened = "", 0
    for position, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in _QUOTES and _opens(text, position):
            quote, opened = char, position
        elif char in _CLOSING:
            expected.append((_CLOSING[char], position))
        elif expected and char == expected[-1][0]:
            expected.pop()
        elif char == "," and not expected:
            positions.append(position)
    if quote or expected:
        missing, opened = (quote, opened) if quote else expected[-1]
        raise pointed(option, text, opened, f"{text[opened]} is never closed: {missing} is missing")
    return positions


def _opens(text: str, position: int) -> bool:
    """Whether a quote begins here: at the beginning of a name, or within an expression.

    don't is a name, and so is 5' or longer.
    """
    before = text[:position]
    if not before.rpartition(",")[2].strip():
        return True
    return not (before[-1].isalnum() or before[-1] == "_") and text[position] in text[position + 1 :]
