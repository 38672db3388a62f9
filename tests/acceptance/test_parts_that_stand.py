"""A sentence ends what it is about, and no more: not the rest of a list, not what shares a word."""

from __future__ import annotations

import pytest

HABITS = (
    "I play the cello.",
    "I have a dog called Rex.",
    "I drive a Corsa.",
    "I'm allergic to peanuts.",
    "My brother is Tom.",
    "I use vim.",
    "I love Thai food.",
    "I live in Leeds.",
    "I swim on Tuesdays.",
)
"""What somebody has told before, so that a word in common says little."""


@pytest.mark.parametrize(
    ("before", "news", "stands", "over"),
    [
        (
            "econometrics essay 18th, macro problem set 21st, and the group presentation on 27th",
            "econometrics moved to the 23rd",
            ("macro problem set 21st", "group presentation on 27th"),
            "essay 18th",
        ),
        (
            "diss topic is minimum wage and youth unemployment, supervisor is dr okafor",
            "changed my supervisor, its prof lindqvist now",
            ("minimum wage",),
            "okafor",
        ),
        (
            "standup is at nine every day, retro is on fridays at four",
            "retro is moved to mondays",
            ("standup is at nine",),
            "fridays",
        ),
        (
            "I have three cats, Miso, Tofu and Nori",
            "sadly Tofu died",
            ("Miso and Nori",),
            "three cats",
        ),
        (
            "patient handover is at 7pm at the nurses station",
            "handover moved to the break room",
            ("patient handover is at 7pm at the break room",),
            "nurses station",
        ),
        (
            "yoga is on tuesdays at the village hall",
            "yoga moved to the school gym",
            ("yoga is on tuesdays at the school gym",),
            "village hall",
        ),
        (
            "i have a dog called rex and a cat called mia",
            "rex died",
            ("User's cat is Mia",),
            "dog",
        ),
        (
            "ive got two sons, leo and max. we also have a lodger",
            "my lodger left",
            ("son is Leo", "son is Max"),
            "a lodger",
        ),
        (
            "got a kitten, calling her Pixel",
            "actually the kitten is back at the shelter",
            (),
            "her",
        ),
        (
            "Can you block out a routine, Leo has football Saturday mornings and Ava has violin on"
            " Wednesdays",
            "Ava's stopped violin, wants drums.",
            ["Leo has football Saturday mornings"],
            "block out",
        ),
        ("i have netflix and hulu", "cancelled hulu", ["i have netflix"], "netflix and hulu"),
        (
            "i work mondays and tuesdays at mcdonalds",
            "i dont work tuesdays anymore",
            ["User works mondays at mcdonalds"],
            "mondays and tuesdays",
        ),
    ],
)
def test_what_is_left_of_a_note_is_kept(somebody, before, news, stands, over):
    told = " / ".join(each.text for each in somebody.believed_after(before, news, besides=()))
    assert all(words in told for words in stands)
    assert over not in told


@pytest.mark.parametrize(
    ("before", "said", "words"),
    [
        ("the online shop went live on sunday!!", "sunday was dead", "online shop"),
        (
            "i work best at night so dont schedule anything before 11",
            "switched to behavioural, best decision ever",
            "work best at night",
        ),
        (
            "the online shop is not live yet, want to by summer",
            "landlord wants 1950 instead of 1700 from january. can he",
            "online shop",
        ),
        (
            "I have a workshop behind the house with a lathe, a bandsaw and old planes",
            "Sold the bandsaw to a young fellow from Otley",
            "workshop",
        ),
        (
            "I have a workshop behind the house",
            "I've given up the treasurer job. Too much paper.",
            "workshop",
        ),
        ("im a night shift nurse", "found out i can do days instead!!", "nurse"),
        ("i got the job at north tees!!", "leo joined cubs, its thursdays at 6", "north tees"),
    ],
)
def test_what_only_shares_a_word_stands(somebody, before, said, words):
    somebody.believed_after(*HABITS, before, said)
    told = [each.text for each in somebody.beliefs(valid_at="2026-03-20T10:00Z")]
    assert any(words in each for each in told), told


