"""Rates and what comes round again: "I bill 80 euros per session", "we pay 3.50 a day for nursery".

The slot is named by what is paid for and never by the figure, so a new figure takes its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from beliefledger.gate.rules.findings import Reading, RuleFinding
from beliefledger.gate.rules.lexicon import WORDS, third_person
from beliefledger.gate.rules.phrases import slug
from beliefledger.gate.rules.sensitive import category_of
from beliefledger.gate.rules.whole_sentences import told
from beliefledger.ledger.candidate import SELF
from beliefledger.ledger.late_patterns import compile_later

_COIN = (
    r"(?:€|£|\$|euros?|eur|quid|pounds?|gbp|dollars?|usd|bucks|chf|francs|kr|kroner|kronor|zł|zl|"
    r"zloty|rupees|yen|pln|sek|nok|dkk|aud|cad|lei|lira|pesos|reais|rand|shekels)"
)
_MONEY = rf"(?P<money>(?:[$€£]\s?)?\d[\d.,]{{0,9}}k?(?:\s?{_COIN}(?![a-z]))?)"
_OFTEN = (
    r"(?:(?:\s?/\s?|\s?p/|\s(?:per|an?|each|every|the)\s)"
    r"(?P<unit>hours?|hrs?|h|days?|nights?|sessions?|lessons?|classes|class|weeks?|wk|months?|mo|m|"
    r"years?|yr|visits?|appointments?|person|head|kid|child|walk|word|page|client|ride|gig|shift|"
    r"term|quarter|semester|fortnight|km|mile|piece|article|photo|haircut)\b"
    r"|\s?(?:ph|pcm|p\.?a\.?|pw)\b|\s(?:hourly|monthly|weekly|daily|yearly|annually)\b)"
)
_ADVERBS = r"(?:(?:currently|usually|normally|now|just|only|still|always|typically|both|also)\s)*+"
_ABOUT = (
    r"(?:(?:about|around|roughly|like|only|just|now|up to|over|at least|almost|nearly|abt|ca)\s)*+"
)
_RATE = rf"{_ABOUT}(?P<rate>{_MONEY}(?:\s(?:net|gross|after tax|before tax))?{_OFTEN}"
_RATE += r"(?:\s(?:net|gross|after tax|before tax|after taxes|before taxes|cash in hand))?)"
_NOUN = r"(?!(?:is|it|that|this|them|you|me|us|now|if|so|and|but|because)\b)[^\W\d_][\w'’-]{0,24}"
_FOR = rf"(?:\s(?P<link>for|in|on|towards|to|into)\s(?P<of>{_NOUN}(?:\s{_NOUN}){{0,2}}))?"
_I = rf"(?<![\w'’])(?P<who>i|we)\s{_ADVERBS}"
_AM = rf"(?<![\w'’])(?P<who>i['’]?m|i am|we['’]?re|we are)\s{_ADVERBS}"
_WHAT = r"(?P<owner>my|our|the)\s(?P<of>[^\W\d_][\w'’-]{1,24}(?:\s[^\W\d_][\w'’-]{1,24}){0,2}?)"

_CHARGED = compile_later(
    rf"{_I}(?P<verb>bill|charge|invoice|ask(?: for)?|quote)\s"
    r"(?:(?:them|people|clients|customers|everyone|parents|students|my \w+|a flat)\s)?"
    rf"{_RATE}{_FOR}",
    re.I,
)
_EARNED = compile_later(
    rf"(?:{_I}(?P<verb>get paid|earn|make|get|bring home|take home)|{_AM.replace('who', 'who2')}"
    rf"(?P<verb2>paid|on|earning|making|getting))\s{_RATE}",
    re.I,
)
_PAID = compile_later(
    rf"{_I}(?P<verb>pay|spend)\s(?:(?P<whom>(?:my|our|the|a)\s\w{{3,20}})\s)?{_RATE}{_FOR}", re.I
)
_SAVED = compile_later(
    rf"{_I}(?P<verb>save|put aside|put away|set aside|stash away|invest|donate|send home|put)\s"
    rf"{_RATE}(?:\s(?P<aside>aside|away))?{_FOR}",
    re.I,
)
_COSTS = compile_later(
    rf"(?:^|[,;(–-]\s?|\b(?:and|but|so|since|because|as)\s){_WHAT}\s{_ADVERBS}"
    rf"(?P<verb>costs?|charges?|takes?|bills?|asks?(?: for)?|sets (?:me|us) back)"
    rf"(?:\s(?P<payer>me|us))?\s{_RATE}",
    re.I,
)
_GUARD = compile_later(
    r"\d\s?(?:[/€£$]|p/|ph\b|pcm\b|pw\b|k\b|\w{1,10}\s(?:an?|per|each|every)\s|(?:an?|per|each|every)\s)"
    r"|\d\s(?:\w{1,10}\s)?(?:hourly|monthly|weekly|daily|yearly|annually|net|gross|after|before)\b",
    re.I,
)
_OF_WAGES = frozenset("h hr hrs hour hours".split())
_ARTICLES = compile_later(r"^(?:(?:my|our|the|a|an|his|her|their)\s)++", re.I)
_TAIL = frozenset(
    "now nowadays btw lol atm currently though tho rn here and but so since because at from with"
    " until till every which plus too also today in on for who when while".split()
)
_PAID_IN = frozenset(
    "rent tax taxes fees tuition bills interest childcare insurance tolls alimony maintenance"
    " savings pension etfs stocks funds crypto".split()
)
_NOT_PAID_FOR = frozenset("it that this them now everything nothing".split())
_LOOSE = ("habit.", "pays.", "event.", "work.income", "has.", "eats.", "does.", "count.", "thing.")


def may_be(text: str, start: int, end: int) -> bool:
    """Whether a sentence may tell a rate: cheap, before its patterns are tried."""
    return end - start <= _LONGEST and _GUARD.search(text, start, end) is not None


_LONGEST = 400


def beside(reading: Reading, found: list[RuleFinding]) -> list[RuleFinding]:
    """What was found in a sentence, its rates in place of what other rules say in their words."""
    words = reading.words
    if not words or (words[-1].low == "?" and len(words) < _SHORT):
        return found
    start, end = words[0].start, words[-1].end
    if not may_be(reading.content, start, end):
        return found
    rates = list(_findings(reading, start, end))
    if not rates:
        return found
    return [each for each in found if not any(_covers(rate, each) for rate in rates)] + rates


_SHORT = 6


def _covers(rate: RuleFinding, other: RuleFinding) -> bool:
    same = other.attribute == rate.attribute or other.attribute.startswith(_LOOSE)
    return same and other.start < rate.end and rate.start < other.end


def _findings(reading: Reading, start: int, end: int) -> Iterator[RuleFinding]:
    text = reading.content
    if (found := _CHARGED.search(text, start, end)) is not None:
        of, stop = _of(found)
        yield _told(reading, found, stop, f"work.rate.{of}" if of else "work.rate")
    if (found := _EARNED.search(text, start, end)) is not None and _is_wage(found):
        yield _told(reading, found, found.end("rate"), "work.salary")
    if (found := _PAID.search(text, start, end)) is not None:
        of, stop = _of(found)
        if found["whom"] is not None:
            of = slug(_ARTICLES.sub("", found["whom"]), 3)
        if of in ("rent", "the-rent"):
            yield _told(reading, found, stop, "home.rent")
        elif of:
            yield _told(reading, found, stop, f"pays.{of}")
    if (found := _SAVED.search(text, start, end)) is not None and (
        found["verb"].lower() != "put" or found["aside"] is not None or found["link"] is not None
    ):
        of, stop = _of(found)
        yield _told(reading, found, max(stop, found.end()) if not of else stop,
                    f"saves.{of}" if of else "saves.regularly")  # fmt: skip
    for found in _COSTS.finditer(text, start, end):
        if _is_price(found):
            yield _told_of_thing(reading, found)
            return


def _of(found: re.Match[str]) -> tuple[str, int]:
    """What is paid for, as a part of a slot's name, and where the words end that say so."""
    if found["of"] is None:
        return "", found.end("rate")
    said = found["of"].split()
    kept = [said[0]]
    for word in said[1:]:
        if word.lower() in _TAIL:
            break
        kept.append(word)
    stop = found.start("of")
    for word in kept:
        stop = found.string.index(word, stop) + len(word)
    bare = _ARTICLES.sub("", " ".join(kept))
    if found["link"].lower() == "in" and kept[-1].lower() not in _PAID_IN:
        return "", found.end("rate")  # "in emotional damage"
    if bare.lower() in _NOT_PAID_FOR | _TAIL or not bare:
        return "", found.end("rate")
    return slug(bare, 3), stop


