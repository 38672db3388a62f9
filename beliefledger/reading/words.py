"""From rows and positions to answers: fetches the words that the views point at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from beliefledger.answers import Became, BeliefAnswer, DecisionAnswer, Evidence, SpanAnswer
from beliefledger.gate.outcomes import Reason
from beliefledger.gate.reasons import meanings
from beliefledger.ledger.candidate import MILLION, Candidate, Span
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.errors import LogCorrupted
from beliefledger.ledger.events.belief import MemoryConfirmed, Written
from beliefledger.ledger.events.turn import CandidateProposed, GateDecided, TurnRecorded
from beliefledger.ledger.log import Log
from beliefledger.ledger.streams import tag
from beliefledger.ledger.times import Micros, iso, to_datetime
from beliefledger.projections.beliefs import Version
from beliefledger.projections.decisions import WAITING, row_of
from beliefledger.projections.digests import candidates_of
from beliefledger.projections.questions import DecisionRow
from beliefledger.reading.fates import Fates

if TYPE_CHECKING:
    from beliefledger.gate.gate import Rehearsed
    from beliefledger.gate.turns import Receipt


def score(millionths: int) -> float:
    return round(millionths / MILLION, 4)


def moment(micros: Micros | None) -> datetime | None:
    return None if micros is None else to_datetime(micros)


class Reader:
    """Reads words for answers. Words of an erased subject are simply not there."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def name(self, subject_ref: str) -> str | None:
        """Who the subject is; None once erased."""
        return self._log.vault.real_id(subject_ref)

    def beliefs(
        self,
        rows: Sequence[Version],
        evidence: Mapping[int, Sequence[int]],
        against: Mapping[int, Sequence[str]] | None = None,
        became: Mapping[int, Became] | None = None,
    ) -> list[BeliefAnswer]:
        """Answers in the order of the rows; a row whose words are erased is left out.

        `evidence` has the positions of the events that a row (by its id) rests on, `against` the
        memories that it disagrees with, `became` what became of it.
        """
        words = self._log.read_at(
            [row.words_at for row in rows] + [at for found in evidence.values() for at in found]
        )
        names: dict[str, str | None] = {}
        answers = []
        for row in rows:
            if row.subject_ref not in names:
                names[row.subject_ref] = self.name(row.subject_ref)
            written = words[row.words_at].event
            if not isinstance(written, Written):
                continue
            memory = written.memory
            spans = [
                each
                for at in evidence.get(row.row_id, ())
                if words[at].facts.get("memory_id") == row.memory_id
                for each in evidence_in(words[at])
            ]
            answers.append(
                BeliefAnswer(
                    memory_id=row.memory_id,
                    belief_id=row.belief,
                    subject=names[row.subject_ref],
                    type=row.type,
                    topic=memory.topic,
                    entity=memory.entity,
                    attribute=memory.attribute,
                    value=memory.value,
                    negated=memory.negated,
                    text=memory.claim,
                    context=memory.context,
                    confidence=score(row.confidence),
                    importance=score(row.importance),
                    mentions=row.mentions,
                    contested=row.contested,
                    quarantined=row.quarantined,
                    valid_from=to_datetime(row.valid_from),
                    valid_to=moment(row.valid_to),
                    recorded_from=to_datetime(row.opened_at),
                    recorded_to=moment(row.closed_at),
                    recorded_from_position=row.opened,
                    recorded_to_position=row.closed,
                    event_from=moment(row.event_from),
                    event_to=moment(row.event_to),
                    event_precision=row.precision,
                    superseded_by=row.superseded_by or row.closed_by,
                    supersedes=row.supersedes,
                    contradicts=tuple(against.get(row.row_id, ())) if against else (),
                    evidence=tuple(spans),
                    visibility_scope=row.visibility_scope,
                    consent_basis=row.basis,
                    expires_at=moment(row.expires_at),
                    session=memory.session,
                    agent=memory.agent,
                    metadata=memory.metadata,
                    decision_id=row.decision,
                    became=became.get(row.row_id) if became else None,
                )
            )
        return answers

    def words(self, positions: Sequence[int]) -> dict[int, Recorded]:
        """The events at these positions; without words where they are erased."""
        return self._log.read_at(positions)

    def decisions(
        self, rows: Sequence[DecisionRow], became: Mapping[int, Became] | None = None
    ) -> list[DecisionAnswer]:
        """Answers in the order of the rows. `became` has by position what became of each; what is
        erased is added."""
        candidates = candidates_of(rows, self._log)
        recorded = self._log.read_at([row.position for row in rows])
        names: dict[str, str | None] = {}
        answers = []
        if became is not None:
            gone = [row for row in rows if (row.turn_id, row.candidate_version) not in candidates]
            became = {**became, **Fates(self._log).of_erased(gone)}
        for row in rows:
            if row.subject_ref not in names:
                names[row.subject_ref] = self.name(row.subject_ref)
            proposed = candidates.get((row.turn_id, row.candidate_version))
            candidate = proposed.candidate if proposed else None
            decided = recorded[row.position].event
            scored = decided if isinstance(decided, GateDecided) else None
            fate = became.get(row.position) if became else None
            answer = _decision(row, names[row.subject_ref], candidate, scored, fate)
            instead_of = recorded[row.position].facts.get("reconsiders")
            if instead_of is not None:
                answer = answer.model_copy(update={"reconsiders": instead_of})
            answers.append(answer)
        return answers

    def just_decided(
        self,
        told: Sequence[Recorded],
        waiting_at: Mapping[str, str],
        subjects: Mapping[str, str],
    ) -> list[DecisionAnswer]:
        """Answers about the decisions among the events of turns, as they were made. `waiting_at`
        has the belief where a conflict waits: it may have moved since it was decided. `subjects`
        says who the subjects are, by their references."""
        proposed = {
            (each.stream, each.version): each.event
            for each in told
            if each.type == CandidateProposed.NAME
        }
        answers = []
        for each in told:
            if each.type == GateDecided.NAME:
                row = DecisionRow(*row_of(each))
                if row.decision_id in waiting_at:
                    row = row._replace(belief=waiting_at[row.decision_id])
                candidate = proposed.get((each.stream, row.candidate_version))
                answers.append(
                    _decision(
                        row,
                        subjects[row.subject_ref],
                        candidate.candidate if isinstance(candidate, CandidateProposed) else None,
                        each.event if isinstance(each.event, GateDecided) else None,
                    )
                )
        return answers

    def rehearsed(self, receipt: Receipt, made: Sequence[Rehearsed]) -> list[DecisionAnswer]:
        """Answers about decisions that are not in the log, because their turn is withheld: as if
        they followed it there. Told again, they are the same."""
        ref = receipt.subject_ref
        keys = self._log.keys(ref)
        told = self._log.read_at([receipt.position])[receipt.position]
        answers = []
        for index, (after, proposed, decided) in enumerate(made):
            row = DecisionRow(
                position=receipt.position + after,
                decision_id=tag(
                    keys.ids if keys else b"", "rehearsed", receipt.turn_id, str(index)
                ),
                subject_ref=ref,
                turn_id=receipt.turn_id,
                candidate_version=decided.candidate_version,
                outcome=decided.outcome,
                reason=decided.reason,
                mentions=decided.mentions,
                belief=decided.belief,
                memory_id=decided.memory,
                policy=decided.policy,
                recorded_at=told.recorded_at,
                waits=decided.outcome in WAITING,
                settled=None,
            )
            answers.append(_decision(row, self.name(ref), proposed.candidate, decided))
        return answers

    def turn(self, turn_id: str) -> tuple[Recorded, TurnRecorded | None]:
        """A turn and its words; None for the words of an erased one."""
        found = self._log.read_stream(turn_id, upto=1)
        if not found:
            raise LogCorrupted(f"The turn {turn_id} is not in the log.")
        event = found[0].event
        return found[0], event if isinstance(event, TurnRecorded) else None


