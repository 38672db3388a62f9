"""The memories that words may mean which name no slot: what is so, and how it is told. Pure but for
what a draft looks up."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

from beliefledger.gate.belief import Held
from beliefledger.gate.decision import TurnView
from beliefledger.gate.draft import Draft
from beliefledger.gate.registry import NOTE
from beliefledger.gate.rules.sensitive import category_of
from beliefledger.gate.slots import canonical_entity
from beliefledger.ledger import streams
from beliefledger.ledger.candidate import SELF, Candidate, Ends, Span, SpeechAct
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.times import Micros
from beliefledger.networks.stems import stem

LASTING = frozenset({"fact", "preference", "relation", NOTE})
PLANNED = LASTING | {"event", "commitment", "decision"}
TO_COME = ("event.plan", "event.appointment", "event.meeting", "event.schedul", "event.trip")
"""Attributes of what is to be."""
WORD = compile_later(r"[^\W_]+(?:[.'&+-][^\W_]+)*[+#]*")


class Standing:
    """What a subject's memories say when a turn is said, read once for all of its sentences."""

    def __init__(self, draft: Draft, subject_ref: str, turn: TurnView) -> None:
        self._draft, self._subject_ref, self._turn = draft, subject_ref, turn
        self._directory, keys = draft.directory(subject_ref), draft.keys(subject_ref)
        self._self = self._directory.survivor(streams.entity_stream(keys.ids, SELF.casefold()))
        self._of: dict[str, tuple[Held, ...]] = {}
        self._denied: list[Held] = []
        self._over: list[Held] = []
        self._denied_of_others: dict[str, list[Held]] = {}
        self._answered: set[str] = set()
        self._spared: frozenset[str] = frozenset()
        self.kept: dict[str, Any] = {}
        """What others have worked out of these memories, so that it is done once."""

    @property
    def said(self) -> str:
        """What the turn says."""
        return self._turn.content

    def of_user(self) -> tuple[Held, ...]:
        """The memories about the user."""
        return self._about(self._self)

    def denied(self) -> list[Held]:
        """What the user denied: "I can't stand jazz"."""
        self._about(self._self)
        return self._denied

    def over(self) -> list[Held]:
        """What was so of the user once, and is no more when the turn is said."""
        self._about(self._self)
        return self._over

    def name_of(self, held: Held) -> str:
        """The name of whom a memory is about; another of theirs where it means nobody any more: the
        first of two sisters was "sister" once."""
        memory = held.written.memory
        if memory.entity == SELF or memory.resolved is None:
            return memory.entity
        entity = self._directory.survivor(memory.resolved.entity)
        if self._directory.named(canonical_entity(memory.entity)) == entity:
            return memory.entity
        return next(iter(self._directory.names_of(entity)), memory.entity)

    def without_employer(self, doing: frozenset[str]) -> frozenset[str]:
        """These people and firms; none where the user works there: "Siemens folded, moved to Oslo"
        is then said of the user."""
        if not doing:
            return doing
        employer = {
            word
            for held in self.of_user()
            if held.written.memory.attribute == "work.employer"
            for word in held.written.memory.value.lower().split()
        }
        return doing if doing.isdisjoint(employer) else frozenset()

    def of(self, words: Iterable[str]) -> list[Held]:
        """The memories about the user, and about those whom some words name."""
        return [held for entity in self._named(words) for held in self._about(entity)]

    def of_others(self, attribute: str) -> list[Held]:
        """The memories of this attribute about all others than the user."""
        others = {self._directory.survivor(each) for each in self._directory.entities} - {
            self._self
        }
        return [
            held
            for entity in sorted(others)
            for held in self._about(entity)
            if held.written.memory.attribute == attribute
        ]

    def denied_of(self, words: Iterable[str]) -> list[Held]:
        """What is denied of those whom some words name: "my boss hates meetings"."""
        found = []
        for entity in self._named(words):
            self._about(entity)
            found += self._denied_of_others.get(entity, [])
        return found

    def _named(self, words: Iterable[str]) -> list[str]:
        about = {self._self}
        for said in words:
            of_us = _OURS if not _US.isdisjoint(said.split()) else ()
            for name in (said, *said.split(), *of_us):
                entity = self._directory.named(canonical_entity(name))
                if entity is not None:
                    about.add(entity)
        return sorted(about)

    def answered(self, some: Iterable[Held]) -> None:
        """Tell nothing more of these memories: it is known already what becomes of them."""
        self._answered |= {each.memory_id for each in some}
        self._of = {
            entity: tuple(each for each in held if each.memory_id not in self._answered)
            for entity, held in self._of.items()
        }

    def spare(self, some: frozenset[str]) -> None:
        """Tell nothing of these memories, by their ids, until others are spared: the sentence that
        is looked at leaves them as they are."""
        self._spared = some

    def _about(self, entity: str) -> tuple[Held, ...]:
        if entity not in self._of:
            self._of[entity] = tuple(self._read(entity))
        held = self._of[entity]
        if not self._spared:
            return held
        return tuple(each for each in held if each.memory_id not in self._spared)

    def _read(self, entity: str) -> Iterator[Held]:
        """What was said of an entity before the turn, and is so when it is said."""
        turn, draft = self._turn, self._draft
        there = draft.about(self._subject_ref, entity)
        draft.read_all_ahead(there.values())
        for memory_id, stream in there.items():
            belief = draft.peek(stream)  # whoever ends it reads it
            held = belief.believed(memory_id)
            if memory_id in self._answered:
                continue
            if held is None or held.said_at > turn.said_at:
                continue
            memory = held.written.memory
            if memory.turn == turn.turn_id:
                continue
            if held.ended(turn.said_at):
                if entity == self._self and held.valid_to is not None:
                    self._over.append(held)
                continue
            if not memory.negated:
                yield held
            elif entity == self._self:
                self._denied.append(held)
            else:
                self._denied_of_others.setdefault(entity, []).append(held)


