"""`python -m beliefledger.tools.bench.train_earnest [--write]`: train the scorer of what is meant.

Fits a logistic regression on every sentence of the tune half of the sentences, jokes, games and the
moment among them, and on the tune half of the labelled turns. Prints the ROC from scores that each
batch of sentences got from a fit without it: so the figures are of other hands than those that the
weights are from. With `--write`, gate/earnest.yaml and gate/earnest_runs.txt get the weights
instead.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from beliefledger.gate import scorers
from beliefledger.gate.sentences import sentences
from beliefledger.ledger.data_files import parsed
from beliefledger.tools.bench import lines
from beliefledger.tools.bench.quality import PARTS, SENTENCES, sentences_of
from beliefledger.tools.bench.sparse_fit import Rows, fitted
from beliefledger.tools.bench.train_notes import (
    NEAR_MISSES,
    Kind,
    Vector,
    auc,
    roc,
    talks,
)
from beliefledger.tools.bench.turns import CHATS, LABELS

WEIGHTS = Path(scorers.__file__).with_name("earnest.yaml")
RUNS = WEIGHTS.with_name("earnest_runs.txt")
RIDGE = 0.7
"""How much a weight costs: few sentences, many features."""
COMMON = 3
"""In how many sentences a run of words has to be that gets a weight of its own."""
LIGHT = 0.03
"""A run of words of less weight than this is left out."""
TALK = 0.5
"""How much a sentence of talk with an assistant counts; one of chat is 1."""
NEAR = 1.0
"""How much a near miss of notes counts."""
MOST_TOLD = 60
"""So many weights of each end are printed."""
PLAIN = 2.0
"""How much a plain statement of the tests counts."""
LINE = 1.0
"""How much a line that was written for it counts."""
AMONG_FRIENDS = 0.5
"""The same of one out of a chat between friends, most of which say nothing to keep."""
LEFT_OUT = frozenset({"odd", "played", "terse_news"})
"""Batches of which the scorer learned what is not so: tests/data/lines/README.md."""
_SAID = {"statement", "change", "correction", "removal"}
_OTHERS = re.compile(r"special|secret")
"""Classes of what is said in earnest, and is not kept for other reasons."""
_BATCH = re.compile(r"[a-z]\d*(?=-)")


class Row(NamedTuple):
    """A sentence, the batch that is held out as a whole, and whether it is to be kept."""

    batch: str
    text: str
    kept: bool
    much: float


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the scorer of what is meant.")
    parser.add_argument("--data", type=Path, default=CHATS, help=f"else {CHATS}")
    parser.add_argument("--write", action="store_true", help=f"write the weights to {WEIGHTS.name}")
    given = parser.parse_args()
    rows = all_rows(given.data)
    runs = common(rows)
    x = vectors(rows, runs)
    y = np.array([row.kept for row in rows], dtype=np.float64)
    much = np.array([row.much for row in rows])
    if not given.write:  # it takes a fit for each batch
        report(rows, held_out(rows, x, y, much), y)
        return
    weights = fitted(Rows(x, features(runs)), y, much, RIDGE)
    named = [*(each.name for each in scorers.earnest_scorer().features), *runs]
    told = sorted(zip(named, weights[1:], strict=True), key=lambda one: one[1])
    for name, weight in (*told[:MOST_TOLD], *told[-MOST_TOLD:]):
        print(f"{weight:+.2f}  {name}")
    WEIGHTS.write_text(rewritten(WEIGHTS.read_text("utf-8"), weights), "utf-8")
    RUNS.write_text(told_runs(weights, runs), "utf-8")


def all_rows(data: Path) -> list[Row]:
    """All that the scorer is trained on."""
    return [*chats(), *plain(), *talk(data), *lines_of_chat(), *turns_of_scripts()]


def chats() -> Iterator[Row]:
    """The sentences of the tune half of those to keep and not to keep, and the near misses that
    were written for notes. What may be kept and need not be is left out."""
    parts = (sentences_of(SENTENCES / f"{part}.yaml") for part in (*PARTS["tune"], "tune_3"))
    for sentence in (each for part in parts for each in part):
        if _OTHERS.match(sentence.kind):
            continue
        batch = _BATCH.match(sentence.name)
        for start, end in sentences(sentence.text):
            said = sentence.text[start:end]
            kept = any(wanted.value.search(said) for wanted in sentence.keep)
            if kept or sentence.may is None or not sentence.may.search(said):
                yield Row(batch[0] if batch else "a", said, kept, 1)
    for name, kept in (("notes.txt", True), ("no_notes.txt", False)):
        for line in (NEAR_MISSES / name).read_text("utf-8").splitlines():
            yield Row(name, line, kept, NEAR)


def plain() -> Iterator[Row]:
    """Plain statements, of which the tests of the rules say what must be noticed: what people say
    in so few words is true more often than chat makes believe."""
    for each in parsed((NEAR_MISSES / "rules_phrases.yaml").read_bytes()):
        acts = {found.get("act", "statement") for found in each["expect"]}
        if each["expect"] and acts <= _SAID and "?" not in each["say"]:
            yield Row("phrases", each["say"], kept=True, much=PLAIN)
    sentences = parsed((LABELS.parents[1] / "acceptance/typed_sentences.yaml").read_bytes())
    for words, *_ in sentences["tuned"]:
        yield Row("phrases", words, kept=True, much=PLAIN)
    for line in (NEAR_MISSES / "plain.txt").read_text("utf-8").splitlines():
        yield Row("plain", line, kept=True, much=PLAIN)


def talk(data: Path) -> Iterator[Row]:
    """The sentences of the labelled turns, as they are and typed in a hurry."""
    for each in talks(data):
        yield Row("talk", each.claim, each.kept, TALK if each.kind is Kind.TALK else TALK / 2)


def lines_of_chat() -> Iterator[Row]:
    """The lines that were written for this, but those of `LEFT_OUT`."""
    for each in lines.labelled():
        if each.batch in LEFT_OUT:
            continue
        much = AMONG_FRIENDS if each.batch.startswith("friends") else LINE
        yield Row(f"{each.batch}-", each.text, each.kept, much)


def turns_of_scripts() -> Iterator[Row]:
    """The sentences of the tune half of the scripts that make or end what has to be believed."""
    for text in lines.of_scripts():
        yield Row("scripts", text, kept=True, much=LINE)


def common(rows: Sequence[Row]) -> list[str]:
    """The runs of words that get a weight of their own."""
    said = Counter(run for row in rows for run in scorers.runs_of(row.text))
    return sorted(run for run, number in said.items() if number >= COMMON)


def features(runs: Sequence[str]) -> int:
    """How many features there are, runs of words among them."""
    return len(scorers.earnest_scorer().features) + len(runs)


def vectors(rows: Sequence[Row], runs: Sequence[str]) -> list[list[int]]:
    """The numbers of the features that each sentence has, the runs of words last."""
    scorer = scorers.earnest_scorer()
    at = {run: number for number, run in enumerate(runs, len(scorer.features))}
    return [
        [
            *(number for number, there in enumerate(scorer.vector(row.text)) if there),
            *sorted(at[run] for run in scorers.runs_of(row.text) if run in at),
        ]
        for row in rows
    ]


def held_out(rows: Sequence[Row], x: Sequence[Sequence[int]], y: Vector, much: Vector) -> Vector:
    """Each sentence's score from a fit that has not seen its batch."""
    batches = np.array([row.batch for row in rows])
    scores = np.zeros(len(rows))
    count = 1 + max(max(row) for row in x)
    whole = Rows(x, count)
    for batch in set(batches.tolist()):
        seen = np.flatnonzero(batches != batch)
        some = Rows([x[number] for number in seen.tolist()], count)
        weights = fitted(some, y[seen], much[seen], RIDGE)
        of_it = batches == batch
        scores[of_it] = 1 / (1 + np.exp(-whole.times(weights)[of_it]))
    return scores


