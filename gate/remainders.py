"""What is left of several things that a memory lists, when one of them is gone: of "two cats, Pixel
and Toast" there is Toast. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from beliefledger.gate import pairs
from beliefledger.gate.calendar_names import DAYS
from beliefledger.gate.rules.lexicon import AS_BASE, BASES, GIVEN, verb_form
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.networks.stems import stem

_BETWEEN = compile_later(r",? and | & | n |, ")
_WORD = compile_later(r"[^\W_]+(?:['’+#-][^\W_]+)*[+#]*")
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNTED = compile_later(
    rf"\b(?P<number>{'|'.join(_NUMBERS[2:])}|\d{{1,2}}) "
    r"(?P<of>(?:[a-z][\w-]* )?(?P<noun>[a-z][\w-]*s))\b"
)
_SO_MANY = compile_later(rf"(?:an?|\d{{1,2}}|{'|'.join(_NUMBERS[1:])}) ")
"""How each of several begins that are counted by themselves: "5 devs and one designer"."""
APPOSED = compile_later(
    r"an? [^,&]{2,30}, (?!(?:an?|the|one|two|my|our|some)\b)(?![^,]* and )[^,&]+\Z", re.I
)
"""A thing, and what it is besides: "a boat, 5m tinny"."""
_ONE = compile_later(
    r"(?:(?:my|our|the|user['’]s) )?(?:(?!(?:and|with|at|in|on|for|which|who|that|is|was)\b)"
    r"[\w'’-]{1,24} ){1,3}(?:is|was)(?: called| named)? (?P<one>[^,&]{1,40}), (?P<told>[^&]+)",
    re.I,
)
_ALSO_LISTED = compile_later(r"\band\b|\d|\b(?:mon|tue|wed|thu|fri|sat|sun)", re.I)
_ARE = compile_later(r"(?<!\w)(?P<noun>[a-z][\w-]{1,30})s are \Z")
_BEHIND = compile_later(r" (?:called|named) [\w-]+")


class Left(NamedTuple):
    """What a claim says, and its value, without what is gone."""

    claim: str
    value: str


def is_list(text: str) -> bool:
    """Whether a text may list several things."""
    return _BETWEEN.search(text) is not None


def is_of_one(claim: str) -> bool:
    """Whether a claim says of one thing what it is, and more of it, and lists nothing: "our lead is
    Marek, nice guy"."""
    found = _ONE.fullmatch(claim)
    return found is not None and _ALSO_LISTED.search(claim, found.start("one")) is None


def items(text: str, *, does: bool = False) -> list[list[str]]:
    """The words of each thing that a text may list, in lower case; of the first the last ones,
    since what they are all of stands before it. What `does` something begins with its verb."""
    first, *rest = _parted(text)[0]
    subject = (_VERB if does else _SUBJECT).match(first)
    said = _words(first)
    told = said if subject is None else _words(first[subject.end() :])
    return [_item(told)[-_MOST_WORDS:] or said[-1:], *(_item(_words(each)) for each in rest)]


def _item(words: list[str]) -> list[str]:
    """The words of an item without those that lead up to it."""
    begin = 0
    while begin < len(words) and words[begin] in _LEADING:
        begin += 1
    return words[begin:]


_MOST_WORDS = 3


def in_part(value: str, said: str, new: str) -> str | None:
    """A value of several parts, with another one in the place of the part that a sentence says to
    be left: "migrating off Heroku to AWS", of "Django + React on Heroku"."""
    parts = [each for each in _PARTS.split(value) if each]
    for found in _LEFT.finditer(said):
        old = found["old"].lower()
        at = next((each for each in parts if each.lower() == old), None)
        if at is not None and len(parts) > 1:
            return re.sub(rf"(?<!\w){re.escape(at)}(?!\w)", lambda _: new, value, count=1)
    return None


