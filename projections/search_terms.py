"""From words to terms: what lexical search compares. The only module that knows the stemmer."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable

from Stemmer import Stemmer

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?\n]*")
_SUPPOSES = re.compile(
    r"\b(?:if (?:i|we|my|our|only|money|it)\b|i wish\b|imagine\b|suppose\b|pretend\b)"
)
_ASKS = re.compile(
    r"^\W*(?:(?:so|ok|okay|and|also|btw|hey|hi|please|pls|plz|just|quick question|question|oh|well|now|then|anyway|one more)\b\W*){0,3}"
    r"(?:(?:can|could|would|will) (?:u|you|ya)\b|do (?:you|u) (?:know|have|think)\b|should (?:i|we)\b|(?:is|are) there (?:a|an|any)\b"
    r"|(?:what|where|who|why|which|how)(?:['’]?s| is| are| was| should| do| does| did| can| could| would| long| much| many| far| old)\b(?! happened)"
    r"|any (?:good )?(?:ideas?|tips?|jokes?|recommendations?|suggestions?|advice)\b|(?:what if|suppose|imagine)\b"
    r"|(?:give|tell|show|make|draft|write|find|help|teach) me\b|(?:i|we) (?:could|would) (?:use|like) (?:a|an|some)\b|i need (?:a|an|some) (?:\w+ ){0,2}(?:ideas?|names?|joke|riddle|poem|recipe)\b"
    r"|(?:write|draft|suggest|recommend|explain|translate|summari[sz]e|compose|generate|rewrite|proofread|invent|list|brainstorm|make) (?:a|an|some|the|this|up|it|\d+|five|three|ten)\b(?! (?:\d|now)))"
)
"""How a sentence begins that asks for something, with or without a question mark …"""
_ASKING = re.compile(
    r"\b(?:can|could|would|will|should|what|whats|where|who|whos|why|which|how|any|suppose|imagine|give|tell|show|make|draft|write|find|help|teach|suggest|recommend|explain"
    r"|translate|compose|generate|rewrite|proofread|invent|list|brainstorm|there|do you|do u|i need|summari[sz]e)\b"
)
"""… and a cheap look for one."""
_WOULD = re.compile(r"(?<!if i)(?<!if we)['’]d\b|\b(?:would|could|might)\b")
_ENDING = re.compile(r"'(?:s|ll|re|ve|d|m)$")
"""Endings of possessives and shortened verbs: “she'll” is no shell."""
_STEMS: dict[str, str] = {}
_MOST_STEMS = 200_000
_local = threading.local()
STOP_WORDS = frozenset(
    """a an and are as at be been but by can could did do does for from had has have he her his how
    i if in into is it its me my of on or our she should so than that the their them then there
    these they this those to us was we were what when where which who whom whose why will with
    would you your""".split()
)
"""Words too common to tell texts apart. A text of nothing else is compared by them all."""


def words(text: str) -> list[str]:
    """The words of a text, in lower case, without what makes them possessive and without
    shortened verbs."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)  # an é is an é, however it was typed
    return [_bare(found) for found in _WORD.findall(text.lower())]


def terms(text: str) -> list[str]:
    """The stems of a text's words (Snowball, English), without stop words."""
    return stems(word for word in words(text) if word not in STOP_WORDS)


def stated(text: str) -> int:
    """How many terms a text has outside its questions, and outside what it only imagines: "If I
    won, I'd move to Barbados"."""
    lowered = text.lower()
    if "?" not in text and _SUPPOSES.search(lowered) is None and _ASKING.search(lowered) is None:
        return len(terms(text))
    return sum(len(terms(each)) for each in _SENTENCE.findall(lowered) if not _is_open(each))


def _is_open(sentence: str) -> bool:
    """Whether a sentence in lower case asks, or tells what would be."""
    return "?" in sentence or _ASKS.search(sentence) is not None or (
        _SUPPOSES.search(sentence) is not None and _WOULD.search(sentence) is not None
    )


def asked(text: str) -> list[str]:
    """The terms of a query, each once."""
    return list(dict.fromkeys(indexed(text)))


def indexed(text: str) -> list[str]:
    """The terms of a text; its stop words if it has nothing else."""
    return terms(text) or stems(words(text))


def stems(found: Iterable[str]) -> list[str]:
    kept = _STEMS
    return [kept.get(word) or _stem(word) for word in found]


def forget() -> None:
    """Empty the cache, which may hold words of an erased subject."""
    _STEMS.clear()


def _bare(word: str) -> str:
    if "'" in word or "’" in word:
        return _ENDING.sub("", word.replace("’", "'")).replace("'", "")
    return word


def _stem(word: str) -> str:
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:  # one is not safe in several threads
        stemmer = _local.stemmer = Stemmer("english", 0)  # keeps no words itself
    if len(_STEMS) >= _MOST_STEMS:
        _STEMS.clear()
    stem: str = _STEMS.setdefault(word, stemmer.stemWord(word))
    return stem
