"""Names told after who has them: "my cleaner comes on Mondays, her name is Rosa"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from beliefledger.gate.rules.findings import Reading, RuleFinding
from beliefledger.gate.rules.lexicon import MANY, ONE, PETS
from beliefledger.gate.rules.owned_things import between, owned
from beliefledger.gate.rules.patterns import is_role
from beliefledger.gate.rules.phrases import slug, text_of
from beliefledger.gate.rules.possessives import name_end, relation_key, topic_of_noun
from beliefledger.gate.rules.words import Token
from beliefledger.ledger.late_patterns import compile_later

MARKS = frozenset({"name", "name's", "names", "called", "named"})
"""Words of which one is in every sentence that tells a name so."""


_SINCE = 3


def findings(reading: Reading, since: int = _SINCE) -> Iterator[RuleFinding]:
    """ "My cleaner comes on Thursdays, her name is Rosa", "a puppy called Wilf".

    Only names behind token `since` are looked for: the words before may be of the last sentence.
    """
    words = reading.words
    for at in range(since, len(words) - 1):
        begin = _name_begin(words, at)
        if begin is None:
            continue
        end = name_end(words, begin) if begin < len(words) else begin
        whose = _antecedent(words, at)
        if end == begin or whose is None:
            continue
        my, noun = whose
        name = text_of(reading.content, words, begin, end)
        key = words[noun].low
        is_ = "was named" if begin == at + 2 and words[at].low in _NAMED else "is called"
        what = between(reading, my + 1, noun + 1).removeprefix("New ")
        claim = f"User's {what} {is_} {name}"
        # "Adopted a dog, he's called Bo": that it is the speaker's stands before the article.
        told = 0 if since == _SINCE and words[my].low in _A and begin > noun + 2 else my
        if told < my and words[0].start == words[0].end:  # it goes without "I"
            claim = f"User: {reading.content[words[0].start : words[end - 1].end]}"
        yield owned(
            reading, told, end, claim, "relation",
            relation_key(key, [], name) or (
                f"relation.{key}.{slug(name)}" if key in MANY else f"relation.{key}.name"
            ),
            name, 700,
        )._replace(topic=topic_of_noun(key), participants=(name,), confidence=850)  # fmt: skip


def of_the_last(reading: Reading, before: list[Token]) -> Iterator[RuleFinding]:
    """The name of whom the sentence before told: "We got a puppy! He's called Wilf."."""
    words = reading.words
    first = next((at for at, word in enumerate(words) if word.low not in _OPENING), len(words))
    if words[first : first + 1] and words[first].low in ("name", "name's", "names"):
        begin = words[first].start  # "Got a kitten!! Name is Miso"
        words = [*words[:first], Token("its", "its", begin, begin), *words[first:]]
        reading = reading._replace(words=words)
    if not _SOMEBODY.isdisjoint(word.low for word in before):
        yield from _met(reading, before, first)
        return  # "My sister met someone. His name is …" names no sister
    born = _BORN.match(reading.content[before[0].start : before[-1].end]) if before else None
    if born is not None and _OF_OTHERS.search(reading.content, 0, before[0].start) is None:
        yield from _called(reading, before, first, _CHILD[born["kid"].lower()])
        return
    if (
        first < len(words)
        and words[first].low in _REFERRING
        and _antecedent(words, len(words)) is None
    ):
        both = reading._replace(words=[*before, *words])
        for finding in findings(both, len(before) + first):
            # "He's called" says nothing of the speaker; "we got" before it does.
            yield finding if words[first].low in _A else finding._replace(start=before[0].start)


def _met(reading: Reading, before: list[Token], first: int) -> Iterator[RuleFinding]:
    """ "Met someone. His name is Matthias."."""
    words, content = reading.words, reading.content
    met = _MET.match(content[before[0].start : before[-1].end])
    there = _name_of_them(words, first)
    if met is None or there is None:
        return
    begin, end = there
    name = text_of(content, words, begin, end)
    told = met["told"]
    how = {"met": "met", "found": "found"}.get(met["verb"].split()[-1].lower(), "")
    how = how or f"is {met['verb'].lower()}"
    yield RuleFinding(
        content, before[0].start, words[end - 1].end, f"User {how} {told} called {name}",
        "relation", "relation.partner.name", name, 700, confidence=850, topic="family",
        participants=(name,),
    )  # fmt: skip


def _called(reading: Reading, before: list[Token], first: int, kin: str) -> Iterator[RuleFinding]:
    """ "It's a girl! Her name is Signe."."""
    there = _name_of_them(reading.words, first)
    if there is None:
        return
    name = text_of(reading.content, reading.words, *there)
    end = reading.words[there[1] - 1].end
    yield RuleFinding(
        reading.content, before[0].start, end, f"User's {kin} is {name}", "relation",
        f"relation.{kin}.name", name, 700, confidence=850, topic="family", participants=(name,),
    )  # fmt: skip


def _name_of_them(words: list[Token], first: int) -> tuple[int, int] | None:
    """Where the name stands in "her name is Signe", "he's called Bo"."""
    begin = first + 1
    if begin >= len(words) or words[first].low not in _THEIRS | _SHORT | _SUBJECT:
        return None
    begin += words[first].low in _SUBJECT and words[begin].low == "is"
    if words[begin].low not in MARKS:
        return None
    begin += 1
    begin += words[begin : begin + 1] != [] and words[begin].low == "is"
    end = name_end(words, begin) if begin < len(words) else begin
    return None if end == begin else (begin, end)


_OF_OTHERS = compile_later(
    r"\b(?:sister|brother|sis|friend|mate|cousin|niece|daughter|neighbou?r|colleague|boss|aunt|"
    r"she|they|he)\b",
    re.I,
)
"""Whose child it may be."""
_CHILD = {"girl": "daughter", "boy": "son"}
_BORN = compile_later(
    r"\W*(?:(?:so|and|btw|news|update|guess what|omg|oh|well|yay|finally|good news|big news)\b"
    r"[,:!. ]*){0,2}(?:it['’]?s|it is|it was|(?:i|we)(?: just)? had|just had|had|got) an? "
    r"(?:beautiful |healthy |little |baby |tiny ){0,2}(?P<kid>girl|boy)\W*$",
    re.I,
)
_SOMEBODY = frozenset({"someone", "somebody"})
_MET = compile_later(
    r"\W*(?:(?:so|and|btw|news|update|guess what|omg|oh|well|finally|good news|"
    r"big news)\b[,:!. ]*){0,2}"
    r"(?:(?:i['’]?ve|i['’]?m|i have|i am|i) )?(?:(?:just|finally|recently|also|actually|kind of|"
    r"kinda) )"
    r"{0,2}(?P<verb>met|found|(?:started )?(?:seeing|dating))"
    r" (?P<told>(?:someone|somebody)(?: (?:new|special|lovely|nice|great|amazing|"
    r"really nice))?)\W*$",
    re.I,
)


def _name_begin(words: list[Token], at: int) -> int | None:
    """Where a name begins that the words at `at` announce."""
    low, last = words[at].low, words[at - 1].low
    if low in ("name", "name's", "names") and last in _THEIRS:
        return at + 1 + (words[at + 1].low == "is")
    if low in _NAMED:
        if last in ("we", "i") and words[at + 1].low in _HIM:
            return at + 2
        if last in _SHORT or (last == "is" and words[at - 2].low in _SUBJECT):
            return at + 1
        whose = _antecedent(words, at)
        if whose is not None and whose[1] == at - 1 and words[whose[0]].low in ("a", "an"):
            return at + 1
        if _is_kind(words, at):
            return at + 1
    return None


def _is_kind(words: list[Token], at: int) -> bool:
    """Whether the words before `at` only say of a pet what it is: "a puppy. A border terrier"."""
    article = next((i for i in range(at - 2, max(0, at - 5), -1) if words[i].low in ("a", "an")), 0)
    if not article or words[article - 1].text[0].isalnum():
        return False
    end = name_end(words, at + 1)
    if end < len(words) and words[end].text[0].isalnum():
        return False  # "a film called Alien scared her"
    kind = [word.low for word in words[article:at]]
    return not any(low in ONE or low in MANY or is_role(low) for low in kind) and any(
        word.low in PETS for word in words[:article]
    )


def _ones_own(words: list[Token], article: int) -> bool:
    """Whether the words before say that the speaker has got a pet: "we got a", "just adopted a"."""
    before = [word.low for word in words[:article]]
    return not _GOT.isdisjoint(before) and not any(
        low in _ONLY_THOUGHT or low in ONE or low in MANY or is_role(low) for low in before
    )


_GOT = frozenset("got have adopted rescued bought brought picked fostering own".split())
_ONLY_THOUGHT = frozenset(
    "if want wanted wants wish would i'd we'd should could might maybe had he she they you"
    " who".split()
)
_NAMED = frozenset({"called", "named"})
_HIM = frozenset("him her it them".split())
_SUBJECT = frozenset("he she it".split())
_SHORT = frozenset("he's she's it's hes shes".split())
_OPENING = frozenset({",", "and", "so", "oh"})
_THEIRS = frozenset({"his", "her", "its", "their"})
_A = frozenset({"a", "an"})
_REFERRING = _SHORT | _SUBJECT | _THEIRS | _A | frozenset({"we", "i"})


def _antecedent(words: list[Token], at: int) -> tuple[int, int] | None:
    """The last "my …" or "a …" before `at` that is a person or pet: its article and its noun."""
    for noun in range(at - 1, max(0, at - 14), -1):
        low = words[noun].low
        if low not in ONE and low not in MANY and low not in PETS and not is_role(low):
            continue
        for my in range(noun - 1, max(-1, noun - 4), -1):
            if words[my].low in ("my", "our"):
                return my, noun
            if words[my].low in ("a", "an") and low in PETS:
                return (my, noun) if _ones_own(words, my) else None
            if not words[my].text.isalpha():
                break
        return None
    return None
