"""Commands about files of logs: which formats there are."""

from __future__ import annotations

from streamcmp.cli.output import write_stdout


def formats() -> None:
    """List the formats of logs that can be read."""
    from streamcmp import api

    rows = [
        (each.name, " ".join(each.endings), each.about + ("" if each.built_in else " (another package's)"))
        for each in api.formats()
    ]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = [f"{name:{widths[0]}}  {endings:{widths[1]}}  {about}".rstrip() for name, endings, about in rows]
    write_stdout("".join(f"{line}\n" for line in lines).encode())
