"""To which types of memories a question is routed, by stated rules. Pure."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from beliefledger.ledger.data_files import data
from beliefledger.ledger.late_patterns import compile_later

_SAID = (
    "advised|called|came up|claimed|described|drafted|estimated|explained|gave|listed|made"
    "|mentioned|named|offered|prescribed|proposed|provided|quoted|recommended|reckoned|said|sent|shared"
    "|showed|suggested|thought|told|used|worked out|wrote"
)
_OF_AGENT = compile_later(
    rf"\byou(?:'ve| have| had)? (?:\w+ )?(?:{_SAID})\b|\b(?:did|had|have) you\b"
    r"|\b(?:in|by|to|of) your (?:\w+ )?(?:advice|answer|draft|estimate|explanation|list|message"
    r"|opinion|plan|proposal|recommendations?|reply|suggestions?|summary)\b"
    r"|\bour (?:\w+ )?(?:chat|conversation|discussion)\b|\bwe (?:discussed|spoke|talked)\b"
    r"|\bremind me\b",
    re.IGNORECASE,
)
"""What a question has that asks for what its reader said: an agent, who is no subject."""


def asks_agent(question: str) -> bool:
    """Whether a question is about what the agent itself said."""
    return _OF_AGENT.search(question) is not None


class Route(NamedTuple):
    """Types that a question asks for, and the rule and the words by which that is known."""

    rule: str
    types: tuple[str, ...]
    words: str


@cache
def _rules() -> tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]:
    written = data("beliefledger.projections", "routing.yaml")
    return tuple(
        (
            each["name"],
            tuple(each["types"]),
            compile_later(
                "|".join(f"(?:{pattern})" for pattern in each["patterns"]), re.IGNORECASE
            ),
        )
        for each in written
    )


def route(question: str) -> Route | None:
    """The first rule that fits; None where none does."""
    for name, types, pattern in _rules():
        found = pattern.search(question)
        if found:
            return Route(name, types, found.group())
    return None