def with_what_it_has(value: str, new: str) -> str | None:
    """A thing with another of what it has, where both are of one kind: "a Thinkpad with Ubuntu", of
    which "on Fedora now" says no more. Without its article."""
    found = _HAS.fullmatch(value)
    if found is None:
        return None
    had, has = (pairs.rivals(tuple(each.lower().split())) for each in (found["has"], new))
    of_it = pairs.rivals(tuple(found["thing"].lower().split()))
    if any(kind in has and kind not in of_it for kind in had):
        return f"{found['thing']}{found['with']}{new}"
    return None


_HAS = compile_later(
    r"(?:an? )?(?P<thing>[^,]{2,40}?)(?P<with> (?:with|on|running) )(?:an? )?(?P<has>[^,]{2,24})",
    re.I,
)
_PARTS = compile_later(r",? and | ?[&+,/] ?| (?:on|with) (?:an? )?", re.I)
_LEFT = compile_later(
    r"\b(?:off|from|out of|replac(?:ed|ing)|swapp(?:ed|ing)|ditch(?:ed|ing)|dropp(?:ed|ing)|"
    r"instead of) (?:the |our |my )?(?P<old>[\w.#+-]{2,20})(?!\w)",
    re.I,
)


def without(claim: str, value: str, gone: Sequence[str]) -> Iterator[Left]:
    """What a claim says that lists several things, without the one that these words (in lower case)
    name; the fullest first. None where it lists no others."""
    if not gone:
        return
    begin = claim.find(value)
    end = begin + len(value)
    whose = _WHOSE.search(claim[: max(begin, 0)])
    if whose is not None:  # "their", of "brother Tom and Jess"
        begin, value = whose.start(), whose[0] + value
    left = _without(value, gone, does=begin < 0)
    if left is None:
        return
    if begin < 0:  # "go to yoga and pilates", of who goes there
        told = _without(claim, gone)
        if told is not None and _COUNTED.search(claim) is None:
            yield Left(told, left)
        return
    lead = claim[:begin]
    last = lead.split()[-1] if lead.split() else ""
    if last and left.startswith(f"{last} "):
        left = left.removeprefix(f"{last} ")  # "at Costa and at Lidl"
    if not is_list(left):
        lead = _ARE.sub(lambda found: f"{found['noun']} is ", lead)
    counted = _COUNTED.search(left)
    if counted is not None and any(map(_SO_MANY.match, _BETWEEN.split(value)[1:])):
        yield Left(lead + left + claim[end:], left)
        return
    for each in _counted_down(left, 1) if _counts_them(value) else (left,):
        bare = each if whose is None else each.removeprefix(whose[0])
        yield Left(lead + each + claim[end:], bare)


def _counts_them(value: str) -> bool:
    """Whether the number in a list tells how many it lists: not "40 viewers", of where somebody
    streams."""
    parts, _ = _parted(value)
    counted = _COUNTED.search(parts[0])
    if counted is None:
        return False
    return counted.end() == len(parts[0]) or _number(counted["number"]) == len(parts)


_WHOSE = compile_later(r"(?<!\w)(?:my|our|their|his|her) \Z", re.I)


def fewer(claim: str, value: str, count: int) -> Iterator[Left]:
    """What a claim says that tells how many there are, when so many are gone, nobody knows which;
    the fullest first."""
    begin = claim.find(value)
    found = _COUNTED.search(value)
    if begin < 0 or found is None:
        return
    rest = value[found.end() :]
    if _BETWEEN.search(rest) is not None:
        if _number(found["number"]) - count != 1 or len(_BETWEEN.findall(rest)) > 2:
            return
        rest = rest.replace(" and ", " or ")
        value, end = value[: found.end()] + rest, begin + len(value)
    else:
        end = begin + len(value)
    for each in _counted_down(value, count):
        yield Left(claim[:begin] + each + claim[end:], each)


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS.index(word)


