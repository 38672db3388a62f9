"""Figures and dates that have changed: which memory has the old one. Pure but for what a draft
looks up."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from beliefledger.gate.belief import Held
from beliefledger.gate.claim_wordings import number_of
from beliefledger.gate.dates import find_when
from beliefledger.gate.decision import TurnView
from beliefledger.gate.figure_units import (
    BY,
    DATED,
    HOURS,
    MEASURES,
    before,
    is_hour,
    old_figure,
    unit_of,
)
from beliefledger.gate.lone_figures import AGED, MADE_IT, is_bare, lone
from beliefledger.gate.meant_memories import LASTING, Standing, in_place, look_up
from beliefledger.gate.registry import NOTE
from beliefledger.gate.rules import distinctions, new_figures
from beliefledger.gate.rules.lexicon import Form, verb_form
from beliefledger.gate.said_once import meets
from beliefledger.gate.spoken_of import spoken_of
from beliefledger.ledger.candidate import Candidate, Ends, Span, When
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.times import DAY
from beliefledger.networks.stems import stem

_FOR_SO_LONG = compile_later(
    r"\AUser has (?:been|had|lived|worked|used) .{1,60}? for (?:about |over |almost |nearly )?"
    r"\w+ (?:years?|months?|weeks?|days?|decades?)\b"
)


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


def says_less(candidate: Candidate, anew: Sequence[Candidate]) -> bool:
    """Whether a candidate only seems to move something, or to use a version that a memory has now:
    "upgraded to Python 3.13"."""
    version = " ".join(candidate.value.split()[:2])
    used = candidate.attribute.startswith("uses.") and any(
        each.type != "event" and not each.retracts and version in each.claim for each in anew
    )
    return used or candidate.attribute in _MOVES


_MOVES = frozenset({"event.move", "event.push", "event.shift", "event.put", "has.now"})
"""What a sentence may seem to tell that moves something else: "moved to friday 4pm"."""


def _with_figure(candidate: Candidate, figured: Candidate) -> Candidate:
    """A candidate that has another figure of a kind, with the one of the same sentence."""
    there = [each for each in new_figures.figures(candidate.claim) if each.kind == figured.replaces]
    if len(there) > 1 and figured.replaces in HOURS:
        there = [each for each in there if is_hour(candidate.claim, *each[1:], each.kind)]
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
    types = LASTING | {"event", "commitment"} if kind in DATED else LASTING
    scored: list[tuple[int, Held, new_figures.Figure]] = []
    quote = candidate.spans[0].quote
    there = look_up(standing, candidate, lambda *_: True, types)
    for one in spoken_of("", quote, there, standing):
        fit = _figure_meant(candidate, kind, topics, one, turn)
        if fit is not None:
            scored.append((fit[0], one, fit[1]))
    scored = scored or [(0, *each) for each in lone(standing, candidate, kind, turn)]
    if not scored:
        return
    scored = [each for each in scored if _ONCE.search(each[1].written.memory.claim) is None]
    if not scored:
        return
    best = max(score for score, _, _ in scored)
    meant = [(one, figure) for score, one, figure in scored if score == best]
    typed = [each for each in meant if each[0].type != NOTE]
    meant = typed or meant
    if len({each[0].written.memory.claim for each in meant}) > 1:
        return  # which of them, nobody knows
    span = candidate.spans[0]
    bare = is_bare(candidate, kind) or MADE_IT.search(before(candidate)) is not None
    for one, figure in meant:
        memory = one.written.memory
        own = [each for each in beside if _says(each, candidate)]
        ends = Ends(attribute=memory.attribute, value=memory.value, denials=memory.negated)
        if one.type != NOTE and any(each.attribute == memory.attribute for each in own):
            if one.type == "event":  # which are told side by side: the old one is over
                over = {"replaces": None, "value": span.quote, "ends": (ends,), "retracts": True}
                yield candidate.model_copy(update=over)
            continue  # a rule has found it in this slot itself
        alone = bare or _is_moved_only(candidate, kind, figure, memory.claim)
        another = _TO_ANOTHER.search(span.quote) is not None
        if another and any(_takes_its_slot(each, candidate, one) for each in beside):
            continue
        if (one.type == NOTE and (another or not alone)) or (
            another and _OF_WHOM.search(memory.claim)
        ):
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
        if kind == "date" and old[:4] == "the " and new[:1].isdigit() and new[-1:].isalpha():
            new = f"the {new}"
        claim = memory.claim[: figure.start] + new + memory.claim[figure.end :]
        if AGED.search(before(candidate)):
            claim = claim.replace(f" is {candidate.value}", f" turned {candidate.value}", 1)
        value = _replaced(memory.value, old, new)
        claim, value = (_without_reason(each, new) for each in (claim, value))
        hour = _hour_said(quote, candidate.value) if kind in DATED else None
        if hour is not None or (kind == "weekday" and _SAME_HOUR.search(quote) is None):
            claim, value = (_at_hour(each, new, hour) for each in (claim, value))
        if (
            value == memory.value
        ):  # the figure stands in the claim alone, and the value would repeat
            if one.type != NOTE and _FOR_SO_LONG.match(memory.claim) is not None:
                continue  # how long it has been so grows by itself: "a nurse for ten years"
            value = candidate.value
        when = memory.when
        if kind in DATED and one.type in ("event", "commitment"):
            dated = find_when(candidate.value, turn.said_at, future=True)
            when = When() if dated is None else dated.when
        elif one.type != "event":
            when = When()
        made = MADE_IT.search(before(candidate)) or _UPGRADED.search(before(candidate))
        cited = candidate if made is None else _by_its_figure(candidate)
        yield in_place(cited, one, claim, value, (ends,)).model_copy(update={"when": when})


def _without_reason(text: str, figure: str) -> str:
    """A text without the reason behind its figure: why it was another one says nothing of this."""
    at = text.find(figure)
    reason = None if at < 0 else _REASON.search(text, at + len(figure))
    return text if reason is None else text[: reason.start()]


def _at_hour(text: str, day: str, said: str | None) -> str:
    """A text with the hour that was said behind a day that another one has taken the place of; by
    itself the old hour is left out, as nobody said that it is the same."""
    at = text.find(day)
    hour = None if at < 0 else _HOUR.match(text, at + len(day))
    if hour is None:
        return text
    return text[: hour.start()] + (f" at {said}" if said else "") + text[hour.end() :]


def _hour_said(quote: str, day: str) -> str | None:
    """The hour that is said behind a day: "they moved it to the 4th, 6am"."""
    at = quote.find(day)
    said = None if at < 0 else _HOUR_SAID.match(quote, at + len(day))
    return None if said is None else said["hour"]


_HOUR_SAID = compile_later(
    r"(?:,| –| -)? ?(?:at |from )?(?P<hour>\d{1,2}(?:[:.]\d\d)? ?(?:am|pm)|\d{1,2}[:.]\d\d|noon|"
    r"midday|(?<=at )\d{1,2}(?! ?(?:%|km|kg|euros?|pounds?|people|of)\b))(?![\w:])",
    re.I,
)
_SAME_HOUR = compile_later(
    r"(?<!\w)\d|\b(?:same|still|mov\w+|shift\w*|push\w*|brought|put|postpon\w+|reschedul\w+|swap\w*)\b",
    re.I,
)
"""What is moved to another day is at the hour that it was, as far as nobody says another."""
_HOUR = compile_later(
    r",? (?:at|from|around) (?:half (?:past )?|quarter (?:past|to) )?(?:\d{1,2}(?:[:.]\d\d)?|noon|"
    r"midday|six|seven|eight|nine|ten|eleven|twelve|one|two|three|four|five)(?: ?(?:am|pm|h|"
    r"o['’]?clock))?(?: in the (?:morning|evening|afternoon))?"
    r"(?!\w|[:.]\d| ?[-–]| (?:to|till?|until)\b)",
    re.I,
)
_REASON = compile_later(
    r",? (?:because|cause|cos|coz|cuz|bc|"
    r"since(?= (?:i|we|he|she|they|it|my|our|the|their|his|her|its)\b)|due to|thanks to|"
    r"on account of|owing to)\b(?! (?:\d|mon|tue|wed|thu|fri|sat|sun))",
    re.I,
)
_OF_WHOM = compile_later(r"\b(?:with|at|from) (?!(?:an?|the|my|our|their|work|home)\b)[a-z]", re.I)
"""A claim names whom the figure is of: "is with Vodafone, 40 euros a month"."""


def _takes_its_slot(other: Candidate, candidate: Candidate, held: Held) -> bool:
    """Whether another candidate of these words gives the slot of a memory another value."""
    memory = held.written.memory
    return (
        (other.entity, other.attribute) == (memory.entity, memory.attribute)
        and held.type != NOTE
        and not other.retracts
        and other.value.lower() not in memory.claim.lower()  # "moved to Python 3.12"
        and meets(other, candidate)
    )


_UPGRADED = compile_later(
    r"\b(?:upgraded|updated|bumped|downgraded)(?: (?:it|us|everything))? to (?:[\w.+#-]{1,20} )?$"
)
"""Before a version that there is now: "we upgraded to python 3.13 today"."""
_ONCE = compile_later(r"\bused to\b", re.I)
"""What was so once has no other figure now: "used to go three times a week"."""
_TO_ANOTHER = compile_later(
    r"\b(?:moved|switched|changed|went|gone|transferred|migrated|swapped|jumped)"
    r"(?: [\w'’-]+){0,3}? (?:over to|to|with|onto) "
    r"(?!\d|[$€£]|the \d|(?:weekly|monthly|once|twice|every|mon|tues?|wed|thu(?:rs?)?|fri|sat|sun|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|"
    r"apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|"
    r"dec(?:ember)?|half|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|"
    r"thirty|noon|next|this|later|earlier)(?![\w'’]))[\w'’&-]|"
    r"\b(?:left|quit|ditched|dropped|dumped|swapped|binned|cancelled|canceled)"
    r"(?: [\w'’&-]+){1,3}? for (?!\d|[$€£]|(?:an?|the|good|now|my|our|this)\b)[\w'’&-]|"
    r"\bwith (?-i:[A-Z])[\w'’&-]+(?: now)?\W*$",
    re.I,
)
"""Somebody else has it now, at another price: "moved hosting to Hetzner, 9 bucks now"."""


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
        return new if new_figures.is_several(old) else new.removesuffix("s")
    return new if new[-1:] in "sS" else f"{new}s"


def _is_moved_only(candidate: Candidate, kind: str, figure: new_figures.Figure, claim: str) -> bool:
    """Whether a sentence says nothing but that what a note tells has another day or hour now."""
    if kind not in DATED | {"number"} or _MOVED.search(candidate.spans[0].quote) is None:
        return False
    if kind == "number" and not is_hour(claim, *figure[1:], kind):
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


def _says(other: Candidate, candidate: Candidate) -> bool:
    """Whether another candidate tells the same figure."""
    return candidate.value.lower() in other.value.lower() and meets(other, candidate)


_DIGITS = compile_later(r"\d+")
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
    at = quote.find(candidate.value)
    if BY.search(quote[:at]) or _BY_SO_MUCH.match(quote[at + len(candidate.value) :]):
        return None
    old = old_figure(claim, kind, quote, at, candidate.value)
    if old is None:
        return None
    if memory.attribute.startswith("health.medication."):
        if not _names_it(memory.value, topic):
            return None  # another medicine is taken beside it
    elif not set(_DIGITS.findall(memory.attribute)) <= set(_DIGITS.findall(quote)):
        return None  # the figure of `5k-record` says which record, and not how fast
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
        new_unit, old_unit = unit_of(quote[at + len(candidate.value) :]), unit_of(claim[old.end :])
        if new_unit != old_unit and not (one.type == NOTE and {new_unit, old_unit} <= _SPANS):
            if new_unit and new_unit not in words:
                return None
            if old_unit and old_unit not in topic and new_unit not in words:
                return None
            if old_unit and not new_unit and _numbers_another(quote[:at], words):
                return None
        money = candidate.value[:1] in "$€£" and claim[old.start] in "$€£"
        hours = is_hour(quote, at, at + len(candidate.value), kind) and is_hour(
            claim, *old[1:], kind
        )
        if not new_unit and not old_unit and not money and not hours:
            links = [_LINK.search(each.lower()) for each in (quote[:at], claim[: old.start])]
            if {link and link[1] for link in links} not in ({None}, {links[0] and links[0][1]}):
                return None
    shared = (topic & words) - MEASURES
    return (len(shared), old) if shared else None


def _names_it(medicine: str, topic: set[str]) -> bool:
    """Whether the words of a medicine, without its dose, are among the stems of a sentence."""
    named = {stem(word) for word in new_figures.words_of(medicine)} - MEASURES
    return bool(named) and named <= topic


def _numbers_another(before: str, words: set[str]) -> bool:
    """Whether a number stands behind a noun that is none of these words: "the tram 3", of the 47
    bus."""
    found = list(new_figures.words_of(before))[-1:] if before.endswith(" ") else []
    last = bool(found) and before.split()[-1:] == found
    return last and stem(found[0]) not in words and verb_form(found[0])[1] is Form.NONE


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


_SPANS = frozenset(
    {"", *(stem(each) for each in "min mins minute minutes hr hrs hour hours".split())}
)
