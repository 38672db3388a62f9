"""The views of a replica: read where they have what an answer must have."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager

from sqlalchemy import Connection

from beliefledger.ledger.errors import BackendUnavailable, BackendUnusable
from beliefledger.ledger.replica import PATIENCE, Lacking, Question, Replica, Seen
from beliefledger.ledger.store import Head
from beliefledger.projections.view_databases import Home
from beliefledger.projections.view_tables import ViewState, states

Known = Mapping[str, ViewState]


class ReplicaViews:
    """Views that somebody else folds: the primary's writers. `home` is where the replica has
    them, `head` the statement that tells what it has of the log."""

    def __init__(self, replica: Replica, home: Home, head: str) -> None:
        self.replica = replica
        self.home = home
        self._head = head

    @contextmanager
    def caught_up(
        self,
        question: Question,
        head: Head,
        names: Collection[str],
        types: Collection[str],
        folded: Callable[[], Known],
    ) -> Iterator[tuple[Connection, Known]]:
        """A consistent read of views that have what the answer must have; with how all views are.

        `head` is the primary's, `types` are of the events that these views fold, `folded` tells how
        the primary's are. Raises `Lacking` where the replica does not have it in time; at once
        where the primary does not have it either, since somebody has to fold it.
        """
        replica = self.replica
        least, bound = replica.least(question, types), -1
        until = time.monotonic() + PATIENCE
        while True:
            with self._reading() as (connection, known, seen):
                replica.check(seen)
                lowest = _lowest(known, names)
                if lowest < head.position and bound < 0:
                    bound = replica.bound(head)
                erased = seen.erasures >= head.erasures
                if erased and lowest >= max(least, bound):
                    question.views_asked = True
                    replica.found()
                    yield connection, known
                    return
            if _lowest(folded(), names) < max(least, bound):
                raise Lacking
            try:
                replica.wait(until)
            except Lacking:
                if lowest < bound:
                    raise replica.behind() from None
                raise

    @contextmanager
    def _reading(self) -> Iterator[tuple[Connection, Known, Seen]]:
        begun = False
        try:
            with self.home.reading() as connection:
                seen = Seen(*connection.exec_driver_sql(self._head).one())
                known = states(connection)
                begun = True
                yield connection, known, seen
        except (BackendUnavailable, BackendUnusable) as problem:
            if begun:  # cut off in the middle, perhaps as one that kept the replica from following
                raise
            raise self.replica.lost(problem) from problem

    def close(self) -> None:
        self.home.close()


def _lowest(known: Known, names: Collection[str]) -> int:
    """How far all of these views are. Raises `Lacking` for one that is not there, or stopped."""
    found = [known.get(name) for name in names]
    if any(each is None or each.stopped_at is not None for each in found):
        raise Lacking
    return min(each.position for each in found if each is not None)
