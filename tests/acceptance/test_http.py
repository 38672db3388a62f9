"""REST under /v1: real HTTP against the real server, on both backends."""

from __future__ import annotations

import csv
import io
import json
import shutil
import threading
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import jsonschema
import pytest
from prometheus_client.parser import text_string_to_metric_families
from served import BACKENDS, calling, served, served_on

from beliefledger import open_memory
from beliefledger.ledger.errors import BackendUnavailable, InvalidQuery
from beliefledger.ledger.events.ops import ToolCalled
from beliefledger.tools.relay import asyncapi
from beliefledger.tools.server.api import feed
from beliefledger.tools.server.api.problem import Problem
from beliefledger.tools.server.api.shortcuts import Shortcuts

SECRET = "blt_" + "c" * 43
INVALID, REFUSED = "INVALID_PARAM", "NOT_PERMITTED"


@pytest.fixture(scope="module", params=BACKENDS)
def server(request, tmp_path_factory):
    """One for all tests here: each is about people of its own."""
    with served_on(request, tmp_path_factory) as running:
        yield running


@pytest.fixture
def client(server, person):
    with calling(server, subjects=[person]) as made:
        yield made


def ok(answer):
    assert answer.is_success, answer.text
    return answer.json()


def remembered(client, text):
    return ok(client.post("turns/remember", json={"text": text}))


@pytest.mark.parametrize(
    "path",
    [
        "beliefs?asof=2020-01-01",
        "decisions?outcom=admit",
        "events?type=memory.*",
        "consent?x=",
        "jobs?a=1",
    ],
)
def test_a_query_that_is_not_known_is_refused(server, person, path):
    with calling(server, role="admin", subjects=None, consent=None) as admin:
        refused = admin.get(path)
        assert refused.status_code == 422, refused.text
        asked = refused.json()["detail"]
        assert asked.startswith("The query may have ")
        assert "asof" not in asked
        assert ok(admin.get("as-of", params={"moment": "1"}))["position"] == 1


def test_a_body_where_none_is_taken_is_refused(server, person):
    with calling(server, role="admin", subjects=[person], consent=None) as admin:
        for basis in ("contract", "consent"):
            ok(admin.post("consent", json={"basis": basis}))
        memory = remembered(admin, "I live in Lisbon.")["decisions"][0]["memory_id"]
        bases = ok(admin.get("consent"))["items"]
        for method, path, sent in (
            ("DELETE", "consent", {"basis": "contract"}),
            ("DELETE", f"memories/{memory}", {"note": "gone"}),
            ("POST", "proofs/checkpoint", {"at": 1}),
            ("GET", "beliefs", {"as_of": "1"}),
            ("GET", f"memories/{memory}/explanation", {"proof": True}),
        ):
            refused = admin.request(method, path, json=sent)
            assert refused.status_code == 422, (path, refused.text)
            assert refused.json()["detail"].startswith("This takes no body. The query may have ")
        assert refused.json()["detail"].endswith(" have as_of, proof.")
        assert ok(admin.get("consent"))["items"] == bases
        assert ok(admin.request("GET", f"memories/{memory}", json={}))["value"] == "Lisbon"
        ok(admin.request("GET", "beliefs", content=iter([b""])))
        ok(admin.delete("consent", params={"basis": "contract"}))
        assert [each["basis"] for each in ok(admin.get("consent"))["items"]] == ["consent"]


# Saying


def test_a_turn_is_a_job_until_it_is_decided(client):
    answer = client.post("turns", json={"content": "I live in Lisbon."})
    assert answer.status_code == 201
    assert answer.json()["pending"] is True
    where = answer.headers["location"].removeprefix("/v1/")
    job = ok(client.get(where, params={"wait": 20}))
    assert job["state"] == "extracted"
    assert [each["claim"] for each in job["decisions"]] == ["User lives in Lisbon"]
    turn = ok(client.get(f"turns/{answer.json()['turn_id']}"))
    assert turn["marked"] == "⟦I live in Lisbon⟧(1)."
    many = {"turns": [{"content": "I use pytest."}, {"content": "I like tea."}]}
    assert len(ok(client.post("turns/batch", json=many))["items"]) == 2


@pytest.mark.parametrize("path", ["turns", "turns/remember", "memories"])
def test_an_idempotency_key_does_it_once(client, server, person, path):
    sent = {
        "turns": {"content": "I live in Lisbon."},
        "turns/remember": {"text": "I live in Lisbon."},
        "memories": {"value": "red", "attribute": "colour"},
    }[path]
    key = {"Idempotency-Key": "once"}
    one, two = (ok(client.post(path, json=sent, headers=key)) for _ in range(2))
    ids = [(each.get("receipt") or each)["turn_id"] for each in (one, two)]
    assert ids[0] == ids[1]
    with calling(server, "another", subjects=[person]) as other:
        third = ok(other.post(path, json=sent, headers=key))
        assert (third.get("receipt") or third)["turn_id"] != ids[0], "another token's key"
    missing = ok(client.post(path, json=sent))
    assert (missing.get("receipt") or missing)["turn_id"] != ids[0]


