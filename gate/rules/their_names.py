"""Names told after who has them: "my cleaner comes on Mondays, her name is Rosa"."""

from __future__ import annotations

from collections.abc import Iterator

from beliefledger.gate.rules.findings import Reading, RuleFinding
from beliefledger.gate.rules.owned_things import between, owned
from beliefledger.gate.rules.patterns import is_role
from beliefledger.gate.rules.phrases import slug, text_of
from beliefledger.gate.rules.possessives import (
    MANY,
    ONE,
    PETS,
    name_end,
    relation_key,
    topic_of_noun,
)
from beliefledger.gate.rules.words import Token

MARKS = frozenset({"name", "name's", "names", "called"})
"""Words of which one is in every sentence that tells a name so."""


def findings(reading: Reading) -> Iterator[RuleFinding]:
    """ "My cleaner comes on Thursdays, her name is Rosa"; "she's called Rosa"."""
    words = reading.words
    for at in range(3, len(words) - 1):
        low = words[at].low
        if low in ("name", "name's", "names") and words[at - 1].low in _THEIRS:
            begin = at + 1 + (words[at + 1].low == "is")
        elif low == "called" and words[at - 1].low in ("she's", "he's", "it's"):
            begin = at + 1
        else:
            continue
        end = name_end(words, begin) if begin < len(words) else begin
        whose = _antecedent(words, at - 1)
        if end == begin or whose is None:
            continue
        my, noun = whose
        name = text_of(reading.content, words, begin, end)
        key = words[noun].low
        claim = f"User's {between(reading, my + 1, noun + 1)} is called {name}"
        yield owned(
            reading, my, end, claim, "relation",
            relation_key(key, [], name) or (
                f"relation.{key}.{slug(name)}" if key in MANY else f"relation.{key}.name"
            ),
            name, 700,
        )._replace(topic=topic_of_noun(key), participants=(name,), confidence=850)  # fmt: skip


_THEIRS = frozenset({"his", "her", "its", "their"})


def _antecedent(words: list[Token], at: int) -> tuple[int, int] | None:
    """The last "my …" or "a …" before `at` that is a person or pet: its article and its noun."""
    for noun in range(at - 1, max(0, at - 14), -1):
        low = words[noun].low
        if low not in ONE and low not in MANY and low not in PETS and not is_role(low):
            continue
        for my in range(noun - 1, max(-1, noun - 4), -1):
            if words[my].low in ("my", "our"):
                return my, noun
            if words[my].low in ("a", "an") and low in PETS:
                return my, noun
            if not words[my].text.isalpha():
                break
        return None
    return None
