"""How probably each result, or a later turn, answers what is asked about now. Pure.

Two questions are asked one after the other, each of a logistic model of choice: which result is
about what is asked, whenever it was said, and which later text, if any, took its place. What is
about the question passes its chance on to what took its place. The weights are in arrivals.yaml,
one set for each kind of vectors; docs/search.md says how they were trained.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beliefledger.ledger.data_files import data
from beliefledger.networks import pairs as pair_network
from beliefledger.projections.aboutness import ABOUT
from beliefledger.projections.evidence import turn_of
from beliefledger.projections.take_overs import NAMES as OF_PAIRS
from beliefledger.projections.take_overs import Pairs, about_a_name, kind, looked_at, pairs_of

if TYPE_CHECKING:
    from beliefledger.projections.current_first import Placed
    from beliefledger.projections.evidence import Evidence
    from beliefledger.projections.take_overs import Features

TOPIC = (
    "place",
    "score",
    "rank",
    "meaning",
    "kind fits",
    "kind surely",
    "about",
    "of the slot",
    "own others",
    "taken up now",
    "changed now",
    "only asks",
    "asks in general",
    "only mentions",
    "ending now",
    "kept",
    "long",
    "ahead",
    "ahead first",
    "ahead first of slot",
    "theirs now",
    "unreal now",
    "shared",
    "unlinked",
    "holds now",
    "kept elsewhere",
)
"""The features of `answer_order` that tell whether a result is about what is asked, in the order of
their weights: none that tells how new it is."""
LINKS = (*OF_PAIRS, "over")
"""The features of pairs. `over` is what the network of two sentences says: the log odds, divided by
4, that what the first told is over once the second is said, from -1.5 to 1.5."""
READ = 8
"""It is asked of so many pairs, in which an older text that is near to the question is near to a
later one that tells something new."""
OWN = 0.4
"""How much the order of the results by themselves counts."""
_SCALE, _MOST = 4.0, 1.5
_HARDLY = 1e-6


class Weights(NamedTuple):
    """The weight of each feature of a result, and of each pair."""

    topic: Features
    link: Features


class Arrivals(NamedTuple):
    """The results and some later turns, with how probably each answers …"""

    texts: Sequence[Placed]
    chances: Features
    taken: Features
    """… and how probably each (a column) took the place of each result (a row)."""


def arrivals(placed: Sequence[Placed], known: Features, evidence: Evidence) -> Arrivals | None:
    """What some results, of which the features `TOPIC` are known, and turns said after them answer;
    None where it is not asked what is so now of the subject, and without vectors."""
    name = kind(evidence)
    if not placed or name is None:
        return None
    texts = looked_at(placed, evidence)
    pairs = links_of(texts, evidence, len(placed))
    if pairs is None:
        return None
    told = weights(name)
    about = np.exp(_logs(known @ told.topic))
    taken = taking(pairs, told.link)
    for row, each in enumerate(placed):
        if about_a_name(each, evidence):
            # That a dog was adopted is news, and none of who the manager is.
            fits = evidence.about.scores[[text.number for text in texts]] >= ABOUT
            fits |= pairs.features[row, :, LINKS.index("shared")] > 0
            taken[row] *= fits
    return Arrivals(texts, passed_on(about, taken), taken)


def links_of(texts: Sequence[Placed], evidence: Evidence, rows: int) -> Pairs | None:
    """What is known of the first `rows` of some texts, and each of all, with what the network of
    two sentences says of them; None without vectors."""
    pairs = pairs_of(texts, evidence, rows)
    if pairs is None:
        return None
    share = pairs.features[0, :rows, LINKS.index("asked beside others")]
    likely = share[:, None] * pairs.features[:, :, LINKS.index("novel near")] * pairs.later
    best = np.argsort(-likely, axis=None, kind="stable")[:READ]
    asked = np.zeros(pairs.later.shape, np.bool_)
    asked.flat[best] = likely.flat[best] > 0
    over = np.full(pairs.later.shape, -_MOST)
    index = evidence.index
    read = [index.readings[turn_of(each.number, index)] for each in texts]
    odds = pair_network.small().log_odds([(read[a], read[b]) for a, b in np.argwhere(asked)])
    over[asked] = np.clip(odds / _SCALE, -_MOST, _MOST)
    return Pairs(np.concatenate([pairs.features, over[:, :, None]], axis=2), pairs.later)


def passed_on(about: Features, taken: Features) -> Features:
    """How probably each text answers: what is about the question passes its chance on to what took
    its place, and keeps what is left."""
    chances: Features = about @ taken
    chances[: len(about)] += about * (1 - taken.sum(axis=1))
    return chances


def taking(pairs: Pairs, link: Features) -> Features:
    """How probably each later text took the place of each older one; that none did is worth 0."""
    worth = np.where(pairs.later, pairs.features @ link, -np.inf)
    most = np.maximum(worth.max(axis=1, keepdims=True), 0)
    odds = np.exp(worth - most)
    chances: Features = odds / (np.exp(-most) + odds.sum(axis=1, keepdims=True))
    return chances


def mixed(worth: Features, arrived: Arrivals) -> Features:
    """What each text is worth by what the results are worth alone, which counts `OWN`, and by how
    probably it answers, as logarithms; what is no result is worth less alone than any."""
    own = _logs(worth)
    further = len(arrived.texts) - len(own)
    own = np.concatenate([own, np.full(further, own.min() - 1)])
    both: Features = OWN * own + (1 - OWN) * np.log(arrived.chances + _HARDLY)
    return both


def _logs(worth: Features) -> Features:
    """The logarithm of how probably each is chosen."""
    above = worth - worth.max()
    logs: Features = above - np.log(np.exp(above).sum())
    return logs


@cache
def weights(name: str) -> Weights:
    """The weights for vectors of a kind."""
    written: Mapping[str, Mapping[str, Mapping[str, float]]]
    written = data("beliefledger.projections", "arrivals.yaml")
    of = written[name]
    return Weights(
        np.array([of["topic"][each] for each in TOPIC]),
        np.array([of["link"][each] for each in LINKS]),
    )
