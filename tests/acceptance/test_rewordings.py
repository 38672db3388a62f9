"""News of a slot is news in whatever words it comes: "my boss used to be Karin, now it's Ann"."""

import pytest

SLOTS = {
    "boss": ("my boss is {}", "Karin", "Priya"),
    "landlord": ("our landlord is {}", "Mr Singh", "Mrs Okafor"),
    "coach": ("our coach is {}", "Dave", "Tina"),
    "cleaner": ("our cleaner is {}", "Ola", "Irina"),
    "gym": ("my gym is {}", "Puregym", "Oasis"),
    "bank": ("my bank is {}", "Barclays", "Monzo"),
    "editor": ("my editor is {}", "Vim", "Emacs"),
    "rent": ("our rent is {}", "890 euros", "985 euros"),
    "desk": ("my desk is {}", "4B", "7C"),
    "room": ("my room is {}", "204", "311"),
}
OF_ALL = (
    "my {noun} used to be {old}, now it's {new}",
    "my {noun} isn't {old} anymore, its {new}",
    "By the way my {noun} is now {new} and no longer {old}.",
    "my {noun} is {new} now, not {old}",
    "{new} is my {noun} now",
    "not {old} anymore, {new}",
    "its {new} now, not {old}",
)
OF_PEOPLE = (
    "we've a new {noun} since monday, {new}",
    "we have a new {noun}, {new}",
    "Our {noun} is {new} since yesterday.",
    "{new} is our new {noun}",
)
PEOPLE = ("boss", "landlord")
CASES = [
    *((noun, wording) for noun in SLOTS for wording in OF_ALL),
    *((noun, wording) for noun in PEOPLE for wording in OF_PEOPLE),
    ("boss", "{noun}: {new} now"),
]


@pytest.mark.parametrize(("noun", "wording"), CASES)
def test_the_new_value_takes_the_place_of_the_old(somebody, noun, wording):
    tell, old, new = SLOTS[noun]
    somebody.believed_after(tell.format(old))
    found = somebody.believed_after(wording.format(noun=noun, old=old, new=new))
    claims = [each.text for each in found]
    assert any(new in each for each in claims), claims
    assert not any(old in each and new not in each for each in claims), claims


SAID_ONCE = (
    "my boss used to be Karin, now it's Priya",
    "my boss isn't Karin anymore, its Priya",
    "we've a new boss since monday, Priya",
)


@pytest.mark.parametrize("said", SAID_ONCE)
def test_what_is_read_as_a_slot_is_no_note_besides(somebody, said):
    found = somebody.believed_after("my boss is Karin", said, besides=())
    assert [each.text for each in found] == ["User's boss is Priya"]


STAND = [
    ("my boss is Karin", "my boss used to be Karin's neighbour, funny", "Karin"),
    ("my boss is Karin", "not Karin, sadly, it was raining", "Karin"),
    ("my boss is Karin", "is Priya your boss now?", "Karin"),
    ("my boss is Karin", "my sister's boss is Priya now, not Karin", "Karin"),
    ("my boss is Karin", "we've a new dog, Priya", "Karin"),
    ("my boss is Karin", "my mood went from bad to worse", "Karin"),
    ("my dog is Max", "we've a new dog, Rex", "Max"),
    ("my room is 204", "the wifi is 311 now and no longer 299", "204"),
    ("my gym is Puregym", "that is my gym now? lol", "Puregym"),
    ("my editor is Vim", "my editor is slow now", "Vim"),
]


@pytest.mark.parametrize(("told", "said", "stands"), STAND)
def test_what_is_of_something_else_changes_nothing(somebody, told, said, stands):
    somebody.believed_after(told)
    found = somebody.believed_after(said)
    assert any(stands in each.text and each.text.startswith("User") for each in found)


NO_VALUES = [
    "my editor is slow",
    "my bus is late again",
    "my cleaner is Polish",
    "my barber is Turkish",
    "my station is closed on Mondays",
    "my mood went from bad to worse",
    "my database is down",
    "no longer Anna but Marek",
    "my class is cancelled",
]


@pytest.mark.parametrize("said", NO_VALUES)
def test_what_is_no_value_is_not_believed(somebody, said):
    assert not [each for each in somebody.believed_after(said) if each.type != "note"]


SLOTS_TOLD = [
    ("my internet provider is Vodafone", "provider.internet", "Vodafone"),
    ("my browser is firefox", "tool.browser", "firefox"),
    ("our energy supplier is Octopus", "provider.electricity", "Octopus"),
    ("my accountant is Sven", "care.accountant", "Sven"),
    ("our childminder is Ruth", "care.childminder", "Ruth"),
    ("my bus is the 48", "thing.bus", "the 48"),
]


@pytest.mark.parametrize(("said", "attribute", "value"), SLOTS_TOLD)
def test_who_and_what_somebody_has_is_in_a_slot(somebody, said, attribute, value):
    found = somebody.believed_after(said)
    assert (attribute, value) in [(each.attribute, each.value) for each in found]


