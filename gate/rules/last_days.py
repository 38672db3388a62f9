"""When a job that somebody gives notice of is over: "my last day is 30 November"."""

from __future__ import annotations

import re

from beliefledger.gate.dates import find_when
from beliefledger.ledger.late_patterns import compile_later

_LAST = compile_later(
    r"(?:\b(?:last|final) (?:working )?(?:day|shift)"
    r"(?: (?:there|of work|at (?:the )?[\w'’&.-]+(?: (?!is\b|will\b|on\b)[\w'’&.-]+)?))?"
    r"(?:['’]s| is| will be)?|"
    r"(?:\b(?:i|i['’]m|im|and|notice)|[,;–—-]) (?:will )?(?:finish|leave|leaving|stop)(?:ing)?"
    r"(?: (?:there|work))?|\beffective)(?: on| by| from| the)*[: ]+(?=\S)",
    re.I,
)


def last_day(text: str, said_at: int) -> int | None:
    """The end of the last day that a text names, where it is still to come; None otherwise."""
    for found in _LAST.finditer(text):
        dated = find_when(text[found.end() :], said_at, future=True)
        if dated is None or dated.start > 0 or dated.when.end is None:
            continue
        if dated.when.end > said_at:
            return dated.when.end
    return None
