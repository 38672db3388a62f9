"""Notes in place of what a sentence tells only in passing: "Giulia next door waters our plants"."""

from __future__ import annotations

from collections.abc import Sequence

from beliefledger.gate import notes
from beliefledger.gate.rules import named_roles
from beliefledger.gate.sentences import sentences
from beliefledger.ledger.candidate import Candidate, Speech, SpeechAct


def with_notes(
    ordered: list[Candidate], turn: Speech, earlier: Sequence[Speech]
) -> list[Candidate]:
    """The candidates and the notes of the turn. Where a sentence says only in passing that the
    speaker has something ("Giulia next door waters our plants"), its note says more than that."""
    passing = [each for each in ordered if _is_in_passing(each, turn.content)]
    if not passing:
        return notes.beside(ordered, turn, earlier)
    rest = [each for each in ordered if each not in passing]
    noted = notes.beside(rest, turn, earlier)
    told = [each.spans[-1] for each in noted if each.attribute == notes.ATTRIBUTE]
    kept = [
        each
        for each in passing
        if not any(span.start <= each.spans[0].start < span.end for span in told)
    ]
    if not kept:
        return noted
    found = sorted([*rest, *kept], key=lambda c: (c.spans[0].start, c.spans[0].end))
    return notes.beside(found, turn, earlier)


def _is_in_passing(candidate: Candidate, text: str) -> bool:
    """Whether "my plants" or "my editor Ms Aydin" in a sentence of something else is all that was
    found."""
    span = candidate.spans[0]
    words = span.quote.lower().split()
    if (
        span.turn is not None
        or candidate.negated
        or candidate.act is not SpeechAct.STATEMENT
        or words[0] not in ("my", "our")
        or len(words) >= _IN_PASSING
    ):
        return False
    start, end = next(each for each in sentences(text) if each[0] <= span.start < each[1])
    if candidate.attribute.startswith("has."):
        return text.count(" ", start, end) >= _IN_PASSING
    named = candidate.attribute.startswith(("care.", "thing.")) and candidate.participants
    return bool(named) and _TELLS.isdisjoint(words) and not named_roles.asks_beside(text[start:end])


_IN_PASSING = 5
_TELLS = frozenset({"is", "called", "named"})
""" "My cleaner is Ola" is said for its own sake."""
