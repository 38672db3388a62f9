"""How probably a turn tells something new, and which tell nothing of the speaker that is so now."""

import pytest

from beliefledger.projections.novelty import THEIRS, UNREAL, aside, score

NEW = [
    "the dentist moved me to friday at 8:15",
    "gave up on the tram, cycling to work since monday",
    "landlady put the rent up again, 870 from october on",
    "sold the Trek and bought a Canyon",
    "We have moved. The new address is 14 Orchard Road.",
    "i switched from tea to coffee",
    "finished the pottery course, started one in welding",
]
OLD = [
    "my dentist is Dr Falk",
    "I work at a bakery in Ghent",
    "what is a good name for a cat?",
    "i love rainy days",
    "maybe i should learn Finnish some day",
    "I would love to live in Lisbon one day",
]
ASIDE = [
    ("Priya from design got a brand-new MacBook Air today", THEIRS),
    ("my friend Lena has adopted a greyhound, such a calm dog", THEIRS),
    ("bought my dad a shirt for fathers day, XXL", THEIRS),
    ("the design team has its standup at 11:00", THEIRS),
    ("maybe next year ill give elixir a go, we'll see", UNREAL),
    ("we're considering a heat pump but the quote made us cry", UNREAL),
    ("they asked if id fancy the platform team, told them no thanks", UNREAL),
    ("when i was a kid i played the trumpet, my poor neighbours", UNREAL),
    ("my manager left, so im reporting to Dimitri now", 0),
    ("my wife and i moved to Porto last month", 0),
    ("Oksana went off to Lisbon so I report to Dimitri now", 0),
    ("I drive a Honda Jazz", 0),
]


@pytest.mark.parametrize("text", NEW)
def test_a_turn_that_tells_a_change_is_probably_new(text):
    assert score(text) >= 0.5


@pytest.mark.parametrize("text", OLD)
def test_what_is_told_first_or_only_supposed_is_probably_not_new(text):
    assert score(text) < 0.5


@pytest.mark.parametrize(("text", "bits"), ASIDE)
def test_what_is_of_others_or_not_so_stands_aside(text, bits):
    assert aside(text, score(text)) == bits


def test_how_a_word_is_spelt_in_the_middle_of_a_long_text_does_not_count():
    assert score("x" * 400 + " moved to Porto") == score("x" * 400 + " lives in Porto")
