"""Run one command as a process and measure it: wall time and peak memory, under a cap of each.

Whoever imports this must be small itself: Linux counts a parent's memory at the fork into its child's peak.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil

PERIOD = 0.05
_LOOK_FOR_CHILDREN = 10  # periods: listing all processes costs milliseconds, which the command would lose

Status = Literal["done", "failed", "memory", "time"]


@dataclass(frozen=True)
class Measured:
    """How one process went.

    seconds: from its start to its end, however it ended. peak: bytes, the most that was resident.
    """

    status: Status
    seconds: float
    peak: int
    code: int


class _Watch(threading.Thread):
    """Look at the process and its descendants every 50 ms; kill them all beyond a cap."""

    def __init__(self, pid: int, most_seconds: float, most_bytes: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._until = time.perf_counter() + most_seconds
        self._most_bytes = most_bytes
        self.ended = threading.Event()
        self.peak = 0
        self.status: Status = "done"

    def run(self) -> None:
        tree: list[psutil.Process] = []
        turn = 0
        while not self.ended.wait(PERIOD):
            with suppress(psutil.NoSuchProcess):
                if turn % _LOOK_FOR_CHILDREN == 0:
                    first = psutil.Process(self._pid)
                    tree = [first, *first.children(recursive=True)]
                turn += 1
            self.peak = max(self.peak, sum(map(_resident, tree)))
            if self.peak > self._most_bytes:
                self.status = "memory"
            elif time.perf_counter() > self._until:
                self.status = "time"
            else:
                continue
            kill(self._pid)
            return


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def kill(group: int) -> None:
    """End a process that leads a group, and all of the group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def measure(
    command: Sequence[str], stdout: Path, stderr: Path, *, most_seconds: float, most_bytes: int
) -> Measured:
    """Run the command to its end, or to a cap, with its output in two files."""
    with stdout.open("wb") as out, stderr.open("wb") as err:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, start_new_session=True
        )
        watch = _Watch(process.pid, most_seconds, most_bytes)
        watch.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - started
        except BaseException:
            kill(process.pid)
            process.wait()
            raise
        finally:
            watch.ended.set()
            watch.join()
    process.returncode = os.waitstatus_to_exitcode(status)  # so that Popen does not wait for it again
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    verdict = watch.status
    if verdict == "done" and process.returncode:
        verdict = "failed"
    return Measured(verdict, seconds, max(peak, watch.peak), process.returncode)
