"""Making the schema, and bringing an older one up to date.

Two roles own and use it: `<schema>_owner` has the tables, `<schema>_app` may read, append and
delete bodies. A login that is a member of the app's role alone cannot change history.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files

from psycopg.sql import SQL, Identifier

from beliefledger.ledger.errors import BackendUnusable, OlderLedger, OlderProgram
from beliefledger.ledger.postgres.server import DEFAULT_TENANT, Connection, Server

_HERE = files(__package__)
MIGRATIONS = sorted(
    each.name for each in (_HERE / "migrations").iterdir() if each.name.endswith(".sql")
)


def _number(migration: str) -> int:
    return int(migration.partition("_")[0])


VERSION = _number(MIGRATIONS[-1])


def owner_role(schema: str) -> str:
    return f"{schema}_owner"


def app_role(schema: str) -> str:
    return f"{schema}_app"


def vault_schema(schema: str) -> str:
    return f"{schema}_vault"


def views_schema(schema: str, tenant: str) -> str:
    """Where a tenant's views are: in a schema of its own, since each tenant rebuilds alone."""
    if tenant == DEFAULT_TENANT:
        return f"{schema}_views"
    return f"{schema}_views_{hashlib.sha256(tenant.encode()).hexdigest()[:12]}"


def channel(schema: str) -> str:
    """The notification channel that says that the log has grown."""
    return f"{schema}_log"


def init(server: Server) -> bool:
    """Make what is not there and bring what is older up to date; True if anything was done.

    Safe to do again, and twice at once. Needs the rights to make roles and schemas, once.
    """
    with _alone(server) as connection:
        before = version(connection, server.url.schema)
        if before == VERSION and _views_there(connection, server):
            return False
        _make_roles(connection, server.url.schema)
        with _as_owner(connection, server.url.schema):
            _migrate(connection, server.url.schema, before)
        _make_views(connection, server)
        _let_end(connection, server.url.schema)
    return True


def migrate(server: Server, upto: int = VERSION) -> tuple[int, int]:
    """Run the migrations that are missing; returns the versions before and after.

    Raises `OlderProgram` for a schema that a newer beliefledger made.
    """
    with _alone(server) as connection:
        before = version(connection, server.url.schema)
        if before == 0:
            _make_roles(connection, server.url.schema)
        if before < upto:
            with _as_owner(connection, server.url.schema):
                _migrate(connection, server.url.schema, before, upto)
        _make_views(connection, server)
        _let_end(connection, server.url.schema)
    return before, max(before, upto)


def steps(before: int) -> list[str]:
    """What the migrations from a version to the newest do."""
    return [
        f"{_number(name)}: {first_line(f'migrations/{name}')}"
        for name in MIGRATIONS
        if _number(name) > before
    ]


def first_line(file: str) -> str:
    """The description on the first line of an SQL file."""
    text = (_HERE / file).read_text("utf-8")
    return text.splitlines()[0].removeprefix("-- ").rstrip(".")


def check(server: Server) -> None:
    """Refuse a schema of another version, and let a connection that could do more act as the app.

    Raises `BackendUnusable`, `OlderLedger` and `OlderProgram`, which say what to do.
    """
    with server.connection() as connection:
        found = version(connection, server.url.schema)
        if found == 0:
            raise BackendUnusable(f"There is no ledger at {server}: run `beliefledger init`.")
        if found < VERSION:
            raise OlderLedger(
                f"The ledger at {server} has version {found} of its format, and this beliefledger"
                f" needs {VERSION}."
            )
        server.checks_version(lambda asked: version(asked, server.url.schema))
        if not _views_there(connection, server):
            raise BackendUnusable(
                f"The ledger at {server} does not know this tenant yet: run `beliefledger init`"
                " with the same URL as the database's owner."
            )
        [(isolation,)] = connection.execute("SHOW default_transaction_isolation")
        if isolation != "read committed":
            raise BackendUnusable(
                f"At {server} transactions are {isolation} by default, and appending needs read"
                " committed: ALTER ROLE … SET default_transaction_isolation = 'read committed'."
            )
        app = app_role(server.url.schema)
        could_do_more = connection.execute(
            "SELECT pg_has_role(current_user, %s, 'USAGE') OR rolsuper OR rolbypassrls"
            " FROM pg_roles WHERE rolname = current_user",
            (owner_role(server.url.schema),),
        ).fetchone()
        server.act_as(app if could_do_more and could_do_more[0] else None)


