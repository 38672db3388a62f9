"""Writes under an Idempotency-Key: done once, answered again, on both backends."""

from __future__ import annotations

import os

import httpx2
import pytest
from served import BACKENDS, calling, served, served_on
from stores import MASTER

from beliefledger import open_memory
from beliefledger.access.requests import KeyedRequest
from beliefledger.ledger.errors import BackendUnavailable
from beliefledger.tools.server.api.endpoint import ENDPOINTS
from beliefledger.tools.server.api.outlet import WITHHELD

KEY, REPLAYED = "Idempotency-Key", "idempotency-replayed"
KEYED = {KEY: "once"}
ONCE = {each.name for each in ENDPOINTS if each.once}
BESIDE = ("tool.called.v1", "request.begun.v1", "request.ended.v1")
"""What each call puts on record, whatever it does."""


@pytest.fixture(scope="module", params=BACKENDS)
def server(request, tmp_path_factory):
    with served_on(request, tmp_path_factory, worker=False) as running:
        yield running


def managing(server, name="root", **given):
    """With the rights of an admin over everybody, unless it is said otherwise."""
    return calling(server, name, **{"role": "admin", "subjects": None} | given)


@pytest.fixture
def client(server):
    with managing(server) as made:
        yield made


def ok(answer):
    assert answer.is_success, answer.text
    return answer.json()


def events(server):
    return [each.type for each in server.memory._log.read() if each.type not in BESIDE]


def requests_of(server, client, person):
    """For each endpoint that is done once: the method, path and body of a request that does
    something."""

    def memory(value, attribute):
        return server.memory.store(person, value, attribute=attribute).memory_id

    server.memory.consent.grant(person, "consent")
    server.memory.remember(person, "I live in Lisbon.")
    server.memory.record_turn(person, "I live in Porto.", ask=True)
    server.memory.process()
    [conflict] = server.memory.conflicts.list(person)
    server.memory.remember(person, "I have asthma.")
    [waits] = server.memory.decisions(person, waits=True, where={})[-1:]
    server.memory.record_turn(person, "I use pytest.")
    to_erase = f"{person} to erase"
    server.memory.record_turn(to_erase, "I use pytest.")
    with server.memory.consumer("index", follow=False) as consumer:
        for event in consumer:
            consumer.ack(event)
    kind = f"kind_{os.urandom(4).hex()}"
    definition = {"name": kind, "description": "What somebody takes.", "slot": "content"}
    server.memory.types.add(definition | {"name": f"{kind}_old"}, by="lea")
    said = {"subject": person}
    turns = [said | {"content": words} for words in ("I like tea.", "I like figs.")]
    turns[1]["subject"] = f"{person} too"
    stored = [{"value": "red", "attribute": "colour"}, {"value": "tea", "attribute": "drink"}]
    return {
        "record_turns": ("POST", "turns/batch", {"json": {"turns": turns}}),
        "remember": ("POST", "turns/remember", {"json": said | {"text": "I use ruff."}}),
        "process": ("POST", "turns/process", {"json": said}),
        "store": ("POST", "memories", {"json": said | stored[0]}),
        "store_many": (
            "POST", "memories/batch",
            {"json": {"memories": [said | stored[1], {"subject": f"{person} too"} | stored[1]]}},
        ),
        "update": ("PATCH", f"memories/{memory('one', 'a')}", {"json": {"importance": 0.9}}),
        "correct": (
            "POST", f"memories/{memory('two', 'b')}/corrections",
            {"json": {"words": "No, b is three.", "value": "three"}},
        ),
        "revoke": ("DELETE", f"memories/{memory('four', 'c')}", {}),
        "resolve_conflict": (
            "POST", f"conflicts/{conflict.belief_id}/resolution", {"json": {"choose": "Porto"}},
        ),
        "review": ("POST", f"reviews/{waits.decision_id}", {"json": {"approve": True}}),
        "grant_consent": ("POST", "consent", {"json": said | {"basis": "contract"}}),
        "withdraw_consent": ("DELETE", "consent", {"params": said | {"basis": "contract"}}),
        "add_type": ("POST", "types", {"json": {"type": definition}}),
        "retire_type": ("DELETE", f"types/{kind}_old", {}),
        "adopt_policy": ("POST", "policies", {"json": {"policy": {"name": kind}}}),
        "checkpoint": ("POST", "proofs/checkpoint", {}),
        "run_job": ("POST", "jobs/expiry/runs", {}),
        "erase": ("POST", "erasures", {"json": {"subject": to_erase}}),
    }  # fmt: skip


