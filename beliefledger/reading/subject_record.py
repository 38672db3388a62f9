"""One subject's events by what names what: turns, memories, decisions, names. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import field
from typing import Any, NamedTuple

from beliefledger.gate.consent import ORDINARY
from beliefledger.gate.taken_back import telling
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.events import BY_NAME, task, turn
from beliefledger.ledger.events.belief import (
    WRITING,
    ConflictResolved,
    ConsolidationUndone,
    MemoriesConsolidated,
    MemoryConfirmed,
    MemoryMovedIn,
    MemoryRevoked,
    Written,
)
from beliefledger.ledger.events.entity import AliasAdded, EntityRecognised, EntitySplit
from beliefledger.ledger.events.recall import MemoriesRecalled
from beliefledger.ledger.events.task import TaskSubmitted
from beliefledger.ledger.events.turn import GateDecided, ReviewDecided, TurnRecorded
from beliefledger.ledger.times import Micros

_TURN_EVENTS = frozenset(name for name, kind in BY_NAME.items() if kind.__module__ == turn.__name__)
_TASK_EVENTS = frozenset(name for name, kind in BY_NAME.items() if kind.__module__ == task.__name__)
_NAMING = frozenset({EntityRecognised.NAME, AliasAdded.NAME, EntitySplit.NAME})
_WITH_BODY = frozenset(
    name for name, kind in BY_NAME.items() if kind.model_fields.keys() - kind.FACTS
)


_AGEING = _WITH_BODY & (WRITING | _TURN_EVENTS | _TASK_EVENTS | {MemoriesRecalled.NAME})
"""What goes for its own age; all else goes with one of these."""
WITHDRAWN = "consent_withdrawn"
"""Why a memory is revoked whose consent is withdrawn."""
SHOWN = "shown"
"""The ranker of what a caller chose by itself: nobody asked for it in words."""


@dataclass(slots=True)
class Remembered:
    """One memory's events and what they name."""

    events: list[Recorded] = field(default_factory=list)
    text: str | None = None
    """None where its words are erased."""
    category: str = ORDINARY
    words: set[str] = field(default_factory=set)
    """The turns that its words are from."""
    evidence: set[str] = field(default_factory=set)
    """Those, and the turns that confirmed it."""
    cited: set[str] = field(default_factory=set)
    """The turns that are named where it is written."""
    entities: set[str] = field(default_factory=set)
    far_ends: set[str] = field(default_factory=set)
    values: set[frozenset[str]] = field(default_factory=set)
    """The words that tell each of its values."""
    said: Micros = 0
    """When the last turn that says so was recorded."""
    revoked: Recorded | None = None
    into: set[str] = field(default_factory=set)
    """What it was merged into."""
    originals: tuple[str, ...] = ()
    undone: bool = False
    """The merge was taken back, so that its originals stand by themselves."""


class Envelope(NamedTuple):
    """What is said of an event without its body, and whether that is there."""

    type: str
    recorded_at: Micros
    facts: Mapping[str, Any]
    body: bool


def may_be_due(
    recorded: Iterable[Envelope], *, aged: Micros | None, revoked: Micros | None, withdrawn: bool
) -> bool:
    """Whether anything of a subject may be due to go for its time: a body that such an erasure
    reaches is from before `aged`, or one of a memory is left that was revoked before `revoked`, or
    whose consent was withdrawn. None: never for that. Reads no further than it must."""
    written: set[str] = set()
    """The memories that have words left."""
    for each in recorded:
        if aged is None and revoked is None and not withdrawn:
            return False
        if each.body and each.type in _AGEING and aged is not None and each.recorded_at < aged:
            return True
        if aged is not None and each.recorded_at >= aged:
            aged = None  # nor is any later one
        if each.type in WRITING and each.body:
            written.add(each.facts["memory_id"])
        elif each.type == MemoryRevoked.NAME and each.facts["memory_id"] in written:
            over = revoked is not None and each.recorded_at < revoked
            if over or (withdrawn and each.facts["cause"] == WITHDRAWN):
                return True
    return False


