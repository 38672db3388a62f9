"""`python -m beliefledger.tools.bench.distil_over HAYSTACKS --work DIRECTORY [--write]`: distil the
network of what is over, networks/over-1.bin, from a model of language.

1. Pairs of what was told and what is said later are those that `train_successions` has: what was
   told as the product believes it, and of the blocks as it was said, too.
2. MiniLM is trained on these. This takes half an hour.
3. It says how probably one puts an end to the other of many further pairs: variants, in which words
   have others with a near meaning in their place, the same in both sentences; what two people told
   who share a word; and what users say in HAYSTACKS, a file of LongMemEval's sessions (MIT).
4. A small network (`beliefledger/networks/pairs.py`) is trained to say the same, and what the
   labels say, and its weights are rounded to whole numbers.

The figures are of the blocks to test with, which nothing is trained on. What is in DIRECTORY
already, the trained model and its answers, is not made again.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from beliefledger.gate.pairs import small_words
from beliefledger.ledger.data_files import parsed
from beliefledger.networks import pairs as network
from beliefledger.networks import words as network_words
from beliefledger.networks.pairs import Layers, PairNetwork
from beliefledger.networks.stems import stem
from beliefledger.networks.words import UNKNOWN, Layer, place_of
from beliefledger.tools.bench import distilling, lines, train_successions
from beliefledger.tools.bench.blocks import blocks
from beliefledger.tools.bench.distilling import (
    SEED,
    STEP,
    TOP,
    WORDS,
    Course,
    Floats,
    OtherWords,
    Teacher,
    Told,
    batches,
    of_users,
    probability,
)  # fmt: skip
from beliefledger.tools.bench.overtaking import LATER, line_of, tell
from beliefledger.tools.bench.quality import DATA, Reading
from beliefledger.tools.bench.stories import STORIES, written


class Sizes(NamedTuple):
    """How many numbers a word, its place among the others, a layer and the last layer have."""

    vector: int
    near: int
    outputs: int
    hidden: int


SIZES = Sizes(48, 24, 96, 64)
PASSES, TOGETHER, RATE = 6, 128, 2e-3
STANDING = 0.33
"""So many of what stands in the blocks are taken, of which there are six for each that is over."""
STRANGE, CHAT = 7_000, 4_000
"""So many pairs of what different people say, and of what was told and a line of chat."""
VARIANTS, SHARING, SAID = 30_000, 18_000, 12_000
"""So many further pairs of each kind."""
LIKELY = 0.2
"""How probably another word is taken in a variant."""
ANSWERS = "answers.json"
_FAR = 4.0
"""By what nearness is divided beside the numbers of a vector."""
_SAME = 8.0
_LEAST = -20.0
_WORD = re.compile(r"[A-Za-z']+")
_KEPT = frozenset(("i", "user", "my", "not", "no"))
_OFTEN = 400
"""A word that more have says nothing about what they are about."""
_READ_TOGETHER = 256
_LONGEST_TURN, _LENGTHS = 1_500, range(8, 161)
"""Of what users say: a turn at most, and a sentence, in characters."""

Pair = tuple[str, str]


class Row(NamedTuple):
    """What was told, what is said later, whether that puts an end to it, and of which batch."""

    told: str
    said: str
    over: bool
    batch: str

    @property
    def pair(self) -> Pair:
        return self.told, self.said


def main() -> None:
    parser = argparse.ArgumentParser(description="Distil the network of what is over.")
    parser.add_argument("haystacks", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="where what takes long is kept")
    parser.add_argument("--write", action="store_true", help=f"write {network.FILE}")
    parser.add_argument("--passes", type=int, default=PASSES)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    every = list(rows("tune"))
    seen = some_of(every)
    labels = told_of([row.pair for row in seen], [float(row.over) for row in seen])
    teacher = Teacher.trained(labels, given.work / "teacher")
    if not (given.work / ANSWERS).exists():
        further = further_of(every, given.haystacks)
        odds = teacher.answers(further).tolist()
        (given.work / ANSWERS).write_text(json.dumps([further, odds]))
    further, odds = json.loads((given.work / ANSWERS).read_text())
    pairs = [*(row.pair for row in seen), *((told, said) for told, said in further)]
    target = [*(float(row.over) for row in seen), *probability(odds).tolist()]
    vocabulary = teacher.vocabulary([text for pair in pairs for text in pair])
    student = Student(*vocabulary, SIZES)
    test = list(rows("test"))
    train(student, pairs, told_of(pairs, target), test, given.passes)
    made = rounded(student)
    report("rounded", odds_of(made, [row.pair for row in test]), test)
    if given.write:
        Path(network.__file__).with_name(network.FILE).write_bytes(network.packed(made))


def odds_of(made: PairNetwork, pairs: Sequence[Pair]) -> NDArray[np.float64]:
    """What a network says of pairs, as log odds."""
    found = np.zeros(len(pairs))
    order = sorted(range(len(pairs)), key=lambda at: distilling.length(pairs[at]))
    for start in range(0, len(order), _READ_TOGETHER):
        chosen = order[start : start + _READ_TOGETHER]
        some = [pairs[at] for at in chosen]
        read = [
            (made.read(told, network.OF_TOLD), made.read(said, network.OF_SAID))
            for told, said in some
        ]
        found[chosen] = made.log_odds(read)
    return found


def told_of(pairs: Sequence[Pair], target: Sequence[float]) -> Told:
    """Pairs, each of which counts the same."""
    return Told(pairs, np.array(target, np.float32), np.ones(len(pairs), np.float32))


# The pairs


def rows(half: str, *, single: bool = False) -> Iterator[Row]:
    """All pairs of a half; that to test with has the blocks alone. Those of blocks that tell one
    line only if they are asked for."""
    yield from of_blocks(half, single=single)
    if half == "tune":
        for talk in train_successions.talks_of_scripts():
            for belief, over in talk.believed:
                yield Row(belief.text, talk.said, over, talk.batch)
        yield from as_written()
        yield from of_stories()


def of_blocks(half: str, *, single: bool) -> Iterator[Row]:
    """What was told in the blocks, and what is believed of it, each with what is said later."""
    some = list(blocks(half, single=single))
    with tempfile.TemporaryDirectory() as place, Reading().opened(Path(place) / "l") as memory:
        tell(memory, [(block.name, block.told) for block in some])
        for block in some:
            told = list(enumerate(block.told, 1))
            told += [(line_of(e), e.text) for e in memory.beliefs(block.name, valid_at=LATER)]
            for later in block.later:
                for number, text in told:
                    yield Row(text, later.said, number in later.over, "blocks")


def as_written() -> Iterator[Row]:
    """The pairs of single sentences, as they were written."""
    for line in (train_successions.PAIRS / "tune.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            first, second, label = line.split(" | ")
            yield Row(first, second, label == "over", "written")
    for first, second in parsed((DATA / "changes" / "lookalikes.yaml").read_bytes()):
        yield Row(first, second, over=False, batch="changes")


def of_stories() -> Iterator[Row]:
    """The turns of the stories to tune on, each with those after it."""
    for story in written(STORIES / "tune.yaml"):
        tells = [story.told(said) for _, said in story.turns]
        for number, (_, later) in enumerate(story.turns):
            for (_, first), old in zip(story.turns[:number], tells[:number], strict=True):
                over = old == "outdated" and tells[number] == "current"
                yield Row(first, later, over, "stories")


def some_of(every: Sequence[Row]) -> list[Row]:
    """The rows that are trained on: each pair once, some of what stands in the blocks, and pairs
    that have nothing to do with each other."""
    rng = random.Random(SEED)
    once = {row.pair: row for row in reversed(every)}
    taken = [
        row for row in once.values() if row.over or row.batch != "blocks" or rng.random() < STANDING
    ]
    of_others = [(rng.choice(every).told, rng.choice(every).said) for _ in range(STRANGE)]
    chat = rng.sample([line.text for line in lines.labelled()], CHAT)
    of_chat = [(rng.choice(every).told, text) for text in chat]
    taken += [Row(*pair, over=False, batch="strange") for pair in (*of_others, *of_chat)]
    return taken


def further_of(every: Sequence[Row], haystacks: Path) -> list[Pair]:
    """The pairs that MiniLM is asked about besides."""
    rng = random.Random(SEED)
    told = sorted({row.told for row in every})
    said = sorted({row.said for row in every})
    of_all = of_users(haystacks, _LONGEST_TURN, _LENGTHS)
    users = sorted(text for text in of_all if "?" not in text)
    found = {pair for pair, _ in variants(every, rng, VARIANTS)}
    found.update(sharing(told, said, rng, SHARING))
    found.update(sharing(users, users, rng, SAID // 2))
    found.update(sharing(told, users, rng, SAID // 2))
    return sorted(found)


def variants(every: Sequence[Row], rng: random.Random, number: int) -> Iterator[tuple[Pair, bool]]:
    """So many variants of pairs, half of them of what is over, with whether they are."""
    others = OtherWords([text for row in every[::3] for text in row.pair])
    halves = [[row for row in every if row.over == over] for over in (True, False)]
    for _ in range(number):
        row = rng.choice(halves[rng.random() < 0.5])
        words = sorted({each.lower() for text in row.pair for each in _WORD.findall(text)})
        chosen = {
            word: others.chosen(word, rng)
            for word in words
            if word not in _KEPT and rng.random() < LIKELY
        }
        yield (_with_others(row.told, chosen), _with_others(row.said, chosen)), row.over


def _with_others(text: str, others: dict[str, str]) -> str:
    def other(found: re.Match[str]) -> str:
        return OtherWords.written(others.get(found[0].lower(), found[0]), found[0])

    return _WORD.sub(other, text)


def sharing(
    told: Sequence[str], said: Sequence[str], rng: random.Random, number: int
) -> Iterator[Pair]:
    """So many pairs of two texts that have a word in common."""
    having: defaultdict[str, list[str]] = defaultdict(list)
    for text in told:
        for word in _words(text):
            having[word].append(text)
    while number:
        text = rng.choice(said)
        shared = sorted(word for word in _words(text) if 0 < len(having.get(word, ())) < _OFTEN)
        if shared:
            other = rng.choice(having[rng.choice(shared)])
            if other != text:
                number -= 1
                yield other, text


def _words(text: str) -> set[str]:
    """The words that tell what a text is about."""
    small = small_words()
    found = (each.lower() for each in _WORD.findall(text))
    return {each for each in found if len(each) > 3 and each not in small}


# The network


class Student(nn.Module):
    """The network while it is trained: see `networks.pairs`."""

    def __init__(self, words: Sequence[str], base: Floats, sizes: Sizes) -> None:
        super().__init__()
        self.places = {word: place for place, word in enumerate(words)}
        self.base = torch.tensor(base)
        main = np.linalg.svd(base[: WORDS // 2], full_matrices=False)[2].T
        self.turned = nn.Parameter(3 * torch.tensor(main[:, : sizes.vector].copy()))
        self.own = nn.Parameter(torch.zeros(len(words), sizes.vector))
        """What a word has beside the part of its base that is used."""
        self.near = nn.Parameter(2 * torch.tensor(main[:, : sizes.near].copy()))
        self.marks = nn.Parameter(0.1 * torch.randn(2, sizes.vector))
        outputs, seen = sizes.outputs, 2 * sizes.vector + 1
        self.told = nn.Conv1d(seen, outputs, 3, padding=1)
        self.told_again = nn.Conv1d(outputs, outputs, 3, padding=1)
        self.of_told = nn.Linear(2 * outputs, outputs, bias=False)
        self.said = nn.Conv1d(seen, outputs, 3, padding=1)
        self.said_again = nn.Conv1d(outputs, outputs, 3, padding=1)
        far = network.DILATED
        self.said_wide = nn.Conv1d(outputs, outputs, 3, padding=far, dilation=far)
        self.hidden = nn.Linear(4 * outputs, sizes.hidden)
        self.out = nn.Linear(sizes.hidden, 1)
        self.dropped = nn.Dropout(0.1)

    def forward(self, told: torch.Tensor, said: torch.Tensor, same: torch.Tensor) -> torch.Tensor:
        """Of the places of words (pairs, words) and which have the same stem (pairs, words said,
        words told)."""
        there = [(each > 0).float() for each in (told, said)]
        base = [self.base[each] for each in (told, said)]
        vectors = [
            self.dropped(of @ self.turned + self.own[each])
            for of, each in zip(base, (told, said), strict=True)
        ]
        placed = [each @ self.near for each in base]
        near = placed[1] @ placed[0].transpose(1, 2) + _SAME * same
        none = (there[0][:, None, :] == 0) | (there[1][:, :, None] == 0)
        near = near.masked_fill(none, 10 * _LEAST)
        first = self._beside(
            vectors[0] + same.amax(1)[:, :, None] * self.marks[1],
            vectors[1], near.transpose(1, 2), there[0],
        )  # fmt: skip
        second = self._beside(
            vectors[1] + same.amax(2)[:, :, None] * self.marks[0], vectors[0], near, there[1]
        )
        is_told, is_said = there[0][:, None], there[1][:, None]
        first = functional.relu(self.told(first)) * is_told
        first = first + functional.relu(self.told_again(self.dropped(first))) * is_told
        known = self.of_told(_pooled(first, is_told))[:, :, None]
        second = functional.relu(self.said(second) + known) * is_said
        second = second + functional.relu(self.said_again(self.dropped(second))) * is_said
        second = second + functional.relu(self.said_wide(second)) * is_said
        found = torch.cat([_pooled(second, is_said), _pooled(first, is_told)], 1)
        hidden = functional.relu(self.hidden(self.dropped(found)))
        odds: torch.Tensor = self.out(self.dropped(hidden))[:, 0]
        return odds

    def _beside(
        self, own: torch.Tensor, other: torch.Tensor, near: torch.Tensor, there: torch.Tensor
    ) -> torch.Tensor:
        """Each word with the one that is nearest to it, and how near that is."""
        best, at = near.max(2)
        nearest = torch.gather(other, 1, at[:, :, None].expand(-1, -1, other.shape[2]))
        how = best.clamp(min=_LEAST)[:, :, None] / _FAR
        return (torch.cat([own, nearest, how], 2) * there[:, :, None]).transpose(1, 2)


def _pooled(rows: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
    return torch.cat([rows.sum(2) / there.sum(2), rows.max(2)[0]], 1)


class Reader:
    """Reads pairs as a network's words."""

    def __init__(self, places: dict[str, int]) -> None:
        self.places = places
        self.stems: dict[str, int] = {"": 0}
        self.kept: dict[tuple[str, int], tuple[list[int], list[int]]] = {}

    def of(self, text: str, most: int) -> tuple[list[int], list[int]]:
        """The places of a text's words, and a number for each's stem; 0 of marks and figures."""
        if (text, most) not in self.kept:
            words = network_words.words(text, most) or [UNKNOWN]
            stems = [stem(word) if word.isalpha() else "" for word in words]
            numbers = [self.stems.setdefault(each, len(self.stems)) for each in stems]
            self.kept[text, most] = [place_of(self.places, word) for word in words], numbers
        return self.kept[text, most]

    def tensors(self, pairs: Sequence[Pair]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        told = [self.of(first, network.OF_TOLD) for first, _ in pairs]
        said = [self.of(second, network.OF_SAID) for _, second in pairs]
        places = [distilling.padded([each[0] for each in some]) for some in (told, said)]
        stems = [distilling.padded([each[1] for each in some]) for some in (told, said)]
        same = stems[1][:, :, None] == stems[0][:, None, :]
        same &= stems[1][:, :, None] > 0
        return places[0], places[1], same.float()


def train(
    student: Student, pairs: Sequence[Pair], target: Told, test: Sequence[Row], passes: int
) -> None:
    """Train the network, and print after each pass what it says of the pairs to test with."""
    reader = Reader(student.places)
    lengths = [distilling.length(pair) for pair in pairs]
    course = Course(student, passes * len(pairs) // TOGETHER, RATE)
    unknown = student.places[UNKNOWN]
    for number in range(passes):
        for chosen in batches(lengths, TOGETHER, SEED + number):
            told, said, same = reader.tensors([pairs[at] for at in chosen])
            told, said = course.with_lost(told, unknown), course.with_lost(said, unknown)
            course.step(student(told, said, same), target, chosen)
        mean = course.mean.eval()
        with torch.no_grad():
            odds = np.zeros(len(test))
            order = sorted(range(len(test)), key=lambda at: distilling.length(test[at].pair))
            for start in range(0, len(order), 512):
                chosen = order[start : start + 512]
                odds[chosen] = mean(*reader.tensors([test[at].pair for at in chosen])).numpy()
        report(f"pass {number + 1}", odds, test)
        mean.train()
    student.load_state_dict(course.mean.module.state_dict())


def rounded(student: Student) -> PairNetwork:
    """The network in whole numbers."""
    student.eval()
    told = {name: each.numpy().astype(np.float64) for name, each in student.state_dict().items()}
    with torch.no_grad():
        meant = (student.base @ student.turned + student.own).numpy().astype(np.float64)
        placed = (student.base @ student.near).numpy().astype(np.float64)
    vectors, unit = distilling.rounded(meant)
    near, of_near = distilling.rounded(placed)
    marks = np.clip(np.rint(told["marks"] / unit), -TOP, TOP).astype(np.int8)

    def linear(name: str) -> Layer:
        weights = told[f"{name}.weight"].T
        none = np.zeros(weights.shape[1])
        return distilling.whole(weights, told.get(f"{name}.bias", none), STEP)

    out = linear("out")
    layers = Layers(
        distilling.convolution(told, "told", unit),
        distilling.convolution(told, "told_again", STEP),
        linear("of_told"),
        distilling.convolution(told, "said", unit),
        distilling.convolution(told, "said_again", STEP),
        distilling.convolution(told, "said_wide", STEP),
        linear("hidden"),
        out._replace(scale=out.scale * STEP),  # log odds, and no steps of them
    )
    same, nearness = float(np.rint(_SAME / of_near**2)), of_near**2 / _FAR / unit
    return PairNetwork(student.places, vectors, near, marks, layers, same, nearness)


def report(name: str, odds: NDArray[np.float64], test: Sequence[Row]) -> None:
    """Prints how well scores tell what is over."""
    distilling.report(name, odds, np.array([row.over for row in test], np.float64))


if __name__ == "__main__":
    main()
