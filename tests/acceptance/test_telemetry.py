"""What a server tells whoever runs it, in logs and traces: ids and outcomes, and nobody's words."""

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
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from served import Served, ServerProcess, served

from beliefledger import InvalidQuery, open_memory
from beliefledger.ledger.errors import CallerMistake
from beliefledger.ledger.spans import tracer
from beliefledger.tools.server import logs
from beliefledger.tools.server.traces import traced

CANARY = "Zanzibarova"
NAME = f"{CANARY.lower()}-subject"
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
ASKED = {"X-Request-Id": "request-1", "traceparent": TRACEPARENT}


class Collector:
    """Takes traces as an OpenTelemetry collector does: OTLP over HTTP, as protobuf."""

    def __init__(self):
        self.bodies = []
        self.told = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                assert (self.path, self.headers["x-key"]) == ("/v1/traces", "hidden")
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.bodies.append(body)
                collector.told.append(ExportTraceServiceRequest.FromString(body))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_words):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        self.environment = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{self._server.server_port}",
            "OTEL_EXPORTER_OTLP_HEADERS": "x-key=hidden",
            "OTEL_BSP_SCHEDULE_DELAY": "100",
            "FASTAPI_OTEL_AUTO_CONFIGURE": "true",  # whose spans have paths and queries
        }

    def scopes(self):
        return [
            (resource.resource, scope)
            for told in self.told
            for resource in told.resource_spans
            for scope in resource.scope_spans
        ]

    def spans(self):
        return [Span(each) for _, scope in self.scopes() for each in scope.spans]

    def end(self):
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class Span:
    def __init__(self, told):
        self.name, self.kind, self.status = told.name, told.kind, told.status
        self.trace, self.id = told.trace_id.hex(), told.span_id.hex()
        self.parent, self.events = told.parent_span_id.hex(), list(told.events)
        self.facts = {
            each.key: getattr(each.value, each.value.WhichOneof("value"))
            for each in told.attributes
        }


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
    found = post(root, "/v1/search", token, asked)
    assert found.status_code == 200
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
    return len(found.json()["results"])


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A token's id, the lines of a server's log as documents, and a collector of its traces, after
    all doors were used."""
    place = tmp_path_factory.mktemp("telemetry") / "ledger"
    with open_memory(place) as memory:
        made = memory.tokens.create("bot", subjects=[NAME], consent="consent", by="lea")
    collector = Collector()
    told = {"BELIEFLEDGER_SERVER_LOG_FORMAT": "json"} | collector.environment
    try:
        words = ["-m", "beliefledger", "--ledger", str(place)]
        process = ServerProcess(words, told)
        try:
            collector.found = use(Served(None, process.url), made.token)
        finally:
            process.end()
    finally:
        collector.end()
    return made.answer.token_id, [json.loads(line) for line in process.lines], collector


def calls(lines, **wanted):
    return [
        each
        for each in lines
        if each["event"] == "call" and all(each[name] == wanted[name] for name in wanted)
    ]


def test_every_call_is_a_line_with_its_ids_and_how_it_ended(told):
    token, lines, _traces = told
    [recorded] = calls(lines, tool="record_turn", outcome="ok")
    assert recorded.items() >= {
        "door": "http", "token": token, "request_id": "request-1", "trace_id": TRACE,
        "level": "info", "logger": "beliefledger.server",
    }.items()  # fmt: skip
    assert recorded["timestamp"].endswith("Z")
    assert recorded["duration_ms"] > 0
    made = [each["request_id"] for each in calls(lines)]
    assert len(set(made)) == len(made)  # also of calls that sent none
    traces = [each["trace_id"] for each in calls(lines)]
    assert len(set(traces)) == len(traces)
    assert {each["door"] for each in calls(lines)} == {"http", "mcp", "a2a"}
    assert len(calls(lines, tool="search_memories", door="mcp", outcome="ok")) == 1
    assert len(calls(lines, tool="SendMessage", door="a2a")) == 1
    assert {each["outcome"] for each in calls(lines, door="http")} >= {"ok", "UNKNOWN_TOOL"}
    [refused] = [each for each in lines if each["event"] == "refused"]
    assert (refused["status"], "token" in refused) == (401, False)


def test_no_line_has_a_name_a_question_or_a_word_of_anybody(told):
    _token, lines, _traces = told
    assert len(calls(lines)) > 9
    assert CANARY.lower() not in json.dumps(lines).lower()


def test_every_call_is_a_span_with_what_was_done_for_it(told):
    token, lines, traces = told
    spans = traces.spans()
    doors = {each.id: each for each in spans if "beliefledger.door" in each.facts}
    assert len(doors) == len(calls(lines))
    for line in calls(lines):
        door = doors[line["span_id"]]
        assert door.trace == line["trace_id"]
        assert door.facts == {
            "beliefledger.door": line["door"],
            "beliefledger.tool": line["tool"],
            "beliefledger.outcome": line["outcome"],
            "beliefledger.token": token,
        } | ({} if line["outcome"] == "ok" else {"error.type": line["outcome"]})
    [recorded] = [each for each in doors.values() if each.trace == TRACE]
    assert recorded.parent == PARENT
    [search] = [each for each in doors.values() if each.facts["beliefledger.tool"] == "search"]
    within = {each.name: each for each in spans if each.parent == search.id}
    assert within["search_memory"].facts == {
        "gen_ai.operation.name": "search_memory",
        "gen_ai.memory.record.count": traces.found,
    }
    [upsert] = [each for each in spans if each.parent == recorded.id]
    assert upsert.facts == {"gen_ai.operation.name": "upsert_memory"}
    decided = [each.facts for each in spans if each.name == "decide_turns"]
    assert sum(each["beliefledger.turns"] for each in decided) >= 2
    assert any(each.name == "project_events" for each in spans)
    refused = [each for each in doors.values() if each.facts["beliefledger.outcome"] != "ok"]
    assert {each.status.code for each in refused} == {2}  # an error, of which no more is said


def test_no_span_has_a_name_a_question_or_a_word_of_anybody(told):
    _token, _lines, traces = told
    assert {scope.scope.name for _, scope in traces.scopes()} == {"beliefledger"}
    [resource] = {str(resource) for resource, _ in traces.scopes()}
    assert "beliefledger" in resource
    for body in traces.bodies:
        assert CANARY.lower().encode() not in body.lower()
    for each in traces.spans():
        assert (each.events, each.status.message) == ([], "")


def test_an_error_is_told_by_its_class(tmp_path, monkeypatch):
    collector = Collector()
    for name, value in collector.environment.items():
        monkeypatch.setenv(name, value)
    try:
        with open_memory(tmp_path / "ledger") as memory, traced():
            with pytest.raises(InvalidQuery):
                memory.search(NAME, CANARY, k=0)
            assert memory.remember(NAME, f"I live in {CANARY}.", consent="consent")
            [belief] = memory.beliefs(NAME)
            memory.revoke(belief.memory_id, by="lea")
    finally:
        collector.end()
    spans = {each.name: each for each in collector.spans()}
    assert spans["search_memory"].facts["error.type"] == "InvalidQuery"
    assert spans["delete_memory"].facts["gen_ai.memory.record.id"] == belief.memory_id
    assert CANARY.lower() not in str(collector.bodies).lower()


OFF = """
import sys
from beliefledger import open_memory
from beliefledger.ledger import spans
with open_memory(sys.argv[1], consent="consent") as memory:
    memory.remember("ana", "I live in Porto.")
    memory.search("ana", "Where does she live?")
