"""Who asks: finds out with whom they share a team, and so what they may see."""

from __future__ import annotations

from beliefledger.ledger.errors import InvalidQuery
from beliefledger.opening.core import Core
from beliefledger.projections import teams
from beliefledger.projections.teams import TeamsView
from beliefledger.reading.queries import Queries
from beliefledger.reading.replicas import asked_of_primary
from beliefledger.reading.sight import Sight


class Readers:
    """Tells who may see what."""

    def __init__(self, core: Core, queries: Queries) -> None:
        self._core = core
        self._queries = queries

    def sight(self, reader: object, as_of: int | None = None) -> Sight | None:
        """What a person may see, by the teams that they are in now (or were in at a position); None
        where it is not said who asks. Raises `InvalidQuery` for somebody nobody knows, and
        `NotPermitted` for somebody who was erased."""
        if reader is None:
            return None
        if not isinstance(reader, str) or not reader.strip():
            raise InvalidQuery("reader: name the person who asks; leave it out for the subject.")
        ref = self._core.log.subject(reader)
        if ref is None:
            raise InvalidQuery(
                f"reader: nobody here is known as {reader!r}. A person is known once a turn of"
                " theirs is recorded, or once they are in a team: beliefledger teams add."
            )
        with (
            asked_of_primary(self._core.log),  # what somebody may see is never late
            self._queries.view(TeamsView.name) as (connection, generation),
        ):
            mates = teams.mates(connection, generation, ref, as_of)
        return Sight(ref, mates, self._core.rulebook.refreshed().policy.scopes)
