"""Life events: what a sentence says is over, in whatever slot it was kept.

"I lost my job" names no employer. The finding of such a sentence carries `ends`: which of the
user's memories are over, by attribute and words. The patterns are in `endings.yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from beliefledger.gate.dates import find_when
from beliefledger.gate.literals import Guarded, Table, lowered
from beliefledger.gate.rules.findings import NEVER, Reading, RuleFinding, capped
from beliefledger.gate.rules.last_days import last_day
from beliefledger.gate.rules.lexicon import AS_BASE, expanded, load, third_person, verb_form
from beliefledger.gate.rules.phrases import pointing, retell
from beliefledger.gate.rules.sensitive import category_of
from beliefledger.gate.sentences import is_question
from beliefledger.ledger.candidate import SELF, Ends
from beliefledger.ledger.late_patterns import compile_later

_DATA: dict[str, Any] = load("endings.yaml")
_AFTER = frozenset(_DATA["after"].split())
_QUIET = frozenset(_DATA["quiet"])
_NOT_NAMES = frozenset(_DATA["not_names"].split())
_PLAIN = frozenset(_DATA["plain"].split())
_DOUBTS = compile_later(_DATA["doubts"], re.I)
_NOT_SURE = compile_later(r"\b(?:don['’]?t|do not|no longer) (?:really )?(?:think|believe)\b", re.I)


TRADE = "trade"
"""What the end of a job spares: see `is_a_trade`."""
_SPARED = f"-{TRADE}"
_TRADES = frozenset(_DATA["trades"].split())
_IS_A = compile_later(r"\AUser is (?:an? )?(?P<what>[\w' -]{2,40}?)(?: by trade)?\Z", re.I)


def is_a_trade(claim: str) -> bool:
    """Whether a claim is that the user is what they have learned: who is sacked is a baker
    still."""
    found = _IS_A.match(claim)
    return found is not None and is_learned(found["what"])


def is_learned(role: str) -> bool:
    """Whether a role is a trade, which somebody has also where they work no longer."""
    return not _TRADES.isdisjoint(role.lower().split()[-1:])


_ONE_OF = compile_later(r"\b(?:one|some|two|three|half|another|most|none) of *\Z", re.I)
""" "One of my bikes got stolen": there are others."""


class _Event(NamedTuple):
    """A pattern, and the attributes of what it ends."""

    pattern: Guarded
    ends: tuple[tuple[str, str], ...]
    """Attributes, each with the words that its memory must say: `{thing}` those found."""

    says: Mapping[str, Any]


def _load() -> tuple[_Event, ...]:
    found = []
    for says in _DATA["events"]:
        ends = tuple(
            (each.partition(" ")[0], each.partition(" ")[2]) for each in _DATA["ends"][says["ends"]]
        )
        found.append(_Event(Guarded(expanded(says["say"], _DATA["parts"]), re.I), ends, says))
    return tuple(found)


_EVENTS = Table(_load())
_HINT = Guarded(rf"\b(?:{'|'.join(_DATA['hints'].split())})\b")
"""In lower case: a pattern that ignores case takes several times as long."""


class Over(NamedTuple):
    """What a sentence ends: the offsets of the words that say so, the memories meant, and whether
    these words are worth remembering themselves."""

    start: int
    end: int
    ends: tuple[Ends, ...]
    told: bool


def endings(reading: Reading) -> Iterator[Over]:
    """What a sentence ends."""
    words = reading.words
    if reading.person != "first" or not words:
        return
    start, end = words[0].start, words[-1].end
    text = reading.content[start:end]
    low = lowered(text)
    events = _EVENTS.possible(low)
    if not events or is_question(text) or _HINT.search(low, low) is None:
        return
    for event in events:
        found = event.pattern.pattern.search(text)
        if found is None or FOR_NOW.search(found[0]) is not None:
            continue
        last = last_day(reading.content[start:], reading.said_at)
        begins = _NOTICE.search(found[0]) and _STARTS.search(reading.content, start + found.end())
        if last is None and begins:
            continue  # the job lasts until the next begins
        lead = re.split(r"[,;:]|\b(?:but|and|so)\b", text[: found.start()])[-1]
        if any(each.search(lead) is not None for each in (_DOUBTS, _ONE_OF, _THOUGHT)):
            continue
        if _NEARLY.search(found[0]) is not None:
            continue
        thing, named = _thing(found, event)
        if thing is None:
            continue
        at = None
        dated = find_when(text[found.start() :], reading.said_at, past=True)
        if event.says.get("until"):
            at = until(text[found.end() :], reading.said_at)
            if at is None:
                continue
        elif last is not None:
            at = last
        elif dated is not None and dated.when.start is not None and dated.start < 60:
            at = min(dated.when.start, reading.said_at)
        ends = tuple(
            Ends(
                attribute=attribute,
                value=thing if takes == "{thing}" else "" if takes == _SPARED else takes,
                sparing=TRADE if takes == _SPARED else "",
                denials=event.says["ends"] == "again",
                at=at,
            )
            for attribute, takes in event.ends
            if thing or not (takes == "{thing}" and named)
        )
        if ends:
            first = next(i for i, w in enumerate(words) if w.end > start + found.start())
            last = next((i for i, w in enumerate(words) if w.start >= start + found.end()), None)
            quiet = event.says["ends"] in _QUIET or event.says.get("quiet", False)
            if named and pointing(words, first, len(words) if last is None else last):
                continue  # "the same set again": which one, only the talk before says
            told = not quiet
            yield Over(start + found.start(), start + found.end(), ends, told)


_OWNED = compile_later(r"\b(?:my|our|his|her|their|your|a|the) (?:[\w-]+ )?\Z", re.I)
_THOUGHT = compile_later(r"\b(?:thought|assumed|convinced|reckoned|figured)(?: that)? *\Z", re.I)
"""What somebody thought, and was not so: "I thought I had lost my job"."""
_NEARLY = compile_later(r"\b(?:nearly|almost|practically|just about)\b", re.I)
FOR_NOW = compile_later(
    r"\bleft\b[^,;.!]{1,40} (?:(?:at|around|before|after|by) (?:about |around )?(?:noon|midnight|"
    r"lunch|\d{1,2}\b(?! (?:years|months|weeks)))|early\b|late\b)",
    re.I,
)
"""Who left at noon is back the day after."""
_NOTICE = compile_later(r"\b(?:notice|resignation)\b", re.I)
_STARTS = compile_later(r"\b(?:start(?:ing)?|begin(?:ning)?|join(?:ing)?)\b", re.I)
_FEELINGS = frozenset(
    "fear hate dread mind miss regret understand remember believe notice worry".split()
)
_UNTIL = compile_later(r"\b(?:until|till?)\b(?! (?:now|then|recently|today|last|yesterday))", re.I)
_END_OF = compile_later(r"\b(?:the )?end of (?:the )?", re.I)


def until(text: str, said_at: int) -> int | None:
    """When something that is so "until the end of March" is over, in microseconds UTC."""
    found = _UNTIL.search(text)
    if found is None:
        return None
    said = text[found.end() : found.end() + 48]
    whole = _END_OF.search(said[:16])
    rest = _END_OF.sub("", said, count=1) if whole else said
    dated = find_when(f"until {rest.strip()}", said_at, future=True)
    if dated is None or dated.start > 16 or dated.when.start is None:
        return None
    at = dated.when.end if whole and dated.when.end else dated.when.start
    return at if at > said_at else None


_WHY = frozenset("after because since when before so while though".split())


def _thing(found: re.Match[str], event: _Event) -> tuple[str | None, bool]:
    """The words of what is over; None where the pattern names something that it must not."""
    groups = found.groupdict()
    if "thing" not in groups:
        return "", False
    raw = groups["thing"] or ""
    if event.says.get("proper") and raw and not raw.lstrip()[:1].isupper():
        # Typed without capitals: a name is one word, and none of those that follow such verbs.
        name = raw.split()[0].lower()
        typed_low = not any(char.isupper() for char in re.sub(r"\bI\b", "", found.string))
        plain = _NOT_NAMES | _AFTER | _PLAIN
        owned = event.says["ends"] == "partner" and _OWNED.search(
            found.string[: found.start("thing")]
        )
        if not typed_low or name in plain or owned or name.endswith("ing"):
            return None, True  # "my brother got divorced", "is getting divorced"
        return name, True
    if event.says.get("proper") and not raw:
        return "", False
    kept: list[str] = []
    for word in raw.replace("’", "'").split():
        low = word.lower().removesuffix("'s")
        if low in _AFTER and (kept or (groups.get("gerund") and low in _WHY)):
            break
        if low not in _PLAIN and low not in _AFTER:
            kept.append(low)
    if groups.get("gerund") and verb_form(groups["gerund"].lower())[0] in _FEELINGS:
        return None, True  # who no longer fears pythons may use Python
    if not kept and groups.get("gerund"):
        kept = [verb_form(groups["gerund"].lower())[0]]
    if _NOT_NAMES.issuperset(kept):
        return None, True
    return " ".join(kept), True


def with_endings(reading: Reading, found: Sequence[RuleFinding]) -> Iterator[RuleFinding]:
    """The findings of a sentence, those that tell of an ending with what it ends; and one of its
    own for an ending that no other rule found."""
    over = list(endings(reading))
    if not over:
        yield from found
        return
    left = list(over)
    for finding in found:
        mine = [each for each in over if finding.start < each.end and each.start < finding.end]
        if mine and finding.entity == SELF and not _still(finding):
            left = [each for each in left if each not in mine]
            ends = tuple(end for each in mine for end in each.ends)
            yield finding._replace(ends=(*finding.ends, *dict.fromkeys(ends)))
        elif mine and _is_over(finding, mine, reading.said_at):
            continue  # "someone stole my bike": there was one
        else:
            yield finding
    if left:
        begin = min(each.start for each in left)
        stop = max(each.end for each in left)
        ends = tuple(end for each in left for end in each.ends)
        # Who only does not think that it is still so tells of nothing that happened.
        said = reading.content[reading.words[0].start : reading.words[-1].end]
        doubted = _NOT_SURE.search(said) is not None
        told = any(each.told or _goes_on(each, said) for each in left) and not doubted
        yield _told(reading, begin, stop, ends)._replace(retracts=not told)


def _goes_on(over: Over, said: str) -> bool:
    """Whether a journey that did not take place is told with what came of it: "our train got
    cancelled and we slept at the station"."""
    ride = any(not _RIDES.isdisjoint(each.value.split()) for each in over.ends)
    return ride and _AND_WE.search(said) is not None


