"""Words as people type them, read as if typed with care; spans stay those of what was typed."""

from __future__ import annotations

import pytest

from beliefledger.gate.rules.languages import is_foreign
from beliefledger.gate.rules.normalised import words_of


def read(text):
    return [word.low for word in words_of(text, 0, len(text))]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("btw im vegan", "i'm vegan"),
        ("hey so i live in Hull", "i live in hull"),
        ("ok, thanks, i work here", "i work here"),
        ("I live, by the way, in Hull", "i live , in hull"),
        ("i dont smoke lol", "i don't smoke ;"),
        ("id rather walk", "i'd rather walk"),
        ("my id is lost", "my id is lost"),
        ("ill call her", "i'll call her"),
        ("he fell ill", "he fell ill"),
        ("my boss's called Petra", "my boss is called petra"),
        ("my boss's car", "my boss's car"),
        ("my son's 7", "my son is 7"),
        ("my son's 7 toys", "my son's 7 toys"),
        ("my dogs called Rex", "my dog is called rex"),
        ("I teh lamp", "i the lamp"),
        ("U of M is near", "u of m is near"),
        ("love hiking", "i love hiking"),
        ("love that idea", "love that idea"),
        ("moved to Hull?", "moved to hull ?"),
        ("my cat 🐱 sleeps", "my cat ; sleeps"),
        ("i'm 25 i live in rome i study law", "i'm 25 ; i live in rome ; i study law"),
        ("the lamp i bought is broken", "the lamp i bought is broken"),
        ("I think i live well here", "i think i live well here"),
        ("i quit Siemens, started at Bosch", "i quit siemens , i started at bosch"),
        ("i woke up late, started at 10", "i woke up late , started at 10"),
        ("Quit Siemens, now work for Bosch", "i quit siemens , now i work for bosch"),
        ("I'm 27, work as a chef, got 3 kids", "i'm 27 , i work as a chef , i've got 3 kids"),
        ("I'm in Oslo, working at Equinor", "i'm in oslo , i'm working at equinor"),
        ("we had a girl, named her Nora", "we had a girl , i named her nora"),
        ("got married in May, moved to Hull", "i got married in may , i moved to hull"),
        ("I live in Bern, work in Zurich", "i live in bern , i work in zurich"),
        ("I want to live in Bern, work in Zurich", "i want to live in bern , work in zurich"),
        ("I'd love to quit, moved or not", "i'd love to quit , moved or not"),
        ("I heard he quit, moved to Porto", "i heard he quit , moved to porto"),
        ("he quit Siemens, started at Bosch", "he quit siemens , started at bosch"),
        ("I worked at Shell, moved to BP", "i worked at shell , moved to bp"),
        ("left my job at KPMG", "i left my job at kpmg"),
        ("left my keys at home", "left my keys at home"),
    ],
)
def test_words_are_read_as_meant(typed, meant):
    assert read(typed) == meant.split()


@pytest.mark.parametrize(
    "typed", ["haha i dont live w/ my gf tbh 😂 im in uni", "tbh", "🙂", "i'd"]
)
def test_every_word_points_at_what_was_typed(typed):
    at = 0
    for word in words_of(typed, 0, len(typed)):
        assert at <= word.start <= word.end <= len(typed)
        assert word.start == word.end or typed[word.start : word.end].lower() == word.text.lower()
        at = word.end


@pytest.mark.parametrize(
    "text",
    [
        "Ich wohne in Berlin und arbeite als Lehrer.", "J'habite à Lyon depuis trois ans.",
        "Vivo en Madrid y trabajo en un banco.", "Moro em Lisboa e trabalho como enfermeira.",
        "Abito a Roma con la mia ragazza.", "Ik woon in Utrecht en werk bij Philips.",
        "Jag bor i Stockholm och jobbar som lärare.", "Jeg bor i Oslo og har to katter.",
        "Mieszkam w Krakowie i pracuję w banku.", "Я живу в Москве.",
        "我住在北京。", "東京に住んでいます。",
        "أعيش في القاهرة", "मैं दिल्ली में रहता हूँ", "나는 서울에 살아요",
        "Bydlím v Praze a mám dva psy.",
        "Asun Helsingissä ja olen opettaja.", "Saya tinggal di Jakarta dan bekerja di bank.",
    ],
)  # fmt: skip
def test_another_language_is_recognised(text):
    assert is_foreign(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "...", "ok", "thanks!", "I live in São Paulo.", "My name is José García, from Bogotá.",
        "La La Land is the best.", 'Can you translate "ich wohne in Berlin"?', "love hiking",
        "no olives for me ever", "brother in law is a butcher", "energy bill is 210 a month",
        "moving in with Dan in march", "walk everywhere, no bike no car",
        "I had a croissant at Le Pain Quotidien", "8 am till 4 pm - 12 am till 8 am",
    ],
)  # fmt: skip
def test_english_and_what_is_too_short_are_not(text):
    assert not is_foreign(text)
