"""The fence around a ledger in a Postgres that is moved: triggers on the head and on the cursors.

Both need the owner's rights.
"""

from __future__ import annotations

from psycopg.sql import SQL, Identifier

from beliefledger.ledger.fence import Fence
from beliefledger.ledger.postgres.faults import MOVED
from beliefledger.ledger.postgres.schema import owner_role
from beliefledger.ledger.postgres.server import Connection, Server

_TRIGGER = "moved_refuses_writes"
_TABLES = {"head": "UPDATE", "consumers": "INSERT OR UPDATE OR DELETE"}
"""What every writer of the log and every consumer writes, and how."""
_PATIENCE = "5s"


def put_up(server: Server, fence: Fence) -> None:
    """All who write now end first; whoever comes after is refused. Raises `HeldUp` where one does
    not end."""
    schema = server.url.schema
    with server.connection() as connection, connection.transaction():
        _as_owner(connection, schema)
        connection.execute(
            SQL(
                "CREATE OR REPLACE FUNCTION {}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                " RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = {}; END $$"
            ).format(Identifier(schema, _TRIGGER), MOVED)
        )
        for table, writes in _TABLES.items():
            connection.execute(
                SQL(
                    "CREATE OR REPLACE TRIGGER {} BEFORE {} ON {} FOR EACH ROW"
                    " EXECUTE FUNCTION {}({})"
                ).format(
                    Identifier(_TRIGGER),
                    SQL(writes),
                    Identifier(schema, table),
                    Identifier(schema, _TRIGGER),
                    fence.refusal,
                )
            )
        _note(connection, schema, fence.note)


def take_down(server: Server) -> None:
    """Let everybody write again."""
    schema = server.url.schema
    with server.connection() as connection, connection.transaction():
        _as_owner(connection, schema)
        for table in _TABLES:
            connection.execute(
                SQL("DROP TRIGGER IF EXISTS {} ON {}").format(
                    Identifier(_TRIGGER), Identifier(schema, table)
                )
            )
        connection.execute(SQL("DROP FUNCTION IF EXISTS {}").format(Identifier(schema, _TRIGGER)))
        _note(connection, schema, None)


def _as_owner(connection: Connection, schema: str) -> None:
    connection.execute(
        "SELECT set_config('role', %s, true), set_config('synchronous_commit', 'on', true),"
        " set_config('lock_timeout', %s, true)",
        (owner_role(schema), _PATIENCE),
    )


def _note(connection: Connection, schema: str, note: str | None) -> None:
    connection.execute(SQL("COMMENT ON TABLE {} IS {}").format(Identifier(schema, "head"), note))
