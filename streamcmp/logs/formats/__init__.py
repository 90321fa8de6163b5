"""The log formats: one module each.

A format from another package is found by the entry-point group `streamcmp.formats` (name -> a `Format`). That
is looked up only for a name or an ending that no built-in has: to list all installed packages costs start-up
time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

from streamcmp.errors import UsageError
from streamcmp.logs.formats.base import Format
from streamcmp.logs.formats.text import COMPRESSED_ENDINGS

ENTRY_POINTS = "streamcmp.formats"


class _BuiltIn(Mapping[str, Format]):
    """Our formats by name, in the order in which they are asked; a module is loaded when its turn comes."""

    def __init__(self, homes: dict[str, tuple[str, str]]) -> None:
        """`homes`: name -> the module, and the name of the `Format` in it."""
        self._homes = homes

    def __getitem__(self, name: str) -> Format:
        module, attribute = self._homes[name]
        found: Format = getattr(import_module(f"{__name__}.{module}"), attribute)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)


# Parquet first: it needs none of the others. Formats that refine others come after them: an ending says the
# general one.
BUILT_IN: Mapping[str, Format] = _BuiltIn(
    {
        "parquet": ("parquet", "FORMAT"),
        "ipc": ("ipc", "FORMAT"),
        "csv": ("csv", "CSV"),
        "tsv": ("csv", "TSV"),
        "ndjson": ("ndjson", "FORMAT"),
        "lines": ("lines", "FORMAT"),
        "lm-eval": ("lm_eval", "FORMAT"),
        "inspect": ("inspect_ai", "FORMAT"),
    }
)
REFINED = {"ndjson": ("lm-eval", "inspect")}  # the formats within others


@cache
def plugins() -> dict[str, Format]:
    """The formats of other installed packages, by name."""
    points = entry_points(group=ENTRY_POINTS)
    return {point.name: point.load() for point in points if point.name not in BUILT_IN}


def by_name(name: str) -> Format:
    """The format of this name.

    Raises:
        UsageError: no installed format has the name.
    """
    found = BUILT_IN.get(name) or plugins().get(name)
    if found is None:
        raise UsageError(f"--input-format must be one of {', '.join((*BUILT_IN, *plugins()))}; not {name!r}")
    return found


def has_ending(name: str, found: Format) -> bool:
    """Whether a file's name ends as the format's files do, in any case; text formats also compressed."""
    name = name.lower()
    if found.text:
        for ending in COMPRESSED_ENDINGS:
            name = name.removesuffix(ending)
    return name.endswith(found.endings)


def by_ending(name: str) -> Format | None:
    """The format whose ending a file's name has, or None."""
    found = next((each for each in BUILT_IN.values() if has_ending(name, each)), None)
    return found or next((each for each in plugins().values() if has_ending(name, each)), None)


def by_content(head: bytes) -> Format | None:
    """The format whose signature a file begins with, or None."""
    return next((each for each in BUILT_IN.values() if each.sniff(head)), None)


def refined(path: Path, found: Format) -> Format:
    """The format within `found` that the file's content is of; `found` itself if there is none."""
    within = (BUILT_IN[name] for name in REFINED.get(found.name, ()))
    return next((each for each in within if each.detect(path)), found)
