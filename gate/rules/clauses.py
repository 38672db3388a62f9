"""First-person clauses: where they are in a sentence, and their subject, verb and end.

A clause is found by its subject ("I", or "you" when somebody else's words about the user are
read), then its auxiliaries, adverbs and main verb are taken off one word at a time. What follows
the verb, up to the clause's end, is its rest.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gate.rules.lexicon import WORDS, Form, verb_form

_TOKEN = re.compile(
    r"[^\W_]+(?:(?:[-'’.&/@+_:]|,(?=\d{3}))[^\W_]+)*(?:\+\+|\+|#)?|[^\w\s]|_", re.UNICODE
)


class Token(NamedTuple):
    """A word or a mark, its lower-case form with straight apostrophes, and its offsets."""

    text: str
    low: str
    start: int
    end: int


class Clause(NamedTuple):
    """A clause whose subject is the user.

    `verb` and `stop` are token indices: the main verb, and one past the last word. `tense` is one
    of present, continuous, perfect, perfect-continuous, past, past-continuous, used, future,
    modal. `aux` holds the words that are said again in the claim, in third person.
    """

    tokens: list[Token]
    subject: int
    verb: int
    stop: int
    tense: str
    lemma: str
    negated: bool
    adverbs: tuple[str, ...]
    modal: str
    ended: bool
    """Whether "no longer" or "any more" says that it is over."""
    hedged: bool
    """Whether "I think" stands before it."""
    imagined: bool
    """Whether "if", "imagine" or somebody's "said" stands before it."""
    tail: int
    """One past the last word of the span: "any more" is in the span but not in the rest."""


def tokens(text: str, start: int, end: int) -> list[Token]:
    """The words and marks of text[start:end]."""
    found = []
    for match in _TOKEN.finditer(text, start, end):
        word = match.group()
        found.append(Token(word, word.lower().replace("’", "'"), match.start(), match.end()))
    return found


_SUBJECTS = {
    "first": {
        "i": "", "i'm": "am", "im": "am", "i've": "have", "ive": "have", "i'd": "'d",
        "i'll": "will", "we": "", "we're": "am", "we've": "have", "we'll": "will",
    },
    "second": {
        "you": "", "you're": "am", "you've": "have", "you'd": "'d", "you'll": "will",
    },
}  # fmt: skip


def clauses(words: list[Token], person: str = "first") -> list[Clause]:
    """The clauses of one sentence that say something of the user in person."""
    subjects = _SUBJECTS[person]
    found = []
    for index, token in enumerate(words):
        contracted = subjects.get(token.low)
        if contracted is None:
            continue
        opening = _opening(words, index, person)
        if opening is None:
            continue
        clause = _clause(words, index, contracted, opening == "hedged")
        if clause is not None and opening == "imagined":
            # "What if I were …": the past form means no past here.
            present = {"past": "present", "past-continuous": "continuous"}
            clause = clause._replace(tense=present.get(clause.tense, clause.tense), imagined=True)
        while clause is not None:
            found.append(clause)
            clause = _second_verb(clause)
    return found


def _opening(words: list[Token], index: int, person: str) -> str | None:
    """Whether a main clause may begin here: None for relative and dependent clauses."""
    if index == 0:
        return "main"
    previous = words[index - 1].low
    if previous in WORDS["openers"]:
        return "main"
    before = words[index - 2].low if index > 1 else ""
    if person == "second" and previous in ("do", "so"):
        return "main"
    if previous == "that":
        previous, before = before, ""
    if previous in ("realized", "realised", "mentioned", "remember", "remembered", "noticed"):
        return "main"
    if previous in ("think", "guess", "believe"):
        return "hedged"
    if previous in WORDS["not_meant"]:
        return "imagined"
    if previous == "why" and before == "is":
        return "main"
    # "Last week I …", "In 2019 I …": an opening of time and nothing else.
    lead = [word.low for word in words[:index]]
    while "," in lead:
        lead = lead[lead.index(",") + 1 :]
    if 0 < len(lead) <= 7 and lead[0] in WORDS["time_openers"]:
        return "main"
    return None


