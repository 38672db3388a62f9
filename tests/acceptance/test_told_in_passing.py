"""What people tell in few words of shifts, bosses, flatmates and tastes, and what is over by it."""

from __future__ import annotations

import pytest

STAYS = [
    (["hey! im Tomasz, just moved to Bristol for a new job"], "home.location", "Bristol"),
    (["I'm Ana, recently moved to Leeds"], "home.location", "Leeds"),
    (["i live in Leeds, just started at Arup"], "work.employer", "Arup"),
    (["promoted to senior analyst last week!"], "work.role", "senior analyst"),
    (["promoted to lead engineer!! 58k"], "work.role", "lead engineer"),
    (["i work nights", "switched to days btw, 9 to 5 now"], "work.hours", "days"),
    (
        ["im on day shifts", "nights mostly these days, my body clock is wrecked"],
        "work.hours",
        "nights",
    ),
    (["i'm on earlies", "they've put me on lates from monday"], "work.hours", "lates"),
    (["im on days", "work moved me to the night shift"], "work.hours", "night shift"),
    (["i work 9 to 5"], "work.hours", "9 to 5"),
    (["my boss Helen left, Marcus is taking over the team"], "relation.reports-to", "Marcus"),
    (
        ["my manager is Dana", "my manager Dana quit, Priya took over"],
        "relation.reports-to",
        "Priya",
    ),
    (["Jo moved out. new flatmate is called Freya"], "relation.flatmate.name", "Freya"),
    (["i proposed and she said yes!!!"], "relation.marital-status", "proposed"),
    (["mushrooms make me gag"], "likes.mushrooms", "mushrooms"),
    (["i eat anything but warm milk makes me gag"], "likes.warm-milk", "warm milk"),
    (["coriander tastes like soap to me"], "likes.coriander", "coriander"),
    (["i cant stomach oysters"], "likes.oysters", "oysters"),
    (["we got engaged!!"], "relation.marital-status", "engaged"),
    (["we just got engaged :)"], "relation.marital-status", "engaged"),
    (["never been to the states"], "experience.the-states", "to the states"),
    (["got a puppy called Wilf"], "relation.puppy.name", "Wilf"),
    (["we got a puppy! A border terrier called Wilf"], "relation.puppy.name", "Wilf"),
    (["We got a puppy. He's called Wilf."], "relation.puppy.name", "Wilf"),
    (["we adopted a rescue dog. We called him Biscuit!"], "relation.dog.name", "Biscuit"),
    (["picked up our new kitten, she's called Mabel"], "relation.kitten.name", "Mabel"),
    (["my new manager starts monday. she's called Priya"], "relation.reports-to", "Priya"),
    (["got the job at Lidl"], "work.employer", "Lidl"),
    (["I work at Tesco nights", "got a job at Lidl, start monday"], "work.employer", "Lidl"),
    (["our wifi's with Sky", "switched broadband to Zen"], "provider.internet", "Zen"),
    (["we're with Sky for broadband"], "provider.internet", "Sky"),
    (["we've moved to Zen for our internet"], "provider.internet", "Zen"),
    (["my GP is Dr Malik", "so I'm with Dr Evans now"], "care.doctor", "Dr Evans"),
    (["i go to bed at 11", "been going to bed at 9:30 these days"], "day.bedtime", "9:30"),
    (
        ["I take my coffee black", "I take my coffee with oat milk now"],
        "drink.coffee",
        "with oat milk",
    ),
    (["signed for the flat in Keynsham today"], "home.location", "Keynsham"),
    (["me and my girlfriend moved to bath"], "home.location", "bath"),
    (["me and my boyfriend work at ikea"], "work.employer", "ikea"),
    (["me and my wife have a dog"], "has.dog", "a dog"),
    (["i bank with lloyds and my wife is with santander"], "finance.bank", "lloyds"),
    (["i live in bath", "moved in with my gf"], "home.location", "bath"),
    (["i live in the state of ohio"], "home.location", "the state of ohio"),
    (["I live in York", "i live in a constant state of laundry"], "home.location", "York"),
    (["my kids are 4 and 7"], "thing.kid", "4 and 7"),
    (["mail me at ondine@heronmail.be"], "contact.email", "ondine@heronmail.be"),
    (
        ["my email is ondine@heronmail.be", "use studio@brassheron.be for everything from now on"],
        "contact.email",
        "studio@brassheron.be",
    ),
    (["my number is 0471 55 20 18"], "contact.phone", "0471 55 20 18"),
    (
        ["call me on 0471 55 20 18", "got a new number: 0488 31 07 66"],
        "contact.phone",
        "0488 31 07 66",
    ),
    (["I get paid on the 25th", "payday's moved to the 28th"], "work.payday", "the 28th"),
    (["callum moved out, new housemate is Freya"], "relation.housemate.name", "Freya"),
    (
        ["my housemates are Callum and Sam", "Callum moved out, new housemate is Freya"],
        "thing.housemates",
        "Sam",
    ),
]
GONE = [
    (["my bike is a Trek", "bike got nicked on sunday :("], "bike"),
    (["my bike is a Trek", "my bike got nicked"], "bike"),
    (["someone stole my bike"], "bike"),
    (["some kid nicked my scooter"], "scooter"),
    (["my boss Helen left"], "boss"),
    (["my colleague Ben got fired"], "colleague"),
    (["Our cat Tabitha had to be put down yesterday."], "cat"),
    (["my cat is Tabitha", "Tabitha had to be put to sleep"], "cat"),
    (["my dog Rex", "my dog Rex got run over"], "dog"),
]

