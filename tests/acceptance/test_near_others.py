"""What is said of others, or of how something is for a while, ends nothing that is believed."""

from __future__ import annotations

import pytest

NEAR = {
    "I work at Bosch": [
        "my cousin works at Siemens now", "Lena is at Google now",
        "the Bosch canteen is closed now", "my brother's employer is Aldi now",
    ],
    "I live in Bonn": [
        "my sister lives in Oslo now", "stuck in Frankfurt now, flight delayed",
        "we're in Prague these days for my husband's surgery",
        "back in Cologne now for the carnival", "pottery moved to Thursdays btw",
        "the gym moved to Kirkstall", "book club moved to Sam's place",
        "the bakery relocated to Elm Street", "choir landed in York", "moved to Thursdays",
    ],
    "Rent is 900 euros": [
        "my brother's rent is 1100 now", "electricity is 95 euros these days",
        "my parking costs 60 euros now",
    ],
    "my gym is FitX": ["my brother's gym is McFit now", "the pool is closed now"],
    "my partner is Carla": ["my brother's partner is Nina now", "my tennis partner is Ole now"],
    "I'm on the data team": ["Kai is on the platform team now", "the search team moved to Berlin"],
    "I take the bus to work": ["my wife takes the train now", "the bus is always late now"],
    "I commute by train": [
        "my colleague commutes by bike now", "the train is 20 euros now",
        "my husband commutes by car now",
    ],
    "I wake up at 6:30": ["standup is at 9:30 now", "the kids wake up at 5 now"],
    "my standup is at 9:15": ["the other team's standup is at 9:45 now", "retro is at 10:00 now"],
    "the deadline is June 3": [
        "the other team's deadline is June 10 now", "my wife's exam is on June 5 now",
        "the party is on June 7 now",
    ],
    "my dentist is Dr. Huber": ["my kid's dentist is Dr. Lang now", "the vet is Dr. Kern now"],
    "my laptop is a ThinkPad": ["my boss's laptop is a MacBook now"],
    "my favourite band is Muse": ["the band is on tour now", "Kai's band is called Lotus now"],
    "my landlord is Mr Novak": ["my sister's landlord is Mrs Bauer now"],
    "my internet provider is A1": ["the internet is slow now"],
    "my daughter Mia goes to Goethe school": ["Mia's friend moved to Montessori school"],
    "My kids are Tom and Lily": ["Tom died"],
    "my cats Pixel and Toast are siblings": ["Toast ran away"],
    "my parents are Jim and Sue": ["Sue passed away yesterday"],
}  # fmt: skip
CHANGED = {
    "I have two cats, Pixel and Toast": "we gave the cats away",
    "we have two dogs, Rex and Milo": "Rex and Milo died",
    "I own a boat and a caravan": "sold the boat and the caravan",
    "I work at Marks and Spencer": "I quit Marks and Spencer",
    "I live in Bonn": "our new flat's in York, all unpacked",
    "I live in Leeds": "the new house is in York",
    "we live in Leeds": "family moved to York",
    "my manager is Ingrid": "my manager is Tobias now",
    "Rent is 900 euros": "the landlord raised it, rent is 1100 now",
    "my gym is FitX": "gym is McFit now",
    "my standup is at 9:15": "standup is at 9:45 now",
    "our landlord is Mr. Pike": "the building was sold, our landlord is a Mrs. Adeyemi now",
    "my daughter Mia is 6": "mia's seventh birthday was chaos lol",
    "my days off are monday and tuesday": "days off are now sunday and monday",
}


@pytest.mark.parametrize("known", NEAR)
def test_what_is_believed_stays(somebody, known):
    somebody.remember(known)
    before = {each.memory_id for each in somebody.beliefs()}
    assert before
    for words in NEAR[known]:
        somebody.remember(words)
        assert before <= {each.memory_id for each in somebody.beliefs()}, words


def test_of_two_that_are_listed_by_name_one_stays(somebody):
    somebody.remember("I have a dog called Rex and a cat called Mia")
    somebody.remember("Rex died")
    assert [each.value for each in somebody.beliefs() if each.type == "relation"] == ["Mia"]


@pytest.mark.parametrize("known", CHANGED)
def test_what_has_changed_does_not(somebody, known):
    somebody.remember(known)
    before = {each.memory_id for each in somebody.beliefs()}
    somebody.remember(CHANGED[known])
    assert not before <= {each.memory_id for each in somebody.beliefs()}
