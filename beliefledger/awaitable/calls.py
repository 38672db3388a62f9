"""Calls of the front door made in threads, so that an event loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import contextvars
import functools
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

from beliefledger.ledger.errors import CallerMistake

THREADS = 4
"""How many calls of one ledger run at once. With more of them the loop waits longer for its turn,
as only one thread runs Python at a time, and nothing gets faster."""

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Calls:
    """The threads of one ledger. What does not get one at once waits for it."""

    def __init__(self, threads: int = THREADS) -> None:
        check_threads(threads)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="beliefledger")
        self.closed = False

    async def run(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """What the call answers. Cancelled before it began, it is not made; cancelled later, it
        goes on to its end, and nobody hears of its answer."""
        return await self.begin(call, *args, **kwargs)

    def begin(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[R]:
        """As `run`, begun at once: for who waits in a way of their own."""
        if self.closed:
            raise CallerMistake("The ledger is closed: open it again.")
        context = contextvars.copy_context()
        made = functools.partial(context.run, call, *args, **kwargs)
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[R] = loop.create_future()
        self._threads.submit(_answer, made, answered, loop)
        return answered

    async def close(self, let_go: Callable[[], None] | None) -> None:
        """Take no more calls, wait for those that were begun or wait, then let go of the rest."""
        self.closed = True

        def finish() -> None:
            self._threads.shutdown(wait=True)
            if let_go is not None:
                let_go()

        # In a thread of the loop's own, since ours are to end.
        await asyncio.shield(asyncio.ensure_future(asyncio.to_thread(finish)))


def _answer(
    call: Callable[[], T], answered: asyncio.Future[T], loop: asyncio.AbstractEventLoop
) -> None:
    """Make a call in this thread and tell the loop, as `run_in_executor` does, but without a second
    future that each step is copied from."""
    if answered.cancelled():
        return
    tell: Callable[[], None]
    try:
        tell = functools.partial(answered.set_result, call())
    except BaseException as problem:  # noqa: BLE001  (it is raised where it is waited for)
        tell = functools.partial(answered.set_exception, problem)
    with suppress(RuntimeError):  # a loop that was closed meanwhile: nobody waits any more
        loop.call_soon_threadsafe(_tell, answered, tell)
    del answered, tell  # a problem knows this frame, which would know the problem


def _tell(answered: asyncio.Future[Any], tell: Callable[[], None]) -> None:
    if not answered.done():  # nobody hears of it who was cancelled meanwhile
        tell()


class Fetch(Generic[T]):
    """A call that is made again and again, once at a time.

    One whose waiter is cancelled goes on, and who asks next gets its answer.
    """

    def __init__(self, calls: Calls, call: Callable[[], T]) -> None:
        self._calls = calls
        self._call = call
        self._made: asyncio.Task[T] | None = None

    async def answer(self) -> T:
        """What the call answers that is under way, or else a new one."""
        if self._made is None:
            self._made = asyncio.ensure_future(self._calls.run(self._call))
        made, kept = self._made, False
        try:
            return await asyncio.shield(made)
        except asyncio.CancelledError:
            kept = not made.cancelled()
            raise
        finally:
            if not kept:
                self._made = None

    async def end(self) -> None:
        """Wait for the call that is under way, if there is one."""
        if self._made is not None:
            await asyncio.wait([self._made])


def check_threads(threads: int) -> None:
    """Raises `CallerMistake` for what is not a number of threads."""
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise CallerMistake(f"threads is a whole number of at least 1, not {threads!r}.")


class Part(Generic[T]):
    """A part of the front door whose calls are made in threads."""

    def __init__(self, part: T, calls: Calls) -> None:
        self._part = part
        self._calls = calls


class Holder(Protocol):
    """What `awaited` makes methods of: a `Part`."""

    _part: Any
    _calls: Calls


def awaited(
    method: Callable[Concatenate[Any, P], R],
) -> Callable[Concatenate[Holder, P], Coroutine[Any, Any, R]]:
    """The same method, awaitable, with its signature and its words."""

    @functools.wraps(method)
    async def call(self: Holder, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._calls.run(method, self._part, *args, **kwargs)

    return call