_US = frozenset({"us", "we", "our", "company", "team", "we're", "we've"})
_OURS = ("team", "company")
"""Whom "we" may be."""


def look_up(
    standing: Standing,
    candidate: Candidate,
    fits: Callable[[Held, str], bool],
    types: Collection[str] = LASTING,
) -> list[Held]:
    """The memories that a candidate's words name, of the user and of those whom they name."""
    said = [ends.value for ends in candidate.ends if ends.among]
    there = [held for held in standing.of(said) if held.type in types]
    found = {held.memory_id: held for held in there if any(fits(held, words) for words in said)}
    # "An accountant at Deloitte" is one statement in two slots.
    told = {each.written.memory.claim for each in found.values()}
    found |= {each.memory_id: each for each in there if says_one_of(each, told)}
    return list(found.values())


def says_one_of(held: Held, claims: Collection[str]) -> bool:
    """Whether a memory makes one of these claims, or makes it beside an employer: what is no more
    "a barista" is no more "a barista at Costa"."""
    memory = held.written.memory
    if memory.claim in claims:
        return True
    if memory.attribute != "work.employer":
        return False
    said = set(memory.claim.split())
    return any(set(each.split()) < said for each in claims)


def stems(text: str) -> set[str]:
    plain = text.lower().replace("’", "'")
    return {
        stem(part)
        for word in WORD.findall(plain)
        for part in {word, *re.split(r"[-']", word)}
        if part
    }


def told_last(some: Sequence[Held], among: Iterable[Held]) -> list[Held]:
    """Those of some memories that were told last of all that they are among: what "it" means. None
    where these say several things."""
    latest = max((each.said_at for each in among), default=0)
    last = [each for each in some if each.said_at == latest]
    return last if len({each.written.memory.claim for each in last}) == 1 else []


def in_place(
    candidate: Candidate, held: Held, claim: str, value: str, ends: tuple[Ends, ...]
) -> Candidate:
    """A candidate for the slot of a memory, with another claim and value."""
    memory = held.written.memory
    return candidate.model_copy(
        update={
            "claim": claim,
            "type": held.type,
            "entity": memory.entity,
            "attribute": memory.attribute,
            "value": value,
            "context": memory.context,
            "replaces": memory.value,
            "act": SpeechAct.CHANGE,
            "topic": memory.topic,
            "category": memory.category or category_of(claim),
            "importance": held.importance,
            "participants": (),
            "ends": ends,
            "retracts": False,
            "spans": (
                *candidate.spans,
                *(
                    each.model_copy(update={"turn": each.turn or memory.turn})
                    for each in memory.spans
                ),
            ),
        }
    )


def as_it_was(candidate: Candidate, held: Held, ends: tuple[Ends, ...]) -> Candidate:
    """A candidate for a memory as it was before it ended."""
    memory = held.written.memory
    return in_place(candidate, held, memory.claim, memory.value, ends)


def ends_by_entity(
    standing: Standing, some: Sequence[Held], *, at: Micros | None = None, never: bool = False
) -> Iterator[tuple[str, tuple[Ends, ...]]]:
    """Of whom memories are, and what ends those of each: at a time, or as never so."""
    names = {each.memory_id: standing.name_of(each) for each in some}
    for entity in dict.fromkeys(names.values()):
        its = (each.written.memory for each in some if names[each.memory_id] == entity)
        yield (
            entity,
            tuple(
                Ends(
                    attribute=each.attribute,
                    value=each.value,
                    denials=each.negated,
                    at=at,
                    never=never,
                )
                for each in its
            ),
        )


def quoting(candidate: Candidate, cites: dict[str, str]) -> Candidate:
    """The candidate with the words of the turns that it cites; without those that are gone."""
    spans = []
    for span in candidate.spans:
        if span.turn is None:
            spans.append(span)
        elif span.turn in cites:
            quote = cites[span.turn][span.start : span.end]
            spans.append(Span(start=span.start, end=span.end, quote=quote, turn=span.turn))
    return candidate.model_copy(update={"spans": tuple(spans)})