OTHERS = [
    (["i use vim", "the new intern uses emacs, respect"], "tool.editor", "vim"),
    (["i wear size 44", "bought my nephew shoes, size 31, so small"], "wears.size", "44"),
    (["my phone is a Pixel 6", "got my mum an iphone 15"], "device.phone", "a Pixel 6"),
    (["i drive a Golf", "our new neighbour drives a Tesla now"], "vehicle.car", "Golf"),
    (["i live in York", "we've moved to Zen for our internet"], "home.location", "York"),
    (["i'm a plumber", "my best friend Ewa is a nurse in Gdansk"], "work.role", "plumber"),
    (["our cat is Tom", "our neighbour has a dog. it's called Fang"], "relation.cat.name", "Tom"),
    (["my sister is Ana", "my sister got a puppy called Rex"], "relation.sister.name", "Ana"),
]

NONE = [
    ("i love curry. no coriander please", "coriander"),
    ("i drink tea. no coffee", "coffee"),
    ("I have two cats. no dogs", "has two dogs"),
    ("I speak French, no German", "german"),
    ("I have a Visa card, no Amex", "amex"),
    ("I sold my flat in Leeds", "is in leeds"),
    ("I moved out of my flat in Leeds", "is in leeds"),
    ("i live in fear of my boss", "lives in"),
    ("basically i live at the office", "lives at"),
    ("i live in a constant state of laundry", "lives in"),
    ("we live in a state of permanent chaos", "lives in"),
    ("moved to a standing desk", "lives"),
    ("i drive a hard bargain", "user drives"),
    ("i work for peanuts", "user works"),
    ("i make 20 cakes a week", "user makes"),
    ("my dad named me after bowie", "called me"),
    ("my landlord is renovating the flat", "user has a landlord"),
    ("gemini told me i have 2 kids, weird", "2 kids"),
    ("there's this meme: i work at nasa but i cant park", "nasa"),
    ("sample bio - im lucy, i live in paris and i love art", "paris"),
    ("on paper im a consultant but really i make tea", "consultant"),
    ("not a single day goes by without tea", "user is"),
    ("I like all fruit except bananas", "user likes all fruit"),
]
"""What is said, and what must not be believed of it."""


def told(somebody, turns):
    return somebody.believed_after(*turns, besides=("note",))


@pytest.mark.parametrize(("turns", "attribute", "value"), STAYS)
def test_what_is_told_in_passing_is_believed(somebody, turns, attribute, value):
    found = [each.value for each in told(somebody, turns) if each.attribute == attribute]
    assert found == [value]


@pytest.mark.parametrize(("turns", "word"), GONE)
def test_what_is_gone_is_not_believed_to_be_there(somebody, turns, word):
    there = [each for each in told(somebody, turns) if each.type != "event"]
    assert not any(word in each.text.lower() for each in there)


@pytest.mark.parametrize(("turns", "attribute", "value"), OTHERS)
def test_what_others_have_is_not_what_the_user_has(somebody, turns, attribute, value):
    own = [each for each in told(somebody, turns) if each.entity == "User"]
    assert [each.value for each in own if each.attribute == attribute] == [value]


@pytest.mark.parametrize(
    "said", ["night shift was brutal, my feet hurt", "early shift tomorrow, i hate it"]
)
def test_one_shift_is_not_the_hours_of_work(somebody, said):
    assert not any(each.attribute == "work.hours" for each in told(somebody, [said]))


def test_who_was_caught_still_waits_for_a_person(somebody):
    _, decisions = somebody.remember("my brother got nicked last night")
    assert not somebody.beliefs()
    assert all(each.outcome != "admit" for each in decisions)


