"""How probably a turn says that something is otherwise than it was told before. Pure.

A logistic regression over classes of words (novelty.yaml) and runs of one to three words, whatever
they are about: of "the lease in Leuven is signed" over "the _ in _ is signed". A plan, a wish, an
offer that was declined and what somebody else has got are no such news. The weights are in
novelty_runs.txt; `tools/bench/train_novelty.py` trains them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from functools import cache
from itertools import pairwise

from beliefledger.ledger.data_files import data, lines
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.projections.open_sentences import is_general

UNITS = 1000
"""A score of 1 in whole numbers, as an index keeps it."""
LONGEST = 400
"""Of a longer text only the beginning is looked at, in characters."""
OTHER = "_"
"""Stands for a word that is too rare to count by itself."""
FIGURE = "0"
"""Stands for a word with a digit."""
_BEGIN = "^"
_TOKEN = compile_later(r"[^\W_]+(?:'[^\W_]+)*|[?!.,;:()*]")
_DIGIT = re.compile(r"\d")


def columns(text: str) -> tuple[int, int]:
    """What an index keeps of a turn: its score in `UNITS`, and what makes it stand `aside`."""
    low = _begin(text)
    classes = _classes_of(low)
    scored = _score(low, classes)
    return round(scored * UNITS), _aside(text, low, classes, scored)


def score(text: str) -> float:
    """From 0 to 1."""
    low = _begin(text)
    return _score(low, _classes_of(low))


def aside(text: str, scored: float) -> int:
    """What makes a text with a score tell nothing of the speaker that is so now, as bits: `THEIRS`
    where it tells of somebody else, `UNREAL` where it is supposed, declined, joked or long ago,
    `GENERAL` where it only asks."""
    low = _begin(text)
    return _aside(text, low, _classes_of(low), scored)


def _begin(text: str) -> str:
    """What is looked at of a text."""
    return text[:LONGEST].lower().replace("’", "'")


def _score(low: str, classes: Collection[str]) -> float:
    bias, weights = _weights()
    features = runs(tokens(low), weights).union(classes)
    total = bias + sum(weights.get(each, 0.0) for each in features)
    return 1 / (1 + math.exp(-total))


def _aside(text: str, low: str, classes: Collection[str], scored: float) -> int:
    found = 0
    of_them = _PERSON.match(low) or _GROUP.match(low) or _NAMED.match(text)
    if (of_them and not _MINE.search(_THEIR_OWN.sub("", low))) or _GIFT.search(low):
        found = THEIRS
    if any(scored < _BELOW.get(each, 0) for each in classes):
        found |= UNREAL
    if is_general(low):
        found |= GENERAL
    return found


THEIRS, UNREAL, GENERAL = 1, 2, 4
"""The bits of what stands aside. What is `GENERAL` only asks, and of nothing of the speaker's."""
_BELOW = {"=supposed": 0.5, "=declined": 0.85, "=joke": 0.85, "=past": 0.7, "=passing": 0.7}
"""Below which score a text with words of a class is not so."""
_KIN = (
    r"(?:brother|bro|sister|sis|mother|father|mum|mom|dad|son|daughter|boy|girl|cousin|uncle|aunt|"
    r"nephew|niece|friend|mate|buddy|colleague|coworker|neighbou?r|flatmate|roommate|wife|husband|"
    r"girlfriend|boyfriend|partner|gran|nan|grandma|grandpa|in-law|ex)(?:'?s)?"
)
_PERSON = compile_later(
    rf"\W*+(?:(?:so|and|btw|oh|also|lol|haha)\W++){{0,2}}(?:(?:my|our|a|the|next) )?"
    rf"(?:\w[\w'-]{{0,20}} )?{_KIN}\b(?!:)"
)
_GROUP = compile_later(
    r"\W*+(?:(?:so|and|btw)\W++)?(?:the|that|their|another) (?:[\w'-]{1,20} ){0,2}(?:team|"
    r"department|office|family|class|group|club|company|neighbou?rs|twins|people|guys|others)\b"
)
_GIFT = compile_later(
    rf"\b(?:bought|got|gave|made|ordered|booked|baked|knitted|found|picked)(?: up)? "
    rf"(?:my|our) {_KIN}\b"
    rf"|\bfor (?:my|our) {_KIN}(?:'?s)? (?:birthday|wedding|christmas)\b"
)
_THEIR_OWN = compile_later(rf"\b(?:my|our) (?=(?:[\w-]{{1,20}} ){{0,2}}{_KIN}\b)")
_MINE = compile_later(r"\b(?:i|im|ive|id|ill|my|mine|we|weve|our|ours)\b")
_NAMED = compile_later(
    r"\W*+(?!The |An? |My |Our |We |It |This |That |There |New |These |Those |I\b)"
    r"[A-ZÀ-Þ][\w'’-]{1,20} (?:[A-ZÀ-Þ][\w'’-]{1,20} )?(?:(?:from|in|at|of) [\w'’-]{1,20} )?"
    r"(?:(?:just|has|is|was|also|finally) ){0,2}(?:got|gets|bought|moved|started|works|lives|"
    r"drives|quit|left|switched|joined|sold|wants|went|took|became|adopted|had|plays|uses)\b"
)


def features(text: str, known: Collection[str]) -> set[str]:
    """The classes and the runs of words that a text has, of the words that are known."""
    low = _begin(text)
    return runs(tokens(low), known).union(_classes_of(low))


def _classes_of(low: str) -> list[str]:
    return [name for name, pattern in _classes() if pattern.search(low)]


def tokens(text: str) -> list[str]:
    """The words and marks of a text in lower case."""
    found = _TOKEN.findall(text)
    return [FIGURE if _DIGIT.search(each) else each for each in found]


def runs(said: list[str], known: Collection[str]) -> set[str]:
    """The runs of one to three of these, without the words that are not known."""
    words = [_BEGIN, *(each if each in known else OTHER for each in said)]
    pairs = [f"{one} {other}" for one, other in pairwise(words)]
    triples = (f"{pair} {word}" for pair, word in zip(pairs, words[2:], strict=False))
    return {*words, *pairs, *triples}


@cache
def _classes() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The classes of words: how each is called among the features, and its pattern."""
    read = data("beliefledger.projections", "novelty.yaml")
    return tuple((f"={name}", re.compile(pattern)) for name, pattern in read.items())


@cache
def _weights() -> tuple[float, Mapping[str, float]]:
    """The bias, and the weight of each run."""
    told = (each.split(" ", 1) for each in lines("beliefledger.projections", "novelty_runs.txt"))
    weights = {run: int(weight) / 1000 for weight, run in told}
    return weights.pop("bias:"), weights
