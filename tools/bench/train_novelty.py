"""`python -m beliefledger.tools.bench.train_novelty [--write]`: train the scorer of what tells that
something is otherwise than before.

Turns of the tune half of the stories and of the stories in which something near is said, the pairs
and the blocks written for the scorers of what a sentence overtakes, and messages that are news or
are not by themselves. What is told first tells nothing new, and neither does what leaves the older
value standing. With `--write`, projections/novelty_runs.txt gets the weights. The figures are from
fits that had not seen the story that they are of.
"""

from __future__ import annotations

import argparse
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from beliefledger.ledger.data_files import parsed
from beliefledger.projections import novelty
from beliefledger.tools.bench.blocks import blocks
from beliefledger.tools.bench.quality import DATA
from beliefledger.tools.bench.sparse_fit import fitted_by_name, held_out
from beliefledger.tools.bench.stories import STORIES, Story, written
from beliefledger.tools.bench.train_notes import Vector, auc

RUNS = Path(novelty.__file__).with_name("novelty_runs.txt")
RIDGE = 2.0
COMMON = 8
"""In how many texts a word or a run of words has to be that gets a weight of its own."""
LIGHT = 80
"""A run of several words of less weight than this, in thousandths, is left out."""
FOLDS = 8
MUCH = {
    "news": 1.0, "first": 0.2, "else": 0.7, "near": 3.0, "pair": 1.0, "alone": 2.0,
    "later": 0.25, "told": 0.05,
}  # fmt: skip
"""How much a text of each kind counts; those of blocks, which are by far the most, the least."""
_TOGETHER = 20
"""So many pairs in a row are held out together: those that begin alike are neighbours."""


class Row(NamedTuple):
    """A text, with what it is held out, its kind, and whether it tells something new."""

    of: str
    text: str
    kind: str
    new: bool


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the scorer of what tells something new.")
    parser.add_argument("--write", action="store_true", help=f"write the weights to {RUNS.name}")
    given = parser.parse_args()
    rows = list(gathered())
    report(rows)
    names, weights = learned(rows)
    if given.write:
        told = zip(["bias:", *names], np.rint(1000 * weights).astype(int).tolist(), strict=True)
        RUNS.write_text(
            "".join(
                f"{weight} {run}\n"
                for run, weight in told
                if " " not in run or abs(weight) >= LIGHT
            ),
            "utf-8",
        )


def gathered() -> Iterator[Row]:
    """All that is learned from."""
    for name in ("tune", "near"):
        for story in written(STORIES / f"{name}.yaml"):
            yield from of_story(story)
    for number, line in enumerate((DATA / "successions/tune.txt").read_text("utf-8").splitlines()):
        if not line.startswith("#"):
            first, second, label = line.split(" | ")
            of = f"pairs {number // _TOGETHER}"
            yield Row(of, first, "first", new=False)
            yield Row(of, second, "pair", new=label == "over")
    read = parsed((DATA / "changes/lookalikes.yaml").read_bytes())
    for number, (first, second) in enumerate(read):
        of = f"lookalikes {number // _TOGETHER}"
        yield Row(of, first, "first", new=False)
        yield Row(of, second, "pair", new=False)

    for block in blocks("tune"):
        for told in block.told:
            yield Row(f"block {block.name}", told, "told", new=False)
        for later in block.later:
            yield Row(f"block {block.name}", later.said, "later", new=bool(later.over))
    for path in sorted((DATA / "successions/news").glob("*.txt")):
        for number, line in enumerate(path.read_text("utf-8").splitlines()):
            of = f"{path.stem} {number // _TOGETHER}"
            yield Row(of, line[2:], "alone", new=line.startswith("+"))


def of_story(story: Story) -> Iterator[Row]:
    """The turns of a story: that which tells the present value after a past one is new."""
    old = False
    for number, (_, said) in enumerate(story.turns):
        told = story.told(said)
        new = told == "current" and old
        kind = "news" if new else "first" if not number else "else"
        if number and told is None and not old:
            kind = "near"
        old = old or told == "outdated" or (not number and told is None)
        yield Row(story.name, said, kind, new=new)


def learned(rows: Sequence[Row]) -> tuple[list[str], Vector]:
    """The runs of words, and the bias and their weights."""
    said = Counter(word for row in rows for word in set(novelty.tokens(row.text.lower())))
    known = {word for word, number in said.items() if number >= COMMON}
    texts = [novelty.features(row.text, known) for row in rows]
    found = Counter(run for text in texts for run in text)
    names = sorted(run for run, number in found.items() if number >= COMMON or run in known)
    y = np.array([row.new for row in rows], dtype=np.float64)
    much = np.array([MUCH[row.kind] for row in rows])
    return names, fitted_by_name(names, texts, y, much, RIDGE)


def report(rows: Sequence[Row]) -> None:
    """Prints how well news are told from the other kinds, by fits that had not seen them."""
    folds = np.array([zlib.crc32(row.of.encode()) % FOLDS for row in rows])
    scores = held_out(
        rows, folds, learned, lambda row, weighed: novelty.features(row.text, weighed)
    )
    new = np.array([row.new for row in rows], dtype=np.float64)
    kinds = np.array([row.kind for row in rows])
    for kind in ("first", "else", "near"):
        among = (kinds == kind) | (kinds == "news")
        print(f"news and {kind}: {among.sum()} texts, AUC {auc(scores[among], new[among]):.3f}")
    for kind in ("pair", "later", "alone"):
        among = kinds == kind
        print(f"{kind}: {among.sum()} texts, AUC {auc(scores[among], new[among]):.3f}")


if __name__ == "__main__":
    main()
