"""What a sentence changes, beyond its clauses: endings, figures, states, and their slots."""

from __future__ import annotations

import re
from collections.abc import Sequence

from beliefledger.gate.claim_wordings import number_of
from beliefledger.gate.rules import endings, figures, states
from beliefledger.gate.rules.findings import NEVER, Reading, RuleFinding
from beliefledger.gate.rules.phrases import slug
from beliefledger.ledger.candidate import SELF, Ends, SpeechAct
from beliefledger.ledger.late_patterns import compile_later

_MAY = compile_later(
    r"^\W*+(?:(?:so|and|but|well|welp|just|finally|also|ok|okay|hey|update|news|today|yesterday|"
    r"oh|yeah|btw)\b[,.:!]* ){0,3}"
    r"(?:got|sold|gave|left|quit|lost|stopped|cancell?ed|moved|retired|resigned|graduated|"
    r"broke|split|started|"
    r"switched|replaced|traded|donated|ditched|finished|turned|deleted|unsubscribed|back|done|"
    r"changed|swapped|were with|im with|not|no longer|bought|ordered|working|studying|"
    r"doing an?|doing my|living|based|staying|"
    r"relocated|settled|emigrated|transferred|joined|hired|accepted|landed|"
    r"new (?:job|boss|manager|supervisor|line manager)|made redundant|laid off|let go|sacked|"
    r"fired|picked up|collected|now it|"
    r"(?:getting )?up(?= at \d)|(?:in |going to )?bed(?= (?:at|by|around|about) )|"
    r"at (?=(?-i:[A-Z])))\b|"
    r"\b(?:died|passed away|they|someone|of us|is off|called off|cancell?ed|is my|moved to|"
    r"rescheduled|"
    r"pushed to|postponed|coming|comes|meeting|appointment|dinner|lunch|interview|call|party|"
    r"exam|kids now|wedding|christening|graduation|housewarming|due date|"
    r"(?:cat|dog|kitten|puppy|rabbit|hamster|parrot|budgie|horse|pony|tortoise)(?:['’]?s| is) "
    r"(?:called|named|name))\b|\w@\w",
    re.I,
)
_FIGURED = ("count.", "times.", "record.", "day.", "goal.")
_PLANS = ("event.plan", "commitment.*", "decision.plan", "plan.*")


def may_change(text: str, start: int, end: int) -> bool:
    """Whether a sentence without "I" may tell of a change in the user's life."""
    return _MAY.search(text[start:end]) is not None


def changes(reading: Reading, found: Sequence[RuleFinding]) -> list[RuleFinding]:
    """The findings of a sentence in their slots, with its figures and with what it ends."""
    slotted = [_past(reading, _placed(reading, each)) for each in found if not _is_served(each)]
    told = [*figures.findings(reading, slotted), *states.findings(reading, slotted)]
    counted = [each for each in told if each.attribute.startswith(_FIGURED)]
    slotted = [
        each
        for each in slotted
        if not any(other.attribute == each.attribute for other in told)
        and not (
            each.attribute.startswith(("event.", "habit."))
            and any(each.start < other.end and other.start < each.end for other in counted)
        )
    ]
    slotted = [_without_employer(each, told) for each in slotted]
    slotted += [_past(reading, _placed(reading, each)) for each in told]
    slotted = [_lately(reading, each) for each in slotted]
    ended = endings.with_endings(reading, _without_presupposed(slotted))
    return [_fulfilling(_until(reading, each)) for each in ended]


def _without_employer(finding: RuleFinding, told: Sequence[RuleFinding]) -> RuleFinding:
    """What somebody teaches, without where: that is another slot, which changes by itself."""
    if not finding.attribute.startswith("teaches."):
        return finding
    places = (f" at {each.value}" for each in told if each.attribute == "work.employer")
    at = next((finding.claim.find(each) for each in places if each in finding.claim), -1)
    return finding if at < 0 else finding._replace(claim=finding.claim[:at])


_THESE_DAYS = compile_later(
    r"\s?(?:these days|nowadays|from now on|as of (?:this|today|last|now)\b)", re.I
)


