"""`streamcmp test`: McNemar's test of two counts in hand."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Final, Literal

from streamcmp.cli.groups import grouped
from streamcmp.cli.options import SHOW, Names, Statistics, Talk, choice, option
from streamcmp.cli.output import chosen_format, write
from streamcmp.cli.stderr import Notes
from streamcmp.errors import UsageError
from streamcmp.target import check_target

if TYPE_CHECKING:
    from streamcmp.in_hand import McnemarResult
    from streamcmp.report.model import Report


TestFormat = Literal["table", "json"]
_COUNTS = "The counts"


@dataclass(frozen=True, kw_only=True)
class Counts:
    """The counts."""

    won: Annotated[int, option("--won", "pairs that only the right model got right", _COUNTS)]
    lost: Annotated[int, option("--lost", "pairs that only the left model got right", _COUNTS)]
    n: Annotated[int | None, option("--n", "all pairs, for the gain and its interval", _COUNTS)] = None


@dataclass(frozen=True, kw_only=True)
class ShowTest:
    """Where the result goes."""

    format: Annotated[
        TestFormat | None,
        choice("--format", "how, if the ending of --output does not say it", TestFormat, SHOW),
    ] = None
    output: Annotated[Path | None, option("--output", "write it to this file: .txt .json", SHOW)] = None


ENDINGS: Final = MappingProxyType({".txt": "table", ".json": "json"})


@grouped
def test(counts: Counts, names: Names, statistics: Statistics, show: ShowTest, talk: Talk) -> None:
    """Test two counts in hand: --won 14 --lost 4."""
    from streamcmp.in_hand import mcnemar
    from streamcmp.request import display_names

    check_target(show.output, [talk.config] if talk.config is not None else [])
    form = chosen_format(show, ENDINGS)
    called = display_names(None, None, names.left_name, names.right_name)
    given = {name: value for name, value in asdict(statistics).items() if value is not None}
    try:
        result = mcnemar(counts.lost, counts.won, counts.n, **given)
    except UsageError as problem:
        option = {"n_ab": " (--lost)", "n_ba": " (--won)"}.get(str(problem).partition(" ")[0], "")
        raise UsageError(f"{problem}{option}") from None
    text = json.dumps(result.to_dict(), indent=2) + "\n" if form == "json" else _for_people(result, called)
    write([text.encode()], show.output, Notes(quiet=talk.quiet, verbose=talk.verbose))


def _for_people(result: McnemarResult, names: tuple[str, str]) -> str:
    from streamcmp.report.numbers import p_equation

    report = result.to_report(names)
    figures = {
        "exact": (result.p_exact, result.log10_p_exact),
        "mid-p": (result.p_mid, result.log10_p_mid),
        "chi2": (result.p_chi2, result.log10_p_chi2),
        "chi2-corrected": (result.p_chi2_corrected, result.log10_p_chi2_corrected),
    }
    lines = [report.sentence, f"(test: {result.test}, {result.alternative}; {_interval(result)})"]
    lines += [
        "",
        "two-sided p by each test:",
        *(f"  {test:<14}  {p_equation(*p)}" for test, p in figures.items()),
        *_asked(report),
    ]
    return "\n".join([*lines, ""])


def _asked(report: Report) -> list[str]:
    """What was asked besides, but for the margin, which is in the sentence."""
    from streamcmp.report.extras import extras

    analysis = {**report.comparison["analysis"], "margin": None}
    lines = [(" ".join(column.header).strip(), column.text(report.overall)) for column in extras(analysis)]
    width = max((len(name) for name, _ in lines), default=0)
    return ["", *(f"{name:<{width}}  {text}" for name, text in lines)] if lines else []


def _interval(result: McnemarResult) -> str:
    if result.gain_low is not None:
        return f"interval: {result.ci}, {result.confidence}"
    if result.n:
        return f"no {result.ci} interval: it needs all four cells, and --n tells only their sum"
    return "no interval: it needs --n" if result.n is None else "no interval"
