"""Which special category words are of, as far as their phrases tell."""

from __future__ import annotations

import pytest

from beliefledger.gate.rules.sensitive import category_of


@pytest.mark.parametrize(
    "said",
    [
        "you may keep health things, I'd rather you knew about my lungs",
        "my kidneys are fine again",
        "her liver is not what it was",
        "they looked at our daughter's tonsils",
        "it is my left lung",
        "his bad kidney, as ever",
        "Ana's thyroid is acting up",
    ],
)
def test_somebodys_organs_are_health(said: str) -> None:
    assert category_of(said) == "health"


@pytest.mark.parametrize(
    "said",
    [
        "I had liver and onions",
        "her kidney beans were cold",
        "I love my kidney bean stew",
        "we cooked chicken liver pate",
        "my liver sausages are in the fridge",
        "that shout tested the lungs of the hall",
    ],
)
def test_those_that_are_eaten_or_nobodys_are_not(said: str) -> None:
    assert category_of(said) is None


@pytest.mark.parametrize(
    "said", ["my brother got nicked", "got nicked last night", "Kev got nicked"]
)
def test_somebody_who_got_nicked_was_arrested(said: str) -> None:
    assert category_of(said) == "criminal"


@pytest.mark.parametrize("said", ["my bike got nicked in march", "the laptop just got nicked"])
def test_a_thing_that_got_nicked_is_only_gone(said: str) -> None:
    assert category_of(said) is None


@pytest.mark.parametrize(
    "said",
    [
        "we meet at the union cafe from now on",
        "I live on Union Street, above the bakery",
        "my train leaves from Union Station at 8",
        "I run the students' union bar",
        "I bank with a credit union",
        "I switched the parser to union types",
        "my rugby union club trains on Tuesdays",
        "User works as a midwife",
        "I'm a cardiologist in Ghent",
        "her sister is a clinical psychologist",
        "he trained as a therapist",
    ],
)
def test_places_other_unions_and_trades_are_of_no_category(said: str) -> None:
    assert category_of(said) is None


@pytest.mark.parametrize(
    "said",
    ["I see a therapist on Mondays", "my psychiatrist is a kind man", "she needs a cardiologist"],
)
def test_whom_somebody_sees_is_health(said: str) -> None:
    assert category_of(said) == "health"


@pytest.mark.parametrize(
    "said",
    ["I pay my union dues", "she is in the union", "my union rep said so", "I joined a union"],
)
def test_a_union_of_workers_is(said: str) -> None:
    assert category_of(said) == "union"
