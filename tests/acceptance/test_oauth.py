"""Tokens of an OAuth issuer: real signed JWTs, its keys from a loopback server or from a file."""

from __future__ import annotations

import asyncio
import json
import logging
import time

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm
from model_server import Answer, ModelServer, serving
from served import LEGACY, MODERN, connected, served

from beliefledger import open_memory
from beliefledger.ledger.errors import CallerMistake
from beliefledger.ledger.events.ops import AccessRefused, ToolCalled
from beliefledger.tools.server import issuer
from beliefledger.tools.server.app import application
from beliefledger.tools.server.configuration import configuration

ISSUER = "https://id.example.com/"
RESOURCE = "https://memory.example.com/mcp"
METADATA = "/.well-known/oauth-protected-resource/mcp"
KEY = rsa.generate_private_key(65537, 2048)
OTHER = ec.generate_private_key(ec.SECP256R1())


def public(key, kid):
    algorithm = RSAAlgorithm if key is not OTHER else ECAlgorithm
    told = algorithm.to_jwk(key.public_key(), as_dict=True)
    return told | {"kid": kid, "use": "sig"}


class Keys(ModelServer):
    """Answers with the issuer's keys."""

    path = ""
    unasked = Answer(status=404)

    def __init__(self):
        self.keys, self.fetched, self.status = [public(KEY, "one")], 0, 200
        super().__init__()

    def get(self, path):
        self.fetched += 1
        return Answer({"keys": self.keys}, self.status)

    def missing(self, path):
        return Answer(status=404)


def signed(key=KEY, kid="one", algorithm="RS256", **claims):
    told = {
        "iss": ISSUER, "aud": RESOURCE, "exp": int(time.time()) + 300, "sub": "ana",
        "role": "agent", "tenant": "default",
    } | claims  # fmt: skip
    told = {name: value for name, value in told.items() if value is not None}
    headers = {} if kid is None else {"kid": kid}
    return jwt.encode(told, key, algorithm, headers=headers)


@pytest.fixture(scope="module")
def keys():
    with serving(Keys()) as running:
        yield running


@pytest.fixture
def memory(place):
    with open_memory(place) as opened:
        yield opened


def configured(jwks, **told):
    return {"oauth": {"issuer": ISSUER, "resource": RESOURCE, "jwks": jwks} | told}


def status(server, token, **headers):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accept = {"accept": "application/json, text/event-stream", "authorization": f"Bearer {token}"}
    with httpx2.Client() as http:
        return http.post(server.url, json=body, headers=accept | headers)


def test_a_persons_jwt_stores_and_finds_and_is_on_record(memory, keys):
    with served(
        memory, **configured(keys.url, consent="consent", claims={"agent": "azp"})
    ) as server:
        token = signed(azp="assistant")
        for mode in (MODERN, LEGACY):
            server.store(token, f"I live in {'Porto' if mode == MODERN else 'Faro'}.")
            found = server.call(token, "search_memories", mode, query="where do I live?")
            assert found["data"]["results"], mode
        assert server.call(signed(sub="bob", azp="x"), "get_memory_stats")["data"]["total"] == 0
        assert server.call(token, "get_memory_stats", subject="bob")["code"] == "NOT_PERMITTED"
        refused = server.call(token, "forget", memory_id="0" * 32)
        assert refused["code"] == "NOT_PERMITTED"
        assert server.call(server.token(), "get_memory_stats")["data"]["total"] == 1  # ours, too
        calls = [each for each in memory._log.read() if each.type == ToolCalled.NAME]
        assert {memory.actor_name(each.actor) for each in calls} == {"ana", "bob", "bot"}
        assert "NOT_PERMITTED" in {each.facts["outcome"] for each in calls}
        of_ana = {each.facts["token_digest"] for each in calls
                  if memory.actor_name(each.actor) == "ana"}  # fmt: skip
        assert len(of_ana) == 1  # whichever JWT it was
        assert memory.beliefs("ana")[0].agent == "assistant"


