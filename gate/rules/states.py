"""States that rival each other in one slot, however they are worded: early or late, a new role."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from beliefledger.gate.dates import find_when
from beliefledger.gate.literals import Guarded, Table, lowered
from beliefledger.gate.rules import choices
from beliefledger.gate.rules.figures import asked, claim_to
from beliefledger.gate.rules.findings import Reading, RuleFinding
from beliefledger.gate.rules.lexicon import WORDS, expanded, load, verb_form
from beliefledger.gate.rules.patterns import is_job
from beliefledger.gate.rules.phrases import phrase_end, singular, slug, text_of, tidy, trim
from beliefledger.gate.rules.slot_values import is_lived_in
from beliefledger.gate.rules.words import tokens
from beliefledger.ledger.candidate import Ends, SpeechAct
from beliefledger.ledger.late_patterns import compile_later


class _State(NamedTuple):
    pattern: Guarded
    type: str
    attribute: str
    importance: int
    change: bool = False
    before: re.Pattern[str] | None = None
    """What has to stand in the sentence up to there."""
    roles: bool = False
    """Its value says what somebody does for a living."""
    among: str | None = None
    """The list of words.yaml that its value begins with one of."""
    claim: str | None = None
    """What is claimed, with `{value}` or another group; or else the words themselves."""


def _load() -> tuple[_State, ...]:
    data = load("states.yaml")
    return tuple(
        _State(
            Guarded(expanded(says["say"], data["parts"]), re.I),
            says["type"],
            says["attribute"],
            says["importance"],
            says.get("change", False),
            re.compile(says["before"], re.I) if "before" in says else None,
            says.get("roles", False),
            says.get("among"),
            says.get("claim"),
        )
        for says in data["states"]
    )


_STATES = Table(_load())
_DOUBT = compile_later(
    r"\b(?:if|unless|might|may|maybe|could|would|should|want|wish|hope|aim|plan|planning|never|"
    r"imagine|suppose|"
    r"used to|almost|trying)\b|n['’]t\b",
    re.I,
)
_NOT_YET = compile_later(
    r"\b(?:(?:un)?till?|before|once|unless|by the time|as soon as|(?:the )?(?:day|moment))"
    r"(?: that)? $",
    re.I,
)
"""Before what is not so now: "no bowling til I'm back on days"."""
_TO_COME = compile_later(
    r"\bmov(?:e|ing)(?: in| there)? (?:(?:in|on|at|from|around|after) (?:the )?(?:\d|jan|feb|mar|"
    r"apr|may\b|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|spring|autumn|end\b|"
    r"new year|a (?:week|month|fortnight)|two|three)|next (?:week|month|year|spring|summer|"
    r"autumn))",
    re.I,
)
"""Behind a home in which nobody lives yet: "got a house in Hull, moving in May"."""
_PARTED = compile_later(
    r"\b(?:sold|selling|mov(?:ed|ing) out|g[ai]ve (?:up|back)|handed back|lost|rent(?:ed)? out)\b",
    re.I,
)
"""What somebody parted with is not what they have: "I sold my flat in Leeds"."""
_CLAUSE = compile_later(r"[,;:]|\bbut\b|\bso (?=(?:they|dr|the|my)\b)", re.I)
_GOT = compile_later(r"\b(?:got|bought|ordered|picked up)\b", re.I)
_FOR_OTHERS = compile_later(
    r"[^.;!?]{0,20}? for (?:(?:you|him|her|them|someone|somebody)\b|"
    r"(?:my|his|her|their|our) (?!(?:birthday|new|own|work|job|trip)\b))",
    re.I,
)
"""What somebody got for others is not what they have: "got an iPhone for my mum"."""
_NOW = compile_later(r"\b(?:now|these days|nowadays)\b", re.I)
_QUICK = Guarded(
    r"\b(?:up|early|late|smoke|vape|me on|put on|said yes|night owl|morning person|promoted|role|"
    r"title|position|had|work out|workout|"
    r"train|exercise|lift|bank|meeting|appointment|dinner|lunch|breakfast|interview|call|party|"
    r"exam|checkup|"
    r"check-up|rehearsal|date|comes|coming|arrives|arriving|booked|is my|is now my|turned|been|"
    r"place|flat|apartment|living|based|room|joined|start(?:ed)?|relocated|resettled|settled|"
    r"emigrated|transferred|sent me|since|signed|hired|recruited|poached|took|accepted|landed|gig|"
    r"employer|of choice|at|job|work|"
    r"house|home|studio|these days|nowadays|now|staying|working|employed|got|bought|ordered|"
    r"went|gone|became|become|choir|band|club|"
    r"orchestra|team|league|committee|group|when|"
    r"changed|switched|swapped|with|birthday|today|as of|surname|last name|family name|married|"
    r"fan|back|keys|living|new|"
    r"pushed|shifted|bumped|put back|brought forward|rescheduled|postponed|days|nights|earlies|"
    r"lates|shifts?|hours|married|engaged|divorced|proposed|over|earn|make|paid|"
    r"where (?:i|we)|native|home ?town|number|call|text|reach|mail|use|switched|paid|pay ?day|"
    r"moved|internet|broadband|wi-?fi|"
    r"fib(?:re|er)|electricity|energy|power|bed|coffee|tea|"
    r"user here|language|calls? me|network|carrier|sim|vodafone|ee|o2|giffgaff|voxi|smarty|lebara|"
    r"e-?mail|mobile|t-mobile|verizon|telekom|airtel|jio|optus|telstra|orange|lyca|"
    r"mtn|glo|9mobile|safaricom|vodacom|telkom|cell c|movistar|claro|telcel|sfr|bouygues|telenor|"
    r"telia|kpn|swisscom|singtel|viettel|econet|tigo|"
    r"[4-6]['’′] ?\d{1,2}|"
    r"vet|dentist|optician|physio|solicitor|lawyer|accountant|hygienist|landlord|landlady|"
    r"hairdresser|barber|tutor|teacher|supervisor|mechanic|gp|doctor|surgeon|midwife|consultant|"
    r"studying|doing|fluent|native|fine|good|great|decent|excellent|perfect|strong|solid|"
    r"conversational|placement|internship|traineeship|apprenticeship|secondment|clerkship|"
    r"live|rent|renting|here|interim|acting|temp|temporary|called|name|gave|given|handed|like|see|"
    r"wedding|launch|housewarming|graduation|christening|reunion|due date|please|"
    r"dr|doctor|prof|professor|mr|mrs|ms|miss|sir|dame|rev|reverend|captain|pastor|"
    r"go to|members?|take home|bring home|on \D{0,9}\d{2,3}(?:[.,]\d)?k)\b",
)
"""In lower case."""


def findings(reading: Reading, found: list[RuleFinding]) -> Iterator[RuleFinding]:
    """The states that a sentence tells and no other rule has found in it."""
    words = reading.words
    if reading.person != "first" or not words:
        return
    start = words[0].start
    text = reading.content[start : words[-1].end]
    low = lowered(text)
    states = _STATES.possible(low)
    if not states or _QUICK.search(low, low) is None:
        return
    for state in states:
        match = state.pattern.pattern.search(text)
        if match is None or asked(text, match):
            continue
        mark = match[0][:1] in ",;"  # then the words before it are another clause
        lead = "" if mark else _CLAUSE.split(text[: match.start()])[-1]
        was = match.groupdict().get("was") or ""  # "used to be", of what is something else now
        said = match[0].replace(was, "", 1)
        if _DOUBT.search(lead) or _DOUBT.search(said) or _PARTED.search(lead):
            continue
        if _NOT_YET.search(text, 0, match.start()) is not None:
            continue
        if _GOT.search(match[0]) and _FOR_OTHERS.match(text, match.end()):
            continue
        if state.attribute == "home.location" and (
            not is_lived_in(text) or _TO_COME.search(text, match.end())
        ):
            continue
        if state.before is not None and state.before.search(text[: match.end()]) is None:
            continue
        if state.among and match["value"].lower().split()[0] not in WORDS[state.among]:
            continue
        if state.roles and not is_job(match["value"].lower().split()[-1]):
            continue
        begin, stop = start + match.start(), start + match.end("value")
        while not reading.content[begin].isalnum():
            begin += 1
        groups = match.groupdict()
        context = groups.get("front") or groups.get("back")
        stop = max(
            [stop, *(start + match.end(name) for name in ("back", "tail") if groups.get(name))]
        )
        noun = (match.groupdict().get("noun") or "").lower().replace(" ", "-")
        noun = singular(noun) if state.attribute == "thing.{noun}" else noun
        noun = "-".join(sorted(set(re.findall(r"[^\W_]+", noun)) - _SMALL))
        attribute = _attribute(state, groups, noun)
        same = [each for each in found if each.attribute == attribute]
        long = match["value"].startswith("for ")  # says more than that there is one
        if not long and any(each.start < stop and begin < each.end for each in same):
            continue
        changes = state.change or "switched" in low or _NOW.search(text)
        ends: tuple[Ends, ...] = ()
        once = attribute.startswith("schedule.") and _EVERY.search(match["value"]) is None
        if once and _YEAR.search(match["value"]) is None:
            dated = find_when(f"on {match['value'].title()}", reading.said_at, future=True)
            if dated is not None and dated.when.end is not None:
                ends = (Ends(attribute=attribute, value=match["value"], at=dated.when.end),)
        if attribute.startswith("schedule.") and state.change:
            called = (match.groupdict().get("noun") or "").lower()
            ends += tuple(Ends(attribute=each, value=called) for each in _ARRANGED)
        told = reading.content[begin:stop]
        # "Work moved me to nights" tells more of work than of the user: it stands as said.
        claim = told if _ME.search(told) else claim_to(reading, begin, stop)
        claim = state.claim.format(**groups) if state.claim else claim
        yield RuleFinding(
            reading.content, begin, stop, claim, state.type, attribute,
            match["value"], state.importance, confidence=850,
            context=context, negated=" not " in match[0].lower(),
            category="health" if attribute == "diet.type" else None, ends=ends,
            participants=(match["value"],) if state.type == "relation" else (),
            act=SpeechAct.CHANGE if changes else None,
        )  # fmt: skip
        if attribute == "work.employer":
            yield from _role_beside(reading, begin, stop, found)


def _role_beside(
    reading: Reading, start: int, stop: int, found: list[RuleFinding]
) -> Iterator[RuleFinding]:
    """The role that is told behind an employer: "started at Bosch as a welder"."""
    words = reading.words
    at = next((i for i, word in enumerate(words) if word.start >= stop), len(words))
    if at + 2 >= len(words) or words[at].low != "as" or words[at + 1].low not in ("a", "an"):
        return
    begin, end = trim(words, at + 2, phrase_end(words, at + 2, len(words), frozenset({"of"})))
    if any(each.attribute == "work.role" for each in found) or not tidy(words, begin, end, 4):
        return
    value = text_of(reading.content, words, begin, end)
    last = words[end - 1].end
    first = next(
        (i for i, word in enumerate(words) if word.low in _LINKS and word.start > start), at
    )
    employer = reading.content[words[first].start : words[at].start]
    claim = claim_to(reading, start, last).replace(employer, "", 1)
    yield RuleFinding(
        reading.content, start, last, claim, "fact", "work.role", value,
        800, confidence=850, topic="work",
    )  # fmt: skip


_LINKS = frozenset({"at", "for", "with", "by"})
_ME = compile_later(r"\A(?!i\b|i['’]|we\b|ive?\b).* (?:me|us)\b", re.I | re.S)
_EVERY = compile_later(r"days\b", re.I)
""" "on Mondays": it does not end with the next one."""
_YEAR = compile_later(r"\b\d{4}\b")
_ARRANGED = ("event.appointment", "event.plan", "event.meeting")
"""Where something arranged may stand for which another day is told."""
_SMALL = frozenset("with the my our a an s is was got has been".split())
_SLOTS = {"prefer": "prefers", "like": "likes", "use": "uses", "drink": "eats"}


def _attribute(state: _State, groups: Mapping[str, str | None], noun: str) -> str:
    """The slot of a state, with the words found in it."""
    value = groups["value"] or ""
    if "{verb}" in state.attribute:
        words = tokens(value, 0, len(value))
        chosen = choices.lookup(words, 0, len(words))
        if chosen is not None:
            return chosen[0].attribute
    verb = _SLOTS.get((groups.get("verb") or "").lower(), "")
    done = verb or verb_form((groups.get("verb") or "").lower())[0]
    filled = state.attribute.replace("{noun}", noun).replace("{verb}", done)
    return filled.replace("{value}", slug(value))
