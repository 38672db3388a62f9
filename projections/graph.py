"""Questions about entities: their names, the memories that speak of them, how they are related, and
what happened when and with whom. All can be asked as of a position."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, Table, bindparam, func, or_, select

from beliefledger.ledger.candidate import Precision
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.times import DAY, Micros, from_datetime, to_datetime
from beliefledger.projections import tables
from beliefledger.projections.beliefs import BeliefsView, Version
from beliefledger.projections.entities import EntitiesView, survivor
from beliefledger.projections.intervals import EntityRow, NameRow, QuestionRow, first_row
from beliefledger.projections.links import ABOUT, PARTICIPANT, TARGET, LinksView
from beliefledger.projections.questions import holds, open_then
from beliefledger.projections.view_tables import ViewState

_WIDTH = len(fields(Version))
WEEK = 7 * DAY
_WIDEST = 32 * DAY
_MONDAY = 4 * DAY
"""The first Monday since 1970-01-01, which was a Thursday."""


VIEWS = (BeliefsView.name, EntitiesView.name, LinksView.name)
"""What questions about entities read."""


class GraphGenerations(NamedTuple):
    """Which generation of each view's tables is in use."""

    beliefs: int
    entities: int
    links: int

    @classmethod
    def of(cls, states: Iterable[ViewState]) -> GraphGenerations:
        """Takes the states of `VIEWS`, in that order."""
        return cls(*(state.generation for state in states))


class Believed(NamedTuple):
    """Which memories count: those true at a time, recorded up to a position (None: now), and sure
    enough (millionths)."""

    valid_at: Micros
    as_of: int | None = None
    min_confidence: int = 0


@dataclass(frozen=True, slots=True)
class DirectoryRows:
    """The entities of one subject and their names, as of a position."""

    entities: Mapping[str, EntityRow]
    """By id; absorbed ones too."""
    names: tuple[NameRow, ...]
    questions: tuple[QuestionRow, ...]

    def survivor(self, entity_id: str) -> str:
        return survivor(self.entities, entity_id)

    def named(self, name_tag: str | None) -> str | None:
        return next((row.entity_id for row in self.names if row.name_tag == name_tag), None)


@dataclass(frozen=True, slots=True)
class Mentioned:
    """How many events gave words to an entity's memories, and the positions of the first and the
    last."""

    count: int
    first: int
    last: int


class Edge(NamedTuple):
    """A relation from `near` to `far`, or, when it is not `forward`, from `far` to `near`."""

    version: Version
    near: str
    far: str
    relation_tag: str | None
    forward: bool


def directory(
    connection: Connection, at: GraphGenerations, subject_ref: str, as_of: int | None = None
) -> DirectoryRows:
    """Everything the subject spoke of."""
    names, entities, asked = (
        select(table)
        .where(table.c.subject_ref == subject_ref, open_then(table, as_of))
        .order_by(table.c.row_id)
        for table in (
            tables.entity_names(at.entities),
            tables.entities(at.entities),
            tables.entity_questions(at.entities),
        )
    )
    return DirectoryRows(
        {row.entity_id: row for row in (EntityRow(*each) for each in connection.execute(entities))},
        tuple(NameRow(*each) for each in connection.execute(names)),
        tuple(QuestionRow(*each) for each in connection.execute(asked)),
    )


def about(
    connection: Connection, at: GraphGenerations, subject_ref: str, entity_id: str
) -> dict[str, str]:
    """The memories in force that are about an entity or relate to it, each with its belief."""
    asked = {"subject": subject_ref, "entity": entity_id}
    rows = connection.execute(_about(at.beliefs, at.links), asked)
    return {row[0]: row[1] for row in rows}


@tables.of_generations
def _about(beliefs: int, links_generation: int) -> Select[Any]:
    """Made once: what words mean that name no slot is looked for with it."""
    versions, links = tables.belief_versions(beliefs), tables.links(links_generation)
    return (
        select(versions.c.memory_id, versions.c.belief)
        .select_from(links.join(versions, links.c.memory_id == versions.c.memory_id))
        .where(
            links.c.entity_id == bindparam("entity"),
            links.c.subject_ref == bindparam("subject"),
            links.c.part.in_((ABOUT, TARGET)),
            links.c.closed.is_(None),
            versions.c.closed.is_(None),
        )
        .order_by(versions.c.row_id)
    )


