"""What is so only for a while: "in Lisbon this week", "I'm on holiday until Friday".

Such a state has a slot of its own, beside what lasts: who is based in Lisbon this month lives where
they lived. It ends by itself.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from beliefledger.gate.dates import MICRO, find_when
from beliefledger.gate.literals import Guarded, lowered
from beliefledger.gate.rules.endings import until
from beliefledger.gate.rules.figures import asked
from beliefledger.gate.rules.findings import NEVER, Reading, RuleFinding
from beliefledger.ledger.candidate import SELF, Ends
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.times import DAY, Micros

_FEW = (
    r"a few|a couple of|a|an|one|two|three|four|five|six|seven|eight|nine|ten|the next few|\d{1,2}"
)
_WHILE = (
    r"(?P<while>(?:all |for |just |only ){0,2}(?:this (?:week|weekend|month|morning|afternoon|"
    r"evening)|"
    r"today|tonight|tomorrow)\b(?! (?:i|we|he|she|they|it|there|the|my|our|is|was|and (?:next|"
    r"tomorrow|the))\b)|"
    rf"(?:for|over) the (?:summer|winter|spring|autumn)\b(?! (?:and|or) )|"
    rf"for (?:the (?:week|weekend|month|day|night)\b|(?:about )?(?:{_FEW}) (?:days?|nights?|"
    rf"weeks?|months?)\b)|"
    r"(?:until|till?) (?!now\b|then\b|recently\b)[^,;.!?]{3,30})"
)
_LEAD = (
    r"(?:^\W*(?:(?:so|and|btw|fyi|ok|hi|hey|hello|just|update|heads up|sorry)\b[,:!. ]*){0,2}|"
    r"[,;.] |\b(?:and|but|so|because|since|as) )"
)
_BE = (
    r"(?:(?:i[’']?m|i am|we[’']?re|we are)"
    r"(?: (?:currently|just|only|all|both|actually|back)){0,2} )"
)
_PLACE = r"(?P<place>(?-i:[A-ZÀ-Þ])[\w’'-]{1,24}(?: (?-i:[A-ZÀ-Þ])[\w’'-]{1,24}){0,2})"
_THERE = Guarded(
    rf"{_LEAD}(?:{_BE}|(?<!\w))(?:(?:currently|staying|based|living|working|travelling|traveling|"
    rf"over|down|up|here) ){{0,2}}in (?!(?:excel|word|powerpoint|figma|python|java|jira|slack|"
    rf"teams|zoom|year|grade|class|week|love|january|february|march|april|may|june|july|august|"
    rf"september|october|november|december)\b){_PLACE} "
    rf"(?:for (?:work|a conference|business|a wedding) )?{_WHILE}",
    re.I,
)
_AWAY = Guarded(
    rf"{_LEAD}(?:{_BE}|(?<!\w))(?P<how>(?:away )?on (?:(?:holidays?|vacation)"
    r"(?: in (?-i:[A-ZÀ-Þ])[\w’'-]{1,24})?|annual leave|leave|a "
    r"(?:business|work) trip|a course|call)|away(?: (?:on|for) (?:business|work))?|off work|"
    r"out of (?:the )?office|(?:staying |back )?(?:at|with) my (?:mum|mom|dad|parents|sister|"
    r"brother|gran|"
    r"nan|friend|mate|girlfriend|boyfriend|aunt|uncle)s?[’']?s?(?: (?:house|place|"
    r"flat))?(?: in (?-i:[A-ZÀ-Þ])[\w’'-]{1,24})?) "
    rf"{_WHILE}",
    re.I,
)
_BARE = compile_later(
    r"\W*(?:currently )?(?:in (?-i:[A-ZÀ-Þ])|(?:staying|based|living) in |staying with my |"
    r"(?:away|off) |out of |on (?:holiday|"
    r"vacation|"
    r"annual leave|leave|a business|call)|at my )",
    re.I,
)
SLOTS = (".now", ".away")
"""How the attributes end of what is so for a while."""
_OTHER_SLOTS = ("work.place", "work.hours", "habit.work")
_DOUBT = compile_later(
    r"\b(?:if|unless|might|may|maybe|could|would|should|wish|hope|want|plan|planning|imagine|"
    r"suppose|"
    r"was|were|not)\b|n[’']t\b",
    re.I,
)
_COUNTS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "a couple of": 2, "a few": 4, "the next few": 4,
}  # fmt: skip
_FOR = compile_later(rf"for (?:about )?(?P<many>{_FEW}) (?P<unit>day|night|week|month)", re.I)
_HINTS = ("this ", "day", "tonight", "tomorrow", "next week", "until", "till", " til ", " for ")
_LONGEST = 160


def may_be_in(text: str) -> bool:
    """Whether a text may tell of such a state without saying of whom: "in Lisbon this week"."""
    return _BARE.match(text) is not None and any(map(text.lower().__contains__, _HINTS))


def beside(reading: Reading, found: list[RuleFinding]) -> list[RuleFinding]:
    """What was found in a sentence, and what is so for a while as that."""
    words = reading.words
    if reading.person != "first" or not words:
        return found
    start, end = words[0].start, words[-1].end
    text = reading.content[start:end]
    low = lowered(text)
    if end - start > _LONGEST or not any(map(low.__contains__, _HINTS)):
        return found
    for pattern, attribute, group in (
        (_THERE, "location.now", "place"),
        (_AWAY, "schedule.away", "how"),
    ):
        said = pattern.search(text, low)
        if said is None or asked(text, said) or _DOUBT.search(said[0]) is not None:
            continue
        at = _over_at(said["while"], reading.said_at)
        if at is None:
            continue
        told = _told(reading, start, said, attribute, said[group], at)
        kept = [
            each
            for each in found
            if not (
                each.start < told.end
                and told.start < each.end
                and each.attribute.startswith(
                    ("home.location", "location.", "work.location", "event.", "is.")
                )
            )
        ]
        return [*kept, told]
    return [_for_a_while(reading, each) for each in found]


def _told(
    reading: Reading, offset: int, said: re.Match[str], attribute: str, value: str, at: Micros
) -> RuleFinding:
    begin = said.start()
    text = said.string
    lead = _STARTS.search(text, begin, said.start("while"))
    begin = begin if lead is None else lead.start()
    while not text[begin].isalnum():
        begin += 1
    stop = said.end("while")
    quote = text[begin:stop].rstrip(" ,.;:!")
    rest = _MY.sub("their", _SUBJECT.sub("", quote))
    return RuleFinding(
        reading.content, offset + begin, offset + begin + len(quote), f"{SELF} is {rest}", "fact",
        attribute, value, 400, confidence=850,
        topic="travel" if attribute == "location.now" else "schedule",
        ends=(Ends(attribute=attribute, value=value, at=at),), said_at=reading.said_at,
    )  # fmt: skip


_STARTS = compile_later(
    r"\b(?:i[’']?m|i am|we[’']?re|we are|in|on|away|off|out|at|staying|based|living|working)\b",
    re.I,
)
_MY = compile_later(r"\b(?:my|our)\b", re.I)
_SUBJECT = compile_later(r"^(?:i[’']?m|i am|we[’']?re|we are) (?:(?:just|actually) )?", re.I)


def _for_a_while(reading: Reading, finding: RuleFinding) -> RuleFinding:
    """ "I'm working from home this week": it ends then, and nothing lasting gives way to it."""
    if finding.type != "fact" or finding.ends or finding.negated or finding.entity != SELF:
        return finding
    if not finding.attribute.startswith(_OTHER_SLOTS):
        return finding
    if " is " not in finding.claim and finding.attribute != "work.hours":
        return finding
    stop = min(len(reading.content), finding.end + 24, reading.words[-1].end)
    said = _ENDS.search(reading.content, finding.start, stop)
    if said is not None and _FROM_THEN.search(reading.content, finding.start, said.start()):
        return finding  # "on days starting this week"
    front = None if said is not None else _day_before(reading, finding)
    said = said or front
    at = None if said is None else _over_at(said["while"], reading.said_at)
    if at is None:
        return finding
    if front is not None:
        quote = reading.content[front.start("while") : finding.end]
        finding = finding._replace(start=front.start("while"), claim=f"{SELF}: {quote}")
    attribute = finding.attribute
    if not attribute.startswith("habit."):
        attribute += ".now"
    own = Ends(attribute=attribute, value=finding.value, at=at)
    return finding._replace(attribute=attribute, ends=(own,), when=NEVER)


def _day_before(reading: Reading, finding: RuleFinding) -> re.Match[str] | None:
    """The day or week that words begin with: "tomorrow I work 12 to 8"."""
    begin = reading.words[0].start
    found = _FRONT.search(reading.content, begin, finding.end)
    if found is None or _FROM_THEN.search(reading.content, begin, found.start()) is not None:
        return None
    return found


_ENDS = compile_later(rf"\b{_WHILE}", re.I)
_FRONT = compile_later(
    r"\b(?P<while>today|tonight|tomorrow|this (?:week|weekend|morning|afternoon|evening)|next week|"
    r"(?:on |this |next )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)(?:,|:| only,?)? ?"
    r"(?=(?:i|we)\b)",
    re.I,
)
_FROM_THEN = compile_later(r"\b(?:from(?! home)|as of|starting|since|every|by)\b", re.I)


def _over_at(said: str, said_at: Micros) -> Micros | None:
    """When what is so for a while is over; None where nobody can tell."""
    low = said.lower()
    if "until" in low or low.startswith("til"):
        ordinal = _ORDINAL.search(low)
        return until(said, said_at) if ordinal is None else _next_day(int(ordinal[1]), said_at)
    counted = _FOR.search(low)
    if counted is not None:
        many = _COUNTS.get(counted["many"]) or int(counted["many"])
        days = many * _DAYS.get(counted["unit"], 1)
        return said_at + days * DAY if days <= _LONGEST_WHILE else None
    low = low.replace("for the day", "today").replace("for the night", "tonight")
    dated = find_when(_FOR_THE.sub("this ", low), said_at, future=True)
    at = None if dated is None else dated.when.end or dated.when.start
    return at if at is not None and at > said_at else None


_FOR_THE = compile_later(r"(?:for|over) the ")
_DAYS = {"week": 7, "month": 30}
_LONGEST_WHILE = 190
"""In days: whoever is somewhere for longer lives there."""
_ORDINAL = compile_later(r"till? (?:the )?(\d{1,2})(?:st|nd|rd|th)\W*$")


def _next_day(day: int, said_at: Micros) -> Micros | None:
    """The end of the next day of a month with this number."""
    said = datetime.fromtimestamp(said_at // MICRO, UTC)
    for ahead in range(3):
        month = said.month - 1 + ahead
        first = datetime(said.year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        found = first + timedelta(days=day - 1)
        if found.month == first.month and found > said:
            return int((found + timedelta(days=1)).timestamp()) * MICRO
    return None
