"""Where people near to somebody live, who belongs to the household, and news of them in passing."""

import pytest


def _check(somebody, told, gone, there):
    claims = [each.text for each in somebody.believed_after(*told.split(" / "))]
    for words in gone:
        assert not any(words in each for each in claims), claims
    for words in there:
        assert any(words in each for each in claims), claims


NO_NAMES = [
    "my landlord is Trying to evict us",
    "my boss is Always late",
    "my boss is Really strict",
    "my neighbour is Loud",
    "my brother is Getting married",
    "my dentist is Closing early",
]


@pytest.mark.parametrize("told", NO_NAMES)
def test_a_capital_alone_begins_no_name(somebody, told):
    found = somebody.believed_after(told)
    assert not any(each.attribute.startswith("relation.") for each in found)


@pytest.mark.parametrize("name", ["Ling", "Ingrid", "Sterling", "Ing Wei", "Summer Quinn"])
def test_who_is_named_has_the_name(somebody, name):
    found = somebody.believed_after(f"my boss is {name}")
    assert [each.value for each in found] == [name]


ELSEWHERE = [
    ("my sister is in Oslo / sis is in Bergen", "Oslo", "Bergen"),
    ("my sister is in Oslo / sis is in Bergen now, she likes it", "Oslo", "Bergen"),
    ("my sister is in Oslo / my sister moved to Bergen", "Oslo", "Bergen"),
    ("my sister lives in Oslo / my sister's in Bergen since july", "Oslo", "Bergen"),
    ("my brother's in Toronto / my brother got the visa so he's in Perth now", "Toronto", "Perth"),
    (
        "my parents still live out in Ennis / the parents love their new flat in Gort",
        "Ennis",
        "Gort",
    ),
    ("mum and dad live in Hull / mum and dad moved to Spain", "Hull", "Spain"),
    ("my folks are in Pune / mom and dad are in Nashik now", "Pune", "Nashik"),
    (
        "my parents live out near Tralee / mam and dad sold up and they're in a flat in Ennis now",
        "Tralee",
        "Ennis",
    ),
    ("my best mate Tunde lives next door / tunde emigrated in october", "next door", ""),
    ("my mate Ada lives downstairs / Ada moved to Lisbon", "downstairs", "Lisbon"),
    ("my son lives with his mother / my son lives with me now", "mother", "son lives with"),
]


@pytest.mark.parametrize(("told", "gone", "there"), ELSEWHERE)
def test_where_somebody_near_lives_is_told_in_passing(somebody, told, gone, there):
    _check(somebody, told, [gone], [there])


STILL_THERE = [
    ("my sister lives in Oslo / my sister is in Bergen this week", "lives in Oslo"),
    ("my sister lives in Oslo / sis is in Bergen", "lives in Oslo"),
    ("my sister lives in Oslo / my sister went abroad for a week", "lives in Oslo"),
    ("my parents live in Lund / my parents are in Malaga for two weeks", "in Lund"),
    ("my parents live in Lund / mum and dad love their new sofa", "in Lund"),
    ("my best mate Tunde lives next door / tunde's cousin emigrated in october", "next door"),
    ("my best mate Tunde lives next door / tunde went away for the weekend", "next door"),
    ("my brother is in Perth / my friend is in Lagos now", "Perth"),
]


@pytest.mark.parametrize(("told", "there"), STILL_THERE)
def test_a_visit_and_the_move_of_others_change_nothing(somebody, told, there):
    _check(somebody, told, [], [there])


@pytest.mark.parametrize(
    "told",
    ["my son is in Year 9", "my brother is in Rehab", "my wife is in labour", "my dad is in bed"],
)
def test_what_is_no_place_is_nobodys_home(somebody, told):
    found = somebody.believed_after(told)
    assert not any(each.attribute.startswith(("home.", "location.")) for each in found)
