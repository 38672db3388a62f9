"""Statements known by their whole shape: steps, decisions, promises and appointments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from beliefledger.gate import deadline
from beliefledger.gate.dates import find_when
from beliefledger.gate.rules.findings import NEVER, RuleFinding, capped
from beliefledger.gate.rules.lexicon import Form, load, verb_form
from beliefledger.gate.rules.phrases import slug
from beliefledger.ledger.late_patterns import compile_later

DATA: dict[str, Any] = load("sayings.yaml")


def spelled(pattern: str, parts: dict[str, str]) -> str:
    """A pattern with the parts that it names in place."""
    for _ in range(3):
        pattern = re.sub(r"(?<!\?P)<(\w+)>", lambda found: parts[found[1]], pattern)
    return pattern


class _Shape(NamedTuple):
    """One shape, as written in the data."""

    type: str
    attribute: str
    importance: int
    dated: bool
    pattern: re.Pattern[str]


_SHAPES = tuple(
    _Shape(
        each["type"], each["attribute"], each["importance"], each.get("dated", False),
        compile_later(spelled(each["shape"], DATA["parts"])),
    )
    for each in DATA["shapes"]
)  # fmt: skip
_FIRST = compile_later(r"\s*([A-Za-z'’]+)")
OF_ANSWERS = "answers."
"""Begins the attributes of how somebody wants to be answered."""
BEGINS: dict[str, frozenset[str]] = {
    word: frozenset(kind for kind, words in DATA["begins"].items() if word in words.split())
    for words in DATA["begins"].values()
    for word in words.split()
}
"""What a sentence may be, by its first word."""
_NONE: frozenset[str] = frozenset()
_PROMISED = frozenset({"decision", "commitment"})
_WITHIN = ("decided", "voted", "resolved", "made up", "told", "said", "promised", "signed up")
"""Words that mark a decision or a promise anywhere in a sentence."""
_SURE = compile_later(
    r"\b(?:always|first|usually|normally|typically|generally|then|never|every|each|process|"
    r"procedure|routine|workflow|checklist|way (?:we|i)|by \w+ing|we \w+)\b",
    re.I,
)
"""Words of which every procedure has one."""
_GOES_ON = compile_later(
    r",? (?:so|but|because|and|since|as) (?:I|we|it|that|they|my|there)\b|"
    r", (?:so|it|I|we|that|this|they|he|she|which|hoping|thinking)\b|[.!?](?=[A-Z])"
)
"""Where the sentence goes on to something else."""
_NO_STEP = frozenset("have had am was will would can feel think find get want wonder".split())
_ME = {"my": "their", "me": "them", "our": "their", "us": "them", "i": "they", "we": "they",
       "i'm": "they are", "im": "they are", "myself": "themselves"}  # fmt: skip
_OWN = compile_later(r"\b(?:I['’]?m|I|my|me|our|us|we|myself)\b", re.I)


def findings(text: str, start: int, end: int, said_at: int) -> Iterator[RuleFinding]:
    """What the sentence text[start:end] says by its shape; nothing or one finding."""
    first = _FIRST.match(text, start, end)
    if first is None or end - start > 240:
        return
    low = first[1].lower().replace("’", "'")
    kinds = BEGINS.get(low, _NONE)
    for word in _WITHIN:
        if text.find(word, start, end) >= 0:
            kinds |= _PROMISED
            break
    if "procedure" in kinds and not _SURE.search(text, start, end):
        kinds -= {"procedure"}
    if not kinds:
        return
    start = first.start(1)
    said = text[start:end].rstrip()
    for shape in _SHAPES:
        deadline.check()
        found = shape.pattern.search(said) if shape.type in kinds else None
        if found is None:
            continue
        finding = _finding(text, start, found, shape, said_at)
        if finding is not None:
            yield finding
            return


def _finding(
    text: str, start: int, found: re.Match[str], shape: _Shape, said_at: int
) -> RuleFinding | None:
    kind, attribute = shape.type, shape.attribute
    groups: dict[str, Any] = found.groupdict()
    goes_on = _GOES_ON.search(groups["value"])
    said = groups["value"][: goes_on.start()] if goes_on else groups["value"]
    value: str = said.strip(" .,;:")
    words = value.split()
    if not words or len(words) > 30:
        return None
    first = words[0].lower()
    if kind in ("procedure", "commitment") and attribute != "commitment.deadline":
        form = verb_form(first)[1]
        if form is Form.PAST or first in _NO_STEP:
            return None
    begin, stop = start + found.start(), start + found.start("value") + len(said)
    quote = capped(text[begin:stop].rstrip(".! "))
    when = find_when(quote, said_at, future=kind != "event" or attribute != "event.happened")
    if shape.dated and when is None:
        return None
    context = groups.get("context")
    people = tuple(re.split(r", and |, | and | & ", groups["people"])) if "people" in groups else ()
    key = attribute if "." in attribute else f"{attribute}.{slug(context or value, 6)}"
    if attribute == "constraint.budget" and (context or " for " in value):
        key += f".{slug((context or value.partition(' for ')[2]).removeprefix('for '), 4)}"
    claim = quote if key.startswith(OF_ANSWERS) else told(quote)  # "speak to me" is to the agent
    return RuleFinding(
        text, begin, begin + len(quote), _of_user(claim), kind, key,
        _verbatim(value, quote), shape.importance, 850, participants=people,
        context=context.strip() if context and kind == "procedure" else None,
        when=NEVER if when is None else when.when,
    )  # fmt: skip


def _of_user(claim: str) -> str:
    """ "User decided …" for "they decided …"; what does not begin so stays as it was said."""
    subject, _, rest = claim.partition(" ")
    past = verb_form(rest.split(" ", 1)[0])[1] is Form.PAST
    return f"User {rest}" if subject == "they" and past else f"User: {claim}"


def _verbatim(value: str, quote: str) -> str:
    return value if value in quote else quote


def told(quote: str) -> str:
    """The words as said of the user."""
    return _OWN.sub(lambda m: _ME.get(m[0].lower().replace("’", "'"), m[0]), quote)
