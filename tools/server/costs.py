"""What models cost for reading turns: kept in memory, so that the log is read once."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from beliefledger.ledger.events.turn import ExtractionCompleted
from beliefledger.ledger.times import Micros
from beliefledger.memory import MemoryLedger


@dataclass(frozen=True, slots=True)
class Cost:
    """What reading one turn cost. `micro_usd` is None where the price of the model is unknown."""

    at: Micros
    subject_ref: str
    turn_id: str
    input_tokens: int
    output_tokens: int
    micro_usd: int | None


class Costs:
    """The costs of a ledger, as far as its log was looked at."""

    def __init__(self, memory: MemoryLedger) -> None:
        self._events = memory.subscribe(types=[ExtractionCompleted.NAME])
        self._lock = threading.Lock()
        self._found: list[Cost] = []

    def until_now(self) -> list[Cost]:
        """All of them; only what is new in the log is read. Raises `BackendUnavailable`."""
        with self._lock:
            while (event := self._events.look()) is not None:
                facts = event.facts
                read, written = facts["input_tokens"], facts["output_tokens"]
                if read + written:
                    self._found.append(
                        Cost(
                            event.recorded_at,
                            event.subject_ref or "",
                            event.stream,
                            read,
                            written,
                            facts["cost_micro_usd"],
                        )
                    )
            if self._events.trouble is not None:
                raise self._events.trouble
            return list(self._found)


_KEPT: WeakKeyDictionary[MemoryLedger, Costs] = WeakKeyDictionary()
_LOCK = threading.Lock()


def costs_of(memory: MemoryLedger) -> Costs:
    """The costs of an open ledger."""
    with _LOCK:
        found = _KEPT.get(memory)
        if found is None:
            found = _KEPT[memory] = Costs(memory)
        return found
