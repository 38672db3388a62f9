"""A memory changed by a named person, or corrected in the words of whom it is about."""

from __future__ import annotations

import json

import pytest
from command_line import CliRunner

from beliefledger import (
    Details,
    ExtractionUnavailable,
    InvalidTurn,
    NotPermitted,
    UnknownMemory,
    open_memory,
)
from beliefledger.ledger.events.turn import TurnRecorded
from beliefledger.tools.cli import app


@pytest.fixture
def memory(place, clock):
    with open_memory(place, consent="consent", clock=clock) as opened:
        yield opened


@pytest.fixture
def home(memory, clock):
    _, [decision] = memory.remember("ana", "I live in Lisbon.")
    clock.ahead(3600)
    return decision.memory_id


def texts(memory, subject="ana"):
    return [each.text for each in memory.beliefs(subject)]


def all_replay(memory):
    verdicts = {memory.audit.replay(each.decision_id).verdict for each in memory.decisions()}
    return verdicts == {"same"}


def test_another_value_holds_from_now_on(memory, home, clock):
    decision = memory.update(home, value="Porto", by="Lea")
    assert (decision.outcome, decision.reason) == ("supersede", "truth.change")
    assert texts(memory) == ["User lives in Porto"]
    assert [each.text for each in memory.beliefs("ana", valid_at=clock.now - 1)] == [
        "User lives in Lisbon"
    ]
    told = memory.explain(decision.memory_id)
    assert told.decided_by == "change by Lea"
    assert (told.turn["speaker"], told.turn["role"]) == ("Lea", "system")
    assert all_replay(memory)


def test_since_when_the_value_is_so_can_be_said(memory, home):
    memory.update(home, value="Porto", valid_from="2026-03-01T09:10:00Z", by="Lea")
    assert texts(memory) == ["User lives in Porto"]
    past = memory.beliefs("ana", valid_at="2026-03-01T09:05:00Z")
    assert [each.text for each in past] == ["User lives in Lisbon"]


def test_another_value_begins_no_earlier_than_the_memory(memory):
    memory.remember("ana", "I live in Porto.", said_at="2026-02-05")
    [porto] = memory.beliefs("ana")
    memory.update(porto.memory_id, value="Faro", valid_from="2026-02-10", by="Lea")
    [faro] = memory.beliefs("ana")
    with pytest.raises(InvalidTurn, match="valid_from lies before 2026-02-10"):
        memory.update(faro.memory_id, value="Braga", valid_from="2026-02-01", by="Lea")
    for day, text in (("2026-02-07", "User lives in Porto"), ("2026-02-12", "User lives in Faro")):
        assert [each.text for each in memory.beliefs("ana", valid_at=day)] == [text]
    memory.update(faro.memory_id, value="Braga", valid_from="2026-02-10", by="Lea")
    assert texts(memory) == ["User lives in Braga"]


def test_other_words_and_marks_are_as_if_they_had_always_been(memory, home):
    before = memory.beliefs("ana")[0]
    decision = memory.update(
        home, text="Ana's home is Lisbon", importance=0.9, topic="work", by="Lea"
    )
    assert (decision.outcome, decision.reason) == ("supersede", "truth.correction")
    [after] = memory.beliefs("ana")
    assert (after.text, after.value) == ("Ana's home is Lisbon", "Lisbon")
    assert (after.importance, after.topic) == (0.9, "work")
    assert (after.valid_from, after.belief_id) == (before.valid_from, before.belief_id)
    assert len(memory.history(after.memory_id)) == 2
    memory.update(after.memory_id, confidence=0.7, expires_at="2027-01-01", by="Lea")
    [last] = memory.beliefs("ana")
    assert (last.confidence, last.expires_at.year, last.topic) == (0.7, 2027, "work")
    assert all_replay(memory)


def test_one_whose_slot_is_its_words_is_changed_too(memory):
    stored = memory.store("ana", "lunch with Bo", attribute="lunch", type="event")
    decision = memory.update(stored.memory_id, value="lunch with Cy", by="Lea")
    assert decision.outcome == "admit"
    assert texts(memory) == ["lunch is lunch with Cy"]
    assert memory.history(stored.memory_id)[-1].recorded_to is not None
    assert all_replay(memory)


