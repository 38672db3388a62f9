"""A Postgres server for a whole run of tests, and the places of ledgers on it."""

from __future__ import annotations

import itertools
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

import psycopg
import pytest
from stores import MASTER

from beliefledger.ledger.log import Log
from beliefledger.ledger.postgres import schema
from beliefledger.ledger.postgres import vault as postgres_vault
from beliefledger.ledger.postgres.server import TENANT_SETTING, PostgresURL, Server, is_postgres
from beliefledger.opening.build import WordTagger, all_views
from beliefledger.projections.postgres import PostgresHome
from beliefledger.projections.projector import Projector
from beliefledger.projections.vectors import VectorStore

if TYPE_CHECKING:
    from beliefledger import MemoryLedger

SCHEMAS = 12
"""So many ledgers share a database. It is then made anew: what a Postgres asks of its catalogue,
and so the opening of a ledger, takes the longer the more there is in it."""

_TEMPLATE = "empty_ledgers"
_COPIED = f"TEMPLATE {_TEMPLATE} STRATEGY FILE_COPY"
_ROLES = """
SELECT rolname, rolsuper, rolcanlogin, rolcreaterole, rolcreatedb, rolbypassrls, rolinherit,
    ARRAY (SELECT roleid::regrole::text FROM pg_auth_members WHERE member = r.oid ORDER BY 1),
    ARRAY (SELECT member::regrole::text FROM pg_auth_members WHERE roleid = r.oid ORDER BY 1),
    ARRAY (SELECT setconfig::text FROM pg_db_role_setting WHERE setrole = r.oid ORDER BY 1)
FROM pg_roles r WHERE rolname ~ '^test_' ORDER BY rolname
"""


def free_port() -> int:
    """A port of loopback for a server that has to be told one."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


class Cluster:
    """Places of ledgers in the database `postgres` of a server, each in a schema of its own.

    Some have their tables already, which are copied from a template: to make them takes as long
    as most tests do. All others get a name that is used once, since the roles that go with it are
    of the whole server.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self._given = itertools.count(1)
        self._since = 0
        self._lasting = 0
        """How many ledgers there are that outlive a test."""
        self._ready: list[str] = []
        self._roles: list[Any] | None = None
        """The roles of the template's schemas, once there is one."""

    def new(self) -> str:
        """The URL of a ledger that is not made yet."""
        self._since += 1
        return f"{self.uri}&schema=test_{next(self._given)}"

    @contextmanager
    def lasting(self) -> Iterator[str]:
        """As `ready`, for several tests: in a database of its own, which stays when the other is
        thrown away."""
        if self._roles is None:
            self.renew(anew=True)
        name = f"lasting_{next(self._given)}"
        with self._elsewhere() as connection:
            connection.execute(f"CREATE DATABASE {name} {_COPIED}")
        self._lasting += 1
        try:
            yield f"{self.uri.replace('/postgres?', f'/{name}?')}&schema={_NAMES[0]}"
        finally:
            self._lasting -= 1
            with self._elsewhere() as connection:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def ready(self) -> str:
        """The URL of a ledger whose tables are there and empty: nobody has opened it yet.

        Where a test takes more of them than there are, of one that is not made yet.
        """
        if self._roles is None:
            self.renew(anew=True)
        self._since += 1
        return self._ready.pop() if self._ready else self.new()

    def renew(self, *, anew: bool = False) -> None:
        """Throw the database away once it is full. To be called between tests."""
        if self._since < SCHEMAS and not anew:
            return
        self._since = 0
        with self._elsewhere() as connection:
            connection.execute("DROP DATABASE postgres WITH (FORCE)")
            keep = [] if self._roles is None else [name for name, *_ in self._roles]
            self._drop_roles(connection, keep)
            changed = self._roles is not None and self._roles != _roles(connection)
            if anew or (changed and not self._lasting):
                self._make_template(connection)
                changed = False
            # A new template would need the roles that a lasting ledger has: not before its end.
            copies = self._roles is not None and not changed
            connection.execute(f"CREATE DATABASE postgres {_COPIED if copies else ''}")
        self._ready = [f"{self.uri}&schema={name}" for name in _NAMES] if copies else []

    @contextmanager
    def _elsewhere(self) -> Iterator[psycopg.Connection[Any]]:
        elsewhere = self.uri.replace("/postgres?", "/template1?")
        with closing(psycopg.connect(elsewhere, autocommit=True)) as connection:
            yield connection

    def _make_template(self, connection: psycopg.Connection[Any]) -> None:
        """Make it, or make it again after a test that changed something about its roles."""
        connection.execute(f"DROP DATABASE IF EXISTS {_TEMPLATE} WITH (FORCE)")
        self._drop_roles(connection, [])
        connection.execute(f"CREATE DATABASE {_TEMPLATE}")
        there = self.uri.replace("/postgres?", f"/{_TEMPLATE}?")
        for name in _NAMES:
            make_tables(f"{there}&schema={name}")
        self._roles = _roles(connection)

    def _drop_roles(self, connection: psycopg.Connection[Any], keep: list[str]) -> None:
        for name, *_ in _roles(connection):
            if name not in keep:
                with suppress(psycopg.errors.DependentObjectsStillExist):
                    connection.execute(f"DROP ROLE {name}")