def test_tastes_are_denied_and_not_liked(somebody):
    found = told(somebody, ["marzipan gives me the ick"])
    assert [(each.attribute, each.negated) for each in found] == [("likes.marzipan", True)]


@pytest.mark.parametrize(
    "said", ["my boss Helen left me a note", "my colleague Ben left the house"]
)
def test_who_left_something_is_still_there(somebody, said):
    assert any(each.type == "relation" for each in told(somebody, [said]))


@pytest.mark.parametrize(("said", "never"), NONE)
def test_what_is_denied_is_not_believed(somebody, said, never):
    texts = [each.text for each in told(somebody, [said]) if not each.negated]
    assert not any(never in text.lower() for text in texts if "no " not in text)


@pytest.mark.parametrize("said", ["no, Porto", "no wait, Porto", "no Porto sorry"])
def test_what_is_put_right_is_believed(somebody, said):
    found = told(somebody, [f"I live in Lisbon. {said}"])
    assert [each.value for each in found] == ["Porto"]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("I have two dogs, suggestions for a walk?", "two dogs"),
        ("we have a small garden, thoughts on a tree?", "small garden"),
        ("I work as a nurse in Leeds, ideas for a leaving do?", "nurse"),
        ("i live in york - any cheap lunch tips?", "york"),
        ("I'm learning Dutch, book recommendations?", "Dutch"),
        ("i drive a 2012 polo, advice?", "polo"),
        ("I run on Mondays and Thursdays.", "Mondays"),
    ],
)
def test_a_statement_is_told_beside_what_is_asked(somebody, said, text):
    assert any(text in each.text for each in told(somebody, [said]))


@pytest.mark.parametrize(
    "said",
    [
        "is there a garden, ideas?",
        "do I have two dogs, any ideas?",
        "what if I lived in York, tips?",
    ],
)
def test_what_is_asked_is_not_told_for_its_ending(somebody, said):
    assert not told(somebody, [said])


@pytest.mark.parametrize("name", ["John", "David", "Kayla", "Maria", "Tom", "Anna", "Lucy"])
@pytest.mark.parametrize("claim", ["is a vet", "loves coffee", "plays drums in a band"])
def test_what_is_meant_does_not_hang_on_a_name(somebody, name, claim):
    assert any(claim in each.text for each in told(somebody, [f"{name} {claim}."]))


@pytest.mark.parametrize(
    ("said", "never", "believed"),
    [
        ("I made a shepherd's pie.", "made a", ()),
        ("I made the manager's list.", "User made the", ()),
        ("I made a baker's dozen of muffins.", "made a", ()),
        ("i made a nurse’s uniform for the play", "made a", ()),
        ("I made manager last week", "pie", ("manager",)),
        ("I made partner in May.", "pie", ("partner",)),
        ("Hi, I'm looking after my dad who's 82 and has Parkinson's.", "who", ("dad is 82",)),
        ("I live with my mum who's 79 and has dementia.", "mum who is 79 and", ("mum is 79",)),
        ("We visit my uncle who's 66 and lives in Cork every year.", "who is", ("uncle is 66",)),
        ("My dad, who's 82, loves bingo.", "who is", ("dad is 82",)),
        ("I look after my little nephew who is 5.", "nephew is 5.", ("little nephew is 5",)),
        ("I have two kids, ella 6 and noah who's 3", "Ella 6", ("Ella is 6", "Noah is 3")),
        ("two kids, ella 6 and noah who's 3", "Ella 6", ("Ella is 6", "Noah is 3")),
        ("Two kids, Tom 6 and Ann 3, were at the pool.", "kid is Tom", ()),
        ("I have two sons: Tim and Paul.", "two sons: Tim", ("is Tim", "is Paul")),
        ("I have two daughters: Mia and Zoe.", "daughters: Mia", ("is Mia", "is Zoe")),
        ("I've got three brothers: Al, Bo and Cy.", "brothers: Al", ("Al", "Bo", "Cy")),
        ("I have two sisters (Ann and Bea).", "sisters (Ann", ("is Ann", "is Bea")),
        ("my bff is called kayla", "bff friend", ("best friend is called kayla",)),
        ("my bff Kayla lives in Leeds", "bff friend", ("Leeds",)),
    ],
)
def test_no_claim_breaks_off(somebody, said, never, believed):
    found = [each.text for each in somebody.believed_after(said, besides=())]
    assert not [each for each in found if never in each and each != said]
    assert all(any(one in each for each in found) for one in believed)


def test_somebodys_illness_is_noticed_behind_who(somebody):
    _, decisions = somebody.remember("I'm looking after my dad who's 82 and has Parkinson's.")
    assert "User's dad has Parkinson's" in [each.claim for each in decisions]