def test_other_writes_repeated_change_nothing_more(server, person):
    with calling(server, subjects=[person], role="admin", consent=None) as client:
        grant = {"basis": "consent"}
        ids = {ok(client.post("consent", json=grant))["grant_id"] for _ in range(2)}
        assert len(ids) == 1
        memory = remembered(client, "I live in Lisbon.")["decisions"][0]["memory_id"]
        assert ok(client.delete(f"memories/{memory}"))["became"]["what"] == "revoked"
        again, asked = client.delete(f"memories/{memory}"), client.get(f"memories/{memory}")
        assert again.status_code == asked.status_code == 404
        assert again.json()["detail"] == asked.json()["detail"]
        assert ok(client.get("beliefs"))["items"] == []


# Asking


def test_beliefs_now_as_of_and_valid_at(client):
    first = remembered(client, "I live in Lisbon.")["receipt"]
    time.sleep(0.01)
    middle = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 3_600))
    remembered(client, "I moved to Porto.")

    def texts(**query):
        return [each["text"] for each in ok(client.get("beliefs", params=query))["items"]]

    assert texts() == ["User moved to Porto"]
    decided = ok(client.get("decisions"))["items"][0]["position"]
    assert texts(as_of=decided + 1) == ["User lives in Lisbon"]
    assert texts(as_of=first["position"] - 1) == []
    assert texts(valid_at=middle) == []
    belief = ok(client.get("beliefs"))["items"][0]
    versions = ok(client.get(f"beliefs/{belief['belief_id']}/history"))["items"]
    assert versions[0]["value"] == "Lisbon"
    assert versions[-1]["value"] == "Porto"
    why = ok(client.get(f"memories/{belief['memory_id']}/explanation"))
    assert why["decision"]["reason"] == "truth.change"
    changes = ok(client.get("diff", params={"start": first["position"]}))["changes"]
    assert {each["what"] for each in changes} >= {"added"}
    found = ok(client.post("search", json={"query": "where is home?"}))
    assert found["results"][0]["text"] == "User moved to Porto"
    made = ok(client.post("context", json={"query": "home", "format": "text"}))
    assert "Porto" in made["content"]


def test_who_asks_of_one_person_does_not_hear_how_long_the_log_is(server, client, person):
    made = remembered(client, "I live in Lisbon.")["decisions"][0]
    later = 10**11
    for path in (
        "beliefs",
        "decisions",
        f"beliefs/{made['belief_id']}/history",
        f"memories/{made['memory_id']}/explanation",
    ):
        told = ok(client.get(path, params={"as_of": later}))
        assert "Lisbon" in json.dumps(told), path
    assert ok(client.get("diff", params={"start": later, "end": later}))["changes"] == []
    for path in ("search", "context"):
        for when in (later, str(later)):
            asked = {"query": "home", "as_of": when}
            assert "Lisbon" in client.post(path, json=asked).text, path
        asked = {"query": "home", "as_of": 0}
        assert "Lisbon" not in client.post(path, json=asked).text, path
    with calling(server, "root", role="admin", subjects=None) as everybody:
        answer = everybody.get("beliefs", params={"subject": person, "as_of": later})
        assert (answer.status_code, answer.json()["code"]) == (422, "InvalidQuery")


