"""What a claim says beyond its spans, if anything. Pure, and the same for every extractor.

The claim and the spans are brought to the same form: contractions written out, synonyms and
inflections as one, numbers as digits. Then each content word of the claim must be among the words
said, and the claim must not be surer, nearer to now, or of another polarity than they are. A span
in another language is held to less: its own words, their beginnings, and its denials.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import cache
from itertools import pairwise

from beliefledger.gate.calendar_names import DAYS, MONTHS, NAMES
from beliefledger.gate.claim_wordings import (
    CUT,
    DENIALS,
    TIMED,
    Said,
    forms,
    forms_in,
    number_of,
    plain,
    tokens_of,
    tongue_in,
    wordings,
)
from beliefledger.gate.claim_words import sort_of
from beliefledger.gate.rules.lexicon import AS_BASE, AS_PARTICIPLE, BASES, Form, verb_form
from beliefledger.ledger.candidate import Span, When
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.times import DAY, to_datetime


class Excess(StrEnum):
    """In what a claim goes beyond its words."""

    WORDS = "words"
    NUMBER = "number"
    NAME = "name"
    DATE = "date"
    POLARITY = "polarity"
    CERTAINTY = "certainty"
    TENSE = "tense"
    PERSON = "person"
    ORDER = "order"


LEXICAL = frozenset({Excess.WORDS, Excess.NUMBER, Excess.NAME, Excess.DATE})
"""What a literal quotation in the claim's place mends: the structure says no more."""

_SUBJECTS = frozenset("i we he she they it you there user that this".split())
_FIRST = frozenset("i me my mine myself we us our ours".split())
_BE_NOW = frozenset(
    "am is are have has do does can must mean s prefer like love live work use own need play speak"
    " drive run eat drink".split()
)
_WAS = frozenset({"was", "were", "had", "did"})
_LETTERED = compile_later(r"[^\W\d_][\w'-]*")
_YEAR = compile_later(r"(?:1[89]|20|21)\d\d")


@cache
def weighing() -> frozenset[str]:
    """Words that a statement has to be weighed for: with none of them it says what is."""
    known = wordings()
    abroad = (each for denials in known.tongues.values() for each in denials[1])
    phrases = (
        each.pattern for each in (known.unsure_phrase, known.intent_phrase, known.past_phrase)
    )
    parts = {part for each in phrases for part in re.findall(r"[a-z]{2,}", each)} - _EVERYDAY
    return frozenset(abroad) | known.unsure | known.intent | DENIALS | _WAS | parts | {"if"}


_EVERYDAY = frozenset("to an as my of in at it is am or more be the back kid kids child".split())


def excess(
    claim: str, value: str, entity: str, spans: Sequence[Span], when: When, replaces: str | None
) -> Excess | None:
    """In what the claim goes beyond the words of its spans; None if in nothing."""
    quotes = tuple(span.quote for span in spans)
    said = Said.of(quotes)
    if claim == literal(entity, spans):
        return None
    if said.tongue is not None:
        return _denied_abroad(claim, said) or _unsaid(claim, entity, said, when)
    about = _about(quotes, value, replaces)
    return (
        _other_frame(claim, quotes, about)
        or _of_somebody(claim, entity, said, about)
        or _swapped(claim, quotes)
        or _unsaid(claim, entity, said, when)
    )


def literal(entity: str, spans: Sequence[Span]) -> str:
    """The claim that says just what was said: `User: ‹I live in Porto›`."""
    return f"{entity}: ‹{' … '.join(span.quote for span in spans)}›"


def value_said(texts: Iterable[str], spans: Sequence[Span]) -> bool:
    """Whether every word of these texts (a value, a context) was said, in whatever form."""
    said = Said.of(tuple(span.quote for span in spans))
    light = wordings().light
    return all(
        (word in light and number_of(word) is None) or said.has(word)
        for text in texts
        for word in tokens_of(text)
        if word not in CUT
    )


def presupposes(quote: str) -> bool:
    """Whether words say something that a question around them does not ask: "my vegan daughter"."""
    tokens = tokens_of(quote)
    return (
        1 < len(tokens) <= 8
        and tokens[0] in _PRESUPPOSING
        and _FINITE.isdisjoint(tokens)
        and CUT.isdisjoint(tokens)
    )


