"""Keeps the indexes of subjects as ciphertext under their keys, so that a fresh process need not
read and stem all texts again.

They lie beside the vectors and are as disposable. What reads one checks first whether it is still
of this log; who erases words deletes what has them.
"""

from __future__ import annotations

from collections.abc import Collection
from uuid import uuid4

from sqlalchemy import Connection, delete, func, select

from beliefledger.ledger.encryption import NotAuthentic, SubjectKeys
from beliefledger.ledger.streams import tag
from beliefledger.projections.index_state import State, packed, unpacked
from beliefledger.projections.tables import kept_indexes as table
from beliefledger.projections.view_databases import Home

_PART = 1 << 20
"""Bytes that are sealed together."""


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
        c, of = table.c, _tag(keys, model, purpose)
        query = select(c.part, c.saved, c.parts, c.sealed).where(c.tag == of).order_by(c.part)
        with self._home.reading() as connection:
            rows = connection.execute(query).all()
        if not rows or rows[0].parts != len(rows):
            return None
        try:
            return unpacked(
                b"".join(
                    keys.bodies.open(bytes(row.sealed), _bound(of, row.saved, part, len(rows)))
                    for part, row in enumerate(rows)
                )
            )
        except NotAuthentic:
            return None

    def keep(self, keys: SubjectKeys, model: str, purpose: str, state: State) -> None:
        """Seal and keep a state, in place of the one before."""
        erasures = state["erasures"][1]
        of, saved, data = _tag(keys, model, purpose), uuid4().hex, packed(state)
        pieces = [data[start : start + _PART] for start in range(0, len(data), _PART)]
        rows = []
        for part, piece in enumerate(pieces):
            sealed = keys.bodies.seal(piece, _bound(of, saved, part, len(pieces)))
            rows.append((of, part, keys.subject_ref, model, erasures, saved, len(pieces), sealed))
        with self._home.writing() as connection:
            connection.execute(delete(table).where(table.c.tag == of))
            mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
            connection.exec_driver_sql(
                f"INSERT INTO {table.name}"
                " (tag, part, subject_ref, model, erasures, saved, parts, sealed)"
                f" VALUES ({', '.join([mark] * 8)})",
                rows,
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


def _tag(keys: SubjectKeys, model: str, purpose: str) -> str:
    return tag(keys.ids, "index", model, purpose)


def _bound(of: str, saved: str, part: int, parts: int) -> bytes:
    return f"index\x1f{of}\x1f{saved}\x1f{part}\x1f{parts}".encode()
