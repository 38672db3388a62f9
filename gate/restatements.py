"""Whether a sentence tells another value of what a memory tells: "recycling goes out on Mondays",
and then "council says it's Wednesdays for the recycling from May". Pure.

Both have to name the same thing, and a value of the same kind: a weekday, an hour, a count of the
same unit, or where or with whom something is. What "it" means is the memory told last.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from beliefledger.gate.belief import Held
from beliefledger.gate.meant_memories import stems
from beliefledger.gate.pairs import Said, Told
from beliefledger.gate.rules import new_figures
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.networks.stems import stem

_ANEW = compile_later(
    r"\b(?:now|nowadays|these days|instead|from (?:now|today|here|this|next|tomorrow|(?:jan|feb|mar"
    r"|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*|mon\w*|tues\w*|wednes\w*|thurs\w*|fri\w*)|as of|"
    r"since|starting|moved|changed|switched|shifted|swapped|goes up|went up|going up|up to|down to|"
    r"makes (?:it|that)|only|reschedul\w+|rebooked|re-?named|new (?:rota|time|date|day|slot|number|"
    r"address|room|place|venue))\b"
)
_SO_MANY = compile_later(
    r"\b(?:down to|up to|makes (?:it|that)|leaves (?:me|us) (?:with)?|left with|that['’]?s|"
    r"so it['’]?s|"
    r"(?:goes|went|going|gone|moved|bumped|put) (?:\w+ )?(?:up|down) to|broke|hit|passed|cracked|"
    r"reached|now (?:have|got)|have|got|are|is|now)(?: (?:just|only|about|around|over|the))? $"
)
"""Before a number that says how many there are now."""
_WEAK = frozenset(
    stem(word)
    for word in "week month year day morning evening afternoon night time hour minute thing people "
    "kid kids half quarter weekend weekday today tomorrow bit lot way place house home work one "
    "two three four five six seven eight nine ten come comes start starts begin place move moved "
    "change changed switch switched swap everything says said told council boss".split()
)
"""Words that do not tell which thing is meant."""
_TAKEN = compile_later(
    r"\b(?:moved|switched|changed|shifted|transferred|exported|migrated|ported|swapped|gone|went|"
    r"jumped ship|put)(?: (?!(?:to|into|onto)\b)[\w'’-]+){0,4}? (?:over |across |back )?"
    r"(?:to|into|onto) (?:an? |the |my |our )?(?P<new>[\w'’&.-]+(?: [\w'’&.-]+)?)"
)
"""What something is moved to."""
_IS_AT = compile_later(
    r"\b(?:is|are|['’]s|['’]re|['’]m|im|its|lives?|live|sits?|goes|go|comes?)(?: now)? "
    r"(?:in|at|on|with|from|by|to|outside|behind|next to) (?:an? |the |my |our )?"
    r"(?P<new>[\w'’&.-]+(?: [\w'’&.-]+){0,3}?)(?= (?:now|nowadays|these days|since|from|as of|"
    r"instead)\b|[,.;!]|$)"
)
_WAS_AT = compile_later(
    r"\b(?:in|at|on|with|from|by|to|outside|behind|next to) (?:an? |the |my |our )?"
    r"(?P<old>[\w'’&.-]+(?: [\w'’&.-]+){0,2})"
)
_NOWHERE = frozenset(
    "time hold order fire sale track board top it me us them him her that this which good bad bed "
    "trouble charge love use work school general fact total case public private".split()
)
_LEAD = (
    r"^\W*(?:(?:so|and|but|ok|well|update|oh|btw|ugh|lol|just|only|finally|no|wait|sorry|wrong|"
    r"correction|my (?:mistake|bad)|oops|(?:you(?:['’]?ve| have)? )?got that wrong|"
    r"that['’]?s wrong|actually)[,:.!]? ){0,4}"
)
_POINTS = compile_later(
    rf"{_LEAD}(?:since (?:\w+ ){{1,3}})?(?:it['’]?s|it is|its|they['’]?re|theyre|they are|"
    r"it (?:goes|went|moved|changed|starts|leaves|costs)) "
)
_BARE = compile_later(
    rf"{_LEAD}(?:(?:i['’]?m |im |we['’]?re |now )?(?:up|down) to (?=[$€£]?[\da-z])|"
    r"(?:i |we |they )?(?:raised|upped|bumped|cut|lowered|dropped|reduced|increased|moved|pushed) "
    r"(?:it|that|them) (?:(?:up|down|back) )?to |(?:we['’]?re|we are|were) (?=\w+ now\b)|"
    r"(?:that )?makes (?:it )?(?=[\da-z]{1,9}\b)|(?=[\da-z]{1,9} of us (?:now|left)\b))"
)
"""A new figure of what was told last: "raised it to 90", "six of us now"."""
_LATER = compile_later(r"\b(?:now|nowadays|these days|from|as of|since|instead|starting)\b")


_CORRECTS = compile_later(
    r"\b(?:wrong|correction|my (?:mistake|bad)|oops|sorry|wait|no, )\b|^\W*no\b"
)


def points(said: Said) -> bool:
    """Whether a sentence gives a new value of what it only points at: "it's in C3 now"."""
    if _BARE.match(said.low) is not None:
        return bool(new_figures.figures(said.text))
    found = _POINTS.match(said.low)
    if found is None:
        return False
    return _LATER.search(said.low) is not None or _CORRECTS.search(found[0]) is not None


def tells_anew(said: Said) -> bool:
    """Whether a sentence says that something is otherwise now."""
    return "slip" in said.cues or _ANEW.search(said.low) is not None


def restates(said: Said, told: Told, *, pointed: bool) -> bool:
    """Whether a sentence tells another value of what is told; `pointed` where that is what "it"
    means."""
    if not pointed:
        shared = (said.stems & stems(told.claim)) - _WEAK
        if not any(each.isalpha() and len(each) > 2 for each in shared):
            return False
    return _has_another_figure(said, told, pointed=pointed) or _is_elsewhere(
        said, told, pointed=pointed
    )


def at_another(text: str) -> Callable[[Held, str], bool]:
    """Whether a sentence says word for word what a memory says, but with another figure, of what
    has one at a time: "trash day is monday" and "trash day will be thursday"."""
    said = text.lower()
    there = [each for each in new_figures.figures(said) if each.kind != "number"]
    new = there[0] if len(there) == 1 else new_figures.Figure("none", 0, 0)
    figure = said[new.start : new.end].rstrip("s")
    rest = stems(f"{said[: new.start]} {said[new.end :]}") - _FILLING

    def fits(held: Held, words: str) -> bool:
        del words
        claim = held.written.memory.claim.lower()
        was = [each for each in new_figures.figures(claim) if each.kind == new.kind]
        if len(was) != 1 or claim[was[0].start : was[0].end].rstrip("s") == figure:
            return False
        other = stems(f"{claim[: was[0].start]} {claim[was[0].end :]}") - _FILLING
        return bool(rest) and rest == other

    return fits


_FILLING = frozenset(
    stem(word)
    for word in "user s the a an my our is are was will be it its it's it'll on at by in for "
    "from to now of and so ok actually starting next this week month year then just "
    "again till until".split()
)


def counts_anew(said: Said, told: Told) -> bool:
    """Whether a sentence has a number, and what is told is how many there were."""
    return told.attribute.startswith("count.") and any(
        each.kind == "number" for each in new_figures.figures(said.text)
    )


def _has_another_figure(said: Said, told: Told, *, pointed: bool) -> bool:
    """Whether both have one figure of a kind, and not the same one."""
    here, there = new_figures.figures(said.text), new_figures.figures(told.claim)
    for kind, _ in new_figures.KINDS:
        new = [each for each in here if each.kind == kind]
        old = [each for each in there if each.kind == kind]
        if len(new) != 1 or len(old) != 1:
            continue
        words = said.text[new[0].start : new[0].end].lower()
        was = told.claim[old[0].start : old[0].end].lower()
        if words.rstrip("s") == was.rstrip("s"):
            continue
        if kind != "number":
            return True
        if pointed:
            if _IT_IS.search(said.low[: new[0].start]) and _measures_the_same(
                said, new[0], told, old[0]
            ):
                return True
        elif _counts_the_same(said.text, new[0], told.claim, old[0]):
            return True
    return False


def _counts_the_same(
    said: str, new: new_figures.Figure, told: str, old: new_figures.Figure
) -> bool:
    """Whether two numbers are of the same: "stage 3" and "stage 5", "6 ducks" and "now
    four"."""
    before, was_before = said[: new.start].lower(), told[: old.start].lower()
    one, other = (_LAST.search(each) for each in (before, was_before))
    if one is not None and other is not None and one[1] == other[1] and one[1] not in _LINKS:
        return True
    after, was_after = (_NEXT.match(text) for text in (said[new.end :], told[old.end :]))
    unit, was_unit = (stem(each[1].lower()) if each else "" for each in (after, was_after))
    if unit and unit not in _LINKS:
        return unit == was_unit and _SO_MANY.search(before) is not None
    return _SO_MANY.search(before) is not None


