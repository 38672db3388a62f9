"""Turns in the gate: receipts, turns that wait, and turns as decisions see them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import overload

from beliefledger.gate.consent import Consent
from beliefledger.gate.decision import TurnView
from beliefledger.gate.intake import TurnInput
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.ledger.log import Log
from beliefledger.ledger.times import Micros

CONTEXT_TURNS = 4
"""How many earlier turns of the session an extractor is shown."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """A turn that is in the log. `already` is True if it was there before. An erased turn that is
    delivered again is `withheld`: its words are not kept, and the caller is not told."""

    turn_id: str
    position: int
    subject_ref: str
    already: bool = False
    withheld: bool = False
    recorded: Recorded | None = field(default=None, compare=False, repr=False)
    """The event, where it was recorded alone and just now."""

    def at(self, position: int) -> Receipt:
        """The same, once it is known where the turn is."""
        if position == self.position:
            return self
        return Receipt(self.turn_id, position, self.subject_ref, self.already, self.withheld)


@dataclass(frozen=True, slots=True)
class Pending:
    """A turn that waits for its extraction, with the version of its stream."""

    turn_id: str
    position: int
    version: int
    subject_ref: str
    attempts: int = 0


def view_of(recorded: Recorded, event: TurnRecorded, cited: dict[str, str]) -> TurnView:
    """The turn as the gate sees it; if nobody said when it was said, it is the time of
    recording."""
    return TurnView(
        turn_id=recorded.stream,
        role=event.role,
        content=event.content,
        said_at=recorded.recorded_at if event.said_at is None else event.said_at,
        said_at_stated=event.said_at_stated,
        session=event.session,
        agent=event.agent,
        cited=cited,
        session_tag=event.session_tag,
        position=recorded.position,
        speaker=event.speaker,
        metadata=event.metadata,
        corrects=event.corrects,
        ask=event.ask,
    )


def as_told(turn: TurnInput, turn_id: str, event: TurnRecorded, now: Micros) -> TurnView:
    """A turn as the gate sees it before it is in the log."""
    return TurnView(
        turn_id=turn_id,
        role=turn.role,
        content=event.content,
        said_at=now if turn.said_at is None else turn.said_at,
        said_at_stated=turn.said_at is not None,
        session=event.session,
        agent=event.agent,
        speaker=event.speaker,
        metadata=event.metadata,
        corrects=event.corrects,
        ask=event.ask,
    )


def cited(
    log: Log,
    subject_ref: str,
    candidates: Sequence[Candidate],
    consent: Consent | None = None,
) -> dict[str, str]:
    """The texts of the turns that candidates cite. Turns of others, and turns that are being
    erased, are left out."""
    wanted = {span.turn for candidate in candidates for span in candidate.spans if span.turn}
    found = {}
    for turn_id in sorted(wanted):
        first = log.read_stream(turn_id, upto=1)
        for recorded in first if consent is None else consent.left(first):
            if recorded.subject_ref == subject_ref and isinstance(recorded.event, TurnRecorded):
                found[turn_id] = recorded.event.content
    return found


class Earlier(Sequence[TurnView]):
    """The turns before one in its session; loaded when an extractor first reads them."""

    def __init__(
        self, load: Callable[[], list[TurnView]], since: tuple[TurnView, ...] = ()
    ) -> None:
        self._load = load
        self._since = since
        self._turns: list[TurnView] | None = None

    def then(self, turn: TurnView) -> Earlier:
        """The same with one more turn."""
        if self._turns is not None:
            return Earlier(list, (*self._turns, turn)[-CONTEXT_TURNS:])
        since = (*self._since, turn)[-CONTEXT_TURNS:]
        return Earlier(list if len(since) == CONTEXT_TURNS else self._load, since)

    def _loaded(self) -> list[TurnView]:
        if self._turns is None:
            self._turns = [*self._load(), *self._since][-CONTEXT_TURNS:]
        return self._turns

    def __len__(self) -> int:
        return len(self._loaded())

    @overload
    def __getitem__(self, at: int) -> TurnView: ...
    @overload
    def __getitem__(self, at: slice) -> list[TurnView]: ...
    def __getitem__(self, at: int | slice) -> TurnView | list[TurnView]:
        return self._loaded()[at]
