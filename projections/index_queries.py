"""Where an index reads, and what of the views, as queries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    BindParameter,
    Column,
    CompoundSelect,
    Select,
    bindparam,
    select,
    union_all,
)
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from beliefledger.ledger.codec import Raw
from beliefledger.projections import tables
from beliefledger.projections.showing import Showing

CONVERSATION = "conversation"
_ROW = (
    "row_id", "words_at", "memory_id", "type", "topic_tag", "visibility_scope", "quarantined",
    "confidence", "importance", "valid_from", "valid_to", "expires_at", "said_at", "opened",
    "closed", "contradicts", "supersedes",
)  # fmt: skip

Read = Callable[[Sequence[int]], Iterable[Raw]]
"""The parts of the events at these positions, in the order of these."""


class Source(NamedTuple):
    """Where an index reads, and what may be shown: the turns and memories are those whose standing
    changed since it was last followed."""

    read: Read
    showing: Showing
    turns: Collection[str] = ()
    memories: Collection[str] = ()


class IndexedGenerations(NamedTuple):
    """Of the views that are indexed."""

    beliefs: int
    turns: int
    recalls: int


class Erasures(NamedTuple):
    """The number of erasures so far: of anybody, and of the index's subject. The index was read
    after that; a later erasure may be of words that it has."""

    all: int
    theirs: int


# Made once each: they are asked after every event.


@tables.of_generations
def rows_since(generation: int, *, everything: bool) -> Select[Any] | CompoundSelect[Any]:
    """The rows of a subject that were opened or closed since a position. Each of the two is a range
    of one index; an OR of them would look at all that the subject has."""
    c = tables.belief_versions(generation).c
    query = select(*(c[name] for name in _ROW)).where(c.subject_ref == bindparam("subject"))
    if everything:
        return query.order_by(c.row_id)
    since: BindParameter[int] = bindparam("since")
    opened = query.where(c.closed.is_(None), c.opened > since)
    return union_all(query.where(c.closed > since), opened).order_by("row_id")


@tables.of_generations
def turns_since(generation: int) -> Select[Any]:
    """The turns of a subject's conversations since a position."""
    c = tables.turns(generation).c
    return _since(c, c.turn_id, c.session_tag).where(c.channel == CONVERSATION)


@tables.of_generations
def shown_since(generation: int) -> Select[Any]:
    """The memories of a subject that were shown since a position."""
    c = tables.recalled(generation).c
    return _since(c, c.found, c.recorded_at).where(c.is_memory.is_(True))


def _since(c: ReadOnlyColumnCollection[str, Column[Any]], *columns: Column[Any]) -> Select[Any]:
    """Selects the position and these columns of a subject's rows since a position, in order."""
    return (
        select(c.position, *columns)
        .where(c.subject_ref == bindparam("subject"), c.position > bindparam("since"))
        .order_by(c.position)
    )
