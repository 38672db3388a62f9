"""What is over for somebody near to the user, or on hold for the user: "my sister Ana quit".

Which memories are over by it is looked up when it is decided, by `beliefledger.gate.lapses`. The
patterns are in `lapses.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from beliefledger.gate.literals import Guarded, Table, plain
from beliefledger.gate.rules.endings import FOR_NOW
from beliefledger.gate.rules.findings import RuleFinding, looked_up
from beliefledger.gate.rules.lexicon import expanded, load, verb_form
from beliefledger.gate.rules.people import HOW, KIN
from beliefledger.gate.rules.sensitive import category_of
from beliefledger.gate.rules.successions import without_reason
from beliefledger.gate.sentences import is_question
from beliefledger.ledger.late_patterns import compile_later

ATTRIBUTE = "event.lapse"
LONGEST = 200
"""The longest sentence that is looked at, in characters."""
_DATA: dict[str, Any] = load("lapses.yaml")
_PARTS: dict[str, str] = {
    name: part.replace("{kin}", KIN).replace("{how}", HOW) for name, part in _DATA["parts"].items()
}
_DOUBTS = compile_later(_DATA["doubts"])
_NEVER = compile_later(_DATA["never"])
_CLAUSE = compile_later(r"[,;:.!?()–—]|\b(?:but|and|so|because)\b")
_WORD = compile_later(r"[^\W_]+(?:['+#-][^\W_]+)*[+#]*")
_PLAIN = frozenset(_DATA["plain"].split())


class Entry(NamedTuple):
    """A pattern, and what it says is over."""

    pattern: Guarded
    ends: str
    says: dict[str, Any]


_EVENTS = Table(
    [Entry(Guarded(expanded(says["say"], _PARTS)), says["ends"], says) for says in _DATA["events"]]
)


class Lapse(NamedTuple):
    """What a sentence says is over: which kind of memories, whose, and the words of which."""

    ends: str
    user: bool
    kin: str | None
    name: str | None
    points: bool
    """Whether only a pronoun says whose."""
    other: str
    """Whom it says besides: "and Tom"."""
    things: tuple[str, ...]
    gone: int
    """How many of several are gone; 0 where no number is told."""
    at: int
    """Where the words begin that say so."""
    stop: int


def may_be_in(text: str) -> bool:
    """Whether a text may have any such words."""
    return bool(_EVENTS.possible(plain(text)))


def findings(content: str, start: int, end: int) -> Iterator[RuleFinding]:
    """The sentence content[start:end], where it tells that something is over."""
    while end > start and content[end - 1] in ".!,; ":
        end -= 1
    text = content[start:end]
    first = next(lapses(text), None)
    if first is None:
        return
    if category_of(text) is not None:
        if category_of(text[: first.stop]) is None:
            end = start + first.stop
        else:
            start, end = without_reason(content, start, end)
        text = content[start:end]
    words = " ".join(dict.fromkeys(_WORD.findall(plain(text))))
    yield looked_up(content, start, end, ATTRIBUTE, words)


def lapses(text: str) -> Iterator[Lapse]:
    """What a sentence says is over."""
    if not 0 < len(text) <= LONGEST or is_question(text):
        return
    low = plain(text)
    possible = _EVENTS.possible(low)
    if not possible or _NEVER.search(low) is not None:
        return
    for event in possible:
        found = event.pattern.search(low, low)
        if found is None:
            continue
        begin = next(
            (found.start(each) for each in _WHO if found.groupdict().get(each)), found.start()
        )
        if _DOUBTS.search(_CLAUSE.split(low[:begin])[-1]) is not None:
            continue
        if event.ends == "place" and FOR_NOW.search(low) is not None:
            continue
        yield _lapse(event, found, begin)


_WHO = ("kin", "bare", "pron", "name")


_COUNTS = {
    said: count
    for count, word in enumerate(("one", "two", "three", "four", "five", "six"), 1)
    for said in (word, str(count))
}


def _lapse(event: Entry, found: re.Match[str], begin: int) -> Lapse:
    groups = {key: said for key, said in found.groupdict().items() if said}
    things = tuple(word for word in _WORD.findall(groups.get("thing", "")) if word not in _PLAIN)
    if "gerund" in groups:
        things = (verb_form(groups["gerund"])[0], *things)
    return Lapse(
        event.ends,
        bool(event.says.get("user")),
        groups.get("kin", groups.get("bare")),
        groups.get("name", groups.get("called")),
        "pron" in groups,
        groups.get("other", ""),
        things,
        _COUNTS.get(groups.get("count", ""), 0),
        begin,
        found.end(),
    )
