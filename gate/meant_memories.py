"""The memories that words may mean which name no slot: what is so, and how it is told. Pure but for
what a draft looks up."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from beliefledger.gate.belief import Held
from beliefledger.gate.decision import TurnView
from beliefledger.gate.draft import Draft
from beliefledger.gate.registry import NOTE
from beliefledger.gate.slots import canonical_entity
from beliefledger.ledger import streams
from beliefledger.ledger.candidate import SELF, Candidate, Ends, SpeechAct

LASTING = frozenset({"fact", "preference", "relation", NOTE})
WORD = re.compile(r"[^\W_]+(?:[.'&+-][^\W_]+)*[+#]*")


def look_up(
    draft: Draft,
    subject_ref: str,
    candidate: Candidate,
    turn: TurnView,
    fits: Callable[[Held, str], bool],
    types: Collection[str] = LASTING,
) -> list[Held]:
    """The memories that a candidate's words name, of the user and of those whom they name."""
    said = [ends.value for ends in candidate.ends if ends.among]
    directory, keys = draft.directory(subject_ref), draft.keys(subject_ref)
    about = {directory.survivor(streams.entity_stream(keys.ids, SELF.casefold()))}
    for words in said:
        for name in (words, *words.split()):
            entity = directory.named(canonical_entity(name))
            if entity is not None:
                about.add(entity)
    found: dict[str, Held] = {}
    there: list[Held] = []
    for entity in sorted(about):
        for held in _standing(draft, subject_ref, entity, turn):
            if held.type in types:
                there.append(held)
                if any(fits(held, words) for words in said):
                    found[held.memory_id] = held
    # "An accountant at Deloitte" is one statement in two slots.
    told = {each.written.memory.claim for each in found.values()}
    found |= {each.memory_id: each for each in there if each.written.memory.claim in told}
    return list(found.values())


def _standing(draft: Draft, subject_ref: str, entity: str, turn: TurnView) -> Iterator[Held]:
    """What was said of an entity before a turn, and is so when it is said."""
    for memory_id, stream in draft.about(subject_ref, entity).items():
        belief = draft.peek(stream)  # whoever ends it reads it
        standing = (*belief.current, *belief.past)
        held = next((each for each in standing if each.memory_id == memory_id), None)
        if held is None or held.said_at > turn.said_at or held.ended(turn.said_at):
            continue
        memory = held.written.memory
        if memory.turn != turn.turn_id and not memory.negated:
            yield held


def stems(text: str) -> set[str]:
    plain = text.lower().replace("’", "'")
    return {
        stem(part)
        for word in WORD.findall(plain)
        for part in {word, *re.split(r"[-']", word)}
        if part
    }


def stem(word: str) -> str:
    """A word without the endings of plurals and of verbs: "nursing" and "nurse" are one."""
    word = word.removesuffix("'s")
    for ending in ("ing", "ies", "al", "ers", "es", "ed", "er", "s", "e", "y"):
        if len(word) - len(ending) >= 3 and word.endswith(ending):
            return word.removesuffix(ending)
    return word


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
            "category": memory.category,
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
