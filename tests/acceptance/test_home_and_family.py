"""Where people near to somebody live, who belongs to the household, and news of them in passing."""

import pytest

NO_NAMES = [
    "my landlord is Trying to evict us",
    "my boss is Always late",
    "my boss is Really strict",
    "my neighbour is Loud",
    "my brother is Getting married",
    "my dentist is Closing early",
]


@pytest.mark.parametrize("told", NO_NAMES)
def test_a_capital_alone_begins_no_name(somebody, told):
    found = somebody.believed_after(told)
    assert not any(each.attribute.startswith("relation.") for each in found)


@pytest.mark.parametrize("name", ["Ling", "Ingrid", "Sterling", "Ing Wei", "Summer Quinn"])
def test_who_is_named_has_the_name(somebody, name):
    found = somebody.believed_after(f"my boss is {name}")
    assert [each.value for each in found] == [name]


ELSEWHERE = [
    ("my sister is in Oslo / sis is in Bergen", "Oslo", "Bergen"),
    ("my sister is in Oslo / sis is in Bergen now, she likes it", "Oslo", "Bergen"),
    ("my sister is in Oslo / my sister moved to Bergen", "Oslo", "Bergen"),
    ("my sister lives in Oslo / my sister's in Bergen since july", "Oslo", "Bergen"),
    ("my brother's in Toronto / my brother got the visa so he's in Perth now", "Toronto", "Perth"),
    (
        "my parents still live out in Ennis / the parents love their new flat in Gort",
        "Ennis",
        "Gort",
    ),
    ("mum and dad live in Hull / mum and dad moved to Spain", "Hull", "Spain"),
    ("my folks are in Pune / mom and dad are in Nashik now", "Pune", "Nashik"),
    (
        "my parents live out near Tralee / mam and dad sold up and they're in a flat in Ennis now",
        "Tralee",
        "Ennis",
    ),
    ("my best mate Tunde lives next door / tunde emigrated in october", "next door", ""),
    ("my mate Ada lives downstairs / Ada moved to Lisbon", "downstairs", "Lisbon"),
    ("my son lives with his mother / my son lives with me now", "mother", "son lives with"),
]


@pytest.mark.parametrize(("told", "gone", "there"), ELSEWHERE)
def test_where_somebody_near_lives_is_told_in_passing(somebody, told, gone, there):
    somebody.ends_with(told.split(" / "), [gone], [there])


STILL_THERE = [
    ("my sister lives in Oslo / my sister is in Bergen this week", "lives in Oslo"),
    ("my sister lives in Oslo / sis is in Bergen", "lives in Oslo"),
    ("my sister lives in Oslo / my sister went abroad for a week", "lives in Oslo"),
    ("my parents live in Lund / my parents are in Malaga for two weeks", "in Lund"),
    ("my parents live in Lund / mum and dad love their new sofa", "in Lund"),
    ("my best mate Tunde lives next door / tunde's cousin emigrated in october", "next door"),
    ("my best mate Tunde lives next door / tunde went away for the weekend", "next door"),
    ("my brother is in Perth / my friend is in Lagos now", "Perth"),
]


@pytest.mark.parametrize(("told", "there"), STILL_THERE)
def test_a_visit_and_the_move_of_others_change_nothing(somebody, told, there):
    somebody.ends_with(told.split(" / "), [], [there])


@pytest.mark.parametrize(
    "told",
    ["my son is in Year 9", "my brother is in Rehab", "my wife is in labour", "my dad is in bed"],
)
def test_what_is_no_place_is_nobodys_home(somebody, told):
    found = somebody.believed_after(told)
    assert not any(each.attribute.startswith(("home.", "location.")) for each in found)


HOMES = [
    ("We're in Swindon, semi-detached, and the hatch is 50 cm wide", "Swindon"),
    ("i'm in Cork, top floor flat, heating is dear", "Cork"),
    ("we're in Pune these days, ground floor, ants everywhere", "Pune"),
    ("the piano scratches the floor here in Truro, only been in the place a week", "Truro"),
    ("we've got a flat in Leeds", "Leeds"),
    ("I share a flat with three other people here in Wrocław", "Wrocław"),
    ("our new flat in Leeds has damp", "Leeds"),
]  # fmt: skip


@pytest.mark.parametrize(("told", "place"), HOMES)
def test_where_somebody_lives_is_told_beside_something_else(somebody, told, place):
    found = somebody.believed_after(told)
    assert [each.value for each in found if each.attribute == "home.location"] == [place]


NO_HOMES = [
    "we're in Rome, third floor of a hotel, no lift",
    "I'm in Berlin for a conference, third floor",
    "the pool here in Truro is freezing, we've only been here a day",
    "we've got a flat in Leeds we let out",
    "my holiday flat in Leeds has ants",
    "our new flat in Leeds is let out to students",
    "my brother's new place in Leeds has damp",
]


