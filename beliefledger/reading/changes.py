"""What changed in belief between two moments, and the event that changed it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime

from beliefledger.answers import BeliefAnswer, DecisionAnswer
from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.erasures import spread
from beliefledger.ledger.errors import InvalidQuery
from beliefledger.ledger.events.belief import (
    NAMES,
    WRITING,
    BeliefContested,
    ConflictEscalated,
    ConflictResolved,
    ConsolidationUndone,
    MemoriesConsolidated,
    MemoryConfirmed,
    MemoryExpired,
    MemoryMovedIn,
    MemoryMovedOut,
    MemoryQuarantined,
    MemoryRevoked,
    MemorySuperseded,
)
from beliefledger.ledger.events.subject import ContentErased, SubjectErased
from beliefledger.ledger.times import Micros, to_datetime
from beliefledger.opening.core import Core
from beliefledger.projections import questions
from beliefledger.projections.beliefs import BeliefsView, Version
from beliefledger.projections.decisions import DecisionsView
from beliefledger.projections.questions import MemoryFilter
from beliefledger.reading.fates import CAUSES
from beliefledger.reading.queries import Queries, Snapshot
from beliefledger.reading.words import score
from beliefledger.times import Moment

_PLAIN = {
    MemoryQuarantined.NAME: "quarantined",
    MemoryConfirmed.NAME: "confirmed",
    MemoryExpired.NAME: "expired",
    ConsolidationUndone.NAME: "unmerged",
    BeliefContested.NAME: "contested",
    ConflictResolved.NAME: "resolved",
}
"""What the events are called that do one thing alone."""
_ALL = MemoryFilter(quarantined=True)


class MomentAnswer(Frozen):
    """A moment of the log: the last position that was recorded by then, and the time."""

    position: int
    at: datetime


class EventAnswer(Frozen):
    """The event that changed something, and who did it."""

    type: str
    position: int
    event_id: str
    actor: str
    recorded_at: datetime


class ChangeStep(Frozen):
    """One change of one memory.

    `what` is one of `added`, `quarantined`, `promoted`, `confirmed`, `superseded`, `corrected`,
    `contested`, `escalated`, `resolved`, `revoked`, `consent_withdrawn`, `retention`, `expired`,
    `ended`, `began`, `merged`, `unmerged`, `restored`, `moved`, `erased`. What time alone did
    (`began`, `ended`, `expired`) has the event that said so before.
    """

    what: str
    on: datetime
    """When its event was recorded."""
    since: datetime | None
    """From when on it was so: of what time did, which its event said before or after."""
    event: EventAnswer
    decision_id: str | None
    reason: str | None
    """The reason code of the gate's decision, where the gate decided."""
    by: str | None
    """The memory that took its place, where one did."""
    confidence_before: float | None
    confidence_after: float | None


class MemoryChange(Frozen):
    """What happened to one memory. `before` and `after` are what was believed of it at the two
    moments, None where it was not believed, as while it is in quarantine. What is erased has no
    words.

    A statement that waits for a person has no `memory_id`, nor has the erasure of a whole person.
    """

    memory_id: str | None
    belief_id: str | None
    what: str
    """The last of its steps."""
    text: str | None
    erased: bool
    before: BeliefAnswer | None
    after: BeliefAnswer | None
    steps: tuple[ChangeStep, ...]


class DiffAnswer(Frozen):
    """What changed after `start`, up to and with `end`, in order of the first change of each."""

    subject: str
    start: MomentAnswer
    end: MomentAnswer
    changes: tuple[MemoryChange, ...]


@dataclass(slots=True)
class _Step:
    """A change, before its event and its decision are told."""

    what: str
    event: Recorded
    since: Micros | None = None
    by: str | None = None
    before: int | None = None
    after: int | None = None


@dataclass(slots=True)
class _Changed:
    """What is known of one memory's changes. `version` is the last row that has its words."""

    belief: str | None = None
    version: Version | None = None
    steps: list[_Step] = field(default_factory=list)


