"""What is over has to be what the belief is about, and not a word that sounds like it."""

from __future__ import annotations

import pytest

MARATHON = "I'm training for the Cape Town marathon on 18 October"
OTHER_SENSE = [
    (MARATHON, "sold my polo, not needed anymore with the train"),
    (MARATHON, "no train anymore on sundays here"),
    (MARATHON, "the trains dont run anymore after 10"),
    (MARATHON, "i dont need the trainers anymore, they had a hole"),
    ("I'm training for a triathlon", "we dont need the trainer anymore for the dog"),
    ("I run a bakery in Ghent", "we have no running water any more since tuesday"),
    ("i paint on sundays", "no paint left in the shed, sold out"),
    ("i play guitar in a band on fridays", "the players dont come anymore to the pub"),
    ("i run every morning", "the running shoes are gone, sold them"),
    ("i cook at a cafe", "the cook is gone"),
    ("I bake on saturdays", "the baker closed down, no bakery any more in our street"),
]
SAME_SENSE = [
    (MARATHON, "i don't train anymore"),
    (MARATHON, "no training anymore, knee is gone"),
    ("I'm training for a triathlon", "stopped training, too old"),
    ("i paint on sundays", "i dont paint anymore"),
    ("i paint on sundays", "no painting anymore"),
    ("I teach maths", "not a teacher anymore"),
    ("i run every morning", "no more runs for me"),
    ("i play guitar", "i dont play anymore"),
    ("I bake on saturdays", "no more baking for me"),
]
OTHER_BEARER = [
    (
        "me n aisha n bex started a band called soggy biscuit lol im on drums",
        "biscuit died last night, he was 2 and a half",
    ),
    ("my startup is called Rex Analytics", "rex died this morning."),
    ("we live in rose street, number 4", "rose died last week"),
    ("i live on max planck street", "max died"),
    ("my favourite soup is pepper soup", "pepper died"),
    ("i love max verstappen", "max died, he was 13, we buried him in the garden"),
    ("i play in a band called black cat, on thursdays", "the cat died last night"),
    ("i volunteer at the luna cinema on sundays", "luna died on monday, she was a good dog"),
    ("I work at Rex Analytics", "rex died, good boy"),
    ("my favourite band is rose garden", "rose moved out yesterday"),
    ("I like rose wine", "rose passed away"),
]
THE_BEARER = [
    ("my dog is called Rex", "rex died"),
    ("my dog rex is 12", "rex died yesterday"),
    ("our cat luna sleeps on my bed", "luna passed away last night"),
    ("i walk luna twice a day", "luna died on monday"),
    ("I drive a Fiat Punto", "the fiat died"),
    ("I have a Samsung Galaxy", "my samsung died"),
    ("my laptop is a Thinkpad X1", "thinkpad died"),
    ("my friend Rose lives in York", "rose died last week"),
    ("i live with my girlfriend rose", "rose left me"),
]


def _told(somebody):
    return {each.text for each in somebody.beliefs() if each.type != "event"}


@pytest.mark.parametrize(("before", "said"), OTHER_SENSE + OTHER_BEARER)
def test_a_word_that_only_sounds_so_ends_nothing(somebody, before, said):
    somebody.remember(before)
    told = _told(somebody)
    assert told
    somebody.remember(said)
    assert told <= _told(somebody)


@pytest.mark.parametrize(("before", "said"), SAME_SENSE + THE_BEARER)
def test_what_is_meant_is_over(somebody, before, said):
    somebody.remember(before)
    told = _told(somebody)
    somebody.remember(said)
    assert told.isdisjoint(_told(somebody))
