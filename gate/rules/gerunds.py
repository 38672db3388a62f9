"""Whether a verb in "-ing" that opens a clause is what the clause is about: "learning German is
hard" does not say that anybody learns it."""

from __future__ import annotations

from collections.abc import Sequence

_FINITE = frozenset(
    "is isn't isnt are was wasn't were has hasn't can can't could will would won't takes took makes"
    " made helps helped keeps kept gives gave feels felt seems means meant costs requires requires"
    " gets got brings brought lets fascinates interests excites relaxes calms inspires challenges"
    " scares bores stresses tires teaches taught became becomes sounds looks beats".split()
)
_ENDS = frozenset(
    ", ; : . ! ? ( ) – — but so because cos cuz since while that which who whom whose if when as"
    " where what how why than after before until till once unless though although".split()
)


def is_subject(words: Sequence[str]) -> bool:
    """Whether the first of some words in lower case, a verb in "-ing", is the subject of one that
    follows in its clause."""
    if not words[0].endswith("ing"):
        return False
    for word in words[2:]:
        if word in _ENDS:
            return False
        if word in _FINITE:
            return True
    return False
