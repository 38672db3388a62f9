"""Every A2A method with hostile arguments: never a defect, never another's data, never an echo."""

from __future__ import annotations

import json
import string

import httpx2
import pytest
from agents import Agent
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from served import served

from beliefledger import open_memory
from beliefledger.tools.server.a2a.skills import TOLD

THEIRS = "Oslo7731"
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0"
NASTY = (
    *("", " ", "\x00", "\ud7ff", "'; DROP TABLE history; --", "../../etc/passwd", "%s%n", "${7*7}"),
    *("Infinity", "9" * 400, "-1", "\u202eabc", "a" * 70_000, SECRET, f"my token is {SECRET}"),
    *("ben", "everybody", "0001-01-01", "9999-12-31T23:59:59Z", "2026-13-45", "1", "10000000"),
    *("ana", "I live in Faro.", "keep_new", "keep_both", "TASK_STATE_WORKING", "application/json"),
)
TASK_STATES = ("TASK_STATE_COMPLETED", "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_NONE", "completed")
WORDS = st.one_of(st.sampled_from(NASTY), st.text(alphabet=string.printable, max_size=30))
IDS = st.one_of(st.integers(0, 7).map(lambda number: {"id": number}), WORDS)
VALUES = st.recursive(
    st.one_of(
        WORDS,
        IDS,
        st.none(),
        st.booleans(),
        st.integers(-(2**70), 2**70),
        st.floats(allow_nan=False, allow_infinity=False),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=4,
)
SKILLS = st.one_of(st.sampled_from(sorted(TOLD)), VALUES)


def fields(required=(), **known):
    """Some of the fields that there are, now and then one more, each as it is or hostile."""
    may = {name: each for name, each in known.items() if name not in required}
    whole = st.fixed_dictionaries({name: known[name] for name in required}, optional=may)
    more = st.dictionaries(st.text(max_size=9), VALUES, max_size=1)
    return st.one_of(whole, whole, st.builds(lambda one, other: other | one, whole, more))


DATA = fields(
    skill=SKILLS, text=WORDS, topic=WORDS, subject=WORDS, question=WORDS, as_of=WORDS,
    belief_id=IDS, resolution=WORDS, contexts=VALUES,
)  # fmt: skip
PART = st.one_of(
    fields(text=WORDS, mediaType=WORDS),
    fields(("data",), data=DATA),
    fields(("data",), data=VALUES),
    fields(raw=WORDS, url=WORDS, filename=WORDS, metadata=VALUES),
)
OLD_PART = st.one_of(
    fields(("kind", "text"), kind=st.just("text"), text=WORDS),
    fields(("kind", "data"), kind=st.just("data"), data=DATA),
    fields(kind=WORDS, file=VALUES),
)
AT_ONCE = st.just({"returnImmediately": True})
CONFIGURATION = st.one_of(
    AT_ONCE,
    fields(
        ("returnImmediately",), returnImmediately=st.sampled_from([True]), historyLength=VALUES,
        acceptedOutputModes=VALUES, taskPushNotificationConfig=VALUES,
    ),
)  # fmt: skip


def message(part, role):
    return fields(
        ("messageId", "role", "parts"), messageId=IDS, role=st.sampled_from((role, role, "x")),
        parts=st.lists(part, max_size=3), taskId=IDS, contextId=WORDS, metadata=VALUES,
        extensions=VALUES,
    )  # fmt: skip


SENT = fields(
    ("message", "configuration"), message=message(PART, "ROLE_USER"),
    configuration=CONFIGURATION, tenant=WORDS, metadata=VALUES,
)  # fmt: skip
OLD_SENT = fields(
    ("message", "configuration"), message=message(OLD_PART, "user"),
    configuration=st.just({"blocking": False}), metadata=VALUES,
)  # fmt: skip
SAID = {"skill": SKILLS, "text": WORDS, "subject": WORDS, "question": WORDS, "as_of": WORDS}
"""As the protocol has it, so that what is hostile gets as far as the front door."""
RIGHT = {
    "SendMessage": st.fixed_dictionaries(
        {
            "message": st.fixed_dictionaries(
                {
                    "messageId": st.uuids().map(str),
                    "role": st.just("ROLE_USER"),
                    "parts": st.fixed_dictionaries({"text": WORDS}).map(lambda part: [part])
                    | st.fixed_dictionaries({"data": fields(**SAID)}).map(lambda part: [part]),
                },
                optional={"taskId": IDS, "contextId": WORDS},
            ),
            "configuration": AT_ONCE,
        }
    ),
    "message/send": st.fixed_dictionaries(
        {
            "message": st.fixed_dictionaries(
                {
                    "kind": st.just("message"),
                    "messageId": st.uuids().map(str),
                    "role": st.just("user"),
                    "parts": WORDS.map(lambda text: [{"kind": "text", "text": text}]),
                },
                optional={"taskId": IDS, "contextId": WORDS},
            ),
            "configuration": st.just({"blocking": False}),
        }
    ),
    **dict.fromkeys(("GetTask", "tasks/get"), st.just({"id": {"id": 2}})),
    "ListTasks": st.just({"includeArtifacts": True}),
}
RIGHT |= {
    "SendStreamingMessage": RIGHT["SendMessage"],
    "message/stream": RIGHT["message/send"],
}
TASK = fields(("id",), id=IDS, historyLength=VALUES, tenant=WORDS)
LIST = fields(
    contextId=WORDS, pageSize=VALUES, pageToken=WORDS, historyLength=VALUES,
    status=st.one_of(st.sampled_from(TASK_STATES), VALUES), includeArtifacts=VALUES,
    statusTimestampAfter=WORDS, tenant=WORDS,
)  # fmt: skip
METHODS = {
    "SendMessage": SENT,
    "SendStreamingMessage": SENT,
    "GetTask": TASK,
    "ListTasks": LIST,
    "CancelTask": TASK,
    "SubscribeToTask": TASK,
    "GetExtendedAgentCard": fields(tenant=WORDS),
    "CreateTaskPushNotificationConfig": fields(taskId=IDS, url=WORDS),
    "message/send": OLD_SENT,
    "message/stream": OLD_SENT,
    "tasks/get": TASK,
    "tasks/cancel": TASK,
    "tasks/resubscribe": TASK,
}
CALLS = st.one_of(
    *(st.tuples(st.just(name), st.one_of(each, each, VALUES)) for name, each in METHODS.items()),
    st.tuples(st.just("SendMessage"), SENT),
    st.tuples(st.just("message/send"), OLD_SENT),
    *(st.tuples(st.just(name), RIGHT[name]) for name in RIGHT),
    st.tuples(WORDS, VALUES),
)


@pytest.fixture
def talk(place):
    """Sends a call as anybody could write it; returns its status and what came."""
    with open_memory(place) as memory:
        memory.remember("ben", f"I live in {THEIRS}.", consent="consent")
        with served(memory, calls_per_minute=1_000_000, call_seconds=5) as server:
            theirs = Agent(server, server.token("other", role="admin", subjects=["ben"]))
            mine = Agent(server, server.token(role="admin"))
            ids = [theirs.send(f"I like {THEIRS}.").id]
            ids.append(theirs.send({"skill": "answer_as_of", "question": "home?"}).id)
            ids.append(mine.send("I live in Porto.").id)
            ids.append(mine.send("I live in Lisbon.").id)  # waits for an answer
            [held] = [each for each in memory.beliefs("ben") if each.attribute == "home.city"] or [
                memory.beliefs("ben")[0]
            ]
            ids += [held.memory_id, held.belief_id, held.decision_id, "f" * 32]
            with httpx2.Client(headers=mine.headers, timeout=60) as http:

                def send(method, params):
                    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                    new = {} if "/" in method else {"A2A-Version": "1.0"}
                    text = json.dumps(body).encode()
                    answer = http.post(f"{server.root}/a2a", content=text, headers=new)
                    return answer.status_code, answer.text

                send.ids, send.memory, send.http, send.root = ids, memory, http, server.root
                yield send


def with_ids(ids, value):
    if isinstance(value, dict):
        if set(value) == {"id"} and type(value["id"]) is int and value["id"] < len(ids):
            return ids[value["id"]]
        return {name: with_ids(ids, each) for name, each in value.items()}
    return [with_ids(ids, each) for each in value] if isinstance(value, list) else value


def said(text):
    """The messages of a plain answer, or of a stream."""
    lines = [each.removeprefix("data: ") for each in text.splitlines()]
    return [json.loads(each) for each in lines if each.startswith("{")]


def test_no_argument_breaks_a_method_or_gets_at_what_is_not_the_callers(talk):
    seen = set()

    @settings(max_examples=200, suppress_health_check=list(HealthCheck))
    @given(CALLS)
    @example(("tasks/get", {"id": {"id": 2}, "historyLength": 2**31}))
    @example(("no/such", {}))
    def attack(wanted):
        method, params = wanted
        params = with_ids(talk.ids, params)
        status, text = talk(method, params)
        assert status == 200, (method, params, text)
        assert THEIRS not in text, (method, params)
        assert SECRET not in text, (method, params)
        for each in said(text):
            code = each["error"]["code"] if "error" in each else 0
            assert code != -32603, (method, params, each)  # a defect of ours
            seen.add((method if method in METHODS else "?", code))

    attack()
    valid = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "I like tea."}]}
    older = {"kind": "message", "messageId": "n", "role": "user"}
    older["parts"] = [{"kind": "text", "text": "I like tea."}]
    for method, message in (("SendMessage", valid), ("message/send", older)):
        sent = said(talk(method, {"message": message})[1])
        seen |= {(method, 0) for each in sent if "result" in each}
    kinds = {code for _, code in seen}
    assert {0, -32601, -32602, -32001} <= kinds, seen
    for method in ("SendMessage", "GetTask", "ListTasks", "message/send", "tasks/get"):
        assert (method, 0) in seen, (method, seen)
    assert {each.value for each in talk.memory.beliefs("ben")} == {THEIRS}
    assert talk.memory.proofs.verify().ok