def mentions(
    connection: Connection, at: GraphGenerations, subject_ref: str, as_of: int | None = None
) -> dict[str, Mentioned]:
    """The mentions of each entity, over all memories that speak of it, past and revoked ones
    too."""
    links, evidence = tables.links(at.links), tables.evidence(at.beliefs)
    place = evidence.c.position
    query = (
        select(links.c.entity_id, func.count(place.distinct()), func.min(place), func.max(place))
        .select_from(links.join(evidence, links.c.memory_id == evidence.c.memory_id))
        .where(links.c.subject_ref == subject_ref, open_then(links, as_of))
        .group_by(links.c.entity_id)
    )
    if as_of is not None:
        query = query.where(place <= as_of)
    return {row[0]: Mentioned(row[1], row[2], row[3]) for row in connection.execute(query)}


def edges(
    connection: Connection,
    at: GraphGenerations,
    subject_ref: str,
    near: Collection[str],
    believed: Believed,
    relation_tags: Collection[str] | None = None,
) -> list[Edge]:
    """The relations that begin or end at these entities; negated ones are none."""
    versions, links = tables.belief_versions(at.beliefs), tables.links(at.links)
    here, there = links.alias("here"), links.alias("there")
    query: Select[Any] = (
        _believed(
            select(
                versions,
                here.c.entity_id,
                there.c.entity_id,
                here.c.relation_tag,
                here.c.part,
            ).select_from(
                here.join(there, here.c.memory_id == there.c.memory_id).join(
                    versions, here.c.memory_id == versions.c.memory_id
                )
            ),
            versions,
            believed,
        )
        .where(
            here.c.subject_ref == subject_ref,
            here.c.entity_id.in_(near),
            here.c.part.in_((ABOUT, TARGET)),
            there.c.part.in_((ABOUT, TARGET)),
            here.c.part != there.c.part,
            here.c.relation_tag.is_not(None),
            here.c.negated.is_(False),
            open_then(here, believed.as_of),
            open_then(there, believed.as_of),
        )
        .order_by(versions.c.row_id)
    )
    if relation_tags is not None:
        query = query.where(here.c.relation_tag.in_(relation_tags))
    return [
        Edge(
            _version(row, believed.as_of),
            near=row[_WIDTH],
            far=row[_WIDTH + 1],
            relation_tag=row[_WIDTH + 2],
            forward=row[_WIDTH + 3] == ABOUT,
        )
        for row in connection.execute(query)
    ]


def relation_is_known(
    connection: Connection, at: GraphGenerations, subject_ref: str, relation_tag: str | None
) -> bool:
    """Whether any memory of the subject's ever spoke of this relation."""
    c = tables.links(at.links).c
    query = select(c.row_id).where(c.subject_ref == subject_ref, c.relation_tag == relation_tag)
    return connection.execute(query.limit(1)).first() is not None


def facts(
    connection: Connection,
    at: GraphGenerations,
    subject_ref: str,
    entities: Collection[str],
    believed: Believed,
    types: Collection[str],
) -> list[tuple[str, Version]]:
    """What is believed about these entities themselves, in memories of these types."""
    versions, links = tables.belief_versions(at.beliefs), tables.links(at.links)
    query = (
        _believed(
            select(versions, links.c.entity_id).select_from(
                links.join(versions, links.c.memory_id == versions.c.memory_id)
            ),
            versions,
            believed,
        )
        .where(
            links.c.subject_ref == subject_ref,
            links.c.entity_id.in_(entities),
            links.c.part == ABOUT,
            links.c.relation_tag.is_(None),
            open_then(links, believed.as_of),
            versions.c.type.in_(types),
        )
        .order_by(versions.c.row_id)
    )
    return [(row[_WIDTH], _version(row, believed.as_of)) for row in connection.execute(query)]


