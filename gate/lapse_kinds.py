"""Which memories each kind of lapse ends: of work, of home, of a habit, of a thing. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from beliefledger.gate.belief import Held
from beliefledger.gate.meant_memories import WORD, stems
from beliefledger.gate.persons import Told
from beliefledger.gate.registry import NOTE
from beliefledger.gate.rules import distinctions
from beliefledger.gate.rules.lapses import Lapse
from beliefledger.gate.rules.patterns import is_job
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.networks.stems import stem


def _attribute(held: Held) -> str:
    return held.written.memory.attribute


def _is_past(told: Told) -> bool:
    return _PAST.match(told.rest) is not None


_PAST = compile_later(
    r"(?:was|were|had|used|did|died|loved|taught|grew|came|\w{2,20}ed|went|worked|lived|born)\b",
    re.I,
)


_STILL = "(?:(?:still|currently|now|also|just|recently) )?"


def _of_work(held: Held, told: Told, lapse: Lapse) -> bool:
    """Where somebody works, and as what they work there."""
    if _attribute(held).startswith(("work.employer", "work.location", "work.team", "teaches.")):
        return True
    if _attribute(held) == "work.role" or _attribute(held).startswith("role."):
        return lapse.ends == "retired" or not told.rest.startswith("is a")
    return _WORKS.match(told.rest) is not None


_WORKS = compile_later(
    rf"{_STILL}(?:works?|working|has (?:a|an|the|two) "
    r"(?:[\w-]+ ){0,3}job|is (?:working|employed)|teach(?:es)?|runs?|manages?|"
    r"got (?:a|an|the|her|his) (?:[\w-]+ ){0,3}job|started (?:a|an|her|his|the|at|as|work)|"
    r"commutes|joined|does shifts|does nights|"
    r"is an? [\w -]{0,30}(?:at|for) [A-Z]|is (?:at|with) [A-Z])",
)


def _of_retirement(held: Held, told: Told, lapse: Lapse) -> bool:
    if "retired" in told.rest:
        return False
    job = _JOB.match(told.rest)
    return _of_work(held, told, lapse) or (job is not None and any(map(is_job, job["job"].split())))


_JOB = compile_later(r"is an? (?P<job>[\w -]{2,40})")


def _of_place(held: Held, told: Told, lapse: Lapse) -> bool:
    """Where somebody is by a name, which may be told in short."""
    attribute, memory = _attribute(held), held.written.memory
    if _is_named_place(told.rest, lapse.things):
        return True
    return attribute.startswith(("work.employer", "home.location", "studies.", "education.")) and (
        _begins(memory.value, lapse.things)
    )


def _begins(value: str, things: tuple[str, ...]) -> bool:
    """Whether some words are the first ones of a name, or all of it."""
    words = [each.lower() for each in WORD.findall(value.removeprefix("the "))]
    return bool(things) and tuple(words[: len(things)]) == things


def _is_named_place(text: str, things: tuple[str, ...]) -> bool:
    """Whether a text says that somebody is at, with or for what these words name."""
    return any(_begins(found["place"], things) for found in _AT.finditer(text))


_AT = compile_later(
    r"\b(?:at|for|with|goes to|going to|studies in|joined|from)(?: the)? "
    r"(?P<place>[^\W_][\w'’&.-]{1,30}(?: [\w'’&.-]{1,30}){0,3})",
    re.I,
)


def _of_home(held: Held, told: Told, lapse: Lapse) -> bool:
    """Where somebody lives."""
    if distinctions.is_of_a_kind(" ".join(lapse.things)):
        return False  # "moved to Android"
    return _attribute(held).startswith("home.") or (_LIVES.match(told.rest) is not None)


_LIVES = compile_later(
    rf"{_STILL}(?:lives?|living|is living|is based|resides|"
    r"moved|rents|has an? (?:\w+ ){0,2}(?:flat|apartment|house|place)\b)"
)


def _of_love(held: Held, told: Told, lapse: Lapse) -> bool:
    """With whom somebody is."""
    attribute, claim = _attribute(held), held.written.memory.claim
    is_so = attribute.startswith(("is.engaged", "is.married", "is.dating", "is.seeing")) or (
        attribute.startswith("relation.") and attribute.endswith(_LOVES)
    )
    if not is_so and _LOVES_SOMEBODY.search(told.rest) is None:
        return False
    if _is_past(told) and not told.rest.startswith(("got engaged", "got married")):
        return False
    if not lapse.other:
        return True
    named = lapse.other.split()[-1]
    others = {each.lower() for each in _NAMES.findall(told.rest)}
    return not others or named in others or named in claim.lower().split()


_LOVES = ("marital-status", "partner.name", "spouse.name", ".date", ".marry")
_LOVES_SOMEBODY = compile_later(
    r"\b(?:dating|seeing (?!a (?:doctor|therapist|dentist|specialist))|engaged|married|"
    r"in a relationship|(?:has|got|with|have) (?:a |an |his |her |their )(?:new )?(?:girlfriend|"
    r"boyfriend|gf|bf|partner|wife|husband|fianc\w*)|is with [A-Z])"
)
_NAMES = compile_later(r"\b[A-ZÀ-Þ][\w-]{1,30}")


def _of_study(held: Held, told: Told, _lapse: Lapse) -> bool:
    """What and where somebody studies."""
    attribute = _attribute(held)
    if attribute.startswith(("studies.", "education.", "work.school")):
        return not _is_past(told)
    return _STUDIES.match(told.rest) is not None


_STUDIES = compile_later(
    r"(?:(?:still|currently|now|also|just) )?(?:stud(?:y|ies|ying)|is (?:studying|doing (?:an?|his|"
    r"her|their) [\w' -]{0,30}(?:degree|phd|masters?|master's|ba|bsc|msc|mba|thesis|course)|"
    r"(?:at|in) [\w' -]{0,20}(?:uni|university|college|school)|an? [\w' -]{0,30}student|in (?:his|"
    r"her|their|the) \w+ year|in year|in [\w-]+ grade)|goes to [\w' -]{0,30}(?:uni|university|"
    r"college|school)|majors)\b",
    re.I,
)


def _of_habit(held: Held, told: Told, lapse: Lapse) -> bool:
    """What somebody does, by the words for it."""
    if held.type in ("preference", "relation") or _is_past(told):
        return False
    said = {stem(each) for each in lapse.things} - _DOES
    does = stems(told.rest)
    if not said or not said <= does:
        return False
    return said != {"drink"} or does.isdisjoint(_SOFT)


_DOES = frozenset(stem(each) for each in "do go eat take have play use".split())
_SOFT = frozenset(stem(each) for each in "coffee tea water milk juice soda cola coke".split())


def _of_thing(held: Held, told: Told, lapse: Lapse) -> bool:
    """What somebody has, by the words for it."""
    attribute = _attribute(held)
    if _is_past(told) or held.type == "relation":
        return False
    owns = attribute.startswith(("has.", "drives.", "vehicle.", "thing.", "device.", "relation."))
    verb = _HAS.match(told.rest)
    if not (owns or held.type == NOTE) or verb is None:
        return False
    said = {stem(each) for each in lapse.things}
    if not said:
        return False
    if said <= stems(told.rest):
        return True
    kind = _GENERIC.get(lapse.things[-1])
    return kind is not None and kind.match(told.rest) is not None


_HAS = compile_later(
    r"(?:(?:still|now|also|just) )?(?:has|have|drives?|owns?|rides?|sails?|got|bought|runs?)\b"
)
_CARS = compile_later(
    r"(?:(?:still|now|also|just) )?drives? (?!(?:an? )?(?:[\w-]+ ){0,2}(?:truck|lorry|bus|taxi|cab|"
    r"van|tractor|motorbike|scooter|tram|train|forklift|ambulance)\b|for\b|to\b|people\b)"
)
_GENERIC = {
    "car": _CARS, "motor": _CARS, "wheels": _CARS,
    "bike": compile_later(r"rides? an? (?!horse|pony)"),
    "motorbike": compile_later(r"rides? an? (?!horse|pony|bicycle)"),
}  # fmt: skip


def _of_the_living(held: Held, told: Told, _lapse: Lapse) -> bool:
    """Whatever is told as if somebody lived: not who they are, and not what was."""
    if held.type == "relation" or _attribute(held).startswith(_FOR_GOOD):
        return False
    if _attribute(held).endswith((".name", ".origin", ".birthday")):
        return False
    return not _is_past(told) and _IS_FROM.match(told.rest) is None


_FOR_GOOD = ("identity.name", "identity.birth", "alias", "origin", "identity.nationality")
_IS_FROM = compile_later(
    r"(?:is|comes) (?:(?:originally )?from|called|named|dead|gone|(?:[\w-]+)? ?buried)\b|\Z"
)

OF_OTHERS: dict[str, Callable[[Held, Told, Lapse], bool]] = {
    "work": _of_work,
    "retired": _of_retirement,
    "place": _of_place,
    "home": _of_home,
    "love": _of_love,
    "study": _of_study,
    "habit": _of_habit,
    "owned": _of_thing,
    "dead": _of_the_living,
}


def _is_by_name(held: Held, lapse: Lapse) -> bool:
    """Whether a memory is of what is begun or done by these words, and no more than by them."""
    memory = held.written.memory
    attribute = memory.attribute
    said = {stem(each) for each in lapse.things}
    told = stems(f"{memory.value} {memory.claim} {attribute.replace('.', ' ')}")
    if not said or not all(_is_told(each, told) for each in said):
        return False
    if held.type == "event":
        return attribute.startswith("event.start") or _BEGAN.search(memory.claim) is not None
    if held.type == NOTE:
        return _BEGUN.search(memory.value) is not None
    return attribute.startswith(_DONE)


def _is_told(word: str, told: set[str]) -> bool:
    """Whether a stem is one of others, or of the same word: "renovation", of who renovates."""
    return word in told or (
        len(word) >= _LIKE and any(each.startswith(word[:_LIKE]) for each in told)
    )


_LIKE = 6
_DONE = (
    "habit.", "plays.", "studies.", "learns.", "trains-for.", "volunteers.", "fitness.", "does.",
    "is-learning", "is.learning", "relation.member-of", "eats.", "day.", "schedule.", "teaches.",
)  # fmt: skip
_BEGAN = compile_later(
    r"\b(?:started|began|begun|took up|taken up|taking up|signed up|joined|enrolled|picked up)\b",
    re.I,
)
_BEGUN = compile_later(
    r"\A\W*(?:(?:so|and|but|also|oh|well)\W+)?(?:i|we|i['’]?m|i['’]?ve|we['’]?re)\b[^.!?]{0,20}"
    r"\b(?:started|began|took up|taken up|signed up|joined|enrolled|learning|studying|taking|doing|"
    r"\w{3,20}ing|go to|play|do)\b",
    re.I,
)


def _is_begun(held: Held, lapse: Lapse) -> bool:
    """Whether a memory tells that something was begun, which other rules do not end."""
    return held.type in ("event", NOTE) and _is_by_name(held, lapse)


def _is_spoken(held: Held, lapse: Lapse) -> bool:
    """Whether a memory is of a language, by its name."""
    attribute = _attribute(held)
    words = {each.lower() for each in WORD.findall(held.written.memory.value)}
    return attribute.startswith(("speaks.", "language.speaks", "language.learn")) and words == set(
        lapse.things
    )


def _is_at(held: Held, lapse: Lapse) -> bool:
    """Whether a memory is of work or study at a place, by its name in short."""
    memory = held.written.memory
    attribute = memory.attribute
    if attribute == "work.employer":
        return _begins(memory.value, lapse.things)
    if held.type != NOTE and not attribute.startswith(_AT_A_PLACE):
        return False
    if held.type == NOTE and _WORKS_THERE.search(memory.value) is None:
        return False
    text = memory.value if held.type == NOTE else memory.claim
    return _is_named_place(text, lapse.things)


_AT_A_PLACE = ("work.", "teaches.", "studies.", "education.", "volunteers.", "role.", "habit.")
_WORKS_THERE = compile_later(
    r"\A\W*(?:i|i['’]?m|we)\b[^.!?]{0,20}\b(?:work|teach|study|am|['’]?m|run|manage|volunteer)",
    re.I,
)

OF_USER: dict[str, Callable[[Held, Lapse], bool]] = {
    "paused": _is_by_name,
    "begun": _is_begun,
    "language": _is_spoken,
    "place": _is_at,
}
