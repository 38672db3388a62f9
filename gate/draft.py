"""A draft: decisions and their events, gathered for one append.

Within a draft each decision sees what the ones before it did. Nothing is in the log until `commit`,
which names the version of every stream that the decisions wrote or read.
"""

from __future__ import annotations

from collections.abc import Sequence

from beliefledger.gate import consent as consents
from beliefledger.gate import entities
from beliefledger.gate.belief import Belief, evolve, folded
from beliefledger.gate.consent import Consent, Runs
from beliefledger.gate.custom import keyed
from beliefledger.gate.decide import Decision, TurnView, decide
from beliefledger.gate.effects import effects, memory_id_of
from beliefledger.gate.entities import Directory
from beliefledger.gate.naming import About, Renamed, learn, named
from beliefledger.gate.recalled import Shown
from beliefledger.gate.rulebook import Rules
from beliefledger.gate.slots import canonical_context, canonical_entity, slot_attribute, value_of
from beliefledger.ledger import streams
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.codec import New, Recorded
from beliefledger.ledger.encryption import SubjectKeys
from beliefledger.ledger.errors import NotPermitted
from beliefledger.ledger.events import Event
from beliefledger.ledger.events.belief import MemoryConfirmed
from beliefledger.ledger.events.choices import Choices
from beliefledger.ledger.events.turn import CandidateProposed, ExtractionCompleted, GateDecided
from beliefledger.ledger.log import Log, new_id
from beliefledger.ledger.memory import Memory
from beliefledger.ledger.store import Appended
from beliefledger.ledger.streams import recall_stream
from beliefledger.ledger.times import Micros
from beliefledger.ledger.vault import SYSTEM


