"""`python -m beliefledger.tools.bench.distil_meant HAYSTACKS --work DIRECTORY [--write]`: distil
the network of what is meant, gate/meant-1.bin, from a model of language.

1. MiniLM is trained on the lines that `train_earnest` is trained on: it knows words that no line
   has. This takes a quarter of an hour.
2. It says how probably each of many further sentences is meant: of HAYSTACKS, a file of
   LongMemEval's sessions (MIT License), those that users said and nobody labelled; and of variants
   of the lines, with some words in the place of which others with a near meaning stand, or with
   parts of two lines.
3. A small network (`gate/sentence_network.py`) is trained to say the same of all of them, and what
   the labels say of the lines. A word's vector begins as what MiniLM has for it.
4. Its weights are rounded to whole numbers.

Without `--write` a dozen batches of lines are left out of everything, and what the network says of
them is printed, and what the network and the regression (gate/earnest_runs.txt) weigh in the sum
that fits their labels best: "of both" in gate/earnest.yaml. What is in DIRECTORY already, the
trained model and its answers, is not made again.

To learn what a larger model says: Hinton, Vinyals and Dean, Distilling the Knowledge in a Neural
Network, 2015. With variants of few labelled sentences: Tang et al., Distilling Task-Specific
Knowledge from BERT into Simple Neural Networks, 2019.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional

from beliefledger.gate import sentence_network as network
from beliefledger.gate.sentence_network import Network
from beliefledger.networks import words as network_words
from beliefledger.networks.words import UNKNOWN, place_of
from beliefledger.tools.bench import distilling, train_earnest
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
    padded,
    probability,
)  # fmt: skip
from beliefledger.tools.bench.sparse_fit import Rows, fitted
from beliefledger.tools.bench.train_earnest import Row
from beliefledger.tools.bench.turns import CHATS

LEFT_OUT = frozenset(
    f"{name}-"
    for name in (
        "near", "jokes", "guesses", "mixed_false", "mixed_talk", "friends_d", "terse_chat",
        "abroad", "moments", "others", "assistant", "chat",
    )
)  # fmt: skip
"""The batches that the figures are of, which are told without `--write`."""
VECTOR, OUTPUTS = 48, 96
"""How many numbers a word and a layer have."""
VARIANTS = 110_000
LIKELY = 0.22
"""How probably another word is taken."""
LENGTHS = range(8, 241)
"""Of a further sentence, in characters."""
LONGEST_TURN = 3_000
"""What is longer is no talk."""
LABEL = 0.5
"""How much a line's label counts beside what MiniLM says of it."""
SURE, OF_SURE = frozenset(("phrases", "plain", "notes.txt", "no_notes.txt")), 2.5
"""The batches whose labels count alone, since the tests ask for them, and how much more they do."""
PASSES, TOGETHER, RATE = 7, 128, 2e-3
ANSWERS = "answers.json"
_STEPS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description="Distil the network of what is meant.")
    parser.add_argument("haystacks", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="where what takes long is kept")
    parser.add_argument("--data", type=Path, default=CHATS, help=f"else {CHATS}")
    parser.add_argument("--write", action="store_true", help=f"write {network.FILE}")
    parser.add_argument("--passes", type=int, default=PASSES)
    given = parser.parse_args()
    # What was answered with every line is no measure of some of them.
    work = given.work / ("all" if given.write else "held_out")
    work.mkdir(parents=True, exist_ok=True)
    rows = train_earnest.all_rows(given.data)
    seen = [row for row in rows if given.write or row.batch not in LEFT_OUT]
    held = [] if given.write else [row for row in rows if row.batch in LEFT_OUT]
    teacher = Teacher.trained(labels_of(seen), work / "teacher")
    if not (work / ANSWERS).exists():
        further = further_of(seen, rows, given.haystacks)
        keep(work / ANSWERS, teacher, [row.text for row in seen], further)
    told, texts = learned(seen, work / ANSWERS)
    student = Student(*teacher.vocabulary(texts))
    train(student, texts, told, held, given.passes)
    made = rounded(student)
    if given.write:
        Path(network.__file__).with_name(network.FILE).write_bytes(network.packed(made))
    else:
        report("rounded", np.array([made.log_odds(row.text) for row in held]), held)
        shares, odds = together(made, seen, held)
        report("with the regression", odds, held)
        print("of both: regression, network, bias:", *shares.round(3))


