"""Agents over TLS: a certificate made for the test, a real process, the official clients."""

from __future__ import annotations

import asyncio
import ssl
import sys

import httpx
import httpx2
import pytest
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from agents import message
from certificates import certificate
from command_line import CliRunner
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from programs import Program

from beliefledger import open_memory
from beliefledger.tools.cli import app


@pytest.fixture
def served_by_tls(tmp_path):
    """The address of a server, and its certificate. It listens at all interfaces."""
    place = str(tmp_path / "ledger")
    with open_memory(place) as memory:
        token = memory.tokens.create("bot", by="lea", subjects=["ana"], consent="consent").token
    cert, key = certificate(tmp_path)
    command = [sys.executable, "-m", "beliefledger", "--ledger", place, "serve", "--port", "0"]
    command += ["--host", "0.0.0.0", "--tls-cert", str(cert), "--tls-key", str(key)]
    with Program(command, stderr=-1, text=True) as process:
        line = process.stderr.readline()
        assert "https://0.0.0.0:" in line, line
        yield line.rsplit(" ", 1)[1].strip().replace("0.0.0.0", "127.0.0.1"), cert, token
        process.terminate()
        assert process.wait(20) in {0, -15}


def test_agents_reach_it_by_its_certificate_alone(served_by_tls):
    url, cert, token = served_by_tls
    trusts = ssl.create_default_context(cafile=str(cert))
    headers = {"Authorization": f"Bearer {token}"}

    async def over_mcp():
        async with httpx2.AsyncClient(headers=headers, verify=trusts, timeout=30) as http:
            async with Client(streamable_http_client(url, http_client=http)) as client:
                given = {"text": "I live in Porto.", "topic": "home"}
                return (await client.call_tool("store_memory", given)).structured_content

    assert asyncio.run(over_mcp())["status"] == "ok"
    root = url.removesuffix("/mcp")

    async def over_a2a():
        async with httpx.AsyncClient(headers=headers, verify=trusts, timeout=30) as http:
            card = await A2ACardResolver(http, root).get_agent_card()
            assert {each.url for each in card.supported_interfaces} == {f"{root}/a2a"}
            client = ClientFactory(ClientConfig(httpx_client=http)).create(card)
            return [each async for each in client.send_message(message("I like tea."))]

    told = asyncio.run(over_a2a())
    assert told[0].task.id
    with pytest.raises(httpx2.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        httpx2.get(f"{root}/readyz")
    with pytest.raises(httpx2.HTTPError):  # no token travels in clear
        httpx2.get(f"{root}/readyz".replace("https", "http"))
    old = ssl.create_default_context(cafile=str(cert))
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    old.minimum_version = ssl.TLSVersion.TLSv1_2
    assert httpx2.get(f"{root}/readyz", verify=old).json()["status"] == "ready"


def test_a_certificate_that_is_none_or_another_keys_is_told_at_the_start(tmp_path):
    cert, key = certificate(tmp_path)
    _, others = certificate(tmp_path, "example.org")
    broken = tmp_path / "broken.pem"
    broken.write_text("no certificate")
    for one, other, says in (
        (cert, others, "tls_key: this is not the key of the certificate"),
        (broken, key, "tls_cert: this is no certificate"),
        (cert, broken, "tls_key"),
    ):
        file = tmp_path / "server.yaml"
        file.write_text(f"tls_cert: {one}\ntls_key: {other}\n")
        for words in (["config", "check"], ["serve", "--port", "0"]):
            result = CliRunner().invoke(app, [*words, "--config", str(file)])
            assert result.exit_code == 2, (result.output, result.exception)
            assert says in result.stderr
            assert result.stderr.count("\n") == 1
