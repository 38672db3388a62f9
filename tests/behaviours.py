"""Writes docs/behaviours.md: which file of tests shows what, as sentences made of the tests' names.

    python tests/behaviours.py

The page is checked for its files and what they are about, not for each sentence: it need not be
written again for every new test, only now and then.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "behaviours.md"
ABOUT = {
    "tests/docs": "the documents",
    "tests": "the repository as a whole",
    "tests/acceptance": "the product through its front door",
    "tests/contract": "one suite for each port, on SQLite and on Postgres",
    "tests/fault": "crashes, lost replies, damaged files, attackers",
    "tests/golden": "bytes and decisions that never change",
    "tests/linear": "time that grows as the text does",
    "tests/mutation": "whether the tests notice a changed program",
    "tests/property": "what holds for any history",
    "tests/system": "what needs more than Python: `make test-system`",
    "tests/unit/gate": "the gate, without a database",
    "tests/unit/access": "roles and rights",
    "tests/unit/server": "the server's settings and checks",
    "tests/unit/ledger": "the ledger's parts",
    "tests/unit/projections": "the views' parts",
    "tests/unit/networks": "the networks that read sentences",
    "tests/unit": "the stand-alone verifier",
    "tests/unit/application": "the application's parts",
}
"""What the tests of a directory have in common. A new directory needs a line here."""
BEGINNING = """# Where each behaviour is tested

Made of the names of the tests by `make behaviours`; write it again when it has grown old. A number
behind a sentence says with how many different inputs or backends it is tested.
"""


def files() -> dict[str, str]:
    """Each file of tests, by its path from the root, with the first sentence of its docstring."""
    found = sorted((ROOT / "tests").rglob("test_*.py"))
    return {path.relative_to(ROOT).as_posix(): _subject(path) for path in found}


def _subject(path: Path) -> str:
    told = " ".join((ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").split())
    return _escaped(re.split(r"(?<=\w)[.] ", told)[0].rstrip("."))


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def written() -> dict[str, str]:
    """The files that the page has, with what it says of each."""
    row = r"^\| \[`[^`]+`\]\(\.\./([^)]+)\) \| (.*?) \|$"
    return dict(re.findall(row, PAGE.read_text("utf-8"), re.M))


def ids() -> list[str]:
    """The id of every test that pytest collects."""
    collect = [sys.executable, "-m", "pytest", "--collect-only", "-o", "addopts="]
    collect += ["-q", "--import-mode=importlib", "tests"]
    told = subprocess.run(collect, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [line for line in told.splitlines() if "::" in line]


def sentences(tests: list[str]) -> Mapping[str, Counter[str]]:
    """By file, what its tests say, and in how many variants each."""
    said: dict[str, Counter[str]] = {}
    for test in tests:
        file, _, name = test.partition("::")
        said.setdefault(file, Counter())[sentence(name)] += 1
    return said


def sentence(name: str) -> str:
    """A test's name as one reads it: `test_a_b[sqlite]` is "A b"."""
    function = re.sub(r"\[.*", "", name, flags=re.S).rpartition("::")[2]
    words = function.removeprefix("test_").replace("_s_", "'s ").replace("_", " ")
    return words[:1].upper() + words[1:]


def page(tests: list[str]) -> str:
    return BEGINNING + "".join(_directories(sentences(tests)))


def _directories(said: Mapping[str, Counter[str]]) -> Iterator[str]:
    known = files()
    by_directory = groupby(sorted(known, key=_directory), key=_directory)
    for directory, inside in by_directory:
        paths = list(inside)
        yield f"\n## {directory}: {ABOUT[directory]}\n\n| file | what it is about |\n|---|---|\n"
        for path in paths:
            yield f"| [`{Path(path).name}`](../{path}) | {known[path]} |\n"
        for path in paths:
            yield f"\n### {Path(path).name}\n\n"
            for each, times in said.get(path, Counter()).items():
                yield f"- {each}{f' ({times})' if times > 1 else ''}\n"


def _directory(path: str) -> str:
    return str(Path(path).parent)


if __name__ == "__main__":
    PAGE.write_text(page(ids()), "utf-8")