def test_what_is_no_good_token_of_the_issuer_is_refused_and_told_where_to_ask(memory, keys, caplog):
    caplog.set_level(logging.INFO, "beliefledger.server")
    pem = KEY.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    parts = signed().split(".")
    bad = {
        "expired": signed(exp=int(time.time()) - 60),
        "no end": signed(exp=None),
        "not yet": signed(nbf=int(time.time()) + 600),
        "another audience": signed(aud="https://elsewhere.example.com"),
        "no audience": signed(aud=None),
        "another issuer": signed(iss="https://evil.example.com/"),
        "another key": signed(rsa.generate_private_key(65537, 2048)),
        "an unknown key": signed(kid="two"),
        "changed": ".".join([parts[0], parts[1][:-4] + "AAAA", parts[2]]),
        "unsigned": signed(None, algorithm="none"),
        "signed with the public key": _confused(pem),
        "another algorithm": signed(OTHER, algorithm="ES256"),
        "no role": signed(role=None),
        "a role that there is none of": signed(role="king"),
        "nobody": signed(sub=None),
        "the ledger itself": signed(sub="system"),
        "another tenant": signed(tenant="elsewhere"),
        "no tenant": signed(tenant=None),
        "rubbish": "a.b.c",
    }  # fmt: skip
    told = configured(keys.url, algorithms=["RS256"], claims={"tenant": "tenant"})
    with served(memory, **told) as server:
        assert server.call(signed(), "list_conflicts")["status"] == "ok"
        for what, token in bad.items():
            answer = status(server, token)
            assert answer.status_code == 401, what
            assert token not in caplog.text
            challenge = answer.headers["www-authenticate"]
            assert 'error="invalid_token"' in challenge
            assert f'resource_metadata="https://memory.example.com{METADATA}"' in challenge
        with httpx2.Client() as http:
            assert "error" not in http.post(server.url, json={}).headers["www-authenticate"]
            metadata = http.get(server.root + METADATA)
            assert metadata.status_code == 200
            assert metadata.json()["resource"] == RESOURCE
            assert metadata.json()["authorization_servers"] == [ISSUER]
    assert "no role of ours follows" in caplog.text
    refused = [each.facts for each in memory._log.read() if each.type == AccessRefused.NAME]
    assert sum(each["count"] for each in refused) == len(bad) + 1
    assert len([each for each in memory._log.read() if each.type == ToolCalled.NAME]) == 1


def _confused(pem):
    """As if the public key were a secret that both sides know."""
    import hashlib
    import hmac

    def coded(told):
        return jwt.utils.base64url_encode(json.dumps(told).encode()).decode()

    claims = {"iss": ISSUER, "aud": RESOURCE, "sub": "ana", "exp": int(time.time()) + 300,
              "role": "admin", "tenant": "default"}  # fmt: skip
    said = f"{coded({'alg': 'HS256', 'kid': 'one'})}.{coded(claims)}"
    mac = hmac.digest(pem, said.encode(), hashlib.sha256)
    return f"{said}.{jwt.utils.base64url_encode(mac).decode()}"


def test_claims_become_roles_scopes_and_subjects_as_the_configuration_says(memory, tmp_path):
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": [public(KEY, "one"), public(OTHER, "two")]}))
    oauth = configuration(**configured(
        str(file),
        audience=["api"],
        claims={"name": "email", "role": "realm_access.roles", "subjects": "people",
                "scopes": "scope"},
        roles={"memory-audit": "auditor", "memory-user": "agent"},
        role="operator",
        everybody=["auditor"],
    )).oauth  # fmt: skip
    known = issuer.Issuer(oauth, memory.tokens)

    def of(*roles, **claims):
        given = {
            "aud": "api",
            "email": "lea@example.com",
            "people": ["ana", "bob"],
            "scope": "openid memory conflicts",
            "realm_access": {"roles": list(roles)},
        }
        return known.principal(signed(OTHER, "two", "ES256", **given | claims))

    ana, bob = (memory.tokens._refs([name])[0] for name in ("ana", "bob"))
    lea = of("memory-user", "other")
    assert (lea.name, lea.agent, lea.role) == ("lea@example.com", "lea@example.com", "agent")
    assert lea.scopes == ("memory", "conflicts")
    assert lea.subjects == {ana, bob}
    assert lea.may("search")
    assert not lea.may("consent.list")
    assert of("memory-user", people="bob").subjects == {bob}
    both = of("memory-user", "memory-audit", people=None)
    assert (both.role, both.subjects) == ("auditor", None)
    assert of().role == "operator"
    for claims in ({"scope": "openid"}, {"people": None}, {"people": []}, {"email": ["a", "b"]}):
        with pytest.raises(issuer.TokenRefused):
            of("memory-user", **claims)
    memory.consent.grant("bob", "consent")
    memory.erase("bob", by="lea")
    known._known.clear()
    with pytest.raises(issuer.TokenRefused):
        of("memory-user", people="bob")


