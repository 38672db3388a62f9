"""Sayings, whose words do not mean what they say: "I've got a lot on my plate". The list is
`idioms.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from beliefledger.gate.literals import Guarded, Table, lowered
from beliefledger.gate.rules.lexicon import expanded, load
from beliefledger.ledger.candidate import Candidate

_DATA = load("idioms.yaml")


class _Saying(NamedTuple):
    pattern: Guarded


_SAYINGS = Table(_Saying(Guarded(expanded(each, _DATA["parts"]))) for each in _DATA["idioms"])
_WORD = re.compile(r"[^\W_]+")
_REST = 4
"""So many words beside a saying tell something of their own."""


def without(candidates: Sequence[Candidate], text: str) -> list[Candidate]:
    """The candidates of a text but those that rest on a saying."""
    if not candidates:
        return []
    found = list(_sayings(text))
    return (
        [each for each in candidates if not _rests_on(each, found, text)]
        if found
        else list(candidates)
    )


def _sayings(text: str) -> Iterator[tuple[int, int]]:
    low = lowered(text)
    for saying in _SAYINGS.possible(low):
        for match in saying.pattern.pattern.finditer(low):
            yield match.span()


def _rests_on(candidate: Candidate, sayings: Sequence[tuple[int, int]], text: str) -> bool:
    span = candidate.spans[0]
    if span.turn:
        return False
    for start, end in sayings:
        if start < span.end and span.start < end:
            rest = text[span.start : max(start, span.start)] + " " + text[end : span.end]
            if len(_WORD.findall(rest)) < _REST:
                return True
    return False
