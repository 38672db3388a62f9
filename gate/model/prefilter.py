"""Turns in which there is nothing to keep, told without asking a model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from beliefledger.gate.sentences import sentences
from beliefledger.ledger.candidate import Speech
from beliefledger.ledger.late_patterns import compile_later

_THANKS = frozenset(
    "thanks thank you thx ty cheers ok okay k kk alright great good cool nice perfect awesome"
    " wonderful amazing excellent fantastic lovely brilliant super hi hello hey bye goodbye morning"
    " evening night got it so much very a lot again that's thats this is that was will do please"
    " sounds fine noted understood wow haha lol hm hmm oh ah well then for your help the go on"
    " continue next more".split()
)
_AGREES = frozenset("yes yeah yep yup right exactly correct indeed true sure no nope nah".split())
_FIRST_PERSON = compile_later(
    r"\b(?:i|i['’](?:m|ve|d|ll)|im|ive|me|my|mine|we|we['’]\w+|us|our|ours)\b"
)
_ASKING_FOR = compile_later(
    r"\b(?:help|tell|show|give|let|teach|remind|send|get|find|write|explain to|walk) (?:me|us)\b|"
    r"\b(?:can|could|may|should|do|would|shall|must|might|did) (?:i|we)\b"
)
_ENGLISH = compile_later(
    r"\b(?:what|who|where|why|how|which|can|could|does|did|should|would|you|the)\b"
)
"""In another language we would not know who is spoken of."""
_LETTER = compile_later(r"[^\W_]")
_FACT = compile_later(
    r"\d|\b(?i:wife|husband|hubby|partner|spouse|girlfriend|boyfriend|gf|bf|fianc\w+|mother|mom|mum|"
    r"father|dad|parents?|sister|brother|siblings?|son|daughter|kids?|child\w*|toddler|baby|twins?|"
    r"teenager|grand\w+|aunt|uncle|cousin|nephew|niece|friend|roommate|flatmate|boss|colleague|"
    r"landlord|dog|cat|puppy|kitten|pet|horse|rabbit|as an?|with an? \w+ed|without|allerg\w*|"
    r"vegan|vegetarian|pregnant|diabet\w*|celiac|coeliac|since|because|after|before|who|whose|"
    r"that is|that's|already|still|again|any ?more|no longer|used to|moved?|moving|live|lives|"
    r"living|work|works|working|own|owned|married|birthday|anniversary)\b"
)
"""What a question says besides what it asks: a number, a name, somebody, a circumstance."""
_NAME = compile_later(r"(?<=[a-z,;] )(?!I\b|I['’])[A-Z]")
_OF_THE_WORLD = compile_later(
    r"\W*(?:who|what|when|where|which)(?:['’]s| is| are| was| were| did)\b", re.I
)
"""Questions whose names are what they ask about: "What is the capital of Peru?"."""
_LONGEST_QUESTION = 12
"""Words. Whoever asks at greater length tells why."""


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
    if (
        asked
        and all(len(text[low:high].split()) <= _LONGEST_QUESTION for low, high in sentences(text))
        and _ENGLISH.search(text)
        and not _FIRST_PERSON.search(_ASKING_FOR.sub(" ", text))
        and not _FACT.search(turn.content)
        and (_OF_THE_WORLD.match(turn.content) or not _NAME.search(turn.content))
    ):
        return "prefilter:question"
    return None
