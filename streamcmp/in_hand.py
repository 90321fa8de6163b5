"""McNemar's test of counts or predictions that are already in hand: no logs, no files."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from operator import index
from typing import Any

import polars as pl

from streamcmp import stats
from streamcmp.analysis import Alternative, Analysis, GainInterval, OddsInterval, Test
from streamcmp.errors import DataError, UsageError
from streamcmp.report.model import Report
from streamcmp.results import finalize
from streamcmp.slice_numbers import numbers
from streamcmp.tally import CELLS, COUNTERS, NOTED, OVERALL, Tally


@dataclass(frozen=True, slots=True)
class McnemarResult:
    """One McNemar test; repeats what it was computed from.

    `n_ab`: pairs that only A got right, so B lost them; `n_ba`: pairs that B won. `n`: all pairs, None where
    that is not known; then `gain` (accuracy of B minus accuracy of A, in [-1, 1]) and its limits are None
    too, as they are at n = 0. `both_correct` and `both_wrong` are known only where predictions were given.
    `missing`: examples left out because a value was missing. `p_exact` ... `p_chi2_corrected` are two-sided;
    `p` is the `test`'s at `alternative`. A p below 2.2e-308 is that bound, and its log10 the truth. What
    follows `confidence` was asked for, else it is None: `margin` and the p-values that go with it; `odds_ci`,
    the interval of the odds n_ba/n_ab (None where infinite) and of `share_won` = n_ba/(n_ab + n_ba); the gain
    detectable with `power`; evidence that holds at any time.
    """

    n_ab: int
    n_ba: int
    n: int | None
    both_correct: int | None
    both_wrong: int | None
    missing: int
    p_exact: float
    p_mid: float
    p_chi2: float
    p_chi2_corrected: float
    log10_p_exact: float
    log10_p_mid: float
    log10_p_chi2: float
    log10_p_chi2_corrected: float
    test: str
    alternative: Alternative
    p: float
    log10_p: float
    gain: float | None
    gain_low: float | None
    gain_high: float | None
    ci: GainInterval
    confidence: float
    margin: float | None = None
    p_noninferior: float | None = None
    log10_p_noninferior: float | None = None
    p_equivalent: float | None = None
    log10_p_equivalent: float | None = None
    odds_ci: OddsInterval | None = None
    odds: float | None = None
    odds_low: float | None = None
    odds_high: float | None = None
    share_won: float | None = None
    share_won_low: float | None = None
    share_won_high: float | None = None
    power: float | None = None
    mde: float | None = None
    log10_e: float | None = None
    p_anytime: float | None = None
    log10_p_anytime: float | None = None
    share_won_anytime_low: float | None = None
    share_won_anytime_high: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Field name to value, JSON-ready."""
        return asdict(self)

    def to_report(self, names: tuple[str, str] = ("left", "right")) -> Report:
        """The same as a report of one row, to be rendered as reports are. `names`: what to call A and B."""
        counts = {name: [getattr(self, name)] for name in CELLS} | {name: [0] for name in NOTED}
        table = pl.DataFrame({**counts, "n": [self.n]}, schema=dict.fromkeys((*COUNTERS, "n"), pl.Int64))
        chosen = {name: getattr(self, name) for name in ("test", "alternative", "ci", "confidence", "margin")}
        analysis = Analysis(
            **chosen,
            odds=self.odds_ci,
            mde=self.power is not None,
            power=self.power if self.power is not None else Analysis().power,
            anytime=self.log10_e is not None,
        )
        return finalize(Tally({OVERALL: table}, ledger=None), analysis, names)


