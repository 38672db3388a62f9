"""Whether a claim says no more than its spans. Pure, and the same for every extractor.

Each content word of the claim must be a word of the spans, in whatever inflection; what grammar
adds when words are retold in the third person is free. A denial must not come from nowhere nor get
lost, and what was only perhaps so must stay perhaps.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from functools import lru_cache

from beliefledger.gate import claim_wordings
from beliefledger.gate.calendar_names import DAYS, MONTHS
from beliefledger.gate.claim_excess import DIRECTED, Excess, excess, weighing
from beliefledger.gate.claim_wordings import forms, forms_in
from beliefledger.gate.rules.lexicon import Form, load, verb_form
from beliefledger.ledger.candidate import SELF, Candidate, When
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.lookalikes import undisguised
from beliefledger.ledger.times import DAY, to_datetime

CHECK = 2
"""The version of the check. A candidate names the one it was decided by, so that old decisions are
made again as they were: those of the first name none."""

_WORD = compile_later(r"[^\W_]+(?:[.,:+#&/'-][^\W_]+)*[+#]*")
_PART = compile_later(r"[^\W_]+[+#]*")

FREE = frozenset(
    # who and whose, retold
    "user users i me my mine myself we us our ours ourselves you your yours yourself he him his she"
    " her hers they them their theirs themselves it its itself this that these those there here one"
    " ones who whom whose which what someone somebody something"
    # what grammar adds
    " a an the and or but so as if than then of in on at to from for with by about into onto over"
    " is am are was were be been being has have had having do does did doing done will would shall"
    " should can could s m re ve ll d t also too now currently when while because since"
    # verbs of retelling
    " say says said saying state states stated mention mentions mentioned ask asks asked asking"
    " tell tells told call called calls name named".split()
)
"""Words that add no meaning. Words that limit a statement (always, might) are not among them."""
_DENIALS = frozenset(
    "not no never none nobody nothing nowhere neither nor without cannot nt hardly barely".split()
)
_PERHAPS = frozenset("might maybe perhaps possibly probably".split())
_UNSURE = _DENIALS | _PERHAPS
_ALLOWED = FREE | _UNSURE
_ASIDE = compile_later(
    r"\b(?:no|nope|nah)\s*[,.!;:–—-]|\bnot (?:only|just|to mention|sure if)\b|"
    r"\b(?:why|if|or) not\b|\bno (?:problem|worries|doubt|matter|idea)\b",
    re.I,
)
"""Phrases with a negation that do not deny the statement."""
_SHORT = {
    "can't": "can not",
    "cannot": "can not",
    "won't": "will not",
    "n't": " not",
    "anymore": "any more",
    "wants to be called": "is called",  # how "call me Sam" is retold
}
_MEANT = {"must": ("need", "have", "got", "supposed")}
CLAUSE = compile_later(r"[,;:.!?–—()\n]+|\b(?:but|and|because|so|while|though|although)\b", re.I)
_PEOPLE = frozenset(
    word for kind in ("one", "many") for word in load("people.yaml")[kind].split()
) - {"team"}
_OF_ANOTHER = compile_later(r"\W*(?:my|our|his|her|their|the|a)((?:\s+[\w-]+){1,3})")
_SPEAKER = compile_later(r"\b(?:i|me|we|us)\b")


def claim_within(candidate: Candidate, *, sincere: bool = True) -> bool:
    """True if the claim says no more than the spans, as the check of its version has it. What was
    not said sincerely is not held to how sure it was: it counts for little or nothing anyway."""
    if candidate.check < CHECK:
        return words_within(candidate)
    over = beyond(candidate)
    return over is None or (not sincere and over in {Excess.CERTAINTY, Excess.TENSE})


def beyond(candidate: Candidate) -> Excess | None:
    """In what the claim says more than the spans; None if in nothing."""
    if _is_said(candidate) or _plainly_within(candidate):
        return None
    if candidate.entity == SELF and candidate.type != "relation":  # "my boss": reports to
        quotes = [claim_wordings.together(_plain(span.quote)) for span in candidate.spans]
        told = forms_in(candidate.claim) | set(_words(_plain(candidate.claim)))
        if _of_another(quotes, told, candidate.value, forms):
            return Excess.PERSON
    return excess(
        candidate.claim,
        candidate.value,
        candidate.entity,
        candidate.spans,
        candidate.when,
        candidate.replaces,
    )


def _is_said(candidate: Candidate) -> bool:
    """Whether the claim is the words themselves, as a note's is."""
    said = candidate.spans[-1].quote
    return len(candidate.spans) == 1 and candidate.claim == candidate.value == said


