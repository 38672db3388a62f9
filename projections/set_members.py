"""Which members of a set a text tells of: of "our cat Mila" a cat, Mila. Pure.

It goes by words and by where they stand: a noun that is one's own ("my", "we have") or that one
does something with ("I play the cello"), the names beside it, and what ends in a clause.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from beliefledger.ledger.late_patterns import compile_later
from beliefledger.projections.search_terms import STOP_WORDS, indexed, stems, terms
from beliefledger.projections.sets import LONGEST, Named, nouns, sets, vocabulary

_TOKEN = compile_later(r"[^\W_]+(?:['’-][^\W_]+)*['’]?|[.,;:!?()&+\n]")
_STOPS = frozenset(".!?;\n")
_MARKS = _STOPS | frozenset(",:()&+")
_BACK, _FAR = 4, 9
"""How many words before a noun may say whose it is, and that one has it."""
_NAMES = 8
"""The most names that are read behind a noun."""
LONGEST_TEXT = 600
"""Of a longer text only the beginning is looked at, in characters."""


class Member(NamedTuple):
    """Members of a set that a text tells of."""

    set: str
    kind: str = ""
    names: tuple[str, ...] = ()
    """Their names' terms; none where they are not named."""
    own: bool = True
    """They are the subject's own, as an allergy may be somebody else's."""
    number: int = 0
    """How many, where that is told."""
    learnt: bool = False
    """It is being learned."""


class Told(NamedTuple):
    """What a text tells of sets."""

    members: tuple[Member, ...] = ()
    ended: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """By set: the terms of what one has no more."""


NOTHING = Told()


class _Word(NamedTuple):
    low: str
    said: str
    start: int
    """Where its clause starts."""


def told_of(text: str) -> Told:
    """What a text tells of sets."""
    said = _read(text[:LONGEST_TEXT])
    if not said:
        return NOTHING
    members = _Members(said).found()
    ended = _ended(said)
    return Told(tuple(members), ended) if members or ended else NOTHING


def _read(text: str) -> list[_Word]:
    """The words and marks of a text, with what is contracted in full."""
    short = vocabulary().contracted
    found: list[_Word] = []
    start = 0
    for each in _TOKEN.findall(text.replace("’", "'")):
        low = each.lower()
        if low in _STOPS or low == "but":
            start = len(found) + 1
        found += [_Word(part, each, start) for part in short.get(low, (low,))]
    return found


