"""Events as a server tells them, and the lines of a stream of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict


class ToldEvent(BaseModel):
    """An event. `body` is None where it was not asked for, is `destroyed`, or is `withheld` by the
    gate of the way out; `subject_ref` stays when a person is erased, and `subject` goes.

    >>> from beliefledger import ToldEvent
    >>> def is_tombstone(event: ToldEvent) -> bool:
    ...     return event.destroyed and event.subject is None
    """

    model_config = ConfigDict(frozen=True)

    position: int
    type: str
    event_id: str
    stream: str
    version: int
    subject: str | None
    subject_ref: str | None
    actor: str
    recorded_at: str
    causation: str | None
    correlation: str | None
    facts: dict[str, Any]
    body: dict[str, Any] | None
    destroyed: bool
    withheld: bool


class EventPage(BaseModel):
    """Some events in order. `position` is how far the log was looked at: go on `after` it; `end`
    tells that there was no more then."""

    model_config = ConfigDict(frozen=True)

    items: list[ToldEvent]
    position: int
    end: bool


class Lines:
    """Reads server-sent events line by line; `reached` is where to go on after a break."""

    def __init__(self, reached: int) -> None:
        self.reached = reached
        self._id = reached
        self._data: list[str] = []

    def begin(self) -> None:
        """A new connection: what came of a last event without its end is dropped."""
        self._id, self._data = self.reached, []

    def events(self, line: str) -> Iterator[ToldEvent]:
        """What is complete with this line. `reached` is past it once it was taken."""
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id" and value.isdecimal():
            self._id = int(value)
        elif name == "data":
            self._data.append(value)
        elif not line:
            text, self._data = "\n".join(self._data), []
            if text:
                yield ToldEvent.model_validate_json(text)
            self.reached = max(self.reached, self._id)
