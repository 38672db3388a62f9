"""How much and how often a token may send, whichever door it takes."""

from __future__ import annotations

import httpx2
import pytest
from served import served

from beliefledger import open_memory
from beliefledger.ledger.events.ops import AccessRefused

WAYS = [
    ("POST", "/mcp"), ("GET", "/mcp"), ("POST", "/a2a"), ("POST", "/a2a/"),
    ("GET", "/a2a/some-task"), ("POST", "/a2a/some-task/resume"), ("POST", "/nothing"),
]  # fmt: skip
MOST = 10_000


@pytest.fixture
def memory(tmp_path):
    with open_memory(tmp_path / "ledger") as opened:
        yield opened


def in_pieces(size):
    """A body that is sent without saying how long it is."""
    for begins in range(0, size, 1_000):
        yield b" " * min(1_000, size - begins)


def test_a_request_is_so_long_at_most_whether_it_says_so_or_not(memory):
    with served(memory, max_body_bytes=MOST) as server:
        headers = {
            "authorization": f"Bearer {server.token()}",
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
        }
        with httpx2.Client(headers=headers, timeout=20) as http:

            def status(method, path, content):
                return http.request(method, f"{server.root}{path}", content=content).status_code

            for way in WAYS:
                assert status(*way, in_pieces(MOST + 1)) == 413, way
                assert status(*way, b" " * (MOST + 1)) == 413, way
                assert status(*way, in_pieces(MOST)) != 413, way
            # What is short enough arrives whole.
            body = b'{"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {}}'
            told = http.post(
                f"{server.root}/a2a",
                headers={"a2a-version": "1.0"},
                content=(body[at : at + 7] for at in range(0, len(body), 7)),
            )
            assert told.json()["result"]["totalSize"] == 0
    refused = [each.facts for each in memory._log.read() if each.type == AccessRefused.NAME]
    assert sum(each["count"] for each in refused) == 2 * len(WAYS)


@pytest.mark.parametrize(("method", "path"), WAYS)
def test_a_token_may_ask_so_often_by_every_way(memory, method, path):
    with served(memory, calls_per_minute=2) as server:
        with httpx2.Client(headers={"authorization": f"Bearer {server.token()}"}) as http:

            def status(token=None):
                more = {} if token is None else {"authorization": f"Bearer {token}"}
                return http.request(method, server.root + path, headers=more).status_code

            answers = [status() for _ in range(4)]
            assert 429 not in answers[:2]
            assert answers[2:] == [429, 429]
            assert status(server.token("other")) != 429
