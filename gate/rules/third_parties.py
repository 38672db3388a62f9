"""Statements about people and things called by name: "Nora works at Equinor".

Such a sentence is read by the rules for "I", with the name standing where "I" would. Only short
declarative sentences that begin with a name, or with the title of somebody ("my manager"), are
read: stories and pasted text say much of people whom the speaker does not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from beliefledger.gate import deadline
from beliefledger.gate.dates import find_when
from beliefledger.gate.rules.biographies import bare, beside_trade, object_end, profile, value_end
from beliefledger.gate.rules.clauses import Clause, clause_at, clauses
from beliefledger.gate.rules.credits import credit
from beliefledger.gate.rules.findings import Reading, RuleFinding, capped
from beliefledger.gate.rules.lexicon import BASES, WORDS, Form, load, public_names, verb_form
from beliefledger.gate.rules.names import DATA, NO_NAMES, Subject, name_end
from beliefledger.gate.rules.patterns import is_role
from beliefledger.gate.rules.phrases import pointing, slug, text_of, trim
from beliefledger.gate.rules.statements import from_clause
from beliefledger.gate.rules.words import Token
from beliefledger.ledger.candidate import SpeechAct
from beliefledger.ledger.late_patterns import compile_later

_BE = {"is": "am", "are": "am", "has": "have", "does": "do", "isn't": "ain't",
       "aren't": "ain't", "doesn't": "don't", "hasn't": "haven't"}  # fmt: skip
LONGEST = 260
"""The longest sentence that is read, in characters."""

_AND = frozenset({"and", "&", ","})
_RENOWN = compile_later("|".join(load("public.yaml")["renown"].splitlines()), re.I)
_PUBLIC = public_names("persons", "companies", "technology", "places")
_FIRST_PERSON = frozenset("i i'm i've i'd i'll me my mine we we're we've us our ours".split())


def findings(reading: Reading) -> Iterator[RuleFinding]:
    """Statements about the sentence's subject, if that is named and no matter of the world."""
    own = any(word.low in _FIRST_PERSON for word in reading.words)
    for finding in _findings(reading):
        if own or not worldly(finding.entity, finding.content[finding.start : finding.end]):
            yield finding


def worldly(name: str, said: str) -> bool:
    """Whether a statement is about the world or somebody in the public eye."""
    return name.casefold().replace("’", "'") in _PUBLIC or _RENOWN.search(said) is not None


def _findings(reading: Reading) -> Iterator[RuleFinding]:
    words = _uncontracted(reading.words)
    reading = reading._replace(words=words)
    for begin in _beginnings(words):
        deadline.check()
        subject = _subject(reading, begin)
        if subject is None:
            yield from _possessed(reading, begin)
        told = None if subject is None else _as_first(words, subject)
        if subject is None or told is None:
            continue
        for clause in clauses(told):
            if clause.subject == subject.begin:
                place = subject.title and words[subject.end - 1].low in _PLACES
                person = "third place" if place else "third"
                told_reading = reading._replace(words=told, person=person)
                yield from _of_clause(told_reading, clause, subject)
                yield from _of_who(told_reading, clause, subject)


# Who is spoken of


def _uncontracted(words: list[Token]) -> list[Token]:
    """ "Tom's a nurse" as "Tom is a nurse"."""
    for at, token in enumerate(words[:4]):
        following = words[at + 1].low if at + 1 < len(words) else ""
        if token.low.endswith("'s") and following in _AFTER_IS:
            cut = token.end - 2
            name = Token(token.text[:-2], token.low[:-2], token.start, cut)
            return [*words[:at], name, Token("'s", "is", cut, token.end), *words[at + 1 :]]
    return words


_AFTER_IS = frozenset({"a", "an", "the", "not", "based", "from", "known", "fluent"})


def _beginnings(words: list[Token]) -> Iterator[int]:
    """Where a statement may begin: with the sentence, after a time, after ", while"."""
    at = 0
    if words and words[0].low in WORDS["time_openers"]:
        at = next((i + 1 for i in range(min(7, len(words))) if words[i].low == ","), 0)
        if find_when(" ".join(word.text for word in words[:at]), 0) is None:
            at = 0  # "in the story, …"
    yield at
    for index in range(1, len(words) - 3):
        if words[index].low in ("while", "whereas") and words[index - 1].low == ",":
            yield index + 1


