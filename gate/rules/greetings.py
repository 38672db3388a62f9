"""Who speaks, as a greeting tells it: "this is tomek btw", "hey its ana again", "carla here".

A name typed without a capital has to be one of the given names that are known.
"""

from __future__ import annotations

import re

from beliefledger.gate.rules.findings import Reading, RuleFinding
from beliefledger.gate.rules.lexicon import GIVEN, WORDS
from beliefledger.gate.rules.names import NO_NAMES
from beliefledger.ledger.late_patterns import compile_later

ATTRIBUTE = "identity.name"
_NAME = r"(?P<name>[^\W\d_][^\W\d_'’-]{1,15}(?:[-'’][^\W\d_]{2,12})?)"
_NAME2, _NAME3, _NAME4 = (_NAME.replace("name", f"name{at}") for at in (2, 3, 4))
_GREETING = (
    r"(?:(?:hi|hey|hello|hiya|heya|hallo|yo|ciao|hola|ola|bonjour|salut|servus|moin|namaste|"
    r"hej|buon ?giorno|guten (?:tag|morgen)|good day|(?:good )?(?:morning|evening|afternoon))\b"
)
_GREETING += r"(?: there| all| again| everyone| guys| folks| assistant)?[,.!\s-]{0,3}\s?)"
_AGAIN = r"(?:,? (?:here|again|speaking|btw|by the way|from (?!the\b)\w[\w'’ ]{1,30}|writing))"
_END = r"(?=\s?[,.!;:–(-]|\W*$)"
_SPEAKS = compile_later(
    rf"\W*(?P<greeting>{_GREETING})?(?:(?:so|ok|well|btw|fyi|oh)[, ]+)?(?:"
    rf"(?:this is|it['’]?s|it is)(?P<me> me,?| just me,?)? {_NAME}(?P<again>{_AGAIN})?{_END}|"
    rf"{_NAME2} (?:here|speaking)(?: again)?{_END}|"
    rf"(?:my |the )?name['’]?s {_NAME3}(?:{_END}|(?= (?:and|btw|from|by)\b))|"
    rf"(?:i['’]?m|i am|iam) {_NAME4}(?:{_END}|(?= (?:and i|btw|again|from|nice|here)\b)))",
    re.I,
)
_LONGEST = 90
"""How far into a sentence such words may reach, in characters."""
_GAMES = frozenset({"mario", "luigi"})
"""Who greets so in games."""
_WEAK = frozenset("me it us".split())


def may_begin(text: str) -> bool:
    """Whether a turn may begin with who speaks: cheap, before its words are read."""
    return _named(text[:_LONGEST]) is not None


def is_given(value: str) -> bool:
    """Whether a value is given names and nothing else: "kuba and ola"."""
    said = [word for word in value.lower().replace(",", " ").split() if word not in ("and", "&")]
    return bool(said) and all(word in GIVEN for word in said)


def beside(reading: Reading, found: list[RuleFinding]) -> list[RuleFinding]:
    """What was found in the first sentence of a turn, and the name that its greeting tells."""
    if any(each.attribute == ATTRIBUTE for each in found) or not reading.words:
        return found
    if reading.words[-1].low == "?" and reading.content.count(" ", 0, reading.words[-1].end) < 3:
        return found
    said = _named(reading.content[:_LONGEST])
    if said is None:
        return found
    start, (begin, end) = said
    name = reading.content[begin:end]
    shown = name[:1].upper() + name[1:]
    told = RuleFinding(
        reading.content, start, end, f"User is {shown}", "fact", ATTRIBUTE, name, 900, 850,
        topic="identity", said_at=reading.said_at,
    )  # fmt: skip
    return [told, *found]


def _named(text: str) -> tuple[int, tuple[int, int]] | None:
    """Where the words begin that tell who speaks, and where the name is."""
    found = _SPEAKS.match(text)
    if found is None:
        return None
    group = next(each for each in ("name", "name2", "name3", "name4") if found[each] is not None)
    name = found[group]
    low = name.lower()
    known = low in GIVEN or low.partition("-")[0] in GIVEN
    no_name = low in WORDS["not_names"] | NO_NAMES | _WEAK
    if group == "name3":
        return None if no_name or len(low) < 3 else (_begin(found), found.span(group))
    if no_name or not (known or (name[0].isupper() and found["greeting"] is not None)):
        return None
    if found["me"] and low in _GAMES:
        return None
    if group == "name" and not (found["again"] or found["me"] or found["greeting"]):
        return None
    if group in ("name2", "name4") and not known:
        return None
    return _begin(found), found.span(group)


def _begin(found: re.Match[str]) -> int:
    """Where the words begin, past marks and the greeting."""
    begin = found.end("greeting") if found["greeting"] is not None else 0
    while begin < found.end() and not found.string[begin].isalnum():
        begin += 1
    return begin
