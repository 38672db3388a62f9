"""The text as patterns are to see it, and where each of its characters comes from.

A zero-width space in the middle of a card number, a Cyrillic letter in "password", a line separator
that looks like nothing: a reader sees the plain words, and a pattern would not. What is matched is
therefore a folded copy. What is kept is always the original, so each copy knows the offsets.

`fold` is for finding secrets: it is the same for every character, whatever stands beside it.
`plain` is for reading: it takes out what is invisible and folds only words that are disguised. A
word that is wholly Cyrillic or Greek stays as it is where the text is in that language.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache, cached_property

# --- Characters --------------------------------------------------------------------------------


def _characters(*ranges: tuple[int, int]) -> frozenset[str]:
    return frozenset(chr(code) for first, last in ranges for code in range(first, last + 1))


_BREAKS = frozenset("\v\f\x1c\x1d\x1e\x85\u2028\u2029")
"""What ends a line besides a newline."""
_SPACES = _characters((0x2000, 0x200A)) | frozenset("\xa0\u1680\u202f\u205f\u2800\u3000")
_MARKS = _characters(
    (0x300, 0x36F), (0x1AB0, 0x1AFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20FF), (0xFE20, 0xFE2F)
)
"""What is written over or under a letter, an overline or a circle."""
_JOINERS = _characters((0xFE00, 0xFE0F), (0x200C, 0x200D))
"""Variation selectors and joiners: invisible in Latin script, and part of other scripts' words."""


@cache
def _invisible() -> frozenset[str]:
    """What is not seen at all. As `_odd` it has thousands of characters, and most texts none."""
    return (
        _characters((0, 8), (0xE, 0x1B), (0x1F, 0x1F), (0x7F, 0x84), (0x86, 0x9F))  # controls
        | _characters((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F))  # zero width, bidi
        | _characters((0x180B, 0x180F), (0xFFF9, 0xFFFB), (0x1D173, 0x1D17A), (0x1BCA0, 0x1BCA3))
        | _characters((0xE0000, 0xE0FFF))  # tags, and more variation selectors
        | frozenset("\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u3164\ufeff\uffa0")
        | _JOINERS
    )


# Letters of other scripts that look like one of ours, in the fonts that people read.
_LOOKALIKES = {
    look: letter
    for letter, looks in {
        "a": "аɑαᴀꭺ⍺ӑӓ", "b": "Ььвʙᖯᏼ", "c": "сϲᴄⲥꮯ", "d": "ԁᴅꭰ", "e": "еҽєℯꬲᴇꭼε",
        "f": "ꜰꬵք", "g": "ɡցᶃɢԍ", "h": "һհᏂʜнꮋ", "i": "іɩιɪꭵӏї", "j": "јϳᴊ", "k": "кκᴋⲕ",
        "l": "ⅼǀʟ", "m": "мᴍꮇ", "n": "ոռɴη", "o": "оοσօᴏⲟഠⲟ", "p": "рρϱᴘⲣꮲ", "q": "ԛգզ",
        "r": "гᴦꭇꭈʀ", "s": "ѕꜱƽꮪ", "t": "тτᴛꭲ", "u": "υսᴜꭎʋꭒ", "v": "ѵνᴠꮩᴠ", "w": "ԝѡաᴡɯꮃω",
        "x": "хχⅹ᙮", "y": "уүγʏყ", "z": "ᴢꮓ",
        "A": "АΑᎪꓮᗅ", "B": "ВΒᏴꓐᗷ", "C": "СϹᏟꓚⲤ", "D": "ᎠꓓᗞᗪԀ", "E": "ЕΕᎬꓰℰ", "F": "ϜꓝᖴҒ",
        "G": "ԌᏀᏳꓖ", "H": "НΗᎻꓧⲎᕼ", "I": "ІΙӀꓲⲒᛁЇ", "J": "ЈͿᎫꓙᒍ", "K": "КΚᏦꓗⲔK", "L": "Ꮮꓡⳑᒪ",
        "M": "МΜϺᎷꓟⲘᗰ", "N": "ΝꓠⲚ", "O": "ОΟՕꓳⲞ", "P": "РΡᏢꓑⲢᑭ", "Q": "ԚႭ", "R": "ᎡᏒꓣᖇƦ",
        "S": "ЅՏᏕᏚꓢ", "T": "ТΤᎢꓔⲦ", "U": "ՍꓴᑌႮ", "V": "ѴᏙꓦᐯ", "W": "ԜᎳᏔꓪ", "X": "ХΧꓫⲬ᙭",
        "Y": "УΥҮᎩᎽꓬⲨϒ", "Z": "ΖᏃꓜ",
    }.items()
    for look in looks
}  # fmt: skip
_BADGES = {  # letters in squares and circles that Unicode gives no plain form of
    chr(first + n): chr(ord("A") + n) for first in (0x1F150, 0x1F170, 0x1F1E6) for n in range(26)
}