def _subject(reading: Reading, at: int) -> Subject | None:
    words = reading.words
    while at < len(words) and words[at].low in ("all", "three", "four", "both", ",", "also"):
        at += 1
    if at >= len(words):
        return None
    if words[at].low in ("my", "our", "the"):
        return _titled(reading, at)
    names: list[str] = []
    begin = at
    while at < len(words):
        end = name_end(words, at)
        if end == at:
            break
        names.append(text_of(reading.content, words, at, end))
        at = end
        more = at
        while more < len(words) and words[more].low in _AND:
            more += 1
        if more == at or name_end(words, more) == more:
            break
        at = more
    if not names:
        return None
    wrong = None
    low = [token.low for token in words[at : at + 3]]
    if low[:2] == [",", "not"] or low in ([",", "rather", "than"], [",", "instead", "of"]):
        begins = at + (2 if low[1] == "not" else 3)
        end = name_end(words, begins)
        if begins < end < len(words) and words[end].low == ",":
            wrong = text_of(reading.content, words, begins, end)
            at = end + 1
    return Subject(tuple(names), begin, at, wrong)


def _titled(reading: Reading, at: int) -> Subject | None:
    words = reading.words
    end = at + 1
    before = words[end].low in _BEFORE_TITLE if end + 1 < len(words) else False
    if before and words[end + 1].low in DATA["titles"]:
        end += 1
    if end >= len(words) or words[end].low not in DATA["titles"]:
        return None
    if words[at].low == "the" and words[end].low not in ("team", "office", "company"):
        return None
    name = text_of(reading.content, words, at + 1, end + 1)
    return Subject((name,), at, end + 1, title=True)


_PLACES = frozenset({"office", "company", "department"})
_IN_PASSING = frozenset("once first primarily exclusively frequently famously notably".split())
_BEFORE_VERB = WORDS["adverbs"] | _IN_PASSING | {"both", "all", "together", "no", "longer"}


def _as_first(words: list[Token], subject: Subject) -> list[Token] | None:
    """The words with "i" for the subject and its verb in the form that goes with it."""
    at = subject.end
    while at < len(words) and words[at].low in _BEFORE_VERB:
        at += 1
    if at >= len(words):
        return None
    low = words[at].low
    base = _BE.get(low) or BASES.get(low)
    if base is None:
        plural = len(subject.names) > 1
        form = verb_form(low)[1]
        past = form in (Form.PAST, Form.BASE_OR_PAST) or low in (
            "was",
            "were",
            "had",
            "did",
            "used",
        )
        if not past and not (plural and form is Form.BASE):
            return None
        base = low
    first, last = words[subject.begin], words[subject.end - 1]
    one = Token("I", "i", first.start, last.end)
    told = [*words[: subject.begin], one]
    if subject.begin and words[subject.begin - 1].low in ("while", "whereas"):
        told[-2] = told[-2]._replace(low="and")
    for index in range(subject.end, len(words)):
        token = words[index]
        spoken = token.low
        if index == at:
            spoken = base
        elif spoken in ("both", "all") and index < at:
            spoken = "also"
        elif spoken in _IN_PASSING and index <= at + 1:
            spoken = "really"
        elif spoken in ("his", "her", "their", "its"):
            spoken = "@own"  # the subject's, so that it points at nothing unsaid
        elif words[index - 1].low == "and" and token.low in BASES:
            spoken = BASES[token.low]
        told.append(token._replace(low=spoken))
    return told


# What is said


def _of_clause(reading: Reading, clause: Clause, subject: Subject) -> Iterator[RuleFinding]:
    if clause.hedged or clause.imagined or clause.tense in ("modal", "future"):
        return
    found = [
        *_to_user(reading, clause, subject),
        *credit(reading, clause, subject),
        *profile(reading, clause, subject),
    ] or [finding for name in subject.names for finding in _plain(reading, clause, subject, name)]
    yield from _spoken(found, subject)


