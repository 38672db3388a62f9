"""Telling the log how far the vault's register goes.

A vault can be set back, or have its end cut off; a log that is signed and witnessed cannot, unseen.
So the log is told the register's last serial and the chain over all of it, whenever it has grown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from beliefledger.ledger.codec import New, Recorded
from beliefledger.ledger.events.ops import VaultCommitted
from beliefledger.ledger.log import Log, new_id
from beliefledger.ledger.register import End
from beliefledger.ledger.streams import ops_stream
from beliefledger.ledger.vault import SYSTEM
from beliefledger.ledger.vault_notes import Committed


class RegisterCommitment(NamedTuple):
    """What the log was told at a position; `restored` where the vault had been restored."""

    position: int
    serial: int
    digest: str
    restored: bool

    @classmethod
    def of(cls, position: int, facts: dict[str, object]) -> RegisterCommitment:
        serial, digest = facts["serial"], facts["digest"]
        assert isinstance(serial, int)
        assert isinstance(digest, str)
        return cls(position, serial, digest, facts["restored"] is True)


def commit(log: Log) -> bool:
    """Record in the log how far the register goes, if it has grown since the last time. True if it
    did."""

    def attempt() -> bool:
        end = log.vault.registered()
        last, version = _last(log)
        if end.serial <= last:
            return False
        _tell(log, end, version, SYSTEM, restored=False)
        return True

    return log.decide_again(attempt)


def commit_restored(log: Log, *, actor: str = SYSTEM) -> bool:
    """Put on record that the vault was restored from a backup, if the register does not go on from
    what the log was told; True if it was. From here on it has to go on from this."""

    def attempt() -> bool:
        chains = log.vault.check().chains
        recorded = log.read_stream(ops_stream(log.tenant))
        version = recorded[-1].version if recorded else 0
        if broken(in_force(_commitments(recorded)), chains) is None:
            return False
        end = End(len(chains), chains[-1] if chains else "")
        _tell(log, end, version, actor, restored=True)
        return True

    return log.decide_again(attempt)


def in_force(commitments: Sequence[RegisterCommitment]) -> list[RegisterCommitment]:
    """The commitments that the register must continue: those since it was last restored on
    record."""
    found: list[RegisterCommitment] = []
    for each in commitments:
        if each.restored:
            found.clear()
        found.append(each)
    return found


def broken(commitments: Sequence[RegisterCommitment], chains: Sequence[str]) -> str | None:
    """In what the register does not go on from these; `chains` are after each of its entries."""
    for each in commitments:
        if each.serial > len(chains):
            return (
                f"the register has {len(chains)} entries, and the log was told of {each.serial} at"
                f" position {each.position}"
            )
        if each.serial and chains[each.serial - 1] != each.digest:
            return (
                f"the register does not begin with the {each.serial} entries that the log was told"
                f" of at position {each.position}"
            )
    return None


def _tell(log: Log, end: End, version: int, actor: str, *, restored: bool) -> None:
    stream = ops_stream(log.tenant)
    happened = VaultCommitted(serial=end.serial, digest=end.digest, restored=restored)
    log.append([New(happened, new_id(), stream, None, actor)], {stream: version})
    log.vault.notes.note_committed(log.tenant, Committed(end.serial, version + 1))


def _last(log: Log) -> tuple[int, int]:
    """The last register serial recorded in the log, and the version of the ops stream."""
    stream = ops_stream(log.tenant)
    noted = log.vault.notes.committed(log.tenant)
    if noted is not None:  # so that only what came after it has to be read
        recorded = log.read_stream(stream, noted.version - 1)
        told = _commitments(recorded[:1])
        if told and told[0].serial == noted.serial:
            return _commitments(recorded)[-1].serial, recorded[-1].version
    recorded = log.read_stream(stream)
    told = _commitments(recorded)
    return told[-1].serial if told else 0, recorded[-1].version if recorded else 0


def _commitments(recorded: Sequence[Recorded]) -> list[RegisterCommitment]:
    return [
        RegisterCommitment.of(each.position, dict(each.facts))
        for each in recorded
        if each.type == VaultCommitted.NAME
    ]
