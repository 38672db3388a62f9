"""Events as they come, as asynchronous iterators."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections import deque
from typing import NamedTuple, Self

from beliefledger.awaitable.calls import Calls, Fetch
from beliefledger.awaitable.growth import Growth
from beliefledger.ledger.backoff import delays
from beliefledger.ledger.closeable import AsyncCloseable
from beliefledger.ledger.codec import Recorded
from beliefledger.ledger.consumer import CLAIM_SECONDS, Consumer
from beliefledger.ledger.errors import BackendUnavailable, LedgerError
from beliefledger.ledger.subscription import LOOK_SECONDS, Subscription

_AT_ONCE = 100
"""So many events that are there already are fetched in one call."""


class Fetched(NamedTuple):
    """What one call fetched."""

    events: list[Recorded]
    over: bool
    """Whether these are the last."""
    upto: int = 0
    """The position that was looked at last."""


class Stream(AsyncCloseable):
    """Events, one after another; iterate in one task. Leave it by `async with`, or close it.

    A task that is cancelled while it waits for an event loses none: the next one asked for is the
    one that it would have got.
    """

    def __init__(self, calls: Calls, growth: Growth) -> None:
        self._calls = calls
        self._growth = growth
        self._there: deque[Recorded] = deque()
        """Fetched, and not delivered yet."""
        self._fetching = Fetch(calls, self._fetch)
        self._told = asyncio.Event()
        self._reached = 0
        """The position up to which events were fetched."""
        self._over = self._closed = False

    @property
    @abstractmethod
    def trouble(self) -> BackendUnavailable | None:
        """What the store last said, while it does not answer."""

    @abstractmethod
    def _fetch(self) -> Fetched:
        """Fetch events that are there. Made in a thread."""

    @abstractmethod
    async def _rest(self) -> None:
        """Wait until there may be more."""

    @abstractmethod
    def _end(self) -> None:
        """Close what is iterated. Made in a thread."""

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Recorded:
        patience = delays()
        while self._closed or not self._there:
            if self._over:
                raise StopAsyncIteration
            fetched = await self._fetching.answer()
            self._there.extend(fetched.events)
            self._reached = fetched.upto
            self._over = self._over or fetched.over
            if self._there or self._over:
                continue
            if self.trouble is None:
                patience = delays()
                self._told.clear()
                await self._rest()
            else:
                await asyncio.sleep(next(patience))
        return self._there.popleft()

    async def close(self) -> None:
        """End the iteration. Closing again does nothing."""
        if self._closed:
            return
        self._closed = self._over = True
        self._told.set()
        await self._calls.run(self._end)
        await self._fetching.end()


class AsyncSubscription(Stream):
    """What `Subscription` is, for `async for`."""

    def __init__(self, subscription: Subscription, calls: Calls, growth: Growth) -> None:
        super().__init__(calls, growth)
        self._subscription = subscription
        self._delivered = self._reached = subscription.position

    @property
    def position(self) -> int:
        """How far it has delivered, filtered events included: start again from it."""
        return self._delivered if self._there else self._reached

    @property
    def trouble(self) -> BackendUnavailable | None:
        return self._subscription.trouble

    async def __anext__(self) -> Recorded:
        event = await super().__anext__()
        self._delivered = event.position
        return event

    def _fetch(self) -> Fetched:
        events: list[Recorded] = []
        over = False
        while len(events) < _AT_ONCE:
            try:
                event = self._subscription.look()
            except StopIteration:
                over = True
                break
            except LedgerError:
                if events:  # it comes again when they are delivered
                    break
                raise
            if event is None:
                break
            events.append(event)
        return Fetched(events, over, self._subscription.position)

    async def _rest(self) -> None:
        await self._growth.past(self._subscription.position, self._told)

    def _end(self) -> None:
        self._subscription.close()


class AsyncConsumer(Stream):
    """What `Consumer` is, for `async for`: each event at least once, until it is acknowledged."""

    def __init__(self, consumer: Consumer, calls: Calls, growth: Growth) -> None:
        super().__init__(calls, growth)
        self._consumer = consumer
        self.name = consumer.name
        self.holder = consumer.holder

    @property
    def trouble(self) -> BackendUnavailable | None:
        return self._consumer.trouble

    @property
    def epoch(self) -> int:
        """The number of the claim that this consumer holds; 0 while it holds none."""
        return self._consumer.epoch

    async def position(self) -> int:
        """How far the cursor is: everything up to there was acknowledged."""
        return await self._calls.run(lambda: self._consumer.position)

    async def lag(self) -> int:
        """How many positions the cursor is behind the head."""
        return await self._calls.run(lambda: self._consumer.lag)

    async def ack(self, upto: int | Recorded) -> None:
        """Move the cursor to this event or its position, durably. See `Consumer.ack`."""
        await self._calls.run(self._consumer.ack, upto)

    def _fetch(self) -> Fetched:
        try:
            event = self._consumer.look()
        except StopIteration:
            return Fetched([], over=True)
        return Fetched([] if event is None else [event], over=False)

    async def _rest(self) -> None:
        looked = self._consumer.looked
        try:
            if looked is None:
                await asyncio.wait_for(self._told.wait(), CLAIM_SECONDS)
            else:
                await asyncio.wait_for(self._growth.past(looked, self._told), LOOK_SECONDS)
        except TimeoutError:
            return  # the cursor may be free by now, or wants to be moved over what is filtered out

    def _end(self) -> None:
        self._consumer.close()
