"""What a view is: a fold from events to rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from sqlalchemy import Connection, Table

from beliefledger.ledger.codec import Recorded

FIRST_GENERATION = 1
"""The generation of a view's first tables, which most ledgers still use."""
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
    """The names of the events that it folds; it gets no others."""
    of_bodies: bool
    """Whether rows depend on bodies. If so, a living subject's rows are folded again after some of
    their bodies were erased."""

    def tables(self, generation: int) -> Sequence[Table]: ...

    def start(self, generation: int, *, empty: bool) -> None:
        """Forget what is kept in memory. `empty` promises that the tables have no rows yet."""
        ...

    def apply(self, event: Recorded, connection: Connection) -> None: ...

    def forget(self, subject_ref: str) -> None:
        """Delete a subject: in memory at once, in the tables with the next flush. What outlives an
        erasure by design stays."""
        ...

    def flush(self, connection: Connection) -> None: ...