def test_every_write_is_done_once_and_answered_again(server, client, person):
    told = requests_of(server, client, person)
    for name, (method, path, given) in told.items():
        headers = {KEY: name}
        first = client.request(method, path, headers=headers, **given)
        assert first.is_success, (name, first.text)
        assert REPLAYED not in first.headers
        before = events(server)
        again = client.request(method, path, headers=headers, **given)
        assert again.status_code == first.status_code, (name, again.text)
        assert again.headers[REPLAYED] == "true", name
        answered, repeated = same(first.json()), same(again.json())
        if name == "revoke":  # its words may not be told any more
            withheld = {each for each, value in repeated.items() if value == WITHHELD}
            assert withheld == {
                "entity", "attribute", "value", "text", "type", "topic", "consent_basis",
            }  # fmt: skip
            answered |= dict.fromkeys(withheld, WITHHELD) | {"evidence": []}
        assert repeated == answered, name
        assert events(server) == before, name
    erasure = client.get("erasures", params={"limit": 1_000}).json()["items"][-1]["erasure"]
    path, sent = f"certificates/{erasure}/acknowledgements", {"consumer": "index"}
    first, again = (client.post(path, json=sent, headers=KEYED) for _ in range(2))
    assert first.json() == again.json()
    assert (REPLAYED in again.headers) is again.is_success is first.is_success is True
    assert {*told, "acknowledge"} == ONCE


def same(answer):
    """What is told again as it was: not words that may not be told any more, nor what has become of
    it since."""
    match answer:
        case dict():
            since = {"became", "recorded_to", "settled_at", "problem"}
            return {n: same(each) for n, each in answer.items() if n not in since}
        case list():
            return [same(each) for each in answer]
        case _:
            return answer


def test_a_key_is_of_one_request(server, client, person):
    said = {"subject": person, "text": "I live in Lisbon."}
    ok(client.post("turns/remember", json=said, headers=KEYED | {KEY: person}))
    before = events(server)
    for method, path, given in (
        ("POST", "turns/remember", {"json": said | {"text": "I live in Porto."}}),
        ("POST", "consent", {"json": {"subject": person, "basis": "contract"}}),
    ):
        answer = client.request(method, path, headers={KEY: person}, **given)
        assert answer.status_code == 422
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"] == "IdempotencyKeyReused"
        assert "Porto" not in answer.text
    assert events(server) == before
    turn = {"subject": person, "content": "I live in Faro."}
    first = ok(client.post("turns", json=turn, headers={KEY: f"turn {person}"}))
    other = turn | {"content": "I live in Braga."}
    reused = client.post("turns", json=other, headers={KEY: f"turn {person}"})
    assert (reused.status_code, reused.json()["code"]) == (422, "IdempotencyKeyReused")
    again = ok(client.post("turns", json=turn, headers={KEY: f"turn {person}"}))
    assert again["turn_id"] == first["turn_id"]


def test_another_principals_key_is_another(server, person):
    said = {"json": {"value": "red", "attribute": "colour"}, "headers": KEYED}
    ids = set()
    for name in ("bot", "lea", "bot"):
        with managing(server, name, role="agent", subjects=[person]) as client:
            ids.add(ok(client.post("memories", **said))["turn_id"])
    assert len(ids) == 2, "a new token of the same principal has the same keys"
    with managing(server, "bot", role="agent", subjects=[f"{person} else"]) as client:
        ids.add(ok(client.post("memories", **said))["turn_id"])
    assert len(ids) == 3, "and one for other people has others"


