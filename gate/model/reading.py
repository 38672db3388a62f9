"""From what a model noticed to candidates: its quotes are found in the turns, by us."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from itertools import accumulate, islice

from beliefledger.gate import deadline
from beliefledger.gate.claim_excess import LEXICAL, ends, literal, timed, tongue_of, value_said
from beliefledger.gate.claims import CLAUSE, beyond, denies, limits
from beliefledger.gate.extractor import Known
from beliefledger.gate.model.noticed import NOW, Bearing, Period, Quote, Statement, moment
from beliefledger.gate.policy import millionths
from beliefledger.gate.sentences import sentences
from beliefledger.gate.slots import words
from beliefledger.ledger.candidate import (
    Candidate,
    Precision,
    Source,
    Span,
    Speech,
    SpeechAct,
    When,
)
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.times import DAY, SECOND, from_datetime, to_datetime

_ALIKE = str.maketrans("’‘`´“”„«»", "''''" + '"' * 5)
"""Quotation marks of each kind as one."""
_SPACED = compile_later(r"\S+")
_AGREES = r"(?:yes|yeah|yep|yup|right|exactly|correct|indeed|true|sure)"
_YES = compile_later(
    rf"\W*(?:{_AGREES}(?:[ ,]+{_AGREES})*(?=[^\w\s]|\s*$|\s+(?:i|it|that|you|we|he|she|they)\b)|"
    r"that(?:'s|’s| is) (?:right|correct|true|me)\b)",
    re.I,
)
"""Not "right now" or "sure thing", which agree with nothing that was said."""
_SPEAKER = compile_later(r"\b(?:i|i['’]\w+|we|we['’]\w+)\b|^\W*(?:my|mine|our)\b", re.I)
_NOT_SO = compile_later(
    r"(?:\bnot|n['’]t|\bnever)\s+(?:\w+\s+){0,2}?(?:think|believe|say|said|saying|mean|claim|true|"
    r"the case)\b",
    re.I,
)
_NO_MORE = compile_later(r"\W*\b(?:no (?:more|longer)|any ?more|not(?! (?:only|just)))\b", re.I)


@dataclass(frozen=True, slots=True)
class Sight:
    """What the model had before it: the turn, and by their labels earlier turns and beliefs. Of the
    turn it saw the characters of one window."""

    turn: Speech
    earlier: Mapping[str, Speech] = field(default_factory=dict)
    known: Mapping[str, Known] = field(default_factory=dict)
    window: tuple[int, int] | None = None
    categorise: Callable[[Candidate], Candidate] = lambda found: found
    """Finds the special category of a candidate, by the model's own words too."""


def candidates(statements: Sequence[Statement], sight: Sight) -> list[Candidate]:
    """The candidates, by their first span.

    A quote that is in no turn is kept as a span that is not verbatim: the gate then refuses the
    candidate, on record.
    """
    found = [_candidate(each, sight) for each in statements]
    return sorted(found, key=lambda c: (c.spans[0].start, c.spans[0].end))


def _candidate(said: Statement, sight: Sight) -> Candidate:
    deadline.check()
    spans = [_span(quote, sight) for quote in said.quotes]
    spans.sort(key=lambda span: span.turn is not None)  # the turn's own words come first
    said = _borne(said, sight.known.get(said.known), spans)
    quotes = [span.quote for span in spans]
    found = Candidate(
        claim=said.claim,
        spans=tuple(dict.fromkeys(spans)),
        type=said.type,
        entity=said.entity,
        attribute=said.attribute,
        value=said.value,
        negated=said.negated,
        context=said.context or None,
        replaces=said.replaces or None,
        act=said.act,
        inferred=said.inferred,
        source=_source(said.value, spans, sight.turn, sight.earlier, negated=said.negated),
        durability=said.durability,
        topic=said.topic,
        category=said.category or None,
        importance=millionths(said.importance),
        confidence=millionths(said.confidence),
        when=_when(said.when) if timed(quotes) or tongue_of(quotes) else When(),
        participants=tuple(dict.fromkeys(said.participants)),
        fields={each.name: each.value for each in said.fields if each.value},
    )
    return _held_to_words(sight.categorise(found))


def _held_to_words(found: Candidate) -> Candidate:
    """The candidate with what was said as its claim, where the model worded it in its own manner.

    Only where the structure says no more than the words: a value that was not said, or a claim that
    is surer, of another time, polarity or person, is left for the gate to refuse.
    """
    if any(span.end <= span.start for span in found.spans) or beyond(found) not in LEXICAL:
        return found
    told = (found.value, found.context or "", *found.fields.values())
    if not value_said(told, found.spans):
        return found
    return found.model_copy(update={"claim": literal(found.entity, found.spans)})


def _borne(said: Statement, known: Known | None, spans: Sequence[Span]) -> Statement:
    """The statement under the key of the belief that it bears on, if it does what it says.

    The model's word is held to what it was shown: a label that it was not shown counts for nothing;
    who confirms says the value again, who changes or corrects says another, who ends has words
    that deny.
    """
    bears = said.bearing
    if known is None or bears is Bearing.NONE or said.act not in _SINCERE:
        return said
    same = words(said.value) == words(known.value) and said.negated == known.negated
    update: dict[str, object] = {
        "entity": known.entity,
        "attribute": known.attribute,
        "type": known.type,
    }
    if bears is Bearing.CONFIRMS:
        return said.model_copy(update=update) if same else said
    if bears is Bearing.ENDS:
        over = any(denies(span.quote) or ends(span.quote) for span in spans)
        if not over or words(said.value) != words(known.value):
            return said
        return said.model_copy(update=update | {"act": SpeechAct.REMOVAL, "negated": True})
    if same:  # nothing is changed by the value that holds
        return said.model_copy(update=update | {"act": SpeechAct.STATEMENT})
    act = SpeechAct.CHANGE if bears is Bearing.CHANGES else SpeechAct.CORRECTION
    return said.model_copy(update=update | {"act": act})


