"""docs/behaviours.md names every file of tests, and what it is about."""

from __future__ import annotations

import behaviours
import pytest


def test_the_page_has_every_file_and_what_it_is_about():
    assert behaviours.written() == behaviours.files(), "run `make behaviours`"


def test_every_file_says_what_it_is_about():
    assert [file for file, about in behaviours.files().items() if not about] == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("test_a_byte_is_named", "A byte is named"),
        ("test_another_s_key_opens_nothing[sqlite-a::b]", "Another's key opens nothing"),
        ("TestStore::test_it_is_full", "It is full"),
    ],
)
def test_the_name_of_a_test_is_a_sentence(name, said):
    assert behaviours.sentence(name) == said


def test_variants_of_a_test_are_one_sentence():
    ids = ["tests/t.py::test_it_is_so[a]", "tests/t.py::test_it_is_so[b]", "tests/u.py::test_x"]
    assert behaviours.sentences(ids) == {"tests/t.py": {"It is so": 2}, "tests/u.py": {"X": 1}}
