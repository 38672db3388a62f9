"""`python -m beliefledger.tools.bench.train_successions [--write]`: train the scorer of what a
sentence overtakes.

Pairs of a belief and a later sentence come from blocks that were written for it, from the tune half
of the scripts, from talks in which something changes and from sentences that only resemble a
change. What is believed is what the product believes. Beliefs of others are pairs that stand. With
`--write`, gate/succession_weights.txt gets the weights; without, the figures are from fits that had
not seen the file that a pair is of.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from beliefledger.answers import BeliefAnswer
from beliefledger.gate import successions
from beliefledger.gate.overtaken import is_kin
from beliefledger.gate.pairs import Said, Told, ranks
from beliefledger.gate.scorers import parts_of
from beliefledger.gate.sentences import sentences
from beliefledger.ledger.data_files import parsed
from beliefledger.tools.bench import lines, sparse_fit
from beliefledger.tools.bench.blocks import blocks
from beliefledger.tools.bench.overtaking import BEGIN, LATER, line_of, tell
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
from beliefledger.tools.bench.train_notes import Vector, auc

WEIGHTS = Path(successions.__file__).with_name("succession_weights.txt")
CHANGES = WEIGHTS.with_name("change_runs.txt")
PAIRS = DATA / "successions"
RIDGE = 5.0
COMMON = 4
"""In how many pairs a feature has to be that gets a weight."""
LIGHT = 0.03
"""A feature of less weight than this is left out."""
STRANGERS, LOOKED_AT = 2, 20
"""So many beliefs of others each sentence is paired with that anything links it with, of so many
that are looked at."""
OF_CHAT = 0.5
"""How much a sentence of chat counts in which nothing changes, beside one said later in a block."""
MUCH = {"changes": 4.0, "written": 2.0}
"""How much a pair of these batches counts, which are few and of short sentences."""
EACH = 2
"""Each so many of the lines is taken."""
STRANGE = 0.7
"""How much a belief of somebody else counts, beside one of one's own."""


class Pair(NamedTuple):
    """A sentence and a belief, whose they are, and whether the belief is over then."""

    batch: str
    of: str
    said: Said
    told: Told
    over: bool
    features: frozenset[str]
    own: bool


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the scorer of what a sentence overtakes.")
    parser.add_argument("--write", action="store_true", help=f"write the weights to {WEIGHTS.name}")
    given = parser.parse_args()
    pairs = list(paired([*talks_of_scripts(), *talks_of_blocks(), *talks_of_lines()]))
    if not given.write:  # it takes two fits for each file
        report(pairs, held_out(pairs))
        return
    WEIGHTS.write_text(sparse_fit.told(*learn(pairs), LIGHT), "utf-8")
    CHANGES.write_text(sparse_fit.told(*learn_changes(list(sounding())), LIGHT), "utf-8")


def talks_of_scripts() -> Iterator[Talk]:
    """All that is told in turns."""
    sources = {
        "scripts": tuned(),
        "written": written(),
        "changes": changes(),
        "stories": stories(),
    }
    for batch, scripts in sources.items():
        for talk in told_scripts(list(scripts)):
            yield talk._replace(batch=batch)


def tuned() -> Iterator[Script]:
    """The scripts of the tune half."""
    for name in PARTS["tune"]:
        yield from scripts_of(SCRIPTS / f"{name}.yaml")


class Talk(NamedTuple):
    """What was believed before something was said, and which of it is over after it."""

    batch: str
    name: str
    said: str
    believed: Sequence[tuple[BeliefAnswer, bool]]


def talks_of_blocks() -> Iterator[Talk]:
    """The blocks of the tune half: each of what is said later by itself."""
    some = list(blocks("tune"))
    with tempfile.TemporaryDirectory() as place, Reading().opened(Path(place) / "l") as memory:
        tell(memory, [(block.name, block.told) for block in some])
        for block in some:
            believed = memory.beliefs(block.name, valid_at=LATER)
            lines = [line_of(each) for each in believed]
            for number, later in enumerate(block.later):
                yield Talk(
                    block.batch,
                    f"{block.name} {number}",
                    later.said,
                    [(each, at in later.over) for each, at in zip(believed, lines, strict=True)],
                )


