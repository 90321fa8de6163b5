"""Engines: count(Comparison) -> Tally. One so far: this machine."""
