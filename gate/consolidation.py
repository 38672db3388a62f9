"""Merges rephrasings into one memory, in one append; and undoes a merge in another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from beliefledger.gate.belief import Held, folded
from beliefledger.gate.draft import Draft
from beliefledger.gate.entities import followed
from beliefledger.gate.gate import Gate
from beliefledger.gate.moves import moved_in, with_participants
from beliefledger.gate.rephrasings import MERGER, Original, merged, refusal
from beliefledger.ledger import streams
from beliefledger.ledger.candidate import Span
from beliefledger.ledger.codec import New, Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import NotPermitted, UnknownMemory
from beliefledger.ledger.events import Event
from beliefledger.ledger.events.belief import (
    ConsolidationUndone,
    MemoriesConsolidated,
    MemoryConfirmed,
    MemoryMovedIn,
    MemoryMovedOut,
    Written,
)
from beliefledger.ledger.log import new_id
from beliefledger.ledger.vault import SYSTEM


@dataclass(frozen=True, slots=True)
class Wording:
    """A model's wording of a merged memory, and its cost."""

    text: str | None
    """None if it was refused: then the leader's words stand."""
    merger: str
    """The model and the version of its prompt."""
    input_tokens: int
    output_tokens: int
    cost_micro_usd: int | None
    """None where the model's price is not known."""


