"""The rule extractor: statements of the user about themselves, noticed by patterns kept as data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from beliefledger.gate import deadline
from beliefledger.gate.pasted import pasted
from beliefledger.gate.rules import aliases, asides, belongings, named, sayings
from beliefledger.gate.rules.belongings import TALK
from beliefledger.gate.rules.clauses import Clause, clauses
from beliefledger.gate.rules.drafts import Draft, Reading, to_candidate
from beliefledger.gate.rules.statements import from_clause
from beliefledger.gate.rules.words import Token, tokens
from beliefledger.gate.speech import sentences
from beliefledger.ledger.candidate import Candidate, Source, Span, Speech, SpeechAct

if TYPE_CHECKING:
    from beliefledger.gate.custom import Noticing

_PERSONAL = re.compile(r"\b(?:i|i['’]?m|i['’]?ve|my|our|me|we)\b|\bnot\b|\bhome is\b", re.I)
_YES = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|right|exactly|correct|indeed|"
    r"that(?:'s|’s| is) (?:right|correct|true))\b",
    re.I,
)
EARLIER = 6
"""How many earlier turns a correction may look back to."""
LONGEST = 1_200
"""Characters of a sentence that is read."""


class RuleExtractor:
    """Notices first-person statements of the user, offline and deterministically.

    Assistant turns are never evidence by themselves; the last one counts when the user's turn
    begins by confirming it.
    """

    name = "rules/1"

    def __init__(self, own: Noticing | None = None) -> None:
        self._own = own
        """Notices what types of one's own say in their patterns."""

    def extract(self, turn: Speech, earlier: Sequence[Speech] = ()) -> list[Candidate]:
        """The candidates of a turn, in the order of their first span."""
        if turn.role != "user":
            return []
        text = turn.content
        found: dict[tuple[str, str, str, bool], Candidate] = {}
        for candidate in self._confirmed(turn, earlier):
            found.setdefault(_key(candidate), candidate)
        personal = _PERSONAL.search(text) is not None
        if personal or (len(text) <= TALK and _told_of_others(text)):
            for draft in drafts(text, turn.said_at):
                deadline.check()
                candidate = to_candidate(draft, turn.said_at)
                found.setdefault(_key(candidate), candidate)
        if personal:
            for candidate in self._corrected(turn, earlier):
                found.setdefault(_key(candidate), candidate)
        ordered = sorted(found.values(), key=lambda c: (c.spans[0].start, c.spans[0].end))
        return self._own.beside(ordered, text, turn.said_at) if self._own else ordered

    def _confirmed(self, turn: Speech, earlier: Sequence[Speech]) -> Iterator[Candidate]:
        """What the assistant said of the user, when the user answers "yes, that's right"."""
        yes = _YES.match(turn.content)  # first, since looking back costs more
        if yes is None or not earlier or earlier[-1].role != "assistant":
            return
        said = earlier[-1]
        begin = yes.end() - len(yes.group().lstrip())
        while begin < yes.end() and not turn.content[begin].isalnum():
            begin += 1
        answer = Span(start=begin, end=yes.end(), quote=turn.content[begin : yes.end()])
        for start, end in sentences(said.content)[-2:]:
            if end - start > LONGEST:
                continue
            deadline.check()
            for draft in _sentence_drafts(
                said.content, tokens(said.content, start, end), said.said_at, "second"
            ):
                candidate = to_candidate(draft, turn.said_at)
                there = candidate.spans[0].model_copy(update={"turn": said.turn_id})
                yield candidate.model_copy(
                    update={
                        "spans": (answer, there),
                        "source": Source.CONFIRMED,
                        "act": draft.act_of_confirmed(),
                    }
                )

    def _corrected(self, turn: Speech, earlier: Sequence[Speech]) -> Iterator[Candidate]:
        """ "Actually it's Lisbon, not Porto": the slot is the one in which Porto was said."""
        repair = asides.repair(turn.content)
        if repair is None:
            return
        for said in reversed(earlier[-EARLIER:]):
            if said.role != "user":
                continue
            for draft in drafts(said.content, said.said_at):
                old = to_candidate(draft, said.said_at)
                if old.value.lower() == repair.wrong.lower():
                    yield asides.repaired(old, said.turn_id, turn.content, repair)
                    return


