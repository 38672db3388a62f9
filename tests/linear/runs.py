"""Texts that patterns and loops are slow on: one piece over and over.

Those for everybody are each class of character, and mixtures. A pattern's own are made of what it
looks for: for each of its repetitions what comes before it, and many rounds of it, and no end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from re import _constants as op
from re import _parser
from typing import Any

from growth import Run

CHARACTERS = "aZé1 \n\t\r\u2028.,;:!?…\"'’“”‘`()[]{}"
CHARACTERS += "<>-–—_@#$%&*+=/\\|~^\u200b\u00ad\u0301\x00文😀\ue000\ue001٣"
MIXED = (
    "a ", "A ", "a.", "A. ", ". ", "a, ", ", ", "a,", "1 ", "1.", "1-", "1,", "1/", "1:",
    "1 1 1 1-",
    "a\n", "A\n", "\n ", " \n", "\n\n", "\t ", "I am ", "i ", "no ", "not ", "my ", "the ", "a's ",
    "a-", "a'", "a-a ", "A a ", "AaA ", '" ', '"a', '"a" ', "'a", " 'a", "“a", "“a” ", "(a", "(a) ",
    "[a](", "a:", ": ", "A: a\n", "- a\n", "1. a\n", "> ", "> a\n", "# a\n", "```", "``` ", "if ",
    "so ", "and ", "and, ", "as a ", "a@", "a@a.a ", "://", "a://a:", "a_", "a1", "aA", "= ",
    "key=",
    "a\u200b", "a\u0301", '."', ". . ", "?!", "! ", "yes, ", "the a of ", "I said ", "I I'm ",
    "Dear A\n", "my a is ", "on 1 ", "in ", "last ", "the week of ", "1234 ", "4111 ", "password ",
    "pin ", "password is a ", "if i ", "I live in A and ", "My a a is a, ", "User ", "{a} ",
)  # fmt: skip

EVERYBODYS = tuple(Run(piece) for piece in (*CHARACTERS, *MIXED))

_PUMPED = 12
"""A repetition that ends after so many rounds is no loop."""
_SAMPLES = "a1A .,-'\"\n_:;/@é([{<>=|&#$%*+!?\t\u200b\u3042"
_CLASSES = {
    op.CATEGORY_DIGIT: "1", op.CATEGORY_SPACE: " ", op.CATEGORY_WORD: "a",
    op.CATEGORY_NOT_DIGIT: "a", op.CATEGORY_NOT_SPACE: "a", op.CATEGORY_NOT_WORD: ".",
}  # fmt: skip
_WHOLE = {
    kind: re.compile(whole)
    for kind, whole in (
        (op.CATEGORY_DIGIT, r"\d"), (op.CATEGORY_SPACE, r"\s"), (op.CATEGORY_WORD, r"\w"),
        (op.CATEGORY_NOT_DIGIT, r"\D"), (op.CATEGORY_NOT_SPACE, r"\S"),
        (op.CATEGORY_NOT_WORD, r"\W"),
    )
}  # fmt: skip
_MOST = 60


def own(pattern: re.Pattern[str]) -> list[Run]:
    """Texts made of what a pattern itself looks for: `_MOST` of them, spread over all of it."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    found = list(dict.fromkeys(_pumps(tree, "", pattern.flags)))
    step = max(1, -(-len(found) // _MOST))
    return found[::step]


def _pumps(tree: Any, before: str, flags: int) -> Iterator[Run]:
    """For each loop in a tree the texts that go round in it, or come to it again and again."""
    for kind, argument in tree:
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            _low, high, body = argument
            for piece in _pieces(body, flags) if high >= _PUMPED else ():
                yield Run(piece, before, "\x00")
                yield Run(piece, after="\x00")
                if before:
                    yield Run(before + piece)
                    yield Run(before)
            yield from _pumps(body, before, flags)
        elif kind is op.BRANCH:
            for branch in argument[1]:
                yield from _pumps(branch, before, flags)
        elif kind is op.SUBPATTERN:
            yield from _pumps(argument[3], before, flags)
        elif kind is op.ATOMIC_GROUP:
            yield from _pumps(argument, before, flags)
        elif kind in (op.ASSERT, op.ASSERT_NOT) and argument[0] > 0:
            yield from _pumps(argument[1], before, flags)
        before += _sample([(kind, argument)], flags)
    if before.strip() and not isinstance(tree, list):
        yield Run(before)


def _pieces(body: Any, flags: int) -> list[str]:
    """What one round of a loop may be: for a class of characters several of it."""
    if len(body) == 1 and body[0][0] in (op.IN, op.NOT_LITERAL, op.ANY):
        fits = [each for each in _SAMPLES if _fits(body[0], each, flags)]
        return [*fits[:3], *fits[-1:]] or [_sample(body, flags)]
    sample = _sample(body, flags)
    return [sample] if sample else []


def _fits(node: tuple[Any, Any], char: str, flags: int) -> bool:
    kind, argument = node
    if kind is op.ANY:
        return char != "\n" or bool(flags & re.S)
    if kind is op.NOT_LITERAL:
        return ord(char) != argument
    negated = argument[0][0] is op.NEGATE
    inside = any(_in(part, char, flags) for part in argument)
    return inside != negated


def _in(part: tuple[Any, Any], char: str, flags: int) -> bool:
    kind, argument = part
    if kind is op.LITERAL:
        return ord(char) == argument or (
            bool(flags & re.I) and char.lower() == chr(argument).lower()
        )
    if kind is op.RANGE:
        return argument[0] <= ord(char) <= argument[1]
    if kind is op.CATEGORY:
        return _WHOLE[argument].fullmatch(char) is not None
    return False


def _sample(tree: Any, flags: int) -> str:
    """A short text that a tree fits, as far as that can be said without looking around."""
    said = ""
    for kind, argument in tree:
        if kind is op.LITERAL:
            said += chr(argument)
        elif kind is op.NOT_LITERAL or kind is op.ANY:
            said += next(each for each in _SAMPLES if _fits((kind, argument), each, flags))
        elif kind is op.IN:
            said += next((each for each in _SAMPLES if _fits((kind, argument), each, flags)), "")
            if not said and argument[0][0] in (op.LITERAL, op.RANGE):
                first = argument[0][1]
                said += chr(first if isinstance(first, int) else first[0])
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            said += _sample(argument[2], flags) * argument[0]
        elif kind is op.BRANCH:
            said += _sample(argument[1][0], flags)
        elif kind is op.SUBPATTERN:
            said += _sample(argument[3], flags)
        elif kind is op.ATOMIC_GROUP:
            said += _sample(argument, flags)
    return said
