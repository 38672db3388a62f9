"""The clients, for threads and for event loops: each sends what the verbs make of a call."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from dataclasses import replace
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import httpx2
import orjson

from beliefledger.client import questions, statements
from beliefledger.client.ask import Ask
from beliefledger.client.events import EventPage, Lines, ToldEvent
from beliefledger.ledger import errors
from beliefledger.ledger.closeable import AsyncCloseable, Closeable
from beliefledger.ledger.errors import (
    BackendUnavailable,
    CallerMistake,
    InvalidTurn,
    LedgerError,
    NotPermitted,
    Retryable,
    VersionConflict,
)
from beliefledger.pages import Page

P = ParamSpec("P")
T = TypeVar("T")
SECONDS = 60.0
"""So long an answer is waited for, unless somebody says otherwise."""
AGAIN_SECONDS = 0.5
"""So soon a stream of events that broke is asked for again."""


class _Sends(Protocol):
    def _send(self, ask: Ask[T]) -> T: ...


class _SendsLater(Protocol):
    async def _send(self, ask: Ask[T]) -> T: ...


def _sent(make: Callable[P, Ask[T]]) -> Callable[Concatenate[_Sends, P], T]:
    """A method that sends what is made, with the same arguments and words."""

    @functools.wraps(make)
    def call(self: _Sends, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._send(make(*args, **kwargs))

    return call


def _awaited(
    make: Callable[P, Ask[T]],
) -> Callable[Concatenate[_SendsLater, P], Coroutine[Any, Any, T]]:
    """The same, awaitable."""

    @functools.wraps(make)
    async def call(self: _SendsLater, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._send(make(*args, **kwargs))

    return call


def _request(ask: Ask[Any]) -> dict[str, Any]:
    told: dict[str, Any] = {"method": ask.method, "url": ask.path, "params": _written(ask.query)}
    if ask.sent is not None:
        told["content"] = orjson.dumps(ask.sent)
        told["headers"] = {"Content-Type": "application/json"}
    return told


def _written(query: Any) -> dict[str, Any]:
    return {
        name: str(value).lower() if isinstance(value, bool) else value
        for name, value in query.items()
    }


def _content(answer: httpx2.Response) -> bytes:
    """What was answered. Raises the error of the ledger that it tells of."""
    if answer.is_success:
        return answer.content
    raise _error(answer.status_code, answer.content)


def _error(status: int, content: bytes) -> LedgerError:
    """The error of an answer, of the class that an embedded ledger raises."""
    try:
        told = orjson.loads(content)
        detail, code = str(told["detail"]), told.get("code", "")
    except (ValueError, TypeError, KeyError):
        detail, code = f"The server answered {status}.", ""
    known = getattr(errors, code, None) if isinstance(code, str) else None
    if isinstance(known, type) and issubclass(known, LedgerError) and known is not VersionConflict:
        return known(detail)
    if status in {401, 403}:
        return NotPermitted(detail)
    if status == 409:
        return Retryable(detail)
    if status == 413:
        return InvalidTurn(detail)
    if status in {429, 502, 503, 504}:
        return BackendUnavailable(detail)
    return CallerMistake(detail) if status < 500 else LedgerError(detail)


def _joined(ask: Ask[T], so_far: Page[Any], page: Page[Any]) -> Page[Any]:
    """Pages of a list put together."""
    both = (page, so_far) if ask.backwards else (so_far, page)
    return Page((each for some in both for each in some), page.next)


def _further(ask: Ask[T], answer: T) -> Ask[T] | None:
    """What is asked next, where a list is wanted as a whole and goes on."""
    if not ask.whole or not isinstance(answer, Page) or answer.next is None:
        return None
    return replace(ask, query={**ask.query, "after": answer.next})


def _base(url: str) -> str:
    """Raises `CallerMistake` where a token would travel in clear."""
    at = httpx2.URL(url)
    loopback = at.host in {"127.0.0.1", "localhost", "::1"}
    if at.scheme != "https" and not (at.scheme == "http" and loopback):
        raise CallerMistake("url: give an https:// address; tokens do not travel in clear.")
    return f"{url.rstrip('/')}/v1/"


def _wanted(
    types: Sequence[str] | None, subject: str | None, outcome: str | None, bodies: bool
) -> dict[str, Any]:
    given = {"types": None if types is None else list(types), "subject": subject}
    told = given | {"outcome": outcome, "bodies": str(bodies).lower()}
    return {name: value for name, value in told.items() if value is not None}


_STREAM = {"Accept": "text/event-stream"}


class _Consent:
    """Lawful bases: granted, listed, withdrawn."""

    def __init__(self, client: Client) -> None:
        self._send = client._send  # noqa: SLF001  (a part of it)

    grant = _sent(questions.grant)
    list = _sent(questions.grants)
    withdraw = _sent(questions.withdraw)


class _Conflicts:
    """What a person has to choose, and statements that wait for one."""

    def __init__(self, client: Client) -> None:
        self._send = client._send  # noqa: SLF001  (a part of it)

    list = _sent(questions.conflicts)
    resolve = _sent(questions.resolve)
    review = _sent(questions.review)


class Client(Closeable):
    """A ledger on a server. Its verbs are those of `MemoryLedger`, with the same answers and
    errors; ids are given whole, and what is done is done in the token's name. Close it."""

    def __init__(self, url: str, token: str, *, seconds: float = SECONDS, **told: Any) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self._http = httpx2.Client(base_url=_base(url), headers=headers, timeout=seconds, **told)
        self.consent = _Consent(self)
        self.conflicts = _Conflicts(self)

    record_turn = _sent(statements.record_turn)
    record_turns = _sent(statements.record_turns)
    process = _sent(statements.process)
    remember = _sent(statements.remember)
    store = _sent(statements.store)
    store_many = _sent(statements.store_many)
    update = _sent(statements.update)
    correct = _sent(statements.correct)
    revoke = _sent(statements.revoke)
    erase = _sent(statements.erase)
    beliefs = _sent(questions.beliefs)
    as_of = _sent(questions.as_of)
    history = _sent(questions.history)
    decisions = _sent(questions.decisions)
    decision = _sent(questions.decision)
    explain = _sent(questions.explain)
    turn = _sent(questions.turn)
    diff = _sent(questions.diff)
    why_not = _sent(questions.why_not)
    subjects = _sent(questions.subjects)
    status = _sent(questions.status)
    search = _sent(questions.search)
    context = _sent(questions.context)

    def subscribe(
        self,
        after: int = 0,
        *,
        types: Sequence[str] | None = None,
        subject: str | None = None,
        outcome: str | None = None,
        bodies: bool = False,
        follow: bool = True,
    ) -> Iterator[ToldEvent]:
        """Events past a position: those that are there, and, where it follows, those that come.
        A connection that breaks is made again, and goes on where it was."""
        query = _wanted(types, subject, outcome, bodies)
        lines, end = Lines(after), False
        while not follow and not end:
            ask = Ask("GET", "events", EventPage.model_validate_json, query | {"after": after})
            page = self._send(ask)
            yield from page.items
            after, end = page.position, page.end
        while follow:
            headers = _STREAM | {"Last-Event-ID": str(lines.reached)}
            try:
                with self._http.stream("GET", "events", params=query, headers=headers) as answer:
                    if not answer.is_success:
                        raise _error(answer.status_code, answer.read())
                    lines.begin()
                    for line in answer.iter_lines():
                        yield from lines.events(line)
            except (httpx2.TransportError, Retryable):
                time.sleep(AGAIN_SECONDS)

    def _send(self, ask: Ask[T]) -> T:
        answer = ask.read(self._fetched(ask))
        while (more := _further(ask, answer)) is not None:
            answer = _joined(ask, answer, ask.read(self._fetched(more)))  # type: ignore[arg-type,assignment]
        return answer

    def _fetched(self, ask: Ask[Any]) -> bytes:
        try:
            return _content(self._http.request(**_request(ask)))
        except httpx2.TransportError as problem:
            raise BackendUnavailable(f"{type(problem).__name__}: no answer.") from None

    def close(self) -> None:
        """End its connections; again it does nothing."""
        self._http.close()


