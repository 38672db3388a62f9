"""People named beside what they are to the speaker: "a message to my landlord Mr. Petersen".

That is said in passing, mostly in a request or a question, and holds all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from beliefledger.gate.rules import departures
from beliefledger.gate.rules.findings import Reading, RuleFinding
from beliefledger.gate.rules.lexicon import GIVEN, MANY, ONE, PETS, WORDS, load
from beliefledger.gate.rules.names import NO_NAMES, is_no_name
from beliefledger.gate.rules.normalised import spelt
from beliefledger.gate.rules.patterns import KINDS
from beliefledger.gate.rules.phrases import slug
from beliefledger.gate.rules.possessives import relation_key, topic_of_noun
from beliefledger.gate.rules.whole_sentences import told
from beliefledger.ledger.candidate import SpeechAct
from beliefledger.ledger.late_patterns import compile_later

_DATA: dict[str, str] = load("named_roles.yaml")
_TITLED = (
    rf"(?:{_DATA['titles']})\.? [^\W\d_][\w'’-]{{1,24}}(?: (?-i:[A-Z])[^\W\d_][\w'’-]{{1,24}})?"
)
_PLAIN = (
    r"[^\W\d_][^\W\d_'’-]{1,20}(?:[-'’](?-i:[A-Z])[^\W\d_]{2,14})?(?: (?-i:[A-Z])[^\W\d_-]{2,20})?"
)
_NAMED = compile_later(
    r"(?<![\w'’])(?P<owner>my|our) (?:(?:new|old|former|current|lovely|dear|poor|best) )?"
    rf"(?P<whose>(?:{_DATA['whose']})['’]?s?['’]? )?(?P<role>{_DATA['roles']}),? "
    rf"(?:called |named )?(?:(?P<titled>{_TITLED})|(?P<name>{_PLAIN}))"
    rf"(?=['’]s\b|\s?[,.!?;:)–-]|\W*$|\s(?:{_DATA['then']})\b)",
    re.I,
)
_IS_NAMED = compile_later(
    r"(?<![\w'’])(?P<owner>my|our) (?:(?:new|current|main|regular|usual) )?"
    rf"(?P<role>{_DATA['is_named']})(?:['’]?s| is)(?: now| currently)?(?: called| named)? "
    rf"(?:(?P<titled>{_TITLED})|(?P<name>{_PLAIN}))"
    rf"(?=\s?[,.!?;:)–-]|\W*$|\s(?:{_DATA['then']}|now|since|these days|instead|again)\b)",
    re.I,
)
""""My cleaner is Ola"."""
_NOW = compile_later(r"\s(?:now|since|these days|instead)\b", re.I)
_FICTION = compile_later(rf"\b(?:{_DATA['fiction']})\b", re.I)
_SHORT = frozenset({"gf", "bf"})
_OF_CARE = frozenset("landlord landlady supervisor vet".split())
_MACHINES = frozenset(_DATA["machines"].split())
_NOT = frozenset(
    "who which that and or but is was has had will would said says wants about after monday tuesday"
    " wednesday thursday friday saturday sunday".split()
)
_REQUEST = compile_later(
    r"^\W*(?:(?:hi|hey|hello|ok|so|and|also|quick one)\b\W*)?"
    rf"(?:{_DATA['requests']})\b",
    re.I,
)


def may_be(text: str, start: int, end: int) -> bool:
    """Whether a sentence may name somebody so: cheap."""
    return end - start <= _LONGEST and _GUARD.search(text, start, end) is not None


_LONGEST = 400
_GUARD = compile_later(r"\b(?:my|our) \w", re.I)


def asks_beside(said: str) -> bool:
    """Whether a sentence asks for something, so that its score tells nothing of whom it names."""
    return _REQUEST.match(said) is not None


def is_name(value: str) -> bool:
    """Whether a value is a known given name, or has a title."""
    first, _, rest = value.partition(" ")
    return first.lower() in GIVEN or (bool(rest) and first.lower().rstrip(".") in _TITLES)


_TITLES = frozenset(
    "dr mr mrs ms prof professor frau herr señor señora senor senora mme madame".split()
)


def beside(reading: Reading, found: list[RuleFinding]) -> list[RuleFinding]:
    """What was found in a sentence, and whom it names beside their role."""
    found = [each for each in found if not (_is_machine(each) or _is_of_a_pet(each))]
    words = reading.words
    if not words or not may_be(reading.content, words[0].start, words[-1].end):
        return found
    named = [
        each
        for each in _findings(reading)
        if not any(other.start <= each.start and _same(each, other) for other in found)
    ]
    cared = {(each.attribute, each.value) for each in found if each.attribute.startswith("care.")}
    once = [
        each
        for each in found
        if (each.attribute.replace("thing.", "care.", 1), each.value) not in cared
        or not each.attribute.startswith("thing.")
    ]
    return once + named


def _is_machine(finding: RuleFinding) -> bool:
    return finding.type == "relation" and finding.value.lower() in _MACHINES


def _is_of_a_pet(finding: RuleFinding) -> bool:
    """Whether a name is that of the pet before it: "a budgie from my nan, Kevin"."""
    if finding.type != "relation" or "," not in finding.content[finding.start : finding.end]:
        return False
    before = finding.content[max(0, finding.start - _NEAR) : finding.start].lower()
    return _GOT_PET.search(before) is not None


_NEAR = 40
_GOT_PET = compile_later(
    rf"\b(?:got|adopted|have|bought|inherited|rescued) (?:an? |the |our |my )(?:\w+ )?"
    rf"(?:{'|'.join(sorted(PETS))}) (?:from|of|off|by)\s*$",
)


def _same(finding: RuleFinding, other: RuleFinding) -> bool:
    return other.value == finding.value or finding.value in other.value


def _findings(reading: Reading) -> Iterator[RuleFinding]:
    text, begin, end = reading.content, reading.words[0].start, reading.words[-1].end
    if _FICTION.search(text, begin, end) is not None:
        return
    beside = [(each, False) for each in _NAMED.finditer(text, begin, end)]
    told_so = [(each, True) for each in _IS_NAMED.finditer(text, begin, end)]
    for found, is_told in beside + told_so:
        name = found["titled"] or found["name"]
        role = found["role"].lower()
        if not _is_named(found, is_told=is_told):
            continue
        stop = found.end("titled") if found["titled"] else found.end("name")
        name = name.removesuffix("'s").removesuffix("’s")
        stop = found.start("titled" if found["titled"] else "name") + len(name)
        words = reading.words
        behind = next((at for at, each in enumerate(words) if each.start >= stop), len(words))
        if departures.are_gone(role.rsplit(maxsplit=1)[-1], words, behind):
            continue
        who = text[found.end("owner") + 1 : found.end("role")]
        kind, attribute = slot_of(role, who, name, titled=found["titled"] is not None)
        whose = found.groupdict().get("whose")
        if whose is not None:
            kind, attribute = "fact", f"thing.{slug(whose + role, 4)}"
        yield RuleFinding(
            text, found.start("owner"), stop, f"User's {told(who)} is {name}", kind, attribute,
            name, 650, 850, topic=topic_of_noun(role), participants=(name,),
            said_at=reading.said_at,
            act=SpeechAct.CHANGE if is_told and _is_news(found, stop) else None,
        )  # fmt: skip


def _is_news(found: re.Match[str], stop: int) -> bool:
    """Whether somebody is said to be it now: "my new cleaner is Ola", "my cleaner is Ola now"."""
    lead = found.string[found.start() : found.start("role")].lower()
    return (
        " new " in lead
        or " now" in found.string[found.end("role") : stop].lower()
        or _NOW.match(found.string, stop) is not None
    )


def _is_named(found: re.Match[str], *, is_told: bool) -> bool:
    """Whether the words behind a role are a name: "my boss Sandra", not "my boss said"."""
    if found["titled"] is not None:
        last = found["titled"].split()[1].lower().removesuffix("'s")
        return last not in WORDS["not_names"] | NO_NAMES
    first = found["name"].split()[0]
    low = first.lower().removesuffix("'s").removesuffix("’s")
    if low in WORDS["not_names"] | NO_NAMES | WORDS["brands"] | _MACHINES | _NOT:
        return False
    if low in GIVEN:
        return True
    of_a_country = low in KINDS or low.endswith(_OF_COUNTRIES)
    if is_told and (of_a_country or is_no_name(low)):
        return False  # "my barber is Turkish", "my dentist is Closing down"
    return first[0].isupper() and not found["owner"].isupper()


_OF_COUNTRIES = ("ish", "ese", "ian", "can", "nch", "utch")


def slot_of(role: str, who: str, name: str, *, titled: bool) -> tuple[str, str]:
    """The type and the slot of who is what to the speaker."""
    noun = role.rsplit(maxsplit=1)[-1]
    if (
        noun in _SHORT
        or role.startswith("ex")
        or (noun in ONE | MANY and (not (titled and role in _OF_CARE)))
    ):
        key = relation_key(noun, who.lower().split()[:-1], name)
        kind = slug(spelt(role) if " " not in role else role, 3)
        many = f"relation.{kind}.{slug(name)}" if noun in MANY else f"relation.{kind}.name"
        return "relation", key or many
    return "fact", f"care.{slug(role, 3)}"
