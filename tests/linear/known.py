"""What was measured already: a committed list of digests, so that a run measures what is new.

A digest stands for all that a measurement depends on: of a pattern its words, its flags and how it
is used; of a function each module that it can reach. The list counts only for the measuring code
and the Python that it was made with. `make linear` measures everything and writes it anew.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import found

HERE = Path(__file__).parent
LIST = HERE / "known.txt"
_MEASURING = ("child.py", "counting.py", "growth.py", "kinds.py", "runs.py")


def digest(*parts: object) -> str:
    """A short digest of texts and numbers."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:20]


def heading() -> str:
    """The first line of the list: what measured."""
    code = digest(*((HERE / name).read_text("utf-8") for name in _MEASURING))
    return f"# Python {sys.version_info.major}.{sys.version_info.minor}, code {code}"


def read(file: Path = LIST) -> frozenset[str]:
    """The digests of the list; none where other code made it, or another Python."""
    first, *digests = file.read_text("utf-8").splitlines() if file.exists() else [""]
    return frozenset(digests) if first == heading() else frozenset()


def write(digests: Iterable[str], file: Path = LIST) -> None:
    """Sorted, one a line, so that a change of one pattern changes one line."""
    file.write_text("\n".join([heading(), *sorted(set(digests)), ""]), "utf-8")


def of_pattern(pattern: re.Pattern[str], methods: frozenset[str]) -> str:
    return digest("pattern", pattern.pattern, pattern.flags, sorted(methods))


def of_function(name: str, reader: Callable[..., object]) -> str:
    """Of a reader of `functions.py`: that file, and all that its reader reaches."""
    texts = [(HERE / "functions.py").read_text("utf-8"), _data()]
    reached: set[str] = set()
    for module in _named(reader, set()):
        reached |= _closure(module)
    by_name = _sources()
    texts += [ast.dump(ast.Module(by_name[each].body, [])) for each in sorted(reached)]
    return digest("function", name, *texts)


def _named(reader: Any, done: set[int]) -> set[str]:
    """The modules of ours that a function of the tests names, itself or by another."""
    module = reader.__name__ if isinstance(reader, ModuleType) else reader.__module__
    if module in _sources():
        return {module}
    modules: set[str] = set()
    if isinstance(reader, FunctionType) and id(reader) not in done:
        done.add(id(reader))
        for name in _names(reader.__code__):
            value = reader.__globals__.get(name)
            for each in value if isinstance(value, (list, tuple)) else (value,):
                is_named = isinstance(each, (ModuleType, FunctionType, type))
                modules |= _named(each if is_named else type(each), done)
    return modules


def _names(code: Any) -> set[str]:
    inner = [_names(each) for each in code.co_consts if hasattr(each, "co_names")]
    return set(code.co_names).union(*inner)


@cache
def _sources() -> dict[str, found.Source]:
    return {source.module: source for source in found.sources()}


@cache
def _data() -> str:
    """What our packages read beside modules: words and types in YAML."""
    files = [
        file
        for package in found.PACKAGES
        for file in sorted((found.ROOT / package).rglob("*.yaml"))
        if file.is_file()
    ]
    return digest(*(file.read_text("utf-8") for file in files))


@cache
def _imports(module: str) -> frozenset[str]:
    """The modules of ours that one imports anywhere, but for types alone, and those around it."""
    source = _sources()[module]
    for_types = {
        id(inner)
        for node in source.nodes
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for line in node.body
        for inner in ast.walk(line)
    }
    named = {module.rpartition(".")[0]}
    for node in source.nodes:
        if isinstance(node, ast.ImportFrom) and id(node) not in for_types:
            named.add(node.module or "")
            named |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import) and id(node) not in for_types:
            named |= {alias.name for alias in node.names}
    return frozenset(named & set(_sources())) - {found.FRONT}  # which imports when it is asked


def _closure(module: str) -> set[str]:
    reached: set[str] = set()
    todo = [module]
    while todo:
        each = todo.pop()
        if each not in reached:
            reached.add(each)
            todo += _imports(each)
    return reached
