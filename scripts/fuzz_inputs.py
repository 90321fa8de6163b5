"""Damaged logs for the fuzzer: every format and kind, damaged in bytes, in values, in structure."""

import bz2
import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pyarrow as pa

ROWS = 40
_CODECS: tuple[Literal["zstd", "uncompressed"], ...] = ("zstd", "uncompressed")
VALUES: tuple[Any, ...] = (
    None, "", " ", "0", "1", "true", "C", "P", "nan", "é", "e\u0301", "\x00", "\ud800", '"', "a,b", "\n",
    -1, 0, 1, 2, 2**31, 2**63, 2**64, -(2**127), 10**40, 0.5, -0.0, 1e308, float("nan"), float("inf"), True,
    False, [], {}, [1], {"value": "C"}, {"a": {"b": {"c": 1}}}, [[]], "x" * 5000,
)  # fmt: skip
NAMES = (
    "id",
    "correct",
    "doc_id",
    "filter",
    "metrics",
    "scores",
    "value",
    "epoch",
    "target",
    "",
    "a.b",
    "*",
    "^x$",
)


def table(rng: random.Random, *, texts: bool = False) -> list[dict[str, Any]]:
    """Rows of a plain log."""
    return [
        {
            "id": f"q{number}" if texts else number,
            "correct": rng.choice([True, False]),
            "domain": rng.choice("abc"),
            "label": "xy"[number % 2],
        }
        for number in range(ROWS)
    ]


def lm_eval_rows(rng: random.Random) -> list[dict[str, Any]]:
    """Rows of lm-evaluation-harness."""
    return [
        {
            "doc_id": number, "doc": {"q": "?", "cat": "ab"[number % 2]}, "target": "A",
            "arguments": {"a": ["p"]}, "resps": [["x"]], "filtered_resps": ["x"], "filter": "none",
            "metrics": ["acc"], "doc_hash": f"d{number}", "prompt_hash": f"p{number}", "target_hash": "t",
            "acc": rng.choice([1.0, 0.0]),
        }
        for number in range(ROWS)
    ]  # fmt: skip


def samples(rng: random.Random) -> list[dict[str, Any]]:
    """Samples of Inspect."""
    return [
        {
            "id": number, "epoch": 1, "input": "?", "target": "A", "messages": [{"content": 'a "b" [c'}],
            "scores": {"match": {"value": rng.choice("CI")}}, "metadata": {"topic": rng.choice("ab")},
        }
        for number in range(ROWS)
    ]  # fmt: skip


def header() -> dict[str, Any]:
    """Of a log of Inspect."""
    said = {"task": "arc", "model": "m", "created": "2025-01-01", "config": {"epochs": 1}}
    return {"version": 2, "status": "success", "eval": said, "results": {}}


def mutated_values(rng: random.Random, value: Any, chance: float) -> Any:
    """A copy of a JSON value in which some values, keys and types have changed."""
    if rng.random() < chance:
        return rng.choice(VALUES)
    if isinstance(value, dict):
        kept = {key: mutated_values(rng, inner, chance) for key, inner in value.items()}
        if rng.random() < chance and kept:
            del kept[rng.choice(list(kept))]
        if rng.random() < chance:
            kept[rng.choice(NAMES)] = rng.choice(VALUES)
        return kept
    if isinstance(value, list):
        return [mutated_values(rng, inner, chance) for inner in value if rng.random() > chance / 4]
    return value


