"""Which slots a question is about, of whom, and whether it asks about now or about the past. Pure.

The words are in slot_words.yaml and question_words.yaml; a ledger's own types bring further ones.
A model of meanings may add slots that no word names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Literal, NamedTuple

from beliefledger.ledger.data_files import data
from beliefledger.ledger.dataclass import dataclass
from beliefledger.projections.search_terms import STOP_WORDS, stems, terms, words
from beliefledger.projections.sets import roles

Words = frozenset[str]
"""Stems that must all be there."""
Tense = Literal["now", "past", "any"]

_SELF = frozenset("i me my mine myself we our ours us im ive".split())
_TOGETHER = frozenset("we us our ours".split())
_BE = frozenset("was were".split())
_WERE = _BE | frozenset("did had used".split())
_LEFT = frozenset("put leave left keep store stored park parked hide".split())
_GIVEN = frozenset("give hand issue lend".split())
_SUBJECTS = frozenset("i me we us im ive".split())
_OBJECTS = frozenset("me us".split())
_OF_THEM = frozenset("what which where how when does did can could has".split())
"""A question that opens with one of these may ask for something of somebody."""
_PRESENT = frozenset("do does am is are".split())
_TOLD = _WERE | frozenset("been ever times total altogether since last past ago".split())
_NAMED = frozenset("who whom whose whos name called".split())
_ASKING = frozenset("who whom whose what which when where how am is are do does did".split())
_EX = frozenset("ex exes exs".split())
_RELATION_EX = "relation.ex"
_OPENING = 3
"""One of the first so many words of a question is one of these: "so where am I based"."""
_MOST_SLOTS = 3
_NEARLY = 0.6
"""A slot is asked for if it matches this much of what the best one does."""
_MOST_REST = 3
"""A question with more terms beyond its slots asks for something more special than their values."""


class SlotWords(NamedTuple):
    """By which words a slot is asked for, and by which a text speaks of it."""

    name: str
    attributes: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    """All memories of these types are about it."""
    names: tuple[Words, ...] = ()
    asks: tuple[Words, ...] = ()
    says: tuple[Words, ...] = ()
    values: tuple[Words, ...] = ()
    hints: tuple[Words, ...] = ()
    """Those of `says` of which an index has but one word, without the stop words: of "in charge"
    only "charge"."""
    theirs: tuple[str, ...] = ()
    """The parts of keys by which memories tell it of others: relation.brother.drive."""
    unless: tuple[Words, ...] = ()
    """Words of texts by which `says` and `values` state something else: of a wedding that moves."""
    instead: tuple[str, ...] = ()
    """The slots whose memories answer where there is none of its own: of a job its employer."""
    about: str = ""
    """The description that a question's meaning is compared with."""
    kinds: tuple[Words, ...] = ()
    """The kinds of what it is about, each by its words: who asks for the cat asks for no dog."""

    def other_kinds(self, asked: Iterable[str]) -> Words:
        """The words for kinds that a question does not ask for; none where it asks for none."""
        wanted = frozenset(asked)
        meant = [each for each in self.kinds if not each.isdisjoint(wanted)]
        return frozenset().union(*self.kinds).difference(*meant) if meant else frozenset()

    def matched(self, asked: frozenset[str]) -> frozenset[str]:
        """The words of a question by which it asks for this slot."""
        found = [each for each in (*self.names, *self.asks) if each <= asked]
        return frozenset().union(*found)

    def of_others(self, asked: frozenset[str]) -> list[Words]:
        """The other words, of several, by which a question asks for this slot: of a "furry
        friend" as of no friend."""
        return [each for each in self.asks if len(each) > 1 and each <= asked]

    @property
    def phrases(self) -> tuple[str, ...]:
        """The description, and the entries by which it is asked for, as texts."""
        return self.about, *(" ".join(sorted(each)) for each in (*self.names, *self.asks))

    @property
    def known(self) -> frozenset[str]:
        """All words by which it is asked for."""
        return frozenset().union(*self.names, *self.asks)


