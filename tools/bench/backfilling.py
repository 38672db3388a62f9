"""How fast standing memories are looked at, and moved, when a type is added."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from shutil import copytree

from beliefledger.gate.intake import TurnInput
from beliefledger.opener import open_memory
from beliefledger.tools.bench.measure import Measured, Run, Target, seconds

_PEOPLE = 50
_MEMORIES = 10_000
_FITTING = 5
"""One in so many fits the type, in the first figure."""
_DIET = {
    "name": "diet",
    "attribute": "diet.{food}",
    "fields": {"food": {"description": "what is not eaten", "required": True}},
    "patterns": ["don't eat {food}", "never eat {food}"],
}


def _ledger(place: Path, memories: int, one_in: int) -> None:
    """People who said what they like, and now and then what they do not eat."""
    turns = [
        TurnInput(
            subject=f"person {number % _PEOPLE}",
            content=f"I don't eat dish{number // _PEOPLE}."
            if number // _PEOPLE % one_in == 0
            else f"I like Band{number // _PEOPLE}.",
            session="one",
            ordinal=number,
        )
        for number in range(memories)
    ]
    with open_memory(place) as memory:
        for person in range(_PEOPLE):
            memory.consent.grant(f"person {person}", "consent")
        memory.record_turns(turns)
        memory.process()
        memory.types.add(_DIET)


def backfilling(run: Run) -> Iterator[Measured]:
    """Memories a second of one run over a ledger: where few fit, and where all do."""
    memories = max(_PEOPLE, _MEMORIES * run.sizes.people // 1_000)
    for one_in, name, target in (
        (_FITTING, "memories looked at by a backfill, of which one in five moves", 5_000),
        (1, "memories moved by a backfill, where all fit", None),
    ):
        built = run.place("backfilling")
        run.tell("making memories")
        _ledger(built, memories, one_in)
        rates = []
        for _ in run.rounds(name):
            place = run.place("backfilled")
            copytree(built, place)
            rates.append(_rate(place, memories, one_in))
        note = f"{memories:,} memories of {_PEOPLE} people, SQLite"
        asked = None if target is None else Target("≥", target)
        yield Measured(name, "memories/s", rates, asked, note=note)


def _rate(place: Path, memories: int, one_in: int) -> float:
    """Memories looked at in a second; where all fit, they are the moved ones."""
    with open_memory(place) as memory:
        memory.types.list()  # the views are there when it begins
        taken = seconds(partial(memory.types.backfill, "diet", apply=True))
        moved = memory.types.get("diet").memories
    if moved != memories // one_in:
        raise RuntimeError(f"{moved} memories moved, not {memories // one_in}.")
    return memories / taken
