"""What happened, by windows that know how exact a time is, and by who took part."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from command_line import CliRunner

from beliefledger import open_memory
from beliefledger.ledger.candidate import Candidate, Precision, Span, When
from beliefledger.ledger.errors import InvalidQuery, UnknownMemory
from beliefledger.ledger.times import parse
from beliefledger.tools.cli import app


class Scripted:
    """Notices what a turn says outright: `type|claim|participants|precision|from|to`."""

    name = "scripted"

    def extract(self, turn, earlier=()):
        kind, claim, people, precision, start, end = turn.content.split("|")
        return [
            Candidate(
                claim=claim,
                spans=(Span(start=0, end=len(turn.content), quote=turn.content),),
                type=kind,
                attribute=f"{kind}.told",
                value=claim,
                importance=500_000,
                confidence=900_000,
                when=When(
                    start=parse(start) if start else None,
                    end=parse(end) if end else None,
                    precision=Precision(precision),
                ),
                participants=tuple(filter(None, people.split(","))),
            )
        ]


@pytest.fixture
def memory(place, clock):
    with open_memory(place, clock=clock, extractor=Scripted()) as opened:
        opened.consent.grant("ana", "consent")
        yield opened


def tell(memory, claim, precision="unknown", start="", end="", people="", kind="event"):
    memory.record_turn("ana", f"{kind}|{claim}|{people}|{precision}|{start}|{end}")
    memory.process()


def happened(memory, **asked):
    return [each.value for each in memory.events("ana", **asked)]


@pytest.fixture
def told(memory):
    """The clock stands at Sunday, 1 March 2026; last Tuesday was 24 February."""
    tell(memory, "exact", "exact", "2026-02-24T15:00:00Z")
    tell(memory, "day", "day", "2026-02-24", "2026-02-25")
    tell(memory, "week", "week", "2026-02-23", "2026-03-02")
    tell(memory, "month", "month", "2026-02-01", "2026-03-01")
    tell(memory, "about then", "approximate", "2026-02-25", "2026-02-26")
    tell(memory, "some day")
    tell(memory, "the day after", "day", "2026-02-25", "2026-02-26")
    tell(memory, "a state", "day", "2026-02-24", "2026-02-25", kind="fact")
    tell(memory, "a promise", "day", "2026-02-24", "2026-02-25", kind="commitment")
    return memory


def test_what_happened_last_tuesday_is_events_alone(told):
    assert set(happened(told, on="last tuesday")) == {"exact", "day", "week", "month", "about then"}
    assert {each.type for each in told.events("ana", on="last tuesday")} == {"event"}
    assert happened(told, on="2026-02-24") == happened(told, on="last tuesday")


DAYS = {"exact", "day", "week", "month", "about then"}


@pytest.mark.parametrize(
    ("start", "end", "found"),
    [
        ("2026-02-24T15:00:00Z", "2026-02-24T15:00:01Z", DAYS),
        ("2026-02-24T15:00:01Z", "2026-02-24T16:00:00Z", DAYS - {"exact"}),
        ("2026-02-23", "2026-02-24", {"week", "month"}),
        ("2026-03-01", "2026-03-02", {"week"}),
        ("2026-03-02", None, set()),
        (None, "2026-02-01", set()),
        (None, "2026-02-02", {"month"}),
        ("2026-02-26", "2026-02-27", {"week", "month", "about then"}),
        ("2026-02-27", "2026-02-28", {"week", "month"}),
        (None, None, {*DAYS, "some day", "the day after"}),
    ],
)
def test_a_window_meets_all_that_a_precision_means(told, start, end, found):
    assert set(happened(told, start=start, end=end)) == found


def test_a_week_is_its_week_however_it_was_written(memory):
    tell(memory, "midweek", "week", "2026-02-18", "2026-02-19")
    tell(memory, "that month", "month", "2026-01-15", "2026-01-16")
    for day in ("2026-02-16", "2026-02-22"):
        assert happened(memory, on=day) == ["midweek"]
    assert happened(memory, on="2026-02-15") == happened(memory, on="2026-02-23") == []
    for day in ("2026-01-01", "2026-01-31"):
        assert happened(memory, on=day) == ["that month"]
    assert happened(memory, start="2025-12-31", end="2026-01-01") == []


def test_events_come_in_order_of_time_those_without_one_last(told):
    found = happened(told)
    assert found[0] == "month"
    assert found[-1] == "some day"


def test_by_participant_no_words_are_searched_and_any_name_finds_them(memory):
    tell(memory, "lunch", "day", "2026-02-24", "2026-02-25", people="Sarah,Tom")
    tell(memory, "Sarah was talked about", "day", "2026-02-24", "2026-02-25", people="Tom")
    tell(memory, "a walk", people="Beth")
    memory.entities.add_alias("ana", "Sarah", "S. Chen", by="eve")
    assert happened(memory, participant="Sarah") == happened(memory, participant="s. chen")
    assert happened(memory, participant="Sarah") == ["lunch"]
    assert len(happened(memory, participant="Tom", on="last tuesday")) == 2
    assert happened(memory, participant="Tom", on="yesterday") == []
    before = memory.as_of(memory.status().position)
    memory.entities.merge("ana", "Sarah", "Beth", by="eve")
    assert happened(memory, participant="Sarah") == ["lunch", "a walk"]
    assert happened(memory, participant="Sarah", as_of=before) == ["lunch"]
    memory.entities.split("ana", "Sarah", ["Beth"], by="eve")
    assert happened(memory, participant="Beth") == ["a walk"]
    assert happened(memory, participant="Sarah") == ["lunch"]
    assert all(view.same for view in memory.operations.rebuild(verify=True))
    with pytest.raises(UnknownMemory, match="Zoe"):
        memory.events("ana", participant="Zoe")


def test_as_of_before_it_was_said_it_had_not_happened(told, clock):
    before = told.as_of(told.status().position)
    tell(told, "late news", "day", "2026-02-24", "2026-02-25")
    assert "late news" in happened(told, on="last tuesday")
    assert "late news" not in happened(told, on="last tuesday", as_of=before)
    [news] = [each for each in told.events("ana") if each.value == "late news"]
    told.revoke(news.memory_id, by="eve")
    assert "late news" not in happened(told, on="last tuesday")


def test_what_is_no_window_is_told(told):
    for asked in (
        {"on": "whenever"},
        {"on": "yesterday", "start": "2026-01-01"},
        {"start": "2026-02-02", "end": "2026-02-01"},
        {"start": "soon"},
    ):
        with pytest.raises(InvalidQuery):
            told.events("ana", **asked)
    assert told.events("nobody", on="yesterday") == []


@pytest.mark.parametrize("words", ["may 2025", "May", "in May", "last May", "2025"])
def test_a_window_may_be_said_in_words(memory, words):
    tell(memory, "spring", "day", "2025-05-10", "2025-05-11")
    assert happened(memory, on=words) == ["spring"]


def test_the_command_line_tells_what_happened(place):
    runner = CliRunner()

    def run(*words):
        done = runner.invoke(app, ["--ledger", place, *words])
        assert done.exit_code == 0, done.output
        return done.stdout

    run("consent", "grant", "-s", "ana")
    said = "2026-03-01T09:00:00Z"
    run("remember", "-s", "ana", "I had lunch with Sarah last Tuesday.", "--at", said)
    window = ("--start", "2026-02-24", "--end", "2026-02-25")
    [event] = json.loads(run("events", "-s", "ana", *window, "--participant", "Sarah", "--json"))
    assert event["event_precision"] == "day"
    assert datetime.fromisoformat(event["event_from"]) == datetime(2026, 2, 24, tzinfo=UTC)
    assert "2026-02-24" in run("events", "-s", "ana", *window)
    assert run("events", "-s", "ana", "--end", "2026-02-24").strip() == "0 events."
    wrong = runner.invoke(app, ["--ledger", place, "events", "-s", "ana", "--on", "whenever"])
    assert wrong.exit_code == 2


def test_the_same_words_about_another_day_are_another_event(place):
    words = "I had a job interview last Tuesday."
    with open_memory(place) as memory:
        memory.consent.grant("ana", "consent")
        outcomes = [
            memory.remember("ana", words, session=at, said_at=at)[1][0].outcome
            for at in ("2026-01-07", "2026-01-08", "2026-02-11")
        ]
        days = [each.event_from.date().isoformat() for each in memory.events("ana")]
    assert outcomes == ["admit", "confirm", "admit"]
    assert days == ["2026-01-06", "2026-02-10"]
