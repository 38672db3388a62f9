"""A belief as the gate sees it: its values now and what happened to it, folded from its stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from beliefledger.gate.registry import Registry
from beliefledger.gate.slots import canonical_context, value_of
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.events import Event
from beliefledger.ledger.events.belief import (
    WRITING,
    BeliefContested,
    ConflictEscalated,
    ConflictResolved,
    ConsolidationUndone,
    MemoriesConsolidated,
    MemoryAdmitted,
    MemoryConfirmed,
    MemoryExpired,
    MemoryMovedIn,
    MemoryMovedOut,
    MemoryQuarantined,
    MemoryRevoked,
    MemorySuperseded,
    Written,
)
from beliefledger.ledger.times import Micros

FOLLOWED = frozenset({"backfilled", "consolidated", "folded"})
"""Causes of a move after which statements about the old slot are about the new one. (After a merge
or split of entities, names lead to the right slot by themselves.)"""


@dataclass(frozen=True, slots=True)
class Held:
    """One memory of a belief. `value` and `context` are canonical; scores are millionths."""

    memory_id: str
    type: str
    value: str
    context: str | None
    confidence: int
    base: int
    importance: int
    turns: frozenset[str]
    """The turns that count as mentions."""
    said_at: Micros
    valid_from: Micros
    valid_to: Micros | None
    expires_at: Micros | None
    capped: bool
    basis: str
    grant: str
    written: Written
    told: int | None = None
    """The number of mentions last recorded; set once the words of one of them are erased."""
    ends_loosely: bool = False
    """The event that ended it is erased, so `valid_to` is only the latest possible end."""

    @property
    def mentions(self) -> int:
        return len(self.turns) if self.told is None else self.told

    @property
    def was_so(self) -> bool:
        """Whether it was so for some time and is over, or will be."""
        return self.valid_to is not None and self.valid_from < self.valid_to

    def ended(self, at: Micros) -> bool:
        return any(end is not None and end <= at for end in (self.valid_to, self.expires_at))


@dataclass(frozen=True, slots=True)
class Redirect:
    """Where a memory of this slot moved to. Later statements about the slot are about it there."""

    memory_id: str
    value: str
    context: str | None
    to: str
    into: str
    """The memory itself, or the one that it was merged into."""


@dataclass(frozen=True, slots=True)
class Belief:
    """One slot of one subject at one version of its stream.

    `current` has at most one memory for each context; None is the context of what holds anywhere.
    """

    version: int = 0
    current: tuple[Held, ...] = ()
    quarantined: tuple[Held, ...] = ()
    past: tuple[Held, ...] = ()
    supersessions: tuple[Micros, ...] = ()
    """When the superseding statements were said, since the last resolution."""
    contested: bool = False
    by_context: bool = False
    escalated: tuple[str, ...] = ()
    """Decisions that wait for a resolution."""
    redirects: tuple[Redirect, ...] = ()
    """Of memories that moved to another type's slot or into a merged memory."""

    def at(self, version: int) -> Belief:
        """The same at another version; `replace` takes four times as long."""
        kept = (self.current, self.quarantined, self.past, self.supersessions, self.contested)
        return Belief(version, *kept, self.by_context, self.escalated, self.redirects)

    def holding(self, context: str | None) -> Held | None:
        return next((held for held in self.current if held.context == context), None)

    def redirect(self, value: str, context: str | None) -> Redirect | None:
        """Where a statement about this slot belongs if its memory has moved: to where this value
        went, else to where the last memory of its context went."""
        if self.holding(context) is not None:
            return None
        there = [each for each in self.redirects if each.context == context]
        same = [each for each in there if each.value == value]
        return next(reversed(same or there), None)

    def believed(self, memory_id: str) -> Held | None:
        """The memory with an id, where it is or was believed."""
        for some in (self.current, self.past):
            for held in some:
                if held.memory_id == memory_id:
                    return held
        return None

    def find(self, memory_id: str) -> Held | None:
        everything = (*self.current, *self.quarantined, *self.past)
        return next((held for held in everything if held.memory_id == memory_id), None)


