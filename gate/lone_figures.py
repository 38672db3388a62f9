"""The one memory that a bare figure is of: "dropped to 4 days a week", "he turned 7". Pure but for
what a draft looks up."""

from __future__ import annotations

import re

from beliefledger.gate.belief import Held
from beliefledger.gate.claim_wordings import number_of
from beliefledger.gate.decision import TurnView
from beliefledger.gate.figure_units import (
    BY,
    DATED,
    MEASURES,
    UNIT,
    before,
    old_figure,
    unit_of,
)
from beliefledger.gate.meant_memories import LASTING, Standing
from beliefledger.gate.rules import new_figures
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.times import DAY


def lone(
    standing: Standing, candidate: Candidate, kind: str, turn: TurnView
) -> list[tuple[Held, new_figures.Figure]]:
    """The only memory that words can mean which tell a number without what it counts: "dropped to 4
    days a week", "he turned 7", "so four of us now", "two died, so 9 left". None where it may be
    several."""
    quote = candidate.spans[0].quote
    at = quote.find(candidate.value)
    if at < 0 or BY.search(quote[:at]):
        return []
    lead, after = before(candidate), quote[at + len(candidate.value) :].lower()
    if MADE_IT.search(lead):
        return _pointed_at(standing, candidate, kind, turn, named=True)
    if is_bare(candidate, kind):
        return _told_last(standing, candidate, kind, turn)
    if kind != "number":
        return []
    if _DOWN_TO.match(lead) and _ALONE.match(after):
        return _pointed_at(standing, candidate, kind, turn, named=False)
    pattern: re.Pattern[str] | None = None
    aged = AGED.search(lead)
    unit = UNIT.match(after)
    if aged is not None:
        pattern = _AGE_OF[aged["who"]] if not after.strip(" .!") or _SINCE.match(after) else None
    elif _OF_US.match(after) or (_LEFT.match(after) and _PERSONS.search(lead)):
        pattern = _PEOPLE
    elif _LEFT.match(after) and _WENT.search(lead):
        pattern = _COUNT
    elif unit is not None and _BARE.match(lead) and unit[1] in _PERIODS:
        pattern = _PERIODS[unit[1]]
    if pattern is None:
        return []
    found: list[tuple[Held, new_figures.Figure]] = []
    who = _WHO.get(aged["who"], ()) if aged is not None else ()
    for one in standing.of(who):
        claim = one.written.memory.claim
        match = pattern.search(claim) if one.type in LASTING else None
        if match is None or one.written.memory.context is not None:
            continue
        figures = [each for each in new_figures.figures(claim) if each.kind == "number"]
        figures = [each for each in figures if each.start == match.start("n")]
        if len(figures) == 1 and claim[match.start("n") : figures[0].end] != candidate.value:
            found.append((one, figures[0]))
    return found


def _pointed_at(
    standing: Standing, candidate: Candidate, kind: str, turn: TurnView, *, named: bool
) -> list[tuple[Held, new_figures.Figure]]:
    """The memory with a figure that "it" may be: "haggled it down to 15" is of what is paid, "they
    pushed it to 3pm" of what has its hour. Where it is not `named` at all, as in "down to 88!", it
    has a measure. Of several it is the one that was said last, if that was today."""
    quote = candidate.spans[0].quote
    at = quote.find(candidate.value)
    types = LASTING | {"event", "commitment"} if kind in DATED else LASTING
    found: list[tuple[Held, new_figures.Figure]] = []
    for one in standing.of_user():
        memory = one.written.memory
        if one.type not in types or memory.context is not None or is_past(one, turn):
            continue
        old = old_figure(memory.claim, kind, quote, at, candidate.value)
        if old is None and kind == "number":
            old = _of_its_size(memory.claim, candidate, named=named)
        if old is None or memory.claim[old.start : old.end].lower() == candidate.value.lower():
            continue
        if kind == "number" and not _is_as_much(memory.claim, old, candidate, named=named):
            continue
        found.append((one, old))
    if len({each.written.memory.claim for each, _ in found}) > 1:
        last = max(each.written.memory.said_at for each, _ in found)
        found = [each for each in found if each[0].written.memory.said_at == last]
        if last < turn.said_at - DAY:
            return []
    return found if len({each.written.memory.claim for each, _ in found}) == 1 else []


