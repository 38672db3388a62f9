"""How long it takes to put a vault under another master key."""

from __future__ import annotations

from collections.abc import Iterator

from beliefledger.ledger.encryption import new_key
from beliefledger.ledger.key_rotation import RotationNote
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.vault import Vault
from beliefledger.tools.bench.measure import Measured, Run, Target, seconds

_SUBJECTS = 100_000
_PAGE = 10_000


def rotating(run: Run) -> Iterator[Measured]:
    """Seconds for every key of the vault, in one commit."""
    subjects = max(_PAGE // 10, _SUBJECTS * run.sizes.people // 1_000)
    place = run.place("rotating")
    place.mkdir()
    master = MasterKey(new_key())
    vault = Vault(place / "keys.db", master)
    try:
        run.tell("registering")
        for start in range(0, subjects, _PAGE):
            upto = min(start + _PAGE, subjects)
            vault.register("default", [f"person {number}" for number in range(start, upto)])
        taken = []
        for number in run.rounds("rotating"):
            new = MasterKey(new_key())
            taken.append(seconds(vault.rotate, new, RotationNote(f"{number:032x}", "system")))
    finally:
        vault.close()
    if Vault(place / "keys.db", new).dump().keys[-1][2] != new.id:
        raise RuntimeError("The vault is not under the new key.")
    note = f"{subjects:,} subjects, SQLite"
    yield Measured("rotation of the master key", "s", taken, Target("≤", 2), note=note)
