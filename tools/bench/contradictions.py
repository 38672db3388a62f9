"""Whether a fact that contradicts one of many meets that one, and no other.

The facts of a case are said one after another by one person, then the contradicting one. Two
readings of "both facts yield a slot" are told: *widely*, both led the gate to decide about some
candidate; *narrowly*, both gave one whose slot holds one value (slots that are keyed by their own
value, as "likes hiking", and slots of content can only be confirmed, denied or ended). A miss of
the wide reading has both facts kept, but about different things.

Half of the cases, by the digest of their text, were never looked at since the two were told apart:
their share says what to expect of sentences like these. (All had been read before that.)

As a control, each contradicting fact is also said after the facts of another case, where nothing
may be superseded that its own case does not contain.

Left out on purpose: what people may do again or with several others at once, so that another
such sentence contradicts nothing. "A attended Y", "A gave a talk in Z", "A and B share a
passion", "A may have …" give no candidate, which is most of why few cases count at all.
Roles, likes and memberships are kept, one beside another: with one role a person, more cases met,
but facts that nobody had meant were superseded too. In the half tuned on they are most misses,
with facts that the contradicting one tells of another person ("Ana is the botanist").
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from beliefledger.gate.intake import TurnInput
from beliefledger.gate.registry import SlotRule, default_types
from beliefledger.gate.rules.phrases import slug
from beliefledger.gate.slots import STATEFUL_RELATIONS
from beliefledger.ledger.candidate import Candidate
from beliefledger.ledger.times import DAY
from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.tools.bench.conversations import BEGIN
from beliefledger.tools.bench.measure import Measured, Run, Target
from beliefledger.tools.bench.typing import read

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
    parts = {"tuned on": _Tally(), "held out": _Tally()}
    control = _Tally()
    with open_memory(run.place("contradictions")) as memory:
        for number, case in enumerate(cases):
            if number % 20 == 0:
                run.tell(f"contradictions, {number} of {len(cases)} cases")
            facts, new = case["facts"], case["contradicting_fact"].strip().strip('"')
            wanted = {facts[index] for index in case["supporting_fact_indices"]}
            part = parts["held out" if held_out(new) else "tuned on"]
            _case(memory, f"person {number}", [*facts, new], wanted, part)
            others = cases[(number + len(cases) // 2) % len(cases)]["facts"]
            _case(memory, f"control {number}", [*others, new], wanted, control)
    both = _Tally(parts["tuned on"].counts + parts["held out"].counts)
    for reading, kind, says in (
        ("any", "widely", "both facts were decided upon"),
        ("both", "narrowly", "both facts give a slot of one value"),
    ):
        for name, tally in {"": both, **parts}.items():
            yield Measured(
                f"contradicted fact superseded or contested, {kind}{name and ', '}{name}", "share",
                [tally.share("hit " + reading, reading)], None if name else Target("≥", 0.9),
                note=f"{tally.counts['hit ' + reading]} of {tally.counts[reading]} where {says}",
            )  # fmt: skip
    yield Measured(
        "unrelated facts superseded or contested", "facts", [both.counts["false"]],
        Target("=", 0),
        note=f"of {both.counts['facts']:,} facts, by another or by the contradicting one",
    )  # fmt: skip
    yield Measured(
        "the same after the facts of another case", "facts", [control.counts["false"]],
        Target("=", 0), note=f"of {control.counts['facts']:,}",
    )  # fmt: skip
    yield Measured(
        "cases where both facts were decided upon", "share", [both.share("any", "cases")],
        note=f"{both.counts['any']} of {both.counts['cases']}",
    )  # fmt: skip


def held_out(contradicting: str) -> bool:
    """Whether a case belongs to the half that is not tuned on."""
    return hashlib.sha256(contradicting.encode()).digest()[-1] % 2 == 1


def _case(
    memory: MemoryLedger, subject: str, said: Sequence[str], wanted: set[str], tally: _Tally
) -> None:
    memory.consent.grant(subject, "consent")
    turns = [
        TurnInput(subject=subject, content=text, said_at=BEGIN + number * DAY, ordinal=number)
        for number, text in enumerate(said)
    ]
    receipts = memory.record_turns(turns)
    memory.process(subject=subject)
    numbers = {receipt.turn_id: number for number, receipt in enumerate(receipts)}
    decisions = memory.decisions(subject)
    met = [
        (numbers[decision.turn_id], old)
        for decision in decisions
        if decision.outcome in {"supersede", "escalate"}
        for old in _met(memory, decision.belief_id, decision.memory_id, numbers)
        if old != numbers[decision.turn_id]
    ]
    last = len(said) - 1
    counts = tally.counts
    counts["cases"] += 1
    counts["facts"] += last
    counts["false"] += sum(by != last or said[old] not in wanted for by, old in met)
    hit = any(by == last and said[old] in wanted for by, old in met)
    decided = {numbers[decision.turn_id] for decision in decisions}
    asked = [number for number in range(last) if said[number] in wanted]
    if last in decided and decided.intersection(asked):
        counts["any"] += 1
        counts["hit any"] += hit
    old = [candidate for number in asked for candidate in read(said[number])]
    if any(map(holds_one, old)) and any(map(holds_one, read(said[last]))):
        counts["both"] += 1
        counts["hit both"] += hit


def _met(
    memory: MemoryLedger, belief: str, by: str | None, numbers: dict[str, int]
) -> Iterator[int]:
    """The facts whose memories a decision superseded, or set itself against."""
    for version in memory.history(belief):
        if version.recorded_to is None or (by is not None and version.superseded_by == by):
            if version.memory_id == by:
                continue
            yield from {numbers[each.turn_id] for each in version.evidence}
