"""A turn as an extractor reads it: without look-alike and invisible characters. Pure.

Extractors get the text that a person would see. The spans they return are mapped back to the turn
as it was recorded, and quote that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import overload

from beliefledger.gate.decision import TurnView
from beliefledger.gate.extractor import Extraction
from beliefledger.ledger.candidate import Candidate, Span
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.lookalikes import Folded, plain


@dataclass(frozen=True, slots=True)
class Legible:
    """A legible turn with the turns before it; `returned` maps what was found back to the
    originals."""

    turn: TurnView
    earlier: Sequence[TurnView]
    _said: Folded
    _before: Sequence[TurnView]

    def returned(self, found: Extraction) -> Extraction:
        """What was found, with the words and offsets of the original turn."""
        candidates = [self._told(each) for each in found.candidates]
        return replace(found, candidates=candidates)

    def _told(self, candidate: Candidate) -> Candidate:
        there = {span.turn for span in candidate.spans}
        folds: dict[str | None, Folded] = {None: self._said} if None in there else {}
        if there - {None}:
            folds |= {
                each.turn_id: plain(each.content) for each in self._before if each.turn_id in there
            }
        if all(each.same for each in folds.values()):
            return candidate
        spans = tuple(_there(span, folds.get(span.turn)) for span in candidate.spans)
        changed: dict[str, object] = {"spans": spans}
        claim = candidate.claim
        for folded in folds.values():
            for field in ("value", "entity", "context", "replaces"):
                words = changed.get(field, getattr(candidate, field))
                if isinstance(words, str) and (restored := folded.restored(words)) != words:
                    changed[field] = restored
                    claim = claim.replace(words, restored)
            if candidate.participants:
                changed["participants"] = tuple(map(folded.restored, candidate.participants))
            if candidate.fields:
                changed["fields"] = {
                    name: folded.restored(words) for name, words in candidate.fields.items()
                }
        return candidate.model_copy(update=changed | {"claim": claim})


def _there(span: Span, folded: Folded | None) -> Span:
    """The span in the original text; unchanged if its words are not there."""
    if folded is None or folded.same or folded.text[span.start : span.end] != span.quote:
        return span
    start, end = folded.span(span.start, span.end)
    return span.model_copy(update={"start": start, "end": end, "quote": folded.source[start:end]})


def legible(turn: TurnView, before: Sequence[TurnView]) -> Legible:
    """The turn as an extractor reads it. `before` is only loaded when it is read."""
    said = plain(turn.content)
    return Legible(_legible(turn, said), _Legibly(before, turn.speaker), said, before)


def _legible(turn: TurnView, said: Folded) -> TurnView:
    return turn if said.same else replace(turn, content=said.text)


class _Legibly(Sequence[TurnView]):
    """Earlier turns, made legible when they are looked at. What another speaker of the role `user`
    said is no word of this one's."""

    def __init__(self, turns: Sequence[TurnView], speaker: str | None = None) -> None:
        self._turns = turns
        self._speaker = speaker

    def __len__(self) -> int:
        return len(self._turns)

    @overload
    def __getitem__(self, at: int) -> TurnView: ...
    @overload
    def __getitem__(self, at: slice) -> list[TurnView]: ...
    def __getitem__(self, at: int | slice) -> TurnView | list[TurnView]:
        if isinstance(at, slice):
            return [self._seen(each) for each in self._turns[at]]
        return self._seen(self._turns[at])

    def _seen(self, turn: TurnView) -> TurnView:
        seen = _legible(turn, plain(turn.content))
        if turn.role != "user" or turn.speaker == self._speaker:
            return seen
        return replace(seen, role="other")