@pytest.mark.parametrize(
    "news",
    [
        "i handed in my notice today. last day is 30 nov",
        "handed in my notice, finishing on 30 november",
        "my last day at Acme is 30 november",
        "i quit, last day is 30 november",
        "handed in my notice, last day is 30 november. starting at Globex in january",
    ],
)
def test_a_job_lasts_until_the_last_day_that_is_named(somebody, news):
    somebody.believed_after("i work at Acme", news)
    for day, there in (("2026-11-20", True), ("2026-12-05", False)):
        told = [each.text for each in somebody.beliefs(valid_at=f"{day}T12:00Z")]
        assert ("User works at Acme" in told) is there


def test_what_is_left_of_an_answer_has_its_question_still(somebody):
    asked = "Which days do you go to the office?"
    somebody.is_asked(asked)
    somebody.remember("mon, tue and thurs")
    somebody.remember("they put me on wed instead of tues")
    assert f"{asked} mon, wed and thurs" in [each.text for each in somebody.beliefs()]


def test_of_two_medicines_the_other_is_still_taken(somebody):
    somebody.memory.consent.grant(
        somebody.who, "explicit_consent", categories=("ordinary", "health")
    )
    after = somebody.believed_after("i take ramipril and statins", "came off the statins")
    assert [each.text for each in after] == ["User takes ramipril"]


@pytest.mark.parametrize(
    ("before", "said", "over", "stands"),
    [
        ("I use Postgres.", "Postgres migration finished.", (), ("User uses Postgres",)),
        ("I love Django.", "Django migration finished.", (), ("loves Django",)),
        ("I live in Ripon.", "Ripon move done.", (), ("lives in Ripon",)),
        ("I use Linux.", "Linux install done!", (), ("uses Linux",)),
        ("We use Kubernetes.", "The Kubernetes upgrade is finished.", (), ("Kubernetes",)),
        ("I use Obsidian.", "Finished the Obsidian setup.", (), ("uses Obsidian",)),
        ("we use terraform", "terraform rollout complete, took a week", (), ("terraform",)),
        ("I live in Leeds.", "Leeds trip is over, back at my desk.", (), ("lives in Leeds",)),
        ("I study biology.", "Biology exam done!", (), ("studies biology",)),
        ("I study Spanish.", "spanish homework finished", (), ("studies Spanish",)),
        ("I have a dog.", "Dog walk done.", (), ("dog",)),
        ("I drive a Golf.", "Golf service done, 300 quid.", (), ("Golf",)),
        ("I'm doing a PhD in Leeds.", "First year of the PhD is done.", (), ("PhD",)),
        ("I'm doing a law degree.", "Second year of the degree finished.", (), ("law degree",)),
        ("I'm writing a novel.", "First draft of the novel done.", (), ("novel",)),
        (
            "I'm taking a pottery course.",
            "Week 3 of the pottery course done.",
            (),
            ("pottery course",),
        ),
        ("I'm reading Dune.", "Half of Dune is done.", (), ("Dune",)),
        ("I go to yoga on Mondays.", "Yoga done, feel great.", (), ("yoga on Mondays",)),
        ("I run 5k every Sunday.", "Run done, 5k in 28 min.", (), ("every Sunday",)),
        ("I swim every morning.", "Swim done.", (), ("every morning",)),
        ("i go to the gym on tuesdays", "gym done, knackered", (), ("gym on tuesdays",)),
        ("I have choir on Thursdays.", "choir done for tonight", (), ("choir",)),
        ("I do pilates twice a week.", "Pilates done!", (), ("pilates",)),
        ("I'm doing a PhD in Leeds.", "PhD done!", ("doing a PhD",), ()),
        ("I'm taking a pottery course.", "Pottery course finished.", ("taking a pottery",), ()),
        (
            "I go to yoga on Mondays.",
            "Yoga is over for me, my back is gone.",
            ("goes to yoga",),
            (),
        ),
        ("I go to yoga on Mondays.", "I'm done with yoga.", ("goes to yoga",), ()),
        ("I use Postgres.", "We're done with Postgres.", ("uses Postgres",), ()),
        (
            "I'm migrating our database to Postgres.",
            "Postgres migration finished.",
            ("is migrating",),
            (),
        ),
        ("I'm planning a move to Ripon.", "Ripon move done.", ("planning a move",), ()),
        ("I'm saving for a bike.", "Bike fund done, bought it.", ("saving for a bike",), ()),
        (
            "our stack is Django + React on Heroku",
            "we're migrating off heroku to AWS",
            ("Heroku",),
            ("Django",),
        ),
        (
            "Our stack is Django.",
            "We're migrating off Django to Rails.",
            ("stack is Django",),
            ("Rails",),
        ),
    ],
)
def test_what_is_done_with_something_leaves_it(somebody, before, said, over, stands):
    somebody.ends_with((before, said), over, stands)


