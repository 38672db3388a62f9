"""What was noticed and is probably not meant: a joke, a game, the moment.

How surely a sentence is meant is scored by `beliefledger.gate.scorers`; how much it takes depends
on what was noticed in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from beliefledger.gate import notes, scorers
from beliefledger.gate.asking_tails import told_until
from beliefledger.gate.rules import greetings, named_roles, yes_no
from beliefledger.gate.rules.lexicon import WORDS
from beliefledger.gate.rules.whole_sentences import OF_ANSWERS
from beliefledger.gate.sentences import sentences
from beliefledger.ledger.candidate import SELF, Candidate, Durability, Source, Speech, SpeechAct
from beliefledger.ledger.late_patterns import compile_later

_OF_IDENTITY = ("identity.", "work.role", "body.height", "relation.marital-status", "tool.")
_BORN = "born "
"""How the value of an event begins that tells when somebody was born."""


def weighed(
    candidates: list[Candidate], text: str, earlier: Sequence[Speech]
) -> Iterator[Candidate]:
    """The candidates, those whose sentence is probably a joke, of a game, of the moment or the like
    as not meant, and none of a sentence that tells a secret."""
    told = sentences(text) if candidates else []
    in_a_game = scorers.threshold("doubt in a game")
    playing = None
    for candidate in candidates:
        span = candidate.spans[0]
        if span.turn:
            yield candidate
            continue
        if candidate.source is Source.CONFIRMED and _is_confirmed(text, earlier):
            played = scorers.in_a_game([each.content for each in earlier])
            yield (
                candidate.model_copy(update={"act": SpeechAct.HYPOTHETICAL})
                if played
                else candidate
            )
            continue
        said = next((text[at:end] for at, end in told if at <= span.start < end), span.quote)
        if notes.tells_secret(said):
            continue
        if candidate.type in _DONE and _TURNED_DOWN.match(text, span.end):
            continue  # "got an offer from Bosch but turned it down": the whole of it is a note
        asks = candidate.attribute.startswith(OF_ANSWERS)  # which is no statement, and earnest
        plainly = candidate.act is SpeechAct.STATEMENT and not candidate.ends and not asks
        news = candidate.act is SpeechAct.CHANGE
        if news and scorers.earnest(said) < scorers.threshold("doubt of news"):  # "sold my soul"
            yield candidate.model_copy(update={"act": SpeechAct.HYPOTHETICAL})
            continue
        if not plainly or candidate.durability is Durability.TRANSIENT:
            yield candidate
            continue
        # What is told beside a question is judged by itself.
        if _answers(candidate) and said.strip() == text.strip():
            said = _as_said(candidate.claim)
        earnest = scorers.earnest(span.quote) if _asks(said) else _earnest(said)
        doubt = scorers.threshold(_doubt(candidate, said, at_length=len(text) > notes.CHAT))
        if playing is None and doubt <= earnest < in_a_game:  # else a game makes no difference
            playing = scorers.in_a_game([each.content for each in earlier])
        if earnest < (in_a_game if playing else doubt) and (
            playing or not _is_plain_alone(candidate, said, earnest)
        ):
            yield candidate.model_copy(update={"act": SpeechAct.HYPOTHETICAL})
        else:
            yield candidate


def _earnest(said: str) -> float:
    """How surely a sentence is meant, with what it asks for at its end or without it: "my boss has
    retired, write a card"."""
    said = _NEWS.sub("", said)
    until = told_until(said, 0, len(said))
    told = 0.0 if until is None else scorers.earnest(said[:until])
    return max(scorers.earnest(said), told)


def _is_plain_alone(candidate: Candidate, said: str, earnest: float) -> bool:
    """Whether what somebody has or does begins their sentence and is meant by itself, whatever goes
    on behind it: "I have seven hens and they lay well"."""
    span = candidate.spans[0].quote
    begins = candidate.attribute.startswith(_PLAIN) and said.startswith(span)
    if not begins or earnest < scorers.threshold("doubt where it is little"):
        return False
    rest = said[len(span) :]
    if _BRANDED.match(candidate.value) is not None:
        return True  # "my car is a ford focus"
    if _GOES_ON.match(rest) is None:
        return False
    return scorers.earnest(span) >= _SURE


_PLAIN = ("has.", "habit.", "does.", "uses.", "thing.", "device.", "vehicle.")
_SURE = 0.85
_GOES_ON = compile_later(
    r": ?(?:mon|tue|wed|thu|fri|sat|sun)|\s(?:and|but) (?:they|it|he|she|the)\b", re.I
)
"""What tells more of the same thing. A punchline stands behind other marks: "two jobs: parenting
and regretting it"."""
_BRANDED = compile_later(rf"an? (?:{'|'.join(sorted(WORDS['brands']))})(?: \w+){{0,3}}\Z", re.I)


def _answers(candidate: Candidate) -> bool:
    """Whether a question of the assistant is a part of what was said ("Where do you live?"), and
    not one that is only confirmed."""
    told = candidate.source is not Source.CONFIRMED and candidate.claim.startswith(SELF)
    return told and any(each.turn for each in candidate.spans[1:])


def _as_said(claim: str) -> str:
    """A claim in the first person: whether "Bergen" is meant nobody knows, but of "I live in
    Bergen" one does."""
    begins = next(each for each in _FIRST_PERSON if claim.startswith(each))
    return _FIRST_PERSON[begins] + claim.removeprefix(begins)


