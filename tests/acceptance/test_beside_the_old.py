"""A first day where somebody is already, or something new on another day, ends nothing."""

from __future__ import annotations

import pytest

FIRST_DAYS = [
    ("got the job at hogan!!!", "first day at hogan, they got me in a kenworth t680"),
    ("I work at Siemens.", "first day at siemens after the holidays, 400 emails"),
    ("i work at Lidl", "first day back at lidl after my holiday"),
    ("i work at the library in Ghent", "first day at the library with the new system, chaos"),
    ("i go to St Annes school", "first day at st annes after summer, so tired"),
    ("im head waiter at Nobu", "first day as head waiter done"),
    ("im junior sister from 5 october", "first day as junior sister done. knackered"),
    ("I play for Rovers", "first day at rovers after the summer"),
    (
        "first day at hogan, they got me in a kenworth t680",
        "hogan switched me to the night route til thanksgiving, 6pm to 4am",
    ),
]
ELSEWHERE = [
    ("I work at Siemens", "first day at bosch today"),
    ("I work at Siemens", "first week at Bosch done, nice people"),
]
MIA = "my daughter Mia does ballet on tuesdays"
LEO = "my son Leo plays football on saturdays"
TAKEN_UP = [
    (
        "swimming for both on saturdays 9am at the leisure centre, ella is stage 6 theo stage 2",
        "ella got into the netball team, practice thursdays",
    ),
    (
        "piano for tom on mondays at 5, tom is grade 3",
        "tom joined the football team, training wednesdays",
    ),
    (MIA, "mia got into the choir, practice fridays"),
    (MIA, "mia joined the choir, practice fridays"),
    (MIA, "mia started judo, on fridays"),
    (MIA, "mia made the swim squad, training on thursdays"),
    (LEO, "leo got a place in the orchestra, rehearsals on mondays"),
    (LEO, "leo is taking up chess, club on mondays"),
    ("i do yoga on tuesdays", "i started pilates, on thursdays"),
]
TAKEN_UP_INSTEAD = [
    (MIA, "mia's ballet is on fridays now"),
    (MIA, "mia does judo instead of ballet now, on fridays"),
    (MIA, "mia quit ballet and started judo, on fridays"),
    (MIA, "mia started ballet on fridays now"),
    (LEO, "leo's football moved to mondays"),
    ("i do yoga on tuesdays", "started yoga on thursdays now"),
]


def _told(somebody):
    return {each.text for each in somebody.beliefs() if each.type != "event"}


@pytest.mark.parametrize(("before", "said"), FIRST_DAYS + TAKEN_UP)
def test_what_is_done_already_stands(somebody, before, said):
    somebody.remember(before)
    told = _told(somebody)
    assert told
    somebody.remember(said)
    assert told <= _told(somebody)
    assert not any("Leo plays football on mondays" in each for each in _told(somebody))


@pytest.mark.parametrize(("before", "said"), ELSEWHERE + TAKEN_UP_INSTEAD)
def test_what_takes_its_place_ends_it(somebody, before, said):
    somebody.remember(before)
    told = {each for each in _told(somebody) if "daughter is" not in each and "son is" not in each}
    somebody.remember(said)
    assert told.isdisjoint(_told(somebody))


def test_another_post_at_the_same_employer_ends_the_post_alone(somebody):
    somebody.remember("I'm a trainee at Aldi")
    somebody.remember("first day as store manager at aldi")
    assert _told(somebody) == {"User is at Aldi", "User is a store manager"}


def test_what_somebody_becomes_in_the_family_is_no_post(somebody):
    somebody.remember("I'm a nurse")
    somebody.remember("my first day as a mum")
    assert "User is a nurse" in _told(somebody)
