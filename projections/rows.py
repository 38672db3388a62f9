"""Writes many rows: one statement each to SQLite and for small numbers, else by COPY."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Integer,
    LargeBinary,
    Table,
    delete,
    update,
)

Row = tuple[Any, ...]

_MANY = 200
"""The number of rows from which a temporary table pays."""
_numbers = count(1)


def insert_rows(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    """Insert rows, given in the order of the table's columns."""
    if not rows:
        return
    columns = list(table.columns)
    names = _names(columns)
    if connection.get_execution_options().get("copying", False):
        _copy(connection, table.name, columns, rows)
    elif _by_copy(connection, rows):
        new = _staged(connection, table, columns, rows)
        connection.exec_driver_sql(f"INSERT INTO {table.name} ({names}) SELECT {names} FROM {new}")
    else:
        marks = ", ".join([_mark(connection)] * len(columns))
        connection.exec_driver_sql(
            f"INSERT INTO {table.name} ({names}) VALUES ({marks})", list(rows)
        )


def update_rows(
    connection: Connection, table: Table, key: str, names: Sequence[str], rows: Sequence[Row]
) -> None:
    """Set the columns `names` of the rows that have a key: rows of values and, last, the key.

    A key may come once.
    """
    if not rows:
        return
    if _by_copy(connection, rows):
        columns = [table.c[name] for name in (*names, key)]
        new = _staged(connection, table, columns, rows)
        changes = ", ".join(f"{name} = new.{name}" for name in names)
        connection.exec_driver_sql(
            f"UPDATE {table.name} SET {changes} FROM {new} AS new"
            f" WHERE {table.name}.{key} = new.{key}"
        )
    else:
        mark = _mark(connection)
        changes = ", ".join(f"{name} = {mark}" for name in names)
        connection.exec_driver_sql(
            f"UPDATE {table.name} SET {changes} WHERE {key} = {mark}", list(rows)
        )


def delete_subjects(connection: Connection, table: Table, subjects: Sequence[str]) -> None:
    """Delete the rows of these subjects: together, since in a rebuild it costs a scan."""
    for some in _some(subjects):
        connection.execute(delete(table).where(table.c.subject_ref.in_(some)))


def take_subjects(
    connection: Connection, table: Table, subjects: Sequence[str], column: Column[str]
) -> Iterator[str]:
    """As `delete_subjects`; yields what stood in a column of each row that went."""
    for some in _some(subjects):
        theirs = delete(table).where(table.c.subject_ref.in_(some))
        yield from connection.scalars(theirs.returning(column))


def clear(connection: Connection, flag: Column[bool], key: Column[str], of: Sequence[str]) -> int:
    """Unset a flag where it is set in the rows that have one of these keys; returns in how many."""
    # By `is_not`, since SQLite would look up the flag else, and read the rows of everybody.
    return sum(
        connection.execute(
            update(flag.table).where(key.in_(some), flag.is_not(False)).values({flag: False})
        ).rowcount
        for some in _some(of)
    )


def _some(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    return (keys[start : start + 500] for start in range(0, len(keys), 500))


def _by_copy(connection: Connection, rows: Sequence[Row]) -> bool:
    return connection.dialect.name == "postgresql" and len(rows) >= _MANY


def _mark(connection: Connection) -> str:
    return "?" if connection.dialect.paramstyle == "qmark" else "%s"


def _names(columns: Sequence[Column[Any]]) -> str:
    return ", ".join(column.name for column in columns)


def _staged(
    connection: Connection, table: Table, columns: Sequence[Column[Any]], rows: Sequence[Row]
) -> str:
    """The name of a temporary table that has the rows, until the transaction ends."""
    name = f"{table.name}_new_{next(_numbers)}"
    connection.exec_driver_sql(
        f"CREATE TEMPORARY TABLE {name} ON COMMIT DROP AS"
        f" SELECT {_names(columns)} FROM {table.name} WITH NO DATA"
    )
    _copy(connection, name, columns, rows)
    return name


def _copy(
    connection: Connection, into: str, columns: Sequence[Column[Any]], rows: Sequence[Row]
) -> None:
    raw: Any = connection.connection.driver_connection
    statement = f"COPY {into} ({_names(columns)}) FROM STDIN (FORMAT BINARY)"
    with raw.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types([_copied_as(column) for column in columns])
        write = copy.write_row
        for row in rows:
            write(row)


def _copied_as(column: Column[Any]) -> str:
    match column.type:
        case BigInteger():
            return "int8"
        case Integer():
            return "int4"
        case Boolean():
            return "bool"
        case LargeBinary():
            return "bytea"
        case _:
            return "text"
