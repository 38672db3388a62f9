"""Stores computed vectors as ciphertext under each subject's key.

They lie beside the views, in a file of their own (SQLite) or in the views' schema. They are looked
up by model and text, never computed twice, and not touched by a rebuild. A vector is kept as
float16, and that is also what is searched when it was just computed: so the same text has the same
vector always.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sqlalchemy import Connection, bindparam, delete, func, insert, select

from beliefledger.ledger.encryption import NotAuthentic, SubjectKeys
from beliefledger.ledger.errors import LogCorrupted
from beliefledger.ledger.streams import tag
from beliefledger.projections.kept_indexes import KeptIndexes
from beliefledger.projections.tables import vector_models as models
from beliefledger.projections.tables import vectors as table
from beliefledger.projections.view_databases import Home

if TYPE_CHECKING:
    from beliefledger.projections.embedding import Vectors

_PAGE = 5_000
_SOME = select(table.c.tag, table.c.vector).where(
    table.c.tag.in_(bindparam("tags", expanding=True))
)
_GONE = delete(table).where(table.c.tag.in_(bindparam("tags", expanding=True)))


class Kept(NamedTuple):
    """How many vectors of a model there are."""

    model: str
    vectors: int
    subjects: int


def rounded(vectors: Vectors) -> Vectors:
    """The vectors rounded to what is stored."""
    return vectors.astype(np.float16).astype(np.float32)


def text_tag(keys: SubjectKeys, model: str, text: str) -> str:
    """The tag that a vector is stored under."""
    return tag(keys.ids, "vector", model, text)


class VectorStore:
    """Sealed vectors in a home. Safe to use from several threads and processes."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self.indexes = KeptIndexes(home)
        self._unpurged = False
        """Whether vectors were deleted here whose key lives on, and which may still lie in
        files."""
        with home.writing() as connection:
            home.create(connection, models)
            home.create(connection, table)
            home.index(connection, sorted(table.indexes, key=lambda index: str(index.name)))
            self.indexes.create(connection)

    def all_of(self, keys: SubjectKeys, model: str, dimension: int) -> dict[str, Vectors]:
        """Every vector of a subject, by its tag. Raises `LogCorrupted` for one that was changed."""
        c = table.c
        query = select(c.tag, c.vector).where(c.subject_ref == keys.subject_ref, c.model == model)
        with self._home.reading() as connection:
            rows = connection.execute(query).all()
        return {row[0]: _opened(keys, row[0], row[1], dimension) for row in rows}

    def some(self, keys: SubjectKeys, tags: Sequence[str], dimension: int) -> dict[str, Vectors]:
        """The vectors with these tags, as far as there are any."""
        found: dict[str, Vectors] = {}
        with self._home.reading() as connection:
            for start in range(0, len(tags), 500):
                for row in connection.execute(_SOME, {"tags": tags[start : start + 500]}):
                    found[row[0]] = _opened(keys, row[0], row[1], dimension)
        return found

    def keep(self, keys: SubjectKeys, model: str, vectors: Mapping[str, Vectors]) -> None:
        """Seal and keep vectors by their tags; those that are there already stay."""
        rows = [
            (each, keys.subject_ref, model, _sealed(keys, each, vector))
            for each, vector in vectors.items()
        ]
        with self._home.writing() as connection:
            _insert(connection, rows)

    def counts(self) -> list[Kept]:
        """How many vectors there are of each model."""
        c = table.c
        count = func.count(c.tag)
        people = func.count(c.subject_ref.distinct())
        with self._home.reading() as connection:
            rows = connection.execute(select(c.model, count, people).group_by(c.model))
            return sorted((Kept(*row) for row in rows), key=lambda each: each.model)

    def counted(self, model: str) -> dict[str, int]:
        """How many vectors of a model each subject has."""
        c = table.c
        query = select(c.subject_ref, func.count(c.tag)).where(c.model == model)
        with self._home.reading() as connection:
            return {row[0]: row[1] for row in connection.execute(query.group_by(c.subject_ref))}

    def count(self, subject_ref: str, model: str | None = None) -> int:
        """How many vectors a subject has (of one model)."""
        c = table.c
        query = select(func.count(c.tag)).where(c.subject_ref == subject_ref)
        if model is not None:
            query = query.where(c.model == model)
        with self._home.reading() as connection:
            return int(connection.execute(query).scalar_one())

    # Where models lie

    def place_of(self, model: str) -> str | None:
        """The directory that a model was last found in, by whoever adopted it."""
        query = select(models.c.place).where(models.c.model == model)
        with self._home.reading() as connection:
            place: str | None = connection.execute(query).scalar_one_or_none()
            return place

    def found_at(self, model: str, place: str) -> None:
        """Remember a model's directory: of this machine, so it is not in the log."""
        with self._home.writing() as connection:
            connection.execute(delete(models).where(models.c.model == model))
            connection.execute(insert(models).values(model=model, place=place))

    # Deleting

    def forget(self, subject_ref: str, model: str | None = None) -> int:
        """Delete a subject's vectors (of one model), and the indexes that have them, and leave none
        behind in files; how many vectors."""
        self._unpurged = self.indexes.forget(subject_ref, model) > 0 or self._unpurged
        gone = delete(table).where(table.c.subject_ref == subject_ref)
        return self._delete(gone if model is None else gone.where(table.c.model == model))

    def drop(self, model: str) -> int:
        """Delete everybody's vectors of a model, and the indexes that have them; returns how many
        vectors there were."""
        self.indexes.drop(model)
        return self._delete(delete(table).where(table.c.model == model))

    def sweep(self, known: Callable[[], Collection[str]]) -> int:
        """Delete vectors of unknown subjects from tables and files: a process may have died in the
        middle of an erasure. `known` is called after the subjects were read, so nobody new is
        deleted. Returns how many vectors went."""
        there = self.subjects()
        strangers = set(there) - set(known()) if there else set()
        return sum(map(self.forget, sorted(strangers)))

    def subjects(self) -> list[str]:
        """The subjects that have vectors, or of whom an index is kept."""
        with self._home.reading() as connection:
            found = set(connection.execute(select(table.c.subject_ref).distinct()).scalars())
        return sorted(found.union(self.indexes.subjects()))

    def without(self, keys: SubjectKeys, texts: Callable[[], Collection[str]]) -> list[str]:
        """The tags of a subject's vectors whose text is none of these. `texts` is called after the
        tags were read, so nothing new is taken for what is gone."""
        c = table.c
        query = select(c.model, c.tag).where(c.subject_ref == keys.subject_ref)
        kept: dict[str, list[str]] = {}
        with self._home.reading() as connection:
            for model, each in connection.execute(query):
                kept.setdefault(model, []).append(each)
        left: list[str] = []
        known = texts() if kept else ()
        for model, tags in kept.items():
            there = {text_tag(keys, model, text) for text in known}
            left += [each for each in tags if each not in there]
        return left

    def forget_some(self, tags: Sequence[str]) -> int:
        """Delete the vectors with these tags; returns how many. Their key lives on, so `purge` has
        to follow."""
        with self._home.writing() as connection:
            gone = sum(
                connection.execute(_GONE, {"tags": tags[start : start + 500]}).rowcount
                for start in range(0, len(tags), 500)
            )
        self._unpurged = self._unpurged or gone > 0
        return gone

    def purge(self) -> None:
        """Remove deleted vectors from the files, even if their key lives on. Raises
        `BackendUnavailable` while somebody reads them.

        Raises `BackendUnavailable` while somebody holds on to them.
        """
        self._home.rewrite(table)
        self.indexes.rewrite()
        self._unpurged = False

    def scrub(self) -> None:
        """Remove deleted rows from the files, including those of an interrupted deletion. Raises
        `BackendUnavailable` while another process reads them.

        Raises `BackendUnavailable` while another process reads them there.
        """
        if self._unpurged:
            self.purge()
        else:
            self._home.scrub()

    def drop_damaged(self, keys: SubjectKeys, dimensions: Mapping[str, int]) -> int:
        """Delete a subject's vectors that are damaged; returns how many. `dimensions` are of the
        known models."""
        c = table.c
        query = select(c.tag, c.model, c.vector).where(c.subject_ref == keys.subject_ref)
        damaged = []
        with self._home.reading() as connection:
            for tag_, model, blob in connection.execute(query):
                try:
                    _opened(keys, tag_, blob, dimensions.get(model))
                except LogCorrupted:
                    damaged.append(tag_)
        return sum(self._delete(delete(table).where(c.tag == each)) for each in damaged)

    def _delete(self, statement: object) -> int:
        with self._home.writing() as connection:
            gone: int = connection.execute(statement).rowcount  # type: ignore[call-overload]
        if gone:
            self._home.scrub()
        return gone

    # Copying

    def pages(self, subjects: Iterable[str]) -> Iterator[list[tuple[str, str, str, bytes]]]:
        """The stored rows of these subjects, for a copy of the ledger."""
        for subject_ref in subjects:
            with self._home.reading() as connection:
                found = connection.execute(select(table).where(table.c.subject_ref == subject_ref))
                for some in found.partitions(_PAGE):
                    yield [(row[0], row[1], row[2], bytes(row[3])) for row in some]

    def tags_of(self, subject_ref: str) -> set[str]:
        """The tags of a subject's vectors."""
        query = select(table.c.tag).where(table.c.subject_ref == subject_ref)
        with self._home.reading() as connection:
            return set(connection.execute(query).scalars())

    def bring(self, rows: Sequence[tuple[str, str, str, bytes]]) -> None:
        """Store rows of another ledger with the same people and keys."""
        with self._home.writing() as connection:
            _insert(connection, rows)

    def close(self) -> None:
        self._home.close()


def _insert(connection: Connection, rows: Sequence[tuple[str, str, str, bytes]]) -> None:
    if not rows:
        return
    mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
    connection.exec_driver_sql(
        f"INSERT INTO {table.name} (tag, subject_ref, model, vector)"
        f" VALUES ({mark}, {mark}, {mark}, {mark}) ON CONFLICT DO NOTHING",
        list(rows),
    )


def _sealed(keys: SubjectKeys, tag_: str, vector: Vectors) -> bytes:
    return keys.bodies.seal(vector.astype(np.float16).tobytes(), _bound(tag_))


def _opened(keys: SubjectKeys, tag_: str, blob: bytes, dimension: int | None) -> Vectors:
    try:
        plain = keys.bodies.open(bytes(blob), _bound(tag_))
        vector: Vectors = np.frombuffer(plain, np.float16)
        if dimension is None or len(vector) == dimension:
            return vector
    except (NotAuthentic, ValueError):
        pass
    raise LogCorrupted(
        f"The vector {tag_} is not as it was kept. Vectors are no part of the history: delete them"
        " with `beliefledger vectors drop --damaged`, and they are computed again."
    )


def _bound(tag_: str) -> bytes:
    return b"vector\x1f" + tag_.encode()
