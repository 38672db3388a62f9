"""`python -m beliefledger.tools.bench.train_answers [--write]`: train the order of the first
results.

Questions of the tune halves of the talks and the stories are asked of the product, with the vectors
of words and with MiniLM. Stories are asked alone and several told by one person, each about another
thing, since what somebody says is seldom about one thing alone. Learned is which of the results
answers, and that what is outdated does not come before it. With `--write`,
projections/answer_order.yaml gets the weights. The figures are from fits that had not seen the
person that they are of.

Which turns are news is told by scorers that had not seen the story either: by one that had, it
would count for more than it is worth.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.projections import answer_order, novelty, retrieval
from beliefledger.projections.current_first import Placed
from beliefledger.projections.embedding import MINILM, Words
from beliefledger.projections.evidence import Evidence, turn_of
from beliefledger.projections.index import SubjectIndex
from beliefledger.projections.showing import blanked
from beliefledger.tools.bench import stories, talks, train_novelty
from beliefledger.tools.bench.adam import Adam
from beliefledger.tools.bench.searching import K, model_of
from beliefledger.tools.bench.stories import STORIES, Story, written
from beliefledger.tools.bench.talks import TALKS

WEIGHTS = Path(answer_order.__file__).with_name("answer_order.yaml")
MUCH = {
    "talk": 2.0, "mixed now": 1.0, "mixed past": 1.0, "one now": 0.5, "one past": 0.5,
    "near now": 4.0, "people": 2.0,
}  # fmt: skip
"""How much a question of each kind counts."""
PEOPLE = "people_tune"
FRESH = ("tune_2", "tune_3", "tune_4", "test_2", "test_6")
"""Files of stories that the scorers of news have not seen; those to test with were looked at."""
RIDGE = 1.0
STALE = 3.0
"""How much it counts, beside what answers, that it comes before what is outdated."""
FOLDS = 8
STEPS, RATE = 1_000, 0.03
_THREE = 3

Vector = NDArray[np.float64]
Told = Callable[[str, str], str | None]
"""What a result tells, by its text and by the words of the turn that it is of."""


class Case(NamedTuple):
    """The results of one question: what is known of each, what it tells, and in whose place it
    comes."""

    model: str
    kind: str
    person: str
    features: Vector
    told: Sequence[str | None]
    now: bool
    """Whether it asks for the present."""
    newer: Sequence[int | None]
    """Of each result the place of what took its own, if that is among them."""

    @property
    def telling(self) -> bool:
        """Whether an order can be learned from it."""
        return "answer" in self.told and len(self.told) > 1


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the order of the first results.")
    parser.add_argument("--write", action="store_true", help=f"write the weights to {WEIGHTS.name}")
    given = parser.parse_args()
    cases = [case for model in (Words.name, MINILM) for case in asked(model)]
    report(cases)
    weights = fitted([case for case in cases if case.telling])
    for name, weight in zip(answer_order.NAMES, weights, strict=True):
        print(f"{weight:+.2f}  {name}")
    if given.write:
        comments, _ = re.split(r"(?m)^(?=weights:)", WEIGHTS.read_text("utf-8"))
        lines = (
            f"  {name}: {weight:.2f}\n"
            for name, weight in zip(answer_order.NAMES, weights, strict=True)
        )
        WEIGHTS.write_text(comments + "weights:\n" + "".join(lines), "utf-8")


# What the product answers


def asked(model: str) -> Iterator[Case]:
    """Each question of the tune halves, asked of a ledger with this model."""
    with tempfile.TemporaryDirectory() as place, model_of(model):
        memory = open_memory(Path(place) / "ledger", consent="consent")
        with memory:
            for half in ("tune", "tune_2", PEOPLE):
                kind = "people" if half == PEOPLE else "talk"
                for talk in talks.written(TALKS / f"{half}.yaml"):
                    person = f"{half} {talk.name}"
                    _remember(memory, person, talk.turns)
                    for each in talk.asks:
                        told = by_text(each.told)
                        yield from _case(
                            memory, model, kind, person, each.words, talk.asked_at, told
                        )
            people = stories.mixed(written(STORIES / "tune.yaml"))
            near = written(STORIES / "near.yaml")
            fold_of = {
                story.name: number % FOLDS
                for groups in (people, stories.alone(near))
                for number, some in enumerate(groups)
                for story in some
            }
            scorers = scorers_without(fold_of)
            for number, some in enumerate(people):
                with scorers[number % FOLDS]:
                    yield from _together_and_alone(memory, model, f"mixed {number}", some)
            for half in FRESH:
                for number, some in enumerate(stories.mixed(written(STORIES / f"{half}.yaml"))):
                    yield from _together_and_alone(memory, model, f"{half} {number}", some)
            for story in near:
                with scorers[fold_of[story.name]]:
                    yield from _of_stories(memory, model, "near", story.name, [story])


def scorers_without(fold_of: Mapping[str, int]) -> list[AbstractContextManager[object]]:
    """For each fold: what lets a scorer tell news that has not seen the stories of that fold."""
    rows = list(train_novelty.gathered())
    scorers: list[AbstractContextManager[object]] = []
    for fold in range(FOLDS):
        some = [row for row in rows if fold_of.get(row.of) != fold]
        names, weights = train_novelty.learned(some)
        known = float(weights[0]), dict(zip(names, weights[1:].tolist(), strict=True))
        scorers.append(patch.object(novelty, "_weights", return_value=known))
    return scorers


def _together_and_alone(
    memory: MemoryLedger, model: str, person: str, some: Sequence[Story]
) -> Iterator[Case]:
    """Of stories told by one person, and each by somebody of its own, held out with the others."""
    yield from _of_stories(memory, model, "mixed", person, some)
    for story in some:
        for case in _of_stories(memory, model, "one", story.name, [story]):
            yield case._replace(person=person)


def _of_stories(
    memory: MemoryLedger, model: str, kind: str, person: str, some: Sequence[Story]
) -> Iterator[Case]:
    stories.tell(memory, person, some)
    at = max(story.asked_at for story in some)
    for story in some:
        for words in story.now:
            yield from _case(memory, model, f"{kind} now", person, words, at, told_now(story))
        for each in story.past:
            yield from _case(
                memory, model, f"{kind} past", person, each.words, at, _past(each.answer)
            )


def told_now(story: Story) -> Told:
    """What a text tells of the present value of a story: the answer, or what is outdated."""

    def told(text: str) -> str | None:
        found = story.told(text)
        return "answer" if found == "current" else found

    return by_text(told)


def by_text(told: Callable[[str], str | None]) -> Told:
    """What a result tells, by its text alone."""
    return lambda text, _: told(text)


def _past(answer: re.Pattern[str]) -> Told:
    return by_text(lambda text: "answer" if answer.search(text) else None)


def _remember(memory: MemoryLedger, person: str, turns: Iterable[tuple[datetime, str]]) -> None:
    for said_at, words in turns:
        memory.remember(person, words, said_at=said_at)


def _case(
    memory: MemoryLedger,
    model: str,
    kind: str,
    person: str,
    words: str,
    at: datetime,
    told: Told,
) -> Iterator[Case]:
    """The question's results as they are without any weights; none where there are none."""
    seen: list[tuple[Sequence[Placed], Vector, Evidence]] = []

    def kept(placed: Sequence[Placed], evidence: Evidence) -> list[Placed]:
        first = placed[: answer_order.WINDOW]
        if first:
            features = answer_order.features(first, evidence)
            seen.append((first, features, evidence))
        return list(placed)

    def nothing(_: str) -> None:
        """Sets and roles have an order of their own, after this one."""

    with (
        patch.object(answer_order, "reordered", kept),
        patch.object(retrieval, "set_asked", nothing),
        patch.object(retrieval, "role_asked", nothing),
    ):
        results = memory.search(person, words, K, valid_at=at, record=False).results
    if seen:
        placed, features, evidence = seen[-1]
        place_of = {each.number: place for place, each in enumerate(placed)}
        yield Case(
            model,
            kind,
            person,
            features[: len(results)],
            [
                told(
                    each.text, words_of(memory, evidence.index, turn_of(of.number, evidence.index))
                )
                for each, of in zip(results, placed, strict=False)
            ],
            evidence.asked.tense == "now",
            [None if each.newer is None else place_of.get(each.newer) for each in placed],
        )


