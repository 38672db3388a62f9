"""The extractor's words: loaded once from the YAML files beside this one."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import Any

from beliefledger.ledger.data_files import data
from beliefledger.ledger.late_patterns import compile_later


class Form(Enum):
    """The form of a verb, as far as its spelling tells."""

    BASE = "base"
    PAST = "past"
    PARTICIPLE = "participle"
    BASE_OR_PAST = "base or past"
    BASE_OR_PARTICIPLE = "base or participle"
    ING = "ing"
    NONE = "none"


AS_PRESENT = frozenset({Form.BASE, Form.BASE_OR_PARTICIPLE})
AS_BASE = AS_PRESENT | {Form.BASE_OR_PAST}
AS_PARTICIPLE = frozenset({Form.PAST, Form.PARTICIPLE, Form.BASE_OR_PAST, Form.BASE_OR_PARTICIPLE})
"""The forms that a verb may have by itself, after "to", and after "have": many look alike."""


def load(name: str) -> Any:
    """The content of a data file of this package."""
    return data("beliefledger.gate.rules", name)


def public_names(*kinds: str) -> frozenset[str]:
    """What is known to everybody by these names, of some kinds of public.yaml; in lower case."""
    named = (each for kind in kinds for each in load("public.yaml")[kind].split(","))
    return frozenset(name for each in named if (name := " ".join(each.split())))


_PART = compile_later(r"(?<!P)<(\w+)>")


def expanded(say: str, parts: dict[str, str]) -> str:
    """A pattern with each <name> replaced by the part of that name."""
    while (whole := _PART.sub(lambda found: parts.get(found[1], found[0]), say)) != say:
        say = whole
    return say


def _word_sets() -> dict[str, Any]:
    raw = load("words.yaml")
    return {
        key: value if isinstance(value, dict) else frozenset(str(value).split())
        for key, value in raw.items()
    }


WORDS: dict[str, Any] = _word_sets()
_PEOPLE = load("people.yaml")
ONE, MANY, PETS = (frozenset(_PEOPLE[kind].split()) for kind in ("one", "many", "pets"))
"""Who is near to somebody, one of them or several, and animals."""
NEAR = ONE | MANY | PETS
GIVEN = frozenset(f"{load('normalised.yaml')['given']} {load('given_names.yaml')['given']}".split())
"""Given names, in lower case."""


def _verb_forms() -> dict[str, tuple[str, Form]]:
    forms: dict[str, tuple[str, Form]] = {}
    data = load("verbs.yaml")
    for line in data["irregular"].splitlines():
        lemma, past, participle = line.split()
        forms[lemma] = (lemma, Form.BASE)
        for word in participle.split("/"):
            either = Form.BASE_OR_PARTICIPLE if word == lemma else Form.PARTICIPLE
            forms[word] = (lemma, either)
        for word in past.split("/"):
            forms[word] = (lemma, Form.BASE_OR_PAST if word == lemma else Form.PAST)
        forms[_ing(lemma)] = (lemma, Form.ING)
    for lemma in data["regular"].split():
        forms[lemma] = (lemma, Form.BASE)
        forms[_ed(lemma)] = (lemma, Form.PAST)
        forms[_ing(lemma)] = (lemma, Form.ING)
    for word, (lemma, kind) in data["odd"].items():
        forms[word] = (lemma, Form(kind))
    return forms


_DOUBLING = compile_later(r"(?:^|[^aeiou])[aeiou][bdgklmnprt]$")
_NO_DOUBLE = frozenset(
    "visit order cover offer consider edit open listen enter discover deliver remember answer "
    "suffer exit credit develop budget gather".split()
)


def _double(lemma: str) -> bool:
    if lemma in _NO_DOUBLE or not _DOUBLING.search(lemma):
        return False
    return len(re.findall(r"[aeiouy]+", lemma)) == 1 or lemma in (
        "prefer", "commit", "transfer", "upgrade", "travel", "cancel", "admit", "refer", "occur",
    )  # fmt: skip


def _ed(lemma: str) -> str:
    if lemma.endswith("e"):
        return lemma + "d"
    if re.search(r"[^aeiou]y$", lemma):
        return lemma[:-1] + "ied"
    return lemma + lemma[-1] + "ed" if _double(lemma) else lemma + "ed"


def _ing(lemma: str) -> str:
    if lemma.endswith("ie"):
        return lemma[:-2] + "ying"
    if lemma.endswith("e") and not lemma.endswith(("ee", "oe", "ye")) and lemma != "be":
        return lemma[:-1] + "ing"
    return lemma + lemma[-1] + "ing" if _double(lemma) else lemma + "ing"


_FORMS = _verb_forms()
_NOT_PAST = WORDS["not_past"]


@lru_cache(maxsize=4096)
def verb_form(low: str) -> tuple[str, Form]:
    """The lemma and form of a lower-case word; unknown words in -ed count as past."""
    known = _FORMS.get(low)
    if known is not None:
        return known
    if len(low) > 4 and low.endswith("ed") and low not in _NOT_PAST and low.isalpha():
        return low, Form.PAST
    if len(low) > 5 and low.endswith("ing") and low not in _NOT_PAST and low.isalpha():
        return low, Form.ING
    return low, Form.NONE


def third_person(lemma: str) -> str:
    """The verb after "User" in the present: works, watches, studies."""
    irregular = {"be": "is", "have": "has", "do": "does", "go": "goes"}
    if lemma in irregular:
        return irregular[lemma]
    if re.search(r"(?:s|x|z|ch|sh|o)$", lemma):
        return lemma + "es"
    if re.search(r"[^aeiou]y$", lemma):
        return lemma[:-1] + "ies"
    return lemma + "s"


BASES: dict[str, str] = {
    third_person(lemma): lemma
    for lemma, form in _FORMS.values()
    if form in AS_BASE and lemma != "be"
}
"""From the third person of a verb to its base: "works" is "work"."""


def forget() -> None:
    """Empty the caches, which may hold words of an erased subject."""
    verb_form.cache_clear()