@pytest.mark.parametrize("told", NO_HOMES)
def test_where_somebody_stays_or_lets_is_no_home(somebody, told):
    found = somebody.believed_after(told)
    assert not any(each.attribute == "home.location" for each in found)


MOVED = [
    (
        "we're in Aarhus, third floor, no lift / new place in Odense has a lift, sofa went up fine",
        "Aarhus",
        "Odense",
    ),
    ("we live in York / our new flat in Leeds has damp", "York", "Leeds"),
    (
        "we rent a one bed in Lewisham / moved into the Bromley house on friday, cold",
        "Lewisham",
        "",
    ),
    ("I share a flat with two nurses / I live alone now, in a studio", "nurses", "alone"),
    ("I live alone / I share a flat with two nurses now", "alone", "nurses"),
    ("I share a flat with Ola / I share a flat with Ewa now", "Ola", "Ewa"),
]


@pytest.mark.parametrize(("told", "gone", "there"), MOVED)
def test_a_new_home_told_in_passing_ends_the_old(somebody, told, gone, there):
    somebody.ends_with(told.split(" / "), [gone], [there])


LIVE_ON = [
    ("we live in York / the new place in Leeds does great ramen", "York"),
    ("we live in York / moved into the Leeds office on friday", "York"),
    ("we live in York / we bought a second flat in Leeds to let out", "York"),
    ("we live in York / my brother's new flat in Leeds has damp", "York"),
    ("I share a flat with two others / home alone this week, both are skiing", "two others"),
]


@pytest.mark.parametrize(("told", "there"), LIVE_ON)
def test_a_home_stays_where_something_else_is_told(somebody, told, there):
    somebody.ends_with(told.split(" / "), [], [there])


CHILDREN = [
    ("Mum of two here, 3 and 5 / a seat that goes three across? the baby came in October", "two"),
    ("I have two kids / the new baby is six days old and never sleeps", "two kids"),
    ("mom of one here, he's 4 / he keeps waking his sister, she's three weeks old", "of one"),
    ("it's just us, no kids / with the twins we do two loads, they're six weeks old", "no kids"),
    ("no kids yet, just me and my wife / our son is two months old now", "no kids"),
    ("we have no children / our little one arrived on friday", "no children"),
]


@pytest.mark.parametrize(("told", "gone"), CHILDREN)
def test_a_baby_told_in_passing_is_counted(somebody, told, gone):
    somebody.ends_with(told.split(" / "), [gone], [])


AS_MANY = [
    ("I have two kids / my sister's baby is six days old", "two kids"),
    ("I have two kids / my friend had her baby in october", "two kids"),
    ("I have two kids / my daughter is 3 weeks into school", "two kids"),
    ("no kids, just the two of us / my brother's twins are six weeks old", "no kids"),
    ("we don't have kids / our puppy is six weeks old", "not have kids"),
    ("we don't have kids / the baby is due in may", "not have kids"),
]


@pytest.mark.parametrize(("told", "there"), AS_MANY)
def test_the_babies_of_others_are_not_counted(somebody, told, there):
    somebody.ends_with(told.split(" / "), [], [there])


WED = [
    (
        "my girlfriend Sofie hates olives / Sofie and I have our first wedding anniversary",
        "girlfriend",
        "wife Sofie hates olives",
    ),
    ("my girlfriend Sofie hates olives / Sofie is my wife now", "girlfriend", "wife Sofie hates"),
    ("my boyfriend Mateus likes tea / Mateus and I got married", "boyfriend", "husband Mateus"),
    ("my partner Kim likes tea / Kim and I got married in may", "partner Kim", "spouse Kim likes"),
]


@pytest.mark.parametrize(("told", "gone", "there"), WED)
def test_what_was_said_of_a_partner_is_said_of_the_spouse(somebody, told, gone, there):
    somebody.ends_with(told.split(" / "), [gone], [there])


NOT_WED = [
    ("my girlfriend Noor likes tea / Noor and I go to my cousin's wedding anniversary", "Noor"),
    ("my girlfriend Noor likes tea / Noor and I have our first anniversary on friday", "likes tea"),
    ("my girlfriend Noor likes tea / it's my parents' wedding anniversary", "girlfriend Noor"),
]


@pytest.mark.parametrize(("told", "there"), NOT_WED)
def test_the_weddings_of_others_change_nothing(somebody, told, there):
    somebody.ends_with(told.split(" / "), [], ["girlfriend", there])


@pytest.mark.parametrize(
    "news", ["i broke up with Ines", "my new girlfriend is Eva", "Ines and I split up"]
)
def test_what_was_said_of_a_partner_ends_with_them(somebody, news):
    somebody.ends_with(["my girlfriend Ines likes olives", news], ["olives"], [])


