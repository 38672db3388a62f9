"""All events of a ledger as lines of JSON, with their bodies opened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import orjson

from beliefledger.exports.event_units import in_units
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.times import iso

PAGE = 200
"""How many events are in memory at a time."""


class EventDocuments:
    """Events as the documented JSON, with the names of whom they are about and who acted."""

    def __init__(
        self, name_of: Callable[[str | None], str | None], actor_name: Callable[[str], str]
    ) -> None:
        self._name_of = name_of
        self._actor_name = actor_name
        self._actors: dict[str, str] = {}
        self._subjects: dict[str | None, str | None] = {}

    def of(self, event: Recorded, *, bodies: bool = True) -> dict[str, Any]:
        """Scores are from 0 to 1, times ISO 8601. `body` is null where it is destroyed or there is
        none, as `destroyed` tells; and everywhere without `bodies`."""
        body = event.event.split()[1] if bodies and event.event is not None else None
        return {
            "position": event.position,
            "type": event.type,
            "event_id": event.event_id,
            "stream": event.stream,
            "version": event.version,
            "subject": self._subject(event.subject_ref),
            "subject_ref": event.subject_ref,
            "actor": self._actor(event.actor),
            "recorded_at": iso(event.recorded_at),
            "causation": event.causation,
            "correlation": event.correlation,
            "facts": in_units(event.type, event.facts),
            "body": body and in_units(event.type, body),
            "destroyed": event.event is None,
        }

    def lines(self, pages: Iterable[Sequence[Recorded]]) -> Iterator[str]:
        """One line for each event of pages of the log. Who is erased meanwhile is erased from there
        on."""
        for page in pages:
            self._subjects.clear()  # somebody may have been erased since the page before
            for event in page:
                yield orjson.dumps(self.of(event)).decode() + "\n"

    def _actor(self, actor: str) -> str:
        if actor not in self._actors:
            self._actors[actor] = self._actor_name(actor)
        return self._actors[actor]

    def _subject(self, ref: str | None) -> str | None:
        if ref not in self._subjects:
            self._subjects[ref] = self._name_of(ref)
        return self._subjects[ref]
