"""Addresses of object stores and web servers: which texts are one, how they are shown, what errors mean.

Likewise the names of tables of a DuckDB file.

Credentials never reach a message, a tally or a report: what may carry them is cut off before.
"""

from __future__ import annotations

import os
import re

_SCHEME = re.compile(r"(?!file:)([a-z][a-z0-9+.-]+)://", re.IGNORECASE)
_USER = re.compile(r"(?<=://)[^/@\s]*@")
# In a store's address `?` is a wild card, unless what follows is a parameter.
_QUERY = re.compile(r"\?[\w.-]+=[^\s()'\"]*")
_WEB_QUERY = re.compile(r"(https?://[^\s?()'\"]*)\?[^\s()'\"]*", re.IGNORECASE)
_WEB = frozenset(("http", "https", "hf"))
_KINDS = {"s3": ("s3", "s3a"), "gs": ("gs", "gcs"), "az": ("az", "azure", "abfs", "abfss")}
_STORES = {name: kind for kind, names in _KINDS.items() for name in names}
_MISSING = {
    "s3": "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or AWS_PROFILE, with boto3 installed); "
    "AWS_SKIP_SIGNATURE=true for a public bucket",
    "gs": "set GOOGLE_APPLICATION_CREDENTIALS to the path of a key file",
    "az": "set AZURE_STORAGE_ACCOUNT_NAME, and AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN",
    "hf": "set HF_TOKEN",
}
# What asks a machine's own service for credentials. It is asked only where there are no others.
_ASKED_THE_MACHINE = ("/latest/api/token", "/latest/meta-data", "token request", "Account must")
# A name in double quotes may hold what else would end it.
_NAME = re.compile(r'"(?:[^"]|"")+"|[^":.][^:.]*')
_TABLE = re.compile(rf"(?:{_NAME.pattern})(?:\.(?:{_NAME.pattern}))*", re.DOTALL)
_OF_FILE = re.compile(rf"(?P<path>.+?)::(?P<table>{_TABLE.pattern}|[^:]+)", re.DOTALL)
_UNREACHED = ("connect", "dns", "timed out", "sending request", "timeout")


def is_address(text: object) -> bool:
    """Whether a text names something in an object store or on a web server, not a file of this machine."""
    return isinstance(text, str) and _SCHEME.match(text) is not None


def is_store(address: str) -> bool:
    """Whether it is of a kind that can be read."""
    return _scheme(address) in {*_STORES, *_WEB}


def is_writable(address: str) -> bool:
    """Whether a result can be written there: object stores take one, web servers do not."""
    return _scheme(address) in _STORES


def shown(address: str) -> str:
    """The address as messages, tallies and reports carry it: without a user's name, password or signature."""
    return _clean(address) if is_address(address) else address


def reason(error: BaseException, address: str) -> str:
    """What went wrong at an address, for a person: in one line, with what to do, without credentials."""
    said = str(error).strip()
    first = _clean(said.splitlines()[0] if said else type(error).__name__)
    lowered = said.lower()
    scheme = _scheme(address)
    missing = _MISSING.get(scheme, "")
    if any(sign in said for sign in _ASKED_THE_MACHINE):
        return f"no credentials for {scheme}:// were found: {missing}"
    if isinstance(error, FileNotFoundError) or " 404 " in said or "paths were empty" in said:
        what = "the bucket does not exist" if "NoSuchBucket" in said else "nothing is there"
        return f"{what}{_endpoint(scheme)}"
    if isinstance(error, PermissionError) or " 401 " in said or " 403 " in said:
        code = re.search(r"<Code>(\w+)</Code>", said)
        why = f" ({code[1]})" if code else ""
        return f"access is refused{why}; {missing or 'does it need a sign-in?'}"
    if isinstance(error, ConnectionError | TimeoutError) or any(sign in lowered for sign in _UNREACHED):
        cause = _cause(said)
        return f"the server cannot be reached{cause}{_endpoint(scheme)}"
    return first.removeprefix("object-store error: ")


def if_unsigned(address: str) -> str:
    """What to add where nothing is known but that nobody answered: it may be for want of credentials."""
    missing = _MISSING.get(_scheme(address))
    return f"; if there are no credentials, {missing}" if missing else ""


def rejects_keys(error: BaseException) -> bool:
    """Whether access is refused because the keys are wrong, rather than because of what they may do."""
    return any(code in str(error) for code in ("InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken"))


def _clean(text: str) -> str:
    """The text, its addresses without what may be a credential."""
    return _QUERY.sub("", _WEB_QUERY.sub(r"\1", _USER.sub("", text)))


def _scheme(address: str) -> str:
    found = _SCHEME.match(address)
    scheme = found[1].lower() if found else ""
    return _STORES.get(scheme, scheme)


def _cause(said: str) -> str:
    """The innermost of what the layers below say, which is what people know."""
    last = said.splitlines()[-1].strip() if "Caused by" in said else ""
    last = re.sub(r"^\d+: ", "", last)
    return f": {_clean(last[:1].lower() + last[1:])}" if last else ""


def _endpoint(scheme: str) -> str:
    """Which server of its kind was asked, where the environment chose one."""
    if scheme != "s3":
        return ""
    names = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
    chosen = next((f"{shown(os.environ[name])}, from {name}" for name in names if os.environ.get(name)), None)
    return f" (at {chosen or 'AWS; AWS_ENDPOINT_URL names another store'})"


def split_table(text: str) -> tuple[str, str] | None:
    """The two sides of the `::` in `file.duckdb::table`; None where there is none."""
    found = _OF_FILE.fullmatch(text)
    return None if found is None else (found["path"], found["table"])


def names_of_table(table: str) -> list[str] | None:
    """The names that stand between dots, without their quotes; None where they cannot be told."""
    if _TABLE.fullmatch(table) is None:
        return None
    return [name[1:-1].replace('""', '"') if name.startswith('"') else name for name in _NAME.findall(table)]
