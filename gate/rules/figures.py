"""Figures: counts, measures, records and times, which are values and never part of a slot's name.

"I have five shirts" and "I have 7 shirts now" are about one slot. `findings` notices figures that
other rules pass over; `under_slot` takes them out of the attributes that other rules give.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from beliefledger.gate.dates import find_when
from beliefledger.gate.literals import Guarded, Table, lowered
from beliefledger.gate.rules import choices, new_figures
from beliefledger.gate.rules.findings import Reading, RuleFinding, capped
from beliefledger.gate.rules.lexicon import WORDS, Form, expanded, load, third_person, verb_form
from beliefledger.gate.rules.phrases import before_names, retell, singular, slug
from beliefledger.gate.rules.words import tokens
from beliefledger.gate.sentences import is_question
from beliefledger.ledger.candidate import SELF, Precision, SpeechAct, When
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.times import DAY

_DATA: dict[str, Any] = load("figures.yaml")
_PARTS: dict[str, str] = _DATA["parts"]
_WORDS = _PARTS["words"].split("|")
_ORDINALS = _PARTS["ordinals"].split("|")
_GOES_ON = compile_later(r"[,;:.!–—]|\b(?:and|so|but)\b")
_BUT = compile_later(r"[,;:]|\bbut\b")
_NOW = re.compile(r"\b(?:now|these days|nowadays|by now|already|so far|just|up to|down to)\b", re.I)


class _Figure(NamedTuple):
    pattern: Guarded
    attribute: str
    """With {noun}, {verb} and {of} for the words found."""
    value: str
    """The group whose words are the value."""


def _guarded(say: str) -> Guarded:
    return Guarded(expanded(say, _PARTS), re.I)


_FIGURES = Table(
    _Figure(_guarded(says["say"]), says["attribute"], says.get("value", "num"))
    for says in _DATA["figures"]
)
_COUNTED = _guarded(_DATA["counted"])
_TIMES = _guarded(_DATA["times"])
_SO_FAR = compile_later(
    r"\b(?:so far|already|in total|to date|by now|this year|this month|altogether|in the last|"
    r"in the past|"
    r"since|now|up to now|until now)\b|\b(?:i|we)(?:['’]ve| have)\b|\b(?:ive|weve)\b",
    re.I,
)
_NO_COUNT = frozenset(
    "minute minutes hour hours day days week weeks month months year years of percent people "
    "things questions options ideas ways way other times am pm and or to in on at for euros "
    "dollars pounds bucks k cups degrees kg kilos kilo lbs lb mg ml km miles".split()
)
_NO_VERBS = frozenset(
    "be have want need think see say mean ask hear know like love get do make".split()
)
_DOUBT = compile_later(
    r"\b(?:if|unless|whether|might|may|maybe|could|would|should|want|wish|hope|goal|aim|target|"
    r"plan|planning|"
    r"need|not|never|n['’]t|imagine|suppose|used to|was going|thinking|like to|almost|"
    r"trying)\b|n['’]t\b",
    re.I,
)
_QUICK = compile_later(rf"\d|\b(?:{'|'.join((*_WORDS, *_ORDINALS))})\b", re.I)


_STEPS = compile_later(
    r"\b(?:once|twice|thrice|every|each|enough|status|tier|level|rank|membership)\b", re.I
)
"""Words of figures that are no numbers."""


def findings(reading: Reading, found: list[RuleFinding]) -> Iterator[RuleFinding]:
    """Figures that a sentence tells and that are not among what was `found` in it."""
    words = reading.words
    if reading.person != "first" or not words:
        return
    start, end = words[0].start, words[-1].end
    text = reading.content[start:end]
    low = lowered(text)
    figures = _FIGURES.possible(low)
    counts = [each for each in (_TIMES, _COUNTED) if each.may_match(low)]
    if not figures and not counts:
        return
    if _QUICK.search(text) is None and _STEPS.search(text) is None:
        return
    taken: list[tuple[int, int]] = []
    for figure in figures:
        match = figure.pattern.pattern.search(text)
        if match is None or asked(text, match):
            continue
        aside = ", which " in match[0]
        meant = aside or figure.attribute.startswith(("goal.", "needs."))
        if meant or not _doubted(text, match):
            finding = _finding(reading, start, match, figure.attribute, figure.value)
            if finding is not None and not _known(found, finding):
                taken.append(match.span())
                yield finding
    for pattern in counts:
        match = pattern.pattern.search(text)
        if (
            match is None
            or _doubted(text, match)
            or any(match.start() < stop and begin < match.end() for begin, stop in taken)
        ):
            continue
        lemma, form = verb_form(match["verb"].lower())
        past = form in (Form.PAST, Form.PARTICIPLE, Form.BASE_OR_PAST)
        past = past or _MANAGED.search(match[0]) is not None
        head = match["noun"].split()[0].lower()
        if not past or lemma in _NO_VERBS or _SO_FAR.search(text) is None:
            continue
        if pattern is _COUNTED and head in _NO_COUNT:
            continue
        key = "times.{verb}.{noun}" if pattern is _TIMES else "count.{verb}.{noun}"
        finding = _finding(reading, start, match, key, "value")
        if finding is not None and not _known(found, finding):
            taken.append(match.span())
            yield finding


_MANAGED = compile_later(r"\b(?:managed|been able) to\b", re.I)
_REASON = compile_later(
    r"\b(?:since|because|considering|given(?: that)?|as|seeing(?: as)?|now that)\W*$", re.I
)
_REMINDS = re.compile(r"\W*(?:you know|you remember|remember)\b,? (?:the|that|how|when|my)\b", re.I)


def asked(text: str, match: re.Match[str]) -> bool:
    """Whether words are part of what is asked, and not told beside it."""
    if not is_question(text):
        return False
    told = _REASON.search(text[: match.start()]) is not None or _REMINDS.match(text) is not None
    return not told and _GOES_ON.search(text[match.end() :]) is None


def _doubted(text: str, match: re.Match[str]) -> bool:
    if asked(text, match):
        return True
    lead = _BUT.split(text[: match.start()])[-1]
    return _DOUBT.search(lead) is not None or _DOUBT.search(match[0]) is not None


def _known(found: list[RuleFinding], finding: RuleFinding) -> bool:
    """Whether another rule has found the same."""
    return any(
        (each.attribute == finding.attribute or each.value == finding.value)
        and each.start < finding.end
        and finding.start < each.end
        for each in found
    )


def _finding(
    reading: Reading, offset: int, match: re.Match[str], attribute: str, value: str
) -> RuleFinding | None:
    groups = {name: words or "" for name, words in match.groupdict().items()}
    verb = verb_form(groups.get("verb", "").lower())[0]
    begin, stop = offset + match.start(), offset + match.end()
    named = groups.get("noun", "")
    before = reading.content[offset:begin]
    if attribute.startswith("times.") and named.lower() in ("it", "them"):
        meant = _MINE.search(before)
        if meant is not None and (match.start("num") < match.start("noun") or len(before) < 200):
            named = meant["thing"]
            begin = offset + meant.start() if match.start("num") < match.start("noun") else begin
    noun = _noun(_brand(named) if attribute.startswith("times.") else named)
    of = _noun(groups.get("of", "") or _series(attribute, before))
    counted = attribute.startswith("has.") and groups.get("noun", "").lower() in _NO_COUNT
    if counted or noun.endswith("-who"):  # "my dad who's 82"
        return None
    if "{noun}" in attribute and not noun and not attribute.startswith(("count.", "status.")):
        return None
    key = attribute.replace("{verb}", verb).replace("{noun}", noun).replace("{of}", of).rstrip(".")
    key = _CHILDREN.sub("family.children", key)
    if key.startswith("habit.") and not key.endswith(".time"):
        key = _activity(f"habit.go-to-{slug(_LOOKS.sub('', named.lower()))}", "")
    told = reading.content[offset + match.start(value) : offset + match.end(value)]
    told = told if attribute.startswith("count.enough") else _short(told)
    words = tokens(reading.content, begin, stop)
    if not words or not told:
        return None
    text = reading.content
    last = _to_clause_end(reading, stop)
    claim = claim_to(reading, begin, last)
    now = _NOW.search(text[begin:last]) is not None
    when = When()
    dated = find_when(text[begin:last], reading.said_at, past=True)
    if dated is not None and (dated.when.start or 0) <= reading.said_at:
        when = dated.when
    return RuleFinding(
        text, begin, last, claim, "fact", key, told, 550,
        act=SpeechAct.CHANGE if now else None,
        when=When() if key.startswith(("count.", "times.", "progress.")) else when,
    )  # fmt: skip


_MINE = compile_later(
    r"(?:\b(?:i|we)(?:['’]?ve| have)?(?: just| also| actually){0,2} [\w'’-]+ )?\b(?:my|our) "
    r"(?P<thing>[\w'’-]+(?: (?!(?:to|for|on|at|in|with|and|again|yesterday|today|last)\b)"
    r"[\w'’-]+){0,6})",
    re.I,
)
_LOOKS = compile_later(
    r"^(?:(?:my|our|the|brand|new|old|favou?rite|beloved|trusty|black|white|red|blue|green|gr[ae]y|"
    r"brown|pink|purple|yellow|orange)\b[ -]*)+",
    re.I,
)
_MODEL = compile_later(r"(?P<brand>[A-Z][\w'’-]+) [A-Z0-9][\w'’-]*")
_SERIES = compile_later(
    r"\b(?P<of>[\w'’-]{1,30} (?:series|course|show|podcast|book|novel|manga|anime|game|textbook))\b"
)


def _brand(thing: str) -> str:
    """A thing of one's own without its looks; of a model, its brand."""
    plain = _LOOKS.sub("", thing) or thing
    model = _MODEL.match(plain)
    return plain if model is None else model["brand"]


