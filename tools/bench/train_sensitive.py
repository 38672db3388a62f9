"""`python -m beliefledger.tools.bench.train_sensitive [--write]`: train what tells special
categories.

Fits a logistic regression on the sentences of special categories of the tune half, on those of
tests/data/sensitive and on all other sentences that the scorers are trained with. Prints how well
it tells them, and at which threshold how many, by fits that had not seen them. With `--write`,
gate/sensitive_runs.txt gets the weights instead.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from beliefledger.gate import scorers
from beliefledger.gate.rules.sensitive import category_of
from beliefledger.gate.sentences import sentences
from beliefledger.tools.bench import lines, sparse_fit
from beliefledger.tools.bench.quality import PARTS, SENTENCES, sentences_of
from beliefledger.tools.bench.sparse_fit import held_out
from beliefledger.tools.bench.train_earnest import plain
from beliefledger.tools.bench.train_notes import Vector, auc

WEIGHTS = Path(scorers.__file__).with_name("sensitive_runs.txt")
SENSITIVE = lines.LINES.with_name("sensitive")
RIDGE = 0.7
"""How much a weight costs."""
COMMON = 2
"""In how many sentences a part has to be that gets a weight."""
LIGHT = 0.03
"""A part of less weight than this is left out."""
MUCH = 8.0
"""How much a sensitive sentence counts: there are few of them."""
FOLDS = 8
_THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


class Row(NamedTuple):
    """A sentence, what it is from, and whether it is of a special category."""

    kind: str
    text: str
    sensitive: bool


def main() -> None:
    parser = argparse.ArgumentParser(description="Train what tells special categories.")
    parser.add_argument("--write", action="store_true", help=f"write the weights to {WEIGHTS.name}")
    rows = [*of_tune(), *written(), *others()]
    if parser.parse_args().write:
        WEIGHTS.write_text(sparse_fit.told(*learned(rows), LIGHT), "utf-8")
    else:
        report(rows)


def of_tune() -> Iterator[Row]:
    """The sentences of the tune half of those to keep and not to keep."""
    for part in (*PARTS["tune"], "tune_3"):
        for each in sentences_of(SENTENCES / f"{part}.yaml"):
            special = each.kind.startswith("special")
            if special or not each.kind.startswith("secret"):
                for start, end in sentences(each.text):
                    yield Row("special" if special else "tune", each.text[start:end], special)


def written() -> Iterator[Row]:
    """Those that were written for this."""
    for line in lines.labelled(SENSITIVE):
        yield Row("written" if line.kept else "near", line.text, line.kept)


def others() -> Iterator[Row]:
    """Those that the other scorers are trained with, which tell nothing of the kind."""
    for line in lines.labelled():
        yield Row("kept" if line.kept else "dropped", line.text, sensitive=False)
    for row in plain():
        if category_of(row.text) is None:
            yield Row("plain", row.text, sensitive=False)


def learned(rows: Sequence[Row]) -> tuple[list[str], Vector]:
    """The parts, and the bias and their weights."""
    parts = [scorers.parts_of(row.text) for row in rows]
    y = np.array([row.sensitive for row in rows], dtype=np.float64)
    much = np.array([MUCH if row.sensitive else 1.0 for row in rows])
    return sparse_fit.learned(parts, y, much, RIDGE, COMMON)


def report(rows: Sequence[Row]) -> None:
    """Prints, for each kind, how many score so much by a fit that has not seen them."""
    folds = np.array([zlib.crc32(row.text.encode()) % FOLDS for row in rows])
    logits = held_out(rows, folds, learned, lambda row, _: scorers.parts_of(row.text))
    scores = 1 / (1 + np.exp(-logits))
    sensitive = np.array([row.sensitive for row in rows], dtype=np.float64)
    kinds = np.array([row.kind for row in rows])
    print(f"AUC {auc(scores, sensitive):.3f}")
    print("| kind | sentences | " + " | ".join(f"from {each}" for each in _THRESHOLDS) + " |")
    print("|---|---|" + "---|" * len(_THRESHOLDS))
    for kind in dict.fromkeys(kinds.tolist()):
        of_it = scores[kinds == kind]
        shares = " | ".join(f"{(of_it >= each).mean():.3f}" for each in _THRESHOLDS)
        print(f"| {kind} | {len(of_it)} | {shares} |")


if __name__ == "__main__":
    main()
