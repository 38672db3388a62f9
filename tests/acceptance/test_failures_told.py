"""An extractor that fails is told of: in the receipt, by the exit code, and in the logs."""

from __future__ import annotations

import json
import logging
import sys
import threading
import time

import programs
import pytest
from command_line import CliRunner

from beliefledger import Candidate, InvalidTurn, Span, open_memory
from beliefledger.opening.extractors import GROUP
from beliefledger.tools.cli import app

SECRETIVE = "I live in Lisbon with my sister Amelia."
FAILING = '''
"""Extractors that fail, each in its way."""

from beliefledger.gate.model import ModelExtractor, Reply, Tokens


class Raising:
    name = "raising"

    def extract(self, turn, before):
        raise RuntimeError(f"cannot read {turn.content}")


class TimingOut:
    name = "timing-out"

    def extract(self, turn, before):
        raise TimeoutError("the model took 30 s")


class Nonsense:
    name = "nonsense"

    def extract(self, turn, before):
        return ["User lives", None]


class Client:
    provider, model = "babble", "babble-1"

    def ask(self, question):
        return Reply("Sure! Here are the memories you asked for:", "done", Tokens(fresh=1))

    def cost(self, tokens, *, batch=False):
        return 0

    def close(self):
        pass


def raising(settings):
    return Raising()


def timing_out(settings):
    return TimingOut()


def nonsense(settings):
    return Nonsense()


def babble(settings):
    return ModelExtractor(Client(), settings.registry, settings.policy)
'''
NAMES = ("raising", "timing-out", "nonsense", "babble")


@pytest.fixture
def extractors(tmp_path, monkeypatch):
    """Installs a package that registers extractors which fail."""
    site = tmp_path / "site-packages"
    info = site / "failing-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "failing.py").write_text(FAILING, "utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: failing\nVersion: 1.0\n", "utf-8")
    lines = "\n".join(f"{name} = failing:{name.replace('-', '_')}" for name in NAMES)
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}\n", "utf-8")
    monkeypatch.syspath_prepend(site)


@pytest.mark.parametrize("name", NAMES)
def test_a_failure_is_in_the_receipt_and_not_nothing(extractors, place, name):
    with open_memory(place, consent="consent", extractor=name) as memory:
        receipt, decisions = memory.remember("ana", SECRETIVE)
        assert decisions == []
        assert receipt.pending
        assert receipt.problem
        assert memory.turn(receipt.turn_id).state == "pending"
        later, _ = memory.remember("ana", "I like tea.")
        assert later.pending
        assert "earlier turn" in (later.problem or "")
    with open_memory(place, extractor="rules") as memory:
        memory.process()
        again = memory.record_turn("ana", "I like tea.")
        assert again.pending
        assert {each.text for each in memory.beliefs("ana")} >= {"User likes tea"}


def test_a_turn_that_is_parked_says_how_it_is_taken_up(extractors, place):
    with open_memory(place, extractor="raising", policy={"extraction_tries": 1}) as memory:
        receipt, _ = memory.remember("ana", SECRETIVE, idempotency_key="k", consent="consent")
        assert receipt.pending
        assert f"beliefledger ops retry {receipt.turn_id[:10]}" in (receipt.problem or "")
        once_more = memory.record_turn("ana", SECRETIVE, idempotency_key="k")
        assert (once_more.already, once_more.pending) == (True, True)
    with open_memory(place, extractor="rules") as memory:
        memory.operations.extraction.retry(receipt.turn_id)
        memory.process()
        once_more = memory.record_turn("ana", SECRETIVE, idempotency_key="k")
        assert (once_more.pending, once_more.problem) == (False, None)