def _plainly_within(candidate: Candidate) -> bool:
    """Whether the words leave nothing to weigh, as mostly: said by the speaker of themselves, in
    the present, and without a denial, a doubt or a plan. A third of the whole check's time."""
    said = {word for span in candidate.spans for word in _words(_plain(span.quote))}
    claimed = set(_words(_plain(candidate.claim)))
    return (
        candidate.when.start is None
        and not said.isdisjoint(_OF_SELF if candidate.claim.startswith("User's ") else _SELF_ACTS)
        and (claimed & _ADDED) <= said
        and claimed.isdisjoint(DIRECTED)
        and not {"prefers", "to"} <= claimed
        and said.isdisjoint(weighing())
        and not any(verb_form(word)[1] in _BEFORE for word in said)
        and words_within(candidate)
    )


_OF_SELF = frozenset("i i'm i've my we our im ive".split())
_SELF_ACTS = _OF_SELF - {"my", "our"}
_ADDED = frozenset("has have having had do does did done".split())
"""What the first version lets any claim add."""
_BEFORE = frozenset({Form.PAST, Form.BASE_OR_PAST})


def words_within(candidate: Candidate) -> bool:
    """True if the claim's words are those of the spans, whatever their tense or mood; as the first
    version of the check decided."""
    quotes = [_plain(span.quote) for span in candidate.spans]
    claim = _plain(candidate.claim)
    said = {word for quote in quotes for word in _words(quote)}
    claimed = _words(claim)
    own = candidate.entity == SELF and candidate.type != "relation"  # "my boss": reports to
    told = {form for word in claimed for form in _forms(word)}
    if own and _of_another(quotes, told, candidate.value, _forms):
        return False
    sure = _UNSURE.isdisjoint(said) and _UNSURE.isdisjoint(claimed)
    new = [word for word in claimed if word not in said and word not in _ALLOWED]
    if new:
        said.update(_words(_plain(candidate.entity)), _dates(candidate.when))
        forms = {
            form for word in said for each in (word, *_PART.findall(word)) for form in _forms(each)
        }
        if not all(_told(word, forms) for word in new):
            return False
    return sure or _as_sure(claim, quotes, candidate)


def _of_another(
    quotes: list[str], told: AbstractSet[str], value: str, forms_of: Callable[[str], frozenset[str]]
) -> bool:
    """Whether the spans say the value of a relative or colleague whom the claim leaves out. `told`
    has the forms of the claim's words."""
    named = set(_words(_plain(value)))
    about = [
        clause for quote in quotes for clause in CLAUSE.split(quote) if _has(clause.strip(), named)
    ]
    return bool(about) and all(
        (other := _another(clause)) is not None
        and other not in named
        and forms_of(other).isdisjoint(told)
        and _SPEAKER.search(clause) is None
        for clause in about
    )


def _another(clause: str) -> str | None:
    """The relative or colleague that a clause begins with: "my older brother …"."""
    begins = _OF_ANOTHER.match(clause)
    said = begins[1].split() if begins else []
    return next((word for word in said if word in _PEOPLE), None)


