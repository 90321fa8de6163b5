"""What all tests share: Hypothesis's profiles, and where the reference data is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No deadlines: two cores shared with other processes say nothing about the code.
settings.register_profile(
    "quick", max_examples=100, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# A hunt before a release: HYPOTHESIS_EXAMPLES=20000 make properties.
settings.register_profile(
    "ci",
    max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", "2000")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

_FOR_TESTS = ("STREAMCMP_UPDATE_GOLDENS", "STREAMCMP_REFERENCE_DATA", "STREAMCMP_REQUIRE_POSTGRES")

# Logs and numbers from elsewhere, too large or not ours to commit. Tests that need them skip without them.
REFERENCE_DATA = Path(
    os.environ.get("STREAMCMP_REFERENCE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)


@pytest.fixture(scope="session")
def reference_data() -> Path:
    """The folder of reference data; skips where there is none."""
    if not REFERENCE_DATA.is_dir():
        pytest.skip("the reference data are not beside this checkout")
    return REFERENCE_DATA


@pytest.fixture(autouse=True, scope="session")
def _own_environment() -> Iterator[None]:
    """Options in the environment of whoever runs the tests are not theirs."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith("STREAMCMP_") and name not in _FOR_TESTS:
                patch.delenv(name)
        yield