def evolve(belief: Belief, version: int, event: Event | None, registry: Registry) -> Belief:
    """The belief after one more event of its stream. An event whose words are erased (None) only
    moves the version here; `tombstone` applies what its envelope says."""
    belief = belief.at(version)
    match event:
        case MemoryAdmitted() if event.past:
            return _past(belief, _lifted(belief, event, event.promotes, registry))
        case MemoryAdmitted():
            return _hold(belief, _lifted(belief, event, event.promotes, registry))
        case MemorySuperseded():
            return _superseded(belief, event, registry)
        case MemoryQuarantined():
            held = replace(_held(event, registry), capped=event.capped)
            return replace(belief, quarantined=(*belief.quarantined, held))
        case MemoryConfirmed():
            return _confirmed(belief, event)
        case MemoryRevoked():
            return _without(belief, event.memory_id)
        case MemoryMovedOut():
            return _moved_out(belief, event)
        case ConsolidationUndone():
            return _without(belief, event.memory_id)
        case MemoryExpired():
            old = belief.find(event.memory_id)
            belief = _without(belief, event.memory_id)
            if old is None:
                return belief
            expired = replace(old, valid_to=event.valid_to, ends_loosely=False)
            return replace(belief, past=(*belief.past, expired))
        case MemoryMovedIn():
            return _moved_in(belief, event, registry)
        case MemoriesConsolidated():
            return _hold(belief, _carried(event, registry))
        case BeliefContested():
            # Of what is erased there is nothing to contest.
            return replace(belief, contested=bool(belief.current))
        case ConflictEscalated():
            return replace(belief, escalated=(*belief.escalated, event.decision))
        case ConflictResolved():
            ended = tuple(held for held in belief.current if held.memory_id in event.closes)
            over = (replace(held, valid_to=event.resolved_at) for held in ended)
            return replace(
                belief,
                current=tuple(held for held in belief.current if held not in ended),
                past=(*belief.past, *over),
                supersessions=(),
                contested=False,
                by_context=event.kind == "by_context",
                escalated=tuple(each for each in belief.escalated if each not in event.settles),
            )
        case _:
            return belief


def tombstone(belief: Belief, recorded: Recorded) -> Belief:
    """The belief after an event whose words are erased, from its envelope alone. The memory it
    wrote is not believed, nor is one that gave way to it; a memory that it ended stays ended.

    What it wrote is not believed, nor is what had to give way to it; what it ended has ended.
    """
    belief = replace(belief, version=recorded.version)
    facts, at = recorded.facts, recorded.recorded_at
    if recorded.type == MemoryConfirmed.NAME:
        return _unconfirmed(belief, facts["memory_id"]) if facts["counted"] else belief
    if recorded.type == MemoryExpired.NAME:
        return _ended(belief, facts["memory_id"], at, expires=True)
    if recorded.type not in WRITING:
        return belief
    for memory_id in (facts["memory_id"], facts.get("promotes") or ""):
        belief = _without(belief, memory_id, keep_contested=True)
    if recorded.type == MemorySuperseded.NAME and facts["kind"] == "change":
        return _ended(belief, facts["supersedes"], at, expires=False)
    if recorded.type == MemorySuperseded.NAME:
        return _without(belief, facts["supersedes"])
    for memory_id in facts.get("originals", ()):
        belief = _without(belief, memory_id)
    if recorded.type == MemoryMovedIn.NAME:
        elsewhere = [each for each in belief.redirects if each.memory_id != facts["memory_id"]]
        belief = replace(belief, redirects=tuple(elsewhere))
    return belief


def _ended(belief: Belief, memory_id: str, at: Micros, *, expires: bool) -> Belief:
    """The belief without a memory that ended at an unknown time, at the latest at this one."""
    old = belief.find(memory_id)
    belief = _without(belief, memory_id)
    if old is None:
        return belief
    known = [at, old.valid_to, old.expires_at if expires else None]
    ends = max(old.valid_from, min(each for each in known if each is not None))
    over = replace(old, valid_to=ends, ends_loosely=True)
    return replace(belief, past=(*belief.past, over))


def _unconfirmed(belief: Belief, memory_id: str) -> Belief:
    """A mention of the memory is erased: from here on the recorded number of mentions counts."""

    def fewer(held: Held) -> Held:
        return replace(held, told=held.mentions) if held.memory_id == memory_id else held

    return _each(belief, fewer)


def _superseded(belief: Belief, event: MemorySuperseded, registry: Registry) -> Belief:
    new = _lifted(belief, event, event.promotes, registry)
    old = belief.find(event.supersedes)
    belief = _without(belief, event.supersedes, keep_contested=True)
    if old is not None and event.kind == "change":
        over = replace(old, valid_to=event.memory.valid_from, ends_loosely=False)
        belief = replace(belief, past=(*belief.past, over))
    if event.past:
        return _past(belief, new)
    belief = replace(belief, supersessions=(*belief.supersessions, event.memory.said_at))
    return _hold(belief, new)


def _moved_out(belief: Belief, event: MemoryMovedOut) -> Belief:
    held = belief.find(event.memory_id)
    belief = _without(belief, event.memory_id)
    if held is None or event.cause not in FOLLOWED:
        return belief
    gone = Redirect(
        held.memory_id, held.value, held.context, event.to, event.into or event.memory_id
    )
    return replace(belief, redirects=(*belief.redirects, gone))


