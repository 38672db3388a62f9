"""How entities are related, and what happened when and with whom."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Connection

from beliefledger.answers import BeliefAnswer
from beliefledger.gate.dates import find_when
from beliefledger.gate.registry import RelationType
from beliefledger.gate.slots import canonical_attribute
from beliefledger.ledger.candidate import Frozen
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import InvalidQuery, UnknownMemory
from beliefledger.ledger.times import Micros
from beliefledger.opening.core import Core
from beliefledger.projections import graph
from beliefledger.projections.beliefs import Version
from beliefledger.projections.graph import Believed, Edge, GraphGenerations
from beliefledger.projections.links import relation_name
from beliefledger.reading.entities import ALIAS, EntityQueries, Names
from beliefledger.reading.queries import Queries, Snapshot
from beliefledger.reading.sight import Sight
from beliefledger.reading.words import Reader

MOST_HOPS = 3


class StepAnswer(Frozen):
    """One memory of a path. A relation leads to an entity; a fact, which may be the last, does not.

    `relation` is as seen from where the path comes from: `manages`, where the memory says
    `reports-to` of the other one and the step is therefore not `forward`. `entity` is None where
    somebody else than the subject asks: what a name stands for is told by other memories.
    """

    relation: str | None
    forward: bool
    entity_id: str | None
    entity: str | None
    attribute: str
    value: str
    memory: BeliefAnswer


class PathAnswer(Frozen):
    """How one gets from an entity to another, or to a fact about one: each step is a memory."""

    entity_id: str
    entity: str | None
    steps: tuple[StepAnswer, ...]


@dataclass(frozen=True, slots=True)
class _Path:
    """Where a path has come to, by which relations; then, perhaps, a fact."""

    seen: tuple[str, ...]
    edges: tuple[Edge, ...] = ()
    fact: Version | None = None

    @property
    def end(self) -> str:
        return self.seen[-1]


class RelationQueries:
    """Reads relations and events out of the views."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._queries = queries
        self._acquaintance = EntityQueries(core, queries)
        self._reader = Reader(core.log)

    # Relations

    def related(
        self,
        subject: str,
        entity: str,
        relation: str | Sequence[str] | None,
        attribute: str | None,
        hops: int | None,
        snapshot: Snapshot | None,
        valid_at: Micros | None,
        *,
        min_confidence: int,
        sight: Sight | None = None,
    ) -> list[PathAnswer]:
        sequence = None if relation is None or isinstance(relation, str) else tuple(relation)
        named = 1 if sequence is None else len(sequence)
        last = attribute is not None
        if hops is None:
            hops = named + last
        if not 1 <= hops <= MOST_HOPS:
            raise InvalidQuery(f"hops: a path has from 1 to {MOST_HOPS} memories.")
        if relation is not None and not 1 <= named <= hops - last:
            raise InvalidQuery("hops: leave one for each relation, and one for the attribute.")
        ref = self._queries.known_or_none(subject)
        if ref is None:
            return []
        believed = self._acquaintance.believed(snapshot, valid_at, min_confidence)
        with self._acquaintance.views() as (connection, at):
            known = graph.directory(connection, at, ref, believed.as_of)
            # To others not even an error tells of whom or of what somebody has spoken.
            others = sight is not None and sight.reader != ref
            try:
                start = self._acquaintance.named(
                    connection, at, subject, ref, entity, known, believed
                )
            except UnknownMemory:
                if others:
                    return []
                raise
            vocabulary = _Vocabulary(
                self._relations(), lambda name: self._core.tagger(ref, "relation", name)
            )
            asked = [relation] if isinstance(relation, str) else list(sequence or ())
            for name in asked:
                tag = vocabulary.tag(name)
                known_of = graph.relation_is_known(connection, at, ref, tag)
                if not known_of and not vocabulary.has(name) and not others:
                    raise InvalidQuery(
                        f"relation: {name!r} is not in the vocabulary"
                        f" ({', '.join(vocabulary.names)}), and nothing was said of one."
                    )
            each_hop: list[str | None] = list(asked) if sequence else [*asked, None][:1] * hops
            paths = [_Path((start,))]
            ends = [paths] if relation is None and last else []
            for hop in each_hop[: hops - last]:
                paths = self._walk(connection, at, ref, paths, hop, vocabulary, believed)
                ends = [paths] if sequence else [*ends, paths]
            found = [path for some in ends for path in some]
            facts = self._facts(connection, at, ref, found, hops, believed)
            found = facts if last else [*found, *facts]
            if sight is not None:
                found = [each for each in found if sight.of(_versions(each)) == _versions(each)]
            memories = self._memories(connection, at, found, believed.as_of)
        names = None if others else Names(self._reader, known)
        return self._paths(found, attribute, names, memories, vocabulary)

    @staticmethod
    def key(path: PathAnswer) -> str:
        """Its memories in order, which no other path of the same beginning has."""
        return " ".join(each.memory.memory_id for each in path.steps)

    def _relations(self) -> dict[str, RelationType]:
        types = self._core.rulebook.refreshed().registry.types.values()
        return {name: each for kind in types for name, each in kind.relations.items()}

    def _walk(
        self,
        connection: Connection,
        at: GraphGenerations,
        ref: str,
        paths: Sequence[_Path],
        relation: str | None,
        vocabulary: _Vocabulary,
        believed: Believed,
    ) -> list[_Path]:
        """Each path, one relation longer. None goes through an entity twice."""
        ways = None if relation is None else vocabulary.ways(relation)
        ends = {path.end for path in paths}
        if not ends:
            return []
        found = graph.edges(
            connection,
            at,
            ref,
            sorted(ends),
            believed,
            None if ways is None else sorted({tag for tag, _ in ways if tag is not None}),
        )
        by_near: dict[str, list[Edge]] = {}
        for edge in found:
            if ways is None or (edge.relation_tag, edge.forward) in ways:
                by_near.setdefault(edge.near, []).append(edge)
        return [
            replace(path, seen=(*path.seen, edge.far), edges=(*path.edges, edge))
            for path in paths
            for edge in by_near.get(path.end, ())
            if edge.far not in path.seen
        ]

    def _facts(
        self,
        connection: Connection,
        at: GraphGenerations,
        ref: str,
        paths: Sequence[_Path],
        hops: int,
        believed: Believed,
    ) -> list[_Path]:
        """The paths that have room for one memory more, each with a fact about whom it reached."""
        short = [path for path in paths if len(path.edges) < hops]
        ends = sorted({path.end for path in short})
        if not ends:
            return []
        by_entity: dict[str, list[Version]] = {}
        for entity_id, version in graph.facts(
            connection, at, ref, ends, believed, self._acquaintance.stateful()
        ):
            by_entity.setdefault(entity_id, []).append(version)
        return [replace(path, fact=fact) for path in short for fact in by_entity.get(path.end, ())]

    def _memories(
        self,
        connection: Connection,
        at: GraphGenerations,
        paths: Sequence[_Path],
        as_of: int | None,
    ) -> dict[str, BeliefAnswer]:
        """The memories of the paths with their words and evidence, by id."""
        rows = {row.row_id: row for path in paths for row in _versions(path)}
        return self._acquaintance.beliefs(connection, at, list(rows.values()), as_of)

    def _paths(
        self,
        paths: Sequence[_Path],
        attribute: str | None,
        names: Names | None,
        memories: Mapping[str, BeliefAnswer],
        vocabulary: _Vocabulary,
    ) -> list[PathAnswer]:
        def name(entity_id: str) -> str | None:
            return None if names is None else names.of(entity_id)

        wanted = None if attribute is None else canonical_attribute(attribute)
        answers = []
        for path in paths:
            if any(row.memory_id not in memories for row in _versions(path)):
                continue  # erased since
            steps = []
            for edge in path.edges:
                memory = memories[edge.version.memory_id]
                said = relation_name(memory.attribute)
                steps.append(
                    StepAnswer(
                        relation=said if edge.forward else vocabulary.inverse(said),
                        forward=edge.forward,
                        entity_id=edge.far,
                        entity=name(edge.far),
                        attribute=memory.attribute,
                        value=memory.value,
                        memory=memory,
                    )
                )
            if path.fact is not None:
                memory = memories[path.fact.memory_id]
                if memory.attribute.startswith(ALIAS) or not _is(wanted, memory.attribute):
                    continue
                steps.append(
                    StepAnswer(
                        relation=None,
                        forward=True,
                        entity_id=None,
                        entity=None,
                        attribute=memory.attribute,
                        value=memory.value,
                        memory=memory,
                    )
                )
            answers.append(
                PathAnswer(entity_id=path.seen[0], entity=name(path.seen[0]), steps=tuple(steps))
            )
        return sorted(answers, key=lambda each: len(each.steps))

    # Events

    def events(
        self,
        subject: str,
        snapshot: Snapshot | None,
        *,
        window: tuple[Micros | None, Micros | None],
        participant: str | None,
        min_confidence: int,
        sight: Sight | None = None,
    ) -> list[BeliefAnswer]:
        ref = self._queries.known_or_none(subject)
        if ref is None:
            return []
        believed = self._acquaintance.believed(snapshot, None, min_confidence)
        with self._acquaintance.views() as (connection, at):
            who = None
            if participant is not None:
                known = graph.directory(connection, at, ref, believed.as_of)
                try:
                    who = self._acquaintance.named(
                        connection, at, subject, ref, participant, known, believed
                    )
                except UnknownMemory:
                    if sight is not None and sight.reader != ref:
                        return []
                    raise
            rows = graph.events(
                connection, at, ref, believed, start=window[0], end=window[1], participant=who
            )
            if sight is not None:
                rows = sight.of(rows)
            found = self._acquaintance.beliefs(connection, at, rows, believed.as_of)
        answers = [found[row.memory_id] for row in rows if row.memory_id in found]
        return [each for each in answers if not each.negated]  # it did not happen


