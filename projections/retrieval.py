"""One search of one subject: which texts, in what order, and why. Pure.

How each profile ranks is written down here, and in docs/search.md with the figures that chose it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beliefledger.ledger.candidate import MILLION, SELF
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.times import DAY
from beliefledger.projections import answer_order, lexical, ranking
from beliefledger.projections.aboutness import ABOUT, Aboutness, aboutness
from beliefledger.projections.answer_kinds import SURE, kinds_asked
from beliefledger.projections.current_first import Placed, Ranked, arranged
from beliefledger.projections.decay import OTHER_HALF_LIFE, Profile
from beliefledger.projections.evidence import Evidence
from beliefledger.projections.index import SubjectIndex
from beliefledger.projections.index_filters import Filters, FoundTexts
from beliefledger.projections.other_names import of_other_people
from beliefledger.projections.people import asked_of, known_people, same_people
from beliefledger.projections.question_dates import asked_time
from beliefledger.projections.ranking import RRF_K, Arm
from beliefledger.projections.routing import asks_agent
from beliefledger.projections.search_requests import Hit, Vote
from beliefledger.projections.search_terms import asked
from beliefledger.projections.set_order import members_first, named_first
from beliefledger.projections.set_questions import role_asked, set_asked
from beliefledger.projections.slot_routing import SlotQuestion, SlotWords, built_in
from beliefledger.projections.turn_context import (
    highest,
    in_context,
    near,
    of_asked_agents,
    shares,
)

if TYPE_CHECKING:
    from beliefledger.projections.embedding import Vectors
    from beliefledger.projections.lexical import Mask, Scores
    from beliefledger.projections.ranking import Floats, Numbers

_POOL = 50
"""The least number of best results among which diverse ones are chosen."""
_BESIDE = 10
"""So many more results are looked at than could be one of two each."""

# The weights of the arms; that of meaning is the model's. docs/search.md has the figures.
WORDS, SESSION, HEADING, TIME = 1.5, 0.45, 4.5, 0.4
SLOT = 0.2
ANSWER = 0.15
ROUTED = 0.2
LEAST = 0.6
"""The same of a question that asks the subject's own memory what is so now: of what it is about
there is most likely something."""
SURELY = 0.42
"""How near a question without the words of a slot has to be to one, where any text has a signal …
"""
NAMELESS = 0.65
"""… and one that does not say whose it is, or that asks for something to be done."""
MARGIN = 0.14
"""How much less near than to the nearest of all slots it may be to one of which something is
believed."""
NEARLY = 0.8
"""The share of the model's floor that is enough where no text has any other signal."""
FILLING = 0.5
"""The same where some texts have a signal, but fewer than there may be results: what answers is
often told in other words than what happens to share one with the question."""
NEWS = 900
"""The novelty of a turn, in thousandths, from which on it may be what changed although it has
nothing of the question: "so I moved it to another one" …"""
MOST_NEWS = 3
"""… and how many such turns there are at most, the newest, said after what fits best."""
LITTLE = 1e-3
"""What such a turn is worth at least: something, and less than any word of the question."""

# The four components of the profile `recall`, at a recency weight r.
_RELEVANCE, _RECENCY, _IMPORTANCE, _FREQUENCY = 0.7, 0.4, 0.2, 0.1


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked: words, their vector (None where there is none), and how to rank."""

    words: str
    vector: Vectors | None
    floor: float
    """The cosine below which the model has nothing to say of a text without any of the words."""
    weight: float
    """How much the model's cosines count beside words."""
    filters: Filters
    k: int
    profile: str = "default"
    recency_weight: float = 0.3
    diversity: float = 0.0
    routed: tuple[str, ...] = ()
    """The types that the question asks for."""
    ages: Profile = field(default_factory=Profile)
    asked: SlotQuestion = field(default_factory=SlotQuestion)
    """The slots that the question is about, and whether it is about now."""


class Result(NamedTuple):
    """Results, best first. `candidates` is how many texts were searched, `suppressed` how many of
    them had no signal, `unembedded` how many had no vector."""

    hits: tuple[Hit, ...]
    candidates: int
    suppressed: int
    unembedded: int


