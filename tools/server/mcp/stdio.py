"""The protocol over standard input and output, for one agent on this machine."""

from __future__ import annotations

from pathlib import Path

import anyio
from mcp.server.stdio import stdio_server

from beliefledger.access.principal import Principal
from beliefledger.awaitable.calls import Calls
from beliefledger.memory import MemoryLedger
from beliefledger.tools.server.background import Background
from beliefledger.tools.server.bucket import Bucket
from beliefledger.tools.server.mcp.door import Door, Request


def serve(
    memory: MemoryLedger, token: str | None, *, seconds: float, exports: Bucket | Path | None
) -> None:
    """Answer until the input ends. Raises `TokenRefused` without a good token; one that is revoked
    meanwhile is refused from then on."""
    memory.tokens.principal(token)

    def whose(_request: Request) -> Principal:
        return memory.tokens.principal(token)

    async def run() -> None:
        calls, records = Calls(), Calls(1)
        door = Door(memory, calls, records, whose, "stdio", seconds, exports)
        server = door.server()
        with Background(memory):
            try:
                async with stdio_server() as (read, write):
                    await server.run(read, write, server.create_initialization_options())
            finally:
                await door.end()
                await calls.close(None)
                await records.close(None)

    anyio.run(run)