def warnings(server: Server) -> list[str]:
    """Settings of the server that put acknowledged events at risk."""
    rows = server.ask_plain(
        "SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes')"
        " AND setting = 'off' ORDER BY name"
    )
    told = [
        f"The server runs with {name} off: what it acknowledged can be lost with its power."
        for (name,) in rows
    ]
    owner = owner_role(server.url.schema)
    [(able,)] = server.ask_plain("SELECT pg_has_role(%s, 'pg_signal_backend', 'USAGE')", (owner,))
    if not able:
        told.append(
            "A login that takes its turn to write and does not go on stops all others until its"
            f" session is ended. So that the others can end it: GRANT pg_signal_backend TO {owner};"
        )
    return told


def there(server: Server) -> bool:
    """Whether the ledger has been made, in any version."""
    with server.connection() as connection:
        return version(connection, server.url.schema) > 0 and _views_there(connection, server)


def version(connection: Connection, schema: str) -> int:
    """The version of the schema that is there; 0 for none."""
    found = connection.execute(
        "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = %s",
        (schema,),
    ).fetchone()
    noted = re.search(r"version (\d+)", (found and found[0]) or "")
    known = int(noted[1]) if noted else 0
    if known > VERSION:
        raise OlderProgram.of(f"The schema {schema}", known, VERSION)
    return known


@contextmanager
def _alone(server: Server) -> Iterator[Connection]:
    """A transaction under a lock, so that only one process at a time makes or changes the
    schema."""
    with server.connection() as connection, connection.transaction():
        connection.execute(
            "SELECT set_config('lock_timeout', '60s', true),"
            " pg_advisory_xact_lock(hashtextextended(%s, 0))",
            (f"beliefledger schema {server.url.schema}",),
        )
        yield connection


@contextmanager
def _as_owner(connection: Connection, schema: str) -> Iterator[None]:
    connection.execute(SQL("SET LOCAL ROLE {}").format(Identifier(owner_role(schema))))
    yield
    connection.execute("RESET ROLE")


def _make_roles(connection: Connection, schema: str) -> None:
    owner, app = Identifier(owner_role(schema)), Identifier(app_role(schema))
    for role in (owner_role(schema), app_role(schema)):
        # Roles belong to the cluster: another database's ledger may be making the same one.
        connection.execute(
            SQL(
                "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {name}) THEN"
                " CREATE ROLE {role} NOLOGIN; END IF;"
                " EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
            ).format(name=role, role=Identifier(role))
        )
    for each in (owner, app):
        connection.execute(
            SQL(
                "DO $$ BEGIN IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)"
                " THEN GRANT {} TO CURRENT_USER; END IF; END $$"
            ).format(each)
        )
    connection.execute(
        SQL("CREATE SCHEMA IF NOT EXISTS {} AUTHORIZATION {}").format(Identifier(schema), owner)
    )


def _let_end(connection: Connection, schema: str) -> None:
    """Let the owner's function end who stops all writers. Not everybody who runs `init` may give
    that right, and without it all else works: `warnings` says what is to be run."""
    connection.execute(
        SQL(
            "DO $$ BEGIN IF NOT pg_has_role({name}, 'pg_signal_backend', 'USAGE')"
            " THEN GRANT pg_signal_backend TO {owner}; END IF;"
            " EXCEPTION WHEN insufficient_privilege THEN NULL; END $$"
        ).format(name=owner_role(schema), owner=Identifier(owner_role(schema)))
    )


def _make_views(connection: Connection, server: Server) -> None:
    schema, tenant = server.url.schema, server.url.tenant
    connection.execute(
        SQL("CREATE SCHEMA IF NOT EXISTS {} AUTHORIZATION {}").format(
            Identifier(views_schema(schema, tenant)), Identifier(app_role(schema))
        )
    )


def _views_there(connection: Connection, server: Server) -> bool:
    name = views_schema(server.url.schema, server.url.tenant)
    found = connection.execute("SELECT FROM pg_namespace WHERE nspname = %s", (name,))
    return found.fetchone() is not None


def _migrate(connection: Connection, schema: str, before: int, upto: int = VERSION) -> None:
    """Run the migrations between two versions; from none, they make the schema."""
    filled = {
        "schema": schema,
        "owner": owner_role(schema),
        "app": app_role(schema),
        "channel": channel(schema),
    }
    scripts = [
        (_HERE / "migrations" / name).read_text("utf-8")
        for name in MIGRATIONS
        if before < _number(name) <= upto
    ]
    # The URL only lets names through that need no quotes.
    connection.execute(re.sub(r"@(\w+)@", lambda m: filled[m[1]], "\n".join(scripts)))
    _note(connection, schema, upto)


def _note(connection: Connection, schema: str, reached: int) -> None:
    connection.execute(
        SQL("COMMENT ON SCHEMA {} IS {}").format(
            Identifier(schema), f"beliefledger, version {reached}"
        )
    )