def _measures_the_same(
    said: Said, new: new_figures.Figure, told: Told, old: new_figures.Figure
) -> bool:
    """Whether a number may take the place of one of what "it" is: heads for heads, of the same unit
    and about as many."""
    after, was_after = said.low[new.end :], told.claim[old.end :].lower()
    if _OF_US.search(said.low) is not None:
        return _HEADS.search(told.claim) is not None
    if after[:1].isalpha():
        return False  # "2x" is how often
    unit, was_unit = (_NEXT.match(each) for each in (after, was_after))
    if unit is not None and unit[1] not in _LINKS:
        if was_unit is None or stem(unit[1]) != stem(was_unit[1]):
            return False
    elif was_unit is not None and was_unit[1].endswith("s") and _UNITS.match(was_unit[1]) is None:
        return _TOTAL.search(said.low[: new.start]) is not None  # "it" is not three kids
    return _is_about(said.text[new.start : new.end], told.claim[old.start : old.end])


def _is_about(new: str, old: str) -> bool:
    """Whether two numbers in digits are no more than five times each other."""
    found = [_DIGITS.search(each) for each in (new, old)]
    one, other = (float(each[0].replace(",", "")) if each else 0.0 for each in found)
    return not one or not other or 0.2 < one / other < 5


_DIGITS = compile_later(r"\d[\d,]*(?:\.\d+)?")
_OF_US = compile_later(r"\bof us\b|\b(?:we['’]?re|we are|were) \w+ now\b")
_HEADS = compile_later(
    r"\b(?:team|office|people|ppl|of (?:us|them)|staff|crew|household|members|family|group|we are|"
    r"we['’]?re|devs|colleagues)\b",
    re.I,
)
_UNITS = compile_later(
    r"(?:kilos|kgs|euros|pounds|dollars|bucks|degrees|minutes|mins|hours|hrs|miles|kms|litres|"
    r"percent|stones|lbs|grams|is|was|has|as)\b"
)
_TOTAL = compile_later(r"\bmakes (?:it |that )?$|\bthey['’]?re $")
_IT_IS = compile_later(
    r"\b(?:it['’]?s|it is|its|they['’]?re|makes(?: it)?|it (?:went|goes|is going|"
    r"costs)|going|we['’]?re|we are|were|up|down|(?:it|that|them))(?: up| down| back)?(?: to)? $|"
    r"^\W*(?:(?:so|and|just|only|now) )*$"
)
_LAST = compile_later(r"\b([a-z]{3,12}) $")
_NEXT = compile_later(r"[ -]?([^\W\d_]{2,16})")
_LINKS = frozenset(
    "about around over under only just for with from than the and are has have had gets got pays "
    "is at in on of to by per a an now so but or as from this that since each every was up down "
    "costs charge".split()
)


