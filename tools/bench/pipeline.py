"""How fast turns go in: recorded in batches, and all the way to views that are caught up."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from psycopg.sql import SQL, Identifier

from beliefledger.gate.intake import TurnInput
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.postgres import schema
from beliefledger.ledger.postgres.server import PostgresURL, Server
from beliefledger.ledger.postgres.store import PostgresEventStore
from beliefledger.ledger.times import from_datetime
from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.opening.vaults import open_vault
from beliefledger.settings import Settings
from beliefledger.tools.bench.conversations import conversations
from beliefledger.tools.bench.measure import Measured, Run, Target, seconds

BATCH = 1_000
LONGMEMEVAL = Path("../shared/data/longmemeval/oracle_dev.json.gz")


def _consented(directory: Path, turns: Sequence[TurnInput]) -> MemoryLedger:
    """A ledger whose subjects are registered and consent: a commit each, before the clock runs."""
    memory = open_memory(directory)
    for subject in dict.fromkeys(turn.subject for turn in turns):
        memory.consent.grant(subject, "consent")
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


def copied_ledger(run: Run) -> str:
    """The same on Postgres, event for event; copied now if it was not."""
    if run.directory not in _copies:
        source = built_ledger(run)
        run.tell("copying the log to Postgres")
        _copies[run.directory] = url = run.postgres.place("copy")
        _copy(source, url)
        name = Identifier(PostgresURL.parse(url).schema)
        with run.postgres.connect() as connection:  # as the server itself would, in time
            for table in ("history", "bodies"):
                connection.execute(SQL("VACUUM ANALYZE {}.{}").format(name, Identifier(table)))
    return _copies[run.directory]


def _copy(source: Path, url: str) -> None:
    settings = Settings.read()
    if settings.master_key_file is None:
        raise RuntimeError("Both ledgers need the same master key.")
    master, place = MasterKey.from_file(settings.master_key_file), PostgresURL.parse(url)
    with open_memory(source) as memory, closing(Server(place)) as server:
        schema.init(server)
        store = PostgresEventStore(server)
        rows = list(memory._log.raw())
        for start in range(0, len(rows), _COPIED):
            store.load(rows[start : start + _COPIED])
        with closing(open_vault(place, master)) as vault:
            vault.restore(memory._log.vault.dump())


_COPIED = 20_000
"""Events in one transaction."""
_copies: dict[Path, str] = {}
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
