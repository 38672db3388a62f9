"""From what a model noticed to candidates: its quotes are found in the turns, by us."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import accumulate, islice

from beliefledger.gate import deadline
from beliefledger.gate.claims import CLAUSE, denies, limits
from beliefledger.gate.model.noticed import NOW, Noticed, Period, Quote, Statement, moment
from beliefledger.gate.policy import millionths
from beliefledger.gate.slots import words
from beliefledger.gate.speech import sentences
from beliefledger.ledger.candidate import Candidate, Precision, Source, Span, Speech, When
from beliefledger.ledger.times import DAY, SECOND, from_datetime, to_datetime

_ALIKE = str.maketrans("’‘`´“”„«»", "''''" + '"' * 5)
"""Quotation marks of each kind as one."""
_SPACED = re.compile(r"\S+")
_AGREES = r"(?:yes|yeah|yep|yup|right|exactly|correct|indeed|true|sure)"
_YES = re.compile(
    rf"\W*(?:{_AGREES}(?:[ ,]+{_AGREES})*(?=[^\w\s]|\s*$|\s+(?:i|it|that|you|we|he|she|they)\b)|"
    r"that(?:'s|’s| is) (?:right|correct|true|me)\b)",
    re.I,
)
"""Not "right now" or "sure thing", which agree with nothing that was said."""
_SPEAKER = re.compile(r"\b(?:i|i['’]\w+|we|we['’]\w+)\b|^\W*(?:my|mine|our)\b", re.I)
_NOT_SO = re.compile(
    r"(?:\bnot|n['’]t|\bnever)\s+(?:\w+\s+){0,2}?(?:think|believe|say|said|saying|mean|claim|true|"
    r"the case)\b",
    re.I,
)
_NO_MORE = re.compile(r"\W*\b(?:no (?:more|longer)|any ?more|not(?! (?:only|just)))\b", re.I)


def candidates(noticed: Noticed, turn: Speech, earlier: Mapping[str, Speech]) -> list[Candidate]:
    """The candidates, by their first span. `earlier` has the earlier turns by their labels.

    A quote that is in no turn is kept as a span that is not verbatim: the gate then refuses the
    candidate, on record.
    """
    found = [_candidate(each, turn, earlier) for each in noticed.statements]
    return sorted(found, key=lambda c: (c.spans[0].start, c.spans[0].end))


def _candidate(said: Statement, turn: Speech, earlier: Mapping[str, Speech]) -> Candidate:
    deadline.check()
    spans = [_span(quote, turn, earlier) for quote in said.quotes]
    spans.sort(key=lambda span: span.turn is not None)  # the turn's own words come first
    return Candidate(
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
        source=_source(said.value, spans, turn, earlier, negated=said.negated),
        durability=said.durability,
        topic=said.topic,
        category=said.category or None,
        importance=millionths(said.importance),
        confidence=millionths(said.confidence),
        when=_when(said.when),
        participants=tuple(dict.fromkeys(said.participants)),
        fields={each.name: each.value for each in said.fields if each.value},
    )


def _span(quote: Quote, turn: Speech, earlier: Mapping[str, Speech]) -> Span:
    there = None if quote.turn == NOW else earlier.get(quote.turn)
    if there is None and quote.turn != NOW:
        return Span(start=0, end=0, quote=quote.words)
    text, turn_id = (turn.content, None) if there is None else (there.content, there.turn_id)
    place = locate(text, quote.words)
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
