"""`python -m beliefledger.tools.bench.train_arrivals [--write]`: train which of the first results,
or of the turns said after them, answers what is asked about now.

Questions about now of the tune halves of the stories and talks, and of histories, are asked of the
product, with the vectors of words and with MiniLM; stories and histories alone and several told by
one person. Each result is as probably about the question as the weights of its own features say,
and passes that on to the turns that take its place, as those of pairs say: learned together is that
most of it arrives at what answers, and that what is about the question is there at all. With
`--write`, projections/arrivals.yaml gets the weights. The figures are from fits that had not seen
the person. Which turns are news is told by scorers that had not seen the story, as in
`train_answers`.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.projections import answer_order, arrivals, take_overs
from beliefledger.projections.arrivals import LINKS, TOPIC, Arrivals, Weights
from beliefledger.projections.current_first import Placed
from beliefledger.projections.embedding import MINILM, Words
from beliefledger.projections.evidence import Evidence, turn_of
from beliefledger.projections.index import SubjectIndex
from beliefledger.tools.bench import stories, talks, train_answers
from beliefledger.tools.bench.adam import Adam
from beliefledger.tools.bench.histories import KINDS, Asked, histories, tell
from beliefledger.tools.bench.searching import K, model_of
from beliefledger.tools.bench.stories import STORIES, Story, written
from beliefledger.tools.bench.talks import TALKS

WEIGHTS = Path(arrivals.__file__).with_name("arrivals.yaml")
MUCH = {
    "one": 0.5, "mixed": 1.0, "talk": 2.0, "history one": 0.5, "history mixed": 1.0,
}  # fmt: skip
"""How much a question of each kind counts …"""
OF = {
    "tune": 0.5, "tune_2": 1.5, "tune_3": 1.5, "tune_4": 1.5, "test_2": 1.0, "test_6": 1.5,
    "near": 6.0,
}  # fmt: skip
"""… and one of each file of stories."""
STALE, ABOUT = 1.0, 0.5
"""How much it counts, beside what answers, that it is more probable than what is outdated, and that
what was or is the answer is taken to be about the question."""
RIDGES = 1.0, 0.3
"""Of the features of results, and of pairs."""
SHARPER = 1.5
"""What the weights are multiplied by in the end: what is most probable comes first more often where
it passes on more of its chance to one text, and less to each of many."""
FOLDS = 4
STEPS, RATE = 250, 0.04
_HARDLY = 1e-6

Vector = NDArray[np.float64]


class Asking(NamedTuple):
    """A question, and the ledger that it is asked of."""

    memory: MemoryLedger
    called: tuple[str, str, str, str]
    """The model, the file, the kind, and who is held out together."""
    person: str
    words: str
    at: datetime
    told: train_answers.Told

    def search(self) -> None:
        """Ask it."""
        self.memory.search(self.person, self.words, K, valid_at=self.at, record=False)

    def tells(self, numbers: Sequence[int], index: SubjectIndex) -> list[str | None]:
        """What each text of an index tells."""
        return [
            self.told(
                train_answers.words_of(self.memory, index, each),
                train_answers.words_of(self.memory, index, turn_of(each, index)),
            )
            for each in numbers
        ]


class Case(NamedTuple):
    """A question: what is known of the first results, and of pairs of these and further texts, what
    each text tells, and what each result is worth alone."""

    model: str
    file: str
    kind: str
    person: str
    known: Vector
    """Of shape (results, `TOPIC`) …"""
    features: NDArray[np.float32]
    """… and (results, texts, features of a pair)."""
    later: NDArray[np.bool_]
    told: Sequence[str | None]
    worth: Vector

    @property
    def much(self) -> float:
        return MUCH[self.kind] * OF.get(self.file, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train what answers a question about now.")
    parser.add_argument("--write", action="store_true", help=f"write the weights to {WEIGHTS.name}")
    given = parser.parse_args()
    cases = [case for model in (Words.name, MINILM) for case in asked(model)]
    report(cases)
    trained = learned(cases)
    if given.write:
        write(trained)


def learned(cases: Sequence[Case]) -> dict[str, Weights]:
    """The weights for each kind of vectors."""
    return {
        name: fitted([case for case in cases if case.model == model])
        for name, model in (("sentences", MINILM), ("words", Words.name))
    }


def write(trained: dict[str, Weights]) -> None:
    """Put the weights into their file."""
    comments, _ = re.split(r"(?m)^(?=sentences:)", WEIGHTS.read_text("utf-8"))
    lines = [comments]
    for kind, weights in trained.items():
        lines.append(f"{kind}:\n")
        for part, names, of in (
            ("topic", TOPIC, weights.topic),
            ("link", LINKS, weights.link),
        ):
            lines.append(f"  {part}:\n")
            lines += [f"    {name}: {one:.2f}\n" for name, one in zip(names, of, strict=True)]
    WEIGHTS.write_text("".join(lines), "utf-8")


# What the product answers


def asked(model: str) -> Iterator[Case]:
    """Each question about now of the tune halves, asked of a ledger with this model."""
    for each in askings(model):
        yield from case(each)


def askings(model: str) -> Iterator[Asking]:
    """Each question about now of the tune halves, to be asked of a ledger with this model before
    the next one is taken."""
    near = written(STORIES / "near.yaml")
    fold_of = {
        story.name: number % FOLDS
        for groups in (stories.mixed(written(STORIES / "tune.yaml")), stories.alone(near))
        for number, some in enumerate(groups)
        for story in some
    }
    scorers = train_answers.scorers_without(fold_of)
    with tempfile.TemporaryDirectory() as place, model_of(model):
        memory = open_memory(Path(place) / "ledger", consent="consent")
        with memory:
            for half in ("tune", "tune_2"):
                for talk in talks.written(TALKS / f"{half}.yaml"):
                    for said_at, words in talk.turns:
                        memory.remember(f"{half} {talk.name}", words, said_at=said_at)
                    for each in talk.asks:
                        of = (model, half, "talk", f"{half} {talk.name}")
                        told = train_answers.by_text(each.told)
                        yield Asking(memory, of, of[-1], each.words, talk.asked_at, told)
            for half in OF:
                some = written(STORIES / f"{half}.yaml")
                together = stories.mixed(some)
                group_of = {s.name: str(n) for n, group in enumerate(together) for s in group}
                kinds = [("one", stories.alone(some))]
                kinds += [("mixed", together)] if half != "near" else []
                for kind, people in kinds:
                    for group in people:
                        fold = fold_of.get(group[0].name)
                        person = f"{half} {kind} {group[0].name}"
                        of = (model, half, kind, f"{half} {group_of[group[0].name]}")
                        with nullcontext() if fold is None else scorers[fold]:
                            yield from _of_stories(memory, of, person, group)
            yield from _of_histories(memory, model)


def _of_histories(memory: MemoryLedger, model: str) -> Iterator[Asking]:
    for kind in KINDS:
        for history in histories(kind):
            tell(memory, history)
            of = (model, "histories", f"history {kind}", history.name)
            for each in history.asks:
                told = _by_words(each)
                yield Asking(memory, of, history.name, each.words, history.asked_at, told)


def _by_words(asked: Asked) -> train_answers.Told:
    """What a result tells of a history, by the words of its turn alone."""
    return lambda _, words: asked.told(words)


def _of_stories(
    memory: MemoryLedger, of: tuple[str, str, str, str], person: str, some: Sequence[Story]
) -> Iterator[Asking]:
    stories.tell(memory, person, some)
    at = max(story.asked_at for story in some)
    for story in some:
        for words in story.now:
            yield Asking(memory, of, person, words, at, train_answers.told_now(story))


def case(asking: Asking) -> Iterator[Case]:
    """A question as it is asked of the product; none where nothing may take a place."""
    seen: list[tuple[Sequence[Placed], take_overs.Pairs, Vector, Vector, SubjectIndex]] = []
    topic = [answer_order.NAMES.index(each) for each in TOPIC]

    def kept(placed: Sequence[Placed], evidence: Evidence) -> list[Placed]:
        first = placed[: answer_order.WINDOW]
        if first and take_overs.kind(evidence) is not None:
            texts = take_overs.looked_at(first, evidence)
            pairs = arrivals.links_of(texts, evidence, len(first))
            if pairs is not None:
                known = answer_order.features(first, evidence)
                worth = known @ answer_order.weights()
                seen.append((texts, pairs, known[:, topic], worth, evidence.index))
        return list(placed)

    with patch.object(answer_order, "reordered", kept):
        asking.search()
    if seen:
        texts, pairs, known, worth, index = seen[-1]
        numbers = [each.number for each in texts]
        tells = asking.tells(numbers, index)
        links = pairs.features.astype(np.float32)
        yield Case(*asking.called, known, links, pairs.later, tells, worth)


# What is learned of it


def fitted(cases: Sequence[Case]) -> Weights:
    """The weights by which most of what is about the question arrives at what answers, by Adam.
    That nothing takes a text's place is worth nothing."""
    cases = [each for each in cases if "answer" in each.told]
    rows = max(len(each.known) for each in cases)
    size = max(len(each.told) for each in cases)
    shape = len(cases), rows, size
    known = np.zeros((*shape[:2], len(TOPIC)))
    features = np.zeros((*shape, len(LINKS)), np.float32)
    later, there = np.zeros(shape, np.bool_), np.zeros(shape[:2], np.bool_)
    answers, stale = (np.zeros((len(cases), size), np.bool_) for _ in range(2))
    for row, each in enumerate(cases):
        own, count = len(each.known), len(each.told)
        known[row, :own], there[row, :own] = each.known, True
        features[row, :own, :count] = each.features
        later[row, :own, :count] = each.later
        answers[row, :count] = [told == "answer" for told in each.told]
        stale[row, :count] = [told == "outdated" for told in each.told]
    much = np.array([each.much for each in cases])
    beside = STALE * much * stale.any(axis=1)
    on = answers | stale
    itself = np.eye(rows, size, dtype=np.bool_)[None]
    topic, link = np.zeros(known.shape[2]), np.zeros(features.shape[3])
    by_topic, by_link = Adam(topic, RATE), Adam(link, RATE)
    for _ in range(STEPS):
        worth = np.where(there, known @ topic, -np.inf)
        about = _chances(worth)
        links = np.where(later, features @ link.astype(np.float32), -np.inf)
        taken = _chances(np.where(itself, 0, links))
        arrives = np.einsum("nr,nrt->nt", about, taken) + _HARDLY
        right = (arrives * answers).sum(axis=1)
        either = right + (arrives * stale).sum(axis=1)
        towards = -((much + beside) / right)[:, None] * answers + (beside / either)[:, None] * on
        begun = (about * on[:, :rows]).sum(axis=1) + _HARDLY
        of_about = np.einsum("nrt,nt->nr", taken, towards)
        of_about -= (ABOUT * much / begun)[:, None] * on[:, :rows]
        by_about = about * (of_about - (about * of_about).sum(axis=1, keepdims=True))
        by_pair = about[:, :, None] * towards[:, None, :]
        by_pair = taken * (by_pair - (taken * by_pair).sum(axis=2, keepdims=True))
        of_topic = np.einsum("nr,nrk->k", by_about, known)
        of_link = np.einsum("nrt,nrtk->k", np.where(later, by_pair, 0).astype(np.float32), features)
        topic = topic - by_topic.step(of_topic + 2 * RIDGES[0] * topic)
        link = link - by_link.step(of_link + 2 * RIDGES[1] * link)
    return Weights(SHARPER * topic, SHARPER * link)


