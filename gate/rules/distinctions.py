"""What tells two things of one kind apart, so that what is said of one ends nothing of the other.

"My other car is a Golf", "Dana's new manager is Olek" and "my cat Pixel died" are each like words
that end or replace a value, and are of something else. The words are in `distinctions.yaml`. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from beliefledger.gate.rules.endings import FOR_NOW
from beliefledger.gate.rules.lexicon import load
from beliefledger.gate.rules.renewals import KINDS, OTHERS
from beliefledger.ledger.late_patterns import compile_later

_DATA: dict[str, Any] = load("distinctions.yaml")
_SORTS = compile_later(_DATA["sorts"], re.I)
_PLACES = compile_later(_DATA["places"], re.I)
_OF_THINGS = compile_later(_DATA["of_things"], re.I)
_OF_PEOPLE = compile_later(_DATA["of_people"])
_CARERS = frozenset(_DATA["carers"].split())
_NO_OWNERS = frozenset(_DATA["no_owners"].split()) | OTHERS
_STATES = frozenset(_DATA["states"].split())
_NO_NAMES = frozenset(_DATA["days"].split())
_WORD = compile_later(r"[^\W_]+(?:['’-][^\W_]+)*")
_OWNED = compile_later(
    r"\b(?P<owner>[^\W_]{1,30})(?:['’]s|(?<=s)['’]) (?:(?:new|old|current|first|latest) ){0,2}$",
    re.I,
)


def names(text: str) -> frozenset[str]:
    """The names of a text in lower case: what is written with a capital, days and months left out.
    Its first word counts where it has an "'s" after it alone."""
    found = set()
    for match in _WORD.finditer(text):
        word = match[0].replace("’", "'")
        plain = word.removesuffix("'s").lower()
        named = word[:1].isupper() and plain not in _NO_NAMES
        if named and (match.start() or word.endswith("'s")):
            found.add(plain)
    return frozenset(found)


def name_others(said: str, told: str) -> bool:
    """Whether two texts have names and share none: "my dog Bella", "my dog Rex"."""
    here, there = names(said), names(told)
    words = {each.lower().removesuffix("'s") for each in _WORD.findall(said.replace("’", "'"))}
    return bool(here and there) and there.isdisjoint(words)


def apart(said: str, told: str, attribute: str) -> bool:
    """Whether a sentence is of another sort, place or trade than a claim in this slot: the work
    phone and one's own, tea at work, an optician and a dentist."""
    sorts, known = (_found(_SORTS, each) - _PLAIN_SORTS for each in (said, told))
    if sorts != known and (sorts or not _names_none_of(said, told)):
        return True
    places = _found(_PLACES, said)
    if places and not attribute.startswith(("work.", "home.", "schedule.", "habit.work", "note.")):
        words = set(_WORD.findall(told.lower()))
        if places.isdisjoint(words):
            return True
    here, there = (_CARERS.intersection(_WORD.findall(each.lower())) for each in (said, told))
    return bool(here and there) and here.isdisjoint(there)


def _names_none_of(said: str, told: str) -> bool:
    """Whether a sentence leaves out what a claim tells the sort of: "renamed it", of a side
    project."""
    low = set(_WORD.findall(said.lower()))
    return all(
        _WORD.findall(told[each.end() :].lower())[0] not in low for each in _SORTS.finditer(told)
    )


_PLAIN_SORTS = frozenset({"main"})
"""What is so of the one that somebody has unless another is named."""


def _found(pattern: re.Pattern[str], text: str) -> set[str]:
    return {each[each.lastgroup or 0].lower() for each in pattern.finditer(text)}


def owned_by_another(before: str, told: str) -> bool:
    """Whether the words before a noun say whose it is, and a claim without
    its value does not name them: "Dana's new"."""
    found = _OWNED.search(before)
    if found is None or found["owner"].lower() in _NO_OWNERS - OTHERS:
        return False
    words = {each.replace("’", "'").removesuffix("'s") for each in _WORD.findall(told.lower())}
    return found["owner"].lower() not in words


