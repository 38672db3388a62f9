"""Refuses descriptions of tools that try to steer the model which reads them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from beliefledger.ledger.errors import MustStop
from beliefledger.tools.server.mcp.tool import Tool

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
_JOINTS = re.compile(r"[_-]+|(?<=[a-z])(?=[A-Z])")
"""Where the words of a name are joined."""
_COMPILED = {what: re.compile(pattern, re.IGNORECASE) for what, pattern in PATTERNS.items()}


class PoisonedTool(MustStop):
    """Its description would steer the models that read it. Leave the tool out, or mend it."""


def poison_in(text: str) -> str | None:
    """What kind of steering a text holds, if it holds any."""
    plain = " ".join(unicodedata.normalize("NFKC", text).split())
    plain = "".join(each for each in plain if unicodedata.category(each) != "Cf")
    return next((what for what, each in _COMPILED.items() if each.search(plain)), None)


def texts(tool: Tool) -> Iterator[str]:
    """All that a model reads of a tool: its name, its description, and each name and text of its
    arguments and of its answer. Names are also told as the words that they are made of."""
    found = [tool.name, tool.description]
    found += _strings(tool.input_schema())
    found += _strings(tool.output_schema())
    yield from found
    yield " ".join(found)
    for each in found:
        words = _JOINTS.sub(" ", each)
        if words != each:
            yield words


def _strings(found: Any) -> Iterator[str]:
    if isinstance(found, str):
        yield found
    elif isinstance(found, Mapping):
        for name, value in found.items():
            yield str(name)
            yield from _strings(value)
    elif isinstance(found, list | tuple):
        for each in found:
            yield from _strings(each)


def check(tools: Iterable[tuple[str, Iterable[str]]]) -> None:
    """Raises `PoisonedTool` for the first of these (name, all its texts) that steers."""
    for name, said in tools:
        for text in said:
            found = poison_in(text)
            if found is not None:
                raise PoisonedTool(f"What the tool {name} tells of itself holds {found}.")
