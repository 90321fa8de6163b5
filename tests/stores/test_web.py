"""Logs on a web server, by one on this machine that answers requests for ranges."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import polars as pl
import pytest

import streamcmp
from streamcmp import store
from streamcmp.cli import main
from streamcmp.engines import local
from streamcmp.errors import DataError, UsageError

LEFT = pl.DataFrame({"id": range(100), "correct": [i % 3 != 0 for i in range(100)]})
RIGHT = LEFT.with_columns(correct=pl.Series([i % 4 != 0 for i in range(100)]))
SECRETS = ("alice", "hunter2", "c0ffee")


class Files(BaseHTTPRequestHandler):
    """Serves bytes by name, whole or a range of them; `/refused` is for nobody, `/slow` never answers."""

    def __init__(self, files: dict[str, bytes], stop: threading.Event, *args: object) -> None:
        self.files, self.stop = files, stop
        super().__init__(*args)  # type: ignore[arg-type]

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        name = self.path.partition("?")[0].strip("/")
        if name.startswith("slow"):
            self.stop.wait(20)
            return
        data = self.files.get(name)
        if data is None or name.startswith("refused"):
            self.send_error(404 if data is None else 403)
            return
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        start, end = 0, len(data)
        if wanted:
            first, last = wanted.groups()
            start = int(first) if first else max(0, len(data) - int(last))
            end = min(end, int(last) + 1) if first and last else end
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(end - start))
        self.send_header("Accept-Ranges", "bytes")
        if wanted:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(data)}")
        self.end_headers()
        if body:
            self.wfile.write(data[start:end])

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


@contextmanager
def serving(files: dict[str, bytes]) -> Iterator[tuple[ThreadingHTTPServer, str]]:
    stop = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, files, stop))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server, f"127.0.0.1:{server.server_port}"
    finally:
        stop.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def web() -> Iterator[str]:
    files = {
        "old.parquet": parquet(LEFT),
        "new.parquet": parquet(RIGHT),
        "refused.parquet": parquet(LEFT),
        "counts.csv": b"n_ab,n_ba\n1,5\n",
    }
    with serving(files) as (_, address):
        yield address


def test_logs_of_a_web_server_are_compared(web: str) -> None:
    report = streamcmp.compare(f"http://{web}/old.parquet", f"http://{web}/new.parquet")
    here = streamcmp.compare(LEFT, RIGHT)
    assert report.to_dict()["results"] == here.to_dict()["results"]
    assert streamcmp.finalize(f"http://{web}/counts.csv").to_dict()["results"][0]["n_ba"] == 5


def test_no_name_password_or_signature_is_kept_or_shown(
    web: str, tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    left = f"http://alice:hunter2@{web}/old.parquet?X-Amz-Signature=c0ffee"
    right = f"http://alice:hunter2@{web}/new.parquet?X-Amz-Signature=c0ffee"
    tally = streamcmp.count(left, right)
    assert tally.parts[0].inputs["a"]["paths"] == [f"http://{web}/old.parquet"]
    tally.save(f"{tmp_path}/one.tally")
    assert main(["run", "--left", left, "--right", right, "--verbose"]) == 0
    assert main(["run", "--left", left, "--right", right, "--format", "json"]) == 0
    for name in ("nothing.parquet", "refused.parquet", "old.csv"):
        there = f"http://alice:hunter2@{web}/{name}?X-Amz-Signature=c0ffee"
        assert main(["run", "--left", there, "--right", right]) == 2
        assert main(["finalize", there]) == 2
        assert main(["run", "--left", left, "--right", right, "--output", there]) == 2
    said = capsys.readouterr()
    stored = open(f"{tmp_path}/one.tally", "rb")  # noqa: PTH123, SIM115
    with stored:
        kept = stored.read().decode(errors="replace")
    for secret in SECRETS:
        assert secret not in said.out + said.err + kept + repr(tally)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nothing.parquet", "nothing is there"),
        ("refused.parquet", "access is refused"),
        ("log.csv", "is csv; only parquet and ipc"),
    ],
)
def test_what_cannot_be_read_is_named(web: str, name: str, says: str) -> None:
    with pytest.raises((DataError, UsageError)) as caught:
        streamcmp.compare(f"http://{web}/{name}", RIGHT)
    assert f"http://{web}/{name}" in str(caught.value)
    assert says in str(caught.value)


def test_a_server_that_never_answers_is_given_up(web: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_PATIENCE", 0.3)
    with pytest.raises(DataError, match=r"slow\.parquet: no answer within 0 seconds"):
        streamcmp.compare(f"http://{web}/slow.parquet", RIGHT)


def test_an_address_of_another_kind_is_refused() -> None:
    with pytest.raises(
        UsageError, match=r"ftp://127\.0\.0\.1/x\.parquet: only s3, gs, az, http, https and hf"
    ):
        streamcmp.compare("ftp://127.0.0.1/x.parquet", RIGHT)


@pytest.mark.slow
def test_a_server_that_dies_midway_is_an_error_and_prints_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = local.opened
    with serving({"old.parquet": parquet(LEFT), "new.parquet": parquet(RIGHT)}) as (server, web):

        def then_gone(*args: object, **options: object) -> object:
            pair = opened(*args, **options)  # type: ignore[arg-type]
            server.shutdown()
            server.server_close()
            return pair

        monkeypatch.setattr(local, "opened", then_gone)
        assert (
            main(["run", "--left", f"http://{web}/old.parquet", "--right", f"http://{web}/new.parquet"]) == 2
        )
    said = capsys.readouterr()
    assert "the server cannot be reached" in said.err
    assert not said.out
