"""When somebody near has their birthday: "my wife Sarah's birthday is on the 3rd of March"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from beliefledger.gate.calendar_names import MONTHS
from beliefledger.gate.dates import find_when
from beliefledger.gate.rules.findings import NEVER, Reading, RuleFinding
from beliefledger.gate.rules.lexicon import MANY, ONE
from beliefledger.gate.rules.owned_things import between, owned
from beliefledger.gate.rules.phrases import slug
from beliefledger.gate.rules.possessives import topic_of_noun
from beliefledger.ledger.late_patterns import compile_later

MARK = "birthday"
"""In every sentence that is worth reading."""
_ONLY = frozenset(
    "wife husband spouse partner fiance fiancé fiancee fiancée girlfriend boyfriend mother mom mum "
    "dad father".split()
)
"""Of whom one has one: whoever names them says no more of whose birthday it is."""
_LONGEST = 5
"""Most words of "my wife Sarah's"."""
_MONTH = compile_later(rf"\b(?:{'|'.join(MONTHS)})\b", re.I)


def findings(reading: Reading) -> Iterator[RuleFinding]:
    """The birthday that a sentence tells of one relative or friend."""
    words = reading.words
    at = next((i for i, word in enumerate(words) if word.low == MARK), 0)
    if at < 2 or at + 2 >= len(words) or words[at + 1].low != "is" or words[-1].low == "?":
        return
    begins = range(max(0, at - _LONGEST), at)
    my = next((i for i in begins if words[i].low in ("my", "our")), None)
    if my is None or not words[at - 1].low.endswith("'s"):
        return
    who = [word.low.removesuffix("'s") for word in words[my + 1 : at]]
    noun = next((each for each in who if each in ONE or each in MANY), None)
    if noun is None:
        return
    # A month typed in lower case is meant as one here, even May.
    begin = words[at + 2].start
    said = _MONTH.sub(lambda month: month[0].title(), reading.content[begin : words[-1].end])
    found = find_when(said, reading.said_at, future=True)
    if found is None or _MONTH.search(said[found.start : found.end]) is None:
        return
    end = next(i for i, word in enumerate(words) if word.end >= begin + found.end) + 1
    value = reading.content[begin + found.start : begin + found.end]
    key = noun if noun in _ONLY else slug(" ".join(who))
    yield owned(
        reading, my, end, f"User's {between(reading, my + 1, end)}", "fact",
        f"thing.{key}-birthday", value, 600,
    )._replace(when=NEVER, topic=topic_of_noun(noun))  # fmt: skip