def window_of(words: str, now: Micros) -> tuple[Micros, Micros]:
    """The range that words for a time mean, such as "last tuesday". Raises `InvalidQuery`."""
    for text in (words, f"on {words}", f"in {words.title()}"):
        found = find_when(text, now)
        if found is not None and found.when.start is not None and found.when.end is not None:
            return found.when.start, found.when.end
    raise InvalidQuery(
        f"on: {words!r} names no time; say it as 2026-03-01, yesterday, last tuesday or in May."
    )


def _versions(path: _Path) -> list[Version]:
    rows = [edge.version for edge in path.edges]
    return rows if path.fact is None else [*rows, path.fact]


def _is(wanted: str | None, attribute: str) -> bool:
    """Whether an attribute is the wanted one: `work.role` is a `role`."""
    return wanted is None or attribute == wanted or attribute.endswith(f".{wanted}")


class _Vocabulary:
    """How each relation may be walked: under which names, in which direction."""

    def __init__(
        self, relations: Mapping[str, RelationType], tag: Callable[[str], str | None]
    ) -> None:
        self.tag = tag
        self._inverses = {name: each.inverse for name, each in relations.items() if each.inverse}
        self._inverses |= {inverse: name for name, inverse in self._inverses.items()}
        self._same: dict[str, set[str]] = {}
        """Names of one relation: who one reports to is the `manager`."""
        for name, each in relations.items():
            for one in (name, *([each.role] if each.role else [])):
                self._same.setdefault(one, set()).update({name, one, *filter(None, [each.role])})
        self.names = sorted({*relations, *self._inverses})

    def has(self, relation: str) -> bool:
        return relation in self._same or relation in self._inverses

    def inverse(self, relation: str) -> str:
        """The relation as seen from its far end."""
        for each in sorted(self._same.get(relation, {relation})):
            if each in self._inverses:
                return self._inverses[each]
        return f"{relation}-of"

    def ways(self, relation: str) -> Collection[tuple[str | None, bool]]:
        """Tags of relations and directions in which they are what is asked for."""
        forward = self._same.get(relation, {relation})
        back = {self._inverses[each] for each in forward if each in self._inverses}
        back |= {each for name in back for each in self._same.get(name, ())}
        return {(self.tag(each), True) for each in forward} | {
            (self.tag(each), False) for each in back
        }
