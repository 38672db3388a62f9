"""The front door: everything a ledger does, as one object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from gate.consent import ORDINARY
from gate.extractor import Extractor
from gate.gate import Pending, Processed, Receipt
from gate.intake import TurnInput
from gate.policy import Policy, load, millionths
from gate.replay import Replayed, Verdict
from ledger.candidate import SELF, Candidate, Source, Span, When
from ledger.errors import (
    CallerMistake,
    InvalidTurn,
    NotPermitted,
    UnknownMemory,
)
from ledger.events.choices import Choices
from ledger.events.turn import GateDecided
from ledger.log import Subscription
from ledger.times import Clock, Micros, from_datetime, parse, system_clock, to_datetime
from ledger.vault import SYSTEM
from ledger.verify import Verified, verify
from projections import questions
from tools.answers import (
    BeliefAnswer,
    ConflictAnswer,
    DecisionAnswer,
    ErasureAnswer,
    Explanation,
    GrantAnswer,
    LoopAnswer,
    ProcessAnswer,
    RebuildAnswer,
    ReplayAnswer,
    ReplaySummary,
    StatusAnswer,
    TurnReceipt,
)
from tools.asking import Asking, Snapshot
from tools.settings import Settings
from tools.wiring import Parts, build

Moment = datetime | str | int
"""A time: a datetime (UTC where it has no zone), ISO 8601 text, or microseconds since 1970 UTC."""
Progress = Callable[[int, int], None]
"""(done, of how many)"""

PROCESS_TURNS = 500


def micros(moment: Moment | None, name: str) -> Micros | None:
    """Raises `InvalidTurn` naming the argument."""
    if moment is None or isinstance(moment, int):
        return moment
    if isinstance(moment, datetime):
        return from_datetime(moment)
    try:
        return parse(moment)
    except ValueError as problem:
        raise InvalidTurn(f"{name}: {problem}.") from problem


def open_memory(
    path_or_url: str | Path,
    *,
    policy: Policy | Path | str | Mapping[str, Any] | None = None,
    extractor: Extractor | None = None,
    clock: Clock = system_clock,
    create: bool = True,
) -> MemoryLedger:
    """Open a ledger, making it when it is not there.

    `path_or_url` is a directory. `policy` is adopted if another one is in force: a `Policy`, a YAML
    file, or fields that differ from the default. `extractor` notices statements in turns; without
    one, rules do, offline. `clock` tells microseconds since 1970 UTC.

    Raises `KeyMissing` for a wrong master key, `PolicyInvalid`, `BackendUnavailable`.

    >>> import tempfile
    >>> with open_memory(tempfile.mkdtemp()) as memory:
    ...     _ = memory.grant_consent("ana", "consent")
    ...     _ = memory.record_turn("ana", "I always use dark mode.")
    ...     _ = memory.process()
    ...     [belief.text for belief in memory.beliefs("ana")]
    ['User always uses dark mode']
    """
    text = str(path_or_url)
    if "://" in text and not text.startswith("file://"):
        raise CallerMistake(
            f"{text} is a URL of a store that this version does not have: give a directory."
        )
    path = Path(text.removeprefix("file://"))
    chosen = None if policy is None else load(policy)
    parts = build(
        path,
        policy=chosen,
        extractor=extractor,
        clock=clock,
        settings=Settings.read(),
        create=create,
    )
    return MemoryLedger(path, parts, clock)


class MemoryLedger:
    """A ledger that is open. Use it as a context manager, or close it.

    Safe to use from several threads; several processes may have the same ledger open.
    """

    def __init__(self, path: Path, parts: Parts, clock: Clock) -> None:
        self.path = path
        self.made_key_file = parts.made_key_file
        """The master key's file, if it was made just now. Keep it apart from backups."""
        self._parts = parts
        self._clock = clock
        self._log = parts.log
        self._gate = parts.gate
        self._steward = parts.steward
        self._asking = Asking(parts, clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the files."""
        self._parts.projector.close()
        self._log.close()

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
        return _receipt(self._gate.record([turn])[0])

    def record_turns(self, turns: Iterable[TurnInput]) -> list[TurnReceipt]:
        """Record many turns in one durable append: all of them or none."""
        return [_receipt(receipt) for receipt in self._gate.record(list(turns))]

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
        ref = None if subject is None else self._known_subject(subject)
        total = Processed()
        after, more = 0, True
        held: set[str] = set()

        def attempt() -> tuple[Processed, int, bool]:
            return self._process_some(ref, after, min(left, PROCESS_TURNS), held)

        while more and (limit is None or total.turns + total.failed < limit):
            left = PROCESS_TURNS if limit is None else limit - total.turns - total.failed
            done, after, more = self._log.decide_again(attempt)
            total += done
            if progress:
                progress(total.turns, total.turns + self._asking.pending_count())
        return ProcessAnswer(
            turns=total.turns,
            failed=total.failed,
            parked=total.parked,
            pending=self._asking.pending_count(),
            decisions=tuple(total.decisions),
        )

    def _process_some(
        self, ref: str | None, after: int, limit: int, held: set[str]
    ) -> tuple[Processed, int, bool]:
        """Process up to `limit` turns past a position; also how far it came, and if there may be
        more. `held` gathers the subjects whose lane a failing turn holds up."""
        with self._asking.view("turns") as (connection, generation):
            rows = questions.pending(connection, generation, limit, after, ref)
        if not rows:
            return Processed(), after, False
        waiting = [
            Pending(row.turn_id, row.position, row.version, row.subject_ref, row.attempts)
            for row in rows
        ]
        return self._gate.process(waiting, held), rows[-1].position, len(rows) == limit

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

        `consent` names a lawful basis that is recorded first. Returns the receipt and the decisions.
        """
        if consent is not None:
            self.grant_consent(subject, consent)
        receipt = self.record_turn(
            subject,
            text,
            session=session,
            agent=agent,
            said_at=said_at,
            idempotency_key=idempotency_key,
        )
        self.process(subject=subject)
        return receipt, self.decisions(turn_id=receipt.turn_id)

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
        decided like any other. Returns the decision; a repeated `idempotency_key` returns the first.
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
            valid_from=micros(valid_from, "valid_from"),
            valid_to=micros(valid_to, "valid_to"),
            expires_at=micros(expires_at, "expires_at"),
            visibility_scope=visibility_scope,
        )
        receipt, decision = self._gate.store(turn, candidate, choices, self._actor(by))
        if decision is None:
            return self.decisions(turn_id=receipt.turn_id)[0]
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

    def explain(self, memory_id: str) -> Explanation:
        """Why a memory is there: the decision, the candidate, the words. Raises `UnknownMemory`."""
        return self._asking.explain(memory_id)

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
        for page in self._log.pages(0, head):
            for recorded in page:
                if recorded.type == GateDecided.NAME:
                    result = self._parts.replayer.replay(recorded, chosen)
                    verdicts[result.verdict] += 1
                    if result.verdict is Verdict.DIFFERENT:
                        differing.append(_replayed(result))
            if progress:
                progress(page[-1].position, head)
        return ReplaySummary(
            decisions=sum(verdicts.values()),
            same=verdicts[Verdict.SAME],
            different=verdicts[Verdict.DIFFERENT],
            inputs_destroyed=verdicts[Verdict.INPUTS_DESTROYED],
            differing=tuple(differing),
        )

    def loops(
        self, subject: str | None = None, *, window_days: int | None = None
    ) -> list[LoopAnswer]:
        """The beliefs that keep changing: contested, or superseded as often within the window as
        the policy calls a loop."""
        return self._asking.loops(subject, window_days)

    def conflicts(self, subject: str | None = None) -> list[ConflictAnswer]:
        """The beliefs about which a person has to choose."""
        return self._asking.conflicts(subject)

    # Settling

    def resolve(
        self,
        belief_id: str,
        *,
        by: str,
        choose: str | None = None,
        contexts: Mapping[str, str] | None = None,
        note: str | None = None,
    ) -> list[BeliefAnswer]:
        """Settle a contested belief: `choose` one value, or name the value for each context.

        A value is named by its words, by a memory's id or an escalated decision's. Returns what
        holds from now on. Raises `UnknownMemory`, `NotPermitted`.
        """
        belief = self._asking.belief_id(belief_id)
        subject_ref, offered = self._asking.escalated(belief)
        self._steward.resolve(
            subject_ref,
            belief,
            choose=choose,
            contexts=contexts,
            candidates=offered,
            note=note,
            actor=self._actor(by),
        )
        now = self._clock()
        return [
            version
            for version in self._asking.history(belief)
            if version.recorded_to is None
            and not version.quarantined
            and (version.valid_to is None or version.valid_to > to_datetime(now))
        ]

    def review(
        self,
        decision_id: str,
        *,
        approve: bool,
        by: str,
        basis: str = "explicit_consent",
        note: str | None = None,
    ) -> str | None:
        """Approve or refuse a queued candidate, as a named principal; returns the memory written.

        `basis` is the lawful basis that an approved memory stands on. Raises `NotPermitted`.
        """
        recorded = self._log.find(self._asking.decision_id(decision_id))
        if recorded is None:
            raise UnknownMemory(f"There is no decision {decision_id}.")
        return self._steward.review(
            recorded, approved=approve, basis=basis, note=note, actor=self._actor(by)
        )

    def grant_consent(
        self,
        subject: str,
        basis: str,
        *,
        categories: Sequence[str] = (ORDINARY,),
        purpose: str | None = None,
        scope: str = "subject",
        expires_at: Moment | None = None,
        note: str | None = None,
        by: str = SYSTEM,
    ) -> str:
        """Record a lawful basis for keeping memories; returns the grant's id. Twice is once.

        `categories` are `ordinary` or special ones of the policy, each named. Memories may not be
        visible wider than `scope`. Raises `NotPermitted` for what the policy does not know.
        """
        actor = self._actor(by)
        ref = self._log.register([subject])[subject]
        return self._steward.grant(
            ref,
            basis,
            categories=tuple(categories),
            purpose=purpose,
            scope=scope,
            expires_at=micros(expires_at, "expires_at"),
            note=note,
            actor=actor,
        )

    def consents(self, subject: str) -> list[GrantAnswer]:
        """The lawful bases in force for a subject."""
        ref = self._log.subject(subject)
        if ref is None:
            return []
        return [
            GrantAnswer(
                grant_id=grant.id,
                basis=grant.basis,
                categories=tuple(sorted(grant.categories)),
                purpose=grant.purpose,
                scope=grant.scope,
                expires_at=None if grant.expires_at is None else to_datetime(grant.expires_at),
            )
            for grant in self._steward.grants(ref)
        ]

    def withdraw_consent(
        self,
        subject: str,
        *,
        grant_id: str | None = None,
        basis: str | None = None,
        note: str | None = None,
        by: str = SYSTEM,
    ) -> int:
        """Withdraw a subject's consents: one grant, those of one basis, or all.

        Every memory that stood on one is revoked in the same append; returns how many. Raises
        `NotPermitted` when there is nothing to withdraw.
        """
        actor = self._actor(by)
        ref = self._known_subject(subject)

        def attempt() -> int:
            granted = self._steward.grants(ref)
            ended = [
                grant.id
                for grant in granted
                if (basis is None or grant.basis == basis)
                and (grant_id is None or grant.id.startswith(grant_id))
            ]
            standing = self._asking.standing(ref)
            given = {grant.id for grant in granted}
            memories = {
                row.memory_id: row.belief
                for row in standing
                if row.grant_id in ended
                # A review's approval is a basis of its own, and ends with its kind or with all.
                or (
                    grant_id is None
                    and row.grant_id not in given
                    and (basis is None or row.basis == basis)
                )
            }
            if not ended and not memories:
                raise NotPermitted("No such consent is in force for this subject.")
            return self._steward.withdraw(ref, ended, memories, note=note, actor=actor)

        return self._gate.again(attempt)

    def revoke(self, memory_id: str, *, by: str = SYSTEM, note: str | None = None) -> BeliefAnswer:
        """Take a memory back; it stays in the history. Raises `UnknownMemory`."""
        memory = self._asking.memory_id(memory_id)
        last = self._asking.history(memory, only_memory=True)[-1]
        ref = self._known_subject(last.subject or "")
        self._steward.revoke(ref, memory, last.belief_id, note=note, actor=self._actor(by))
        return self._asking.history(memory, only_memory=True)[-1]

    def erase(
        self, subject: str, *, by: str = SYSTEM, legal_basis: str = "request of the subject"
    ) -> ErasureAnswer:
        """Forget a subject: their key, every body, every row of a view.

        What remains are envelopes that name nobody. Recording them again is refused until
        `register_anew`. Raises `UnknownMemory` for somebody nobody knows.
        """
        ref = self._known_subject(subject)
        bodies = self._log.erase(ref, actor=self._actor(by), legal_basis=legal_basis)
        self._gate.forget()
        self._asking.forget(ref)
        return ErasureAnswer(subject_ref=ref, bodies=bodies, position=self._log.head().position)

    def register_anew(self, subject: str, *, by: str) -> None:
        """Let somebody who was erased be recorded again, on a named actor's word."""
        if not self._log.vault.was_erased(self._log.tenant, subject):
            raise NotPermitted("This subject was not erased: there is nothing to lift.")
        self._log.register([subject], actor=self._actor(by), anew=True)

    def adopt_policy(
        self, policy: Policy | Path | str | Mapping[str, Any], *, by: str = SYSTEM
    ) -> str:
        """Put a policy in force; returns its digest. Raises `PolicyInvalid`."""
        chosen = load(policy)
        self._parts.rulebook.ensure(chosen, self._actor(by))
        self._gate.forget()
        return chosen.digest()

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self._parts.rulebook.refreshed().policy

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
        return self._asking.rebuild(view, verify=verify, progress=progress)

    def verify(self, progress: Progress | None = None) -> Verified:
        """Check every event of the log; the answer names the first thing that is wrong, if any."""
        return verify(self._log, progress)

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
        names in the log (`memory.admitted.v1`), `subjects` are people. Close it to stop following.
        """
        refs = None
        if subjects is not None:
            refs = [ref for ref in map(self._log.subject, subjects) if ref is not None]
        return self._log.subscribe(after, types, refs, follow=follow)

    def status(self, *, digests: bool = True) -> StatusAnswer:
        """How the ledger is: positions, the queue, what waits for a person, the views."""
        answer = self._asking.status(digests=digests)
        return answer.model_copy(
            update={"ledger": str(self.path), "extractor": self._gate.extractor.name}
        )

    def name_of(self, subject_ref: str | None) -> str | None:
        """The person behind a reference in an event; None for nobody, or once erased."""
        return None if subject_ref is None else self._log.vault.real_id(subject_ref)

    def actor_name(self, actor: str) -> str:
        """The name under which somebody acted, of the `actor` of an event."""
        return self._log.vault.principal_name(actor)

    def _known_subject(self, subject: str) -> str:
        ref = self._log.subject(subject)
        if ref is None:
            raise UnknownMemory(f"Nothing is known about {subject!r}.")
        return ref

    def _actor(self, name: str) -> str:
        if not name.strip():
            raise NotPermitted("Name who acts.")
        return self._log.principal(name)


def _receipt(receipt: Receipt) -> TurnReceipt:
    return TurnReceipt(turn_id=receipt.turn_id, position=receipt.position, already=receipt.already)


def _replayed(result: Replayed) -> ReplayAnswer:
    again = result.again
    return ReplayAnswer(
        decision_id=result.decision_id,
        position=result.position,
        verdict=result.verdict.value,
        recorded=result.recorded.model_dump(mode="json"),
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
