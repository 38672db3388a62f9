"""Where somebody lives who planned to move there and tells that it is done: "moved in, finally".

Only a plan that names its place tells where that is. Pure but for what a draft looks up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from beliefledger.gate.belief import Held
from beliefledger.gate.calendar_names import MONTHS
from beliefledger.gate.carried_out import (
    is_sincere,
    quoted,
    span_of,
    spans_of,
    told_in,
    within,
    without_notes,
)
from beliefledger.gate.claims import CHECK
from beliefledger.gate.decision import TurnView
from beliefledger.gate.draft import Draft
from beliefledger.gate.meant_memories import Standing
from beliefledger.gate.rules.lexicon import WORDS
from beliefledger.ledger.candidate import SELF, Candidate, Ends, Source, SpeechAct
from beliefledger.ledger.late_patterns import compile_later

ATTRIBUTE = "home.location"
_LEAD = (
    r"(?:^\W*|[,;.] |\b(?:and|so|but) )"
    r"(?:(?:ok|okay|so|well|update|yay|omg|phew|wow|oh|hey|hi)\b\W{0,3}){0,3}+"
)
_ADVERBS = r"(?:(?:now|finally|officially|all|just|actually|fully|already|both|mostly)\s)*+"
_WE = rf"(?:(?:we|i|we['’]?ve|i['’]?ve|we have|i have|we['’]?re|i['’]?m|we are|i am)\s)?{_ADVERBS}"
_HOME = r"(?:flat|place|house|apartment|home|studio|room|cottage|bungalow|digs|pad|city|town)"
_END = (
    r"(?=\W*$|\s?[,.!;:(]|"
    r"\s(?:now|today|yesterday|finally|last|this|on|since|and|but|already|at last)\b)"
)
_DONE = compile_later(
    rf"{_LEAD}(?:{_WE}(?:moved in(?: together)?|settled in){_END}|finally in{_END}|"
    rf"(?:we['’]?re|i['’]?m|we are|i am)\s{_ADVERBS}(?:living |settled |set up |unpacked )?"
    rf"(?:in|at)\s(?:the|our|my)\snew\s{_HOME}{_END}|"
    rf"(?:the|our|my)\s(?:big\s)?move(?:['’]s|\sis|\swas|\swent|\shas been)\s{_ADVERBS}"
    r"(?:well|fine|ok|okay|good|great|smooth(?:ly)?|done|over|behind (?:us|me)|finished)\b|"
    rf"first (?:night|week|day|morning) (?:in|at) (?:the|our|my) new {_HOME}\b|"
    rf"(?:we['’]?ve|i['’]?ve|we have|i have|been)\s(?:been\s)?(?:living\s)?(?:in|at)\s"
    rf"(?:the|our|my)\s(?:new\s)?{_HOME}\s(?:for\s)?(?:an?|one|two|three|four|five|six|\d{{1,2}}|over)"
    rf"\s(?:\w+\s)?(?:days?|weeks?|months?)\b|"
    rf"(?:unpacked|unpacking) the last (?:of the )?box(?:es)?\b)",
    re.I,
)
_THERE = compile_later(
    rf"{_LEAD}(?:(?:we['’]?re|i['’]?m|we are|i am)\s{_ADVERBS}(?:living |settled )?in\s|"
    rf"(?:finally |now |living |settled ){{0,2}}in\s(?=[^\W\d_][\w'’-]+(?: [A-Z][\w'’-]+)? now\b)|"
    rf"{_WE}(?:made it (?:safely )?to|arrived (?:safely )?in|landed in|(?:got|moved) to)\s)"
    r"(?P<place>[^\W\d_][\w'’-]+(?: (?!now\b)[A-Z][\w'’-]+)?)"
    r"(?=\W*$|\s?[,.!;(]|\s(?:now|finally|at last|and|but)\b)",
    re.I,
)
_NEEDED = ("move", "settled", " in", "in ", " at ", "unpack", " to ")
"""One of these is in whatever tells that a move is done."""
_NOT_DONE = compile_later(
    r"\b(?:if|when|once|until|before|after|will|would|tomorrow|next|not|n['’]t|almost|nearly|hotel|"
    r"holiday|vacation|weekend|visiting|trip|airbnb|wish|imagine|pretend|dream(?:t|ed)?|could|"
    r"should|might|he|she|they|his|her|their|said|says)\b",
    re.I,
)
_PLAN = compile_later(
    r"\b(?:(?:mov(?:e|ing)|relocat(?:e|ing))\s(?:in\s|back\s|over\s|out\s|up\s|down\s)?to\s|"
    r"(?:placement|semester|year|erasmus|posting|secondment)\s(?:in|at)\s)"
    rf"(?P<value>(?:(?:an?|our|the|my)\s(?:[\w-]{{2,16}}\s){{0,3}}?{_HOME}\s(?:in|near)\s)?"
    r"(?P<place>(?:the\s)?[^\W\d_][\w'’-]+(?:\s[\w'’-]+){0,2}))",
    re.I,
)
_UNSURE = compile_later(
    r"\b(?:might|(?:user|i|we) may|maybe|perhaps|thinking|think|consider\w*|would|could|"
    r"dream\w*|some ?day|one day|not|never|n['’]t|no longer|if|wants?|hopes?|hoping|wish\w*)\b",
    re.I,
)
_ENDS_PLACE = frozenset(
    "in on at next this by with for from before after when because so and but to until end early"
    " mid late soon now again the a an as once via over where which who around about during"
    f" tomorrow today {' '.join(MONTHS)} jan feb mar apr jun jul aug sep sept oct nov dec summer"
    " winter spring autumn fall together permanently there here full work another different".split()
)
_NO_PLACE = _ENDS_PLACE | frozenset(
    "new bigger smaller nicer cheaper own place house flat apartment town city country abroad my"
    " our his her their a an linux mac windows python days nights part another".split()
)
_PLANS = ("event.plan", "event.move", "commitment.", "decision.", "note.", "event.appointment")
_OF_USER = compile_later(
    r"(?:User(?!['’]s)|\W*(?:so |and )?(?:we|i|im|i['’]m|were|we['’]re)\b|moving)", re.I
)


def settled(
    draft: Draft, subject_ref: str, turn: TurnView, candidates: Sequence[Candidate]
) -> tuple[TurnView, Sequence[Candidate]]:
    """The candidates and, where the turn tells that a move is done which was planned, the home that
    the plan names; and the turn with what that cites."""
    span = _done(turn)
    if span is None or any(each.attribute == ATTRIBUTE for each in candidates):
        return turn, candidates
    start, end, place = span
    plans = [
        (held, value, start_of)
        for held in Standing(draft, subject_ref, turn).of_user()
        if (told := _planned(held)) is not None
        for value, start_of in [told]
    ]
    places = {value.lower() for _, value, _ in plans}
    if len(places) != 1 or (place is not None and place not in next(iter(places))):
        return turn, candidates
    home = _home(turn, (start, end), [held for held, _, _ in plans], plans[-1][1])
    cites = draft.cited(subject_ref, [home])
    home = home.model_copy(update={"spans": quoted(home, cites, _PLAN), "check": CHECK})
    settled_at = within(home, _claims(plans[-1][1]))
    if settled_at is None or len(settled_at.spans) < 2:
        return turn, candidates
    return turn.citing(cites), [*without_notes(candidates, start, end), settled_at]


def _done(turn: TurnView) -> tuple[int, int, str | None] | None:
    """The sentence that tells that a move is done, and the place that it names, if any."""
    for start, end, said in told_in(turn, _NEEDED):
        if _NOT_DONE.search(said):
            continue
        there = None
        if _DONE.search(said) is None:
            there = _THERE.search(said)
            if there is None:
                continue
        if is_sincere(turn, start, end):
            return start, end, None if there is None else there["place"].lower()
    return None


def _planned(held: Held) -> tuple[str, int] | None:
    """The place that a memory plans to move to, and where it stands in the claim."""
    memory = held.written.memory
    if not memory.attribute.startswith(_PLANS) or memory.negated:
        return None
    claim = memory.claim
    found = _PLAN.search(claim)
    if found is None or _OF_USER.match(claim) is None or _UNSURE.search(claim) is not None:
        return None
    words = found["place"].split()
    kept: list[str] = []
    for at, word in enumerate(words):
        low = word.lower().strip(".,!")
        if low in (_NO_PLACE if at == 0 else _ENDS_PLACE) and not (at == 0 and low == "the"):
            break
        kept.append(word.strip(".,!"))
        if word[-1] in ".,!" or (at and not word[0].isupper()):
            break
    if kept and kept[-1][0].islower() and len(kept) > 1 and kept[0][0].isupper():
        kept.pop()  # "Ghent permanently"
    if not kept or kept == ["the"] or kept[-1].lower() in WORDS["not_names"]:
        return None
    lead = found["value"][: found.start("place") - found.start("value")]
    return lead + " ".join(kept), found.start("value")


def _home(turn: TurnView, span: tuple[int, int], plans: list[Held], value: str) -> Candidate:
    """The home of the plans, as said by these words and those of the plans."""
    return Candidate(
        claim=_claims(value)[0],
        spans=(span_of(turn, *span), *spans_of(plans[-1])),
        type="fact",
        attribute=ATTRIBUTE,
        value=value,
        act=SpeechAct.CHANGE,
        source=Source.STATED,
        topic="home",
        importance=800_000,
        confidence=800_000,
        ends=tuple(
            Ends(attribute=each.written.memory.attribute, value=each.written.memory.value)
            for each in plans
        ),
    )


def _claims(value: str) -> list[str]:
    """What may be said of a home; the first that says no more than the words do is."""
    return [f"{SELF} moved to {value}", f"{SELF} is in {value} now"]
