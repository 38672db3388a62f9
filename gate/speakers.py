"""Who of two people in one talk speaks: the subject, or somebody else by name. Pure.

Turns of role `user` may name their speaker. What a speaker who is not the subject says of "I" is
about an entity of that name.
"""

from __future__ import annotations

from beliefledger.gate.entities import Directory
from beliefledger.gate.slots import canonical_entity
from beliefledger.ledger.candidate import SELF, Candidate
from beliefledger.ledger.late_patterns import compile_later

SPEAKER = "speaker"
"""How the subject came by a name that turns of theirs are spoken under."""
UNNAMED = frozenset({"user", "me", "i", "human", "you", "self", "unknown", "speaker"})
_WORD = compile_later(r"[^\W\d_]{2,}")
_NAME = compile_later(r"[^\W\d_]{2,20}(?:[ .'’-][^\W\d_]{1,20}){0,3}")
_NO_NAMES = frozenset(
    "user users customer client guest test tester demo conv conversation talk chat session call"
    " dialog dialogue thread room channel agent subject person anon anonymous default".split()
)
"""Words that ids have where no name is given."""


def is_subject(
    speaker: str | None, real_id: str, directory: Directory, self_id: str
) -> bool | None:
    """Whether a speaker of the role `user` is the subject; None where only who spoke first tells.

    They are if they are not named, if the name is the subject's id or known as theirs, or shares a
    word with either. An id that names nobody ("u-17") says nothing about them.
    """
    name = canonical_entity(speaker or "")
    if not name or name in UNNAMED or name == canonical_entity(real_id):
        return True
    owner = directory.named(name)
    if owner is not None:
        return owner == self_id
    known = set(directory.names_of(self_id)) - {SELF.casefold()}
    if known:
        return any(_shared(name, each) for each in known)
    given = real_id.casefold().partition("@")[0]
    if _shared(name, given):
        return True
    return False if _names_somebody(given) else None


def spoke_first(speaker: str, first: str | None) -> bool:
    """Whether a named speaker is the one who spoke first, of a subject whose id names nobody."""
    name = canonical_entity(first or "")
    return bool(name) and name not in UNNAMED and _shared(canonical_entity(speaker), name)


def _shared(name: str, other: str) -> bool:
    """Whether two names may be one person's: they share a word, or one has a word of the other
    within."""
    ours, theirs = set(_WORD.findall(name)), set(_WORD.findall(other.casefold()))
    return not ours.isdisjoint(theirs) or any(
        min(len(a), len(b)) >= len("Anna") and (a in b or b in a) for a in ours for b in theirs
    )


def _names_somebody(given: str) -> bool:
    return _NAME.fullmatch(given) is not None and _NO_NAMES.isdisjoint(_WORD.findall(given))


def said_by(candidate: Candidate, speaker: str) -> Candidate:
    """What was noticed as the user's own statement, as one of a speaker who is not the subject."""
    entity = candidate.entity
    if entity == SELF:
        entity = speaker
    elif f"{SELF}'s {entity}" in candidate.claim:  # "my manager"
        entity = f"{speaker}'s {entity}"
    update = {
        "entity": entity,
        "claim": _SELF.sub(speaker.replace("\\", r"\\"), candidate.claim),
        "participants": tuple(speaker if each == SELF else each for each in candidate.participants),
    }
    return candidate.model_copy(update=update)


def as_if_of_subject(candidate: Candidate, speaker: str) -> Candidate:
    """The same as if the subject had said it: so a claim is compared with its words."""
    if candidate.entity != speaker:
        return candidate
    claim = candidate.claim.replace(speaker, SELF)
    return candidate.model_copy(update={"entity": SELF, "claim": claim})


_SELF = compile_later(rf"\b{SELF}\b")
