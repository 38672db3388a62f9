"""What a believed statement ends in other slots: "I lost my job" ends employer and role.

A decision is about one belief. What it ends elsewhere are memories about the same entity that are
in force, said before it, and named by its candidate's `ends`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from beliefledger.gate.belief import Held
from beliefledger.gate.decision import Decision, TurnView
from beliefledger.gate.dependents import EMPLOYER, ROLE, is_role_there
from beliefledger.gate.draft import Draft
from beliefledger.gate.outcomes import Outcome
from beliefledger.gate.rules.denials import ATTRIBUTE as DENIAL
from beliefledger.gate.rules.denials import RETRACTION, asks_to_forget
from beliefledger.gate.rules.distinctions import is_one_of_several
from beliefledger.gate.rules.endings import TRADE, is_a_trade
from beliefledger.gate.slots import canonical_attribute, words
from beliefledger.ledger.candidate import Candidate, Ends
from beliefledger.ledger.codec import New
from beliefledger.ledger.events import Event
from beliefledger.ledger.events.belief import MemoryExpired, MemoryRevoked
from beliefledger.ledger.log import new_id
from beliefledger.ledger.memory import Memory
from beliefledger.ledger.times import Micros

_BELIEVED = frozenset({Outcome.ADMIT, Outcome.CONFIRM, Outcome.SUPERSEDE})


def end_others(
    draft: Draft,
    subject_ref: str,
    candidate: Candidate,
    decision: Decision,
    decision_id: str,
    turn: TurnView,
    actor: str,
) -> None:
    """Write the ends of the memories that a decision's candidate ends."""
    resolved = candidate.resolved
    if not candidate.ends or resolved is None or decision.capped:
        return
    if decision.outcome not in _BELIEVED:
        return
    begins, names = _asked(candidate.ends)
    there = draft.about(subject_ref, resolved.entity)
    draft.read_all_ahead(there.values())
    takes_back = candidate.attribute in (DENIAL, RETRACTION)
    forget = takes_back and asks_to_forget(candidate.spans[0].quote)
    left = _told_with_employer(draft, there, candidate)
    for memory_id, stream in there.items():
        known = draft.peek(stream).believed(memory_id)
        if known is not None:
            attribute = canonical_attribute(known.written.memory.attribute)
            if attribute not in names and not attribute.startswith(begins):
                continue  # as most, of one who has thousands; what it is about never changes
        held = draft.belief(stream).believed(memory_id)  # "until May" may end before May
        if held is None:
            continue
        asked = _with_role(candidate) if is_role_there(held, left) else candidate
        at = ended_at(held, asked, turn, own=decision_id == held.written.decision)
        if at is not None:
            never = at <= held.valid_from and any(each.never for each in candidate.ends)
            event: Event = MemoryExpired(memory_id=memory_id, valid_to=at, never=never)
            if forget:  # what is over is still told as past, and this is not to be told
                event = MemoryRevoked(memory_id=memory_id, cause="asked")
            draft.write_belief(
                New(event, new_id(), stream, subject_ref, actor, decision_id, turn.turn_id)
            )


def _told_with_employer(
    draft: Draft, there: Mapping[str, str], candidate: Candidate
) -> frozenset[str]:
    """The turns that told of an employer whom a candidate says, by name, to be left: what somebody
    was there is over as well."""
    left = [each for each in candidate.ends if each.attribute == EMPLOYER and each.value]
    turns: set[str] = set()
    for memory_id, stream in there.items() if left else ():
        held = draft.peek(stream).believed(memory_id)
        if held is not None and any(is_named(held.written.memory, each) for each in left):
            turns |= held.turns
    return frozenset(turns)


def _with_role(candidate: Candidate) -> Candidate:
    """A candidate that ends what somebody is, too, whatever that is."""
    ends = next(each for each in candidate.ends if each.attribute == EMPLOYER and each.value)
    role = ends.model_copy(update={"attribute": ROLE, "value": ""})
    return candidate.model_copy(update={"ends": (*candidate.ends, role)})


def _asked(ends: Iterable[Ends]) -> tuple[tuple[str, ...], frozenset[str]]:
    """With what the attributes begin that these end, and those that they name in full."""
    asked = {each.attribute for each in ends}
    begins = {each for each in asked if each.endswith("*")}
    names = frozenset(canonical_attribute(each) for each in asked - begins)
    return tuple(each[:-1] for each in begins), names


def ended_at(
    held: Held, candidate: Candidate, turn: TurnView, *, own: bool = False
) -> Micros | None:
    """When a memory ends by what a candidate says; None if it goes on. Pure.

    What is over already ends anew only where it was never so: then it ends as it begins. What the
    candidate itself says (`own`) ends only at a stated later time: "until March".
    """
    memory, resolved = held.written.memory, candidate.resolved
    if held.ended(turn.said_at) and candidate.attribute != DENIAL:
        return None
    if memory.resolved is None or resolved is None or memory.resolved.entity != resolved.entity:
        return None
    for ends in candidate.ends:
        said_later = held.said_at > turn.said_at
        later = ends.at is not None and ends.at > turn.said_at
        together = memory.turn == turn.turn_id and not (ends.never or later)
        if said_later or together or (own and not later) or not is_named(memory, ends):
            continue
        if ends.never:
            return held.valid_from if held.valid_to != held.valid_from else None
        if held.ended(turn.said_at):
            continue
        at = max(turn.said_at if ends.at is None else ends.at, held.valid_from)
        return None if held.valid_to is not None and held.valid_to <= at else at
    return None


def is_named(memory: Memory | Candidate, ends: Ends) -> bool:
    """Whether a memory, or what may become one, is one of those that an end names."""
    attribute = canonical_attribute(memory.attribute)
    if ends.attribute.endswith("*"):
        fits = attribute.startswith(ends.attribute[:-1])
    else:
        fits = attribute == canonical_attribute(ends.attribute)
    if not fits or memory.negated != ends.denials:
        return False
    said = {_singular(word) for word in words(memory.value)}
    said |= {_singular(part) for part in attribute.replace(".", "-").split("-")}
    if ends.never or not ends.attribute.endswith("*"):
        claim = memory.claim
        if attribute == "work.employer" and not ends.never:
            # Who left Berlin may work there for Siemens, and who is off on Tuesdays as well.
            claim = claim.partition(" in ")[0].partition(" on ")[0]
        said |= {_singular(word) for word in words(claim)}
    if attribute == "work.role" and is_a_trade(memory.claim):
        said.add(TRADE)
    if ends.sparing and {_singular(word) for word in words(ends.sparing)} & said:
        return False
    if not said.issuperset(_singular(word) for word in words(ends.value) if ends.value):
        return False
    return ends.never or not is_one_of_several(
        ends.value.lower().split(), memory.attribute, memory.claim
    )


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