_PRESUPPOSING = frozenset(
    "my our mein meine meinen meinem meiner unser unsere mon ma mes notre nos mi mis nuestro"
    " nuestra meu minha meus minhas mio mia miei mie mijn mitt min mina моя мой мои".split()
)
_FINITE = frozenset(
    "is are am was were be do does did can could should would will shall may might must has have"
    " had ist sind war est sont es son é são è sono".split()
)


def ends(quote: str) -> bool:
    """Whether words say that something is over: "sold it", "used to", "no longer"."""
    tokens = tokens_of(quote)
    return any(_denied(clause) for clause in _clauses(tokens)) or any(
        word in _ENDINGS_SAID or any(form in _ENDINGS_SAID for form in forms(word))
        for word in tokens
    )


_ENDINGS_SAID = frozenset(
    "over sell end finish leave leave stop retire divorce die lose split ex".split()
)


def tongue_of(quotes: Sequence[str]) -> str | None:
    """The language of the words where it is another than English; `?` for one we do not know."""
    return tongue_in(frozenset(token for quote in quotes for token in tokens_of(quote)), quotes)


def timed(quotes: Iterable[str]) -> bool:
    """Whether anything in the words names a time."""
    return any(TIMED.search(quote.casefold()) is not None for quote in quotes)


def _unsaid(claim: str, entity: str, said: Said, when: When) -> Excess | None:
    """The first content word of the claim that was not said, by its kind."""
    known = wordings()
    dates: frozenset[str] | None = None
    names = {word for word in _LETTERED.findall(claim) if word[0].isupper()}
    capital = {plain(name) for name in names}
    own = forms_in(entity)
    found: Excess | None = None
    for word in tokens_of(claim):
        if word in CUT or word in DENIALS:
            continue
        number = number_of(word)
        if number is None and word not in known.limiting and said.bears(word):
            continue
        if said.has(word):
            continue
        if not own.isdisjoint(forms(word)):
            continue
        if dates is None:
            dates = _dates(when, said) if timed(said.texts) else frozenset()
        if not dates.isdisjoint(forms(word)):
            continue
        if number is not None:
            return Excess.DATE if _YEAR.fullmatch(number) else Excess.NUMBER
        if not NAMES.isdisjoint(forms(word)):
            return Excess.DATE
        found = found or (Excess.NAME if word in capital else Excess.WORDS)
    return found


def _dates(when: When, said: Said) -> frozenset[str]:
    """The words by which the claim may name the stated time, where the words name another way."""
    if when.start is None:
        return frozenset()
    last = when.start if when.end is None else max(when.end - 1, when.start)
    named: set[str] = set()
    years = any(_YEAR.fullmatch(word) for word in said.tokens)
    months = not said.known.isdisjoint(MONTHS)
    days = not said.known.isdisjoint(DAYS)
    for moment in (to_datetime(when.start), to_datetime(last)):
        if not years:
            named.add(str(moment.year))
        if not months:
            month = MONTHS[moment.month - 1]
            named |= {month, month[:3]}
        if last - when.start < DAY:
            named |= {str(moment.day), f"{moment.hour}:{moment.minute:02}"}
            if not days:
                named.add(DAYS[moment.weekday()])
    return frozenset(form for word in named for form in forms(word))


def _about(quotes: Sequence[str], value: str, replaces: str | None) -> list[tuple[str, ...]]:
    """The clauses that say the value; a clause without a subject goes on from the one before."""
    wanted = [forms(word) for word in tokens_of(value) if word not in CUT]
    found: list[tuple[str, ...]] = []
    wrong = [forms(word) for word in tokens_of(replaces)] if replaces else []
    for quote in quotes:
        for clause in _clauses(tokens_of(quote)):
            there = frozenset(form for word in clause for form in forms(word))
            kept = clause
            if wrong and all(not there.isdisjoint(each) for each in wrong):
                kept = _without(clause, wrong)
                there = frozenset(form for word in kept for form in forms(word))
            if kept and wanted and all(not there.isdisjoint(each) for each in wanted):
                found.append(kept)
    return found


def _without(clause: tuple[str, ...], wrong: list[frozenset[str]]) -> tuple[str, ...]:
    """A clause without "not Porto" and all after it."""
    for at, word in enumerate(clause):
        if word == "not" and any(not forms(each).isdisjoint(wrong[0]) for each in clause[at:]):
            return clause[:at]
    return clause