def _series(attribute: str, before: str) -> str:
    """What "50 episodes" are of, where the words before name it."""
    if not attribute.startswith("progress."):
        return ""
    return next((each["of"] for each in reversed(list(_SERIES.finditer(before)))), "")


def _short(value: str) -> str:
    """A value without what follows its noun: "12 books in", "50 episodes - it's"."""
    if new_figures.SEVERAL.fullmatch(value):
        return value
    words = value.split()
    for at in range(1, len(words)):
        if words[at].lower().strip("'\"") in _ENDS_NOUN and not _QUICK.search(words[at]):
            return " ".join(value.split(" ")[:at]).rstrip(" .,:;-")
    return value.rstrip(" .,:;-")


def _to_clause_end(reading: Reading, stop: int) -> int:
    """The end of the words that go with a figure: up to the next mark, or a few words on."""
    last = stop
    after = [word for word in reading.words if word.start >= stop]
    for word in after[:10]:
        if word.text in '.,;!?()–—"' or word.low in ("and", "but", "so", "because", "which", "i"):
            break
        last = word.end
    return last


_SPOKEN = {"am": "is", "are": "is", "have": "has", "weigh": "weighs", "bank": "banks"}


def claim_to(reading: Reading, begin: int, stop: int) -> str:
    """The words [begin, stop) as said of the user."""
    words = [i for i, w in enumerate(reading.words) if w.start >= begin and w.end <= stop]
    if not words:
        return f"{SELF}: {reading.content[begin:stop]}"
    first, last, low = words[0], words[-1] + 1, reading.words[words[0]].low
    following = reading.words[first + 1].low if first + 1 < last else ""
    rest = capped(retell(reading.content, reading.words, first + 1, last, "first"))
    if low in ("my", "our"):
        return f"{SELF}'s {rest}"
    link = dict.fromkeys(("i'm", "im", "we're"), "is ")
    link |= dict.fromkeys(("i've", "ive", "we've", "weve"), "has ")
    if low in ("i", "we"):
        often = following if following in WORDS["habit_adverbs"] and first + 2 < last else ""
        if often:  # "usually wake up": "usually wakes up"
            following, rest = reading.words[first + 2].low, rest[len(often) + 1 :]
        spoken = _SPOKEN.get(following)
        lemma, form = verb_form(following)
        if spoken is None and form is Form.BASE:
            spoken = third_person(lemma)
        if spoken:
            rest = spoken + rest[len(following) :]
        return " ".join(filter(None, (SELF, often, rest)))
    if low in link:
        return f"{SELF} {link[low]}{rest}"
    return f"{SELF}: {capped(retell(reading.content, reading.words, first, last, 'first'))}"


