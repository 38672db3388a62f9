"""What the words of a memory tell beyond its value: a reason, an alternative, names, how strongly.

Pure; what the words do not say is None or empty.
"""

from __future__ import annotations

import re

from beliefledger.gate.calendar_names import NAMES
from beliefledger.ledger.late_patterns import compile_later

OVER = compile_later(r",? (?:over|rather than|instead of)(?: the)? ", re.IGNORECASE)
WHY = compile_later(r",? (?:because|since|so that|as it) ", re.IGNORECASE)
_MORE = compile_later(r",? (?:because|since|so that|for|when|at|in) |[.;]")
LIST = compile_later(r",? (?:or|and) |, ")
STEPS = compile_later(r",? (?:and then|then|after that) |; |, (?:and )?")
FORBIDS = compile_later(r"\b(?:allergic|intolerant|avoids?|refuses?|without|forbidden)\b")
SOFT = compile_later(r"\b(?:tr(?:y|ies) not to|tr(?:y|ies) to|avoids?|rather not|would prefer)\b")
_NAMES = r"((?:[A-Z][\w'’-]*)(?: (?:and )?[A-Z][\w'’-]*)*)"
WITH, AT, TO = (
    compile_later(rf"\b{word} {_NAMES}") for word in ("with", "(?:in|at)", "(?:to|for)")
)
_STRONG = frozenset(
    "love adore hate detest loathe always never strongly really absolutely can't".split()
)
_WEAK = frozenset("slightly somewhat rather kind bit usually mildly".split())


_DWELLS = compile_later(
    r"User (?:(?:has been|is|has) )?(?:rent(?:s|ing|ed)?|shar(?:es|ing|ed)) .*\b(?:in|near)\s*\Z"
)


def lived_in(claim: str, old: str, new: str) -> str | None:
    """Of who rents or shares a home in one place: that they live in another. It says nothing of the
    home there. Who lived next door lives in a place that is named. None of any other claim."""
    at = claim.find(old)
    if at > 0 and claim[:at].endswith((" lives ", " live ")):
        return f"{claim[:at]}in {new}"
    if at < 0 or _DWELLS.match(claim[:at]) is None:
        return None
    return f"User lives in {new}"


def after(words: re.Pattern[str], claim: str) -> str | None:
    """What comes behind these words: a reason to its end, an alternative to where more is said."""
    parts = words.split(claim, maxsplit=1)
    if len(parts) < 2:
        return None
    said = parts[1] if words is WHY else _MORE.split(parts[1])[0]
    return said.strip(" .;") or None


def named(words: re.Pattern[str], claim: str) -> tuple[str, ...]:
    """The names behind these words; a month or a day is none."""
    found = words.search(claim)
    if found is None or found[1].split()[0].lower() in NAMES or found[1] == "User":
        return ()
    return tuple(found[1].split(" and "))


def strength(claim: str) -> str:
    """How strongly it is put: strong, weak or plain."""
    said = {word.strip(".,!").lower() for word in claim.split()}
    stems = said | {word.removesuffix("s") for word in said} | {w.removesuffix("d") for w in said}
    if stems & _STRONG:
        return "strong"
    return "weak" if stems & _WEAK else "plain"
