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
        (("My rent is 940.", "it's 985 since yesterday"), ("940",), ("985",)),
        (("We are getting married in June.", "wedding is pushed to september"), ("June",), ()),
        (
            ("We are getting married in June.", "we had to move the wedding to september"),
            ("June",),
            (),
        ),
        (("We are getting married in June.", "the wedding is in september now"), ("June",), ()),
        (
            ("My flight is on the 3rd at 10.", "they moved my flight to the 4th, 6am"),
            ("3rd", "at 10"),
            ("4th at 6am",),
        ),
        (
            ("My flight is on the 3rd at 10.", "they moved my flight to the 4th"),
            ("3rd",),
            ("4th at 10",),
        ),
        (("My standup is at 9.", "its at 10 since monday"), ("at 9",), ("10",)),
        (("My gym is 25 a month.", "its 35 a month since january, robbery"), ("25",), ("35",)),
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


@pytest.mark.parametrize(
    ("before", "said", "over", "stands"),
    [
        (
            "We have 40 employees.",
            "Fired 2 employees so far.",
            ("has 2 employees",),
            ("40 employees",),
        ),
        ("We have 40 employees.", "We fired 2 employees.", ("has 2 employees",), ("40 employees",)),
        (
            "We have 40 employees.",
            "Hired 2 employees today.",
            ("has 2 employees",),
            ("40 employees",),
        ),
        (
            "We have 40 employees.",
            "Trained 12 employees now.",
            ("has 12 employees",),
            ("40 employees",),
        ),
        (
            "I have 20 students this year.",
            "3 students have passed so far.",
            ("has 3 students",),
            ("20 students",),
        ),
        (
            "I have 20 students this year.",
            "3 students passed already.",
            ("has 3 students",),
            ("20 students",),
        ),
        ("I have 20 students.", "Marked 5 students' essays so far.", ("has 5",), ("20 students",)),
        ("I have 5 exams.", "Passed 2 exams!", ("has 2 exams",), ("5 exams",)),
        ("I've got 5 exams.", "2 exams done!", ("has 2 exams",), ("5 exams",)),
        ("i have 5 exams", "done 2 exams now, 3 to go", ("has 2 exams",), ("5 exams",)),
        ("I have three hens.", "Fed 2 hens so far.", ("has 2",), ("three hens",)),
        (
            "we have about 200 tables",
            "migrated 150 tables so far",
            ("has 150", "have 150", "about 150"),
            ("200 tables",),
        ),
        ("We have 200 guests.", "50 guests said yes so far.", ("has 50",), ("200 guests",)),
        ("We have 120 guests.", "45 guests have replied so far.", ("has 45",), ("120 guests",)),
        ("I have 12 chapters.", "I've written 4 chapters so far.", ("has 4",), ("12 chapters",)),
        ("We have 8 rooms.", "We've painted 3 rooms so far.", ("has 3",), ("8 rooms",)),
        ("I've got 30 plants.", "Watered 10 plants already.", ("has 10",), ("30 plants",)),
        ("We have 60 boxes.", "Unpacked 20 boxes so far!", ("has 20",), ("60 boxes",)),
        ("I have 15 clients.", "Called 6 clients so far.", ("has 6",), ("15 clients",)),
        ("my brother has 4 kids", "2 of the kids have had chickenpox now", ("has 2",), ("4 kids",)),
        ("We have 90 servers.", "30 servers are migrated now.", ("has 30",), ("90 servers",)),
        (
            "Our team has 14 people.",
            "5 people have had the flu so far.",
            ("has 5",),
            ("14 people",),
        ),
        (
            "Used to go three times a week.",
            "The consultant changed his medication, now five times a day.",
            ("go five",),
            ("three times a week",),
        ),
        (
            "I used to run twice a week.",
            "Mum's tablets are now four times a day.",
            ("run four",),
            ("twice a week",),
        ),
        (
            "I used to swim 3 times a week.",
            "My walks are 5 times a week now.",
            ("swim 5",),
            ("swim 3 times",),
        ),
        (
            "We have 40 employees.",
            "We're down to 38 employees now.",
            ("40 employees",),
            ("38 employees",),
        ),
        (
            "We have 40 employees.",
            "We have 45 employees now.",
            ("40 employees",),
            ("45 employees",),
        ),
        ("I have 20 students this year.", "22 students now.", ("20 students",), ("22 students",)),
        ("I have three hens.", "Only 2 hens now.", ("three hens",), ("2 hens",)),
        ("I have 5 exams.", "It's 4 exams now.", ("5 exams",), ("4 exams",)),
        (
            "We have about 200 guests.",
            "We've cut it to 150 guests.",
            ("200 guests",),
            ("150 guests",),
        ),
        ("We have 200 guests.", "Now it's 180 guests.", ("200 guests",), ("180 guests",)),
        (
            "I go to the gym three times a week.",
            "Now five times a week.",
            ("three times",),
            ("five times",),
        ),
        (
            "I take my tablets twice a day.",
            "The consultant changed my tablets, now three times a day.",
            ("twice a day",),
            ("three times a day",),
        ),
        ("We have 12 hens.", "A fox got 2, so 10 hens left.", ("12 hens",), ("10 hens",)),
        (
            "I have 12 students.",
            "Got 15 students so far this term.",
            ("12 students",),
            ("15 students",),
        ),
        (
            "I've read 12 books this year.",
            "I've read 15 books so far this year.",
            ("12 books",),
            ("15 books",),
        ),
        (
            "Our team has 14 people.",
            "Two people left, 12 people now.",
            ("14 people",),
            ("12 people",),
        ),
        ("We have 6 cats.", "Vaccinated 3 cats today.", ("has 3",), ("6 cats",)),
        ("we've got 18 tests", "fixed 7 tests so far", ("7 tests",), ("18 tests",)),
        (
            "My mum has 9 grandchildren.",
            "Mum has met 4 grandchildren so far.",
            ("has 4",),
            ("9 grandchildren",),
        ),
        (
            "I have 4 exams this summer.",
            "I have 3 exams now, they dropped one.",
            ("4 exams",),
            ("3 exams",),
        ),
        ("we have 5 bedrooms", "decorated two bedrooms so far", ("has two",), ("5 bedrooms",)),
        (
            "I have 50 books to read.",
            "I've got 60 books to read now.",
            ("50 books",),
            ("60 books",),
        ),
        ("We have 20 members.", "We've grown to 35 members.", ("20 members",), ("35 members",)),
        ("We have 20 members.", "12 members so far.", ("20 members",), ("12 members",)),
        ("We have 20 members.", "We lost some, 15 members now.", ("20 members",), ("15 members",)),
        ("We have 20 members.", "15 members have paid by now.", ("has 15",), ("20 members",)),
        ("I have 40 sheep.", "Sheared 15 sheep so far.", ("has 15",), ("40 sheep",)),
        ("I have 40 sheep.", "Sold 5 sheep, 35 sheep left.", ("40 sheep",), ("35 sheep",)),
        ("I drink 4 coffees a day.", "Only 2 coffees a day now.", ("4 coffees",), ("2 coffees",)),
        (
            "I work 5 days a week.",
            "I've worked 3 days so far this week.",
            ("works 3",),
            ("5 days",),
        ),
    ],
)
def test_what_is_done_to_some_is_not_how_many_there_are(somebody, before, said, over, stands):
    somebody.ends_with((before, said), over, stands)


@pytest.mark.parametrize(
    ("turns", "stands"),
    [
        (("the deposit is 400", "its 500 euros now"), "deposit is 500"),
        (("my savings goal is 3000", "now it's 3500 euros"), "savings goal is 3500"),
        (("gym is 25 a month", "30 quid now"), "30 a month"),
        (("phone contract 15 a month", "up to 18 pounds now"), "18 a month"),
        (("we have three kids", "four now"), "four kids"),
        (("my class has 24 pupils", "26 at present"), "26 pupils"),
        (("I teach piano to nine pupils at home", "it's £12 now"), "nine pupils"),
        (("I teach piano to nine pupils at home", "12 euros now"), "nine pupils"),
    ],
)
def test_an_amount_is_of_what_may_cost_it(somebody, turns, stands):
    somebody.ends_with(turns, (), (stands,))
