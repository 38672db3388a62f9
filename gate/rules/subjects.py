"""Whether a sentence speaks of somebody or something else than a memory: "my brother's rent is 1100
now" ends no rent of one's own, and "standup is at 9:30 now" no hour of getting up. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from beliefledger.gate.rules.lexicon import GIVEN, WORDS, Form, load, verb_form
from beliefledger.gate.rules.patterns import is_job
from beliefledger.gate.rules.renewals import OTHERS, Sentence
from beliefledger.gate.sentences import preceding
from beliefledger.ledger.late_patterns import compile_later

_DATA = load("subjects.yaml")
_SPEAKER = compile_later(
    r"\b(?:i|i['’]?m|im|i['’]?ve|ive|i['’](?:d|ll)|we|we['’](?:re|ve|ll|d)|me|us|myself)\b", re.I
)
_IS = r"is|are|was|were|['’]s|costs?|starts?|begins?"
_OF_A_PERSON = r"drives|plays|speaks|drinks|eats|uses|works|lives|wakes|learns|studies"
_DOES = (
    r"takes?|drive|play|speak|drink|eat|use|goes|go|work|live|moved|switched|"
    r"changed|joined|got|has|have|wake|pays?|learn|study"
)
_LEADS = "so|and|but|btw|also|oh|ok|fyi|lol|well|yeah"
_SUBJECT = compile_later(
    rf"\W*+(?:(?:{_LEADS}|now|by the way)\W++)*+"
    r"(?P<whose>(?:my|our|the|this|that|his|her|their|an?) )?"
    r"(?P<words>[^\W_][\w'’-]{0,30}(?: [\w'’-]{1,30}){0,2}?)"
    rf"(?:(?P<is>['’]s| (?:{_IS}))| (?P<does>{_OF_A_PERSON})| (?:{_DOES}))(?!\w)",
    re.I,
)
_PERSON = compile_later(
    rf"\W*+(?:(?:{_LEADS})\W++)*+(?:my|our|the|his|her|their) "
    r"(?:[\w-]{1,30} )?(?P<who>[\w-]{1,30}) (?:[A-Z][\w-]{1,30} )?[a-z]{2,30}(?:s|ed)\b"
)
"""Somebody does something: "my colleague commutes"."""
_STATE = compile_later(
    rf"\W*+(?:(?:{_LEADS})\W++)*+(?:my|our|the) "
    r"(?:[\w'’-]{1,30} ){1,3}?"
    rf"(?:{_IS})(?: (?:always|so|really|too|very|still|just|now|a bit|kinda|super|all)){{0,2}}"
    r" (?P<how>[\w'’-]{1,30})",
    re.I,
)
_ANOTHER_CLAUSE = compile_later(r"(?:[,;:–—]|\.|\b(?:and|but|so)\b) *(?:[\w'’-]{1,30} ){2}[\w'’-]")
"""What it says there may be of another subject."""
_NOBODY = frozenset(_DATA["nobody"].split())
_ONES_OWN = frozenset(_DATA["ones_own"].split())
_HOW = frozenset(_DATA["how"].split())
_PASSING = frozenset(_DATA["passing"].split())
_SPEAKERS = frozenset(_DATA["speakers"].split())
_BEFORE = frozenset(_DATA["before"].split())
_OWNERS = frozenset(_DATA["owners"].split())
_HAPPENS = frozenset(_DATA["happens"].split())
_PEOPLE = OTHERS | frozenset(_DATA["people"].split())
_OURS = frozenset({"my", "our"})
_WHERE = frozenset("next across opposite upstairs downstairs nearby round around down near".split())
"""Tells which startup it is, where it is not the speaker's: "the startup next door"."""
_ORGANISATIONS = WORDS["businesses"] | frozenset(_DATA["organisations"].split())
_WORD = compile_later(r"[^\W_]+(?:['’-][^\W_]+)*")
_DONE = {Form.PAST, Form.BASE_OR_PAST, Form.PARTICIPLE, Form.ING}
_SHORT = 4
_AND_ME = ["me"]
"""What is left of "me and Tom" where clauses are told apart."""
_DOES_SO = frozenset("is has does lives works".split())


