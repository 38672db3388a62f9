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
    "my {noun} went from {old} to {new}",
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
    "The {noun} is {new} since yesterday.",
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
