"""Opening a ledger on a Postgres."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from ledger.errors import BackendUnavailable, CallerMistake
from ledger.log import Log
from ledger.masterkey import MasterKey
from ledger.postgres import schema
from ledger.postgres import vault as postgres_vault
from ledger.postgres.server import TENANT_SETTING, PostgresURL, Server
from ledger.postgres.store import PostgresEventStore
from ledger.vault import Vault
from projections.postgres import PostgresHome
from projections.projector import Projector
from projections.view import View
from tools.places import Opened, master_key, other_vault
from tools.settings import LIBRARY_WITHOUT_LOCK, VAULT, Settings

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


def open_server(url: PostgresURL, settings: Settings, *, create: bool) -> Opened:
    _refuse_unsafe_modes(settings)
    with ExitStack() as opened:
        server = Server(url)
        opened.callback(server.close)
        if not create and not schema.there(server):
            raise BackendUnavailable(f"There is no ledger at {url}.")
        file = settings.master_key_file
        master, made = master_key(settings, file, lambda: postgres_vault.there(server))
        if create:
            _make(server)
        schema.check(server)
        vault = other_vault(settings, master, url.tenant)
        shared = vault is None
        if vault is None:
            vault = open_vault(url, master)
        opened.callback(vault.close)
        store = PostgresEventStore(server)
        opened.pop_all()

    def views(log: Log, views: Sequence[View]) -> Projector:
        home = PostgresHome(
            server.connect,
            schema.views_schema(url.schema, url.tenant),
            server.acts_as,
            url.tenant,
            TENANT_SETTING,
        )
        return Projector(log, home, views)

    warnings = (*([SHARED_FATE] if shared else []), *schema.warnings(server))
    return Opened(url, store, vault, url.tenant, views, master, made, warnings)


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


def open_vault(url: PostgresURL, master: MasterKey) -> Vault:
    server = Server(url, size=4)
    try:
        if not postgres_vault.there(server):
            postgres_vault.init(server)
        database = postgres_vault.PostgresVault(server)
    except BaseException:
        server.close()
        raise
    return Vault(database, master)