def _clause(words: list[Token], index: int, contracted: str, hedged: bool) -> Clause | None:
    aux: list[str] = [contracted] if contracted else []
    adverbs: list[str] = []
    negated = ended = False
    at = index + 1
    while at < len(words):
        low = words[at].low
        following = words[at + 1].low if at + 1 < len(words) else ""
        if low in ("not", "never"):
            negated = True
            if low == "never":
                adverbs.append(low)
        elif low == "no" and following == "longer":
            negated = ended = True
            adverbs.append("no longer")
            at += 1
        elif low == "," and at == index + 1:
            return None
        elif low in WORDS["negations"]:
            negated = True
            aux.append(WORDS["negations"][low])
        elif low == "used" and following == "to" and not aux:
            aux.append("used")
            at += 1
        elif (
            low == "going" and following == "to" and aux[-1:] == ["am"] and _verb_at(words, at + 2)
        ):
            aux[-1] = "will"
            at += 1
        elif low in ("have", "need") and following == "to" and not aux:
            aux.append("must")
            at += 1
        elif low in WORDS["auxiliaries"] and not _is_main(words, at, aux):
            aux.append("am" if low == "are" else low)
        elif low in WORDS["adverbs"] and not (low == "like" or _ends(words, at)):
            adverbs.append(low)
        else:
            break
        at += 1
    if at >= len(words):
        return None
    return _with_verb(words, index, at, aux, adverbs, (negated, ended, hedged))


def _verb_at(words: list[Token], at: int) -> bool:
    return at < len(words) and verb_form(words[at].low)[1] in (Form.BASE, Form.BASE_OR_PAST)


def _is_main(words: list[Token], at: int, aux: list[str]) -> bool:
    """Whether have, do, be or need is the main verb here, not an auxiliary."""
    low = words[at].low
    if low in ("can", "will", "would", "could", "should", "might", "may", "must", "shall"):
        return False
    ahead = at + 1
    while ahead < len(words) and words[ahead].low in WORDS["adverbs"] | {"not", "never"}:
        ahead += 1
    form = verb_form(words[ahead].low)[1] if ahead < len(words) else Form.NONE
    if low in ("have", "had"):
        got = ahead < len(words) and words[ahead].low in ("been", "got")
        return not got and form not in (Form.PAST, Form.PARTICIPLE, Form.BASE_OR_PAST)
    if low in ("am", "are", "was", "been", "be", "were"):
        return form is not Form.ING
    if low in ("do", "did"):
        return form not in (Form.BASE, Form.BASE_OR_PAST)
    return True


def _ends(words: list[Token], at: int) -> bool:
    return at + 1 >= len(words)


def _with_verb(
    words: list[Token],
    index: int,
    at: int,
    aux: list[str],
    adverbs: list[str],
    flags: tuple[bool, bool, bool],
) -> Clause | None:
    negated, ended, hedged = flags
    low = words[at].low
    lemma, form = verb_form(low)
    tense, modal = _tense(aux, form)
    if aux and aux[-1] in ("am", "was", "been", "be", "were") and tense == "copula":
        # The copula's rest begins right here; the verb index stands on the word before it.
        at, lemma = at - 1, "be"
        tense = {"am": "present", "was": "past", "were": "past"}.get(aux[0], "perfect")
        if aux[0] in ("will", "'d"):
            tense, modal = ("future", "will") if aux[0] == "will" else ("modal", "would")
        elif aux[0] in WORDS["modals"]:
            tense, modal = "modal", aux[0]
        elif aux[0] == "used":
            tense = "used"
    elif tense == "had":
        at, lemma, tense = at - 1, "have", {"had": "past"}.get(aux[0], "present")
    elif tense == "":
        return None
    elif (
        low == "got"
        and aux[-1:] == ["have"]
        and at + 1 < len(words)
        and (words[at + 1].low in WORDS["determiners"] or words[at + 1].low.isdigit())
    ):
        lemma, tense = "have", "present"
    if lemma in ("am", "is"):
        lemma = "be"
    stop = _stop(words, at, tense)
    tail = stop
    if stop > at + 1 and words[stop - 1].low == "anymore":
        ended, stop = True, stop - 1
    elif (
        stop > at + 2 and words[stop - 1].low in ("more", "longer") and words[stop - 2].low == "any"
    ):
        ended, stop = True, stop - 2
    return Clause(
        words, index, at, stop, tense, lemma, negated, tuple(adverbs), modal, ended and negated,
        hedged, False, tail,
    )  # fmt: skip


