"""Vectors of words that are fitted to questions: the data, and small fits."""

from __future__ import annotations

import random

import numpy as np
import pytest

from beliefledger.ledger.data_files import content
from beliefledger.projections import word_vectors
from beliefledger.projections.word_vectors import FILES, every_term, packed, unpacked
from beliefledger.tools.bench import train_words
from beliefledger.tools.bench.blocks import HALVES, blocks
from beliefledger.tools.bench.histories import KINDS, histories
from beliefledger.tools.bench.questions import Question, asked_of, items, questions


@pytest.fixture(scope="module")
def halves():
    return {half: list(questions(half)) for half in HALVES}


def test_each_line_of_a_block_has_two_questions_and_each_item_too(halves):
    lines = {half: sum(len(block.told) for block in blocks(half)) for half in HALVES}
    for half in HALVES:
        assert len(halves[half]) == 2 * (lines[half] + len(list(items(half))))
        for block in blocks(half, single=True):
            for number in range(1, len(block.told) + 1):
                assert len(asked_of(block, number)) == len(set(asked_of(block, number))) == 2
    assert len(halves["test"]) > 4_000


def test_no_person_is_of_both_halves(halves):
    of = [{each.of for each in halves[half]} for half in HALVES]
    assert of[0].isdisjoint(of[1])


def test_a_question_has_what_answers_it_and_other_texts(halves):
    for each in halves["tune"]:
        assert each.words not in each.answers
        assert each.others or each.near
        assert not set(each.answers) & set(each.near)


def test_stop_words_and_the_question_mark_are_terms():
    assert every_term("Where is it?") == ["where", "is", "it", "?"]
    assert every_term("Where IS it") == ["where", "is", "it"]


def test_a_file_tells_whether_stop_words_count():
    rows = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    for whole in (True, False):
        read = unpacked(packed(["where", "porto"], rows, 0.0, whole=whole))
        assert read.whole is whole
        where, _ = read.embed(["where", "porto"])
        assert bool(where.any()) is whole
    ours, before = (
        unpacked(content("beliefledger.projections", FILES[name][0]))
        for name in ("words-3", "words-2")
    )
    assert (ours.whole, before.whole) == (True, False)
    assert set(before.places) < set(ours.places)


def test_a_batch_has_one_question_of_a_person_and_another_text_for_each():
    every = [
        Question(f"q{n}", f"person {n // 3}", (f"a{n}", f"later {n}"), (f"o{n}",), (f"n{n}",))
        for n in range(3 * train_words.TOGETHER)
    ]
    found = list(train_words.batches(every, random.Random(1)))
    assert len(found) == 3
    for batch in found:
        assert len(batch.asked) == train_words.TOGETHER
        assert len({int(words[1:]) // 3 for words in batch.asked}) == train_words.TOGETHER
        for words, answer, other in zip(batch.asked, batch.answers, batch.others, strict=True):
            number = words[1:]
            assert answer in {f"a{number}", f"later {number}"}
            assert other in {f"o{number}", f"n{number}"}


def test_a_fit_brings_questions_near_to_what_answers_them(monkeypatch, capsys):
    """Words that nothing had in common."""
    monkeypatch.setattr(train_words, "TOGETHER", 4)
    monkeypatch.setattr(train_words, "BESIDE", 4)
    pairs = [
        ("which bus?", "it is the blue tram"),
        ("my boss?", "Rita decides here"),
        ("the dog?", "we got a poodle"),
        ("what lunch?", "soup at noon"),
    ]
    every = [
        Question(asked, str(n), (answer,), ("nothing happened",))
        for n, (asked, answer) in enumerate(pairs)
    ]
    before = unpacked(content("beliefledger.projections", FILES["words-2"][0]))
    told = np.eye(4, 8, dtype=np.float32)
    named, vectors = train_words.learned(
        before, every, [answer for _, answer in pairs], told, 40, every
    )
    fitted = unpacked(packed(named, vectors, train_words.unknown_of(vectors), whole=True))
    near = fitted.embed([asked for asked, _ in pairs]) @ fitted.embed([a for _, a in pairs]).T
    assert (near.argmax(axis=1) == np.arange(4)).all()
    assert "of ten 1.000" in capsys.readouterr().out.splitlines()[-1]


def test_the_file_that_ships_puts_what_answers_first_more_often_than_the_one_before(halves):
    some = halves["test"][::10]
    right = {}
    for name in ("words-3", "words-2"):
        vectors = unpacked(content("beliefledger.projections", word_vectors.FILES[name][0]))
        asked = vectors.embed([each.words for each in some])
        texts = [(each.answers[-1], *each.others, *each.near) for each in some]
        near = [vectors.embed(group) @ row for group, row in zip(texts, asked, strict=True)]
        right[name] = sum(int(each.argmax()) == 0 for each in near) / len(some)
    assert right["words-3"] > right["words-2"] + 0.05


@pytest.mark.parametrize("kind", KINDS)
def test_a_history_tells_what_answers_each_of_its_questions(kind):
    some = list(histories(kind))
    for history in some:
        words = [said for _, said in history.turns]
        days = [said_at for said_at, _ in history.turns]
        assert days == sorted(set(days))
        assert history.asked_at > days[-1]
        for asked in history.asks:
            assert asked.told(asked.current) == "answer"
            assert asked.current in words
            if asked.outdated is not None:
                assert words.index(asked.outdated) < words.index(asked.current)
                assert asked.told(asked.outdated) == "outdated"
    assert [each.name for each in some] == [each.name for each in histories(kind)], "each time"
    changed = [asked.outdated is not None for each in some for asked in each.asks]
    assert 0.3 < sum(changed) / len(changed) < 0.7