def is_bare(candidate: Candidate, kind: str) -> bool:
    """Whether a clause says nothing but a figure, and that it is so now: "its the 7.28 for me", "so
    19th now", "85 today!!", "wednesday again"."""
    quote = candidate.spans[0].quote.lower().replace("’", "'")
    at = quote.find(candidate.value.lower())
    if at < 0:
        return False
    if _FINAL.search(quote[:at]):
        return not quote[at + len(candidate.value) :].strip(" .!")
    figure = new_figures.Figure(kind, at, at + len(candidate.value))
    clause = new_figures.clause_of(quote, figure)
    lead, after = (_figureless(clause.partition(candidate.value.lower())[each]) for each in (0, 2))
    lead, after = _I_AM.sub("", lead), _without_children(after)
    because = _BECAUSE.match(lead)
    said = _WORDS.findall(lead, 0 if because is None else because.end())
    if not (_SAID_OF_IT.issuperset(said) and _SAID_SO.issuperset(_WORDS.findall(after))):
        return False
    as_before = _SAME_TIME.match(quote, figure.end) is not None
    anew = as_before or _NOW.search(f"{lead}|{after}") is not None
    if not anew or _LATE.search(after) is not None:
        return False
    return kind not in DATED or _TODAY.search(after) is None


def _without_children(after: str) -> str:
    """What follows a figure, without the children that it counts: "six weans now"."""
    counted = _CHILDREN.match(after)
    return after if counted is None else after[counted.end() :]


def _figureless(words: str) -> str:
    """Words without the figures among them: "friday 4pm" is a day and an hour."""
    for each in reversed(new_figures.figures(words)):
        if each.kind in DATED:
            words = f"{words[: each.start]} {words[each.end :]}"
    return words


def _told_last(
    standing: Standing, candidate: Candidate, kind: str, turn: TurnView
) -> list[tuple[Held, new_figures.Figure]]:
    """What was told last of the user, where it has a figure of this kind that may be another."""
    quote = candidate.spans[0].quote
    at = quote.find(candidate.value)
    types = LASTING | {"event", "commitment"}
    there = [each for each in standing.of_user() if each.type in types]
    there = [each for each in there if not each.written.memory.attribute.startswith(_NO_FIGURES)]
    latest = max((each.said_at for each in there), default=0)
    found: list[tuple[Held, new_figures.Figure]] = []
    for one in there:
        if one.said_at != latest or is_past(one, turn):
            continue
        claim = one.written.memory.claim
        old = old_figure(claim, kind, quote, at, candidate.value)
        if old is None or claim[old.start : old.end].lower() == candidate.value.lower():
            continue
        if kind == "number" and not _may_be_so_many(claim, old, candidate):
            continue
        if _AGAIN.search(quote) and claim[old.start : old.end].lower() not in quote.lower():
            continue  # "Thursday again", of somebody's Mondays
        found.append((one, old))
    return found if len({each.written.memory.claim for each, _ in found}) == 1 else []


def _may_be_so_many(claim: str, old: new_figures.Figure, candidate: Candidate) -> bool:
    """Whether what a claim has so many of may be as many now: in the same unit, if one is said, and
    neither much more nor much less."""
    quote = candidate.spans[0].quote
    at = quote.find(candidate.value)
    after = quote[at + len(candidate.value) :]
    counted = UNIT.match(after)
    if counted is not None and counted[1].lower() in _OF_A_WEEK:
        there = UNIT.match(claim, old.end)
        lead = _WORDS.findall(quote[:at].lower())
        if not _SO_MANY_NOW.issuperset(lead) or _LEFT.match(after.lower().partition(" ")[2]):
            return False  # "my headache is bad, four days now"
        return there is not None and there[1].lower().rstrip("s") == counted[1].lower().rstrip("s")
    if _CHILDREN.match(after) and not _CHILDREN.match(claim, old.end):
        return False
    of_money = candidate.value[0] in "$€£" or _MONEY.match(after)
    if of_money and _PAID.search(claim) is None and _COUNTS.match(claim, old.end):
        return False
    new_unit = unit_of(after)
    if new_unit in MEASURES and new_unit != unit_of(claim[old.end :]):
        return False
    if all(_THE.search(each) for each in (quote[:at], claim[: old.start])):
        return True  # "the 141", of the bus 38
    hours = [_HOUR.fullmatch(each) for each in (candidate.value, claim[old.start : old.end])]
    if all(hours):
        return True
    amounts = [_amount(candidate.value), _amount(claim[old.start : old.end])]
    return min(amounts) > 0 and max(amounts) <= _MOST * min(amounts)


