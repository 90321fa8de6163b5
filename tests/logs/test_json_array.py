from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcmp.errors import DataError
from streamcmp.logs.formats import json_array
from streamcmp.logs.formats.json_array import Block, blocks
from streamcmp.logs.formats.json_fields import Fields

TEXTS = st.text(alphabet='a"\\\\[]{},: \u00e9\n', max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(TEXTS, VALUES, max_size=3), max_size=6)


def bad(number: int | None, what: str) -> DataError:
    return DataError(f"{number} {what}")


def read(text: bytes, size: int, names: list[str] | None = None) -> tuple[list[Any], bytes]:
    """The elements of an array whose first bracket is gone, and what follows it."""
    fields = Fields(names)
    rows: list[Any] = []
    rest = b""
    for found in blocks(io.BytesIO(text).read, bad, size=size):
        if isinstance(found, Block):
            assert found.first == len(rows)
            rows += found.rows(fields, fields.decoder_of(several=True), bad)
            assert len(rows) == found.first + len(found.ends)
        else:
            rest = found
    return rows, rest


@given(
    OBJECTS,
    st.sampled_from([1, 2, 3, 7, 50, 1000]),
    st.sampled_from([1, 2, 5, 1 << 19]),
    st.sampled_from([None, 1]),
)
def test_elements_are_those_of_the_array(
    objects: list[Any], size: int, piece: int, indent: int | None
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_array, "_PIECE", piece)
        text = json.dumps(objects, indent=indent).encode()[1:] + b" tail"
        rows, rest = read(text, size)
    assert rows == objects
    assert b" tail".startswith(rest[:5]) or rest == b" tail"


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b'{"a": 1}', "None end unfinished"),
        (b'{"a": 1}, {"a"', "None end unfinished"),
        (b"1]", "0 is no object"),
        (b'{"a": 1}, 2]', "1 is no object"),
        (b'{"a": 1} {"a": 2}]', "1 is not separated from the one before it by a comma"),
        (b'{"a": 1}}', "1 is not closed as it opened"),
        (b'{"a": 1}, {"a": b}]', "1 is not one JSON object"),
        (b'{"a": 1}, {"a": ' + b"[" * 100_000, "None end unfinished"),
        (b"[1]]", "0 holds a list instead of an object"),
    ],
)
def test_what_is_no_array_of_objects_is_refused(text: bytes, says: str, size: int) -> None:
    with pytest.raises(DataError) as caught:
        read(text, size)
    assert str(caught.value).startswith(says)


def test_an_element_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_array, "LONGEST", 100)
    with pytest.raises(DataError, match="1 is longer than 0 MB"):
        read(b'{"a": 1}, {"a": "' + b"x" * 1000 + b'"}]', 16)


@pytest.mark.parametrize("value", ["1", "NaN"])
def test_only_the_fields_asked_for_are_decoded(value: str) -> None:
    fields = Fields(["a.b", "a.c.d", "e.f"])
    first = '{"a": {"b": ' + value + ', "c": {"d": "x"}}, "z": 1}'
    text = first + ', {"a": 5, "e.f": 3}, {"e": {"f": 4}, "a.c": {"d": 7}}]'
    (block, _) = blocks(io.BytesIO(text.encode()).read, bad)
    assert isinstance(block, Block)
    rows = block.rows(fields, fields.decoder_of(several=True), bad)
    assert [str(found) for found in fields.values(rows, "a.b")] == [
        value.lower() if value == "NaN" else value, "None", "None",
    ]  # fmt: skip
    assert fields.values(rows, "a.c.d") == ["x", None, 7]
    assert fields.values(rows, "e.f") == [None, 3, 4]