_FIRST_PERSON = {
    f"{SELF}'s ": "My ",
    f"{SELF} is ": "I am ",
    f"{SELF} has ": "I have ",
    f"{SELF}: ": "I'm ",
    SELF: "I",
}


def _is_confirmed(text: str, earlier: Sequence[Speech]) -> bool:
    """Whether what was said before is confirmed plainly: as the answer to a plain question, or in
    so many words."""
    return bool(earlier) and (yes_no.is_plain(earlier[-1]) or _CONFIRMS.match(text) is not None)


def _doubt(candidate: Candidate, said: str, *, at_length: bool) -> str:
    """Which threshold what was noticed in a sentence has to reach; `at_length` where the turn is
    longer than chat, in which few people joke."""
    # What is of a special category waits for a person in any case, who had better see it; what
    # stands in a question is part of a sentence, of which the score knows less. Who somebody is is
    # often said in so few words ("I was born in 1990") that the score knows little.
    if candidate.attribute.startswith("contact."):
        return "doubt of a name"  # "email me at …" is an order as much as a statement
    is_given = greetings.is_given(candidate.value)
    if is_given and candidate.attribute == greetings.ATTRIBUTE:
        return "doubt of a name" if _LAUGHS.search(said) is None else "doubt"
    beside = candidate.participants and named_roles.is_name(candidate.value)
    says = _SAYS.match(said, len(candidate.spans[0].quote)) is not None
    if beside and (named_roles.asks_beside(said) or (says and said.startswith(("my ", "My ")))):
        return "doubt of a name"
    who = candidate.attribute.startswith(_OF_IDENTITY) or candidate.value.startswith(_BORN)
    who = who or _LISTS.match(said) is not None
    if who or is_given or candidate.category is not None or _asks(said):
        return "doubt where it is little"
    if at_length:
        return "doubt at length"
    return "doubt in few words" if len(scorers.WORD.findall(said)) <= _FEW else "doubt"


_SAYS = compile_later(r" (?:says|thinks|reckons|wants|told me|keeps (?:saying|telling))\b", re.I)
"""What somebody says may be a joke; that there is who says it is none."""
_FEW = 5
"""Words of a sentence of which the score knows little."""


_LISTS = compile_later(
    r"\W*(?:(?:so|and|also|btw|well|hi|hey|ok)\W+){0,2}(?:my|our) (?:main |biggest |only |"
    r"favou?rite )?(?:hobby|hobbies|interests?|passions?|pastimes?|sports?|instruments?|languages|"
    r"skills) (?:is|are|include)\b(?! (?:\w+ing (?:at|about|for|with|over|until)|complain|procrast|"
    r"nap|sleep))",
    re.I,
)
"""What somebody only names, in words of which the scorer knows little."""
_DONE = ("event", "commitment", "decision", "fact")
_TURNED_DOWN = compile_later(
    r"(?: (?:today|yesterday|last \w+|this \w+|from [\w'’& ]{1,30}?))?\W{0,2}(?:but|and|which|"
    r"though|then|yet|so)? ?(?:i |we |i['’]ve |ive |have |then |just |had to ){0,3}(?:(?:turned|"
    r"turn|knocked) (?:it|them|that|him|her|the offer|this)(?: one)? (?:down|back)|turned down\b|"
    r"said (?:no|nope)\b|declined\b|did(?: not|n['’]?t) (?:take|accept|want) (?:it|them|the)\b|"
    r"(?:passed|passing) (?:on it|it up)\b|backed out\b|sent it back\b|refused\b|rejected it\b)",
    re.I,
)
"""What somebody got and did not take."""
_CONFIRMS = compile_later(
    r"\W*(?:(?:yes|yeah|yep|yup|indeed)\b\W*)?(?:(?:that['’]?s|that is) (?:right|correct|true)|"
    r"exactly|correct)\b",
    re.I,
)
"""What confirms in so many words, and tells nothing by itself that a score could judge."""
_LAUGHS = compile_later(r"\b(?:lol|lmao|rofl|(?:ha){2,}|xd|jk)\b|[😂🤣😜😆]", re.I)


def _asks(said: str) -> bool:
    """Whether a sentence asks something, also without the mark."""
    return "?" in said or _ASKING.match(said) is not None


_ASKING = compile_later(
    r"^\W*(?:(?:hi|hey|hello|so|ok|and|but)\b\W*)?(?:what|how|where|when|which|who|why)\b"
    r"(?:['’]?s)?\s(?:should|do|does|did|can|could|would|is|are|am|to|a|the|good)\b",
    re.I,
)
_NEWS = compile_later(
    r"^\W*(?:(?:quick|small|little|life|just an?) )?"
    r"(?:update|news|fyi|psa|heads[- ]up|reminder|note)"
    r"(?: (?:for you|on me|from me))? ?[:,–—-]+ ?|^\W*(?:yes|yeah|yep|yup)[,.!]? (?=i\b|my\b|we\b)|"
    r"^\W*(?:hi|hey|hello|hiya)(?: there| all| everyone| again)?[,!. -]+"
    r"(?=i\b|i['’]?m\b|my\b|we\b)",
    re.I,
)
"""Greets, or says that what follows is news, and nothing of how it is meant."""
