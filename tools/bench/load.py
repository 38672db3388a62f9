"""Many agents at two servers over one ledger, one of which is killed in the middle: what goes
wrong, what is lost, and whether the memory of the other one grows."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.tools.bench.conversations import statements
from beliefledger.tools.bench.measure import Measured, Run, Target
from beliefledger.tools.bench.wire import Gone, ServerProcess, Wire, ledger_server

AGENTS = 50
LEASE_SECONDS = 2
_DECIDED_SECONDS = 120
_EVERY_SECONDS = 0.2


@dataclass(slots=True)
class Loaded:
    """What became of a load."""

    seconds: float
    calls: int = 0
    stored: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The id and the words of each turn that was acknowledged, by its idempotency key."""
    errors: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    """Keys whose turn is not in the ledger as it was said; and what is there twice."""
    resident: list[int] = field(default_factory=list)
    """Bytes of the server that went on, evenly spaced from the kill to the end."""

    @property
    def growth(self) -> float:
        """Of the last quarter of these samples over the quarter in the middle."""
        quarter = max(1, len(self.resident) // 4)
        middle = self.resident[2 * quarter : 3 * quarter] or self.resident
        return median(self.resident[-quarter:]) / median(middle) - 1


def loaded(place: str, seconds: float, agents: int = AGENTS) -> Loaded:
    """Let so many agents store and search at two servers over a new ledger for so long."""
    done = Loaded(seconds)
    with open_memory(place) as memory, ExitStack() as running:
        tokens = [
            memory.tokens.create(
                f"agent {at}", by="bench", subjects=[_person(at)], consent="consent"
            ).token
            for at in range(agents)
        ]
        servers: list[ServerProcess] = [
            running.enter_context(ledger_server(place, LEASE_SECONDS=LEASE_SECONDS))
            for _ in range(2)
        ]
        ends = time.monotonic() + seconds
        crowd = [_Agent(at, token, servers, done, ends) for at, token in enumerate(tokens)]
        for each in crowd:
            each.start()
        time.sleep(seconds / 2)
        servers[0].process.kill()
        while time.monotonic() < ends:
            done.resident.append(servers[1].resident_bytes())
            time.sleep(_EVERY_SECONDS)
        for each in crowd:
            each.join(120)
            if each.is_alive():
                done.errors.append(f"agent {each.at} is still waiting")
        _wait_decided(memory, done)
        done.lost = list(_lost(memory, done))
    return done


class _Agent(threading.Thread):
    """Stores what somebody says and searches it, at one server, and at the other when that is gone.

    What was not acknowledged is sent again under its key.
    """

    def __init__(
        self, at: int, token: str, servers: Sequence[ServerProcess], done: Loaded, ends: float
    ) -> None:
        super().__init__(daemon=True)
        self.at = at
        self._servers = servers
        self._token = token
        self._done = done
        self._ends = ends
        self._server = at % 2
        self._wire = Wire(servers[self._server].url, token)

    def run(self) -> None:
        number = 0
        while time.monotonic() < self._ends:
            number += 1
            [words] = statements(1, seed=self.at * 1_000_003 + number)
            key = f"{self.at}-{number}"
            given = {"text": words, "topic": "general", "idempotency_key": key}
            answer = self._call("store_memory", given)
            if answer is not None:
                self._done.stored[key] = answer["data"]["job_id"], words
            self._call("search_memories", {"query": words, "limit": 5})
        self._wire.close()

    def _call(self, tool: str, given: dict[str, Any]) -> dict[str, Any] | None:
        for _ in range(3):
            try:
                answer = self._wire.call(tool, given)
            except Gone:
                self._server = 1 - self._server
                self._wire = Wire(self._servers[self._server].url, self._token)
                continue
            except RuntimeError as problem:
                self._done.errors.append(str(problem))
                return None
            self._done.calls += 1
            if answer["status"] == "ok":
                return answer
            self._done.errors.append(f"{tool}: {answer['code']}: {answer['error']}")
            return None
        self._done.errors.append(f"{tool}: both servers are gone")
        return None


def _person(at: int) -> str:
    return f"person {at}"


def _wait_decided(memory: MemoryLedger, done: Loaded) -> None:
    ends = time.monotonic() + _DECIDED_SECONDS
    while memory.status(digests=False).pending_turns:
        if time.monotonic() > ends:
            done.errors.append("turns still wait to be decided")
            return
        time.sleep(0.1)


def _lost(memory: MemoryLedger, done: Loaded) -> Iterator[str]:
    said = {
        each.stream: each.event.content
        for each in memory.subscribe(types=[TurnRecorded.NAME], follow=False)
        if isinstance(each.event, TurnRecorded)
    }
    if not done.errors and len(said) != len(done.stored):
        yield f"{len(said)} turns of {len(done.stored)} that were told"
    for key, (turn_id, words) in done.stored.items():
        if said.get(turn_id) != words:
            yield key
    if not memory.proofs.verify().ok:
        yield "the log does not verify"


def load(run: Run) -> Iterator[Measured]:
    """Fifty agents at two servers over Postgres; one of the servers is killed in the middle."""
    seconds = run.sizes.load_seconds
    names = {
        "errors": f"errors of {AGENTS} agents at two servers, one of them killed",
        "lost": "the same: turns acknowledged and lost, or there twice",
        "growth": "the same: growth of the other server's memory",
    }
    targets = {"errors": Target("=", 0), "lost": Target("=", 0), "growth": Target("≤", 0.1)}
    if run.postgres.missing:
        for name, told in names.items():
            yield Measured(told, "", target=targets[name], note=run.postgres.missing)
        return
    run.tell(f"{AGENTS} agents for {seconds} s")
    done = loaded(run.postgres.place("load"), seconds)
    for each in (*done.errors[:5], *done.lost[:5]):
        run.fail(each)
    note = f"{seconds} s"
    yield Measured(names["errors"], "", [len(done.errors)], targets["errors"], note=note)
    yield Measured(names["lost"], "", [len(done.lost)], targets["lost"], note=note)
    long_enough = seconds >= 30
    yield Measured(
        names["growth"],
        "of it",
        [done.growth],
        targets["growth"],
        asserted=long_enough,
        note=f"{max(done.resident) / 1e6:,.0f} MB at most, {note}",
    )
    yield Measured("the same: calls a second", "/s", [done.calls / seconds], note=note)
