"""Finds what a turn leaves open: rumours, what is not decided yet, guesses. Pure.

It may be about the speaker, but nobody knows whether it is so or will be. The words are data
(`rules/unsettled.yaml`).
"""

from __future__ import annotations

from collections.abc import Iterator

from beliefledger.gate.cues import Cues
from beliefledger.gate.literals import plain
from beliefledger.gate.sentences import LONGEST, sentences
from beliefledger.ledger.late_patterns import compile_later

_CUES = Cues("rules/unsettled.yaml")
_OPEN = tuple(_CUES.guarded(block) for block in ("rumoured", "undecided", "guessed"))
_SETTLED = _CUES.guarded("settled")
_PARTING = compile_later(r"[,;:]\s|\s[–—-]\s|\s(?:and|but|so)\s(?=(?:i|i'm|im|we|my|our|it)\b)")


def left_open(text: str) -> Iterator[tuple[int, int]]:
    """The words [start, end) that tell what is not settled: from the clause in which that is said
    to where the speaker says how things are ("but as it stands I'm …"), or to the end of the
    sentence. What stands in another clause before it may be so."""
    if len(text) > LONGEST:
        return
    for start, end in sentences(text):
        low = plain(text[start:end])
        found = [said for cue in _OPEN if (said := cue.search(low, low)) is not None]
        if found:
            first = min(each.start() for each in found)
            partings = _PARTING.finditer(low, 0, first + 1)
            before = [each.end() for each in partings if low[: each.start()].count(" ") > 1]
            tail = low[before[-1] :] if before else low
            settled = _SETTLED.search(low[first:], low)
            until = end if settled is None else start + first + settled.start()
            yield start + (before[-1] if before and tail.count(" ") > 2 else 0), until
