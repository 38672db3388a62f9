"""The questions of the front door: each lets its view catch up, then reads rows and their words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from gate.decide import Outcome
from gate.effects import evidence as offsets
from ledger.candidate import Candidate
from ledger.codec import Recorded
from ledger.errors import InvalidTurn, LedgerError, LogCorrupted, NotPermitted, UnknownMemory
from ledger.events.belief import ConflictResolved, Written
from ledger.events.turn import CandidateProposed, ExtractionCompleted, GateDecided, ReviewDecided
from ledger.memory import Memory
from ledger.times import DAY, Clock, Micros, iso, to_datetime
from projections import digests, questions, tables
from projections.beliefs import BeliefsView, Version
from projections.churn import ChurnView
from projections.decisions import DecisionsView
from projections.turns import TurnsView
from tools.answers import (
    BeliefAnswer,
    ConflictAnswer,
    DecisionAnswer,
    Explanation,
    LoopAnswer,
    RebuildAnswer,
    StatusAnswer,
    ViewAnswer,
)
from tools.reading import Reader, evidence_in, score
from tools.wiring import Parts


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The ledger as it was at a position. `at` is the time asked about, or when it was recorded."""

    position: int
    at: Micros

    @property
    def recorded_at(self) -> str:
        return iso(self.at)


