"""Memories age, are kept fresh by being shown, end when their time is over; through the front door.

Every test runs on both backends.
"""

from __future__ import annotations

import json

import pytest
from command_line import CliRunner
from sqlalchemy import text

from beliefledger import open_memory
from beliefledger.curation.storing import Details
from beliefledger.ledger.errors import InvalidQuery, InvalidTurn, NotPermitted, UnknownMemory
from beliefledger.ledger.events.recall import MemoriesRecalled
from beliefledger.ledger.times import DAY, from_datetime, to_datetime
from beliefledger.operations.endings import Endings
from beliefledger.projections import ageing_questions
from beliefledger.tools.cli import app


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as memory:
        memory.consent.grant("ana", "consent")
        yield memory


def say(memory, *words, subject="ana", said_at=None):
    for each in words:
        memory.record_turn(subject, each, said_at=said_at)
    memory.process()


def left(memory, **asked):
    return {each.text: each.score for each in memory.operations.ageing.decay("ana", **asked)}


def kept(memory):
    """The scores as they lie there."""
    with memory._core.projector.reading() as connection:
        return sorted(row[0] for row in connection.execute(text("SELECT score FROM decay_scores")))


EDITOR, HOME = "User always uses dark mode", "User lives in Porto"


def test_each_type_fades_by_its_own_half_life(memory, clock):
    say(memory, "I always use dark mode.", "I live in Porto.")
    assert left(memory) == {EDITOR: 1.0, HOME: 1.0}
    clock.ahead(90 * 86_400)
    assert left(memory) == {EDITOR: 0.5, HOME: pytest.approx(2**-0.5, abs=1e-6)}
    assert [each.text for each in memory.operations.ageing.decay("ana")] == [
        EDITOR,
        HOME,
    ]  # the least first
    later = left(memory, at=clock.now + 90 * DAY)
    assert later == {EDITOR: 0.25, HOME: 0.5}
    assert memory.operations.ageing.decay("nobody") == []


def test_the_time_that_counts_is_when_it_was_said_not_when_it_was_recorded(memory, clock):
    say(memory, "I always use dark mode.", said_at=clock.now - 180 * DAY)
    assert left(memory) == {EDITOR: 0.25}
    [answer] = memory.operations.ageing.decay("ana")
    assert (answer.days, answer.accesses, answer.refreshed) == (180, 0, None)
    assert answer.said_at == to_datetime(clock.now - 180 * DAY)


def test_of_some_memories_it_tells_those_that_hold(memory, clock):
    say(memory, "I live in Porto.", "I always use dark mode.")
    before = {each.text: each.memory_id for each in memory.beliefs("ana")}
    say(memory, "I moved to Faro.", "What if I were a doctor?")
    memory.consent.grant("ben", "consent")
    say(memory, "I live in Braga.", subject="ben")
    everything = {each.memory_id: each for each in memory.operations.ageing.decay()}
    quarantined = [each.memory_id for each in memory.beliefs("ana", quarantined=True)]
    asked = [*everything, *before.values(), *quarantined, *(f"{n:032x}" for n in range(1_200))]
    decay = memory.operations.ageing.decay
    assert {each.memory_id for each in decay(memories=[*asked, *asked])} == set(everything)
    assert decay(memories=[]) == []
    of_ana = [each.text for each in decay("ana", memories=asked)]
    assert sorted(of_ana) == ["User always uses dark mode", "User moved to Faro"]
    assert [each.text for each in decay(memories=[before[EDITOR]])] == [EDITOR]
    assert decay("ana", memories=[before[HOME]]) == []
    clock.ahead(400 * 86_400)
    memory.operations.ageing.expire()
    assert len(decay(memories=asked)) == len(decay())


def test_saying_it_again_makes_it_whole(memory, clock):
    say(memory, "I always use dark mode.")
    clock.ahead(180 * 86_400)
    say(memory, "I always use dark mode.")
    assert left(memory) == {EDITOR: 1.0}


def test_being_shown_keeps_it_fresh_and_survives_a_rebuild(memory, clock):
    say(memory, "I always use dark mode.", "I live in Porto.")
    editor, home = (
        next(each for each in memory.beliefs("ana") if each.text == words)
        for words in (EDITOR, HOME)
    )
    clock.ahead(30 * 86_400)
    memory.recalls.record_shown(
        "ana", [editor, home.memory_id], query="which editor?", session="s1"
    )
    memory.recalls.record_shown("ana", [editor], session="s2")
    clock.ahead(180 * 86_400)
    answers = {each.text: each for each in memory.operations.ageing.decay("ana")}
    assert answers[EDITOR].score == pytest.approx(0.25 * 1.2**2, abs=1e-6)
    assert (answers[EDITOR].accesses, answers[HOME].accesses) == (2, 1)
    assert answers[EDITOR].last_shown_at == to_datetime(clock.now - 180 * DAY)
    assert all(each.same for each in memory.operations.rebuild(verify=True))
    assert {each.text: each for each in memory.operations.ageing.decay("ana")} == answers