def find(index: SubjectIndex, query: Query) -> Result:
    """Search an index, which the caller has locked."""
    found = index.found(query.filters)
    mask = found.mask
    searched = int(mask.sum())
    if not searched:
        return Result((), 0, 0, 0)
    arms, signal = _arms(index, query, mask)
    meant = arms["meaning"].scores if "meaning" in arms else np.zeros(len(index), np.float32)
    people = known_people(index.lines.people, index.texts["is_memory"] == 1, mask)
    entities = index.lines.entities.names
    asked_for = asked_of(query.asked, people, same_people(people), entities)
    about = aboutness(index, asked_for, mask, meant, query.floor)
    others = _instead(index, asked_for, about, mask)
    if others is not None:
        asked_for = others
        about = aboutness(index, asked_for, mask, meant, query.floor)
    if asked_for.slots and about.scores.max(initial=0) < ABOUT:  # nobody said anything of these
        asked_for = asked_for.without_slots()
        about = aboutness(index, asked_for, mask, meant, query.floor)
    perhaps = _perhaps(index, query, asked_for, mask, meant, signal=bool(signal.any()))
    if perhaps is not None:
        asked_for, about = perhaps
    if asked_for.former or (asked_for.kin and asked_for.named):
        idle = of_other_people(index, asked_for, about, query.filters)
        mask, signal = mask & ~idle, signal & ~idle
        about.scores[idle], about.keyed[idle] = 0, False
    signal |= about.scores >= ABOUT
    wanted = kinds_asked(query.words)
    fits = signal & ((index.texts["kinds"] & wanted) > 0)
    if fits.any():
        arms["answer"] = Arm(fits.astype(np.float32), ANSWER, ranked=False, top=1.0)
    if asked_for.slots:
        arms["slot"] = Arm(np.where(signal, about.scores, 0), SLOT, ranked=False, top=1.0)
    worth = ranking.worth(arms.values())
    news = np.zeros(0, np.int64)
    if not query.diversity and 0 < signal.sum() < max(query.k, answer_order.WINDOW):
        signal |= mask & (meant >= FILLING * query.floor)
        if asked_for.own_now:
            news = _news(index, mask & ~signal, worth)
            signal[news] = True
    prior = np.ones(1, np.float32)
    if index.has_turns:
        prior = (index.texts["prior"] / MILLION).astype(np.float32)
        if asks_agent(query.words):
            prior = of_asked_agents(prior, index.texts["agent"] == 1)
    least = np.where(signal, worth * prior, 0)
    least[news] = np.maximum(least[news], LITTLE)
    more = sum(arm.weight for arm in arms.values() if arm.ranked)
    # More than are asked for, since several may be one result.
    count = 2 * query.k + _BESIDE if not query.diversity else max(_POOL, 5 * query.k)
    if query.profile == "recall":
        kept = np.flatnonzero(signal)
    else:
        more += ranking.SCORE * (query.recency_weight + (ROUTED if query.routed else 0))
        kept = ranking.contenders(least, np.where(signal, least + more * prior, 0), count)
    scored = _scored(index, query, found, arms, least, prior, kept)
    places = ranking.best(
        scored.scores, index.texts["said_at"][kept], index.texts["words_at"][kept], count
    )
    if query.diversity:
        known, vectors = _vectors(index, kept[places])
        chosen = ranking.diverse(scored.scores[places], known, vectors, query.k, query.diversity)
        places = [places[each] for each in chosen]
    now = query.filters.position, query.filters.valid_at
    fused = kept[places].tolist()
    # Whoever wants different results gets them in the order in which they were chosen.
    if query.diversity:
        asked_for = SlotQuestion()
    sure = fits & ((index.texts["kinds"] & wanted & SURE) > 0)
    ranked = Ranked(fused, scored.scores[places].tolist(), sure, query.weight)
    placed = arranged(index, asked_for, about, ranked, mask, now, max(query.k, answer_order.WINDOW))
    if not query.diversity and query.profile == "default":
        then = mask & (index.texts["said_at"] <= query.filters.valid_at)
        evidence = Evidence(index, asked_for, about, ranked, wanted, query.floor, searched=then)
        placed = answer_order.reordered(placed, evidence)
        all_of, role = set_asked(query.words), role_asked(query.words)
        if all_of is not None:
            placed = members_first(placed, all_of, index, then)
        elif role is not None:
            placed = named_first(placed, role, index, then)
    placed = placed[: query.k]
    further = {each.number for each in placed}.difference(kept.tolist())
    if further:  # brought in by what they took the place of
        kept = np.union1d(kept, np.array(list(further), np.int64))
        scored = _scored(index, query, found, arms, least, prior, kept)
    hits = _hits(index, query, scored, placed)
    without = sum(1 for number in index.waiting if mask[number])
    return Result(hits, searched, searched - int(signal.sum()), without)


