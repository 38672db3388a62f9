"""The queue of turns that wait for their extraction: which come next, in what batches, and what
becomes of one that fails.

The log itself is the queue: a turn without an outcome waits. Each subject has a lane, taken in
order; a turn that fails holds up its lane until it is tried again or parked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import field, replace
from functools import partial
from itertools import islice
from queue import SimpleQueue
from typing import Protocol, Self

from beliefledger.gate.decision import TurnView
from beliefledger.gate.draft import Draft
from beliefledger.gate.extractor import Extraction
from beliefledger.gate.failures import told
from beliefledger.gate.foreign_calls import did_not_return
from beliefledger.gate.lanes import Lane
from beliefledger.gate.reader import Looked, TurnReader, holds_lane
from beliefledger.gate.turns import Earlier, Pending, cited, view_of
from beliefledger.gate.writer import Writer
from beliefledger.ledger.codec import New, Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import ExtractionTooLong, ExtractionUnavailable, VersionConflict
from beliefledger.ledger.events.turn import (
    ExtractionCompleted,
    ExtractionFailed,
    TurnParked,
    TurnRecorded,
    TurnRetried,
)
from beliefledger.ledger.log import new_id
from beliefledger.ledger.spans import DECIDE, Facts, traced
from beliefledger.ledger.vault import SYSTEM

BATCH = 500
"""How many turns of a quick extractor are decided in one append."""
SLOW_ROUND = 64
"""How many turns of a slow extractor are taken before progress is reported."""
SLOW_BATCH = 16
"""How many turns of a slow extractor are decided in one append: what is lost at most."""

MOST_UNRETURNED = 2
"""After how many calls in a row that did not return a quick extractor is asked no more."""

Progress = Callable[[int, int], None]
"""(done, of how many)"""
_PARKING = frozenset({TurnParked.NAME, TurnRetried.NAME})


class PendingTurns(Protocol):
    """Which turns wait; a view supplies it. Each answer counts everything that is in the log."""

    def waiting(
        self, limit: int | None, after: int = 0, subject_ref: str | None = None
    ) -> list[Pending]:
        """The first turns past a position that wait, in order of position; None for all."""
        ...

    def count(self) -> int:
        """How many wait."""
        ...

    def earlier(self, turn: Pending, limit: int) -> Sequence[int]:
        """The positions of the turns before one in its session, newest last."""
        ...

    def believed(self, subject_ref: str) -> Sequence[tuple[str, int]]:
        """The subject's memories in force, oldest first: id, and position of its words."""
        ...


@dataclass(slots=True)
class Processed:
    """The result of processing turns. `decisions` are event ids, in order."""

    turns: int = 0
    failed: int = 0
    parked: int = 0
    decisions: list[str] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    """How many of the decisions there are of each outcome."""
    waiting_at: dict[str, str] = field(default_factory=dict)
    """By decision that was put before a person, the belief where it waits."""
    broken_off: bool = False
    """True when so many failed in a row that no more were looked at."""
    problem: str | None = None
    """Why the last of those that failed did."""

    @property
    def seen(self) -> int:
        """How many turns were looked at, with or without success."""
        return self.turns + self.failed

    def settle(self, draft: Draft) -> None:
        """What was decided in a draft, once it is committed."""
        self.decisions, self.outcomes = draft.decided, draft.outcomes()
        self.waiting_at = draft.waiting_at()

    def __iadd__(self, other: Processed) -> Self:
        self.turns += other.turns
        self.failed += other.failed
        self.parked += other.parked
        self.decisions += other.decisions
        self.outcomes += other.outcomes
        self.waiting_at |= other.waiting_at
        self.broken_off = self.broken_off or other.broken_off
        self.problem = other.problem or self.problem
        return self


def _counts(done: Processed) -> Facts:
    return {"beliefledger.turns": done.turns, "beliefledger.decisions": len(done.decisions)}