def mcnemar(
    n_ab: int,
    n_ba: int,
    n: int | None = None,
    *,
    test: Test = "exact",
    alternative: Alternative = "two-sided",
    ci: GainInterval = "tango",
    confidence: float = 0.95,
    margin: float | None = None,
    odds: OddsInterval | None = None,
    mde: bool = False,
    power: float = 0.8,
    anytime: bool = False,
) -> McnemarResult:
    """McNemar's test from the two discordant counts.

    Args:
        n_ab: pairs that A (the baseline) got right and B wrong; a whole number >= 0.
        n_ba: pairs that B got right and A wrong.
        n: all pairs, at least n_ab + n_ba; needed for the gain and its interval only.
        test: what `p` holds: "exact", "mid-p", "chi2", "chi2-corrected" or "auto" (exact below 25 discordant
        pairs).
        alternative: "two-sided", "better" (B better than A) or "worse".
        ci: "tango", "bonett-price", "agresti-min" or "wald"; "newcombe" needs the agreement cells, so here it
            gives no limits.
        confidence: of the two-sided interval, between 0 and 1.
        margin: adds the p-values of "worse by less than this" and "as good within it"; 0.01: a point.
        odds: adds the odds of winning a discordant pair: "clopper-pearson", "mid-p" or "wilson".
        mde: adds the smallest gain that so many pairs detect with `power`.
        power: between 0 and 1.
        anytime: adds an e-value and a confidence sequence, which hold however often one looks.

    Raises:
        UsageError: a count is no whole number, negative or too large, or an option has no such value.

    Reference:
        Fagerland, Lydersen & Laake (2013). BMC Medical Research Methodology 13:91.
    """
    lost, won = _whole("n_ab", n_ab), _whole("n_ba", n_ba)
    total = None if n is None else _whole("n", n)
    if total is not None and total < lost + won:
        raise UsageError(f"n is {total:,}, but {lost + won:,} pairs are discordant; n counts all pairs")
    analysis = Analysis(
        test=test,
        alternative=alternative,
        ci=ci,
        confidence=confidence,
        margin=margin,
        odds=odds,
        mde=mde,
        power=power,
        anytime=anytime,
    )
    return _result(lost, won, total, analysis)


def mcnemar_from_predictions(
    y: Any,
    a: Any,
    b: Any,
    *,
    test: Test = "exact",
    alternative: Alternative = "two-sided",
    ci: GainInterval = "tango",
    confidence: float = 0.95,
    margin: float | None = None,
    odds: OddsInterval | None = None,
    mde: bool = False,
    power: float = 0.8,
    anytime: bool = False,
) -> McnemarResult:
    """McNemar's test from the truth and two models' predictions, example by example.

    A prediction is correct where it equals the truth. With more than two classes, two different wrong answers
    are both wrong: they say nothing about which model is better.

    Args:
        y: true labels, one-dimensional: a list, a numpy array, a pandas or polars series, ...; numbers,
            booleans or text.
        a: the baseline's predictions, as many.
        b: the candidate's predictions, as many.
        test: see `mcnemar`, as all further arguments.
        alternative: see `mcnemar`.
        ci: see `mcnemar`.
        confidence: see `mcnemar`.
        margin: see `mcnemar`.
        odds: see `mcnemar`.
        mde: see `mcnemar`.
        power: see `mcnemar`.
        anytime: see `mcnemar`.

    Returns:
        McnemarResult with all cells. An example in which y, a or b is None or NaN is left out and counted in
        `missing`: it is neither right nor wrong.

    Raises:
        DataError: the lengths differ, a column is not one-dimensional or of mixed types, or numbers meet
        text.
        UsageError: an option has no such value.
    """
    analysis = Analysis(
        test=test,
        alternative=alternative,
        ci=ci,
        confidence=confidence,
        margin=margin,
        odds=odds,
        mde=mde,
        power=power,
        anytime=anytime,
    )
    columns = [_column(name, values) for name, values in (("y", y), ("a", a), ("b", b))]
    if len({len(column) for column in columns}) > 1:
        raise DataError(
            f"y, a and b must be of one length; they have {', '.join(f'{len(one):,}' for one in columns)}"
        )
    kinds = {kind for column in columns if (kind := _kind(column)) is not None}
    if len(kinds) > 1:
        described = ", ".join(f"{column.name} is {_kind(column) or 'empty'}" for column in columns)
        raise DataError(f"predictions and labels must be of one kind: {described}. Convert one of them")
    frame = pl.DataFrame(columns).drop_nulls()
    right_a, right_b = frame["a"] == frame["y"], frame["b"] == frame["y"]
    lost, won = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
    both = int((right_a & right_b).sum())
    missing = len(columns[0]) - frame.height
    return _result(lost, won, frame.height, analysis, both_correct=both, missing=missing)


