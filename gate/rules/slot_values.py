"""Whether a value fits its slot: a home is a place, an employer is no desk, pay is money."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from beliefledger.gate.rules import choices
from beliefledger.gate.rules.clauses import Clause
from beliefledger.gate.rules.lexicon import WORDS, load
from beliefledger.gate.rules.words import Token
from beliefledger.ledger.late_patterns import compile_later


def fits(words: list[Token], clause: Clause, says: Mapping[str, Any], begin: int, end: int) -> bool:
    """Whether the words [begin, end) fit the slot of a rule."""
    last, named = words[end - 1].low, words[begin].text[0].isupper()
    attribute = says["attribute"]
    if attribute in ("home.location", "home.type") and last in WORDS["no_homes"]:
        return False
    if attribute == "home.type" and last in WORDS["no_dwellings"]:
        return False
    if attribute == "work.role" and any(w.low in _MANNERS for w in words[begin : end - 1]):
        return False  # "a terrible cook": so somebody does it, and not for a living
    if attribute == "identity.origin" and _NOWHERE.intersection(
        word.low for word in words[begin : clause.stop]
    ):
        return False
    if attribute == "work.income" and not _MONEY.search(" ".join(w.text for w in words[begin:end])):
        return False  # "i make 20 cakes a week"
    if attribute == "home.location":
        if last in _DWELLINGS and not any(word.text[0].isupper() for word in words[begin:end]):
            return False  # "new flat", of which nobody says where
        if " ".join(word.low for word in words[begin:end]) in NO_PLACES:
            return False
        if choices.lookup(words, begin, end) is not None or not _is_dwelling(words[begin:end]):
            return False
        # "To Porto in 2010 and to Leeds in 2015": a history, of which no one place is the home.
        rest = [word.low for word in words[end : clause.stop]]
        if "and" in rest[:-1] and rest[rest.index("and") + 1] in ("to", "then", "later"):
            return False
        after = [word.low for word in words[clause.tail : clause.tail + 6]]
        if clause.tense == "past" and after[:1] == ["but"] and _AWAY.intersection(after):
            return False
    if says.get("beside") and not (
        named and any(word.low in says["beside"] for word in words[: clause.subject])
    ):
        return False
    if says.get("company"):
        others = {word.low for word in words} - {words[clause.verb].low}
        known = words[begin].low in WORDS["companies"]
        if known and clause.lemma == "join" and words[begin].low in WORDS["joined_by_customers"]:
            known = False  # "joined Netflix yesterday, so good"
        if not _NO_FIRM.isdisjoint(word.low for word in words[begin : clause.stop]):
            return False  # "joined SAP user group"
        if clause.lemma == "move":
            return known and " ".join(word.low for word in words[begin:end]) in NO_PLACES
        return named and (known or bool(_PARTED & others))
    if attribute == "work.employer" and clause.lemma == "join" and last in _NO_FIRM:
        return False  # "joined the choir as a tenor"
    return attribute != "work.employer" or last not in WORDS["not_employers"]


_NO_FIRM = frozenset(
    "group groups club forum community meetup webinar conference webcast programme program "
    "newsletter beta waitlist choir network chapter alumni".split()
)
"""What people join beside their work, though it bears the name of a firm."""
_DWELLINGS = frozenset("flat house apartment place room studio home bungalow cottage".split())
_MANNERS = frozenset(
    "good bad terrible awful great decent rubbish lousy slow fast keen amateur avid huge big "
    "natural born heavy light messy lazy useless hopeless brilliant amazing horrible shit crap "
    "fantastic mean passable mediocre rotten nervous careful reckless hobby wannabe".split()
)
_NOWHERE = frozenset(
    "future past galaxy planet era generation ages moon dimension timeline womb line 80s".split()
)
"""Whence nobody comes: "I'm from a long line of worriers"."""
_OF_PLACES = frozenset({"home", "place of training", "way to work", "stage of school"})
"""Kinds of rivals of which a name may be a place's, too."""
NO_PLACES = frozenset(
    (
        *(
            name.strip()
            for kind, names in load("rivals.yaml").items()
            if kind not in _OF_PLACES
            for name in names.split(",")
        ),
        *(name for says in load("things.yaml").values() for name in says["names"]),
        *WORDS["no_places"],
        *WORDS["companies"],
    )
) - frozenset({"halifax", "skipton", "planner", "square", "orange", "track", "java", "nokia"})
"""Where nobody lives: who moved to Octopus has another supplier, to marketing another job."""
_MONEY = compile_later(
    r"[£$€]|\d ?k\b|\d{3}|an hour|per hour|\b(?:euros?|pounds?|dollars?|grand|quid|bucks|lakhs?)\b",
    re.I,
)
_AWAY = frozenset("back returned left".split())
_PARTED = frozenset("left quit resigned joined job company work working hired fired".split())
_OWNERS = frozenset("the my our his her".split())


_BUILDINGS = frozenset(
    "flat house apartment studio bedsit cottage bungalow farmhouse condo duplex loft maisonette "
    "townhouse caravan houseboat narrowboat houseshare flatshare".split()
)


def _is_dwelling(words: Sequence[Token]) -> bool:
    """Whether somebody may live there. What has a capital is a name; of the rest "in fear of my
    boss" and "at the office" are none, and what has an article has to be a kind of place."""
    low = [word.low for word in words]
    if low[0] in ("a", "an") and low[-1] in _BUILDINGS:
        return False  # "in a rented house": what they live in, and not where
    if any(word.text[0].isupper() for word in words[low[0] in ("a", "an", "the") :]):
        return True
    if low[0] in ("a", "an"):
        of_mind = "state" in low and low[low.index("state") + 1 :][:1] == ["of"]
        return not of_mind and bool(WORDS["dwellings"].intersection(low))
    rest = low[1:] if low[0] in _OWNERS else low
    return bool(WORDS["no_dwellings"].isdisjoint(rest))


def is_for_a_time(words: Sequence[Token], end: int) -> bool:
    """Whether one rents for a time or for work, or lets: "a cottage in Cornwall in August"."""
    after = [word.low for word in words[end:]]
    if after[:1] == ["to"] or after[:1] == ["for"] or (after[:1] == ["in"] and after[1:2] != ["a"]):
        return True
    return not WORDS["stays"].isdisjoint(word.low for word in words)


def is_lived_in(text: str) -> bool:
    """Whether a home that a sentence speaks of may be the speaker's own: none that is let, nor a
    second one."""
    return _NOT_LIVED_IN.search(text) is None


_NOT_LIVED_IN = compile_later(
    r"\b(?:(?:let|lets|letting|rent|rents|renting|rented)(?: it| that| them)? out|"
    r"(?:our|my) tenants?|tenants in (?:it|there)|with (?:an? )?tenants?|to let|"
    r"(?:holiday|weekend|summer|vacation|beach|investment) "
    r"(?:let|home|flat|house|place|cottage|apartment|cabin)|(?:second|other) "
    r"(?:home|flat|house|place|cottage|apartment)|buy[- ]to[- ]let|on airbnb|"
    r"(?:home|flat|house|place|cottage|apartment|studio|cabin|villa|condo|room) in "
    r"(?:\w[\w'’-]{0,20} ){1,3}?(?:too|as well|also|for (?:the )?(?:weekends?|holidays?|"
    r"summers?|winters?|work trips|when (?:i|we)|our (?:son|daughter|kids)|"
    r"my (?:son|daughter|mum|mom|dad))))\b",
    re.I,
)
