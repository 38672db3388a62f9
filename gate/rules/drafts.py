"""Texts that a turn hands over or asks for in somebody's name: "profile for a friend. I'm 41".

What they say is nobody's statement. The openings are in `drafts.yaml`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from beliefledger.gate.handed_texts import end_of
from beliefledger.gate.literals import lowered
from beliefledger.gate.rules.lexicon import expanded, load
from beliefledger.ledger.candidate import Candidate, SpeechAct
from beliefledger.ledger.late_patterns import compile_later

_DATA = load("drafts.yaml")
_OPENING = compile_later(
    expanded(f"<lead>(?:{'|'.join(_DATA['drafts'])})", _DATA["parts"]),
)
_LONGEST = 160
"""How far from its beginning a turn may open a draft, in characters."""


def begins(text: str) -> int | None:
    """Where the words of a draft begin in a turn; None where it opens none."""
    low = lowered(text[:_LONGEST])
    found = _OPENING.match(low)
    return None if found is None else found.end()


def quoted(candidates: Iterable[Candidate], text: str) -> Iterator[Candidate]:
    """The candidates, those of a draft as somebody's words."""
    begin = begins(text)
    end = None if begin is None else end_of(text, begin)
    for each in candidates:
        span = each.spans[0]
        own = begin is None or end is None or span.end <= begin or span.start >= end
        if span.turn is None and not own:
            yield each.model_copy(update={"act": SpeechAct.QUOTED})
        else:
            yield each
