"""The protocol's package with one tool that does nothing: the floor that a server's calls are
measured beside. `python -m beliefledger.tools.bench.noop` says where it listens."""

from __future__ import annotations

import socket
import sys

import uvicorn
from mcp.server import MCPServer


def noop(text: str) -> dict[str, str]:
    """Do nothing."""
    return {"status": text[:2]}


def main() -> None:
    server = MCPServer("noop", log_level="WARNING")
    server.add_tool(noop)
    app = server.streamable_http_app()
    at = socket.create_server(("127.0.0.1", 0))
    at.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sys.stderr.write(f"Serving at http://127.0.0.1:{at.getsockname()[1]}/mcp\n")
    sys.stderr.flush()
    uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none")).run(sockets=[at])


if __name__ == "__main__":
    main()
