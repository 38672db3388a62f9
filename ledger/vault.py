"""The vault: the only store that must be forgettable (`keys.db`).

It holds each subject's key, wrapped under the master key; who the subject is, encrypted under the
subject's own key and found by HMAC(pepper, tenant | id); and for erased subjects a tombstone: that
HMAC alone. Destroying a key makes every body of that subject unreadable wherever a copy lies.

The journal is a rollback journal, which is unlinked at commit, and `secure_delete` is on: after a
key is destroyed no file here holds its bytes, not even wrapped.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import sqlite3
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ledger.errors import (
    BackendUnavailable,
    CallerMistake,
    KeyMissing,
    LedgerError,
    LogCorrupted,
    NotPermitted,
)
from ledger.masterkey import MasterKey
from ledger.sealing import NotAuthentic, Sealer, SubjectKeys, new_key
from ledger.times import Micros

SYSTEM = "system"
"""The actor of what the ledger does by itself."""

_ERASED = (
    "This subject was erased. A named actor has to register them anew before anything about them is"
    " recorded."
)
_BROKEN = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What a call on the database can raise; in its messages SQLite quotes damaged names."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS keys (
    subject_ref TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    kek_id TEXT NOT NULL,
    lookup BLOB NOT NULL UNIQUE,
    wrapped BLOB NOT NULL,
    sealed_id BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS tombstones (
    subject_ref TEXT PRIMARY KEY,
    lookup BLOB NOT NULL,
    erased_at INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS tombstones_by_lookup ON tombstones (lookup);
CREATE TABLE IF NOT EXISTS principals (
    principal_ref TEXT PRIMARY KEY,
    lookup BLOB NOT NULL UNIQUE,
    sealed_name BLOB NOT NULL
);
"""


