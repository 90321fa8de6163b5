"""The command as a process of its own, and the most memory it had."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# VmHWM, not getrusage: that of a process includes what its parent had when it was started.
_PROBE = """
import os
from streamcmp.__main__ import process
leave = os._exit
def told(code):
    peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
    os.write(2, f"\\npeak {peak}".encode())
    leave(code)
os._exit = told
process()
"""


def peak(*arguments: str | Path) -> tuple[bytes, int]:
    """What `streamcmp ARGUMENTS` prints on stdout, and its peak memory in bytes. It must succeed."""
    if not Path("/proc/self/status").exists():
        pytest.skip("peak memory is read from /proc")
    done = subprocess.run(
        [sys.executable, "-c", _PROBE, *map(str, arguments)], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout, 1024 * int(done.stderr.rsplit(b"peak ", 1)[1])