_RIDES = frozenset("train bus flight ferry plane coach".split())
_AND_WE = compile_later(r"\b(?:and|so) (?:then )?(?:i|we)\b [\w'’]+ \w+", re.I)


def _still(finding: RuleFinding) -> bool:
    """Whether a finding is what the user has, and not that it is over."""
    return finding.attribute.startswith(("has.", "thing."))


def _is_over(finding: RuleFinding, over: Iterable[Over], said_at: int) -> bool:
    """Whether what somebody has is what a sentence says is gone."""
    words = set(finding.value.lower().split())
    return any(
        ends.attribute.endswith("*")
        and finding.attribute.startswith(ends.attribute[:-1])
        and not ends.denials
        and (ends.at is None or ends.at <= said_at)
        and bool(ends.value)
        and words.issuperset(ends.value.lower().split())
        for each in over
        for ends in each.ends
    )


_REASONS = frozenset("after because since cos cuz due thanks following as with for".split())


def _before_the_reason(reading: Reading, first: int, last: int) -> int:
    """Where a sentence ends whose reason is nobody's business: "stopped running", and not "after my
    injury"."""
    words = reading.words
    if category_of(reading.content[words[first].start : words[last - 1].end]) is None:
        return last
    for at in range(first + 1, last):
        if words[at].low in _REASONS:
            said = reading.content[words[first].start : words[at - 1].end]
            return at if at > first + 1 and category_of(said) is None else last
    return last


