"""Which memories are over when somebody takes back what they said, or asks to have it forgotten.

Pure but for what a draft looks up. What ends nothing is left out: "I was lying when I said I live
in Porto" tells nothing by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from beliefledger.gate.belief import Held
from beliefledger.gate.decision import TurnView
from beliefledger.gate.draft import Draft
from beliefledger.gate.endings import is_named
from beliefledger.gate.entity_names import of_speaker
from beliefledger.gate.meant_memories import (
    Standing,
    as_it_was,
    ends_by_entity,
    in_place,
    says_one_of,
    stems,
)
from beliefledger.gate.rules.denials import ALL, ATTRIBUTE, JUST_BEFORE, asks_to_forget
from beliefledger.ledger.candidate import SELF, Candidate, Ends, SpeechAct
from beliefledger.ledger.memory import Memory

_MOST = 8
"""Words that fit more memories than this say too little to end any."""


def taken_back(
    draft: Draft, subject_ref: str, turn: TurnView, candidates: Sequence[Candidate]
) -> list[Candidate]:
    """The candidates, those that take something back with the memories that they mean."""
    if not any(each.attribute == ATTRIBUTE for each in candidates):
        return list(candidates)
    standing = Standing(draft, subject_ref, turn)
    found: list[Candidate] = []
    for each in candidates:
        if each.attribute != ATTRIBUTE:
            found.append(each)
        elif of_speaker(draft, subject_ref, turn, each) is each:
            found += _retractions(standing, each)
    return found


def _retractions(standing: Standing, candidate: Candidate) -> Iterator[Candidate]:
    never = any(each.never for each in candidate.ends)
    held = _meant(standing, candidate, standing.over() if never else ())
    quote = candidate.spans[0].quote
    if candidate.replaces is not None:
        for each in held:
            memory = each.written.memory
            if memory.value.lower() == candidate.replaces and memory.value in memory.claim:
                claim = memory.claim.replace(memory.value, candidate.value, 1)
                wrong = Ends(attribute=memory.attribute, value=memory.value, never=never)
                anew = in_place(candidate, each, claim, candidate.value, (wrong,))
                yield anew.model_copy(update={"act": SpeechAct.CORRECTION})
                return
    for entity, ends in ends_by_entity(standing, held, never=never):
        yield candidate.model_copy(
            update={
                "entity": entity,
                "ends": ends,
                "spans": candidate.spans[:1],
                "value": quote,
                "replaces": None,
            }
        )
    yield from _so_again(standing, candidate)


def _so_again(standing: Standing, candidate: Candidate) -> Iterator[Candidate]:
    """What the turn before ended that was a joke: it is so as it was."""
    last = next((each for each in candidate.ends if each.attribute == JUST_BEFORE), None)
    if last is None or last.at is None:
        return
    words = [each.value for each in candidate.ends if each.among and each.value]
    before = {each.turn for each in candidate.spans if each.turn}
    over = [
        each
        for each in standing.over()
        if not each.written.memory.negated
        and each.written.memory.turn not in before
        and (
            each.valid_to == last.at
            or (not each.was_so and any(_says(each.written.memory, some) for some in words))
        )
    ]
    joke = candidate.model_copy(update={"spans": candidate.spans[:1]})
    for each in over if len(over) <= _MOST else ():
        yield as_it_was(joke, each, ())


def _meant(standing: Standing, candidate: Candidate, over: Sequence[Held]) -> list[Held]:
    request = request_of(candidate)
    words = request.words
    there = [*standing.of(words), *standing.denied(), *standing.denied_of(words)]
    # What was never so is not to be told as what was so once.
    there += [each for each in over if not each.written.memory.negated and each.was_so]
    if request.before is not None:
        return [each for each in there if each.written.memory.turn in request.before]
    there = [each for each in there if request.may_mean(each.written.memory)]
    forget = asks_to_forget(candidate.spans[0].quote)
    found = {
        each.memory_id: each for each in there if request.names(each.written.memory, at_all=forget)
    }
    # "A developer at Acme" is one statement in two slots, and so is its note.
    told = {each.written.memory.claim for each in found.values()}
    found |= {each.memory_id: each for each in there if says_one_of(each, told)}
    return list(found.values()) if len(found) <= _MOST else []


class Request(NamedTuple):
    """What words take back or ask to have forgotten."""

    words: Sequence[str]
    of: Sequence[re.Pattern[str]]
    """Patterns that the attribute of what is meant has to match."""
    stated: Sequence[Ends]
    before: frozenset[str] | None
    """The turn that is meant as a whole, where the words name nothing."""

    def may_mean(self, said: Memory | Candidate) -> bool:
        """Whether a memory, or what may become one, is in a slot that may be meant."""
        return all(each.match(said.attribute) for each in self.of)

    def names(self, said: Memory | Candidate, *, at_all: bool) -> bool:
        """Whether the words name it; `at_all` as of `_says`."""
        return any(is_named(said, each) for each in self.stated) or any(
            each == ALL or _says(said, each, at_all=at_all) for each in self.words
        )


def request_of(candidate: Candidate) -> Request:
    """What a candidate that takes something back asks for."""
    looked_up = [each for each in candidate.ends if each.among]
    just_before = any(each.attribute == JUST_BEFORE for each in looked_up)
    return Request(
        [each.value for each in looked_up if each.value],
        [re.compile(each.attribute[1:]) for each in looked_up if len(each.attribute) > 1],
        [each for each in candidate.ends if not each.among],
        frozenset(each.turn for each in candidate.spans if each.turn) if just_before else None,
    )


def _says(memory: Memory | Candidate, words: str, *, at_all: bool = False) -> bool:
    """Whether a memory, or what may become one, has all of these words, and one of them where it
    tells its value; or, with `at_all`, wherever it has them."""
    said = stems(words)
    value = stems(memory.value)
    slot = stems(memory.attribute.partition(".")[2].replace(".", " ").replace("-", " "))
    if not said or (said.isdisjoint(value | slot) and not at_all):
        return False
    whole = value | slot | stems(memory.claim)
    if memory.entity != SELF:
        whole |= stems(memory.entity)
    if at_all and memory.category is not None:  # "forget my religion"
        whole |= stems(memory.category)
    return said <= whole
