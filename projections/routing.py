"""To which types of memories a question is routed, by stated rules. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml


@dataclass(frozen=True, slots=True)
class Route:
    """Types that a question asks for, and the rule and the words by which that is known."""

    rule: str
    types: tuple[str, ...]
    words: str


@cache
def _rules() -> tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]:
    written = yaml.safe_load(Path(__file__).with_name("routing.yaml").read_text("utf-8"))
    return tuple(
        (
            each["name"],
            tuple(each["types"]),
            re.compile("|".join(f"(?:{pattern})" for pattern in each["patterns"]), re.IGNORECASE),
        )
        for each in written
    )


def route(question: str) -> Route | None:
    """The first rule that fits; None where none does."""
    for name, types, pattern in _rules():
        found = pattern.search(question)
        if found:
            return Route(name, types, found.group())
    return None
