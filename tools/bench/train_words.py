"""`python -m beliefledger.tools.bench.train_words HAYSTACKS [--write]`: fit vectors of words to
questions and what answers them.

Trains projections/words-3.bin, which search compares texts with where no model is installed, from
words-2.bin. Those tell how near two sentences are in meaning; whoever asks "where's home for me
these days?" needs "signed for a 2 bed in antwerp", which is not near to it.

1. The words are the stems of words-2, with stop words and the question mark, since "where" and
   "who" say what is asked for, and stems that are often in what is learned from. A question and a
   text are each the sum of their words, as in words-2.
2. They are moved until a question is nearer to what was told that answers it, and to what is said
   later in its place, than to what answers other questions, to what else the same person told, and
   to what only sounds like a change (`tests/data/successions`).
3. At the same time sentences of users (HAYSTACKS, a file of LongMemEval's sessions, without those
   that any of its questions is answered by) keep the cosines that MiniLM gives them.

The file that ships was made when the further stems were in no order, which changes the numbers that
training begins and ends with a little; now a run begins with the same ones each time.

The figures are of the questions to test with, which nothing is trained on: how often the nearest of
some hundred texts of several people is about the question, and of the person's own.

A loss of contrasts within a batch: van den Oord et al., Representation Learning with Contrastive
Predictive Coding, 2018; Karpukhin et al., Dense Passage Retrieval, EMNLP 2020.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from beliefledger.ledger.data_files import content
from beliefledger.projections import word_vectors
from beliefledger.projections.search_terms import STOP_WORDS, stems
from beliefledger.projections.word_vectors import FILE, FILES, WordVectors, packed, unpacked
from beliefledger.tools.bench import distil_words, sentence_fit
from beliefledger.tools.bench.questions import Question, questions

BEFORE = "words-2"
COMMON = 3
"""In how many texts a stem has to be that is not among those of before."""
PASSES, TOGETHER, RATE = 8, 128, 5e-3
SHARP = 15.0
"""What cosines are multiplied by before they are compared."""
BACK = 0.3
"""How much it counts that a text is nearest to its own question."""
AFTER, OWN = 0.5, 0.6
"""How often what is said later is taken as the answer, and as another text something that the same
person told."""
KEPT, BESIDE = 1_000.0, 256
"""How much it counts that sentences keep their cosines, and of how many at a time."""
LOST = 0.05
"""The share of numbers that are left out in training."""
SEED = 1
_NEW = 0.02

Floats = NDArray[np.float32]


class Bags:
    """Texts as the rows of their words' vectors, with how much each counts."""

    def __init__(self, places: dict[str, int]) -> None:
        self._places = places
        self._kept: dict[str, tuple[list[int], list[float]]] = {}

    def of(self, text: str) -> tuple[list[int], list[float]]:
        if text not in self._kept:
            counted = Counter(word_vectors.every_term(text))
            known = [(self._places[each], n) for each, n in counted.items() if each in self._places]
            rows = [place for place, _ in known] or [0]
            self._kept[text] = rows, [1 + float(np.log(n)) for _, n in known] or [1.0]
        return self._kept[text]

    def tensors(self, texts: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """All rows, where each text's begin, and how much each counts."""
        bags = [self.of(text) for text in texts]
        rows = [row for each, _ in bags for row in each]
        much = [one for _, each in bags for one in each]
        starts = np.cumsum([0, *(len(each) for each, _ in bags[:-1])])
        return torch.tensor(rows), torch.tensor(starts), torch.tensor(much)


class Batch(NamedTuple):
    """Questions, an answer to each, and another text for each."""

    asked: list[str]
    answers: list[str]
    others: list[str]


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit vectors of words to questions.")
    parser.add_argument("haystacks", metavar="HAYSTACKS", type=Path, help="the sessions, as .xz")
    parser.add_argument("--write", action="store_true", help="replace the file and its digest")
    parser.add_argument("--passes", type=int, default=PASSES)
    given = parser.parse_args()
    every, test = list(questions("tune")), list(questions("test"))
    before = unpacked(content("beliefledger.projections", FILES[BEFORE][0]))
    some = sentence_fit.sentences(given.haystacks)
    trained = learned(before, every, some, distil_words.read(some), given.passes, test)
    made = packed(*trained, unknown_of(trained[1]), whole=True)
    sha256 = hashlib.sha256(made).hexdigest()
    report("rounded", unpacked(made), test)
    print(f"{len(made):,} bytes, SHA-256 {sha256}")
    if given.write:
        source = Path(word_vectors.__file__).resolve()
        source.with_name(FILE).write_bytes(made)
        told = source.read_text(encoding="utf-8")
        told = re.sub(r'(?m)^SHA256 = "\w+"', f'SHA256 = "{sha256}"', told)
        source.write_text(told, encoding="utf-8")


def unknown_of(vectors: Floats) -> float:
    """The length of an unknown word's vector."""
    return round(distil_words.UNKNOWN * float(np.median(np.linalg.norm(vectors, axis=1))), 6)


def started(before: WordVectors, every: Sequence[Question]) -> tuple[list[str], Floats]:
    """The stems, and the vectors that training begins with."""
    texts = {text for each in every for text in (each.words, *each.answers, *each.others)}
    counted = Counter(stem for text in texts for stem in set(word_vectors.every_term(text)))
    common = sorted(stem for stem, times in counted.items() if times >= COMMON)
    named = list(dict.fromkeys([*before.places, "?", *sorted(stems(STOP_WORDS)), *common]))
    old = before.factors[:, None] * before.bytes.astype(np.float32)
    old /= np.linalg.norm(old, axis=1).mean()
    new = np.random.default_rng(SEED).normal(0, _NEW, (len(named) - len(old), before.dimension))
    return named, np.concatenate([old, new.astype(np.float32)])


def learned(
    before: WordVectors,
    every: Sequence[Question],
    some: Sequence[str],
    told: Floats,
    passes: int,
    test: Sequence[Question],
) -> tuple[list[str], Floats]:
    """The stems and their vectors, moved. `told` are MiniLM's vectors of the sentences `some`."""
    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    named, first = started(before, every)
    bags = Bags({stem: place for place, stem in enumerate(named)})
    vectors = torch.nn.Parameter(torch.tensor(first))
    steps = passes * len(every) // TOGETHER
    optimizer = torch.optim.AdamW([vectors], lr=RATE, weight_decay=0.02)
    pace = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1, step / 100) * max(0.02, 1 - step / steps)
    )
    meant = torch.tensor(told - told.mean(axis=0))
    meant = functional.normalize(meant, dim=1)

    def read(texts: Sequence[str]) -> torch.Tensor:
        rows, starts, much = bags.tensors(texts)
        summed = functional.embedding_bag(
            rows, vectors, starts, mode="sum", per_sample_weights=much
        )
        return functional.normalize(functional.dropout(summed, LOST) + 1e-6, dim=1)

    for number in range(passes):
        for batch in batches(every, rng):
            asked = read(batch.asked)
            near = SHARP * asked @ read([*batch.answers, *batch.others]).T
            count = len(batch.asked)
            own = torch.arange(count)
            loss = functional.cross_entropy(near, own)
            loss = loss + BACK * functional.cross_entropy(near[:, :count].T, own)
            chosen = rng.sample(range(len(some)), BESIDE)
            beside = read([some[each] for each in chosen])
            apart = beside @ beside.T - meant[chosen] @ meant[chosen].T
            loss = loss + KEPT * (apart**2).mean()
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            pace.step()
        now = vectors.detach().numpy()
        report(
            f"pass {number + 1}", unpacked(packed(named, now, unknown_of(now), whole=True)), test
        )
    return named, vectors.detach().numpy()


