"""Whether somebody whom one has for a while is gone: a boss, a flatmate, a cat, a late wife."""

from __future__ import annotations

from collections.abc import Sequence

from beliefledger.gate.rules.lexicon import PETS, WORDS, load
from beliefledger.gate.rules.words import Token

_FOR_A_WHILE = frozenset(load("people.yaml")["work"].split()) | frozenset(
    "roommate flatmate housemate lodger landlord landlady".split()
)
"""Whom one has as long as they stay."""
_OF_LOVE = frozenset(
    "wife husband partner spouse girlfriend boyfriend gf bf fiance fiancé fiancee fiancée".split()
)
"""Who is one's own no more once they died; a father is the father still."""
_BEFORE = frozenset("just has have had to be recently sadly finally got was been".split())
_DEAD = frozenset("died".split())
_PUT_DOWN = (["put", "down"], ["put", "to"], ["passed", "away"], ["ran", "away"], ["run", "over"])
_PASSED = (["passed", "away"], ["passed", "on"])
_WHEN = frozenset("in last this two three four five ten on suddenly peacefully when so and".split())
"""Behind "passed" of who died: not "passed her exam"."""
_LEFT = frozenset("left quit resigned retired".split())
_SENT_OFF = frozenset("fired sacked dismissed promoted poached".split())
_REACH = 7
_AWAY = (["moved", "out"], ["moved", "on"], ["stepped", "down"])


def are_gone(noun: str, words: Sequence[Token], at: int) -> bool:
    """Whether the words from `at` on say that who was named before them, and is a `noun` of the
    speaker's, is gone: "my boss Helen left", not "left me a note"."""
    if noun not in _FOR_A_WHILE and noun not in PETS and noun not in _OF_LOVE:
        return False
    low = [word.low for word in words[at : at + _REACH]]
    while low and low[0] in _BEFORE:
        low = low[1:]
    if not low:
        return False
    if noun in PETS or noun in _OF_LOVE:
        if low[0] == "passed" and (len(low) == 1 or low[1] in _WHEN or not low[1][0].isalnum()):
            return True
        return low[0] in _DEAD or low[:2] in (_PUT_DOWN if noun in PETS else _PASSED)
    if low[0] in _SENT_OFF or low[:2] in _AWAY:
        return True
    said_what = len(low) > 1 and low[1] in WORDS["determiner_words"] | {"me", "us"}
    return low[0] in _LEFT and not said_what
