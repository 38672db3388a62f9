"""Whether a sentence and something in words of one's own are about the same. Pure."""

from __future__ import annotations

import re

from beliefledger.gate.meant_memories import stems
from beliefledger.gate.pairs import Said, Told, commonplaces
from beliefledger.gate.registry import NOTE
from beliefledger.gate.rules.lexicon import GIVEN
from beliefledger.gate.successions import CHANGES
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.networks.stems import stem

_ADDRESSED = compile_later(
    r"(?:^|[,;]\s*|\b(?i:hey|hi|hiya|hello|bye|goodbye|night|morning|thanks|thank you|cheers|yes"
    r"|yeah|yep|yup|no|nope|nah|sorry|wow|ok|okay|oh|aw|care|you|it|that)[ ,]+)([A-Z]\w+)"
    r"(?=\s*(?:[,;.!?…]|$))"
)
"""A name that tells whom a sentence is said to: "Bye Caroline", "Sorry to hear that, John"."""


def have_a_subject(said: Said, of: Told) -> bool:
    """Whether a sentence and a note or a plan are about the same. They share a word that is no
    commonplace, nor the name of who is spoken to, and no other name either unless a note and a
    change are told; or the sentence tells of a change, and they share a topic or a kind of thing.
    "Family means everything" says nothing new of "we had a lovely time with the family"."""
    shared = (said.stems & of.stems) - commonplaces()
    changes = not CHANGES.isdisjoint(said.cues)
    if of.type != NOTE or not changes:
        shared -= {stem(word) for word in said.words if word in GIVEN or word in said.names}
    shared -= {stem(name) for name in _addressed(said.text)}
    if shared or not changes:
        return bool(shared)
    return not said.topics.isdisjoint(of.topics) or said.is_rival_of(of)


def only_share_names(said: Said, of: Told) -> bool:
    """Whether nothing links the two but given names: "Yeah Tom, it's been great for me"."""
    shared = said.stems & of.stems
    return bool(shared) and shared <= {stem(word) for word in said.words if word in GIVEN}


def is_of_a_part(said: Said, of: Told) -> bool:
    """Whether a sentence shares with what is believed only what that has beside something else: who
    sold the bandsaw still has "a workshop with a lathe and a bandsaw"."""
    head, _, rest = of.claim.partition(" with ")
    shared = (said.stems & of.stems) - stems(head)
    return of.attribute.startswith("has.") and bool(shared) and shared <= stems(rest)


def _addressed(text: str) -> set[str]:
    """The names of who is spoken to: of one, for several are a list."""
    names = {each.lower() for each in _ADDRESSED.findall(text)}
    return names if len(names) == 1 else set()


def only_pays(said: Said, told: Told) -> bool:
    """Whether a sentence has words of what is told only as where its money is from: "a laptop with
    my tutoring money"."""
    rest = _MONEY.sub(" ", said.text)
    shared = (said.stems & told.stems) - commonplaces()
    return rest != said.text and stems(rest).isdisjoint(shared)


_MONEY = compile_later(
    r"\b(?:with|from|using|out of|off|thanks to) (?:all )?(?:the|my|our)(?: [\w'’-]{1,24}){1,3} "
    r"(?:money|cash|savings?|pay|pay ?che(?:ck|que)|wages?|salary|earnings|tips|bonus|income)\b",
    re.I,
)
