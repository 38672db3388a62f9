"""Every endpoint, by every role, for somebody else: refused, without a word, and on record."""

from __future__ import annotations

import types
import typing

import httpx2
import pytest
from clusters import lasting_place
from pydantic import BaseModel
from served import served

from beliefledger import open_memory
from beliefledger.access.roles import roles
from beliefledger.ledger.events.ops import ToolCalled
from beliefledger.tools.server.api.endpoint import ENDPOINTS, Body
from beliefledger.tools.server.api.http import PREFIX

MINE, OTHER, ELSEWHERE = "ana-of-the-matrix", "ben-of-the-matrix", "cleo-of-another-tenant"
WORDS = ("Lisbon", "bouldering", OTHER)
TOWN, HOBBY, TYPE = "Reykjavik", "falconry", "talisman"
"""Which the other tenant alone knows."""
NOBODYS = {
    "types", "type_of_memory", "policies", "policy", "policy_diff", "checkpoint", "signing_key",
    "consistency", "export_schema", "event_schemas", "ways_out",
}  # fmt: skip
"""Endpoints that tell of nobody: a token for one person is answered where its role may ask."""


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def world(request, tmp_path_factory):
    """A server, ids of somebody else's, and of another tenant's (on SQLite: of another ledger)."""
    with (
        lasting_place(request, tmp_path_factory) as place,
        pytest.MonkeyPatch.context() as patch,
    ):
        two = tmp_path_factory.mktemp("two")
        another = str(two / "ledger") if request.param == "sqlite" else f"{place}&tenant=another"
        with open_memory(place) as memory:
            known = [ids_in(memory)]
            if request.param == "postgres":
                patch.setenv("BELIEFLEDGER_SIGNING_KEY_FILE", str(two / "signing.key"))
            with open_memory(another) as elsewhere:
                known += [ids_in(elsewhere), only_there(elsewhere)]
            with served(memory, worker=False) as server:
                yield server, known, another


def ids_in(memory, person=OTHER, town="Lisbon", hobby="bouldering"):
    """What there is of somebody, by the name of the parameter that it is given for."""
    memory.consent.grant(person, "consent")
    receipt, [decision] = memory.remember(person, f"I live in {town}.")
    memory.store(person, hobby, attribute="hobby")
    [waits] = memory.remember(person, "I have asthma.")[1]
    erased = memory.erase(person, by="lea", memory=memory.beliefs(person)[1].memory_id)
    return {
        "memory_id": decision.memory_id,
        "belief_id": decision.belief_id,
        "decision_id": waits.decision_id,
        "turn_id": receipt.turn_id,
        "erasure": erased.erasure,
        "position": str(receipt.position),
        "digest": "current",
        "name": "fact",
    }


def only_there(memory):
    """The same of somebody, a type and a policy of whom this tenant alone knows."""
    ids = ids_in(memory, ELSEWHERE, TOWN, HOBBY)
    memory.types.add({"name": TYPE, "slot": "attribute", "attribute": TYPE, "fields": {}})
    changed = memory.policy.current.model_dump(mode="json")
    changed["thresholds"]["default"] += 0.01
    return ids | {"digest": memory.policy.adopt(changed, by="lea"), "name": TYPE}


def made(kind, person=OTHER):
    """The least that a body may be, about somebody else."""
    told = {}
    for name, field in kind.model_fields.items():
        if name == "subject":
            told[name] = person
        elif field.is_required():
            told[name] = value(field.annotation)
        elif typing.get_origin(field.annotation) is list:
            [inner] = typing.get_args(field.annotation)
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                told[name] = [made(inner, person)]
    return told


def value(kind):
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return value(typing.get_args(kind)[0])
    if origin is list:
        [inner] = typing.get_args(kind)
        return [made(inner)] if isinstance(inner, type) and issubclass(inner, BaseModel) else []
    if origin is dict:
        return {}
    return {str: "x", bool: True, int: 1, float: 0.5}[kind]


def asked(of, ids, person=OTHER):
    """A request to an endpoint about somebody else: method, path, query, body."""
    query, body = {}, None
    for each in of.parameters:
        kind = getattr(each.annotation, "__origin__", each.annotation)
        if isinstance(kind, type) and issubclass(kind, Body):
            body = made(kind, person)
        elif each.name == "subject":
            query["subject"] = person
        elif each.default is each.empty and f"{{{each.name}}}" not in of.path:
            query[{"moment_": "moment", "old": "old"}[each.name]] = "1"
    return of.method, PREFIX + of.path.format(**ids), query, body


def calls_of(memory, token):
    digest = memory.tokens.principal(token).token
    return [
        (each.facts["tool"], each.facts["outcome"])
        for each in memory._log.read()
        if each.type == ToolCalled.NAME
        and each.facts["token_digest"] == digest
        and each.facts["door"] == "http"
    ]