_PLACED = compile_later(
    r"\b(?:in|at|on|outside|behind|next to) (?:an? |the |my |our )?(?P<old>[^\W\d_][\w'’&.-]*"
    r"(?: (?!(?:on|at|in|from|with|every|and|to|for|by|until|of|so|but)\b)[\w'’&-]+){0,2})"
)
"""Where something is, in a note."""


def moved(said: Said, note: str) -> str | None:
    """The words of a note that tells when and where something is, with the place where it is now:
    "handover is at 7pm at the desk", and "handover moved to the break room". None for any other."""
    found = _TAKEN.search(said.low)
    if found is None or not _dated(note):
        return None
    new = said.text[slice(*found.span("new"))]
    places = [
        was
        for was in _PLACED.finditer(note.lower())
        if not _NOWHERE.issuperset(was["old"].split()) and not _dated(was["old"])
    ]
    if len(places) != 1 or _dated(new):
        return None
    start, end = places[0].span("old")
    return f"{note[:start]}{new}{note[end:]}"


def _dated(text: str) -> bool:
    return any(each.kind != "number" for each in new_figures.figures(text))


_USED = ("uses.", "tool.", "relation.uses", "listens.", "reads.")


def _is_of_it(said: Said, told: Told) -> bool:
    """Whether a sentence begins with the thing that is told of, or with who speaks: "imran moved to
    the bigger room" is of somebody else's."""
    if not _SPEAKER.isdisjoint(said.words[:2]):
        return True
    first = next((stem(word) for word in said.words if stem(word) in said.stems), "")
    return first in told.stems - told.named or _OF_MINE.search(said.low) is not None


_SPEAKER = frozenset("i im ive we weve".split())
_OF_MINE = compile_later(
    r"^\W*(?:moved|switched|exported|transferred|put|changed) (?:all )?(?:my|our)\b"
)


def _is_elsewhere(said: Said, told: Told, *, pointed: bool) -> bool:
    """Whether something is elsewhere or with somebody else now."""
    found = _TAKEN.search(said.low)
    if found is None or pointed:
        found = _IS_AT.search(said.low) if _LATER.search(said.low) else found
    if found is None or not (pointed or _is_of_it(said, told)):
        return False
    new = found["new"].split()
    if new[0][0].isdigit() or _NOWHERE.issuperset(new):
        return False
    anew = {stem(each) for each in new}
    rest = set(said.words) - set(new)
    olds = [was["old"].split() for was in _WAS_AT.finditer(told.claim.lower())]
    if told.attribute.startswith(_USED):
        olds.append(told.value.lower().split())
    for old in olds:
        if _NOWHERE.issuperset(old) or old[0][0].isdigit() or not rest.isdisjoint(old):
            continue
        if anew.isdisjoint(stem(each) for each in old):
            return True
    return False
