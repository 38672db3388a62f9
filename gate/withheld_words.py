"""Which words of a turn are withheld besides those that the gate decided about. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from beliefledger.gate.orders import instruction_like
from beliefledger.gate.outcomes import Reason
from beliefledger.gate.rules.sensitive import category_of
from beliefledger.gate.sentences import sentences
from beliefledger.gate.standing import Cause, Rights, Run, Withheld
from beliefledger.ledger.late_patterns import compile_later
from beliefledger.ledger.lookalikes import plain, undisguised

FORGETTING = (
    "about", "delete", "discard", "disregard", "erase", "forget", "ignore", "keep", "kept", "leave",
    "log", "memor", "mention", "note", "noting", "record", "remember", "sav", "scrap", "scratch",
    "stor", "strike", "unlearn", "writ",
)  # fmt: skip
"""One of these is in whatever asks to forget something, or to keep nothing. How that is said is
loaded where one is there."""


def orders(content: str) -> bool:
    """Whether a text reads like an order to the machine, however it is disguised."""
    return instruction_like(plain(content).text)


def beside(
    withheld: Iterable[Withheld],
    kept: Sequence[Run],
    content: str,
    rights: Rights,
    approved: Iterable[Run],
    *,
    own: bool,
) -> Iterator[Withheld]:
    """All that is withheld of a turn: what the gate refused, the rest of its sentences, and what is
    of a special category. Of the subject's `own` turn also what asks to have something forgotten,
    and all of it where it asks that nothing is kept."""
    yield from widened(withheld, kept, content)
    yield from special(content, rights, approved)
    low = content.lower()
    if not own or not any(map(low.__contains__, FORGETTING)):
        return
    from beliefledger.gate.rules.denials import denials, unrecorded  # noqa: PLC0415

    for denial in denials(content):
        end = min(denial.end, len(content))
        # "I have no brother" is taken back and worth telling.
        if not denial.never and any(map(low[denial.start : end].__contains__, FORGETTING)):
            polite = _POLITE.match(content, end)
            yield Withheld(denial.start, end if polite is None else polite.end(), Cause.REVOKED)
    if not kept and unrecorded(plain(content).text):
        yield Withheld(0, len(content), Cause.REFUSED, Reason.OFF_THE_RECORD.value)


_POLITE = compile_later(
    r"(?:\W*\b(?:pls|plz|please|thanks|thank you|thx|ok(?:ay)?|now|for me|will you|"
    r"would you)\b)+\W*",
    re.I,
)
"""What is said besides, where something is to be forgotten."""


def widened(withheld: Iterable[Withheld], kept: Iterable[Run], content: str) -> Iterator[Withheld]:
    """What is withheld, with the rest of its sentences where nothing else came of them: the words
    around it would tell of it."""
    found, shown = list(withheld), tuple(kept)
    whole = sentences(content) if found else []
    for each in found:
        start, end = each.start, each.end
        for begins, ends in whole:
            alone = not any(a < ends and begins < b for a, b in shown)
            if alone and begins < each.end and each.start < ends:
                start, end = min(start, begins), max(end, ends)
        yield replace(each, start=start, end=end)


def special(content: str, rights: Rights, approved: Iterable[Run]) -> Iterator[Withheld]:
    """The sentences of a special category that no lawful basis covers, whether a candidate came of
    them or not; without those that a reviewer approved words of."""
    if not _may_be_special(content):
        return
    shown = tuple(approved)
    for start, end in sentences(content):
        category = category_of(undisguised(content[start:end]))
        if category is None or category in rights.covered:
            continue
        if category not in rights.prohibited and any(a < end and start < b for a, b in shown):
            continue
        yield Withheld(start, end, Cause.SPECIAL_CATEGORY, category=category)


def _may_be_special(content: str) -> bool:
    """Whether any words of a text are of a special category."""
    return category_of(undisguised(content)) is not None