@pytest.mark.parametrize("role", roles().meanings)
@pytest.mark.parametrize("whose", [0, 1], ids=["another's", "another tenant's"])
def test_every_endpoint_refuses_what_is_somebody_elses(world, role, whose):
    server, known, _ = world
    given = {"role": role, "subjects": [MINE], "consent": None}
    token = server.token(f"{role} {whose}", **given)
    expected = []
    with httpx2.Client(
        base_url=server.root, headers={"Authorization": f"Bearer {token}"}, timeout=30
    ) as client:
        for of in ENDPOINTS:
            method, path, query, body = asked(of, known[whose])
            answer = client.request(method, path, params=query, json=body)
            where = (of.name, role, answer.status_code, answer.text[:300])
            may = all(role in roles().verbs[verb] for verb in of.verbs)
            told = answer.text
            if not may or of.whole:
                assert answer.status_code == 403, where
                expected.append((of.name, "NOT_PERMITTED"))
            elif of.name in NOBODYS:
                assert answer.status_code < 500, where
                expected.append((of.name, "ok" if answer.is_success else "INVALID_PARAM"))
            elif of.name == "events":  # of who is asked for; a reference is not a name
                assert answer.status_code == 403, where
                expected.append((of.name, "NOT_PERMITTED"))
            else:
                assert answer.status_code in (403, 404), where
                refusal = "NOT_PERMITTED" if answer.status_code == 403 else "MEMORY_NOT_FOUND"
                expected.append((of.name, refusal))
            if not answer.is_success:
                assert answer.headers["content-type"] == "application/problem+json", where
                assert answer.json()["remedy"], where
                told = told.replace(answer.json()["type"], "")
            assert not any(each in told for each in WORDS), where
            assert not any(each in told for each in known[whose].values() if len(each) > 31), where
    assert calls_of(server.memory, token) == expected


OUTCOMES = {200: "ok", 201: "ok", 403: "NOT_PERMITTED", 404: "MEMORY_NOT_FOUND"}
OF_THIS_LOG = {"inclusion", "run_job"}
"""Positions and jobs are no tenant's: each log has them."""


@pytest.mark.parametrize("role", roles().meanings)
def test_a_token_for_everybody_is_for_everybody_of_its_tenant(world, role):
    """Whatever it asks by the ids and names of another tenant: they are not there."""
    server, known, another = world
    with open_memory(another) as elsewhere:
        before = [each.event_id for each in elsewhere.subscribe(follow=False)]
        ref = elsewhere.tokens.subject(ELSEWHERE)
    ids = known[2]
    unspeakable = [TOWN, HOBBY, ref, *(each for each in ids.values() if len(each) > 31)]
    token = server.token(f"{role} of all", role=role, subjects=None, consent=None)
    calls = [(of, asked(of, ids, ELSEWHERE)) for of in ENDPOINTS]
    by_name = {of.name: of for of in ENDPOINTS}
    for name in ("erase", "preview_erasure"):
        method, path, query, body = asked(by_name[name], ids, OTHER)
        for given in ({"memory": ids["memory_id"]}, {"turn": ids["turn_id"]}):
            calls.append((by_name[name], (method, path, query, body | given)))
    calls.append((by_name["events"], ("GET", f"{PREFIX}/events", {"subject_ref": ref}, None)))
    expected = []
    with httpx2.Client(
        base_url=server.root, headers={"Authorization": f"Bearer {token}"}, timeout=30
    ) as client:
        for of, (method, path, query, body) in calls:
            answer = client.request(method, path, params=query, json=body)
            where = (of.name, role, answer.status_code, answer.text[:300])
            may = all(role in roles().verbs[verb] for verb in of.verbs)
            by_id = "{" in of.path or any(given in (body or {}) for given in ("memory", "turn"))
            if not may:
                assert answer.status_code == 403, where
            elif by_id and of.name not in OF_THIS_LOG:
                # There is no such type is told in words, which name those that there are.
                assert answer.status_code == (422 if of.name == "retire_type" else 404), where
            else:
                assert answer.status_code < 500, where
            if answer.is_success and "subject_ref" in query:
                assert answer.json()["items"] == [], where
            expected.append((of.name, OUTCOMES.get(answer.status_code, "INVALID_PARAM")))
            assert not any(each in answer.text for each in unspeakable), where
    assert calls_of(server.memory, token) == expected
    with open_memory(another) as elsewhere:
        after = [each.event_id for each in elsewhere.subscribe(follow=False)]
        assert after == before, "nothing was written there"
        assert [each.value for each in elsewhere.beliefs(ELSEWHERE)] == [TOWN]


def test_what_needs_no_id_tells_of_the_tokens_own_alone(world):
    server, known, _ = world
    token = server.token("admin of one", role="admin", subjects=[MINE], consent=None)
    with httpx2.Client(
        base_url=server.root, headers={"Authorization": f"Bearer {token}"}, timeout=30
    ) as client:
        for of in ENDPOINTS:
            if of.method == "GET" and "{" not in of.path and not of.whole:
                answer = client.get(
                    PREFIX + of.path, params={"old": "1"} if of.name == "consistency" else {}
                )
                assert not any(each in answer.text for each in WORDS), of.name
                assert not any(
                    each in answer.text for each in known[0].values() if len(each) > 31
                ), of.name
        everything = client.get(f"{PREFIX}/events", params={"bodies": True, "limit": 1000}).json()
        refs = {each["subject_ref"] for each in everything["items"]}
        assert refs <= {server.memory.tokens.subject(MINE)}
        inclusion = f"{PREFIX}/proofs/inclusion/{known[0]['position']}"
        assert client.get(inclusion).status_code == 404


def test_an_endpoint_has_known_verbs_and_is_called_by_its_own_name():
    assert len({each.name for each in ENDPOINTS}) == len(ENDPOINTS) > 45
    for of in ENDPOINTS:
        assert of.verbs, of.name
        assert all(roles().verbs[verb] for verb in of.verbs), of.name
