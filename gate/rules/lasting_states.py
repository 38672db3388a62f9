"""What has been so since a time, or for so long, and is so still: "I've been a nurse for ten
years", "I've had a Polo since 2019". It is read as what is so now, with the time from which on it
is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from beliefledger.gate.dates import find_when
from beliefledger.gate.rules.clauses import Clause
from beliefledger.gate.rules.findings import NEVER, Reading, RuleFinding, claim_of
from beliefledger.gate.rules.lexicon import AS_PARTICIPLE, third_person, verb_form
from beliefledger.gate.rules.words import Token
from beliefledger.ledger.candidate import When
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.times import DAY

_TENSES = {"perfect": ("present",), "perfect-continuous": ("continuous", "present")}
_STATES = frozenset(
    "be have own live work study teach use drive rent speak play eat drink take keep follow avoid "
    "support volunteer train learn run manage lead date see commute attend go do practise practice "
    "read watch sing coach breed grow".split()
)
"""What one does for long, and not at once: not "I've lost my keys since Monday"."""
_DURATION = compile_later(
    r"for (?:(?:the )?(?:last|past) )?(?:about |around |almost |nearly |over |roughly |more than )?"
    r"(?P<much>an?|\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|"
    r"twenty|thirty|a couple(?: of)?|a few|several|many)? ?"
    r"(?P<unit>days?|weeks?|months?|years?|yrs?|decades?|ages)(?: now| already| or so)?\Z",
    re.I,
)
_SINCE = compile_later(r"since(?! (?:then|when|i'm|my last|we last|i last)\b)(?: \S+){1,5}\Z", re.I)
_AT_HOME = 180 * DAY
"""Who has been somewhere for longer than this lives there."""
_UNITS = {"yr": "years", "yrs": "years"}
_OF_BEFORE = frozenset(
    "before previously formerly once ago then until till sold quit left moved old "
    "borrowed rental hired".split()
)
_NO_MORE = _OF_BEFORE | {"retired", "stopped"}
_CLOCK = compile_later(
    r"since (?:(?:about|around) )?(?:\d{1,2}(?::\d\d)?(?: ?[ap]m)?|yesterday|"
    r"this (?:morning|afternoon)|last night|lunch(?:time)?|breakfast|dinner|noon|midnight|dawn|"
    r"early)\Z|"
    r"for (?:\S+ ){0,3}(?:minutes?|mins?|hours?|hrs?|seconds?|secs?)(?: now| already)?\Z",
    re.I,
)


class Lasting(NamedTuple):
    """A clause in the present, and since when what it tells is so."""

    clause: Clause
    when: When
    said: bool
    """Whether that has no date: how it was said is then part of the claim."""


def lasting(reading: Reading, clause: Clause) -> Iterator[Lasting]:
    """The clauses as which one is read that tells how long something has been so; none of any
    other."""
    if clause.tense not in _TENSES or clause.negated or clause.imagined:
        return
    if clause.lemma not in _STATES or clause.modal:
        return
    words = clause.tokens
    later = [word.low for word in words[clause.verb : clause.stop + 3]]
    if not _OF_BEFORE.isdisjoint(later) or any(each.endswith(("'s", "’s")) for each in later[:4]):
        return  # "my wife's Fiat" is not one's own
    for tense in _TENSES[clause.tense]:
        now = clause._replace(tense=tense)
        for at in range(clause.stop - 2, clause.verb + 1, -1):
            said = words[at : clause.stop]
            if said[0].low == "for" and words[at - 1].low == "married":
                return  # that has a slot of its own
            if said[0].low in ("since", "for") and (told := _told(reading, said)):
                yield Lasting(now._replace(stop=at, tail=at), *told)
                break
        else:
            lead = words[: clause.subject]
            if lead and lead[-1].low == ",":
                lead = lead[:-1]
            if lead and lead[0].low in ("since", "for") and (told := _told(reading, lead)):
                yield Lasting(now, *told)


def is_of_a_day(clause: Clause) -> bool:
    """Whether something has gone on for hours, and is no habit: "I've been driving since 6am"."""
    words = clause.tokens
    if clause.tense != "perfect-continuous":
        return False
    return any(
        words[at].low in ("since", "for")
        and _CLOCK.match(" ".join(word.text for word in words[at : clause.stop])) is not None
        for at in range(clause.verb + 1, clause.stop)
    )


def of_others(words: list[Token]) -> list[Token]:
    """ "My sister has lived in Oslo since 2015" as "my sister lives …", "Tom has been a vet for two
    years" as "Tom is a vet …"."""
    if not _NO_MORE.isdisjoint(word.low for word in words):
        return words
    for at in range(2, len(words) - 2):
        verb, form = verb_form(words[at].low)
        if words[at].low == "been" and words[at + 1].low in ("a", "an"):
            now = "is"
        elif form in AS_PARTICIPLE and verb in _DONE_FOR_LONG:
            now = third_person(verb)
        else:
            continue
        has, who = words[at - 1], words[at - 2]
        if has.low == "has" and who.low not in _NOBODY and _says_how_long(words, at + 1):
            then = Token(f"{has.text} {words[at].text}", now, has.start, words[at].end)
            return [*words[: at - 1], then, *words[at + 1 :]]
    return words


_DONE_FOR_LONG = frozenset("live work study teach play".split())


def _says_how_long(words: list[Token], begin: int) -> bool:
    """Whether the clause that goes on with the word at `begin` ends with how long."""
    end = next((i for i in range(begin, len(words)) if words[i].low in _ENDS), len(words))
    for at in range(begin, end):
        if words[at].low in ("since", "for"):
            text = " ".join(word.text for word in words[at:end])
            return (_DURATION.match(text) or _SINCE.match(text)) is not None
    return False


_ENDS = frozenset({",", ";", ".", "!", "?", "and", "but", "so", "because", "(", "-"})
_NOBODY = frozenset("it this that which what there who everyone nobody".split())


def _told(reading: Reading, words: list[Token]) -> tuple[When, bool] | None:
    """Since when, of words that begin with "since" or "for"."""
    text = " ".join(word.text for word in words)
    for_so_long = _DURATION.match(text)
    if for_so_long is not None:
        unit = for_so_long["unit"].lower()
        if for_so_long["much"] is None or unit == "ages":
            return NEVER, False
        back = f"{for_so_long['much']} {_UNITS.get(unit, unit)} ago"
        found = find_when(back, reading.said_at)
        return (NEVER if found is None else found.when), False
    if _SINCE.match(text) is None:
        return None
    found = find_when(text, reading.said_at, past=True)
    return (NEVER, True) if found is None else (found.when, False)


def retold(reading: Reading, clause: Clause, told: Lasting, finding: RuleFinding) -> RuleFinding:
    """What a rule found in the clause in the present, with the words that tell since when."""
    claim = finding.claim
    alone = claim_of(reading, told.clause, told.clause.stop)
    if claim == alone and told.clause.stop < clause.stop:
        claim = claim_of(reading, clause, clause.stop)
    end = max(finding.end, clause.tokens[clause.stop - 1].end)
    attribute = finding.attribute
    tail = clause.tokens[told.clause.stop : clause.stop]
    if attribute.startswith(("habit.", "has.", "uses.")) and tail and tail[0].low == "for":
        # So that a later count takes the place of this one: see `figures`.
        finding = finding._replace(
            context=reading.content[tail[0].start : tail[-1].end].rstrip(" .,!")
        )
    begins = told.when.start
    if attribute == "location.now" and begins is not None and reading.said_at - begins > _AT_HOME:
        attribute = "home.location"
    return finding._replace(attribute=attribute, claim=claim, end=end, when=told.when)
