"""Where a text holds the words that restore a wallet: its seed phrase.

The words are ordinary ones, so no shape gives them away. Two things do: somebody says that they
come, or twelve of them in a row are all of the list that wallets draw from (BIP-39). The list is
fixed by that standard and will not change, so it is kept here and not taken from a package.
`seed_words.txt` is the English list as in the package mnemonic 0.21 (MIT licence, © Pavol Rusnak).

What is asked for is the lower case of the text as folded.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from importlib.resources import files
from itertools import dropwhile
from typing import NamedTuple

from beliefledger.ledger.late_patterns import compile_later

_PLACES = {
    word: place
    for place, word in enumerate(
        files("beliefledger.ledger").joinpath("seed_words.txt").read_text(encoding="ascii").split()
    )
}
WORDS = frozenset(_PLACES)
LEAST, MOST = 12, 24

MASK = "\ue000"
"""Stands for each character of a placeholder: no phrase goes across one."""

_LETTERS = r"[^\W\d_]+"
_LABEL = r"(?:words?|row|line|number)[ \t\"'#._-]{0,3}[0-9]"
_WORD = compile_later(rf"(?<![^\W\d_])(?!{_LABEL}|then\b){_LETTERS}")
"""A word that may be one of a phrase, and no label such as "word 7:"."""
_RUN_WORD = compile_later(rf"(?<![^\W\d_])(?!{_LABEL}|(?:then|and)\b){_LETTERS}")
_ASCII = compile_later("[a-z]+")
_OR_BETWEEN = WORDS | frozenset("then and word words row line number".split())
_SHORTEST = 4 * LEAST
"""How long twelve words of the list are at least, each with what stands before the next."""
_GAP, _BLANKS = 16, 200
"""How far apart two words of a phrase may be: a number, a bullet and a line's indentation; with the
blanks between columns."""

# What holds sentences together and no wallet draws.
_GRAMMAR = (
    frozenset(
        """
    a an the and or but nor so if as than because of to in on at by for from into is am are was were
    be been being it its it's he she they them his her their my mine me we us our i i'm i've i'll do
    does did don't has have had not no never which who how him anyone someone nobody nothing these
    those there here also too very please when while where would could might may
    """.split()
    )
    - WORDS
)

_NUMBER = r"(?:12|15|18|21|24|twelve|fifteen|eighteen|twenty[- ]?one|twenty[- ]?four)"
_CUE = compile_later(
    rf"\b(?:(?:{_NUMBER}[ -])?words?\s(?:of|for|to|from)\s(?:my|the|our|his|her|their|your)\s"
    r"(?:[\w-]{1,20}\s){0,2}?wallet|"
    rf"(?:{_NUMBER}[ -])?(?:(?:secret|seed|wallet|recovery|restore|backup|mnemonic|crypto|bip-?39)"
    r"[ _-]?){1,4}(?:phrases?|words?|seeds?|codes?|list)|"
    r"mnemonics?(?! (?:aid|devic|techni|tool|rhyme|strateg|method|system))|seedphrases?|seed|"
    rf"{_NUMBER}[ -]words?(?:[ -](?:phrase|seed|list|key))?)\b"
)
_UNSURE = compile_later(rf"seed|mnemonics|{_NUMBER}[ -]words?")
"""What other things than wallets have, too."""
_HINTS = ("phrase", "mnemonic", "seed", "wallet", "word")
_LEAD = r"(?:[ \t]{0,2}\([^()\n]{1,40}\))?(?:[ \t]{1,3}[\w'-]{1,20}){0,7}?"
_OPEN = r"[\s\"'`(\[{*_-]{0,8}"
_ANNOUNCED = compile_later(
    rf"(?:['\"*`\]]{{0,3}}{_LEAD}\s{{0,3}}(?::=|=>|->|[:=]|-{{1,2}}(?=\s)|[\"`(\[{{])|"
    rf"[ \t]{{0,3}}\n|{_LEAD}\s{{1,3}}(?=1[.):]))" + _OPEN
)
_SAID = compile_later(
    rf"(?:{_LEAD}\s{{1,3}}(?:is|are|was|were|reads?|goes|being|as|with|of|es|ist)|'s)\b\s{{1,3}}"
    + _OPEN
)
_BESIDE = compile_later(r"\s{1,3}" + _OPEN)
_ENDS = compile_later(r"(?<![0-9])[.!?](?=\s)|\n[ \t]*\n")
"""Where a sentence ends, and with it what can be a list; the full stop of "1." ends none."""
_LABELS = compile_later(r"(?<![0-9])[:=>]")
_RUN_OF_BLANKS = compile_later(r"[ \t]+")
_LISTED = compile_later(r"[,;|\n0-9]")


class _Word(NamedTuple):
    start: int
    end: int
    word: str
    before: str
    """What stands between it and the word before it."""


def phrases(lowered: str) -> Iterator[tuple[int, int]]:
    """The offsets of each phrase: announced, or known by its words."""
    yield from _runs(lowered)
    if not is_hinted(lowered):
        return
    for cue in _CUE.finditer(lowered):
        surely = not _UNSURE.fullmatch(cue.group())
        for pattern, said in ((_ANNOUNCED, "announced"), (_SAID, "said"), (_BESIDE, "beside")):
            begins = pattern.match(lowered, cue.end())
            if begins is not None:
                taken = _taken(_list(lowered, begins.end()), said if surely else "beside")
                if taken:
                    yield taken


def may_hold(lowered: str) -> bool:
    """Whether a text may hold a phrase; without it, `phrases` finds none."""
    return is_hinted(lowered) or _has_runs(lowered)


def is_hinted(lowered: str) -> bool:
    """Whether a text has a word that may announce a phrase."""
    return bool([hint for hint in _HINTS if hint in lowered])  # quicker than one after the other


def listed(lowered: str) -> int:
    """How many words of the list a text has, with those that may stand between them."""
    return sum(map(_OR_BETWEEN.__contains__, _ASCII.findall(lowered)))


def _has_runs(lowered: str) -> bool:
    """Whether a text may have twelve words of the list in a row."""
    # The plain pattern takes half the time, and finds every run with what may stand between.
    return len(lowered) >= _SHORTEST - 1 and _has_run(_ASCII.findall(lowered), _OR_BETWEEN)


def _runs(lowered: str) -> Iterator[tuple[int, int]]:
    """Twelve and more words of the list in a row, however they are set out."""
    if not _has_runs(lowered):
        return
    if not _has_run(_RUN_WORD.findall(lowered), WORDS):
        return
    run: list[re.Match[str]] = []
    for match in _RUN_WORD.finditer(lowered):
        known = match.group() in WORDS
        if known and (not run or _near(lowered[run[-1].end() : match.start()])):
            run.append(match)
            continue
        yield from _of_run(lowered, run)
        run = [match] if known else []
    yield from _of_run(lowered, run)


def _has_run(words: list[str], known: frozenset[str]) -> bool:
    """Whether twelve words in a row are known."""
    # Of any twelve in a row one has such a number, so that few of the words need to be looked at.
    for n in range(LEAST - 1, len(words), LEAST):
        if words[n] in known:
            first = last = n
            while first and n - first < LEAST and words[first - 1] in known:
                first -= 1
            while last - first < LEAST and last + 1 < len(words) and words[last + 1] in known:
                last += 1
            if last - first + 1 >= LEAST:
                return True
    return False


def _near(between: str) -> bool:
    if len(between) > _GAP:
        between = _RUN_OF_BLANKS.sub(" ", between) if len(between) <= _BLANKS else between
    return len(between) <= _GAP and MASK not in between


def _of_run(lowered: str, run: list[re.Match[str]]) -> Iterator[tuple[int, int]]:
    for n in range(1, min(len(run) - LEAST + 1, 5)):  # "wallet phrase:" is of the list itself
        if _LABELS.search(lowered, run[n - 1].end(), run[n].start()):
            run = run[n:]
            break
    words = [match.group() for match in run]
    # Sentences and tables repeat their words; what is drawn at random hardly does.
    if len(words) >= LEAST and (10 * len(set(words)) >= 9 * len(words) or _adds_up(words)):
        yield run[0].start(), run[-1].end()


def _adds_up(words: list[str]) -> bool:
    """Whether the words are a phrase by their checksum."""
    if len(words) % 3 or not LEAST <= len(words) <= MOST:
        return False
    number = 0
    for word in words:
        number = number * len(_PLACES) + _PLACES[word]
    bits = len(words) // 3
    entropy = (number >> bits).to_bytes(4 * bits, "big")
    return hashlib.sha256(entropy).digest()[0] >> (8 - bits) == number % (1 << bits)


def _list(lowered: str, at: int) -> list[_Word]:
    """The words from here on that may be one list, as many as a phrase has at most."""
    found: list[_Word] = []
    for match in _WORD.finditer(lowered, at, at + MOST * (_GAP + 64)):
        before = lowered[at : match.start()]
        if not _near(before) or (found and _ENDS.search(before)):
            break
        found.append(_Word(match.start(), match.end(), match.group(), before))
        at = match.end()
        if len(found) == MOST:
            break
    return found


def _taken(words: list[_Word], said: str) -> tuple[int, int] | None:
    """Which of the words are the phrase: twelve whatever they are, unless they only tell of one,
    and those after them that go on in the same way."""
    if said == "beside":
        words = list(dropwhile(lambda each: each.word in _GRAMMAR, words))
    count = _whole(words, said) if len(words) >= LEAST else 0
    if not count and said != "beside":
        count = _part(words)
    return (words[0].start, words[count - 1].end) if count else None


def _whole(words: list[_Word], said: str) -> int:
    first = words[:LEAST]
    listed = sum(_LISTED.search(each.before) is not None for each in first[1:]) >= LEAST - 3
    known = sum(each.word in WORDS for each in first)
    grammar = sum(each.word in _GRAMMAR for each in first)
    if said == "beside":
        taken = known >= LEAST - 2
    else:
        taken = listed or grammar < (5 if said == "announced" else 3)
    if not taken:
        return 0
    count = LEAST
    while count < len(words) and (
        words[count].word in WORDS
        if not listed
        else _LISTED.search(words[count].before) is not None
    ):
        count += 1
    return count


def _part(words: list[_Word]) -> int:
    """Some words of a phrase: three and more, two thirds of them of the list."""
    count = known = 0
    for n, each in enumerate(words[:LEAST], 1):
        if each.word in _GRAMMAR:
            break
        known += each.word in WORDS
        if each.word in WORDS and known >= 3 and 3 * known >= 2 * n:
            count = n
    return count
