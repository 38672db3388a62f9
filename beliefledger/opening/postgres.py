"""A ledger in a schema of a Postgres."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from beliefledger.ledger.errors import CallerMistake, KeyMissing, NotPermitted
from beliefledger.ledger.log import Log
from beliefledger.ledger.postgres import schema
from beliefledger.ledger.postgres import vault as postgres_vault
from beliefledger.ledger.postgres.server import TENANT_SETTING, Connection, PostgresURL, Server
from beliefledger.ledger.postgres.standby import Standby
from beliefledger.ledger.postgres.store import PostgresEventStore
from beliefledger.ledger.postgres.tiles import PostgresTiles
from beliefledger.ledger.replica import Replica
from beliefledger.opening.backend import Backend, Opening
from beliefledger.opening.place import NO_DIRECTORY, NoLedger, Opened, Version
from beliefledger.opening.vaults import vault_place
from beliefledger.projections.postgres import PostgresHome
from beliefledger.projections.projector import Projector
from beliefledger.projections.replica_views import ReplicaViews
from beliefledger.projections.view import View
from beliefledger.settings import LIBRARY_WITHOUT_LOCK, VAULT, Settings

SHARED_FATE = (
    "The vault lies in the same database as the log, so a backup of one is a backup of the other,"
    f" and an erased person's key comes back with it: give the vault a place of its own ({VAULT})."
)


class Schema(Backend):
    """A schema for the log, one for its vault, and one of views for each tenant."""

    def __init__(self, url: PostgresURL) -> None:
        self._url = url

    def exists(self) -> bool:
        """Raises `BackendUnavailable` for a server that does not answer."""
        with self._server() as server:
            return schema.there(server)

    def has_vault(self) -> bool:
        with self._server() as server:
            return postgres_vault.there(server)

    def begin(self, settings: Settings, *, create: bool) -> Opening:
        _refuse_unsafe_modes(settings)
        server = Server(self._url)
        try:
            if not create and not schema.there(server):
                raise NoLedger(f"There is no ledger at {self._url}.")
        except BaseException:  # closed again, whatever it is
            server.close()
            raise
        return _OnServer(server, settings.master_key_file)

    def prepare(self, settings: Settings) -> None:
        """Make the roles and schemas of the log that are not there, or are of an older version."""
        _refuse_unsafe_modes(settings)
        if settings.master_key is None and settings.master_key_file is None:
            raise KeyMissing(NO_DIRECTORY)
        with self._server() as server:
            schema.init(server)

    def names(self, settings: Settings) -> list[str]:
        """What there is of the roles and schemas that a ledger needs, its vault's included."""
        url = self._url
        log = [schema.owner_role(url.schema), schema.app_role(url.schema)]
        views = schema.views_schema(url.schema, url.tenant)
        vault = self._vault(settings)
        if vault is None:
            return _there(url, log, [url.schema, views])
        its = [schema.vault_schema(vault.schema)]
        if vault.conninfo == url.conninfo:
            log = list(dict.fromkeys([*log, schema.app_role(vault.schema)]))
            return _there(url, log, [url.schema, views, *its])
        there = _there(vault, [schema.app_role(vault.schema)], its)
        return _there(url, log, [url.schema, views]) + [f"{name} at {vault}" for name in there]

    def rights(self, settings: Settings) -> list[str]:
        """That of a vault elsewhere is for there."""
        url = self._url
        granted = [f"GRANT {schema.app_role(url.schema)} TO login;"]
        vault = self._vault(settings)
        if vault is not None and (vault.conninfo, vault.schema) != (url.conninfo, url.schema):
            granted.append(f"GRANT {schema.app_role(vault.schema)} TO login;  -- at {vault}")
        return granted

    def log_version(self) -> Version:
        with self._server() as server, server.connection() as connection:
            return Version(schema.version(connection, self._url.schema), schema.steps)

    def vault_version(self) -> Version:
        with self._server() as server:
            return Version(postgres_vault.version(server), postgres_vault.steps)

    def upgrade(self, settings: Settings, open_: Callable[[], Opened]) -> None:
        """The log's schema, and the vault's where it is on a server too. To open it is not needed:
        the owner may have no key."""
        with self._server() as server:
            with server.connection() as connection:
                found = schema.version(connection, self._url.schema)
            if found < schema.VERSION or not schema.there(server):  # else any login may ask
                schema.migrate(server)
        vault = self._vault(settings)
        if vault is not None and Schema(vault).has_vault():
            with closing(Server(vault, size=1)) as server:
                postgres_vault.init(server)

    @contextmanager
    def _server(self) -> Iterator[Server]:
        """For a question or two."""
        with closing(Server(self._url, size=1)) as server:
            yield server

    def _vault(self, settings: Settings) -> PostgresURL | None:
        """The server that the vault is on, if it is on one."""
        place = vault_place(self._url, settings)
        return None if isinstance(place, Path) else place