def _result(
    lost: int,
    won: int,
    n: int | None,
    analysis: Analysis,
    *,
    both_correct: int | None = None,
    missing: int = 0,
) -> McnemarResult:
    both_wrong = None if n is None or both_correct is None else n - lost - won - both_correct
    cells: dict[str, Any] = {
        "both_correct": both_correct,
        "n_ab": lost,
        "n_ba": won,
        "both_wrong": both_wrong,
    }
    counts = pl.DataFrame(
        {**cells, "n": n, "n_discordant": lost + won},
        schema=dict.fromkeys((*cells, "n", "n_discordant"), pl.Int64),
    )
    found = numbers(counts, analysis).row(0, named=True)
    chi2, corrected = stats.chi2([lost], [won]), stats.chi2_corrected([lost], [won])
    shared = McnemarResult.__dataclass_fields__.keys() & found.keys()
    return McnemarResult(
        **cells,
        n=n,
        missing=missing,
        log10_p_chi2=float(chi2.log10_p[0]),
        log10_p_chi2_corrected=float(corrected.log10_p[0]),
        alternative=analysis.alternative,
        ci=analysis.ci,
        confidence=analysis.confidence,
        margin=analysis.margin,
        odds_ci=analysis.odds,
        power=analysis.power if analysis.mde else None,
        **{name: found[name] for name in shared},
    )


def _whole(name: str, value: Any) -> int:
    try:
        number = index(value)
    except TypeError:
        raise UsageError(f"{name} must be a whole number, not {value!r}") from None
    if not 0 <= number < 2**62 or isinstance(value, bool):
        raise UsageError(f"{name} must be a whole number from 0 to 2^62 - 1, not {value!r}")
    return number


def _column(name: str, values: Any) -> pl.Series:
    """`values` as one column; NaN is null, booleans are 0 and 1, every kind of text is text."""
    column = _series(name, values)
    dtype = column.dtype
    if isinstance(dtype, pl.List | pl.Array | pl.Struct | pl.Object):
        raise DataError(f"{name} must be one-dimensional and hold numbers, booleans or text, not {dtype}")
    if dtype.is_float():
        return column.fill_nan(None)
    if isinstance(dtype, pl.Boolean):
        return column.cast(pl.Int8)
    return column.cast(pl.String) if isinstance(dtype, pl.Categorical | pl.Enum) else column


def _series(name: str, values: Any) -> pl.Series:
    typed = hasattr(values, "dtype") and values.dtype != object
    if not typed and not hasattr(values, "__arrow_c_stream__") and not hasattr(values, "__arrow_c_array__"):
        values = list(values)  # plain objects, one by one
        if any(isinstance(value, float) for value in values) and all(
            value is None or isinstance(value, int | float) for value in values
        ):
            values = [None if value is None else float(value) for value in values]
    try:
        return pl.Series(name, values)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as problem:
        reason = str(problem).partition("\n")[0]
        raise DataError(f"{name} cannot be read as one column of values: {reason}") from None


def _kind(column: pl.Series) -> str | None:
    if isinstance(column.dtype, pl.Null):
        return None
    return (
        "numbers"
        if column.dtype.is_numeric()
        else "text"
        if isinstance(column.dtype, pl.String)
        else str(column.dtype)
    )