@dataclass(frozen=True, slots=True)
class SlotQuestion:
    """What a question asks for."""

    tense: Tense = "any"
    first: bool = False
    """The oldest value is asked for."""
    slots: tuple[SlotWords, ...] = ()
    own: bool = False
    """It is about the subject themselves …"""
    alone: bool = False
    """… and about nobody with them: "I", and not "we"."""
    former: bool = False
    """It asks who somebody's ex is, so what is so now answers it not."""
    joint: bool = False
    """It is about what the subject does, be it with others: "what do my wife and I watch?"."""
    asks: bool = False
    """It asks what is so, and not for something to be done."""
    named: bool = False
    """It asks for somebody's or something's name: who, what it is called."""
    kin: tuple[frozenset[str], ...] = ()
    """The people it is about, each by all their words."""
    terms: tuple[str, ...] = ()
    """Its terms, without words of time."""
    rest: tuple[str, ...] = ()
    """Those of them that its slots do not know: what they are asked about."""
    perhaps: tuple[tuple[SlotWords, float], ...] = ()
    """Where its words name no slot: those that it is nearest to by meaning, each with its cosine,
    the nearest first. One of them is asked for where the subject has a memory of it."""

    @property
    def own_now(self) -> bool:
        """Whether it asks what is so now of the subject themselves."""
        return self.own and self.tense == "now"

    @property
    def known(self) -> frozenset[str]:
        """All words by which it, or what it asks for, is spoken of."""
        same = frozenset().union(*(with_same(each) for each in self.terms))
        return same.union(*(slot.known for slot in self.slots), *self.kin)

    def without_slots(self) -> SlotQuestion:
        """The same question as one that asks for no slot."""
        return replace(self, slots=(), rest=self.terms)

    def with_slot(self, slot: SlotWords) -> SlotQuestion:
        """The same question as one that asks for a slot by other words for it: none of its terms is
        left for what the slot is asked about."""
        return replace(self, slots=(slot,), rest=())


class _QuestionWords(NamedTuple):
    now: tuple[Words, ...]
    past: tuple[Words, ...]
    first: tuple[Words, ...]
    change: tuple[Words, ...]
    ending: tuple[Words, ...]
    circumstance: frozenset[str]
    typed: Mapping[str, str]
    counting: tuple[Words, ...]
    filler: frozenset[str]
    light: frozenset[str]
    kin: tuple[frozenset[str], ...]
    for_life: frozenset[str]
    same: Mapping[str, frozenset[str]]


def slot_words(name: str, given: Mapping[str, Any]) -> SlotWords:
    """A slot from its lists of words."""
    said = _said(given.get("says", ()))
    hints = tuple(
        frozenset(found)
        for each in given.get("says", ())
        if len(found := terms(each)) == 1 and len(words(each)) > 1
    )
    return SlotWords(
        name=name,
        attributes=tuple(given.get("attributes", ())),
        types=tuple(given.get("types", ())),
        names=_entries(given.get("names", ())),
        asks=_entries(given.get("asks", ())),
        says=tuple(each for each in said if each not in hints),
        hints=hints,
        values=_said(given.get("values", ())),
        theirs=tuple(given.get("theirs", ())),
        unless=_said(given.get("unless", ())),
        instead=tuple(given.get("instead", ())),
        about=given.get("about", ""),
        kinds=tuple(frozenset(stems(words(each))) for each in given.get("kinds", ())),
    )


def asked_for(
    question: str, more: Sequence[SlotWords] = (), meant: Sequence[str] = ()
) -> SlotQuestion:
    """What a question asks for. `more` are the slots of a ledger's own types, `meant` the names of
    slots that its meaning is near to."""
    known = _known()
    spoken = [known.typed.get(each, each) for each in words(question)]
    former = not _EX.isdisjoint(spoken) and not _NAMED.isdisjoint(spoken)
    if former:
        spoken = _as_former(spoken)
    stemmed = frozenset(stems(spoken))
    own = not _SELF.isdisjoint(spoken)
    if _does(spoken):
        meant = (*meant, _WORK)
    routable = (*more, *built_in(), *_roles_in(spoken, stemmed))
    slots = _routed(stemmed, routable, meant)
    slots = _of_kin(spoken, stemmed, slots, routable)
    if former:
        slots = tuple(each._replace(attributes=(*each.attributes, _RELATION_EX)) for each in slots)
    named = frozenset().union(*(word for slot in slots for word in slot.names))
    named |= frozenset().union(*(each for slot in slots for each in slot.of_others(stemmed)))
    kin = tuple(each for each in known.kin if each & stemmed and not each & named)
    if kin or len(slots) > 1:  # "my husband's name" is his, and not the user's
        slots = tuple(each for each in slots if each.name != _NAME)
    timed = frozenset().union(*(each for each in (*known.now, *known.past) if each <= stemmed))
    later = frozenset(stems(spoken[spoken.index("before") + 1 :] if "before" in spoken else ()))
    asked = tuple(
        each
        for each in dict.fromkeys(terms(" ".join(spoken)))
        if each not in timed | known.filler | later  # "before Berlin" does not ask for Berlin
    )
    taken = frozenset().union(*(slot.known for slot in slots), *kin)
    taken |= known.circumstance if slots else frozenset()
    rest = tuple(each for each in asked if each not in taken)
    counting = any(each <= stemmed for each in known.counting) and not _present_count(spoken)
    if len(rest) > _MOST_REST or counting:
        slots = ()
    tense: Tense = "any" if counting else _tense(spoken, stemmed, routed=bool(slots))
    return SlotQuestion(
        tense=tense,
        first=any(each <= stemmed for each in known.first),
        slots=slots,
        own=own,
        alone=own and _TOGETHER.isdisjoint(spoken),
        former=former and bool(slots),
        joint=not _SUBJECTS.isdisjoint(spoken),
        asks=not _ASKING.isdisjoint(spoken[:_OPENING]),
        named=not _NAMED.isdisjoint(spoken),
        kin=kin,
        terms=asked,
        rest=rest,
    )


