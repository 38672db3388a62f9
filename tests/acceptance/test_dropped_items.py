"""Of several things that somebody has listed one is let go, and the others stay."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("turns", "over", "stands"),
    [
        (
            (
                "our etsy shop sells candles, soaps and bath bombs",
                "bath bombs are gone from the range, too much hassle w shipping",
            ),
            ("bombs and", "soaps and bath"),
            ("candles and soaps",),
        ),
        (
            ("kids do swimming, chess and cubs", "chess club folded, teacher left"),
            ("swimming, chess",),
            ("swimming and cubs",),
        ),
        (
            (
                "weekly schedule: gym mon, choir tues, pottery thurs",
                "pottery is over till september, term ended",
            ),
            ("pottery thurs",),
            ("gym mon", "choir"),
        ),
        (
            ("we've netflix, disney plus and now tv", "binned netflix, prices are a joke"),
            ("'ve netflix",),
            ("disney plus and now tv",),
        ),
        (
            ("I'm applying for masters at Lund, Uppsala and KTH", "Uppsala rejected me :("),
            ("Lund, Upp",),
            ("Lund and KTH",),
        ),
        (
            ("we are 5 devs and one designer", "designer left and they wont backfill her"),
            ("one designer",),
            ("5 devs",),
        ),
        (
            ("we have 3 chickens, Dolly, Cilla and Lulu", "fox got Cilla last night"),
            ("Dolly, Cilla",),
            ("Dolly and Lulu",),
        ),
        (
            (
                "I pay for Netflix, Spotify and Disney+",
                "cancelled disney today, kids never watch it",
            ),
            ("Disney+",),
            ("Netflix and Spotify",),
        ),
        (
            ("I use Python, Go and Rust at work", "I stopped using Rust"),
            ("Rust at work",),
            ("Python and Go at work",),
        ),
        (
            ("I live in Leeds and I subscribe to Netflix, Spotify and HBO", "I cancelled HBO"),
            ("Spotify and HBO",),
            ("Leeds", "Netflix and Spotify"),
        ),
        (("i do yoga and boxing", "dropped boxing after the injury"), ("and boxing",), ("yoga",)),
        (("i use slack, teams and zoom", "teams is gone now"), ("teams and",), ("slack and zoom",)),
        (
            ("our shop sells candles, soaps and bath bombs", "sold 5 candles today"),
            (),
            ("candles, soaps",),
        ),
        (("I have two sons, Tom and Ben", "Tom moved out"), (), ("two sons", "Tom", "Ben")),
        (("I have three cats: Miso, Tofu and Nori.", "Nori died."), ("three",), ("Miso", "Tofu")),
        (
            ("i play guitar, bass and drums", "almost sold the bass yesterday"),
            (),
            ("guitar, bass and drums",),
        ),
        (("I live with Tom, Ana and Bea", "Bea left early today"), (), ("Tom, Ana and Bea",)),
        (
            ("we've netflix, disney plus and now tv", "netflix is down again"),
            (),
            ("netflix, disney",),
        ),
        (("i teach maths, physics and chemistry", "physics is over for today"), (), ("physics",)),
        (("i play guitar, bass and drums", "my drums teacher quit"), (), ("drums",)),
    ],
)
def test_one_of_a_list_goes_and_the_others_stay(somebody, turns, over, stands):
    somebody.ends_with(turns, over, stands)


@pytest.mark.parametrize(
    ("turns", "asked", "words", "over"),
    [
        (
            ("I subscribe to Netflix, Spotify and HBO.", "I cancelled HBO."),
            "What do I subscribe to?",
            "Netflix and Spotify",
            "and HBO",
        ),
        (
            ("we keep the heating on 19 in the winter", "bills were mad so its 17 now"),
            "how warm do we keep it?",
            "heating on 17",
            "on 19",
        ),
        (
            ("I play guitar, bass and drums.", "quit drums"),
            "what do I play?",
            "guitar and bass",
            ",",
        ),
    ],
)
def test_what_is_left_is_what_an_agent_is_told(somebody, turns, asked, words, over):
    for each in turns:
        somebody.remember(each)
    first = somebody.search(asked).results[0]
    assert words in first.text
    told = somebody.memory.context(somebody.who, asked).lines
    assert any(words in each.text for each in told)
    now = [each.text for each in told if each.section in ("memories", "profile")]
    assert not any(over in each and words not in each for each in now)


@pytest.mark.parametrize(
    ("told", "later"),
    [
        (
            "locked out, luckily Mrs Adeyemi has our spare key, she made me tea and judged me",
            "ive dropped the key in with Gavin, the blue door",
        ),
        ("i look after Tom, Bella and Max", "dropped Bella off at school"),
        ("my sister walks Rex, she feeds the cats and waters the plants", "lost the cats"),
    ],
)
def test_what_goes_on_with_another_clause_is_no_list(somebody, told, later):
    notes = [each.text for each in somebody.believed_after(told, later) if "notes" not in each.text]
    cut = [each for each in notes if each not in (told, later) and each in told]
    assert not cut
    assert not any("our spare she" in each for each in notes)