def test_context_scope_and_session_stay(memory):
    details = Details(context="at work", visibility_scope="session", session="one", negated=True)
    stored = memory.store("ana", "tea", attribute="drink", details=details)
    memory.update(stored.memory_id, value="coffee", by="Lea")
    [after] = memory.beliefs("ana")
    assert (after.value, after.context, after.negated) == ("coffee", "at work", True)
    assert (after.visibility_scope, after.session) == ("session", "one")


def test_what_cannot_be_changed_says_why(memory, home):
    head = memory.status(digests=False).position
    with pytest.raises(UnknownMemory):
        memory.update("0" * 32, value="Porto", by="Lea")
    with pytest.raises(InvalidTurn, match="Say what is to be different"):
        memory.update(home, by="Lea")
    with pytest.raises(NotPermitted):
        memory.update(home, value="Porto", by="system")
    with pytest.raises(NotPermitted):
        memory.update(home, value="Porto", by=" ")
    with pytest.raises(InvalidTurn, match="valid_from: it goes with another value"):
        memory.update(home, valid_from="2026-01-01", by="Lea")
    for wrong in ({"value": ""}, {"importance": 2}, {"value": "password: hunter22"}):
        with pytest.raises(InvalidTurn):
            memory.update(home, by="Lea", **wrong)
    with pytest.raises(InvalidTurn, match="text: it goes with value"):
        memory.correct(home, "No.", text="User lives in Faro")
    assert memory.status(digests=False).position <= head + 1  # whose name is Lea's
    memory.revoke(home, by="Lea")
    for change in (
        lambda: memory.update(home, value="Porto", by="Lea"),
        lambda: memory.correct(home, "No."),
        lambda: memory.correct(home, "No.", value="Faro"),
    ):
        with pytest.raises(UnknownMemory, match="does not hold now"):
            change()


def test_the_gate_decides_about_a_change(memory, home, clock):
    refused = memory.update(home, topic="astrology", by="Lea")
    assert (refused.outcome, refused.reason) == ("reject", "durability.outside_purpose")
    for town in ("Porto", "Faro", "Braga"):
        clock.ahead(3600)
        [now] = memory.beliefs("ana")
        memory.update(now.memory_id, value=town, by="Lea")
    [now] = memory.beliefs("ana")
    assert now.contested
    waits = memory.update(now.memory_id, value="Évora", by="Lea")
    assert (waits.outcome, waits.reason, waits.waits) == ("escalate", "truth.contested", True)
    assert texts(memory) == [now.text]


def test_two_who_change_it_at_once_do_not_both_win(place, clock):
    with open_memory(place, consent="consent", clock=clock) as one:
        _, [decision] = one.remember("ana", "I live in Lisbon.")
        with open_memory(place, clock=clock) as other:
            held = other._edits._held(decision.memory_id)
            clock.ahead(60)
            one.update(decision.memory_id, value="Porto", by="Lea")
            other._edits._held = lambda _given: held
            with pytest.raises(UnknownMemory, match="does not hold any more"):
                other.update(decision.memory_id, value="Faro", by="Ben")
        assert texts(one) == ["User lives in Porto"]


# --- Correcting --------------------------------------------------------------------------------


def test_what_is_said_of_the_same_thing_takes_its_place(memory, home):
    receipt, decisions = memory.correct(home, "I live in Faro.", session="help", by="Lea")
    assert [(each.outcome, each.reason) for each in decisions] == [
        ("supersede", "truth.correction")
    ]
    assert texts(memory) == ["User lives in Faro"]
    assert memory.beliefs("ana", valid_at=memory.beliefs("ana")[0].valid_from)
    turn = memory.turn(receipt.turn_id)
    assert (turn.role, turn.content, turn.session) == ("user", "I live in Faro.", "help")
    [recorded] = [
        each for each in memory._log.read_stream(receipt.turn_id) if each.type == TurnRecorded.NAME
    ]
    assert memory.actor_name(recorded.actor) == "Lea"
    assert recorded.event.corrects.memory == home
    assert all_replay(memory)