_SPOKEN = {"am": "is", "are": "is", "have": "has", "weigh": "weighs", "bank": "banks"}
_CHILDREN = compile_later(r"^has\.(?:kid|child|children)$")
_SMALL = frozenset(
    "the a an my our so far now already this that these those of one ones them different "
    "recently lately".split()
)
_ENDS_NOUN = frozenset(
    "it its it's - since lately different in on at for from to with since so this that by now "
    "already and but or as i it the last past when".split()
)


def _noun(words: str) -> str:
    """A noun phrase as part of a slot: singular, without what only grammar adds."""
    kept: list[str] = []
    for word in words.lower().replace("’", "'").strip("\"'“” ").split():
        if word in _ENDS_NOUN and (kept or word == "since"):
            break
        if word not in _SMALL and not _QUICK.fullmatch(word):
            kept.append(singular(word.strip("'\"")))
    return slug(" ".join(kept[:5])) if kept else ""


# Slots of what other rules found

_YEAR = compile_later(r"(?:19|20)\d\d-")
_COUNT = compile_later(
    rf"^(?:(?:about|around|roughly|over|almost|nearly|at-least|only|just|exactly|like)-)*"
    rf"(?:\d[\w]*|{'|'.join(_WORDS)})(?:-(?:\d+|{'|'.join(_WORDS)}))*-(?P<rest>.+)$"
)
_OWNED = ("has.", "collects.", "relation.owns.", "uses.")
_UNITS_OF_TIME = (
    "minutes?|mins?|hours?|days?|weeks?|months?|years?|nights?|mornings?|evenings?|weekends?"
)
_OFTEN = compile_later(
    rf"-(?:at-(?:around-|about-)?)?\d[\d:]*(?:-?(?:am|pm|o-clock))\b|"
    rf"-(?:at|around|about)-(?:around-|about-)?\d+(?:-\d\d)?(?:-(?:am|pm))?\b|"
    rf"-(?:once|twice|thrice|(?:\d+|{'|'.join(_WORDS)})-(?:times?|{_UNITS_OF_TIME}))"
    rf"(?:-(?:an?|per|each|every)-(?:{_UNITS_OF_TIME}))?\b|"
    rf"-(?:about-|around-|over-)?(?:an?|\d+|{'|'.join(_WORDS)})-(?:{_UNITS_OF_TIME})-(?:an?|"
    rf"per|each|every)-(?:{_UNITS_OF_TIME})\b|"
    rf"-(?:for|since)-(?:about-|around-|over-|almost-|nearly-)?(?:\d+|an?|"
    rf"{'|'.join(_WORDS)})-(?:{_UNITS_OF_TIME})\b|"
    rf"-(?:every|each)-(?:single-)?(?:other-)?(?:day|morning|evening|night|week|month|"
    rf"weekend)s?\b|"
    rf"-(?:daily|weekly|monthly|now|already|so-far|lately|recently|early|late)\b"
)
_ONCE = compile_later(r"^[a-z]+-")


