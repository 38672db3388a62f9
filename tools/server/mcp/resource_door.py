"""The part of the protocol about resources: lists, reads, completes, and tells of changes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import ListenHandler, ResourceUpdated, ServerEvent
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    EmptyResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    PromptReference,
    ReadResourceRequestParams,
    ReadResourceResult,
    SubscribeRequestParams,
    SubscriptionFilter,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    TextResourceContents,
    UnsubscribeRequestParams,
)

from beliefledger.tools.server.caller import Caller
from beliefledger.tools.server.desk import Noted
from beliefledger.tools.server.mcp import completion, resources
from beliefledger.tools.server.mcp.notices import MOST_ADDRESSES, Notices, TooMany, Watched, Watcher
from beliefledger.tools.server.mcp.private import at_end, connection
from beliefledger.tools.server.mcp.tool import Answer, Tool, made, schema
from beliefledger.tools.server.mcp.work import Work

Request = ServerRequestContext[Any, Any]
_NONE = "There is no such resource, or this token is not for it."


def _list(caller: Caller, cursor: str = "") -> Answer:
    """The resources of a page of the subjects."""
    found, further = resources.listed(caller, cursor or None)
    return {"resources": found, "next": further}


def _subscribe(caller: Caller, addresses: list[str]) -> Answer:
    """Of these addresses those that may be watched, with what each is about."""
    wanted = {each: resources.watched(caller, each) for each in dict.fromkeys(addresses)}
    if len(wanted) > 1:  # of several people: the record is of none of them
        caller.subject_ref = None
    return {"watched": {uri: what for uri, what in wanted.items() if what is not None}}


_LIST = made(_list, name="list_resources", result=schema(resources=list), reads=True)
_SUBSCRIBE = made(_subscribe, name="subscribe", result=schema(watched=dict), reads=True)


class _Stream:
    """The bus of one stream of changes: hands on what its watcher is told."""

    def __init__(self) -> None:
        self._listener: Callable[[ServerEvent], None] | None = None
        self._early: list[ServerEvent] = []

    async def publish(self, event: ServerEvent) -> None:
        self.tell(event)

    def tell(self, event: ServerEvent) -> None:
        if self._listener is None:
            self._early.append(event)
        else:
            self._listener(event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        self._listener = listener
        for each in self._early:
            listener(each)
        return self._early.clear


class ResourceDoor:
    """Handlers of the protocol's requests about resources. `caller` tells whose a request is."""

    def __init__(self, work: Work, caller: Callable[[Request], Caller]) -> None:
        self._work = work
        self._caller = caller
        self._notices = Notices(work.desk.memory)
        self._sessions: dict[int, Watcher] = {}
        """Of older clients: the watcher of each connection that has one."""

    def close(self) -> None:
        """End all streams of changes. Takes half a second where there are any."""
        self._notices.close()

    async def _done(self, caller: Caller, tool: Tool, given: Mapping[str, Any]) -> Answer:
        """What a tool answers. Raises `MCPError` where it does not."""
        noted = Noted(self._work.desk, caller, tool.name, given)
        answer = await self._work.answered(tool, noted)
        if answer["status"] == "ok":
            data: Answer = answer["data"]
            return data
        raise MCPError(code=INVALID_PARAMS, message=answer["error"], data={"code": answer["code"]})

    async def list_all(
        self, request: Request, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        """The resources that the caller's token is for."""
        cursor = params.cursor if params is not None and params.cursor else ""
        found = await self._done(self._caller(request), _LIST, {"cursor": cursor})
        return ListResourcesResult(resources=found["resources"], next_cursor=found["next"])

    async def list_templates(
        self, request: Request, _params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """How the addresses are made of what the caller's token may read."""
        principal = self._caller(request).principal
        return ListResourceTemplatesResult(resource_templates=resources.templates(principal))

    async def read(self, request: Request, params: ReadResourceRequestParams) -> ReadResourceResult:
        """A resource as JSON, as it is now."""
        caller = self._caller(request)
        named = resources.address(params.uri)
        if named is None:
            noted = Noted(self._work.desk, caller, "read", {"uri": params.uri})
            await self._work.record(noted, "UNKNOWN_RESOURCE")
            raise MCPError(code=INVALID_PARAMS, message=_NONE)
        data = await self._done(caller, named.kind.tool, named.arguments)
        text = json.dumps(data, ensure_ascii=False)
        content = TextResourceContents(uri=params.uri, mime_type=resources.JSON, text=text)
        return ReadResourceResult(contents=[content])

    async def complete(self, request: Request, params: CompleteRequestParams) -> CompleteResult:
        """What an argument of an address may be: subjects and topics that the token may see."""
        if isinstance(params.ref, PromptReference):
            raise MCPError(code=INVALID_PARAMS, message="There are no prompts here.")
        told = params.context.arguments if params.context is not None else None
        given = {
            "template": params.ref.uri,
            "argument": params.argument.name,
            "value": params.argument.value,
            "subject": (told or {}).get("subject", ""),
        }
        found = await self._done(self._caller(request), completion.COMPLETE, given)
        values, total = found["values"], found["total"]
        return CompleteResult(
            completion=Completion(values=values, total=total, has_more=total > len(values))
        )

    async def listen(
        self, request: Request, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Tell of changes on this stream until the client or the token ends it."""
        caller = self._caller(request)
        wanted = params.notifications.resource_subscriptions or []
        watched = await self._watched(caller, wanted)
        stream = _Stream()
        handler = ListenHandler(stream)
        watcher = Watcher(
            caller.principal,
            _addresses(watched),
            lambda uri: stream.tell(ResourceUpdated(uri)),
            handler.close,
            asyncio.get_running_loop(),
        )
        # What the list of tools or of resources has never changes while a token lasts.
        honoured = SubscriptionFilter(resource_subscriptions=list(watched))
        await self._work.desk.calls.run(self._notices.add, watcher)
        try:
            return await handler(request, params.model_copy(update={"notifications": honoured}))
        finally:
            self._notices.remove(watcher)

    async def subscribe(self, request: Request, params: SubscribeRequestParams) -> EmptyResult:
        """Tell an older client of changes, until its session ends."""
        caller = self._caller(request)
        watcher = self._sessions.get(connection(request.session))
        before = {} if watcher is None else watcher.addresses
        watched = await self._watched(caller, [params.uri], sum(map(len, before.values())))
        if not watched:
            raise MCPError(code=INVALID_PARAMS, message=_NONE)
        watcher = self._sessions.get(connection(request.session)) or self._older(request, caller)
        for what, uris in _addresses(watched).items():
            watcher.addresses.setdefault(what, set()).update(uris)
        await self._work.desk.calls.run(self._notices.add, watcher)
        return EmptyResult()

    async def unsubscribe(self, request: Request, params: UnsubscribeRequestParams) -> EmptyResult:
        self._caller(request)
        watcher = self._sessions.get(connection(request.session))
        if watcher is not None:
            for uris in watcher.addresses.values():
                uris.discard(params.uri)
        return EmptyResult()

    async def _watched(
        self, caller: Caller, addresses: list[str], already: int = 0
    ) -> dict[str, Watched]:
        if len(addresses) + already > MOST_ADDRESSES:
            said = f"At most {MOST_ADDRESSES} resources can be watched at once."
            raise MCPError(code=INVALID_PARAMS, message=said)
        try:
            self._notices.room(caller.principal)
        except TooMany:
            said = "This token watches as much as it may. End another stream first."
            raise MCPError(code=INVALID_REQUEST, message=said) from None
        found = await self._done(caller, _SUBSCRIBE, {"addresses": addresses})
        watched: dict[str, Watched] = found["watched"]
        return watched

    def _older(self, request: Request, caller: Caller) -> Watcher:
        """The watcher of an older client's connection, which goes when the connection does."""
        session, of = request.session, connection(request.session)
        loop = asyncio.get_running_loop()
        sending: set[asyncio.Task[None]] = set()

        def tell(uri: str) -> None:
            task = loop.create_task(session.send_resource_updated(uri))
            sending.add(task)
            task.add_done_callback(sending.discard)

        watcher = self._sessions[of] = Watcher(caller.principal, {}, tell, lambda: None, loop)

        def forget() -> None:
            self._sessions.pop(of, None)
            self._notices.remove(watcher)

        at_end(session, forget)
        return watcher


def _addresses(watched: Mapping[str, Watched]) -> dict[Watched, set[str]]:
    found: dict[Watched, set[str]] = {}
    for uri, what in watched.items():
        found.setdefault(what, set()).add(uri)
    return found
