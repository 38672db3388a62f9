"""Little lives: some twenty turns of one person about many things, and questions about them.

They are described in tests/data/lives/README.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from beliefledger.ledger.data_files import parsed
from beliefledger.memory import MemoryLedger

LIVES = Path(__file__).resolve().parents[2] / "tests" / "data" / "lives"
THREE = 3
BEGUN, EVERY, LATER = datetime(2025, 1, 15, 12, tzinfo=UTC), timedelta(days=9), timedelta(days=29)


@dataclass(frozen=True, slots=True)
class LifeQuestion:
    """One question in several wordings, and what its results have to tell."""

    asks: Sequence[str]
    first: Sequence[str] = ()
    """Patterns, of which the first result has one."""
    every: Sequence[str] = ()
    """Patterns that the first results, as many, have together."""
    three: str | None = None
    """A pattern that one of the first three has."""
    unmarked: Sequence[str] = ()
    """Patterns that none of the first three has as if it were so."""

    def is_right(self, texts: Sequence[str], current: Sequence[str]) -> bool:
        """Whether results are as they have to be; `current` are those of the first three that are
        shown as if they were so."""
        head = " | ".join(texts[: len(self.every)])
        return (
            not (self.first and not _has_any(self.first, texts[:1]))
            and all(_has_any([each], [head]) for each in self.every)
            and not _has_any(self.unmarked, current)
            and (self.three is None or _has_any([self.three], texts[:THREE]))
        )


@dataclass(frozen=True, slots=True)
class Life:
    """What somebody says, a turn every nine days, and questions about it."""

    name: str
    turns: Sequence[str]
    questions: Sequence[LifeQuestion]
    left: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By model: the questions that are not answered as they should be."""

    @property
    def said(self) -> Iterator[tuple[datetime, str]]:
        for number, words in enumerate(self.turns):
            yield BEGUN + number * EVERY, words

    @property
    def asked_at(self) -> datetime:
        return BEGUN + (len(self.turns) - 1) * EVERY + LATER


def lives() -> list[Life]:
    """All of them."""
    files = sorted(LIVES.glob("*.yaml"))
    return [_life(each) for file in files for each in parsed(file.read_bytes())]


def tell(memory: MemoryLedger, life: Life) -> None:
    """Have a life told."""
    memory.consent.grant(life.name, "explicit_consent", categories=("ordinary", "health"))
    for said_at, words in life.said:
        memory.record_turn(life.name, words, said_at=said_at)
        memory.process()


def missed(memory: MemoryLedger, life: Life) -> list[str]:
    """The questions of a life that was told which are not answered as they should be."""
    found = []
    for question in life.questions:
        k = max(THREE, len(question.every))
        for words in question.asks:
            answer = memory.search(life.name, words, k, valid_at=life.asked_at, record=False)
            current = [
                each.text
                for each in answer.results[:THREE]
                if each.standing.state == "current" and each.taken_up_by is None
            ]
            if not question.is_right([each.text for each in answer.results], current):
                found.append(words)
    return found


def _life(given: Mapping[str, Any]) -> Life:
    return Life(
        given["name"],
        given["turns"],
        [
            LifeQuestion(
                _listed(each["ask"]),
                _listed(each.get("first")),
                _listed(each.get("all")),
                each.get("three"),
                _listed(each.get("not")),
            )
            for each in given["questions"]
        ],
        given.get("left", {}),
    )


def _listed(given: str | Sequence[str] | None) -> list[str]:
    return [given] if isinstance(given, str) else list(given or ())


def _has_any(patterns: Sequence[str], texts: Sequence[str]) -> bool:
    return any(re.search(each, text, re.IGNORECASE) for each in patterns for text in texts)
