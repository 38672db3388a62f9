"""Events for subscribers: which are wanted, as JSON, with the bodies that may be told."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Header, Query

from beliefledger.access.principal import Principal
from beliefledger.client.events import EventPage, ToldEvent
from beliefledger.exports.event_lines import EventDocuments
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.errors import InvalidQuery, NotPermitted
from beliefledger.ledger.event_names import named
from beliefledger.memory import MemoryLedger
from beliefledger.tools.server.api.endpoint import Text, endpoint
from beliefledger.tools.server.api.outlet import WITHHELD, Outlet
from beliefledger.tools.server.api.table import weight
from beliefledger.tools.server.caller import Caller

STREAM = "text/event-stream"
LOOK_SECONDS = 2.0
"""So long one page is looked for: a filter that nothing fits ends it, with the position reached."""
_OF_TURN = ("turn.", "candidate.", "gate.", "extraction.")
_OF_MEMORY = ("memory.", "memories.consolidated", "consolidation.")
_NO_WORDS_OF_TURNS = (
    "subject.", "consent.", "erasure.", "content.", "legal_hold.", "team.", "policy.", "type.",
    "principal.", "token.", "tool.", "access.", "request.", "job.", "embedder.", "master_key.",
    "signing_key.", "consumer.", "vault.", "ledger.", "memories.recalled",
)  # fmt: skip
"""Events whose bodies have nothing that was said: who may subscribe is told them."""


_BY_REFERENCE = "What was recorded of them is told by subject_ref, the reference told before."

Page = tuple[list[dict[str, Any]], int, bool]
"""Events as JSON, the position that was reached, and whether it is the end."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events a subscriber gets."""

    principal: Principal
    types: frozenset[str] | None
    refs: frozenset[str] | None
    """Of these people; None: of everybody, and of nobody."""
    outcome: str | None
    bodies: bool
    newcomer: str | None = None
    """The name whose events are wanted, where nobody had it yet; `refs` is empty then."""

    def fits(self, event: Recorded) -> bool:
        """Whether an event fits, whoever it is about."""
        return (self.types is None or event.type in self.types) and (
            self.outcome is None or event.facts.get("outcome") == self.outcome
        )


@dataclass(slots=True)
class Follow:
    """A stream that is asked for: what is wanted, and past which position."""

    wanted: Wanted
    reached: int


class Events:
    """Events of a ledger as subscribers are told them."""

    def __init__(self, memory: MemoryLedger) -> None:
        self._memory = memory
        self._outlet = Outlet(memory)

    def page(
        self, wanted: Wanted, after: int, limit: int
    ) -> tuple[list[dict[str, Any]], int, bool]:
        """Up to so many past a position, the position that was reached, and whether it is the
        end."""
        found: list[Recorded] = []
        fits = self.fitting(wanted)
        types = None if wanted.types is None else sorted(wanted.types)
        end = False
        with self._memory.subscribe(after, types=types or ["*"], follow=False) as events:
            enough = threading.Timer(LOOK_SECONDS, events.close)
            enough.start()
            try:
                while len(found) < limit:
                    event = next(events, None)
                    if event is None:
                        end = enough.is_alive()
                        break
                    if fits(event):
                        found.append(event)
            finally:
                enough.cancel()
            return self.documents(wanted, found), events.position, end

    def fitting(self, wanted: Wanted) -> Callable[[Recorded], bool]:
        """Tells which of some events, each of which was read already, are wanted."""
        return _Fitting(self._memory, wanted)

    def documents(self, wanted: Wanted, events: Sequence[Recorded]) -> list[dict[str, Any]]:
        """Events as JSON, as far as they may be told now."""
        told = EventDocuments(self._memory.name_of, self._memory.actor_name)
        words = self._words(events) if wanted.bodies else {}
        return [self._document(wanted, event, told, words) for event in events]

    def _document(
        self, wanted: Wanted, event: Recorded, told: EventDocuments, words: dict[str, str]
    ) -> dict[str, Any]:
        made = told.of(event)
        body, withheld = made["body"], False
        if event.subject_ref is not None and made["subject"] is None:
            body, made["destroyed"] = None, True  # erased since it was read
        elif not wanted.bodies:
            body = None
        elif body:
            body = _allowed(event, body, words)
            withheld = body is None
        return made | {"body": body, "withheld": withheld}

    def _words(self, events: Iterable[Recorded]) -> dict[str, str]:
        return self._outlet.words(_gated(each) or "" for each in events)