class Consolidator:
    """Merges memories of one subject, and takes a merge back."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._log = gate.log

    def consolidate(
        self,
        subject_ref: str,
        memories: Mapping[str, str],
        *,
        similarity: int,
        wording: Wording | None = None,
        actor: str = SYSTEM,
    ) -> str:
        """Merge these memories (id → belief), the leader first; returns the merged memory's id.

        Raises `UnknownMemory` for one that does not hold any more, `NotPermitted` for those that
        are not one memory by now.
        """

        def attempt() -> str:
            self._gate.memo.forget(subject_ref, *memories.values())
            draft = self._gate.draft()
            draft.consent(subject_ref)
            held = [self._holding(draft, *each) for each in memories.items()]
            originals = [
                self._original(stream, each)
                for each, stream in zip(held, memories.values(), strict=True)
            ]
            for at, one in enumerate(originals):
                for other in originals[:at]:
                    why = refusal(other, one, draft.rules.registry.types.get(one.type))
                    if why is not None:
                        raise NotPermitted(f"These memories are not one any more: {why}.")
            worded = None if wording is None else wording.text
            made = merged(originals, draft.rules.policy.scopes, worded)
            leader, canonical = originals[0], originals[0].belief
            merge_id = new_id()
            memory_id = streams.memory_id(
                draft.keys(subject_ref).ids,
                canonical,
                draft.belief(canonical).version,
                "consolidated",
            )

            def write(event: MemoriesConsolidated | MemoryMovedOut, stream: str, id_: str) -> None:
                cause = None if id_ == merge_id else merge_id
                draft.write_belief(New(event, id_, stream, subject_ref, actor, cause))

            write(
                MemoriesConsolidated(
                    memory_id=memory_id,
                    decision=merge_id,
                    type=leader.type,
                    confidence=made.confidence,
                    base=made.base,
                    importance=made.importance,
                    mentions=len(made.turns),
                    visibility_scope=made.visibility_scope,
                    basis=leader.basis,
                    grant=leader.grant,
                    memory=with_participants(draft, subject_ref, made.memory),
                    originals=tuple(memories),
                    beliefs=tuple(memories.values()),
                    how="words" if worded is None else "model",
                    merger=wording.merger if wording is not None and worded else MERGER,
                    similarity=similarity,
                    input_tokens=0 if wording is None else wording.input_tokens,
                    output_tokens=0 if wording is None else wording.output_tokens,
                    cost_micro_usd=0 if wording is None else wording.cost_micro_usd,
                    sayings=tuple(each.saying for each in originals),
                    turns=made.turns,
                    last_said_at=max(each.said_at for each in held),
                ),
                canonical,
                merge_id,
            )
            for original, stream in memories.items():
                gone = MemoryMovedOut(
                    memory_id=original,
                    to=canonical,
                    cause="consolidated",
                    into=memory_id,
                    decision=merge_id,
                )
                write(gone, stream, new_id())
            self._gate.commit(draft)
            return memory_id

        return self._gate.again(attempt)

    def _holding(self, draft: Draft, memory_id: str, stream: str) -> Held:
        belief = draft.belief(stream)
        found = next((each for each in belief.current if each.memory_id == memory_id), None)
        if found is None or found.ended(draft.now):
            raise UnknownMemory(f"The memory {memory_id} does not hold any more.")
        if belief.contested:
            raise NotPermitted(f"The memory {memory_id} is contested: resolve it first.")
        return found

    def _original(self, stream: str, held: Held) -> Original:
        written = held.written
        return Original(
            memory_id=held.memory_id,
            belief=stream,
            type=held.type,
            confidence=held.confidence,
            base=held.base,
            importance=held.importance,
            visibility_scope=written.visibility_scope,
            basis=held.basis,
            grant=held.grant,
            memory=written.memory.model_copy(
                update={"valid_from": held.valid_from, "valid_to": held.valid_to}
            ),
            turns=held.turns,
            spans=tuple(dict.fromkeys(self._evidence(stream, held.memory_id))),
        )

    def _evidence(self, stream: str, memory_id: str) -> Iterator[Span]:
        """The words that a memory rests on, each naming its turn."""
        for each in self._trail(stream, memory_id):
            event = each.event
            if isinstance(event, Written):
                yield from _named(event.memory.spans, event.memory.turn)
            elif isinstance(event, MemoryConfirmed):
                yield from _named(event.spans, event.turn)

    # Undoing

    def undo(
        self, subject_ref: str, memory_id: str, belief: str, *, note: str | None, actor: str
    ) -> list[str]:
        """Take a merge back; returns the originals, which hold again.

        What confirmed the merged memory since confirms the first of them. Raises `NotPermitted`
        for a memory that is not a merged one or does not hold any more.
        """
        if actor == SYSTEM:
            raise NotPermitted("To take a merge back needs a named principal.")

        def attempt() -> list[str]:
            trail = self._trail(belief, memory_id)
            merge = next((each for each in trail if each.type == MemoriesConsolidated.NAME), None)
            event = None if merge is None else merge.event
            if merge is None or not isinstance(event, MemoriesConsolidated):
                raise NotPermitted(f"The memory {memory_id} was not merged from others.")
            self._gate.memo.forget(subject_ref, belief, *event.beliefs)
            draft = self._gate.draft()
            draft.consent(subject_ref)
            now = next(
                (each for each in draft.belief(belief).current if each.memory_id == memory_id), None
            )
            if now is None:
                raise NotPermitted(
                    f"The merged memory {memory_id} does not hold any more: it was changed, merged"
                    " again or undone since. See beliefledger history."
                )
            undo_id = new_id()
            undone = ConsolidationUndone(memory_id=memory_id, originals=event.originals, note=note)
            draft.write_belief(New(undone, undo_id, belief, subject_ref, actor))
            for place, (original, slot) in enumerate(
                zip(event.originals, event.beliefs, strict=True)
            ):
                before = self._before(slot, merge, original, draft)
                before, stream = self._moved_since(draft, subject_ref, before, slot, merge)
                if draft.belief(stream).holding(before.context) is not None:
                    raise NotPermitted(
                        f"The slot of the original {original} has another value by now: revoke"
                        " that first."
                    )
                again: list[Event] = [
                    moved_in(before, moved_from=belief, cause="undone", moved_by=undo_id)
                ]
                if place == 0:
                    again += self._since(trail, event, before, now, undo_id)
                for each in again:
                    draft.write_belief(New(each, new_id(), stream, subject_ref, actor, undo_id))
            self._gate.commit(draft)
            return list(event.originals)

        return self._gate.again(attempt)

    def _trail(self, stream: str, memory_id: str) -> list[Recorded]:
        """All events of a memory, including those in the slots that it was in before."""
        streams_, events = [stream], []
        for each in streams_:
            for recorded in self._log.read_stream(each):
                event = recorded.event
                if getattr(event, "memory_id", None) != memory_id:
                    continue
                events.append(recorded)
                if isinstance(event, MemoryMovedIn) and event.moved_from not in streams_:
                    streams_.append(event.moved_from)
        return sorted(events, key=lambda each: each.position)

    def _moved_since(
        self, draft: Draft, subject_ref: str, before: Held, stream: str, merge: Recorded
    ) -> tuple[Held, str]:
        """The original with its entities and slot as they are now, if entities were merged or split
        meanwhile."""
        keys, memory = draft.keys(subject_ref), before.written.memory
        later = draft.named_since(subject_ref, merge.position)
        resolved = followed(memory, later, draft.directory(subject_ref))
        if resolved == memory.resolved:
            return before, stream
        memory = memory.model_copy(update={"resolved": resolved})
        written = before.written.model_copy(update={"memory": memory})
        slot = draft.slot(keys, before.type, memory)
        if slot != stream:
            self._gate.memo.forget(slot)
        return replace(before, written=written), slot

    def _before(self, stream: str, merge: Recorded, original: str, draft: Draft) -> Held:
        """The original as it was when it was merged."""
        earlier = [each for each in self._log.read_stream(stream) if each.position < merge.position]
        found = folded(earlier, draft.rules.registry).find(original)
        if found is None:
            raise UnknownMemory(f"The words of the original {original} are erased.")
        return found

    def _since(
        self,
        trail: Sequence[Recorded],
        merge: MemoriesConsolidated,
        first: Held,
        now: Held,
        undo_id: str,
    ) -> Iterator[MemoryConfirmed]:
        """The confirmations since the merge, as confirmations of the first original."""
        turns = set(first.turns)
        for each in trail:
            event = each.event
            if not isinstance(event, MemoryConfirmed) or event.memory_id != merge.memory_id:
                continue
            counted = event.counted and event.turn not in turns
            turns |= {event.turn} if counted else set()
            yield event.model_copy(
                update={
                    "memory_id": first.memory_id,
                    "decision": undo_id,
                    "confidence": max(first.confidence, now.confidence),
                    "base": max(first.base, now.base),
                    "mentions": len(turns),
                    "counted": counted,
                }
            )


def _named(spans: Sequence[Span], turn: str) -> Iterator[Span]:
    for span in spans:
        yield span if span.turn else span.model_copy(update={"turn": turn})
