"""First-person clauses: where they are in a sentence, and their subject, verb and end.

A clause is found by its subject ("I", or "you" when somebody else's words about the user are
read), then its auxiliaries, adverbs and main verb are taken off one word at a time. What follows
the verb, up to the clause's end, is its rest.
"""

from __future__ import annotations

from typing import NamedTuple

from beliefledger.gate.rules.lexicon import (
    AS_BASE,
    AS_PARTICIPLE,
    AS_PRESENT,
    WORDS,
    Form,
    verb_form,
)
from beliefledger.gate.rules.words import Token, clause_end, is_phrasal


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
    tail: int
    """One past the last word of the span: "any more" is in the span but not in the rest."""

    modal: str = ""
    adverbs: tuple[str, ...] = ()
    negated: bool = False
    ended: bool = False
    """Whether "no longer" or "any more" ends it."""

    hedged: bool = False
    """Whether "I think" stands before it."""

    imagined: bool = False
    """Whether "if", "imagine" or somebody's "said" stands before it."""


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
        clause = _clause(words, index, contracted, hedged=opening == "hedged")
        if clause is not None and opening == "imagined":
            # "What if I were …": the past form means no past here.
            present = {"past": "present", "past-continuous": "continuous"}
            clause = clause._replace(tense=present.get(clause.tense, clause.tense), imagined=True)
        while clause is not None:
            found.append(clause)
            clause = _second_verb(clause)
    return found


def clause_at(words: list[Token], index: int) -> Clause | None:
    """The clause whose subject is the word at `index`, whatever stands before it."""
    contracted = _SUBJECTS["first"].get(words[index].low)
    return None if contracted is None else _clause(words, index, contracted, hedged=False)


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
    if previous in WORDS["telling_of_oneself"]:
        return "main"
    if previous == "now" and words[index - 1].low == "that":
        return "main"
    if (
        previous == "as"
        and index + 1 < len(words)
        and (
            words[index].low in ("i'm", "i've")
            or words[index + 1].low in ("am", "live", "work", "have")
        )
    ):
        return "main"
    if previous == "when" and before == "like":
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


def _clause(words: list[Token], index: int, contracted: str, *, hedged: bool) -> Clause | None:
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
        elif low == "rather" and aux[-1:] in (["'d"], ["would"]):
            adverbs.append(low)
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
        elif low in WORDS["auxiliaries"] and not _is_main(words, at):
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
    return at < len(words) and verb_form(words[at].low)[1] in AS_BASE


def _is_main(words: list[Token], at: int) -> bool:
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
        return not got and form not in AS_PARTICIPLE
    if low in ("am", "are", "was", "been", "be", "were"):
        return form is not Form.ING and words[min(at + 1, len(words) - 1)].low != "not"
    if low in ("do", "did"):
        return form not in AS_BASE
    return True


def _ends(words: list[Token], at: int) -> bool:
    return at + 1 >= len(words)


def _is_habit(words: list[Token], at: int) -> bool:
    """Whether "read" is in the present: "I read on a Kobo", "I read a lot", "read every night"."""
    low = [word.low for word in words[at : at + 4]]
    if low[:1] == ["on"] and low[1:2] and low[1] in ("a", "an", "my", "the"):
        return len(low) > 2 and low[2] not in ("train", "plane", "beach", "bus", "news", "sofa")
    return low[:2] == ["a", "lot"] or low[:1] in (["every"], ["mostly"], ["mainly"], ["daily"])


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
    elif not aux and (
        (form is Form.BASE_OR_PAST and WORDS["habit_adverbs"] & set(adverbs))
        or (low == "read" and _is_habit(words, at + 1))
    ):
        tense = "present"
    elif (
        low == "got"
        and aux[-1:] == ["have"]
        and at + 1 < len(words)
        and (
            words[at + 1].low in WORDS["determiners"] | WORDS["conditions"] | {"no", "any"}
            or words[at + 1].low.isdigit()
        )
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
        words,
        index,
        at,
        stop,
        tense,
        lemma,
        tail,
        modal=modal,
        adverbs=tuple(adverbs),
        negated=negated,
        ended=ended and negated,
        hedged=hedged,
    )