def under_slot(finding: RuleFinding) -> RuleFinding:
    """The finding in the slot of its thing: without counts and times in the attribute, and in the
    slot that a name in the value means (a phone, a car)."""
    attribute = finding.attribute
    if finding.entity != SELF:
        return finding
    if attribute.startswith(_OWNED):
        stem, _, rest = attribute.rpartition(".")
        counted = _COUNT.match(before_names(rest, finding.value))
        if counted is not None and not _YEAR.match(rest):
            last = counted["rest"].split("-")
            last[-1] = singular(last[-1])
            key = _CHILDREN.sub("family.children", f"{stem}.{'-'.join(last)}")
            if finding.type == "relation":  # so many are no far end: their number is a value
                key = key.replace("relation.owns.", "has.")
                return finding._replace(type="fact", attribute=key, participants=())
            return finding._replace(attribute=key)
        if finding.type == "fact" and not finding.negated:
            finding = _device(finding)
            if finding.attribute != attribute:
                return finding
    if attribute.startswith("drives.") and not finding.negated:
        return finding._replace(attribute="vehicle.car")
    if attribute.startswith("habit."):
        plain = _OFTEN.sub("", attribute)
        verb, _, rest = plain.removeprefix("habit.").partition("-")
        lemma = verb_form(verb)[0]
        plain = f"habit.{rest}" if lemma == "do" and rest else f"habit.{lemma}-{rest}".rstrip("-")
        plain = _activity(plain, finding.value)
        if plain != attribute and len(plain) > len("habit.x"):
            return finding._replace(attribute=plain)
    if _RISING.match(finding.value):
        whose, of, _ = attribute.rpartition(".is.")  # "my wife is a night owl" is of her
        return finding._replace(attribute=f"{whose}{of}rising" if whose else "day.rising")
    if attribute.startswith("thing."):
        finding = _aside(finding)
    if attribute == "event.appointment":
        weekly = _WEEKLY.match(finding.value)
        if weekly is not None:
            return finding._replace(type="fact", attribute=f"has.{slug(weekly['what'])}")
    if attribute.startswith("has.") and _CLASS.search(finding.value):
        after = _ON_DAY.match(
            finding.content, finding.content.find(finding.value, finding.start) + len(finding.value)
        )
        if after is not None and after.end() <= finding.end + 24:
            begin = finding.content.find(finding.value, finding.start)
            return finding._replace(
                value=finding.content[begin : after.end()], end=max(finding.end, after.end())
            )
    return _lasting(finding)


