"""The health of somebody else, told in passing: "Stefan has nut allergy", "my son's coeliac".

What is found is of a special category: the gate keeps it where a grant names that, and otherwise
asks a person. Of a sentence in which another rule has found as much nothing more is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from beliefledger.gate.rules import third_parties
from beliefledger.gate.rules.findings import RuleFinding
from beliefledger.gate.rules.lexicon import GIVEN, expanded, load
from beliefledger.gate.rules.patterns import is_job
from beliefledger.gate.rules.phrases import slug
from beliefledger.gate.rules.sensitive import category_of
from beliefledger.gate.sentences import is_question
from beliefledger.ledger.candidate import SELF
from beliefledger.ledger.late_patterns import compile_later

HEALTH = "health"
LONGEST = 200
"""The longest sentence that is looked at, in characters."""
_DATA: dict[str, Any] = load("others_health.yaml")
_SAYS = tuple(compile_later(expanded(each, _DATA["parts"]), re.I) for each in _DATA["says"])
_STOP = compile_later(_DATA["stop"], re.I)
_UNSURE = compile_later(_DATA["unsure"], re.I)
_PERSONAL = compile_later(expanded(_DATA["personal"], _DATA["parts"]), re.I)
_HINTS = tuple(_DATA["hints"].split())
_FIRST = compile_later(r"\W*+([^\W\d_]++)")
_IS = frozenset({"is", "are", "was", "were"})
_HAS = {"'s got": "has", "’s got": "has", "s got": "has"}


def may_be_in(text: str) -> bool:
    """Whether a text begins with a name typed without a capital, and has a word of illness."""
    low = text.lower()
    first = _FIRST.match(low)
    return first is not None and first[1] in GIVEN and any(map(low.__contains__, _HINTS))


def findings(
    content: str, start: int, end: int, found: Sequence[RuleFinding]
) -> Iterator[RuleFinding]:
    """What the sentence content[start:end] tells of somebody's health, beyond what was `found`."""
    text = content[start:end]
    if len(text) > LONGEST or is_question(text):
        return
    if any(each.category or category_of(each.claim) == HEALTH for each in found):
        return
    for pattern in _SAYS:
        for said in pattern.finditer(text):
            finding = _told(content, start, said)
            if finding is not None:
                yield finding
                return


def _told(content: str, offset: int, said: re.Match[str]) -> RuleFinding | None:
    name = said["named"]
    if name is not None and not _is_name(name):
        return None
    if _UNSURE.search(said.string, 0, _begin(said)) is not None:
        return None
    rest = said["rest"]
    stop = _STOP.search(rest)
    rest = (rest if stop is None else rest[: stop.start()]).rstrip(" ,:-'’\"")
    verb = said["verb"].lower()
    verb = _HAS.get(verb, verb) or "is"
    who, key = _whom(said)
    claim = f"{who} {verb} {rest}"
    if not rest or category_of(f"{SELF} {verb} {rest}") != HEALTH:
        return None
    if any(map(is_job, rest.lower().split()[1:4])) and rest[:2].lower() in ("a ", "an"):
        return None  # "a cardiologist in Leeds"
    if name is not None and not _is_of_somebody(name, rest, claim):
        return None
    begin = _begin(said)
    state = "is" if verb in _IS else "has" if verb in ("has", "have", "had") else slug(verb, 2)
    value = content[offset + said.start("rest") : offset + said.start("rest") + len(rest)]
    return RuleFinding(
        content, offset + begin, offset + said.start("rest") + len(rest), claim, "fact",
        f"{key}{state}.{slug(rest, 5)}", value, 700, 850, category=HEALTH,
        entity=SELF if name is None else name[:1].upper() + name[1:],
    )  # fmt: skip


def _is_of_somebody(name: str, rest: str, claim: str) -> bool:
    """Whether words are said of a person of that name, and of nobody in the public eye."""
    if category_of(name) is not None or third_parties.worldly(name, claim):
        return False
    return name.lower() in GIVEN or _PERSONAL.search(rest) is not None


def _begin(said: re.Match[str]) -> int:
    """Where the words begin that say who it is."""
    return min(at for group in ("owner", "bare", "named") if (at := said.start(group)) >= 0)


def _whom(said: re.Match[str]) -> tuple[str, str]:
    """Who it is, as a claim says it, and how the attribute begins."""
    if said["named"] is not None:
        return said["named"][:1].upper() + said["named"][1:], ""
    if said["bare"] is not None:
        bare = said["bare"].lower().removeprefix("the ")
        who = f"User's {bare}"
        if bare.startswith("one of"):
            who = f"One of User's {bare.rsplit(maxsplit=1)[-1]}"
        return who, f"relation.{slug(bare, 4)}."
    whole = said.string[said.end("owner") + 1 : said.end("kin")]
    groups = said.groupdict()
    called = groups.get("called")
    who = f"User's {whole}" if called is None else f"User's {whole} {called}"
    return who, f"relation.{slug(said['kin'], 3)}."


def _is_name(word: str) -> bool:
    """Whether a word may be somebody's name."""
    low = word.lower()
    if word[0].isupper():
        return third_parties.may_be_name(low)
    return low in GIVEN
