"""What has been so since a time, or for so long, is so now, since then."""

from __future__ import annotations

from datetime import timedelta

import pytest

TOLD = [
    ("I've been a nurse for ten years", "work.role", "nurse", 2016),
    ("I've been a nurse at St Mary's since 2019", "work.employer", "St Mary's", 2019),
    ("I've been freelance since January", "work.status", "freelance", 2026),
    ("I've been retired for two years", "work.status", "retired", 2024),
    ("been married to Tom since 2015", "relation.spouse.name", "Tom", 2015),
    ("I've been learning Spanish since March 2024", "learns.spanish", "Spanish", 2024),
    ("I've been playing the cello for six years", "plays.cello", "cello", 2020),
    ("I've been in Berlin since 2018", "home.location", "Berlin", 2018),
    ("Since January 2025 I have lived in Lisbon", "home.location", "Lisbon", 2025),
    ("For the last two years I've worked at Acme", "work.employer", "Acme", 2024),
    ("I've had a Polo since 2019", "has.polo", "a Polo", 2019),
    ("I've used vim for a decade", "tool.editor", "vim", 2016),
    ("I've been using Arch for a decade btw", "tool.operating_system", "Arch", 2016),
    ("I've been driving a Golf for ten years", "vehicle.car", "Golf", 2016),
    ("I've been a member of the gym since 2020", "relation.member-of.gym", "the gym", 2020),
    ("I've had two cats for a year now", "has.cat", "two cats", 2025),
    ("I've been running every morning since April", "habit.run", "running every morning", 2025),
    ("I've been in Rome for three days", "location.now", "Rome", 2026),
    ("I've been the team lead for two weeks", "work.role", "team lead", 2026),
]
NOTHING_LASTING = [
    "I've been driving since 6am",
    "I've been playing tennis for an hour",
    "I've been up since 5",
    "I've been waiting for an hour",
    "I've been stuck on this bug for two days",
    "I've been thinking about it for weeks",
]
NOT_NOW = [
    ("I've lived in Paris for two years, then Rome", 2024),
    ("I've owned a van since 2020 but sold it last week", 2020),
]


@pytest.mark.parametrize(("said", "attribute", "value", "year"), TOLD)
def test_what_has_long_been_so_is_so_since_then(somebody, said, attribute, value, year):
    somebody.remember(said)
    there = {each.attribute: each for each in somebody.beliefs()}
    assert there[attribute].value == value
    assert there[attribute].valid_from.year == year
    assert all(each.type not in ("event", "note") for each in there.values())


@pytest.mark.parametrize("said", NOTHING_LASTING)
def test_what_has_gone_on_for_hours_is_not_kept(somebody, said):
    somebody.remember(said)
    assert somebody.beliefs() == []


@pytest.mark.parametrize(("said", "year"), NOT_NOW)
def test_what_was_so_for_long_and_is_over_does_not_begin_then(somebody, said, year):
    somebody.remember(said)
    lasting = [each for each in somebody.beliefs() if each.type not in ("event", "note")]
    assert all(each.valid_from.year != year for each in lasting)


def test_who_is_near_has_long_been_so_too(somebody):
    somebody.remember("My sister has lived in Oslo since 2015")
    (there,) = somebody.beliefs()
    assert (there.attribute, there.value) == ("home.location", "Oslo")


OVER = [
    ("I use vim", "I've been using emacs since January", {"emacs"}),
    ("I use vim", "I've used vim for a decade", {"vim"}),
    ("I live in Rome", "I've been living in Milan since January", {"Milan"}),
    ("I drive a Golf", "I've been driving a Polo since January", {"Polo"}),
    ("I work at Initech", "I've been retired since Monday", {"retired"}),
    ("I work at Initech", "I've been unemployed since Monday", {"unemployed"}),
]


@pytest.mark.parametrize(("before", "said", "values"), OVER)
def test_it_has_the_key_of_what_is_so_now(somebody, before, said, values):
    assert {each.value for each in somebody.believed_after(before, said)} == values


HOMES = [
    ("i rent a studio in Ghent", "Ghent"),
    ("we rent a house in Cork with two friends", "Cork"),
    ("I share a flat in Leeds with Jess", "Leeds"),
    ("I'm renting a room in Hackney", "Hackney"),
    ("We've rented our flat in Leeds since 2021", "Leeds"),
    ("we rent a two bed in Cardiff, 950 a month", "Cardiff"),
    ("we are renting a 3 bedroom in Surulere meanwhile", "Surulere"),
]
NO_HOMES = [
    "we rent a house in Cornwall every summer",
    "I rent a room in Rome for a week",
    "I rent a studio in Delft for my pottery",
    "I rent out a flat in Leeds",
]


@pytest.mark.parametrize(("said", "place"), HOMES)
def test_where_one_rents_or_shares_a_home_one_lives(somebody, said, place):
    there = somebody.believed_after("I live in Oslo", said)
    assert [each.value for each in there if each.attribute == "home.location"] == [place]


@pytest.mark.parametrize("said", NO_HOMES)
def test_what_one_rents_for_a_time_or_for_work_is_no_home(somebody, said):
    there = somebody.believed_after("I live in Oslo", said)
    assert [each.value for each in there if each.attribute == "home.location"] == ["Oslo"]


KIN = [
    ("my lads 15 and plays goalie for the county", "plays goalie for the county"),
    ("our son is 15 and plays drums", "plays drums"),
    ("My gran is 92 and lives in Split", "lives in Split"),
    ("my sister is 30 and works at Shell", "works at Shell"),
]


@pytest.mark.parametrize(("said", "words"), KIN)
def test_what_else_is_said_of_somebody_near_is_believed(somebody, said, words):
    somebody.remember(said)
    assert any(each.text.endswith(words) for each in somebody.beliefs())


def test_how_long_it_has_been_so_grows_by_itself(somebody):
    there = somebody.believed_after(
        "I've been a nurse for ten years", "I've been a nurse for eleven years now"
    )
    assert [(each.attribute, each.value) for each in there] == [("work.role", "nurse")]


def test_a_later_count_of_how_long_takes_the_place_of_the_first(somebody):
    there = somebody.believed_after(
        "I've been using my Fitbit Charge 3 for 6 months now",
        "I've been using my Fitbit Charge 3 for 9 months now",
    )
    assert any("9 months" in each.text for each in there)
    assert not any("6 months" in each.text for each in there)


@pytest.mark.parametrize("home", ["i rent a flat in Leeds with Jess", "I live in Leeds with Jess"])
def test_what_is_left_of_a_home_gives_way_to_the_next(somebody, home):
    there = somebody.believed_after(home, "Jess moved out", "I moved to York last week")
    assert [each.value for each in there if each.attribute == "home.location"] == ["York"]
    at = next(each.valid_from for each in there if each.attribute == "home.location")
    (before,) = [
        each.value
        for each in somebody.beliefs(valid_at=at - timedelta(hours=1))
        if each.attribute == "home.location"
    ]
    assert before == "Leeds"