def _clauses(tokens: tuple[str, ...]) -> list[tuple[str, ...]]:
    made: list[list[str]] = [[]]
    for token in tokens:
        if token in CUT:
            made.append([])
        else:
            made[-1].append(token)
    whole: list[tuple[str, ...]] = []
    before: list[str] = []
    for clause in made:
        if not clause:
            continue
        if before and clause[0] not in DENIALS and _SUBJECTS.isdisjoint(clause):
            whole.append((*before, *clause) if not _denied(before) else tuple(clause))
        else:
            whole.append(tuple(clause))
        before = clause
    return whole


def _denied(words: Iterable[str]) -> bool:
    return sum(word in DENIALS for word in words) % 2 == 1


def _other_frame(claim: str, quotes: Sequence[str], about: list[tuple[str, ...]]) -> Excess | None:
    """Whether the claim is of another polarity, surer, or of another time."""
    known = wordings()
    claimed = tokens_of(claim)
    told = " ".join(claimed)
    clauses = about or [
        tuple(word for word in tokens_of(quote) if word not in CUT) for quote in quotes
    ]
    if not clauses:
        return None
    denied = any(map(_denied, _clauses(claimed)))
    words = {word for quote in quotes for word in tokens_of(quote)}
    if denied and words.isdisjoint(DENIALS):
        return Excess.POLARITY
    if not denied and about and all(map(_denied, clauses)):
        return Excess.POLARITY
    texts = [" ".join(clause) for clause in clauses]
    unsure = known.unsure.isdisjoint(claimed) and not known.unsure_phrase.search(told)
    if unsure and all(
        not known.unsure.isdisjoint(clause) or known.unsure_phrase.search(text)
        for clause, text in zip(clauses, texts, strict=True)
    ):
        return Excess.CERTAINTY
    conditional = all("if" in clause for clause in clauses)
    if conditional and known.unsure.isdisjoint(claimed) and "if" not in claimed:
        return Excess.CERTAINTY
    if (
        _RARELY.isdisjoint(claimed)
        and not denied
        and all(not _RARELY.isdisjoint(clause) for clause in clauses)
    ):
        return Excess.CERTAINTY
    wanted = known.intent.isdisjoint(claimed) and not _coming(claimed)
    if wanted and all(known.intent_phrase.search(text) and not _settled(text) for text in texts):
        return Excess.TENSE
    over = all(_over(clause, text) for clause, text in zip(clauses, texts, strict=True))
    if over and not (_past(claimed) or known.past_phrase.search(told) or "over" in claimed):
        return Excess.TENSE
    return None


_RARELY = frozenset("rarely seldom".split())


def _coming(claimed: Sequence[str]) -> bool:
    """Whether the claim itself is of what is under way: "is moving"."""
    return any(
        word in {"is", "are", "am"} and after.endswith("ing") for word, after in pairwise(claimed)
    )


def _settled(text: str) -> bool:
    """Whether "will" and the like are only in an aside of what is so."""
    return bool(re.search(r"\bwho will\b|\bthat will\b", text))


def _past(words: Sequence[str]) -> bool:
    """Whether a claim says what was or has been, and not only what is."""
    if not _WAS.isdisjoint(words) or "over" in words:
        return True
    past = [sort_of(word).past or verb_form(word)[1] in _PAST or word in _ENDED for word in words]
    for at, word in enumerate(words):
        if word in {"has", "have"}:  # has lived, has never been, has a dog called
            return any(past[at + 1 : at + 3]) or "been" in words[at + 1 : at + 3]
        if word in {"is", "are", "am", "does"}:
            return False
    return any(past)


_PAST = frozenset({Form.PAST, Form.BASE_OR_PAST})
_ENDED = frozenset("raised born married got stop died proposed".split())


def _over(clause: Sequence[str], text: str) -> bool:
    """Whether a clause says what was, and not what is."""
    if "if" in clause:
        return False
    if wordings().past_phrase.search(text):
        return True
    if not {"am", "is", "are", "have", "has", "over"}.isdisjoint(clause):
        return False
    if not _WAS.isdisjoint(clause):
        return True
    # "I worked at": the word after the subject is a past form that is no present one as well.
    for word, after in pairwise(clause):
        if word in _SUBJECTS and verb_form(after)[1] is Form.PAST:
            return True
    return False


