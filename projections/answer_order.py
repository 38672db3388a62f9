"""The order of the first results, by how probably each answers the question. Pure.

A logistic model of choice (McFadden, Conditional Logit Analysis, 1974) over what is known of each
result beside the others: how well it fits, whether it is about what is asked, when it was said, and
what a later text did to it. The weights are in answer_order.yaml; docs/search.md says how they were
trained. What took a text's place stays before it, and so does what was said with an ending.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from beliefledger.ledger.candidate import SELF
from beliefledger.ledger.data_files import data
from beliefledger.projections.aboutness import ABOUT
from beliefledger.projections.arrivals import TOPIC, Arrivals, arrivals, mixed
from beliefledger.projections.evidence import turn_of
from beliefledger.projections.kept_slots import OTHER, all_elsewhere, kept_under
from beliefledger.projections.mentions import ONLY_ASKS
from beliefledger.projections.novelty import GENERAL, THEIRS, UNITS, UNREAL
from beliefledger.projections.search_terms import terms as terms_in
from beliefledger.projections.slot_routing import change_terms, light_terms, with_same
from beliefledger.projections.take_overs import about_a_name, taker
from beliefledger.projections.text_lines import USER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from beliefledger.projections.current_first import Placed
    from beliefledger.projections.evidence import Evidence
    from beliefledger.projections.index import SubjectIndex
    from beliefledger.projections.slot_routing import SlotQuestion

    Features = NDArray[np.float64]

WINDOW = 10
"""So many of the first results are put into this order."""
MARGIN, OF_MUCH, OF_OTHERS = 0.5, 0.25, 1.0
"""How much more another has to be worth than what the rules put first, as a logarithm; that where
somebody told of many things; and of a question about other people."""
OWN = 0.33
"""The share of the meaning of what is told of somebody else that is enough of what is told of the
subject, to come before it."""
LITTLE = 0.6
"""The share of the meaning of the result that is nearest below which another is far from it."""
A_LIFE = 10
"""From so many turns on somebody has told of many things."""
SAME = 0.4
"""How near to each other two texts have to be by meaning to be perhaps about the same."""
TAKEN = 0.65
"""How probably the first took the place of another for that one to be marked."""
_LONG = 30
"""A text of so many terms is long."""
NAMES = (
    "place",
    "score",
    "rank",
    "meaning",
    "kind fits",
    "kind surely",
    "about",
    "of the slot",
    "own others",
    "apart",
    "introduces",
    "over past",
    "taken up now",
    "taken up past",
    "changed now",
    "newer now",
    "newer past",
    "about newer now",
    "only asks",
    "asks in general",
    "only mentions",
    "ending now",
    "kept",
    "long",
    "ahead",
    "ahead first",
    "ahead first of slot",
    "novel now",
    "novel newer now",
    "novel near now",
    "renews now",
    "renewed now",
    "renews in kind now",
    "theirs now",
    "unreal now",
    "shared",
    "unlinked",
    "holds now",
    "kept elsewhere",
    "renews nearly now",
    "renewed nearly now",
)
"""The features, in their order. *Now* and *past* are of questions about now and about the past."""
_TOPIC = [NAMES.index(each) for each in TOPIC]


def features(placed: Sequence[Placed], evidence: Evidence) -> Features:
    """What is known of results: of shape (results, features)."""
    index, asked, about, ranked = evidence.index, evidence.asked, evidence.about, evidence.ranked
    numbers = np.array([each.number for each in placed], np.int64)
    texts = np.array([text for each in placed for text in (each.number, *each.others)], np.int64)
    starts = np.cumsum([0, *(1 + len(each.others) for each in placed[:-1])])
    places = np.arange(len(numbers))

    def most(of: NDArray[Any]) -> Features:
        """Of each result the most that one of its texts has; `of` is over `texts`."""
        return np.maximum.reduceat(of.astype(np.float64), starts)

    scores = most(about.scores[texts])
    rank_of = {number: rank for rank, number in enumerate(ranked.numbers)}
    ranks = np.array([rank_of.get(each, -1) for each in numbers.tolist()])
    fused = [ranked.scores[each] if each >= 0 else 0.0 for each in ranks.tolist()]
    now, past = asked.tense == "now", asked.tense == "past"
    over = np.array([each.over for each in placed])
    taken = np.array([each.taken_up_by is not None for each in placed])
    ahead = np.array([each.ahead for each in placed])
    score = np.array(fused) / max(1e-9, max(ranked.scores, default=0))
    # That something is newer, or changed, counts only as far as it is about what is asked.
    near = np.maximum(score, scores)
    after = _after(index.texts["said_at"][numbers])
    newer = _later(after)
    terms = np.array([len(index.lines.terms[each]) for each in numbers.tolist()])
    turns = np.array([turn_of(each, index) for each in texts.tolist()], np.int64)
    novel = most(index.texts["novelty"][turns]) / UNITS
    aside = index.texts["aside"][turns]
    alike = _alike(numbers, index)
    renewing = novel[:, None] * alike * after
    nearly = novel[:, None] * np.maximum(0, alike - SAME) / (1 - SAME) * after
    kinds = index.texts["kinds"][numbers] & evidence.kinds
    same = (kinds[:, None] & kinds[None, :]) > 0
    meant = most(about.meant[texts])
    groups = [(each.number, *each.others) for each in placed]
    shared = _shared(groups, evidence)
    little = np.maximum(evidence.floor, LITTLE * meant.max())
    of_slot = most(about.keyed[texts])
    columns = {
        "place": 1 / (1 + places),
        "score": score,
        "rank": np.where(ranks >= 0, 1 / (1 + np.maximum(ranks, 0)), 0),
        "meaning": meant,
        "kind fits": most(index.texts["kinds"][texts] & evidence.kinds > 0),
        "kind surely": most(ranked.fits[texts]),
        "about": scores,
        "of the slot": of_slot,
        "own others": about.others[numbers] & (asked.own and not asked.kin),
        "apart": about.apart[numbers],
        "introduces": about.introduces[numbers] & bool(asked.kin) & (not asked.named),
        "over past": over & past,
        "taken up now": taken & now,
        "taken up past": taken & past,
        "changed now": most(about.changed[texts]) * near * now,
        "newer now": newer * near * now,
        "newer past": newer * past,
        "about newer now": scores * newer * now,
        "asks in general": index.texts["aside"][numbers] & GENERAL > 0,
        "only asks": index.texts["prior"][numbers] <= ONLY_ASKS,
        "only mentions": np.array([each.mentions for each in placed]),
        "ending now": np.array([each.ending for each in placed]) & now,
        "kept": np.array([each.kept for each in placed]),
        "long": np.minimum(1, terms / _LONG),
        "ahead": ahead,
        "ahead first": ahead & (places == 0),
        "ahead first of slot": ahead & (places == 0) & bool(asked.slots),
        "novel now": novel * now,
        "novel newer now": novel * newer * now,
        "novel near now": novel * newer * near * now,
        "renews now": (renewing * near).max(axis=1) * now,
        "renewed now": renewing.max(axis=0) * now,
        "renews in kind now": (novel[:, None] * same * after).max(axis=1) * now,
        "theirs now": most(aside & THEIRS > 0) * (now and asked.own and not asked.kin),
        "unreal now": most(aside & UNREAL > 0) * now,
        "shared": shared,
        "unlinked": (shared == 0) & (scores < ABOUT) & (meant < little),
        "holds now": of_slot * ~over * (now and bool(asked.slots)),
        "kept elsewhere": _elsewhere(groups, asked, index) & (of_slot == 0),
        "renews nearly now": (nearly * np.maximum(shared, scores)).max(axis=1) * now,
        "renewed nearly now": nearly.max(axis=0) * now,
    }
    return np.stack([np.asarray(columns[name], np.float64) for name in NAMES], axis=1)


def _shared(groups: Sequence[Sequence[int]], evidence: Evidence) -> Features:
    """The share of the question's telling terms that each result has."""
    asked, lines = evidence.asked, evidence.index.lines
    telling = [each for each in asked.terms if each not in light_terms()] or list(asked.terms)
    if not telling:
        return np.zeros(len(groups))
    found = []
    for group in groups:
        own = frozenset().union(*(lines.terms[each] for each in group))
        found.append(sum(not own.isdisjoint(with_same(each)) for each in telling) / len(telling))
    return np.array(found)


