"""Finds what a turn tells of a game at play, of a part or of a made-up self: nothing of it is so of
who types it. Pure.

Few name the game. What shows it are words that only games have ("the golem despawned"), or several
that games have more often than life. The words are in `rules/played.yaml`.
"""

from __future__ import annotations

from typing import NamedTuple

from beliefledger.gate.cues import Cues
from beliefledger.gate.literals import Guarded, Table, plain
from beliefledger.gate.sentences import sentences

_CUES = Cues("rules/played.yaml")
LONGEST = 600
"""Turns of more characters tell of more than a game."""
_FEW = 2
"""A turn of so few sentences is all of one thing."""
_ENOUGH = 2
"""So many hints show a game; a telling word counts as so many."""


class _Words(NamedTuple):
    pattern: Guarded


def _table(block: str) -> Table[_Words]:
    return Table(map(_Words, _CUES.lines(block)))


_TELLING, _HINTS, _OF_LIFE = _table("telling"), _table("hints"), _table("of life")


def played(text: str) -> tuple[int, int] | None:
    """The words [start, end) of a turn that tell of a game at play, a part or a made-up self: from
    the first sentence that shows it to the last. None where none does."""
    if len(text) > LONGEST:
        return None
    low = plain(text)
    shown = _ENOUGH * _found(_TELLING, low) + _found(_HINTS, low)
    if shown < _ENOUGH or (shown < 2 * _ENOUGH and _found(_OF_LIFE, low)):
        return None
    there = list(sentences(text))
    showing = [each for each in there if _shows(plain(text[each[0] : each[1]]))]
    if len(there) <= _FEW or not showing:
        return 0, len(text)
    return showing[0][0], showing[-1][1]


def _shows(low: str) -> bool:
    return bool(_found(_TELLING, low) or _found(_HINTS, low))


def _found(table: Table[_Words], low: str) -> int:
    """How many lines of a table find something in a text."""
    return sum(each.pattern.pattern.search(low) is not None for each in table.possible(low))
