"""Which words of a statement give way to others: a day to a day, a colour to a colour, a name to a
name. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from beliefledger.gate.rules.lexicon import AS_PRESENT, WORDS, Form, verb_form
from beliefledger.ledger.candidate import SELF, Candidate
from beliefledger.ledger.late_patterns import compile_later

_WEEKDAY = compile_later(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b", re.I)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = compile_later(r"(?:the )?\d{1,2}(?:st|nd|rd|th)", re.I)
_DAY_OF_MONTH = compile_later(
    r"\b\d{1,2}(?:st|nd|rd|th)?(?= (?:of )?[a-z]{3})|(?<=[a-z] )\d{1,2}(?:st|nd|rd|th)?\b", re.I
)
_DATE = compile_later(
    rf"\b(?:{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?|(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}|"
    rf"(?:the )?\d{{1,2}}(?:st|nd|rd|th))\b",
    re.I,
)
_JUST_MONTH = compile_later(rf"\b{_MONTH}\b", re.I)
_CLOCK = compile_later(
    r"\b\d{1,2}(?:[:.]\d\d)? ?(?:am|pm|a\.m\.|p\.m\.|o['’]?clock)|\b\d{1,2}:\d\d\b", re.I
)
_HOUR = compile_later(r"(?<=\bat )\d{1,2}\b(?![:.]\d)")
_FIGURE = compile_later(
    r"[$€£]?\d[\d.,]*\d(?:k\b)?|[$€£]?\d(?:k\b)?|"
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"thirteen|fourteen|fifteen|twenty|thirty|forty|fifty)\b",
    re.I,
)
_CODE = compile_later(
    r"(?<![\w-])(?=[a-z]*\d)(?!\d+(?:(?-i:k|g|kg|lb|lbs|ml|cl|l|m|mm|cm|km|ft|in|h|hr|hrs|min|mins|s|"
    r"sec|secs|x|gb|mb|tb|yo|mph|kmh|p|bn|mn)|(?-i:K|KG|KM|GB|TB|MB)|am|pm|th|st|nd|rd)(?![\w-]))"
    r"(?=\d*[a-z])[a-z\d]{2,12}(?![\w-])",
    re.I,
)
"""Letters and digits in one word: a seat, a gate, a flight. No measure."""
_CODES = compile_later(r"[A-Za-z\d]{1,12}(?:[ -][A-Za-z\d]{1,12}){0,2}")
_CLASSES = tuple(
    compile_later(rf"(?<!['’])\b(?:{'|'.join(words.split())})\b", re.I)
    for words in (
        "red blue green yellow black white gr[ae]y pink purple orange brown beige navy teal "
        "turquoise gold silver violet",
        "small medium large big tiny huge xs s m l xl",
        "morning afternoon evening night noon midday",
        "early late", "tea coffee", "left right", "north south east west", "cats? dogs?",
        "brother sister mother father mum mom dad son daughter husband wife aunt uncle cousin",
        "today tomorrow tonight yesterday", "aisle window middle",
    )
)  # fmt: skip
_KINDS = (_WEEKDAY, _DATE, _CLOCK, *_CLASSES, _JUST_MONTH, _FIGURE)


_PROPER = compile_later(
    r"(?<=\s)(?!I(?:['’](?:m|ve|d|ll))?(?![\w'’]))[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*"
)


class Mend(NamedTuple):
    """The value said to be right, and the offsets of the words that say so."""

    right: str
    start: int
    end: int
    wrong: str | None = None
    """The words said to be wrong, if they are named: "…, not walnuts"."""
    sure: int = 2
    """How sure it is that something is put right: 0, only a value of the same kind or a name may
    give way; 1, small letters for no capital; 2, anything."""


WRONG = compile_later(
    r"[\W_]{0,3}(?:(?:sorry|sry|i mean)[\W_]{1,3})?(?:(?:and |but )?not|instead of|rather than|"
    r"(?:lol |haha )?why (?:did|do|would) i (?:just )?(?:write|say|type|put)) "
    r"(?:the |an? |my |in |on |at )?"
    r"(?P<wrong>[\w'’-]+(?: [\w'’-]+){0,2}?)(?=\W*$|[,.;!]| (?:sorry|lol|of course|i)\b)",
    re.I,
)


IS_WRONG = compile_later(
    r"[\W_]{1,3}(?:the |my )?(?P<wrong>[\w'’-]+(?: [\w'’-]+)?) (?:is|was|are|were) "
    r"(?:(?:the|my|our|his|her) )?(?:other|old|previous|former|wrong|last|another)\b",
    re.I,
)
"""What is something else: "it's traefik, kong is the other project"."""


def named_wrong(said: Candidate, mend: Mend) -> tuple[str, str] | None:
    """What is wrong and what is right, where both are named."""
    if mend.wrong is None:
        return None
    there = re.search(rf"(?<!\w){re.escape(mend.wrong)}(?!\w)", said.claim, re.I)
    right = re.sub(r"^(?:the|a|an|my|our|on|at|in|to|it's|its) ", "", mend.right, flags=re.I)
    if there is None:
        return None
    after, last = said.claim[there.end() :].split(maxsplit=1)[:1], right.rpartition(" ")[2]
    if after and " " in right and after[0].strip(".,").lower() == last.lower():
        return f"{there[0]} {after[0].strip('.,')}", right  # "almond milk, not oat"
    return there[0], right


def swap(said: Candidate, right: str, sure: int = 2) -> tuple[str, str] | None:
    """Which words of a statement give way to which: those of one kind; else a name to a name.
    `sure`: as of `Mend`."""
    bare = re.sub(r"^(?:the|a|an|my|our|on|at|in|to|by|it's|its) ", "", right, flags=re.I)
    one = re.sub(r" ones?$", "", bare, flags=re.I)
    if _is_code(one):
        return _in_place_of_a_code(said, one)
    for kind in _KINDS:
        new = kind.search(one)
        if new is None:
            continue
        there = kind.search(said.claim)
        if there is None:
            hour = _HOUR.search(said.claim) if kind is _CLOCK else None
            if hour is not None:
                return hour[0], bare
            if kind is _DATE or kind is _CLOCK:
                continue
            return None
        day = _DAY_OF_MONTH.search(there[0]) if kind is _DATE and _DAY.fullmatch(new[0]) else None
        if day is not None:  # "the 13th", of the 12th of May
            return None if day[0].lower() == new[0].lower() else (day[0], new[0])
        unit = _UNIT.match(said.claim, there.end()) if kind is _FIGURE else None
        if unit is not None and there[0] != new[0] and one == new[0]:
            return f"{there[0]}{unit[0]}", f"{new[0]}{unit[0]}"  # "18", of 8gb
        if there[0].lower() == new[0].lower() or _is_part_of_a_word(said.claim, there):
            return None
        if kind is _FIGURE and len(one.split()) > 1:
            noun = one[new.end() :].split()
            after = said.claim[there.end() :].split()
            if noun and after and noun[0].lower().rstrip("s") != after[0].lower().rstrip("s.,"):
                return None
        return there[0], new[0]
    if one != bare:  # "the striped one": a word before the thing
        first = said.value.split()
        articles = ("the", "a", "an", "my", "our")
        words = [word for word in first if word.lower() not in articles]
        return (words[0], one) if len(words) > 1 else None
    value = said.value
    named_thing = _same_thing(said.claim, bare)
    if named_thing is not None:
        return named_thing, bare
    if bare[:1].isupper():  # "I went to school in Lyon": the only name gives way to a name
        named = _PROPER.findall(said.claim.removeprefix(SELF))
        if len(named) == 1 and named[0].lower() != bare.lower():
            return named[0], bare
    if _OF_TIME.search(bare) and not _OF_TIME.search(said.claim):
        return None  # "sorry, the week before last" takes the place of no town
    if said.type in ("event", "commitment") or len(value.split()) > 3 or value not in said.claim:
        close = [
            word for word in said.claim.split()
            if SequenceMatcher(None, word.lower().strip(".,"), bare.lower()).ratio() >= 0.75
        ]  # fmt: skip
        return (close[0].strip(".,"), bare) if close and " " not in bare else None
    if value.lower() == bare.lower() or WORDS["pronouns"].intersection(bare.lower().split()):
        return None
    name = value[:1].isupper() or value.islower()
    if bare.islower() and (sure == 0 or (sure == 1 and value[:1].isupper())):
        alike = SequenceMatcher(None, value.lower(), bare).ratio() >= _ALIKE
        return (value, bare) if alike else None
    if bare.islower() and _ONE.match(right) and is_name(said):
        return None  # "no, she's a nurse" tells what somebody is, and not what they are called
    return (value, bare) if name else None


def _same_thing(claim: str, right: str) -> str | None:
    """The words of a claim that name the thing that others tell more of: "the sofa", of "Jess's
    sofa"."""
    lead, _, thing = right.rpartition(" ")
    if not lead:
        return None
    found = re.search(rf"(?<!\w)(?:the|a|an|my|our) {re.escape(thing)}(?!\w)", claim, re.I)
    return None if found is None else found[0]