class Subject(NamedTuple):
    """Whom or what a sentence speaks of that is not the speaker: "my brother's rent"."""

    head: str
    """Its last word, in lower case as the others."""
    before: tuple[str, ...] = ()
    whose: bool = False
    """Whether it begins with "my", "the" or the like."""
    named: bool = False
    is_so: bool = False
    """Whether it is told what it is, and not what it does."""
    acts: bool = False
    """Whether all that is known of it is that it does something."""
    does: bool = False
    """Whether it does what a person does: "the intern uses emacs"."""

    def is_apart(self, known: AbstractSet[str]) -> bool:
        """Whether it is none of the words `known` of a memory, which are in lower case and without
        endings of plurals."""
        if self.acts:
            return self.head in OTHERS - known
        owners = [each.removesuffix("'s") for each in self.before if each.endswith("'s")]
        if owners and _has(known, owners[0]):
            return self.head in OTHERS  # "Mia's friend", and not "Mia's birthday"
        if owners:
            return True  # "my brother's rent"
        if _has(known, self.head):
            kind = self.before[-1] if self.before else ""
            other = kind and kind not in _HOW and not _has(known, kind)
            return bool(other and self.whose and not self.named)  # "my tennis partner"
        return self.is_so or self.head in OTHERS or (self.does and self.head not in _ONES_OWN)

    def is_none_of(self, known: AbstractSet[str]) -> bool:
        """Whether it is another thing, whatever is told of it: none of its words is known of what a
        memory tells, or somebody else owns it."""
        owned = any(each.endswith("'s") for each in self.before)
        return self.acts or owned or not _has(known, self.head)


def subject_of(said: str) -> Subject | None:
    """The subject of a sentence; None where that is the speaker, or not to be told."""
    if _SPEAKER.search(said):
        return None
    found = _SUBJECT.match(said)
    acting = _PERSON.match(said) if found is None else None
    there = found or acting
    if there is None or _ANOTHER_CLAUSE.search(said, there.end()) is not None:
        return None
    if acting is not None:
        return Subject(acting["who"].lower(), acts=True)
    assert found is not None
    *before, head = found["words"].lower().replace("’", "'").split()
    if head in _NOBODY:
        return None
    return Subject(
        head,
        tuple(before),
        whose=found["whose"] is not None,
        named=found["words"].split()[-1][:1].isupper(),
        is_so=found["is"] is not None,
        does=found["does"] is not None,
    )


def left_out(clauses: Sequence[str]) -> frozenset[str]:
    """Whom the last of these clauses is about that leaves its subject out, in lower case: who is
    the subject of one before, as in "Tom quit his job, moved to Oslo". Empty where that may be
    the speaker."""
    *before, last = (_words(each) for each in clauses)
    if not before or not last or not _is_done(last[0]) or _AND_ME in before:
        return frozenset()
    subjects = [said for said in before if said and not _is_done(said[0])]
    doing = [said for said in subjects if any(map(_is_done, said))]  # and no list of things
    return _another((doing or subjects or [[]])[-1])


def left_out_across(text: str, start: int, end: int) -> frozenset[str]:
    """As `left_out`, of the sentence text[start:end], whose subject may be that of the sentence
    before: "Tom quit his job. Moved to Oslo". Who is dead does nothing more, and where a partner
    goes the speaker mostly goes, too."""
    if not start:
        return frozenset()
    first = next(iter(Sentence(text[start:end]).clauses(0)), "")
    words = [each.lower() for each in _words(first)]
    if not words or not _is_done(words[0]) or words[0] in _DOES_SO:
        return frozenset()
    begins, ends = preceding(text, start) or (0, 0)
    lead = text[begins:ends]
    told = Sentence(lead).clauses(len(lead))
    before = [each for each in told if any(map(_is_done, _words(each)))]
    if len(lead) > _LONG or _DEAD.search(lead) or lead.endswith("?"):
        return frozenset()
    doing = left_out([*before, first]) - _HAPPENS
    return frozenset() if words[0] in _GOES and doing <= _PARTNERS else doing


