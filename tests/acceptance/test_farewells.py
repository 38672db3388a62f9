"""Words that take leave of something end what is believed of it, in whatever slot it is kept."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from beliefledger.gate.intake import TurnInput
from beliefledger.ledger.times import from_datetime

FIRST, LATER = datetime(2025, 3, 1, tzinfo=UTC), datetime(2025, 9, 1, tzinfo=UTC)
AFTER = datetime(2025, 9, 2, tzinfo=UTC)


@pytest.fixture(scope="module")
def opened_with():
    return {"extractor": "rules", "consent": "explicit_consent"}


def hear(somebody, *turns):
    """The claims that are believed after these turns, each said by a subject of its own talk."""
    for number, (said_at, words, *speaker) in enumerate(turns):
        turn = TurnInput(
            subject=somebody.who,
            content=words,
            session=f"{said_at:%Y-%m-%d}",
            speaker=speaker[0] if speaker else None,
            said_at=from_datetime(said_at),
            ordinal=number,
        )
        somebody.memory.record_turns([turn])
        assert not somebody.memory.process().failed
    return {each.text for each in somebody.beliefs(valid_at=AFTER) if each.type != "event"}


ENDED = (
    ("I live in Tallinn", "finally unpacked the last box. bye bye Tallinn!", "Tallinn"),
    ("I have an old Skoda Octavia", "the octavia didn't make it through inspection", "Octavia"),
    ("I have a parrot named Kiwi", "we had to find kiwi a new home", "Kiwi"),
    ("I'm an accountant at Deloitte", "today was my final day at Deloitte", "Deloitte"),
    ("We own a cottage in Whitby", "the cottage in whitby is sold", "cottage"),
)


@pytest.mark.parametrize(("before", "after", "gone"), ENDED)
def test_a_farewell_ends_what_it_names(somebody, before, after, gone):
    assert any(gone in text for text in hear(somebody, (FIRST, before)))
    assert not any(gone in text for text in hear(somebody, (LATER, after)))


NOT_ENDED = (
    ("I live in Bordeaux", "if we ever left Bordeaux it would be for the mountains"),
    ("I drive a Peugeot 208", "my brother sold his peugeot to some guy online"),
    ("I have a dog called Figo", "back when i was a kid we gave our dog away"),
    ("I work at Lidl", "should I quit Lidl?"),
    ("I use Evernote", "I would never have left Evernote"),
    ("I use Evernote", "they told me to ditch Evernote for Notion"),
    ("I have three cats", "we might get rid of the cats"),
    ("I have 40 books on gardening", "just got 3 new books on gardening"),
    ("my sister Noa is 41", "I've known Noa for 20 years now"),
)


@pytest.mark.parametrize(("before", "after"), NOT_ENDED)
def test_doubts_others_and_stories_end_nothing(somebody, before, after):
    held = hear(somebody, (FIRST, before))

    assert held
    assert held <= hear(somebody, (LATER, after))


def test_the_words_of_another_speaker_end_nothing_of_the_subject(somebody):
    hear(somebody, (FIRST, "I live in Oslo", somebody.who))

    assert "User lives in Oslo" in hear(somebody, (LATER, "so long Oslo!", "Imke"))


REPLACED = (
    ("I live in Leipzig", "swapped Leipzig for Dresden", {"User lives in Dresden"}),
    ("I have 8 koi", "three died, so 5 koi left", {"User has 5 koi"}),
    (
        "we have a team huddle at 8:15 every morning",
        "huddle moved to 8:45",
        {"User has a team huddle at 8:45 every morning"},
    ),
    ("my sister Noa is 41", "noa is 42 now", {"User's sister is Noa", "User's sister Noa is 42"}),
    ("my flight to Oslo leaves at 9:40", "my flight to Oslo leaves at 14:15 now", None),
)  # fmt: skip


@pytest.mark.parametrize(("before", "after", "held"), REPLACED)
def test_what_takes_its_place_is_believed_in_its_slot(somebody, before, after, held):
    hear(somebody, (FIRST, before))
    now = hear(somebody, (LATER, after))

    if held is None:
        assert not any("9:40" in text for text in now)
    else:
        assert now == held


def test_a_count_of_things_owned_is_one_slot(somebody):
    hear(somebody, (FIRST, "I own 31 fountain pens"))

    assert hear(somebody, (LATER, "I own 34 fountain pens")) == {"User owns 34 fountain pens"}


def test_what_ends_nothing_leaves_no_trace(somebody):
    assert hear(somebody, (FIRST, "so long Swansea")) == set()
    assert not somebody.memory.decisions(somebody.who)


@pytest.mark.parametrize(
    ("before", "said", "gone"),
    [
        ("yoga costs me 12 euros a class", "they raised it to 15", "12"),
        ("sprint review is friday 2pm", "they pushed it to 3pm", "2pm"),
        ("im on 29k", "payrise came thru, 33k now", "29k"),
        ("we have two dogs called Rex and Milo", "had to give rex and milo away", "has two dogs"),
    ],
)
def test_what_a_figure_or_a_list_said_before_is_over(somebody, before, said, gone):
    believed = hear(somebody, (FIRST, before), (LATER, said))
    assert not any(gone in claim for claim in believed)
