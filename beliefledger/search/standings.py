"""The standing of what is searched: the gate at the way out, as an index asks it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace

from beliefledger.gate.rulebook import Rules
from beliefledger.gate.standing import OUTDATED, MemoryStanding, Rights, TurnStanding, rights_of
from beliefledger.gate.standing_fold import StandingFold
from beliefledger.gate.standing_parts import NAMES, Touched
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.log import Log
from beliefledger.ledger.times import Micros
from beliefledger.opening.core import Core
from beliefledger.projections.search_requests import ALL, THEN, Hit
from beliefledger.projections.showing import (
    Run,
    ShownTurn,
    Superseded,
    blanked,
    is_over,
    joined,
    says_nothing,
)

MOST_KEPT = 32
"""People whose standing is kept: it grows with what they said."""


@dataclass(slots=True)
class Standing:
    """What may be shown of one subject for one purpose, kept up with the log."""

    subject_ref: str
    purpose: str
    fold: StandingFold = field(default_factory=StandingFold)
    rights: Rights = field(default_factory=lambda: Rights(""))
    ends_at: int | None = None
    """The position as of which it is; None: of the present."""
    now: Micros = 0
    """The time at which it is asked."""

    @property
    def lawful(self) -> bool:
        """Whether a lawful basis for the purpose is in force."""
        return bool(self.rights.covered)

    def follow(self, log: Log, upto: int) -> tuple[Touched, Sequence[Recorded]]:
        """Take in the subject's events up to a position; what they changed, and which they were:
        none where these are all that there are."""
        if self.ends_at is not None:
            upto = min(upto, self.ends_at)
        if upto <= self.fold.position:
            return Touched(), ()
        events = log.of_subject(self.subject_ref, upto, self.fold.position)
        if not self.fold.position:  # all there is: not to be held at once
            return self.fold.follow((each for each in events if each.type in NAMES), upto), ()
        taken = list(events)
        return self.fold.follow((each for each in taken if each.type in NAMES), upto), taken

    def permit(self, rules: Rules, now: Micros) -> bool:
        """Find out what the lawful bases in force cover now; whether that is as it was."""
        self.now = now
        before, self.rights = (
            self.rights,
            rights_of(self.fold.consent, rules.policy, self.purpose, now),
        )
        return _covers(before) == _covers(self.rights)

    def same_at(self, position: int, rules: Rules, now: Micros) -> bool:
        """Whether what is shown is what was shown at a position and a time."""
        then = rights_of(self.fold.consent, rules.policy, self.purpose, now)
        return self.fold.changed_at <= position and _covers(then) == _covers(self.rights)

    # As an index asks

    def is_decided(self, turn_id: str) -> bool:
        return self.fold.decided_at(turn_id) > 0

    def turn(self, turn_id: str, content: str) -> ShownTurn | None:
        standing = self.fold.turn(turn_id, content, self.rights)
        if standing.whole is not None:
            return None
        withheld = tuple(joined([(each.start, each.end) for each in standing.withheld]))
        if withheld and says_nothing(blanked(content, withheld)):
            return None
        return shown_turn(standing, content, withheld, self.fold.decided_at(turn_id))

    def memory(self, memory_id: str) -> bool:
        return self.fold.withholds(memory_id, self.rights) is None

    # Of results

    def outdated(self, memory_id: str) -> MemoryStanding | None:
        """What became of a memory that is no longer so; None while it is, or where none is."""
        found = self.fold.memory(memory_id)
        if not found or found.state not in OUTDATED or not self.is_over(found.since):
            return None
        return replace(found, by=self.named(found.by))

    def named(self, memory_id: str | None) -> str | None:
        """What took the place of something, where it may be shown itself."""
        return memory_id if memory_id is not None and self.memory(memory_id) else None

    def is_over(self, since: Micros | None) -> bool:
        """Whether what ends at a time is over by now."""
        return is_over(since, self.now)

    def marked(self, hit: Hit) -> Hit:
        """A result with what became of it by now."""
        if hit.row_id is None:
            turn = hit.turn
            if turn is None:
                return hit
            over = turn.outdated(self.now)
            return replace(
                hit,
                superseded=over and self._with_name(over),
                parts=tuple(self._with_name(each) for each in turn.over(self.now)),
                reasons=turn.reasons,
            )
        found = self.outdated(hit.id)
        if found is None:
            return replace(hit, reasons=self._reasons(hit.id))
        became = Superseded(hit.id, found.by, found.since)
        return replace(hit, superseded=became, reasons=self._reasons(hit.id))

    def _with_name(self, over: Superseded) -> Superseded:
        return replace(over, by=self.named(over.by))

    def _reasons(self, memory_id: str) -> tuple[str, ...]:
        return ()


class Everything(Standing):
    """For whoever audits: withholds nothing, and says what would be."""

    def turn(self, turn_id: str, content: str) -> ShownTurn | None:
        standing = self.fold.turn(turn_id, content, self.rights)
        causes = dict.fromkeys(each.reason or each.cause.value for each in standing.withheld)
        if standing.whole is not None:
            causes = {standing.whole.value: None}
        return replace(
            shown_turn(standing, content, (), self.fold.decided_at(turn_id)), reasons=tuple(causes)
        )

    def memory(self, memory_id: str) -> bool:
        return True

    def _reasons(self, memory_id: str) -> tuple[str, ...]:
        cause = self.fold.withholds(memory_id, self.rights)
        return () if cause is None else (cause.value,)


def standing_now(core: Core, subject_ref: str, purpose: str | None = None) -> Standing:
    """What may be shown of a subject now, for a purpose (by default the policy's)."""
    rules = core.rulebook.refreshed()
    standing = Standing(subject_ref, purpose or rules.policy.purpose)
    standing.follow(core.log, core.log.head().position)
    standing.permit(rules, core.clock())
    return standing


class KeptStandings:
    """The standings of whom was asked about last, so that a question reads what came since, and not
    everything that was ever said. They go where anything was erased."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], tuple[threading.Lock, Standing]] = OrderedDict()
        self._erasures = -1

    @contextmanager
    def now(self, subject_ref: str) -> Iterator[Standing]:
        """As `standing_now`. Nobody waits for one that another thread asks: it is made anew."""
        log, rules, head = self._core.log, self._core.rulebook.refreshed(), self._core.log.head()
        key = subject_ref, rules.policy.purpose
        with self._lock:
            if head.erasures != self._erasures:
                self._kept.clear()
                self._erasures = head.erasures
            found = self._kept.get(key)
            if found is None:
                found = self._kept[key] = threading.Lock(), Standing(*key)
            self._kept.move_to_end(key)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        lock, standing = found
        if not lock.acquire(blocking=False):
            yield standing_now(self._core, subject_ref)
            return
        try:
            if not log.own.none_of(NAMES, standing.fold.position, head.position):
                standing.follow(log, head.position)
            standing.permit(rules, self._core.clock())
            yield standing
        finally:
            lock.release()


def standing_apart(
    core: Core, subject_ref: str, purpose: str | None, kind: str, position: int, at: Micros
) -> Standing:
    """For whoever audits: what could be shown at a position and a time (`then`), or all of it."""
    rules = core.rulebook.refreshed()
    standing = audited(subject_ref, purpose or rules.policy.purpose, kind, position)
    standing.follow(core.log, core.log.head().position)
    standing.permit(rules, at if kind == THEN else core.clock())
    return standing


def audited(subject_ref: str, purpose: str, kind: str, position: int | None) -> Standing:
    """The standing for whoever audits, of no event yet; of `then`, it will end at a position."""
    standing = (Everything if kind == ALL else Standing)(subject_ref, purpose)
    standing.ends_at = position if kind == THEN else None
    return standing


def shown_turn(
    standing: TurnStanding, content: str, withheld: tuple[Run, ...], decided: int
) -> ShownTurn:
    return ShownTurn(
        withheld=withheld,
        superseded=tuple(
            dict.fromkeys(
                Superseded(each.memory, each.by, each.since, each.start, each.end)
                for each in standing.outdated
            )
        ),
        contested=standing.contested,
        memories=tuple(_of_their_own(standing, content)),
        decided=decided,
    )


def _of_their_own(standing: TurnStanding, content: str) -> Iterator[str]:
    """The memories of a turn, without those that took the place of others of its words, and without
    how somebody is called of whom the rest is over: "my sister Ana", who works there no more."""
    instead = {each.by for each in standing.outdated}
    for memory, spans in standing.memories.items():
        called = spans and all(
            _CALLED.fullmatch(content, start, end) is not None
            and any(over.start == start and end < over.end for over in standing.outdated)
            for start, end in spans
        )
        if memory not in instead and not called:
            yield memory


_CALLED = compile_later(r"(?i:my|our) (?:[a-z]{1,20} ){1,3}[A-ZÀ-Þ][\w'’-]{0,30}")


def _covers(rights: Rights) -> tuple[object, ...]:
    """All of it that decides what is shown."""
    return rights.covered, rights.approvals, rights.grants, rights.prohibited
