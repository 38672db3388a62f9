"""Vectors: building them, and moving to another model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import func, select

from beliefledger.gate.policy import millionths
from beliefledger.ledger.candidate import MILLION, Frozen
from beliefledger.ledger.codec import New
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import BackendUnavailable, InvalidTurn, NotPermitted
from beliefledger.ledger.events.ops import EmbedderAdopted
from beliefledger.ledger.events.recall import MemoriesRecalled
from beliefledger.ledger.log import new_id
from beliefledger.ledger.streams import embedder_stream
from beliefledger.opening.core import Core
from beliefledger.projections import recalls, tables
from beliefledger.projections.beliefs import BeliefsView
from beliefledger.projections.embedding import DirectoryModel, Embedder
from beliefledger.projections.recalls import RecallsView
from beliefledger.projections.search_requests import Looked
from beliefledger.projections.turns import TurnsView
from beliefledger.reading.queries import Queries
from beliefledger.search.models import Chosen, Embedders
from beliefledger.search.on_demand import IndexesOnDemand
from beliefledger.search.request import Then, request_of
from beliefledger.times import Progress

QUERIES = 200
MOST_WORST = 10


class ModelVectors(Frozen):
    """How many vectors of a model are kept, of how many subjects."""

    model: str
    vectors: int
    subjects: int
    in_force: bool


class VectorsStatus(Frozen):
    """How vectors are. `used` is the model that is used here, another than the one in force where
    that is not installed; `rollback_to` the one that a rollback adopts. `texts` are those that
    search looks through, of the subject or of all; `missing`, of a subject alone, is how many of
    them have no vector of `used`."""

    model: str
    adopted: bool
    installed: bool
    used: str
    note: str | None
    rollback_to: str | None
    kept: tuple[ModelVectors, ...]
    subject: str | None
    texts: int
    missing: int | None


class BuiltAnswer(Frozen):
    """What was built: `computed` vectors that were missing, for `texts` of `subjects`."""

    model: str
    subjects: int
    texts: int
    computed: int


class ParityAnswer(Frozen):
    """One search with both models: the share of what the old finds that the new finds too, and
    which it does not find."""

    recall_id: str
    subject: str | None
    query: str
    k: int
    overlap: float
    missed: tuple[str, ...]


class MigrationAnswer(Frozen):
    """A move to another model. `parity` is the mean overlap of `queries` recorded searches, None
    where there was none that found anything; `refused` says why the model was not adopted."""

    model: str
    dimension: int
    previous: str
    built: BuiltAnswer
    queries: int
    parity: float | None
    worst: tuple[ParityAnswer, ...]
    adopted: bool
    refused: str | None = None


class RollbackAnswer(Frozen):
    """The model that is in force again, how many vectors of it are there, and the one before."""

    model: str
    vectors: int
    previous: str


class DroppedAnswer(Frozen):
    """Vectors that were deleted; of one model, or whatever was damaged."""

    model: str | None
    subject: str | None
    vectors: int


@dataclass(slots=True)
class _Done:
    """How far work over many subjects is."""

    total: int
    progress: Progress | None
    done: int = 0

    def tell(self, more: int = 0) -> None:
        if self.progress:
            self.progress(min(self.done + more, self.total), self.total)

    def add(self, more: int) -> None:
        self.done += more
        self.tell()


class Vectors:
    """Looks after vectors: builds them, moves to another model and back, deletes them."""

    def __init__(
        self, core: Core, queries: Queries, indexes: IndexesOnDemand, embedders: Embedders
    ) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries
        self._indexes = indexes
        self._embedders = embedders

    def status(self, subject: str | None = None) -> VectorsStatus:
        """The model in force, and how many vectors there are of each. Which texts have none is told
        of one `subject`, since that takes their index. Raises `UnknownMemory`."""
        finder = self._indexes()
        ref = None if subject is None else self._core.known_subject(subject)
        chosen, adopted = self._in_force(), self._adopted()
        texts, counts = self._texts(), finder.store.counts()
        if all(each.model != chosen.name for each in counts):
            from beliefledger.projections.vectors import Kept  # noqa: PLC0415  (numpy is slow to load)

            counts.append(Kept(chosen.name, 0, 0))
        missing = None
        if ref is not None:
            with (
                self._indexing(ref, chosen.embedder.name),
                finder.index(ref, chosen.embedder, computing=False) as index,
            ):
                missing = len(index.waiting)
        return VectorsStatus(
            model=chosen.name,
            adopted=adopted is not None,
            installed=chosen.embedder.name == chosen.name,
            used=chosen.embedder.name,
            note=chosen.note,
            rollback_to=None if adopted is None else adopted.previous,
            kept=tuple(
                ModelVectors(
                    model=each.model,
                    vectors=each.vectors,
                    subjects=each.subjects,
                    in_force=each.model == chosen.name,
                )
                for each in counts
            ),
            subject=subject,
            texts=sum(texts.values()) if ref is None else texts.get(ref, 0),
            missing=missing,
        )

    def build(
        self,
        subject: str | None = None,
        *,
        model: str | None = None,
        progress: Progress | None = None,
    ) -> BuiltAnswer:
        """Compute the vectors that are missing, of one subject or of all, of the model in force or
        another.

        Raises `UnknownMemory`, and `EmbedderMissing` for a model that is not here.
        """
        ref = None if subject is None else self._core.known_subject(subject)
        name = self._in_force().name if model is None else model
        chosen = self._embedders.usable(name)
        texts = self._texts()
        if ref is not None:
            texts = {ref: texts.get(ref, 0)}
        return self._build(chosen, texts, _Done(sum(texts.values()), progress))

    def migrate(
        self,
        model: str,
        *,
        by: str,
        queries: int = QUERIES,
        at_least: float | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> MigrationAnswer:
        """Move to another model: build its vectors beside those in use, make the last recorded
        searches with both, and put it in force, at once for every process.

        The answer says how much of what they found is found with it. `at_least` (0 to 1) refuses
        a model that finds less, `dry_run` builds and compares alone. What was built stays.
        Raises `EmbedderMissing`; `NotPermitted` for the model in force; `VersionConflict` where
        another one was adopted meanwhile.
        """
        if queries < 0:
            raise InvalidTurn(f"queries is {queries}; it must not be below 0.")
        if at_least is not None and not 0 <= at_least <= 1:
            raise InvalidTurn(f"at_least is {at_least}; it must be from 0 to 1.")
        embedders, actor = self._embedders, self._core.actor(by)
        stream = embedder_stream(self._log.tenant)
        version = self._log.version(stream)
        old, new = self._in_force(), embedders.usable(model)
        if new.name == old.name and self._adopted() is not None:
            raise NotPermitted(f"{new.name} is in force: there is nothing to move to.")
        self._core.recorder.flush()
        searches = self._searches(queries)
        texts = self._texts()
        done = _Done(sum(texts.values()) + len(searches), progress)
        built = self._build(new, texts, done)
        compared = list(self._compared(searches, old, Chosen(new.name, new), done))
        parity = sum(each.overlap for each in compared) / len(compared) if compared else None
        refused = _refusal(parity, at_least)
        if not dry_run and refused is None:
            if isinstance(new, DirectoryModel):
                self._indexes().store.found_at(new.name, str(new.path.resolve()))
            adopted = EmbedderAdopted(
                model=new.name,
                dimension=new.dimension,
                previous=None if old.name == new.name else old.name,
                queries=len(compared),
                parity=round((parity or 0) * MILLION),
            )
            self._log.append([New(adopted, new_id(), stream, None, actor)], {stream: version})
            self._indexes().let_go(old.embedder.name)
        elif new.name != old.embedder.name:
            self._indexes().let_go(new.name)
        compared.sort(key=lambda each: (each.overlap, each.recall_id))
        return MigrationAnswer(
            model=new.name,
            dimension=new.dimension,
            previous=old.name,
            built=built,
            queries=len(compared),
            parity=parity,
            worst=tuple(each for each in compared[:MOST_WORST] if each.overlap < 1),
            adopted=not dry_run and refused is None,
            refused=refused,
        )

    def rollback(self, *, by: str) -> RollbackAnswer:
        """Put the model in force again that was before the last move, whose vectors are still
        there. Once more, and it is the other again.

        Raises `NotPermitted` where there was none, and `EmbedderMissing`.
        """
        actor = self._core.actor(by)
        stream = embedder_stream(self._log.tenant)
        version, last = self._log.version(stream), self._adopted()
        if last is None or last.previous is None:
            raise NotPermitted(
                "No other model was in force before: there is nothing to go back to."
            )
        model = self._embedders.usable(last.previous)
        adopted = EmbedderAdopted(model=model.name, dimension=model.dimension, previous=last.model)
        self._log.append([New(adopted, new_id(), stream, None, actor)], {stream: version})
        self._indexes().let_go(last.model)
        there = sum(self._indexes().store.counted(model.name).values())
        return RollbackAnswer(model=model.name, vectors=there, previous=last.model)

    def drop(
        self, model: str, *, subject: str | None = None, in_force: bool = False
    ) -> DroppedAnswer:
        """Delete the vectors of a model, of one subject or of all. Those of the model in force are
        computed again when they are needed, so only `in_force` deletes them.

        Raises `NotPermitted`, `UnknownMemory`.
        """
        finder = self._indexes()
        ref = None if subject is None else self._core.known_subject(subject)
        chosen = self._in_force()
        known = {each.model for each in finder.store.counts()}
        name = model if model in known else self._embedders.named(model).name
        if not in_force and name in {chosen.name, chosen.embedder.name}:
            raise NotPermitted(
                f"{name} is in force: its vectors would have to be computed again. To delete them"
                " all the same, say so (--in-force)."
            )
        finder.let_go(name, ref)
        gone = finder.store.drop(name) if ref is None else finder.store.forget(ref, name)
        return DroppedAnswer(model=name, subject=subject, vectors=gone)

    def repair(
        self, subject: str | None = None, *, progress: Progress | None = None
    ) -> DroppedAnswer:
        """Delete the vectors that are not as they were kept, of one subject or of all; they are
        computed again. Raises `UnknownMemory`."""
        finder, chosen = self._indexes(), self._in_force().embedder
        refs = [self._core.known_subject(subject)] if subject is not None else sorted(self._texts())
        done, gone = _Done(len(refs), progress), 0
        for ref in refs:
            keys = self._log.keys(ref)
            if keys is not None:
                damaged = finder.store.drop_damaged(keys, {chosen.name: chosen.dimension})
                if damaged:
                    finder.forget(ref)
                gone += damaged
            done.add(1)
        return DroppedAnswer(model=None, subject=subject, vectors=gone)

    def complete(self) -> dict[str, int]:
        """Compute the vectors that are missing and delete those of whoever is not known any more,
        and of whatever was erased; returns how many of each. Raises `EmbedderMissing`."""
        swept = self._indexes().sweep(contents=True)
        with suppress(BackendUnavailable):  # they are read just now: the next run will
            self._indexes().store.scrub()
        model = self._embedders.usable(self._in_force().name)
        texts = self._texts()
        kept = self._indexes().store.counted(model.name)
        # Who has not changed since this process built all of theirs is not looked at again.
        due = {
            ref: number
            for ref, number in texts.items()
            if self._indexes().complete.get((ref, model.name)) != (number, kept.get(ref, 0))
        }
        built = self._build(model, due, _Done(sum(due.values()), None))
        return {"computed": built.computed, "swept": swept}

    # Building

    def _in_force(self) -> Chosen:
        self._indexes()  # knows where models were found
        return self._embedders.in_force(self._log.head().position)

    def _adopted(self) -> EmbedderAdopted | None:
        last = self._embedders.adopted()
        event = None if last is None else last.event
        return event if isinstance(event, EmbedderAdopted) else None

    def _texts(self) -> dict[str, int]:
        """How many texts of each living subject search looks through."""
        names = (BeliefsView.name, TurnsView.name)
        with self._queries.views(*names) as (connection, (beliefs, turns)):
            b, t = tables.belief_versions(beliefs).c, tables.turns(turns).c
            memories = select(b.subject_ref, func.count(b.words_at.distinct()))
            said = select(t.subject_ref, func.count()).where(t.channel == "conversation")
            counted: dict[str, int] = {}
            for query in (memories.group_by(b.subject_ref), said.group_by(t.subject_ref)):
                for ref, number in connection.execute(query):
                    counted[ref] = counted.get(ref, 0) + number
        alive = self._log.vault.subjects(self._log.tenant)
        return {ref: counted[ref] for ref in alive if ref in counted}

    @contextmanager
    def _indexing(self, ref: str, model: str) -> Iterator[None]:
        """Have the index only as long as this, unless it was in memory before."""
        held = self._indexes().holds(ref, model)
        try:
            yield
        finally:
            if not held:
                self._indexes().let_go(model, ref)

    def _build(self, model: Embedder, texts: dict[str, int], done: _Done) -> BuiltAnswer:
        """Build the vectors of these subjects, each of so many texts."""
        finder, computed = self._indexes(), 0
        for ref, number in texts.items():
            before = finder.store.count(ref, model.name)

            def tell(so_far: int, total: int, number: int = number) -> None:
                done.tell(max(number - total, 0) + so_far)

            try:
                with self._indexing(ref, model.name):
                    there, tags = self._compute(ref, model, tell)
                    if there < tags:  # deleted by another process while this had the index
                        finder.let_go(model.name, ref)
                        there, tags = self._compute(ref, model, tell)
                finder.complete[ref, model.name] = number, there
                computed += max(there - before, 0)
            except NotPermitted:  # erased meanwhile
                finder.complete.pop((ref, model.name), None)
            done.add(number)
        return BuiltAnswer(
            model=model.name, subjects=len(texts), texts=sum(texts.values()), computed=computed
        )

    def _compute(self, ref: str, model: Embedder, tell: Progress) -> tuple[int, int]:
        """Compute what a subject's index lacks; how many vectors are kept, and how many belong."""
        with self._indexes().index(ref, model, everything=True, progress=tell) as index:
            return self._indexes().store.count(ref, model.name), len(set(index.tags))

    # Comparing

    def _searches(self, most: int) -> list[tuple[str, str, MemoriesRecalled]]:
        """The last recorded searches, with their ids and subjects."""
        with self._queries.view(RecallsView.name) as (connection, generation):
            rows = recalls.last(connection, generation, limit=most, searches=True) if most else []
        recorded = self._log.read_at([row.position for row in rows])
        found = []
        for row in rows:
            event = recorded[row.position].event
            if isinstance(event, MemoriesRecalled) and event.asked is not None:
                found.append((row.recall_id, row.subject_ref, event))
        return sorted(found, key=lambda each: each[1])  # one person's index at a time

    def _compared(
        self,
        searches: list[tuple[str, str, MemoriesRecalled]],
        old: Chosen,
        new: Chosen,
        done: _Done,
    ) -> Iterator[ParityAnswer]:
        """Searches made again with both models, as of then; without those that found nothing."""
        rules = self._core.rulebook.refreshed()
        for recall_id, ref, event in searches:
            asked = event.asked
            done.add(1)
            if asked is None or (asked.scope or "subject") not in rules.policy.scopes:
                continue
            try:
                request = request_of(
                    self._core, ref, asked, Then(event.position, event.asked_at, rules)
                )
                before, after = (
                    self._ids(self._indexes().look(request, each)) for each in (old, new)
                )
            except NotPermitted:  # erased meanwhile
                continue
            if before:
                missed = tuple(each for each in before if each not in set(after))
                yield ParityAnswer(
                    recall_id=recall_id,
                    subject=self._log.vault.real_id(ref),
                    query=asked.query,
                    k=asked.k,
                    overlap=1 - len(missed) / len(before),
                    missed=missed,
                )

    def _ids(self, looked: Looked) -> list[str]:
        return list(dict.fromkeys(hit.id for hit in looked.hits))


def _refusal(parity: float | None, at_least: float | None) -> str | None:
    if at_least is None:
        return None
    if parity is None:
        return (
            "No search that found anything is on record to compare the models by: search, or leave"
            " out the least parity (--at-least)."
        )
    if millionths(parity) >= millionths(at_least):
        return None
    return f"The parity is {parity:.3f}, and {at_least:g} was asked for: nothing was adopted."
