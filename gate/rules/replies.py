"""Bare answers to the assistant's question: "What car do you drive?" – "a skoda octavia estate".

Taken only where the question is about the user and the answer is a phrase without a verb; the
question is quoted beside it. The questions are data (replies.yaml).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from beliefledger.gate.rules.findings import RuleFinding, to_candidate
from beliefledger.gate.rules.lexicon import Form, expanded, load, third_person, verb_form
from beliefledger.gate.rules.normalised import words_of
from beliefledger.gate.rules.patterns import is_job
from beliefledger.gate.rules.phrases import slug
from beliefledger.gate.rules.words import Token
from beliefledger.gate.sentences import sentences
from beliefledger.ledger.candidate import Candidate, Span, Speech, SpeechAct
from beliefledger.ledger.late_patterns import compile_later

_DATA: dict[str, Any] = load("replies.yaml")
_QUESTIONS = tuple(
    (compile_later(expanded(each["asks"], _DATA["parts"])), each) for each in _DATA["questions"]
)
_LEAD = frozenset(_DATA["lead"].split())
_REFUSED = frozenset(_DATA["refused"].split())
_SETTLED = frozenset({"always", "usually", "generally", "normally", "default"})
_MARKS = frozenset(",;.!()–—-:")
_LONGEST_ANSWER = 80
_LONGEST_QUESTION = 160
_MOST_WORDS = 6


def findings(turn: Speech, earlier: Sequence[Speech]) -> Iterator[Candidate]:
    """What the turn says as a bare answer to the last question before it; at most one."""
    if not earlier or earlier[-1].role != "assistant" or "?" in turn.content:
        return
    if not 1 <= len(turn.content.strip()) <= _LONGEST_ANSWER:
        return
    asked = last_question(earlier[-1])
    if asked is None:
        return
    text = asked.quote.lower().replace("’", "'")
    for pattern, says in _QUESTIONS:
        match = pattern.search(text)
        if match is not None:
            found = _answer(turn, asked, match, says)
            if found is not None:
                yield found
            return


def last_question(said: Speech) -> Span | None:
    """The assistant's last sentence, if it is its only question."""
    if said.content.count("?") != 1:
        return None
    start, end = max(sentences(said.content), default=(0, 0))
    quote = said.content[start:end]
    if not quote.rstrip().endswith("?") or len(quote) > _LONGEST_QUESTION:
        return None
    return Span(start=start, end=end, quote=quote, turn=said.turn_id)


def _answer(
    turn: Speech, asked: Span, match: re.Match[str], says: dict[str, Any]
) -> Candidate | None:
    words = words_of(turn.content, 0, len(turn.content))
    phrase = _phrase(words, dated=says.get("dated", False))
    if phrase is None:
        return None
    first, last = phrase
    said = [word.low for word in words]
    value = turn.content[words[first].start : words[last - 1].end]
    if says.get("figure") and not (value[0].isdigit() or said[first] in _NUMBERS):
        return None
    if says.get("role") and not is_job(said[last - 1]):
        return None
    if says.get("settled") and _SETTLED.isdisjoint(said):
        return None
    if says.get("offered") and not set(said[first:last]) <= set(
        re.findall(r"[\w'-]+", asked.quote.lower().replace("’", "'"))
    ):
        return None
    groups = match.groupdict()
    verb, noun = groups.get("verb") or "", groups.get("noun") or ""
    article = said[first - 1] if first and said[first - 1] in ("a", "an") else ""
    fills = {"verb": third_person(verb) if verb else "", "noun": noun}
    claim = says["says"].format(
        value=f"{article} {value}".strip(), quote=turn.content.strip(" .!\n"), **fills
    )
    fills = {"verb": fills["verb"], "noun": slug(noun), "value": slug(value)}
    end = words[-1].end if says.get("settled") else words[last - 1].end
    finding = RuleFinding(
        turn.content, words[0].start, end, claim, says.get("type", "fact"),
        says["attribute"].format_map(fills), value, says["importance"],
        act=SpeechAct.STATEMENT,
    )  # fmt: skip
    candidate = to_candidate(finding, turn.said_at)
    return candidate.model_copy(update={"spans": (*candidate.spans, asked)})


def _phrase(words: list[Token], *, dated: bool) -> tuple[int, int] | None:
    """The words of a bare answer, up to the first mark; None where it is not one. Where a date is
    asked for, "may" is a month."""
    first = 0
    while first < len(words) and (words[first].low in _LEAD or words[first].low in _MARKS):
        first += 1
    last = first
    while last < len(words) and words[last].low not in _MARKS and words[last].low not in _ENDS:
        last += 1
    said = [word.low for word in words[first:last]]
    if not 1 <= len(said) <= _MOST_WORDS or not (
        _REFUSED - {"may"} if dated else _REFUSED
    ).isdisjoint(said):
        return None
    if verb_form(said[0])[1] in (Form.BASE, Form.PAST) or not words[first].text[0].isalnum():
        return None
    return first, last


_ENDS = frozenset("but because so and atm nowadays now lol since".split())
_NUMBERS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty".split()
)
