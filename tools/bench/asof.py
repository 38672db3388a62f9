"""What a question about the past costs beside the same question about now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from random import Random
from statistics import median

from sqlalchemy import Connection, Table, func, select

from beliefledger.ledger.times import SECOND
from beliefledger.opener import open_memory
from beliefledger.projections import questions, tables
from beliefledger.projections.beliefs import COLUMNS, Version
from beliefledger.projections.rows import Row, insert_rows
from beliefledger.projections.view_databases import sqlite_engine
from beliefledger.tools.bench.conversations import BEGIN
from beliefledger.tools.bench.measure import Measured, Run, Target, in_pairs
from beliefledger.tools.bench.pipeline import built_ledger

_GENERATION = 1
_values = attrgetter(*COLUMNS)
_ONE = "f" * 32
"""The subject with many versions."""


@dataclass(slots=True)
class _Life:
    """The belief rows of one subject, as confirmations, changes and corrections make them.

    All beliefs are there well before the middle, so that the past holds as many as the present.
    Of ten events six confirm, three change and one corrects.
    """

    subject_ref: str
    beliefs: int
    random: Random
    step: int
    """How many positions lie between two events of this subject."""
    offset: int
    lane: int = 0
    """Keeps row ids of subjects apart that share positions."""
    position: int = 0
    """Of the last event."""

    def rows(self, versions: int) -> list[Row]:
        """About so many rows."""
        open_rows: list[Version] = []
        done: list[Version] = []
        number = 0
        while len(open_rows) + len(done) < versions:
            number += 1
            position = self.position = number * self.step + self.offset
            if number <= self.beliefs:
                open_rows.append(self._first(position, number))
                continue
            at = self.random.randrange(len(open_rows))
            open_rows[at] = self._changed(open_rows[at], position, done)
        return [_values(row) for row in (*done, *open_rows)]

    def _changed(self, row: Version, position: int, done: list[Version]) -> Version:
        now = BEGIN + position * SECOND
        closed = replace(row, closed=position, closed_at=now)
        again = replace(row, row_id=(position << 10) + self.lane, opened=position, opened_at=now)
        done.append(closed)
        chance = self.random.random()
        if chance < 0.6:
            return replace(again, mentions=row.mentions + 1, said_at=now)
        new = replace(
            again,
            row_id=again.row_id + 1,
            memory_id=f"{self.random.getrandbits(128):032x}",
            words_at=position,
            supersedes=row.memory_id,
        )
        if chance < 0.9:
            past = replace(again, valid_to=now, valid_to_stated=True, superseded_by=new.memory_id)
            done.append(past)
            return replace(new, valid_from=now)
        closed.closed_by = new.memory_id
        return new

    def _first(self, position: int, number: int) -> Version:
        row_id = (position << 10) + self.lane
        return version(self.subject_ref, position, row_id, f"{number:032x}", self.random)


def version(subject_ref: str, position: int, row_id: int, tag: str, random: Random) -> Version:
    """The row of a memory that was written at a position."""
    now = BEGIN + position * SECOND
    return Version(
        row_id=row_id,
        subject_ref=subject_ref,
        belief=f"{random.getrandbits(128):032x}",
        memory_id=f"{random.getrandbits(128):032x}",
        words_at=position,
        type="fact",
        topic_tag=tag,
        entity_tag=tag,
        context_tag=None,
        session_tag=tag,
        quarantined=False,
        contested=False,
        confidence=700_000,
        importance=500_000,
        mentions=1,
        visibility_scope="subject",
        basis="consent",
        grant_id=tag,
        decision=f"{random.getrandbits(128):032x}",
        valid_from=now,
        valid_from_stated=True,
        valid_to=None,
        valid_to_stated=False,
        expires_at=None,
        event_from=None,
        event_to=None,
        precision="unknown",
        said_at=now,
        supersedes=None,
        superseded_by=None,
        contradicts=None,
        ends_loosely=False,
        opened=position,
        opened_at=now,
    )


def _fill(connection: Connection, table: Table, run: Run) -> int:
    """Write every subject's rows, and then the indexes; returns the last position."""
    subjects, versions = run.sizes.subjects, run.sizes.versions
    random, end = Random(11), 0
    indexes = list(table.indexes)
    for index in indexes:
        index.drop(connection)
    for start in range(0, subjects, 100):
        run.tell(f"writing {subjects * versions:,} versions: {start * versions:,}")
        rows: list[Row] = []
        for number in range(start, min(start + 100, subjects)):
            life = _Life(f"{number:032x}", 40, random, subjects, number)
            rows += life.rows(versions)
            end = max(end, life.position)
        insert_rows(connection, table, rows)
    one = run.sizes.versions_of_one
    life = _Life(_ONE, 100, random, max(1, end * 13 // (10 * one)), 0, lane=1 << 9)
    insert_rows(connection, table, life.rows(one))
    for index in indexes:
        run.tell(f"indexing, {index.name}")
        index.create(connection)
    return max(end, life.position)


def as_of(run: Run) -> Iterator[Measured]:
    """The rows that are held, by the question itself; and answers with words, by the front door."""
    table = tables.belief_versions(_GENERATION)
    engine = sqlite_engine(run.place("as-of").with_suffix(".db"))
    with engine.execution_options(writing=True).begin() as connection:
        table.create(connection)
        end = _fill(connection, table, run)
        counted = connection.scalar(select(func.count()).select_from(table)) or 0
    many = [f"{number:032x}" for number in range(run.sizes.subjects)]
    asked = Random(12).sample(many, min(run.sizes.asked, len(many)))
    with engine.connect() as connection:
        run.tell("asking about now and then")
        ratios, now, held = _ratios(connection, asked, end, run.sizes.rounds)
        yield Measured(
            "beliefs of a subject as of the middle, of the time for now",
            "×",
            ratios,
            Target("≤", 1.5),
            note=f"{counted:,} versions of {len(many):,} subjects, {len(asked):,} of them asked",
        )
        yield Measured(
            "beliefs of a subject now", "ms", now, note=f"{held[0]} held, {held[1]} then"
        )
        run.tell("asking about one with many versions")
        ratios, now, held = _ratios(connection, [_ONE] * run.sizes.rounds, end, 10)
        yield Measured(
            f"the same for one subject with {run.sizes.versions_of_one:,} versions",
            "×",
            ratios,
            Target("≤", 2),
        )
        yield Measured("beliefs of that one now", "ms", now, note=f"{held[0]} held, {held[1]} then")
    engine.dispose()
    yield _front_door(run)


def _ratios(
    connection: Connection, subjects: Sequence[str], end: int, times: int
) -> tuple[list[float], list[float], tuple[int, int]]:
    """For each subject the median time as of the middle over that of now, and that of now in ms;
    and how many memories the last of them held now and then."""
    middle = end // 2
    ratios, now_ms, counts = [], [], (0, 0)
    for subject in subjects:
        ask = partial(questions.held, connection, _GENERATION, subject)
        now = partial(ask, valid_at=BEGIN + (end + 1) * SECOND)
        then = partial(ask, valid_at=BEGIN + middle * SECOND, as_of=middle)
        counts = (len(now()), len(then()))
        present, past = in_pairs(now, then, times)
        ratios.append(median(past) / median(present))
        now_ms.append(median(present) * 1e3)
    return ratios, now_ms, counts


def _front_door(run: Run) -> Measured:
    """The same with words, on the ledger of the pipeline."""
    ratios, times = [], run.sizes.rounds
    with open_memory(built_ledger(run)) as memory:
        middle = memory.status(digests=False).position // 2
        run.tell("asking the front door about now and then")
        for number in range(min(run.sizes.asked, run.sizes.people)):
            who = f"person {number}"
            now, then = in_pairs(
                partial(memory.beliefs, who), partial(memory.beliefs, who, as_of=middle), times
            )
            ratios.append(median(then) / median(now))
    return Measured("the same by the front door, with words, on the pipeline's ledger", "×", ratios)
