"""The words that restore a wallet: taken whole, and never taken for what people say."""

from __future__ import annotations

import random

import pytest

from beliefledger.ledger.redact import redact
from beliefledger.ledger.seeds import WORDS, phrases

LIST = sorted(WORDS)
# Ordinary words are among them: the phrase must not end at one.
TWELVE = "about zoo they this ability will only over again what thing horse".split()
MISTYPED = "about zoo tehy this abilty will only over again what thing horse".split()
OTHERS = "correct battery staple plinth gravel maroon tundra walnut sextant quarry lantern oboe"


def drawn(count, seed=3):
    return random.Random(seed).sample(LIST, count)


def numbered(words, form="{}. {}\n"):
    return "".join(form.format(n, word) for n, word in enumerate(words, 1))


def left_of(text, words):
    """The words that are still there, outside of what announces them."""
    kept = redact(text).text.lower()
    return [word for word in words if word.lower() in kept.split("mark", 1)[-1].split("end")[0]]


@pytest.mark.parametrize("count", [12, 15, 18, 21, 24])
@pytest.mark.parametrize(
    "written",
    [
        " ".join,
        ", ".join,
        ",".join,
        "\n".join,
        " - ".join,
        lambda words: " ".join(words).upper(),
        lambda words: " ".join(words).title(),
        numbered,
        lambda words: numbered(words, "{}) {} "),
        lambda words: numbered(words, "{}: {}, "),
        lambda words: '["' + '", "'.join(words) + '"]',
        "\u2028".join,
        "\u200b ".join,
    ],
)
def test_words_of_the_list_in_a_row_are_taken_without_a_cue(count, written):
    words = drawn(count)
    assert left_of(f"mark {written(words)} end", words) == []


@pytest.mark.parametrize(
    "cue",
    [
        "my seed phrase is mark",
        "My Seed Phrase: mark",
        "recovery phrase = mark",
        "the mnemonic for my ledger is: mark",
        'backup phrase "mark',
        "my secret recovery phrase (metamask) is mark",
        "here are my wallet words:\nmark",
        "my 12 word seed phrase is mark",
        "the twelve words of my wallet are mark",
        "seed words - mark",
        "mnemonic phrase for the old wallet -> mark",
    ],
)
@pytest.mark.parametrize("words", [TWELVE, MISTYPED, OTHERS.split(), drawn(24)])
@pytest.mark.parametrize("written", [" ".join, ", ".join, numbered])
def test_words_that_are_announced_are_taken_whatever_they_are(cue, words, written):
    text = cue.replace("mark", "") + written(words) + " end of it, and I live in Porto"
    kept = redact(text).text
    assert [word for word in words if f" {word} " in f" {kept.split('[', 1)[-1]} "] == []
    assert "I live in Porto" in kept
    assert redact(kept).text == kept


@pytest.mark.parametrize(
    "text",
    [
        "my seed phrase starts with abandon ability able about",
        "recovery phrase: abandon ability able about above absent",
    ],
)
def test_a_part_of_a_phrase_is_taken_where_it_is_announced(text):
    assert "ability" not in redact(text).text
    assert "about" not in redact(text).text


def test_a_phrase_that_repeats_its_words_is_known_by_its_checksum():
    assert "abandon" not in redact("abandon " * 11 + "about").text
    assert redact("abandon " * 12).text == "abandon " * 12


@pytest.mark.parametrize(
    "text",
    [
        "My seed phrase is stored in a safe place and nobody knows where it is except my wife",
        "I wrote my recovery phrase on paper and keep it at home in a drawer so that I find it",
        "you can easily find what you need. This will also help you maintain your closet",
        "Mnemonics are memory aids that associate new information with something familiar.",
        "* 1 cup pumpkin seeds\n* 1/2 cup honey\n* 2 spoons maple syrup\n* 1/4 cup brown sugar",
        "| Day 1 | Agent 1 | Agent 2 | Day 2 | Agent 5 | Agent 6 | Day 3 | Agent 2 | Agent 3 |",
        "Use seed 42 and seed 43",
        "The 12 words are on the list that I gave you when we met at the station last week",
        " ".join(drawn(11)),
    ],
)
def test_what_is_no_phrase_survives(text):
    assert redact(text).text == text


def test_a_phrase_needs_twelve_words_of_the_list_and_no_eleven_beside_another():
    assert left_of("mark " + " ".join([*drawn(6), "the", *drawn(11, 4)]) + " end", drawn(6))


def hidden(text):
    """The text with its phrases as #."""
    at, kept = 0, ""
    for start, end in sorted(phrases(text.lower())):
        if end > at:
            kept += text[at:start] + "#" * (start >= at)
            at = end
    return kept + text[at:]


