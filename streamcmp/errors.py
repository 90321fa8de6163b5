"""Every error that a user can meet.

An error is built from typed fields and writes its own message: what is wrong, where, and what to do next.
`StreamcmpError` is what callers catch; its `exit_code` is the process's.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence


class StreamcmpError(Exception):
    """Base of all errors a user can meet. Raised with one finished message; caught by the command line."""

    exit_code: ClassVar[int] = 2


class UsageError(StreamcmpError):
    """The request contradicts itself or names something that does not exist. Raised before rows are read."""


class DataError(StreamcmpError):
    """The logs hold something that cannot be compared.

    Raised while reading, or after the pass with full counts.
    """


class InternalError(StreamcmpError):
    """streamcmp broke one of its own laws; nothing it computed may be trusted."""

    exit_code = 3

    def __init__(self, problem: str) -> None:
        super().__init__(f"internal error: {problem}. No result is printed; please report this.")
        self.problem = problem


class Interrupted(KeyboardInterrupt):
    """A signal asked the run to stop. Not a StreamcmpError: `except Exception` must not swallow it.

    Exit code 128 + the signal's number: 130 for SIGINT, 143 for SIGTERM.
    """

    def __init__(self, signal_number: int) -> None:
        super().__init__("interrupted; nothing was written")
        self.signal_number = signal_number

    @property
    def exit_code(self) -> int:
        """The process's exit code."""
        return 128 + self.signal_number


_MOST_NAMED = 60  # columns in a message: nested objects have many fields


def _listed(columns: Sequence[str]) -> str:
    more = f" and {len(columns) - _MOST_NAMED:,} more" if len(columns) > _MOST_NAMED else ""
    return ", ".join(columns[:_MOST_NAMED]) + more + _unseparated(columns)


def _unseparated(columns: Sequence[str]) -> str:
    """Advice where the only column is the whole header of a file with other separators."""
    mark = next((mark for mark in (";", "\t", "|") if len(columns) == 1 and mark in columns[0]), None)
    if mark is None:
        return ""
    if mark == "\t":
        return "\nthat is one column; if tabs separate several, give --input-format tsv"
    return f"\nthat is one column; if '{mark}' separates several, write the file with commas, or tabs as .tsv"


class UnknownColumn(UsageError):
    """A column named by the user is not in the log; `where` is None if it is in neither."""

    def __init__(
        self,
        column: str,
        *,
        where: str | None,
        columns: Sequence[str],
        option: str | None = None,
        advice: str | None = None,
    ) -> None:
        close = get_close_matches(column, columns, n=1, cutoff=0.6)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        named = f" (named by {option})" if option else ""
        lacks, whose = ("neither log has a", "their") if where is None else (f"{where} has no", "its")
        more = f"\n{advice}" if advice else ""
        super().__init__(f"{lacks} column {column!r}{named}{hint}\n{whose} columns: {_listed(columns)}{more}")
        self.column = column
        self.columns = tuple(columns)


class NoColumn(UsageError):
    """Nothing was named and nothing detected for a role (id, outcome, label) that must be filled."""

    def __init__(
        self, role: str, *, where: str, columns: Sequence[str], tried: Sequence[str], option: str
    ) -> None:
        super().__init__(
            f"{where} has no {role} column that can be recognised (looked for {', '.join(tried)}); "
            f"name it with {option}\nits columns: {_listed(columns)}"
        )
        self.columns = tuple(columns)


class AmbiguousColumn(UsageError):
    """Several columns fill one role equally well."""

    def __init__(self, role: str, *, where: str, candidates: Sequence[str], option: str) -> None:
        super().__init__(
            f"{where} has several columns that could be the {role}: {', '.join(candidates)}; "
            f"name one with {option}"
        )
        self.candidates = tuple(candidates)


class ShardLacksColumn(UsageError):
    """A column that is needed is in some files of a log and not in others."""

    def __init__(self, column: str, *, without: str, having: str) -> None:
        super().__init__(
            f"{without} has no column {column!r}, which {having} of the same log has; "
            "add it, leave the file out, or name another column"
        )


class TypeConflict(UsageError):
    """Two columns that must be compared hold values of different kinds."""

    def __init__(self, what: str, first: str, second: str, advice: str) -> None:
        super().__init__(f"{what}: {first}, but {second}; {advice}")


class UnusableType(UsageError):
    """A column has a type that cannot serve in its role."""

    def __init__(self, what: str, *, where: str, type_name: str, advice: str) -> None:
        super().__init__(f"{where}: {what} is {type_name}; {advice}")


class BadValue(DataError):
    """A row holds a value that the rule does not admit. Raised at the first such row of a batch."""

    def __init__(
        self, *, where: str, values: Sequence[tuple[str, object]], problem: str, row: int = 0
    ) -> None:
        """`row`: its number in its file, from 0."""
        shown = " and ".join(f"{column!r} is {shortened(value)}" for column, value in values)
        super().__init__(f"{where}: {shown}; {problem}")
        self.values = tuple(values)
        self.row = row


def shortened(value: object, width: int = 80) -> str:
    """A value as messages show it; a model's whole answer would bury them."""
    text = repr(value)
    return text if len(text) <= width else f"{text[: width - 3]}..."


class EmptyLog(DataError):
    """A log without a single row."""

    def __init__(self, where: str) -> None:
        super().__init__(f"{where} holds no rows; there is nothing to compare")


class ChangedType(DataError):
    """Later rows of a column are of another type than the first ones (formats that type each value)."""

    def __init__(self, column: str, *, where: str, type_name: str, expected: str, advice: str) -> None:
        super().__init__(
            f"{where}: column {column!r} is {type_name} here, but {expected} elsewhere; {advice}"
        )


class UnequalRows(DataError):
    """Rows pair by position, and one log ends before the other. So many rows of each were seen."""

    def __init__(self, left: int, right: int) -> None:
        longer, shorter = ("left", "right") if left > right else ("right", "left")
        super().__init__(
            f"--on row pairs by position, but the {longer} log has more rows than the {shorter} one "
            f"(which ends after {min(left, right):,}); name an id column with --on"
        )
