"""Redaction of secrets from a turn, before it is appended: what the log never held cannot leak.

`redact` replaces card numbers, passwords, keys and the like by placeholders such as
`[redacted card_number]`. No part of a secret is kept, and redacting twice gives what redacting
once gives. When in doubt it removes: a lost word costs a little recall, a stored password stays.
What it looks for is data: the tables of `ledger.secret_patterns`.

Time is linear in the length of the text: every pattern is bounded, and a rule runs only where
one of its hints, a plain substring, occurs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from beliefledger.ledger import own_secrets, secret_looks, seeds
from beliefledger.ledger.dataclass import dataclass
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.lookalikes import fold
from beliefledger.ledger.secret_looks import Look
from beliefledger.ledger.secret_patterns import (
    ANNOUNCED,
    CARD_WORDS,
    GAP,
    ISSUERS,
    LETTERED_IDS,
    MASK,
    NATIONAL_HINTS,
    NATIONAL_IDS,
    REVERSED,
    REVERSED_HINTS,
    SHAPES,
    SPLIT_CARD,
    SecretKind,
)
from beliefledger.ledger.secret_values import JUDGES, reversed_secret

__all__ = ["Redacted", "Redaction", "SecretKind", "may_hold_secret", "redact", "secrets_in"]


@dataclass(frozen=True, slots=True)
class Redaction:
    """One placeholder: what it stands for, and its offsets in the redacted text."""

    kind: str
    """A `SecretKind`, or that of a redaction of one's own."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and its placeholders in order of position.

    A placeholder that the text already had is listed too, so redacting again changes nothing.
    """

    text: str
    redactions: tuple[Redaction, ...]


# --- Patterns, compiled when first used --------------------------------------------------------

_LONG_NUMBER = compile_later(rf"[0-9](?:{GAP}{{0,3}}[0-9]){{7}}")
_CARD_RUN = compile_later(rf"(?<![0-9])[0-9](?:{GAP}{{0,3}}[0-9]){{12,}}")
_GROUP = compile_later(r"[0-9]+")
_IBAN = compile_later(
    rf"(?<![A-Za-z0-9])(?=([A-Za-z]{{2}}[0-9]{{2}}(?:{GAP}{{0,2}}[A-Za-z0-9]){{11,30}}))"
)
_SPELLED_IBAN = compile_later(
    r"(?<![A-Za-z0-9])(?=([A-Za-z][ \t.,-]{1,2}[A-Za-z](?:[ \t.,-]{1,2}[A-Za-z0-9]){13,32}))"
)
_SPLIT_CARD = compile_later(SPLIT_CARD)
_REVERSED = compile_later(f"(?i){REVERSED}")
_LABELLED = compile_later(r"(?i)(?:[\w-]{1,20}[ _-])?(?:password|passwd|passcode|pwd|pw|pin)")
_REST = compile_later(rf"[^\s{MASK}]*")
_NEAR = 60  # characters before and after a number in which its word may stand
_NATIONAL = tuple(
    (
        compile_later(rf"(?i)\b(?:{words})\b"),
        compile_later(rf"(?<![0-9A-Za-z]){shape}(?![0-9A-Za-z])"),
        is_valid,
    )
    for words, shape, is_valid in NATIONAL_IDS
)


_ANY_NATIONAL = compile_later(rf"(?i)\b(?:{'|'.join(words for words, _, _ in NATIONAL_IDS)})\b")


@dataclass(frozen=True, slots=True)
class _Rule:
    """A kind, the hints without which it cannot match, its pattern, and who judges the value.

    The value is the group `secret`, or the whole match. The judge answers how many of its
    characters are the secret: 0 for none.
    """

    kind: SecretKind
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    judge: Callable[[str], int] = len


_RULES = tuple(
    _Rule(kind, tuple(hints.split()), compile_later(pattern), JUDGES[judge])
    for kind, hints, pattern, judge in (
        *((kind, hint, shape, "all") for kind, hint, shape in SHAPES),
        *ANNOUNCED,
    )
)
_NEED_DIGITS = frozenset(
    n for n, rule in enumerate(_RULES) if rule.judge in (JUDGES["strong"], JUDGES["pair"])
)
_DIGIT = compile_later("[0-9]")
_BY_HINT = {
    hint: tuple(n for n, rule in enumerate(_RULES) if hint in rule.hints)
    for hint in sorted({hint for rule in _RULES for hint in rule.hints})
}
_CARD_HINTS, _REVERSED_HINTS, _LETTERED_HINTS = map(
    frozenset, (CARD_WORDS, REVERSED_HINTS, LETTERED_IDS)
)
_HINTS = tuple(sorted(_BY_HINT.keys() | _CARD_HINTS | _REVERSED_HINTS | _LETTERED_HINTS))
_HINTS_BESIDE_DIGITS = frozenset(
    hint for hint, rules in _BY_HINT.items() if _NEED_DIGITS.issuperset(rules)
) - (_CARD_HINTS | _REVERSED_HINTS | _LETTERED_HINTS)
"""Hints that mean nothing where there is no digit: "user" is in most texts."""
_HINTS_ALONE = tuple(hint for hint in _HINTS if hint not in _HINTS_BESIDE_DIGITS)


@lru_cache(maxsize=8)
def _placeholder(own: tuple[str, ...]) -> re.Pattern[str]:
    """Any placeholder, of these kinds besides ours."""
    return re.compile(rf"\[redacted ({'|'.join([*SecretKind, *own])})\]")


def _any_placeholder() -> re.Pattern[str]:
    return _placeholder(tuple(each.kind for each in own_secrets.added()))


# --- Finding -----------------------------------------------------------------------------------

_DOUBLED = bytes.maketrans(b"0123456789", bytes((0, 2, 4, 6, 8, 1, 3, 5, 7, 9)))
_VALUES = bytes.maketrans(b"0123456789", bytes(range(10)))


@lru_cache(maxsize=4096)
def _issued_lengths(prefix: str) -> frozenset[int]:
    """Look up how long the cards are whose number begins with these four digits."""
    return frozenset(
        length
        for first, last, lengths in ISSUERS
        if first <= prefix[: len(first)] <= last
        for length in lengths
    )


def _luhn(number: str) -> bool:
    """Check as `stdnum.luhn` does, in a fifth of the time: a page of digits has many windows."""
    backwards = number.encode("ascii")[::-1]
    singles = sum(backwards[::2].translate(_VALUES))
    return (singles + sum(backwards[1::2].translate(_DOUBLED))) % 10 == 0


def _cards(folded: str, lowered: str) -> Iterator[tuple[int, int]]:
    for run in _CARD_RUN.finditer(folded):
        groups = [
            (m.start(), m.end(), m.group()) for m in _GROUP.finditer(folded, run.start(), run.end())
        ]
        for first, (start, _, _) in enumerate(groups):
            # The digits behind the point of a number are no card.
            if first and folded[start - 1] == "." and len(groups[first][2]) > 12:
                continue
            number = ""
            for _, end, digits in groups[first : first + 6]:
                number += digits
                if len(number) > 19:
                    break
                if len(number) >= 13 and _is_card(number):
                    yield start, end
                if len(digits) < 3:  # only the last group of a card is shorter
                    break
        # Read out digit by digit, or in pairs where the text speaks of a card.
        together = "".join(digits for _, _, digits in groups)
        if len(together) <= 19 and _is_card(together):
            one_by_one = len(together) == len(groups)
            if one_by_one or any(word in lowered for word in CARD_WORDS):
                yield run.span()


def _split_cards(folded: str) -> Iterator[tuple[int, int]]:
    """Cards in groups that a stroke, a comma or a line break parts."""
    for match in _SPLIT_CARD.finditer(folded):
        if _is_card("".join(filter(str.isdigit, match.group()))):
            yield match.span()


def _is_card(number: str) -> bool:
    return len(number) in _issued_lengths(number[:4]) and _luhn(number)


@lru_cache(maxsize=4096)
def _iban_length(country: str) -> int:
    """Look up the length of that country's IBAN, 0 if it has none."""
    from stdnum import numdb  # noqa: PLC0415  (as below)

    structure = numdb.get("iban").info(country)[0][1].get("bban", "")
    lengths = [int(n) for n in re.findall(r"([0-9]{1,4})!", structure)]
    return 4 + sum(lengths) if lengths else 0


