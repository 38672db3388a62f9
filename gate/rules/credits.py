"""What somebody made, won or learned, in slots in which contradicting statements meet.

"Nora wrote a book about bees" has two: who made that book, and which book is hers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from beliefledger.gate.rules.biographies import YEAR, bare, object_end
from beliefledger.gate.rules.clauses import Clause
from beliefledger.gate.rules.findings import Reading, RuleFinding
from beliefledger.gate.rules.lexicon import WORDS, Form, load, verb_form
from beliefledger.gate.rules.names import DATA, Subject, name_end
from beliefledger.gate.rules.patterns import is_role
from beliefledger.gate.rules.phrases import slug, text_of
from beliefledger.gate.rules.words import Token

_CREDITS: dict[str, Any] = load("credits.yaml")
_MADE: dict[str, str] = {
    verb: name for name, verbs in _CREDITS["made"].items() for verb in verbs.split()
}
_WON: dict[str, str] = {
    verb: name for name, verbs in _CREDITS["won"].items() for verb in verbs.split()
}
_AWARDED, _JOINT, _LASTING = (
    frozenset(_CREDITS[name].split()) for name in ("awarded", "joint", "lasting")
)
_DONE = frozenset({"past", "perfect"})
_KINDS: dict[str, str] = {
    name: kind for kind, names in _CREDITS["kinds"].items() for name in names.split()
}
"""Nouns that name the same kind of thing: a firm contradicts an agency."""
_ARTICLES = frozenset({"a", "an", "the"})


def credit(reading: Reading, clause: Clause, subject: Subject) -> Iterator[RuleFinding]:
    """Statements of what somebody made or won. A thing has one maker, so another maker contradicts
    it; a second book or firm of the same people contradicts the first, unless it is said to be one
    more; and a year has one thing made or won in it."""
    words, content = clause.tokens, reading.content
    verb, begin = _verb(clause)
    # "Both won …": each on their own.
    apart = "also" in clause.adverbs
    if verb is None or (apart and len(subject.names) == 1):
        return
    won = verb in _CREDITS["won"]
    names = list(subject.names)
    replaces = subject.wrong
    if verb == "collaborate":
        begin, wrong = _partners(reading, words, begin, names)
        replaces = wrong or replaces
        if not begin or len(names) < 2:
            return
    last = stop = _alone(words, begin, object_end(words, begin))
    joint = clause.lemma in _JOINT
    if joint:
        other = next((i for i in range(begin + 2, stop - 1) if words[i].low == "with"
                      and name_end(words, i + 1) == stop), 0)  # fmt: skip
        if other:
            names.append(text_of(content, words, other + 1, stop))
            last, stop = stop, other
    if stop - begin < 3 or words[begin].low not in _ARTICLES | {"any"}:
        return
    head = _head(words, begin, stop)
    thing = words[head].low
    if verb == "host" and thing not in DATA["works"]:
        return  # a party
    if (won and thing not in DATA["prizes"]) or words[begin + 1].low in DATA["one_more"]:
        return
    at = next((i for i in range(head + 2, stop) if YEAR.match(words[i].low)), 0)
    for name in sorted(names) if apart else ():
        yield from _dated(reading, clause, f"credit.{verb}", (name, begin, stop, at, last))
    if apart:
        return
    first, *others = sorted(names)
    together = f".with-{slug(' '.join(others))}" if others else ""
    common = (content, words[clause.subject].start, words[last - 1].end, "", "fact")
    yield from _dated(reading, clause, f"credit.{verb}{together}", (first, begin, stop, at, last))
    if clause.negated or words[begin].low == "any":
        return
    year = words[at].low if at else ""
    if thing in DATA["works"] or (others and joint):
        key = f"credit.{verb}{together}"
        if verb != "found" or not others:
            key += f".{slug(_KINDS.get(thing, thing))}"
        value = text_of(content, words, begin, stop)
        yield RuleFinding(*common, f"{key}.{year}".rstrip("."), value, 500, entity=first)
    if stop - begin >= 5:
        yield RuleFinding(
            *common, f"credit.{verb}.by", ", ".join(sorted(names)), 500,
            entity=text_of(content, words, bare(words, begin, head + 1), _core(words, begin, stop)),
            replaces=replaces, participants=tuple(names),
        )  # fmt: skip


def _alone(words: list[Token], begin: int, stop: int) -> int:
    """`stop` without "on her own", "alone" and "without …", which say who made it."""
    for at in range(begin + 2, stop):
        if words[at].low in ("alone", "without") or (
            words[at].low == "on" and at + 2 < len(words) and words[at + 2].low == "own"
        ):
            return at
    return stop


def _verb(clause: Clause) -> tuple[str | None, int]:
    """The verb that names the slot, and where its object begins."""
    words, begin = clause.tokens, clause.verb + 1
    if clause.lemma == "be" and clause.tense in _DONE:
        awarded = begin < len(words) and words[begin].low in _AWARDED
        return ("win", begin + 1) if awarded else (None, begin)
    if clause.lemma in ("work", "partner") and clause.tense in _DONE and begin < len(words):
        together = words[begin].low == "together"
        if together or (words[begin].low == "with" and not clause.negated):
            return "collaborate", begin + together
    verb = _MADE.get(clause.lemma) or _WON.get(clause.lemma)
    if clause.tense in _DONE or (clause.lemma in _LASTING and clause.tense == "present"):
        return verb, begin
    return None, begin


def _partners(
    reading: Reading, words: list[Token], begin: int, names: list[str]
) -> tuple[int, str | None]:
    """Where the object of "collaborated with B, not C, on …" begins (0: nowhere), and who is said
    not to be meant."""
    wrong = None
    if begin < len(words) and words[begin].low == "with":
        begin += 1
        begin += begin < len(words) and is_role(words[begin].low) and words[begin].text.islower()
        end = name_end(words, begin)
        if end == begin:
            return 0, None
        names.append(text_of(reading.content, words, begin, end))
        begin = end
        if [word.low for word in words[begin : begin + 2]] == [",", "not"]:
            end = name_end(words, begin + 2)
            wrong = text_of(reading.content, words, begin + 2, end) or None
            begin = end + 1
    if begin >= len(words) or words[begin].low != "on":
        return 0, None
    return begin + 1, wrong


def _dated(
    reading: Reading, clause: Clause, key: str, where: tuple[str, int, int, int, int]
) -> Iterator[RuleFinding]:
    """The year of a thing made or won, if it tells the thing from others of its kind; "never"
    contradicts any year."""
    words, content = clause.tokens, reading.content
    entity, begin, stop, at, last = where
    until = bool(at) and words[at - 1].low == "until"
    if at and not (until or words[at - 1].low == "in"):
        return
    start = bare(words, begin + (words[begin].low == "any"), stop)
    end = at - 1 if at else stop
    while end > start and words[end - 1].low in ("together", "ever"):
        end -= 1
    what = [w for w in words[start:end] if w.low not in DATA["praise"]]
    never = clause.negated and not at
    if len(what) < 2 or not (at or never) or (until and not clause.negated):
        return
    if words[begin].low == "any" and not at:
        return
    slot = f"{key}.{slug(' '.join(w.low for w in what))}.year"
    # No year contradicts every year, so "never …" is a value like them.
    no = next((i for i in range(clause.subject, clause.verb) if words[i].low in _NO), clause.verb)
    value = words[at].text if at else text_of(content, words, no, end)
    yield RuleFinding(content, words[clause.subject].start, words[last - 1].end, "", "fact", slot,
                      value, 500, entity=entity,
                      negated=clause.negated and not (never or until))  # fmt: skip


_NO = frozenset({"never", "not"}) | WORDS["negations"].keys()
_WHO = frozenset({"he", "she", "they"})


def _core(words: list[Token], begin: int, stop: int) -> int:
    """One past what tells a thing from others of its kind, without the people that took part in it:
    "a cookbook with a foreword by Ana" is one with a foreword."""
    for at in range(begin + 4, stop):
        low = words[at].low
        if low in _WHO:
            return at
        if low == "by" and name_end(words, at + 1) > at + 1:
            return at - (verb_form(words[at - 1].low)[1] is Form.PAST and at - 1 > begin + 3)
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
        if form is Form.ING and following not in DATA["heads"] | DATA["works"]:
            return at - 1
    return stop - 1
