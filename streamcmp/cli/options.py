"""Every option of the command line, defined once; commands take them by group (see groups.py).

A default of None means: what the API's default is. Each option is also read from the environment, as
STREAMCMP_ and its name, and from a --config file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from streamcmp.analysis import Adjust, Alternative, GainInterval, OddsInterval, Test
from streamcmp.cli.config import PREFIX, lines_of_environment, load_config, terms_of_environment
from streamcmp.cli.stderr import Messages, speak
from streamcmp.comparison import Duplicates, IdType, LabelType, Mismatch, Missing, NullIds, Unmatched
from streamcmp.resources import Engine, Strategy, number_of

Format = Literal["table", "json", "csv", "parquet", "markdown", "junit"]


def option(name: str, help: str, panel: str | None = None, **more: Any) -> Any:  # noqa: A002 - typer's word
    """One option; its environment variable follows from its name."""
    variable = PREFIX + name.removeprefix("--").replace("-", "_").upper()
    return typer.Option(name, help=help, rich_help_panel=panel, envvar=variable, show_envvar=False, **more)


def share(name: str, help: str, panel: str) -> Any:  # noqa: A002 - typer's word
    """An option whose value is a share or a difference of shares: 0.02 or 2%."""
    return option(name, help, panel, parser=_share, metavar="SHARE")


def _share(text: str) -> float:
    try:
        return number_of(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no number; write for example 0.02 or 2%") from None


def choice(
    name: str,
    help: str,  # noqa: A002 - typer's word
    values: Any,
    panel: str,
    *,
    default: bool = True,
    **more: Any,
) -> Any:
    """An option with a few values, the first of which is the default if there is one.

    They stand in the text, as a column of their own would break them.
    """
    first, *others = get_args(values)
    named = ", ".join([f"{first} (default)" if default else first, *others])
    return option(name, f"{help}: {named}", panel, metavar=f"<{name.removeprefix('--')}>", **more)


LOGS = "The logs"
_SIDE = "Where the sides differ"
_ROWS = "Rows that cannot simply be counted"
_TEST = "Statistics"
SHOW = "The report"
PASS = "The pass"
_GATES = "Gates"
_TALK = "On stderr, and options from elsewhere"

Text = str | None
Texts = list[str] | None


def _side(side: str, what: str, other: str | None = None, **more: Any) -> Any:
    return option(f"--{side}-{what}", f"--{other or what} for the {side} log only", _SIDE, **more)


@dataclass(frozen=True, kw_only=True)
class _Sides:
    """What to read."""

    left: Annotated[
        list[str],
        option("--left", "the baseline's log: a file, glob, folder or address; repeat for more files", LOGS),
    ]
    right: Annotated[list[str], option("--right", "the candidate's log, likewise", LOGS)]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a log is read."""

    on: Annotated[Texts, option("--on", "id columns (a, or a,b); 'row' pairs by position", LOGS)] = None
    by: Annotated[
        Texts,
        option(
            "--by",
            'a family of slices: a column, column:bins(0,100), :quantiles(10), :top(50), or "SQL AS name"; '
            "a,b crosses two; repeat for more",
            LOGS,
            callback=terms_of_environment,
        ),
    ] = None
    where: Annotated[Text, option("--where", "only rows for which this SQL condition holds", LOGS)] = None
    guard: Annotated[Texts, option("--guard", "a column that must be equal on both sides", LOGS)] = None
    correct: Annotated[
        Text, option("--correct", "the column that says whether the model was right", LOGS)
    ] = None
    prediction: Annotated[Text, option("--prediction", "or: the prediction, compared with --label", LOGS)] = (
        None
    )
    label: Annotated[Text, option("--label", "the true label", LOGS)] = None
    tolerance: Annotated[
        float | None, option("--tolerance", "right if |prediction - label| is at most this", LOGS)
    ] = None
    score: Annotated[Text, option("--score", "or: a score, compared with --threshold", LOGS)] = None
    threshold: Annotated[float | None, option("--threshold", "right if the score is at least this", LOGS)] = (
        None
    )
    metric: Annotated[
        Texts, option("--metric", "or: which metric or scorer of a harness's log says it", LOGS)
    ] = None
    truth: Annotated[Text, option("--truth", "a third file with the columns id and label", LOGS)] = None
    truth_columns: Annotated[
        Text, option("--truth-columns", "names for its columns, if it has no header: text,label", LOGS)
    ] = None
    model_column: Annotated[
        Text, option("--model-column", "of a table of several models: the column that names them", LOGS)
    ] = None
    id_type: Annotated[IdType | None, choice("--id-type", "compare ids as", IdType, LOGS, default=False)] = (
        None
    )
    id_normalize: Annotated[
        Texts, option("--id-normalize", "compare ids in one form: nfc, lower or trim; repeat for more", LOGS)
    ] = None
    id_strip_prefix: Annotated[
        Texts, option("--id-strip-prefix", "cut this off ids that begin with it; repeat for more", LOGS)
    ] = None
    id_regex: Annotated[
        Text, option("--id-regex", "compare the first group of this pattern, for ids that match it", LOGS)
    ] = None
    label_type: Annotated[
        LabelType | None,
        choice("--label-type", "compare prediction and label as", LabelType, LOGS, default=False),
    ] = None
    input_format: Annotated[
        Text, option("--input-format", "where name and content do not tell; see `streamcmp formats`", LOGS)
    ] = None
    columns: Annotated[
        Text, option("--columns", "names for the columns of a file without header: a,b,c", LOGS)
    ] = None