_MADE_UP = re.compile(
    r"(?:^|[.!?,:\n] *|\b(?:please|you|to|and|me|help|let's)\s+)(?:write|tell me|generate|continue|"
    r"draft|compose|make up|invent|translate|rewrite|rephrase|paraphrase|proof-?read|correct|"
    r"summari[sz]e|imagine|pretend|suppose|role-?play)\b|"
    r"\b(?:the|my|our|this|a|short) (?:\w+ )?(?:story|tale|novel|fiction|plot|protagonist|scene|"
    r"screenplay|script|poem|campaign|riddle|puzzle|scenario|dialogue|essay|exercise)\b|"
    r"\bcharacters?\b",
    re.I,
)
"""In a turn that asks for such things, people with names may be made up."""
_OPENING = re.compile(r"(?:^|[.!?\n])[^\S\n]*+([^\W\d_][\w'’-]*)")


_NAMERS = sayings.BEGINS.keys() | {"everyone", "everybody", "people", "they", "friends"}


def _told_of_others(text: str) -> bool:
    """Whether a sentence without "I" may state something: it begins with a name, or as steps do."""
    for found in _OPENING.finditer(text):
        low = found[1].lower()
        if (found[1][0].isupper() and named.may_be_name(low)) or low in _NAMERS:
            return True
    return False


def _key(candidate: Candidate) -> tuple[str, str, str, bool]:
    return candidate.entity, candidate.attribute, candidate.value.lower(), candidate.negated


def drafts(text: str, said_at: int) -> Iterator[Draft]:
    """What a turn of the user says of them, sentence by sentence."""
    together = len(text) <= TALK
    told: bool | None = None
    for start, end in sentences(text):
        deadline.check()
        if end - start > LONGEST:
            continue
        found: list[Draft] = []
        words: list[Token] = []
        if _PERSONAL.search(text, start, end):
            words = tokens(text, start, end)
            found = list(_sentence_drafts(text, words, said_at, "first"))
        if not together:
            yield from found
            continue
        shaped = next(sayings.drafts(text, start, end, said_at), None)
        yield from found if shaped is None else _beside(found, shaped)
        yield from aliases.drafts(text, start, end)
        if told is not False and named.may_be_named(text, start, end):
            if told is None:
                told = _MADE_UP.search(text) is None
            if not told:
                continue
            words = words or tokens(text, start, end)
            yield from named.drafts(Reading(text, words, said_at, "third"))


def _beside(found: list[Draft], shaped: Draft) -> list[Draft]:
    """The drafts of a sentence whose whole shape says something: it says so once."""
    if any(draft.type == shaped.type for draft in found):
        return found
    loose = ("habit.", "event.", "has.", "decision.", "commitment.")
    return [draft for draft in found if not draft.attribute.startswith(loose)] + [shaped]


def _contrasted(found: list[Draft]) -> list[Draft]:
    """ "I don't use unittest, I use pytest": the second corrects the first, of the same slot."""
    kept: list[Draft] = []
    for draft in found:
        wrong = kept[-1] if kept else None
        if (
            wrong is not None
            and wrong.attribute == draft.attribute
            and wrong.negated
            and not draft.negated
            and draft.replaces is None
            and {wrong.type, draft.type} <= {"fact", "preference"}
            and draft.content[wrong.end : draft.start].strip(" ,;-–—.").lower() in ("", "but")
        ):
            over = wrong.act is SpeechAct.REMOVAL or any(
                words in wrong.claim for words in ("no longer", "any more", "stopped", "quit")
            )
            act = SpeechAct.CHANGE if over else SpeechAct.CORRECTION
            kept[-1] = draft._replace(replaces=wrong.value, act=act, start=wrong.start)
        else:
            kept.append(draft)
    return kept


def _sentence_drafts(text: str, words: list[Token], said_at: int, person: str) -> Iterator[Draft]:
    reading = Reading(text, words, said_at, person)
    procedure = asides.procedure(reading)
    if procedure is not None:
        yield procedure
        return
    together = len(text) <= TALK
    found: list[Draft] = []
    for clause in clauses(words, person):
        deadline.check()
        if not together and words[clause.subject].low.startswith("we"):
            continue
        found += from_clause(reading, clause)
    yield from _contrasted(found)
    yield from belongings.drafts(reading)
    if person == "first":
        yield from asides.drafts(reading)


__all__ = ["Clause", "RuleExtractor", "Token", "pasted"]
