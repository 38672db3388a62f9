"""What somebody does on a day of each week is so at once, and what is planned for one day is an
event of that day."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

SAID = datetime(2026, 6, 1, 12, tzinfo=UTC)
LATER = datetime(2026, 8, 1, 12, tzinfo=UTC)

WEEKLY = [
    ("on tuesday i play badminton with other vietnamese", "plays badminton"),
    ("i play badminton on tuesday", "plays badminton"),
    ("I teach TD for first year students on friday morning, 2 hours", "teaches TD"),
    ("i run on sunday with the club", "runs on sunday"),
    ("i play chess on sunday with my dad", "plays chess"),
]
ONCE = [
    "on friday i play a match against leeds",
    "I run a marathon on sunday",
    "i play badminton this friday",
    "i will play badminton on tuesday",
]
PLANNED = [
    "I have a knee operation 12 june in Viborg hospital",
    "I have an operation on 12 june",
    "I have a scan on 12 june",
    "I have a driving lesson 12 june",
    "I have an exam 12 june",
]


@pytest.mark.parametrize(("said", "does"), WEEKLY)
def test_a_weekly_habit_is_so_when_it_is_told(somebody, said, does):
    somebody.memory.remember(somebody.who, said, said_at=SAID)
    assert any(does in each.text for each in somebody.beliefs(valid_at=SAID))
    assert any(does in each.text for each in somebody.beliefs(valid_at=LATER))


@pytest.mark.parametrize("said", ONCE)
def test_what_is_done_once_is_not_so_before(somebody, said):
    somebody.memory.remember(somebody.who, said, said_at=SAID)
    there = somebody.beliefs(valid_at=SAID)
    assert not [each for each in there if each.attribute.startswith(("plays.", "habit."))]


@pytest.mark.parametrize("said", PLANNED)
def test_a_plan_is_an_event_of_its_day(somebody, said):
    somebody.memory.remember(somebody.who, said, said_at=SAID)
    [told] = somebody.beliefs(valid_at=SAID)
    assert told.attribute == "event.appointment"
    assert told.event_from == datetime(2026, 6, 12, tzinfo=UTC)