_OF_A_WEEK = frozenset("days nights shifts lessons classes sessions evenings mornings".split())
"""What there is so many of: "four days now" is of who works three days a week."""
_SO_MANY_NOW = frozenset("so ok okay now and yay im i'm i on doing up down to back".split())
_THE = compile_later(r"\bthe (?:number |no\.? ?)?$", re.I)
_HOUR = compile_later(r"(?:[01]?\d|2[0-3])[:.][0-5]\d(?: ?[ap]m)?")
_AGAIN = compile_later(r"day again\b", re.I)
_NO_FIGURES = ("identity.", "relation.", "record.", "event.end", "event.change")
_TODAY = compile_later(r"\b(?:today|already|this morning|tonight)\b")
_WORDS = compile_later(r"[\w']+")
_I_AM = compile_later(r"\bi(?:['’]?m| am) (?=(?:up|down|back) to )")
"""Before how many somebody has now: "I'm up to fifteen". "I'm 34 now" is of an age."""
_CHILDREN = compile_later(
    r" (?:(?:wee|little|small) )?(?:ones|weans|bairns|kids|kiddies|children|tots|toddlers|babies|"
    r"under-\w+)\b"
)
_COUNTS = compile_later(
    r" (?!(?:an?|per|each|for|in|on|and|or|at|to|of|euros?|pounds?|dollars?|bucks|quid|now)\b)[a-z]"
)
"""Behind a figure that counts something: "nine pupils", and not "25 a month"."""
_MONEY = compile_later(r" ?(?:[$€£]|euros?|pounds?|dollars?|bucks|quid)(?!\w)", re.I)
_BECAUSE = compile_later(
    r"\W*(?:with|since|after|because of|thanks to|due to|from|as of) [\w' -]{3,40}? "
    r"(?=it['’]?s |it is )"
)
_FINAL = compile_later(
    r"^\W*(?:(?:ok|okay|ugh|so|and|right|the|our|update)\W+){0,3}final "
    r"(?:count|headcount|head count|tally|total|number|numbers)(?: (?:is|are|now)|'s|:| -)? $"
)
"""Before how many there are in the end: "ugh ok final count is 36"."""
_SAME_TIME = compile_later(r",? (?:(?:at|and|but) )?(?:the )?same (?:time|hour|place)\b")
""" "Tuesday, same time": on another day what is as it was otherwise."""
_SAID_OF_IT = frozenset(
    "so and but now then ok okay no nah actually it it's its is be it'll thats that's that been "
    "only just about around at on down to up back a the every already meant for make makes moved "
    "got hit reached managed did clocked i've i've i have finally shes hes she's he's they we she "
    "he negotiated agreed talked them into voted like theyve they've weve we've put me us gonna "
    "going "
    "due".split()
)
_SAID_SO = frozenset(
    "now already at moment present again for me us it is from on here out these days instead left "
    "only today this morning tonight finally atm then so far by apparently allegedly i think the "
    "new date time day "
    "price number plan target limit deadline rate one since next last week month year yesterday "
    "monday tuesday wednesday thursday friday saturday sunday january february march april may "
    "june july august september october november december first "
    "days nights shifts lessons classes sessions evenings mornings "
    "reps a double woop woo yay lol haha letsgo ugh in per an kg kilo "
    "kilos lb lbs pound pounds mg ml euro euros dollar dollars bucks quid km hour hours minute "
    "minutes min mins "
    "percent mon tue wed thu fri sat sun".split()
)
"""The words around a figure in a clause that tells nothing else."""
_NOW = compile_later(
    r"\b(?:now|already|again|for (?:me|us)|it is|from|as of|these days|instead|left|only|today|"
    r"at the moment|at present|(?:up|down) to|this morning|is the new|finally|by now|"
    r"so (?:it|that)['’]?s|make[s]? (?:it|that)|moved(?: to)?|since|"
    r"negotiated|agreed|clocked|hit|reached|managed|put (?:me|us)|then)\b"
)
_LATE = compile_later(r"\b(?:gotta|late|am|pm|o['’]?clock)\b")


