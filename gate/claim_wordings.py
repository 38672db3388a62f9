"""The words of a claim and of what was said, brought to one form. Pure.

Contractions are written out, short forms and phrases are one word, numbers are digits; a word is
compared by its base forms and its groups of synonyms, as `wordings.yaml` has them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Any

from beliefledger.gate.claim_words import sort_of
from beliefledger.gate.rules.lexicon import Form, verb_form
from beliefledger.ledger.data_files import data
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.lookalikes import undisguised

_NOT = compile_later(r"n't\b")
_PARTED = compile_later(r"[-/.&']")
_SUFFIX = compile_later(r"(?<=\w)'(?:s|m|re|ve|ll|d)\b|(?<=s)'(?!\w)")
_CALLED = compile_later(r"\b(he|she|it)'s(?= (?:called|named)\b)")
_TOGETHER = compile_later(r"\bme and (?:my|our) [^\W\d_]+\b|\b(?:my|our) [^\W\d_]+ and (?:i|me)\b")
_LONG = {"'m": " am", "'re": " are", "'ve": " have", "'ll": " will", "'d": " would"}
_TOKEN = compile_later(
    r"\d[\d.,:/]*\d|\d|[^\W\d_][^\W_]*(?:[-.&+/#'][^\W_]+)*[+#]*|[$€£%]|[.,;:!?()–—\n]"
)
CUT = frozenset(".,;:!?()–—\n") | frozenset("but and because so while though although".split())
_DIGIT = compile_later(r"\d")
_ORDINAL = compile_later(r"(?<=\d)(?:st|nd|rd|th)\b")
_THOUSANDS = compile_later(r"(?<=\d),(?=\d{3}(?!\d))")
_KILO = compile_later(r"\b(\d{1,4}(?:\.\d)?)k\b")
TIMED = compile_later(
    r"\d|\b(?:yesterday|today|tonight|tomorrow|ago|last|next|this|since|until|till|week|month|year|"
    r"day|morning|noon|evening|night|spring|summer|autumn|fall|winter|christmas|easter|soon|now|"
    r"jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec|recently|couple)\w*|"
    r"\b(?:mon|tues?|wed|wednes|thu|thurs?|fri|sat|satur|sun)(?:day)?s?\b"
)


@dataclass(frozen=True)
class _Wordings:
    short: dict[str, str]
    phrases: dict[str, str]
    phrase: re.Pattern[str]
    heads: frozenset[str]
    """The words that phrases begin with: without one of them none is searched for."""
    alike: dict[str, frozenset[str]]
    light: frozenset[str]
    light_with: dict[str, frozenset[str]]
    """Words that add nothing where one of others was said."""
    unsure: frozenset[str]
    unsure_phrase: re.Pattern[str]
    intent_phrase: re.Pattern[str]
    past_phrase: re.Pattern[str]
    intent: frozenset[str]
    limiting: frozenset[str]
    tongues: dict[str, tuple[frozenset[str], frozenset[str]]]
    """Of each language its words, and those of them that deny."""


def _any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    longest = sorted(phrases, key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, longest))})\b")


@cache
def wordings() -> _Wordings:
    read: dict[str, Any] = data("beliefledger.gate", "wordings.yaml")
    alike: dict[str, set[str]] = {}
    for number, line in enumerate(read["alike"]):
        for word in line.split():
            alike.setdefault(word, set()).add(f"~{number}")

    def listed(name: str) -> re.Pattern[str]:
        return _any_of(each.strip() for each in read[name].split("|"))

    return _Wordings(
        short=read["short"],
        phrases=read["phrases"],
        phrase=_any_of(read["phrases"]),
        heads=frozenset(
            each.split()[0].partition("'")[0].partition("-")[0] for each in read["phrases"]
        ),
        alike={word: frozenset(groups) for word, groups in alike.items()},
        light=frozenset(read["light"].split()) | _GRAMMAR,
        light_with={word: frozenset(said.split()) for word, said in read["light_with"].items()},
        unsure=frozenset(read["unsure"].split()),
        unsure_phrase=listed("unsure_phrases"),
        intent_phrase=listed("intent_phrases"),
        past_phrase=listed("past_phrases"),
        intent=frozenset(read["intent"].split()),
        limiting=frozenset(read["limiting"].split()),
        tongues={
            name: (
                frozenset(each["words"].split() + each["not"].split()),
                frozenset(each["not"].split()),
            )
            for name, each in read["languages"].items()
        },
    )


DENIALS = frozenset("not no never none nobody nothing nowhere neither nor without".split())
_GRAMMAR = frozenset(
    "a an the and or but so as if than then i me my mine we us our ours you your he him his she her"
    " hers it its they them their theirs this that these those there here one ones is am are was"
    " were be been being had will would shall should can could s".split()
)
"""What grammar adds when words are retold."""


# --- Words, brought to one form ----------------------------------------------------------------


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """Lower case, contractions and short forms written out, phrases as one."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", undisguised(text)).replace("’", "'")
    text = text.casefold()
    text = _without_contractions(text) if "'" in text else together(text)
    known = wordings()
    text = " ".join([known.short.get(word, word) for word in _spaced(text)])
    if _DIGIT.search(text):
        text = _KILO.sub(lambda found: f"{float(found[1]) * 1000:.0f}", _THOUSANDS.sub("", text))
    if not known.heads.isdisjoint(text.replace("-", " ").split()):
        for _ in range(2):  # what stands for a phrase may be part of another
            text = known.phrase.sub(lambda found: known.phrases[found[0]], text)
    return text


