"""What a sentence speaks of that only the words before it name. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from beliefledger.gate.calendar_names import NAMES as CALENDAR
from beliefledger.gate.rules.lexicon import GIVEN, Form, public_names, verb_form
from beliefledger.ledger.candidate import Span, Speech
from beliefledger.ledger.late_patterns import compile_later

FIRST_PERSON = compile_later(
    r"\b(?:i|i['’]?m|i['’]?ve|id|my|our|me|we|us|mine|weve)\b", re.IGNORECASE
)
_BACK = 600
"""How far back in the talk an antecedent may stand, in characters."""
FILLERS = "and|but|so|also|well|yeah|yes|no|anyway|plus|then|now|oh|actually"
"""What may open a sentence before it says anything."""
_OF_SPEAKER = compile_later(
    rf"\W*+(?:(?:{FILLERS}|btw|by the way)\b[\s,]*+){{0,3}}"
    r"(?:i|we)(?:['’]?(?:ve|d|m|re|ll))?\b"
    r"(?P<between>(?: [\w'’]+){1,7}?) (?:it|them)\b"
    r"(?!['’]| (?:when|if|that|would|will|was|is|were|are|has|had|cost|costs|took|takes|should|"
    r"could|might|may|can|down)\b)",
    re.IGNORECASE,
)
_NOT_NAMING = frozenset(
    "have had has am are was were been be being will would should could can may might must do did "
    "just finally recently already always never ever still also only really actually usually often "
    "even only to around about out up off on in with for of at as so very and not n't lately "
    "currently probably definitely excited happy glad proud ready able going planning".split()
)


def hangs(sentence: str) -> bool:
    """Whether a sentence tells what the speaker did with "it" or "them", and another one says what
    that is: "I got around to installing it last week"."""
    found = _OF_SPEAKER.match(sentence)
    return found is not None and all(
        word in _NOT_NAMING or verb_form(word)[1] is not Form.NONE
        for word in found["between"].lower().split()
    )


def name_before(turn: Speech, earlier: Sequence[Speech], start: int, who: str = "") -> Span | None:
    """The one name of the sentences before: of the same turn, else of the user's turns before.
    None where `who` ("he", "her") cannot be of that name."""
    same, others = (_MEN, _WOMEN) if who in _OF_MEN else (_WOMEN, _MEN)
    found = _named_before(turn, earlier, start, same)
    if found is None or who not in _OF_WOMEN | _OF_MEN:
        return found
    here = found.turn is None
    said = next((each.content for each in earlier if each.turn_id == found.turn), turn.content)
    low = found.quote.lower()
    if low not in GIVEN and (low in _WORLD or _SOMEBODY.search(said, 0, found.start) is None):
        return None  # "my mum's Spotify", "Rome is lovely"
    if _IS_CALLED.match(turn.content, start) and _TITLE.search(said, 0, found.start) is None:
        return None  # "His name is Otto" is of nobody whose name was told
    since = _WHO_THAT_IS.sub("", said[found.end : start if here else None])
    if _NAMELESS.search(since) or same.search(since):
        return None  # "I met a guy", "I asked dad"
    womans = low.endswith("a") and low not in _MENS_NAMES
    # Of two people whom the words before speak of, nobody knows which.
    return None if others.search(said) or (womans and who in _OF_MEN) else found


_WORLD = public_names("companies", "technology", "places")
"""What has a name and is nobody: towns, companies."""
_IS_CALLED = compile_later(
    rf"\W*+(?:(?:{FILLERS}|btw|by the way)\b[\s,]*+){{0,3}}"
    r"(?:(?:his|her) name(?:['’]?s| is| was)|(?:he|she)(?:['’]?s| is| was) (?:called|named))\b",
    re.IGNORECASE,
)
_TITLE = compile_later(r"\b(?:mr|mrs|ms|miss|mx|dr|prof|professor)\.? \Z", re.IGNORECASE)
_WHO_THAT_IS = compile_later(
    r"\A[\s,(–-]{0,3}(?:is|was|who['’]?s|who is)?\b[\s,]{0,2}"
    r"(?:my|our|an?|the)\b(?: [\w'’-]+){0,2}",
    re.IGNORECASE,
)
"""What a name is followed by that says who has it: "Max, my big brother"."""
_NAMELESS = compile_later(
    r"\b(?:i|we)(?:['’]?(?:ve|m|re|d))?(?: [\w'’]+){1,5}? (?:(?:an?|another|this|one|some)"
    r"(?: [\w-]+){0,2}? (?:guy|bloke|lad|dude|man|woman|girl|lady|boy|person|kid|baby|friend|mate|"
    r"buddy|partner|puppy|pup|dog|cat|kitten|horse|pony|rabbit|hamster|parrot|teacher|tutor|coach|"
    r"trainer|therapist|boss|manager|colleague|neighbou?r|flatmate|roommate|housemate|lodger|"
    r"cleaner|nanny|babysitter|intern|client|student|nurse|doctor)|someone|somebody)\b",
    re.IGNORECASE,
)
"""The speaker tells of somebody else, without a name."""
_OF_WOMEN, _OF_MEN = frozenset({"she", "her"}), frozenset({"he", "his"})
_MENS_NAMES = frozenset(
    "luca joshua ezra nikita sasha misha kostya mika andrea elia noa dana isa musa mustafa yahya "
    "akira aba juba costa jona".split()
)
_MEN = compile_later(
    r"\b(?:brother|dad|father|husband|boyfriend|bf|son|uncle|grandad|grandpa|grandfather|nephew|"
    r"hubby|stepdad|mr)\b",
    re.IGNORECASE,
)
_WOMEN = compile_later(
    r"\b(?:sister|mum|mom|mother|wife|girlfriend|gf|daughter|aunt|gran|grandma|grandmother|niece|"
    r"wifey|stepmum|mrs|ms)\b",
    re.IGNORECASE,
)


_SOMEBODY = compile_later(
    r"(?:\b(?:is|was|called|named|name is|meet|met|with|and|dr|mr|mrs|ms|prof|professor|brother|"
    r"sister|mum|mom|dad|mother|father|wife|husband|partner|girlfriend|boyfriend|gf|bf|bff|son|"
    r"daughter|kid|baby|twin|aunt|uncle|cousin|niece|nephew|gran|grandma|grandpa|grandad|friend|"
    r"mate|boss|manager|colleague|coworker|teacher|tutor|coach|neighbou?r|landlord|landlady|"
    r"flatmate|roommate|intern|client|dog|cat|puppy|kitten|horse|pony|rabbit|hamster|parrot|"
    r"fianc\w+|ex|babysitter|nanny|cleaner|student|supervisor|in[ -]law),? |^\W*|[.!?]\s+)\Z",
    re.IGNORECASE,
)
"""Before the name of somebody, or of an animal."""


def _named_before(
    turn: Speech,
    earlier: Sequence[Speech],
    start: int,
    same: re.Pattern[str],
) -> Span | None:
    here = _only_name(turn.content, max(0, start - _BACK), start)
    if here is not None or _NAME.search(turn.content, 0, start):
        return here
    for said in reversed(earlier[-_TURNS_BACK:]):
        if said.role == "user":
            found = _only_name(said.content, max(0, len(said.content) - _BACK), len(said.content))
            if found is None and _GOES_ON.match(said.content) is not None:
                pronoun = "he" if same is _MEN else "she"
                begins = _PRONOUN.search(said.content)
                if begins is None or begins[0].lower() != pronoun or same.search(said.content):
                    return None  # "She's asked dad"
                continue  # "He works at Voest", of whom the turn before that names
            return None if found is None else found.model_copy(update={"turn": said.turn_id})
    return None


_TURNS_BACK = 4
_GOES_ON = compile_later(r"\W*+(?:he|she)\b[^.!?\n]{0,200}[.!?]?\s*\Z", re.IGNORECASE)
_PRONOUN = compile_later(r"\b(?:he|she)\b", re.IGNORECASE)
_NAME = compile_later(
    r"(?<=[a-z,] )(?!I\b)[A-Z][a-z]{1,20}\b|"
    r"^(?!(?:He|She|It|That|This|There|Here|What|Who|Where|When|How|Everyone|Everybody)\b)"
    r"[A-Z][a-z]{1,20}(?= is\b| was\b|'s\b)"
)


_PLACING = compile_later(r"\b(?:in|at|to|near|from|around|outside|goes to|into)(?: the)? \Z", re.I)
"""Before what is somewhere, and nobody: "my son goes to Oakfield"."""


def _only_name(text: str, start: int, end: int) -> Span | None:
    """The name in text[start:end], where there is exactly one and the speaker speaks of theirs."""
    found = {
        each.group(): each
        for each in _NAME.finditer(text, start, end)
        if each.group().lower() in GIVEN
        or (_PLACING.search(text, 0, each.start()) is None and each.group().lower() not in CALENDAR)
    }
    if len(found) != 1 or FIRST_PERSON.search(text, start, end) is None:
        return None
    [(name, at)] = found.items()
    return Span(start=at.start(), end=at.end(), quote=name)