_ASIDE = compile_later(
    r"\b(?P<old>(?:years?|yrs?|months?|weeks?|days?) old)\b|"
    r"\b(?:minutes?|mins?|hours?|miles?|km|kms|kilomet(?:re|er)s|met(?:re|er)s|blocks|stops) "
    r"(?:away|from|walk|drive)\b",
    re.I,
)
"""How old or how far something is, which is not what it is: "my car is 5 years old"."""


_CALLED = compile_later(r"(?:called|named) ", re.I)


def _aside(finding: RuleFinding) -> RuleFinding:
    """A finding of how old or far a thing is or what it is called, in a slot of its own."""
    called = _CALLED.match(finding.value)
    if called is not None:
        name = finding.value[called.end() :]
        return finding._replace(attribute=f"{finding.attribute}.name", value=name)
    said = finding.content[finding.start : finding.end + len(" old")]
    found = _ASIDE.search(said)
    if found is None or not (finding.value[:1].isdigit() or finding.value.endswith("old")):
        return finding
    if not found["old"]:
        return finding._replace(attribute=f"{finding.attribute}.distance")
    if found.end() > finding.end - finding.start or not finding.value.endswith("old"):
        claim = finding.claim.removesuffix(" old") + " old"
        stop = max(finding.end, finding.start + found.end())
        finding = finding._replace(claim=claim, value=f"{finding.value} old", end=stop)
    return finding._replace(attribute=f"{finding.attribute}.age")


