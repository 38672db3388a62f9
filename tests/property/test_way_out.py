"""What is withheld changes nothing: where it was never said, every answer is the same."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from wishes import searching

from beliefledger import open_memory
from beliefledger.ledger.times import DAY, parse
from beliefledger.projections.showing import BLANK

HOUR = DAY // 24
START = parse("2026-03-01T09:00:00Z")
PLAIN = (
    "The kettle by the window whistles.",
    "It rained on the roof all night.",
    "The market opens at nine.",
    "A heron stood in the garden.",
)
SPECIAL = ("I have diabetes.", "I am gay.", "Somebody here has epilepsy and depression.")
"""Withheld whoever says it."""
UNSURE = (
    "What if I were a doctor by the river?",
    "Oh great, I just love traffic jams in the garden.",
)
"""Kept in quarantine where the subject says it."""
QUERIES = (
    {"query": "the garden kettle", "diversity": 0.4},
    {"query": "who has diabetes or depression at night"},
    {"query": "doctor by the river window", "profile": "recall"},
    {"query": "traffic jams market", "k": 3},
    {"query": "roof", "include": ("episodes",)},
)

turns = st.lists(
    st.tuples(
        st.sampled_from(PLAIN),
        st.sampled_from((*SPECIAL, *UNSURE, None, None)),
        st.booleans(),
        st.sampled_from(["s1", "s2", None]),
        st.sampled_from(["user", "assistant", "other"]),
    ),
    min_size=2,
    max_size=9,
)


def told(answer):
    """All that an answer says of texts, without ids, which are random."""
    return (
        [
            (
                each.rank,
                each.kind,
                " ".join(each.text.replace(BLANK, " ").split()),
                each.score,
                each.arms,
                each.components,
                each.why,
                each.standing.state,
            )
            for each in answer.results
        ],
        answer.candidates,
        answer.suppressed,
        answer.unembedded,
        answer.pending,
        answer.left_out,
    )


def live(said, *, whole, revoke):
    """What is found after these turns were said, with or without what will be withheld."""
    with tempfile.TemporaryDirectory() as directory:
        now = START
        with open_memory(Path(directory), clock=lambda: now) as memory:
            memory.consent.grant("ana", "consent")
            for number, (plain, other, first, session, role) in enumerate(said):
                now += HOUR
                parts = [plain]
                withheld = other in SPECIAL or (other in UNSURE and role == "user")
                if withheld and whole:
                    parts.insert(0 if first else 1, other)
                memory.record_turn(
                    "ana",
                    " ".join(parts),
                    role=role,
                    session=session,
                    said_at=START + number * HOUR,
                    idempotency_key=str(number),
                )
                memory.process()
                memory.search("ana", "warm the index", record=False)
            if whole and revoke:
                for each in memory.beliefs("ana", quarantined=True):
                    if each.quarantined:
                        memory.revoke(each.memory_id, by="eva")
            now = START + 20 * DAY
            return [
                told(memory.search("ana", **searching(**each), record=False)) for each in QUERIES
            ]


@settings(
    phases=(Phase.explicit, Phase.generate),
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(turns, st.booleans())
def test_words_that_are_withheld_change_nothing(said, revoke):
    assert live(said, whole=True, revoke=revoke) == live(said, whole=False, revoke=False)


@pytest.mark.parametrize("place", [0, 3, 5])
def test_a_revocation_leaves_what_was_never_said(place):
    """After it the answers are those of a ledger in which the sentence was never said."""
    answers = []
    for whole in (True, False):
        with tempfile.TemporaryDirectory() as directory, open_memory(Path(directory)) as memory:
            memory.consent.grant("ana", "consent")
            for number in range(6):
                words = PLAIN[number % len(PLAIN)]
                if whole and number == place:
                    words += " I like heavy metal."
                memory.record_turn("ana", words, session="s", said_at=START + number * HOUR)
            memory.process()
            memory.search("ana", "heavy garden", record=False)
            if whole:
                [held] = [each for each in memory.beliefs("ana") if "metal" in each.text]
                memory.revoke(held.memory_id, by="eva")
            valid_at = START + 20 * DAY
            answers.append(
                [
                    told(memory.search("ana", **searching(**each), valid_at=valid_at, record=False))
                    for each in (*QUERIES, {"query": "heavy metal"})
                ]
            )
    assert answers[0] == answers[1]
