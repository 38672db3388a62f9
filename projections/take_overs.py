"""Which later turn takes the place of what stands first, although it shares few words with it.

"The lorry comes tuesdays instead" says what became of the bins that were collected on Thursdays. A
logistic model of choice says how probably each later turn takes the place of an older text, or that
none does: by how near the two are, how novel the later one is, and to what else it could belong.
The weights are in take_overs.yaml, one set for each kind of vectors. `arrivals` asks the same of
all results of whoever has told much. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beliefledger.ledger.data_files import data
from beliefledger.projections.aboutness import ABOUT
from beliefledger.projections.current_first import Placed
from beliefledger.projections.evidence import turn_of
from beliefledger.projections.mentions import ONLY_ASKS, is_kept
from beliefledger.projections.novelty import GENERAL, THEIRS, UNITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from beliefledger.projections.evidence import Evidence
    from beliefledger.projections.index import SubjectIndex
    from beliefledger.projections.lexical import Mask

    Features = NDArray[np.float64]
    Numbers = NDArray[np.int64]

NOTES = ("note",)
LEAST = 0.6
BELIEVED = 0.75
"""How probably a turn has to take the place of what stands first to come before it, and of that
where it is a memory: a turn that changed it was mostly noticed. Not so of a note, which nothing
changes, as nothing changes a turn."""
PERHAPS = 200
"""The least novelty, in thousandths, of a turn that may."""
SENTENCES, WORDS = 0.7, 0.3
"""From which weight of a model on its vectors are like those of sentences, or of words."""
LINKED = 8
"""So many turns at most are looked at besides the results …"""
LOOKED_AT = 300
"""… of so many of the newest."""
FIRST = 3
"""They were said after one of so many of the first results."""
_LITTLE = 0.02
"""The least nearness of two texts, so that novelty alone counts for something."""
_SHARP, _NONE, _SCALE = 6.0, 0.3, 3.0
"""How much nearer texts count among the rivals, what stands for none of them, and a scale."""
_NEVER, _MANY = 0.01, 10
NAMES = (
    "bias",
    "near",
    "novel",
    "novel near",
    "novel in kind",
    "theirs",
    "asks in general",
    "only asks",
    "shared",
    "kind fits",
    "old is a memory",
    "new is a memory",
    "crowd",
    "rivals",
    "asked",
    "asked beside others",
    "asked less",
    "asked and novel",
)
"""The features of a pair, in their order …"""
OF_TAKER = 14
"""… of which the taker knows so many: none of the question."""


class Pairs(NamedTuple):
    """What is known of each of some texts and each other that may take its place."""

    features: Features
    """Of shape (older texts, later texts, features)."""
    later: NDArray[np.bool_]
    """Which may take the place of which: what was said after it, in another turn."""


def taker(placed: Sequence[Placed], evidence: Evidence) -> Placed | None:
    """What takes the place of the first of some results; None where nothing surely does, and where
    it is not asked what is so now of the subject."""
    name = kind(evidence)
    if not placed or name is None or not _news_since(placed[0], evidence):
        return None
    texts = looked_at(placed, evidence)
    pairs = pairs_of(texts, evidence, 1)
    if pairs is None or not pairs.later[0].any():
        return None
    may = pairs.later[0]
    if about_a_name(texts[0], evidence):
        # That a dog was adopted is news, and none of who the manager is.
        shared = pairs.features[0, :, NAMES.index("shared")] > 0
        may = may & (shared | (evidence.about.scores[[each.number for each in texts]] >= ABOUT))
    chances = np.where(may, np.exp(pairs.features[0, :, :OF_TAKER] @ weights(name)), 0)
    best = int(chances.argmax())
    least = BELIEVED if _is_memory(placed[0], evidence) else LEAST
    return texts[best] if chances[best] >= least * (1 + chances.sum()) else None


def about_a_name(placed: Placed, evidence: Evidence) -> bool:
    """Whether a result tells the name of whom is asked for."""
    return bool(evidence.about.names[[placed.number, *placed.others]].any())


def _is_memory(first: Placed, evidence: Evidence) -> bool:
    """Whether a result is a memory, and no note."""
    memory, note = evidence.index.texts["is_memory"], evidence.index.lines.keyed(NOTES)
    return any(memory[each] and not note[each] for each in (first.number, *first.others))


def _news_since(first: Placed, evidence: Evidence) -> bool:
    """Whether any turn after a result perhaps says something new."""
    texts = evidence.index.texts
    since = texts["said_at"] > texts["said_at"][first.number]
    return bool((since & (texts["novelty"] >= PERHAPS) & evidence.searched).any())


def kind(evidence: Evidence) -> str | None:
    """Which weights are for the vectors of an index; None where there are none."""
    if not evidence.asked.own_now or evidence.asked.kin:
        return None
    if evidence.ranked.weight >= SENTENCES:
        return "sentences"
    return "words" if evidence.ranked.weight >= WORDS else None


def looked_at(placed: Sequence[Placed], evidence: Evidence) -> list[Placed]:
    """The results, and after them the later turns that most probably say anew what they say."""
    index, texts = evidence.index, evidence.index.texts
    said_at = texts["said_at"]
    numbers = np.array([each.number for each in placed], np.int64)
    there = [turn_of(each, index) for one in placed for each in (one.number, *one.others)]
    further = evidence.searched & (texts["is_memory"] == 0) & (texts["aside"] & GENERAL == 0)
    further &= (said_at > said_at[numbers[:FIRST]].min()) & ~index.lines.others()
    further[there] = False
    beside = np.flatnonzero(further)
    beside = beside[np.argsort(-said_at[beside], kind="stable")][:LOOKED_AT]
    vectors = _vectors(np.concatenate([numbers, beside]), index)
    if vectors is None or not beside.size:
        return list(placed)
    old, new = vectors[: len(numbers)], vectors[len(numbers) :]
    meant = np.maximum(evidence.about.meant[numbers], 0)
    fits = meant / max(1e-9, float(evidence.about.meant.max(initial=0)))
    worth = np.maximum(old @ new.T, _LITTLE) * (texts["novelty"][beside] / UNITS)[None, :]
    worth *= (said_at[beside][None, :] > said_at[numbers][:, None]) * fits[:, None]
    best = worth.max(axis=0)
    chosen = np.argsort(-best, kind="stable")[:LINKED]
    linked = [int(beside[each]) for each in chosen.tolist() if best[each] > 0]
    return [*placed, *(Placed(each, kept=is_kept(each, index)) for each in linked)]


def pairs_of(texts: Sequence[Placed], evidence: Evidence, rows: int) -> Pairs | None:
    """What is known of the first `rows` of some texts, and each of all; None without vectors."""
    index, of = evidence.index, evidence.index.texts
    numbers = np.array([each.number for each in texts], np.int64)
    turns = np.array([turn_of(each, index) for each in numbers.tolist()], np.int64)
    vectors = _vectors(turns, index)
    if vectors is None:
        return None
    near = vectors @ vectors.T
    after = of["said_at"][numbers][None, :] > of["said_at"][numbers][:, None]
    novel, aside = of["novelty"][turns] / UNITS, of["aside"][turns]
    likely = np.log((novel + _NEVER) / (1 + _NEVER - novel)) / 4
    kinds = of["kinds"][numbers] | of["kinds"][turns]
    linked = np.maximum(near, _LITTLE) * novel[None, :]
    rivals = np.log(np.where(after, np.exp(_SHARP * linked), 0).sum(axis=0) + _NONE)
    memory = turns != numbers
    meant = np.maximum(np.maximum(evidence.about.meant[numbers], evidence.about.meant[turns]), 0)
    share = meant / max(1e-9, float(meant.max()))
    near, old = near[:rows], slice(rows)
    columns = {
        "bias": 1,
        "near": near,
        "novel": likely,
        "novel near": np.maximum(near, 0) * novel,
        "novel in kind": novel * (kinds[old, None] & kinds > 0),
        "theirs": aside & THEIRS > 0,
        "asks in general": aside & GENERAL > 0,
        "only asks": of["prior"][turns] <= ONLY_ASKS,
        "shared": _shared(numbers, turns, index, after[old]),
        "kind fits": kinds & evidence.kinds > 0,
        "old is a memory": memory[old, None],
        "new is a memory": memory,
        "crowd": after.sum(axis=0) / _MANY,
        "rivals": rivals / _SCALE,
        "asked": meant,
        "asked beside others": share,
        "asked less": meant - meant[old, None],
        "asked and novel": share * novel,
    }
    known = np.empty((*near.shape, len(NAMES)))
    for place, name in enumerate(NAMES):
        known[:, :, place] = columns[name]
    return Pairs(known, after[old] & (turns[old, None] != turns))


def _shared(numbers: Numbers, turns: Numbers, index: SubjectIndex, later: Mask) -> Features:
    """The share of their terms that each of the first texts and each later other have in common."""
    terms = index.lines.terms
    said: dict[int, frozenset[str]] = {}

    def of(place: int) -> frozenset[str]:
        if place not in said:
            own = terms[int(numbers[place])]
            turn = int(turns[place])
            said[place] = frozenset(own if turn == numbers[place] else (*own, *terms[turn]))
        return said[place]

    shares = np.zeros(later.shape)
    for one, other in zip(*(each.tolist() for each in np.nonzero(later)), strict=True):
        mine, theirs = of(one), of(other)
        shares[one, other] = len(mine & theirs) / max(1, min(len(mine), len(theirs)))
    return shares


def _vectors(numbers: Numbers, index: SubjectIndex) -> Features | None:
    """The vectors of texts; None where one has none yet."""
    if index.dense is None or not index.waiting.keys().isdisjoint(numbers.tolist()):
        return None
    found: Features = index.dense.vectors(numbers).astype(np.float64)
    return found


@cache
def weights(name: str) -> Features:
    """The weight of each feature."""
    written: Mapping[str, Mapping[str, float]] = data("beliefledger.projections", "take_overs.yaml")
    return np.array([written[name][each] for each in NAMES[:OF_TAKER]])
