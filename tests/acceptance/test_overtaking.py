"""What is over by a later sentence is no longer believed, and what stands is: told through the
front door, by one person each."""

from __future__ import annotations

import pytest

from beliefledger.tools.bench.blocks import Block, Later, block_of, blocks
from beliefledger.tools.bench.overtaking import Case, cases_of, played, shares

LIMITS = {"several": (0.24, 0.021), "single": (0.33, 0.07)}
"""At least so much of what is over and at most so much of what stands is no longer believed, of
blocks that nothing was trained with: of those that tell several things, and of those that tell one
and whose lookalikes are all about it."""
ANNA = (
    "i live in Leeds",
    "i work at Asda",
    "i have a dog called Rex",
    "my gf is Mia",
    "we have a Corsa",
    "our rent is 880",
    "i play bass in a band",
    "Jonas got the job at Zalando",
    "I'm gonna be working from home on Thursdays from now on",
)


@pytest.mark.parametrize(
    ("said", "over"),
    [
        ("new start at Aldi on monday", {"Asda"}),
        ("mia and i split, she kept rex", {"Mia"}),
        ("sold the corsa last week", {"Corsa"}),
        ("rents gone up to 930", {"880"}),
        ("sold the corsa haha jk", set()),
        ("he said the corsa is sold", set()),
        ("mia moved to another store", set()),
        ("my boss moved to another store", set()),
        ("mia's dog died", set()),
        ("thinking of moving to Hove one day", set()),
        ("asda gave me an extra shift", set()),
        ("no band this week, the drummer is away", set()),
        ("my brother sold his corsa", set()),
        ("Jonas is off pork AND beef now", set()),
        ("Jonas is done with dating apps", set()),
        ("moved in, finally. boxes everywhere", set()),
        ("no more working from home, they want us all in", {"Thursdays"}),
    ],
)
def test_a_sentence_ends_what_it_overtakes_and_nothing_else(said, over, tmp_path):
    case = Case("anna", Block("anna", "own", ANNA, ()), Later(said, frozenset()))
    ended = [each.belief.text for each in played(tmp_path / "ledger", [case]) if not each.believed]
    values = {"Leeds", "Asda", "Rex", "Mia", "Corsa", "880", "bass", "Zalando", "Thursdays"}
    assert {value for value in values if any(value in text for text in ended)} == over


@pytest.mark.parametrize("kind", LIMITS)
def test_most_of_what_stands_is_kept(kind, tmp_path):
    of = [
        case
        for case in cases_of("test", 1600)
        if case.block.batch.startswith("single_") == (kind == "single")
    ]
    over, stands = shares(played(tmp_path / "ledger", of))
    left, lost = LIMITS[kind]
    assert sum(over) / len(over) >= left
    assert sum(stands) / len(stands) <= lost


def test_halves_share_no_block():
    names = [{block.name for block in blocks(half)} for half in ("tune", "test")]
    assert all(names)
    assert names[0].isdisjoint(names[1])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("i live in Leeds\n> moved to Hove", "is not '> words | numbers'"),
        ("i live in Leeds\n> moved to Hove | 2", "a number of nothing that was told"),
        ("i live in Leeds", "nothing is said later"),
        ("> moved to Hove | -", "tells nothing"),
    ],
)
def test_what_is_no_block_is_told(text, problem):
    with pytest.raises(ValueError, match="b-1: .*" + problem.replace("|", r"\|")):
        block_of("b-1", "b", text)