def _as_former(spoken: Sequence[str]) -> list[str]:
    """The words of a question for an ex, by which it asks for a former partner: "who is my ex?". An
    ex-wife is a former wife."""
    people = [not _people().isdisjoint(stems([each])) for each in spoken] + [False]
    said: list[str] = []
    for place, each in enumerate(spoken):
        if each in _EX:
            said += ["former"] if people[place + 1] else ["former", "partner"]
        else:
            said.append(each)
    return said


def _does(spoken: Sequence[str]) -> bool:
    """Whether a question asks what somebody does, and no more: "what do I do?"."""
    return "what" in spoken and spoken.count("do") > 1 and spoken[-1] == "do"


_WORK = "work.role"
_NAME = "identity.name"


def _of_kin(
    spoken: Sequence[str],
    stemmed: frozenset[str],
    slots: tuple[SlotWords, ...],
    known: Sequence[SlotWords],
) -> tuple[SlotWords, ...]:
    """The slots without those that ask who somebody is, where something else is asked of them:
    "what does my wife eat?" asks for her diet, and not for who she is."""
    if not _NAMED.isdisjoint(spoken) or not _SUBJECTS.isdisjoint(spoken):
        return slots
    called = _people() & stemmed
    if not called:
        return slots
    others = [slot for slot in slots if not slot.matched(stemmed) <= called]
    if len(others) < len(slots) and _OF_THEM.isdisjoint(spoken[:_OPENING]):
        return slots
    if len(others) == len(slots):
        return slots
    further = tuple(slot for slot in known if slot not in slots)
    return tuple(others) or _routed(stemmed - called, further, ())


@cache
def _people() -> frozenset[str]:
    """The words for people of whom something may be asked."""
    return frozenset().union(*_known().kin)


def _present_count(spoken: Sequence[str]) -> bool:
    """Whether a question asks for a number that is so now: "how many cats do I have?"."""
    return "many" in spoken and not _PRESENT.isdisjoint(spoken) and _TOLD.isdisjoint(spoken)


def _tense(spoken: Sequence[str], stemmed: frozenset[str], *, routed: bool) -> Tense:
    """Past where a word says so, or where a slot's value is asked for that "was"; of other
    questions in the past tense neither: they ask for what happened."""
    known = _known()
    if "how" in spoken and "old" in spoken:  # it asks for an age
        stemmed -= {"old"}
    told = any(each <= stemmed for each in known.now)
    were = not _WERE.isdisjoint(spoken)
    if "where" in spoken and not _LEFT.isdisjoint(spoken):  # where it is now
        were = False
    if routed and not _GIVEN.isdisjoint(spoken) and not _OBJECTS.isdisjoint(spoken):
        were = False  # "which laptop did work give me?" asks for the one of now
    if any(each <= stemmed for each in known.past) and (were or not told):
        return "past"
    if were:
        return "past" if routed and not _BE.isdisjoint(spoken) else "any"
    return "now"