def fits_kind(old: str, new: str, said: str) -> bool:
    """Whether a new value is of the kind of the old: a name follows a name, and a passing state
    follows nothing."""
    first = new.split(maxsplit=1)[0].lower() if new.strip() else ""
    if first in _STATES and first not in old.lower().split():
        return False
    typed_low = not any(char.isupper() for char in re.sub(r"\bI\b", "", said[1:]))
    return not old[:1].isupper() or not new[:1].islower() or typed_low


def is_of_a_kind(value: str) -> bool:
    """Whether a value is a thing to use, eat or play: "switched from Google to DuckDuckGo"."""
    return any(kind.first and kind.names.fullmatch(value) for kind in KINDS)


def outlives(
    said: str, words: str, attribute: str, value: str, claim: str, new: str | None = None
) -> bool:
    """Whether a memory that these words name stays, since the sentence speaks of something else
    that is called so."""
    if _OF_PEOPLE.match(attribute) and (
        _OF_THINGS.search(said) or FOR_NOW.search(said) or (new and is_of_a_kind(new))
    ):
        return True
    if is_one_of_several(words.lower().split(), attribute, claim):
        return True
    low = {each.lower() for each in _WORD.findall(f"{claim} {attribute.replace('.', ' ')}")}
    parts = [each for each in _WORD.findall(value) if each.lower() in words.split()]
    for part in parts:
        found = re.search(
            rf"(?:(?P<kin>[^\W_]{{2,20}})(?:['’]s)? )?(?<!\w){re.escape(part)}(?!\w)", said, re.I
        )
        if found is None:
            continue
        kin = (found["kin"] or "").lower()
        if kin in OTHERS and kin not in _POINTING and kin not in low:
            return True  # "my cat Pixel died"
        longer = re.match(r" (?P<more>[A-ZÀ-Þ][^\W_]{1,30})(?!\w)", said[found.end() :])
        if part[:1].isupper() and longer and longer["more"].lower() not in low:
            return True  # "Microsoft Teams" is not Microsoft
    head = value.rsplit(maxsplit=1)[-1] if " " in value else ""
    return (
        attribute.startswith(("likes.", "prefers.", "favorite."))
        and head.islower()
        and value[:1].isupper()
        and head.lower() not in words.split()
    )


def is_one_of_several(named: Iterable[str], attribute: str, claim: str) -> bool:
    """Whether a claim lists others beside what these words (in lower case) name, so that it stands
    when that is gone: of "two cats, Pixel and Toast" there is Pixel still."""
    if attribute.startswith(_WHOLE) or _LIST.search(claim) is None:
        return False
    named = set(named)
    first, *rest = (each for each in _BETWEEN.split(claim) if each)
    begins = _LAST_ITEM.search(first)
    at = len(first) if begins is None else begins.start()
    if not named.isdisjoint(_words(first[:at])):
        return False  # "the cats", of "two cats"
    found = [each[0] for each in map(_AN_ITEM.match, [first[at:], *rest]) if each is not None]
    gone = [not named.isdisjoint(_words(each)) for each in found]
    return any(gone) and not all(gone)


def _words(text: str) -> list[str]:
    return [each.lower() for each in _WORD.findall(text)]


_WHOLE = ("work.", "home.", "identity.", "event.", "commitment.", "decision.")
"""Slots whose value is one thing, whatever its name."""
_LIST = compile_later(
    r"(?:(?<![.!?] )(?<!^)\b[A-ZÀ-Þ][\w'’-]*|\ban? [\w'’-]+(?: called [\w'’-]+)?)"
    r"(?:, [\w'’-]+){0,4},? and (?:[A-ZÀ-Þ]|an? )"
)
"""Names, or things, of which there are several."""
_BETWEEN = compile_later(r",? and |, ")
_AN_ITEM = compile_later(r"[A-ZÀ-Þ][\w'’-]*(?!\w)|an? [\w'’-]+(?: called [\w'’-]+)?")
_LAST_ITEM = compile_later(r"(?:(?<= )[A-ZÀ-Þ][\w'’-]*|(?<!\w)an? [\w'’-]+(?: called [\w'’-]+)?)$")


_POINTING = frozenset("his her their them him you your he she they who".split())
