"""The order of a search's results: the present value of what is asked comes first. Pure.

Two steps, each a function of the texts that are searched, of the question, and of which memory
superseded which:
  1. the order of the texts that are about what is asked (`ordered`): for now the newest first, for
     the past what is outdated
  2. one result for what is one (`settled`): what took a text's place comes before it, a memory and
     the turn it came of are one, and so are memories that say the same
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beliefledger.ledger.dataclass import dataclass
from beliefledger.projections.aboutness import ABOUT, Aboutness
from beliefledger.projections.mentions import (
    LEAST_SHARED,
    ONLY_ASKS,
    RESTATED,
    is_kept,
    only_mentions,
    weight,
)
from beliefledger.projections.settled import Line, settled
from beliefledger.projections.slot_routing import (
    SlotQuestion,
    change_terms,
    ending_words,
    light_terms,
)
from beliefledger.projections.text_lines import USER, places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from beliefledger.projections.index import SubjectIndex
    from beliefledger.projections.lexical import Mask, Scores

GROUP = 0.62
"""The least aboutness of what is ordered by time, of the highest."""
TAKEN_UP = 0.6
"""The least aboutness of a text that a later one can take up."""
RARE = 6
"""A term that is in no more texts is rare enough to connect two of them."""
MANY_HAVE = 1000
"""A term that is in more texts does not count as shared."""
SHARED = 0.2
"""The least share of a text's terms that a later one has to have to take it up."""
BEST = 3
"""Where nothing is about what is asked, so many of the best by all arms may be taken up."""
MANY = 8
"""Where more texts than this are about it, the other arms choose among them."""
MOST_OF = 0.67
"""A memory stands for the turn that it came of if it has this share of the turn's terms."""
ALL_OF = 0.9
"""One that says that something ended, or that something happened where a name is asked for, only
if it leaves hardly anything out."""
_ITS_OWN = 0.3
"""A turn that has less than this share of a memory's terms does not say what that does."""
WINDOW = 10
"""So many of the best by all arms are put into another order."""
REACH, WORDS_ALONE = 0.5, 0.4
"""The least share of the best score that a text has to have to come first by its time, unless it is
a memory of the slot that is asked for or takes up another; and how much of this is left where
nothing but words is compared, since a paraphrase has few of them."""
ANYHOW = 0.25
"""The least nearness in meaning, of that of the text that it takes up, of a later one that shares
nothing with it but whom it is about."""
LIFTED = 4
"""So many texts at most are brought among the results by what they are about alone."""


@dataclass(frozen=True, slots=True)
class Successions:
    """Which text took the place of which, as of the time asked about."""

    by: Mapping[int, int] = field(default_factory=dict)
    """By memory that was superseded: the memory that holds in its place."""
    ended: NDArray[np.int64] | None = None
    """By text: the row of a memory that ended and that none took the place of, else −1."""

    def is_over(self, number: int) -> bool:
        """Whether a memory is not so any more."""
        return number in self.by or (self.ended is not None and self.ended[number] >= 0)


def successions(index: SubjectIndex, position: int, valid_at: int) -> Successions:
    """Which memories were superseded by which or ended, as known at a position and so at a time."""
    rows = index.rows
    there = (rows["opened"] <= position) & (rows["closed"] > position) & (rows["text"] >= 0)
    at = np.flatnonzero(there & (rows["supersedes"] >= 0) & (rows["valid_from"] <= valid_at))
    by: dict[int, int] = {}
    if at.size:
        size = len(index.memories.names)
        text = places(rows["text"], size, rows["memory"])
        for row in at:
            old, new = int(text[rows["supersedes"][row]]), int(rows["text"][row])
            if old >= 0 and old != new:
                by[old] = new
    over = np.flatnonzero(there & (rows["valid_to"] <= valid_at))
    if not over.size:
        return Successions(by)
    ended = places(over, len(index), rows["text"][over])
    ended[index.lines.keyed(("event",))] = -1  # what happened is over, and still so
    return Successions(by, ended)


