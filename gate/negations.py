"""Which memories a denial ends though it calls them otherwise: "I don't live in NYC any more", of
somebody believed to live in New York City; "I don't have a brother", of one whose brother is Max.

Pure but for what a draft looks up.
"""

from __future__ import annotations

from collections.abc import Sequence

from beliefledger.gate.belief import Held
from beliefledger.gate.claim_excess import value_said
from beliefledger.gate.decision import TurnView
from beliefledger.gate.draft import Draft
from beliefledger.gate.meant_memories import Standing
from beliefledger.gate.registry import NOTE
from beliefledger.gate.rules.denials import ATTRIBUTE
from beliefledger.gate.slots import canonical_attribute
from beliefledger.ledger.candidate import SELF, Candidate, Ends, SpeechAct
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.networks.stems import stem

_MOST = 4
"""A denial that fits more memories than this says too little to end any."""
_OR = compile_later(r",? (?:n?or|and|/) |, ")
_LIGHT = frozenset("a an any the my our at all now anymore more longer own single of".split())
_USED = ("uses.", "tool.", "device.", "habit.", "plays.", "eats.", "drinks.", "likes.", "vehicle.")
"""Slots of what one may have given up, whatever it was kept as."""


def with_endings(
    draft: Draft, subject_ref: str, turn: TurnView, candidates: Sequence[Candidate]
) -> list[Candidate]:
    """The candidates, and an end for what they deny that is called otherwise where it is
    believed."""
    if not any(map(_denies, candidates)):
        return list(candidates)
    standing = Standing(draft, subject_ref, turn)
    found: list[Candidate] = []
    for each in candidates:
        held = _over(standing, each) if _denies(each) else []
        if not 0 < len(held) <= _MOST:
            found.append(each)
            continue
        if not any(one.written.memory.attribute == each.attribute for one in held):
            found.append(each)  # that there is none is worth knowing, too
        found.append(ending(each, held, never=_never(each)))
    return found


def ending(candidate: Candidate, held: Sequence[Held], *, never: bool) -> Candidate:
    """What ends these memories, and is itself not believed."""
    span = candidate.spans[0]
    ends = tuple(
        Ends(
            attribute=each.written.memory.attribute,
            value=each.written.memory.value,
            never=never,
        )
        for each in held
    )
    return Candidate(
        claim=f"{SELF}: {span.quote}", spans=(span.model_copy(update={"turn": None}),),
        type="event", entity=held[0].written.memory.entity, attribute=ATTRIBUTE, value=span.quote,
        act=SpeechAct.CORRECTION, category=candidate.category, importance=300_000,
        confidence=900_000, ends=ends, retracts=True,
    )  # fmt: skip


def is_denied(held: Held, candidate: Candidate, beside: Sequence[Candidate]) -> bool:
    """Whether another candidate of the same words denies a memory already: by its value, or as what
    it ends."""
    memory, span = held.written.memory, candidate.spans[0]
    slot = (memory.attribute, memory.value)
    return any(
        each.entity == memory.entity
        and (each.attribute == ATTRIBUTE or each.negated)
        and any(
            one.turn is None and one.start < span.end and span.start < one.end for one in each.spans
        )
        and (
            (each.attribute, each.value) == slot
            or any((one.attribute, one.value) == slot for one in each.ends)
        )
        for each in beside
    )


def _denies(candidate: Candidate) -> bool:
    return (
        candidate.negated
        and not candidate.retracts
        and candidate.context is None
        and candidate.type in ("fact", "relation", "preference", "event")
        and candidate.act in (SpeechAct.STATEMENT, SpeechAct.REMOVAL, SpeechAct.CORRECTION)
        and not candidate.inferred
    )


def _never(candidate: Candidate) -> bool:
    return _NEVER.search(candidate.claim) is not None


_NEVER = compile_later(r"\b(?:has never|never) [a-z]+(?:ed|d|t|n|s|ght|e|m)\b")


def _over(standing: Standing, candidate: Candidate) -> list[Held]:
    attribute = canonical_attribute(candidate.attribute)
    of_entity = [
        each
        for each in standing.of([candidate.entity])
        if each.written.memory.entity == candidate.entity and each.type != NOTE
    ]
    if candidate.act is SpeechAct.REMOVAL:
        parts = [each for each in _OR.split(candidate.value) if each.strip()]
        return [each for each in of_entity if _is_called(each, attribute, parts, candidate)]
    return []


def _is_called(held: Held, attribute: str, parts: Sequence[str], candidate: Candidate) -> bool:
    """Whether a memory of a slot has the value that is denied, under another name or in more
    words."""
    memory = held.written.memory
    slot = canonical_attribute(memory.attribute)
    same = slot == attribute
    if not same and not (len(parts) > 1 and slot.startswith(_USED)):
        return False
    if memory.value.lower() == candidate.value.lower():
        return False  # it is ended by the denial itself
    if same and len(parts) == 1:
        return is_part(parts[0], memory.value) or value_said([memory.value], candidate.spans[:1])
    return any(_bare(part) == _bare(memory.value) for part in parts)


def is_part(said: str, value: str) -> bool:
    """Whether some words are a shorter name of a value: "nights" of "night shifts", "Acme" of
    "Acme Robotics", but not "York" of "New York"."""
    words, whole = _bare(said), _bare(value)
    if not words or len(words) >= len(whole):
        return words == whole
    if value[:1].isupper() or said[:1].isupper():
        return whole[: len(words)] == words
    return set(words) <= set(whole)


def _bare(text: str) -> list[str]:
    return [stem(word) for word in text.lower().replace("’", "'").split() if word not in _LIGHT]
