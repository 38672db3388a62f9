"""Erasure: what would go, the steps by which it goes, and the records of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

from beliefledger.answers import ErasureAnswer
from beliefledger.erasure.certificate import Certificates
from beliefledger.erasure.holds import LegalHolds
from beliefledger.erasure.named import UNNAMED, Named
from beliefledger.erasure.repeats import Done, nothing_left
from beliefledger.erasure.scope import AskedErasure, Reached, Remains, Scope
from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.eraser import Destroyed, Wanted
from beliefledger.ledger.erasures import RELATION, SUBJECT, Erasure, spread
from beliefledger.ledger.errors import BackendUnavailable, LedgerError, NotPermitted, UnknownMemory
from beliefledger.ledger.events.subject import (
    Probe,
    ViewReceipt,
)
from beliefledger.ledger.gc_pause import gc_paused
from beliefledger.ledger.spans import DELETE, traced
from beliefledger.ledger.times import to_datetime
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.core import Core
from beliefledger.pages import Cut, Page
from beliefledger.proofs.notary import Notary
from beliefledger.reading.queries import Queries
from beliefledger.reading.views import Views
from beliefledger.search.on_demand import IndexesOnDemand

if TYPE_CHECKING:
    from beliefledger.search.shown_texts import LeftTexts

WITHDRAWN = "consent withdrawn"
RETENTION = "retention period over"
_ROUNDS = 5
"""What was written while a request was on its way is added by another, up to so many times."""


class ErasureRecord(Frozen):
    """An erasure on record. `completed_at` is None while it is under way."""

    erasure: str
    subject_ref: str
    subject: str | None
    """Whom it is of; None for somebody erased as a whole."""
    reach: str
    of: str | None
    legal_basis: str
    by: str
    because: str | None
    requested_at: datetime
    position: int
    completed_at: datetime | None
    bodies: int | None
    counts: dict[str, int]


class Erasures:
    """Erases people, or less of them: what would go, the steps of it, and its records."""

    def __init__(
        self,
        core: Core,
        queries: Queries,
        views: Views,
        indexes: IndexesOnDemand,
        notary: Notary,
    ) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries
        self._views = views
        self._indexes = indexes
        self._notary = notary
        self.holds = LegalHolds(core)
        self.certificates = Certificates(core)

    def preview(
        self,
        subject: str,
        *,
        memory: Named = UNNAMED,
        turn: Named = UNNAMED,
        session: Named = UNNAMED,
        retention: bool = False,
        revoked: bool = False,
        known_as: Sequence[str] = (),
    ) -> Reached:
        """What `erase` with the same arguments would destroy, and what depends on it. Nothing is
        written. Raises `UnknownMemory`, `NotPermitted`."""
        asked = AskedErasure.of(memory, turn, session, retention, revoked, None, known_as)
        reaching, ref = Scope(self._core, self._queries), self._log.half_erased(subject)
        try:
            ref = ref or self._core.known_subject(subject)
        except NotPermitted:  # erased as a whole: what is left of them is in others' records
            if asked.reach != SUBJECT:
                raise
            return self._left_of(subject, known_as)
        reached = self._without_held(reaching.asked(ref, asked, self._core.clock()))
        holds = self._log.eraser.holds(ref)
        if not holds:
            return reached
        why = f"a legal hold forbids to erase it: {', '.join(each.hold for each in holds)}"
        kept = Remains("everything", why, len(reached.positions))
        return replace(reached, stays=(kept, *reached.stays))

    @traced(DELETE)
    def erase(
        self,
        subject: str,
        *,
        memory: Named = UNNAMED,
        turn: Named = UNNAMED,
        session: Named = UNNAMED,
        retention: bool = False,
        revoked: bool = False,
        withdrawals: Sequence[str] | None = None,
        known_as: Sequence[str] = (),
        by: str,
        legal_basis: str | None = None,
    ) -> ErasureAnswer:
        """Forget a subject: their key, every body, every row of a view, every vector. Or less of
        them: one `memory` with the turns that are its evidence, one `turn`, one `session`, what is
        older than the policy's `retention` allows, what was `revoked` long enough ago, what these
        `withdrawals` of consent (event ids) ended.

        What remains are envelopes that name nobody. Recording an erased subject again is refused
        until `register_anew`. In other people's memories a relation to the subject, found by their
        id or by what they are `known_as`, loses its words, unless they are under a legal hold.
        `legal_basis` is one of the policy's `erasure_bases`, by default the first; it goes on
        record.

        Tried again after a lost connection, it answers the erasure that another process finished
        meanwhile (`already`): the same of the same person, completed since the call began, or asked
        for by the same actor and completed within the last hour.

        Raises `InvalidQuery` for a memory, turn or session that is named and is None,
        `UnknownMemory` for somebody or something nobody knows, `NotPermitted` under a legal
        hold or for another basis, `BackendUnavailable` while another process reads what has to go:
        erasing again, or opening the ledger again, goes on with it.
        """
        asked = AskedErasure.of(memory, turn, session, retention, revoked, withdrawals, known_as)
        basis = self.basis(legal_basis)
        actor = self._core.actor(by)
        began = self._log.head().position
        resumed = self._resume(subject)
        try:
            ref = self._core.known_subject(subject)
        except NotPermitted:  # erased as a whole: what is left of them is in others' records
            again = self._done_already(subject, None, asked, actor, began)
            return self._relations_of(subject, known_as, resumed, again, actor, basis)
        self.finish()
        before = self._log.head().position
        if asked.reach != SUBJECT:
            try:
                done = self._erase(partial(self._part, ref, asked), actor, basis, before)
            except UnknownMemory:
                answer = self._done_already(subject, ref, asked, actor, began)
                if answer is None:
                    raise
                return answer
            return self._answer(done, ref, asked.reach)
        theirs = self._ending_at(ref, [subject, *known_as])
        self._core.projector.catch_up()  # so that the request has little to wait for
        # What they have themselves need not be read.
        done = self._erase(lambda: [Wanted(ref, SUBJECT), *theirs()], actor, basis, before)
        # What others said of them while this was requested; the gate knows of no fence there.
        if Scope(self._core, self._queries).named_since(before) and theirs():
            done += self._erase(theirs, actor, basis, before)
        return self._answer(done, ref, SUBJECT)

    def _done_already(
        self, subject: str, ref: str | None, asked: AskedErasure, actor: str, began: int
    ) -> ErasureAnswer | None:
        """What was done already of what is asked for, as `Done` tells; None where it is another
        matter."""
        found = Done(self._log, subject, actor, began, self._core.clock()).same(asked, ref)
        if not found:
            return None
        answer = self._answer(found, found[0].subject_ref, asked.reach)
        return answer.model_copy(update={"already": True})

    def _part(self, ref: str, asked: AskedErasure) -> list[Wanted]:
        """What is asked for, as of now, of somebody who stays."""
        reaching = Scope(self._core, self._queries)
        reached = reaching.asked(ref, asked, self._core.clock())
        if not reached.positions:
            return []
        because = asked.withdrawals[0] if asked.withdrawals else None
        return [replace(_wanted(reached, reaching), because=because)]

    def _resume(self, subject: str) -> ErasureAnswer | None:
        """Finish the erasure of this whole subject that was broken off, and all that goes with it;
        None where there is none."""
        half = self._log.half_erased(subject)
        if half is None:
            return None
        opened = self._log.eraser.open()
        own = {each.id for each in opened if each.subject_ref == half}
        theirs = [each for each in opened if each.id in own or each.because in own]
        return self._answer([self._through(each) for each in theirs], half, SUBJECT)

    def _left_of(self, subject: str, known_as: Sequence[str]) -> Reached:
        """What others' records still have of somebody who was erased."""
        for ref in self._log.vault.erased(self._log.tenant, subject):
            others = Scope(self._core, self._queries).others(ref, [subject, *known_as])
            if others:
                return self._without_held(Reached(ref, RELATION, others=tuple(others)))
        raise NotPermitted(nothing_left(self._log, subject))

    def _relations_of(
        self,
        subject: str,
        known_as: Sequence[str],
        resumed: ErasureAnswer | None,
        again: ErasureAnswer | None,
        actor: str,
        basis: str,
    ) -> ErasureAnswer:
        """Erase relations to somebody who was erased before: a legal hold had kept them, or a name
        of theirs was not known then. Raises `NotPermitted` when there are none."""
        for ref in self._log.vault.erased(self._log.tenant, subject):
            look = self._ending_at(ref, [subject, *known_as])
            if look():
                done = self._erase(look, actor, basis, self._log.head().position)
                return self._answer(done, ref, RELATION)
        answer = resumed or again
        if answer is None:
            raise NotPermitted(nothing_left(self._log, subject))
        return answer

    def _ending_at(self, ref: str, names: Sequence[str]) -> Callable[[], list[Wanted]]:
        """The relations of others to somebody who is erased, to be looked up when called."""

        def look() -> list[Wanted]:
            reaching = Scope(self._core, self._queries)
            found = [
                _wanted(each, reaching)
                for each in reaching.others(ref, names)
                if each.positions and not self._log.eraser.holds(each.subject_ref)
            ]
            if not found:
                return []
            theirs = [each.id for each in self._log.eraser.of_subject(ref) if each.whole]
            return [replace(each, because=theirs[-1] if theirs else None) for each in found]

        return look

    def basis(self, named: str | None = None) -> str:
        """The basis to erase on: the one that is named, else the policy's first. Raises
        `NotPermitted` for one that the policy does not know."""
        bases = self._core.rulebook.refreshed().policy.erasure_bases
        if named is None:
            return bases[0]
        if named not in bases:  # and stays on record, so that it may be no words about anybody
            raise NotPermitted(
                f"{named!r} is no basis to erase on in the policy in force: {', '.join(bases)}."
            )
        return named

    def _known_basis(self, name: str) -> str | None:
        """The basis, where the policy in force knows it; None for its first."""
        return name if name in self._core.rulebook.refreshed().policy.erasure_bases else None

    def _without_held(self, reached: Reached) -> Reached:
        """Without the relations of others of whom nothing may be erased."""
        others = [each for each in reached.others if each.positions]
        free = [each for each in others if not self._log.eraser.holds(each.subject_ref)]
        if len(free) == len(others):
            return replace(reached, others=tuple(free))
        why = "they are under a legal hold: erase again, by the same names, once it is lifted"
        kept = Remains("relations in records of others", why, len(others) - len(free))
        return replace(reached, others=tuple(free), stays=(*reached.stays, kept))

    @gc_paused()  # all of somebody's events are read, several times
    def _erase(
        self, look: Callable[[], list[Wanted]], actor: str, legal_basis: str, before: int
    ) -> list[Erasure]:
        """`before` is where the log was when it was first looked for what goes."""
        self._core.recorder.flush()
        self._notary.sign(keep=True)  # what was before, for the certificate
        done: list[Erasure] = []
        for _ in range(_ROUNDS):
            requested = self._log.eraser.request(look, actor=actor, legal_basis=legal_basis)
            done += [self._through(each) for each in requested]
            # What was derived from it in streams that nobody had looked at yet goes, too. From the
            # request on nothing more is.
            more = [each for each in map(partial(self._derived, before), done) if each is not None]
            if not more:
                return done
            look = partial(list[Wanted], more)
        raise BackendUnavailable(
            "Another process goes on writing what this erasure is about: erase again."
        )

    def _derived(self, before: int, erasure: Erasure) -> Wanted | None:
        """What was made past a position from what an erasure destroyed."""
        if erasure.whole:
            return None
        positions = spread(erasure.positions)
        reaching = Scope(self._core, self._queries)
        more = reaching.derived(erasure.subject_ref, positions, before)
        if erasure.reach == "session" and erasure.of is not None:
            more += reaching.said_since(erasure.subject_ref, erasure.of, erasure.position)
        if not more:
            return None
        first = erasure.because or erasure.id
        return Wanted(
            erasure.subject_ref, erasure.reach, erasure.of, tuple(sorted(set(more))), first
        )

    @gc_paused()
    def _through(self, erasure: Erasure) -> Erasure:
        """Take a requested erasure to its end: destroy, empty, probe, complete. Each step can be
        done again: a broken-off erasure is gone on with by `finish`, by whoever opens the ledger
        next, or by erasing again."""
        try:
            self._log.eraser.destroy(erasure)
            if erasure.done is not None:
                return erasure
            left = self._indexes.left_texts(erasure.subject_ref, spread(erasure.positions))
            receipts = self._empty(erasure, left)
            told = self._log.eraser.destroyed(erasure)
            probes = self._probe(erasure, told, left)
            completed = self._log.eraser.complete(erasure, receipts, probes, told)
        except LedgerError:
            if erasure.id not in {each.id for each in self._log.interrupted}:
                self._log.interrupted.append(erasure)
            raise
        # Here it is known that the views are clean; another process would fold the subject again.
        with suppress(BackendUnavailable):  # then whoever asks next catches up
            self._core.projector.catch_up()
        return completed

    def _answer(self, done: Sequence[Erasure], ref: str, reach: str) -> ErasureAnswer:
        """What was done; with nothing to erase, of whom and what there was nothing."""
        return ErasureAnswer(
            subject_ref=done[0].subject_ref if done else ref,
            bodies=sum(each.done.facts["bodies"] for each in done if each.done is not None),
            position=self._log.head().position,
            erasure=done[0].id if done else None,
            reach=done[0].reach if done else reach,
            also=tuple(each.id for each in done[1:]),
        )

    def finish(self, *, all_of_them: bool = False) -> None:
        """Go on with what was requested and not completed here, or by a process that died for one;
        with `all_of_them`, by any. What cannot be finished yet is told by `status`."""
        left = self._log.eraser.open() if all_of_them else self._log.interrupted
        self._log.interrupted = []
        for number, each in enumerate(left):
            try:
                self._through(each)
            except BackendUnavailable:
                self._log.interrupted = list(left[number:])
                return

    def unfinished(self) -> tuple[str, ...]:
        """What `status` tells of erasures that could not be finished here."""
        left = len(self._log.interrupted)
        if not left:
            return ()
        return (
            f"{left} erasures are requested and not finished, because somebody reads what has to"
            " go: the job `forgetting` goes on with them, or opening the ledger again.",
        )

    def _empty(self, erasure: Erasure, left: LeftTexts) -> list[ViewReceipt]:
        """Empty views, caches and vectors of what is destroyed; returns their receipts."""
        ref, positions = erasure.subject_ref, spread(erasure.positions)
        self._core.gate.forget()
        try:
            if erasure.whole:
                vectors = self._indexes().erase(ref)
            else:
                vectors = self._indexes().erase_content(ref, positions, left=left)
        finally:  # one may be read by another process; the other is to go all the same
            receipts = self._views.forget(ref, whole=erasure.whole)
        position = self._log.head().position
        of_vectors = ViewReceipt(name="vectors", position=position, digest="", removed=vectors)
        return [*receipts, of_vectors]

    def _probe(self, erasure: Erasure, told: Destroyed, left: LeftTexts) -> list[Probe]:
        """Look for what was erased, in each place where it had been."""
        log, ref = self._log, erasure.subject_ref
        probes = [Probe(name="bodies", looked=told.bodies, found=told.left)]
        if erasure.whole:
            probes.append(Probe(name="key", looked=1, found=int(log.keys(ref) is not None)))
            name_found = 0
            with suppress(NotPermitted):
                name_found = int(log.vault.real_id(ref) is not None)
            probes.append(Probe(name="real id", looked=1, found=name_found))
        looked, found = self._indexes().probe(
            ref, None if erasure.whole else spread(erasure.positions), left
        )
        probes.append(Probe(name="vectors", looked=looked, found=found))
        looked, found = self._views.probe(ref, None if erasure.whole else told.positions)
        probes.append(Probe(name="views", looked=looked, found=found))
        return probes

    def erase_withdrawn(self, subject: str, withdrawals: Sequence[str], by: str) -> ErasureAnswer:
        """Erase what stood on the consents that these withdrawals (event ids) ended."""
        basis = self._known_basis(WITHDRAWN)
        return self.erase(subject, withdrawals=withdrawals, by=by, legal_basis=basis)

    def erase_due(self) -> dict[str, int]:
        """Erase what the policy in force keeps no longer: what consent was withdrawn for, what is
        older than its category is kept, what was revoked for long enough.

        People under a legal hold are passed over. Returns how many erasures there were, of how
        many bodies, and how many people something was due of who are `held`.
        """
        self.finish(all_of_them=True)
        policy = self._core.rulebook.refreshed().policy
        counts = {"erasures": 0, "bodies": 0, "held": 0}
        if not (policy.retention_days or policy.revoked_grace_days or policy.erase_on_withdrawal):
            return counts
        reaching = Scope(self._core, self._queries)
        for ref in self._log.vault.subjects(self._log.tenant):
            due = reaching.due(ref, self._core.clock())
            subject = self._log.vault.real_id(ref) if due else None
            if subject is None:
                continue
            if self._log.eraser.holds(ref):
                counts["held"] += 1
                continue
            for what in due:
                basis = WITHDRAWN if "withdrawals" in what else RETENTION
                known = self._known_basis(basis)
                answer = self.erase(subject, **what, by=SYSTEM, legal_basis=known)
                counts["erasures"] += answer.erasure is not None
                counts["bodies"] += answer.bodies
        return counts

    def was_erased(self, subject: str) -> bool:
        """True for somebody who was erased and not registered anew: nothing about them goes in."""
        try:
            self._log.subject(subject)
        except NotPermitted:
            return True
        return False

    def register_anew(self, subject: str, *, by: str) -> None:
        """Let somebody who was erased be recorded again, on a named actor's word."""
        if not self._log.vault.was_erased(self._log.tenant, subject):
            raise NotPermitted("This subject was not erased: there is nothing to lift.")
        self._log.register([subject], actor=self._core.actor(by), anew=True)

    # Records

    def list(
        self, subject: str | None = None, *, limit: int | None = None, after: str | None = None
    ) -> Page[ErasureRecord]:
        """The erasures on record (of somebody living), oldest first; with `limit` a page, whose
        `next` is given as `after` for the one behind it."""
        cut, eraser = Cut.of("erasures", (subject,), limit, after), self._log.eraser
        if subject is None:
            found = eraser.told()
        else:
            found = eraser.of_subject(self._core.known_subject(subject))
        page = cut.of_all(found, attrgetter("id"))
        return Page(map(self._record, page), page.next)

    def _record(self, erasure: Erasure) -> ErasureRecord:
        done = erasure.done
        return ErasureRecord(
            erasure=erasure.id,
            subject_ref=erasure.subject_ref,
            subject=self._log.vault.real_id(erasure.subject_ref),
            reach=erasure.reach,
            of=erasure.of,
            legal_basis=erasure.legal_basis,
            by=self._log.vault.principal_name(erasure.actor),
            because=erasure.because,
            requested_at=to_datetime(erasure.requested_at),
            position=erasure.position,
            completed_at=None if done is None else to_datetime(done.recorded_at),
            bodies=None if done is None else done.facts["bodies"],
            counts={} if done is None else done.facts["counts"],
        )


def _wanted(reached: Reached, reaching: Scope) -> Wanted:
    ref, positions = reached.subject_ref, reached.positions
    return Wanted(
        ref, reached.reach, reached.of, positions, expect=reaching.streams(ref, positions)
    )