@pytest.mark.parametrize("name", NAMES)
def test_the_command_says_so_and_exits_with_1(extractors, place, name, monkeypatch, tmp_path):
    monkeypatch.setenv("BELIEFLEDGER_EXTRACTOR", name)
    run = CliRunner()
    at = ["--ledger", str(place)]
    said = ["remember", "--subject", "ana", "--consent", "consent", "I live in Lisbon."]
    answer = run.invoke(app, [*at, *said])
    assert answer.exit_code == 1, answer.output
    assert "could not be read" in answer.output
    assert "beliefledger process" in answer.output
    assert "Nothing in it" not in answer.output
    answer = run.invoke(app, [*at, *said, "--json"])
    assert answer.exit_code == 1
    told = json.loads(answer.stdout)
    assert told["pending"] is True
    assert told["problem"]
    assert told["decisions"] == []
    answer = run.invoke(app, [*at, "process"])
    assert answer.exit_code == 1
    assert "failed" in answer.output
    file = tmp_path / "said.jsonl"
    file.write_text('{"subject": "ben", "role": "user", "content": "I live in Faro."}', "utf-8")
    answer = run.invoke(app, [*at, "ingest", str(file), "--consent", "consent"])
    assert answer.exit_code == 1
    assert "failed" in answer.output
    assert "Could not be read: " in answer.output
    answer = run.invoke(app, [*at, "ingest", str(file), "--json"])
    assert answer.exit_code == 1
    told = json.loads(answer.stdout)
    assert (told["already"], told["processed"]) == (1, 0)
    assert told["failed"]
    assert told["problem"]
    monkeypatch.setenv("BELIEFLEDGER_EXTRACTOR", "rules")
    assert run.invoke(app, [*at, "ops", "retry", "--all"]).exit_code == 0
    assert run.invoke(app, [*at, "process"]).exit_code == 0
    answer = run.invoke(app, [*at, "remember", "--subject", "ana", "Hello there!"])
    assert answer.exit_code == 0
    assert "Nothing in it to believe." in answer.output


def test_logs_have_a_line_for_each_decision_and_failure_and_no_words(extractors, place, caplog):
    caplog.set_level(logging.DEBUG, "beliefledger")
    with open_memory(place, consent="consent", extractor="rules") as memory:
        receipt, decisions = memory.remember("ana", SECRETIVE)
        told = [each for each in caplog.records if each.levelno == logging.DEBUG]
        assert len(told) == len(decisions) > 0
        for each, decision in zip(told, decisions, strict=True):
            assert decision.decision_id in each.getMessage()
            assert receipt.turn_id in each.getMessage()
            assert decision.reason in each.getMessage()
    caplog.clear()
    with open_memory(place, extractor="raising", policy={"extraction_tries": 1}) as memory:
        receipt, _ = memory.remember("ana", SECRETIVE + " I moved.")
        warned = [each for each in caplog.records if each.levelno == logging.WARNING]
        assert [each.name for each in warned] == ["beliefledger.gate"] * 2
        assert "RuntimeError" in warned[0].getMessage()
        assert receipt.turn_id in warned[0].getMessage()
        assert "beliefledger ops retry" in warned[1].getMessage()
    for word in ("Lisbon", "Amelia", "ana ", "moved"):
        assert word not in caplog.text


def test_reading_to_no_avail_is_not_nothing_to_believe(extractors, place):
    with open_memory(place, consent="consent", extractor="rules") as memory:
        receipt, decisions = memory.remember("ana", "Good morning!")
        assert (decisions, receipt.pending, receipt.problem) == ([], False, None)


def test_of_an_exception_its_class_is_told_and_not_its_words(extractors, place):
    once = {"extraction_tries": 1}
    with open_memory(place, consent="consent", extractor="raising", policy=once) as m:
        receipt, _ = m.remember("ana", SECRETIVE)
        m.record_turn("ben", "I live in Faro.")
        answer = m.process()
        again = m.record_turn("ana", SECRETIVE)
        state = m.operations.extraction.state_of(receipt.turn_id)
        told = [receipt.problem, answer.problem, again.problem, state.problem]
        assert all("RuntimeError" in each for each in told if each is not None)
        assert receipt.problem
        assert answer.problem
        assert not [each for each in told if each and ("Lisbon" in each or "Faro" in each)]
        assert receipt.problem.startswith("The extractor raised RuntimeError. It is set aside")
        details = [each.detail for each in m.operations.extraction.parked()]
        assert any("cannot read I live in Lisbon" in each for each in details)  # erased with it
        m.erase("ana", by="dpo")
        assert not [each for each in m.operations.extraction.parked() if "Lisbon" in each.detail]


