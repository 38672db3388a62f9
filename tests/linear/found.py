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
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGES = ("ledger", "gate", "projections", "tools", "beliefledger")
FRONT = "beliefledger"
"""The package by which all others are imported."""
APART = ("beliefledger.tools.bench",)
"""Measures us, and reads nobody's text."""
_LATER = "compile_later"
"""Our function that makes a pattern, which is compiled when it is used."""
_INNER = frozenset(
    {
        *map(str, Path(re.__file__).parent.glob("*.py")),
        str(ROOT / "ledger" / "late_patterns.py"),
        __file__,
    }
)
"""The files of `re`, that of the function, and this one: who calls them compiles a pattern."""


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
        _compile_at_once(self._compiled)

    def _compiled(self, pattern: Any, flags: Any) -> Any:
        made = self._compile(pattern, flags)
        site = self._caller()
        if site is not None:
            self.found.setdefault(made, site)
            self.seen.add(site)
        return made

    def _caller(self) -> Site | None:
        frame = sys._getframe(2)
        while frame is not None and _is_inner(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is None:
            return None
        inside = _inside(frame.f_code.co_filename, self._root)
        return None if inside is None else Site(inside, frame.f_lineno)


def _compile_at_once(compiles: Callable[[Any, Any], Any]) -> None:
    """From now on, what is to be compiled at its first use is compiled where it is written, so that
    it is seen whether or not anything uses it, and whether or not it was kept."""
    from beliefledger.ledger import late_patterns

    late_patterns.PATTERNS.compiled = compiles

    made = late_patterns._Late.__init__

    def compiled(late: Any, source: str, flags: int) -> None:
        made(late, source, flags)
        late.search  # noqa: B018  (its first use)

    late_patterns._Late.__init__ = compiled


@cache
def _is_inner(name: str) -> bool:
    return name in _INNER or str(Path(name).resolve()) in _INNER  # past the links in beliefledger/


@cache
def _inside(name: str, root: Path) -> str | None:
    """Where a file of ours is below the root; None for one of others."""
    file = Path(name).resolve()  # past the links in beliefledger/
    if not file.is_relative_to(root):
        return None
    inside = file.relative_to(root)
    return str(inside) if inside.parts[0] in PACKAGES else None


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


@cache
def calls() -> list[Call]:
    """Every call of `re` that takes a pattern."""
    return [call for source in sources() for call in _calls(source)]


class Source(NamedTuple):
    """One of our modules, and what is written in it."""

    path: str
    module: str
    body: list[ast.stmt]
    nodes: list[ast.AST]


@cache
def sources() -> list[Source]:
    """Each of our modules."""
    return list(_sources())


def _sources() -> Iterator[Source]:
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            path = file.relative_to(ROOT)
            module = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
            if package != FRONT:
                module = f"{FRONT}.{module}"
            if not module.startswith(APART):
                tree = ast.parse(file.read_text("utf-8"))
                yield Source(str(path), module, tree.body, list(ast.walk(tree)))


def _calls(source: Source) -> Iterator[Call]:
    names = {
        id(node.value): node.targets[0].id
        for node in source.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in source.nodes:
        function = _function(node)
        if isinstance(node, ast.Call) and function is not None:
            last = node.end_lineno or node.lineno
            site = Site(source.path, node.lineno)
            yield Call(site, last, function, node, source.module, names.get(id(node)))


def _function(node: ast.AST) -> str | None:
    """The function of `re` that a node calls; None for another node."""
    if not isinstance(node, ast.Call):
        return None
    called = node.func
    if isinstance(called, ast.Name) and called.id == _LATER:
        return "compile"
    of_re = (
        isinstance(called, ast.Attribute)
        and isinstance(called.value, ast.Name)
        and called.value.id == "re"
    )
    return called.attr if of_re and called.attr in _FUNCTIONS else None


@cache
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
    for _path, module, _body, nodes in sources():
        asked = {id(node.value): node.attr for node in nodes if isinstance(node, ast.Attribute)}
        origin = {
            alias.asname or alias.name: (node.module or "", alias.name)
            for node in nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for node in nodes:
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
        if not _is_inner(str(ROOT / call.site.path))
        and not any(
            seen.path == call.site.path and call.site.line <= seen.line <= call.last_line
            for seen in watch.seen
        )
        and spelled_in(call) is None
    ]