class TurnQueue:
    """Processes the turns that wait: has an extractor look at them, and decides.

    Several processes may do this at once: the first to append wins, the others look again.
    """

    def __init__(self, writer: Writer, reader: TurnReader, pending: PendingTurns) -> None:
        self._writer = writer
        self._log = writer.log
        self._reader = reader
        self._pending = pending
        self.viewed = 0
        """The last position of which it was looked up whether a turn there waits."""

    @property
    def slow(self) -> bool:
        """Whether the extractor waits for answers, so that several turns are looked at at once."""
        return self._reader.concurrency > 1

    def count(self) -> int:
        """How many turns wait."""
        return self._pending.count()

    def process(
        self,
        subject_ref: str | None = None,
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> Processed:
        """Extract and decide the turns that wait (of one subject, or of all), oldest first, each
        once. What was decided is durable when this returns."""
        total, after, more = Processed(), 0, True
        most = SLOW_ROUND if self.slow else BATCH
        held: set[str] = set()

        def attempt() -> tuple[Processed, int, bool]:
            size = most if limit is None else min(limit - total.seen, most)
            waiting = self._pending.waiting(size, after, subject_ref)
            if not waiting:
                return Processed(), after, False
            self.viewed = max(self.viewed, waiting[-1].position)
            done = self.process_pending(waiting, held)
            return done, waiting[-1].position, len(waiting) == size

        while more and (limit is None or total.seen < limit):
            # A slow extractor's answers are decided again by themselves: it is not asked twice.
            done, after, more = attempt() if self.slow else self._log.decide_again(attempt)
            total += done
            if progress:
                progress(total.turns, total.turns + self.count())
            if total.broken_off:
                break
        if subject_ref is not None and after and not (more or held or total.failed):
            # All of theirs up to there were taken, and none is to be tried again.
            self._writer.memo.lanes.keep(subject_ref, Lane(after))
        return total

    def process_together(
        self,
        look: Callable[[Sequence[Pending]], Mapping[str, Looked]],
        subject_ref: str | None = None,
        limit: int | None = None,
        size: int | None = None,
    ) -> Processed:
        """As `process`, with `look` looking at up to `size` turns at once; without `size` at all
        that wait, once. It returns what it found by turn id, and turns it left out wait on."""
        total, after = Processed(), 0
        held: set[str] = set()
        while limit is None or total.seen < limit:
            most = size if size is None or limit is None else min(limit - total.seen, size)
            waiting = self._pending.waiting(most, after, subject_ref)
            if not waiting:
                break
            after = waiting[-1].position
            waiting = [each for each in waiting if each.subject_ref not in held]
            total += self._decide_looked(waiting, look(waiting), held)
            if size is None:
                break
        return total

    @traced(DECIDE, _counts)
    def _decide_looked(
        self, waiting: Sequence[Pending], looked: Mapping[str, Looked], held: set[str]
    ) -> Processed:
        """Decide about the answers, each subject's turns in order, up to the first turn without
        one."""
        total = Processed()
        ready: list[tuple[Pending, Looked]] = []
        for each in waiting:
            answer = looked.get(each.turn_id)
            if each.subject_ref in held:
                continue
            if answer is None or holds_lane(answer):
                held.add(each.subject_ref)
            if answer is not None:
                ready.append((each, answer))
        rest = iter(ready)
        while some := list(islice(rest, SLOW_BATCH)):
            total += self._decide(some)
        return total

    @traced(DECIDE, _counts)
    def process_pending(self, pending: Sequence[Pending], held: set[str]) -> Processed:
        """Extract and decide these turns. They must be in order of position.

        A quick extractor's turns are decided in one append; a slow one's side by side, a few at a
        time. A turn that fails holds its lane: the subject is added to `held`, whose turns are left
        alone. Raises `VersionConflict` when another process was at one of them: look again which
        are pending.
        """
        if self.slow:
            return self._process_slowly(pending, held)
        draft = self._writer.draft()
        done = Processed()
        recorded = self._log.read_at([each.position for each in pending])
        sessions: dict[tuple[str, str | None], Earlier] = {}
        failing: set[str] = set()
        unreturned = 0
        for each in pending:
            if each.subject_ref in held or each.subject_ref in failing:
                continue
            turn_event = recorded[each.position]
            event = turn_event.event
            if not isinstance(event, TurnRecorded) or self._writer.erased(
                each.subject_ref, each.position
            ):
                continue  # in the meantime: there is nothing left to look at
            turn = view_of(turn_event, event, {})
            lane = (each.subject_ref, event.session)
            before: Sequence[TurnView] = ()
            if event.role == "user":
                known = sessions.get(lane)  # to ask whether it is empty would look it up
                before = Earlier(partial(self._reader.before, each)) if known is None else known
                sessions[lane] = before
            looked = self._reader.look(turn, before, each.subject_ref)
            self.write(draft, each, turn_event, event, looked, done)
            unreturned = unreturned + 1 if did_not_return(looked) else 0
            if holds_lane(looked):
                failing.add(each.subject_ref)
                done.broken_off = unreturned >= MOST_UNRETURNED
                if done.broken_off:
                    break
            elif lane in sessions:
                sessions[lane] = sessions[lane].then(turn)
        self._writer.commit(draft)
        held |= failing
        done.settle(draft)
        return done

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
                        done += self._decide(batch)
        finally:
            done += self._decide(came)
        return done

    def _looked_at(
        self, pending: Sequence[Pending], held: set[str], done: Processed
    ) -> Generator[tuple[Pending, Looked], None, None]:
        """Yields each turn with what was found in it, as the answers arrive."""
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
                found = self._reader.turn_of(each)
                if found is None:
                    continue
                looked = self._reader.look(*found, each.subject_ref)
                came.put((each, looked))
                if holds_lane(looked):
                    return

        workers = self._reader.concurrency
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

    def _decide(self, looked: Sequence[tuple[Pending, Looked]]) -> Processed:
        """Decide about turns that were looked at, in one append. A subject's turns must be in
        order. A turn that another process finished first is left as it is."""

        def attempt() -> Processed:
            draft, done = self._writer.draft(), Processed()
            recorded = self._log.read_at([each.position for each, _found in waiting])
            for each, found in waiting:
                turn_event = recorded[each.position]
                event = turn_event.event
                erased = self._writer.erased(each.subject_ref, each.position)
                if isinstance(event, TurnRecorded) and not erased:
                    self.write(draft, each, turn_event, event, found, done)
            try:
                self._writer.commit(draft)
            except VersionConflict:
                waiting[:] = [
                    (now, found)
                    for each, found in waiting
                    if (now := self._still_pending(each)) is not None
                ]
                raise
            done.settle(draft)
            return done

        waiting = list(looked)
        return self._log.decide_again(attempt)

    def write(
        self,
        draft: Draft,
        each: Pending,
        recorded: Recorded,
        event: TurnRecorded,
        looked: Looked,
        done: Processed,
    ) -> None:
        """Add a turn's outcome to a draft. Precondition: nothing of the subject was erased since
        their turns were read."""
        # Whatever decides is loaded when something is decided: who only asks need not wait.
        from beliefledger.gate.candidates import ReadTurn, decide_candidates  # noqa: PLC0415
        from beliefledger.gate.special_categories import categorised  # noqa: PLC0415

        draft.consent(each.subject_ref)
        if isinstance(looked, ExtractionUnavailable):
            self._failed(draft, each, recorded, looked, done)
            return
        rules = draft.rules
        candidates = [
            categorised(found, rules.registry, rules.policy) for found in looked.candidates
        ]
        cites = cited(
            self._log, each.subject_ref, candidates, self._writer.memo.consent(each.subject_ref)
        )
        outcome = ExtractionCompleted(
            extractor=self._reader.extractor.name,
            candidates=len(candidates),
            skipped=looked.skipped,
            not_read=looked.not_read,
            input_tokens=looked.input_tokens,
            output_tokens=looked.output_tokens,
            cost_micro_usd=looked.cost_micro_usd,
            fallen=looked.fallen,
            shown=looked.shown,
        )
        turn = view_of(recorded, event, cites)
        read = ReadTurn(turn, each.version, recorded.event_id, each.subject_ref)
        decide_candidates(draft, read, outcome, candidates)
        done.turns += 1

    def _failed(
        self,
        draft: Draft,
        pending: Pending,
        recorded: Recorded,
        problem: ExtractionUnavailable,
        done: Processed,
    ) -> None:
        """Record a failed extraction. Park the turn after `extraction_tries`, or at once if it took
        too long."""
        draft.reads(pending.turn_id, pending.version)
        attempt = pending.attempts + 1
        error = type(problem.__cause__ or problem).__name__
        events: list[ExtractionFailed | TurnParked] = [
            ExtractionFailed(
                extractor=self._reader.extractor.name,
                attempt=attempt,
                error=error,
                detail=str(problem),
            )
        ]
        done.failed += 1
        done.problem = told(error, str(problem))
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

    def _still_pending(self, each: Pending) -> Pending | None:
        """The turn as it is now; None once it has an outcome or is parked."""
        waits, attempts, version = True, 0, 0
        for recorded in self._log.read_stream(each.turn_id):
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
            draft = self._writer.draft()
            for turn_id in dict.fromkeys(turn_ids):
                events = self._log.read_stream(turn_id)
                parked = [each for each in events if each.type in _PARKING]
                if not parked or parked[-1].type != TurnParked.NAME:
                    continue
                first, ref = events[0], events[0].subject_ref
                if ref is None or first.event is None or self._writer.erased(ref, first.position):
                    continue
                draft.reads(turn_id, events[-1].version)
                event = TurnRetried(attempts=parked[-1].facts["attempts"])
                draft.write(New(event, new_id(), turn_id, ref, actor, first.event_id, turn_id))
            self._writer.commit(draft)
            return len(draft.events)

        return self._log.decide_again(attempt)
