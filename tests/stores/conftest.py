"""A real S3-compatible server and a web server, both on this machine; no test asks any other."""

from __future__ import annotations

import io
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl
import pytest

SERVER = Path(__file__).with_name("server.py")
REGION = "us-east-1"
_BUCKETS = count()
# Polars, boto3 and their like ask these for credentials; so does whatever honours a proxy for https.
_ELSEWHERE = (
    "AWS_METADATA_ENDPOINT",
    "AWS_EC2_METADATA_SERVICE_ENDPOINT",
    "AZURE_MSI_ENDPOINT",
    "IDENTITY_ENDPOINT",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
)
_GOOGLE = ("GCE_METADATA_HOST", "GCE_METADATA_ROOT", "GCE_METADATA_IP")


def closed_port() -> int:
    """A port of this machine on which nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whatever is asked for credentials is a closed port of this machine, and there are none to find."""
    for name in list(os.environ):
        if name.startswith(("AWS_", "AZURE_", "GOOGLE_", "HF_")):
            monkeypatch.delenv(name)
    closed = f"127.0.0.1:{closed_port()}"
    for name in _ELSEWHERE:
        monkeypatch.setenv(name, f"http://{closed}")
    for name in _GOOGLE:
        monkeypatch.setenv(name, closed)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{closed}")
    monkeypatch.setenv("AWS_REGION", REGION)
    monkeypatch.setenv("HOME", str(tmp_path))


@dataclass(frozen=True)
class Bucket:
    """A bucket of its own for every test: Polars remembers how it reached one."""

    name: str
    client: Any

    def address(self, key: str) -> str:
        return f"s3://{self.name}/{key}"

    def put(self, key: str, data: bytes | pl.DataFrame) -> str:
        """Put a file, or a table as the file's ending says; returns its address."""
        if isinstance(data, pl.DataFrame):
            buffer = io.BytesIO()
            if key.endswith(".arrow"):
                data.write_ipc(buffer)
            else:
                data.write_parquet(buffer)
            data = buffer.getvalue()
        self.client.put_object(Bucket=self.name, Key=key, Body=data)
        return self.address(key)

    def get(self, key: str) -> bytes:
        return bytes(self.client.get_object(Bucket=self.name, Key=key)["Body"].read())

    def keys(self) -> list[str]:
        found = self.client.list_objects_v2(Bucket=self.name).get("Contents", [])
        return [one["Key"] for one in found]


@dataclass(frozen=True)
class Store:
    """A running server, and keys that it accepts; it checks every signature."""

    process: subprocess.Popen[str]
    endpoint: str
    key: str
    secret: str

    def client(self) -> Any:
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=self.key,
            aws_secret_access_key=self.secret,
        )


@contextmanager
def running_store() -> Iterator[Store]:
    """A server of its own. The test is skipped, saying what is missing, where there is none."""
    pytest.importorskip("moto", reason="needs moto: pip install -c constraints.txt -e '.[dev]'")
    with subprocess.Popen(
        [sys.executable, str(SERVER)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            endpoint = f"http://127.0.0.1:{int(process.stdout.readline())}"
            yield Store(process, endpoint, *_keys(endpoint))
        finally:
            process.kill()


def _keys(endpoint: str) -> tuple[str, str]:
    """A key and its secret. Once there are these, the server checks every signature."""
    import boto3

    root = {"aws_access_key_id": "root", "aws_secret_access_key": "root"}
    iam = boto3.client("iam", endpoint_url=endpoint, region_name=REGION, **root)
    iam.create_user(UserName="tester")
    every = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}'
    iam.put_user_policy(UserName="tester", PolicyName="all", PolicyDocument=every)
    made = iam.create_access_key(UserName="tester")["AccessKey"]
    request = urllib.request.Request(f"{endpoint}/moto-api/reset-auth", b"0", {"Content-Type": "text/plain"})
    urllib.request.urlopen(request).close()
    return made["AccessKeyId"], made["SecretAccessKey"]


@pytest.fixture(scope="session")
def running() -> Iterator[Store]:
    """One server for all tests of a process."""
    with running_store() as store:
        yield store


@pytest.fixture
def signed_in(running: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The server, with the environment that leads to it."""
    sign_in(running, monkeypatch)
    return running


def sign_in(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", store.endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", store.key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", store.secret)


@pytest.fixture
def bucket(signed_in: Store) -> Bucket:
    """An empty bucket."""
    return new_bucket(signed_in)


def new_bucket(store: Store) -> Bucket:
    client = store.client()
    name = f"bucket-{os.getpid()}-{next(_BUCKETS)}"
    client.create_bucket(Bucket=name)
    return Bucket(name, client)
