"""Whether a clause that begins as if it left "I" out has another subject: "learning German is hard"
does not say that anybody learns it, and "been a while since we talked" is of no person."""

from __future__ import annotations

from collections.abc import Sequence

_FINITE = frozenset(
    "is isn't isnt are was wasn't were has hasn't can can't could will would won't takes took makes"
    " made helps helped keeps kept gives gave feels felt seems means meant costs requires requires"
    " gets got brings brought lets fascinates interests excites relaxes calms inspires challenges"
    " scares bores stresses tires teaches taught became becomes sounds looks beats".split()
)
_LONG = frozenset("while minute sec second long ages forever bit hectic".split())
_ENDS = frozenset(
    ", ; : . ! ? ( ) – — but so because cos cuz since while that which who whom whose if when as"
    " where what how why than after before until till once unless though although".split()
)


def is_of_another(words: Sequence[str]) -> bool:
    """Whether the clause that these words in lower case begin has another subject than "I": the
    verb in "-ing" it begins with, or the time that has gone by."""
    if words[0] == "been":
        return words[1] in _LONG or (
            words[1] in ("a", "so", "too") and words[2:3] != [] and words[2] in _LONG
        )
    if not words[0].endswith("ing"):
        return False
    for word in words[2:]:
        if word in _ENDS:
            return False
        if word in _FINITE:
            return True
    return False