def _second_verb(clause: Clause) -> Clause | None:
    """The clause that shares the subject: "I live in Porto and *work for Siemens*"."""
    words, at = clause.tokens, clause.tail
    if clause.tense not in ("past", "present", "perfect") or clause.imagined:
        return None
    if at < len(words) and words[at].low == ",":
        at += 1
    if at >= len(words) or words[at].low not in ("and", "then"):
        return None
    at += 1
    adverbs = []
    while at < len(words) and words[at].low in WORDS["adverbs"]:
        adverbs.append(words[at].low)
        at += 1
    if at >= len(words):
        return None
    lemma, form = verb_form(words[at].low)
    tense = "present" if form is Form.BASE and clause.tense == "present" else "past"
    if tense == "past" and (
        form not in (Form.PAST, Form.BASE_OR_PAST) or clause.tense == "present"
    ):
        return None
    tail = stop = _stop(words, at, tense)
    if words[at].low in ("am", "was", "have", "had", "do", "did"):
        return None
    return Clause(
        words, clause.subject, at, stop, tense, lemma, False, tuple(adverbs), "", False,
        clause.hedged, False, tail,
    )  # fmt: skip


def _stop(words: list[Token], at: int, tense: str) -> int:
    """The end of the clause with the verb at `at`, without filler or a verb left hanging."""
    stop = clause_end(words, at + 1, tense)
    cut = stop < len(words) and words[stop].low in WORDS["cutters"]
    while cut and stop > at + 1 and verb_form(words[stop - 1].low)[1] in (Form.BASE, Form.ING):
        stop -= 1
    while stop > at + 1 and words[stop - 1].low in WORDS["trailing"]:
        stop -= 1
    return stop


def _tense(aux: list[str], form: Form) -> tuple[str, str]:
    """The tense of a verb in `form` after the auxiliaries, and its modal verb."""
    if not aux:
        if form is Form.BASE:
            return "present", ""
        if form in (Form.PAST, Form.BASE_OR_PAST):
            return "past", ""
        return ("past", "") if form is Form.PARTICIPLE else ("", "")
    first, last = aux[0], aux[-1]
    if first == "used":
        return ("copula" if last == "be" else "used" if form is Form.BASE else ""), ""
    if first == "'d":
        past = form in (Form.PAST, Form.PARTICIPLE) and form is not Form.BASE_OR_PAST
        return ("past", "had") if past else ("modal", "would")
    if first in WORDS["modals"] and last == first:
        if form in (Form.BASE, Form.BASE_OR_PAST):
            return ("future", "will") if first == "will" else ("modal", first)
        return "", ""
    if last in ("am", "was", "were"):
        return (("continuous" if last == "am" else "past-continuous"), "") if form is Form.ING else (
            "copula", "")  # fmt: skip
    if last == "been":
        return ("perfect-continuous" if form is Form.ING else "copula"), ""
    if last == "be":
        return ("future" if form is Form.ING and first == "will" else "copula"), "will"
    if last in ("have", "had"):
        if form in (Form.PAST, Form.PARTICIPLE, Form.BASE_OR_PAST):
            return ("perfect", "") if last == "have" else ("past", "had")
        return "had", ""
    if last in ("do", "did"):
        return ("present" if last == "do" else "past", last) if form is not Form.NONE else ("", "")
    return "", ""


