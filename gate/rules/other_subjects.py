"""Whether a clause that begins as if it left "I" out has another subject: "learning German is hard"
does not say that anybody learns it, and "been a while since we talked" is of no person."""

from __future__ import annotations

from collections.abc import Sequence

from beliefledger.gate.rules.words import Token

_FINITE = frozenset(
    "is isn't isnt are was wasn't were has hasn't can can't could will would won't takes took makes"
    " made helps helped keeps kept gives gave feels felt seems means meant costs requires"
    " gets got brings brought lets fascinates interests excites relaxes calms inspires challenges"
    " scares bores stresses tires teaches taught became becomes sounds looks beats".split()
)
_LONG = frozenset("while minute sec second long ages forever bit hectic".split())
_ENDS = frozenset(
    ", ; : . ! ? ( ) – — but so because cos cuz since while that which who whom whose if when as"
    " where what how why than after before until till once unless though although".split()
)


def is_of_another(words: Sequence[Token], at: int) -> bool:
    """Whether the clause that begins with the word at `at`, which is not the last one, has another
    subject than "I": the verb in "-ing" it begins with, or the time that has gone by."""
    low = words[at].low
    if low == "been":
        at += 1 + (words[at + 1].low in ("a", "so", "too"))
        return at < len(words) and words[at].low in _LONG
    if not low.endswith("ing"):
        return False
    for word in words[at + 2 :]:
        if word.low in _ENDS:
            return False
        if word.low in _FINITE:
            return True
    return False
