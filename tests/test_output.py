from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamcmp import output
from streamcmp.errors import UsageError
from streamcmp.output import write_atomic


def test_writes_and_replaces_leaving_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    for data in (b"first", b"second"):
        write_atomic(target, data)
        assert target.read_bytes() == data
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_files_are_as_readable_as_the_umask_or_the_file_replaced_says(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomic(tmp_path / "new", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    (tmp_path / "new").chmod(0o604)
    write_atomic(tmp_path / "new", b"again")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o604


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_atomic(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "report.json"
    target.write_bytes(b"old")

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(UsageError, match=r"report\.json: no space left on device"):
        write_atomic(target, b"new")
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_an_interrupted_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(tmp_path / "report.json", b"new")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="it is a folder"):
        write_atomic(tmp_path, b"")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no folder .*absent"):
        write_atomic(tmp_path / "absent" / "report.json", b"")


def test_a_file_used_as_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError, match="there is no folder"):
        write_atomic(tmp_path / "file" / "report.json", b"")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(UsageError, match=r"report\.json: permission denied"):
            write_atomic(tmp_path / "report.json", b"")
    finally:
        tmp_path.chmod(0o700)


def test_a_long_name_still_has_a_temporary_one(tmp_path: Path) -> None:
    target = tmp_path / ("x" * 240)
    write_atomic(target, b"data")
    assert target.read_bytes() == b"data"


def test_pieces_that_end_early_leave_nothing(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise KeyboardInterrupt

    write_atomic(tmp_path / "whole", iter([b"one, ", b"two"]))
    assert (tmp_path / "whole").read_bytes() == b"one, two"
    for name in ("whole", "new"):
        with pytest.raises(KeyboardInterrupt):
            write_atomic(tmp_path / name, pieces())
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("whole", b"one, two")]


@pytest.mark.parametrize("held", [1, 10**6])
def test_pieces_are_gathered_in_memory_or_on_disk(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, held: int
) -> None:
    monkeypatch.setattr(output, "_HELD", held)
    with output.gathered([b"one, ", b"", b"two"]) as whole:
        assert whole.read() == b"one, two"
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    if held == 1:
        with pytest.raises(UsageError, match=r"cannot write to .*absent: No such"), output.gathered([b"one"]):
            pass
