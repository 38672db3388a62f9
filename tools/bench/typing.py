"""Whether the rules read everyday sentences as the type and the slot that they state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from beliefledger.gate.decision import TurnView
from beliefledger.gate.rules.extractor import RuleExtractor
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.data_files import parsed
from beliefledger.tools.bench.conversations import BEGIN
from beliefledger.tools.bench.measure import Measured, Run, Target

SENTENCES = Path("tests/acceptance/typed_sentences.yaml")
CONTENT = frozenset({"event", "decision", "procedure", "commitment"})


class Sentence(NamedTuple):
    """A sentence and what it states; see the head of the data file."""

    text: str
    type: str
    entity: str
    attribute: str
    value: str


def sentences(path: Path) -> dict[str, list[Sentence]]:
    """The sentences by part: `tuned` and `held`."""
    parts: dict[str, list[list[Any]]] = parsed(path.read_bytes())
    return {part: [Sentence(*row) for row in rows] for part, rows in parts.items()}


def read(text: str) -> list[Candidate]:
    """The candidates of a text said by a user."""
    turn = TurnView(turn_id="turn", role="user", content=text, said_at=BEGIN)
    return RuleExtractor().extract(turn)


def fits(sentence: Sentence, candidate: Candidate) -> bool:
    """Whether the candidate has the type and the slot that the sentence states."""
    if candidate.type != sentence.type:
        return False
    said, found = sentence.value.lower(), candidate.value.lower()
    if sentence.attribute == "content":
        return said in candidate.claim.lower()
    if candidate.entity != sentence.entity or (said not in found and found not in said):
        return False
    begins = sentence.attribute.removesuffix(".*")
    if begins != sentence.attribute:
        return candidate.attribute.split(".")[0] == begins
    return candidate.attribute == begins


def missed(rows: Sequence[Sentence]) -> list[Sentence]:
    """The sentences that no candidate fits."""
    return [row for row in rows if not any(fits(row, found) for found in read(row.text))]


def typing(run: Run) -> Iterator[Measured]:
    """The share of sentences read right: all, those never tuned against, and each type's."""
    if not SENTENCES.exists():
        return
    run.tell("reading typed sentences")
    parts = sentences(SENTENCES)
    everything = [row for rows in parts.values() for row in rows]
    wrong = set(missed(everything))
    for name, rows, target in (
        ("sentences of all types read right", everything, Target("≥", 0.95)),
        ("the same, held out from tuning", parts["held"], Target("≥", 0.95)),
    ):
        yield _share(name, rows, wrong, target)
    for kind in dict.fromkeys(row.type for row in everything):
        yield _share(f"of type {kind}", [row for row in everything if row.type == kind], wrong)


def _share(
    name: str, rows: Sequence[Sentence], wrong: set[Sentence], target: Target | None = None
) -> Measured:
    right = sum(row not in wrong for row in rows)
    return Measured(name, "share", [right / len(rows)], target, note=f"{right} of {len(rows)}")