def test_what_was_shown_is_on_record_without_words(memory):
    say(memory, "I always use dark mode.")
    [belief] = memory.beliefs("ana")
    position = memory.recalls.record_shown(
        "ana", [belief], query="Porto or Lisbon?", session="s1", by="bot"
    )
    recorded = memory._log.read_at([position])[position]
    assert isinstance(recorded.event, MemoriesRecalled)
    assert recorded.facts["memories"] == [belief.memory_id]
    assert recorded.facts["ranker"] == "shown"
    assert recorded.facts["purpose"] == "assistance"
    assert memory.actor_name(recorded.actor) == "bot"
    assert "Porto" not in json.dumps(recorded.facts)
    same = memory.recalls.record_shown("ana", [belief], query="Porto or Lisbon?")
    other = memory.recalls.record_shown("ana", [belief], query="Lisbon or Porto?")
    digests = {memory._log.read_at([at])[at].facts["query_digest"] for at in (same, other)}
    assert len(digests | {recorded.facts["query_digest"]}) == 3, "each has a salt of its own"


def test_only_memories_of_that_subject_can_be_shown(memory):
    memory.consent.grant("ben", "consent")
    say(memory, "I always use dark mode.")
    [belief] = memory.beliefs("ana")
    head = memory.status(digests=False).position
    for subject, memories, problem in (
        ("ben", [belief], UnknownMemory),
        ("ana", ["f" * 32], UnknownMemory),
        ("nobody", [belief], UnknownMemory),
        ("ana", [], InvalidTurn),
    ):
        with pytest.raises(problem):
            memory.recalls.record_shown(subject, memories)
    assert memory.status(digests=False).position == head


def test_the_other_profile_by_policy_or_by_asking(memory, clock):
    say(memory, "I always use dark mode.", "I live in Porto.")
    clock.ahead(50 * 86_400)
    assert left(memory, profile="decay") == dict.fromkeys((EDITOR, HOME), 0.367879)
    memory.policy.adopt({"decay": {"profile": "decay", "rate": 0.04, "cap": 1}}, by="ops")
    assert left(memory) == dict.fromkeys((EDITOR, HOME), 0.135335)
    memory.recalls.record_shown("ana", memory.beliefs("ana"))
    clock.ahead(50 * 86_400)
    assert left(memory) == dict.fromkeys((EDITOR, HOME), 1.0)  # as often as the cap
    with pytest.raises(InvalidQuery, match="neither freshness nor decay"):
        memory.operations.ageing.decay("ana", profile="rot")


def test_the_refresh_keeps_what_asking_computes(memory, clock):
    memory.consent.grant("ben", "consent")
    say(memory, "I always use dark mode.", "I live in Porto.", "I was born in 1990.")
    say(memory, "I live in Oslo.", subject="ben")
    memory.recalls.record_shown("ana", memory.beliefs("ana")[:1])
    memory.store("ana", "it", attribute="maybe", confidence=0.3)  # quarantined: not scored
    clock.ahead(77 * 86_400)
    held = memory.beliefs()
    assert memory.operations.ageing.refresh() == len(held) >= 4
    for each in memory.operations.ageing.decay():
        assert each.refreshed == pytest.approx(each.score, abs=1e-6)
    clock.ahead(10 * 86_400)
    say(memory, "I live in Porto.")
    home = next(each for each in memory.operations.ageing.decay("ana") if each.text == HOME)
    assert (home.score, home.refreshed) == (1.0, None)  # said again, and not refreshed since
    assert all(each.same for each in memory.operations.rebuild(verify=True))
    assert (
        sum(each.refreshed is not None for each in memory.operations.ageing.decay())
        == len(held) - 1
    )
    for profile in ("decay", "freshness"):
        memory.policy.adopt({"decay": {"profile": profile}}, by="ops")
        memory.operations.ageing.refresh()
        assert all(
            each.refreshed == pytest.approx(each.score, abs=1e-6)
            for each in memory.operations.ageing.decay()
        )
    assert len(kept(memory)) == len(held)


