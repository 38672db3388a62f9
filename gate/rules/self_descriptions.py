"""Self-descriptions that leave out "I'm" or "I have" at the start of a turn: "29yo nurse from
Cork", "2 cats called Miso and Tofu", "married, 3 kids, live near Turin".

What is left out is put before the words, so that they are read as any introduction.
"""

from __future__ import annotations

from beliefledger.gate.rules.findings import RuleFinding
from beliefledger.gate.rules.lexicon import PETS, WORDS, Form, verb_form
from beliefledger.gate.rules.patterns import is_job
from beliefledger.gate.rules.words import Token
from beliefledger.ledger.candidate import SELF
from beliefledger.ledger.late_patterns import compile_later

EARLY = 12
"""So far from the start of a turn one may begin, behind a greeting."""
_FEW = frozenset("two three four five six seven eight nine 2 3 4 5 6 7 8 9".split())
_STATUS = frozenset("married single divorced engaged widowed separated".split())
_PARENTS = frozenset("mum mom dad mother father mama papa parent".split())
_CHILDREN = frozenset("kids children sons daughters boys girls".split())
_NEAR = frozenset("young small little grown grown-up adult teenage old rescue black ginger".split())
_LEAD = compile_later(
    r"\W*(?:(?:hi|hey|hello|hiya|yo|so|ok|well)\b\W*)?"
    r"(?P<said>[\w'’-]{1,20}(?:,? [\w'’-]{1,20}){0,3})"
)
_YEARS_OLD = (["year", "old"], ["years", "old"], ["yr", "old"])
_AGED = ("-year-old", "-yr-old", "yo")
_SEXED = compile_later(r"(?:[mf]/?(?=[1-9]\d\Z))?(?P<age>[1-9]\d)(?:(?:yo?)?/?[mf])?\Z")
_OF_SEX = frozenset("mf")
_AFTER_A_JOB = frozenset({",", "from", "living", "based", "with", "at", "in", "and"})
"""What may follow in an introduction, and in no headline ("… nurse arrested")."""
_COMES = frozenset({"from", "based", "living", "at"})
_ENDS = frozenset(".,;!-–—(")
_AFTER_CHILDREN = _ENDS | _COMES | {"and", "here"}
_NAMING = frozenset({"called", "named", "aged"})
_GOES_ON = frozenset("live work study have love hate like drive own play teach".split())
"""What may follow behind a name and an age: "Jo, 29, work at Initech"."""
_NO_OBJECT = frozenset("it this that them the on to out up is was".split())
"""Behind such a verb, an order or a heading: "Route, 66, drive to LA"."""
_SPEAKING = frozenset(
    "i i'm i've i'd i'll my we we're we've our he she it they the this you".split()
)
_NOT_TOLD = frozenset("? please pls plz sale free wanted needed".split())


def may_begin(text: str) -> bool:
    """Whether a turn may begin with one: cheap, before its words are read."""
    found = _LEAD.match(text.lower())
    if found is None:
        return False
    first, *more = found["said"].replace(",", "").split()
    if (
        first[0].isdigit()
        or _SEXED.match(first)
        or first in _FEW
        or first in _STATUS
        or first in _PARENTS
        or (len(more) > 1 and more[0].isdigit() and more[1] in _GOES_ON)
    ):
        return True
    return is_job(first) or any(map(is_job, more[:2]))


def with_speaker(words: list[Token]) -> list[Token]:
    """The words of a turn's first sentence with "I'm" or "I have" before a self-description."""
    if words[0].low in _SPEAKING:
        return words
    words = _years_old(words)
    if (here := _job_here(words)) is not None:
        return here
    said = _left_out([word.low for word in words[:9]], words)
    if not said or not _NOT_TOLD.isdisjoint(word.low for word in words):
        return words
    begin = words[0].start
    lead = [Token(each, each, begin, begin) for each in said]
    return [*lead, *_sex_apart(words)]


def without_verb(words: list[Token], found: list[RuleFinding]) -> list[RuleFinding]:
    """The findings of such a sentence with claims that say no "has" where none was said."""
    if len(words) < 2 or words[1].low != "have" or words[1].start < words[1].end:
        return found
    has = f"{SELF} has "
    return [
        each._replace(claim=f"{SELF}: {each.claim.removeprefix(has)}")
        if each.claim.startswith(has)
        else each
        for each in found
    ]


def _job_here(words: list[Token]) -> list[Token] | None:
    """ "Dev here, 29, based in Austin" as "I'm a dev, 29, based in Austin"."""
    at = next((i for i in (1, 2, 3) if i < len(words) and words[i].low == "here"), None)
    if at is None or not is_job(words[at - 1].low):
        return None
    following = words[at + 1].low if at + 1 < len(words) else "."
    if following not in _AFTER_HERE:
        return None
    if any(not word.low.isalpha() for word in words[:at]) or words[0].low in _NO_SELF:
        return None
    begin, comma = words[0].start, words[at]._replace(text=",", low=",")
    article = "an" if words[0].low[0] in "aeiou" else "a"
    rest = words[at + 1 + (following == ",") :]
    lead = [Token(each, each, begin, begin) for each in ("i'm", article)]
    return [*lead, *words[:at], comma, *rest]


