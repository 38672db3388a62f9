"""How probably a sentence puts an end to what is believed, or another value in its place. Pure.

A logistic regression over features of the pair: what links the two (a name, a word, a topic, or
nothing), what the sentence says of change, what kind of thing is believed, and the runs of words of
the sentence, as seen from what is believed. Beside it a network reads both (`pair_network`): they
err seldom in the same pair. Words and patterns are in successions.yaml, weights in
succession_weights.txt; docs/extraction.md says how they were trained.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache

from beliefledger.gate import pair_runs
from beliefledger.gate.literals import Guarded
from beliefledger.gate.pairs import Said, Told, commonplaces, cues, small_words, tables
from beliefledger.gate.scorers import BIAS, earnest, sounds_like_change, told_runs
from beliefledger.ledger.data_files import lines
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.networks import pairs as pair_network
from beliefledger.networks.stems import stem

_OWN_CLAUSE = compile_later(r"\b(?:but|so|because|since)\b|[;!.]\s|(?<=now),\s|(?<=instead),\s")
"""Where words of one's own begin or end beside somebody else's."""
_ANY_CLAUSE = compile_later(r"\b(?:but|so|because|since)\b|[,;!.:]\s|\s[–—-]\s")
_DENIED = compile_later(
    r"\b(?:no|not|never|cannot|without|n['’]t|dont|cant|doesnt)\b|n['’]t\b", re.I
)
_PLANNED = compile_later(
    r"\b(?:wants?|plans?|planning|thinking (?:of|about)|looking (?:for|to)|saving|training|"
    r"expecting|hop(?:es|ing)|going to|will|considering|due|wishes)\b",
    re.I,
)
_NEAR = 12
"""How far from the words of change what is believed is named, in characters."""
_FIRST_PERSON = frozenset("i im ive my we weve our id".split())


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
    seen, words = said.runs(
        tuple(pair_runs.seen_from(said.tokens, told.stems, told.values, small_words()))
    )
    how = "=" if shared else "~"
    for run in seen:
        yield f"{how} {run}"
    for word in words:
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


_TOLD, _BY_WORDS = 4, 12
"""So many memories have those it learned from, half of the time; and so many may stand before what
has more words of a sentence than any other is doubted."""


_NOT_YET = compile_later(
    r"\b(?:looking (?:at|for|into|to)|viewing|thinking|considering|planning|plans?|hop(?:e|ing)|"
    r"want(?:s|ed)?|might|maybe|would|should|could|if|going to|gonna)\b",
    re.I,
)
"""What tells of something that is only looked at or wished for."""


def least(standing: int, said: Said, told: Told, rank: str) -> float:
    """From what probability on one of so many memories is over. The scorer learned from people who
    have told a few things; of whom more is believed, a sentence ends each single memory by so much
    more seldom (Saerens et al., Adjusting the outputs of a classifier to new a priori
    probabilities)."""
    by_words = (
        rank == "more words"
        and not said.stems & told.stems <= commonplaces()
        and _NOT_YET.search(said.text) is None
    )
    odds = threshold("over") / (1 - threshold("over"))
    odds *= max(1.0, standing / (_BY_WORDS if by_words else _TOLD))
    return odds / (1 + odds)


def is_over(said: Said, told: Told, rank: str, least: float) -> bool:
    """Whether what is told is over once it is said: it is with a probability of at least so much,
    from 0 to 1, and the regression by itself does not doubt it. The network alone knows too little
    of short sentences."""
    own = log_odds(said, told, rank)
    return own >= tables()["of both"]["doubted"] and _of_both(own, said, told) >= least


def stands(said: Said, told: Told, rank: str) -> bool:
    """Whether regression and network are sure that what is told stands."""
    own = log_odds(said, told, rank)
    sure = threshold("stands")
    return own < tables()["of both"]["doubted"] and _of_both(own, said, told) < sure


def _of_both(regression: float, said: Said, told: Told) -> float:
    """How probably what is told is over, from 0 to 1, by the log odds of the regression and by the
    network; this is not asked where it could change nothing."""
    weights: Mapping[str, float] = tables()["of both"]
    total = weights["bias"] + weights["regression"] * regression
    most = weights["most of the network"]
    if total + weights["network"] * most > weights["asked from"]:
        read = float(pair_network.network().log_odds([(told.read, said.read)])[0])
        total += weights["network"] * max(-most, min(most, read))
    else:
        total -= weights["network"] * most
    return 1 / (1 + math.exp(-total))


def log_odds(said: Said, told: Told, rank: str) -> float:
    """How probably what is told is over, as log odds, by the regression alone."""
    weights = _weights()
    found = (weights[each] for each in features(said, told, rank) if each in weights)
    return weights[BIAS] + sum(sorted(found))  # in an order, for the same bits


def may_overtake(text: str, *, in_doubt: bool = False) -> bool:
    """Whether a sentence may overtake anything: it asks nothing, sounds like a change, is probably
    meant, and does not say that it is only supposed, somebody's word, beside what was, or said to
    another's news. `in_doubt` also one that does, as "told Femi he can keep the amp" does, or that
    is hardly meant: what it overtakes has to be surer."""
    if "?" in text[-3:] or sounds_like_change(text) < threshold("change"):
        return False
    if earnest(text) < threshold("earnest in doubt" if in_doubt else "earnest"):
        return False
    said = Said(text)
    if len(said.words) < _LEAST and not any(char.isdigit() for char in text):
        return False  # "Morning!" ends nothing of what is done each morning
    vetoes = _NEVER.intersection(said.cues)
    if in_doubt:
        return not vetoes & _NEVER_AT_ALL and _IF.search(said.low) is None
    if vetoes == {"reported"} and _OFFICIAL.search(said.low) is not None:
        return True
    return not vetoes or (vetoes <= _OF_A_CLAUSE and _is_ones_own(said, vetoes))


_OFFICIAL = compile_later(
    r"\b(?:council|letter|leaflet|notice|e-?mail|agents?|agency|landlord|landlady|bank|school|"
    r"nursery|hr|surgery|clinic|dentist|vet|garage|app|website|provider|supplier|boss|office) "
    r"(?:says?|said|wrote|texted|emailed|announced|told (?:us|me))\b|\bsays? the "
    r"(?:council|agents?|landlord|bank|school|vet|dentist|letter|leaflet)\b"
)
"""Who tells how something is from now on, and not what might be."""
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
    patterns = dict(cues())
    change = _changes() if vetoes == {"reported"} else _ended()
    parting = _OWN_CLAUSE if vetoes == {"reported"} else _ANY_CLAUSE
    begin, declined = 0, False
    for end in (*(each.start() for each in parting.finditer(said.low)), len(said.low)):
        part = said.low[begin:end]
        begin = end
        if any(patterns[name].search(part, part) for name in vetoes):
            declined = declined or patterns["declined"].search(part, part) is not None
        elif ("declined" not in vetoes or declined) and change.search(part, part):
            return True
    return False


_IF = compile_later(r"\b(?:if|unless|whether|imagine|pretend|suppose|dream\w*)\b")


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
_NEVER = frozenset("beside still supposed reported past joke declined lent reaction order".split())
_NEVER_AT_ALL = frozenset(("joke", "order", "reaction", "beside"))
"""What leaves no doubt that nothing is over."""


@cache
def _changes() -> Guarded:
    return _any_cue(CHANGES)


@cache
def _ended() -> Guarded:
    """What is over for good, whatever else is wished."""
    return _any_cue(frozenset(("over", "disposed", "dead", "left")))


def _any_cue(names: AbstractSet[str]) -> Guarded:
    return Guarded("|".join(pattern for name, pattern in tables()["cues"].items() if name in names))


@cache
def _weights() -> Mapping[str, float]:
    return told_runs(lines("beliefledger.gate", "succession_weights.txt"))


def threshold(name: str) -> float:
    """From what score on something is done: see the head of successions.yaml."""
    least: float = tables()["thresholds"][name]
    return least
