"""The questions of the front door: each lets its view catch up, then reads rows and their words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from beliefledger import units
from beliefledger.answers import (
    Became,
    BeliefAnswer,
    DecisionAnswer,
    Explanation,
)
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import InvalidQuery, LogCorrupted, NotPermitted, UnknownMemory
from beliefledger.ledger.events.belief import ConflictResolved, MemoriesConsolidated, Written
from beliefledger.ledger.events.turn import (
    CandidateProposed,
    ExtractionCompleted,
    GateDecided,
    ReviewDecided,
)
from beliefledger.ledger.streams import policy_stream, subject_stream
from beliefledger.ledger.times import Micros, iso, to_datetime
from beliefledger.opening.core import Core
from beliefledger.projections import questions, tables
from beliefledger.projections.beliefs import BeliefsView, Version
from beliefledger.projections.decisions import DecisionsView
from beliefledger.projections.questions import DecisionFilter, DecisionRow
from beliefledger.projections.view_tables import ViewState
from beliefledger.reading.fates import Fates
from beliefledger.reading.replicas import ask_about
from beliefledger.reading.sight import Sight
from beliefledger.reading.words import Reader, evidence_in, score, turn_page
from beliefledger.times import Moment, micros

if TYPE_CHECKING:
    from beliefledger.gate.gate import Rehearsed, Stored
    from beliefledger.gate.queue import Processed
    from beliefledger.gate.turns import Receipt

_WHOLE = 32
"""So many characters an id has; people write the first of them."""
_OPEN = (None, None, None)
"""Of a row that ends neither in the log nor in its own time."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The ledger as it was at a position. `at` is the time asked about, or when it was recorded."""

    position: int
    at: Micros

    @property
    def recorded_at(self) -> str:
        return iso(self.at)


