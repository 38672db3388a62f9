"""Whom and what a subject speaks of: entities, how they are related, and what happened when."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from gate import entities as naming
from gate.dates import find_when
from gate.entities import Match
from gate.registry import RelationType, SlotRule
from gate.slots import canonical_attribute, canonical_entity
from ledger.candidate import SELF, Frozen
from ledger.errors import InvalidTurn, NotPermitted, UnknownMemory
from ledger.events.entity import AliasAdded, EntityRecognised, EntitySplit
from ledger.streams import directory_stream, entity_stream
from ledger.times import Micros
from projections import graph, questions
from projections.beliefs import Version
from projections.graph import Believed, Directory, Edge, Generations
from projections.intervals import EntityRow, NameRow
from projections.links import relation_name
from tools.answers import BeliefAnswer
from tools.asking import Asking, Snapshot
from tools.reading import Reader, evidence_in
from tools.wiring import Parts

MOST_HOPS = 3
ALIAS = "alias."


class NameAnswer(Frozen):
    """A name of an entity. `how` is `first` (the one it was first known by), `stated`, `role` (a
    title that somebody else may hold later), `nickname`, `near`, or `actor` (a person gave it)."""

    name: str
    how: str


class AttributeAnswer(Frozen):
    """What is believed of one attribute of an entity."""

    attribute: str
    value: str
    negated: bool
    context: str | None
    memory_id: str
    confidence: float


class AlikeAnswer(Frozen):
    """An entity of nearly the same name: a person decides whether the two are one."""

    entity_id: str
    name: str | None
    similarity: float


class EntityAnswer(Frozen):
    """Somebody or something that a subject speaks of. `mentions` counts the statements in which
    they come up; `first_said` and `last_said` are of the first and the last that were recorded."""

    entity_id: str
    name: str | None
    kind: str | None
    names: tuple[NameAnswer, ...]
    attributes: tuple[AttributeAnswer, ...]
    mentions: int
    first_said: datetime | None
    last_said: datetime | None
    questions: tuple[AlikeAnswer, ...]
    absorbed: tuple[str, ...]
    """The ids of entities that were merged into this one."""


class StepAnswer(Frozen):
    """One memory of a path. A relation leads to an entity; a fact, which may be the last, does not.

    `relation` is as seen from where the path comes from: `manages`, where the memory says
    `reports-to` of the other one and the step is therefore not `forward`.
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


