"""Whether the answer comes first in talks of many turns, where most of what was said is about
something else.

The talks and what is counted are described in tests/data/talks/README.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from beliefledger.ledger.data_files import parsed
from beliefledger.opener import open_memory
from beliefledger.projections.embedding import MINILM, Words, installed
from beliefledger.tools.bench.measure import Measured, Run
from beliefledger.tools.bench.searching import K, model_of
from beliefledger.tools.bench.stories import any_of, noon, share

TALKS = Path(__file__).resolve().parents[2] / "tests" / "data" / "talks"
_FEW = 3


@dataclass(frozen=True, slots=True)
class Question:
    """A question, what answers it, and what is outdated."""

    words: str
    answer: re.Pattern[str]
    outdated: re.Pattern[str] | None

    def told(self, text: str) -> str | None:
        """Whether a text tells the "answer" or something "outdated"."""
        if self.answer.search(text):
            return "answer"
        return "outdated" if self.outdated and self.outdated.search(text) else None


@dataclass(frozen=True, slots=True)
class Talk:
    """What somebody says over some months, and questions about it."""

    name: str
    turns: Sequence[tuple[datetime, str]]
    asks: Sequence[Question]
    asked_at: datetime


@dataclass(frozen=True, slots=True)
class Asked:
    """What the results of one question tell, in their order."""

    talk: str
    question: str
    told: Sequence[str | None]
    texts: Sequence[str]


def talks(run: Run) -> Iterator[Measured]:
    """The half that is asked for, with the fallback and with MiniLM; nothing is asserted."""
    files = [file for half in run.halves for file in (half, f"{half}_2", f"people_{half}")]
    for model in (Words.name, MINILM):
        for half in files:
            label = f"talks to {half} with {model}"
            if model == MINILM and not installed():
                yield Measured(label, "share", note="not measured: `embeddings` is not installed")
                continue
            some = written(TALKS / f"{half}.yaml")[: max(1, run.sizes.stories)]
            for name, (value, questions) in figures(asked(run, some, model)).items():
                yield Measured(f"{label}: {name}", "share", [value], note=f"{questions} questions")


def asked(run: Run, some: Sequence[Talk], model: str) -> list[Asked]:
    """Have each talk told by a subject of its own, and ask."""
    with model_of(model):
        memory = open_memory(run.place("talks"), consent="consent")
    found: list[Asked] = []
    with memory:
        for number, talk in enumerate(some, 1):
            run.tell(f"{model}: talk {number} of {len(some)}")
            for said_at, words in talk.turns:
                memory.remember(talk.name, words, said_at=said_at)
            for question in talk.asks:
                results = memory.search(
                    talk.name, question.words, K, valid_at=talk.asked_at, record=False
                ).results
                texts = [each.text for each in results]
                told = [question.told(each) for each in texts]
                found.append(Asked(talk.name, question.words, told, texts))
    return found


def figures(found: Sequence[Asked]) -> dict[str, tuple[float, int]]:
    """Shares, each with the number of its questions."""
    return {
        "answer first": share([each.told[:1] == ["answer"] for each in found]),
        "answer in the first three": share(["answer" in each.told[:_FEW] for each in found]),
        "outdated above or alone": share(
            [next((told for told in each.told if told), None) == "outdated" for each in found]
        ),
        "no answer": share(["answer" not in each.told for each in found]),
    }


def written(path: Path) -> list[Talk]:
    """The talks of a file."""
    return [_talk(each) for each in parsed(path.read_bytes())]


def _talk(given: Mapping[str, Any]) -> Talk:
    return Talk(
        name=given["name"],
        turns=[(noon(each["day"]), each["said"]) for each in given["turns"]],
        asks=[
            Question(
                each["ask"],
                any_of(each["answer"]),
                any_of(each["outdated"]) if each.get("outdated") else None,
            )
            for each in given["asks"]
        ],
        asked_at=noon(given["asked"]),
    )
