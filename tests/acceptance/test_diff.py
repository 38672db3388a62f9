"""What changed in belief between two moments, and the event that changed it."""

from __future__ import annotations

import itertools
import json

import pytest
from served import calling, served
from typer.testing import CliRunner
from wishes import storing

from beliefledger import connect, open_memory
from beliefledger.ledger.errors import InvalidQuery, UnknownMemory
from beliefledger.ledger.times import DAY, to_datetime
from beliefledger.tools.cli import app


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as opened:
        opened.consent.grant("ana", "consent")
        yield opened


def store(memory, value="Lisbon", attribute="home.location", **more):
    return memory.store("ana", value, **storing(attribute=attribute, **more))


def steps(answer):
    """What happened to what, in order."""
    told = [
        (step.event.position, change.text, step.what)
        for change in answer.changes
        for step in change.steps
    ]
    return [each[1:] for each in sorted(told, key=lambda each: each[0])]


def story(memory, clock):
    """Something of everything that changes a belief."""
    memory.remember("ana", "I live in Lisbon. I use pytest. I have diabetes. I drink tea.")
    clock.ahead(3600)
    memory.remember("ana", "What if I were a doctor?")
    memory.remember("ana", "I moved to Porto.")
    memory.remember("ana", "No, I use unittest, not pytest.")
    memory.remember("ana", "I use unittest.")
    store(memory, "tea", "drink", confidence=0.47, idempotency_key="1")
    store(memory, "tea", "drink", confidence=0.47, idempotency_key="2")
    for part in ("morning", "evening", "morning", "evening", "morning"):
        memory.remember("ana", f"I prefer {part} meetings.")
    clock.ahead(3600)
    [conflict] = memory.conflicts.list("ana")
    memory.conflicts.resolve(conflict.belief_id, choose="evening", by="lea")
    [waits] = memory.decisions("ana", waits=True)
    memory.conflicts.review(waits.decision_id, approve=True, by="lea")
    store(memory, "Faro", "office", expires_at=to_datetime(clock.now + 2 * DAY))
    store(memory, "yes", "known", entity="Sarah")
    store(memory, "CTO", "role", entity="S. Chen")
    clock.ahead(5 * 86_400)
    memory.entities.merge("ana", "Sarah", "S. Chen", by="lea")
    memory.operations.ageing.expire()
    memory.revoke(memory.beliefs("ana")[0].memory_id, by="lea")
    store(memory, "Braga", "home.second", valid_from=to_datetime(clock.now + 2 * DAY))
    clock.ahead(4 * 86_400)
    memory.consent.withdraw("ana", by="lea")


def test_the_differences_are_what_makes_one_moment_the_other(memory, clock):
    story(memory, clock)
    asked = {"min_confidence": 0}
    head = memory.status().position
    moments = [
        *range(0, head, 7),
        head,
        *(to_datetime(clock.now - number * DAY) for number in range(10, 0, -1)),
    ]
    moments.sort(key=lambda at: (memory.as_of(at).position, memory.as_of(at).at))
    for start, end in itertools.pairwise(moments):
        before = {b.memory_id: b for b in memory.beliefs("ana", as_of=start, **asked)}
        after = {b.memory_id: b for b in memory.beliefs("ana", as_of=end, **asked)}
        answer = memory.diff("ana", start, end)
        for change in answer.changes:
            assert change.steps
            assert change.what == change.steps[-1].what
            for step in change.steps:
                assert step.event.position <= memory.as_of(end).position
            if change.before is not None:
                assert before.pop(change.memory_id) == change.before
            if change.after is not None:
                assert after.pop(change.memory_id) == change.after
        same = "recorded_from_position", "confidence", "text"
        left, right = (
            {key: [getattr(each, name) for name in same] for key, each in known.items()}
            for known in (before, after)
        )
        assert left == right, (start, end)
    assert memory.diff("ana", head, head).changes == ()


def test_each_change_names_its_event_its_decision_and_who_did_it(memory):
    said = store(memory, text="User lives in Lisbon")
    start = memory.status().position
    changed = store(memory, "Porto", text="User lives in Porto")
    store(memory, "Porto", text="User lives in Porto", idempotency_key="again")
    memory.revoke(changed.memory_id, by="lea")
    answer = memory.diff("ana", start)
    assert steps(answer) == [
        ("User lives in Lisbon", "superseded"),
        ("User lives in Porto", "added"),
        ("User lives in Porto", "confirmed"),
        ("User lives in Porto", "revoked"),
    ]
    old = next(each for each in answer.changes if each.memory_id == said.memory_id)
    new = next(each for each in answer.changes if each.memory_id == changed.memory_id)
    assert (old.before.value, old.after, new.before, new.after) == ("Lisbon", None, None, None)
    [end] = old.steps
    assert (end.by, end.decision_id, end.reason) == (
        new.memory_id, changed.decision_id, "truth.at_least_as_strong",
    )  # fmt: skip
    event = memory._log.find(end.event.event_id)
    assert (event.position, event.type) == (end.event.position, "memory.superseded.v2")
    confirmed = new.steps[1]
    assert confirmed.confidence_after > confirmed.confidence_before
    assert (new.steps[-1].event.actor, new.steps[-1].decision_id) == ("lea", None)