def further_of(seen: Sequence[Row], rows: Sequence[Row], haystacks: Path) -> list[str]:
    """The sentences that MiniLM is asked about besides the lines."""
    known = {row.text for row in rows}
    said = [
        text for text in sorted(of_users(haystacks, LONGEST_TURN, LENGTHS)) if text not in known
    ]
    return [*said, *variants([row.text for row in seen], VARIANTS)]


def labels_of(rows: Sequence[Row]) -> Told:
    """What MiniLM is trained on."""
    return Told(
        [row.text for row in rows],
        np.array([row.kept for row in rows], np.float32),
        np.array([row.much for row in rows], np.float32),
    )


def keep(file: Path, teacher: Teacher, lines: list[str], further: list[str]) -> None:
    """Ask MiniLM about lines and further sentences, and write its log odds to a file."""
    odds = teacher.answers([*lines, *further]).tolist()
    answered = {
        "lines": dict(zip(lines, odds[: len(lines)], strict=True)),
        "further": dict(zip(further, odds[len(lines) :], strict=True)),
    }
    file.write_text(json.dumps(answered))


def learned(seen: Sequence[Row], answered: Path) -> tuple[Told, list[str]]:
    """What the network is trained on: the lines, and what was asked about besides; and the texts
    of these."""
    read = json.loads(answered.read_text())
    texts = [*(row.text for row in seen), *read["further"]]
    target = np.zeros(len(texts), np.float32)
    target[len(seen) :] = probability(list(read["further"].values()))
    for place, row in enumerate(seen):
        odds = read["lines"].get(row.text)  # None of a line that was written since
        told = row.kept if odds is None or row.batch in SURE else probability([odds])[0]
        target[place] = LABEL * row.kept + (1 - LABEL) * told
    much = np.ones(len(texts), np.float32)
    much[: len(seen)] = [row.much * (OF_SURE if row.batch in SURE else 1) for row in seen]
    return Told(texts, target, much), texts


def variants(lines: Sequence[str], number: int) -> list[str]:
    """So many variants of lines."""
    rng = random.Random(SEED)
    others = OtherWords(lines)
    known = set(lines)
    made: list[str] = []

    def other(found: re.Match[str]) -> str:
        word = found[0]
        if rng.random() >= LIKELY:
            return word
        return others.written(others.chosen(word.lower(), rng), word)

    while len(made) < number:
        text = rng.choice(lines)
        if rng.random() < 0.7:
            text = re.sub(r"[A-Za-z']+", other, text)
        else:
            text = joined(text, rng.choice(lines), rng)
        if len(text) < LENGTHS.stop and text not in known:
            known.add(text)
            made.append(text)
    return made


def joined(one: str, other: str, rng: random.Random) -> str:
    """The beginning of a line and the end of another, or both after each other."""
    ends = [found.start() for found in _JOINT.finditer(one)]
    begins = [found.start() for found in _JOINT.finditer(other)]
    if ends and begins:
        return one[: rng.choice(ends)] + other[rng.choice(begins) :]
    return one.rstrip(".!") + rng.choice((", ", " but ", " and ", " so ", ". ")) + other


_JOINT = re.compile(r", | and | but | so | because ")