class Asking:
    """Reads answers out of the views."""

    def __init__(self, parts: Parts, clock: Clock) -> None:
        self._parts = parts
        self._log = parts.log
        self._projector = parts.projector
        self._clock = clock
        self._reader = Reader(parts.log)

    @contextmanager
    def view(self, name: str) -> Iterator[tuple[Connection, int]]:
        """A consistent read of one view, caught up to the head; with its tables' generation.

        Raises `LedgerError` for a view that stopped, saying where and why.
        """
        self._projector.catch_up()
        with self._projector.reading() as connection:
            state = self._projector.states(connection)[name]
            if state.stopped_at is not None:
                raise LedgerError(
                    f"The view {name} stopped at position {state.stopped_at} ({state.reason})."
                    f" Rebuild it: beliefledger rebuild {name}"
                )
            yield connection, state.generation

    # Time

    def at_position(self, position: int) -> Snapshot:
        head = self._log.head().position
        if not 0 <= position <= head:
            raise InvalidTurn(f"as_of: position {position} is not in the log (1 to {head}).")
        if position == 0:
            return Snapshot(0, 0)
        return Snapshot(position, self._log.read_at([position])[position].recorded_at)

    def at_time(self, at: Micros) -> Snapshot:
        return Snapshot(self._log.position_at(at), at)

    # Ids

    def belief_id(self, given: str) -> str:
        """The belief of an id: a belief's or a memory's, or the first characters of one."""
        with self.view(BeliefsView.name) as (connection, generation):
            table = tables.belief_versions(generation)
            found = questions.starting_with(connection, table, "belief", given)
            if not found:
                memories = questions.starting_with(connection, table, "memory_id", given)
                found = list(
                    dict.fromkeys(
                        row.belief
                        for memory in memories
                        for row in questions.versions_of_memory(connection, generation, memory)
                    )
                )
        return _only(found, "belief", given)

    def memory_id(self, given: str) -> str:
        with self.view(BeliefsView.name) as (connection, generation):
            table = tables.belief_versions(generation)
            return _only(
                questions.starting_with(connection, table, "memory_id", given), "memory", given
            )

    def decision_id(self, given: str) -> str:
        with self.view(DecisionsView.name) as (connection, generation):
            table = tables.decisions(generation)
            return _only(
                questions.starting_with(connection, table, "decision_id", given), "decision", given
            )

    # Beliefs

    def beliefs(
        self,
        subject: str | None,
        snapshot: Snapshot | None,
        valid_at: Micros | None,
        *,
        type_: str | None,
        topic: str | None,
        min_confidence: int,
        min_importance: int,
        quarantined: bool,
    ) -> list[BeliefAnswer]:
        ref = None
        if subject is not None:
            try:
                ref = self._log.subject(subject)
            except NotPermitted:
                return []  # erased: nothing is believed about them
            if ref is None:
                return []
        if valid_at is None:
            valid_at = self._clock() if snapshot is None else snapshot.at
        topic_tag = None
        if topic is not None:
            if ref is None:
                raise InvalidTurn("topic: name a subject too; topics are tagged for each subject.")
            topic_tag = self._parts.tagger(ref, "topic", topic)
        with self.view(BeliefsView.name) as (connection, generation):
            rows = questions.held(
                connection,
                generation,
                ref,
                valid_at=valid_at,
                as_of=None if snapshot is None else snapshot.position,
                type_=type_,
                topic_tag=topic_tag,
                min_confidence=min_confidence,
                min_importance=min_importance,
                quarantined=quarantined,
            )
            evidence = self._evidence(connection, generation, rows, snapshot)
        return self._reader.beliefs(rows, evidence)

    def _evidence(
        self,
        connection: Connection,
        generation: int,
        rows: Sequence[Version],
        snapshot: Snapshot | None = None,
    ) -> dict[str, list[int]]:
        return questions.evidence_of(
            connection,
            generation,
            list(dict.fromkeys(row.memory_id for row in rows)),
            None if snapshot is None else snapshot.position,
        )

    def history(self, given: str, *, only_memory: bool = False) -> list[BeliefAnswer]:
        key = self.memory_id(given) if only_memory else self.belief_id(given)
        with self.view(BeliefsView.name) as (connection, generation):
            ask = questions.versions_of_memory if only_memory else questions.versions_of
            rows = ask(connection, generation, key)
            evidence = self._evidence(connection, generation, rows)
        return self._reader.beliefs(rows, evidence)

    def standing(self, subject_ref: str) -> list[Version]:
        with self.view(BeliefsView.name) as (connection, generation):
            return questions.standing(connection, generation, subject_ref)

    # Decisions

    def decisions(
        self,
        subject: str | None,
        *,
        outcome: str | None,
        reason: str | None,
        turn_id: str | None,
        waits: bool | None,
        limit: int | None,
    ) -> list[DecisionAnswer]:
        if outcome is not None and outcome not in set(Outcome):
            raise InvalidTurn(f"outcome: {outcome!r} is none of {', '.join(Outcome)}.")
        ref = None
        if subject is not None:
            try:
                ref = self._log.subject(subject)
            except NotPermitted:
                return []
            if ref is None:
                return []
        with self.view(DecisionsView.name) as (connection, generation):
            rows = questions.decided(
                connection,
                generation,
                subject_ref=ref,
                outcome=outcome,
                reason=reason,
                turn_id=turn_id,
                waits=waits,
                limit=limit,
            )
        return self._reader.decisions(rows)

    def decision(self, decision_id: str) -> DecisionAnswer:
        with self.view(DecisionsView.name) as (connection, generation):
            rows = questions.decided(connection, generation, ids=[decision_id])
        if not rows:
            raise UnknownMemory(f"There is no decision {decision_id}.")
        return self._reader.decisions(rows)[0]

    def explain(self, given: str) -> Explanation:
        memory_id = self.memory_id(given)
        history = self.history(memory_id)
        own = [version for version in history if version.memory_id == memory_id]
        if not own:
            raise UnknownMemory(f"The words of memory {memory_id} are erased.")
        last = own[-1]
        decided_by = self._log.find(last.decision_id)
        if decided_by is None:
            raise LogCorrupted(f"The decision {last.decision_id} is not in the log.")
        who = self._log.vault.principal_name(decided_by.actor)
        decision, kind = decided_by, "gate"
        if isinstance(decided_by.event, ReviewDecided):
            kind = f"review by {who}"
            decision = self._log.find(decided_by.event.decision) or decided_by
        elif isinstance(decided_by.event, ConflictResolved):
            kind = f"resolution by {who}"
        decided = decision.event if isinstance(decision.event, GateDecided) else None
        with self.view(BeliefsView.name) as (connection, generation):
            positions = questions.evidence_of(connection, generation, [memory_id])[memory_id]
        events = self._log.read_at(positions)
        written, confirmations = events[positions[0]], [events[at] for at in positions[1:]]
        turn_id = written.event.memory.turn if isinstance(written.event, Written) else ""
        proposed, extractor = self._origin(turn_id, decided)
        now = to_datetime(self._clock())
        return Explanation(
            memory=last,
            holds=last.recorded_to is None
            and not last.quarantined
            and (last.valid_to is None or last.valid_to > now)
            and (last.expires_at is None or last.expires_at > now),
            decision=self.decision(decision.event_id) if decided else None,
            decided_by=kind,
            scores={}
            if decided is None
            else {
                name: score(getattr(decided, name))
                for name in ("s", "r", "e", "t", "base", "c", "importance")
            },
            trace=decided.trace if decided else (),
            candidate=None if proposed is None else proposed.candidate.model_dump(mode="json"),
            turn=self._turn(turn_id, [span for each in [written] for span in _spans(each)]),
            policy=self._policy(decided),
            extractor=extractor,
            confirmed_by=tuple(each for event in confirmations for each in evidence_in(event)),
            history=tuple(history),
        )

    def _origin(
        self, turn_id: str, decided: GateDecided | None
    ) -> tuple[CandidateProposed | None, str | None]:
        proposed, extractor = None, None
        for each in self._log.read_stream(turn_id):
            if isinstance(each.event, ExtractionCompleted):
                extractor = each.event.extractor
            if isinstance(each.event, CandidateProposed) and (
                decided is not None and each.version == decided.candidate_version
            ):
                proposed = each.event
        return proposed, extractor

    def _turn(self, turn_id: str, spans: Sequence[tuple[int, int]]) -> dict[str, Any] | None:
        recorded, said = self._reader.turn(turn_id)
        if said is None:
            return None
        marked, end = "", 0
        for start, stop in sorted(set(spans)):
            if start >= end:
                marked += said.content[end:start] + "⟦" + said.content[start:stop] + "⟧"
                end = stop
        said_at = recorded.recorded_at if said.said_at is None else said.said_at
        return {
            "turn_id": turn_id,
            "position": recorded.position,
            "role": said.role,
            "session": said.session,
            "said_at": iso(said_at),
            "content": said.content,
            "marked": marked + said.content[end:],
        }

    def _policy(self, decided: GateDecided | None) -> dict[str, str]:
        if decided is None:
            return {}
        rules = self._parts.rulebook.at(decided.policy_version)
        return {
            "name": rules.policy.name,
            "digest": rules.policy_digest,
            "registry": rules.registry_digest,
        }

    # Loops and conflicts

    def loops(self, subject: str | None, window_days: int | None) -> list[LoopAnswer]:
        policy = self._parts.rulebook.refreshed().policy
        window = (window_days or policy.loops.window_days) * DAY
        ref = None
        if subject is not None:
            ref = self._log.subject(subject)
            if ref is None:
                return []
        with self.view(ChurnView.name) as (connection, generation):
            changes = questions.changes(connection, generation, subject_ref=ref)
        by_belief: dict[str, list[questions.ChurnRow]] = {}
        for change in changes:
            by_belief.setdefault(change.belief, []).append(change)
        answers = []
        for belief, rows in by_belief.items():
            times = sorted(row.said_at for row in rows if row.said_at is not None)
            needed = policy.loops.supersessions
            looping = any(
                times[i + needed - 1] - times[i] <= window for i in range(len(times) - needed + 1)
            )
            contested = _contested(rows)
            if looping or contested:
                answers.append(self._loop(belief, rows, contested))
        return answers

    def _loop(
        self, belief: str, rows: Sequence[questions.ChurnRow], contested: bool
    ) -> LoopAnswer:
        history = self.history(belief)
        first_seen: dict[str, BeliefAnswer] = {}
        for version in history:
            first_seen.setdefault(version.memory_id, version)
        values = [
            {
                "memory_id": version.memory_id,
                "value": version.value,
                "negated": version.negated,
                "context": version.context,
                "text": version.text,
                "said_at": version.evidence[0].said_at.isoformat() if version.evidence else None,
                "turn_id": version.evidence[0].turn_id if version.evidence else None,
            }
            for version in first_seen.values()
        ]
        return LoopAnswer(
            belief_id=belief,
            subject=self._reader.name(rows[0].subject_ref),
            attribute=history[0].attribute if history else "",
            supersessions=sum(row.happened == "superseded" for row in rows),
            contested=contested,
            values=tuple(values),
        )

    def conflicts(self, subject: str | None) -> list[ConflictAnswer]:
        waiting = self.decisions(
            subject, outcome="escalate", reason=None, turn_id=None, waits=True, limit=None
        )
        by_belief: dict[str, list[DecisionAnswer]] = {}
        for decision in waiting:
            by_belief.setdefault(decision.belief_id, []).append(decision)
        answers = []
        now = to_datetime(self._clock())
        for belief, escalated in by_belief.items():
            history = self.history(belief)
            standing = [
                version
                for version in history
                if version.recorded_to is None
                and not version.quarantined
                and (version.valid_to is None or version.valid_to > now)
            ]
            answers.append(
                ConflictAnswer(
                    belief_id=belief,
                    subject=escalated[0].subject,
                    attribute=history[0].attribute if history else "",
                    reason=escalated[-1].reason,
                    standing=tuple(standing),
                    escalated=tuple(escalated),
                )
            )
        return answers

    def escalated(self, belief: str) -> tuple[str, dict[str, Memory]]:
        """The subject of a belief, and what its escalated decisions proposed."""
        with self.view(BeliefsView.name) as (connection, generation):
            rows = questions.versions_of(connection, generation, belief)
        if not rows:
            raise UnknownMemory(f"There is no belief {belief}.")
        with self.view(DecisionsView.name) as (connection, generation):
            waiting = [
                row
                for row in questions.decided(
                    connection, generation, subject_ref=rows[0].subject_ref, waits=True
                )
                if row.belief == belief
            ]
        candidates = digests.candidates_of(waiting, self._log)
        offered = {}
        for row in waiting:
            proposed = candidates.get((row.turn_id, row.candidate_version))
            if proposed is not None:
                recorded, said = self._reader.turn(row.turn_id)
                if said is None:
                    continue
                said_at = recorded.recorded_at if said.said_at is None else said.said_at
                offered[row.decision_id] = _words(
                    proposed.candidate, row.turn_id, said_at, said.session, said.agent
                )
        return rows[0].subject_ref, offered

    # Running

    def pending_count(self) -> int:
        with self.view(TurnsView.name) as (connection, generation):
            return questions.turn_counts(connection, generation).get("pending", 0)

    def forget(self, subject_ref: str) -> None:
        """Let the views drop an erased subject at once, and their files the old pages."""
        self._projector.catch_up()
        self._projector.scrub()

    def rebuild(
        self,
        view: str | None,
        *,
        verify: bool,
        progress: Callable[[str, int, int], None] | None,
    ) -> list[RebuildAnswer]:
        names = list(self._projector.views) if view is None else [view]
        for name in names:
            if name not in self._projector.views:
                raise InvalidTurn(
                    f"There is no view {name!r}; there are: {', '.join(self._projector.views)}."
                )
        if verify:
            self._projector.catch_up()
        return [self._rebuild(name, verify, progress) for name in names]

    def _rebuild(
        self,
        name: str,
        verify: bool,
        progress: Callable[[str, int, int], None] | None,
    ) -> RebuildAnswer:
        def report(done: int, total: int) -> None:
            if progress:
                progress(name, done, total)

        projector = self._projector
        with projector.reading() as connection:
            before = projector.states(connection)[name]
        upto = before.position if verify and before.stopped_at is None else None
        generation, position = projector.shadow(name, upto, report)
        if not verify:
            projector.use(name, generation, position)
            return RebuildAnswer(name=name, position=position)
        view = projector.views[name]
        old, new = view.tables(before.generation), view.tables(generation)
        with projector.reading() as connection:
            digest = digests.digest(connection, new)
            content = digests.content_digest(connection, name, new[0], self._log)
            same = before.stopped_at is None and digest == digests.digest(connection, old)
            difference = None
            if not same:
                difference = before.reason or digests.first_difference(connection, old, new)
        projector.use(name, generation, position)
        return RebuildAnswer(
            name=name,
            position=position,
            digest=digest,
            content_digest=content,
            same=same,
            first_difference=difference,
        )

    def status(self, *, digests: bool) -> StatusAnswer:
        self._projector.catch_up()
        head = self._log.head()
        rules = self._parts.rulebook.refreshed()
        with self._projector.reading() as connection:
            states = self._projector.states(connection)
            turns = questions.turn_counts(connection, states[TurnsView.name].generation)
            generation = states[DecisionsView.name].generation
            outcomes = questions.counts(connection, generation, "outcome")
            waiting = len(questions.decided(connection, generation, waits=True))
        return StatusAnswer(
            ledger="",
            position=head.position,
            recorded_at=to_datetime(head.recorded_at) if head.position else None,
            subjects=len(self._log.vault.subjects(self._log.tenant)),
            pending_turns=turns.get("pending", 0),
            parked_turns=turns.get("parked", 0),
            turns=turns,
            outcomes=outcomes,
            waiting=waiting,
            policy={"name": rules.policy.name, "digest": rules.policy_digest},
            extractor="",
            master_key=self._parts.master_key.id,
            views=tuple(self._view_answer(name, head.position, digests) for name in states),
        )

    def _view_answer(self, name: str, head: int, wanted: bool) -> ViewAnswer:
        projector = self._projector
        with projector.reading() as connection:
            state = projector.states(connection)[name]
            digest, content = projector.known_digests(connection, name)
            if wanted and digest is None:
                its = projector.views[name].tables(state.generation)
                digest = digests.digest(connection, its)
                content = digests.content_digest(connection, name, its[0], self._log)
        if wanted and digest is not None and content is not None:
            projector.remember_digests(name, state.position, digest, content)
        return ViewAnswer(
            name=name,
            position=state.position,
            lag=head - state.position,
            digest=digest,
            content_digest=content,
            stopped_at=state.stopped_at,
            reason=state.reason,
        )


