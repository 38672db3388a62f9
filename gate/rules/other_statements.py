"""Statements of other shapes: procedures, orders about the user, entities, corrections."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from beliefledger.gate.rules import own_names
from beliefledger.gate.rules.clauses import clauses
from beliefledger.gate.rules.findings import Reading, RuleFinding, capped, claim_of
from beliefledger.gate.rules.lexicon import WORDS
from beliefledger.gate.rules.patterns import PERSONS, is_role
from beliefledger.gate.rules.phrases import phrase_end, pointing, retell, slug, text_of, tidy, trim
from beliefledger.gate.rules.possessives import relation_key
from beliefledger.gate.rules.words import Token
from beliefledger.ledger.candidate import Candidate, Ends, Span, SpeechAct
from beliefledger.ledger.late_patterns import compile_later

_LEADS = frozenset({"when", "whenever", "before", "after", "once"})
_ORDERED = frozenset("first always then usually start begin never".split())
_ABOUT_ME = frozenset(
    "schedule book call email message text contact remind wake disturb interrupt notify invite "
    "ping phone address".split()
)


def procedure(reading: Reading) -> RuleFinding | None:
    """ "When I deploy, I first run the tests": how the user does something."""
    words = reading.words
    if len(words) < 6 or words[0].low not in _LEADS or words[1].low not in ("i", "you"):
        return None
    for clause in clauses(words, reading.person):
        if clause.subject < 3 or words[clause.subject - 1].low not in (",", "-"):
            continue
        ordered = _ORDERED.intersection(clause.adverbs) or words[clause.verb].low in _ORDERED
        if clause.tense != "present" or not ordered:
            return None
        _, stop = trim(words, clause.verb, clause.stop)
        if stop <= clause.verb + 1 or pointing(words, clause.verb, stop):
            return None
        context = text_of(reading.content, words, 1, clause.subject - 1)
        when = retell(reading.content, words, 0, clause.subject - 1, reading.person)
        adverb = "first " if "first" in clause.adverbs else ""
        claim = claim_of(reading, clause, stop).replace("User first ", "User ", 1)
        claim = f"User {adverb}{claim.removeprefix('User ')} {when[0].lower()}{when[1:]}"
        return RuleFinding(
            reading.content, words[0].start, words[stop - 1].end, claim, "procedure",
            f"procedure.{slug(text_of(reading.content, words, 2, clause.subject - 1), 4)}",
            text_of(reading.content, words, clause.verb, stop), 600, context=context,
        )  # fmt: skip
    return None


_BEFORE_ORDERS = frozenset(
    "please pls plz also and , but no hi hey hello so actually just now then ok okay can could "
    "would will you do me a favour from now on instead better".split()
)
"""What may stand before "call me Kit"."""


def findings(reading: Reading) -> Iterator[RuleFinding]:
    """Statements from orders about the user, from what they want to be called, and about their
    things."""
    words = reading.words
    named = list(own_names.findings(reading)) if words and reading.person == "first" else []
    if named:
        yield from named
        return
    at = 0
    while at < len(words) and words[at].low in _BEFORE_ORDERS:
        at += 1
    if at + 2 >= len(words):
        return
    first, second = words[at].low, words[at + 1].low
    if first in ("call", "address") and second == "me" and words[at + 2].text[0].isupper():
        last = at + 2
        if words[last].low.rstrip(".") in _TITLES and last + 1 < len(words):
            last += 1 if words[last + 1].text[0].isupper() else 0
        name = " ".join(word.text for word in words[at + 2 : last + 1])
        yield RuleFinding(
            reading.content, words[at].start, words[last].end, f"User wants to be called {name}",
            "preference", "identity.preferred-name", name, 800, 800, "identity",
        )  # fmt: skip
    elif first == "home" and second == "is" and len(words) - at <= 6 and _named(words, at + 2):
        stop = len(words)
        while not words[stop - 1].text[0].isalnum():
            stop -= 1
        value = text_of(reading.content, words, at + 2, stop)
        yield RuleFinding(
            reading.content, words[at].start, words[stop - 1].end, f"User's home is {value}",
            "fact", "home.location", value, 800, 850, "home",
        )  # fmt: skip
    elif first in ("never", "always", "don't", "not"):
        yield from _order(reading, at)
    elif first == "as" and second in ("a", "an", "the"):
        yield from _as_role(reading, at)
    elif words[at].text[0].isupper():
        yield from _entity(reading, at)


_TITLES = frozenset("mr mrs ms miss mx dr doctor prof professor herr frau sir".split())
"""Before the name that somebody wants to be called by."""


def _named(words: list[Token], begin: int) -> bool:
    """Whether the rest of the sentence is a name."""
    return all(w.text[0].isupper() or not w.text[0].isalnum() for w in words[begin:])


def _as_role(reading: Reading, at: int) -> Iterator[RuleFinding]:
    """ "As a nurse, I …"."""
    words = reading.words
    comma = next((i for i in range(at, min(at + 12, len(words))) if words[i].low == ","), 0)
    if (
        not comma
        or comma + 1 >= len(words)
        or words[comma + 1].low not in ("i", "i'm", "i've", "i'd", "my")
    ):
        return
    begin = at + 2
    stop = phrase_end(words, begin, comma, frozenset({"of"}))
    if (
        not 0 < stop - begin <= 5
        or not is_role(words[stop - 1].low)
        or not tidy(words, begin, stop)
    ):
        return
    rest = retell(reading.content, words, at + 1, comma, "first")
    yield RuleFinding(
        reading.content, words[at].start, words[comma - 1].end, f"User is {capped(rest)}", "fact",
        "work.role", text_of(reading.content, words, begin, stop), 800, 850, "work",
    )  # fmt: skip


def _order(reading: Reading, at: int) -> Iterator[RuleFinding]:
    words = reading.words
    verb = at + 1 + (words[at + 1].low == "ever")
    stop = len(words)
    while stop > verb and not words[stop - 1].text[0].isalnum():
        stop -= 1
    why = next((i for i in range(verb, stop - 1) if words[i].low == ","), stop)
    if why < stop and words[why + 1].low in ("it", "it's", "its", "that", "that's", "i"):
        stop = why  # "don't call me dude, it's rude"
    low = [token.low for token in words[verb:stop]]
    if not low or low[0] not in _ABOUT_ME or "me" not in low[:4] or len(low) > 14 or len(low) < 3:
        return
    often = "always" if words[at].low == "always" else "never"
    claim = f"User asks {often} to {capped(retell(reading.content, words, verb, stop, 'first'))}"
    value = text_of(reading.content, words, verb, stop)
    yield RuleFinding(
        reading.content, words[at].start, words[stop - 1].end, claim, "constraint",
        f"constraint.{slug(value)}", value, 900, topic="schedule", negated=often == "never",
    )  # fmt: skip


def _entity(reading: Reading, at: int) -> Iterator[RuleFinding]:
    """ "Atlas is our internal build system"."""
    words = reading.words
    end = at
    while end < min(len(words), at + 3) and words[end].text[0].isupper():
        end += 1
    if words[at].low in ("the", "a", "an") and end == at + 1:
        return
    if (
        end + 2 >= len(words)
        or words[end].low not in ("is", "are")
        or words[end + 1].low not in ("our", "my")
    ):
        return
    article = words[at].low == "the" and end > at + 1
    if (words[at].low in WORDS["not_names"] and not article) or (
        end == at + 1 and words[at].low in WORDS["pronouns"]
    ):
        return
    begin, stop = trim(words, end + 1, len(words))
    while stop > begin and not any(map(str.isalnum, words[stop - 1].text)):
        stop -= 1
    now = stop > begin + 2 and words[stop - 1].low == "now"
    stop -= now
    cut = next(
        (i for i in range(begin, stop) if words[i].low in WORDS["cutters"] | {",", "and"}), stop
    )
    if not tidy(words, begin, cut, 9) or words[begin + 1].low in ("favorite", "favourite", "name"):
        return
    name = text_of(reading.content, words, at, end)
    if words[cut - 1].low in PERSONS and words[end].low == "is":
        key = slug(text_of(reading.content, words, begin + 1, cut), 3)
        yield RuleFinding(
            reading.content, words[at].start, words[cut - 1].end,
            f"{name} is User's {text_of(reading.content, words, begin + 1, cut)}",
            "relation",
            relation_key(words[cut - 1].low, key.split("-"), name) or f"relation.{key}.name",
            name, 700, participants=(name,), act=SpeechAct.CHANGE if now else None,
        )  # fmt: skip
        return
    rest = text_of(reading.content, words, begin + 1, cut)
    told = capped(retell(reading.content, words, begin + 1, cut, "first"))
    yield RuleFinding(
        reading.content, words[at].start, words[cut - 1].end,
        f"{name} {words[end].low} User's {told}",
        "entity", "entity.kind", rest, 600, 850, entity=name,
    )  # fmt: skip


class Repair(NamedTuple):
    """A correction, "It's Lisbon, not Porto": the right value, the wrong one, and the offsets of
    the words."""

    right: str
    wrong: str
    start: int
    end: int


_WORDS = r"[^\s,.;!?]+(?: [^\s,.;!?]+){0,3}"
_REPAIR = compile_later(
    rf"(?:^|[.!?]\s+)(?:(?:oh|no|nope|actually|sorry|wait|oops|well|correction)[,:.!]?\s+)*"
    rf"(?P<all>(?:(?:it|that)(?:'s|’s| is| was| should be)|i meant?|make (?:that|it))\s+"
    rf"(?P<right>{_WORDS}),? (?:and )?not (?P<wrong>{_WORDS}))",
    re.I,
)
_NOT_BUT = compile_later(
    r"^\W*+(?:(?:oh|no|nope|actually|sorry|wait|oops|well|correction)[,:.!]?\s+){0,3}"
    r"(?P<all>not (?P<wrong>[\w'’-]{2,40}),? (?:but |it['’]?s )?"
    r"(?P<right>(?!any\b|anymore\b)[\w'’-]{2,40}))"
    r"(?=\W*$|[.,!;]| (?:sorry|lol|i meant|my bad|autocorrect|typo)\b)",
    re.I,
)
""" "Not Clara, Carla." """


def repair(text: str) -> Repair | None:
    """A correction that names both values, but not the slot."""
    found = _REPAIR.search(text[:400]) or _NOT_BUT.search(text[:400])
    if found is None:
        return None
    first = found.start("wrong") < found.start("right")
    if first and found["wrong"][:1].isupper() and not found["right"][:1].isupper():
        return None  # "not Karin, sadly"
    return Repair(found["right"], found["wrong"], found.start("all"), found.end("all"))


def repaired(old: Candidate, turn_id: str, text: str, fix: Repair) -> Candidate:
    """The earlier statement with its value put right; both turns are its evidence."""
    here = Span(start=fix.start, end=fix.end, quote=text[fix.start : fix.end])
    there = old.spans[0].model_copy(update={"turn": turn_id})
    return old.model_copy(
        update={
            "claim": old.claim.replace(old.value, fix.right, 1),
            "spans": (here, there),
            "value": fix.right,
            "replaces": fix.wrong,
            "act": SpeechAct.CORRECTION,
            "ends": (*old.ends, Ends(attribute=old.attribute, value=old.value, never=True)),
            "attribute": old.attribute.replace(slug(old.value), slug(fix.right)),
        }
    )