def _counted_down(text: str, count: int) -> Iterator[str]:
    """A text with a smaller number of what it counts, or with none."""
    found = _COUNTED.search(text)
    if found is None:
        yield text
        return
    left = _number(found["number"]) - count
    if left < 1:
        return
    lead, rest = text[: found.start()], text[found.end() :]
    if left == 1:
        noun = found["of"].removesuffix("s")
        if noun.endswith("ie"):
            noun = noun.removesuffix("ie") + "y"
        yield f"{lead}{'an' if noun[:1] in 'aeiou' else 'a'} {noun}{rest}"
        yield f"{lead}one {noun}{rest}"
        return
    yield f"{lead}{left if found['number'].isdigit() else _NUMBERS[left]} {found['of']}{rest}"
    yield f"{lead}{found['of']}{rest}"


def _without(value: str, gone: Sequence[str], *, does: bool = False) -> str | None:
    """A list without the item that some words name. What `does` something begins with its verb:
    "bake bread and cakes"."""
    parts, marks = _parted(value)
    if not marks:
        return None
    named = {day_stem(each) for each in gone}
    at = [i for i, part in enumerate(parts) if named <= {day_stem(w) for w in _words(part)}]
    if len(at) != 1:
        return None
    [here] = at
    counted = _COUNTED.search(parts[0])
    leads = counted is not None and counted.end() == len(parts[0])
    leads = leads and not any(map(_SO_MANY.match, parts[1:]))
    if leads and here == 0:
        return None  # "the cats", of "two cats, Pixel and Toast"
    first, last = (1 if leads else 0), len(parts) - 1
    part = parts[here]
    there = [m for m in _WORD.finditer(part) if day_stem(m[0].lower()) in named]
    there = [m for m in there if m[0].lower() not in _LEADING] or there
    behind = _BEHIND.match(part, there[-1].end())
    ends = there[-1].end() if behind is None else behind.end()
    before, after = "", part[ends:]
    rest = [*parts[first:here], *parts[here + 1 :]]
    if not rest or (after and (here != last or not rest[-1])):
        return None
    if here == first == 0:
        kept = _led(part, [each.start() for each in there], rest[0], does=does)
        if kept is None:
            return None
        before = kept
    elif here != last:
        lead = part[: there[0].start()]
        if _PREPOSITIONS.search(lead) is not None and _OWN.match(rest[here - first]) is None:
            rest[here - first] = lead + rest[here - first]  # "works with", of Ana and Bob
    listed = rest[0] if len(rest) == 1 else ", ".join(rest[:-1]) + " and " + rest[-1]
    if "and" not in marks[-1] and any("and" in each for each in marks):
        # What follows the list is beside it.
        between = [*marks[first : max(here - 1, first)], *marks[max(here, first + 1) :]]
        listed = "".join(a + b for a, b in zip(rest, [*between, ""], strict=False))
    if leads:
        return f"{parts[0]}{marks[0]}{listed}{after}"
    return f"{before}{listed}{after}"


def _parted(value: str) -> tuple[list[str], list[str]]:
    """The parts of a list, and the marks between them. A name in apposition to the last thing is
    part of it: "my wife and our dog, Rex"."""
    parts, marks = list(_BETWEEN.split(value)), _BETWEEN.findall(value)
    beside = len(marks) > 1 and marks[-1] == ", " and "and" in marks[-2]
    if beside and _A_KIND.fullmatch(parts[-2]) and _A_NAME.fullmatch(parts[-1]):
        parts[-2:] = [f"{parts[-2]}, {parts[-1]}"]
        del marks[-1]
    return parts, marks


_A_KIND = compile_later(r"(?:an?|my|our|their|his|her) (?:[a-z-]{2,20} ){0,2}[a-z-]{2,20}")
_A_NAME = compile_later(r"[A-ZÀ-Þ][\w-]{1,20}\W*")


