"""Statements known by their whole shape: steps, decisions, promises and appointments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gate.dates import find_when
from gate.rules.drafts import NEVER, Draft, capped
from gate.rules.lexicon import Form, verb_form
from gate.rules.phrases import slug

_OFTEN = r"(?:always|first|usually|normally|typically|generally|then|never)"
_LEAD = r"(?:When|Whenever|Before|After|Once|If|For|Every time|Each time)"
_NAMES = r"[A-Z][\w'’-]+(?:(?:, | and | & |, and )[A-Z][\w'’-]+)*"
_MEAL = r"(?:[Ll]unch|[Dd]inner|[Bb]reakfast|[Bb]runch|[Cc]offee|[Dd]rinks|[Tt]he (?:meeting|call|party)|[Mm]eeting|[Cc]all)"
_REST = r"(?P<value>[^\n?]+?)[.!]*$"
# type, attribute, importance, and the shape; `value` is what is kept of it.
_SHAPES: tuple[tuple[str, str, int, re.Pattern[str]], ...] = tuple(
    (kind, attribute, importance, re.compile(pattern))
    for kind, attribute, importance, pattern in (
        ("procedure", "procedure", 600,
         rf"^(?i:(?P<context>{_LEAD} [^,\n]{{2,70}}?)),? (?:I|we) (?:also |just )?{_OFTEN} (?!had|was|were|got)" + _REST),
        ("procedure", "procedure", 600,
         rf"^(?i:(?P<context>{_LEAD} [^,\n]{{2,70}}?)), (?:I|we) (?=[^\n]*\b(?:first|then)\b)" + _REST),
        ("procedure", "procedure", 600,
         r"^(?P<context>(?:Once|When|Whenever) (?!(?:I|we)\b)[^,\n]{2,60}? (?:is|are|has|have|[a-z]+s)\b[^,\n]{0,30}), we " + _REST),
        ("procedure", "procedure", 600,
         r"^(?i:(?P<context>(?:After|Before) (?:every|each) [^,\n]{2,50}?)),? (?:I|we) " + _REST),
        ("procedure", "procedure", 600,
         r"^(?:I|[Ww]e) always (?P<value>[^\n?]+? (?P<context>(?:before|after) (?:I|we) [^\n?]+?))[.!]*$"),
        ("procedure", "procedure", 600,
         r"^First,? (?:I|we) (?P<value>[^\n?]+?\bthen,? (?:I|we)?\b[^\n?]+?)[.!]*$"),
        ("procedure", "procedure", 600,
         r"^(?P<context>To [^,\n]{3,50}), first,? (?P<value>[^\n?]+?\bthen\b[^\n?]+?)[.!]*$"),
        ("procedure", "procedure", 600,
         r"^(?:Our|My) (?P<context>(?:[\w-]+ ){0,3}(?:process|procedure|routine|workflow|checklist)) is(?: to| that(?: we| I)?)?:? " + _REST),
        ("procedure", "procedure", 600,
         r"^(?P<context>The way (?:we|I) [^,\n]{3,50}?) is (?:to |by |that (?:we|I) )" + _REST),
        ("procedure", "procedure", 600,
         r"^[Ww]e (?P<context>[a-z]+(?: [\w-]+){0,3}?) by (?P<value>[a-z]+ing\b[^\n?]+?)[.!]*$"),
        ("decision", "decision.plan", 800,
         r"^(?:(?:The|My|Our) (?:final )?decision(?: is|:)|(?:Final )?[Dd]ecision:)(?: to| that)? " + _REST),
        ("decision", "decision.plan", 800,
         r"\bI(?:['’]ve| have)? (?:finally )?decided (?:that )?I(?:['’]ll| will|['’]m going to|['’]m) " + _REST),
        ("decision", "decision.plan", 800,
         r"\bI(?:['’]ve| have)? (?:finally )?made up my mind(?: and|[:,—–-])* ?(?:to |I(?:['’]ll| will|['’]m) )" + _REST),
        ("decision", "decision.plan", 800,
         r"\b(?:I|[Ww]e)(?:['’]ve| have)? (?:finally |all )?(?:decided|voted|resolved) (?:not )?to " + _REST),
        ("commitment", "commitment.promise", 700,
         r"\b(?:I|[Ww]e)(?:['’]ve)? (?:told [A-Z][\w'’-]+|told my \w+|said|promised [A-Z][\w'’-]+|promised my \w+) "
         r"(?:that )?(?:I|we)(?:['’]d| would|['’]ll| will) " + _REST),
        ("commitment", "commitment.deadline", 700,
         r"^(?:My|Our) (?P<context>deadline(?: (?:for|to) [^,\n]{3,50}?)?) is (?P<value>(?:on |by )?[^\n?]{3,40}?)[.!]*$"),
        ("commitment", "commitment.promise", 700,
         r"\bI(?:['’]ve| have)? signed up to " + _REST),
        ("event", "event.appointment", 600,
         rf"^(?P<value>{_MEAL} with (?P<people>{_NAMES}) is (?:on|at|next|this|tomorrow|tonight)[^\n?]*?)[.!]*$"),
        ("event", "event.happened", 450,
         r"^(?:My|Our) (?P<value>(?:[a-z-]+ ){1,3}(?:got|was|were) [a-z]+(?:ed|en|lt|ld|st)\b[^\n?]*?)[.!]*$"),
        ("constraint", "constraint.budget", 800,
         r"^(?:My|Our) (?:total |overall |maximum |max )?budget (?:for [^,\n]{3,40} )?is (?P<value>[^\n?]*\d[^\n?]*?)[.!]*$"),
        ("constraint", "constraint", 900,
         r"^(?:(?i:please),? )?(?i:never|do not|don['’]t)(?: ever)? (?P<value>(?:share|mention|store|sell|reveal|disclose|save|give out|pass on) my [^\n?]{3,50}?)[.!]*$"),
    )
)  # fmt: skip
_HINT = re.compile(
    r"\b(?:when|whenever|before|after|once|if|for|every|each|always|first|then|process|procedure|"
    r"routine|workflow|checklist|way|by|decision|decided|voted|resolved|mind|told|said|promised|"
    r"deadline|signed|with|got|was|were|budget|my)\b",
    re.I,
)
_STARTS = re.compile(
    rf"(?i:{_LEAD}\b|to\b|first\b|our\b|my\b|the (?:way|decision)\b|decision:|we\b|i\b|please\b|"
    r"never\b|do(?:n['’]t| not)\b|lunch|dinner|breakfast|brunch|coffee|drinks|meeting|call|the\b|"
    r"after\b|final)"
)
_DATED = frozenset({"event.happened", "commitment.deadline"})
_ME = {"my": "their", "me": "them", "our": "their", "us": "them", "i": "they", "we": "they",
       "i'm": "they are", "myself": "themselves"}  # fmt: skip
_OWN = re.compile(r"\b(?:I['’]m|I|my|me|our|us|we|myself)\b", re.I)


def drafts(text: str, start: int, end: int, said_at: int) -> Iterator[Draft]:
    """What the sentence text[start:end] says by its shape; nothing or one draft."""
    while start < end and text[start].isspace():
        start += 1
    if end - start > 240 or not _STARTS.match(text, start):
        return
    said = text[start:end].rstrip()
    for kind, attribute, importance, shape in _SHAPES:
        found = shape.search(said)
        if found is None:
            continue
        draft = _draft(text, start, found, kind, attribute, importance, said_at)
        if draft is not None:
            yield draft
            return


def _draft(
    text: str, start: int, found: re.Match[str], kind: str, attribute: str, importance: int,
    said_at: int,
) -> Draft | None:  # fmt: skip
    groups: dict[str, Any] = found.groupdict()
    value: str = groups["value"].strip(" .,;:")
    words = value.split()
    if not words or len(words) > 30:
        return None
    first = words[0].lower()
    if kind in ("procedure", "commitment") and attribute != "commitment.deadline":
        form = verb_form(first)[1]
        if form is Form.PAST or first in ("have", "had", "am", "was", "will", "would", "can", "feel",
                                          "think", "find", "get", "want", "wonder"):  # fmt: skip
            return None
    begin, stop = start + found.start(), start + found.start("value") + len(groups["value"])
    quote = capped(text[begin:stop].rstrip(".! "))
    when = find_when(quote, said_at, future=kind != "event" or attribute != "event.happened")
    if attribute in _DATED and when is None:
        return None
    context = groups.get("context")
    people = tuple(re.split(r", and |, | and | & ", groups["people"])) if "people" in groups else ()
    key = attribute if "." in attribute else f"{attribute}.{slug(context or value, 6)}"
    return Draft(
        text, begin, begin + len(quote), f"User: {_told(quote)}", kind, key,
        _verbatim(value, quote), importance, 850, participants=people,
        context=context.strip() if context and kind == "procedure" else None,
        when=NEVER if when is None else when.when,
    )  # fmt: skip


def _verbatim(value: str, quote: str) -> str:
    return value if value in quote else quote


def _told(quote: str) -> str:
    """The words as said of the user."""
    return _OWN.sub(lambda m: _ME.get(m[0].lower().replace("’", "'"), m[0]), quote)
