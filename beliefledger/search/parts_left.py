"""What is still so of a turn of which every memory is over. Pure.

"I'm a cook at Nando's, Ana is a nurse": that the job has ended says nothing of Ana, of whom perhaps
no memory was kept. What hangs on the words that are over ("it's a nice flat") is over with them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from beliefledger.gate.sentences import sentences
from beliefledger.projections.showing import Run, touches
from beliefledger.search.told_turns import acts

_STATES = re.compile(
    r"\W*+(?:(?:and|but|while|plus|also|btw)\b\W*+)?+(?:"
    r"(?:i|we) (?:also |still |always )?(?:am|are|have|like|love|hate|prefer|use|work|play|drive"
    r"|own|take|eat|drink|need|speak|study|teach)\b|[iI]['’]m\b"
    r"|(?:(?:my|our) [a-z]++(?: [a-z]++)?|(?!(?:"
    r"it|that|this|there|these|those|they|he|she|its|the|which|who|where|when|what|so|because|as|if"
    r"|not|no|in|on|at|near|with|for|to|from)\b)[a-z]++)"
    r"(?:['’](?:s|re)| (?:is|are|has|have|(?!was\b)[a-z]{2,20}(?<!s)s)\b))",
    re.I,
)
"""A clause that says of somebody or something of its own what is so: "Ana is a nurse". What
happened ("Priya left") is no less over than what it was said with."""
_HANGS = re.compile(r"\b(?:him|her|it|them|there)\b", re.I)
"""What points at what is over: "I love him so much"."""
_WORDS = re.compile(r"[^\W\d_]++")
_LEAST = 3


def parts_left(text: str, over: Sequence[Run], withheld: Sequence[Run] = ()) -> bool:
    """Whether anything that a text tells is outside of the words that are over, which stand at
    these places, and of what is withheld."""
    if not over:
        return True
    for start, end in withheld:  # as if these had not been said
        text = text[:start] + " " * (end - start) + text[end:]
    found = acts(text)
    silent = {*found.unmeant, *found.idle}
    for start, end in sentences(text):
        if (start, end) in silent:
            continue
        ended = sorted(run for run in over if touches((start, end), [run]))
        at = start
        for first, last in (*ended, (end, end)):
            rest = text[at : max(at, first)]
            told = len(_WORDS.findall(rest)) >= _LEAST and _HANGS.search(rest) is None
            if told and _STATES.match(rest) is not None:
                return True
            at = max(at, last)
    return False
