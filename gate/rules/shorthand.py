"""What is said in few words or in passing: "team of 9 here", "light roast only", "no pets".

Such clauses have no "I" that the other rules could begin with. Their shapes are data
(shorthand.yaml), tried where a clause begins on its words as mended; the memory quotes them.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate, takewhile
from typing import Any, NamedTuple

from beliefledger.gate import deadline
from beliefledger.gate.dates import find_when
from beliefledger.gate.literals import Guarded
from beliefledger.gate.rules.figures import under_slot
from beliefledger.gate.rules.findings import NEVER, Reading, RuleFinding
from beliefledger.gate.rules.lexicon import WORDS, Form, expanded, load, third_person, verb_form
from beliefledger.gate.rules.normalised import OF_SOMEBODY
from beliefledger.gate.rules.phrases import slug
from beliefledger.gate.rules.sensitive import category_of
from beliefledger.gate.rules.whole_sentences import told
from beliefledger.gate.rules.words import Token
from beliefledger.ledger.candidate import SELF, SpeechAct
from beliefledger.ledger.late_patterns import compile_later


class _Shape(NamedTuple):
    """One shape, as written in the data."""

    pattern: Guarded
    says: dict[str, Any]


_DATA: dict[str, Any] = load("shorthand.yaml")
_BY_FIRST: dict[str, list[_Shape]] = {}
for _says in _DATA["shapes"]:
    _shape = _Shape(Guarded(expanded(_says["say"], _DATA["parts"])), _says)
    for _word in _says["begins"].split():
        _BY_FIRST.setdefault(_word, []).append(_shape)
_ANY = _BY_FIRST.pop("*")
_EARLY = frozenset(_BY_FIRST)
_SIGNS: tuple[str, ...] = tuple(_DATA["signs"])
"""Words of which the shapes that may begin with any word have one."""
_FIRST = compile_later(r"(?:^|[,;:.!?(–—-] ?|\b(?:so|and|but) )\W{0,2}([a-z][\w'’-]{0,20})", re.I)
_MARKS = frozenset(',;:.!?()"–—-')
_JOINS = frozenset({"so", "and", "but", "also", "because", "since", "though", "then", "that"})
_TOLD = compile_later(
    r"\W*(?:hey |ok |oh |and |also )?(?:fyi|for the record|note to self|keep in mind(?: that)?|"
    r"for future reference|just so you know)\b",
    re.I,
)
_LONGEST = 220
LONGEST = 400
"""The longest sentence that is read for these shapes."""
_NO_NOUN = frozenset(
    "it this that these those one ones what which same here there you me more works work good fine"
    " enough thing things time question is was are were be do does did".split()
) | {"i", "we", "he", "she", "they"}
_PASSING = frozenset(
    "today tonight now later tomorrow rn atm nowadays currently this something anything".split()
)


def may_be_in(text: str) -> bool:
    """Whether a turn may hold one of the shapes."""
    return _signed(text.lower()) or any(
        _word_of(found[1]) in _FIRST_WORDS for found in _FIRST.finditer(text)
    )


def may_be(text: str, start: int, end: int) -> bool:
    """Whether a sentence may hold one of the shapes: cheap, before its words are read."""
    if end - start > LONGEST:
        return False
    said = text[start:end]
    if _signed(said.lower()):
        return True
    return any(_word_of(found[1]) in _FIRST_WORDS for found in _FIRST.finditer(said))


_COMMON = frozenset(
    "i i'm i'd i've we we're we've my our his her a the for in on at during when whenever before"
    " starting going want max living".split()
)
"""Words that begin most sentences: those of these shapes are read for other reasons, or signed."""
_FIRST_WORDS = frozenset(
    {*(_EARLY - _COMMON), *OF_SOMEBODY, *"dont grandma grandpa wanna pls plz living going".split()}
)


def _signed(low: str) -> bool:
    return any(map(low.__contains__, _SIGNS))


def _word_of(word: str) -> str:
    return word.lower().replace("’", "'")


def findings(reading: Reading, found: list[RuleFinding]) -> Iterator[RuleFinding]:
    """What the shapes say of the sentence, beyond what was `found` in the same words."""
    words = reading.words
    if not words or words[-1].end - words[0].start > LONGEST or words[-1].low == "?":
        return
    deadline.check()
    begun = max(_opened(reading.content, words[0].start), words[0].start - 40)
    signed = _signed(reading.content[begun : words[-1].end].lower())
    marked = signed and _TOLD.match(reading.content, begun) is not None
    lows = [word.low for word in words]
    firsts = _EARLY.intersection(lows)
    if not firsts and not signed:
        return
    joined = " ".join([low if len(low) == 1 else low.translate(_NO_MARKS) for low in lows])
    may = {first: _possible(_BY_FIRST[first], joined) for first in firsts}
    anywhere = _possible(_ANY, joined) if signed else []
    if not anywhere and not any(may.values()):
        return
    starts = list(accumulate((len(low) + 1 for low in lows[:-1]), initial=0))
    until = 0
    for at in _beginnings(words):
        if at < until:
            continue
        for shape in [*may.get(words[at].low, ()), *anywhere]:
            match = shape.pattern.pattern.match(joined, starts[at], starts[at] + _LONGEST)
            if match is None or not _fits(reading, shape, match, at, told=marked):
                continue
            finding = _finding(reading, shape, match, starts)
            if finding is None or any(_same(finding, other) for other in found):
                continue
            yield finding
            until = bisect_left(starts, match.end())
            break


def _possible(shapes: list[_Shape], joined: str) -> list[_Shape]:
    return [shape for shape in shapes if shape.pattern.may_match(joined)]


def _opened(text: str, at: int) -> int:
    """Where the sentence begins whose first words were left out as fillers."""
    if not at:
        return 0
    return 1 + max(text.rfind(mark, max(0, at - 40), at) for mark in "\n.!?")


def beside(reading: Reading, found: list[RuleFinding]) -> list[RuleFinding]:
    """What was found in a sentence, and what the shapes say of it: with its circumstance, where
    another finding says the same without one."""
    told = list(findings(reading, found))
    if not told:
        return found
    return [each for each in found if not any(_more(other, each) for other in told)] + told


def _more(finding: RuleFinding, other: RuleFinding) -> bool:
    return (
        finding.context is not None
        and other.context is None
        and other.attribute.startswith("habit.")
        and finding.start <= other.start
        and other.end <= finding.end
    )


_NO_MARKS = str.maketrans(",.:", "___")


def _beginnings(words: list[Token]) -> Iterator[int]:
    """The words with which a clause may begin."""
    opens = True
    for at, word in enumerate(words):
        if word.low in _MARKS:
            opens = True
        elif opens or _joins(words[at - 1].low, word.low):
            yield at
            opens = False


def _joins(before: str, low: str) -> bool:
    return before in _JOINS or (low in ("my", "our") and before in ("for", "with", "of"))


def _fits(reading: Reading, shape: _Shape, match: re.Match[str], at: int, *, told: bool) -> bool:
    says, words = shape.says, reading.words
    value = match["value"]
    said = value.split()
    if says.get("told") and (not told or at > _FEW or _ADDRESSED.intersection(said)):
        return False
    if says.get("first") and at > 1:
        return False
    if says.get("noun") and (
        _NO_NOUN.intersection(said) or verb_form(said[0])[1] in (Form.BASE, Form.PAST)
    ):
        return False
    if says.get("base") and (said[0] in _NO_STEP or verb_form(said[0])[1] in (Form.PAST, Form.ING)):
        return False
    if says.get("lasting") and _PASSING.intersection(said):
        return False
    if says.get("alone") and not _is_alone(reading):
        return False
    if says.get("polite") and _ASKED.search(reading.content.lower()) is None:
        return False
    if says.get("figured") and not any(each[0].isdigit() for each in said):
        return False
    if "figured_or" in says and not (
        any(each[0].isdigit() for each in said)
        or set(says["figured_or"].split()).intersection(said)
    ):
        return False
    if says.get("usual") and not _USUAL.intersection(word.low for word in words):
        return False
    if says.get("after_use"):
        return any(word.low in ("use", "using") for word in words[:at])
    return True


def _is_alone(reading: Reading) -> bool:
    """Whether a turn is one short sentence that points at nothing: a wish that goes with no task is
    meant for all of them."""
    words, content = reading.words, reading.content
    around = content[: words[0].start] + content[words[-1].end :]
    return (
        len(words) <= _WISH
        and _POINTS.isdisjoint(word.low for word in words)
        and _GREETS.sub("", around.lower()).strip(" \n,.!?:;-)(🙏🙂😊👍") == ""
    )


_ASKED = compile_later(r"\b(?:please|pls|plz|kindly|me|hey|hi|hello)\b")
_WISH = 14
_POINTS = frozenset(
    "this that it these those below above following attached him her them his their email letter "
    "message essay text paragraph story poem today tonight once file function script".split()
)
_GREETS = compile_later(
    r"\b(?:hi|hey|hello|hiya|ok(?:ay)?|btw|by the way|please|pls|plz|thanks|thank you|thx|ty|"
    r"cheers|one more thing|also|oh|so|and|actually|you know what|good morning|morning|there)\b"
)
_USUAL = frozenset("always usually normally every order never".split())
_NO_STEP = frozenset("am was want need think know have had can could feel see find mean".split())
_FEW = 6
_ADDRESSED = frozenset({"you", "your", "i", "i'm", "question", "problem", "issue", "answer"})


def _finding(
    reading: Reading, shape: _Shape, match: re.Match[str], starts: list[int]
) -> RuleFinding | None:
    says, words, content = shape.says, reading.words, reading.content

    def tokens(group: str | int) -> tuple[int, int]:
        begin, stop = match.span(group)
        return bisect_right(starts, begin) - 1, bisect_left(starts, stop)

    groups = match.groupdict()
    first, last = tokens("value")
    whole = tokens(0)
    if says.get("named"):
        while last > first + 1 and not words[last - 1].text[0].isupper():
            last -= 1
        if not words[first].text[0].isupper():
            return None
    for group in ("capital", "entity"):
        if group in says and not _named(reading, *tokens(says[group])):
            return None
    begin, end = words[whole[0]].start, words[whole[1] - 1].end
    spare = words[whole[1] - 1]
    if spare.low in WORDS["negligible"] | {"please", "thanks"}:
        end = max(words[last - 1].end, end - len(spare.text) - 1)
    span = (first, last) if not says.get("whole") else whole
    value = content[words[span[0]].start : words[span[1] - 1].end]
    quote = content[begin:end]
    again = _unwritten(words[whole[0] : whole[1]])
    dated = find_when(quote, reading.said_at, future=True)
    if says.get("dated") and dated is None and not _DAY.search(quote):
        return None
    if says.get("employed") and (value[0].isdigit() or value.lower() in _HOURS):
        return None
    context = (groups.get("context") or "").strip() or None
    fills = {name: slug(each or "", 6) for name, each in groups.items()}
    fills["context"] = f".{slug(context, 4)}" if context else ""
    attribute = says["attribute"].format_map(fills).rstrip(".")
    entity = SELF
    if "claim" in says:
        claim = says["claim"].format(value=value, quote=quote)
    elif attribute.startswith("answers.") and _SUBJECT.match(quote) is None:
        claim = f"{SELF}: {quote}"  # "speak to me" is said to the agent
    else:
        claim = _claim(again + quote, acted=says.get("base", False))
    if "entity" in says:
        head = tokens(says["entity"])
        entity = content[words[head[0]].start : words[head[1] - 1].end]
        claim = quote
    if category_of(claim) is not None and "topic" not in says:
        return None
    circumstance = context is not None and says["type"] != "constraint"
    when = NEVER if dated is None or says["type"] in ("fact", "preference") else dated.when
    begin = words[0].start if again else begin
    return under_slot(RuleFinding(
        content, begin, end, claim, says["type"], attribute, value, says["importance"],
        confidence=800, topic=says.get("topic", ""), negated=bool(says.get("negated")),
        context=_said(reading, tokens("context")) if circumstance else None,
        entity=entity, when=when, act=_act(says),
        said_at=reading.said_at,
    ))  # fmt: skip


def _act(says: dict[str, Any]) -> SpeechAct | None:
    """The act that a shape tells by itself."""
    if says.get("change"):
        return SpeechAct.CHANGE
    return SpeechAct.STATEMENT if says.get("statement") else None


def _unwritten(words: list[Token]) -> str:
    """The words that are left out before these, as they were said before: "my dad"."""
    lead = takewhile(lambda word: word.start == word.end and word.low not in _SAID_OF_SELF, words)
    return "".join(f"{word.text} " for word in lead)


_SAID_OF_SELF = frozenset({"i", "i'm", "i've", "we"})
_DAY = compile_later(
    r"\bthe \d{1,2}(?:st|nd|rd|th)\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b", re.I
)
_IS = compile_later(r"(?:i['’]?m|i am|we['’]?re|we are) ", re.I)
_HAS = compile_later(r"(?:i['’]?ve|i have|we['’]?ve|we have) (?=run|done|finished|completed)", re.I)
_SUBJECT = compile_later(
    r"(?P<subject>i|we)(?P<more> (?:always|usually|normally))? (?P<verb>[a-z]++)\b", re.I
)
_OWNER = compile_later(r"(?:my|our)\b ", re.I)


def _claim(quote: str, *, acted: bool) -> str:
    """The words as said of the user."""
    spoken = _SUBJECT.match(quote)
    verb = spoken["verb"].lower() if spoken is not None else ""
    if spoken is not None and (
        verb == "can"
        or acted
        or (verb_form(verb)[1] in (Form.BASE, Form.BASE_OR_PAST) and verb_form(verb)[0] == verb)
    ):
        verb = verb if verb == "can" else third_person(verb)
        more = (spoken["more"] or "").lower()
        return f"{SELF}{more} {verb}{told(quote[spoken.end() :])}"
    for pattern, verb in ((_IS, "is"), (_HAS, "has")):
        begins = pattern.match(quote)
        if begins is not None:
            return f"{SELF} {verb} {told(quote[begins.end() :])}"
    owned = _OWNER.match(quote)
    if owned is not None:
        return f"{SELF}'s {told(quote[owned.end() :])}"
    return f"{SELF}: {told(quote)}"


_HOURS = frozenset("noon midnight home work uni school lunch dawn the".split())


def _said(reading: Reading, span: tuple[int, int]) -> str:
    return reading.content[reading.words[span[0]].start : reading.words[span[1] - 1].end]


def _named(reading: Reading, first: int, last: int) -> bool:
    return all(
        word.text[0].isupper() and word.low not in WORDS["not_names"]
        for word in reading.words[first:last]
    )


def _same(finding: RuleFinding, other: RuleFinding) -> bool:
    """Whether the words of a finding are said by another one already."""
    if finding.attribute == other.attribute:
        return True
    if other.start >= finding.end or finding.start >= other.end:
        return False
    if finding.type != other.type:
        return False
    value = finding.value.lower()
    return value in other.claim.lower() or (
        finding.type == "preference" and value.startswith(other.value.lower())
    )
