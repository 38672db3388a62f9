"""Counts of what was decided, also about whoever was erased.

Everything here is counted over envelopes, in one pass: no body is opened, so that the counts are
the same before an erasure and after it, but for the bodies that are gone.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from beliefledger.ledger import envelope
from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.erasures import RESTORED, Erasure
from beliefledger.ledger.errors import InvalidQuery
from beliefledger.ledger.events.belief import (
    BeliefContested,
    ConflictEscalated,
    ConflictResolved,
    MemoryAdmitted,
    MemoryConfirmed,
    MemoryQuarantined,
    MemoryRevoked,
    MemorySuperseded,
)
from beliefledger.ledger.events.ops import ConsumerAcknowledged
from beliefledger.ledger.events.recall import MemoriesRecalled
from beliefledger.ledger.events.subject import (
    ConsentWithdrawn,
    LegalHoldLifted,
    LegalHoldPlaced,
)
from beliefledger.ledger.events.turn import (
    CandidateProposed,
    ExtractionCompleted,
    GateDecided,
    TurnRecorded,
)
from beliefledger.ledger.gc_pause import gc_paused
from beliefledger.ledger.store import Row
from beliefledger.ledger.upcast import current_name, stored_names
from beliefledger.opening.core import Core
from beliefledger.projections import questions
from beliefledger.projections.decisions import DecisionsView
from beliefledger.reading.queries import Queries
from beliefledger.times import Progress

Fields = dict[str, Any]

_TOLD = 5_000
"""How many envelopes are counted between two reports of progress."""
_EFFECTS = {
    "admit": "memory.admitted",
    "confirm": "memory.confirmed",
    "supersede": "memory.superseded",
    "quarantine": "memory.quarantined or confirmed",
    "escalate": "conflict.escalated",
}
"""The outcomes after which something happens to a belief, and what."""


class Loops(Frozen):
    """How often a belief was contested because it kept changing, a statement about such a one was
    escalated to a person, and a person resolved one."""

    contested: int
    escalated: int
    resolved: dict[str, int]


class ErasureCount(Frozen):
    """Erasures of one reach."""

    requested: int
    completed: int


class Bodies(Frozen):
    """How many events were written with a body, how many still have it, and why the others do not:
    the whole subject was erased, or this content was. What nothing explains was lost."""

    written: int
    kept: int
    gone: int
    erased_subjects: int
    erased_content: int
    unexplained: int


class Sum(Frozen):
    """Two numbers that have to be the same, counted in different places."""

    what: str
    counted: int
    expected: int
    adds_up: bool
    detail: str | None = None
    """Where they differ, the first thing that does."""


class AuditAnswer(Frozen):
    """What happened, in numbers, up to a position. `types` counts every event by its name today;
    the bodies are as they are now."""

    position: int
    events: int
    types: dict[str, int]
    turns: int
    candidates: int
    pending: int
    """Candidates whose decision comes after the position."""
    decisions: dict[str, dict[str, int]]
    """By outcome, then by reason."""
    supersessions: dict[str, int]
    loops: Loops
    revocations: dict[str, int]
    """By cause."""
    reads: int
    erasures: dict[str, ErasureCount]
    """By reach."""
    holds_in_force: int
    acknowledged: dict[str, int]
    """Erasures that each consumer has acknowledged."""
    bodies: Bodies
    sums: tuple[Sum, ...]
    adds_up: bool


def count(
    core: Core, queries: Queries, as_of: int | None = None, progress: Progress | None = None
) -> AuditAnswer:
    """Count envelopes up to a position, by default the head.

    Raises `InvalidQuery` for a position that is not there, `LogCorrupted` for an envelope that
    cannot be read.
    """
    core.recorder.flush()
    head = core.log.head().position
    if as_of is not None and (isinstance(as_of, bool) or not 0 <= as_of <= head):
        raise InvalidQuery(f"as_of: {as_of!r} is no position; the log goes from 0 to {head}.")
    upto = head if as_of is None else as_of
    tally = Tally(core.log.eraser.told())
    with gc_paused():
        for number, row in enumerate(core.log.raw(0, upto), 1):
            tally.take(row)
            if progress and number % _TOLD == 0:
                progress(row.position, upto)
    with queries.view(DecisionsView.name) as (connection, generation):
        seen = questions.reasons(connection, generation, upto)
    return tally.answer(upto, seen, whole=upto == head)


class Tally:
    """Counts envelopes, one after the other, in order of position."""

    def __init__(self, told: Iterable[Erasure]) -> None:
        """`told` are all erasures up to now, which explain the bodies that are gone."""
        self._told = list(told)
        self._subjects = {each.subject_ref for each in self._told if each.whole}
        self._content: dict[str, list[tuple[int, int]]] = {}
        for each in self._told:
            if not each.whole:
                self._content.setdefault(each.subject_ref, []).extend(each.positions)
        self._types: Counter[str] = Counter()
        self._kept = 0
        self._gone: Counter[str] = Counter()
        """By type: the bodies that are gone."""
        self._of_subjects = self._of_content = 0
        self._unexplained = array("q")
        self._undecided: set[str] = set()
        self._strangers: list[str] = []
        """Decisions of candidates that nobody proposed, or that had one."""
        self._owed: dict[str, str] = {}
        """Decisions that have not had their effect yet, with their outcome."""
        self._effects = 0
        self._decisions: Counter[tuple[str, str]] = Counter()
        self._announced = 0
        """Candidates that extractions said they found."""
        self._supersessions: Counter[str] = Counter()
        self._resolved: Counter[str] = Counter()
        self._revocations: Counter[str] = Counter()
        self._withdrawn = 0
        self._holds: set[tuple[str, str]] = set()
        self._acknowledged: dict[str, set[str]] = {}
        self._take = self._by_stored_name(
            {
                ExtractionCompleted.NAME: self._extracted,
                CandidateProposed.NAME: self._proposed,
                GateDecided.NAME: self._decided,
                MemoryAdmitted.NAME: self._effect,
                MemoryConfirmed.NAME: self._effect,
                MemoryQuarantined.NAME: self._effect,
                ConflictEscalated.NAME: self._effect,
                MemorySuperseded.NAME: self._superseded,
                MemoryRevoked.NAME: self._revoked,
                ConflictResolved.NAME: self._settled,
                ConsentWithdrawn.NAME: self._withdrew,
                LegalHoldPlaced.NAME: self._held,
                LegalHoldLifted.NAME: self._lifted,
                ConsumerAcknowledged.NAME: self._confirmed,
            }
        )

    @staticmethod
    def _by_stored_name(
        taking: Mapping[str, Callable[[Fields, Fields], None]],
    ) -> dict[str, Callable[[Fields, Fields], None]]:
        return {stored: take for name, take in taking.items() for stored in stored_names([name])}

    def take(self, row: Row) -> None:
        fields = envelope.read(row.envelope, row.position)
        name = fields["type"]
        self._types[name] += 1
        if fields["body_digest"] is not None:
            if row.body is None:
                self._missing(row.position, name, fields["subject_ref"])
            else:
                self._kept += 1
        take = self._take.get(name)
        if take is not None:
            take(fields, fields["facts"])

    def _missing(self, position: int, name: str, subject_ref: str | None) -> None:
        if subject_ref in self._subjects:
            self._of_subjects += 1
        elif any(
            first <= position <= last for first, last in self._content.get(subject_ref or "", ())
        ):
            self._of_content += 1
        else:
            self._unexplained.append(position)
        self._gone[current_name(name)] += 1

    # Each kind of event

    def _extracted(self, _: Fields, facts: Fields) -> None:
        self._announced += facts["candidates"]

    def _proposed(self, fields: Fields, _: Fields) -> None:
        self._undecided.add(fields["event_id"])

    def _decided(self, fields: Fields, facts: Fields) -> None:
        outcome = facts["outcome"]
        self._decisions[outcome, facts["reason"]] += 1
        try:
            self._undecided.remove(facts["candidate"])
        except KeyError:
            self._strangers.append(fields["event_id"])
        if outcome in _EFFECTS:
            self._owed[fields["event_id"]] = outcome
        # No extraction told of a candidate that was proposed again to be decided anew.
        self._announced += facts.get("reconsiders") is not None

    def _effect(self, _: Fields, facts: Fields) -> None:
        """What a person settled has an effect, too, and a merge of entities tells one again."""
        if self._owed.pop(facts["decision"], None) is not None:
            self._effects += 1

    def _superseded(self, fields: Fields, facts: Fields) -> None:
        self._supersessions[facts["kind"]] += 1
        self._effect(fields, facts)

    def _revoked(self, _: Fields, facts: Fields) -> None:
        self._revocations[facts["cause"]] += 1

    def _settled(self, _: Fields, facts: Fields) -> None:
        self._resolved[facts["kind"]] += 1

    def _withdrew(self, _: Fields, facts: Fields) -> None:
        self._withdrawn += facts["revoked"]

    def _held(self, fields: Fields, facts: Fields) -> None:
        self._holds.add((fields["subject_ref"], facts["hold"]))

    def _lifted(self, fields: Fields, facts: Fields) -> None:
        self._holds.discard((fields["subject_ref"], facts["hold"]))

    def _confirmed(self, _: Fields, facts: Fields) -> None:
        self._acknowledged.setdefault(facts["consumer"], set()).add(facts["erasure"])

    # What it comes to

    def answer(self, upto: int, seen: Mapping[tuple[str, str], int], *, whole: bool) -> AuditAnswer:
        """`seen` is what the view has of decisions, by outcome and reason. `whole` says that the
        position is the head, so that no append is cut in two by it."""
        types: Counter[str] = Counter()
        for name, number in self._types.items():
            types[current_name(name)] += number
        sums = (
            *self._sums_of_decisions(types, whole=whole),
            self._sum_of_view(seen),
            *self._sums_of_bodies(whole=whole),
        )
        return AuditAnswer(
            position=upto,
            events=sum(types.values()),
            types=dict(sorted(types.items())),
            turns=types[TurnRecorded.NAME],
            candidates=types[CandidateProposed.NAME],
            pending=len(self._undecided),
            decisions=_nested(self._decisions),
            supersessions=dict(sorted(self._supersessions.items())),
            loops=Loops(
                contested=types[BeliefContested.NAME],
                escalated=sum(n for (out, _), n in self._decisions.items() if out == "escalate"),
                resolved=dict(sorted(self._resolved.items())),
            ),
            revocations=dict(sorted(self._revocations.items())),
            reads=types[MemoriesRecalled.NAME],
            erasures=self._by_reach(upto),
            holds_in_force=len(self._holds),
            acknowledged={name: len(told) for name, told in sorted(self._acknowledged.items())},
            bodies=Bodies(
                written=self._kept + sum(self._gone.values()),
                kept=self._kept,
                gone=sum(self._gone.values()),
                erased_subjects=self._of_subjects,
                erased_content=self._of_content,
                unexplained=len(self._unexplained),
            ),
            sums=sums,
            adds_up=all(each.adds_up for each in sums),
        )

    def _by_reach(self, upto: int) -> dict[str, ErasureCount]:
        found: dict[str, list[int]] = {}
        for each in self._told:
            if each.position <= upto:
                counted = found.setdefault(each.reach, [0, 0])
                counted[0] += 1
                counted[1] += each.done is not None and each.done.position <= upto
        return {
            reach: ErasureCount(requested=requested, completed=completed)
            for reach, (requested, completed) in sorted(found.items())
        }

    def _sums_of_decisions(self, types: Mapping[str, int], *, whole: bool) -> list[Sum]:
        candidates, decisions = types[CandidateProposed.NAME], types[GateDecided.NAME]
        strangers, owed = self._strangers, self._owed
        lacking = sorted(self._undecided) if whole else []
        return [
            _sum(
                "candidates that extractions told of are candidates",
                candidates,
                self._announced,
                # An append may be cut by the position: its extraction comes first.
                adds_up=None if whole else candidates - len(self._undecided) <= self._announced,
            ),
            _sum(
                "each candidate has one decision",
                decisions,
                candidates - (0 if whole else len(self._undecided)),
                adds_up=not strangers and not lacking and None,
                detail=f"decision {strangers[0]} is of no candidate that waited"
                if strangers
                else f"candidate {lacking[0]} has none"
                if lacking
                else None,
            ),
            _sum(
                "decisions by outcome and reason are all decisions",
                sum(self._decisions.values()),
                decisions,
            ),
            _sum(
                "each decision that changes a belief changed one",
                self._effects,
                self._effects + (len(owed) if whole else 0),
                detail=next(
                    (f"decision {one} has no {_EFFECTS[outcome]}" for one, outcome in owed.items()),
                    None,
                ),
            ),
            _sum(
                "withdrawn consents revoked as many memories as they say",
                self._revocations["consent_withdrawn"],
                self._withdrawn,
                adds_up=None
                if whole
                else self._revocations["consent_withdrawn"] <= self._withdrawn,
            ),
        ]

    def _sum_of_view(self, seen: Mapping[tuple[str, str], int]) -> Sum:
        differing = sorted(
            key
            for key in {*seen, *self._decisions}
            if seen.get(key, 0) != self._decisions.get(key, 0)
        )
        detail = None
        if differing:
            outcome, reason = differing[0]
            detail = (
                f"{outcome} {reason}: the view has {seen.get(differing[0], 0):,}, the log"
                f" {self._decisions.get(differing[0], 0):,}; run: beliefledger ops rebuild"
                f" {DecisionsView.name}"
            )
        return _sum(
            "the view of decisions has those of the log",
            sum(seen.values()),
            sum(self._decisions.values()),
            adds_up=not differing,
            detail=detail,
        )

    def _sums_of_bodies(self, *, whole: bool) -> list[Sum]:
        gone = sum(self._gone.values())
        lost = self._unexplained
        found = [
            _sum(
                "an erasure explains every body that is gone",
                gone - len(lost),
                gone,
                detail=f"nothing explains that the body of position {lost[0]} is missing"
                if lost
                else None,
            )
        ]
        # The first versions of these events have no receipts, and what is erased again after a
        # restore was counted by the erasure before.
        untold = any(
            each.done is None or not each.done.facts["request"] or each.reach == RESTORED
            for each in self._told
        )
        if whole and not untold:
            receipts: Counter[str] = Counter()
            for each in self._told:
                receipts.update(each.done.facts["counts"] if each.done else {})
            differing = sorted(
                name for name in {*receipts, *self._gone} if receipts[name] != self._gone[name]
            )
            found.append(
                _sum(
                    "erasures account for as many bodies as are gone",
                    sum(receipts.values()),
                    gone,
                    adds_up=not differing,
                    detail=None
                    if not differing
                    else f"{differing[0]}: erasures say {receipts[differing[0]]:,}, and"
                    f" {self._gone[differing[0]]:,} are gone",
                )
            )
        return found


def _sum(
    what: str,
    counted: int,
    expected: int,
    *,
    adds_up: bool | None = None,
    detail: str | None = None,
) -> Sum:
    """`adds_up` says it where being equal is not all that counts; None: being equal is."""
    holds = counted == expected if adds_up is None else adds_up
    return Sum(
        what=what,
        counted=counted,
        expected=expected,
        adds_up=holds,
        detail=None if holds else detail,
    )


def _nested(decisions: Mapping[tuple[str, str], int]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for (outcome, reason), number in sorted(decisions.items()):
        found.setdefault(outcome, {})[reason] = number
    return found
