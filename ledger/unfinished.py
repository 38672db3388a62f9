"""A copy that was begun and not completed: how it is marked, and how its parts are only read.

The mark is kept by the store that is copied to, from before the first event until after the last
comparison. It names the source; the command to go on with is made of it by whoever opens the copy.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn, TypeVar

from beliefledger.ledger.errors import CopyUnfinished, LogCorrupted
from beliefledger.ledger.keystore import Transaction, VaultDatabase
from beliefledger.ledger.store import Cursor, Cursors

T = TypeVar("T")


class Unfinished(NamedTuple):
    """The source of an unfinished copy: the arguments of the command, without passwords."""

    source: str
    vault: str | None = None
    tenant: str | None = None
    """Whose ledger is moved by it, where it is more than a copy; then `move` is the move's id."""
    move: str | None = None

    @property
    def note(self) -> str:
        moved = {} if self.move is None else {"tenant": self.tenant, "move": self.move}
        return json.dumps({"source": self.source, "vault": self.vault, **moved})

    @classmethod
    def read(cls, note: str) -> Unfinished:
        """Raises `LogCorrupted`."""
        try:
            fields = json.loads(note)
            said = fields["source"], fields["vault"], fields.get("tenant"), fields.get("move")
            return cls(*said)
        except (ValueError, KeyError, TypeError) as problem:
            raise LogCorrupted("The mark of an unfinished copy cannot be read.") from problem

    def command(self, destination: str) -> str:
        """What to run to complete the copy at `destination`."""
        words = ["beliefledger", "ops", "copy", self.source, destination]
        if self.tenant is not None:
            words = ["beliefledger", "tenant", "move", self.tenant, "--to", destination]
        if self.vault is not None:
            words += ["--vault", self.vault]
        return shlex.join(words)

    def told(self, destination: str) -> str:
        """In a sentence, for errors and for `status`."""
        return (
            f"{destination} is an unfinished copy of {self.source}: complete it with"
            f" `{self.command(destination)}`, adding the passwords that the URLs need."
        )


class ReadOnlyCursors:
    """Cursors that can be looked at and not moved."""

    def __init__(self, cursors: Cursors, why: str) -> None:
        self._cursors = cursors
        self._why = why

    def all(self) -> list[Cursor]:
        return self._cursors.all()

    def claim(self, name: str, holder: str, seconds: float) -> Cursor | None:
        self._refuse()

    def renew(self, name: str, epoch: int, seconds: float) -> bool:
        self._refuse()

    def acknowledge(self, name: str, epoch: int, position: int) -> bool:
        self._refuse()

    def release(self, name: str, epoch: int) -> None:
        self._refuse()

    def restore(self, name: str, position: int, since: int = 0) -> None:
        self._refuse()

    def rewind(self, name: str, position: int) -> bool:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise CopyUnfinished(self._why)


class ReadOnlyVault:
    """The database of a vault, that can be asked and not written."""

    def __init__(self, database: VaultDatabase, why: str) -> None:
        self.database = self._database = database
        self._why = why

    def __str__(self) -> str:
        return str(self._database)

    @property
    def tenant(self) -> str | None:
        return self._database.tenant

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        return self._database.rows(statement, values)

    def write(self, work: Callable[[Transaction], T]) -> T:
        raise CopyUnfinished(self._why)

    def changed(self, mark: int | None) -> bool:
        return self._database.changed(mark)

    def damage(self) -> str | None:
        return self._database.damage()

    def rewired(self) -> str | None:
        return self._database.rewired()

    def scrub(self) -> None:
        raise CopyUnfinished(self._why)

    def close(self) -> None:
        self._database.close()
