"""A route that does nothing but what every call has to: it is let through to a thread, and leaves
one durable row. The floor that a server's calls are measured beside, over HTTP.
`python -m beliefledger.tools.bench.http_floor DIRECTORY` says where it listens."""

from __future__ import annotations

import asyncio
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Annotated

import uvicorn
from fastapi import FastAPI, Response
from fastapi import Path as InPath

from beliefledger.tools.bench.commits import raw_insert

_ENVELOPE, _ANSWER = 600, 1_500
"""Bytes of the row, and of the answer."""


def application(directory: Path) -> FastAPI:
    """FastAPI with one route."""
    app, threads, lock = FastAPI(), ThreadPoolExecutor(8), Lock()
    _, insert = raw_insert(directory / "floor.db", _ENVELOPE, 0)

    def work() -> Response:
        with lock:
            insert()
        return Response(b'"' + b"a" * _ANSWER + b'"', media_type="application/json")

    @app.get("/v1/memories/{memory_id}")
    async def memory(memory_id: Annotated[str, InPath(max_length=200)]) -> Response:  # noqa: ARG001
        return await asyncio.get_running_loop().run_in_executor(threads, work)

    return app


def main() -> None:
    at = socket.create_server(("127.0.0.1", 0))
    at.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sys.stderr.write(f"Serving at http://127.0.0.1:{at.getsockname()[1]}/\n")
    sys.stderr.flush()
    app = application(Path(sys.argv[1]))
    uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, ws="none")).run(
        sockets=[at]
    )


if __name__ == "__main__":
    main()