def events(
    connection: Connection,
    at: GraphGenerations,
    subject_ref: str,
    believed: Believed,
    *,
    start: Micros | None = None,
    end: Micros | None = None,
    participant: str | None = None,
) -> list[Version]:
    """The memories of type `event` that may have happened in [start, end), in order of time; with
    whom took part, or whom they are about. Those without a time come only without a window.

    An event does not end by time, as a state does: it happened. So only what was taken back, took
    another's place or expired is left out.
    """
    table = tables.belief_versions(at.beliefs)
    c = table.c
    query: Select[Any] = select(table).where(
        c.subject_ref == subject_ref,
        c.type == "event",
        c.quarantined.is_(False),
        c.superseded_by.is_(None),
        c.confidence >= believed.min_confidence,
        or_(c.expires_at.is_(None), c.expires_at > believed.valid_at),
        open_then(table, believed.as_of),
    )
    if participant is not None:
        links = tables.links(at.links)
        query = query.where(
            c.memory_id.in_(
                select(links.c.memory_id).where(
                    links.c.subject_ref == subject_ref,
                    links.c.entity_id == participant,
                    links.c.part.in_((ABOUT, PARTICIPANT)),
                    open_then(links, believed.as_of),
                )
            )
        )
    # Roughly here, exactly below: a precision widens what is kept by a month at most.
    if end is not None:
        query = query.where(c.event_from < end + _WIDEST)
    if start is not None:
        query = query.where(func.coalesce(c.event_to, c.event_from) > start - _WIDEST)
    rows = [_version(row, believed.as_of) for row in connection.execute(query.order_by(c.row_id))]
    if start is not None or end is not None:
        rows = [row for row in rows if overlaps(row, start, end)]
    return sorted(rows, key=lambda row: (row.event_from is None, row.event_from or 0, row.row_id))


def overlaps(row: Version, start: Micros | None, end: Micros | None) -> bool:
    """Whether an event may have happened in the window [start, end), open where it is None."""
    meant = span(row.event_from, row.event_to, row.precision)
    if meant is None:
        return False
    return (end is None or meant[0] < end) and (start is None or meant[1] > start)


def span(
    begins: Micros | None, ends: Micros | None, precision: str
) -> tuple[Micros, Micros] | None:
    """The whole range [begins, ends) that a time means by its precision; None for an unknown one.

    A day, week (from Monday) or month is meant whole, in UTC. An approximate time may be a day
    earlier or later than its words say.
    """
    if begins is None or precision == Precision.UNKNOWN:
        return None
    ends = begins + 1 if ends is None or ends <= begins else ends
    match precision:
        case Precision.DAY:
            return begins - begins % DAY, ends + -ends % DAY
        case Precision.WEEK:
            return begins - (begins - _MONDAY) % WEEK, ends + -(ends - _MONDAY) % WEEK
        case Precision.MONTH:
            last = _month(to_datetime(ends - 1)) + timedelta(days=32)
            return from_datetime(_month(to_datetime(begins))), from_datetime(_month(last))
        case Precision.APPROXIMATE:
            return begins - DAY, ends + DAY
        case _:
            return begins, ends


def _month(day: datetime) -> datetime:
    return datetime(day.year, day.month, 1, tzinfo=UTC)


def _believed(query: Select[Any], versions: Table, believed: Believed) -> Select[Any]:
    return query.where(
        versions.c.quarantined.is_(False),
        versions.c.confidence >= believed.min_confidence,
        holds(versions, believed.valid_at),
        open_then(versions, believed.as_of),
    )


def _version(row: Sequence[Any], as_of: int | None) -> Version:
    """The version in a row's first columns. What became of it after `as_of` is not told."""
    version = Version(*row[:_WIDTH])
    if as_of is not None:
        version.closed = version.closed_at = version.closed_by = None
    return version


def far_ends(connection: Connection, at: GraphGenerations) -> list[tuple[str, str, str | None]]:
    """All far ends of a relation, by each of their names: the subject, the entity, and the tag of
    the name under that subject's key."""
    names, links = tables.entity_names(at.entities).c, tables.links(at.links).c
    here = select(links.subject_ref, links.entity_id).where(tables.AT_FAR_END).distinct().subquery()
    query = (
        select(names.subject_ref, names.entity_id, names.name_tag)
        .select_from(here)
        .where(
            names.subject_ref == here.c.subject_ref,
            names.entity_id == here.c.entity_id,
            names.closed.is_(None),
        )
        .order_by(names.row_id)
    )
    return [(row[0], row[1], row[2]) for row in connection.execute(query)]


def named_since(connection: Connection, at: GraphGenerations, position: int) -> bool:
    """Whether anything after a position named somebody, or said who is who."""
    first = first_row(position + 1)
    columns = (
        tables.entity_names(at.entities).c,
        tables.entities(at.entities).c,
        tables.links(at.links).c,
    )
    return any(
        connection.execute(select(c.row_id).where(c.row_id >= first).limit(1)).first()
        for c in columns
    )
