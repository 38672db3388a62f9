"""The front door: everything a ledger does, as one object."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beliefledger.answers import (
    BeliefAnswer,
    ConflictAnswer,
    DecisionAnswer,
    LoopAnswer,
    ProcessAnswer,
    RebuildAnswer,
    ReplayAnswer,
    ReplaySummary,
    StatusAnswer,
    TurnReceipt,
)
from beliefledger.audit.counts import Auditing
from beliefledger.audit.judging import Judging
from beliefledger.curation.consolidation import Consolidating
from beliefledger.curation.extraction import Extracting
from beliefledger.curation.stewardship import Settling
from beliefledger.curation.types import Evolving
from beliefledger.erasure.certificate import Certifying
from beliefledger.erasure.erasure import Forgetting
from beliefledger.gate.extractor import Extractor
from beliefledger.gate.gate import Processed, Receipt
from beliefledger.gate.intake import TurnInput, check_size
from beliefledger.gate.policy import Policy, load, millionths
from beliefledger.gate.replay import Replayed, Verdict
from beliefledger.ledger.candidate import SELF, Candidate, Source, Span, When
from beliefledger.ledger.closing import Closing
from beliefledger.ledger.consumer import LEASE_SECONDS, Consumer
from beliefledger.ledger.errors import (
    InvalidTurn,
    LedgerError,
    NotPermitted,
    UnknownMemory,
)
from beliefledger.ledger.events.choices import Choices
from beliefledger.ledger.events.turn import GateDecided
from beliefledger.ledger.names import check_name
from beliefledger.ledger.redact import redact
from beliefledger.ledger.subscription import Subscription
from beliefledger.ledger.times import Clock, system_clock
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.build import Parts, build
from beliefledger.opening.place import Place, place_of
from beliefledger.opening.recorder import Recorder
from beliefledger.operations.ageing import Ageing
from beliefledger.operations.projector import Projecting, Tell
from beliefledger.proofs.notary import Notary
from beliefledger.proofs.proofs import Proving
from beliefledger.reading.people import Knowing
from beliefledger.reading.queries import Snapshot
from beliefledger.search.recalls import Recalling
from beliefledger.search.search import Searching
from beliefledger.search.vectors import Vectoring
from beliefledger.settings import Settings, seconds_of
from beliefledger.times import Moment, Progress, micros

if TYPE_CHECKING:  # whoever searches nothing need not wait for numpy
    from beliefledger.search.indexes import Finder


def open_memory(
    path_or_url: str | Path,
    *,
    policy: Policy | Path | str | Mapping[str, Any] | None = None,
    extractor: Extractor | str | None = None,
    embedder: str | None = None,
    extraction_seconds: float | None = None,
    clock: Clock = system_clock,
    create: bool = True,
    witnessed: bool = True,
) -> MemoryLedger:
    """Open a ledger, making it when it is not there.

    `path_or_url` is a directory, or `postgresql://user@host/database`, where `?schema=` and
    `&tenant=` say more if they are not the default. `policy` is adopted if another one is in
    force: a `Policy`, a YAML file, or fields that differ from the default. `extractor` notices
    statements in turns: "rules", offline, or "claude", or one of your own; without one, what
    `BELIEFLEDGER_EXTRACTOR` says, else rules. `clock` tells microseconds since 1970 UTC.
    `extraction_seconds` is how much CPU time reading one turn may take, else
    `BELIEFLEDGER_EXTRACTION_SECONDS`, else 10; a turn that takes more is parked.
    A ledger with a witness (`BELIEFLEDGER_WITNESS`) is opened when that has cosigned its head; with
    `witnessed=False`, to look what is wrong with it, at once.

    Raises `KeyMissing` for a wrong master key, `PolicyInvalid`, `BackendUnavailable`,
    `BehindWitness`, `SplitView`.

    >>> import tempfile
    >>> with open_memory(tempfile.mkdtemp()) as memory:
    ...     _ = memory.grant_consent("ana", "consent")
    ...     _ = memory.record_turn("ana", "I always use dark mode.")
    ...     _ = memory.process()
    ...     [belief.text for belief in memory.beliefs("ana")]
    ['User always uses dark mode']
    """
    place = place_of(path_or_url)
    chosen = None if policy is None else load(policy)
    settings = Settings.read()
    if embedder is not None:
        settings = replace(settings, embedder=embedder)
    if extraction_seconds is not None:
        settings = replace(settings, extraction_seconds=seconds_of(extraction_seconds))
    parts = build(
        place,
        policy=chosen,
        extractor=extractor,
        clock=clock,
        settings=settings,
        create=create,
        witnessed=witnessed,
    )
    return MemoryLedger(place, parts, clock)


PROCESS_TURNS = 500
SLOW_TURNS = 64
"""As many at a time of an extractor that takes long: how often progress is told."""
_STORED = ("value", "attribute", "text", "entity", "context", "topic", "type", "category")


class MemoryLedger(
    Searching,
    Recalling,
    Vectoring,
    Extracting,
    Ageing,
    Knowing,
    Evolving,
    Consolidating,
    Judging,
    Proving,
    Forgetting,
    Certifying,
    Auditing,
    Settling,
    Closing,
):
    """A ledger that is open. Use it as a context manager, or close it.

    Safe to use from several threads; several processes may have the same ledger open.
    """

    def __init__(self, place: Place, parts: Parts, clock: Clock) -> None:
        super().__init__(parts, clock)
        self.place = place
        """The directory, or the URL (without its password when printed)."""
        self._recorder = Recorder(parts.log, parts.projector.catch_up, keeps=parts.writable)
        self._notary = Notary(parts.log, parts.signing, parts.witness)
        self._made_finder: Finder | None = None
        self._making = threading.Lock()
        self.made_key_file = parts.made_key_file
        """The master key's file, if it was made just now. Keep it apart from backups."""
        if self._log.interrupted:
            self.finish_erasures()

    def close(self) -> None:
        """Let go of files and connections."""
        self._let_go_of_model()
        try:
            self._recorder.close()
        finally:
            self._notary.close()
            self._let_go()

    def _let_go(self) -> None:
        if self._made_finder is not None:
            self._made_finder.close()
        if self._parts.witness is not None:
            self._parts.witness.close()
        self._parts.projector.close()
        self._log.close()

    @property
    def _finder(self) -> Finder:
        """Made when first searched, so that whoever searches nothing need not wait for it."""
        with self._making:
            if self._made_finder is None:
                from beliefledger.search.indexes import Finder, open_vectors  # noqa: PLC0415

                store = open_vectors(self._parts.projector.home)
                self._made_finder = Finder(self._log, self._asking, store, self._parts.embedders)
            return self._made_finder

    # Saying

    def record_turn(
        self,
        subject: str,
        content: str,
        *,
        role: str = "user",
        speaker: str | None = None,
        session: str | None = None,
        agent: str | None = None,
        said_at: Moment | None = None,
        ordinal: int | None = None,
        idempotency_key: str | None = None,
    ) -> TurnReceipt:
        """Record what was said; when this returns it is durable. Nothing is believed yet.

        Secrets are taken out first. The turn is known again by its `idempotency_key`, else by
        session, `ordinal` (or `said_at`), role and words; with none of these each call is another
        turn. Raises `InvalidTurn`, and `NotPermitted` for an erased subject.
        """
        turn = TurnInput(
            subject=subject,
            content=content,
            role=role,
            speaker=speaker,
            session=session,
            agent=agent,
            said_at=micros(said_at, "said_at"),
            ordinal=ordinal,
            idempotency_key=idempotency_key,
        )
        return self._recorded([turn])[0]

    def record_turns(self, turns: Iterable[TurnInput]) -> list[TurnReceipt]:
        """Record many turns in one durable append: all of them or none."""
        return self._recorded(list(turns))

    def _recorded(self, turns: Sequence[TurnInput]) -> list[TurnReceipt]:
        self._recorder.flush()  # a turn that repeats what was shown comes after that in the log
        return [_receipt(receipt) for receipt in self._gate.record(turns)]

    def process(
        self,
        *,
        subject: str | None = None,
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> ProcessAnswer:
        """Extract and decide the turns that wait (of one subject, or of all), oldest first.

        Each is tried once. What was decided is durable when this returns. Several processes may do
        this at once.
        """
        self._recorder.flush()  # else its appends and these get in each other's way
        ref = None if subject is None else self._known_subject(subject)
        total = Processed()
        after, more = 0, True
        most = SLOW_TURNS if self._gate.slow else PROCESS_TURNS
        held: set[str] = set()

        def attempt() -> tuple[Processed, int, bool]:
            return self._process_some(ref, after, min(left, most), held)

        while more and (limit is None or total.turns + total.failed < limit):
            left = most if limit is None else limit - total.turns - total.failed
            # A slow extractor's answers are decided again by themselves: it is not asked twice.
            done, after, more = attempt() if self._gate.slow else self._log.decide_again(attempt)
            total += done
            if progress:
                progress(total.turns, total.turns + self._asking.pending_count())
            if total.broken_off:
                break
        return self._processed(total)

    def _process_some(
        self, ref: str | None, after: int, limit: int, held: set[str]
    ) -> tuple[Processed, int, bool]:
        """Process up to `limit` turns past a position; also how far it came, and if there may be
        more. `held` gathers the subjects whose lane a failing turn holds up."""
        waiting = self._waiting(limit, after, ref)
        if not waiting:
            return Processed(), after, False
        return self._gate.process(waiting, held), waiting[-1].position, len(waiting) == limit

    def remember(
        self,
        subject: str,
        text: str,
        *,
        consent: str | None = None,
        session: str | None = None,
        agent: str | None = None,
        said_at: Moment | None = None,
        idempotency_key: str | None = None,
    ) -> tuple[TurnReceipt, list[DecisionAnswer]]:
        """Record one turn of the subject and decide about it at once.

        `consent` names a lawful basis that is recorded first. Returns receipt and decisions.
        """
        turn = TurnInput(
            subject=subject,
            content=text,
            session=session,
            agent=agent,
            said_at=micros(said_at, "said_at"),
            idempotency_key=idempotency_key,
        )  # which may be refused, before anything is written
        self._gate.check([turn])
        if consent is not None:
            self.grant_consent(subject, consent)
        self._recorder.flush()
        receipt = self._gate.record([turn])[0]
        self.process(subject=subject)
        if receipt.withheld:
            return _receipt(receipt), self._asking.rehearsed(
                receipt, self._gate.rehearse(receipt, turn)
            )
        return _receipt(receipt), self.decisions(turn_id=receipt.turn_id)

    def store(
        self,
        subject: str,
        value: str,
        *,
        attribute: str,
        type: str = "fact",
        text: str | None = None,
        entity: str = SELF,
        negated: bool = False,
        context: str | None = None,
        topic: str = "general",
        category: str | None = None,
        confidence: float | None = None,
        importance: float = 0.5,
        valid_from: Moment | None = None,
        valid_to: Moment | None = None,
        expires_at: Moment | None = None,
        visibility_scope: str | None = None,
        session: str | None = None,
        agent: str | None = None,
        said_at: Moment | None = None,
        idempotency_key: str | None = None,
        by: str = SYSTEM,
    ) -> DecisionAnswer:
        """Write a memory with chosen fields: for seeding, migration and tests.

        Nothing is extracted and words are not examined, but consent, scope and contradiction are
        decided like any other. Returns the decision; for a repeated `idempotency_key`, the first.
        """
        subject_name = "User" if entity == SELF else entity
        verb = "is not" if negated else "is"
        claim = text or f"{subject_name}: {attribute} {verb} {value}" + (
            f" ({context})" if context else ""
        )
        if confidence is not None and not 0 <= confidence <= 1:
            raise InvalidTurn(f"confidence is {confidence}; it must be from 0 to 1.")
        if not 0 <= importance <= 1:
            raise InvalidTurn(f"importance is {importance}; it must be from 0 to 1.")
        if not attribute.strip() or not value.strip():
            raise InvalidTurn("attribute and value must not be empty.")
        words = (value, attribute, claim, entity, context or "", topic, type, category or "")
        for name, given in zip(_STORED, words, strict=True):
            try:
                given.encode()
            except (UnicodeEncodeError, AttributeError):
                raise InvalidTurn(f"{name} is not valid Unicode text.") from None
            if name not in {"value", "text"}:
                check_name(name, given)
            check_size(name, given, self.policy.max_turn_bytes)
            if redact(given).redactions:
                raise InvalidTurn(f"{name} holds a secret, and secrets are not kept.")
        begins = micros(valid_from, "valid_from")
        ends = micros(valid_to, "valid_to")
        known_from = begins if begins is not None else micros(said_at, "said_at") or self._clock()
        if ends is not None and ends <= known_from:
            raise InvalidTurn("valid_to must come after valid_from; give both for what is past.")
        turn = TurnInput(
            subject=subject,
            content=claim,
            role="system",
            session=session,
            agent=agent,
            said_at=micros(said_at, "said_at"),
            idempotency_key=idempotency_key,
            channel="store",
        )
        candidate = Candidate(
            claim=claim,
            spans=(Span(start=0, end=len(claim), quote=claim),),
            type=type,
            entity=entity,
            attribute=attribute,
            value=value,
            negated=negated,
            context=context,
            source=Source.OPERATOR,
            topic=topic,
            category=category,
            importance=millionths(importance),
            confidence=millionths(1.0),
            when=When(),
        )
        choices = Choices(
            confidence=None if confidence is None else millionths(confidence),
            valid_from=begins,
            valid_to=ends,
            expires_at=micros(expires_at, "expires_at"),
            visibility_scope=visibility_scope,
        )
        receipt, decision = self._gate.store(turn, candidate, choices, self._actor(by))
        if decision is None:
            if receipt.withheld and self._gate.is_stored(receipt):
                would = self._gate.rehearse(receipt, turn, candidate, choices)
                made = self._asking.rehearsed(receipt, would)
            else:
                made = self.decisions(turn_id=receipt.turn_id)
            if not made:
                raise InvalidTurn("This idempotency_key belongs to another turn.")
            return made[0]
        return self._asking.decision(decision)

    # Asking

    def beliefs(
        self,
        subject: str | None = None,
        *,
        as_of: Moment | Snapshot | None = None,
        valid_at: Moment | None = None,
        type: str | None = None,
        topic: str | None = None,
        min_confidence: float = 0.4,
        min_importance: float = 0.0,
        quarantined: bool = False,
    ) -> list[BeliefAnswer]:
        """What is believed about a subject (or about everybody).

        `as_of` asks what was believed then: a position (an int below 10^12), or a time. `valid_at`
        asks what of it was true then; by default the time of `as_of`, else now. A subject nobody
        knows, or who was erased, has no beliefs.
        """
        return self._asking.beliefs(
            subject,
            self._snapshot(as_of),
            micros(valid_at, "valid_at"),
            type_=type,
            topic=topic,
            min_confidence=millionths(min_confidence),
            min_importance=millionths(min_importance),
            quarantined=quarantined,
        )

    def as_of(self, moment: Moment) -> Snapshot:
        """The ledger as it was: the last position recorded at or before a time, or a position."""
        snapshot = self._snapshot(moment)
        if snapshot is None:
            raise InvalidTurn("as_of needs a time or a position.")
        return snapshot

    def _snapshot(self, as_of: Moment | Snapshot | None) -> Snapshot | None:
        if as_of is None or isinstance(as_of, Snapshot):
            return as_of
        # A position is far below any time in microseconds since 1980.
        if isinstance(as_of, int) and as_of < 10**12:
            return self._asking.at_position(as_of)
        return self._asking.at_time(micros(as_of, "as_of") or 0)

    def history(self, belief_or_memory: str) -> list[BeliefAnswer]:
        """Every version of a belief, oldest first. Takes the id of a belief or of a memory in it,
        or the first characters of one. Raises `UnknownMemory`."""
        return self._asking.history(belief_or_memory)

    def decisions(
        self,
        subject: str | None = None,
        *,
        outcome: str | None = None,
        reason: str | None = None,
        turn_id: str | None = None,
        waits: bool | None = None,
        limit: int | None = None,
    ) -> list[DecisionAnswer]:
        """What the gate decided, in order; with `limit`, the last so many. `waits` picks those that
        a person still has to settle (or has not to)."""
        return self._asking.decisions(
            subject, outcome=outcome, reason=reason, turn_id=turn_id, waits=waits, limit=limit
        )

    def decision(self, decision_id: str) -> DecisionAnswer:
        """One decision, by its id or the first characters of it. Raises `UnknownMemory`."""
        return self._asking.decision(self._asking.decision_id(decision_id))

    def replay(
        self, decision_id: str, *, policy: Policy | Path | str | Mapping[str, Any] | None = None
    ) -> ReplayAnswer:
        """Make a decision again from what the log holds: same, different, or inputs destroyed.

        With `policy`, as that policy would have decided. Raises `UnknownMemory`.
        """
        recorded = self._log.find(self._asking.decision_id(decision_id))
        if recorded is None:
            raise UnknownMemory(f"There is no decision {decision_id}.")
        chosen = None if policy is None else load(policy)
        return _replayed(self._parts.replayer.replay(recorded, chosen))

    def replay_all(
        self,
        *,
        policy: Policy | Path | str | Mapping[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> ReplaySummary:
        """Make every decision again."""
        chosen = None if policy is None else load(policy)
        verdicts = dict.fromkeys(Verdict, 0)
        differing = []
        head = self._log.head().position
        for reached, page in self._log.pages_to(0, head):
            for recorded in page:
                if recorded.type == GateDecided.NAME:
                    result = self._parts.replayer.replay(recorded, chosen)
                    verdicts[result.verdict] += 1
                    if result.verdict is Verdict.DIFFERENT:
                        differing.append(_replayed(result))
            if progress:
                progress(reached, head)
        return ReplaySummary(
            decisions=sum(verdicts.values()),
            same=verdicts[Verdict.SAME],
            different=verdicts[Verdict.DIFFERENT],
            inputs_destroyed=verdicts[Verdict.INPUTS_DESTROYED],
            differing=tuple(differing),
        )

    def loops(
        self,
        subject: str | None = None,
        *,
        window_days: int | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        least: int | None = None,
    ) -> list[LoopAnswer]:
        """The beliefs that keep changing: contested, or superseded as often within the window as
        the policy calls a loop, or `least` times.

        Of `since` and `until`, by when things were said, all between counts as one window, unless
        `window_days` is given too: with `least=1`, every belief that changed in that time.
        """
        bounds = micros(since, "since"), micros(until, "until")
        return self._disputes.loops(subject, window_days, *bounds, least)

    def conflicts(self, subject: str | None = None) -> list[ConflictAnswer]:
        """The beliefs about which a person has to choose."""
        return self._disputes.conflicts(subject)

    # Running

    def rebuild(
        self,
        view: str | None = None,
        *,
        verify: bool = False,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> list[RebuildAnswer]:
        """Fold a view, or all of them, from the log anew.

        With `verify`, compare each with what it replaces, and name the first row that differs.
        """
        self._recorder.flush()
        try:
            return self._upkeep.rebuild(view, verify=verify, progress=progress)
        finally:
            if self._made_finder is not None:
                self._made_finder.drop()  # what was indexed of the tables that are gone

    def subscribe(
        self,
        after: int = 0,
        *,
        types: Sequence[str] | None = None,
        subjects: Sequence[str] | None = None,
        follow: bool = True,
    ) -> Subscription:
        """Decoded events past a position: first those that are there, then those that come.

        An iterator and a context manager; `position` on it is where to go on from. `types` are
        names in the log (`memory.admitted.v2`), `subjects` are people. Close it to stop following.
        """
        people = None if subjects is None else lambda: self._refs_of(subjects)
        return self._log.subscribe(after, types, people, follow=follow)

    def consumer(
        self,
        name: str,
        types: Sequence[str] | None = None,
        subjects: Sequence[str] | None = None,
        *,
        lease_seconds: float = LEASE_SECONDS,
        follow: bool = True,
    ) -> Consumer:
        """As `subscribe`, from a cursor that is kept under a name: each event is delivered at least
        once, until it is acknowledged with `ack`.

        Several processes may run a consumer of one name: one is delivered to, and another takes
        over when it is closed or, after `lease_seconds`, when it died.
        """
        people = None if subjects is None else lambda: self._refs_of(subjects)
        return self._log.consumer(name, types, people, lease_seconds=lease_seconds, follow=follow)

    def keep_views(
        self,
        *,
        lease_seconds: float = LEASE_SECONDS,
        tell: Tell = lambda _what, _position, _why: None,
    ) -> Projecting:
        """What keeps the views up with the log once its `run` is called, in one process of several.

        Questions catch up by themselves; this spares them the wait.
        """
        parts = self._parts
        return Projecting(
            self._log, parts.projector, parts.forget_words, lease_seconds=lease_seconds, tell=tell
        )

    def _refs_of(self, subjects: Sequence[str]) -> list[str]:
        """The references of those who are known by now and not erased."""
        refs = []
        for subject in subjects:
            with suppress(NotPermitted):
                ref = self._log.subject(subject)
                if ref is not None:
                    refs.append(ref)
        return refs

    def status(self, *, digests: bool = True) -> StatusAnswer:
        """How the ledger is: positions, the queue, what waits for a person, the views."""
        with suppress(LedgerError):  # a log that takes nothing is to be asked how it is
            self._recorder.flush()
        answer = self._upkeep.status(digests=digests)
        return answer.model_copy(
            update={
                "ledger": str(self.place),
                "extractor": self._gate.extractor.name,
                "warnings": (
                    *answer.warnings,
                    *(self._notary.warnings() or self._parts.signing.warnings()),
                    *self._unfinished_erasures(),
                ),
            }
        )

    def name_of(self, subject_ref: str | None) -> str | None:
        """The person behind a reference in an event; None for nobody, or once erased."""
        return None if subject_ref is None else self._log.vault.real_id(subject_ref)

    def actor_name(self, actor: str) -> str:
        """The name under which somebody acted, of the `actor` of an event."""
        return self._log.vault.principal_name(actor)


def _receipt(receipt: Receipt) -> TurnReceipt:
    return TurnReceipt(turn_id=receipt.turn_id, position=receipt.position, already=receipt.already)


def _replayed(result: Replayed) -> ReplayAnswer:
    again = result.again
    return ReplayAnswer(
        decision_id=result.decision_id,
        position=result.position,
        verdict=result.verdict.value,
        recorded=result.recorded,
        again=None
        if again is None
        else {
            "outcome": again.outcome.value,
            "reason": again.reason.value,
            "confidence": again.confidence.c / 1_000_000,
            "mentions": again.mentions,
            "trace": list(again.trace),
        },
        differs=result.differs,
    )
