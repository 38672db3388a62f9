"""Whoever asks about the past sees what was believed then, each line with what became of it."""

from __future__ import annotations

import json

import pytest
from served import calling, served
from typer.testing import CliRunner
from wishes import storing

from beliefledger import open_memory
from beliefledger.ledger.errors import UnknownMemory
from beliefledger.ledger.log import Log
from beliefledger.ledger.times import DAY, to_datetime
from beliefledger.projections import questions
from beliefledger.tools.cli import app

LATER = 40 * DAY


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as opened:
        opened.consent.grant("ana", "consent")
        yield opened


def store(memory, value="Lisbon", attribute="home.location", **more):
    return memory.store("ana", value, **storing(attribute=attribute, **more))


def superseded(memory, first):
    return store(memory, "Porto").memory_id


def corrected(memory, first):
    memory.remember("ana", "No, I live in Porto, not Lisbon.")
    return memory.beliefs("ana")[0].memory_id


def revoked(memory, first):
    memory.revoke(first.memory_id, by="lea")


def consent_withdrawn(memory, first):
    memory.consent.withdraw("ana", by="lea")
    [event] = memory._log.of_types(["consent.withdrawn.v1"])
    return event.event_id


def merged(memory, first):
    memory.store(
        "ana", "Lisbon", attribute="home.residence", text="User resides in Lisbon", confidence=0.6
    )
    memory.operations.consolidation.consolidate("ana", apply=True)
    [one] = memory.beliefs("ana")
    return one.memory_id


def moved(memory, first):
    memory.entities.merge("ana", "Sarah", "S. Chen", by="lea")


FIRST = {"text": "User lives in Lisbon"}
ENDS = [
    ("superseded", superseded, FIRST),
    ("corrected", corrected, FIRST),
    ("revoked", revoked, FIRST),
    ("consent_withdrawn", consent_withdrawn, FIRST),
    ("merged", merged, FIRST),
    ("moved", moved, {"entity": "S. Chen", "attribute": "role"}),
]
TEXTS = {"consent_withdrawn": "consent withdrawn"}


@pytest.mark.parametrize(("what", "end", "fields"), ENDS, ids=[what for what, *_ in ENDS])
def test_what_was_believed_then_says_what_became_of_it(memory, clock, what, end, fields):
    if what == "moved":
        store(memory, "yes", "known", entity="Sarah")
    first = store(memory, **fields)
    position = memory.status().position
    [before] = [b for b in memory.beliefs("ana") if b.memory_id == first.memory_id]
    assert before.became is None
    clock.ahead(LATER / 1_000_000)
    by = end(memory, first)
    became = [
        b.became for b in memory.beliefs("ana", as_of=position) if b.memory_id == first.memory_id
    ]
    assert [each.what for each in became] == [what]
    assert became[0].on == to_datetime(clock.now)
    assert became[0].text == f"{TEXTS.get(what, what)} on {to_datetime(clock.now):%Y-%m-%d}"
    assert by is None or became[0].by == by
    last = memory.history(first.memory_id)
    if what not in {"moved", "merged"}:
        assert {b.became for b in last if b.memory_id == first.memory_id} == set(became)
        assert memory.explain(first.memory_id).memory.became == became[0]
        assert memory.decision(first.decision_id).became == became[0]
    assert all(each.became is None for each in memory.beliefs("ana"))


def test_a_memory_is_explained_as_it_was_known_then(memory, clock):
    start = memory.status().position
    first = store(memory, **FIRST)
    position = memory.status().position
    clock.ahead(LATER / 1_000_000)
    memory.remember("ana", "I live in Lisbon.")
    second = store(memory, "Porto")
    now, then = memory.explain(first.memory_id), memory.explain(first.memory_id, as_of=position)
    assert (now.holds, then.holds) == (False, True)
    assert then.memory.became.what == "superseded"
    assert then.memory.superseded_by is None
    assert (len(now.history), len(then.history)) == (4, 1)
    assert (len(now.confirmed_by), len(then.confirmed_by)) == (1, 0)
    with pytest.raises(UnknownMemory, match="was not there yet"):
        memory.explain(second.memory_id, as_of=position)
    with pytest.raises(UnknownMemory):
        memory.explain(first.memory_id, as_of=start)


def test_a_grant_that_expires_tells_so(memory, clock):
    later = to_datetime(clock.now + 3 * DAY)
    memory.consent.grant("bo", "consent", expires_at=later)
    memory.store("bo", "Lisbon", **storing(attribute="home.location"))
    position = memory.status().position
    assert [each.became for each in memory.beliefs("bo", as_of=position)] == [None]
    clock.ahead(LATER / 1_000_000)
    for asked in (None, position):
        [belief] = memory.beliefs("bo", as_of=asked)
        assert (belief.became.what, belief.became.on) == ("consent_expired", later)
    memory.consent.grant("bo", "consent")
    assert [each.became for each in memory.beliefs("bo")] == [None]