def _elsewhere(
    groups: Sequence[Sequence[int]], asked: SlotQuestion, index: SubjectIndex
) -> NDArray[np.bool_]:
    """Which results have memories, and none of a slot that is asked for."""
    wanted = {each.name for each in asked.slots}
    return np.array([bool(wanted) and all_elsewhere(each, wanted, index) for each in groups])


def _alike(numbers: NDArray[np.int64], index: SubjectIndex) -> Features:
    """How near each text is to each other one by meaning, or else by its words, from 0 to 1."""
    if index.dense is not None and index.waiting.keys().isdisjoint(numbers.tolist()):
        vectors = index.dense.vectors(numbers).astype(np.float64)
        near: Features = np.maximum(vectors @ vectors.T, 0)
        return near
    said = [frozenset(index.lines.terms[each]) for each in numbers.tolist()]
    return np.array([[len(a & b) / max(1, min(len(a), len(b))) for b in said] for a in said])


def _after(said_at: NDArray[np.int64]) -> Features:
    """1 where the first of two was said after the second."""
    later: Features = (said_at[:, None] > said_at[None, :]).astype(np.float64)
    return later


def _later(after: Features) -> Features:
    """Of how many of the others each was said after, as a share; 1 where there are no others."""
    others = len(after) - 1
    if not others:
        return np.ones(1)
    shares: Features = after.sum(axis=1) / others
    return shares