def test_what_was_refused_leaves_its_key_free(client, person):
    sent = {"type": {"name": "x", "description": "y", "slot": "nonsense"}}
    assert client.post("types", json=sent, headers={KEY: person}).status_code == 422
    ok(client.post("consent", json={"subject": person, "basis": "contract"}, headers={KEY: person}))


def test_one_that_is_under_way_waits_until_whoever_began_it_is_dead(server, client, person):
    principal = server.memory.tokens.principal(client.headers["authorization"][7:])
    asked = KeyedRequest(principal, "http", "grant_consent", person, "")
    server.memory.tokens.begin_request(asked, 60)
    sent = {"json": {"subject": person, "basis": "contract"}, "headers": {KEY: person}}
    answer = client.post("consent", **sent)
    assert (answer.status_code, answer.json()["code"]) == (409, "IdempotencyKeyInUse")
    assert answer.headers["retry-after"] == "1"
    begun = server.memory.tokens.begin_request(asked, 0)
    server.memory.tokens.end_request(asked, begun, None, None)
    ok(client.post("consent", **sent))


def test_an_answer_that_was_not_told_is_told_later(server, client, person, monkeypatch):
    """As when the server is gone before it answers: here the call cannot be put on record."""

    def refuse(_call):
        raise BackendUnavailable("gone")

    sent = {"json": {"subject": person, "basis": "contract"}, "headers": {KEY: person}}
    with monkeypatch.context() as patch:
        patch.setattr(server.memory.tokens, "record_call", refuse)
        assert client.post("consent", **sent).status_code == 503
    answer = client.post("consent", **sent)
    assert answer.headers[REPLAYED] == "true"
    [grant] = [each for each in server.memory.consent.list(person) if each.basis == "contract"]
    assert ok(answer)["grant_id"] == grant.grant_id


def test_nothing_is_told_again_of_somebody_who_is_erased(server, client, person):
    sent = {"json": {"subject": person, "text": "I live in Lisbon."}, "headers": {KEY: person}}
    ok(client.post("turns/remember", **sent))
    server.memory.erase(person, by="lea")
    answer = client.post("turns/remember", **sent)
    assert answer.status_code == 409, answer.text
    assert answer.json()["code"] == "IdempotencyKeyErased"
    assert "Lisbon" not in answer.text
    for each in server.memory._log.read():
        assert "Lisbon" not in str(each.facts)


def test_words_that_may_not_be_told_any_more_are_not(server, client, person):
    said = {"subject": person, "value": "red", "attribute": "colour"}
    first = ok(client.post("memories", json=said, headers={KEY: person}))
    assert "red" in first["claim"]
    server.memory.revoke(first["memory_id"], by="lea")
    again = client.post("memories", json=said, headers={KEY: person})
    assert again.headers[REPLAYED] == "true"
    assert ok(again)["decision_id"] == first["decision_id"]
    assert "red" not in again.text


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_key_outlives_the_server(backend, request, tmp_path, monkeypatch):
    place = str(tmp_path / "ledger")
    if backend == "postgres":
        monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", MASTER.key.hex())
        monkeypatch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(tmp_path / "signing.key"))
        place = request.getfixturevalue("cluster").new()
    sent = {"json": {"subject": "ana", "value": "red", "attribute": "colour"}, "headers": KEYED}
    answers = []
    with open_memory(place) as memory:
        token = memory.tokens.create("bot", by="lea", subjects=["ana"], consent="consent").token
    for _ in range(2):
        with open_memory(place) as one, open_memory(place) as two:
            with served(one, worker=False) as first, served(two, worker=False) as second:
                for server in (first, second):
                    headers = {"Authorization": f"Bearer {token}"} | KEYED
                    at = f"{server.root}/v1/memories"
                    answers.append(httpx2.post(at, json=sent["json"], headers=headers))
            assert len(one.beliefs("ana")) == 1
    assert {ok(each)["decision_id"] for each in answers} == {ok(answers[0])["decision_id"]}
    assert [REPLAYED in each.headers for each in answers] == [False, True, True, True]
