"""What is said beside the result: notes, warnings, errors. All of it on stderr.

For people one line or a few each; with `--messages json` one JSON object a line: docs/batch.md has its form.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from streamcmp.meter import Meter

_EXAMPLES: Final = {
    "duplicate_a": "duplicate ids on the left",
    "duplicate_b": "duplicate ids on the right",
    "guard_mismatch": "ids whose guard differs",
    "unmatched_a": "ids on the left only",
    "unmatched_b": "ids on the right only",
    "normalization": "ids without a partner that only Unicode normalisation separates",
}


Messages = Literal["text", "json"]
# Anything else is an error.
_LEVELS: Final = {"note": "info", "result": "info", "ledger": "info", "warning": "warning"}


class _Voice:
    """How the process speaks; there is one stderr."""

    json = False


def speak(form: str | None) -> None:
    """From now on as `--messages` says; None changes nothing."""
    if form is not None:
        _Voice.json = form == "json"


def speaks_json() -> bool:
    """Whether stderr is for programs."""
    return _Voice.json


def form_asked_for(arguments: Sequence[str]) -> str:
    """What is said of `--messages`, before any of it is understood: a mistake in the rest is told so, too."""
    return (
        _worth(arguments, "--messages")
        or os.environ.get("STREAMCMP_MESSAGES")
        or _form_in_config(_worth(arguments, "--config") or os.environ.get("STREAMCMP_CONFIG"))
        or "text"
    )


def _worth(arguments: Sequence[str], option: str) -> str | None:
    """What the command line gives an option."""
    for before, argument in zip(["", *arguments], arguments, strict=False):
        if before == option:
            return argument
        if argument.startswith(f"{option}="):
            return argument.removeprefix(f"{option}=")
    return None


def _form_in_config(path: str | None) -> str | None:
    """What a config says; nothing where it cannot be read, which is told when it is loaded."""
    if not path:
        return None
    import tomllib

    with suppress(OSError, ValueError, RecursionError):
        return str(tomllib.loads(Path(path).read_text(encoding="utf-8-sig")).get("messages", ""))
    return None


def say(kind: str, text: str, code: str | None = None, /, **fields: Any) -> None:
    """`kind: text` on stderr, or an object with a code and fields.

    Where that cannot be written, there is no one to tell.
    """
    line = f"{kind}: {_visible(text)}"
    if _Voice.json:
        level = _LEVELS.get(kind, "error")
        code = code or kind.replace(" ", "_")
        whole = {"level": level, "code": code, "message": text, "fields": fields}
        line = json.dumps(whole, default=str)
    with suppress(OSError):
        print(line, file=sys.stderr, flush=True)  # noqa: T201 - the command speaks here


def _visible(text: str) -> str:
    """`text`, with what other people's names could do to a terminal written out."""
    if all(map(str.isprintable, lines := text.split("\n"))):
        return text
    from streamcmp.report.values import inert

    return "\n".join(map(inert, lines))


class Notes:
    """Notes on stderr, unless `--quiet`."""

    def __init__(self, *, quiet: bool, verbose: bool) -> None:
        self._quiet = quiet
        self._verbose = verbose

    def note(self, text: str, code: str | None = None, /, **fields: Any) -> None:
        """One sentence about how the run went."""
        if not self._quiet:
            say("note", text, code, **fields)

    def examples(self, ids: Mapping[str, Sequence[str]]) -> None:
        """A few ids of each kind of row that was not counted."""
        for kind, words in _EXAMPLES.items():
            if some := ids.get(kind):
                self.note(f"{words}: {', '.join(some)}", "examples", kind=kind, ids=list(some))
        for text in ids.get("guard_values", ()):
            self.note(f"guards differ: {text}", "guard_values")

    @contextmanager
    def pass_(self) -> Iterator[Meter]:
        """While the logs are read: progress, to a terminal or a program; with `--verbose` what it took."""
        from streamcmp.meter import Meter
        from streamcmp.tuning import settle_freed_memory

        settle_freed_memory()
        started = time.perf_counter()
        meter = Meter()
        if self._quiet or not (_Voice.json or sys.stderr.isatty()):
            yield meter
        elif _Voice.json:
            from streamcmp.cli.logged import logged

            with logged(meter):
                yield meter
        else:
            from streamcmp.cli.progress import shown

            with shown(meter):
                yield meter
        if self._verbose:
            from streamcmp.usage import usage

            self.note(usage(started), "usage")