_NO_SELF = frozenset(
    "is are was were any the this that which what who your his her their no".split()
)
_AFTER_HERE = frozenset(", from living based working on with who again . ! ; - –".split())


def _years_old(words: list[Token]) -> list[Token]:
    """ "34 year old" as one word."""
    said = [word.low for word in words[:3]]
    if said[1:] not in _YEARS_OLD or not said[0].isdigit():
        return words
    text = " ".join(word.text for word in words[:3])
    return [Token(text, f"{said[0]}-year-old", words[0].start, words[2].end), *words[3:]]


def _sex_apart(words: list[Token]) -> list[Token]:
    """ "19f from Manila" as "19, from Manila"."""
    first = words[0]
    found = _SEXED.match(first.low)
    if found is None or _OF_SEX.isdisjoint(first.low):
        return words
    begin, age = first.start + found.start("age"), first.start + found.end("age")
    said = found["age"]
    number = Token(said, said, begin, age)
    comma = Token(",", ",", first.end, first.end)
    return [number, comma, *words[1 + (len(words) > 1 and words[1].low == ",") :]]


def _left_out(low: list[str], words: list[Token]) -> tuple[str, ...]:
    """What a self-description leaves out before its first word; nothing where it is none."""
    first, following = low[0], low[1] if len(low) > 1 else "."
    if _SEXED.match(first) and not _OF_SEX.isdisjoint(first):
        return ("i'm",) if following in _AFTER_A_JOB or _job(low, 1) else ()
    if first.endswith(_AGED) and first[:2].isdigit():
        return ("i'm", "a") if following in ("from", ",") or _job(low, 1) else ()
    if first.isdigit() and len(first) == 2 and first[0] != "0" and following == ",":
        return ("i'm",) if _job(low, 2) or (low[2:3] and low[2] in _STATUS | {"retired"}) else ()
    if _is_named(words, low):
        return ("i'm",)
    if first in _STATUS and following == "," and len(low) > 3:
        return ("i'm",) if low[2] in _FEW | {"with", "one"} or low[2].isdigit() else ()
    if first in _FEW:
        return ("i", "have") if _counts_own(low) else ()
    parent = 1 if first in ("single", "proud", "busy", "stay-at-home") else 0
    if _PARENTS.issuperset(low[parent : parent + 1]) and low[parent + 1 : parent + 2] == ["of"]:
        after = low[parent + 2 : parent + 4]
        told = after[:1] and after[0] in _FEW
        return ("i'm", "a") if told and (not after[1:] or after[1] in _AFTER_CHILDREN) else ()
    return () if _COMES.isdisjoint(low) else _job_from(low, words)


def _is_named(words: list[Token], low: list[str]) -> bool:
    """ "Jo, 29, work at Initech": a name, an age, and what goes on as "I" would."""
    return (
        len(low) > 5
        and words[0].text[0].isupper()
        and words[0].text.isalpha()
        and low[0] not in WORDS["not_names"]
        and low[1] == low[3] == ","
        and len(low[2]) == 2
        and low[2].isdigit()
        and low[2][0] != "0"
        and low[4] in _GOES_ON
        and low[5] not in _NO_OBJECT
    )


def _job(low: list[str], at: int) -> bool:
    """Whether a job stands there, and what may follow one in an introduction."""
    job = next((i for i in range(at, min(at + 4, len(low))) if is_job(low[i])), None)
    if job is None or any(each in WORDS["determiners"] - {"a", "an"} for each in low[at:job]):
        return False
    return job + 1 >= len(low) or low[job + 1] in _AFTER_A_JOB | _ENDS


def _counts_own(low: list[str]) -> bool:
    """Whether pets or children are counted, and nothing is said of them but their names: not "two
    dogs walk into a bar"."""
    at = 1
    while at < len(low) - 1 and low[at] in _NEAR:
        at += 1
    if at >= len(low) or (low[at] not in _CHILDREN and low[at].removesuffix("s") not in PETS):
        return False
    following = low[at + 1 : at + 3] or ["."]
    if following[0] in _NAMING or following[0] in _ENDS:
        return True
    return following[0] in ("and", "&") and following[-1] in _FEW | {"a", "one"}


def _job_from(low: list[str], words: list[Token]) -> tuple[str, ...]:
    """ "Nurse from Cork, 29": a job, and where somebody who has it is from. "Plumber in Leeds" is
    looked for as often."""
    job = next((i for i in range(min(3, len(low))) if is_job(low[i])), None)
    if job is None or job + 2 >= len(words) or low[job + 1] not in _COMES:
        return ()
    if any(not each.isalpha() or verb_form(each)[1] is not Form.NONE for each in low[:job]):
        return ()
    if not WORDS["determiner_words"].isdisjoint(low[:job]):
        return ()
    place = job + 2 + (low[job + 2] in ("in", "near", "at"))
    end = place
    while end < len(words) and (words[end].text[0].isupper() or low[end : end + 1] == ["the"]):
        end += 1
    if end == place and words[min(place, len(words) - 1)].low in WORDS["places"]:
        end += 1
    if end == place or (end < len(words) and words[end].low not in _ENDS | {"and"}):
        return ()
    return ("i'm", "an" if low[0][0] in "aeiou" else "a")
