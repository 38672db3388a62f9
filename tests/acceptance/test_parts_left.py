"""Of a turn of which a part is over, that part alone is told as past."""

from __future__ import annotations

import pytest

from beliefledger import open_memory
from beliefledger.search.parts_left import parts_left

LEFT = [
    (
        "i'm a project manager at dell. carla works for google, jealous",
        "laid off from dell today. sucks.",
        "who does carla work for",
        "carla works for google",
    ),
    (
        "i'm a cook at nando's, ana is a nurse",
        "quit nando's today",
        "what does ana do",
        "ana is a nurse",
    ),
    (
        "ana is a nurse, i'm a cook at nando's",
        "quit nando's today",
        "what does ana do",
        "ana is a nurse",
    ),
    (
        "I live in Leeds. Tom drives a lorry for Shell.",
        "I moved to York.",
        "what does Tom drive",
        "Tom drives",
    ),
]
SAYS_MORE = [
    "I live in Leeds. My wife works at Google.",
    "I live in Leeds, my older brother is a nurse.",
    "I live in Leeds and Tom's a nurse.",
    "I live in Leeds. I play the cello.",
]
OVER = [
    ("I live in Leeds. Tom moved out.", "I moved to York.", "who moved out in Leeds"),
    ("i live in leeds, near the canal", "moved to york", "where did i live before"),
    (
        "I live in Leeds. It's a lovely flat.",
        "I moved to York.",
        "what was lovely about my flat in Leeds",
    ),
    ("I live in Leeds, love it.", "I moved to York.", "where in Leeds do I love it"),
    ("I live in Leeds. What is a good pub?", "I moved to York.", "which pub is good in Leeds"),
]


@pytest.fixture(scope="module", params=["hashed-1", "words-3"])
def memory(request, tmp_path_factory):
    place = tmp_path_factory.mktemp("ledger")
    with open_memory(place, consent="contract", embedder=request.param) as opened:
        yield opened


def tell(memory, *turns):
    who = " / ".join(turns)
    for day, said in enumerate(turns, 1):
        memory.remember(who, said, said_at=f"2026-03-{day:02}T10:00:00Z")
    return who


@pytest.mark.parametrize(("said", "change", "question", "left"), LEFT)
def test_what_is_still_so_is_not_told_as_past(memory, said, change, question, left):
    who = tell(memory, said, change)
    lines = memory.context(who, question, max_tokens=600).lines
    told = [line for line in lines if left in line.text]
    assert told
    assert all(line.section != "past" for line in told)
    for found in memory.search(who, question).results:
        if left in found.text and found.text != left:
            assert found.standing.state == "current"
            assert "(no longer so since 2026-03-02" in found.text
            assert found.standing.parts


@pytest.mark.parametrize("said", SAYS_MORE)
def test_what_is_said_of_another_is_left(said):
    assert parts_left(said, [(0, len("I live in Leeds"))])


@pytest.mark.parametrize(("said", "change", "question"), OVER)
def test_what_hangs_on_what_is_over_is_past_with_it(memory, said, change, question):
    who = tell(memory, said, change)
    assert all(
        line.section == "past"
        for line in memory.context(who, question, max_tokens=600).lines
        if "leeds" in line.text.lower()
    )


def test_the_mark_tells_which_words_are_over_where_others_stand_before(memory):
    who = tell(
        memory,
        "my manager is priya and we use jira for tickets",
        "finally we got rid of jira, everything is in linear now",
    )
    [found] = [
        each
        for each in memory.search(who, "which tool do we use for tickets").results
        if "priya" in each.text
    ]
    assert found.text.endswith("(no longer so since 2026-03-02: “we use jira for tickets”)")


def test_what_is_withheld_leaves_nothing(memory):
    """A turn is past as it would be without the words that no lawful basis covers."""
    before = "I live in Leeds."
    told = []
    for said in (before, f"{before} I have asthma."):
        who = tell(memory, said, "I moved to York.")
        told.append(
            [
                (found.standing.state, bool(found.standing.parts))
                for found in memory.search(who, "did I live in Leeds?").results
                if found.kind == "episode" and "Leeds" in found.text
            ]
        )
    assert told[0] == told[1]
