"""The command `streamcmp`: its commands, and what becomes of errors. docs/cli.md lists the exit codes."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Annotated

import typer

from streamcmp import __version__
from streamcmp.cli import commands, hand
from streamcmp.cli.stderr import say
from streamcmp.errors import InternalError, Interrupted, StreamcmpError

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

app = typer.Typer(
    name="streamcmp",
    help="Compare two prediction logs, paired by example id, slice by slice.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(commands.run)
app.command()(commands.count)
app.command()(commands.merge)
app.command()(commands.finalize)
app.command()(hand.test)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"streamcmp {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", help="print the version", is_eager=True, callback=_version)
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(_EXAMPLES, nl=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, 2 for the user's mistakes, 3 for ours, 130 or 143."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with _terminable():
            return _run(given)
    except InternalError as error:
        return _internal(str(error), given, error)
    except StreamcmpError as error:
        say("error", str(error))
        return error.exit_code
    except KeyboardInterrupt as interrupt:
        stop = interrupt if isinstance(interrupt, Interrupted) else Interrupted(signal.SIGINT)
        say("streamcmp", str(stop))
        return stop.exit_code
    except BrokenPipeError:
        return _reader_is_gone()
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _internal(f"{where}{error.strerror or error}", given, error, code=StreamcmpError.exit_code)
    except BaseException as error:
        if isinstance(error, SystemExit):
            raise
        problem = f"internal error: {type(error).__name__}: {error}. No result is printed; please report this"
        return _internal(f"{problem}, with what --verbose adds.", given, error)


def _run(arguments: list[str]) -> int:
    command = typer.main.get_command(app)
    try:
        with command.make_context("streamcmp", arguments) as context:
            command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    except Exception as error:
        # typer's own usage errors, whose class it keeps in a private module.
        if not hasattr(error, "format_message"):
            raise
        context_of_error = getattr(error, "ctx", None)
        path = context_of_error.command_path if context_of_error is not None else "streamcmp"
        say("error", f"{_plain(error.format_message())}\ntry: {path} --help")
        return StreamcmpError.exit_code
    return 0


def _plain(message: str) -> str:
    """Without what a validator inside typer puts before its own words."""
    return message.replace("Value error, ", "")


def _internal(
    message: str, arguments: Sequence[str], error: BaseException, code: int = InternalError.exit_code
) -> int:
    if "--verbose" in arguments or os.environ.get("STREAMCMP_DEBUG"):
        traceback.print_exception(error)
    say("error", message)
    return code


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