class Acquaintance:
    """Reads entities out of the views."""

    def __init__(self, parts: Parts, asking: Asking) -> None:
        self._parts = parts
        self._log = parts.log
        self._asking = asking
        self._reader = Reader(parts.log)

    @contextmanager
    def _views(self) -> Iterator[tuple[Connection, Generations]]:
        """A consistent read of the views of beliefs, entities and links, caught up to the head."""
        self._parts.projector.catch_up()
        with self._parts.projector.reading() as connection:
            yield connection, graph.generations(self._parts.projector.states(connection))

    def _believed(
        self, snapshot: Snapshot | None, valid_at: Micros | None, min_confidence: int
    ) -> Believed:
        if valid_at is None:
            valid_at = self._asking.now() if snapshot is None else snapshot.at
        return Believed(valid_at, None if snapshot is None else snapshot.position, min_confidence)

    # Who is meant

    def subject(self, subject: str) -> str:
        """The reference of somebody known. Raises `NotPermitted` for an erased subject."""
        ref = self._log.subject(subject)
        if ref is None:
            raise UnknownMemory(f"Nothing is known of {subject!r}.")
        return ref

    def find(self, subject: str, ref: str, given: str) -> str:
        """The id of an entity, of one of its names or the first characters of its id."""
        with self._views() as (connection, at):
            now = graph.directory(connection, at, ref)
        return self._find(subject, ref, given, now, None)

    def about(self, ref: str, entity_id: str) -> dict[str, str]:
        """The standing memories of an entity, each with its belief."""
        with self._views() as (connection, at):
            return graph.about(connection, at, ref, entity_id)

    def _find(self, subject: str, ref: str, given: str, known: Directory, as_of: int | None) -> str:
        keys = self._log.keys(ref)
        if keys is None:
            raise NotPermitted(f"{subject!r} was erased.")
        named = known.named(self._parts.tagger(ref, "entity", given))
        if named is not None:
            return named
        if given in {SELF, subject}:
            return entity_stream(keys.ids, canonical_entity(SELF))
        ids = {known.survivor(each) for each in known.entities if each.startswith(given)}
        if len(ids) == 1 and given:
            return ids.pop()
        if len(ids) > 1:
            raise UnknownMemory(
                f"More than one entity's id begins with {given!r}; write more of it."
            )
        # As the gate would take it: a title or a nickname that nobody has said yet.
        events = self._log.read_stream(directory_stream(keys.ids))
        then = naming.folded(each for each in events if as_of is None or each.position <= as_of)
        rules = self._parts.rulebook.refreshed().policy.entities
        found = naming.resolve(then, given, rules)
        if found.entity_id is not None and found.match in {Match.EXACT, Match.NICKNAME}:
            return found.entity_id
        raise UnknownMemory(f"{subject!r} has spoken of nobody and nothing called {given!r}.")

    # Entities

    def entities(
        self,
        subject: str,
        snapshot: Snapshot | None,
        *,
        kind: str | None,
        questions_only: bool,
        given: str | None = None,
    ) -> list[EntityAnswer]:
        """Those spoken of most first."""
        ref = self._asking.known_or_none(subject)
        if ref is None:
            return []
        believed = self._believed(snapshot, None, 0)
        with self._views() as (connection, at):
            known = graph.directory(connection, at, ref, believed.as_of)
            wanted = [each for each, row in known.entities.items() if row.merged_into is None]
            if given is not None:
                wanted = [self._find(subject, ref, given, known, believed.as_of)]
            counted = graph.mentions(connection, at, ref, believed.as_of)
            facts = graph.facts(connection, at, ref, wanted, believed, self._stateful())
        names = _Names(self._reader, known)
        words = self._log.read_at(
            [
                at
                for one in wanted
                if one in counted
                for at in (counted[one].first, counted[one].last)
            ]
        )

        def said(position: int) -> datetime | None:
            found = evidence_in(words[position])
            return found[0].said_at if found else None

        attributes = self._attributes(facts)
        answers = []
        for one in wanted:
            mentioned = counted.get(one)
            answers.append(
                EntityAnswer(
                    entity_id=one,
                    name=names.of(one),
                    kind=names.kind(one),
                    names=names.all(one),
                    attributes=tuple(attributes.get(one, ())),
                    mentions=mentioned.count if mentioned else 0,
                    first_said=said(mentioned.first) if mentioned else None,
                    last_said=said(mentioned.last) if mentioned else None,
                    questions=tuple(names.asked(one)),
                    absorbed=tuple(
                        each
                        for each, row in known.entities.items()
                        if row.merged_into is not None and known.survivor(each) == one
                    ),
                )
            )
        return sorted(
            (
                each
                for each in answers
                if (kind is None or each.kind == kind) and (each.questions or not questions_only)
            ),
            key=lambda each: (-each.mentions, each.name or "", each.entity_id),
        )

    def _stateful(self) -> list[str]:
        """The types whose memories say what an attribute is."""
        types = self._parts.rulebook.refreshed().registry.types
        return [name for name, kind in types.items() if kind.slot is SlotRule.ATTRIBUTE]

    def _attributes(self, facts: Sequence[tuple[str, Version]]) -> dict[str, list[AttributeAnswer]]:
        whose = {version.row_id: entity_id for entity_id, version in facts}
        rows = [version for _, version in facts]
        found: dict[str, list[AttributeAnswer]] = {}
        by_memory = {version.memory_id: version.row_id for version in rows}
        for each in self._reader.beliefs(rows, {}):
            if each.attribute.startswith(ALIAS):
                continue  # told as a name
            found.setdefault(whose[by_memory[each.memory_id]], []).append(
                AttributeAnswer(
                    attribute=each.attribute,
                    value=each.value,
                    negated=each.negated,
                    context=each.context,
                    memory_id=each.memory_id,
                    confidence=each.confidence,
                )
            )
        return found

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
    ) -> list[PathAnswer]:
        sequence = None if relation is None or isinstance(relation, str) else tuple(relation)
        named = 1 if sequence is None else len(sequence)
        last = attribute is not None
        if hops is None:
            hops = named + last
        if not 1 <= hops <= MOST_HOPS:
            raise InvalidTurn(f"hops: a path has from 1 to {MOST_HOPS} memories.")
        if relation is not None and not 1 <= named <= hops - last:
            raise InvalidTurn("hops: leave one for each relation, and one for the attribute.")
        ref = self._asking.known_or_none(subject)
        if ref is None:
            return []
        believed = self._believed(snapshot, valid_at, min_confidence)
        with self._views() as (connection, at):
            known = graph.directory(connection, at, ref, believed.as_of)
            start = self._find(subject, ref, entity, known, believed.as_of)
            vocabulary = _Vocabulary(
                self._relations(), lambda name: self._parts.tagger(ref, "relation", name)
            )
            asked = [relation] if isinstance(relation, str) else list(sequence or ())
            for name in asked:
                tag = vocabulary.tag(name)
                known_of = graph.relation_is_known(connection, at, ref, tag)
                if not known_of and not vocabulary.has(name):
                    raise InvalidTurn(
                        f"relation: {name!r} is not in the vocabulary"
                        f" ({', '.join(vocabulary.names)}), and nothing was said of one."
                    )
            each_hop: list[str | None] = list(asked) if sequence else [*asked, None][:1] * hops
            paths = [_Path((start,))]
            ends = [paths] if relation is None and last else []
            for name in each_hop[: hops - last]:
                paths = self._walk(connection, at, ref, paths, name, vocabulary, believed)
                ends = [paths] if sequence else [*ends, paths]
            found = [path for some in ends for path in some]
            facts = self._facts(connection, at, ref, found, hops, believed)
            found = facts if last else [*found, *facts]
            memories = self._evidence(connection, at, found, believed.as_of)
        return self._paths(found, attribute, known, memories, vocabulary)

    def _relations(self) -> dict[str, RelationType]:
        types = self._parts.rulebook.refreshed().registry.types.values()
        return {name: each for kind in types for name, each in kind.relations.items()}

    def _walk(
        self,
        connection: Connection,
        at: Generations,
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
        at: Generations,
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
            connection, at, ref, ends, believed, self._stateful()
        ):
            by_entity.setdefault(entity_id, []).append(version)
        return [replace(path, fact=fact) for path in short for fact in by_entity.get(path.end, ())]

    def _evidence(
        self,
        connection: Connection,
        at: Generations,
        paths: Sequence[_Path],
        as_of: int | None,
    ) -> dict[str, BeliefAnswer]:
        """The memories of the paths with their words and evidence, by id."""
        rows = {row.row_id: row for path in paths for row in _versions(path)}
        return self._beliefs(connection, at, list(rows.values()), as_of)

    def _beliefs(
        self, connection: Connection, at: Generations, rows: Sequence[Version], as_of: int | None
    ) -> dict[str, BeliefAnswer]:
        positions = questions.evidence_of(
            connection, at.beliefs, list(dict.fromkeys(row.memory_id for row in rows)), as_of
        )
        against = questions.contradictions(connection, at.beliefs, rows, as_of)
        evidence = {row.row_id: positions[row.memory_id] for row in rows}
        return {each.memory_id: each for each in self._reader.beliefs(rows, evidence, against)}

    def _paths(
        self,
        paths: Sequence[_Path],
        attribute: str | None,
        known: Directory,
        memories: Mapping[str, BeliefAnswer],
        vocabulary: _Vocabulary,
    ) -> list[PathAnswer]:
        names = _Names(self._reader, known)
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
                        entity=names.of(edge.far),
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
                PathAnswer(
                    entity_id=path.seen[0], entity=names.of(path.seen[0]), steps=tuple(steps)
                )
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
    ) -> list[BeliefAnswer]:
        ref = self._asking.known_or_none(subject)
        if ref is None:
            return []
        believed = self._believed(snapshot, None, min_confidence)
        with self._views() as (connection, at):
            who = None
            if participant is not None:
                known = graph.directory(connection, at, ref, believed.as_of)
                who = self._find(subject, ref, participant, known, believed.as_of)
            rows = graph.events(
                connection, at, ref, believed, start=window[0], end=window[1], participant=who
            )
            found = self._beliefs(connection, at, rows, believed.as_of)
        answers = [found[row.memory_id] for row in rows if row.memory_id in found]
        return [each for each in answers if not each.negated]  # it did not happen


