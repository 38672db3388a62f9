"""What a view is: a fold from events to rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from sqlalchemy import Connection, Table

from beliefledger.ledger.codec import Recorded

Tagger = Callable[[str, str, str | None], str | None]
"""(subject_ref, kind, text) → the text's tag under the subject's key; None for None."""


class View(Protocol):
    """A disposable fold of the log.

    `apply` takes the events in order of position and only changes memory; `flush` writes what came
    of them. An exception from `apply` stops this view at that event. Any body may be destroyed, and
    every fold is total over such tombstones: what the envelope says still counts.
    """

    name: str
    types: frozenset[str]
    """The names of the events that it is folded from; it is given no others."""
    of_bodies: bool
    """Whether rows depend on more than envelopes: those of somebody living, of whom some bodies
    were erased, are then folded anew."""

    def tables(self, generation: int) -> Sequence[Table]: ...

    def start(self, generation: int, *, empty: bool) -> None:
        """Forget what is kept in memory. `empty` promises that the tables have no rows yet."""
        ...

    def apply(self, event: Recorded, connection: Connection) -> None: ...

    def forget(self, subject_ref: str) -> None:
        """Let go of all that there is of a subject, in memory at once and in the tables when they
        are written next. What outlives an erasure by design stays."""
        ...

    def flush(self, connection: Connection) -> None: ...
