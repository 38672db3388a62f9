"""Finds turns that tell of a game at play, of a part or of a made-up self: nothing of it is so of
who types it. Pure.

Few name the game. What shows it are words that only games have ("the golem despawned"), or several
that games have more often than life. The words are in `rules/played.yaml`.
"""

from __future__ import annotations

from typing import NamedTuple

from beliefledger.gate.cues import Cues
from beliefledger.gate.literals import Guarded, Table, plain

_CUES = Cues("rules/played.yaml")
LONGEST = 600
"""Turns of more characters tell of more than a game."""
_ENOUGH = 2
"""So many hints show a game; a telling word counts as so many."""


class _Words(NamedTuple):
    pattern: Guarded


def _table(block: str) -> Table[_Words]:
    return Table(map(_Words, _CUES.lines(block)))


_TELLING, _HINTS, _OF_LIFE = _table("telling"), _table("hints"), _table("of life")


def is_played(text: str) -> bool:
    """Whether a turn tells of a game at play, a part or a made-up self."""
    if len(text) > LONGEST:
        return False
    low = plain(text)
    shown = _ENOUGH * _found(_TELLING, low) + _found(_HINTS, low)
    if shown < _ENOUGH:
        return False
    return shown >= 2 * _ENOUGH or not _found(_OF_LIFE, low)


def _found(table: Table[_Words], low: str) -> int:
    """How many lines of a table find something in a text."""
    return sum(each.pattern.pattern.search(low) is not None for each in table.possible(low))