_SINCERE = frozenset(
    {SpeechAct.STATEMENT, SpeechAct.CHANGE, SpeechAct.CORRECTION, SpeechAct.REMOVAL}
)


def _span(quote: Quote, sight: Sight) -> Span:
    turn = sight.turn
    there = None if quote.turn == NOW else sight.earlier.get(quote.turn)
    if there is None and quote.turn != NOW:
        return Span(start=0, end=0, quote=quote.words)
    text, turn_id = (turn.content, None) if there is None else (there.content, there.turn_id)
    place = None
    if there is None and sight.window is not None and sight.window != (0, len(text)):
        low, high = sight.window
        place = locate(text[low:high], quote.words)
        place = None if place is None else (place[0] + low, place[1] + low)
    place = place or locate(text, quote.words)
    if place is None:
        return Span(start=0, end=0, quote=quote.words, turn=turn_id)
    start, end = _with_denial(text, *place)
    return Span(start=start, end=end, quote=text[start:end], turn=turn_id)


def _with_denial(text: str, start: int, end: int) -> tuple[int, int]:
    """The quote, taken to where its clause begins if that denies it, doubts it, or says it of
    somebody else: "live in Porto" alone hides a "my sister might not" before it."""
    after = _NO_MORE.match(text, end)
    if after is not None:
        end = after.end()
    low = next((a for a, b in sentences(text) if a <= start < b), start)
    lead = text[low:start]
    begins = low + max((match.end() for match in CLAUSE.finditer(lead)), default=0)
    lead = text[begins:start]
    if _SPEAKER.search(text[start:end]):  # a clause of its own: what is before is of another
        return (begins if _NOT_SO.search(lead) else start), end
    return (begins + len(lead) - len(lead.lstrip()) if limits(lead) else start), end


def locate(text: str, quote: str) -> tuple[int, int] | None:
    """Where the quote is in the text: the first place where it stands as whole words, else where
    it stands. White space and the kind of quotation marks may differ where just one place fits."""
    exact = list(_places(text, quote))
    if exact:
        start = next((at for at in exact if _whole(text, at, at + len(quote))), exact[0])
        return start, start + len(quote)
    words = list(_SPACED.finditer(text.translate(_ALIKE)))
    wanted = " ".join(quote.translate(_ALIKE).split())
    alike = list(islice(_places(" ".join(word[0] for word in words), wanted), 2))
    if len(alike) != 1:
        return None
    # Where the words begin once there is one space between two.
    begins = list(accumulate((len(word[0]) + 1 for word in words[:-1]), initial=0))
    first, last = alike[0], alike[0] + len(wanted) - 1
    start, end = (
        words[at].start() + place - begins[at]
        for place in (first, last)
        for at in (bisect_right(begins, place) - 1,)
    )
    return start, end + 1


def _places(text: str, words: str) -> Iterator[int]:
    """Where the words stand in a text, without overlap."""
    at = text.find(words) if words else -1
    while at >= 0:
        yield at
        at = text.find(words, at + len(words))


def _whole(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start + 1], text[end - 1 : end + 1]
    return not (start and before.isalnum()) and not (len(after) > 1 and after.isalnum())


def _source(
    value: str,
    spans: Sequence[Span],
    turn: Speech,
    earlier: Mapping[str, Speech],
    *,
    negated: bool,
) -> Source:
    """Who vouches for it: the subject, where the value is in words of theirs; what an assistant
    said counts as theirs only when they begin by agreeing."""
    roles = {each.turn_id: each.role for each in earlier.values()}
    if all(span.turn is None or roles[span.turn] == "user" for span in spans):
        return Source.STATED
    theirs = {
        word
        for span in spans
        if span.turn is None or roles[span.turn] == "user"
        for word in words(span.quote)
    }
    if theirs.issuperset(words(value)):
        return Source.STATED
    agrees = _YES.match(turn.content) and (negated or not denies(turn.content))
    return Source.CONFIRMED if agrees else Source.ASSISTANT


def _when(said: Period) -> When:
    if not said.start or said.precision is Precision.UNKNOWN:
        return When()
    start = moment(said.start)
    precision = said.precision
    if precision is Precision.EXACT and len(said.start) == len("2026-03-01"):
        precision = Precision.DAY  # a date is not a time of day
    if said.end:
        return When(start=start, end=moment(said.end), precision=precision)
    match precision:
        case Precision.EXACT:
            end = start + SECOND
        case Precision.WEEK:
            end = start + 7 * DAY
        case Precision.MONTH | Precision.APPROXIMATE:
            end = _a_month_on(start)
        case _:
            end = start + DAY
    return When(start=start, end=end, precision=precision)


def _a_month_on(start: int) -> int:
    begins = to_datetime(start)
    months = begins.year * 12 + begins.month  # the number of the next month, counted from 0
    month = datetime(months // 12, months % 12 + 1, 1, tzinfo=begins.tzinfo)
    return max(from_datetime(month), start + DAY)
