"""Jobs run when they are due, once, by one of several processes; each run is on record."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import programs
import pytest
from command_line import CliRunner

from beliefledger import open_memory
from beliefledger.curation.conflicts import Conflicts
from beliefledger.curation.storing import Details
from beliefledger.ledger.errors import EmbedderMissing, InvalidTurn
from beliefledger.ledger.times import DAY, SECOND, to_datetime
from beliefledger.operations import jobs
from beliefledger.operations.jobs import FIRST_MONDAY, HOUR, JOBS
from beliefledger.projections.embedding import installed
from beliefledger.tools.cli import app

ROOT = Path(__file__).parents[2]
SECONDS = 60


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as memory:
        memory.consent.grant("ana", "consent")
        yield memory


def ran(memory):
    """Every run on record: (job, due, outcome)."""
    return [
        (each.facts["job"], each.facts["due"], each.facts["outcome"])
        for each in memory._log.read()
        if each.type == "job.ran.v1"
    ]


def schedule(place, *words):
    return programs.Program(
        [
            sys.executable,
            "-m",
            "beliefledger",
            "--ledger",
            place,
            "ops",
            "schedule",
            "--json",
            *words,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def state(process):
    return json.loads(process.stdout.readline())["state"]


def until(what):
    end = time.monotonic() + SECONDS
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_times_are_the_same_for_everybody():
    monday = FIRST_MONDAY + 3000 * 7 * DAY
    assert to_datetime(monday).strftime("%A %H:%M") == "Monday 00:00"
    week, hour = JOBS["consolidation"], JOBS["decay"]
    assert week.every == 7 * DAY
    for now in (monday, monday + 1, monday + 7 * DAY - 1):
        assert week.due(now) == monday
    assert week.due(monday - 1) == monday - 7 * DAY
    assert hour.due(monday + HOUR + 5) == monday + HOUR


def test_a_job_that_lacks_a_model_is_off_and_says_what_turns_it_on(memory, place, monkeypatch):
    assert not any(each.off for each in memory.operations.jobs.scheduled())
    monkeypatch.setattr(jobs, "installed", lambda: False)
    off = {each.job: each for each in memory.operations.jobs.scheduled() if each.off}
    assert set(off) == {"consolidation"}
    assert off["consolidation"].next_due is None
    assert "beliefledger[embeddings]" in off["consolidation"].off
    with memory.operations.jobs.schedule() as scheduling:
        assert [each.name for each in scheduling.jobs] == [n for n in JOBS if n != "consolidation"]
    with memory.operations.jobs.schedule(every={"consolidation": 60}) as scheduling:
        assert [each.name for each in scheduling.jobs] == list(JOBS)
    listed = run(place, "ops", "schedule", "--list")
    assert "consolidation is off." in listed
    assert "beliefledger[embeddings]" in " ".join(listed.split())


def test_each_job_does_its_work_and_is_in_status(memory, clock):
    if not installed():
        pytest.skip("needs MiniLM")
    memory.store("ana", "k1", attribute="badge", details=Details(expires_at=clock.now + DAY))
    memory.store("ana", "maybe", attribute="home", confidence=0.3)
    for value in ("Porto", "Oslo", "Rome", "Lima"):
        clock.ahead(86_400)
        memory.record_turn("ana", f"I moved to {value}.")
        memory.process()
    clock.ahead(200 * 86_400)
    runs = {name: memory.operations.jobs.run(name) for name in JOBS}
    assert {name: run.outcome for name, run in runs.items()} == dict.fromkeys(JOBS, "done")
    assert runs["decay"].counts == {"memories": 2}
    assert runs["expiry"].counts == {"expired": 1}
    assert runs["retention"].counts == {"revoked": 1}
    assert runs["loops"].counts == {"contested": 1, "loops": 1}
    assert runs["checkpoints"].counts["stopped"] == 0
    assert runs["checkpoints"].counts["views"] == len(memory.status(digests=False).views)
    assert runs["consolidation"].counts["merged"] == 0
    told = memory.status(digests=False).jobs
    assert {each.job: each for each in told} == runs
    assert [each.job for each in memory.operations.jobs.list()] == sorted(JOBS)
    clock.ahead(60)
    again = memory.operations.jobs.run("expiry")
    assert (again.counts, again.due) == ({"expired": 0}, to_datetime(clock.now))
    assert [each for each in memory.operations.jobs.list() if each.job == "expiry"] == [again]
    assert all(each.same for each in memory.operations.rebuild(verify=True))


def test_a_job_that_failed_says_what_to_do(place, memory, monkeypatch):
    def breaks(_memory):
        raise EmbedderMissing

    monkeypatch.setattr(Conflicts, "loops", breaks)
    told = CliRunner().invoke(app, ["--ledger", place, "ops", "schedule", "--once", "loops"])
    assert told.exit_code == 3
    assert "failed: EmbedderMissing. The model that compares" in " ".join(told.stdout.split())
    assert "pip install" in told.stdout


def test_a_job_that_fails_is_on_record_and_stops_nobody(memory, clock, monkeypatch):
    def breaks():
        raise OSError("a word of somebody's")

    monkeypatch.setitem(memory.operations.jobs._runs._work, "loops", breaks)
    failed = memory.operations.jobs.run("loops")
    assert (failed.outcome, failed.error, failed.counts) == ("failed", "OSError", {})
    assert memory.operations.jobs.run("expiry").outcome == "done"
    told = {each.job: each.outcome for each in memory.status(digests=False).jobs}
    assert told == {"expiry": "done", "loops": "failed"}
    assert "somebody's" not in json.dumps([each.facts for each in memory._log.read()])
    with pytest.raises(InvalidTurn, match="no job 'dance'"):
        memory.operations.jobs.run("dance")


def test_a_run_that_another_process_recorded_meanwhile_is_not_recorded_again(place, clock):
    """The second guard: the first one, the lease, was lost while the job ran."""
    with open_memory(place, clock=clock) as memory, open_memory(place, clock=clock) as other:
        due = JOBS["decay"].due(clock.now)
        reached, go_on = threading.Event(), threading.Event()

        def slow():
            reached.set()
            assert go_on.wait(SECONDS)
            return {"slow": 1}

        answers = []
        job, runs = JOBS["decay"], memory.operations.jobs._runs
        runs._work = {"decay": slow}
        thread = threading.Thread(target=lambda: answers.append(runs.run(job, due)))
        thread.start()
        assert reached.wait(SECONDS)
        first = other.operations.jobs._runs.run(JOBS["decay"], due)
        go_on.set()
        thread.join(SECONDS)
        assert answers == [first]
        assert first.counts == {"memories": 0}
        assert ran(memory) == [("decay", due, "done")]
        assert other.operations.jobs._runs.run(job, due) == first  # on record: not run at all


def test_what_was_missed_is_run_once_at_the_start(memory, place):
    """A schedule that begins runs everything that is due, in this process, with the real clock."""
    with open_memory(place) as running:
        told = []
        scheduling = running.operations.jobs.schedule(
            tell=lambda what, run, _why: told.append((what, run))
        )
        thread = threading.Thread(target=scheduling.run)
        thread.start()
        until(lambda: len(told) >= 1 + len(JOBS))
        scheduling.close()
        thread.join(SECONDS)
        assert not thread.is_alive()
        assert told[0] == ("runs", None)
        assert {run.job for what, run in told if what == "ran"} == set(JOBS)
        head, hour = running.status(digests=False).position, datetime.now(UTC).hour
        with running.operations.jobs.schedule() as again:
            thread = threading.Thread(target=again.run)
            thread.start()
            time.sleep(1.5)
        thread.join(SECONDS)
        # Unless an hour began just now, nothing was due again.
        most = 3 if datetime.now(UTC).hour == hour else 3 * len(JOBS)
        assert running.status(digests=False).position - head <= most


def test_two_processes_run_each_job_once_and_one_takes_over(place):
    """Two schedules on one ledger, every second; the one that runs is killed halfway."""
    with ExitStack() as stack, open_memory(place) as memory:
        words = ("--lease-seconds", "1", "--every", "expiry=1", "--every", "decay=1")
        both = [stack.enter_context(schedule(place, *words)) for _ in range(2)]
        for each in both:
            stack.callback(each.kill)
        states = {process: state(process) for process in both}
        assert sorted(states.values()) == ["runs", "waits"]
        running, waiting = sorted(both, key=lambda each: states[each])

        def runs(job):
            return [due for name, due, _ in ran(memory) if name == job]

        until(lambda: len(runs("expiry")) >= 3)
        running.kill()
        so_far = len(runs("expiry"))
        until(lambda: len(runs("expiry")) >= so_far + 3)
        waiting.send_signal(signal.SIGTERM)
        assert waiting.wait(SECONDS) == 0
        counted = Counter((job, due) for job, due, _ in ran(memory))
        assert set(counted.values()) == {1}
        assert all(due % SECOND == 0 for due in runs("decay"))
        assert '"state":"runs"' in waiting.stdout.read()


@contextmanager
def stopped(process):
    """Stopped meanwhile. In the middle of a write it would keep everybody out: after ten seconds
    it goes on for a moment, and is stopped somewhere else."""
    over = threading.Event()

    def stop():
        os.kill(process.pid, signal.SIGSTOP)
        while not over.wait(10):
            os.kill(process.pid, signal.SIGCONT)
            over.wait(0.05)
            os.kill(process.pid, signal.SIGSTOP)

    stopping = threading.Thread(target=stop)
    stopping.start()
    try:
        yield
    finally:
        over.set()
        stopping.join()
        os.kill(process.pid, signal.SIGCONT)


def test_one_that_was_stopped_does_not_run_a_job_again(place):
    """Stopped past its lease and continued, a process finds that another has taken over."""
    with ExitStack() as stack, open_memory(place) as memory:
        words = ("--lease-seconds", "0.5", "--every", "expiry=1")
        first = stack.enter_context(schedule(place, *words))
        stack.callback(first.kill)
        assert state(first) == "runs"
        until(lambda: any(job == "expiry" for job, _, _ in ran(memory)))
        second = stack.enter_context(schedule(place, *words))
        stack.callback(second.kill)
        assert state(second) == "waits"
        with stopped(first):
            while state(second) != "runs":
                pass
        while state(first) != "waits":
            pass
        before = len(ran(memory))
        until(lambda: len(ran(memory)) >= before + 2)
        assert set(Counter((job, due) for job, due, _ in ran(memory)).values()) == {1}


def run(place, *words, code=0):
    answer = CliRunner().invoke(app, ["--ledger", place, *words])
    assert answer.exit_code == code, answer.output
    return answer.stdout


def test_the_commands_that_end(place):
    run(place, "init")
    document = json.loads(run(place, "ops", "schedule", "--once", "expiry", "--json"))
    assert (document["job"], document["outcome"], document["counts"]) == (
        "expiry",
        "done",
        {"expired": 0},
    )
    assert "expired 0" in run(place, "ops", "schedule", "--once", "expiry")
    listed = {
        each["job"]: each for each in json.loads(run(place, "ops", "schedule", "--list", "--json"))
    }
    assert listed.keys() == JOBS.keys()
    assert listed["expiry"]["last"]["outcome"] == "done"
    assert listed["decay"]["last"] is None
    page = run(place, "ops", "schedule", "--list")
    assert "never" in page
    assert "1 week" in page
    assert "expired 0" in run(place, "status")
    run(place, "ops", "schedule", "--once", "dance", code=2)
    run(place, "ops", "schedule", "--once", "decay", "--list", code=2)
    run(place, "ops", "schedule", "--every", "decay", code=2)
    run(place, "ops", "schedule", "--every", "decay=0", code=2)
    run(place, "ops", "schedule", "--every", "dance=5", code=2)
