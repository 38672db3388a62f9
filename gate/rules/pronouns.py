"""What a sentence that begins with "he" or "she" says of whom the words before it name: "My friend
Maria lives in Madrid", and then "She moved to Paris"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from beliefledger.gate import notes
from beliefledger.gate.rules.findings import RuleFinding, to_candidate
from beliefledger.gate.sentences import sentences
from beliefledger.ledger.candidate import SELF, Candidate, Speech
from beliefledger.ledger.late_patterns import compile_later

Read = Callable[[str, int], Iterator[RuleFinding]]
"""Reads the findings of a text that was said at a time."""
_BEGINS = compile_later(
    r"\W*+(?:(?:and|but|so|well|oh|actually|btw|update|now)\b[\s,]*+){0,2}(?:he|she)\b",
    re.I,
)
_MOST = 4
"""So many sentences of a turn are looked at."""
_LONGEST = 200


def told_of(turn: Speech, earlier: Sequence[Speech], read: Read) -> Iterator[Candidate]:
    """What is said of the one person who was named, with the words that have the name."""
    text = turn.content
    for start, end in sentences(text)[:_MOST]:
        if end - start > _LONGEST or text[end - 1] == "?" or not _BEGINS.match(text, start, end):
            continue
        resolved = notes.resolved(turn, earlier, start, end)
        if resolved is None or len(resolved[1]) == 1:
            continue  # nobody was named
        claim, (name, said) = resolved
        for finding in read(claim, turn.said_at):
            found = to_candidate(finding, turn.said_at)
            if name.quote in found.claim and found.entity != SELF:
                yield found.model_copy(update={"spans": (said, name)})
