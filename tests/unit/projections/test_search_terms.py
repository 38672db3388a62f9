"""The terms that texts and questions are compared by."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from beliefledger.projections.search_terms import (
    STOP_WORDS,
    asked,
    forget,
    indexed,
    stems,
    terms,
    words,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  …!? —", []),
        ("🎉🎉", []),
        ("The cat's toys", ["the", "cat", "toys"]),
        ("Ana’s rock’n’roll", ["ana", "rocknroll"]),
        ("She'll buy a shell, I'll be ill", ["she", "buy", "a", "shell", "i", "be", "ill"]),
        ("We've we'd I'm they're don't", ["we", "we", "i", "they", "dont"]),
        ("snake_case and e-mail", ["snake", "case", "and", "e", "mail"]),
        ("3.5 km in 2026", ["3", "5", "km", "in", "2026"]),
        ("Café", ["café"]),
        ("Cafe\u0301", ["café"]),
        ("ＡＢＣ１２", ["abc12"]),
        ("我喜欢 茶🎉", ["我喜欢", "茶"]),
        ("Привет, Ёж", ["привет", "ёж"]),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


def test_terms_are_stems_without_stop_words():
    assert terms("She was moving the houses") == terms("move house")
    assert terms(" ".join(STOP_WORDS)) == []
    assert terms("") == []


def test_what_has_only_stop_words_is_compared_by_them():
    assert asked("Who are you?") == indexed("who are you") == ["who", "are", "you"]
    assert asked("Who are you, Bob?") == ["bob"]
    assert asked("") == []
    assert asked("tea, Tea and teas") == ["tea"]


def test_threads_agree():
    found = [f"{word}ing" for word in ("mov", "sleep", "cod", "walk", "read")] * 200

    def some(_):
        forget()
        return stems(found)

    with ThreadPoolExecutor(8) as pool:
        assert len({tuple(each) for each in pool.map(some, range(32))}) == 1
    assert stems(["moving"]) == ["move"]
