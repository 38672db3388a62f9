"""What a clause says that leads in, without a comma behind it; what stands open, and how things are
all the same."""

import pytest

NEWS = [
    ("I work at Lidl.", "Since I left Lidl my feet hurt less, which socks are good for running?",
     "works at Lidl", "left Lidl"),
    ("I work at Lidl.", "ever since i quit lidl my back is better, any stretches?",
     "works at Lidl", "quit lidl"),
    ("I work at Lidl.", "now that ive left Lidl i need a new lunch spot", "works at Lidl",
     "left Lidl"),
    ("I work at Lidl.", "since leaving Lidl i sleep better", "works at Lidl", "left Lidl"),
    ("I work at Lidl.", "since i joined Aldi my hours are worse, how do i ask for fewer?",
     "Lidl", "joined Aldi"),
    ("We live in Leeds.", "since we moved to York the kids sleep better, which parks are good?",
     "Leeds", "moved to York"),
    ("I live in Leeds.", "Ever since moving to York I cycle to work", "Leeds", "moved to York"),
    ("I drive a Golf.", "since I sold the Golf I take the tram, is there a yearly ticket?",
     "drives a Golf", "sold the Golf"),
    ("I live in Leeds.", "quick update i moved to Sheffield", "Leeds", "moved to Sheffield"),
    ("I live in Leeds.", "life update we moved to Sheffield", "Leeds", "moved to Sheffield"),
    ("I live in Leeds.", "the big news is I moved to Ghent", "Leeds", "moved to Ghent"),
    ("I work at Infosys in Pune.", "moved to Wipro last month, same city", "works at Infosys",
     "moved to Wipro"),
    ("I work as a cashier at Lidl.", "now store manager at Aldi, any tips for a team of ten?",
     "cashier", "store manager"),
    ("I'm a barmaid at the Crown.", "I quit the Crown, barista at Kaffa now", "barmaid",
     "barista"),
    ("I'm a nurse.", "now a ward manager at St James, any tips?", "a nurse", "ward manager"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "later", "over", "now"), NEWS)
def test_news_in_a_clause_that_leads_in_is_read(somebody, first, later, over, now):
    claims = [each.text for each in somebody.believed_after(first, later, besides=())]
    assert [each for each in claims if now in each], claims
    assert not [each for each in claims if over in each], claims


VALUES = [
    ("since we moved to York the kids sleep better", "home.location", "York"),
    ("Since I joined Aldi my hours are worse", "work.employer", "Aldi"),
    ("since starting at Bosch, I take the train", "work.employer", "Bosch"),
    ("I moved from SAP to Siemens in June", "work.employer", "Siemens"),
    ("Word is the office closes in May, so I've signed with Bosch", "work.employer", "Bosch"),
    (
        "there's talk of me getting promoted, but as it stands im a team lead at Asda",
        "work.role",
        "team lead",
    ),
    ("not decided whether we stay, but we have a flat in Cork", "has.flat", "a flat"),
    ("we moved to Ford Road", "home.location", "Ford Road"),
    ("I moved to Nokia, Finland", "home.location", "Nokia"),
]


@pytest.mark.parametrize(("said", "key", "value"), VALUES)
def test_a_value_ends_where_its_clause_does(somebody, said, key, value):
    found = {each.attribute: each.value for each in somebody.believed_after(said, besides=())}
    assert found.get(key, "").startswith(value), found


NOT_SO = [
    ("word is im getting the Leeds branch, so i'd better learn to drive", "work."),
    ("rumour has it we are moving to the Leeds branch", "home."),
    ("because I really hope my son gets the job at Bosch", "relation."),
    ("I moved to Hillside nursery", "home."),
    ("Mia moved to Hillside nursery", "home."),
    ("I joined Netflix in May", "work."),
    ("now working at it", "work.role"),
    ("my sister quit teaching, nurse at Guys now", "work."),
    ("now my manager at Aldi wants more hours", "work.role"),
]


@pytest.mark.parametrize(("said", "begin"), NOT_SO)
def test_what_is_not_so_gets_no_slot(somebody, said, begin):
    found = [each.attribute for each in somebody.believed_after(said, besides=())]
    assert not [each for each in found if each.startswith(begin)], found


STANDING = [
    ("We live in York.", "we've got a flat in Leeds too, for when I work there"),
    ("We live in York.", "we've a cottage in Wales for weekends"),
    ("We live in York.", "we have a flat in Leeds for our son"),
]


@pytest.mark.parametrize(("first", "later"), STANDING)
def test_a_second_home_does_not_end_the_first(somebody, first, later):
    claims = [each.text for each in somebody.believed_after(first, later, besides=())]
    assert "User lives in York" in claims


def test_a_house_in_which_nobody_lives_yet_is_no_home(somebody):
    found = somebody.believed_after("we got a house in Hull, moving in May", besides=())
    assert "home.location" not in [each.attribute for each in found]