def _without_contractions(text: str) -> str:
    text = text.replace("won't", "will not").replace("can't", "can not")
    text = text.replace("ain't", "is not").replace("shan't", "shall not")
    text = together(_CALLED.sub(r"\1 is", _NOT.sub(" not", text)))
    return _SUFFIX.sub(lambda found: _LONG.get(found[0], " "), text)


def together(text: str) -> str:
    """ "me and my husband" as "we"; `text` is in lower case."""
    return _TOGETHER.sub("we", text) if " and " in text else text


def _spaced(text: str) -> Iterable[str]:
    """Words apart from their punctuation."""
    for word in text.split():
        bare = word.strip('.,;:!?()"“”')
        if not bare or bare == word:
            yield word
        else:
            at = word.index(bare)
            if at:
                yield word[:at]
            yield bare
            yield word[at + len(bare) :]


@lru_cache(maxsize=4096)
def tokens_of(text: str) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(_ORDINAL.sub("", plain(text))))


@lru_cache(maxsize=16_384)
def forms(word: str) -> frozenset[str]:
    """Whatever a word may be compared by: its base forms and its groups of synonyms; of a number
    its digits alone."""
    number = number_of(word)
    if number is not None:
        return frozenset({number})
    known = wordings()
    found = {word, word.replace("our", "or"), word.replace("-", "")}
    lemma, _form = verb_form(word)
    found.add(lemma)
    found.update(each for each in sort_of(word).keys)
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            found.add(word[: -len(ending)] + instead)
    found |= {each[:-1] for each in tuple(found) if len(each) > 4 and each[-1] == each[-2]}
    found.update(*(known.alike.get(each, ()) for each in tuple(found)))
    return frozenset(found)


_ENDINGS = (
    ("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"),
    ("er", ""), ("er", "e"), ("or", ""), ("ly", ""), ("ist", ""), ("ment", ""), ("ion", ""),
    ("ion", "e"), ("ation", "e"), ("ation", ""), ("ence", "e"), ("ance", ""), ("ian", ""),
    ("ves", "f"), ("ves", "fe"), ("ied", "y"), ("ying", "ie"), ("y", ""), ("ies", ""), ("or", "e"),
    ("ing", "ing"), ("al", ""), ("ism", ""), ("ity", ""), ("ness", ""),
)  # fmt: skip
_COUNTS = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
        " fifteen sixteen seventeen eighteen nineteen twenty".split()
    )
} | {
    "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80",
    "ninety": "90", "hundred": "100", "thousand": "1000", "dozen": "12", "first": "1",
    "second": "2", "third": "3", "fourth": "4", "fifth": "5", "sixth": "6", "seventh": "7",
    "eighth": "8", "ninth": "9", "tenth": "10", "once": "1", "twice": "2",
}  # fmt: skip