GONE = [
    ("Rex is my dog / Rex died", ["Rex is", "has a dog"]),
    ("Rex is my dog / my dog died", ["Rex is", "has a dog"]),
    ("Nala is my cat / we had to put Nala to sleep last week", ["Nala is", "has a cat"]),
    ("Rex is my dog / we rehomed Rex in may", ["Rex is", "has a dog"]),
    ("my dog Milo is 9 / A: How is Milo? / he passed away", ["Milo is"]),
    ("Milo is my dog / A: How is Milo? / he passed away", ["Milo is", "has a dog"]),
    ("Argo is our deploy tool / we ditched Argo for Flux", ["Argo is"]),
]


@pytest.mark.parametrize(("told", "gone"), GONE)
def test_what_is_called_by_its_name_is_over_by_it(somebody, told, gone):
    hear(somebody, told)
    claims = [each.text for each in somebody.beliefs()]
    assert not any(words in each for each in claims for words in gone), claims


STILL = [
    ("Rex is my dog / my neighbour's dog died", "Rex is"),
    ("Rex is my dog / Rex left the room", "Rex is"),
    ("Rex is my dog / I lost Rex in the park but found him again", "Rex is"),
    ("Rex is my dog / Bo is my dog / Rex died", "Bo is"),
    ("Rex is my dog / Bo is my dog / Rex died", "has a dog"),
    ("Milo is my dog / A: How is Milo? / he is fine, but my uncle passed away", "Milo is"),
    ("my sister Aylin studies law / Aylin has her degree show on friday", "studies law"),
    ("my sister Aylin studies law / Aylin has her master's defence tomorrow", "studies law"),
    ("my sister Aylin studies law / my cousin has her diploma since june", "studies law"),
]


@pytest.mark.parametrize(("told", "there"), STILL)
def test_what_is_told_of_others_or_for_now_ends_nothing(somebody, told, there):
    hear(somebody, told)
    assert any(there in each.text for each in somebody.beliefs())


@pytest.mark.parametrize(
    "news", ["Aylin has her diploma since June", "my sister got her degree in june"]
)
def test_who_has_a_degree_studies_no_more(somebody, news):
    somebody.ends_with(["my sister Aylin studies law", news], ["studies law"], [])


DAYS = [
    ("my mother's birthday is on the 8th of March / A: Gift ideas? / Yes. The 9th, by the way, "
     "I always mix it up", "the 9th of March"),
    ("my exam is on the 8th of March / the 9th actually", "the 9th of March"),
    ("our anniversary is on 4 June / sorry, the 5th, my wife would kill me", "5th June"),
    ("my mother's birthday is on the 8th of March / Yes. The 9th, by the way, is when we fly",
     "the 8th of March"),
    ("my mother's birthday is on the 8th of March / Yes. I have time on the 9th",
     "the 8th of March"),
]  # fmt: skip


@pytest.mark.parametrize(("told", "day"), DAYS)
def test_another_day_keeps_its_month(somebody, told, day):
    hear(somebody, told)
    days = [each.text for each in somebody.beliefs() if "March" in each.text or "June" in each.text]
    assert days
    assert all(day in each for each in days)


def hear(somebody, told):
    """Says these turns, those of the assistant among them."""
    for each in told.split(" / "):
        said = each.removeprefix("A: ")
        if said == each:
            somebody.remember(said)
        else:
            somebody.is_asked(said)


MOVED = [
    ("im in Hull / we've moved to Sheffield, boxes everywhere", "Hull", "Sheffield"),
    ("im in Hull / ok so big news we've moved to Sheffield", "Hull", "Sheffield"),
    ("I'm in Oslo / I moved to Bergen in May", "Oslo", "Bergen"),
    ("I'm in Oslo / I live in Bergen", "", "Oslo"),
    ("im in Hull / my brother moved to Sheffield", "", "Hull"),
    ("im in Hull / I shifted to nights", "", "Hull"),
]


@pytest.mark.parametrize(("told", "over", "stands"), MOVED)
def test_who_moved_is_no_longer_where_they_said_they_are(somebody, told, over, stands):
    somebody.ends_with(told.split(" / "), filter(None, [over]), [stands])


PLAIN_NEWS = [
    ("My line manager is Anna / From 1st I am reporting to Rohit Bansal.", "Anna", "Rohit"),
    ("My reporting manager is Kavitha / now I report to Rohit Bansal", "Kavitha", "Rohit"),
    ("I study law in Leiden / I changed to history after first year", "law", "history"),
    ("im doing chem eng at leeds / i switched to economics after first year", "chem", "economics"),
    ("im doing chem eng at leeds / my sister switched to economics", "", "chem"),
]


@pytest.mark.parametrize(("told", "over", "stands"), PLAIN_NEWS)
def test_news_behind_a_day_or_before_one(somebody, told, over, stands):
    somebody.ends_with(told.split(" / "), filter(None, [over]), [stands])
