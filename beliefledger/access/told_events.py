"""Events as somebody outside is told of them: no more of each than their role may see."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Any

from beliefledger.access.roles import may
from beliefledger.exports.event_lines import EventDocuments
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.events.subject import ContentErased, SubjectErased

ERASED = frozenset({SubjectErased.NAME, ContentErased.NAME})
"""What tells that somebody's words, or some of them, are gone: never filtered out."""
_NAMES_SECONDS = 1.0
"""So long names are remembered, as long as bodies that were read: on a server each is asked for."""


class ToldEvents:
    """Turns events into the documented JSON for one role, and for everybody or some subjects.

    Whoever may follow the log gets bodies (auditors, admins). Everybody else gets the envelope with
    its facts, which say nothing personal, and asks for words through the gate. Names of people and
    of who acted are told to roles that may ask for them, and those of the subjects whom it is for.
    """

    def __init__(
        self,
        name_of: Callable[[str | None], str | None],
        actor_name: Callable[[str], str],
        role: str,
        subjects: Collection[str] | None = None,
    ) -> None:
        self.bodies = may(role, (), "subscribe")
        self._subjects = subjects
        self._names = may(role, (), "name_of") or subjects is not None
        self._actors = may(role, (), "actor_name")
        self._name_of = name_of
        self._actor_name = actor_name
        self._made: EventDocuments | None = None
        self._made_at = 0.0

    def concerns(self, event: Recorded) -> bool:
        """Whether it is about somebody whom this is for. What is about nobody is for who is told of
        everybody."""
        return self._subjects is None or event.subject_ref in self._subjects

    def of(self, event: Recorded) -> dict[str, Any]:
        """The document of an event, as of now: of who was erased meanwhile, a tombstone."""
        now = time.monotonic()
        if self._made is None or event.type in ERASED or now > self._made_at + _NAMES_SECONDS:
            # What it remembers of names must not outlive an erasure.
            name_of = self._name_of if self._names else _nobody
            self._made = EventDocuments(name_of, self._actor_name if self._actors else str)
            self._made_at = now
        return self._made.of(event, bodies=self.bodies)


def wanted(event: Recorded, types: Collection[str], outcomes: Collection[str]) -> bool:
    """Whether a follower with these filters is told of an event. Outcomes sort out what has one;
    erasures are told whatever the filters say."""
    if event.type in ERASED:
        return True
    outcome = event.facts.get("outcome")
    return event.type in types and (not outcomes or outcome is None or outcome in outcomes)


def _nobody(_ref: str | None) -> str | None:
    return None
