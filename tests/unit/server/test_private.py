"""What is used of the protocols' packages without being public there is there yet, and nowhere else
is anything."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import a2a.server.routes  # noqa: F401  (before a2a.compat, which it imports in a circle)
import pytest
from a2a.compat.v0_3.jsonrpc_adapter import JSONRPC03Adapter
from a2a.server.routes.jsonrpc_dispatcher import JsonRpcDispatcher
from mcp.server.connection import Connection
from mcp.server.lowlevel.server import Server
from mcp.server.session import ServerSession
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

SERVER = Path(__file__).parents[3] / "tools" / "server"
PRIVATE = SERVER / "mcp" / "private.py"


def parameters(function):
    return list(inspect.signature(function).parameters)


def test_mcp_has_what_is_used_of_it():
    assert parameters(StreamableHTTPSessionManager._admit_session) == ["self", "requestor"]
    manager = StreamableHTTPSessionManager(Server("one"))
    assert manager._session_owners == {}
    assert manager._admit_session(None) is not None
    assert "_admit_session(requestor)" in inspect.getsource(
        StreamableHTTPSessionManager._handle_stateful_request
    )
    assert parameters(ServerSession.__init__)[:3] == ["self", "request_outbound", "connection"]
    connection = Connection.for_loop(None)
    session = ServerSession(None, connection)
    assert session._connection is connection
    connection.exit_stack.callback(list)


@pytest.mark.parametrize("of", [JsonRpcDispatcher, JSONRPC03Adapter])
def test_a2a_asks_for_the_answer_to_an_error_where_ours_takes_its_place(of):
    assert parameters(of._generate_error_response) == ["self", "request_id", "error"]
    assert inspect.getsource(of).count("self._generate_error_response(") > 2
    assert "self._v03_adapter" in inspect.getsource(JsonRpcDispatcher)


def test_nothing_else_of_ours_uses_what_is_private():
    """Beyond what a class of ours overrides and uses of itself."""
    used = re.compile(r"(?<![\w.)])(?!self\b|cls\b|super\b)[a-z_]+(?:\.[a-z_]+)*\._[a-z]\w*")
    found = {
        str(path.relative_to(SERVER)): used.findall(path.read_text("utf-8"))
        for path in SERVER.rglob("*.py")
        if path != PRIVATE
    }
    assert {name: each for name, each in found.items() if each} == {}
    assert used.findall(PRIVATE.read_text("utf-8"))
