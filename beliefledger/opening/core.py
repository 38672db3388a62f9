"""What an open ledger is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from beliefledger.gate.rulebook import Rulebook
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import UnknownMemory
from beliefledger.ledger.log import Log
from beliefledger.ledger.made_once import made_once
from beliefledger.ledger.names import check_actor
from beliefledger.ledger.times import Clock
from beliefledger.ledger.vault import Vault
from beliefledger.opening.place import Place
from beliefledger.opening.recorder import Recorder
from beliefledger.opening.signing import Signing
from beliefledger.projections.embedding import Embedder, MiniLM
from beliefledger.projections.projector import Projector
from beliefledger.settings import Settings

if TYPE_CHECKING:  # whoever uses none of these need not wait for them
    from beliefledger.gate.entity_stewardship import EntitySteward
    from beliefledger.gate.extractor import Extractor
    from beliefledger.gate.gate import Gate
    from beliefledger.gate.replay import Replayer
    from beliefledger.gate.stewardship import Steward
    from beliefledger.opening.witness_client import Witnessed


class Identified(Protocol):
    """A key, of which only the id is told."""

    @property
    def id(self) -> str: ...


@dataclass(frozen=True)
class MasterKeyInForce:
    """The master key of a vault, whoever rotates it meanwhile."""

    vault: Vault

    @property
    def id(self) -> str:
        return self.vault.master_key.id


@dataclass(frozen=True)
class Core:
    """What an open ledger is made of. All that can be asked of it is built on this."""

    place: Place
    """The directory, or the URL (without its password when printed)."""
    clock: Clock
    settings: Settings

    log: Log
    rulebook: Rulebook
    make_gate: Callable[[], Gate]
    extractor: Extractor
    """The one that the ledger was opened with; `gate.reader` may have got another."""
    projector: Projector
    tagger: Callable[[str, str, str | None], str | None]
    master_key: Identified
    made_key_file: Path | None
    forget_words: Callable[[], None]
    """Empties the caches that hold words or keys of ids."""
    warnings: tuple[str, ...]
    """What an operator should change about where things lie."""
    writable: bool
    """False for an unfinished copy."""
    signing: Signing
    """The tree over the log, and the key that signs it."""
    witness: Witnessed | None
    """Whom every head of the log is shown to."""
    recorder: Recorder
    """Records what was recalled, off the reader's path."""
    embedder: Embedder = field(default_factory=MiniLM)
    """Tells rephrasings; loads its model on first use."""
    given_embedder: Embedder | None = None
    """The one that search was given as an object, until another is adopted."""

    @made_once
    def gate(self) -> Gate:
        """Who only asks what is believed has no gate made, and none imported."""
        return self.make_gate()

    @property
    def current_extractor(self) -> Extractor:
        """The one that reads turns now."""
        return self.gate.reader.extractor if "gate" in vars(self) else self.extractor

    def let_go_of_model(self) -> None:
        """Close the connection to the extractor's model, if it has one."""
        close = getattr(self.current_extractor, "close", None)
        if close is not None:
            close()

    @made_once
    def steward(self) -> Steward:
        """What named people do with beliefs and consents."""
        from beliefledger.gate.stewardship import Steward  # noqa: PLC0415

        return Steward(self.gate)

    @made_once
    def director(self) -> EntitySteward:
        """What named people do with entities."""
        from beliefledger.gate.entity_stewardship import EntitySteward  # noqa: PLC0415

        return EntitySteward(self.gate)

    @made_once
    def replayer(self) -> Replayer:
        """Makes decisions again."""
        from beliefledger.gate.replay import Replayer  # noqa: PLC0415

        return Replayer(self.log, self.rulebook)

    def known_subject(self, subject: str) -> str:
        """The reference of somebody who is known. Raises `UnknownMemory`, and `NotPermitted` for
        somebody who was erased."""
        ref = self.log.subject(subject)
        if ref is None:
            raise UnknownMemory(
                f"Nothing is known about {subject!r}. List who is: beliefledger subjects."
            )
        return ref

    def actor(self, name: str) -> str:
        """The reference under which a principal acts. Raises `NotPermitted` without a name."""
        return self.log.principal(check_actor(name))