def reordered(placed: Sequence[Placed], evidence: Evidence) -> list[Placed]:
    """The results, with the first `WINDOW` of them in the order of how probably they answer. Before
    each comes what took its place and, if it says that something ended, what else or more was said
    with it that has as many words of the question."""
    first = placed[:WINDOW]
    if not first:
        return []
    now = evidence.asked.tense == "now"
    known, margin = features(first, evidence), OF_OTHERS if evidence.asked.kin else MARGIN
    worth, sure = known @ weights(), known[:, NAMES.index("kind surely")]
    arrived = None
    if _turns(evidence) >= A_LIFE:
        arrived = arrivals(first, known[:, _TOPIC], evidence)
    if arrived is not None:
        first, worth, sure = _with_later(first, mixed(worth, arrived), sure, arrived)
        margin = OF_MUCH
    best = [first[each] for each in order(worth, sure, margin, now=now)]
    if arrived is not None:
        best = _marked(best, arrived, evidence)
    best = _about_first(_held_first(_own_first(best, evidence), evidence), evidence)
    best = _asked_last(_of_them_first(best, evidence), evidence)
    by = {each.number: each for each in best}
    said_at = evidence.index.texts["said_at"]
    terms = {each: frozenset(evidence.index.lines.terms[each]) for each in by}
    rest = frozenset(evidence.asked.rest)
    settled: dict[int, Placed] = {}
    for each in best:
        if each.newer in by:
            settled.setdefault(each.newer, by[each.newer])
        if each.ending and now:
            for other in best:
                own, others = terms[each.number], terms[other.number]
                if (
                    said_at[other.number] == said_at[each.number]
                    and (not other.ending or own < others)
                    and not (own & rest) - others
                ):
                    settled.setdefault(other.number, other)
        settled.setdefault(each.number, each)
    best = [*settled.values(), *(each for each in placed[WINDOW:] if each.number not in settled)]
    return _renewed(best, evidence) if arrived is None else best


