"""A sentence and something believed, and what links the two: a word, a topic, names of one kind.

Words, topics and what tells of change are in successions.yaml. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, cached_property, lru_cache
from heapq import nlargest
from typing import Any

from beliefledger.gate import pair_runs
from beliefledger.gate.literals import Guarded
from beliefledger.gate.rules import new_figures
from beliefledger.gate.rules.lexicon import load
from beliefledger.gate.scorers import runs
from beliefledger.ledger.data_files import data
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.networks import pairs as pair_network
from beliefledger.networks.stems import stem

_WORD = compile_later(r"[^\W_]+(?:[.'&+-][^\W_]+)*")
_NAMED = compile_later(r"\b(?!User\b)(?:[A-ZÀ-Þ][\w-]+|\w*\d\w*)")
_CLAUSE = compile_later(r"[,;:.!?()]\s|\s[–—-]\s|\b(?:but|so|because|and|since|while)\b")
_PRELUDE = compile_later(
    r"(?:i )?(?:never|didn'?t|wouldn'?t have|would never have) (?:ever )?thought i'?d (?:ever )?"
    r"(?:say|see) (?:it|this|that|the day)"
    r"|who (?:would|would'?ve|could) (?:have )?(?:thought|believe it)"
    r"|(?:would|can) you believe(?: it)?|believe it or not|if you can believe it|sorry not sorry"
)
"""What is said of how surprising a change is, and not of the change."""


class Said:
    """A sentence that may overtake something."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._runs: dict[tuple[str, ...], tuple[frozenset[str], frozenset[str]]] = {}
        low = text.lower().replace("’", "'")
        self.low = _PRELUDE.sub(lambda found: " " * len(found[0]), low)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words in lower case, without apostrophes, in their order."""
        return tuple(_plain(word) for word in _WORD.findall(self.low))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of the words that tell what it is about."""
        return _stems(self.words)

    @cached_property
    def tokens(self) -> tuple[tuple[str, str], ...]:
        """Its words and marks, with their stems."""
        return pair_runs.tokens(self.low)

    @cached_property
    def read(self) -> pair_network.Text:
        """The sentence as the network of pairs reads it."""
        return pair_network.network().read(self.text, pair_network.OF_SAID)

    @cached_property
    def topics(self) -> frozenset[str]:
        return topics(self.words)

    @cached_property
    def cues(self) -> tuple[str, ...]:
        """What it says of change."""
        return tuple(name for name, _, _ in self.cued)

    @cached_property
    def cued(self) -> tuple[tuple[str, int, int], ...]:
        """Where it says so: the first place of each cue."""
        found = ((name, cue.search(self.low, self.low)) for name, cue in cues())
        return tuple((name, *match.span()) for name, match in found if match is not None)

    @cached_property
    def placed(self) -> tuple[tuple[str, int, int], ...]:
        """Its words by their stems, where each is, and in which clause."""
        parts = [0, *(each.end() for each in _CLAUSE.finditer(self.low))]
        return tuple(
            (stem(_plain(each[0])), each.start(), sum(part <= each.start() for part in parts))
            for each in _WORD.finditer(self.low)
        )

    def clause(self, at: int) -> int:
        """In which clause an offset is."""
        return 1 + sum(each.end() <= at for each in _CLAUSE.finditer(self.low))

    @cached_property
    def rivals(self) -> dict[str, frozenset[str]]:
        return rivals(self.words)

    @cached_property
    def figures(self) -> dict[str, str]:
        return _figures(self.text)

    @cached_property
    def others(self) -> frozenset[str]:
        return other_people().intersection(self.words)

    @cached_property
    def names(self) -> frozenset[str]:
        """What it names with a capital behind its first word."""
        first = re.match(r"\A\W*\w+", self.text)
        begin = first.end() if first else 0
        return frozenset(_plain(each.lower()) for each in _NAMED.findall(self.text, begin))

    def runs(self, seen: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
        """Its runs of words as seen from something believed, and the words alone. Most of what is
        believed sees the same ones."""
        if seen not in self._runs:
            self._runs[seen] = frozenset(runs(seen)), frozenset(seen)
        return self._runs[seen]

    def may_be_of(self, told: Told) -> bool:
        """Whether anything links it with what is believed; most things are told apart by a look at
        their letters."""
        low = told.claim.lower()
        if any(each in low for each in self.stems) and not self.stems.isdisjoint(told.stems):
            return True
        if self.topics and not self.topics.isdisjoint(told.topics):
            return True
        return self.is_rival_of(told)

    def is_rival_of(self, told: Told) -> bool:
        """Whether it names another thing of a kind than what is believed."""
        return any(told.rivals.get(kind, names) != names for kind, names in self.rivals.items())


class Told:
    """What is believed: the type of a memory, its attribute, its claim and its value."""

    def __init__(self, type_: str, attribute: str, claim: str, value: str) -> None:
        self.type, self.attribute, self.claim, self.value = type_, attribute, claim, value

    @cached_property
    def words(self) -> tuple[str, ...]:
        return _words(self.attribute, self.claim)

    @cached_property
    def stems(self) -> frozenset[str]:
        return _stems(self.words)

    @cached_property
    def values(self) -> frozenset[str]:
        """The stems of the words of its value."""
        return _stems(tuple(map(_plain, _WORD.findall(self.value.lower().replace("’", "'")))))

    @cached_property
    def named(self) -> frozenset[str]:
        """The stems of the names in its claim."""
        return frozenset(stem(_plain(each.lower())) for each in _NAMED.findall(self.claim))

    @cached_property
    def read(self) -> pair_network.Text:
        """Its claim as the network of pairs reads it."""
        return pair_network.network().read(self.claim, pair_network.OF_TOLD)

    @cached_property
    def topics(self) -> frozenset[str]:
        return topics(self.words)

    @cached_property
    def rivals(self) -> Mapping[str, frozenset[str]]:
        return rivals(self.words)

    @cached_property
    def figures(self) -> dict[str, str]:
        return _figures(self.value)

    @cached_property
    def others(self) -> frozenset[str]:
        return other_people().intersection(self.words)


def _words(attribute: str, claim: str) -> tuple[str, ...]:
    text = f"{claim} {attribute.replace('.', ' ').replace('-', ' ')}"
    return tuple(_plain(word) for word in _WORD.findall(text.lower().replace("’", "'")))


def linked_best(said: Said, there: Sequence[Told], most: int) -> list[int]:
    """The places of those beliefs that a sentence has most in common with, so many at most, in
    their order: rivals, then by common words, by common topics, and the later ones."""
    if len(there) <= most:
        return list(range(len(there)))

    def nearness(at: int) -> tuple[bool, int, int, int]:
        each = there[at]
        words, subjects = len(said.stems & each.stems), len(said.topics & each.topics)
        return said.is_rival_of(each), words, subjects, at

    return sorted(nlargest(most, range(len(there)), key=nearness))


def ranks(said: Said, there: Sequence[Told]) -> list[str]:
    """How much of a sentence each of the beliefs has that are there, beside the others: the most
    words, as many as another one, fewer; or none but the most topics, and so on."""
    claims = [each.claim for each in there]
    words = [len(said.stems & each.stems) for each in there]
    subjects = [len(said.topics & each.topics) for each in there]
    found = []
    for own, most, of, most_of in zip(
        words, _most_of_others(words, claims), subjects, _most_of_others(subjects, claims),
        strict=True,
    ):  # fmt: skip
        by_words = own or most
        found.append(f"{_rank(own, most)} words" if by_words else f"{_rank(of, most_of)} topics")
    return found


def _most_of_others(counts: Sequence[int], claims: Sequence[str]) -> list[int]:
    """For each the most that one with another claim has, or 0."""
    of: dict[str, int] = {}
    for count, claim in zip(counts, claims, strict=True):
        of[claim] = max(count, of.get(claim, 0))
    first, second, *_ = *sorted(of.values(), reverse=True), 0, 0
    return [second if of[claim] == first else first for claim in claims]


def _rank(own: int, most: int) -> str:
    return "more" if own > most else "as many" if own == most else "fewer"


@lru_cache(maxsize=20_000)
def told_by(type_: str, attribute: str, claim: str, value: str) -> Told:
    """What is believed, read once: the same memories are asked about at each sentence, all of them
    where somebody has thousands."""
    return Told(type_, attribute, claim, value)


def forget() -> None:
    """Empty the caches, which may hold words of an erased subject."""
    told_by.cache_clear()


def topics(words: tuple[str, ...]) -> frozenset[str]:
    """What words are about."""
    of = _topics()
    found: set[str] = set()
    for word in words:
        found |= of.get(word, frozenset())
        if word.endswith("s"):
            found |= of.get(word[:-1], frozenset())
    return frozenset(found)


def _plain(word: str) -> str:
    return word.removesuffix("'s").replace("'", "")


def _figures(text: str) -> dict[str, str]:
    """The figures of a text by their kinds."""
    return {each.kind: text[each.start : each.end] for each in new_figures.figures(text)}


def _stems(words: tuple[str, ...]) -> frozenset[str]:
    small = small_words()
    return frozenset(stem(word) for word in words if word not in small)


@cache
def commonplaces() -> frozenset[str]:
    """Stems of words that people say of anything: of themselves they link no two sentences."""
    return frozenset(stem(each) for each in tables()["commonplace"].split())


@cache
def small_words() -> frozenset[str]:
    return frozenset(tables()["small"].split())


@cache
def other_people() -> frozenset[str]:
    return frozenset(tables()["others"].split())


@cache
def _topics() -> dict[str, frozenset[str]]:
    of: dict[str, set[str]] = {}
    for topic, words in tables()["topics"].items():
        for word in words.split():
            of.setdefault(word, set()).add(topic)
    return {word: frozenset(found) for word, found in of.items()}


@cache
def cues() -> tuple[tuple[str, Guarded], ...]:
    return tuple((name, Guarded(pattern)) for name, pattern in tables()["cues"].items())


def rivals(words: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """What words name of the kinds of which somebody mostly has one at a time."""
    kinds = _rival_kinds()
    found: dict[str, set[str]] = {}
    for many in (1, 2, 3):
        for each in zip(*(words[at:] for at in range(many)), strict=False):
            name = " ".join(each)
            for kind in kinds.get(name, ()):
                found.setdefault(kind, set()).add(name)
    return {kind: frozenset(names) for kind, names in found.items()}


@cache
def _rival_kinds() -> dict[str, tuple[str, ...]]:
    """The kinds that each name is of."""
    kinds: dict[str, tuple[str, ...]] = {}
    renewed = load("renewals.yaml")["kinds"].items()
    told = {name: each["names"] for name, each in renewed if "names" in each}
    for kind, names in (*told.items(), *load("rivals.yaml").items()):
        for name in names.split(","):
            plain = " ".join(_plain(each) for each in _WORD.findall(name.lower()))
            kinds[plain] = (*kinds.get(plain, ()), kind)
    return kinds


@cache
def tables() -> dict[str, Any]:
    read: dict[str, Any] = data("beliefledger.gate", "successions.yaml")
    return read