def _of_its_size(claim: str, candidate: Candidate, *, named: bool) -> new_figures.Figure | None:
    """The one of several numbers of a claim that may be another now: the rent of "a 1 bed, 1350 a
    month"."""
    numbers = [each for each in new_figures.figures(claim) if each.kind == "number"]
    new = _amount(candidate.value)
    near = [
        each
        for each in numbers
        if new and 1 / _MOST <= _amount(claim[each.start : each.end]) / new <= _MOST
    ]
    paid = len(near) == 1 and named and _PAID.search(claim) is not None
    return near[0] if len(numbers) > 1 and paid else None


def is_past(one: Held, turn: TurnView) -> bool:
    """Whether an event or a plan was before: it has no other day any more."""
    start = one.written.memory.when.start
    planned = one.type in ("event", "commitment")
    return planned and start is not None and start < turn.said_at - DAY


def _is_as_much(claim: str, old: new_figures.Figure, candidate: Candidate, *, named: bool) -> bool:
    """Whether what a claim has so much of may be as much as is said now: it is measured or paid
    for, in the same unit, and neither doubles nor halves twice."""
    quote = candidate.spans[0].quote
    at = quote.find(candidate.value)
    if named and _PAID.search(claim) is not None:
        return _NO_MONEY.match(quote, at + len(candidate.value)) is None
    new_unit, old_unit = unit_of(quote[at + len(candidate.value) :]), unit_of(claim[old.end :])
    if not (old_unit in MEASURES or _PAID.search(claim)) or new_unit not in {"", old_unit}:
        return False
    amounts = [_amount(candidate.value), _amount(claim[old.start : old.end])]
    return min(amounts) > 0 and max(amounts) <= _MOST * min(amounts)


def _amount(figure: str) -> float:
    """What a figure in digits or one word says; 0 for others."""
    spelt = None if figure[0] in "$€£0123456789" else number_of(figure.lower())
    if spelt is not None:
        return float(spelt)
    digits = figure.lower().strip("$€£ ").replace(",", "")
    thousands = 1000 if digits.endswith("k") else 1
    digits = digits.removesuffix("k")
    return thousands * float(digits) if _PLAIN.fullmatch(digits) else 0.0


_NO_MONEY = compile_later(
    r"[ -]?(?:mg|mcg|ml|g|kg|kilos?|km|miles?|hours?|minutes?|mins?|percent|%|days?|weeks?|months?|"
    r"years?|reps?|people|tablets?|pills?|units?|stone|lbs?)\b(?! (?:a|per) (?:month|week|year)\b)",
    re.I,
)
"""Behind a figure that is no price: "put me up to 10 mg"."""
_MOST = 2.5
_PLAIN = compile_later(r"\d{1,9}(?:\.\d{1,3})?")
_DOWN_TO = compile_later(
    r"^\W*+(?:(?:i['’]?m|i am|we['’]?re|it['’]?s|and|now(?! at)|so|ok|yay|yes|ugh|back(?! to| at)|"
    r"finally|already|currently|today|this week|this morning)\b[ ,:!]*+)*+"
    r"(?:down to|up to|back to|back at|now at) (?:just |only |about |around )?$"
)
_ALONE = compile_later(
    r" ?(?:kg|kilos?|lbs?|pounds|mg|ml|euros?|dollars|bucks|quid|km|hours|minutes|percent|%)?"
    r"(?: (?:now|again|this week|today|already|finally|yay|lol))*\W*$"
)


