"""News of a slot in other words than "my boss is Ann now": "my boss used to be Karin, now it's
Ann", "Ann is my boss now", "we've a new boss, Ann", "boss: Ann now".

Such a sentence is read as the plain one; what is found keeps pointing at what was typed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from beliefledger.gate.asking_tails import told_until
from beliefledger.gate.dates import find_when
from beliefledger.gate.literals import Guarded, Table, plain
from beliefledger.gate.rules.findings import NEVER, RuleFinding
from beliefledger.gate.rules.lexicon import expanded, load
from beliefledger.gate.sentences import is_question
from beliefledger.ledger.candidate import Ends, SpeechAct
from beliefledger.ledger.late_patterns import compile_later

_DATA: dict[str, Any] = load("rewordings.yaml")
_SINGLE = frozenset(_DATA["single"].split())
_LONGEST = 160
"""The longest sentence that is looked at, in characters."""
Read = Callable[[str, int], Iterator[RuleFinding]]


class _Wording(NamedTuple):
    """A pattern, how what it finds is said plainly, and whether all others are over by it."""

    pattern: Guarded
    plainly: str
    others: bool


class Plain(NamedTuple):
    """The plain sentence, and which of several people it ends: `old` by name, or all others."""

    said: str
    old: str
    others: bool


_PLAINLY = "my {noun} is {new}"
_WORDINGS = Table(
    [
        _Wording(
            Guarded(expanded(each["say"], _DATA["parts"])),
            each.get("plainly", _PLAINLY),
            each.get("others", False),
        )
        for each in _DATA["wordings"]
    ]
)


def plainly(sentence: str) -> Plain | None:
    """The plain sentence that says the same; none where the sentence is none of these."""
    if not 0 < len(sentence) <= _LONGEST:
        return None
    low = plain(sentence)
    for wording in _WORDINGS.possible(low):
        found = wording.pattern.search(low, low)
        if found is None or _GOES_ON.search(low, found.end()) is not None:
            continue  # what more it tells would be lost
        parts = {
            name: sentence[slice(*found.span(name))].strip(" '\"") for name in found.groupdict()
        }
        if all(parts.values()):
            said = wording.plainly.format(**parts)
            return Plain(said, parts.get("old", ""), wording.others)
    return None


_GOES_ON = compile_later(r"[,;:!?.] *\w|\b(?:and|but|so|which|who|because|while|though|in|for)\b")
"""Behind what a wording found: the sentence tells more."""


def findings(text: str, start: int, end: int, said_at: int, read: Read) -> list[RuleFinding] | None:
    """What the sentence text[start:end] says, read as the plain one; none where it is none of
    these, or the plain one says nothing."""
    end = told_until(text, start, end) or end
    told = plainly(text[start:end])
    if told is None or is_question(text[start:end]):
        return None
    quote = text[start:end].rstrip(" .!,;\n")
    when = find_when(quote, said_at, future=False)
    found = [
        each._replace(
            content=text,
            start=start,
            end=start + len(quote),
            when=each.when if when is None or each.when != NEVER else when.when,
            act=SpeechAct.CHANGE,
            ends=(*each.ends, *_ends(each, told)),
        )
        for each in read(told.said, said_at)
        if each.value in quote
    ]
    return found or None


def _ends(finding: RuleFinding, told: Plain) -> Iterator[Ends]:
    """Who is over, where somebody else is it now."""
    if finding.type != "relation":
        return
    attribute = finding.attribute
    if attribute.count(".") > 1 and not attribute.endswith(".name"):
        attribute = f"{attribute.rpartition('.')[0]}.*"
    if told.others and attribute.split(".")[1] in _SINGLE:
        yield Ends(attribute=attribute, sparing=finding.value)
    elif told.old:
        yield Ends(attribute=attribute, value=told.old)