class Hanging:
    """Waits at what says so until it is let go, and then answers."""

    name = "hanging"

    def __init__(self):
        self.let_go = threading.Event()
        self.came_back = threading.Event()
        self.asked = []

    def extract(self, turn, before=()):
        self.asked.append((turn.content, [each.content for each in before]))
        if "never" in turn.content:
            self.let_go.wait(60)
        self.came_back.set()
        return [
            Candidate(
                claim=turn.content, type="fact", attribute="said", value=turn.content,
                importance=500_000, confidence=900_000,
                spans=(Span(start=0, end=len(turn.content), quote=turn.content),),
            )
        ]  # fmt: skip


class HangingBeside(Hanging):
    """Of which several are asked side by side."""

    concurrency = 3


@pytest.mark.parametrize("kind", [Hanging, HangingBeside])
def test_an_extractor_that_never_returns_holds_up_nobody_for_long(place, kind):
    hanging = kind()
    with open_memory(place, consent="consent", extractor=hanging, extractor_timeout=1) as memory:
        began = time.monotonic()
        receipt, decisions = memory.remember("ana", "never comes back")
        assert time.monotonic() - began < 20
        assert (decisions, receipt.pending) == ([], True)
        assert "did not return within 1 s" in receipt.problem
        events = [each.type for each in memory._log.read_stream(receipt.turn_id)]
        assert events == ["turn.recorded.v2", "extraction.failed.v1"]
        other, [decision] = memory.remember("ben", "quick", session="s")
        assert (other.pending, decision.outcome) == (False, "admit")
        memory.remember("ben", "quicker", session="s")
        assert hanging.asked[-1] == ("quicker", ["quick"])
        head = len(list(memory._log.read()))
        hanging.came_back.clear()
        hanging.let_go.set()
        assert hanging.came_back.wait(20)
        time.sleep(0.05)
        assert len(list(memory._log.read())) == head  # what came too late is dropped
        assert memory.process().turns == 1
        assert [each.value for each in memory.beliefs("ana")] == ["never comes back"]


def test_nobody_waits_for_each_of_many_turns(place):
    hanging = Hanging()
    people = [f"person {n}" for n in range(12)]
    with open_memory(place, consent="consent", extractor=hanging, extractor_timeout=1) as memory:
        for who in people:
            memory.record_turn(who, "never comes back")
        answer = memory.process()
        assert (answer.turns, answer.failed, answer.pending) == (0, 2, 12)
        hanging.let_go.set()
        assert memory.process().turns == 12


def test_a_call_that_was_left_behind_does_not_keep_a_process_from_ending(tmp_path):
    program = """
import sys, threading
from beliefledger import open_memory

class Hanging:
    name = "hanging"
    def extract(self, turn, before=()):
        threading.Event().wait()

with open_memory(sys.argv[1], consent="consent", extractor=Hanging(), extractor_timeout=0.1) as m:
    receipt, _ = m.remember("ana", "I live in Porto.")
    print(receipt.pending)
"""
    command = [sys.executable, "-c", program, tmp_path / "ledger"]
    ran = programs.run(command, capture_output=True, text=True, timeout=50, check=True)
    assert ran.stdout == "True\n"


@pytest.mark.parametrize("wrong", ["0", "-1", "soon", "nan"])
def test_a_timeout_that_is_none_is_refused(tmp_path, monkeypatch, wrong):
    monkeypatch.setenv("BELIEFLEDGER_EXTRACTOR_TIMEOUT", wrong)
    with pytest.raises(InvalidTurn, match="no timeout of an extractor"):
        open_memory(tmp_path / "ledger")