def _routed(
    asked: frozenset[str], slots: Sequence[SlotWords], meant: Sequence[str]
) -> tuple[SlotWords, ...]:
    """The slots that match most of a question."""
    found = []
    for slot in slots:
        matched = slot.matched(asked)
        if matched:
            found.append((sum(0.5 if each in _STOPS else 1.0 for each in matched), slot))
    best = max((worth for worth, _ in found), default=0.0)
    found = sorted((each for each in found if each[0] >= _NEARLY * best), key=lambda each: -each[0])
    chosen = [slot for _, slot in found[:_MOST_SLOTS]]
    names = {slot.name for slot in chosen}
    chosen += [slot for slot in slots if slot.name in meant and slot.name not in names]
    return tuple(chosen)


def with_same(term: str) -> frozenset[str]:
    """A term with those that are the same word in another spelling."""
    return _known().same.get(term, frozenset((term,)))


def change_words() -> tuple[Words, ...]:
    """The words by which a text says that something changed."""
    return _known().change


@cache
def change_terms() -> frozenset[str]:
    """The terms by which a text says, with no other word, that something changed."""
    return frozenset().union(*(each for each in change_words() if len(each) == 1))


def light_terms() -> frozenset[str]:
    """The terms that two texts may share without being about the same."""
    return _known().light


def ending_words() -> tuple[Words, ...]:
    """The words by which a text says that something ended."""
    return _known().ending


def kin_words() -> tuple[frozenset[str], ...]:
    return _known().kin


def kin_for_life() -> frozenset[str]:
    """The words for people who are so for good: nobody takes a sister's place."""
    return _known().for_life


@cache
def built_in() -> tuple[SlotWords, ...]:
    """The slots that every ledger knows."""
    written = data("beliefledger.projections", "slot_words.yaml")
    return tuple(slot_words(each["slot"], each) for each in written)


@cache
def role_slots() -> tuple[SlotWords, ...]:
    """The slots of roles that have no other: whoever does something for somebody."""
    return tuple(
        slot_words(
            f"{_ROLE}{each['role'][0]}",
            {
                "attributes": [key for noun in each["role"] for key in _role_keys(noun)],
                "names": [noun for noun in each["role"] if _is_apart(noun)],
                "asks": each["asks"],
            },
        )
        for each in roles()
        if "slot" not in each
    )


def _roles_in(spoken: Sequence[str], stemmed: frozenset[str]) -> list[SlotWords]:
    """The slots of the roles that a question has the very words of: a garden is no gardener."""
    said = f" {' '.join(spoken)} "
    of = {each["role"][0]: each["role"] for each in roles()}
    return [
        slot
        for slot in role_slots()
        if any(f" {noun} " in said for noun in of[slot.name.removeprefix(_ROLE)])
        or any(each <= stemmed for each in slot.asks)
    ]


_ROLE = "role "


def _is_apart(noun: str) -> bool:
    """Whether the stem of a noun for somebody is not that of what they do."""
    said = words(noun)
    return all(len(word) - len(stem) <= 1 for word, stem in zip(said, stems(said), strict=True))


def _role_keys(noun: str) -> list[str]:
    name = noun.replace(" ", "-")
    heads = ("thing.", "thing.new-", "thing.our-", "relation.", "care.", "home.", "pets.")
    return [f"{head}{name}" for head in heads]


@cache
def _known() -> _QuestionWords:
    written = data("beliefledger.projections", "question_words.yaml")
    same: dict[str, frozenset[str]] = {}
    for line in written["same"]:
        group = frozenset(stems(words(line)))
        for each in group:
            same[each] = same.get(each, frozenset()) | group
    return _QuestionWords(
        now=_entries(written["now"]),
        past=_entries(written["past"]),
        first=_entries(written["first"]),
        change=_said(written["change"]),
        ending=_said(written["ending"]),
        circumstance=frozenset(each for line in written["circumstance"] for each in terms(line)),
        typed=written["typed"],
        counting=_entries(written["counting"]),
        filler=frozenset(stem for each in written["filler"] for stem in stems(words(each))),
        light=frozenset(stem for each in written["light"] for stem in stems(words(each))),
        kin=tuple(frozenset(stems(words(line))) for line in written["kin"]),
        for_life=frozenset(stem for each in written["for life"] for stem in stems(words(each))),
        same=same,
    )


def _entries(given: Iterable[str]) -> tuple[Words, ...]:
    return tuple(frozenset(stems(words(each))) for each in given)


def _said(given: Iterable[str]) -> tuple[Words, ...]:
    """Without stop words, which an index does not have."""
    return tuple(each for each in (frozenset(terms(entry)) for entry in given) if each)


_STOPS = frozenset(stems(STOP_WORDS))
