"""`python -m beliefledger.tools.bench.train_take_overs [--write]`: train which later turn takes the
place of what stands first.

Questions about now of the tune halves of the stories and talks are asked of the product, with the
vectors of words and with MiniLM; stories alone and several told by one person. Each result is as
probably meant as the order of the first results says, and passes that on to the turns that take its
place: learned is that most of it arrives at what answers. With `--write`,
projections/take_overs.yaml gets the weights. The figures are from fits that had not seen the
person. Which turns are news is told by scorers that had not seen the story, as in `train_answers`.
"""

from __future__ import annotations

import argparse
import re
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from beliefledger.projections import answer_order, take_overs
from beliefledger.projections.current_first import Placed
from beliefledger.projections.embedding import MINILM, Words
from beliefledger.projections.evidence import Evidence
from beliefledger.projections.index import SubjectIndex
from beliefledger.tools.bench.adam import Adam
from beliefledger.tools.bench.train_arrivals import Asking, askings

WEIGHTS = Path(take_overs.__file__).with_name("take_overs.yaml")
MUCH = {"one": 1.0, "mixed": 1.0, "talk": 2.0}
"""How much a question of each kind counts …"""
OF = {"tune": 0.5, "tune_2": 1.5, "tune_3": 1.5, "test_2": 1.0, "test_6": 1.5, "near": 3.0}
"""… and one of each file of stories."""
HALVES = ("tune", "tune_2")
"""Of the talks."""
STALE = 3.0
"""How much it counts, beside what answers, that it is more probable than what is outdated."""
RIDGE = 0.3
FOLDS = 8
STEPS, RATE = 200, 0.05
_HARDLY = 1e-6

Vector = NDArray[np.float64]


