"""The command `streamcmp`: its commands, and what becomes of errors. docs/cli.md lists the exit codes."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Annotated

import typer

from streamcmp import __version__
from streamcmp.cli.config import PREFIX, origins
from streamcmp.cli.output import write_stdout
from streamcmp.cli.stderr import form_asked_for, say, speak, speaks_json
from streamcmp.errors import DataError, InternalError, Interrupted, StreamcmpError, UsageError

_EXAMPLES = """\
Is the right-hand model better than the left-hand one, and on which slices?

  Compare two logs, over all and by domain:
    streamcmp run --left old.parquet --right new.parquet --by domain

  Logs with predictions and labels; the report into a file:
    streamcmp run --left old.csv --right new.csv --on id --prediction pred --label gold --output report.json

  Counts already in hand:
    streamcmp test --won 14 --lost 4

streamcmp --help lists the commands, streamcmp run --help the options.
"""

# The commands in the order in which --help lists them, and the modules they live in.
_HOMES = {
    "run": "commands",
    "count": "commands",
    "merge": "commands",
    "finalize": "commands",
    "test": "hand",
    "power": "plan",
    "flips": "flips",
    "check": "files",
    "convert": "files",
    "formats": "files",
    "sql": "sql",
}


def app(arguments: Sequence[str] = ()) -> typer.Typer:
    """The command line. Where the first argument names a command, that one is loaded alone: it starts sooner.

    Not with a config, which may name options of all commands.
    """
    made = typer.Typer(
        name="streamcmp",
        help="Compare two prediction logs, paired by example id, slice by slice.",
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback(invoke_without_command=True)(_root)
    configured = any(word.startswith("--config") for word in arguments) or f"{PREFIX}CONFIG" in os.environ
    alone = [name for name in arguments[:1] if name in _HOMES and not configured]
    for name in alone or _HOMES:
        made.command(name)(getattr(import_module(f"streamcmp.cli.{_HOMES[name]}"), name))
    return made


def _version(asked: bool) -> None:
    if asked:
        write_stdout(f"streamcmp {__version__}\n".encode())
        raise typer.Exit


def _root(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", help="print the version", is_eager=True, callback=_version)
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        write_stdout(_EXAMPLES.encode())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; docs/cli.md lists them."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    speak(form_asked_for(given))
    started = time.perf_counter()
    code = _outcome(given)
    if speaks_json():
        from streamcmp.usage import peak_memory

        seconds = round(time.perf_counter() - started, 3)
        done = {"exit_code": code, "seconds": seconds, "peak_memory_bytes": peak_memory()}
        say("note", f"ended with exit code {code} after {seconds} s", "end", **done)
    return code


def _outcome(given: list[str]) -> int:
    try:
        with _terminable():
            return _run(given)
    except InternalError as error:
        return _internal(str(error), given, error)
    except StreamcmpError as error:
        say("error", str(error), _code(error))
        return error.exit_code
    except KeyboardInterrupt as interrupt:
        stop = interrupt if isinstance(interrupt, Interrupted) else Interrupted(signal.SIGINT)
        say("streamcmp", str(stop), "interrupted", signal=stop.signal_number)
        return stop.exit_code
    except (BrokenPipeError, SystemExit):  # the latter is what rich makes of the former, in --help
        return _reader_is_gone()
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _internal(f"{where}{error.strerror or error}", given, error, code=StreamcmpError.exit_code)
    except BaseException as error:  # noqa: BLE001 - a panic of Polars is no Exception
        problem = f"internal error: {type(error).__name__}: {error}. No result is printed; please report this"
        return _internal(f"{problem}, with what --verbose adds.", given, error)


def _run(arguments: list[str]) -> int:
    command, context = typer.main.get_command(app(arguments)), None
    try:
        _check_not_empty(arguments)
        with command.make_context("streamcmp", arguments) as context:
            command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    except (UsageError, DataError) as error:
        say("error", f"{error}{origins(context, str(error))}", _code(error))
        return error.exit_code
    except Exception as error:
        # typer's own usage errors, whose class it keeps in a private module.
        if not hasattr(error, "format_message"):
            raise
        # What a validator inside typer puts before its own words is left out.
        message = error.format_message().replace("Value error, ", "")
        message = re.sub(r"\s*\n\s*", " ", message)  # choices stand on a line each
        name = context.invoked_subcommand if context is not None else None
        path = f"streamcmp {name}" if name in getattr(command, "commands", {}) else "streamcmp"
        advice = _advice(error, message, arguments, path)
        say("error", f"{message}{origins(context, message)}{advice}\ntry: {path} --help", "usage_error")
        return StreamcmpError.exit_code
    return 0


# What other tools call an option of ours.
_MEANT = {
    "--alpha": "--confidence",
    "--filter": "--where",
    "--group-by": "--by",
    "--id": "--on",
    "--join": "--on",
    "--key": "--on",
    "--slice": "--by",
}


def _advice(error: Exception, message: str, arguments: Sequence[str], path: str) -> str:
    """A line for mistakes that the nearest names do not help with."""
    meant = _MEANT.get(getattr(error, "option_name", ""))
    command = getattr(getattr(error, "ctx", None), "command", None)
    if meant is not None and any(meant in each.opts for each in getattr(command, "params", ())):
        return f"\nyou may want {meant}"
    if message.startswith(("Missing option '--left'", "Missing option '--right'")):
        return f"\nthe two logs are named so: {path} --left LOG --right LOG"
    if message.startswith("No such command") and os.path.exists(arguments[0]):  # noqa: PTH110 - no path but a word
        return "\nto compare two logs: streamcmp run --left LOG --right LOG"
    return ""


def _check_not_empty(arguments: Sequence[str]) -> None:
    """A path that is empty would be the current folder; it is a shell variable without a value."""
    for before, argument in zip(["streamcmp", *arguments], arguments, strict=False):
        if not argument or (argument.startswith("--") and argument.endswith("=")):
            raise UsageError(f"nothing but an empty text after {argument[:-1] or before}; give it a value")


def _internal(
    message: str, arguments: Sequence[str], error: BaseException, code: int = InternalError.exit_code
) -> int:
    fields = {}
    if "--verbose" in arguments or os.environ.get("STREAMCMP_DEBUG"):
        if speaks_json():
            fields["traceback"] = "".join(traceback.format_exception(error))
        else:
            traceback.print_exception(error)
    say("error", message, _code(error), **fields)
    return code


def _code(error: BaseException) -> str:
    """UnknownColumn is `unknown_column`; what is no error of ours is `internal_error`, or `system_error`."""
    if isinstance(error, StreamcmpError):
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__).lower()
    return "system_error" if isinstance(error, OSError) else "internal_error"


def _reader_is_gone() -> int:
    """The reader of stdout has what it wanted (`| head`): no more output, no error."""
    # Python flushes stdout at exit, which would complain once more.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _raise_interrupted(number: int, _frame: FrameType | None) -> None:
    raise Interrupted(number)


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM unwinds as Ctrl-C does, so that temporary files are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _raise_interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