def turn_page(
    recorded: Recorded, said: TurnRecorded | None, spans: Iterable[tuple[int, int]]
) -> dict[str, Any] | None:
    """A turn with these spans marked in it; None once its words are erased."""
    if said is None:
        return None
    said_at = recorded.recorded_at if said.said_at is None else said.said_at
    return {
        "turn_id": recorded.stream,
        "position": recorded.position,
        "role": said.role,
        "speaker": said.speaker,
        "session": said.session,
        "metadata": said.metadata,
        "said_at": iso(said_at),
        "content": said.content,
        "marked": marked(said.content, [(start, end, "") for start, end in spans]),
    }


def marked(content: str, spans: Iterable[tuple[int, int, str]]) -> str:
    """Words with spans (start, end, label) between ⟦ and ⟧, and their labels in brackets behind.
    Spans that overlap are marked as one."""
    runs: list[tuple[int, int, list[str]]] = []
    for start, stop, label in sorted(spans):
        names = [label] if label else []
        if runs and start < runs[-1][1]:
            begun, end, known = runs[-1]
            names = [*known, *(name for name in names if name not in known)]
            runs[-1] = (begun, max(end, stop), names)
        else:
            runs.append((start, stop, names))
    text, at = "", 0
    for start, stop, names in runs:
        behind = f"({', '.join(names)})" if names else ""
        text += f"{content[at:start]}⟦{content[start:stop]}⟧{behind}"
        at = stop
    return text + content[at:]