def _of_somebody(
    claim: str, entity: str, said: Said, about: list[tuple[str, ...]]
) -> Excess | None:
    """Whether words about somebody else became a claim about the speaker."""
    claimed = tokens_of(claim)
    if entity != "User" or len(claimed) < 2 or claimed[0] != "user":
        return None
    if not about:
        return None
    if all(_said_of_ones_own(clause, claimed) for clause in about):
        return Excess.PERSON
    if claim.startswith("User's ") and all(clause[0] == claimed[1] for clause in about):
        return None  # "mum moved in with us": the claim says it of her, too
    if all(_FIRST.isdisjoint(clause) or _done_to_me(clause) for clause in about) and any(
        map(_done_to_me, about)
    ):
        return Excess.ORDER
    if not _FIRST.isdisjoint(said.tokens):
        return None
    third = [
        clause
        for clause in about
        if clause[0] in {"he", "she", "they"}
        or (
            len(clause) > 1
            and clause[1] in {"is", "was", "has", "lives", "works"}
            and clause[0] not in {"it", "that", "this", "there", "work", "home", "name"}
        )
    ]
    names = {clause[0] for clause in third}
    return Excess.PERSON if len(third) == len(about) and names.isdisjoint(claimed) else None


def _said_of_ones_own(clause: Sequence[str], claimed: Sequence[str]) -> bool:
    """Whether a clause is about something of the speaker's that the claim leaves out: "my dog ate
    chocolate"."""
    if clause[0] not in {"my", "our"} or not {"i", "we"}.isdisjoint(clause):
        return False
    whose: list[str] = []
    for word in clause[1:5]:
        if whose and (word in _BE_NOW or word in _WAS or verb_form(word)[1] in _VERBS):
            break
        whose.append(word)
    told = frozenset(form for word in claimed for form in forms(word))
    return bool(whose) and all(forms(word).isdisjoint(told) for word in whose)


_VERBS = AS_BASE | AS_PARTICIPLE


def _done_to_me(clause: Sequence[str]) -> bool:
    """Whether the speaker is only the one to whom somebody does it: "Dana manages me". An order
    ("call me Jo") has nobody who does."""
    at = next((n for n, word in enumerate(clause) if word in {"me", "us"}), None)
    return (
        at is not None
        and {"i", "we", "my", "our", "mine"}.isdisjoint(clause)
        and any(
            word in BASES or word in _WAS or verb_form(word)[1] is Form.PAST
            for word in clause[1:at]
        )
    )


def _swapped(claim: str, quotes: Sequence[str]) -> Excess | None:
    """Whether what stands after "from", "than" or "before" stands elsewhere in the words."""
    claimed = tokens_of(claim)
    turning = DIRECTED | {"to"} if "prefer" in claimed or "prefers" in claimed else DIRECTED
    for at, word in enumerate(claimed):
        if word not in turning:
            continue
        after = _next_content(claimed, at)
        if after is None:
            continue
        there = [
            each
            for tokens in map(tokens_of, quotes)
            for place, said in enumerate(tokens)
            if said == word and (each := _next_content(tokens, place)) is not None
        ]
        if not there and not _OPPOSITE.get(word, _NONE).isdisjoint(_all_tokens(quotes)):
            return Excess.ORDER
        if there and all(forms(after).isdisjoint(forms(each)) for each in there):
            return Excess.ORDER
    return None


DIRECTED = frozenset("from than before after instead until".split())
"""Words whose two sides cannot be swapped."""


_OPPOSITE = {"before": frozenset({"after"}), "after": frozenset({"before"})}
_NONE: frozenset[str] = frozenset()


def _all_tokens(quotes: Sequence[str]) -> frozenset[str]:
    return frozenset(word for quote in quotes for word in tokens_of(quote))


def _next_content(tokens: Sequence[str], at: int) -> str | None:
    light = wordings().light
    return next(
        (word for word in tokens[at + 1 : at + 5] if word not in light and word not in CUT), None
    )


def _denied_abroad(claim: str, said: Said) -> Excess | None:
    """Whether a claim about words of another language is of another polarity."""
    tongues = wordings().tongues
    deny = tongues[said.tongue][1] if said.tongue in tongues else frozenset()
    all_denials = DENIALS | deny
    denied = not all_denials.isdisjoint(tokens_of(claim))
    there = not deny.isdisjoint(said.tokens)
    if said.tongue == "?":
        there = there or any(
            re.search("ない|ません|不|没|沒|無|안 |못 |없", text) for text in said.texts
        )
        denied = denied or bool(re.search("ない|ません|不|没|沒|無|안 |못 |없", claim))
    return Excess.POLARITY if denied != there else None
