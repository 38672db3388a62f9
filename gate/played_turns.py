"""Finds what a turn tells of a game at play, of a part or of a made-up self: nothing of it is so of
who types it. Pure.

Few name the game. What shows it are words that only games have ("the golem despawned"), or several
that games have more often than life. The words are in `rules/played.yaml`.
"""

from __future__ import annotations

from beliefledger.gate.cues import Cues
from beliefledger.gate.literals import Line, Table, plain
from beliefledger.gate.sentences import LONGEST, sentences

_CUES = Cues("rules/played.yaml")
_FEW = 2
"""A turn of so few sentences is all of one thing."""
_ENOUGH = 2
"""So many hints show a game; a telling word counts as so many."""


_TELLING, _HINTS, _OF_LIFE = map(_CUES.table, ("telling", "hints", "of life"))


def played(text: str) -> tuple[int, int] | None:
    """The words [start, end) of a turn that tell of a game at play, a part or a made-up self: from
    the first sentence that shows it to the last. None where none does."""
    if len(text) > LONGEST:
        return None
    low = plain(text)
    shown = _ENOUGH * _found(_TELLING, low) + _found(_HINTS, low)
    if shown < _ENOUGH or (shown < 2 * _ENOUGH and any(_OF_LIFE.found(low))):
        return None
    there = list(sentences(text))
    showing = [each for each in there if _shows(plain(text[each[0] : each[1]]))]
    if len(there) <= _FEW or not showing:
        return 0, len(text)
    return showing[0][0], showing[-1][1]


def _shows(low: str) -> bool:
    return any(_TELLING.found(low)) or any(_HINTS.found(low))


def _found(table: Table[Line], low: str) -> int:
    """How many lines of a table find something in a text."""
    return sum(1 for _ in table.found(low))