MADE_IT = compile_later(
    r"\b(?:haggled|negotiated|knocked|talked|beat|got|brought|put|pushed|moved|shifted|raised|"
    r"upped|bumped|hiked|lowered|dropped|reduced|cut|increased|changed|rescheduled|postponed|"
    r"delayed|(?:agreed|offered|promised) to (?:knock|bring|put|drop|lower|reduce|cut|move|raise|"
    r"up)) (?:it|that|them|me|us|(?:the|my|our) rent) (?:(?:down|up|back|forward|over) )?(?:to|"
    r"till|until) (?:just |only |about |around |the )?$|\b(?:settled|agreed|landed|ended up) (?:at|"
    r"on|for) (?:just |only |about |around )?$|"
    r"^\W*(?:(?:so|and|but|ok|well|ugh|btw|update|now)\W{1,3}){0,3}(?:it|that|this)(?:['’]?s| has|"
    r" just)? (?:just |now |since )?(?:went|gone|goes|going|jumped|rose|risen|rises|dropped|fell|"
    r"fallen|came|increased|crept|shot)(?: (?:up|down|back))? to (?:just |only |about |around )?$"
)
_PAID = compile_later(
    r"[$€£]|\b(?:pay(?:s|ing)?|paid|costs?|price|rent(?:s|ing)?|fee|charges?|salary|wages?|earns?|"
    r"budget|quid|euros?|pounds?|dollars?|"
    r"bucks)\b",
    re.I,
)


_HE = r"son|brother|dad|father|grandpa|grandad|nephew|uncle|husband|boyfriend|boy"
_SHE = r"daughter|sister|mum|mom|mother|gran|grandma|nan|niece|aunt|wife|girlfriend|girl"
_IT = r"dog|cat|puppy|pup|kitten|horse|rabbit|baby|kid|child|toddler|little one"
_N = r"(?P<n>\d{1,3}|[a-z]{3,9})"
_AGE_OF = {
    who: re.compile(
        rf"^(?:User['’]s|my|our) (?:[\w-]+ )?(?:{kin}|{_IT})(?: [A-Z][\w-]+)? is {_N}"
        rf"(?: years old)?[.!]?$",
        re.I,
    )
    for who, kin in (("he", _HE), ("she", _SHE))
}
"""Whose age may be meant by a pronoun."""
_WHO = {
    who: [f"{of}{each}" for each in f"{kin}|{_IT}".split("|") for of in ("", "user's ")]
    for who, kin in (("he", _HE), ("she", _SHE))
}
AGED = compile_later(r"(?:^|[,;.!] )(?P<who>he|she) (?:has |just |has just )?turned $")
_SINCE = compile_later(
    r" (?:yesterday|today|last|on|in|this|now|a (?:week|month)|two|three|already|the other)\b"
)
_OF_US = compile_later(r" of us\b(?! (?:went|go|are going|met|had|came|got|left|stayed|were)\b)")
_LEFT = compile_later(r" ?(?:left|remaining|now|in total|total|$)")
_PERSONS = compile_later(r"\b(?:people|person|colleague|member|joined|hired|quit|leavers?)\b")
_WENT = compile_later(
    r"\b(?:died|lost|sold|gave|ate|killed|broke|got|took|dropped|quit|left|hired|joined|bought|cut|"
    r"gone|moved out)\b.{0,40}\b(?:so|only|leaves|leaving|makes it|down to|now) (?:(?:just|only|"
    r"there['’]?s|that['’]?s|down to|we['’]?re|were|we have|i have|it['’]?s) ){0,2}$"
)
_PEOPLE = compile_later(
    rf"\b{_N} (?:of (?:them|us)|people|persons|members|colleagues|devs|developers|engineers|"
    r"heads)\b"
)
_COUNT = compile_later(
    r"^(?:(?:User|i|we)(?: (?:is|am|are))? (?:has|have|keeps?|owns?|got|taking|doing|teaching)|"
    r"(?:User['’]s|my|our) (?:team|family|group|class|office|crew|band|house) (?:has|is)) "
    rf"{_N} (?!(?:years?|months?|weeks?|days?|hours?|minutes?|euros?|dollars?|pounds?|of|more|"
    r"times?)\b)[a-z]+",
    re.I,
)
_BARE = compile_later(
    r"^\W*(?:(?:so|ok|and|now|i['’]?m|im|i|i['’]ve|ive|finally|have|am|only|just|we['’]?re) )*"
    r"(?:dropped|cut|down|up|went|gone|reduced|back|working|doing|increased)(?: \w+)? (?:to )?$"
)
_PERIODS = {
    each: re.compile(rf"\b(?P<n>\w{{1,12}}) {each.rstrip('s')}s? a\b", re.I)
    for each in "days day hours hour times shifts nights".split()
}
"""What there is so much of in a week: "4 days a week"."""
