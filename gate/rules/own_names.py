"""What the user is called, put right in one breath: "don't call me Robert, it's Rob"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from beliefledger.gate.rules.findings import Reading, RuleFinding
from beliefledger.gate.rules.lexicon import WORDS
from beliefledger.gate.rules.names import NO_NAMES
from beliefledger.ledger.late_patterns import compile_later

_NAME = r"[^\W\d_][\w'’-]{1,24}"
_END = r"(?=\W*$|[,.!;]| (?:please|pls|now|btw|thanks|thx|actually|with|for|instead|from now on)\b)"
_TELLS = r"(?:call me|i go by|my name['’]?s|my name is|the name['’]?s|use|i prefer|just)"
_RIGHT = compile_later(
    r"\b(?:(?P<called>(?:don['’]?t|do not|never|stop|no longer) call(?:ing)? me)|"
    r"my names?(?:['’]?s| is)? ?(?:isn['’]?t|isnt|not)) "
    rf"(?P<wrong>{_NAME})(?: any ?more)?\s?(?:[,;.!–—-]{{1,2}}\s?| )(?:(?:and|but) )?"
    rf"(?:(?P<told>(?:just )?{_TELLS})|(?:it['’]?s|it is|i['’]?m|i am|but))"
    r"(?: just| now| actually)? "
    rf"(?P<right>{_NAME}){_END}",
    re.I,
)


def findings(reading: Reading) -> Iterator[RuleFinding]:
    """The name that takes the place of another one in a sentence."""
    words = reading.words
    begin = words[0].start
    text = reading.content[begin : words[-1].end]
    found = _RIGHT.search(text) if "call" in text.lower() or "name" in text.lower() else None
    if found is None:
        return
    name = found["right"]
    named = found["called"] is None or found["told"] is not None
    if name.lower() in WORDS["not_names"] | NO_NAMES or not (named or _is_name(found)):
        return
    slot, says = "name", "User's name is"
    if found["called"] is not None:
        slot, says = "preferred-name", "User wants to be called"
    name = name[:1].upper() + name[1:]
    yield RuleFinding(
        reading.content, begin + found.start(), begin + found.end("right"), f"{says} {name}",
        "preference" if slot == "preferred-name" else "fact", f"identity.{slot}", name, 900,
        topic="identity",
    )  # fmt: skip


def _is_name(found: re.Match[str]) -> bool:
    """Whether the second word is a name as well: "it's Rob", and not "it's rude"."""
    wrong, right = found["wrong"].lower(), found["right"]
    return right[0].isupper() or wrong[:2] == right.lower()[:2]
