"""Imports point one way: log, pairs, tally, results, report, command. The map is in docs/design.md."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "streamcmp"
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
# Only command bodies may load these: --help must be quick.
HEAVY = {"polars", "numpy", "scipy", "pyarrow", "pandas"}

# Room -> the only modules or rooms of ours that it may import, whatever the depth of the statement.
ALLOWED = {
    "stats": {"errors", "stats"},
    "errors": set(),
    "comparison": {"errors"},
    "analysis": {"comparison", "errors"},
    "ledger": {"comparison", "errors"},
    "earlier": {"errors", "report", "tally"},
    "gates": {"earlier", "errors", "gates", "ledger", "report", "tally"},
    "report": {"ahead", "comparison", "errors", "ledger", "report", "tally"},
}
# Rooms that read logs, or know how logs are paired; and what others may still take from them.
READERS = {"logs", "pairing", "engines"}
MAY_READ = {"logs", "pairing", "engines"}
CONSTANTS = {"accumulate": {"logs.model", "logs.slices", "pairing.batch"}}
# Who knows that there are engines at all.
KNOW_ENGINES = {"engines", "api"}


def room(module: str) -> str:
    """`streamcmp.report.model` is in the room `report`."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "streamcmp"


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def statements(tree: ast.AST, *, typing: bool, inside: bool) -> list[ast.Import | ast.ImportFrom]:
    """Import statements, with or without those for type checkers, and those inside functions."""
    found: list[ast.Import | ast.ImportFrom] = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.append(node)
        elif (typing or not _is_type_checking(node)) and (
            inside or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        ):
            found += statements(node, typing=typing, inside=inside)
    return found


def imported(module: str, *, typing: bool = True, inside: bool = True) -> set[str]:
    """Full names of the modules that `module` imports, ours and others'."""
    names: set[str] = set()
    for node in statements(
        ast.parse(MODULES[module].read_text(encoding="utf-8")), typing=typing, inside=inside
    ):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif node.module is not None:
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                names.add(submodule if submodule in MODULES else node.module)
    return names


def ours(names: set[str]) -> set[str]:
    return {name for name in names if name.split(".")[0] == "streamcmp" and name != "streamcmp"}


@pytest.mark.parametrize("module", [name for name in MODULES if room(name) in ALLOWED])
def test_a_room_imports_only_what_it_may(module: str) -> None:
    # report/model.py takes the version from the package itself, which imports nothing.
    assert {room(name) for name in ours(imported(module))} <= ALLOWED[room(module)]


@pytest.mark.parametrize("module", MODULES)
def test_only_rooms_that_read_logs_know_their_readers(module: str) -> None:
    if room(module) in MAY_READ:
        return
    readers = {name for name in ours(imported(module)) if room(name) in READERS}
    known = {f"streamcmp.{name}" for name in CONSTANTS.get(room(module), set())}
    engines = {name for name in readers if room(name) == "engines"}
    if room(module) in KNOW_ENGINES:
        readers -= engines
    assert readers <= known


def test_logs_know_nothing_of_what_comes_after_them() -> None:
    later = {"accumulate", "api", "cli", "engines", "finalize", "pairing", "report", "stats"}
    for module in MODULES:
        if room(module) == "logs":
            assert not {room(name) for name in ours(imported(module))} & later, module


def test_nobody_imports_the_command_line_but_itself() -> None:
    for module in MODULES:
        if room(module) not in ("cli", "__main__"):
            assert "cli" not in {room(name) for name in ours(imported(module))}, module


@pytest.mark.parametrize("module", [name for name in MODULES if room(name) == "cli"])
def test_the_command_line_holds_no_arithmetic(module: str) -> None:
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    # `+` joins texts and lists, `|` types, `-` takes names out of sets: none computes a number.
    sums = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.BinOp | ast.AugAssign)
            and not isinstance(node.op, ast.Add | ast.BitOr | ast.Sub)]  # fmt: skip
    assert not sums
    assert not {name.split(".")[0] for name in imported(module, typing=False)} & HEAVY


def test_what_help_loads_is_light() -> None:
    """All that the command line imports before a command runs, and all that those modules import."""
    seen: set[str] = set()
    todo = {"streamcmp.cli", "streamcmp.__main__"}
    while todo:
        module = todo.pop()
        seen.add(module)
        names = imported(module, typing=False, inside=False)
        assert not {name.split(".")[0] for name in names} & HEAVY, module
        # Importing a module runs the packages it lies in.
        parents = {name.rpartition(".")[0] for name in ours(names)} & MODULES.keys()
        todo |= ((ours(names) | parents) & MODULES.keys()) - seen


def test_there_are_no_cycles() -> None:
    edges = {
        module: ours(imported(module, typing=False, inside=False)) & MODULES.keys() for module in MODULES
    }
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path, module))
        if module in done:
            return
        for other in sorted(edges[module]):
            visit(other, (*path, module))
        done.add(module)

    for module in MODULES:
        visit(module, ())


def test_the_map_is_not_empty() -> None:
    assert len(MODULES) > 30
    assert "streamcmp.stats.binomial" in ours(imported("streamcmp.stats"))
