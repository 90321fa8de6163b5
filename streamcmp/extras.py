"""What an extra of the package needs: imported where it is used, with a message that says how to get it."""

from __future__ import annotations

from importlib.util import find_spec

from streamcmp.errors import UsageError


def needs(module: str, extra: str, what: str) -> None:
    """Raise UsageError unless `module` is installed, which the extra `extra` brings; `what` asks for it."""
    if find_spec(module) is None:
        raise UsageError(f"{what} needs {module}, which is not installed: pip install 'streamcmp[{extra}]'")
