"""What is no new value of something believed: a price, a club that somebody joined."""

from __future__ import annotations

import pytest

PRICES = [
    ("i drive a red vw golf, any tips for winter", "sold the golf for 2500", ("drives",)),
    ("i drive a tesla", "sold the tesla for 20k", ("drives",)),
    ("i drive a tesla", "sold the tesla for peanuts", ("drives",)),
    ("i drive a golf", "traded in the golf for 3k", ("drives",)),
    ("my phone is a pixel 6", "sold the pixel 6 for 150", ("phone is",)),
    ("my phone is a pixel 6", "traded in the pixel 6 for 150 quid", ("phone is",)),
    ("my camera is a canon r6", "sold the canon for 900", ("camera is",)),
    ("i have a trek bike", "sold the trek bike for 400 euros", ("has",)),
    ("i play guitar", "sold the guitar for rent money", ("plays",)),
    ("I live in Berlin", "left berlin for good", ("lives in",)),
    ("i work at dell", "quit dell for health reasons", ("works at",)),
    ("i drink coffee every morning", "gave up coffee for good", ("drinks",)),
    (
        "i'm driving a 2012 fiat punto, what oil does it take",
        "sold the punto for 3200, taking the metro for now",
        ("driving a", "fiat 3200"),
    ),
]
EXCHANGES = [
    ("i drive a golf", "swapped the golf for a polo", ("drives a golf",), ("drives a polo",)),
    ("i drive a golf", "traded in my golf for a used skoda", ("drives a golf",), ("a skoda",)),
    ("i drive a peugeot 208", "traded the 208 for a 308", ("drives a peugeot",), ("a 308",)),
    ("i use spotify", "ditched spotify for tidal", ("uses spotify",), ("uses tidal",)),
    ("i live in berlin", "left berlin for lisbon", ("lives in berlin",), ("lives in lisbon",)),
    ("i work at dell", "left dell for ibm", ("works at dell",), ("works at ibm",)),
]


@pytest.mark.parametrize(("before", "said", "over"), PRICES)
def test_what_something_went_for_is_not_what_there_is_now(somebody, before, said, over):
    somebody.ends_with((before, said), over, ())


@pytest.mark.parametrize(("before", "said", "over", "stands"), EXCHANGES)
def test_what_something_was_exchanged_for_is(somebody, before, said, over, stands):
    somebody.ends_with((before, said), over, stands)


JOINED = [
    "joined puregym yesterday",
    "joined netflix yesterday, so good",
    "I joined Netflix yesterday",
    "just joined parkrun, first 5k done",
    "joined duolingo, learning welsh",
    "joined mensa last week",
    "joined reddit lol",
    "I joined Costco on Saturday",
    "joined a gym on main street",
    "just joined the local choir",
    "just joined puregym on kirkstall road, need a beginner plan",
    "left the kids at home and joined puregym",
]
JOBS = [
    ("joined spotify as a data engineer", "spotify"),
    ("joining acme as a tester", "acme"),
    ("quit dell, joined acme last week", "acme"),
    ("I left Dell and joined Acme", "Acme"),
    ("new job! joined acme on monday", "acme"),
    ("I joined Ericsson last week!", "Ericsson"),
    ("joined ericsson last week", "ericsson"),
    ("I joined Google last month", "Google"),
]


@pytest.mark.parametrize("said", JOINED)
def test_who_joins_a_club_or_a_service_works_where_they_did(somebody, said):
    (job,) = (
        each
        for each in somebody.believed_after("i work at dell", said)
        if each.attribute == "work.employer"
    )
    assert job.value == "dell"


@pytest.mark.parametrize(("said", "employer"), JOBS)
def test_who_joins_an_employer_works_there(somebody, said, employer):
    (job,) = (
        each
        for each in somebody.believed_after("i work at dell", said)
        if each.attribute == "work.employer"
    )
    assert job.value == employer


def test_a_relative_who_joins_a_gym_works_where_they_did(somebody):
    turns = "my brother works at dell", "my brother joined puregym"
    somebody.ends_with(turns, ("works at puregym",), ("works at dell",))


GONE = [
    ("team lead is marek, nice guy", "marek quit, now jana runs the team", "team lead is"),
    ("my boss is priya, super strict", "priya quit, now jana runs the team", "boss is"),
    ("my trainer is max, a former boxer", "max left, now nina trains me", "trainer is"),
    ("our coach is dave, great guy", "dave left, now tina trains us", "coach is"),
    ("my manager is Tom, who is a bit odd", "Tom quit, so Anna is in charge", "manager is"),
    ("my flatmate is amy, super messy", "amy moved out", "flatmate is"),
    ("my landlord is mr shah, never answers", "mr shah died", "landlord is"),
    ("my dog is rex, a labrador", "rex died", "dog is"),
]
LISTED = [
    ("my team is ann, bob and cy", "bob left", "Ann and cy"),
    ("i work with ana, bob and tom", "bob left the company", "ana and tom"),
    ("my gym days are mon, wed, fri", "dropped wed", "mon and fri"),
    ("my streaming stuff is netflix, disney plus and now tv", "binned netflix", "disney plus and"),
]


@pytest.mark.parametrize(("before", "said", "over"), GONE)
def test_of_who_is_gone_no_description_is_left(somebody, before, said, over):
    somebody.ends_with((before, said), (over,), ())


@pytest.mark.parametrize(("before", "said", "stands"), LISTED)
def test_of_several_the_others_are_left(somebody, before, said, stands):
    somebody.ends_with((before, said), (), (stands,))


MONEY = [
    "got a thinkpad with my tutoring money, which linux should i put on",
    "bought a bike from my tutoring savings",
    "got a thinkpad with all my tutoring earnings",
]


@pytest.mark.parametrize("said", MONEY)
def test_what_is_paid_for_with_what_one_earns_does_not_end_that(somebody, said):
    before = "im tutoring maths now, 18 quid an hour"
    somebody.ends_with((before, said), (), (before,))


def test_who_stops_earning_ends_it(somebody):
    turns = ("im tutoring maths now, 18 quid an hour", "stopped tutoring, no money in it")
    somebody.ends_with(turns, ("18 quid",), ())
