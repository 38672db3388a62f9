"""Moving a memory to another slot: of another entity, of another type. Its id survives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gate.belief import Belief, Held
from gate.slots import canonical_context, value_of
from ledger.codec import New
from ledger.events import Event
from ledger.events.belief import (
    MemoryConfirmed,
    MemoryExpired,
    MemoryMovedIn,
    MemoryMovedOut,
    Written,
)
from ledger.log import new_id
from ledger.memory import Memory

if TYPE_CHECKING:
    from gate.draft import Draft


def move(
    draft: Draft,
    held: Held,
    source: str,
    *,
    type_: str,
    memory: Memory,
    subject_ref: str,
    cause: str,
    moved_by: str,
    actor: str,
) -> str:
    """Move a memory from its belief (`source`) to the slot of `memory` and `type_`; returns that
    belief's stream.

    The values of a slot never overlap in time, here neither: where the same value is believed
    already the memory goes into that one, as mentions of it; of two different values the one said
    later holds, from its beginning on.
    """
    target = draft.slot(draft.keys(subject_ref), type_, memory)
    before = draft.belief(source)
    quarantined = any(each.memory_id == held.memory_id for each in before.quarantined)
    past = any(each.memory_id == held.memory_id for each in before.past)

    def write(event: Event, stream: str) -> None:
        draft.write_belief(New(event, new_id(), stream, subject_ref, actor, moved_by))

    same = None
    if target != source and not quarantined and not past:
        same = _standing(draft.belief(target), memory)
        if same is not None and same.value != value_of(memory, draft.rules.registry.types[type_]):
            if same.said_at <= held.said_at:
                ends = max(same.valid_from, held.valid_from)
                write(MemoryExpired(memory_id=same.memory_id, valid_to=ends), target)
            else:
                past = True
                ends = max(held.valid_from, same.valid_from)
                memory = memory.model_copy(update={"valid_to": ends})
            same = None
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
        for event in _mentions(same, held, moved_by):
            write(event, target)
        return target
    carried = {name: getattr(held.written, name) for name in Written.model_fields}
    write(
        MemoryMovedIn(
            **carried
            | {
                "type": type_,
                "memory": memory,
                "confidence": held.confidence,
                "base": held.base,
                "mentions": held.mentions,
            },
            moved_from=source,
            cause=cause,
            moved_by=moved_by,
            past=past,
            quarantined=quarantined,
            turns=tuple(sorted(held.turns)),
            last_said_at=held.said_at,
        ),
        target,
    )
    return target


def _standing(belief: Belief, memory: Memory) -> Held | None:
    return belief.holding(canonical_context(memory.context))


def _mentions(same: Held, held: Held, moved_by: str) -> list[MemoryConfirmed]:
    """What was said of a memory, as confirmations of the one that says the same."""
    turns = set(same.turns)
    events = []
    own = held.written.memory
    for turn in sorted(held.turns):
        counted = turn not in turns
        turns.add(turn)
        events.append(
            MemoryConfirmed(
                memory_id=same.memory_id,
                decision=moved_by,
                confidence=max(same.confidence, held.confidence),
                base=max(same.base, held.base),
                mentions=len(turns),
                counted=counted,
                turn=turn,
                said_at=own.said_at,
                spans=own.spans if turn == own.turn else (),
            )
        )
    return events
