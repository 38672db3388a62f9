"""How probably a sentence puts an end to what is believed, or another value in its place. Pure.

A logistic regression over features of the pair: what links the two (a name, a word, a topic, or
nothing), what the sentence says of change, what kind of thing is believed, and the runs of words of
the sentence, as seen from what is believed. Words and patterns are in successions.yaml, weights in
succession_weights.txt; docs/extraction.md says how they were trained.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, cached_property, lru_cache
from typing import Any

from beliefledger.gate import pair_runs
from beliefledger.gate.literals import Guarded
from beliefledger.gate.meant_memories import stem
from beliefledger.gate.rules import new_figures
from beliefledger.gate.rules.lexicon import load
from beliefledger.gate.scorers import BIAS, earnest, runs, sounds_like_change, told_runs
from beliefledger.ledger.data_files import data, lines
from beliefledger.ledger.late_patterns import compile_later

_WORD = re.compile(r"[^\W_]+(?:[.'&+-][^\W_]+)*")
_NAMED = re.compile(r"\b(?!User\b)(?:[A-ZÀ-Þ][\w-]+|\w*\d\w*)")
_CLAUSE = re.compile(r"[,;:.!?()]\s|\s[–—-]\s|\b(?:but|so|because|and|since|while)\b")
_OWN_CLAUSE = re.compile(r"\b(?:but|so|because|since)\b|[;!.]\s|(?<=now),\s|(?<=instead),\s")
"""Where words of one's own begin or end beside somebody else's."""
_ANY_CLAUSE = re.compile(r"\b(?:but|so|because|since)\b|[,;!.:]\s|\s[–—-]\s")
_PRELUDE = compile_later(
    r"(?:i )?(?:never|didn'?t|wouldn'?t have|would never have) (?:ever )?thought i'?d (?:ever )?"
    r"(?:say|see) (?:it|this|that|the day)"
    r"|who (?:would|would'?ve|could) (?:have )?(?:thought|believe it)"
    r"|(?:would|can) you believe(?: it)?|believe it or not|if you can believe it|sorry not sorry"
)
"""What is said of how surprising a change is, and not of the change."""
_DENIED = re.compile(r"\b(?:no|not|never|cannot|without|n['’]t|dont|cant|doesnt)\b|n['’]t\b", re.I)
_PLANNED = re.compile(
    r"\b(?:wants?|plans?|planning|thinking (?:of|about)|looking (?:for|to)|saving|training|"
    r"expecting|hop(?:es|ing)|going to|will|considering|due|wishes)\b",
    re.I,
)
_NEAR = 12
"""How far from the words of change what is believed is named, in characters."""
_FIRST_PERSON = frozenset("i im ive my we weve our id".split())


class Said:
    """A sentence that may overtake something."""

    def __init__(self, text: str) -> None:
        self.text = text
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
    def topics(self) -> frozenset[str]:
        return topics(self.words)

    @cached_property
    def cues(self) -> tuple[str, ...]:
        """What it says of change."""
        return tuple(name for name, _, _ in self.cued)

    @cached_property
    def cued(self) -> tuple[tuple[str, int, int], ...]:
        """Where it says so: the first place of each cue."""
        found = ((name, cue.search(self.low, self.low)) for name, cue in _cues())
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
        return {
            each.kind: self.text[each.start : each.end] for each in new_figures.figures(self.text)
        }

    @cached_property
    def others(self) -> frozenset[str]:
        return _others().intersection(self.words)

    @cached_property
    def names(self) -> frozenset[str]:
        """What it names with a capital behind its first word."""
        first = re.match(r"\A\W*\w+", self.text)
        begin = first.end() if first else 0
        return frozenset(_plain(each.lower()) for each in _NAMED.findall(self.text, begin))

    def may_be_of(self, told: Told) -> bool:
        """Whether anything links it with what is believed; most things are told apart by a look at
        their letters."""
        low = told.claim.lower()
        if any(each in low for each in self.stems) and not self.stems.isdisjoint(told.stems):
            return True
        if self.topics and not self.topics.isdisjoint(told.topics):
            return True
        return any(told.rivals.get(kind, names) != names for kind, names in self.rivals.items())


class Told:
    """What is believed: the type of a memory, its attribute, its claim and its value."""

    def __init__(self, type_: str, attribute: str, claim: str, value: str) -> None:
        self.type, self.attribute, self.claim, self.value = type_, attribute, claim, value

    @cached_property
    def words(self) -> tuple[str, ...]:
        text = f"{self.claim} {self.attribute.replace('.', ' ').replace('-', ' ')}"
        return tuple(_plain(word) for word in _WORD.findall(text.lower().replace("’", "'")))

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
    def topics(self) -> frozenset[str]:
        return topics(self.words)

    @cached_property
    def rivals(self) -> dict[str, frozenset[str]]:
        return rivals(self.words)

    @cached_property
    def figures(self) -> dict[str, str]:
        return {
            each.kind: self.value[each.start : each.end] for each in new_figures.figures(self.value)
        }

    @cached_property
    def others(self) -> frozenset[str]:
        return _others().intersection(self.words)


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


@lru_cache(maxsize=2_000)
def told_by(type_: str, attribute: str, claim: str, value: str) -> Told:
    """What is believed, read once: the same memories are asked about at each sentence."""
    return Told(type_, attribute, claim, value)


def forget() -> None:
    """Empty the cache, which may hold words of an erased subject."""
    told_by.cache_clear()


def features(said: Said, told: Told, rank: str) -> Iterator[str]:
    """The features of a pair, by their names, where what is believed has that rank among all."""
    shared = said.stems & told.stems
    common = said.topics & told.topics
    if shared & told.named:
        link = "named"
    elif shared:
        link = "word"
    elif common:
        link = "topic"
    else:
        link = "nothing"
    family = (
        told.type
        if told.type in ("note", "event", "commitment", "decision")
        else (told.attribute.partition(".")[0])
    )
    yield f"link {link}"
    yield rank
    yield from _rivalry(said, told, link)
    yield f"of {family}"
    yield f"link {link}, of {family}"
    if len(shared) > 1:
        yield "words shared"
        if len(shared) > 2:
            yield "many words shared"
    if told.values and told.values <= said.stems:
        yield "whole value said"
    elif told.values & said.stems:
        yield "part of value said"
    first = next((each for each in said.words if stem(each) in shared), None)
    if first is not None and said.words.index(first) < 3:
        yield "begins with it"
    denied = _DENIED.search(told.claim) is not None
    planned = _PLANNED.search(told.claim) is not None
    if denied:
        yield "believed that not"
        yield f"believed that not, link {link}"
    if planned:
        yield "believed to be planned"
    for cue in said.cues:
        if denied:
            yield f"{cue}, believed that not"
        if planned:
            yield f"{cue}, believed to be planned"
    places = [(at, clause) for word, at, clause in said.placed if word in shared]
    for cue, start, end in said.cued:
        yield f"{cue}"
        if not shared:
            yield f"{cue}, link {link}"
            continue
        clause = said.clause(start)
        near = [at for at, within in places if within == clause]
        if not near:
            yield f"{cue} elsewhere"
        elif any(0 <= at - end <= _NEAR for at in near):
            yield f"{cue}, then it"
            yield f"{cue}, then it, of {family}"
        elif any(0 <= start - at <= _NEAR + 6 for at in near):
            yield f"it, then {cue}"
            yield f"it, then {cue}, of {family}"
        else:
            yield f"{cue} with it"
    for topic in common:
        yield f"topic {topic}"
        for cue in said.cues:
            yield f"{cue}, topic {topic}"
    for kind, figure in said.figures.items():
        if kind in told.figures:
            other = "same" if told.figures[kind].lower() == figure.lower() else "other"
            yield f"{other} figure, link {link}"
            yield f"{other} {kind}"
    if said.others - told.others:
        yield "of somebody else"
        yield f"of somebody else, link {link}"
    if told.others - said.others:
        yield "believed of somebody else"
        yield f"believed of somebody else, link {link}"
    if said.others & told.others:
        yield "of the same person"
    if said.names:
        yield f"names, link {link}"
    if not _FIRST_PERSON.isdisjoint(said.words[:1]):
        yield "begins with I"
    if len(said.words) > 14:
        yield "long"
    if said.stems <= told.stems:
        yield "says nothing else"
    seen = pair_runs.seen_from(said.tokens, told.stems, told.values, _small())
    how = "=" if shared else "~"
    for run in runs(seen):
        yield f"{how} {run}"
    for word in set(seen):
        yield f"{family}|{word}"


def _rivalry(said: Said, told: Told, link: str) -> Iterator[str]:
    """Whether the sentence names another thing of a kind than the one believed."""
    for kind in said.rivals.keys() & told.rivals.keys():
        new, old = said.rivals[kind], told.rivals[kind]
        if old <= new <= old:
            continue
        how = "rival" if new.isdisjoint(old) else "rival beside it"
        yield how
        yield f"{how}, link {link}"
        yield f"{how} {kind}"
        for cue in said.cues:
            yield f"{how}, {cue}"


def score(said: Said, told: Told, rank: str) -> float:
    """How probably what is told is over once it is said, from 0 to 1."""
    weights = _weights()
    found = (weights[each] for each in features(said, told, rank) if each in weights)
    total = weights[BIAS] + sum(sorted(found))  # in an order, for the same bits
    return 1 / (1 + math.exp(-total))


def may_overtake(text: str) -> bool:
    """Whether a sentence may overtake anything: it asks nothing, sounds like a change, is probably
    meant, and does not say that it is only supposed, somebody's word, or beside what was."""
    if "?" in text[-3:] or sounds_like_change(text) < threshold("change"):
        return False
    if earnest(text) < threshold("earnest"):
        return False
    said = Said(text)
    if len(said.words) < _LEAST and not any(char.isdigit() for char in text):
        return False  # "Morning!" ends nothing of what is done each morning
    vetoes = _NEVER.intersection(said.cues)
    return not vetoes or (vetoes <= _OF_A_CLAUSE and _is_ones_own(said, vetoes))