def _ibans(folded: str, pattern: re.Pattern[str] = _IBAN) -> Iterator[tuple[int, int]]:
    for match in pattern.finditer(folded):
        letters = [n for n, char in enumerate(match.group(1)) if char.isalnum()]
        country = "".join(match.group(1)[n] for n in letters[:2])
        wanted = _iban_length(country.upper())
        places = letters[:wanted]
        number = "".join(match.group(1)[n] for n in places)
        if not wanted or len(number) != wanted:
            continue
        from stdnum import iban  # noqa: PLC0415  (few texts have such a number)

        if iban.is_valid(number, check_country=False):
            yield match.start(), match.start() + places[-1] + 1


def _national_ids(folded: str, lowered: str) -> Iterator[tuple[int, int]]:
    if folded.isascii() and not [hint for hint in NATIONAL_HINTS if hint in lowered]:
        return
    if not _ANY_NATIONAL.search(folded):
        return
    for words, shape, is_valid in _NATIONAL:
        if not words.search(folded):
            continue
        for match in shape.finditer(folded):
            start, end = match.span()
            near = words.search(folded, max(0, start - _NEAR), end + _NEAR)
            if near and is_valid(match.group()):
                yield start, end


def _announced(rule: _Rule, folded: str) -> Iterator[tuple[int, int]]:
    at = 0
    group = "secret" if "secret" in rule.pattern.groupindex else 0
    while match := rule.pattern.search(folded, at):
        start = match.start(group)
        taken = rule.judge(match.group(group))
        at = start + max(taken, 1)
        if taken:
            # The bound of a pattern must not cut a long secret in two.
            if match.end(group) == at and at - start >= 256:
                at = next(_REST.finditer(folded, at)).end()
            yield start, at


