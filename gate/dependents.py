"""What is over along with something else: the age of a cat that died, and that there is a car, once
the Corsa is sold, or the flat in another town. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from beliefledger.gate.belief import Held
from beliefledger.gate.meant_memories import LASTING, Standing
from beliefledger.gate.rules.endings import is_learned
from beliefledger.gate.rules.lexicon import PETS
from beliefledger.ledger.candidate import SELF, Candidate, SpeechAct
from beliefledger.ledger.late_patterns import compile_later

EMPLOYER, ROLE = "work.employer", "work.role"
KIND = "entity.kind"
"""The attribute of what somebody or something is: "Rex is my dog"."""
_PET = compile_later(
    rf"relation\.(?:[a-z]{{2,12}}-){{0,2}}(?P<noun>(?:{'|'.join(sorted(PETS))})s?)\.name"
)


def with_what_depends(standing: Standing, over: Sequence[Held]) -> list[Held]:
    """Memories that are over, with those that hold only as long as they do."""
    found = list(over)
    ids = {each.memory_id for each in over}
    for each in over:
        memory = each.written.memory
        pet = _PET.fullmatch(memory.attribute)
        if pet is not None:
            more = _of_pet(standing, pet["noun"], memory.value)
        elif memory.attribute.startswith("has.") and memory.value in PETS:
            there = standing.of_others(KIND)
            told = [other for other in there if other.written.memory.value == memory.value]
            more = told if len(told) == 1 else []
        elif memory.attribute == KIND:
            more = _with_the_last(standing, each)
        elif memory.attribute == "vehicle.car":
            more = _had(standing, "car")
        elif memory.attribute == EMPLOYER:
            more = _there_as(standing, each)
        elif memory.attribute.startswith("thing."):
            more = _had(standing, memory.attribute.removeprefix("thing."))
        else:
            continue
        found += [other for other in more if other.memory_id not in ids]
        ids |= {other.memory_id for other in more}
    return found


def _there_as(standing: Standing, employer: Held) -> list[Held]:
    """What somebody was at an employer."""
    return [each for each in standing.of_user() if is_role_there(each, employer.turns)]


def is_role_there(held: Held, turns: frozenset[str]) -> bool:
    """Whether a memory says what somebody is, as it was told in one of the turns that told where;
    not what they have learned."""
    memory = held.written.memory
    return memory.attribute == ROLE and bool(held.turns & turns) and not is_learned(memory.value)


def _of_pet(standing: Standing, noun: str, name: str) -> list[Held]:
    """What is believed of a pet by its name, but for where the user lives and works."""
    called = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
    return [
        each
        for each in standing.of([name.lower(), noun])
        if each.type in LASTING
        and called.search(each.written.memory.claim) is not None
        and not each.written.memory.attribute.startswith(("home.location", "work."))
    ]


def _with_the_last(standing: Standing, gone: Held) -> list[Held]:
    """What is believed of a pet that is told as "Rex is my dog", and that there is a dog, unless
    there is another."""
    memory = gone.written.memory
    noun = memory.value.lower().rpartition(" ")[2]
    if noun not in PETS:
        return []
    named = (held.written.memory for held in standing.of_user())
    if any(
        each.attribute == f"relation.{noun}.name" and each.value != memory.entity for each in named
    ) or any(
        each.written.memory.value == memory.value and each.memory_id != gone.memory_id
        for each in standing.of_others(KIND)
    ):
        return _of_pet(standing, noun, memory.entity)
    return [*_of_pet(standing, noun, memory.entity), *_had(standing, noun)]


def _had(standing: Standing, noun: str) -> list[Held]:
    """That somebody has such a thing."""
    return [each for each in standing.of_user() if each.written.memory.attribute == f"has.{noun}"]


def homes_elsewhere(standing: Standing, candidate: Candidate) -> list[Held]:
    """What was told of a home elsewhere, once a candidate says where the user lives now: "lives in
    a small flat in Leith"."""
    if candidate.attribute != "home.location" or candidate.entity != SELF or candidate.retracts:
        return []
    if candidate.negated or candidate.context is not None or candidate.act not in SAID_SO:
        return []
    here = candidate.value.lower()
    return [
        held
        for held in standing.of_user()
        if held.written.memory.attribute in ("home.type", "home.household")
        and held.written.memory.context is None
        and _ELSEWHERE.search(held.written.memory.claim) is not None
        and here not in held.written.memory.claim.lower()
    ]


_ELSEWHERE = compile_later(r"\blives? (?:in|with) .{1,60}\bin [A-ZÀ-Þ]")
SAID_SO = frozenset({SpeechAct.STATEMENT, SpeechAct.CHANGE, SpeechAct.CORRECTION})
"""How something is told that is so now."""