@pytest.mark.parametrize(
    ("before", "said", "over", "stands"),
    [
        ("I study English.", "Now I study by myself with youtube", (), ("studies English",)),
        (
            "I study medicine at Leeds.",
            "Now I study in the library because my room is cold.",
            (),
            ("medicine",),
        ),
        ("I teach biology.", "Now I teach online.", (), ("biology",)),
        ("I cook Italian food.", "Now I cook in a bigger kitchen.", (), ("Italian food",)),
        ("I play the drums.", "Now I play in a band.", (), ("drums",)),
        ("i learn japanese", "now i learn with an app", (), ("japanese",)),
        ("I paint landscapes.", "These days I paint outside.", (), ("landscapes",)),
        ("I read thrillers.", "I now read on a kindle.", (), ("thrillers",)),
        ("I grow tomatoes.", "Now I grow in a greenhouse.", (), ("tomatoes",)),
        ("I write poems.", "Now I write by hand.", (), ("poems",)),
        ("We brew beer.", "Now we brew in the garage.", (), ("beer",)),
        ("I practise the cello.", "Now I practise at night.", (), ("cello",)),
        ("I study at Leeds.", "Now I study in Hull.", ("at Leeds",), ("Hull",)),
        ("I live in Leeds.", "Now I live in York.", ("Leeds",), ("York",)),
        ("I work at Lidl.", "Now I work at Aldi.", ("Lidl",), ("Aldi",)),
        ("I study English.", "Now I study French.", (), ("French",)),
        (
            "I've not been to the gym in months.",
            "I've gone down to four days a week.",
            (),
            ("gym",),
        ),
        ("I've not been to the gym in months.", "I've gone off coffee.", (), ("gym",)),
        ("I've not been to the dentist in years.", "I've gone part-time.", (), ("dentist",)),
        (
            "We've not been on holiday in years.",
            "We've gone over budget this month.",
            (),
            ("holiday",),
        ),
        ("I've got a cold.", "I've stopped.", (), ()),
        ("we've a big garden", "we've finished dinner", (), ("garden",)),
        ("ive never been to spain", "ive gone vegan", (), ("spain",)),
        ("I've not been to the gym in months.", "The gym has gone bust.", (), ()),
        ("We are buying a house in Antioch.", "Back in Nashville.", (), ("Antioch",)),
        ("We're selling our flat in Bath.", "I'm back in London.", (), ("Bath",)),
        ("we are viewing a house in kent", "back in london now", (), ("kent",)),
        ("I own a cottage in Wales.", "We're back in Bristol.", (), ("Wales",)),
        ("I'm in Lisbon this week.", "Back in Leeds.", ("in Lisbon",), ()),
        (
            "we use github actions with python 3.11",
            "we upgraded to python 3.13 today",
            ("3.11",),
            ("ithub",),
        ),
        ("I'm saving for a gaming pc", "I finally got the gaming pc", ("saving",), ("gaming pc",)),
        (
            "I'm saving for a gaming pc",
            "picked up the gaming pc today",
            ("saving",),
            ("gaming pc",),
        ),
        (
            "I'm saving for an electric guitar",
            "finally bought the electric guitar",
            ("saving",),
            ("electric guitar",),
        ),
        (
            "I'm saving up for a road bike",
            "i finally got the road bike!!",
            ("saving",),
            ("road bike",),
        ),
        (
            "i want to get a french bulldog",
            "we finally got the french bulldog",
            ("wants",),
            ("bulldog",),
        ),
        (
            "I'm planning to buy a tumble dryer",
            "got the tumble dryer yesterday",
            ("planning",),
            ("tumble dryer",),
        ),
    ],
)
def test_what_tells_how_or_of_something_else_ends_nothing_more(
    somebody, before, said, over, stands
):
    somebody.ends_with((before, said), over, stands)