def _renewed(best: list[Placed], evidence: Evidence) -> list[Placed]:
    """The results with what takes the place of the first before it."""
    newer = taker(best[:WINDOW], evidence)
    if newer is None:
        return best
    first, *rest = best
    if first.taken_up_by is None:
        turn = turn_of(newer.number, evidence.index)
        first = first._replace(taken_up_by=turn)
    return [newer, first, *(each for each in rest if each.number != newer.number)]


def _turns(evidence: Evidence) -> int:
    """How many turns are searched."""
    return int((evidence.searched & (evidence.index.texts["is_memory"] == 0)).sum())


def _with_later(
    first: Sequence[Placed], worth: Features, sure: Features, arrived: Arrivals
) -> tuple[Sequence[Placed], Features, Features]:
    """The results, what each is worth and whether it has the kind of answer; with them a later turn
    that is worth more than all."""
    count = len(first)
    best = int(worth.argmax())
    if best < count:
        return first, worth[:count], sure
    further = np.append(worth[:count], worth[best])
    return [*first, arrived.texts[best]], further, np.append(sure, sure.max())


def _marked(best: Sequence[Placed], arrived: Arrivals, evidence: Evidence) -> list[Placed]:
    """The results, those marked whose place the first surely took."""
    place = next(at for at, each in enumerate(arrived.texts) if each.number == best[0].number)
    turn = turn_of(best[0].number, evidence.index)
    taken = {
        each.number
        for each, chance in zip(arrived.texts, arrived.taken[:, place].tolist(), strict=False)
        if chance >= TAKEN
    }
    return [
        each._replace(taken_up_by=turn)
        if each.number in taken and each.taken_up_by is None
        else each
        for each in best
    ]


def _own_first(best: Sequence[Placed], evidence: Evidence) -> list[Placed]:
    """Of a question about the subject alone: what is told of somebody else does not come before
    what is told of the subject and nearly as near to the question."""
    asked, index, about = evidence.asked, evidence.index, evidence.about
    if not asked.alone or asked.kin or asked.tense == "any":
        return list(best)

    def is_other(entity: str) -> bool:
        return entity != SELF and not about.people.isdisjoint(terms_in(entity))

    memories, turns = index.lines.about(is_other), index.texts["aside"] & THEIRS > 0
    theirs = [bool((memories | turns)[[each.number, *each.others]].any()) for each in best]
    if not theirs[0]:
        return list(best)
    near = [max(about.meant[[each.number, *each.others]].tolist()) for each in best]
    for place, each in enumerate(best):
        of_others = theirs[place] or each.over or about.others[each.number]
        if not of_others and near[place] >= OWN * near[0]:
            return [each, *best[:place], *best[place + 1 :]]
    return list(best)


def _held_first(best: Sequence[Placed], evidence: Evidence) -> list[Placed]:
    """Of a question about a slot of the subject's own of which there is a memory: what is kept
    under other slots alone, and is not about this one, does not come before that."""
    asked, about = evidence.asked, evidence.about
    if not asked.own_now or asked.kin or not asked.slots:
        return list(best)
    own = about.keyed & ~about.others
    held = [not each.over and bool(own[[each.number, *each.others]].any()) for each in best]
    if True not in held or held[0]:
        return list(best)
    wanted = {each.name for each in asked.slots}
    place = held.index(True)
    before = [
        each
        for each in best[:place]
        if not _of_another(each, wanted, evidence) and not _of_nobody(each, best[place], evidence)
    ]
    behind = [each for each in best[:place] if each not in before]
    return [*before, best[place], *behind, *best[place + 1 :]]


def _of_them_first(best: Sequence[Placed], evidence: Evidence) -> list[Placed]:
    """Of a question about others: what is known to be of the subject comes last. Before all comes
    the name of a relative who is so for good, where that is asked for, and what is told of them."""
    about = evidence.about
    if not evidence.asked.kin or evidence.asked.tense != "now":
        return list(best)
    groups = [[each.number, *each.others] for each in best]
    own = [bool(about.own[each].all()) for each in groups]
    tell = [bool(about.lasting[each].any()) for each in groups]
    apart = [any(tell) and bool(about.apart[each].all()) for each in groups]
    places = sorted(range(len(best)), key=lambda each: (own[each], not tell[each], apart[each]))
    return [best[each] for each in places]