def _of_who(reading: Reading, clause: Clause, subject: Subject) -> Iterator[RuleFinding]:
    """ "Nora is an author who won a prize": what she won."""
    words = reading.words
    if clause.lemma != "be" or clause.negated or clause.tense != "present":
        return
    at = next((i for i in range(clause.verb, len(words) - 2) if words[i].low == "who"), 0)
    if not at or words[at - 1].low == "," or "," in (w.low for w in words[clause.verb : at]):
        return
    told = list(words)
    told[at] = told[at]._replace(low="i")
    verb = told[at + 1].low
    told[at + 1] = told[at + 1]._replace(low=_BE.get(verb) or BASES.get(verb, verb))
    more = clause_at(told, at)
    if more is None or more.imagined or more.tense in ("modal", "future"):
        return
    told_reading = reading._replace(words=told)
    more = more._replace(subject=clause.subject)
    yield from _spoken(
        [*credit(told_reading, more, subject), *profile(told_reading, more, subject)], subject
    )


def _spoken(found: list[RuleFinding], subject: Subject) -> Iterator[RuleFinding]:
    """The findings with their claims, and with the lower confidence of such sentences."""
    for finding in found:
        said = " ".join(capped(finding.content[finding.start : finding.end]).split())
        if subject.wrong:
            said = said.replace(f", not {subject.wrong},", "", 1)
        elif finding.replaces:
            wrong = rf",? (?:and )?not (?:\w+ )?{re.escape(finding.replaces)}"
            said = re.sub(wrong, "", said, count=1)
        act = SpeechAct.CORRECTION if subject.wrong else finding.act
        yield finding._replace(claim=_told(said), act=act, confidence=min(finding.confidence, 850))


def _told(said: str) -> str:
    """The words as they were said, with the user named."""
    said = re.sub(r"\b(?:my|our)\b", "User's", said, flags=re.I)
    return re.sub(r"\b(?:me|us)\b", "User", said)


def _plain(reading: Reading, clause: Clause, subject: Subject, name: str) -> Iterator[RuleFinding]:
    """What the rules for "I" read, said of each one named."""
    words = clause.tokens
    if clause.lemma == "be" and clause.tense in ("present", "past") and not clause.negated:
        first = next(
            (w.low for w in words[clause.verb + 1 :] if w.low not in WORDS["negligible"]), ""
        )
        if first in ("a", "an", "the", "our", "my"):
            yield from _is(reading, clause, subject, name)
            return
    for finding in from_clause(reading, clause):
        if finding.attribute.startswith(("identity.name", "favorite", "relation.marital")):
            continue
        group = subject.title and name.lower() in ("team", "company", "department")
        dated = finding.when.start is not None and len(subject.names) == 1
        if finding.type in ("event", "commitment") and not dated:
            continue
        if finding.type == "decision" and not group:
            continue
        if finding.attribute.startswith("habit.") or finding.category is not None:
            continue
        if finding.attribute.startswith("has.") and _cut_short(reading, finding):
            continue
        if finding.attribute == "work.employer" and _SCHOOL.match(reading.content, finding.start):
            continue
        if group and finding.attribute[:5] in _COUNTED:
            continue  # "my team has 6 people" counts the team, which is told of the user
        yield finding._replace(entity=name)


_COUNTED = frozenset(f"has.{digit}" for digit in range(10))


_SCHOOL = compile_later(
    r"[^.!?]{0,60}\b(?:start(?:ed|s|ing)?|began|begun|joined|moved up) (?:back )?(?:at |"
    r"in )?[^.!?]{0,60}\b"
    r"(?:nursery|pre-?school|school|primary|infants?|juniors?|academy|kindergarten|kinder|kindy|"
    r"cr[eè]che|daycare|playgroup|reception|college|sixth form|high|elementary|grammar|uni|"
    r"university|gymnasium|lyc[eé]e|scoil|gaelscoil|montessori|year (?:\d|one|two|seven))\b"
    r"(?! as (?:an? )?(?:\w+ )?(?:teacher|ta|assistant|lecturer|nurse|cook|caretaker|secretary|"
    r"head))",
    re.I,
)
"""Who starts there, learns there, unless it is told as what."""


def _cut_short(reading: Reading, finding: RuleFinding) -> bool:
    """Whether what matters was cut off: "has a passion" of "has a passion for maps"."""
    end = reading.content.find(finding.value, finding.start) + len(finding.value)
    after = next((word.low for word in reading.words if word.start >= end), "")
    return after in ("for", "in", "of")


