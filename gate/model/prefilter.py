"""Turns in which there is nothing to keep, told without asking a model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from beliefledger.gate.speech import sentences
from beliefledger.ledger.candidate import Speech

_THANKS = frozenset(
    "thanks thank you thx ty cheers ok okay k kk alright great good cool nice perfect awesome"
    " wonderful amazing excellent fantastic lovely brilliant super hi hello hey bye goodbye morning"
    " evening night got it so much very a lot again that's thats this is that was will do please"
    " sounds fine noted understood wow haha lol hm hmm oh ah well then for your help the go on"
    " continue next more".split()
)
_AGREES = frozenset("yes yeah yep yup right exactly correct indeed true sure no nope nah".split())
_FIRST_PERSON = re.compile(
    r"\b(?:i|i['’](?:m|ve|d|ll)|im|ive|me|my|mine|we|we['’]\w+|us|our|ours)\b"
)
_ASKING_FOR = re.compile(
    r"\b(?:help|tell|show|give|let|teach|remind|send|get|find|write|explain to|walk) (?:me|us)\b|"
    r"\b(?:can|could|may|should|do|would|shall|must|might|did) (?:i|we)\b"
)
_ENGLISH = re.compile(
    r"\b(?:what|who|where|why|how|which|can|could|does|did|should|would|you|the)\b"
)
"""In another language we would not know who is spoken of."""
_LETTER = re.compile(r"[^\W_]")


def nothing_to_keep(turn: Speech, earlier: Sequence[Speech] = ()) -> str | None:
    """Why a turn need not be looked at (`prefilter:thanks`), or None. Rather too few than too many:
    an answer to a question ("Porto.", "yes") is always looked at."""
    text = turn.content.casefold()
    if not _LETTER.search(text):
        return "prefilter:no_words"
    said = re.findall(r"[^\W_]+(?:['’][^\W_]+)?", text)
    if len(said) <= 12:
        plain = {word.replace("’", "'") for word in said}
        if plain <= _THANKS:
            return "prefilter:thanks"
        if plain <= _THANKS | _AGREES and not (earlier and earlier[-1].role == "assistant"):
            return "prefilter:thanks"
    asked = all(text[low:high].rstrip("\"'”’)* ").endswith("?") for low, high in sentences(text))
    if asked and _ENGLISH.search(text) and not _FIRST_PERSON.search(_ASKING_FOR.sub(" ", text)):
        return "prefilter:question"
    return None