def is_order(words: Sequence[str]) -> bool:
    """Whether words ask for something to be done: "run the tests", "first open it"."""
    rest = list(words)
    while rest and rest[0] in _BEFORE_ORDERS:
        del rest[0]
    if not rest or rest[0] in WORDS["roles"]:
        return False
    lemma, form = verb_form(rest[0])
    if rest[0] in _ASKS:
        return True
    base = form in AS_PRESENT | {Form.BASE_OR_PAST} and lemma == rest[0]
    return base and len(rest) > 1 and rest[1] in _OF_ORDERS


_BEFORE_ORDERS = frozenset("first please just now then also let's lets quickly go and to".split())
_ASKS = frozenset(
    "stop continue proceed delete open close send write show tell give remind summarize summarise "
    "translate explain run fix add remove create update install deploy execute print generate "
    "check undo redo skip restart reset start finish cancel".split()
)
"""What nobody would be called, have or like, where it begins what seems to be a value."""
_OF_ORDERS = frozenset(
    "the a an my your our it this that these those all some me us him her them everything up down "
    "off on out again now with to for its every each any another".split()
)


def is_name(said: Candidate) -> bool:
    """Whether what a statement says is the name of somebody near the user."""
    relation = said.attribute.startswith("relation.")
    return relation and (said.attribute.endswith(".name") or said.value[:1].isupper())


