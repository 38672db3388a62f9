"""What somebody made, won or learned: slots in which a contradiction meets what it contradicts.

"Nora wrote a book about bees" has two: who made that book, and which book is hers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gate.rules.clauses import Clause
from gate.rules.drafts import Draft, Reading
from gate.rules.lexicon import BASES, WORDS, Form, verb_form
from gate.rules.names import DATA, Subject, name_end
from gate.rules.phrases import slug, text_of, trim
from gate.rules.words import Token

_YEAR = re.compile(r"(?:19|20)\d\d$")
_DONE = frozenset({"past", "perfect"})
_KINDS = {
    name: kind
    for kind, names in {"organization": "organisations", "app": "apps", "award": "awards"}.items()
    for name in DATA[names]
}
"""Things of one kind under different names: a firm instead of an agency contradicts it."""


def credit(reading: Reading, clause: Clause, subject: Subject) -> Iterator[Draft]:
    """What somebody made or won. The thing has one maker, so that another maker contradicts it; a
    second book or firm of the same people contradicts the first, unless it is said to be one more.
    """
    words, content, lemma = clause.tokens, reading.content, clause.lemma
    if clause.tense not in _DONE or clause.negated or "also" in clause.adverbs:
        return
    won = lemma in DATA["won"]
    if not (won or lemma in DATA["made"]):
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
    last = stop = object_end(words, begin)
    if lemma in DATA["joint"]:
        other = next((i for i in range(begin + 2, stop - 1) if words[i].low == "with"
                      and name_end(words, i + 1) == stop), 0)  # fmt: skip
        if other:
            names.append(text_of(content, words, other + 1, stop))
            last, stop = stop, other
    if stop - begin < 3 or words[begin].low not in ("a", "an", "the"):
        return
    head = _head(words, begin, stop)
    thing = words[head].low
    if (won and thing not in DATA["prizes"]) or words[begin + 1].low in DATA["one_more"]:
        return
    year = words[stop - 1].low if _YEAR.match(words[stop - 1].low) else ""
    common = (content, words[clause.subject].start, words[last - 1].end, "", "fact")
    first, *others = sorted(names)
    if thing in DATA["works"] or (others and lemma in DATA["joint"]):
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


def profile(reading: Reading, clause: Clause, subject: Subject) -> Iterator[Draft]:
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
        key, stop = "travel.countries", object_end(words, begin)
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


_AFTER_LIST = frozenset("who which while but is are has does not including".split())


def _list_end(words: list[Token], begin: int) -> int:
    """One past a list of languages."""
    at = begin
    while at < len(words) and words[at].low not in (".", ";", "!", "(", "which", "who", "while"):
        following = words[at + 1].low if at + 1 < len(words) else ""
        if words[at].low in ("and", ",", "but") and (
            following in _AFTER_LIST or following in BASES
            or verb_form(following)[1] is not Form.NONE
        ):  # fmt: skip
            break
        at += 1
    return at


_ENDS = frozenset(", ; ! ? ( which while who though but where whereas - – —".split())


def object_end(words: list[Token], begin: int) -> int:
    """One past the words that say what was made, held or won."""
    for at in range(begin, len(words)):
        low, before = words[at].low, words[at - 1].low if at else ""
        stops = low in _ENDS or (low == "." and before not in DATA["honorifics"])
        if stops or [token.low for token in words[at : at + 2]] == ["as", "part"]:
            return at
    return len(words)


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
        if form is Form.ING and following not in DATA["heads"] | DATA["works"]:
            return at - 1
    return stop - 1