def _reversed(folded: str) -> Iterator[tuple[int, int]]:
    """The secret before "is my password"."""
    for match in _REVERSED.finditer(folded):
        end = match.start()
        quoted = end > 0 and folded[end - 1] in "\"'`”’"
        end -= quoted
        taken = reversed_secret(folded[max(0, end - 260) : end], quoted=quoted)
        if taken and MASK not in folded[end - taken : end]:
            yield end - taken, end


def _tables(folded: str) -> Iterator[tuple[int, int]]:
    """The cells under a heading such as "password"."""
    columns: list[int] = []
    at = 0
    for line in folded.split("\n"):
        cells = []
        for cell in line.split("|"):
            cells.append((cell, at))
            at += len(cell) + 1
        if len(cells) == 1:
            columns = []  # what comes is another table
        elif not columns:
            columns = [n for n, (cell, _) in enumerate(cells) if _labelled(cell)]
        elif line.strip(" \t|:=-"):
            for cell, begin in (cells[n] for n in columns if n < len(cells)):
                value = cell.strip()
                start = begin + cell.find(value)
                if value and MASK not in value:
                    yield start, start + JUDGES["cell"](value)


def _labelled(cell: str) -> bool:
    return len(cell) < 60 and _LABELLED.fullmatch(cell.strip(" *`\t")) is not None


def _hints_in(folded: str, lowered: str) -> list[str]:
    """The hints of rules that may find something in the text."""
    hints = _HINTS if _DIGIT.search(folded) else _HINTS_ALONE
    return [hint for hint in hints if hint in lowered]


def _own(folded: str, lowered: str) -> Iterator[tuple[int, int, str]]:
    """What the redactions find that were added."""
    for each in own_secrets.added():
        if each.hint in lowered:
            group = "secret" if "secret" in each.pattern.groupindex else 0
            for match in each.pattern.finditer(folded):
                start, end = match.span(group)
                value = folded[start:end] if start >= 0 else ""  # a group may have no part in it
                if value and MASK not in value and each.is_secret(value):
                    yield start, end, each.kind