def _lately(reading: Reading, finding: RuleFinding) -> RuleFinding:
    """What is so "these days" may be otherwise than it was."""
    if finding.act is not None or finding.type not in ("fact", "preference", "relation"):
        return finding
    if finding.negated or finding.attribute.startswith("habit."):
        return finding
    if _THESE_DAYS.match(reading.content, finding.end) is None:
        return finding
    return finding._replace(act=SpeechAct.CHANGE)


def _without_presupposed(found: list[RuleFinding]) -> list[RuleFinding]:
    """The findings without those that another of the sentence takes for granted: "my car is a
    Corsa" tells of the Corsa, and that there is a car would outlive it."""
    told = {noun for each in found if (noun := _noun_of(each.attribute)) is not None}
    return [
        each
        for each in found
        if not (each.attribute.startswith("has.") and each.attribute.removeprefix("has.") in told)
    ]


def _noun_of(attribute: str) -> str | None:
    """The noun of which a slot tells what it is or is called: car, cat."""
    if attribute == "vehicle.car":
        return "car"
    kind, _, rest = attribute.partition(".")
    noun, _, of = rest.partition(".")
    told = kind == "thing" or (kind == "relation" and of == "name")
    return noun if told else None


def _placed(reading: Reading, finding: RuleFinding) -> RuleFinding:
    finding = _unmeasured(_regular(finding))
    finding = figures.under_slot(finding._replace(said_at=reading.said_at))
    if finding.attribute in _PHONES and _DIALLED.search(finding.value) is not None:
        return finding._replace(attribute="contact.phone")
    return finding


_MEASURE = compile_later(
    r"(?:an? |the |our |my |this )?(?:[\w-]+ ){0,2}?(?P<measure>(?:\d{1,4}|one|two|three|four|"
    r"five|six|"
    r"seven|eight|nine|ten|twelve|twenty|thirty|forty|fifty|sixty)(?:-[a-z]{2,12}){1,2}) (?=\w)",
    re.I,
)


def _unmeasured(finding: RuleFinding) -> RuleFinding:
    """ "A two-person practice", "a three-bed semi": the number measures the thing, and counts
    none."""
    if not finding.attribute.startswith(_OWNED) or "-" not in finding.value:
        return finding
    measured = _MEASURE.match(finding.value)
    if measured is None:
        return finding
    stem, _, rest = finding.attribute.rpartition(".")
    rest = rest.replace(f"{slug(measured['measure'])}-", "", 1)
    return finding._replace(attribute=f"{stem}.{rest}")


_SERVES = compile_later(
    r"User has (?:got )?(?:an? |this |some |one )?(?:[\w'’-]+ ){0,3}?(?:lass|lassie|lad|girl|guy|"
    r"man|woman|lady|chap|"
    r"bloke|fella|fellow|dude|geezer|gentleman|person|doctor|gp|dentist|vet|nurse)"
    r"(?: now\b| (?:who|that) (?:cleans|does|comes|helps|looks after|cuts|mows|walks|drives|"
    r"minds)\b|"
    r", ?(?:now\b|(?:dr|doctor|mrs?|ms|miss|prof|nurse|sister)\b))",
    re.I,
)


def _is_served(finding: RuleFinding) -> bool:
    """Whether somebody "has" who serves them: "we have a young lass now, Dr Penn" owns nobody. A
    number alone says not what they have."""
    if not finding.attribute.startswith("has."):
        return False
    thing = finding.attribute.removeprefix("has.")
    if thing.isdigit() or (thing.isalpha() and number_of(thing) is not None):
        return True  # "so I have ten now"
    rest = finding.content[finding.end : finding.end + 24]
    return _SERVES.match(finding.claim + rest) is not None


_OWNED = ("has.", "relation.owns.", "collects.", "uses.")