def ending(index: SubjectIndex, row: int, position: int, scores: Scores) -> int | None:
    """The memory that tells why the one of a row ended: of those that are so since then, as known
    at a position, what is most about the question, else the last one before it. None where there is
    none."""
    rows = index.rows
    begun = np.flatnonzero(
        (rows["valid_from"] == rows["valid_to"][row])
        & (rows["opened"] <= position)
        & (rows["closed"] > position)
        & (rows["text"] >= 0)
        & (rows["memory"] != rows["memory"][row])
    )
    before = rows["opened"][begun] < rows["opened"][row]
    worth = scores[rows["text"][begun]]
    begun, before, worth = (each[before | (worth > 0)] for each in (begun, before, worth))
    if not begun.size:
        return None
    return int(rows["text"][begun[np.lexsort((rows["opened"][begun], before, worth))[-1]]])


def successor(number: int, by: Mapping[int, int], searched: Mask) -> int | None:
    """The text that holds in the place of one that was superseded, where it may be found."""
    seen = {number}
    while number in by and by[number] not in seen:
        number = by[number]
        seen.add(number)
    return number if len(seen) > 1 and searched[number] else None


def group(
    asked: SlotQuestion,
    about: Aboutness,
    index: SubjectIndex,
    fused: Sequence[int],
    searched: Mask,
    *,
    crowded: bool,
) -> tuple[list[int], dict[int, int]]:
    """The texts that are about what is asked, and which of them a later text takes up: that one's
    number by theirs. Without `crowded`, of many only those that are believed."""
    top = float(about.scores.max(initial=0))
    if top < ABOUT:  # nothing is known to be about it: what a later turn takes up is old even so
        first = [each for each in fused[:BEST] if searched[each]] if crowded else []
        ups = [(each, _takes_up(each, asked, about, index, searched)) for each in first]
        pairs = {old: newer[0] for old, newer in ups if newer}
        return list(dict.fromkeys(each for pair in pairs.items() for each in pair)), pairs
    at = np.flatnonzero((about.scores >= max(ABOUT, GROUP * top)) & searched)
    at = at[index.texts["prior"][at] > ONLY_ASKS]  # who asks about it tells nothing of it
    if at.size > MANY:  # much is said of it: what fits best by all arms, and what is believed
        of = fused[:WINDOW]
        best = [each for each in of if searched[each] and about.scores[each] >= GROUP * top]
        held = [each for each in best if about.keyed[each]]
        others = [each for each in best if each not in held] if crowded else []
        at = np.array([*held, *others][:MANY], np.int64)
    said_at = index.texts["said_at"]
    found = [int(each) for each in at[np.argsort(-said_at[at], kind="stable")]]
    taken: dict[int, int] = {}
    lasting = bool(about.lasting[found].any())
    for number in list(found):
        if about.scores[number] >= TAKEN_UP and not lasting:
            for later in _takes_up(number, asked, about, index, searched):
                taken.setdefault(number, later)
                if later not in found:
                    found.append(later)
    return found, taken


def _takes_up(
    number: int, asked: SlotQuestion, about: Aboutness, index: SubjectIndex, searched: Mask
) -> list[int]:
    """The later turns that say of something rare in this text that it changed, or say it anew with
    other words for some of it; newest first."""
    said_at = index.texts["said_at"]
    # That two texts say "got" or "up" connects them no more than that each is of a change.
    idle = change_terms() | light_terms() | {USER}
    own = [each for each in index.lines.terms[number] if each not in idle]
    if asked.named and about.keyed[number]:
        # Who is called by the name that is asked for does something; nobody else is called so now.
        own = [each for each in own if each in asked.known]
    shared: Counter[int] = Counter()
    said: Counter[int] = Counter()
    rare: set[int] = set()
    for term in own:
        having = index.words.having(term)
        having = having[searched[having]].tolist()
        if len(having) <= MANY_HAVE:
            shared.update(having)
            if term not in about.people:
                said.update(having)
            if len(having) <= RARE:
                rare.update(having)

    def newer(each: int) -> bool:
        """Of what names other people only what says most of this text anew, their names apart."""
        anew = max(LEAST_SHARED, RESTATED * len(own)) <= said[each] and shared[each] < len(own)
        if about.changed[each]:
            # Of the same people alone something else may have changed.
            same = (
                said[each]
                or about.scores[each] >= ABOUT
                or about.meant[each] >= ANYHOW * about.meant[number]
                or about.introduces[number]
            )
            return anew or (same and not about.others[each] and shared[each] >= SHARED * len(own))
        return anew and not about.others[each] and index.texts["prior"][each] > ONLY_ASKS

    return sorted(
        (
            each
            for each in rare
            if said_at[each] > said_at[number]
            and not about.keyed[each]
            and not (about.own[each] and not about.own[number])  # "I got a job" is none of Ana's
            and newer(each)
        ),
        key=lambda each: (-int(said_at[each]), _ended(each, index), each),
    )


