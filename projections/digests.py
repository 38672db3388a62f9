"""Digests of a view: over its rows as they are, and over what they say.

`digest` changes with any change of any row. `content_digest` is over sorted rows of named columns
with their words, without random ids, wall-clock times and what defaults from them, confidence to
four places: it is equal for two ledgers that were fed the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from sqlalchemy import Connection, Result, Row, Table, select

from beliefledger.ledger import canonical
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.events.belief import Written
from beliefledger.ledger.events.entity import AliasAdded, EntityRecognised
from beliefledger.ledger.events.recall import MemoriesRecalled
from beliefledger.ledger.events.subject import TeamJoined
from beliefledger.ledger.events.turn import CandidateProposed, GateDecided, TurnRecorded
from beliefledger.ledger.log import Log
from beliefledger.projections.beliefs import Version
from beliefledger.projections.intervals import LinkRow, NameRow, TeamRow
from beliefledger.projections.questions import ChurnRow, DecisionRow
from beliefledger.projections.recalls import RecallRow
from beliefledger.projections.turns import TurnRow

_PAGE = 5_000


def digest(connection: Connection, views_tables: Sequence[Table]) -> str:
    """SHA-256 over every row of the tables, in order of their keys."""
    running = hashlib.sha256()
    for table in views_tables:
        with _rows(connection, table) as rows:
            for row in rows:
                running.update(canonical.encode(list(row)))
                running.update(b"\n")
    return running.hexdigest()


def _rows(connection: Connection, table: Table) -> Result[Any]:
    """Every row in order of the table's key, not all at once in memory; to be closed."""
    in_order = select(table).order_by(*table.primary_key.columns)
    return connection.execution_options(yield_per=_PAGE).execute(in_order)


def first_difference(
    connection: Connection, old: Sequence[Table], new: Sequence[Table]
) -> str | None:
    """The first row that is not the same in both, in order of the tables' keys."""
    for before, after in zip(old, new, strict=True):
        with _rows(connection, before) as there, _rows(connection, after) as here:
            for row, again in zip_longest(there, here):
                if row is None or again is None or tuple(row) != tuple(again):
                    return _difference(before, row, again)
    return None


def _difference(table: Table, row: Row[Any] | None, again: Row[Any] | None) -> str:
    name = table.name.rsplit("_", 1)[0]
    if row is None or again is None or row[0] != again[0]:
        if row is None or (again is not None and again[0] < row[0]):
            return f"{name} {again[0] if again else ''} was missing"
        return f"{name} {row[0]} should not be there"
    columns = [
        f"{column.name} was {a!r}, is {b!r}"
        for column, a, b in zip(table.columns, row, again, strict=True)
        if a != b
    ]
    return f"{name} {row[0]}: {'; '.join(columns)}"


def content_digest(connection: Connection, view: str, table: Table, log: Log) -> str:
    """SHA-256 over what the rows say."""
    lines = sorted(canonical.encode(line) for line in contents(connection, view, table, log))
    return canonical.digest(b"\n".join(lines))


def contents(connection: Connection, view: str, table: Table, log: Log) -> Iterator[list[Any]]:
    """What each row of a view says, in order of the table's key."""
    say = _SAYERS[view]
    names = _Names(log)
    with _rows(connection, table) as rows:
        for page in rows.partitions(_PAGE):
            yield from say([tuple(row) for row in page], log, names)


