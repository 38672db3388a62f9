"""The learned order of the first results: the weights, and what they cannot change."""

from __future__ import annotations

import numpy as np
import pytest

from beliefledger import open_memory
from beliefledger.ledger.data_files import data
from beliefledger.projections import answer_order
from beliefledger.search.options import SearchOptions

NAMES = answer_order.NAMES


@pytest.fixture
def memory(tmp_path):
    with open_memory(tmp_path / "ledger", consent="consent", embedder="words-3") as opened:
        for day, words in enumerate(
            (
                "I live in Lisbon.",
                "the ferry was late and the harbour smelled of tar",
                "I moved to Porto.",
                "my sister Maria lives in Braga",
                "what should I see in Lisbon?",
            ),
            start=1,
        ):
            opened.remember("ana", words, said_at=f"2026-03-0{day}")
        yield opened


def _weighing(monkeypatch, **weights):
    row = np.array([weights.get(name.replace(" ", "_"), 0.0) for name in NAMES])
    monkeypatch.setattr(answer_order, "weights", lambda: row)


def _texts(memory, question="where do I live?", **asked):
    return [each.text for each in memory.search("ana", question, **asked).results]


def test_there_is_a_weight_for_each_feature_and_no_other():
    weights = data("beliefledger.projections", "answer_order.yaml")["weights"]
    assert tuple(weights) == NAMES
    assert all(weights[name] > 0 for name in ("place", "meaning", "novel newer now", "renews now"))
    assert weights["theirs now"] < 0
    assert weights["taken up now"] < 0 < weights["taken up past"]


def test_without_weights_the_order_is_that_of_the_rules(memory, monkeypatch):
    _weighing(monkeypatch, place=1.0)
    by_rules = _texts(memory)
    _weighing(monkeypatch)
    assert _texts(memory) == by_rules


def test_what_took_a_place_comes_first_whatever_the_weights(memory, monkeypatch):
    for weights in ({"place": -1.0}, {"score": -1.0}, {"newer_now": -9.0}, {"meaning": 5.0}):
        _weighing(monkeypatch, **weights)
        told = _texts(memory)
        assert "User moved to Porto" in told[:-1]
        place = told.index("User moved to Porto")
        assert place < next(at for at, each in enumerate(told) if each == "I live in Lisbon.")


def test_the_weights_order_the_others_and_lose_none(memory, monkeypatch):
    by_rules = _texts(memory)
    _weighing(monkeypatch, newer_now=1.0)
    newest_first = _texts(memory)
    assert sorted(newest_first) == sorted(by_rules)
    assert newest_first != by_rules


def test_fewer_results_are_the_first_of_more(memory):
    many = _texts(memory, k=10)
    for limit in range(1, len(many)):
        assert _texts(memory, k=limit) == many[:limit]


@pytest.mark.parametrize(
    "options", [SearchOptions(profile="recall"), SearchOptions(diversity=0.5)], ids=str
)
def test_other_orders_are_left_as_they_are(memory, monkeypatch, options):
    before = _texts(memory, options=options)
    _weighing(monkeypatch, place=-5.0, newer_now=9.0)
    assert _texts(memory, options=options) == before


def _known(*rows):
    known = np.zeros((len(rows), len(NAMES)))
    for number, row in enumerate(rows):
        for name, value in row.items():
            known[number, NAMES.index(name)] = value
    return known


def _order(*rows, now=True):
    weighed = np.zeros(len(NAMES))
    weighed[NAMES.index("score")] = 1.0
    known = _known(*rows)
    sure = known[:, NAMES.index("kind surely")]
    return answer_order.order(known @ weighed, sure, now=now)


def test_the_first_of_now_gives_way_only_to_what_is_far_more_probable():
    assert _order({"score": 1}, {"score": 1.4}, {"score": 1.2}) == [0, 1, 2]
    assert _order({"score": 1}, {"score": 1.6}, {"score": 1.2}) == [1, 2, 0]
    assert _order({"score": 1}, {"score": 1.1}, now=False) == [1, 0]


def test_the_first_that_has_a_time_gives_way_to_none_without_one():
    timed = {"score": 1, "kind surely": 1}
    assert _order(timed, {"score": 9}) == [0, 1]
    assert _order(timed, {"score": 9, "kind surely": 1}) == [1, 0]
    assert _order(timed, {"score": 9}, now=False) == [1, 0]


def test_what_ends_comes_after_what_else_was_said_with_it(memory, monkeypatch):
    memory.remember("ana", "My son Emil works at IKEA.", said_at="2026-03-07")
    memory.remember("ana", "Emil quit IKEA, he's at Lidl now", said_at="2026-03-08")
    _weighing(monkeypatch, place=-5.0, of_the_slot=9.0)
    told = _texts(memory, "where does Emil work?")
    assert told.index("Emil quit IKEA, he's at Lidl now") < told.index("Emil quit IKEA")
