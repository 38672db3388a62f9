"""Every pattern that our packages compile, found by watching `re` while they are imported and used.

Whatever a pattern is kept in (a module, a table, a closure, a cache), it was compiled by a line of
ours: that line is its name.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGES = ("ledger", "gate", "projections", "tools", "beliefledger")
FRONT = "beliefledger"
"""The package by which all others are imported."""
APART = ("beliefledger.tools.bench",)
"""Measures us, and reads nobody's text."""
_INNER = Path(re.__file__).parent


class Site(NamedTuple):
    """A line of ours that compiles a pattern."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class Watch:
    """Notes which pattern was compiled by which line of ours, from the moment it is made."""

    def __init__(self, root: Path = ROOT) -> None:
        self.found: dict[re.Pattern[Any], Site] = {}
        self.seen: set[Site] = set()
        self._root = root
        self._compile = re._compile
        re._compile = self._compiled

    def _compiled(self, pattern: Any, flags: Any) -> Any:
        made = self._compile(pattern, flags)
        site = self._caller()
        if site is not None:
            self.found.setdefault(made, site)
            self.seen.add(site)
        return made

    def _caller(self) -> Site | None:
        frame = sys._getframe(2)
        while frame is not None and Path(frame.f_code.co_filename).parent == _INNER:
            frame = frame.f_back
        if frame is None:
            return None
        file = Path(frame.f_code.co_filename).resolve()  # past the links in beliefledger/
        if not file.is_relative_to(self._root):
            return None
        inside = file.relative_to(self._root)
        return Site(str(inside), frame.f_lineno) if inside.parts[0] in PACKAGES else None


def modules() -> Iterator[str]:
    """The names of all our modules."""
    yield FRONT
    for each in pkgutil.walk_packages([str(ROOT / FRONT)], f"{FRONT}."):
        if not each.name.startswith(APART) and not each.name.endswith("__main__"):
            yield each.name


def import_all() -> None:
    for name in modules():
        importlib.import_module(name)


_FUNCTIONS = {
    "compile": 1, "search": 2, "match": 2, "fullmatch": 2, "split": 3, "findall": 2, "finditer": 2,
    "sub": 4, "subn": 4,
}  # fmt: skip
"""The functions of `re` that take a pattern, and where their flags stand."""
ALL_WAYS = frozenset({"search", "match", "fullmatch"})


class Call(NamedTuple):
    """A call of `re` in our source."""

    site: Site
    last_line: int
    function: str
    node: ast.Call
    module: str
    name: str | None
    """What the pattern is called, where the call only gives it a name."""


def calls() -> list[Call]:
    """Every call of `re` that takes a pattern."""
    return [call for path, module, tree in sources() for call in _calls(tree, path, module)]


def sources() -> Iterator[tuple[str, str, ast.Module]]:
    """Each of our modules: its path, its name, and what is written in it."""
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            path = file.relative_to(ROOT)
            module = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
            if package != FRONT:
                module = f"{FRONT}.{module}"
            if not module.startswith(APART):
                yield str(path), module, ast.parse(file.read_text("utf-8"))


def _calls(tree: ast.Module, path: str, module: str) -> Iterator[Call]:
    names = {
        id(node.value): node.targets[0].id
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in _FUNCTIONS
        ):
            last = node.end_lineno or node.lineno
            site = Site(path, node.lineno)
            yield Call(site, last, node.func.attr, node, module, names.get(id(node)))


def spelled_in(call: Call) -> re.Pattern[str] | None:
    """The pattern of a call that has it from its own words and its module's; else None."""
    flags = [each.value for each in call.node.keywords if each.arg == "flags"]
    flags += call.node.args[_FUNCTIONS[call.function] :][:1]
    space = vars(importlib.import_module(call.module))
    try:
        values = [
            eval(compile(ast.Expression(each), call.site.path, "eval"), dict(space))
            for each in (call.node.args[0], *flags)
        ]
        return re.compile(*values)
    except NameError:  # it is made of what the function was given
        return None


Named = tuple[str, str]
"""The module that gives a pattern its name, and the name."""


def ways() -> dict[Named, frozenset[str]]:
    """What is done with each name anywhere: `_YES.match(…)` is "match" of `_YES`."""
    found: dict[Named, set[str]] = {}
    for _path, module, tree in sources():
        asked = {
            id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
        }
        origin = {
            alias.asname or alias.name: (node.module or "", alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                name = origin.get(node.id, (module, node.id))
                found.setdefault(name, set()).add(asked.get(id(node), "handed on"))
    return {name: frozenset(done) for name, done in found.items()}


def patterns(watch: Watch) -> Iterator[tuple[re.Pattern[str], Site, frozenset[str]]]:
    """All patterns, where each is made, and how it is used: in all ways where that is unknown."""
    written = calls()
    done = ways()
    used = {
        call.site: done[call.module, call.name]
        for call in written
        if call.name is not None and (call.module, call.name) in done
    }
    for pattern, site in watch.found.items():
        if isinstance(pattern.pattern, str):
            yield pattern, site, used.get(site, ALL_WAYS)
    for call in written:
        made = spelled_in(call)
        if made is not None and made not in watch.found:
            yield made, call.site, frozenset({call.function})


def unseen(watch: Watch) -> list[Site]:
    """The calls whose pattern is neither written in the source nor was seen when it was made."""
    return [
        call.site
        for call in calls()
        if not any(
            seen.path == call.site.path and call.site.line <= seen.line <= call.last_line
            for seen in watch.seen
        )
        and spelled_in(call) is None
    ]
