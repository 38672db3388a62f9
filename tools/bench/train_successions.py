"""`python -m beliefledger.tools.bench.train_successions [--write]`: train the scorer of what a
sentence overtakes.

Pairs of a belief and a later sentence come from the tune half of the scripts, from talks in which
something changes and sentences that only resemble a change, and from pairs written for this scorer.
What is believed is what the product believes. Beliefs of other scripts are pairs that stand. With
`--write`, gate/successions.yaml gets the weights. The figures are from fits that had not seen the
scripts that they are of.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml

from beliefledger.answers import BeliefAnswer
from beliefledger.gate import successions
from beliefledger.gate.sentences import sentences
from beliefledger.gate.successions import Said, Told
from beliefledger.tools.bench.quality import (
    DATA,
    PARTS,
    SCRIPTS,
    Reading,
    Script,
    scripts_of,
    turn_of,
)
from beliefledger.tools.bench.stories import STORIES
from beliefledger.tools.bench.stories import written as read_stories
from beliefledger.tools.bench.train_notes import Vector, auc, fitted

WEIGHTS = Path(successions.__file__).with_name("successions.yaml")
PAIRS = DATA / "successions"
RIDGE = 1.0
COMMON = 5
"""In how many pairs a feature has to be that gets a weight."""
STRANGERS = 6
"""So many beliefs of others each sentence is paired with."""
FOLDS = 10
STANDING = 1.5
"""How much a belief of one's own counts that stands, beside one that is over."""
_BEGIN, _LATER = datetime(2025, 5, 5, 12, tzinfo=UTC), datetime(2025, 9, 8, 12, tzinfo=UTC)


class Pair(NamedTuple):
    """A sentence and a belief, whose they are, and whether the belief is over then."""

    of: str
    said: Said
    told: Told
    over: bool
    much: float
    features: frozenset[str]


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the scorer of what a sentence overtakes.")
    parser.add_argument("--write", action="store_true", help=f"write the weights to {WEIGHTS.name}")
    given = parser.parse_args()
    scripts = [*tuned(), *written(), *changes(), *stories()]
    talks = list(told(scripts))
    pairs = list(paired(talks))
    names = common(pairs)
    weights = learn(pairs, names)
    pairs = chosen(pairs, names, weights)
    scores = held_out(pairs, names)
    report(pairs, scores)
    weights = learn(pairs, names)
    if given.write:
        WEIGHTS.write_text(rewritten(WEIGHTS.read_text("utf-8"), names, weights), "utf-8")


def tuned() -> Iterator[Script]:
    """The scripts of the tune half."""
    for name in PARTS["tune"]:
        yield from scripts_of(SCRIPTS / f"{name}.yaml")


class Talk(NamedTuple):
    """What was believed before the last turn of a script, and which of it is over after it."""

    name: str
    said: str
    believed: Sequence[tuple[BeliefAnswer, bool]]


def told(scripts: Sequence[Script]) -> Iterator[Talk]:
    """The scripts played up to their last turn."""
    reading = Reading()
    with tempfile.TemporaryDirectory() as place, reading.opened(Path(place) / "l") as memory:
        for number in range(max(len(each.turns) for each in scripts) - 1):
            memory.record_turns(
                turn_of(each, number) for each in scripts if number < len(each.turns) - 1
            )
            reading.decide(memory)
        for script in scripts:
            at, by, said = script.turns[-1]
            if by is not None:
                continue
            believed = memory.beliefs(script.name, valid_at=at)
            over = [*script.gone, *script.void]
            yield Talk(
                script.name,
                said,
                [
                    (each, any(pattern.search(f"{each.text} {each.value}") for pattern in over))
                    for each in believed
                    if each.type != "event" or any(p.search(each.text) for p in script.void)
                    # What no pattern is for, nobody has said to stand.
                    if not over or any(p.search(f"{each.text} {each.value}") for p in over)
                ],
            )


def written() -> Iterator[Script]:
    """The pairs that were written for this scorer, as scripts of two turns."""
    for number, line in enumerate((PAIRS / "tune.txt").read_text("utf-8").splitlines()):
        if line.startswith("#"):
            continue
        first, second, label = line.split(" | ")
        everything = [re.compile("")] if label == "over" else []
        yield Script(
            f"written-{number}", [(_BEGIN, None, first), (_LATER, None, second)],
            (), everything, (), (),
        )  # fmt: skip


def changes() -> Iterator[Script]:
    """Sentences that only resemble a change."""
    read = yaml.safe_load((DATA / "changes" / "lookalikes.yaml").read_text("utf-8"))
    for number, (first, second) in enumerate(read):
        yield Script(
            f"lookalike-{number}", [(_BEGIN, None, first), (_LATER, None, second)], (), (), (), ()
        )


def stories() -> Iterator[Script]:
    """The stories of the tune half, up to each of their later turns: where that tells the present
    value, what tells a past one is over, and else nothing is."""
    for story in read_stories(STORIES / "tune.yaml"):
        old = False
        for number, (_, words) in enumerate(story.turns):
            told = story.told(words)
            if number and told != "outdated" and story.outdated is not None:
                over = [story.outdated] if told == "current" and old else []
                turns = [(at, None, said) for at, said in story.turns[: number + 1]]
                yield Script(f"{story.name} {number}", turns, (), over, (), ())
            old = old or told == "outdated"


