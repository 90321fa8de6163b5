"""Every command and snippet of the pages in PAGES runs, and outputs shown are the real ones.

In a ```console block a line that begins with "$ " is a command; the lines below it, if there are any, are
what it prints. `make goldens` writes them anew.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from scripts import harness_examples

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
FORMATS = ROOT / "docs" / "formats.md"
TUTORIAL = ROOT / "docs" / "tutorial.md"
NAMES = ("flips", "gates", "slices", "tutorial", "warehouse")
PAGES = (README, FORMATS, *(ROOT / "docs" / f"{page}.md" for page in NAMES))
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
UPDATE = os.environ.get("STREAMCMP_UPDATE_GOLDENS") == "1"

# make would start these tests again, pip would install; .ci/run does both, from a fresh clone.
NOT_HERE = ("make ", "pip ")


def blocks(kind: str, page: Path = README) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return [match[2] for match in BLOCK.finditer(text) if match[1] == kind]


def commands(block: str) -> list[tuple[str, str]]:
    """Split a console block into (command, output shown); the output is "" where none is shown."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    assert parts[0] == "", f"a console block begins with a command, not with {parts[0]!r}"
    return list(zip(parts[1::2], parts[2::2], strict=True))


def shell(command: str, folder: Path) -> str:
    """Run a command as a reader would, in a copy of the examples, and return its standard output."""
    here = Path(sys.executable).parent
    env = os.environ | {"PATH": f"{here}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120", "NO_COLOR": "1"}
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def name(block: str) -> str:
    return block.splitlines()[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


CONSOLE = [(page, block) for page in PAGES for block in blocks("console", page)]


@pytest.mark.golden
@pytest.mark.parametrize(("page", "block"), CONSOLE, ids=[name(block)[:80] for _, block in CONSOLE])
def test_commands_golden(page: Path, block: str, folder: Path) -> None:
    real = ""
    for command, shown in commands(block):
        printed = shown if command.startswith(NOT_HERE) else shell(command, folder)
        real += f"$ {command}\n" + (printed if shown else "")
    if UPDATE:
        page.write_text(page.read_text(encoding="utf-8").replace(block, real), encoding="utf-8")
    else:
        assert real == block


@pytest.mark.parametrize("snippet", blocks("python"), ids=name)
def test_snippets(snippet: str, folder: Path) -> None:
    subprocess.run([sys.executable, "-c", snippet], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def test_both_kinds_of_block_are_found() -> None:
    assert len(blocks("console")) >= 4
    assert len(blocks("console", FORMATS)) >= 8
    assert len(blocks("python")) >= 1


@pytest.mark.parametrize("page", [README, *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_tutorial_goes_all_the_way() -> None:
    commands_ = " ".join(blocks("console", TUTORIAL))
    for word in (
        "check",
        "run",
        "--by",
        "--plot",
        "flips",
        "--fail-on",
        "--baseline-report",
        "report.md",
        "report.xml",
    ):
        assert word in commands_, word


def test_the_examples_of_harnesses_are_what_their_script_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness_examples, "FOLDER", tmp_path)
    harness_examples.main()
    written = {path.relative_to(tmp_path): path for path in tmp_path.rglob("*") if path.is_file()}
    kept = ROOT / "examples" / "harness"
    assert written.keys() == {path.relative_to(kept) for path in kept.rglob("*") if path.is_file()}
    for name_, path in written.items():
        if path.suffix == ".eval":  # what zlib makes of it depends on its version
            with ZipFile(path) as new, ZipFile(kept / name_) as old:
                assert {each: new.read(each) for each in new.namelist()} == {
                    each: old.read(each) for each in old.namelist()
                }
        else:
            assert path.read_bytes() == (kept / name_).read_bytes(), name_
