"""What is said of others, or of how something is for a while, ends nothing that is believed."""

from __future__ import annotations

import pytest

NEAR = {
    "I work at Bosch": [
        "my cousin works at Siemens now", "Lena is at Google now",
        "the Bosch canteen is closed now", "my brother's employer is Aldi now",
    ],
    "I live in Bonn": [
        "my sister lives in Oslo now", "stuck in Frankfurt now, flight delayed",
        "we're in Prague these days for my husband's surgery",
        "back in Cologne now for the carnival", "pottery moved to Thursdays btw",
        "the gym moved to Kirkstall", "book club moved to Sam's place",
        "the bakery relocated to Elm Street", "choir landed in York", "moved to Thursdays",
    ],
    "Rent is 900 euros": [
        "my brother's rent is 1100 now", "electricity is 95 euros these days",
        "my parking costs 60 euros now",
    ],
    "my gym is FitX": ["my brother's gym is McFit now", "the pool is closed now"],
    "my partner is Carla": ["my brother's partner is Nina now", "my tennis partner is Ole now"],
    "I'm on the data team": ["Kai is on the platform team now", "the search team moved to Berlin"],
    "I take the bus to work": ["my wife takes the train now", "the bus is always late now"],
    "I commute by train": [
        "my colleague commutes by bike now", "the train is 20 euros now",
        "my husband commutes by car now",
    ],
    "I wake up at 6:30": ["standup is at 9:30 now", "the kids wake up at 5 now"],
    "my standup is at 9:15": ["the other team's standup is at 9:45 now", "retro is at 10:00 now"],
    "the deadline is June 3": [
        "the other team's deadline is June 10 now", "my wife's exam is on June 5 now",
        "the party is on June 7 now",
    ],
    "my dentist is Dr. Huber": ["my kid's dentist is Dr. Lang now", "the vet is Dr. Kern now"],
    "my laptop is a ThinkPad": ["my boss's laptop is a MacBook now"],
    "my favourite band is Muse": ["the band is on tour now", "Kai's band is called Lotus now"],
    "my landlord is Mr Novak": ["my sister's landlord is Mrs Bauer now"],
    "my internet provider is A1": ["the internet is slow now"],
    "my daughter Mia goes to Goethe school": ["Mia's friend moved to Montessori school"],
    "My kids are Tom and Lily": ["Tom died"],
    "my cats Pixel and Toast are siblings": ["Toast ran away"],
    "my parents are Jim and Sue": ["Sue passed away yesterday"],
}  # fmt: skip
CHANGED = {
    "I have two cats, Pixel and Toast": "we gave the cats away",
    "we have two dogs, Rex and Milo": "Rex and Milo died",
    "I own a boat and a caravan": "sold the boat and the caravan",
    "I work at Marks and Spencer": "I quit Marks and Spencer",
    "I live in Bonn": "our new flat's in York, all unpacked",
    "I live in Leeds": "the new house is in York",
    "we live in Leeds": "family moved to York",
    "my manager is Ingrid": "my manager is Tobias now",
    "Rent is 900 euros": "the landlord raised it, rent is 1100 now",
    "my gym is FitX": "gym is McFit now",
    "my standup is at 9:15": "standup is at 9:45 now",
    "our landlord is Mr. Pike": "the building was sold, our landlord is a Mrs. Adeyemi now",
    "my daughter Mia is 6": "mia's seventh birthday was chaos lol",
    "my days off are monday and tuesday": "days off are now sunday and monday",
}


@pytest.mark.parametrize("known", NEAR)
def test_what_is_believed_stays(somebody, known):
    somebody.remember(known)
    before = {each.memory_id for each in somebody.beliefs()}
    assert before
    for words in NEAR[known]:
        somebody.remember(words)
        assert before <= {each.memory_id for each in somebody.beliefs()}, words


