from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from streamcmp.analysis import Analysis
from streamcmp.errors import UsageError


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("test", "t-test"),
        ("alternative", "greater"),
        ("ci", "exact"),
        ("adjust", "fdr"),
        ("confidence", 95),
        ("confidence", 0.0),
        ("confidence", float("nan")),
        ("confidence", "0.95"),
        ("min_discordant", -1),
        ("min_discordant", 2.5),
        ("min_discordant", True),
    ],
)
def test_an_impossible_value_names_its_option(option: str, value: object) -> None:
    options: dict[str, Any] = {option: value}
    with pytest.raises(UsageError, match=f"--{option.replace('_', '-')} must be"):
        Analysis(**options)


@pytest.mark.parametrize(("confidence", "alpha"), [(0.95, 0.05), (0.9, 0.1), (0.99, 0.01), (0.999, 0.001)])
def test_alpha_is_what_a_person_would_say(confidence: float, alpha: float) -> None:
    assert Analysis(confidence=confidence).alpha == alpha


def test_options_need_no_heavy_imports() -> None:
    code = (
        "import sys, streamcmp.analysis, streamcmp.report.names, streamcmp.output; "
        "sys.exit(bool({'polars', 'numpy', 'scipy', 'rich', 'pyarrow'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
