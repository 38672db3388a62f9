"""Consolidation: merges rephrasings into one memory, and undoes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from beliefledger.answers import BeliefAnswer
from beliefledger.gate.consolidation import Consolidator, Wording
from beliefledger.gate.registry import MemoryType
from beliefledger.gate.rephrasings import Original, kinds, refusal
from beliefledger.ledger.candidate import MILLION, Frozen
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import CallerMistake, NotPermitted, UnknownMemory
from beliefledger.ledger.events.belief import Written
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.core import Core
from beliefledger.opening.extractors import client_of, model_name
from beliefledger.projections import questions
from beliefledger.projections.beliefs import BeliefsView, Version
from beliefledger.reading.queries import Queries
from beliefledger.reading.words import score
from beliefledger.settings import Settings
from beliefledger.times import Progress

if TYPE_CHECKING:  # whoever merges nothing need not wait for numpy
    from beliefledger.curation.wording import ModelMerger
    from beliefledger.projections.clusters import Apart, Cluster
    from beliefledger.projections.embedding import Vectors

EMBEDDED_AT_ONCE = 512


class MemberAnswer(Frozen):
    """A memory of a cluster. `similarity` is its cosine to the first one."""

    memory_id: str
    belief_id: str
    attribute: str
    text: str
    confidence: float
    similarity: float


class ClusterAnswer(Frozen):
    """Rephrasings of one memory. The first member, the most confident one, leads."""

    subject: str | None
    type: str
    topic: str
    members: tuple[MemberAnswer, ...]
    similarity: float
    """The least of its members'."""
    before: tuple[str, ...]
    after: str | None
    """What it becomes; None while a model has not been asked."""
    how: str
    memory_id: str | None = None
    """The merged memory, once there is one."""
    note: str | None = None
    """What went otherwise than asked for."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micro_usd: int | None = 0
    """None where the model's price is not known."""


class ApartAnswer(Frozen):
    """Two memories that sound alike, and why they are not merged."""

    subject: str | None
    type: str
    memories: tuple[str, str]
    texts: tuple[str, str]
    similarity: float
    reason: str


class ConsolidationAnswer(Frozen):
    """What there is to merge, or what was merged."""

    applied: bool
    memories: int
    """How many were compared."""
    clusters: tuple[ClusterAnswer, ...]
    apart: tuple[ApartAnswer, ...]
    input_tokens: int
    output_tokens: int
    cost_micro_usd: int | None
    """None where the price of the model of any of them is not known."""


@dataclass(frozen=True, slots=True)
class Mergeable:
    """A memory that may be merged, and whose it is."""

    subject_ref: str
    said_at: int
    original: Original