ODD = OTHERS.split()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # beside its cue without a sign: ten of the twelve have to be of the list
        (f"recovery phrase {' '.join(MISTYPED)} ok", "recovery phrase # ok"),
        (f"recovery phrase and it is {' '.join(MISTYPED)}", "recovery phrase and it is #"),
        (f"recovery phrase {' '.join([*MISTYPED[:11], 'hrse'])}", None),
        ("recovery phrase abandon ability able", None),
        ("recovery phrase: abandon ability able", "recovery phrase: #"),
        ("recovery phrase: abandon ability", None),
        ("recovery phrase: abandon plinth ability gravel able", None),
        ("recovery phrase: abandon plinth ability able", "recovery phrase: #"),
        ("recovery phrase: abandon ability able the about", "recovery phrase: # the about"),
        # what may be of a plant is taken only where it surely is none
        (f"seed: {' '.join(ODD)}", None),
        (f"recovery phrase: {' '.join(ODD)}", "recovery phrase: #"),
        # a sentence ends it
        (f"recovery phrase: {' '.join(ODD[:6])}. {' '.join(ODD[6:])}", None),
        (f"recovery phrase: {' '.join(ODD[:6])}\n\n{' '.join(ODD[6:])}", None),
        (f"recovery phrase: {' '.join(ODD[:6])}\n{' '.join(ODD[6:])}", "recovery phrase: #"),
        # what is set out as a list is taken with words of grammar in it
        (
            "recovery phrase: the, and, or, is, him, plinth, gravel, maroon, tundra, elm oak sky",
            "recovery phrase: #",
        ),
        (
            "recovery phrase: the, and, or, is, him, plinth, gravel, maroon, tundra walnut oak sky",
            None,
        ),
        # and no more words than a phrase can have
        (
            f"recovery phrase: {', '.join(f'{word}a, {word}b' for word in [*ODD, 'x', 'y', 'z'])}",
            "recovery phrase: #, xa, xb, ya, yb, za, zb",
        ),
        (f"recovery phrase: {' '.join(ODD)} fjord gnome", "recovery phrase: # fjord gnome"),
        (f"recovery phrase: {' '.join(ODD)} zoo fjord", "recovery phrase: # fjord"),
        (f"recovery phrase: {', '.join(ODD)}, fjord gnome", "recovery phrase: # gnome"),
    ],
)
def test_exactly_the_words_of_the_phrase_are_lost(text, wanted):
    if wanted is None:
        wanted = text
    assert hidden(text) == wanted


def test_few_of_the_words_of_a_phrase_come_twice():
    words = drawn(12, 5)
    once, twice = [*words[:11], words[0]], [*words[:10], *words[:2]]
    assert hidden(f"plinth {' '.join(once)} plinth") == "plinth # plinth"
    assert hidden(" ".join(twice)) == " ".join(twice)


def test_the_label_of_a_phrase_is_not_a_part_of_it():
    words = " ".join(drawn(12, 6))
    for label in ("wallet:", "wallet phrase =", "the phrase >"):
        assert hidden(f"{label} {words}") == f"{label} #"


def test_a_phrase_may_stand_anywhere_in_a_long_text():
    for count in range(26):
        before = " ".join(["plinth"] * count)
        assert hidden(f"{before} {' '.join(drawn(12, 7))} plinth") == f"{before} # plinth"


def test_words_that_stand_far_apart_are_no_phrase():
    words = drawn(12, 8)
    for mark, gap, found in (
        ("-", 16, True), ("-", 17, False), (" ", 200, True), (" ", 201, False)
    ):  # fmt: skip
        text = (mark * gap).join(words)
        assert (hidden(text) == "#") is found


@pytest.mark.parametrize("count", [13, 14, 16, 25, 27])
def test_of_another_number_than_a_phrase_has_the_words_have_no_checksum(count):
    assert hidden("abandon " * count) == "abandon " * count


LONG = (
    "lizard resource attract unveil legend box expect delay salad usual lawsuit seed"
    " dolphin dry fox glad hobby ivory jazz kite lemon mango nest ocean"
).split()


@pytest.mark.parametrize(
    "text",
    [
        "My seed phrase: " + "\n".join(f"word {n}: {word}" for n, word in enumerate(LONG, 1)),
        "My seed phrase: " + ", ".join(f"Word #{n} = {word}" for n, word in enumerate(LONG, 1)),
        "My seed phrase: " + " then ".join(LONG),
        "My seed phrase: " + "\n".join(f"row {n}: {word}" for n, word in enumerate(LONG, 1)),
        "my seed phrase: " + (" " * 20).join(LONG),
        (" " * 20).join(LONG),
        "\n".join(f"word {n}: {word}" for n, word in enumerate(LONG[:12], 1)),
        ", ".join(LONG[:11]) + " and seed",
    ],
)
def test_labels_columns_and_a_last_and_hide_no_word_of_a_phrase(text):
    left = redact(text).text.lower()
    assert [word for word in LONG if word in left.replace("seed phrase", "")] == []
