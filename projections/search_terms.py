"""From words to terms: what lexical search compares. The only module that knows the stemmer."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable

from Stemmer import Stemmer

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
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