class _Fitting:
    """Which events are wanted. A name that nobody had is looked up again for each person whose
    events come: theirs may be the first of whoever has it now."""

    def __init__(self, memory: MemoryLedger, wanted: Wanted) -> None:
        self._memory = memory
        self._wanted = wanted
        self._refs = wanted.refs
        self._others: set[str] = set()

    def __call__(self, event: Recorded) -> bool:
        if not self._wanted.fits(event):
            return False
        ref = event.subject_ref
        if self._refs is None or ref in self._refs:
            return True
        name = self._wanted.newcomer
        if name is None or self._refs or ref is None or ref in self._others:
            return False
        with suppress(NotPermitted):  # erased meanwhile
            known = self._memory.tokens.subject(name)
            self._refs = frozenset() if known is None else frozenset({known})
        self._others.add(ref)
        return ref in self._refs


def _gated(event: Recorded) -> str | None:
    """The turn or memory whose standing says whether a body may be told."""
    if event.type.startswith(_OF_TURN):
        return event.stream
    if event.type.startswith(_OF_MEMORY):
        found: str | None = event.facts.get("memory_id")
        return found
    return None


def _allowed(event: Recorded, body: dict[str, Any], words: dict[str, str]) -> dict[str, Any] | None:
    """What of a body may be told; None for nothing."""
    if event.type.startswith(_NO_WORDS_OF_TURNS):
        return body
    said = words.get(_gated(event) or "")
    if said is None:
        return None
    if event.type.startswith("turn.recorded"):
        return body | {"content": said, **({} if said == body["content"] else {"metadata": {}})}
    return None if event.type.startswith(_OF_TURN) and WITHHELD in said else body


@endpoint("GET", "/events", "subscribe", media=STREAM, answered=EventPage)
def events(
    caller: Caller,
    after: Annotated[int, Query(ge=0, lt=2**53)] = 0,
    types: Annotated[
        list[str] | None, Query(max_length=100, description="Names, or patterns as memory.*")
    ] = None,
    subject: Text = None,
    subject_ref: Text = None,
    outcome: Text = None,
    bodies: bool = False,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    accept: Annotated[str, Header(max_length=1_000)] = "",
    last_event_id: Annotated[str | None, Header(alias="Last-Event-ID", max_length=20)] = None,
) -> EventPage | Follow:
    """Events past a position: a page of them, or, for who accepts text/event-stream, a stream that
    goes on. An event's id in the stream is its position, and Last-Event-ID goes on behind it. A
    token for some people is told their events alone."""
    people = _people(caller, subject, subject_ref)
    wanted = Wanted(
        caller.principal,
        None if types is None else named(types),
        people,
        outcome,
        bodies,
        newcomer=subject if people == frozenset() else None,
    )
    if last_event_id:
        if not last_event_id.isascii() or not last_event_id.isdecimal():
            raise InvalidQuery("Last-Event-ID: it is a position, a whole number.")
        after = int(last_event_id)
    if weight(accept, STREAM) > 0:
        caller.memory.subscribe(after).close()  # says so where there is no such position
        return Follow(wanted, after)
    items, position, end = Events(caller.memory).page(wanted, after, limit)
    return EventPage.model_construct(
        items=[ToldEvent.model_construct(**each) for each in items], position=position, end=end
    )


def _people(caller: Caller, subject: str | None, ref: str | None) -> frozenset[str] | None:
    """The references of those whose events are wanted. Raises `NotPermitted`."""
    allowed = caller.principal.subjects
    if ref is not None:  # also of somebody who was erased, under the reference known before
        if allowed is not None and ref not in allowed:
            raise NotPermitted("This token is not for that subject.")
        return frozenset({ref})
    if subject is not None:
        try:
            caller.subject(subject)
        except NotPermitted as problem:
            if allowed is None:  # whoever is unknown is let through
                raise NotPermitted(f"{problem} {_BY_REFERENCE}") from problem
            raise
        return frozenset() if caller.subject_ref is None else frozenset({caller.subject_ref})
    return allowed
