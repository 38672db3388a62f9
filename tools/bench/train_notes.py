"""`python -m beliefledger.tools.bench.train_notes [--write]`: train the scorer of notes.

Fits a logistic regression on the tune halves of the labelled turns and of the sentences, both
kinds weighing the same, and prints the ROC of each, from scores that each session and each sentence
got from a fit without it. With `--write`, gate/notes.yaml gets the weights.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beliefledger.gate import notes, scorers
from beliefledger.gate.decision import TurnView
from beliefledger.gate.rules.extractor import RuleExtractor
from beliefledger.ledger.times import from_datetime
from beliefledger.tools.bench import lines
from beliefledger.tools.bench.quality import SENTENCES, sentences_of
from beliefledger.tools.bench.turns import CHATS, LABELS, conversations, words_of, written

WEIGHTS = Path(notes.__file__).with_name("notes.yaml")
NEAR_MISSES = LABELS.parents[1] / "unit/gate"
FOLDS = 10
RIDGE = 2.0
"""How much a weight costs: few sentences, many features."""
_STEPS, _NEAR = 40, 1e-7

Vector = NDArray[np.float64]
Chosen = NDArray[np.bool_]


class Kind(StrEnum):
    """Where a sentence is from. The second is the first as people type in a hurry: what is learned
    of lower case and missing apostrophes must not be learned of chat alone."""

    TALK = "talk with an assistant"
    TYPED = "the same, typed in a hurry"
    CHAT = "chat"


class Example(NamedTuple):
    """A sentence that may be a note if it scores well: whether it states a labelled fact, and
    whether a rule types it."""

    kind: Kind
    group: str
    """The session, or the sentence, that is held out as a whole."""
    claim: str
    kept: bool
    typed: bool


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the scorer of notes.")
    parser.add_argument("--data", type=Path, default=CHATS, help=f"else {CHATS}")
    parser.add_argument("--write", action="store_true", help=f"write the weights to {WEIGHTS.name}")
    given = parser.parse_args()
    rows = [*talks(given.data), *chats()]
    features = scorers.worth_scorer().features
    x = np.array([scorers.worth_scorer().vector(row.claim) for row in rows], dtype=np.float64)
    y = np.array([row.kept for row in rows], dtype=np.float64)
    much = weights_of(rows)
    held = held_out(rows, x, y, much)
    left = np.array([not row.typed for row in rows])
    scale, shift = _line(held[left], y[left], much[left])
    scored = _squashed(scale * held + shift)
    for kind in Kind:
        of_it = np.array([row.kind is kind for row in rows])
        _report(kind, held, scored, y, (of_it, of_it & left))
    weights = fitted(x, y, much) * scale
    weights[0] += shift
    for each, weight in sorted(zip(features, weights[1:], strict=True), key=lambda one: one[1]):
        print(f"{weight:+.2f}  {each.name}")
    if given.write:
        WEIGHTS.write_text(rewritten(WEIGHTS.read_text("utf-8"), weights), "utf-8")


def _report(
    kind: Kind, held: Vector, scored: Vector, y: Vector, which: tuple[Chosen, Chosen]
) -> None:
    """Prints what held-out scores tell of one kind: of all its sentences, and of those left."""
    all_, left = which
    print(f"{kind}: {all_.sum()} sentences, {y[all_].sum():.0f} to keep; not typed by a rule:")
    print(
        f"{left.sum()}, {y[left].sum():.0f} to keep. AUC held out: {auc(held[all_], y[all_]):.3f};"
    )
    print(f"of those not typed: {auc(held[left], y[left]):.3f}.\n")
    print("| score from | sentences | true positives | false positives | precision |")
    print("|---|---|---|---|---|")
    for threshold, number, *rates in roc(scored[left], y[left]):
        print(f"| {threshold:.2f} | {number:.0f} | {' | '.join(f'{each:.2f}' for each in rates)} |")
    print()


def talks(data: Path) -> Iterator[Example]:
    """The sentences of the tune half of the labelled turns, each as it is and typed in a hurry."""
    among, rules = conversations(data), RuleExtractor()
    for labelled in written(LABELS / "tune.yaml"):
        there = among[labelled.session]
        said = [
            TurnView(str(at), each["role"], each["content"], from_datetime(there.date))
            for at, each in enumerate(there.turns[: labelled.turn])
        ]
        words = words_of(labelled, among)
        turn = TurnView("", "user", words, from_datetime(there.date))
        for claim, typed in _scored(rules, turn, said[-4:]):
            kept = any(fact.match.search(claim) for fact in labelled.facts)
            yield Example(Kind.TALK, labelled.session, claim, kept, typed)
            yield Example(Kind.TYPED, labelled.session, hurried(claim), kept, typed)


def chats() -> Iterator[Example]:
    """The sentences of the tune half of those to keep and not to keep, and near misses of both
    that were written for the scorer. What may be kept and need not be is left out."""
    rules = RuleExtractor()
    for sentence in sentences_of(SENTENCES / "tune.yaml"):
        said = [TurnView(str(at), *each, at) for at, each in enumerate(sentence.before)]
        turn = TurnView("", "user", sentence.text, len(said))
        for claim, typed in _scored(rules, turn, said):
            kept = any(wanted.value.search(claim) for wanted in sentence.keep)
            if kept or sentence.may is None or not sentence.may.search(claim):
                yield Example(Kind.CHAT, sentence.name, claim, kept, typed)
    for name, kept in (("notes.txt", True), ("no_notes.txt", False)):
        for line in (NEAR_MISSES / name).read_text("utf-8").splitlines():
            for claim, typed in _scored(rules, TurnView("", "user", line, 0), []):
                yield Example(Kind.CHAT, line, claim, kept, typed)
    for each in lines.labelled():
        for claim, typed in _scored(rules, TurnView("", "user", each.text, 0), []):
            yield Example(Kind.CHAT, each.batch, claim, each.kept, typed)
    for text in lines.of_scripts():
        for claim, typed in _scored(rules, TurnView("", "user", text, 0), []):
            yield Example(Kind.CHAT, "scripts", claim, kept=True, typed=typed)


def _scored(
    rules: RuleExtractor, turn: TurnView, said: Sequence[TurnView]
) -> Iterator[tuple[str, bool]]:
    """The sentences of a turn that are notes if they score well, and whether a rule types them."""
    taken = [span for found in rules.extract(turn, said) for span in found.spans]
    for claim, spans in notes.readable(turn, said):
        start, end = spans[-1].start, spans[-1].end
        if notes.sincere_act(turn.content, claim, spans[-1]) is not None:
            yield (
                claim,
                any(not each.turn and each.start < end and start < each.end for each in taken),
            )


def hurried(claim: str) -> str:
    """A sentence as people type in a hurry: lower case, no apostrophes, no full stop."""
    return re.sub("['’]", "", claim).lower().rstrip(".!")


def weights_of(rows: list[Example]) -> Vector:
    """How much each sentence counts: talk and chat alike, whatever their numbers; 1 on average."""
    numbers = Counter(row.kind for row in rows)
    share = {Kind.TALK: 0.25, Kind.TYPED: 0.25, Kind.CHAT: 0.5}
    return np.array([share[row.kind] * len(rows) / numbers[row.kind] for row in rows])


def held_out(rows: list[Example], x: Vector, y: Vector, much: Vector) -> Vector:
    """Each sentence's logit from a fit that has not seen its session or itself."""
    groups = {group: number for number, group in enumerate(dict.fromkeys(r.group for r in rows))}
    fold = np.array([groups[row.group] % FOLDS for row in rows])
    logits = np.zeros(len(rows))
    for number in range(FOLDS):
        seen = fold != number
        weights = fitted(x[seen], y[seen], much[seen])
        logits[~seen] = weights[0] + x[~seen] @ weights[1:]
    return logits