class _OnServer(Opening):
    def __init__(self, server: Server, key_file: Path | None) -> None:
        self.tenant = server.url.tenant
        self.directory = None
        self.key_file = key_file
        self._server = server

    def has_vault(self) -> bool:
        return postgres_vault.there(self._server)

    def make(self) -> None:
        if not schema.there(self._server):  # a login of the app alone could not
            schema.init(self._server)

    def check(self) -> None:
        schema.check(self._server)

    def is_new(self) -> bool:
        """Whether the tenant has no events."""
        return not self._server.ask(f"SELECT 1 FROM {self._server.url.schema}.history LIMIT 1")

    def store(self) -> PostgresEventStore:
        return PostgresEventStore(self._server)

    def tiles(self) -> PostgresTiles:
        return PostgresTiles(self._server)

    def home(self) -> PostgresHome:
        return self._home_by(self._server.connect)

    def _home_by(self, connect: Callable[[], Connection]) -> PostgresHome:
        url = self._server.url
        return PostgresHome(
            connect,
            schema.views_schema(url.schema, url.tenant),
            schema.app_role(url.schema),  # whoever makes a table, all logins are to use it
            url.tenant,
            TENANT_SETTING,
            replicated=url.read is not None,
        )

    def replica(self) -> Replica | None:
        url = self._server.url
        return None if url.read is None else Replica(Standby(self._server), url.read_lag)

    def views(self, log: Log, views: Sequence[View]) -> Projector:
        there, replica = None, log.replica
        if replica is not None and isinstance(replica.source, Standby):
            home = self._home_by(replica.source.connect)
            there = ReplicaViews(replica, home, replica.source.head)
        return Projector(log, self.home(), views, there)

    def warnings(self, *, vault_beside: bool) -> Sequence[str]:
        return *([SHARED_FATE] if vault_beside else []), *schema.warnings(self._server)

    def close(self) -> None:
        self._server.close()


def has_other_tenants(url: PostgresURL) -> bool:
    """Whether other tenants than this one have their ledgers in the same schema."""
    server = Server(url, size=1)
    try:
        rows = server.ask_plain(
            "SELECT 1 FROM pg_namespace WHERE nspname <> %s AND nspname ~ %s LIMIT 1",
            (
                schema.views_schema(url.schema, url.tenant),
                f"^{url.schema}_views(_[0-9a-f]{{12}})?$",
            ),
        )
        return bool(rows)
    finally:
        server.close()


def is_same(one: PostgresURL, other: PostgresURL) -> bool:
    """Whether both are one ledger, however their URLs are written.

    Asked of the server: a lock belongs to one database, so one of the same database that the other
    connection holds cannot be had.
    """
    if (one.schema, one.tenant) != (other.schema, other.tenant):
        return False
    key = (secrets.randbits(63),)
    first, second = Server(one, size=1), Server(other, size=1)
    try:
        with first.connection() as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s::bigint)", key)
            [(had,)] = second.ask_plain("SELECT pg_try_advisory_xact_lock(%s::bigint)", key)
            return not had
    finally:
        first.close()
        second.close()


def refuse_stranger(store: PostgresEventStore) -> None:
    """Refuse a login that may not write history just as another log has it."""
    name = schema.owner_role(store.server.url.schema)
    [(may,)] = store.server.ask_plain("SELECT pg_has_role(current_user, %s, 'MEMBER')", (name,))
    if not may:
        raise NotPermitted(
            f"Copying to {store.server} needs the rights of its owner: log in as a member of"
            f" {name}, or as whoever ran `beliefledger init`."
        )


def _there(url: PostgresURL, roles: list[str], schemas: list[str]) -> list[str]:
    server = Server(url, size=1)
    try:
        rows = server.ask_plain(
            "SELECT 'role ' || rolname FROM pg_roles WHERE rolname = ANY (%s)"
            " UNION ALL SELECT 'schema ' || nspname FROM pg_namespace WHERE nspname = ANY (%s)"
            " ORDER BY 1",
            (roles, schemas),
        )
        return [row[0] for row in rows]
    finally:
        server.close()


def _refuse_unsafe_modes(settings: Settings) -> None:
    if settings.library_without_lock:
        raise CallerMistake(
            f"{LIBRARY_WITHOUT_LOCK} is set. In that mode eventsourcing appends without a lock, and"
            " followers lose events that commit out of order: unset it."
        )
