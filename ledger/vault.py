"""The vault: the only store that must be forgettable.

It holds each subject's key, wrapped under the master key; who the subject is, encrypted under the
subject's own key and found by HMAC(pepper, tenant | id); and for erased subjects a tombstone: that
HMAC alone. Destroying a key makes every body of that subject unreadable wherever a copy lies.
What it ever came to hold is entered in its register, too: see `ledger.register`.

It lies in a file (`keys.db`) or in a Postgres: see the port, `ledger.keystore`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from pathlib import Path

from beliefledger.ledger import key_rotation, lookups, register, vault_check
from beliefledger.ledger.encryption import NotAuthentic, Sealer, SubjectKeys, new_key
from beliefledger.ledger.erased_content import ErasedContent
from beliefledger.ledger.errors import (
    CallerMistake,
    KeyMissing,
    LedgerError,
    LogCorrupted,
    NotPermitted,
)
from beliefledger.ledger.key_rotation import Rotation, RotationNote
from beliefledger.ledger.keystore import (
    KEY,
    TOMBSTONE,
    Transaction,
    VaultContents,
    VaultDatabase,
    fill,
    read,
    strangers,
)
from beliefledger.ledger.lookups import Queryable, Who
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.names import check_text, composed
from beliefledger.ledger.principals import SYSTEM, Principals
from beliefledger.ledger.register import End, Entry, Register
from beliefledger.ledger.sqlite.vault import SQLiteVault
from beliefledger.ledger.times import Micros
from beliefledger.ledger.unfinished import ReadOnlyVault
from beliefledger.ledger.vault_notes import Agreed, Notes, forget_notes
from beliefledger.ledger.vault_secrets import OpenedKey, VaultSecrets

__all__ = ["ERASED", "SYSTEM", "Vault"]

ERASED = (
    "This subject was erased. A named actor has to register them anew before anything about them is"
    " recorded: beliefledger erasure register SUBJECT --by NAME."
)


class Vault:
    """Opens the vault in a file, making it when it is not there, or in a database that is given,
    which it closes with itself.

    Raises `KeyMissing` when the master key is not the one it was made with, before anything is
    written.
    """

    def __init__(self, where: Path | VaultDatabase, master: MasterKey) -> None:
        self._database: VaultDatabase = SQLiteVault(where) if isinstance(where, Path) else where
        self._lock = threading.RLock()
        self._keys: dict[str, SubjectKeys] = {}
        self._refs: dict[tuple[str, str], str] = {}
        self._erased: set[str] = set()
        self._living = lookups.Living()
        # The caches hold only what is so until a key is destroyed.
        try:
            self._secrets = VaultSecrets(self._database, master)
        except LedgerError:
            self._database.close()
            raise
        self._read_from(self._database)

    def _read_from(self, database: VaultDatabase) -> None:
        self._database = database
        self._secrets.read_from(database)
        self._principals = Principals(database, self._secrets)
        self._erased_content = ErasedContent(database, self._secrets)

    @property
    def master_key(self) -> MasterKey:
        """The master key that it is under now."""
        return self._secrets.master

    def look_for_keys(self, newer: Callable[[], Iterable[MasterKey]]) -> None:
        """Where the key is found that took the place of the master key, once somebody rotated it:
        then whoever has the vault open goes on with that."""
        self._secrets.newer = newer

    def __str__(self) -> str:
        return str(self._database)

    def _check_tenant(self, tenant: str) -> None:
        shown = self._database.tenant
        if shown is not None and shown != tenant:
            raise CallerMistake(
                f"The vault {self} was opened for the tenant {shown!r}: open it for {tenant!r}."
            )

    def refresh(self, mark: int | None = None) -> None:
        """Forget what is cached if another process changed the vault (it may have erased someone).
        Call it before reading or writing on a subject's behalf.

        `mark` is the log's count of erasures; where a question costs a round trip, it is taken
        instead of asking.
        """
        with self._lock:
            if self._database.changed(mark):
                self._keys.clear()
                self._refs.clear()
                self._erased_content.forget()

    # Subjects

    def find(self, tenant: str, real_id: str) -> str | None:
        """The subject's reference, or None for somebody unknown.

        Raises `NotPermitted` for somebody who was erased and not registered anew.
        """
        known = self._refs.get((tenant, check_text("subject", real_id)))
        if known:
            return known
        with self._lock:  # from the row to the cache, so that no erasure falls between
            who = self._who(self._database, tenant, real_id)
            if who.ref is not None:
                self._refs[tenant, real_id] = who.ref
            elif who.erased:
                raise NotPermitted(ERASED)
        return who.ref

    def _who(self, asked: Queryable, tenant: str, real_id: str) -> Who:
        self._check_tenant(tenant)
        find = partial(self._secrets.lookup, tenant)
        return lookups.person(asked, find, check_text("subject", real_id), str(self))

    def was_erased(self, tenant: str, real_id: str) -> bool:
        return bool(self.erased(tenant, real_id))

    def erased(self, tenant: str, real_id: str) -> list[str]:
        """The references that somebody had who was erased."""
        return self._who(self._database, tenant, real_id).erased

    def register(self, tenant: str, real_ids: Sequence[str], *, anew: bool = False) -> list[str]:
        """Make a key for each new subject, in one durable commit; returns their references.

        Somebody known keeps the reference they have. The commit comes before their first event.
        Raises `NotPermitted` for somebody who was erased, unless they are registered `anew`.
        """
        self._check_tenant(tenant)

        def look_or_make(transaction: Transaction) -> list[str]:
            self._secrets.renew(transaction)
            made: list[Entry] = []
            refs = [
                self._look_or_make(transaction, tenant, real_id, made, anew=anew)
                for real_id in real_ids
            ]
            self._secrets.register.append(transaction, made)
            return refs

        return self._database.write(look_or_make)

    def _look_or_make(
        self, transaction: Transaction, tenant: str, real_id: str, made: list[Entry], *, anew: bool
    ) -> str:
        # Asked again here: another process may have erased them since `find`.
        who = self._who(transaction, tenant, real_id)
        if who.ref is not None:
            return who.ref
        if who.erased and not anew:
            raise NotPermitted(ERASED)
        real_id = composed(real_id)
        lookup = self._secrets.lookup(tenant, real_id)
        ref, key = os.urandom(16).hex(), new_key()
        sealed_id = Sealer(key).seal(real_id.encode(), b"real id")
        wrapped = self._secrets.wrapper.seal(key, ref.encode())
        transaction.run(
            f"INSERT INTO vault.keys ({KEY}) VALUES (?, ?, ?, ?, ?, ?)",
            (ref, tenant, self._secrets.master.id, lookup, wrapped, sealed_id),
        )
        made.append(register.of_key(ref, tenant, lookup))
        return ref

    def _key(self, subject_ref: str) -> OpenedKey | None:
        rows = self._database.rows(
            "SELECT wrapped, sealed_id, kek_id FROM vault.keys WHERE subject_ref = ?",
            (subject_ref,),
        )
        if not rows:
            if self.is_erased(subject_ref):
                return None
            raise KeyMissing(f"The vault {self} has no key for subject {subject_ref}.")
        try:
            wrapped, sealed_id, master_key = rows[0]
            key = self._secrets.wrapper.open(wrapped, subject_ref.encode())
            return OpenedKey(key, sealed_id, str(master_key))
        except NotAuthentic:
            self._secrets.rotated(f"The key of subject {subject_ref}")
        return self._key(subject_ref)

    def keys(self, subject_ref: str) -> SubjectKeys | None:
        """The subject's keys; None once they are erased.

        Raises `KeyMissing` when the key is not there and no erasure explains it.
        """
        known = self._keys.get(subject_ref)
        if known is None:
            with self._lock:  # from the row to the cache, so that no erasure falls between
                opened = self._key(subject_ref)
                if opened is None:
                    return None
                known = self._keys[subject_ref] = SubjectKeys.of(subject_ref, opened.key)
        return known

    def real_id(self, subject_ref: str) -> str | None:
        """Who the subject is; None once they are erased."""
        if (opened := self._key(subject_ref)) is None:
            return None
        try:
            return Sealer(opened.key).open(opened.sealed_id, b"real id").decode()
        except NotAuthentic:
            raise LogCorrupted(
                f"The id of subject {subject_ref} in the vault {self} was changed."
            ) from None

    def subjects(self, tenant: str, after: str = "", limit: int | None = None) -> list[str]:
        """The references of the living subjects (up to `limit` past one), in no telling order."""
        self._check_tenant(tenant)
        query = "SELECT subject_ref FROM vault.keys WHERE tenant = ? AND subject_ref > ? ORDER BY 1"
        query += "" if limit is None else f" LIMIT {limit:d}"
        rows = self._database.rows(query, (tenant, after))
        return [str(row[0]) for row in rows]

    def count(self, tenant: str) -> int:
        """How many living subjects there are."""
        self._check_tenant(tenant)
        with self._lock:
            return self._living.count(self._database, tenant)

    def is_erased(self, subject_ref: str) -> bool:
        if subject_ref not in self._erased and lookups.is_buried(self._database, subject_ref):
            self._erased.add(subject_ref)
        return subject_ref in self._erased

    def keep_erased(self, subject_refs: Collection[str], now: Micros) -> bool:
        """Let nobody come back whose erasure the log records, also when this vault was restored
        from a backup that still has their key, or that never heard of them. True if it had a key,
        so that there is something to scrub."""
        had_keys = False
        for subject_ref in set(subject_refs) - self.tombstones():
            if self._database.rows(
                "SELECT 1 FROM vault.keys WHERE subject_ref = ?", (subject_ref,)
            ):
                self.destroy(subject_ref, now, scrub=False)
                had_keys = True
        self._erased.update(subject_refs)
        return had_keys

    # Erased content of the living

    def note_erased(
        self, erasure: str, subject_ref: str, event_ids: Collection[str], now: Micros
    ) -> None:
        """Register, durably, that the bodies of these events are to be no more: a log restored
        from a backup has them again, and this is how it is known."""
        self._erased_content.note(erasure, subject_ref, event_ids, now)

    def register_of_erased(
        self, subject_ref: str | None = None
    ) -> dict[str, tuple[str, frozenset[str]]]:
        """By the id of each erasure of less than a subject (of this one): whose, and the ids of the
        events."""
        return self._erased_content.by_erasure(subject_ref)

    def is_content_erased(self, subject_ref: str, event_id: str) -> bool:
        """Whether the body of an event of somebody living was erased."""
        return self._erased_content.has(subject_ref, event_id)

    def fingerprint(self, subject_ref: str) -> tuple[str, str]:
        """The fingerprint of the subject's key, and the id of the master key that it is wrapped
        under; of somebody erased, nothing."""
        opened = self._key(subject_ref)
        return (opened.fingerprint(), opened.master_key) if opened else ("", "")

    def tombstones(self) -> set[str]:
        """The references of everybody who was erased."""
        return lookups.buried(self._database)

    def destroy(self, subject_ref: str, now: Micros, *, scrub: bool = True) -> str:
        """Destroy the subject's key and leave the tombstone; returns the key's fingerprint.

        Done once is done for ever; done twice changes nothing and returns an empty fingerprint, but
        makes good what a crash left undone. Raises `BackendUnavailable` as `scrub` does, which can
        be left for later.
        """
        with self._lock:
            opened = self._key(subject_ref)

            def bury(transaction: Transaction) -> None:
                self._secrets.renew(transaction)
                found = transaction.rows(
                    "SELECT tenant, lookup FROM vault.keys WHERE subject_ref = ?", (subject_ref,)
                )
                if opened is None or not found:
                    return
                tenant, there = found[0]
                lookup = lookups.of_tombstone(
                    transaction, subject_ref, there, lambda: self._computed(opened, tenant)
                )
                stone = (subject_ref, lookup, now)
                transaction.run(
                    f"INSERT INTO vault.tombstones ({TOMBSTONE}) VALUES (?, ?, ?)"
                    " ON CONFLICT DO NOTHING",
                    stone,
                )
                transaction.run("DELETE FROM vault.keys WHERE subject_ref = ?", (subject_ref,))
                self._secrets.register.append_once(transaction, register.of_tombstone(*stone))

            try:
                self._database.write(bury)
            finally:  # also when it is not known whether it was committed
                self._keys.pop(subject_ref, None)
                self._refs = {who: ref for who, ref in self._refs.items() if ref != subject_ref}
        if scrub:
            self.scrub()
        return opened.fingerprint() if opened else ""

    def _computed(self, opened: OpenedKey, tenant: str) -> bytes | None:
        """The lookup of somebody, from their id; None where that was changed."""
        try:
            real_id = Sealer(opened.key).open(opened.sealed_id, b"real id").decode()
        except NotAuthentic:
            return None
        return self._secrets.lookup(tenant, real_id)

    def scrub(self) -> None:
        """Leave no byte of destroyed keys behind. Raises `BackendUnavailable` while the database
        has to keep them for somebody: the keys are destroyed then, and scrubbing again tells when
        their bytes are gone."""
        self._database.scrub()

    # The log it belongs to

    @property
    def notes(self) -> Notes:
        """The vault's notes about the log, kept to save work when it is opened."""
        return self._secrets.notes

    def note_agreed(self, position: int, event_id: str) -> None:
        """Note that they do, at this event of the log."""
        self._secrets.notes.note_agreed(Agreed(position, event_id, *self.erased_counts()))

    def registered(self) -> End:
        """How far the register goes."""
        return register.end(self._database.rows(register.LAST))

    def check(self) -> vault_check.VaultChecked:
        """Open every id and name, compute every lookup and keyed hash anew, and hold the rows
        against the register. Raises `MasterKeyReplaced`."""
        damage, rewired = self._database.damage(), self._database.rewired()
        with self._lock:

            def looked(transaction: Transaction) -> VaultContents:
                self._secrets.renew(transaction)
                return read(transaction)

            contents = self._in_one_look(looked)
            known = self._secrets
            under = vault_check.VaultContext(
                known.master.id, known.wrapper, known.pepper, known.register
            )
        problems = list(vault_check.problems(contents, under))
        first = [] if damage is None else [damage]
        last = [] if rewired is None else [rewired]
        return vault_check.VaultChecked(
            (*first, *problems, *self._secrets.notes.wrong(contents), *last),
            tuple(each.chain.hex() for each in contents.register),
            frozenset((each.kind, each.ref) for each in contents.register),
        )

    def erased_counts(self) -> tuple[int, int]:
        """How many people, and how many parts of living ones, are erased."""
        [counts] = self._database.rows(
            "SELECT (SELECT count(*) FROM vault.tombstones), (SELECT count(*) FROM vault.erasures)"
        )
        return int(counts[0]), int(counts[1])

    # Principals

    def principal(self, name: str) -> tuple[str, bool]:
        """The reference of someone who acts, and whether it was made just now."""
        return self._principals.find_or_make(name)

    def principal_name(self, principal_ref: str) -> str:
        """The name of a principal; the reference itself if it is unknown."""
        return self._principals.name(principal_ref)

    # Another master key

    def rotate(self, new: MasterKey, note: RotationNote) -> Rotation:
        """Wrap the survivors' keys, the pepper and the principals' names under another master key,
        in one commit.

        Whoever else has the vault open and does not find the new key (`look_for_keys`) gets
        `MasterKeyReplaced`. No row holds the old key any more; `scrub` takes its bytes out of the
        files. `note` is kept until the log has it.
        """
        with self._lock:

            def rewrap(transaction: Transaction) -> Rotation:
                done = key_rotation.done(transaction, new)  # where the reply to a commit was lost
                if done is not None:
                    return done
                self._secrets.renew(transaction)
                old = self._secrets.wrapper, self._secrets.master.id
                under_new = Register(self._secrets.pepper, new.key)
                self._secrets.register.rewrite(transaction, under_new, str(self))
                return key_rotation.rewrap(transaction, *old, new, note, str(self))

            rotation = self._database.write(rewrap)
            self._secrets.change_master(new)
        return rotation

    def unrecorded_rotation(self) -> Rotation | None:
        """The rotation that the log has no event of yet."""
        return key_rotation.unrecorded(self._database)

    def rotation_is_recorded(self, rotation: Rotation) -> None:
        self._database.write(lambda transaction: key_rotation.forget(transaction, rotation))

    # Copying

    def dump(self) -> VaultContents:
        """All that it holds, as of one moment; where it shows one tenant alone, what is theirs."""
        return self._in_one_look(read)

    def restore(self, contents: VaultContents, *, older: bool = False) -> None:
        """Take in what another vault held; done again, it takes in what is missing.

        Who was erased there is erased here, and who was erased here stays so. That the log has
        begun is not taken over: the log that it was said of is another. Raises `KeyMissing` when
        the other vault had another master key, `CallerMistake` when this one has people of its own,
        unless what is taken in is an `older` state of this one.
        """
        sealed = dict(contents.meta).get("pepper")
        if sealed is None:
            raise CallerMistake("These are not the contents of a vault: they have no pepper.")
        pepper = self._secrets.open_pepper(sealed)
        for tenant in {each[1] for each in contents.keys}:
            self._check_tenant(tenant)

        def take_in(transaction: Transaction) -> bool:
            self._secrets.renew(transaction)
            if not older or pepper != self._secrets.pepper:
                others = strangers(transaction, contents, same=pepper == self._secrets.pepper)
                if others:
                    raise CallerMistake(
                        f"The vault {self} has {others} people of its own: restore into a new one."
                    )
            if pepper != self._secrets.pepper:
                transaction.run("UPDATE vault.meta SET value = ? WHERE name = 'pepper'", (sealed,))
                forget_notes(transaction)
            taking = Register(pepper, self._secrets.master.key)
            taking.take_in(transaction, contents)
            if older:
                register.repair(transaction, contents)
            return fill(transaction, contents)

        with self._lock:
            destroyed = self._database.write(take_in)
            if pepper != self._secrets.pepper:
                self._secrets.use(pepper, sealed)
            self._keys.clear()
            self._refs.clear()
        if destroyed:
            self._database.scrub()

    def only_read(self, why: str) -> None:
        """From now on refuse to write, by a `CopyUnfinished` that says why."""
        self._read_from(ReadOnlyVault(self._database, why))

    def _in_one_look(self, look: Callable[[Transaction], VaultContents]) -> VaultContents:
        """Read everything in one transaction. `look` must not write."""
        database = self._database
        if isinstance(database, ReadOnlyVault):
            database = database.database
        return database.write(look)

    def close(self) -> None:
        self._database.close()
