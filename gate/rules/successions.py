"""Sentences that tell of a change, which may overtake what is believed without naming its slot.

Which belief they overtake, if any, is asked by `beliefledger.gate.overtaken`, once nothing else has
found an answer.
"""

from __future__ import annotations

from collections.abc import Iterator

from beliefledger.gate import successions
from beliefledger.gate.rules.findings import RuleFinding
from beliefledger.gate.rules.renewals import spelt_out
from beliefledger.ledger.candidate import Ends, SpeechAct

ATTRIBUTE = "event.succession"
LONGEST = 160
"""The longest sentence that is looked at, in characters: longer ones are of several things."""


def findings(content: str, start: int, end: int) -> Iterator[RuleFinding]:
    """The sentence content[start:end], where it may overtake something."""
    while end > start and content[end - 1] in ".!,; ":
        end -= 1
    text = content[start:end]
    if not 0 < len(text) <= LONGEST or not successions.may_overtake(successions.Said(text)):
        return
    words = " ".join(dict.fromkeys(spelt_out(text).split()))
    if words:
        yield RuleFinding(
            content, start, end, text, "event", ATTRIBUTE, text, 500, confidence=850,
            act=SpeechAct.CHANGE, retracts=True,
            ends=(Ends(attribute="*", value=words, among=True),),
        )  # fmt: skip
