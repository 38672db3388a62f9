"""Whether what is over is no longer believed once somebody says so, and what stands is.

Blocks of what people told and may say later (tests/data/successions/README.md) go through the front
door, each later sentence by a person of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from beliefledger.answers import BeliefAnswer
from beliefledger.gate.intake import TurnInput
from beliefledger.gate.meant_memories import TO_COME
from beliefledger.gate.overtaken import is_kin
from beliefledger.ledger.times import from_datetime
from beliefledger.memory import MemoryLedger
from beliefledger.tools.bench.blocks import Block, Later, blocks
from beliefledger.tools.bench.measure import Measured, Run, Target
from beliefledger.tools.bench.quality import Reading, evenly

BEGIN, LATER = datetime(2025, 5, 5, 12, tzinfo=UTC), datetime(2025, 9, 8, 12, tzinfo=UTC)
"""When the first line is told, and when the later one."""
_AFTER = timedelta(hours=6)


class Case(NamedTuple):
    """A person who says one of the later sentences of a block."""

    name: str
    block: Block
    later: Later


class Ended(NamedTuple):
    """What was believed before the later sentence, whether it is over, and whether it is still
    believed."""

    case: Case
    belief: BeliefAnswer
    over: bool
    believed: bool


def overtaking(run: Run) -> Iterator[Measured]:
    """How much of what is over is not believed any more, and how much that stands, in the halves
    that were asked for."""
    for half in run.halves:
        cases = cases_of(half, run.sizes.later)
        run.tell(f"{half}: {len(cases)} later sentences")
        ended = played(run.place(f"overtaking-{half}"), cases)
        for each in ended:
            if each.over == each.believed:
                what = "still believed" if each.over else "no longer believed"
                run.fail(f"{half}: {what}: {each.belief.text}\n    said: {each.case.later.said}")
        over, stands = shares(ended)
        for name, some, target in (
            (f"what is over by a later sentence, {half}: no longer believed", over, None),
            (f"what stands, {half}: no longer believed", stands, Target("≤", 0.02)),
        ):
            note = f"{sum(some)} of {len(some)}"
            share = [sum(some) / len(some)] if some else []
            yield Measured(name, "share", share, target, note=note)


def shares(ended: Sequence[Ended]) -> tuple[list[bool], list[bool]]:
    """Of what is over and of what stands, whether it is believed no more. Who a friend or relative
    is, which a line tells beside what is over, is left out."""
    counted = [each for each in ended if not is_kin(each.belief.attribute, each.belief.value)]
    return (
        [not each.believed for each in counted if each.over],
        [not each.believed for each in counted if not each.over],
    )


def cases_of(half: str, most: int) -> list[Case]:
    """At most about so many, all of some blocks, which are evenly from all."""
    every = list(blocks(half, single=True))
    count = sum(len(block.later) for block in every)
    return [
        Case(f"{block.name} {number}", block, later)
        for block in evenly(every, most * len(every) // count)
        for number, later in enumerate(block.later)
    ]


def played(place: Path, cases: Sequence[Case]) -> list[Ended]:
    """What becomes of all that is believed when the later sentences are said. What happened is left
    out: it is never over."""
    reading = Reading()
    with reading.opened(place) as memory:
        tell(memory, [(case.name, case.block.told) for case in cases])
        before = [memory.beliefs(case.name, valid_at=LATER) for case in cases]
        memory.record_turns(
            TurnInput(
                subject=case.name,
                content=case.later.said,
                role="user",
                session="later",
                said_at=from_datetime(LATER),
            )
            for case in cases
        )
        reading.decide(memory)
        ended = []
        for case, believed in zip(cases, before, strict=True):
            after = memory.beliefs(case.name, valid_at=LATER + _AFTER)
            there = {(each.memory_id, each.text) for each in after}
            ended += [
                Ended(
                    case,
                    each,
                    line_of(each) in case.later.over,
                    (each.memory_id, each.text) in there,
                )
                for each in believed
                if each.type != "event" or each.attribute.startswith(TO_COME)
            ]
        return ended


def tell(memory: MemoryLedger, people: Sequence[tuple[str, Sequence[str]]]) -> None:
    """What each of some people tells, a line a day."""
    for day in range(max(len(lines) for _, lines in people)):
        memory.record_turns(
            TurnInput(
                subject=name,
                content=lines[day],
                role="user",
                session=f"day {day}",
                said_at=from_datetime(BEGIN + timedelta(days=day)),
                ordinal=day,
            )
            for name, lines in people
            if day < len(lines)
        )
        Reading().decide(memory)


def line_of(belief: BeliefAnswer) -> int:
    """The number of the line that a belief comes from, from 1 on, by the day when it was told."""
    return (belief.evidence[-1].said_at - BEGIN).days + 1
