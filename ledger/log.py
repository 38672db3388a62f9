"""The log: the one append-only history, and the only way to write to it or read from it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeVar

from beliefledger.ledger import codec, envelope, secret_filter
from beliefledger.ledger.codec import New, Raw, Recorded
from beliefledger.ledger.consumer import Consumer
from beliefledger.ledger.encryption import SubjectKeys
from beliefledger.ledger.eraser import Eraser, Wanted
from beliefledger.ledger.erasures import SUBJECT, Erasure
from beliefledger.ledger.errors import LedgerError, LogCorrupted, NotPermitted, VersionConflict
from beliefledger.ledger.events.ops import PrincipalRegistered
from beliefledger.ledger.events.subject import SubjectRegistered
from beliefledger.ledger.names import check_name, check_text
from beliefledger.ledger.own_appends import OwnAppends
from beliefledger.ledger.replica import Replica
from beliefledger.ledger.store import (
    ERASURE_TYPES,
    Activity,
    Appended,
    Cursor,
    Cursors,
    ErasedMeanwhile,
    EventStore,
    Head,
    Row,
)
from beliefledger.ledger.streams import ops_stream, subject_stream
from beliefledger.ledger.subscription import Subscription
from beliefledger.ledger.times import Clock, Micros
from beliefledger.ledger.upcast import stored_names
from beliefledger.ledger.vault import SYSTEM, Vault

T = TypeVar("T")

PAGE = 5_000
CONFLICT_TRIES = 20
_LOOKED_AT = 100


def new_id() -> str:
    """A new event id: 128 random bits, as 32 hex digits."""
    return os.urandom(16).hex()


class Page(NamedTuple):
    """The events of some types up to a position."""

    position: int
    events: list[Recorded]


class Log:
    """Events in, events out, for one tenant. Safe to use from several threads.

    `store` keeps envelopes and bodies, `vault` the keys. Erasures that a crash interrupted are
    completed when the log is opened (but for recording it, unless it is to `finish` them), and
    those that a restored backup does not know of are done again; not in one that is not `writable`,
    because it is an unfinished copy.
    """

    def __init__(
        self,
        store: EventStore,
        vault: Vault,
        *,
        clock: Clock,
        tenant: str = "default",
        finish: bool = True,
        writable: bool = True,
        replica: Replica | None = None,
    ) -> None:
        self.vault = vault
        self.replica = replica
        self.own = OwnAppends()
        self.tenant = tenant
        self.clock = clock
        self._store = store
        self._registered: set[str] = set()
        """Subjects whose registration is known to be in the log, where it stays."""
        self._counted: int | None = None
        """The head's count of erasures, where the store does not bring it along."""
        self.refused: LedgerError | None = None
        """Why nothing more may be appended: the witness knows another history."""
        self.unfinished: list[str] = []
        """What opening could not complete, for `status`."""
        self.appended: Callable[[int], None] = lambda _position: None
        """Told the last position of each append, at once after it."""
        self.eraser = Eraser(self)
        self.interrupted: list[Erasure] = []
        """The erasures that were requested and, without `finish`, wait for their completion."""
        self._begun = not writable or vault.notes.log_has_begun()
        if writable:
            self.interrupted, self.unfinished = self.eraser.resume(finish=finish)
            self._check_together()

    # Writing

    def append(self, events: Sequence[New], expect: Mapping[str, int]) -> Appended:
        """Append all of the events or none.

        `expect` names the version of every stream that is written or that a decision only read; the
        events of a stream get the versions after it, in order. Raises `VersionConflict` when a
        stream has moved on, `NotPermitted` for an erased subject.
        """
        if self.refused is not None:
            raise type(self.refused)(self.refused.detail)
        while True:
            erasures = self._store.erasures
            if erasures is None:  # as last counted; the append itself finds out if that is old
                if self._counted is None:
                    self._counted = self._store.head().erasures
                erasures = self._counted
            self._refresh()
            versions = dict(expect)
            sealed = []
            for new in events:
                version = versions[new.stream] = versions[new.stream] + 1
                sealed.append(codec.seal(new, version, self.tenant, self.vault))
            try:
                appended = self._store.append(sealed, expect, self.clock, erasures)
                break
            except ErasedMeanwhile:
                self._counted = None
                continue  # with the keys that are left
        if not self._begun:
            self.vault.notes.note_log_begun()
            self._begun = True
        types = {new.event.NAME for new in events}
        self.own.note(types, appended.first, appended.last)
        if self.replica is not None:  # which answers questions
            self.replica.wrote(types, appended.last)
        self.appended(appended.last)
        return appended

    def _refresh(self) -> None:
        """Drop the cached keys of erased subjects, as far as the store has reported erasures."""
        self.vault.refresh(self._store.erasures)

    def decide_again(self, attempt: Callable[[], T]) -> T:
        """Run `attempt`, which reads, decides and appends, until no other writer was first.

        The one place where a conflict is tried again. After `CONFLICT_TRIES` it is raised.
        """
        for tries_left in reversed(range(CONFLICT_TRIES)):
            try:
                return attempt()
            except VersionConflict:
                if not tries_left:
                    raise
        raise AssertionError("unreachable")

    def subject(self, real_id: str) -> str | None:
        """The reference of somebody known, else None. Raises `NotPermitted` after an erasure."""
        self._refresh()
        return self.vault.find(self.tenant, real_id)

    def half_erased(self, real_id: str) -> str | None:
        """The reference of somebody whose key is destroyed and whose erasure is not finished."""
        for ref in self.vault.erased(self.tenant, real_id):
            if any(each.whole and each.done is None for each in self.eraser.of_subject(ref)):
                return ref
        return None

    def register(
        self, real_ids: Sequence[str], *, actor: str = SYSTEM, anew: bool = False
    ) -> dict[str, str]:
        """The references of these subjects, registering who is not known yet.

        An erased subject raises `NotPermitted`, unless a named actor registers them `anew`; a token
        or a password instead of an id, `SecretGiven`.
        """
        if anew and actor == SYSTEM:
            raise NotPermitted("Registering an erased subject anew needs a named actor.")
        refs: dict[str, str] = {}
        new: list[str] = []
        self._refresh()
        for real_id in dict.fromkeys(check_text("subject", each) for each in real_ids):
            try:
                known = self.vault.find(self.tenant, real_id)
            except NotPermitted:
                if not anew:
                    raise
                known = None
            if known:
                refs[real_id] = known
            else:  # a long number is an ordinary id
                secret_filter.refuse(real_id, "The subject's id", numbers=False)
                new.append(real_id)
        for real_id in new:
            check_name("subject", real_id)
        if new:
            refs.update(zip(new, self.vault.register(self.tenant, new, anew=anew), strict=True))
        unsure = {who: ref for who, ref in refs.items() if ref not in self._registered}
        if unsure:
            self.decide_again(lambda: self._record_registrations(unsure, actor, anew=anew))
            self._registered.update(unsure.values())
        return refs

    def _record_registrations(self, refs: Mapping[str, str], actor: str, *, anew: bool) -> None:
        versions = self._store.versions(list(refs.values()))
        unknown = {who: ref for who, ref in refs.items() if not versions[ref]}
        for who in () if anew else unknown:
            # Whoever named themselves died between the key and this event; another is to do it.
            if self.vault.was_erased(self.tenant, who):
                raise NotPermitted(
                    "This subject was erased, and registering them anew was broken off. Again:"
                    " beliefledger erasure register SUBJECT --by NAME."
                )
        events = [
            New(SubjectRegistered(anew=anew), new_id(), subject_stream(ref), ref, actor)
            for ref in dict.fromkeys(unknown.values())
        ]
        if events:
            self.append(events, {event.stream: 0 for event in events})

    def principal(self, name: str) -> str:
        """The reference of someone who acts, registering who is not known yet. Raises `SecretGiven`
        for what is no name: it would outlive every erasure."""
        secret_filter.refuse(check_name("The name of who acts", name), "The name of who acts")
        ref, fresh = self.vault.principal(name)
        if fresh:
            stream = ops_stream(self.tenant)
            event = New(PrincipalRegistered(principal=ref), new_id(), stream, None, ref)
            self.decide_again(lambda: self.append([event], {stream: self.version(stream)}))
        return ref

    # Reading

    def head(self) -> Head:
        return self._store.head()

    @property
    def erasures(self) -> int:
        """How many erasures were begun or finished, as of the store's last answer."""
        told = self._store.erasures
        return self._store.head().erasures if told is None else told

    def version(self, stream: str) -> int:
        return self._store.versions([stream])[stream]

    def versions(self, streams: Sequence[str]) -> dict[str, int]:
        return self._store.versions(streams)

    def keys(self, subject_ref: str) -> SubjectKeys | None:
        """The subject's keys; None once they are erased."""
        return self.vault.keys(subject_ref)

    def read(self, after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        """Every event of positions in (after, upto], in order, in pages.

        Raises `LogCorrupted` when a position is missing.
        """
        for page in self.pages(after, upto):
            yield from page

    def pages(
        self, after: int = 0, upto: int | None = None, size: int = PAGE
    ) -> Iterator[list[Recorded]]:
        """Like `read`, but yields lists of up to `size` events."""
        for _, page in self.pages_to(after, upto, size):
            yield page

    def pages_to(
        self, after: int = 0, upto: int | None = None, size: int = PAGE, *, later: bool = False
    ) -> Iterator[tuple[int, list[Recorded]]]:
        """As `pages`, each with the position that it reaches, which is behind its last event where
        others follow that are not this tenant's. With `later`, bodies are opened when `event` is
        asked for."""
        for end, rows in self._pages(after, upto, size):
            yield end, codec.unseal_page(rows, self.vault, later=later)

    def wanted(
        self, types: Collection[str], after: int, upto: int, size: int = PAGE
    ) -> Iterator[Page]:
        """As `pages`, only the events of these types, for folding. Their bodies are opened when
        `event` is asked for. That no position is missing is checked before any is left out."""
        stored = stored_names(types)
        for end, rows in self._pages(after, upto, size):
            some = (row for row in rows if row.type in stored)
            yield Page(end, codec.unseal_page(some, self.vault, later=True))

    def _pages(self, after: int, upto: int | None, size: int) -> Iterator[tuple[int, list[Row]]]:
        """Up to `size` rows at a time, and the position that each page reaches: other tenants may
        have the last ones before it."""
        upto = self.head().position if upto is None else upto
        while after < upto:
            rows = self._store.read(after, size, upto)
            end = rows[-1].position if len(rows) == size else upto
            if len(rows) < end - after:
                missing = self._store.first_missing(after, end)
                if missing is not None:
                    raise LogCorrupted(f"Position {missing} is missing from the log.")
            after = end
            self._refresh()
            yield end, rows

    def of_subject(
        self,
        subject_ref: str,
        upto: int | None = None,
        after: int = 0,
        types: Collection[str] | None = None,
        size: int = PAGE,
    ) -> Iterator[Recorded]:
        """Every event of one subject in (after, upto] (of some types), in order, in pages of up to
        `size`; bodies are opened when asked for."""
        stored, more = None if types is None else stored_names(types), True
        while more and (rows := self._store.read_subject(subject_ref, after, size, upto)):
            self._refresh()
            some = rows if stored is None else [row for row in rows if row.type in stored]
            yield from codec.unseal_page(some, self.vault, later=True)
            after, more = rows[-1].position, len(rows) == size

    def activity(self, subject_refs: Sequence[str]) -> dict[str, Activity]:
        """How many events each of these subjects has, and where their first and last are; one who
        has none is left out."""
        return self._store.activity(subject_refs)

    def of_types(
        self, types: Sequence[str], subject_ref: str | None = None, after: int = 0
    ) -> list[Recorded]:
        """All events of these types (of one subject) past a position, in order. For types of
        `RARE_TYPES`."""
        rows = self._store.of_types(sorted(stored_names(types)), subject_ref, after)
        self._refresh()
        return [codec.unseal(row, self.vault) for row in rows]

    def erasures_of(self, subject_ref: str, after: int = 0) -> int:
        """How many erasures of a subject, or of anything about them, were requested or completed
        past a position."""
        return len(self._store.of_types(ERASURE_TYPES, subject_ref, after))

    def event_id_at(self, position: int) -> str | None:
        """The id of the event at a position, of any tenant; None past the head."""
        return self._store.event_id_at(position)

    def first_missing(self, after: int, upto: int) -> int | None:
        """The first position of (after, upto] that no tenant has an event at, if there is one."""
        return self._store.first_missing(after, upto)

    def last(self, upto: int) -> Recorded | None:
        """The last event of this tenant at or before a position."""
        rows = self._store.read(0, 1, upto, desc=True)
        return next(iter(self._opened(rows)), None)

    def read_at(self, positions: Sequence[int]) -> dict[int, Recorded]:
        """The events at these positions."""
        rows = self._rows_at(list(dict.fromkeys(positions)))
        return {each.position: each for each in self._opened(rows)}

    def _opened(self, rows: Sequence[Row]) -> list[Recorded]:
        if rows:
            self._refresh()
        return [codec.unseal(row, self.vault) for row in rows]

    def _rows_at(self, positions: list[int]) -> list[Row]:
        """The rows at positions that views told of, from where these were asked."""
        told = None
        if self.replica is not None:
            told = self.replica.rows_at(positions, self._store.erasures)
        return self._store.read_at(positions) if told is None else told

    def raw_at(self, positions: Sequence[int]) -> Iterator[Raw]:
        """Like `read_at`, in pages and without making events: for reading a few words of very
        many."""
        wanted = list(dict.fromkeys(positions))
        for start in range(0, len(wanted), PAGE):
            rows = self._rows_at(wanted[start : start + PAGE])
            self._refresh()
            yield from codec.raw_page(rows, self.vault)

    def read_stream(self, stream: str, after: int = 0, upto: int | None = None) -> list[Recorded]:
        """The events of one stream of versions in (after, upto]."""
        return self._opened(self._store.read_stream(stream, after, upto))

    def read_streams(self, streams: Sequence[str]) -> dict[str, list[Recorded]]:
        """The events of each of these streams, asked for at once; of one without any, none."""
        found: dict[str, list[Recorded]] = {stream: [] for stream in streams}
        for each in self._opened(self._store.read_streams(streams)):
            found[each.stream].append(each)
        return found

    def find(self, event_id: str) -> Recorded | None:
        row = self._store.find(event_id)
        return None if row is None else self._opened([row])[0]

    def position_at(self, moment: Micros) -> int:
        """The last position recorded at or before the moment."""
        return self._store.position_at(moment)

    def raw(self, after: int = 0, upto: int | None = None) -> Iterator[Row]:
        """The rows as stored, for verification: nothing is opened, nothing assumed."""
        upto = self.head().position if upto is None else upto
        while after < upto:
            rows = self._store.read(after, PAGE, upto)
            if not rows:
                return
            yield from rows
            after = rows[-1].position

    def damage(self) -> tuple[int | None, str] | None:
        """Damage that the store finds in itself, for verification."""
        return self._store.damage()

    def subscribe(
        self,
        after: int = 0,
        types: Sequence[str] | None = None,
        subjects: Callable[[], Collection[str]] | None = None,
        *,
        follow: bool = True,
    ) -> Subscription:
        """Events past `after`, first those that are there, then (with `follow`) those that come.

        `subjects` tells the references of the people who are wanted; it is asked for each page,
        since somebody may be registered later.
        """
        return Subscription(self, after, types, subjects, follow=follow)

    def consumer(
        self,
        name: str,
        types: Sequence[str] | None = None,
        subjects: Callable[[], Collection[str]] | None = None,
        *,
        lease_seconds: float = 10.0,
        follow: bool = True,
    ) -> Consumer:
        """Like `subscribe`, but starts at a cursor kept under a name: see `Consumer`."""
        return Consumer(
            self, self._store.cursors, name, types, subjects,
            lease_seconds=lease_seconds, follow=follow,
        )  # fmt: skip

    @property
    def store(self) -> EventStore:
        """The store that keeps history and bodies."""
        return self._store

    @property
    def cursors(self) -> Cursors:
        """The cursors of named consumers."""
        return self._store.cursors

    def consumers(self) -> list[Cursor]:
        """How far each named consumer is."""
        return self._store.cursors.all()

    def wait(self, position: int, seconds: float) -> bool:
        """Wait until the head is past `position`; False when the time is over first."""
        return self._store.wait(position, seconds)

    # Forgetting

    def erase(self, subject_ref: str, *, actor: str, legal_basis: str) -> int:
        """Destroy the subject's key and bodies, and record it; returns how many bodies went.

        The request is recorded first: from there on nothing more is written about the subject, and
        a crash at any later step is made good when the log is next opened, or by erasing again.
        Raises `NotPermitted` under a legal hold, `BackendUnavailable` while another process reads
        what has to go.
        """
        before = self.eraser.of_subject(subject_ref)
        if any(each.whole and each.done is not None for each in before):
            return 0
        wanted = Wanted(subject_ref, SUBJECT)
        [erasure] = self.eraser.request(lambda: [wanted], actor=actor, legal_basis=legal_basis)
        self.eraser.destroy(erasure)
        done = self.eraser.complete(erasure).done
        return 0 if done is None else int(done.facts["bodies"])

    def _check_together(self) -> None:
        """Refuse a log or a vault that was lost and made anew, or that is older than the other, as
        far as the first and the last events tell."""
        head = self._store.head().position
        if self._begun and not head:
            raise LogCorrupted(
                "The log (log.db, or its schema) is empty, but the vault knows that it was not."
            )
        ends = [*self._store.read(0, _LOOKED_AT), *self._store.read(head - _LOOKED_AT, _LOOKED_AT)]
        for row in ends:
            with suppress(LogCorrupted):  # named when it is read, and by `verify`
                subject_ref = envelope.read(row.envelope, row.position)["subject_ref"]
                if subject_ref is not None:
                    self.vault.keys(subject_ref)
        if head and not self._begun:
            self.vault.notes.note_log_begun()
            self._begun = True

    def close(self) -> None:
        if self.replica is not None:
            self.replica.close()
        self._store.close()
        self.vault.close()
