"""The production checklists: a ledger in order says yes, and each thing that is not says no."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from command_line import CliRunner

from beliefledger import open_memory
from beliefledger.audit.checklist import lists
from beliefledger.audit.checks import Checks
from beliefledger.curation.storing import Details
from beliefledger.gate.policy import millionths
from beliefledger.ledger.candidate import Candidate, Source, Span
from beliefledger.ledger.codec import New
from beliefledger.ledger.errors import ExtractionUnavailable, InvalidQuery, NotPermitted
from beliefledger.ledger.events.belief import MemoryAdmitted
from beliefledger.ledger.events.ops import JobRan
from beliefledger.ledger.events.turn import CandidateProposed, TurnRecorded
from beliefledger.ledger.log import new_id
from beliefledger.ledger.masterkey import MasterKey
from beliefledger.ledger.memory import Memory
from beliefledger.ledger.streams import ops_stream
from beliefledger.ledger.vault import SYSTEM
from beliefledger.tools.cli import app

DAY = 86_400


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as opened:
        opened.consent.grant("ana", "consent")
        yield opened


def _line(memory, name: str, *, deep: bool = False):
    of = name.partition(".")[0]
    return next(each for each in memory.audit.checklist(of, deep=deep).lines if each.id == name)


def _append(memory, event, stream: str, version: int = 0, subject: str | None = "ana") -> str:
    """Past the gate: what only a fault, or another program, could write."""
    ref = subject and memory._log.subject(subject)
    new = New(event, new_id(), stream, ref)
    memory._log.append([new], {stream: version})
    return new.event_id


def _ran(memory, job: str, outcome: str = "done", error: str | None = None) -> None:
    stream = ops_stream(memory._log.tenant)
    event = JobRan(
        job=job,
        due=memory._core.clock(),
        outcome=outcome,
        counts={"looked_at": 1},
        duration_micros=1000,
        error=error,
    )
    _append(memory, event, stream, memory._log.version(stream), None)


def _candidate(quote: str) -> CandidateProposed:
    candidate = Candidate(
        claim=quote,
        spans=(Span(start=0, end=len(quote), quote=quote),),
        type="fact",
        attribute="colour",
        value=quote,
        source=Source.STATED,
        importance=500_000,
        confidence=900_000,
    )
    return CandidateProposed(index=7, act="statement", inferred=False, candidate=candidate)


def test_every_line_has_its_function_and_its_question():
    for of, lines in lists().items():
        for name, about in lines.items():
            assert callable(getattr(Checks, name)), (of, name)
            assert set(about) == {"question", "show"}, (of, name)
            assert about["question"].endswith("?")
            assert about["show"].startswith("beliefledger ")


def test_the_commands_that_are_named_are_there():
    import typer

    known = set(typer.main.get_command(app).commands)
    for lines in lists().values():
        for about in lines.values():
            assert about["show"].split()[1] in known


def test_a_ledger_in_order_says_yes_or_why_a_line_does_not_apply(memory, clock):
    memory.policy.adopt({"ttl_days": {"event": 365}}, by="eva")
    memory.consent.grant("ben", "explicit_consent", categories=["ordinary", "health"])
    memory.remember("ana", "I live in Porto. My password is hunter2trustno1.")
    memory.store("ben", "asthma", attribute="health.condition", details=Details(category="health"))
    memory.remember("ana", "I moved to Faro.")
    memory.consent.grant("cleo", "consent")
    memory.remember("cleo", "I live in Braga.")
    memory.erase("cleo", by="eva")
    for job in ("decay", "expiry", "consolidation", "loops", "retention", "backup"):
        _ran(memory, job)
    with memory.consumer("billing", follow=False) as consumer:
        for each in consumer:
            consumer.ack(each.position)
    answer = memory.audit.checklist(deep=True)
    assert len(answer.lines) == sum(map(len, lists().values()))
    answers = {line.id: line.answer for line in answer.lines}
    not_yes = {name: told for name, told in answers.items() if told != "yes"}
    # The key of a test's directory lies in it; on a server the environment gives it. The consumer
    # acknowledged what it was given, and is at the head.
    in_directory = {"end-to-end.key": "no"} if isinstance(memory.place, Path) else {}
    in_database = set() if isinstance(memory.place, Path) else {"end-to-end.places"}
    assert {name for name in not_yes if name not in in_database} == {
        "manage.calibration",
        *in_directory,
    }
    assert (answer.yes, answer.no) == (
        sum(told == "yes" for told in answers.values()),
        sum(told == "no" for told in answers.values()),
    )
    for line in answer.lines:
        assert line.evidence
        assert (line.offending is None) or line.answer == "no"


def test_an_empty_ledger_claims_nothing(place, clock):
    with open_memory(place, clock=clock) as memory:
        every = memory.audit.checklist().lines
    answers = {line.id: line.answer for line in every}
    for name in ("recorded_first", "decided", "spans", "secrets", "consent", "evidence"):
        assert answers[f"write.{name}"] == "not applicable"
    yes = {line.id for line in every if line.answer == "yes"}
    assert yes <= {
        "end-to-end.verify", "end-to-end.views", "end-to-end.key", "end-to-end.places"
    }  # there is a policy to verify and to fold, and a key  # fmt: skip


def test_a_list_that_is_not_there_is_named(memory):
    with pytest.raises(InvalidQuery, match="write, manage, end-to-end"):
        memory.audit.checklist("read")


# Write


def test_something_made_of_a_turn_before_it_was_recorded(memory):
    stream = "ab" * 16
    _append(memory, _candidate("blue"), stream)
    line = _line(memory, "write.recorded_first")
    assert (line.answer, line.offending) == ("no", stream)


def _turn(content: str) -> TurnRecorded:
    return TurnRecorded(
        role="user",
        channel="conversation",
        secrets=0,
        session_tag="cd" * 16,
        said_at_stated=False,
        content=content,
    )


def test_a_turn_recorded_twice(memory):
    receipt = memory.record_turn("ana", "Hello.")
    assert _line(memory, "write.recorded_once").answer == "yes"
    _append(memory, _turn("Hello."), receipt.turn_id, 1)
    line = _line(memory, "write.recorded_once")
    assert (line.answer, line.offending) == ("no", receipt.turn_id)


def test_a_turn_that_waits_too_long(memory, clock):
    receipt = memory.record_turn("ana", "I live in Porto.")
    assert _line(memory, "write.queue").answer == "yes"
    clock.ahead(DAY + 60)
    line = _line(memory, "write.queue")
    assert (line.answer, line.offending) == ("no", receipt.turn_id)
    memory.process()
    assert _line(memory, "write.queue").answer == "yes"


def test_a_turn_set_aside(place, clock):
    class Down:
        name = "down"

        def extract(self, turn, earlier):
            raise ExtractionUnavailable("It is down.")

    with open_memory(
        place, clock=clock, extractor=Down(), policy={"extraction_tries": 1}
    ) as memory:
        receipt = memory.record_turn("ana", "I live in Porto.")
        memory.process()
        line = _line(memory, "write.failures")
    assert (line.answer, line.offending) == ("no", receipt.turn_id)
    assert "1 failed attempts" in line.evidence


def test_a_statement_without_a_decision(memory):
    receipt, _ = memory.remember("ana", "I live in Porto.")
    assert _line(memory, "write.decided").answer == "yes"
    version = memory._log.version(receipt.turn_id)
    event = _append(memory, _candidate("Porto"), receipt.turn_id, version)
    line = _line(memory, "write.decided")
    assert (line.answer, line.offending) == ("no", event)


def test_words_that_are_not_in_the_turn(memory):
    _, decisions = memory.remember("ana", "I live in Porto.")
    assert _line(memory, "write.spans").answer == "yes"
    made = memory._log.find(decisions[0].decision_id)
    version = memory._log.version(made.stream)
    _append(memory, _candidate("blue"), made.stream, version)
    forged = made.event.model_copy(update={"candidate_version": version + 1})
    decision = _append(memory, forged, made.stream, version + 1)
    line = _line(memory, "write.spans")
    assert (line.answer, line.offending) == ("no", decision)


def test_a_secret_in_a_recorded_turn(memory):
    memory.record_turn("ana", "My password is hunter2trustno1.")
    line = _line(memory, "write.secrets")
    assert (line.answer, "password 1" in line.evidence) == ("yes", True)
    stream = "ef" * 16
    _append(memory, _turn("My password is hunter2trustno1."), stream)
    line = _line(memory, "write.secrets")
    assert (line.answer, line.offending) == ("no", stream)


def test_a_memory_whose_lawful_basis_is_over(place, clock):
    with open_memory(place, clock=clock) as memory:
        memory.consent.grant("ana", "consent", expires_at=clock.now + 10 * DAY * 1_000_000)
        kept = memory.store("ana", "blue", attribute="colour").memory_id
        assert _line(memory, "write.consent").answer == "yes"
        clock.ahead(11 * DAY)
        line = _line(memory, "write.consent")
    assert (line.answer, line.offending) == ("no", kept)


def test_a_category_that_the_policy_prohibits_by_now(memory):
    queued = memory.store(
        "ana", "asthma", attribute="health.condition", details=Details(category="health")
    )
    kept = memory.conflicts.review(queued.decision_id, approve=True, by="eva")
    assert _line(memory, "write.special").answer == "yes"
    assert _line(memory, "write.consent").answer == "yes"
    categories = {**memory.policy.current.special_categories, "health": "prohibit"}
    memory.policy.adopt({"special_categories": categories}, by="eva")
    line = _line(memory, "write.special")
    assert (line.answer, line.offending) == ("no", kept)


def _admitted(memory, *, category: str | None, decision: str) -> MemoryAdmitted:
    kept = memory.store("ana", "blue", attribute="colour")
    grant = memory.consent.list("ana")[0]
    now = memory._core.clock()
    return MemoryAdmitted(
        memory_id="77" * 16,
        decision=decision or kept.decision_id,
        type="fact",
        confidence=millionths(0.9),
        base=millionths(0.9),
        importance=500_000,
        mentions=1,
        visibility_scope="subject",
        basis=grant.basis,
        grant=grant.grant_id,
        memory=Memory(
            claim="User has asthma",
            attribute="health.condition",
            value="asthma",
            category=category,
            said_at=now,
            said_at_stated=False,
            valid_from=now,
            turn=kept.turn_id,
            spans=(),
        ),
    )


def test_a_special_category_that_nobody_allowed(memory):
    _append(memory, _admitted(memory, category="health", decision=""), "99" * 16)
    line = _line(memory, "write.special")
    assert (line.answer, line.offending) == ("no", "77" * 16)


def test_a_memory_of_no_decision(memory):
    event = _admitted(memory, category=None, decision="00" * 16)
    assert _line(memory, "write.evidence").answer == "yes"
    _append(memory, event, "99" * 16)
    line = _line(memory, "write.evidence")
    assert (line.answer, line.offending) == ("no", "77" * 16)


def test_what_is_believed_below_the_threshold_in_force(memory):
    kept = memory.store("ana", "blue", attribute="colour").memory_id
    memory.store("ana", "red", attribute="other", confidence=0.2)
    line = _line(memory, "write.threshold")
    assert (line.answer, "1 apart" in line.evidence) == ("yes", True)
    memory.policy.adopt({"thresholds": {"default": 0.9}}, by="eva")
    line = _line(memory, "write.threshold")
    assert (line.answer, line.offending) == ("no", kept)


# Manage


@pytest.mark.parametrize(
    ("name", "job", "days"),
    [
        ("manage.decay", "decay", 8),
        ("manage.expiry", "expiry", 3),
        ("manage.consolidation", "consolidation", 32),
        ("manage.audited", "loops", 3),
        ("manage.retained", "retention", 3),
        ("end-to-end.backup", "backup", 8),
    ],
)
def test_a_job_that_never_ran_failed_or_ran_too_long_ago(memory, clock, name, job, days):
    assert _line(memory, name).answer == "no"
    _ran(memory, job, "failed", "TimeoutError")
    assert _line(memory, name).answer == "no"
    _ran(memory, job)
    assert _line(memory, name).answer == "yes"
    clock.ahead(days * DAY)
    assert _line(memory, name).answer == "no"


def test_the_schedule_answers_the_lines_about_jobs(memory):
    memory.store("ana", "blue", attribute="colour")
    names = ("decay", "expiry", "audited", "retained", "consolidation")
    assert {_line(memory, f"manage.{name}").answer for name in names} == {"no"}
    for job in ("decay", "expiry", "loops", "retention", "consolidation"):
        assert memory.operations.jobs.run(job).outcome == "done"
    assert {_line(memory, f"manage.{name}").answer for name in names} == {"yes"}
    assert _line(memory, "manage.jobs").answer == "yes"


def test_a_job_whose_last_run_failed(memory):
    assert _line(memory, "manage.jobs").answer == "not applicable"
    _ran(memory, "decay", "failed", "TimeoutError")
    line = _line(memory, "manage.jobs")
    assert (line.answer, "TimeoutError" in line.evidence) == ("no", True)
    _ran(memory, "decay")
    assert _line(memory, "manage.jobs").answer == "yes"


def test_a_memory_past_its_time(memory, clock):
    kept = memory.store(
        "ana", "blue", attribute="colour", details=Details(expires_at=clock.now + DAY * 1_000_000)
    ).memory_id
    assert _line(memory, "manage.expired").answer == "yes"
    clock.ahead(2 * DAY)
    line = _line(memory, "manage.expired")
    assert (line.answer, line.offending) == ("no", kept)
    memory.store("ana", "red", attribute="colour")  # which ends it
    assert _line(memory, "manage.expired").answer == "yes"


def test_a_contested_belief_and_a_conflict_that_waits(memory, clock):
    for value in ("Porto", "Faro", "Porto", "Faro"):
        clock.ahead(3600)
        memory.store("ana", value, attribute="home.location")
    line = _line(memory, "manage.loops")
    assert line.answer == "no"
    assert _line(memory, "manage.conflicts").answer == "yes"
    clock.ahead(3600)
    against = memory.store("ana", "Lagos", attribute="home.location")
    assert _line(memory, "manage.conflicts").answer == "yes"
    clock.ahead(8 * DAY)
    waiting = _line(memory, "manage.conflicts")
    assert (waiting.answer, waiting.offending) == ("no", against.decision_id)
    memory.conflicts.resolve(line.offending, choose="Lagos", by="eva")
    assert _line(memory, "manage.loops").answer == "yes"
    assert _line(memory, "manage.conflicts").answer == "yes"


def test_a_review_that_waits(memory, clock):
    queued = memory.store(
        "ana", "asthma", attribute="health.condition", details=Details(category="health")
    )
    assert _line(memory, "manage.reviews").answer == "yes"
    clock.ahead(8 * DAY)
    line = _line(memory, "manage.reviews")
    assert (line.answer, line.offending) == ("no", queued.decision_id)


def test_confidence_that_is_far_from_what_turned_out(memory):
    for number in range(30):
        memory.store("ana", "blue", attribute=f"slot{number}", confidence=0.95)
        memory.store("ana", "blue", attribute=f"slot{number}")
    assert _line(memory, "manage.calibration").answer == "yes"
    for number in range(10):
        kept = memory.store("ana", "blue", attribute=f"more{number}", confidence=0.95)
        memory.revoke(kept.memory_id, by="eva")
    line = _line(memory, "manage.calibration")
    assert (line.answer, "0.200" in line.evidence) == ("no", True)


# End to end


def test_a_revocation_by_nobody(memory):
    kept = memory.store("ana", "blue", attribute="colour").memory_id
    other = memory.store("ana", "red", attribute="other").memory_id
    memory.revoke(kept, by="eva")
    assert _line(memory, "end-to-end.named").answer == "yes"
    memory.revoke(other, by=SYSTEM)
    assert _line(memory, "end-to-end.named").answer == "no"


def test_a_consumer_that_nobody_runs(memory):
    assert _line(memory, "end-to-end.consumers").answer == "not applicable"
    with memory.consumer("billing", follow=False) as consumer:
        consumer.ack(next(iter(consumer)).position)
    line = _line(memory, "end-to-end.consumers")
    assert (line.answer, line.offending) == ("no", "billing")


def test_the_master_key_beside_the_ledger(tmp_path, monkeypatch):
    place = tmp_path / "ledger"
    with open_memory(place) as memory:
        line = _line(memory, "end-to-end.key")
    assert (line.answer, line.offending) == ("no", str(place / "master.key"))
    elsewhere = tmp_path / "safe.key"
    (place / "master.key").rename(elsewhere)
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY_FILE", str(elsewhere))
    with open_memory(place) as memory:
        assert _line(memory, "end-to-end.key").answer == "yes"
        elsewhere.chmod(0o644)
        line = _line(memory, "end-to-end.key")
        assert (line.answer, "by others" in line.evidence) == ("no", True)
        key = MasterKey.from_file(elsewhere).key.hex()
    monkeypatch.setenv("BELIEFLEDGER_MASTER_KEY", key)
    with open_memory(place) as memory:
        assert _line(memory, "end-to-end.key").answer == "yes"


@pytest.fixture
def embedded(tmp_path, clock):
    """A ledger in a directory, whose files can be damaged."""
    with open_memory(tmp_path / "ledger", clock=clock) as opened:
        opened.consent.grant("ana", "consent")
        opened.consent.grant("ben", "consent")
        opened.remember("ana", "I live in Porto.")
        opened.remember("ben", "I live in Faro.")
        yield opened


def _sql(file: Path, *statements: str) -> list:
    connection = sqlite3.connect(file, timeout=10)
    found = [connection.execute(each).fetchall() for each in statements]
    connection.commit()
    connection.close()
    return found


def test_a_log_that_was_tampered_with(embedded):
    log = embedded.place / "log.db"
    assert _line(embedded, "end-to-end.verify").answer == "yes"
    _sql(
        log,
        "DROP TRIGGER bodies_refuse_update",
        "UPDATE bodies SET body = zeroblob(40) WHERE position = (SELECT max(position) FROM bodies)",
    )
    line = _line(embedded, "end-to-end.verify")
    assert line.answer == "no"
    assert line.offending.startswith("position ")


def test_a_view_that_was_tampered_with(embedded):
    views = embedded.place / "views" / "views.db"
    for name in ("as_of", "rebuild"):
        assert _line(embedded, f"end-to-end.{name}", deep=True).answer == "yes"
    (states,) = _sql(views, "SELECT generation FROM view_state WHERE name = 'belief_versions'")
    table = f"belief_versions_{states[0][0]}"
    _sql(views, f"UPDATE {table} SET memory_id = 'ffffffffffffffffffffffffffffffff'")
    line = _line(embedded, "end-to-end.as_of")
    assert line.answer == "no"
    assert _line(embedded, "end-to-end.rebuild", deep=True).answer == "no"


def test_the_past_agrees_after_changes_merges_endings_and_expiries(memory, clock):
    for value in ("Porto", "Faro", "Porto", "Faro", "Lagos"):
        clock.ahead(3600)
        memory.store("ana", value, attribute="home.location")
    memory.conflicts.resolve(memory.conflicts.list("ana")[0].belief_id, choose="Lagos", by="eva")
    for attribute, text in (
        ("editor.theme", "User prefers dark mode"),
        ("ui.appearance", "User likes dark mode"),
    ):
        memory.store("ana", "dark mode", attribute=attribute, type="preference", text=text)
    assert len(memory.operations.consolidation.consolidate("ana", apply=True).clusters) == 1
    memory.remember("ana", "I don't like jazz any more.")
    memory.store(
        "ana", "tea", attribute="drink", details=Details(expires_at=clock.now + DAY * 1_000_000)
    )
    kept = memory.store("ana", "red", attribute="colour").memory_id
    memory.revoke(kept, by="eva")
    clock.ahead(2 * DAY)
    assert len(memory.operations.ageing.expire()) == 1
    memory.store("ana", "blue", attribute="colour", valid_from="2020-01-01", valid_to="2021-01-01")
    line = _line(memory, "end-to-end.as_of", deep=True)
    assert line.answer == "yes", line


def test_a_view_that_stopped(embedded):
    views = embedded.place / "views" / "views.db"
    assert _line(embedded, "end-to-end.views").answer == "yes"
    _sql(views, "UPDATE view_state SET stopped_at = 5, reason = 'odd' WHERE name = 'churn'")
    line = _line(embedded, "end-to-end.views")
    assert (line.answer, line.offending) == ("no", "position 5")
    assert _line(embedded, "manage.loops").answer == "no"  # it cannot be asked


def test_a_body_of_an_erased_person(embedded):
    log = embedded.place / "log.db"
    (bodies,) = _sql(log, "SELECT position, hex(body) FROM bodies ORDER BY position")
    embedded.erase("ben", by="eva")
    assert _line(embedded, "end-to-end.erasure").answer == "yes"
    (left,) = _sql(log, "SELECT position FROM bodies")
    gone = [each for each in bodies if (each[0],) not in left]
    _sql(log, f"INSERT INTO bodies VALUES ({gone[0][0]}, x'{gone[0][1]}')")
    line = _line(embedded, "end-to-end.erasure")
    assert (line.answer, line.offending) == ("no", f"position {gone[0][0]}")


def test_whoever_makes_backups_records_them(memory, clock):
    covered = memory.operations.record_backup(by="cron")
    assert covered == memory._log.head().position - 1  # all but the record of it
    line = _line(memory, "end-to-end.backup")
    assert (line.answer, line.evidence.split()[0]) == ("yes", "backup")
    with pytest.raises(NotPermitted):
        memory.operations.record_backup(by=" ")


def test_a_decision_that_comes_out_different(memory):
    _, decisions = memory.remember("ana", "I live in Porto.")
    assert _line(memory, "end-to-end.replay").answer == "yes"
    made = memory._log.find(decisions[0].decision_id)
    forged = made.event.model_copy(update={"c": made.event.c + 1})
    decision = _append(memory, forged, made.stream, memory._log.version(made.stream))
    line = _line(memory, "end-to-end.replay")
    assert (line.answer, line.offending) == ("no", decision)


def test_the_command(new_place):
    place = new_place()
    with open_memory(place) as memory:
        memory.remember("ana", "I live in Porto.", consent="consent")

    def run(*words: str, code: int):
        result = CliRunner().invoke(app, ["--ledger", place, "audit", "checklist", *words])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, (result.stdout, result.stderr)
        return result

    page = run("write", code=0).stdout
    assert "0 no" in page
    assert "letter for letter" in " ".join(page.split())
    answer = json.loads(run("manage", "--json", code=1).stdout)
    assert answer["no"] == sum(line["answer"] == "no" for line in answer["lines"]) > 0
    assert {line["list"] for line in answer["lines"]} == {"manage"}
    assert "beliefledger policy show" in run("manage", code=1).stdout
    assert "end-to-end" in run("reading", code=2).stderr
    assert "--by" in run("--backed-up", code=2).stderr
    assert "on record" in run("write", "--backed-up", "--by", "cron", code=0).stderr
    lines = json.loads(run("end-to-end", "--json", code=1).stdout)["lines"]
    assert {line["id"]: line["answer"] for line in lines}["end-to-end.backup"] == "yes"
