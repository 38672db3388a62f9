"""Which words of a turn a context does not tell: what is not meant, and what only asks. Pure.

A search shows a turn as it was said. Before a model, "What if I lived in Rome?" beside the question
where somebody lives is taken for an answer, and the questions of former days answer nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from beliefledger.gate import speech
from beliefledger.gate.asking_tails import told_until
from beliefledger.gate.checks import REDACTED
from beliefledger.gate.outcomes import CAPPED
from beliefledger.gate.sentences import sentences
from beliefledger.ledger.candidate import SpeechAct
from beliefledger.projections.search_terms import terms
from beliefledger.projections.showing import Run, touches

_MOST = 20_000
"""Longer turns are told as they are: they are documents, not talk."""
_POLITE = re.compile(
    r"\s*+(?:(?:please|ok(?:ay)?|hey|hi|hello|so|and|now|then|actually|can you|could you|would you"
    r"|will you)\b[\s,!]*+)*+",
    re.I,
)
_OPENS_ASKING = re.compile(
    r"\s*+(?:(?:please|ok(?:ay)?|hey|hi|hello|so|and|but|now|then|actually|btw)\b[\s,!]*+)*+"
    r"(?:wh(?:at|ich|o|ose|om|en|ere|y)|how|can|could|would|will|should|shall|may|might|do|does|did"
    r"|is|are|am|was|were|has|have|if|any|maybe|perhaps|you|your)\b",
    re.I,
)
_HEARER = frozenset(("you", "your"))
_TAIL, _TOLD = 3, 3
"""A question at the end has so many words at most, and what it asks about so many at least."""
_WORD = re.compile(r"[a-z]++", re.I)
_SPEAKER = re.compile(r"\b(?:i|my|we|our)\b", re.I)
_SCENES = frozenset({SpeechAct.ROLE_PLAY, SpeechAct.HYPOTHETICAL})
_REQUESTS = frozenset(
    """tell find write draft give show suggest recommend reword rewrite rephrase translate summarise
    summarize sum explain list remind make check look help plan calculate compare describe forget
    delete erase""".split()
)
"""What a sentence begins with that asks the agent to do something."""
_SMALL = frozenset(
    """thanks thank cheers great nice one cool lol haha good morning afternoon evening night hello
    hi hey bye yes no yeah yep nope sure ok okay fine perfect lovely awesome sorry hmm wow you that
    helps much very so a lot for the it is this got of course welcome any time there""".split()
)


_ASKING = frozenset(terms("am tell know remind need want think like show give find make"))


class Acts(NamedTuple):
    """The sentences of a turn that are not told, and those that state nothing."""

    unmeant: tuple[Run, ...] = ()
    """Imagined, played, quoted, joked, or beside a secret that was taken out."""
    idle: tuple[Run, ...] = ()
    """Questions, requests and small talk."""
    stating: bool = True
    """Whether any other sentence is there."""


def acts(text: str) -> Acts:
    """What the speaker does with the sentences of a turn."""
    if len(text) > _MOST:
        return Acts()
    unmeant: list[Run] = []
    idle: list[Run] = []
    whole = sentences(text)
    for start, end in whole:
        sentence = text[start:end]
        act = speech.speech_act(text, start, end)
        if act in CAPPED or REDACTED in sentence or _sets_a_scene(text, start, end):
            unmeant.append((start, end))
        elif _idle(sentence) or (
            (act is SpeechAct.QUESTION or sentence.endswith("?"))
            and not _tells_before(text, start, end)
        ):
            idle.append((start, end))
    return Acts(tuple(unmeant), tuple(idle), len(unmeant) + len(idle) < len(whole))


def _sets_a_scene(text: str, start: int, end: int) -> bool:
    """Whether what a sentence says of its speaker is imagined: "Let's play, I'm a pirate"."""
    speaker = _SPEAKER.search(text, start + 1, end)
    return speaker is not None and speech.speech_act(text, speaker.start(), end) in _SCENES


def _tells_before(text: str, start: int, end: int) -> bool:
    """Whether a question tells something before it asks: "the quote is 48 a month, normal?"."""
    if told_until(text, start, end) is not None:
        return True
    head, comma, tail = text[start:end].rpartition(",")
    asked = _WORD.findall(tail)
    return (
        bool(comma)
        and len(asked) <= _TAIL
        and not any(each.lower() in _HEARER for each in asked)
        and len(_WORD.findall(head)) >= _TOLD
        and _OPENS_ASKING.match(head) is None
    )


def _idle(sentence: str) -> bool:
    """Whether a sentence is a request to the agent, or small talk."""
    polite = _POLITE.match(sentence)
    verb = _WORD.match(sentence, polite.end() if polite else 0)
    if verb is not None and verb[0].lower() in _REQUESTS:
        return True
    return all(each.lower() in _SMALL for each in _WORD.findall(sentence))


def untouched(some: Sequence[Run], kept: Sequence[Run]) -> list[Run]:
    """Those of some runs in which no word is that a memory came of."""
    return [run for run in some if not touches(run, kept)]


def shares_a_term(query: str, text: str) -> bool:
    """Whether a text has any word of a query, but for the commonest and those of asking."""
    return not set(terms(query)).difference(_ASKING).isdisjoint(terms(text))
