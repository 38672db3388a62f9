"""Whether words give orders to the machine that reads them. Pure."""

from __future__ import annotations

from beliefledger.gate import sincerity
from beliefledger.gate.cues import READING, Cues

CUES = Cues("rules/cues.yaml")
"""Those of all speech acts."""
_INSTRUCTION = CUES.pattern("instruction")
_INSTRUCTION_WORDS = tuple(CUES["instruction_words"])


def instruction_like(text: str, reading: int = READING) -> bool:
    """Whether `text` addresses the machine's own rules, memory or role instead of stating facts."""
    if reading and sincerity.ordered(text):
        return True
    if not any(map(text.lower().__contains__, _INSTRUCTION_WORDS)):
        return False
    return _INSTRUCTION.search(text) is not None