def test_an_erasure_leaves_no_access_and_no_score(memory, clock):
    memory.consent.grant("ben", "consent")
    say(memory, "I live in Porto.")
    say(memory, "I live in Oslo.", subject="ben")
    memory.recalls.record_shown("ana", memory.beliefs("ana"))
    memory.recalls.record_shown("ben", memory.beliefs("ben"))
    assert memory.operations.ageing.refresh() == 2
    memory.erase("ana", by="ops")
    assert len(kept(memory)) == 1
    with memory._queries.view("access") as (connection, generation):
        rows = connection.execute(text(f"SELECT count FROM access_{generation}")).all()
    assert len(rows) == 1
    assert memory.operations.ageing.decay("ana") == []
    assert memory.operations.ageing.refresh() == 1
    assert all(each.same for each in memory.operations.rebuild(verify=True))
    with pytest.raises(NotPermitted):
        memory.recalls.record_shown("ana", ["f" * 32])


# Queries again


def test_what_mattered_and_faded_is_asked_about_again_worst_first(memory, clock):
    memory.store(
        "ana", "Porto", attribute="home", details=Details(importance=0.7), text="Ana lives in Porto"
    )
    memory.store(
        "ana",
        "peanuts",
        attribute="food",
        type="preference",
        details=Details(importance=0.9),
        text="No peanuts",
    )
    memory.store(
        "ana", "blue", attribute="colour", details=Details(importance=0.3), text="Ana likes blue"
    )
    memory.store(
        "ana",
        "tea",
        attribute="drink",
        details=Details(importance=0.9),
        confidence=0.55,
        text="Tea?",
    )
    memory.store(
        "ana",
        "trip",
        attribute="trip",
        type="event",
        details=Details(importance=0.9),
        text="A trip",
    )
    assert memory.operations.ageing.reconfirm("ana") == []
    clock.ahead(400 * 86_400)
    asked = memory.operations.ageing.reconfirm()
    assert [each.ask for each in asked] == [
        "Do you still prefer it so: “No peanuts”?",
        "Is this still so: “Ana lives in Porto”?",
    ]
    assert all(each.memory.score < 0.3 for each in asked)
    memory.recalls.record_shown("ana", [asked[0].memory.memory_id])
    assert [each.memory.text for each in memory.operations.ageing.reconfirm("ana")] == [
        "Ana lives in Porto"
    ]
    memory.policy.adopt({"decay": {"reconfirm_below": 0.1}}, by="ops")
    assert memory.operations.ageing.reconfirm("ana") == []


# What is over


def test_a_memory_ends_at_its_own_time_once(memory, clock):
    memory.store("ana", "k1", attribute="badge", details=Details(expires_at=clock.now + 5 * DAY))
    memory.store("ana", "Porto", attribute="home")
    [badge] = [each for each in memory.beliefs("ana") if each.attribute == "badge"]
    clock.ahead(4 * 86_400)
    assert memory.operations.ageing.expire() == []
    clock.ahead(3 * 86_400)
    head = memory.status(digests=False).position
    assert memory.operations.ageing.expire() == [badge.memory_id]
    assert memory.operations.ageing.expire() == []
    assert memory.status(digests=False).position == head + 1
    assert [each.attribute for each in memory.beliefs("ana")] == ["home"]
    last = memory.history(badge.memory_id)[-1]
    assert last.valid_to == last.expires_at == to_datetime(clock.now - 2 * DAY)
    before = memory.beliefs("ana", valid_at=clock.now - 3 * DAY)
    assert {each.attribute for each in before} == {"badge", "home"}
    memory.store("ana", "k2", attribute="badge")  # a new value, beside nothing that stands
    assert {each.value for each in memory.beliefs("ana")} == {"Porto", "k2"}


def test_the_policy_says_how_long_a_type_holds_and_an_event_counts_from_its_end(memory, clock):
    memory.store("ana", "Porto", attribute="home")
    say(memory, "I live in Oslo.", said_at=clock.now - 40 * DAY)
    say(memory, "I went to Lisbon last week.", said_at=clock.now - 40 * DAY)
    events = [each for each in memory.beliefs("ana") if each.type == "event"]
    assert len(events) == 1
    assert events[0].event_to is not None
    memory.policy.adopt({"ttl_days": {"event": 45}}, by="ops")
    ends = events[0].event_to
    assert memory.operations.ageing.expire(from_datetime(ends) + 45 * DAY - 1) == []
    assert memory.operations.ageing.expire(from_datetime(ends) + 45 * DAY) == [events[0].memory_id]
    assert memory.history(events[0].memory_id)[-1].valid_to == to_datetime(
        from_datetime(ends) + 45 * DAY
    )


def test_what_is_said_again_holds_longer(memory, clock):
    say(memory, "I live in Porto.")
    memory.policy.adopt({"ttl_days": {"fact": 30}}, by="ops")
    clock.ahead(20 * 86_400)
    say(memory, "I live in Porto.")
    clock.ahead(20 * 86_400)
    assert memory.operations.ageing.expire() == []
    clock.ahead(10 * 86_400)
    assert len(memory.operations.ageing.expire()) == 1
    assert memory.beliefs("ana") == []


