"""Memories in the shape of their types."""

from __future__ import annotations

from beliefledger.filters import EVERYTHING, Where
from beliefledger.gate import entities
from beliefledger.gate.typed_memories import EvidenceSpan, Stored, Typed, typed
from beliefledger.ledger import streams
from beliefledger.ledger.events.belief import Written
from beliefledger.ledger.memory import Memory
from beliefledger.ledger.times import from_datetime
from beliefledger.opening.core import Core
from beliefledger.projections import questions
from beliefledger.projections.beliefs import BeliefsView, Version
from beliefledger.reading.lists import of
from beliefledger.reading.queries import Queries
from beliefledger.reading.sight import Sight
from beliefledger.reading.words import Reader


class TypedQueries:
    """Reads what is believed now, each memory in the shape of its type."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries

    def typed(
        self,
        subject: str | None = None,
        *,
        where: Where = EVERYTHING,
        memory_id: str | None = None,
        quarantined: bool = False,
        sight: Sight | None = None,
    ) -> list[Typed]:
        """What is believed now, each memory in the shape of its type."""
        ref = None
        if subject is not None:
            ref = self._queries.known_or_none(subject)
            if ref is None:
                return []
        wanted = None if memory_id is None else self._queries.memory_id(memory_id)
        with self._queries.view(BeliefsView.name) as (connection, generation):
            rows = questions.held(
                connection,
                generation,
                ref,
                valid_at=self._queries.now(),
                which=questions.MemoryFilter(quarantined=quarantined),
            )
            if sight is not None:
                rows = sight.of(rows)
            found = questions.evidence_of(connection, generation, [row.memory_id for row in rows])
        evidence = {row.row_id: found[row.memory_id] for row in rows}
        answers = Reader(self._log).beliefs(rows, evidence)
        words = self._log.read_at([row.words_at for row in rows])
        memories: dict[str, Memory] = {}
        for row in rows:
            written = words[row.words_at].event
            if isinstance(written, Written):
                memories[row.memory_id] = written.memory
        registry = self._core.rulebook.refreshed().registry
        about: dict[tuple[str, str | None], list[Version]] = {}
        for row in rows:
            if row.memory_id in memories:
                about.setdefault((row.subject_ref, row.entity_tag), []).append(row)
        directories: dict[str, entities.Directory | None] = {}
        made = []
        for answer, row in zip(answers, (r for r in rows if r.memory_id in memories), strict=True):
            kind = registry.known(answer.type)
            if kind is None or not of(answer, where) or wanted not in {None, row.memory_id}:
                continue
            memory = memories[row.memory_id]
            stored = Stored(
                memory_id=row.memory_id,
                type=row.type,
                subject=answer.subject,
                memory=memory,
                importance=row.importance,
                confidence=row.confidence,
                mentions=row.mentions,
                valid_from=row.valid_from,
                valid_to=row.valid_to,
                expires_at=row.expires_at,
                evidence=tuple(
                    EvidenceSpan(
                        turn=each.turn_id,
                        start=each.start,
                        end=each.end,
                        said_at=from_datetime(each.said_at),
                    )
                    for each in answer.evidence
                ),
            )
            others: list[Memory] = []
            names: tuple[str, ...] = ()
            if kind.name == "entity":
                others = [
                    memories[other.memory_id]
                    for other in about[row.subject_ref, row.entity_tag]
                    if other.memory_id != row.memory_id
                ]
                if row.subject_ref not in directories:
                    # What a name stands for is told by other memories, which who asks may not see.
                    own = sight is None or sight.reader == row.subject_ref
                    found_names = self._directory(row.subject_ref) if own else None
                    directories[row.subject_ref] = found_names
                known = directories[row.subject_ref]
                if known is not None and memory.resolved is not None:
                    names = known.names_of(known.survivor(memory.resolved.entity))
            made.append(typed(stored, kind, others, names))
        return made

    def _directory(self, subject_ref: str) -> entities.Directory | None:
        """Whom and what a subject speaks of; None once erased."""
        keys = self._log.keys(subject_ref)
        if keys is None:
            return None
        return entities.folded(self._log.read_stream(streams.directory_stream(keys.ids)))
