"""Tasks outlive the process that took them, and the time that a call may take."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest
from a2a.types.a2a_pb2 import SendMessageConfiguration, TaskState
from agents import Agent, texts
from programs import Program
from served import Served, served

from beliefledger import open_memory
from beliefledger.ledger.events.ops import ToolCalled
from beliefledger.tools.server.a2a import work

INPUT, DONE = TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_COMPLETED
AT_ONCE = SendMessageConfiguration(return_immediately=True)


def ready(process):
    line = process.stderr.readline()
    assert "http://" in line, line
    return line.rsplit(" ", 1)[1].strip()


@pytest.fixture
def started(place):
    """Starts a server in a process of its own."""
    running = []

    def start(*more):
        command = [sys.executable, "-m", "beliefledger", "--ledger", place, "serve", "--port", "0"]
        running.append(Program([*command, *more], stderr=-1, text=True))
        return running[-1], Served(None, ready(running[-1]))

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
            process.wait(10)
        process.stderr.close()


def wait_until_over(agent, task_id):
    for _ in range(300):
        task = agent.rpc("GetTask", {"id": task_id})["result"]
        if task["status"]["state"] not in {"TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"}:
            return task
        time.sleep(0.05)
    raise AssertionError(task)


def test_a_task_goes_on_after_kill_9_and_a_question_is_still_there(place, started):
    with open_memory(place) as memory:
        token = memory.tokens.create("bot", by="lea", subjects=["ana"], consent="consent").token
        memory.remember("ana", "I live in Lisbon.", consent="consent")
        memory.record_turn("ana", "I live in Porto.", ask=True)
        memory.process()
    process, server = started("--no-worker")  # nobody decides: the task is in the middle
    agent = Agent(server, token)
    begun = agent.send("I like tea.", configuration=AT_ONCE)
    waits = agent.send({"skill": "resolve_conflict"})
    assert waits.status.state == INPUT
    os.kill(process.pid, signal.SIGKILL)
    process.wait(10)
    with open_memory(place) as memory:
        assert memory.tasks.under_way() == [begun.id]
    _, server = started()
    agent = Agent(server, token)
    over = wait_until_over(agent, begun.id)
    assert over["status"]["state"] == "TASK_STATE_COMPLETED"
    assert over["artifacts"][0]["parts"][0]["text"] == "User likes tea"
    done = agent.send("keep_new", task_id=waits.id)
    assert texts(done) == ["User lives in Porto"]


def test_an_answer_that_was_recorded_is_carried_out_by_who_comes_next(place):
    """As if the process was killed between the answer and what follows from it."""
    with open_memory(place) as memory:
        token = memory.tokens.create("bot", by="lea", subjects=["ana"], consent="consent").token
        principal = memory.tokens.principal(token)
        with served(memory) as server:
            agent = Agent(server, token)
            agent.send("I live in Lisbon.")
            waits = agent.send("I live in Porto.")
        task = memory.tasks.get(waits.id, principal)
        memory.tasks.answer(task, "keep_new", by=principal, message="m")
        assert [each.value for each in memory.beliefs("ana")] == ["Lisbon"]
        with served(memory) as server:
            over = wait_until_over(Agent(server, token), waits.id)
        assert over["status"]["state"] == "TASK_STATE_COMPLETED"
        assert [each.value for each in memory.beliefs("ana")] == ["Porto"]
        assert work.advance(memory, waits.id)  # another process is late: nothing more is done
        assert len(memory.tasks.get(waits.id, principal).answers) == 1


def test_what_cannot_be_done_fails_and_says_so(place, monkeypatch):
    with open_memory(place) as memory:
        token = memory.tokens.create("bot", by="lea", subjects=["ana"], consent="consent").token
        with served(memory) as server:
            agent = Agent(server, token)
            agent.send("I live in Lisbon.")
            waits = agent.send("I live in Porto.")
            memory.consent.withdraw("ana", by="ana")
            refused = agent.send("keep_new", task_id=waits.id)
            assert refused.status.state in {TaskState.TASK_STATE_FAILED, DONE}
            assert memory.beliefs("ana") == []

            def defect(*_given, **_named):
                raise RuntimeError("a secret of ours")

            monkeypatch.setattr(work, "_answer", defect)
            broken = agent.send({"skill": "answer_as_of", "question": "home?"})
            assert broken.status.state == TaskState.TASK_STATE_FAILED
            assert "secret of ours" not in str(broken)


def test_a_call_ends_when_its_time_is_up_and_the_task_goes_on(place):
    with open_memory(place) as memory, served(memory, worker=False, call_seconds=2) as server:
        agent = Agent(server, server.token())
        task = agent.send("I like tea.")
        assert task.status.state == TaskState.TASK_STATE_SUBMITTED
        with pytest.raises(Exception, match="SubscribeToTask"):
            agent.streamed("I like milk.")
        memory.process()
        assert wait_until_over(agent, task.id)["status"]["state"] == "TASK_STATE_COMPLETED"
        recorded = [
            (each.facts["tool"], each.facts["outcome"])
            for each in memory._log.read()
            if each.type == ToolCalled.NAME
        ]
        assert recorded[:2] == [("SendMessage", "ok"), ("SendStreamingMessage", "TOOL_TIMEOUT")]
