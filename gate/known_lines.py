"""Finds sentences that are lines of songs, films and books that everybody knows, or of what sounds
in somebody's head: said by somebody, but not of themselves. Pure.

The lines are in `rules/known_lines.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from beliefledger.gate.cues import Cues
from beliefledger.gate.literals import plain
from beliefledger.gate.sentences import LONGEST, sentences

_CUES = Cues("rules/known_lines.yaml")
_LINES = tuple(f" {each.strip()} " for each in _CUES["lines"].splitlines())
_MARKS = re.compile(r"[^\w\s]")
_HEARD = _CUES.guarded("heard")
_MUSIC = _CUES.guarded("music")


def known_lines(text: str) -> Iterator[tuple[int, int]]:
    """The sentences [start, end) of a turn that only quote such a line."""
    if len(text) > LONGEST:
        return
    for start, end in sentences(text):
        low = plain(text[start:end])
        if _is_known(low) or _is_heard(low):
            yield start, end


def _is_known(low: str) -> bool:
    words = " ".join(_MARKS.sub(" ", low.replace("'", "")).split())
    return any(map(f" {words} ".__contains__, _LINES))


def _is_heard(low: str) -> bool:
    """Whether a sentence goes round in somebody's head, and is not of their own music."""
    return _HEARD.search(low, low) is not None and _MUSIC.search(low, low) is None
