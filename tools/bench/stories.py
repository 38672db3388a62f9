"""Whether the present value of what changed comes first: short stories, asked in three wordings.

The stories and what is counted are described in tests/data/stories/README.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import yaml

from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.projections.embedding import MINILM, Words, installed
from beliefledger.tools.bench.measure import Measured, Run, Target
from beliefledger.tools.bench.searching import K, model_of

STORIES = Path(__file__).resolve().parents[2] / "tests" / "data" / "stories"
FILES = ("tune", *sorted(each.stem for each in STORIES.glob("test*.yaml")))
"""The half to tune on, and whatever there is to test with."""
_LATER = timedelta(days=30)
_FEW = 3


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """A question about the past, and what its answers have."""

    words: str
    answer: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Story:
    """Turns in which something changes, and questions about it."""

    name: str
    turns: Sequence[tuple[datetime, str]]
    now: Sequence[str]
    current: re.Pattern[str]
    outdated: re.Pattern[str] | None
    past: Sequence[PastQuestion]

    @property
    def asked_at(self) -> datetime:
        return self.turns[-1][0] + _LATER

    def told(self, text: str) -> str | None:
        """Whether a text tells the `current` value or an `outdated` one."""
        if self.current.search(text):
            return "current"
        return "outdated" if self.outdated and self.outdated.search(text) else None


@dataclass(frozen=True, slots=True)
class Asked:
    """What became of one question about now: what the results tell, in their order, whether the
    belief table has it right, and the results' texts."""

    story: str
    question: str
    told: Sequence[str | None]
    believed: bool
    texts: Sequence[str]

    @property
    def first(self) -> bool:
        return bool(self.told) and self.told[0] == "current"

    @property
    def nothing(self) -> bool:
        return not any(self.told)

    @property
    def stale(self) -> bool:
        """An outdated value stands above the present one, or alone."""
        return next((each for each in self.told if each), None) == "outdated"


@dataclass(frozen=True, slots=True)
class AskedPast:
    """What became of a question about the past: the rank of its first answer, or None."""

    story: str
    question: str
    rank: int | None
    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of all questions."""

    now: Sequence[Asked]
    past: Sequence[AskedPast]

    def figures(self) -> dict[str, tuple[float, int]]:
        """Shares, each with the number of its questions."""
        right = [each for each in self.now if each.believed]
        return {
            "current first": share([each.first for each in self.now]),
            "outdated above or alone": share([each.stale for each in self.now]),
            "nothing found": share([each.nothing for each in self.now]),
            "current first where the belief is right": share([each.first for each in right]),
            "past answer in the first three": share(
                [each.rank is not None and each.rank <= _FEW for each in self.past]
            ),
        }


_TARGETS = {
    "outdated above or alone": Target("≤", 0.03),
    "nothing found": Target("≤", 0.03),
    "current first where the belief is right": Target("≥", 0.97),
    "past answer in the first three": Target("≥", 0.95),
}


def stories(run: Run) -> Iterator[Measured]:
    """Each file of them, with the fallback and with MiniLM."""
    for model in (Words.name, MINILM):
        for half in FILES:
            target = Target("≥", 0.9 if model == MINILM else 0.85)
            targets = {"current first": target} | _TARGETS
            label = f"stories to {half} with {model}"
            if model == MINILM and not installed():
                note = "not measured: the extra `embeddings` is not installed"
                for name, target in targets.items():
                    yield Measured(f"{label}: {name}", "share", target=target, note=note)
                continue
            some = written(STORIES / f"{half}.yaml")[: max(1, run.sizes.stories)]
            tally = told(run, some, model)
            for name, (part, questions) in tally.figures().items():
                note = f"{questions} questions"
                yield Measured(f"{label}: {name}", "share", [part], targets[name], note=note)


def told(run: Run, some: Sequence[Story], model: str) -> Tally:
    """Have each story told by a subject of its own, and ask."""
    now: list[Asked] = []
    past: list[AskedPast] = []
    with model_of(model):
        memory = open_memory(run.place("stories"))
    with memory:
        run.tell(f"{model}: {len(some)} stories")
        for story in some:
            memory.consent.grant(story.name, "explicit_consent", categories=("ordinary", "health"))
            for said_at, words in story.turns:
                memory.record_turn(story.name, words, said_at=said_at)
                memory.process()
        for number, story in enumerate(some, 1):
            run.tell(f"{model}: asking, story {number} of {len(some)}")
            believed = _believed(memory, story)
            for question in story.now:
                texts = _search(memory, story, question)
                now.append(
                    Asked(
                        story.name, question, [story.told(each) for each in texts], believed, texts
                    )
                )
            for each in story.past:
                texts = _search(memory, story, each.words)
                ranks = (rank for rank, text in enumerate(texts, 1) if each.answer.search(text))
                past.append(AskedPast(story.name, each.words, next(ranks, None), texts))
    return Tally(now, past)


def _believed(memory: MemoryLedger, story: Story) -> bool:
    """Whether the belief table holds the present value, and no past one as if it were so."""
    held = [story.told(each.text) for each in memory.beliefs(story.name, valid_at=story.asked_at)]
    return "current" in held and "outdated" not in held


def _search(memory: MemoryLedger, story: Story, question: str) -> list[str]:
    found = memory.search(story.name, question, K, valid_at=story.asked_at, record=False)
    return [each.text for each in found.results]


def written(path: Path) -> list[Story]:
    """The stories of a file."""
    return [_story(each) for each in yaml.safe_load(path.read_text(encoding="utf-8"))]


def _story(given: Mapping[str, Any]) -> Story:
    return Story(
        name=given["name"],
        turns=[(noon(each["day"]), each["said"]) for each in given["turns"]],
        now=given["now"],
        current=any_of(given["current"]),
        outdated=any_of(given["outdated"]) if given["outdated"] else None,
        past=[PastQuestion(each["ask"], any_of(each["answer"])) for each in given.get("past", ())],
    )


def noon(day: date) -> datetime:
    return datetime.combine(day, time(12), UTC)


def any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{each})" for each in patterns), re.IGNORECASE)


def share(which: Sequence[bool]) -> tuple[float, int]:
    return (sum(which) / len(which) if which else 1.0), len(which)
