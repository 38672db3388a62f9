"""Where a sentence that tells something goes on to ask: "signed up for the half marathon on 10 May,
can you make me a plan". Pure.
"""

from __future__ import annotations

import re

from beliefledger.ledger.late_patterns import compile_later

_HELP = r"(?:ideas?|tips?|advice|suggestions?|recommendations?|recs?|thoughts|help|hints?|pointers)"
_ASKS = compile_later(
    r"(?:[,;:.!(]| [–—-])\s*(?:(?:and|so|but|or|then|pls|please|also|btw|ok|hey) ){0,2}(?:"
    r"(?:can|could|would|will|should|shall|do|does|did|am|are|is|was|were|may|might|have|has) "
    r"(?:you|u|ya|someone|anyone|somebody|anybody|we|i|he|she|they|it|that|this|there|an?|the|my|"
    r"our)\b"
    r"|(?:what|how|where|when|why)"
    r"(?:['’]?s|['’]re| (?:do|does|did|is|are|can|could|should|would|will|to))\b"
    r"|what (?:else|next|now|kind|type|sort|time|size|if)\b|why not\b"
    r"|how (?:much|many|long|often|early|late|far|big)\b|(?P<perhaps>which|who)\b"
    r"|what (?:\w+ ){1,2}?(?:do|does|can|should|would|could|will) (?:i|we|you|he|she|they|it)\b"
    r"|what (?:\w+ ){1,2}?(?:is|are) (?:good|best|fair|right|ok|okay|safe|reasonable|normal|nice)\b"
    r"|(?:i|we) need an? (?:\w+ ){0,2}?(?:card|toast|speech|poem|recipe|caption|present|gift|quiz|"
    r"list|rota|excuse|letter|message|joke|slogan|reply|tagline|menu)\b"
    r"|which (?:\w+ ){1,2}?(?:do|does|is|are|can|should|would) (?:i|we|you|the|best)\b"
    r"|(?:any|some|got any|have any|need|looking for) (?:[a-z-]{3,14} )?"
    rf"{_HELP}\b|{_HELP}(?: (?:for|on|about|with|please|pls)\b|\?)"
    r"|(?:know |got |have )?(?:any|anything|anyone|anybody|anywhere) (?:[\w'’-]{1,20} ){0,5}"
    r"[\w'’-]{1,20} ?\?"
    r"|(?:help|give|tell|show|remind|make|find|write|draft|suggest|recommend|explain) (?:me|us)\b"
    r"|(?:write|draft|suggest|recommend|explain|translate) "
    r"(?:some|an?|the|what|how|it|this|that)\b)",
    re.IGNORECASE,
)
_FOR_HELP = compile_later(
    rf"(?:[,;:(]| [–—-]) ?(?:and |so )?(?:any |some |got any |have any )?"
    rf"(?:[\w'’-]{{1,20}} ){{0,2}}{_HELP}\b[^,.;:!?]{{0,60}}\?",
    re.IGNORECASE,
)
_LEADS = compile_later(
    r"\W*+(?:(?:ok(?:ay)?|so|hi|hey|hello|well|and|but|btw|um+|hm+|yes|yeah|no)[,!.]? ){0,3}"
    r"(?:if|when(?:ever)?|while|unless|suppos(?:e|ing)|assum(?:e|ing)|imagine|say|let['’]?s|for|"
    r"in|on|at|with|to|after|before|considering|given|instead|besides|apart|about|regarding|"
    r"speaking|next|first|what|how|which|where|who|why|can|could|would|will|should|do|does|did|is|"
    r"are|am|was|were)\b",
    re.IGNORECASE,
)
"""How a sentence begins that tells nothing before it asks."""
_FOR_GOOD = compile_later(
    r"\b(?:from (?:now|here|today) on|always|never|instead|in future|every time|each time)\b", re.I
)


def told_until(text: str, start: int, end: int) -> int | None:
    """Where what the sentence text[start:end] tells is over, and a question or a request begins;
    None where it asks nothing, or tells nothing before."""
    marked = text[end - 1] == "?"
    found = _ASKS.finditer(text, start, end)
    # "My dad, who plays tennis": only with its mark is it a question.
    asks = next((each for each in found if marked or each["perhaps"] is None), None)
    if asks is None or _LEADS.match(text, start, end) is not None:
        return None
    if _FOR_GOOD.search(text, asks.start(), end) is not None:
        return None  # "so give me Go from now on" is a wish that stands
    return asks.start()


_ON = compile_later(
    r"(?:\b(?:so|but|and|then)\b ?(?:then )?(?:why|how|what|when|where|who|which)"
    r"|(?:[,;:(]| [–—-]) ?(?:why|how|what))"
    r"(?:['’]?s)? (?:\w+ )?(?:do|does|did|is|are|was|were|can|could|should|would|will|has|have|so|"
    r"come|not)\b",
    re.IGNORECASE,
)


def asks_behind(text: str, start: int, end: int) -> bool:
    """Whether the sentence text[start:end] goes on to ask, with or without a mark, whatever it
    begins with: "in Norway everybody gets five weeks, how do shops work in July"."""
    asks = any(each["perhaps"] is None for each in _ASKS.finditer(text, start, end))
    return asks or _ON.search(text, start, end) is not None


def for_help(text: str) -> bool:
    """Whether words that go on behind a statement ask for help in a few words and with their mark:
    ", ideas for dinner?"."""
    return _FOR_HELP.search(text) is not None