def limits(lead: str) -> bool:
    """Whether words before a statement deny it, doubt it, or say it of somebody else."""
    plain = _without_asides(_plain(lead), None)
    said = set(_words(plain))
    return not said.isdisjoint(_UNSURE) or _another(plain) is not None


def denies(text: str) -> bool:
    """Whether the text itself is denied, and not an aside in it."""
    return _denies(_without_asides(_plain(text), None))


def _told(word: str, forms: set[str]) -> bool:
    parts = _PART.findall(word)
    return not forms.isdisjoint(_forms(word)) or (
        len(parts) > 1
        and all(part in _ALLOWED or not forms.isdisjoint(_forms(part)) for part in parts)
    )


def _as_sure(claim: str, quotes: list[str], candidate: Candidate) -> bool:
    """Whether the claim is negated exactly where the spans are, and no surer than they are."""
    bare = [_without_asides(quote, candidate.replaces) for quote in quotes]
    denied = _denies(_without_asides(claim, None))
    if denied and not any(map(_denies, bare)):
        return False
    value = set(_words(_plain(candidate.value)))
    about = [clause for quote in bare for clause in CLAUSE.split(quote) if _has(clause, value)]
    if not denied and about and all(map(_denies, about)):
        return False
    perhaps = _PERHAPS.intersection(*map(_words, about)) if about else set()
    return perhaps <= set(_words(claim))


def _without_asides(quote: str, replaces: str | None) -> str:
    quote = _ASIDE.sub(" ", quote)
    if replaces:
        quote = re.sub(rf"\bnot\s+(?:\w+\s+){{0,3}}{re.escape(_plain(replaces))}", " ", quote)
    return quote


def _denies(text: str) -> bool:
    return not _DENIALS.isdisjoint(_words(text))


def _has(clause: str, words: set[str]) -> bool:
    return bool(words) and words <= set(_words(clause))


def _plain(text: str) -> str:
    """Case-folded, in compatibility form, "not" taken out of its contractions."""
    if text.isascii():
        plain = text.lower()
    else:
        plain = unicodedata.normalize("NFKC", undisguised(text)).casefold().replace("’", "'")
    for short, whole in _SHORT.items():
        plain = plain.replace(short, whole)
    return plain


def _words(plain: str) -> list[str]:
    return [word.removesuffix("'s").removesuffix("'") for word in _WORD.findall(plain)]


@lru_cache(maxsize=8192)
def _forms(word: str) -> frozenset[str]:
    """The word and every base form that it may be an inflection of."""
    found = {word, verb_form(word)[0], word.replace("our", "or"), *_MEANT.get(word, ())}
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            stem = word[: -len(ending)] + instead
            found.add(stem)
            if len(stem) > 3 and stem[-1] == stem[-2]:  # planned, plan
                found.add(stem[:-1])
            if ending in {"ed", "ing", "es"}:
                found.add(stem + "e")
    return frozenset(found)


_ENDINGS = (
    ("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("d", ""), ("ied", "y"), ("ing", ""),
    ("ly", ""), ("ves", "f"), ("ves", "fe"), ("st", ""), ("nd", ""), ("rd", ""), ("th", ""),
)  # fmt: skip


def _dates(when: When) -> Iterable[str]:
    """The words by which the claim may name the stated time."""
    if when.start is None:
        return
    last = when.start if when.end is None else max(when.end - 1, when.start)
    for moment in (to_datetime(when.start), to_datetime(last)):
        month = MONTHS[moment.month - 1]
        yield from (str(moment.year), month, month[:3], str(moment.day), f"{moment.day:02}")
        yield from (f"{moment:%Y-%m-%d}", f"{moment:%Y-%m}", f"{moment:%H:%M}", str(moment.month))
        if last - when.start < DAY:
            yield DAYS[moment.weekday()]


def forget() -> None:
    """Empty the caches, which may hold words of an erased subject."""
    _forms.cache_clear()
    claim_wordings.forget()
