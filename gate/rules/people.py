"""What people near to somebody are called: "my older sister", "our boss"."""

from __future__ import annotations

from beliefledger.gate.rules.lexicon import MANY, ONE, PETS

_MORE = (
    "bro sis gf bf hubby missus mate bff bestie roomie workmate nana granddaughter grandson "
    "line-manager lodger ex stepson stepdaughter mama papa daddy mummy landlady cleaner"
)
NOUNS = (ONE | MANY | frozenset(_MORE.split())) - PETS - {"team", "client"}
KIN = "|".join(sorted(NOUNS, key=lambda each: (-len(each), each))).replace("-", "[- ]")
"""An alternation of them."""
HOW = (
    "older|younger|elder|little|big|baby|best|good|close|old|oldest|youngest|eldest|twin|half|"
    "dear|lovely|new|poor|great|late|line"
)
"""What stands before such a noun."""
WHICH = {
    word: words.split()[0]
    for words in (
        "older elder oldest eldest big", "younger youngest little", "first", "second", "third",
        "other", "half", "twin", "late",
    )
    for word in words.split()
}  # fmt: skip
"""Words that tell one relative from another of the same noun."""