def _ended(number: int, index: SubjectIndex) -> bool:
    """Whether a memory says that something ended, and not what came instead."""
    of = frozenset(index.lines.terms[number])
    return not index.turn_ids[number] and any(each <= of for each in ending_words())


def ordered(
    found: Sequence[int],
    asked: SlotQuestion,
    about: Aboutness,
    index: SubjectIndex,
    outdated: Callable[[int], bool],
) -> list[int]:
    """The texts that are about what is asked, in the order in which they answer it. Events and
    endings ("sold the Trek") come after what was said of the new bike in one breath."""
    said_at = index.texts["said_at"]
    happened = index.lines.keyed(("event",))
    if asked.tense == "past":
        if asked.first:
            return sorted(found, key=lambda each: (int(said_at[each]), each))
        newest = max((int(said_at[each]) for each in found if not outdated(each)), default=0)
        return sorted(
            found,
            key=lambda each: (
                not outdated(each) and int(said_at[each]) >= newest,
                -int(said_at[each]),
                each,
            ),
        )
    return sorted(
        found,
        key=lambda each: (
            outdated(each),
            -weight(each, asked, about, found, index),
            -int(said_at[each]),
            bool(happened[each]) or _ended(each, index),
            not about.keyed[each],
            each,
        ),
    )


class Ranked(NamedTuple):
    """Texts in the order of their scores by all arms, which of all have the kind of answer that is
    asked for, and how far the scores can be relied on, as the weight of the model of meanings."""

    numbers: Sequence[int]
    scores: Sequence[float]
    fits: Mask
    weight: float


class Placed(NamedTuple):
    """A result in its place: its number, the texts that are one with it, and the later text that
    takes it up, so that it is perhaps outdated."""

    number: int
    others: tuple[int, ...] = ()
    taken_up_by: int | None = None
    ahead: bool = False
    """It is among those that are about what is asked and were put in order by their time."""
    mentions: bool = False
    """It is about what is asked, and only mentions it."""
    ending: bool = False
    """It says that something ended or happened, and not what is so."""
    kept: bool = False
    """It is a memory, or a turn of which one came."""
    over: bool = False
    """It is not so any more …"""
    newer: int | None = None
    """… and this took its place."""
    member: bool = False
    """It tells of a member of the set, or of the role, that is asked for."""


