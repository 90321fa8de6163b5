"""Named fields of JSON objects, at any depth, without decoding the rest.

msgspec skips what a type does not name at 1.5 GB/s, three times as fast as it decodes (measured on lines of
12 kB of an evaluation harness), so the fields asked for are made a type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any

from streamcmp.logs.nested import readings, walk

# What JSON must escape: msgspec cannot rename a field to such a name.
_ESCAPED = re.compile(r'[\\"\x00-\x1f]')


class Fields:
    """A decoder of the named fields, or, with None, of whole objects as dicts; and their values."""

    def __init__(self, names: Sequence[str] | None) -> None:
        self._names = names

    @cached_property
    def _node(self) -> _Node | None:
        """None where objects are dicts."""
        if self._names is None or any(_ESCAPED.search(name) for name in self._names):
            return None
        return _Node(self._names)

    @cached_property
    def decoder(self) -> Any:
        """Of one object, or of lines of objects."""
        return self.decoder_of()

    def decoder_of(self, *, several: bool = False) -> Any:
        """A decoder of one object, or of a list of objects."""
        import msgspec

        one: Any = dict[str, Any] if self._node is None else self._node.struct
        return msgspec.json.Decoder(list[one] if several else one)

    def of(self, found: dict[str, Any]) -> Any:
        """An object that was decoded otherwise, as the decoder would have."""
        return found if self._node is None else self._node.row(found)

    def values(self, rows: list[Any], name: str) -> list[Any]:
        """The values of one field, None where a row lacks it."""
        if self._node is None:
            return [walk(row, name) if "." in name else row.get(name) for row in rows]
        return self._node.column(rows, name)


class _Node:
    """The type of an object of which some fields are wanted: key -> attribute, and the type below."""

    def __init__(self, paths: Iterable[str]) -> None:
        import msgspec

        below: dict[str, set[str]] = {}
        for path in map(str, paths):  # not of a class of its own, which msgspec refuses
            for key, rest in readings(path):
                below.setdefault(key, set()).add(rest)
        self.attributes = {key: f"f{index}" for index, key in enumerate(below)}
        # An object that is itself wanted is decoded whole.
        self._inner = {key: _Node(sorted(rests)) for key, rests in below.items() if "" not in rests}
        fields: list[tuple[str, Any, Any]] = []
        for key, attribute in self.attributes.items():
            node = self._inner.get(key)
            other = str | int | float | bool | list[Any] | None
            fields.append((attribute, Any if node is None else node.struct | other, None))
        rename = {attribute: key for key, attribute in self.attributes.items()}
        # gc=False: the collector need not visit rows, which hold no cycles.
        self.struct: Any = msgspec.defstruct("Row", fields, rename=rename, gc=False)

    def get(self, row: Any, path: str) -> Any:
        """The value at a path."""
        for key, rest in readings(path):
            found = getattr(row, self.attributes[key])
            if found is not None and rest:
                node = self._inner.get(key)
                inside = node is not None and isinstance(found, node.struct)
                found = node.get(found, rest) if node is not None and inside else walk(found, rest)
            if found is not None:
                return found
        return None

    def column(self, rows: list[Any], path: str) -> list[Any]:
        """The values at a path: by the reading that fits the first rows, the others' one by one."""
        for key, rest in readings(path):
            found = list(map(attrgetter(self.attributes[key]), rows))
            if found.count(None) == len(found):
                continue
            if rest:
                found = self._below(key, found, rest)
            if "." not in path or None not in found:
                return found
            pairs = zip(rows, found, strict=True)
            return [self.get(row, path) if value is None else value for row, value in pairs]
        return [None] * len(rows)

    def _below(self, key: str, objects: list[Any], rest: str) -> list[Any]:
        """What the objects hold at the rest of a path; None where there is none."""
        present = [value for value in objects if value is not None]
        node = self._inner.get(key)
        if node is None or set(map(type, present)) != {node.struct}:
            return [None] * len(objects)
        values = iter(node.column(present, rest))
        return [None if value is None else next(values) for value in objects]

    def row(self, found: dict[str, Any]) -> Any:
        """A row of this type from a dict; objects within stay dicts."""
        return self.struct(**{attribute: found.get(key) for key, attribute in self.attributes.items()})
