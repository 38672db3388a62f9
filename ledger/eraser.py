"""Forgetting, as far as the log and the vault go: request, destruction, completion.

An erasure is a sequence of durable steps, each of which may be done again: the request is an event
and a fence; then the key is destroyed, or the erased events are entered in the vault's register;
then the bodies are deleted; then, once whoever keeps anything derived from them has let go of it,
the completion is recorded. Whoever opens the log next goes on where a crash broke off.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Protocol, TypeVar

from beliefledger.ledger import envelope
from beliefledger.ledger.codec import New, Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.erasures import (
    NAMES,
    RELATION,
    RESTORED,
    SUBJECT,
    Erasure,
    Hold,
    commitment,
    erasures,
    holds,
    requested,
    runs,
    spread,
)
from beliefledger.ledger.errors import BackendUnavailable, LogCorrupted, NotPermitted
from beliefledger.ledger.events.subject import (
    ContentErased,
    ErasureRequested,
    Probe,
    SubjectErased,
    ViewReceipt,
)
from beliefledger.ledger.store import Appended, EventStore, Row
from beliefledger.ledger.streams import subject_stream
from beliefledger.ledger.times import Clock
from beliefledger.ledger.upcast import current_name
from beliefledger.ledger.vault import SYSTEM, Vault
from beliefledger.ledger.vault_notes import Agreed

T = TypeVar("T")

DONE_BEFORE = "erased before this log was restored from a backup"
PAGE = 5_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be forgotten of one subject: everything, or the bodies at some positions."""

    subject_ref: str
    reach: str
    of: str | None = None
    positions: tuple[int, ...] = ()
    because: str | None = None
    expect: Mapping[str, int] = field(default_factory=dict)
    """The versions of the streams in which it was looked for what goes."""


@dataclass(frozen=True, slots=True)
class Destroyed:
    """What an erasure reaches, now that it is gone: positions that had a body, by type."""

    positions: tuple[int, ...]
    counts: dict[str, int] = field(default_factory=dict)
    left: int = 0
    """How many of these bodies are there nevertheless."""

    @property
    def bodies(self) -> int:
        return len(self.positions)


def _registered_as(erasure: Erasure) -> str:
    """The id of this erasure in the vault's register. One that is repeated after a restore keeps
    its first id."""
    return erasure.of if erasure.reach == RESTORED and erasure.of else erasure.id


class ErasableLog(Protocol):
    """What an eraser needs of a log. `ledger.log.Log` has it, with these meanings."""

    vault: Vault
    clock: Clock

    @property
    def store(self) -> EventStore: ...

    def append(self, events: Sequence[New], expect: Mapping[str, int]) -> Appended: ...

    def decide_again(self, attempt: Callable[[], T]) -> T: ...

    def read_stream(self, stream: str) -> list[Recorded]: ...

    def of_types(self, types: Sequence[str], *, after: int = 0) -> list[Recorded]: ...