def _possessed(reading: Reading, at: int) -> Iterator[RuleFinding]:
    """ "Sarah's role is VP of Platform", "Lena's manager is Marco"."""
    words, content = reading.words, reading.content
    end = next(
        (i + 1 for i in range(at, min(at + 4, len(words))) if words[i].low.endswith("'s")), 0
    )
    if not end:
        return
    plain = [
        *words[at : end - 1],
        words[end - 1]._replace(
            text=words[end - 1].text[:-2], low=words[end - 1].low[:-2], end=words[end - 1].end - 2
        ),
    ]
    if name_end(plain, 0) != len(plain):
        return
    link = next((i for i in range(end, min(end + 4, len(words))) if words[i].low == "is"), 0)
    thing = " ".join(token.low for token in words[end:link]) if link else ""
    slot = _POSSESSED.get(thing)
    if slot is None:
        return
    begin, stop = trim(words, link + 1, object_end(words, link + 1))
    begin += begin < stop and words[begin].low in ("a", "an", "the", "on", "in")
    if not 0 < stop - begin <= 6 or pointing(words, begin, stop):
        return
    value = text_of(content, words, begin, stop)
    kind, attribute = slot
    if kind == "relation" and name_end(words, begin) != stop:
        return
    said = content[words[at].start : words[stop - 1].end]
    yield RuleFinding(content, words[at].start, words[stop - 1].end, said, kind, attribute, value,
                      700, 850, entity=content[plain[0].start : plain[-1].end],
                      participants=(value,) if kind == "relation" else ())  # fmt: skip


_ROLE, _BOSS = ("fact", "work.role"), ("relation", "relation.reports-to")
_FIELD = ("fact", "work.specialty")
_POSSESSED = {
    "specialty": _FIELD, "speciality": _FIELD, "expertise": _FIELD,
    "role": _ROLE, "title": _ROLE, "job title": _ROLE, "job": _ROLE, "position": _ROLE,
    "manager": _BOSS, "boss": _BOSS, "supervisor": _BOSS, "birthday": ("fact", "identity.birthday"),
}  # fmt: skip


def _to_user(reading: Reading, clause: Clause, subject: Subject) -> Iterator[RuleFinding]:
    """ "Tom works with me", "Sarah manages us": the relation is the user's."""
    words = clause.tokens
    rest = [token.low for token in words[clause.verb + 1 : clause.verb + 3]]
    mine = frozenset({"me", "us"})
    if clause.negated or clause.tense not in ("present", "continuous"):
        return
    reach = 1
    if clause.lemma in ("manage", "supervise", "lead") and rest[:1] and rest[0] in mine:
        stem = "relation.reports-to"
    elif len(rest) == 2 and rest[1] in mine and (clause.lemma, rest[0]) in _TO_USER:
        stem, reach = _TO_USER[clause.lemma, rest[0]], 2
    else:
        return
    for name in subject.names:
        key = stem if stem.endswith("reports-to") else f"{stem}.{slug(name)}"
        yield RuleFinding(reading.content, words[clause.subject].start,
                          words[clause.verb + reach].end, "", "relation", key, name, 700,
                          topic="work", participants=(name,))  # fmt: skip


_TO_USER = {
    ("work", "with"): "relation.works-with", ("work", "for"): "relation.manages",
    ("report", "to"): "relation.manages",
}  # fmt: skip