class _AsyncConsent:
    """Lawful bases: granted, listed, withdrawn."""

    def __init__(self, client: AsyncClient) -> None:
        self._send = client._send  # noqa: SLF001  (a part of it)

    grant = _awaited(questions.grant)
    list = _awaited(questions.grants)
    withdraw = _awaited(questions.withdraw)


class _AsyncConflicts:
    """What a person has to choose, and statements that wait for one."""

    def __init__(self, client: AsyncClient) -> None:
        self._send = client._send  # noqa: SLF001  (a part of it)

    list = _awaited(questions.conflicts)
    resolve = _awaited(questions.resolve)
    review = _awaited(questions.review)


class AsyncClient(AsyncCloseable):
    """The same for an event loop: every verb of `Client`, awaited."""

    def __init__(self, url: str, token: str, *, seconds: float = SECONDS, **told: Any) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self._http = httpx2.AsyncClient(
            base_url=_base(url), headers=headers, timeout=seconds, **told
        )
        self.consent = _AsyncConsent(self)
        self.conflicts = _AsyncConflicts(self)

    record_turn = _awaited(statements.record_turn)
    record_turns = _awaited(statements.record_turns)
    process = _awaited(statements.process)
    remember = _awaited(statements.remember)
    store = _awaited(statements.store)
    store_many = _awaited(statements.store_many)
    update = _awaited(statements.update)
    correct = _awaited(statements.correct)
    revoke = _awaited(statements.revoke)
    erase = _awaited(statements.erase)
    beliefs = _awaited(questions.beliefs)
    as_of = _awaited(questions.as_of)
    history = _awaited(questions.history)
    decisions = _awaited(questions.decisions)
    decision = _awaited(questions.decision)
    explain = _awaited(questions.explain)
    turn = _awaited(questions.turn)
    diff = _awaited(questions.diff)
    why_not = _awaited(questions.why_not)
    subjects = _awaited(questions.subjects)
    status = _awaited(questions.status)
    search = _awaited(questions.search)
    context = _awaited(questions.context)

    async def subscribe(
        self,
        after: int = 0,
        *,
        types: Sequence[str] | None = None,
        subject: str | None = None,
        outcome: str | None = None,
        bodies: bool = False,
        follow: bool = True,
    ) -> AsyncIterator[ToldEvent]:
        """As of `Client`."""
        query = _wanted(types, subject, outcome, bodies)
        lines, end = Lines(after), False
        while not follow and not end:
            ask = Ask("GET", "events", EventPage.model_validate_json, query | {"after": after})
            page = await self._send(ask)
            for each in page.items:
                yield each
            after, end = page.position, page.end
        while follow:
            headers = _STREAM | {"Last-Event-ID": str(lines.reached)}
            try:
                stream = self._http.stream("GET", "events", params=query, headers=headers)
                async with stream as answer:
                    if not answer.is_success:
                        raise _error(answer.status_code, await answer.aread())
                    lines.begin()
                    async for line in answer.aiter_lines():
                        for event in lines.events(line):
                            yield event
            except (httpx2.TransportError, Retryable):
                await asyncio.sleep(AGAIN_SECONDS)

    async def _send(self, ask: Ask[T]) -> T:
        answer = ask.read(await self._fetched(ask))
        while (more := _further(ask, answer)) is not None:
            answer = _joined(ask, answer, ask.read(await self._fetched(more)))  # type: ignore[arg-type,assignment]
        return answer

    async def _fetched(self, ask: Ask[Any]) -> bytes:
        try:
            return _content(await self._http.request(**_request(ask)))
        except httpx2.TransportError as problem:
            raise BackendUnavailable(f"{type(problem).__name__}: no answer.") from None

    async def close(self) -> None:
        """End its connections; again it does nothing."""
        await self._http.aclose()


def connect(url: str, *, token: str, seconds: float = SECONDS) -> Client:
    """A ledger on a server, in place of `open_memory`. `url` is where the server is, without a
    path; `seconds` is how long an answer is waited for.

    >>> from beliefledger import connect
    >>> with connect("https://memory.example.org", token="blt_...") as memory:
    ...     memory.beliefs.__doc__
    'What is believed now, was believed as of then, and was true at a time.'
    """
    return Client(url, token, seconds=seconds)


def connect_async(url: str, *, token: str, seconds: float = SECONDS) -> AsyncClient:
    """As `connect`, in an event loop: every verb is awaited.

    >>> from beliefledger import connect_async
    >>> async def texts() -> list[str]:
    ...     async with connect_async("https://memory.example.org", token="blt_...") as memory:
    ...         return [belief.text for belief in await memory.beliefs("ana")]
    """
    return AsyncClient(url, token, seconds=seconds)
