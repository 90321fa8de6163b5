"""The log formats that can be read, for whoever asks."""

from __future__ import annotations

from dataclasses import dataclass

from streamcmp.logs import formats


@dataclass(frozen=True, slots=True)
class FormatInfo:
    """A format: its name for --input-format, the endings that say it, what it is, and whether built in."""

    name: str
    endings: tuple[str, ...]
    about: str
    built_in: bool


def known() -> list[FormatInfo]:
    """All formats, the built-in ones first, then those of other installed packages by name."""
    own = [FormatInfo(each.name, each.endings, each.about, True) for each in formats.BUILT_IN.values()]
    others = sorted(formats.plugins().items())
    return own + [FormatInfo(name, each.endings, each.about, False) for name, each in others]