_NAMES = [f"test_ready_{number}" for number in range(1, SCHEMAS + 1)]


def _roles(connection: psycopg.Connection[Any]) -> list[Any]:
    """The roles of tests, and what else the server knows of each."""
    return connection.execute(_ROLES).fetchall()


@contextmanager
def lasting_place(request: pytest.FixtureRequest, made: pytest.TempPathFactory) -> Iterator[str]:
    """A place for several tests, on the backend that a fixture has as its parameter. Nobody has
    opened a ledger there yet; its keys are where the environment says."""
    with _lasting(request, made) as place, keys_told(place, made):
        yield place


@contextmanager
def lasting_ledger(
    request: pytest.FixtureRequest, made: pytest.TempPathFactory, **opened_with: Any
) -> Iterator[MemoryLedger]:
    """A ledger for several tests, on the backend that a fixture has as its parameter. Only while it
    is opened the environment says its keys: tests beside it open ledgers with keys of their own."""
    from beliefledger import open_memory

    with _lasting(request, made) as place:
        with keys_told(place, made):
            memory = open_memory(place, **opened_with)
        with memory:
            yield memory


@contextmanager
def _lasting(request: pytest.FixtureRequest, made: pytest.TempPathFactory) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(made.mktemp("lasting") / "ledger")
        return
    cluster: Cluster = request.getfixturevalue("cluster")
    with cluster.lasting() as place:
        yield place


@contextmanager
def keys_told(place: str, made: pytest.TempPathFactory) -> Iterator[None]:
    """A ledger on a server has no directory for its keys: the environment says them."""
    with pytest.MonkeyPatch.context() as patch:
        if is_postgres(place):
            patch.setenv("BELIEFLEDGER_MASTER_KEY", MASTER.key.hex())
            patch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(made.mktemp("keys") / "signing.key"))
        yield


def make_tables(url: str) -> None:
    """Make all that opening a ledger makes before it writes anything: log, vault and views."""
    server = Server(PostgresURL.parse(url))
    try:
        schema.init(server)
        postgres_vault.init(server)
        name, app = server.url.schema, schema.app_role(server.url.schema)
        views = schema.views_schema(name, server.url.tenant)
        home = PostgresHome(server.connect, views, app, server.url.tenant, TENANT_SETTING)
        nothing = cast("Log", None)  # which only a fold would read
        projector = Projector(nothing, home, all_views(WordTagger(nothing)))
        VectorStore(home)  # makes the tables that the first search would
        projector.home.close()
    finally:
        server.close()
