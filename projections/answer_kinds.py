"""What kind of answer a question asks for, and which kinds a text has. Pure.

"When do we open?" is answered by a text that names a time, and "who does the books?" by one that
names somebody. It is a hint and no condition: what is asked for is often told in other ways. The
patterns are in answer_kinds.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from beliefledger.ledger.data_files import data
from beliefledger.ledger.late_patterns import compile_later

_BITS = {
    name: 1 << bit
    for bit, name in enumerate(("time", "day", "date", "number", "money", "name", "place"))
}
SURE = sum(_BITS[name] for name in ("time", "day", "date", "number", "money"))
"""Those that a text hardly has unnoticed: names and places are written in many ways."""


def kinds_in(text: str) -> int:
    """The kinds of answers that a text has, as bits."""
    return sum(kind for pattern, kind in _of_texts() if pattern.search(text))


def kinds_asked(question: str) -> int:
    """The kinds of answers that a question asks for, as bits; 0 where it shows none."""
    found = (kinds for pattern, kinds in _of_questions() if _compiled(pattern).search(question))
    return next(found, 0)


# A search compiles few of them: those of texts are needed where an index is made.


@cache
def _written() -> Mapping[str, Any]:
    found: Mapping[str, Any] = data("beliefledger.projections", "answer_kinds.yaml")
    return found


@cache
def _of_texts() -> Sequence[tuple[re.Pattern[str], int]]:
    return [(_compiled("|".join(some)), _BITS[name]) for name, some in _written()["text"].items()]


@cache
def _of_questions() -> Sequence[tuple[str, int]]:
    return [
        (each["pattern"], sum(_BITS[name] for name in each["kinds"]))
        for each in _written()["asked"]
    ]


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    parts: Mapping[str, str] = _written()["parts"]
    return compile_later(re.sub(r"<(\w+)>", lambda found: parts[found[1]], pattern), re.IGNORECASE)
