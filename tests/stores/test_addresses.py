"""Addresses and their errors, without any server; and Google's, Azure's and Hugging Face's as far as a closed
port of this machine can tell."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import streamcmp
from streamcmp.addresses import if_unsigned, is_address, is_writable, reason, shown
from streamcmp.errors import DataError

RIGHT = pl.DataFrame({"id": [1, 2], "correct": [True, False]})


def test_what_is_an_address() -> None:
    assert is_address("s3://bucket/a.parquet")
    assert is_address("HTTPS://server/a.parquet")
    assert not is_address("file:///tmp/a.parquet")
    assert not is_address("C://a.parquet")
    assert not is_address(Path("s3://bucket/a.parquet"))
    assert [is_writable(f"{kind}://x/y") for kind in ("s3", "gs", "az", "abfss", "http", "https", "hf")] == [
        True, True, True, True, False, False, False
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("address", "seen"),
    [
        ("s3://bucket/a b.parquet", "s3://bucket/a b.parquet"),
        ("https://me:pass@server:1/x@y.parquet?sig=1&se=2", "https://server:1/x@y.parquet"),
        ("https://token@server/x.parquet", "https://server/x.parquet"),
        ("/tmp/a?b.parquet", "/tmp/a?b.parquet"),
        ("s3://bucket/day=?/x.parquet", "s3://bucket/day=?/x.parquet"),
    ],
)
def test_credentials_in_an_address_are_not_shown(address: str, seen: str) -> None:
    assert shown(address) == seen


def test_an_unknown_error_is_told_in_its_first_line_without_what_was_signed() -> None:
    said = "object-store error: odd thing at https://a:b@h/x?sig=zzz (path: ...)\nand more"
    assert reason(OSError(said), "https://a:b@h/x?sig=zzz") == "odd thing at https://h/x (path: ...)"


def test_a_store_that_does_not_answer_may_miss_credentials() -> None:
    assert "set HF_TOKEN" in if_unsigned("hf://datasets/x/y.parquet")
    assert not if_unsigned("http://server/x.parquet")


def test_google_without_credentials_says_what_is_missing() -> None:
    with pytest.raises(DataError, match="no credentials for gs:// were found: set GOOGLE_APPLICATION_CRED"):
        streamcmp.compare("gs://bucket/x.parquet", RIGHT)


def test_azure_without_credentials_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        DataError, match="no credentials for az:// were found: set AZURE_STORAGE_ACCOUNT_NAME"
    ):
        streamcmp.compare("az://container/x.parquet", RIGHT)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
    with pytest.raises(DataError, match="no credentials for az:// were found"):
        streamcmp.compare("az://other/x.parquet", RIGHT)


def test_hugging_face_is_left_to_polars_as_one_log(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def scan(source: str, **options: object) -> pl.LazyFrame:
        asked.append((source, options["glob"]))
        return RIGHT.lazy()

    monkeypatch.setattr(pl, "scan_parquet", scan)
    tally = streamcmp.count("hf://datasets/o/n@main/*.parquet", RIGHT)
    assert tally.parts[0].inputs["a"]["paths"] == ["hf://datasets/o/n@main/*.parquet"]
    assert set(asked) == {("hf://datasets/o/n@main/*.parquet", True)}
