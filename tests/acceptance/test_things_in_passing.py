"""News of things, tools, habits and appointments that is told in passing, in few words or beside a
question, and what is so still after news of something else."""

from __future__ import annotations

import pytest

NEWS = [
    # What is told before a question is asked.
    (
        ("I drive a Ford Fiesta", "wrote off the fiesta, what does the insurer pay?"),
        ("Fiesta",),
        (),
    ),
    (
        ("I drive a Skoda Fabia", "traded it in for a Duster, how do i pair my phone with it?"),
        ("Fabia",),
        ("Duster",),
    ),
    # How one gets to work or school.
    (
        (
            "I cycle to work, 9 km each way, so I need something that dries fast",
            "i take the train to work these days, the bike is only for weekends",
        ),
        ("I cycle to work",),
        ("takes the train",),
    ),
    (
        (
            "i commute on a single speed",
            "i sit in the cold longer now that i take the bus, the bike was stolen",
        ),
        ("single speed",),
        ("take the bus",),
    ),
    (("i cycle to uni most days", "I take the tram to uni now"), ("cycle",), ("tram",)),
    (
        ("i take the bus to school", "my moped licence came so i ride to school now"),
        ("bus",),
        ("ride",),
    ),
    (("I commute by bike", "i get the metro these days, sold the car"), ("by bike",), ("metro",)),
    (
        ("i walk to the office, 20 min", "since we moved I drive to the office now"),
        ("walk",),
        ("drive",),
    ),
    (("I cycle to work", "now i take the bus and read"), ("cycles",), ("bus",)),
    # Networks and phones.
    (("I'm on Jio", "moved to Airtel in march, why no signal"), ("Jio",), ("Airtel",)),
    (("using a Pixel 6", "I use a Fairphone 5 now"), ("Pixel",), ("Fairphone",)),
]

SO_STILL = [
    (("I drive a Ford Fiesta", "nearly wrote off the fiesta today"), ("Fiesta",)),
    (("I drive a Ford Fiesta", "my son wrote off his fiesta, can he claim?"), ("Fiesta",)),
    (("I drive a Ford Fiesta", "if i sold the fiesta, what would i get?"), ("Fiesta",)),
    (("I drive to work", "I drive to work these days but hate it"), ("drive",)),
    (("I cycle to work", "my sister takes the train to work these days"), ("User cycles",)),
    (("I cycle to work", "I take the bus to work this week, puncture"), ("User cycles",)),
    (("I cycle to work", "I take the bus to the gym now"), ("User cycles",)),
    (("I cycle to work", "i take the train on mondays now"), ("User cycles",)),
    (("I walk to campus", "been offered a lift, but i walk to campus these days"), ("walk",)),
    (("I cycle to work", "do you think i should take the bus now"), ("User cycles",)),
    (("I take the bus to work", "my boss drives to work now"), ("takes the bus",)),
    (("I'm on MTN", "my brother says Glo is better"), ("MTN",)),
    (("my mum is using a Pixel 6", "using a hammer"), ("mum",)),
]


@pytest.mark.parametrize(("turns", "over", "stands"), NEWS)
def test_news_told_in_passing_is_read(somebody, turns, over, stands):
    somebody.ends_with(turns, over, stands)


@pytest.mark.parametrize(("turns", "stands"), SO_STILL)
def test_what_is_so_still_after_news_of_something_else(somebody, turns, stands):
    somebody.ends_with(turns, (), stands)