def _amount(found: re.Match[str]) -> tuple[bool, int]:
    """Whether a sum names its money, and its whole number."""
    money = found["money"].lower()
    digits = re.sub(r"[.,]\d{1,2}$", "", re.sub(r"[^\d.,]", "", money)).replace(",", "")
    number = int(digits.replace(".", "") or 0) * (1000 if money.rstrip().endswith("k") else 1)
    return not money.replace(",", "").replace(".", "").replace("k", "").isdigit(), number


def _is_wage(found: re.Match[str]) -> bool:
    """Whether "I get 20 a day" is told of pay: "20 a day" alone may be of anything."""
    verb = (found["verb"] or found["verb2"]).lower()
    named, number = _amount(found)
    if verb in ("earn", "get paid", "paid", "earning"):
        return True
    hourly = (found["unit"] or "").lower() in _OF_WAGES
    taxed = re.search(r"net|gross|tax", found["rate"], re.I) is not None
    return named or taxed or number >= 1000 or (hourly and verb in ("make", "get", "on"))


def _is_price(found: re.Match[str]) -> bool:
    """Whether "my … takes 90 per session" is told of money."""
    if found["owner"].lower() == "the" and found["payer"] is None and "sets" not in found["verb"]:
        return False  # which may be so for anybody
    named, number = _amount(found)
    sure = named or found["verb"].lower().startswith(("cost", "charge", "bill", "set"))
    last = found["of"].split()[-1].lower()
    return (sure or number >= 10) and last not in WORDS["pronouns"] | {"is", "that", "who"}