def batches(every: Sequence[Question], rng: random.Random) -> Iterator[Batch]:
    """All questions in chance order, in each batch one of a person at most."""
    waiting = rng.sample(every, len(every))
    while len(waiting) >= TOGETHER:
        taken: dict[str, Question] = {}
        left = []
        for each in waiting:
            if len(taken) < TOGETHER and each.of not in taken:
                taken[each.of] = each
            else:
                left.append(each)
        if len(taken) < TOGETHER:
            return
        waiting = left
        some = list(taken.values())
        yield Batch(
            [each.words for each in some],
            [_answer(each, rng) for each in some],
            [_other(each, rng) for each in some],
        )


def _answer(question: Question, rng: random.Random) -> str:
    told, *later = question.answers
    return rng.choice(later) if later and rng.random() < AFTER else told


def _other(question: Question, rng: random.Random) -> str:
    own = question.others if rng.random() < OWN else question.near
    return rng.choice(own or question.others or question.near)


def report(name: str, vectors: WordVectors, test: Sequence[Question]) -> None:
    """Prints how often the nearest of the texts of ten people answers a question, and of the
    person's own."""
    right = {"of one": 0, "of ten": 0}
    people: dict[str, set[str]] = {}
    for each in test:
        people.setdefault(each.of, set()).update((*each.answers, *each.others, *each.near))
    names = sorted(people)
    for start in range(0, len(names), 10):
        group = names[start : start + 10]
        texts = sorted({text for person in group for text in people[person]})
        own = vectors.embed(texts)
        for question in (each for each in test if each.of in group):
            near = own @ vectors.embed([question.words])[0]
            right["of ten"] += texts[int(near.argmax())] in question.answers
            mine = [place for place, text in enumerate(texts) if text in people[question.of]]
            right["of one"] += texts[mine[int(near[mine].argmax())]] in question.answers
    print(
        f"{name}:", *(f"{key} {count / len(test):.3f}" for key, count in right.items()), flush=True
    )


if __name__ == "__main__":
    main()
