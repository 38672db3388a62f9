"""Every tool with hostile arguments: never a defect, never another's data, never an echo."""

from __future__ import annotations

import json
import string

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from served import served

from beliefledger import open_memory
from beliefledger.tools.server.mcp.tool import TOOLS

THEIRS = "Oslo7731"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0"
OPENING = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "hostile", "version": "1"},
}
NASTY = (
    *("", " ", "\x00", "\ud7ff", "'; DROP TABLE history; --", "../../etc/passwd", "%s%n", "${7*7}"),
    *("Infinity", "9" * 400, "-1", "\u202eabc", "a" * 70_000, SECRET, f"my token is {SECRET}"),
    *("DELETE MY DATA ", "ben", "everybody", "0001-01-01", "9999-12-31T23:59:59Z", "2026-13-45"),
    *("ana", "fact", "consent", "general", "markdown", "0", "1", "9007199254740993"),
)


@pytest.fixture
def talk(place):
    """Sends a call as anybody could write it; returns the status and the message that came."""
    with open_memory(place) as memory:
        memory.remember("ben", f"I live in {THEIRS}.", consent="consent")
        memory.remember("ana", "I live in Porto.", consent="consent")
        [theirs], [ours] = memory.beliefs("ben"), memory.beliefs("ana")
        ids = [theirs.memory_id, theirs.belief_id, theirs.decision_id, theirs.evidence[0].turn_id]
        ids += [ours.memory_id, ours.belief_id, ours.decision_id, theirs.memory_id[:6], "f" * 32]
        with served(memory, calls_per_minute=1_000_000, threads=2, worker=False) as server:
            token = server.token(role="admin")
            headers = {
                "authorization": f"Bearer {token}",
                "accept": "application/json, text/event-stream",
                "content-type": "application/json",
            }
            with httpx2.Client(headers=headers, timeout=60) as http:

                def send(method, params):
                    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                    return http.post(server.url, content=json.dumps(body).encode())

                opened = send("initialize", OPENING)
                http.headers["mcp-session-id"] = opened.headers["mcp-session-id"]
                http.headers["mcp-protocol-version"] = "2025-11-25"
                note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
                assert http.post(server.url, json=note).status_code == 202

                def call(tool, arguments):
                    answer = send("tools/call", {"name": tool, "arguments": arguments})
                    return answer.status_code, answer.text

                call.ids = ids
                call.memory = memory
                call.send = send
                yield call


def messages(text):
    """What a stream of events, or a plain answer, says."""
    lines = [each.removeprefix("data: ") for each in text.splitlines() if each.startswith("data: ")]
    return [json.loads(each) for each in lines if each.strip()] or [json.loads(text)]