def clause_end(words: list[Token], at: int, tense: str) -> int:
    """One past the last word that still belongs to the clause whose rest begins at `at`."""
    commas = 0
    first = at
    while at < len(words):
        at = after_title(words, at)
        if at >= len(words):
            return at
        low = words[at].low
        following = words[at + 1].low if at + 1 < len(words) else ""
        if low == "." and at + 1 < len(words) and words[at - 1].low in WORDS["titles"]:
            at += 1
            continue
        if low in WORDS["stops"] or (low in "-–—" and _spaced(words, at)):
            return at
        if low == ",":
            if not following or not _list_goes_on(words, at + 1):
                return at
            commas += 1
        elif low in ("and", "or", "but", "so", "then", "plus"):
            if low in ("but", "so", "then") and not (low == "so" and at == first):
                return at
            if _new_predicate(words, at + 1, tense):
                return at
        elif low == "that" and at >= first:
            if not following or following in WORDS["clause_words"] or verb_form(following)[1] in (
                Form.PAST, Form.BASE
            ) or words[at - 1].low in ("so", "such"):  # fmt: skip
                return at
        elif low in WORDS["cutters"] and at > first:
            return at
        elif low in ("since", "as", "while", "when", "before", "after", "until", "once", "than"):
            if following in WORDS["subject_words"]:
                return at
        elif (
            low in WORDS["subject_words"]
            and at > first
            and low not in ("you", "it", "that", "this")
        ):
            # A bare subject: a relative clause without its pronoun ("the lamp I bought").
            return at
        at += 1
    return at


_CLOSING = {'"': '"', "“": "”", "'": "'", "‘": "’"}


def after_title(words: list[Token], at: int) -> int:
    """One past the closing mark of the title that opens at `at`, else `at` itself."""
    closing = _CLOSING.get(words[at].text)
    if closing is None or at + 1 >= len(words) or words[at + 1].start > words[at].end:
        return at
    for end in range(at + 2, min(at + 16, len(words))):
        if words[end].text == closing and words[end].start == words[end - 1].end:
            return end + 1
    return at


def _spaced(words: list[Token], at: int) -> bool:
    return words[at].start > words[at - 1].end


def _list_goes_on(words: list[Token], at: int) -> bool:
    """Whether a comma before `at` joins items of a list or an appositive, not clauses."""
    word = words[at]
    if word.low == "not":
        return True
    if word.low in ("and", "or"):
        return (
            at + 1 < len(words)
            and not _new_predicate(words, at + 1, "past")
            and (any(w.low == "," for w in words[max(0, at - 8) : at - 1]))
        )
    if (
        word.low in WORDS["subject_words"]
        or word.low in WORDS["cutters"]
        or word.low in WORDS["clause_words"]
    ):
        return False
    return (
        word.text[:1].isupper()
        or word.text[:1].isdigit()
        or word.low in WORDS["determiners"]
        or any(w.low in ("and", "or") for w in words[at + 1 : at + 5])
        and verb_form(word.low)[1] is Form.NONE
    )


def _new_predicate(words: list[Token], at: int, tense: str) -> bool:
    """Whether a new subject or a new finite verb comes after a conjunction."""
    while at < len(words) and words[at].low in WORDS["adverbs"]:
        at += 1
    if at >= len(words):
        return True
    low = words[at].low
    if low in WORDS["subject_words"] or low in WORDS["clause_words"]:
        return True
    if low == "my" or low == "our":
        # "my dog and my cat" goes on, "and my boss said" does not.
        return any(verb_form(w.low)[1] in (Form.PAST, Form.PARTICIPLE) or w.low in ("is", "has")
                   for w in words[at + 1 : at + 4])  # fmt: skip
    form = verb_form(low)[1]
    if tense in ("past", "perfect", "used"):
        return form in (Form.PAST, Form.BASE_OR_PAST) or low in ("am", "was", "have")
    if tense in ("present", "future", "modal"):
        return form is Form.BASE and low in WORDS["clear_verbs"]
    return form is Form.PAST