_GOES = compile_later(
    r"^habit\.(?P<goes>(?:go-to|attend|practi[cs]e|hit)-)?(?:the-|my-|a-|an-)?(?P<what>[a-z]+(?:-[a-z]+)??)"
    r"(?P<held>-(?:class|session|lesson|practice|training|workout|routine|schedule)(?:es|e|s)?)?"
    r"(?P<days>(?:-(?:on|and|every|each|(?:mon|tues|wednes|thurs|fri|satur|sun)days?))*)$"
)
_CLOCK = compile_later(
    r"\b\d{1,2}(?:[:.]\d\d)? ?(?:am|pm|a\.m|p\.m|o['’]clock)\b|\b\d{1,2}:\d\d\b", re.I
)


def _activity(attribute: str, value: str) -> str:
    """ "Go to the gym on Mondays" and "my gym routine, four times a week" are about one habit; at
    which time of day is a slot of its own."""
    goes = _GOES.match(attribute)
    if goes is None or not (goes["goes"] or goes["held"]):
        return attribute
    return f"habit.{goes['what']}{'.time' if _CLOCK.search(value) else ''}"


_RISING = compile_later(
    r"(?:(?:to )?(?:get|wak|ris)\w*(?: up)? (?:early|late)|(?:an? )?(?:early (?:bird|riser)|"
    r"late riser|night owl|(?:morning|night) person)(?: now)?)$",
    re.I,
)
_CLASS = compile_later(r"(?:class|lesson|practice|training|rehearsal|course)(?:es|s)?$", re.I)
_ON_DAY = compile_later(r" on (?:mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.I)
_WEEKLY = compile_later(
    r"(?:an? |my |the )?(?P<what>[\w'’ -]*?(?:class|lesson|practice|training|rehearsal)) on "
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b",
    re.I,
)
_FOR_SO_LONG = compile_later(
    rf"^(?:for )?(?:about |around |over |almost |nearly |roughly |just |the past |the last )?"
    rf"(?P<count>\d+|an?|{'|'.join(_WORDS[:20])}) (?P<unit>day|week|month|year)s?(?: now| "
    rf"already)?$",
    re.I,
)


def _lasting(finding: RuleFinding) -> RuleFinding:
    """ "For 9 months now" says since when, and is no circumstance: a start, and part of the value,
    so that a later count takes the place of this one."""
    said = finding.value if finding.value.startswith("for ") else finding.context or ""
    long = _FOR_SO_LONG.match(said)
    if long is None:
        return finding
    count = {"a": 1, "an": 1}.get(long["count"].lower()) or (
        int(long["count"]) if long["count"].isdigit() else _WORDS.index(long["count"].lower()) + 1
    )
    value = finding.value
    if said is not finding.value:
        begin = finding.content.find(value, finding.start, finding.end)
        stop = finding.content.find(said, begin, finding.end)
        if begin < 0 or stop < 0:
            return finding
        value = finding.content[begin : stop + len(said)]
    if not finding.attribute.startswith(("habit.", "has.", "uses.")):
        value = finding.value
    days = {"day": 1, "week": 7, "month": 30, "year": 365}[long["unit"].lower()]
    start = said_before(finding, count * days)
    return finding._replace(value=value, context=None, when=start)


def said_before(finding: RuleFinding, days: int) -> When:
    """An approximate start, so many days before the finding was said."""
    if not finding.said_at:
        return finding.when
    start = finding.said_at - days * DAY
    return When(start=start, end=start + DAY, precision=Precision.APPROXIMATE)


def _device(finding: RuleFinding) -> RuleFinding:
    words = tokens(finding.value, 0, len(finding.value))
    chosen = choices.lookup(words, 0, len(words)) if words else None
    if chosen is None or not chosen[0].attribute.startswith("device."):
        return finding
    return finding._replace(attribute=chosen[0].attribute)