class Eraser:
    """Takes erasures through their steps. See the module."""

    def __init__(self, log: ErasableLog) -> None:
        self._log = log
        self._store = log.store

    # Asking

    def told(self, *, after: int = 0) -> list[Erasure]:
        """The erasures on record (that were requested past a position), oldest first."""
        recorded = self._log.of_types(NAMES, after=after)
        for each in recorded:
            if each.subject_ref is None:
                raise LogCorrupted(f"The erasure at position {each.position} names no subject.")
        return erasures(recorded)

    def open(self) -> list[Erasure]:
        """The erasures that are not completed."""
        return [each for each in self.told() if each.done is None]

    def of_subject(self, subject_ref: str) -> list[Erasure]:
        """The erasures of one subject."""
        return erasures(self._log.read_stream(subject_stream(subject_ref)))

    def holds(self, subject_ref: str) -> list[Hold]:
        """The legal holds in force on a subject."""
        return holds(self._log.read_stream(subject_stream(subject_ref)))

    # Steps

    def request(
        self, look: Callable[[], Sequence[Wanted]], *, actor: str, legal_basis: str
    ) -> list[Erasure]:
        """Record what is to be forgotten, in one append. From here on nothing more is written
        about a whole subject, nor derived from what goes of a living one.

        `look` tells what that is; it is asked again when somebody wrote to one of the streams in
        which it looked. What was begun before goes on. Raises `NotPermitted` under a legal hold,
        and for anything of somebody who is being erased.
        """
        return self._request(look, actor, legal_basis, held_too=False)

    def _request(
        self,
        look: Callable[[], Sequence[Wanted]],
        actor: str,
        legal_basis: str,
        *,
        held_too: bool,
    ) -> list[Erasure]:
        def attempt() -> list[Erasure]:
            expect: dict[str, int] = {}
            events: list[New] = []
            found: dict[str, Erasure | None] = {}
            for each in look():
                stream = subject_stream(each.subject_ref)
                recorded = self._log.read_stream(stream)
                begun = self._begun(each, recorded, held_too=held_too)
                if begun is not None:
                    found[begun.id] = begun
                    continue
                because = each.because
                if each.reach == RELATION and because is None:
                    because = next(iter(found))  # whom it goes with
                event = self._event(replace(each, because=because), legal_basis)
                made = New(event, os.urandom(16).hex(), stream, each.subject_ref, actor)
                events.append(made)
                found[made.event_id] = None
                expect |= each.expect
                expect[stream] = recorded[-1].version if recorded else 0
            if events:
                appended = self._log.append(events, expect)
                for position, made in enumerate(events, appended.first):
                    found[made.event_id] = requested(
                        made.event_id,
                        position,
                        made.subject_ref,
                        actor,
                        appended.recorded_at,
                        dict(made.event),
                    )
            return [each for each in found.values() if each is not None]

        return self._log.decide_again(attempt)

    def _begun(
        self, wanted: Wanted, recorded: Sequence[Recorded], *, held_too: bool
    ) -> Erasure | None:
        """The erasure that this goes on with, if it was begun in the subject's stream. What was
        erased before the log was restored is no longer there to be held."""
        known = erasures(recorded)
        whole = [each for each in known if each.whole]
        if whole and wanted.reach == SUBJECT:
            return whole[-1]
        if whole:
            raise NotPermitted("This subject is being erased as a whole.")
        for each in known:
            same = (each.reach, each.of, each.positions)
            if same == (wanted.reach, wanted.of, runs(wanted.positions)) and each.done is None:
                return each
        held = holds(recorded)
        if held and not held_too:
            raise NotPermitted(self._forbids(held))
        return None

    def _forbids(self, held: Sequence[Hold]) -> str:
        first = held[0]
        who = self._log.vault.principal_name(first.actor)
        more = f", and {len(held) - 1} more" if len(held) > 1 else ""
        return (
            f"A legal hold forbids it: {first.hold}, placed by {who} ({first.reason or 'erased'})"
            f"{more}. Nothing is erased until it is lifted."
        )

    def _event(self, wanted: Wanted, legal_basis: str) -> ErasureRequested:
        fingerprint, master_key = "", ""
        if wanted.reach == SUBJECT:
            fingerprint, master_key = self._log.vault.fingerprint(wanted.subject_ref)
        return ErasureRequested(
            reach=wanted.reach,
            legal_basis=legal_basis,
            of=wanted.of,
            positions=runs(wanted.positions),
            because=wanted.because,
            key_fingerprint=fingerprint,
            master_key=master_key,
        )

    def seal_off(self, erasure: Erasure) -> None:
        """Make it unreadable, durably and for good: of a whole subject the key goes, after which no
        copy of a body can be read; of less, its events are entered in the vault's register."""
        log = self._log
        if erasure.whole:
            log.vault.destroy(erasure.subject_ref, log.clock(), scrub=False)
            return
        ids = self._event_ids(erasure)
        log.vault.note_erased(_registered_as(erasure), erasure.subject_ref, ids, log.clock())

    def destroy(self, erasure: Erasure) -> None:
        """Seal it off, and delete the bodies.

        Raises `BackendUnavailable` while another process reads what has to go: then it is to be
        done again.
        """
        self.seal_off(erasure)
        if erasure.whole:
            self._store.delete_bodies(erasure.subject_ref)
            self._log.vault.scrub()
        else:
            self._store.delete_bodies_of(self._event_ids(erasure))

    def _event_ids(self, erasure: Erasure) -> list[str]:
        """The ids of the events whose bodies are deleted."""
        ids = []
        for row in self._rows(erasure):
            fields = envelope.read(row.envelope, row.position)
            if fields["subject_ref"] != erasure.subject_ref:
                raise LogCorrupted(
                    f"The erasure at position {erasure.position} names position {row.position},"
                    " which is another subject's."
                )
            ids.append(fields["event_id"])
        return ids

    def _rows(self, erasure: Erasure) -> Iterator[Row]:
        if erasure.whole:
            after = 0
            while rows := self._store.read_subject(erasure.subject_ref, after, PAGE):
                yield from rows
                after = rows[-1].position
            return
        wanted = spread(erasure.positions)
        for start in range(0, len(wanted), PAGE):
            yield from self._store.read_at(wanted[start : start + PAGE])

    def destroyed(self, erasure: Erasure) -> Destroyed:
        """What the erasure reaches, read from envelopes: the answer is the same before and after
        it."""
        before = self._erased_before(erasure)
        positions, counts, left = [], Counter[str](), 0
        for row in self._rows(erasure):
            fields = envelope.read(row.envelope, row.position)
            if fields["body_digest"] is None or fields["event_id"] in before:
                continue
            positions.append(row.position)
            counts[current_name(fields["type"])] += 1
            left += row.body is not None
        return Destroyed(tuple(positions), dict(sorted(counts.items())), left)

    def _erased_before(self, erasure: Erasure) -> set[str]:
        """The events of this subject whose bodies other erasures had deleted."""
        register = self._log.vault.register_of_erased(erasure.subject_ref)
        own = _registered_as(erasure)
        others = [ids for other, (_, ids) in register.items() if other != own]
        return set().union(*others)

    def complete(
        self,
        erasure: Erasure,
        views: Sequence[ViewReceipt] = (),
        probes: Sequence[Probe] = (),
        told: Destroyed | None = None,
    ) -> Erasure:
        """Record that it is done; done twice, the first record stands. `told` is what `destroyed`
        says, where the caller has asked already."""
        stream = subject_stream(erasure.subject_ref)
        told = told or self.destroyed(erasure)
        facts: dict[str, Any] = {
            "request": erasure.id,
            "bodies": told.bodies,
            "counts": told.counts,
            "commitment": commitment(told.positions),
            "views": tuple(views),
            "probes": tuple(probes),
        }
        event: SubjectErased | ContentErased
        if erasure.whole:
            event = SubjectErased(
                **facts,
                key_fingerprint=erasure.key_fingerprint,
                master_key=erasure.master_key,
            )
        else:
            event = ContentErased(**facts, reach=erasure.reach, positions=erasure.positions)

        def attempt() -> Erasure:
            recorded = self._log.read_stream(stream)
            found = next((each for each in erasures(recorded) if each.id == erasure.id), None)
            if found is not None and found.done is not None:
                return found  # another process finished it in the meantime
            new = New(event, os.urandom(16).hex(), stream, erasure.subject_ref, erasure.actor)
            self._log.append([new], {stream: recorded[-1].version})
            return next(e for e in self.of_subject(erasure.subject_ref) if e.id == erasure.id)

        return self._log.decide_again(attempt)

    # After a crash, and after a restore

    def resume(self, *, finish: bool) -> tuple[list[Erasure], list[str]]:
        """Bring log and vault to agree on what is erased, and resume interrupted erasures; returns
        these, and what could not be completed. Without `finish` they are only made unreadable: the
        caller has views to empty first."""
        interrupted = self.reconcile()
        try:
            for erasure in interrupted:
                if finish:
                    self.destroy(erasure)
                    self.complete(erasure)
                else:  # nobody reads it any more; the rest is done with what is derived from it
                    self.seal_off(erasure)
        except BackendUnavailable as problem:
            # Nobody can read about them any more; whoever opens next tries again.
            return interrupted, [f"An erasure could not be finished yet: {problem.detail}"]
        return interrupted, []

    def reconcile(self) -> list[Erasure]:
        """Let the log and the vault agree on what is erased, whichever was restored from a backup;
        returns the erasures that are requested and not completed.

        Where both are known to have agreed at an earlier position, and are what they were, only
        what came later is looked at.
        """
        log, vault = self._log, self._log.vault
        head = self._store.head().position
        agreed = vault.notes.agreed()
        if agreed is not None and self._goes_on(agreed):
            return []
        # In this order: of what the vault knows by now the request is in the log, which another
        # process may be writing.
        register, buried = vault.register_of_erased(), vault.tombstones()
        told = self.told()
        whole = {each.subject_ref for each in told if each.whole}
        finished = {each.subject_ref for each in told if each.whole and each.done is not None}
        if vault.keep_erased(finished, log.clock()):
            vault.scrub()
        content = {_registered_as(each): each for each in told if not each.whole}
        for id_, erasure in content.items():
            if erasure.done is not None and id_ not in register:
                self.destroy(erasure)  # the vault is older than this
        stale = {id_: of for id_, of in register.items() if id_ not in content}
        again = [*self._forgotten_people(buried - whole), *self._forgotten_content(stale)]
        if again:
            self._request(lambda: again, SYSTEM, DONE_BEFORE, held_too=True)
            told = self.told()
        left = [each for each in told if each.done is None]
        event_id = self._store.event_id_at(head)
        if told and not left and event_id is not None:
            vault.note_agreed(head, event_id)
        return left

    def _goes_on(self, agreed: Agreed) -> bool:
        """Whether log and vault are what they were when they agreed, with nothing but erasures
        since that are complete in both."""
        if self._store.event_id_at(agreed.position) != agreed.event_id:
            return False
        since = self.told(after=agreed.position)
        people = sum(each.whole for each in since)
        parts = len({_registered_as(each) for each in since if not each.whole})
        complete = all(each.done is not None for each in since)
        expected = (agreed.tombstones + people, agreed.erasures + parts)
        return complete and self._log.vault.erased_counts() == expected

    def _forgotten_people(self, buried: set[str]) -> Iterator[Wanted]:
        """Whom the vault knows to be erased and the log does not: it is older."""
        unknown = sorted(buried)
        versions = self._store.versions([subject_stream(ref) for ref in unknown])
        for ref in unknown:
            if versions[subject_stream(ref)]:
                yield Wanted(ref, SUBJECT)

    def _forgotten_content(self, stale: dict[str, tuple[str, frozenset[str]]]) -> Iterator[Wanted]:
        """Content of living subjects that the vault knows to be erased and the log does not."""
        for id_, (ref, event_ids) in sorted(stale.items()):
            if self._log.vault.is_erased(ref):
                continue  # with all the rest
            found = self._store.positions_of(sorted(event_ids))
            if found:
                yield Wanted(ref, RESTORED, of=id_, positions=tuple(sorted(found.values())))
