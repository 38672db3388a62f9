"""Opening a ledger in a directory."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from beliefledger.ledger import key_rotation
from beliefledger.ledger.errors import LogCorrupted
from beliefledger.ledger.faults import file_fault
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.proofs.tiles import DirectoryTiles
from beliefledger.ledger.sqlite import SQLiteEventStore
from beliefledger.ledger.vault import Vault
from beliefledger.opening.place import (
    DEFAULT_TENANT,
    KEY_FILE,
    PROOFS,
    NoLedger,
    Opened,
    key_file,
    master_key,
    may_make_vault,
)
from beliefledger.opening.signing import Signing, key_place
from beliefledger.opening.vaults import other_vault
from beliefledger.projections.projector import open_projector
from beliefledger.projections.view_databases import SQLiteHome
from beliefledger.settings import Settings


def open_directory(path: Path, settings: Settings, *, create: bool) -> Opened:
    if not create and not (path / "log.db").exists():
        if (path / "keys.db").exists():
            raise LogCorrupted(
                f"{path / 'log.db'} is missing, and the vault beside it is there: put the file"
                " back, or restore the newest backup."
            )
        raise NoLedger(f"There is no ledger at {path}.")
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        (path / "views").mkdir(exist_ok=True, mode=0o700)
    except OSError as problem:
        raise file_fault(f"{path} cannot be a ledger", problem) from problem
    file = settings.master_key_file or path / KEY_FILE
    keys = path / "keys.db"
    master, made = master_key(settings, file, lambda: not create or keys.exists())

    def is_new() -> bool:
        return create and not (path / "log.db").exists()

    def vault_under(master: MasterKey) -> Vault:
        vault = other_vault(settings, master, DEFAULT_TENANT, is_new)
        if vault is None:
            may_make_vault(keys.exists, is_new, str(keys))
            vault = Vault(keys, master)
        return vault

    with ExitStack() as opened:  # what was opened is closed again when a later step fails
        vault, master = key_rotation.opened(key_file(settings, file), master, vault_under)
        opened.callback(vault.close)
        store = SQLiteEventStore(path / "log.db")
        opened.pop_all()
    return Opened(
        path,
        store,
        vault,
        DEFAULT_TENANT,
        lambda log, views: open_projector(log, path / "views" / "views.db", views),
        lambda: SQLiteHome(path / "views" / "views.db"),
        master,
        made,
        Signing(store, lambda: DirectoryTiles(path / PROOFS), key_place(settings, path)),
    )
