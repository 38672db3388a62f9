"""Finds the text that a turn hands over to be worked on: somebody's mail, an advert, a draft, an
exercise, a song. Pure.

What is asked may stand before the text ("shorten this: …"), behind it ("… — too harsh?"), or
nowhere, where only its form tells that it is a letter or a table. What the speaker tells before it
stays theirs, and so does what they tell once they come back ("its for my choir, …"). The marks are
data (`rules/handed_texts.yaml`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import itemgetter

from beliefledger.gate.cues import Cues
from beliefledger.gate.literals import lowered
from beliefledger.gate.sentences import sentences
from beliefledger.ledger.late_patterns import compile_later

_CUES = Cues("rules/handed_texts.yaml")
_OPENED = _CUES.table("opened")
_ASKED = _CUES.table("asked")
_MARKED = _CUES.guarded("marked")
_WHOLE = _CUES.guarded("whole")
_RETURNED = _CUES.guarded("returned")
_CLOSED = _CUES.guarded("closed")
_CLOSED_WEAKLY = _CUES.guarded("closed_weakly")
_GREETED = _CUES.guarded("greeted")
_TITLED = _CUES.guarded("titled")
_SIGNED = _CUES.guarded("signed")
_EARLY = 240
"""Within so many characters of its beginning a turn says that a text follows."""
_TAIL = 160
"""In so many characters at its end a turn says what is to be done with the text before."""
_ASK = 120
"""The longest such ask behind a text, in characters."""
_LEAST = 4
"""So many words make a text that is handed over."""
_PARTED = compile_later(r"\n++|\s-{1,3}\s|\s?[–—]\s?|\s\^{1,3}|\s\(|\s>{2,3}|[\"”] ")
_OFF = compile_later(
    r"[\"“”]|\b(?:this|these|that|following|says?|said|wrote|writes|sent|texted|asked|error|"
    r"message)\b[^:\n]{0,24}:(?!\d)",
    re.I,
)
"""Where marks or a colon tell already what is handed over, the words around are the speaker's."""
_ROW = compile_later(r"^[^,;\t\n]{0,60}(?:[,;\t](?! )[^,;\t\n]{0,60}){1,20}$", re.M)
_OVER = compile_later(r"\s-{2,3}\s|\n[^\S\n]{0,4}\n(?=[^\n]{0,120}\?\s?\Z)")
"""Where a letter is over and something is asked of it."""
_STATES = compile_later(
    r"\b(?:i|i'm|im|i've|ive|me|we|us|is|are|was|has|have|had|lives?|works?|moved|and)\b", re.I
)
"""What tells something beside what the text is."""
_QUOTED = compile_later(r"\"(?![\s\"])[^\"\n]{1,2000}+\"|“[^”\n]{1,2000}+”")
_STARTS = compile_later(r"(?<=[\w,)\"”][.!?])\s{1,3}(?=\w)|\n(?=\w)")
_WORD = compile_later(r"[^\W_][\w'-]*")


def handed(text: str) -> Iterator[tuple[int, int]]:
    """The ranges [start, end) of a turn that are a text to be worked on, in no order."""
    flat = text.replace("’", "'")
    low = lowered(flat)
    shown = _WHOLE.search(flat, low)
    if shown is not None:
        at = shown.start()
        marked = (each.span() for each in _QUOTED.finditer(flat))
        # Between quotation marks it is of that text alone.
        yield next((each for each in marked if each[0] <= at < each[1]), (0, len(text)))
        return
    yield from _rows(flat)
    yield from _questions(flat, low)
    letter = _letter(flat, low)
    if letter is not None:
        yield letter
    begun = _begin(flat, low)
    if begun is None:
        end = _end(flat)
        if end is not None:
            yield 0, end
    elif flat[begun[1]] not in "\"“'‘":  # the marks tell where it ends
        said, begin = begun
        # What only says what the text is begins what is read of it.
        own = _STATES.search(flat, said, begin) is not None
        yield begin if own else said, _return(flat, begin)


def _begin(text: str, low: str) -> tuple[int, int] | None:
    """Where it is announced that a text follows, and where that begins."""
    found: list[tuple[int, int]] = []
    for at in [0, *(each.end() for each in _STARTS.finditer(text, 0, _EARLY))]:
        early, lower = text[at : at + _EARLY], low[at : at + _EARLY]
        possible = (each.pattern.pattern for each in _OPENED.possible(lower))
        ends = [match.end() for each in possible if (match := each.search(early))]
        found += [(at, at + end) for end in ends]
    marked = _MARKED.search(text, low)
    if marked is not None:
        found.append(marked.span())
    texts = [(at, _word_from(text, end)) for at, end in found if _is_text(text, end)]
    return min(texts, key=itemgetter(1), default=None)


def _word_from(text: str, begin: int) -> int:
    """Where what is written begins, from an offset on."""
    return begin + len(text[begin:]) - len(text[begin:].lstrip())


def _questions(text: str, low: str) -> Iterator[tuple[int, int]]:
    """The rest of a sentence that asks something of the words in it: "who sings …"."""
    for start, end in sentences(text[:_EARLY]):
        sentence, lower = text[start:end], low[start:end]
        if any(each.pattern.pattern.search(sentence) for each in _ASKED.possible(lower)):
            yield start, end


def _is_text(text: str, begin: int, end: int | None = None) -> bool:
    near = min(len(text), begin + _EARLY) if end is None else end
    return len(_WORD.findall(text, begin, near)) >= (_LEAST if end is None else 2 * _LEAST)


def end_of(text: str, begin: int) -> int:
    """Where a text ends that begins at an offset: with its quotation marks, or where the speaker
    comes back, or with the turn."""
    opened = (begin - 1, _word_from(text, begin))
    quoted = next((found for at in opened if (found := _QUOTED.match(text, at))), None)
    return _return(text.replace("’", "'"), begin) if quoted is None else quoted.end()


def _return(text: str, begin: int) -> int:
    """Where the speaker comes back after a text."""
    found = _RETURNED.pattern.search(text, begin + 1)
    return len(text) if found is None else found.end()


def _end(text: str) -> int | None:
    """Where a text ends that a turn begins with, and asks something of."""
    if _OFF.search(text) is not None:
        return None
    begin = max(0, len(text) - _TAIL)
    for mark in reversed(list(_PARTED.finditer(text, begin))):
        tail = text[mark.end() :]
        if len(tail) <= _ASK and _CLOSED.search(tail, lowered(tail)) is not None:
            return mark.start()
    tail = text[begin:]
    asked = _CLOSED_WEAKLY.search(tail, lowered(tail))
    if asked is None or not _is_text(text, 0, begin + asked.start()):
        return None
    return begin + asked.start()


def _letter(text: str, low: str) -> tuple[int, int] | None:
    """A letter: from its greeting to the name at its end, or to the end where only somebody else
    is greeted so."""
    greeted = _GREETED.search(text, low)
    if greeted is not None:
        signed = _SIGNED.search(text[greeted.end() :], low)
        if signed is not None:
            return greeted.start(), greeted.end() + signed.end()
    titled = _TITLED.search(text, low)
    if titled is None:
        return None
    over = _OVER.search(text, titled.end())
    return titled.start(), over.start() if over else _return(text, titled.end())


def _rows(text: str) -> Iterator[tuple[int, int]]:
    """The lines of a table that commas or the like part without a space."""
    rows = [found.span() for found in _ROW.finditer(text)] if "\n" in text else []
    if len(rows) > 1:
        yield rows[0][0], rows[-1][1]
