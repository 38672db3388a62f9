"""Delivers events to one webhook: in order for each person, tried again, given up in the end."""

from __future__ import annotations

import base64
import hashlib
import hmac
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush

import orjson

from beliefledger.access.told_events import ERASED, ToldEvents, wanted
from beliefledger.access.webhooks import SAME_SECONDS, Endpoint
from beliefledger.ledger import backoff
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.consumer import LEASE_SECONDS, Consumer
from beliefledger.ledger.errors import (
    BackendUnavailable,
    CallerMistake,
    KeyMissing,
    LeaseLost,
    NotPermitted,
    UnknownMemory,
)
from beliefledger.memory import MemoryLedger
from beliefledger.tools.relay.callout import Caller, CallFailed, Rules

WINDOW = 500
"""So many events past the cursor are under way at most."""
ACK_EVENTS, ACK_SECONDS = 200, 0.1
"""The cursor moves after so many deliveries, or so long after one."""
_LOOK_SECONDS = 0.5
FAILING = 3
"""After so many failed attempts without one that arrived, why is put on record."""
STUCK = 8
"""After so many of one event, too, although others arrive."""
_FAILING_SECONDS = 60.0
"""At most so often: reasons may alternate."""
_FRESH_SECONDS = 1.0
"""What was read longer ago is read again before it is sent: it may have been erased."""
_NOBODY = ""


@dataclass(frozen=True, slots=True)
class Trying:
    """How often, and how long apart, a delivery is tried."""

    attempts: int = 16
    first_seconds: float = 0.5
    longest_seconds: float = 3_600.0
    senders: int = 4
    """How many deliveries of one webhook are on their way at once, of different people."""
    lease_seconds: float = LEASE_SECONDS
    rules: Rules = field(default_factory=Rules)


@dataclass(slots=True, eq=False)
class _Item:
    """An event on its way."""

    event: Recorded
    read_at: float
    epoch: int
    delays: Iterator[float]
    again: bool = False
    """Whether it is a dead letter that is sent once more."""
    attempts: int = 0
    done: bool = False

    @property
    def lane(self) -> str:
        return self.event.subject_ref or _NOBODY

    @property
    def position(self) -> int:
        return self.event.position


def headers(event_id: str, at: int, keys: tuple[bytes, ...], body: bytes) -> Mapping[str, str]:
    """Those of Standard Webhooks: the id, the time, and a signature with each key in force."""
    signed = f"{event_id}.{at}.".encode() + body
    signatures = (base64.b64encode(hmac.digest(key, signed, hashlib.sha256)) for key in keys)
    return {
        "Content-Type": "application/json",
        "User-Agent": "beliefledger",
        "webhook-id": event_id,
        "webhook-timestamp": str(at),
        "webhook-signature": " ".join(f"v1,{each.decode()}" for each in signatures),
    }


