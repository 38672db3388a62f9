"""The gate: records turns, takes memories with chosen fields, and has the queue processed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from beliefledger.gate.deadline import Deadline
from beliefledger.gate.draft import About
from beliefledger.gate.extractor import Extractor
from beliefledger.gate.intake import IMPORTED, ChosenMemory, TurnInput
from beliefledger.gate.new_turns import NewTurns
from beliefledger.gate.queue import PendingTurns, TurnQueue
from beliefledger.gate.reader import TurnReader
from beliefledger.gate.rulebook import Rulebook, Rules
from beliefledger.gate.turns import Receipt, as_told, cited
from beliefledger.gate.writer import Writer
from beliefledger.ledger import codec, own_secrets, streams
from beliefledger.ledger.codec import New, Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import (
    ExtractionUnavailable,
    IdempotencyKeyReused,
    InvalidTurn,
    NotPermitted,
    VersionConflict,
)
from beliefledger.ledger.events.ops import RedactionsDeclared
from beliefledger.ledger.events.turn import (
    CandidateProposed,
    ExtractionCompleted,
    GateDecided,
    TurnRecorded,
)
from beliefledger.ledger.log import Log, new_id
from beliefledger.ledger.spans import UPSERT, traced
from beliefledger.ledger.times import Clock, Micros, to_datetime
from beliefledger.ledger.vault import ERASED, SYSTEM


@dataclass(frozen=True, slots=True)
class Told:
    """A turn to be recorded, with its stream: another stream than before if that one is erased."""

    turn_id: str
    subject_ref: str
    turn: TurnInput
    position: int | None = None
    """Where it is in the log; None while it is not."""
    withheld: bool = False


class Rehearsed(NamedTuple):
    """A decision that was made but not recorded. `after` is its distance from its turn's position,
    had it been recorded."""

    after: int
    proposed: CandidateProposed
    decided: GateDecided


class Stored(NamedTuple):
    """A memory that was stored: its turn, and the decision about it."""

    receipt: Receipt
    decision: str | None = None
    """None when the turn was there already, or is withheld."""
    waits_at: str | None = None
    """The belief where the decision waits for a person."""
    told: Sequence[Recorded] = ()
    """The candidate and the decision, as they are in the log."""


class Gate(Writer):
    """Records turns and memories; whatever else writes memories uses its drafts."""

    def __init__(
        self,
        log: Log,
        rulebook: Rulebook,
        extractor: Extractor,
        clock: Clock,
        turns: PendingTurns,
        about: About = lambda _subject, _entity: {},
        deadline: Deadline | None = None,
        first_basis: str | None = None,
    ) -> None:
        """`first_basis` is the lawful basis that is granted at each subject's first turn; None
        where somebody has to grant it."""
        super().__init__(log, rulebook, clock, about)
        self._first_basis = first_basis
        self._declared: str | None = None
        """The redactions of one's own that are known to be on record."""
        self.reader = TurnReader(self, extractor, turns.earlier, deadline, turns.believed)
        self.queue = TurnQueue(self, self.reader, turns)
        self.new_turns = NewTurns(self, self.reader, self.queue)

    # Recording

    @traced(UPSERT)
    def record(self, turns: Sequence[TurnInput], actor: str = SYSTEM) -> list[Receipt]:
        """Record turns in one durable append. A turn that is there already is left as it is.

        Raises `InvalidTurn` or `NotPermitted` before anything is written.
        """
        self.check(turns)
        refs = self.log.register([turn.subject for turn in turns])
        self._grant_default(list(dict.fromkeys(refs.values())))
        self._declare_redactions()

        def attempt() -> list[Receipt]:
            return self._record(turns, refs, actor)

        return self.again(attempt)

    def check(self, turns: Sequence[TurnInput]) -> None:
        """Raises `InvalidTurn` for a turn that the policy in force does not allow: of several it
        says which."""
        most = self.rulebook.current().policy.max_turn_bytes
        for number, turn in enumerate(turns, 1):
            try:
                turn.check(most)
            except InvalidTurn as problem:
                if len(turns) == 1:
                    raise
                raise InvalidTurn(f"turn {number} of {len(turns)}: {problem.detail}") from problem

    def _declare_redactions(self) -> None:
        """Put the redactions of one's own on record before the first turn that they look at."""
        digest = own_secrets.digest()
        if digest is None or digest == self._declared:
            return
        stream = streams.redactions_stream(self.log.tenant, digest)
        if not self.log.version(stream):
            own = own_secrets.added()
            declared = RedactionsDeclared(
                digest=digest,
                kinds=tuple(each.kind for each in own),
                sources=tuple(each.source for each in own),
                digests=tuple(each.digest for each in own),
            )
            with suppress(VersionConflict):  # another process has declared them
                self.log.append([New(declared, new_id(), stream, None, SYSTEM)], {stream: 0})
        self._declared = digest

    def _grant_default(self, refs: Sequence[str]) -> None:
        if self._first_basis is not None:
            self.grant_first(refs, self._first_basis)

    def grant_first(self, refs: Sequence[str], basis: str, actor: str = SYSTEM) -> None:
        """Put a basis on record for those who were never granted one and never withdrew.

        Raises `NotPermitted` where the policy in force does not know that basis.
        """

        def attempt() -> None:
            rules = self.rulebook.current()
            # As known here: who was erased since is refused when they are recorded.
            if all(self.memo.consent(ref).answered for ref in refs):
                return
            self.memo.refresh()
            new: list[New] = []
            expect = {self.rulebook.stream: rules.version}
            for ref in refs:
                consent = self.memo.consent(ref)
                event = consent.first_grant(basis, rules.policy.purpose)
                if event is None or consent.erasing or self.log.keys(ref) is None:
                    continue
                stream = streams.subject_stream(ref)
                new.append(New(event, new_id(), stream, ref, actor))
                expect[stream] = consent.version
            if new:
                rules.policy.check_basis(basis)
                self.log.append(new, expect)
                self.memo.forget(*refs)

        self.again(attempt)

    def _record(
        self, turns: Sequence[TurnInput], refs: dict[str, str], actor: str
    ) -> list[Receipt]:
        if len(turns) > 1:  # a single one is refused by the append if an erasure was first
            self.memo.refresh()
        ids: list[str] = []
        new: dict[str, Told] = {}
        expect: dict[str, int] = {}
        for turn in turns:
            ref = refs[turn.subject]
            keys = self.log.keys(ref)
            if keys is None or self.memo.consent(ref).erasing:
                raise NotPermitted(ERASED)
            turn_id = streams.turn_stream(keys.ids, turn.key())
            ids.append(turn_id)
            if turn_id in new:
                _check_repeats(turn, new[turn_id].turn, "in the same call")
            else:
                new[turn_id] = Told(turn_id, ref, turn)
                expect[streams.subject_stream(ref)] = self.memo.consent(ref).version
        # A single turn is almost always new: let the append find out. A batch may be a repetition.
        told = self._looked_up(new) if len(new) > 1 else new
        try:
            appended = self._append_turns(list(told.values()), expect, actor)
        except VersionConflict as conflict:
            # It is there already; whether it may be told is not decided by what was known before.
            if conflict.stream not in new or self.memo.refresh():
                raise
            told = self._looked_up(new)
            if told == new:
                raise
            appended = self._append_turns(list(told.values()), expect, actor)
        receipts, seen = [], set[str]()
        for each in map(told.__getitem__, ids):
            already = each.position is not None or each.turn_id in seen
            made = None if already else appended[each.turn_id]
            position = appended[each.turn_id].position if each.position is None else each.position
            receipts.append(
                Receipt(each.turn_id, position, each.subject_ref, already, each.withheld, made)
            )
            seen.add(each.turn_id)
        return receipts

    def _looked_up(self, turns: Mapping[str, Told]) -> dict[str, Told]:
        """These turns with their positions, for those that are in the log. A turn whose words
        are erased stays erased when it is delivered again: it is recorded without words, in a
        stream of its own, so that it looks like any other turn. That stream may exist, or be
        erased, in turn."""
        there = [turn_id for turn_id, version in self.log.versions(list(turns)).items() if version]
        return dict(turns) | {turn_id: self._told(turns[turn_id]) for turn_id in there}

    def _told(self, each: Told) -> Told:
        """As `_looked_up`, for one turn."""
        keys = self.log.keys(each.subject_ref)
        if keys is None:
            raise NotPermitted(ERASED)
        consent = self.memo.consent(each.subject_ref)
        while there := self.log.read_stream(each.turn_id, upto=1):
            [first] = there
            if first.event is not None and not consent.is_going(first.position):
                if not each.withheld and isinstance(first.event, TurnRecorded):
                    when = f"{to_datetime(first.recorded_at):%Y-%m-%d %H:%M} UTC"
                    first_use = f"for turn {each.turn_id[:10]} on {when}"
                    _check_repeats(each.turn, first.event, first_use)
                return replace(each, position=first.position)
            again = streams.told_again(keys.ids, each.turn_id)
            each = replace(each, turn_id=again, withheld=True)
        return each

    def _append_turns(
        self, told: Sequence[Told], expect: dict[str, int], actor: str
    ) -> dict[str, Recorded]:
        """The turns that were not there, as they are in the log now."""
        events: list[New] = []
        at: dict[str, int] = {}
        for each in told:
            if each.position is not None:
                continue
            turn_id, ref = each.turn_id, each.subject_ref
            at[turn_id] = len(events)
            event = New(self._event(each), new_id(), turn_id, ref, actor, None, turn_id)
            events.append(event)
            if each.turn.channel == IMPORTED:
                read = ExtractionCompleted(extractor=IMPORTED, candidates=0, skipped=IMPORTED)
                events.append(New(read, new_id(), turn_id, ref, actor, event.event_id, turn_id))
        if not events:
            return {}
        appended = self.log.append(events, dict.fromkeys(at, 0) | expect)
        recorded_at, tenant = appended.recorded_at, self.log.tenant
        return {
            turn_id: codec.written(events[offset], 1, appended.first + offset, recorded_at, tenant)
            for turn_id, offset in at.items()
        }

    def _event(self, told: Told, clock_said: Micros | None = None) -> TurnRecorded:
        keys = self.log.keys(told.subject_ref)
        if keys is None:
            raise NotPermitted(ERASED)
        if told.withheld:
            return told.turn.withheld(streams.session_tag(keys.ids, None))
        return told.turn.event(keys.ids, clock_said)

    # Storing with chosen fields

    def store(self, memories: Sequence[ChosenMemory], actor: str = SYSTEM) -> list[Stored]:
        """Record memories with chosen fields: turns, candidates and decisions in one append. Each
        is decided after those before it."""
        self.check([each.turn for each in memories])
        refs = self.log.register([each.turn.subject for each in memories])
        self._grant_default(list(dict.fromkeys(refs.values())))
        self._declare_redactions()
        return self.again(lambda: self._store(memories, refs, actor))

    def _store(
        self, memories: Sequence[ChosenMemory], refs: Mapping[str, str], actor: str
    ) -> list[Stored]:
        # Whatever decides is loaded when something is decided: who only asks need not wait.
        from beliefledger.gate.candidates import ReadTurn, decide_candidates  # noqa: PLC0415

        draft = self.draft()
        memories = [self._categorised(each, draft.rules) for each in memories]
        ids, new = [], dict[str, Told]()
        for each in memories:
            ref = refs[each.turn.subject]
            draft.consent(ref)
            ids.append(streams.turn_stream(draft.keys(ref).ids, each.turn.key()))
            same = new.setdefault(ids[-1], Told(ids[-1], ref, each.turn))
            _check_repeats(each.turn, same.turn, "in the same call")
        there = self._looked_up(new)
        draft.read_ahead(
            (there[turn_id].subject_ref, each.candidate)
            for turn_id, each in zip(ids, memories, strict=True)
            if there[turn_id].position is None and not there[turn_id].withheld
        )
        stored: list[tuple[Receipt, int, str | None]] = []
        begun: dict[str, int] = {}
        for turn_id, memory in zip(ids, memories, strict=True):
            told = there[turn_id]
            ref, withheld = told.subject_ref, told.withheld
            known = begun.get(turn_id)
            if told.position is not None or known is not None:
                position, offset = (told.position or 0, 0) if known is None else (0, known)
                receipt = Receipt(told.turn_id, position, ref, already=True, withheld=withheld)
                stored.append((receipt, offset, None))
                continue
            draft.reads(told.turn_id, 0)
            event = self._event(told, draft.now)
            made = New(event, new_id(), told.turn_id, ref, actor, None, told.turn_id)
            begun[turn_id] = len(draft.events)
            draft.write(made)
            recorded = made.event
            assert isinstance(recorded, TurnRecorded)
            outcome = ExtractionCompleted(extractor="store", candidates=0 if withheld else 1)
            noticed = [] if withheld else [memory.candidate]
            view = as_told(memory.turn, told.turn_id, recorded, draft.now)
            view = view.citing(draft.cited(ref, noticed))
            read = ReadTurn(view, 0, made.event_id, ref, actor)
            decide_candidates(draft, read, outcome, noticed, memory.choices)
            receipt = Receipt(told.turn_id, 0, ref, withheld=withheld)
            stored.append((receipt, begun[turn_id], None if withheld else draft.decided[-1]))
        appended = self.commit(draft)
        first = 0 if appended is None else appended.first
        waiting, told_of = draft.waiting_at(), dict[str, list[Recorded]]()
        if appended is not None:
            for written in draft.written(appended, CandidateProposed, GateDecided):
                told_of.setdefault(written.stream, []).append(written)
        return [
            Stored(
                receipt.at(receipt.position or first + offset),
                decision,
                waiting.get(decision or ""),
                told_of.get(receipt.turn_id, ()) if decision else (),
            )
            for receipt, offset, decision in stored
        ]

    @staticmethod
    def _categorised(memory: ChosenMemory, rules: Rules) -> ChosenMemory:
        from beliefledger.gate.special_categories import categorised  # noqa: PLC0415

        candidate = categorised(memory.candidate, rules.registry, rules.policy)
        return memory if candidate is memory.candidate else replace(memory, candidate=candidate)

    def is_stored(self, receipt: Receipt) -> bool:
        """Whether a turn was recorded by `store`."""
        recorded = self.log.read_at([receipt.position])[receipt.position]
        return bool(recorded.facts["channel"] == "store")

    def rehearse(
        self, receipt: Receipt, turn: TurnInput, chosen: ChosenMemory | None = None
    ) -> list[Rehearsed]:
        """What would be decided about a withheld turn if nothing of it had been erased. Nothing is
        written: the caller gets the answer that any other turn would get. `chosen` is what
        `store` was given."""
        from beliefledger.gate.candidates import ReadTurn, decide_candidates  # noqa: PLC0415
        from beliefledger.gate.special_categories import categorised  # noqa: PLC0415

        draft, ref = self.draft(), receipt.subject_ref
        draft.consent(ref)
        event = self._event(Told("", ref, turn))
        view = as_told(turn, receipt.turn_id, event, draft.now)
        found = [self._categorised(chosen, draft.rules).candidate] if chosen else []
        if chosen is None:
            looked = self.reader.look(view, self.reader.session_before(receipt, event.session_tag))
            if isinstance(looked, ExtractionUnavailable):
                return []
            rules = draft.rules
            found = [categorised(each, rules.registry, rules.policy) for each in looked.candidates]
            view = replace(view, cited=cited(self.log, ref, found, self.memo.consent(ref)))
        outcome = ExtractionCompleted(extractor="", candidates=len(found))
        choices = chosen.choices if chosen else None
        decide_candidates(draft, ReadTurn(view, 1, "", ref), outcome, found, choices)
        events = [each.event for each in draft.events]
        return [
            Rehearsed(number, proposed, decided)
            for number, (proposed, decided) in enumerate(pairwise(events), 2)
            if isinstance(proposed, CandidateProposed) and isinstance(decided, GateDecided)
        ]


def _check_repeats(turn: TurnInput, before: TurnRecorded | TurnInput, first_use: str) -> None:
    """Raises `IdempotencyKeyReused` for other words under a key than it was first used for."""
    if not turn.repeats(before):
        raise IdempotencyKeyReused(
            f"idempotency_key: it was used {first_use}, and other words were sent then.", turn
        )
