"""Words that a sentence and something believed share only by their letters: "the trains don't run
any more" is nothing of who trains for a marathon, and "Rose died" nothing of Rose Street. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from beliefledger.gate.pairs import small_words
from beliefledger.gate.rules.lexicon import BASES, PETS
from beliefledger.gate.rules.renewals import OTHERS
from beliefledger.ledger.candidate import SELF
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.memory import Memory
from beliefledger.networks.stems import stem

_WORD = compile_later(r"[^\W_]+(?:['-][^\W_]+)*")

# --- what somebody does, and a thing or another person that is called so
_DOES = compile_later(
    r"(?:user|i|we)(?:'m|'re| is| am| are| has been| have been)? "
    r"(?:(?:also|mostly|usually|often|still|now) )?(?P<verb>[a-z]{3,20})\b"
)
_SPEAKER = compile_later(
    r"\b(?:i'?m|i am|not|longer|being|been|as|be)(?: (?:an?|no|the|much|of|even|really|your))*"
    r"(?: [\w-]+){0,2}? $"
)
"""Before what the speaker is or is no more: "I'm no longer a teacher"."""
_DETERMINED = compile_later(
    r"\b(?:the|an?|my|our|your|his|her|their|no|any|this|these|those|some|every|each|by|more|of|"
    r"last|new) $"
)
_LACKED = compile_later(r"\b(?:no|any|more|without|need|needs|have) $")
_ACTS = frozenset(
    map(
        stem,
        "run swim walk hike ride dance drive climb jog surf bike ski skate work commute lift row "
        "hunt study volunteer garden farm drum stream blog podcast sail visit".split(),
    )
)
"""Nouns of what is done: who runs goes for a run."""
_DONE_IN = frozenset(
    "class classes lesson lessons session sessions practice group club course courses team "
    "because outside outdoors tonight".split()
)
_MANY_DO = compile_later(
    r" (?:don'?t|do|are|aren'?t|have|were|never|no longer|stopped|only|go|run|come|cost)\b"
)
_CLAUSE_BEGINS = compile_later(r"(?:^|[,;:.!]|\b(?:and|but|so|because|cos|since))\W*$")


def only_share_a_stem(text: str, claim: str) -> bool:
    """Whether all that a sentence has of a claim is a noun that sounds like what the claim says
    somebody does: "no paint left", of who paints on Sundays."""
    claim, low = _plain(claim), _plain(text)
    does = _DOES.match(claim)
    if does is None:
        return False
    verb = stem(does["verb"])
    told, small = _WORD.findall(claim), small_words()
    there = {stem(each) for each in told if each not in small} | {verb}
    said = list(_WORD.finditer(low))
    if {stem(each[0]) for each in said if each[0] not in small or stem(each[0]) == verb}.isdisjoint(
        there - {verb}
    ):
        alike = [each for each in said if stem(each[0]) == verb]
        return bool(alike) and all(_is_noun(low, each, does["verb"], there) for each in alike)
    return False


def _is_noun(low: str, word: re.Match[str], verb: str, told: set[str]) -> bool:
    """Whether a word is a noun and not what the verb says."""
    before = low[: word.start()]
    if word[0].endswith(("er", "ers")) and not verb.endswith(("er", "ers")):
        return _SPEAKER.search(before) is None
    if word[0].endswith("ing"):
        behind = _WORD.match(low, word.end() + 1)
        if behind is None or _LACKED.search(before) is None:
            return False
        known = behind[0] in small_words() or behind[0] in _DONE_IN or stem(behind[0]) in told
        return not known  # "no running water"
    if stem(word[0]) in _ACTS:
        return False
    if _DETERMINED.search(before) is not None:
        return True
    many = word[0].endswith("s") and _MANY_DO.match(low, word.end()) is not None
    return many and _CLAUSE_BEGINS.search(before) is not None


# --- who died or left, and what only has their name
class Departed(NamedTuple):
    """The name or noun of who is gone, in lower case, and whether it has an article."""

    who: str
    the: bool


_GONE = compile_later(
    r"(?:\b(?P<the>my|our|the|his|her|their) (?:[\w-]{1,20} )?)?\b(?P<who>[\w-]{2,24}) "
    r"(?:(?:has|have|had|just|finally|sadly|suddenly|recently|is|was|got|to be) ){0,3}"
    r"(?:died|dead|passed (?:away|last|this|on|yesterday|today)|put (?:down|to sleep)|run over|"
    r"didn'?t make it|ran away|moved (?:out|away)|left (?:me|us)|dumped me|broke up with me|quit|"
    r"retired|gone)\b"
)
_TAKEN = compile_later(
    r"\b(?:put|buried|rip|lost|had|let) (?:(?P<the>my|our|the) (?:[\w-]{1,20} )?)?"
    r"(?P<who>[\w-]{2,24})(?: (?:down|to sleep|put down|go)\b|(?=\W*$|[,.!]| (?:last|yesterday|"
    r"today|this|on)\b))"
)
_POINTING = frozenset("he she it they who that this we you i all both im hes shes its".split())
_ONE_OF_THEM = PETS | OTHERS
_CALLED = compile_later(
    r"(?P<what>[\w-]{2,20})(?:,? (?:is|are|was))? (?:called|named) (?:the )?(?:[\w'-]+ ){1,3}$"
)
_WHEN = frozenset("twice once daily weekly most everywhere outside often".split())
_NAMED_AFTER = compile_later(
    r" (?:[\w-]{2,20} )?(?:street|st|road|rd|lane|avenue|ave|square|park|school|college|hall|"
    r"church|hospital|cinema|theatre|theater|cafe|bakery|brewery|pub|inn|hotel|stadium|ltd|inc|gmbh)\b"
)
"""What has its name from somebody."""
_OPEN = ("note.", "habit.", "relation.")
"""Behind a name, these go on with other words."""
_OWNED = ("vehicle.", "tool.", "device.", "uses.", "has.", "thing.")


def departed(text: str) -> list[Departed]:
    """Of whom or what a sentence in lower case says that they are dead or gone."""
    found = [*_GONE.finditer(text), *_TAKEN.finditer(text)]
    return [
        Departed(each["who"], each["the"] is not None)
        for each in found
        if each["who"] not in _POINTING
    ]


def only_bears_the_name(memory: Memory, gone: Sequence[Departed]) -> bool:
    """Whether a memory tells of something in whose name there is the one of who is gone: of Rose
    Street, once Rose died."""
    if memory.entity != SELF or memory.attribute.startswith("identity."):
        return False
    claim = _plain(memory.claim)
    there = False
    for each in gone:
        for found in re.finditer(rf"(?<![\w-]){re.escape(each.who)}(?![\w-])", claim):
            there = True
            if not _is_in_a_name(memory, claim, found, each):
                return False
    return there


def _is_in_a_name(memory: Memory, claim: str, found: re.Match[str], gone: Departed) -> bool:
    before = _WORD.findall(claim[: found.start()])
    if before and before[-1] in _ONE_OF_THEM:
        return False
    called = _CALLED.search(claim[: found.start()])
    if called is not None and called["what"] not in _ONE_OF_THEM:
        return True
    if _NAMED_AFTER.match(claim, found.end()) is not None:
        return True
    if memory.attribute.startswith(_OPEN):
        return False  # "I walk Luna twice a day"
    if gone.the and memory.attribute.startswith(_OWNED):
        return False  # "the Samsung died", of a Samsung Galaxy
    behind = _WORD.match(claim, found.end() + 1)
    if behind is None or claim[found.end()] != " " or memory.attribute.startswith("vehicle."):
        return False
    word = behind[0]
    verb = word in BASES or word.endswith(("ing", "ed")) or word in _WHEN
    return word.isalpha() and len(word) > 2 and word not in small_words() and not verb


def _plain(text: str) -> str:
    return text.lower().replace("’", "'")
