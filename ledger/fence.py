"""The fence around a ledger that is moved to another place: how it is marked, and what it says.

The database itself refuses from then on: a trigger stands before every write of the log and of the
cursors, whichever process writes. Beside the triggers lies a note, where the mark of an unfinished
copy would lie. An open ledger needs to know nothing of it: what it writes is refused by
`LedgerMoved`, and what it reads stays right until something is written at the other place.
"""

from __future__ import annotations

import json
from dataclasses import asdict

from beliefledger.ledger.dataclass import dataclass

MARK = "moved: "
"""Begins what the triggers say."""


@dataclass(frozen=True, slots=True)
class Fence:
    """Which move put it up, and where the ledger goes, without passwords."""

    move: str
    to: str

    @property
    def note(self) -> str:
        return json.dumps({"fence": asdict(self)})

    @classmethod
    def read(cls, note: str | None) -> Fence | None:
        """The fence that a note tells of; None for a note of something else."""
        try:
            fields = json.loads(note or "{}")["fence"]
            return cls(fields["move"], fields["to"])
        except (ValueError, KeyError, TypeError):
            return None

    @property
    def told(self) -> str:
        """In a sentence, for errors and for `status`."""
        return f"Nothing is written here any more: this ledger moves, or has moved, to {self.to}."

    @property
    def refusal(self) -> str:
        """What the triggers say."""
        return MARK + self.told


def told_by(refusal: str) -> str | None:
    """The sentence in what a database says, where it is the fence that speaks."""
    _, mark, told = refusal.partition(MARK)
    return told if mark else None
