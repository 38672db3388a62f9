"""Finds what a turn tells of the world as such: news, prices, weather, shows, clubs, what is so of
whole kinds and countries. No memory of the speaker. Pure.

What marks it is its subject, with what is said of it, and that nothing in the sentence ties it to
who says it. "we" ties nothing where it is said of a whole country. The words are data
(`rules/world.yaml`, and the names of `rules/public.yaml`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from beliefledger.gate.cues import Cues
from beliefledger.gate.literals import plain
from beliefledger.gate.rules.lexicon import WORDS, public_names
from beliefledger.gate.sentences import LONGEST, sentences
from beliefledger.ledger.late_patterns import compile_later

_FOLLOWING = 200
"""So many characters behind a name tell what it does."""

_CUES = Cues("rules/world.yaml")
_TIED = _CUES.pattern("tied")
_FELT = _CUES.pattern("felt")
_LEAD = compile_later(_CUES["parts"]["lead"] + r"(?:(?:the|that|this) )?(?:(?:new|latest|old) )?")
_WORD = compile_later(r"[^\W_][\w.&'-]*+")
_MOST = 4
"""So many words a public name has at most."""
_DOES = {
    kind: _CUES.pattern(f"{does} do")
    for does, kinds in {
        "clubs": ("clubs",),
        "companies": ("companies", "firms"),
        "products": ("products",),
        "places": ("places", "towns"),
        "persons": ("persons",),
        "players": ("players",),
        "contests": ("contests",),
    }.items()
    for kind in kinds
}
"""What those do in public who have the names of a kind, as the words behind the name tell."""


_OF_ALL = _CUES.table("people as such")
"""What is of nobody, whatever it is told with."""
_OF_THE_WORLD = _CUES.table("anybody", "whole kinds", "offices", "prices", "weather", "shows")
"""What is of nobody where nothing ties it to the speaker."""


def world_news(text: str) -> Iterator[tuple[int, int]]:
    """The sentences [start, end) of a turn that tell of the world, and of nobody in it whom the
    speaker knows."""
    if len(text) > LONGEST:
        return
    for start, end in sentences(text):
        if _is_news(plain(text[start:end])):
            yield start, end


def _is_news(low: str) -> bool:
    if any(_OF_ALL.found(low)):
        return True
    told = _FELT.sub(" ", low)
    if _TIED.search(told, _lead(told)) is not None:
        return False
    return any(_OF_THE_WORLD.found(told)) or _is_of_public_name(told)


def _lead(low: str) -> int:
    """Where the sentence itself begins: "i heard that …" ties nothing."""
    lead = _LEAD.match(low)
    return 0 if lead is None else lead.end()


def _is_of_public_name(low: str) -> bool:
    """Whether the subject has a name that everybody knows, and does what such a one does."""
    begin = _lead(low)
    names, at = _names(), begin
    for _ in range(_MOST):
        word = _WORD.match(low, at)
        if word is None:
            return False
        said = low[begin : word.end()]
        name = said if said in names else said.removesuffix("'s")
        until = begin + len(name)
        following = low[until : until + _FOLLOWING]
        if any(_DOES[kind].search(following) for kind in names.get(name, ())):
            return True
        at = word.end() + 1
    return False


@cache
def _names() -> dict[str, list[str]]:
    """The kinds of each public name."""
    found: dict[str, list[str]] = {}
    for kind in _DOES:
        for name in public_names(kind):
            found.setdefault(name, []).append(kind)
    for name in WORDS["places"]:
        found.setdefault(name, []).append("places")
    return found
