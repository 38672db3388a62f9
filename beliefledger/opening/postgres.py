"""Opening a ledger on a Postgres."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from beliefledger.ledger import key_rotation
from beliefledger.ledger.errors import CallerMistake, KeyMissing, NotPermitted
from beliefledger.ledger.log import Log
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.postgres import schema
from beliefledger.ledger.postgres import vault as postgres_vault
from beliefledger.ledger.postgres.server import TENANT_SETTING, PostgresURL, Server
from beliefledger.ledger.postgres.store import PostgresEventStore
from beliefledger.ledger.postgres.tiles import PostgresTiles
from beliefledger.ledger.vault import Vault
from beliefledger.opening.place import (
    NO_DIRECTORY,
    NoLedger,
    Opened,
    Version,
    key_file,
    master_key,
    place_of,
)
from beliefledger.opening.signing import Signing, key_place
from beliefledger.opening.vaults import open_vault, other_vault
from beliefledger.projections.postgres import PostgresHome
from beliefledger.projections.projector import Projector
from beliefledger.projections.view import View
from beliefledger.projections.view_databases import Home
from beliefledger.settings import LIBRARY_WITHOUT_LOCK, VAULT, Settings

SHARED_FATE = (
    "The vault lies in the same database as the log, so a backup of one is a backup of the other,"
    f" and an erased person's key comes back with it: give the vault a place of its own ({VAULT})."
)


def exists(url: PostgresURL) -> bool:
    """Whether there is a ledger. Raises `BackendUnavailable` for a server that does not answer."""
    server = Server(url, size=1)
    try:
        return schema.there(server)
    finally:
        server.close()


def has_vault(url: PostgresURL) -> bool:
    """Whether there is a vault beside the ledger."""
    server = Server(url, size=1)
    try:
        return postgres_vault.there(server)
    finally:
        server.close()


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


def prepare(url: PostgresURL, settings: Settings) -> None:
    """Make the roles and schemas of the log that are not there, or are of an older version."""
    _refuse_unsafe_modes(settings)
    if settings.master_key is None and settings.master_key_file is None:
        raise KeyMissing(NO_DIRECTORY)
    server = Server(url, size=1)
    try:
        schema.init(server)
    finally:
        server.close()


def names(url: PostgresURL, settings: Settings) -> list[str]:
    """What there is of the roles and schemas that a ledger needs, its vault's included."""
    log = [schema.owner_role(url.schema), schema.app_role(url.schema)]
    views = schema.views_schema(url.schema, url.tenant)
    vault = _vault(url, settings)
    if vault is None:
        return _there(url, log, [url.schema, views])
    its = [schema.vault_schema(vault.schema)]
    if vault.conninfo == url.conninfo:
        log = list(dict.fromkeys([*log, schema.app_role(vault.schema)]))
        return _there(url, log, [url.schema, views, *its])
    there = _there(vault, [schema.app_role(vault.schema)], its)
    return _there(url, log, [url.schema, views]) + [f"{name} at {vault}" for name in there]


def _vault(url: PostgresURL, settings: Settings) -> PostgresURL | None:
    """The server that the vault is on, if it is on one."""
    place = url if settings.vault is None else place_of(settings.vault)
    return replace(place, tenant=url.tenant) if isinstance(place, PostgresURL) else None


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


def rights(url: PostgresURL, settings: Settings) -> list[str]:
    """The statements that let a login work with the ledger. That of a vault elsewhere is for
    there."""
    granted = [f"GRANT {schema.app_role(url.schema)} TO login;"]
    vault = _vault(url, settings)
    if vault is not None and (vault.conninfo, vault.schema) != (url.conninfo, url.schema):
        granted.append(f"GRANT {schema.app_role(vault.schema)} TO login;  -- at {vault}")
    return granted


def upgrade(url: PostgresURL, settings: Settings) -> None:
    """Bring the log's schema up to date, and the vault's where it is on a server too."""
    server = Server(url, size=1)
    try:
        with server.connection() as connection:
            found = schema.version(connection, url.schema)
        if found < schema.VERSION or not schema.there(server):  # else any login may ask
            schema.migrate(server)
    finally:
        server.close()
    vault = _vault(url, settings)
    if vault is not None and has_vault(vault):
        server = Server(vault, size=1)
        try:
            postgres_vault.init(server)
        finally:
            server.close()


def log_version(url: PostgresURL) -> Version:
    server = Server(url, size=1)
    try:
        with server.connection() as connection:
            return Version(schema.version(connection, url.schema), schema.steps)
    finally:
        server.close()


def vault_version(url: PostgresURL) -> Version:
    server = Server(url, size=1)
    try:
        return Version(postgres_vault.version(server), postgres_vault.steps)
    finally:
        server.close()


def refuse_stranger(store: PostgresEventStore) -> None:
    """Refuse a login that may not write history just as another log has it."""
    name = schema.owner_role(store.server.url.schema)
    [(may,)] = store.server.ask_plain("SELECT pg_has_role(current_user, %s, 'MEMBER')", (name,))
    if not may:
        raise NotPermitted(
            f"Copying to {store.server} needs the rights of its owner: log in as a member of"
            f" {name}, or as whoever ran `beliefledger init`."
        )


def open_server(url: PostgresURL, settings: Settings, *, create: bool) -> Opened:
    _refuse_unsafe_modes(settings)
    with ExitStack() as opened:
        server = Server(url)
        opened.callback(server.close)
        if not create and not schema.there(server):
            raise NoLedger(f"There is no ledger at {url}.")
        file = settings.master_key_file
        master, made = master_key(
            settings, file, lambda: not create or postgres_vault.there(server)
        )
        if create:
            _make(server)
        schema.check(server)

        def is_new() -> bool:
            return create and not _has_events(server)

        def vault_under(master: MasterKey) -> Vault:
            vault = other_vault(settings, master, url.tenant, is_new)
            return open_vault(url, master, is_new) if vault is None else vault

        shared = settings.vault is None
        vault, master = key_rotation.opened(key_file(settings, file), master, vault_under)
        opened.callback(vault.close)
        store = PostgresEventStore(server)
        opened.pop_all()

    def home() -> Home:
        return PostgresHome(
            server.connect,
            schema.views_schema(url.schema, url.tenant),
            schema.app_role(url.schema),  # whoever makes a table, all logins are to use it
            url.tenant,
            TENANT_SETTING,
        )

    def views(log: Log, views: Sequence[View]) -> Projector:
        return Projector(log, home(), views)

    warnings = (*([SHARED_FATE] if shared else []), *schema.warnings(server))
    signing = Signing(store, lambda: PostgresTiles(server), key_place(settings, None))
    return Opened(url, store, vault, url.tenant, views, home, master, made, signing, warnings)


def _refuse_unsafe_modes(settings: Settings) -> None:
    if settings.library_without_lock:
        raise CallerMistake(
            f"{LIBRARY_WITHOUT_LOCK} is set. In that mode eventsourcing appends without a lock, and"
            " followers lose events that commit out of order: unset it."
        )


def _make(server: Server) -> None:
    """Make what is missing, if anything is: a login of the app alone could not."""
    if not schema.there(server):
        schema.init(server)


def _has_events(server: Server) -> bool:
    """Whether the tenant has any."""
    return bool(server.ask(f"SELECT 1 FROM {server.url.schema}.history LIMIT 1"))
