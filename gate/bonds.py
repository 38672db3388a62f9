"""What the user has or does with others, and who leaves something else than the user. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from beliefledger.gate.belief import Held
from beliefledger.gate.meant_memories import Standing, stems
from beliefledger.ledger.candidate import SELF
from beliefledger.ledger.late_patterns import compile_later

WORD = compile_later(r"[^\W_]+(?:-[^\W_]+)*")
VISIT = compile_later(r"\b(?:stay(?:s|ing)?|coming|visit\w*|over (?:from|for)|couch|sofa)\b")
_PRONOUNS = frozenset({"he", "she", "they"})
_JOB = (
    r"jobs?|work|position|post|role|compan(?:y|ies)|firm|business|agency|start-?up|department|team|"
    r"squad|band|choir|orchestra|group|club|practice|surgery|clinic|hospital|school|college|uni|"
    r"university|office|shop|project|church|army|navy|police|force|profession|industry|trade|"
    r"organi[sz]ation|board|committee|council|union|party|course|world|flat|house|apartment|home|"
    r"place|building|area|city|town|village|country|wife|husband|partner|girlfriend|boyfriend|"
    r"family|kids|children|marriage|league|class|crew|cast|show|podcast|society|"
    r"time|second|minutes?|hours?|days?|nights?|mornings?|weeks?|weekends?|months?|years?|while|"
    r"few|couple|bit"
)
"""What somebody leaves who parts, and words of when they did."""
_DET = r"(?:his|her|their|its|my|our|an?|some|the|two|three|no)"
_THING = rf"{_DET} (?!(?:[\w'-]{{1,20}} ){{0,2}}(?:{_JOB})\b)\w"
_WHERE = (
    r"(?:everywhere|all over|behind|lying|(?:on|in|under|at) (?:the|my|our|his|her) (?:floor|rug|"
    r"table|carpet|sofa|couch|bed|desk|stairs|side|counter|train|bus|plane|doorstep|lawn|pillow|"
    r"kitchen|bathroom|bath|sink|hall|hallway|car|fridge|garden|bedroom|room|garage|oven|bag)\b)"
)
_ERRANDS = (
    r"(?:work|school|lunch|dinner|breakfast|a (?:run|walk|swim|jog|meeting|match|holiday|trip|bit|"
    r"while|few|week|weekend|day|drink|smoke|coffee|date|conference|party|gig)|the (?:airport|"
    r"station|shops?|gym|office|day|night|evening|morning|weekend|week|pub|beach|hospital|match|"
    r"game|park|cinema)|(?:his|her|their) (?:\w{1,20} )?(?:class|shift|lesson|meeting|run|walk|"
    r"trip|holiday|match|appointment))\b"
)
_CHANGED = (
    r"(?:crazy|mad|mental|nuts|bananas|wild|viral|vegan|veggie|vegetarian|quiet|silent|blind|deaf|"
    r"gr[ea]y|bald|blonde?|ginger|soft|shy|lame|home|\w{2,12}(?<!miss)(?<!los)ing)\b"
)
_TO_BE_BACK = (
    r"(?:on (?:holiday|vacation|leave|strike|tour|a|(?:maternity|paternity|sick|annual|parental) "
    r"leave|business)\b|for (?:the|an?|two|three|four|\d+|lunch|dinner|work|now)\b|"
    r"(?:till?|until)\b|to (?:lunch|dinner|work|school|bed|sleep|get|see|visit|pick|fetch|"
    r"the (?:shops?|gym|office|pub|park|beach|doctors?|dentist|airport|station|supermarket|loo|"
    r"cinema|match|game)|a (?:meeting|match|gig|party|conference|wedding|concert))\b|"
    r"this (?:week|weekend|morning|afternoon|evening)|today|tonight|all (?:day|week)|"
    r"(?:away|off|out) (?:for|on|until|till?|this|to (?:work|school|lunch))\b)"
)
_WHO_LEFT = (
    r"(?<![\w'-])(?P<who>[^\W\d_][\w-]{1,20})(?:'s|'ve)?(?: (?:has|have|is|was|just|also|already|"
    r"now|only|then|finally|once again|again|always)){0,3} "
)
_LEAVES = compile_later(
    rf"{_WHO_LEFT}(?:left (?:early|late\b|on time|at (?:\d|noon|dawn|half|lunch)|"
    rf"in a (?:hurry|rush|huff|mood|strop|panic)|for {_ERRANDS}|"
    r"(?:work|school|town|home|uni) (?:early|late\b|at \d|for (?:the|a) (?:day|weekend|week|few|"
    r"bit))|"
    rf"(?:(?:me|us) )?{_THING}|(?!(?:me|us)\b)[\w'-]{{2,20}} (?:[\w'-]{{2,20}} )?{_WHERE})|"
    rf"gone (?:(?:all|a bit|completely|totally|so|very|really) )?{_CHANGED}|gone {_TO_BE_BACK})",
    re.I,
)
_QUITS = compile_later(
    rf"{_WHO_LEFT}quit (?P<what>{_THING}|(?!(?:{_DET}|{_JOB}|as|at|on|in|for|to|us|me|him|from|"
    r"with|without|over|due|and|but|so|or|because|cos|cuz|after|before|since|when|while|then|mid\w*|"
    r"last|this|next|yesterday|today|tonight|again|already|now|just|too|earlier|recently|suddenly|"
    r"mon|tues|wednes|thurs|fri|satur|sun|january|february|march|april|may|june|july|august|"
    r"september|october|november|december|lol|omg|btw|that|which|is|if)(?:day)?\b)[a-z])",
    re.I,
)
_BOND = ("relation.", "home.", "has.", "thing.", "care.", "pets.", "note.", "does.", "plays.")


def bonds(standing: Standing, quote: str) -> Iterator[Held]:
    """What the user has or does with somebody who only leaves for a while, leaves a thing behind,
    or quits something else: "Tom left for work", "Rex left hair everywhere", "Ben quit coffee"."""
    for found in _LEAVES.finditer(quote):
        yield from _bonds_with(standing, found["who"].lower())
    for found in _QUITS.finditer(quote):
        what = quote[found.start("what") :]
        if what[:1].isupper():
            continue  # "Ben quit Google"
        said = stems(what)
        for each in _bonds_with(standing, found["who"].lower()):
            if said.isdisjoint(stems(each.written.memory.claim)):
                yield each


def _bonds_with(standing: Standing, who: str) -> Iterator[Held]:
    """What the user has or does with somebody, unless it is a visit."""
    for each in standing.of_user():
        memory = each.written.memory
        bond = memory.entity == SELF and memory.attribute.startswith(_BOND)
        if bond and is_of(each, who) and VISIT.search(claim_of(each)) is None:
            yield each


def claim_of(held: Held) -> str:
    return held.written.memory.claim.lower().replace("’", "'")


def is_of(held: Held, who: str) -> bool:
    """Whether a memory tells of somebody."""
    memory = held.written.memory
    if who in _PRONOUNS:
        return memory.entity != SELF or memory.claim.startswith("User's ")
    return who in WORD.findall(claim_of(held))