def _second_verb(clause: Clause) -> Clause | None:
    """The clause that shares the subject: "I live in Porto and *work for Siemens*", "I'm Ana, *just
    moved to Leeds*"."""
    words, at = clause.tokens, clause.tail
    if clause.tense not in ("past", "present", "perfect") or clause.imagined:
        return None
    if clause.lemma in ("think", "guess", "hope", "believe", "feel", "suppose", "wish", "know"):
        return None  # "I think I'll sit and listen": it is of what is thought
    if at < len(words) and words[at].low == ",":
        at += 1
    if at < len(words) and words[at].low in ("and", "then"):
        at += 1
    elif at >= len(words) or words[at - 1].low != "," or words[at].low not in _LATELY:
        return None
    adverbs = []
    while at < len(words) and words[at].low in WORDS["adverbs"]:
        adverbs.append(words[at].low)
        at += 1
    if at >= len(words):
        return None
    lemma, form = verb_form(words[at].low)
    tense = "present" if form is Form.BASE and clause.tense == "present" else "past"
    other = clause.tense == "present" and _LATELY.isdisjoint(adverbs)
    if tense == "past" and (form not in (Form.PAST, Form.BASE_OR_PAST) or other):
        return None
    tail = stop = _stop(words, at, tense)
    if words[at].low in ("am", "was", "have", "had", "do", "did"):
        return None
    return Clause(
        words,
        clause.subject,
        at,
        stop,
        tense,
        lemma,
        tail,
        adverbs=tuple(adverbs),
        hedged=clause.hedged,
    )


_LATELY = frozenset({"just", "recently", "finally"})
"""Before what was done, behind a comma: it says of whoever was spoken of what is new."""


def _stop(words: list[Token], at: int, tense: str) -> int:
    """The end of the clause with the verb at `at`, without filler or a verb left hanging."""
    stop = clause_end(words, at + 1, tense)
    cut = stop < len(words) and words[stop].low in WORDS["cutters"]
    if cut and stop > at + 2 and words[stop - 2].low in ("to", "of", "around"):
        hanging = verb_form(words[stop - 1].low)[1] in _HANGING
        stop -= 2 if hanging else 0
    if words[stop - 1].low == "even" and words[stop : stop + 1] and stop > at + 1:
        stop -= cut or words[stop].low == "when"  # "even though"
    if stop < len(words) and words[stop].low == "and":
        stop = _without_begun(words, at, stop)
    while stop > at + 1 and words[stop - 1].low in WORDS["trailing"]:
        if is_phrasal(words, stop - 1):
            break
        stop -= 1
    return stop


def _without_begun(words: list[Token], at: int, stop: int) -> int:
    """The end of a clause without one that begins in it and goes on behind "and": "had a blast when
    my friends and I went out"."""
    if stop + 1 >= len(words) or words[stop + 1].low not in ("i", "me"):
        return stop
    when = next((i for i in range(stop - 1, at + 1, -1) if words[i].low in _BEGINS), stop)
    verbs = (verb_form(word.low)[1] for word in words[when + 1 : stop])
    return stop if any(form in (Form.PAST, Form.BASE_OR_PAST) for form in verbs) else when


_BEGINS = frozenset({"when", "while", "because", "since", "after", "before"})


_HANGING = AS_PRESENT | {Form.ING}


def _tense(aux: list[str], form: Form) -> tuple[str, str]:
    """The tense of a verb in `form` after the auxiliaries, and its modal verb."""
    if not aux:
        if form in AS_PRESENT:
            return "present", ""
        if form in (Form.PAST, Form.BASE_OR_PAST):
            return "past", ""
        return ("past", "") if form is Form.PARTICIPLE else ("", "")
    first, last = aux[0], aux[-1]
    if first == "used":
        return ("copula" if last == "be" else "used" if form in AS_PRESENT else ""), ""
    if first == "'d":
        past = form in (Form.PAST, Form.PARTICIPLE)
        return ("past", "had") if past else ("modal", "would")
    if first in WORDS["modals"] and last == first:
        if form in AS_BASE:
            return ("future", "will") if first == "will" else ("modal", first)
        return "", ""
    if last in ("am", "was", "were"):
        if form is not Form.ING:
            return "copula", ""
        return ("continuous" if last == "am" else "past-continuous"), ""
    if last == "been":
        return ("perfect-continuous" if form is Form.ING else "copula"), ""
    if last == "be":
        return ("future" if form is Form.ING and first == "will" else "copula"), "will"
    if last in ("have", "had"):
        if form in AS_PARTICIPLE:
            return ("perfect", "") if last == "have" else ("past", "had")
        return "had", ""
    if last in ("do", "did"):
        return ("present" if last == "do" else "past", last) if form is not Form.NONE else ("", "")
    return "", ""
