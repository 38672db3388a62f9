"""Loops over any window, who caused each change, and what a person may choose."""

from __future__ import annotations

import json
import shlex
from datetime import UTC, datetime

import pytest
from command_line import CliRunner

from beliefledger import open_memory
from beliefledger.curation.storing import Details
from beliefledger.tools.cli import app


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock) as opened:
        opened.consent.grant("ana", "consent")
        opened.consent.grant("ben", "consent")
        yield opened


def _say(memory, value: str, day: str, subject: str = "ana", attribute: str = "home.location"):
    at = f"{day}T10:00:00Z"
    return memory.store(
        subject, value, attribute=attribute, said_at=at, details=Details(session=f"s-{day}")
    )


def _moves(memory) -> None:
    """Four changes of one belief: two in January, two in February; one of another in January."""
    for value, day in [
        ("Porto", "2026-01-01"),
        ("Faro", "2026-01-10"),
        ("Porto", "2026-01-20"),
        ("Faro", "2026-02-15"),
    ]:
        _say(memory, value, day)
    _say(memory, "vim", "2026-01-05", "ben", "editor.name")
    _say(memory, "emacs", "2026-01-15", "ben", "editor.name")


def test_any_window_can_be_asked_about_by_when_things_were_said(memory):
    _moves(memory)
    asked = [
        (each.subject, each.together)
        for each in memory.conflicts.loops(until="2026-02-01", least=1)
    ]
    assert sorted(asked) == [("ana", 2), ("ben", 1)]
    assert [
        each.together for each in memory.conflicts.loops("ana", since="2026-02-01", least=1)
    ] == [1]
    assert memory.conflicts.loops(since="2026-01-11", until="2026-01-15T10:00:00Z", least=1) == []
    assert memory.conflicts.loops(since="2026-03-01", least=1) == []
    # An end is not part of the window, a beginning is.
    at = "2026-01-10T10:00:00Z"
    assert memory.conflicts.loops("ana", until=at, least=1) == []
    assert memory.conflicts.loops("ana", since=at, until="2026-01-11", least=1)[0].together == 1


def test_without_bounds_the_policy_says_what_a_loop_is(memory):
    _moves(memory)
    assert memory.conflicts.loops() == []  # the third change came 36 days after the first
    (loop,) = memory.conflicts.loops(window_days=40)
    assert (loop.subject, loop.together, loop.supersessions) == ("ana", 3, 3)
    (loop,) = memory.conflicts.loops(least=2)
    assert loop.together == 2
    # All between the bounds is one window, unless days are given too.
    assert memory.conflicts.loops(since="2026-01-01")[0].together == 3
    assert memory.conflicts.loops(since="2026-01-01", window_days=5) == []


def test_values_come_in_the_order_they_were_said_each_with_its_cause(memory, clock):
    _say(memory, "Faro", "2026-01-10")
    clock.ahead(60)
    _say(memory, "Porto", "2026-01-20")
    clock.ahead(60)
    _say(memory, "Lagos", "2026-01-01")  # said before, recorded last
    (loop,) = memory.conflicts.loops("ana", since="2026-01-01", least=1)
    assert [value["value"] for value in loop.values] == ["Lagos", "Faro", "Porto"]
    said = [value["said_at"][:10] for value in loop.values]
    assert said == ["2026-01-01", "2026-01-10", "2026-01-20"]
    recorded = [value["recorded_at"] for value in loop.values]
    assert recorded[1] < recorded[2] < recorded[0]
    assert [value["actor"] for value in loop.values] == ["gate"] * 3
    assert loop.values[2]["supersedes"] == loop.values[1]["memory_id"]
    assert loop.values[1]["supersedes"] is None
    assert loop.values[1]["session"] == "s-2026-01-10"
    for value in loop.values:
        decision = memory.decision(value["decision_id"])
        assert (decision.memory_id, decision.turn_id) == (value["memory_id"], value["turn_id"])
        recorded_at = memory._log.read_at([value["position"]])[value["position"]].facts
        assert recorded_at["memory_id"] == value["memory_id"]
    assert (loop.contested, loop.settle) == (False, None)


def _contested(memory, clock) -> str:
    """A belief that goes round in circles, with three statements that wait, two of one value."""
    for value in ("Porto", "Faro", "Porto", "Faro", "Lagos", "Braga", "Lagos"):
        clock.ahead(3600)
        memory.store("ana", value, attribute="home.location")
    return memory.conflicts.list("ana")[0].belief_id