def _decision(
    row: DecisionRow,
    subject: str | None,
    candidate: Candidate | None,
    scored: GateDecided | None,
    became: Became | None = None,
) -> DecisionAnswer:
    return DecisionAnswer(
        decision_id=row.decision_id,
        position=row.position,
        turn_id=row.turn_id,
        subject=subject,
        claim=candidate.claim if candidate else None,
        type=scored.type if scored else None,
        outcome=row.outcome,
        reason=row.reason,
        confidence=score(scored.c) if scored else None,
        mentions=row.mentions,
        span=_span(candidate.spans[0], row.turn_id) if candidate else None,
        policy=row.policy,
        belief_id=row.belief,
        memory_id=row.memory_id,
        waits=row.waits,
        recorded_at=to_datetime(row.recorded_at),
        hint=_hint(row, subject, candidate.category if candidate else None),
        says=_says(row, candidate),
        became=became,
        settled_at=row.settled,
    )


def _says(row: DecisionRow, candidate: Candidate | None) -> str:
    """What the reason means; of what only ends something, that it does."""
    ends = candidate is not None and candidate.retracts and bool(candidate.ends)
    if candidate is None or not ends or row.reason != Reason.NEW:
        return meanings()[Reason(row.reason)].sentence
    from beliefledger.gate.rules import denials  # noqa: PLC0415 (the rules, which few readers need)

    takes_back = candidate.attribute in (denials.ATTRIBUTE, denials.RETRACTION)
    if takes_back and denials.asks_to_forget(candidate.spans[0].quote):
        return "What it asks to have forgotten is told to no agent any more."
    return "What it takes back, or tells the end of, is not believed any more."


def _span(span: Span, turn_id: str) -> SpanAnswer:
    return SpanAnswer(start=span.start, end=span.end, text=span.quote, turn_id=span.turn or turn_id)


def _hint(row: DecisionRow, subject: str | None, category: str | None) -> str | None:
    if row.settled is not None or row.outcome not in {"reject", "queue", "escalate"}:
        return None
    text = meanings()[Reason(row.reason)].hint
    return text and text.format(
        subject=subject, decision=row.decision_id, belief=row.belief, category=category
    )


def evidence_in(recorded: Recorded) -> list[Evidence]:
    """The spans that an event of a belief rests on."""
    event = recorded.event
    if isinstance(event, Written):
        turn, said_at, spans = event.memory.turn, event.memory.said_at, event.memory.spans
    elif isinstance(event, MemoryConfirmed):
        turn, said_at, spans = event.turn, event.said_at, event.spans
    else:
        return []
    return [
        Evidence(
            turn_id=span.turn or turn,
            start=span.start,
            end=span.end,
            said_at=to_datetime(said_at),
        )
        for span in spans
    ]