_NO_LONGER = compile_later(r"^no longer (?P<verb>[a-z]+)\b")


def _third(found: re.Match[str]) -> str:
    """ "I no longer work": of the user, "no longer works"."""
    lemma, form = verb_form(found["verb"])
    return f"no longer {third_person(lemma)}" if form in AS_BASE else found[0]


_AND_ME = (["and", "i"], ["and", "me"])
_TWO = 3
"""Tokens of "Tom and I"."""
_SPOKEN = {"am": "is", "have": "has", "are": "is", "don't": "does not", "dont": "does not"}


def _told(reading: Reading, begin: int, stop: int, ends: tuple[Ends, ...]) -> RuleFinding:
    """The sentence itself, as an event."""
    words = reading.words
    first = next(i for i, word in enumerate(words) if word.end > begin)
    if first > 2 and words[first - 1].low == "and" and words[first - 3].low in ("my", "our"):
        first -= 3  # "my mum and dad are divorced"
    last = max(i for i, word in enumerate(words) if word.start < stop) + 1
    whole = last
    while last < len(words) and words[last].text not in ".,;!?" and last - first < 16:
        last += 1
    while whole < len(words) and words[whole].text not in ".;!?" and whole - first < 20:
        whole += 1
    # What else the sentence says goes with it, unless that is nobody's business.
    if category_of(reading.content[words[first].start : words[whole - 1].end]) is None:
        last = max(last, whole)
    last = _before_the_reason(reading, first, last)
    while first + 1 < last and not words[first].text[0].isalnum():
        first += 1  # "sad news, gran passed away"
    said = capped(retell(reading.content, words, first, last, reading.person))
    low = words[first].low
    subject = {"i": "", "we": ""}.get(low)
    if low in ("i", "we", "i'm", "i've", "we've", "ive", "i'd"):
        rest = capped(retell(reading.content, words, first + 1, last, reading.person))
        link = {"i'm": "is ", "i've": "has ", "ive": "has ", "we've": "has ", "i'd": "had "}
        following = words[first + 1].low if first + 1 < len(words) else ""
        if subject == "" and following in _SPOKEN:
            done = capped(retell(reading.content, words, first + 2, last, reading.person))
            rest = f"{_SPOKEN[following]} {done}"
        claim = f"{SELF} {link.get(low, '')}{_NO_LONGER.sub(_third, rest)}"
    elif last - first > _TWO and [word.low for word in words[first + 1 : first + _TWO]] in _AND_ME:
        rest = retell(reading.content, words, first + _TWO, last, reading.person)
        claim = f"{SELF} and {words[first].text} {rest}"
    elif low in ("my", "our"):
        claim = f"{SELF}'s {capped(retell(reading.content, words, first + 1, last, 'first'))}"
    else:
        claim = f"{SELF}: {said}"
    text = reading.content[words[first].start : words[last - 1].end]
    if re.search(r"\b(?:me|us)\b", text) and low not in ("i", "we"):
        claim = text  # "Mette dumped me" is no more of the user than it says
    dated = find_when(text, reading.said_at, past=True)
    return RuleFinding(
        reading.content, words[first].start, words[last - 1].end, claim, "event", "event.end",
        text, 500, confidence=850, when=NEVER if dated is None else dated.when, ends=ends,
    )  # fmt: skip
