"""Plain answers to the assistant's yes-or-no question about the user: "Do you have children?" –
"Yes, two".

The question and the answer are put together as the user would have said both in one sentence ("I
have two children"), and that is read like any other. Which questions are plain is in
`replies.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from beliefledger.gate.literals import Guarded
from beliefledger.gate.rules.findings import RuleFinding, to_candidate
from beliefledger.gate.rules.lexicon import expanded, load
from beliefledger.gate.rules.patterns import is_job
from beliefledger.gate.rules.replies import last_question
from beliefledger.ledger.candidate import SELF, Candidate, Source, Span, Speech, SpeechAct
from beliefledger.ledger.late_patterns import compile_later

Read = Callable[[str, int], Iterator[RuleFinding]]
"""Reads the findings of a text that was said at a time."""

_DATA: dict[str, Any] = load("replies.yaml")
_PLAIN = tuple(
    (Guarded(expanded(each["asks"], _DATA["parts"]), re.I), each) for each in _DATA["yes_no"]
)
_ANSWER = compile_later(
    r"\W*(?P<said>(?:oh |ah |um |well |haha |ha )?(?:(?P<yes>yes|yeah|yep|yup|yea|yess+|i do|i am|"
    r"sure do|of course|absolutely|definitely|indeed)|(?P<no>no|nope|nah|i don['’]?t|i do not|"
    r"i['’]?m not|not at all)))\b"
    r"(?P<more>[,.!–— -]*(?:i do not|i do|i am not|i am|i['’]?m not|i don['’]?t|we do|of course|"
    r"definitely|absolutely|not at all|at all|unfortunately|sadly|indeed|actually|lol|haha|mate|"
    r"sir|"
    r"ma['’]am)\b)?\W*",
    re.I,
)
_COUNT = compile_later(
    r"(?:just |only |exactly )?(?P<many>\d{1,2}|an?|one|two|three|four|five|six|seven|eight|nine|"
    r"ten)\b"
    r"(?P<what>(?: (?!(?:and|but|who|which|that|for|in|at|on|with|because|so|please|more)\b)"
    r"[\w'’-]{2,20}){0,2}) *[.!)]*$",
    re.I,
)
_CALLED = compile_later(r"(?:called |named )?(?P<name>[A-ZÀ-Þ][\w'’-]{1,20}) *[.!)]*$")
_PET = compile_later(r"an? (?:dog|cat|puppy|kitten|rabbit|parrot|hamster|horse)$", re.I)
_VAGUE = compile_later(
    r"\b(?:or|this|that|these|those|it|them|him|her|the|any|some|one|ones|my|me|when|if|what|"
    r"how)\b",
    re.I,
)
_SOME = compile_later(r"^(?:any|some) ", re.I)
_ARTICLE = compile_later(r"^an? ", re.I)
_YOUR = compile_later(r"\byour\b", re.I)
_LONGEST = 60
"""The longest plain answer, in characters."""
_KEPT = frozenset({"fact", "preference", "relation", "constraint"})


def is_plain(said: Speech) -> bool:
    """Whether what the assistant said ends in a plain yes-or-no question about the user."""
    return _asked(said) is not None


def findings(turn: Speech, earlier: Sequence[Speech], read: Read) -> Iterator[Candidate]:
    """What the turn says by answering such a question."""
    text = turn.content
    if not earlier or len(text) > _LONGEST or "?" in text or earlier[-1].role != "assistant":
        return
    answer = _ANSWER.match(text)
    asked = None if answer is None else _asked(earlier[-1])
    if answer is None or asked is None:
        return
    question, subject, rest = asked
    more = text[answer.end() :].strip()
    end = answer.end("no" if answer["no"] == "no" else "more" if answer["more"] else "said")
    if more:
        told = None if answer["no"] else _with_more(subject, rest, more)
        if told is None:
            return
        rest, end = told, len(text.rstrip(" .!)"))
    stated = f"{subject} {rest}"
    if answer["no"]:
        bare = _ARTICLE.sub("", rest)
        no = {"I am": f"I am not {rest}", "I have": f"I have no {bare}"}
        stated = no.get(subject, f"I don't {rest}")
    begin = answer.start("said")
    said = Span(start=begin, end=end, quote=text[begin:end])
    for finding in read(stated, turn.said_at):
        if finding.entity != SELF or finding.type not in _KEPT:
            continue
        candidate = to_candidate(finding, turn.said_at)
        yield candidate.model_copy(
            update={
                "spans": (said, question),
                "source": Source.CONFIRMED,
                "act": SpeechAct.STATEMENT,
            }
        )


def _asked(said: Speech) -> tuple[Span, str, str] | None:
    """The question, and the statement that it asks about: its subject with its verb, and the
    rest."""
    question = last_question(said)
    if question is None:
        return None
    for pattern, says in _PLAIN:
        found = pattern.pattern.search(question.quote)
        if found is None:
            continue
        rest = _SOME.sub("", found["rest"].strip())
        if _VAGUE.search(rest) is not None or (says.get("job") and not is_job(rest.split()[-1])):
            continue
        return question, says["says"], _YOUR.sub("my", rest)
    return None


def _with_more(subject: str, rest: str, more: str) -> str | None:
    """The rest of the statement with what the answer adds to its "yes"; None where that is more
    than a number, a thing or a name."""
    if subject != "I have":
        return None
    count = _COUNT.match(more)
    if count is not None:
        what = count["what"].strip() or _ARTICLE.sub("", rest)
        return f"{count['many']} {what}"
    called = _CALLED.match(more)
    if called is not None and _PET.match(rest) is not None:
        return f"{rest} called {called['name']}"
    return None
