# ruff: noqa: T201  what it prints is read by the test
"""The processes of the storm: writers, each with streams of its own and one that all write to, and
followers.

    storm.py write PLACE DIRECTORY NAME EVENTS
    storm.py follow PLACE DIRECTORY NAME EVENTS     through a subscription of the log
    storm.py read PLACE DIRECTORY NAME EVENTS       through the store

Each waits for a line, and leaves in its directory what it saw acknowledged or delivered: a line for
each event, with its position, id, stream and version.
"""

from __future__ import annotations

import random
import sys
from contextlib import suppress
from pathlib import Path

from ledgers import ids_of, open_log, open_store, sealed

from beliefledger.ledger import canonical
from beliefledger.ledger.errors import ClockWentBack, EventIdReused, VersionConflict
from beliefledger.ledger.group_commit import AppendRequest
from beliefledger.ledger.postgres.store import PostgresEventStore
from beliefledger.ledger.times import SECOND, system_clock

SIZES = (1, 3, 20, 150)
SHARED = "everybody's"


def faults(delivered: list[int], committed: list[int]) -> list[str]:
    """What is wrong with how a follower was told of positions: it has to get each that was
    committed once and in order, and they have to be 1, 2, 3 …"""
    found = []
    if missed := sorted(set(committed) - set(delivered)):
        found.append(f"never delivered: {missed[:5]}")
    if len(set(delivered)) < len(delivered):
        found.append("delivered twice")
    if delivered != sorted(delivered):
        found.append("delivered out of order")
    if sorted(committed) != list(range(1, len(committed) + 1)):
        found.append("a gap, or a position that two events have")
    return found


class NotMeant(Exception):
    """Raised inside a transaction, to have it rolled back."""


def roll_back(store, batch, expect):
    """Append in a transaction that does everything and is then given up."""
    request = AppendRequest(batch, expect, system_clock, None)
    with suppress(NotMeant):
        if isinstance(store, PostgresEventStore):
            with store.server.connection() as connection, connection.transaction():
                [answer] = store._appender.send(connection, [store._appender.values(request)])
                assert answer.status == "ok", answer
                raise NotMeant
        with store._transaction() as cursor:
            store._appender.write(cursor, request)
            raise NotMeant


class Writer:
    def __init__(self, place, name):
        self.store = open_store(place)
        self.chance = random.Random(name)
        self.name = name
        self.version = 0
        self.written = 0
        self.last = []
        self.counts = dict.fromkeys(("conflicts", "rolled back", "refused"), 0)

    def write(self, events, acknowledge):
        number = 0
        while self.written < events:
            size = min(self.chance.choice(SIZES), events - self.written)
            number += 1
            if number % 10 == 0:
                self.write_to_shared(size, acknowledge)
            else:
                batch = sealed(self.name, self.version + 1, size)
                self.append(batch, {self.name: self.version}, acknowledge)
                self.version += size
            if number % 7 == 0:
                self.be_refused(size)

    def append(self, batch, expect, acknowledge):
        appended = self.store.append(batch, expect, system_clock)
        assert not appended.already
        self.written += len(batch)
        self.last = batch
        acknowledge(batch, appended.first)

    def write_to_shared(self, size, acknowledge):
        version = self.store.versions([SHARED])[SHARED]
        try:
            self.append(sealed(SHARED, version + 1, size), {SHARED: version}, acknowledge)
        except VersionConflict:
            self.counts["conflicts"] += 1

    def be_refused(self, size):
        mine = {self.name: self.version}
        next_ones = sealed(self.name, self.version + 1, size)
        roll_back(self.store, next_ones, mine)
        self.counts["rolled back"] += 1
        for batch, expect, clock, error in (
            (next_ones, {self.name: self.version + 5}, system_clock, VersionConflict),
            (next_ones, mine, lambda: system_clock() - 600 * SECOND, ClockWentBack),
            (
                sealed(self.name, self.version + 1, ids=ids_of(self.last[:1])),
                mine,
                system_clock,
                EventIdReused,
            ),
        ):
            try:
                self.store.append(batch, expect, clock)
            except error:
                self.counts["refused"] += 1
            else:
                raise AssertionError(f"was not refused with {error.__name__}")


def write(place, directory, name, events, note):
    writer = Writer(place, name)

    def acknowledge(batch, first):
        for position, each in enumerate(batch, first):
            note(position, each.address.event_id, each.address.stream, each.address.version)

    sys.stdin.readline()
    writer.write(events, acknowledge)
    print(canonical.encode(writer.counts).decode(), flush=True)
    writer.store.close()


def follow(place, directory, name, events, note):
    log = open_log(place, directory)
    sys.stdin.readline()
    with log.subscribe() as delivered:
        for number, event in enumerate(delivered, 1):
            note(event.position, event.event_id, event.stream, event.version)
            if number == events:
                break
    print("{}", flush=True)
    log.close()


def read(place, directory, name, events, note):
    store = open_store(place)
    sys.stdin.readline()
    number = last = 0
    while number < events:
        store.wait(last, 1)
        for row in store.read(last, 1_000):
            fields = canonical.decode(row.envelope)
            note(row.position, fields["event_id"], fields["stream"], fields["version"])
            number, last = number + 1, row.position
    print("{}", flush=True)
    store.close()


def main(what, place, directory, name, events):
    with (Path(directory) / name).open("w") as file:
        run = {"write": write, "follow": follow, "read": read}[what]
        run(place, directory, name, int(events), lambda *words: print(*words, file=file))


if __name__ == "__main__":
    main(*sys.argv[1:])
