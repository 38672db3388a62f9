"""How probably a sentence is worth a note, and how probably it is meant as a lasting truth. Pure.

Logistic regressions over features of the surface. The first decides what becomes a note, and
was trained on sentences that may be one. The second was trained on all kinds of sentences of
chat, jokes and games and the moment among them, and is asked about what the rules noticed, too; it
has the features of the first, more of them, and runs of one to three words. The third tells of
what nothing is noted unless somebody granted it. Weights are in notes.yaml, earnest.yaml,
earnest_runs.txt and sensitive_runs.txt; docs/notes.md says how they were trained.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from beliefledger.gate import sentence_network
from beliefledger.gate.literals import Guarded, Table
from beliefledger.gate.rules.lexicon import GIVEN, expanded
from beliefledger.ledger.data_files import data, lines
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.late_patterns import compile_later


@dataclass(frozen=True, slots=True)
class Feature:
    """Something that a sentence has or has not: one of some words, words that fit a pattern, or so
    many words."""

    name: str
    weight: float
    any: frozenset[str]
    pattern: Guarded | None
    words: tuple[int, int]
    case: bool = False
    """Whether upper case counts for the pattern, which is in lower case otherwise."""


class _Patterned(NamedTuple):
    """A feature that is a pattern, and its place among all."""

    place: int
    pattern: Guarded
    case: bool


@dataclass(frozen=True)
class Scorer:
    """A logistic regression over features and runs of words."""

    bias: float
    features: tuple[Feature, ...]
    runs: Mapping[str, float]

    def score(self, sentence: str) -> float:
        """From 0 to 1."""
        return _probability(self.log_odds(sentence))

    def log_odds(self, sentence: str) -> float:
        """The sum of the weights."""
        total = self.bias
        for place in self._found(sentence):
            total += self.features[place].weight
        if self.runs:
            total += sum(self.runs.get(run, 0.0) for run in runs_of(sentence))
        return total

    def vector(self, sentence: str) -> list[bool]:
        """Which features are there, in their order."""
        found = set(self._found(sentence))
        return [place in found for place in range(len(self.features))]

    def _found(self, sentence: str) -> list[int]:
        """The places of the features that are there, in their order."""
        lower = sentence.lower()
        words = WORD.findall(lower)
        many = len(words)
        found = {place for place, least, most in self._counts if least <= many <= most}
        by_word = self._by_word
        for word in by_word.keys() & words:
            found.update(by_word[word])
        for place, pattern, case in self._patterns.possible(lower):
            if pattern.pattern.search(sentence if case else lower) is not None:
                found.add(place)
        return sorted(found)

    # Of more than a hundred features a sentence has a few: they are looked up by its words.

    @cached_property
    def _counts(self) -> list[tuple[int, int, int]]:
        """The places of the features that are about how many words there are, and how many."""
        return [
            (place, *each.words)
            for place, each in enumerate(self.features)
            if not each.any and each.pattern is None
        ]

    @cached_property
    def _by_word(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for place, each in enumerate(self.features):
            for word in each.any:
                found.setdefault(word, []).append(place)
        return found

    @cached_property
    def _patterns(self) -> Table[_Patterned]:
        return Table(
            _Patterned(place, each.pattern, each.case)
            for place, each in enumerate(self.features)
            if each.pattern is not None and not each.any
        )


TURNS_OF_A_GAME = 6
"""How many turns back a game may have begun."""
_LOOKED_AT = 600
"""How much of a turn is looked at for it, in characters."""
WORD = compile_later(r"[^\W_]+(?:['’][^\W_]+)*")
_FEWEST = 2
"""Of fewer words the network knows nothing: a "yes" is what it answers."""
_APOSTROPHES = str.maketrans("", "", "'’")
_MARK = compile_later(r"[^\W_]+|[^\w\s]")
BEGIN, END = "<s>", "</s>"
_BEGUN = 5
"""So many letters are the beginning of a word."""
BIAS = "<bias>"


def runs_of(sentence: str) -> set[str]:
    """The runs of one, two and three words of a sentence, marks and its two ends counted as words;
    in lower case and without apostrophes, as people type in a hurry."""
    return runs(_marked(sentence))


def runs(said: Sequence[str]) -> set[str]:
    """The runs of one, two and three of some words."""
    twos = map(" ".join, pairwise(said))
    threes = map(" ".join, zip(said, said[1:], said[2:], strict=False))
    return {*said, *twos, *threes}


def words_and_marks(sentence: str) -> list[str]:
    """The words and marks of a sentence, in lower case and without apostrophes."""
    return _MARK.findall(sentence.lower().translate(_APOSTROPHES))


def _marked(sentence: str) -> list[str]:
    """The words, marks and the two ends of a sentence."""
    return [BEGIN, *words_and_marks(sentence), END]


# The rules, the notes and the clauses of a sentence ask about the same words.
@lru_cache(maxsize=64)
def worth(sentence: str) -> float:
    """How probably a careful reader would keep a sentence that may be a note, from 0 to 1."""
    return worth_scorer().score(sentence)


def _of_anybody(sentence: str) -> str:
    """A sentence with one and the same name for whoever is called by a given name in it: what is
    meant does not hang on whether David or Anna is a vet. Who has two names may be known to all,
    and what stands behind "in" is a place."""
    return _CALLED.sub(lambda found: _ANYBODY if found[0].lower() in GIVEN else found[0], sentence)


@lru_cache(maxsize=64)
def earnest(sentence: str) -> float:
    """How probably a sentence is the speaker's own, meant as true and lasting, from 0 to 1: by the
    regression and by the network, who err seldom in the same sentence. What is told of somebody by
    name is so as probably as of anybody, at least."""
    anybody = _of_anybody(sentence)
    return max(map(_meant, dict.fromkeys((sentence, anybody))))


def _meant(sentence: str) -> float:
    if len(WORD.findall(sentence)) < _FEWEST:
        return earnest_scorer().score(sentence)
    weights: Mapping[str, float] = _earnest()["of both"]
    total = weights["regression"] * earnest_scorer().log_odds(sentence)
    most = weights["most of the network"]  # so that it is not wildly wrong alone
    network = max(-most, min(most, sentence_network.log_odds(sentence)))
    total += weights["network"] * network
    return _probability(total + weights["bias"])


_CALLED = compile_later(
    r"(?<!\w)(?<!\b[Ii]n )(?<!\b[Aa]t )(?<!\b[Tt]o )(?<!\b[Ff]rom )(?<!\b[Nn]ear )(?<!\b[Oo]f )"
    r"(?<!\b[Tt]he )(?<!-)"
    r"(?!(?:Will|Mark|May|Rose|Grace|Joy|Hope|Faith|Bill|Chase|Drew|June|April|August|Art|Ray|Rich|"
    r"Sky|Summer|Dawn|Eve|Olive|Ruby|Amber|Jade|Penny|Victor|Guy|Duke|Prince|Christian|Sue|Don|"
    r"Frank|Jack|Rob|Pat|Gene|Dean|Angel|Star|Bob|Carol|Holly|Ivy|Daisy|Lily|Poppy|Violet)\b)"
    r"[A-ZÀ-Þ][\w-]+\b(?! [A-ZÀ-Þ])"
)
_ANYBODY = "Anna"


@lru_cache(maxsize=64)
def sensitive(sentence: str) -> float:
    """How probably a sentence tells something of a special category, also without its usual words,
    from 0 to 1."""
    return _of_parts(sentence, _sensitive())


@lru_cache(maxsize=64)
def sounds_like_change(sentence: str) -> float:
    """How probably a sentence puts an end to anything that is believed, whatever that may be, from
    0 to 1."""
    return _of_parts(sentence, _changing())


def _of_parts(sentence: str, weights: Mapping[str, float]) -> float:
    return _probability(sum(weights.get(part, 0.0) for part in parts_of(sentence)) + weights[BIAS])


def _probability(log_odds: float) -> float:
    return 1 / (1 + math.exp(-log_odds))


def parts_of(sentence: str) -> set[str]:
    """The runs of one and two words of a sentence, as `runs_of`, and the beginnings of its words:
    "diagn*"."""
    said = _marked(sentence)
    begun = (f"{word[:_BEGUN]}*" for word in said if len(word) > _BEGUN)
    return {*said, *map(" ".join, pairwise(said)), *begun}


@cache
def _sensitive() -> dict[str, float]:
    return told_runs(lines("beliefledger.gate", "sensitive_runs.txt"))


@cache
def _changing() -> dict[str, float]:
    return told_runs(lines("beliefledger.gate", "change_runs.txt"))


@cache
def worth_scorer() -> Scorer:
    """The scorer of notes, as its file says."""
    return scorer_of(_notes()["scorer"])


@cache
def earnest_scorer() -> Scorer:
    """The scorer of what is meant: with the features of the other one, by other weights."""
    read = _earnest()
    weights: Mapping[str, float] = read["as of notes"]
    also = [{**each, "weight": weights[each["name"]]} for each in _notes()["scorer"]["features"]]
    runs = told_runs(lines("beliefledger.gate", "earnest_runs.txt"))
    return scorer_of({**read, "features": [*also, *read["features"]]}, runs)


def told_runs(told: Iterable[str]) -> dict[str, float]:
    """The weights of runs of words from the lines of their file: thousandths, and the run."""
    parted = (line.partition(" ") for line in told)
    return {run: int(weight) / 1000 for weight, _, run in parted}


def scorer_of(read: Mapping[str, Any], runs: Mapping[str, float] | None = None) -> Scorer:
    """A scorer from the fields of its file, and weights of runs of words if it has some."""
    return Scorer(read["bias"], tuple(map(_feature, read["features"])), runs or {})


def may_not_be_so(sentence: str) -> bool:
    """Whether a sentence has a word of what is supposed or wished: "would", "if I"."""
    pattern = _supposed().pattern
    lower = sentence.lower()
    return pattern is not None and pattern.search(lower, lower) is not None


@cache
def _supposed() -> Feature:
    return next(each for each in earnest_scorer().features if each.name == "not so")


def threshold(name: str) -> float:
    """From what score on something is done: see the head of earnest.yaml."""
    least: float = _earnest()["thresholds"][name]
    return least


@cache
def _begins() -> Guarded:
    return Guarded("|".join(_earnest()["begins a game"].splitlines()))


@cache
def _ends() -> Guarded:
    return Guarded("|".join(_earnest()["ends a game"].splitlines()))


def in_a_game(said: Sequence[str]) -> bool:
    """Whether a game or a story is being played in the turns before, the oldest first."""
    for text in reversed(said[-TURNS_OF_A_GAME:]):
        lower = text[:_LOOKED_AT].lower()
        if _ends().search(lower, lower) is not None:
            return False
        if _begins().search(lower, lower) is not None:
            return True
    return False


def filled(pattern: str) -> str:
    """A pattern with the parts that its <names> stand for."""
    return expanded(pattern, _notes()["parts"])


def _feature(read: Mapping[str, Any]) -> Feature:
    pattern = read.get("pattern")
    least, most = read.get("words", (0, 0))
    return Feature(
        read["name"],
        read["weight"],
        frozenset(read.get("any", "").split()),
        None if pattern is None else Guarded(filled(pattern)),
        (least, most),
        bool(read.get("case")),
    )


@cache
def _notes() -> dict[str, Any]:
    read: dict[str, Any] = data("beliefledger.gate", "notes.yaml")
    return read


@cache
def _earnest() -> dict[str, Any]:
    read: dict[str, Any] = data("beliefledger.gate", "earnest.yaml")
    return read


def forget() -> None:
    """Empty the caches, which may hold words of an erased subject."""
    worth.cache_clear()
    earnest.cache_clear()
    sensitive.cache_clear()
    sounds_like_change.cache_clear()