class Memo:
    """Folds kept between drafts. They may be stale: an append that relied on one then conflicts,
    and the memo is cleared. Who may refuse without appending calls `forget` first.

    What is being erased is left out of every fold, though its bodies may still be there. A draft
    reads the subject's consent before their beliefs, so that it relies on what is going.
    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._erasures = 0
        self._going: dict[str, tuple[tuple[str, Runs], ...]] = {}
        """What was going of each subject, where anything was, when their beliefs were read."""
        self._consents: dict[str, Consent] = {}
        self._beliefs: dict[str, Belief] = {}
        self._directories: dict[str, Directory] = {}
        self._shown: dict[str, Shown] = {}

    LIMIT = 50_000

    def consent(self, subject_ref: str) -> Consent:
        if subject_ref not in self._consents:
            consent = consents.folded(self._log.read_stream(subject_ref))
            self._consents[subject_ref] = consent
            if consent.going != self._going.get(subject_ref, ()):
                self._going[subject_ref] = consent.going
                self._beliefs.clear()
                self._directories.clear()
        return self._consents[subject_ref]

    def read(self, stream: str) -> list[Recorded]:
        """The events of a stream as they are once what is being erased is gone."""
        recorded = self._log.read_stream(stream)
        whose = next((each.subject_ref for each in recorded), None)
        return recorded if whose is None else self.consent(whose).left(recorded)

    def belief(self, stream: str, rules: Rules) -> Belief:
        if stream not in self._beliefs:
            self._beliefs[stream] = folded(self.read(stream), rules.registry)
        return self._beliefs[stream]

    def directory(self, stream: str) -> Directory:
        if stream not in self._directories:
            self._directories[stream] = entities.folded(self.read(stream))
        return self._directories[stream]

    def shown(self, subject_ref: str) -> Shown:
        """What the subject was shown, as of now: nothing is decided by its version, so it is read
        on from where it was."""
        stream = recall_stream(subject_ref)
        known = self._shown.get(subject_ref, Shown())
        self._shown[subject_ref] = known.then(self._log.read_stream(stream, known.version))
        return self._shown[subject_ref]

    def keep(self, beliefs: dict[str, Belief], directories: dict[str, Directory]) -> None:
        if len(self._beliefs) > self.LIMIT:
            self._beliefs.clear()
        self._beliefs.update(beliefs)
        if len(self._directories) > self.LIMIT:
            self._directories.clear()
        self._directories.update(directories)
        if len(self._shown) > self.LIMIT:
            self._shown.clear()

    def forget(self, *streams: str) -> None:
        """Read these subjects, beliefs and directories anew."""
        for stream in streams:
            self._consents.pop(stream, None)
            self._beliefs.pop(stream, None)
            self._directories.pop(stream, None)

    def refresh(self) -> None:
        """Let go of what was folded before anything was last erased."""
        if self._log.erasures != self._erasures:
            self._erasures = self._log.erasures
            self.clear()

    def clear(self) -> None:
        self._consents.clear()
        self._beliefs.clear()
        self._directories.clear()
        self._shown.clear()


class Draft:
    """Decisions of one append. Not thread-safe; lives for a moment."""

    def __init__(
        self,
        log: Log,
        memo: Memo,
        rules: Rules,
        policy_stream: str,
        now: Micros,
        about: About,
    ) -> None:
        self.rules = rules
        self.now = now
        self.events: list[New] = []
        self.expect: dict[str, int] = {policy_stream: rules.version}
        self.decided: list[str] = []
        self._log = log
        self._memo = memo
        self._versions: dict[str, int] = {}
        self._beliefs: dict[str, Belief] = {}
        self._directories: dict[str, Directory] = {}
        self._shown: dict[str, Shown] = {}
        self._about = about
        self.seen: int | None = None
        """How far the log was when the memories of an entity were first looked up."""
        self.renamed: list[Renamed] = []

    # Streams

    def reads(self, stream: str, version: int) -> None:
        """Rely on a stream being at a version."""
        self.expect.setdefault(stream, version)
        self._versions.setdefault(stream, version)

    def write(self, new: New) -> int:
        """Add an event of a stream that was read before; returns the version it will have."""
        version = self._versions[new.stream] = self._versions[new.stream] + 1
        self.events.append(new)
        return version

    def keys(self, subject_ref: str) -> SubjectKeys:
        keys = self._log.keys(subject_ref)
        if keys is None:
            raise NotPermitted("This subject was erased.")
        return keys

    def consent(self, subject_ref: str) -> Consent:
        consent = self._memo.consent(subject_ref)
        self.reads(streams.subject_stream(subject_ref), consent.version)
        if consent.erasing:
            raise NotPermitted("This subject is being erased.")
        return consent

    def belief(self, stream: str) -> Belief:
        if stream not in self._beliefs:
            self._beliefs[stream] = self._memo.belief(stream, self.rules)
            self.reads(stream, self._beliefs[stream].version)
        return self._beliefs[stream]

    def confirmations(self, stream: str, memory_id: str) -> dict[str, MemoryConfirmed]:
        """What confirmed a memory of a belief, by turn."""
        return {
            each.event.turn: each.event
            for each in self._memo.read(stream)
            if isinstance(each.event, MemoryConfirmed) and each.event.memory_id == memory_id
        }

    def write_belief(self, new: New) -> None:
        """Add an event of a belief, which later decisions of this draft will see."""
        before = self.belief(new.stream)
        version = self.write(new)
        self._beliefs[new.stream] = evolve(before, version, new.event, self.rules.registry)

    def directory(self, subject_ref: str) -> Directory:
        """The subject's entities and their names."""
        stream = streams.directory_stream(self.keys(subject_ref).ids)
        if stream not in self._directories:
            self._directories[stream] = self._memo.directory(stream)
            self.reads(stream, self._directories[stream].version)
        return self._directories[stream]

    def write_directory(self, subject_ref: str, new: New) -> None:
        """Add an event of the directory, which later decisions of this draft will see."""
        before = self.directory(subject_ref)
        version = self.write(new)
        self._directories[new.stream] = entities.evolve(before, version, new.event)

    def named_since(self, subject_ref: str, position: int) -> list[Event | None]:
        """What happened to the directory after a position, in this draft too."""
        stream = streams.directory_stream(self.keys(subject_ref).ids)
        there = [each.event for each in self._memo.read(stream) if each.position > position]
        return [*there, *(each.event for each in self.events if each.stream == stream)]

    def about(self, subject_ref: str, entity_id: str) -> dict[str, str]:
        """The standing memories about an entity, or with it at their far end, each with its
        belief; those of this draft too."""
        if self.seen is None:
            self.seen = self._log.head().position
        found = dict(self._about(subject_ref, entity_id))
        for stream, belief in self._beliefs.items():
            for held in (*belief.current, *belief.quarantined, *belief.past):
                resolved = held.written.memory.resolved
                if resolved and entity_id in {resolved.entity, resolved.target}:
                    found[held.memory_id] = stream
        return found

    # Decisions

    def turn(
        self,
        turn: TurnView,
        turn_version: int,
        turn_event: str,
        subject_ref: str,
        outcome: ExtractionCompleted,
        candidates: Sequence[Candidate],
        choices: Choices | None = None,
        actor: str = SYSTEM,
    ) -> None:
        """Record what was noticed in a turn, and decide about each candidate."""
        self.reads(turn.turn_id, turn_version)
        self.write(
            New(outcome, new_id(), turn.turn_id, subject_ref, actor, turn_event, turn.turn_id)
        )
        for index, candidate in enumerate(candidates):
            self._decide(turn, index, candidate, turn_event, subject_ref, choices, actor)

    def _decide(
        self,
        turn: TurnView,
        index: int,
        noticed: Candidate,
        turn_event: str,
        subject_ref: str,
        choices: Choices | None,
        actor: str,
    ) -> None:
        keys, rules = self.keys(subject_ref), self.rules
        consent = self.consent(subject_ref)
        candidate, names = named(self, subject_ref, keyed(noticed, rules.registry))
        candidate, stream = self.placed(candidate, subject_ref, turn)
        proposed = New(
            CandidateProposed(
                index=index,
                act=candidate.act.value,
                inferred=candidate.inferred,
                chosen=choices is not None,
                candidate=candidate,
                choices=choices,
            ),
            new_id(),
            turn.turn_id,
            subject_ref,
            actor,
            turn_event,
            turn.turn_id,
        )
        candidate_version = self.write(proposed)
        belief = self.belief(stream)
        decision = decide(
            turn,
            candidate,
            belief,
            consent,
            rules.policy,
            rules.registry,
            self.now,
            choices=choices,
        )
        new_memory = streams.memory_id(keys.ids, turn.turn_id, index)
        decision_id = new_id()
        self.write(
            New(
                gate_decided(
                    decision,
                    rules,
                    candidate=candidate,
                    type_=self._type(candidate),
                    candidate_id=proposed.event_id,
                    candidate_version=candidate_version,
                    belief=stream,
                    belief_version=belief.version,
                    subject_version=consent.version,
                    decided_at=self.now,
                    memory=memory_id_of(decision, new_memory),
                ),
                decision_id,
                turn.turn_id,
                subject_ref,
                actor,
                proposed.event_id,
                turn.turn_id,
            )
        )
        self.decided.append(decision_id)
        self.apply(decision, decision_id, candidate, turn, subject_ref, stream, new_memory, actor)
        learn(self, subject_ref, candidate, decision, decision_id, names)

    def placed(
        self, candidate: Candidate, subject_ref: str, turn: TurnView
    ) -> tuple[Candidate, str]:
        """The belief that the candidate is about; and the candidate, with which of that belief's
        memories it repeats or echoes."""
        kind = self.rules.registry.types.get(candidate.type)
        stream = self.slot(self.keys(subject_ref), candidate.type, candidate)
        resolved = candidate.resolved
        if kind is None or resolved is None:
            return candidate, stream
        repeats = None
        if self.belief(stream).redirects:
            stream, repeats = self._followed(
                stream, value_of(candidate, kind), canonical_context(candidate.context)
            )
        shown: tuple[str, ...] = ()
        belief = self.belief(stream)
        if (belief.current or belief.quarantined) and turn.session_tag is not None:
            if subject_ref not in self._shown:
                self._shown[subject_ref] = self._memo.shown(subject_ref)
            seen = self._shown[subject_ref].before(turn.position, turn.session_tag)
            there = (held.memory_id for held in (*belief.current, *belief.quarantined))
            shown = tuple(each for each in there if each in seen)
        if repeats or shown:
            resolved = resolved.model_copy(update={"repeats": repeats, "shown": shown})
            candidate = candidate.model_copy(update={"resolved": resolved})
        return candidate, stream

    def _followed(self, slot: str, value: str, context: str | None) -> tuple[str, str | None]:
        """Where what was in a slot has gone, and the memory that this very value went into."""
        redirect = self.belief(slot).redirect(value, context)
        repeats = redirect is not None and redirect.value == value
        seen: set[tuple[str, str]] = set()
        while redirect is not None and (redirect.to, redirect.into) not in seen:
            stream, memory_id = redirect.to, redirect.into
            seen.add((stream, memory_id))  # merged again, it went on within one belief
            belief = self.belief(stream)
            if any(held.memory_id == memory_id for held in belief.current):
                return stream, memory_id if repeats else None
            redirect = next(
                (each for each in reversed(belief.redirects) if each.memory_id == memory_id), None
            )
        return slot, None  # it is not believed any more: the slot is free again

    def _type(self, candidate: Candidate) -> str:
        """The type, where it is registered."""
        return candidate.type if candidate.type in self.rules.registry.types else "unknown"

    def apply(
        self,
        decision: Decision,
        decision_id: str,
        candidate: Candidate,
        turn: TurnView,
        subject_ref: str,
        stream: str,
        new_memory: str,
        actor: str,
    ) -> list[Event]:
        """Write what the decision does to its belief."""
        belief = self.belief(stream)
        written = effects(decision, decision_id, candidate, turn, belief, new_memory)
        for event in written:
            self.write_belief(
                New(event, new_id(), stream, subject_ref, actor, decision_id, turn.turn_id)
            )
        return written

    def slot(self, keys: SubjectKeys, type_: str, said: Candidate | Memory) -> str:
        """The stream of the belief that a statement of a type is about."""
        kind = self.rules.registry.known(type_)
        attribute = slot_attribute(said, kind) if kind else f"unknown type:{said.attribute}"
        if said.resolved is None:
            entity = streams.entity_stream(keys.ids, canonical_entity(said.entity))
        else:
            entity = said.resolved.entity
        return streams.belief_stream(keys.ids, entity, attribute)

    def commit(self) -> Appended | None:
        """Append everything; None when there is nothing. Raises `VersionConflict`."""
        if not self.events:
            return None
        appended = self._log.append(self.events, self.expect)
        self._memo.keep(self._beliefs, self._directories)
        return appended


def gate_decided(
    decision: Decision,
    rules: Rules,
    *,
    candidate: Candidate,
    type_: str,
    candidate_id: str,
    candidate_version: int,
    belief: str,
    belief_version: int,
    subject_version: int,
    decided_at: Micros,
    memory: str | None,
) -> GateDecided:
    """The decision as it goes into the log."""
    scored = decision.confidence
    return GateDecided(
        candidate=candidate_id,
        candidate_version=candidate_version,
        outcome=decision.outcome.value,
        reason=decision.reason.value,
        type=type_,
        decided_at=decided_at,
        belief=belief,
        belief_version=belief_version,
        subject_version=subject_version,
        policy_version=rules.version,
        policy=rules.policy_digest,
        registry=rules.registry_digest,
        s=scored.s,
        r=scored.r,
        e=scored.e,
        t=scored.t,
        c=scored.c,
        base=scored.base,
        mentions=decision.mentions,
        importance=candidate.importance,
        memory=memory,
        trace=decision.trace,
    )
