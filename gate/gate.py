"""The gate at work: records turns, has them looked at, decides, appends."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from queue import SimpleQueue
from typing import NamedTuple, Self, TypeVar, overload

from beliefledger.gate.consent import Consent
from beliefledger.gate.deadline import Deadline
from beliefledger.gate.decide import TurnView
from beliefledger.gate.draft import Draft, Memo
from beliefledger.gate.extractor import Extraction, Extractor, checked
from beliefledger.gate.intake import TurnInput
from beliefledger.gate.legible import legible
from beliefledger.gate.naming import About, Renamed, move_again
from beliefledger.gate.rulebook import Rulebook
from beliefledger.gate.special import categorised
from beliefledger.ledger import streams
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.codec import New, Recorded
from beliefledger.ledger.errors import (
    ExtractionTooLong,
    ExtractionUnavailable,
    LedgerError,
    LogCorrupted,
    NotPermitted,
    VersionConflict,
)
from beliefledger.ledger.events.choices import Choices
from beliefledger.ledger.events.turn import (
    CandidateProposed,
    ExtractionCompleted,
    ExtractionFailed,
    GateDecided,
    TurnParked,
    TurnRecorded,
    TurnRetried,
)
from beliefledger.ledger.log import Log, new_id
from beliefledger.ledger.store import Appended
from beliefledger.ledger.times import Clock, Micros
from beliefledger.ledger.vault import SYSTEM

CONTEXT_TURNS = 4
"""How many earlier turns of the session an extractor is shown."""

SLOW_BATCH = 16
"""How many turns of a slow extractor are decided in one append: what is lost at most."""

T = TypeVar("T")
Looked = Extraction | ExtractionUnavailable
_PARKING = frozenset({TurnParked.NAME, TurnRetried.NAME})


@dataclass(frozen=True, slots=True)
class Receipt:
    """A turn that is in the log. `already` is True when it was there before. One that was erased
    and is told again is `withheld`: its words are not kept, and whoever told it is not told so."""

    turn_id: str
    position: int
    subject_ref: str
    already: bool = False
    withheld: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """A turn that somebody tells, and where it goes: not to where it was, if that is erased."""

    turn_id: str
    subject_ref: str
    turn: TurnInput
    position: int | None = None
    """Where it is in the log; None while it is not."""
    withheld: bool = False


class Rehearsed(NamedTuple):
    """A decision that was not recorded; it would stand so far after its turn."""

    after: int
    proposed: CandidateProposed
    decided: GateDecided


@dataclass(frozen=True, slots=True)
class Pending:
    """A turn that waits for its extraction, and how far its stream is."""

    turn_id: str
    position: int
    version: int
    subject_ref: str
    attempts: int = 0


@dataclass(slots=True)
class Processed:
    """What became of some turns. `decisions` are event ids, in order."""

    turns: int = 0
    failed: int = 0
    parked: int = 0
    decisions: list[str] = field(default_factory=list)
    broken_off: bool = False
    """True when so many failed in a row that no more were looked at."""
    problem: str | None = None
    """Why the last of those that failed did."""

    def __iadd__(self, other: Processed) -> Self:
        self.turns += other.turns
        self.failed += other.failed
        self.parked += other.parked
        self.decisions += other.decisions
        self.broken_off = self.broken_off or other.broken_off
        self.problem = other.problem or self.problem
        return self


def view_of(recorded: Recorded, event: TurnRecorded, cited: dict[str, str]) -> TurnView:
    """The turn as the gate sees it; the recorded time stands in where nobody said when."""
    return TurnView(
        turn_id=recorded.stream,
        role=event.role,
        content=event.content,
        said_at=recorded.recorded_at if event.said_at is None else event.said_at,
        said_at_stated=event.said_at_stated,
        session=event.session,
        agent=event.agent,
        cited=cited,
        session_tag=event.session_tag,
        position=recorded.position,
    )


def holds_lane(looked: Looked) -> bool:
    """Whether the subject's later turns have to wait for this one: it failed, and waits. One that
    took too long is set aside at once."""
    return isinstance(looked, ExtractionUnavailable) and not isinstance(looked, ExtractionTooLong)


class Earlier(Sequence[TurnView]):
    """The turns before one in its session, looked up when an extractor first looks at them."""

    def __init__(
        self, load: Callable[[], list[TurnView]], since: tuple[TurnView, ...] = ()
    ) -> None:
        self._load = load
        self._since = since
        self._turns: list[TurnView] | None = None

    def then(self, turn: TurnView) -> Earlier:
        """The same with one more turn."""
        if self._turns is not None:
            return Earlier(list, (*self._turns, turn)[-CONTEXT_TURNS:])
        since = (*self._since, turn)[-CONTEXT_TURNS:]
        return Earlier(list if len(since) == CONTEXT_TURNS else self._load, since)

    def _loaded(self) -> list[TurnView]:
        if self._turns is None:
            self._turns = [*self._load(), *self._since][-CONTEXT_TURNS:]
        return self._turns

    def __len__(self) -> int:
        return len(self._loaded())

    @overload
    def __getitem__(self, at: int) -> TurnView: ...
    @overload
    def __getitem__(self, at: slice) -> list[TurnView]: ...
    def __getitem__(self, at: int | slice) -> TurnView | list[TurnView]:
        return self._loaded()[at]


class Gate:
    """Everything that writes memories passes here.

    `earlier` finds the turns before one in its session, newest last; a view supplies it.
    """

    def __init__(
        self,
        log: Log,
        rulebook: Rulebook,
        extractor: Extractor,
        clock: Clock,
        earlier: Callable[[Pending, int], Sequence[int]],
        about: About = lambda _subject, _entity: {},
        deadline: Deadline | None = None,
    ) -> None:
        self.log = log
        self.rulebook = rulebook
        self.extractor = extractor
        self.memo = Memo(log)
        self._clock = clock
        self._earlier = earlier
        self._about = about
        self._deadline = deadline

    # Recording

    def record(self, turns: Sequence[TurnInput], actor: str = SYSTEM) -> list[Receipt]:
        """Record turns in one durable append. A turn that is there already is left as it is.

        Raises `InvalidTurn` or `NotPermitted` before anything is written.
        """
        self.check(turns)
        refs = self.log.register([turn.subject for turn in turns])

        def attempt() -> list[Receipt]:
            return self._record(turns, refs, actor)

        return self.again(attempt)

    def check(self, turns: Iterable[TurnInput]) -> None:
        """Raises `InvalidTurn` for one that cannot be recorded under the policy in force."""
        most = self.rulebook.current().policy.max_turn_bytes
        for turn in turns:
            turn.check(most)

    def _record(
        self, turns: Sequence[TurnInput], refs: dict[str, str], actor: str
    ) -> list[Receipt]:
        self.memo.refresh()
        ids: list[str] = []
        new: dict[str, Told] = {}
        expect: dict[str, int] = {}
        for turn in turns:
            ref = refs[turn.subject]
            keys = self.log.keys(ref)
            if keys is None or self.memo.consent(ref).erasing:
                raise NotPermitted("This subject was erased.")
            turn_id = streams.turn_stream(keys.ids, turn.key())
            ids.append(turn_id)
            if turn_id not in new:
                new[turn_id] = Told(turn_id, ref, turn)
                expect[streams.subject_stream(ref)] = self.memo.consent(ref).version
        # A single turn is almost always new: let the append find out. A batch may be a repetition.
        told = self._looked_up(new) if len(new) > 1 else new
        try:
            appended = self._append_turns(list(told.values()), expect, actor)
        except VersionConflict as conflict:
            if conflict.stream not in new:
                raise
            told = self._looked_up(new)
            if told == new:
                raise
            appended = self._append_turns(list(told.values()), expect, actor)
        receipts, seen = [], set[str]()
        for each in map(told.__getitem__, ids):
            position = appended.get(each.turn_id, each.position or 0)
            already = each.position is not None or each.turn_id in seen
            receipts.append(
                Receipt(each.turn_id, position, each.subject_ref, already, each.withheld)
            )
            seen.add(each.turn_id)
        return receipts

    def _looked_up(self, turns: Mapping[str, Told]) -> dict[str, Told]:
        """Where these turns are in the log, or go. One whose words are erased is not brought back
        by being told again, as a queue does that delivers twice: it goes, without its words, to
        where nobody can tell it from another turn. That one may be known, or erased, in turn."""
        there = [turn_id for turn_id, version in self.log.versions(list(turns)).items() if version]
        return dict(turns) | {turn_id: self._told(turns[turn_id]) for turn_id in there}

    def _told(self, each: Told) -> Told:
        """As `_looked_up`, one turn."""
        keys = self.log.keys(each.subject_ref)
        if keys is None:
            raise NotPermitted("This subject was erased.")
        consent = self.memo.consent(each.subject_ref)
        while there := self.log.read_stream(each.turn_id, upto=1):
            [first] = there
            if first.event is not None and not consent.is_going(first.position):
                return replace(each, position=first.position)
            again = streams.told_again(keys.ids, each.turn_id)
            each = replace(each, turn_id=again, withheld=True)
        return each

    def _append_turns(
        self, told: Sequence[Told], expect: dict[str, int], actor: str
    ) -> dict[str, int]:
        events = [
            New(
                self._event(each), new_id(), each.turn_id, each.subject_ref, actor, None,
                each.turn_id,
            )
            for each in told
            if each.position is None
        ]  # fmt: skip
        if not events:
            return {}
        appended = self.log.append(events, {event.stream: 0 for event in events} | expect)
        return {event.stream: appended.first + offset for offset, event in enumerate(events)}

    def _event(self, told: Told, clock_said: Micros | None = None) -> TurnRecorded:
        keys = self.log.keys(told.subject_ref)
        if keys is None:
            raise NotPermitted("This subject was erased.")
        if told.withheld:
            return told.turn.withheld(streams.session_tag(keys.ids, None))
        return told.turn.event(keys.ids, clock_said)

    # Processing

    @property
    def slow(self) -> bool:
        """Whether the extractor waits for answers, so that several turns are looked at at once."""
        return getattr(self.extractor, "concurrency", 1) > 1

    def process(self, pending: Sequence[Pending], held: set[str]) -> Processed:
        """Extract and decide these turns. They must be in order of position.

        A quick extractor's turns are decided in one append; a slow one's side by side, a few at a
        time. A turn that fails holds its lane: the subject is added to `held`, whose turns are left
        alone. Raises `VersionConflict` when another process was at one of them: look again which
        are pending.
        """
        if self.slow:
            return self._process_slowly(pending, held)
        draft = self.draft()
        done = Processed()
        recorded = self.log.read_at([each.position for each in pending])
        sessions: dict[tuple[str, str | None], Earlier] = {}
        failing: set[str] = set()
        for each in pending:
            if each.subject_ref in held or each.subject_ref in failing:
                continue
            turn_event = recorded[each.position]
            event = turn_event.event
            if not isinstance(event, TurnRecorded) or self._erased(each.subject_ref, each.position):
                continue  # in the meantime: there is nothing left to look at
            turn = view_of(turn_event, event, {})
            lane = (each.subject_ref, event.session)
            before: Sequence[TurnView] = ()
            if event.role == "user":
                known = sessions.get(lane)  # to ask whether it is empty would look it up
                before = Earlier(partial(self._before, each)) if known is None else known
                sessions[lane] = before
            looked = self._look(turn, before)
            self._write(draft, each, turn_event, event, looked, done)
            if holds_lane(looked):
                failing.add(each.subject_ref)
            elif lane in sessions:
                sessions[lane] = sessions[lane].then(turn)
        self.commit(draft)
        held |= failing
        done.decisions = draft.decided
        return done

    def _look(self, turn: TurnView, before: Sequence[TurnView]) -> Looked:
        """What the extractor found in a turn, or why it could not look."""
        if turn.role != "user":
            return Extraction(skipped=f"role:{turn.role}")
        if not turn.content:
            return Extraction()  # it is withheld
        try:
            return self._extract(turn, before)
        except ExtractionUnavailable as problem:
            return problem

    def _extract(self, turn: TurnView, before: Sequence[TurnView]) -> Extraction:
        """Raises `ExtractionUnavailable` for whatever goes wrong in an extractor: it is not ours,
        and a turn that it cannot read must not keep the others from being read."""
        return self.within_deadline(turn, before, self.extractor.extract)

    def within_deadline(
        self,
        turn: TurnView,
        before: Sequence[TurnView],
        read: Callable[[TurnView, Sequence[TurnView]], list[Candidate] | Extraction],
    ) -> Extraction:
        """What reading one turn brings, as people see it. Raises `ExtractionUnavailable` for
        whatever goes wrong, and `ExtractionTooLong` if it did not end in time."""
        try:
            with self._deadline.turn() if self._deadline else nullcontext():
                shown = legible(turn, before)
                return checked(shown.returned(checked(read(shown.turn, shown.earlier))))
        except LedgerError:
            raise
        except Exception as problem:  # recorded, held, tried again, parked in sight
            raise ExtractionUnavailable(f"{type(problem).__name__}: {problem}.") from problem

    def _write(
        self,
        draft: Draft,
        each: Pending,
        recorded: Recorded,
        event: TurnRecorded,
        looked: Looked,
        done: Processed,
    ) -> None:
        """Add to a draft what became of a turn. It relies on nothing of the subject having been
        erased since their turns were read."""
        draft.consent(each.subject_ref)
        if isinstance(looked, ExtractionUnavailable):
            self._failed(draft, each, recorded, looked, done)
            return
        rules = draft.rules
        candidates = [
            categorised(found, rules.registry, rules.policy) for found in looked.candidates
        ]
        cites = cited(self.log, each.subject_ref, candidates, self.memo.consent(each.subject_ref))
        outcome = ExtractionCompleted(
            extractor=self.extractor.name,
            candidates=len(candidates),
            skipped=looked.skipped,
            input_tokens=looked.input_tokens,
            output_tokens=looked.output_tokens,
            cost_micro_usd=looked.cost_micro_usd,
        )
        turn = view_of(recorded, event, cites)
        draft.turn(turn, each.version, recorded.event_id, each.subject_ref, outcome, candidates)
        done.turns += 1

    # Processing, where looking takes long

    def _process_slowly(self, pending: Sequence[Pending], held: set[str]) -> Processed:
        """Look at several subjects' turns side by side, each subject's in order; decide about what
        has come back whenever `SLOW_BATCH` turns have.

        Nothing is asked again because an append conflicted. An error that is about the service and
        not about a turn (a refused key) is raised once what came back before it is decided.
        """
        done = Processed()
        came: list[tuple[Pending, Looked]] = []
        try:
            with closing(self._looked_at(pending, held, done)) as arriving:
                for each, looked in arriving:
                    came.append((each, looked))
                    if holds_lane(looked):
                        held.add(each.subject_ref)
                    if len(came) >= SLOW_BATCH:
                        batch, came = came, []
                        done += self.decided(batch)
        finally:
            done += self.decided(came)
        return done

    def _looked_at(
        self, pending: Sequence[Pending], held: set[str], done: Processed
    ) -> Generator[tuple[Pending, Looked], None, None]:
        """Each turn with what was found in it, as the answers come."""
        lanes: dict[str, list[Pending]] = {}
        for each in pending:
            if each.subject_ref not in held:
                lanes.setdefault(each.subject_ref, []).append(each)
        came: SimpleQueue[tuple[Pending, Looked] | Future[None]] = SimpleQueue()
        stopping = False

        def look_along(lane: list[Pending]) -> None:
            for each in lane:
                if stopping:
                    return
                found = self.turn_of(each)
                if found is None:
                    continue
                looked = self._look(*found)
                came.put((each, looked))
                if holds_lane(looked):
                    return

        workers: int = self.extractor.concurrency  # type: ignore[attr-defined]
        problem: BaseException | None = None
        failed_in_a_row = 0
        with ThreadPoolExecutor(workers, "extracting") as pool:
            try:
                for lane in lanes.values():
                    pool.submit(look_along, lane).add_done_callback(came.put)
                left = len(lanes)
                while left:
                    item = came.get()
                    if isinstance(item, Future):
                        left -= 1
                        problem = problem or item.exception()
                        stopping = stopping or problem is not None
                        continue
                    if holds_lane(item[1]):
                        failed_in_a_row += 1
                    elif not isinstance(item[1], Extraction) or item[1].skipped is None:
                        failed_in_a_row = 0
                    # Who does not answer anybody is not asked for all the others too.
                    done.broken_off = done.broken_off or failed_in_a_row >= 2 * workers
                    stopping = stopping or done.broken_off
                    yield item
            finally:
                stopping = True
        if problem is not None:
            raise problem

    def turn_of(self, each: Pending) -> tuple[TurnView, Earlier] | None:
        """What an extractor is shown of a turn; None for one that was erased in the meantime."""
        recorded = self.log.read_at([each.position])[each.position]
        erased = self._erased(each.subject_ref, each.position)
        if not isinstance(recorded.event, TurnRecorded) or erased:
            return None
        return view_of(recorded, recorded.event, {}), Earlier(partial(self._before, each))

    def decided(self, looked: Sequence[tuple[Pending, Looked]]) -> Processed:
        """Decide about turns that were looked at already, in one append. A subject's must be in
        order. One that somebody else was done with first is left as it is."""

        def attempt() -> Processed:
            draft, done = self.draft(), Processed()
            recorded = self.log.read_at([each.position for each, _found in waiting])
            for each, found in waiting:
                turn_event = recorded[each.position]
                event = turn_event.event
                erased = self._erased(each.subject_ref, each.position)
                if isinstance(event, TurnRecorded) and not erased:
                    self._write(draft, each, turn_event, event, found, done)
            try:
                self.commit(draft)
            except VersionConflict:
                waiting[:] = [
                    (now, found)
                    for each, found in waiting
                    if (now := self._still_pending(each)) is not None
                ]
                raise
            done.decisions = draft.decided
            return done

        waiting = list(looked)
        return self.log.decide_again(attempt)

    def _erased(self, subject_ref: str, position: int = 0) -> bool:
        """Whether a subject, or their event at a position, is erased or on the way to it."""
        if self.log.keys(subject_ref) is None:
            return True
        consent = self.memo.consent(subject_ref)
        return consent.erasing or consent.is_going(position)

    def _still_pending(self, each: Pending) -> Pending | None:
        """The turn as it is now; None once it has an outcome or is parked."""
        waits, attempts, version = True, 0, 0
        for recorded in self.log.read_stream(each.turn_id):
            version = recorded.version
            if recorded.type == ExtractionCompleted.NAME:
                return None
            if recorded.type == ExtractionFailed.NAME:
                attempts = recorded.facts["attempt"]
            elif recorded.type == TurnParked.NAME:
                waits = False
            elif recorded.type == TurnRetried.NAME:
                waits, attempts = True, 0
        return replace(each, version=version, attempts=attempts) if waits else None

    def retry(self, turn_ids: Sequence[str], actor: str = SYSTEM) -> int:
        """Let parked turns wait for their extraction again; returns how many were parked."""

        def attempt() -> int:
            draft = self.draft()
            for turn_id in dict.fromkeys(turn_ids):
                events = self.log.read_stream(turn_id)
                parked = [each for each in events if each.type in _PARKING]
                if not parked or parked[-1].type != TurnParked.NAME:
                    continue
                first, ref = events[0], events[0].subject_ref
                if ref is None or first.event is None or self._erased(ref, first.position):
                    continue
                draft.reads(turn_id, events[-1].version)
                event = TurnRetried(attempts=parked[-1].facts["attempts"])
                draft.write(New(event, new_id(), turn_id, ref, actor, first.event_id, turn_id))
            self.commit(draft)
            return len(draft.events)

        return self.log.decide_again(attempt)

    def _before(self, pending: Pending) -> list[TurnView]:
        positions = self._earlier(pending, CONTEXT_TURNS)
        found = self.log.read_at(positions)
        return [
            view_of(each, each.event, {})
            for position in positions
            if isinstance((each := found[position]).event, TurnRecorded)
            and not each.event.withheld
            and not self._erased(pending.subject_ref, position)
        ]

    def _failed(
        self,
        draft: Draft,
        pending: Pending,
        recorded: Recorded,
        problem: ExtractionUnavailable,
        done: Processed,
    ) -> None:
        """Note that the turn could not be looked at. After enough tries set it aside; at once if it
        took too long, as it would again."""
        draft.reads(pending.turn_id, pending.version)
        attempt = pending.attempts + 1
        events: list[ExtractionFailed | TurnParked] = [
            ExtractionFailed(
                extractor=self.extractor.name,
                attempt=attempt,
                error=type(problem.__cause__ or problem).__name__,
                detail=str(problem),
            )
        ]
        done.failed += 1
        done.problem = str(problem)
        reason = None
        if isinstance(problem, ExtractionTooLong):
            reason = "deadline"
        elif attempt >= draft.rules.policy.extraction_tries:
            reason = "tries"
        if reason is not None:
            events.append(TurnParked(attempts=attempt, reason=reason))
            done.parked += 1
        for event in events:
            draft.write(
                New(
                    event,
                    new_id(),
                    pending.turn_id,
                    pending.subject_ref,
                    SYSTEM,
                    recorded.event_id,
                    pending.turn_id,
                )
            )

    # Storing with chosen fields

    def store(
        self, turn: TurnInput, candidate: Candidate, choices: Choices, actor: str = SYSTEM
    ) -> tuple[Receipt, str | None]:
        """Record a memory with chosen fields: turn, candidate and decision in one append.

        Returns the receipt and the decision's id; None when the turn was there already.
        """
        self.check([turn])
        ref = self.log.register([turn.subject])[turn.subject]

        def attempt() -> tuple[Receipt, str | None]:
            keys = self.log.keys(ref)
            if keys is None:
                raise NotPermitted("This subject was erased.")
            draft = self.draft()
            draft.consent(ref)
            told = self._told(Told(streams.turn_stream(keys.ids, turn.key()), ref, turn))
            turn_id, withheld = told.turn_id, told.withheld
            if told.position is not None:
                return Receipt(turn_id, told.position, ref, already=True, withheld=withheld), None
            draft.reads(turn_id, 0)
            new = New(self._event(told, draft.now), new_id(), turn_id, ref, actor, None, turn_id)
            event = new.event
            assert isinstance(event, TurnRecorded)
            draft.write(new)
            outcome = ExtractionCompleted(extractor="store", candidates=0 if withheld else 1)
            noticed = [] if withheld else [candidate]
            view = _stored(turn, turn_id, event, draft.now)
            draft.turn(view, 0, new.event_id, ref, outcome, noticed, choices, actor)
            appended = self.commit(draft)
            if appended is None:
                raise LogCorrupted("A stored memory made no event.")
            decision = None if withheld else draft.decided[0]
            return Receipt(turn_id, appended.first, ref, withheld=withheld), decision

        return self.again(attempt)

    def is_stored(self, receipt: Receipt) -> bool:
        """Whether a turn came with chosen fields."""
        recorded = self.log.read_at([receipt.position])[receipt.position]
        return bool(recorded.facts["channel"] == "store")

    def _session_before(self, receipt: Receipt, session_tag: str) -> list[TurnView]:
        """The last turns of a session before one that is withheld, which does not say its own."""
        ref = receipt.subject_ref
        found = [
            view_of(each, each.event, {})
            for each in self.log.of_subject(ref, receipt.position - 1)
            if isinstance(each.event, TurnRecorded)
            and each.event.session_tag == session_tag
            and not each.event.withheld
            and not self._erased(ref, each.position)
        ]
        return found[-CONTEXT_TURNS:]

    def rehearse(
        self,
        receipt: Receipt,
        turn: TurnInput,
        candidate: Candidate | None = None,
        choices: Choices | None = None,
    ) -> list[Rehearsed]:
        """What would be decided about a turn that is withheld, if nothing of it had been erased.
        Nothing is written: its answer is to be that of any other turn. A `candidate` is one with
        chosen fields."""
        draft, ref = self.draft(), receipt.subject_ref
        draft.consent(ref)
        event = self._event(Told("", ref, turn))
        view = _stored(turn, receipt.turn_id, event, draft.now)
        found = [candidate] if candidate else []
        if candidate is None:
            looked = self._look(view, self._session_before(receipt, event.session_tag))
            if isinstance(looked, ExtractionUnavailable):
                return []
            rules = draft.rules
            found = [categorised(each, rules.registry, rules.policy) for each in looked.candidates]
            view = replace(view, cited=cited(self.log, ref, found, self.memo.consent(ref)))
        outcome = ExtractionCompleted(extractor="", candidates=len(found))
        draft.turn(view, 1, "", ref, outcome, found, choices)
        events = [each.event for each in draft.events]
        return [
            Rehearsed(number, proposed, decided)
            for number, (proposed, decided) in enumerate(pairwise(events), 2)
            if isinstance(proposed, CandidateProposed) and isinstance(decided, GateDecided)
        ]

    # Appending

    def now(self) -> Micros:
        return self._clock()

    def draft(self) -> Draft:
        """An empty draft under the rules in force."""
        self.memo.refresh()
        return Draft(
            self.log,
            self.memo,
            self.rulebook.current(),
            self.rulebook.stream,
            self._clock(),
            self._about,
        )

    def commit(self, draft: Draft) -> Appended | None:
        """Append the draft. Raises `VersionConflict`, after which everything is read again."""
        try:
            appended = draft.commit()
        except VersionConflict:
            self.forget()
            raise
        if appended and draft.renamed and draft.seen != appended.first - 1:
            self._sweep(draft.renamed)
        return appended

    def _sweep(self, renamed: Sequence[Renamed]) -> None:
        """Move what was written of an entity while its memories were being looked up. There can be
        no more of it now: who decides has to know the names."""

        def attempt() -> None:
            draft = self.draft()
            for each in renamed:
                if not self._erased(each.subject_ref):
                    move_again(draft, each)
            draft.commit()

        self.again(attempt)

    def forget(self) -> None:
        """Read consents, beliefs and rules from the log again."""
        self.memo.clear()
        self.rulebook.refreshed()

    def again(self, attempt: Callable[[], T]) -> T:
        """Run `attempt` until no other writer was first, each time from what the log holds."""

        def afresh() -> T:
            try:
                return attempt()
            except VersionConflict:
                self.forget()
                raise

        return self.log.decide_again(afresh)


def _stored(turn: TurnInput, turn_id: str, event: TurnRecorded, now: Micros) -> TurnView:
    """A turn as the gate sees it before it is in the log."""
    return TurnView(
        turn_id=turn_id,
        role=turn.role,
        content=event.content,
        said_at=now if turn.said_at is None else turn.said_at,
        said_at_stated=turn.said_at is not None,
        session=event.session,
        agent=event.agent,
    )


def cited(
    log: Log,
    subject_ref: str,
    candidates: Sequence[Candidate],
    consent: Consent | None = None,
) -> dict[str, str]:
    """The words of the turns of the same subject that candidates cite; others stay unfound, and
    what is being erased."""
    wanted = {span.turn for candidate in candidates for span in candidate.spans if span.turn}
    found = {}
    for turn_id in sorted(wanted):
        first = log.read_stream(turn_id, upto=1)
        for recorded in first if consent is None else consent.left(first):
            if recorded.subject_ref == subject_ref and isinstance(recorded.event, TurnRecorded):
                found[turn_id] = recorded.event.content
    return found