def arranged(
    index: SubjectIndex,
    asked: SlotQuestion,
    about: Aboutness,
    ranked: Ranked,
    searched: Mask,
    now: tuple[int, int],
    k: int,
) -> list[Placed]:
    """The first `k` results. `now` is the position and the time asked about."""
    fused, fits = ranked.numbers, ranked.fits
    of = successions(index, *now)
    if asked.tense != "now" or not (asked.own or asked.kin):
        of = Successions(of.by)  # what has ended is told of as well
    by = of.by
    happened = index.lines.keyed(("event",))

    def holds_whole(number: int) -> int | None:
        """The memory that says what this one does and more, if that is so, too."""
        whole = index.lines.whole(number)
        there = whole is not None and searched[whole] and not of.is_over(whole)
        return whole if there else None

    def lacks(number: int, turn: int | None) -> bool:
        """Whether a memory leaves out a word of the question that its turn has."""
        own = index.lines.terms[number]
        said = () if turn is None else index.lines.terms[turn]
        return any(each in said and each not in own for each in asked.rest)

    @cache
    def line_of(number: int) -> Line:
        lines = index.lines
        if index.turn_ids[number]:
            return Line(number, lines.memories_of(number, index.turn_ids[number]))
        turn = lines.turn_of(number)
        if turn is not None and lines.covers(turn, number) < _ITS_OWN:
            turn = None  # the turn only changed it: "I cancelled HBO", of what one subscribes to
        # Of "Ines and I got married" the memory that the user did has not the name.
        unnamed = asked.named and happened[number]
        least = ALL_OF if unnamed or _ended(number, index) else MOST_OF
        most = turn is not None and lines.covers(number, turn) >= least
        most = most and not lacks(number, turn)
        of_slot = bool(asked.slots and about.of_slot[number])
        whole = holds_whole(number)
        claim = lines.claim(number if whole is None else whole)
        return Line(number, (), turn, claim, most, of_slot)

    def is_over(line: Line) -> list[int]:
        """What a text says of what is asked, if none of it is so any more."""
        # Of a turn about several things, what is asked for alone.
        of_slot = [each for each in line.memories if asked.slots and about.of_slot[each]]
        memories = of_slot or line.memories
        said = [each for each in (*memories, line.number) if of.is_over(each)]
        held = any(searched[each] and not of.is_over(each) for each in memories)
        return [] if held else said

    def newer(line: Line) -> int | None:
        """What holds in the place of a text that is over: a memory, else its turn."""
        said = is_over(line)
        if not said:
            return None
        last = max(said)
        if last in by:
            memory = successor(last, by, np.ones(len(searched), np.bool_))
        else:
            row = -1 if of.ended is None else int(of.ended[last])
            memory = None if row < 0 else ending(index, row, now[0], about.scores)
        if memory is None or searched[memory]:
            return memory
        turn = index.lines.turn_of(memory)
        return turn if turn is not None and searched[turn] and turn != line.number else None

    past = asked.tense == "past"
    found: list[int] = []
    taken: dict[int, int] = {}
    if asked.tense == "now" or (past and asked.slots):
        then = searched & (index.texts["said_at"] <= now[1])
        found, taken = group(asked, about, index, fused, then, crowded=not past)
        if any(fits[each] for each in found):  # the others may only mention it
            found = [each for each in found if fits[each] or about.keyed[each]]

    def outdated(number: int) -> bool:
        return bool(is_over(line_of(number))) or (past and number in taken)

    head = ordered(found, asked, about, index, outdated)
    if head:
        head = _ahead(head, asked, about, ranked, set(taken.values()), index.lines.new())
    ahead = set(head)
    order = [*head, *(each for each in fused if each not in ahead)]
    order = [part for each in order for part in (holds_whole(each), each) if part is not None]
    results = settled(order, line_of, (lambda _: None) if past else newer)
    return [
        Placed(
            number,
            others,
            taken.get(number),
            ahead=not ahead.isdisjoint((number, *others)),
            mentions=only_mentions((number, *others), asked, about, found, index),
            ending=bool(happened[number]) or _ended(number, index),
            kept=is_kept(number, index),
            over=bool(is_over(line_of(number))),
            newer=None if past else newer(line_of(number)),
        )
        for number, others in results[:k]
    ]


def _ahead(
    head: Sequence[int],
    asked: SlotQuestion,
    about: Aboutness,
    ranked: Ranked,
    taking: Collection[int],
    fresh: Mask,
) -> list[int]:
    """Those of `head` that come before what has only a better score: of the best by all arms those
    that fit nearly as well, and a few of the others. `taking` are texts that take up others,
    `fresh` those that say that something is so of late."""
    reach = REACH * (WORDS_ALONE + (1 - WORDS_ALONE) * ranked.weight)
    least = reach * max(ranked.scores, default=0)
    best = ranked.numbers[:WINDOW]
    first = {
        each
        for each, score in zip(best, ranked.scores, strict=False)
        if about.keyed[each] or fresh[each] or each in taking or score >= least
    }
    may = set(head if asked.slots else taking).difference(best)
    most = LIFTED if asked.own or asked.kin else 1
    lifted = [each for each in head if each in may][:most]
    return [each for each in head if each in first or each in lifted]