_LEAST = 2
"""A sentence of fewer words says too little, unless it is a figure."""
_OF_A_CLAUSE = frozenset(("reported", "declined", "past", "supposed"))
"""What holds of the clause that says it: "my knees said no, so no more crossfit"."""


def _is_ones_own(said: Said, vetoes: AbstractSet[str]) -> bool:
    """Whether a sentence with somebody's word, an offer declined or a wish tells of a change in
    words of one's own: "prof said it was done before, so the thesis is about lichens instead",
    "sold the boat, hope it sails again"."""
    if "supposed" in vetoes and _IF.search(said.low) is not None:
        return False
    cues = dict(_cues())
    change = _changes() if vetoes == {"reported"} else _ended()
    parting = _OWN_CLAUSE if vetoes == {"reported"} else _ANY_CLAUSE
    begin, declined = 0, False
    for end in (*(each.start() for each in parting.finditer(said.low)), len(said.low)):
        part = said.low[begin:end]
        begin = end
        if any(cues[name].search(part, part) for name in vetoes):
            declined = declined or cues["declined"].search(part, part) is not None
        elif ("declined" not in vetoes or declined) and change.search(part, part):
            return True
    return False


_IF = re.compile(r"\b(?:if|unless|whether|imagine|pretend|suppose|dream\w*)\b")