def paired(talks: Sequence[Talk]) -> Iterator[Pair]:
    """Each sentence of a last turn with what its speaker and some others believe."""
    dice = random.Random(7)
    everything = [believed for talk in talks for believed, _ in talk.believed]
    for talk in talks:
        said = [Said(each) for each in _sentences(talk.said)]
        said = [each for each in said if successions.may_overtake(each)]
        for belief, over in talk.believed:
            for each in said:
                much = 1 if over else STANDING
                yield _pair(talk.name, each, _told(belief), over=over, much=much)
        for each in said:
            for belief in dice.sample(everything, STRANGERS):
                if belief.subject != talk.name and not each.stems & _told(belief).stems:
                    yield _pair(talk.name, each, _told(belief), over=False, much=0.7)


def _pair(of: str, said: Said, told: Told, *, over: bool, much: float = 1) -> Pair:
    return Pair(of, said, told, over, much, frozenset(successions.features(said, told)))


def _told(belief: BeliefAnswer) -> Told:
    return Told(belief.type, belief.attribute, belief.text, belief.value)


def _sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


def common(pairs: Iterable[Pair]) -> list[str]:
    found: Counter[str] = Counter()
    for pair in pairs:
        found.update(pair.features)
    return sorted(name for name, number in found.items() if number >= COMMON)


def vectors(pairs: Sequence[Pair], names: Sequence[str]) -> Vector:
    at = {name: number for number, name in enumerate(names)}
    x = np.zeros((len(pairs), len(names)))
    for row, pair in enumerate(pairs):
        for each in pair.features:
            if each in at:
                x[row, at[each]] = 1
    return x


def learn(pairs: Sequence[Pair], names: Sequence[str]) -> Vector:
    y = np.array([pair.over for pair in pairs], dtype=np.float64)
    return fitted(vectors(pairs, names), y, np.array([pair.much for pair in pairs]), RIDGE)


def chosen(pairs: Sequence[Pair], names: Sequence[str], weights: Vector) -> list[Pair]:
    """The pairs, of a belief that is over only the one with the sentence that says so: that with
    the highest score of those of its turn."""
    logits = weights[0] + vectors(pairs, names) @ weights[1:]
    best: dict[tuple[str, str], float] = {}
    keys = [(pair.of, pair.told.claim + pair.told.attribute) for pair in pairs]
    for key, pair, logit in zip(keys, pairs, logits, strict=True):
        if pair.over:
            best[key] = max(best.get(key, -99.0), logit)
    return [
        pair
        for key, pair, logit in zip(keys, pairs, logits, strict=True)
        if not pair.over or logit == best[key]
    ]


def held_out(pairs: Sequence[Pair], names: Sequence[str]) -> Vector:
    """Each pair's score from a fit that has not seen its script."""
    of = sorted({pair.of for pair in pairs})
    random.Random(3).shuffle(of)
    fold = {name: number % FOLDS for number, name in enumerate(of)}
    folds = np.array([fold[pair.of] for pair in pairs])
    x = vectors(pairs, names)
    y = np.array([pair.over for pair in pairs], dtype=np.float64)
    much = np.array([pair.much for pair in pairs])
    scores = np.zeros(len(pairs))
    for number in range(FOLDS):
        seen = folds != number
        weights = fitted(x[seen], y[seen], much[seen], RIDGE)
        scores[~seen] = 1 / (1 + np.exp(-(weights[0] + x[~seen] @ weights[1:])))
    return scores


def report(pairs: Sequence[Pair], scores: Vector) -> None:
    y = np.array([pair.over for pair in pairs], dtype=np.float64)
    mine = np.array([pair.much >= 1 for pair in pairs])
    print(
        f"{len(pairs)} pairs, {int(y.sum())} over; AUC {auc(scores, y):.3f}, "
        f"of one's own {auc(scores[mine], y[mine]):.3f}"
    )
    print("| score from | found | wrong, of one's own | wrong, of others |\n|---|---|---|---|")
    for least in (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95):
        hit = scores >= least
        print(
            f"| {least:.2f} | {(hit & (y == 1)).sum() / y.sum():.2f} "
            f"| {(hit & (y == 0) & mine).sum()} of {((y == 0) & mine).sum()} "
            f"| {(hit & (y == 0) & ~mine).sum()} of {((y == 0) & ~mine).sum()} |"
        )
    worst = np.argsort(-scores * (y == 0))[:25]
    for row in worst:
        print(f"{scores[row]:.2f} WRONG {pairs[row].told.claim!r} <- {pairs[row].said.text!r}")
    worst = np.argsort(scores + 9 * (y == 0))[:40]
    for row in worst:
        print(f"{scores[row]:.2f} MISSED {pairs[row].told.claim!r} <- {pairs[row].said.text!r}")


def rewritten(text: str, names: Sequence[str], weights: Vector) -> str:
    """The file with other weights; its patterns and comments stay."""
    head = text[: text.index("\nbias: ")]
    lines = "".join(
        f"  {name!r}: {weight:.3f}\n".replace("'", '"')
        for name, weight in zip(names, weights[1:], strict=True)
        if abs(weight) >= 0.03
    )
    return f"{head}\nbias: {weights[0]:.3f}\nweights:\n{lines}"


if __name__ == "__main__":
    main()
