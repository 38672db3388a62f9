"""What answers a question about now, of the results and of what was said after them: the weights,
what they do, and where nothing is asked of them."""

from __future__ import annotations

import numpy as np
import pytest

from beliefledger import open_memory
from beliefledger.ledger.data_files import data
from beliefledger.projections import answer_order, arrivals, take_overs
from beliefledger.projections.current_first import Placed

QUESTION = "what day are my bins collected?"
OLD, NEW = (
    "for the record they collect our bins on thursdays round here",
    "a leaflet came thru the door, so tuesdays for the lorry",
)


CHATTER = (
    "the soup was far too salty", "it rained all of sunday", "we saw a heron at the canal",
    "the printer jams again", "burnt the toast, twice", "the tram was full", "lost a glove",
    "finished the crossword", "a kite was stuck in the tree",
)  # fmt: skip


@pytest.fixture(params=["short", "long"])
def memory(tmp_path, request):
    """Of a short life, or of one in which much is told."""
    chatter = CHATTER if request.param == "long" else CHATTER[:1]
    with open_memory(tmp_path / "ledger", consent="consent", embedder="words-3") as opened:
        for day, words in enumerate((OLD, *chatter, NEW), start=1):
            opened.remember("ana", words, said_at=f"2026-03-{day:02}")
        yield opened


def _weighing(monkeypatch, topic=None, link=None):
    rows = [
        np.array([(given or {}).get(each.replace(" ", "_"), 0.0) for each in names])
        for names, given in ((arrivals.TOPIC, topic), (arrivals.LINKS, link))
    ]
    monkeypatch.setattr(arrivals, "weights", lambda _: arrivals.Weights(*rows))
    monkeypatch.setattr(take_overs, "weights", lambda _: rows[1][: take_overs.OF_TAKER])


def _found(memory, question=QUESTION):
    return memory.search("ana", question, valid_at="2026-03-25", record=False).results


def test_there_is_a_weight_for_each_feature_and_no_other():
    for weights in data("beliefledger.projections", "arrivals.yaml").values():
        assert tuple(weights) == ("topic", "link")
        assert tuple(weights["topic"]) == arrivals.TOPIC
        assert tuple(weights["link"]) == arrivals.LINKS
        assert all(weights["topic"][each] > 0 for each in ("score", "meaning", "kind fits"))
        assert all(weights["topic"][each] < 0 for each in ("only asks", "asks in general"))
        assert all(weights["link"][each] > 0 for each in ("near", "novel", "over"))
        assert all(weights["link"][each] < 0 for each in ("bias", "only asks", "rivals"))
    for weights in data("beliefledger.projections", "take_overs.yaml").values():
        assert tuple(weights) == take_overs.NAMES[: take_overs.OF_TAKER]
        assert all(weights[each] > 0 for each in ("novel", "novel near"))
        assert all(weights[each] < 0 for each in ("only asks", "crowd", "rivals"))


def test_what_is_about_a_question_is_told_by_nothing_that_tells_how_new_it_is():
    assert set(arrivals.TOPIC) <= set(answer_order.NAMES)
    assert not [each for each in arrivals.TOPIC if "novel" in each or "newer" in each]


def test_what_surely_takes_a_place_comes_before_it_which_tells_so(memory, monkeypatch):
    nothing = {"bias": -9.0}
    _weighing(monkeypatch, {"meaning": 9.0}, nothing)
    before = [each.text for each in _found(memory)]
    assert OLD in before[0]
    _weighing(monkeypatch, {"meaning": 9.0}, {"near": 300.0})
    first, *others = _found(memory)
    assert NEW in first.text
    old = next(each for each in others if each.text == before[0])
    assert old.taken_up_by == first.memory.evidence[-1].turn_id


def test_nothing_takes_a_place_where_all_weigh_little(memory, monkeypatch):
    _weighing(monkeypatch, {"meaning": 9.0}, {"bias": -9.0})
    assert OLD in _found(memory)[0].text


@pytest.mark.parametrize(
    "question", ["what day were my bins collected before?", "what day are Tom's bins collected?"]
)
def test_only_what_is_so_now_of_the_subject_is_looked_at(memory, monkeypatch, question):
    def never(*_):
        raise AssertionError

    for module in (arrivals, take_overs):
        monkeypatch.setattr(module, "looked_at", never)
    _found(memory, question)


def test_chances_of_what_took_a_place_add_up_to_one_with_none():
    later = np.array([[False, True, True], [False, False, True]])
    features = np.zeros((2, 3, 1))
    features[0, :, 0] = 800.0, 800.0, 0.0
    taken = arrivals.taking(take_overs.Pairs(features, later), np.ones(1))
    assert np.allclose(taken, [[0, 1, 0], [0, 0, 0.5]]), "nothing has the worth of 0"


def test_what_a_result_is_worth_alone_counts_and_its_chance():
    texts = [Placed(number) for number in range(3)]
    arrived = arrivals.Arrivals(texts, np.array([0.1, 0.2, 0.7]), np.zeros((2, 3)))
    one, other, further = arrivals.mixed(np.array([1.0, 1.0]), arrived)
    chance = 1 - arrivals.OWN
    assert other - one == pytest.approx(chance * np.log(2), abs=1e-4)
    assert further - other == pytest.approx(chance * np.log(3.5) - arrivals.OWN, abs=1e-4)


def test_the_network_is_asked_of_what_may_answer_and_what_is_new_and_near_to_it(
    tmp_path, monkeypatch
):
    seen = []
    links_of = arrivals.links_of

    def kept(texts, evidence, rows):
        seen.append(links_of(texts, evidence, rows))
        return seen[-1]

    monkeypatch.setattr(arrivals, "links_of", kept)
    with open_memory(tmp_path / "ledger", consent="consent", embedder="words-3") as memory:
        for day, words in enumerate((OLD, *CHATTER, NEW), start=1):
            memory.remember("ana", words, said_at=f"2026-03-{day:02}")
        _found(memory)
    pairs = seen[-1]
    over = pairs.features[:, :, arrivals.LINKS.index("over")]
    assert np.all(over[~pairs.later] == -1.5)
    assert 0 < (over > -1.5).sum() <= arrivals.READ
    assert over.max() > 0, "the lorry comes on another day"
