"""`streamcmp power`: how many pairs are needed, or what so many can show."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from streamcmp.analysis import Alternative, Test
from streamcmp.cli.groups import grouped
from streamcmp.cli.hand import ENDINGS, ShowTest
from streamcmp.cli.options import Talk, choice, option, share
from streamcmp.cli.output import chosen_format, write
from streamcmp.cli.stderr import Notes
from streamcmp.target import check_target

if TYPE_CHECKING:
    from streamcmp.planning import PowerPlan

_PLAN = "The plan"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is known, and what is asked."""

    gain: Annotated[float | None, share("--gain", "the true gain that shall be shown; 0.02 or 2%", _PLAN)] = (
        None
    )
    psi: Annotated[float | None, share("--psi", "the share of discordant pairs to expect", _PLAN)] = None
    n: Annotated[int | None, option("--n", "pairs, for the gain and the chance they have", _PLAN)] = None
    power: Annotated[
        float | None, share("--power", "the chance of showing the gain (default: 0.8)", _PLAN)
    ] = None
    test: Annotated[Test | None, choice("--test", "which test decides", Test, _PLAN)] = None
    alternative: Annotated[
        Alternative | None, choice("--alternative", "what is asked of the right model", Alternative, _PLAN)
    ] = None
    confidence: Annotated[float | None, share("--confidence", "alpha is 1 - this (default: 0.95)", _PLAN)] = (
        None
    )


@grouped
def power(
    *,
    counts: Annotated[
        str | None, typer.Argument(help="a tally file or table of counts, for its psi and n")
    ] = None,
    plan: Plan,
    show: ShowTest,
    talk: Talk,
) -> None:
    """Plan a comparison: the pairs that a gain needs, or the gain that so many pairs can show."""
    from streamcmp.planning import power as planned

    inputs = [path for path in (counts, talk.config) if path is not None]
    check_target(show.output, inputs)
    form = chosen_format(show, ENDINGS)
    given = {name: value for name, value in asdict(plan).items() if value is not None}
    result = planned(counts, **given)
    text = json.dumps(result.to_dict(), indent=2) + "\n" if form == "json" else _for_people(result)
    write([text.encode()], show.output, Notes(quiet=talk.quiet, verbose=talk.verbose))


def _for_people(plan: PowerPlan) -> str:
    from streamcmp.report.numbers import chance, counted, share_in_percent, size_in_points

    given = f"{share_in_percent(plan.psi)} of pairs discordant; {plan.test} test, {plan.alternative}"
    lines = [f"{given}, alpha {plan.alpha:.10g}; power {plan.power:.10g}"]
    if plan.gain is not None and plan.pairs is not None:
        needed = f"{counted(plan.pairs, 'pair')} by Connor's formula"
        if plan.pairs_exact is not None:
            needed = f"{counted(plan.pairs_exact, 'pair')} ({plan.pairs:,} by Connor's formula)"
        lines.append(f"a gain of {size_in_points(plan.gain)} needs {needed}")
    if plan.n is not None:
        pairs = counted(plan.n, "pair")
        shown = "no gain that this share of discordant pairs allows"
        if plan.mde is not None:
            shown = f"a gain of {size_in_points(plan.mde)} or more, by Connor's formula"
        lines.append(f"{pairs} can show {shown}")
        if plan.gain is not None and plan.power_normal is not None:
            chances = f"{chance(plan.power_normal)} by Connor's formula"
            if plan.power_exact is not None:
                chances = f"{chance(plan.power_exact)} ({chances})"
            lines.append(
                f"a gain of {size_in_points(plan.gain)} is shown by {pairs} with a chance of {chances}"
            )
    return "\n".join([*lines, ""])
