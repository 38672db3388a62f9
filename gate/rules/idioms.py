"""Sayings, whose words do not mean what they say: "I've got a lot on my plate"; and opinions told
as what something is: "my house is a tip". The lists are in `idioms.yaml`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from beliefledger.gate.literals import Guarded, Line, Table, lowered
from beliefledger.gate.registry import NOTE
from beliefledger.gate.rules.lexicon import expanded, load
from beliefledger.ledger.candidate import SELF, Candidate
from beliefledger.ledger.late_patterns import compile_later

_DATA = load("idioms.yaml")


_SAYINGS = Table(Line(Guarded(expanded(each, _DATA["parts"]))) for each in _DATA["idioms"])
_JESTS = Table(Line(Guarded(expanded(each, _DATA["parts"]))) for each in _DATA["jests"])
_WORD = compile_later(r"[^\W_]+")
_BEST = compile_later(
    r"(?:the )?(?:best|worst|greatest|laziest|coolest|slowest|fastest|biggest|proudest|happiest)\b"
)
"""What no trade begins with."""
_OF_A_JEST = 13
"""So many blanks at most are in a sentence that is nothing but a jest."""
_REST = 4
"""So many words beside a saying tell something of their own."""


_OPINIONS = {
    name: frozenset(" ".join(each.split()) for each in _DATA["opinions"][name].split(","))
    for name in ("of_things", "of_others", "adjectives")
}
_BEFORE = compile_later(rf"(?:{_DATA['opinions']['before']}\s+){{0,5}}")
_THINGS = (
    "thing.",
    "is.",
    "home.",
    "vehicle.",
    "entity.kind",
    "device.",
    "relation.",
    "pets.",
    "work.role",
)
"""How the attributes begin of what something or somebody is."""
_NAMES = (
    "finance.bank",
    "work.employer",
    "fitness.gym",
    "provider.",
    "care.",
    "vehicle.car",
    "work.role",
)
"""Attributes whose values are names."""


def without(candidates: Sequence[Candidate], text: str) -> list[Candidate]:
    """The candidates of a text but those that rest on a saying or only tell an opinion."""
    candidates = [each for each in candidates if not _is_opinion(each)]
    if not candidates:
        return []
    sayings, jests = list(_found(_SAYINGS, text)), list(_found(_JESTS, text))
    if not (sayings or jests):
        return list(candidates)
    return [
        each
        for each in candidates
        if not (_rests_on(each, sayings, text) or _is_within(each, jests))
    ]


def _is_opinion(candidate: Candidate) -> bool:
    """Whether a value is what somebody thinks of it: "a tip" of a house, "a crook" of a landlord,
    "useless" of a bank."""
    attribute = candidate.attribute
    if attribute.startswith(_NAMES) and candidate.value.lower() in _OPINIONS["adjectives"]:
        return True
    if attribute == "work.role" and _BEST.match(candidate.value) is not None:
        return True
    if not attribute.startswith(_THINGS) or attribute.endswith(".name"):
        return False
    value = " ".join(candidate.value.lower().split())
    lead = _BEFORE.match(value)
    value = value[lead.end() :] if lead is not None else value
    if value in _OPINIONS["of_things"]:
        return True
    of_others = candidate.entity != SELF or ".is." in attribute
    whose = f"{candidate.entity} {attribute}".lower()
    return of_others and "pet" not in whose and value in _OPINIONS["of_others"]


def has_saying(text: str) -> bool:
    """Whether a text has words that are not meant by what they say."""
    return next(_found(_SAYINGS, text), None) is not None


def is_jest(text: str) -> bool:
    """Whether a sentence is only said in jest; a longer one says more."""
    return text.count(" ") < _OF_A_JEST and next(_found(_JESTS, text), None) is not None


def _found(table: Table[Line], text: str) -> Iterator[tuple[int, int]]:
    low = lowered(text)
    for each in table.possible(low):
        for match in each.pattern.pattern.finditer(low):
            yield match.span()


def _is_within(candidate: Candidate, spans: Sequence[tuple[int, int]]) -> bool:
    own = candidate.spans[0]
    if candidate.type == NOTE and own.quote.count(" ") >= _OF_A_JEST:
        return False
    return not own.turn and any(start < own.end and own.start < end for start, end in spans)


def _rests_on(candidate: Candidate, sayings: Sequence[tuple[int, int]], text: str) -> bool:
    span = candidate.spans[0]
    if span.turn:
        return False
    for start, end in sayings:
        if start < span.end and span.start < end:
            rest = text[span.start : max(start, span.start)] + " " + text[end : span.end]
            if len(_WORD.findall(rest)) < _REST:
                return True
    return False
