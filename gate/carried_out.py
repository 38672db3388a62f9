"""What a turn tells of a plan that is carried out: what homes and jobs that were planned share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from beliefledger.gate.belief import Held
from beliefledger.gate.claims import beyond
from beliefledger.gate.decision import TurnView
from beliefledger.gate.registry import NOTE
from beliefledger.gate.rules import drafts
from beliefledger.gate.sentences import sentences
from beliefledger.gate.speech import speech_act
from beliefledger.ledger.candidate import Candidate, Span, SpeechAct

LONGEST = 160
"""The longest sentence that is looked at, in characters."""
_LONGEST_TURN = 600
_SINCERE = frozenset({SpeechAct.STATEMENT, SpeechAct.CHANGE, SpeechAct.REMOVAL})


def told_in(turn: TurnView, needed: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """The sentences of a turn that may tell that something is done, with their offsets; none where
    the turn has none of the strings that are `needed`."""
    text = turn.content
    low = text.lower()
    if turn.role != "user" or not any(each in low for each in needed):
        return
    if len(text) > _LONGEST_TURN or drafts.begins(text) is not None:
        return
    for start, end in sentences(text):
        said = text[start:end]
        if len(said) <= LONGEST and not said.rstrip().endswith("?"):
            yield start, end, said


def is_sincere(turn: TurnView, start: int, end: int) -> bool:
    """Whether a sentence is meant as true."""
    return speech_act(turn.content, start, end) in _SINCERE


def span_of(turn: TurnView, start: int, end: int) -> Span:
    """The words of a sentence, without blanks and its end mark."""
    said = turn.content[start:end]
    begin = start + len(said) - len(said.lstrip())
    end -= len(said) - len(said.rstrip(" .!"))
    return Span(start=begin, end=end, quote=turn.content[begin:end])


def spans_of(held: Held) -> list[Span]:
    """The spans of a memory, each with the turn that it is of."""
    memory = held.written.memory
    return [each.model_copy(update={"turn": each.turn or memory.turn}) for each in memory.spans]


def quoted(candidate: Candidate, cites: dict[str, str], plan: re.Pattern[str]) -> tuple[Span, ...]:
    """The spans with the words of the turns that they cite, from where those fit a `plan`: what is
    planned in the others is done now. Without those that are gone."""
    return tuple(
        span if span.turn is None else _narrowed(span, cites[span.turn], plan)
        for span in candidate.spans
        if span.turn is None or span.turn in cites
    )


def _narrowed(span: Span, text: str, plan: re.Pattern[str]) -> Span:
    found = plan.search(text, span.start, span.end)
    start = span.start if found is None else found.start()
    return span.model_copy(update={"start": start, "quote": text[start : span.end]})


def within(candidate: Candidate, claims: Sequence[str]) -> Candidate | None:
    """The candidate with the first of some claims that says no more than its words do."""
    said = (candidate.model_copy(update={"claim": claim}) for claim in claims)
    return next((each for each in said if beyond(each) is None), None)


def without_notes(candidates: Sequence[Candidate], start: int, end: int) -> list[Candidate]:
    """The candidates without the notes of a sentence."""
    return [
        each
        for each in candidates
        if each.type != NOTE or not (each.spans[0].start < end and start < each.spans[0].end)
    ]
