"""Which slot a question's meaning is near to, by the vectors of the slots' descriptions."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from beliefledger.projections.embedding import Embedder, Hashed, Words
from beliefledger.projections.slot_routing import SlotQuestion, SlotWords, asked_for, built_in
from beliefledger.projections.vectors import rounded

if TYPE_CHECKING:
    from beliefledger.projections.embedding import Vectors

NEAR = 0.38
"""The least cosine of a question with the description of the slot that it is routed to."""
PERHAPS = 0.35
"""The least cosine, by words' vectors, of a question with one of the phrases by which a slot is
asked for, of those slots that it may be about."""
_MOST_PERHAPS = 12


class SlotMeanings:
    """The vectors of the slots' descriptions, computed once for each model."""

    def __init__(self) -> None:
        self._vectors: dict[tuple[str, str], Vectors] = {}
        self._asked: dict[SlotWords, Vectors] = {}
        self._lock = threading.Lock()

    def asked_for(
        self, question: str, more: Sequence[SlotWords], model: Embedder, vector: Vectors
    ) -> SlotQuestion:
        """What a question asks for: by its words, else by its meaning. Vectors of single words are
        near to the wrong description too often: a third of the questions of the stories. So they
        tell only what it is perhaps about."""
        asked = asked_for(question, more)
        # Whoever names nobody asks of themselves: "what time does the daily start?"
        nameless = not any(each[:1].isupper() for each in question.split()[1:])
        unsure = (asked.own or nameless) and asked.tense == "now" and not asked.slots
        if not unsure or isinstance(model, Hashed):
            return asked
        if isinstance(model, Words):
            return replace(asked, perhaps=self._perhaps(more, model, vector))
        if not asked.own:
            return asked
        slots = [slot for slot in (*more, *built_in()) if slot.about]
        cosines = np.stack(self._of(model, [slot.about for slot in slots])) @ vector
        best = int(np.argmax(cosines))
        if cosines[best] < NEAR:
            return asked
        return asked_for(question, more, (slots[best].name,))

    def _perhaps(
        self, more: Sequence[SlotWords], model: Words, vector: Vectors
    ) -> tuple[tuple[SlotWords, float], ...]:
        """The slots one of whose phrases a question is near to."""
        slots = (*more, *built_in())
        near = [
            (slot, float((self._phrases(model, slot) @ vector).max(initial=0))) for slot in slots
        ]
        near = sorted((each for each in near if each[1] >= PERHAPS), key=lambda each: -each[1])
        return tuple(near[:_MOST_PERHAPS])

    def _phrases(self, model: Words, slot: SlotWords) -> Vectors:
        """The vectors of a slot's phrases."""
        with self._lock:
            known = self._asked.get(slot)
            if known is None:
                known = self._asked[slot] = rounded(model.embed(slot.phrases))
            return known

    def _of(self, model: Embedder, descriptions: Sequence[str]) -> list[Vectors]:
        with self._lock:
            missing = [each for each in descriptions if (model.name, each) not in self._vectors]
            if missing:
                made = rounded(model.embed(missing))
                for each, vector in zip(missing, made, strict=True):
                    self._vectors[model.name, each] = vector
            return [self._vectors[model.name, each] for each in descriptions]
