"""Whether a question asks for all of a set: "what are my pets called?", "how many kids do I have?".

Pure.
"""

from __future__ import annotations

from typing import NamedTuple

from beliefledger.projections.search_terms import words
from beliefledger.projections.sets import LONGEST, ROLES, nouns, sets, vocabulary


class SetQuestion(NamedTuple):
    """All members of a set are asked for."""

    set: str
    kind: str = ""
    """Only those of one kind; empty: of all."""
    counts: bool = False
    """It asks how many there are."""
    alone: bool = False
    """It asks of "I", and not of a family."""


def set_asked(question: str) -> SetQuestion | None:
    """The set that a question asks for; None where it asks for none, or for something else of one:
    "what do my kids eat?"."""
    said, known = words(question), vocabulary()
    if not known.past.isdisjoint(said) or known.theirs.intersection(said):
        return None
    rest, found = list(said), list[tuple[str, str]]()
    for length in range(LONGEST, 0, -1):
        for at in range(len(said) - length + 1):
            noun = tuple(said[at : at + length])
            called = [each for each in nouns().get(noun, ()) if each.plural and not each.value]
            if called and not (length == 1 and said[at] not in rest):
                found += [(each.set, each.kind) for each in called]
                rest = [each for each in rest if each not in noun]
    found += [(each.name, "") for each in sets().values() if not each.states.isdisjoint(rest)]
    how = "how" in said and "many" not in said
    if not found or how or (known.shapes.isdisjoint(said) and rest):
        return None
    if {"where", "when", "why", "whose"} & set(said):
        return None
    for name, kind in found:
        of = sets()[name]
        left = [each for each in rest if each not in known.plain | of.beside | of.states]
        if not left:
            kinds = {each for one, each in found if one == name}
            return SetQuestion(
                name,
                kind if len(kinds) == 1 else "",
                counts="many" in said or "count" in said,
                alone=not known.own.isdisjoint(said) and known.all_of_us.isdisjoint(said),
            )
    return None


def role_asked(question: str) -> str | None:
    """The role that a question asks a name for: "who is our builder?", "vet?"; else None."""
    said, known = words(question), vocabulary()
    past = known.past - ({"was", "were"} if _ONCE_MORE & set(said) else set())
    if not past.isdisjoint(said) or known.theirs.intersection(said):
        return None
    for length in range(LONGEST, 0, -1):
        for at in range(len(said) - length + 1):
            for called in nouns().get(tuple(said[at : at + length]), ()):
                if called.set != ROLES:
                    continue
                rest = {*said[:at], *said[at + length :]}
                asks = not rest or not rest.isdisjoint(known.role_shapes)
                return called.kind if asks and rest <= known.plain | known.of_roles else None
    return None


_ONCE_MORE = frozenset({"again", "was", "were", "called", "name"})
"""With "again" or "called" one asks for the name that is so: "what was the plumber called?"."""
