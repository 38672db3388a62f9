"""A clause of nothing but a figure, and that it is so now, is of what was told last."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("turns", "over", "stands"),
    [
        (
            ("dentist is on the 12th at 2", "they rang, hes off sick so 19th now, same time"),
            ("12th",),
            ("19th",),
        ),
        (("my kanban wip limit is 3", "team voted, 5 it is"), ("is 3",), ("5",)),
        (("we got 12 customers on the saas", "15 now woop"), ("12 customers",), ("15",)),
        (("my bench is 80kg", "85 today!! for a double. buzzing"), ("80",), ("85",)),
        (
            (
                "we keep the heating on 19 in the winter",
                "bills were mad so its 17 now and everyone wears jumpers",
            ),
            ("on 19",),
            ("17",),
        ),
        (
            (
                "get the 7:42 train in to london bridge",
                "they've binned that one off the timetable so its the 7.28 for me, half asleep",
            ),
            ("7:42",),
            ("7.28",),
        ),
        (
            (
                "I see my physio Hannah every week",
                "its once a fortnight now cos the shoulders behaving",
            ),
            ("every week",),
            ("fortnight",),
        ),
        (("i owe my brother 300", "gave him 120 friday so its 180 left"), ("300",), ("180",)),
        (
            ("pocket money is £3 a week for Lily", "shes negotiated 4 quid. future lawyer"),
            ("£3",),
            ("4",),
        ),
        (
            (
                "my salary is 6 lakh pa",
                "increment came!! 7.2 now, mummy distributed sweets in whole building",
            ),
            ("6 lakh",),
            ("7.2",),
        ),
        (
            ("my podcast comes out every week", "cant keep up, its every other week now"),
            ("every week",),
            ("every other week",),
        ),
        (
            ("im on call every third week", "with the two new guys its only every fifth week"),
            ("third week",),
            ("fifth",),
        ),
        (
            (
                "i swim mon wed and fri before work",
                "pool news, its fridays only for me from here on, gutted",
            ),
            ("mon wed",),
            ("fri",),
        ),
        (
            ("thesis is due 30 april", "got the extension!!! 14 june now, i could cry"),
            ("30 april",),
            ("14 june",),
        ),
        (
            (
                "the retro is wednesday 4pm",
                "moved to friday 4pm",
                "no ok everyone hates friday, wednesday again",
            ),
            ("friday 4pm",),
            ("wednesday",),
        ),
        (
            ("dev meetup talk is on kafka, 30 min", "organizer cut me down to 15 min, topic stays"),
            ("30 min",),
            ("kafka",),
        ),
        (
            (
                "paying $480 a week for a unit in marrickville",
                "so turns out the real estate agreed to knock it down to 465, stoked",
            ),
            ("480",),
            ("465",),
        ),
        (("standup is at 9", "its 10 now"), ("at 9",), ("10",)),
        (
            ("my running club meets tuesdays", "its thursdays from now on"),
            ("tuesdays",),
            ("thursday",),
        ),
        (("the gym is 30 a month", "35 now ugh"), ("30 a",), ("35",)),
        (("I read 20 pages a day", "30 now"), ("20 pages",), ("30",)),
        (("my team is 6 people", "7 now"), ("6 people",), ("7",)),
        (("my bus is the 38", "its the 141 now"), ("38",), ("141",)),
        (("bin day is tuesday", "its fridays now apparently"), ("tuesday",), ("friday",)),
        (("my dog is 3", "its 5 now gotta run"), (), ("is 3",)),
        (("i have 2 cats", "30 now woop"), (), ("2 cats",)),
        (("my rent is 900", "phone bill is 45 now"), (), ("900",)),
        (("standup is at 9", "lunch at 12 now"), (), ("9",)),
        (("dentist is on the 12th", "my mums birthday is the 19th"), (), ("12th",)),
        (("i run 5k every day", "10 people came today"), (), ("5k",)),
        (("my bench is 80kg", "squat 120 today!!"), (), ("80",)),
        (("my bench is 80kg", "did 20 minutes of cardio today"), (), ("80",)),
        (("i swim on mondays", "its friday today"), (), ("mondays",)),
        (("we have 3 kids", "its 30 degrees today"), (), ("3 kids",)),
        (("my flat is on the 4th floor", "its the 5th today already"), (), ("4th floor",)),
        (("i work 4 days a week", "only 3 this week"), (), ("4 days",)),
        (("meeting is at 3pm", "it was 4 last time"), (), ("3pm",)),
        (("i have gym mondays", "thursday again already"), (), ("monday",)),
        (("i run every day", "just once a week my brother comes"), (), ("every day",)),
    ],
)
def test_a_bare_figure_is_of_what_was_told_last(somebody, turns, over, stands):
    somebody.ends_with(turns, over, stands)