class Student(nn.Module):
    """The network while it is trained: see `gate.sentence_network`."""

    def __init__(self, words: Sequence[str], base: Floats) -> None:
        super().__init__()
        self.places = {word: place for place, word in enumerate(words)}
        self.base = torch.tensor(base)
        main = np.linalg.svd(base[: WORDS // 2], full_matrices=False)[2][:VECTOR].T
        self.turned = nn.Parameter(3 * torch.tensor(main.copy()))
        self.own = nn.Parameter(torch.zeros(len(words), VECTOR))
        """What a word has beside the part of its base that is used."""
        self.layers = nn.ModuleList(
            nn.Conv1d(OUTPUTS if number else VECTOR, OUTPUTS, 3, padding=far, dilation=far)
            for number, far in enumerate(network.DILATIONS)
        )
        self.out = nn.Linear(2 * OUTPUTS, 1)
        self.dropped = nn.Dropout(0.1)

    def places_of(self, text: str) -> list[int]:
        said = network_words.words(text)
        found = [place_of(self.places, word) for word in said]
        return found or [self.places[UNKNOWN]]

    def forward(self, places: torch.Tensor) -> torch.Tensor:
        there = (places > 0)[:, None, :].float()
        found = (self.base[places] @ self.turned + self.own[places]).transpose(1, 2)
        found = self.dropped(found) * there
        for number, layer in enumerate(self.layers):
            told = functional.relu(layer(self.dropped(found) if number else found)) * there
            found = found + told if number else told
        pooled = torch.cat([found.sum(2) / there.sum(2), found.max(2)[0]], 1)
        logits: torch.Tensor = self.out(self.dropped(pooled))[:, 0]
        return logits


def train(
    student: Student, texts: Sequence[str], told: Told, held: Sequence[Row], passes: int
) -> None:
    """Train the network, and print after each pass what it says of what was held out."""
    read = [student.places_of(text) for text in texts]
    lengths = [len(each) for each in read]
    course = Course(student, passes * len(read) // TOGETHER, RATE)
    for number in range(passes):
        for chosen in batches(lengths, TOGETHER, SEED + number):
            places = padded([read[at] for at in chosen])
            places = course.with_lost(places, student.places[UNKNOWN])
            course.step(student(places), told, chosen)
        if held:
            mean = course.mean.eval()
            with torch.no_grad():
                odds = [mean(padded([student.places_of(row.text)])).item() for row in held]
            report(f"pass {number + 1}", np.array(odds), held)
            mean.train()
    student.load_state_dict(course.mean.module.state_dict())


def rounded(student: Student) -> Network:
    """The network in whole numbers."""
    student.eval()
    told = {name: each.numpy().astype(np.float64) for name, each in student.state_dict().items()}
    with torch.no_grad():
        meant = (student.base @ student.turned + student.own).numpy().astype(np.float64)
    vectors, unit = distilling.rounded(meant)
    layers = tuple(
        distilling.convolution(told, f"layers.{number}", STEP if number else unit)
        for number in range(len(network.DILATIONS))
    )
    out = told["out.weight"][0]
    of_mean, of_most = out[:OUTPUTS], out[OUTPUTS:]
    units = [float(np.abs(each).max() / TOP) for each in (of_mean, of_most)]
    return Network(
        student.places,
        vectors,
        layers,
        np.rint(of_mean / units[0]),
        np.rint(of_most / units[1]),
        (units[0] * STEP, units[1] * STEP),
        float(student.out.bias.item()),
    )


def together(
    made: Network, seen: Sequence[Row], held: Sequence[Row]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What the log odds of a regression that did not see what was held out, and those of the
    network, weigh in the sum that fits best, with the bias; and that sum for each row."""
    runs = train_earnest.common(seen)
    x = train_earnest.vectors([*seen, *held], runs)
    count = train_earnest.features(runs)
    kept = np.array([row.kept for row in seen], np.float64)
    much = np.array([row.much for row in seen])
    weights = fitted(Rows(x[: len(seen)], count), kept, much, train_earnest.RIDGE)
    odds = Rows(x[len(seen) :], count).times(weights)
    own = [made.log_odds(row.text) for row in held]
    parts = np.column_stack([odds, own, np.ones(len(held))])
    label = np.array([row.kept for row in held], np.float64)
    found = np.zeros(parts.shape[1])
    for _ in range(_STEPS):  # Newton's method
        likely = 1 / (1 + np.exp(-parts @ found))
        slope = parts.T @ (label - likely)
        bent = (parts * (likely * (1 - likely))[:, None]).T @ parts
        found += np.linalg.solve(bent, slope)
    return found, parts @ found


def report(name: str, odds: NDArray[np.float64], held: Sequence[Row]) -> None:
    """Prints how well scores tell what is meant."""
    distilling.report(name, odds, np.array([row.kept for row in held], np.float64))


if __name__ == "__main__":
    main()