class Queries:
    """Reads answers out of the views."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._log = core.log
        self._projector = core.projector
        self._clock = core.clock
        self._reader = Reader(core.log)
        self._fates = Fates(core.log)

    @contextmanager
    def view(self, name: str) -> Iterator[tuple[Connection, int]]:
        """As `views`, of one."""
        with self.views(name) as (connection, (generation,)):
            yield connection, generation

    @contextmanager
    def views(self, *names: str) -> Iterator[tuple[Connection, tuple[int, ...]]]:
        """A consistent read of views, caught up to the head; with their tables' generations.

        Raises `LedgerError` for a view that stopped, saying where and why.
        """
        with self.states(*names) as (connection, states):
            yield connection, tuple(state.generation for state in states)

    @contextmanager
    def states(self, *names: str) -> Iterator[tuple[Connection, tuple[ViewState, ...]]]:
        """As `views`, with how each view is."""
        with self._projector.caught_up(*names) as found:
            yield found

    # Time

    def at_position(self, position: int, name: str = "as_of") -> Snapshot:
        ask_about(self._log, position)
        head = self._log.head().position
        if not 0 <= position <= head:
            raise InvalidQuery(f"{name}: position {position} is not in the log (1 to {head}).")
        if position == 0:
            return Snapshot(0, 0)
        last = self._log.last(position)  # the event there may be another tenant's
        return Snapshot(position, 0 if last is None else last.recorded_at)

    def snapshot(self, as_of: Moment | Snapshot | None, name: str = "as_of") -> Snapshot | None:
        """The ledger as it was at a time or a position; None for now. `name` is the argument that
        an error is about."""
        if as_of is None or isinstance(as_of, Snapshot):
            ask_about(self._log, 0 if as_of is None else as_of.position)
            return as_of
        # A position is far below any time in microseconds since 1971.
        if isinstance(as_of, int) and not isinstance(as_of, bool) and as_of < 10**12:
            return self.at_position(as_of, name)
        return self.at_time(micros(as_of, name) or 0)

    def now(self) -> Micros:
        """The present; never before the last event, though a clock may go back a little."""
        return max(self._clock(), self._log.head().recorded_at)

    def known_or_none(self, subject: str) -> str | None:
        """A subject's reference; None for somebody nobody knows or who was erased."""
        try:
            return self._log.subject(subject)
        except NotPermitted:
            return None

    def began(self, subject: str | None) -> datetime | None:
        """When the first event (about a subject) was recorded; None where there is none."""
        stream: str | None = policy_stream(self._log.tenant)  # the first that every ledger has
        if subject is not None:
            ref = self.known_or_none(subject)
            stream = None if ref is None else subject_stream(ref)
        first = self._log.read_stream(stream, upto=1) if stream is not None else []
        return to_datetime(first[0].recorded_at) if first else None

    def at_time(self, at: Micros) -> Snapshot:
        position = self._log.position_at(at)
        ask_about(self._log, position)
        return Snapshot(position, at)

    # Ids

    def belief_id(self, given: str) -> str:
        """The belief of an id: a belief's or a memory's, or the first characters of one. A memory
        that moved is in the last belief that it was in."""
        with self.view(BeliefsView.name) as (connection, generation):
            return self._belief_id(connection, generation, given)

    def _belief_id(self, connection: Connection, generation: int, given: str) -> str:
        questions.check_id(given)
        table = tables.belief_versions(generation)
        if len(given) == _WHOLE:  # as programs have it
            versions = questions.versions_of_memory(connection, generation, given)
            if versions:
                return versions[-1].belief
        found = questions.starting_with(connection, table, "belief", given)
        if not found:
            memories = questions.starting_with(connection, table, "memory_id", given)
            found = list(
                dict.fromkeys(
                    questions.versions_of_memory(connection, generation, memory)[-1].belief
                    for memory in memories
                )
            )
        return only(found, "belief", given)

    def memory_id(self, given: str) -> str:
        with self.view(BeliefsView.name) as (connection, generation):
            return self._memory_id(connection, generation, given)

    def _memory_id(self, connection: Connection, generation: int, given: str) -> str:
        table = tables.belief_versions(generation)
        return only(questions.starting_with(connection, table, "memory_id", given), "memory", given)

    def decision_id(self, given: str) -> str:
        with self.view(DecisionsView.name) as (connection, generation):
            table = tables.decisions(generation)
            return only(
                questions.starting_with(connection, table, "decision_id", given), "decision", given
            )

    # Beliefs

    def told_versions(
        self,
        connection: Connection,
        generation: int,
        rows: Sequence[Version],
        snapshot: Snapshot | None,
    ) -> list[BeliefAnswer]:
        """Rows with their words, with the evidence of then, and with what became of them since."""
        evidence = self._evidence(connection, generation, rows, snapshot)
        against = questions.contradictions(
            connection, generation, rows, None if snapshot is None else snapshot.position
        )
        became = self.fates(connection, generation, rows, then=snapshot is not None)
        return self._reader.beliefs(rows, evidence, against, became)

    def fates(
        self, connection: Connection, generation: int, rows: Sequence[Version], *, then: bool
    ) -> dict[int, Became]:
        """By row id, what became of the rows that do not hold any more. `then` tells that they were
        read as of a past position, where their rows do not say that they are closed since."""
        now = self.now()
        if not then:
            rows = [
                row
                for row in rows
                if (row.closed, row.valid_to, row.expires_at) != _OPEN
                or self._fates.lapsing(row, now)
            ]
        return self._fates.of_versions(connection, generation, rows, now) if rows else {}

    def over(self, memory_ids: Sequence[str]) -> dict[str, Became]:
        """By memory, what became of those that do not hold now, recorded as over or not."""
        with self.view(BeliefsView.name) as (connection, generation):
            rows = questions.versions_of_memories(connection, generation, memory_ids)
            last = [versions[-1] for versions in rows.values()]
            found = self.fates(connection, generation, last, then=True)
        return {row.memory_id: found[row.row_id] for row in last if row.row_id in found}

    def _evidence(
        self,
        connection: Connection,
        generation: int,
        rows: Sequence[Version],
        snapshot: Snapshot | None,
    ) -> dict[int, list[int]]:
        """What each row rests on, as far as was known then."""
        found = questions.evidence_of(
            connection,
            generation,
            list(dict.fromkeys(row.memory_id for row in rows)),
            None if snapshot is None else snapshot.position,
        )
        return {row.row_id: found[row.memory_id] for row in rows}

    def history(
        self,
        given: str,
        *,
        only_memory: bool = False,
        snapshot: Snapshot | None = None,
        sight: Sight | None = None,
    ) -> list[BeliefAnswer]:
        """Every version (as far as was known then, and may be seen), each with the evidence that it
        added."""
        with self.view(BeliefsView.name) as (connection, generation):
            if only_memory:
                memory = self._memory_id(connection, generation, given)
                rows = questions.versions_of_memory(connection, generation, memory)
            else:
                rows = self._versions(connection, generation, given)
            if snapshot is not None:
                rows = questions.as_known(rows, snapshot.position)
            if sight is not None:
                rows = sight.of(rows)
            became = self.fates(connection, generation, rows, then=True)
        return self._reader.beliefs(
            rows,
            {row.row_id: [row.opened] for row in rows},
            questions.contradicted_within(rows),
            became,
        )

    def _versions(self, connection: Connection, generation: int, given: str) -> list[Version]:
        """Those of the belief of an id, as `belief_id` has it."""
        questions.check_id(given)
        if len(given) == _WHOLE:  # as programs have it: mostly a memory's
            rows = questions.versions_beside(connection, generation, given)
            if rows:
                return rows
        belief = self._belief_id(connection, generation, given)
        return questions.versions_of(connection, generation, belief)

    def standing(self, subject_ref: str) -> list[Version]:
        with self.view(BeliefsView.name) as (connection, generation):
            return questions.standing(connection, generation, subject_ref)

    # Decisions

    def about(
        self,
        subject: str | None = None,
        *,
        turn_id: str | None = None,
        outcome: str | None = None,
        waits: bool | None = None,
    ) -> list[DecisionAnswer]:
        """The decisions about a subject or a turn, with what became of them."""
        ref = None if subject is None else self.known_or_none(subject)
        if subject is not None and ref is None:
            return []
        which = DecisionFilter(ref, outcome, turn_id=turn_id, waits=waits)
        with self.view(DecisionsView.name) as (connection, generation):
            rows = questions.decided(connection, generation, which)
        return self.told(rows)

    def told(self, rows: Sequence[DecisionRow]) -> list[DecisionAnswer]:
        """These decisions with their words, and with what became of them."""
        return self._reader.decisions(rows, self._became(rows))

    def of_turn(self, turn_id: str) -> list[DecisionAnswer]:
        """What was just decided about a turn; nothing became of that yet."""
        with self.view(DecisionsView.name) as (connection, generation):
            which = questions.DecisionFilter(turn_id=turn_id)
            rows = questions.decided(connection, generation, which)
        return self._reader.decisions(rows)

    def just_decided(
        self, told: Sequence[Recorded], made: Processed, subjects: Mapping[str, str]
    ) -> list[DecisionAnswer]:
        """As `of_turn`, for a turn whose events were `told`. What was `made` in this call is
        answered from them: the views need not be caught up for it."""
        decided = (each.event_id for each in told if each.type == GateDecided.NAME)
        if all(decision in made.decisions for decision in decided):
            return self._reader.just_decided(told, made.waiting_at, subjects)
        return self.of_turn(told[0].stream)

    def _became(self, rows: Sequence[DecisionRow]) -> dict[int, Became]:
        """By position, what became of decisions, or of what they wrote."""
        with self.view(BeliefsView.name) as (connection, generation):
            return self._fates.of_decisions(connection, generation, rows, self.now())

    def decision(self, decision_id: str) -> DecisionAnswer:
        with self.view(DecisionsView.name) as (connection, generation):
            rows = questions.decisions_with(connection, generation, [decision_id])
        if not rows:
            raise UnknownMemory(f"There is no decision {decision_id}.")
        return self._reader.decisions(rows, self._became(rows))[0]

    def just_stored(
        self, stored: Sequence[Stored], subjects: Mapping[str, str]
    ) -> dict[str, DecisionAnswer]:
        """What was decided about memories that were just stored, by its id: from what was written,
        which need not be read again. `subjects` says who they are, by their references."""
        told = chain.from_iterable(each.told for each in stored)
        waiting_at = {each.decision or "": each.waits_at for each in stored if each.waits_at}
        answers = self._reader.just_decided([*told], waiting_at, subjects)
        return {each.decision_id: each for each in answers}

    def rehearsed(self, receipt: Receipt, made: Sequence[Rehearsed]) -> list[DecisionAnswer]:
        return self._reader.rehearsed(receipt, made)

    def explain(self, given: str, snapshot: Snapshot | None = None) -> Explanation:
        memory_id = self.memory_id(given)
        known = None if snapshot is None else snapshot.position
        with self.view(BeliefsView.name) as (connection, generation):
            positions = questions.evidence_of(connection, generation, [memory_id], known)
        if snapshot is not None and not positions.get(memory_id):
            raise UnknownMemory(
                f"Memory {memory_id} was not there yet at position {snapshot.position:,}."
            )
        history = self.history(memory_id, snapshot=snapshot)
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
        originals: tuple[str, ...] = ()
        if isinstance(decided_by.event, MemoriesConsolidated):
            kind = f"consolidation by {who}, {decided_by.event.merger}"
            originals = decided_by.event.originals
        decided = decision.event if isinstance(decision.event, GateDecided) else None
        events = self._log.read_at(positions[memory_id])
        written, *confirmations = [events[at] for at in positions[memory_id]]
        # A promoted memory was written twice; the decision is about the later words.
        again = [each for each in confirmations if isinstance(each.event, Written)]
        written = again[-1] if again else written
        turn_id = written.event.memory.turn if isinstance(written.event, Written) else ""
        proposed, extractor = self._origin(turn_id, decided)
        if decided and proposed and proposed.choices and proposed.choices.changes:
            kind = f"change by {who}"
        turn = turn_page(*self._reader.turn(turn_id), _spans(written))
        where = {"decision": decided_by.position, "admission": written.position}
        now = to_datetime(self.now() if snapshot is None else snapshot.at)
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
            candidate=None
            if proposed is None
            else units.told(Candidate, proposed.candidate.model_dump(mode="json")),
            turn=turn,
            policy=self._policy(decided),
            extractor=extractor,
            confirmed_by=tuple(each for event in confirmations for each in evidence_in(event)),
            history=tuple(history),
            originals=tuple(
                version
                for each in originals
                for version in self.history(each, only_memory=True)[-1:]
            ),
            positions=where if turn is None else {"turn": turn["position"], **where},
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

    def _policy(self, decided: GateDecided | None) -> dict[str, str]:
        if decided is None:
            return {}
        rules = self._core.rulebook.at(decided.policy_version)
        return {
            "name": rules.policy.name,
            "digest": rules.policy_digest,
            "registry": rules.registry_digest,
        }


def only(found: Sequence[str], what: str, given: str) -> str:
    """The one id that was meant. Raises `UnknownMemory` for none, and for more than one."""
    if not found:
        raise UnknownMemory(f"There is no {what} {given!r}.")
    if len(found) > 1:
        raise UnknownMemory(f"More than one {what} begins with {given!r}; write more of it.")
    return found[0]


def _spans(recorded: Recorded) -> list[tuple[int, int]]:
    event = recorded.event
    if not isinstance(event, Written):
        return []
    here = {None, event.memory.turn}
    return [(span.start, span.end) for span in event.memory.spans if span.turn in here]