VALUES = st.recursive(
    st.one_of(
        st.sampled_from(NASTY),
        st.text(alphabet=string.printable, max_size=30),
        st.none(),
        st.booleans(),
        st.integers(-(2**70), 2**70),
        st.floats(allow_nan=False, allow_infinity=False),
        st.integers(0, 8).map(lambda number: {"id": number}),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=4,
)


@st.composite
def calls(draw):
    tool = draw(st.sampled_from(sorted(TOOLS)))
    fields = list(TOOLS[tool].arguments.model_fields)
    chosen = draw(st.sets(st.sampled_from(fields))) if fields else set()
    required = {n for n, each in TOOLS[tool].arguments.model_fields.items() if each.is_required()}
    if draw(st.integers(0, 4)):
        chosen |= required
    arguments = {name: draw(VALUES) for name in sorted(chosen)}
    for name in sorted(chosen):  # many get as far as the front door
        if name.endswith("_id") and draw(st.booleans()):
            arguments[name] = {"id": draw(st.integers(0, 8))}
        elif draw(st.booleans()):
            arguments[name] = draw(st.sampled_from(NASTY))
    if not draw(st.integers(0, 9)):
        arguments[draw(st.text(min_size=1, max_size=9))] = draw(VALUES)
    return tool, arguments


def test_no_argument_breaks_a_tool_or_gets_at_what_is_not_the_callers(talk):
    known = {"ok", "INVALID_PARAM", "MEMORY_NOT_FOUND", "NOT_PERMITTED", "CONFIRM_REQUIRED"}
    known |= {"EXPORT_NOT_CONFIGURED", "UNAVAILABLE"}
    seen = set()

    def with_ids(value):
        if isinstance(value, dict) and set(value) == {"id"} and isinstance(value["id"], int):
            return talk.ids[value["id"]]
        return value

    @settings(max_examples=150, suppress_health_check=list(HealthCheck))
    @given(calls())
    def attack(wanted):
        tool, arguments = wanted
        given_ = {name: with_ids(value) for name, value in arguments.items()}
        status, text = talk(tool, given_)
        assert status == 200, (tool, given_, text)
        assert THEIRS not in text, (tool, given_)
        assert SECRET not in text, (tool, given_)
        [message] = messages(text)
        if "result" not in message:
            assert message["error"]["code"] == -32602, (tool, given_, message)
            return
        answer = message["result"]["structuredContent"]
        assert answer.get("code", "ok") in known, (tool, given_, answer)
        seen.add(answer.get("code", "ok"))

    attack()
    assert {"ok", "INVALID_PARAM", "MEMORY_NOT_FOUND", "NOT_PERMITTED"} <= seen
    assert talk.memory.beliefs("ben")[0].value == THEIRS
    assert talk.memory.proofs.verify().ok


ADDRESSES = st.one_of(
    st.sampled_from((*NASTY, "beliefledger://subject/", "beliefledger://subject//beliefs")),
    st.builds(
        "beliefledger://subject/{}/{}".format,
        st.sampled_from(("ana", "ben", "%62en", "zoe", "%00", "%ff", "..", "ana%2Fbeliefs")),
        st.one_of(
            st.sampled_from(("beliefs", "history", "decisions", "beliefs/", "beliefs/general")),
            st.integers(0, 8).map(lambda number: f"history/ID{number}"),
            st.text(alphabet=string.printable, max_size=20),
        ),
    ),
)


def test_no_address_or_completion_breaks_the_server_or_gets_at_what_is_not_the_callers(talk):
    template = "beliefledger://subject/{subject}/beliefs/{topic}"
    seen = set()

    @settings(max_examples=80, suppress_health_check=list(HealthCheck))
    @given(
        ADDRESSES, st.sampled_from(("resources/read", "resources/subscribe", "complete")), VALUES
    )
    def attack(address, method, value):
        for number, each in enumerate(talk.ids):
            address = address.replace(f"ID{number}", each)
        params = {"uri": address}
        if method == "complete":
            method = "completion/complete"
            params = {
                "ref": {"type": "ref/resource", "uri": template},
                "argument": {"name": "topic", "value": value},
                "context": {"arguments": {"subject": address}},
            }
        answer = talk.send(method, params)
        assert answer.status_code == 200, (method, params, answer.text)
        assert THEIRS not in answer.text, (method, params)
        assert SECRET not in answer.text, (method, params)
        [message] = messages(answer.text)
        seen.add((method, "result" in message))
        if "error" in message:
            assert message["error"]["code"] in {-32602, -32600}, (method, params, message)

    attack()
    assert {("resources/read", True), ("resources/read", False)} <= seen


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 7}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "hunter2", "params": {"hunter2": 1}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "diff",'
        b' "arguments": "hunter2"}}',
        b"[" * 5_000,
        b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "tools/list"}',
    ],
)
def test_a_broken_body_is_the_callers_mistake(tmp_path, body):
    with open_memory(tmp_path) as memory, served(memory, worker=False) as server:
        headers = {
            "authorization": f"Bearer {server.token()}",
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
            "mcp-protocol-version": "2026-07-28",
        }
        answer = httpx2.post(server.url, content=body, headers=headers)
        assert 400 <= answer.status_code < 500, answer.text
        assert "Traceback" not in answer.text