def words_of(memory: MemoryLedger, index: SubjectIndex, number: int) -> str:
    """The words of a text of an index, as a search shows them."""
    position = int(index.texts["words_at"][number])
    event = memory._core.log.read_at([position])[position].event
    if isinstance(event, TurnRecorded):
        return blanked(event.content, index.turns[index.turn_ids[number]].withheld)
    claim: str = getattr(event, "memory").claim  # noqa: B009 - of any event that writes a memory
    return claim


# What is learned of it


def fitted(cases: Sequence[Case]) -> Vector:
    """The weights by which what answers is chosen most probably: by Adam, on all cases at once."""
    shape = len(cases), answer_order.WINDOW
    features = np.zeros((*shape, len(answer_order.NAMES)))
    there, answers, stale = (np.zeros(shape, np.bool_) for _ in range(3))
    for row, case in enumerate(cases):
        count = len(case.told)
        features[row, :count] = case.features
        there[row, :count] = True
        answers[row, :count] = [each == "answer" for each in case.told]
        stale[row, :count] = [each == "outdated" for each in case.told]
    much = np.array([MUCH[case.kind] for case in cases])
    beside = STALE * much * stale.any(axis=1)
    weights = np.zeros(features.shape[2])
    adam = Adam(weights, RATE)
    for _ in range(STEPS):
        gradient = 2 * RIDGE * weights
        for among, counts in ((there, much), (answers | stale, beside)):
            gradient -= counts @ _towards(features, weights, among, answers)
        weights = weights - adam.step(gradient)
    return weights


