"""What the log holds about one person, up to a position, part by part. Nothing is gathered that
grows with what was said: each part is read while it is written out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import islice
from typing import TypeVar

from beliefledger import units
from beliefledger.exports.event_units import in_units
from beliefledger.exports.person import (
    Exported,
    ExportedConsent,
    ExportedDecision,
    ExportedErasure,
    ExportedEvent,
    ExportedHold,
    ExportedMemory,
    ExportedRecall,
    ExportedTurn,
    ExportedVersion,
    ExportedWithdrawal,
    Handed,
    Person,
    Recipient,
    Withheld,
)
from beliefledger.exports.withheld import ACTORS, HOLD_REASONS, withheld
from beliefledger.gate.consent import folded
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.erasures import erasures
from beliefledger.ledger.errors import LogCorrupted, NotPermitted
from beliefledger.ledger.events.belief import Written
from beliefledger.ledger.events.ops import LedgerExported
from beliefledger.ledger.events.recall import MemoriesRecalled, SearchQuery
from beliefledger.ledger.events.subject import (
    ConsentGranted,
    ConsentWithdrawn,
    ContentErased,
    ErasureRequested,
    LegalHoldLifted,
    LegalHoldPlaced,
    SubjectErased,
    SubjectExported,
    SubjectImported,
    SubjectRegistered,
)
from beliefledger.ledger.events.turn import GateDecided, TurnRecorded
from beliefledger.ledger.store import OwnConsumer
from beliefledger.ledger.streams import exports_stream, subject_stream
from beliefledger.ledger.times import to_datetime
from beliefledger.opening.core import Core
from beliefledger.projections import questions, subject_questions
from beliefledger.projections.beliefs import BeliefsView, Version
from beliefledger.projections.decisions import DecisionsView
from beliefledger.reading.queries import Queries
from beliefledger.reading.turns import SCORES
from beliefledger.reading.words import Reader, moment, score

PAGE = 200
"""How many memories, decisions or events are in memory at a time."""
_HOLDS = frozenset({LegalHoldPlaced.NAME, LegalHoldLifted.NAME})
_ERASURES = frozenset({ErasureRequested.NAME, SubjectErased.NAME, ContentErased.NAME})
_TOLD = (
    frozenset(
        {
            TurnRecorded.NAME,
            GateDecided.NAME,
            MemoriesRecalled.NAME,
            SubjectRegistered.NAME,
            ConsentGranted.NAME,
            ConsentWithdrawn.NAME,
            SubjectExported.NAME,
            SubjectImported.NAME,
        }
    )
    | _HOLDS
    | _ERASURES
)
"""The events that parts of their own tell whole; `record` has all others."""

T = TypeVar("T")


@dataclass(slots=True)
class _Told:
    """How often something was told, and when."""

    times: int = 0
    first: int = 0
    last: int = 0

    def again(self, at: int) -> None:
        self.times += 1
        self.first = self.first or at
        self.last = at


@dataclass(slots=True)
class _Tally:
    """What is counted while the parts are read."""

    counts: Counter[str] = field(default_factory=Counter)
    erased: int = 0
    secrets: int = 0
    told: dict[tuple[str, str, str | None], _Told] = field(default_factory=dict)


class PersonRecord:
    """One person's record up to the event that says that it is exported.

    The parts can be read one after another, in any order but for `told`, `withheld` and `counts`,
    which sum up what was read before. Raises `NotPermitted` where the person is erased meanwhile.
    """

    def __init__(self, core: Core, queries: Queries, exported: Recorded, subject: str) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries
        self._reader = Reader(core.log)
        self._ref = exported.subject_ref or ""
        self._upto = exported.position
        event = exported.event
        if not isinstance(event, SubjectExported):
            raise LogCorrupted(f"Position {exported.position} is no export of a person.")
        self._withholding = event.withholding
        self._subject = subject
        self._names: dict[str, str] = {}
        self._tally = _Tally()
        self.exported = Exported(
            event_id=exported.event_id,
            position=exported.position,
            at=to_datetime(exported.recorded_at),
            by=core.log.vault.principal_name(exported.actor),
            note=event.note,
            withholding=event.withholding,
        )

    # The person

    def person(self) -> Person:
        first = self._own()[0]
        return Person(
            subject=self._subject,
            subject_ref=self._ref,
            registered_at=to_datetime(first.recorded_at),
            anew=bool(first.facts["anew"]),
        )

    def turns(self) -> Iterator[ExportedTurn]:
        """What was said, in the order in which it was recorded."""
        for each in self._events({TurnRecorded.NAME}):
            said = each.event if isinstance(each.event, TurnRecorded) else None
            gone = said is None or said.withheld
            self._tally.secrets += each.facts["secrets"]
            yield ExportedTurn(
                turn_id=each.stream,
                position=each.position,
                recorded_at=to_datetime(each.recorded_at),
                by=self._by(each),
                channel=each.facts["channel"],
                role=each.facts["role"],
                speaker=said.speaker if said else None,
                session=said.session if said else None,
                agent=said.agent if said else None,
                metadata=said.metadata if said else {},
                said_at=moment(said.said_at) if said else None,
                content=None if said is None or gone else said.content,
                redacted=said.redacted if said else {},
                erased=gone,
            )

    # What is believed

    def memories(self) -> Iterator[ExportedMemory]:
        """Each memory of which words are left, with its history."""
        with self._queries.view(BeliefsView.name) as (connection, generation):
            ids = subject_questions.memory_ids(connection, generation, self._ref, self._upto)
        now = self._queries.now()
        for some in _parts(ids, PAGE):
            self._check()
            with self._queries.view(BeliefsView.name) as (connection, generation):
                found = questions.versions_of_memories(connection, generation, some)
                rows = [
                    row
                    for memory_id in some
                    for row in questions.as_known(found.get(memory_id, []), self._upto)
                ]
                evidence = questions.evidence_of(connection, generation, some, self._upto)
                became = self._queries.fates(connection, generation, rows, then=True)
            rests = {
                row.row_id: evidence[row.memory_id] if row.closed is None else [row.opened]
                for row in rows
            }
            told = self._reader.beliefs(rows, rests, None, became)
            words = self._log.read_at([row.words_at for row in rows])
            by_row = {(row.memory_id, row.opened, row.closed): row for row in rows}
            versions: dict[str, list[ExportedVersion]] = {}
            for answer in told:
                opened, closed = answer.recorded_from_position, answer.recorded_to_position
                row = by_row[answer.memory_id, opened, closed]
                written = words[row.words_at].event
                memory = written.memory if isinstance(written, Written) else None
                versions.setdefault(answer.memory_id, []).append(
                    ExportedVersion(
                        **{name: getattr(answer, name) for name in type(answer).model_fields},
                        category=memory.category if memory else None,
                        participants=memory.participants if memory else (),
                        fields=memory.fields if memory else {},
                    )
                )
            for memory_id, its in versions.items():
                last = found[memory_id][-1]
                yield ExportedMemory(
                    memory_id=memory_id,
                    belief_id=last.belief,
                    holds=any(_holds(row, now) for row in rows if row.memory_id == memory_id),
                    versions=tuple(its),
                )

    def decisions(self) -> Iterator[ExportedDecision]:
        """What was decided about each statement, refusals included."""
        decided = self._events({GateDecided.NAME})
        while some := list(islice(decided, PAGE)):
            self._check()
            by_id = {each.event_id: each for each in some}
            with self._queries.view(DecisionsView.name) as (connection, generation):
                rows = questions.decisions_with(connection, generation, list(by_id))
            for answer in self._queries.told(rows):
                recorded = by_id[answer.decision_id]
                event = recorded.event if isinstance(recorded.event, GateDecided) else None
                yield ExportedDecision(
                    **{name: getattr(answer, name) for name in type(answer).model_fields},
                    scores={each: score(getattr(event, each)) for each in SCORES} if event else {},
                    trace=tuple(recorded.facts["trace"]),
                )

    # On what basis, and who was told

    def consents(self) -> Iterator[ExportedConsent]:
        own = self._own()
        now = self._queries.now()
        force = {each.id for each in folded(own).grants if each.in_force(now)}
        ended = {
            grant: each
            for each in own
            if each.type == ConsentWithdrawn.NAME
            for grant in each.facts["grants"]
        }
        for each in own:
            if each.type != ConsentGranted.NAME:
                continue
            event, facts = each.event, each.facts
            granted = event if isinstance(event, ConsentGranted) else None
            withdrawn = ended.get(each.event_id)
            yield ExportedConsent(
                grant_id=each.event_id,
                basis=facts["basis"],
                categories=granted.categories if granted else (),
                purpose=facts["purpose"],
                scope=facts["scope"],
                expires_at=moment(facts["expires_at"]),
                note=granted.note if granted else None,
                granted_at=to_datetime(each.recorded_at),
                by=self._by(each),
                withdrawn_at=to_datetime(withdrawn.recorded_at) if withdrawn else None,
                in_force=each.event_id in force,
            )

    def withdrawals(self) -> Iterator[ExportedWithdrawal]:
        for each in self._own():
            if each.type == ConsentWithdrawn.NAME:
                yield ExportedWithdrawal(
                    withdrawal_id=each.event_id,
                    grants=tuple(each.facts["grants"]),
                    revoked=each.facts["revoked"],
                    note=each.event.note if isinstance(each.event, ConsentWithdrawn) else None,
                    at=to_datetime(each.recorded_at),
                    by=self._by(each),
                )

    def recalls(self) -> Iterator[ExportedRecall]:
        """Each search for something of the person, and each time that something was shown."""
        for each in self._events({MemoriesRecalled.NAME}):
            event = each.event if isinstance(each.event, MemoriesRecalled) else None
            asked, facts = event.asked if event else None, each.facts
            by = self._name(each.actor)
            how = "search" if facts["ranker"] != "shown" else "shown"
            if asked is not None and asked.standing is not None:
                how = "audit"
            at = self._tally.told.setdefault((by, how, facts["purpose"]), _Told())
            at.again(each.recorded_at)
            yield ExportedRecall(
                recall_id=each.event_id,
                position=each.position,
                at=to_datetime(each.recorded_at),
                by=by,
                purpose=facts["purpose"],
                ranker=facts["ranker"],
                asked=None
                if asked is None
                else units.told(SearchQuery, asked.model_dump(mode="json")),
                session_tag=event.session_tag if event else None,
                found=tuple(facts.get("ranked") or facts["memories"]),
                shown=tuple(facts["memories"]),
            )

    def told(self) -> Iterator[Recipient]:
        """Who was told something, as far as it is on record: read `recalls` before."""
        for each in self._own():
            if each.type == SubjectExported.NAME:
                key = (self._name(each.actor), "export", None)
                self._tally.told.setdefault(key, _Told()).again(each.recorded_at)
        for each in self._log.read_stream(exports_stream(self._log.tenant)):
            if each.type == LedgerExported.NAME and self._began() < each.position < self._upto:
                key = (self._name(each.actor), "ledger_export", None)
                self._tally.told.setdefault(key, _Told()).again(each.recorded_at)
        for (who, how, purpose), told in self._tally.told.items():
            yield Recipient(
                who=who,
                how=how,
                purpose=purpose,
                times=told.times,
                first=to_datetime(told.first),
                last=to_datetime(told.last),
            )
        own = frozenset[str](OwnConsumer)
        for cursor in self._log.consumers():
            if cursor.name not in own and cursor.position >= self._began():
                yield Recipient(
                    who=cursor.name,
                    how="consumer",
                    purpose=None,
                    times=None,
                    first=None,
                    last=None,
                )

    # Holds, erasures, exports

    def holds(self) -> Iterator[ExportedHold]:
        placed: dict[str, Recorded] = {}
        pairs: list[tuple[Recorded, Recorded | None]] = []
        for each in self._own():
            if each.type == LegalHoldPlaced.NAME:
                placed[each.facts["hold"]] = each
            elif each.type == LegalHoldLifted.NAME and each.facts["hold"] in placed:
                pairs.append((placed.pop(each.facts["hold"]), each))
        pairs += [(each, None) for each in placed.values()]
        for began, lifted in sorted(pairs, key=lambda pair: pair[0].position):
            event = began.event if isinstance(began.event, LegalHoldPlaced) else None
            hidden = HOLD_REASONS in self._withholding
            yield ExportedHold(
                hold=began.facts["hold"],
                reason=None if event is None or hidden else event.reason,
                placed_at=to_datetime(began.recorded_at),
                by=self._by(began),
                lifted_at=to_datetime(lifted.recorded_at) if lifted else None,
                lifted_by=self._by(lifted) if lifted else None,
            )

    def erasures(self) -> Iterator[ExportedErasure]:
        for each in erasures(self._own()):
            done = each.done
            by = None if ACTORS in self._withholding else self._name(each.actor)
            yield ExportedErasure(
                erasure=each.id,
                reach=each.reach,
                of=each.of,
                legal_basis=each.legal_basis,
                requested_at=to_datetime(each.requested_at),
                by=by,
                completed_at=None if done is None else to_datetime(done.recorded_at),
                counts={} if done is None else done.facts["counts"],
            )

    def exports(self) -> Iterator[Handed]:
        for each in self._own():
            if each.type not in {SubjectExported.NAME, SubjectImported.NAME}:
                continue
            event = each.event
            known = event if isinstance(event, SubjectExported | SubjectImported) else None
            yield Handed(
                event_id=each.event_id,
                at=to_datetime(each.recorded_at),
                by=self._by(each),
                what="exported" if each.type == SubjectExported.NAME else "imported",
                note=known.note if known else None,
            )

    def record(self) -> Iterator[ExportedEvent]:
        """All other events, in order. Counts all of them."""
        for each in self._counted():
            if each.type in _TOLD:
                continue
            body = None if each.event is None else each.event.split()[1]
            yield ExportedEvent(
                position=each.position,
                event_id=each.event_id,
                type=each.type,
                stream=each.stream,
                at=to_datetime(each.recorded_at),
                by=self._by(each),
                facts=in_units(each.type, each.facts),
                body=body and in_units(each.type, body),
                erased=each.event is None,
            )

    def _counted(self) -> Iterator[Recorded]:
        self._tally.counts, self._tally.erased = Counter(), 0
        for each in self._events(None):
            self._tally.counts[each.type] += 1
            self._tally.erased += each.destroyed
            yield each

    # Sums

    def counted(self) -> dict[str, int]:
        """As `counts`, without reading `record` for it."""
        for _each in self._counted():
            pass
        return self.counts()

    def counts(self) -> dict[str, int]:
        """How many events there are of each type: read `record` before."""
        return dict(sorted(self._tally.counts.items()))

    def withheld(self) -> Iterator[Withheld]:
        """What the document does not have: read `turns` and `record` before."""
        holds = sum(each.type == LegalHoldPlaced.NAME for each in self._own())
        return withheld(self._tally.erased, self._tally.secrets, holds, self._withholding)

    # Reading

    def _own(self) -> list[Recorded]:
        """The events of the subject's own stream: consents, holds, erasures, exports."""
        self._check()
        recorded = self._log.read_stream(subject_stream(self._ref))
        return [each for each in recorded if each.position <= self._upto]

    def _began(self) -> int:
        return self._own()[0].position

    def _events(self, types: set[str] | None) -> Iterator[Recorded]:
        for some in _parts(self._log.of_subject(self._ref, self._upto, 0, types, PAGE), PAGE):
            self._check()
            yield from some

    def _check(self) -> None:
        if self._log.keys(self._ref) is None:
            raise NotPermitted(
                "This subject was erased while they were exported: delete what was written of it."
            )

    def _name(self, actor: str) -> str:
        if actor not in self._names:
            self._names[actor] = self._log.vault.principal_name(actor)
        return self._names[actor]

    def _by(self, recorded: Recorded) -> str | None:
        return None if ACTORS in self._withholding else self._name(recorded.actor)


def _parts(values: Iterable[T], size: int) -> Iterator[list[T]]:
    following = iter(values)
    while some := list(islice(following, size)):
        yield some


def _holds(row: Version, now: int) -> bool:
    return (
        row.closed is None
        and not row.quarantined
        and row.valid_from <= now
        and (row.valid_to is None or row.valid_to > now)
        and (row.expires_at is None or row.expires_at > now)
    )
