"""The official client of the Agent2Agent protocol, in both versions, and plain calls beside it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import httpx2
from a2a.client import ClientConfig, ClientFactory
from a2a.client.card_resolver import A2ACardResolver
from a2a.client.client import Client
from a2a.helpers.proto_helpers import get_data_parts, new_data_part, new_text_part
from a2a.types.a2a_pb2 import Message, Role, SendMessageRequest, Task
from served import Served

NEW, OLD = "1.0", "0.3"
_numbers = itertools.count(1)


class Agent:
    """Somebody with a token, who speaks one version of the protocol."""

    def __init__(self, server: Served, token: str, version: str = NEW) -> None:
        self.root = server.root
        self.token = token
        self.version = version
        self.headers = {"Authorization": f"Bearer {token}"}

    def do(self, work: Callable[[Client], Awaitable[Any]], *, streaming: bool = False) -> Any:
        """Run something with a client that is connected."""

        async def run() -> Any:
            async with httpx.AsyncClient(headers=self.headers, timeout=40) as http:
                card = await A2ACardResolver(http, self.root).get_agent_card()
                left = [
                    each
                    for each in card.supported_interfaces
                    if each.protocol_version == self.version
                ]
                del card.supported_interfaces[:]
                card.supported_interfaces.extend(left)
                config = ClientConfig(httpx_client=http, streaming=streaming)
                return await work(ClientFactory(config).create(card))

        return asyncio.run(run())

    def send(self, *parts: str | dict[str, Any], **fields: Any) -> Task:
        """The task that a message leads to, as it is when the call is answered."""
        return self.streamed(*parts, _streaming=False, **fields)[-1].task

    def streamed(
        self, *parts: str | dict[str, Any], _streaming: bool = True, **fields: Any
    ) -> list[Any]:
        """What a stream tells of it."""

        async def work(client: Client) -> list[Any]:
            return [each async for each in client.send_message(message(*parts, **fields))]

        return self.do(work, streaming=_streaming)

    def rpc(self, method: str, params: Any = None, **headers: str) -> dict[str, Any]:
        """A plain call; the whole answer."""
        version = {"A2A-Version": self.version} if self.version == NEW else {}
        answer = httpx2.post(
            f"{self.root}/a2a",
            headers=self.headers | version | headers,
            json={"jsonrpc": "2.0", "id": 7, "method": method, "params": params or {}},
            timeout=40,
        )
        assert answer.status_code == 200, answer.text
        said: dict[str, Any] = answer.json()
        assert said["id"] == 7
        return said

    def plain(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """A call in Recall's dialect: its status and what it says."""
        answer = httpx2.request(
            method, f"{self.root}{path}", headers=self.headers, json=body, timeout=40
        )
        return answer.status_code, answer.json()


def message(*parts: str | dict[str, Any], **fields: Any) -> SendMessageRequest:
    """A message of texts and data; `configuration` is the request's, all else the message's."""
    configuration = fields.pop("configuration", None)
    made = Message(
        message_id=fields.pop("message_id", f"message-{next(_numbers)}"),
        role=Role.ROLE_USER,
        parts=[
            new_text_part(each) if isinstance(each, str) else new_data_part(each) for each in parts
        ],
        **fields,
    )
    return SendMessageRequest(message=made, configuration=configuration)


def asked(task: Task) -> dict[str, Any]:
    """The contradictions that a task waits with."""
    [data] = get_data_parts(task.status.message.parts)
    return data


def came_to(task: Task) -> dict[str, Any]:
    """What a task that is completed has come to."""
    [artifact] = task.artifacts
    [data] = get_data_parts(artifact.parts)
    return data


def texts(task: Task) -> list[str]:
    return [each["text"] for each in came_to(task)["beliefs"]]