_ROUND = compile_later(
    rf"{SELF} has got (?P<what>(?!(?:a|an|the|my|our)\b)[^\W\d_][\w'’-]{{2,20}}"
    r"(?: (?!on\b|every\b)[\w'’-]{2,20})?) "
    r"(?P<when>(?:(?:on|every) )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days\b|"
    r"(?<=every )(?:mon|tues|wednes|thurs|fri|satur|sun)day\b).{0,60})",
    re.I,
)


_PHONES = ("device.phone", "thing.phone")
_DIALLED = compile_later(r"\d(?:[ ()/-]{0,2}\d){6}")
_TO_BE = compile_later(r"\b(?:getting|going to get|to be) (?:married|engaged|divorced)\b")
_WHEN = compile_later(r"\W*(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.I)
_PRICE = compile_later(
    r"(?:about |around |only )?(?:[£$€]\d|\d[\d.,]{0,6} ?(?:[£$€]|quid|pounds?|euros?|dollars?|"
    r"bucks|(?:a|per|each) (?:month|week|year)|p/?c?m\b|monthly))",
    re.I,
)


def _regular(finding: RuleFinding) -> RuleFinding:
    """ "I've got yoga on Mondays": what comes round each week, and not what was got. "My gym is 60
    a month" tells what it costs, and not which it is."""
    if finding.attribute == "thing.gym":
        if _WHEN.match(finding.value):
            return finding._replace(attribute="schedule.gym")
        return finding._replace(attribute="pays.gym") if _PRICE.match(finding.value) else finding
    if finding.attribute == "relation.marital-status" and _TO_BE.search(finding.claim):
        return finding._replace(type="event", attribute="event.plan", participants=())
    if finding.attribute != "event.get":
        return finding
    found = _ROUND.match(finding.claim)
    if found is None:
        return finding
    slot = f"schedule.{slug(found['what'])}"
    return finding._replace(type="fact", attribute=slot, value=found["when"], when=NEVER)


_STORY = compile_later(
    r"\bback (?:in (?:the day|(?:19|20)\d\d)|when|then)\b|"
    r"\bin (?:19|20)\d\d,? (?:for|until|till|but)\b|\byears ago,? (?:for|but)\b",
    re.I,
)
_DID = compile_later(rf"{SELF} (?:moved|started|worked|joined|lived|went|was|got|took|used)\b")
_NOW_SO = ("home.location", "work.employer", "work.role", "work.location")


def _past(reading: Reading, finding: RuleFinding) -> RuleFinding:
    """ "I moved to London in 2010 for a year": what happened, and not where one lives."""
    if finding.attribute not in _NOW_SO or not _DID.match(finding.claim) or not reading.words:
        return finding
    said = reading.content[reading.words[0].start : reading.words[-1].end]
    if _STORY.search(said) is None:
        return finding
    return finding._replace(type="event", attribute="event.past", act=None, replaces=None)


def _until(reading: Reading, finding: RuleFinding) -> RuleFinding:
    """ "I'm at Initech until March": it ends then."""
    if finding.type not in ("fact", "relation", "preference") or not reading.words:
        return finding
    stop = min(len(reading.content), finding.end + 60, reading.words[-1].end)
    said = reading.content[finding.start : stop]
    at = endings.until(said, reading.said_at)
    if at is None:
        return finding
    own = Ends(attribute=finding.attribute, value=finding.value, at=at)
    return finding._replace(ends=(*finding.ends, own), when=NEVER)


def _fulfilling(finding: RuleFinding) -> RuleFinding:
    """ "I moved to Braga" fulfils the plan to: it is no longer told as pending."""
    if finding.negated:
        return finding
    if finding.attribute == "work.role" and finding.act is SpeechAct.CHANGE:
        over = Ends(attribute="work.status", value="unemployed")
        return finding._replace(ends=(*finding.ends, over))
    if finding.attribute not in ("home.location", "work.employer"):
        return finding
    ends = tuple(Ends(attribute=plan, value=finding.value) for plan in _PLANS)
    if finding.attribute == "home.location":
        ends += (Ends(attribute="home.duration", sparing=finding.value),)
    return finding._replace(ends=(*finding.ends, *ends))