loaded = {each.partition(".")[0] for each in sys.modules}
assert not loaded & {"opentelemetry", "structlog", "requests"}, loaded
from beliefledger.tools.server.serving import serve
from beliefledger.tools.server.traces import traced
with traced():
    assert spans.tracer() is None
wanted = ("opentelemetry.sdk", "opentelemetry.exporter", "opentelemetry.proto", "requests")
assert not [each for each in sys.modules if each.startswith(wanted)]
"""


def test_nothing_of_it_is_imported_while_it_is_off(tmp_path):
    told = {name: each for name, each in os.environ.items() if not name.startswith("OTEL_")}
    command = [sys.executable, "-c", OFF, tmp_path / "ledger"]
    done = subprocess.run(command, env=told, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("off", [{"OTEL_TRACES_EXPORTER": "none"}, {"OTEL_SDK_DISABLED": "true"}])
def test_it_is_switched_off_by_the_standard_variables(off, monkeypatch):
    for name, value in ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"} | off).items():
        monkeypatch.setenv(name, value)
    with traced():
        assert tracer() is None


@pytest.mark.parametrize(
    "asked",
    [{"OTEL_TRACES_EXPORTER": "zipkin"}, {"OTEL_TRACES_EXPORTER": "otlp",
      "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}],
)  # fmt: skip
def test_what_traces_cannot_be_sent_by_is_refused_with_what_can(asked, monkeypatch):
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(CallerMistake, match="OTLP over HTTP"), traced():
        pass


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
