"""Reading: a path, a URI or a frame becomes a canonical log; two logs become comparable (`open_pair`)."""

from streamcmp.logs.canonical import open_pair

__all__ = ["open_pair"]