def _is(reading: Reading, clause: Clause, subject: Subject, name: str) -> Iterator[RuleFinding]:
    """ "Nora is a violinist", "Acme is a logistics company", "Sarah is the VP of Platform"."""
    words = clause.tokens
    begin = clause.verb + 1
    while begin < clause.stop and words[begin].low in WORDS["negligible"] | {"both"}:
        begin += 1
    if begin + 1 >= clause.stop or words[begin].low not in ("a", "an", "the"):
        return
    after = next(
        (i for i in range(begin + 1, clause.stop) if words[i].low in _AFTER_WHAT
         or (words[i].low == "best" and i > begin + 1)),
        clause.stop,
    )  # fmt: skip
    _, end = trim(words, begin, after)
    if end <= begin + 1:
        return
    head = end - 1
    for index in range(begin + 2, end):
        if words[index].low in ("of", "in", "on", "by", "to"):
            head = index - 1
            break
    adjectives = {token.low for token in words[begin + 1 : head]}
    paid = "professional" in adjectives
    role = (
        is_role(words[head].low)
        or paid
        or (words[begin].low == "the" and words[head].low in ("vp", "head"))
    )
    if adjectives & DATA["pastime"] or words[head].low in WORDS["abstract"]:
        return
    start = words[clause.subject].start
    if words[head].low in _STANCES and words[head + 1 : head + 2]:
        yield from _stance(reading, clause, name, head)
        return
    value_from = begin + (words[begin].low in ("a", "an", "the"))
    if words[head].low in DATA["makers"] and head + 1 < end:
        return  # "the developer of the app": no post
    if role and words[begin].low != "the":
        # A professor can be a pianist as well; "the VP" holds one post.
        value_from = bare(words, begin, head + 1)
        second = next((i for i in (end + 1, end + 2) if i < len(words) and i < end + 3
                       and is_role(words[i].low)), 0)  # fmt: skip
        roles = [(value_from, end)]
        if after == end < len(words) and words[end].low == "and" and second:
            roles.append((second, second + 1))
            after = second + 1
        for first, last in roles:
            value = text_of(reading.content, words, first, last)
            yield RuleFinding(reading.content, start, words[last - 1].end, "", "fact",
                              f"role.{slug(value)}", value, 700, topic="work",
                              entity=name)  # fmt: skip
        alone = subject._replace(names=(name,))
        yield from beside_trade(reading, clause, alone, after, words[head].low)
        return
    value = text_of(reading.content, words, value_from, end)
    common = (reading.content, start, words[end - 1].end, "")
    if role:
        yield RuleFinding(*common, "fact", "work.role", value, 700, topic="work", entity=name)
        return
    if words[end - 1].low in ("ours", "mine") and words[end - 2].low == "of":
        end -= 2
        value = text_of(reading.content, words, value_from, end)
    # "The capital of France" is nobody's own: only what is "the … of our …" is told of.
    own = {"our", "my"} & {token.low for token in words[head:end]}
    if clause.tense == "past" and " " in name:
        return
    named_thing = words[begin].low != "the" or own
    if not named_thing or pointing(words, begin, end) or end - begin > 9:
        return
    # A person is a climber and an advocate; a thing is of one kind.
    key = f"kind.{slug(value)}" if " " in name and "&" not in name else "entity.kind"
    yield RuleFinding(*common, "entity", key, value, 600, entity=name)


_AFTER_WHAT = frozenset(
    ", based who which that specializing specialising known with working from at for and".split()
)
_STANCES = frozenset({"advocate", "supporter", "proponent", "opponent", "critic"})


def _stance(reading: Reading, clause: Clause, name: str, head: int) -> Iterator[RuleFinding]:
    """ "Nora is an advocate for green roofs": what she stands for; "a critic of" says against."""
    words = clause.tokens
    if words[head + 1].low not in ("for", "of"):
        return
    against = words[head].low in ("opponent", "critic")
    stop = value_end(words, head + 2)
    begin, stop = trim(words, head + 2, stop)
    if not 0 < stop - begin <= 12 or pointing(words, begin, stop):
        return
    value = text_of(reading.content, words, head if against else begin, stop)
    yield RuleFinding(reading.content, words[clause.subject].start, words[stop - 1].end, "", "fact",
                      "public.cause", value, 600, entity=name)  # fmt: skip


def may_be_named(text: str, start: int, end: int) -> bool:
    """Whether a sentence is worth reading: short, and begins with a name, a title or a time."""
    looks = _LOOKS.match(text, start, end)
    if looks is None or end - start > LONGEST:
        return False
    first, second = looks[1].lower(), looks[2].lower()
    if first in _OWNERS:
        return second in DATA["titles"] or second in _BEFORE_TITLE
    return may_be_name(first)


def may_be_name(low: str) -> bool:
    """Whether a sentence that begins with this word may be about somebody by name."""
    return low not in _NO_SUBJECT or low in _LEADS or low in DATA["honorifics"]


_LOOKS = compile_later(r"\s*([A-Z][\w'’-]*|[^\W\d_a-z][\w'’-]*|my|our)\W+([\w'’-]+)")
_NO_SUBJECT = NO_NAMES | WORDS["not_names"] | WORDS["subject_words"]
_OWNERS = frozenset({"my", "our", "the"})
_BEFORE_TITLE = frozenset({"line", "team", "project", "tech"})
_LEADS = frozenset({"in", "last", "on", "since", "all", "both"})