@dataclass(frozen=True, kw_only=True)
class Logs(Reading, _Sides):
    """What to read, and how."""

    slices: Annotated[
        Text, option("--slices", "a third file with the columns id and those of --by", LOGS)
    ] = None
    slices_columns: Annotated[
        Text, option("--slices-columns", "names for its columns, if it has no header: text,domain", LOGS)
    ] = None
    left_on: Annotated[Texts, _side("left", "on")] = None
    right_on: Annotated[Texts, _side("right", "on")] = None
    left_by: Annotated[Texts, _side("left", "by", callback=terms_of_environment)] = None
    right_by: Annotated[Texts, _side("right", "by", callback=terms_of_environment)] = None
    left_correct: Annotated[Text, _side("left", "correct")] = None
    right_correct: Annotated[Text, _side("right", "correct")] = None
    left_prediction: Annotated[Text, _side("left", "prediction")] = None
    right_prediction: Annotated[Text, _side("right", "prediction")] = None
    left_label: Annotated[Text, _side("left", "label")] = None
    right_label: Annotated[Text, _side("right", "label")] = None
    left_score: Annotated[Text, _side("left", "score")] = None
    right_score: Annotated[Text, _side("right", "score")] = None
    left_metric: Annotated[Texts, _side("left", "metric")] = None
    right_metric: Annotated[Texts, _side("right", "metric")] = None
    left_model: Annotated[
        Text, option("--left-model", "whose rows of such a table are the left log", _SIDE)
    ] = None
    right_model: Annotated[Text, option("--right-model", "whose rows are the right log", _SIDE)] = None
    left_input_format: Annotated[Text, _side("left", "input-format")] = None
    right_input_format: Annotated[Text, _side("right", "input-format")] = None
    left_columns: Annotated[Text, _side("left", "columns")] = None
    right_columns: Annotated[Text, _side("right", "columns")] = None


@dataclass(frozen=True, kw_only=True)
class Names:
    """What the report calls the models."""

    left_name: Annotated[Text, option("--left-name", "what to call the left model", SHOW)] = None
    right_name: Annotated[Text, option("--right-name", "what to call the right model", SHOW)] = None


@dataclass(frozen=True, kw_only=True)
class RowPolicies:
    """Policies of the ledger."""

    duplicates: Annotated[
        Duplicates | None, choice("--duplicates", "ids that occur twice", Duplicates, _ROWS)
    ] = None
    mismatch: Annotated[
        Mismatch | None, choice("--mismatch", "pairs that differ in a guard", Mismatch, _ROWS)
    ] = None
    unmatched: Annotated[Unmatched | None, choice("--unmatched", "ids in one log only", Unmatched, _ROWS)] = (
        None
    )
    missing: Annotated[Missing | None, choice("--missing", "outcomes that are null", Missing, _ROWS)] = None
    null_ids: Annotated[NullIds | None, choice("--null-ids", "rows without an id", NullIds, _ROWS)] = None
    strict: Annotated[bool, option("--strict", "each of these is an error", _ROWS)] = False


