"""Statements about people and things called by name: "Nora works at Equinor".

Such a sentence is read by the rules for "I", with the name standing where "I" would. Only short
declarative sentences that begin with a name, or with the title of somebody ("my manager"), are
read: stories and pasted text say much of people whom the speaker does not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gate.dates import find_when
from gate.rules.clauses import Clause, clauses
from gate.rules.credits import credit, object_end, profile
from gate.rules.drafts import Draft, Reading, capped
from gate.rules.lexicon import BASES, WORDS, Form, verb_form
from gate.rules.names import DATA, NO_NAMES, Subject, name_end
from gate.rules.patterns import is_role
from gate.rules.phrases import pointing, slug, text_of, trim
from gate.rules.statements import from_clause
from gate.rules.words import Token
from ledger.candidate import SpeechAct

_BE = {"is": "am", "are": "am", "has": "have", "does": "do", "isn't": "ain't",
       "aren't": "ain't", "doesn't": "don't", "hasn't": "haven't"}  # fmt: skip
LONGEST = 260
"""Characters of a sentence that is read."""

_AND = frozenset({"and", "&", ","})


def drafts(reading: Reading) -> Iterator[Draft]:
    """What the sentence says of whoever its subject names."""
    words = reading.words
    for begin in _beginnings(words):
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
                yield from _of_clause(reading._replace(words=told, person=person), clause, subject)


# Who is spoken of


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
    if at + 3 < len(words) and words[at].low == "," and words[at + 1].low == "not":
        end = name_end(words, at + 2)
        if end > at + 2 and end < len(words) and words[end].low == ",":
            wrong = text_of(reading.content, words, at + 2, end)
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
_BEFORE_VERB = WORDS["adverbs"] | {"both", "all", "together", "no", "longer"}


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
        elif spoken in ("his", "her", "their", "its"):
            spoken = "@own"  # the subject's, so that it points at nothing unsaid
        elif words[index - 1].low == "and" and token.low in BASES:
            spoken = BASES[token.low]
        told.append(token._replace(low=spoken))
    return told


# What is said


def _of_clause(reading: Reading, clause: Clause, subject: Subject) -> Iterator[Draft]:
    if clause.hedged or clause.imagined or clause.tense in ("modal", "future"):
        return
    found = [
        *_to_user(reading, clause, subject),
        *credit(reading, clause, subject),
        *profile(reading, clause, subject),
    ]
    if not found and len(subject.names) == 1:
        found = list(_plain(reading, clause, subject))
    for draft in found:
        said = " ".join(capped(draft.content[draft.start : draft.end]).split())
        if subject.wrong:
            said = said.replace(f", not {subject.wrong},", "", 1)
        elif draft.replaces:
            wrong = rf",? (?:and )?not (?:\w+ )?{re.escape(draft.replaces)}"
            said = re.sub(wrong, "", said, count=1)
        act = SpeechAct.CORRECTION if subject.wrong else draft.act
        yield draft._replace(claim=_told(said), act=act, confidence=min(draft.confidence, 850))


def _told(said: str) -> str:
    """The words as they were said, with the user named."""
    said = re.sub(r"\b(?:my|our)\b", "User's", said, flags=re.I)
    return re.sub(r"\b(?:me|us)\b", "User", said)


def _plain(reading: Reading, clause: Clause, subject: Subject) -> Iterator[Draft]:
    """What the rules for "I" read, said of the one named."""
    name = subject.names[0]
    words = clause.tokens
    if clause.lemma == "be" and clause.tense in ("present", "past") and not clause.negated:
        first = next(
            (w.low for w in words[clause.verb + 1 :] if w.low not in WORDS["negligible"]), ""
        )
        if first in ("a", "an", "the", "our", "my"):
            draft = _is(reading, clause, name)
            if draft is not None:
                yield draft
            return
    for draft in from_clause(reading, clause):
        if draft.attribute.startswith(("identity.name", "favorite", "relation.marital")):
            continue
        group = subject.title and name.lower() in ("team", "company", "department")
        if draft.type in ("event", "commitment") and draft.when.start is None:
            continue
        if draft.type == "decision" and not group:
            continue
        if draft.attribute.startswith("habit.") or draft.category is not None:
            continue
        yield draft._replace(entity=name)


def _possessed(reading: Reading, at: int) -> Iterator[Draft]:
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
    begin += begin < stop and words[begin].low in ("a", "an", "the", "on")
    if not 0 < stop - begin <= 6 or pointing(words, begin, stop):
        return
    value = text_of(content, words, begin, stop)
    kind, attribute = slot
    if kind == "relation" and name_end(words, begin) != stop:
        return
    said = content[words[at].start : words[stop - 1].end]
    yield Draft(content, words[at].start, words[stop - 1].end, said, kind, attribute, value, 700,
                850, entity=content[plain[0].start : plain[-1].end],
                participants=(value,) if kind == "relation" else ())  # fmt: skip


_ROLE, _BOSS = ("fact", "work.role"), ("relation", "relation.reports-to")
_POSSESSED = {
    "role": _ROLE, "title": _ROLE, "job title": _ROLE, "job": _ROLE, "position": _ROLE,
    "manager": _BOSS, "boss": _BOSS, "supervisor": _BOSS, "birthday": ("fact", "identity.birthday"),
}  # fmt: skip


def _to_user(reading: Reading, clause: Clause, subject: Subject) -> Iterator[Draft]:
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
        yield Draft(reading.content, words[clause.subject].start, words[clause.verb + reach].end,
                    "", "relation", key, name, 700, topic="work", participants=(name,))  # fmt: skip


_TO_USER = {
    ("work", "with"): "relation.works-with", ("work", "for"): "relation.manages",
    ("report", "to"): "relation.manages",
}  # fmt: skip


def _is(reading: Reading, clause: Clause, name: str) -> Draft | None:
    """ "Nora is a violinist", "Acme is a logistics company", "Sarah is the VP of Platform"."""
    words = clause.tokens
    begin = clause.verb + 1
    while begin < clause.stop and words[begin].low in WORDS["negligible"] | {"both"}:
        begin += 1
    if begin + 1 >= clause.stop or words[begin].low not in ("a", "an", "the"):
        return None
    end = next(
        (i for i in range(begin + 1, clause.stop) if words[i].low in (",", "who", "which", "that",
         "specializing", "specialising", "known", "with", "working", "from", "at", "for", "and")),
        clause.stop,
    )  # fmt: skip
    _, end = trim(words, begin, end)
    if end <= begin + 1:
        return None
    head = end - 1
    for index in range(begin + 2, end):
        if words[index].low in ("of", "in", "on", "by"):
            head = index - 1
            break
    adjectives = {token.low for token in words[begin + 1 : head]}
    role = is_role(words[head].low) or (
        words[begin].low == "the" and words[head].low in ("vp", "head")
    )
    if adjectives & DATA["pastime"] or words[head].low in WORDS["abstract"]:
        return None
    value_from = begin + (words[begin].low in ("a", "an", "the"))
    value = text_of(reading.content, words, value_from, end)
    start, stop = words[clause.subject].start, words[end - 1].end
    common = (reading.content, start, stop, "")
    if words[head].low in DATA["makers"] and head + 1 < end:
        return None  # "the developer of the app": no post
    if role:
        # "A professor" can be a pianist as well; "the VP" holds one post.
        key = "work.role" if words[begin].low == "the" else f"role.{slug(value)}"
        return Draft(*common, "fact", key, value, 700, topic="work", entity=name)
    if words[end - 1].low in ("ours", "mine") and words[end - 2].low == "of":
        end -= 2
        value = text_of(reading.content, words, value_from, end)
    # "The capital of France" is nobody's own: only what is "the … of our …" is told of.
    own = {"our", "my"} & {token.low for token in words[head:end]}
    named_thing = words[begin].low != "the" or own
    if not named_thing or pointing(words, begin, end) or end - begin > 9:
        return None
    # A person is a climber and an advocate; a thing is of one kind.
    key = f"kind.{slug(value)}" if " " in name and "&" not in name else "entity.kind"
    return Draft(*common, "entity", key, value, 600, entity=name)


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


_LOOKS = re.compile(r"\s*([A-Z][\w'’-]*|[^\W\d_a-z][\w'’-]*|my|our)\W+([\w'’-]+)")
_NO_SUBJECT = NO_NAMES | WORDS["not_names"] | WORDS["subject_words"]
_OWNERS = frozenset({"my", "our", "the"})
_BEFORE_TITLE = frozenset({"line", "team", "project", "tech"})
_LEADS = frozenset({"in", "last", "on", "since", "all", "both"})