class _Members:
    """Finds the members in the words of a text."""

    def __init__(self, said: Sequence[_Word]) -> None:
        self._said = said
        self._low = [each.low for each in said]
        self._stems = stems(self._low)
        self._words = vocabulary()
        self._lower = not any(each.said[:1].isupper() for each in said[1:] if each.low != "i")

    def found(self) -> list[Member]:
        """All members, in the order of the text."""
        members: list[Member] = []
        at = 0
        while at < len(self._low):
            length, called = self._noun(at)
            for named in called:
                member = self._member(at, length, named)
                if member is not None:
                    members.append(member)
            members += self._states(at)
            at += max(1, length)
        return members

    def _noun(self, at: int) -> tuple[int, tuple[Named, ...]]:
        known = nouns()
        for length in range(LONGEST, 0, -1):
            called = known.get(tuple(self._low[at : at + length]))
            if called is not None:
                return length, called
        one = self._low[at]
        bare = one.removesuffix("'s")
        if bare != one and self._next(at + 1) in self._words.called:
            return 1, known.get((bare,), ())
        return 0, ()

    def _member(self, at: int, length: int, named: Named) -> Member | None:
        if self._next(at + length) in self._words.compounds or not self._is_so(at):
            return None
        if any(end <= self._clause(at) for end in sets()[named.set].ends):
            return None
        learnt = False
        if not self._owned(at, named) and not self._had(at, named):
            if not named.value:
                return self._introduced(at, length, named)
            done, learnt = self._does(at, named)
            if not done:
                return None
        names = self._names(at, at + length)
        if named.value:
            names = tuple(stems(self._low[at : at + length]))
        before = self._low[at - 1] if at else ""
        before2 = self._low[at - 2] if at > 1 else ""
        count = self._words.numbers.get(before, self._words.numbers.get(before2, 0))
        return Member(named.set, named.kind, names, number=count, learnt=learnt)

    def _introduced(self, at: int, length: int, named: Named) -> Member | None:
        """Of "plumber's name is Stan" and "the dog is called Rex" the name, where nobody else is
        said to have them."""
        before = [each for each in self._low[self._said[at].start : at] if each not in _MARKS]
        if set(before) - self._words.fillers or self._next(at + length) not in self._words.naming:
            return None
        names = self._names_after(at + length)
        found = _terms_of(names)
        return Member(named.set, named.kind, found) if found else None

    def _is_so(self, at: int) -> bool:
        start = self._said[at].start
        return self._words.not_so.isdisjoint(self._low[start:at]) and not (
            {"anymore"} & set(self._low[at : at + _FAR])
        )

    def _clause(self, at: int) -> frozenset[str]:
        """The stems of the part of the text between marks."""
        first = last = at
        while first > 0 and self._low[first - 1] not in _MARKS and self._low[first - 1] != "but":
            first -= 1
        while last < len(self._low) and self._low[last] not in _MARKS and self._low[last] != "but":
            last += 1
        return frozenset(self._stems[first:last])

    def _owned(self, at: int, named: Named) -> bool:
        """Whether "my" or "our" stands before a noun, and nobody else's name."""
        for place in range(at - 1, max(-1, at - 1 - _BACK), -1):
            word = self._low[place]
            if word in self._words.possessives:
                return True
            if word in _MARKS or self._others(word, named):
                return False
        return False

    def _others(self, word: str, named: Named) -> bool:
        """Whether a word before a noun says that it is somebody else's."""
        if word.endswith(("'s", "'")) or word in self._words.theirs:
            return True
        return any(each.set != named.set and not each.value for each in nouns().get((word,), ()))

    def _had(self, at: int, named: Named) -> bool:
        """Whether one says of a noun that one has it."""
        verbs = self._words.having | sets()[named.set].having
        for place in range(at - 1, max(-1, at - 1 - _FAR), -1):
            word = self._low[place]
            if word in verbs and self._low[place + 1] != "to":
                return (word != "has" or self._low[place - 1 : place] == ["user"]) and self._mine(
                    place
                )
            if word == "new" and self._mine(place):
                return True
            if word == "is" and self._low[place - 1 : place + 2] == ["it", "is", "a"]:
                return named.set == "children" and place + 2 >= at
            if word in _STOPS or word in self._words.prepositions or word in self._words.others:
                return False
            if word.endswith(("'s", "'")) or word in self._words.theirs:
                return False
        return False

    def _does(self, at: int, named: Named) -> tuple[bool, bool]:
        """Whether one does with a value what makes it one's own, and whether one learns it."""
        of = sets()[named.set]
        for place in range(at - 1, max(-1, at - 1 - _FAR), -1):
            if self._low[place] in _STOPS:
                break
            for length in (2, 1):
                verb = tuple(self._stems[place : place + length])
                if verb in of.verbs or verb in of.learnt:
                    return self._mine(place), verb in of.learnt
        return False, False

    def _mine(self, at: int) -> bool:
        """Whether the subject of a verb is who speaks: "I", "we", or nobody at its beginning."""
        for place in range(at - 1, -1, -1):
            word = self._low[place]
            if word in self._words.subjects or word in _STOPS:
                return True
            if word in _MARKS:
                return self._of_nobody(place)
            if word not in self._words.fillers:
                return False
        return True

    def _of_nobody(self, at: int) -> bool:
        """Whether a sentence speaks of nobody else before a mark."""
        for place in range(self._said[at].start, at):
            low = self._low[place]
            if low in self._words.others or (low,) in nouns():
                return False
            begins = place == self._said[at].start
            if (
                self._said[place].said[:1].isupper()
                and not begins
                and low not in self._words.unnamed
            ):
                return False
        return True

    def _next(self, at: int) -> str:
        return self._low[at] if at < len(self._low) else ""

    def _names(self, start: int, at: int) -> tuple[str, ...]:
        """The terms of the names beside a noun."""
        found = self._names_after(at) or self._names_before(start) or self._called(at)
        return _terms_of(found)

    def _names_after(self, at: int) -> list[str]:
        words, found = self._words, list[str]()
        called = False
        skipped = 0
        while at < len(self._low) and len(found) < _NAMES:
            word = self._low[at]
            if word in words.called:
                called, skipped = True, skipped + 1
            elif word in words.titles and self._said[at].said[:1].isupper() | self._lower:
                called = True
            elif word in words.before or word in words.others or word in words.possessives:
                skipped += 1
            elif word in {",", ":", "(", "&", "+", "and"}:
                skipped += 1
                if word in {",", "("} and skipped > 1 and not found:
                    called = called and False
            elif self._is_name(at, called=called):
                found.append(self._said[at].said)
                skipped = 0
            else:
                break
            if skipped > _BACK:
                break
            at += 1
        return found

    def _called(self, at: int) -> list[str]:
        """Of "got a kitten for the kids, she's called Farofa" the name."""
        for place in range(at, min(len(self._low), at + _FAR + _BACK)):
            name_is = self._low[place : place + 2] == ["name", "is"]
            if self._low[place] not in {"called", "named"} and not name_is:
                continue
            before = self._low[place - 1]
            whose = before in {"her", "his", "its"} if name_is else before in {"is", "and", ","}
            after = place + 2 if name_is else place + 1
            if whose and after < len(self._low) and self._is_name(after, called=True):
                return [self._said[after].said]
        return []

    def _names_before(self, start: int) -> list[str]:
        """Of "Mila is our cat" the name."""
        place = start - 1
        if place > 0 and self._low[place] in self._words.possessives:
            bare = self._said[place - 1].said.removesuffix("'s")
            if bare != self._said[place - 1].said and bare[:1].isupper():
                return [bare]
        while place >= 0 and (
            self._low[place] in self._words.possessives or self._low[place] in self._words.fillers
        ):
            place -= 1
        if place < 1 or self._low[place] not in {"is", "are", ",", "am"}:
            return []
        found = []
        for at in range(place - 1, max(-1, place - 6), -1):
            if self._is_name(at, called=False):
                found.append(self._said[at].said)
            elif self._low[at] not in self._words.between:
                break
        return found

    def _is_name(self, at: int, *, called: bool) -> bool:
        said, low = self._said[at].said, self._low[at]
        if low in self._words.unnamed or not low[:1].isalpha() or low.endswith("'s"):
            return False
        if (low,) in nouns() and not any(each.value for each in nouns()[low,]):
            return False
        if said[:1].isupper():
            return True
        return called and low not in STOP_WORDS and low not in self._words.fillers

    def _states(self, at: int) -> list[Member]:
        """Of "allergic to nuts" the nuts."""
        word, found = self._low[at], list[Member]()
        for of in sets().values():
            if word not in of.states or not self._is_so(at):
                continue
            if any(end <= self._clause(at) for end in of.ends):
                continue
            if self._next(at + 1) == "to":
                names = self._until_mark(at + 2)
            elif word in {"allergic", "allergies"}:
                names = self._until_mark(at + 2) if self._next(at + 1) in {":", "are"} else []
            else:
                names = [self._low[at - 1]] if at else []
                names = [word] if not names or word.startswith(("co", "ce", "hay")) else names
            plain = [each for each in names if each not in STOP_WORDS]
            known = tuple(each for name in plain for each in terms(name))
            if known:
                found.append(Member(of.name, "", known, own=self._own_state(at)))
        return found

    def _until_mark(self, at: int) -> list[str]:
        found = []
        for word in self._low[at : at + _NAMES]:
            if word in _STOPS or word in {"so", "because", "since", "which"}:
                break
            if word not in _MARKS and word not in self._words.fillers:
                found.append(word)
        return found

    def _own_state(self, at: int) -> bool:
        """Whether it is who speaks that is allergic."""
        clause = self._low[self._said[at].start : at]
        for place, word in enumerate(clause):
            if word in self._words.subjects:
                return True
            if word in self._words.possessives:
                return not any((each,) in nouns() for each in clause[place:])
            if word in self._words.others or (
                word not in self._words.fillers
                and self._said[self._said[at].start + place].said[:1].isupper()
            ):
                return False
        return True


def _terms_of(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(each for name in names for each in indexed(name))


def _ended(said: Sequence[_Word]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The terms of the clauses that say that one has something no more, by set."""
    found: dict[str, list[str]] = {}
    clause: list[str] = []
    for word in [*(each.low for each in said), "."]:
        if word not in _MARKS and word != "but":
            clause.append(word)
            continue
        of = frozenset(stems(clause))
        for each in sets().values():
            if any(end <= of for end in each.ends):
                found.setdefault(each.name, []).extend(terms(" ".join(clause)))
        clause = []
    return tuple((name, tuple(dict.fromkeys(those))) for name, those in found.items())
