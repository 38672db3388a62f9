"""What a stop is like for who is connected: SIGTERM to a real process, seen from outside."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections import Counter

import httpx2
import pytest
from programs import Program
from served import MODERN, Served

from beliefledger import open_memory
from beliefledger.ledger.events.ops import ToolCalled
from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.tools.server.shown import Shown

ANA = "beliefledger://subject/ana/beliefs"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
OPENING = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "stop", "version": "1"},
}


@pytest.fixture
def started(place):
    """Starts a server in a process of its own, for a token."""
    running = []

    def start(*more):
        with open_memory(place) as memory:
            token = memory.tokens.create("bot", by="lea", subjects=["ana"], consent="consent").token
        command = [sys.executable, "-m", "beliefledger", "--ledger", place, "serve", "--port", "0"]
        process = Program([*command, *more], stderr=-1, text=True)
        running.append(process)
        line = process.stderr.readline()
        assert "http" in line, line
        return process, Served(None, line.rsplit(" ", 1)[1].strip()), token

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


class Heard(threading.Thread):
    """Sends one request, and keeps what comes until the answer is complete."""

    def __init__(self, method, url, headers, body=None):
        super().__init__()
        self._asked = (method, url, headers, body)
        self.lines, self.error, self.ended = [], None, None
        self.begun = threading.Event()
        self.start()

    def run(self):
        method, url, headers, body = self._asked
        try:
            with httpx2.stream(method, url, headers=headers, json=body, timeout=60) as answer:
                assert answer.status_code == 200, answer.read()
                for line in answer.iter_lines():
                    self.lines.append(line)
                    self.begun.set()
        except httpx2.HTTPError as problem:  # cut off in the middle
            self.error = problem
        self.ended = time.monotonic()

    def messages(self):
        said = [each.removeprefix("data: ") for each in self.lines]
        return [json.loads(each) for each in said if each.startswith("{")]


def headers(token, **more):
    accept = "application/json, text/event-stream"
    return {"authorization": f"Bearer {token}", "accept": accept} | more


def modern(server, token, method, **params):
    more = {"mcp-protocol-version": MODERN, "mcp-method": method}
    if "name" in params:
        more["mcp-name"] = params["name"]
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params | {"_meta": META}}
    return Heard("POST", server.url, headers(token, **more), body)


def session(server, token):
    """The headers of a session of the older revision."""
    body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": OPENING}
    answer = httpx2.post(server.url, headers=headers(token), json=body)
    more = {
        "mcp-session-id": answer.headers["mcp-session-id"],
        "mcp-protocol-version": "2025-11-25",
    }
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    known = headers(token, **more)
    assert httpx2.post(server.url, headers=known, json=note).status_code == 202
    return known


def a2a(server, token, method, params):
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return Heard("POST", f"{server.root}/a2a", headers(token, **{"A2A-Version": "1.0"}), body)


def message(text):
    parts = [{"text": text}]
    return {"message": {"messageId": text, "role": "ROLE_USER", "parts": parts}}


def test_streams_are_told_and_calls_in_the_middle_are_answered(place, started):
    process, server, token = started("--no-worker")  # so that what is asked for waits
    known = session(server, token)
    listens = modern(
        server, token, "subscriptions/listen", notifications={"resourceSubscriptions": [ANA]}
    )
    stands = Heard("GET", server.url, known)
    stored = modern(
        server, token, "tools/call",
        name="store_memory", arguments={"text": "I live in Porto.", "topic": "home"},
    )  # fmt: skip
    stored.join(20)
    job = stored.messages()[-1]["result"]["structuredContent"]["data"]["job_id"]
    waits = {"name": "job_status", "arguments": {"job_id": job, "wait_seconds": 25}}
    newer = modern(server, token, "tools/call", **waits)
    older = Heard(
        "POST", server.url, known,
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": waits},
    )  # fmt: skip
    streams = a2a(server, token, "SendStreamingMessage", message("I like tea."))
    assert streams.begun.wait(20)
    task = streams.messages()[0]["result"]["task"]["id"]
    follows = a2a(server, token, "SubscribeToTask", {"id": task})
    sends = a2a(server, token, "SendMessage", message("I play the cello."))
    assert follows.begun.wait(20)
    assert listens.begun.wait(20)
    time.sleep(1)  # all calls are in the middle
    everybody = (listens, stands, newer, older, streams, follows, sends)
    assert [each.ended for each in everybody] == [None] * len(everybody)

    process.send_signal(signal.SIGTERM)
    begun = time.monotonic()
    for each in everybody:
        each.join(20)
    assert process.wait(20) in {0, -signal.SIGTERM}
    took = time.monotonic() - begun

    assert [each.error for each in everybody] == [None] * len(everybody)
    assert max(each.ended for each in everybody) - begun < 3
    assert took < 8
    assert listens.messages()[-1]["id"] == 1  # the stream's own result: it ended on purpose
    assert "result" in listens.messages()[-1]
    assert stands.lines[-2:] == [": The server stops. Connect again.", ""]
    for each in (newer, older):
        answer = each.messages()[-1]["result"]["structuredContent"]
        assert (answer["status"], answer["data"]["state"]) == ("ok", "pending")
    for each in (streams, follows):
        assert each.messages()[0]["result"]["task"]["id"] == task
        assert "The server stops" in each.messages()[-1]["error"]["message"]
    sent = sends.messages()[-1]["result"]["task"]
    assert sent["status"]["state"] == "TASK_STATE_SUBMITTED"
    with open_memory(place) as memory:
        outcomes = [
            (each.facts["tool"], each.facts["outcome"])
            for each in memory._log.read()
            if each.type == ToolCalled.NAME
        ]
        assert ("SubscribeToTask", "SERVER_STOPPED") in outcomes
        assert ("SendStreamingMessage", "SERVER_STOPPED") in outcomes
        assert outcomes.count(("job_status", "ok")) == 2
        memory.process()
        told = {each.text for each in memory.beliefs("ana")}
    assert told == {"User lives in Porto", "User likes tea", "User plays the cello"}
    _, server, token = started()  # a task that was accepted goes on
    over = wait_over(server, token, sent["id"])
    assert over == "TASK_STATE_COMPLETED"


def wait_over(server, token, task):
    for _ in range(200):
        answer = a2a(server, token, "GetTask", {"id": task})
        answer.join(20)
        state = answer.messages()[-1]["result"]["status"]["state"]
        if state not in {"TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"}:
            return state
        time.sleep(0.05)
    raise AssertionError(state)


def test_what_was_accepted_while_it_stopped_is_there(place, started):
    """Agents store without a pause while the signal comes: who was answered finds it kept."""
    process, server, token = started()
    accepted, refused = [], []

    def store(agent):
        for number in range(10_000):
            text = f"I like agent{agent}tea{number}."
            call = modern(
                server, token, "tools/call",
                name="store_memory", arguments={"text": text, "topic": "taste"},
            )  # fmt: skip
            call.join(30)
            if call.error is not None:
                refused.append(call.error)
                return
            answer = call.messages()[-1]["result"]["structuredContent"]
            assert answer["status"] == "ok", answer
            accepted.append((answer["data"]["job_id"], text))

    agents = [threading.Thread(target=store, args=(each,)) for each in range(4)]
    for each in agents:
        each.start()
    ends = time.monotonic() + 60
    while len(accepted) < 5 * len(agents):
        assert time.monotonic() < ends
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    for each in agents:
        each.join(30)
    assert process.wait(30) in {0, -signal.SIGTERM}
    assert len(refused) == len(agents)  # they found the door closed
    with open_memory(place) as memory:
        # Nobody was cut off in the middle: each call that was worked on is answered.
        types = Counter(each.type for each in memory._log.read())
        assert types[ToolCalled.NAME] == types[TurnRecorded.NAME] == len(accepted)
        memory.process()
        kept = {each: memory.turn(each) for each, _ in accepted}
        assert Shown(memory).words(kept) == dict(accepted)
        assert {each.state for each in kept.values()} == {"extracted"}
        assert memory.proofs.verify().ok


def test_who_is_asked_for_a_choice_is_not_waited_for(place, started):
    with open_memory(place) as memory:
        memory.remember("ana", "I live in Lisbon.", consent="consent")
        memory.record_turn("ana", "I live in Porto.", ask=True)
        memory.process()
        [conflict] = memory.conflicts.list("ana")
    process, server, token = started("--no-worker")
    opening = OPENING | {"capabilities": {"elicitation": {"form": {}}}}
    body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": opening}
    opened = httpx2.post(server.url, headers=headers(token), json=body)
    known = headers(token) | {"mcp-session-id": opened.headers["mcp-session-id"]}
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    httpx2.post(server.url, headers=known, json=note)
    asks = {"name": "resolve_conflict", "arguments": {"belief_id": conflict.belief_id}}
    call = Heard(
        "POST", server.url, known,
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": asks},
    )  # fmt: skip
    assert call.begun.wait(20)  # the question is put
    process.send_signal(signal.SIGTERM)
    call.join(20)
    assert process.wait(20) in {0, -signal.SIGTERM}
    assert call.error is None
    answer = call.messages()[-1]["result"]["structuredContent"]
    assert (answer["code"], answer["error"]) == (
        "DECLINED", "The server stops. Nothing is changed.",
    )  # fmt: skip
