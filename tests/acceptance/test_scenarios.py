"""Three ways in which memories go wrong, told in everyday words through the front door: an old
preference that outlives the new one, times that are confused, and one person taken for three."""

from __future__ import annotations

import pytest

from beliefledger import open_memory
from beliefledger.ledger.times import DAY, parse

START = parse("2026-03-02T09:00:00Z")
"""A Monday."""


class Person:
    """Somebody who talks to an agent, every ten days."""

    def __init__(self, memory):
        self.memory = memory
        self.said_at = START

    def says(self, text):
        self.said_at += 10 * DAY
        _, decisions = self.memory.remember("ana", text, said_at=self.said_at)
        return decisions

    def now(self, attribute=None, **asked):
        """The values that hold, by entity and attribute; or those of one attribute."""
        beliefs = self.memory.beliefs("ana", **asked)
        if attribute is not None:
            return [each.value for each in beliefs if each.attribute == attribute]
        return {(each.entity, each.attribute): each.value for each in beliefs}

    def entity_of(self, attribute):
        """The id of the entity that the only memory of this attribute is about."""
        (belief,) = [each for each in self.memory.beliefs("ana") if each.attribute == attribute]
        (written,) = self.memory._log.read_at([self._words_at(belief.memory_id)]).values()
        return written.event.memory.resolved.entity

    def _words_at(self, memory_id):
        from beliefledger.projections import questions

        with self.memory._queries.view("belief_versions") as (connection, generation):
            return questions.versions_of_memory(connection, generation, memory_id)[-1].words_at


@pytest.fixture
def memory(place):
    with open_memory(place) as opened:
        opened.consent.grant("ana", "consent")
        yield opened


@pytest.fixture
def ana(memory):
    return Person(memory)


# An old preference must not outlive the new one.


@pytest.mark.parametrize(
    ("attribute", "old", "new", "remembered", "value"),
    [
        (
            "drink.hot",
            "I prefer tea over coffee.",
            "I've switched to coffee.",
            "I used to drink tea.",
            "coffee",
        ),
        (
            "display.theme",
            "I always use dark mode.",
            "I prefer light mode now.",
            "I used to prefer dark mode.",
            "light",
        ),
        (
            "travel.seat",
            "I prefer a window seat.",
            "I'd rather have an aisle seat.",
            "I always preferred a window seat before.",
            "aisle",
        ),
        (
            "favorite.colour",
            "My favourite colour is green.",
            "My favourite colour is blue these days.",
            "Back then my favourite colour was green.",
            "blue",
        ),
        (
            "contact.channel",
            "Email is fine, I prefer email.",
            "Actually, I prefer text messages.",
            "I preferred email in the past.",
            "text",
        ),
        (
            "meeting.time",
            "I like morning meetings.",
            "I'd prefer afternoon meetings from now on.",
            "For years I liked morning meetings.",
            "afternoon",
        ),
    ],
)
def test_a_new_preference_takes_the_place_of_the_old(ana, attribute, old, new, remembered, value):
    ana.says(old)
    (before,) = ana.now(attribute)
    [decision] = ana.says(new)
    assert (decision.outcome, ana.now(attribute)) == ("supersede", [value])
    ana.says(remembered)
    assert ana.now(attribute) == [value] != [before]
    history = ana.memory.history(decision.belief_id)
    assert [version.value for version in history if version.recorded_to is None][-1] == value


def test_liking_no_more_ends_a_liking(ana):
    ana.says("I love spicy food.")
    assert ana.now("likes.spicy-food") == ["spicy food"]
    ana.says("I don't like spicy food any more.")
    assert not [
        belief
        for belief in ana.memory.beliefs("ana")
        if belief.attribute == "likes.spicy-food" and not belief.negated
    ]


# Times are not confused.


def test_where_one_used_to_live_is_not_where_one_lives(ana):
    ana.says("I live in Lisbon.")
    [decision] = ana.says("I used to live in Porto.")
    assert decision.outcome == "admit"
    assert ana.now("home.location") == ["Lisbon"]
    assert "live in Porto" in ana.now().values()


def test_said_in_the_other_order_too(ana):
    ana.says("I used to live in Porto.")
    assert ana.now("home.location") == []
    ana.says("I live in Lisbon.")
    assert ana.now("home.location") == ["Lisbon"]


def test_last_years_employer_is_not_this_years(ana):
    ana.says("I work at Acme.")
    ana.says("Last year I worked at Globex.")
    assert ana.now("work.employer") == ["Acme"]
    (past,) = [each for each in ana.memory.beliefs("ana") if "Globex" in each.value]
    assert (past.type, past.event_from.year, past.event_to.year) == ("event", 2025, 2026)
    last_year = ana.memory.beliefs("ana", valid_at="2025-07-01T00:00:00Z")
    assert [each.value for each in last_year] == [past.value]


def test_a_move_that_is_planned_has_not_happened(ana):
    ana.says("I live in Lisbon.")
    ana.says("Next month I'm moving to Berlin.")
    assert ana.now("home.location") == ["Lisbon"]
    (plan,) = [each for each in ana.memory.beliefs("ana") if "Berlin" in each.text]
    assert plan.type == "event"
    assert (plan.event_from.month, plan.event_precision) == (4, "month")
    moved = parse("2026-04-20T09:00:00Z")
    ana.said_at = moved - 10 * DAY
    ana.says("I moved to Berlin.")
    assert ana.now("home.location") == ["Berlin"]
    assert ana.now("home.location", valid_at=moved - 1) == ["Lisbon"]


def test_as_of_a_moment_only_what_had_been_said_then_is_known(ana):
    ana.says("I live in Lisbon.")
    before = ana.memory.decisions("ana")[-1].position + 1
    ana.says("I moved to Porto two weeks ago.")
    assert ana.now("home.location") == ["Porto"]
    known = {each.value for each in ana.memory.beliefs("ana", as_of=before)}
    assert known == {"Lisbon"}


# One person is one entity, whatever they are called.


def test_a_first_name_an_initial_and_a_title_are_one_person_once_it_is_said(ana):
    ana.says("Sarah works at Acme.")
    ana.says("S. Chen lives in Berlin.")
    ana.says("My manager prefers morning meetings.")
    attributes = ("work.employer", "home.location", "meeting.time")
    assert len({ana.entity_of(each) for each in attributes}) == 3
    ana.says("By S. Chen I mean Sarah.")
    ana.says("My manager is Sarah.")
    assert len({ana.entity_of(each) for each in attributes}) == 1


def test_what_is_said_of_one_name_then_changes_what_was_said_of_another(ana):
    ana.says("My manager is Sarah.")
    ana.says("Sarah, also known as S. Chen, joined in spring.")
    ana.says("S. Chen lives in Berlin.")
    [decision] = ana.says("Sarah moved to Hamburg.")
    assert decision.outcome == "supersede"
    assert ana.now("home.location") == ["Hamburg"]
    [decision] = ana.says("My manager lives in Hamburg.")
    assert decision.outcome == "confirm"
    assert ana.memory.conflicts.list("ana") == []


def test_two_people_of_one_name_stay_two_until_it_is_said(ana):
    ana.says("Sarah Chen works at Acme.")
    ana.says("Sarah Okafor works at Globex.")
    assert sorted(ana.now("work.employer")) == ["Acme", "Globex"]
