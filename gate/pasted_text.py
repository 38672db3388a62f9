"""Finds what a speaker quotes or pastes: quotations, code, documents."""

from __future__ import annotations

import re
from collections.abc import Iterator

from beliefledger.gate.handed_texts import end_of
from beliefledger.ledger.late_patterns import compile_later

_FENCE = compile_later(r"```.*?(?:```|\Z)", re.S)
_QUOTED = compile_later(r"(?<![\w\"])\"(?![\s\"])[^\"\n]{1,2000}+\"")
_MARK = compile_later(r"[“”\n]")
_LONGEST_QUOTE = 2000
_SINGLE = compile_later(
    r"(?<![\w'’‘])['‘](?=[A-Za-z])[^'’\n]{1,200}(?:['’][a-z]{1,2}\b[^'’\n]{0,200}){0,6}['’](?!\w)"
)
_CITED_LINE = compile_later(r"^[ \t]*(?:>|\||\$ |#{1,6} ).*$", re.M)
_LISTED_LINE = compile_later(r"^[ \t]*(?:\d{1,3}[.)]|[-*•–])[ \t]+.*$", re.M)
_FIRST_PERSON = compile_later(r"\b(?:i|my|me|we|our)\b", re.I)

# "Rewrite this:", "here is my essay:" and what follows to the end of the turn.
_HANDED_OVER = compile_later(
    r"\b(?:rewrite|rephrase|paraphrase|translate|summari[sz]e|proof-?read|edit|improve|correct|fix|"
    r"review|continue|complete|analy[sz]e|polish|shorten|check|grade|critique|expand|finish|format|"
    r"convert|classify|extract|following|below|pasted?|email|e-mail|essay|letter|text|paragraph|story|"
    r"article|poem|lyrics|transcript|draft|abstract|passage|excerpt|statement|prompt|script|post|"
    r"message|resume|cv|bio|dialogue|conversation|review)\b[^\n:]{0,120}:"
    r"[ \t]*(?:\n|[\"“']|(?=\S{1,40} ))",
    re.I,
)
_LETTER = compile_later(r"^[ \t]*(?:dear|hi|hello|hey)\s+[A-Z\[][^\n]{0,40},?[ \t]*\n", re.M | re.I)
# "tldr this pls >> …", and a letter in one line: "from the school: Dear parents, … Yours, Ola".
_ARROWED = compile_later(
    r"\A(?![^\n>]{0,120}\b(?:i|i['’]?m|i['’]?ve|we)\b)[^\n.!?>]{0,80}?\b(?:this|that|these|tl;?dr|"
    r"fwd?|forwarded|from (?:the|my|our|a)|below|note|letter|mail|"
    r"e-?mail|message|msg|text|notice|grammar|spelling|typos|summary|summari[sz]e|translate|"
    r"translation|proof-?read|shorten|rewrite|reword|rephrase|reply|explain|meaning|"
    r"decode|english|french|spanish|german|hindi|arabic)\b[^\n>]{0,40}(?:>{2,}|<{2,}|={2,}>|-{2,}>)"
    r"[ \t]*(?=\S+(?:\s+\S+){3})",
    re.I,
)
_LETTER_IN_LINE = compile_later(
    r"(?:(?<=[:;>–—.!?\"“-] )|(?<=[:;>–—\"“-]))(?:dear [^\n,:;.]{2,30}[,:;.]|"
    r"from: ?[^\n.]{2,40}[.,;]|subject: ?[^\n.]{2,60}[.,;])",
    re.I,
)
_SIGNED_IN_LINE = compile_later(
    r"[.!?,;] (?:(?:best|kind|warm|many) regards|regards|best wishes|sincerely|yours(?: truly| "
    r"faithfully| sincerely)?|thanks|many thanks|cheers|best|management|signed)[,.]? [–—-]?\s*"
    r"(?=[A-Z])(?-i:[A-Z])",
    re.I,
)
_SPEAKER_LINE = compile_later(r"^[ \t]*[A-Z][\w .]{0,24}:[ \t]+\S.*$", re.M)
_SIGNED = compile_later(
    r"^[^\S\n]*+(?:(?:(?:best|kind|warm)\s*+)?regards|sincerely|cheers|"
    r"yours (?:truly|faithfully|sincerely))\b",
    re.M | re.I,
)

LONG = 1500
"""Above this many characters a turn of several paragraphs is a document, not talk."""


def pasted(text: str) -> list[tuple[int, int]]:
    """The ranges [start, end) that quote somebody, or hand over a document to work on."""
    found: list[tuple[int, int]] = []
    if '"' in text or "“" in text:
        found += _quotations(text)
    if "'" in text or "‘" in text:
        found += [match.span() for match in _SINGLE.finditer(text) if " " in match.group()]
    if ":" in text:
        handed = _HANDED_OVER.search(text)
        if handed is not None:
            found.append((handed.end(), end_of(text, handed.end())))
    if ">" in text or "<<" in text:
        arrowed = _ARROWED.match(text)
        if arrowed is not None:
            found.append((arrowed.end(), len(text)))
    letter = _LETTER_IN_LINE.search(text) if "ear " in text or ":" in text else None
    if letter is not None:
        signed = _SIGNED_IN_LINE.search(text, letter.end())
        if signed is not None:
            found.append((letter.start(), signed.end()))
    if len(text) > 2 * LONG:
        # Nobody types this much about themselves in one go.
        found.append((LONG // 2, len(text)))
    if "\n" in text:
        found += _blocks(text)
    return found


def _quotations(text: str) -> Iterator[tuple[int, int]]:
    """The ranges in double quotation marks of either kind; where two overlap, the first. A
    quotation opened by “ ends at the end of its line at the latest."""
    opened = _opened(text) if "“" in text else iter(())
    curly, plain = next(opened, None), _QUOTED.search(text)
    while curly or plain:
        if plain is None or (curly is not None and curly[0] < plain.start()):
            assert curly is not None
            span = curly
        else:
            span = plain.span()
        yield span
        while curly is not None and curly[0] < span[1]:
            curly = next(opened, None)
        if plain is not None and plain.start() < span[1]:
            plain = _QUOTED.search(text, span[1])


def _opened(text: str) -> Iterator[tuple[int, int]]:
    """The ranges from each “ to its closing mark, if that is near. Each mark is looked at once, so
    the cost is linear."""
    waiting: list[int] = []
    for mark in _MARK.finditer(text):
        if mark[0] == "“":
            waiting.append(mark.start())
            continue
        yield from _ended(waiting, mark.start(), mark.end())
        waiting = []
    yield from _ended(waiting, len(text), len(text))


def _ended(waiting: list[int], close: int, end: int) -> Iterator[tuple[int, int]]:
    return ((at, end) for at in waiting if 1 <= close - at - 1 <= _LONGEST_QUOTE)


def _blocks(text: str) -> list[tuple[int, int]]:
    found = [match.span() for match in _FENCE.finditer(text)]
    found += [match.span() for match in _CITED_LINE.finditer(text)]
    found += [match.span() for match in _LISTED_LINE.finditer(text)]
    speakers = [match.span() for match in _SPEAKER_LINE.finditer(text)]
    if len(speakers) > 1:
        found += speakers
    letter = _LETTER.search(text)
    if letter is not None and (letter.start() > 0 or _SIGNED.search(text)):
        found.append((letter.start(), len(text)))
    if len(text) > LONG and text.count("\n") > 3:
        # The speaker's own words come first; what follows the first break is the document.
        found.append((text.index("\n"), len(text)))
    return found