class Case(NamedTuple):
    """A question: how probably each of the first results is meant, what is known of pairs of these
    and further texts, and what each text tells."""

    model: str
    file: str
    kind: str
    person: str
    meant: Vector
    features: Vector
    later: NDArray[np.bool_]
    told: Sequence[str | None]
    first: int
    """The place of what stands first now."""

    @property
    def much(self) -> float:
        return MUCH[self.kind] * OF.get(self.file, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train what takes the place of the first result.")
    parser.add_argument("--write", action="store_true", help=f"write the weights to {WEIGHTS.name}")
    given = parser.parse_args()
    cases = [case for model in (Words.name, MINILM) for case in asked(model)]
    report(cases)
    trained = learned(cases)
    if given.write:
        write(trained)


def learned(cases: Sequence[Case]) -> dict[str, Vector]:
    """The weights for each kind of vectors."""
    return {
        name: fitted([case for case in cases if case.model == model])
        for name, model in (("sentences", MINILM), ("words", Words.name))
    }


def write(trained: dict[str, Vector]) -> None:
    """Put the weights into their file."""
    comments, _ = re.split(r"(?m)^(?=sentences:)", WEIGHTS.read_text("utf-8"))
    lines = [comments]
    for kind, weights in trained.items():
        lines.append(f"{kind}:\n")
        named = zip(take_overs.NAMES, weights, strict=False)
        lines += [f"  {name}: {weight:.2f}\n" for name, weight in named]
    WEIGHTS.write_text("".join(lines), "utf-8")


# What the product answers


def asked(model: str) -> Iterator[Case]:
    """Each question about now of the tune halves, asked of a ledger with this model."""
    for each in askings(model):
        if each.called[1] in (*OF, *HALVES):
            yield from case(each)


def case(asking: Asking) -> Iterator[Case]:
    """A question as it is asked of the product; none where nothing may take a place."""
    seen: list[tuple[list[Placed], take_overs.Pairs, Vector, SubjectIndex]] = []
    firsts: list[int] = []
    ordinary = answer_order.reordered

    def first_of(placed: Sequence[Placed], _: Evidence) -> None:
        firsts.extend(each.number for each in placed[:1])

    def kept(placed: Sequence[Placed], evidence: Evidence) -> list[Placed]:
        first = placed[: answer_order.WINDOW]
        if first and take_overs.kind(evidence) is not None:
            texts = take_overs.looked_at(first, evidence)
            pairs = take_overs.pairs_of(texts, evidence, len(texts))
            if pairs is not None and pairs.later.any():
                worth = answer_order.features(first, evidence) @ answer_order.weights()
                meant = np.zeros(len(texts))
                meant[: len(first)] = np.exp(worth - worth.max())
                seen.append((texts, pairs, meant / meant.sum(), evidence.index))
        return ordinary(placed, evidence)

    with (
        patch.object(answer_order, "taker", first_of),
        patch.object(answer_order, "arrivals", _none),
        patch.object(answer_order, "reordered", kept),
    ):
        asking.search()
    if seen:
        texts, pairs, meant, index = seen[-1]
        numbers = [each.number for each in texts]
        if firsts[-1] in numbers:
            tells = asking.tells(numbers, index)
            known = pairs.features[:, :, : take_overs.OF_TAKER]
            place = numbers.index(firsts[-1])
            yield Case(*asking.called, meant, known, pairs.later, tells, place)


def _none(*_: object) -> None:
    """That of people who told of many things is learned by `train_arrivals`."""


# What is learned of it


def fitted(cases: Sequence[Case]) -> Vector:
    """The weights by which most of what is meant arrives at what answers, by Adam. That nothing
    takes a text's place is worth nothing."""
    cases = [each for each in cases if "answer" in each.told]
    size = max(len(each.told) for each in cases)
    shape = len(cases), size
    features = np.zeros((*shape, size, take_overs.OF_TAKER), np.float32)
    later, meant = np.zeros((*shape, size), np.bool_), np.zeros(shape)
    answers, stale = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    for row, each in enumerate(cases):
        count = len(each.told)
        features[row, :count, :count] = each.features
        later[row, :count, :count] = each.later
        meant[row, :count] = each.meant
        answers[row, :count] = [told == "answer" for told in each.told]
        stale[row, :count] = [told == "outdated" for told in each.told]
    much = np.array([each.much for each in cases])
    beside = STALE * much * stale.any(axis=1)
    itself = np.eye(size, dtype=np.bool_)[None]
    weights = np.zeros(features.shape[3])
    adam = Adam(weights, RATE)
    for _ in range(STEPS):
        worth = np.where(later, features @ weights.astype(np.float32), -np.inf)
        worth = np.where(itself, 0, worth)
        chance = np.exp(worth - worth.max(axis=2, keepdims=True))
        chance /= chance.sum(axis=2, keepdims=True)
        arrives = np.einsum("ni,nij->nj", meant, chance) + _HARDLY
        right = (arrives * answers).sum(axis=1)
        either = right + (arrives * stale).sum(axis=1)
        towards = -((much + beside) / right)[:, None] * answers
        towards += (beside / either)[:, None] * (answers | stale)
        by_pair = meant[:, :, None] * towards[:, None, :]
        by_worth = chance * (by_pair - (chance * by_pair).sum(axis=2, keepdims=True))
        gradient = np.einsum("nij,nijk->k", np.where(later, by_worth, 0), features)
        weights = weights - adam.step(gradient + 2 * RIDGE * weights)
    return weights


def first_after(each: Case, weights: Vector) -> str | None:
    """What stands first of a case tells, by these weights."""
    chances = np.where(each.later[each.first], np.exp(each.features[each.first] @ weights), 0)
    best = int(chances.argmax())
    taken = chances[best] >= take_overs.LEAST * (1 + chances.sum())
    return each.told[best if taken else each.first]


def report(cases: Sequence[Case]) -> None:
    """Prints what stands first before, and by fits that have not seen the person."""
    fold_of = {each.person: zlib.crc32(each.person.encode()) % FOLDS for each in cases}
    found: defaultdict[tuple[str, str, str], list[tuple[str | None, str | None]]]
    found = defaultdict(list)
    for model in sorted({each.model for each in cases}):
        of = [each for each in cases if each.model == model]
        for fold in range(FOLDS):
            weights = fitted([each for each in of if fold_of[each.person] != fold])
            for each in of:
                if fold_of[each.person] == fold:
                    row = each.told[each.first], first_after(each, weights)
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
        print(f"| {model} | {file} | {kind} | {len(rows)} | {told} |")


if __name__ == "__main__":
    main()
