"""A draft: decisions and their events, gathered for one append.

Within a draft each decision sees what the ones before it did. Nothing is in the log until `commit`,
which names the version of every stream that the decisions wrote or read.
"""

from __future__ import annotations

from collections.abc import Sequence

from gate import consent as consents
from gate.belief import Belief, evolve, folded
from gate.consent import Consent
from gate.decide import Decision, TurnView, decide
from gate.effects import WRITES, effects, memory_id_of
from gate.rulebook import Rules
from gate.slots import canonical_entity, slot_attribute
from ledger import streams
from ledger.candidate import Candidate
from ledger.codec import New
from ledger.errors import NotPermitted
from ledger.events import Event
from ledger.events.choices import Choices
from ledger.events.entity import EntityRecognised
from ledger.events.turn import CandidateProposed, ExtractionCompleted, GateDecided
from ledger.log import Log, new_id
from ledger.sealing import SubjectKeys
from ledger.store import Appended
from ledger.times import Micros
from ledger.vault import SYSTEM


class Memo:
    """Folds kept between drafts. They may be stale: an append that relied on one then conflicts,
    and the memo is cleared. Who may refuse without appending calls `forget` first."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._consents: dict[str, Consent] = {}
        self._beliefs: dict[str, Belief] = {}
        self.entities: set[str] = set()

    LIMIT = 50_000

    def consent(self, subject_ref: str) -> Consent:
        if subject_ref not in self._consents:
            self._consents[subject_ref] = consents.folded(self._log.read_stream(subject_ref))
        return self._consents[subject_ref]

    def belief(self, stream: str, rules: Rules) -> Belief:
        if stream not in self._beliefs:
            self._beliefs[stream] = folded(self._log.read_stream(stream), rules.registry)
        return self._beliefs[stream]

    def keep(self, beliefs: dict[str, Belief]) -> None:
        if len(self._beliefs) > self.LIMIT:
            self._beliefs.clear()
        self._beliefs.update(beliefs)

    def forget(self, *streams: str) -> None:
        """Read these subjects and beliefs anew."""
        for stream in streams:
            self._consents.pop(stream, None)
            self._beliefs.pop(stream, None)

    def clear(self) -> None:
        self._consents.clear()
        self._beliefs.clear()
        self.entities.clear()


class Draft:
    """Decisions of one append. Not thread-safe; lives for a moment."""

    def __init__(self, log: Log, memo: Memo, rules: Rules, policy_stream: str, now: Micros) -> None:
        self.rules = rules
        self.now = now
        self.events: list[New] = []
        self.expect: dict[str, int] = {policy_stream: rules.version}
        self.decided: list[str] = []
        self._log = log
        self._memo = memo
        self._versions: dict[str, int] = {}
        self._beliefs: dict[str, Belief] = {}
        self._entities: set[str] = set()

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

    def write_belief(self, new: New) -> None:
        """Add an event of a belief, which later decisions of this draft will see."""
        before = self.belief(new.stream)
        version = self.write(new)
        self._beliefs[new.stream] = evolve(before, version, new.event, self.rules.registry)

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
            proposed = New(
                CandidateProposed(
                    index=index,
                    type=self._type(candidate),
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
            version = self.write(proposed)
            self._decide(turn, index, candidate, proposed, version, subject_ref, choices, actor)

    def _decide(
        self,
        turn: TurnView,
        index: int,
        candidate: Candidate,
        proposed: New,
        candidate_version: int,
        subject_ref: str,
        choices: Choices | None,
        actor: str,
    ) -> None:
        keys, rules = self.keys(subject_ref), self.rules
        consent = self.consent(subject_ref)
        stream = self.slot(keys, candidate)
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

    def _type(self, candidate: Candidate) -> str:
        """The type as a fact: one that nobody registered may be anybody's words."""
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
        """Write what the decision does to its belief, and make its entity known."""
        belief = self.belief(stream)
        written = effects(decision, decision_id, candidate, turn, belief, new_memory)
        if decision.outcome in WRITES:
            self._recognise(candidate.entity, subject_ref, decision_id)
        for event in written:
            self.write_belief(
                New(event, new_id(), stream, subject_ref, actor, decision_id, turn.turn_id)
            )
        return written

    def slot(self, keys: SubjectKeys, candidate: Candidate) -> str:
        """The stream of the belief that the candidate is about."""
        kind = self.rules.registry.types.get(candidate.type)
        attribute = (
            slot_attribute(candidate, kind) if kind else f"unknown type:{candidate.attribute}"
        )
        entity = streams.entity_stream(keys.ids, canonical_entity(candidate.entity))
        return streams.belief_stream(keys.ids, entity, attribute)

    def _recognise(self, name: str, subject_ref: str, causation: str) -> None:
        """The first memory about an entity makes it known."""
        canonical = canonical_entity(name)
        stream = streams.entity_stream(self.keys(subject_ref).ids, canonical)
        if stream in self._memo.entities or stream in self._entities:
            return
        version = self._log.version(stream)
        self._entities.add(stream)
        if version == 0:
            self.reads(stream, 0)
            event = EntityRecognised(name=name, canonical=canonical)
            self.write(New(event, new_id(), stream, subject_ref, SYSTEM, causation))

    def commit(self) -> Appended | None:
        """Append everything; None when there is nothing. Raises `VersionConflict`."""
        if not self.events:
            return None
        appended = self._log.append(self.events, self.expect)
        self._memo.keep(self._beliefs)
        self._memo.entities |= self._entities
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
