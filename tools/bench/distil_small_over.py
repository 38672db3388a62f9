"""`python -m beliefledger.tools.bench.distil_small_over HAYSTACKS [--write]`: distil the small
network of what is over, networks/over-1-small.bin, which search asks, from the larger one and from
labels.

1. Pairs of what was told and what is said later, with whether it is over then: those that
   `distil_over` has, those of blocks that tell one line, and of the items what was told, each
   change of it and changes of others.
2. Variants of these, which have the same labels, and count half.
3. Further pairs, of which the larger network says how probably they are over: those that
   `distil_over` asks MiniLM about.

The figures are of the blocks to test with, which nothing is trained on. It takes ten minutes.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from beliefledger.networks import pairs as network
from beliefledger.tools.bench import distil_over
from beliefledger.tools.bench.distil_over import Pair, Row, Sizes, Student
from beliefledger.tools.bench.distilling import SEED, Teacher, Told, probability
from beliefledger.tools.bench.overtaking import LATER, tell
from beliefledger.tools.bench.quality import Reading
from beliefledger.tools.bench.questions import by_file, items

SIZES = Sizes(24, 16, 32, 32)
PASSES = 4
VARIANTS, LESS = 30_000, 0.5
"""So many variants there are, and how much each counts."""
BESIDE = 2
"""Changes of at most so many other items are taken for each text."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Distil the small network of what is over.")
    parser.add_argument("haystacks", type=Path)
    parser.add_argument("--write", action="store_true", help=f"write {network.SMALL}")
    parser.add_argument("--passes", type=int, default=PASSES)
    given = parser.parse_args()
    every = list(distil_over.rows("tune", single=True))
    further = distil_over.further_of(every, given.haystacks)
    odds = distil_over.odds_of(network.network(), further)
    pairs, told = learned_from(every, further, odds)
    vocabulary = Teacher.untrained().vocabulary([text for pair in pairs for text in pair])
    student = Student(*vocabulary, SIZES)
    test = list(distil_over.rows("test", single=True))
    distil_over.train(student, pairs, told, test, given.passes)
    made = distil_over.rounded(student)
    distil_over.report("rounded", distil_over.odds_of(made, [row.pair for row in test]), test)
    if given.write:
        Path(network.__file__).with_name(network.SMALL).write_bytes(network.packed(made))


def learned_from(
    every: Sequence[Row], further: Sequence[Pair], odds: NDArray[np.float64]
) -> tuple[list[Pair], Told]:
    """All pairs, how probably each is over, and how much it counts."""
    labelled = distil_over.some_of(every)
    labelled += {row.pair: row for row in of_items()}.values()
    own = [row for row in labelled if row.batch != "strange"]
    others = list(distil_over.variants(own, random.Random(SEED), VARIANTS))
    pairs = [*(row.pair for row in labelled), *(pair for pair, _ in others), *further]
    target = [float(row.over) for row in labelled] + [float(over) for _, over in others]
    much = np.ones(len(pairs), np.float32)
    much[len(labelled) : len(labelled) + len(others)] = LESS
    every_target = np.concatenate([np.array(target, np.float32), probability(odds.tolist())])
    return pairs, Told(pairs, every_target, much)


def of_items() -> Iterator[Row]:
    """What items to tune on tell, and what is believed of it, with each change of it, and with
    changes of items beside them."""
    rng = random.Random(SEED)
    some = list(items("tune"))
    with tempfile.TemporaryDirectory() as place, Reading().opened(Path(place) / "l") as memory:
        tell(memory, [(each.name, (each.told,)) for each in some])
        believed = {
            each.name: [belief.text for belief in memory.beliefs(each.name, valid_at=LATER)]
            for each in some
        }
    for beside in by_file(some):
        for item in beside:
            for text in (item.told, *believed[item.name]):
                yield from (Row(text, said, over=True, batch="items") for said in item.changes)
                for other in rng.sample(beside, BESIDE):
                    if other is not item:
                        said = rng.choice(other.changes)
                        yield Row(text, said, over=False, batch="items")


if __name__ == "__main__":
    main()
