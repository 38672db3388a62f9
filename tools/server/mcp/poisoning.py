"""Refuses descriptions of tools that try to steer the model which reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from beliefledger.ledger.errors import MustStop

PATTERNS = {
    "an address": r"\b[a-z][a-z0-9+.-]{1,20}://|\bwww\.|\bdata:[a-z]",
    "a conditional instruction": (
        r"\b(?:if|when|whenever|before|after|once) [^.]{0,60}\b(?:you must|you should|always|never"
        r"|first call|make sure)\b"
    ),
    "a chained call": (
        r"\b(?:then|next|first|also|afterwards|always|must) (?:call|invoke|use|run|execute)\b"
    ),
    "an injection phrase": (
        r"\b(?:ignore|disregard|forget|override) [^.]{0,30}\b(?:instructions?|rules|prompts?)\b"
        r"|\bsystem prompt\b|<\s*+/?\s*+(?:important|system|instructions?)\b|\byou are now\b"
    ),
    "exfiltration": (
        r"\b(?:send|post|upload|forward|email|transmit|leak|copy) [^.]{0,40}"
        r"\b(?:to (?:the )?(?:address|server|url|endpoint|attacker|webhook)|password|credential"
        r"|api key|token|\.env|ssh)\b"
    ),
    "secrecy": (
        r"\b(?:do not|don't|never|without) (?:tell|inform|mention|reveal|show|notify|telling"
        r"|mentioning|informing)\b|\b(?:secretly|silently|hidden from|keep (?:this )?secret)\b"
    ),
}
_COMPILED = {what: re.compile(pattern, re.IGNORECASE) for what, pattern in PATTERNS.items()}


class PoisonedTool(MustStop):
    """Its description would steer the models that read it. Leave the tool out, or mend it."""


def poison_in(text: str) -> str | None:
    """What kind of steering a text holds, if it holds any."""
    plain = " ".join(text.split())
    return next((what for what, each in _COMPILED.items() if each.search(plain)), None)


def check(tools: Iterable[tuple[str, str]]) -> None:
    """Raises `PoisonedTool` for the first of these (name, all its texts) that steers."""
    for name, text in tools:
        found = poison_in(text)
        if found is not None:
            raise PoisonedTool(f"The description of the tool {name} holds {found}.")
