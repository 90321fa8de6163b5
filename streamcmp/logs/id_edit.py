"""Ids that are edited before they are compared, because the user says so: prefix, pattern, normal form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

import polars as pl
from polars.exceptions import PolarsError

from streamcmp.comparison import Comparison, check_choice
from streamcmp.errors import UsageError

NormalForm = Literal["nfc", "lower", "trim"]


@dataclass(frozen=True)
class IdEdit:
    """What is done to ids that are text, and to the parts of compound ids that are, in the fields' order.

    normalize: forms of Unicode (nfc), letters (lower) and spaces at the ends (trim). prefixes: the first of
    these with which an id begins is cut off. pattern: an id that it matches becomes its first group (the
    match, without one); one that it does not match stays as it is.
    """

    normalize: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    pattern: str | None = None

    @classmethod
    def of(cls, comparison: Comparison) -> IdEdit | None:
        """The edit that is asked for; None without any. Raises UsageError for a pattern that is none."""
        for form in comparison.id_normalize:
            check_choice("--id-normalize", form, get_args(NormalForm))
        if comparison.id_regex is not None:
            try:
                re.compile(comparison.id_regex)
                pl.Series([""]).str.extract(comparison.id_regex, 0)
            except (re.error, PolarsError) as error:
                first = str(error).splitlines()[0]
                raise UsageError(
                    f"--id-regex {comparison.id_regex!r} is no regular expression: {first}"
                ) from error
        if not (comparison.id_normalize or comparison.id_strip_prefix or comparison.id_regex is not None):
            return None
        return cls(comparison.id_normalize, comparison.id_strip_prefix, comparison.id_regex)

    def apply(self, text: pl.Expr) -> pl.Expr:
        """The edited text; null stays null."""
        for form in self.normalize:
            text = {
                "nfc": lambda each: each.str.normalize("NFC"),
                "lower": lambda each: each.str.to_lowercase(),
                "trim": lambda each: each.str.strip_chars(),
            }[form](text)
        cut = text
        for prefix in reversed(self.prefixes):
            cut = pl.when(text.str.starts_with(prefix)).then(text.str.strip_prefix(prefix)).otherwise(cut)
        if self.pattern is None:
            return cut
        group = min(1, re.compile(self.pattern).groups)
        return pl.coalesce(cut.str.extract(self.pattern, group), cut)

    def describe(self) -> str:
        """For the rule of a tally: what makes counts comparable."""
        parts = [f"normalize {form}" for form in self.normalize]
        parts += [f"strip prefix {prefix!r}" for prefix in self.prefixes]
        parts += [f"regex {self.pattern!r}"] if self.pattern is not None else []
        return "; ".join(parts)