@cache
def _styled() -> frozenset[str]:
    """Letters and digits that are only another style of ours: bold, fullwidth, circled."""
    letters = _characters(
        (0xFF10, 0xFF19), (0xFF21, 0xFF3A), (0xFF41, 0xFF5A), (0x1D400, 0x1D7FF),
        (0x24B6, 0x24E9), (0x249C, 0x24B5), (0xFB00, 0xFB06), (0x2102, 0x2139),
        (0x1F110, 0x1F189), (0x1D2C, 0x1D6A),
    )  # fmt: skip
    return letters - frozenset("\u2116\u2121\u2122\u2126")


_SIGNS = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63", "-"),
    **dict.fromkeys("\u2018\u2019\u201b\u2032", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u2033\u00ab\u00bb", '"'),
    **dict.fromkeys("\u00b7\u2022\u2027\u2219", "."),
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},  # fullwidth
}


def _letters(char: str) -> str | None:
    """The plain letters that a character looks like, if there are any."""
    plain = _LOOKALIKES.get(char) or _BADGES.get(char)
    if plain is None:
        parts = unicodedata.normalize("NFKC", char).strip("().")
        parts = "".join(_LOOKALIKES.get(part, part) for part in parts)
        plain = parts if parts != char and parts.isascii() and parts.isalnum() else None
    return plain


def _folded(char: str) -> str:
    """What `fold` makes of one character."""
    if char in _invisible() or char in _MARKS:
        return ""
    if char in _BREAKS:
        return "\n"
    # Private characters mean nothing to anybody, so that patterns may use them as marks of theirs.
    if char in _SPACES or "\ue000" <= char <= "\ue0ff":
        return " "
    sign = _SIGNS.get(char)
    if sign is not None:
        return sign
    digit = unicodedata.digit(char, None)
    if digit is not None:
        return str(digit)
    if char in "\u0130\u0131":  # of Turkish, which reading keeps
        return "I" if char == "\u0130" else "i"
    return _letters(char) or char


class _Table(dict[int, str]):
    """`_folded` of each character that was met, for `str.translate`."""

    def __missing__(self, code: int) -> str:
        made = _folded(chr(code))
        if len(self) < 20_000:  # nobody can fill the memory with it
            self[code] = made
        return made


_TABLE = _Table()
_UNUSUAL = re.compile(r"[^\t\n\r -~]+")
_USUAL = re.compile(r"[\t\n\r -~]*+")
_USUAL_BUT_RETURN = re.compile(r"[\t\n -~]*+")

# --- Texts -------------------------------------------------------------------------------------


class Folded:
    """A text as patterns see it. Offsets are of code points, as everywhere."""

    def __init__(
        self, source: str, text: str, starts: list[int] | None, genuine: dict[str, str]
    ) -> None:
        self.source = source
        self.text = text
        self._given = starts
        self._genuine = genuine
        """Words that were folded and are whole words of another script, as they stand there."""

    @property
    def same(self) -> bool:
        return self.text is self.source

    @cached_property
    def _starts(self) -> list[int]:
        """Where each character of `text` stands in the source, and where the source ends."""
        if self._given is not None:
            return self._given
        starts: list[int] = []
        for at, char in enumerate(self.source):
            starts += [at] * len(_TABLE[ord(char)] if _UNUSUAL.match(char) else char)
        starts.append(len(self.source))
        return starts

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where the characters [start, end) of the folded text are in the source."""
        if self.same:
            return start, end
        first = self._starts[start]
        if end <= start:
            return first, first
        last = self._starts[end - 1] + 1
        while last < len(self.source) and self.source[last] in _MARKS:
            last += 1
        return first, last

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where the characters [start, end) of the source are in the folded text."""
        if self.same:
            return start, end
        return bisect_left(self._starts, start), bisect_left(self._starts, end)

    def restored(self, words: str) -> str:
        """Words taken from the folded text, with those of another script as they were written."""
        if not self._genuine:
            return words
        return _WORD.sub(lambda match: self._genuine.get(match[0], match[0]), words)


