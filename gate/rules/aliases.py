"""Other names of somebody, when the user states them: "by S. Chen I mean Sarah"."""

from __future__ import annotations

from collections.abc import Iterator

from beliefledger.gate import deadline
from beliefledger.gate.rules.findings import RuleFinding
from beliefledger.gate.rules.lexicon import WORDS
from beliefledger.gate.rules.names import NO_NAMES
from beliefledger.gate.rules.whole_sentences import DATA, spelled
from beliefledger.ledger.late_patterns import compile_later

_HINTS = (
    "known as", "aka ", "a.k.a", "I mean", " call", "name is", "goes by", "short for", "nickname",
    "refer", "talking about", "same person", " means ", " (",
)  # fmt: skip
_IS_NAME = compile_later(r" is [A-Z]")
_PATTERNS = tuple(compile_later(spelled(each, DATA["names"])) for each in DATA["aliases"])
_IS = compile_later(spelled(DATA["bare"], DATA["names"]))


def _hinted(text: str, start: int, end: int) -> bool:
    """Whether a cheap look finds a hint that makes the patterns worth trying."""
    for hint in _HINTS:
        if text.find(hint, start, end) >= 0:
            return True
    return text.find(" is ", start, end) >= 0 and _IS_NAME.search(text, start, end) is not None


def findings(text: str, start: int, end: int) -> Iterator[RuleFinding]:
    """The other name that the sentence text[start:end] gives somebody."""
    if end - start > 200 or not _hinted(text, start, end):
        return
    while start < end and text[start].isspace():
        start += 1
    said = text[start:end].rstrip()
    for pattern in _PATTERNS:
        deadline.check()
        found = pattern.search(said)
        if found is None:
            continue
        groups = found.groupdict()
        name, alias = groups["name"], groups["alias"]
        if not (_fits(name) and _fits(alias)) or name == alias:
            continue
        yield _finding(text, start + found.start(), start + found.end(), name, alias.strip())
        return
    bare = _IS.match(said)
    if bare is not None and _same(bare["a"], bare["b"]):
        name, alias = sorted((bare["a"], bare["b"]), key=_fullness, reverse=True)
        yield _finding(text, start, start + bare.end("b"), name, alias)


def _finding(text: str, start: int, end: int, name: str, alias: str) -> RuleFinding:
    return RuleFinding(text, start, end, " ".join(text[start:end].rstrip(".").split()), "entity",
                       "alias", alias, 700, entity=name)  # fmt: skip


def _fits(name: str) -> bool:
    low = name.lower().rstrip(".")
    first = low.split()[0]
    return low not in ("i", "me", "myself") and not (
        " " not in low and name[0].isupper() and (first in NO_NAMES or first in WORDS["not_names"])
    )


def _fullness(name: str) -> tuple[int, int]:
    """How much of a name is written out in full."""
    whole = [part for part in name.replace(".", " ").split() if len(part) > 1]
    return len(whole), len(name)


def _same(a: str, b: str) -> bool:
    """Whether "A is B" can give one person's two names: they share a word or an initial, or one is
    a whole name."""
    if not (_fits(a) and _fits(b)) or a == b:
        return False
    one, other = a.lower().replace(".", " ").split(), b.lower().replace(".", " ").split()
    if set(one) & set(other):
        return True
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) == 1 and len(longer) > 1:
        return shorter[0][0] == longer[0][0]
    return len(shorter) == len(longer) == 1 and (
        shorter[0] in longer[0] or longer[0] in shorter[0] or shorter[0][:2] == longer[0][:2]
    )
