"""Keeps the indexes of subjects as ciphertext under their keys, so that a fresh process need not
read and stem all texts again.

They lie beside the vectors and are as disposable. What reads one checks first whether it is still
of this log; who erases words deletes what has them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from uuid import uuid4

from sqlalchemy import Connection, delete, func, select

from beliefledger.ledger.encryption import NotAuthentic, SubjectKeys
from beliefledger.ledger.streams import tag
from beliefledger.projections.index_state import LAYOUT, State, cut, packed, unpacked
from beliefledger.projections.tables import kept_indexes as table
from beliefledger.projections.view_databases import Home

_PART = 1 << 20
"""Bytes that are sealed together …"""
_TOGETHER = 16
"""… and parts that are written together."""


class KeptIndexes:
    """Sealed indexes in a home. Safe to use from several threads and processes."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def create(self, connection: Connection) -> None:
        """Make the table, unless it is there."""
        self._home.create(connection, table)
        self._home.index(connection, sorted(table.indexes, key=lambda index: str(index.name)))

    def load(self, keys: SubjectKeys, model: str, purpose: str) -> State | None:
        """The state that was last kept; None where there is none, or it was changed since: it is of
        no more use then."""
        of = _tag(keys, model, purpose)
        try:
            with self._home.reading() as connection:
                return unpacked(_opened(connection, keys, of))
        except (NotAuthentic, EOFError):
            return None

    def keep(self, keys: SubjectKeys, model: str, purpose: str, state: State) -> None:
        """Seal and keep a state, in place of the one before."""
        of, saved, data = _tag(keys, model, purpose), uuid4().hex, packed(state)
        parts = -(-sum(len(each) for each in data) // _PART)
        erasures = state["erasures"][1]

        def sealed(part: int, piece: bytes) -> tuple[object, ...]:
            blob = keys.bodies.seal(piece, _bound(of, saved, part, parts))
            return of, part, keys.subject_ref, model, erasures, saved, parts, blob

        pieces = enumerate(cut(data, _PART))
        with self._home.writing() as connection:
            connection.execute(delete(table).where(table.c.tag == of))
            mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
            while some := [sealed(*each) for each in islice(pieces, _TOGETHER)]:
                connection.exec_driver_sql(
                    f"INSERT INTO {table.name}"
                    " (tag, part, subject_ref, model, erasures, saved, parts, sealed)"
                    f" VALUES ({', '.join([mark] * 8)})",
                    some,
                )

    def forget(
        self, subject_ref: str, model: str | None = None, erasures: int | None = None
    ) -> int:
        """Delete what is kept of a subject (of one model; or from before so many erasures of
        theirs); how many parts went. Their key may live on, so `rewrite` has to follow."""
        gone = delete(table).where(table.c.subject_ref == subject_ref)
        if model is not None:
            gone = gone.where(table.c.model == model)
        if erasures is not None:
            gone = gone.where(table.c.erasures < erasures)
        with self._home.writing() as connection:
            return connection.execute(gone).rowcount

    def drop(self, model: str) -> None:
        """Delete everybody's of a model."""
        with self._home.writing() as connection:
            connection.execute(delete(table).where(table.c.model == model))

    def count(self, subject_ref: str, erasures: int | None = None) -> int:
        """How many parts are kept of a subject (from before so many erasures of theirs)."""
        query = select(func.count()).where(table.c.subject_ref == subject_ref)
        if erasures is not None:
            query = query.where(table.c.erasures < erasures)
        with self._home.reading() as connection:
            return int(connection.execute(query).scalar_one())

    def subjects(self) -> Collection[str]:
        """The subjects of whom one is kept."""
        with self._home.reading() as connection:
            return set(connection.execute(select(table.c.subject_ref).distinct()).scalars())

    def rewrite(self) -> None:
        """Remove what was deleted from the files, even if its key lives on. Raises
        `BackendUnavailable` while somebody reads it."""
        self._home.rewrite(table)


def _opened(connection: Connection, keys: SubjectKeys, of: str) -> Iterator[bytes]:
    """What is kept under a tag, part by part: together they may be large. Raises `NotAuthentic` for
    one that was changed, and at the end where one is missing."""
    c = table.c
    query = select(c.part, c.saved, c.parts, c.sealed).where(c.tag == of).order_by(c.part)
    saved: str | None = None
    part = expected = 0
    for row in connection.execute(query):
        if saved is None:
            saved, expected = row.saved, row.parts
        yield keys.bodies.open(row.sealed, _bound(of, saved, part, expected))
        part += 1
    if part != expected:
        raise NotAuthentic


def _tag(keys: SubjectKeys, model: str, purpose: str) -> str:
    return tag(keys.ids, "index", model, purpose)


def _bound(of: str, saved: str, part: int, parts: int) -> bytes:
    return f"index\x1f{LAYOUT}\x1f{of}\x1f{saved}\x1f{part}\x1f{parts}".encode()
