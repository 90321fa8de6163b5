"""`--config FILE.toml`: options from a file. The command line and the environment go before it."""

from __future__ import annotations

import os
import re
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import typer

from streamcmp.cli.stderr import say
from streamcmp.errors import UsageError

PREFIX = "STREAMCMP_"
_COMMAND = "streamcmp.command"  # where a command's context is found from the root's
_NOT_IN_FILES = frozenset(("config", "help", "version"))


def load_config(context: typer.Context, path: Path | None) -> Path | None:
    """Take the file's options as this command's defaults. typer calls it before it looks at any other option.

    Raises UsageError for a file that cannot be read, a key that no command has, or a value of the wrong kind.
    A key that only another command has is left to it: one file may serve several.
    """
    context.meta[_COMMAND] = context
    _look_at_environment(context)
    if path is None:
        return None
    options = {parameter.name: parameter for parameter in context.command.params}
    given = _read(path)
    defaults: dict[str, Any] = {}
    for key, value in given.items():
        name = key.replace("-", "_")
        _check_name(path, key, name, context)
        if name != key and name in given:
            raise UsageError(f"the config {path} says {key} and {name}, which are the same option")
        if name in options:
            several = getattr(options[name], "multiple", False) or options[name].nargs != 1
            defaults[name] = _typed(path, key, value, several=several)
    context.default_map = {**(context.default_map or {}), **defaults}
    return path


def lines_of_environment(
    context: typer.Context, parameter: typer.CallbackParam, value: list[str] | None
) -> list[str] | None:
    """An option whose values hold spaces: in the environment they stand one a line."""
    source = context.get_parameter_source(str(parameter.name))
    if source is None or source.name != "ENVIRONMENT":
        return value
    lines = os.environ[str(parameter.envvar)].splitlines()
    return [line for line in lines if line.strip()]


def terms_of_environment(
    context: typer.Context, parameter: typer.CallbackParam, value: list[str] | None
) -> list[str] | None:
    """Families: separated by spaces, or one a line where the text has lines or a name with AS."""
    text = os.environ.get(str(parameter.envvar), "")
    lines = "\n" in text.strip() or re.search(r"\sAS\s", text, re.IGNORECASE)
    return lines_of_environment(context, parameter, value) if lines else value


def origins(root: Any, message: str) -> str:
    """A line for each option in `message` that does not come from the command line: it says where from."""
    context: typer.Context | None = root.meta.get(_COMMAND) if root is not None else None
    if context is None:
        return ""  # the mistake was made before a command's options were looked at
    lines = []
    for parameter in context.command.params:
        name, option = str(parameter.name), parameter.opts[0]
        source = context.get_parameter_source(name)
        if source is None or not re.search(rf"{re.escape(option)}(?![\w-])", message):
            continue
        if source.name == "ENVIRONMENT":
            lines.append(f"\n{option} comes from {parameter.envvar} in the environment")
        elif source.name == "DEFAULT_MAP":
            lines.append(f"\n{option} comes from the config {context.params.get('config')}")
    return "".join(lines)


def _look_at_environment(context: typer.Context) -> None:
    """A variable that is nearly an option's has no effect: say so."""
    known = {f"{PREFIX}{name.upper()}" for name in _all_options(context)} | {f"{PREFIX}DEBUG"}
    for name in sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known):
        close = get_close_matches(name, known, n=1, cutoff=0.9)
        if close:
            say(
                "warning",
                f"{name} in the environment is no option; did you mean {close[0]}?",
                "unknown_variable",
            )


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as problem:
        raise UsageError(
            f"cannot read the config {path}: {(problem.strerror or str(problem)).lower()}"
        ) from None
    except UnicodeDecodeError:
        raise UsageError(f"the config {path} is not TOML: it is not UTF-8 text") from None
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise UsageError(f"the config {path} is not TOML: {problem}") from None


def _check_name(path: Path, key: str, name: str, context: typer.Context) -> None:
    known = _all_options(context) - _NOT_IN_FILES
    if name not in known:
        close = get_close_matches(name, known, n=1)
        hint = f"; did you mean {close[0].replace('_', '-')}?" if close else ""
        raise UsageError(f"the config {path} has an unknown option {key!r}{hint}")


def _typed(path: Path, key: str, value: Any, *, several: bool) -> str | list[str]:
    """`value` as it would be typed on the command line: from there on all is checked alike."""
    if isinstance(value, dict):
        raise UsageError(
            f"the config {path}: {key} is a table; options are plain values such as confidence = 0.9"
        )
    if value == "":
        raise UsageError(f"the config {path}: {key} is empty; give it a value or leave it out")
    if not isinstance(value, list):
        return [_text(value)] if several else _text(value)
    if not several:
        raise UsageError(f"the config {path}: {key} is a list, but --{key} takes one value")
    if any(isinstance(one, list | dict) for one in value):
        raise UsageError(
            f'the config {path}: {key} holds a list or table; several columns are one text, such as "a,b"'
        )
    return [_text(one) for one in value]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _all_options(context: typer.Context) -> set[str]:
    """Names of the options of all commands."""
    root = context.find_root().command
    commands = getattr(root, "commands", {}).values()
    return {str(parameter.name) for command in commands for parameter in command.params}
