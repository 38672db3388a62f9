"""What an agent repeated of memories whose words are not to be shown any more. Pure.

Only words that the gate decided about are known to be a memory's. An agent's "Lisbon is lovely!"
is not among them, though it tells what was revoked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, MutableMapping
from typing import Any

from beliefledger.gate.sentences import sentences
from beliefledger.gate.standing import WITHHELD, MemoryStanding, State, Withheld
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.restored import Restored

AGENTS = frozenset({"assistant", "tool", "system"})
STATES = frozenset({State.REVOKED, State.WITHDRAWN, State.RETENTION, State.UNTRUE})
_WORD = compile_later(r"[^\W_]++")
_TELLING = 4
"""Words of so many letters, and numbers, tell what a value is."""


class TakenBack:
    """The values of a subject's memories, and whether any was taken back."""

    def __init__(self) -> None:
        self._values: MutableMapping[str, tuple[int, frozenset[str]]] = {}
        """By memory: where it was first said, and the words that tell its value."""
        self.any = False
        """Whether anything was ever taken back."""

    def written(self, memory_id: str, position: int, value: str) -> None:
        """A memory was written; its turn stands at a position."""
        words = telling(value)
        if words:
            first, _ = self._values.get(memory_id, (position, words))
            self._values[memory_id] = (first, words)

    def became(self, state: State) -> bool:
        """Note what has become of a memory. Whether an agent's turns may tell of it otherwise."""
        self.any = self.any or state in STATES
        return self.any

    def state(self) -> dict[str, Any]:
        """All of it, as JSON can say it."""
        values = {key: (at, " ".join(words)) for key, (at, words) in self._values.items()}
        return {"values": values, "any": self.any}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Have what another one had."""
        self._values = Restored(state["values"], lambda kept: (kept[0], frozenset(kept[1].split())))
        self.any = state["any"]

    def repeated(
        self, position: int, content: str, memories: Mapping[str, MemoryStanding]
    ) -> Iterator[Withheld]:
        """The sentences of an agent's turn at a position that tell a value which was taken back;
        none where another of the subject's memories still has that value."""
        if not self.any:
            return
        over, held = [], set()
        for memory_id, (first, words) in self._values.items():
            now = memories.get(memory_id)
            state = None if now is None else now.state
            if state is State.HELD:
                held.add(words)
            elif state in STATES and first < position:
                over.append((words, WITHHELD[state]))
        over = [each for each in over if each[0] not in held]
        for start, end, told in telling_sentences(content, [words for words, _ in over]):
            yield Withheld(start, end, next(cause for words, cause in over if words == told))


def telling_sentences(
    content: str, values: Collection[frozenset[str]]
) -> Iterator[tuple[int, int, frozenset[str]]]:
    """The sentences of a turn, by start and end, that tell one of these values, and which."""
    for start, end in sentences(content) if values else ():
        said = set(_WORD.findall(content[start:end].lower()))
        told = next((words for words in values if words <= said), None)
        if told is not None:
            yield start, end, told


def telling(value: str) -> frozenset[str]:
    """The words that tell what a value is; the longer ones where there are any."""
    said = frozenset(_WORD.findall(value.lower()))
    return frozenset(each for each in said if len(each) >= _TELLING or each.isdigit()) or said