def fitted(x: Vector, y: Vector, much: Vector, ridge: float = RIDGE) -> Vector:
    """The bias and the weights, by Newton's method; `much` is how much each row counts."""
    with_bias = np.hstack([np.ones((len(x), 1)), x])
    cost = np.eye(with_bias.shape[1]) * ridge
    cost[0, 0] = 1e-6
    weights = np.zeros(with_bias.shape[1])
    for _ in range(_STEPS):
        p = _squashed(with_bias @ weights)
        slope = with_bias.T @ (much * (p - y)) + cost @ weights
        bend = (with_bias * (much * p * (1 - p))[:, None]).T @ with_bias + cost
        step = np.linalg.solve(bend, slope)
        weights -= step
        if np.abs(step).max() < _NEAR:
            break
    return weights


def _line(logits: Vector, y: Vector, much: Vector) -> tuple[float, float]:
    """Scale and shift that make logits of these sentences probabilities (Platt's calibration)."""
    shift, scale = fitted(logits[:, None], y, much, ridge=1e-6)
    return float(scale), float(shift)


def _squashed(logits: Vector) -> Vector:
    squashed: Vector = 1 / (1 + np.exp(-logits))
    return squashed


def auc(scores: Vector, y: Vector) -> float:
    """How probably a sentence to keep scores higher than another one."""
    kept, others = scores[y == 1], scores[y == 0]
    apart = kept[:, None] - others[None, :]
    return float((apart > 0).mean() + (apart == 0).mean() / 2)


_THRESHOLDS = np.arange(0.3, 0.96, 0.05)


def roc(
    scores: Vector, y: Vector, thresholds: Vector = _THRESHOLDS
) -> Iterator[tuple[float, float, float, float, float]]:
    """For each threshold: sentences above it, true and false positive rates, precision."""
    for threshold in thresholds:
        above = scores >= threshold
        if above.any():
            yield (
                float(threshold),
                float(above.sum()),
                float(above[y == 1].mean()),
                float(above[y == 0].mean()),
                float(y[above].mean()),
            )


def rewritten(text: str, weights: Vector) -> str:
    """The file with other weights; its patterns and comments stay."""
    told = iter(weights[1:])
    text = re.sub(r"(?<=\bbias: )\S+", f"{weights[0]:.3f}", text)
    return re.sub(r"(?<=, weight: )[-\d.]+", lambda _: f"{next(told):.3f}", text)


if __name__ == "__main__":
    main()
