"""Figures and dates that have changed: which memory has the old one. Pure but for what a draft
looks up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from beliefledger.gate.belief import Held
from beliefledger.gate.claim_wordings import number_of
from beliefledger.gate.dates import find_when
from beliefledger.gate.decision import TurnView
from beliefledger.gate.meant_memories import LASTING, Standing, in_place, look_up, stem
from beliefledger.gate.registry import NOTE
from beliefledger.gate.rules import distinctions, new_figures
from beliefledger.gate.spoken_of import spoken_of
from beliefledger.ledger.candidate import Candidate, Ends, Span, When
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.times import DAY

_DATED = frozenset({"date", "clock", "weekday"})


def refigured(
    standing: Standing,
    figured: Sequence[Candidate],
    turn: TurnView,
    beside: Sequence[Candidate],
) -> Iterator[Candidate]:
    """The one memory whose figures are others now, with the new ones in their place. The candidates
    are those of one sentence, one for each kind of figure."""
    for candidate in figured:
        found = list(_refigured_by(standing, candidate, turn, beside))
        for each in found:
            whole = each
            for other in figured:
                if (
                    other is not candidate
                    and not each.retracts
                    and each.attribute != "event.figure"
                ):
                    whole = _with_figure(whole, other)
            yield whole
        if found:
            return


def _with_figure(candidate: Candidate, figured: Candidate) -> Candidate:
    """A candidate that has another figure of a kind, with the one of the same sentence."""
    there = [each for each in new_figures.figures(candidate.claim) if each.kind == figured.replaces]
    if len(there) != 1:
        return candidate
    [old] = there
    words = candidate.claim[old.start : old.end]
    return candidate.model_copy(
        update={
            "claim": candidate.claim[: old.start] + figured.value + candidate.claim[old.end :],
            "value": _replaced(candidate.value, words, figured.value),
        }
    )


def _replaced(text: str, old: str, new: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", lambda _: new, text, count=1)


def _refigured_by(
    standing: Standing,
    candidate: Candidate,
    turn: TurnView,
    beside: Sequence[Candidate],
) -> Iterator[Candidate]:
    kind = candidate.replaces or ""
    topics = frozenset(next(ends.value for ends in candidate.ends if ends.among).split())
    types = LASTING | {"event", "commitment"} if kind in _DATED else LASTING
    scored: list[tuple[int, Held, new_figures.Figure]] = []
    quote = candidate.spans[0].quote
    there = look_up(standing, candidate, lambda *_: True, types)
    for one in spoken_of("", quote, there, standing):
        fit = _figure_meant(candidate, kind, topics, one, turn)
        if fit is not None:
            scored.append((fit[0], one, fit[1]))
    scored = scored or [(0, *each) for each in _lone(standing, candidate, kind, turn)]
    if not scored:
        return
    best = max(score for score, _, _ in scored)
    meant = [(one, figure) for score, one, figure in scored if score == best]
    typed = [each for each in meant if each[0].type != NOTE]
    meant = typed or meant
    if len({each[0].written.memory.claim for each in meant}) > 1:
        return  # which of them, nobody knows
    span = candidate.spans[0]
    for one, figure in meant:
        memory = one.written.memory
        own = [each for each in beside if _says(each, span, candidate.value)]
        ends = Ends(attribute=memory.attribute, value=memory.value, denials=memory.negated)
        if one.type != NOTE and any(each.attribute == memory.attribute for each in own):
            continue  # a rule has found it in this slot itself
        if one.type == NOTE and not _is_moved_only(candidate, kind, figure, memory.claim):
            yield candidate.model_copy(
                update={
                    "replaces": None, "value": span.quote, "ends": (ends,), "retracts": bool(own),
                }
            )  # fmt: skip
            continue
        if new_figures.SEVERAL.fullmatch(memory.value):
            several = new_figures.SEVERAL.search(span.quote)
            if several is not None:  # "the kids are 5 and 8 now"; of one of them nobody knows which
                told = memory.claim.replace(memory.value, several[0])
                yield in_place(candidate, one, told, several[0], (ends,))
            continue
        old = memory.claim[figure.start : figure.end]
        new = _as_many(candidate.value, old) if kind == "weekday" else candidate.value
        claim = memory.claim[: figure.start] + new + memory.claim[figure.end :]
        if _AGED.search(_before(candidate)):
            claim = claim.replace(f" is {candidate.value}", f" turned {candidate.value}", 1)
        value = _replaced(memory.value, old, new)
        if (
            value == memory.value
        ):  # the figure stands in the claim alone, and the value would repeat
            value = candidate.value
        when = memory.when
        if kind in _DATED:
            dated = find_when(candidate.value, turn.said_at, future=True)
            when = When() if dated is None else dated.when
        elif one.type != "event":
            when = When()
        cited = _by_its_figure(candidate) if _MADE_IT.search(_before(candidate)) else candidate
        yield in_place(cited, one, claim, value, (ends,)).model_copy(update={"when": when})


def _by_its_figure(candidate: Candidate) -> Candidate:
    """With the figure alone as what it cites: what they did to it, "they upped it to", is over, and
    what has that figure is not."""
    [span, *others] = candidate.spans
    at = span.quote.find(candidate.value)
    start = span.start + at
    figure = Span(start=start, end=start + len(candidate.value), quote=candidate.value)
    return candidate.model_copy(update={"spans": (figure, *others)})


def _as_many(new: str, old: str) -> str:
    """A day in the number of the old one: "wednesdays" as "wednesday", where "every" is before."""
    if old[-1:] not in "sS":
        return new.removesuffix("s")
    return new if new[-1:] in "sS" else f"{new}s"


def _is_moved_only(candidate: Candidate, kind: str, figure: new_figures.Figure, claim: str) -> bool:
    """Whether a sentence says nothing but that what a note tells has another day or hour now."""
    if kind not in _DATED | {"number"} or _MOVED.search(candidate.spans[0].quote) is None:
        return False
    if kind == "number" and not _is_hour(claim, *figure[1:], kind):
        return False
    quote = candidate.spans[0].quote.replace(candidate.value, " ")
    said = {stem(word) for word in new_figures.words_of(quote)} - _OF_MOVING
    return bool(said) and said <= {stem(word) for word in new_figures.words_of(claim)}


_MOVED = compile_later(
    r"\b(?:moved|moving|moves|changed|changing|switched|shifted|gone|pushed|brought|rescheduled|"
    r"postponed|extension|extended|delayed|"
    r"now|from now on|instead|these days|nowadays)\b",
    re.I,
)
_OF_MOVING = frozenset(
    stem(each)
    for each in "moving moved moves change changed changing switched switch shifted pushed put "
    "brought forward back rescheduled instead these nowadays they they've he's she's theyve got "
    "slot our postponed extension extended delayed been given staying".split()
)
"""Words that only say that it is another time."""


def _lone(
    standing: Standing, candidate: Candidate, kind: str, turn: TurnView
) -> list[tuple[Held, new_figures.Figure]]:
    """The only memory that words can mean which tell a number without what it counts: "dropped to 4
    days a week", "he turned 7", "so four of us now", "two died, so 9 left". None where it may be
    several."""
    quote = candidate.spans[0].quote
    at = quote.find(candidate.value)
    if at < 0 or _BY.search(quote[:at]):
        return []
    before, after = _before(candidate), quote[at + len(candidate.value) :].lower()
    if _MADE_IT.search(before):
        return _pointed_at(standing, candidate, kind, turn, named=True)
    if kind != "number":
        return []
    if _DOWN_TO.match(before) and _ALONE.match(after):
        return _pointed_at(standing, candidate, kind, turn, named=False)
    pattern: re.Pattern[str] | None = None
    aged = _AGED.search(before)
    unit = _UNIT.match(after)
    if aged is not None:
        pattern = _AGE_OF[aged["who"]] if not after.strip(" .!") or _SINCE.match(after) else None
    elif _OF_US.match(after) or (_LEFT.match(after) and _PERSONS.search(before)):
        pattern = _PEOPLE
    elif _LEFT.match(after) and _WENT.search(before):
        pattern = _COUNT
    elif unit is not None and _BARE.match(before) and unit[1] in _PERIODS:
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
    types = LASTING | {"event", "commitment"} if kind in _DATED else LASTING
    found: list[tuple[Held, new_figures.Figure]] = []
    for one in standing.of_user():
        memory = one.written.memory
        if one.type not in types or memory.context is not None or _is_past(one, turn):
            continue
        old = _old(memory.claim, kind, quote, at, candidate.value)
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


def _is_past(one: Held, turn: TurnView) -> bool:
    """Whether an event or a plan was before: it has no other day any more."""
    start = one.written.memory.when.start
    planned = one.type in ("event", "commitment")
    return planned and start is not None and start < turn.said_at - DAY


def _is_as_much(claim: str, old: new_figures.Figure, candidate: Candidate, *, named: bool) -> bool:
    """Whether what a claim has so much of may be as much as is said now: it is measured or paid
    for, in the same unit, and neither doubles nor halves twice."""
    if named and _PAID.search(claim) is not None:
        return True
    quote = candidate.spans[0].quote
    at = quote.find(candidate.value)
    new_unit, old_unit = _unit(quote[at + len(candidate.value) :]), _unit(claim[old.end :])
    if not (old_unit in _MEASURES or _PAID.search(claim)) or new_unit not in {"", old_unit}:
        return False
    amounts = [_amount(candidate.value), _amount(claim[old.start : old.end])]
    return min(amounts) > 0 and max(amounts) <= _MOST * min(amounts)


def _amount(figure: str) -> float:
    """What a figure in digits says; 0 for words."""
    digits = figure.lower().strip("$€£ ").replace(",", "")
    thousands = 1000 if digits.endswith("k") else 1
    digits = digits.removesuffix("k")
    return thousands * float(digits) if _PLAIN.fullmatch(digits) else 0.0


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


_MADE_IT = compile_later(
    r"\b(?:haggled|negotiated|knocked|talked|beat|got|brought|put|pushed|moved|shifted|raised|upped|"
    r"bumped|hiked|lowered|dropped|reduced|cut|increased|changed|rescheduled|postponed|delayed) "
    r"(?:it|that|them) (?:(?:down|up|back|forward|over) )?(?:to|till|until) "
    r"(?:just |only |about |around |the )?$"
)
_PAID = compile_later(
    r"[$€£]|\b(?:pay(?:s|ing)?|paid|costs?|price|rent|fee|charges?|salary|wages?|earns?|budget|quid|euros?|pounds?|dollars?|"
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
_AGED = compile_later(r"(?:^|[,;.!] )(?P<who>he|she) (?:has |just |has just )?turned $")
_SINCE = compile_later(
    r" (?:yesterday|today|last|on|in|this|now|a (?:week|month)|two|three|already|the other)\b"
)
_OF_US = compile_later(r" of us\b(?! (?:went|go|are going|met|had|came|got|left|stayed|were)\b)")
_LEFT = compile_later(r" ?(?:left|remaining|now|in total|total|$)")
_PERSONS = compile_later(r"\b(?:people|person|colleague|member|joined|hired|quit|leavers?)\b")
_WENT = compile_later(
    r"\b(?:died|lost|sold|gave|ate|killed|broke|got|took)\b.{0,40}\b(?:so|only|leaves|leaving|"
    r"makes it|down to|now) (?:just |only |there['’]?s |that['’]?s |down to )?$"
)
_PEOPLE = compile_later(
    rf"\b{_N} (?:of (?:them|us)|people|persons|members|colleagues|devs|developers|engineers|"
    r"heads)\b"
)
_COUNT = compile_later(
    rf"^(?:User|i|we) (?:has|have|keeps?|owns?|got) {_N} (?!(?:years?|months?|weeks?|days?|hours?|"
    r"minutes?|euros?|dollars?|pounds?|of|more|times?)\b)[a-z]+",
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


def _before(candidate: Candidate) -> str:
    """What a sentence says before its new figure, in lower case."""
    quote = candidate.spans[0].quote
    return quote[: max(0, quote.find(candidate.value))].lower()


def _says(other: Candidate, span: Span, value: str) -> bool:
    """Whether another candidate tells the same figure."""
    return value.lower() in other.value.lower() and any(
        each.turn is None and each.start < span.end and span.start < each.end
        for each in other.spans
    )


_DIGITS = compile_later(r"\d+")
_UNIT = compile_later(r"[\s-]{0,2}([^\W\d_][\w'’-]*)")
_LINK = compile_later(r"\b(at|in|for|by|until|since|no|number|of)(?: the| about| around)?\W*$")


def _figure_meant(
    candidate: Candidate, kind: str, topics: frozenset[str], one: Held, turn: TurnView
) -> tuple[int, new_figures.Figure] | None:
    """How well the figure of a memory fits as the one that is another now; None where it does
    not."""
    memory = one.written.memory
    claim = memory.claim
    topic = {stem(each) for word in topics for each in new_figures.alike(word)}
    slot = memory.attribute.rpartition(".")[2].replace("-", " ")
    low = f"{claim} {slot}".lower()
    if not any(each in low for each in topic):
        return None
    quote = candidate.spans[0].quote
    if distinctions.apart(quote, claim, memory.attribute) or distinctions.name_others(quote, claim):
        return None
    if not set(_DIGITS.findall(memory.attribute)) <= set(_DIGITS.findall(quote)):
        return None  # the figure of `5k-record` says which record, and not how fast
    at = quote.find(candidate.value)
    if _BY.search(quote[:at]) or _BY_SO_MUCH.match(quote[at + len(candidate.value) :]):
        return None
    old = _old(claim, kind, quote, at, candidate.value)
    if old is None:
        return None
    if one.type in ("event", "commitment"):
        start = memory.when.start
        if start is not None and start < turn.said_at - DAY:
            return None
    if claim[old.start : old.end].lower() == candidate.value.lower():
        return None
    if _is_more(candidate.value, claim[old.start : old.end]) and _FEWER.search(quote):
        return None  # "sold one monitor, just the 32 now"
    rest = claim[: old.start] + " " + claim[old.end :]
    words = {stem(word) for word in new_figures.words_of(f"{rest} {slot}")}
    if kind == "number" and old.kind == "number":
        new_unit, old_unit = _unit(quote[at + len(candidate.value) :]), _unit(claim[old.end :])
        if new_unit != old_unit and not (one.type == NOTE and {new_unit, old_unit} <= _SPANS):
            if new_unit and new_unit not in words:
                return None
            if old_unit and old_unit not in topic and new_unit not in words:
                return None
        money = candidate.value[:1] in "$€£" and claim[old.start] in "$€£"
        hours = _is_hour(quote, at, at + len(candidate.value), kind) and _is_hour(
            claim, *old[1:], kind
        )
        if not new_unit and not old_unit and not money and not hours:
            links = [_LINK.search(each.lower()) for each in (quote[:at], claim[: old.start])]
            if {link and link[1] for link in links} not in ({None}, {links[0] and links[0][1]}):
                return None
    shared = (topic & words) - _MEASURES
    return (len(shared), old) if shared else None


_BY = compile_later(
    r"\b(?:sav(?:es?|ed|ing)(?: me| us)?|extra|another|by|plus|minus|lost|gained)\W*$", re.I
)
_BY_SO_MUCH = compile_later(
    r" ?(?:[^\W\d_]{1,10} )?(?:less|more|off|cheaper|extra|dearer|on top)\b", re.I
)
"""Before and after a figure that says how much it has changed, and not what it is."""


_FEWER = compile_later(
    r"\b(?:sold|lost|died|gave away|got rid of|down to|just the|only|left|fewer|ate|killed)\b", re.I
)


def _is_more(new: str, old: str) -> bool:
    """Whether a count is larger than another."""
    one, other = (number_of(each.lower()) or "" for each in (new, old))
    return one.isdigit() and other.isdigit() and int(one) > int(other)


def _old(claim: str, kind: str, quote: str, at: int, value: str) -> new_figures.Figure | None:
    """The one figure of a claim that another of a kind may take the place of. "To 10" is a time of
    the day for what is at 9:15, and of several numbers it is the one of the same unit."""
    figures = new_figures.figures(claim)
    same = [each for each in figures if each.kind == kind]
    if len(same) > 1 and kind == "weekday":
        between = claim[same[0].end : same[-1].start]
        if len(same) == 2 and _AND.fullmatch(between):
            return new_figures.Figure(kind, same[0].start, same[-1].end)
    if len(same) > 1 and kind == "number":
        unit = _unit(quote[at + len(value) :])
        same = [each for each in same if unit and _unit(claim[each.end :]) == unit]
    if not same and kind in ("number", "clock"):
        hours = [(quote, at, at + len(value), kind)]
        hours += [(claim, *each[1:], each.kind) for each in figures if each.kind in _HOURS]
        if len(hours) == 2 and all(_is_hour(*each) for each in hours):
            same = [each for each in figures if each.kind in _HOURS]
    return same[0] if len(same) == 1 else None


_HOURS = ("number", "clock")
_AND = compile_later(r" ?(?:and|&|,|/|\+) ?(?:on )?", re.I)
_AT = compile_later(r"\b(?:at|to|by|till|until|from|around|about|it['’]?s|for)\W*$", re.I)


def _is_hour(text: str, start: int, end: int, kind: str) -> bool:
    """Whether a figure of a text may be a time of the day."""
    said = text[start:end]
    if kind == "clock":
        return True
    return said.isdigit() and int(said) <= 24 and _AT.search(text[:start]) is not None


_SPANS = frozenset(
    {"", *(stem(each) for each in "min mins minute minutes hr hrs hour hours".split())}
)
_MEASURES = frozenset(
    stem(each)
    for each in "mg g kg kilo kilos lb lbs stone ml l litre litres liter liters km "
    "mile miles m cm mm hour hours minute minutes euro euros pound pounds dollar dollars "
    "percent degree degrees time times".split()
)
"""What many things are measured in: it does not tell which of them is meant."""


_SAME_UNIT = {"kilo": "kg", "kilos": "kg", "lb": "pounds", "lbs": "pounds", "quid": "pounds"}
_NO_UNIT = frozenset(
    "a an per is are was now left so and but or by this in on at for to the".split()
)


def _unit(after: str) -> str:
    """What a figure counts, as far as the next word tells."""
    found = _UNIT.match(after)
    if found is None or found[1].lower() in _NO_UNIT:
        return ""
    word = _SAME_UNIT.get(found[1].lower(), found[1].lower())
    return "" if word not in set(new_figures.words_of(word)) else stem(word)