def _chances(worth: Vector) -> Vector:
    """How probably each of the last axis is chosen."""
    chances = np.exp(worth - worth.max(axis=-1, keepdims=True))
    chosen: Vector = chances / chances.sum(axis=-1, keepdims=True)
    return chosen


def ordered(each: Case, weights: Weights) -> list[str | None]:
    """What the texts of a case tell, in the order by these weights and by what results are worth
    alone."""
    pairs = take_overs.Pairs(each.features.astype(np.float64), each.later)
    taken = arrivals.taking(pairs, weights.link)
    chances = arrivals.passed_on(_chances(each.known @ weights.topic), taken)
    texts = [Placed(number, ()) for number in range(len(each.told))]
    worth = arrivals.mixed(each.worth, Arrivals(texts, chances, taken))
    return [each.told[place] for place in np.argsort(-worth, kind="stable")]


def report(cases: Sequence[Case]) -> None:
    """Prints what stands first by the order alone, and by fits that have not seen the person."""
    fold_of = {each.person: zlib.crc32(each.person.encode()) % FOLDS for each in cases}
    found: defaultdict[tuple[str, str, str], list[tuple[str | None, str | None]]]
    found = defaultdict(list)
    for model in sorted({each.model for each in cases}):
        of = [each for each in cases if each.model == model]
        for fold in range(FOLDS):
            weights = fitted([each for each in of if fold_of[each.person] != fold])
            for each in of:
                if fold_of[each.person] == fold:
                    before = each.told[int(each.worth.argmax())]
                    row = before, ordered(each, weights)[0]
                    found[model, each.file, each.kind].append(row)
    print("| model | file | | questions | first | outdated | first: after | outdated: after |")
    print("|---|---|---|---|---|---|---|---|")
    for (model, file, kind), rows in found.items():
        shares = [
            sum(row[after] == told for row in rows) / len(rows)
            for after in (0, 1)
            for told in ("answer", "outdated")
        ]
        told = " | ".join(f"{each:.3f}" for each in shares)
        print(f"| {model} | {file} | {kind} | {len(rows)} | {told} |", flush=True)


if __name__ == "__main__":
    main()