class Trail:
    """What is left of one subject. `erased` are the ids of events whose bodies are gone."""

    def __init__(
        self, subject_ref: str, recorded: Iterable[Recorded], erased: AbstractSet[str] = frozenset()
    ) -> None:
        self._subject_ref = subject_ref
        self._left: dict[int, Recorded] = {}
        """The events whose bodies are still there, by position."""
        self._turns: dict[str, list[Recorded]] = defaultdict(list)
        self._memories: dict[str, Remembered] = defaultdict(Remembered)
        self._decided: dict[str, tuple[str, str | None, str]] = {}
        """By decision: its turn, its memory and its candidate."""
        self._said: dict[str, Micros] = {}
        self._naming: list[Recorded] = []
        self._recalls: list[Recorded] = []
        self._tasks: dict[str, list[Recorded]] = defaultdict(list)
        self._resolved: list[Recorded] = []
        self._count = 0
        self._versions: dict[str, int] = {}
        """Of each stream, as far as it was read."""
        for each in recorded:
            self._count += 1
            self._versions[each.stream] = each.version
            if each.body_digest is not None and each.event_id not in erased:
                self._left[each.position] = each
            self._file(each)
        for memory_id, memory in list(self._memories.items()):
            for original in memory.originals:
                self._memories[original].into.add(memory_id)

    # Reading

    def _file(self, each: Recorded) -> None:
        if each.type in _TURN_EVENTS:
            self._turns[each.stream].append(each)
            facts = each.facts
            if each.type == TurnRecorded.NAME:
                self._said[each.stream] = each.recorded_at
            elif each.type == GateDecided.NAME:
                self._decided[each.event_id] = each.stream, facts["memory"], facts["candidate"]
            elif each.type == ReviewDecided.NAME:
                _, _, candidate = self._decided.get(facts["decision"], (None, None, ""))
                self._decided[each.event_id] = each.stream, facts["memory"], candidate
        elif each.type in _NAMING:
            self._naming.append(each)
        elif each.type == MemoriesRecalled.NAME:
            self._recalls.append(each)
        elif each.type in _TASK_EVENTS:
            self._tasks[each.stream].append(each)
        elif each.type == ConflictResolved.NAME:
            self._resolved.append(each)
        elif "memory_id" in each.facts:
            self._remember(self._memories[each.facts["memory_id"]], each)

    def _remember(self, memory: Remembered, each: Recorded) -> None:
        memory.events.append(each)
        if each.type == MemoriesConsolidated.NAME:
            memory.originals = tuple(each.facts["originals"])
        elif each.type == ConsolidationUndone.NAME:
            memory.undone = True
        elif each.type == MemoryRevoked.NAME:
            memory.revoked = each
        match each.event:
            case Written() as event:
                self._write(memory, event, each.recorded_at)
            case MemoryConfirmed() as event:
                memory.evidence |= {event.turn, *(s.turn for s in event.spans if s.turn)}
                memory.said = max(memory.said, self._said.get(event.turn, 0))
            case _:
                pass

    def _write(self, memory: Remembered, event: Written, recorded_at: Micros) -> None:
        said = event.memory
        cited = {said.turn, *(span.turn for span in said.spans if span.turn)}
        # What was merged cites all evidence of its originals; its words are theirs.
        memory.words |= {said.turn} if memory.originals else cited
        memory.evidence |= cited
        memory.cited |= cited
        if isinstance(event, MemoryMovedIn | MemoriesConsolidated):
            memory.evidence |= set(event.turns)
            memory.cited |= set(event.turns)
        else:
            memory.said = max(memory.said, recorded_at)
        memory.text, memory.category = said.claim, said.category or ORDINARY
        memory.revoked = None
        if words := telling(said.value):
            memory.values.add(words)
        if said.resolved is not None:
            memory.entities |= {said.resolved.entity, *said.resolved.participants}
            if said.resolved.target is not None:
                memory.far_ends.add(said.resolved.target)

    def memory_ids(self) -> list[str]:
        """The memories of whose words any are left."""
        return [each for each, memory in self._memories.items() if memory.text is not None]

    def turn_ids(self) -> list[str]:
        """The turns of which any body is left."""
        return list(
            dict.fromkeys(each.stream for each in self._left.values() if each.type in _TURN_EVENTS)
        )

    def sessions(self) -> set[str]:
        """The tags of the sessions of which any body is left."""
        return {
            each.event.session_tag
            for each in self._left.values()
            if isinstance(each.event, TurnRecorded | MemoriesRecalled | TaskSubmitted)
            and each.event.session_tag
        }

    # Telling

    def derived(self, positions: Collection[int], after: int) -> list[int]:
        """Where there are bodies past a position that were made from what was at these, which may
        be erased by now: of the same turns, from their words, of the same memories or of what they
        were merged into, and the searches and tasks that found any of these."""
        gone = frozenset(positions)
        turns = {
            turn_id
            for turn_id, events in self._turns.items()
            if any(e.type == TurnRecorded.NAME and e.position in gone for e in events)
        }
        found = {e.position for turn_id in turns for e in self._turns[turn_id]}
        memories = {
            memory_id
            for memory_id, memory in self._memories.items()
            if memory.words & turns
            or memory.cited & turns
            or any(e.type in WRITING and e.position in gone for e in memory.events)
        }
        todo = list(memories)
        while todo:
            merged = self._memories[todo.pop()].into - memories
            memories |= merged
            todo += merged
        for memory_id, memory in self._memories.items():
            for each in memory.events:
                if memory_id in memories or _says(each, turns):
                    found.add(each.position)
        found |= set(self._showed(turns | memories))
        return sorted(each for each in found & self._left.keys() if each > after)

    def _showed(self, ids: AbstractSet[str]) -> Iterator[int]:
        """The searches (their positions) that found any of these memories and turns, and the tasks
        that were about them."""
        for each in self._recalls:
            facts = each.facts
            if facts["ranker"] != SHOWN and not ids.isdisjoint(
                (*facts["memories"], *facts.get("ranked", ()))
            ):
                yield each.position
        for events in self._tasks.values():
            named = {each.facts.get("turn") for each in events}
            named |= {memory for each in events for memory in each.facts.get("memories", ())}
            if not ids.isdisjoint(named):
                yield from (each.position for each in events)

    def streams(self, positions: Collection[int]) -> dict[str, int]:
        """The streams of the events at these positions, and the versions they were read at."""
        found = {self._left[each].stream for each in positions if each in self._left}
        return {stream: self._versions[stream] for stream in found}

    def _is_left(self, turn_id: str) -> bool:
        return any(
            each.type == TurnRecorded.NAME and each.position in self._left
            for each in self._turns.get(turn_id, ())
        )

    def _in_order(self, memories: Collection[str]) -> list[str]:
        return [each for each in self.memory_ids() if each in memories]

    def _texts(self, memories: Iterable[str]) -> dict[str, str]:
        return {each: self._memories[each].text or "" for each in memories}

    def _counted(self, positions: Iterable[int]) -> dict[str, int]:
        return dict(sorted(Counter(self._left[each].type for each in positions).items()))

    def _turns_among(self, positions: Iterable[int]) -> int:
        return sum(self._left[each].type == TurnRecorded.NAME for each in positions)


def _says(each: Recorded, turns: AbstractSet[str]) -> bool:
    """Whether it confirms a memory by one of these turns."""
    event = each.event
    return isinstance(event, MemoryConfirmed) and not turns.isdisjoint(
        (event.turn, *(span.turn for span in event.spans if span.turn))
    )
