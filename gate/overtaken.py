"""Which memories a sentence overtakes that nothing else has connected with it.

The scorer of `successions` is asked about each memory that has a word or a topic in common with the
sentence. Only what it is sure of ends. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from beliefledger.gate import successions
from beliefledger.gate.belief import Held
from beliefledger.gate.meant_memories import LASTING, TO_COME, Standing
from beliefledger.gate.registry import NOTE
from beliefledger.gate.rules import distinctions
from beliefledger.gate.successions import Said, Told, ranks, score, threshold
from beliefledger.ledger.candidate import Candidate

MOST = 3
"""A sentence that would overtake more claims than this is about something else."""
_PLANNED = LASTING | {"event", "commitment", "decision"}
_STAYING = ("identity.", "record.", "language.", "event.end", "event.change", "health.", "answers.")


def overtaken(standing: Standing, candidate: Candidate, beside: Sequence[Candidate]) -> list[Held]:
    """The memories that a sentence puts an end to or another value in the place of; none where it
    is not clear."""
    said = Said(candidate.spans[0].quote)
    words = [ends.value for ends in candidate.ends if ends.among]
    there = []
    for held in standing.of(words):
        memory = held.written.memory
        of = Told(held.type, memory.attribute, memory.claim, memory.value)
        if _may_be(held) and said.may_be_of(of):
            there.append((held, of))
    told: dict[str, list[Held]] = {}
    for (held, of), rank in zip(there, ranks(said, [of for _, of in there]), strict=True):
        if _is_answered(held, beside) or is_kin_still(held, said.text):
            continue
        if score(said, of, rank) >= threshold("over"):
            told.setdefault(of.claim, []).append(held)
    if not told and not said.others and (went := successions.goes_to(said.text)) is not None:
        told = _left_for(went, standing)
    if told:
        told |= _in_fewer_words(told, standing.of(words))
    if len(told) > MOST:
        return []
    return [held for some in told.values() for held in some]


def without_sure_to_stand(text: str, some: Sequence[Held]) -> list[Held]:
    """Memories that rules take to be over, without those that the scorer is sure to stand: "no
    bridge this week"."""
    said = Said(text)
    there = [
        Told(held.type, held.written.memory.attribute, held.written.memory.claim, held.value)
        for held in some
    ]
    return [
        held
        for held, of, rank in zip(some, there, ranks(said, there), strict=True)
        if not said.may_be_of(of) or score(said, of, rank) >= threshold("stands")
    ]


def _in_fewer_words(told: dict[str, list[Held]], there: Sequence[Held]) -> dict[str, list[Held]]:
    """What says a part of what is over: "two dogs called Rex", of "… called Rex and Milo"."""
    fewer: dict[str, list[Held]] = {}
    for held in there:
        claim = held.written.memory.claim
        if (
            claim not in told
            and held.type != NOTE
            and any(each.startswith(f"{claim} and ") for each in told)
            and _may_be(held)
        ):
            fewer.setdefault(claim, []).append(held)
    return fewer


_KIN = re.compile(
    r"relation\.(?:(?:step)?(?:mother|father|mom|mum|dad|brother|sister|son|daughter|child|kid)|"
    r"wife|husband|hubby|spouse|partner|girlfriend|boyfriend|gf|bf|fianc\w*|cousin|aunt|uncle|niece|nephew|"
    r"grand\w+|gran\w*|friend|mate|buddy|pal|bestie|twin)\."
)
_PARTS = re.compile(
    r"\b(?:broke|broken|break|split|separat\w+|divorc\w+|dump\w+|ex|exes|single|"
    r"left (?:me|us|him|her)|friends?|talk\w*|speak\w*|died|dead|dies|passed|lost|gone|rip|buried|"
    r"funeral|together|engaged|married|fell out)\b",
    re.I,
)
"""What parts people from each other."""
_LOVE = re.compile(
    r"relation\.(?:wife|husband|hubby|spouse|partner|girlfriend|boyfriend|gf|bf|fianc)"
)
_OF_LOVE = re.compile(
    r"\b(?:and (?:i|me)|i and|we|our|me|seeing|dating|moved out|walked out|(?<!left )over|yes|i do|"
    r"propos\w+|wed\w*|ring)\b",
    re.I,
)
"""What else may tell that somebody is no partner any more, or more than that."""


def is_kin(attribute: str, value: str) -> bool:
    """Whether what is believed in a slot is who a relative or friend is."""
    return _KIN.match(attribute) is not None and value[:1].isupper()


def is_kin_still(held: Held, text: str) -> bool:
    """Whether a memory tells of a relative or friend, and a sentence says nothing of a parting: who
    left a job is a brother still."""
    memory = held.written.memory
    if not is_kin(memory.attribute, memory.value):
        return False
    of_love = _LOVE.match(memory.attribute) is not None
    return _PARTS.search(text) is None and not (of_love and _OF_LOVE.search(text))


def _left_for(name: str, standing: Standing) -> dict[str, list[Held]]:
    """What is left by who "switched to Globex": the one thing that the user is believed to have of
    somebody who can be switched. Where there are two, nobody knows which; a product that the rules
    know is of a slot of its own."""
    if distinctions.is_of_a_kind(name):
        return {}
    told: dict[str, list[Held]] = {}
    for held in standing.of_user():
        attribute = held.written.memory.attribute
        if held.type in LASTING and attribute.startswith(_PROVIDED) and name != held.value:
            told.setdefault(held.written.memory.claim, []).append(held)
    employed = any(
        each.written.memory.attribute == "work.employer" for some in told.values() for each in some
    )
    return told if employed and len(told) == 1 else {}


_PROVIDED = tuple(
    "work.employer work.role finance. fitness.gym uses. tool. device. member. is-with. has. thing. "
    "subscribes. provider. relation.uses".split()
)
"""Attributes of what one may switch."""


def _may_be(held: Held) -> bool:
    memory = held.written.memory
    if held.type not in _PLANNED or memory.attribute.startswith(_STAYING):
        return False
    if held.type == "event" and not memory.attribute.startswith(TO_COME):
        return False
    return memory.context is None and memory.category is None


def _is_answered(held: Held, beside: Sequence[Candidate]) -> bool:
    """Whether a candidate is in the slot of a memory already, or ends it."""
    memory = held.written.memory
    for each in beside:
        same = (each.entity, each.attribute) == (memory.entity, memory.attribute)
        if same and held.type != NOTE:  # notes have a slot for each, by their words
            return True
        if any((one.attribute, one.value) == (memory.attribute, memory.value) for one in each.ends):
            return True
    return False
