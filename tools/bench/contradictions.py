"""Whether a fact that contradicts one of many meets that one, and no other.

The facts of a case are said one after another by one person, then the contradicting one. A case
counts where both the contradicted fact and the contradicting one give a slot that holds one value:
slots that are keyed by their own value ("likes hiking") and slots of content can only be confirmed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gate.intake import TurnInput
from gate.registry import SlotRule, default_types
from gate.rules.phrases import slug
from gate.slots import STATEFUL_RELATIONS
from ledger.candidate import Candidate
from ledger.times import DAY
from tools.bench.conversations import BEGIN
from tools.bench.measure import Measured, Run, Target
from tools.bench.typing import read
from tools.memory import MemoryLedger, open_memory

CASES = Path("../shared/data/letta_core_memory/update_dev.jsonl")
_KINDS = {kind.name: kind for kind in default_types()}


@dataclass(slots=True)
class _Tally:
    counts: Counter[str] = field(default_factory=Counter)

    def share(self, part: str, whole: str) -> float:
        return self.counts[part] / max(1, self.counts[whole])


def holds_one(candidate: Candidate) -> bool:
    """Whether the candidate's slot holds one value at a time."""
    kind = _KINDS[candidate.type]
    if kind.slot is SlotRule.CONTENT:
        return False
    if kind.slot is SlotRule.RELATION:
        return candidate.attribute in STATEFUL_RELATIONS
    return slug(candidate.value) not in candidate.attribute


def contradictions(run: Run) -> Iterator[Measured]:
    """How often the right memory is superseded, contested or escalated; how often another."""
    if not CASES.exists():
        return
    cases = [json.loads(line)["agent_args"]["extra"] for line in CASES.open(encoding="utf-8")]
    cases = cases[: max(20, run.sizes.questions * 3)]
    tally = _Tally()
    with open_memory(run.place("contradictions")) as memory:
        for number, case in enumerate(cases):
            if number % 20 == 0:
                run.tell(f"contradictions, {number} of {len(cases)} cases")
            _case(memory, f"person {number}", case, tally)
    counts = tally.counts
    yield Measured(
        "the contradicted fact superseded or contested", "share",
        [tally.share("hit", "both")], Target("≥", 0.9),
        note=f"{counts['hit']} of {counts['both']} cases where both facts give a slot of one value",
    )  # fmt: skip
    yield Measured(
        "unrelated facts superseded or contested", "facts", [counts["false"]], Target("=", 0),
        note=f"of {counts['facts']:,} facts, by another or by the contradicting one",
    )  # fmt: skip
    yield Measured(
        "cases where both facts give a slot of one value", "share", [tally.share("both", "cases")],
        note=f"{counts['both']} of {counts['cases']}",
    )  # fmt: skip
    yield Measured(
        "hits where both facts give any candidate", "share", [tally.share("hit", "any")],
        note=f"{counts['hit']} of {counts['any']}: also of slots that several values share",
    )  # fmt: skip


def _case(memory: MemoryLedger, subject: str, case: dict[str, Any], tally: _Tally) -> None:
    said = [*case["facts"], case["contradicting_fact"].strip().strip('"')]
    wanted = set(case["supporting_fact_indices"])
    memory.grant_consent(subject, "consent")
    turns = [
        TurnInput(subject=subject, content=text, said_at=BEGIN + number * DAY, ordinal=number)
        for number, text in enumerate(said)
    ]
    receipts = memory.record_turns(turns)
    memory.process(subject=subject)
    numbers = {receipt.turn_id: number for number, receipt in enumerate(receipts)}
    met = [
        (numbers[decision.turn_id], old)
        for decision in memory.decisions(subject)
        if decision.outcome in {"supersede", "escalate"}
        for old in _met(memory, decision.belief_id, decision.memory_id, numbers)
        if old != numbers[decision.turn_id]
    ]
    last = len(said) - 1
    counts, new = tally.counts, read(said[last])
    counts["cases"] += 1
    counts["facts"] += last
    counts["false"] += sum(by != last or old not in wanted for by, old in met)
    old = [candidate for number in wanted for candidate in read(said[number])]
    counts["any"] += bool(old and new)
    if any(map(holds_one, old)) and any(map(holds_one, new)):
        counts["both"] += 1
        counts["hit"] += any(by == last and old in wanted for by, old in met)


def _met(
    memory: MemoryLedger, belief: str, by: str | None, numbers: dict[str, int]
) -> Iterator[int]:
    """The facts whose memories a decision superseded, or set itself against."""
    for version in memory.history(belief):
        if version.recorded_to is None or (by is not None and version.superseded_by == by):
            if version.memory_id == by:
                continue
            yield from {numbers[each.turn_id] for each in version.evidence}
