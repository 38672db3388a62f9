"""What kind of answer a question asks for, and which kinds a text has. Pure.

"When do we open?" is answered by a text that names a time, and "who does the books?" by one that
names somebody. It is a hint and no condition: what is asked for is often told in other ways. The
patterns are in answer_kinds.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from beliefledger.ledger.data_files import data

_BITS = {
    name: 1 << bit
    for bit, name in enumerate(("time", "day", "date", "number", "money", "name", "place"))
}
SURE = sum(_BITS[name] for name in ("time", "day", "date", "number", "money"))
"""Those that a text hardly has unnoticed: names and places are written in many ways."""


class _Patterns(NamedTuple):
    text: Sequence[tuple[re.Pattern[str], int]]
    asked: Sequence[tuple[re.Pattern[str], int]]


def kinds_in(text: str) -> int:
    """The kinds of answers that a text has, as bits."""
    return sum(kind for pattern, kind in _patterns().text if pattern.search(text))


def kinds_asked(question: str) -> int:
    """The kinds of answers that a question asks for, as bits; 0 where it shows none."""
    found = (kinds for pattern, kinds in _patterns().asked if pattern.search(question))
    return next(found, 0)


@cache
def _patterns() -> _Patterns:
    written = data("beliefledger.projections", "answer_kinds.yaml")
    parts: Mapping[str, str] = written["parts"]

    def compiled(pattern: str) -> re.Pattern[str]:
        return re.compile(re.sub(r"<(\w+)>", lambda found: parts[found[1]], pattern), re.IGNORECASE)

    return _Patterns(
        [(compiled("|".join(some)), _BITS[name]) for name, some in written["text"].items()],
        [
            (compiled(each["pattern"]), sum(_BITS[name] for name in each["kinds"]))
            for each in written["asked"]
        ],
    )