def _towards(
    features: Vector, weights: Vector, among: NDArray[np.bool_], answers: NDArray[np.bool_]
) -> Vector:
    """Of each case: the gradient of the log of how probably an answer is chosen among some."""
    worth = np.where(among, features @ weights, -np.inf)
    chance = np.exp(worth - worth.max(axis=1, keepdims=True))
    chance /= chance.sum(axis=1, keepdims=True)
    right = np.where(answers, chance, 0)
    right /= right.sum(axis=1, keepdims=True)
    towards: Vector = np.einsum("ij,ijk->ik", right - chance, features)
    return towards


def ordered(case: Case, weights: Vector) -> list[str | None]:
    """What the results tell, in the order by these weights."""
    order: dict[int, None] = {}
    margin = answer_order.OF_OTHERS if case.kind == "people" else answer_order.MARGIN
    sure = case.features[:, answer_order.NAMES.index("kind surely")]
    for each in answer_order.order(case.features @ weights, sure, margin, now=case.now):
        newer = case.newer[each]
        if newer is not None and newer < len(case.told):
            order.setdefault(newer)
        order.setdefault(each)
    return [case.told[each] for each in order]


def report(cases: Sequence[Case]) -> None:
    """Prints what comes first before, and by fits that have not seen the person."""
    found: defaultdict[tuple[str, str], list[tuple[bool, ...]]] = defaultdict(list)
    fold_of = {case.person: zlib.crc32(case.person.encode()) % FOLDS for case in cases}
    for fold in range(FOLDS):
        others = [case for case in cases if case.telling and fold_of[case.person] != fold]
        weights = fitted(others)
        for case in cases:
            if fold_of[case.person] != fold:
                continue
            after = ordered(case, weights)
            found[case.model, case.kind].append((*_seen(case.told), *_seen(after)))
    print("| model | questions | | first | in three | outdated | first | in three | outdated |")
    print("|---|---|---|---|---|---|---|---|---|")
    for (model, kind), rows in found.items():
        shares = " | ".join(f"{each:.3f}" for each in np.mean(rows, axis=0))
        print(f"| {model} | {kind} | {len(rows)} | {shares} |")


def _seen(told: Sequence[str | None]) -> tuple[bool, bool, bool]:
    first = next((each for each in told if each), None)
    return told[:1] == ["answer"], "answer" in told[:_THREE], first == "outdated"


if __name__ == "__main__":
    main()
