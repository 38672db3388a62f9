"""Whom and what a subject speaks of: entities, how they are related, and what happened when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy import Connection

from beliefledger.answers import BeliefAnswer
from beliefledger.gate import entities as entity_names
from beliefledger.gate.entities import Match
from beliefledger.gate.registry import SlotRule
from beliefledger.gate.slots import canonical_entity
from beliefledger.ledger.candidate import SELF, Frozen
from beliefledger.ledger.errors import NotPermitted, UnknownMemory
from beliefledger.ledger.events.entity import AliasAdded, EntityRecognised, EntitySplit
from beliefledger.ledger.names import check_text
from beliefledger.ledger.streams import directory_stream, entity_stream
from beliefledger.ledger.times import Micros
from beliefledger.ledger.vault import ERASED
from beliefledger.opening.core import Core
from beliefledger.projections import graph, questions
from beliefledger.projections.beliefs import Version
from beliefledger.projections.graph import Believed, DirectoryRows, GraphGenerations
from beliefledger.projections.intervals import EntityRow, NameRow
from beliefledger.reading.queries import Queries, Snapshot
from beliefledger.reading.words import Reader, evidence_in

ALIAS = "alias."


class NameAnswer(Frozen):
    """A name of an entity. `how` is `first` (the one it was first known by), `stated`, `role` (a
    title that somebody else may hold later), `nickname`, `near`, `speaker` (turns of the
    subject are spoken under it), or `actor` (a person gave it)."""

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


class EntityQueries:
    """Reads entities out of the views."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._log = core.log
        self._queries = queries
        self._reader = Reader(core.log)

    @contextmanager
    def views(self) -> Iterator[tuple[Connection, GraphGenerations]]:
        """A consistent read of the views of beliefs, entities and links, caught up to the head."""
        with self._queries.states(*graph.VIEWS) as (connection, states):
            yield connection, graph.GraphGenerations.of(states)

    def believed(
        self, snapshot: Snapshot | None, valid_at: Micros | None, min_confidence: int
    ) -> Believed:
        if valid_at is None:
            valid_at = self._queries.now() if snapshot is None else snapshot.at
        return Believed(valid_at, None if snapshot is None else snapshot.position, min_confidence)

    # Who is meant

    def subject(self, subject: str) -> str:
        """The reference of somebody known. Raises `NotPermitted` for an erased subject."""
        ref = self._log.subject(subject)
        if ref is None:
            raise UnknownMemory(
                f"Nothing is known of {subject!r}. List who is: beliefledger subjects."
            )
        return ref

    def find(self, subject: str, ref: str, given: str) -> str:
        """The id of an entity, of one of its names or the first characters of its id."""
        with self.views() as (connection, at):
            known = graph.directory(connection, at, ref)
            believed = self.believed(None, None, 0)
            return self.named(connection, at, subject, ref, given, known, believed)

    def about(self, ref: str, entity_id: str) -> dict[str, str]:
        """The standing memories of an entity, each with its belief."""
        with self.views() as (connection, at):
            return graph.about(connection, at, ref, entity_id)

    def named(
        self,
        connection: Connection,
        at: GraphGenerations,
        subject: str,
        ref: str,
        given: str,
        known: DirectoryRows,
        believed: Believed,
    ) -> str:
        """The id of whom a name (or the first characters of an id) means then. Raises
        `UnknownMemory`."""
        keys = self._log.keys(ref)
        if keys is None:
            raise NotPermitted(ERASED)
        named = known.named(self._core.tagger(ref, "entity", check_text("entity", given)))
        if named is not None:
            return named
        myself = entity_stream(keys.ids, canonical_entity(SELF))
        if given in {SELF, subject}:
            return myself
        ids = {known.survivor(each) for each in known.entities if each.startswith(given)}
        if len(ids) == 1 and given:
            return ids.pop()
        if len(ids) > 1:
            raise UnknownMemory(
                f"More than one entity's id begins with {given!r}; write more of it."
            )
        # As the gate would take it: a title or a nickname that nobody has said yet.
        as_of, events = believed.as_of, self._log.read_stream(directory_stream(keys.ids))
        then = entity_names.folded(
            each for each in events if as_of is None or each.position <= as_of
        )
        rules = self._core.rulebook.refreshed().policy.entities
        found = entity_names.resolve(then, given, rules)
        if found.entity_id is not None and found.match in {Match.EXACT, Match.NICKNAME}:
            return found.entity_id
        # "My mom", where that relation goes to one somebody.
        relation = self._core.tagger(ref, "relation", given)
        edges = graph.edges(connection, at, ref, [myself], believed, [relation or ""])
        whose = {edge.far for edge in edges if edge.forward}
        if len(whose) == 1:
            return whose.pop()
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
        ref = self._queries.known_or_none(subject)
        if ref is None:
            return []
        believed = self.believed(snapshot, None, 0)
        with self.views() as (connection, at):
            known = graph.directory(connection, at, ref, believed.as_of)
            wanted = [each for each, row in known.entities.items() if row.merged_into is None]
            if given is not None:
                wanted = [self.named(connection, at, subject, ref, given, known, believed)]
            counted = graph.mentions(connection, at, ref, believed.as_of)
            facts = graph.facts(connection, at, ref, wanted, believed, self.stateful())
        names = Names(self._reader, known)
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
                    kind=names.kind(one) or _stated_kind(attributes.get(one, ())),
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

    def stateful(self) -> list[str]:
        """The types whose memories say what an attribute is."""
        types = self._core.rulebook.refreshed().registry.types
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

    def beliefs(
        self,
        connection: Connection,
        at: GraphGenerations,
        rows: Sequence[Version],
        as_of: int | None,
    ) -> dict[str, BeliefAnswer]:
        positions = questions.evidence_of(
            connection, at.beliefs, list(dict.fromkeys(row.memory_id for row in rows)), as_of
        )
        against = questions.contradictions(connection, at.beliefs, rows, as_of)
        evidence = {row.row_id: positions[row.memory_id] for row in rows}
        became = self._queries.fates(connection, at.beliefs, rows, then=as_of is not None)
        answers = self._reader.beliefs(rows, evidence, against, became)
        return {each.memory_id: each for each in answers}


def _stated_kind(attributes: Sequence[AttributeAnswer]) -> str | None:
    """What somebody said that it is: "Acme is a logistics company"."""
    return next(
        (each.value for each in attributes if each.attribute.split(".")[-1] == "kind"), None
    )


class Names:
    """The words of a directory's names."""

    def __init__(self, reader: Reader, known: DirectoryRows) -> None:
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