@pytest.mark.parametrize(
    ("before", "news", "left"),
    [
        ("I live in a flat with Jess and Tom.", "Jess moved out.", "lives in a flat with Tom"),
        ("I live in Leeds with Jess and Tom.", "Tom moved out.", "lives in Leeds with Jess"),
        ("we live in York with Kim and Lee", "kim moved out", "lives in York with Lee"),
        ("I live with my brother Tom and Jess.", "Tom moved out.", "User lives with Jess"),
        ("I share a house with Jess and Tom.", "Jess moved out.", "I share a house with Tom"),
        ("I work in a bakery with Jess and Tom.", "Jess quit.", "I work in a bakery with Tom"),
        ("I run a shop with Ben and Sue.", "Ben quit.", "User runs a shop with Sue"),
        ("I play tennis with Ana and Bob.", "Ana moved away.", "User plays tennis with Bob"),
        ("I stream on Fridays and Saturdays.", "stopped streaming fridays", "streams on Saturdays"),
        ("I grow tomatoes and beans.", "I stopped growing tomatoes.", "User grows beans"),
        ("I bake bread and cakes.", "I stopped baking cakes.", "User bakes bread"),
        (
            "I sell honey and jam at the market.",
            "I no longer sell honey.",
            "sell jam at the market",
        ),
        ("I brew beer and cider.", "I don't brew cider anymore.", "I brew beer"),
        ("I stream on Twitch and YouTube.", "I stopped streaming on YouTube.", "stream on Twitch"),
        (
            "I train on Tuesdays and Fridays with Tom.",
            "I stopped training on Tuesdays.",
            "User trains on Fridays with Tom",
        ),
        (
            "I write for the Guardian and the Times.",
            "I stopped writing for the Guardian.",
            "write for the Times",
        ),
        (
            "my brother works mondays and tuesdays",
            "he stopped working mondays",
            "my brother works tuesdays",
        ),
        (
            "i stream on twitch fri and sat nights, like 40 viewers lol",
            "stopped streaming fridays",
            "i stream on twitch sat nights, like 40 viewers lol",
        ),
        ("I volunteer at a shelter and a library.", "I quit the shelter.", "at a library"),
        ("I have an old Golf and a new Polo.", "I sold the Golf.", "a new Polo"),
        ("I go to yoga and pilates every week.", "I quit yoga.", "to pilates every week"),
    ],
)
def test_what_is_left_of_a_list_has_its_verb_and_preposition(somebody, before, news, left):
    told = [each.text for each in somebody.believed_after(before, news, besides=())]
    assert any(left in each for each in told), told
    assert not any(each.strip(".") in before for each in told if left not in each), told