def test_an_event_is_not_over_before_it_happens(memory, clock):
    memory.policy.adopt({"ttl_days": {"event": 30}}, by="ops")
    in_half_a_year = to_datetime(clock.now + 180 * DAY)
    say(memory, f"I have a dentist appointment on {in_half_a_year:%Y-%m-%d}.")
    [visit] = memory.beliefs("ana")
    assert (visit.type, visit.event_from.date()) == ("event", in_half_a_year.date())
    clock.ahead(179 * 86_400)
    assert memory.operations.ageing.expire() == []
    assert memory.beliefs("ana") == [visit]
    clock.ahead(33 * 86_400)
    assert memory.operations.ageing.expire() == [visit.memory_id]


def test_a_memory_that_ends_before_the_time_it_was_stored_for_is_ended(memory, clock):
    until = clock.now + 100 * DAY
    memory.store(
        "ana", "k1", attribute="badge", valid_from=clock.now, valid_to=until,
        details=Details(expires_at=clock.now + 5 * DAY),
    )  # fmt: skip
    [badge] = memory.beliefs("ana")
    clock.ahead(6 * 86_400)
    assert memory.beliefs("ana") == []
    assert memory.operations.ageing.expire() == [badge.memory_id]
    assert memory.operations.ageing.expire() == []
    lines = {each.id: each.answer for each in memory.audit.checklist("manage").lines}
    assert lines["manage.expired"] == "yes"


def test_many_endings_of_many_people_and_somebody_being_erased(memory, clock, place):
    people = [f"p{number}" for number in range(30)]
    for person in people:
        memory.consent.grant(person, "consent")
        for number in range(8):
            memory.store(
                person,
                f"v{number}",
                attribute=f"a{number}",
                details=Details(expires_at=clock.now + DAY),
            )
    clock.ahead(2 * 86_400)
    with open_memory(place, clock=clock) as other:
        with memory._queries.view("belief_versions") as (connection, generation):
            ended = ageing_questions.over(connection, generation, {}, clock.now)
        assert len(ended) == 240
        other.erase("p3", by="ops")
        other.revoke(ended[0][0].memory_id, by="ops")
        done = Endings(memory._gate).expire(ended)
    assert len(done) == 240 - 8 - 1
    assert memory.operations.ageing.expire() == []
    assert memory.beliefs() == []


def test_quarantine_does_not_last_for_ever(memory, clock):
    memory.store("ana", "maybe", attribute="home", confidence=0.3)
    memory.store("ana", "Porto", attribute="born")
    clock.ahead(179 * 86_400)
    assert memory.operations.ageing.revoke_outdated() == []
    clock.ahead(2 * 86_400)
    [gone] = memory.operations.ageing.revoke_outdated()
    assert memory.operations.ageing.revoke_outdated() == []
    assert memory.beliefs("ana", quarantined=True, min_confidence=0)[0].value == "Porto"
    assert memory.history(gone)[-1].recorded_to is not None
    revoked = [each for each in memory._log.read() if each.type == "memory.revoked.v1"]
    assert [each.facts["cause"] for each in revoked] == ["retention"]


# The command line


def run(place, *words, code=0):
    answer = CliRunner().invoke(app, ["--ledger", place, *words])
    assert answer.exit_code == code, answer.output
    return answer.stdout


def test_the_command_tells_the_same(place):
    run(place, "init")
    run(place, "remember", "-s", "ana", "--consent", "consent", "I live in Porto.")
    [told] = json.loads(run(place, "ops", "decay", "--json"))
    assert (told["text"], told["score"], told["refreshed"]) == (HOME, 1.0, None)
    [told] = json.loads(run(place, "ops", "decay", "--refresh", "-s", "ana", "--json"))
    assert told["refreshed"] == 1.0
    page = run(place, "ops", "decay", "--at", "2100-01-01")
    assert HOME in page
    assert ".00" in page
    assert "░" * 10 in page
    [asked] = json.loads(run(place, "ops", "decay", "--reconfirm", "--at", "2100-01-01", "--json"))
    assert asked["ask"] == f"Is this still so: “{HOME}”?"
    assert "Nothing that matters has faded" in run(place, "ops", "decay", "--reconfirm")
    assert "Nothing is believed" in run(place, "ops", "decay", "-s", "nobody")
    run(place, "ops", "decay", "--profile", "rot", code=2)
    run(place, "ops", "decay", "--at", "soon", code=2)
    run(place, "ops", "decay", "--reconfirm", "--profile", "decay", code=2)
