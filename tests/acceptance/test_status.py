"""What asking how a ledger is costs: no more for a long log than for a short one."""

from __future__ import annotations

import pytest

from beliefledger import open_memory
from beliefledger.ledger import codec


@pytest.fixture
def opened_events(monkeypatch):
    """Counts the events that are read, envelope by envelope."""
    read = []
    for name in ("unseal", "_parts"):
        real = getattr(codec, name)

        def counting(row, *args, real=real, **kwargs):
            read.append(row.position)
            return real(row, *args, **kwargs)

        monkeypatch.setattr(codec, name, counting)
    return read


def test_status_reads_no_more_of_a_longer_log(place, opened_events):
    with open_memory(place, consent="consent") as memory:
        costs = []
        for number in range(60):
            memory.remember("ana", f"I have {number + 2} books.")
            if number in {5, 59}:
                memory.status()
                opened_events.clear()
                told = memory.status()
                costs.append(len(opened_events))
        assert told.position > 250
        assert costs[1] <= costs[0] + 2
        opened_events.clear()
        assert all(each.digest for each in memory.status(digests=True).views)
        assert len(opened_events) > 250, "what is counted here is what digests need"