def fold(text: str) -> Folded:
    """Fold everything, for finding secrets. Idempotent, and linear in the length of the text."""
    if _USUAL.fullmatch(text):
        return Folded(text, text, None, {})
    folded = _UNUSUAL.sub(lambda match: match[0].translate(_TABLE), text)
    return Folded(text, text if folded == text else folded, None, {})


def undisguised(text: str) -> str:
    """The words of a text with every letter folded that looks like one of ours, whatever the text
    is: for comparing two. Signs, and letters with accents, stay as they are."""
    if _USUAL.fullmatch(text):
        return text
    composed = unicodedata.normalize("NFC", text)
    # A sign joins words or parts them; what folding makes of it would do the other.
    return "".join(char if char in _SIGNS else _TABLE[ord(char)] for char in composed)


# --- For reading -------------------------------------------------------------------------------

_WORD = re.compile(r"[^\W_]+")


@cache
def _odd() -> frozenset[str]:
    """What reading folds, breaks or leaves out."""
    return frozenset(
        (*_invisible(), *_BREAKS, *_SPACES, *_MARKS, *_styled(), *_LOOKALIKES.keys(), "\r")
    )


def plain(text: str) -> Folded:
    """Fold what is disguised, for reading: what is left has the words that a reader sees."""
    if _USUAL_BUT_RETURN.fullmatch(text) or (not text.isascii() and _odd().isdisjoint(text)):
        return Folded(text, text, None, {})
    kept = list(_visible(text))
    genuine = _unmask(kept)
    folded = "".join(part for _, part in kept)
    if folded == text:
        return Folded(text, text, None, {})
    starts = [at for at, part in kept for _ in part]
    return Folded(text, folded, [*starts, len(text)], genuine)


def _visible(text: str) -> Iterator[tuple[int, str]]:
    """Each character that is seen, with where it stands; breaks as newlines, spaces as spaces."""
    before = ""
    for at, char in enumerate(text):
        seen = char
        if char in _invisible():
            # An emoji's parts, and the words of scripts that are written with joiners.
            joins = char in _JOINERS and before and not before.isascii()
            if not joins or before in _LOOKALIKES:
                continue
        elif char in _MARKS:
            if before.isascii() and len(unicodedata.normalize("NFC", before + char)) > 1:
                continue
        elif char in _BREAKS or (char == "\r" and text[at + 1 : at + 2] != "\n"):
            seen = "\n"
        elif char in _SPACES:
            seen = " "
        elif char in _styled():
            seen = _letters(char) or char
        yield at, seen
        before = seen


def _unmask(kept: list[tuple[int, str]]) -> dict[str, str]:
    """Fold the words that are disguised, in place; returns those that may be genuine ones, by what
    they were folded to."""
    seen = "".join(part for _, part in kept)
    words = [match for match in _WORD.finditer(seen) if not match[0].isascii()]
    if _LOOKALIKES.keys().isdisjoint(seen):
        return {}
    kept[:] = [(at, char) for at, part in kept for char in part]
    latin = sum(1 for match in _WORD.finditer(seen) if match[0].isascii() and match[0].isalpha())
    foreign = sum(1 for match in words if any(map(_is_foreign, match[0])))
    genuine: dict[str, str] = {}
    for match in words:
        word = match[0]
        mixed = any(char.isascii() and char.isalpha() for char in word)
        if any(map(_is_foreign, word)) or (not mixed and latin <= foreign):
            continue  # of another language
        made = "".join(_LOOKALIKES.get(char, char) for char in word)
        kept[slice(*match.span())] = [
            (at, letter) for (at, _), letter in zip(kept[slice(*match.span())], made, strict=True)
        ]
        if not mixed and made != word:
            genuine[made] = word
    return genuine


def _is_foreign(char: str) -> bool:
    """Whether a letter is of a script that is neither ours nor mistaken for it."""
    return (
        not char.isascii()
        and char.isalpha()
        and char not in _LOOKALIKES
        and not unicodedata.name(char, "LATIN").startswith("LATIN")
    )
