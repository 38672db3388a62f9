"""What Prometheus reads: counts and times of a ledger, and nothing about anybody.

Everything is told of the whole ledger, whichever of its servers is asked.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from beliefledger.ledger.events.ops import ToolCalled
from beliefledger.memory import MemoryLedger
from beliefledger.tools.server.costs import costs_of

MEDIA = CONTENT_TYPE_LATEST
SEARCHES = frozenset({"search", "search_memories", "context"})
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Seconds, of the buckets of searches."""


class _Calls:
    """Calls through every door since the server began, as the log tells them."""

    def __init__(self, memory: MemoryLedger) -> None:
        after = memory.status().position
        self._events = memory.subscribe(after, types=[ToolCalled.NAME])
        self._lock = threading.Lock()
        self.count: Counter[tuple[str, str]] = Counter()
        self.within: Counter[float] = Counter()
        self.searches, self.seconds = 0, 0.0

    def look(self) -> None:
        """Only what is new in the log is read."""
        with self._lock:
            while (event := self._events.look()) is not None:
                facts = event.facts
                self.count[facts["door"], facts["outcome"]] += 1
                if facts["tool"] in SEARCHES:
                    taken = facts["duration_micros"] / 1e6
                    self.searches += 1
                    self.seconds += taken
                    self.within.update(bound for bound in BOUNDS if taken <= bound)

    def buckets(self) -> list[tuple[str, float]]:
        below = [(str(bound), float(self.within[bound])) for bound in BOUNDS]
        return [*below, ("+Inf", float(self.searches))]


class Metrics(Collector):
    """Collects when it is asked to. `text` is what /metrics answers."""

    def __init__(self, memory: MemoryLedger) -> None:
        self._memory = memory
        self._calls = _Calls(memory)
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def text(self) -> bytes:
        """Raises `BackendUnavailable`."""
        return generate_latest(self._registry)

    def describe(self) -> Iterable[Metric]:
        """Nothing is collected at registration."""
        return ()

    def collect(self) -> Iterator[Metric]:
        status = self._memory.status()
        yield CounterMetricFamily(
            "beliefledger_appends", "Events in the log.", value=status.position
        )
        decided = CounterMetricFamily(
            "beliefledger_decisions", "Decisions of the gate.", labels=["outcome"]
        )
        for outcome, count in sorted(status.outcomes.items()):
            decided.add_metric([outcome], count)
        yield decided
        lag = GaugeMetricFamily(
            "beliefledger_view_lag", "Events that a view is behind.", labels=["view"]
        )
        for view in status.views:
            lag.add_metric([view.name], view.lag)
        yield lag
        behind = GaugeMetricFamily(
            "beliefledger_consumer_lag", "Events that a consumer is behind.", labels=["consumer"]
        )
        for consumer in status.consumers:
            behind.add_metric([consumer.name], consumer.lag)
        yield behind
        queue = GaugeMetricFamily("beliefledger_queue", "What waits.", labels=["state"])
        for state, waiting in (
            ("pending", status.pending_turns),
            ("parked", status.parked_turns),
            ("for_a_person", status.waiting),
        ):
            queue.add_metric([state], waiting)
        yield queue
        yield from self._of_calls()
        tokens = CounterMetricFamily(
            "beliefledger_model_tokens", "Tokens that models read and wrote.", labels=["kind"]
        )
        spent = costs_of(self._memory).until_now()
        tokens.add_metric(["input"], sum(each.input_tokens for each in spent))
        tokens.add_metric(["output"], sum(each.output_tokens for each in spent))
        yield tokens
        unfinished = sum(each.completed_at is None for each in self._memory.erasure.list())
        yield GaugeMetricFamily(
            "beliefledger_erasures_open", "Erasures that are not completed.", value=unfinished
        )

    def _of_calls(self) -> Iterator[Metric]:
        self._calls.look()
        calls = CounterMetricFamily(
            "beliefledger_calls",
            "Calls through any server since this one began.",
            labels=["door", "outcome"],
        )
        for (door, outcome), count in sorted(self._calls.count.items()):
            calls.add_metric([door, outcome], count)
        yield calls
        searches = HistogramMetricFamily(
            "beliefledger_search_seconds",
            "Searches and contexts through any server since this one began.",
        )
        searches.add_metric([], self._calls.buckets(), self._calls.seconds)
        yield searches