_ONE = compile_later(r"an? ", re.I)
_ALIKE = 0.6
"""From here on a word may be a misspelt one put right."""
_UNIT = compile_later(r"(?:[gmt]b|kg|g|km|m|ml|cl|l|cm|mm|ft|in|h|hrs?|mins?|s|%|p|x)(?!\w)", re.I)
_OF_TIME = compile_later(
    r"\b(?:days?|nights?|weeks?|weekends?|months?|years?|mornings?|afternoons?|evenings?|spring|"
    r"summer|autumn|winter|ago|yesterday|today|tonight|tomorrow|soon|later|earlier|recently)\b",
    re.I,
)


def _is_code(words: str) -> bool:
    """Whether words are letters and digits that stand for something: "15C", "SW1A 2AA"."""
    if _CODE.search(words) is None or _CODES.fullmatch(words) is None:
        return False
    return all(
        part.isupper() or part.isdigit() or _CODE.fullmatch(part) is not None
        for part in words.replace("-", " ").split()
    )


def _in_place_of_a_code(said: Candidate, code: str) -> tuple[str, str] | None:
    """A code takes the place of the value where that is one, and else of the only code in the
    claim."""
    if _is_code(said.value) and said.value in said.claim:
        old = [said.value]
    else:
        old = _CODE.findall(said.claim.removeprefix(SELF))
    if len(old) != 1 or old[0].lower() == code.lower():
        return None
    # A gate "B14" is in no seat's place, which begins with digits.
    alike = all(old[0][at].isdigit() == code[at].isdigit() for at in (0, -1))
    return (old[0], code) if alike else None


def _is_part_of_a_word(claim: str, found: re.Match[str]) -> bool:
    """Whether a figure stands in a longer word, which gives way as a whole or not at all."""
    start, end = found.span()
    return claim[start - 1 : start].isalnum() or claim[end : end + 1].isalnum()


def replaced(text: str, wrong: str, right: str) -> str:
    """The text with these words in place of the first of those, and not within other words. What
    follows and is their last word stands once: "light mode" in place of the dark of a mode."""
    found = re.search(rf"(?<!\w){re.escape(wrong)}(?!\w)", text)
    if found is None:
        return text
    rest, last = text[found.end() :], right.rpartition(" ")[2]
    twice = f" {last}".lower()
    if " " in right and rest.lower().startswith(twice) and not rest[len(twice) :][:1].isalnum():
        rest = rest[len(twice) :]
    return text[: found.start()] + right + rest
