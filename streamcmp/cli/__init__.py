"""The command line: parse, call the API, render, exit. It holds no arithmetic."""

from streamcmp.cli.app import main

__all__ = ["main"]
