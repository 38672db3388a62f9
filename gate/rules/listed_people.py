"""Family and pets that are listed by name: "I have a daughter, Helen, in Bristol, and a son".

`beside` puts each of them in a slot of its own, in place of one statement about all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from beliefledger.gate.claim_wordings import number_of
from beliefledger.gate.rules.findings import Reading, RuleFinding
from beliefledger.gate.rules.lexicon import GIVEN, NEAR, PETS, WORDS
from beliefledger.gate.rules.named_roles import slot_of
from beliefledger.gate.rules.names import NO_NAMES
from beliefledger.gate.rules.possessives import topic_of_noun
from beliefledger.ledger.late_patterns import compile_later

_LONGEST = 300
_ADJECTIVES = (
    r"(?:(?:older|elder|eldest|younger|youngest|big|little|baby|twin|half|grown|grown-up|lovely|"
    r"rescue|old|young|small|ginger|black|white|tabby|other|new) ){0,2}"
)
_NAME = r"(?-i:[A-ZÀ-Þ])[^\W\d_'’-]{1,20}(?:-(?-i:[A-Z])[^\W\d_]{1,14})?"
_AGE = (
    r"(?:,? ?\(?(?:aged? |is |who(?:['’]s| is) )?\d{1,2}(?: (?:years|yrs?|months?)(?: old)?)?\)?)?"
)
_TYPED = r"[^\W\d_][^\W\d_'’-]{1,20}(?=\s*(?:$|[,.;!)(&+]|(?:and|plus|who)\b))"
"""A name as it is typed in a hurry: "a son leo and a daughter mia"."""
_AGED = r"[^\W\d_][^\W\d_'’-]{1,20}(?= (?:is |who |\()?\d)"
_HAS = compile_later(r"\b(?:i|we)(?:['’]?ve(?: got)?| have(?: got)?| got) (?=\w)", re.I)
_ONE = compile_later(
    rf"(?:(?:an?|one|my|our) )?{_ADJECTIVES}(?P<kin>[^\W\d_][\w-]{{2,16}})"
    r"(?:, | \(| |: | - | – )(?P<called>(?:called|named|by the name of) )?"
    rf"(?P<name>{_NAME}|{_TYPED}){_AGE}"
    rf"\)?(?:,? (?:(?:who )?(?:lives|living|is|based|over) )?in (?P<place>{_NAME}(?: "
    rf"{_NAME})?))?",
    re.I,
)
_MORE = compile_later(r",?(?: ?(?:and|plus|&)| ?,) ", re.I)
_NO_NAME = WORDS["not_names"] | NO_NAMES | WORDS["brands"]


_KINS = {
    "kids": "kid", "children": "child", "sons": "son", "boys": "son", "daughters": "daughter",
    "girls": "daughter", "brothers": "brother", "sisters": "sister", "grandchildren": "grandchild",
    "grandsons": "grandson", "granddaughters": "granddaughter", "nieces": "niece",
    "nephews": "nephew", "stepsons": "stepson", "stepdaughters": "stepdaughter",
    "stepkids": "stepkid", "grandkids": "grandkid", "dogs": "dog", "cats": "cat",
    "rabbits": "rabbit", "kittens": "kitten", "puppies": "puppy", "horses": "horse",
}  # fmt: skip
_SEVERAL = compile_later(
    r"(?:\b(?:(?:i|we)(?:['’]?ve(?: got)?| have(?: got)?| got)|(?P<my>my|our)) |"
    r"(?:^|(?<=[.!?] ))(?P<bare>(?=(?:two|three|four|five|six|[2-6]) )))"
    rf"(?:(?P<count>two|three|four|five|six|[2-6]) )?{_ADJECTIVES}(?P<kin>{'|'.join(_KINS)})"
    r"(?P<are> (?:are )?(?:called|named) | are |['’] names are | ?[:,(] ?| - | – | )",
    re.I,
)
_YEARS = (
    r"(?:,? ?\(?(?:aged? |is |who(?:['’]s| is)? (?:just |now |already ){0,2}(?:turned |turning )?)?"
    r"(?P<age>\d{1,2})(?! ?(?:kg|cm|am|pm|%|months?|weeks?|days?)\b)"
    r"(?:(?: years| yrs?)?(?: old)?\b)?\)?)?"
)
_EACH = compile_later(
    rf"(?:(?:little|big|baby|then) ){{0,2}}(?P<name>{_NAME}|{_TYPED}|{_AGED}){_YEARS}(?![\w'’-])",
    re.I,
)
_JOINED = compile_later(r",? (?:and|&) |, ?| ?& ?", re.I)


def may_be(text: str, start: int, end: int) -> bool:
    """Whether a sentence may list somebody: cheap."""
    if end - start > _LONGEST:
        return False
    return any(each.search(text, start, end) for each in (_HAS, _SEVERAL, _WHO_IS))


def beside(reading: Reading, found: list[RuleFinding]) -> list[RuleFinding]:
    """What was found in a sentence, with whom it lists by name in place of the list."""
    words = reading.words
    if not words or not may_be(reading.content, words[0].start, words[-1].end):
        return found
    found = [*found, *_who_is(reading)]
    counted = list(_counted(reading))
    listed = counted or list(_listed(reading))
    if not listed:
        return [*found, *_told_of_one(reading)]
    if counted:  # how many there are is told besides
        said = {(each.attribute, each.value.lower()) for each in found}
        found = [_without_names(each, counted) for each in found]
        found = [
            each
            for at, each in enumerate(found)
            if not any(each.claim == other.claim for other in found[:at])
        ]
        return found + [
            each for each in counted if (each.attribute, each.value.lower()) not in said
        ]
    start, end = listed[0].start, max(each.end for each in listed)
    within = ("has.", "relation.")
    kins = {each.attribute.split(".")[1] for each in listed}
    kept = [
        each
        for each in found
        if not each.attribute.startswith(within)
        or each.end <= start
        or each.start >= end
        or (each.end > end and each.attribute.split(".")[1] not in kins)
    ]
    return kept + listed


_LISTING = compile_later(r"(?:,|(?<!User):| \(| [-–])(?= |$|\w)")


def _without_names(number: RuleFinding, counted: list[RuleFinding]) -> RuleFinding:
    """How many there are, without the names where the claim has but the first few of them."""
    bare, claim = _LISTING.split(number.claim, maxsplit=1)[0], number.claim.lower()
    values = [each.value.lower() for each in counted]
    names = [each.value.lower() for each in counted if each.type == "relation"]
    if number.type != "fact" or not number.attribute.startswith(("family.children", "has.")):
        return number
    if all(value in claim for value in values) or not any(name in claim for name in names):
        return number
    if any(name in bare.lower() for name in names):
        return number
    return number._replace(claim=bare)


def _listed(reading: Reading) -> Iterator[RuleFinding]:
    text, end = reading.content, reading.words[-1].end
    has = _HAS.search(text, reading.words[0].start, end)
    if has is None:
        return
    at, listed = has.end(), list[re.Match[str]]()
    while (one := _ONE.match(text, at, end)) is not None:
        if one["kin"].lower() not in NEAR or not _is_name(one):
            break
        listed.append(one)
        more = _MORE.match(text, one.end(), end)
        if more is None:
            break
        at = more.end()
    if len(listed) == 1 and listed[0]["called"]:
        return  # "a brother called Tom" is read as it is
    for one in listed:
        yield _relation(reading, has.start(), one)
        if one["place"] and one["kin"].lower() not in PETS:
            yield _home(reading, one)


def _is_name(one: re.Match[str]) -> bool:
    name = one["name"]
    if name.lower() in _NO_NAME:
        return False
    return name[0].isupper() or name in GIVEN or bool(one.groupdict().get("called"))


def _name(one: re.Match[str]) -> str:
    return one["name"][0].upper() + one["name"][1:]


_AND_THEY = compile_later(
    rf"\b(?:i|we)(?:['’]ve(?: got)?| have(?: got)?) (?:an?|one) {_ADJECTIVES}"
    r"(?P<kin>sister|brother|son|daughter|cousin|aunt|uncle|niece|nephew|girlfriend|boyfriend)"
    r"(?:,| -| –)? (?:and |who |but )?(?:s?he |s?he['’]s |who )?(?:just |now |also )?(?P<does>"
    rf"(?:lives?|living|based) in (?P<place>{_NAME}(?: {_NAME})?)|"
    rf"(?:works?|working) (?:at|for) (?P<firm>{_NAME}(?: {_NAME})?))",
    re.I,
)


def _told_of_one(reading: Reading) -> Iterator[RuleFinding]:
    """Where one of a family lives or works: "I have one sister, she lives in Lyon"."""
    text = reading.content
    said = _AND_THEY.search(text, reading.words[0].start, reading.words[-1].end)
    if said is None:
        return
    kin, what = said["kin"].lower(), "place" if said["place"] else "firm"
    slot = {"place": "location", "firm": "work"}[what]
    does = {"place": "lives in", "firm": "works at"}[what]
    yield RuleFinding(
        text, said.start(), said.end(what), f"User's {kin} {does} {said[what]}", "fact",
        f"relation.{kin}.{slot}", said[what], 500, 850, topic="family", said_at=reading.said_at,
    )  # fmt: skip


def _counted(reading: Reading) -> Iterator[RuleFinding]:
    """Each of several of one kind: "two kids, Lotte who is 9 and Arne who just turned 6"."""
    text, end = reading.content, reading.words[-1].end
    some = _SEVERAL.search(text, reading.words[0].start, end)
    if some is None or (some["are"] == " " and not some["my"]):
        return
    at, each = some.end(), list[re.Match[str]]()
    while (one := _EACH.match(text, at, end)) is not None:
        if one["name"].lower() in _NO_NAME:
            return
        each.append(one)
        more = _JOINED.match(text, one.end(), end)
        if more is None:
            break
        at = more.end()
    told = number_of(some["count"].lower()) if some["count"] else str(len(each))
    if len(each) < _LEAST or told != str(len(each)):
        return
    if some["bare"] is not None and (
        not any(one["age"] for one in each) or _ENDS.match(text, each[-1].end(), end) is None
    ):
        return  # "two kids, Tom and Ann, were at the pool"
    known = [_is_name(one) for one in each]
    called = some["are"].endswith(("called ", "named "))
    if not (called or all(known) or (some["count"] and any(known))):
        return  # "my kids are happy and loud"
    kin = _KINS[some["kin"].lower()]
    for one in each:
        yield _relation(reading, some.start(), one, kin)
        if one["age"]:
            yield _aged(reading, some.start(), one, kin)


_LEAST = 2
_ENDS = compile_later(r"[\W_]*\Z|[.!]| ?[)(]")
_WHO_IS = compile_later(
    rf"\b(?:my|our) (?P<who>{_ADJECTIVES}(?P<kin>[^\W\d_][\w-]{{2,16}})),? "
    r"who(?:['’]?s| is) (?:now |only |just )?(?P<age>\d{1,3})"
    r"(?=(?: (?:now|years old|yrs old))?(?:\s*(?:$|[,.;!?)])| (?:and|but)\b))",
    re.I,
)


def _who_is(reading: Reading) -> Iterator[RuleFinding]:
    """How old somebody near is of whom more is told: "my dad, who's 82, loves bingo"."""
    text = reading.content
    for one in _WHO_IS.finditer(text, reading.words[0].start, reading.words[-1].end):
        kin, age = one["kin"].lower(), one["age"]
        if kin in NEAR:
            yield RuleFinding(
                text, one.start(), one.end("age"), f"User's {one['who']} is {age}", "fact",
                f"relation.{kin}.age", age, 500, 850, topic="family", said_at=reading.said_at,
            )  # fmt: skip


def _aged(reading: Reading, start: int, one: re.Match[str], kin: str) -> RuleFinding:
    name, age = _name(one), one["age"]
    return RuleFinding(
        reading.content, start, one.end("age"), f"User's {kin} {name} is {age}", "fact",
        "identity.age", age, 500, 800, topic="family", entity=name, participants=(name,),
        said_at=reading.said_at,
    )  # fmt: skip


def _relation(reading: Reading, start: int, one: re.Match[str], kin: str = "") -> RuleFinding:
    kin, name = kin or one["kin"].lower(), _name(one)
    slot = f"relation.{kin}.name" if kin in PETS else slot_of(kin, kin, name, titled=False)[1]
    return RuleFinding(
        reading.content, start, one.end("name"), f"User's {kin} is {name}", "relation", slot, name,
        650, 850, topic=topic_of_noun(kin), participants=(name,), said_at=reading.said_at,
    )  # fmt: skip


def _home(reading: Reading, one: re.Match[str]) -> RuleFinding:
    kin, name, place = one["kin"].lower(), _name(one), one["place"]
    return RuleFinding(
        reading.content, one.start(), one.end("place"), f"User's {kin} {name} is in {place}",
        "fact", "home.location", place, 500, 800, topic="home", entity=name, participants=(name,),
        said_at=reading.said_at,
    )  # fmt: skip
