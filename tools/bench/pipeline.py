"""How fast turns go in: recorded in batches, and all the way to views that are caught up."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from gate.intake import TurnInput
from ledger.times import from_datetime
from tools.bench.conversations import conversations
from tools.bench.measure import Measured, Run, Target, seconds
from tools.memory import MemoryLedger, open_memory

BATCH = 1_000
LONGMEMEVAL = Path("../shared/data/longmemeval/oracle_dev.json.gz")


def _consented(directory: Path, turns: Sequence[TurnInput]) -> MemoryLedger:
    """A ledger whose subjects are registered and consent: a commit each, before the clock runs."""
    memory = open_memory(directory)
    for subject in dict.fromkeys(turn.subject for turn in turns):
        memory.grant_consent(subject, "consent")
    return memory


def _record(memory: MemoryLedger, turns: Sequence[TurnInput]) -> None:
    for start in range(0, len(turns), BATCH):
        memory.record_turns(turns[start : start + BATCH])


def _whole(memory: MemoryLedger, turns: Sequence[TurnInput]) -> None:
    """Recorded, extracted, decided, and every view caught up."""
    _record(memory, turns)
    memory.process()
    memory.status(digests=False)


def recording(run: Run) -> Iterator[Measured]:
    """Events a second of `record_turns`, batches of a thousand: each turn is one event."""
    people = max(10, run.sizes.people // 10)
    rates = []
    with _consented(run.place("recording"), conversations(people, people, seed=0)) as memory:
        for number in run.rounds("recording batches of turns"):
            turns = conversations(
                people, run.sizes.batches * BATCH, seed=20 + number, first=number * BATCH
            )
            rates.append(len(turns) / seconds(_record, memory, turns))
    yield Measured("recording a batch of turns", "events/s", rates, Target("≥", 20_000))


def pipeline(run: Run) -> Iterator[Measured]:
    """Turns a second of the whole pipeline, on generated conversations and on LongMemEval."""
    rates, position = _built(run)[1:]
    yield Measured(
        "record, extract, decide, views caught up",
        "turns/s",
        rates,
        Target("≥", 1_000),
        note=f"generated conversations of {run.sizes.people:,} people: {position:,} events",
    )
    if LONGMEMEVAL.exists():
        yield _longmemeval(run)


def built_ledger(run: Run) -> Path:
    """The ledger that the pipeline bench made, made now if it was not: about 200,000 events."""
    return _built(run)[0]


_ledgers: dict[Path, tuple[Path, list[float], int]] = {}


def _built(run: Run) -> tuple[Path, list[float], int]:
    if run.directory not in _ledgers:
        _ledgers[run.directory] = _build(run)
    return _ledgers[run.directory]


def _build(run: Run) -> tuple[Path, list[float], int]:
    place, people = run.place("pipeline"), run.sizes.people
    each = run.sizes.turns // run.sizes.rounds
    rates = []
    with _consented(place, conversations(people, people, seed=0)) as memory:
        for number in run.rounds("recording, extracting, deciding"):
            first = number * -(-each // people)
            turns = conversations(people, each, seed=40 + number, first=first)
            rates.append(each / seconds(_whole, memory, turns))
        position = memory.status(digests=False).position
    return place, rates, position


def _longmemeval(run: Run) -> Measured:
    run.tell("reading LongMemEval")
    turns = _people_of_longmemeval(run.sizes.questions)
    users = sum(turn.role == "user" for turn in turns)
    rates = []
    for _ in run.rounds(f"{len(turns):,} turns of LongMemEval"):
        with _consented(run.place("longmemeval"), turns) as memory:
            rates.append(len(turns) / seconds(_whole, memory, turns))
    return Measured(
        "the same on LongMemEval", "turns/s", rates, note=f"{users:,} of {len(turns):,} by users"
    )


def _people_of_longmemeval(questions: int) -> list[TurnInput]:
    """The first questions' conversations: each question is a person."""
    with gzip.open(LONGMEMEVAL) as file:
        asked = json.load(file)[:questions]
    return [
        TurnInput(
            subject=question["question_id"],
            content=turn["content"],
            role=turn["role"],
            session=session_id,
            said_at=from_datetime(
                datetime.strptime(date, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)
            ),
            ordinal=ordinal,
        )
        for question in asked
        for date, session_id, session in zip(
            question["haystack_dates"],
            question["haystack_session_ids"],
            question["haystack_sessions"],
            strict=True,
        )
        for ordinal, turn in enumerate(session)
        if turn["content"].strip()
    ]