def test_a_conflict_lists_each_choice_once_with_the_command_that_chooses_it(memory, clock):
    belief = _contested(memory, clock)
    (conflict,) = memory.conflicts.list("ana")
    told = [(each.value, each.stands, each.mentions) for each in conflict.choices]
    assert told == [("Faro", True, 2), ("Lagos", False, 2), ("Braga", False, 1)]
    faro, lagos, braga = conflict.choices
    assert faro.last_said < braga.last_said < lagos.last_said
    assert lagos.last_said == datetime.fromtimestamp(clock.now / 1_000_000, UTC)
    assert lagos.confidence == conflict.escalated[-1].confidence
    assert faro.id == conflict.standing[0].memory_id
    assert lagos.id == conflict.escalated[-1].decision_id
    for each in conflict.choices:
        command = f"beliefledger conflicts resolve {belief} --choose {each.id} --by NAME"
        assert each.resolve == command
        assert f"CONTEXT={each.id}" in conflict.by_context


def test_who_settled_it_is_told_by_name(memory, clock):
    belief = _contested(memory, clock)
    (loop,) = memory.conflicts.loops("ana")
    assert loop.settle == f"beliefledger conflicts resolve {belief} --choose VALUE_OR_ID --by NAME"
    memory.conflicts.resolve(belief, choose="Lagos", by="eva")
    (loop,) = memory.conflicts.loops("ana")
    assert (loop.values[-1]["value"], loop.values[-1]["actor"]) == ("Lagos", "eva")
    assert (loop.contested, loop.settle) == (False, None)


def test_the_last_time_that_a_standing_value_was_said_counts_its_confirmations(memory, clock):
    _contested(memory, clock)
    clock.ahead(3600)
    assert memory.store("ana", "Faro", attribute="home.location").outcome == "confirm"
    standing = memory.conflicts.list("ana")[0].choices[0]
    assert standing.mentions == 3
    assert standing.last_said == datetime.fromtimestamp(clock.now / 1_000_000, UTC)


def test_an_erased_person_has_no_loops(memory, clock):
    _contested(memory, clock)
    memory.erase("ana", by="eva")
    assert (memory.conflicts.loops(least=1), memory.conflicts.list()) == ([], [])


def _cli(place: str, *words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["--ledger", place, *words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, (result.stdout, result.stderr)
    return result.stdout or result.stderr


def test_the_commands_that_are_told_can_be_run_as_they_are(new_place, clock):
    place = new_place()
    with open_memory(place, clock=clock) as memory:
        memory.consent.grant("ana", "consent")
        _contested(memory, clock)
    page = _cli(place, "conflicts", "list")
    assert "2 ×" in page
    commands = [line.strip() for line in page.splitlines() if "--choose" in line]
    assert len(commands) == 3
    page = _cli(place, "conflicts", "loops")
    for said in ("gate", "Faro", "3 of them together", "contested", "--choose VALUE_OR_ID"):
        assert said in page
    program, *words = shlex.split(commands[1].replace("NAME", "eva"))
    assert program == "beliefledger"
    assert "Lagos" in _cli(place, *words)
    assert "eva" in _cli(place, "conflicts", "loops")
    answer = json.loads(
        _cli(place, "conflicts", "loops", "--since", "2026-03-01", "--least", "2", "--json")
    )
    assert answer[0]["together"] == 3
    assert json.loads(_cli(place, "conflicts", "loops", "--until", "2026-03-01", "--json")) == []
    assert "since" in _cli(place, "conflicts", "loops", "--since", "lately", code=2)


def test_the_command_for_contexts_keeps_every_value(new_place, clock):
    place = new_place()
    with open_memory(place, clock=clock) as memory:
        memory.consent.grant("ana", "consent")
        _contested(memory, clock)
        command = memory.conflicts.list("ana")[0].by_context
    for name in ("winter", "summer", "work"):
        command = command.replace("CONTEXT=", f"{name}=", 1)
    _cli(place, *shlex.split(command.replace("NAME", "eva"))[1:])
    with open_memory(place, clock=clock) as memory:
        told = {belief.context: belief.value for belief in memory.beliefs("ana")}
    assert told == {"winter": "Faro", "summer": "Lagos", "work": "Braga"}