def test_of_two_that_are_listed_by_name_one_stays(somebody):
    somebody.remember("I have a dog called Rex and a cat called Mia")
    somebody.remember("Rex died")
    assert [each.value for each in somebody.beliefs() if each.type == "relation"] == ["Mia"]


@pytest.mark.parametrize("known", CHANGED)
def test_what_has_changed_does_not(somebody, known):
    somebody.remember(known)
    before = {each.memory_id for each in somebody.beliefs()}
    somebody.remember(CHANGED[known])
    assert not before <= {each.memory_id for each in somebody.beliefs()}


@pytest.mark.parametrize(
    ("before", "said", "over", "stands"),
    [
        (
            "I work from home.",
            "My dad goes to the office every day.",
            (),
            ("User works from home",),
        ),
        (
            "I work from home.",
            "My brother is in the office five days a week.",
            (),
            ("User works from home",),
        ),
        (
            "I work from home.",
            "My boyfriend is at the office all week.",
            (),
            ("User works from home",),
        ),
        (
            "I work from home.",
            "I had lunch with Ben, he's in the office every day.",
            (),
            ("User works from home",),
        ),
        (
            "I work remotely.",
            "My sister is in the office five days a week.",
            (),
            ("User works remotely",),
        ),
        (
            "My sister works from home.",
            "My dad goes to the office every day.",
            (),
            ("works from home",),
        ),
        ("im wfh on mondays and fridays", "they wanted 5 days in office", (), ("wfh",)),
        (
            "My daughter passed her driving test.",
            "I don't drive any more.",
            (),
            ("passed her driving test",),
        ),
        (
            "Kids love the swimming pool in Bath.",
            "I don't swim any more.",
            (),
            ("love the swimming pool",),
        ),
        (
            "My sister starts a running club at her school.",
            "I don't run any more.",
            (),
            ("running club",),
        ),
        ("Dad takes tablets at 8.", "I don't take tablets any more.", (), ("takes tablets",)),
        ("My wife drinks wine.", "No more wine for me!", (), ("wife drinks wine",)),
        (
            "My mum bakes cakes on Sundays and sells them.",
            "No more cakes for me, I'm on a diet.",
            (),
            ("bakes cakes",),
        ),
        ("Tom starts at Lidl on Monday.", "Tom doesn't drink any more.", (), ("Lidl",)),
        (
            "Peter has got a job in Leeds.",
            "Peter says no more moving house for him.",
            (),
            ("job in Leeds",),
        ),
        ("Priya is moving in on saturday.", "Priya is not vegan any more.", (), ("moving in",)),
        ("Margaret has joined a choir.", "Margaret says no more dogs.", (), ("choir",)),
        (
            "been going climbing with priya",
            "tom from climbing, he's from plymouth so its on his way",
            (),
            ("with priya",),
        ),
        ("I'm a morning person.", "My wife is a night owl.", (), ("morning person", "night owl")),
        ("I'm an early bird.", "My brother is a night owl.", (), ("early bird", "night owl")),
        (
            "I work from home.",
            "My flatmate is in the office every day.",
            (),
            ("User works from home",),
        ),
        (
            "i work from home",
            "my husband is in the office full time now",
            (),
            ("User works from home",),
        ),
        (
            "I work from home.",
            "Dave's in the office five days a week now.",
            (),
            ("User works from home",),
        ),
        ("I work from home.", "She's back in the office full time.", (), ("User works from home",)),
        (
            "I work from home.",
            "My mates are all back in the office full-time.",
            (),
            ("User works from home",),
        ),
        ("I work hybrid.", "my sisters in the office 5 days a week", (), ("hybrid",)),
        ("My brother works from home.", "I'm in the office every day.", (), ("works from home",)),
        (
            "My brother works from home.",
            "My mum is in the office every day.",
            (),
            ("works from home",),
        ),
        (
            "My wife works from home.",
            "Her sister is at the office all week.",
            (),
            ("works from home",),
        ),
        (
            "im fully remote",
            "they offered me the job but they wanted 5 days in office so no",
            (),
            ("remote",),
        ),
        (
            "I work from home.",
            "They want us in the office five days a week now.",
            ("User works from home",),
            (),
        ),
        ("I work from home.", "I'm in the office every day now.", ("User works from home",), ()),
        (
            "I work from home.",
            "Back in the office full time from Monday.",
            ("User works from home",),
            (),
        ),
        ("I work from home.", "office every day now, sigh", ("User works from home",), ()),
        (
            "I work from home.",
            "My boss wants everyone in the office five days a week.",
            ("User works from home",),
            (),
        ),
        (
            "I work from home.",
            "My company has us back in the office full time.",
            ("User works from home",),
            (),
        ),
        (
            "I work from home.",
            "No more wfh, five days in the office.",
            ("User works from home",),
            (),
        ),
        (
            "My brother works from home.",
            "My brother is back in the office full time.",
            ("works from home",),
            (),
        ),
        (
            "My sister works from home.",
            "She's in the office every day now.",
            ("works from home",),
            (),
        ),
        (
            "I work from home.",
            "new boss, so it's five days in the office",
            ("User works from home",),
            (),
        ),
        (
            "I'm in the office five days a week.",
            "My sister works from home full time.",
            (),
            ("office five days",),
        ),
        (
            "My wife works from home.",
            "My wife's back in the office every day.",
            ("works from home",),
            (),
        ),
        (
            "I work remotely.",
            "Working from the office every day from now on.",
            ("works remotely",),
            (),
        ),
        ("I work from home.", "my job is 5 days in the office now", ("User works from home",), ()),
        (
            "My son plays tennis at school.",
            "I don't play tennis any more.",
            (),
            ("son plays tennis",),
        ),
        ("My sister eats meat every day.", "I don't eat meat any more.", (), ("sister eats meat",)),
        ("Mum drives an old Volvo.", "I no longer drive.", (), ("Volvo",)),
        ("My daughter loves swimming.", "I've stopped swimming.", (), ("daughter loves swimming",)),
        (
            "Dad watches football every Saturday.",
            "I don't watch football any more.",
            (),
            ("watches football",),
        ),
        ("my girlfriend drinks oat milk", "i dont drink milk anymore", (), ("oat milk",)),
        ("Grandma knits jumpers for the market.", "I don't knit any more.", (), ("knits jumpers",)),
        ("My cousin runs marathons.", "I gave up running.", (), ("marathons",)),
        ("My dad takes sugar in his tea.", "No more sugar for me.", (), ("sugar in his tea",)),
        (
            "My flatmate orders takeaway all the time.",
            "no more takeaways for me",
            (),
            ("takeaway",),
        ),
        (
            "My uncle collects stamps and coins.",
            "I don't collect stamps these days.",
            (),
            ("stamps",),
        ),
        ("Ben plays guitar in a band.", "I don't play guitar any more.", (), ("guitar in a band",)),
        ("My wife works nights.", "I don't work nights any more.", (), ("wife works nights",)),
        ("My mum walks my dog on Mondays.", "I don't have a dog any more.", ("walks my dog",), ()),
        (
            "My wife and I play tennis on Sundays.",
            "I don't play tennis any more.",
            ("play tennis on Sundays",),
            (),
        ),
        ("I play tennis on Mondays.", "I don't play tennis any more.", ("plays tennis on",), ()),
        ("My husband drives me to yoga.", "I don't go to yoga any more.", ("drives me",), ()),
        ("We drink wine on Fridays.", "No more wine for me!", ("drink wine",), ()),
        (
            "My brother plays chess with me every week.",
            "I don't play chess any more.",
            ("with me",),
            (),
        ),
        ("Anna is learning Greek.", "Anna doesn't eat meat any more.", (), ("Greek",)),
        ("Sam got a puppy.", "Sam doesn't drive any more.", (), ("puppy",)),
        ("ravi works in a bank", "ravi is not single anymore", (), ("bank",)),
        ("Lucy is getting married in June.", "Lucy doesn't smoke any more.", (), ("married",)),
        ("Omar has two boys.", "Omar is no longer vegetarian.", (), ("two boys",)),
        (
            "Claire is coming to stay on Friday.",
            "Claire no longer eats gluten.",
            (),
            ("stay on Friday",),
        ),
        ("Nina has moved to Hull.", "Nina says no more cats for her.", (), ("Hull",)),
        (
            "Tom starts at Lidl on Monday.",
            "Tom doesn't work at Lidl any more.",
            ("Lidl on Monday",),
            (),
        ),
        (
            "Tom starts at Lidl on Monday.",
            "Tom isn't starting at Lidl any more.",
            ("Lidl on Monday",),
            (),
        ),
        (
            "Priya is moving in on saturday.",
            "Priya is not moving in any more.",
            ("moving in on",),
            (),
        ),
        (
            "Margaret has joined a choir.",
            "Margaret no longer sings in the choir.",
            ("joined a choir",),
            (),
        ),
        (
            "Tom is coming to dinner on Friday.",
            "Tom isn't coming any more.",
            ("coming to dinner",),
            (),
        ),
        ("My brother Tom is vegan.", "Tom is not vegan any more.", ("is vegan",), ()),
        (
            "been going climbing with priya",
            "tom is from my climbing gym, he has a car",
            (),
            ("with priya",),
        ),
        ("been playing squash with leo", "anna from squash is from dundee", (), ("with leo",)),
        (
            "been swimming with priya",
            "leo from swimming, he's from plymouth so he drives",
            (),
            ("with priya",),
        ),
        (
            "I'm a morning person.",
            "My wife is a night owl.",
            (),
            ("User is a morning person", "night owl"),
        ),
        (
            "I'm a night owl.",
            "My husband's an early riser.",
            (),
            ("User is a night owl", "early riser"),
        ),
        ("i'm a night owl", "my gf is a morning person", (), ("night owl", "morning person")),
        ("My wife is a night owl.", "I'm a morning person.", (), ("night owl", "morning person")),
        ("My dad is an early bird.", "My mum is a night owl.", (), ("early bird", "night owl")),
        ("I get up at 6.", "My son is a night owl.", (), ("6", "night owl")),
        (
            "My wife is a night owl.",
            "My wife is a morning person now.",
            ("night owl",),
            ("morning person",),
        ),
        (
            "I'm a morning person.",
            "I'm a night owl now.",
            ("User is a morning person",),
            ("night owl",),
        ),
        (
            "I'm a morning person.",
            "My flatmate is a night owl.",
            (),
            ("morning person", "night owl"),
        ),
        (
            "I'm a morning person.",
            "My boss is an early bird.",
            (),
            ("morning person", "early bird"),
        ),
    ],
)
def test_what_is_told_of_one_ends_nothing_of_another(somebody, before, said, over, stands):
    somebody.ends_with((before, said), over, stands)


@pytest.mark.parametrize(
    ("turns", "stands"),
    [
        (("my best friend is called kayla", "kayla left the band"), "best friend is called kayla"),
        (("my best friend is kayla", "kayla left the band"), "best friend is kayla"),
        (("my bff is called kayla", "kayla left the band. she wants to dance"), "is called kayla"),
        (("my best mate is tom", "tom quit the team"), "best mate is tom"),
        (("my best friend is thiago", "thiago left his job"), "best friend is thiago"),
        (("my friend is luca", "luca sold his car"), "friend is luca"),
    ],
)
def test_a_friend_typed_without_a_capital_is_one_still(somebody, turns, stands):
    somebody.ends_with(turns, (), (stands,))


def test_a_friend_typed_without_a_capital_may_be_none_any_more(somebody):
    turns = ("my best friend is kayla", "kayla and i fell out, she's not my friend anymore")
    somebody.ends_with(turns, ("friend is kayla",), ())
