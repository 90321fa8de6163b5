"""Compare two prediction logs, paired by example id, slice by slice."""

__version__ = "0.1.0"
