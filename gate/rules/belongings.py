"""What the user's things are, cost and where they are; and things that are only named in passing:
"my 2016 Polo", "my studio in Harajuku", "my job as a nurse"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from beliefledger.gate.dates import find_when
from beliefledger.gate.rules.findings import NEVER, Reading, RuleFinding, capped
from beliefledger.gate.rules.lexicon import AS_PARTICIPLE, NEAR, WORDS, load, verb_form
from beliefledger.gate.rules.owned_things import between, owned
from beliefledger.gate.rules.patterns import PERSONS, is_job
from beliefledger.gate.rules.phrases import (
    phrase_end,
    pointing,
    singular,
    slug,
    text_of,
    tidy,
    trim,
)
from beliefledger.gate.rules.renewals import KINDS as PRODUCTS
from beliefledger.gate.rules.slot_values import is_lived_in
from beliefledger.gate.rules.words import Token, clause_end
from beliefledger.ledger.candidate import SpeechAct
from beliefledger.ledger.late_patterns import compile_later

_DATA: dict[str, Any] = load("belongings.yaml")
_PERSONAL = frozenset(_DATA["personal"].split())
_THINGS = frozenset(_DATA["things"].split())
_HOMES = frozenset(_DATA["homes"].split())
_NOT_NOW = frozenset(_DATA["not_now"].split())
_YEAR = compile_later(r"(?:19|20)\d\d$")
_LINKS = frozenset(
    {"is", "are", "was", "were", "costs", "cost", "starts", "ends", "moved", "takes", "has"}
)
_OF = frozenset({"of"})
_MODELS = WORDS["brands"] | frozenset(_DATA["models"].split())
_CHILDREN = frozenset({"kids", "children", "sons", "daughters", "boys", "girls", "grandkids"})
_COUNTS = frozenset("two three four five six seven eight nine ten 2 3 4 5 6 7 8 9 10".split())


def findings(reading: Reading, my: int) -> Iterator[RuleFinding]:
    """Statements about what comes after the "my" or "our" at token `my`."""
    yield from _value(reading, my)
    yield from _home(reading, my)
    yield from _job(reading, my)
    yield from _model(reading, my)
    yield from _children(reading, my)
    yield from _occasion(reading, my)


def _value(reading: Reading, my: int) -> Iterator[RuleFinding]:
    """ "My rent is 1200", "my commute is 40 minutes", "our office moved to Leeds"."""
    words = reading.words
    if my and words[my - 1].low not in WORDS["openers"] | {"that"}:
        return
    link = next((i for i in range(my + 2, min(my + 6, len(words))) if words[i].low in _LINKS), 0)
    if not link or link + 1 >= len(words):
        return
    noun = [word.low for word in words[my + 1 : link]]
    begins = my + 1
    if len(noun) > 1 and noun[0] in ("new", "current"):  # "my new office" is the office
        begins, noun = begins + 1, noun[1:]
    if any(not low[0].isalnum() or low in WORDS["prepositions"] for low in noun):
        return
    if not _WHO.isdisjoint(noun):
        return  # "my dad who is 82 and has …" says more of him than this
    if noun[0] in WORDS["not_mine"] | {"friend", "previous"} or noun[-1] in WORDS["abstract"]:
        return
    of_others = any(low.endswith("'s") or low in NEAR for low in (noun[0], noun[-1]))
    if of_others and noun[-1] != "team":
        return
    verb, now = words[link].low, words[my + 1].low == "new" and begins > my + 1
    begin, stop = trim(words, link + 1, clause_end(words, link + 1, "present"))
    if begin < stop and words[begin].low == "me" and verb in ("cost", "costs"):
        begin += 1
    if begin >= stop or stop - begin > 8 or pointing(words, begin, stop):
        return
    first = words[begin]
    if verb == "has":
        if words[my].low == "my":
            return  # read as a figure
        counted = first.low.isdigit() or first.low in _COUNTS
        if not counted or stop - begin < 2 or not tidy(words, begin, stop, 6):
            return
        noun.append("has")
    named = any(t.text[0].isupper() or t.text[0].isdigit() for t in words[begin:stop])
    money = first.low in "$€£"
    head = noun[-1]
    if verb == "has":
        pass
    elif verb == "moved":
        if head not in ("office", "company", "team", "school", "gym", "studio", "club", "church"):
            return
        if first.low != "to" or not named:
            return
        begin, stop = begin + 1, phrase_end(words, begin + 1, stop, _OF)
    elif head in _PERSONAL:
        if first.low in WORDS["pronouns"] | {"not", "so", "really", "very", "when", "how"}:
            return
        if first.low in ("to", "that") and head != "goal":
            return
        if head in _NAMED and first.low in ("called", "named") and begin + 1 < stop:
            first = words[begin := begin + 1]
        if _tells_no_value(head, words[begin:stop], named=named):
            return
        if head in _NARROW:
            while stop - 1 > begin and words[stop - 1].low in _NOW:
                stop, now = stop - 1, True
            if not _is_named(words[begin:stop]):
                return
    elif head in _THINGS:
        if not (named or money or first.low in ("a", "an") or words[stop - 1].low == "floor"):
            return
        if head in _HOMES and words[stop - 1].low == "floor":
            pass
        elif words[begin].low in ("located", "based", "situated", "in", "at", "on", "near"):
            return  # read by where it is
    elif not money and (not first.text[0].isdigit() or head in _TECHNICAL):
        return
    told_what = first.text[0].isupper() or first.low in ("a", "an")
    if verb in ("is", "are") and told_what and head in _THINGS and not money:
        return  # read by what a thing is
    if begin >= stop or (first.low.endswith("ing") and not head.endswith(("y", "ies"))):
        return
    told = capped(between(reading, my + 1, stop))
    key = "price" if (verb in ("cost", "costs") or money) and head not in _PERSONAL else ""
    thing = slug(text_of(reading.content, words, begins, link), 4)
    if verb == "has":
        while stop - 1 > begin + 1 and words[stop - 1].low in _NOW:
            stop -= 1
        now = now or (stop < len(words) and words[stop].low in _NOW)
        told = capped(between(reading, my + 1, stop))
        key = singular(slug(words[stop - 1].low))
    value = text_of(reading.content, words, begin, stop)
    dated = find_when(value, reading.said_at, future=True)
    past = verb in ("was", "were") and (dated is None or noun[0] in _NOT_NOW)
    finding = owned(
        reading, my, stop, f"User's {told}", "fact",
        f"thing.{thing}.{key}" if key else f"thing.{thing}", value, 550,
    )  # fmt: skip
    yield finding._replace(
        confidence=800,
        act=SpeechAct.CHANGE if now or verb == "moved" else None,
        when=NEVER if dated is None or past or _yearly(noun[-1]) else dated.when,
    )


_WHO = frozenset({"who", "that", "which", "whose"})


def _yearly(noun: str) -> bool:
    """Whether a date of this comes every year: it is the value, not when that begins to hold."""
    return noun in ("anniversary", "birthday", "bday", "nameday")


_NOW = frozenset({"now", "nowadays", "currently", "already"})
_BLAND = frozenset(
    "good great bad fine ok okay nice terrible awful broken dead gone full empty slow fast down"
    " up here there ready done late early important clear simple complete working running still"
    " also correct wrong right based limited low high tight unknown private secret".split()
)


_PASSING = frozenset(_DATA["passing"].split())
"""How something is for the moment, or what somebody thinks of it."""
_NUMBERS = _COUNTS | frozenset(
    "a an half one twelve eleven fifteen twenty thirty forty fifty hundred thousand".split()
)
_NAMED = frozenset(_DATA["named"].split())
"""Of these, the value is a name."""
_NARROW = frozenset(_DATA["narrow"].split())
"""Of these, the value is a name, a figure, or a product that is known: "my editor is vim"."""
_COUNTED = frozenset(_DATA["counted"].split())
"""Of these, the value has a number."""


def _noun(words: list[Token], my: int, heads: frozenset[str]) -> int:
    """The first of `heads` after "my", with nothing but adjectives before it; 0 without one."""
    for at in range(my + 1, min(my + 6, len(words))):
        low = words[at].low
        if low in heads:
            return at
        if not words[at].text[0].isalnum() or low in _NOT_NOW or low in WORDS["prepositions"]:
            return 0
        if low.endswith("'s") or low in WORDS["subject_words"] or low in WORDS["auxiliaries"]:
            return 0
        if low in PERSONS:
            return 0  # "my landlord is renovating the flat"
    return 0


def _is_named(value: Sequence[Token]) -> bool:
    """Whether words are a name, a figure, a day, or a product that is known."""
    at = 0
    while at < len(value) - 1 and value[at].low in _BEFORE_NAMES:
        at += 1
    first = value[at]
    return (
        first.text[0].isupper()
        or first.text[0].isdigit()
        or any(kind.first and kind.names.fullmatch(first.low) for kind in PRODUCTS)
        or _DAY.fullmatch(first.low) is not None
    )


_BEFORE_NAMES = frozenset("the on at with now still called line number no currently".split())
_DAY = compile_later(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekdays|weekends")


def _tells_no_value(head: str, value: Sequence[Token], *, named: bool) -> bool:
    """Whether words say how something goes, and not what it is: "closed for refurb" of a gym, "due"
    of the rent."""
    low = value[0].low
    if named and not low.islower():
        return False
    if head in _COUNTED:
        return not any(word.text[0].isdigit() or word.low in _NUMBERS for word in value) and (
            low not in ("with", "from", "nothing", "zero", "free") or len(value) == 1
        )
    if not named and (low in _BLAND or low in _PASSING):
        return True
    if head in _NAMED and low in WORDS["prepositions"]:
        return True
    happened = verb_form(low)[1] in AS_PARTICIPLE and low.endswith(("ed", "en", "ought"))
    return happened and head != "hair" and not value[0].text[0].isupper()


_LEFT = frozenset("left leave leaving vacated up".split())


def _home(reading: Reading, my: int) -> Iterator[RuleFinding]:
    """ "My new studio apartment in Harajuku"; "my one-bedroom flat"."""
    words = reading.words
    at = _noun(words, my, _HOMES)
    before = [word.low for word in words[:my]]
    left = (before[-1:] and before[-1] in _LEFT) or before[-2:] == ["out", "of"]
    if not at or left or not WORDS["parting"].isdisjoint(before):
        return  # "I sold my flat in Leeds": it is not where one lives
    if words and not is_lived_in(reading.content[words[0].start : words[-1].end]):
        return
    after = words[at + 1].low if at + 1 < len(words) else ""
    if after in _HOMES:  # "studio apartment"
        at += 1
        after = words[at + 1].low if at + 1 < len(words) else ""
    if after in ("in", "near") and at + 2 < len(words) and words[at + 2].text[0].isupper():
        end = at + 2
        while end < min(len(words), at + 5) and words[end].text[0].isupper():
            end += 1
        value = text_of(reading.content, words, at + 2, end)
        key = "home.location" if after == "in" else "home.near"
        claim = f"User's {between(reading, my + 1, at + 1)} is {between(reading, at + 1, end)}"
        new = "new" in (word.low for word in words[my + 1 : at])
        yield owned(reading, my, end, claim, "fact", key, value, 700)._replace(
            confidence=850 if new else 800, topic="home", act=SpeechAct.CHANGE if new else None
        )
    begin = my + 1
    while begin < at and words[begin].low in WORDS["passing"]:
        begin += 1
    if at - begin < 1 or (after.isalpha() and after not in _ENDS):
        return
    if any(w.low in ("whole", "entire", "parents") for w in words[begin:at]):
        return
    value = text_of(reading.content, words, begin, at + 1)
    yield owned(
        reading, my, at + 1, f"User has a {value}", "fact", "home.type", value, 500
    )._replace(confidence=750, topic="home")


_ENDS = (
    WORDS["prepositions"] | WORDS["clause_words"] | WORDS["cutters"] | {"and", "or", "is", "has"}
)


_LEFT = frozenset(
    "quit left leave leaving lost lose resigned from quitting before after at in".split()
)


def _job(reading: Reading, my: int) -> Iterator[RuleFinding]:
    """ "My job as a nurse", "my role at Bosch"."""
    words = reading.words
    if my and words[my - 1].low in _LEFT:
        return
    at = my + 1
    while at < len(words) and words[at].low in ("current", "new", "day", "full-time", "part-time"):
        at += 1
    if at + 2 >= len(words) or words[at].low not in ("job", "work", "role", "position", "career"):
        return
    low = words[at + 1].low
    if low == "as" and words[at + 2].low in ("a", "an", "the"):
        begin = at + 3
        stop = begin
        while (
            stop < min(len(words), begin + 5)
            and words[stop].text[0].isalnum()
            and (
                words[stop].low not in WORDS["prepositions"]
                and words[stop].low not in ("and", "is")
            )
        ):
            stop += 1
        if begin < stop and is_job(words[stop - 1].low) and tidy(words, begin, stop, 5):
            claim = f"User is {between(reading, begin - 1, stop)}"
            value = text_of(reading.content, words, begin, stop)
            yield owned(reading, my, stop, claim, "fact", "work.role", value, 800)._replace(
                confidence=850, topic="work"
            )
    elif low in ("at", "with") and words[at + 2].text[0].isupper():
        end = at + 2
        while end < min(len(words), at + 6) and words[end].text[0].isupper():
            end += 1
        claim = f"User's {between(reading, my + 1, at + 1)} is {between(reading, at + 1, end)}"
        value = text_of(reading.content, words, at + 2, end)
        yield owned(reading, my, end, claim, "fact", "work.employer", value, 800)._replace(
            confidence=850, topic="work"
        )


def _model(reading: Reading, my: int) -> Iterator[RuleFinding]:
    """ "My 2016 Polo": a year and a name."""
    words = reading.words
    at = my + 1
    while at < len(words) and words[at].low in WORDS["passing"]:
        at += 1
    if at + 1 >= len(words) or not _YEAR.match(words[at].low):
        return
    if not words[at + 1].text[0].isupper() and words[at + 1].low not in _MODELS:
        return
    end = at + 1
    while end < min(len(words), at + 5) and (
        words[end].text[0].isupper() or words[end].low in _MODELS
    ):
        end += 1
    if words[end - 1].low.endswith("'s") or words[at + 1].low in WORDS["time_units"]:
        return
    value = text_of(reading.content, words, at, end)
    yield owned(
        reading, my, end, f"User has a {value}", "fact", f"has.{slug(value)}", value, 500
    )._replace(confidence=800)


def _children(reading: Reading, my: int) -> Iterator[RuleFinding]:
    """ "My two kids"; "my 5-year-old"."""
    words = reading.words
    if my + 2 >= len(words):
        return
    low, following = words[my + 1].low, words[my + 2].low
    if low in _COUNTS and following in _CHILDREN:
        value = text_of(reading.content, words, my + 1, my + 2)
        claim = f"User has {between(reading, my + 1, my + 3)}"
        yield owned(reading, my, my + 3, claim, "fact", "family.children", value, 800)._replace(
            confidence=850, topic="family"
        )
    elif low.endswith(("-year-old", "-yr-old", "-month-old")) and following in (
        "son", "daughter", "kid", "twins", "boy", "girl", "toddler", "dog", "cat", "puppy", "baby",
    ):  # fmt: skip
        value = text_of(reading.content, words, my + 1, my + 3)
        claim = f"User has a {value}"
        yield owned(reading, my, my + 3, claim, "fact", f"has.{following}", value, 600)._replace(
            confidence=850, topic="family"
        )


_WHEN = frozenset("upcoming next recent last previous".split())
_OCCASIONS = frozenset(
    "trip vacation holiday holidays wedding honeymoon surgery exam interview race marathon"
    " conference appointment visit tour cruise retreat graduation recital test scan checkup move"
    " anniversary marathons triathlon".split()
)
_SAID_OF_IT = frozenset(
    "and or fell falls got gets went goes came comes cost costs starts started begins began ends"
    " ended turned".split()
)
"""What goes on behind where an occasion is: "our trip to Japan fell through"."""
_OFF = compile_later(
    r"fell (?:through|apart|flat)|(?:got|gets?|was|is|has been|been) (?:being )?(?:called off|off\b"
    r"|cancell?ed|scrapped|shelved)|came to nothing",
    re.I,
)
_TECHNICAL = frozenset(
    "code array list function variable output input result answer question port version error"
    " index count number query script program table column row value total example data file id"
    " order model average sum guess point essay paper text response first second"
    " option choice".split()
)


def _occasion(reading: Reading, my: int) -> Iterator[RuleFinding]:
    """ "My upcoming trip to the mountains", "our last holiday in Crete"."""
    words = reading.words
    lead = words[my + 1].low if my + 1 < len(words) else ""
    at = next((i for i in range(my + 1, min(my + 6, len(words))) if words[i].low in _OCCASIONS), 0)
    if not at or any(
        not word.text[0].isalnum() or word.low.endswith("'s") for word in words[my + 1 : at]
    ):
        return
    if any(word.low in WORDS["prepositions"] | WORDS["auxiliaries"] for word in words[my + 1 : at]):
        return
    end = at + 1
    named = False
    if end + 1 < len(words) and words[end].low in ("to", "in", "with", "at"):
        stop = phrase_end(words, end + 1, min(len(words), end + 7), _OF)
        stop = next(
            (
                i
                for i in range(end + 1, stop)
                if not words[i].text[0].isalnum()
                or words[i].low in WORDS["subject_words"] | WORDS["clause_words"] | _SAID_OF_IT
            ),
            stop,
        )
        named = any(word.text[0].isupper() for word in words[end + 1 : stop])
        if stop > end + 1 and (named or lead in _WHEN) and not pointing(words, end + 1, stop):
            end = stop
    if not named and (lead not in _WHEN or end - my < 4):
        return
    if end < len(words) and _OFF.match(reading.content, words[end].start):
        return
    had = lead in ("recent", "last", "previous")
    value = text_of(reading.content, words, my + 1, end)
    vowel = value[0].lower() in "aeiou"
    yield owned(
        reading, my, end, f"User {'had' if had else 'has'} {'an' if vowel else 'a'} "
        f"{between(reading, my + 1, end)}", "event", "event.happened" if had else "event.plan",
        value, 400,
    )._replace(confidence=750)  # fmt: skip
