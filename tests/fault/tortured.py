"""The processes that the torture kills.

Each goes on until it is killed, through whatever can be tried again; anything else ends it. In its
file is a line for each thing that was done, written after the fact was acknowledged:

    write      turn POSITION TURN KEY, or decision EVENT
    project    at POSITION, or rebuilt VIEW
    consume    event POSITION

Those of the attacker's mix are in `attackers`; its `follow` is `consume` under a name of its own.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import sys
import threading
import time
from functools import partial
from itertools import count
from pathlib import Path

from beliefledger import open_memory
from beliefledger.ledger.errors import AppendUncertain, LeaseLost, Retryable
from beliefledger.ledger.log import new_id

SENTENCES = (
    "I live in {}.",
    "I moved to {}.",
    "I always use {} mode.",
    "I work as a {} at Mondego Labs.",
    "What if I were in {}?",
    "The weather in {} is fine today.",
)
WORDS = ("Lisbon", "Porto", "Aveiro", "dark", "light", "gardener", "glassblower")
GIVE_UP_SECONDS = 90


def insist(action, *given, **named):
    """Do it again until it is done, as long as the error says that this may help."""
    until = time.monotonic() + GIVE_UP_SECONDS
    while True:
        try:
            return action(*given, **named)
        except (Retryable, AppendUncertain):
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


class Notes:
    """Lines that are in the file as a whole, or not at all, whenever the process is killed."""

    def __init__(self, path):
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def __call__(self, *words):
        os.write(self._file, " ".join(map(str, words)).encode() + b"\n")


def write(memory, note, chance):
    run = new_id()
    people = [f"person {n}" for n in range(4)]
    for person in people:
        insist(memory.consent.grant, person, "consent")
    for n in count():
        person, key = chance.choice(people), f"{run}-{n}"
        words = chance.choice(SENTENCES).format(chance.choice(WORDS))
        turn = insist(memory.record_turn, person, words, idempotency_key=key)
        note("turn", turn.position, turn.turn_id, key)
        if chance.random() < 0.2:
            done = insist(memory.process, subject=person, limit=20)
            for decision in done.decisions:
                note("decision", decision)
        time.sleep(chance.random() * 0.02)


def project(memory, note, chance):
    projector = memory._core.projector
    while True:
        insist(projector.catch_up)
        note("at", min(each.position for each in insist(states, projector)))
        if chance.random() < 0.02:
            view = chance.choice(sorted(projector.views))
            insist(memory.operations.rebuild, view)
            note("rebuilt", view)
        time.sleep(chance.random() * 0.02)


def states(projector):
    with projector.reading() as connection:
        return list(projector.states(connection).values())


def consume(memory, note, chance, name="torture"):
    events = memory._log.consumer(name, lease_seconds=1)
    while True:
        try:
            event = next(events)
            note("event", event.position)
            if chance.random() < 0.3:
                events.ack(event)
        except LeaseLost:
            continue


def end_with_the_torture():
    multiprocessing.parent_process().join()
    os._exit(1)


def main(what, place, file, complaints, seed):
    """Runs in a process that is started for it; what goes wrong is written to `complaints`."""
    threading.Thread(target=end_with_the_torture, daemon=True).start()
    sys.stdout = sys.stderr = Path(complaints).open("a", buffering=1)  # noqa: SIM115  it is killed
    memory = insist(open_memory, place)
    import attackers

    run = {
        "write": write,
        "project": project,
        "consume": consume,
        "say": attackers.say,
        "rebuild": attackers.rebuild,
        "erase": attackers.erase,
        "follow": partial(consume, name=Path(file).name),
        "hunt": attackers.hunt,
    }[what]
    run(memory, Notes(file), random.Random(f"{seed} {os.getpid()}"))