class Vault:
    """Opens `keys.db`, making it when it is not there.

    Raises `KeyMissing` when the master key is not the one it was made with, before anything is
    written.
    """

    def __init__(self, path: Path, master: MasterKey) -> None:
        self._path = path
        self._master = master
        self._wrapper = Sealer(master.key)
        self._lock = threading.RLock()
        self._process = os.getpid()
        fresh = not path.exists()
        try:
            self._db = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, timeout=10
            )
        except _BROKEN as problem:
            raise _named(path, problem) from problem
        try:
            if fresh:
                path.chmod(0o600)
            self._db.execute("PRAGMA secure_delete=ON")
            self._db.execute("PRAGMA synchronous=FULL")
            self._pepper = self._unlock()
        except _BROKEN as problem:
            self._db.close()
            raise _named(path, problem) from problem
        except KeyMissing:
            self._db.close()
            raise
        self._keys: dict[str, SubjectKeys] = {}
        self._refs: dict[tuple[str, str], str] = {}
        self._erased: set[str] = set()
        self._seen = self._data_version()

    def _unlock(self) -> bytes:
        has_meta = self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone()
        row = has_meta and self._db.execute("SELECT value FROM meta WHERE name='pepper'").fetchone()
        if not row:
            self._db.executescript("BEGIN IMMEDIATE;" + _SCHEMA)
            self._db.execute(
                "INSERT OR IGNORE INTO meta VALUES ('pepper', ?)",
                (self._wrapper.seal(new_key(), b"pepper"),),
            )
            self._db.execute("COMMIT")
            row = self._db.execute("SELECT value FROM meta WHERE name='pepper'").fetchone()
        try:
            return self._wrapper.open(row[0], b"pepper")
        except NotAuthentic:
            raise KeyMissing(
                f"The master key {self._master.id} does not open the vault {self._path}."
            ) from None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self._check_process()
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                try:
                    yield self._db
                    self._db.execute("COMMIT")
                finally:
                    if self._db.in_transaction:
                        self._db.execute("ROLLBACK")
            except sqlite3.IntegrityError:
                raise
            except _BROKEN as problem:
                raise _named(self._path, problem) from problem

    def _rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[bytes, ...]]:
        self._check_process()
        with self._lock:
            try:
                return self._db.execute(statement, values).fetchall()
            except _BROKEN as problem:
                raise _named(self._path, problem) from problem

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise CallerMistake(f"{self._path} was opened before a fork: open it in the child.")

    def _data_version(self) -> int:
        return int(self._rows("PRAGMA data_version")[0][0])

    def refresh(self) -> None:
        """Forget what is cached if another process changed the vault (it may have erased someone).
        Call it before reading or writing on a subject's behalf."""
        with self._lock:
            seen = self._data_version()
            if seen != self._seen:
                self._keys.clear()
                self._refs.clear()
                self._seen = seen

    def _lookup(self, *parts: str) -> bytes:
        return hmac.digest(self._pepper, "\x1f".join(parts).encode(), "sha256")

    # Subjects

    def find(self, tenant: str, real_id: str) -> str | None:
        """The subject's reference, or None for somebody unknown.

        Raises `NotPermitted` for somebody who was erased and not registered anew.
        """
        known = self._refs.get((tenant, real_id))
        if known:
            return known
        lookup = self._lookup(tenant, real_id)
        with self._lock:  # from the row to the cache, so that no erasure falls between
            row = self._rows("SELECT subject_ref FROM keys WHERE lookup = ?", (lookup,))
            if row:
                ref = str(row[0][0])
                self._refs[tenant, real_id] = ref
                return ref
            if self._rows("SELECT 1 FROM tombstones WHERE lookup = ? LIMIT 1", (lookup,)):
                raise NotPermitted(_ERASED)
        return None

    def was_erased(self, tenant: str, real_id: str) -> bool:
        return bool(self.erased(tenant, real_id))

    def erased(self, tenant: str, real_id: str) -> list[str]:
        """The references that somebody had who was erased."""
        lookup = self._lookup(tenant, real_id)
        rows = self._rows("SELECT subject_ref FROM tombstones WHERE lookup = ?", (lookup,))
        return [str(row[0]) for row in rows]

    def register(self, tenant: str, real_ids: Sequence[str], *, anew: bool = False) -> list[str]:
        """Make a key for each new subject, in one durable commit; returns their references.

        Somebody known keeps the reference they have. The commit comes before their first event.
        Raises `NotPermitted` for somebody who was erased, unless they are registered `anew`.
        """
        refs = []
        with self._writing() as db:
            for real_id in real_ids:
                lookup = self._lookup(tenant, real_id)
                row = db.execute(
                    "SELECT subject_ref FROM keys WHERE lookup = ?", (lookup,)
                ).fetchone()
                if row:
                    refs.append(str(row[0]))
                    continue
                # Asked again here: another process may have erased them since `find`.
                gone = db.execute("SELECT 1 FROM tombstones WHERE lookup = ? LIMIT 1", (lookup,))
                if not anew and gone.fetchone():
                    raise NotPermitted(_ERASED)
                ref, key = os.urandom(16).hex(), new_key()
                sealed_id = Sealer(key).seal(real_id.encode(), b"real id")
                wrapped = self._wrapper.seal(key, ref.encode())
                db.execute(
                    "INSERT INTO keys VALUES (?, ?, ?, ?, ?, ?)",
                    (ref, tenant, self._master.id, lookup, wrapped, sealed_id),
                )
                refs.append(ref)
        return refs

    def _key(self, subject_ref: str) -> tuple[bytes, bytes] | None:
        rows = self._rows(
            "SELECT wrapped, sealed_id FROM keys WHERE subject_ref = ?", (subject_ref,)
        )
        if not rows:
            if self.is_erased(subject_ref):
                return None
            raise KeyMissing(f"The vault {self._path} has no key for subject {subject_ref}.")
        try:
            return self._wrapper.open(rows[0][0], subject_ref.encode()), rows[0][1]
        except NotAuthentic:
            raise LogCorrupted(
                f"The key of subject {subject_ref} in the vault {self._path} was changed."
            ) from None

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
                known = self._keys[subject_ref] = SubjectKeys.of(subject_ref, opened[0])
        return known

    def real_id(self, subject_ref: str) -> str | None:
        """Who the subject is; None once they are erased."""
        opened = self._key(subject_ref)
        if opened is None:
            return None
        try:
            return Sealer(opened[0]).open(opened[1], b"real id").decode()
        except NotAuthentic:
            raise LogCorrupted(
                f"The id of subject {subject_ref} in the vault {self._path} was changed."
            ) from None

    def subjects(self, tenant: str) -> list[str]:
        """The references of the living subjects, in no telling order."""
        rows = self._rows("SELECT subject_ref FROM keys WHERE tenant = ? ORDER BY 1", (tenant,))
        return [str(row[0]) for row in rows]

    def is_erased(self, subject_ref: str) -> bool:
        if subject_ref in self._erased:
            return True
        if self._rows("SELECT 1 FROM tombstones WHERE subject_ref = ?", (subject_ref,)):
            self._erased.add(subject_ref)
            return True
        return False

    def keep_erased(self, subject_refs: Collection[str], now: Micros) -> None:
        """Let nobody come back whose erasure the log records, also when this vault was restored
        from a backup that still has their key, or that never heard of them."""
        known = {row[0] for row in self._rows("SELECT subject_ref FROM tombstones")}
        for subject_ref in set(subject_refs) - known:
            if self._rows("SELECT 1 FROM keys WHERE subject_ref = ?", (subject_ref,)):
                self.destroy(subject_ref, now)
        self._erased.update(subject_refs)

    def destroy(self, subject_ref: str, now: Micros) -> str:
        """Destroy the subject's key and leave the tombstone; returns the key's fingerprint.

        Done once is done for ever; done twice changes nothing and returns an empty fingerprint.
        """
        with self._lock:
            opened = self._key(subject_ref)
            with self._writing() as db:
                db.execute(
                    "INSERT OR IGNORE INTO tombstones SELECT subject_ref, lookup, ? FROM keys"
                    " WHERE subject_ref = ?",
                    (now, subject_ref),
                )
                db.execute("DELETE FROM keys WHERE subject_ref = ?", (subject_ref,))
            self._keys.pop(subject_ref, None)
            self._refs = {who: ref for who, ref in self._refs.items() if ref != subject_ref}
        return hashlib.sha256(b"fingerprint" + opened[0]).hexdigest() if opened else ""

    # The log it belongs to

    def log_has_begun(self) -> bool:
        """True once the log is known to have held an event."""
        return bool(self._rows("SELECT 1 FROM meta WHERE name = 'log has begun'"))

    def note_log_begun(self) -> None:
        with self._writing() as db:
            db.execute("INSERT OR IGNORE INTO meta VALUES ('log has begun', x'01')")

    # Principals

    def principal(self, name: str) -> tuple[str, bool]:
        """The reference of someone who acts, and whether it was made just now."""
        if name == SYSTEM:
            return SYSTEM, False
        lookup = self._lookup("principal", name)
        rows = self._rows("SELECT principal_ref FROM principals WHERE lookup = ?", (lookup,))
        if rows:
            return str(rows[0][0]), False
        ref = os.urandom(16).hex()
        with self._writing() as db:
            cursor = db.execute(
                "INSERT OR IGNORE INTO principals VALUES (?, ?, ?)",
                (ref, lookup, self._wrapper.seal(name.encode(), ref.encode())),
            )
        if not cursor.rowcount:
            return self.principal(name)
        return ref, True

    def principal_name(self, principal_ref: str) -> str:
        if principal_ref == SYSTEM:
            return SYSTEM
        rows = self._rows(
            "SELECT sealed_name FROM principals WHERE principal_ref = ?", (principal_ref,)
        )
        if not rows:
            return principal_ref
        try:
            return self._wrapper.open(rows[0][0], principal_ref.encode()).decode()
        except NotAuthentic:
            raise LogCorrupted(
                f"A principal's name in the vault {self._path} was changed."
            ) from None

    def close(self) -> None:
        if os.getpid() == self._process:
            with self._lock:
                self._db.close()


def _named(path: Path, problem: Exception) -> LedgerError:
    if isinstance(problem, sqlite3.ProgrammingError):
        return CallerMistake(f"The vault {path} was closed: open it again.")
    if isinstance(problem, sqlite3.OperationalError):
        return BackendUnavailable(f"The vault {path} did not answer: {problem}.")
    return LogCorrupted(f"The vault {path} is damaged: {problem}.")