def _only(found: Sequence[str], what: str, given: str) -> str:
    if not found:
        raise UnknownMemory(f"There is no {what} {given!r}.")
    if len(found) > 1:
        raise UnknownMemory(f"More than one {what} begins with {given!r}; write more of it.")
    return found[0]


def _spans(recorded: Recorded) -> list[tuple[int, int]]:
    event = recorded.event
    if not isinstance(event, Written):
        return []
    return [(span.start, span.end) for span in event.memory.spans if span.turn is None]


def _contested(rows: Sequence[questions.ChurnRow]) -> bool:
    state = False
    for row in rows:
        if row.happened in {"contested", "resolved"}:
            state = row.happened == "contested"
    return state


def _words(
    candidate: Candidate, turn_id: str, said_at: Micros, session: str | None, agent: str | None
) -> Memory:
    """What an escalated candidate would say as a memory."""
    return Memory(
        claim=candidate.claim,
        entity=candidate.entity,
        attribute=candidate.attribute,
        value=candidate.value,
        negated=candidate.negated,
        context=candidate.context,
        topic=candidate.topic,
        category=candidate.category,
        session=session,
        agent=agent,
        said_at=said_at,
        said_at_stated=False,
        valid_from=said_at,
        when=candidate.when,
        turn=turn_id,
        spans=offsets(candidate.spans),
        participants=candidate.participants,
    )