def _led(part: str, starts: Sequence[int], following: str, *, does: bool) -> str | None:
    """What stands before the first item of a list, as the next item goes on from it: "in a flat
    with", of Jess and Tom. None where that is not clear."""
    subject = (_VERB if does else _SUBJECT).match(part)
    if subject is None:
        return _up_to(part[: starts[0]], following)
    words = following.split()
    if _is_verb(words[0].lower()) and len(words) > 1:
        if _PREPOSITIONS.match(words[1] + " ") is not None:
            return None  # "food and drinks at the market"
        return part[: subject.start("verb")]  # "smoke a pipe and drink beer"
    behind = [each for each in starts if each >= subject.end()]
    if not behind:
        return _up_to(part[: starts[0]], following)
    kept = _up_to(part[subject.end() : behind[0]], following)
    return None if kept is None else part[: subject.end()] + kept


def _up_to(before: str, following: str) -> str | None:
    """The words before an item without those that the next item has of its own: an article, a
    preposition, and what stands between them and the item."""
    own = _OWN.match(following)
    if own is not None and own["by"]:
        there = list(_PREPOSITIONS.finditer(before))
        same = [each for each in there if each[0].split() == own["by"].lower().split()]
        if there:
            return before[: (same or there)[-1].start()]
    called = _CALLED.search(before)
    if called is not None:
        whole = _A_CALLED.search(before)
        if own is not None:
            return None if whole is None else before[: whole.start()]
        return before if whole is None else None
    found = _DETERMINED.search(before)
    if found is None:
        return before
    theirs = found["words"].split()
    name = following[:1].isupper() or following.partition(" ")[0].lower() in GIVEN
    if own is not None or (theirs and name):
        return before[: found.start()]
    if theirs and theirs[-1].endswith(("'s", "’s")):
        return before  # "my mum's cat and dog"
    if found["of"].lower() not in ("a", "an"):
        return before[: found.end("of") + 1]
    if following.endswith("s"):
        return before[: found.start()]
    return f"{before[: found.start()]}{'an' if following[:1].lower() in 'aeio' else 'a'} "


def _is_verb(low: str) -> bool:
    return low in BASES or verb_form(low)[1] in AS_BASE


_BY = r"at|in|on|to|for|with|from|by|about|into|near"
_LEADING = frozenset((*_BY.split("|"), *"a an the my our their his her your some".split()))
_PREPOSITIONS = compile_later(rf"(?<!\w)(?:{_BY}) ", re.I)
_OWN = compile_later(
    rf"(?:(?P<by>(?:{_BY}) )|(?:an?|the|my|our|their|his|her|your|some|one|two|three|\d) )", re.I
)
"""How an item begins that stands by itself."""
_DETERMINED = compile_later(
    r"\b(?P<of>an?|the|my|our|their|his|her|your|some) "
    rf"(?P<words>(?:(?!(?:{_BY}) )[\w'’-]{{1,30}} ){{0,3}})\Z",
    re.I,
)
_CALLED = compile_later(r"\b(?:called|named) \Z")
_A_CALLED = compile_later(
    r"\b(?:an?|the|my|our|their|his|her) "
    rf"(?:(?!(?:{_BY}) )[\w'’-]{{1,30}} ){{1,2}}(?:called|named) \Z",
    re.I,
)
_HOW_OFTEN = r"(?:(?:also|still|just|really|usually|often|mostly|currently|only) ){0,2}"
_SUBJECT = compile_later(
    r"(?:(?:user|i|we)|(?:user['’]s|my|our) [\w-]{1,30}(?: (?-i:[A-ZÀ-Þ])[\w-]{1,30})?) "
    rf"{_HOW_OFTEN}(?P<verb>[\w'’]{{1,30}}) ",
    re.I,
)
_VERB = compile_later(r"(?P<verb>[\w'’]{1,30}) ")


_DAYS = {short: day for day in DAYS for short in (day, day[:3])} | {
    "tues": "tuesday", "weds": "wednesday", "thur": "thursday", "thurs": "thursday"
}  # fmt: skip


def day_stem(word: str) -> str:
    """The stem of a word, or the day that it is short for: "fri" and "Fridays" are one."""
    return _DAYS.get(word) or _DAYS.get(word.removesuffix("s")) or stem(word)


def _words(text: str) -> list[str]:
    return [each.lower() for each in _WORD.findall(text)]
