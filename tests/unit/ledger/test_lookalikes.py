"""What patterns see of a text, and where that is in the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beliefledger.ledger.lookalikes import fold, plain, undisguised

INVISIBLE = [
    *("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\xad", "\u034f", "\u061c", "\u180e"),
    *("\u200e", "\u202e", "\u2066", "\u2069", "\ufe0f", "\U000e0100", "\U000e0041", "\U000e007f"),
    *("\u115f", "\u1160", "\u3164", "\uffa0", "\u2063", "\u206a", "\ufff9", "\0", "\x7f", "\x1b"),
]
BREAKS = ["\u2028", "\u2029", "\x85", "\v", "\f", "\x1c", "\x1d", "\x1e"]
DISGUISED = ["раssword", "pаsswоrd", "ｐａｓｓｗｏｒｄ", "𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝", "𝓅𝒶𝓈𝓈𝓌ℴ𝓇𝒹", "ⓟⓐⓢⓢⓦⓞⓡⓓ",
             "ᴘᴀꜱꜱᴡᴏʀᴅ", "ρassword", "p\u0336a\u0336ssword", "pаѕѕԝоrd"]  # fmt: skip


@pytest.mark.parametrize("char", INVISIBLE)
@pytest.mark.parametrize("see", [fold, plain])
def test_what_is_invisible_is_not_seen(see, char):
    text = f"pass{char}word"
    seen = see(text)
    assert seen.text == "password"
    assert seen.span(0, 8) == (0, len(text))
    assert seen.span(4, 8) == (5, 9)
    assert seen.place(5, 9) == (4, 8)


@pytest.mark.parametrize("char", BREAKS)
@pytest.mark.parametrize("see", [fold, plain])
def test_every_line_break_is_one(see, char):
    assert see(f"a{char}b").text == "a\nb"


@pytest.mark.parametrize("word", DISGUISED)
@pytest.mark.parametrize("see", [fold, plain])
def test_a_disguised_word_is_seen_as_it_is_read(see, word):
    seen = see(f"my {word}!")
    assert seen.text.lower() == "my password!"
    assert seen.source[slice(*seen.span(3, 11))] == word


@pytest.mark.parametrize(
    "text",
    [
        "Моя жена живёт в Москве",
        "Η γυναίκα μου μένει στην Αθήνα",
        "naïve café’s “déjà vu” — 10 km², ½, ①, 日本語, kadın, Straße, 👩\u200d❤️\u200d👨, 🇵🇹",
        "علی\u200cرضا می\u200cخواهم",
        "Zoe\u0308 and n\u0303andu\u0301",
    ],
)
def test_reading_leaves_what_nobody_disguised(text):
    assert plain(text).text == text


def test_a_whole_word_of_another_script_is_read_folded_and_kept_as_it_is():
    seen = plain("My wife is Роса, I saw her")
    assert seen.text == "My wife is Poca, I saw her"
    assert seen.restored("Poca") == "Роса"


def test_a_letter_of_another_script_alone_is_read_as_ours():
    assert plain("І live in Porto").text == "I live in Porto"


def test_comparing_joins_and_parts_no_words():
    assert undisguised("Lisbon—Porto’s “x”") == "Lisbon—Porto’s “x”"
    assert undisguised("Lіs\u200bbon") == "Lisbon"
    assert undisguised("Zoe\u0308") == undisguised("Zoë") == "Zoë"


EDGES = [
    # the first and the last of each range that nobody sees, then what is seen beside them
    (0x0, 0x8, [0x9]), (0xE, 0x1B, []), (0x1F, 0x1F, [0x20]), (0x7F, 0x84, [0x7E]),
    (0x86, 0x9F, []), (0x200B, 0x200F, []), (0x202A, 0x202E, []), (0x2060, 0x206F, [0x2070]),
    (0x180B, 0x180F, [0x180A, 0x1810]), (0xFFF9, 0xFFFB, [0xFFF8, 0xFFFC]),
    (0x1D173, 0x1D17A, [0x1D172, 0x1D17B]), (0x1BCA0, 0x1BCA3, [0x1BC9F, 0x1BCA4]),
    (0xE0000, 0xE0FFF, [0xE1000]), (0xFE00, 0xFE0F, [0xFE10]),
    # marks over and under letters
    (0x300, 0x36F, [0x2FF]), (0x1AB0, 0x1AFF, [0x1B00]), (0x1DC0, 0x1DFF, []),
    (0x20D0, 0x20FF, [0x20CF]), (0xFE20, 0xFE2F, [0xFE30]),
]  # fmt: skip


@pytest.mark.parametrize(("first", "last", "seen"), EDGES)
def test_of_what_is_invisible_all_is_left_out_and_nothing_beside_it(first, last, seen):
    for code in {first, (first + last) // 2, last}:
        assert fold(f"a{chr(code)}b").text == "ab", hex(code)
    for code in seen:
        assert len(fold(f"a{chr(code)}b").text) == 3, hex(code)


def test_what_anybody_types_is_seen_as_it_is():
    usual = "".join(map(chr, range(0x20, 0x7F))) + "\t\n"
    for see in (fold, plain):
        assert see(usual).text == usual
        assert see(f"{usual}\u200b").text == usual
        assert see(f"{usual}раssword").text == f"{usual}password"
    assert undisguised(f"{usual}ë") == f"{usual}ë"


def test_spaces_and_the_ends_of_lines_are_those_of_everybody():
    for char in "\u2000\u200a\xa0\u1680\u202f\u205f\u2800\u3000\ue000\ue0ff":
        assert fold(f"a{char}b").text == "a b"
    assert fold("a\ue100b\u2001").text == "a\ue100b "
    for text, seen in (
        ("a\rb", "a\nb"), ("a\r\nb", "a\r\nb"), ("a\r\rb", "a\n\nb"), ("a\r", "a\n"),
        ("раssword\r\nb\r\nc", "password\r\nb\r\nc"), ("раssword\rb\nc", "password\nb\nc"),
    ):  # fmt: skip
        assert plain(text).text == seen


def test_nothing_has_a_place_too():
    for see in (fold, plain):
        for text in ("password", "a\u200bb"):
            seen = see(text)
            assert seen.span(1, 1) == (seen.span(1, 2)[0],) * 2
            assert seen.span(0, 0) == (0, 0)
    assert fold("p\u0336a\u0336").span(1, 2) == (2, 4)


def test_what_nobody_has_to_fold_is_the_text_itself():
    for see in (fold, plain):
        for text in ("password", "日本語"):
            seen = see(text)
            assert seen.text is seen.source is text
            assert seen.same
            assert (seen.span(1, 2), seen.place(1, 2)) == ((1, 2), (1, 2))
            assert seen.restored("password") == "password"
        assert not see("раssword").same


def test_a_name_in_another_script_is_left_in_the_midst_of_ours():
    for text in ("My wife lives in Жуковка and not in Porto", "I read ქართული there"):
        assert plain(text).text == text


def test_comparing_sees_no_controls():
    assert undisguised("Lis\0bon") == "Lisbon"
    assert undisguised("Lis\x0bbon") == "Lis\nbon"


TEXTS = st.text(st.one_of(st.characters(), st.sampled_from([*INVISIBLE, *BREAKS, *"аеіoпﬁΙ🄰"])))


@given(TEXTS, st.sampled_from([fold, plain]))
def test_every_part_that_is_seen_is_somewhere_in_the_text(text, see):
    seen = see(text)
    for at in range(len(seen.text)):
        start, end = seen.span(at, at + 1)
        assert 0 <= start < end <= len(text)
        assert seen.place(start, start + 1)[0] <= at
    assert see(seen.text).text == see(see(seen.text).text).text
    starts = [seen.span(at, at + 1)[0] for at in range(len(seen.text))]
    assert starts == sorted(starts)


@given(TEXTS)
def test_folding_twice_is_folding_once(text):
    assert fold(fold(text).text).text == fold(text).text