def _told(reading: Reading, found: re.Match[str], stop: int, attribute: str) -> RuleFinding:
    text = reading.content
    groups = found.groupdict()
    who = "who" if groups["who"] is not None else "who2"
    said = text[found.end(who) : stop].strip()
    if who == "who2" or "am" in found[who].lower() or "'" in found[who] or "re" in found[who]:
        claim = f"{SELF} is {told(said)}"
    else:
        verb = found["verb"]
        before, _, after = said.partition(verb)
        first, _, rest = verb.partition(" ")
        claim = f"{SELF} {before}{third_person(first.lower())}{' ' * bool(rest)}{rest}{told(after)}"
    return RuleFinding(
        text, found.start(who), stop, claim, "fact", attribute, found["rate"].strip(), 600, 850,
        topic="finance", said_at=reading.said_at, category=category_of(claim),
    )  # fmt: skip


def _told_of_thing(reading: Reading, found: re.Match[str]) -> RuleFinding:
    text = reading.content
    begin, stop = found.start("owner"), found.end("rate")
    own = found["owner"].lower() in ("my", "our")
    rest = told(text[found.start("of") : stop])
    claim = f"{SELF}'s {rest}" if own else f"{SELF}: {text[begin : found.end('owner')]} {rest}"
    return RuleFinding(
        text, begin, stop, claim, "fact", f"pays.{slug(found['of'], 3)}", found["rate"].strip(),
        550, 850, topic="finance", said_at=reading.said_at, category=category_of(claim),
    )  # fmt: skip