def test_keys_are_fetched_once_again_for_a_new_one_and_rarely_while_they_cannot_be(
    memory, keys, monkeypatch
):
    told = configuration(**configured(keys.url)).oauth
    monkeypatch.setattr(issuer, "_AGAIN_SECONDS", 60)  # however slow the calls are
    known, before = issuer.Issuer(told, memory.tokens), keys.fetched
    for _ in range(3):
        assert known.principal(signed()).name == "ana"
    assert keys.fetched == before + 1
    for _ in range(3):
        with pytest.raises(issuer.TokenRefused):
            known.principal(signed(OTHER, "new", "ES256"))
    assert keys.fetched == before + 1
    keys.keys.append(public(OTHER, "new"))
    known._keys._client.cooldown_duration = 0  # it is over
    assert known.principal(signed(OTHER, "new", "ES256")).name == "ana"
    assert keys.fetched == before + 2
    keys.status = 500
    try:
        with served(memory, **configured(keys.url)) as server:
            failed = keys.fetched
            assert {status(server, signed()).status_code for _ in range(4)} == {503}
            assert keys.fetched == failed + 1
            assert server.call(server.token(), "get_memory_stats")["status"] == "ok"
    finally:
        keys.status = 200
        keys.keys.pop()


def test_a_session_goes_on_with_a_new_token_of_the_same_person_only(memory, keys):
    async def talk(server):
        async with connected(server.url, signed(), LEGACY) as client:
            await client.call_tool("get_memory_stats", {})

    with served(memory, **configured(keys.url)) as server:
        asyncio.run(talk(server))
        opening = {"protocolVersion": "2025-11-25", "capabilities": {},
                   "clientInfo": {"name": "t", "version": "1"}}  # fmt: skip
        accept = {"accept": "application/json, text/event-stream",
                  "mcp-protocol-version": "2025-11-25"}  # fmt: skip
        with httpx2.Client(headers=accept) as http:

            def post(token, method, params, **headers):
                body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                auth = {"authorization": f"Bearer {token}"}
                return http.post(server.url, json=body, headers=auth | headers)

            opened = post(signed(), "initialize", opening).headers["mcp-session-id"]
            again = signed(exp=int(time.time()) + 900)
            assert post(again, "tools/list", {}, **{"mcp-session-id": opened}).status_code == 200
            other = post(signed(sub="bob"), "tools/list", {}, **{"mcp-session-id": opened})
            assert other.status_code == 404


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"jwks": "http://id.example.com/keys"}, "give an https:// address"),
        ({"jwks": "/nowhere.json"}, "no file of keys"),
        ({"issuer": "id.example.com"}, "give an https:// address"),
        ({"algorithms": ["HS256"]}, "with a public key"),
        ({"algorithms": []}, "with a public key"),
        ({"roles": {"a": "king"}}, "role: there is none like that"),
        ({"claims": {"roll": "x"}}, "oauth.claims.roll is no setting"),
        ({"consent": "because"}, "not a lawful basis"),
    ],
)
def test_a_configuration_that_cannot_be_is_refused(tmp_path, told, says):
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({"keys": [public(KEY, "one")]}))
    with open_memory(tmp_path / "ledger") as memory, pytest.raises(CallerMistake, match=says):
        application(memory, configuration(**configured(**{"jwks": str(keys)} | told)))