class _Names:
    """Who each subject is; None once erased."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._known: dict[str, str | None] = {}

    def of(self, subject_ref: str) -> str | None:
        if subject_ref not in self._known:
            self._known[subject_ref] = self._log.vault.real_id(subject_ref)
        return self._known[subject_ref]


def _score(millionths: int) -> int:
    return round(millionths / 100)


def _beliefs(rows: Sequence[tuple[Any, ...]], log: Log, names: _Names) -> Iterator[list[Any]]:
    versions = [Version(*row) for row in rows]
    recorded = log.read_at([version.words_at for version in versions])
    for version in versions:
        words = recorded[version.words_at].event
        if not isinstance(words, Written):
            continue  # erased since
        memory = words.memory
        yield [
            names.of(version.subject_ref),
            version.type,
            memory.claim,
            memory.entity,
            memory.attribute,
            memory.value,
            memory.negated,
            memory.context,
            memory.topic,
            memory.session,
            version.quarantined,
            version.contested,
            _score(version.confidence),
            _score(version.importance),
            version.mentions,
            version.visibility_scope,
            version.basis,
            version.valid_from if version.valid_from_stated else None,
            version.valid_to if version.valid_to_stated else version.valid_to is not None,
            version.precision,
            version.supersedes is not None,
            version.superseded_by is not None,
            version.contradicts is not None,
            version.closed is not None,
        ]


def _decisions(rows: Sequence[tuple[Any, ...]], log: Log, names: _Names) -> Iterator[list[Any]]:
    decisions = [DecisionRow(*row) for row in rows]
    candidates = candidates_of(decisions, log)
    recorded = log.read_at([row.position for row in decisions])
    for row in decisions:
        decided = recorded[row.position].event
        scored = decided if isinstance(decided, GateDecided) else None
        candidate = candidates.get((row.turn_id, row.candidate_version))
        yield [
            names.of(row.subject_ref),
            None if candidate is None else candidate.candidate.claim,
            scored.type if scored else None,
            row.outcome,
            row.reason,
            _score(scored.c) if scored else None,
            row.mentions,
            row.policy,
            row.waits,
            row.settled is not None,
        ]


def candidates_of(
    decisions: Sequence[DecisionRow], log: Log
) -> dict[tuple[str, int], CandidateProposed]:
    """What was proposed, by turn and version; without what is erased.

    A candidate is appended right before its decision, so that is where to look first.
    """
    found: dict[tuple[str, int], CandidateProposed] = {}
    before = log.read_at([row.position - 1 for row in decisions])
    for row in decisions:
        near: Recorded | None = before.get(row.position - 1)
        if near is None or (near.stream, near.version) != (row.turn_id, row.candidate_version):
            version = row.candidate_version
            near = next(iter(log.read_stream(row.turn_id, version - 1, version)), None)
        if near is not None and isinstance(near.event, CandidateProposed):
            found[row.turn_id, row.candidate_version] = near.event
    return found


def _turns(rows: Sequence[tuple[Any, ...]], log: Log, names: _Names) -> Iterator[list[Any]]:
    turns = [TurnRow(*row) for row in rows]
    recorded = log.read_at([turn.position for turn in turns])
    for turn in turns:
        said = recorded[turn.position].event
        if not isinstance(said, TurnRecorded):
            continue  # erased since
        yield [
            names.of(turn.subject_ref),
            turn.role,
            said.content,
            said.session,
            said.said_at if said.said_at_stated else None,
            turn.state,
            turn.candidates,
        ]


def _churn(rows: Sequence[tuple[Any, ...]], log: Log, names: _Names) -> Iterator[list[Any]]:
    changes = [ChurnRow(*row) for row in rows]
    recorded = log.read_at([change.position for change in changes])
    for change in changes:
        event = recorded[change.position].event
        yield [
            names.of(change.subject_ref),
            change.happened,
            event.memory.claim if isinstance(event, Written) else None,
            change.said_at if change.said_at_stated else None,
        ]


def _entities(rows: Sequence[tuple[Any, ...]], log: Log, names: _Names) -> Iterator[list[Any]]:
    given = [NameRow(*row) for row in rows]
    recorded = log.read_at([row.words_at for row in given])
    for row in given:
        event = recorded[row.words_at].event
        yield [
            names.of(row.subject_ref),
            event.name if isinstance(event, EntityRecognised) else None,
            event.kind if isinstance(event, EntityRecognised) else None,
            event.alias if isinstance(event, AliasAdded) else None,
            row.how,
            row.closed is not None,
        ]


def _links(rows: Sequence[tuple[Any, ...]], log: Log, names: _Names) -> Iterator[list[Any]]:
    links = [LinkRow(*row) for row in rows]
    recorded = log.read_at([link.words_at for link in links])
    for link in links:
        words = recorded[link.words_at].event
        if not isinstance(words, Written):
            continue  # erased since
        yield [
            names.of(link.subject_ref),
            words.memory.claim,
            words.memory.attribute,
            link.part,
            link.place,
            link.negated,
            link.closed is not None,
        ]


def _teams(rows: Sequence[tuple[Any, ...]], log: Log, names: _Names) -> Iterator[list[Any]]:
    members = [TeamRow(*row) for row in rows]
    recorded = log.read_at([member.opened for member in members])
    for member in members:
        event = recorded[member.opened].event
        if isinstance(event, TeamJoined):  # else erased since
            yield [names.of(member.subject_ref), event.name, member.closed is not None]


def _access(rows: Sequence[tuple[Any, ...]], _log: Log, names: _Names) -> Iterator[list[Any]]:
    for _memory_id, subject_ref, count, _last_at in rows:
        yield [names.of(subject_ref), count]


def _jobs(rows: Sequence[tuple[Any, ...]], _log: Log, _names: _Names) -> Iterator[list[Any]]:
    for row in rows:
        job, outcome, counts, error = row[1], row[3], row[4], row[6]
        yield [job, outcome, counts, error]


def _calls(rows: Sequence[tuple[Any, ...]], _log: Log, _names: _Names) -> Iterator[list[Any]]:
    for row in rows:
        door, tool, outcome = row[1], row[2], row[5]
        yield [door, tool, outcome]


def _tasks(rows: Sequence[tuple[Any, ...]], _log: Log, names: _Names) -> Iterator[list[Any]]:
    for row in rows:
        subject_ref, skill, state = row[2], row[4], row[6]
        yield [names.of(subject_ref), skill, state]


def _recalls(rows: Sequence[tuple[Any, ...]], log: Log, names: _Names) -> Iterator[list[Any]]:
    recalls = [RecallRow(*row) for row in rows]
    recorded = log.read_at([recall.position for recall in recalls])
    for recall in recalls:
        event = recorded[recall.position].event
        asked = event.asked if isinstance(event, MemoriesRecalled) else None
        yield [
            names.of(recall.subject_ref),
            recall.purpose,
            recall.ranker,
            recall.embedder,
            recall.found,
            None if asked is None else asked.query,
        ]


_SAYERS: dict[str, Callable[[Sequence[tuple[Any, ...]], Log, _Names], Iterator[list[Any]]]] = {
    "belief_versions": _beliefs,
    "decisions": _decisions,
    "turns": _turns,
    "churn": _churn,
    "access": _access,
    "jobs": _jobs,
    "calls": _calls,
    "entities": _entities,
    "links": _links,
    "recalls": _recalls,
    "teams": _teams,
    "tasks": _tasks,
}