def _moved_in(belief: Belief, event: MemoryMovedIn, registry: Registry) -> Belief:
    held = _carried(event, registry)
    back = tuple(each for each in belief.redirects if each.memory_id != event.memory_id)
    belief = replace(belief, redirects=back)
    if event.quarantined:
        return replace(belief, quarantined=(*belief.quarantined, held))
    if event.past:
        belief = _given_way(belief, held)
        return replace(belief, past=(*belief.past, held))
    return _hold(belief, held)


def _carried(event: MemoryMovedIn | MemoriesConsolidated, registry: Registry) -> Held:
    """A memory with the mentions that it had where it came from."""
    held = _held(event, registry)
    turns = held.turns | frozenset(event.turns)
    return replace(
        held,
        turns=turns,
        said_at=event.last_said_at,
        capped=not event.turns,
        told=event.mentions if event.mentions > len(turns) else None,  # some are erased
    )


def folded(recorded: Iterable[Recorded], registry: Registry, start: Belief | None = None) -> Belief:
    """The belief after these events of its stream."""
    belief = start or Belief()
    for each in recorded:
        if each.event is None:
            belief = tombstone(belief, each)
        else:
            belief = evolve(belief, each.version, each.event, registry)
    return belief


def _held(event: Written, registry: Registry) -> Held:
    memory = event.memory
    return Held(
        memory_id=event.memory_id,
        type=event.type,
        value=value_of(memory, registry.known(event.type)),
        context=canonical_context(memory.context),
        confidence=event.confidence,
        base=event.base,
        importance=event.importance,
        turns=frozenset({memory.turn}),
        said_at=memory.said_at,
        valid_from=memory.valid_from,
        valid_to=memory.valid_to,
        expires_at=memory.expires_at,
        capped=False,
        basis=event.basis,
        grant=event.grant,
        written=event,
    )


def _lifted(belief: Belief, event: Written, promotes: str | None, registry: Registry) -> Held:
    """The new memory; a promoted one keeps the mentions it had in quarantine."""
    held = _held(event, registry)
    if promotes is None:
        return held
    waiting = belief.find(promotes)
    if waiting is None:  # its words are erased
        return replace(held, told=event.mentions)
    told = None if waiting.told is None else event.mentions
    return replace(held, turns=held.turns | waiting.turns, told=told)


def _hold(belief: Belief, held: Held) -> Belief:
    belief = _without(_given_way(belief, held), held.memory_id, keep_contested=True)
    return replace(belief, current=(*belief.current, held))


def _past(belief: Belief, held: Held) -> Belief:
    """With a memory that is over already, and out of quarantine if it was there."""
    belief = _without(_given_way(belief, held), held.memory_id, keep_contested=True)
    return replace(belief, past=(*belief.past, held))


def _given_way(belief: Belief, new: Held) -> Belief:
    """Let a memory whose end is unknown end where another value of the same context begins."""

    def until(held: Held) -> Held:
        if not held.ends_loosely or held.context != new.context or held.valid_to is None:
            return held
        meets = held.valid_from <= new.valid_from < held.valid_to
        return replace(held, valid_to=new.valid_from) if meets else held

    if not any(held.ends_loosely for held in belief.past):
        return belief
    return replace(belief, past=tuple(map(until, belief.past)))


def _without(belief: Belief, memory_id: str, *, keep_contested: bool = False) -> Belief:
    if belief.find(memory_id) is None:
        return belief
    current = tuple(held for held in belief.current if held.memory_id != memory_id)
    # Where no value is left there is nothing to contest.
    settled = bool(belief.current) and not current and not keep_contested
    return replace(
        belief,
        current=current,
        quarantined=tuple(held for held in belief.quarantined if held.memory_id != memory_id),
        past=tuple(held for held in belief.past if held.memory_id != memory_id),
        contested=belief.contested and not settled,
        supersessions=() if settled else belief.supersessions,
    )


def _confirmed(belief: Belief, event: MemoryConfirmed) -> Belief:
    def more(held: Held) -> Held:
        if held.memory_id != event.memory_id:
            return held
        turns = held.turns | {event.turn} if event.counted else held.turns
        return replace(
            held,
            confidence=event.confidence,
            base=event.base,
            turns=turns,
            told=None if held.told is None else event.mentions,
            said_at=max(held.said_at, event.said_at),
        )

    return _each(belief, more)


def _each(belief: Belief, change: Callable[[Held], Held]) -> Belief:
    return replace(
        belief,
        current=tuple(map(change, belief.current)),
        quarantined=tuple(map(change, belief.quarantined)),
        past=tuple(map(change, belief.past)),
    )
