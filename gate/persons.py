"""Whom a memory or a sentence speaks of that is not the user, and whether they are one. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from beliefledger.gate.belief import Held
from beliefledger.gate.keys import canonical
from beliefledger.gate.meant_memories import Standing, stems
from beliefledger.gate.registry import NOTE
from beliefledger.gate.rules.people import HOW, KIN, NOUNS
from beliefledger.ledger.candidate import SELF
from beliefledger.ledger.late_patterns import compile_later

_CALLED = compile_later(
    r"\W*+(?:(?:so|and|but|also|oh|btw|fyi|ok|well|yeah)\W++){0,3}"
    rf"(?:user['’]s|my|our) (?:(?:{HOW}) ){{0,2}}(?P<kin>{KIN})(?!['’\w-])(?:,? (?P<more>.+))?",
    re.I | re.S,
)
_NAMED = compile_later(r"\W*+(?P<name>[^\W\d_][\w’'-]{0,30}?)(?:['’]s)?(?: (?P<more>.+))?\Z", re.S)
_FIRST = compile_later(r"(?P<name>[^\W\d_][\w-]{1,30})(?!['’])(?:,? (?P<more>.+))?", re.S)


class Person(NamedTuple):
    """Somebody by what they are to the user, under one noun of those for the same, and by name in
    lower case."""

    title: str | None
    name: str | None


class Told(NamedTuple):
    """Whom a text tells of, and what it tells of them."""

    who: Person
    rest: str


def titled(noun: str) -> str:
    """One noun for those that mean the same: "mother" for a mum."""
    plain = noun.replace(" ", "-")
    return _titles().get(plain) or _title(plain)


@cache
def _titles() -> Mapping[str, str]:
    return {noun: _title(noun) for noun in NOUNS}


def _title(noun: str) -> str:
    key = canonical(f"relation.{noun}.name", "relation")
    title = "boss" if key == "relation.reports-to" else key.split(".")[1]
    return "boss" if title in ("line-manager", "works-for") else title


class Known(NamedTuple):
    """The people of a user: the names of each by what they are."""

    names: Mapping[str, frozenset[str]]

    def every_name(self) -> frozenset[str]:
        """The names of all of them."""
        return frozenset().union(*self.names.values())

    def titled(self, who: Person) -> Person:
        """Somebody with what they are to the user, where that is known of their name."""
        titles = [title for title, names in self.names.items() if who.name in names]
        return who if who.title or len(titles) != 1 else Person(titles[0], who.name)

    def are_one(self, one: Person, other: Person) -> bool:
        """Whether two are surely the same person."""
        if one.name is not None and other.name is not None:
            return one.name == other.name and (
                None in (one.title, other.title) or one.title == other.title
            )
        if one.title is not None and other.title is not None:
            if one.title != other.title:
                return False
            names = self.names.get(one.title, frozenset()) | {
                each for each in (one.name, other.name) if each is not None
            }
            return len(names) <= 1
        titled_one, named_one = (one, other) if one.name is None else (other, one)
        if titled_one.title is None or named_one.name is None:
            return False
        return self.names.get(titled_one.title, frozenset()) == {named_one.name}


def known(standing: Standing) -> Known:
    """The people of a user."""
    found = standing.kept.get("people")
    if not isinstance(found, Known):
        found = standing.kept["people"] = _known(standing)
    return found


def _known(standing: Standing) -> Known:
    names: dict[str, set[str]] = {}
    for held in standing.of_user():
        memory = held.written.memory
        if held.type == "relation":
            found = person_of_relation(memory.attribute, memory.value)
            if found is not None and found.title and found.name:
                names.setdefault(found.title, set()).add(found.name)
        if held.type == NOTE or not memory.claim.startswith("User's "):
            continue
        told = told_of(memory.claim, frozenset())
        if told is not None and told.who.title is not None and told.who.name is not None:
            names.setdefault(told.who.title, set()).add(told.who.name)
    return Known({title: frozenset(some) for title, some in names.items()})


def person_of_relation(attribute: str, value: str) -> Person | None:
    """Who is named by a slot like `relation.sister.name`."""
    parts = attribute.split(".")
    if parts[0] != "relation" or not value or len(value.split()) > 3:
        return None
    noun = {"reports-to": "boss", "works-with": "colleague"}.get(
        parts[-1] if len(parts) == 2 else parts[1], parts[1]
    )
    if noun not in NOUNS and titled(noun) not in _TITLES:
        return None
    if len(parts) > 3 or (len(parts) == 3 and parts[2] != "name" and not _is_of(parts[2], value)):
        return None
    return Person(titled(noun), value.split(maxsplit=1)[0].lower())


def _is_of(slug: str, value: str) -> bool:
    return slug.replace("-", " ") == re.sub(r"[\W_]+", " ", value.lower()).strip()


_TITLES = frozenset({"partner", "spouse", "boss", "mother", "father", "brother", "sister", "child"})


def told_of(text: str, names: frozenset[str]) -> Told | None:
    """Whom a text tells of and what; None where that is the user or not to be told. Of names in
    lower case only those are noticed that are given."""
    found = _CALLED.match(text)
    if found is not None:
        title, more = titled(found["kin"].lower()), found["more"] or ""
        name = _FIRST.match(more)
        if name is not None and (name["name"][:1].isupper() or name["name"].lower() in names):
            return Told(Person(title, name["name"].lower()), name["more"] or "")
        return Told(Person(title, None), more)
    named = _NAMED.match(text)
    if named is not None and named["name"].lower() in names and "'s" not in named["name"]:
        if _OF_THEIRS.match(text) is not None:
            return None  # "Tom's dog"
        return Told(Person(None, named["name"].lower()), named["more"] or "")
    return None


_OF_THEIRS = compile_later(r"\A\W*+[\w-]++['’]s ")


def of_memory(held: Held, names: frozenset[str]) -> Told | None:
    """Whom a memory tells of, and what."""
    memory = held.written.memory
    if memory.entity != SELF:
        names = names | {memory.entity.lower().split()[0]} if memory.entity.strip() else names
    return told_of(memory.value if held.type == NOTE else memory.claim, names)


def called_in(held: Held, people: Known) -> set[str]:
    """The stems of the words by which somebody is called of whom a memory tells; none where that
    is the user."""
    memory = held.written.memory
    called = stems(memory.entity) if memory.entity != SELF else set()
    told = of_memory(held, people.every_name())
    named = person_of_relation(memory.attribute, memory.value) if held.type == "relation" else None
    who = named or (None if told is None else told.who)
    if who is None:
        return called
    nouns = [each for each in NOUNS if titled(each) == who.title] if who.title else []
    return called | stems(" ".join([*nouns, who.name or ""]))


def memories_of(standing: Standing, who: Person, people: Known) -> Iterator[tuple[Held, Told]]:
    """What is believed of somebody, and what of it is told of them."""
    names = people.every_name() | ({who.name} if who.name else frozenset())
    called = sorted(_called(who, people))
    for held in (*standing.of(called), *standing.denied_of(called)):
        told = of_memory(held, names)
        if told is not None and people.are_one(who, told.who):
            yield held, told


def _called(who: Person, people: Known) -> set[str]:
    """What somebody may be called."""
    nouns: set[str] = set()
    for title, names in people.names.items():
        if title == who.title or (who.name in names):
            nouns |= {each for each in NOUNS if titled(each) == title} | {title} | names
    if who.title is not None:
        nouns |= {each for each in NOUNS if titled(each) == who.title} | {who.title}
    if who.name is not None:
        nouns.add(who.name)
    return nouns | {f"user's {each}" for each in nouns}


def spoken_before(text: str, names: frozenset[str]) -> Sequence[Person]:
    """The people whom a text names, the last of them last."""
    found: list[tuple[int, Person]] = []
    for each in _ANYWHERE.finditer(text):
        noun, name = each["kin"], each["name"]
        low = None if name is None else name.lower()
        if noun is not None:
            is_name = name is not None and (name[:1].isupper() or low in names)
            found.append((each.start(), Person(titled(noun.lower()), low if is_name else None)))
    for each in _WORDS.finditer(text):
        low = each[0].lower()
        if low in names and not any(low == one.name for _, one in found):
            found.append((each.start(), Person(None, low)))
    return [who for _, who in sorted(found, key=lambda one: one[0])]


_ANYWHERE = compile_later(
    rf"\b(?:my|our) (?:(?:{HOW}) ){{0,2}}(?P<kin>{KIN})(?!['’\w-])"
    r"(?: (?P<name>[^\W\d_][\w-]{1,30}))?",
    re.I,
)
_WORDS = compile_later(r"[^\W\d_][\w-]{1,30}")