def window_of(words: str, now: Micros) -> tuple[Micros, Micros]:
    """The range that words for a time mean, such as "last tuesday". Raises `InvalidTurn`."""
    for text in (words, f"on {words}", f"in {words.title()}"):
        found = find_when(text, now)
        if found is not None and found.when.start is not None and found.when.end is not None:
            return found.when.start, found.when.end
    raise InvalidTurn(
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


class _Names:
    """The words of a directory's names."""

    def __init__(self, reader: Reader, known: Directory) -> None:
        self._known = known
        rows: list[EntityRow | NameRow] = [*known.entities.values(), *known.names]
        self._words = reader.words([row.words_at for row in rows])

    def of(self, entity_id: str) -> str | None:
        """The name that an entity was first known by."""
        row = self._known.entities.get(self._known.survivor(entity_id))
        return None if row is None else self._name(row)

    def _name(self, row: EntityRow | NameRow) -> str | None:
        match self._words[row.words_at].event:
            case EntityRecognised() | EntitySplit() as event:
                return event.name
            case AliasAdded() as event:
                return event.alias
            case _:
                return None

    def kind(self, entity_id: str) -> str | None:
        """What it is, as far as the words that it or one it absorbed was recognised by say."""
        for each, row in self._known.entities.items():
            event = self._words[row.words_at].event
            said = event.kind if isinstance(event, EntityRecognised) else None
            if said is not None and self._known.survivor(each) == entity_id:
                return said
        return None

    def all(self, entity_id: str) -> tuple[NameAnswer, ...]:
        """Its names, in the order in which they became its."""
        return tuple(
            NameAnswer(name=name, how=row.how)
            for row in self._known.names
            if row.entity_id == entity_id and (name := self._name(row)) is not None
        )

    def asked(self, entity_id: str) -> Iterator[AlikeAnswer]:
        """Whom this may be too."""
        for row in self._known.questions:
            pair = [self._known.survivor(each) for each in (row.entity_id, row.like_id)]
            if entity_id in pair:
                other = pair[1] if pair[0] == entity_id else pair[0]
                yield AlikeAnswer(
                    entity_id=other, name=self.of(other), similarity=row.similarity / 1_000_000
                )