def test_an_etag_says_that_beliefs_are_as_they_were(client):
    remembered(client, "I live in Lisbon.")
    first = client.get("beliefs")
    same = client.get("beliefs", headers={"If-None-Match": first.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")
    weak = {"If-None-Match": f'"x", W/{first.headers["etag"]}'}
    assert client.get("beliefs", headers=weak).status_code == 304
    remembered(client, "I use pytest.")
    changed = client.get("beliefs", headers={"If-None-Match": first.headers["etag"]})
    assert changed.status_code == 200
    assert changed.headers["etag"] != first.headers["etag"]


def test_lists_come_in_pages_and_as_csv(client):
    values = ["red", "=1+1", 'a,"b"\nc', "-5", "blue"]
    sent = [{"value": each, "attribute": f"number {n}"} for n, each in enumerate(values)]
    ok(client.post("memories/batch", json={"memories": sent}))
    first = ok(client.get("beliefs", params={"limit": 3}))
    rest = ok(client.get("beliefs", params={"limit": 3, "after": first["next"]}))
    assert [each["value"] for each in first["items"] + rest["items"]] == values
    assert rest["next"] is None
    wanted = {"type": "fact", "limit": 4}
    answer = client.get("beliefs", headers={"Accept": "text/csv"}, params=wanted)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    further = client.get(f"beliefs{answer.links['next']['url']}", headers={"Accept": "text/csv"})
    assert [each["value"] for each in csv.DictReader(io.StringIO(further.text))] == ["blue"]
    assert "next" not in further.links
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    told = ok(client.get("beliefs", params={"limit": 4}))["items"]
    assert [each["value"] for each in rows] == ["red", "'=1+1", 'a,"b"\nc', "'-5"]
    assert list(rows[0]) == list(told[0])
    assert json.loads(rows[0]["evidence"]) == told[0]["evidence"]
    assert float(rows[0]["confidence"]) == told[0]["confidence"]
    either = {"Accept": "text/csv;q=0.5, application/json"}
    assert client.get("beliefs", headers=either).headers["content-type"] == "application/json"


def test_what_tells_of_everybody_comes_as_csv_too(server, person):
    def rows(path, **query):
        answer = everybody.get(path, headers={"Accept": "text/csv"}, params=query)
        assert answer.headers["content-type"] == "text/csv; charset=utf-8", answer.text
        return list(csv.DictReader(io.StringIO(answer.text))), answer.links

    with calling(server, role="admin", subjects=None) as everybody:
        for town in ("Lisbon", "Porto", "Lisbon", "Porto", "Lisbon"):
            said = {"subject": person, "text": f"I moved to {town}."}
            ok(everybody.post("turns/remember", json=said))
        known, found, after = ok(everybody.get("subjects"))["subjects"], [], {}
        while True:
            page, links = rows("subjects", limit=1, **after)
            found += page
            if "next" not in links:
                break
            after = {"after": parse_qs(urlsplit(links["next"]["url"]).query)["after"][0]}
        assert [each["subject"] for each in found] == [each["subject"] for each in known]
        assert list(found[0]) == list(known[0])
        [mine] = [each for each in found if each["subject"] == person]
        assert (int(mine["turns"]), mine["held"]) == (5, "false")

        told = ok(everybody.get("conflicts/loops", params={"subject": person}))["items"]
        [loop], _ = rows("conflicts/loops", subject=person)
        assert (loop["belief_id"], loop["attribute"]) == (told[0]["belief_id"], "home.location")
        assert json.loads(loop["values"]) == told[0]["values"]

        policy = ok(everybody.get("policies/default"))
        old = str(policy["thresholds"]["default"])
        changed = policy | {"thresholds": policy["thresholds"] | {"default": 0.55}}
        digest = ok(everybody.post("policies", json={"policy": changed}))["digest"]
        [row], _ = rows(f"policies/{digest}/diff", after="default")
        assert row == {"field": "thresholds.default", "before": "0.55", "after": old}
        ok(everybody.post("policies", json={"policy": policy}))


def test_beliefs_are_filtered(client):
    sent = [
        {"value": str(n), "attribute": f"thing {n}", "metadata": {"n": n % 2}} for n in range(4)
    ]
    ok(client.post("memories/batch", json={"memories": sent}))
    found = ok(client.get("beliefs", params={"metadata": '{"n": 1}', "type": "fact"}))["items"]
    assert [each["value"] for each in found] == ["1", "3"]
    assert (
        ok(client.get("beliefs", params={"metadata": '{"n": 1}', "topic": "work"}))["items"] == []
    )
    for wrong in ("{", "[]", "7"):
        assert client.get("beliefs", params={"metadata": wrong}).status_code == 422
    assert client.get("beliefs", params={"type": "fcat"}).status_code == 422
    assert client.get("decisions", params={"reason": "truth.nwe"}).status_code == 422


def test_what_the_gate_withholds_leaves_by_no_answer(server, client, person):
    """Refused for want of a basis: nobody is told the words, of whatever role."""
    remembered(client, "I live in Lisbon. I have asthma.")
    for role in ("agent", "admin"):
        with calling(server, role, role=role, subjects=[person]) as asking:
            for path in ("beliefs", "decisions", "diff", "reviews", "conflicts"):
                assert "asthma" not in asking.get(path).text, (role, path)
            for path, sent in {
                "search": {"query": "what illness?"},
                "context": {"query": "what illness?"},
                "why-not": {"claim": "User has diabetes"},
            }.items():
                assert "asthma" not in asking.post(path, json=sent).text, (role, path)
            decided = ok(asking.get("decisions"))["items"]
            assert None in [each["claim"] for each in decided]
            for each in decided[-1:]:
                for path in (
                    f"decisions/{each['decision_id']}", f"decisions/{each['decision_id']}/refusal",
                    f"turns/{each['turn_id']}", f"turns/{each['turn_id']}/job",
                ):  # fmt: skip
                    assert "asthma" not in asking.get(path).text, (role, path)
            events = asking.get("events", params={"bodies": True, "limit": 1_000})
            assert "asthma" not in events.text, role
    assert "asthma" in server.memory.turn(decided[0]["turn_id"]).content


def test_a_reviewer_settles_what_waits_and_what_is_contested(server, person):
    with calling(server, "lea", role="admin", subjects=[person]) as client:
        remembered(client, "I have asthma.")
        [waits] = ok(client.get("reviews"))["items"]
        written = ok(client.post(f"reviews/{waits['decision_id']}", json={"approve": True}))
        assert written["memory_id"]
        assert ok(client.get(f"memories/{written['memory_id']}"))["value"]
        remembered(client, "I live in Lisbon.")
        contested = {"content": "I live in Porto.", "ask": True}
        job = client.post("turns", json=contested).headers["location"].removeprefix("/v1/")
        ok(client.get(job, params={"wait": 20}))
        [conflict] = ok(client.get("conflicts"))["items"]
        path = f"conflicts/{conflict['belief_id']}/resolution"
        [settled] = ok(client.post(path, json={"choose": "Porto"}))["items"]
        assert settled["value"] == "Porto"
        assert ok(client.get("conflicts"))["items"] == []


def test_who_is_for_several_people_says_whom_they_mean(server, person):
    with calling(server, "both", role="admin", subjects=[person, f"{person}-too"]) as client:
        answer = client.get("beliefs")
        assert (answer.status_code, answer.json()["code"]) == (422, "InvalidQuery")
        assert "say whom you mean" in answer.json()["detail"]


def test_accounts_are_given_to_who_runs_it(server, person):
    with calling(server, "root", role="admin", subjects=None) as client:
        said = {"subject": person}
        ok(client.post("turns/remember", json=said | {"text": "I live in Lisbon."}))
        assert ok(client.get("status"))["position"] > 1
        assert person in client.get("subjects", params={"limit": 1_000}).text
        preview = ok(client.post("erasures/preview", json=said))
        assert preview["turns"] == 1
        exported = ok(client.post("exports/person", json=said))
        jsonschema.validate(exported, ok(client.get("exports/schema")))
        lines = client.post("exports/events", json={"after": 5}).text.splitlines()
        assert [json.loads(each)["position"] for each in lines] == list(range(6, len(lines) + 6))
        assert ok(client.post("proofs/verification", json={}))["problem"] is None
        proof = ok(client.get("proofs/inclusion/3"))
        assert proof["format"] == "beliefledger.inclusion.v1"
        for none in ("0", "99999"):
            answer = client.get(f"proofs/inclusion/{none}")
            assert (answer.status_code, answer.json()["code"]) == (404, "UnknownMemory")
        size = int(ok(client.post("proofs/checkpoint"))["size"])
        ok(client.get("proofs/consistency", params={"old": size}))
        assert ok(client.get("audit/counts"))["adds_up"] is True
        assert ok(client.get("audit/checklist", params={"only": "write"}))["lines"]
        decision = ok(client.get("decisions", params=said))["items"][0]["decision_id"]
        assert ok(client.post(f"audit/replays/{decision}"))["verdict"] == "same"
        ran = ok(client.post("jobs/expiry/runs"))
        assert ran["outcome"] == "done"
        assert "expiry" in client.get("jobs").text
        assert ok(client.get("policies/current"))["name"]
        policy = {"policy": {"name": "the same", "thresholds": {"default": 0.5}}}
        assert len(ok(client.post("policies", json=policy))["digest"]) == 64
        kind = {"name": "medication", "description": "What somebody takes.", "slot": "content"}
        added = client.post("types", json={"type": kind})
        assert added.status_code in (200, 422), added.text
        erased = ok(client.post("erasures", json=said))
        paper = ok(client.get(f"certificates/{erased['erasure']}"))
        assert paper["format"] == "beliefledger.certificate.v2"
        told = ok(client.get("audit/calls", params={"limit": 1_000}))["items"]
        assert {"erase", "certificate"} <= {each["tool"] for each in told}


# What goes wrong


def recorded(server, client):
    digest = server.memory.tokens.principal(client.headers["authorization"][7:]).token
    return [
        (each.facts["door"], each.facts["tool"], each.facts["outcome"])
        for each in server.memory._log.read()
        if each.type == ToolCalled.NAME and each.facts["token_digest"] == digest
    ]


def test_decisions_are_made_again_by_a_policy_that_is_sent(server, client, person):
    decision = remembered(client, "I live in Lisbon.")["decisions"][0]["decision_id"]
    strict = {"policy": {"name": "strict", "sources": {"stated": 0.3}}}
    with calling(server, role="auditor", subjects=None, consent=None) as auditor:
        for path in ("audit/replays", f"audit/replays/{decision}"):
            wrong = auditor.post(path, json={"policy": "name: strict"})
            assert (wrong.status_code, "policy: " in wrong.text) == (422, True)
            assert auditor.post(path, json={"polcy": strict["policy"]}).status_code == 422
            assert auditor.post(path, json={"policy": {"sources": 1}}).status_code == 422
        replayed = ok(auditor.post(f"audit/replays/{decision}", json=strict))
        assert (replayed["verdict"], replayed["again"]["outcome"]) == ("different", "quarantine")
        differing = ok(auditor.post("audit/replays", json=strict))["differing"]
        assert decision in {each["decision_id"] for each in differing}
        for nothing in ({}, {"policy": None}):
            assert ok(auditor.post("audit/replays", json=nothing))["different"] == 0


def test_errors_are_problems_with_a_remedy_and_without_what_was_sent(server, client):
    undated = {"content": "", "said_at": SECRET}
    for method, path, given, status, code, outcome in (
        ("POST", "turns", {"json": {"content": 3, SECRET: 1}}, 422, "InvalidQuery", INVALID),
        ("POST", "turns", {"content": f'{{"{SECRET}'}, 400, "InvalidQuery", INVALID),
        ("POST", "turns", {"content": b"\xff" + SECRET.encode()}, 400, "CallerMistake", INVALID),
        ("POST", "turns", {"json": undated}, 422, "InvalidTurn", INVALID),
        ("GET", "beliefs", {"params": {"as_of": SECRET}}, 422, "InvalidQuery", INVALID),
        ("GET", "beliefs", {"params": {"limit": SECRET}}, 422, "InvalidQuery", INVALID),
        ("GET", "beliefs", {"params": {"subject": SECRET}}, 403, "NotPermitted", REFUSED),
        ("GET", f"memories/{SECRET}", {}, 404, "UnknownMemory", "MEMORY_NOT_FOUND"),
        ("GET", f"{SECRET}", {}, 404, "CallerMistake", "UNKNOWN_TOOL"),
        ("PUT", "beliefs", {"content": SECRET}, 405, "CallerMistake", "UNKNOWN_TOOL"),
        ("POST", "policies", {"json": {"policy": {SECRET: 1}}}, 403, "NotPermitted", REFUSED),
    ):  # fmt: skip
        headers = {"Content-Type": "application/json"}
        answer = client.request(method, path, headers=headers, **given)
        problem = answer.json()
        assert answer.headers["content-type"] == "application/problem+json"
        assert (answer.status_code, problem["status"], problem["code"]) == (status, status, code), (
            path
        )
        assert problem["detail"]
        assert problem["remedy"]
        assert SECRET not in answer.text
        assert recorded(server, client)[-1][2] == outcome
    assert {each[0] for each in recorded(server, client)} == {"http"}


FIELD = {"claim": "", "clam": ""}
ITEM = {"turns": [{"content": "a"}, {"content": 5}]}
ABOVE = {"turns": [], "content": "a"}
ITEM_FIELD = {"turns": [{"content": "a", "contents": "b"}]}
NOTHING = {"turns": [{"content": "a"}, {"content": ""}]}


@pytest.mark.parametrize(
    ("path", "sent", "says"),
    [
        ("why-not", {"json": FIELD}, "The body may have claim, limit, subject, and has more."),
        ("why-not", {"json": []}, "The body is no JSON object."),
        ("why-not", {"json": {"claim": 5}}, "claim: Input should be a valid string."),
        ("why-not", {}, "The body is missing: send a JSON object."),
        ("why-not", {"content": "{}"}, "The body is not sent as JSON: set Content-Type: "),
        ("turns/batch", {"json": ITEM}, "turns[1].content: Input should be a valid string."),
        ("turns/batch", {"json": ABOVE}, "The body may have turns, and has more."),
        ("turns/batch", {"json": NOTHING}, "turn 2 of 2: content is empty."),
        ("turns/batch", {"json": ITEM_FIELD}, "turns[0] may have agent, ask, content, "),
    ],
)
def test_what_is_wrong_with_a_body_is_told(client, path, sent, says):
    refused = client.post(path, **sent)
    assert (refused.status_code, refused.json()["detail"][: len(says)]) == (422, says)


def test_a_refusal_names_the_verb_whatever_was_sent(client):
    refused = client.post("consent", json={"basis": "consent", "note": "agent"})
    assert refused.status_code == 403
    says = "The role agent may not call consent.grant. These may: reviewer, admin."
    assert refused.json()["detail"] == says


def test_too_much_too_often_or_nobodys_gets_no_further(server, tmp_path):
    with (
        open_memory(tmp_path) as memory,
        served(memory, max_body_bytes=2_000, calls_per_minute=4) as small,
    ):
        with calling(small) as client:
            large = {"content": "x" * 3_000}
            is_a_problem(client.post("turns", json=large), 413, "InvalidTurn")
            pieces = (b"x" * 500 for _ in range(6))  # whose length nobody says beforehand
            kind = {"Content-Type": "application/json"}
            is_a_problem(client.post("turns", content=pieces, headers=kind), 413, "InvalidTurn")
            codes = [client.get("beliefs").status_code for _ in range(3)]
            assert codes == [200, 200, 200]
            is_a_problem(client.get("beliefs"), 429, "Retryable")
        is_a_problem(httpx2.get(f"{small.root}/v1/beliefs"), 401, "NotPermitted")


def is_a_problem(answer, status, code):
    """It has all that the document says of one: what went wrong, and what to do."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = {name: each for name, each in answer.json().items() if name != "error"}
    told = Problem.model_validate(problem)
    assert (told.status, told.code) == (status, code)
    assert told.type == f"urn:beliefledger:problem:{code}"
    assert told.title
    assert told.detail
    assert told.remedy


def test_what_no_door_answers_is_a_problem_too(server, client, monkeypatch):
    headers = dict(client.headers)
    for method, path, status, code in (
        ("GET", "nothing", 404, "CallerMistake"),
        ("POST", "healthz", 405, "CallerMistake"),
        ("PUT", "mcp", 405, "CallerMistake"),
        ("GET", "metrics", 403, "NotPermitted"),
    ):
        answer = httpx2.request(method, f"{server.root}/{path}", headers=headers)
        is_a_problem(answer, status, code)

    def refuse():
        raise BackendUnavailable("no")

    with monkeypatch.context() as patch:
        patch.setattr(server.memory.tokens, "_look", refuse)
        time.sleep(1.1)  # a token is known without a look for a moment
        is_a_problem(client.get("beliefs"), 503, "BackendUnavailable")
    assert client.get("beliefs").status_code == 200


def test_what_cannot_be_put_on_record_is_not_answered(server, client, person, monkeypatch):
    remembered(client, "I live in Lisbon.")
    with monkeypatch.context() as patch:

        def refuse(_call):
            raise BackendUnavailable("no")

        patch.setattr(server.memory.tokens, "record_call", refuse)
        answer = client.get("beliefs")
    assert answer.status_code == 503
    assert "Lisbon" not in answer.text


def test_the_document_of_the_api_is_openapi_and_needs_no_token(server):
    told = httpx2.get(f"{server.root}/v1/openapi.json").json()
    assert told["openapi"].startswith("3.1")
    schemas = told["components"]["schemas"]
    assert {"BeliefAnswer", "DecisionAnswer", "Explanation", "Problem"} <= schemas.keys()
    assert told["security"] == [{"token": []}]
    assert told["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    for path, methods in told["paths"].items():
        for of in methods.values():
            assert of["x-verbs"], path
            assert of["description"], path
            named = {each["name"]: each for each in of["parameters"]}
            assert all(each["description"] for each in named.values()), path
            assert ("If-None-Match" in named) == ("304" in of["responses"]), path
            for status, answer in of["responses"].items():
                if status[0] in "45":
                    assert list(answer["content"]) == ["application/problem+json"], (path, status)
                    [kind] = answer["content"].values()
                    assert kind["schema"] == {"$ref": "#/components/schemas/Problem"}, path


# Events


def test_the_catalogue_of_events_is_served(client, auditor):
    remembered(client, "I live in Lisbon.")
    answer = auditor.get("exports/schema/events", params={"types": "turn.recorded.v2"})
    schema = ok(answer)
    assert schema["$id"] == "urn:beliefledger:event:turn.recorded.v2"
    [event] = ok(auditor.get("events", params={"types": "turn.recorded.*"}))["items"]
    told = {name: each for name, each in event.items() if name != "withheld"}
    jsonschema.validate(told, schema)
    known = {"If-None-Match": answer.headers["etag"]}
    again = auditor.get("exports/schema/events?types=turn.recorded.v2", headers=known)
    assert again.status_code == 304
    whole = ok(auditor.get("exports/schema/events"))
    assert {each["$ref"] for each in whole["oneOf"]} >= {"#/$defs/request.ended.v1"}
    assert auditor.get("exports/schema/events?types=nonsense").status_code == 422


def test_the_asyncapi_document_of_the_ways_out_is_served(auditor):
    answer = auditor.get("exports/schema/asyncapi")
    assert ok(answer) == json.loads(asyncapi.as_text())
    known = {"If-None-Match": answer.headers["etag"]}
    assert auditor.get("exports/schema/asyncapi", headers=known).status_code == 304


def lines_of(answer):
    """(id, event, data) of a stream; comments with their text as the event."""
    said = {}
    for line in answer.iter_lines():
        if line:
            name, _, value = line.partition(": ")
            said[name] = value
        elif said:
            yield said
            said = {}


STREAM = {"Accept": "text/event-stream"}


@pytest.fixture
def auditor(server, person):
    with calling(
        server, f"auditor of {person}", role="auditor", subjects=[person], consent=None
    ) as made:
        yield made


def test_events_are_told_in_pages_and_filtered(client, auditor, person):
    remembered(client, "I live in Lisbon. What if I were a doctor?")
    page = ok(auditor.get("events", params={"limit": 3}))
    names = [each["type"] for each in page["items"]]
    while not page["end"]:
        page = ok(auditor.get("events", params={"limit": 3, "after": page["position"]}))
        names += [each["type"] for each in page["items"]]
    assert names[0] == "subject.registered.v1"
    assert "memory.admitted.v2" in names
    query = {"types": "gate.*", "outcome": "quarantine", "bodies": True}
    [event] = ok(auditor.get("events", params=query))["items"]
    assert event["facts"]["reason"] == "truth.hypothetical"
    assert auditor.get("events", params={"types": "nonsense"}).status_code == 422
    assert auditor.get("events", params={"subject": "somebody"}).status_code == 403
    assert client.get("events").status_code == 403, "an agent follows nothing"


def test_a_stream_goes_on_and_an_erasure_leaves_a_tombstone(
    server, client, auditor, person, monkeypatch
):
    monkeypatch.setattr(feed, "HEARTBEAT_SECONDS", 0.2)
    remembered(client, "I live in Lisbon.")
    query = {"types": ["turn.recorded.*", "subject.erased.*"], "bodies": True}
    with auditor.stream("GET", "events", params=query, headers=STREAM, timeout=10) as answer:
        told = lines_of(answer)
        said = [next(each for each in told if "data" in each)]
        first = json.loads(said[-1]["data"])
        assert first["body"]["content"] == "I live in Lisbon."
        assert (said[-1]["id"], said[-1]["event"]) == (str(first["position"]), first["type"])
        begun = time.monotonic()
        threading.Timer(
            0.1, lambda: client.post("turns", json={"content": "I use pytest."})
        ).start()
        second = next(each for each in told if "data" in each)
        assert time.monotonic() - begun < 5
        assert first["position"] < int(second["id"])
        beat = next(told)
        assert "data" not in beat
        assert int(beat["id"]) >= int(second["id"])
    where = client.post("turns", json={"content": "I like tea."}).headers["location"]
    ok(client.get(where.removeprefix("/v1/"), params={"wait": 20}))
    after = {"Last-Event-ID": second["id"]}
    ref = first["subject_ref"]
    with calling(server, "dpo", role="auditor", subjects=None) as all_seeing:
        server.memory.erase(person, by="dpo")
        query = {"types": "turn.recorded.*", "subject_ref": ref, "bodies": True}
        [third] = ok(all_seeing.get("events", params=query, headers=after))["items"]
        assert (third["body"], third["destroyed"], third["subject"]) == (None, True, None)
        assert third["subject_ref"] == ref, "by which a subscriber knows whom to forget"
        query = {"types": "subject.erased.*", "subject_ref": ref}
        [erased] = ok(all_seeing.get("events", params=query))["items"]
        assert erased["subject_ref"] == ref
    with auditor.stream("GET", "events", headers=STREAM | after, timeout=10) as answer:
        kinds = {each["event"] for each in _until(lines_of(answer), "subject.erased.v2")}
    assert "memory.admitted.v2" in kinds


def _until(told, kind):
    for each in told:
        if "event" in each:
            yield each
            if each["event"] == kind:
                return


def test_a_stream_ends_with_its_token(server, client, person):
    with calling(server, "passing", role="auditor", subjects=[person], consent=None) as auditor:
        token = server.memory.tokens.principal(auditor.headers["authorization"][7:])
        with auditor.stream("GET", "events", headers=STREAM, timeout=20) as answer:
            told = lines_of(answer)
            next(told)
            server.memory.tokens.revoke(token.token_id, by="lea")
            begun = time.monotonic()
            list(told)
            assert time.monotonic() - begun < 10, "it ends by itself"
    again = httpx2.get(f"{server.root}/v1/events", headers=dict(auditor.headers))
    assert again.status_code == 401


def test_whom_nobody_knows_yet_is_told_of_from_their_first_event(server, person):
    later = f"later {person}"
    with calling(server, "watcher", role="admin", subjects=None, consent=None) as admin:
        after = ok(admin.get("events", params={"limit": 1_000, "subject": later}))["position"]
        asked = {"subject": later, "after": after, "types": "turn.*"}
        with admin.stream("GET", "events", params=asked, headers=STREAM) as answer:
            begun = lines_of(answer)
            assert next(begun)["id"] == str(after)
            for name in (person, later):
                with calling(server, f"agent of {name}", subjects=[name]) as agent:
                    remembered(agent, "I live in Lisbon.")
            told = next(each for each in begun if "data" in each)
        assert json.loads(told["data"])["subject"] == later
        page = ok(admin.get("events", params=asked))
        assert [each["subject"] for each in page["items"]] == [later]


def test_a_position_past_the_end_is_refused(server):
    with calling(server, "watcher", role="admin", subjects=None, consent=None) as admin:
        past = {"after": 2**50}
        page = admin.get("events", params=past)
        stream = admin.get("events", headers=STREAM | {"Last-Event-ID": str(2**50)})
        for answer in (page, stream):
            assert answer.status_code == 422
            assert answer.json()["code"] == "InvalidQuery"
            assert "restored from a backup" in answer.json()["detail"]
    with pytest.raises(InvalidQuery, match="is past it"):
        server.memory.subscribe(2**50)


def test_an_erasure_of_nothing_named_erases_nobody(server, person):
    with calling(server, role="admin", subjects=None, consent="consent") as admin:
        ok(admin.post("turns/remember", json={"text": "I live in Lisbon.", "subject": person}))
        for path in ("erasures", "erasures/preview"):
            refused = admin.post(path, json={"subject": person, "memory": None})
            assert refused.status_code == 422, refused.text
        assert ok(admin.get("beliefs", params={"subject": person}))["items"]


def test_who_asks_for_somebody_erased_by_name_is_told_by_what_to_ask(server, person):
    with calling(server, role="admin", subjects=None, consent="consent") as admin:
        ok(admin.post("turns/remember", json={"text": "I live in Lisbon.", "subject": person}))
        [first] = ok(admin.get("events", params={"subject": person, "limit": 1}))["items"]
        ok(admin.post("erasures", json={"subject": person}))
        refused = admin.get("events", params={"subject": person})
        assert refused.status_code == 403
        assert "subject_ref" in refused.json()["detail"]
        kept = {"subject_ref": first["subject_ref"], "types": "turn.recorded.*"}
        [told] = ok(admin.get("events", params=kept))["items"]
        assert told["destroyed"]


# How the server is


def test_health_and_metrics_tell_of_the_ledger_and_of_nobody(server, client, person):
    assert httpx2.get(f"{server.root}/healthz").json() == {"status": "ok"}
    ready = httpx2.get(f"{server.root}/readyz")
    assert ready.status_code == 200, ready.text
    assert set(ready.json()["checks"]) == {"lag", "tree", "vault", "disk"}
    remembered(client, "I live in Lisbon.")
    ok(client.post("search", json={"query": "home"}))
    assert httpx2.get(f"{server.root}/metrics").status_code == 401
    mine = httpx2.get(f"{server.root}/metrics", headers=dict(client.headers))
    assert mine.status_code == 403
    token = server.token("prometheus", role="operator", subjects=None, consent=None)
    answer = httpx2.get(f"{server.root}/metrics", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200
    assert person not in answer.text
    assert "Lisbon" not in answer.text
    told = {each.name: each for each in text_string_to_metric_families(answer.text)}
    assert {
        "beliefledger_appends", "beliefledger_decisions", "beliefledger_view_lag",
        "beliefledger_consumer_lag", "beliefledger_search_seconds", "beliefledger_queue",
        "beliefledger_model_tokens", "beliefledger_erasures_open", "beliefledger_calls",
    } <= told.keys()  # fmt: skip
    appends = told["beliefledger_appends"].samples[0].value
    assert 0 < appends <= server.memory.status().position
    searches = {each.name: each.value for each in told["beliefledger_search_seconds"].samples}
    assert searches["beliefledger_search_seconds_count"] >= 1
    admitted = {
        each.labels["outcome"]: each.value for each in told["beliefledger_decisions"].samples
    }
    assert admitted["admit"] >= 1


def test_unready_says_what_is_wrong(server, monkeypatch):
    on_disk = isinstance(server.memory.place, Path)
    monkeypatch.setattr("beliefledger.tools.server.api.health.LEAST_FREE", 1 << 62)
    time.sleep(1.1)  # an answer is given again for a second
    answer = httpx2.get(f"{server.root}/readyz")
    assert answer.status_code == (503 if on_disk else 200), answer.text
    assert answer.json()["stopped"] == (["disk"] if on_disk else [])
    if not on_disk:  # docs/http.md says that it is not seen from here
        assert answer.json()["checks"]["disk"] == {"ok": True}
    time.sleep(1.1)


def test_unready_names_each_part_that_is_broken(tmp_path, monkeypatch):
    root = tmp_path / "ledger"
    monkeypatch.delenv("BELIEFLEDGER_SIGNING_KEY_FILE", raising=False)
    with open_memory(root, consent="consent") as memory, served(memory) as server:
        server.memory.remember("ana", "I live in Lisbon.")
        server.memory.proofs.checkpoint()

        def stopped():
            time.sleep(1.1)  # an answer is given again for a second
            answer = httpx2.get(f"{server.root}/readyz").json()
            broken = {name for name, each in answer["checks"].items() if not each["ok"]}
            assert broken == set(answer["stopped"])
            assert answer["status"] == ("unready" if broken else "ready")
            return broken

        assert stopped() == set()
        keys = root / "proofs" / "keys"
        was = keys.read_bytes()
        keys.write_text("no key")
        assert stopped() == {"tree"}
        shutil.rmtree(root / "proofs")  # which the log leads to: it is made anew
        assert stopped() == set()
        assert server.memory.proofs.signing_key().here
        server.memory.proofs.checkpoint()
        assert keys.read_bytes() == was
        with (root / "keys.db").open("r+b") as file:
            file.write(b"x" * 32_768)
        assert stopped() == {"ledger", "vault"}


# Questions by id


def test_a_question_by_id_is_answered_as_by_fastapi(client, monkeypatch):
    made = ok(client.post("memories", json={"value": "red", "attribute": "colour"}))
    memory, decision = made["memory_id"], made["decision_id"]
    for path in (
        f"memories/{memory}",
        f"memories/{memory}/explanation",
        f"beliefs/{made['belief_id']}/history",
        f"decisions/{decision}",
        f"turns/{ok(client.get(f'memories/{memory}'))['evidence'][0]['turn_id']}",
        "memories/nothing",
        "memories/%20",
        f"memories/{'a' * 201}",
        "types/fact",
    ):
        straight = client.get(path)
        with monkeypatch.context() as without:
            without.setattr(Shortcuts, "find", lambda *_: None)
            read = client.get(path)
        assert (straight.status_code, straight.text) == (read.status_code, read.text)
        varying = {"x-request-id", "date"}
        told = [dict(each.headers.items()) for each in (straight, read)]
        assert (
            len({json.dumps({n: v for n, v in each.items() if n not in varying}) for each in told})
            == 1
        )
    tag = client.get(f"memories/{memory}").headers["etag"]
    assert client.get(f"memories/{memory}", headers={"If-None-Match": tag}).status_code == 304


@pytest.mark.parametrize("when", ["", " "])
def test_an_empty_moment_is_no_question_about_now(client, person, when):
    made = remembered(client, "I live in Lisbon.")["decisions"][0]
    for path, name in (
        ("beliefs", "as_of"), ("decisions", "as_of"), ("diff", "start"), ("diff", "end"),
        (f"beliefs/{made['belief_id']}/history", "as_of"),
        (f"memories/{made['memory_id']}/explanation", "as_of"),
    ):  # fmt: skip
        refused = client.get(path, params={name: when})
        assert refused.status_code == 422, path
        assert refused.json()["detail"].startswith(f"{name} is empty: write 2026-03-01, ")
    for path in ("search", "context"):
        refused = client.post(path, json={"query": "home", "as_of": when})
        assert refused.status_code == 422, path
        assert client.post(path, json={"query": "home", "as_of": None}).status_code == 200
    assert client.get("beliefs", params={"valid_at": when}).status_code == 422
    assert client.get("as-of", params={"moment": when}).status_code in {403, 422}


@pytest.mark.parametrize("path", ["beliefs?type=fact&type=event", "decisions?limit=1&limit=1"])
def test_what_is_asked_twice_is_refused(server, client, path):
    refused = client.get(path)
    name = path.partition("?")[2].partition("=")[0]
    assert (refused.status_code, refused.json()["code"]) == (422, "InvalidQuery")
    assert refused.json()["detail"] == f"{name}: it is there more than once; give one."
    with calling(server, "root", role="admin", subjects=None) as everybody:
        assert everybody.get("events?types=memory.*&types=turn.*").status_code == 200


@pytest.mark.parametrize("topic", ["foo", "are", "there", "Home foods", "heal"])
def test_what_was_sent_is_left_out_where_it_is_quoted_and_nowhere_else(server, client, topic):
    server.memory.remember("ana", "I live in Lisbon.")
    policy = server.memory.policy.current.topics
    said = client.get("beliefs", params={"topic": topic}).json()["detail"]
    assert said.startswith("topic: there is no '…'; ")
    assert said.endswith(f"there are: {', '.join(policy)}.")


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_do_not_tell_how_much_is_withheld(server, client, person, limit):
    memory = server.memory
    sent = [{"value": str(n), "attribute": f"thing {n}", "topic": "pets"} for n in range(9)]
    ok(client.post("memories/batch", json={"memories": sent}))
    position = memory.status().position
    held = memory.beliefs(person)
    for each in (*held[:2], *held[3:6], *held[7:]):
        memory.revoke(each.memory_id, by="lea")
    asked = {"as_of": position, "topic": "pets", "limit": limit}
    pages, after = [], {}
    while True:
        told = ok(client.get("beliefs", params=asked | after))
        pages.append([each["value"] for each in told["items"]])
        if told["next"] is None:
            break
        after = {"after": told["next"]}
    assert pages == ([["2"], ["6"]] if limit == 1 else [["2", "6"]])
    for each in (held[2], held[6]):
        memory.revoke(each.memory_id, by="lea")
    assert ok(client.get("beliefs", params=asked)) == {"items": [], "next": None}
    versions = ok(client.get(f"beliefs/{held[0].belief_id}/history", params={"limit": 1}))
    assert versions == {"items": [], "next": None}