@pytest.mark.parametrize(
    "words", ["That's wrong.", "This is not so", "Whoever told you that?  Rubbish."]
)
def test_words_that_say_no_other_value_end_the_memory(memory, home, words):
    memory.store("ana", "red", attribute="colour")
    receipt, decisions = memory.correct(home, words)
    assert [each.outcome for each in decisions] == ["admit"], decisions
    assert texts(memory) == ["colour is red"]
    assert memory.history(home)[-1].became is not None
    assert not receipt.pending
    assert all_replay(memory)


def test_one_that_only_a_program_stored_is_taken_back_too(memory):
    stored = memory.store("ana", "red", attribute="favourite colour")
    memory.store("ana", "red", attribute="car colour")
    memory.correct(stored.memory_id, "It is not true.")
    assert texts(memory) == ["car colour is red"]


def test_the_right_value_need_not_be_read(memory):
    stored = memory.store("ana", "red", attribute="favourite colour")
    given = {"value": "green", "idempotency_key": "1"}
    receipt, [decision] = memory.correct(stored.memory_id, "It's green!", **given)
    assert (decision.outcome, decision.reason) == ("supersede", "truth.correction")
    assert texts(memory) == ["favourite colour is green"]
    told = memory.explain(decision.memory_id).turn
    assert (told["content"], told["marked"]) == ("It's green!", "⟦It's green!⟧")
    assert receipt.turn_id == decision.turn_id
    assert len(memory.history(decision.memory_id)) == 2
    assert memory.history(decision.memory_id)[0].became.what == "corrected"
    assert all_replay(memory)


def test_a_hypothetical_corrects_nothing(memory, home):
    memory.correct(home, "What if I lived in Faro?")
    assert texts(memory) == ["User lives in Lisbon"]


class Absent:
    name = "absent"

    def extract(self, turn, earlier=()):
        raise ExtractionUnavailable("The model is away.")


def test_a_correction_that_nobody_can_read_yet_waits_and_is_one_later(place):
    with open_memory(place, consent="consent") as memory:
        _, [decision] = memory.remember("ana", "I live in Lisbon.")
    with open_memory(place, extractor=Absent()) as memory:
        receipt, decisions = memory.correct(decision.memory_id, "That's wrong.")
        assert receipt.pending
        assert "The model is away" in receipt.problem
        assert decisions == []
        assert texts(memory) == ["User lives in Lisbon"]
    with open_memory(place) as memory:
        memory.process()
        assert texts(memory) == []


def test_the_commands(place):
    def run(*words):
        return CliRunner().invoke(app, ["--ledger", str(place), *words])

    run("remember", "-s", "ana", "I live in Lisbon.", "--consent", "consent")
    [belief] = json.loads(run("beliefs", "--json").stdout)
    changed = run("update", belief["memory_id"], "--value", "Porto", "--by", "Lea", "--json")
    assert changed.exit_code == 0, changed.output
    decision = json.loads(changed.stdout)
    assert decision["claim"] == "User lives in Porto"
    told = run("update", decision["memory_id"], "--text", "Home is Porto", "--by", "Lea")
    assert "Home is Porto" in told.stdout
    assert run("update", belief["memory_id"], "--value", "Faro").exit_code == 2
    assert run("update", belief["memory_id"], "--value", "Faro", "--by", "Lea").exit_code == 3
    [belief] = json.loads(run("beliefs", "--json").stdout)
    told = run("correct", belief["memory_id"][:10], "No, it's Faro.", "--value", "Faro")
    assert told.exit_code == 0, told.output
    [belief] = json.loads(run("beliefs", "--json").stdout)
    assert belief["value"] == "Faro"
    told = run("correct", belief["memory_id"], "That's wrong.", "--json")
    assert [each["outcome"] for each in json.loads(told.stdout)["decisions"]] == ["admit"]
    assert json.loads(run("beliefs", "--json").stdout) == []


def test_what_took_the_place_is_what_is_right_instead(memory, home, clock):
    clock.ahead(86_400)
    memory.update(home, value="Porto", by="Lea")
    clock.ahead(86_400)
    [porto] = memory.beliefs("ana")
    memory.correct(porto.memory_id, "No, I live in Braga.")
    [braga] = memory.beliefs("ana")
    found = memory.search("ana", "where do I live?").results
    was = next(each for each in found if each.text == "I live in Lisbon.")
    assert was.standing.superseded_by == braga.memory_id