def test_the_whole_story_is_told(memory, clock):
    story(memory, clock)
    told = {what for _, what in steps(memory.diff("ana", 0))}
    assert told == {
        "added", "quarantined", "promoted", "confirmed", "superseded", "corrected", "contested",
        "escalated", "resolved", "expired", "moved", "revoked", "consent_withdrawn",
    }  # fmt: skip


def test_what_time_alone_did_has_the_event_that_said_so(memory, clock):
    store(memory, expires_at=to_datetime(clock.now + 2 * DAY))
    store(memory, "Braga", "home.second", valid_from=to_datetime(clock.now + 2 * DAY))
    head = memory.status().position
    start = to_datetime(clock.now + DAY // 2)
    clock.ahead(5 * 86_400)
    answer = memory.diff("ana", start)
    assert {change.what: change.steps[0].since.day for change in answer.changes} == {
        "expired": 3, "began": 3,
    }  # fmt: skip
    assert {each.on for change in answer.changes for each in change.steps} == {
        change.steps[0].event.recorded_at for change in answer.changes
    }
    assert {change.steps[0].event.type for change in answer.changes} == {"memory.admitted.v2"}
    assert memory.status().position == head


def test_a_merge_is_told_of_all_that_went_into_it(memory):
    for attribute, text in (("home.location", "lives"), ("home.residence", "resides")):
        store(memory, "Berlin", attribute, text=f"User {text} in Berlin")
    start = memory.status().position
    [cluster] = memory.operations.consolidation.consolidate("ana", apply=True).clusters
    merged = memory.diff("ana", start)
    assert sorted(change.what for change in merged.changes) == ["added", "merged", "merged"]
    taken = {change.steps[0].by for change in merged.changes if change.what == "merged"}
    assert taken == {cluster.memory_id}
    middle = memory.status().position
    memory.operations.consolidation.undo(cluster.memory_id, by="lea")
    undone = [change.what for change in memory.diff("ana", middle).changes]
    assert sorted(undone) == ["restored", "restored", "unmerged"]


def test_what_is_erased_shows_as_gone_without_words(memory):
    memory.remember("ana", "I live in Lisbon.")
    start = memory.status().position
    memory.remember("ana", "I use pytest.")
    home = memory.beliefs("ana")[0].memory_id
    memory.erase("ana", memory=home, by="lea")
    by_id = {change.memory_id: change for change in memory.diff("ana", start).changes}
    gone = by_id.pop(home)
    assert (gone.what, gone.erased, gone.text, gone.before) == ("erased", True, None, None)
    assert gone.steps[0].event.type == "content.erased.v2"
    assert gone.steps[0].event.actor == "lea"
    assert [change.text for change in by_id.values()] == ["User uses pytest"]
    early = memory.diff("ana", 0, start)
    assert [(change.what, change.erased) for change in early.changes] == [("added", True)]
    assert "Lisbon" not in memory.diff("ana", 0).model_dump_json()


def test_of_a_whole_person_only_the_erasure_is_told(memory):
    memory.remember("ana", "I live in Lisbon.")
    memory.erase("ana", by="lea")
    [change] = memory.diff("ana", 0).changes
    assert (change.what, change.memory_id, change.text) == ("erased", None, None)
    assert change.steps[0].event.type == "subject.erased.v2"


def test_moments_have_an_order_and_people_are_known(memory):
    store(memory)
    with pytest.raises(InvalidQuery, match="end comes before start"):
        memory.diff("ana", 5, 3)
    for start, end, named in ((10_000, None, "start"), (0, 10_000, "end")):
        with pytest.raises(InvalidQuery, match=f"^{named}: position 10000 is not in the log"):
            memory.diff("ana", start, end)
    with pytest.raises(InvalidQuery, match=r"^end: 'soon' is not a time"):
        memory.diff("ana", 0, "soon")
    with pytest.raises(UnknownMemory, match="'zoe'"):
        memory.diff("zoe", 0)


def test_the_command_line_tells_it(place):
    def run(*words, code=0):
        answer = CliRunner(env={"COLUMNS": "120"}).invoke(app, ["--ledger", place, *words])
        assert answer.exit_code == code, answer.output
        return answer.stdout

    run("remember", "--subject", "ana", "I live in Lisbon.", "--consent", "consent")
    run("remember", "--subject", "ana", "I moved to Porto.")
    page = run("diff", "--subject", "ana", "--start", "0")
    assert "2 changes of ana between the beginning and position" in page
    assert "superseded" in page
    assert "truth.change" in page
    told = json.loads(run("diff", "--subject", "ana", "--start", "2020-01-01", "--json"))
    assert [change["what"] for change in told["changes"]] == ["superseded", "added"]
    assert told["start"]["position"] == 0
    same = run("diff", "--subject", "ana", "--start", "5", "--end", "5")
    assert same.startswith("0 changes of ana")
    words = ["--ledger", place, "diff", "--subject", "ana", "--start", "99999"]
    assert ": start: position 99999 is not" in CliRunner().invoke(app, words).stderr
    run("diff", "--subject", "ana", "--start", "9", "--end", "5", code=2)


def test_what_is_in_quarantine_is_not_believed_at_either_moment(memory):
    memory.remember("ana", "What if I were a doctor?")
    start = memory.status().position
    [change] = memory.diff("ana", 0).changes
    assert memory.beliefs("ana") == []
    assert (change.what, change.text) == ("quarantined", "User is a doctor")
    assert (change.before, change.after) == (None, None)
    memory.remember("ana", "I am a doctor.")
    after = [each.after.text for each in memory.diff("ana", start).changes if each.after]
    assert after == [each.text for each in memory.beliefs("ana")]
    with served(memory, worker=False) as server:
        told = server.call(server.token(), "diff", start="0", end=str(start))["data"]["changes"]
        assert [(each["believed_before"], each["believed_after"]) for each in told] == [
            (False,) * 2
        ]


@pytest.mark.parametrize("how", ["withdrawn", "revoked", "quarantined"])
def test_of_what_is_withheld_an_agent_is_told_the_change_alone(memory, how):
    memory.remember("ana", "I live in Lisbon.")
    if how == "quarantined":
        memory.remember("ana", "What if I were a doctor?")
    else:
        memory.consent.grant("ana", "explicit_consent", categories=("health",))
        memory.remember("ana", "I have asthma.")
    middle = memory.status().position
    [gone] = [each for each in memory.diff("ana", 0).changes if "Lisbon" not in each.text]
    if how == "revoked":
        memory.revoke(gone.memory_id, by="lea")
    elif how == "withdrawn":
        memory.consent.withdraw("ana", basis="explicit_consent", by="lea")
    with served(memory, worker=False) as server, calling(server) as client:
        with connect(server.root, token=server.token()) as connected:
            ends = [(0, middle), (0, memory.status().position)]
            asked = [{"start": start, "end": end} for start, end in ends]
            told = [client.get("diff", params=each).json()["changes"] for each in asked]
            told += [
                connected.diff("ana", *each).model_dump(mode="json")["changes"] for each in ends
            ]
        for changes in told:
            [change] = [each for each in changes if each["memory_id"] == gone.memory_id]
            steps, what = change.pop("steps"), change.pop("what")
            assert change == {
                "memory_id": gone.memory_id, "belief_id": gone.belief_id, "text": None,
                "erased": False, "before": None, "after": None,
            }  # fmt: skip
            assert what == steps[-1]["what"]
            assert "health" not in str(changes)
            assert "explicit_consent" not in str(changes)
            [home] = [each for each in changes if each["memory_id"] != gone.memory_id]
            assert home["after"]["value"] == "Lisbon"


def test_on_is_when_it_was_recorded_and_since_from_when_on_it_was_so(place, clock):
    with open_memory(place, consent="consent", clock=clock) as memory:
        memory.remember("ana", "I live in Porto.", said_at="2026-02-05")
        memory.remember("ana", "I live in Lisbon.", said_at="2026-02-01")
        told = {
            (change.text, step.what): (step.on, step.since and f"{step.since:%Y-%m-%d}")
            for change in memory.diff("ana", 0).changes
            for step in change.steps
        }
        now = to_datetime(clock.now)
        assert told == {
            ("User lives in Porto", "added"): (now, None),
            ("User lives in Lisbon", "added"): (now, None),
            ("User lives in Lisbon", "ended"): (now, "2026-02-05"),
        }
    answer = CliRunner(env={"COLUMNS": "140"}).invoke(
        app, ["--ledger", place, "diff", "-s", "ana", "--start", "0"]
    )
    rows = [line.split() for line in answer.stdout.splitlines() if "#" in line]
    assert {each[0] for each in rows} == {f"{now:%Y-%m-%d}"}
    assert [each[2:4] for each in rows] == [
        ["added", "User"], ["added", "User"], ["ended", "2026-02-05"],
    ]  # fmt: skip
