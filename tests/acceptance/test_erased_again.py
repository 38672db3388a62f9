"""An erasure tried again, when somebody else finished it meanwhile, answers that erasure."""

from __future__ import annotations

import json
import signal
import sys

import programs
import pytest
from command_line import CliRunner

from beliefledger import open_memory
from beliefledger.ledger.errors import BackendUnavailable, InvalidQuery, NotPermitted, UnknownMemory
from beliefledger.ledger.times import SECOND, system_clock
from beliefledger.tools.cli import app

ERASE_AND_BE_KILLED = """
import json, os, signal, sys
from beliefledger import open_memory
from beliefledger.ledger.eraser import Eraser

Eraser.destroy = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
with open_memory(sys.argv[1]) as memory:
    memory.erase("ana", **json.loads(sys.argv[2]), by="dpo")
"""
REACHES = ["subject", "memory", "turn", "session"]


@pytest.fixture
def told(place):
    """Somebody with a memory, and what there is to erase of them by reach."""
    with open_memory(place) as memory:
        memory.consent.grant("ana", "consent")
        turn = memory.record_turn("ana", "I live in Porto.", session="monday").turn_id
        memory.record_turn("ana", "I play the cello.", session="tuesday")
        memory.process()
        [belief] = [each for each in memory.beliefs("ana") if each.value == "Porto"]
    return {
        "subject": {},
        "memory": {"memory": belief.memory_id},
        "turn": {"turn": turn},
        "session": {"session": "monday"},
    }


def broken_off(place, chosen):
    """The request is on record, and whoever made it is dead."""
    command = [sys.executable, "-c", ERASE_AND_BE_KILLED, place, json.dumps(chosen)]
    assert programs.run(command, check=False).returncode == -signal.SIGKILL


@pytest.mark.parametrize("reach", REACHES)
def test_tried_again_after_another_process_finished_it_it_is_that_erasure(place, told, reach):
    chosen = told[reach]
    broken_off(place, chosen)
    with open_memory(place) as other:  # which finishes it
        [record] = other.erasure.list()
        assert record.completed_at is not None
    with open_memory(place) as memory:
        answer = memory.erase("ana", **chosen, by="dpo")
        assert (answer.erasure, answer.already) == (record.erasure, True)
        assert (answer.bodies, answer.reach) == (record.bodies, reach)
        assert memory.erasure.certificates.issue(answer.erasure)["erasure"] == record.erasure
        assert len(memory.erasure.list()) == 1
        assert memory.proofs.verify().ok
    options = [f"--{name}={value}" for name, value in chosen.items()]
    words = ["--ledger", place, "erase", "ana", *options, "--by", "dpo", "--yes", "--json"]
    said = CliRunner().invoke(app, words)
    assert json.loads(said.stdout)["erasure"] == record.erasure, said.output


@pytest.mark.parametrize("reach", REACHES)
def test_a_connection_that_is_lost_on_the_way_and_another_process(place, told, reach, monkeypatch):
    """The same open ledger tries again, and still has the erasure in mind that broke off."""
    chosen = told[reach]
    with open_memory(place) as memory:

        def lost(_erasure):
            raise BackendUnavailable("The connection was lost.")

        with monkeypatch.context() as broken:
            broken.setattr(memory._log.eraser, "destroy", lost)
            with pytest.raises(BackendUnavailable):
                memory.erase("ana", **chosen, by="dpo")
        open_memory(place).close()
        [record] = memory.erasure.list()
        answer = memory.erase("ana", **chosen, by="dpo")
        assert (answer.erasure, answer.bodies) == (record.erasure, record.bodies)
        assert len(memory.erasure.list()) == 1


@pytest.mark.parametrize("reach", REACHES)
def test_finished_by_somebody_else_while_it_is_asked_for(place, told, reach, monkeypatch):
    """Whoever asked for it: it was completed since this call began."""
    chosen = told[reach]
    with open_memory(place) as memory, open_memory(place) as other:
        look = memory.erasure._resume

        def erased_meanwhile(subject):
            other.erase("ana", **chosen, by="somebody else")
            return look(subject)

        monkeypatch.setattr(memory.erasure, "_resume", erased_meanwhile)
        answer = memory.erase("ana", **chosen, by="dpo")
        [record] = memory.erasure.list()
        assert (answer.erasure, answer.already) == (record.erasure, True)


@pytest.mark.parametrize("reach", REACHES)
def test_what_was_erased_long_ago_or_by_another_is_told_as_that(place, told, reach):
    chosen = told[reach]
    with open_memory(place) as memory:
        done = memory.erase("ana", **chosen, by="dpo")
        said = "erased before, at .*certificate|words of which are left|There is no memory"
        refused = pytest.raises((NotPermitted, UnknownMemory), match=said)
        with refused:
            memory.erase("ana", **chosen, by="eva")
        assert memory.erase("ana", **chosen, by="dpo").erasure == done.erasure
    with open_memory(place, clock=lambda: system_clock() + 3_700 * SECOND) as later, refused:
        later.erase("ana", **chosen, by="dpo")


def test_another_thing_of_the_same_person_is_not_that_erasure(place, told):
    with open_memory(place) as memory:
        memory.erase("ana", **told["turn"], by="dpo")
        with pytest.raises(UnknownMemory):
            memory.erase("ana", turn="0" * 32, by="dpo")
        with pytest.raises(InvalidQuery):
            memory.erase("ana", turn="", by="dpo")
        with pytest.raises(UnknownMemory):
            memory.erase("nobody", by="dpo")
        assert not memory.erase("ana", session="tuesday", by="dpo").already
        memory.erase("ana", by="dpo")
        memory.erasure.register_anew("ana", by="dpo")
        assert not memory.erase("ana", by="dpo").already