def _find(folded: str) -> list[tuple[int, int, str]]:
    lowered = folded.lower()
    hints = _hints_in(folded, lowered)
    found: list[tuple[int, int, str]] = list(_own(folded, lowered))
    found += ((s, e, SecretKind.PASSWORD) for s, e in seeds.phrases(lowered))
    long = _LONG_NUMBER.search(folded)
    if long:
        found += ((s, e, SecretKind.CARD) for s, e in _cards(folded, lowered))
        found += ((s, e, SecretKind.IBAN) for s, e in _ibans(folded))
        if "iban" in lowered:
            found += ((s, e, SecretKind.IBAN) for s, e in _ibans(folded, _SPELLED_IBAN))
    if long or not _LETTERED_HINTS.isdisjoint(hints):
        found += ((s, e, SecretKind.NATIONAL_ID) for s, e in _national_ids(folded, lowered))
    if not hints:
        return found
    if not _CARD_HINTS.isdisjoint(hints):
        found += ((s, e, SecretKind.CARD) for s, e in _split_cards(folded))
    if not _REVERSED_HINTS.isdisjoint(hints):
        found += ((s, e, SecretKind.PASSWORD) for s, e in _reversed(folded))
        if folded.count("|") > 1:
            found += ((s, e, SecretKind.PASSWORD) for s, e in _tables(folded) if s < e)
    rules = sorted({n for hint in hints for n in _BY_HINT.get(hint, ())})
    if not _NEED_DIGITS.isdisjoint(rules) and not _DIGIT.search(folded):
        rules = [n for n in rules if n not in _NEED_DIGITS]
    for n in rules:
        found += ((s, e, _RULES[n].kind) for s, e in _announced(_RULES[n], folded))
    return found


def may_hold_secret(text: str) -> bool:
    """Whether a text may hold a secret: one look that most need no other after. True for every text
    of which a part, up to a line's end, holds one."""
    folded = fold(text).text
    lowered = folded.lower()
    return (
        _LONG_NUMBER.search(folded) is not None
        or bool(_hints_in(folded, lowered))
        or seeds.may_hold(lowered)
        or any(each.hint in lowered for each in own_secrets.added())
    )


def _look(text: str) -> Look:
    folded = fold(text).text
    lowered = folded.lower()
    return Look(
        _LONG_NUMBER.search(folded) is not None
        or bool([hint for hint in _HINTS_ALONE if hint in lowered])
        or seeds.is_hinted(lowered),
        _DIGIT.search(folded) is not None,
        bool([hint for hint in _HINTS_BESIDE_DIGITS if hint in lowered]),
        seeds.listed(lowered),
    )


def may_any_hold_secret(texts: Sequence[str]) -> bool:
    """As `may_hold_secret`, for the lines of one text; quick where they were looked at before."""
    seen = secret_looks.kept()
    if seen is None or own_secrets.added():
        return may_hold_secret("\n".join(texts))
    digits = beside_digits = False
    listed = 0
    for text in texts:
        look = seen.get(text)
        if look is None:
            if len(text) > secret_looks.LONGEST:
                return may_hold_secret("\n".join(texts))
            if len(seen) >= secret_looks.MOST:
                seen.clear()
            look = seen[text] = _look(text)
        if look.alone:
            return True
        digits = digits or look.digits
        beside_digits = beside_digits or look.beside_digits
        listed += look.listed
    if digits and beside_digits:
        return True
    # Words of a wallet may stand in several of them.
    return listed >= seeds.LEAST and may_hold_secret("\n".join(texts))


def secrets_in(text: str) -> list[tuple[int, int, str]]:
    """The offsets of every secret that is found at first sight; those may overlap."""
    folded = fold(text)
    masked = folded.text
    if "[redacted " in masked:
        masked = _any_placeholder().sub(lambda m: MASK * len(m.group()), masked)
    return [(*folded.span(start, end), kind) for start, end, kind in _find(masked)]


def redact(text: str) -> Redacted:
    """Replace every secret in `text` by a placeholder that names its kind.

    `redact(redact(text).text) == redact(text)`: it searches until nothing more is found, and a
    placeholder is never a label or a part of a secret.
    """
    if "[redacted " not in text and not may_any_hold_secret((text,)):
        return Redacted(text, ())
    while found := secrets_in(text):
        text = _replace(text, found)
    return Redacted(
        text,
        tuple(Redaction(m[1], m.start(), m.end()) for m in _any_placeholder().finditer(text)),
    )


def _replace(text: str, found: list[tuple[int, int, str]]) -> str:
    """Put one placeholder for each stretch of overlapping finds, named after the longest."""
    parts: list[str] = []
    at = 0
    found.sort(key=lambda find: (find[0], -find[1]))
    start, end, kind = found[0]
    for next_start, next_end, next_kind in [*found[1:], (len(text) + 1, 0, kind)]:
        if next_start < end:
            end = max(end, next_end)
            continue
        parts += (text[at:start], f"[redacted {kind}]")
        at = end
        start, end, kind = next_start, next_end, next_kind
    parts.append(text[at:])
    return "".join(parts)
