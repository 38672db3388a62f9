"""What a server tells whoever runs it, in logs: ids and outcomes, and nobody's words."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import subprocess
import sys
import threading
from contextlib import contextmanager

import httpx2
import pytest
from programs import Program
from served import Served, served

from beliefledger import open_memory
from beliefledger.tools.server import logs

CANARY = "Zanzibarova"
NAME = f"{CANARY.lower()}-subject"
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
ASKED = {"X-Request-Id": "request-1", "traceparent": TRACEPARENT}


class Process:
    """`beliefledger serve` as a process, and what it wrote into its log."""

    def __init__(self, place, environment):
        self.lines = []
        self._started = threading.Event()
        words = ["-m", "beliefledger", "--ledger", str(place), "serve", "--port", "0"]
        environment = os.environ | {"BELIEFLEDGER_SERVER_SCHEDULE": "false"} | environment
        self._program = Program(
            [sys.executable, *words], stderr=subprocess.PIPE, text=True, env=environment
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        assert self._started.wait(30), self.lines
        told = re.search(r"http://[\d.]+:\d+/mcp", "".join(self.lines))
        assert told, self.lines
        self.url = told[0]

    def _read(self):
        for line in self._program.stderr:
            self.lines.append(line)
            if "/mcp" in line:
                self._started.set()
        self._started.set()

    def end(self):
        self._program.terminate()
        self._program.wait(30)
        self._reader.join(30)
        self._program.stderr.close()


def post(root, path, token, body, **headers):
    told = {"Authorization": f"Bearer {token}"} | headers
    return httpx2.post(f"{root}{path}", headers=told, json=body, timeout=30)


def get(root, path, token, **given):
    told = {"Authorization": f"Bearer {token}"} | given.pop("headers", {})
    return httpx2.get(f"{root}{path}", headers=told, timeout=30, **given)


def use(at, token):
    """Calls at each door with a name and words that must be nowhere, refused ones too."""
    root, text = at.root, f"I live in {CANARY}."
    sent = {"subject": NAME, "content": text, "session": CANARY}
    assert post(root, "/v1/turns", token, sent, **ASKED).status_code == 201
    asked = {"subject": NAME, "query": f"Where is {CANARY}?"}
    assert post(root, "/v1/search", token, asked).status_code == 200
    assert get(root, "/v1/beliefs", token, params={"subject": CANARY}).status_code == 403
    assert post(root, "/v1/turns", token, {CANARY: CANARY}).status_code == 422
    assert get(root, f"/v1/{CANARY}/none", token).status_code == 404
    assert get(root, f"/v1/beliefs?subject={CANARY}", CANARY).status_code == 401
    at.store(token, f"My sister's name is {CANARY}.")
    at.call(token, "search_memories", query=CANARY)
    at.call(token, "explain_memory", memory_id=CANARY)
    message = {"role": "ROLE_USER", "messageId": CANARY, "parts": [{"text": text}]}
    call = {"jsonrpc": "2.0", "id": CANARY, "method": "SendMessage", "params": {"message": message}}
    assert post(root, "/a2a", token, call, **{"A2A-Version": "1.0"}).status_code == 200


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """The lines of a server's log, as documents, after all doors were used."""
    place = tmp_path_factory.mktemp("telemetry") / "ledger"
    with open_memory(place) as memory:
        made = memory.tokens.create("bot", subjects=[NAME], consent="consent", by="lea")
    process = Process(place, {"BELIEFLEDGER_SERVER_LOG_FORMAT": "json"})
    try:
        use(Served(None, process.url), made.token)
    finally:
        process.end()
    return made.answer.token_id, [json.loads(line) for line in process.lines]


def calls(lines, **wanted):
    return [
        each
        for each in lines
        if each["event"] == "call" and all(each[name] == wanted[name] for name in wanted)
    ]


def test_every_call_is_a_line_with_its_ids_and_how_it_ended(told):
    token, lines = told
    [recorded] = calls(lines, tool="record_turn", outcome="ok")
    assert recorded.items() >= {
        "door": "http", "token": token, "request_id": "request-1", "trace_id": TRACE,
        "level": "info", "logger": "beliefledger.server",
    }.items()  # fmt: skip
    assert recorded["timestamp"].endswith("Z")
    assert recorded["duration_ms"] > 0
    made = [each["request_id"] for each in calls(lines)]
    assert len(set(made)) == len(made)  # also of calls that sent none
    assert all("trace_id" not in each for each in calls(lines) if each != recorded)
    assert {each["door"] for each in calls(lines)} == {"http", "mcp", "a2a"}
    assert len(calls(lines, tool="search_memories", door="mcp", outcome="ok")) == 1
    assert len(calls(lines, tool="SendMessage", door="a2a")) == 1
    assert {each["outcome"] for each in calls(lines, door="http")} >= {"ok", "UNKNOWN_TOOL"}
    [refused] = [each for each in lines if each["event"] == "refused"]
    assert (refused["status"], "token" in refused) == (401, False)


def test_no_line_has_a_name_a_question_or_a_word_of_anybody(told):
    _token, lines = told
    assert len(calls(lines)) > 9
    assert CANARY.lower() not in json.dumps(lines).lower()


@contextmanager
def logging_to(stream, style):
    root, ours = logging.getLogger(), logging.getLogger("beliefledger")
    before = ours.level
    handler = logs.configure(style, "info", stream)
    try:
        yield
    finally:
        root.removeHandler(handler)
        ours.setLevel(before)


@pytest.mark.parametrize("style", ["json", "console"])
def test_a_defect_is_told_by_its_place_and_not_by_what_it_quotes(style, tmp_path, monkeypatch):
    stream = io.StringIO()
    with logging_to(stream, style), open_memory(tmp_path / "ledger") as memory:
        with served(memory, worker=False) as at:

            def fail(*_given, **_named):
                raise ValueError(f"{CANARY} cannot be read")

            token = at.token(subjects=[NAME])
            monkeypatch.setattr(type(memory), "search", fail)
            asked = {"subject": NAME, "query": CANARY}
            assert post(at.root, "/v1/search", token, asked).status_code == 500
        logging.getLogger("library").warning("%s cannot be parsed", CANARY)
    said = stream.getvalue()
    assert CANARY not in said
    assert "search failed" in said
    assert "ValueError" in said
    assert f"{__file__}:" in said  # where it was raised
    assert "test_telemetry:" in said  # where the library's message came from


def test_a_line_for_people_has_the_same(tmp_path):
    stream = io.StringIO()
    with logging_to(stream, "console"), open_memory(tmp_path / "ledger") as memory:
        with served(memory, worker=False) as at:
            asked = get(at.root, "/v1/status", at.token(subjects=None), headers=ASKED)
            assert asked.headers["X-Request-Id"] == "request-1"
            for path in ("/healthz", "/metrics"):  # made where none is given, at every door
                assert re.fullmatch(
                    r"[0-9a-f]{16}", httpx2.get(at.root + path).headers["X-Request-Id"]
                )
    [line] = [each for each in stream.getvalue().splitlines() if " call" in each]
    for each in ("door=http", "tool=status", "outcome=ok", "request_id=request-1", TRACE):
        assert each in line
