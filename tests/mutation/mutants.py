"""Finds the small changes ("mutants") that can be made to a module's source. Pure.

A mutant replaces one piece of the source text:

  operator    < and <=, > and >=, == and !=, in and not in, is and is not, and and or, + and -,
              * and //, << and >>, & and |, min and max, any and all; `not` taken away
  condition   a condition of if, while, `x if … else y`, a comprehension or a case, made True, False
  constant    an int one more or one less, True and False, a string with something put before it,
              None made 1
  statement   a call, raise, continue, break, del or assignment to part of something, taken away;
              a return that gives None; sorted the other way; one end of a slice left out

Left alone: docstrings, annotations, decorators, `__repr__`, what stands inside an f-string (the
string as a whole is changed), and what is said to people: strings with a space in them in a `raise`
or a warning, and words given to a call.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

KINDS = ("operator", "condition", "constant", "statement")

_COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
_BINARY = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "//", ast.FloorDiv: "*", ast.Div: "*", ast.Mod: "*",
    ast.Pow: "*", ast.LShift: ">>", ast.RShift: "<<", ast.BitAnd: "|", ast.BitOr: "&",
    ast.BitXor: "&",
}  # fmt: skip
_CALLED = {"min": "max", "max": "min", "any": "all", "all": "any"}
_OPERATOR = re.compile(rb"not\s+in|is\s+not|in|is|and|or|<<|>>|<=|>=|==|!=|\*\*|//|[-<>+*/%&|^]")
_PREFIX = re.compile(rb"[rbfuRBFU]*(?:\"\"\"|'''|\"|')")
_FOR_PEOPLE = {"warn", "warning", "error", "info", "debug", "ok"}
_WORDS = re.compile(r"[a-z][a-z',-]*(?: [a-z',-]+)+")
_FOR_TYPES = {"TypeVar", "NewType", "ParamSpec"}


@dataclass(frozen=True)
class Mutant:
    """One change to one module: `instead` in place of the bytes from `start` to `end`."""

    path: str
    line: int
    kind: str
    was: str
    """The lines concerned, spaces collapsed."""
    now: str
    start: int
    end: int
    instead: bytes

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.instead + source[self.end :]


def mutants(path: str, source: bytes) -> list[Mutant]:
    """All mutants of a module, in the order of the source."""
    found = _Finder(source)
    found.visit(ast.parse(source))
    made = []
    for kind, start, end, instead in sorted(set(found.edits), key=lambda edit: edit[1:]):
        changed = source[:start] + instead + source[end:]
        begin = source.rfind(b"\n", 0, start) + 1
        rest = len(source) - (source.find(b"\n", end) % (len(source) + 1))
        was = _flat(source[begin : len(source) - rest])
        now = _flat(changed[begin : len(changed) - rest])
        line = source.count(b"\n", 0, start) + 1
        made.append(Mutant(path, line, kind, was, now, start, end, instead))
    return made


def sample(sources: dict[str, bytes], number: int, seed: int) -> dict[str, list[Mutant]]:
    """As many of each module, and within a module as many of each kind, as far as there are."""
    drawn: dict[str, list[Mutant]] = {path: [] for path in sources}
    lots = {path: _lots(path, source, Random(f"{seed} {path}")) for path, source in sources.items()}
    paths = sorted(sources)
    Random(seed).shuffle(paths)
    while paths and number:
        path = paths.pop(0)
        mutant = next(lots[path], None)
        if mutant is not None:
            drawn[path].append(mutant)
            paths.append(path)
            number -= 1
    return drawn


def _lots(path: str, source: bytes, random: Random) -> Iterator[Mutant]:
    """All mutants that compile in a random order, the kinds in turn."""
    found = mutants(path, source)
    piles = [[each for each in found if each.kind == kind] for kind in KINDS]
    for pile in piles:
        random.shuffle(pile)
    random.shuffle(piles)
    while any(piles):
        for pile in piles:
            if pile and _compiles(pile[-1].applied(source)):
                yield pile[-1]
            del pile[-1:]


def _compiles(source: bytes) -> bool:
    """Not so where a piece of text cannot be changed alone."""
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def _flat(text: bytes) -> str:
    return " ".join(text.decode().split())


class _Finder(ast.NodeVisitor):
    """Collects edits: kind, start, end, replacement; offsets in bytes."""

    def __init__(self, source: bytes) -> None:
        self.edits: list[tuple[str, int, int, bytes]] = []
        self._source = source
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._speaking = False
        """Whether a string with a space in it is a sentence for people."""

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._starts[node.lineno - 1] + node.col_offset,
            self._starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def _replace(self, kind: str, node: ast.expr | ast.stmt, instead: str) -> None:
        self.edits.append((kind, *self._span(node), instead.encode()))

    def _between(self, left: ast.expr, right: ast.expr, instead: str) -> None:
        """Replaces the operator between two operands."""
        start, end = self._span(left)[1], self._span(right)[0]
        found = _OPERATOR.search(self._source, start, end)
        assert found is not None
        self.edits.append(("operator", found.start(), found.end(), instead.encode()))

    # What is left alone

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        if isinstance(node.value, ast.Call):
            self._replace("statement", node, "pass")
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name == "__repr__":
            return
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        for each in node.body:
            self.visit(each)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for each in node.body:
            self.visit(each)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not (isinstance(node.value, ast.Name) and node.value.id == "Literal"):
            self.generic_visit(node)

    # Statements

    def visit_Raise(self, node: ast.Raise) -> None:
        self._replace("statement", node, "pass")
        self._speaking, before = True, self._speaking
        self.generic_visit(node)
        self._speaking = before

    def _gone(self, node: ast.stmt) -> None:
        self._replace("statement", node, "pass")
        self.generic_visit(node)

    visit_Continue = visit_Break = visit_Delete = _gone  # noqa: N815  names of ast

    def visit_Assign(self, node: ast.Assign) -> None:
        named = {each.id for each in node.targets if isinstance(each, ast.Name)}
        if named & {"__slots__", "__all__"}:
            return
        if not named and not isinstance(node.targets[0], ast.Tuple):
            self._replace("statement", node, "pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._replace("statement", node, "pass")
        other = _BINARY.get(type(node.op))
        if other is not None:
            start, end = self._span(node.target)[1], self._span(node.value)[0]
            at = _OPERATOR.search(self._source, start, end)
            assert at is not None
            self.edits.append(("operator", at.start(), at.end(), other.encode()))
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not isinstance(node.value, ast.Constant):
            self._replace("statement", node, "return None")
        self.generic_visit(node)

    # Conditions

    def _forced(self, test: ast.expr | None, *values: str) -> None:
        if test is not None and not isinstance(test, ast.Constant):
            for value in values:
                self._replace("condition", test, value)

    def visit_If(self, node: ast.If) -> None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        self._forced(node.test, "True", "False")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._forced(node.test, "True", "False")
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._forced(node.test, "False")
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._forced(test, "True", "False")
        self.generic_visit(node)

    def visit_match_case(self, node: ast.match_case) -> None:
        self._forced(node.guard, "True", "False")
        self.generic_visit(node)

    # Operators

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            self._between(left, right, _COMPARISONS[type(operator)])
        for each in operands:
            if not (isinstance(each, ast.Constant) and each.value is None):  # is None, is not None
                self.visit(each)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = "or" if isinstance(node.op, ast.And) else "and"
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._between(left, right, other)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        other = _BINARY.get(type(node.op))
        if other is not None:
            self._between(node.left, node.right, other)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        start, end = self._span(node)[0], self._span(node.operand)[0]
        if isinstance(node.op, ast.Not):
            self.edits.append(("operator", start, start + len("not"), b""))
        elif isinstance(node.op, ast.USub):
            self.edits.append(("operator", start, end, b"+"))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in _FOR_TYPES:
            return
        if isinstance(node.func, ast.Name):
            if name in _CALLED:
                self._replace("operator", node.func, _CALLED[name])
            if name == "sorted" and all(each.arg != "reverse" for each in node.keywords):
                end = self._span(node)[1] - 1
                comma = b"" if self._source[:end].rstrip().endswith(b",") else b", "
                self.edits.append(("statement", end, end, comma + b"reverse=True"))
        self._speaking, before = self._speaking or name in _FOR_PEOPLE, self._speaking
        self.visit(node.func)
        for each in (*node.args, *(keyword.value for keyword in node.keywords)):
            if not (isinstance(each, ast.Constant) and _WORDS.fullmatch(str(each.value))):
                self.visit(each)
        self._speaking = before

    def visit_Slice(self, node: ast.Slice) -> None:
        for each in (node.lower, node.upper):
            if each is not None:
                self._replace("statement", each, "")
        self.generic_visit(node)

    # Constants

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        text = "".join(str(each.value) for each in node.values if isinstance(each, ast.Constant))
        if not (self._speaking and " " in text):
            self._longer(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        match node.value:
            case bool():
                self._replace("constant", node, str(not node.value))
            case int():
                self._replace("constant", node, str(node.value + 1))
                self._replace("constant", node, str(node.value - 1))
            case float():
                self._replace("constant", node, str(node.value + 1))
            case None:
                self._replace("constant", node, "1")
            case str():
                if not (self._speaking and " " in node.value):
                    self._longer(node)
            case bytes():
                self._longer(node)

    def _longer(self, node: ast.expr) -> None:
        start = self._span(node)[0]
        opening = _PREFIX.match(self._source, start)
        assert opening is not None
        self.edits.append(("constant", opening.end(), opening.end(), b"XX"))
