"""Opening a ledger in an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from beliefledger.awaitable.calls import THREADS, Calls, check_threads
from beliefledger.awaitable.memory import AsyncMemoryLedger
from beliefledger.gate.extractor import Extractor
from beliefledger.gate.policy import Policy
from beliefledger.ledger.own_secrets import Redaction
from beliefledger.ledger.times import Clock, system_clock
from beliefledger.memory import MemoryLedger
from beliefledger.opener import open_memory
from beliefledger.projections.embedding import Embedder


class Opening:
    """A ledger that is about to be opened: `await` it, or enter it with `async with`."""

    def __init__(self, threads: int, open_: Callable[[], MemoryLedger]) -> None:
        check_threads(threads)
        self._threads = threads
        self._open_in_thread = open_
        self._opened: AsyncMemoryLedger | None = None

    async def _open(self) -> AsyncMemoryLedger:
        calls = Calls(self._threads)
        making = asyncio.ensure_future(calls.run(self._open_in_thread))
        try:
            return AsyncMemoryLedger(await asyncio.shield(making), calls)
        except BaseException:  # cancelled, it is opened to its end in its thread, and closed again
            await asyncio.wait([making])
            opened = not making.cancelled() and making.exception() is None
            await calls.close(making.result().close if opened else None)
            raise

    def __await__(self) -> Generator[Any, None, AsyncMemoryLedger]:
        return self._open().__await__()

    async def __aenter__(self) -> AsyncMemoryLedger:
        self._opened = await self._open()
        return self._opened

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._opened is not None:
            await self._opened.close()


def open_memory_async(
    path_or_url: str | Path,
    *,
    policy: Policy | Path | str | Mapping[str, Any] | None = None,
    extractor: Extractor | str | None = None,
    embedder: Embedder | str | None = None,
    redactions: Iterable[Redaction | str] = (),
    tokenizer: str | Callable[[str], int] | None = None,
    extraction_seconds: float | None = None,
    extractor_timeout: float | None = None,
    consent: str | None = None,
    clock: Clock = system_clock,
    create: bool = True,
    witnessed: bool = True,
    threads: int = THREADS,
) -> Opening:
    """Open a ledger as `open_memory` does, for asyncio: `await` the answer, or use `async with`.

    `threads` is how many of its calls run at once; the others wait for their turn. Raises
    `CallerMistake` for a number that cannot be, and when awaited what `open_memory` raises.

    >>> import asyncio, tempfile
    >>> async def main():
    ...     async with open_memory_async(tempfile.mkdtemp(), consent="consent") as memory:
    ...         await memory.remember("ana", "I live in Porto.")
    ...         return [belief.text for belief in await memory.beliefs("ana")]
    >>> asyncio.run(main())
    ['User lives in Porto']
    """
    return Opening(
        threads,
        partial(
            open_memory,
            path_or_url,
            policy=policy,
            extractor=extractor,
            embedder=embedder,
            redactions=redactions,
            tokenizer=tokenizer,
            extraction_seconds=extraction_seconds,
            extractor_timeout=extractor_timeout,
            consent=consent,
            clock=clock,
            create=create,
            witnessed=witnessed,
        ),
    )
