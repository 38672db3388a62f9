"""Self-descriptions without a subject, clauses that leave theirs out, and what stands beside."""

from __future__ import annotations

import pytest

BELIEVED = [
    (["29yo nurse from Cork"], {"29", "nurse", "Cork"}),
    (["34m dev from Gdansk"], {"34", "dev", "Gdansk"}),
    (["19f from manila studying nursing"], {"19", "manila", "nursing"}),
    (["45 year old truck driver, two kids"], {"45", "truck driver", "two"}),
    (["62, retired teacher from Leeds"], {"62", "retired teacher", "Leeds"}),
    (["hi! 31yo barista from Lyon, 2 cats"], {"31", "barista", "Lyon", "2 cats"}),
    (["nurse from Cork, 29"], {"nurse", "Cork", "29"}),
    (["mum of two from Derby"], {"two", "Derby"}),
    (["2 cats called miso and tofu"], {"2 cats called miso and tofu"}),
    (["two dogs, Rex and Luna"], {"two dogs, Rex and Luna"}),
    (["three kids, youngest is 4"], {"three"}),
    (["married, 3 kids, 41, live near Turin"], {"married", "3", "41", "Turin"}),
    (["im mariana from sao paulo"], {"mariana", "sao paulo"}),
    (["I speak French, German and a bit of Dutch"], {"French", "German", "Dutch"}),
    (["i speak english, some spanish and a little arabic"], {"english", "spanish", "arabic"}),
    (["our rent went up to 1200"], {"1200"}),
    (["my rent is 900", "our rent went up to 1200"], {"1200"}),
    (["I've been married for 10 years"], {"10 years"}),
    (["I've been divorced for two years"], {"divorced"}),
    (["I work at Globex and my sister lives in Kiel"], {"Globex", "Kiel"}),
    (["i drive a polo and my wife drives a golf"], {"polo", "a golf"}),
    (["my grandma is 92 and lives in Split"], {"92", "Split"}),
    (["my brother is 30 and works at Lidl"], {"30", "Lidl"}),
    (["I work in Bath and commute by train"], {"Bath", "commute by train"}),
    (["I've been with Vodafone for years, just switched to EE"], {"EE"}),
    (["I've been with Vodafone for years. Just switched to EE."], {"EE"}),
    (["I've been with Vodafone for years", "just switched to EE"], {"EE"}),
    (["ive been with Aldi mobile since forever, went over to giffgaff"], {"giffgaff"}),
    (["We've been on Octopus for ages, now we're with EDF"], {"EDF"}),
    (["I've been with Vodafone for years and they are great"], {"Vodafone"}),
    (["bank with Nationwide", "moved everything over to Starling"], {"Starling"}),
    (["i pay for netflix and spotify", "dropped netflix"], {"spotify"}),
    (["i work at Shell", "my cousin got laid off"], {"Shell"}),
    (["mum lives with us"], {"with us"}),
]
"""What is said, and the values of what lasts."""

NOT_OF_ONESELF = [
    "29 nurses from Cork",
    "29yo nurse arrested in Cork",
    "2 cats for sale",
    "two dogs walk into a bar",
    "24 hour gym in Cork?",
    "plumber in Bristol",
    "Manager from hell!",
    "5 kids, 12 tickets please",
    "single, double or triple?",
    "I pay for dinner",
    "octopus is my dinner",
]

MOVED = [
    ["My company folded. Moved to Oslo."],
    ["I work at Siemens", "Siemens folded, moved to Oslo"],
    ["I work at Siemens", "Siemens folded. Moved to Oslo."],
    ["The lease ran out. Moved to Oslo."],
    ["our landlord sold the flat. moved to Oslo"],
    ["Tom dumped me. Moved to Oslo."],
    ["My husband got a job at Equinor. Moved to Oslo in June."],
    ["My dad died. Moved to Oslo."],
    ["the kids are at school. moved to Oslo btw"],
    ["Tom visited last week. I moved to Oslo."],
]
STAYED = [
    ["Tom quit his job. Moved to Oslo"],
    ["my brother left his wife. moved to Oslo last week"],
    ["Our neighbour sold up. Relocated to Spain."],
    ["The startup next door folded, moved to Oslo"],
    ["the bakery downstairs closed, moved to Oslo"],
    ["my daughter's school closed. moved to Oslo"],
    ["I work at Siemens", "Nokia folded, moved to Oslo"],
]

OVER = [
    (["we're going to greece in july", "scrap that, its portugal now"], "greece"),
    (["we're going to greece in july", "its off"], "greece"),
    (["im running the berlin marathon in september", "pulled out, knee is shot"], "berlin"),
    (["i get hellofresh every week", "ended up cancelling it"], "hellofresh"),
    (["thinking about getting a dog", "we got one!"], "thinking"),
    (["flying to Malaga on 2 april", "malaga trip is cancelled, strike again"], "flying"),
    (["Im unemployed since february", "started monday as a picker at dhl"], "unemployed"),
    (["my mum lives in a care home in Hove", "mum moved in with us last week"], "care home"),
    (["I've been married for 10 years", "we got divorced last month"], "married for"),
    (["barista at Kaffeine", "kaffeine let half of us go today me included"], "is a barista"),
]


STANDS = [
    (["flying to Malaga on 2 april", "the flight is late"], "flying"),
    (["I have a dog", "its cancelled"], "has a dog"),
    (["I'm training for a marathon", "my sister pulled out"], "marathon"),
    (["im a barista", "pulled out a tooth today"], "barista"),
    (["I have a friend who works at NASA"], "works at nasa"),
]


def lasting(somebody, turns):
    found = somebody.believed_after(*turns, besides=("note", "event"))
    return {each.value for each in found if not each.negated}


@pytest.mark.parametrize(("turns", "values"), BELIEVED)
def test_what_is_said_in_one_breath_is_believed(somebody, turns, values):
    assert lasting(somebody, turns) == values


@pytest.mark.parametrize("said", NOT_OF_ONESELF)
def test_what_only_looks_like_it_is_not_believed(somebody, said):
    assert not lasting(somebody, [said])


@pytest.mark.parametrize("turns", MOVED)
def test_who_leaves_out_the_subject_moves(somebody, turns):
    values = lasting(somebody, ["I live in Bergen", *turns])
    assert "Oslo" in values
    assert "Bergen" not in values


@pytest.mark.parametrize("turns", STAYED)
def test_who_speaks_of_another_stays(somebody, turns):
    values = lasting(somebody, ["I live in Bergen", *turns])
    assert "Bergen" in values
    assert values.isdisjoint({"Oslo", "Spain"})


@pytest.mark.parametrize(("turns", "word"), OVER)
def test_what_is_over_is_not_believed(somebody, turns, word):
    found = somebody.believed_after(*turns, besides=("note",))
    assert not any(word in each.text.lower() for each in found if not each.negated)


@pytest.mark.parametrize(("turns", "words"), STANDS)
def test_what_is_not_over_is_believed(somebody, turns, words):
    found = somebody.believed_after(*turns, besides=("note",))
    assert any(words in each.text.lower() for each in found)


@pytest.mark.parametrize(("said", "name"), [("but pls call me Sasha", "Sasha")])
def test_who_is_called_otherwise_than_named_says_so(somebody, said, name):
    found = somebody.believed_after(f"my name is Alexandra {said}")
    told = {each.attribute: each.value for each in found}
    assert told == {"identity.name": "Alexandra", "identity.preferred-name": name}
