"""Statements about people and things called by name: "Nora works at Equinor".

Such a sentence is read by the rules for "I", with the name standing where "I" would. Only short
declarative sentences that begin with a name, or with the title of somebody ("my manager"), are
read: stories and pasted text say much of people whom the speaker does not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gate.rules.clauses import Clause, clauses
from gate.rules.drafts import Draft, Reading, capped
from gate.rules.lexicon import BASES, WORDS, Form, load, verb_form
from gate.rules.patterns import is_role
from gate.rules.phrases import phrase_end, pointing, slug, text_of, tidy, trim
from gate.rules.statements import from_clause
from gate.rules.words import Token
from ledger.candidate import SpeechAct

_DATA = {name: frozenset(str(words).split()) for name, words in load("named.yaml").items()}
NO_NAMES = _DATA["no_names"]
_KINDS = {
    name: kind
    for kind, names in {"organization": "organisations", "app": "apps", "award": "awards"}.items()
    for name in _DATA[names]
}
"""Things of one kind under different names: a firm instead of an agency contradicts it."""
_BE = {"is": "am", "are": "am", "has": "have", "does": "do", "isn't": "ain't",
       "aren't": "ain't", "doesn't": "don't", "hasn't": "haven't"}  # fmt: skip
LONGEST = 260
"""Characters of a sentence that is read."""

_LOOKS = re.compile(r"\s*(?:[^\W\d_a-z]|my\b|our\b|the\b)")
_YEAR = re.compile(r"(?:19|20)\d\d$")
_DONE = frozenset({"past", "perfect"})
_AND = frozenset({"and", "&", ","})


class Subject(NamedTuple):
    """Whom a sentence is about: names in their order, the tokens [begin, end) of all of them, and
    who is said not to be meant ("Anna, not Ben, …")."""

    names: tuple[str, ...]
    begin: int
    end: int
    wrong: str | None = None
    title: bool = False


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
                yield from _of_clause(reading._replace(words=told), clause, subject)


# Who is spoken of


def _beginnings(words: list[Token]) -> Iterator[int]:
    """Where a statement may begin: with the sentence, after a time, after ", while"."""
    at = 0
    if words and words[0].low in WORDS["time_openers"]:
        at = next((i + 1 for i in range(min(7, len(words))) if words[i].low == ","), 0)
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
    if end < len(words) and words[end].low in ("line", "team", "project", "tech"):
        end += 1
    if end >= len(words) or words[end].low not in _DATA["titles"]:
        return None
    if words[at].low == "the" and words[end].low not in ("team", "office", "company"):
        return None
    name = text_of(reading.content, words, at + 1, end + 1)
    return Subject((name,), at, end + 1, title=True)


def name_end(words: list[Token], at: int) -> int:
    """One past the name that begins at `at`: "Sarah", "S. Chen", "Dr. Jamie Griffon", "Maple & Finch"."""
    begin = end = at
    while end < min(len(words), at + 7):
        token = words[end]
        dotted = end + 1 < len(words) and words[end + 1].text == "."
        if token.low in _DATA["honorifics"] and token.text[0].isupper():
            end += 1 + dotted
            begin = end if begin == end - 1 - dotted else begin
        elif token.low in _DATA["degrees"] and end > begin and token.text[0].isupper():
            end += 1 + dotted
        elif len(token.text) == 1 and token.text.isalpha() and token.text.isupper() and dotted:
            end += 2
        elif (
            token.text in "&" and begin < end < len(words) - 1 and words[end + 1].text[0].isupper()
        ):
            end += 1
        elif _capital(token):
            end += 1
        else:
            break
    if end == at or words[end - 1].text in "&":
        return at
    named = [t for t in words[at:end] if _capital(t) and t.low not in _DATA["honorifics"]]
    if not named or named[0].low in _DATA["no_names"] or named[0].low in WORDS["not_names"]:
        return at
    return end


def _capital(token: Token) -> bool:
    contracted = token.low.rpartition("'")[2] in _CONTRACTED and "'" in token.low
    return (
        token.text[0].isupper() and token.text[0].isalpha() and len(token.text) > 1
        and not contracted
    )  # fmt: skip


_CONTRACTED = frozenset("s ve re ll d m t".split())


def _as_first(words: list[Token], subject: Subject) -> list[Token] | None:
    """The words with "i" for the subject and its verb in the form that goes with it."""
    at = subject.end
    while at < len(words) and words[at].low in WORDS["adverbs"] | {"both", "all", "together"}:
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
        *_credit(reading, clause, subject),
        *_profile(reading, clause, subject),
    ]
    if not found and len(subject.names) == 1:
        found = list(_plain(reading, clause, subject))
    for draft in found:
        said = " ".join(capped(draft.content[draft.start : draft.end]).split())
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
    begin, stop = trim(words, link + 1, _object_end(words, link + 1))
    begin += begin < stop and words[begin].low in ("a", "an", "the")
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
    role = (
        is_role(words[head].low) or words[begin].low == "the" and words[head].low in ("vp", "head")
    )
    if adjectives & _DATA["pastime"] or words[head].low in WORDS["abstract"]:
        return None
    value_from = begin + (words[begin].low in ("a", "an", "the"))
    value = text_of(reading.content, words, value_from, end)
    start, stop = words[clause.subject].start, words[end - 1].end
    common = (reading.content, start, stop, "")
    if words[head].low in _DATA["makers"] and head + 1 < end:
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


def _credit(reading: Reading, clause: Clause, subject: Subject) -> Iterator[Draft]:
    """What somebody made or won. The thing has one maker, so that another maker contradicts it; a
    second book or firm of the same people contradicts the first, unless it is said to be one more.
    """
    words, content, lemma = clause.tokens, reading.content, clause.lemma
    if clause.tense not in _DONE or clause.negated or "also" in clause.adverbs:
        return
    won = lemma in _DATA["won"]
    if not (won or lemma in _DATA["made"]):
        return
    names = list(subject.names)
    begin = clause.verb + 1
    if lemma == "collaborate":
        if begin < len(words) and words[begin].low == "with":
            end = name_end(words, begin + 1)
            if end == begin + 1:
                return
            names.append(text_of(content, words, begin + 1, end))
            begin = end
            if begin + 1 < len(words) and [w.low for w in words[begin : begin + 2]] == [",", "not"]:
                end = name_end(words, begin + 2)
                begin = end + 1
        if begin >= len(words) or words[begin].low != "on" or len(names) < 2:
            return
        begin += 1
    last = stop = _object_end(words, begin)
    if lemma in _DATA["joint"]:
        other = next((i for i in range(begin + 2, stop - 1) if words[i].low == "with"
                      and name_end(words, i + 1) == stop), 0)  # fmt: skip
        if other:
            names.append(text_of(content, words, other + 1, stop))
            last, stop = stop, other
    if stop - begin < 3 or words[begin].low not in ("a", "an", "the"):
        return
    head = _head(words, begin, stop)
    thing = words[head].low
    if (won and thing not in _DATA["prizes"]) or words[begin + 1].low in _DATA["one_more"]:
        return
    year = words[stop - 1].low if _YEAR.match(words[stop - 1].low) else ""
    common = (content, words[clause.subject].start, words[last - 1].end, "", "fact")
    first, *others = sorted(names)
    if thing in _DATA["works"] or (others and lemma in _DATA["joint"]):
        together = f".with-{slug(' '.join(others))}" if others else ""
        key = f"credit.{slug(lemma)}{together}"
        if not (others and lemma.startswith("co") and lemma.endswith("found")):
            key += f".{slug(_KINDS.get(thing, thing))}"
        value = text_of(content, words, begin, stop)
        yield Draft(*common, f"{key}.{year}".rstrip("."), value, 500, entity=first)
    if stop - begin >= 5:
        yield Draft(
            *common, f"credit.{slug(lemma)}.by", ", ".join(sorted(names)), 500,
            entity=text_of(content, words, begin + 1, stop), replaces=subject.wrong,
            participants=tuple(names),
        )  # fmt: skip


def _profile(reading: Reading, clause: Clause, subject: Subject) -> Iterator[Draft]:
    """Languages, countries and universities: of each one has so many and no others."""
    words, content, lemma = clause.tokens, reading.content, clause.lemma
    rest = [token.low for token in words[clause.verb + 1 : clause.verb + 6]]
    begin = clause.verb + 1
    if "also" in clause.adverbs and len(subject.names) == 1:
        return
    if lemma == "be" and rest[:2] == ["fluent", "in"] and not clause.negated:
        key, begin, stop = "languages.spoken", begin + 2, _list_end(words, begin + 2)
    elif (
        lemma == "speak"
        and not clause.negated
        and ("only" in clause.adverbs or "languages" in rest)
    ):
        key, stop = "languages.spoken", _list_end(words, begin)
    elif lemma == "graduate" and rest[:1] == ["from"] and not clause.negated:
        key, begin = "education.university", begin + 1
        if rest[1:2] and rest[1] in ("a", "an"):
            return
        stop = next((i for i in range(begin, len(words)) if words[i].low in
                     ("with", "in", "and", ";", ".", "while", "(")), len(words))  # fmt: skip
    elif lemma in ("travel", "leave") and clause.tense == "perfect" and (
        "countries" in rest or (clause.negated and {"outside", "home"} & set(rest))
    ):  # fmt: skip
        key, stop = "travel.countries", _object_end(words, begin)
        begin += rest[0] == "to"
        if clause.negated:
            begin = next(
                (i for i in range(clause.subject, clause.verb) if words[i].low == "never"), begin
            )
    else:
        return
    begin, stop = trim(words, begin, stop)
    if stop <= begin or stop - begin > 14:
        return
    for name in subject.names:
        if (
            key == "education.university"
            and stop + 1 < len(words)
            and _YEAR.match(words[stop + 1].low)
        ):
            yield Draft(content, words[clause.subject].start, words[stop + 1].end, "", "fact",
                        "education.graduated", words[stop + 1].text, 500, entity=name)  # fmt: skip
        yield Draft(content, words[clause.subject].start, words[stop - 1].end, "", "fact", key,
                    text_of(content, words, begin, stop), 600, entity=name,
                    replaces=subject.wrong)  # fmt: skip


def _list_end(words: list[Token], begin: int) -> int:
    """One past a list of languages."""
    at = begin
    while at < len(words) and words[at].low not in (".", ";", "!", "(", "which", "who", "while"):
        following = words[at + 1].low if at + 1 < len(words) else ""
        if words[at].low in ("and", ",", "but") and (
            _BE.get(following) or verb_form(following)[1] is not Form.NONE
            or following in ("who", "which", "while", "but", "is", "has", "does", "not", "including")
        ):  # fmt: skip
            break
        at += 1
    return at


def _object_end(words: list[Token], begin: int) -> int:
    stop = next(
        (i for i in range(begin, len(words)) if words[i].low in (",", ";", ".", "!", "?", "(",
         "which", "while", "who", "though", "but", "where", "whereas", "-", "–", "—")
         or [w.low for w in words[i : i + 2]] == ["as", "part"]),
        len(words),
    )  # fmt: skip
    return stop


def _head(words: list[Token], begin: int, stop: int) -> int:
    """The head of a noun phrase: the last word before what says more of it."""
    for at in range(begin + 2, stop):
        low = words[at].low
        if low in WORDS["prepositions"] or low in ("that", "of") or not low[0].isalnum():
            return at - 1
        form = verb_form(low)[1]
        following = words[at + 1].low if at + 1 < stop else "in"
        if form is Form.PAST and (
            low == "titled" or following in WORDS["prepositions"] or following.endswith("ly")
        ):
            return at - 1
        if form is Form.ING and following not in _DATA["heads"] | _DATA["works"]:
            return at - 1
    return stop - 1


def may_be_named(text: str, start: int, end: int) -> bool:
    """Whether a sentence is worth reading: short, and begins with a capital letter or a title."""
    return end - start <= LONGEST and _LOOKS.match(text, start, end) is not None


__all__ = ["drafts", "may_be_named", "name_end", "phrase_end", "tidy"]