def _news(index: SubjectIndex, mask: Mask, worth: Scores) -> Numbers:
    """The turns that say that something changed, after what fits a question best was said."""
    said_at = index.texts["said_at"]
    since = said_at[int(worth.argmax())]
    novel = (index.texts["novelty"] >= NEWS) & (index.texts["aside"] == 0)
    there = np.flatnonzero(mask & novel & (said_at > since))
    return there[np.argsort(-said_at[there], kind="stable")][:MOST_NEWS]


def _instead(
    index: SubjectIndex, asked_for: SlotQuestion, about: Aboutness, mask: Mask
) -> SlotQuestion | None:
    """Of a question about the subject's own slots of which there is no memory: the question as one
    about the slots, too, whose memories answer it even so. None where there are none of these."""
    if not asked_for.own_now or asked_for.kin or (about.keyed & ~about.others).any():
        return None
    by_name = {slot.name: slot for slot in built_in()}
    mine = mask & index.lines.about(lambda entity: entity == SELF)
    for name in dict.fromkeys(each for slot in asked_for.slots for each in slot.instead):
        slot = by_name[name]
        if index.lines.keyed(slot.attributes)[mine].any():
            return replace(asked_for, slots=(*asked_for.slots, slot))
    if about.scores.max(initial=0) >= ABOUT:
        return None
    further = tuple(by_name[name] for slot in asked_for.slots for name in slot.instead)
    return replace(asked_for, slots=(*asked_for.slots, *further)) if further else None


def _perhaps(
    index: SubjectIndex,
    query: Query,
    asked_for: SlotQuestion,
    mask: Mask,
    meant: Scores,
    *,
    signal: bool,
) -> tuple[SlotQuestion, Aboutness] | None:
    """The question as one about the slot that it is perhaps about, if something is believed of
    that: what is believed decides between several. None if there is no such slot."""
    if not asked_for.perhaps:
        return None
    least = (SURELY if asked_for.own and asked_for.asks else NAMELESS) if signal else 0
    if signal:
        least = max(least, asked_for.perhaps[0][1] - MARGIN)
    memories = index.texts["is_memory"] == 1
    best, found = 0.0, None
    for slot, cosine in asked_for.perhaps:
        if cosine < max(least, best):  # no further one can be worth more
            break
        if not index.lines.keyed(slot.attributes)[mask].any() and not _named(index, slot, mask):
            continue
        near = asked_for.with_slot(slot)
        told = aboutness(index, near, mask, meant, query.floor)
        worth = cosine * float(told.scores[memories].max(initial=0))
        if worth > max(best, least * ABOUT):
            best, found = worth, (near, told)
    return found


def _named(index: SubjectIndex, slot: SlotWords, mask: Mask) -> bool:
    """Whether any text that is searched has a name of a slot."""
    for name in slot.names:
        at = [index.words.having(each) for each in name]
        if at and all(each.size for each in at):
            there = at[0]
            for each in at[1:]:
                there = np.intersect1d(there, each)
            if mask[there].any():
                return True
    return False


class _Scored(NamedTuple):
    """The texts that were kept, in parallel arrays: what each arm gave them and what they got."""

    arms: Mapping[str, Arm]
    ranks: Mapping[str, Numbers]
    components: Mapping[str, Floats]
    scores: Floats
    some: _Some
    kept: Numbers