def report(rows: Sequence[Row], scores: Vector, y: Vector) -> None:
    """Prints what the held-out scores tell of each batch, and of all of chat."""
    batches = np.array([row.batch for row in rows])
    print("| batch | sentences | to keep | AUC |\n|---|---|---|---|")
    for batch in sorted(set(batches.tolist())):
        of_it = batches == batch
        if 0 < y[of_it].sum() < of_it.sum():
            told = f"{of_it.sum()} | {y[of_it].sum():.0f} | {auc(scores[of_it], y[of_it]):.3f}"
            print(f"| {batch} | {told} |")
    chat = np.array([_BATCH.match(f"{batch}-") is not None for batch in batches])
    print("\n| score from | sentences | true positives | false positives | precision |")
    print("|---|---|---|---|---|")
    for threshold, number, *rates in roc(scores[chat], y[chat], np.arange(0.05, 0.96, 0.05)):
        print(f"| {threshold:.2f} | {number:.0f} | {' | '.join(f'{each:.2f}' for each in rates)} |")
    print()


def rewritten(text: str, weights: Vector) -> str:
    """The file with other weights; its patterns and comments stay."""
    told = iter(weights[1:])
    text = re.sub(r"^bias: \S+", f"bias: {weights[0]:.3f}", text, flags=re.M)
    head, rest = text.split("\nas of notes:\n")
    listed, rest = rest.split("\nfeatures:\n")
    listed = re.sub(r"(?m)(?<=: )-?\d+\.\d+$", lambda _: f"{next(told):.3f}", listed)
    rest = re.sub(r"(?<=, weight: )[-\d.]+", lambda _: f"{next(told):.3f}", rest)
    return f"{head}\nas of notes:\n{listed}\nfeatures:\n{rest}"


def told_runs(weights: Vector, runs: Sequence[str]) -> str:
    """The lines of the runs of words that weigh enough: thousandths, and the run."""
    weighed = zip(runs, weights[len(weights) - len(runs) :], strict=True)
    return "".join(
        f"{round(1000 * weight)} {run}\n" for run, weight in weighed if abs(weight) >= LIGHT
    )


if __name__ == "__main__":
    main()