CHANGED = [
    ("I do three days a week on reception", "four days now", "four days", "three days"),
    (
        "my yoga class is on mondays",
        "my yoga is on thursdays instead of mondays now",
        "thursdays",
        "mondays",
    ),
    (
        "Our internet is with TalkTalk",
        "Well we left them and we're with Zen now",
        "Zen",
        "TalkTalk",
    ),
    (
        "I teach piano to nine pupils at home",
        "I've fifteen pupils at the moment",
        "fifteen",
        "nine",
    ),
    ("I work at Dell", "my new employer is Lidl", "Lidl", "Dell"),
    ("my dentist is Dr. Patel", "my new dentist is Dr. Novak", "Novak", "Patel"),
    ("I train at PureGym", "I go to David Lloyd now", "David Lloyd", "PureGym"),
    ("I'm from York but live in Leeds", "we moved to Bristol", "Bristol", "Leeds"),
    ("I live with my girlfriend Lena", "new girlfriend, her name is Kim", "Kim", "Lena"),
    ("im studying history", "I study law now", "law", "history"),
    ("our rent is 890 euros", "our rent went from 890 euros to 985 euros", "985", "890"),
    ("my desk is 4B", "my desk moved from 4B to 7C", "7C", "4B"),
    ("I work 9 to 5", "its 8 to 4 now", "8 to 4", "9 to 5"),
    ("I work 9 to 5", "hours changed to 7:30-3:30", "7:30-3:30", "9 to 5"),
    ("my team has 8 people", "someone quit, 7 of us now", "7", "8"),
    ("I use a Pixel 6", "its an iphone 15 now", "iphone 15", "Pixel"),
]


@pytest.mark.parametrize(("told", "said", "new", "old"), CHANGED)
def test_a_change_is_read_in_few_words(somebody, told, said, new, old):
    claims = [each.text for each in somebody.believed_after(told, said)]
    assert any(new in each for each in claims), claims
    assert not any(old in each for each in claims), claims


BESIDE = [
    ("I work three days a week in the shop", "my headache is bad, four days now", "three days"),
    ("I have a Kobo", "how much would it cost to replace the Kobo screen", "Kobo"),
    ("I go to the gym every morning", "cant be bothered with the gym this week", "gym"),
    ("I live with my girlfriend Lena", "my girlfriend is Lena, the tall one", "lives with"),
    ("im studying history", "my flatmate is doing law now", "history"),
    ("I work 9 to 5", "the library is open 8 to 4 now", "9 to 5"),
    ("I work 9 to 5", "they moved the pool to 8 to 4", "9 to 5"),
    ("my team has 8 people", "7 of us went to lunch", "8 people"),
    ("My sister is Anna", "my sister moved from York to Leeds", "Anna"),
    ("My boss is Karin", "My boss moved from Berlin to Paris", "Karin"),
    ("I work at Acme", "My company switched from Slack to Teams", "Acme"),
    ("My gym is PureGym", "My gym moved from Leeds to York", "PureGym"),
    ("My phone is a Pixel", "My phone went from 5% to 80%", "Pixel"),
    ("I have two cats, Tom and Luna", "Rex is our new cat", "Luna"),
    ("My daughter is Mia", "Lena is our new daughter", "Mia"),
    ("My sister is Anna", "Anna is out, Tom is in", "sister is Anna"),
    ("My boss is Karin", "The boss is Bowser, not Ganon", "boss is Karin"),
    ("I live in York", "The office is now my home", "lives in York"),
    ("I have an iPad", "I'm not replacing my iPad", "iPad"),
    ("I drive a Golf", "Saving up to replace my Golf", "Golf"),
    ("I work 9 to 5", "Liverpool lead, it's 3-1 now", "9 to 5"),
    ("I have an iPhone 12", "Got a new phone, it's already broken", "iPhone 12"),
    ("I drive a Golf", "I bought a new car, it's red", "Golf"),
    ("My gym is PureGym", "I had a date with Tom. Dumped it, now I'm with Ben", "PureGym"),
    ("I study law", "I'm doing maths now, help with question 3", "law"),
    ("I live in Bath", "My tutor grew up in Wales but now based in London", "lives in Bath"),
    ("I got an offer from Shell", "Shell said no to remote work", "offer from Shell"),
    ("I live in Leeds", "Not in Leeds now, Paris this week", "lives in Leeds"),
    ("My manager is Karin", "The manager is Amorim since November", "manager is Karin"),
    ("I use Slack", "they asked us to switch to the other room", "Slack"),
]


@pytest.mark.parametrize(("told", "said", "stands"), BESIDE)
def test_what_only_sounds_like_a_change_leaves_what_is_so(somebody, told, said, stands):
    claims = [each.text for each in somebody.believed_after(told, said, besides=())]
    assert any(stands in each for each in claims), claims


def test_what_is_in_place_of_something_ends_it(somebody):
    somebody.ends_with(
        ["I read everything on a Kobo", "my grandsons gave me a Kindle in place of the Kobo"],
        over=["reads everything on a Kobo"],
        stands=["Kindle"],
    )


NO_MEMORY = [
    "in Norway everybody gets five weeks of holiday, how do shops even work in July",
    "a Steam Deck runs linux so why do windows games work on it",
    "Teachers in Scotland finish for summer at the end of June, why so early",
    "which side of the family do freckles come from, can only one parent have them",
    "One uncle on the TV show is fasting each Monday, which god is it for",
    "Person on the podcast takes magnesium at 9 each night",
    "i was born yesterday obvs so explain it like that",
    "I wasn't born in a barn",
    "help me write an april fool text to my mum saying Tunde and I are moving to Canada next week",
]


@pytest.mark.parametrize("said", NO_MEMORY)
def test_what_tells_nothing_of_the_speaker_is_not_kept(somebody, said):
    assert not somebody.believed_after(said, besides=())


KEPT = [
    "My son was born yesterday",
    "Nan watches soaps on the telly every evening",
    "Leo is in a drama group",
    "Leo goes to Oakwood, which is a great school",
    "Mum visits every Sunday, when she has time",
    "Anna is my new boss and I work at Shell",
    "i was born yesterday evening in 1990 lol no, in Leeds in 1990",
    "my sister's flat has three rooms, how do i get there",
    "we have a whippet so why do we need a cat",
]


@pytest.mark.parametrize("said", KEPT)
def test_what_tells_of_the_speaker_is_kept_beside_a_question(somebody, said):
    assert somebody.believed_after(said, besides=())