def _scored(
    index: SubjectIndex,
    query: Query,
    found: FoundTexts,
    arms: Mapping[str, Arm],
    least: Floats,
    prior: Scores,
    kept: Numbers,
) -> _Scored:
    """The scores of some texts. `least` is what all have without the arms' ranks."""
    some = _Some(index, query, found, kept)
    scores = least[kept].astype(np.float64)
    mine = prior[kept] if len(prior) > 1 else prior
    ranks = dict.fromkeys(arms, np.zeros(len(kept), np.int64))
    for name, arm in arms.items():
        if arm.ranked:
            given = ranks[name] = arm.ranks(kept)
            scores += mine * arm.weight * np.where(given, RRF_K / (RRF_K + given), 0)
    components: dict[str, Floats] = {}
    if query.profile == "recall":
        components = some.four(scores)
        scores = sum(components.values(), np.zeros(len(kept)))
    else:
        # A memory that hardly fits does not come before turns because it is fresh.
        beside = query.recency_weight * some.freshness + ROUTED * some.routed
        scores += ranking.SCORE * beside * scores / max(1e-9, float(scores.max(initial=0)))
    return _Scored(arms, ranks, components, scores, some, kept)


def _hits(
    index: SubjectIndex, query: Query, scored: _Scored, placed: Sequence[Placed]
) -> tuple[Hit, ...]:
    """What was kept, as it is placed, with the reasons."""
    at = np.searchsorted(scored.kept, [each.number for each in placed])
    some, components = scored.some, scored.components
    # What was moved up has the score of the best that it was moved above.
    shown = np.maximum.accumulate(scored.scores[at][::-1])[::-1].tolist()
    numbers, rows = scored.kept[at], some.row[at]
    said = {
        name: (scored.ranks[name][at].tolist(), arm.scores[numbers].tolist())
        for name, arm in scored.arms.items()
    }
    fresh, routed = some.freshness[at].tolist(), some.routed[at].tolist()
    accesses = some.accesses[at].tolist()
    against = disagreeing(index, query.filters.position)
    ids = [
        index.turn_ids[number]
        if row < 0
        else index.memories.names[int(index.rows["memory"][row])] or ""
        for number, row in zip(numbers.tolist(), rows.tolist(), strict=True)
    ]
    hits = []
    for place, (number, row) in enumerate(zip(numbers.tolist(), rows.tolist(), strict=True)):
        votes = {
            name: Vote(rank[place], score[place])
            for name, (rank, score) in said.items()
            if score[place] > 0
        }
        if row >= 0 and query.profile == "default":
            if query.recency_weight:
                votes["recency"] = Vote(0, fresh[place])
            if routed[place]:
                votes["type"] = Vote(0, 1.0)
        if placed[place].member:
            votes["slot"] = Vote(0, 1.0)
        later = placed[place].taken_up_by
        hits.append(
            Hit(
                ids[place],
                int(index.rows["row_id"][row]) if row >= 0 else None,
                int(index.texts["words_at"][number]),
                shown[place],
                votes,
                {name: float(each[at[place]]) for name, each in components.items()},
                tuple(against.get(ids[place], ())),
                index.turns.get(ids[place]) if row < 0 else None,
                taken_up_by=None if later is None else index.turn_ids[later] or None,
                accesses=accesses[place] if row >= 0 else None,
                left=fresh[place] if row >= 0 else None,
            )
        )
    return tuple(hits)


def disagreeing(index: SubjectIndex, position: int) -> dict[str, list[str]]:
    """The memories that disagreed with each other at a position, by their ids."""
    rows, found = index.rows, dict[str, list[str]]()
    weak = np.flatnonzero(rows["against"] >= 0)
    if weak.size:
        there = (rows["opened"] <= position) & (rows["closed"] > position)
        weak = weak[there[weak]]
        weak = weak[np.isin(rows["against"][weak], rows["memory"][there])]
    for row in weak:
        one = index.memories.names[int(rows["memory"][row])] or ""
        other = index.memories.names[int(rows["against"][row])] or ""
        found.setdefault(one, []).append(other)
        found.setdefault(other, []).append(one)
    return found


