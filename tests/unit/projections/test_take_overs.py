"""What takes the place of the first result: the weights, and where nothing is asked of them."""

from __future__ import annotations

import numpy as np
import pytest

from beliefledger import open_memory
from beliefledger.ledger.data_files import data
from beliefledger.projections import take_overs

QUESTION = "what day are my bins collected?"
OLD, NEW = (
    "for the record they collect our bins on thursdays round here",
    "a leaflet came thru the door, so tuesdays for the lorry",
)


@pytest.fixture
def memory(tmp_path):
    with open_memory(tmp_path / "ledger", consent="consent", embedder="words-2") as opened:
        for day, words in enumerate((OLD, "the soup was far too salty", NEW), start=1):
            opened.remember("ana", words, said_at=f"2026-03-0{day}")
        yield opened


def _weighing(monkeypatch, **weights):
    row = np.array([weights.get(each.replace(" ", "_"), 0.0) for each in take_overs.NAMES])
    monkeypatch.setattr(take_overs, "weights", lambda _: row)


def _found(memory, question=QUESTION):
    return memory.search("ana", question, valid_at="2026-03-20", record=False).results


def test_there_is_a_weight_for_each_feature_and_no_other():
    for weights in data("beliefledger.projections", "take_overs.yaml").values():
        assert tuple(weights) == take_overs.NAMES
        assert all(weights[each] > 0 for each in ("novel", "novel near"))
        assert all(weights[each] < 0 for each in ("only asks", "crowd", "rivals"))


def test_what_surely_takes_a_place_comes_before_it_which_tells_so(memory, monkeypatch):
    _weighing(monkeypatch, bias=-9.0)
    before = [each.text for each in _found(memory)]
    assert OLD in before[0]
    _weighing(monkeypatch, novel=40.0, bias=60.0)
    first, second, *_ = _found(memory)
    assert NEW in first.text
    assert second.text == before[0]
    assert second.taken_up_by == first.memory.evidence[-1].turn_id


def test_nothing_takes_a_place_where_all_weigh_little(memory, monkeypatch):
    _weighing(monkeypatch, bias=-9.0)
    assert OLD in _found(memory)[0].text


@pytest.mark.parametrize(
    "question", ["what day were my bins collected before?", "what day are Tom's bins collected?"]
)
def test_only_what_is_so_now_of_the_subject_is_looked_at(memory, monkeypatch, question):
    def never(*_):
        raise AssertionError

    monkeypatch.setattr(take_overs, "looked_at", never)
    _found(memory, question)
