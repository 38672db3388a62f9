"""Rows that hold from one position until another: in memory, in the table, and forgotten."""

from __future__ import annotations

from dataclasses import astuple

import pytest
from sqlalchemy import create_engine, select

from beliefledger.projections import tables
from beliefledger.projections.intervals import EntityRow, Intervals, LinkRow, NameRow, QuestionRow

PER_EVENT = 1 << 20


def question(like, subject="s", entity="e"):
    return QuestionRow(0, subject, entity, like, 900_000, 0)


@pytest.fixture
def table():
    return tables.entity_questions(4)


@pytest.fixture
def connection(table):
    engine = create_engine("sqlite://")
    with engine.begin() as opened:
        table.create(opened)
        yield opened
    engine.dispose()


@pytest.fixture
def intervals(table):
    return Intervals(table, QuestionRow, empty=True)


@pytest.fixture
def standing(table, connection):
    """What stands of one entity: (like, opened)."""

    def standing_(of, entity="e"):
        found = of.standing(
            connection, table.c.entity_id == entity, lambda row: row.entity_id == entity
        )
        return [(row.like_id, row.opened) for row in found]

    return standing_


@pytest.fixture
def stored(table, connection):
    """(like, opened, closed) of all rows of the table, in the order of their ids."""

    def stored_():
        rows = connection.execute(select(table).order_by(table.c.row_id))
        return [(row.like_id, row.opened, row.closed) for row in rows]

    return stored_


def test_a_row_holds_from_its_position_under_a_number_of_its_own(intervals):
    rows = [intervals.open(question(name), at) for name, at in (("a", 7), ("b", 7), ("c", 8))]
    assert [row.row_id for row in rows] == [7 * PER_EVENT, 7 * PER_EVENT + 1, 8 * PER_EVENT]
    assert [(row.opened, row.closed) for row in rows] == [(7, None), (7, None), (8, None)]
    again = intervals.open(rows[0], 9)
    assert (again.row_id, again.opened, again.closed) == (9 * PER_EVENT, 9, None)
    assert intervals.open(question("d"), 9).row_id == 9 * PER_EVENT + 1


@pytest.mark.parametrize("flush", [False, True])
@pytest.mark.parametrize("restart", [False, True])
def test_what_stands_is_what_is_not_closed(
    intervals, table, connection, standing, stored, flush, restart
):
    for name, at in (("a", 1), ("b", 2), ("c", 3)):
        intervals.open(question(name), at)
    intervals.open(question("other", entity="f"), 3)
    if flush:
        intervals.flush(connection)
        if restart:
            intervals = Intervals(table, QuestionRow, empty=False)
    [a, b, _c] = intervals.standing(
        connection, table.c.entity_id == "e", lambda row: row.entity_id == "e"
    )
    intervals.close(a, 5)
    changed = intervals.change(b, 5, similarity=950_000)
    assert (changed.similarity, changed.like_id, b.similarity) == (950_000, "b", 900_000)
    intervals.open(question("d"), 6)
    assert standing(intervals) == [("c", 3), ("b", 5), ("d", 6)]
    assert standing(intervals, "f") == [("other", 3)]
    intervals.flush(connection)
    assert stored() == [
        ("a", 1, 5), ("b", 2, 5), ("c", 3, None), ("other", 3, None), ("b", 5, None),
        ("d", 6, None),
    ]  # fmt: skip
    assert standing(intervals) == [("c", 3), ("b", 5), ("d", 6)]
    intervals.flush(connection)
    assert len(stored()) == 6


def test_what_was_closed_before_it_was_written_is_written_closed(intervals, connection, stored):
    row = intervals.open(question("a"), 1)
    intervals.close(row, 2)
    intervals.flush(connection)
    assert stored() == [("a", 1, 2)]


def test_nothing_is_asked_of_a_table_that_is_empty(table, connection):
    intervals = Intervals(table, QuestionRow, empty=True)
    intervals.flush(connection)
    row = intervals.open(question("a"), 1)
    assert intervals.standing(None, table.c.entity_id == "e", lambda _: True) == [row]


@pytest.mark.parametrize("flush", [False, True])
def test_a_subject_is_forgotten(intervals, connection, standing, stored, flush):
    intervals.open(question("a", subject="gone"), 1)
    intervals.open(question("b", subject="gone"), 1)
    intervals.open(question("c", subject="stays"), 1)
    if flush:
        intervals.flush(connection)
        [a, *_rest] = intervals.standing(
            connection, intervals._table.c.entity_id == "e", lambda _: True
        )
        intervals.close(a, 2)
    intervals.forget("gone")
    assert standing(intervals) == [("c", 1)]
    again = intervals.open(question("d", subject="gone"), 1)
    assert again.row_id == 1 * PER_EVENT
    assert standing(intervals) == [("c", 1), ("d", 1)]


def test_a_subject_is_forgotten_in_the_table(intervals, connection, standing, stored):
    a = intervals.open(question("a", subject="gone"), 1)
    intervals.open(question("c", subject="stays"), 2)
    intervals.flush(connection)
    intervals.close(a, 3)
    intervals.forget("gone")
    intervals.flush(connection)
    assert stored() == [("c", 2, None)]
    intervals.open(question("d", subject="gone"), 4)
    assert standing(intervals) == [("c", 2), ("d", 4)]
    intervals.flush(connection)
    assert stored() == [("c", 2, None), ("d", 4, None)]
    assert standing(intervals) == [("c", 2), ("d", 4)]


@pytest.mark.parametrize(
    ("kind", "table"),
    [
        (NameRow, tables.entity_names), (EntityRow, tables.entities),
        (QuestionRow, tables.entity_questions), (LinkRow, tables.links),
    ],
)  # fmt: skip
def test_a_row_s_fields_are_its_table_s_columns(kind, table):
    columns = [column.name for column in table(1).columns]
    row = kind(**{name: name for name in columns})
    assert astuple(row) == tuple(columns)
    assert kind(**{name: name for name in columns if name != "closed"}).closed is None
