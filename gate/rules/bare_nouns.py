"""Whose a noun without "my" is: "name is Theo" tells of the speaker, and in "hired a baker! name is
Oona" of whoever the sentence before speaks of."""

from __future__ import annotations

from beliefledger.gate.rules.lexicon import MANY, NEAR, ONE, PETS, load
from beliefledger.gate.rules.patterns import is_role
from beliefledger.gate.rules.words import Token, tokens
from beliefledger.gate.sentences import preceding

_DATA = load("normalised.yaml")
BARE = frozenset(_DATA["bare"].split())
"""Nouns that begin a sentence without "my": "budget is 600"."""
VERBS = frozenset({"is", "went"})
_OF_BEINGS = frozenset("name birthday bday hometown age height salary job boss".split())
_GOT = frozenset("got bought hired adopted rescued met opened founded launched built born".split())
_TO_ONESELF = frozenset("me you us".split())
_SELF = frozenset("i'm im am as".split())
_ARTICLES = frozenset("a an the".split())
_SOMEBODY = frozenset("someone somebody guy girl woman man lady trainee newbie he she they".split())
_OF_THE_HOME = frozenset(
    "wife husband spouse partner fiance fiancé fiancee fiancée girlfriend boyfriend landlord"
    " manager boss supervisor family team kids children".split()
)
_OTHERS = (ONE | MANY) - _OF_THE_HOME
"""Who has a rent, a car and a phone of their own."""


def is_of_another(text: str, start: int, end: int) -> bool:
    """Whether the sentence text[start:end] begins with a bare noun that belongs to whom or what the
    sentence before tells of."""
    before = preceding(text, start) if text[start:end].partition(" ")[0].lower() in BARE else None
    if before is None:
        return False
    noun, verb, *_ = *tokens(text, start, end), *_NO_TOKENS
    if verb.low not in VERBS:
        return False
    words = tokens(text, *before)
    if noun.low not in _OF_BEINGS:
        return any(word.low in _OTHERS for word in words[:3]) and words[0].low in ("my", "our")
    said = {word.low for word in words}
    if noun.low == "name" and not _GOT.isdisjoint(said):
        return True
    if noun.low == "name" and not _TO_ONESELF.isdisjoint(said):
        return False  # "a friend told me to sign up. name is Theo"
    if words[0].low in _SELF or (words[0].low == "i" and words[1:2] and words[1].low == "am"):
        return False  # "I'm a dog walker. name is Sam"
    return any(_is_being(words, at) for at in range(len(words)))


_NO_TOKENS = (Token("", "", 0, 0),) * 2


def _is_being(words: list[Token], at: int) -> bool:
    """Whether a word is of somebody else or of a pet; "I'm a nurse" is of the speaker."""
    low = words[at].low.removesuffix("'s")
    if low in _SOMEBODY or low in PETS:
        return True
    if low not in NEAR and not is_role(low):
        return False
    begin = at
    while begin and words[begin - 1].text.isalpha() and at - begin < 3:
        begin -= 1
        if words[begin].low in _ARTICLES:
            break
    return begin == 0 or words[begin - 1].low not in _SELF