def test_time_alone_ends_what_was_written_with_its_end(memory, clock):
    said = to_datetime(clock.now)
    store(memory, expires_at=to_datetime(clock.now + 2 * DAY))
    store(memory, "tea", "drink", valid_to=to_datetime(clock.now + 3 * DAY), said_at=said)
    position = memory.status().position
    assert [b.became for b in memory.beliefs("ana", as_of=position)] == [None, None]
    clock.ahead(LATER / 1_000_000)
    became = [b.became.text for b in memory.beliefs("ana", as_of=position)]
    assert became == ["expired on 2026-03-03", "ended on 2026-03-04"]
    memory.operations.ageing.expire()
    became = [b.became.text for b in memory.beliefs("ana", as_of=position)]
    assert became == ["expired on 2026-03-03", "ended on 2026-03-04"]
    assert memory.beliefs("ana") == []
    past = {b.value: b.became.what for b in memory.beliefs("ana", valid_at=said)}
    assert past == {"Lisbon": "expired", "tea": "ended"}


def test_a_person_s_choice_and_a_promotion_are_told_apart(memory):
    for value in ("Lisbon", "Porto", "Lisbon", "Porto"):
        store(memory, value)
    store(memory, "tea", "drink", confidence=0.47, idempotency_key="1")
    position = memory.status().position
    [loop] = memory.conflicts.loops("ana")
    memory.conflicts.resolve(loop.belief_id, choose="Lisbon", by="lea")
    store(memory, "tea", "drink", confidence=0.47, idempotency_key="2")
    then = memory.beliefs("ana", as_of=position, quarantined=True, min_confidence=0)
    assert {b.value: b.became.what for b in then} == {"Porto": "resolved", "tea": "promoted"}


def test_a_review_is_what_became_of_a_queued_decision(memory):
    for text in ("I have diabetes.", "I have asthma."):
        memory.remember("ana", text)
    one, other = memory.decisions("ana", waits=True)
    assert one.became is other.became is None
    memory.conflicts.review(one.decision_id, approve=True, by="lea")
    memory.conflicts.review(other.decision_id, approve=False, by="lea")
    assert [d.became.what for d in memory.decisions("ana")] == ["approved", "refused"]
    memory.revoke(memory.beliefs("ana")[0].memory_id, by="lea")
    assert [d.became.what for d in memory.decisions("ana")] == ["revoked", "refused"]


def test_history_and_decisions_are_told_as_they_were(memory):
    store(memory)
    memory.remember("ana", "I have diabetes.")
    position = memory.status().position
    waits = memory.decisions("ana", waits=True)[0]
    memory.conflicts.review(waits.decision_id, approve=False, by="lea")
    belief = memory.beliefs("ana")[0].belief_id
    store(memory, "Porto")
    [then] = memory.history(belief, as_of=position)
    assert (then.value, then.valid_to, then.recorded_to, then.superseded_by) == (
        "Lisbon", None, None, None,
    )  # fmt: skip
    assert then.became.what == "superseded"
    assert len(memory.history(belief)) == 3
    assert memory.history(belief, as_of=1) == []
    assert len(memory.decisions("ana", as_of=position)) == 2
    [waited] = memory.decisions("ana", waits=True, as_of=position)
    assert (waited.waits, waited.became.what) == (True, "refused")
    assert memory.decisions("ana", waits=True) == []
    assert len(memory.decisions("ana", waits=False, as_of=position)) == 1
    last = memory.decisions("ana", limit=1, as_of=position)
    assert [each.decision_id for each in last] == [waits.decision_id]


def test_what_was_erased_is_gone_for_everybody(memory):
    memory.remember("ana", "I live in Lisbon.")
    memory.remember("ana", "I use pytest.")
    position = memory.status().position
    [home, _] = memory.beliefs("ana")
    memory.erase("ana", memory=home.memory_id, by="lea")
    assert [b.value for b in memory.beliefs("ana", as_of=position)] == ["pytest"]
    gone, left = memory.decisions("ana")
    assert (gone.claim, gone.became.what, left.became) == (None, "erased", None)
    assert memory.erasure.list()[0].erasure == gone.became.by
    memory.erase("ana", by="lea")
    assert memory.beliefs("ana", as_of=position) == []
    assert {d.became.what for d in memory.decisions()} == {"erased"}


def test_what_was_confirmed_as_past_did_not_change_since(memory):
    store(memory, "Lisbon", said_at="2026-01-01")
    store(memory, "Porto", said_at="2026-02-01")
    late = store(memory, "Lisbon", said_at="2026-01-15")
    assert late.outcome == "confirm"
    assert memory.decision(late.decision_id).became is None


