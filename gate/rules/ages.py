"""How old somebody says to be, as chat puts it: "29m here", "a 29yo", "in my mid thirties".

However it was said, the claim says "User is 29 years old" or "User is 29".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from beliefledger.gate.rules.findings import Reading, RuleFinding
from beliefledger.ledger.candidate import SELF, SpeechAct
from beliefledger.ledger.late_patterns import compile_later

ATTRIBUTE = "identity.age"
_TENS = "twenty|thirty|forty|fourty|fifty|sixty|seventy|eighty|ninety"
_AGE = r"(?P<age>1[3-9]|[2-9]\d)"
_OLD = r"(?P<old>[\s-]?(?:y/?o|y\.o\.?|yrs?[\s-]?old|years?[\s-]old|yrs?))"
_ENDS = r"(?![\w/'’-]|[.,]\d)"
_IM = r"(?<![\w'’])(?:i['’]?m|i am|iam)\s(?:(?:only|just|now|already|also)\s)*+"
_SAID = compile_later(
    rf"{_IM}(?:an?\s)?{_AGE}(?:{_OLD}|\s?[mf](?=\s?(?:here|from|,|\.|$))){_ENDS}|"
    rf"(?<![\w'’])(?:as|being)\san?\s{_AGE.replace('age', 'age2')}"
    rf"{_OLD.replace('old', 'old2')}{_ENDS}",
    re.I,
)
_OPENS = compile_later(
    r"\W*(?:(?:hi|hey|hello|hiya|so|ok|well)\b\W*)?"
    rf"(?:(?:(?:m|f|nb)\s?/?\s?)(?P<age3>1[3-9]|[2-9]\d)|{_AGE}(?:{_OLD}|\s?/?\s?(?:m|f|nb)))"
    r"(?=\s(?:here\b(?! (?:is|was))|(?:from|in|living|based|looking)\b(?! the\b))|\s?[,.!]|\W*$)",
    re.I,
)
_DECADE = compile_later(
    rf"{_IM}in my (?P<decade>(?:early|mid|late)?[\s-]?(?:to[\s-]late[\s-])?"
    r"(?:twenties|thirties|forties|fifties|sixties|seventies|eighties|nineties|[2-9]0['’]?s))"
    r"(?![\w'’-])(?! (?:era|phase|mode|energy|head|mind)\b)",
    re.I,
)
_WRITTEN = compile_later(
    rf"{_IM}(?P<age>(?:{_TENS})(?:[\s-](?:one|two|three|four|five|six|seven|eight|nine))?)"
    r"(?=\s?[,.!]|\W*$|\s(?:now|and|years|btw|this|last|in|but)\b)"
    r"(?!\s(?:years|minutes|percent)\s(?:of|in|into|ago|late|younger|behind)\b)",
    re.I,
)
_ROUND = compile_later(rf"{_IM}{_AGE}[\s-]?(?:ish|something|smth|sth|odd)\b", re.I)
_NOT_MEANT = compile_later(
    r"\b(?:basically|practically|mentally|spiritually|emotionally|physically|virtually|inside|"
    r"at heart|in dog years|in spirit|going on|feels?|like \d|honorary|trapped)\b",
    re.I,
)
_GUARD = compile_later(
    rf"\b(?:{_TENS}|\w*(?:ties|0['’]?s)|[1-9]\d(?:\s?(?:/|y|m\b|f\b|nb\b|-|ish|s[mo]))|"
    r"(?:m|f|nb)\s?/?\s?[1-9]\d)",
    re.I,
)
_EARLY = 4


def beside(reading: Reading, found: list[RuleFinding], *, first: bool) -> list[RuleFinding]:
    """What was found in a sentence with ages told plainly, and the ages that were not found;
    `first` tells that the sentence begins its turn."""
    words = reading.words
    start, end = (words[0].start, words[-1].end) if words else (0, 0)
    if first:
        start = min(start, _EARLY) and start
    found = [*_children(found)] + [
        each for each in (_plainly(one) for one in found) if each is not None
    ]
    if start == end or _GUARD.search(reading.content, start, end) is None:
        return found
    mine = next(_ages(reading, start, end, first=first), None)
    if mine is None or _NOT_MEANT.search(reading.content, start, end) is not None:
        return found
    if any(each.attribute == ATTRIBUTE and each.claim.startswith(f"{SELF} ") for each in found):
        return found
    of = _PARENT.search(reading.content, mine.end, min(end, mine.end + _BESIDE))
    found = [_without_age(each) for each in found]
    if of is None or of.start() > mine.end + 1:
        return [*found, mine]
    children = mine._replace(
        end=of.end(), claim=f"{SELF} is a {of[0]}", attribute="family.children",
        value=of["many"], importance=800, topic="family",
    )  # fmt: skip
    return [*found, mine, children]


def _children(found: list[RuleFinding]) -> Iterator[RuleFinding]:
    """How many children is told behind an age: "a 41 year old dad of two"."""
    for each in found:
        parent = None if each.attribute != ATTRIBUTE else _PARENT.search(each.claim)
        if parent is not None and each.claim.startswith(f"{SELF} is a"):
            yield each._replace(
                claim=f"{SELF} is a {parent[0]}", attribute="family.children",
                value=parent["many"], importance=800, topic="family",
            )  # fmt: skip


_PARENT = compile_later(
    r"\b(?:single |proud |stay-at-home )?(?:dad|mum|mom|father|mother|parent) of "
    r"(?P<many>\d|one|two|three|four|five|six|seven|twins|triplets)\b",
    re.I,
)


def may_begin(text: str) -> bool:
    """Whether a turn may begin with an age in short: cheap, before its words are read."""
    return _OPENS.match(text) is not None


def _without_age(finding: RuleFinding) -> RuleFinding:
    """A trade that was taken with an age, without it: "a 29 y/o teacher"."""
    aged = _AGED.match(finding.value) if finding.attribute == "work.role" else None
    if aged is None:
        return finding
    trade = finding.value[aged.end() :]
    article = "an" if trade[:1].lower() in "aeiou" else "a"
    return finding._replace(value=trade, claim=f"{SELF} is {article} {trade}")


_AGED = compile_later(r"\d\d[\s-]?(?:y/?o|yrs?[\s-]old|years?[\s-]old|yrs?)\s(?=\w)", re.I)


def _ages(reading: Reading, start: int, end: int, *, first: bool) -> Iterator[RuleFinding]:
    text = reading.content
    if first and (found := _OPENS.match(text, 0, end)) is not None:
        yield _finding(reading, found, found["age"] or found["age3"], old=found["old"])
    if (found := _DECADE.search(text, start, end)) is not None:
        yield _finding(reading, found, found["decade"].strip(" -"), how="in their ")
    for pattern in (_ROUND, _SAID, _WRITTEN):
        if (found := pattern.search(text, start, end)) is not None:
            groups = found.groupdict()
            said = groups["age"] or groups.get("age2") or ""
            yield _finding(reading, found, said, old=groups.get("old") or groups.get("old2"))


def _finding(
    reading: Reading, found: re.Match[str], said: str, *, old: str | None = None, how: str = ""
) -> RuleFinding:
    begin = len(found[0]) - len(found[0].lstrip(" ,.!")) + found.start()
    claim = f"{SELF} is {how}{said}{' years old' if old else ''}"
    return RuleFinding(
        reading.content, begin, found.end(), claim, "fact", ATTRIBUTE, said, 900, 850,
        topic="identity", said_at=reading.said_at,
        act=SpeechAct.CHANGE if _SINCE.match(reading.content, found.end()) else None,
    )  # fmt: skip


_SINCE = compile_later(r" (?:now|today|as of|since (?:today|yesterday|last))\b", re.I)


def _plainly(finding: RuleFinding) -> RuleFinding | None:
    """The finding with its age told plainly; none where the age is not meant."""
    if finding.attribute == ATTRIBUTE and "turn" in finding.claim:
        others = _TURNED_OTHERS.search(finding.content, finding.start)
        return None if others or _is_long_ago(finding) else finding
    if finding.attribute != ATTRIBUTE or not finding.claim.startswith(f"{SELF} is "):
        return finding
    number = _NUMBER.match(finding.value)
    if number is None:
        return finding
    around = finding.content[finding.start : finding.end + _BESIDE]
    if _NOT_MEANT.search(around.partition(".")[0]) is not None:
        return None
    if not _A_YEARS.match(finding.claim, len(f"{SELF} is ")):
        return finding
    return finding._replace(claim=f"{SELF} is {number[1]} years old", value=number[1])


_TURNED_OTHERS = compile_later(
    r"\bturned \d{1,3} (?!(?:years?|today|yesterday|last|this|on|in|a|an|and|but|so|or|recently|"
    r"now|"
    r"just|lol|haha+|two|three|four|five|over|at|the|during|earlier|back|while|when|before|after|"
    r"which|"
    r"since|with|btw|tho|though|too|already|because|yo|if|some|around|about|couple|half|end|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|"
    r"mon|tue|wed|thu|fri|sat|sun)\b|\w+day\b)[a-z]",
    re.I,
)
""" "I turned 35 pages": of other things."""


def _is_long_ago(finding: RuleFinding) -> bool:
    """Whether an age only says when something happened: "I gave the car away when I turned 80"."""
    before = finding.content[max(0, finding.start - _LEAD) : finding.start]
    told = _TELLS_WHEN.search(before)
    return told is not None and _LATELY.match(finding.content, finding.end) is None


_LEAD = 60
_TELLS_WHEN = compile_later(
    r"\b(?:when|before|after|since|until|till|til|once|as|by the time|(?:the|that) (?:very )?"
    r"(?:moment|day|week|month|summer|winter|spring|autumn|fall|year)"
    r"(?: (?:that|when|before|after))?)\s+\W*$",
    re.I,
)
_LATELY = compile_later(
    r"\W*(?:today|yesterday|last (?:week|month|\w{3,6}day)|this (?:week|month|year|\w{3,6}day)|on "
    r"\w{3,6}day|recently|just now|the other day)\b",
    re.I,
)
_BESIDE = 24
_NUMBER = compile_later(r"(?:an? )?(\d{1,3})(?!\d)")
_A_YEARS = compile_later(r"an? \d|\d{1,3}[\s-]?y", re.I)