PATHS = st.one_of(IDS, st.text(alphabet=string.ascii_letters + "%/.;?#", max_size=20))
BODIES = st.one_of(
    VALUES,
    fields(resolution=WORDS, contexts=VALUES),
    fields(skill=SKILLS, input=st.one_of(VALUES, fields(text=WORDS, topic=WORDS)), id=IDS),
)


def test_nor_does_the_dialect_of_recall(talk):
    seen = set()

    @settings(max_examples=100, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(("create", "look", "resume")), PATHS, BODIES)
    def attack(way, path, body):
        path, body = with_ids(talk.ids, path), with_ids(talk.ids, body)
        if way == "create":
            answer = talk.http.post(f"{talk.root}/a2a", content=json.dumps(body).encode())
        else:
            try:
                url = httpx2.URL(f"{talk.root}/a2a/").copy_with(
                    raw_path=b"/a2a/" + path.encode("utf-8", "replace")[:2_000].replace(b" ", b"+")
                    + (b"/resume" if way == "resume" else b"")
                )  # fmt: skip
                text = json.dumps(body).encode()
                verb = "GET" if way == "look" else "POST"
                answer = talk.http.request(verb, url, content=text if way == "resume" else None)
            except (httpx2.InvalidURL, httpx2.LocalProtocolError):
                return  # nobody can send that
        assert answer.status_code < 500, (way, path, body, answer.text)
        assert THEIRS not in answer.text, (way, path, body)
        assert SECRET not in answer.text, (way, path, body)
        seen.add((way, answer.status_code))

    attack()
    assert {("look", 200), ("look", 404), ("resume", 404)} <= seen, seen
    assert talk.memory.proofs.verify().ok
