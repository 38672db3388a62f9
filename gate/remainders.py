"""What is left of several things that a memory lists, when one of them is gone: of "two cats, Pixel
and Toast" there is Toast. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from beliefledger.gate.meant_memories import stem
from beliefledger.ledger.late_patterns import compile_later

_BETWEEN = compile_later(r",? and | & |, ")
_WORD = compile_later(r"[^\W_]+(?:['’+#-][^\W_]+)*[+#]*")
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNTED = compile_later(
    rf"\b(?P<number>{'|'.join(_NUMBERS[2:])}|\d{{1,2}}) "
    r"(?P<of>(?:[a-z][\w-]* )?(?P<noun>[a-z][\w-]*s))\b"
)
_SO_MANY = compile_later(rf"(?:an?|\d{{1,2}}|{'|'.join(_NUMBERS[1:])}) ")
"""How each of several begins that are counted by themselves: "5 devs and one designer"."""
_ARTICLE = compile_later(r"\b(?:(?:an?|the|my|our|at|in|to|for|with) ){1,2}(?:[\w-]{1,30} ){0,3}\Z")
APPOSED = compile_later(
    r"an? [^,&]{2,30}, (?!(?:an?|the|one|two|my|our|some)\b)(?![^,]* and )[^,&]+\Z", re.I
)
"""A thing, and what it is besides: "a boat, 5m tinny"."""
_ARE = compile_later(r"(?<!\w)(?P<noun>[a-z][\w-]{1,30})s are \Z")
_BEHIND = compile_later(r" (?:called|named) [\w-]+")


class Left(NamedTuple):
    """What a claim says, and its value, without what is gone."""

    claim: str
    value: str


def is_list(text: str) -> bool:
    """Whether a text may list several things."""
    return _BETWEEN.search(text) is not None


def items(text: str) -> list[list[str]]:
    """The words of each thing that a text may list, in lower case; of the first the last ones,
    since what they are all of stands before it."""
    first, *rest = ([*_words(each)] for each in _BETWEEN.split(text))
    return [first[-_MOST_WORDS:], *rest]


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
    left = _without(value, gone)
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
    for each in _counted_down(left, 1):
        yield Left(lead + each + claim[end:], each)


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


def _without(value: str, gone: Sequence[str]) -> str | None:
    """A list without the item that some words name."""
    parts = list(_BETWEEN.split(value))
    marks = _BETWEEN.findall(value)
    if not marks:
        return None
    named = {stem(each) for each in gone}
    at = [i for i, part in enumerate(parts) if named <= {stem(w) for w in _words(part)}]
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
    ends = max(m.end() for m in _WORD.finditer(part) if stem(m[0].lower()) in named)
    behind = _BEHIND.match(part, ends)
    ends = ends if behind is None else behind.end()
    begins = min(m.start() for m in _WORD.finditer(part) if stem(m[0].lower()) in named)
    before, after = "", part[ends:]
    if here == first == 0:
        article = _ARTICLE.search(part[:begins])
        before = part[: begins if article is None else article.start()]
    if after and here != last:
        return None
    rest = [*parts[first:here], *parts[here + 1 :]]
    if not rest or (after and not rest[-1]):
        return None
    listed = rest[0] if len(rest) == 1 else ", ".join(rest[:-1]) + " and " + rest[-1]
    if "and" not in marks[-1] and any("and" in each for each in marks) and here:
        between = [*marks[first : here - 1], *marks[here:]]  # what follows the list is beside it
        listed = "".join(a + b for a, b in zip(rest, [*between, ""], strict=False))
    if leads:
        return f"{parts[0]}{marks[0]}{listed}{after}"
    if before.split() and before.split()[-1] == rest[0].split()[0]:
        before = before.rpartition(before.split()[-1])[0]
    return f"{before}{listed}{after}"


def _words(text: str) -> list[str]:
    return [each.lower() for each in _WORD.findall(text)]
