"""Words typed without their apostrophe: "dads a taxi driver", "my sons 7".

Only where what follows tells that "is" is meant, and nothing that several people have.
"""

from __future__ import annotations

from beliefledger.gate.rules.lexicon import MANY, ONE, WORDS, load
from beliefledger.gate.rules.words import Token

_BARE = frozenset(load("normalised.yaml")["kin"].split()) | {"hubby", "gf", "bf", "nan", "gran"}
_NEAR = frozenset(each for each in ONE | MANY if not each.endswith("s"))
_OWNERS = frozenset({"my", "our"})
_QUALIFIERS = frozenset(load("people.yaml")["qualifiers"].split())
_ENDS = frozenset(".,;!-–—(")
_BEFORE = frozenset({"and", "but", "so", "now"})
_NO_NAME = frozenset("me him her us them off out in up it by back for round a an the my".split())
FIRST = frozenset(f"{each}s" for each in _BARE)
"""What such a sentence begins with that leaves "my" out."""


def apart(words: list[Token]) -> list[Token]:
    """The words with "is" for the "s" of who is told of at their beginning."""
    for at in range(min(3, len(words) - 1)):
        low = words[at].low
        if low[-1:] != "s" or low[:-1] not in _NEAR | _BARE:
            continue
        owned = at > 0 and words[at - 1].low in _OWNERS | _QUALIFIERS and words[0].low in _OWNERS
        bare = at == 0 and low in FIRST
        if not (owned or bare) or not _is_told(words, at + 1):
            return words
        whole = words[at]
        cut = whole.end - 1
        who = Token(whole.text[:-1], low[:-1], whole.start, cut)
        return [*words[:at], who, Token("s", "is", cut, whole.end), *words[at + 1 :]]
    return words


def _is_told(words: list[Token], at: int) -> bool:
    """Whether what stands there is what one person is: "a nurse", "7"."""
    low = words[at].low
    if low in ("called", "named"):
        return at + 1 < len(words) and words[at + 1].low not in _NO_NAME
    if low in ("a", "an"):
        return at + 1 < len(words) and words[at + 1].low not in WORDS["no_value"]
    following = words[at + 1].low if at + 1 < len(words) else "."
    return low.isdigit() and int(low) < 100 and following in _ENDS | _BEFORE
