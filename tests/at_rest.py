"""What a ledger leaves on a disk or in a database, byte by byte."""

from __future__ import annotations

from pathlib import Path

import psycopg

from beliefledger.ledger.postgres.server import PostgresURL


def at_rest(place: Path | str) -> list[bytes]:
    """Every file of a ledger's directory, or every row of its schemas."""
    if "://" not in str(place):
        return [each.read_bytes() for each in Path(place).rglob("*") if each.is_file()]
    url = PostgresURL.parse(str(place))
    with psycopg.connect(url.conninfo) as connection:
        tables = connection.execute(
            "SELECT quote_ident(table_schema) || '.' || quote_ident(table_name)"
            " FROM information_schema.tables"
            " WHERE table_schema LIKE %s AND table_type = 'BASE TABLE'",
            (f"{url.schema}%",),
        ).fetchall()
        assert tables
        return [
            str(row).encode()
            for (table,) in tables
            for row in connection.execute(f"SELECT t::text FROM {table} t").fetchall()
        ]