def test_however_many_rows_are_asked_for_it_is_read_once(memory, monkeypatch):
    for number in range(30):
        store(memory, "yes", f"attribute.{number}")
    position = memory.status().position
    memory.consent.withdraw("ana", by="lea")
    asked = {"rows": 0, "events": 0}

    def counted(name, real):
        def call(*given, **more):
            asked[name] += 1
            return real(*given, **more)

        return call

    monkeypatch.setattr(
        questions, "versions_of_memories", counted("rows", questions.versions_of_memories)
    )
    monkeypatch.setattr(Log, "read_at", counted("events", Log.read_at))
    found = memory.beliefs("ana", as_of=position)
    assert len({b.became.by for b in found}) == 1  # the withdrawal
    assert len(found) == 30
    assert asked == {"rows": 1, "events": 2}  # the endings, and the words
    assert memory.beliefs("ana") == []
    assert asked["rows"] == 1
    asked["events"] = 0
    memory.decisions("ana")
    assert asked["rows"] == 2
    assert asked["events"] <= 4


def run(place, *words):
    answer = CliRunner(env={"COLUMNS": "120"}).invoke(app, ["--ledger", place, *words])
    assert answer.exit_code == 0, answer.output
    return answer


def test_the_command_line_marks_each_line(place, clock):
    with open_memory(place) as memory:
        memory.consent.grant("ana", "consent")
        memory.remember("ana", "I live in Lisbon.")
        position = memory.status().position
        memory.revoke(memory.beliefs("ana")[0].memory_id, by="lea")
        [was] = memory.beliefs("ana", as_of=position)
    told = f"[{was.became.text}]"
    assert told.startswith("[revoked on ")
    for words in (
        ["beliefs", "--subject", "ana", "--as-of", str(position)],
        ["history", was.memory_id],
        ["decisions", "--subject", "ana"],
    ):
        assert told in run(place, *words).stdout, words
    assert f"{was.memory_id}, {was.became.text}" in run(place, "explain", was.memory_id).stdout
    [as_json] = json.loads(
        run(place, "beliefs", "--subject", "ana", "--as-of", str(position), "--json").stdout
    )
    assert as_json["became"]["what"] == "revoked"
    assert run(place, "beliefs", "--subject", "ana").stdout.strip() == "0 beliefs."


def test_as_of_before_the_first_event_says_so(place):
    run(place, "remember", "--subject", "ana", "I live in Lisbon.", "--consent", "consent")
    before = ["beliefs", "--subject", "ana", "--as-of", "2020-01-01"]
    said = run(place, *before)
    assert "Nothing was recorded about ana before" in said.stderr
    assert "beliefledger beliefs --subject ana --valid-at 2020-01-01" in said.stderr
    said = run(place, *before, "--json")
    assert json.loads(said.stdout) == []
    assert "--valid-at" in said.stderr
    assert "before" in run(place, "beliefs", "--as-of", "2020-01-01").stderr
    assert "ever" in run(place, "beliefs", "--subject", "zoe", "--as-of", "2020-01-01").stderr
    assert run(place, "beliefs", "--subject", "ana").stderr == ""


def test_what_was_over_before_it_was_told_was_so(memory, clock):
    _, [studies] = memory.remember("ana", "I study law at Leeds.")
    clock.ahead(3 * 86_400)
    memory.remember("ana", "I graduated in July.")
    assert memory.decision(studies.decision_id).became.what == "expired"


def test_what_was_never_so_was_corrected(memory, clock):
    _, [home] = memory.remember("ana", "I live in Lisbon.")
    clock.ahead(3 * 86_400)
    memory.remember("ana", "I was lying when I said I live in Lisbon.")
    assert memory.decision(home.decision_id).became.what == "corrected"


def test_what_was_asked_to_be_forgotten_says_so(memory, clock):
    _, [home] = memory.remember("ana", "I live in Lisbon.")
    clock.ahead(3 * 86_400)
    memory.remember("ana", "please forget where I live")
    became = memory.decision(home.decision_id).became
    assert (became.what, became.text) == ("revoked", "revoked on 2026-03-04, as the person asked")


@pytest.mark.parametrize("how", ["revoked", "withdrawn"])
def test_an_agent_is_told_the_same_by_every_door(memory, how):
    _, [home] = memory.remember("ana", "I live in Lisbon.")
    if how == "revoked":
        memory.revoke(home.memory_id, by="lea")
    else:
        memory.consent.withdraw("ana", by="lea")
    became = memory.decision(home.decision_id).became.model_dump(mode="json")
    with served(memory, worker=False) as server, calling(server) as client:
        [rest] = client.get("decisions").json()["items"]
        [told] = server.call(server.token(), "list_decisions")["data"]["decisions"]
        assert rest["became"] == told["became"] == became
        assert rest["claim"] is told["claim"] is None