class Consolidation:
    """Finds rephrasings of one memory, merges them, and takes a merge back."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries

    def everyone(self) -> dict[str, int]:
        """Merge rephrasings of one memory, of every subject; returns how many memories were
        compared, and how many merged ones there are."""
        done = self.consolidate(apply=True)
        merged = sum(each.memory_id is not None for each in done.clusters)
        return {"compared": done.memories, "merged": merged}

    def consolidate(
        self,
        subject: str | None = None,
        *,
        type: str | None = None,
        topic: str | None = None,
        threshold: float | None = None,
        how: Literal["words", "model"] = "words",
        apply: bool = False,
        by: str = SYSTEM,
        progress: Progress | None = None,
    ) -> ConsolidationAnswer:
        """Find rephrasings (of one subject, or of all); with `apply`, merge each cluster into one.

        Memories are compared within subject, type and topic; those that are contested, quarantined
        or over are left alone; with `topic`, those of other topics too. `threshold` is the least
        cosine, else each type's own. `how` chooses the most confident wording, or a model's; a
        model is asked only with `apply`.

        Raises `EmbedderMissing` without the extra `embeddings`, `ModelUnavailable`.
        """
        if threshold is not None and not 0 < threshold <= 1:
            raise CallerMistake(f"threshold is {threshold}; it must be above 0, and at most 1.")
        if how not in {"words", "model"}:
            raise CallerMistake(f"how is {how!r}; it must be 'words' or 'model'.")
        types = self._core.rulebook.refreshed().registry.types
        if type is not None and type not in types:
            raise CallerMistake(f"There is no type {type!r}; there are: {', '.join(types)}.")
        actor = self._core.actor(by)
        standing = [
            each
            for each in self._standing(subject, type)
            if topic is None or each.original.memory.topic == topic
        ]
        groups = [list(each) for _, each in groupby(standing, _group)]
        compared = [each for each in groups if len(each) > 1]
        vectors = self._embedded([each.original for group in compared for each in group], progress)
        found: list[ClusterAnswer] = []
        apart: list[ApartAnswer] = []
        merger = _model(self._core) if how == "model" and apply else None
        try:
            at = 0
            for group in compared:
                kind = types.get(group[0].original.type)
                rows, refused = clustered(group, vectors[at : at + len(group)], kind, threshold)
                at += len(group)
                apart += [self._apart(group, each, kind) for each in refused]
                for cluster in rows:
                    answer = self._told(group, cluster, how)
                    if apply:
                        chosen = [group[row] for row in cluster.members]
                        answer = self._merged(answer, chosen, merger, actor)
                    found.append(answer)
        finally:
            if merger is not None:
                merger.close()
        return ConsolidationAnswer(
            applied=apply,
            memories=sum(map(len, compared)),
            clusters=tuple(found),
            apart=tuple(apart),
            input_tokens=sum(each.input_tokens for each in found),
            output_tokens=sum(each.output_tokens for each in found),
            cost_micro_usd=_total(each.cost_micro_usd for each in found),
        )

    def undo(self, memory_id: str, *, by: str, note: str | None = None) -> list[BeliefAnswer]:
        """Take a merge back, as a named principal: the originals hold again. Returns them.

        Raises `NotPermitted` for a memory that is no merged one or was changed since.
        """
        key = self._queries.memory_id(memory_id)
        with self._queries.view(BeliefsView.name) as (connection, generation):
            row = questions.versions_of_memory(connection, generation, key)[-1]
        originals = Consolidator(self._core.gate).undo(
            row.subject_ref, key, row.belief, note=note, actor=self._core.actor(by)
        )
        return [self._queries.history(each, only_memory=True)[-1] for each in originals]

    def _standing(self, subject: str | None, type_: str | None) -> list[Mergeable]:
        """What may be merged, by subject, type and topic, within these in the order in which
        memories lead: the most confident first, then the oldest."""
        ref = None if subject is None else self._core.known_subject(subject)
        with self._queries.view(BeliefsView.name) as (connection, generation):
            rows = questions.held(
                connection,
                generation,
                ref,
                valid_at=self._queries.now(),
                which=questions.MemoryFilter(type_),
            )
        rows = [row for row in rows if not row.contested]
        words = self._log.read_at([row.words_at for row in rows])
        standing = [
            Mergeable(row.subject_ref, written.memory.said_at, _original(row, written))
            for row in rows
            if isinstance(written := words[row.words_at].event, Written)
        ]
        return sorted(standing, key=_order)

    def _embedded(self, originals: Sequence[Original], progress: Progress | None) -> Vectors:
        import numpy as np  # noqa: PLC0415  (see above)

        if not originals:
            return np.zeros((0, 1), np.float32)
        places: dict[str, int] = {}
        for each in originals:
            places.setdefault(each.memory.claim, len(places))
        claims, parts = list(places), []
        for start in range(0, len(claims), EMBEDDED_AT_ONCE):
            parts.append(self._core.embedder.embed(claims[start : start + EMBEDDED_AT_ONCE]))
            if progress:
                progress(min(start + EMBEDDED_AT_ONCE, len(claims)), len(claims))
        vectors: Vectors = np.concatenate(parts)[[places[each.memory.claim] for each in originals]]
        return vectors

    def _told(self, group: Sequence[Mergeable], cluster: Cluster, how: str) -> ClusterAnswer:
        originals = [group[row].original for row in cluster.members]
        return ClusterAnswer(
            subject=self._log.vault.real_id(group[0].subject_ref),
            type=originals[0].type,
            topic=originals[0].memory.topic,
            members=tuple(
                MemberAnswer(
                    memory_id=each.memory_id,
                    belief_id=each.belief,
                    attribute=each.memory.attribute,
                    text=each.memory.claim,
                    confidence=score(each.confidence),
                    similarity=score(cosine),
                )
                for each, cosine in zip(originals, cluster.cosines, strict=True)
            ),
            similarity=score(cluster.similarity),
            before=tuple(each.memory.claim for each in originals),
            after=originals[0].memory.claim if how == "words" else None,
            how=how,
        )

    def _apart(
        self, group: Sequence[Mergeable], apart: Apart, kind: MemoryType | None
    ) -> ApartAnswer:
        one, other = group[apart.leader].original, group[apart.row].original
        return ApartAnswer(
            subject=self._log.vault.real_id(group[0].subject_ref),
            type=one.type,
            memories=(one.memory_id, other.memory_id),
            texts=(one.memory.claim, other.memory.claim),
            similarity=score(apart.similarity),
            reason=refusal(one, other, kind) or "it is not one with all that were merged before it",
        )

    def _merged(
        self,
        answer: ClusterAnswer,
        chosen: Sequence[Mergeable],
        merger: ModelMerger | None,
        actor: str,
    ) -> ClusterAnswer:
        """What became of a cluster; with a note where it could not be merged as found."""
        originals = [each.original for each in chosen]
        wording, note = (None, None) if merger is None else merger.word(originals)
        told = _costs(wording) | {"note": note}
        try:
            memory_id = Consolidator(self._core.gate).consolidate(
                chosen[0].subject_ref,
                {each.memory_id: each.belief for each in originals},
                similarity=round(answer.similarity * MILLION),
                wording=wording,
                actor=actor,
            )
        except (UnknownMemory, NotPermitted) as problem:  # it changed while others were merged
            return answer.model_copy(update=told | {"note": f"Not merged: {problem.detail}"})
        text = wording.text if wording is not None else None
        return answer.model_copy(
            update=told
            | {
                "memory_id": memory_id,
                "after": text or originals[0].memory.claim,
                "how": "model" if text else "words",
            }
        )


def _model(core: Core) -> ModelMerger:
    from beliefledger.curation.wording import ModelMerger  # noqa: PLC0415  (it takes long to load)

    settings = Settings.read()
    name = model_name(core.gate.reader.extractor, settings)
    return ModelMerger(client_of(name, core.rulebook, settings))


def _total(costs: Iterable[int | None]) -> int | None:
    total = 0
    for each in costs:
        if each is None:
            return None
        total += each
    return total


def _costs(wording: Wording | None) -> dict[str, int | None]:
    names = ("input_tokens", "output_tokens", "cost_micro_usd")
    return {name: 0 if wording is None else getattr(wording, name) for name in names}


def _original(row: Version, written: Written) -> Original:
    return Original(
        memory_id=row.memory_id,
        belief=row.belief,
        type=row.type,
        confidence=row.confidence,
        base=written.base,
        importance=row.importance,
        visibility_scope=row.visibility_scope,
        basis=row.basis,
        grant=row.grant_id,
        memory=written.memory.model_copy(update={"valid_to": row.valid_to}),
    )


def _group(standing: Mergeable) -> tuple[str, str, str]:
    return standing.subject_ref, standing.original.type, standing.original.memory.topic


def _order(standing: Mergeable) -> tuple[str, str, str, int, int, str]:
    original = standing.original
    return (*_group(standing), -original.confidence, standing.said_at, original.memory_id)


def clustered(
    group: Sequence[Mergeable], vectors: Vectors, kind: MemoryType | None, threshold: float | None
) -> tuple[list[Cluster], list[Apart]]:
    """The clusters of more than one, and the pairs that only sound alike."""
    from beliefledger.projections.clusters import greedy  # noqa: PLC0415

    originals = [each.original for each in group]

    def agree(members: Sequence[int], row: int) -> bool:
        return all(refusal(originals[each], originals[row], kind) is None for each in members)

    least = threshold or (kind.similarity if kind is not None else 0.85)
    found, apart = greedy(vectors, least, kinds=kinds(originals), agree=agree)
    return [each for each in found if len(each.members) > 1], apart
