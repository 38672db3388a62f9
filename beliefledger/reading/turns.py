"""One turn with what the gate did with its words, and what was refused with the words around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import JsonValue

from beliefledger.answers import Became, DecisionAnswer
from beliefledger.gate.outcomes import Reason
from beliefledger.gate.reasons import meanings
from beliefledger.ledger.candidate import Candidate, Frozen
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.errors import UnknownMemory
from beliefledger.ledger.events.turn import (
    CandidateProposed,
    ExtractionCompleted,
    GateDecided,
    TurnRecorded,
)
from beliefledger.ledger.times import to_datetime
from beliefledger.opening.core import Core
from beliefledger.projections import questions, tables, turn_questions
from beliefledger.projections.decisions import DecisionsView
from beliefledger.projections.turns import TurnsView
from beliefledger.reading.queries import Queries, only
from beliefledger.reading.words import marked, score, turn_page

SCORES = ("s", "r", "e", "t", "base", "c", "importance")


class TurnSpan(Frozen):
    """Words of a turn that a candidate rests on: code point offsets [start, end), and what the gate
    did. `number` stands behind these words in `marked`; it counts the turn's decisions."""

    number: int
    start: int
    end: int
    text: str
    decision_id: str
    outcome: str
    reason: str
    became: Became | None


class TurnAnswer(Frozen):
    """A turn, and what became of it. What is erased of it is None."""

    turn_id: str
    position: int
    subject: str | None
    role: str
    speaker: str | None
    session: str | None
    agent: str | None
    metadata: dict[str, JsonValue]
    said_at: datetime | None
    recorded_at: datetime
    state: str
    """`pending`, `extracted`, `parked` or `erased`."""
    attempts: int
    extractor: str | None
    """Who looked at it; None while nobody has."""
    skipped: str | None
    """Why nobody had to look, such as `role:assistant`."""
    not_read: str | None
    """`language`: it is in one that the extractor does not read, so that nothing was found says
    nothing."""
    fallen: int
    """How many statements of a model did not fit its words, and were left out."""
    content: str | None
    marked: str | None
    """The content with the spans between ⟦ and ⟧, their numbers behind."""
    spans: tuple[TurnSpan, ...]
    decisions: tuple[DecisionAnswer, ...]


class RefusalAnswer(Frozen):
    """Why a statement is no memory: the decision, its reason, and the words as they were said."""

    memory: None = None
    holds: bool = False
    decision: DecisionAnswer
    decided_by: str = "gate"
    scores: dict[str, float]
    """None are left once the words are erased."""
    trace: tuple[str, ...]
    turn: dict[str, Any] | None
    """Who said it, when, and the words with those marked that it rests on; None once erased."""
    example: str
    """Another case of this reason."""
    advice: str | None


class TurnQueries:
    """Reads turns out of the log, and what the views know of them."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._log = core.log
        self._queries = queries

    def turn_id(self, given: str) -> str:
        """The turn of an id or the first characters of one. Raises `UnknownMemory`. Of an erased
        turn that nothing was decided about, only the whole id is known."""
        found: list[str] = []
        for view, table in ((TurnsView, tables.turns), (DecisionsView, tables.decisions)):
            with self._queries.view(view.name) as (connection, generation):
                found += questions.starting_with(connection, table(generation), "turn_id", given)
        if not found:
            found = [each.stream for each in self._log.read_stream(given, upto=1) if _is_turn(each)]
        return only(list(dict.fromkeys(found)), "turn", given)

    def turn(self, given: str) -> TurnAnswer:
        turn_id = self.turn_id(given)
        with self._queries.view(TurnsView.name) as (connection, generation):
            row = turn_questions.turn(connection, generation, turn_id)
        # Before the stream, which then has each of them though a worker decides meanwhile.
        decisions = self._queries.about(turn_id=turn_id)
        stream = self._log.read_stream(turn_id)
        recorded = stream[0]
        said = recorded.event if isinstance(recorded.event, TurnRecorded) else None
        if said is not None and said.withheld:
            said = None
        looked = [each for each in stream if each.type == ExtractionCompleted.NAME]
        facts: Mapping[str, Any] = looked[-1].facts if looked else {}
        outcome = looked[-1].event if looked else None
        spans = _spans(decisions, stream, said)
        labels = [(each.start, each.end, str(each.number)) for each in spans]
        page = turn_page(recorded, said, [])
        return TurnAnswer(
            turn_id=turn_id,
            position=recorded.position,
            subject=self._log.vault.real_id(recorded.subject_ref or ""),
            role=recorded.facts["role"],
            speaker=said.speaker if said else None,
            session=said.session if said else None,
            agent=said.agent if said else None,
            metadata=said.metadata if said else {},
            said_at=datetime.fromisoformat(page["said_at"]) if page else None,
            recorded_at=to_datetime(recorded.recorded_at),
            state="erased" if row is None or said is None else row.state,
            attempts=row.attempts if row else 0,
            extractor=facts.get("extractor"),
            skipped=facts.get("skipped"),
            not_read=outcome.not_read if isinstance(outcome, ExtractionCompleted) else None,
            fallen=facts.get("fallen", 0),
            content=said.content if said else None,
            marked=marked(said.content, labels) if said else None,
            spans=tuple(spans),
            decisions=tuple(decisions),
        )

    def refusal(self, given: str) -> RefusalAnswer:
        """Why there is no memory of a statement. Raises `UnknownMemory`."""
        decision = self._queries.decision(self._queries.decision_id(given))
        recorded = self._log.find(decision.decision_id)
        if recorded is None:
            raise UnknownMemory(f"There is no decision {decision.decision_id}.")
        decided = recorded.event if isinstance(recorded.event, GateDecided) else None
        stream = self._log.read_stream(decision.turn_id, upto=recorded.facts["candidate_version"])
        said = stream[0].event if isinstance(stream[0].event, TurnRecorded) else None
        meaning = meanings()[Reason(decision.reason)]
        return RefusalAnswer(
            decision=decision,
            scores={name: score(getattr(decided, name)) for name in SCORES} if decided else {},
            trace=tuple(recorded.facts["trace"]),
            turn=turn_page(stream[0], said, [each[:2] for each in _own(stream[-1])]),
            example=meaning.example,
            advice=None if decision.settled_at else meaning.advice,
        )


def _is_turn(recorded: Recorded) -> bool:
    return recorded.type == TurnRecorded.NAME


def _own(proposed: Recorded) -> list[tuple[int, int, str]]:
    """The spans of a candidate that are of its own turn."""
    event = proposed.event
    candidate: Candidate | None = event.candidate if isinstance(event, CandidateProposed) else None
    spans = candidate.spans if candidate else ()
    return [(span.start, span.end, span.quote) for span in spans if span.turn is None]


def _spans(
    decisions: Sequence[DecisionAnswer], stream: Sequence[Recorded], said: TurnRecorded | None
) -> list[TurnSpan]:
    """The words that each decision is about, as they stand in the turn."""
    if said is None:
        return []
    proposed = {
        each.event_id: stream[each.facts["candidate_version"] - 1]
        for each in stream
        if each.type == GateDecided.NAME
    }
    return [
        TurnSpan(
            number=number,
            start=start,
            end=end,
            text=said.content[start:end],
            decision_id=decision.decision_id,
            outcome=decision.outcome,
            reason=decision.reason,
            became=decision.became,
        )
        for number, decision in enumerate(decisions, 1)
        for start, end, _ in _own(proposed[decision.decision_id])
    ]