class ChangeQueries:
    """Reads what changed out of the log and the view of beliefs."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries

    def diff(
        self, subject: str, begin: Moment | Snapshot, until: Moment | Snapshot | None
    ) -> DiffAnswer:
        """Raises `InvalidQuery` where the end comes before the start, `UnknownMemory` for somebody
        nobody knows."""
        start, end = self._queries.snapshot(begin, "start"), self._queries.snapshot(until, "end")
        if start is None:
            raise InvalidQuery("start: give a time or a position.")
        if end is None:
            end = Snapshot(self._log.head().position, self._queries.now())
            if end.at < start.at:
                raise InvalidQuery("start lies ahead: nothing has changed since then yet.")
        if (end.position, end.at) < (start.position, start.at):
            raise InvalidQuery("end comes before start; name the earlier moment first.")
        forgotten = self._log.vault.erased(self._log.tenant, subject)
        changes = [change for ref in forgotten for change in self._erased_people(ref, start, end)]
        ref = self._queries.known_or_none(subject)
        if ref is None and not forgotten:
            ref = self._core.known_subject(subject)
        if ref is not None:
            changes += self._changes(ref, start, end)
        return DiffAnswer(
            subject=subject,
            start=MomentAnswer(position=start.position, at=to_datetime(start.at)),
            end=MomentAnswer(position=end.position, at=to_datetime(end.at)),
            changes=tuple(changes),
        )

    def _erased_people(self, ref: str, start: Snapshot, end: Snapshot) -> list[MemoryChange]:
        """The erasure of a whole person. Nothing else is told of them: it would name nobody."""
        done = self._log.of_types([SubjectErased.NAME], ref, start.position)
        return [
            _wordless(None, _told(_Step("erased", each), self._actor(each), {}))
            for each in done
            if each.position <= end.position
        ]

    def _changes(self, ref: str, start: Snapshot, end: Snapshot) -> list[MemoryChange]:
        wanted = NAMES | {ContentErased.NAME}
        events = [
            each
            for each in self._log.of_subject(ref, end.position, start.position)
            if each.type in wanted
        ]
        with self._queries.view(BeliefsView.name) as (connection, generation):
            rows = questions.touched(connection, generation, ref, start.position, end.position)
            held = [
                {
                    row.memory_id: row
                    for row in questions.held(
                        connection, generation, ref,
                        valid_at=at.at, as_of=at.position, which=_ALL,
                    )
                }
                for at in (start, end)
            ]  # fmt: skip
            named = [memory for each in events for memory in _named(each)]
            for each in events:
                if each.type == ContentErased.NAME:
                    named += self._lost_with(each)
            there = questions.versions_of_memories(
                connection, generation, [*named, *held[0], *held[1]]
            )
            changed = self._stepwise(events, rows, there)
            self._in_time(changed, held, there, start, end)
            moved = [
                memory
                for memory in dict.fromkeys([*changed, *held[0], *held[1]])
                if memory is not None and _row(held[0], memory) != _row(held[1], memory)
            ]
            before, after = (
                {
                    each.memory_id: each
                    for each in self._queries.told_versions(
                        connection,
                        generation,
                        [
                            known[memory]
                            for memory in moved
                            if memory in known and not known[memory].quarantined
                        ],
                        at,
                    )
                }
                for known, at in zip(held, (start, end), strict=True)
            )
            last = [each.version for each in changed.values() if each.version is not None]
            texts = {
                each.memory_id: each.text
                for each in self._queries.told_versions(connection, generation, last, end)
            }
        decisions = self._decisions(changed.values())
        answers = []
        for memory, change in changed.items():
            steps = tuple(_told(step, self._actor(step.event), decisions) for step in change.steps)
            text = texts.get(memory) if memory is not None else None
            answers.append(
                MemoryChange(
                    memory_id=memory,
                    belief_id=change.belief,
                    what=steps[-1].what,
                    text=text,
                    erased=text is None,
                    before=before.get(memory) if memory is not None else None,
                    after=after.get(memory) if memory is not None else None,
                    steps=steps,
                )
            )
        answers += self._escalated(events)
        return sorted(answers, key=lambda each: (each.steps[0].on, each.steps[0].event.position))

    def _lost_with(self, erasure: Recorded) -> list[str]:
        """The memories whose words an erasure took."""
        recorded = self._log.read_at(spread(erasure.facts["positions"]))
        return [each.facts["memory_id"] for each in recorded.values() if each.type in WRITING]

    def _stepwise(
        self,
        events: Sequence[Recorded],
        rows: Sequence[Version],
        there: Mapping[str, Sequence[Version]],
    ) -> dict[str, _Changed]:
        """What each event did to each memory, by memory. `there` has those with words left."""
        opened: dict[int, dict[str, Version]] = {}
        closed: dict[int, dict[str, Version]] = {}
        for row in rows:
            opened.setdefault(row.opened, {})[row.memory_id] = row
            if row.closed is not None:
                closed.setdefault(row.closed, {})[row.memory_id] = row
        changed: dict[str, _Changed] = {}
        for each in events:
            if each.type == ContentErased.NAME:
                for memory in dict.fromkeys(self._lost_with(each)):
                    if memory not in there:
                        change = changed.setdefault(memory, _Changed())
                        change.steps.append(_Step("erased", each))
                continue
            before, after = closed.get(each.position, {}), opened.get(each.position, {})
            ids = list(dict.fromkeys([*after, *before]))
            # Those whose words are erased have no rows.
            ids += [own for own in _named(each) if own not in there]
            for memory in ids:
                what = _what(each, memory)
                change = changed.setdefault(memory, _Changed())
                old, new = before.get(memory), after.get(memory)
                if each.type == MemoryMovedIn.NAME and change.steps[-1:]:
                    previous = change.steps[-1]
                    if previous.what == what == "moved":  # both halves of one move
                        previous.after = None if new is None else new.confidence
                        change.belief, change.version = each.stream, new
                        continue
                change.belief = each.stream
                change.version = new or old or change.version
                change.steps.append(
                    _Step(
                        what,
                        each,
                        by=_taken_by(each, memory),
                        before=None if old is None else old.confidence,
                        after=None if new is None else new.confidence,
                    )
                )
        return changed

    def _in_time(
        self,
        changed: dict[str, _Changed],
        held: Sequence[Mapping[str, Version]],
        there: Mapping[str, Sequence[Version]],
        start: Snapshot,
        end: Snapshot,
    ) -> None:
        """Add what time alone did: a memory began or was over, without an event at that moment."""
        found: list[tuple[str, str, Micros, Version]] = []
        for memory in dict.fromkeys([*changed, *held[0], *held[1]]):
            then = [
                row
                for row in there.get(memory, ())
                if row.opened <= end.position and (row.closed is None or row.closed > end.position)
            ]
            for row in then[-1:]:
                if start.at < row.valid_from <= end.at and row.opened <= start.position:
                    found.append((memory, "began", row.valid_from, row))
                over = _over(row, end.at)
                if over is not None and over[1] > start.at and not _known(changed, memory, row):
                    found.append((memory, *over, row))
        said = self._log.read_at([row.opened for *_, row in found])
        for memory, what, since, row in found:
            change = changed.setdefault(memory, _Changed(row.belief, row))
            by = row.superseded_by if what == "ended" else None
            change.steps.append(_Step(what, said[row.opened], since, by))

    def _actor(self, event: Recorded) -> str:
        return self._log.vault.principal_name(event.actor)

    def _decisions(self, changed: Iterable[_Changed]) -> dict[str, str]:
        """The reason codes of the decisions that the steps name."""
        ids = {
            decision
            for change in changed
            for step in change.steps
            if (decision := _decision_of(step.event)) is not None
        }
        with self._queries.view(DecisionsView.name) as (connection, generation):
            rows = questions.decisions_with(connection, generation, sorted(ids))
        return {row.decision_id: row.reason for row in rows}

    def _escalated(self, events: Sequence[Recorded]) -> list[MemoryChange]:
        """Statements that were put before a person."""
        found = {
            each.facts["decision"]: each for each in events if each.type == ConflictEscalated.NAME
        }
        with self._queries.view(DecisionsView.name) as (connection, generation):
            rows = questions.decisions_with(connection, generation, list(found))
        claims: dict[str, DecisionAnswer] = {
            each.decision_id: each for each in self._queries.told(rows)
        }
        reasons = {decision: each.reason for decision, each in claims.items()}
        answers = []
        for decision, event in found.items():
            claim = claims[decision].claim if decision in claims else None
            step = _told(_Step("escalated", event), self._actor(event), reasons)
            answers.append(
                _wordless(event.stream, step).model_copy(
                    update={"text": claim, "erased": claim is None}
                )
            )
        return answers


def _row(known: Mapping[str, Version], memory: str) -> int | None:
    return known[memory].row_id if memory in known else None


def _named(event: Recorded) -> list[str]:
    """The memories that an envelope names as written or changed."""
    facts = event.facts
    one = (facts.get("memory_id"), facts.get("supersedes"))
    many = (*one, *facts.get("originals", ()), *facts.get("closes", ()))
    return list(dict.fromkeys(memory for memory in many if memory is not None))


def _what(event: Recorded, memory: str) -> str:
    """What an event did to a memory, as its envelope tells. Pure."""
    facts = event.facts
    if event.type in _PLAIN:
        return _PLAIN[event.type]
    if event.type == MemoryRevoked.NAME:
        return CAUSES[facts["cause"]]
    if event.type == MemoryMovedOut.NAME:
        return "moved" if facts["into"] is None else "merged"
    if event.type == MemoryMovedIn.NAME:
        return "restored" if facts["cause"] == "undone" else "moved"
    if event.type == MemoriesConsolidated.NAME and memory in facts["originals"]:
        return "merged"
    if event.type == MemorySuperseded.NAME and memory == facts["supersedes"]:
        return "corrected" if facts["kind"] == "correction" else "superseded"
    if memory != facts["memory_id"]:
        return "ended"  # it gave way to what was written
    return "promoted" if facts.get("promotes") == memory else "added"


def _taken_by(event: Recorded, memory: str) -> str | None:
    """The memory that took the place of one."""
    facts = event.facts
    if event.type == MemoryMovedOut.NAME:
        into: str | None = facts["into"]
        return into
    if event.type == ConflictResolved.NAME:
        return facts["memories"][0] if facts["memories"] else None
    if event.type in WRITING and memory != facts["memory_id"]:
        taken: str = facts["memory_id"]
        return taken
    return None


def _over(row: Version, at: Micros) -> tuple[str, Micros] | None:
    """How and when a row was over by a moment, if it was."""
    ends = [
        (end, what)
        for end, what in ((row.valid_to, "ended"), (row.expires_at, "expired"))
        if end is not None and end <= at
    ]
    return (min(ends)[1], min(ends)[0]) if ends else None


def _known(changed: Mapping[str, _Changed], memory: str, row: Version) -> bool:
    """Whether the event that ended the row is among the steps already."""
    return memory in changed and any(
        step.event.position == row.opened
        and step.what in {"superseded", "expired", "resolved", "ended"}
        for step in changed[memory].steps
    )


def _decision_of(event: Recorded) -> str | None:
    """The event id of the decision, review or act that an event follows from."""
    found: str | None = event.facts.get("moved_by") or event.facts.get("decision")
    return found


def _told(step: _Step, actor: str, reasons: Mapping[str, str]) -> ChangeStep:
    event = step.event
    decision = _decision_of(event)
    return ChangeStep(
        what=step.what,
        on=to_datetime(event.recorded_at),
        since=None if step.since is None else to_datetime(step.since),
        event=EventAnswer(
            type=event.type,
            position=event.position,
            event_id=event.event_id,
            actor=actor,
            recorded_at=to_datetime(event.recorded_at),
        ),
        decision_id=decision,
        reason=None if decision is None else reasons.get(decision),
        by=step.by,
        confidence_before=None if step.before is None else score(step.before),
        confidence_after=None if step.after is None else score(step.after),
    )


def _wordless(belief: str | None, step: ChangeStep) -> MemoryChange:
    return MemoryChange(
        memory_id=None,
        belief_id=belief,
        what=step.what,
        text=None,
        erased=True,
        before=None,
        after=None,
        steps=(step,),
    )