def _arms(index: SubjectIndex, query: Query, mask: Mask) -> tuple[dict[str, Arm], Mask]:
    """The arms of both profiles, and which texts have anything to do with the query."""
    texts, words, count = index.texts, asked(query.words), len(index)
    before, after = texts["before"], texts["after"]
    parts = index.words.parts(words, mask)
    top = lexical.most(parts, len(words), int(mask.sum()))
    if index.has_turns:
        said = in_context(parts, before, after, mask, shares(index.words.lengths))
        heads = index.heads.scores(words, mask)
        session = highest(said, np.where(mask, texts["session"], -1))
    else:
        said = session = lexical.added(parts, count)
        heads = np.zeros(count, np.float32)
    signal = said > 0 if said.any() else heads > 0
    arms = {
        "words": Arm(said, WORDS, top=top),
        "session": Arm(session, SESSION, ranked=False, top=top),
    }
    if index.has_turns:
        arms["heading"] = Arm(heads, HEADING, ranked=False, top=top)
    time = asked_time(query.words, query.filters.valid_at)
    if time is not None:
        said_at = texts["said_at"]
        inside = mask & (said_at >= time.start) & (said_at < time.end)
        arms["time"] = Arm(inside.astype(np.float32), TIME, ranked=False, top=1.0)
    if query.vector is not None and index.dense is not None:
        cosines = index.dense.cosines(query.vector, mask)
        signal |= cosines >= query.floor
        if not signal.any():
            signal = cosines >= (LEAST if query.asked.own_now else NEARLY) * query.floor
        meant = near(cosines, before, after) if index.has_turns else np.maximum(cosines, 0)
        arms["meaning"] = Arm(meant, query.weight * ranking.telling(cosines))
    return arms, signal


class _Some:
    """Properties of some texts besides their words, as arrays over them."""

    def __init__(
        self, index: SubjectIndex, query: Query, found: FoundTexts, texts: Numbers
    ) -> None:
        self._index, self._query, self._texts = index, query, texts
        self.row = found.row_of[texts]
        """−1 for turns."""
        self.at = np.flatnonzero(self.row >= 0)
        """The places of memories."""
        self.accesses = np.zeros(len(texts), np.int64)
        self.freshness = np.zeros(len(texts))
        """How much is left of memories; turns do not age."""
        self.routed = np.zeros(len(texts), np.bool_)
        """Memories of the types that the question asks for."""
        if not self.at.size:
            return
        rows, row = index.rows, self.row[self.at]
        memory, kinds = rows["memory"][row], rows["type"][row]
        counts, last = index.accesses(query.filters.position)
        now = query.filters.valid_at
        days = np.maximum(0, now - np.maximum(rows["said_at"][row], last[memory])) / DAY
        self.accesses[self.at] = counts[memory]
        lives = np.array([self._life(name or "") for name in index.types.names])
        self.freshness[self.at] = query.ages.scores(lives[kinds], days, counts[memory])
        if query.routed:
            self.routed[self.at] = np.isin(kinds, index.types.known(query.routed))

    def _life(self, type_: str) -> float:
        return self._query.ages.half_lives.get(type_, OTHER_HALF_LIFE)

    def four(self, fused: Floats) -> dict[str, Floats]:
        """Relevance, recency, importance and frequency, each from 0 to 1 times its weight. A turn
        has the importance of a middling memory, and is as fresh as an event said then."""
        r, now = self._query.recency_weight, self._query.filters.valid_at
        days = np.maximum(0, now - self._index.texts["said_at"][self._texts]) / DAY
        fresh = np.exp2(-days / self._life("event"))
        fresh[self.at] = self.freshness[self.at]
        importance = np.full(len(fused), 0.5)
        importance[self.at] = self._index.rows["importance"][self.row[self.at]] / MILLION
        most = max(1, int(self.accesses.max(initial=0)))
        return {
            "relevance": (_RELEVANCE - 0.3 * r) * fused / fused.max(initial=1e-9),
            "recency": _RECENCY * r * fresh,
            "importance": (_IMPORTANCE - 0.1 * r) * importance,
            "frequency": _FREQUENCY * np.log1p(self.accesses) / np.log1p(most),
        }


def _vectors(index: SubjectIndex, texts: Numbers) -> tuple[list[int], Vectors]:
    """The places of the texts that have a vector, and their vectors."""
    if index.dense is None:
        return [], np.zeros((0, 1), np.float32)
    known = [place for place, each in enumerate(texts) if int(each) not in index.waiting]
    return known, index.dense.vectors(texts[known])


def name_of_index(index: SubjectIndex) -> str:
    """Kind and version, for the record of a search."""
    dense = "" if index.dense is None else f" {index.dense.kind}"
    return f"{lexical.VERSION}{dense}"
