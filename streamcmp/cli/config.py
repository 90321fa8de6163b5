"""`--config FILE.toml`: options from a file. The command line and the environment go before it."""

from __future__ import annotations

import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import typer

from streamcmp.errors import UsageError

_NOT_IN_FILES = frozenset(("config", "help", "version"))


def load_config(context: typer.Context, path: Path | None) -> Path | None:
    """Take the file's options as this command's defaults. typer calls it before it looks at any other option.

    Raises UsageError for a file that cannot be read, a key that no command has, or a value that is a table. A
    key that only another command has is left to it: one file may serve several.
    """
    if path is None:
        return None
    options = {parameter.name: parameter for parameter in context.command.params}
    defaults: dict[str, Any] = {}
    for key, value in _read(path).items():
        name = key.replace("-", "_")
        _check(path, key, name, value, context)
        if name in options:
            several = getattr(options[name], "multiple", False) and not isinstance(value, list)
            defaults[name] = [value] if several else value
    context.default_map = {**(context.default_map or {}), **defaults}
    return path


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise UsageError(
            f"cannot read the config {path}: {(problem.strerror or str(problem)).lower()}"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise UsageError(f"the config {path} is not TOML: {problem}") from None


def _check(path: Path, key: str, name: str, value: Any, context: typer.Context) -> None:
    known = _all_options(context) - _NOT_IN_FILES
    if name not in known:
        close = get_close_matches(name, known, n=1)
        hint = f"; did you mean {close[0].replace('_', '-')}?" if close else ""
        raise UsageError(f"the config {path} has an unknown option {key!r}{hint}")
    if isinstance(value, dict):
        raise UsageError(
            f"the config {path}: {key} is a table; options are plain values such as confidence = 0.9"
        )


def _all_options(context: typer.Context) -> set[str]:
    """Names of the options of all commands."""
    root = context.find_root().command
    commands = getattr(root, "commands", {}).values()
    return {str(parameter.name) for command in commands for parameter in command.params}