def told_scripts(scripts: Sequence[Script]) -> Iterator[Talk]:
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
                "",
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
            f"written-{number}", [(BEGIN, None, first), (LATER, None, second)],
            (), everything, (), (),
        )  # fmt: skip


def changes() -> Iterator[Script]:
    """Sentences that only resemble a change."""
    read = parsed((DATA / "changes" / "lookalikes.yaml").read_bytes())
    for number, (first, second) in enumerate(read):
        yield Script(
            f"lookalike-{number}", [(BEGIN, None, first), (LATER, None, second)], (), (), (), ()
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


def talks_of_lines() -> Iterator[Talk]:
    """Some of the lines that were written for other scorers: chat, which ends nothing of what
    others told."""
    for number, line in enumerate(lines.labelled()):
        if number % EACH == 0:
            yield Talk(f"lines of {line.batch}", f"line {number}", line.text, ())


def paired(talks: Sequence[Talk]) -> Iterator[Pair]:
    """Each sentence with what its speaker and some others believe, where anything links them."""
    dice = random.Random(7)
    everything = [belief for talk in talks for belief, _ in talk.believed]
    for talk in talks:
        for said in map(Said, _sentences(talk.said)):
            own = [
                (_told(belief), over)
                for belief, over in talk.believed
                if not (over and is_kin(belief.attribute, belief.value))  # its line told more
            ]
            own = [(each, over) for each, over in own if said.may_be_of(each)]
            there = [each for each, _ in own]
            for (each, over), rank in zip(own, ranks(said, there), strict=True):
                yield _pair(talk, said, each, rank, over=over, own=True)
            others = [
                each
                for each in map(_told, dice.sample(everything, LOOKED_AT))
                if said.may_be_of(each) and each.claim not in {mine.claim for mine in there}
            ]
            for each in others[:STRANGERS]:
                rank = ranks(said, [*there, each])[-1]
                yield _pair(talk, said, each, rank, over=False, own=False)


def _pair(talk: Talk, said: Said, told: Told, rank: str, *, over: bool, own: bool) -> Pair:
    features = frozenset(successions.features(said, told, rank))
    return Pair(talk.batch, talk.name, said, told, over, features, own)


def _told(belief: BeliefAnswer) -> Told:
    return Told(belief.type, belief.attribute, belief.text, belief.value)


def _sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


def learn(pairs: Sequence[Pair]) -> tuple[list[str], Vector]:
    """The names of features, and the bias and their weights: of what is over by a turn, only by the
    sentence of it that says so most."""
    names, weights = _fitted(pairs)
    logits = scored(pairs, names, weights)
    best: dict[tuple[str, str], float] = {}
    keys = [(pair.of, pair.told.claim) for pair in pairs]
    for key, pair, logit in zip(keys, pairs, logits.tolist(), strict=True):
        if pair.over:
            best[key] = max(best.get(key, logit), logit)
    return _fitted(
        [
            pair
            for key, pair, logit in zip(keys, pairs, logits.tolist(), strict=True)
            if not pair.over or logit == best[key]
        ]
    )


def _fitted(pairs: Sequence[Pair]) -> tuple[list[str], Vector]:
    y = np.array([pair.over for pair in pairs], dtype=np.float64)
    much = np.array([MUCH.get(pair.batch, 1) if pair.own else STRANGE for pair in pairs])
    return sparse_fit.learned([pair.features for pair in pairs], y, much, RIDGE, COMMON)


def scored(pairs: Sequence[Pair], names: Sequence[str], weights: Vector) -> Vector:
    weighed = dict(zip(names, weights[1:].tolist(), strict=True))
    return np.array(
        [weights[0] + sum(weighed.get(each, 0.0) for each in pair.features) for pair in pairs]
    )


def held_out(pairs: Sequence[Pair]) -> Vector:
    """Each pair's score, from 0 to 1, by a fit that has not seen its file."""
    _, folds = np.unique([pair.batch for pair in pairs], return_inverse=True)
    logits = sparse_fit.held_out(pairs, folds, learn, lambda pair, _: pair.features)
    scores: Vector = 1 / (1 + np.exp(-logits))
    return scores


class Sounding(NamedTuple):
    """A sentence, whether it overtakes anything that was told before it, and how much it counts."""

    text: str
    changes: bool
    much: float


def sounding() -> Iterator[Sounding]:
    """What is said later in the blocks of the tune half and the scripts and pairs, what was told
    there before, and the lines that were written for other scorers, of which nearly none overtakes
    anything."""
    for block in blocks("tune"):
        for later in block.later:
            yield from _sounding(later.said, changes=bool(later.over))
        yield from (Sounding(each, changes=False, much=OF_CHAT) for each in block.told)
    for script in (*tuned(), *written()):
        *before, (_, by, last) = script.turns
        if by is None:
            yield from _sounding(last, changes=bool(script.gone or script.void))
            yield from (Sounding(said, changes=False, much=OF_CHAT) for _, _, said in before[:1])
    for line in lines.labelled():
        yield Sounding(line.text, changes=False, much=OF_CHAT)


def _sounding(text: str, *, changes: bool) -> Iterator[Sounding]:
    """Its sentences; where there are more than one, nobody has said which overtakes something."""
    parts = _sentences(text)
    if len(parts) == 1 or not changes:
        yield from (Sounding(each, changes, 1) for each in parts)


def learn_changes(some: Sequence[Sounding]) -> tuple[list[str], Vector]:
    rows = [parts_of(each.text) for each in some]
    y = np.array([each.changes for each in some], dtype=np.float64)
    much = np.array([each.much for each in some])
    return sparse_fit.learned(rows, y, much, RIDGE, COMMON)


def report(pairs: Sequence[Pair], scores: Vector) -> None:
    """What is found and what is wrong by turns: of each, the sentence counts that says most."""
    turns: dict[tuple[str, str, bool], tuple[Pair, float]] = {}
    for pair, score in zip(pairs, scores.tolist(), strict=True):
        key = (pair.of, pair.told.claim, pair.own)
        if key not in turns or score > turns[key][1]:
            turns[key] = (pair, score)
    kinds = {
        "over": [(pair, score) for pair, score in turns.values() if pair.over],
        "own": [(pair, score) for pair, score in turns.values() if pair.own and not pair.over],
        "others": [(pair, score) for pair, score in turns.values() if not pair.own],
    }
    of_own = [*kinds["over"], *kinds["own"]]
    y = np.array([pair.over for pair, _ in of_own], dtype=np.float64)
    print(f"AUC of what is one's own: {auc(np.array([score for _, score in of_own]), y):.3f}")
    print("| score from | found | wrong, of one's own | wrong, of others |\n|---|---|---|---|")
    for least in (0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9):
        cells = [
            f"{sum(score >= least for _, score in some)} of {len(some)}" for some in kinds.values()
        ]
        print(f"| {least:.2f} | {' | '.join(cells)} |")
    worst = sorted(kinds["own"] + kinds["others"], key=lambda one: -one[1])[:25]
    for pair, score in worst:
        print(f"{score:.2f} WRONG {pair.told.claim!r} <- {pair.said.text!r}")
    for pair, score in sorted(kinds["over"], key=lambda one: one[1])[:25]:
        print(f"{score:.2f} MISSED {pair.told.claim!r} <- {pair.said.text!r}")


if __name__ == "__main__":
    main()