def number_of(word: str) -> str | None:
    """A number as its digits; None for another word."""
    if word[0].isdigit():
        whole = word.rstrip(".,:/")
        return whole.lstrip("0") or "0"
    return _COUNTS.get(word)


def forms_in(text: str) -> frozenset[str]:
    """Whatever the words of a text may be compared by."""
    return frozenset(form for word in tokens_of(text) for form in forms(word))


# --- What is said ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """The words of the spans, made ready to compare a claim with."""

    quotes: tuple[str, ...]
    texts: tuple[str, ...]
    tokens: frozenset[str]
    known: frozenset[str]
    tongue: str | None
    """Another language than English; `?` for one without a list of words."""

    @staticmethod
    def of(quotes: Sequence[str]) -> Said:
        return _said(tuple(quotes))

    def has(self, word: str) -> bool:
        """Whether a word was said, in whatever form."""
        if not self.known.isdisjoint(forms(word)):
            return True
        parts = [part for part in _PARTED.split(word) if part]
        if len(parts) > 1 and all(
            part in wordings().light or not self.known.isdisjoint(forms(part)) for part in parts
        ):
            return True
        if self.tongue is not None and self._begins(word):
            return True
        return not _spelt(self.quotes).isdisjoint(forms(word))

    def bears(self, word: str) -> bool:
        """Whether a word adds nothing to what was said."""
        known = wordings()
        needed = known.light_with.get(word)
        return word in known.light or (needed is not None and not needed.isdisjoint(self.tokens))

    def _begins(self, word: str) -> bool:
        """Whether a word of another language was said with another ending."""
        if self.tongue == "?" and any(word in text for text in self.texts):
            return True
        least = max(3, len(word) * 3 // 5)
        return any(
            abs(len(each) - len(word)) <= 4 and each[:least] == word[:least]
            for each in self.tokens
            if len(each) >= least
        )


# A claim and its value are held to the same words, one after the other.
@lru_cache(maxsize=16)
def _said(quotes: tuple[str, ...]) -> Said:
    words = frozenset(token for quote in quotes for token in tokens_of(quote))
    parts = {part for word in words for part in _PARTED.split(word) if part}
    known = frozenset(form for word in words | parts for form in forms(word))
    return Said(quotes, tuple(map(plain, quotes)), words, known, tongue_in(words, quotes))


@lru_cache(maxsize=16)
def _spelt(quotes: tuple[str, ...]) -> frozenset[str]:
    """The forms of the words themselves, which what stands for a phrase hides: of "got engaged"."""
    words = {word for quote in quotes for word in _TOKEN.findall(quote.casefold())}
    return frozenset(form for word in words for form in forms(word))


def tongue_in(words: frozenset[str], quotes: Sequence[str]) -> str | None:
    text = "".join(quotes)
    letters = [] if text.isascii() else [char for char in text if char.isalpha()]
    mostly_odd = sum(ord(char) > 0x24F for char in letters) * 2 > len(letters)
    found = {name: len(words & each[0]) for name, each in wordings().tongues.items()}
    best = max(found, key=found.__getitem__)
    if mostly_odd:
        return best if found[best] else "?"
    english = len(words & _ENGLISH)
    if found[best] > english and (found[best] >= 2 or not english):
        return best
    if english:
        return None
    strange = any(ord(char) > 0x7F for char in letters)
    return "?" if strange or (any(map(str.isalpha, text)) and not _spelled(words)) else None


_ENGLISH = frozenset(
    "i i'm im my we our the a an is am are was have has had do does not and to of with for from at"
    " on it she he they you your this that me been be live work use".split()
)


def _spelled(words: frozenset[str]) -> bool:
    """Whether a verb or a function word of English is among the words."""
    return any(
        verb_form(word)[1] is not Form.NONE or sort_of(word).name != "content" for word in words
    )


def forget() -> None:
    """Empty the caches, which may hold words of an erased subject."""
    for cached in (plain, tokens_of, forms, _said, _spelt):
        cached.cache_clear()