@dataclass(frozen=True, kw_only=True)
class Statistics:
    """How counts are judged."""

    test: Annotated[Test | None, choice("--test", "which test decides", Test, _TEST)] = None
    alternative: Annotated[
        Alternative | None,
        choice("--alternative", "what is asked of the right model", Alternative, _TEST),
    ] = None
    ci: Annotated[GainInterval | None, choice("--ci", "interval of the gain", GainInterval, _TEST)] = None
    confidence: Annotated[
        float | None, share("--confidence", "its level; alpha is 1 - this (default: 0.95)", _TEST)
    ] = None
    margin: Annotated[
        float | None,
        share("--margin", "is it worse by less than this, or as good within it? 0.01 or 1%", _TEST),
    ] = None
    odds: Annotated[
        OddsInterval | None,
        choice("--odds", "add the odds of winning, with interval", OddsInterval, _TEST, default=False),
    ] = None
    mde: Annotated[bool, option("--mde", "add the gain that so many pairs could detect", _TEST)] = False
    power: Annotated[
        float | None, share("--power", "with which chance --mde detects (default: 0.8)", _TEST)
    ] = None
    anytime: Annotated[
        bool, option("--anytime", "add an e-value, which holds however often you look", _TEST)
    ] = False


@dataclass(frozen=True, kw_only=True)
class Slices:
    """How slices are judged together."""

    adjust: Annotated[
        Adjust | None, choice("--adjust", "how p-values are adjusted within a family", Adjust, _TEST)
    ] = None
    min_discordant: Annotated[
        int | None,
        option("--min-discordant", "do not test slices with fewer discordant pairs (default: 0)", _TEST),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What the pass may use."""

    memory: Annotated[Text, option("--memory", "such as 2GB (default: half of what there is)", PASS)] = None
    spill_dir: Annotated[
        Path | None, option("--spill-dir", "where to spill (default: the system's temporary folder)", PASS)
    ] = None
    threads: Annotated[
        int | None, option("--threads", "how many (default: as many as cores, at most 4)", PASS)
    ] = None
    strategy: Annotated[Strategy | None, choice("--strategy", "how to pair", Strategy, PASS)] = None


EngineName = Annotated[Engine | None, choice("--engine", "what pairs and counts", Engine, PASS)]
Verify = Annotated[
    Text, option("--verify", "count this share of the ids again with DuckDB: 5%; stop if it differs", PASS)
]
Explain = Annotated[
    bool, option("--explain", "say how the logs would be paired, and why; reads no rows", PASS)
]


@dataclass(frozen=True, kw_only=True)
class Show:
    """Where the report goes, and how."""

    format: Annotated[
        Format | None,
        choice("--format", "how, if the ending of --output does not say it", Format, SHOW),
    ] = None
    output: Annotated[
        Text,
        option("--output", "write it to this file or address: .json .csv .parquet .md .txt .xml", SHOW),
    ] = None
    top: Annotated[int, option("--top", "rows per family in the table", SHOW, min=0)] = 20
    plot: Annotated[bool, option("--plot", "draw the gains with their intervals, in a table", SHOW)] = False
    baseline_report: Annotated[
        Path | None,
        option("--baseline-report", "an earlier report in JSON: say what changed since", SHOW),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Gates:
    """What a pipeline acts on."""

    fail_on: Annotated[
        Texts,
        option(
            "--fail-on",
            "exit with 1 if this holds: \"overall.verdict == 'worse'\"; see docs/gates.md; repeat for more",
            _GATES,
            callback=lines_of_environment,
        ),
    ] = None


ShardOfIds = Annotated[
    Text,
    option(
        "--shard", "only the ids whose hash is 3 modulo 16, for 3/16; the first of 16 is 0/16", "The tally"
    ),
]


@dataclass(frozen=True, kw_only=True)
class Save:
    """Where a tally goes."""

    output: Annotated[
        str, option("--output", "the tally to write, a file or an address, such as x.tally", "The tally")
    ]


def _spoken(form: Messages | None) -> Messages | None:
    """A config is known here only; the command line and the environment were looked at before."""
    speak(form)
    return form


@dataclass(frozen=True, kw_only=True)
class Talk:
    """What is said on stderr."""

    quiet: Annotated[bool, option("--quiet", "no notes on stderr", _TALK)] = False
    verbose: Annotated[
        bool, option("--verbose", "how long it took and the memory it used; tracebacks", _TALK)
    ] = False
    messages: Annotated[
        Messages | None,
        choice("--messages", "stderr, for people or for programs", Messages, _TALK, callback=_spoken),
    ] = None
    config: Annotated[
        Path | None,
        option(
            "--config",
            'a TOML file with options (left-name = "cnn"); the environment has them as STREAMCMP_LEFT_NAME',
            _TALK,
            is_eager=True,
            callback=load_config,
        ),
    ] = None
