"""Moves a memory to another slot, of another entity or type. Its id survives."""

from __future__ import annotations

from collections.abc import Mapping

from beliefledger.gate.belief import Belief, Held
from beliefledger.gate.draft import Draft
from beliefledger.gate.entities import followed
from beliefledger.gate.slots import canonical_context, value_of
from beliefledger.ledger.codec import New
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.events import Event
from beliefledger.ledger.events.belief import (
    BeliefContested,
    ConflictEscalated,
    MemoryConfirmed,
    MemoryExpired,
    MemoryMovedIn,
    MemoryMovedOut,
    Written,
)
from beliefledger.ledger.log import new_id
from beliefledger.ledger.memory import Memory
from beliefledger.ledger.times import Micros


@dataclass(frozen=True, slots=True)
class Move:
    """Whose memory moves, why, by which event, and on whose behalf."""

    subject_ref: str
    cause: str
    moved_by: str
    actor: str


def move(
    draft: Draft,
    held: Held,
    source: str,
    memory: Memory,
    why: Move,
    *,
    type_: str | None = None,
) -> str:
    """Move a memory from its belief (`source`) to the slot of `memory` and `type_` (None: the type
    that it has); returns that belief's stream.

    A slot has one value at a time, here too: where the same value is believed (or waits) already
    the memory goes into that one, as mentions of it; of two different values the one holds to which
    the other gives way (`_gives_way`), from its beginning on. What was contested is so still.
    """
    type_ = held.type if type_ is None else type_
    subject_ref, cause, moved_by = why.subject_ref, why.cause, why.moved_by
    memory = with_participants(draft, subject_ref, memory)
    target = draft.slot(draft.keys(subject_ref), type_, memory)
    before, there = draft.belief(source), draft.belief(target)
    quarantined = any(each.memory_id == held.memory_id for each in before.quarantined)
    past = any(each.memory_id == held.memory_id for each in before.past)
    contested = (before.contested or there.contested) and not (quarantined or past)

    def write(event: Event, stream: str) -> None:
        draft.write_belief(New(event, new_id(), stream, subject_ref, why.actor, moved_by))

    same = None
    value = value_of(memory, draft.rules.registry.known(type_))
    context = canonical_context(memory.context)
    if target != source and not past:
        other = there.holding(context)
        if quarantined:
            same = None if held.capped else _waiting(there, value, context)
        elif other is None:
            pass
        elif other.value == value and other.ended(draft.now) == held.ended(draft.now):
            same = other
        elif _gives_way(held, other, draft):
            past = True
            memory = memory.model_copy(update={"valid_to": _ends(held, other)})
        else:
            ends = _ends(other, held)
            write(MemoryExpired(memory_id=other.memory_id, valid_to=ends), target)
    elif past:
        memory = memory.model_copy(update={"valid_to": held.valid_to})
    write(
        MemoryMovedOut(
            memory_id=held.memory_id,
            to=target,
            cause=cause,
            into=None if same is None else same.memory_id,
            decision=moved_by,
        ),
        source,
    )
    if same is not None:
        for event in _mentions(same, held, draft.confirmations(source, held.memory_id), moved_by):
            write(event, target)
    else:
        write(
            moved_in(
                held,
                type_=type_,
                memory=memory,
                moved_from=source,
                cause=cause,
                moved_by=moved_by,
                past=past,
                quarantined=quarantined,
            ),
            target,
        )
    if contested and not draft.belief(target).contested:
        count = len(before.supersessions or there.supersessions)
        write(BeliefContested(supersessions=count, decision=moved_by), target)
    if target != source and not quarantined and not draft.belief(source).current:
        # What waits for a person waits where the values are.
        for decision in before.escalated:
            if decision not in draft.belief(target).escalated:
                write(ConflictEscalated(decision=decision), target)
    return target


def moved_in(
    held: Held,
    *,
    moved_from: str,
    cause: str,
    moved_by: str,
    type_: str | None = None,
    memory: Memory | None = None,
    past: bool = False,
    quarantined: bool = False,
) -> MemoryMovedIn:
    """The event of a memory's arrival. What is not given stays as it was."""
    carried = {name: getattr(held.written, name) for name in Written.model_fields}
    return MemoryMovedIn(
        **carried
        | {
            "type": type_ or held.written.type,
            "memory": memory or held.written.memory,
            "confidence": held.confidence,
            "base": held.base,
            "mentions": held.mentions,
        },
        moved_from=moved_from,
        cause=cause,
        moved_by=moved_by,
        past=past,
        quarantined=quarantined,
        turns=() if held.capped else tuple(sorted(held.turns)),
        last_said_at=held.said_at,
    )


def with_participants(draft: Draft, subject_ref: str, memory: Memory) -> Memory:
    """The memory with its participants' present entities. (They alone do not move a memory.)"""
    resolved = memory.resolved
    if resolved is None or not resolved.participants:
        return memory
    now = followed(memory, draft.named_since(subject_ref, 0), draft.directory(subject_ref))
    update = {"participants": now.participants if now else ()}
    return memory.model_copy(update={"resolved": resolved.model_copy(update=update)})


def _waiting(belief: Belief, value: str, context: str | None) -> Held | None:
    """The memory of this value that a quarantined one counts as a mention of."""
    for each in (*belief.current, *belief.quarantined):
        if (each.value, each.context, each.capped) == (value, context, False):
            return each
    return None


def _gives_way(held: Held, other: Held, draft: Draft) -> bool:
    """Whether a memory gives way to another of its slot: one that is over to one that is not, then
    any to one that ends by removal only, then the one said earlier to the one said later."""
    if held.ended(draft.now) != other.ended(draft.now):
        return held.ended(draft.now)
    stays, others = (
        kind is not None and kind.ends_only_by_removal
        for kind in (draft.rules.registry.known(each.type) for each in (held, other))
    )
    return others if stays != others else other.said_at > held.said_at


def _ends(held: Held, other: Held) -> Micros:
    """The end of a memory that gives way to another: where that one begins, or its own end if
    earlier."""
    ends = [end for end in (held.valid_to, held.expires_at) if end is not None]
    return max(held.valid_from, min([other.valid_from, *ends]))


def _mentions(
    same: Held, held: Held, confirmations: Mapping[str, MemoryConfirmed], moved_by: str
) -> list[MemoryConfirmed]:
    """The mentions of a memory, as confirmations of another that says the same."""
    turns = set(same.turns)
    events = []
    own = held.written.memory
    for turn in sorted(held.turns):
        counted = turn not in turns
        turns.add(turn)
        said = confirmations.get(turn)
        events.append(
            MemoryConfirmed(
                memory_id=same.memory_id,
                decision=moved_by,
                confidence=max(same.confidence, held.confidence),
                base=max(same.base, held.base),
                mentions=len(turns),
                counted=counted,
                turn=turn,
                said_at=said.said_at if said else own.said_at,
                spans=own.spans if turn == own.turn else said.spans if said else (),
            )
        )
    return events
