"""One memory changed by a named person, or corrected in the words of whom it is about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from pydantic import JsonValue

from beliefledger.answers import DecisionAnswer
from beliefledger.curation.storing import Details, MemoryInput, StoredMemories
from beliefledger.gate.intake import ChosenMemory, TurnInput
from beliefledger.ledger.candidate import Source, Span, SpeechAct
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.errors import InvalidTurn, NotPermitted, UnknownMemory
from beliefledger.ledger.events.belief import Written
from beliefledger.ledger.events.choices import Meant
from beliefledger.ledger.memory import Memory
from beliefledger.ledger.spans import COUNT, UPDATE, traced
from beliefledger.ledger.times import to_datetime
from beliefledger.ledger.vault import SYSTEM
from beliefledger.opening.core import Core
from beliefledger.projections import questions
from beliefledger.projections.beliefs import BeliefsView, Version
from beliefledger.reading.queries import Queries
from beliefledger.reading.words import score
from beliefledger.times import Moment, micros


@dataclass(frozen=True, slots=True)
class Changed:
    """What is different from now on; None leaves it as it is. Scores are from 0 to 1."""

    value: str | None = None
    text: str | None = None
    topic: str | None = None
    importance: float | None = None
    confidence: float | None = None
    valid_from: Moment | None = None
    expires_at: Moment | None = None
    metadata: Mapping[str, JsonValue] | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """A memory that holds now, and whose it is."""

    subject: str
    row: Version
    memory: Memory

    @property
    def meant(self) -> Meant:
        return Meant(memory=self.row.memory_id, belief=self.row.belief)


class Edits:
    """Changes and corrects memories: each is decided about and on record."""

    def __init__(self, core: Core, queries: Queries, stored: StoredMemories) -> None:
        self._core = core
        self._queries = queries
        self._stored = stored

    @traced(UPDATE, lambda _answer: {COUNT: 1})
    def update(self, given: str, changed: Changed, *, by: str) -> DecisionAnswer:
        """Store a memory in the place of another one, as said by who changed it."""
        if by == SYSTEM:
            raise NotPermitted("A change needs a named principal: say who makes it (by).")
        actor = self._core.actor(by)
        if changed == Changed():
            raise InvalidTurn("Say what is to be different: value, text, topic, importance …")
        held = self._held(given)
        begins = micros(changed.valid_from, "valid_from", InvalidTurn)
        other = changed.value not in (None, held.memory.value)
        if other and begins is not None and begins < held.row.valid_from:
            # It would overlap with what was so before this memory.
            since = to_datetime(held.row.valid_from).isoformat()
            raise InvalidTurn(
                f"valid_from lies before {since}, from when this memory holds: give a time from "
                "then on, or correct the memory if it was never so."
            )
        claim = _claim(held.memory, changed)
        chosen = self._chosen(held, changed, claim, by)
        [(_, answer)] = self._stored.decide([chosen], actor)
        return answer

    def correction(self, given: str, turn: TurnInput, changed: Changed) -> TurnInput | ChosenMemory:
        """What to record of words that say a memory is wrong: the turn, to be read; with the right
        value, the memory that takes its place and rests on these words."""
        held = self._held(given)
        turn = replace(
            turn, subject=held.subject, corrects=held.meant, metadata=held.memory.metadata
        )
        if changed.value is None:
            if changed.text is not None:
                raise InvalidTurn("text: it goes with value, as the claim of the right value.")
            return turn
        chosen = self._chosen(held, changed, _claim(held.memory, changed), None)
        words = turn.content
        span = Span(start=0, end=len(words), quote=words)
        update = {"spans": (span,), "act": SpeechAct.CORRECTION, "source": Source.STATED}
        return ChosenMemory(turn, chosen.candidate.model_copy(update=update), chosen.choices)

    def _held(self, given: str) -> Held:
        """A memory that holds now. Raises `UnknownMemory`."""
        memory_id = self._queries.memory_id(given)
        with self._queries.view(BeliefsView.name) as (connection, generation):
            row = questions.versions_of_memory(connection, generation, memory_id)[-1]
        now = self._queries.now()
        ended = any(end is not None and end <= now for end in (row.valid_to, row.expires_at))
        if row.closed is not None or row.quarantined or ended:
            raise UnknownMemory(
                f"The memory {memory_id} does not hold now: history shows what took its place."
            )
        written = self._core.log.read_at([row.words_at])[row.words_at].event
        subject = self._core.log.vault.real_id(row.subject_ref)
        if not isinstance(written, Written) or subject is None:
            raise UnknownMemory(f"The words of memory {memory_id} are erased.")
        return Held(subject, row, written.memory)

    def _chosen(
        self, held: Held, changed: Changed, claim: str | None, speaker: str | None
    ) -> ChosenMemory:
        """The memory with what is different, checked as any that is stored."""
        memory, row = held.memory, held.row
        same = changed.value is None or changed.value == memory.value
        if same and changed.valid_from is not None:
            raise InvalidTurn("valid_from: it goes with another value, which holds from then on.")
        expires_at = row.expires_at if changed.expires_at is None else changed.expires_at
        details = Details(
            entity=memory.entity,
            negated=memory.negated,
            context=memory.context,
            topic=changed.topic or memory.topic,
            category=memory.category,
            importance=score(row.importance) if changed.importance is None else changed.importance,
            expires_at=expires_at,
            visibility_scope=row.visibility_scope,
            session=memory.session,
            agent=memory.agent,
            metadata=memory.metadata if changed.metadata is None else changed.metadata,
        )
        chosen = self._stored.checked(
            MemoryInput(
                subject=held.subject,
                value=memory.value if changed.value is None else changed.value,
                attribute=memory.attribute,
                type=row.type,
                text=claim,
                confidence=changed.confidence,
                valid_from=row.valid_from if same else changed.valid_from,
                details=details,
            )
        )
        candidate = chosen.candidate.model_copy(
            update={
                # The same in other words was never another value.
                "act": SpeechAct.CORRECTION if same else SpeechAct.CHANGE,
                "when": memory.when,
                "participants": memory.participants,
                "fields": memory.fields,
            }
        )
        choices = chosen.choices.model_copy(update={"changes": held.meant})
        return ChosenMemory(replace(chosen.turn, speaker=speaker), candidate, choices)


def _claim(memory: Memory, changed: Changed) -> str | None:
    """The claim in words: as given, or the old one with the new value; None where the old one does
    not have its value in it."""
    if changed.text is not None or changed.value is None:
        return changed.text or memory.claim
    old = re.compile(rf"(?<!\w){re.escape(memory.value)}(?!\w)", re.IGNORECASE)
    if len(old.findall(memory.claim)) != 1:
        return None
    return old.sub(lambda _: str(changed.value), memory.claim)