@pytest.mark.parametrize(
    ("before", "news", "stands"),
    [
        ("I sell candles and soap.", "I stopped making soap.", "candles and soap"),
        ("I grow tomatoes and beans.", "I started growing peas.", "tomatoes and beans"),
        (
            "playing valheim with jonno and his brother, we built a longhouse",
            "jonno got me into magic the gathering and im broke now",
            "playing valheim with jonno and his brother",
        ),
        (
            "playing minecraft with leo and his sister, we built a castle",
            "leo introduced me to chess and now i play daily",
            "playing minecraft with leo and his sister",
        ),
    ],
)
def test_a_list_stands_of_which_nothing_is_over(somebody, before, news, stands):
    told = [each.text for each in somebody.believed_after(before, news, besides=())]
    assert any(stands in each for each in told), told


@pytest.mark.parametrize(
    ("before", "news"),
    [
        (
            "My neighbour Herr Braun does, he sprays everything.",
            "Herr Braun has stopped spraying.",
        ),
        (
            "My neighbour Mrs Cole does, she feeds the foxes.",
            "Mrs Cole has stopped feeding the foxes.",
        ),
    ],
)
def test_no_half_of_a_sentence_is_left_that_tells_nothing(somebody, before, news):
    told = [each.text for each in somebody.believed_after(before, news, besides=())]
    assert not any(each.endswith(("does.", "does")) for each in told), told


@pytest.mark.parametrize(
    ("before", "news", "left"),
    [
        ("I live in Leeds with my cat Tom.", "Tom died yesterday.", "User lives in Leeds"),
        ("I live in Leeds with my cat Rex.", "We had to put Rex down.", "User lives in Leeds"),
        ("i live in leeds with my cat mia", "mia died last night", "User lives in leeds"),
        ("I live in Leeds with my dog Rex.", "My dog died.", "User lives in Leeds"),
        ("I moved to Leeds with my cat Tom.", "Tom died yesterday.", "User moved to Leeds"),
        ("I work from home with my cat Tom.", "Tom died yesterday.", "User works from home"),
        ("I run a café in York with my dog Rex.", "Rex died.", "User runs a café in York"),
        ("I run a café in York with Ben.", "Ben quit.", "User runs a café in York"),
        ("I live in York with my husband Tom.", "Tom died last year.", "User lives in York"),
        ("I live in York with my wife Ann.", "My wife died.", "User lives in York"),
        ("I live in York with my grandma.", "My grandma passed away.", "User lives in York"),
        ("I live in Bath with my flatmate Leo.", "My flatmate moved out.", "User lives in Bath"),
        (
            "I live in Harrogate with my wife Margaret and our dog, Biscuit.",
            "We had to have Biscuit put to sleep on Monday.",
            "User lives in Harrogate with their wife Margaret",
        ),
        (
            "I live in a cottage in Whitby with my dog Max.",
            "We had to put Max to sleep.",
            "User lives in a cottage in Whitby",
        ),
    ],
)
def test_who_dies_or_leaves_is_no_company_any_more(somebody, before, news, left):
    told = [each.text for each in somebody.believed_after(before, news, besides=())]
    assert left in told


@pytest.mark.parametrize(
    ("before", "news", "stands"),
    [
        ("I live in Leeds with my cat Tom.", "Tom's brother died.", "with their cat Tom"),
        ("I live in Leeds with my cat Tom.", "Tom nearly died.", "with their cat Tom"),
        ("I live in Leeds with my wife Ann.", "Ann quit.", "with their wife Ann"),
        ("I live in Leeds with my wife Ann.", "Ann retired.", "with their wife Ann"),
        ("I live in Leeds with Leo.", "Leo left for work.", "in Leeds with Leo"),
        ("I live in Leeds with Leo.", "Leo quit smoking.", "in Leeds with Leo"),
        ("I run a bakery with my sister Ana.", "Ana moved out.", "with their sister Ana"),
        ("I live in Leeds with my dog Rex.", "my phone died", "with their dog Rex"),
        ("I live in Leeds with my cat Tom.", "My brother Tom died.", "with their cat Tom"),
    ],
)
def test_who_is_there_still_is_company(somebody, before, news, stands):
    told = [each.text for each in somebody.believed_after(before, news, besides=())]
    assert any(stands in each for each in told), told
