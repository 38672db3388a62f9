"""How many rows of each kind a view has, kept beside its position, so that nobody counts them.

What is kept says of which state of the view it is: an older program moves a view on and keeps no
numbers. Then the view's tables are counted, once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Protocol, TypeGuard

from sqlalchemy import Connection

from beliefledger.ledger import canonical
from beliefledger.projections.view import View
from beliefledger.projections.view_tables import At, ViewState


class Counted(View, Protocol):
    """A view of whose rows it is told how many there are of each kind."""

    changes: Counter[str]
    """By how much each number changed with what was flushed since it was last written."""

    def count(self, connection: Connection, generation: int) -> dict[str, int]:
        """Count the rows of the tables."""
        ...


def is_counted(view: View) -> TypeGuard[Counted]:
    """As `isinstance` would tell, which takes a tenth of the time that a ledger takes to open."""
    return hasattr(view, "changes") and hasattr(view, "count")


class Counts:
    """The numbers of the views that are counted, as a projector moves them on."""

    def __init__(self, views: Iterable[View]) -> None:
        self._views = {view.name: view for view in views if is_counted(view)}

    def of(self, connection: Connection, state: ViewState) -> dict[str, int]:
        """The numbers of a view as it is in its tables; none for one that is not counted."""
        view = self._views.get(state.name)
        if view is None:
            return {}
        kept = {} if state.counts is None else canonical.decode(state.counts)
        if kept.get("at") == list(state.at):
            numbers: dict[str, int] = kept["of"]
            return numbers
        return view.count(connection, state.generation)

    def wrong(self, connection: Connection, state: ViewState) -> str | None:
        """The first number that is kept and is not what a count of the tables says."""
        view = self._views.get(state.name)
        if view is None:
            return None
        kept, there = self.of(connection, state), view.count(connection, state.generation)
        for kind in sorted(kept.keys() | there.keys()):
            if kept.get(kind, 0) != there.get(kind, 0):
                return f"{state.name} kept {kept.get(kind, 0)} {kind}, has {there.get(kind, 0)}"
        return None

    def filled(self, connection: Connection, name: str, at: At) -> str | None:
        """What is kept of a generation that was filled."""
        view = self._views.get(name)
        return None if view is None else _text(at, view.count(connection, at[0]))

    def moved(self, name: str, before: Mapping[str, int], at: At) -> str | None:
        """What is kept after a flush that brought a view there, given the numbers before."""
        view = self._views.get(name)
        if view is None:
            return None
        after = Counter(before)
        after.update(view.changes)
        view.changes = Counter()
        return _text(at, after)


def _text(at: At, numbers: Mapping[str, int]) -> str:
    told = {kind: number for kind, number in numbers.items() if number}
    return canonical.encode({"at": list(at), "of": told}).decode()