class Delivery:
    """Delivers to one webhook while it holds its cursor. Run it in a thread of its own; `stop` may
    be called from any.

    What one person's events are is sent one after another, and the next not before the one before
    has arrived or was given up; those of different people do not wait for each other. The cursor
    follows what arrived without a gap.
    """

    def __init__(
        self,
        memory: MemoryLedger,
        endpoint: Endpoint,
        trying: Trying,
        tell: Callable[[str, str, str], None] = lambda _webhook, _what, _why: None,
    ) -> None:
        self.id = endpoint.id
        self._memory = memory
        self._webhooks = memory.webhooks
        self._endpoint = endpoint
        self._trying = trying
        self._tell = tell
        self._told = ToldEvents(
            memory.name_of, memory.actor_name, endpoint.registered.role,
            endpoint.registered.subjects,
        )  # fmt: skip
        self._types = endpoint.types | ERASED
        self._outcomes = frozenset(endpoint.registered.outcomes)
        self._stopped = threading.Event()
        self._changed = threading.Condition()
        self._ready: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._epoch = 0
        """Counts how often the cursor was claimed here: what belongs to an earlier time is void."""
        self._failures = 0
        """In a row."""
        self._failing: tuple[str, float] | None = None
        """Which problem was put on record, and when."""
        self._began_at_nothing()

    def _began_at_nothing(self) -> None:
        self._epoch += 1
        self._window: deque[_Item] = deque()
        self._lanes: dict[str, deque[_Item]] = {}
        self._retries: list[tuple[float, int, _Item]] = []
        self._again: set[int] = set()
        self._acked_at = 0.0

    # Running

    def run(self) -> None:
        """Until it is stopped, or the webhook is removed. Raises errors of the log that do not go
        away by themselves."""
        senders = [
            threading.Thread(target=self._send, name=f"webhook {self.id[:8]}", daemon=True)
            for _ in range(self._trying.senders)
        ]
        for each in senders:
            each.start()
        consumer = self._consumer()
        replays = self._endpoint.replays
        try:
            looked_at = 0.0
            while not self._stopped.is_set() and self._endpoint.removed is None:
                if time.monotonic() >= looked_at + _LOOK_SECONDS:
                    self._refresh()
                    looked_at = time.monotonic()
                if self._endpoint.replays != replays:
                    consumer.close()  # its cursor was set back
                    replays, consumer = self._endpoint.replays, self._consumer()
                    with self._changed:
                        self._began_at_nothing()
                try:
                    filled = self._fill(consumer.look)
                    if consumer.looked is not None:
                        self._call_dead_letters()
                    self._retry()
                    self._ack(consumer.ack, at_once=False)
                except LeaseLost:
                    self._refresh()  # what is sent again may be a dead letter
                    with self._changed:
                        self._began_at_nothing()
                    continue
                if not filled:
                    self._rest(consumer.looked)
        finally:
            self._stopped.set()
            for _ in senders:
                self._ready.put(None)
            for each in senders:
                each.join(self._trying.rules.seconds)
            with suppress(LeaseLost, BackendUnavailable, CallerMistake):
                self._ack(consumer.ack, at_once=True)
            consumer.close()

    def _consumer(self) -> Consumer:
        seconds = self._trying.lease_seconds
        return self._memory.consumer(self._endpoint.consumer, lease_seconds=seconds)

    def stop(self) -> None:
        """End soon: what is on its way has its time to arrive."""
        self._stopped.set()
        with self._changed:
            self._changed.notify_all()

    def _refresh(self) -> None:
        with suppress(BackendUnavailable):
            self._endpoint = self._webhooks.endpoints()[self.id]

    def _rest(self, looked: int | None) -> None:
        with self._changed:
            busy = bool(self._window or self._retries or self._again)
            if busy or looked is None:
                self._changed.wait(0.02 if busy else 0.1)
                return
        with suppress(BackendUnavailable):
            self._memory.wait(looked, 0.25)

    # What is to be sent

    def _fill(self, look: Callable[[], Recorded | None]) -> bool:
        """Take what is there, as far as the window has room."""
        some = False
        while len(self._window) < WINDOW and not self._stopped.is_set():
            event = look()
            if event is None:
                break
            some = True
            item = self._item(event)
            if not self._told.concerns(event) or not wanted(event, self._types, self._outcomes):
                self._pass_over(item)
            with self._changed:
                self._window.append(item)
                if not item.done:
                    self._enqueue(item)
        return some

    def _pass_over(self, item: _Item) -> None:
        """Of somebody whom this webhook is not told of; that they are erased needs no answer."""
        if item.event.type in ERASED:
            self._acknowledge(item.event)
        item.done = True

    def _item(self, event: Recorded, *, again: bool = False) -> _Item:
        delays = backoff.delays(self._trying.first_seconds, self._trying.longest_seconds)
        return _Item(event, time.monotonic(), self._epoch, delays, again)

    def _enqueue(self, item: _Item) -> None:
        """Behind what else there is of the same person. The lock is held."""
        lane = self._lanes.setdefault(item.lane, deque())
        lane.append(item)
        if len(lane) == 1:
            self._ready.put(item)

    def _call_dead_letters(self) -> None:
        for position in self._endpoint.again:
            if position not in self._again:
                item = self._item(self._webhooks.event(position), again=True)
                with self._changed:
                    self._again.add(position)
                    self._enqueue(item)

    def _retry(self) -> None:
        now = time.monotonic()
        with self._changed:
            while self._retries and self._retries[0][0] <= now:
                self._ready.put(heappop(self._retries)[2])

    def _ack(self, ack: Callable[[int], None], *, at_once: bool) -> None:
        """Move the cursor over what is done without a gap."""
        count = 0
        for item in self._window:
            if not item.done:
                break
            count += 1
        now = time.monotonic()
        due = at_once or count >= ACK_EVENTS or now >= self._acked_at + ACK_SECONDS
        if not count or not due:
            return
        ack(self._window[count - 1].position)
        self._acked_at = now
        for _ in range(count):
            self._window.popleft()

    # Sending

    def _send(self) -> None:
        caller = Caller(self._endpoint.registered.url, self._trying.rules)
        while (item := self._ready.get()) is not None:
            if self._stopped.is_set():
                break
            if item.epoch == self._epoch:
                self._settle(item, *self._try(caller, item))
        caller.close()

    def _try(self, caller: Caller, item: _Item) -> tuple[str, float | None]:
        """Send it once. The reason why it did not arrive, or an empty one; and when to come back,
        where the receiver said so. What is wrong on our side counts as no attempt."""
        try:
            if time.monotonic() > item.read_at + _FRESH_SECONDS:
                item.event, item.read_at = self._webhooks.event(item.position), time.monotonic()
            keys = self._webhooks.secrets(self._endpoint)
            body = self._body(item.event)
        except (BackendUnavailable, KeyMissing) as problem:
            self._tell(self.id, "held", problem.detail)
            if isinstance(problem, KeyMissing):
                self._failed(item, "secret missing")
            return "held", None
        item.attempts += 1
        try:
            signed = headers(item.event.event_id, int(time.time()), keys, body)
            answer = caller.post(body, signed)
        except CallFailed as failed:
            return str(failed), None
        if not 200 <= answer.status < 300:
            return f"status {answer.status}", answer.retry_after
        if item.event.type in ERASED and not self._acknowledge(item.event):
            return "held", None
        return "", None

    def _body(self, event: Recorded) -> bytes:
        told = self._told.of(event)
        return orjson.dumps({"type": event.type, "timestamp": told["recorded_at"], "data": told})

    def _acknowledge(self, event: Recorded) -> bool:
        """Put on record that this receiver has deleted what was erased. False: try again."""
        certificates = self._memory.erasure.certificates
        try:
            with suppress(UnknownMemory, NotPermitted):  # it was told of in the first version
                certificates.acknowledge(self._endpoint.consumer, event.facts["request"])
        except BackendUnavailable:
            return False
        return True

    def _failed(self, item: _Item, reason: str) -> None:
        """Have whoever lists webhooks see why nothing arrives."""
        now = time.monotonic()
        with self._changed:
            self._failures = self._failures + 1 if reason else 0
            if not reason or (self._failures < FAILING and item.attempts < STUCK):
                return
            if self._failing is not None:
                told, at = self._failing
                if now < at + (SAME_SECONDS if told == reason else _FAILING_SECONDS):
                    return
            self._failing = reason, now
        with suppress(BackendUnavailable):
            self._webhooks.failing(self.id, item.position, attempts=item.attempts, reason=reason)
            self._tell(self.id, "failing", reason)

    def _settle(self, item: _Item, reason: str, later: float | None) -> None:
        """Go on to the next of the same person; or try again, or give up."""
        ended = not reason
        if reason not in {"held", "status 410"}:
            self._failed(item, reason)
        if reason == "status 410":
            with suppress(BackendUnavailable):
                self._webhooks.gone(self.id)
                self._tell(self.id, "gone", "the receiver answered 410")
                self._stopped.set()
            return
        was_dead = item.again or item.position in self._endpoint.dead
        if (ended and was_dead) or (
            reason not in {"", "held"} and item.attempts >= self._trying.attempts
        ):
            try:
                self._webhooks.settle(
                    self.id, item.position, delivered=ended, attempts=item.attempts, reason=reason
                )
            except BackendUnavailable:
                reason, ended = "held", False
            else:
                if reason:
                    self._tell(self.id, "given up", f"position {item.position}: {reason}")
                ended = True
        with self._changed:
            if item.epoch != self._epoch:
                return  # another has the cursor, or it was set back: this is sent again
            if not ended:
                wait = next(item.delays)
                if later is not None:
                    wait = min(max(wait, later), self._trying.longest_seconds)
                heappush(self._retries, (time.monotonic() + wait, id(item), item))
            else:
                item.done = True
                lane = self._lanes[item.lane]
                lane.popleft()
                if lane:
                    self._ready.put(lane[0])
                else:
                    del self._lanes[item.lane]
                if item.again:
                    self._endpoint = self._without(item.position)
                    self._again.discard(item.position)
            self._changed.notify_all()

    def _without(self, position: int) -> Endpoint:
        """What was settled just now is not to be sent again before the log is looked at."""
        again = tuple(each for each in self._endpoint.again if each != position)
        return replace(self._endpoint, again=again)
