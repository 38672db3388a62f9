"""The sentence that ended something, told as what happened. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from beliefledger.gate.decision import TurnView
from beliefledger.gate.meant_memories import WORD
from beliefledger.gate.notes import is_called
from beliefledger.gate.rules import successions as rules_successions
from beliefledger.gate.rules.sensitive import category_of
from beliefledger.gate.sentences import sentences
from beliefledger.ledger.candidate import SELF, Candidate, Span
from beliefledger.ledger.late_patterns import compile_later


def happening(
    candidate: Candidate, turn: TurnView, beside: Sequence[Candidate]
) -> Iterator[Candidate]:
    """The sentence that ended something, as what happened, unless the rest says it already."""
    span = candidate.spans[0]
    start, end = next(
        (each for each in sentences(turn.content) if each[0] <= span.start < each[1]),
        (span.start, span.end),
    )
    quote = turn.content[start:end].rstrip(" .!,")
    own = [
        each
        for other in beside
        if not other.retracts
        for each in other.spans
        if each.turn is None
        and each.start < end
        and start < each.end
        and not is_called(other, each)
    ]
    left = " ".join(
        word[0]
        for word in WORD.finditer(turn.content, start, end)
        if not any(each.start <= word.start() < each.end for each in own)
    )
    if category_of(quote) not in (None, candidate.category) and not own:
        start, end = span.start, span.end  # without the reason for it
        quote = turn.content[start:end].rstrip(" .!,")
    if (own and len(left.split()) < _REST) or category_of(quote) not in (None, candidate.category):
        return
    if own:  # of what is told already, nothing is told again
        rest = max(each.end for each in own if each.start <= start or each.start == own[0].start)
        begin = _BEHIND.match(turn.content, rest, end)
        if begin is not None and min(each.start for each in own) <= start + _LEAD:
            start = begin.end()
            if _HANGING.match(turn.content, start, end):
                start = max(start, span.start)
            quote = turn.content[start:end].rstrip(" .!,")
            if len(quote.split()) < _REST or _HANGING.match(quote):
                return
    quote = rules_successions.without_orders(quote)
    here = Span(start=start, end=start + len(quote), quote=quote)
    yield candidate.model_copy(
        update={
            "claim": quote, "value": quote, "spans": (here,), "attribute": "event.change",
            "replaces": None, "ends": (), "retracts": False, "entity": SELF,
        }
    )  # fmt: skip


_BEHIND = compile_later(r"\s*[,;–—-]\s*(?:(?:and|so|but)\s)?|\s+(?:and|so|but)\s+", re.I)
"""Between what is told already and the rest of its sentence."""
_HANGING = compile_later(r"(?:it|its|he|she|they|is|was|are|were|has|had|which|who)\b", re.I)
"""How words begin of which nobody can tell who or what is meant."""
_LEAD = 8
_REST = 4
"""So many words that nothing else was found in are worth keeping beside what was."""
