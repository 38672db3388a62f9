"""Follows a ledger in a process of its own and tells when each event was delivered.

`python -m beliefledger.tools.bench.follower subscribe|consume` reads the ledger's place from its
input, says `ready` once it waits for what comes, and after as many turns as its input says next
writes position and time of each as JSON. The clock is the machine's monotonic one, which all
processes share.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from time import monotonic

from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.opener import open_memory


def main() -> None:
    how, place, count = sys.argv[1], sys.stdin.readline().strip(), int(sys.stdin.readline())
    with ExitStack() as closing:
        memory = closing.enter_context(open_memory(place, create=False))
        after = memory._log.head().position
        events: Iterator[Recorded]
        if how == "consume":
            memory._log._store.cursors.restore("bench", after)
            consumer = closing.enter_context(memory._log.consumer("bench"))
            events = iter(consumer)
        else:
            events = iter(closing.enter_context(memory.subscribe(after)))
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        delivered = []
        for event in events:
            at = monotonic()
            if not isinstance(event.event, TurnRecorded):
                continue
            delivered.append((event.position, at))
            if len(delivered) == count:
                break
        json.dump(delivered, sys.stdout)


if __name__ == "__main__":
    main()
