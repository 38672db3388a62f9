"""The tables of docs/map.md: `python tests/mapped.py` (or `make map`) brings them up to date.

Text and the column "what it knows" are written by hand, in the page itself, and are kept. A file
without a row gets one with the first sentence of its docstring. A file that git knows to have moved
keeps its words, one that is gone loses its row. "Who calls it" is read from the imports.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "map.md"
MARK = "<!-- The tables below: the middle column is yours, `make map` writes the rest. -->\n"
HEAD = "| file | what it knows | who calls it |\n|---|---|---|\n"
TOPS = ("beliefledger", "gate", "projections", "ledger", "tools")
DATA = {".yaml", ".sql", ".txt"}
FEW = 4
"""So many callers are named; of more, only their folders."""


def sources() -> list[Path]:
    """Every file of ours that has something in it, relative to the repository."""
    found = []
    for top in TOPS:
        for path in sorted((ROOT / top).rglob("*")):  # does not follow the links in beliefledger/
            known = path.suffix == ".py" or path.suffix in DATA
            if known and "__pycache__" not in path.parts and not _is_empty(path):
                found.append(path.relative_to(ROOT))
    return found


def _is_empty(path: Path) -> bool:
    """A package's file that only says what the package is."""
    if path.name != "__init__.py":
        return False
    return all(isinstance(node, ast.Expr) for node in ast.parse(path.read_text("utf-8")).body)


def module(path: Path) -> str:
    parts = path.with_suffix("").parts
    parts = parts if parts[0] == "beliefledger" else ("beliefledger", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def callers() -> dict[Path, set[Path | str]]:
    """For each file those that import it or name it as data, and commands that start it."""
    files = sources()
    modules = {module(path): path for path in files if path.suffix == ".py"}
    found: dict[Path, set[Path | str]] = defaultdict(set)
    for path in modules.values():
        tree = ast.parse((ROOT / path).read_text("utf-8"))
        for name in _imported(tree):
            if name in modules and modules[name] != path:
                found[modules[name]].add(path)
        texts = {
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        for data in files:
            if data.suffix in DATA and _names(texts, data, path):
                found[data].add(path)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    groups = {"": project["scripts"], **project.get("entry-points", {})}
    for group, entries in groups.items():
        for name, target in entries.items():
            started = modules.get(target.partition(":")[0])
            if started:
                found[started].add(f"`{group and group + ': '}{name}`")
    for path in modules.values():
        if path.name == "__main__.py":
            found[path].add(f"`python -m {module(path.parent / '__init__.py')}`")
    return found


def _imported(tree: ast.AST) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
            names |= {f"{node.module}.{each.name}" for each in node.names}
    return names


def _names(texts: set[str], data: Path, path: Path) -> bool:
    """Whether a module has the name of a file of data, or of the folder of SQL below it."""
    if path.parts[0] != data.parts[0]:
        return False
    below = data.suffix == ".sql" and data.parent.parent == path.parent
    return data.name in texts or (below and data.parent.name in texts)


def _shown(path: Path, called_by: set[Path | str]) -> str:
    """The callers by name; of more than a few their folders, or only those at the top."""
    commands = sorted(each for each in called_by if isinstance(each, str))
    near, folders, tops = _at_each_size(path, called_by)
    chosen = next((each for each in (near, folders) if len(each) <= FEW), tops)
    return ", ".join([*commands, *sorted(chosen)]) or "–"


def _at_each_size(path: Path, called_by: set[Path | str]) -> tuple[set[str], set[str], set[str]]:
    paths = [each for each in called_by if isinstance(each, Path)]
    near = {
        each.stem if each.parent == path.parent else each.with_suffix("").as_posix()
        for each in paths
    }
    return (
        near,
        {f"{each.parent.as_posix()}/" for each in paths},
        {f"{each.parts[0]}/" for each in paths},
    )


def untrue(page: str) -> list[str]:
    """Callers that the page states and that are none."""
    called, found = callers(), []
    for path, (_, stated) in rows(page).items():
        true = set().union(*_at_each_size(path, called[path]))
        true |= {each for each in called[path] if isinstance(each, str)} | {"–"}
        found += [f"{path}: {each}" for each in stated.split(", ") if each not in true]
    return found


def _first_sentence(path: Path) -> str:
    if path.suffix != ".py":
        return ""
    text = " ".join((ast.get_docstring(ast.parse((ROOT / path).read_text("utf-8"))) or "").split())
    return re.split(r"(?<=[.!?])\s", text, maxsplit=1)[0].replace("|", "\\|")


def rows(page: str) -> dict[Path, tuple[str, str]]:
    """Each file in the tables, with what it knows and who calls it."""
    found = {}
    for line in page.partition(MARK)[2].splitlines():
        row = re.fullmatch(r"\| \[[^]]+\]\(\.\./([^)]+)\) \| (.*?) \| (.*?) \|", line)
        if row:
            found[Path(row[1])] = (row[2], row[3])
    return found


def introductions(page: str) -> dict[str, str]:
    """For each folder what is written between its heading and its table."""
    tables = page.partition(MARK)[2]
    return {
        found[1]: found[2].strip()
        for found in re.finditer(r"^## `([^`]+)/`\n(.*?)(?=^\| file)", tables, re.M | re.S)
    }


def moves() -> dict[Path, Path]:
    """For each file that git says was moved since the page was last committed, where it was."""
    page = str(PAGE.relative_to(ROOT))
    [commit] = _git("log", "-1", "--format=%H", "--", page) or ["HEAD"]
    lines = _git("diff", "-M", "--diff-filter=R", "--name-status", commit)
    return {Path(new): Path(old) for _, old, new in (line.split("\t") for line in lines)}


def _git(*arguments: str) -> list[str]:
    ran = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


def written(page: str, moved: dict[Path, Path]) -> str:
    """The page with its tables brought up to date."""
    before, known, intros = page.partition(MARK)[0], rows(page), introductions(page)
    files, called = sources(), callers()
    folders: dict[Path, list[Path]] = {}
    for path in files:
        folders.setdefault(path.parent, []).append(path)
    tables = ""
    for folder, within in folders.items():
        intro = intros.get(folder.as_posix(), "")
        tables += f"\n## `{folder.as_posix()}/`\n\n" + (f"{intro}\n\n" if intro else "") + HEAD
        for path in sorted(within):
            row = known.get(path) or known.get(moved.get(path, path))
            said = row[0] if row else _first_sentence(path)
            who = _shown(path, called[path])
            tables += f"| [{path.name}](../{path.as_posix()}) | {said} | {who} |\n"
    return before + MARK + tables


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8"), moves()), "utf-8")
    sys.stdout.write("docs/map.md is up to date; read its diff.\n")