def _asked_last(best: Sequence[Placed], evidence: Evidence) -> list[Placed]:
    """Of a question about what is so now of the subject: a turn that only asks, and of nothing of
    the speaker's, comes last. "Why do zebras need no shoes" does not tell who runs in what."""
    if evidence.asked.tense != "now" or not (evidence.asked.own or evidence.asked.kin):
        return list(best)
    general = evidence.index.texts["aside"] & GENERAL > 0
    return sorted(best, key=lambda each: bool(general[[each.number, *each.others]].all()))


def _of_nobody(placed: Placed, held: Placed, evidence: Evidence) -> bool:
    """Whether a result has nothing to do with somebody whose name is asked for and told: it neither
    has a word of what tells it, nor of the question, nor is it about who has that part."""
    if not about_a_name(held, evidence) or {held.taken_up_by, held.newer} & {
        placed.number,
        *placed.others,
    }:
        return False
    group, index = (placed.number, *placed.others), evidence.index
    wanted = _terms_of((held.number, *held.others), index)
    wanted = wanted.union(*(with_same(each) for each in evidence.asked.terms))
    wanted -= change_terms() | light_terms() | {USER}
    scores = evidence.about.scores[list(group)]
    return wanted.isdisjoint(_terms_of(group, index)) and float(scores.max()) < ABOUT


def _about_first(best: Sequence[Placed], evidence: Evidence) -> list[Placed]:
    """Of a question about a slot, among many turns: what is known to be of something else (another
    slot, or a member of a set), and shares no word with what is about the slot or with the
    question, does not come before that."""
    asked, about, index = evidence.asked, evidence.about, evidence.index
    if asked.tense != "now" or not asked.slots or _turns(evidence) < A_LIFE:
        return list(best)
    groups = [(each.number, *each.others) for each in best]
    fits = [
        not each.over and float((about.scores * ~about.others)[list(group)].max()) >= ABOUT
        for each, group in zip(best, groups, strict=True)
    ]
    if True not in fits or fits[0]:
        return list(best)
    place = fits.index(True)
    wanted = _terms_of(groups[place], index).union(*(with_same(each) for each in asked.terms))
    wanted -= change_terms() | light_terms() | {USER}
    told = {best[place].taken_up_by, best[place].newer}
    before = [
        each
        for each, group in zip(best[:place], groups, strict=False)
        if not told.isdisjoint(group)
        or not wanted.isdisjoint(_terms_of(group, index))
        or not (any(index.lines.members(n) for n in group) or kept_under(group, index) - {OTHER})
    ]
    behind = [each for each in best[:place] if each not in before]
    return [*before, best[place], *behind, *best[place + 1 :]]


def _terms_of(group: Sequence[int], index: SubjectIndex) -> frozenset[str]:
    return frozenset().union(*(index.lines.terms[each] for each in group))


def _of_another(placed: Placed, wanted: Collection[str], evidence: Evidence) -> bool:
    """Whether all slots that are known of a result are other ones than those that are asked for."""
    texts = [placed.number, *placed.others]
    kept = kept_under(texts, evidence.index) - {OTHER}
    return bool(kept) and kept.isdisjoint(wanted)


def order(worth: Features, sure: Features, margin: float = MARGIN, *, now: bool) -> list[int]:
    """The places of results, best first, by what each is worth. Of a question about now the rules'
    first stays so unless another is worth so much more, and has surely the kind of answer that is
    asked for if that one has."""
    best: list[int] = np.argsort(-worth, kind="stable").tolist()
    if now and (worth[best[0]] < worth[0] + margin or sure[best[0]] < sure[0]):
        best.remove(0)
        best.insert(0, 0)
    return best


@cache
def weights() -> Features:
    """The weight of each feature."""
    written: Mapping[str, float] = data("beliefledger.projections", "answer_order.yaml")["weights"]
    return np.array([written[name] for name in NAMES])