def topics(words: tuple[str, ...]) -> frozenset[str]:
    """What words are about."""
    of = _topics()
    found: set[str] = set()
    for word in words:
        found |= of.get(word, frozenset())
        if word.endswith("s"):
            found |= of.get(word[:-1], frozenset())
    return frozenset(found)


CHANGES = frozenset(
    (
        "now",
        "new",
        "over",
        "disposed",
        "dead",
        "changed",
        "taken up",
        "instead",
        "done",
        "left",
        "back",
        "since",
        "shifted",
        "slip",
        "outdone",
    )
)
_NEVER = frozenset(("beside", "still", "supposed", "reported", "past", "joke", "declined", "lent"))


@cache
def _changes() -> Guarded:
    return _any_cue(CHANGES)


@cache
def _ended() -> Guarded:
    """What is over for good, whatever else is wished."""
    return _any_cue(frozenset(("over", "disposed", "dead", "left")))


def _any_cue(names: AbstractSet[str]) -> Guarded:
    return Guarded("|".join(pattern for name, pattern in _read()["cues"].items() if name in names))


def _plain(word: str) -> str:
    return word.removesuffix("'s").replace("'", "")


def _stems(words: tuple[str, ...]) -> frozenset[str]:
    small = _small()
    return frozenset(stem(word) for word in words if word not in small)


@cache
def _small() -> frozenset[str]:
    return frozenset(_read()["small"].split())


@cache
def _others() -> frozenset[str]:
    return frozenset(_read()["others"].split())


@cache
def _topics() -> dict[str, frozenset[str]]:
    of: dict[str, set[str]] = {}
    for topic, words in _read()["topics"].items():
        for word in words.split():
            of.setdefault(word, set()).add(topic)
    return {word: frozenset(found) for word, found in of.items()}


@cache
def _cues() -> tuple[tuple[str, Guarded], ...]:
    return tuple((name, Guarded(pattern)) for name, pattern in _read()["cues"].items())


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
def _weights() -> Mapping[str, float]:
    return told_runs(lines("beliefledger.gate", "succession_weights.txt"))


def threshold(name: str) -> float:
    """From what score on something is done: see the head of successions.yaml."""
    least: float = _read()["thresholds"][name]
    return least


@cache
def _read() -> dict[str, Any]:
    read: dict[str, Any] = data("beliefledger.gate", "successions.yaml")
    return read
