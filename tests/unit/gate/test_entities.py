"""How names are resolved: given a directory, when a name comes, then it means this."""

from __future__ import annotations

import pytest

from beliefledger.gate.entities import Directory, Match, evolve, resolve, similarity
from beliefledger.gate.policy import EntityRules
from beliefledger.gate.slots import canonical_entity
from beliefledger.ledger.events.entity import (
    AliasAdded,
    EntitiesKeptApart,
    EntitiesMerged,
    EntityRecognised,
    EntitySplit,
)

ASK = EntityRules()


def known(name, entity_id=None):
    canonical = canonical_entity(name)
    return EntityRecognised(entity_id=entity_id or canonical, name=name, canonical=canonical)


def alias(entity_id, name, how="stated"):
    return AliasAdded(entity_id=entity_id, how=how, alias=name, canonical=canonical_entity(name))


def given(*events):
    directory = Directory()
    for version, event in enumerate(events, 1):
        directory = evolve(directory, version, event)
    assert directory.version == len(events)
    return directory


PEOPLE = given(
    known("Sarah Chen"),
    known("Elizabeth Miller"),
    known("Robert"),
    known("Acme"),
    known("Room 12"),
    known("User"),
)


@pytest.mark.parametrize(
    ("name", "match", "entity_id"),
    [
        ("Sarah Chen", Match.EXACT, "sarah chen"),
        ("SARAH  chen", Match.EXACT, "sarah chen"),
        ("the Sarah Chen", Match.EXACT, "sarah chen"),
        ("Liz Miller", Match.NICKNAME, "elizabeth miller"),
        ("Bob", Match.NICKNAME, "robert"),
        ("Liz Chen", Match.NEW, None),
        ("Acme", Match.EXACT, "acme"),
        ("my acme", Match.EXACT, "acme"),
        ("Zoltan", Match.NEW, None),
        ("User", Match.EXACT, "user"),
    ],
)
def test_a_name_means_who_is_known_by_it_or_by_a_nickname_of_it(name, match, entity_id):
    found = resolve(PEOPLE, name, ASK)
    assert (found.match, found.entity_id) == (match, entity_id)


@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("Sarah", "sarah chen"),
        ("S. Chen", "sarah chen"),
        ("Sarah C.", "sarah chen"),
        ("Sarah Chan", "sarah chen"),
        ("Chen", None),
        ("Sam Chen", None),
        ("Room 13", None),
        ("Ace", None),
    ],
)
def test_nearly_a_known_name_is_somebody_new_and_a_question(name, like):
    found = resolve(PEOPLE, name, ASK)
    assert (found.match, found.entity_id, found.like) == (Match.NEW, None, like)


def test_a_policy_links_near_names_or_asks_nothing():
    linked = resolve(PEOPLE, "Sarah", EntityRules(near="link"))
    assert (linked.match, linked.entity_id, linked.like) == (Match.NEAR, "sarah chen", None)
    new = resolve(PEOPLE, "Sarah", EntityRules(near="new"))
    assert (new.match, new.entity_id, new.like) == (Match.NEW, None, None)
    far = resolve(PEOPLE, "Sarah", EntityRules(near="link", similarity=0.95))
    assert far.entity_id is None


def test_a_nickname_of_two_people_means_neither():
    both = given(known("Alexander Reed", "a"), known("Alexandra Reed", "b"))
    assert resolve(both, "Alex Reed", EntityRules(near="new")).entity_id is None


def test_an_alias_is_a_name_and_moves_to_who_gets_it_last():
    directory = given(known("Sarah Chen", "s"), alias("s", "Sunny"), known("Ana Reis", "a"))
    assert resolve(directory, "sunny", ASK).entity_id == "s"
    directory = evolve(directory, 4, alias("a", "Sunny"))
    assert resolve(directory, "Sunny", ASK).entity_id == "a"
    assert directory.names_of("s") == ("sarah chen",)


def test_a_title_is_whose_it_was_last_and_its_synonyms_are_too():
    directory = given(known("Sarah", "s"), alias("s", "manager", "role"), known("Tom", "t"))
    assert {resolve(directory, name, ASK).entity_id for name in ("my boss", "manager")} == {"s"}
    directory = evolve(directory, 4, alias("t", "manager", "role"))
    assert resolve(directory, "my manager", ASK).entity_id == "t"
    assert directory.roles == {"manager"}


def test_a_title_is_never_nearly_a_name():
    directory = given(known("Sarah", "s"), alias("s", "manager", "role"))
    assert resolve(directory, "managers", ASK).like is None


def test_merged_entities_are_found_under_all_names_and_by_every_id():
    merge = EntitiesMerged(entity_id="s", absorbed_id="c", how="stated")
    directory = given(known("Sarah", "s"), known("S. Chen", "c"), merge)
    assert resolve(directory, "S. Chen", ASK).entity_id == "s"
    assert directory.survivor("c") == "s"
    assert directory.canonical("c") == "sarah"
    again = EntitiesMerged(entity_id="x", absorbed_id="s", how="stated")
    directory = evolve(evolve(directory, 4, known("Xi", "x")), 5, again)
    assert directory.survivor("c") == "x"


def test_a_split_gives_the_other_its_names_and_what_was_absorbed_under_them():
    directory = given(
        known("Sarah", "s"),
        known("S. Chen", "c"),
        EntitiesMerged(entity_id="s", absorbed_id="c", how="stated"),
        EntitySplit(entity_id="s", other_id="o", name="S. Chen", canonicals=("s chen",)),
    )
    assert resolve(directory, "S. Chen", ASK).entity_id == "o"
    assert resolve(directory, "Sarah", ASK).entity_id == "s"
    assert directory.survivor("c") == "o"
    assert directory.canonical("o") == "s chen"


def test_those_kept_apart_are_a_pair():
    directory = given(
        known("Sarah", "s"), known("Sara", "a"), EntitiesKeptApart(entity_id="s", other_id="a")
    )
    assert directory.apart == {frozenset({"s", "a"})}


def test_a_tombstone_only_moves_the_version():
    directory = evolve(PEOPLE, 7, None)
    assert directory.version == 7
    assert directory.names == PEOPLE.names


@pytest.mark.parametrize(
    ("name", "other", "near"),
    [
        ("sarah", "sarah chen", True),
        ("s chen", "sarah chen", True),
        ("sarah c", "sarah chen", True),
        ("jon smith", "john smith", True),
        ("tom", "tim", False),
        ("berlin", "dublin", False),
        ("project 12", "project 21", False),
        ("sarah chen", "sarah chen miller", False),
    ],
)
def test_how_near_two_names_are(name, other, near):
    assert (similarity(name, other) >= 850_000) is near
    assert similarity(name, other) == similarity(other, name)
