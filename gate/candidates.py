"""The candidates of a turn, decided one after another; each decision sees the ones before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from beliefledger.gate.claims import CHECK
from beliefledger.gate.corrections import check_held, corrected, end_elsewhere
from beliefledger.gate.custom_types import keyed
from beliefledger.gate.decide import decide
from beliefledger.gate.decision import Decision, TurnView
from beliefledger.gate.denials import taken_back
from beliefledger.gate.draft import Draft
from beliefledger.gate.effects import memory_id_of
from beliefledger.gate.endings import end_others
from beliefledger.gate.entity_names import (
    learn,
    learn_speaker,
    named,
    of_speaker,
    there_no_more,
)
from beliefledger.gate.farewells import mean
from beliefledger.gate.keys import under_its_key
from beliefledger.gate.meant_memories import quoting
from beliefledger.gate.negations import with_endings
from beliefledger.gate.note_folding import fold_notes
from beliefledger.gate.planned_homes import settled
from beliefledger.gate.planned_jobs import begun
from beliefledger.gate.rulebook import Rules
from beliefledger.gate.waiting_statements import refuse_taken_back
from beliefledger.ledger import streams
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.codec import New
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.events.choices import Choices
from beliefledger.ledger.events.turn import CandidateProposed, ExtractionCompleted, GateDecided
from beliefledger.ledger.log import new_id
from beliefledger.ledger.times import Micros
from beliefledger.ledger.vault import SYSTEM


@dataclass(frozen=True, slots=True)
class ReadTurn:
    """A turn that was looked at: where its stream stands, whose it is, and who acts."""

    turn: TurnView
    version: int
    event_id: str
    subject_ref: str
    actor: str = SYSTEM


def decide_candidates(
    draft: Draft,
    read: ReadTurn,
    outcome: ExtractionCompleted,
    candidates: Sequence[Candidate],
    choices: Choices | None = None,
) -> None:
    """Record what was noticed in a turn, and decide about each candidate."""
    turn_id = read.turn.turn_id
    if choices is not None and choices.changes is not None:
        check_held(draft, choices.changes, read.turn.said_at)
    if choices is None:
        refuse_taken_back(draft, read.subject_ref, read.turn, candidates, read.event_id)
        candidates = taken_back(draft, read.subject_ref, read.turn, candidates)
        candidates = with_endings(draft, read.subject_ref, read.turn, candidates)
        turn, candidates = mean(draft, read.subject_ref, read.turn, candidates)
        turn, candidates = settled(draft, read.subject_ref, turn, candidates)
        turn, candidates = begun(draft, read.subject_ref, turn, candidates)
        if turn.corrects is not None:
            candidates = corrected(draft, turn, candidates)
        cites = draft.cited(read.subject_ref, candidates)
        if cites:
            turn = turn.citing(cites)
            candidates = [quoting(each, {**turn.cited, **cites}) for each in candidates]
        if len(candidates) != outcome.candidates:
            outcome = outcome.model_copy(update={"candidates": len(candidates)})
        read = replace(read, turn=turn)
    draft.reads(turn_id, read.version)
    draft.write(
        New(outcome, new_id(), turn_id, read.subject_ref, read.actor, read.event_id, turn_id)
    )
    for index, candidate in enumerate(candidates):
        _decide(draft, read, index, candidate, choices)


@dataclass(frozen=True, slots=True)
class Again:
    """A decision that is made again: its id, and its candidate's place and choices."""

    decision: str
    index: int
    choices: Choices | None = None


def decide_anew(draft: Draft, read: ReadTurn, candidate: Candidate, again: Again) -> GateDecided:
    """Propose a candidate again and decide about it, in place of an earlier decision. The turn's
    stream has been read."""
    return _decide(draft, read, again.index, candidate, again.choices, again.decision)


def _decide(
    draft: Draft,
    read: ReadTurn,
    index: int,
    noticed: Candidate,
    choices: Choices | None,
    reconsiders: str | None = None,
) -> GateDecided:
    turn, subject_ref, actor = read.turn, read.subject_ref, read.actor
    keys, rules = draft.keys(subject_ref), draft.rules
    consent = draft.consent(subject_ref)
    if choices is None:
        noticed = under_its_key(of_speaker(draft, subject_ref, turn, noticed))
    candidate, names = named(draft, subject_ref, keyed(noticed, rules.registry))
    if choices is None:
        candidate = there_no_more(candidate).model_copy(update={"check": CHECK})
    candidate, stream = draft.placed(candidate, subject_ref, turn)
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
        read.event_id,
        turn.turn_id,
    )
    candidate_version = draft.write(proposed)
    belief = draft.belief(stream)
    decision = decide(
        turn,
        candidate,
        belief,
        consent,
        rules.policy,
        rules.registry,
        draft.now,
        choices=choices,
    )
    new_memory = streams.memory_id(keys.ids, turn.turn_id, index)
    decision_id = new_id()
    inputs = _Inputs(proposed.event_id, candidate_version, stream, belief.version, consent.version)
    decided = _gate_decided(
        decision, candidate, rules, inputs, draft.now, memory_id_of(decision, new_memory)
    )
    if reconsiders is not None:
        decided = decided.model_copy(update={"reconsiders": reconsiders})
    made = New(
        decided, decision_id, turn.turn_id, subject_ref, actor, proposed.event_id, turn.turn_id
    )
    draft.write(made)
    draft.decided.append(decision_id)
    draft.apply(decision, decision_id, candidate, turn, subject_ref, stream, new_memory, actor)
    end_others(draft, subject_ref, candidate, decision, decision_id, turn, actor)
    if choices is not None and choices.changes is not None:
        end_elsewhere(draft, choices.changes, stream, decision, made)
    learn(draft, subject_ref, candidate, decision, decision_id, names)
    if choices is None and decided.memory is not None:
        into = (stream, decided.memory)
        fold_notes(draft, candidate, decision, decision_id, turn, subject_ref, into, actor)
    if choices is None:
        learn_speaker(draft, subject_ref, turn, decision, decision_id)
    return decided


@dataclass(frozen=True, slots=True)
class _Inputs:
    """What a decision was made from, by id and version."""

    candidate: str
    candidate_version: int
    belief: str
    belief_version: int
    subject_version: int


def _gate_decided(
    decision: Decision,
    candidate: Candidate,
    rules: Rules,
    inputs: _Inputs,
    decided_at: Micros,
    memory: str | None,
) -> GateDecided:
    """The decision as it goes into the log."""
    scored = decision.confidence
    return GateDecided(
        candidate=inputs.candidate,
        candidate_version=inputs.candidate_version,
        outcome=decision.outcome.value,
        reason=decision.reason.value,
        type=candidate.type if candidate.type in rules.registry.types else "unknown",
        decided_at=decided_at,
        belief=inputs.belief,
        belief_version=inputs.belief_version,
        subject_version=inputs.subject_version,
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