def mutated_bytes(rng: random.Random, data: bytes) -> bytes:
    """Bits flipped, pieces cut out, doubled, moved, replaced; or cut short."""
    found = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5, 30])):
        if not found:
            break
        at, length = rng.randrange(len(found)), rng.choice([1, 4, 50, len(found) // 3 + 1])
        piece = found[at : at + length]
        match rng.randrange(7):
            case 0 | 1:
                found[at] ^= 1 << rng.randrange(8)
            case 2:
                del found[at:]
            case 3:
                del found[at : at + length]
            case 4:
                found[at:at] = piece
            case 5:
                found[at : at + length] = rng.randbytes(len(piece))
            case _:
                found[at:at] = rng.choice(
                    [b'"', b"\n", b"\r", b"\x00", b"{", b"[", b"]}", b",", b"\xff\xfe", b"nan"]
                )
    return bytes(found)


def jsonl(rows: list[Any]) -> bytes:
    """Lines of JSON; what is no text goes as JSON has it, NaN and lone surrogates too."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def eval_bytes(rng: random.Random, rows: list[Any]) -> bytes:
    """An archive of samples and summaries, perhaps with odd members."""
    out = io.BytesIO()
    method = rng.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
    with zipfile.ZipFile(out, "w", method) as archive:
        if rng.random() >= 0.03:
            archive.writestr("header.json", json.dumps(mutated_values(rng, header(), 0.02)))
        for number, row in enumerate(rows):
            name = row.get("id", number) if isinstance(row, dict) else number
            archive.writestr(f"samples/{str(name)[:20]!r}_epoch_1.json", json.dumps(row))
        if rng.random() >= 0.2:
            archive.writestr("summaries.json", json.dumps(rows))
        if rng.random() < 0.05:
            archive.writestr("summaries.json", bomb(rng))
    return out.getvalue()


def bomb(rng: random.Random) -> bytes:
    """What is small when compressed: much of the same, or very deep."""
    kinds: list[Callable[[], bytes]] = [
        lambda: b"[" + b" " * 80_000_000 + b"]",
        lambda: b"[" * 2_000_000,
        lambda: b'[{"id":1,"scores":' + b'{"a":' * 1_000_000,
        lambda: b'[{"id": "' + b"x" * 60_000_000 + b'"}]',
        lambda: b'{"id":1}' * 3_000_000,
    ]
    return rng.choice(kinds)()


def deep(rng: random.Random) -> bytes:
    """A line of JSON nested beyond reason."""
    depth = rng.choice([100, 1000, 100_000])
    return rng.choice([b"[" * depth, b'{"id":' * depth, b'{"id":' * depth + b"1" + b"}" * depth])


def _json_like(rng: random.Random, rows: list[Any], whole: Callable[[list[Any]], bytes]) -> bytes:
    """JSON damaged in its values, its bytes, or its depth."""
    how = rng.random()
    if how < 0.45:
        return whole([mutated_values(rng, row, rng.choice([0.0003, 0.003, 0.03])) for row in rows])
    if how < 0.9:
        return mutated_bytes(rng, whole(rows))
    data = whole(rows)
    cut = data.find(b"\n", rng.randrange(len(data))) + 1
    return data[:cut] + deep(rng) + b"\n" + data[cut:]


def _columnar(rng: random.Random, rows: list[dict[str, Any]], ending: str) -> bytes:
    frame = pl.DataFrame(rows)
    if rng.random() < 0.2:
        odd = rng.choices([0.0, 1.0, None, float("nan"), 0.5], weights=[9, 9, 1, 1, 0.1], k=ROWS)
        frame = frame.with_columns(correct=pl.Series(odd))
    if rng.random() < 0.3:
        small = pl.Series(range(ROWS), dtype=pl.UInt8)
        frame = frame.with_columns(pl.struct("domain", "label").alias("meta"), id=small)
    out = io.BytesIO()
    if ending == "parquet":
        codec = rng.choice(_CODECS)
        frame.write_parquet(out, row_group_size=rng.choice([None, 7]), compression=codec)
    elif ending == "arrow":
        frame.write_ipc(out)
    else:
        frame.write_ipc_stream(out)
    return mutated_bytes(rng, out.getvalue()) if rng.random() < 0.6 else out.getvalue()


def _csv(rng: random.Random, rows: list[dict[str, Any]], separator: str) -> bytes:
    if rng.random() < 0.4:
        rows = [
            {key: rng.choice(VALUES) if rng.random() < 0.005 else row[key] for key in row} for row in rows
        ]
    texts = [{key: _as_text(value) for key, value in row.items()} for row in rows]
    data = pl.DataFrame(texts).write_csv(separator=separator).encode()
    return mutated_bytes(rng, data) if rng.random() < 0.5 else data


def _as_text(value: Any) -> str:
    return str(value).encode(errors="replace").decode()


def _packed(rng: random.Random, path: Path, data: bytes) -> None:
    """To a file, perhaps compressed, perhaps damaged after that."""
    if rng.random() < 0.03:
        data = bomb(rng)
    ending = rng.choice(["", "", "", ".gz", ".zst", ".bz2"])
    if ending == ".gz":
        data = gzip.compress(data, 1)
    elif ending == ".zst":
        data = pa.compress(data, "zstd", asbytes=True)
    elif ending == ".bz2":
        data = bz2.compress(data[:10_000_000], 1)
    if ending and rng.random() < 0.3:
        data = mutated_bytes(rng, data)
    path.with_name(path.name + ending).write_bytes(data)


KINDS = (
    "jsonl", "csv", "tsv", "parquet", "arrow", "arrows", "lm-eval", "inspect-json", "inspect-eval", "lines",
    "tally",
)  # fmt: skip


def write_log(
    rng: random.Random, kind: str, folder: Path, *, sound: bool = False, texts: bool = False
) -> Path:
    """A log of a kind in `folder`, whose path is returned.

    sound: undamaged. texts: ids of tables are texts.
    """
    folder.mkdir(parents=True)
    if sound:
        rng = _Careful(rng.random())
    if kind == "jsonl":
        rows = table(rng, texts=texts)
        _packed(rng, folder / "log.jsonl", jsonl(rows) if sound else _json_like(rng, rows, jsonl))
    elif kind in ("csv", "tsv"):
        data = _csv(rng, table(rng, texts=texts), "\t" if kind == "tsv" else ",")
        _packed(rng, folder / f"log.{kind}", data)
    elif kind == "lines":
        data = b"".join(rng.choice([b"1\n", b"0\n"]) for _ in range(ROWS))
        _packed(rng, folder / "log.txt", mutated_bytes(rng, data) if rng.random() < 0.7 else data)
    elif kind in ("parquet", "arrow", "arrows"):
        (folder / f"log.{kind}").write_bytes(_columnar(rng, table(rng, texts=texts), kind))
    else:
        _write_harness(rng, kind, folder, sound=sound)
    return folder


def _write_harness(rng: random.Random, kind: str, folder: Path, *, sound: bool) -> None:
    if kind == "lm-eval":
        for task in ("arc", "gsm8k"):
            rows = lm_eval_rows(rng)
            data = jsonl(rows) if sound else _json_like(rng, rows, jsonl)
            (folder / f"samples_{task}_2025-09-09T13-42-42.857006.jsonl").write_bytes(data)
    elif kind == "inspect-json":

        def whole(rows: list[Any]) -> bytes:
            log = header() | {"samples": rows, "reductions": []}
            return json.dumps(log, indent=rng.choice([None, 1])).encode()

        data = whole(samples(rng)) if sound else _json_like(rng, samples(rng), whole)
        (folder / "log.json").write_bytes(data)
    else:
        rows = samples(rng)
        if not sound and rng.random() < 0.6:
            rows = [mutated_values(rng, row, rng.choice([0.0005, 0.01])) for row in rows]
        data = eval_bytes(rng, rows)
        (folder / "log.eval").write_bytes(data if sound or rng.random() < 0.5 else mutated_bytes(rng, data))


class _Careful(random.Random):
    """A source of numbers that never asks for damage: chances are never met."""

    def random(self) -> float:
        return 0.999
