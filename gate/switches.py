"""What somebody has gone over to, and what they leave for it: "switched to Globex". Pure but for
what a draft looks up.
"""

from __future__ import annotations

import re

from beliefledger.gate.belief import Held
from beliefledger.gate.meant_memories import LASTING, Standing
from beliefledger.gate.rules import distinctions
from beliefledger.ledger.late_patterns import compile_later

_GOES_TO = compile_later(
    r"\b(?:switched|jumped ship|went over|gone over|defected|moved (?:on|over)|hopped over) to "
    r"(?P<new>(?-i:[A-ZÀ-Þ])[\w&'’-]{1,30}(?: (?-i:[A-ZÀ-Þ])[\w&'’-]{1,30})?)",
    re.I,
)


def goes_to(text: str) -> str | None:
    """The name of what the speaker has gone over to: "switched to Globex"."""
    found = _GOES_TO.search(text)
    return None if found is None else found["new"]


def left_for(name: str, standing: Standing) -> dict[str, list[Held]]:
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
