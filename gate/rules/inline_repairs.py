"""Repairs within one sentence ("in Bonn, no wait, Köln"), of what the assistant took for true ("no,
Aalborg"), and what is taken back by its name ("forget the oboe thing").

See `repairs`, which looks at whole sentences, and says what gives way to what.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

from beliefledger.gate.literals import lowered
from beliefledger.gate.rules.phrases import slug
from beliefledger.gate.rules.replacements import replaced
from beliefledger.ledger.candidate import Candidate, Source, Span, SpeechAct
from beliefledger.ledger.late_patterns import compile_later

_VALUE = r"(?P<right>[$€£]?[\w'’&+#:/.-]{1,40}(?: [$€£]?[\w'’&+#:/.-]{1,40}){0,3}?)"
_STOP = (
    r"(?=\s*(?:[.,;!()…]|$)|\s+(?:lol|haha+|instead|sorry|sry|not|though|actually|please|of course|"
    r"my bad|typo|but|and|so|which|because|cause|since|for|with|if)\b|\s*[^\w\s'’.,:&$€£/+#-])"
)
_SURE = (
    r"no wait|wait no|no sorry|sorry no|oh wait|wait(?=,)|scratch that|strike that|make that|"
    r"correction|or rather|no i mean|sorry i meant?|i meant(?: to say)?|(?<=[,;–—(-] )i mean(?=,)|"
    r"no(?=,? it['’]?s\b)|actually no|ah no|oops"
)
"""Words that say that what stands before them is wrong."""
_LIKELY = r"sorry|sry|i mean|rather|no(?! longer\b)|wait|actually"
"""Words that often say so, where the new value is like the old one."""
_INLINE = compile_later(
    rf"(?<![\s,;:(–—.-])[\s,;:(–—.-]++(?:(?P<sure>{_SURE})|(?P<likely>{_LIKELY}))[\s,:–—-]++"
    rf"(?:(?:it|that|she|he)(?:['’]?s| is) |in |on |at |the |an? ){{0,2}}{_VALUE}{_STOP}",
    re.I,
)
_HINTS = (
    "wait", "sorry", "sry", "scratch", "strike", "correction", "rather", "i mean", "actually",
    "oops", " no ", " no,", "make that",
)  # fmt: skip
"""One of these is in every such sentence, in lower case."""
_TAKEN_BACK = compile_later(
    r"^\W*+(?:(?:oh|no|ok|okay|so|and|actually|sorry|update|well|please|pls)\b[,.:! ]*){0,3}"
    r"(?:ignore|forget|disregard|scratch|strike|scrap|nix|drop|bin|never ?mind)"
    r"(?: about)? (?:the |my |that |this |our )(?P<topic>[\w'’&+-]+(?: [\w'’&+-]+){0,3}?)"
    r" (?:thing|stuff|bit|part|idea|plan|comment|remark|business|story)\b",
    re.I,
)
_NAMED_ANEW = compile_later(
    r"^\W*+(?:(?:oh|no|ok|okay|so|actually|sorry|wait|well)\b[,.:! ]*){0,3}"
    r"(?:forget|scratch|ignore|never ?mind) (?P<wrong>(?!that\b|it\b|what\b)[\w'’&+-]+(?: "
    rf"[\w'’&+-]+){{0,2}}?),? ?(?:it['’]?s|its|it is|make it|i meant?|make that) {_VALUE}{_STOP}",
    re.I,
)
_SAID_SO = compile_later(
    r"^\W*+(?:(?:oh|no|ok|okay|so|and|actually|sorry|wait|well)\b[,.:! ]*){0,3}i (?:said|wrote|"
    r"typed|told you) (?:it was |in )?(?P<wrong>[\w'’&+-]+(?: [\w'’&+-]+){0,2}?),? (?:but |and )?"
    r"(?:he|she|they|it|we|i)(?: actually| really)? (?:lives?|works?|plays?|stud(?:y|ies)|moved|is|"
    rf"are|was|goes|went)(?: (?:in|at|for|to|on|an?))? {_VALUE}{_STOP}",
    re.I,
)
_DENIED = compile_later(r"^\W*+(?:no+|nope|nah|not quite|wrong|close)\b[,.!:–—-]*+\s*+", re.I)
_RECALLS = compile_later(
    r"\W*+(?:(?:oh|no|ok|so|sorry|wait)\b[,.:! ]*){0,3}i (?:said|wrote|typed|told)\b|"
    r".{0,60}\b(?:when|if|what|where|whenever) (?:i|we) (?:say|said|write|wrote|call|talk)\b",
    re.I,
)
_LIKE = 0.6


class Inline(NamedTuple):
    """Where the words end that are wrong, the value that is right, and whether it is sure that it
    is one."""

    until: int
    start: int
    end: int
    sure: bool


def inline(sentence: str) -> Inline | None:
    """The repair that a sentence makes of its own beginning."""
    low = lowered(sentence)
    if not any(map(low.__contains__, _HINTS)):
        return None
    found = _INLINE.search(sentence, 4)
    if found is None or found.start() < 4 or _RECALLS.match(sentence):
        return None
    start, end = found.span("right")
    if denies(sentence[:start], found["right"], sentence):
        return None
    while end > start and sentence[end - 1] in ".'’-:":
        end -= 1
    return Inline(found.start(), start, end, found["sure"] is not None)


def denies(lead: str, right: str, sentence: str) -> bool:
    """Whether a bare "no" before a value says that there is none: "i drink tea. no coffee". What is
    put right has a comma behind it, is a figure, or has another word for a repair beside it."""
    return (
        _BARE_NO.search(lead) is not None
        and not any(char.isdigit() for char in right)
        and _REPAIR.search(sentence) is None
    )


_BARE_NO = compile_later(r"\bno +\Z", re.I)
_REPAIR = compile_later(
    r"\b(?:sorry|sry|srry|soz|wait|oops|whoops|correction|my bad|my mistake|i mean|i meant|typo|"
    r"scratch that|strike that|scrap that|make that|auto-?correct)\b",
    re.I,
)


def is_like(wrong: str, right: str) -> bool:
    """Whether a value may stand in the place of another: of the same letters, or both names."""
    if wrong[:1].isupper() and right[:1].isupper():
        return True
    if any(char.isdigit() for char in wrong) and any(char.isdigit() for char in right):
        return True
    return SequenceMatcher(None, wrong.lower(), right.lower()).ratio() >= _LIKE


def topic(sentence: str) -> re.Match[str] | None:
    """What a sentence takes back by its name."""
    return _TAKEN_BACK.match(sentence)


def named_anew(sentence: str) -> re.Match[str] | None:
    """A value that takes the place of one that is named: "forget Heat, it's Collateral"."""
    return _NAMED_ANEW.match(sentence) or _SAID_SO.match(sentence)


def denied(sentence: str) -> int | None:
    """Where the words begin behind a "no"; None without one."""
    found = _DENIED.match(sentence)
    return None if found is None or found.end() >= len(sentence) else found.end()


def set_right(
    said: Candidate, answer: Span, there: Span, wrong: str, right: str
) -> Iterator[Candidate]:
    """What the assistant took for true, with the value that the user says instead."""
    claim = replaced(said.claim, wrong, right)
    if claim == said.claim:
        return
    yield said.model_copy(
        update={
            "claim": claim,
            "value": said.value.replace(wrong, right, 1),
            "attribute": said.attribute.replace(slug(wrong), slug(right)),
            "spans": (answer, there),
            "source": Source.CONFIRMED,
            "act": SpeechAct.CORRECTION,
            "replaces": said.value,
        }
    )