_LONG = 200
_DEAD = compile_later(
    r"\b(?:died|dead|dies|passed away|passed|funeral|lost (?:his|her) life)\b", re.I
)
_GOES = frozenset("moved relocated emigrated shifted settled".split())
_PARTNERS = frozenset(
    "husband wife partner boyfriend girlfriend bf gf fiance fiancee hubby wifey he she they".split()
)


def acting(clauses: Sequence[str]) -> frozenset[str]:
    """As `left_out`, of a sentence in which the speaker does nothing."""
    first = _words(clauses[0])
    if _SPEAKER.search(" ".join(clauses)) or (first and _is_done(first[0])):
        return frozenset()
    return left_out(clauses)


def doer(clause: str) -> frozenset[str]:
    """Who does something in a clause, in lower case; nobody where that is the speaker."""
    there = _another(_words(clause))
    begins = _SOMEBODY.match(clause)
    if not there and begins is not None and _SPEAKER.search(clause) is None:
        there = frozenset({begins["who"].lower()}) & _PEOPLE  # "Kids love the pool"
    return there


_SOMEBODY = compile_later(
    rf"\W*+(?:(?:{_LEADS})\W++)*+(?:(?:my|our|the) )?(?P<who>[^\W\d_]{{2,20}}) [^\W\d_]{{2}}", re.I
)


def _words(clause: str) -> list[str]:
    """The words of a clause, those left out that stand before any subject."""
    words = [each.replace("’", "'") for each in _WORD.findall(clause)]
    while words and _leads(words[0].lower()):
        del words[0]
    return words


def _leads(low: str) -> bool:
    return low in _BEFORE or (low.endswith("ly") and low not in GIVEN)


def _is_done(word: str) -> bool:
    return word.lower() in _DOES_SO or verb_form(word.lower())[1] in _DONE


def _another(said: Sequence[str]) -> frozenset[str]:
    """Who does something in a clause, if that is somebody else than the speaker."""
    low = [each.lower() for each in said]
    verb = next((at for at, each in enumerate(low) if at and _is_done(each)), len(low))
    if not low or not _SPEAKERS.isdisjoint(low):
        return frozenset()
    who = [each.removesuffix("'s").removesuffix("'") for each in low[:verb]]
    people = {form for each in who for form in (each, each.removesuffix("s")) if form in _PEOPLE}
    if "it" in who:
        return frozenset()  # "Leeds it is"
    if low[0] in _OWNERS:
        people |= {each for each in who[1:] if is_job(each)}
        if low[0] not in _OURS and (low[0] != "the" or not _WHERE.isdisjoint(low[:verb])):
            people |= {each for each in who[1:] if each in _ORGANISATIONS}
        people |= {each.lower() for each in said[1:verb] if each[0].isupper()}
        return frozenset(people)
    if verb == len(low) and not low[0].endswith("'s"):
        return frozenset(people if verb <= _SHORT else ())  # "big news", "goodbye Porto"
    named = {each.lower() for each in said[1:verb] if each[0].isupper()}
    if who[0] in GIVEN or (said[0][0].isupper() and who[0] not in _HAPPENS | WORDS["not_names"]):
        named.add(who[0])
    return frozenset(people | named)


def tells_a_state(said: str, claim: str) -> bool:
    """Whether a sentence tells how something is for a while, or a figure where a memory has none:
    "the bus is always late", "the train is 20 euros now". What is gone or dead is so for good."""
    found = _STATE.match(said)
    if found is None or _ANOTHER_CLAUSE.search(said, found.end()) is not None:
        return False
    how = found["how"].lower().replace("’", "'")
    if how[0].isdigit():
        return not any(each.isdigit() for each in claim)
    return how in _PASSING


def _has(known: AbstractSet[str], word: str) -> bool:
    if word in known or word.removesuffix("s") in known:
        return True
    begins = word[: max(6, len(word) - 3)]  # "pre-approval" and "pre-approved"
    return len(word) > 6 and any(each.startswith(begins) for each in known)
