"""Runs a past decision again, from what the log holds."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from beliefledger.gate import consent as consents
from beliefledger.gate.belief import Belief, folded
from beliefledger.gate.consent import Consent
from beliefledger.gate.decide import decide
from beliefledger.gate.decision import Decision, TurnView
from beliefledger.gate.effects import memory_id_of
from beliefledger.gate.policy import Policy
from beliefledger.gate.rulebook import Rulebook, Rules
from beliefledger.gate.turns import cited, view_of
from beliefledger.ledger import streams
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.erasures import spread
from beliefledger.ledger.errors import LogCorrupted, UnknownMemory
from beliefledger.ledger.events.subject import ErasureRequested
from beliefledger.ledger.events.turn import CandidateProposed, GateDecided, TurnRecorded
from beliefledger.ledger.log import Log

_KEPT = 20_000


class Verdict(StrEnum):
    """The result of running a decision again."""

    SAME = "same"
    DIFFERENT = "different"
    INPUTS_DESTROYED = "inputs destroyed"


@dataclass(frozen=True, slots=True)
class Replayed:
    """A decision as recorded and as decided again. `differs` names each field that is not the same,
    with both values."""

    decision_id: str
    position: int
    verdict: Verdict
    recorded: dict[str, Any]
    """Its facts; and its scores, unless these are erased."""
    again: Decision | None
    differs: dict[str, tuple[object, object]]


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything that a decision was made from."""

    turn: TurnView
    candidate: CandidateProposed
    belief: Belief
    consent: Consent
    rules: Rules


class Replayer:
    """Reads a decision's inputs as they were and decides again."""

    def __init__(self, log: Log, rulebook: Rulebook) -> None:
        self._log = log
        self._rulebook = rulebook
        # Decisions are mostly run again in order, so each fold goes on from the last.
        self._beliefs: dict[tuple[str, str], tuple[Belief, frozenset[int]]] = {}
        """Each with the positions of the events in it whose words are erased."""
        self._consents: dict[str, Consent] = {}
        self._erasures = 0

    def replay(self, recorded: Recorded, policy: Policy | None = None) -> Replayed:
        """Decide again; with `policy`, as that policy would have it.

        Raises `UnknownMemory` when the event is not a decision.
        """
        if recorded.type != GateDecided.NAME:
            raise UnknownMemory(f"The event {recorded.event_id} is not a decision of the gate.")
        decided = recorded.event
        inputs = self._inputs(recorded, decided) if isinstance(decided, GateDecided) else None
        if inputs is None or not isinstance(decided, GateDecided):
            return Replayed(
                recorded.event_id,
                recorded.position,
                Verdict.INPUTS_DESTROYED,
                recorded.facts if decided is None else decided.model_dump(mode="json"),
                None,
                {},
            )
        again = decide(
            inputs.turn,
            inputs.candidate.candidate,
            inputs.belief,
            inputs.consent,
            policy or inputs.rules.policy,
            inputs.rules.registry,
            decided.decided_at,
            choices=inputs.candidate.choices,
        )
        differs = self._differences(recorded, decided, inputs, again)
        verdict = Verdict.DIFFERENT if differs else Verdict.SAME
        told = decided.model_dump(mode="json")
        return Replayed(recorded.event_id, recorded.position, verdict, told, again, differs)

    def _inputs(self, recorded: Recorded, decided: GateDecided) -> Inputs | None:
        """None if an erasure destroyed them. Inputs that were erased before the decision were not
        inputs."""
        turn_stream = self._log.read_stream(recorded.stream, upto=decided.candidate_version)
        self._forget_erased()
        turn_event, proposal = turn_stream[0], turn_stream[-1]
        if turn_event.event is None or proposal.event is None or recorded.subject_ref is None:
            return None
        if not isinstance(turn_event.event, TurnRecorded) or not isinstance(
            proposal.event, CandidateProposed
        ):
            raise LogCorrupted(f"The turn of the decision at position {recorded.position} is odd.")
        candidate = proposal.event.candidate
        rules = self._rulebook.at(decided.policy_version)
        belief, gone = self._belief(decided.belief, decided.belief_version, rules)
        gone |= self._uncited(recorded.subject_ref, candidate)
        if gone and not gone <= self._gone_then(recorded.subject_ref, decided.subject_version):
            return None
        return Inputs(
            turn=view_of(
                turn_event,
                turn_event.event,
                cited(self._log, recorded.subject_ref, [candidate]),
            ),
            candidate=proposal.event,
            belief=belief,
            consent=self._consent(recorded.subject_ref, decided.subject_version),
            rules=rules,
        )

    def forget(self) -> None:
        """Drop the folds, which may hold words of an erased subject."""
        self._beliefs.clear()
        self._consents.clear()

    def _forget_erased(self) -> None:
        """Drop the folds if anything was erased since: they may hold erased words."""
        if self._log.erasures != self._erasures:
            self._erasures = self._log.erasures
            self.forget()

    def _belief(self, stream: str, version: int, rules: Rules) -> tuple[Belief, frozenset[int]]:
        key = (stream, rules.registry_digest)
        start, gone = self._beliefs.get(key, (Belief(), frozenset()))
        if start.version > version:
            start, gone = Belief(), frozenset()
        events = self._log.read_stream(stream, start.version, version)
        gone |= {each.position for each in events if each.event is None}
        if len(self._beliefs) > _KEPT:
            self._beliefs.clear()
        self._beliefs[key] = folded(events, rules.registry, start), gone
        return self._beliefs[key]

    def _uncited(self, subject_ref: str, candidate: Candidate) -> set[int]:
        """The positions of turns that the candidate cites and whose words are erased."""
        turns = {span.turn for span in candidate.spans if span.turn}
        first = (each for turn in turns for each in self._log.read_stream(turn, upto=1))
        return {e.position for e in first if e.event is None and e.subject_ref == subject_ref}

    def _gone_then(self, subject_ref: str, version: int) -> set[int]:
        """The positions that were erased, or being erased, at a version of the subject's stream."""
        return {
            position
            for each in self._log.read_stream(subject_ref, upto=version)
            if each.type == ErasureRequested.NAME
            for position in spread(each.facts["positions"])
        }

    def _consent(self, subject_ref: str, version: int) -> Consent:
        start = self._consents.get(subject_ref)
        if start is None or start.version > version:
            start = Consent()
        events = self._log.read_stream(subject_ref, start.version, version)
        if len(self._consents) > _KEPT:
            self._consents.clear()
        self._consents[subject_ref] = consents.folded(events, start)
        return self._consents[subject_ref]

    def _differences(
        self, recorded: Recorded, decided: GateDecided, inputs: Inputs, again: Decision
    ) -> dict[str, tuple[object, object]]:
        keys = self._log.keys(recorded.subject_ref or "")
        memory = keys and streams.memory_id(keys.ids, recorded.stream, inputs.candidate.index)
        scored = again.confidence
        now: dict[str, object] = {
            "outcome": again.outcome.value,
            "reason": again.reason.value,
            "s": scored.s,
            "r": scored.r,
            "e": scored.e,
            "t": scored.t,
            "c": scored.c,
            "base": scored.base,
            "mentions": again.mentions,
            "trace": again.trace,
            "memory": memory_id_of(again, memory or ""),
        }
        return {
            name: (getattr(decided, name), value)
            for name, value in now.items()
            if getattr(decided, name) != value
        }
