"""What is no value: an opinion, a saying, a state of the moment; and what looks like one."""

from __future__ import annotations

import pytest

NONE = [
    "my house is a tip",
    "my car is a money pit",
    "my bank is useless",
    "my kitchen is a disaster zone",
    "our office is a zoo",
    "my job is a dream",
    "my boss is a robot i swear",
    "my landlord is a crook",
    "my inbox is a graveyard",
    "my gym is closed for refurb",
    "my rent is due",
    "my commute is brutal",
    "my shift is over",
    "my hair is wet",
    "my title is stupid",
    "my band is on tour",
    "my hours are long",
    "my salary is paid monthly",
    "my company was bought by oracle",
    "im engaged in a war with my printer",
    "i run a tight ship",
    "i play second fiddle to the cat",
    "i own my mistakes",
    "i drink my weight in coffee",
    "i have 99 problems",
    "i moved to cloud nine",
    "i'm from mars obviously",
    "i take the biscuit",
    "i drive my wife crazy",
    "my first car was a fiesta",
    "asking for a friend: how do i quit my job",
    "i moved to the couch",
    "i live in the kitchen",
    "i work for my cat",
    "i come from a long line of worriers",
    "im from the future",
    "im a chef in my dreams",
    "im a wizard with spreadsheets",
    "im president of the nap club",
    "im a terrible cook",
    "i gave up caffeine for 12 minutes",
    "i have a love hate relationship with kale",
    "my cat is the ceo of the house",
    "my grandma turns 90 in march",
    "i work for myself",
    "i told my boss i live in leeds but thats a lie",
    "i sing like a strangled cat",
    "this week i live at the hospital, dads in",
    "my boss is mean",
    "borrowed my mums car for the week",
]
SOME = [
    ("my house is a bungalow", "home.type", "a bungalow"),
    ("my bank is monzo", "finance.bank", "monzo"),
    ("my bike is a brompton", "thing.bike", "a brompton"),
    ("my landlord is a dentist", "work.role", "dentist"),
    ("my pet is a snake", "is.snake", "a snake"),
    ("my gym is puregym", "fitness.gym", "puregym"),
    ("my company is called Nimbus", "work.employer", "Nimbus"),
    ("my hair is red", "thing.hair", "red"),
    ("my wedding is in may", "thing.wedding", "in may"),
    ("i run a bakery", "relation.owns.bakery", "bakery"),
    ("i play second violin in an orchestra", "plays.second-violin", "second violin"),
    ("i take the bus to work", "habit.take-the-bus-to-work", "take the bus to work"),
    ("my dog is a menace", "has.dog", "dog"),
    ("yes i have a dog", "has.dog", "a dog"),
    ("my bday is march 12", "identity.birthday", "march 12"),
    ("my name isnt dave its davide", "identity.name", "Davide"),
    ("dont call me robert, its rob", "identity.preferred-name", "Rob"),
    ("my sister in law is a nurse at St Thomas", "work.role", "nurse"),
    ("my vet is dr collins at parkvets", "care.vet", "dr collins"),
    ("english is my second language", "speaks.english", "english"),
    ("im 5'4", "body.height", "5'4"),
    ("im with vodafone", "provider.mobile", "vodafone"),
    ("everyone calls me bex", "identity.preferred-name", "bex"),
    ("i knit", "habit.knit", "knit"),
    ("pronouns they/them", "identity.pronouns", "they/them"),
    ("shifted to pune last month", "home.location", "pune"),
    ("moved to halifax", "home.location", "halifax"),
    ("got 3 cats n a dog", "has.dog", "a dog"),
    ("i live in the countryside", "home.location", "the countryside"),
    ("we live in a rented house", "home.type", "a rented house"),
    ("i'm from a small town in ohio", "identity.origin", "a small town"),
    ("im a chef in a school kitchen", "work.role", "chef"),
    ("i'm the captain of the hockey team", "work.role", "captain of the hockey team"),
    ("i quit smoking for 3 years", "habit.smoking", "smoking"),
    ("my car is called betsy", "thing.car.name", "betsy"),
    ("my car is 5 years old", "thing.car.age", "5 years old"),
    ("my cat is 6 months old", "thing.cat.age", "6 months old"),
    ("my gym is 10 mins away", "thing.gym.distance", "10 mins"),
    ("my son turns 4 today", "identity.age", "4"),
    ("my boss is tina", "relation.reports-to", "tina"),
    ("got a puppy, she's called Bo", "relation.puppy.name", "Bo"),
    ("adopted a dog, hes called bo", "relation.dog.name", "bo"),
]


@pytest.mark.parametrize("said", NONE)
def test_what_is_no_value_is_not_believed(somebody, said):
    words = ("tip", "pit", "useless", "disaster", "zoo", "dream", "robot", "crook", "graveyard")
    believed = [each.text for each in somebody.believed_after(said)]
    assert not [text for text in believed if any(word in text for word in words)]
    assert all(
        text in ("User has a car", "User has a printer", "User has a cat") for text in believed
    )


@pytest.mark.parametrize(("said", "attribute", "value"), SOME)
def test_what_looks_like_it_is_believed(somebody, said, attribute, value):
    found = somebody.believed_after(said)
    assert value in [each.value for each in found if each.attribute == attribute]


def test_the_words_of_several_that_mean_one_stay_whole(somebody):
    found = somebody.believed_after("my sister in law is a nurse at St Thomas")
    assert all("sister in law" in each.text for each in found)


def test_what_is_studied_is_nobodys_health(somebody):
    _, decisions = somebody.remember("my daughter is studying medicine")
    assert all(each.outcome == "admit" for each in decisions)


def test_what_was_got_for_others_is_not_the_users(somebody):
    assert not somebody.believed_after("got an iphone for my mum")


@pytest.mark.parametrize(
    "said", ["don't call me dude, it's rude", "dont call me late, its annoying"]
)
def test_the_reason_of_an_order_is_no_name(somebody, said):
    assert not any(each.attribute.startswith("identity.") for each in somebody.believed_after(said))
